"""Figures of one parameter: its densities, the values that `reduce` cuts off, and the mean objective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.measures.bins import bins_of
from pedanova.measures.densities import Densities, Drawing
from pedanova.measures.effects import Marginal, binned_marginal
from pedanova.measures.importance import Importance, is_faint
from pedanova.reduction.result import Verdict
from pedanova.report.figures.draw import CHANCE, NOISE, Axes, Reals, colours_of, name_ticks, plain, trim
from pedanova.report.palette import mixed
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, values_of

DENSITY = "density (even = 1)"
LEAST_TOP = 2.0  # the least height of a density's axis, so that random differences look small
MOST_NAMES = 12  # with more bars, only some are labelled


def draw_densities(density: Densities, ax: Axes, shown: str, row: Importance | None = None) -> Axes:
    """Draw the densities of target and region, and a band for chance; the target has full colour outside the band.

    `row` is the importance of the parameter; a parameter without a clear effect is drawn in grey.
    """
    ink = colours_of(ax)
    drawing, noise = density.drawn(), row is not None and is_faint(row)
    if noise:
        ink = ink | {"target": mixed(ink["noise"], ink["ink"], 0.25)}
    if drawing.bins.edges is None:
        _draw_bars(drawing, density.words, ink, ax)
    else:
        top = _draw_range(drawing, drawing.bins.edges, density.words, ink, ax)
        name_ticks(ax, float(drawing.bins.edges[0]), float(drawing.bins.edges[-1]), log=drawing.bins.log)
        ax.set_ylabel(DENSITY)
        ax.set_ylim(0, max(LEAST_TOP, 1.08 * top))
    beside = 0.4 if drawing.bins.edges is None else 0.0
    for low, high in () if noise else drawing.good:  # a thick line under good values
        span = (low - beside, high + beside)
        ax.plot(span, (0, 0), color=ink["target"], linewidth=5, solid_capstyle="butt", clip_on=False, gid="good")
    ax.set_xlabel(f"{NOISE if noise else ''}{shown}")
    ax.set_ylim(bottom=0)
    trim(ax)
    return ax


def _draw_range(drawing: Drawing, edges: Reals, words: tuple[str, str], ink: dict[str, str], ax: Axes) -> float:
    """Draw densities of a numeric range as curves or steps, and return the largest height."""
    middles = np.sqrt(edges[:-1]) * np.sqrt(edges[1:]) if drawing.bins.log else (edges[:-1] + edges[1:]) / 2
    steps = drawing.bins.kind == "steps"
    places = np.repeat(edges, 2)[1:-1] if steps else np.concatenate([edges[:1], middles, edges[-1:]])

    def height(parts: Reals) -> Reals:
        heights = drawing.heights(parts)
        return np.repeat(heights, 2) if steps else np.concatenate([heights[:1], heights, heights[-1:]])

    target, low, high = (height(parts) for parts in (drawing.target, drawing.low, drawing.high))
    ax.fill_between(places, low, high, color=ink["chance"], linewidth=0, label=CHANCE)
    full = {"color": ink["target"], "alpha": 0.45, "linewidth": 0, "interpolate": True}
    ax.fill_between(places, high, target, where=target > high, **full)
    ax.fill_between(places, target, low, where=target < low, **full | {"alpha": 0.15})
    ax.plot(places, height(drawing.region), color=ink["region"], linewidth=1.5, label=words[1])
    ax.plot(places, height(drawing.uniform), color=ink["uniform"], linestyle=":", linewidth=1, label="uniform")
    ax.plot(places, target, color=ink["target"], linewidth=2, label=words[0])
    return float(np.max([target, high]))


def _draw_bars(drawing: Drawing, words: tuple[str, str], ink: dict[str, str], ax: Axes) -> None:
    """Draw the target as bars and the region as lines; bars that do not exceed chance are pale."""
    places = np.arange(len(drawing))
    target, region, low, high = (100 * p for p in (drawing.target, drawing.region, drawing.low, drawing.high))
    ax.bar(places, high - low, 0.92, bottom=low, color=ink["chance"], label=CHANCE)
    fills = [ink["target"] if strange else mixed(ink["target"], ink["ground"], 0.6) for strange in drawing.more]
    ax.bar(places, target, 0.6, color=fills, edgecolor=ink["target"], linewidth=1, label=words[0])
    ax.hlines(region, places - 0.46, places + 0.46, color=ink["ink"], linewidth=1.5, label=words[1])
    name_places(ax, drawing.bins.labels)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylabel("rows (%)")
    ax.set_ylim(0, max(1.08 * float(np.max([target, high])), LEAST_TOP * float(np.median(region))))


def name_places(ax: Axes, cells: Sequence[object]) -> None:
    """Label vertical bars with `cells`; long labels are slanted, and if there are many, only some are drawn."""
    names = [plain(short(cell), 24) for cell in cells]
    step = -(-len(names) // MOST_NAMES)
    places = range((len(names) - 1) % step, len(names), step)
    longest = max(len(names[place]) for place in places)
    crowded = longest > 8 or (len(places) > 6 and longest > 3)
    slant = {"rotation": 45, "ha": "right"} if crowded else {}
    ax.set_xticks(places, [names[place] for place in places], **slant)


def draw_verdict(verdict: Verdict, density: Densities, ax: Axes, shown: str) -> Axes:
    """Draw the densities with the verdict of `reduce`: removed values are hatched, arrows show where to widen."""
    draw_densities(density, ax, shown)
    ink, drawing = colours_of(ax), density.drawn()
    kept = np.array([_has(verdict.after, verdict.before, cell) for cell in density.cells])
    if drawing.bins.edges is None:
        whole, left = drawing.bins.gather(np.ones(len(kept))), drawing.bins.gather(kept)
        _hatch(ax, [(place - 0.5, place + 0.5) for place in np.flatnonzero(2 * left < whole)])
    else:
        turns = np.flatnonzero(np.diff(np.concatenate([[True], kept, [True]]).astype(int)))
        edges = density.edges if density.edges is not None else drawing.bins.edges
        _hatch(ax, np.clip(edges[turns].reshape(-1, 2), drawing.bins.edges[0], drawing.bins.edges[-1]))
        if isinstance(verdict.after, Categorical | Ordinal):  # single values are left
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
    match domain:
        case None:
            return False
        case Categorical() | Ordinal():
            return cell in values_of(domain) or str(cell) in map(str, values_of(domain))
        case Float(low, high) | Int(low, high) if isinstance(cell, int | float):
            # An unchanged bound cuts nothing off, although the cells of integers begin half a step before it.
            above = low <= cell or low == getattr(before, "low", None)
            return above and (cell <= high or high == getattr(before, "high", None))
        case _:
            return True


def draw_marginal(marginal: Marginal, mean: float, ax: Axes, shown: str) -> Axes:
    """Draw the mean objective for each value with its 95 % interval, and a line at the mean of all rows."""
    ink = colours_of(ax)
    ax.axhline(mean, color=ink["region"], linewidth=1, linestyle="--")
    grid, bins = grid_of(marginal.parameter), bins_of(marginal.parameter, marginal.counts)
    if bins.kind != "bars" and grid.edges is not None:
        ax.fill_between(marginal.cells, marginal.low, marginal.high, color=ink["target"], alpha=0.25, linewidth=0)
        ax.plot(marginal.cells, marginal.mean, color=ink["target"], linewidth=2)
        edges = bins.edges if bins.edges is not None else grid.edges
        name_ticks(ax, float(edges[0]), float(edges[-1]), log=bins.log)
    else:
        binned = binned_marginal(marginal, bins)
        reach = np.abs(np.stack([binned.mean - binned.low, binned.high - binned.mean]))
        style = {"fmt": "o", "color": ink["target"], "elinewidth": 1.2, "capsize": 3}
        ax.errorbar(range(len(bins)), binned.mean, yerr=reach, **style)
        name_places(ax, bins.labels)
        ax.set_xlim(-0.6, len(bins) - 0.4)
    ax.set_xlabel(shown)
    ax.set_ylabel("mean objective")
    trim(ax)
    return ax
