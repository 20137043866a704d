from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.surrogate.fold import COARSE, FINE, fold_of, shelf_of
from pedanova.space.grid import grid_of

PARAMETERS = [
    pa.Float(0, 1),
    pa.Int(1, 3000, log=True),
    pa.Int(1, 7),
    pa.Categorical(list("abc")),
    pa.Categorical(range(300)),
    pa.Switch("by", {"a": pa.Float(0, 1), "b": pa.Categorical(["x", "y"])}),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
@pytest.mark.parametrize("most", [FINE, COARSE, 3])
def test_every_cell_has_its_place(parameter: object, most: int) -> None:
    grid = grid_of(parameter)  # type: ignore[arg-type]
    fold = fold_of(grid, most)
    assert np.all(np.diff(fold.table[: grid.cells]) >= 0)
    assert set(fold.table.tolist()) == set(range(fold.cells))
    assert set(fold.table[grid.cells :].tolist()) == {fold.cells - 1}
    for block in fold.blocks:
        assert fold.prior[block.start : block.stop].sum() == pytest.approx(1.0)
        assert not block.ordered or block.stop - block.start <= most


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_folding_twice_is_folding_once(parameter: object) -> None:
    grid = grid_of(parameter)  # type: ignore[arg-type]
    fine, coarse = fold_of(grid, FINE), fold_of(grid, COARSE)
    again = fine.then(coarse)
    # A saved cell may straddle two coarse ones: it is then counted in one of them.
    off = np.abs(again[fine.table].astype(int) - coarse.table.astype(int))
    assert off.max() <= 1
    assert np.mean(off == 0) > 0.9


def test_a_shelf_adds_by_block_and_by_parameter() -> None:
    shelf = shelf_of([fold_of(grid_of(parameter), COARSE) for parameter in PARAMETERS])
    values = np.arange(2.0 * shelf.cells).reshape(2, -1)
    by_block = shelf.by_block(values)
    assert by_block.sum(axis=1) == pytest.approx(values.sum(axis=1))
    assert shelf.of_blocks(by_block) == pytest.approx(shelf.by_parameter(values))
