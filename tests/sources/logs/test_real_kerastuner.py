"""Keras Tuner itself searches; the reader must agree with its own account."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.logs import cells, read_untouched
from helpers.tools import need
from pedanova import Categorical, Float, Int, Space

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tool's own warnings


def test_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "numpy")  # no network is trained here
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    tuners = need("keras_tuner")

    class Tuner(tuners.RandomSearch):  # type: ignore[name-defined,misc]
        def run_trial(self, trial: Any, *_: Any, **__: Any) -> dict[str, float]:
            hp = trial.hyperparameters
            model = hp.Choice("model", ["svm", "tree"])
            lr = hp.Float("lr", 1e-4, 1e-1, sampling="log")
            hp.Fixed("fixed", 3)
            with hp.conditional_scope("model", ["svm"]):
                width = hp.Int("width", 8, 64, step=8) if model == "svm" else 1
            with hp.conditional_scope("model", ["tree"]):
                hp.Boolean("deep") if model == "tree" else None
            return {"acc": lr * width, "other": 1.0}

    objective = tuners.Objective("acc", "max")
    tuner = Tuner(objective=objective, max_trials=12, directory=tmp_path, project_name="p", seed=3)
    tuner.search(verbose=0)
    records = read_untouched(tmp_path / "p")
    assert records.metadata.objectives == ("acc",)
    assert records.metadata.directions == ("maximize",)
    assert records.metadata.space == Space(
        {
            "model": Categorical(("svm", "tree")),
            "lr": Float(1e-4, 1e-1, log=True),
            "width": Int(8, 64, step=8, when={"model": ["svm"]}),
            "deep": Categorical((False, True), when={"model": ["tree"]}),
        }
    )
    own = {trial.trial_id: trial for trial in tuner.oracle.trials.values()}
    assert set(cells(records, "trial")) == set(own)
    for row, key in enumerate(cells(records, "trial")):
        assert cells(records, "acc")[row] == own[key].score
        assert cells(records, "lr")[row] == own[key].hyperparameters.values["lr"]
        assert cells(records, "width")[row] == own[key].hyperparameters.values.get("width")
