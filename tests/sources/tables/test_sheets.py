"""Spreadsheets: as the CSV that they would be saved as, one sheet of several by its name."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.common import DEMO, refuse
from helpers.logs import cells, read_untouched, tolerate
from helpers.tools import cut_short
from pedanova.cli.program import main
from pedanova.errors import DataError, FormatError, NoTrialsError
from pedanova.sources import read_records

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

ROWS = [["lr", "depth", "net", "loss"]] + [
    [0.01 * (n + 1), 1 + n % 4, ("a", "b")[n % 2], (n * 7 % 13) / 10] for n in range(60)
]


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


def test_a_sheet_is_what_its_csv_is(tmp_path: Path) -> None:
    """The demo's table, number by number."""
    csv = read_records(DEMO)
    columns = {name: cells(csv, name) for name in csv.columns}
    plain = [[str(value) if value == math.inf else value for value in column] for column in columns.values()]
    rows = [list(columns), *map(list, zip(*plain, strict=True))]
    excel = read_untouched(book(tmp_path / "trials.xlsx", Sheet1=rows))
    assert repr({name: cells(excel, name) for name in excel.columns}) == repr(columns)
    one, other = (
        pa.analyze(source, "error").importance(draws=0).to_dict() for source in (DEMO, tmp_path / "trials.xlsx")
    )
    assert one == other


def test_empty_sheets_and_rows_do_not_count(tmp_path: Path) -> None:
    padded = [[], *ROWS[:20], [], *ROWS[20:], []]
    path = book(tmp_path / "trials.xlsx", Results=padded, Sheet2=[], Sheet3=[["only a title"]])
    assert read_records(path).rows == 60
    refuse(NoTrialsError, "no sheet", of=lambda: read_records(book(tmp_path / "empty.xlsx", a=[], b=[["x", "y"]])))


def test_several_sheets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The refusal names them, and what it advises is done."""
    path = book(tmp_path / "trials.xlsx", mnist=ROWS, cifar=ROWS[:41])
    refuse(DataError, "2 sheets", "study=", "mnist (60 rows), cifar (40 rows)", of=lambda: pa.analyze(path, "loss"))
    assert len(pa.analyze(path, "loss", study="cifar")) == 40
    assert main(["analyze", str(path), "--objective", "loss"]) == 2
    assert "--study" in capsys.readouterr().err
    assert main(["analyze", str(path), "--objective", "loss", "--study", "mnist"]) == 0
    refuse(DataError, "'svhn'", "mnist", of=lambda: pa.analyze(path, "loss", study="svhn"))


def test_titles_and_several_tables_in_a_sheet(tmp_path: Path) -> None:
    plain = read_records(book(tmp_path / "plain.xlsx", s=ROWS))
    parts = [["Changing lr"], ROWS[0], *ROWS[1:30], [], ["Changing depth"], ROWS[0], *ROWS[30:]]
    for rows in ([["Results"], *ROWS], [["", "metric"], [], *ROWS], parts):
        records = read_records(book(tmp_path / "t.xlsx", s=rows))
        assert {name: cells(records, name) for name in records.columns} == {n: cells(plain, n) for n in plain.columns}
        assert any("above the table is skipped" in note for note in records.notes)
    path = book(tmp_path / "t.xlsx", s=[*parts[:31], ["Times"], ["lr", "seconds"], [0.1, 3]])
    refuse(FormatError, "has another table below 'Times'; copy each table to a sheet", of=lambda: read_records(path))


def test_kinds_of_cells(tmp_path: Path) -> None:
    rows = [["when", "took", "flag", "n", "word", "gap"]]
    rows += [[dt.datetime(2025, 5, 22, n + 1), dt.timedelta(seconds=90), n > 1, n, f"w, {n}", None] for n in range(4)]
    rows[3][3] = rows[3][5] = 0.5
    records = read_records(book(tmp_path / "t.xlsx", s=rows))
    assert cells(records, "flag") == [False, False, True, True]
    assert cells(records, "n") == [0, 1, 0.5, 3]
    assert cells(records, "word") == ["w, 0", "w, 1", "w, 2", "w, 3"]
    assert cells(records, "took") == [90.0] * 4
    assert cells(records, "gap") == [None, None, 0.5, None]
    assert cells(records, "when")[3] == "2025-05-22T04:00:00"


def test_what_is_no_spreadsheet(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", s=ROWS)
    for _ in cut_short(path, steps=8):
        tolerate(lambda: read_records(path))
    path.write_bytes(path.read_bytes()[:2000])
    refuse(FormatError, str(path), "not a readable spreadsheet", "CSV", of=lambda: read_records(path))
    path.write_text("lr,loss\n0.1,0.2\n")
    refuse(DataError, "not a readable spreadsheet", "CSV", of=lambda: read_records(path))


def test_messages_name_the_workbook(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", s=[["lr", "depth", "loss"], ["---"] * 3, [1, 2, 3]])
    message = refuse(FormatError, str(path), of=lambda: read_records(path))
    assert "sheet.csv" not in message


def test_a_merged_cell_holds_for_all_its_rows(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", s=[[], ["", "net", "lr", "loss"], *(["", "", n, n % 5] for n in range(1, 13))])
    workbook = openpyxl.load_workbook(path)
    sheet = workbook["s"]
    sheet["B3"], sheet["B8"] = "small", "large"
    sheet.merge_cells("B3:B7")
    sheet.merge_cells("B8:B14")
    workbook.save(path)
    assert cells(read_records(path), "net") == ["small"] * 5 + ["large"] * 7


def test_columns_of_one_name_are_numbered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["lr", "note", "loss", "note"], *([0.1 * n, "a", n * 7 % 13, "b"] for n in range(1, 31))]
    path = book(tmp_path / "t.xlsx", s=rows)
    assert list(read_records(path).columns) == ["lr", "note", "loss", "note.1"]
    assert main(["analyze", str(path)]) == 0
    first = capsys.readouterr().out.split("\n\n")[0]
    assert "columns with the same name in the header: note; numbers are added" in " ".join(first.split())
