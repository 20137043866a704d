"""One table in every layout that people keep: the same cells, the same analysis."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import pedanova as pa
from helpers.common import forty_rows, refuse
from pedanova.errors import DataError, FormatError, QueryError
from pedanova.sources import read_records

FRAME = pd.DataFrame(forty_rows())
ROWS = len(FRAME)
ROW_DICTS: list[dict[str, Any]] = json.loads(FRAME.to_json(orient="records"))
NESTED = [{"params": {"lr": r["lr"], "depth": r["depth"], "kind": r["kind"]}, "loss": r["loss"]} for r in ROW_DICTS]


def tallies(data: object, **options: Any) -> dict[str, Any]:
    return {
        name.removeprefix("params."): t.counts.tolist()
        for name, t in pa.analyze(data, "loss", **options).data.tallies.items()
    }


JUDGE = tallies(FRAME)
JSON: dict[str, Any] = {
    "records": ROW_DICTS,
    "columns": json.loads(FRAME.to_json()),
    "lists": FRAME.to_dict(orient="list"),
    "by trial": {f"trial_{i}": row for i, row in enumerate(ROW_DICTS)},
    "under a key": {"study": "mlp", "trials": ROW_DICTS},
    "lists under a key": {"best_params": {"lr": 0.1, "depth": 3}, "results": FRAME.to_dict(orient="list")},
    "by trial under a key": {"study": "mlp", "trials": {f"t{i}": row for i, row in enumerate(ROW_DICTS)}},
    "nested": NESTED,
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("layout", list(JSON))
def test_json(layout: str, packed: bool, tmp_path: Path) -> None:
    text = json.dumps(JSON[layout])
    path = tmp_path / ("t.json.gz" if packed else "t.json")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert tallies(str(path)) == JUDGE


def test_lists_of_a_json_file_that_are_not_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"first_runs": ROW_DICTS, "more_runs": ROW_DICTS[:9], "best": ROW_DICTS[:1]}))
    notes = pa.analyze(path, "loss").notes
    words = "only first_runs is read, not more_runs (9 rows); to read another list, save it as a file"
    assert [note.severity for note in notes if note == words] == ["warning"]


def test_lines_in_a_json_file_and_lists_of_dicts(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("\n".join(map(json.dumps, ROW_DICTS)))
    assert tallies(str(path)) == tallies(ROW_DICTS) == tallies(tuple(NESTED)) == JUDGE
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, ROW_DICTS)).encode()))
    assert tallies(str(path)) == JUDGE


@pytest.mark.parametrize("plain", [[], {}, [1, 2], "x", {"a": 1}, None, [[1]], {"a": [1], "b": [1, 2]}, [{}, 3]])
def test_json_that_is_no_table(plain: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(plain))
    refuse(FormatError, "t.json", "is not a table", "list of objects", of=lambda: read_records(path))


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz"])
@pytest.mark.parametrize("stream", [None, True])
def test_delimiters_are_found(sign: str, suffix: str, stream: bool | None, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    FRAME.to_csv(path, index=False, sep=sign)
    if stream and suffix == ".csv.gz":
        refuse(DataError, "in parts", of=lambda: pa.analyze(str(path), "loss", scan=pa.Scan(stream=True)))
        return
    scan = pa.Scan(stream=stream)
    assert tallies(str(path), scan=scan) == JUDGE
    assert tallies(str(path), scan=scan, reading=pa.Reading(delimiter=sign)) == JUDGE


@pytest.mark.parametrize("stream", [None, True])
def test_semicolons_and_decimal_commas(stream: bool | None, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False, sep=";", decimal=",")
    for reading in (pa.Reading(), pa.Reading(delimiter=";", decimal=",")):
        assert tallies(str(path), scan=pa.Scan(stream=stream), reading=reading) == JUDGE
    assert any("';'" in note for note in read_records(path).notes)


def test_a_delimiter_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    for wrong in (";;", "", 3, "\n"):
        refuse(
            QueryError,
            "delimiter=",
            "one character",
            of=lambda wrong=wrong: pa.analyze(str(path), "loss", reading=pa.Reading(delimiter=wrong)),
        )
    refuse(
        DataError, "delimiter=", "leave it out", of=lambda: pa.analyze(FRAME, "loss", reading=pa.Reading(delimiter=";"))
    )
    refuse(QueryError, "decimal=", of=lambda: pa.analyze(FRAME, "loss", reading=pa.Reading(decimal=";")))


def test_a_gzip_bomb_and_a_broken_gzip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 200_000_000 + b"]"))
    refuse(FormatError, "if unpacked", of=lambda: read_records(path))
    path.write_bytes(gzip.compress(json.dumps(ROW_DICTS).encode())[:-9])
    refuse(FormatError, "cut off", of=lambda: read_records(path))
    path.write_bytes(b"{}")
    refuse(FormatError, "not a gzip file", of=lambda: read_records(path))


def test_columns_of_dicts_are_opened(tmp_path: Path) -> None:
    frame = pd.DataFrame({"params": [row["params"] for row in NESTED], "loss": FRAME["loss"]})
    assert tallies(frame) == JUDGE
    frame.to_csv(tmp_path / "python.csv", index=False)
    frame.assign(params=frame["params"].map(json.dumps)).to_csv(tmp_path / "json.csv", index=False)
    for name in ("python.csv", "json.csv"):
        assert tallies(str(tmp_path / name)) == JUDGE
    assert any("split into one column for each key" in note for note in pa.analyze(frame, "loss").notes)
    broken = frame.assign(params=["{" for _ in range(ROWS)])
    assert "params" in read_records(broken).columns


def test_a_named_index_is_a_column() -> None:
    moved = FRAME.set_index("lr")
    assert tallies(moved) == JUDGE
    assert tallies(FRAME.set_index(["lr", "depth"])) == JUDGE
    assert "index" not in read_records(FRAME).columns
    assert list(read_records(FRAME.assign(id=1).set_index("id", drop=False)).columns).count("id") == 1


def test_a_field_more_or_less_than_headings(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = FRAME.to_csv(index=False).splitlines()
    path.write_text("\n".join([lines[0] + ",additional", *lines[1:]]))
    assert tallies(str(path)) == JUDGE
    assert any("the column 'additional' is left empty" in note for note in read_records(path).notes)
    path.write_text("\n".join([lines[0], *(f"r{i},{line}" for i, line in enumerate(lines[1:]))]))
    assert tallies(str(path)) == JUDGE


def test_a_table_on_its_side(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{i}" for i in range(60_000)) + "\n")
    refuse(FormatError, "60,000 columns", "is the table transposed?", of=lambda: read_records(path))
