"""Figure of a prior: the density of good values over studies, with the studies' own in grey."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pedanova.errors import QueryError
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.studies.prior import ParameterPrior, SearchPrior
from pedanova.report.figures.draw import Axes, Reals, colours_of, name_ticks, plain_names, pyplot, trim
from pedanova.report.figures.spread import DENSITY, name_places

MOST_PANELS = 12
COLUMNS = 3


def draw_prior(prior: SearchPrior, names: Sequence[str] | None = None) -> list[Axes]:
    """One panel for each parameter."""
    rows = [prior[name] for name in (names if names is not None else list(prior)[:MOST_PANELS])]
    if not rows:
        raise QueryError("names=[] leaves nothing to draw; name at least one parameter")
    columns = min(COLUMNS, len(rows))
    lines = -(-len(rows) // columns)
    size = {"figsize": (3.6 * columns, 2.7 * lines + 0.4), "layout": "constrained", "squeeze": False}
    figure, axes = pyplot().subplots(lines, columns, **size)
    panels = list(axes.flat)
    labels = plain_names([row.name for row in rows])
    for ax, row in zip(panels, rows, strict=False):
        draw_parameter_prior(row, prior.safety, ax)
        ax.set_xlabel(labels[row.name])
    for ax in panels[len(rows) :]:
        ax.remove()
    figure.suptitle(prior.heading().replace("; ", "\n").replace("$", r"\$"), x=0.01, ha="left", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower right", ncols=4, frameon=False)
    return panels[: len(rows)]


def draw_parameter_prior(row: ParameterPrior, safety: float, ax: Axes) -> None:
    """The density that is drawn from, the uniform part included; studies in grey behind it."""
    ink, bins = colours_of(ax), bins_of(row.parameter)
    studies = [heights(bins, row.uniform * lift) for lift in row.lifts]
    prior, uniform = heights(bins, row.mixed(safety)), heights(bins, row.uniform)
    grey = {"color": ink["soft"], "linewidth": 0.8, "alpha": max(0.12, min(0.7, 4 / len(studies)))}
    edges = np.arange(len(bins) + 1) - 0.5 if bins.edges is None else bins.edges
    for number, line in enumerate(studies):
        ax.stairs(line, edges, baseline=None, **grey, label="a study" if number == 0 else None)
    ax.stairs(uniform, edges, baseline=None, color=ink["uniform"], linestyle=":", linewidth=1.2, label="uniform")
    ax.stairs(prior, edges, baseline=0, fill=True, color=ink["target"], alpha=0.2, linewidth=0)
    ax.stairs(prior, edges, baseline=None, color=ink["target"], linewidth=2.2, label="prior")
    if bins.edges is None:
        name_places(ax, bins.labels)
    else:
        name_ticks(ax, float(edges[0]), float(edges[-1]), log=bins.log, most=5)
    ax.set_ylabel("draws (%)" if bins.widths is None else DENSITY)
    ax.set_ylim(0, 1.08 * max(1.5 * float(uniform.max()), 2.5 * float(prior.max())))
    trim(ax)


def heights(bins: Bins, density: Reals) -> Reals:
    """Per cent of the draws for categories; for ranges a density that is 1 where draws are uniform."""
    gathered = bins.gather(density)
    return 100 * gathered if bins.widths is None else gathered / bins.widths
