"""Budgets of tables and logs: a row for each, a column for each, or values on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import pedanova as pa
from pedanova.errors import PedanovaError, QueryError, TooFewRowsError
from pedanova.measures.studies.budgets import budget_name

BUDGETS = (1, 3, 9, 27)
EARLY, LATE = np.array([3.0, 1.0, 0.0]), np.array([1.0, 3.0, 0.0])
FAST: dict[str, Any] = {"draws": 300, "estimator": "counts"}


def settings(rows: int = 300, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, 3))


def loss_at(x: np.ndarray, budget: float, change: float = 9, seed: int = 1) -> np.ndarray:
    """Another parameter decides from `change` on."""
    weights = LATE if budget >= change else EARLY
    noise = np.random.default_rng([seed, int(budget)]).standard_normal(len(x))
    return (x - 0.3) ** 2 @ weights + 0.1 * noise


def long_table(rows: int = 300, **more: Any) -> dict[str, Any]:
    x = settings(rows)
    columns = {f"x{i}": np.tile(x[:, i], len(BUDGETS)) for i in range(3)}
    loss = np.concatenate([loss_at(x, budget, **more) for budget in BUDGETS])
    return columns | {"epochs": np.repeat(BUDGETS, rows), "loss": loss}


@pytest.fixture(scope="module")
def by_rows() -> Any:
    return pa.analyze(long_table(), "loss").along("epochs", **FAST)


@pytest.mark.parametrize("change", [3, 9, 27])
def test_the_change_is_found_at_the_right_budget(change: int) -> None:
    found = pa.analyze(long_table(change=change), "loss").along("epochs")  # as it is asked by default
    assert found.since == (change if change < 27 else None)
    firsts = [next(iter(step.importances)) for step in found]
    assert firsts == ["x1" if budget >= change else "x0" for budget in BUDGETS]
    verdicts = [step.agreement.verdict for step in found]
    assert all((verdict == "same") == (budget >= change) for verdict, budget in zip(verdicts, BUDGETS, strict=True))
    assert verdicts[0] == "other"


def test_each_budget_says_what_its_rows_say_alone(by_rows: Any) -> None:
    """The same numbers as an analysis of these rows only, levels by their own quantiles."""
    table = long_table()
    for step in by_rows:
        rows = table["epochs"] == step.budget
        alone = pa.analyze({name: column[rows] for name, column in table.items() if name != "epochs"}, "loss",
                           space={f"x{i}": pa.Float(0, 1) for i in range(3)})  # fmt: skip
        spaced = pa.analyze(table, "loss", space={f"x{i}": pa.Float(0, 1) for i in range(3)})
        mine = next(one for one in spaced.along("epochs", at=[step.budget], **FAST))
        assert mine.importances.to_dict() == alone.importance(**FAST).to_dict()
        assert mine.rows == step.rows == 300


def study(trials: int = 150, prune: bool = True) -> optuna.Study:
    """Trials that report at every budget; the worse half is pruned after the third."""
    made = optuna.create_study()
    x = settings(trials)
    by_budget = {b: loss_at(x, b) for b in BUDGETS}
    worse = by_budget[9] > np.median(by_budget[9])
    space = {f"x{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(3)}
    for row in range(trials):
        pruned = prune and bool(worse[row])
        values = {b: float(by_budget[b][row]) for b in BUDGETS if b < 27 or not pruned}
        state = optuna.trial.TrialState.PRUNED if pruned else optuna.trial.TrialState.COMPLETE
        params = {name: float(x[row, i]) for i, name in enumerate(space)}
        more = {} if pruned else {"value": values[27]}
        made.add_trial(optuna.create_trial(
            params=params, distributions=space, intermediate_values=values, state=state, **more
        ))  # fmt: skip
    return made


def test_values_on_the_way_are_the_same_too() -> None:
    a = pa.analyze(study(prune=False))
    assert budget_name(a.data) == "step"
    found = a.along(**FAST)
    space = {f"x{i}": pa.Float(0, 1) for i in range(3)}
    other = pa.analyze(long_table(150), "loss", space=space).along("epochs", **FAST)
    assert found.to_dict()["share"] == other.to_dict()["share"]
    assert found.name == "step"


def test_pruned_trials_count_where_they_have_values() -> None:
    a = pa.analyze(study())
    assert len(a) == 75  # those that ended
    found = a.along(target=0.2, **FAST)
    assert [step.rows for step in found] == [150, 150, 150, 75]
    assert any("75 of 150 trials reached step 27" in note for note in found.notes)
    same = a.along("last_step", target=0.2, among="full", **FAST)  # where each stopped is no budget of its own
    assert [step.rows for step in same] == [75] * 4
    assert not any("are left" in note for note in same.notes)


def test_budgets_that_a_log_leaves_out_are_found(tmp_path: Path) -> None:
    """A log of several budgets is narrowed to the highest; `along` sees all of them."""
    import json

    x, lines = settings(80), []
    configs = {str(row): {f"x{i}": float(x[row, i]) for i in range(3)} for row in range(80)}
    for row in range(80):
        for budget in BUDGETS:
            loss = float(loss_at(x, budget)[row])
            lines.append(json.dumps([row, float(budget), [loss], 0.0, 1.0, 1, {}]))
    goal = {"name": "loss", "optimize": "lower"}
    (tmp_path / "meta.json").write_text(json.dumps({"objectives": [goal]}))
    (tmp_path / "configs.json").write_text(json.dumps(configs))
    (tmp_path / "history.jsonl").write_text("\n".join(lines))
    a = pa.analyze(tmp_path)
    assert (len(a), budget_name(a.data)) == (80, "budget")
    found = a.along(target=0.2, **FAST)
    assert [step.budget for step in found] == [float(b) for b in BUDGETS]
    assert [step.rows for step in found] == [80] * 4
    assert next(iter(found.steps[0].importances)) == "x0"
    assert next(iter(found.full.importances)) == "x1"


def test_runs_are_averaged_at_each_budget_alone() -> None:
    """Seeds of one configuration are averaged as the analysis says, never over budgets."""
    table = long_table(100)
    twice = {name: np.concatenate([column, column]) for name, column in table.items()}
    twice["loss"] = twice["loss"] + np.repeat([0.5, -0.5], 400)
    a, b = pa.analyze(twice, "loss", repeats="mean"), pa.analyze(table, "loss")
    one, two = (each.along("epochs", target=0.2, **FAST) for each in (a, b))
    assert [step.rows for step in one] == [100] * 4
    np.testing.assert_allclose(one.to_dict()["share"], two.to_dict()["share"], atol=1e-9)


def test_very_many_budgets_are_asked_where_it_matters() -> None:
    """A dozen of forty, and then between those where the ranking becomes the full one's."""
    x, budgets = settings(120), np.arange(1, 41)
    table = {f"x{i}": np.tile(x[:, i], 40) for i in range(3)} | {"epochs": np.repeat(budgets, 120)}
    table["loss"] = np.concatenate([loss_at(x, b, change=17) for b in budgets])
    found = pa.analyze(table, "loss", space={f"x{i}": pa.Float(0, 1) for i in range(3)}).along(
        "epochs", target=0.2, **FAST
    )
    assert found.since == 17
    assert len(found) < 20
    assert any("budgets are used" in note for note in found.notes)


