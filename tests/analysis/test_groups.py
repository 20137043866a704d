"""The studies of one analysed table: each is a study of its own, whole or in part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.groups import ODD, studies_of, studies_table
from pedanova.errors import PedanovaError

BOX = {"lr": (0.2, 0.9)}
COUNTS: dict[str, Any] = {"estimator": "counts", "draws": 50}


def test_an_analysis_tells_what_its_table_tells() -> None:
    data = studies_table(rows=200)
    ours = pa.across(pa.analyze(data, "loss", exclude=["dataset"]), group="dataset", **COUNTS)
    assert ours.to_dict() == pa.across(data, "loss", group="dataset", **COUNTS).to_dict()
    assert {row.name for row in ours.studies.rows if row.differs} == {ODD}


def test_the_column_may_be_a_parameter() -> None:
    found = pa.across(pa.analyze(studies_table(), "loss"), group="dataset", **COUNTS)
    assert set(found) == {"lr", "depth", "dull"}


def test_a_study_is_an_analysis_of_its_own() -> None:
    data: dict[str, Any] = studies_table()
    data["depth"] = np.ma.masked_array(data["depth"], np.arange(len(data["depth"])) % 7 == 0)
    mine = data["dataset"] == ODD
    alone = pa.analyze({name: column[mine] for name, column in data.items()}, "loss", exclude=["dataset"])
    study = pa.analyze(
        data, "loss", exclude=["dataset"], space=alone.space, reading=pa.Reading(outside="count")
    ).groups("dataset")[ODD]
    assert len(study) == mine.sum()
    assert study.importance(**COUNTS).to_dict() == alone.importance(**COUNTS).to_dict()


@pytest.mark.parametrize("within", [BOX, "lr >= 0.2 and lr <= 0.9", [BOX, {"depth": (0, 1)}]])
def test_selected_rows_are_those_of_every_study(within: Any) -> None:
    a = studies_of()
    narrowed = {name: study.within(BOX) for name, study in a.groups("dataset").items()}
    ours = pa.across(a, group="dataset", within=within, **COUNTS)
    assert ours.to_dict() == pa.across(narrowed, **COUNTS).to_dict()
    assert ours.region == "the selected rows"


def test_parts_may_be_of_all_rows_of_a_study() -> None:
    a = studies_of(rows=150)
    ours = pa.across(a, group="dataset", within=BOX, parts="all", **COUNTS)
    for name, study in a.groups("dataset").items():
        alone = study.within(BOX).importance(pa.at_most(study.data.reach(0.1, of="rows")[0]), **COUNTS)
        assert ours.answers[name].to_dict() == alone.to_dict()


def test_a_study_does_not_lead_back_to_the_whole_table() -> None:
    x = np.repeat(np.arange(40.0), 3)
    data = {"x": x, "dataset": np.repeat(["a", "b"], 60), "loss": x + np.random.default_rng(0).random(120)}
    with pytest.raises(PedanovaError, match="repeats='all'"):  # a mean may be of rows of several studies
        pa.analyze(data, "loss", params=["x"], repeats="mean").groups("dataset")
    found = pa.analyze(data, "loss", exclude=["dataset"]).groups("dataset")["a"].seeds()
    assert found.configurations == 20


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"group": "datset"}, "dataset"),
        ({"group": "lr", "direction": "maximize"}, "already set in analyze"),
        ({"group": "dataset", "within": BOX, "parts": "some"}, "must be 'selected' or 'all'"),
        ({"group": "dataset", "within": np.ones(400, dtype=bool)}, "within= must be a box or a condition"),
        ({"group": "dataset", "within": 0.5}, "within= must be a box or a condition"),
    ],
)
def test_what_cannot_be_is_refused(question: dict[str, Any], said: str) -> None:
    with pytest.raises(PedanovaError, match=said):
        pa.across(studies_of(), **question)
