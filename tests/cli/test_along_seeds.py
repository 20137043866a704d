"""The commands along and seeds, as a user runs them."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pedanova as pa

FAST = ("--estimator", "counts", "--draws", 200)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parameters, of which the first decides early and the second late; every configuration runs three times."""
    rng = np.random.default_rng(0)
    x, z = (np.tile(np.repeat(rng.random(70), 3), 3) for _ in range(2))
    epochs = np.repeat([1, 5, 20], 210)
    loss = np.where(epochs >= 5, z, x) ** 2 + 0.05 * rng.standard_normal(630)
    lines = [f"{a},{b},{c},{d}" for a, b, c, d in zip(x, z, epochs, loss, strict=True)]
    path = tmp_path_factory.mktemp("along") / "trials.csv"
    path.write_text("\n".join(["x,z,epochs,loss", *lines]))
    return path


def test_along_in_words_and_numbers(run, place: Path) -> None:
    status, out, err = run("along", place, "--objective", "loss", "--budget", "epochs", *FAST)
    assert (status, err) == (0, "")
    words = " ".join(out.split())
    assert "At epochs 5 of 20 the ranking is already the same as at the full budget: Spearman 1.00" in words
    assert "25 % of the cost." in words
    answer = json.loads(run("along", place, "--objective", "loss", "--budget", "epochs", *FAST, "--format", "json")[1])
    found = pa.analyze(place, "loss").along("epochs", estimator="counts", draws=200)
    assert (answer["since"], answer["full"], answer["left_out"]) == (5, 20, [])
    assert [row["share"] for row in answer["along"]] == found.to_dict()["share"]
    assert (
        run("along", place, "--objective", "loss", "--budget", "epochs", *FAST, "--format", "csv")[1] == found.to_csv()
    )


def test_along_some_budgets(run, place: Path) -> None:
    out = run("along", place, "--objective", "loss", "--budget", "epochs", "--at", "1,20", "--quiet", *FAST)[1]
    assert "another" in out
    assert "Notes" not in out
    assert "share:" not in out


def test_mistakes_name_options(run, place: Path) -> None:
    for given, words in (
        ((), "--budget is missing"),
        (("--budget", "epoch"), "'epoch'"),
        (("--budget", "epochs", "--at", "one"), "--at"),
        (("--budget", "epochs", "--target", "<=0.1"), "--target must be a quantile"),
    ):
        status, _, err = run("along", place, "--objective", "loss", *given)
        assert status == 2
        assert words in err


def test_seeds(run, place: Path) -> None:
    status, out, err = run("seeds", place, "--objective", "loss", "--where", "epochs == 20", "--exclude", "epochs")
    assert (status, err) == (0, "")
    assert "70 of 70 configurations were repeated" in " ".join(out.split())
    shared = ("seeds", place, "--objective", "loss", "--where", "epochs == 20", "--exclude", "epochs")
    answer = json.loads(run(*shared, "--format", "json")[1])
    found = pa.analyze(place, "loss", where="epochs == 20", exclude=["epochs"]).seeds()
    assert [row["ceiling"] for row in answer["seeds"]] == found.to_dict()["ceiling"]
    assert (answer["repeated"], answer["configurations"]) == (70, 70)
    assert "Notes" not in run(*shared, "--quiet")[1]


def test_seeds_without_repeats(run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["x,loss", *(f"{i / 50},{i % 7}" for i in range(50))]))
    status, _, err = run("seeds", table, "--objective", "loss")
    assert status == 2
    assert "no configuration is repeated among the 50 rows" in err
    assert "--exclude" in err


def test_a_report_has_the_budgets_that_are_named(run, place: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    status, _, err = run("report", place, "--objective", "loss", "--budget", "epochs", "-o", page, *FAST)
    assert (status, err) == (0, "")
    text = page.read_text().partition("id='data'>")[2].partition("</script>")[0]
    data = json.loads(gzip.decompress(b64decode(text)))
    assert data["facts"]["budget"] == "epochs"
    along = next(one["answer"] for one in data["answers"] if one["part"] == "along")
    found = pa.analyze(place, "loss").along("epochs", estimator="counts", draws=200)
    assert [step["budget"] for step in along["steps"]] == [step.budget for step in found.steps]
    assert along["since"] == found.since
    status, _, err = run("report", place, "--objective", "loss", "--budget", "epoch", "-o", page, *FAST)
    assert status == 2
    assert "did you mean 'epochs'" in err


@pytest.mark.parametrize("question", [("seeds",), ("along", "--budget", "epochs", *FAST)], ids=["seeds", "along"])
def test_what_needs_all_rows_at_once_is_refused_in_parts(run, place: Path, tmp_path: Path, question: tuple) -> None:
    table = tmp_path / "trials.parquet"
    pd.read_csv(place).to_parquet(table)
    command, *options = question
    status, _, err = run(command, table, "--objective", "loss", *options, "--stream")
    assert status == 2
    assert "--no-stream" in err
    assert run(command, table, "--objective", "loss", *options, "--no-stream")[0] == 0
