"""Vega-Lite specs of the page's charts.

A spec holds no data and no word of the user's: names of fields and datasets are fixed here, the page
feeds rows into the datasets, and colours come from the theme through the named styles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
HEIGHT = 260
SLOTS = 6  # parameters that have a colour and a shape of their own in the profile
NUMBERS = ".6~g"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def all_specs(rungs: Sequence[float], *, log_objective: bool, objective: str) -> dict[str, Spec]:
    """Every chart by its name; `rungs` are percents."""
    return {
        "importance": importance(),
        "curve": curve(log=False),
        "curve-log": curve(log=True),
        "bars": bars(),
        "profile": profile(rungs),
        "pairs": pairs(),
        "plane": plane(),
        "objective": reached(objective, log=log_objective),
    }


def chart(layers: Sequence[Spec], data: str, *words: str, height: int = HEIGHT) -> Spec:
    """Layers over one dataset; `words` are lists of the user's names, set when the chart is drawn."""
    return {
        "params": [{"name": name, "value": []} for name in words],
        "data": {"name": data},
        "width": "container",
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "layer": list(layers),
    }


def layer(mark: str, style: str, *, data: str | None = None, **encoding: Any) -> Spec:
    made: Spec = {"mark": {"type": mark, "style": style, "aria": False}, "encoding": encoding}
    return {"data": {"name": data}, **made} if data else made


def only(made: Spec, flag: str) -> Spec:
    """A layer of those rows alone whose flag is set."""
    return {**made, "transform": [{"filter": {"field": flag, "equal": True}}]}


def number(name: str, title: str | None = None, *, scale: Spec | None = None, **axis: Any) -> Spec:
    """A field on a numeric axis."""
    fixed = {"title": title, "labelOverlap": "greedy", **axis}
    return {"field": name, "type": "quantitative", "axis": fixed, **({"scale": scale} if scale is not None else {})}


def even_scale(*, log: bool) -> Spec:
    """As wide as the data, not a bit wider."""
    return {"type": "log", "nice": False} if log else {"type": "linear", "zero": False, "nice": False}


def upward(name: str, title: str) -> Spec:
    """A vertical axis from zero, of constant width so that nothing moves when its numbers change."""
    return number(name, title, scale={"zero": True}, minExtent=34, maxExtent=34, tickCount=5, format=NUMBERS)


def named(name: str, words: str, *, width: int, order: str = "ascending") -> Spec:
    """A field of places in a list of names, which the page gives as the signal `words`.

    A name is never a value of the scale: `__proto__` would break it, and equal names would share a band.
    """
    axis = {
        "title": None,
        "labelExpr": f"{words}[datum.value]",
        "labelLimit": width,
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
    }
    return {"field": name, "type": "ordinal", "sort": order, "axis": axis}


def slanted(encoding: Spec, angle: int) -> Spec:
    axis = {**encoding["axis"], "labelAngle": angle, "labelAlign": "right", "labelBaseline": "top"}
    return {**encoding, "axis": axis}


def padded(encoding: Spec, inner: float, outer: float = 0.0) -> Spec:
    return {**encoding, "scale": {"paddingInner": inner, "paddingOuter": outer}}


def importance() -> Spec:
    """The ranked bars, for export; on the page they are buttons."""
    y = named("place", "names", width=180)
    x = number("value", None, scale={"zero": True}, tickCount=6)
    layers = [
        layer("bar", "target", x=x, y=y, opacity={"field": "opacity", "type": "quantitative", "scale": None}),
        layer("rule", "interval", x={"field": "low", "type": "quantitative"}, x2={"field": "high"}, y=y),
    ]
    return chart(layers, "rows", "names")


def curve(*, log: bool) -> Spec:
    """Densities over a range: the target, the region, and a uniform draw, which is 1 everywhere."""
    scale = even_scale(log=log)
    x = number("x", scale=scale, tickCount=6, format=NUMBERS)
    y = upward("target", "times as often as a uniform draw")
    layers = [
        layer(
            "rect", "good", data="good", x={"field": "x", "type": "quantitative"}, x2={"field": "x2"}
        ),
        layer("line", "uniform", x=x, y={**y, "field": "uniform"}),
        layer("line", "region", x=x, y={**y, "field": "region"}),
        layer("line", "target", x=x, y=y),
    ]  # fmt: skip
    return chart(layers, "curve")


