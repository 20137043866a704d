"""The model of a small table, its p-values and its dependent parameters, each computed once and cached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.threads import RESULTS, one_thread
from pedanova.counting.few_rows import FewRows, coincidence, pairs_of
from pedanova.data.column import Mask
from pedanova.measures.chance.permutations import PermutationTest
from pedanova.measures.chance.ranked_rows import (
    Arrangement,
    Dependence,
    RankedRows,
    dependence_of,
    ranked_rows,
    varying_names,
)
from pedanova.measures.surrogate.fit import FittedModel, fit, is_complete
from pedanova.measures.surrogate.posterior import ObjectiveRanks, PosteriorSamples, RankRange, StackedGrids
from pedanova.measures.surrogate.sampler import configurations_of, has_excess_repeats, is_excess, sampler_of
from pedanova.measures.surrogate.summaries import (
    EstimatedShares,
    LeaveOneOut,
    SampledShares,
    cell_sums,
    curve_of,
    with_residuals,
)
from pedanova.space.grid import Cells, Grid, grid_of
from pedanova.space.parameters import Space, children_of

if TYPE_CHECKING:  # modules that few questions need are imported inside the functions
    from pedanova.measures.surrogate.objective_model import KnownObjective, ObjectiveModel

PValues: TypeAlias = Mapping[str, float]
# Each row predicted from the others, its cells of all parameters, and the place of every cell in a fixed order
PredictedCells: TypeAlias = tuple[LeaveOneOut, NDArray[np.int64], NDArray[np.int64]]
FEWEST_ROWS = 40  # the fewest rows that a model is fitted to
MODEL_BYTES = 1 << 21  # roughly what a fitted model takes
LEAST_BOX = 200  # the fewest points of a box for answers about it
NO_BOX = "the selected rows do not form a box, or the box is too small for a model"
NO_PART = "an adaptive sampler chose the trials, so a selection of rows does not represent the space"


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A limit of another objective."""

    objective: KnownObjective
    worst: float  # lower is better

    def met(self, samples: PosteriorSamples) -> Mask:
        """(points,) Which points probably meet the limit."""
        cells = np.stack([samples.cells(name) for name in samples.space], axis=1).astype(np.int32)
        return np.asarray(self.objective.middle(cells) <= self.worst)


