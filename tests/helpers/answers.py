"""Tables whose answers need more than counts, and the comparison of their answers on several engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import QueryError

SPACE = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "drop": pa.Float(0.0, 1.0),
    "layers": pa.Int(1, 8),
    "optimizer": pa.Categorical(["adam", "sgd"]),
}
MANY = 25_000  # rows: so many that every engine answers by counts; for "few rows" a model answers


@dataclass(frozen=True)
class Given:
    """A table, and the options of its analysis."""

    columns: dict[str, np.ndarray]
    space: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def arrow(self) -> Any:
        import pyarrow  # noqa: ICN001  (pa is pedanova here)

        return pyarrow.table({name: pyarrow.array(column, from_pandas=True) for name, column in self.columns.items()})


def made(seed: int, configurations: int, runs: int, *, effect: float = 1.0) -> dict[str, np.ndarray]:
    """Some configurations with the same number of runs each, in a random order."""
    random = np.random.default_rng(seed)
    lr, drop = np.exp(random.uniform(np.log(1e-5), 0, configurations)), random.random(configurations)
    layers, optimizer = random.integers(1, 9, configurations), random.choice(["adam", "sgd"], configurations)
    quality = random.normal(size=configurations) + effect * (np.log10(lr) + 2) ** 2 / 4 + effect * (optimizer == "sgd")
    columns = {"lr": lr, "drop": drop, "layers": layers, "optimizer": optimizer, "loss": quality}
    order = random.permutation(configurations * runs)
    table = {name: np.repeat(column, runs)[order] for name, column in columns.items()}
    return table | {"loss": table["loss"] + 0.3 * random.normal(size=len(order))}


def without(table: dict[str, np.ndarray], name: str, rows: np.ndarray) -> dict[str, np.ndarray]:
    return table | {name: np.where(rows, np.nan, table[name])}


def _tables() -> dict[str, Given]:
    repeated, single, few = made(1, 2_500, 10), made(2, MANY, 1), made(5, 600, 10)
    random = np.random.default_rng(3)
    gaps = without(single, "lr", random.random(MANY) < 0.024)
    gaps = without(gaps, "drop", random.random(MANY) < 0.024)
    inner = SPACE | {"drop": pa.Float(0.0, 1.0, when=(("optimizer", ("sgd",)),))}
    goals = repeated | {"time": repeated["layers"] + random.random(MANY)}
    return {
        "repeats": Given(repeated, SPACE),
        "many repeats": Given(made(4, 250, 100), SPACE),  # more than a sample may have
        "missing values": Given(gaps, {name: SPACE[name] for name in ("lr", "drop", "optimizer")}),
        "repeats and missing values": Given(without(repeated, "drop", repeated["lr"] > 0.5), SPACE),
        "conditions": Given(without(repeated, "drop", repeated["optimizer"] == "adam"), inner, {"where": "layers > 1"}),
        "several objectives": Given(goals, SPACE, {"objective": ["loss", "time"]}),
        "few rows": Given(without(few, "drop", few["lr"] > 0.5), SPACE),
    }


TABLES = _tables()
APART = ("repeats", "missing values", "many repeats")  # a table has both, and the others answer by the quick roads


def idle(seed: int, runs: int) -> Given:
    """Two parameters without an effect, and runs of one configuration that are alike."""
    table = made(seed, 600, runs, effect=0.0)
    return Given({name: table[name] for name in ("lr", "drop", "loss")}, {name: SPACE[name] for name in ("lr", "drop")})


def thirds(given: Given) -> list[Given]:
    columns = given.columns
    return [replace(given, columns={name: column[i::3] for name, column in columns.items()}) for i in range(3)]


def files(folder: Path, given: Given) -> Path:
    from pyarrow import parquet

    folder = folder / "files"
    folder.mkdir()
    third = -(-given.arrow.num_rows // 3)
    for i in range(3):
        parquet.write_table(given.arrow.slice(i * third, third), folder / f"{i}.parquet", row_group_size=1000)
    return folder


def analyzed(given: Given, data: Any = None, scan: pa.Scan | None = None, **more: Any) -> pa.Analysis:
    options: dict[str, Any] = {"objective": "loss", "space": given.space} | given.options | more
    return pa.analyze(given.columns if data is None else data, scan=scan or pa.Scan(), **options)


@cache
def in_memory(kind: str) -> pa.Analysis:
    return analyzed(TABLES[kind])


IN_PARTS, ENGINE = ("several objectives",), ("several objectives", "conditions")  # what cannot be counted so


def agree_or_refuse(kind: str, road: Callable[[Given], pa.Analysis], refused: Sequence[str], **how: bool) -> None:
    """`road` gives the answers of the table in memory, or refuses what it cannot count."""
    if kind in refused:
        with pytest.raises(QueryError):
            road(TABLES[kind])
    else:
        agree(road(TABLES[kind]), in_memory(kind), **how)


def told(a: pa.Analysis) -> list[str]:
    return sorted(note for note in map(str, a.notes) if not note.startswith("counted by the engine"))


def agree(one: pa.Analysis, two: pa.Analysis, *, values: bool = True) -> None:
    """The same shares, intervals and p-values, and the same notes, if the values of some rows are known (`values`)."""
    assert one.data.tallies == two.data.tallies
    assert told(one) == told(two)
    for target, region in ((0.1, 1.0), (0.05, 0.5)):
        first, second = (a.importance(target, region) for a in (one, two))
        assert list(first) == list(second)
        for name in second:
            mine, other = ([r.share, r.low, r.high, r.p_value, r.ratio] for r in (first[name], second[name]))
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9, err_msg=name)
        if values:
            assert sorted(map(str, first.notes)) == sorted(map(str, second.notes))
