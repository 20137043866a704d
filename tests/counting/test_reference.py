"""The compiled kernel counts exactly what plain NumPy counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from helpers.levels import cut_levels
from pedanova.base.kernel import library as kernel
from pedanova.base.kernel.selection import (
    LEADING_BITS,
    SORT_BELOW,
    by_partition,
    count_digits,
    count_slots,
    gather_wanted,
    radix_select,
    select_ranks,
    slots_of,
    survey_rows,
    window_around,
)
from pedanova.counting import arrays
from pedanova.counting import reference as judge
from pedanova.counting.levels import Levels, as_ladder
from pedanova.data.column import Column, as_column
from pedanova.data.objectives import Goal
from pedanova.data.observations import Observations
from pedanova.space.grid import grid_of

NUMBERS = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def by_radix(objective: np.ndarray, sign: float, wanted: np.ndarray) -> np.ndarray:
    """As tables in parts are searched, here in two parts."""
    parts = objective[::2], objective[1::2]
    return radix_select(
        lambda tables, nodes, bits: sum(count_digits(part, sign, tables, nodes, bits) for part in parts),  # type: ignore[arg-type, return-value]
        lambda tables, most: np.concatenate([gather_wanted(part, sign, tables, most) for part in parts]),
        wanted,
        few=1000,
    )


def test_the_kernel_is_there() -> None:
    """A compiler is at hand wherever the tests run; without this the comparison would be empty."""
    assert kernel.available(), kernel.describe()


def observe(column: Column, objective: np.ndarray, parameter: pa.space.Parameter) -> Observations:
    goal = Goal("y", objective, "minimize", None)
    return Observations({column.name: column}, (goal,), pa.Space({column.name: parameter}), {})


def check(
    column: Column, objective: np.ndarray, parameter: pa.space.Parameter, levels: Levels | None = None, threads: int = 1
) -> np.ndarray:
    """Count both ways and compare; returns the counts."""
    if levels is None:
        levels = cut_levels(objective, direction="minimize", quantiles=as_ladder([0.1, 0.5]))
    observed = observe(column, objective, parameter)
    codes = arrays.level_codes(objective, levels, threads=threads)
    np.testing.assert_array_equal(codes, judge.assign_levels(objective, levels))
    fast = arrays.count_by_kernel(observed, codes, levels.count, observed.space, threads=threads)[column.name]
    slow = arrays.count_by_judge(observed, codes, levels.count, observed.space, threads=1)[column.name]
    np.testing.assert_array_equal(fast[0], slow[0])
    np.testing.assert_allclose(fast[1], slow[1], rtol=1e-12, atol=1e-12, equal_nan=True)
    return fast[0]


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("layout", ["contiguous", "strided", "reversed", "unaligned"])
@pytest.mark.parametrize("objective_dtype", ["f8", "f4", "i4"])
def test_types_and_strides(random: np.random.Generator, dtype: str, layout: str, objective_dtype: str) -> None:
    rows = 5_000
    values = random.integers(0, 100, rows).astype(dtype)
    if dtype.startswith("f"):
        values += random.random(rows).astype(dtype)
    objective = (random.normal(size=rows) * 1_000).astype(objective_dtype)
    values, objective = laid_out(values, layout), laid_out(objective, layout)
    for parameter in (pa.Float(0, 101), pa.Float(0.5, 101, log=True), pa.Int(0, 120), pa.Ordinal([99, 3, 50])):
        counts = check(as_column("x", values), objective, parameter)
        assert counts.sum() == rows


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    if layout == "strided":
        wide = np.zeros((len(values), 3), dtype=values.dtype)
        wide[:, 1] = values
        return wide[:, 1]
    if layout == "reversed":
        return values[::-1].copy()[::-1]
    if layout == "unaligned":
        record = np.zeros(len(values), dtype=np.dtype([("pad", "u1"), ("x", values.dtype)]))
        record["x"] = values
        return record["x"]
    return values


def test_booleans_and_masks(random: np.random.Generator) -> None:
    objective = random.normal(size=3_000)
    flags = random.integers(0, 2, 3_000).astype(bool)
    missing = random.random(3_000) < 0.2
    counts = check(Column("x", flags, None, missing), objective, pa.Categorical([True, False]))
    assert counts[:, 2].sum() == missing.sum()


def test_masks_of_any_stride(random: np.random.Generator) -> None:
    objective = random.normal(size=1_000)
    missing = (random.random(2_000) < 0.3)[::2]
    check(Column("x", random.random(1_000), None, missing), objective, pa.Float(0, 1))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4", "u8"])
def test_codes_with_labels(random: np.random.Generator, dtype: str) -> None:
    labels = ("sgd", "adam", "unknown", "rmsprop")
    codes = random.integers(0 if dtype.startswith("u") else -1, 4, 4_000).astype(dtype)
    parameter = pa.Categorical(["adam", "rmsprop", "sgd"])
    counts = check(Column("x", codes, labels), random.normal(size=4_000), parameter)
    assert counts[:, grid_of(parameter).missing].sum() == (codes.astype(int) == -1).sum()
    assert counts[:, grid_of(parameter).outside].sum() == (codes == 2).sum()


def test_numbers_against_text(random: np.random.Generator) -> None:
    check(as_column("x", random.integers(0, 5, 500)), random.normal(size=500), pa.Categorical(["1", "2", "3"]))


@pytest.mark.parametrize("rows", [1, 2, 3, 2_047, 2_048, 2_049])
def test_few_rows_and_block_ends(random: np.random.Generator, rows: int) -> None:
    counts = check(as_column("x", random.random(rows)), random.normal(size=rows), pa.Float(0, 1))
    assert counts.sum() == rows


def test_no_rows(random: np.random.Generator) -> None:
    levels = cut_levels(random.normal(size=10), direction="minimize")
    counts = check(as_column("x", np.empty(0)), np.empty(0), pa.Float(0, 1), levels)
    assert counts.sum() == 0


RANGES = [
    pa.Float(-3, 7),
    pa.Float(1e-6, 1e3, log=True),
    pa.Int(-5, 900),
    pa.Int(1, 10**6, log=True),
    pa.Int(0, 5000),
    pa.Int(0, 5000, step=3),
]


@pytest.mark.parametrize("parameter", RANGES, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_values_on_and_beside_edges(parameter: pa.Float | pa.Int, dtype: str) -> None:
    edges = grid_of(parameter).edges
    assert edges is not None
    with np.errstate(over="ignore"):
        exact = np.concatenate([edges, np.round(edges), [parameter.low, parameter.high]]).astype(dtype)
        below, above = np.nextafter(exact, -np.inf), np.nextafter(exact, np.inf)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 5e-324]).astype(np.float64)
    with np.errstate(over="ignore"):
        values = np.concatenate([exact, below, above, odd.astype(dtype)])
    counts = check(as_column("x", values), np.arange(len(values), dtype=float), parameter)
    assert counts.sum() == len(values)


@pytest.mark.parametrize("nan", ["drop", "worst"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_odd_objectives(random: np.random.Generator, nan: str, direction: str) -> None:
    objective = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 2.0, 3.0], 2_000)
    levels = cut_levels(objective, direction=direction, nan=nan)  # type: ignore[arg-type]
    counts = check(as_column("x", random.random(2_000)), objective, pa.Float(0, 1), levels)
    assert counts.sum() == (2_000 if nan == "worst" else np.sum(~np.isnan(objective)))


def test_many_levels(random: np.random.Generator) -> None:
    objective = random.normal(size=5_000)
    levels = cut_levels(objective, direction="minimize", quantiles=as_ladder([i / 1000 for i in range(1, 1000)]))
    assert levels.count == 1_000
    assert arrays.level_codes(objective, levels).dtype == np.uint16
    check(as_column("x", random.random(5_000)), objective, pa.Float(0, 1), levels)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_a_million_rows_on_threads(random: np.random.Generator, threads: int) -> None:
    rows = 1_000_000
    objective = random.normal(size=rows)
    levels = cut_levels(objective, direction="minimize", threads=threads)
    for values, parameter in [
        (random.uniform(-1, 1, rows), pa.Float(-1, 1)),
        (np.exp(random.normal(size=rows)), pa.Float(1e-3, 1e3, log=True)),
        (random.integers(0, 50, rows).astype(np.int16), pa.Int(0, 49)),
    ]:
        assert check(as_column("x", values), objective, parameter, levels, threads).sum() == rows


@given(
    st.lists(st.floats(width=64), min_size=1, max_size=60),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=20),
)
def test_any_floats_against_any_thresholds(values: list[float], thresholds: list[float]) -> None:
    cuts = np.unique(np.array([*thresholds, np.inf])) + 0.0
    levels = Levels("minimize", "worst", cuts, as_ladder([]), (len(cuts) - 1,))
    objective = np.array(values)
    np.testing.assert_array_equal(arrays.level_codes(objective, levels), judge.assign_levels(objective, levels))


@given(st.lists(st.floats(width=64), min_size=1, max_size=80), st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_any_floats_on_any_range(values: list[float], low: float, width: float) -> None:
    if not low < low + width or width < 1e-9 * abs(low):
        return
    check(as_column("x", np.array(values)), np.arange(len(values), dtype=float), pa.Float(low, low + width))


@pytest.mark.parametrize("odd", ["none", "few", "many"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_many_columns_sorted_by_level(random: np.random.Generator, dtype: str, odd: str) -> None:
    """Tables too large for the cache are counted level by level: the same counts, and sums to the last bit."""
    rows = 300_001
    objective = random.normal(size=rows)
    objective[random.integers(0, rows, 100)] = np.nan
    columns = {name: random.uniform(-1, 1, rows).astype(dtype) for name in "abcdefg"}
    columns["e"] = np.exp(columns["e"])
    columns["f"] = random.integers(0, 900, rows)
    if odd != "none":
        strange = [np.nan, np.inf, -np.inf, -0.0, 1.0, -1.0, 1.0000001, 7.0]
        where = random.integers(0, rows, 50 if odd == "few" else rows)
        columns["a"][where] = random.choice(strange, len(where)).astype(dtype)
    space = {name: pa.Float(-1, 1) for name in columns}
    space |= {"e": pa.Float(0.3, 3, log=True), "f": pa.Int(0, 899)}  # type: ignore[dict-item]
    levels = cut_levels(objective, direction="maximize", quantiles=as_ladder([i / 100 for i in range(1, 100)]))
    goal = Goal("y", objective, "maximize", None)
    data = {name: as_column(name, column) for name, column in columns.items()}
    observed = Observations(data, (goal,), pa.Space(space), {})
    codes = arrays.level_codes(objective, levels)
    fast = arrays.count_by_kernel(observed, codes, levels.count, observed.space)
    slow = arrays.count_by_judge(observed, codes, levels.count, observed.space)
    assert list(fast) == list(slow)
    for name in columns:
        np.testing.assert_array_equal(fast[name][0], slow[name][0])
        np.testing.assert_array_equal(fast[name][1], slow[name][1])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_same_threads_give_the_same_bytes(random: np.random.Generator, threads: int) -> None:
    rows = 600_000
    objective = random.normal(size=rows)
    levels = cut_levels(objective, direction="minimize", quantiles=as_ladder([i / 100 for i in range(1, 100)]))
    goal = Goal("y", objective, "minimize", None)
    data = {name: as_column(name, random.random(rows)) for name in "ab"}
    observed = Observations(data, (goal,), pa.Space(dict.fromkeys("ab", pa.Float(0, 1))), {})
    codes = arrays.level_codes(objective, levels, threads=threads)
    one, two = (
        arrays.count_by_kernel(observed, codes, levels.count, observed.space, threads=threads) for _ in range(2)
    )
    assert all(one[name][1].tobytes() == two[name][1].tobytes() for name in "ab")


OBJECTIVES = {
    "smooth": lambda random, rows: random.normal(size=rows),
    "skewed": lambda random, rows: np.exp(20 * random.normal(size=rows)),
    "ties": lambda random, rows: random.integers(0, 30, rows).astype(float),
    "some ties": lambda random, rows: np.where(random.random(rows) < 0.03, 0.5, random.normal(size=rows)),
    "odd": lambda random, rows: np.where(
        random.random(rows) < 0.02,
        random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308], rows),
        random.normal(size=rows),
    ),
    "around zero": lambda random, rows: random.choice([-0.0, 0.0, 1e-320, -1e-320], rows) * random.random(rows),
    "single precision": lambda random, rows: random.normal(size=rows).astype(np.float32),
    "whole": lambda random, rows: random.integers(-(2**62), 2**62, rows),
    "backwards": lambda random, rows: random.normal(size=rows)[::-1],
}


@pytest.mark.parametrize("nan", ["drop", "worst"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("cuts", [2, 99, 999])
def test_levels_by_the_slots_of_a_survey(
    random: np.random.Generator, monkeypatch: pytest.MonkeyPatch, kind: str, direction: str, nan: str, cuts: int
) -> None:
    objective = OBJECTIVES[kind](random, SORT_BELOW + 12_345)
    sign = 1.0 if direction == "minimize" else -1.0
    survey = survey_rows(objective, sign, threads=3)
    assert survey is not None
    quantiles = as_ladder([i / (cuts + 1) for i in range(1, cuts + 1)])
    levels = cut_levels(objective, direction=direction, nan=nan, quantiles=quantiles, survey=survey)  # type: ignore[arg-type]
    levels = levels.with_values([0.0, -0.25, 1e300])
    expected = judge.assign_levels(objective, levels)
    np.testing.assert_array_equal(arrays.level_codes(objective, levels, survey=survey, threads=2), expected)
    monkeypatch.setattr(arrays, "MANY_BESIDE", 1)  # by slots, however many rows lie beside a boundary
    np.testing.assert_array_equal(arrays.level_codes(objective, levels, survey=survey), expected)


def test_rows_beside_boundaries_are_known(random: np.random.Generator) -> None:
    objective = random.normal(size=SORT_BELOW + 1)
    survey = survey_rows(objective, 1.0)
    assert survey is not None
    beside = survey.shared_with(np.array([0.0, 0.5, 0.5, np.inf, -np.inf]))
    assert 2 <= beside < len(objective) / 20
    assert survey.shared_with(np.sort(objective)) == len(objective)


EVEN = [
    (0.0, 1.0),
    (-5.0, 5.0),
    (1e6, 1e6 + 1e-2),
    (1e6, 1e6 + 1.0),
    (-3e4, -2.99e4),
    (2000.0, 2030.0),
    (-1e-300, 1e-300),
    (-8e307, 8e307),
    (1e-3, 7.0),
]


@pytest.mark.parametrize(("low", "high"), EVEN)
@pytest.mark.parametrize("steps", [0, 1, 3, 1_000, 10**9, 10**11])
def test_values_a_few_steps_from_the_edges(low: float, high: float, steps: int) -> None:
    """Near an edge the quick multiplication is in doubt, farther away it must be right."""
    parameter = pa.Float(low, high)
    edges = grid_of(parameter).edges
    assert edges is not None
    away = steps * np.spacing(np.maximum(np.abs(edges), np.finfo(float).tiny))
    values = np.concatenate([edges - away, edges + away, [-0.0, 5e-324, -5e-324]])
    with np.errstate(over="ignore"):
        values = np.concatenate([values, values * (1 + 2.0**-24), [np.nan, np.inf, -np.inf]])
    for part in (values, values[::-1], edges[1:-1], edges[1:-1] + away[1:-1]):
        check(as_column("x", part), np.arange(len(part), dtype=float), parameter)


LOG = [(1e-5, 1.0), (1.0, 1e6), (1e-300, 1e300), (3e-320, 1e-310), (0.999, 1.001), (2.0**-20, 2.0**20), (1e-3, 1e-2)]


@pytest.mark.parametrize(("low", "high"), LOG)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("times", [1, 60])
def test_leading_bits_tell_cells_of_a_log_scale(
    random: np.random.Generator, low: float, high: float, dtype: str, times: int
) -> None:
    """Runs of ordinary rows go the short way, and those at a boundary, beside one or outside the long one."""
    parameter = pa.Float(low, high, log=True)
    edges = grid_of(parameter).edges
    assert edges is not None
    beside = [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), 2.0 ** np.arange(-60, 60)]
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 5e-324, low, high])
    plain = np.exp(random.uniform(np.log(low), np.log(high), 3_000))
    with np.errstate(over="ignore", under="ignore"):
        values = np.concatenate([plain, *beside, plain, odd, plain]).astype(dtype)
    values = np.tile(values, times)
    check(as_column("x", values), random.normal(size=len(values)), parameter, threads=2)
    check(as_column("x", values[::2]), random.normal(size=len(values[::2])), parameter)


@pytest.mark.parametrize("shape", ["close", "subnormal", "zeros", "wide", "one"])
def test_levels_between_crowded_thresholds(random: np.random.Generator, shape: str) -> None:
    cuts = {
        "close": 1.0 + np.arange(200) * 2.0**-52,
        "subnormal": np.arange(-50, 50) * 5e-324,
        "zeros": np.array([-1e-300, -5e-324, 0.0, 5e-324, 1e-300]),
        "wide": np.concatenate([-np.logspace(300, -300, 99), np.logspace(-300, 300, 99)]),
        "one": np.array([0.25]),
    }[shape]
    thresholds = np.append(cuts, np.inf)
    levels = Levels("minimize", "worst", thresholds, as_ladder([]), (len(cuts),))
    beside = np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), random.normal(size=9_000)])
    objective = np.concatenate([beside, [np.nan, np.inf, -np.inf, -0.0, 0.0]])
    for values in (objective, objective[:40], np.tile(objective, 20)):
        np.testing.assert_array_equal(arrays.level_codes(values, levels), judge.assign_levels(values, levels))


TINY, MOST = 5e-324, float(np.finfo(float).max)
ENDS = [0.0, -0.0, TINY, -TINY, 1.0, -1.0, MOST, -MOST, np.inf, -np.inf]


class TestSelection:
    @pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u2"])
    @pytest.mark.parametrize("shape", ["normal", "narrow", "tied", "constant", "wild"])
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_radix_equals_partition(self, random: np.random.Generator, dtype: str, shape: str, sign: float) -> None:
        rows = 100_000
        values = {
            "normal": random.normal(size=rows) * 1_000,
            "narrow": 100.0 + random.random(rows) * 1e-6,
            "tied": random.integers(0, 5, rows) * 100.0,
            "constant": np.full(rows, 42.0),
            "wild": np.exp(random.uniform(-300, 300, rows)) * random.choice([-1, 1], rows),
        }[shape]
        if not dtype.startswith("f"):
            values = np.clip(np.nan_to_num(values), 0, 60_000)
        with np.errstate(over="ignore"):
            objective = values.astype(dtype)
        if dtype.startswith("f"):
            objective[random.integers(0, rows, 50)] = np.nan
        numbers = int(np.sum(~np.isnan(objective.astype(float))))
        wanted = np.unique([1, 2, 77, numbers // 3, numbers // 2, numbers - 1, numbers])
        slow = by_partition(objective, sign, wanted)
        np.testing.assert_array_equal(by_radix(objective, sign, wanted), slow)
        for threads in (1, 3):
            found = select_ranks(objective, sign, wanted, threads=threads)
            np.testing.assert_array_equal(list(found.values()), slow)

    @pytest.mark.parametrize("threads", [1, 3])
    def test_ties_beside_other_values(self, random: np.random.Generator, threads: int) -> None:
        """Slots that hold very many rows: of one value, or of several that must be told apart."""
        values = random.random(200_000)
        values[random.random(200_000) < 0.5] = 0.5
        values[random.random(200_000) < 0.2] = 0.5 + 2.0**-52
        values[:3] = [1e300, -1e300, np.nan]
        wanted = np.arange(1, 200_000, 997)
        found = select_ranks(values, 1.0, wanted, threads=threads)
        np.testing.assert_array_equal(list(found.values()), np.sort(values)[wanted - 1])

    def test_a_sample_of_nothing_but_nan(self) -> None:
        values = np.full(100_000, np.nan)
        values[12_345:12_350] = [3.0, 1.0, -np.inf, 2.0, np.inf]
        found = select_ranks(values, 1.0, [1, 2, 3, 4, 5], threads=2)
        assert list(found.values()) == [-np.inf, 1.0, 2.0, 3.0, np.inf]

    def test_infinities_and_zeros(self, random: np.random.Generator) -> None:
        objective = random.choice([np.inf, -np.inf, 0.0, -0.0, np.nan, 5e-324, -5e-324, 1e308], 70_000)
        numbers = int(np.sum(~np.isnan(objective)))
        wanted = np.arange(1, numbers + 1, 997)
        np.testing.assert_array_equal(by_radix(objective, 1.0, wanted), by_partition(objective, 1.0, wanted))

    @pytest.mark.parametrize("middle", ENDS)
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_slots_where_numbers_end_or_change_their_sign(self, middle: float, sign: float) -> None:
        values = np.array([*ENDS, np.nan, 2 * TINY, -3 * TINY, 0.5, middle] * 400)
        for spread in (0, 1, 3, 40_000):
            sample = sign * (middle + np.linspace(-1, 1, 50) * spread * TINY)
            for window in (window_around(sample), LEADING_BITS):
                counts = count_slots(values, sign, window)
                slots = slots_of(sign * values[~np.isnan(values)], window)
                assert (counts[:-1] == np.bincount(slots, minlength=window[2])).all()
                assert counts[-1] == np.isnan(values).sum()

    def test_no_ranks(self) -> None:
        assert select_ranks(np.arange(5.0), 1.0, []) == {}


def test_without_the_kernel_the_answers_are_the_same(
    trials: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_kernel = pa.analyze(trials, objective="loss")
    monkeypatch.setattr(kernel, "available", lambda: False)
    without = pa.analyze(trials, objective="loss")
    assert with_kernel.data.tallies == without.data.tallies
    assert with_kernel.importance(**COUNTS) == without.importance(**COUNTS)


def test_columns_are_not_copied(random: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the kernel is the caller's memory."""
    seen = []
    real = kernel.count_features

    def count_features(placed: list[kernel.Placed], *rest: Any, **options: Any) -> int:
        seen.extend(one.values for one in placed)
        return real(placed, *rest, **options)

    monkeypatch.setattr(kernel, "count_features", count_features)
    data = {"a": random.random(10_000), "b": random.random((10_000, 4))[:, 2], "c": random.random(10_000).astype("f4")}
    pa.analyze(data, random.normal(size=10_000))
    assert len(seen) == 3
    assert all(any(np.shares_memory(values, column) for column in data.values()) for values in seen)
