"""What reports may ask of an analysis beside the measures."""

from __future__ import annotations

from typing import Any, Protocol

from pedanova.measures.asks import Asks
from pedanova.measures.compare import Comparison, Measures
from pedanova.measures.surrogate.profile import Profile
from pedanova.reduction.result import ReducedSpace


class Shows(Asks, Protocol):
    """All that is drawn."""

    def profile(self, *rows: Any, **options: Any) -> Profile: ...
    def compare(self, *rows: Any, **options: Any) -> Measures: ...
    def by_objective(self, *rows: Any, **options: Any) -> Comparison: ...
    def reduce(self, *rows: Any, **options: Any) -> ReducedSpace: ...
