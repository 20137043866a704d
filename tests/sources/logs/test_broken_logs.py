"""Logs that are odd, not wrong: each of these once gave another answer than the study itself."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, create_trial

import pedanova as pa
from helpers.common import COUNTS, refuse
from helpers.logs import cells, write
from pedanova.cli.program import main
from pedanova.errors import DataError, FormatError, PedanovaError, QueryError, SpaceError
from pedanova.integrations.optuna import PedAnovaEvaluator
from pedanova.sources import databases, read_records

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def run(objective: Callable[[Trial], float], trials: int = 60, **options: object) -> optuna.Study:
    study = optuna.create_study(**({"sampler": RandomSampler(seed=0)} | options))  # type: ignore[arg-type]
    study.optimize(objective, n_trials=trials, catch=(ValueError,))
    return study


def total(trial: Trial) -> float:
    return trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1)


# ── Optuna ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [np.float32, np.float64, lambda x: np.array(x, dtype=np.float32)])
def test_constraints_of_numpy_are_constraints(kind: Callable[[float], object]) -> None:
    """A study in memory keeps them as the user's function gave them."""
    sampler = TPESampler(seed=0, constraints_func=lambda trial: (kind(trial.params["x"] - 0.5),))  # type: ignore[arg-type,return-value]
    study = run(total, sampler=sampler)
    allowed = sum(float(trial.system_attrs["constraints"][0]) <= 0 for trial in study.trials)
    assert len(pa.analyze(study)) == allowed < len(study.trials)


def test_an_array_of_constraints_is_a_list_of_them() -> None:
    study = run(total, sampler=TPESampler(seed=0, constraints_func=lambda t: np.array([t.params["x"] - 0.5])))
    assert len(pa.analyze(study)) < len(study.trials)


def test_attributes_of_numpy_are_numbers() -> None:
    def objective(trial: Trial) -> float:
        trial.set_user_attr("accuracy", np.float32(0.5) * trial.number)
        trial.set_user_attr("curve", np.zeros(3))
        return total(trial)

    records = read_records(run(objective))
    assert cells(records, "user_attrs_accuracy")[:3] == [0.0, 0.5, 1.0]
    assert "user_attrs_curve" not in records.columns


@pytest.mark.parametrize("first", [IntDistribution(0, 9), FloatDistribution(0, 9)])
def test_whole_numbers_beside_others_are_numbers(first: IntDistribution | FloatDistribution) -> None:
    study = optuna.create_study()
    for number in range(60):
        law = first if number < 30 else FloatDistribution(0, 9)
        value = number % 10 if isinstance(law, IntDistribution) else (number * 0.37) % 9
        study.add_trial(create_trial(params={"x": value}, distributions={"x": law}, value=value))
    a = pa.analyze(study)
    assert a.space["x"] == pa.Float(0.0, 9.0)
    assert not any("outside" in note for note in a.notes)


def test_numbers_beside_categories_stay_apart() -> None:
    study = optuna.create_study()
    laws = [CategoricalDistribution(["off", "on"]), IntDistribution(0, 10**7), FloatDistribution(0, 1)]
    for value, law in [("off", laws[0]), (1_000_001, laws[1]), (1_000_002, laws[1]), (0.1234567, laws[2])]:
        study.add_trial(create_trial(params={"x": value}, distributions={"x": law}, value=0.0))
    assert cells(read_records(study), "x") == ["off", "1000001", "1000002", "0.1234567"]


def test_values_enqueued_off_a_lattice_are_not_moved_onto_it() -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    for value in (7.0, -3.0, 0.55, 0.3):
        study.enqueue_trial({"x": value})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1, step=0.1), n_trials=60)
    assert cells(read_records(study), "x")[:4] == [7.0, -3.0, 0.55, 0.3]
    assert "x: 3 of 60 rows lie outside the space and are kept in a separate bin" in pa.analyze(study).notes


def test_a_lattice_far_from_zero() -> None:
    study = run(lambda trial: trial.suggest_float("x", 1e12, 1e12 + 1, step=0.1) - 1e12)
    a = pa.analyze(study)
    assert len(a.space["x"].values) == 11  # type: ignore[union-attr]
    assert not any("outside" in note for note in a.notes)


def test_one_setting_that_cannot_be_counted_does_not_hide_the_others() -> None:
    """Two thousand choices, bounds with no float between them, steps that no float can make."""

    def objective(trial: Trial) -> float:
        trial.suggest_float("close", 1, 1 + 1e-15)
        trial.suggest_float("steps", 1e16, 1e16 + 10, step=0.5)
        return trial.suggest_categorical("file", list(range(2000))) / 1e9 + total(trial)

    study = run(objective)
    a = pa.analyze(study)
    assert list(a.space) == ["x", "y"]
    assert any(note.startswith("file: 2000 values") and note.endswith("left out") for note in a.notes)
    assert list(pa.analyze(study, exclude=["file"]).space) == ["x", "y"]
    assert set(PedAnovaEvaluator().evaluate(study)) == {"x", "y", "file", "close", "steps"}
    assert PedAnovaEvaluator().evaluate(study, params=["file"]) == {"file": 0.0}
    refuse(SpaceError, "file: 2000 values", of=lambda: pa.analyze(study, params=["file"]))


