"""What studies together say of one parameter, and what a search that goes by it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.measures.asks import Asks
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal
from pedanova.space.values import Label

Reals: TypeAlias = NDArray[np.float64]
MASS = 0.8  # of the prior, that lies in what is called its bulk
GAP = 0.05  # of the cells: what lies closer together is told as one


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """One parameter: where good values lie over all studies, and in each.

    lift
        (cells,) How much likelier a value is than under a uniform draw.
    studies, lifts
        Who speaks of it, and (studies, cells) what each of them says.
    others
        (studies, cells) For each of them, the lift that all others pool to.
    """

    name: str
    parameter: Domain
    lift: Reals
    studies: tuple[str, ...]
    lifts: Reals
    others: Reals

    @property
    def grid(self) -> Grid:
        return grid_of(self.parameter)

    @property
    def uniform(self) -> Reals:
        return self.grid.prior

    @property
    def parts(self) -> Reals:
        """(cells,) Of a draw; they add to one."""
        return self.uniform * self.lift

    def mixed(self, safety: float) -> Reals:
        """(cells,) Of a draw that is uniform in so many cases."""
        return (1.0 - safety) * self.parts + safety * self.uniform

    def cells_at(self, heights: Reals, anywhere: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(draws,) The cells where so much of the prior, or `anywhere` of a uniform draw, lies below."""
        found = np.empty(len(heights), dtype=np.int64)
        for parts, some in ((self.parts, ~anywhere), (self.uniform, anywhere)):
            below = np.cumsum(parts)
            found[some] = np.searchsorted(below, heights[some] * below[-1], side="right")
        return found

    @property
    def mode(self) -> Label:
        """The value that is best in general."""
        return value_in(self.parameter, int(np.argmax(np.where(self.uniform > 0, self.lift, 0.0))))

    def bulk(self, mass: float = MASS) -> list[tuple[int, int]]:
        """The likeliest cells that hold so much of the prior, as runs (first, behind the last)."""
        order = np.argsort(-self.lift, kind="stable")
        held = np.cumsum(self.parts[order])
        chosen = np.sort(order[: int(np.searchsorted(held, mass - 1e-12)) + 1])
        if isinstance(self.parameter, Categorical):
            return [(int(cell), int(cell) + 1) for cell in chosen]
        apart = np.flatnonzero(np.diff(chosen) > 1 + GAP * len(order)) + 1
        return [(int(run[0]), int(run[-1]) + 1) for run in np.split(chosen, apart)]

    def in_words(self) -> str:
        """Its bulk as values."""
        return ", ".join(span_in_words(self.parameter, *run) for run in self.bulk()[:4])

    @property
    def size(self) -> float:
        """The part of the domain that its bulk takes up."""
        return float(sum(self.uniform[first:last].sum() for first, last in self.bulk()))

    @property
    def agreement(self) -> float:
        """The part of the studies in which draws from what the others say are good more often than uniform ones."""
        told = (self.lifts * self.others) @ self.uniform
        return float(np.mean(told >= 1.0 - 1e-9)) if len(told) else 1.0

    def without(self, study: str) -> Belief:
        """What all others say."""
        if study not in self.studies:
            return self
        place = self.studies.index(study)
        kept = tuple(one for one in self.studies if one != study)
        rest, nobody = np.delete(self.lifts, place, axis=0), np.empty((0, len(self.lift)))
        return replace(self, lift=self.others[place], studies=kept, lifts=rest, others=nobody)


class Beliefs(Protocol):
    """A prior, as whoever measures its worth needs it."""

    @property
    def rows(self) -> tuple[Belief, ...]: ...
    @property
    def studies(self) -> tuple[str, ...]: ...
    @property
    def safety(self) -> float: ...
    @property
    def analyses(self) -> Mapping[str, Asks]: ...
    @property
    def how(self) -> Mapping[str, Any]: ...
    def without(self, study: str) -> Self: ...


def value_in(parameter: Domain, cell: int, place: float = 0.5) -> Label:
    """A value in a cell: the middle, or any other place from 0 to 1."""
    grid = grid_of(parameter)
    if grid.labels is not None or grid.edges is None:
        return grid.centres()[cell]
    low, high = np.clip(grid.edges[cell : cell + 2], parameter.low, parameter.high)  # type: ignore[union-attr]
    log = isinstance(parameter, Float | Int) and parameter.log
    value = float(low * (high / low) ** place if log else low + (high - low) * place)
    if not isinstance(parameter, Int):
        return value
    steps = round((value - parameter.low) / parameter.step)
    return int(min(max(parameter.low + steps * parameter.step, parameter.low), parameter.high))


def span_in_words(parameter: Domain, first: int, last: int) -> str:
    """Neighbouring cells as values."""
    if isinstance(parameter, Categorical | Ordinal):
        labels = [short(label) for label in grid_of(parameter).centres()[first:last]]
        return labels[0] if len(labels) == 1 else f"{labels[0]} … {labels[-1]}"
    low, high = value_in(parameter, first, 0.0), value_in(parameter, last - 1, 1.0)
    return short(low) if low == high else f"{short(low)} … {short(high)}"
