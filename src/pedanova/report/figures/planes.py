"""Figures of two parameters or two objectives: all pairs at once, the plane of one pair, a trade-off."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pedanova.base.digits import percent
from pedanova.measures.importance import Importances, is_faint
from pedanova.measures.interactions import Interaction, Interactions
from pedanova.measures.plane import PairDensity
from pedanova.measures.tradeoff import Tradeoff
from pedanova.report.figures.draw import (
    NOISE,
    Axes,
    box,
    colours_of,
    is_dark,
    lift_bar,
    new_axes,
    plain,
    plain_names,
    pyplot,
    trim,
)
from pedanova.report.palette import ink_on, lift_colour, mixed

MATRIX = 8  # parameters, up to which all pairs are a matrix; of more the strongest are listed
LISTED = 15  # pairs of that list
LEAST_TOP = 10.0  # % of the variance that the darkest cell stands for, at least
ENOUGH = 5.0  # rows that must be expected in a cell to say something
FADED = 0.65  # of what chance explains
TIMES = {0.25: "≤ ¼", 0.5: "½", 1.0: "1", 2.0: "2", 4.0: "≥ 4"}


def draw_interactions(interactions: Interactions, ax: Axes | None = None) -> Axes:
    """All pairs as a matrix, or the strongest of many as a list; ~ marks what chance explains."""
    names = list(dict.fromkeys(name for pair in interactions for name in pair))
    return _draw_matrix(interactions, names, ax) if len(names) <= MATRIX else _draw_list(interactions, names, ax)


def _draw_matrix(interactions: Interactions, names: list[str], ax: Axes | None) -> Axes:
    size = max(3.6, 1.6 + 0.5 * len(names))
    ax = ax if ax is not None else new_axes(size + 1.0, size)
    ink = colours_of(ax)
    top = max(LEAST_TOP, *(100 * row.interaction for row in interactions.rows))
    for row in interactions.rows:
        i, j = sorted((names.index(row.first), names.index(row.second)))
        part = min(1.0, max(0.0, 100 * row.interaction) / top)
        fill = mixed(ink["card"], ink["target"] if row.significant else ink["noise"], part)
        ax.add_patch(box(i, j, fill, ink["ground"]))
        ax.text(i, j, _marked(row), ha="center", va="center", fontsize="small", color=ink_on(fill))
    shown = plain_names(names)
    ax.set_xticks(range(len(names) - 1), [shown[name] for name in names[:-1]], rotation=45, ha="right")
    ax.set_yticks(range(1, len(names)), [shown[name] for name in names[1:]])
    ax.set_xlim(-0.5, len(names) - 1.5)
    ax.set_ylim(len(names) - 0.5, 0.5)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    words = f"interaction (% of the variance); {NOISE}chance explains it"
    ax.set_title(words, loc="left", fontsize="medium")
    return ax


def _marked(row: Interaction) -> str:
    return f"{'' if row.significant else NOISE}{percent(row.interaction).removesuffix('%').strip()}"


def _draw_list(interactions: Interactions, names: list[str], ax: Axes | None) -> Axes:
    rows = interactions.rows[:LISTED][::-1]
    ax = ax if ax is not None else new_axes(6.4, 1.2 + 0.28 * len(rows))
    ink, shown = colours_of(ax), plain_names(names)
    values = [100 * max(0.0, row.interaction) for row in rows]
    fills = [ink["target"] if row.significant else ink["noise"] for row in rows]
    ax.barh(range(len(rows)), values, color=fills, height=0.7)
    labels = [f"{'' if row.significant else NOISE}{shown[row.first]} × {shown[row.second]}" for row in rows]
    ax.set_yticks(range(len(rows)), labels)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlim(0, max(LEAST_TOP, 1.05 * max(values, default=0.0)))
    ax.set_xlabel("interaction (% of the variance)")
    left = len(interactions.rows) - len(rows)
    more = f"; {left:,} more are weaker" if left else ""
    ax.set_title(f"{NOISE}chance explains it{more}", loc="left", fontsize="medium")
    trim(ax)
    return ax


def draw_pair(plane: PairDensity, ax: Axes | None = None) -> Axes:
    """How many times as often the target lies in each cell as the region does, with its rows of the region's.

    Colours are even in log₂ from ¼ to 4 times; what chance explains is pale, and where fewer than five rows of the
    target are expected the cell is hatched.
    """
    rows, columns = plane.target.shape
    ax = ax if ax is not None else new_axes(2.4 + 0.62 * rows, max(3.0, 1.6 + 0.42 * columns))
    ink, dark = colours_of(ax), is_dark(ax)
    lift, expected, significant = plane.lift, plane.expected, plane.significant
    for i in range(rows):
        for j in range(columns):
            if not plane.region[i, j]:
                continue
            fill = lift_colour(float(lift[i, j]), dark=dark)
            fill = fill if significant[i, j] else mixed(fill, ink["ground"], FADED)
            sparse = "////" if expected[i, j] < ENOUGH else None
            ax.add_patch(box(i, j, fill, mixed(fill, ink["ink"], 0.18), hatch=sparse))
            words = f"{plane.target[i, j]:,}/{plane.region[i, j]:,}"
            paper = {"facecolor": fill, "edgecolor": "none", "pad": 0.6}
            ax.text(i, j, words, ha="center", va="center", fontsize="x-small", color=ink_on(fill), bbox=paper)
    _name_plane(plane, ax)
    lift_bar(ax, TIMES)
    ax.set_title("rows of the target / of the region", loc="left", fontsize="small", color=ink["soft"])
    return ax


def _name_plane(plane: PairDensity, ax: Axes) -> None:
    rows, columns = plane.target.shape
    shown = plain_names([plane.first, plane.second])
    ax.set_xticks(range(rows), [plain(cell) for cell in plane.first_cells], rotation=45, ha="right")
    ax.set_yticks(range(columns), [plain(cell) for cell in plane.second_cells])
    ax.set_xlim(-0.5, rows - 0.5)
    ax.set_ylim(-0.5, columns - 0.5)
    ax.tick_params(length=0)
    ax.set_xlabel(shown[plane.first])
    ax.set_ylabel(shown[plane.second])


ARROWS = {"minimize": "↓", "maximize": "↑"}


def draw_tradeoff(tradeoff: Tradeoff, ax: Axes) -> Axes:
    """Every row by both objectives: the target's filled, the others open, a line along the front."""
    ink = colours_of(ax)
    others, inside = tradeoff.values[~tradeoff.target], tradeoff.values[tradeoff.target]
    open_marks = {"s": 14, "facecolors": "none", "edgecolors": ink["region"], "linewidths": 0.7}
    ax.scatter(*others.T, **open_marks, label=f"others ({len(others):,})")
    ax.scatter(*inside.T, s=18, color=ink["target"], linewidths=0, label=f"{tradeoff.words} ({len(inside):,})")
    front = tradeoff.values[tradeoff.front]
    front = front[np.lexsort((front[:, 1], front[:, 0]))]
    ax.plot(*front.T, color=ink["ink"], linewidth=1.2, drawstyle=_corner(tradeoff), label=f"front ({len(front):,})")
    for set_label, name, way in zip((ax.set_xlabel, ax.set_ylabel), tradeoff.names, tradeoff.directions, strict=True):
        set_label(f"{plain(name)} {ARROWS.get(way, '')}")
    ax.legend(fontsize="small")
    trim(ax)
    return ax


