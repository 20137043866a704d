"""What reports may ask of an analysis beside the measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

from pedanova.counting.binned_rows import BinnedRows
from pedanova.counting.goal_plane import GoalPlane
from pedanova.data.trials import Trials
from pedanova.measures.asks import Asks
from pedanova.measures.compare import Comparison
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances
from pedanova.measures.surrogate.profile import Profile
from pedanova.reduction.result import ReducedSpace


class Shows(Asks, Protocol):
    """All that is drawn."""

    def by_objective(self, *rows: Any, **options: Any) -> Comparison: ...
    def goal_plane(self, *rows: Any) -> GoalPlane: ...
    def binned(self) -> BinnedRows: ...
    @property
    def excerpt(self) -> Self | None: ...
    def within(self, *rows: Any, at: Sequence[Any] = ()) -> Self: ...
    def at_once(self, *rows: Any, **options: Any) -> tuple[Importances, dict[str, Densities]]: ...
    def trials(self, *rows: Any, **options: Any) -> Trials: ...
    def profile(self, *rows: Any, **options: Any) -> Profile: ...
    def reduce(self, *rows: Any, **options: Any) -> ReducedSpace: ...
