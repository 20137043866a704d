"""What reports may ask of an analysis beside the measures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pedanova.measures.asks import Asks
from pedanova.measures.density import Smoothing
from pedanova.measures.surrogate.profile import Profile
from pedanova.reduction.result import ReducedSpace


class Shows(Asks, Protocol):
    """All that is drawn."""

    def profile(
        self,
        region: object = ...,
        baseline: str = ...,
        smoothing: Smoothing = ...,
        *,
        ladder: Iterable[object] | None = ...,
        estimator: str = ...,
        draws: int = ...,
        seed: int = ...,
    ) -> Profile: ...
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
