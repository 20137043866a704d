"""Figures by matplotlib: every function takes a result and an Axes, draws, and returns the Axes.

Colours and fonts are those of the user's style sheet; what cannot be told from noise is drawn pale.
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

PALE = 0.35
LONGEST = 28  # letters of a name
MOST_TICKS = 12
Axes = Any


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


def draw_importances(found: Importances, ax: Axes | None = None, *, metric: str = "share") -> Axes:
    """Bars, the largest on top, with their intervals; pale bars cannot be told from noise."""
    if metric not in ("share", "ratio"):
        raise QueryError(f"metric={metric!r} must be 'share' or 'ratio'")
    rows = found.rows[::-1]
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
    ax.set_title(f"What separates {found.target} from {found.region}", loc="left", fontsize="medium")
    return ax


def draw_densities(found: Densities, ax: Axes | None = None) -> Axes:
    """The target's density against the region's and a uniform draw; good ranges are shaded."""
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    if found.edges is not None and grid_of(found.parameter).is_range:
        _draw_curves(found, found.edges, ax)
    else:
        _draw_bars(found, ax)
    ax.set_xlabel(shorten(found.name))
    ax.set_ylim(bottom=0)
    return ax


def draw_verdict(row: Verdict, found: Densities, ax: Axes | None = None) -> Axes:
    """What is left of a parameter over its densities: what is cut off is hatched, arrows point where to widen."""
    ax = draw_densities(found, ax)
    as_bars = not grid_of(found.parameter).is_range
    kept = np.array(
        [any(_has(d, row.before, cell) for d in row.pieces or (row.after,)) for cell in found.cells]
    )
    if as_bars:
        spans = [(place - 0.5, place + 0.5) for place in np.flatnonzero(~kept)]
        _hatch(ax, spans)
        ax.set_xlim(-0.5, len(found.cells) - 0.5)
    else:
        _hatch(ax, _cut_off(found, kept))
        if isinstance(row.after, Categorical | Ordinal):  # one value is left
            ax.axvline(_values(row.after)[0], color="C2", linewidth=2)
    for bound, place, to in zip(row.beyond, (0.02, 0.98), ("◀", "▶"), strict=True):
        if bound is not None:
            side = "left" if place < 0.5 else "right"
            words = f"{to} {bound:g}" if side == "left" else f"{bound:g} {to}"
            ax.text(place, 0.96, words, transform=ax.transAxes, ha=side, va="top", fontsize="small")
    words = "never active" if row.after is None else row.advice
    part = f", {row.part:.0%} left" if 0 < row.part < 1 else ""
    ax.set_title(f"{words}{part}", loc="left", fontsize="medium")
    return ax


def _cut_off(found: Densities, kept: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """From where to where a range is cut off."""
    if found.edges is None:
        return []
    turns = np.flatnonzero(np.diff(np.concatenate([[True], kept, [True]]).astype(int)))
    return [(found.edges[first], found.edges[last]) for first, last in turns.reshape(-1, 2)]


def _hatch(ax: Axes, spans: Sequence[tuple[float, float]]) -> None:
    for low, high in spans:
        if low < high:
            ax.axvspan(low, high, facecolor="0.5", alpha=0.3, hatch="///", edgecolor="0.4", linewidth=0)


def _has(domain: Parameter | None, before: Parameter, cell: object) -> bool:
    """Whether what is left of a domain still has the value of a cell."""
    match domain:
        case None:
            return False
        case Categorical() | Ordinal():
            return cell in _values(domain) or str(cell) in map(str, _values(domain))
        case Float(low, high) | Int(low, high) if isinstance(cell, int | float):
            # A bound that has not moved cuts nothing off, though whole numbers' cells begin half a step before it.
            above = low <= cell or low == getattr(before, "low", None)
            return above and (cell <= high or high == getattr(before, "high", None))
        case _:
            return True


def _values(domain: Categorical | Ordinal) -> tuple[Any, ...]:
    return domain.choices if isinstance(domain, Categorical) else domain.values


def _draw_bars(found: Densities, ax: Axes) -> None:
    places = np.arange(len(found.cells))
    ax.bar(places - 0.2, 100 * found.target, 0.4, color="C0", label=found.words[0])
    ax.bar(places + 0.2, 100 * found.region, 0.4, color="0.7", label=found.words[1])
    ax.plot(
        places, 100 * found.uniform, linestyle="none", marker="_", markersize=16, color="C1", label="uniform"
    )
    _name_places(ax, found.cells)
    ax.set_ylabel("rows (%)")


def _name_places(ax: Axes, cells: Sequence[object]) -> None:
    """Names under bars, slanted where they are many or long."""
    names = [shorten(f"{cell:.3g}" if isinstance(cell, float) else cell) for cell in cells]
    crowded = len(names) > 6 or max(map(len, names)) > 8
    ax.set_xticks(
        range(len(names)), names, rotation=60 if crowded else 0, ha="right" if crowded else "center"
    )


def _draw_curves(found: Densities, edges: NDArray[np.float64], ax: Axes) -> None:
    log = scale_of(found.parameter) == "log"
    good = np.zeros(len(found), dtype=bool)
    for one in found.good():
        good[one.start : one.stop] = True
    scale = np.log10(edges) if log else edges
    widths = np.diff(scale)
    middles = (scale[1:] + scale[:-1]) / 2
    middles = 10**middles if log else middles
    curves = [parts / widths for parts in (found.target, found.region, found.uniform)]
    ax.fill_between(middles, 0, curves[0], where=good, color="C0", alpha=0.2, linewidth=0)
    ax.plot(middles, curves[0], color="C0", label=found.words[0])
    ax.plot(middles, curves[1], color="0.5", label=found.words[1])
    ax.plot(middles, curves[2], color="C1", linestyle="--", linewidth=1, label="uniform")
    if log:
        ax.set_xscale("log")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylabel("density" + (" by decade" if log else ""))


def draw_profile(found: Profile, ax: Axes | None = None) -> Axes:
    """Ratios as bands over the target's quantile, which is strictest on the left."""
    if not found.steps:
        raise QueryError("the profile has no step; the region has too few levels to compare")
    ax = draw_bands(
        [100 * float(step.quantile) for step in found.steps], [step.rows for step in found.steps], ax
    )
    low, high = ax.get_xlim()
    ticks = [q for q in (0.1, 0.3, 1, 3, 10, 30, 100) if low <= q <= high]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    ax.set_xlabel("target: the best … % of all rows")
    return ax


