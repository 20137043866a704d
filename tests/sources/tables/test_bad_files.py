"""Files that lie: every case ends in one line that names the file and the fault."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import polars as pl
import pytest

import pedanova
from helpers.common import refuse
from pedanova.errors import DataError, FormatError, PedanovaError


def analyze(path: Path | str) -> pedanova.Analysis:
    return pedanova.analyze(path, "loss", levels=[0.1], scan=pedanova.Scan(threads=1))


def hide_pyarrow(monkeypatch: pytest.MonkeyPatch, *, hide: bool) -> None:
    """As if pyarrow were not installed."""
    find = importlib.util.find_spec
    if hide:
        monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "pyarrow" else find(n))


GOOD = "lr,loss\n0.1,1\n0.2,2\n"
BAD_FILES: dict[str, tuple[str, bytes, type[PedanovaError], tuple[str, ...]]] = {
    "short row": ("t.csv", b"lr,loss\n1,2\n3\n4,5\n", FormatError, ("line 3", "1 field", "header has 2")),
    "long row": ("t.csv", b"lr,loss\n1,2\n3,4,5\n", FormatError, ("line 3", "3 fields")),
    "spaces only": ("t.csv", b"lr,loss\n1,2\n   \n", FormatError, ("line 3",)),
    "open quote": ("t.csv", b'lr,loss\n1,2\n3,"4\n5,6\n', FormatError, (r"'4\n5,6\n'", "quote")),
    "open quote in header": ("t.csv", b'lr,"loss\n1,2\n3,4\n', DataError, ("t.csv",)),
    "empty": ("t.csv", b"", DataError, ("is empty",)),
    "line breaks only": ("t.csv", b"\n\n\n", FormatError, ("empty line",)),
    "BOM only": ("t.csv", b"\xef\xbb\xbf", FormatError, ("empty",)),
    "header only": ("t.csv", b"lr,loss\n", DataError, ("no rows",)),
    "header without end": ("t.csv", b"lr,loss", DataError, ("no rows",)),
    "not UTF-8": ("t.csv", b"lr,loss\n1,2\n3,\xe9\n", FormatError, ("line 3", "0xe9", "UTF-8")),
    "late not UTF-8": ("t.csv", b"a,b\n" + b"1,2\n" * 9999 + b"\xff,1\n", FormatError, ("line 10001", "0xff")),
    "UTF-16": ("t.csv", GOOD.encode("utf-16"), FormatError, ("UTF-8",)),
    "huge field": ("t.csv", b"a,b\n1," + b"x" * 200_000 + b",3\n", FormatError, ("t.csv",)),
    "CSV as Parquet": ("t.parquet", GOOD.encode(), FormatError, ("t.parquet", "Parquet")),
    "CSV as Arrow": ("t.arrow", GOOD.encode(), FormatError, ("t.arrow", "Arrow IPC")),
    "broken stream": ("t.arrow", b"\xff\xff\xff\xff\x10\x00\x00\x00abc", FormatError, ("t.arrow",)),
    "empty Parquet": ("t.parquet", b"", DataError, ("is empty",)),
    "Parquet as CSV": ("t.csv", b"PAR1\x15\x04\x15\xfe\x00\n\xc3\x28", FormatError, ("t.csv", "UTF-8")),
    "broken JSON": ("t.jsonl", b'{"lr": 1}\n{"lr": \n', FormatError, ("line 2", "'{\"lr\":'")),
    "no object": ("t.jsonl", b'{"lr": 1}\n[1, 2]\n', FormatError, ("line 2", "[1, 2]")),
    "one JSON array": ("t.jsonl", b'[{"lr": 1},\n{"lr": 2}]\n', FormatError, ("line 1",)),
    "not UTF-8 JSON": ("t.jsonl", b'{"a": 1}\n{"a": "\xe9"}\n', FormatError, ("line 2", "0xe9")),
    "deep JSON": ("t.jsonl", b'{"a":' * 99_999 + b"1" + b"}" * 99_999, FormatError, ("line 1", "deep")),
    "too many digits": ("t.jsonl", b'{"a": ' + b"9" * 5000 + b"}", FormatError, ("line 1", "digits")),
    "blank JSON lines": ("t.jsonl", b"\n\n", FormatError, ("is empty",)),
    "empty objects": ("t.jsonl", b"{}\n{}\n", FormatError, ("is empty",)),
    "unknown suffix": ("t.dat", b"abc", DataError, ("'.dat'", ".csv")),
    "no suffix": ("table", b"abc", DataError, ("''", ".csv")),
}


@pytest.mark.parametrize("pyarrow", [True, False], ids=["pyarrow", "without pyarrow"])
@pytest.mark.parametrize("case", list(BAD_FILES))
def test_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, pyarrow: bool) -> None:
    name, content, kind, parts = BAD_FILES[case]
    hide_pyarrow(monkeypatch, hide=not pyarrow and Path(name).suffix not in (".parquet", ".arrow"))
    (tmp_path / name).write_bytes(content)
    refuse(kind, name, *parts, of=lambda: analyze(tmp_path / name))


ROWS = [b"%d,%d,%d" % (i, i * 7 % 64, i % 3) for i in range(3000)]
LATE_FAULTS: dict[str, tuple[bytes, dict[int, bytes]]] = {
    "open quote before the objective": (b"lr,seed,loss", {2500: b'1,2,"3'}),
    "open quote in a column that is not read": (b"lr,loss,remark", {2500: b'1,2,"3'}),
    "open quote in the middle": (b"lr,loss,remark", {2500: b'1,"2,3', 2501: b"1" * (1 << 18)}),
    "not UTF-8": (b"lr,kind,loss", {2500: b"1,\xe9,3"}),
}


@pytest.mark.parametrize("peek", [1 << 13, 1 << 25], ids=["below the first rows", "among the first rows"])
@pytest.mark.parametrize("case", list(LATE_FAULTS))
def test_a_streamed_file_is_refused_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, peek: int
) -> None:
    header, faults = LATE_FAULTS[case]
    monkeypatch.setattr("pedanova.sources.scans.batches.CSV_PEEK", peek)
    (tmp_path / "t.csv").write_bytes(b"\n".join([header, *(faults.get(i, row) for i, row in enumerate(ROWS))]))
    params = ["lr", "kind"] if b"kind" in header else ["lr"]

    def said(*, stream: bool) -> str:
        scan = pedanova.Scan(stream=stream, threads=1)
        return refuse(FormatError, of=lambda: pedanova.analyze(tmp_path / "t.csv", "loss", params=params, scan=scan))

    assert said(stream=True) == said(stream=False)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.7, 0.99])
def test_truncated_files(tmp_path: Path, suffix: str, part: float) -> None:
    whole = tmp_path / f"whole{suffix}"
    frame = pl.DataFrame({"lr": [0.1 * i for i in range(60)], "loss": [i * 37 % 60 for i in range(60)]})
    if suffix == ".parquet":
        frame.write_parquet(whole)
    else:
        frame.write_ipc(whole)
    content = whole.read_bytes()
    cut = tmp_path / f"cut{suffix}"
    cut.write_bytes(content[: int(len(content) * part)])
    refuse(FormatError, f"cut{suffix}", of=lambda: analyze(cut))


def test_places_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    refuse(DataError, "folder.csv", "folder", of=lambda: analyze(tmp_path / "folder.csv"))
    refuse(DataError, "missing.csv", "does not exist", of=lambda: analyze(tmp_path / "missing.csv"))
    refuse(DataError, "loop.csv", of=lambda: analyze(tmp_path / "loop.csv"))
    refuse(DataError, "xxx", of=lambda: analyze("x" * 5000 + ".csv"))
    refuse(DataError, "t.csv", of=lambda: analyze("a\0t.csv"))
    refuse(DataError, "the path is empty", of=lambda: analyze(""))


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text(GOOD)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read anything: let the system's refusal come from a stand-in

        def deny(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "open", deny)
    refuse(DataError, "t.csv", "no permission", of=lambda: analyze(path))


@pytest.mark.parametrize("pyarrow", [True, False], ids=["pyarrow", "without pyarrow"])
def test_a_thousand_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyarrow: bool) -> None:
    hide_pyarrow(monkeypatch, hide=not pyarrow)
    names = [f"p{i}" for i in range(1_000)]
    lines = [",".join([*names, "loss"])]
    lines += [",".join([str((i + row) % 3) for i in range(1_000)] + [str(row)]) for row in range(30)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines))
    found = analyze(path)
    assert list(found.data.tallies) == names
    assert len(found) == 30
