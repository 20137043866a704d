"""What reports may ask of an analysis beside the measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, Unpack

from pedanova.counting.goal_plane import GoalPlane
from pedanova.data.trials import Trials
from pedanova.measures.asks import Asks
from pedanova.measures.compare import Comparison, Ranked
from pedanova.measures.importance import Importances
from pedanova.measures.question import How, Question
from pedanova.measures.studies.across import Pooling
from pedanova.measures.studies.along import Along
from pedanova.measures.surrogate.answer import Glance
from pedanova.measures.surrogate.profile import Profile
from pedanova.reduction.result import ReducedSpace


class Shows(Asks, Protocol):
    """All that is drawn."""

    def by_objective(
        self, target: object = ..., region: object = ..., **how: Unpack[How]
    ) -> Comparison[Importances]: ...
    def goal_plane(self, target: object = ..., region: object = ...) -> GoalPlane: ...
    @property
    def excerpt(self) -> Self | None: ...
    def within(self, *rows: object, at: Sequence[object] = ()) -> Self: ...
    def at_once(self, question: Question, *, within: Sequence[object] = ()) -> Glance: ...
    def trials(
        self,
        target: object = ...,
        region: object = ...,
        *,
        sort: str | None = ...,
        descending: bool = ...,
        offset: int = ...,
        limit: int | None = ...,
        sample: int | None = ...,
        params: Sequence[str] | None = ...,
        of: str = ...,
    ) -> Trials: ...
    def profile(self, *rows: Any, **options: Any) -> Profile: ...
    @property
    def budget(self) -> str | None: ...
    def along(
        self,
        budget: str | Mapping[float, str] | None = ...,
        target: object = ...,
        region: object = ...,
        *,
        at: Sequence[float] | None = ...,
        among: str = ...,
        **how: Unpack[How],
    ) -> Along: ...
    def groups(self, column: str) -> Mapping[str, Self]: ...
    def pooled_by(self, column: str, target: object, region: object, **options: Any) -> Pooling: ...
    def compare(self, target: float = ..., *, seed: int = ...) -> Comparison[Ranked]: ...
    def reduce(
        self,
        target: object = ...,
        keep: float = ...,
        *,
        widen: bool = ...,
        estimator: str = ...,
        folds: int = ...,
        seed: int = ...,
    ) -> ReducedSpace: ...
