"""What measures, reductions and reports may ask of an analysis, which stands in a room above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self

from pedanova.counting.contrasts import Contrast
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Tally
from pedanova.data.observations import Observations
from pedanova.measures.densities import Densities
from pedanova.measures.density import Smoothing
from pedanova.measures.effects import Effects
from pedanova.measures.forest.results import AxisEffects, ForestEffects
from pedanova.measures.importance import Importances
from pedanova.measures.interactions import Interactions
from pedanova.measures.plane import PairDensity
from pedanova.space.parameters import Space


class Tallied(Protocol):
    """What was counted, and of what."""

    @property
    def objective(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def levels(self) -> Levels: ...
    @property
    def tallies(self) -> Mapping[str, Tally]: ...
    @property
    def space(self) -> Space: ...
    @property
    def rows(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def observations(self) -> Observations | None: ...
    def reach(self, part: object) -> tuple[float, int]: ...


class Asks(Tallied, Protocol):
    """The questions; targets and regions are whatever `Analysis.importance` takes."""

    def first(self, rows: int) -> Self: ...
    def ask(self, target: object, region: object) -> tuple[list[Contrast], tuple[str, str], list[str]]: ...
    def importance(
        self,
        target: object = ...,
        region: object = ...,
        baseline: str = ...,
        smoothing: Smoothing = ...,
        *,
        estimator: str = ...,
        draws: int = ...,
        seed: int = ...,
        force: bool = ...,
    ) -> Importances: ...
    def all_densities(
        self, target: object = ..., region: object = ..., smoothing: Smoothing = ...
    ) -> dict[str, Densities]: ...
    def effects(self, region: object = ..., *, clip: object = ..., smoothing: Smoothing = ...) -> Effects: ...
    def interactions(
        self,
        target: object = ...,
        region: object = ...,
        *,
        cells: object = ...,
        corrected: bool = ...,
        params: Iterable[str] | None = ...,
        seed: int = ...,
    ) -> Interactions: ...
    def pair(
        self, first: str, second: str, target: object = ..., region: object = ..., *, cells: object = ...
    ) -> PairDensity: ...
    def pairs(
        self,
        names: Sequence[str] | None = ...,
        target: object = ...,
        region: object = ...,
        *,
        cells: object = ...,
    ) -> dict[tuple[str, str], PairDensity]: ...
    def forest(
        self, clip: float | None = ..., *, trees: int = ..., seed: int = ..., pairs: bool = ...
    ) -> ForestEffects: ...
    def axis(self, *, trees: int = ..., seed: int = ...) -> AxisEffects: ...
