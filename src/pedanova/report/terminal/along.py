"""Importance along a budget, and the seed's part, for the terminal."""

from __future__ import annotations

from dataclasses import replace

from pedanova.base.digits import percent, short
from pedanova.base.terminal import TableColumn, draw_columns, sparkline
from pedanova.measures.importance import NEVER, marked_share
from pedanova.measures.studies.along import Along, interval_in_words, spearman_in_words
from pedanova.measures.studies.seeds import Seeds
from pedanova.report.terminal.tables import fill, in_full, name_column

FEW = 4  # budgets whose shares are shown in numbers, the highest first
LEAST_STEPS = 3  # budgets from which on a small curve is drawn
SHARES = (
    'share: fraction of the variance of "in the target?" explained, among the rows of that budget; ~ marks what is not '
    "distinguishable from noise."
)
RANKING = (
    "Spearman: rank correlation of the shares with those of the full budget; what is noise at both is tied. ranking: "
    "the same where it is as near as the full budget's is to itself, another where some order is clearly turned, ? "
    "where the rows cannot tell. cost: were every trial stopped there."
)
CEILING = (
    "the seed's: part of the variance among runs of one configuration. ceiling: what is left, which is the most that "
    "parameters can explain, alone and together. averaged: the ceiling where each configuration's runs are averaged."
)


def draw_along(found: Along, *, colour: bool = False, width: int = 100, alone: bool = False) -> str:
    """Shares by parameter over the budgets, then the agreement of each budget with the full one."""
    shares, shown = draw_shares(found, colour=colour, width=width)
    agreement = draw_agreement(found, colour=colour, width=width)
    if alone:
        return f"{shares}\n\n{agreement}"
    heading = fill(f"{found.heading()}:", width)
    words = [*in_full([row[0].name for row in found.by_parameter()], shown), SHARES]
    return "\n\n".join(
        [heading, shares, fill(" ".join(words), width), agreement, fill(RANKING, width), fill(found.in_words(), width)]
    )


def draw_shares(found: Along, *, colour: bool, width: int) -> tuple[str, TableColumn]:
    """A small curve for each parameter, and its share at a few budgets."""
    rows = found.by_parameter()
    names = name_column([row[0].name for row in rows], width)
    columns = [names]
    if len(found) >= LEAST_STEPS:
        top = max((one.share for row in rows for one in row), default=0.0)
        curves = [
            sparkline([max(0.0, one.share) / (top if top > 0 else 1.0) for one in row]) if row[-1].varied else NEVER
            for row in rows
        ]
        columns.append(TableColumn(f"{short(found.steps[0].budget)} to {short(found.full.budget)}", curves, "words"))
    places = sorted({round(i * (len(found) - 1) / max(1, FEW - 1)) for i in range(min(FEW, len(found)))})
    for leave, place in enumerate(places[::-1]):
        cells = [marked_share(row[place]) for row in rows]
        columns.insert(
            len(columns) - leave, TableColumn(f"{found.name} {short(found.steps[place].budget)}", cells, leave=leave)
        )
    return draw_columns(columns, width=width, colour=colour), names


def draw_agreement(found: Along, *, colour: bool, width: int) -> str:
    """One line for every budget."""
    steps = found.steps
    costs = [found.cost(step) for step in steps]
    columns = [
        TableColumn(found.name, [short(step.budget) for step in steps], "words"),
        TableColumn("rows", [f"{step.rows:,}" for step in steps]),
        TableColumn("cost", ["" if cost is None else percent(cost) for cost in costs], leave=2),
        TableColumn("first", [found.first(step) or "–" for step in steps], "words", leave=3),
        TableColumn("Spearman", [spearman_in_words(step.agreement) for step in steps]),
        TableColumn("95 % interval", [interval_in_words(step.agreement) for step in steps], leave=1),
        TableColumn("ranking", [found.verdict_in_words(step) for step in steps]),
    ]
    return draw_columns(columns, width=width, colour=colour)


def draw_seeds(found: Seeds, *, colour: bool = False, width: int = 100, alone: bool = False) -> str:
    """The seed's part of every variance, and the ceiling that it leaves."""
    leave = {"its interval": 1, "averaged": 2}
    columns = [
        replace(column, kind="number" if i else "name", leave=leave.get(column.title, 0))
        for i, column in enumerate(found.printed())
    ]
    table = draw_columns(columns, width=width, colour=colour)
    if alone:
        return table
    return "\n\n".join([fill(f"{found.heading()}:", width), table, fill(CEILING, width), fill(found.in_words(), width)])
