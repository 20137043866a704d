"""The commands across and difference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa

Run = Callable[..., tuple[int, str, str]]
FAST = ("--objective", "loss", "--estimator", "counts", "--draws", "100")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies")
    rng = np.random.default_rng(0)
    lr, depth, dataset = rng.random(600), rng.integers(1, 9, 600), rng.choice(["adult", "car", "iris"], 600)
    loss = np.abs(lr - 0.3) + 0.05 * depth + 0.1 * rng.standard_normal(600)
    lines = [f"{a},{b},{c},{d}" for a, b, c, d in zip(lr, depth, dataset, loss, strict=True)]
    (place / "trials.csv").write_text("lr,depth,dataset,loss\n" + "\n".join(lines) + "\n")
    for name, part in (("one", slice(0, 300)), ("two", slice(300, 600))):
        table = {"lr": lr[part], "depth": depth[part], "loss": loss[part]}
        pa.analyze(table, "loss").save(place / f"{name}.pedanova", rows=True)
    return place


def test_across_a_column(run: Run, folder: Path) -> None:
    status, out, err = run("across", folder / "trials.csv", "--group", "dataset", *FAST)
    assert (status, err) == (0, "")
    assert "over 3 studies" in out
    assert "lr" in out
    assert "Friedman" in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_report_of_the_studies_in_a_column(run: Run, folder: Path) -> None:
    page = folder / "studies.html"
    status, _, err = run("report", folder / "trials.csv", "--group", "dataset", *FAST, "-o", page)
    assert (status, err) == (0, "")
    assert page.read_text().startswith("<!doctype html>")
    status, _, err = run("report", folder / "trials.csv", "--group", "nothing", *FAST, "-o", page)
    assert status != 0
    assert "nothing" in err


def test_across_saved_files_as_json(run: Run, folder: Path) -> None:
    files = [folder / "one.pedanova", folder / "two.pedanova"]
    status, out, _ = run("across", *files, "--estimator", "counts", "--format", "json")
    answer = json.loads(out)
    assert status == 0
    assert [row["study"] for row in answer["studies"]] == ["one", "two"]
    found = pa.across(files, estimator="counts")
    assert [row["share"] for row in answer["across"]] == [row.share for row in found.rows]
    assert answer["ranks"]["critical_difference"] == pytest.approx(found.ranks.critical)


def test_difference(run: Run, folder: Path) -> None:
    files = [folder / "one.pedanova", folder / "two.pedanova"]
    status, out, err = run("difference", *files, "--estimator", "counts", "--draws", "100")
    assert (status, err) == (0, "")
    assert "What matters in one and in two" in out
    assert "the same search with another seed" in " ".join(out.split())
    status, out, _ = run("difference", *files, "--estimator", "counts", "--format", "json")
    assert status == 0
    assert json.loads(out)["relation"] == "other"
    status, out, _ = run("difference", *files, "--estimator", "counts", "--format", "csv", "--quiet")
    assert out.splitlines()[0].startswith("parameter,share,other,difference")


def test_refusals(run: Run, folder: Path) -> None:
    one = folder / "one.pedanova"
    for arguments, word in (
        (("across", folder / "trials.csv", *FAST), "--group"),
        (("across", folder / "trials.csv", one, "--group", "dataset", *FAST), "--group"),
        (("difference", one), "two sources, not 1"),
        (("difference", one, one), "given twice"),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert word in err
        assert len(err.splitlines()) == 1
