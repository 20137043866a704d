"""Failed trials: which parameters cause failure, and the chance that a configuration succeeds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.objectives import Goal
from pedanova.data.prepare import prepare
from pedanova.data.regions import Region, sign_of
from pedanova.errors import Arg, QueryError
from pedanova.measures.distributions import normal_below
from pedanova.measures.importance import FAILED_TRIALS, Importances
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.objective_model import ObjectiveModel, Settings, model_of
from pedanova.measures.surrogate.row_model import FEWEST_ROWS
from pedanova.measures.surrogate.sampler import configurations_of
from pedanova.space.grid import Reals

FAILED = "failed"  # the target that contains the failed trials
FEWEST = 3  # failed trials, and others, from which the chance of success is estimated
EVERY_FAILED = Region("value", 1.0, None)


def failures_in(data: TrialData, *, same_space: bool = False) -> TrialData | None:
    """The trials with the objective "failed" (1 or 0); None if no trial failed, or if the failed rows are not known.

    A trial failed if its state says so, if it has no objective, or if its objective is infinite (the worst value).
    """
    observed = data.observations
    if observed is None or observed.origin is None or data.levels.several or observed.restricted:
        return None
    request, records = observed.origin.request, observed.origin.records
    request = replace(request, reading=replace(request.reading, failed="worst", nan="worst", infeasible="drop"))
    if same_space:
        request = replace(request, space=data.space, params=None)
    every = prepare(records, request)[0]
    ranked = every.ranked.astype(np.float64)
    failed = np.isnan(ranked) | (sign_of(every.direction) * ranked == np.inf)
    kept = np.ones(len(failed), dtype=bool) if every.keep is None else every.keep
    if min(np.sum(failed & kept), np.sum(kept & ~failed)) < FEWEST:
        return None
    goal = Goal(FAILED, failed.astype(np.float64), "maximize", None)
    return data.like(replace(every, goals=(goal,), order=None, origin=None))


def importance_of_failure(data: TrialData, question: Question) -> Importances:
    """The importances with the failed trials as the target."""
    trials = failures_in(data)
    if trials is None:
        why = f"fewer than {FEWEST} trials failed or succeeded, or the failed trials were not kept"
        raise QueryError(Arg("target", FAILED), f" cannot be answered: {why}")
    query = trials.resolved(replace(question, target=EVERY_FAILED))
    return replace(query, words=(FAILED_TRIALS, query.words[1])).importances


@dataclass(frozen=True, slots=True, eq=False)
class Success:
    """The chance that a trial succeeds, by a Gaussian process of failure."""

    model: ObjectiveModel
    trials: TrialData

    def chance(self, settings: Settings) -> Reals:
        """(configurations,) The probability of success; `settings` are cells, in the order of the space."""
        if not len(settings):
            return np.empty(0)
        process, scores = self.model.process, self.model.curve.scores  # of failure and success
        found = process.jointly(self.model.embed(settings))
        deviation = np.sqrt(found.variance + process.noise * process.scale + 1e-9)
        return np.asarray(normal_below((found.mean - (scores[0] + scores[-1]) / 2.0) / deviation))

    def note(self) -> Note:
        """How many trials failed, and where."""
        failed = int(self.trials.observed().goals[0].values[self.trials.observed().keep].sum())
        found = importance_of(self.trials, Question(EVERY_FAILED, draws=0), good=False)
        ranges = importance_of(self.trials, Question(EVERY_FAILED), good=True).good
        where = [f"{name} {words}" for name, words in ranges.items() if name in list(found)[:2]]
        mostly = f", mostly at {' and '.join(where)}" if where else ""
        return Note("answer", f"{failed:,} of {self.trials.rows:,} trials fail{mostly}", severity="warning")


def success_of(data: TrialData) -> Success | None:
    """The model of success, in the space of the analysis; None if hardly any trial failed."""
    trials = failures_in(data, same_space=True)
    model = None if trials is None else trials.row_model
    if trials is None or model is None or len(model.rows) < FEWEST_ROWS:
        return None
    configurations = configurations_of(model.rows)
    if configurations.arrangement.varying == 0 or list(model.space) != list(data.space):
        return None
    return Success(model_of(configurations, None), trials)
