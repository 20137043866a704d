"""An importance evaluator for Optuna; Optuna's plots and `get_param_importances` can use it.

Examples
--------
>>> import optuna
>>> from pedanova.integrations.optuna import PedAnovaEvaluator
>>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
>>> study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + 0 * trial.suggest_float("y", 0, 1), 50)
>>> list(optuna.importance.get_param_importances(study, evaluator=PedAnovaEvaluator()))
['x', 'y']
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pedanova.analysis.analyze import analyze
from pedanova.data.regions import LEAST_TARGET, Region
from pedanova.errors import PedanovaError, TooFewRowsError, missing_library
from pedanova.measures.question import DEFAULT, Question
from pedanova.measures.questions.ask import importance_or_wider
from pedanova.sources.optuna.study_log import as_records, log_of_study

try:
    from optuna.importance import BaseImportanceEvaluator
    from optuna.trial import TrialState
except ImportError as error:
    raise missing_library("the evaluator needs Optuna", "optuna") from error

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial


class PedAnovaEvaluator(BaseImportanceEvaluator):  # type: ignore[misc, unused-ignore]
    """An importance evaluator that computes pedanova's importances for Optuna's functions and plots.

    Each importance is a share from 0 to 1: how well the parameter alone explains whether a trial is in the target.
    Only completed trials are used; if there are constraints, only feasible ones. Infinite values are ordered like
    numbers, so a run that diverged is a bad trial. Conditional parameters are included, except with the paper's
    estimator. If `analyze` could not answer, because there are too few trials or all have the same value, all
    importances are 0, and a warning says why.

    Parameters
    ----------
    target, region
        Quantiles of the objective (0.1 is the best tenth), or regions such as ``pa.at_most(0.05)``.
    baseline
        ``"region"`` or ``"uniform"``, as in `Analysis.importance`.
    estimator
        ``"auto"``, ``"counts"``, ``"surrogate"`` or ``"paper"``, as in `Analysis.importance`.
    seed
        The random seed; the same study and seed give the same answer.

    Examples
    --------
    >>> import optuna
    >>> from pedanova.integrations.optuna import PedAnovaEvaluator
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(lambda t: t.suggest_float("x", -1, 1) ** 2 + 0 * t.suggest_float("y", 0, 1), n_trials=60)
    >>> list(optuna.importance.get_param_importances(study, evaluator=PedAnovaEvaluator(target=0.2)))
    ['x', 'y']
    """

    def __init__(
        self,
        *,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        baseline: str = DEFAULT.baseline,
        estimator: str = DEFAULT.estimator,
        seed: int = DEFAULT.seed,
    ) -> None:
        Region.parse(target, "target")
        Region.parse(region, "region")
        self._question = Question(target, region, baseline, estimator=estimator, draws=0, seed=seed)

    def evaluate(
        self, study: Study, params: list[str] | None = None, *, target: Callable[[FrozenTrial], float] | None = None
    ) -> dict[str, float]:
        """The shares by parameter, the largest first.

        Parameters
        ----------
        study
            The Optuna study.
        params
            The names of the parameters; None for all.
        target
            As in Optuna: a function that returns the value of a trial; None for the objective.

        Returns
        -------
        dict of str to float
            The share of each parameter; negative shares are set to 0.
        """
        trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        names = check_params(params, trials)
        if not names:
            return {}
        goals, directions = goals_of(study, trials, target)
        usable = ~np.isnan(goals).any(axis=1)
        kept = [trial for trial, ok in zip(trials, usable, strict=True) if ok]
        zeros = dict.fromkeys(names, 0.0)
        try:
            check_enough(len(kept))
            shares = self._shares(log_of_study(study, kept), goals[usable], directions, names)
        except PedanovaError as error:
            warnings.warn(f"importances cannot be computed: {error}", stacklevel=2)
            return zeros
        return dict(sorted((zeros | shares).items(), key=lambda pair: -pair[1]))

    def _shares(self, log: Any, goals: Any, directions: tuple[str, ...], names: list[str]) -> dict[str, float]:
        log = replace(log, values=goals, directions=directions, metrics=(), reports={})
        chosen = log.settings.keys() & set(names)
        records = as_records(log)
        metadata = replace(records.metadata, params=tuple(name for name in records.metadata.params if name in chosen))
        result = importance_or_wider(analyze(replace(records, metadata=metadata)).data, self._question)
        return {name: max(0.0, float(result[name].share)) for name in result}


def check_enough(trials: int) -> None:
    """Raise an error if `analyze` could answer no question about so few trials."""
    if trials <= LEAST_TARGET:
        few = f"{trials} completed trials are too few, and more than {LEAST_TARGET} are needed"
        raise TooFewRowsError(f"{few}; run more trials")


def check_params(params: object, trials: list[FrozenTrial]) -> list[str]:
    """The names in `params`, or all parameters of the trials if `params` is None; unknown names raise an error."""
    present = list(dict.fromkeys(name for trial in trials for name in trial.distributions))
    if params is None:
        return present
    if not isinstance(params, list | tuple) or not all(isinstance(name, str) for name in params):
        raise TypeError(f"params={params!r} must be a list of names")
    strangers = [name for name in params if name not in present]
    if strangers:
        raise ValueError(f"no completed trial has a parameter called {strangers[0]!r}; the parameters are: {present}")
    return list(params)


def goals_of(
    study: Study, trials: list[FrozenTrial], target: Callable[[FrozenTrial], float] | None
) -> tuple[Any, tuple[str, ...]]:
    """The values to explain, as an array (trials, objectives), and the direction of each objective.

    If `target` returns one of the objectives, that objective's direction is used; otherwise lower is better.
    """
    directions = tuple(direction.name.lower() for direction in study.directions)
    values = np.array([trial.values for trial in trials], dtype=np.float64).reshape(len(trials), -1)
    if target is None:
        return values, directions
    chosen = np.array([target(trial) for trial in trials], dtype=np.float64).reshape(-1, 1)
    for i, direction in enumerate(directions):
        if np.array_equal(values[:, i], chosen[:, 0], equal_nan=True):
            return chosen, (direction,)
    return chosen, ("minimize",)
