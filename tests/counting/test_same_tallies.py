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

Engine = Callable[[Path], tuple[object, dict[str, Any]]]
OPTIONS = {"space": nasty.SPACE, "outside": "count"}


def arrays(_: Path) -> tuple[object, dict[str, Any]]:
    data = nasty.nasty()
    return {**data.columns, "loss": data.objective}, {}


def arrow_table(_: Path) -> tuple[object, dict[str, Any]]:
    return nasty.nasty().table, {}


def pandas_frame(_: Path) -> tuple[object, dict[str, Any]]:
    return nasty.nasty().table.to_pandas(), {}


def polars_frame(_: Path) -> tuple[object, dict[str, Any]]:
    import polars as pl

    return pl.from_arrow(nasty.nasty().table), {}


def several_files(folder: Path) -> tuple[object, dict[str, Any]]:
    return f"{nasty.write_parquet(folder)}/*.parquet", {"stream": False}


def parquet_glob(folder: Path) -> tuple[object, dict[str, Any]]:
    return f"{nasty.write_parquet(folder)}/*.parquet", {"stream": True, "threads": 1}


def parquet_folder(folder: Path) -> tuple[object, dict[str, Any]]:
    return nasty.write_parquet(folder), {"stream": True, "threads": 3}


def hive_folder(folder: Path) -> tuple[object, dict[str, Any]]:
    return nasty.write_hive(folder), {"stream": True}


def csv_glob(folder: Path) -> tuple[object, dict[str, Any]]:
    return f"{nasty.write_csv(folder)}/*.csv", {"stream": True}


def polars_lazy(folder: Path) -> tuple[object, dict[str, Any]]:
    import polars as pl

    return pl.scan_parquet(f"{nasty.write_parquet(folder)}/*.parquet"), {"stream": True}


def duckdb_relation(folder: Path) -> tuple[object, dict[str, Any]]:
    import duckdb

    return duckdb.sql(f"from '{nasty.write_parquet(folder)}/*.parquet'"), {"stream": True}


def pushed_to_duckdb(folder: Path) -> tuple[object, dict[str, Any]]:
    return duckdb_relation(folder)[0], {"pushdown": True}


def pushed_to_polars(folder: Path) -> tuple[object, dict[str, Any]]:
    return polars_lazy(folder)[0], {"pushdown": True}


ENGINES: list[Engine] = [
    arrays, arrow_table, pandas_frame, polars_frame, several_files, parquet_glob, parquet_folder, hive_folder,
    csv_glob, polars_lazy, duckdb_relation, pushed_to_duckdb, pushed_to_polars,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
@pytest.mark.parametrize(("direction", "nan"), [("minimize", "drop"), ("maximize", "worst")])
def test_every_engine_gives_the_same_tallies(engine: Engine, direction: str, nan: str, tmp_path: Path) -> None:
    data, options = engine(tmp_path / "data")
    space = nasty.FEW if options.get("pushdown") and direction == "maximize" else nasty.SPACE
    options |= {"space": space, "params": list(space), "outside": "count"}
    nasty.check(pa.analyze(data, "loss", direction=direction, nan=nan, **options), direction, nan, space)


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_executors_give_the_same_tallies(pool: str, tmp_path: Path) -> None:
    folder = nasty.write_parquet(tmp_path / "data")
    executor = ThreadPoolExecutor(2) if pool == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with executor:
        nasty.check(pa.analyze(folder, "loss", executor=executor, **OPTIONS))