def test_rows_picked_first_are_kept() -> None:
    table = long_table()
    a = pa.analyze(table, "loss")
    inner = a.within({"x2": (0.0, 0.5)}).along("epochs", **FAST)
    many = int((settings()[:, 2] <= 0.5).sum())
    assert [step.rows for step in inner] == [many] * 4
    only = pa.analyze(table, "loss", where="epochs >= 9").along("epochs", **FAST)
    assert [step.budget for step in only] == [9, 27]


def test_an_analysis_of_one_of_two_objectives() -> None:
    table = long_table() | {"cost": np.tile(settings()[:, 2], len(BUDGETS))}
    both = pa.analyze(table, ["loss", "cost"], params=["x0", "x1", "x2", "epochs"])
    found = pa.Analysis(both.data.alone("cost")).along("epochs", **FAST)
    assert {next(iter(step.importances)) for step in found} == {"x2"}
    assert found.since == 1


def test_too_few_rows_are_told_and_never_dropped() -> None:
    table = long_table()
    keep = (table["epochs"] != 3) | (np.arange(1200) % 300 < 20)
    found = pa.analyze({name: column[keep] for name, column in table.items()}, "loss").along("epochs", **FAST)
    assert [(one.budget, one.rows) for one in found.left_out] == [(3.0, 20)]
    assert any("epochs 3 (20 rows)" in note for note in found.notes)
    assert found.since == 9
    few = {name: column[::20] for name, column in table.items()}
    with pytest.raises(TooFewRowsError, match="no budget of epochs has enough rows"):
        pa.analyze(few, "loss").along("epochs")


