"""Which way the objective is better where nobody said so: by its name, aloud, or as a warning."""

from __future__ import annotations

from collections.abc import Collection

from pedanova.base.notes import Note
from pedanova.data.records import Account
from pedanova.data.regions import Direction
from pedanova.data.result_names import direction_by_name
from pedanova.errors import Arg

DONE = {"minimize": "minimised", "maximize": "maximised"}
OTHER: dict[str, str] = {"minimize": "max", "maximize": "min"}


def guess_directions(
    objective: object, columns: Collection[str], account: Account | None = None
) -> tuple[object, list[Note]]:
    """A direction for each objective, and a note on each that the source does not tell."""
    account = account or Account()
    several = isinstance(objective, list | tuple) and all(isinstance(one, str) for one in objective)
    names = list(objective) if several else [objective]  # type: ignore[call-overload]
    guesses = [_guess(name, columns, account) for name in names]
    notes = [note for _, note in guesses if note is not None]
    directions = [direction for direction, _ in guesses]
    return (directions if several else directions[0]), notes


def known_directions(account: Account) -> dict[str, Direction]:
    """By name: of the objectives, then of the other metrics."""
    names = dict.fromkeys((*account.objectives, *account.metrics))
    return dict(zip(names, account.directions, strict=False))


def _guess(objective: object, columns: Collection[str], account: Account) -> tuple[Direction, Note | None]:
    known = known_directions(account)
    if not isinstance(objective, str):
        return "minimize", _unsure("the objective", "minimize", "an array has no name to tell more")
    if objective in known:
        return known[objective], None
    if objective not in columns:
        return "maximize", _unsure(repr(objective), "maximize", "rows where it holds are taken for the good ones")
    told = None if objective in account.unclear else direction_by_name(objective)
    if told is None:
        who = f"neither {account.source} nor its name tells" if account.source else "its name does not tell"
        return "minimize", _unsure(objective, "minimize", f"{who} which way is better")
    words = f"{objective} is {DONE[told]}, as its name says; pass "
    return told, Note("direction", words, Arg("direction", OTHER[told]), " otherwise", severity="guess")


def _unsure(what: str, direction: Direction, why: str) -> Note:
    words = f"{what} is {DONE[direction]}: {why}; pass "
    return Note("direction", words, Arg("direction", OTHER[direction]), " otherwise", severity="warning")
