"""``a.plot``: figures of the results of an analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, Unpack

from pedanova.counting.goal_plane import tradeoff_of
from pedanova.data.history import curves_of, goal_named
from pedanova.errors import QueryError, check_names
from pedanova.measures.advice.advise import gains_of
from pedanova.measures.question import DEFAULT, HOW, How, Question, check_how
from pedanova.measures.questions import ask
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.studies.budgets import along_budgets
from pedanova.reduction.reduce import reduce_space
from pedanova.reduction.result import ReducedSpace
from pedanova.report.figures import draw
from pedanova.report.figures.spread import draw_densities, draw_marginal, draw_verdict
from pedanova.report.figures.trials import draw_curves, draw_history, draw_slice
from pedanova.report.names import nesting_of

SHOWN = 6  # the number of parameters if none is named
Axes = Any
Names: TypeAlias = str | Sequence[str] | None
Rows: TypeAlias = object  # a target or region of `importance`


@dataclass(frozen=True, slots=True)
class Plots:
    """The figures of an analysis. Each method returns the Axes that it drew in, or an array of them.

    Use ``a.plot``. With ``ax=``, a method draws in these Axes, one for each parameter; None makes a new figure. The
    examples of all methods use the analysis `a` of this example.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> a.plot.importance(estimator="counts").figure.savefig  # doctest: +ELLIPSIS
    <bound method Figure.savefig of ...>
    """

    _data: TrialData

    def importance(
        self,
        target: Rows = DEFAULT.target,
        region: Rows = DEFAULT.region,
        *,
        metric: str = "share",
        ax: Axes = None,
        **options: Unpack[How],
    ) -> Axes:
        """Draw the shares (or ratios) of all parameters with their intervals, the largest on top.

        Parameters
        ----------
        target, region, options
            As in `Analysis.importance`.
        metric
            ``"share"`` or ``"ratio"``.

        Examples
        --------
        >>> ax = a.plot.importance(0.1, 0.3, estimator="counts", draws=200)
        >>> [label.get_text() for label in ax.get_yticklabels()][-1] in a.space
        True
        """
        importances = ask.importance_or_wider(self._data, Question(target, region, **options), good=False)
        return draw.draw_importances(importances, ax, metric=metric, nesting=nesting_of(self._data.tallies))

    def densities(
        self, names: Names = None, target: Rows = DEFAULT.target, region: Rows = DEFAULT.region, *, ax: Axes = None
    ) -> Axes:
        """Draw the densities of the target for one parameter, or for several side by side.

        A band shows the range that chance alone would give. Where the target lies outside this band, it is drawn in
        full colour. A parameter without a clear effect is grey and marked with ~.

        Parameters
        ----------
        names
            One parameter, several, or None for the most important.
        target, region
            As in `Analysis.importance`.

        Examples
        --------
        >>> a.plot.densities(["learning_rate", "units"]).size
        2
        """
        asked = replace(self._data.widened(Question(target, region)), force=True)
        densities, ranked = ask.densities_of_all(self._data, asked), ask.importance_of(self._data, asked)

        def paint(name: str, one: Axes, shown: str) -> Axes:
            return draw_densities(densities[name], one, shown, ranked[name])

        return draw.with_legend(draw.panels(self._chosen(names, list(ranked)[:SHOWN]), densities, ax, paint))

    def reduction(
        self,
        target: Rows = DEFAULT.target,
        keep: float = 0.9,
        *,
        names: Names = None,
        reduced: ReducedSpace | None = None,
        ax: Axes = None,
        **options: Any,
    ) -> Axes:
        """Draw the reduced space over the densities: removed values are hatched, and a line marks a single value.

        Parameters
        ----------
        target, keep, options
            As in `Analysis.reduce`.
        names
            One parameter, several, or None for all.
        reduced
            A result of `Analysis.reduce`; without it, `reduce` is called.

        Examples
        --------
        >>> small = a.reduce(estimator="counts")
        >>> a.plot.reduction(reduced=small).size >= len(small)
        True
        """
        if reduced is None:
            how, others = how_and_others(options)
            reduced = reduce_space(self._data, Question(target, **how), keep, **others)
        verdicts, densities = dict(reduced), ask.densities_of_all(self._data, Question(target, force=True))

        def paint(name: str, one: Axes, shown: str) -> Axes:
            return draw_verdict(verdicts[name], densities[name], one, shown)

        return draw.with_legend(draw.panels(self._chosen(names, list(verdicts)), densities, ax, paint))

    def profile(
        self,
        region: Rows = DEFAULT.region,
        *,
        ladder: Iterable[object] | None = None,
        ax: Axes = None,
        **options: Unpack[How],
    ) -> Axes:
        """Draw the ratios at several targets as stacked bands.

        Parameters
        ----------
        region, ladder, options
            As in `Analysis.profile`.

        Examples
        --------
        >>> len(a.plot.profile(ladder=[0.05, 0.1, 0.3], estimator="counts").collections) > 1
        True
        """
        question = Question(region=region, **check_how({"draws": 0, "force": True} | options))
        return draw.draw_profile(ask.profile_of(self._data, question, ladder), ax)

    def along(
        self,
        budget: str | None = None,
        target: Rows = DEFAULT.target,
        *,
        at: Sequence[float] | None = None,
        among: str = "all",
        ax: Axes = None,
        **options: Unpack[How],
    ) -> Axes:
        """Draw the shares at each budget with intervals, and mark the budget from which the ranking stays the same.

        Parameters
        ----------
        budget, target, at, among, options
            As in `Analysis.along`.

        Examples
        --------
        >>> a.plot.along("batch_size", estimator="counts", draws=0).get_xlabel()
        'batch_size'
        """
        question = Question(target, **check_how(options))
        return draw.draw_along(along_budgets(self._data, budget, question, at=at, among=among), ax)

    def interactions(
        self, target: Rows = DEFAULT.target, region: Rows = DEFAULT.region, *, ax: Axes = None, **options: Any
    ) -> Axes:
        """Draw at most 15 of the strongest pairs; pairs without a clear interaction are grey and have a ~.

        Parameters
        ----------
        target, region, options
            As in `Analysis.interactions`.

        Examples
        --------
        >>> ax = a.plot.interactions(params=["learning_rate", "units", "alpha"], estimator="counts")
        >>> len(ax.get_yticklabels())
        3
        """
        how, others = how_and_others(options)
        result: Any = ask.interactions_of(self._data, Question(target, region, **how), **others)
        return draw.draw_interactions(result, ax)

    def pair(
        self,
        first: str,
        second: str,
        target: Rows = DEFAULT.target,
        region: Rows = DEFAULT.region,
        *,
        cells: int = 8,
        ax: Axes = None,
    ) -> Axes:
        """Draw a map of two parameters that shows how frequent the target is in each cell.

        Parameters
        ----------
        first, second, cells
            Two parameters, and the number of cells for each.
        target, region
            As in `Analysis.importance`.

        Examples
        --------
        >>> a.plot.pair("learning_rate", "units").get_xlabel()
        'learning_rate'
        """
        return draw.draw_pair(ask.pair_plane(self._data, (first, second), Question(target, region), cells), ax)

    def effects(
        self,
        names: Names = None,
        region: Rows = DEFAULT.region,
        *,
        clip: object = None,
        smoothing: Smoothing = "auto",
        ax: Axes = None,
    ) -> Axes:
        """Draw the mean objective for each value of a parameter, with its 95 % interval.

        Parameters
        ----------
        names
            One parameter, several, or None for the most important.
        region, clip, smoothing
            As in `Analysis.effects`.

        Examples
        --------
        >>> a.plot.effects(["learning_rate", "units"], region=0.5).size
        2
        """
        effects = ask.effects_within(self._data, region, clip, smoothing)

        def paint(name: str, one: Axes, shown: str) -> Axes:
            return draw_marginal(effects.marginal(name), effects.mean, one, shown)

        return draw.panels(self._chosen(names, list(effects)[:SHOWN]), effects, ax, paint)

    def _chosen(self, names: Names, usual: Sequence[str]) -> Sequence[str]:
        chosen = [names] if isinstance(names, str) else list(names or usual)
        check_names(chosen, self._data.space)
        return chosen

    def objectives(
        self, target: Rows = DEFAULT.target, *, objectives: Sequence[str] | None = None, **options: Unpack[How]
    ) -> Axes:
        """Draw two objectives with their Pareto front, and the shares for each objective and for both together.

        Parameters
        ----------
        target, options
            As in `Analysis.importance`.
        objectives
            The two objectives to draw, if the analysis has more than two.

        Returns
        -------
        array of matplotlib.axes.Axes
            The Axes; the scatter plot is the first.

        Raises
        ------
        QueryError
            The rows are no longer available, or there are not two objectives.

        Examples
        --------
        >>> import pedanova as pa
        >>> a = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
        >>> a.plot.objectives(estimator="counts", draws=0)[0].get_xlabel()
        'error ↓'
        """
        observed = self._data.observations
        if observed is None:
            raise QueryError("the rows are no longer available; keep them with save(…, rows=True)")
        tradeoff = tradeoff_of(observed, target, self._data.levels.nan, objectives)
        return draw.draw_objectives(tradeoff, dict(ask.compare_objectives(self._data, Question(target, **options))))

    def history(self, objective: str | None = None, *, ax: Axes = None) -> Axes:
        """Draw the objective of every trial in the order in which they were run, and the best so far as a line.

        Crosses are failed trials, or trials without an objective; open triangles are pruned trials.

        Parameters
        ----------
        objective
            The objective, if the analysis has several; None for the first.

        Examples
        --------
        >>> a.plot.history().get_xlabel()
        'row'
        """
        return draw_history(ask.history_table(self._data, Question(None), objective=objective), ax)

    def slice(
        self,
        name: str,
        by: str | None = None,
        target: Rows = DEFAULT.target,
        *,
        objective: str | None = None,
        ax: Axes = None,
    ) -> Axes:
        """Draw the objective of every trial against a parameter, coloured by another parameter.

        Parameters
        ----------
        name, by
            `name`: the parameter on the x axis. `by`: the parameter that colours the trials; None for target or not.
        target
            As in `Analysis.importance`.
        objective
            One of several objectives.

        Examples
        --------
        >>> a.plot.slice("learning_rate", by="units").get_xlabel()
        'learning_rate'
        """
        names = [name] if by is None else [name, by]
        found = ask.history_table(self._data, Question(target), objective=objective, params=list(dict.fromkeys(names)))
        return draw_slice(found, self._data.space, names, ax)

    def curves(self, objective: str | None = None, *, ax: Axes = None) -> Axes:
        """Draw the intermediate values of every trial over the steps, if the log has them.

        Parameters
        ----------
        objective
            As in `history`.

        Examples
        --------
        >>> import optuna
        >>> import pedanova as pa
        >>> study, space = optuna.create_study(), {"x": optuna.distributions.FloatDistribution(0, 1)}
        >>> for x in (0.1, 0.5, 0.9):
        ...     steps = {1: 1.0, 2: x}
        ...     trial = optuna.create_trial(params={"x": x}, distributions=space, value=x, intermediate_values=steps)
        ...     study.add_trial(trial)
        >>> pa.analyze(study).plot.curves().get_xlabel()
        'step'
        """
        observed = self._data.observed()
        return draw_curves(curves_of(observed, goal_named(observed, objective)), ax)

    def gains(
        self,
        default: Mapping[str, object] | None = None,
        region: Rows = DEFAULT.region,
        *,
        seed: int = DEFAULT.seed,
        ax: Axes = None,
    ) -> Axes:
        """Draw the gain from tuning each parameter alone, with intervals; a grey bar means that the default is safe.

        Parameters
        ----------
        default, region, seed
            As in `Analysis.gains`.

        Examples
        --------
        >>> a.first(200).plot.gains().get_xlabel()
        'gain in error'
        """
        return draw.draw_gains(gains_of(self._data, default, region, seed), ax)


def how_and_others(options: Mapping[str, Any]) -> tuple[How, dict[str, Any]]:
    """Split options into those of `Analysis.importance` and all others."""
    how = {name: value for name, value in options.items() if name in HOW}
    return check_how(how), {name: value for name, value in options.items() if name not in HOW}
