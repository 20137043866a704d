"""Notes as data: they add in any grouping, travel, are kept in files, and are worded by the door."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pedanova.base.notes import MOST_SHOWN, Count, Note, added, gathered, in_order, ranged, shortened
from pedanova.errors import Arg, FormatError, PartError, QueryError


def failed(rows: int, of: int) -> Note:
    return Note("rows", Count(rows), " of ", Count(of), " rows failed and are dropped")


notes = st.lists(
    st.one_of(
        st.builds(failed, st.integers(0, 5), st.integers(5, 9)),
        st.builds(lambda n: Note("rows", Count(n), " rows are idle", subject="m"), st.integers(0, 3)),
        st.sampled_from([Note("space", "2 categories", subject=name) for name in "ab"]),
        st.just(Note("doubt", "pass ", Arg("direction", "maximize"), " otherwise")),
    )
)


@given(notes, st.data())
def test_they_add_in_any_grouping(all_of_them: list[Note], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(all_of_them)))
    whole = added(all_of_them)
    assert added([*added(all_of_them[:cut]), *added(all_of_them[cut:])]) == whole
    assert added(whole) == whole
    assert sum(sum(note.counts) for note in whole) == sum(sum(note.counts) for note in all_of_them)


@given(notes)
def test_they_travel_and_are_kept(all_of_them: list[Note]) -> None:
    for copies in (
        pickle.loads(pickle.dumps(all_of_them)),
        [Note.from_dict(json.loads(json.dumps(note.to_dict()))) for note in all_of_them],
    ):
        for note, copy in zip(all_of_them, copies, strict=True):
            assert (copy, copy.kind, copy.subject, copy.severity) == (note, note.kind, note.subject, note.severity)
            assert copy.words == note.words
            assert copy.in_shell() == note.in_shell()


def test_counts_of_zero_are_added_and_not_told() -> None:
    assert in_order(added([failed(0, 9)])) == ()
    assert in_order(added([failed(0, 9), failed(2, 7)])) == ("2 of 16 rows failed and are dropped",)


def test_what_is_said_of_several_is_said_once() -> None:
    several = [Note("space", "2 categories", subject=name) for name in "abc"]
    assert gathered([several[0], failed(1, 2), *several[1:], several[0]]) == [
        "a, b, c: 2 categories",
        "1 of 2 rows failed and is dropped",
    ]
    # A colon in somebody's text is no subject.
    assert gathered([Note("source", "a: 1"), Note("source", "b: 1")]) == ["a: 1", "b: 1"]


def test_warnings_come_first_and_guesses_last() -> None:
    doubt, fact, guess = Note("doubt", "d"), Note("rows", "r"), Note("space", "s")
    assert in_order([guess, fact, doubt]) == (doubt, fact, guess)


@pytest.mark.parametrize(
    ("word", "python", "shell"),
    [
        (Arg("objective"), "objective=", "--objective"),
        (Arg("target", 2.0), "target=2.0", "--target 2.0"),
        (Arg("direction", "maximize"), "direction='maximize'", "--direction maximize"),
        (Arg("force", True), "force=True", "--force"),
        (Arg("stream", False), "stream=False", "--no-stream"),
        (Arg("stream", False, of="Scan"), "scan=pa.Scan(stream=False)", "--no-stream"),
        (Arg("state", of="Reading"), "reading=pa.Reading(state=…)", "--state"),
        (Arg("on_error", "skip"), "on_error='skip'", "--on-error skip"),
        (Arg("where", shown='"x > 1"'), 'where="x > 1"', '--where "x > 1"'),
    ],
)
def test_each_door_words_an_argument_in_its_own_way(word: Arg, python: str, shell: str) -> None:
    error = QueryError(word, " is\nodd")
    assert str(error) == f"{python} is odd"
    assert error.in_shell() == f"{shell} is odd"
    assert error.arguments == (word.name,)
    note = Note("doubt", "pass ", word)
    assert (str(note), note.in_shell()) == (f"pass {python}", f"pass {shell}")


def test_words_of_the_users_are_left_alone() -> None:
    """What looks like an argument in a name or a condition is none."""
    note = Note("rows", "only rows where seed==1 or seed==2 are used: ", Count(3), " of ", Count(9))
    assert note.in_shell() == str(note)


def test_errors_keep_their_words_on_the_way() -> None:
    error = PartError("cannot be read, pass ", Arg("on_error", "skip"), part="a.parquet")
    copy = pickle.loads(pickle.dumps(error.behind("first: ")))
    assert (str(copy), copy.part) == ("first: cannot be read, pass on_error='skip'", "a.parquet")


@pytest.mark.parametrize(
    "plain", [3, None, {}, {"words": "x"}, {"words": [], "kind": "odd", "subject": "", "severity": "info"},
              {"words": [True], "kind": "rows", "subject": "", "severity": "info"},
              {"words": [{"argument": 1}], "kind": "rows", "subject": "", "severity": "info"}],
)  # fmt: skip
def test_a_damaged_note_is_refused(plain: object) -> None:
    with pytest.raises(FormatError):
        Note.from_dict(plain)


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
    assert found[1 + MOST_SHOWN :] == ["and 880 more notes of this kind; .notes has all of them"]
    assert found[-1].severity == guesses[0].severity
