"""What a small table tells beyond its counts: related parameters, p-values and a model, each computed once.

`RowModel` has the rows. `SavedModel` was read from a file, and has the model and the p-values of usual questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.base.notes import Note
from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import FewRows
from pedanova.data.column import Mask
from pedanova.data.regions import Direction, Region
from pedanova.errors import FormatError
from pedanova.measures.chance.dependence import Dependence, Gate, Twins, dependence_of
from pedanova.measures.chance.permutation_test import PermutationTest
from pedanova.measures.chance.ranked_rows import Arrangement, RankedRows, ranked_rows, varying_names
from pedanova.measures.distributions import LEAST_TARGET
from pedanova.measures.surrogate.fit import FittedModel, Skill, fit
from pedanova.measures.surrogate.posterior import (
    SAVED_CELLS,
    ObjectiveRanks,
    PosteriorSamples,
    RankRange,
    StackedGrids,
    coarse_grid,
)
from pedanova.measures.surrogate.residuals import cell_sums, corrected, curve_of
from pedanova.measures.surrogate.sampler import SamplerEvidence, configurations_of, has_excess_repeats, sampler_of
from pedanova.measures.surrogate.summaries import EstimatedShares, SampledShares, can_tell, sampled_shares
from pedanova.space.grid import Cells, Grid, grid_of
from pedanova.space.parameters import Space, children_of

Record = TypeVar("Record")
PValues: TypeAlias = Mapping[str, float]
TestKey: TypeAlias = tuple[RankRange, RankRange, bool, int]  # target, region, blocks, seed
CorrectionKey: TypeAlias = tuple[RankRange, RankRange, int]  # target, region, seed
FEWEST_ROWS = 40  # that a model is fitted to
LEAST_BOX = 200  # points of a box that suffice for answers about it
NO_BOX = "these rows are no box of the space that a model could be asked about"
NO_PART = "after an adaptive sampler the rows of a part stand for no space"


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often configurations come again."""

    rows: int
    configurations: int
    exact: int  # rows that repeat another one with its objective
    clustered: bool  # more often than independent draws of the parameters would: configurations were run again
    estimated: bool = False  # from a sample of the rows

    def notes(self) -> list[Note]:
        """What a reader should know of it; nothing where rows were drawn one by one."""
        notes = []
        if self.clustered:
            words = "rows of one configuration are no independent evidence, and count together"
            many = f"{'about ' if self.estimated else ''}{self.configurations:,} configurations"
            notes.append(Note("answer", f"{self.rows:,} rows have {many}: {words}"))
        if self.clustered and self.exact:
            many = f"{'about ' if self.estimated else ''}{self.exact:,} of {self.rows:,} rows"
            notes.append(Note("doubt", f"{many} repeat another row exactly"))
        return notes


