"""Tallies of every parameter, and the questions they answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pedanova.analysis.options import QUESTION, documented
from pedanova.analysis.rows import AnalysisRows
from pedanova.base.notes import added, explaining, in_order
from pedanova.counting.contrasts import Contrast, counted_rows
from pedanova.counting.merge import check_alike
from pedanova.counting.nesting import few_rows_note
from pedanova.counting.pair_arrays import tally_pairs
from pedanova.counting.pairs import PairTally
from pedanova.data.prepare import with_goal
from pedanova.data.regions import Region, as_parts, as_region
from pedanova.data.rowsets import RowSet
from pedanova.errors import UnknownParameterError, unknown_name
from pedanova.measures.compare import Comparison, Measures, compare_measures
from pedanova.measures.densities import Densities, densities_of
from pedanova.measures.effects import Effects, check_single, clip_region, effects_of
from pedanova.measures.importance import Importances, chance_notes, rank, ranked, sampler_notes, sparse_notes
from pedanova.measures.inference import DRAWS
from pedanova.measures.interactions import Interactions, as_cells, choose, find_pairs, groups_of
from pedanova.measures.plane import PairDensity, pair_density
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.surrogate.estimate import MOST_ROWS, Query, as_options, estimate
from pedanova.measures.surrogate.profile import Profile, ask_profile

if TYPE_CHECKING:
    from pedanova.measures.forest.results import AxisEffects, ForestEffects
    from pedanova.reduction.result import ReducedSpace
    from pedanova.report.figures.plots import Plots
    from pedanova.report.page.widget import Widget

PUBLIC = (  # what completion offers
    "all_densities", "alone", "axis", "by_objective", "compare", "densities", "direction", "dropped", "effects",
    "first", "forest", "importance", "interactions", "levels", "notes", "objective", "observations", "pair", "pairs",
    "plot", "profile", "reach", "reduce", "report", "rows", "save", "space", "tallies", "widget", "within",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(AnalysisRows):
    """Tallies of every parameter, and the questions they answer.

    Analyses of parts add up to the analysis of the whole: ``a + b``, given the same space and levels.
    """

    def __dir__(self) -> list[str]:
        return list(PUBLIC)

    @documented(QUESTION)
    def importance(
        self,
        target: object = 0.1,
        region: object = 1.0,
        baseline: str = "region",
        smoothing: Smoothing = "auto",
        *,
        estimator: str = "auto",
        draws: int = DRAWS,
        seed: int = 0,
        force: bool = False,
    ) -> Importances:
        """Which parameters decide whether a row of the region is in the target, and how surely.

        Parameters
        ----------
        {options}
        """
        options = as_options(baseline, smoothing, estimator, draws, seed, force=force)
        contrasts, words, notes = self.ask(target, region)
        whole = getattr(self._as_rows(region, "region"), "is_all", False)
        with explaining(self.notes):
            found = estimate(self.asked(contrasts, target, region), options)
        rows = ranked(found.rows)
        checks = [*found.notes, *sparse_notes(contrasts), *chance_notes(rows)]
        if baseline == "uniform":
            checks += sampler_notes(rows, rank(contrasts, smoothing=smoothing))
        elif found.estimator == "counts" and whole:
            level = rank(contrasts, baseline="uniform", smoothing=smoothing)
            checks += sampler_notes(level, rows, against="region")
        few = [] if found.estimator == "surrogate" else few_rows_note(rows[0].n_target)
        every = (*notes, *few, *checks)
        return Importances(rows, *words, baseline, every, found.estimator, whole)  # type: ignore[arg-type]

    def asked(self, contrasts: list[Contrast], target: object, region: object) -> Query:
        """A question with all that can answer it."""
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        observed = self.observations
        rows = np.empty(0, dtype=np.int64)
        if observed is not None and self.rows <= MOST_ROWS:
            rows = np.flatnonzero(counted_rows(observed, self.levels.nan))
        by_objective = isinstance(wanted, Region) and isinstance(base, Region)
        return Query(
            contrasts=contrasts,
            target=wanted if by_objective else None,  # type: ignore[arg-type]
            region=base if by_objective else None,  # type: ignore[arg-type]
            observed=observed,
            count=self.rows,
            rows=rows,
            models=self._models,
            own=self.levels.own,
        )

    def profile(
        self,
        region: object = 1.0,
        baseline: str = "region",
        smoothing: Smoothing = "auto",
        *,
        ladder: Iterable[object] | None = None,
        estimator: str = "auto",
        draws: int = 0,
        seed: int = 0,
    ) -> Profile:
        """Every parameter's importance for one target after the other: what `importance` says of each.

        `ladder` names the targets, as quantiles of all rows. By default they are all that were counted;
        a model, which takes a third of a second for each, is asked at five of the usual ones. The other
        options are those of `importance`; intervals and p-values are found where `draws` are asked for.
        """
        options = as_options(baseline, smoothing, estimator, draws, seed, force=True)
        parts = None if ladder is None else as_parts(ladder)
        base = self._as_rows(region, "region")
        if isinstance(base, RowSet):
            return replace(ask_profile(self.within(region), as_region(1, "region"), parts, options), region=str(base))
        return ask_profile(self, base, parts, options)

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
        contrasts, words, _ = self.ask(target, region)
        return {c.name: densities_of(c, smoothing=smoothing, words=words) for c in contrasts}

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
        """What every two parameters explain together about being in the target, beyond the sum of both.

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
        observed = self._observed()
        contrasts, words, notes = self.ask(target, region)
        found = find_pairs(observed, self._codes(wanted, base), contrasts, threads=self.threads, **options)
        return replace(found, target=words[0], region=words[1], notes=(*notes, *found.notes))

    def pair(
        self, first: str, second: str, target: object = 0.1, region: object = 1.0, *, cells: object = 8
    ) -> PairDensity:
        """Rows of target and region on the plane of two parameters, by coarse cells."""
        contrasts, tally = self._count_pairs([first, second], target, region, cells)
        return pair_density(tally, contrasts[first], contrasts[second])

    def pairs(
        self, names: Sequence[str] | None = None, target: object = 0.1, region: object = 1.0, *, cells: object = 8
    ) -> dict[tuple[str, str], PairDensity]:
        """`pair` of every two of these parameters (None for all), the rows counted once."""
        contrasts, tally = self._count_pairs(names, target, region, cells)
        return {pair: pair_density(tally, *(contrasts[name] for name in pair)) for pair in tally.pairs}

    def _count_pairs(
        self, names: Sequence[str] | None, target: object, region: object, cells: object
    ) -> tuple[dict[str, Contrast], PairTally]:
        contrasts, _, _ = self.ask(target, region)
        chosen = {c.name: c for c in choose(contrasts, names)}
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        groups = groups_of(chosen.values(), as_cells(cells, 0))
        return chosen, tally_pairs(self._observed(), self._codes(wanted, base), groups, threads=self.threads)

    @property
    def plot(self) -> Plots:
        """Figures: ``a.plot.importance()``, ``.densities()``, ``.profile()``, ``.pair("lr", "depth")`` …"""
        from pedanova.report.figures.plots import Plots

        return Plots(self)

    def widget(self, *, height: int = 900, **options: Any) -> Widget:
        """The page of `report`, alive inside a notebook; options are those of `report`."""
        from pedanova.report.page.widget import widget_of

        return widget_of(self, height=height, **options)

    def by_objective(self, target: object = 0.1, region: object = 1.0, **options: Any) -> Comparison:
        """The ratios for each of several objectives alone, beside those for all together.

        Further options are those of `importance`.
        """
        goals = self._observed().goals
        together = {"together": self.importance(target, region, **options)} if len(goals) > 1 else {}
        alone = {goal.name: self.alone(goal.name).importance(target, region, **options) for goal in goals}
        return Comparison(together | alone)

    def forest(self, clip: float | None = None, *, trees: int = 64, seed: int = 0, pairs: bool = True) -> ForestEffects:
        """What explains a random forest's prediction over the space: see `pedanova.forest.forest_effects`."""
        from pedanova.measures.forest.forest import forest_effects

        return forest_effects(self._observed(), clip=clip, trees=trees, seed=seed, pairs=pairs, threads=self.threads)

    def axis(self, *, trees: int = 64, seed: int = 0) -> AxisEffects:
        """What moves the prediction away from the best row: see `pedanova.forest.axis_effects`."""
        from pedanova.measures.forest.forest import axis_effects

        return axis_effects(self._observed(), trees=trees, seed=seed, threads=self.threads)

    def compare(self, target: float = 0.1, *, seed: int = 0) -> Measures:
        """PED and f-ANOVA, globally and locally, side by side: see `pedanova.measures.compare`."""
        return compare_measures(self, target, seed=seed)

    def reduce(
        self,
        target: object = 0.1,
        keep: float = 0.95,
        *,
        widen: bool = False,
        estimator: str = "auto",
        folds: int = 5,
        seed: int = 0,
    ) -> ReducedSpace:
        """A smaller search space: what to keep, narrow, fix and widen, with reasons and evidence.

        Parameters
        ----------
        target
            The rows to reach, as in `importance`. Where to cut is decided by the target's best tenth.
        keep
            The part of that best tenth that every narrowed parameter keeps, at least.
        widen
            Whether bounds that good values pile up at are moved outwards; else that is only said.
        estimator
            As in `importance`.
        folds
            Parts that the rows are split into, each judged by bounds found without it; 0 for no evidence.
        seed
            Of everything random.
        """
        from pedanova.reduction.reduce import reduce_space
        from pedanova.reduction.search import Search

        contrasts, _, _ = self.ask(target, 1.0)
        observed = self._observed()
        wanted, counted = self._as_rows(target, "target"), counted_rows(observed, self.levels.nan)
        search = Search(observed, self.asked(contrasts, target, 1.0), wanted, seed, counted)
        return reduce_space(self, search, target, keep, widen=widen, estimator=estimator, folds=folds)

    def alone(self, objective: str) -> Analysis:
        """The same rows, analysed for one of several objectives."""
        return self._like(with_goal(self._observed(), objective, self.levels.nan))

    def __add__(self, other: Analysis) -> Analysis:
        if not isinstance(other, Analysis):
            return NotImplemented
        check_alike(self, other)
        tallies = {name: tally + other.tallies[name] for name, tally in self.tallies.items()}
        notes = in_order(added([*self.notes, *other.notes]))
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
        from pedanova.counting.store import Stored, write_tallies

        kept = (self.objective, self.dropped, self.levels, self.tallies, self.notes)
        write_tallies(path, Stored(*kept, moments=self._moments_to_keep()))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Hyperparameter importance",
        questions: Sequence[tuple[object, object]] = ((0.1, 1.0), (0.02, 0.1)),
        ladder: Iterable[object] | None = None,
        reduce: bool = True,
        **options: Any,
    ) -> None:
        """Write one HTML file to look at and to drag in: docs/report.md says what is in it.

        Parameters
        ----------
        path
            Where to; a file that is there is replaced.
        title
            Of the page.
        questions
            (target, region): the one that is shown first, then others that must be on the page.
        ladder
            The parts of the rows that the sliders offer, such as ``[0.01, 0.1, 0.5, 1.0]``.
        reduce
            Whether a smaller search space is suggested (`reduce`), which may take some seconds.
        options
            Those of `importance`; `baseline` is the one that is shown first.
        """
        from pedanova.base.places import check_place
        from pedanova.report.page.html import draw_page, write_page
        from pedanova.report.page.view import view_of

        place = check_place(path)  # before the long work
        write_page(place, draw_page(view_of(self, title, questions, ladder=ladder, reduce=reduce, **options)))


def load(path: str | os.PathLike[str]) -> Analysis:
    """An analysis from a file that `Analysis.save` wrote."""
    from pedanova.counting.store import read_tallies

    stored = read_tallies(path)
    kept = (stored.objective, stored.levels, stored.tallies, stored.notes, stored.dropped)
    return Analysis(*kept, _moments=stored.moments)
