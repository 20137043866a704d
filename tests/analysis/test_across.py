"""Many studies: pooled shares, what is told, and that nothing is silently dropped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import DataError, OutsideSpaceError, QueryError
from pedanova.results import Across

FAST = {"estimator": "counts", "draws": 100}
SPACE = {"lr": pa.Float(0, 1), "depth": pa.Int(1, 8), "noise": pa.Float(0, 1)}


def table(rows: int, seed: int, weight: float = 1.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    lr, depth, noise = rng.random(rows), rng.integers(1, 9, rows), rng.random(rows)
    return {
        "lr": lr, "depth": depth, "noise": noise, "epochs": rng.integers(1, 30, rows),
        "loss": weight * np.abs(lr - 0.3) + 0.05 * depth + 0.1 * rng.standard_normal(rows),
    }  # fmt: skip


def study(rows: int = 300, seed: int = 0, weight: float = 1.0, **options: Any) -> pa.Analysis:
    return pa.analyze(table(rows, seed, weight), "loss", space=SPACE, **options)


def stacked(sizes: dict[str, int]) -> dict[str, Any]:
    parts = [table(rows, seed) for seed, rows in enumerate(sizes.values())]
    data = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return data | {"dataset": np.repeat(list(sizes), list(sizes.values()))}


@pytest.fixture(scope="module")
def found() -> Across:
    return pa.across({f"s{i}": study(300, i) for i in range(6)}, **FAST)


def test_what_it_says(found: Across) -> None:
    assert list(found) == ["lr", "depth", "noise"]
    row = found["lr"]
    assert row.low is not None
    assert row.high is not None
    assert 0 < row.low < row.share < row.high
    assert (row.studies, row.first, row.rank) == (6, 1.0, 1.0)
    assert found.ranks is not None
    assert found.ranks.names == ("lr", "depth", "noise")
    assert [row.agreement for row in found.studies.rows if row.agreement is None] == []
    assert "over 6 studies" in str(found)
    assert set(found.to_dict()) == {"parameter", "share", "low", "high", "spread", "rank", "first", "studies"}


def test_no_interval_is_printed_beyond_100_percent() -> None:
    few = {f"s{i}": study(200, i, weight=50.0 if i else 1.0) for i in range(3)}  # shares far apart: a wide interval
    found = pa.across(few, **FAST)
    assert max(row.high or 0.0 for row in found.rows) > 1, "the number itself is kept"
    ends = [float(end) for line in str(found).splitlines() for end in re.findall(r"to +([\d.]+) %", line)]
    assert ends
    assert max(ends) <= 100


def test_shares_are_those_of_the_studies(found: Across) -> None:
    alone = [a.importance(**FAST)["lr"].share for a in found.analyses.values()]
    assert found["lr"].share == pytest.approx(np.mean(alone), abs=0.02)
    assert min(alone) <= found["lr"].share <= max(alone)


def test_a_column_of_studies_is_as_good_as_studies() -> None:
    data = stacked({"adult": 200, "car": 300, "iris": 250})
    whole = pa.across(data, "loss", group="dataset", space=SPACE, **FAST)
    parts = {
        name: pa.analyze({k: v[data["dataset"] == name] for k, v in data.items()}, "loss", space=SPACE)
        for name in ("adult", "car", "iris")
    }
    by_name = pa.across(parts, **FAST)
    assert whole.rows == by_name.rows
    assert whole.studies.rows == by_name.studies.rows


def test_a_region_within_each_study() -> None:
    data = stacked({"adult": 400, "car": 400})
    found = pa.across(data, "loss", group="dataset", space=SPACE, region="epochs >= 10", **FAST)
    rows = [int((data["epochs"][data["dataset"] == name] >= 10).sum()) for name in ("adult", "car")]
    assert [row.n_region for row in found.studies.rows] == rows
    assert "epochs >= 10" in found.region


def test_studies_that_cannot_be_asked_are_told() -> None:
    data = stacked({"adult": 300, "car": 300, "tiny": 12})
    data["loss"] = np.where(data["dataset"] == "flat", 1.0, data["loss"])
    found = pa.across(data, "loss", group="dataset", space=SPACE, **FAST)
    assert list(found.answers) == ["adult", "car"]
    assert any(note.subject == "tiny" and "left out" in note and note.severity == "warning" for note in found.notes)
    assert list(found.analyses) == ["adult", "car", "tiny"]


def test_parameters_that_some_lack_are_told() -> None:
    fewer = {name: values for name, values in table(300, 7).items() if name != "noise"}
    lacking = pa.analyze(fewer, "loss", params=["lr", "depth"])
    fixed = table(300, 8) | {"noise": np.full(300, 0.5)}
    studies = {"a": study(300, 1), "b": study(300, 2), "c": lacking, "d": pa.analyze(fixed, "loss", space=SPACE)}
    found = pa.across(studies, **FAST)
    assert found["noise"].studies == 2
    notes = [note for note in found.notes if note.subject == "noise"]
    assert any("missing in c" in note for note in notes)
    assert any("never varied in d" in note for note in notes)
    assert any("left out of the mean ranks" in note and "c, d" in note for note in found.notes)
    assert found.ranks is not None
    assert found.ranks.studies == 2


def test_aims_that_differ_are_told_and_do_not_change_the_answer() -> None:
    turned = table(300, 2)
    turned["score"] = -turned.pop("loss")
    other = pa.analyze(turned, "score", direction="maximize", space=SPACE)
    found = pa.across({"a": study(300, 1), "b": other}, **FAST)
    same = pa.across({"a": study(300, 1), "b": study(300, 2)}, **FAST)
    assert found.rows == same.rows
    assert any("maximise score: b" in note for note in found.notes)
    assert not any("aim" in note for note in same.notes)


def test_a_study_that_disagrees_is_named() -> None:
    studies = {f"s{i}": study(400, i, weight=3.0) for i in range(7)} | {"odd": study(400, 9, weight=0.0)}
    found = pa.across(studies, **FAST)
    assert ("odd", "lr") in {(row.study, row.name) for row in found.disagreements.rows}
    assert "lr" in found.studies["odd"].differs
    assert found.studies["odd"].agreement == min(row.agreement or 0.0 for row in found.studies.rows)


def test_files_and_tables_by_name(tmp_path: Path) -> None:
    study(300, 0).save(tmp_path / "one.pedanova")
    study(300, 1).save(tmp_path / "two.pedanova")
    by_path = pa.across([tmp_path / "one.pedanova", tmp_path / "two.pedanova"], **FAST)
    assert list(by_path.studies) == ["one", "two"]
    mixed = pa.across({"one": tmp_path / "one.pedanova", "two": table(300, 1)}, "loss", space=SPACE, **FAST)
    assert mixed["lr"].share == pytest.approx(by_path["lr"].share)


def test_without_draws_all_studies_weigh_the_same() -> None:
    studies = {"small": study(100, 1), "large": study(2000, 2)}
    found = pa.across(studies, draws=0, estimator="counts")
    shares = [answer["lr"].share for answer in found.answers.values()]
    assert found["lr"].share == pytest.approx(np.mean(shares))


def test_refusals() -> None:
    data = stacked({"adult": 100, "car": 100})
    refuse(QueryError, "group=", of=lambda: pa.across(data, "loss"))
    refuse(DataError, "'datset'", "dataset", of=lambda: pa.across(data, "loss", group="datset"))
    refuse(QueryError, "two", of=lambda: pa.across({"a": study()}))
    refuse(
        QueryError,
        "'tagret'",
        "did you mean 'target'?",
        of=lambda: pa.across(data, "loss", group="dataset", tagret=0.1),  # type: ignore[call-arg]
    )
    refuse(QueryError, "repeats='mean'", of=lambda: pa.across(data, "loss", group="dataset", repeats="mean"))
    refuse(QueryError, "where=", "region=", of=lambda: pa.across(data, "loss", group="dataset", where=pa.at_most(1.0)))
    refuse(QueryError, "stream=", of=lambda: pa.across(data, "loss", group="dataset", scan=pa.Scan(stream=True)))
    narrow = SPACE | {"lr": pa.Float(0.5, 1)}
    refuse(OutsideSpaceError, "study ", "lr", of=lambda: pa.across(data, "loss", group="dataset", space=narrow))
    small = stacked({"a": 6, "b": 6})
    refuse(QueryError, "0 of 2 studies", of=lambda: pa.across(small, "loss", group="dataset", space=SPACE))


def test_an_unknown_study_is_told() -> None:
    found = pa.across(stacked({"adult": 100, "car": 100}), "loss", group="dataset", space=SPACE, **FAST)
    refuse(QueryError, "'cat'", "car", of=lambda: found.analyses["cat"])
    assert "adult" in found.analyses
