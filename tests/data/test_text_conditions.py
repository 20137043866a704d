"""Conditions as text: what they mean, and that everything else is refused without being run."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pedanova.data.column import as_column
from pedanova.data.regions import LONGEST, columns_in, rows_where
from pedanova.errors import QueryError

RAW: dict[str, list[object]] = {
    "x": [0.5, 1.0, 2.0, None, 10.0, -1.0],
    "n": [1, 2, 3, 4, 5, 6],
    "gap": [1, None, 3, None, 5, 0],
    "opt": ["adam", "sgd", None, "adam", "rms prop", "x"],
    "on": [True, False, True, True, False, True],
    "maybe": [True, False, None, True, None, False],
    "learning rate": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    "_0_": [1, 1, 1, 0, 0, 0],
    "text": ["1", "2.0", "True", "False", "0.10", "a`b`c"],
}
TABLE = {name: as_column(name, values) for name, values in RAW.items()}
TABLE["day"] = as_column("day", np.array(["2020-01-01"] * 6, dtype="M8[D]"))


def rows(text: str) -> list[int]:
    return np.flatnonzero(rows_where(text, TABLE)).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n < 3", [0, 1]),
        ("n <= 3", [0, 1, 2]),
        ("n > 4", [4, 5]),
        ("n >= 4", [3, 4, 5]),
        ("n == 4", [3]),
        ("n != 4", [0, 1, 2, 4, 5]),
        ("3 > n", [0, 1]),
        ("3 >= n", [0, 1, 2]),
        ("4 < n", [4, 5]),
        ("4 <= n", [3, 4, 5]),
        ("4 == n", [3]),
        ("4 != n", [0, 1, 2, 4, 5]),
        ("n in [1, 3, 99]", [0, 2]),
        ("n in (1, 3, 3)", [0, 2]),
        ("n in {1}", [0]),
        ("n not in [1, 3]", [1, 3, 4, 5]),
        ("n in [True, 2]", [0, 1]),
        ("x == -1", [5]),
        ("x > -1e-3", [0, 1, 2, 4]),
        ("1 < n < 4", [1, 2]),
        ("6 > n >= 2 != 3", None),
        ("1 <= n <= gap", [0, 2, 4]),
        ("1 < n < 4 < x", []),
        ("not n < 3", [2, 3, 4, 5]),
        ("not (n < 3 or n == 6)", [2, 3, 4]),
        ("n < 2 or n > 5 and on", [0, 5]),
        ("(n < 2 or n > 5) and on", [0, 5]),
        ("on", [0, 2, 3, 5]),
        ("not on", [1, 4]),
        ("on and n > 3", [3, 5]),
        ("on == True", [0, 2, 3, 5]),
        ("on != True", [1, 4]),
        ("on == 1", [0, 2, 3, 5]),
        ("on >= 1", [0, 2, 3, 5]),
        ("opt == 'adam'", [0, 3]),
        ('opt == "rms prop"', [4]),
        ("opt in ['adam', 'x']", [0, 3, 5]),
        ("opt == 3", []),
        ("n == '3'", [2]),
        ("`learning rate` >= 0.5", [4, 5]),
        ("0.1 < `learning rate` < 0.3", [1]),
        ("not`learning rate`<0.5", [4, 5]),
        ("`n` == 1 and n == 1", [0]),
        ("`n` < 3 and _0_ == 1", [0, 1]),
        ("  n == 1  ", [0]),
        ("text == 'a`b`c'", [5]),
        ("text == 'a`n`c'", []),
        ('text == "it\'s `n`" or `n` == 2', [1]),
    ],
)
def test_what_it_means(text: str, expected: list[int] | None) -> None:
    if expected is None:
        with pytest.raises(QueryError):
            rows(text)
    else:
        assert rows(text) == expected


class TestMissingValues:
    """A comparison with a missing value is false, whatever it is; its negation is true."""

    @pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
    def test_of_numbers(self, op: str) -> None:
        assert 3 not in rows(f"x {op} 1")
        assert not {1, 3} & set(rows(f"gap {op} 0"))
        assert 3 not in rows(f"x {op} n")
        assert 3 in rows(f"not x {op} 1")

    def test_of_text(self) -> None:
        assert rows("opt != 'adam'") == [1, 4, 5]
        assert rows("opt not in ['adam', 'sgd']") == [4, 5]
        assert rows("not opt == 'adam'") == [1, 2, 4, 5]

    def test_of_booleans(self) -> None:
        assert rows("maybe") == [0, 3]
        assert rows("not maybe") == [1, 2, 4, 5]
        assert rows("maybe == False") == [1, 5]
        assert rows("maybe != True") == [1, 5]

    def test_asked_for(self) -> None:
        assert rows("x is None") == [3]
        assert rows("gap is not None") == [0, 2, 4, 5]
        assert rows("opt is None or maybe is None") == [2, 4]


def test_columns_with_each_other() -> None:
    assert rows("x < n") == [0, 1, 2, 5]
    assert rows("n == gap") == [0, 2, 4]
    assert rows("gap != n") == [5]
    assert rows("on == n") == [0]
    assert rows("x < n < `learning rate`") == []


def test_a_number_and_a_truth_value_of_text_do_not_depend_on_what_was_asked_before() -> None:
    for _ in range(2):
        assert rows("text == 1") == [0]
        assert rows("text == True") == [0, 2]  # '1' is a number too
        assert rows("text == 2") == [1]
        assert rows("text in [0.1, False]") == [3, 4]


def test_numbers_of_any_size() -> None:
    huge = "1" + "0" * 400
    assert rows(f"n < {huge}") == [0, 1, 2, 3, 4, 5]
    assert rows(f"n > -{huge}") == [0, 1, 2, 3, 4, 5]
    assert rows(f"n == {huge}") == []
    assert rows("n < 1e999") == [0, 1, 2, 3, 4, 5]
    assert rows("x == 1e-320") == []


def test_many_values() -> None:
    assert rows(f"n in [{','.join(str(i) for i in range(2, 1500))}]") == [1, 2, 3, 4, 5]


def test_a_float32_means_the_number_that_was_written() -> None:
    table = {"lr": as_column("lr", np.array([0.1, 0.2, 0.3], dtype=np.float32))}
    assert rows_where("lr == 0.1", table).tolist() == [True, False, False]
    assert rows_where("lr in [0.2, 0.3]", table).tolist() == [False, True, True]


def test_which_columns_it_speaks_of() -> None:
    assert columns_in("`learning rate` > 0.1 and (n == 1 or opt == 'on')", TABLE) == ["learning rate", "n", "opt"]


REFUSED = [
    "", " ", "n", "opt", "3", "'adam'", "None", "True", "...", "1 < 2", "n <", "n = 1", "n == 1 n", ";", "n == 1; on",
    "__import__('os').system('echo')", "print(1)", "n == f(1)", "f(n) == 1", "n.real == 1", "n == x.max", "n[0] == 1",
    "n == [1]", "n < (1, 2)", "lambda: 1", "(lambda: n)() == 1", "f'{n}' == 'a'", "opt == f'{n}'", "n + 1 == 2",
    "n == 1 + 1", "-n == 1", "n == +1", "n == ~1", "n ** 9 == 1", "n == 9 ** 9", "n % 2", "n @ x", "n << 2 == 1",
    "n == not on", "n == 1 if on else 2", "[n for n in x]", "{n: 1}", "{1, 2}", "(n := 3)", "await n", "yield n", "*n",
    "n in 3", "n in 'adam'", "n in []", "n in {}", "n in [[1], [2]]", "n in x", "n not in x", "'adam' in opt", "1 in n",
    "n is 1", "n is x", "None is n", "n == None", "n == 1j", "n == b'a'", "n == ...", "n == {1: 2}", "n and on",
    "nobody == 1", "n == nobody", "`nobody` == 1", "`n == 1", "n` == 1", "``", "__builtins__", "`a\nb` > 1",
    "opt < 'b'", "opt >= 3", "n < 'a'", "opt == opt", "opt < n", "day == 'monday'", "day < 3", "day < day", "day",
    "log(x) > 1",
    "n == 1e999", "n\x00", "\ud800", "n == '\ud800", "# n", "n == 1\nand on", "import os", "del n", "n == 01",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_everything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(QueryError) as refused:
        rows(text)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        "n == 1 or " * 2_000 + "on",
        "(" * 3_000 + "on" + ")" * 3_000,
        "not " * 2_400 + "on",
        "-" * 9_000 + "1 < n",
        "n == " + "[" * 4_000 + "1" + "]" * 4_000,
        "n " + "< n " * 2_400 + "<",
        "n.a" + ".a" * 4_000,
        "n == 1" + "0" * 6_000,
        "x" * (LONGEST + 1),
        "f(" * 4_000,
        "'" * 9_999,
        "`" * 9_999,
    ],
)
def test_long_and_deep_text_is_refused(text: str) -> None:
    with pytest.raises(QueryError) as refused:
        rows(text)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_messages_name_the_remedy() -> None:
    for text, words in {
        "optt == 'adam'": "did you mean 'opt'",
        "opt < 'b'": "opt holds text; write a condition such as opt == 'adam'",
        "n in 3": "'in' needs a list of values",
        "n == [1]": "compare n with one value, or use 'in'",
        "n": "n is not a boolean column",
        "print(1)": "'print(1)' is not understood; write it like this",
        "n < 'a'": "n holds numbers, but 'a' is text",
        "x" * 20_000: "20000 characters; at most 10000 are allowed",
    }.items():
        with pytest.raises(QueryError, match=re.escape(words)):
            rows(text)


def test_dates_are_compared() -> None:
    days = ["2026-03-01", "2026-03-09 12:30", None, "2026-03-10T00:00:00Z", "2026-04-02 08:00:00.5"]
    moments = np.array([None if day is None else day.removesuffix("Z") for day in days], dtype="datetime64[ms]")
    for values in (days, moments):
        table = {"start": as_column("start", values)}
        for text, expected in {
            "start >= '2026-03-10'": [0, 0, 0, 1, 1],
            "start < '2026-03-10 00:00'": [1, 1, 0, 0, 0],
            "'2026-03-09' < start <= '2026-03-10T00:00:00'": [0, 1, 0, 1, 0],
            "start == '2026-03-10'": [0, 0, 0, 1, 0],
            "start != '2026-03-10'": [1, 1, 0, 0, 1],
        }.items():
            assert rows_where(text, table).tolist() == [bool(one) for one in expected], text
        with pytest.raises(QueryError, match="start holds"):
            rows_where("start >= '2026-02-31'", table)  # no day
    with pytest.raises(QueryError, match="compare dates as in took >= '2026-03-10', and turn durations into numbers"):
        rows_where("took > 3", {"took": as_column("took", np.array([1, 2], dtype="timedelta64[s]"))})


def test_nothing_is_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    call = f"open({str(made)!r}, 'w')"
    for text in (call, f"n == {call}", f"n in [{call}]", f"[{call} for n in x]", f"f'{{{call}}}' == opt", f"n[{call}]"):
        with pytest.raises(QueryError):
            rows(text)
    assert not made.exists()


PIECES = st.sampled_from(
    ["n", "x", "opt", "on", "cry", "cry()", "`x`", "`", "'a'", '"', "'", "1", "-", "2.5", "None", "True", "(", ")",
     "[", "]", "{", "}", ",", ":", ":=", ".", "+", "*", "**", "==", "!=", "<", "<=", "in", "not", "is", "and", "or",
     "if", "else", "lambda", "for", "f'{n}'", "__class__", "\n", "\t", "\\", "#", "@", "\x00", "1e999", "9" * 50]
)  # fmt: skip


@settings(max_examples=400)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map(" ".join)))
def test_no_text_does_anything_but_choose_rows_or_be_refused(text: str) -> None:
    table = {**TABLE, "cry": as_column("cry", [1, 2, 3, 4, 5, 6])}
    message = ""
    try:
        mask = rows_where(text, table)
    except QueryError as refused:
        message = str(refused)
    else:
        assert mask.shape == (6,)
        assert mask.dtype == bool
    assert "\n" not in message


OPERATORS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def compare(op: str, left: object, right: object) -> bool:
    return left is not None and right is not None and OPERATORS[op](left, right)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, object]:
    """The text of one comparison and a plain function of a row that means the same."""
    kind = draw(st.sampled_from(["number", "mirror", "chain", "columns", "text", "in", "boolean", "missing"]))
    name = draw(st.sampled_from(["x", "n", "gap"]))
    op, other = draw(st.sampled_from(list(OPERATORS))), draw(st.sampled_from(list(OPERATORS)))
    low, high = draw(st.integers(-2, 7)), draw(st.sampled_from([0.5, 1.0, 2, 3, -1, 10]))
    if kind == "number":
        return f"{name} {op} {high}", lambda row: compare(op, row[name], high)
    if kind == "mirror":
        return f"{low} {op} {name}", lambda row: compare(op, low, row[name])
    if kind == "chain":
        return (
            f"{low} {op} `{name}` {other} {high}",
            lambda row: compare(op, low, row[name]) and compare(other, row[name], high),
        )
    if kind == "columns":
        return f"{name} {op} n", lambda row: compare(op, row[name], row["n"])
    if kind == "text":
        word, equal = (draw(st.sampled_from(["adam", "sgd", "rms prop", "no"])), draw(st.sampled_from(["==", "!="])))
        return f"opt {equal} {word!r}", lambda row: compare(equal, row["opt"], word)
    if kind == "in":
        values, no = draw(st.lists(st.integers(-1, 6), min_size=1)), draw(st.booleans())
        word = "not in" if no else "in"
        return f"{name} {word} {values}", lambda row: row[name] is not None and (row[name] in values) != no
    if kind == "boolean":
        flag = draw(st.sampled_from(["on", "maybe"]))
        return flag, lambda row: row[flag] is True
    column, no = draw(st.sampled_from(list(RAW))), draw(st.booleans())
    word = "is not" if no else "is"
    return f"`{column}` {word} None", lambda row: (row[column] is None) != no


def joined(parts: list[tuple[str, object]], word: str) -> tuple[str, object]:
    join = all if word == "and" else any
    return f" {word} ".join(f"({text})" for text, _ in parts), lambda row: join(judge(row) for _, judge in parts)  # type: ignore[operator]


def negated(part: tuple[str, object]) -> tuple[str, object]:
    return f"not ({part[0]})", lambda row: not part[1](row)  # type: ignore[operator]


CONDITIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        inner.map(negated), st.builds(joined, st.lists(inner, min_size=2, max_size=3), st.sampled_from(["and", "or"]))
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(CONDITIONS)
def test_agrees_with_plain_python_row_by_row(condition: tuple[str, object]) -> None:
    text, judge = condition
    every = [{name: RAW[name][i] for name in RAW} for i in range(6)]
    assert rows_where(text, TABLE).tolist() == [judge(row) for row in every]  # type: ignore[operator]
