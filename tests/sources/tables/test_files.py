"""Files: every format gives the tallies of the table in memory, and every reader of a format agrees."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import pedanova
from pedanova.data.column import Column
from pedanova.data.records import Records
from pedanova.errors import MissingLibraryError
from pedanova.sources import read_records
from pedanova.sources.tables import files, text

ROWS = 200


def table() -> dict[str, list[Any]]:
    """Every kind of column with gaps, and text that needs quotes."""
    random = np.random.default_rng(11)
    words = ["plain", "with, comma", 'with "quotes"', "two\nlines", " spaces ", "ünïcode"]
    columns: dict[str, list[Any]] = {
        "lr": np.exp(random.uniform(np.log(1e-5), 0.0, ROWS)).tolist(),
        "layers": random.integers(-3, 9, ROWS).tolist(),
        "text, with comma": [words[i] for i in random.integers(0, len(words), ROWS)],
        "flag": (random.integers(0, 2, ROWS) == 1).tolist(),
        "loss": random.normal(0, 1, ROWS).tolist(),
    }
    for shift, values in enumerate(columns.values()):
        values[shift::11] = [None] * len(values[shift::11])
    columns["lr"][1], columns["loss"][1], columns["loss"][2] = math.inf, math.inf, -math.inf
    return columns


TABLE = table()
SUFFIXES = [
    ".csv",
    ".CSV",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".ipc",
]


def write(path: Path) -> Path:
    frame = pl.DataFrame(TABLE)
    match path.suffix.lower():
        case ".csv":
            frame.write_csv(path)
        case ".tsv" | ".txt":
            frame.write_csv(path, separator="\t")
        case ".jsonl" | ".ndjson":
            rows = zip(*TABLE.values(), strict=True)
            lines = [json.dumps(dict(zip(TABLE, row, strict=True))) for row in rows]
            path.write_text("\n".join(lines), encoding="utf-8")
        case ".json":
            path.write_text(
                json.dumps([dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)])
            )
        case ".parquet" | ".pq":
            parquet.write_table(pa.table(TABLE), path, row_group_size=37)
        case _:
            feather.write_feather(pa.table(TABLE), str(path), chunksize=37)
    return path


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if these libraries were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else find(name))


WITHOUT_ARROW = [suffix for suffix in SUFFIXES if suffix not in (".parquet", ".pq", ".arrow", ".feather", ".ipc")]


@pytest.mark.parametrize(
    ("suffix", "absent"),
    [*((suffix, ()) for suffix in SUFFIXES), *((suffix, ("pyarrow",)) for suffix in WITHOUT_ARROW)],
)
def test_every_format_gives_the_same_tallies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, absent: tuple[str, ...]
) -> None:
    hide(monkeypatch, *absent)
    path = write(tmp_path / f"trials [1]{suffix}")
    judge = pedanova.analyze(TABLE, objective="loss", scan=pedanova.Scan(threads=1))
    for given_path in (path, str(path)):
        found = pedanova.analyze(given_path, objective="loss", scan=pedanova.Scan(threads=1))
        assert found.data.tallies == judge.data.tallies
        assert (found.notes, found.data.dropped) == (judge.notes, judge.data.dropped)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_without_any_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    path = write(tmp_path / f"t{suffix}")
    hide(monkeypatch, "pyarrow")
    with pytest.raises(MissingLibraryError, match=r"pip install 'pyarrow>="):
        read_records(path)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_dictionaries_and_compression(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "t.parquet"
    columns = pa.table(TABLE)
    columns = columns.set_column(2, "text", columns.column(2).dictionary_encode())
    parquet.write_table(columns, path, compression=compression, row_group_size=50)
    assert_same(files.read_by_arrow(path, "Parquet"), read_records(pl.read_parquet(path)))


def test_an_arrow_file(tmp_path: Path) -> None:
    from pyarrow import feather  # Polars 1.34 misreads what an older pyarrow compressed

    path = write(tmp_path / "t.arrow")
    assert_same(files.read_by_arrow(path, "Arrow IPC"), read_records(feather.read_table(path)))


def test_an_arrow_stream_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "stream.arrow"
    with pa.ipc.new_stream(str(path), pa.table(TABLE).schema) as out:
        out.write_table(pa.table(TABLE), max_chunksize=64)
    assert_same(files.read_by_arrow(path, "Arrow IPC"), read_records(pa.table(TABLE)))


def rows_of(column: Column) -> list[object]:
    """What every row holds; None where nothing."""
    gone = column.absent()
    return [None if gone[row] else column.value_at(row) for row in range(len(column))]


def assert_same(one: Records, two: Records) -> None:
    assert list(one.columns) == list(two.columns)
    for name, column in one.columns.items():
        other = two.columns[name]
        assert rows_of(column) == rows_of(other), name
        if not column.absent().all():
            assert (column.is_coded, column.values.dtype.kind) == (other.is_coded, other.values.dtype.kind)
            assert column.labels == other.labels


def read_both(path: Path, delimiter: str = ",") -> Records:
    layout = text.layout_of(path, delimiter)
    quick, slow = text._by_arrow(path, layout), text._by_python(path, layout)
    assert_same(quick, slow)
    return quick


MISSING = list(text.MISSING)
CELLS: dict[str, tuple[list[str], list[object]]] = {
    "whole": (["1", "-2", "007", "0"], [1, -2, 7, 0]),
    "plus sign": (["+1", "2"], [1.0, 2.0]),
    "real": (["1.", ".5", "1e5", "1E-5", "+1.5"], [1.0, 0.5, 1e5, 1e-5, 1.5]),
    "infinite": (["inf", "-inf", "Infinity", "INF", "+inf", "1"], [math.inf, -math.inf, *[math.inf] * 3, 1.0]),
    "nan": (["nan", "NaN", "-nan", "NAN", "2.5"], [None, None, None, None, 2.5]),
    "overflow": (["1e400", "-1e400", "1e-400"], [math.inf, -math.inf, 0.0]),
    "beyond int64": (["9223372036854775808", "1"], [2.0**63, 1.0]),
    "largest int64": (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
    "very many digits": (["1" * 5000, "1"], [math.inf, 1.0]),
    "hexadecimal": (["0x10", "0X1f", "2"], [16, 31, 2]),
    "booleans": (["true", "False", "TRUE", ""], [True, False, True, None]),
    "booleans and numbers": (["true", "1"], ["true", "1"]),
    "padded boolean": ([" true", "false"], [" true", "false"]),
    "missing in numbers": ([*MISSING, "1"], [*[None] * len(MISSING), 1]),
    "missing in text": ([*MISSING, "a"], [None, *MISSING[1:], "a"]),
    "missing in booleans": ([*MISSING, "true"], [*[None] * len(MISSING), True]),
    "nothing": (["", "NA"], [None, None]),
    "quoted missing": (['""', '"NA"', "3"], [None, None, 3]),
    "underscores": (["1_000", "2"], ["1_000", "2"]),
    "real underscores": (["1_0.5", "2"], ["1_0.5", "2"]),
    "other digits": (["٣", "2"], ["٣", "2"]),
    "mixed": (["1", "x", "2.5"], ["1", "x", "2.5"]),
    "padded numbers": ([" 1", "2 ", "\t3"], [1, 2, 3]),
    "padded text": ([" a", "a ", "a"], [" a", "a ", "a"]),
    "no-break space": (["1\u00a0", "2"], ["1\u00a0", "2"]),
    "padded missing": ([" NA", "1"], [" NA", "1"]),
    "thousands": (['"1,000"', "2"], ["1,000", "2"]),
    "quoted numbers": (['"1"', '"2"'], [1, 2]),
    "quotes": (['"a ""b"""', 'c"d', '"e"f'], ['a "b"', 'c"d', "ef"]),
    "line breaks": (['"a\nb"', '"a\r\nb"', '"a\n\nb"'], ["a\nb", "a\r\nb", "a\n\nb"]),
    "dates": (["2024-01-31", "2024-02-01"], ["2024-01-31", "2024-02-01"]),
    "time stamps": (["2024-01-31 10:00:00", ""], ["2024-01-31 10:00:00", None]),
    "times": (["12:30", "11:20"], ["12:30", "11:20"]),
    "almost numbers": (["1e", "--1", "- 1", "0x", "1d5"], ["1e", "--1", "- 1", "0x", "1d5"]),
    "NUL": (["a\x00b", "c"], ["a\x00b", "c"]),
    "negative zero": (["-0", "1"], [0, 1]),
}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("kind", list(CELLS))
def test_both_csv_readers_read_the_same_cells(tmp_path: Path, kind: str, ending: str) -> None:
    cells, expected = CELLS[kind]
    path = tmp_path / "t.csv"
    lines = ["x,y", *(f"{cell},{i}" for i, cell in enumerate(cells))]
    path.write_bytes(ending.join([*lines, ""]).encode())
    assert rows_of(read_both(path).columns["x"]) == expected


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("\ufeffx,y\n1,2\n3,4\n", id="BOM"),
        pytest.param('\ufeff"x",y\n1,2\n3,4\n', id="BOM and quotes"),
        pytest.param("x,y\n1,2\n3,4", id="no last line break"),
        pytest.param("x,y\n1,2\n3,4\n\n", id="blank last line"),
        pytest.param("x,y\n\n1,2\n\n\n3,4\n\n\n", id="blank lines"),
        pytest.param("x,y\r\n1,2\r\n\r\n3,4\r\n", id="CRLF"),
        pytest.param(" x ,y \n1,2\n3,4\n", id="padded names"),
        pytest.param('"x","y"\n"1","2"\n"3","4"\n', id="everything quoted"),
    ],
)
def test_both_csv_readers_read_the_same_lines(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    found = read_both(path)
    assert {name: rows_of(column) for name, column in found.columns.items()} == {"x": [1, 3], "y": [2, 4]}


def test_a_name_may_span_lines_and_a_column_have_no_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b',"two\nlines","a,b"\n1,2,3\n4,5,6\n')
    assert list(read_both(path).columns) == ["Unnamed: 0", "two\nlines", "a,b"]


