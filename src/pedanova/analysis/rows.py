"""Tallies with the rows behind them: which rows a question is about, counted anew where it must be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pedanova.base.files import Attachment
from pedanova.base.notes import Note
from pedanova.base.table import html_table
from pedanova.base.terminal import TableColumn, printable
from pedanova.base.threads import ResultCache
from pedanova.counting.arrays import sum_moments
from pedanova.counting.contrasts import (
    Codes,
    Contrast,
    Range,
    Slice,
    check_nested,
    check_one_value,
    check_order,
    codes_of_levels,
    codes_of_rows,
    from_codes,
    from_tallies,
    query_notes,
    rows_in,
    slices_of,
)
from pedanova.counting.countable import Countable, Counted, InMemory, Recount, assembled, levels_for
from pedanova.counting.few_rows import counted_rows
from pedanova.counting.goal_plane import GoalPlane, goal_plane
from pedanova.counting.levels import Levels
from pedanova.counting.moments import Moments
from pedanova.counting.tally import Tallies, Tally
from pedanova.data.column import Mask
from pedanova.data.observations import Observations
from pedanova.data.prepare import reordered
from pedanova.data.regions import Cut, Region, Threshold, as_region
from pedanova.data.row_selection import RowSet, as_rows, needs_rows
from pedanova.errors import Arg, LevelsError, QueryError
from pedanova.measures.question import Question
from pedanova.measures.surrogate.answer import ResolvedQuestion, resolve
from pedanova.measures.surrogate.estimate import ALONE, MOST_ROWS, Query, choose
from pedanova.measures.surrogate.posterior import PosteriorSamples
from pedanova.measures.surrogate.row_model import AnyModel, RowModel
from pedanova.report.sentences import aim_in_words
from pedanova.space.parameters import Space, in_words

KEPT = 6  # selections, and cuts of the objective, whose counts are kept


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisRows:
    """Tallies of every parameter, their levels, and the rows while they are at hand."""

    objective: str
    levels: Levels
    tallies: Tallies = field(repr=False)
    notes: tuple[Note, ...] = field(default=(), repr=False)
    dropped: int = 0
    observations: Observations | None = field(default=None, repr=False)  # None once loaded or added
    threads: int = field(default=1, repr=False)
    _recounts: ResultCache[Any] = field(default_factory=lambda: ResultCache(KEPT), repr=False)
    _model: AnyModel | None = field(default=None, repr=False)  # where it is not learned from the rows
    _attached: Attachment | None = field(default=None, repr=False)  # where that was read from
    _moments: Moments | None = field(default=None, repr=False)  # where the rows are no longer at hand
    _source: Countable | None = field(default=None, repr=False)  # the way back to the rows

    @classmethod
    def of(cls, counted: Counted, threads: int) -> Self:
        """From what was counted, in memory or in parts."""
        source = counted.source
        return cls(
            objective=source.objective,
            levels=counted.levels,
            tallies=counted.tallies,
            notes=counted.notes,
            dropped=counted.dropped,
            observations=source.observed if isinstance(source, InMemory) else None,
            threads=threads,
            _moments=counted.moments,
            _source=source,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_short()})"

    def in_short(self) -> str:
        """What was counted, in one line."""
        goals = self.observations.goals if self.observations is not None else ()
        pairs = [(str(goal.direction), goal.name) for goal in goals] or [(self.direction, self.objective)]
        many = "parameter" if len(self.tallies) == 1 else "parameters"
        aim = printable(aim_in_words(pairs, self.notes))
        return f"{self.rows:,} rows, {len(self.tallies)} {many}, {aim}"

    def _repr_html_(self) -> str:
        """The search space, what was assumed, and what can be asked."""
        domains = TableColumn("domain", [in_words(parameter) for parameter in self.space.values()], "words")
        title = f"{self.in_short()}. Ask .importance(), .profile(), .densities(name), .reduce(), .widget()"
        return html_table(title, [TableColumn("parameter", list(self.space)), domains], notes=self.notes)

    @property
    def space(self) -> Space:
        """The search space that rows were counted in."""
        return Space({name: tally.parameter for name, tally in self.tallies.items()})

    @property
    def direction(self) -> str:
        """Which way the objective is better."""
        return self.levels.direction

    @property
    def rows(self) -> int:
        """Rows counted; dropped ones are not among them."""
        return next(iter(self.tallies.values())).rows

    def __len__(self) -> int:
        return self.rows

    @cached_property
    def moments(self) -> Moments:
        """Mean and spread of the objective by level: one pass over it, the first time they are needed."""
        return self._moments or self._sum_moments(self.levels)

    def _sum_moments(self, levels: Levels) -> Moments:
        if (of_source := getattr(self._source, "sum_moments", None)) is not None:
            moments: Moments = of_source(levels)
            return moments
        if self.observations is None:
            raise LevelsError("the objective's spread was not kept; analyze the data again")
        return sum_moments(self.observations, levels, threads=self.threads)

    def _moments_to_keep(self) -> Moments | None:
        """What a file or a sum takes along; several objectives have no one mean."""
        at_hand = self._moments is not None or self.observations is not None
        return self.moments if at_hand and not self.levels.several else None

    @cached_property
    def row_model(self) -> AnyModel | None:
        """What few rows tell beyond their counts; None where there are many, or they are no longer at hand."""
        if self._model is not None or self._source is None or self.rows > MOST_ROWS:
            return self._model
        few = self._source.few()
        return None if few is None else RowModel(self.space, few)

    def within(self, *rows: object, at: Sequence[object] = ()) -> Self:
        """The same analysis of some of the rows only; levels are cut anew inside them.

        Parameters
        ----------
        rows
            Whatever `importance` takes as a region: a box, a condition, a mask, a part of the rows.
            Of several, each a choice among all rows, those that lie in every one.
        at
            Values of the objective, such as ``at_most(0.1)``, that will be asked for: what is known beforehand
            is counted at once. It changes no answer.
        """
        if not rows:
            return self
        mask, counted = self._mask_of(rows)
        many = int(np.count_nonzero(mask))
        if many == np.count_nonzero(counted) and self.levels.own:  # none of the others counts
            return self
        if many < 2:
            words = " and ".join(str(self._as_rows(one, "within")) for one in rows)
            raise QueryError(f"region ({words}) holds {many} rows; it needs at least two")
        cuts = frozenset(cut for one in at for cut in self._cuts_of(one) if isinstance(cut, Threshold))
        key = "within", hashlib.blake2b(np.packbits(mask).tobytes()).digest(), cuts
        found: Self = self._recounts.get(key, lambda: self._restricted_to(mask, cuts))
        return found

    def _mask_of(self, rows: Iterable[object]) -> tuple[Mask, Mask]:
        """(rows,) each: those that lie in every one of these choices, and all that count."""
        bases = [self._as_rows(one, "within") for one in rows]
        observed = self._observed()
        counted = counted_rows(observed, self.levels.nan)
        return reduce(np.logical_and, [rows_in(base, observed, counted) for base in bases]), counted

    def _cuts_of(self, rows: object) -> Iterable[Cut | None]:
        region = self._as_rows(rows, "at")
        return region.cuts(self.levels.direction) if isinstance(region, Region) else ()

    def _restricted_to(self, mask: Mask, cuts: Iterable[Threshold]) -> Self:
        observed = self._observed()
        inner = self._like(reordered(replace(observed, keep=mask, restricted=True, origin=None)), cuts)
        model = self._model_of(mask)
        return inner if model is None else replace(inner, _model=model)

    def _model_of(self, mask: Mask) -> RowModel | None:
        """What all rows tell about some of them; None where there are too many to ask each."""
        model = self.row_model
        if not isinstance(model, RowModel):
            return None
        return RowModel(self.space, model.few.take(mask[model.few.rows]), around=model)

    def goal_plane(self, target: object = 0.1, region: object = 1.0) -> GoalPlane:
        """Rows of target and region on the plane of the first two objectives, and their front."""
        codes = self._codes(self._as_rows(target, "target"), self._as_rows(region, "region"))
        return goal_plane(self._observed(), codes)

    def first(self, rows: int) -> Self:
        """The same analysis of the first rows only, as if the trials had ended there."""
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 2 <= rows <= self.rows:
            raise QueryError(Arg("rows", rows), f" must be a whole number from 2 to {self.rows:,}")
        observed = self._observed()
        counted = counted_rows(observed, self.levels.nan)
        mask = counted & (np.cumsum(counted) <= rows)
        return self._like(reordered(replace(observed, keep=mask, origin=None)))

    def _like(self, observed: Observations, cuts: Iterable[Threshold] = ()) -> Self:
        """Other observations analysed the same way: the same quantiles, policy and threads."""
        held = InMemory(observed, self.levels.nan, self.threads)
        levels = levels_for(held, self.levels.quantiles).with_values(cut.signed for cut in cuts)
        counted = assembled(held, levels, held.count(levels), notes=(), inside=False, part=True)
        return self.of(counted, self.threads)

    def _observed(self) -> Observations:
        if self.observations is None and self._source is not None:
            words = "the table was read in parts, and this needs its rows in memory; analyze it with "
            raise LevelsError(words, Arg("stream", False))
        if self.observations is None:
            raise LevelsError("the rows are no longer at hand (loaded or added); analyze the data again")
        return self.observations

    def _as_rows(self, value: object, name: str) -> Region | RowSet:
        if not needs_rows(value):
            region = as_region(value, name)
            check_one_value(region, name, self.objective, several=self.levels.several)
            single = self._source is not None and self._source.single
            return region.as_float32() if single else region
        observed = self._observed()
        return as_rows(value, name, observed.table, len(observed))

    def ask(self, target: object, region: object) -> tuple[list[Contrast], tuple[str, str], list[Note]]:
        """Target and region rows by cell, both in words, and notes on them."""
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(wanted, RowSet):
            contrasts = from_codes(self._observed(), self._codes(wanted, base), threads=self.threads)
            return contrasts, (str(wanted), str(base)), []
        if isinstance(base, RowSet):
            contrasts, words, notes = self.within(base).ask(wanted, 1.0)
            return contrasts, (words[0], str(base)), notes
        tallies, inner, outer = self._find(wanted, base)
        contrasts = from_tallies(tallies, inner, outer)
        sizes = int(contrasts[0].target.sum()), int(contrasts[0].region.sum())
        notes = query_notes(wanted, base, *sizes, self.rows, own=self.levels.own)
        return contrasts, (str(wanted), str(base)), notes

    def _is_alone(self) -> bool:
        """Whether these rows were picked out of others that tell nothing of them."""
        model = self.row_model
        if not isinstance(model, RowModel):
            return restricted(self.observations)
        return model.cut_off or (restricted(self.observations) and model.around is None)

    def asked(self, contrasts: list[Contrast], target: object, region: object) -> Query:
        """A question with all that can answer it."""
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
            return self.within(base).asked(contrasts, wanted, 1.0)
        model = self.row_model
        query = Query(
            contrasts=contrasts,
            target=None,
            region=None,
            levels=self.levels,
            count=self.rows,
            model=model,
            objection=ALONE if self._is_alone() else "",
            inner=restricted(self.observations),
        )
        if isinstance(wanted, Region) and isinstance(base, Region):
            return replace(query, target=wanted, region=base)
        observed = self._observed()
        counted = counted_rows(observed, self.levels.nan)
        masks = rows_in(wanted, observed, counted), rows_in(base, observed, counted)
        fixed = model.ranges_of(*masks) if isinstance(model, RowModel) else None
        return replace(query, fixed=fixed) if fixed is not None else replace(query, masks=masks)

    def resolved(self, question: Question) -> ResolvedQuestion:
        """Target and region as rows: after an adaptive sampler a quantile of the space is a value of the objective."""
        return resolve(self.asked([], question.target, question.region), question, objective=self.objective)

    def _adaptive_samples(self, seed: int) -> PosteriorSamples | None:
        """The model's table, where it answers and the sampler was adaptive."""
        question = Question(seed=seed)
        query = self.asked([], question.target, question.region)
        return None if (asked := choose(query, question)[0]) is None or not asked.of_space else asked.samples

    def slices(self, base: Region, parts: Iterable[Fraction] | None = None) -> tuple[list[Slice], list[Fraction]]:
        """Targets inside a region at these quantiles, or at all that were counted: see `slices_of`."""
        wanted = self.levels.quantiles if parts is None else tuple(sorted(set(parts)))
        _, tallies = self._cut_at(base, *(as_region(part, "target") for part in wanted))
        return slices_of(tallies, base, wanted)

    def reach(self, part: object, *, of: str = "rows", seed: int = 0) -> tuple[float, int]:
        """The objective at which the best part of the rows ends, and how many rows that are.

        ``of="space"`` is what a quantile means to `importance` by default.
        """
        best = as_region(part, "part")
        samples = self._adaptive_samples(seed) if of == "space" else None
        if samples is not None:
            end = samples.ranks.range_of(best, self.levels.direction, of_space=True)[1]
            return self.levels.sign * samples.ranks.value_of(end), samples.ranks.rows_of(end)
        levels, tallies = self._cut_at(best)
        by_level = first(tallies).rows_by_level()
        _, last = levels.find(best, by_level)
        return float(levels.thresholds[last - 1]), int(by_level[:last].sum())

    def _codes(self, wanted: Region | RowSet, base: Region | RowSet, rows: NDArray[np.int64] | None = None) -> Codes:
        """(rows,) 0 in the target, 1 elsewhere in the region, 2 elsewhere; of all rows, or of some that count."""
        observed = self._observed()
        if isinstance(wanted, RowSet) or isinstance(base, RowSet):
            codes = codes_of_rows(observed, wanted, base, self.levels.nan)
            return codes if rows is None else codes[rows]
        tallies, inner, outer = self._find(wanted, base)
        return codes_of_levels(observed, first(tallies).levels, inner, outer, threads=self.threads, rows=rows)

    def _find(self, wanted: Region, base: Region, *, nested: bool = True) -> tuple[Tallies, Range, Range]:
        """Tallies cut where the question needs it, and the levels of target and region."""
        check_order(wanted, base)
        levels, tallies = self._cut_at(wanted, base)
        by_level = first(tallies).rows_by_level()
        inner, outer = levels.find(wanted, by_level), levels.find(base, by_level)
        if nested:
            check_nested(wanted, base, inner, outer, by_level)
        return tallies, inner, outer

    def _cut_at(self, *regions: Region) -> tuple[Levels, Tallies]:
        by_level = first(self.tallies).rows_by_level()
        try:
            for region in regions:
                self.levels.find(region, by_level)
        except LevelsError:
            if self._source is None:
                raise
            return self._recount(self._source, *regions)
        return self.levels, self.tallies

    def _recount(self, source: Countable, *regions: Region) -> Recount:
        """The data once more, cut also at the thresholds that the ladder does not have."""
        cuts = frozenset(cut for region in regions for cut in region.cuts(self.levels.direction) if cut)
        recount: Recount = self._recounts.get(cuts, lambda: source.recut(self.levels, cuts))
        return recount


def restricted(observed: Observations | None) -> bool:
    """Whether rows were left out by their place."""
    return observed is not None and observed.restricted


def first(tallies: Tallies) -> Tally:
    return next(iter(tallies.values()))
