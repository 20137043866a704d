"""Figures of single trials: the history of the objective, slices along a parameter, and intermediate values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pedanova.base.digits import short
from pedanova.data.history import History, LearningCurves
from pedanova.data.regions import sign_of
from pedanova.report.figures import draw
from pedanova.report.figures.spread import name_places
from pedanova.report.palette import mixed
from pedanova.space.parameters import Ordinal, Parameter, Space, scale_of

WIDE = 50.0  # objectives with a larger ratio of largest and smallest are drawn on a log scale
JITTER, GOLDEN = 0.3, 0.618  # how far the points of one category are spread, without a visible pattern
PALEST = 0.15  # part of the full colour that the lowest value has
SIZE = (7.2, 4.4)


def draw_history(history: History, ax: draw.Axes | None = None) -> draw.Axes:
    """Draw every trial as a dot over its number, and the best so far as a line."""
    ax, ink = draw.axes_with_ink(ax, *SIZE)
    places, best = reals(history.places), reals(history.named("best"))
    draw_trials(ax, history, places, {"color": ink["region"], "label": "trial"})
    known = ~np.isnan(best)
    ax.plot(places[known], best[known], color=ink["target"], drawstyle="steps-post", label="best so far", zorder=4)
    ax.set_xlabel(history.order)
    return finish(ax, history)


def draw_trials(ax: draw.Axes, history: History, places: draw.Reals, look: dict[str, Any]) -> Any:
    """Draw trials as dots: pruned ones as open triangles, trials without a value as crosses at the worse end."""
    ink, states = draw.colours_of(ax), np.array(history.named("state"))
    values = reals(history.columns[history.objective])
    finite = np.isfinite(values)
    pruned, gone = finite & (states == "pruned"), ~finite & (states != "unfinished")
    ended = finite & ~pruned
    look = {name: one[ended] if isinstance(one, np.ndarray) else one for name, one in look.items()}
    drawn = ax.scatter(places[ended], values[ended], **({"s": 14, "linewidths": 0, "zorder": 3} | look))
    if finite.any() and values[finite].min() > 0 and values[finite].max() / values[finite].min() > WIDE:
        ax.set_yscale("log")
    if pruned.any():
        open_marks = {"s": 18, "facecolors": "none", "edgecolors": ink["B"], "linewidths": 0.9, "marker": "v"}
        ax.scatter(places[pruned], values[pruned], label=f"pruned ({pruned.sum():,})", zorder=2, **open_marks)
    if gone.any():
        edge = np.full(int(gone.sum()), max(0.0, sign_of(history.direction)))  # the worse end
        cross = {"marker": "x", "s": 20, "linewidths": 1.2, "color": ink["warning"], "clip_on": False, "zorder": 5}
        label = f"{'failed' if (states[gone] == 'failed').all() else 'failed or no value'} ({gone.sum():,})"
        ax.scatter(places[gone], edge, transform=ax.get_xaxis_transform(), label=label, **cross)
    return drawn


def finish(ax: draw.Axes, result: History | LearningCurves) -> draw.Axes:
    """Add the label of the y axis, the title and the legend, which stands below the title."""
    ax.set_ylabel(f"{draw.plain(result.objective)} {'↓' if result.direction == 'minimize' else '↑'}")
    ax.set_title(result.heading().replace(": ", "\n", 1).replace("$", r"\$"), loc="left", fontsize="medium", pad=26)
    beside = {"columnspacing": 1.0, "handletextpad": 0.4, "borderpad": 0.3, "bbox_to_anchor": (-0.02, 1.0)}
    ax.legend(fontsize="small", frameon=False, ncols=7, loc="lower left", **beside)
    draw.trim(ax)
    return ax


def draw_slice(history: History, space: Space, names: Sequence[str], ax: draw.Axes | None = None) -> draw.Axes:
    """Draw every trial over the value of a parameter, coloured by another one or by whether it is in the target."""
    ax, ink = draw.axes_with_ink(ax, *SIZE)
    name, shown = names[0], draw.plain_names(list(names))
    places = place_trials(ax, history.columns[name], space.get(name))
    if len(names) == 1:
        inside = np.array(history.named("in")) == "target"
        look = {"color": np.where(inside, ink["target"], ink["region"]), "s": np.where(inside, 22, 12)}
        draw_trials(ax, history, places, look)
        ax.scatter([], [], s=22, color=ink["target"], label=f"target ({inside.sum():,})")
    else:
        colour_trials(ax, history, places, history.columns[names[1]], space.get(names[1]), shown[names[1]])
    ax.set_xlabel(shown[name])
    return finish(ax, history)


def place_trials(ax: draw.Axes, cells: Sequence[Any], parameter: Parameter | None) -> draw.Reals:
    """Where the trials stand along the x axis, which gets its ticks; trials without a value stand at the left end."""
    given = [cell for cell in cells if cell is not None]
    if given and not is_named(given):
        numbers = reals(cells)
        known = numbers[np.isfinite(numbers)]
        low, high, log = float(known.min()), float(known.max()), is_log(parameter, known)
        room = 0.03 * ((math.log(high / low) if log else high - low) or 1.0)
        ends = (low * math.exp(-room), high * math.exp(room)) if log else (low - room, high + room)
        draw.name_ticks(ax, *ends, log=log)
        return np.where(np.isfinite(numbers), numbers, ends[0])
    labels = sorted(set(given), key=str) or ["–"]
    name_places(ax, labels)
    spread = JITTER * (2 * (np.arange(len(cells)) * GOLDEN % 1) - 1)
    places: draw.Reals = np.array([labels.index(cell) if cell in labels else -0.9 for cell in cells])
    return places + spread


def colour_trials(
    ax: draw.Axes, history: History, places: draw.Reals, cells: Sequence[Any], parameter: Parameter | None, name: str
) -> None:
    """Draw the trials coloured by a parameter: numbers by a colour bar, other values by the legend."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    ink = draw.colours_of(ax)
    given = [cell for cell in cells if cell is not None]
    if is_named(given):
        most = sorted(set(given), key=lambda one: (-given.count(one), str(one)))[: len(draw.STYLES)]
        inks = {cell: ink[colour] for cell, (colour, _, _) in zip(most, draw.STYLES, strict=False)}
        draw_trials(ax, history, places, {"color": np.array([inks.get(cell, ink["noise"]) for cell in cells])})
        for cell, colour in inks.items():
            ax.scatter([], [], s=14, color=colour, label=f"{name} = {draw.plain(short(cell))}")
        return
    numbers, pale = reals(cells), mixed(ink["ground"], ink["target"], PALEST)
    scale = (LogNorm if is_log(parameter, numbers[np.isfinite(numbers)]) else Normalize)()
    colours = LinearSegmentedColormap.from_list("slice", [pale, ink["target"], ink["ink"]])
    look = {"color": None, "c": numbers, "cmap": colours, "norm": scale, "linewidths": 0.3, "edgecolors": ink["region"]}
    ax.figure.colorbar(draw_trials(ax, history, places, look), ax=ax, label=name, aspect=40, pad=0.02)


