"""Failed trials: which parameters cause failure, and the chance that a configuration succeeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pedanova.base.notes import Note
from pedanova.base.threads import RESULTS
from pedanova.counting.few_rows import MANY_ROWS
from pedanova.data.column import Mask
from pedanova.data.regions import LEAST_TARGET, Region
from pedanova.errors import Arg, QueryError, TooFewRowsError
from pedanova.measures.distributions import normal_below
from pedanova.measures.importance import FAILED_TRIALS, Importances
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import FAILED, FEWEST_FAILED, TrialData
from pedanova.measures.surrogate.objective_model import ObjectiveModel, Settings, model_of
from pedanova.measures.surrogate.row_model import FEWEST_ROWS
from pedanova.measures.surrogate.sampler import configurations_of
from pedanova.space.grid import Reals

MOST_NAMED = 2  # parameters that a note names
EVEN_CHANCE = 0.5  # a configuration with a lower chance of success counts as a failure
EVERY_FAILED = Region("value", 1.0, None)


def importance_of_failure(data: TrialData, question: Question) -> Importances:
    """The importances with the failed trials as the target."""
    trials = data.failing()
    if trials is None:
        why = f"fewer than {FEWEST_FAILED} trials failed or succeeded, or the failed trials were not kept"
        raise QueryError(Arg("target", FAILED), f" cannot be answered: {why}")
    failed = count_failed(trials)
    if failed < LEAST_TARGET and not question.force:
        few = f"only {failed} trials failed, and at least {LEAST_TARGET} are needed to say anything; run more trials, "
        raise TooFewRowsError(few, "or pass ", Arg("force", True))
    query = trials.resolved(replace(question, target=EVERY_FAILED))
    return replace(query, words=(FAILED_TRIALS, query.words[1])).importances


@dataclass(frozen=True, slots=True, eq=False)
class Success:
    """The chance that a trial succeeds, by a Gaussian process of failure."""

    model: ObjectiveModel

    def chance(self, settings: Settings) -> Reals:
        """(configurations,) The probability of success; `settings` are cells, in the order of the space."""
        if not len(settings):
            return np.empty(0)
        process, scores = self.model.process, self.model.curve.scores  # of failure and success
        found = process.jointly(self.model.embed(settings))
        deviation = np.sqrt(found.variance + process.noise * process.scale + 1e-9)
        return np.asarray(normal_below((found.mean - (scores[0] + scores[-1]) / 2.0) / deviation))

    def drawn_fails(self, settings: Settings, draws: int) -> Mask:
        """(draws, configurations) Which configurations fail in posterior samples: the border is not known exactly."""
        scores = self.model.curve.scores
        pairs = 2 * math.ceil(draws / 2)
        drawn = self.model.process.draw(self.model.configured(settings), pairs, np.random.default_rng(0xFA1))[:draws]
        return np.asarray(drawn < (scores[0] + scores[-1]) / 2.0)


@dataclass(frozen=True, slots=True)
class Failures:
    """How many trials failed, and the values at which failed trials are clearly more frequent."""

    failed: int
    trials: int
    where: Mapping[str, str]  # parameter -> values in words, the most important parameter first

    def __str__(self) -> str:
        mostly = " and ".join(f"{name} {words}" for name, words in [*self.where.items()][:MOST_NAMED])
        return f"{self.failed:,} of {self.trials:,} trials fail" + (f", mostly at {mostly}" if mostly else "")


def failures_of(data: TrialData) -> Failures | None:
    """How many trials failed, and where; None if hardly any trial failed, or if the failed rows are not known."""
    trials = data.failing()
    if trials is None:
        return None
    failed = count_failed(trials)
    enough = min(failed, trials.rows - failed) >= LEAST_TARGET
    good = importance_of(trials, Question(EVERY_FAILED), good=True).good if enough else {}
    return Failures(failed, trials.rows, {name: words for name, words in good.items() if words})


def count_failed(trials: TrialData) -> int:
    observed = trials.observed()
    return int(observed.goals[0].values[observed.keep].sum())


def failure_notes(data: TrialData) -> list[Note]:
    failures = failures_of(data)
    return [] if failures is None else [Note("answer", str(failures), severity="warning")]


def success_of(data: TrialData) -> Success | None:
    """The model of success, in the space of the analysis; None if hardly any trial failed."""
    return RESULTS.get(data, ("success",), partial(success_model, data))


def success_model(data: TrialData) -> Success | None:
    trials = data.failing(same_space=True)
    model = None if trials is None else trials.row_draw if trials.rows > MANY_ROWS else trials.row_model
    if model is None or len(model.rows) < FEWEST_ROWS:
        return None
    configurations = configurations_of(model.rows)
    if configurations.arrangement.varying == 0 or list(model.space) != list(data.space):
        return None
    return Success(model_of(configurations, None))
