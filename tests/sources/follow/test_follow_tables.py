"""Text files that grow: rows are read once, and tell what the whole file tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.common import refuse
from helpers.followed import Tale, same
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.sources import read_records
from pedanova.sources.follow import tables
from pedanova.sources.follow.follow import follow

CELLS = st.sampled_from(
    ["", "1", "-2", "0.5", "1e-3", "NA", "nan", "true", "False", "adam", "a b", '"a\nb"', '"x,y"', "3.0"]
)
VALUES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(["adam", "sgd", ""])


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


@pytest.mark.slow
@settings(max_examples=150)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12), step=st.integers(1, 40))
def test_a_table_of_any_cells_in_any_pieces(
    rows: list[tuple[str, str, str]], step: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "grows.csv"
    path.write_text("a,b,c\n", encoding="utf-8")
    text = "".join(",".join(row) + "\n" for row in rows)
    tale = Tale(follow(path))
    for start in range(0, len(text), step):
        append(path, text[start : start + step])
        tale.look()
    whole = [row for row in rows if any(row)]
    if whole:
        assert tale.new == read_records(path).rows
        same(tale.rows, read_records(path))


@pytest.mark.slow
@settings(max_examples=100)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1, max_size=3), min_size=1, max_size=10),
    step=st.integers(1, 40),
)
def test_lines_of_json_in_any_pieces(
    rows: list[dict[str, object]], step: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "grows.jsonl"
    path.write_text("", encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    tale = Tale(follow(path))
    for start in range(0, len(text), step):
        append(path, text[start : start + step])
        tale.look()
    assert tale.new == len(rows)
    same(tale.rows, read_records(path))


def test_the_whole_file_is_read_once_for_a_change_of_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("lr,loss\n0.1,1\n", encoding="utf-8")
    tale, whole = Tale(follow(path)), []
    read = vars(tables)["read_text_table"]
    monkeypatch.setattr(tables, "read_text_table", lambda *given: whole.append(given) or read(*given))
    for row in range(200):
        append(path, f"{'auto' if row == 50 else row},{row}\n")
        tale.look()
    assert tale.new == 201
    assert len(whole) == 2, "at the beginning, and when the first word came"
    same(tale.rows, read_records(path))


def test_a_last_line_without_an_end_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("lr,loss\n0.1,1\n0.2,2", encoding="utf-8")
    tale = Tale(follow(path))
    assert tale.look().finished == 1
    append(path, "5\n")
    assert tale.look().finished == 2
    assert tale.rows.columns["loss"].values.tolist() == [1, 25]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_cut_short_replaced_gone_and_back(tmp_path: Path, suffix: str) -> None:
    def text(rows: range) -> str:
        lines = [f"{row},{row}\n" if suffix == "csv" else json.dumps({"lr": row, "loss": row}) + "\n" for row in rows]
        return ("lr,loss\n" if suffix == "csv" else "") + "".join(lines)

    path, other = tmp_path / f"trials.{suffix}", tmp_path / "other"
    path.write_text(text(range(9)), encoding="utf-8")
    tale = Tale(follow(path))
    assert tale.look().new == 9
    path.write_text(text(range(4)), encoding="utf-8")
    assert tale.look().event == "shortened"
    assert tale.new == 4
    path.write_text(text(range(30, 50)), encoding="utf-8")  # longer than before, and yet another
    assert tale.look().event == "replaced"
    assert tale.new == 20
    path.unlink()
    refuse(DataError, "waiting for it to come back", of=tale.look)
    other.write_text(text(range(30, 51)), encoding="utf-8")
    other.replace(path)
    tale.look()
    assert tale.new == 21, "back, and one row longer"
    other.write_text(text(range(31, 52)), encoding="utf-8")
    other.replace(path)
    assert tale.look().event == "replaced"
    assert tale.new == 21
    path.write_text("", encoding="utf-8")
    assert tale.look().finished == 0
    append(path, text(range(3)))
    assert tale.look().new == 3
    same(tale.rows, read_records(path))


def test_a_line_that_does_not_fit_is_told_with_its_number_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("lr,loss,x\n1,2,3\n", encoding="utf-8")
    tale = Tale(follow(path))
    tale.look()
    append(path, "4,5,6\n7,8\n")
    for _ in range(2):
        refuse(FormatError, "line 4 has 2 fields", of=tale.look)
    path.write_text("lr,loss,x\n1,2,3\n4,5,6\n7,8,9\n", encoding="utf-8")
    tale.look()
    assert tale.new == 3


def test_rows_with_a_field_less_than_headings(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("lr;loss;x;\n1;2;3\n", encoding="utf-8")
    tale = Tale(follow(path, delimiter=";"))
    tale.look()
    append(path, "4;5;6\n")
    tale.look()
    assert tale.new == 2
    same(tale.rows, read_records(path, delimiter=";"))


def test_what_cannot_be_followed(tmp_path: Path) -> None:
    refuse(DataError, "cannot be followed", of=lambda: follow({"a": [1]}))
    refuse(DataError, "does not exist", of=lambda: follow(tmp_path / "none.csv"))
    refuse(DataError, "several files", of=lambda: follow(f"{tmp_path}/*.csv"))
    (tmp_path / "x.pkl").write_bytes(b"")
    refuse(DataError, "pickle", of=lambda: follow(tmp_path / "x.pkl"))


def test_any_other_file_is_read_anew_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "trials.json"
    path.write_text(json.dumps([{"lr": n, "loss": n} for n in range(3)]), encoding="utf-8")
    tale = Tale(follow(path))
    assert tale.look().new == 3
    assert tale.look().records is None
    path.write_text(json.dumps([{"lr": n, "loss": n} for n in range(5)]), encoding="utf-8")
    assert tale.look().new == 2
    path.write_text("[", encoding="utf-8")
    refuse(PedanovaError, "no JSON", of=tale.look)
    path.write_text(json.dumps([{"lr": 1, "loss": 2}]), encoding="utf-8")
    assert tale.look().event == "replaced"
    assert tale.new == 1
