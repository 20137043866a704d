"""Studies of every odd kind, filled by Optuna itself."""

from __future__ import annotations

import functools
import math
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import optuna
import sqlalchemy
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import Trial, TrialState, create_trial

KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until the tests end
TRIALS = 20  # each takes a dozen commits; all that `conditional` does happens within thirteen
ODD_NAME = 'ann\'s; DROP TABLE "trials" -- ünï 100% ? {study}'


@sqlalchemy.event.listens_for(sqlalchemy.Engine, "connect")
def without_waiting_for_the_disk(connection: object, _: object) -> None:
    """A trial is a dozen commits, and each would wait."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous=OFF")


def conditional(trial: Trial) -> float:
    """Conditions, a lattice of floats, None among the choices, failures, pruning, infinite values."""
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    depth = trial.suggest_int("depth", 1, 9)
    name = trial.suggest_categorical("name", ["adam", "sgd", None, True, 1.5])
    drop = trial.suggest_float("drop", 0.0, 0.9, step=0.1)
    width = trial.suggest_int("width", 8, 256, log=True)
    momentum = trial.suggest_float("momentum", 0.0, 1.0) if name == "sgd" else 0.0
    trial.set_user_attr("accuracy", 1.0 - rate)
    trial.set_user_attr("machine", {"cores": 2})
    loss = (math.log10(rate) + 3) ** 2 + 0.1 * depth + drop + momentum + 0.001 * width
    for step in (1, 5, 3):
        trial.report(loss / step, step)
    if trial.number % 7 == 3:
        raise optuna.TrialPruned
    if trial.number % 11 == 5:
        raise RuntimeError("diverged")
    if trial.number % 13 == 6:
        return math.inf
    return loss


def fill_conditional(study: optuna.Study, trials: int = TRIALS) -> None:
    study.optimize(conditional, n_trials=trials, catch=(RuntimeError,))


def make(storage: object, name: str, *, constrain: bool = False) -> optuna.Study:
    """A study in a storage, with the same trials in any of them."""
    fresh = isinstance(storage, str) and storage.startswith("sqlite:///") and Path(storage.removeprefix("sqlite:///"))
    if fresh and not fresh.exists():
        shutil.copyfile(template(constrain), fresh)
        with closing(sqlite3.connect(fresh)) as database, database:
            database.execute("UPDATE studies SET study_name = ?", (name,))
        return optuna.load_study(study_name=name, storage=storage)
    study = make_in_memory(name, constrain=constrain)
    if storage is None:
        return study
    optuna.copy_study(from_study_name=name, from_storage=study._storage, to_storage=storage)
    return optuna.load_study(study_name=name, storage=storage)


@functools.cache
def template(constrain: bool) -> Path:
    """A file with the study that `make` makes: Optuna takes seconds to write it, and it is wanted often."""
    folder = tempfile.TemporaryDirectory()
    KEPT.append(folder)
    path = Path(folder.name) / "template.db"
    study = make_in_memory("template", constrain=constrain)
    optuna.copy_study(from_study_name="template", from_storage=study._storage, to_storage=f"sqlite:///{path}")
    return path


def make_in_memory(name: str, *, constrain: bool, seed: int = 0) -> optuna.Study:
    if not constrain:
        study = optuna.create_study(study_name=name, sampler=optuna.samplers.RandomSampler(seed=seed))
        fill_conditional(study)
        return study
    sampler = optuna.samplers.NSGAIISampler(
        seed=seed, constraints_func=lambda trial: (trial.params["x"] + trial.params["y"] - 0.8,)
    )
    study = optuna.create_study(study_name=name, sampler=sampler, directions=["minimize", "maximize"])
    study.set_metric_names(["error", "gain"])
    study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) ** 2 + trial.suggest_float("y", -1, 1),
                                  (trial.params["x"] - 1) ** 2), n_trials=30)  # fmt: skip
    return study


def with_moving_bounds(storage: object) -> optuna.Study:
    """A range that depends on another value, and one that depends on a category."""
    study = optuna.create_study(storage=storage, study_name="moving", direction="maximize",
                                sampler=optuna.samplers.RandomSampler(seed=1))  # fmt: skip

    def objective(trial: Trial) -> float:
        top = trial.suggest_float("top", 1.0, 2.0)
        inner = trial.suggest_float("inner", 0.0, top)
        model = trial.suggest_categorical("model", ["deep", "wide"])
        layers = trial.suggest_int("layers", 1, 12 if model == "deep" else 3)
        return inner / top + 0.01 * layers

    study.optimize(objective, n_trials=30)
    return study


def with_changed_range(storage: object) -> optuna.Study:
    """Somebody widened a range and went on."""
    study = optuna.create_study(storage=storage, study_name="changed")
    for number in range(30):
        high = 1.0 if number < 15 else 2.0
        value = (number * 0.37) % high
        study.add_trial(
            create_trial(
                params={"x": value, "n": number % 4, "c": "ab"[number % 2]},
                distributions={
                    "x": FloatDistribution(0.0, high),
                    "n": IntDistribution(0, 3),
                    "c": CategoricalDistribution(["a", "b"]),
                },
                value=value,
                state=TrialState.COMPLETE,
            )
        )
    return study
