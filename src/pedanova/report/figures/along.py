"""Importance along a budget as a figure: a line with its band for each parameter, and where the ranking settles."""

from __future__ import annotations

import textwrap

import numpy as np

from pedanova.base.digits import short
from pedanova.measures.importance import Importance, beats_chance
from pedanova.measures.studies.along import Along
from pedanova.report.figures.draw import Axes, colours_of, new_axes, plain_names, trim

LINES = 4  # drawn in colour and with a name
STYLES = (("target", "o", "-"), ("A", "s", "--"), ("B", "^", "-."), ("ink", "D", ":"))
LOG = 8.0  # budgets that span more are drawn on a log scale
APART = 0.06  # of the height between two names
WIDEST = 78  # letters of the title


def draw_along(found: Along, ax: Axes | None = None) -> Axes:
    """Shares over the budget with their 95 % intervals; grey lines are noise everywhere, or less important."""
    ax = ax if ax is not None else new_axes(7.2, 4.2)
    ink = colours_of(ax)
    budgets = [step.budget for step in found.steps]
    named, others = told_apart(found)
    for row in others:
        ax.plot(budgets, shares(row), color=ink["noise"], linewidth=0.9, zorder=1)
    for row, (colour, marker, line) in zip(named, STYLES, strict=False):
        low, high = (np.array([100 * (getattr(one, end) or 0.0) for one in row]) for end in ("low", "high"))
        if row[0].low is not None:
            ax.fill_between(budgets, low, high, color=ink[colour], alpha=0.15, linewidth=0)
        ax.plot(budgets, shares(row), color=ink[colour], marker=marker, linestyle=line, markersize=4, zorder=3)
    ax.set_ylim(bottom=0)
    name_lines(ax, found, named)
    if found.since is not None:
        ax.axvline(found.since, color=ink["soft"], linestyle="--", linewidth=1, zorder=2)
        words = f" from {short(found.since)} on the full ranking"
        ax.annotate(words, (found.since, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize="small")
    if budgets[0] > 0 and budgets[-1] / budgets[0] > LOG:
        ax.set_xscale("log")
    ax.set_xticks(budgets, [short(budget) for budget in budgets], minor=False, fontsize="small")
    ax.minorticks_off()
    ax.set_xlabel(found.name.replace("$", r"\$"))
    ax.set_ylabel("share (%)")
    ax.set_title("\n".join(textwrap.wrap(found.in_words(), WIDEST)).replace("$", r"\$"), loc="left", fontsize="small")
    trim(ax)
    return ax


def told_apart(found: Along) -> tuple[list[list[Importance]], list[list[Importance]]]:
    """Parameters to name, the most important anywhere first; and the others."""
    rows = sorted(found.by_parameter(), key=lambda row: -max(one.share for one in row))
    sure = [row for row in rows if any(beats_chance(one) for one in row)][:LINES]
    return sure, [row for row in rows if row not in sure]


def shares(row: list[Importance]) -> list[float]:
    return [100 * max(0.0, one.share) for one in row]


def name_lines(ax: Axes, found: Along, named: list[list[Importance]]) -> None:
    """Names at the ends of the lines, pushed apart."""
    ink, shown = colours_of(ax), plain_names(list(found.full.importances))
    top = ax.get_ylim()[1]
    ends = sorted((shares(row)[-1] / top, place) for place, row in enumerate(named))
    at = -1.0
    for height, place in ends:
        at = max(height, at + APART)
        style = {"color": ink[STYLES[place][0]], "fontsize": "small", "va": "center", "annotation_clip": False}
        ax.annotate(f" {shown[named[place][0].name]}", (1.01, at), xycoords="axes fraction", **style)