def _corner(tradeoff: Tradeoff) -> str:
    """Steps along the side that the front leaves to others: what lies behind the line is beaten."""
    return "steps-post" if tradeoff.directions[0] == "minimize" else "steps-pre"


def draw_by_objective(answers: Mapping[str, Importances], axes: Axes) -> None:
    """Shares for each question beside each other, on one scale, in the order of the first."""
    names = list(next(iter(answers.values())))[::-1]
    shown = plain_names(names)
    ends = [row.high or row.share for importances in answers.values() for row in importances.rows]
    top = 105 * max(0.01, *ends)
    for number, (ax, (question, importances)) in enumerate(zip(axes, answers.items(), strict=True)):
        ink, rows = colours_of(ax), [importances[name] for name in names]
        values = [100 * max(0.0, row.share) for row in rows]
        ax.barh(names, values, color=[ink["noise"] if is_faint(r) else ink["target"] for r in rows], height=0.7)
        for place, row in enumerate(rows):
            if row.low is not None and row.high is not None:
                ax.plot((100 * max(0.0, row.low), 100 * row.high), (place, place), color=ink["ink"], linewidth=1)
            if is_faint(row):
                ax.text(top, place, NOISE.strip(), ha="right", va="center", color=ink["soft"])
        ax.set_yticks(range(len(names)), [shown[name] for name in names] if number == 0 else [""] * len(names))
        ax.set_xlim(0, top)
        ax.set_xlabel("share (%)")
        ax.set_title(plain(question), loc="left", fontsize="medium")
        trim(ax)


def draw_objectives(tradeoff: Tradeoff, answers: Mapping[str, Importances]) -> Axes:
    """The scatter on the left, a column of bars for every question on the right."""
    many = len(answers)
    rows = len(next(iter(answers.values())))
    size = (5.0 + 2.0 * many, max(3.8, 1.2 + 0.3 * rows))
    ratios = {"width_ratios": [2.2, *[1.0] * many]}
    axes = pyplot().subplots(1, 1 + many, figsize=size, layout="constrained", gridspec_kw=ratios)[1]
    draw_tradeoff(tradeoff, axes[0])
    draw_by_objective(answers, axes[1:])
    return axes
