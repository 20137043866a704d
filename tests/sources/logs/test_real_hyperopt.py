"""Hyperopt itself searches; the reader must agree with its own account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.logs import cells, write
from helpers.tools import need
from pedanova.sources import read_records

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tool's own warnings


def test_trials(tmp_path: Path) -> None:
    hyperopt = need("hyperopt")
    hp = hyperopt.hp
    branches = [{"kind": "a", "x": hp.loguniform("x", -3, 0)}, {"kind": "b"}]
    space = {"lr": hp.uniform("lr", 0, 1), "branch": hp.choice("branch", branches)}

    def objective(point: dict[str, Any]) -> dict[str, Any]:
        if point["lr"] > 0.8:
            return {"status": "fail"}
        return {"status": "ok", "loss": point["lr"], "acc": 1 - point["lr"]}

    trials = hyperopt.Trials()
    options = {"rstate": np.random.default_rng(1), "show_progressbar": False, "verbose": False}
    hyperopt.fmin(objective, space, algo=hyperopt.rand.suggest, max_evals=20, trials=trials, **options)
    records = read_records(trials)
    assert set(records.metadata.params) == {"lr", "x", "branch"}
    assert records.metadata.objectives == ("loss",)
    assert cells(records, "loss") == trials.losses()
    assert [word == "COMPLETE" for word in cells(records, "state")] == [s == "ok" for s in trials.statuses()]
    for name in ("lr", "x", "branch"):
        present = [value for value in cells(records, name) if value is not None]
        assert present == trials.vals[name]
    dump = json.dumps(trials.trials, default=lambda v: v.item() if isinstance(v, np.generic) else str(v))
    again = read_records(write(tmp_path / "trials.json", dump))
    assert cells(again, "lr") == cells(records, "lr")
