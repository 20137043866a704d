"""Rows inside a closed line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.data.column import as_column
from pedanova.data.lasso import MOST_POINTS, inside, lasso
from pedanova.errors import QueryError

SQUARE = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
CORNERS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=12)


def plain(x: float, y: float, corners: Any) -> bool:
    """The even-odd rule as it stands in textbooks, edge by edge."""
    odd = False
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * ((x1 - x0) / (y1 - y0)):
            odd = not odd
    return odd


@given(CORNERS, st.integers(0, 99))
def test_it_is_the_even_odd_rule(corners: Any, seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(-10, 10, (2, 60))  # on no edge, so that rounding decides nothing
    found = inside(x, y, *np.array(corners, dtype=float).T)
    assert found.tolist() == [plain(*point, corners) for point in zip(x.tolist(), y.tolist(), strict=True)]


@given(CORNERS, st.integers(0, 11))
def test_where_it_begins_and_which_way_it_runs_does_not_matter(corners: Any, start: int) -> None:
    x, y = np.random.default_rng(1).uniform(-10, 10, (2, 60))
    at = start % len(corners)
    turned = [*corners[at:], *corners[:at]][::-1]
    first, second = (inside(x, y, *np.array(one, dtype=float).T) for one in (corners, turned))
    assert first.tolist() == second.tolist()


def test_areas_that_share_an_edge_share_no_row_and_leave_none_out() -> None:
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(5.0), np.arange(5.0)))  # many of them on edges
    tiles = [[(i, j), (i + 2, j), (i + 2, j + 2), (i, j + 2)] for i in (0, 2) for j in (0, 2)]
    times = sum(inside(x, y, *np.array(tile, dtype=float).T).astype(int) for tile in tiles)
    assert (times[(x < 4) & (y < 4)] == 1).all()


def test_missing_and_infinite_values_are_outside() -> None:
    x = as_column("x", np.array([1.0, np.nan, np.inf, 1.0]))
    y = as_column("y", [1, 1, 1, None])
    assert lasso("x", "y", SQUARE).rows(x, y).tolist() == [True, False, False, False]


def test_edges_are_straight_on_the_scale_of_the_parameter() -> None:
    """(10, 0.4) lies below the line from (1, 0) to (100, 1) on a log scale, where it is at 0.5, not on a linear one."""
    data = {"lr": [1.0, 10, 100, 50, 2, 3], "m": [0.0, 0.4, 1, 0.1, 0.9, 0.1]}
    space = {"lr": pa.Float(1, 100, log=True), "m": pa.Float(0, 1)}
    corners = [(1, 0), (100, 1), (1, 1)]
    log = pa.analyze(data, [1.0, 2, 3, 4, 5, 6], space=space)
    linear = pa.analyze(data, [1.0, 2, 3, 4, 5, 6], space=space | {"lr": pa.Float(1, 100)})
    rows = {name: a.within(pa.lasso("lr", "m", [*corners[:1], (10, 0.3), (100, 1), (1, 1)])) for name, a in
            (("log", log), ("linear", linear))}  # fmt: skip
    assert rows["log"].trials().to_dict()["lr"] == [10.0, 2.0]
    assert 10.0 in rows["linear"].trials().to_dict()["lr"]
    below = pa.lasso("lr", "m", [(1, 0), (100, 1), (100, 0)])
    assert 10.0 in log.within(below).trials().to_dict()["lr"]
    assert 10.0 not in linear.within(below).trials().to_dict()["lr"]


def test_it_is_a_region_too() -> None:
    rng = np.random.default_rng(0)
    data = {"x": rng.uniform(0, 1, 300), "y": rng.uniform(0, 1, 300)}
    a = pa.analyze(data, data["x"] + rng.normal(0, 0.1, 300))
    drawn = pa.lasso("x", "y", [(0.1, 0.1), (0.9, 0.2), (0.5, 0.9)])
    inner = a.within(drawn).importance(0.2, estimator="counts")
    assert a.importance(0.2, drawn, estimator="counts").to_dict() == inner.to_dict()
    assert "lasso of 3 points on x and y" in a.importance(0.2, drawn, estimator="counts").region


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (SQUARE[:2], "2 points must be at least 3"),
        ([(0, 0)] * (MOST_POINTS + 1), "must be at least 3 and at most"),
        ([(0, 0), (1, 1), (1, "2")], "must be two numbers"),
        ([(0, 0), (1, 1), (1, float("nan"))], "must be two numbers"),
        ([(0, 0), (1, 1), (1, float("inf"))], "must be two numbers"),
        ([(0, 0), (1, 1), (1, True)], "must be two numbers"),
        ([(0, 0), (1, 1), (1, 2, 3)], "must be two numbers"),
        ([(0, 0), (1, 1), "ab"], "must be two numbers"),
    ],
)
def test_what_is_no_lasso_is_refused(points: Any, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        lasso("x", "y", points)


def test_columns_that_are_no_plane_are_refused() -> None:
    with pytest.raises(QueryError, match="named twice"):
        lasso("x", "x", SQUARE)
    a = pa.analyze({"x": [1.0, 2, 3, 4], "c": ["a", "b", "a", "b"]}, [1.0, 2, 3, 4])
    with pytest.raises(QueryError, match="c holds no numbers"):
        a.within(lasso("x", "c", SQUARE))
    with pytest.raises(QueryError, match="lasso: no column is called 'z'"):
        a.within(lasso("x", "z", SQUARE))
    log = pa.analyze(
        {"x": [1.0, 2, 3, 4], "y": [1.0, 2, 1, 2]},
        [1.0, 2, 3, 4],
        space={"x": pa.Float(1, 4, log=True), "y": pa.Float(1, 2)},
    )
    with pytest.raises(QueryError, match="above 0 on its log scale"):
        log.within(lasso("x", "y", SQUARE))
