"""Logs with one JSON object a line: FLAML, freqtrade, bayes_opt and Hyperopt, in the words that these tools write."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from helpers.logs import cells, read_untouched, tolerate, write
from helpers.tools import cut_short, odd_values, places_in, replaced
from pedanova import Float, Space
from pedanova.sources import read_records


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def flaml(number: int, loss: float | None = None, size: int = 1000) -> dict[str, Any]:
    learner = ("lgbm", "rf")[number % 2]
    config = {"n_estimators": 4 + number, "FLAML_sample_size": size}
    return {
        "record_id": number,
        "iter_per_learner": 1 + number // 2,
        "logged_metric": {"pred_time": 0.001 * number},
        "trial_time": 0.2,
        "wall_clock_time": 0.3 * number,
        "validation_loss": (number * 7 % 11) / 10 if loss is None else loss,
        "config": config | ({"learning_rate": 0.1 / (1 + number)} if learner == "lgbm" else {"criterion": "gini"}),
        "learner": learner,
        "sample_size": size,
    }


def freqtrade(number: int, loss: float | None = None) -> dict[str, Any]:
    return {
        "loss": -number / 3 if loss is None else loss,
        "params_dict": {"buy_rsi": 20 + number, "stoploss": -0.01 * (1 + number % 4), "trailing_stop": number % 2 == 0},
        "params_details": {"buy": {"buy_rsi": 20 + number}},
        "params_not_optimized": {},
        "results_metrics": {"total_trades": number, "profit_total": 0.1 * number, "timerange": "", "trades": []},
        "results_explanation": f"{number} trades",
        "total_profit": 0.1 * number,
        "current_epoch": number + 1,
        "is_initial_point": number < 5,
        "is_random": False,
        "is_best": False,
    }


def bayes_opt(number: int) -> dict[str, Any]:
    when = {"datetime": "2025-05-22 16:04:50", "elapsed": 0.1 * number, "delta": 0.1}
    return {"target": -((number - 5.0) ** 2), "params": {"x": number / 2, "y": -1.0 + number % 3}, "datetime": when}


def hyperopt(number: int) -> dict[str, Any]:
    params = {"num_leaves": 20 + number, "boosting": ("gbdt", "goss")[number % 2]}
    failed = number % 5 == 4
    return {
        "loss": math.nan if failed else number * 3 % 7,
        "params": params,
        "iteration": number,
        "train_time": 0.1,
        "status": "fail" if failed else "ok",
    }


def document(number: int) -> dict[str, Any]:
    """A trial of Hyperopt's own Trials."""
    return {
        "state": 2,
        "tid": number,
        "result": {"loss": number * 3 % 7, "status": "ok"},
        "misc": {"tid": number, "idxs": {"lr": [number]}, "vals": {"lr": [0.1 * number], "depth": []}},
    }


def test_a_log_of_flaml(tmp_path: Path) -> None:
    path = write(tmp_path / "automl.log", lines([*map(flaml, range(30)), {"curr_best_record_id": 11}]))
    records = read_untouched(path)
    assert records.rows == 30
    assert records.metadata.objectives == ("validation_loss",)
    assert records.metadata.directions == ("minimize",)
    params = set(records.metadata.params)
    assert params == {"learner", "lgbm.n_estimators", "lgbm.learning_rate", "rf.n_estimators", "rf.criterion"}
    assert cells(records, "lgbm.n_estimators")[:3] == [4, None, 6]
    assert not any("improvements" in str(note) for note in records.notes)
    assert len(pa.analyze(path)) == 30


def test_flaml_that_logs_improvements_alone_is_doubtful(tmp_path: Path) -> None:
    path = write(tmp_path / "automl.log", lines([flaml(n, 1 / (1 + n)) for n in range(8)]))
    assert any('log_type="all"' in str(note) for note in read_records(path).notes)


def test_samples_of_flaml_are_budgets(tmp_path: Path) -> None:
    path = write(tmp_path / "automl.log", lines([flaml(n, size=100 if n < 15 else 1000) for n in range(30)]))
    assert read_records(path).metadata.where == "sample_size == 1000"
    assert len(pa.analyze(path)) == 15


