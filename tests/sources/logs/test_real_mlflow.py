"""MLflow itself writes the stores; the reader must agree with MLflow's own search."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.logs import cells, read_untouched
from helpers.tools import need

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tool's own warnings


@pytest.mark.parametrize("kind", ["files", "SQLite"])
def test_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    mlflow = need("mlflow")
    store = tmp_path / ("mlruns" if kind == "files" else "mlflow.db")
    mlflow.set_tracking_uri(f"file://{store}" if kind == "files" else f"sqlite:///{store}")
    mlflow.set_experiment("Größe; two: 2")
    with mlflow.start_run(run_name="parent"):
        mlflow.log_param("grid", "all")
        for n in range(4):
            with mlflow.start_run(nested=True):
                mlflow.log_params({"lr": n / 10, "net/opt": "adam" if n % 2 else "sgd", "fixed": 1})
                for step in (0, 2, 1):
                    mlflow.log_metric("val/loss", n + step, step=step)
                mlflow.log_metric("odd", float("inf") if n else float("nan"))
    mlflow.start_run()
    mlflow.log_param("lr", 0.9)
    mlflow.end_run("FAILED")
    with mlflow.start_run() as gone:
        mlflow.log_param("lr", 7)
    mlflow.delete_run(gone.info.run_id)

    records = read_untouched(store)
    assert records.metadata.source == "MLflow experiment 'Größe; two: 2'"
    assert set(records.metadata.params) >= {"lr", "net/opt"}
    runs = mlflow.search_runs().set_index("run_id")
    assert set(cells(records, "run")) == set(runs[runs["params.grid"].isna()].index)
    for row, key in enumerate(cells(records, "run")):
        own = runs.loc[key]
        assert cells(records, "lr")[row] == float(own["params.lr"])
        assert cells(records, "state")[row] == own["status"]
        if own["status"] == "FINISHED":
            assert cells(records, "val/loss")[row] == own["metrics.val/loss"]
    assert sorted(map(str, cells(records, "odd"))) == ["None", "None", "inf", "inf", "inf"]
