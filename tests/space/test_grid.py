"""Cells: every value in exactly one, uniform mass where it belongs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.data.column import as_column, cells_of
from pedanova.errors import SpaceError
from pedanova.space.grid import grid_of

PARAMETERS = [
    pa.Float(0, 1),
    pa.Float(1e-6, 10, log=True),
    pa.Int(0, 5),
    pa.Int(1, 1001),
    pa.Int(1, 1500),
    pa.Int(0, 10**6),
    pa.Int(3, 5000, step=7),
    pa.Int(1, 100, log=True),
    pa.Int(1, 10**6, log=True),
    pa.Ordinal([3, 1, 2]),
    pa.Ordinal(["low", "mid", "high"]),
    pa.Categorical(["a", "b"]),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_prior_adds_to_one_and_cells_are_at_most_1001(parameter: pa.space.Parameter) -> None:
    grid = grid_of(parameter)
    assert grid.prior.sum() == pytest.approx(1.0, rel=1e-12)
    assert len(grid.prior) == grid.cells <= 1001
    assert len(grid.centres()) == grid.cells
    assert grid is grid_of(parameter)


@pytest.mark.parametrize("parameter", [pa.Int(0, 5), pa.Int(1, 1500), pa.Int(3, 5000, step=7), pa.Int(0, 10**4)])
def test_integers_fill_cells_as_the_prior_says(parameter: pa.Int) -> None:
    values = np.arange(parameter.low, parameter.high + 1, parameter.step)
    grid = grid_of(parameter)
    counts = np.bincount(grid.locate(values), minlength=grid.width)
    np.testing.assert_allclose(counts[: grid.cells] / len(values), grid.prior, atol=1e-12)


def test_log_integers_fill_cells_as_the_prior_says() -> None:
    """A log-uniform draw from [low - ½, high + ½], rounded, as samplers do it."""
    parameter = pa.Int(1, 10**6, log=True)
    draws = np.exp(np.random.default_rng(0).uniform(np.log(0.5), np.log(10**6 + 0.5), 400_000))
    values = np.clip(np.round(draws), 1, 10**6)
    grid = grid_of(parameter)
    counts = np.bincount(grid.locate(values), minlength=grid.width)
    assert counts[grid.outside] == 0
    full = grid.prior > 1e-3
    np.testing.assert_allclose(counts[: grid.cells][full] / len(values), grid.prior[full], rtol=0.15)
    assert counts[: grid.cells][grid.prior == 0].sum() == 0


def test_ends_belong_to_the_range() -> None:
    for parameter in (pa.Float(-1, 1), pa.Float(1e-5, 1, log=True)):
        grid = grid_of(parameter)
        assert grid.locate(np.array([parameter.low, parameter.high])).tolist() == [0, grid.cells - 1]
        beyond = np.array([parameter.low - 0.01, parameter.high + 0.01, np.inf, -np.inf])
        assert set(grid.locate(beyond)) == {grid.outside}
        assert grid.locate(np.array([np.nan])).tolist() == [grid.missing]


def test_bounds_kept_as_float32_are_no_strangers() -> None:
    grid = grid_of(pa.Float(1e-5, 0.1, log=True))
    rounded = np.array([1e-5, 0.1], dtype=np.float32)
    assert grid.locate(rounded).tolist() == [0, grid.cells - 1]
    ordinal = grid_of(pa.Ordinal([0.1, 0.3, 1e-5]))
    assert ordinal.locate(np.array([0.1, 0.3, 1e-5], dtype=np.float32)).tolist() == [0, 1, 2]


def test_values_beside_the_lattice_are_outside() -> None:
    grid = grid_of(pa.Int(0, 10, step=2))
    assert grid.locate(np.array([0, 1, 2, 2.5, 10])).tolist() == [0, grid.outside, 1, grid.outside, 5]
    wide = grid_of(pa.Int(0, 10**6))
    assert (wide.locate(np.array([7.5, 7])) == wide.outside).tolist() == [True, False]


def test_labels_are_matched_by_value_then_by_text_then_as_numbers() -> None:
    grid = grid_of(pa.Categorical(["1", 2, True, 0.1]))
    assert grid.match(("1", "2", "True", "0.1", "x")).tolist() == [0, 1, 2, 3, grid.outside]
    numeric = grid_of(pa.Ordinal([2, 0.1]))
    assert numeric.match(("2.0", "0.10", "1e-1", "x")).tolist() == [0, 1, 1, numeric.outside]
    assert cells_of(as_column("x", [1, 2, None]), grid_of(pa.Categorical(["1", "2"]))).tolist() == [0, 1, 2]


def test_numbers_in_text_serve_a_range() -> None:
    column = as_column("lr", np.array(["0.1", "0.9", "oops"]))
    grid = grid_of(pa.Float(0, 1))
    assert cells_of(column, grid).tolist() == [100, 900, grid.outside]


def test_too_many_categories() -> None:
    with pytest.raises(SpaceError, match="2000 values are too many"):
        grid_of(pa.Categorical(list(range(2000))))


def test_a_range_too_narrow_for_its_size() -> None:
    with pytest.raises(SpaceError, match="too narrow"):
        grid_of(pa.Float(1e16, 1e16 + 4))


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_cells_follow_the_order_of_values(low: float, width: float, parts: list[float]) -> None:
    if width < 1e-9 * abs(low):
        return
    grid = grid_of(pa.Float(low, low + width))
    values = np.clip(np.sort(low + width * np.array(parts)), low, low + width)
    cells = grid.locate(values)
    assert np.all(np.diff(cells) >= 0)
    assert cells.max() < grid.cells
    assert grid.edges is not None
    inner = cells[(cells > 0) & (cells < grid.cells - 1)]
    chosen = values[(cells > 0) & (cells < grid.cells - 1)]
    assert np.all((grid.edges[inner] <= chosen) & (chosen < grid.edges[inner + 1]))
