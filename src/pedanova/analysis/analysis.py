"""`Analysis`: every question that a table of trials answers, one method each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from pedanova.analysis.output import Output
from pedanova.base.lazy import LazyModule
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances
from pedanova.measures.question import DEFAULT, DensityHow, How, Question, check_how
from pedanova.measures.questions import ask
from pedanova.measures.questions.ask import Comparison
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.surrogate.profile import Profile

if TYPE_CHECKING:  # what most questions do without is imported when it answers
    from pedanova.measures.advice import ask as advice
    from pedanova.measures.advice import brief as briefs
    from pedanova.measures.advice.gains import Gains
    from pedanova.measures.advice.needed import Needed
    from pedanova.measures.advice.next_trials import NextTrials
    from pedanova.measures.effects import Effects
    from pedanova.measures.interactions import Interactions
    from pedanova.measures.plane import PairDensity
    from pedanova.measures.studies import across, budgets, seeds
    from pedanova.measures.studies.along import Along
    from pedanova.measures.studies.seeds import Seeds
    from pedanova.reduction import reduce as reduction
    from pedanova.reduction.result import ReducedSpace
else:
    advice, briefs = LazyModule("pedanova.measures.advice.ask"), LazyModule("pedanova.measures.advice.brief")
    across, seeds = LazyModule("pedanova.measures.studies.across"), LazyModule("pedanova.measures.studies.seeds")
    budgets, reduction = LazyModule("pedanova.measures.studies.budgets"), LazyModule("pedanova.reduction.reduce")


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Output):
    """A table of trials, counted once, and the questions it answers. `analyze` and `load` make one.

    ``len(a)`` is the number of rows that count. Analyses of parts add up to the analysis of the whole: ``a + b``,
    given the same space and levels. Examples that do not say so have the `a` of the one below.

    Attributes
    ----------
    objective, direction
        The objective's name (for several, all names joined), and whether lower or higher is better.
    space
        The search space: as given, as the log has it, or as guessed.
    notes
        What was guessed, dropped or merged, in sentences, the most severe first.
    plot
        Figures: ``a.plot.importance()``, ``.densities()``, ``.profile()``, ``.pair("lr", "depth")`` …
    data
        What was counted: ``data.levels`` are slices of the objective, ``data.tallies`` counts by parameter,
        ``data.dropped`` the rows left out, ``data.observations`` the rows (None once loaded without them, or added).

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> a.objective, a.direction, len(a), len(a.notes) > 5
    ('error', 'minimize', 1000, True)
    >>> a.space["units"]
    Int(low=4, high=128, step=1, log=True)
    """

    data: TrialData

    def __add__(self, other: Analysis) -> Analysis:
        return Analysis(self.data + other.data) if isinstance(other, Analysis) else NotImplemented

    def __radd__(self, other: object) -> Analysis:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # so that sum([...]) works

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
        """Which parameters decide whether a row of the region is in the target, and how certain that is.

        Parameters
        ----------
        target
            The rows to reach: a quantile (0.1 = the best 10 %), `at_most`, `at_least`, `between`, a
            boolean column or mask, a box such as ``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}}``, or a condition
            such as ``"epochs >= 10"``. It must lie inside the region; a quantile is taken within a region that is
            a mask, a box or a condition.
        region
            The rows to compare with, given in the same ways as `target`; all rows by default.
        baseline
            ``"region"``: the target against the rows of the region, right for adaptive samplers too.
            ``"uniform"``: against a uniform draw from the space.
        smoothing
            ``"auto"``, ``"none"``, or a bandwidth in cells.
        estimator
            ``"counts"``: the rows alone. ``"surrogate"``: a model of the objective, for few rows. ``"auto"``: the
            model for 40 to 5,000 rows if it predicts held-out rows; the notes say which was used, and why.
        draws
            Random draws behind p-values and intervals; 0 for none of them.
        seed
            Of the draws: the same seed gives the same numbers.
        of
            What quantiles are parts of after an adaptive sampler: ``"space"``, as a model sees it, or ``"rows"``, the
            best of the trials, which counts answer. Where rows were drawn evenly, both are the same.
        force
            Answer from fewer than 5 target rows too, although such an answer means almost nothing. Otherwise a best
            part of all rows that holds fewer is widened to the strictest that can be answered, and a note says so.

        Returns
        -------
        Importances
            Rows by parameter, the most important first: ``result["lr"].share``, ``.low``, ``.high``, ``.p_value``.

        Raises
        ------
        QueryError
            The target or the region is out of range, or the target is not inside the region.
        TooFewRowsError
            The target holds fewer than 5 rows, and `force` was not given.
        LevelsError
            The analysis was loaded or added, and needs rows or thresholds that it does not keep.

        Examples
        --------
        >>> result = a.importance()
        >>> list(result)[:3]
        ['learning_rate', 'units', 'epochs']
        >>> result["learning_rate"].significant, result["lucky_number"].significant
        (True, False)
        >>> next(iter(a.importance(target=0.1, region=0.3)))  # once inside the best 30 %
        'units'
        """
        question = Question(target, region, baseline, smoothing, estimator, draws, seed, of, force)
        return ask.importance_or_wider(self.data, question)

    def profile(
        self, region: object = DEFAULT.region, *, ladder: Iterable[object] | None = None, **how: Unpack[How]
    ) -> Profile:
        """Every parameter's importance for one target after the other: what `importance` says of each.

        Parameters
        ----------
        region, how
            As in `importance`; by default there are no `draws`, and targets of few rows are answered too.
        ladder
            The targets, as quantiles; None for all that were counted.

        Returns
        -------
        Profile
            Ratios of every parameter by target; ``.to_pandas()`` for a table.

        Examples
        --------
        >>> strict, wide = (row for _, row in a.profile(ladder=[0.05, 0.2]).of("learning_rate"))
        >>> strict.share < wide.share
        True
        """
        question = Question(DEFAULT.target, region, **check_how({"draws": 0, "force": True} | how))
        return ask.profile_of(self.data, question, ladder)

    @overload
    def densities(
        self, name: str, target: object = ..., region: object = ..., **how: Unpack[DensityHow]
    ) -> Densities: ...
    @overload
    def densities(
        self, name: None = ..., target: object = ..., region: object = ..., **how: Unpack[DensityHow]
    ) -> dict[str, Densities]: ...
    def densities(
        self,
        name: str | None = None,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        **how: Unpack[DensityHow],
    ) -> Densities | dict[str, Densities]:
        """How a parameter is spread in the target, in the region and over the space; without a name, all of them.

        Parameters
        ----------
        name
            A parameter; None for a dict with all of them.
        target, region, how
            As in `importance`; of the options `smoothing`, `estimator`, `seed` and `of`.

        Returns
        -------
        Densities or dict of str to Densities
            Parts by cell, and ``.good()``: where the good values lie.

        Examples
        --------
        >>> [good.words for good in a.densities("solver").good()]
        ['adam']
        >>> list(a.densities())[:3]
        ['learning_rate', 'alpha', 'units']
        """
        if name is not None:
            ask.check_names([name], self.space)
        options = check_how(how, what="densities", names=tuple(DensityHow.__annotations__))
        densities = ask.densities_of_all(self.data, replace(Question(target, region, **options), force=True))
        return densities if name is None else densities[name]

    def effects(
        self, region: object = DEFAULT.region, *, clip: object = None, smoothing: Smoothing = DEFAULT.smoothing
    ) -> Effects:
        """How much of the objective's own variance each parameter explains inside the region.

        Parameters
        ----------
        region
            As in `importance`.
        clip
            A quantile, or `at_most` (`at_least` where larger is better): objectives worse than this limit count as
            the limit, so that a few extreme values do not dominate. A quantile refers to the rows of the region.
        smoothing
            ``"auto"``, ``"none"``, or a bandwidth in cells.

        Returns
        -------
        Effects
            Rows by parameter, the largest first: ``e["lr"].share``; ``e.marginal("lr")`` is the mean objective along
            its values, with 95 % intervals.

        Examples
        --------
        >>> import pedanova as pa
        >>> effects = pa.analyze(pa.demo_trials(), "error").effects(region=0.5)
        >>> next(iter(effects))
        'learning_rate'
        >>> solver = effects.marginal("solver")
        >>> [(cell, round(mean, 2)) for cell, mean in zip(solver.cells, solver.mean.tolist())]
        [('adam', 0.17), ('sgd', 0.19)]
        """
        return ask.effects_within(self.data, region, clip, smoothing)

    def interactions(
        self,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        order: int = 2,
        cells: object = "auto",
        corrected: bool = True,
        params: Iterable[str] | None = None,
        estimator: str = DEFAULT.estimator,
        seed: int = DEFAULT.seed,
        of: str = DEFAULT.of,
    ) -> Interactions:
        """What every two parameters explain together about being in the target, beyond the sum of both.

        Parameters
        ----------
        target, region, estimator, seed, of
            As in `importance`; p-values come from the rows, which must be available.
        order
            2 for pairs; 3 to 5 for sets of so many, beyond all that their smaller sets explain. With many parameters,
            those of the strongest pairs are used: 12 for triples.
        cells
            Cells of each parameter, about equal in rows: ``"auto"`` is 8, or 4 for few target rows.
        corrected
            Whether to subtract what chance would explain.
        params
            The parameters to pair; None for all.

        Returns
        -------
        Interactions
            Rows by pair, the strongest first: ``pairs["lr", "depth"].interaction``.

        Examples
        --------
        >>> next(iter(a.interactions(params=["learning_rate", "units", "epochs"])))
        ('learning_rate', 'units')
        """
        question = Question(target, region, estimator=estimator, seed=seed, of=of)
        return ask.interactions_of(self.data, question, order=order, cells=cells, corrected=corrected, params=params)

    def pairs(
        self,
        names: Sequence[str] | None = None,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        cells: object = 8,
    ) -> dict[tuple[str, str], PairDensity]:
        """Rows of target and region on the plane of every two of these parameters, by coarse cells.

        Parameters
        ----------
        names
            Parameters; None for all.
        target, region
            As in `importance`.
        cells
            Cells of each parameter, about equal in rows: a whole number from 2 up.

        Returns
        -------
        dict of pairs of str to PairDensity
            Rows in every cell, and how many times as often the target is there (``lift``), by pairs of names.

        Examples
        --------
        >>> list(a.pairs(["units", "epochs", "alpha"]))
        [('alpha', 'units'), ('alpha', 'epochs'), ('units', 'epochs')]
        >>> a.pairs(["solver", "shuffle"])["solver", "shuffle"].to_dict()["target"]
        [27, 29, 18, 26]
        """
        return ask.pair_planes(self.data, names, Question(target, region), cells)

    def compare(
        self,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        by: Literal["measure", "objective"] = "measure",
        top: int = ask.TOP,
        **how: Unpack[How],
    ) -> Comparison[Any]:
        """PED and f-ANOVA, globally and locally, side by side; or the importances for each of several objectives.

        Parameters
        ----------
        target, region
            As in `importance`. ``by="measure"`` takes a part of all rows: globally, how to reach it; locally, how to
            reach its own best tenth.
        by
            ``"measure"``, or ``"objective"``: each of several objectives alone, next to all together.
        top
            With more parameters than this, the forest uses those that the other measures rank first.
        how
            The other options of `importance`; of measures only `seed`.

        Returns
        -------
        Comparison
            Answers by name, printed as a column each.

        Raises
        ------
        QueryError
            `by` is not "measure" or "objective", or an option cannot be used with it.

        Examples
        --------
        >>> import pedanova as pa
        >>> a = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
        >>> list(a.compare(by="objective", draws=0, estimator="counts"))
        ['together', 'error', 'train_seconds']
        """
        return ask.compare(self.data, by, target, region, top, **check_how(how))

    def along(
        self,
        budget: str | None = None,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        at: Sequence[float] | None = None,
        among: str = "all",
        **how: Unpack[How],
    ) -> Along:
        """The importances at each budget, and from which on their ranking is that of the full one: docs/along.md.

        Parameters
        ----------
        budget
            A column of numbers, where every configuration has a row for each budget; ``"step"`` for the intermediate
            values of a log (Optuna's reports, Ray Tune, Lightning …). None for what the source tells.
        target, region
            Parts of the rows, the same at each budget: quantiles of its own rows.
        at
            Budgets to use; None for all, or for twelve of them if there are very many.
        among
            ``"all"``: every trial counts where it has a value, pruned ones too. ``"full"``: only configurations that
            reached the highest budget.
        how
            The other options of `importance`.

        Returns
        -------
        Along
            The importances by budget, the lowest first; ``.since`` is where the ranking has settled.

        Examples
        --------
        >>> import numpy as np, pedanova as pa
        >>> rng = np.random.default_rng(0)
        >>> x, z, epochs = rng.random(600), rng.random(600), np.tile([1.0, 10.0], 300)
        >>> loss = np.where(epochs == 1, x, z) ** 2
        >>> a = pa.analyze({"x": x, "z": z, "epochs": epochs, "loss": loss}, "loss")
        >>> result = a.along("epochs")
        >>> [next(iter(step.importances)) for step in result], result.since
        (['x', 'z'], None)
        """
        return budgets.along_budgets(self.data, budget, Question(target, region, **check_how(how)), at=at, among=among)

    def seeds(self, target: object = DEFAULT.target, *, exclude: Iterable[str] | None = None) -> Seeds:
        """How much of the result is due to the seed, from configurations that were run several times: docs/seeds.md.

        Parameters
        ----------
        target
            The rows to reach, as in `importance`.
        exclude
            Parameters that do not distinguish configurations, in addition to those named like a seed.

        Returns
        -------
        Seeds
            The seed's part of the variance of the objective and of "in the target?", with 95 % intervals; the rest is
            the most that effects and shares can explain.

        Examples
        --------
        >>> import numpy as np, pedanova as pa
        >>> rng = np.random.default_rng(0)
        >>> x = np.repeat(rng.standard_normal(200), 5)
        >>> result = pa.analyze({"x": x, "loss": x + rng.standard_normal(1000)}, "loss").seeds()
        >>> result["loss"].low < 0.5 < result["loss"].high
        True
        """
        return seeds.seeds_within(self.data, target, exclude)

    def groups(self, column: str) -> Mapping[str, Analysis]:
        """Every study of a table as an analysis of its own, by name; `across` pools what they say.

        Parameters
        ----------
        column
            The column that names the study of each row; it need not be a parameter.

        Returns
        -------
        Mapping of str to Analysis
            Each is counted on first use: quantiles are parts of its own rows.

        Examples
        --------
        >>> import pedanova as pa
        >>> a = pa.analyze(pa.demo_trials(), "error", exclude=["solver"])
        >>> list(a.groups("solver")), len(a.groups("solver")["sgd"])
        (['adam', 'sgd'], 503)
        """
        return across.Groups(across.groups_by(self.data, column), Analysis)

    def within(self, *rows: object, at: Sequence[object] = ()) -> Analysis:
        """The same analysis of some of the rows only; quantiles are then parts of these.

        Parameters
        ----------
        rows
            What `importance` takes as a region: a box, a condition, a mask, a part of the rows. Several may be given:
            only rows that lie in all of them are used.
        at
            Values of the objective, such as ``at_most(0.1)``, that will be used: they are counted at once.

        Returns
        -------
        Analysis
            Of these rows, with levels of its own.

        Examples
        --------
        >>> len(a.within({"learning_rate": (1e-3, 1e-1)}, "solver == 'adam'"))
        198
        """
        inner = self.data.within(*rows, at=at)
        return self if inner is self.data else Analysis(inner)

    def first(self, rows: int) -> Analysis:
        """The same analysis of the first rows only, as if the trials had ended there.

        Parameters
        ----------
        rows
            How many.

        Returns
        -------
        Analysis
            The analysis of the first rows, in table order.

        Examples
        --------
        >>> import pedanova as pa
        >>> len(pa.analyze(pa.demo_trials(), "error").first(100))
        100
        """
        return Analysis(self.data.first(rows))

    def alone(self, objective: str) -> Analysis:
        """The same rows, analysed for one of several objectives.

        Parameters
        ----------
        objective
            Its name.

        Returns
        -------
        Analysis
            For that objective, with its own direction.

        Examples
        --------
        >>> import pedanova as pa
        >>> pa.analyze(pa.demo_trials(), ["error", "train_seconds"]).alone("train_seconds")
        Analysis(1,000 rows, 10 parameters, minimize train_seconds)
        """
        return Analysis(self.data.alone(objective))

    def gains(
        self, default: Mapping[str, object] | None = None, region: object = DEFAULT.region, *, seed: int = DEFAULT.seed
    ) -> Gains:
        """What tuning each parameter gains over a default, in units of the objective: docs/how-to/advice.md.

        Parameters
        ----------
        default
            Values by parameter; parameters that are left out get the median of the trials, or the most frequent
            category. None for the default that the tool's own space has (ConfigSpace, SMAC), else the medians.
        region
            Where to tune, as in `importance`: values lie between those of the rows there.
        seed
            The model's random seed: the same seed gives the same numbers.

        Returns
        -------
        Gains
            By parameter: what tuning it alone gains, what its worst value costs, and what is lost if it stays at its
            default, with 95 % intervals; ``.total``, ``.path``.

        Raises
        ------
        QueryError
            There is no reliable model of the objective, or the default lies outside the space or the region.

        Examples
        --------
        >>> import pedanova as pa
        >>> gains = pa.analyze(pa.demo_trials(), "error").first(200).gains({"learning_rate": 1e-4})
        >>> next(iter(gains)), gains.total.low > 0
        ('learning_rate', True)
        """
        return advice.gains_of(self.data, default, region, Question(seed=seed).seed)

    def next_trials(
        self, n: int = 10, goal: str = "both", *, within: object = None, seed: int = DEFAULT.seed
    ) -> NextTrials:
        """Configurations to run next, each with its reason: docs/how-to/advice.md.

        Parameters
        ----------
        n
            How many.
        goal
            ``"know"``: what makes the ranking surer; ``"win"``: what is likely good; ``"both"``: in turn.
        within
            A box or a condition that they must meet, such as ``"not (solver == 'sgd' and units > 64)"``.
        seed
            The random seed of the model and of the candidates.

        Returns
        -------
        NextTrials
            ``for t in trials: study.enqueue_trial(t.values, user_attrs=t.attributes)``; ``.to_csv()``, ``.to_json()``.

        Raises
        ------
        QueryError
            Fewer configurations than `n` are left, or an option is none of these.

        Examples
        --------
        >>> import pedanova as pa
        >>> a = pa.analyze(pa.demo_trials(), "error").first(200)
        >>> trials = a.next_trials(3, "know", within="units > 64")
        >>> [trial.values["units"] > 64 for trial in trials]
        [True, True, True]
        """
        return advice.next_trials_of(self.data, n, goal, within, Question(seed=seed).seed)

    def needed(
        self, width: float = 0.1, target: object = DEFAULT.target, region: object = DEFAULT.region, **how: Unpack[How]
    ) -> Needed:
        """About how many more trials make the ranking sure, and whether more would hardly change anything.

        Parameters
        ----------
        width
            Of the 95 % intervals of shares that are narrow enough.
        target, region, how
            As in `importance`.

        Returns
        -------
        Needed
            By parameter further trials until its interval is so narrow; ``.apart`` until the first two can be
            distinguished; ``.stop`` says whether to stop.

        Raises
        ------
        QueryError
            `width` is not between 0 and 1, or fewer than two parameters varied.

        Examples
        --------
        >>> import pedanova as pa
        >>> needed = pa.analyze(pa.demo_trials(), "error").first(100).needed(width=0.2)
        >>> needed.pair, needed["learning_rate"].more > needed["lucky_number"].more
        (('learning_rate', 'units'), True)
        """
        return advice.needed_of(self.data, width, Question(target, region, **check_how(how)))

    def brief(self, *, seed: int = DEFAULT.seed) -> briefs.Brief:
        """All findings in at most 300 tokens, each with the call that proves it: for agents and logs.

        Parameters
        ----------
        seed
            Of the model.

        Returns
        -------
        Brief
            Print it, or take ``.to_json()``, which ``.schema()`` describes.

        Examples
        --------
        >>> import pedanova as pa
        >>> brief = pa.analyze(pa.demo_trials(), "error").first(200).brief()
        >>> [line.topic for line in brief.rows]
        ['trials', 'matters', 'where', 'sure', 'gain', 'next', 'beware']
        """
        return briefs.brief_of(self.data, Question(seed=seed).seed)

    def reduce(
        self,
        target: object = DEFAULT.target,
        keep: float = 0.95,
        *,
        widen: bool = False,
        estimator: str = DEFAULT.estimator,
        folds: int = 5,
        seed: int = DEFAULT.seed,
    ) -> ReducedSpace:
        """A smaller search space: what to keep, narrow, fix and widen, with reasons and evidence.

        Parameters
        ----------
        target, estimator, seed
            As in `importance`. Where to cut is decided by the target's best tenth.
        keep
            The part of that best tenth that every narrowed parameter keeps, at least.
        widen
            Whether to move bounds outwards where good values pile up; otherwise the reason only suggests it.
        folds
            Folds of the cross-validation that tests the bounds; 0 for no evidence.

        Returns
        -------
        ReducedSpace
            A verdict for every parameter; its exports write the space for other tools.

        Examples
        --------
        >>> import pedanova as pa
        >>> small = pa.analyze(pa.demo_trials(), "error").reduce(folds=0)
        >>> small["learning_rate"].advice, small["units"].advice
        ('narrow', 'widen')
        """
        question = Question(target, estimator=estimator, seed=seed)
        return reduction.reduce_space(self.data, question, keep, widen=widen, folds=folds)