def test_epochs_of_freqtrade(tmp_path: Path) -> None:
    rows = [freqtrade(n, 100_000 if n < 6 else None) for n in range(30)]
    path = write(tmp_path / "strategy_Mine_2025-05-22.fthypt", lines(rows))
    records = read_untouched(path)
    assert records.metadata.params == ("buy_rsi", "stoploss", "trailing_stop")
    assert records.metadata.objectives == ("loss",)
    assert cells(records, "profit_total") == [0.1 * n for n in range(30)]
    assert any("6 epochs have too few trades" in str(note) for note in records.notes)
    assert len(pa.analyze(path)) == 30
    assert pa.analyze(path, "profit_total", direction="max").data.levels.direction == "maximize"


@pytest.mark.parametrize("name", ["logs.json", "logs.log"])
def test_a_log_of_bayes_opt(tmp_path: Path, name: str) -> None:
    records = read_untouched(write(tmp_path / name, lines([*map(bayes_opt, range(12))])))
    assert records.metadata.directions == ("maximize",)
    assert records.metadata.params == ("x", "y")
    assert cells(records, "target")[5] == 0


def test_constraints_of_bayes_opt(tmp_path: Path) -> None:
    rows = [bayes_opt(n) | {"constraint": n - 8, "allowed": n <= 8} for n in range(20)]
    assert len(pa.analyze(write(tmp_path / "logs.json", lines(rows)))) == 9


def test_a_state_of_bayes_opt_has_its_bounds(tmp_path: Path) -> None:
    draw = random.Random(0)
    points = [[draw.uniform(0, 4), draw.uniform(-3, 3)] for _ in range(60)]
    state = {
        "pbounds": {"x": [0.0, 4.0], "y": [-3.0, 3.0]},
        "transformed_bounds": None,
        "keys": ["x", "y"],
        "params": points,
        "target": [-((x - 2) ** 2) for x, _ in points],
    }
    path = write(tmp_path / "state.json", json.dumps(state, indent=2))
    records = read_untouched(path)
    assert records.metadata.space == Space({"x": Float(0.0, 4.0), "y": Float(-3.0, 3.0)})
    assert next(iter(pa.analyze(path).importance())) == "x"


def test_results_of_hyperopt(tmp_path: Path) -> None:
    path = write(tmp_path / "results.jsonl", lines([*map(hyperopt, range(30))]))
    records = read_untouched(path)
    assert records.metadata.params == ("num_leaves", "boosting")
    assert records.metadata.objectives == ("loss",)
    assert len(pa.analyze(path)) == 24  # a trial that failed never counts


@pytest.mark.parametrize("name", ["trials.json", "trials.jsonl"])
def test_trials_of_hyperopt_one_a_line(tmp_path: Path, name: str) -> None:
    rows = [*map(document, range(12))]
    one = read_untouched(write(tmp_path / name, lines(rows)))
    whole = read_records(write(tmp_path / "whole.json", rows))
    assert cells(one, "lr") == cells(whole, "lr") == [0.1 * n for n in range(12)]
    assert one.metadata.objectives == whole.metadata.objectives == ("loss",)


def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "automl.log", lines([*map(flaml, range(12))]))
    for _ in cut_short(path, steps=12):
        tolerate(lambda: read_records(path))
    path.write_text(path.read_text()[:-20])
    assert read_records(path).rows == 11


@settings(max_examples=60)
@given(st.data(), st.sampled_from([flaml, freqtrade, bayes_opt, hyperopt, document]))
def test_any_value_anywhere(tmp_path_factory: pytest.TempPathFactory, data: Any, make: Callable[[int], Any]) -> None:
    rows = [make(n) for n in range(4)]
    changed = replaced(rows, data.draw(st.sampled_from(places_in(rows))), data.draw(odd_values))
    path = tmp_path_factory.mktemp("odd") / "log.jsonl"
    path.write_text(lines(changed), encoding="utf-8")
    tolerate(lambda: read_records(path))
