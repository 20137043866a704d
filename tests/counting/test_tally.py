"""Tallies that cannot be added say why."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.tally import Tally
from pedanova.errors import MergeError


@pytest.fixture
def data() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {"x": random.random(300), "y": random.normal(size=300)}


def test_other_thresholds(data: dict[str, np.ndarray]) -> None:
    space = {"x": pa.Float(0, 1)}
    one = pa.analyze(data, "y", space=space)
    two = pa.analyze({"x": data["x"], "y": data["y"] + 1}, "y", space=space)
    with pytest.raises(MergeError, match=r"thresholds differ: .* levels=first.data.levels"):
        one + two


def test_other_grids(data: dict[str, np.ndarray]) -> None:
    one = pa.analyze(data, "y", space={"x": pa.Float(0, 1)})
    two = pa.analyze(data, "y", space={"x": pa.Float(0, 2)})
    with pytest.raises(MergeError, match=r"x: domains differ: Float.*space="):
        one + two


def test_other_directions_policies_numbers_and_names(data: dict[str, np.ndarray]) -> None:
    space = {"x": pa.Float(0, 1)}
    one = pa.analyze(data, "y", space=space)
    for other, reason in [
        (pa.analyze(data, "y", space=space, direction="maximize"), "directions differ"),
        (pa.analyze(data, "y", space=space, reading=pa.Reading(nan="worst")), "NaN policies differ"),
        (pa.analyze(data, "y", space=space, levels=[0.5]), "numbers of levels differ"),
        (pa.analyze({"x": data["x"], "z": data["y"]}, "z", space=space), "objectives differ"),
        (pa.analyze({"w": data["x"], "y": data["y"]}, "y", space={"w": pa.Float(0, 1)}), "parameters differ"),
    ]:
        with pytest.raises(MergeError, match=reason):
            one + other
    with pytest.raises(TypeError):
        one + 1  # type: ignore[operator]


def test_a_tally_is_frozen(data: dict[str, np.ndarray]) -> None:
    tally = pa.analyze(data, "y").data.tallies["x"]
    with pytest.raises(ValueError, match="read-only"):
        tally.counts[0, 0] = 1
    with pytest.raises(AttributeError):
        tally.name = "z"  # type: ignore[misc]


def test_counts_of_the_wrong_shape(data: dict[str, np.ndarray]) -> None:
    tally = pa.analyze(data, "y").data.tallies["x"]
    with pytest.raises(MergeError, match="must have the shape"):
        Tally("x", tally.parameter, tally.levels, tally.counts[:, :5], tally.sums[:, :5])


def test_sums_are_those_of_the_objective(data: dict[str, np.ndarray]) -> None:
    a = pa.analyze(data, "y")
    assert a.data.tallies["x"].sums.sum() == pytest.approx(data["y"].sum(), rel=1e-12)
    best = data["y"][data["y"] <= a.data.levels.thresholds[a.data.levels.index[10]]]
    assert a.data.tallies["x"].sums[: a.data.levels.index[10] + 1].sum() == pytest.approx(best.sum(), rel=1e-12)


def test_a_table_of_few_rows_is_kept_as_the_cells_that_hold_some(data: dict[str, np.ndarray]) -> None:
    few = pa.analyze(data, "y").data.tallies["x"]
    dense = Tally("x", few.parameter, few.levels, few.counts, few.sums)
    assert few.size <= 300 < few.counts.size
    assert dense == few
    assert (few + few).counts.tolist() == (2 * few.counts).tolist()
    assert few.rows == 300
    full = Tally("x", few.parameter, few.levels, few.counts + 1, few.sums)
    assert full.size == few.counts.size
    assert full.rows == few.rows + few.counts.size


@pytest.mark.parametrize("largest", [0, 1, 255, 256, 65_535, 65_536, 2**40, -1])
def test_rows_of_several_levels_are_added_without_overflow(data: dict[str, np.ndarray], largest: int) -> None:
    one = pa.analyze(data, "y", space={"x": pa.Float(0, 1)}).data.tallies["x"]
    counts = np.full(one.counts.shape, largest, dtype=np.int64)
    tally = Tally("x", one.parameter, one.levels, counts, np.zeros(counts.shape))
    for first, last in ((0, one.levels.count), (0, 3), (2, 9)):
        assert np.array_equal(tally.between(first, last), counts[first:last].sum(axis=0))
    assert tally.beyond() == (one.levels.count * largest,) * 2
    assert tally.rows == counts.sum()
