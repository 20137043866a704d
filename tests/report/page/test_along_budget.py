"""Budgets on a page: the numbers of `along`, where the source tells of budgets or somebody names one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import optuna
import pytest

import pedanova as pa
from pedanova.errors import QueryError
from pedanova.report.live.session import Session
from pedanova.report.page.answers import importance_row
from pedanova.report.page.embedded import payload_of

QUICK: dict[str, Any] = {"estimator": "counts", "draws": 50}
STILL: dict[str, Any] = {"reduce": False, "ladder": [0.2, 1.0], **QUICK}


@pytest.fixture(scope="module")
def reported() -> pa.Analysis:
    """A study of two parameters, the first of which decides at the first step and the second at the last."""
    study, rng = optuna.create_study(), np.random.default_rng(0)
    space = {name: optuna.distributions.FloatDistribution(0, 1) for name in "xz"}
    for x, z in rng.random((60, 2)):
        study.add_trial(
            optuna.create_trial(params={"x": x, "z": z}, distributions=space, value=z, intermediate_values={1: x, 8: z})
        )
    return pa.analyze(study)


def asked(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in json.loads(json.dumps(made, allow_nan=False))["answers"] if one["part"] == "along"]


def test_a_file_holds_what_along_says(reported: pa.Analysis) -> None:
    made = payload_of(reported, questions=[(0.2, 1.0)], **STILL)
    assert made["facts"]["budget"] == "step"
    (one,) = asked(made)
    found = reported.along(target=0.2, **QUICK)
    for step, mine in zip(one["answer"]["steps"], found, strict=True):
        assert step["importances"] == [importance_row(row) for row in mine.importances.rows]
        assert (step["budget"], step["rows"], step["spearman"]) == (mine.budget, mine.rows, mine.agreement.spearman)
    assert one["answer"]["summary"] == found.in_words()


def test_a_budget_may_be_named_and_is_checked() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.random(200), "epochs": np.tile([1, 2], 100)}
    a = pa.analyze(table | {"loss": table["x"] ** 2}, "loss")
    assert payload_of(a, **STILL)["facts"]["budget"] is None
    made = payload_of(a, budget="epochs", questions=[(0.2, 1.0)], **STILL)
    assert made["facts"]["budget"] == "epochs"
    assert len(asked(made)) == 1
    with pytest.raises(QueryError, match="no column is called 'epoch'"):
        payload_of(a, budget="epoch", **STILL)


def test_a_live_page_asks_for_it_whatever_is_selected(reported: pa.Analysis) -> None:
    session = Session(reported, options=QUICK)
    assert session.facts()["budget"] == "step"
    question = {"target": {"part": [0, 0.2]}, "region": {"part": [0, 1]}}
    found = session.ask({"part": "along", "question": question})
    assert found["refused"] is None
    assert [step["rows"] for step in found["steps"]] == [60, 60]
    refused = session.ask({"part": "along", "question": question | {"target": {"value": [None, 0.1]}}})
    assert "must be a part of the rows" in refused["refused"]
