"""Files of text that are not quite tables: each is read as its clean twin, or refused with what to do."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pedanova as pa
from helpers.common import forty_rows, refuse
from helpers.logs import write
from pedanova.errors import FormatError
from pedanova.sources import read_records

FRAME = pd.DataFrame(forty_rows())
ROWS = len(FRAME)
TEXT = FRAME.to_csv(index=False)
HEAD, *LINES = TEXT.splitlines()
NUMBERS = FRAME.drop(columns="kind").to_csv(index=False).splitlines()


def joined(*lines: str) -> str:
    return "\n".join(lines) + "\n"


SHAPES: dict[str, str] = {
    "comments above": joined("# made by sweep.py", "# seed 3, lr random", HEAD, *LINES),
    "comments between": joined(HEAD, *LINES[:9], "# second half", *LINES[9:], "# end"),
    "a title above": joined("Results of the sweep", "", HEAD, *LINES),
    "two lines above": joined("experiment: mlp", "date: 2024-03-01, by me", HEAD, *LINES),
    "a blank line above": joined("", HEAD, *LINES),
    "commas behind every row": joined(HEAD, *(f"{line}," for line in LINES)),
    "commas behind some rows": joined(HEAD, *(f"{line},," if i % 3 else line for i, line in enumerate(LINES))),
    "an index without a name": joined(HEAD, *(f"{i},{line}" for i, line in enumerate(LINES))),
    "names without a heading": joined(HEAD, *(f"run{i},{line}" for i, line in enumerate(LINES))),
    "an index saved twice": joined(f",Unnamed: 0,{HEAD}", *(f"{i},{i},{line}" for i, line in enumerate(LINES))),
    "remarks with commas": joined(
        f"{HEAD},notes", *(f"{line},good{', or so' * (i % 2)}" for i, line in enumerate(LINES))
    ),
    "a row that lacks its end": joined(HEAD, *LINES, "0.5,3"),
    "a title above in a cell": joined("Sweep of May,,,", HEAD, *LINES),
    "groups above the names": joined(",,,result", "settings,,,", HEAD, *LINES),
    "a header repeated": joined(HEAD, *LINES[:9], HEAD, *LINES[9:20], "second day,,,", HEAD, *LINES[20:]),
    "columns added later": joined(
        f"{HEAD},val_acc", *LINES[:30], *(f"{line},{i}" for i, line in enumerate(LINES[30:]))
    ),
}


def tallies(data: object, **options: object) -> dict[str, list[list[int]]]:
    settings = ["lr", "depth", "kind"] if "kind" in read_records(data).columns else ["lr", "depth"]
    a = pa.analyze(data, "loss", **options)  # type: ignore[arg-type]
    assert list(a.space) == settings
    return {name: tally.counts.tolist() for name, tally in a.data.tallies.items()}


@pytest.fixture(params=[True, False], ids=["pyarrow", "without pyarrow"])
def readers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    find = importlib.util.find_spec
    if not request.param:
        monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "pyarrow" else find(n))
    return bool(request.param)


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.usefixtures("readers")
def test_shapes(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(SHAPES[shape])
    assert tallies(str(path)) == tallies(FRAME)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "above" in shape or "between" in shape])
def test_shapes_in_parts(shape: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    path.write_text(SHAPES[shape])
    assert tallies(str(path), scan=pa.Scan(stream=True)) == tallies(FRAME)


@pytest.mark.usefixtures("readers")
def test_a_header_behind_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined(f"# {NUMBERS[0]}", *NUMBERS[1:]))  # as numpy.savetxt writes
    assert tallies(str(path)) == tallies(FRAME.drop(columns="kind"))


@pytest.mark.parametrize("change", [lambda line: f"{line},7", lambda line: f"{line},x"])
@pytest.mark.usefixtures("readers")
def test_a_field_more_at_the_end_is_not_taken_for_an_index(change: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined(HEAD, *map(change, LINES)))
    refuse(FormatError, "5 fields", "header has 4", "add a name to the header", of=lambda: read_records(path))
    path.write_text(joined(f"{HEAD},more", *map(change, LINES)))  # as it says
    assert tallies(str(path), exclude=["more"]) == tallies(FRAME)


def test_what_was_passed_over_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for shape, words in (
        ("comments above", "2 lines above the table are skipped"),
        ("comments between", "2 lines begin with #"),
        ("a row that lacks its end", "1 row has fewer fields than the header (first: line 42)"),
        ("groups above the names", "2 lines above the table are skipped"),
        ("a header repeated", "lines that repeat the header: 2 (1 with a title above)"),
        ("columns added later", "30 rows have fewer fields than the header (first: line 2)"),
    ):
        path.write_text(SHAPES[shape])
        assert any(words in note for note in read_records(path).notes)


def test_a_file_without_a_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined("10,20,0.5984", "10,40,0.684"))
    refuse(FormatError, "line 1 holds numbers; write a line above it", of=lambda: read_records(path))
    path.write_text(joined("10,20,0.5984,,", "10,40,0.684,1,"))  # as wide as its longest row
    refuse(FormatError, "line 1 holds numbers; write a line above it", of=lambda: read_records(path))
    path.write_text(joined("data/a_10.txt,20,0.5", "data/b_7.txt,40,0.6", "data/a_20.txt,50,0.7"))
    refuse(FormatError, "line 1 holds numbers; write a line above it", of=lambda: read_records(path))
    path.write_text(joined("a,20", "b,40", "a,50"))
    refuse(FormatError, "line 1 holds numbers; write a line above it", of=lambda: read_records(path))
    path.write_text(joined("net,20,50", "a,40,30", "b,50,10"))  # a column for each number of epochs
    assert list(read_records(path).columns) == ["net", "20", "50"]
    path.write_text(joined("0,1,2", "10,40,0.684"))  # as pandas names columns
    assert list(read_records(path).columns) == ["0", "1", "2"]


def test_an_index_of_thousands_of_digits_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined("x,loss", "1" * 4_301 + ",1,2", "2" * 4_301 + ",3,4"))
    refuse(FormatError, "every row has 3 fields but the header has 2", of=lambda: read_records(path))


def test_a_markdown_table_and_a_table_with_a_run_in_each_column_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined("| lr | loss |", "| --- | ---: |", "| 0.1 | 2.5 |", "| 0.2 | 2.6 |"))
    refuse(
        FormatError, "is a Markdown table; save it as CSV, without the line of dashes", of=lambda: read_records(path)
    )
    path.write_text(joined(",0,1,2", "opt,adam,sgd,sgd", "lr,0.1,0.2,0.3", "loss,2.5,2.6,2.4"))
    refuse(FormatError, "has one run per column instead of one run per row", "pd.read_csv('t.csv', index_col=0).T",
           of=lambda: read_records(path))  # fmt: skip
    pd.read_csv(path, index_col=0).T.to_csv(tmp_path / "turned.csv", index=False)
    assert list(read_records(tmp_path / "turned.csv").columns) == ["opt", "lr", "loss"]
    path.write_text(joined(",0,1", "run_a,0.1,2.5", "run_b,0.2,2.6"))  # names of rows, and columns without names
    assert list(read_records(path).columns)[1:] == ["0", "1"]


def test_a_line_with_one_field(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined("x,y,loss", "1,2,3", "1", "1,2,3"))
    refuse(FormatError, "line 3 has 1 field, but the header has 3", of=lambda: read_records(path))


def test_lines_whose_fields_changed_are_counted(tmp_path: Path) -> None:
    """A later line is never the header; what is advised cures the file."""
    path = tmp_path / "t.csv"
    dated = [line.replace(",", f",2026-01-18 05:44:{i + 10},7,", 1) for i, line in enumerate(LINES[8:])]
    path.write_text(joined(HEAD, *LINES[:8], *dated))
    words = "32 of 40 rows have 6 fields, but the header has 4 (first: line 10); correct them, or write them to another"
    refuse(FormatError, words, of=lambda: read_records(path))
    longer = joined(*LINES[:8], *(f"{line},7,{i}" for i, line in enumerate(LINES[8:])))
    path.write_text(f"{HEAD}\n{longer}")
    refuse(FormatError, "32 of 40 rows have 6", "add 2 names to the end of the header", of=lambda: read_records(path))
    path.write_text(f"{HEAD},batch,speed\n{longer}")
    assert read_records(path).rows == ROWS
    path.write_text(joined(HEAD, *(f"{line},7,8" for line in LINES)))
    refuse(FormatError, "every row has 6 fields", "add 2 names to the header", of=lambda: read_records(path))
    path.write_text(joined(f"{HEAD},batch,speed", *LINES))
    notes = read_records(path).notes
    assert any("2 fields fewer than the header; columns left empty: batch, speed" in note for note in notes)


def test_values_without_a_name_are_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(joined(f",{HEAD},,", *(f"{i},{line},0.{i}," for i, line in enumerate(LINES))))
    notes = read_records(path).notes
    assert any(note.endswith("no name in the header: 'Unnamed: 5'") for note in map(str, notes))


def test_a_delimiter_does_not_cut_lists(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [f"{i};[{i % 3}, 2];{{'a': {i % 2}, 'b': 'c'}};0.{i}" for i in range(10, 30)]
    path.write_text("\n".join(["number;order;settings;loss", *rows]))
    assert list(read_records(path).columns)[:2] == ["number", "order"]
    path.write_text("\n".join(rows))
    refuse(FormatError, "line 1 holds numbers; write a line above it", of=lambda: read_records(path))
    path.write_text("\n".join(["lr,size (a,b),loss", *(f"0.{i},{i},0.{i}" for i in range(10, 30))]))
    assert next(iter(read_records(path).columns)) == "lr"  # no other delimiter


def test_packed_settings_are_split_in_every_reader(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rate, depth = rng.random(40).round(3), rng.integers(2, 6, 40)
    table = {
        "settings": [f"lr={a}; depth={b}" for a, b in zip(rate, depth, strict=True)],
        "loss": rate + rng.random(40),
    }
    file = tmp_path / "runs.csv"
    file.write_text("settings,loss\n" + "\n".join(f"{a},{b}" for a, b in zip(*table.values(), strict=True)))
    for data in (table, file):
        assert list(pa.analyze(data, "loss").space) == ["settings.lr", "settings.depth"]
    known = {"lr": rate, "depth": depth, "name": table["settings"], "loss": table["loss"]}
    assert list(pa.analyze(known, "loss").space) == ["lr", "depth"]  # the name says nothing new
    names = {"lr": rate, "run": [f"x{i}-lr={a},b=1" for i, a in enumerate(rate)], "loss": table["loss"]}
    assert list(pa.analyze(names, "loss").space) == ["lr"]


@pytest.mark.parametrize("dicts", ["lr={0};depth={1}", "{{'lr': {0}, 'depth': {1}, 'act': 'relu'}}"])
def test_dicts_in_cells_are_split_in_logs_too(tmp_path: Path, dicts: str) -> None:
    """A parameter of MLflow and a column of W&B's export that hold a dict; keys with one value are no parameters."""
    runs = [(0.01 * (1 + i % 7), i % 4) for i in range(40)]
    lines = [f'run-{i},finished,2026-03-01,10,,"{dicts.format(*run)}",{run[0]}' for i, run in enumerate(runs)]
    wandb = tmp_path / "wandb.csv"
    wandb.write_text("Name,State,Created,Runtime,Notes,model,loss\n" + "\n".join(lines))
    for i, run in enumerate(runs):
        place = tmp_path / "mlruns" / "0" / f"r{i}"
        write(place / "meta.yaml", "status: 3\n")
        write(place / "params" / "model", dicts.format(*run))
        write(place / "metrics" / "loss", f"1 {run[0]} 0\n")
    for place in (wandb, tmp_path / "mlruns"):
        assert list(pa.analyze(place, "loss").space) == ["model.lr", "model.depth"]
        assert "columns of dicts are split into one column for each key: model" in map(str, read_records(place).notes)
