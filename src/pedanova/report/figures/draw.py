"""Figures by matplotlib: every function takes a result and an Axes, draws, and returns the Axes.

Colours and fonts are those of the user's style sheet; what is not distinguishable from noise is drawn pale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import MissingLibraryError, QueryError
from pedanova.measures.densities import Densities
from pedanova.measures.effects import Marginal
from pedanova.measures.importance import NEVER, Importance, Importances, is_faint
from pedanova.measures.interactions import Interactions
from pedanova.measures.plane import PairDensity
from pedanova.measures.surrogate.profile import Profile
from pedanova.reduction.result import Verdict
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, scale_of
from pedanova.space.words import values_of

PALE = 0.35
LONGEST = 28  # letters of a name
MOST_NAMED = 12  # bands that the legend names
Axes = Any
Reals = NDArray[np.float64]


def pyplot() -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingLibraryError("figures need matplotlib; pip install 'pedanova[plot]'") from None
    return plt


def new_axes(width: float, height: float) -> Axes:
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def shorten(name: object) -> str:
    text = str(name)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return text.replace("$", r"\$")  # no formula is meant


def draw_importances(importances: Importances, ax: Axes | None = None, *, metric: str = "share") -> Axes:
    """Bars, the largest on top, with their intervals; pale bars are not distinguishable from noise."""
    if metric not in ("share", "ratio"):
        raise QueryError(f"metric={metric!r} must be 'share' or 'ratio'")
    rows = importances.rows[::-1]
    ax = ax if ax is not None else new_axes(6.4, 1.2 + 0.3 * len(rows))
    values = np.array([100 * max(0.0, getattr(row, metric)) for row in rows])
    places = np.arange(len(rows))
    for place, value, row in zip(places, values, rows, strict=True):
        noise = is_faint(row)
        ax.barh(place, value, color="C0", alpha=PALE if noise else 1.0, height=0.7)
    if metric == "share" and any(row.low is not None for row in rows):
        ends = np.array([[100 * (row.low or 0.0), 100 * (row.high or 0.0)] for row in rows])
        spans = np.abs(np.stack([values - ends[:, 0], ends[:, 1] - values]))
        ax.errorbar(values, places, xerr=spans, fmt="none", ecolor="0.25", elinewidth=1, capsize=2)
    labels = [shorten(row.name) if row.varied else f"{shorten(row.name)} ({NEVER})" for row in rows]
    ax.set_yticks(places, labels)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlim(left=0)
    ax.set_xlabel(f"{metric} (%)")
    ax.set_title(f"What separates {importances.target} from {importances.region}", loc="left", fontsize="medium")
    return ax


def draw_densities(density: Densities, ax: Axes | None = None) -> Axes:
    """The target's density against the region's and a uniform draw; good ranges are shaded."""
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    if density.edges is not None and grid_of(density.parameter).is_range:
        _draw_curves(density, density.edges, ax)
    else:
        _draw_bars(density, ax)
    ax.set_xlabel(shorten(density.name))
    ax.set_ylim(bottom=0)
    return ax


def draw_verdict(verdict: Verdict, density: Densities, ax: Axes | None = None) -> Axes:
    """What is left of a parameter over its densities: what is cut off is hatched, arrows point where to widen."""
    ax = draw_densities(density, ax)
    domains = verdict.pieces or (verdict.after,)
    kept = np.array([any(_has(domain, verdict.before, cell) for domain in domains) for cell in density.cells])
    if density.edges is None or not grid_of(density.parameter).is_range:
        _hatch(ax, [(place - 0.5, place + 0.5) for place in np.flatnonzero(~kept)])
        ax.set_xlim(-0.5, len(density.cells) - 0.5)
    else:
        turns = np.flatnonzero(np.diff(np.concatenate([[True], kept, [True]]).astype(int)))
        _hatch(ax, density.edges[turns].reshape(-1, 2))
        if isinstance(verdict.after, Categorical | Ordinal):  # one value is left
            ax.axvline(values_of(verdict.after)[0], color="C2", linewidth=2)
    for bound, place, to in zip(verdict.beyond, (0.02, 0.98), ("◀", "▶"), strict=True):
        if bound is not None:
            side = "left" if place < 0.5 else "right"
            words = f"{to} {bound:g}" if side == "left" else f"{bound:g} {to}"
            ax.text(place, 0.96, words, transform=ax.transAxes, ha=side, va="top", fontsize="small")
    words = "never active" if verdict.after is None else verdict.advice
    part = f", {verdict.part:.0%} left" if 0 < verdict.part < 1 else ""
    ax.set_title(f"{words}{part}", loc="left", fontsize="medium")
    return ax


def _hatch(ax: Axes, spans: Any) -> None:
    for low, high in spans:
        if low < high:
            ax.axvspan(low, high, facecolor="0.5", alpha=0.3, hatch="///", edgecolor="0.4", linewidth=0)


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


def _draw_bars(density: Densities, ax: Axes) -> None:
    places = np.arange(len(density.cells))
    ax.bar(places - 0.2, 100 * density.target, 0.4, color="C0", label=density.words[0])
    ax.bar(places + 0.2, 100 * density.region, 0.4, color="0.7", label=density.words[1])
    ax.plot(places, 100 * density.uniform, linestyle="none", marker="_", markersize=16, color="C1", label="uniform")
    _name_places(ax, density.cells)
    ax.set_ylabel("rows (%)")


def _name_places(ax: Axes, cells: Sequence[object]) -> None:
    """Names under bars, slanted where they are many or long."""
    names = [shorten(f"{cell:.3g}" if isinstance(cell, float) else cell) for cell in cells]
    crowded = len(names) > 6 or max(map(len, names)) > 8
    ax.set_xticks(range(len(names)), names, rotation=60 if crowded else 0, ha="right" if crowded else "center")


def _draw_curves(density: Densities, edges: Reals, ax: Axes) -> None:
    log = scale_of(density.parameter) == "log"
    good = np.zeros(len(density), dtype=bool)
    for one in density.good():
        good[one.start : one.stop] = True
    widths, middles = np.diff(np.log10(edges) if log else edges), density.cells
    curves = [parts / widths for parts in (density.target, density.region, density.uniform)]
    ax.fill_between(middles, 0, curves[0], where=good, color="C0", alpha=0.2, linewidth=0)
    ax.plot(middles, curves[0], color="C0", label=density.words[0])
    ax.plot(middles, curves[1], color="0.5", label=density.words[1])
    ax.plot(middles, curves[2], color="C1", linestyle="--", linewidth=1, label="uniform")
    ax.set_xscale("log" if log else "linear")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylabel("density" + (" by decade" if log else ""))


def draw_profile(profile: Profile, ax: Axes | None = None) -> Axes:
    """Ratios as bands over the target's quantile, which is strictest on the left."""
    if not profile.steps:
        raise QueryError("the profile has no step; the region has too few levels to compare")
    quantiles = [100 * float(step.quantile) for step in profile.steps]
    ax = draw_bands(quantiles, [step.rows for step in profile.steps], ax)
    low, high = ax.get_xlim()
    ticks = [q for q in (0.1, 0.3, 1, 3, 10, 30, 100) if low <= q <= high]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    ax.set_xlabel("target: the best … % of all rows")
    return ax


