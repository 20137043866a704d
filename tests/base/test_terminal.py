"""Letters as a terminal shows them."""

from __future__ import annotations

import numpy as np

import pedanova as pa
from pedanova.base.progress import describe
from pedanova.base.terminal import TableColumn, laid_out, printable, shorten, sparkline, text_table, width_of
from pedanova.measures.interactions import Interaction, Interactions

HOSTILE = ["\x1b[31mred\x1b[0m", "two\nlines", "\x9b2J", "名前" * 20, "a" * 300, "\u202eabc"]


class TestLetters:
    def test_names_are_shown_not_obeyed(self) -> None:
        for name in HOSTILE:
            assert printable(name).isprintable()
            assert width_of(shorten(name, 20)) <= 20
        assert printable("a\u00a0b") == "a b"


HEADER, ROWS = ["name", "n"], [["名前", "1"], ["\x1b[31mab", "22"]]


class TestColumns:
    def test_bars_give_way_first_then_columns_then_names(self) -> None:
        rows = ["alpha_parameter_with_a_long_name", "b"]
        columns = [
            TableColumn("name", rows, "name"),
            TableColumn("", kind="bar", parts=[1.0, 0.5]),
            TableColumn("kept", ["10.0%", "5.0%"]),
            TableColumn("leaves", ["x" * 12, "y"], leave=1),
        ]
        wide, middle, narrow = (text_table(columns, width=width) for width in (100, 60, 30))
        assert "█" * 20 in wide
        assert "leaves" in middle
        assert "█" * 20 not in middle
        assert "leaves" not in narrow
        assert "…" in narrow
        assert "10.0%" in narrow

    def test_wide_letters_stay_in_line(self) -> None:
        table = text_table([TableColumn("name", ["名前", "ab"], "name"), TableColumn("n", ["1", "22"])], width=40)
        assert {width_of(line) for line in table.splitlines()} == {8}


class TestOneLayout:
    def test_cells_are_as_wide_as_their_columns(self) -> None:
        assert laid_out([HEADER, *ROWS[:1]]) == [["name", "n"], ["名前", "1"]]
        assert laid_out([HEADER, *ROWS[:1]], left=(1,), least=3) == [["name", "n  "], ["名前", "1  "]]

    def test_a_plain_table(self) -> None:
        cells = zip(*ROWS, strict=True)
        lines = text_table([TableColumn(*column) for column in zip(HEADER, cells, strict=True)]).splitlines()
        assert lines == ["name       n", "───────  ───", "名前       1", "�[31mab   22"]
        assert {width_of(line) for line in lines} == {12}

    def test_every_printed_form_has_it(self) -> None:
        random = np.random.default_rng(0)
        name = "\x1b[31mlr"  # it is shown, and steers no terminal
        a = pa.analyze({name: random.random(300), "b": random.integers(0, 5, 300)}, random.random(300))
        density = str(a.densities(name)).splitlines()
        assert density[0].startswith("�[31mlr: values in the best 10 %")
        assert density[1].split()[0] == "�[31mlr"
        assert set(density[2]) == {"─", " "}
        assert 12 < len(density) <= 15
        row = Interaction((name, "b"), *[0.1] * 8)
        pairs = str(Interactions((row,) * 30, "target", "region", 8, corrected=True)).splitlines()
        assert pairs[1].split() == " ".join(a.interactions().header()).split()
        assert set(pairs[2]) == {"─", " "}
        assert pairs[-1] == "… and 10 more; .to_text() shows all"
        assert len(pairs) == 24
        for text in (*density, *pairs):
            assert text.isprintable()


def test_a_sparkline_shows_what_is_above_zero() -> None:
    assert sparkline([0.0, 0.01, 0.5, 1.0]) == " ▁▄█"


def test_how_far_a_reading_has_come() -> None:
    assert describe("runs", 500, 2000, 2.0) == "reading runs: 500 of 2,000, 250 a second, 6 s left"