@dataclass(eq=False)
class RowModel:
    """The model and the tests of the rows at hand."""

    space: Space
    few: FewRows
    around: RowModel | None = None  # of more rows, of which these are some
    near: FittedModel | None = None  # of more rows, which had the same sampler
    sampled_from: int | None = None  # rows of a table too long for a model, of which these are a sample
    p_values_by_question: dict[TestKey, PValues] = field(default_factory=dict)
    corrected_by_question: dict[CorrectionKey, EstimatedShares] = field(default_factory=dict)
    _fitted: dict[int, FittedModel] = field(default_factory=dict)

    @cached_property
    def rows(self) -> RankedRows:
        """The rows from best to worst."""
        return ranked_rows(self.space, self.few)

    @cached_property
    def ranks(self) -> ObjectiveRanks:
        return ObjectiveRanks.of(self.few.signed)

    @cached_property
    def dependence(self) -> Dependence:
        """Which parameters predict each other."""
        return dependence_of(self.rows)

    @cached_property
    def permutation_test(self) -> PermutationTest:
        return PermutationTest(self.rows, self.dependence, self.repeats.clustered)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """(rows,) The configuration of each of `rows`."""
        return np.unique(self.rows.keys, return_inverse=True)[1]

    @cached_property
    def repeats(self) -> Repeats:
        rows = self.rows
        exact = len(np.unique(np.stack([self.owner.astype(np.float64), rows.signed]), axis=1).T)
        count = int(self.owner.max(initial=-1)) + 1
        again = count < len(rows) and has_excess_repeats(configurations_of(rows))
        every = self.sampled_from or len(rows)
        many, same = (round(one * every / len(rows)) for one in (count, len(rows) - exact))
        return Repeats(every, many, same, again, self.sampled_from is not None)

    def design_effect(self, target: Mask, region: Mask) -> float:
        """How many rows are worth one that is independent, for masks over `rows`; 1 if no configuration came again."""
        if not self.repeats.clustered:
            return 1.0
        inside = target[region].astype(np.float64)
        sums = np.bincount(self.owner[region], weights=inside - inside.mean())
        return max(1.0, float(sums @ sums) / max(float(inside.sum() * (1.0 - inside.mean())), 1e-9))

    # --- the model ---------------------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        return bool(self._fitted)

    def fitted(self, seed: int) -> FittedModel:
        """The model of the rows; of a part of the rows, that of all rows inside the box that these fill."""
        if seed not in self._fitted:
            if self.around is None:
                self._fitted[seed] = fit(self.rows, self.dependence, seed=seed, near=self.near)
            else:
                self._fitted[seed] = self._narrowed(self.around, seed)
        return self._fitted[seed]

    def part(self, some: Mask, *, seed: int) -> RowModel:
        """The same of some of the rows alone: a quicker model, its settings near those of all rows."""
        fitted = self.fitted(seed)
        part = RowModel(self.space, self.few.take(some), near=None if fitted.samples is None else fitted)
        return part.with_dependence_of(self)

    def with_dependence_of(self, every: RowModel) -> RowModel:
        """This model of some rows, with the dependence that all rows show, where the same parameters vary."""
        own, whole = self.rows.arrangement, every.rows.arrangement
        if own.names[: own.varying] == whole.names[: whole.varying]:
            self.dependence = every.dependence
        return self

    def _narrowed(self, around: RowModel, seed: int) -> FittedModel:
        """The model of all rows inside the box that these rows fill."""
        fitted = around.fitted(seed)
        if fitted.samples is None:
            return fitted
        if fitted.samples.adaptive:
            return replace(fitted, samples=None, objection=NO_PART)
        kept = bounding_box(around.few, np.isin(around.few.rows, self.few.rows), self.space)
        box = None if kept is None else fitted.samples.box(kept)
        if box is None or box.sum() < LEAST_BOX:
            return replace(fitted, samples=None, objection=NO_BOX)
        varying = varying_names(self.space, self.few.cells)
        return replace(fitted, samples=replace(fitted.samples.narrowed(box, self.ranks), varying=varying))

    def ranges_of(self, target: Mask, region: Mask) -> tuple[RankRange, RankRange] | None:
        """Rows of the table as ranges of ranks; None where other rows lie between them."""
        first, second = (self._span(mask[self.rows.rows]) for mask in (target, region))
        return None if first is None or second is None else (first, second)

    def _span(self, mask: Mask) -> RankRange | None:
        places = np.flatnonzero(mask)
        if not len(places) or places[-1] - places[0] + 1 != len(places):
            return None
        ends = np.r_[0, self.ranks.rows]
        first, last = np.searchsorted(ends, (places[0], places[-1] + 1))
        return (int(first), int(last)) if ends[first] == places[0] and ends[last] == places[-1] + 1 else None

    def corrected(
        self, target: RankRange, region: RankRange, shares: SampledShares, *, seed: int
    ) -> EstimatedShares | None:
        """The model's shares corrected by the residuals of the rows; None after an adaptive sampler."""
        key = target, region, seed
        fitted = self.fitted(seed)
        if fitted.predictions is None or fitted.samples is None:
            return None
        if key not in self.corrected_by_question:
            samples, rows = fitted.samples, self.rows
            grids, cells = samples.grids(), rows.arrangement.cells(rows.places)
            each = zip(samples.space, grids.grids, grids.starts, strict=False)
            flat = np.stack([grid.table[cells[name]] + int(start) for name, grid, start in each], axis=1)
            numbers = canonical_numbers(rows.arrangement, grids)
            masks = self.between(target), self.between(region)
            predicted = fitted.predictions.take(rows.rows)
            if not self.repeats.clustered:
                predicted = replace(predicted, owner=np.arange(len(rows)))
            sums = cell_sums(predicted, numbers[flat], *masks, grids.cells)
            curve = curve_of(samples, target, region, numbers)
            children = children_of(self.space)
            self.corrected_by_question[key] = corrected(samples, curve, shares, sums, children)
        return self.corrected_by_question[key]

    # --- p-values ----------------------------------------------------------------------------------

    def p_values(self, target: RankRange, region: RankRange, *, seed: int) -> PValues:
        key = target, region, self.blocks, seed
        if key not in self.p_values_by_question:
            masks = (self.between(target), self.between(region))
            self.p_values_by_question[key] = self._tested(*masks, certain=False, blocks=self.blocks, seed=seed)
        return self.p_values_by_question[key]

    def p_values_of(self, target: Mask, region: Mask, *, seed: int) -> PValues:
        masks = target[self.rows.rows], region[self.rows.rows]
        return self._tested(*masks, certain=True, blocks=False, seed=seed)

    @property
    def blocks(self) -> bool:
        """Whether scores are permuted among neighbouring trials alone."""
        return self.adaptive and self.rows.trials is not None

    @cached_property
    def adaptive(self) -> bool:
        """Whether the sampler preferred good configurations."""
        if self.around is None and self._fitted:
            return next(iter(self._fitted.values())).sampler.adaptive
        return sampler_of(configurations_of(self.rows), self.dependence).adaptive

    def between(self, span: RankRange) -> Mask:
        """(rows,) Which of `rows` lie in a range of ranks."""
        places = np.arange(len(self.rows))
        return (places >= self.ranks.rows_of(span[0])) & (places < self.ranks.rows_of(span[1]))

    def _tested(self, target: Mask, region: Mask, *, certain: bool, blocks: bool, seed: int) -> PValues:
        """p-values by permutation; children are tested where they have a value."""
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
    """(cells,) The place of every stacked cell in an order that no name changes: categories by how good they are."""
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
    """For each parameter, the cells of its grid in the box around some rows; None where other rows lie in it too.

    A bound may run through a cell of a range: other rows of such a cell are not counted as inside.
    """
    inside, beside = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    kept = {}
    for name, parameter in space.items():
        grid, cells = grid_of(parameter), rows.cells[name]
        kept[name] = _hull(grid, cells[some])
        inside &= kept[name][cells]
        if grid.labels is None:  # cells are ranges and not single values
            places = np.flatnonzero(kept[name][: grid.cells])
            beside |= np.isin(cells, [*places[:1], *places[-1:]])
    return kept if np.array_equal(inside & (some | ~beside), some) else None


