"""A question of the page as whoever writes code asks it: one line of Python, one of shell, and the condition.

Each gives the very numbers of the answer: bounds are written with every digit, names as their language quotes them.
"""

from __future__ import annotations

import keyword
import shlex
from collections.abc import Mapping
from typing import Any

from pedanova.data.regions import Region
from pedanova.data.row_selection import LONGEST
from pedanova.measures.question import DEFAULT
from pedanova.report.page.question import PageQuestion, Picks, Span

USUAL: dict[str, Any] = {**DEFAULT.how}
ALWAYS = "`"  # no name with one in it can stand in a condition


def lines_of(
    question: PageQuestion, target: Region, region: Region, source: str = "", options: Mapping[str, Any] | None = None
) -> dict[str, str | None]:
    """The lines of a question whose target and region, inside its selection, are these."""
    how = {name: value for name, value in (options or {}).items() if name in USUAL and value != USUAL[name]}
    how |= {"baseline": question.baseline} if question.baseline != "region" else {}
    how |= {"of": question.of} if question.of != "space" else {}
    condition = condition_of(question)
    shell = None if condition is None else shell_line(condition, target, region, source, how)
    return {"python": python_line(question, target, region, how), "shell": shell, "condition": condition or None}


# --- Python ------------------------------------------------------------------------------------------


def python_line(question: PageQuestion, target: Region, region: Region, how: Mapping[str, Any]) -> str:
    rows = [python_rows(target), *([] if region.is_all else [python_rows(region)])]
    given = ", ".join([*rows, *(f"{name}={value!r}" for name, value in how.items())])
    return f"{within_in_python(question)}.importance({given})"


def within_in_python(question: PageQuestion) -> str:
    """The analysis of the selected rows."""
    box = ", ".join(f"{name!r}: {part.bounds()!r}" for name, part in question.selection.items())
    whole = "a" if question.study is None else f"a.groups({question.study.column!r})[{question.study.name!r}]"
    return f"{whole}.within({{{box}}})" if box else whole


def python_rows(rows: Region) -> str:
    """Target or region as `importance` takes it."""
    if rows.kind == "value":
        if rows.low is None or rows.high is None:
            return f"pa.at_most({rows.high!r})" if rows.low is None else f"pa.at_least({rows.low!r})"
        return f"pa.between({rows.low!r}, {rows.high!r}, values=True)"
    low, high = part_ends(rows)
    return f"pa.between({low!r}, {high!r})" if low else repr(high)


def part_ends(rows: Region) -> tuple[float, float]:
    return float(rows.low or 0), 1.0 if rows.high is None else float(rows.high)


# --- the condition -----------------------------------------------------------------------------------


def condition_of(question: PageQuestion) -> str | None:
    """The selected rows as `within` and ``--within`` take them; empty for all, None where it cannot be written."""
    if question.study is not None or any(ALWAYS in name for name in question.selection):
        return None
    text = " and ".join(comparison(name, part) for name, part in question.selection.items())
    return text if len(text) <= LONGEST else None


def column_in_words(name: str) -> str:
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"{ALWAYS}{name}{ALWAYS}"


def comparison(name: str, part: Span | Picks) -> str:
    column = column_in_words(name)
    if isinstance(part, Picks):
        labels = part.bounds()
        return f"{column} == {labels[0]!r}" if len(labels) == 1 else f"{column} in {labels!r}"
    if part.low is None and part.high is None:
        return f"{column} is not None"
    if part.low is None or part.high is None:
        return f"{column} <= {part.high!r}" if part.low is None else f"{column} >= {part.low!r}"
    return f"{part.low!r} <= {column} <= {part.high!r}"


# --- the shell ---------------------------------------------------------------------------------------


def shell_line(condition: str, target: Region, region: Region, source: str, how: Mapping[str, Any]) -> str:
    """The command that prints the same table; `source` is quoted already."""
    words = ["--within", condition] if condition else []
    words += ["--target", shell_rows(target)]
    words += [] if region.is_all else ["--region", shell_rows(region)]
    for name, value in how.items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return f"pedanova analyze {source or 'SOURCE'} {shlex.join(words)}"


def shell_rows(rows: Region) -> str:
    if rows.kind == "value":
        ends = [f">={rows.low!r}"] * (rows.low is not None) + [f"<={rows.high!r}"] * (rows.high is not None)
        return ",".join(ends)
    low, high = part_ends(rows)
    return f"{low!r}..{high!r}" if low else repr(high)
