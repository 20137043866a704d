from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.surrogate import drawn as module
from pedanova.measures.surrogate.drawn import Drawn, kept_points
from pedanova.measures.surrogate.rungs import rungs_of
from pedanova.space.grid import grid_of

SPACE = pa.Space({"x": pa.Float(0, 1), "kind": pa.Categorical(["a", "b", "c"])})


def some_draws(points: int = 300, draws: int = 4) -> Drawn:
    rng = np.random.default_rng(0)
    cells = {name: rng.integers(0, grid_of(one).cells, points).astype(np.int32) for name, one in SPACE.items()}
    order = np.stack([rng.permutation(points) for _ in range(draws)]).astype(np.uint16)
    return Drawn(SPACE, kept_points(SPACE, cells), order, rungs_of(np.arange(100.0)), tuple(SPACE), uneven=False)


def one_by_one(drawn: Drawn, span: tuple[int, int]) -> np.ndarray:
    shelf, (first, last) = drawn.shelf(), drawn.ends(span)
    flat = drawn.flat(shelf)
    return np.stack([np.bincount(flat[o[first:last]].ravel(), minlength=shelf.cells) for o in drawn.order])


@pytest.mark.parametrize("room", [0, 1 << 23])
def test_points_are_counted_alike_whatever_was_asked_before(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", room)
    drawn = some_draws()
    shelf, rng = drawn.shelf(), np.random.default_rng(1)
    spans = [(0, 10), (0, 5), (0, 100), (0, 95), (0, 12), (3, 9), (90, 93), (5, 100), (7, 7), (0, 0)]
    spans += [(first, first + more) for first, more in rng.integers(0, 50, (30, 2)).tolist()]
    for span in spans:
        found = drawn.count(span, shelf)
        assert np.array_equal(np.broadcast_to(found, (drawn.draws, shelf.cells)), one_by_one(drawn, span)), span


def test_all_points_are_the_same_in_every_draw() -> None:
    drawn = some_draws()
    whole = drawn.count((0, 100), drawn.shelf())
    assert whole.shape[0] == 1
    assert whole.sum() == len(drawn) * len(SPACE)
