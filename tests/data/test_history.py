"""Trials in their order: the best so far, how each ended, and what was selected by the number of the row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError

ROWS = 30
STATES = {"complete": "COMPLETE", "pruned": "PRUNED", "failed": "FAIL", "unfinished": "RUNNING"}


def trials(seed: int, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    loss = np.round(rng.random(ROWS), 2)
    state = rng.choice(list(STATES.values()), ROWS, p=[0.6, 0.2, 0.15, 0.05])
    state[:8] = "COMPLETE"
    loss[state == "FAIL"] = math.nan
    return {"x": rng.random(ROWS), "loss": loss, "state": state} | more


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["drop", "last"]))
def test_the_best_so_far_is_that_of_the_trials_that_count(seed: int, up: bool, pruned: Any) -> None:
    table = trials(seed)
    reading = pa.Reading(state="state", pruned=pruned)
    a = pa.analyze(table, "loss", direction="maximize" if up else "minimize", reading=reading)
    found = a.history().to_dict()
    assert found["row"] == list(range(ROWS))
    assert [STATES[str(state)] for state in found["state"]] == table["state"].tolist()
    best, used = None, []
    counts = ("COMPLETE", "PRUNED") if pruned == "last" else ("COMPLETE",)
    for loss, state in zip(table["loss"], table["state"], strict=True):
        if state in counts:
            best = loss if best is None else (max if up else min)(best, loss)
        used.append(best)
    assert found["best"] == used
    assert found["loss"] == [None if math.isnan(loss) else loss for loss in table["loss"]]


def test_trials_are_in_the_order_of_their_numbers_and_the_table_lists_improvements() -> None:
    number = np.random.default_rng(1).permutation(ROWS)
    a = pa.analyze(trials(1, number=number), "loss")
    found = a.history(params=["x"], target=0.2)
    assert found.order == "number"
    assert found.places == sorted(number.tolist())
    assert [number[row] for row in found.columns["row"]] == found.places
    better = [i for i, best in enumerate(found.columns["best"]) if best != ([None] + found.columns["best"])[i]]
    assert [line[0] for line in found.lines()] == [str(found.places[i]) for i in better]
    target = a.trials(0.2, limit=None)
    marks = [dict(zip(one.columns["row"], one.columns["in"], strict=True)) for one in (found, target)]
    assert {row: mark for row, mark in marks[0].items() if row in marks[1]} == marks[1]


def test_rows_are_selected_by_their_number(tmp_path: Path) -> None:
    a = pa.analyze(trials(2), "loss")
    counted = np.flatnonzero(trials(2)["state"] == "COMPLETE").tolist()
    kept = list(range(5, 21))  # with those that failed
    for rows in ({"row": (5, 20)}, "5 <= row <= 20", "row >= 5 and `row` <= 20 and x < 2"):
        assert a.within(rows).history().columns["row"] == kept
    own = pa.analyze(trials(2, row=np.arange(ROWS)[::-1]), "loss", exclude=["row"])
    assert own.within("row >= 20").history().columns["row"][0] == 0  # a column of the table comes first
    a.save(tmp_path / "a.pedanova")
    loaded = pa.load(tmp_path / "a.pedanova")
    assert loaded.history().to_dict() == a.history().to_dict()
    assert a.first(10).history().columns["row"] == list(range(counted[10]))


def test_without_states_and_with_several_objectives() -> None:
    table = trials(3)
    del table["state"]
    a = pa.analyze(table | {"seconds": 1 - table["loss"]}, ["loss", "seconds"], direction=["minimize", "maximize"])
    found = a.history(objective="seconds")
    assert (found.objective, found.direction) == ("seconds", "maximize")
    assert set(found.ended) == {"complete", "no objective"}
    refuse(QueryError, "accuracy", of=lambda: a.history(objective="accuracy"))
    refuse(QueryError, "no intermediate values", of=a.curves)


def test_intermediate_values_are_those_of_the_log() -> None:
    optuna = pytest.importorskip("optuna")
    study, space = optuna.create_study(), {"x": optuna.distributions.FloatDistribution(0, 1)}
    for row in range(12):
        pruned, steps = row % 3 == 0, {1: 2.0, 2: row / 12, **({} if row % 3 == 0 else {5: row / 20})}
        more = {"state": optuna.trial.TrialState.PRUNED} if pruned else {"value": steps[5]}
        study.add_trial(
            optuna.create_trial(params={"x": row / 12}, distributions=space, intermediate_values=steps, **more)
        )
    found = pa.analyze(study).curves()
    expected = [(t.number, s, v) for t in study.trials for s, v in t.intermediate_values.items()]
    columns = found.to_dict()
    assert list(zip(columns["trial"], columns["step"], columns["value"], strict=True)) == expected
    assert found.heading() == "value at 3 steps of 12 trials; 4 pruned"
    assert len(found) == len(found.lines()) == 12
    ax = found.plot()
    assert len(ax.lines) == 12 + 4 + 1
