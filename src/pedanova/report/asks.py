"""What reports may ask of an analysis beside the measures."""

from __future__ import annotations

from typing import Any, Protocol, Self

from pedanova.counting.binned_rows import BinnedRows
from pedanova.counting.goal_plane import GoalPlane
from pedanova.measures.asks import Asks
from pedanova.measures.compare import Comparison
from pedanova.measures.surrogate.profile import Profile
from pedanova.reduction.result import ReducedSpace


class Shows(Asks, Protocol):
    """All that is drawn."""

    def by_objective(self, *rows: Any, **options: Any) -> Comparison: ...
    def goal_plane(self, *rows: Any) -> GoalPlane: ...
    def binned(self) -> BinnedRows: ...
    def within(self, *rows: Any) -> Self: ...
    def profile(self, *rows: Any, **options: Any) -> Profile: ...
    def reduce(self, *rows: Any, **options: Any) -> ReducedSpace: ...
