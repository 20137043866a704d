"""Priors and defaults in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pedanova.base.digits import percent, short, times
from pedanova.base.terminal import TextColumn, draw_columns
from pedanova.measures.studies.belief import MASS
from pedanova.measures.studies.defaults import Defaults
from pedanova.measures.studies.prior import SearchPrior
from pedanova.measures.studies.worth import NEVER, Worth
from pedanova.report.terminal.tables import fill, name_column

MOST_STUDIES = 12  # in a table


def draw_prior_table(found: SearchPrior, *, width: int = 100, colour: bool = False) -> str:
    """Where each parameter's bulk lies, the narrowest first."""
    rows = found.rows
    columns = [
        name_column([row.name for row in rows], width),
        TextColumn("best", [short(row.mode) for row in rows]),
        TextColumn(f"{percent(MASS)} of draws in", [row.in_words() for row in rows]),
        TextColumn("of the domain", [percent(row.size) for row in rows], leave=2),
        TextColumn(
            "good in", [f"{round(row.agreement * len(row.studies))} of {len(row.studies)}" for row in rows], leave=1
        ),
    ]
    meanings = (
        "best: the value that is good most often. good in: studies in which draws of this parameter alone, by what the "
        "others say, are in the target more often than uniform ones."
    )
    table = draw_columns(columns, width=width, colour=colour)
    return "\n\n".join([fill(f"{found.heading()}:", width), table, fill(meanings, width)])


def draw_worth(found: Worth, *, width: int = 100, colour: bool = False) -> str:
    """What the prior of the others is worth in each study, the worst first."""
    heading = fill(f"{found.heading()}{':' if found.rows else '.'}", width)
    if not found.rows:
        return heading
    rows = sorted(found.rows, key=lambda row: row.lift)
    columns = [
        TextColumn("left out", [row.study for row in rows[:MOST_STUDIES]], "name"),
        TextColumn("lift", [times(row.lift) for row in rows[:MOST_STUDIES]]),
    ]
    if any(row.trials is not None for row in rows):
        columns += _trials(rows[:MOST_STUDIES], found.trials)
    table = draw_columns(columns, width=width, colour=colour)
    return "\n\n".join([heading, table, *_left(len(rows), "in which it helps least", width)])


def _trials(rows: Sequence[Any], trials: int) -> list[TextColumn]:
    return [
        TextColumn("trials", [_number(row.trials) for row in rows]),
        TextColumn("by uniform", [_number(row.uniform_trials) for row in rows], leave=1),
        TextColumn(f"best of {trials}", [_number(row.best) for row in rows]),
        TextColumn("of uniform", [_number(row.uniform_best) for row in rows]),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else "never" if value >= NEVER else short(value)


def _left(count: int, which: str, width: int) -> list[str]:
    if count <= MOST_STUDIES:
        return []
    return [fill(f"These are the {MOST_STUDIES} of {count} studies {which}.", width)]


def draw_defaults(found: Defaults, *, width: int = 100, colour: bool = False) -> str:
    """Defaults with tunability, then the regret on left-out studies."""
    rows = found.rows
    top = max((row.tunability for row in rows), default=0.0)
    columns = [
        name_column([row.name for row in rows], width),
        TextColumn("default", ["" if row.default is None else short(row.default) for row in rows]),
        TextColumn("tuning gains", [percent(row.tunability) for row in rows]),
        TextColumn("", kind="bar", parts=[row.tunability / (top or 1.0) for row in rows]),
        TextColumn("in half of them", [f"{percent(row.low)} … {percent(row.high)}" for row in rows], leave=2),
        TextColumn("gains most in", [f"{row.first} of {len(row.gains)}" for row in rows], leave=1),
    ]
    table = draw_columns(columns, width=width, colour=colour)
    return "\n\n".join([fill(f"{found.heading()}:", width), table, _regrets(found, width=width, colour=colour)])


def _regrets(found: Defaults, *, width: int, colour: bool) -> str:
    rows = sorted(found.regrets.rows, key=lambda row: -row.regret)
    heading = fill(f"{found.regrets.heading()}{':' if rows else '.'}", width)
    if not rows:
        return heading
    shown = rows[:MOST_STUDIES]
    columns = [
        TextColumn("left out", [row.study for row in shown], "name"),
        TextColumn("at defaults", [short(row.objective) for row in shown]),
        TextColumn("best", [short(row.best) for row in shown]),
        TextColumn("regret", [percent(row.regret) for row in shown]),
        TextColumn("uniform", [percent(row.uniform) for row in shown], leave=1),
    ]
    table = draw_columns(columns, width=width, colour=colour)
    return "\n\n".join([heading, table, *_left(len(rows), "with the largest regret", width)])