def draw_growth(found: Sequence[tuple[int, Importances]], ax: Axes | None = None) -> Axes:
    """Ratios as bands over the number of rows, with the number of each step."""
    steps = [rows for rows, _ in found]
    ax = draw_bands(steps, [answer.rows for _, answer in found], ax)
    ax.set_xticks(steps, [f"{rows:,}" for rows in steps], minor=False, rotation=45, ha="right")
    ax.minorticks_off()
    ax.set_xlabel(f"rows (the first ones; {found[-1][1].target} against {found[-1][1].region})")
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
    few = slice(None, None if len(names) <= MOST_TICKS else MOST_TICKS)
    ax.legend(
        handles[few][::-1], labels[few][::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small"
    )
    return ax


def draw_interactions(found: Interactions, ax: Axes | None = None) -> Axes:
    """A heat map of all pairs; a star marks those that chance does not explain."""
    names = list(dict.fromkeys(name for pair in found for name in pair))
    size = max(3.6, 1.6 + 0.36 * len(names))
    ax = ax if ax is not None else new_axes(size + 1.0, size)
    grid = np.full((len(names), len(names)), np.nan)
    for row in found.rows:
        i, j = names.index(row.first), names.index(row.second)
        grid[max(i, j), min(i, j)] = 100 * max(0.0, row.interaction)
    top = max(1.0, float(np.nanmax(grid)))
    for row in (row for row in found.rows if row.significant):
        i, j = sorted((names.index(row.first), names.index(row.second)))
        ax.text(i, j, "*", ha="center", va="center", color="black" if grid[j, i] > 0.6 * top else "white")
    image = ax.imshow(grid, cmap="viridis", vmin=0, vmax=top)
    ax.set_xticks(range(len(names)), [shorten(name) for name in names], rotation=60, ha="right")
    ax.set_yticks(range(len(names)), [shorten(name) for name in names])
    ax.figure.colorbar(image, ax=ax, label="interaction (% of the variance)", shrink=0.8)
    return ax


def draw_pair(found: PairDensity, ax: Axes | None = None) -> Axes:
    """How much likelier the target is in each cell than in the region: 1 is the same."""
    ax = ax if ax is not None else new_axes(5.4, 4.4)
    lift = np.where(found.region > 0, found.lift, np.nan)
    top = max(2.0, float(np.nanmax(lift)))
    image = ax.imshow(lift.T, origin="lower", cmap="viridis", vmin=0, vmax=top, aspect="auto")
    ax.set_xticks(
        range(len(found.first_cells)), [shorten(c) for c in found.first_cells], rotation=60, ha="right"
    )
    ax.set_yticks(range(len(found.second_cells)), [shorten(c) for c in found.second_cells])
    ax.set_xlabel(shorten(found.first))
    ax.set_ylabel(shorten(found.second))
    ax.figure.colorbar(image, ax=ax, label="target rows, against chance")
    return ax


def draw_marginal(found: Marginal, mean: float, ax: Axes | None = None) -> Axes:
    """The mean objective by value, and the mean of all rows."""
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    ax.axhline(mean, color="0.5", linewidth=1, linestyle="--")
    if found.edges is None or not grid_of(found.parameter).is_range:
        ax.plot(range(len(found.cells)), found.mean, marker="o", linestyle="none", color="C0")
        _name_places(ax, found.cells)
    else:
        log = scale_of(found.parameter) == "log"
        middles = (
            np.sqrt(found.edges[1:] * found.edges[:-1]) if log else (found.edges[1:] + found.edges[:-1]) / 2
        )
        ax.plot(middles, found.mean, color="C0")
        if log:
            ax.set_xscale("log")
    ax.set_xlabel(shorten(found.name))
    ax.set_ylabel("mean objective")
    return ax


def draw_objective(
    thresholds: NDArray[np.float64], reached: NDArray[np.float64], marks: Sequence[tuple[str, float]], name: str,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Which part of the rows is at least so good, with lines at the thresholds of target and region."""
    ax = ax if ax is not None else new_axes(5.4, 3.4)
    finite = np.isfinite(thresholds)
    ax.plot(thresholds[finite], 100 * reached[finite], color="C0", marker=".", markersize=4)
    for i, (label, value) in enumerate(marks):
        if np.isfinite(value):
            ax.axvline(value, color=f"C{i + 1}", linestyle="--", linewidth=1, label=f"{label}: {value:.4g}")
    ax.set_yscale("log")
    ax.set_xlabel(shorten(name))
    ax.set_ylabel("rows at least so good (%)")
    if marks:
        ax.legend(fontsize="small")
    return ax
