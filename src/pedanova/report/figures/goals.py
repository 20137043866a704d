"""A figure of two objectives: the rows, the target's among them, the front; and what decides about each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pedanova.measures.importance import Importances, is_faint
from pedanova.measures.tradeoff import Tradeoff
from pedanova.report.figures.draw import NOISE, Axes, colours_of, plain, plain_names, pyplot, trim

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
    ends = [row.high or row.share for found in answers.values() for row in found.rows]
    top = 105 * max(0.01, *ends)
    for number, (ax, (question, found)) in enumerate(zip(axes, answers.items(), strict=True)):
        ink, rows = colours_of(ax), [found[name] for name in names]
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
