"""Ray Tune itself runs some trials; the reader must agree with Ray's own account."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.logs import cells, read_untouched
from helpers.tools import need

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tool's own warnings


def test_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AIR_NEW_OUTPUT", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray, tune = need("ray"), need("ray.tune")

    def train(config: dict[str, Any]) -> None:  # in here, so that Ray sends it to its workers whole
        if config["lr"] > 0.75:
            raise ValueError("diverged")
        for step in range(2):
            tune.report({"loss": config["lr"] + config["net"]["depth"] + 1 - step, "deep": {"acc": config["lr"]}})

    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        space = {"lr": tune.grid_search([0.1, 0.4, 0.7, 0.8]), "net": {"depth": tune.randint(1, 5)}, "fn": len}
        # Without a seed four equal depths turn up once in 64 runs, and what never varied is no parameter.
        searcher = need("ray.tune.search.basic_variant").BasicVariantGenerator(random_state=1)
        found = tune.Tuner(
            train,
            param_space=space,
            tune_config=tune.TuneConfig(metric="loss", mode="min", search_alg=searcher, reuse_actors=True),
            run_config=tune.RunConfig(name="exp", storage_path=str(tmp_path), verbose=0),
        ).fit()
    finally:
        ray.shutdown()
    records = read_untouched(tmp_path)
    assert records.metadata.source == "Ray Tune experiment 'exp'"
    assert records.metadata.params == ("lr", "net.depth")
    assert records.metadata.objectives == ("loss",)
    assert records.metadata.metrics == ("loss", "deep/acc")
    columns = [cells(records, name) for name in ("lr", "loss", "net.depth", "state")]
    rows = {lr: tuple(rest) for lr, *rest in zip(*columns, strict=True)}
    assert len(rows) == 4
    assert rows[0.8][2] == "FAIL"
    for result in found:
        if result.error is None:
            config = result.config
            assert rows[config["lr"]] == (result.metrics["loss"], config["net"]["depth"], "COMPLETE")