def hull_of(rows: FewRows, some: Mask, space: Space) -> dict[str, Mask]:
    """For each parameter, the cells between those that some rows have."""
    return {name: _hull(grid_of(parameter), rows.cells[name][some]) for name, parameter in space.items()}


def _hull(grid: Grid, cells: Cells) -> Mask:
    """(width,) From the least to the largest cell of every ordered regime; of categories, those that occur."""
    kept = np.zeros(grid.width, dtype=bool)
    kept[cells] = True
    for block in grid.blocks:
        places = np.flatnonzero(kept[block.cells])
        if block.ordered and len(places):
            kept[block.start + places[0] : block.start + places[-1] + 1] = True
    return kept


# --- files ---------------------------------------------------------------------------------------------

USUAL_PARTS = tuple(Fraction(percents, 100) for percents in (1, 2, 5, 10, 20, 50, 100))  # that pages and people ask for
MOST_POINTS = 1 << 16
MOST_DRAWS = 1 << 10


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model read from a file, with p-values of the questions that were asked or are usual."""

    ranks: ObjectiveRanks
    dependence: Dependence
    saved: FittedModel | None
    adaptive: bool
    blocks: bool
    repeats: Repeats
    p_values_by_question: Mapping[TestKey, PValues]
    corrected_by_question: Mapping[CorrectionKey, EstimatedShares]

    def fitted(self, seed: int) -> FittedModel | None:
        """The model; None for another seed, whose model is not in the file."""
        return self.saved if seed == 0 else None

    def corrected(
        self,
        target: RankRange,
        region: RankRange,
        shares: SampledShares,  # noqa: ARG002
        *,
        seed: int,
    ) -> EstimatedShares | None:
        """The model's shares corrected by the residuals of the rows; None where the file has none."""
        return self.corrected_by_question.get((target, region, seed))

    def p_values(self, target: RankRange, region: RankRange, *, seed: int) -> PValues | None:
        """p-values of every parameter for ranges of ranks; None where the file has none."""
        return self.p_values_by_question.get((target, region, self.blocks, seed))

    def p_values_of(self, target: Mask, region: Mask, *, seed: int) -> PValues | None:  # noqa: ARG002
        """None: a file has no rows."""
        return None


