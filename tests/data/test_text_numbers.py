"""Numbers that a table keeps as text are numbers, in every form and through every door."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.data.column import Form, as_column, as_numbers, every_form, forms_of, is_gap, values_in
from pedanova.data.objectives import as_scores
from pedanova.sources import read_records

FORMS: dict[str, tuple[list[str], list[float | None], str]] = {
    "plain": (["1e-3", "0.1", "-5", "+2", "0x10"], [1e-3, 0.1, -5, 2, 16], "plain"),
    "padded": ([" 1 ", "2\t"], [1, 2], "plain"),
    "gaps": (["1", "None", "nan", "", "NA", "2"], [1, None, None, None, None, 2], "plain"),
    "infinite": (["1", "inf", "-inf"], [1, np.inf, -np.inf], "plain"),
    "decimal comma": (["0,5", "1,25", "3"], [0.5, 1.25, 3], "comma"),
    "comma below one": (["0,125", "0,250"], [0.125, 0.25], "comma"),
    "both signs": (["1.234,5", "7,25"], [1234.5, 7.25], "comma"),
    "thousands": (["1,000", "25,000.5", "7"], [1000, 25000.5, 7], "thousands"),
    "spaced thousands": (["1 000", "1 000 000"], [1000, 1_000_000], "thousands"),
    "percent": (["12%", "0.5 %", "0"], [0.12, 0.005, 0], "percent"),
    "percent with comma": (["12,5%", "3%"], [0.125, 0.03], "percent"),
    "thousand and million": (["2k", "512", "1.5M", "7B"], [2000, 512, 1_500_000, 7e9], "scaled"),
    "a unit": (["10ms", "2.5 ms", "0"], [10, 2.5, 0], "unit"),
    "bits": (["8bit", "16bit"], [8, 16], "unit"),
    "times": (["10ms", "2s", "1h 20m", "0"], [0.01, 2, 4800, 0], "time"),
    "deviations behind means": (["80.00±7.00", "81.5 ± 6.1", "7 +/- 1"], [80, 81.5, 7], "deviation"),
    "lists of one number": (["[0.5]", "[ 2. ]", "[np.float64(-3.5)]", "np.int64(4)"], [0.5, 2, -3.5, 4], "wrapped"),
    "about": (["~1890", "1799", "-", "≈ 20"], [1890, 1799, None, 20], "wrapped"),
    "sizes": (["512 MB", "1.5GB"], [512e6, 1.5e9], "bytes"),
}


@pytest.mark.parametrize("kind", list(FORMS))
def test_forms(kind: str) -> None:
    texts, expected, name = FORMS[kind]
    column = as_column("x", texts)
    assert forms_of(column.labels or ())[0].name == name
    numbers, note = as_numbers(column) or (column, None)
    found = [None if gone else value for value, gone in zip(numbers.values.tolist(), numbers.absent(), strict=True)]
    assert found == pytest.approx(expected)
    assert note is not None
    assert note.subject == "x"


@pytest.mark.parametrize(
    "texts",
    [
        ["adam", "sgd"], ["2024-01-31", "2024-02-01"], ["1.2.3", "1.2.4"], ["12:30", "11:20"], ["a1", "b2"],
        ["3a", "4b"], ["224x224", "32x32"], ["[1, 2]", "[3]"], ["{'a': 1}"], ["1", "auto"], ["nan", "none"],
        ["True", "False"], ["1e", "--1"], ["inf", "nan"], ["٣", "٤"], ["0.5", "0,5"], ["1-2", "3-4"],
        ["[1", "2]"], ["[]", "[1]"],
    ],
)  # fmt: skip
def test_what_is_no_number(texts: list[str]) -> None:
    assert forms_of(texts) == ()
    assert as_numbers(as_column("x", texts)) is None


def test_what_has_two_meanings_is_a_warning() -> None:
    column = as_column("x", ["1,234", "2,500"])
    numbers, note = as_numbers(column) or pytest.fail("no numbers")
    assert (numbers.values.tolist(), note.severity, "decimal=','" in note) == ([1234, 2500], "warning", True)
    numbers, note = as_numbers(column, decimal=",") or pytest.fail("no numbers")
    assert (numbers.values.tolist(), note.severity) == ([1.234, 2.5], "guess")


def test_forms_of_parts_have_that_of_the_whole() -> None:
    one, two = ["1", "2"], ["1,5", "2,25"]
    both = set(every_form(one)) & set(every_form(two))
    assert both == set(every_form([*one, *two])) == {Form("comma")}
    assert not is_gap(0)
    assert is_gap(" NaN ")


ROWS = 240
RNG = np.random.default_rng(4)
LR, LAYERS, LOSS = RNG.uniform(0.001, 1.0, ROWS).round(4), RNG.integers(1, 40, ROWS), RNG.normal(size=ROWS).round(5)
CLEAN: dict[str, Any] = {"lr": LR, "layers": LAYERS, "optimizer": RNG.choice(["adam", "sgd"], ROWS), "loss": LOSS}
TEXT = {name: [str(value) for value in values] for name, values in CLEAN.items()}


def same(found: pa.Analysis, judge: pa.Analysis) -> None:
    assert found.space == judge.space
    assert found.data.tallies == judge.data.tallies


def sources(table: dict[str, list[str]], folder: Path) -> dict[str, Any]:
    import pandas as pd
    import polars as pl
    import pyarrow  # noqa: ICN001

    made = {
        "dict": table,
        "pandas": pd.DataFrame(table),
        "Polars": pl.DataFrame(table),
        "pyarrow": pyarrow.table(table),
    }
    pl.DataFrame(table).write_parquet(folder / "t.parquet")
    pd.DataFrame(table).to_csv(folder / "t.csv", index=False, quoting=1)
    return made | {"Parquet": str(folder / "t.parquet"), "CSV": str(folder / "t.csv")}


@pytest.mark.parametrize("name", ["dict", "pandas", "Polars", "pyarrow", "Parquet", "CSV"])
def test_through_every_door(name: str, tmp_path: Path) -> None:
    a = pa.analyze(sources(TEXT, tmp_path)[name], "loss")
    same(a, pa.analyze(CLEAN, "loss"))
    assert name == "CSV" or "lr: numbers stored as text are read as numbers" in a.notes
    b = pa.analyze(sources(TEXT, tmp_path)[name], "loss", where="lr > 0.1", space={"lr": pa.Float(0, 1)})
    same(b, pa.analyze(CLEAN, "loss", where="lr > 0.1", space={"lr": pa.Float(0, 1)}))


@pytest.mark.parametrize("many", [False, True])
def test_in_parts_too(many: bool, tmp_path: Path) -> None:
    """The whole table decides: `k` needs its decimal comma in one file alone."""
    import polars as pl

    cut = 100
    table = {"k": [f"{i % 30}" if i < cut else f"{i % 30},5" for i in range(ROWS)]} | TEXT
    table |= {"u": [f"{x}%" for x in LR]} if many else {}
    for part, rows in (("a", slice(0, cut)), ("b", slice(cut, ROWS))):
        pl.DataFrame({name: values[rows] for name, values in table.items()}).write_parquet(tmp_path / f"{part}.parquet")
    held, parts = pa.analyze(table, "loss"), pa.analyze(str(tmp_path), "loss", scan=pa.Scan(stream=True))
    same(parts, held)
    assert {note for note in parts.notes if "text" in note} <= set(held.notes)
    assert isinstance(parts.space["k"], pa.Float | pa.Ordinal)
    chosen = [
        pa.analyze(data, "loss", where="k > 7", **more)
        for data, more in ((table, {}), (str(tmp_path), {"scan": pa.Scan(stream=True)}))
    ]
    same(*chosen)


def test_an_objective_with_percent_signs() -> None:
    a = pa.analyze({"x": LR, "accuracy": [f"{value:.3f}%" for value in LOSS]}, "accuracy")
    assert (
        a.importance(**COUNTS).to_dict()
        == pa.analyze({"x": LR, "accuracy": LOSS.round(3)}, "accuracy").importance(**COUNTS).to_dict()
    )


@pytest.mark.parametrize("word", ["none", "None", "null", "NA", "nan"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_bare_word_among_words_is_a_category(word: str, stream: bool, tmp_path: Path) -> None:
    aug = np.array([word, "flip", ""])[np.arange(ROWS) % 3]
    file = tmp_path / "t.csv"
    file.write_text("lr,aug,loss\n" + "".join(f"{x},{w},{y}\n" for x, w, y in zip(LR, aug, LOSS, strict=True)))
    a = pa.analyze(str(file), "loss", scan=pa.Scan(stream=stream))
    assert set(a.space["aug"].choices) == {word, "flip"}  # type: ignore[union-attr]
    assert a.space["aug"].when == ()
    assert any(word in note and "not as a missing value" in note for note in a.notes)
    tally = a.data.tallies["aug"]
    assert tally.counts[:, tally.grid.missing].sum() == np.sum(aug == "")


def test_a_part_that_holds_one_word_alone_does_not_decide(tmp_path: Path) -> None:
    for part, words in (("a", ["none"]), ("b", ["flip", "none"])):
        lines = [f"{x},{words[i % len(words)]},{y}" for i, (x, y) in enumerate(zip(LR, LOSS, strict=True))]
        (tmp_path / f"{part}.csv").write_text("\n".join(["lr,aug,loss", *lines]))
    for stream in (True, False):
        a = pa.analyze(str(tmp_path / "*.csv"), "loss", scan=pa.Scan(stream=stream))
        assert set(a.space["aug"].choices) == {"none", "flip"}  # type: ignore[union-attr]


def test_very_long_texts_are_no_amounts() -> None:
    """A number of thousands of digits took minutes."""
    numbers = as_numbers(as_column("t", ["1h 20m", "1" * 4_301]))
    assert numbers is None


def test_points_beside_decimal_commas_separate_thousands() -> None:
    numbers, _ = as_numbers(as_column("x", ["1.496", "12,5", "3,25", "1.234.567"])) or (None, None)
    assert numbers is not None
    assert numbers.values.tolist() == [1496.0, 12.5, 3.25, 1234567.0]
    assert as_numbers(as_column("x", ["0.123", "12,5"])) is None  # no thousands


@pytest.mark.parametrize("readers", ["pyarrow", "python"])
@pytest.mark.parametrize(("decimal", "samples"), [(None, 1496), (",", 1496), (".", 1.496)])
def test_points_separate_thousands_where_other_columns_have_commas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readers: str, decimal: str | None, samples: float
) -> None:
    """Also if the first rows have no thousands; `2.5` in a column shows that its points are decimal points."""
    if readers == "python":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    lines = [f"{i},5;{'1.496' if i == 35 else 400 + i};{i}.5;{'' if i else '2.104'};{i}.250" for i in range(40)]
    (tmp_path / "t.csv").write_text("lr;samples;plain;gaps;rate\n" + "\n".join(lines))
    records = read_records(tmp_path / "t.csv", decimal=decimal)
    table = {name: values_in(column) for name, column in records.columns.items()}
    assert table["samples"][35] == samples
    assert table["samples"][0] == 400
    assert table["gaps"][:2] == [samples + (608 if samples > 2 else 0.608), None]
    assert table["plain"][3] == 3.5
    assert table["rate"][0] == 0.25
    doubts = [note.subject for note in records.notes if note.kind == "doubt"]
    assert doubts == (["samples", "gaps"] if decimal is None else [])


def test_a_decimal_comma_that_is_given_makes_points_thousands() -> None:
    for decimal, numbers in ((None, [1.496, 12]), (",", [1496, 12])):
        column, _ = as_numbers(as_column("x", ["1.496", "12"]), decimal=decimal) or pytest.fail("no numbers")
        assert column.values.tolist() == numbers


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["0:11:49", "1:02:03.5", "26:00:00"], [709.0, 3723.5, 93600.0]),  # str(timedelta)
        (["1 day, 0:00:10", "2 days, 10:00:00"], [86410.0, 208800.0]),
        (["0 days 00:04:15.123000", "1 days 02:00:00"], [255.123, 93600.0]),  # pandas
        (["00:11:49", "00:59:00"], [709.0, 3540.0]),  # Slurm
        (["09:12:00", "14:30:00"], None),  # times of day
        (["00:11:49", "14:30:00"], None),
        (["0:11:49", "1:62:00"], None),
    ],
)
def test_durations_are_seconds(texts: list[str], seconds: list[float] | None) -> None:
    numbers = as_numbers(as_column("x", texts))
    assert (None if numbers is None else numbers[0].values.tolist()) == seconds


def test_an_objective_is_no_time_of_day() -> None:
    scores, _ = as_scores(as_column("x", ["00:11:49", "14:30:00"])) or pytest.fail("no numbers")
    assert scores.values.tolist() == [709.0, 52200.0]


def test_a_word_among_many_numbers_rules_out_all_formats_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a column took half a minute, because most formats read all its numbers before they reached the word."""
    read, texts = Form.read, list[str]()
    monkeypatch.setattr(Form, "read", lambda form, text: texts.append(text) or read(form, text))
    assert every_form([*(f"{i / 7:.6f}" for i in range(2_000)), "auto"]) == ()
    assert len(texts) < 400
