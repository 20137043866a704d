"""Figures of a prior: the density of good values over studies, with the studies' own in grey."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.errors import QueryError
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.studies.belief import Belief
from pedanova.measures.studies.prior import SearchPrior
from pedanova.report.figures.draw import Axes, Reals, colours_of, name_ticks, plain_names, pyplot, trim
from pedanova.report.figures.spread import DENSITY, LEAST_TOP, name_places

MOST_PANELS = 12
MOST_LINES = 60  # studies that are drawn; of more, evenly chosen ones
COLUMNS = 3
FORMATS = (".png", ".svg", ".pdf")


def draw_prior(prior: SearchPrior, names: Sequence[str] | None = None) -> list[Axes]:
    """One panel for each parameter."""
    beliefs = [prior[name] for name in (names if names is not None else list(prior)[:MOST_PANELS])]
    if not beliefs:
        raise QueryError("names=[] leaves nothing to draw; name at least one parameter")
    columns = min(COLUMNS, len(beliefs))
    lines = -(-len(beliefs) // columns)
    size = {"figsize": (3.6 * columns, 2.7 * lines + 0.4), "layout": "constrained", "squeeze": False}
    figure, axes = pyplot().subplots(lines, columns, **size)
    panels = list(axes.flat)
    shown = plain_names([belief.name for belief in beliefs])
    for ax, belief in zip(panels, beliefs, strict=False):
        draw_belief(belief, prior.safety, ax)
        ax.set_xlabel(shown[belief.name])
    for ax in panels[len(beliefs) :]:
        ax.remove()
    figure.suptitle(prior.heading().replace("; ", "\n").replace("$", r"\$"), x=0.01, ha="left", fontsize="medium")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=4, fontsize="small", frameon=False)
    return panels[: len(beliefs)]


def draw_belief(belief: Belief, safety: float, ax: Axes) -> Axes:
    """The prior as it is drawn from, safety share included; studies grey behind it."""
    ink = colours_of(ax)
    bins = bins_of(belief.parameter)
    some = belief.lifts[:: -(-len(belief.lifts) // MOST_LINES)]
    lines = [heights(bins, belief.uniform * lift) for lift in some]
    prior, uniform = heights(bins, belief.mixed(safety)), heights(bins, belief.uniform)
    grey = {"color": ink["soft"], "linewidth": 0.8, "alpha": max(0.12, min(0.7, 4 / max(1, len(lines))))}
    if bins.edges is None:
        _draw_bars(bins, prior, uniform, lines, ink, grey, ax)
    else:
        _draw_curves(bins, bins.edges, prior, uniform, lines, ink, grey, ax)
    ax.set_ylim(0, _top(prior, uniform, lines, bars=bins.edges is None))
    trim(ax)
    return ax


def heights(bins: Bins, parts: Reals) -> Reals:
    """Of bars per cent, of steps 1 where draws are even."""
    gathered = bins.gather(parts)
    return 100 * gathered if bins.widths is None else gathered / bins.widths


def _top(prior: Reals, uniform: Reals, lines: list[Reals], *, bars: bool) -> float:
    """So high that the prior and most of the studies are seen."""
    own = float(np.quantile([line.max() for line in lines], 0.75)) if lines else 0.0
    least = 1.5 * float(uniform.max()) if bars else LEAST_TOP
    return 1.08 * max(least, float(prior.max()), min(own, 2.5 * float(prior.max())))


def _draw_curves(
    bins: Bins, edges: Reals, prior: Reals, uniform: Reals, lines: list[Reals], ink: Any, grey: Any, ax: Axes
) -> None:
    for number, line in enumerate(lines):
        ax.stairs(line, edges, baseline=None, **grey, label="a study" if number == 0 else None)
    ax.stairs(uniform, edges, baseline=None, color=ink["uniform"], linestyle=":", linewidth=1.2, label="uniform")
    ax.stairs(prior, edges, baseline=0, fill=True, color=ink["target"], alpha=0.2, linewidth=0)
    ax.stairs(prior, edges, baseline=None, color=ink["target"], linewidth=2.2, label="prior")
    name_ticks(ax, float(edges[0]), float(edges[-1]), log=bins.log, most=5)
    ax.set_ylabel(DENSITY)


def _draw_bars(bins: Bins, prior: Reals, uniform: Reals, lines: list[Reals], ink: Any, grey: Any, ax: Axes) -> None:
    places = np.arange(len(bins))
    for number, line in enumerate(lines):
        beside = places + 0.5 * ((number * 0.618) % 1.0 - 0.5)
        look = {"s": 9, "color": grey["color"], "alpha": max(0.3, grey["alpha"]), "linewidth": 0, "zorder": 3}
        ax.scatter(beside, line, **look, label="a study" if number == 0 else None)
    ax.bar(places, prior, 0.66, color=ink["target"], alpha=0.55, label="prior")
    ax.hlines(uniform, places - 0.42, places + 0.42, color=ink["ink"], linestyle=":", linewidth=1.4, label="uniform")
    name_places(ax, bins.labels)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylabel("draws (%)")


def save_prior(prior: SearchPrior, place: Path) -> None:
    """As an image; the figure is closed again."""
    if place.suffix.lower() not in FORMATS:
        raise QueryError(f"{place.name!r} must end in {', '.join(FORMATS)}, to be drawn")
    figure = draw_prior(prior)[0].figure
    figure.savefig(place, dpi=150)
    pyplot().close(figure)
