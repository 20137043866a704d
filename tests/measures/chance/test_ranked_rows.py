from __future__ import annotations

import numpy as np

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.measures.chance.ranked_rows import RankedRows


def same(one: RankedRows, two: RankedRows) -> bool:
    return (
        one.arrangement.names == two.arrangement.names
        and np.array_equal(one.places, two.places)
        and np.array_equal(one.keys, two.keys)
    )


def test_neither_order_nor_names_are_seen() -> None:
    columns, loss, space = study()
    told = rows_of(columns, loss, space)
    order = np.random.default_rng(1).permutation(len(loss))
    shuffled = {name: column[order] for name, column in reversed(columns.items())}
    assert same(told, rows_of(shuffled, loss[order], dict(reversed(space.items()))))
    assert same(told, rows_of(columns, np.exp(loss), space))
    assert same(told, rows_of(columns, -loss, space, direction="maximize"))


def test_categories_are_known_by_their_rows() -> None:
    columns, loss, space = study()
    new = {"adam": "zeta", "sgd": "alpha", "rms": "mid"}
    columns = {key: columns[key] for key in ("kind", "lr")}
    renamed = {**columns, "kind": np.array([new[kind] for kind in columns["kind"]], dtype=object)}
    space = {key: space[key] for key in ("kind", "lr")}
    other = {**space, "kind": pa.Categorical(["alpha", "mid", "zeta"])}
    assert same(rows_of(columns, loss, space), rows_of(renamed, loss, other))


def test_a_constant_column_stands_behind() -> None:
    columns, loss, space = study()
    more = rows_of({**columns, "a": np.ones(len(loss))}, loss, {**space, "a": pa.Float(0, 2)})
    told = rows_of(columns, loss, space)
    assert more.arrangement.names[-1] == "a"
    assert np.array_equal(told.keys, more.keys)


def test_cells_come_back() -> None:
    columns, loss, space = study()
    told = rows_of(columns, loss, space)
    cells = told.arrangement.cells(told.places)
    assert list(cells) == list(space)
    assert np.array_equal(told.arrangement.places(cells), told.places)


def test_neighbours_in_a_cell_are_no_repeats() -> None:
    rng = np.random.default_rng(0)
    values = np.r_[rng.random(300) / 500, 0.3, 0.3]  # two cells, and one value twice
    rows = rows_of({"a": values}, rng.random(302), {"a": pa.Float(0, 1)})
    assert len(np.unique(rows.places)) < 10
    assert len(np.unique(rows.keys)) == 301
    rounded = rows_of({"a": values.astype(np.float32)}, rng.random(302), {"a": pa.Float(0, 1)})
    assert np.array_equal(np.sort(rows.keys), np.sort(rounded.keys))