def bars() -> Spec:
    """Parts of the rows by category: a bar for the target, ticks for the region and a uniform draw."""
    y = padded(named("place", "cells", width=110), 0.3, 0.15)
    x = number("target", "% of the rows", scale={"zero": True}, tickCount=5)
    good = only(layer("rect", "good", y=y, x={"value": 0}, x2={"value": "width"}), "good")
    layers = [
        good,
        layer("bar", "target", x=x, y=y),
        layer("tick", "region-tick", x={**x, "field": "region"}, y=y),
        layer("tick", "uniform-tick", x={**x, "field": "uniform"}, y=y),
    ]
    return chart(layers, "bars", "cells")


def profile(rungs: Sequence[float]) -> Spec:
    """Importance over the target's part: lines by parameter, the present target marked."""
    x = number(
        "gamma",
        "target: the best … %",
        scale={"type": "log", "nice": False, "padding": 8},
        values=list(rungs),
        format=NUMBERS,
    )
    y = upward("value", "%")
    by = {"field": "id", "type": "nominal"}
    place = [{"filter": {"field": "slot", "gte": 0}}]
    slots = list(range(SLOTS))
    colour = {"field": "slot", "type": "nominal", "scale": {"domain": slots}, "legend": None}
    shape = {"field": "slot", "type": "nominal", "scale": {"domain": slots, "range": list(SHAPES)}, "legend": None}
    others = [{"filter": {"field": "slot", "lt": 0}}]
    chosen = [{"filter": {"field": "chosen", "equal": True}}]
    layers = [
        layer("rule", "here", data="here", x={"field": "gamma", "type": "quantitative"}),
        {**layer("line", "other", x=x, y=y, detail=by), "transform": others},
        {**layer("line", "known", x=x, y=y, detail=by, color=colour), "transform": place},
        {**layer("point", "known-point", x=x, y=y, color=colour, shape=shape), "transform": place},
        {**layer("line", "chosen", x=x, y=y, detail=by), "transform": [*chosen, *others]},
        {**layer("line", "chosen-known", x=x, y=y, detail=by, color=colour), "transform": [*chosen, *place]},
    ]  # fmt: skip
    return chart(layers, "lines", height=280)


def pairs() -> Spec:
    """What every two parameters explain beyond the sum of both; a dot marks what chance does not explain."""
    x = slanted(padded(named("i", "names", width=100), 0.06), -45)
    y = padded(named("j", "names", width=100), 0.06)
    colour = {
        "field": "value",
        "type": "quantitative",
        # From 0 to 1 % at least: rounding errors must not look like something.
        "scale": {"domain": {"unionWith": [0, 1]}, "range": "heatmap", "interpolate": "rgb"},
        "legend": {"title": "% beyond the sum", "orient": "top", "gradientLength": 160, "tickCount": 3},
    }
    cells = layer("rect", "cell", x=x, y=y, color=colour)
    cells["mark"]["cursor"] = "pointer"
    sure = only(layer("point", "sure", x=x, y=y), "sure")
    picked = only(layer("rect", "picked", x=x, y=y), "picked")
    return chart([cells, sure, picked], "cells", "names")


def plane() -> Spec:
    """Where on the plane of two parameters the target is likelier than in the whole region."""
    x = slanted(padded(named("i", "firsts", width=220), 0.04), -35)
    y = padded(named("j", "seconds", width=110, order="descending"), 0.04)
    colour = {
        "field": "lift",
        "type": "quantitative",
        "scale": {"domainMin": 0, "domainMid": 1, "range": "diverging", "interpolate": "rgb"},
        "legend": {
            "title": "times as likely as in the whole region",
            "orient": "top",
            "gradientLength": 160,
            "titleLimit": 260,
        },
    }
    return chart([layer("rect", "cell", x=x, y=y, color=colour)], "plane", "firsts", "seconds", height=300)


def reached(objective: str, *, log: bool) -> Spec:
    """Which part of the rows is at least as good, and where target and region end."""
    scale = even_scale(log=log)
    x = number("x", objective, scale=scale, tickCount=6, format=NUMBERS, titleLimit=240)
    y = upward("y", "% of rows at least as good")
    mark = {"field": "x", "type": "quantitative"}
    layers = [
        layer("area", "region-area", data="inside-region", x=x, y=y),
        layer("area", "target-area", data="inside-target", x=x, y=y),
        layer("line", "plain", x=x, y=y),
        layer("rule", "region-rule", data="region-end", x=mark),
        layer("rule", "target-rule", data="target-end", x=mark),
    ]
    return chart(layers, "reached", height=220)
