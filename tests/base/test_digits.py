"""Numbers for people: few digits, read back near enough, one form."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pedanova.base.digits import SPACE, chance, percent, roundest, short, times

REALS = st.floats(-1e300, 1e300).filter(lambda x: x == 0 or abs(x) > 1e-300)


def read(text: str) -> float:
    return float(text.replace(",", ""))


@given(REALS)
def test_three_digits_are_near_enough(value: float) -> None:
    assert read(short(value)) == pytest.approx(value, rel=0.0051)
    assert len(short(value).replace(",", "")) <= 10


@given(REALS)
def test_what_was_shortened_stays(value: float) -> None:
    assert short(read(short(value))) == short(value)


@given(st.integers(-(10**15), 10**15))
def test_whole_numbers_are_in_full(value: int) -> None:
    assert int(short(value).replace(",", "")) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.00832e-05, "1.01e-5"), (4.11e-15, "4.11e-15"), (1e-5, "1e-5"), (0.1, "0.1"), (0.0099999, "0.01"),
     (128512, "128,512"), (1024, "1024"), (0.26095, "0.261"), (-0.123456, "-0.123"), (1e6, "1e6"), (999_999.5, "1e6"),
     (math.inf, "inf"), ("a b", "a b"), (None, ""), (True, "True")],
)  # fmt: skip
def test_forms(value: object, text: str) -> None:
    assert short(value) == text


@given(st.floats(0, 1))
def test_percentages_are_near_and_all_is_only_all(part: float) -> None:
    text = percent(part)
    assert text.endswith(f"{SPACE}%")
    number = float(text.removesuffix(f"{SPACE}%"))
    assert number == pytest.approx(100 * part, rel=0.05, abs=0.1)
    assert (text == f"100{SPACE}%") == (part == 1)
    assert (text == f"0{SPACE}%") == (part == 0)


@given(st.floats(-1, 3), st.floats(-1, 3))
def test_percentages_keep_the_order(one: float, other: float) -> None:
    numbers = [float(percent(part).removesuffix(f"{SPACE}%")) for part in sorted((one, other))]
    assert numbers[0] <= numbers[1]


def test_nothing_is_said_of_what_is_no_number() -> None:
    assert (percent(math.nan), times(math.nan), times(math.inf)) == ("", "", "")


@given(st.floats(0, 1))
def test_p_values(p_value: float) -> None:
    assert (
        chance(p_value) == "<0.001" if p_value < 0.001 else float(chance(p_value)) == pytest.approx(p_value, abs=0.006)
    )


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e3))
def test_the_roundest_lies_between(low: float, width: float) -> None:
    assert low <= roundest(low, low + width) <= low + width