def test_rows_without_a_budget_are_told() -> None:
    table = long_table()
    table["epochs"] = np.where(np.arange(1200) % 100 == 0, np.nan, table["epochs"])
    found = pa.analyze(table, "loss", params=["x0", "x1", "x2"]).along("epochs", at=[1, 27], **FAST)
    assert [step.rows for step in found] == [297, 297]
    assert any("12 of 1,200 rows have no epochs and are left out" in note for note in found.notes)


def test_an_objective_that_is_no_column() -> None:
    table = long_table()
    loss = table.pop("loss")
    found = pa.analyze(table, loss).along("epochs", at=[1, 27], **FAST)
    assert [next(iter(step.importances)) for step in found] == ["x0", "x1"]


def test_a_saved_analysis_with_its_rows_answers_alike(tmp_path: Path, by_rows: Any) -> None:
    a = pa.analyze(long_table(), "loss")
    a.save(tmp_path / "a.pedanova", rows=True)
    loaded = pa.load(tmp_path / "a.pedanova")
    assert loaded.along("epochs", **FAST).to_dict() == by_rows.to_dict()
    a.save(tmp_path / "b.pedanova", rows=False)
    with pytest.raises(PedanovaError, match="no longer available"):
        pa.load(tmp_path / "b.pedanova").along("epochs")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((None,), "budget= is missing, and the source has no default budget"),
        (("epoch",), "no column is called 'epoch'"),
        (("loss",), "is the objective"),
        (("name",), "must be a column of numbers"),
        (("one",), "is 1 in every row"),
        (("x0",), "different values in 1,200 rows, too few"),
        ((5,), "must be the name of a column"),
        (({1: "loss"},), "must be the name of a column"),
        (("epochs", pa.at_most(0.1)), "target= must be a quantile"),
        (("epochs", "x0 > 0.5"), "target= must be a quantile"),
        (("epochs", 0.1, pa.at_most(0.1)), "region= must be a quantile"),
    ],
)
def test_what_cannot_be_followed_is_refused(given: tuple[Any, ...], words: str) -> None:
    table = long_table() | {"one": np.ones(1200), "name": np.array(["a", "b"] * 600)}
    with pytest.raises(QueryError, match=words):
        pa.analyze(table, "loss").along(*given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"among": "some"}, "among='some' must be 'all' or 'full'"),
        ({"at": [2]}, "not a budget of epochs; choose from 1, 3, 9, 27"),
        ({"at": []}, "at= is empty"),
        ({"baseline": "no"}, "baseline='no'"),
        ({"clip": 1}, "clip= is not an option of importance"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(QueryError) as error:
        pa.analyze(long_table(), "loss").along("epochs", **options)
    assert words.replace("'", "") in str(error.value).replace("'", "")


def test_a_source_without_budgets_says_so() -> None:
    assert budget_name(pa.analyze(long_table(), "loss").data) is None
