"""Where good values lie over many studies: a density for every parameter, from which to draw the next search.

Each study contributes a lift: the frequency of a value in the target divided by its frequency in all rows. The lift
depends neither on the sampler of the study nor on the scale of its domain. docs/studies.md has measurements.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note, in_order
from pedanova.base.table import Cell, NamedTable, Printed
from pedanova.errors import Arg, PedanovaError, QueryError
from pedanova.measures.bins import bins_of
from pedanova.measures.densities import Densities, lattice_parts
from pedanova.measures.question import Question, as_whole
from pedanova.measures.questions.ask import densities_of_all
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.comparison import domains_of, union_space
from pedanova.space.grid import Reals, grid_of
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, Parameter, Space, parents_first
from pedanova.space.values import Label, is_one_of

SAFETY = 0.3  # the part of all draws that is uniform over the whole space
STRENGTH = 0.7
MASS = 0.8  # the part of the density in its most likely cells
GAP = 0.05  # part of the cells: ranges with a smaller gap between them are merged
PSEUDO_ROWS = 1.0  # rows added evenly to target and region, so that a value that was never tried has a lift of 1


@dataclass(frozen=True, slots=True, eq=False)
class ParameterPrior:
    """The probability density of good values of one parameter."""

    name: str
    parameter: Domain
    lift: Reals  # (cells,) the probability of a value relative to a uniform draw
    studies: tuple[str, ...]  # the studies that have the parameter
    lifts: Reals  # (studies, cells)

    @property
    def uniform(self) -> Reals:
        """(cells,) Probabilities of a uniform draw."""
        return grid_of(self.parameter).prior

    @property
    def density(self) -> Reals:
        """(cells,) The probability of each cell; the sum is 1."""
        return self.uniform * self.lift

    def mixed(self, safety: float) -> Reals:
        """(cells,) Probabilities of a draw that is uniform with probability `safety`, else from `density`."""
        return (1.0 - safety) * self.density + safety * self.uniform

    @property
    def mode(self) -> Label:
        """The most likely value."""
        return value_in(self.parameter, int(np.argmax(np.where(self.uniform > 0, self.lift, 0.0))))

    def bulk(self) -> list[tuple[int, int]]:
        """The most likely cells, as ranges (first, last + 1); their total probability is `MASS`."""
        order = np.argsort(-self.lift, kind="stable")
        reached = np.cumsum(self.density[order])
        cells = np.sort(order[: int(np.searchsorted(reached, MASS - 1e-12)) + 1])
        if isinstance(self.parameter, Categorical):
            return [(int(cell), int(cell) + 1) for cell in cells]
        breaks = np.flatnonzero(np.diff(cells) > 1 + GAP * len(order)) + 1
        return [(int(run[0]), int(run[-1]) + 1) for run in np.split(cells, breaks)]

    def in_words(self) -> str:
        """The values of the most likely cells (`bulk`), in words."""
        return ", ".join(range_in_words(self.parameter, *run) for run in self.bulk()[:4])

    @property
    def size(self) -> float:
        """The fraction of the domain that the most likely cells (`bulk`) cover."""
        return float(sum(self.uniform[first:last].sum() for first, last in self.bulk()))


@dataclass(frozen=True, slots=True, repr=False)
class SearchPrior(NamedTable[ParameterPrior]):
    """Where to search first: a density of good values for every parameter, the narrowest first.

    A draw is uniform over the whole space with probability `safety`; otherwise every parameter is drawn from its own
    density. So no value is excluded, and a search needs at most 1 / `safety` times as many trials as a uniform search.

    Attributes
    ----------
    rows
        One row per parameter: ``prior["lr"].mode`` is the most likely value, ``.in_words()`` says where most of the
        density lies.
    space
        The joint space of all studies.
    studies
        The names of the studies that were used.
    target
        The target, in words.
    safety
        The fraction of the draws that are uniform over the space.
    notes
        Studies that were left out, and domains that differ.

    Examples
    --------
    >>> import pedanova as pa
    >>> prior = pa.across(pa.demo_trials(), "error", group="solver", estimator="counts").prior()
    >>> list(prior)[:2], 0.01 < prior["learning_rate"].mode < 0.1
    (['learning_rate', 'units'], True)
    >>> [one["units"] for one in prior.sample(2)]
    [77, 4]
    """

    rows: tuple[ParameterPrior, ...]
    space: Space
    studies: tuple[str, ...]
    target: str
    safety: float
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, list[Cell]]:
        return {
            "parameter": [row.name for row in self.rows],
            "best": [row.mode for row in self.rows],
            "bulk": [row.in_words() for row in self.rows],
            "size": [row.size for row in self.rows],
            "studies": [len(row.studies) for row in self.rows],
        }

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.column("best", lambda row: short(row.mode)),
            self.column(f"most likely values ({percent(MASS)})", lambda row: row.in_words()),
            self.percents("size", "of the domain"),
        ]

    def heading(self) -> str:
        many = "study" if len(self.studies) == 1 else "studies"
        words = f"Prior for a search, from {len(self.studies)} {many}; it prefers the values of trials in {self.target}"
        return f"{words}; {percent(self.safety)} of all draws are uniform"

    def sample(self, count: int = 10, *, seed: int = 0) -> list[dict[str, Label]]:
        """Draw configurations; in Optuna: ``for one in prior.sample(20): study.enqueue_trial(one)``.

        Parameters
        ----------
        count
            The number of configurations.
        seed
            The same seed gives the same draws.

        Returns
        -------
        list of dict
            Values by parameter, ``[{"lr": 0.0021, "optimizer": "adam"}, …]``, without inactive parameters.

        Raises
        ------
        QueryError
            `count` is not a whole number above 0.
        """
        count = as_whole(count, "count", 1)
        rng = np.random.default_rng(seed)
        uniform = rng.random(count) < self.safety
        configurations: list[dict[str, Label]] = [{} for _ in range(count)]
        for name in parents_first(self.space):
            row = self[name]
            cells = drawn_cells(row, rng.random(count), uniform)
            for one, cell, place in zip(configurations, cells.tolist(), rng.random(count).tolist(), strict=True):
                if all(is_one_of(one.get(parent), values) for parent, values in row.parameter.when):
                    one[name] = value_in(row.parameter, cell, place)
        return configurations

    def to_json(self) -> str:
        """The prior as JSON: the space, and the probability of every value, or of every cell between two edges."""
        plain: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            grid = grid_of(row.parameter)
            ranged = isinstance(row.parameter, Float | Int) and grid.edges is not None
            places = {"edges": grid.edges.tolist()} if ranged else {"values": list(grid.centres())}  # type: ignore[union-attr]
            plain[row.name] = places | {"probabilities": row.mixed(self.safety).tolist()}
        return json.dumps({"safety": self.safety, "space": self.space.to_dict(), "prior": plain}, indent=1)


def prior_of(
    studies: Mapping[str, TrialData], question: Question, *, safety: float = SAFETY, strength: float = STRENGTH
) -> SearchPrior:
    """The density of good values over studies with equal weights; see `Across.prior`."""
    if not studies:
        raise QueryError("a prior needs studies: give a dict from study names to analyses")
    options: dict[str, object] = {"safety": safety, "strength": strength}
    for option, value in options.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise QueryError(Arg(option, value), " must be a number from 0 to 1")
    densities: dict[str, dict[str, Densities]] = {}
    errors: dict[str, PedanovaError] = {}  # of studies without an answer
    for study in studies:
        try:
            densities[study] = densities_of_all(studies[study], question)
        except PedanovaError as error:
            errors[study] = error
    if not densities:
        raise next(iter(errors.values()))
    notes = [Note("doubt", f"left out of the prior: {error}", subject=name) for name, error in errors.items()]
    space, owners, differing = union_space({name: studies[name].space for name in densities})
    rows = []
    for name, parameter in domains_of(space).items():
        own = [densities[study][name] for study in owners[name]]
        lifts = np.stack([mapped_lift(lift_of(one), one.parameter, parameter) for one in own])
        lift = pooled_lift(lifts, grid_of(parameter).prior, strength)
        rows.append(ParameterPrior(name, parameter, lift, owners[name], lifts))
    rows.sort(key=lambda row: row.size)
    words = next(iter(next(iter(densities.values())).values())).words[0]
    return SearchPrior(tuple(rows), space, tuple(densities), words, safety, in_order([*notes, *differing]))


def lift_of(density: Densities) -> Reals:
    """(cells,) The lift of each cell in one study.

    If the parameter has only a few distinct values, each cell gets the lift of the nearest value.
    """
    rows = max(1.0, density.basis.rows[0])
    bins = bins_of(density.parameter, density.basis.region)
    if bins.apart:
        target, region = lattice_parts(density.basis, bins, density.target, density.region)
        return _ratio(target, region, np.full(len(bins), 1.0 / len(bins)), rows)[bins.groups]
    return _ratio(density.target, density.region, density.uniform, rows)


def _ratio(target: Reals, region: Reals, uniform: Reals, rows: float) -> Reals:
    pseudo = PSEUDO_ROWS * uniform
    above, below = rows * target + pseudo, rows * region + pseudo
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)


def mapped_lift(lift: Reals, own: Parameter, common: Domain) -> Reals:
    """(cells,) The lift of a study in the cells of the common grid: 1 outside its domain, and 1 on average inside."""
    grid, own_grid = grid_of(common), grid_of(own)
    if isinstance(own, Float | Int):  # the cell that contains the middle of each common cell
        edges = own_grid.edges if own_grid.edges is not None else np.empty(0)
        values = np.array(grid.centres(), dtype=np.float64)
        cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, own_grid.cells - 1)
        inside = (values >= edges[0]) & (values <= edges[-1])
    else:
        cells = own_grid.match(tuple(grid.centres())).astype(np.int64)
        inside = cells < own_grid.cells
    mapped = np.where(inside, lift[np.where(inside, cells, 0)], 1.0)
    mass = float(grid.prior[inside] @ mapped[inside])
    if mass > 0:
        mapped[inside] *= float(grid.prior[inside].sum()) / mass
    return mapped


def pooled_lift(lifts: Reals, uniform: Reals, strength: float) -> Reals:
    """(cells,) The geometric mean of the lifts to the power `strength`, scaled to a mean of 1."""
    lift = np.exp(np.log(lifts).mean(axis=0)) ** strength
    scaled: Reals = lift / (lift @ uniform)
    return scaled


def drawn_cells(row: ParameterPrior, heights: Reals, uniform: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(draws,) Turn random numbers (0 to 1) into cells: uniformly where `uniform` is True, else by the density."""
    cells = np.empty(len(heights), dtype=np.int64)
    for density, mask in ((row.density, ~uniform), (row.uniform, uniform)):
        below = np.cumsum(density)
        cells[mask] = np.searchsorted(below, heights[mask] * below[-1], side="right")
    return cells


def value_in(parameter: Domain, cell: int, place: float = 0.5) -> Label:
    """The value at the relative position `place` (0 to 1) in a cell; by default its middle."""
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


def range_in_words(parameter: Domain, first: int, last: int) -> str:
    if isinstance(parameter, Categorical | Ordinal):
        labels = [short(label) for label in grid_of(parameter).centres()[first:last]]
        return labels[0] if len(labels) == 1 else f"{labels[0]} … {labels[-1]}"
    low, high = value_in(parameter, first, 0.0), value_in(parameter, last - 1, 1.0)
    return short(low) if low == high else f"{short(low)} … {short(high)}"
