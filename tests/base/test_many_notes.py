"""Notes on hundreds of columns: told as one where they say the same, and never as a wall of lines."""

from __future__ import annotations

from pedanova.base.notes import MOST_SHOWN, Count, Note, ranged, shortened


def missing(name: str, rows: int) -> Note:
    return Note("rows", Count(rows), " of ", Count(100), " rows have no value", subject=name)


def test_notes_that_differ_in_counts_alone_are_one() -> None:
    notes = [missing(f"x{i}", 10 + i) for i in range(12)]
    assert ranged(notes) == ["x0, x1, x2, x3, x4, x5, x6, x7 and 4 more: 10 to 21 of 100 rows have no value"]


def test_few_of_them_keep_their_counts() -> None:
    notes = [missing(f"x{i}", 10 + i) for i in range(3)]
    assert ranged(notes) == notes


def test_others_stay_as_they_are_and_in_their_order() -> None:
    alone, of_all = Note("doubt", "beware", subject="a"), Note("rows", Count(3), " rows failed")
    notes = [alone, *(missing(f"x{i}", 5) for i in range(5)), of_all]
    assert ranged(notes) == [alone, "x0, x1, x2, x3, x4: 5 of 100 rows have no value", of_all]


def test_no_kind_is_shown_more_often_than_a_screen_holds() -> None:
    guesses = [Note("space", f"taken as a number up to {i}", subject=f"x{i}") for i in range(900)]
    warning = Note("doubt", "beware")
    found = shortened([warning, *guesses])
    assert found[0] == warning
    assert found[1 : 1 + MOST_SHOWN] == guesses[:MOST_SHOWN]
    assert found[1 + MOST_SHOWN :] == ["and 880 more notes like these; the analysis has all of them"]
    assert found[-1].severity == guesses[0].severity
