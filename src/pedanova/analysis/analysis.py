"""Tallies of every parameter, and the questions they answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pedanova.analysis.documents import METHODS, SETUP, word
from pedanova.analysis.files import attachments_of
from pedanova.analysis.options import QUESTION, documented
from pedanova.analysis.studies import AnalysisStudies
from pedanova.base.documents import completed
from pedanova.base.notes import added, explaining, in_order
from pedanova.counting.few_rows import counted_rows
from pedanova.counting.tally import check_alike
from pedanova.data.prepare import with_goal
from pedanova.data.regions import as_parts, as_region
from pedanova.data.row_selection import RowSet
from pedanova.errors import UnknownParameterError, unknown_name
from pedanova.measures.compare import Comparison, Ranked, compare_measures
from pedanova.measures.densities import Densities
from pedanova.measures.effects import Effects, Marginal, check_single, clip_region, effects_of
from pedanova.measures.importance import Importances
from pedanova.measures.question import DEFAULT, Question
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.surrogate.answer import answer, density_answer
from pedanova.measures.surrogate.profile import Profile, profile_answer

if TYPE_CHECKING:
    from pedanova.measures.forest.forest import ForestEffects
    from pedanova.reduction.result import ReducedSpace
    from pedanova.report.figures.plots import Plots
    from pedanova.report.live.notebook import LiveWidget
    from pedanova.report.live.server import Explorer
    from pedanova.report.live.widget import Widget

PUBLIC = (  # what completion offers
    "all_densities", "alone", "along", "by_objective", "compare", "densities", "direction", "dropped",
    "effects", "explore", "first", "forest", "groups", "importance", "interactions", "levels", "marginal", "notes",
    "objective", "observations", "pair", "pairs", "plot", "profile", "reach", "reduce", "report", "rows", "save",
    "seeds", "space", "tallies", "trials", "widget", "within",
)  # fmt: skip


@completed(METHODS, setup=SETUP, word=word)
@dataclass(frozen=True, eq=False, repr=False)
class Analysis(AnalysisStudies):
    """Tallies of every parameter, and the questions they answer. `analyze` and `load` make one.

    Analyses of parts add up to the analysis of the whole: ``a + b``, given the same space and levels.
    """

    def __dir__(self) -> list[str]:
        return list(PUBLIC)

    @documented(QUESTION)
    def importance(
        self,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        baseline: str = DEFAULT.baseline,
        smoothing: Smoothing = DEFAULT.smoothing,
        *,
        estimator: str = DEFAULT.estimator,
        draws: int = DEFAULT.draws,
        seed: int = DEFAULT.seed,
        of: str = DEFAULT.of,
        force: bool = DEFAULT.force,
    ) -> Importances:
        """Which parameters decide whether a row of the region is in the target, and how surely.

        Parameters
        ----------
        {options}
        """
        question = Question(target, region, baseline, smoothing, estimator, draws, seed, of, force)
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        contrasts, words, notes = self.ask(wanted, base)
        whole = getattr(base, "is_all", False)
        query = self.asked(contrasts, wanted, base)
        with explaining(self.notes):
            return answer(query, question, words, notes, objective=self.objective, whole=whole)

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
        of: str = "space",
    ) -> Profile:
        """Every parameter's importance for one target after the other: what `importance` says of each.

        Intervals and p-values are found where `draws` are asked for.
        """
        question = Question(DEFAULT.target, region, baseline, smoothing, estimator, draws, seed, of, force=True)
        parts = None if ladder is None else as_parts(ladder)
        base = self._as_rows(region, "region")
        if isinstance(base, RowSet):
            return replace(profile_answer(self.within(base), as_region(1, "region"), parts, question), region=str(base))
        return profile_answer(self, base, parts, question)

    def densities(
        self,
        name: str,
        target: object = 0.1,
        region: object = 1.0,
        smoothing: Smoothing = "auto",
        *,
        estimator: str = "auto",
        seed: int = 0,
        of: str = "space",
    ) -> Densities:
        """How one parameter is spread in the target, in the region and over the space."""
        if not isinstance(name, str) or name not in self.tallies:
            raise UnknownParameterError(unknown_name(name, tuple(self.tallies)))
        return self.all_densities(target, region, smoothing, estimator=estimator, seed=seed, of=of)[name]

    def all_densities(
        self,
        target: object = 0.1,
        region: object = 1.0,
        smoothing: Smoothing = "auto",
        *,
        estimator: str = "auto",
        seed: int = 0,
        of: str = "space",
    ) -> dict[str, Densities]:
        """`densities` of every parameter, asked of whoever answers `importance`."""
        question = Question(target, region, smoothing=smoothing, estimator=estimator, seed=seed, of=of, force=True)
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        contrasts, words, _ = self.ask(wanted, base)
        return density_answer(self.asked(contrasts, wanted, base), question, words, objective=self.objective)

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
            return replace(self.within(base).effects(clip=clip, smoothing=smoothing), region=str(base))
        ends = [] if clip is None else [clip_region(self._as_rows(clip, "clip"))]
        levels, tallies = self._cut_at(base, *ends)
        moments = self.moments if levels is self.levels else self._sum_moments(levels)
        return effects_of(tallies, moments, base, clip=ends[0] if ends else None, smoothing=smoothing)

    def marginal(
        self, name: str, region: object = 1.0, *, clip: object = None, smoothing: Smoothing = "auto"
    ) -> Marginal:
        """The mean objective along the values of one parameter, with its 95 % interval.

        What a divergence of densities cannot tell: how *much* better a good value is.
        """
        if not isinstance(name, str) or name not in self.tallies:
            raise UnknownParameterError(unknown_name(name, tuple(self.tallies)))
        return self.effects(region, clip=clip, smoothing=smoothing).marginal(name)

    @property
    def plot(self) -> Plots:
        """Figures: ``a.plot.importance()``, ``.densities()``, ``.profile()``, ``.pair("lr", "depth")`` …"""
        from pedanova.report.figures.plots import Plots

        return Plots(self)

    def widget(self, *, height: int = 900, live: bool | None = None, **options: Any) -> LiveWidget | Widget:
        """The explorer in a notebook; its ``selection`` can be read and set: docs/explore.md.

        Options are those of `report`. With anywidget installed the page is `live`, else it is that of `report`.
        """
        from pedanova.report.live.widget import cell_of

        return cell_of(self, height=height, live=live, **options)

    def explore(
        self,
        *,
        title: str = "Hyperparameter importance",
        start: tuple[object, object] = (0.1, 1.0),
        source: str = "",
        group: str | None = None,
        port: int = 0,
        open: bool = True,  # noqa: A002  (what the option is called everywhere)
        wait: bool = True,
        **options: Any,
    ) -> Explorer:
        """Serve a live page to brush in, on this machine alone, until Ctrl-C: docs/explore.md says what it shows.

        Parameters
        ----------
        title
            Of the page.
        start
            (target, region): what is asked first, as parts or values of the objective.
        source
            What ``pedanova analyze`` would be given to read these rows, for the shell lines on the page.
        group
            A column that names the study of each row: their rankings then stand side by side (docs/explore.md).
        port
            Of 127.0.0.1; 0 for a free one.
        open
            Whether the browser is asked to show it.
        wait
            Whether to stay until Ctrl-C. Else the page is served behind your back until its ``close()``.
        options
            Those of `importance`.
        """
        from pedanova.report.live.server import explore

        about: dict[str, Any] = {"title": title, "start": start, "source": source, "group": group}
        return explore(self, **about, port=port, show=open, wait=wait, **options)

    def by_objective(self, target: object = 0.1, region: object = 1.0, **options: Any) -> Comparison[Importances]:
        """The ratios for each of several objectives alone, beside those for all together."""
        goals = self._observed().goals
        together = {"together": self.importance(target, region, **options)} if len(goals) > 1 else {}
        alone = {goal.name: self.alone(goal.name).importance(target, region, **options) for goal in goals}
        return Comparison(together | alone)

    def forest(self, clip: float | None = None, *, trees: int = 64, seed: int = 0, pairs: bool = True) -> ForestEffects:
        """What explains a random forest's prediction over the space: see `forest_effects`."""
        from pedanova.measures.forest.forest import forest_effects

        return forest_effects(self._observed(), clip=clip, trees=trees, seed=seed, pairs=pairs, threads=self.threads)

    def compare(self, target: float = 0.1, *, seed: int = 0) -> Comparison[Ranked]:
        """PED and f-ANOVA, globally and locally, side by side."""
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

        wanted = self._as_rows(target, "target")
        contrasts, _, _ = self.ask(wanted, 1.0)
        observed = self._observed()
        counted = counted_rows(observed, self.levels.nan)
        search = Search(observed, self.asked(contrasts, wanted, 1.0), wanted, seed, counted)
        how: dict[str, Any] = {"widen": widen, "estimator": estimator, "folds": folds}
        return reduce_space(self, search, wanted, keep, **how)

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

    def save(self, path: str | os.PathLike[str], *, rows: bool = False, model: bool = True) -> None:
        """Write the tallies to a small file; `load` reads it, and answers as this analysis does.

        Parameters
        ----------
        path
            Where to; a file that is there is replaced.
        rows
            Keep the rows themselves too (up to a million), so that masks, conditions, pairs and
            `reduce` can be asked of the file. Without them none of their settings is in it.
        model
            Keep what few rows (up to 5,000) tell beyond their counts: the model's table of points, and
            the p-values of the usual questions and of those asked so far.
        """
        from pedanova.counting.store import Stored, write_tallies

        kept = (self.objective, self.dropped, self.levels, self.tallies, self.notes)
        attachments = {}
        if rows or model:
            observed = self._observed() if rows else None
            told = self._is_alone(), self.levels.direction, self._attached
            attachments = attachments_of(observed, self.row_model, *told)
        write_tallies(path, Stored(*kept, moments=self._moments_to_keep(), attachments=attachments))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Hyperparameter importance",
        questions: Sequence[tuple[object, object]] = ((0.1, 1.0), (0.02, 0.1)),
        ladder: Iterable[object] | None = None,
        reduce: bool = True,
        within: object = None,
        group: str | None = None,
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
        within
            A page about some of the rows only, as `within` takes them: a box, a condition, a mask.
        group
            A column that names the study of each row: their rankings then stand side by side in a tab of their own.
        options
            Those of `importance`; `baseline` is the one that is shown first. And `budget`, a column to follow.
        """
        from pedanova.base.files import check_output_path
        from pedanova.report.page.embedded import payload_of
        from pedanova.report.page.html import draw_page, write_page

        place = check_output_path(path)  # before the long work
        how = {"ladder": ladder, "reduce": reduce, "within": within, "group": group, **options}
        write_page(place, draw_page(payload_of(self, title, questions, **how)))
