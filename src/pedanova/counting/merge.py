"""Whether two analyses count the same things and can be added."""

from __future__ import annotations

from typing import Protocol

from pedanova.counting.counts import Tallies
from pedanova.counting.levels import Levels
from pedanova.errors import MergeError


class HasTallies(Protocol):
    """What an analysis has counted."""

    @property
    def objective(self) -> str: ...
    @property
    def levels(self) -> Levels: ...
    @property
    def tallies(self) -> Tallies: ...


def check_alike(one: HasTallies, two: HasTallies) -> None:
    """Raise where two analyses cannot be added; their tallies check the rest."""
    if one.objective != two.objective:
        raise MergeError(f"objectives differ: {one.objective!r} and {two.objective!r}")
    if one.levels.several or two.levels.several:
        raise MergeError("several objectives are ordered within one table; analyze all rows at once")
    if list(one.tallies) != list(two.tallies):
        raise MergeError(f"parameters differ: {list(one.tallies)} and {list(two.tallies)}")
