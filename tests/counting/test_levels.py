"""Levels and regions: exact ranks, ties, directions, NaN, infinities."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from helpers.levels import cut_levels
from pedanova.counting.levels import LADDER, as_ladder
from pedanova.counting.reference import assign_levels
from pedanova.data.regions import Region, as_part, rank_of
from pedanova.errors import DataError, QueryError


@given(st.integers(1, 10_000), st.integers(1, 10**6))
def test_a_decimal_means_what_it_says(thousandths: int, rows: int) -> None:
    part = thousandths / 10_000
    assert rank_of(as_part(part, "target"), rows) == math.ceil(Fraction(thousandths, 10_000) * rows)


@pytest.mark.parametrize("part", [Decimal("0.1"), Fraction(1, 10), np.float32(0.1), np.float64(0.1), 0.1])
def test_every_kind_of_number(part: object) -> None:
    assert as_part(part, "target") == Fraction(1, 10)


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, None, "abc", True, [0.1], Decimal("NaN"), 1j])
def test_what_is_no_quantile(bad: object) -> None:
    with pytest.raises(QueryError, match=r"target=.* must be a quantile above 0 and at most 1"):
        as_part(bad, "target")


ODD = st.one_of(st.floats(allow_nan=True), st.sampled_from([0.0, -0.0, 1.0, math.inf, -math.inf]))


@example([float("nan")], "minimize", "drop", [1])
@given(
    st.lists(ODD, min_size=1, max_size=300),
    st.sampled_from(["minimize", "maximize"]),
    st.sampled_from(["drop", "worst"]),
    st.lists(st.integers(1, 100), min_size=1, max_size=5),
)
def test_levels_hold_the_rows_that_sorting_would_give(
    values: list[float], direction: str, nan: str, percents: list[int]
) -> None:
    objective = np.array(values)
    numbers = objective[~np.isnan(objective)]
    ladder = as_ladder([Fraction(p, 100) for p in percents])
    if len(numbers) == 0:
        with pytest.raises(DataError, match="is NaN in all"):
            cut_levels(objective, direction=direction, nan=nan, quantiles=ladder)  # type: ignore[arg-type]
        return
    levels = cut_levels(objective, direction=direction, nan=nan, quantiles=ladder)  # type: ignore[arg-type]
    codes = assign_levels(objective, levels)
    signed = objective if direction == "minimize" else -objective
    rows = len(objective) if nan == "worst" else len(numbers)
    order = np.sort(np.where(np.isnan(signed), np.nan, signed))  # NumPy puts NaN last
    for part, level in zip(levels.quantiles, levels.index, strict=True):
        last = order[rank_of(part, rows) - 1]
        everything = part == 1 or np.isnan(last) or last == np.inf  # NaN counts as infinite
        expected = rows if everything else int(np.sum(signed <= last))
        assert int(np.sum(codes <= level)) == expected


def test_the_ladder() -> None:
    assert LADDER[0] == Fraction(1, 1000)
    assert LADDER[-1] == 1
    assert list(LADDER) == sorted(LADDER)
    assert {Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)} <= set(LADDER)
    assert as_ladder([0.2, 0.1, 0.2]) == (Fraction(1, 10), Fraction(1, 5), Fraction(1))


@pytest.mark.parametrize("bad", ["0.1", 0.1, [0], [None], [2]])
def test_what_is_no_ladder(bad: object) -> None:
    with pytest.raises(QueryError, match="levels"):
        as_ladder(bad)  # type: ignore[arg-type]


def test_a_diverged_run_is_a_bad_run() -> None:
    x = np.linspace(0, 1, 1000)
    loss = np.where(x > 0.3, np.inf, np.random.default_rng(0).random(1000))
    a = pa.analyze({"x": x, "z": np.random.default_rng(1).random(1000)}, loss)
    assert a.importance(pa.at_most(1e9), **COUNTS).rows[0].name == "x"
    assert a.importance(0.3, **COUNTS)["x"].raw_share > 0.9
    assert any("700 rows have an infinite objective" in note for note in a.notes)


def test_nan_is_dropped_or_worst() -> None:
    x = np.arange(100.0)
    loss = np.where(x >= 60, np.nan, x)
    dropped = pa.analyze({"x": x}, loss, params=["x"])
    assert (len(dropped), dropped.data.dropped) == (60, 40)
    assert dropped.importance(0.1, **COUNTS).rows[0].n_target == 6
    assert any("40 of 100 rows have no objective (NaN) and are dropped" in n for n in dropped.notes)
    worst = pa.analyze({"x": x}, loss, params=["x"], reading=pa.Reading(nan="worst"))
    assert (len(worst), worst.data.dropped) == (100, 0)
    assert worst.importance(0.1, **COUNTS).rows[0].n_target == 10
    assert any("are ranked as the worst" in n for n in worst.notes)


class TestRegions:
    Y = np.arange(1.0, 101.0)

    def rows(self, direction: str, target: object, region: object = 1.0) -> tuple[int, int]:
        x = {"x": np.arange(100) % 7}
        row = pa.analyze(x, self.Y, direction=direction, params=["x"]).importance(target, region, **COUNTS).rows[0]  # type: ignore[arg-type]
        return row.n_target, row.n_region

    @pytest.mark.parametrize("direction", ["minimize", "maximize"])
    def test_values_mean_the_same_in_both_directions(self, direction: str) -> None:
        assert self.rows(direction, pa.at_most(10)) == (10, 100)
        assert self.rows(direction, pa.at_most(10.5)) == (10, 100)
        assert self.rows(direction, pa.at_least(90)) == (11, 100)
        assert self.rows(direction, pa.between(20, 29, values=True)) == (10, 100)
        assert self.rows(direction, pa.between(20, 29, values=True), pa.between(10, 40, values=True)) == (10, 31)
        assert self.rows(direction, pa.at_most(10), pa.at_most(50)) == (10, 50)

    def test_bands_of_quantiles(self) -> None:
        assert self.rows("minimize", pa.between(0.1, 0.3)) == (20, 100)
        assert self.rows("minimize", pa.between(0, 0.3)) == (30, 100)
        assert self.rows("minimize", pa.between(0.1, 0.2), pa.between(0.1, 0.5)) == (10, 40)
        assert self.rows("maximize", pa.between(0.1, 0.33), 0.5) == (23, 50)

    def test_on_more_rows_than_have_their_own_level(self) -> None:
        y = np.arange(1000.0)
        a = pa.analyze({"x": np.arange(1000) % 7}, y, params=["x"])
        assert a.importance(pa.at_most(99.5), **COUNTS).rows[0].n_target == 100
        assert a.importance(0.1234, **COUNTS).rows[0].n_target == 124
        assert a.importance(pa.between(0.1, 0.123), 0.777, **COUNTS).rows[0].n_region == 777

    def test_refusals(self) -> None:
        for target, region, reason in [
            (0.5, 0.1, "are outside region"),
            (0.1, 0.1, "contain the same 10 rows"),
            (1.0, 1.0, "contain the same 100 rows"),
            (pa.between(0.1, 0.3), 0.2, "are outside region"),
            (pa.at_most(0), 1.0, "contains no row"),
            (pa.at_most(50), pa.at_most(20), "has 50 rows, and 30 of them are outside"),
            (pa.at_most(200), 1.0, "contain the same 100 rows"),
        ]:
            with pytest.raises(QueryError, match=reason):
                self.rows("minimize", target, region)

    def test_nonsense(self) -> None:
        for make in (
            lambda: pa.at_most(math.nan),
            lambda: pa.at_least("x"),  # type: ignore[arg-type]
            lambda: pa.between(0.3, 0.1),
            lambda: pa.between(3, 1, values=True),
            lambda: pa.between(-0.1, 0.3),
            lambda: pa.between(0.1, 1.3),
        ):
            with pytest.raises(QueryError):
                make()

    def test_words(self) -> None:
        assert str(Region.parse(0.1, "target")) == "the best 10 %"
        assert str(Region.parse(1.0, "region")) == "all rows"
        assert str(pa.at_most(3)) == "rows with objective ≤ 3"
        assert str(pa.at_least(3)) == "rows with objective ≥ 3"
        assert str(pa.between(1, 3, values=True)) == "rows with 1 ≤ objective ≤ 3"
        assert str(pa.between(0.1, 0.3)) == "the rows between the best 10 % and the best 30 %"