def draw_growth(steps: Sequence[int], answers: Sequence[Importances], ax: Axes | None = None) -> Axes:
    """Ratios as bands over the number of rows, with the number of each step."""
    ax = draw_bands(steps, [importances.rows for importances in answers], ax)
    ax.set_xticks(steps, [f"{rows:,}" for rows in steps], minor=False, rotation=45, ha="right")
    ax.minorticks_off()
    ax.set_xlabel(f"rows (the first ones; {answers[-1].target} against {answers[-1].region})")
    return ax


def draw_bands(steps: Sequence[float], answers: Sequence[Sequence[Importance]], ax: Axes | None) -> Axes:
    """Ratios one upon the other, in the order of the last step, over steps on a log scale."""
    ax = ax if ax is not None else new_axes(6.4, 4.0)
    names = [row.name for row in answers[-1]]
    ratios = [{row.name: 100 * row.ratio for row in rows} for rows in answers]
    shades = pyplot().get_cmap("viridis")(np.linspace(0.05, 0.95, len(names)))
    bands = [[step[name] for step in ratios] for name in names]
    ax.stackplot(steps, bands, colors=shades, labels=[shorten(name) for name in names])
    ax.set_xscale("log")
    ax.set_xlim(steps[0], steps[-1])
    ax.set_ylim(0, 100)
    ax.set_ylabel("ratio (%)")
    handles, labels = ax.get_legend_handles_labels()
    few = slice(MOST_NAMED - 1, None, -1)
    ax.legend(handles[few], labels[few], loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    return ax


def draw_interactions(interactions: Interactions, ax: Axes | None = None) -> Axes:
    """A heat map of all pairs; a star marks those that chance does not explain."""
    names = list(dict.fromkeys(name for pair in interactions for name in pair))
    size = max(3.6, 1.6 + 0.36 * len(names))
    ax = ax if ax is not None else new_axes(size + 1.0, size)
    grid = np.full((len(names), len(names)), np.nan)
    for row in interactions.rows:
        i, j = names.index(row.first), names.index(row.second)
        grid[max(i, j), min(i, j)] = 100 * max(0.0, row.interaction)
    top = max(1.0, float(np.nanmax(grid)))
    for row in (row for row in interactions.rows if row.significant):
        i, j = sorted((names.index(row.first), names.index(row.second)))
        ax.text(i, j, "*", ha="center", va="center", color="black" if grid[j, i] > 0.6 * top else "white")
    image = ax.imshow(grid, cmap="viridis", vmin=0, vmax=top)
    ax.set_xticks(range(len(names)), [shorten(name) for name in names], rotation=60, ha="right")
    ax.set_yticks(range(len(names)), [shorten(name) for name in names])
    ax.figure.colorbar(image, ax=ax, label="interaction (% of the variance)", shrink=0.8)
    return ax


def draw_pair(plane: PairDensity, ax: Axes | None = None) -> Axes:
    """How much likelier the target is in each cell than in the region: 1 is the same."""
    ax = ax if ax is not None else new_axes(5.4, 4.4)
    lift = np.where(plane.region > 0, plane.lift, np.nan)
    top = max(2.0, float(np.nanmax(lift)))
    image = ax.imshow(lift.T, origin="lower", cmap="viridis", vmin=0, vmax=top, aspect="auto")
    ax.set_xticks(range(len(plane.first_cells)), [shorten(c) for c in plane.first_cells], rotation=60, ha="right")
    ax.set_yticks(range(len(plane.second_cells)), [shorten(c) for c in plane.second_cells])
    ax.set_xlabel(shorten(plane.first))
    ax.set_ylabel(shorten(plane.second))
    ax.figure.colorbar(image, ax=ax, label="target rows, against chance")
    return ax


def draw_marginal(marginal: Marginal, mean: float, ax: Axes | None = None) -> Axes:
    """The mean objective by value, and the mean of all rows."""
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    ax.axhline(mean, color="0.5", linewidth=1, linestyle="--")
    if grid_of(marginal.parameter).is_range:
        ax.plot(marginal.cells, marginal.mean, color="C0")
        ax.set_xscale("log" if scale_of(marginal.parameter) == "log" else "linear")
    else:
        ax.plot(range(len(marginal.cells)), marginal.mean, marker="o", linestyle="none", color="C0")
        _name_places(ax, marginal.cells)
    ax.set_xlabel(shorten(marginal.name))
    ax.set_ylabel("mean objective")
    return ax


def draw_objective(
    thresholds: Reals, reached: Reals, marks: Sequence[tuple[str, float]], name: str, ax: Axes | None = None
) -> Axes:
    """Which part of the rows is at least as good, with lines at the thresholds of target and region."""
    ax = ax if ax is not None else new_axes(5.4, 3.4)
    finite = np.abs(thresholds) < np.finfo(np.float64).max  # a last cut there only sets infinite objectives apart
    ax.plot(thresholds[finite], 100 * reached[finite], color="C0", marker=".", markersize=4)
    for i, (label, value) in enumerate(marks):
        if np.isfinite(value):
            ax.axvline(value, color=f"C{i + 1}", linestyle="--", linewidth=1, label=f"{label}: {value:.4g}")
    ax.set_yscale("log")
    ax.set_xlabel(shorten(name))
    ax.set_ylabel("rows at least as good (%)")
    if marks:
        ax.legend(fontsize="small")
    return ax
