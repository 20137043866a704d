"""SMAC's parameter files: the old and the new way to write the same space."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.common import refuse
from helpers.tools import tame
from pedanova.errors import FormatError
from pedanova.sources.spaces.configspace import describe, space_from_configspace
from pedanova.sources.spaces.pcs import plain_from_pcs
from pedanova.space.parameters import Categorical, Float, Int, Ordinal

OLD = """
# a comment
algo {a, b,c} [a]   # and another
lr [0.001,1] [0.1]l
depth [1,10] [3]i
units [1,1024][32]il
offset [-1e-1,+2.5] [0]

Conditionals:
depth | algo in {a, b}
units | algo in {a}
units | depth in {1, 2}

Forbidden:
{algo=a, depth=3}
"""
NEW = """
algo categorical {a, b, c} [a]
lr real [0.001, 1] [0.1] log
depth integer [1, 10] [3]
units integer [1, 1024] [32]log
offset real [-0.1, 2.5] [0]
depth | algo in {a, b}
units | algo == a && depth in {1, 2}
{algo=a, depth=3}
"""


def test_old_and_new_say_the_same() -> None:
    old, new = (space_from_configspace(plain_from_pcs(text)) for text in (OLD, NEW))
    assert old == new
    space, notes = old
    assert dict(space) == {
        "algo": Categorical(["a", "b", "c"]),
        "lr": Float(0.001, 1, log=True),
        "depth": Int(1, 10, when={"algo": ["a", "b"]}),
        "units": Int(1, 1024, log=True, when={"algo": ["a"], "depth": [1, 2]}),
        "offset": Float(-0.1, 2.5),
    }
    assert notes == ["the configuration space forbids a combination of values; that is not modelled"]


def test_ordinals_constants_and_every_sign() -> None:
    text = """size ordinal {small, medium, large} [small]
    one categorical {x} [x]
    n integer [1, 4] [1]
    a real [0, 1] [0]
    b real [0, 1] [0]
    c real [0, 1] [0]
    d real [0, 1] [0]
    a | size > small
    b | n != 2
    c | size == small || size == large
    d | n < 3 || a > 0.5
    """
    described = describe(plain_from_pcs(text))
    assert described.domains["size"] == Ordinal(["small", "medium", "large"])
    assert described.fixed == ("one",)
    assert described.domains["a"].when == (("size", ("medium", "large")),)
    assert described.domains["b"].when == (("n", (1, 3, 4)),)
    assert described.domains["c"].when == (("size", ("small", "large")),)
    assert not described.conditions
    assert any("d: exists only if (n is below '3' or a is above '0.5')" in note for note in described.notes)


def test_odd_names() -> None:
    text = "classifier:svm:C [0.1,10] [1]l\n@1:x-y {yes,no}[yes]\nreal [0,1] [0]\nreal | @1:x-y in {yes}\n"
    space, _ = space_from_configspace(plain_from_pcs(text))
    assert list(space) == ["classifier:svm:C", "@1:x-y", "real"]
    assert space["real"].when == (("@1:x-y", ("yes",)),)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("no parameter",)),
        ("# only a comment", ("no parameter",)),
        ("x", ("line 1", "'x'", "no parameter")),
        ("y [0,1] [0]\nx [0] [0]", ("line 2", "lower and an upper bound")),
        ("x [a,1] [0]", ("line 1", "'a'")),
        ("x {a,,b} [a]", ("line 1", "not complete")),
        ("x real {a,b} [a]", ("line 1", "not complete")),
        ("x categorical [0,1] [0]", ("line 1", "upper bound")),
        ("x [0,1] [0]q", ("line 1", "'q'", "unknown")),
        ("x [0,1] [0]\nx | y", ("line 2", "no condition")),
        ("x [0,1] [0]\n| y in {a}", ("line 2", "no condition")),
    ],
)
def test_bad_lines(text: str, parts: tuple[str, ...]) -> None:
    refuse(FormatError, *parts, of=lambda: plain_from_pcs(text))


@given(st.text(alphabet="ax01,.[]{}|&= <>!\n", max_size=40), st.integers(0, len(NEW)))
def test_any_text_is_read_or_refused(text: str, place: int) -> None:
    tame(lambda: space_from_configspace(plain_from_pcs(NEW[:place] + text + NEW[place:])))