@dataclass(eq=False)
class RowModel:
    """The model of a set of rows, and permutation tests on these rows; results are cached."""

    space: Space
    few: FewRows
    around: RowModel | None = None  # the model of more rows, if these are a selection
    sampled_from: int | None = None  # the number of rows of a long table that these are a sample of
    level: Level | None = None  # the level of another objective that selects the rows
    _fitted: dict[int, FittedModel] = field(default_factory=dict)  # by seed

    @property
    def nbytes(self) -> int:
        """Roughly the bytes of the rows, and of the model if it is fitted."""
        return MODEL_BYTES + 16 * len(self.few) * len(self.space)

    @cached_property
    def rows(self) -> RankedRows:
        """The rows from best to worst."""
        return ranked_rows(self.space, self.few)

    @cached_property
    def ranks(self) -> ObjectiveRanks:
        return ObjectiveRanks.of(self.few.signed, counts=self.few.counts)

    @cached_property
    def dependence(self) -> Dependence:
        return dependence_of(self.rows)

    @cached_property
    def permutation_test(self) -> PermutationTest:
        return PermutationTest(self.rows, self.dependence, self.clustered)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """(rows,) The index of each row's configuration, in the order of `rows`."""
        return self.rows.distinct[1]

    @cached_property
    def clustered(self) -> bool:
        """Whether configurations are repeated more often than in independent draws."""
        few, inside = self.few, int(self.few.weights.sum())
        if few.draws is None:
            return len(self.rows.distinct[0]) < inside and has_excess_repeats(configurations_of(self.rows))
        pairs, every = pairs_of(few.draws, few.weights) - inside, self.sampled_from or inside
        # From each configuration, all rows are in the sample.
        return pairs > 0 and is_excess(pairs, coincidence(few, every) * inside * every)

    def repeat_notes(self) -> list[Note]:
        """Notes on repeated configurations, and on exact duplicates of rows."""
        if not self.clustered:
            return []
        rows, few, count, same = self.rows, self.few, len(self.rows.distinct[0]), 0
        if count < len(rows):
            same = len(rows) - len(np.unique(np.stack([self.owner.astype(np.float64), rows.signed]), axis=1).T)
        if few.counts is not None:
            same += int((few.counts - 1)[few.signed == few.worst].sum())
        inside, about = int(few.weights.sum()), "" if self.sampled_from is None else "about "
        every = self.sampled_from or inside
        many, same = (round(one * every / inside) for one in (count, same))
        words = "rows of one configuration are not independent, so they are treated as one row"
        notes = [Note("answer", f"{every:,} rows have {about}{many:,} configurations: {words}")]
        copies = f"{about}{same:,} of {every:,} rows are exact copies of another row"
        return [*notes, Note("doubt", copies)] if same else notes

    def design_effect(self, target: Mask, region: Mask) -> float:
        """The design effect of repeated configurations: how many rows have as much information as one independent row.

        `target` and `region` are masks over `rows`.
        """
        if not self.clustered:
            return 1.0
        inside, weights = target[region].astype(np.float64), self.rows.weights[region]
        many = float(inside @ weights)
        part = many / max(int(weights.sum()), 1)
        sums = np.bincount(self.owner[region], weights=(inside - part) * weights)
        return max(1.0, float(sums @ sums) / max(many * (1.0 - part), 1e-9))

    # --- the model ---------------------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        return bool(self._fitted)

    def fitted(self, seed: int) -> FittedModel:
        """The model fitted to the rows; for a selection of rows, the model of all rows restricted to a box."""
        if seed not in self._fitted:
            if self.around is None:
                self._fitted[seed] = fit(self.rows, self.dependence, seed=seed)
            else:
                self._fitted[seed] = self._narrowed(self.around, seed)
        return self._fitted[seed]

    def process(self, seed: int) -> ObjectiveModel | None:
        """The Gaussian process of the objective, even if it is not reliable; None if no parameter varies."""
        from pedanova.measures.surrogate.objective_model import process_of

        fitted = self.fitted(seed) if len(self.rows) >= FEWEST_ROWS else None
        process = partial(process_of, self.rows, fitted, self.dependence.copies)
        return RESULTS.get(self, ("process", seed), process, lambda _: MODEL_BYTES)

    def objective(self, seed: int) -> KnownObjective | None:
        """A predictor of the objective: a complete table, or a model; None if the model is not reliable."""
        from pedanova.measures.surrogate.objective_model import table_of

        whole = configurations_of(self.rows)
        if is_complete(whole):
            return table_of(whole, self.rows.arrangement.space)
        return None if self.fitted(seed).objection else self.process(seed)

    def with_dependence_of(self, every: RowModel) -> RowModel:
        """Copy the dependence between parameters from the model of all rows, if the same parameters vary in both."""
        own, whole = self.rows.arrangement, every.rows.arrangement
        if own.names[: own.varying] == whole.names[: whole.varying]:
            self.dependence = every.dependence
        return self

    def _narrowed(self, around: RowModel, seed: int) -> FittedModel:
        """The fitted model of all rows, restricted to the box around the selected rows."""
        fitted = around.fitted(seed)
        if fitted.samples is None:
            return fitted
        if fitted.samples.adaptive:
            return replace(fitted, samples=None, objection=NO_PART)
        fine = fitted.samples.fine
        box = self._points_inside(around, fine) if self.level is None else self.level.met(fine)
        if box is None or box.sum() < LEAST_BOX:
            return replace(fitted, samples=None, objection=NO_BOX)
        varying = varying_names(self.space, self.few.cells)
        return replace(fitted, samples=replace(fine.narrowed(box, self.ranks), varying=varying))

    def _points_inside(self, around: RowModel, samples: PosteriorSamples) -> Mask | None:
        kept = bounding_box(around.few, np.isin(around.few.rows, self.few.rows), self.space)
        return None if kept is None else samples.box(kept)

    def ranges_of(self, target: Mask, region: Mask) -> tuple[RankRange, RankRange] | None:
        """Target and region (masks over the table) as ranges of ranks; None if one of them is not a single range."""
        first, second = (self._span(mask[self.rows.rows]) for mask in (target, region))
        return None if first is None or second is None else (first, second)

    def _span(self, mask: Mask) -> RankRange | None:
        places = np.flatnonzero(mask)
        if not len(places) or places[-1] - places[0] + 1 != len(places):
            return None
        ends = np.r_[0, self.ranks.rows]
        first, last = np.searchsorted(ends, (places[0], places[-1] + 1))
        return (int(first), int(last)) if ends[first] == places[0] and ends[last] == places[-1] + 1 else None

    def with_residuals(
        self, target: RankRange, region: RankRange, shares: SampledShares, *, seed: int
    ) -> EstimatedShares | None:
        """The shares by the model, corrected by the residuals of the rows; None if the sampler was adaptive."""
        whole, predictions = self.fitted(seed).samples, self.fitted(seed).predictions
        if not predictions or whole is None:
            return None
        samples = whole.focused(region)
        inside, layer = self.between(region), whole.layer_of(region)
        if not np.isin(self.rows.rows[inside], predictions[layer].rows).all():
            layer = 1.0

        def make() -> EstimatedShares:
            known = np.isin(self.rows.rows, predictions[layer].rows)
            cells = partial(self._predicted_cells, samples, predictions[layer], known)
            predicted, flat, numbers = RESULTS.get(self, ("cells", seed, samples.counted and region), cells)
            sums = cell_sums(predicted, flat, self.between(target)[known], inside[known], len(numbers))
            curve = curve_of(samples, target, region, numbers)
            return with_residuals(samples, curve, shares, sums, children_of(self.space))

        return RESULTS.get(self, ("corrected", target, region, seed), make)

    def _predicted_cells(self, samples: PosteriorSamples, predictions: LeaveOneOut, known: Mask) -> PredictedCells:
        rows, grids = self.rows, samples.grids
        cells, numbers = rows.arrangement.cells(rows.places[known]), canonical_numbers(rows.arrangement, grids)
        each = zip(samples.space, grids.grids, grids.starts, strict=False)
        flat = np.stack([grid.table[cells[name]] + int(start) for name, grid, start in each], axis=1)
        predicted = predictions.take(rows.rows[known])
        if not self.clustered:
            predicted = replace(predicted, owner=np.arange(len(flat)))
        return predicted, numbers[flat], numbers

    # --- p-values ----------------------------------------------------------------------------------

    def p_values(self, target: RankRange, region: RankRange, *, seed: int) -> PValues:
        def make() -> PValues:
            masks = self.between(target), self.between(region)
            return self.tested(*masks, certain=False, blocks=self.blocks, seed=seed)

        return RESULTS.get(self, ("p-values", target, region, self.blocks, seed), make)

    @property
    def blocks(self) -> bool:
        """Whether tests permute the scores of neighbouring trials only, because the sampler was adaptive."""
        return self.adaptive and self.rows.trials is not None

    @cached_property
    def adaptive(self) -> bool:
        """Whether the sampler preferred good configurations."""
        if self.around is None and self._fitted:
            return next(iter(self._fitted.values())).sampler.adaptive
        if self.few.chance is not None:  # the values are not known
            return False
        return self.rows.designed or sampler_of(configurations_of(self.rows), self.dependence).adaptive

    def between(self, span: RankRange) -> Mask:
        """(rows,) Which rows lie in a range of ranks."""
        weights = self.rows.weights
        before = np.cumsum(weights) - weights
        return (before >= self.ranks.rows_of(span[0])) & (before < self.ranks.rows_of(span[1]))

    def tested(self, target: Mask, region: Mask, *, certain: bool, blocks: bool, seed: int) -> PValues:
        """p-values by permutation; a conditional parameter is tested among the rows where it has a value."""
        test = partial(self.permutation_test.p_values, certain=certain, blocks=blocks, seed=seed)
        names, children = self.dependence.names, children_of(self.space)
        own = [name for name in names if name not in children]
        with one_thread():
            p_values = test(target, region, only=own) if own else {}
            groups: dict[bytes, tuple[Mask, list[str]]] = {}
            for name in (name for name in names if name in children):
                j = self.rows.arrangement.names.index(name)
                active = self.rows.places[:, j] < self.rows.arrangement.grids[j].cells
                groups.setdefault(active.tobytes(), (active, []))[1].append(name)
            for active, some in groups.values():
                inside, base = target & active, region & active
                if 0 < inside.sum() < base.sum():
                    p_values |= test(inside, base, only=some)
                else:
                    p_values |= dict.fromkeys(some, 1.0)
        return p_values


