"""Configurations of the space that studies share, and what each study would say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.asks import Asks
from pedanova.measures.studies.belief import Belief, value_in
from pedanova.measures.studies.lifts import cells_at
from pedanova.measures.studies.prior import SearchPrior
from pedanova.measures.studies.response import Response
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Float, Int, Space, parents_first
from pedanova.space.values import Label

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
EVERYBODYS = -1
UNIFORM = 512  # configurations drawn evenly
OWN = 512  # drawn from the studies' own densities, all studies together
LEAST_OWN = 16
TRIED = 33  # values of a range


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Cells of the shared grids; every parameter has one, also where it does not exist."""

    space: Space
    cells: Mapping[str, Indices]  # (configurations,) each
    owners: Indices  # (configurations,) the study that each was drawn for; none of them counts when that is left out

    def __len__(self) -> int:
        return len(self.owners)

    def active(self) -> dict[str, NDArray[np.bool_]]:
        """(configurations,) Where each parameter exists."""
        found: dict[str, NDArray[np.bool_]] = {}
        for name in parents_first(self.space):
            there = np.ones(len(self), dtype=bool)
            for parent, values in self.space[name].when:
                if parent in self.space:
                    wanted = grid_of(self.space[parent]).match(tuple(values))
                    there &= found[parent] & np.isin(self.cells[parent], wanted)
            found[name] = there
        return found

    def only(self, place: int) -> Candidates:
        """One of them."""
        cells = {name: column[[place]] for name, column in self.cells.items()}
        return Candidates(self.space, cells, self.owners[[place]])

    def varied(self, name: str) -> Candidates:
        """The first one, with every value of a parameter that is worth trying."""
        grid = grid_of(self.space[name])
        usable = np.flatnonzero(grid.prior > 0)
        some = usable if len(usable) <= TRIED else usable[np.linspace(0, len(usable) - 1, TRIED).astype(np.int64)]
        values = np.unique(np.r_[some, self.cells[name][:1]])
        cells = {other: np.repeat(column[:1], len(values)) for other, column in self.cells.items()}
        return Candidates(self.space, cells | {name: values}, np.full(len(values), EVERYBODYS))

    def values(self, place: int = 0) -> dict[str, Label]:
        """One configuration, without what does not exist in it."""
        active = self.active()
        names = [name for name in self.space if active[name][place]]
        return {name: value_in(self.space[name], int(self.cells[name][place])) for name in names}  # type: ignore[arg-type]


def candidates_of(prior: SearchPrior, seed: int) -> Candidates:
    """Even draws, draws from the density of every single study, and the best values of each."""
    rng = np.random.default_rng([seed, 0xDEF])
    each = max(LEAST_OWN, OWN // len(prior.studies))
    owners = np.r_[np.full(UNIFORM, EVERYBODYS), np.repeat(np.arange(len(prior.studies)), each)]
    cells = {row.name: _drawn(row, prior.studies, each, rng) for row in prior.rows}
    return Candidates(prior.space, {name: cells[name] for name in prior.space}, owners)


def _drawn(row: Belief, studies: tuple[str, ...], each: int, rng: np.random.Generator) -> Indices:
    parts = [rng.choice(len(row.uniform), UNIFORM, p=row.uniform / row.uniform.sum())]
    for study in studies:
        own = row.uniform * row.lifts[row.studies.index(study)] if study in row.studies else row.uniform
        drawn = rng.choice(len(own), each, p=own / own.sum())
        drawn[0] = int(np.argmax(own / np.maximum(row.uniform, 1e-300)))
        parts.append(drawn)
    return np.concatenate(parts)


def usual_cells(analysis: Asks) -> dict[str, int]:
    """The cell of each parameter that most rows lie in, for parameters that have no prior."""
    return {name: int(np.argmax(tally.counts.sum(axis=0))) for name, tally in analysis.tallies.items()}


def told(response: Response, space: Space, usual: Mapping[str, int], candidates: Candidates) -> Reals:
    """(configurations,) The objective of each in a study, less being better; NaN where the study has no such value."""
    active = candidates.active()
    cells, unknown = {}, np.zeros(len(candidates), dtype=bool)
    for name, parameter in space.items():
        own = grid_of(parameter)
        places = _own_cells(own, candidates, name)
        if places is None:
            cells[name] = np.full(len(candidates), usual[name])
            continue
        unknown |= active[name] & (places < 0)
        cells[name] = np.where(active[name] & (places >= 0), places, own.missing)
    return np.where(unknown, np.nan, response.at(cells))


def _own_cells(own: Grid, candidates: Candidates, name: str) -> Indices | None:
    """In a study's own grid; beyond its bounds the nearest cell. None where the domains are of another kind."""
    if name not in candidates.space:
        return None
    common = candidates.space[name]
    if isinstance(common, Float | Int) != isinstance(own.parameter, Float | Int) or len(own.blocks) > 1:
        return None
    at = cells_at(own, grid_of(common))
    if isinstance(common, Float | Int) and own.edges is not None:
        middle = float(own.edges[0] + own.edges[-1]) / 2
        values = np.array(grid_of(common).centres(), dtype=np.float64)
        at = np.where(at >= 0, at, np.where(values > middle, own.cells - 1, 0))
    found: Indices = at[candidates.cells[name]]
    return found
