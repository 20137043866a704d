"""One table with everything that engines treat differently, and its tallies by plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import pedanova
from helpers.levels import cut_levels
from pedanova.counting import reference as judge
from pedanova.counting.levels import Levels
from pedanova.data.column import Column, as_column
from pedanova.space.grid import grid_of

ROWS = 3000
SPACE = pedanova.Space(
    {
        "lr": pedanova.Float(1e-5, 1.0, log=True),
        "drop": pedanova.Float(0.0, 1.0),
        "layers": pedanova.Int(1, 8),
        "units": pedanova.Int(1, 60_000, log=True),
        "wide": pedanova.Int(0, 3_000_000),
        "batch": pedanova.Ordinal([16, 32, 64, 128]),
        "optimizer": pedanova.Categorical(["adam", "sgd", "rare", "42"]),
        "nesterov": pedanova.Categorical([False, True]),
        "price": pedanova.Ordinal([0.1, 0.25, 1.5]),
        "void": pedanova.Float(-1.0, 1.0),
    }
)
TYPES = {
    "lr": pa.float64(), "drop": pa.float32(), "layers": pa.int64(), "units": pa.uint16(), "wide": pa.uint64(),
    "batch": pa.int8(), "optimizer": pa.string(), "nesterov": pa.bool_(), "price": pa.decimal128(10, 2),
    "void": pa.float64(), "loss": pa.float64(),
}  # fmt: skip
# One of each kind, for engines that are asked in words: a thousand cells make a long question, and every cell of every
# parameter is counted with the other direction already.
FEW = pedanova.Space({name: SPACE[name] for name in ("lr", "layers", "batch", "optimizer", "nesterov", "price")})
SHARDS = (0, 700, 700, 1500, 2999, 3000)  # the second is empty, the last has one row


@dataclass(frozen=True)
class Nasty:
    table: pa.Table
    columns: dict[str, Column]
    objective: np.ndarray

    @property
    def shards(self) -> list[pa.Table]:
        return [self.table.slice(a, b - a) for a, b in pairwise(SHARDS)]


def sprinkle(random: np.random.Generator, values: list, *odd: object, part: float = 0.03) -> list:
    """Odd values in some rows."""
    for value in odd:
        for row in np.flatnonzero(random.random(len(values)) < part):
            values[row] = value
    return values


@cache
def nasty() -> Nasty:
    random = np.random.default_rng(5)
    edges = grid_of(SPACE["lr"]).edges
    near = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)])
    inf, nan = np.inf, np.nan
    rows = {
        "lr": sprinkle(random, random.choice(near, ROWS).tolist(), None, nan, inf, -inf, 0.0, 2.0),
        "drop": sprinkle(random, (random.integers(0, 1002, ROWS) / 1001).astype("f4").tolist(), None, nan, -inf),
        "layers": sprinkle(random, random.integers(0, 10, ROWS).tolist(), None),
        "units": sprinkle(random, random.integers(1, 65_535, ROWS).tolist(), None),
        "wide": sprinkle(random, random.integers(0, 3_000_001, ROWS).tolist(), None, 2**53 - 1),
        "batch": sprinkle(random, random.choice([16, 32, 64, 127], ROWS).tolist(), None, -5),
        "optimizer": sprinkle(random, random.choice(["adam", "sgd", "ädam"], ROWS).tolist(), None),
        "nesterov": sprinkle(random, random.choice([True, False], ROWS).tolist(), None),
        "price": sprinkle(random, random.choice([0.1, 0.25, 1.5, 7.0], ROWS).tolist(), None),
        "void": [None] * 1500 + random.normal(size=ROWS - 1500).tolist(),
        "loss": sprinkle(random, np.round(random.normal(size=ROWS), 2).tolist(), None, nan, inf, -inf),
    }
    rows["optimizer"][-1] = "rare"
    objective = np.array([nan if x is None else x for x in rows["loss"]])
    columns = {name: plain_column(name, rows[name]) for name in SPACE}
    rows["price"] = [None if x is None else Decimal(str(x)) for x in rows["price"]]
    table = pa.table({name: pa.array(values, TYPES[name]) for name, values in rows.items()})
    return Nasty(table, columns, objective)


def plain_column(name: str, values: list) -> Column:
    absent = np.array([value is None for value in values])
    if isinstance(next(v for v in values if v is not None), str):
        return as_column(name, values)
    kind = TYPES[name].to_pandas_dtype() if not pa.types.is_decimal(TYPES[name]) else np.float64
    filled = np.array([0 if value is None else value for value in values], dtype=kind)
    return Column(name, filled, None, absent if absent.any() else None)


@cache
def truth(direction: str = "minimize", nan: str = "drop") -> tuple[Levels, dict[str, judge.Counted]]:
    """Levels and, for every parameter, counts and sums, by sorting and `bincount`."""
    data = nasty()
    levels = cut_levels(data.objective, direction=direction, nan=nan)
    codes = judge.assign_levels(data.objective, levels)
    tables = {
        name: judge.count(column, grid_of(SPACE[name]), codes, data.objective, levels.count)
        for name, column in data.columns.items()
    }
    return levels, tables


def check(a: pedanova.Analysis, direction: str = "minimize", nan: str = "drop", space: object = SPACE) -> None:
    """Every cell of every level is what plain NumPy counts."""
    levels, tables = truth(direction, nan)
    assert a.data.levels.difference(levels) is None
    assert list(a.data.tallies) == list(space)  # type: ignore[call-overload]
    for name in a.data.tallies:
        counts, sums = tables[name]
        np.testing.assert_array_equal(a.data.tallies[name].counts, counts, err_msg=name)
        np.testing.assert_allclose(a.data.tallies[name].sums, sums, rtol=1e-9, atol=1e-9, err_msg=name)
    assert len(a) == int(tables["lr"][0].sum())
    assert a.data.dropped == ROWS - len(a)


def write_parquet(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, shard in enumerate(nasty().shards):
        parquet.write_table(shard, folder / f"part-{number}.parquet", row_group_size=400)
    return folder


def write_hive(folder: Path) -> Path:
    """The optimizer stands in the path; rows without one lie in Hive's own folder for them."""
    parquet.write_to_dataset(nasty().table, folder, partition_cols=["optimizer"])
    return folder


def write_csv(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, shard in enumerate(nasty().shards):
        place = shard.column_names.index("drop")  # as doubles: the short text of a float32 is another number
        shard = shard.set_column(place, "drop", shard["drop"].cast("float64"))
        csv.write_csv(shard, folder / f"part-{number}.csv")
    return folder