def test_a_setting_can_be_the_objective() -> None:
    study = run(total)
    assert list(pa.analyze(study, "x").space) == ["y"]
    assert list(pa.analyze(study, ["x", "value"]).space) == ["y"]


def test_what_optuna_refused_is_not_in_the_study(tmp_path: Path) -> None:
    """A journal keeps the operation all the same: other choices, another kind of number."""
    file = tmp_path / "journal.log"
    storage = JournalStorage(JournalFileBackend(str(file)))

    def choose(trial: Trial) -> float:
        return len(trial.suggest_categorical("c", ["a", "bb"])) + total(trial)

    study = run(choose, storage=storage, study_name="s")
    for mistake in (
        lambda trial: len(trial.suggest_categorical("c", ["a", "bb", "ccc"])),
        lambda trial: trial.suggest_int("x", 0, 9),
        lambda trial: trial.suggest_float("y", 0.1, 1, log=True),
        lambda trial: trial.suggest_float("y", 0, 1) and math.nan,
    ):
        study.optimize(mistake, n_trials=2, catch=(ValueError,))
    study.optimize(choose, n_trials=5)
    journal, live = read_records(file), read_records(study)
    assert journal.metadata == live.metadata
    assert journal.notes == live.notes == ()
    for name in live.columns:
        assert cells(journal, name) == cells(live, name)


def test_a_trial_that_two_workers_took_began_with_the_first(tmp_path: Path) -> None:
    file = tmp_path / "journal.log"
    study = run(total, 3, storage=JournalStorage(JournalFileBackend(str(file))), study_name="s")
    study.enqueue_trial({"x": 0.5})
    study.optimize(total, n_trials=1)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    taken = max(i for i, line in enumerate(lines) if line["op_code"] == 6 and line["state"] == 0)
    late = lines[taken] | {"datetime_start": "2000-01-01T00:00:00.000000"}
    lines.insert(taken + 1, late)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = optuna.load_study(study_name="s", storage=JournalStorage(JournalFileBackend(str(file))))
    assert cells(read_records(file), "duration") == cells(read_records(again), "duration")


def test_names_of_several_lines_make_messages_of_one(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path}/odd.db"
    study = run(lambda t: t.suggest_float("two\nlines", 0, 1), 20, storage=place, study_name="one\ntwo")
    run(total, 2, storage=place, study_name="other")
    refuse(DataError, "one two (20 trials)", of=lambda: pa.analyze(place))
    refuse(SpaceError, "two lines", of=lambda: pa.analyze(study, space={"two\nlines": pa.Float(0, 0.1)}))


def test_a_setting_and_a_result_of_one_name() -> None:
    """Whoever names it as the objective means the result."""
    study = run(lambda trial: trial.suggest_float("value", 0, 1) + trial.suggest_float("y", 0, 1))
    a = pa.analyze(study, "value")
    assert (a.objective, list(a.space)) == ("value_", ["value", "y"])
    assert "value is both a parameter and a result; the result (value_) is used as the objective" in a.notes


def test_infinite_results_are_told() -> None:
    study = run(lambda trial: math.inf if trial.number % 4 == 0 else total(trial))
    assert "15 rows have an infinite objective; infinite values are ranked as the worst" in pa.analyze(study).notes


# ── MLflow ──────────────────────────────────────────────────────────────────────────────────────


def mlflow_runs(folder: Path, runs: int = 40) -> Path:
    """A parameter `loss` beside the metric of that name, and one that never changes."""
    write(folder / "1" / "meta.yaml", "experiment_id: '1'\nname: exp\nlifecycle_stage: active\n")
    for i in range(runs):
        place = folder / "1" / f"run{i:03d}"
        write(place / "meta.yaml", f"run_id: run{i:03d}\nstatus: 3\nlifecycle_stage: active\n")
        for name, value in {"lr": i / runs, "loss": i % 3, "always": "adam"}.items():
            write(place / "params" / name, str(value))
        write(place / "metrics" / "loss", f"1 {i * 7 % 11} 0\n")
    return folder


def test_the_objective_is_a_metric_not_a_parameter(tmp_path: Path) -> None:
    a = pa.analyze(mlflow_runs(tmp_path), "loss", direction="maximize")
    assert (a.objective, sorted(a.space)) == ("loss_", ["loss", "lr"])