AnyModel: TypeAlias = RowModel | SavedModel


def to_attachment(
    model: RowModel, direction: Direction, ladder: Iterable[Fraction], *, objection: str = ""
) -> Attachment:
    """What a file keeps of a model; usual questions are tested now. No samples, where there is an objection to them.

    Targets of the `ladder` inside all rows are answered as well, as profiles ask for them.
    """
    fitted = model.fitted(0) if len(model.rows) >= FEWEST_ROWS else None
    if objection and fitted is not None:
        fitted = replace(fitted, samples=None, objection=objection)
    questions = [*usual_questions(model, None if fitted is None else fitted.samples, direction)]
    for target, region in questions:
        model.p_values(target, region, seed=0)
    every = (0, len(model.ranks))
    questions += [((0, model.ranks.up_to_part(part)), every) for part in ladder]
    samples = None if fitted is None or fitted.predictions is None else fitted.samples
    for target, region in dict.fromkeys(questions):
        if samples is not None and can_tell(samples, target, region):
            shares = sampled_shares(samples, target, region, children=children_of(model.space))
            model.corrected(target, region, shares, seed=0)
    dependence, tested = model.dependence, model.p_values_by_question
    names = dependence.names
    header: dict[str, Any] = {
        "adaptive": bool(model.adaptive),
        "blocks": model.blocks,
        "repeats": [*astuple(model.repeats)],
        "gates": [[*astuple(gate)] for gate in dependence.gates],
        "twins": [[*astuple(pair)] for pair in dependence.twins],
        "copies": [[*pair] for pair in dependence.copies.items()],
        "lesson": None if fitted is None else header_of(fitted),
        "names": list(names),
        "asked": [[*target, *region, int(blocks), seed] for target, region, blocks, seed in tested],
        "corrected": [[*target, *region, seed] for target, region, seed in model.corrected_by_question],
    }
    table = [[p_values.get(name, 1.0) for name in names] for p_values in tested.values()]
    p_table = np.array(table, dtype=np.float64).reshape(len(table), len(names))  # (questions, parameters)
    corrections = [np.stack(one) for one in model.corrected_by_question.values()]
    arrays = {"values": model.ranks.values, "rows": model.ranks.rows, "p": p_table}
    arrays |= {"corrections": np.stack(corrections)} if corrections else {}
    if fitted is not None and fitted.samples is not None:
        arrays |= fitted.samples.to_arrays()
    return Attachment(header, arrays)


def usual_questions(
    model: RowModel, samples: PosteriorSamples | None, direction: Direction
) -> Iterator[tuple[RankRange, RankRange]]:
    """Targets and regions that are usual parts of the rows; and after an adaptive sampler of the space as well."""
    more = [(samples.ranks, True)] if samples is not None and samples.adaptive else []
    for ranks, of_space in [(model.ranks, False), *more]:
        regions = [Region("quantile", Fraction(0), part) for part in USUAL_PARTS]
        spans = [ranks.range_of(region, direction, of_space=of_space) for region in regions]
        for target, region in combinations(dict.fromkeys(spans), 2):
            if LEAST_TARGET <= ranks.size(target) < ranks.size(region):
                yield target, region


def header_of(fitted: FittedModel) -> dict[str, Any]:
    """The numbers of a fit for a file, without its samples."""
    return {
        "skill": [*astuple(fitted.skill)],
        "sampler": [*astuple(fitted.sampler)],
        "configurations": fitted.configurations,
        "objection": fitted.objection,
        "drawn": fitted.samples is not None,
    }


def from_attachment(attachment: Attachment, space: Space, rows: int) -> SavedModel:
    """The inverse of `to_attachment`; raises FormatError where the file is damaged."""
    header, arrays = attachment.header, attachment.arrays
    ranks = ranks_from(arrays, rows)
    names = tuple(map(text_from, header["names"]))
    copies = {text_from(copy): text_from(original) for copy, original in header["copies"]}
    if any(name not in space for name in (*names, *copies, *copies.values())):
        raise FormatError("tests parameters that it does not have")
    return SavedModel(
        ranks=ranks,
        dependence=Dependence(
            names,
            tuple(record_from(Gate, one) for one in header["gates"]),
            tuple(record_from(Twins, one) for one in header["twins"]),
            copies,
        ),
        saved=None if header["lesson"] is None else fitted_from(header["lesson"], space, ranks, arrays, copies),
        adaptive=bool(header["adaptive"]),
        blocks=bool(header["blocks"]),
        repeats=record_from(Repeats, header["repeats"]),
        p_values_by_question=p_values_from(header["asked"], names, arrays["p"]),
        corrected_by_question=corrections_from(header["corrected"], arrays, len(space)),
    )


