"""Tallies of every parameter, and the questions they answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pedanova.contrasts import (
    Codes,
    codes_of_levels,
    codes_of_rows,
    counted_rows,
    from_codes,
    from_tallies,
    rows_in,
)
from pedanova.counting import Tallies, cell_notes, check_alike, levels_for, recut
from pedanova.density import Smoothing
from pedanova.effects import Effects, check_single, clip_region, effects_of
from pedanova.engines.arrays import sum_moments, tally_columns
from pedanova.errors import (
    DataError,
    LevelsError,
    QueryError,
    UnknownParameterError,
    unknown_name,
)
from pedanova.importance import Contrast, Importances, chance_notes, rank, sampler_notes, sparse_notes
from pedanova.interactions import Interactions, find_pairs
from pedanova.levels import Levels
from pedanova.moments import Moments
from pedanova.nesting import Range, check_nested, check_one_value, check_order, few_rows_note, query_notes
from pedanova.observations import Observations
from pedanova.preparation import reordered, with_goal
from pedanova.regions import Region, as_region, percent
from pedanova.results import Comparison, Densities, Profile, Step, densities_of
from pedanova.rowsets import RowSet, as_rows, needs_rows
from pedanova.space import Space
from pedanova.tally import Tally

if TYPE_CHECKING:
    from pedanova.forestresults import AxisEffects, ForestEffects


def count(observed: Observations, levels: Levels, threads: int) -> Analysis:
    tallies = tally_columns(observed, levels, threads=threads)
    rows = next(iter(tallies.values())).rows
    return Analysis(
        objective=observed.name,
        levels=levels,
        tallies=tallies,
        notes=(*observed.notes, *cell_notes(tallies)),
        dropped=len(observed) - rows,
        observations=observed,
        threads=threads,
    )


@dataclass(frozen=True, eq=False)
class Analysis:
    """Tallies of every parameter, and the questions they answer.

    Analyses of parts add up to the analysis of the whole: ``a + b``, given the same space and levels.
    """

    objective: str
    levels: Levels
    tallies: Tallies = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    dropped: int = 0
    observations: Observations | None = field(default=None, repr=False)  # None once loaded or added
    threads: int = field(default=1, repr=False)
    _recounts: dict[object, Any] = field(default_factory=dict, repr=False)
    _moments: Moments | None = field(default=None, repr=False)  # where the rows are no longer at hand

    @property
    def space(self) -> Space:
        return Space({name: tally.parameter for name, tally in self.tallies.items()})

    @property
    def direction(self) -> str:
        return self.levels.direction

    @property
    def rows(self) -> int:
        """Rows counted; dropped ones are not among them."""
        return next(iter(self.tallies.values())).rows

    def __len__(self) -> int:
        return self.rows

    def importance(
        self,
        target: object = 0.1,
        region: object = 1.0,
        baseline: str = "region",
        smoothing: Smoothing = "auto",
    ) -> Importances:
        """Which parameters decide whether a row of the region is in the target.

        Parameters
        ----------
        target, region
            A quantile (0.1 = the best 10 %), `at_most`, `at_least`, `between`, `equals`, a boolean
            column or mask, a box such as ``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}}``, or a
            condition such as ``"epochs >= 10"``. The target must lie inside the region; a quantile
            is taken within a region that is a mask, a box or a condition.
        baseline
            ``"region"``: the target against the rows of the region, right for adaptive samplers
            too. ``"uniform"``: against a uniform draw from the space.
        smoothing
            ``"auto"``, ``"none"``, or a bandwidth in cells.
        """
        contrasts, words, notes = self.ask(target, region)
        rows = rank(contrasts, baseline=baseline, smoothing=smoothing)
        if baseline == "uniform":
            notes = [*notes, *sampler_notes(rows, rank(contrasts, smoothing=smoothing))]
        else:
            notes = [*notes, *chance_notes(rows)]
        notes = [*notes, *sparse_notes(contrasts)]
        return Importances(rows, *words, baseline, tuple(notes))  # type: ignore[arg-type]

    def profile(
        self, region: object = 1.0, baseline: str = "region", smoothing: Smoothing = "auto"
    ) -> Profile:
        """Every parameter's importance at every quantile of the ladder inside the region."""
        base = self._as_rows(region, "region")
        if isinstance(base, RowSet):
            return replace(self.within(region).profile(1.0, baseline, smoothing), region=str(base))
        tallies, _, outer = self._find(base, base, nested=False)
        levels, by_level = _first(tallies).levels, _first(tallies).rows_by_level()
        steps, same, seen = [], [], 0
        for part, index, held in zip(levels.quantiles, levels.index, levels.effective(by_level), strict=True):
            rows = int(by_level[outer[0] : index + 1].sum())
            if index + 1 > outer[1] or rows in (0, int(by_level[slice(*outer)].sum())):
                continue
            if rows == seen:
                same.append(percent(part))
                continue
            seen = rows
            contrasts = from_tallies(tallies, (outer[0], index + 1), outer)
            steps.append(Step(part, held, rank(contrasts, baseline=baseline, smoothing=smoothing)))
        notes = (f"the same rows as the quantile before, and left out: {', '.join(same)}",) if same else ()
        return Profile(tuple(steps), str(base), notes)

    def densities(
        self, name: str, target: object = 0.1, region: object = 1.0, smoothing: Smoothing = "auto"
    ) -> Densities:
        """How one parameter is spread in the target, in the region and over the space."""
        if not isinstance(name, str) or name not in self.tallies:
            raise UnknownParameterError(unknown_name(name, tuple(self.tallies)))
        return self.all_densities(target, region, smoothing)[name]

    def all_densities(
        self, target: object = 0.1, region: object = 1.0, smoothing: Smoothing = "auto"
    ) -> dict[str, Densities]:
        """`densities` of every parameter, the rows asked for once."""
        contrasts, _, _ = self.ask(target, region)
        return {contrast.name: densities_of(contrast, smoothing=smoothing) for contrast in contrasts}

    def effects(self, region: object = 1.0, *, clip: object = None, smoothing: Smoothing = "auto") -> Effects:
        """How much of the objective's own variance each parameter explains inside the region.

        Parameters
        ----------
        region
            Whatever `importance` takes as a region.
        clip
            A quantile, or `at_most` (`at_least` where larger is better): worse objectives count as the
            one there, so that a few wild values do not rule. A quantile is taken within a region
            that is a mask, a box or a condition.
        smoothing
            ``"auto"``, ``"none"``, or a bandwidth in cells.
        """
        check_single(self.objective, self.levels)
        base = self._as_rows(region, "region")
        if isinstance(base, RowSet):
            return replace(self.within(region).effects(clip=clip, smoothing=smoothing), region=str(base))
        ends = [] if clip is None else [clip_region(self._as_rows(clip, "clip"))]
        levels, tallies = self._cut_at(base, *ends)
        moments = self.moments if levels is self.levels else self._sum_moments(levels)
        return effects_of(tallies, moments, base, clip=ends[0] if ends else None, smoothing=smoothing)

    def interactions(
        self,
        target: object = 0.1,
        region: object = 1.0,
        *,
        cells: object = "auto",
        corrected: bool = True,
        params: Iterable[str] | None = None,
        seed: int = 0,
    ) -> Interactions:
        """What every two parameters tell about the target together, beyond both added.

        Parameters
        ----------
        target, region
            As in `importance`. The rows must be at hand: pairs are counted when asked for.
        cells
            Cells of each parameter, about equal in rows: ``"auto"`` is 8, or 4 below 100 target rows.
        corrected
            Whether what chance would explain is taken off.
        params
            The parameters to pair; None for all.
        seed
            Of the draws behind the p-values.
        """
        options = {"cells": cells, "corrected": corrected, "params": params, "seed": seed}
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
            found = self.within(region).interactions(target, **options)  # type: ignore[arg-type]
            return replace(found, region=str(base))
        observed = self._source()
        contrasts, words, notes = self.ask(target, region)
        found = find_pairs(observed, self._codes(wanted, base), contrasts, threads=self.threads, **options)
        return replace(found, target=words[0], region=words[1], notes=(*notes, *found.notes))

    @cached_property
    def moments(self) -> Moments:
        """Mean and spread of the objective by level: one pass over it, the first time they are needed."""
        return self._moments or self._sum_moments(self.levels)

    def _sum_moments(self, levels: Levels) -> Moments:
        if self.observations is None:
            raise LevelsError(
                "the objective's spread was not kept (a file of version 1); analyze the data again"
            )
        return sum_moments(self.observations, levels, threads=self.threads)

    def _moments_to_keep(self) -> Moments | None:
        """What a file or a sum takes along; several objectives have no one mean."""
        known = self._moments is not None or self.observations is not None
        return self.moments if known and not self.levels.several else None

    def by_objective(
        self,
        target: object = 0.1,
        region: object = 1.0,
        baseline: str = "region",
        smoothing: Smoothing = "auto",
    ) -> Comparison:
        """The ratios for each of several objectives alone, beside those for all together."""
        goals = self._source().goals
        together = (
            {"together": self.importance(target, region, baseline, smoothing)} if len(goals) > 1 else {}
        )
        alone = {g.name: self.alone(g.name).importance(target, region, baseline, smoothing) for g in goals}
        return Comparison(together | alone)

    def forest(
        self, clip: float | None = None, *, trees: int = 64, seed: int = 0, pairs: bool = True
    ) -> ForestEffects:
        """What explains a random forest's prediction over the space: see `pedanova.forest.forest_effects`."""
        from pedanova.forest import forest_effects

        return forest_effects(
            self._source(), clip=clip, trees=trees, seed=seed, pairs=pairs, threads=self.threads
        )

    def axis(self, *, trees: int = 64, seed: int = 0) -> AxisEffects:
        """What moves the prediction away from the best row: see `pedanova.forest.axis_effects`."""
        from pedanova.forest import axis_effects

        return axis_effects(self._source(), trees=trees, seed=seed, threads=self.threads)

    def alone(self, objective: str) -> Analysis:
        """The same rows, analysed for one of several objectives."""
        return self._like(with_goal(self._source(), objective, self.levels.nan))

    def within(self, rows: object) -> Analysis:
        """The same analysis of some of the rows only; levels are cut anew inside them."""
        base = self._as_rows(rows, "region")
        observed = self._source()
        mask = rows_in(base, observed, counted_rows(observed, self.levels.nan))
        if mask.sum() < 2:
            raise QueryError(f"region ({base}) holds {int(mask.sum())} rows; it needs at least two")
        return self._like(reordered(replace(observed, keep=mask)))

    def _like(self, observed: Observations) -> Analysis:
        """Other observations analysed the same way: the same quantiles, policy and threads."""
        levels = levels_for(observed, self.levels.quantiles, self.levels.nan, self.threads)
        return count(observed, levels, self.threads)

    def _source(self) -> Observations:
        if self.observations is None:
            raise LevelsError("the rows are no longer at hand (loaded or added); analyze the data again")
        return self.observations

    def _as_rows(self, value: object, name: str) -> Region | RowSet:
        if not needs_rows(value):
            region = as_region(value, name)
            check_one_value(region, name, self.objective, several=self.levels.several)
            single = self.observations is not None and self.observations.ranked.dtype == np.float32
            return region.as_float32() if single else region
        observed = self._source()
        return as_rows(value, name, observed.table, len(observed))

    def ask(self, target: object, region: object) -> tuple[list[Contrast], tuple[str, str], list[str]]:
        """Target and region rows by cell, both in words, and notes on them."""
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(wanted, RowSet):
            contrasts = from_codes(self._source(), self._codes(wanted, base), threads=self.threads)
            return contrasts, (str(wanted), str(base)), few_rows_note(int(contrasts[0].target.sum()))
        if isinstance(base, RowSet):
            contrasts, words, notes = self.within(region).ask(target, 1.0)
            return contrasts, (words[0], str(base)), notes
        tallies, inner, outer = self._find(wanted, base)
        contrasts = from_tallies(tallies, inner, outer)
        sizes = int(contrasts[0].target.sum()), int(contrasts[0].region.sum())
        notes = query_notes(wanted, base, *sizes, self.rows, own=self.levels.own)
        return contrasts, (str(wanted), str(base)), notes

    def _codes(self, wanted: Region | RowSet, base: Region | RowSet) -> Codes:
        """(rows,) 0 in the target, 1 elsewhere in the region, 2 elsewhere."""
        observed = self._source()
        if isinstance(wanted, RowSet) or isinstance(base, RowSet):
            return codes_of_rows(observed, wanted, base, self.levels.nan)
        tallies, inner, outer = self._find(wanted, base)
        return codes_of_levels(observed, _first(tallies).levels, inner, outer, threads=self.threads)

    def _find(self, wanted: Region, base: Region, *, nested: bool = True) -> tuple[Tallies, Range, Range]:
        """Tallies cut where the question needs it, and the levels of target and region."""
        check_order(wanted, base)
        levels, tallies = self._cut_at(wanted, base)
        by_level = _first(tallies).rows_by_level()
        inner, outer = levels.find(wanted, by_level), levels.find(base, by_level)
        if nested:
            check_nested(wanted, base, inner, outer, by_level)
        return tallies, inner, outer

    def _cut_at(self, *regions: Region) -> tuple[Levels, Tallies]:
        by_level = _first(self.tallies).rows_by_level()
        try:
            for region in regions:
                self.levels.find(region, by_level)
        except LevelsError:
            if self.observations is None:
                raise
            return self._recount(self.observations, *regions)
        return self.levels, self.tallies

    def _recount(self, observed: Observations, *regions: Region) -> tuple[Levels, Tallies]:
        """The data once more, cut also at the thresholds that the ladder does not have."""
        cuts = frozenset(cut for region in regions for cut in region.cuts(self.levels.direction) if cut)
        if cuts not in self._recounts:
            levels = recut(observed, self.levels, cuts, self.threads)
            self._recounts.clear()  # the last question's counts are enough
            self._recounts[cuts] = levels, tally_columns(observed, levels, threads=self.threads)
        found: tuple[Levels, Tallies] = self._recounts[cuts]
        return found

    def __add__(self, other: Analysis) -> Analysis:
        if not isinstance(other, Analysis):
            return NotImplemented
        check_alike(self, other)
        tallies = {name: tally + other.tallies[name] for name, tally in self.tallies.items()}
        notes = tuple(dict.fromkeys([*self.notes, *other.notes]))
        complete = self.levels.complete and other.levels.complete
        levels = replace(self.levels, complete=complete, own=False)
        dropped = self.dropped + other.dropped
        one, two = self._moments_to_keep(), other._moments_to_keep()
        moments = one + two if one is not None and two is not None else None
        return Analysis(self.objective, levels, tallies, notes, dropped, None, self.threads, _moments=moments)

    def __radd__(self, other: object) -> Analysis:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # so that sum([...]) works

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tallies, not the data, to a small file; `load` reads it."""
        from pedanova.store import Stored, write_tallies

        kept = (self.objective, self.dropped, self.levels, self.tallies, self.notes)
        write_tallies(path, Stored(*kept, moments=self._moments_to_keep()))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Hyperparameter importance",
        questions: Sequence[tuple[object, object]] = ((0.1, 1.0), (0.02, 0.1)),
        baseline: str = "region",
        smoothing: Smoothing = "auto",
    ) -> None:
        """Write one HTML file: the global and the local answer, densities and notes.

        `questions` are (target, region): the wide one, then one inside it, left out if the rows do
        not suffice.
        """
        from pedanova.report.page import draw_page, view_of

        view = view_of(self, title, *questions[:2], baseline=baseline, smoothing=smoothing)
        page = draw_page(view)
        try:
            Path(path).write_text(page, encoding="utf-8")
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror or error}") from None


def _first(tallies: Tallies) -> Tally:
    return next(iter(tallies.values()))


def load(path: str | os.PathLike[str]) -> Analysis:
    """An analysis from a file that `Analysis.save` wrote."""
    from pedanova.store import read_tallies

    stored = read_tallies(path)
    kept = (stored.objective, stored.levels, stored.tallies, stored.notes, stored.dropped)
    return Analysis(*kept, _moments=stored.moments)
