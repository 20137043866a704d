"""What following a source means: one look after the other, each of which reads only what is new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar

from pedanova.data.records import Records

Item = TypeVar("Item")
# Something happened to the source itself: its beginning is another, or it was read as a whole once more.
Event: TypeAlias = Literal["replaced", "shortened", "study anew"]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has found."""

    records: Records | None = field(
        repr=False
    )  # all trials that have ended so far; None where nothing is new, or there is none yet
    new: int = 0  # trials that have ended since the last look
    finished: int = 0  # all that have ended
    running: int | None = None  # begun and not ended; None where the source does not tell
    event: Event | None = None


class Follow(Protocol):
    """A source that is followed.

    A look that fails (a file that is gone, a database that is down) raises an error of pedanova's own and
    changes nothing: the next one finds what this one would have found.
    """

    @property
    def shown(self) -> str: ...  # the source as it may be printed
    @property
    def ordered(self) -> bool: ...  # rows are in the order in which the trials began

    def look(self) -> Look: ...


def in_parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """So many at once: a database takes no query of any length."""
    return (items[start : start + size] for start in range(0, len(items), size))