def record_from(kind: type[Record], values: Sequence[object]) -> Record:
    """The inverse of `astuple` for plain fields: every value as the type that its field declares."""
    declared = [str(one.type) for one in fields(kind)]  # type: ignore[arg-type]
    return kind(*(FROM_FILE[name](value) for name, value in zip(declared, values, strict=True)))


def ranks_from(arrays: Mapping[str, NDArray[Any]], rows: int) -> ObjectiveRanks:
    values, counts = arrays["values"], arrays["rows"]
    rising = len(values) and len(values) == len(counts) and bool(np.all(np.diff(values) > 0))
    if not rising or not np.all(np.diff(counts, prepend=0) > 0) or int(counts[-1]) != rows:
        raise FormatError("has objectives that are not in order")
    return ObjectiveRanks(values.astype(np.float64), counts.astype(np.int64), counts / counts[-1])


def p_values_from(keys: list[list[int]], names: tuple[str, ...], table: NDArray[Any]) -> dict[TestKey, PValues]:
    if table.shape != (len(keys), len(names)) or not np.all((table >= 0) & (table <= 1)):
        raise FormatError("has p-values that cannot be")
    each = (dict(zip(names, line, strict=True)) for line in table.tolist())
    return dict(zip(map(key_from, keys), each, strict=True))


def corrections_from(
    keys: list[list[int]], arrays: Mapping[str, NDArray[Any]], parameters: int
) -> dict[CorrectionKey, EstimatedShares]:
    table = arrays["corrections"] if keys else np.empty((0, 4, parameters))
    if table.shape != (len(keys), 4, parameters) or not np.isfinite(table).all():
        raise FormatError("has shares of a shape that cannot be")
    return {key_from(key): EstimatedShares(*columns) for key, columns in zip(keys, table, strict=True)}


def key_from(numbers: list[int]) -> Any:
    first, last, begin, end, *others = map(int, numbers)
    return ((first, last), (begin, end), *others)


def fitted_from(
    header: Mapping[str, Any],
    space: Space,
    ranks: ObjectiveRanks,
    arrays: Mapping[str, NDArray[Any]],
    copies: Mapping[str, str],
) -> FittedModel:
    return FittedModel(
        skill=record_from(Skill, header["skill"]),
        sampler=record_from(SamplerEvidence, header["sampler"]),
        configurations=int(header["configurations"]),
        samples=samples_from(space, ranks, arrays, copies) if header["drawn"] else None,
        objection=text_from(header["objection"]),
    )


def samples_from(
    space: Space, ranks: ObjectiveRanks, arrays: Mapping[str, NDArray[Any]], copies: Mapping[str, str]
) -> PosteriorSamples:
    order, parts = arrays["order"], arrays["parts"]
    if order.ndim != 2 or not 0 < order.shape[0] <= MOST_DRAWS or not 0 < order.shape[1] <= MOST_POINTS:
        raise FormatError("has a model's table of a shape that cannot be")
    every = np.arange(order.shape[1])
    if order.dtype != np.uint16 or any(not np.array_equal(np.sort(line), every) for line in order):
        raise FormatError("has points of a model that are not in an order")
    if parts.shape != ranks.values.shape or not np.all(np.diff(parts, prepend=0.0) >= 0) or abs(parts[-1] - 1) > 1e-9:
        raise FormatError("has parts of the space that are not in order")
    if len(arrays["wide"]) != len(space) or len(arrays["varies"]) != len(space):
        raise FormatError("has a model of other parameters")
    samples = PosteriorSamples.from_arrays(space, ranks, arrays, copies)
    for column, parameter in zip(samples.points, space.values(), strict=True):
        cells = coarse_grid(grid_of(parameter), SAVED_CELLS).cells
        if column.shape != every.shape or int(column.max(initial=0)) >= cells:
            raise FormatError("has points of a model outside the space")
    return samples


def text_from(value: object) -> str:
    if not isinstance(value, str):
        raise FormatError(f"has {value!r} where text belongs")
    return value


FROM_FILE: Mapping[str, Callable[[Any], object]] = {
    "str": text_from,
    "int": int,
    "bool": bool,
    "float": float,
    "float | None": lambda value: None if value is None else float(value),
}
