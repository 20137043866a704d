"""What one look at a growing source brings to the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pedanova.report.asks import Shows
from pedanova.space.comparison import DomainChange


@dataclass(frozen=True, slots=True)
class Sight:
    """A newer analysis, and what happened to the source meanwhile."""

    analysis: Shows | None  # of all rows so far; None where nothing is new
    finished: int = 0  # trials that have ended
    running: int | None = None  # that have not; None where the source does not tell
    event: str | None = None  # "replaced", "shortened", "study anew": what was read before is gone
    domains: tuple[DomainChange, ...] = ()  # how the space differs from the last one
    best: float | None = None  # objective of the best row; None for several objectives


class Watches(Protocol):
    """Somebody who looks at a source again and again; a look that fails raises an error in words."""

    @property
    def shown(self) -> str: ...  # the source as it may be printed
    @property
    def ordered(self) -> bool: ...  # rows are in the order in which the trials began
    @property
    def last(self) -> Sight | None: ...  # what was seen last, less its analysis
    def look(self) -> Sight: ...
