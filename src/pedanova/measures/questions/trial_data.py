"""The data of an analysis: counts (tallies) and rows. Rows are counted again if a question needs other thresholds."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note, added, in_order
from pedanova.base.threads import RESULTS, digest_of
from pedanova.counting.arrays import kept_codes, sum_moments
from pedanova.counting.contrasts import (
    Codes,
    Contrast,
    Range,
    Slice,
    check_nested,
    check_one_value,
    codes_of_levels,
    codes_of_rows,
    from_codes,
    from_tallies,
    rows_in,
    slices_of,
)
from pedanova.counting.countable import Countable, Counted, InMemory, assembled, levels_for
from pedanova.counting.few_rows import (
    MOST_COMPARED,
    FewRows,
    configuration_sample,
    counted_rows,
    few_rows,
    most_rows,
    strung_rows,
)
from pedanova.counting.goal_plane import GoalPlane, goal_plane
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Moments, Tallies, Tally, check_alike
from pedanova.data.column import Column, Mask
from pedanova.data.history import ROW, with_row_numbers
from pedanova.data.objectives import Goal
from pedanova.data.observations import Observations
from pedanova.data.prepare import prepare, reordered, with_goal
from pedanova.data.regions import LEAST_TARGET, Quantile, Region, RowSet, Threshold, as_rows, needs_rows, rank_of
from pedanova.data.row_status import LEFT_OUT
from pedanova.data.trials import sampled, taken
from pedanova.errors import Arg, LevelsError, QueryError
from pedanova.measures.question import DEFAULT, Question
from pedanova.measures.surrogate.estimate import ALONE, ResolvedQuestion
from pedanova.measures.surrogate.row_model import FEWEST_ROWS, Level, RowModel
from pedanova.space.parameters import Space
from pedanova.space.values import shown

FAILED = "failed"  # the target that contains the failed trials
FEWEST_FAILED = 3  # failed trials, and others, from which the chance of success is estimated
LARGE = 2_000_000  # rows above which a first answer comes from a sample
SAMPLE = 200_000
MODELLED_ROWS = 2000  # rows of a long table that a model for advice is fitted to
WIDER = tuple(Fraction(tenths, 10) for tenths in (2, 3, 5))  # targets to try if one has too few rows
SURELY = 4  # times the fewest rows; such a target is not too small either as a quantile of the space


@dataclass(frozen=True, eq=False, repr=False)
class TrialData:
    """The counts of rows by cell and level (range of the objective) for every parameter, and the rows if available."""

    objective: str
    levels: Levels
    tallies: Tallies = field(repr=False)
    notes: tuple[Note, ...] = field(default=(), repr=False)
    dropped: int = 0
    observations: Observations | None = field(default=None, repr=False)  # None after loading or adding
    threads: int = field(default=1, repr=False)
    _model: RowModel | None = field(default=None, repr=False)  # the model of all rows, if these rows are a selection
    _sample: RowModel | None = field(default=None, repr=False)  # a sample of whole configurations of the table
    _moments: Moments | None = field(default=None, repr=False)  # given if the rows are no longer available
    _source: Countable | None = field(default=None, repr=False)  # counts the rows again

    @classmethod
    def of(cls, counted: Counted, threads: int) -> Self:
        """Make the data from the result of counting the rows of a source."""
        source = counted.source
        return cls(
            objective=source.objective,
            levels=counted.levels,
            tallies=counted.tallies,
            notes=counted.notes,
            dropped=counted.dropped,
            observations=source.observed if isinstance(source, InMemory) else None,
            threads=threads,
            _sample=None if counted.sample is None else sample_model(counted.tallies, counted.sample),
            _moments=counted.moments,
            _source=source,
        )

    @cached_property
    def space(self) -> Space:
        """The search space of the counted rows."""
        return Space({name: tally.parameter for name, tally in self.tallies.items()})

    @property
    def direction(self) -> str:
        """Whether the objective is minimised or maximised."""
        return self.levels.direction

    @property
    def rows(self) -> int:
        """The number of rows that were counted, without dropped rows."""
        return next(iter(self.tallies.values())).rows

    @property
    def nbytes(self) -> int:
        """Roughly the bytes of the counts, and of a mask of the rows."""
        rows = 0 if self.observations is None else len(self.observations)
        return rows + sum(16 * tally.size for tally in self.tallies.values())

    @cached_property
    def moments(self) -> Moments:
        """The mean and spread of the objective by level, computed when first needed."""
        return self._moments or self.sum_moments_by(self.levels)

    def sum_moments_by(self, levels: Levels) -> Moments:
        if (of_source := getattr(self._source, "sum_moments", None)) is not None:
            moments: Moments = of_source(levels)
            return moments
        if self.observations is None:
            raise LevelsError("the spread of the objective was not saved; analyze the data again")
        return sum_moments(self.observations, levels, threads=self.threads)

    def moments_to_keep(self) -> Moments | None:
        """The moments to save with the counts, or to merge with those of other data; None for several objectives."""
        at_hand = self._moments is not None or self.observations is not None
        return self.moments if at_hand and not self.levels.several else None

    @cached_property
    def row_model(self) -> RowModel | None:
        """The model of the rows; None if there are too many rows, or rows are not available."""
        if self._model is not None or self.rows > most_rows(self.space):
            return self._model
        few = self.configurations
        whole = few is not None and few.is_whole and len(few) == self.rows
        return RowModel(self.space, replace(few, draws=None)) if few is not None and whole else None

    @cached_property
    def row_sample(self) -> RowModel | None:
        """A sample of the rows, used to detect copies, repeats and adaptive samplers if a full model is too slow."""
        if self._sample is not None:
            return self._sample if len(self._sample.few) >= FEWEST_ROWS else None
        few = None if self.row_model is not None else self.configurations
        return None if few is None or len(few) < FEWEST_ROWS else sample_model(self.tallies, few)

    @property
    def configurations(self) -> FewRows | None:
        """All rows that count, if a model may be fitted to them, or a sample of whole configurations; None without."""
        if self._sample is not None:
            return self._sample.few
        known = self.rows <= most_rows(self.space) or len(self.tallies) <= MOST_COMPARED
        return self._source.sample(self.levels) if known and self._source is not None else None

    @cached_property
    def row_draw(self) -> RowModel:
        """A model of a random sample of the rows, used to give advice if there are too many rows for a full model."""
        observed = self.observed()
        counted = np.flatnonzero(counted_rows(observed, self.levels.nan))
        return RowModel(self.space, few_rows(observed, sampled(counted, MODELLED_ROWS, 0)))

    def lost_repeats(self, why: str) -> list[Note]:
        """A warning for operations that discard the rows, if several rows have the same configuration."""
        model = self.row_model or self.row_sample
        if model is None or not model.clustered:
            return []
        words = f"{why}: rows of the same configuration are treated as independent, so intervals are too narrow"
        return [Note("doubt", f"{words}; analyze all rows in one table, or save them with save(path)")]

    def within(self, *rows: object, at: Sequence[object] = ()) -> Self:
        """The data restricted to the rows that lie in every given region, with new levels.

        `at` is a list of targets or regions of later questions, which are counted in the same pass.
        """
        if not rows:
            return self
        mask, counted = self.mask_of(rows)
        many = int(np.count_nonzero(mask))
        if many == np.count_nonzero(counted) and self.levels.own:  # the mask contains all rows that count
            return self
        if many < 2:
            words = " and ".join(str(self.resolve(one, "within")) for one in rows)
            raise QueryError(f"region ({words}) has {many} rows, but at least two are needed; choose a wider region")
        bands = [band for one in at if isinstance(band := self.resolve(one, "at"), Region)]
        ends = [end for band in bands for end in band.cuts(self.levels.direction)]
        cuts = frozenset(end for end in ends if isinstance(end, Threshold))
        ended = self.ended_within(rows)
        key = "within", digest_of(mask), None if ended is None else digest_of(ended), cuts

        def restricted() -> Any:
            observed = reordered(replace(self.observed(), keep=mask, ended=ended, restricted=True, origin=None))
            return replace(self.like(observed, cuts), _model=self.model_of(mask), _sample=self.sample_of(mask))

        inner: Self = RESULTS.get(self, key, restricted)
        return inner

    def at_level(self, rows: Mask, level: Level | None) -> Self:
        """The data restricted to rows that meet a level of another objective; its model says which points meet it."""
        inner = self.within(rows)
        model = inner.row_model
        if model is None or model.around is None or level is None:
            return inner
        return replace(inner, _model=replace(model, level=level, _fitted={}))

    def mask_of(self, rows: Iterable[object]) -> tuple[Mask, Mask]:
        """Two masks (rows,): the rows that lie in every given region, and all rows that are not dropped."""

        def make() -> tuple[Mask, Mask]:
            bases = [self.resolve(one, "within") for one in rows]
            observed = self.observed()
            counted = counted_rows(observed, self.levels.nan)
            return reduce(np.logical_and, [rows_in(base, observed, counted) for base in bases]), counted

        key = as_key(tuple(rows))
        return make() if key is None else RESULTS.get(self, ("mask", key), make)

    def ended_within(self, rows: Iterable[object]) -> NDArray[np.uint8] | None:
        """How the trials in every given set of rows ended; all others are left out, also those without an objective."""
        ended = self.observed().ended
        if ended is not None:
            for base in (self.resolve(one, "within") for one in rows):
                chosen = base.mask if isinstance(base, RowSet) else self.mask_of([base])[0]
                ended = np.where(chosen, ended, np.uint8(LEFT_OUT))
        return ended

    def model_of(self, mask: Mask) -> RowModel | None:
        """The model of all rows, restricted to the rows in `mask`; None if there are too many rows."""
        model = self.row_model
        if model is None:
            return None
        part = partial(RowModel, self.space, model.few.take(mask[model.few.rows]), around=model)
        return RESULTS.get(self, ("model", digest_of(mask)), part)  # used by several steps

    def sample_of(self, mask: Mask) -> RowModel | None:
        """The rows of `row_sample` that are in `mask`; None without a sample, or if there are too few such rows."""
        sample, many = self.row_sample, int(np.count_nonzero(mask))
        if sample is None or many <= most_rows(self.space):
            return None
        few = sample.few.take(mask[sample.few.rows])
        if np.any(few.weights > 1) and not mask.all():  # not all of these rows need be in the mask
            observed = replace(self.observed(), keep=mask)
            codes = kept_codes(observed, self.levels, threads=self.threads)
            few = configuration_sample(observed, codes, self.levels.count, threads=self.threads)
        if len(few) < FEWEST_ROWS:
            return None
        return RowModel(self.space, few, sampled_from=many).with_dependence_of(sample)

    def goal_plane(
        self, target: object = DEFAULT.target, region: object = DEFAULT.region, axes: tuple[int, int] = (0, 1)
    ) -> GoalPlane:
        """Count target and region rows in a grid of two objectives, and find the Pareto front of all rows."""
        codes = self.codes(self.resolve(target, "target"), self.resolve(region, "region"))
        return goal_plane(self.observed(), codes, axes=axes)

    def first(self, rows: int) -> Self:
        """The same analysis of only the first `rows` rows, as if the study had ended after them."""
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 2 <= rows <= self.rows:
            raise QueryError(Arg("rows", rows), f" must be a whole number from 2 to {self.rows:,}")
        observed = self.observed()
        counted = counted_rows(observed, self.levels.nan)
        early = np.cumsum(counted) <= rows
        mask, ended = counted & early, observed.ended
        ended = None if ended is None else np.where(early, ended, np.uint8(LEFT_OUT))
        return self.like(reordered(replace(observed, keep=mask, ended=ended, origin=None)))

    def like(self, observed: Observations, cuts: Iterable[Threshold] = ()) -> Self:
        """Other observations analysed in the same way: with the same quantiles, policy and threads."""
        source = InMemory(observed, self.levels.nan, self.threads)
        levels = levels_for(source, self.levels.quantiles).with_values(cut.signed for cut in cuts)
        counted = assembled(source, levels, source.count(levels), notes=(), inside=False, part=True)
        return self.of(counted, self.threads)

    def failing(self, *, same_space: bool = False) -> TrialData | None:
        """The trials with the objective "failed" (1 or 0); None if no trial failed, or the failed rows are not known.

        A trial failed if its state says so, if it lacks an objective, or if an objective is infinite (the worst value).
        """
        observed = self.observations
        if observed is None or observed.origin is None or observed.restricted:
            return None
        complete = not self.dropped and len(observed) == observed.origin.records.rows
        if complete and all(np.isfinite(goal.values.astype(np.float64)).all() for goal in observed.goals):
            return None
        return RESULTS.get(self, ("failing", same_space), partial(self._failing, observed, same_space=same_space))

    def _failing(self, observed: Observations, *, same_space: bool) -> TrialData | None:
        request, records = observed.origin.request, observed.origin.records  # type: ignore[union-attr]
        request = replace(request, reading=replace(request.reading, failed="worst", nan="worst", infeasible="drop"))
        if same_space:
            request = replace(request, space=self.space, params=None)
        every = prepare(records, request)[0]
        worst = [goal.sign * goal.values.astype(np.float64) == np.inf for goal in every.goals]
        failed = np.logical_or.reduce([np.isnan(every.ranked), *worst])
        kept = np.ones(len(failed), dtype=bool) if every.keep is None else every.keep
        if min(np.sum(failed & kept), np.sum(kept & ~failed)) < FEWEST_FAILED:
            return None
        goal = Goal(FAILED, failed.astype(np.float64), "maximize", None)
        return self.like(replace(every, goals=(goal,), order=None, origin=None))

    def observed(self) -> Observations:
        """The rows; raises an error if they are not in memory."""
        if self.observations is None and self._source is not None:
            words = "the table was read in parts, but this call needs all rows in memory; analyze the table with "
            raise LevelsError(words, Arg("stream", False, of="Scan"))
        if self.observations is None:
            words = "the rows are no longer available (loaded without rows, or merged); analyze the data again"
            raise LevelsError(words)
        return self.observations

    def resolve(self, value: object, name: str) -> Region | RowSet:
        """Turn a target or region into a range of the objective or a set of rows."""
        if not needs_rows(value):
            region = Region.parse(value, name)
            check_one_value(region, name, self.objective, several=self.levels.several)
            single = self._source is not None and self._source.single
            return region.as_float32() if single else region
        observed = self.observed()
        return as_rows(value, name, with_row_numbers(observed, value), len(observed))

    def contrasts(self, target: object, region: object) -> list[Contrast]:
        """The counts of target and region rows in the cells of every parameter."""
        wanted, base = self.resolve(target, "target"), self.resolve(region, "region")
        if isinstance(wanted, RowSet):
            return from_codes(self.observed(), self.codes(wanted, base), threads=self.threads)
        if isinstance(base, RowSet):
            return self.within(base).contrasts(wanted, 1.0)
        return from_tallies(*self.find(wanted, base))

    def by_limits(self, question: Question, sample: Self | None = None) -> Question:
        """The question with limits of the objective in place of quantiles of all rows, if it selects rows.

        A `sample` of the rows finds limits that would need another pass over all rows.
        """
        if not question.within or question.parts != "all" or self.levels.several:
            return question
        of = "rows" if question.by_rows else question.of
        limits = []
        for one in (self.widened(replace(question, within=())).target, question.region):
            if not needs_rows(one):
                band = Region.parse(one, "target")
                one = (self if sample is None or self.has_counts_for(band) else sample).by_value(band, of)
            limits.append(one)
        return replace(question, target=limits[0], region=limits[1], parts="selected")

    def selected(self, question: Question) -> tuple[Self, Question]:
        """The rows that a question selects, and the question about them."""
        asking = self.by_limits(question)
        return self.within(*asking.within, at=(asking.target, asking.region)), replace(asking, within=())

    def widened(self, question: Question) -> Question:
        """The question, with the strictest target that has enough rows if its target is a quantile with too few rows.

        Only a quantile of all rows, or of all selected rows, is changed. If no target has enough rows, nothing changes.
        """
        part = self.quantile_of(question)
        if part is not None and question.within:
            inner, asking = self.selected(question)
            return replace(question, target=inner.widened(asking).target)
        if part is None or rank_of(part, self.rows) >= SURELY * LEAST_TARGET:
            return question
        if self.resolved(question).inside < LEAST_TARGET:
            for wider in sorted(one for one in {least_part(self.rows), *WIDER} if one > part):
                wide = replace(question, target=Region("quantile", None, wider))
                with suppress(QueryError):  # because of ties, it may contain all rows
                    if self.resolved(wide).inside >= LEAST_TARGET:
                        return wide
        return question

    def quantile_of(self, question: Question) -> Fraction | None:
        """The target as a quantile of all rows, or of all selected rows; None if it is something else."""
        if question.force or (question.within and question.parts == "all") or self.rows <= LEAST_TARGET:
            return None
        if needs_rows(question.target) or needs_rows(question.region):
            return None
        target = Region.parse(question.target, "target")
        usable = target.kind == "quantile" and not target.low and Region.parse(question.region, "region").is_all
        return Fraction(1 if target.high is None else target.high) if usable else None

    def resolved(self, question: Question, given: Sequence[Contrast] | None = None) -> ResolvedQuestion:
        """The question about these rows; `given` are its counts, if they are known already."""
        if question.within:
            data, asking = self.selected(question)
            return data.resolved(asking, given)
        wanted, base = self.resolve(question.target, "target"), self.resolve(question.region, "region")
        words = str(wanted), str(base)
        if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
            inner = self.within(base).resolved(replace(question, target=wanted, region=1.0), given)
            return replace(inner, words=words, whole=False)
        model, observed = self.row_model, self.observations
        selected = observed is not None and observed.restricted and (model is None or model.around is None)
        query = ResolvedQuestion(
            question=question,
            data=self,
            target=wanted,
            region=base,
            words=words,
            count=self.rows,
            model=model,
            sample=self.row_sample,
            objection=ALONE if selected else "",
            whole=isinstance(base, Region) and base.is_all,
            given=given,
        )
        if query.bands:
            return query
        rows = self.observed()
        counted = counted_rows(rows, self.levels.nan)
        masks = rows_in(wanted, rows, counted), rows_in(base, rows, counted)
        fixed = None if model is None else model.ranges_of(*masks)
        return replace(query, fixed=fixed) if fixed is not None else replace(query, masks=masks)

    def slices(self, base: Region, parts: Iterable[Fraction] | None = None) -> tuple[list[Slice], list[Fraction]]:
        """One target inside `base` for each quantile in `parts`, or for each counted quantile; see `slices_of`."""
        wanted = self.levels.quantiles if parts is None else tuple(sorted(set(parts)))
        _, tallies = self.cut_at(base, *(Region.parse(part, "target") for part in wanted))
        return slices_of(tallies, base, wanted)

    def reach(self, part: object, *, of: str = "rows", seed: int = 0) -> tuple[float, int]:
        """The worst objective in the best fraction `part` of the rows, and how many rows are at least as good.

        With ``of="space"``, `part` is a fraction of the search space, as in `importance`.
        """
        best = Region.parse(part, "part")
        query = self.resolved(Question(seed=seed)) if of == "space" else None
        if query is not None and query.samples is not None and query.of_space:
            ranks = query.samples.ranks
            end = ranks.range_of(best, self.levels.direction, of_space=True)[1]
            return self.levels.sign * ranks.value_of(end), ranks.rows_of(end)
        levels, tallies = self.cut_at(best)
        by_level = first(tallies).by_level
        _, last = levels.find(best, by_level)
        return float(levels.thresholds[last - 1]), int(by_level[:last].sum())

    def codes(self, wanted: Region | RowSet, base: Region | RowSet, rows: NDArray[np.int64] | None = None) -> Codes:
        """(rows,) A code for each row, or for each in `rows`: 0 in the target, 1 elsewhere in the region, 2 outside."""
        observed = self.observed()
        if isinstance(wanted, RowSet) or isinstance(base, RowSet):
            codes = codes_of_rows(observed, wanted, base, self.levels.nan)
            return codes if rows is None else codes[rows]
        tallies, inner, outer = self.find(wanted, base)
        return codes_of_levels(observed, first(tallies).levels, inner, outer, threads=self.threads, rows=rows)

    def find(self, wanted: Region, base: Region) -> tuple[Tallies, Range, Range]:
        """Tallies with thresholds at the ends of target and region; then the levels of the target and of the region."""
        levels, tallies = self.cut_at(wanted, base)
        by_level = first(tallies).by_level
        inner, outer = levels.find(wanted, by_level), levels.find(base, by_level)
        check_nested(wanted, base, inner, outer, by_level)
        return tallies, inner, outer

    def cut_at(self, *regions: Region) -> tuple[Levels, Tallies]:
        """Levels and tallies with thresholds at the ends of the regions; rows are counted again if needed."""
        source = self._source
        if source is None or self.has_counts_for(*regions):  # without a source, `find` raises an error
            return self.levels, self.tallies
        cuts = frozenset(cut for region in regions for cut in region.cuts(self.levels.direction) if cut)
        size = sum(16 * tally.size for tally in self.tallies.values())
        return RESULTS.get(self, ("recount", cuts), lambda: source.recut(self.levels, cuts), lambda _: size)

    def has_counts_for(self, *bands: Region) -> bool:
        """Whether all given regions end at thresholds that were counted."""
        by_level = first(self.tallies).by_level
        try:
            for band in bands:
                self.levels.find(band, by_level)
        except LevelsError:
            return False
        return True

    def by_value(self, rows: Region, of: str) -> Region:
        """The same region with its quantiles replaced by values of the objective."""
        if rows.kind == "value" or rows.is_all:
            return rows
        begin, end = ((None if part in (None, 0, 1) else self.reach(part, of=of)[0]) for part in (rows.low, rows.high))
        low, high = (begin, end) if self.direction == "minimize" else (end, begin)
        if begin is not None:  # the band begins after the best part, whose last value is not included
            inner = math.nextafter(begin, math.inf if low == begin else -math.inf)
            low, high = (inner, end) if low == begin else (end, inner)
        return Region("value", low, high)

    @cached_property
    def excerpt(self) -> Self | None:
        """The data of a sample of the rows, if counting all of them takes long; None otherwise."""
        if self.observations is None or self.rows <= LARGE:
            return None
        rows = np.flatnonzero(counted_rows(self.observations, self.levels.nan))
        some = sampled(rows, SAMPLE, 0)
        observed = taken(self.observations, some)
        return self.like(reordered(replace(observed, table={ROW: Column(ROW, some)} | dict(observed.table))))

    def alone(self, objective: str) -> Self:
        """The same analysis for one of several objectives."""
        if not isinstance(objective, str):
            raise QueryError(f"objective={shown(objective)} must be the name of an objective")
        key = "alone", objective
        alone: Self = RESULTS.get(self, key, lambda: self.like(with_goal(self.observed(), objective, self.levels.nan)))
        return alone

    def __add__(self, other: Self) -> Self:
        check_alike(self, other)
        tallies = {name: tally + other.tallies[name] for name, tally in self.tallies.items()}
        samples = self.configurations, other.configurations
        both = strung_rows([few for few in samples if few is not None]) if None not in samples else None
        why = "rows were added from several tables"
        lost = [note for one in (self, other) for note in one.lost_repeats(why)] if both is None else []
        one, two = self.moments_to_keep(), other.moments_to_keep()
        return type(self)(
            objective=self.objective,
            levels=replace(self.levels, complete=self.levels.complete and other.levels.complete, own=False),
            tallies=tallies,
            notes=in_order(added([*self.notes, *other.notes, *lost[:1]])),
            dropped=self.dropped + other.dropped,
            threads=self.threads,
            _sample=None if both is None else sample_model(tallies, both),
            _moments=one + two if one is not None and two is not None else None,
        )

    def at_once(self, question: Question, names: Collection[str] | None = None) -> ResolvedQuestion:
        """The question, with its rows counted as fast as possible, for all parameters or some `names`."""
        question = replace(self.by_limits(question), draws=0)
        wanted, base = self.resolve(question.target, "target"), self.resolve(question.region, "region")
        if question.within and not self.levels.several and self._by_value(wanted, base):
            query = self._counted_alone(question, wanted, base, names)
            if query is not None:
                return query
        query = self.resolved(question)
        if names is None:
            return replace(query, brief=True)
        some = [one for one in query.contrasts if one.name in names]
        return replace(query, given=some, given_key=tuple(names), brief=True, narrowed=True)

    def _by_value(self, *bands: object) -> bool:
        """Whether all regions in `bands` are defined by values of the objective, not by quantiles of the rows."""
        direction = self.levels.direction
        return all(
            isinstance(band, Region) and not any(isinstance(cut, Quantile) for cut in band.cuts(direction))
            for band in bands
        )

    def _counted_alone(
        self, question: Question, target: Any, region: Any, names: Collection[str] | None
    ) -> ResolvedQuestion | None:
        """Count the selected rows only by target and region, which takes half the time of counting all levels.

        The result is None if this would save no time, or if `query` would raise an error.
        """
        mask, counted = self.mask_of(question.within)
        if np.count_nonzero(mask) == np.count_nonzero(counted):  # the mask contains all rows that count
            return None
        observed = self.observed()
        inside, outside = rows_in(target, observed, mask), mask if region.is_all else rows_in(region, observed, mask)
        if not inside.any() or np.array_equal(inside, outside) or (inside & ~outside).any():
            return None

        def count() -> list[Contrast]:
            codes = np.uint8(2) - outside.view(np.uint8) - inside.view(np.uint8)
            return from_codes(observed, codes, threads=self.threads, names=names)

        key = digest_of(mask), target, region, None if names is None else tuple(names)
        counts = RESULTS.get(self, ("counts", key), count, lambda some: sum(2 * one.target.nbytes for one in some))
        model = self.model_of(mask)
        return ResolvedQuestion(
            question=question,
            data=self,
            target=target,
            region=region,
            words=(str(target), str(region)),
            count=int(mask.sum()),
            model=model,
            sample=self.sample_of(mask),
            objection="" if model is not None else ALONE,
            whole=region.is_all,
            given=counts,
            given_key=key,
            brief=True,
            narrowed=names is not None,
        )

    def near_targets(self, target: Region, region: Region) -> list[tuple[float, list[Contrast]]] | None:
        """The next stricter and the next wider target that were counted; None if the target is not one quantile."""
        if target.kind != "quantile" or target.low or target.high is None:
            return None
        part, parts = Fraction(target.high), self.levels.quantiles
        whole = Fraction(region.high or 1) if region.kind == "quantile" and not region.low else Fraction(0)
        ends = [one for one in parts if one < part][-1:] + [one for one in parts if part < one < whole][:1]
        targets = [Region("quantile", Fraction(0), end) for end in ends]
        if len(ends) < 2 or not self.has_counts_for(*targets, region):
            return None
        try:
            return [(float(end), from_tallies(*self.find(one, region))) for end, one in zip(ends, targets, strict=True)]
        except QueryError:  # because of ties, the wider one contains all rows
            return None


def least_part(rows: int) -> Fraction:
    """The shortest decimal that is `LEAST_TARGET` rows of `rows`; parts of a row count as a row."""
    parts = (Fraction(LEAST_TARGET * 10**k // rows, 10**k) for k in range(1, 30))
    return next(part for part in parts if part * rows > LEAST_TARGET - 1)


def as_key(value: object) -> Hashable:
    """A cache key for rows that are given by a box, a condition or numbers; None for other values, such as masks."""
    if isinstance(value, Mapping | list | tuple):
        items = [*value.items()] if isinstance(value, Mapping) else value
        keys = [as_key(one) for one in items]
        return None if None in keys else (type(value).__name__, *keys)
    plain = value is None or isinstance(value, str | int | float | Region)
    return (type(value).__name__, value) if plain else None


def sample_model(tallies: Tallies, few: FewRows) -> RowModel:
    """The model of a sample of the rows that were counted."""
    space = Space({name: tally.parameter for name, tally in tallies.items()})
    return RowModel(space, few, sampled_from=first(tallies).rows)


def first(tallies: Tallies) -> Tally:
    return next(iter(tallies.values()))
