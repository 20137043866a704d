"""Columns in memory: what is counted of them, whole or batch after batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.levels import cut_levels
from pedanova.base.kernel.selection import select_ranks, survey_rows
from pedanova.counting import arrays
from pedanova.counting import reference as judge
from pedanova.counting.arrays import RunningCounts, count_codes, kept_codes, kept_values
from pedanova.counting.levels import as_ladder
from pedanova.data.column import Column, as_column, cells_of, take
from pedanova.data.objectives import Goal
from pedanova.data.observations import Observations
from pedanova.space.grid import grid_of

ROWS = 150_000  # enough that rows are laid out by level, in several rounds where levels are few
RANDOM = np.random.default_rng(0)
KEPT = {
    "a stretch": (np.arange(ROWS) > 40_000) & (np.arange(ROWS) < 90_000),
    "every third": np.arange(ROWS) % 3 == 0,
    "hardly any": RANDOM.random(ROWS) < 0.01,
    "nearly all": RANDOM.random(ROWS) < 0.97,
    "none at the ends": (np.arange(ROWS) > 3) & (np.arange(ROWS) < ROWS - 3),
}


@pytest.fixture(scope="module")
def observed() -> Observations:
    table: dict[str, Any] = {"x": RANDOM.random(ROWS), "n": RANDOM.integers(0, 9, ROWS).astype(np.uint8)}
    loss = np.round(table["x"] + RANDOM.normal(0, 0.3, ROWS), 2)  # with ties, so that sums are of few values
    loss[::1_000] = np.nan
    found = pa.analyze(table, loss, direction="minimize").data.observations
    assert found is not None
    return found


@pytest.mark.parametrize("many", [4, 300], ids=["bytes", "two bytes"])
@pytest.mark.parametrize("name", KEPT)
def test_rows_that_do_not_count_are_in_no_cell(observed: Observations, name: str, many: int) -> None:
    some = replace(observed, keep=KEPT[name])
    levels = cut_levels(kept_values(some), direction="minimize", quantiles=as_ladder(np.linspace(1 / many, 1, many)))
    levels = levels.with_values(np.linspace(-1, 2, many))
    codes = kept_codes(some, levels, threads=2)
    assert np.all(codes[~KEPT[name]] == levels.count)
    counted = count_codes(some, codes, levels.count, threads=1)  # all rows in one call
    for parameter in observed.space:
        grid = grid_of(observed.space[parameter])
        places = codes.astype(np.int64) * grid.width + cells_of(observed.columns[parameter], grid)
        for found, weights in zip(counted[parameter], (None, np.nan_to_num(observed.objective)), strict=True):
            plain = np.bincount(places, weights, minlength=(levels.count + 1) * grid.width)
            assert np.allclose(found.ravel(), plain[: found.size], rtol=0, atol=1e-6)


FEW, SOME, SOME_WIDE, MANY = (3, np.uint8), (40, np.uint8), (40, np.uint16), (600, np.uint16)


@pytest.mark.parametrize(
    ("columns", "levels", "dtype"),
    [
        *((columns, *kind) for columns in (1, 2, 3, 4, 7) for kind in (FEW, MANY)),
        *((3, *kind) for kind in (SOME, SOME_WIDE)),
        (33, *SOME),
    ],
)
def test_any_number_of_threads_gives_the_same_bytes(columns: int, levels: int, dtype: type) -> None:
    random = np.random.default_rng(columns)
    table = {f"x{i}": random.random(ROWS) * 1.1 for i in range(columns)}
    goal = Goal("y", random.normal(size=ROWS), "minimize", None)
    space = pa.Space({name: pa.Float(0, 1) for name in table})
    observed = Observations({name: as_column(name, own) for name, own in table.items()}, (goal,), space, {})
    codes = random.integers(0, levels + 1, ROWS).astype(dtype)
    judged, alone = arrays.count_by_judge(observed, codes, levels, observed.space), count_codes(observed, codes, levels)
    for threads in (2, 7):
        shared = count_codes(observed, codes, levels, threads=threads)
        for name, (counts, sums) in shared.items():
            np.testing.assert_array_equal(counts, judged[name][0])
            np.testing.assert_allclose(sums, judged[name][1], rtol=1e-9, atol=1e-9)
            assert sums.tobytes() == alone[name][1].tobytes()


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("rows", [0, 1, 60, 400])
def test_few_rows_are_stored_by_place(observed: Observations, name: str, rows: int) -> None:
    part = np.random.default_rng(rows).permutation(len(observed))[:rows]
    goals = tuple(replace(goal, values=goal.values[part]) for goal in observed.goals)
    some = replace(observed, columns=take(observed.columns, part), goals=goals)
    codes = np.where(KEPT[name][part], part % 100, 100).astype(np.uint8)
    dense, stored = count_codes(some, codes, 100), arrays.count_rows(some, codes, 100)
    assert [parameter for parameter in some.space if len(stored[parameter]) == 3], "all tables are full"
    for parameter, (counts, sums, *places) in stored.items():
        every = slice(None) if not places else places[0]
        whole, total = np.zeros(dense[parameter][0].size, dtype=np.int64), np.zeros(dense[parameter][0].size)
        whole[every] = counts.ravel()
        total[every if sums.size == counts.size else whole > 0] = sums.ravel()  # sums of empty cells may be left out
        np.testing.assert_array_equal(whole, dense[parameter][0].ravel())
        np.testing.assert_array_equal(total, dense[parameter][1].ravel())


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("values", ["spread", "ties", "gaps"])
def test_a_search_for_ranks_tells_the_levels_of_all_rows(values: str, sign: float) -> None:
    objective = np.exp(np.random.default_rng(1).normal(size=ROWS))
    if values == "ties":
        objective = np.round(objective, 1)
    if values == "gaps":
        objective[::7] = np.nan
    direction = "minimize" if sign > 0 else "maximize"
    levels = cut_levels(objective, direction=direction, quantiles=as_ladder([i / 100 for i in range(1, 101)]))
    survey = survey_rows(objective, sign, threads=3)
    assert survey is not None
    numbers = ROWS - survey.nans
    select_ranks(objective, sign, [-(-numbers * i // 100) for i in range(1, 101)], survey=survey, threads=3)
    if values == "spread":
        assert survey.search is not None
        assert survey.search.tells(sign * levels.thresholds[:-1], survey)
    plain = judge.assign_levels(objective, levels)
    assert np.array_equal(arrays.level_codes(objective, levels, survey=survey, threads=3), plain)


@pytest.mark.parametrize("name", KEPT)
def test_one_look_at_the_kept_rows_tells_their_levels(observed: Observations, name: str) -> None:
    some = replace(observed, keep=KEPT[name])
    values = kept_values(some, threads=2)
    assert np.array_equal(values, observed.ranked[KEPT[name]], equal_nan=True)
    levels = cut_levels(values, direction="minimize")
    plain, looked = kept_codes(some, levels, threads=2), kept_codes(some, levels, survey=survey_rows(values, 1.0))
    assert np.array_equal(plain, looked)


def test_batches_of_any_form_add_up() -> None:
    """Numbers, codes and a column that comes as bytes first and as doubles later, the cells of which lie otherwise."""
    random, rows = np.random.default_rng(5), 3_000
    space = {f"x{i}": pa.Float(0, 1) for i in range(64)}
    space |= {"n": pa.Ordinal([99, 3, 50]), "kind": pa.Categorical(("a", "b"))}
    table: dict[str, Column] = {name: as_column(name, random.random(rows)) for name in space if name.startswith("x")}
    table["n"] = as_column("n", random.choice([3, 50, 99, 7], rows).astype(np.uint8))
    table["kind"] = Column("kind", random.integers(-1, 2, rows, dtype=np.int32), ("a", "b"))
    codes, objective = random.integers(0, 6, rows, dtype=np.uint8), random.normal(size=rows)

    def observed(part: slice, *, as_doubles: bool = False) -> Observations:
        columns = {name: Column(name, own.values[part], own.labels) for name, own in table.items()}
        if as_doubles:
            columns["n"] = as_column("n", columns["n"].values.astype(float))
        return Observations(columns, (Goal("y", objective[part], "minimize", None),), pa.Space(space), {})

    running = RunningCounts(5, threads=2)
    for number, part in enumerate((slice(0, 1_000), slice(1_000, 1_000), slice(1_000, 3_000))):
        running.add(observed(part, as_doubles=number == 2), codes[part])
    found, whole = running.take(), arrays.count_by_judge(observed(slice(None)), codes, 5, list(space))
    assert set(found) == set(whole)
    for name, (counts, sums) in whole.items():
        np.testing.assert_array_equal(found[name][0], counts)
        np.testing.assert_allclose(found[name][1], sums, rtol=1e-12, atol=1e-12)
    assert running.take() == {}