def canonical_numbers(arrangement: Arrangement, grids: StackedGrids) -> NDArray[np.int64]:
    """(cells,) The position of every cell in the canonical order, which does not depend on names of categories."""
    numbers = np.arange(grids.cells)
    for name, coarse, start in zip(arrangement.space, grids.grids, grids.starts, strict=False):
        j = arrangement.names.index(name)
        for block, merged in zip(arrangement.grids[j].blocks, coarse.blocks, strict=False):
            if not block.ordered:
                places = arrangement.orders[j][block.cells].astype(np.int64) - block.start
                first = int(start) + merged.start
                numbers[first : first + len(places)] = first + places
    return numbers


# --- the box around some rows --------------------------------------------------------------------------


def bounding_box(rows: FewRows, some: Mask, space: Space) -> dict[str, Mask] | None:
    """For each parameter, a mask of its cells in the box around some rows; None if other rows lie in this box.

    Other rows are allowed in the first or last cell of a range, because the bound of the box may divide such a cell.
    """
    inside, beside = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    kept = {}
    for name, parameter in space.items():
        grid, cells = grid_of(parameter), rows.cells[name]
        kept[name] = _hull(grid, cells[some])
        inside &= kept[name][cells]
        if grid.labels is None:  # cells are ranges, not single values
            places = np.flatnonzero(kept[name][: grid.cells])
            beside |= np.isin(cells, [*places[:1], *places[-1:]])
    return kept if np.array_equal(inside & (some | ~beside), some) else None


def hull_of(rows: FewRows, some: Mask, space: Space) -> dict[str, Mask]:
    """For each parameter, a mask of the cells from the lowest to the highest value in some rows."""
    return {name: _hull(grid_of(parameter), rows.cells[name][some]) for name, parameter in space.items()}


def _hull(grid: Grid, cells: Cells) -> Mask:
    """(width,) A mask of the cells from lowest to highest in every ordered domain, and of the categories that occur."""
    kept = np.zeros(grid.width, dtype=bool)
    kept[cells] = True
    for block in grid.blocks:
        places = np.flatnonzero(kept[block.cells])
        if block.ordered and len(places):
            kept[block.start + places[0] : block.start + places[-1] + 1] = True
    return kept
