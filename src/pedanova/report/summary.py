"""The page's first lines: what matters, how much of it, and what is only noise."""

from __future__ import annotations

from collections.abc import Sequence

from pedanova.importance import NEVER, Importance, Importances, beats_chance
from pedanova.letters import shorten
from pedanova.report.sentences import explained, joined

MOST_NAMED = 3
LONGEST_NAME = 60
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def summarize(found: Importances) -> str:
    """Two or three sentences about one question."""
    sure = [row for row in found.rows if beats_chance(row)]
    if not sure:
        return (
            f"Nothing separates {found.target} from {_others(found)} clearly better than chance would. "
            "The order below may be nothing but luck."
        )
    return " ".join(part for part in (_leaders(found, sure), _noise(found), _never(found)) if part)


def _others(found: Importances) -> str:
    return "the rest" if found.region == "all rows" else f"the rest of {found.region}"


def _leaders(found: Importances, sure: list[Importance]) -> str:
    named = [row for row in sure if row.ratio >= 0.1][:MOST_NAMED] or sure[:1]
    held = sum(row.ratio for row in named)
    where = "" if found.region == "all rows" else f" once inside {found.region}"
    importance = f"{held:.0%} of the importance for reaching {found.target}{where}"
    first = max(sure, key=lambda row: row.share)
    alone = explained(shorten(first.name, LONGEST_NAME), first.share)
    names = joined([shorten(row.name, LONGEST_NAME) for row in named])
    if len(named) == 1:
        return f"{names} holds {importance}{alone}."
    if len(named) == len(found):
        parts = joined([f"{row.ratio:.0%}" for row in named])
        return f"{names} hold {parts} of the importance for reaching {found.target}{where}{alone}."
    return f"{number(len(named)).capitalize()} of {number(len(found))} parameters ({names}) hold {importance}{alone}."


def _noise(found: Importances) -> str:
    names = _names([row for row in found.rows if row.significant is False])
    return f"{names} cannot be told from noise." if names else ""


def _never(found: Importances) -> str:
    names = _names([row for row in found.rows if not row.varied])
    return f"{names} {NEVER} in these rows." if names else ""


def _names(rows: Sequence[Importance]) -> str:
    """At most a few of them."""
    names = [shorten(row.name, LONGEST_NAME) for row in rows]
    more = len(names) - MOST_NAMED
    return joined(names if more <= 0 else [*names[:MOST_NAMED], f"{more} more"])


def number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)
