"""Figures of one parameter's values: where the target lies, what is cut off, how the objective moves, a prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.errors import QueryError
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.densities import Densities, Drawing
from pedanova.measures.effects import Marginal, binned_marginal
from pedanova.measures.importance import Importance, is_faint
from pedanova.measures.studies.prior import ParameterPrior, SearchPrior
from pedanova.reduction.result import Verdict
from pedanova.report.figures.draw import (
    NOISE,
    Axes,
    Reals,
    colours_of,
    name_ticks,
    new_axes,
    plain,
    plain_names,
    pyplot,
    trim,
)
from pedanova.report.palette import mixed
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, values_of

CHANCE = "by chance alone (95 %)"
DENSITY = "density (even = 1)"
LEAST_TOP = 2.0  # of a density's axis, so that chance is not stretched to a finding
MOST_NAMES = 12  # values of bars that are named; of more, some


def draw_densities(
    density: Densities, ax: Axes | None = None, *, row: Importance | None = None, shown: str | None = None
) -> Axes:
    """The target's density against the region's, what chance alone would do, and in full colour what is beyond.

    `row` is its importance, for a parameter that is not distinguishable from noise is drawn grey.
    """
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    drawing, noise = density.drawn(), row is not None and is_faint(row)
    ink = dict(colours_of(ax))
    if noise:
        ink["target"] = mixed(ink["noise"], ink["ink"], 0.25)
    if drawing.edges is None:
        _draw_bars(drawing, density.words, ink, ax)
    elif drawing.kind == "steps":
        _draw_steps(drawing, drawing.edges, density.words, ink, ax)
    else:
        _draw_curve(drawing, drawing.edges, density.words, ink, ax)
    if not noise:
        _mark_good(drawing, ink, ax)
    ax.set_xlabel(f"{NOISE if noise else ''}{plain(density.name) if shown is None else shown}")
    ax.set_ylim(bottom=0)
    trim(ax)
    return ax


def _draw_curve(drawing: Drawing, edges: Reals, words: tuple[str, str], ink: dict[str, str], ax: Axes) -> None:
    middles = np.sqrt(edges[:-1]) * np.sqrt(edges[1:]) if drawing.log else (edges[:-1] + edges[1:]) / 2
    places = np.concatenate([edges[:1], middles, edges[-1:]])  # so that it reaches both ends

    def height(parts: Reals) -> Reals:
        heights = drawing.heights(parts)
        return np.concatenate([heights[:1], heights, heights[-1:]])

    target, low, high = (height(parts) for parts in (drawing.target, drawing.low, drawing.high))
    ax.fill_between(places, low, high, color=ink["chance"], linewidth=0, label=CHANCE)
    full = {"color": ink["target"], "alpha": 0.45, "linewidth": 0, "interpolate": True}
    ax.fill_between(places, high, target, where=target > high, **full)
    ax.fill_between(places, target, low, where=target < low, **full | {"alpha": 0.15})
    ax.plot(places, height(drawing.region), color=ink["region"], linewidth=1.5, label=words[1])
    ax.plot(places, height(drawing.uniform), color=ink["uniform"], linestyle=":", linewidth=1, label="uniform")
    ax.plot(places, target, color=ink["target"], linewidth=2, label=words[0])
    name_ticks(ax, float(edges[0]), float(edges[-1]), log=drawing.log)
    ax.set_ylabel(DENSITY)
    ax.set_ylim(0, max(LEAST_TOP, 1.08 * float(np.max([target, high]))))


def _draw_steps(drawing: Drawing, edges: Reals, words: tuple[str, str], ink: dict[str, str], ax: Axes) -> None:
    target, low, high, region, uniform = (
        drawing.heights(p) for p in (drawing.target, drawing.low, drawing.high, drawing.region, drawing.uniform)
    )
    ax.stairs(high, edges, baseline=low, fill=True, color=ink["chance"], linewidth=0, label=CHANCE)
    above, below = np.maximum(target, high), np.minimum(target, low)
    ax.stairs(above, edges, baseline=high, fill=True, color=ink["target"], alpha=0.45, linewidth=0)
    ax.stairs(low, edges, baseline=below, fill=True, color=ink["target"], alpha=0.15, linewidth=0)
    ax.stairs(region, edges, baseline=None, color=ink["region"], linewidth=1.5, label=words[1])
    ax.stairs(uniform, edges, baseline=None, color=ink["uniform"], linestyle=":", linewidth=1, label="uniform")
    ax.stairs(target, edges, baseline=None, color=ink["target"], linewidth=2, label=words[0])
    name_ticks(ax, float(edges[0]), float(edges[-1]), log=drawing.log)
    ax.set_ylabel(DENSITY)
    ax.set_ylim(0, max(LEAST_TOP, 1.08 * float(np.max([target, high]))))


def _draw_bars(drawing: Drawing, words: tuple[str, str], ink: dict[str, str], ax: Axes) -> None:
    """Bars pale as far as chance may reach, in full colour beyond; lines where the region ends."""
    places = np.arange(len(drawing))
    target, region, low, high = (100 * p for p in (drawing.target, drawing.region, drawing.low, drawing.high))
    ax.bar(places, high - low, 0.92, bottom=low, color=ink["chance"], label=CHANCE)
    fills = [ink["target"] if strange else mixed(ink["target"], ink["ground"], 0.6) for strange in drawing.more]
    ax.bar(places, target, 0.6, color=fills, edgecolor=ink["target"], linewidth=1, label=words[0])
    ax.hlines(region, places - 0.46, places + 0.46, color=ink["ink"], linewidth=1.5, label=words[1])
    name_places(ax, drawing.labels)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylabel("rows (%)")
    ax.set_ylim(0, max(1.08 * float(np.max([target, high])), LEAST_TOP * float(np.median(region))))


def _mark_good(drawing: Drawing, ink: dict[str, str], ax: Axes) -> None:
    """A thick line under good values."""
    beside = 0.4 if drawing.edges is None else 0.0
    for low, high in drawing.good:
        span = (low - beside, high + beside)
        ax.plot(span, (0, 0), color=ink["target"], linewidth=5, solid_capstyle="butt", clip_on=False, gid="good")


def name_places(ax: Axes, cells: Sequence[object]) -> None:
    """Names under bars, slanted where they are many or long; of very many, some and the last."""
    names = [plain(short(cell), 24) for cell in cells]
    step = -(-len(names) // MOST_NAMES)
    places = range((len(names) - 1) % step, len(names), step)
    longest = max(len(names[place]) for place in places)
    crowded = longest > 8 or (len(places) > 6 and longest > 3)
    slant = {"rotation": 45, "ha": "right"} if crowded else {}
    ax.set_xticks(places, [names[place] for place in places], **slant)


def draw_verdict(
    verdict: Verdict,
    density: Densities,
    ax: Axes | None = None,
    *,
    row: Importance | None = None,
    shown: str | None = None,
) -> Axes:
    """What is left of a parameter over its densities: what is cut off is hatched, arrows point where to widen."""
    ax = draw_densities(density, ax, row=row, shown=shown)
    ink, drawing = colours_of(ax), density.drawn()
    domains = verdict.pieces or (verdict.after,)
    kept = np.array([any(_has(domain, verdict.before, cell) for domain in domains) for cell in density.cells])
    if drawing.edges is None:
        whole, left = drawing.bins.gather(np.ones(len(kept))), drawing.bins.gather(kept)
        _hatch(ax, [(place - 0.5, place + 0.5) for place in np.flatnonzero(2 * left < whole)])
    else:
        turns = np.flatnonzero(np.diff(np.concatenate([[True], kept, [True]]).astype(int)))
        edges = density.edges if density.edges is not None else drawing.edges
        _hatch(ax, np.clip(edges[turns].reshape(-1, 2), drawing.edges[0], drawing.edges[-1]))
        if isinstance(verdict.after, Categorical | Ordinal):  # one value is left
            ax.axvline(values_of(verdict.after)[0], color=ink["ink"], linewidth=2)
    for bound, place, to in zip(verdict.beyond, (0.02, 0.98), ("◀", "▶"), strict=True):
        if bound is not None:
            side = "left" if place < 0.5 else "right"
            words = f"{to} try {short(bound)}" if side == "left" else f"try {short(bound)} {to}"
            ax.text(place, 0.96, words, transform=ax.transAxes, ha=side, va="top", fontsize="small")
    words = "never active" if verdict.after is None else verdict.advice
    part = f", {percent(verdict.part)} left" if 0 < verdict.part < 1 else ""
    ax.set_title(f"{words}{part}", loc="left", fontsize="medium")
    return ax


def _hatch(ax: Axes, spans: Any) -> None:
    ink = colours_of(ax)
    for low, high in spans:
        if low < high:
            ax.axvspan(low, high, facecolor=ink["line"], alpha=0.5, hatch="///", edgecolor=ink["soft"], linewidth=0)


def _has(domain: Parameter | None, before: Parameter, cell: object) -> bool:
    """Whether what is left of a domain still has the value of a cell."""
    match domain:
        case None:
            return False
        case Categorical() | Ordinal():
            return cell in values_of(domain) or str(cell) in map(str, values_of(domain))
        case Float(low, high) | Int(low, high) if isinstance(cell, int | float):
            # A bound that has not moved cuts nothing off, though whole numbers' cells begin half a step before it.
            above = low <= cell or low == getattr(before, "low", None)
            return above and (cell <= high or high == getattr(before, "high", None))
        case _:
            return True


def draw_marginal(marginal: Marginal, mean: float, ax: Axes | None = None, *, shown: str | None = None) -> Axes:
    """The mean objective by value, and the mean of all rows."""
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    ink, grid = colours_of(ax), grid_of(marginal.parameter)
    ax.axhline(mean, color=ink["region"], linewidth=1, linestyle="--")
    bins = bins_of(marginal.parameter, marginal.counts)
    if bins.kind != "bars" and grid.edges is not None:
        ax.plot(marginal.cells, marginal.mean, color=ink["target"], linewidth=2)
        edges = bins.edges if bins.edges is not None else grid.edges
        name_ticks(ax, float(edges[0]), float(edges[-1]), log=bins.log)
    elif len(bins) == len(marginal.cells):
        ax.plot(range(len(bins)), marginal.mean, marker="o", linestyle="none", color=ink["target"])
        name_places(ax, bins.labels)
        ax.set_xlim(-0.6, len(bins) - 0.4)
    else:
        rows = np.maximum(bins.gather(marginal.counts), 1e-300)
        means = bins.gather(marginal.counts * np.nan_to_num(marginal.mean)) / rows
        ax.plot(range(len(bins)), np.where(rows >= 1, means, np.nan), marker="o", linestyle="none", color=ink["target"])
        name_places(ax, bins.labels)
    ax.set_xlabel(plain(marginal.name) if shown is None else shown)
    ax.set_ylabel("mean objective")
    trim(ax)
    return ax


def draw_marginal_band(marginal: Marginal, mean: float, ax: Axes | None = None, *, shown: str | None = None) -> Axes:
    """The curve of `draw_marginal` inside its 95 % interval; bars instead of a band where values stand alone."""
    ax = draw_marginal(marginal, mean, ax, shown=shown)
    colour = colours_of(ax)["target"]
    bins = bins_of(marginal.parameter, marginal.counts)
    if bins.kind != "bars":
        ax.fill_between(marginal.cells, marginal.low, marginal.high, color=colour, alpha=0.25, linewidth=0)
        return ax
    binned = binned_marginal(marginal, bins)
    reach = np.abs(np.stack([binned.mean - binned.low, binned.high - binned.mean]))
    ax.errorbar(range(len(bins)), binned.mean, yerr=reach, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
    return ax


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
    studies = [prior_heights(bins, row.uniform * lift) for lift in row.lifts]
    prior, uniform = prior_heights(bins, row.mixed(safety)), prior_heights(bins, row.uniform)
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


def prior_heights(bins: Bins, density: Reals) -> Reals:
    """Per cent of the draws for categories; for ranges a density that is 1 where draws are uniform."""
    gathered = bins.gather(density)
    return 100 * gathered if bins.widths is None else gathered / bins.widths