def test_a_table_of_one_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x\n1\n\n2\n")
    assert rows_of(read_both(path).columns["x"]) == [1, 2]


def test_types_are_found_past_the_first_block(tmp_path: Path) -> None:
    """pyarrow guesses types from a first block; a late odd cell must not change the outcome."""
    path = tmp_path / "t.csv"
    pad = "p" * 100
    path.write_text("x,y\n" + f"1,{pad}\n" * 12_000 + f"late,{pad}\n2.5,{pad}\n")
    assert set(read_both(path).columns["x"].labels or ()) == {"1", "late", "2.5"}


CELL_TEXT = st.one_of(
    st.sampled_from([*CELLS["almost numbers"][0], *MISSING, "1", "-3", "2.5", "inf", "true", "False", "0x1F", "a"]),
    st.text(alphabet='ab12.,-+eE"\n \t_xX:', max_size=6),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(CELL_TEXT, min_size=1, max_size=6))
def test_both_csv_readers_agree_on_any_cells(tmp_path: Path, cells: list[str]) -> None:
    path = tmp_path / "any.csv"
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    path.write_bytes("\n".join(["x,y", *(f"{cell},1" for cell in quoted), ""]).encode())
    read_both(path)


def test_json_lines_flatten_objects_and_fill_absent_keys(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = [
        {"a": {"b": 1, "c": {"d": "x"}}, "l": [1, 2], "": 1.5},
        {"a": {"b": 2}, "big": 10**30, "": None},
        {"a": {"b": None}, "l": [1, 2], "flag": True},
    ]
    path.write_text("\n\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8-sig")
    found = {name: rows_of(column) for name, column in read_records(path).columns.items()}
    assert found == {
        "a.b": [1, 2, None],
        "a.c.d": ["x", None, None],
        "l": ["[1, 2]", None, "[1, 2]"],
        "Unnamed: 3": [1.5, None, None],
        "big": [None, 1e30, None],
        "flag": [None, None, True],
    }


def test_every_suffix_is_tested() -> None:
    assert {suffix.lower() for suffix in SUFFIXES} == set(files.SUFFIXES)


def test_a_last_cell_may_hold_a_line_break(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'x,y\n1,"a\n"\n')
    assert rows_of(read_records(path).columns["y"]) == ["a\n"]
    read_both(path)


def test_a_line_longer_than_a_block_of_pyarrow_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    names = [f"a_very_{'long_' * 60}name_of_a_column_{i}" for i in range(4_000)]
    path.write_text("\n".join([",".join(names), ",".join("1" * 4_000), ""]))
    assert len(read_records(path).columns) == 4_000
