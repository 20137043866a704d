"""`Analysis`: one method for every question about a table of trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from pedanova.analysis.options import UNKNOWN, Opening
from pedanova.analysis.output import Output
from pedanova.base.lazy import LazyModule
from pedanova.errors import check_names
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances
from pedanova.measures.question import DEFAULT, DensityHow, How, Question, check_how
from pedanova.measures.questions import ask
from pedanova.measures.questions.ask import Comparison, Profile
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.smoothing import Smoothing

if TYPE_CHECKING:  # modules that few questions need are imported inside the methods
    from pedanova.measures.advice import advise as advice
    from pedanova.measures.advice import brief as briefs
    from pedanova.measures.advice.gains import Gains
    from pedanova.measures.advice.needed import Needed
    from pedanova.measures.advice.next_trials import NextTrials
    from pedanova.measures.densities import PairDensity
    from pedanova.measures.effects import Effects
    from pedanova.measures.interactions import Interactions
    from pedanova.measures.questions import failures
    from pedanova.measures.studies import across, budgets, seeds
    from pedanova.measures.studies.budgets import Along
    from pedanova.measures.studies.seeds import Seeds
    from pedanova.reduction import reduce as reduction
    from pedanova.reduction.result import ReducedSpace
else:
    failures = LazyModule("pedanova.measures.questions.failures")
    advice, briefs = LazyModule("pedanova.measures.advice.advise"), LazyModule("pedanova.measures.advice.brief")
    across, seeds = LazyModule("pedanova.measures.studies.across"), LazyModule("pedanova.measures.studies.seeds")
    budgets, reduction = LazyModule("pedanova.measures.studies.budgets"), LazyModule("pedanova.reduction.reduce")


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Output):
    """The analysis of a table of trials, with one method for each question. Create it with `analyze` or `load`.

    ``len(a)`` is the number of rows that are not dropped. ``a + b`` adds the analyses of two parts of a table, with the
    same space and the same `Levels`. In all examples, `a` is the analysis from the example below.

    Attributes
    ----------
    objective, direction
        The name of the objective (several names are joined), and its direction (``"minimize"`` or ``"maximize"``).
    space
        The search space: given by you, read from the log, or guessed from the data.
    notes
        Sentences on what was guessed, dropped or merged; the most important come first.
    plot
        Figures: ``a.plot.importance()``, ``.densities()``, ``.profile()``, ``.pair("lr", "depth")`` …
    data, opening
        The counts. ``data.levels``: ranges of the objective. ``data.tallies``: counts by parameter. ``data.dropped``:
        the number of rows left out. ``data.observations``: the rows, if known. ``opening``: the call as code.

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
    opening: Opening = UNKNOWN

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
        """How well each parameter explains whether a row is in the target, and how certain each number is.

        Parameters
        ----------
        target
            The rows that count as good: a quantile (0.1 = the best 10 %), `at_most`, `at_least` or `between`. It can
            also be a boolean column or mask, a condition such as ``"epochs >= 10"``, or a box such as
            ``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}}``. ``"failed"``: the trials that failed. All target rows
            must be in the region. A quantile refers to all rows, or to a region that is a mask, a box or a condition.
        region
            The rows that the target is compared with, given in the same ways as `target`; by default all rows.
        baseline
            ``"region"``: compare the target with the rows of the region. This is valid for adaptive samplers, too.
            ``"uniform"``: compare the target with a uniform draw from the space.
        smoothing
            ``"auto"``, ``"none"``, or the width of the smoothing kernel in cells.
        estimator
            ``"counts"``: count the rows. ``"surrogate"``: use a model of the objective; this needs fewer rows.
            ``"auto"``: use the model if there are 40 to 20,000 rows and the model predicts held-out rows well; if not,
            count the rows. The notes say which estimator was used, and why. ``"paper"``: the paper's own estimator;
            it has no intervals and no p-values, and allows neither conditions nor missing values.
        draws
            Number of random draws for p-values and intervals; with 0 there are no p-values and no intervals.
        seed
            The seed of the random draws: the same seed gives the same numbers.
        of
            The meaning of a quantile if an adaptive sampler chose the trials. ``"space"``: the best part of the search
            space, as a model estimates it. ``"rows"``: the best trials. For other samplers, both mean the same.
        force
            Whether to answer even if the target has fewer than 5 rows; such an answer is very uncertain. If False, a
            quantile with fewer than 5 rows is replaced by the smallest quantile with enough rows, and a note says so.

        Returns
        -------
        Importances
            Rows by parameter, the most important first: ``result["lr"].share``, ``.low``, ``.high``, ``.p_value``.

        Raises
        ------
        QueryError
            The target or the region is out of range, or the target is not inside the region.
        TooFewRowsError
            The target has fewer than 5 rows, `force` is False, and no wider quantile can be used.
        LevelsError
            The question needs rows or thresholds that are not available after `load` or ``a + b``.

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
        of_failure = isinstance(target, str) and target == "failed"
        return (failures.importance_of_failure if of_failure else ask.importance_or_wider)(self.data, question)

    def profile(
        self, region: object = DEFAULT.region, *, ladder: Iterable[object] | None = None, **how: Unpack[How]
    ) -> Profile:
        """The importance of every parameter for several targets, as `importance` computes it.

        Parameters
        ----------
        region, how
            As in `importance`; by default `draws` is 0, and targets with few rows are included.
        ladder
            The targets, as quantiles; by default all quantiles in the option `levels` of `analyze`.

        Returns
        -------
        Profile
            The ratio of every parameter for every target; ``.to_pandas()`` gives a table.

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
        """How the values of a parameter are distributed in the target, in the region and in the space.

        Parameters
        ----------
        name
            The parameter. If None, the result is a dict of all parameters.
        target, region, how
            As in `importance`; `how` accepts `smoothing`, `estimator`, `seed` and `of`.

        Returns
        -------
        Densities or dict of str to Densities
            The fraction of rows in each cell (a value or a small range). ``.good()`` gives the good values.

        Examples
        --------
        >>> [good.words for good in a.densities("epochs").good()]
        ['21 to 30']
        >>> list(a.densities())[:3]
        ['learning_rate', 'alpha', 'units']
        """
        if name is not None:
            check_names([name], self.space)
        options = check_how(how, what="densities", names=tuple(DensityHow.__annotations__))
        densities = ask.densities_of_all(self.data, Question(target, region, **options))
        return densities if name is None else densities[name]

    def effects(
        self, region: object = DEFAULT.region, *, clip: object = None, smoothing: Smoothing = DEFAULT.smoothing
    ) -> Effects:
        """The fraction of the objective's variance that each parameter explains inside the region (f-ANOVA).

        Parameters
        ----------
        region
            As in `importance`.
        clip
            A limit for the objective: a quantile of the region's rows, or a value such as ``at_most(0.5)``
            (``at_least(0.5)`` if larger is better). Objectives worse than the limit are set to the limit, to reduce the
            influence of a few extreme values.
        smoothing
            ``"auto"``, ``"none"``, or the width of the smoothing kernel in cells.

        Returns
        -------
        Effects
            By parameter: ``e["lr"].share``. ``e.marginal("lr")``: the mean objective in each cell, with 95 % intervals.

        Examples
        --------
        >>> effects = a.effects(region=0.5)
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
        """For every pair of parameters, how much more the two explain together than separately.

        Parameters
        ----------
        target, region, estimator, seed, of
            As in `importance`. P-values are computed from the rows, so the rows must be available.
        order
            The number of parameters in a set: 2 for pairs, at most 5. A larger set is compared with its subsets. If
            there are many parameters, larger sets contain only parameters of the strongest pairs (12 for triples).
        cells
            Number of cells for each parameter, with about the same number of rows in each cell. ``"auto"``: 4 to 64,
            more with more rows; for larger sets 8, or 4 if the target has few rows.
        corrected
            Whether to correct the numbers for chance.
        params
            The parameters to combine; None for all.

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
        """For every pair of parameters, count target rows and region rows in a coarse two-dimensional grid.

        Parameters
        ----------
        names
            Parameters; None for all.
        target, region
            As in `importance`.
        cells
            Number of cells for each parameter (at least 2), with about the same number of rows in each cell.

        Returns
        -------
        dict of pairs of str to PairDensity
            For each pair of names: the number of rows in every cell, and ``lift``. The lift is the proportion of target
            rows in a cell, divided by the proportion of target rows in the region.

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
        by: Literal["measure", "objective", "level"] = "measure",
        top: int = ask.TOP,
        **how: Unpack[How],
    ) -> Comparison[Any]:
        """Compare several measures (PED-ANOVA and f-ANOVA), or the importances for several objectives.

        Parameters
        ----------
        target, region
            As in `importance`. With ``by="measure"`` the target must be a quantile of all rows. The columns ``PED``,
            ``paper`` (the paper's own estimator) and ``f-ANOVA`` use all rows. ``PED local`` compares the best tenth of
            the target with the whole target; ``f-ANOVA local`` uses only target rows. Both show what matters among good
            rows.
        by
            ``"measure"``: compare measures. ``"objective"``: compare each objective, and all objectives together.
            ``"level"``: what matters for the first of two objectives among the rows that are best by the second one.
        top
            How many parameters the random forest uses. It uses the parameters that the other measures rank highest.
        how
            The other options of `importance`; with ``by="measure"`` only `seed` is allowed.

        Returns
        -------
        Comparison
            One result for each measure or objective, by name; each result is printed as one column.

        Raises
        ------
        QueryError
            `by` is not "measure" or "objective", or an option cannot be used with this `by`.

        Examples
        --------
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
        """The importances at each budget, and the budget from which the ranking no longer changes (docs/along.md).

        Parameters
        ----------
        budget
            The column of budgets, if every configuration has a row for each budget. ``"step"``: the intermediate values
            of a log (Optuna's reports, Ray Tune, Lightning …). None: the budgets that the log records.
        target, region
            Quantiles of the rows at each budget; values of the objective cannot be used.
        at
            The budgets to use. By default, all budgets are used, but at most about twelve.
        among
            ``"all"``: at each budget, all trials that have a value, including pruned ones. ``"full"``: only
            configurations that reached the highest budget.
        how
            The other options of `importance`.

        Returns
        -------
        Along
            The importances by budget, the lowest first. From the budget ``.since`` on, the ranking stays the same.

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
        """How much of the result is due to the random seed, estimated from configurations that were run several times
        (docs/seeds.md).

        Parameters
        ----------
        target
            The rows that count as good, as in `importance`.
        exclude
            Columns that are not part of a configuration. Columns with names such as ``seed`` are always excluded.

        Returns
        -------
        Seeds
            The fraction of the variance that is due to the seed, with 95 % intervals: one row for each objective,
            and one row for being in the target. Parameters can explain at most the part that is not due to the seed.

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
        """Make a separate analysis for each study in the table; `across` pools the results of several studies.

        Parameters
        ----------
        column
            The column that names the study of each row; it need not be a parameter.

        Returns
        -------
        Mapping of str to Analysis
            The analysis of each study, computed at its first use. Quantiles refer to the rows of the study.

        Examples
        --------
        >>> import pedanova as pa
        >>> a = pa.analyze(pa.demo_trials(), "error", exclude=["solver"])
        >>> list(a.groups("solver")), len(a.groups("solver")["sgd"])
        (['adam', 'sgd'], 503)
        """
        return across.groups_by(self.data, column).of(Analysis)

    def within(self, *rows: object, at: Sequence[object] = ()) -> Analysis:
        """Analyse only some of the rows; quantiles then refer to these rows.

        Parameters
        ----------
        rows
            Boxes, conditions, masks or quantiles, as for `region` in `importance`; a row must meet all of them.
        at
            Thresholds of the objective that later questions will use, such as ``at_most(0.1)``; this saves time later.

        Returns
        -------
        Analysis
            The analysis of these rows.

        Examples
        --------
        >>> len(a.within({"learning_rate": (1e-3, 1e-1)}, "solver == 'adam'"))
        198
        """
        inner = self.data.within(*rows, at=at)
        return self if inner is self.data else Analysis(inner, self.opening.within(rows))

    def first(self, rows: int) -> Analysis:
        """Analyse only the first rows, as if the search had ended after them.

        Parameters
        ----------
        rows
            The number of rows.

        Returns
        -------
        Analysis
            The analysis of the first rows, in table order.

        Examples
        --------
        >>> len(a.first(100))
        100
        """
        return Analysis(self.data.first(rows))

    def alone(self, objective: str) -> Analysis:
        """Analyse the same rows for only one of the objectives.

        Parameters
        ----------
        objective
            The name of the objective.

        Returns
        -------
        Analysis
            The analysis for this objective, with its own direction.

        Examples
        --------
        >>> import pedanova as pa
        >>> pa.analyze(pa.demo_trials(), ["error", "train_seconds"]).alone("train_seconds")
        Analysis(1,000 rows, 10 parameters, minimise train_seconds)
        """
        return Analysis(self.data.alone(objective))

    def gains(
        self,
        default: Mapping[str, object] | None = None,
        region: object = DEFAULT.region,
        *,
        limit: Mapping[str, float] | None = None,
        seed: int = DEFAULT.seed,
    ) -> Gains:
        """How much is gained by tuning a parameter instead of leaving it at its default (docs/how-to/advice.md).

        Parameters
        ----------
        default
            Default values by parameter; the best trial has all others. None: those of the space, or that trial.
        region
            The rows to use, as in `importance`; tuned values stay inside the range of these rows.
        limit
            With several objectives: the worst allowed value of all but one, such as ``{"latency": 12}``.
        seed
            The model's random seed: the same seed gives the same numbers.

        Returns
        -------
        Gains
            By parameter, with 95 % intervals: the gain from tuning only it, the loss at its worst value, and the loss
            from leaving only it at its default. ``.total``: tuning all. ``.path``: from default to best, in steps.

        Raises
        ------
        QueryError
            There is no reliable model of the objective, or the default lies outside the space or the region.

        Examples
        --------
        >>> gains = a.first(200).gains({"learning_rate": 1e-4})
        >>> next(iter(gains)), gains.total.low > 0
        ('learning_rate', True)
        """
        return advice.gains_of(self.data, default, region, Question(seed=seed).seed, limit)

    def next_trials(
        self, number: int = 10, goal: str = "both", *, within: object = None, seed: int = DEFAULT.seed
    ) -> NextTrials:
        """Configurations to run next, each with its reason (docs/how-to/advice.md).

        Parameters
        ----------
        number
            How many trials to propose.
        goal
            ``"know"``: make the ranking more certain; ``"win"``: find good trials; ``"both"``: alternate.
        within
            A box or a condition that the proposed trials must meet, such as ``"not (solver == 'sgd' and units > 64)"``.
        seed
            The random seed of the model and of the candidates.

        Returns
        -------
        NextTrials
            To queue them in Optuna: ``for t in trials: study.enqueue_trial(t.values, user_attrs=t.attributes)``.

        Raises
        ------
        QueryError
            Fewer than `number` configurations are left to run, or an option has an unknown value.

        Examples
        --------
        >>> a = pa.analyze(pa.demo_trials(), "error").first(200)
        >>> trials = a.next_trials(3, "know", within="units > 64")
        >>> [trial.values["units"] > 64 for trial in trials]
        [True, True, True]
        """
        return advice.next_trials_of(self.data, number, goal, within, Question(seed=seed).seed)

    def needed(
        self, width: float = 0.1, target: object = DEFAULT.target, region: object = DEFAULT.region, **how: Unpack[How]
    ) -> Needed:
        """How many more trials are needed for a reliable ranking, and whether more trials would change the ranking.

        Parameters
        ----------
        width
            The 95 % interval of a share is narrow enough if it is at most this wide.
        target, region, how
            As in `importance`.

        Returns
        -------
        Needed
            By parameter, the number of further trials until its interval is narrow enough. ``.apart``: until the first
            two parameters can be distinguished. ``.stop``: whether to stop the search.

        Raises
        ------
        QueryError
            `width` is not between 0 and 1, or fewer than two parameters varied.

        Examples
        --------
        >>> needed = a.first(100).needed(width=0.2)
        >>> needed.pair, needed["learning_rate"].more > needed["lucky_number"].more
        (('learning_rate', 'units'), True)
        """
        return advice.needed_of(self.data, width, Question(target, region, **check_how(how)))

    def brief(self, *, seed: int = DEFAULT.seed) -> briefs.Brief:
        """The advice in a few lines: the best trial, what may improve, what to run next, what fails, what matters.

        Parameters
        ----------
        seed
            The model's random seed.

        Returns
        -------
        Brief
            Print it, or use ``.to_json()``; ``.schema()`` describes the JSON.

        Examples
        --------
        >>> brief = a.first(200).brief()
        >>> [line.topic for line in brief.rows]
        ['trials', 'best', 'expect', 'next', 'fails', 'stay', 'matters', 'where', 'ranking']
        """
        return briefs.brief_of(self.data, Question(seed=seed).seed)

    def reduce(
        self,
        target: object = DEFAULT.target,
        keep: float = 0.9,
        *,
        widen: bool = False,
        estimator: str = DEFAULT.estimator,
        seed: int = DEFAULT.seed,
    ) -> ReducedSpace:
        """A smaller search space: the smallest box that keeps most of the best points, with reasons.

        Parameters
        ----------
        target, estimator, seed
            As in `importance`. The best points are the best tenth of the target (the best 1 % of the space) in each
            posterior sample. Without a model, they are at least 50 rows.
        keep
            The part of the best points that stays inside all bounds together.
        widen
            Whether to move a bound outwards if good values are most frequent next to it.

        Returns
        -------
        ReducedSpace
            A verdict for every parameter; ``.to()`` and ``.export()`` convert the space for other tools.

        Examples
        --------
        >>> small = a.reduce()
        >>> small["learning_rate"].advice, small["units"].advice
        ('narrow', 'widen')
        """
        question = Question(target, estimator=estimator, seed=seed)
        return reduction.reduce_space(self.data, question, keep, widen=widen)
