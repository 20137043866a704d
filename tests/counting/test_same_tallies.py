"""One table, every engine: the same tallies, cell by cell, as plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers import nasty

Engine = Callable[[Path], tuple[object, pa.Scan]]
OPTIONS: dict[str, Any] = {"space": nasty.SPACE, "reading": pa.Reading(outside="count")}


def arrays(_: Path) -> tuple[object, pa.Scan]:
    data = nasty.nasty()
    return {**data.columns, "loss": data.objective}, pa.Scan()


def arrow_table(_: Path) -> tuple[object, pa.Scan]:
    return nasty.nasty().table, pa.Scan()


def pandas_frame(_: Path) -> tuple[object, pa.Scan]:
    return nasty.nasty().table.to_pandas(), pa.Scan()


def polars_frame(_: Path) -> tuple[object, pa.Scan]:
    import polars as pl

    return pl.from_arrow(nasty.nasty().table), pa.Scan()


def several_files(folder: Path) -> tuple[object, pa.Scan]:
    return f"{nasty.write_parquet(folder)}/*.parquet", pa.Scan(stream=False)


def parquet_glob(folder: Path) -> tuple[object, pa.Scan]:
    return f"{nasty.write_parquet(folder)}/*.parquet", pa.Scan(stream=True, threads=1)


def parquet_folder(folder: Path) -> tuple[object, pa.Scan]:
    return nasty.write_parquet(folder), pa.Scan(stream=True, threads=3)


def hive_folder(folder: Path) -> tuple[object, pa.Scan]:
    return nasty.write_hive(folder), pa.Scan(stream=True)


def csv_glob(folder: Path) -> tuple[object, pa.Scan]:
    return f"{nasty.write_csv(folder)}/*.csv", pa.Scan(stream=True)


def polars_lazy(folder: Path) -> tuple[object, pa.Scan]:
    import polars as pl

    return pl.scan_parquet(f"{nasty.write_parquet(folder)}/*.parquet"), pa.Scan(stream=True)


def duckdb_relation(folder: Path) -> tuple[object, pa.Scan]:
    import duckdb

    return duckdb.sql(f"from '{nasty.write_parquet(folder)}/*.parquet'"), pa.Scan(stream=True)


def pushed_to_duckdb(folder: Path) -> tuple[object, pa.Scan]:
    return duckdb_relation(folder)[0], pa.Scan(pushdown=True)


def pushed_to_polars(folder: Path) -> tuple[object, pa.Scan]:
    return polars_lazy(folder)[0], pa.Scan(pushdown=True)


ENGINES: list[Engine] = [
    arrays, arrow_table, pandas_frame, polars_frame, several_files, parquet_glob, parquet_folder, hive_folder,
    csv_glob, polars_lazy, duckdb_relation, pushed_to_duckdb, pushed_to_polars,
]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
@pytest.mark.parametrize(("direction", "nan"), [("minimize", "drop"), ("maximize", "worst")])
def test_every_engine_gives_the_same_tallies(engine: Engine, direction: str, nan: str, tmp_path: Path) -> None:
    data, scan = engine(tmp_path / "data")
    space = nasty.FEW if scan.pushdown and direction == "maximize" else nasty.SPACE
    reading = pa.Reading(nan=nan, outside="count")  # type: ignore[arg-type]
    a = pa.analyze(data, "loss", direction=direction, space=space, params=list(space), reading=reading, scan=scan)
    nasty.check(a, direction, nan, space)


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_executors_give_the_same_tallies(pool: str, tmp_path: Path) -> None:
    folder = nasty.write_parquet(tmp_path / "data")
    executor = ThreadPoolExecutor(2) if pool == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with executor:
        nasty.check(pa.analyze(folder, "loss", scan=pa.Scan(executor=executor), **OPTIONS))