def is_named(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, str | bool) for cell in cells)


def is_log(parameter: Parameter | None, values: draw.Reals) -> bool:
    wide = isinstance(parameter, Ordinal) and len(values) > 0 and values.max() > draw.LOG_SPAN * values.min()
    log = parameter is not None and scale_of(parameter) == "log"
    return (log or wide) and len(values) > 0 and bool(values.min() > 0)


def reals(cells: Sequence[Any]) -> draw.Reals:
    return np.array([math.nan if cell is None else cell for cell in cells], dtype=np.float64)


def draw_curves(curves: LearningCurves, ax: draw.Axes | None = None) -> draw.Axes:
    """Draw one line for each trial over its steps; the best complete trial has full colour, pruned ones end early."""
    ax, ink = draw.axes_with_ink(ax, *SIZE)
    trials = curves.by_trial()
    sign = sign_of(curves.direction)
    ended = [i for i, (_, state, _) in enumerate(trials) if state == "complete"] or range(len(trials))
    best = min(ended, key=lambda i: sign * trials[i][2][-1][1])
    looks = {"complete": ("region", "-"), "pruned": ("B", "-")}
    seen = set()
    for i, (trial, state, points) in enumerate(trials):
        colour, line = looks.get(state, ("warning", "--"))
        label = state if state not in seen else None
        seen.add(state)
        ax.plot(*zip(*points, strict=True), line, color=ink[colour], linewidth=0.8, alpha=0.6, label=label)
        if state != "complete":
            ax.plot(*points[-1], marker="v" if state == "pruned" else "x", color=ink[colour], markersize=4)
        if i == best:
            label = f"best ({curves.order} {short(trial)})"
            ax.plot(*zip(*points, strict=True), color=ink["target"], linewidth=2, label=label, zorder=4)
    values = np.array([value for _, _, points in trials for _, value in points])
    values = values[np.isfinite(values)]
    if len(values) and values.min() > 0 and values.max() / values.min() > WIDE:
        ax.set_yscale("log")
    ax.set_xlabel("step")
    return finish(ax, curves)