def test_what_never_changes_may_be_excluded(tmp_path: Path) -> None:
    a = pa.analyze(mlflow_runs(tmp_path), exclude=["always", "loss"])
    assert list(a.space) == ["lr"]
    refuse(QueryError, "nonsense", of=lambda: pa.analyze(tmp_path, exclude=["nonsense"]))


def test_a_direction_that_nobody_told_is_not_said_to_be_told(tmp_path: Path) -> None:
    a = pa.analyze(mlflow_runs(tmp_path), direction="maximize")
    assert not any("minimi" in note for note in a.notes)


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def with_budgets(tmp_path: Path) -> Path:
    """Sixty runs of SMAC3: thirty on a budget of 1, twenty on 3, ten on 9, in turn."""
    configs = {str(i): {"lr": i / 60, "depth": i % 5} for i in range(60)}
    budgets = [1.0, 3.0, 1.0, 3.0, 1.0, 9.0] * 10
    rows = [[i, None, 0, budgets[i], i * 7 % 13, 0.5, 1, 1.0, 2.0, {}] for i in range(60)]
    return write(tmp_path / "run" / "runhistory.json", {"data": rows, "configs": configs}).parent


def test_what_is_given_by_row_goes_with_the_rows_of_the_log(with_budgets: Path) -> None:
    """Not with those that are left of them once the budget is chosen."""
    plain = pa.analyze(with_budgets)
    assert len(plain) == 10
    cost = np.arange(60) * 7 % 13
    for given in (cost, list(map(float, cost))):
        same = pa.analyze(with_budgets, given)
        assert same.importance(**COUNTS)["lr"].share == plain.importance(**COUNTS)["lr"].share
    assert len(pa.analyze(with_budgets, feasible=np.arange(60) >= 6)) == 9
    assert len(pa.analyze(with_budgets, reading=pa.Reading(state=["FAIL"] * 6 + ["COMPLETE"] * 54))) == 9
    assert len(pa.analyze(with_budgets, where=[i >= 6 for i in range(60)])) == 9


def test_a_box_asks_for_other_budgets_as_a_condition_does(with_budgets: Path) -> None:
    assert len(pa.analyze(with_budgets, where="budget == 1")) == 30
    assert len(pa.analyze(with_budgets, where={"budget": (1, 1)})) == 30
    assert len(pa.analyze(with_budgets, where={"budget": (1, 9)})) == 60
    assert len(pa.analyze(with_budgets, where={"lr": (0, 0.5)})) == 5


# ── URLs and spaces ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3c?ret@localhost:1/db",
        "postgresql://ann:s3c#ret@localhost:1/db",
        "postgresql://ann:x@y?s3cret@localhost:1/db",
        "postgresql://localhost:1/db?user=ann&password=s3@s3cret",
        "postgresql://ann:s3cret/db",
        "mysql://ann:s3cret",
    ],
)
def test_passwords_of_odd_letters_stay_hidden(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "s3c" not in refuse(PedanovaError, of=lambda: pa.analyze(url))
    main(["analyze", url])
    assert "s3c" not in "".join(capsys.readouterr())


def test_a_password_may_hold_a_question_mark() -> None:
    login = databases._login("postgresql://ann:s3c?r#et@host:1/db?connect_timeout=1", "…")
    assert (login["user"], login["password"], login["host"]) == ("ann", "s3c?r#et", "host")
    plain = databases._login("mysql://host:3306/db?charset=utf8", "…")
    assert (plain["host"], plain["port"], plain["database"]) == ("host", 3306, "db")


def test_spaces_with_numbers_that_no_float_holds() -> None:
    huge = {"x": {"name": "IntDistribution", "attributes": {"low": 0, "high": 10**400}}}
    refuse(FormatError, "x:", of=lambda: pa.space_from(huge))
    sweep = {"parameters": {"x": {"min": 1, "max": 1000, "distribution": "log_uniform"}}}
    refuse(SpaceError, "x: max=1000", of=lambda: pa.space_from(sweep))
    refuse(SpaceError, "x: low=2", of=lambda: pa.space_from({"parameters": {"x": {"min": 2, "max": 1}}}))


def test_a_setting_that_the_objective_compares_explains_itself() -> None:
    study = optuna.create_study()
    rng = np.random.default_rng(0)
    space = {"solver": CategoricalDistribution(["adam", "sgd"]), "x": FloatDistribution(0.0, 1.0)}
    for _ in range(60):
        params = {"solver": str(rng.choice(["adam", "sgd"])), "x": float(rng.random())}
        study.add_trial(optuna.create_trial(params=params, distributions=space, value=float(rng.random())))
    assert set(pa.analyze(study, "solver == 'sgd'", direction="maximize").space) == {"x"}
