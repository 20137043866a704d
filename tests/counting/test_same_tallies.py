"""One table, every engine: the same tallies, cell by cell, as plain NumPy, and the same answers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers import answers, nasty

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


def loaded_sample(folder: Path, table: answers.Given) -> pa.Analysis:
    answers.analyzed(table).save(folder / "saved.pedanova")
    return pa.load(folder / "saved.pedanova")


def loaded_stream(folder: Path, table: answers.Given) -> pa.Analysis:
    streamed(folder, table).save(folder / "saved.pedanova")
    return pa.load(folder / "saved.pedanova")


def loaded_hashes(folder: Path, table: answers.Given) -> pa.Analysis:
    answers.analyzed(table).save(folder / "saved.pedanova", rows=False)
    return pa.load(folder / "saved.pedanova")


def streamed(folder: Path, table: answers.Given) -> pa.Analysis:
    return answers.analyzed(table, answers.files(folder, table), pa.Scan(stream=True, threads=2))


def pooled(folder: Path, table: answers.Given) -> pa.Analysis:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        return answers.analyzed(table, answers.files(folder, table), pa.Scan(executor=executor))


def asked_of_duckdb(folder: Path, table: answers.Given) -> pa.Analysis:
    import duckdb

    frame = duckdb.sql(f"from '{answers.files(folder, table)}/*.parquet'")
    return answers.analyzed(table, frame, pa.Scan(pushdown=True))


def asked_of_polars(folder: Path, table: answers.Given) -> pa.Analysis:
    import polars as pl

    return answers.analyzed(table, pl.scan_parquet(answers.files(folder, table)), pa.Scan(pushdown=True))


ROADS = {  # with what needs all rows at once, or conditions on other columns
    loaded_sample: (),
    loaded_hashes: (),
    streamed: answers.IN_PARTS,
    loaded_stream: answers.IN_PARTS,
    pooled: answers.IN_PARTS,
    asked_of_duckdb: answers.ENGINE,
    asked_of_polars: answers.ENGINE,
}


# A road that takes seconds is taken by the table that has both, repeats and missing values.
SLOW = (pooled, asked_of_duckdb, asked_of_polars, loaded_stream)
TAKEN = [
    (kind, road)
    for road in ROADS
    for kind in answers.TABLES
    if not (road in SLOW and kind in answers.APART) and not (road is loaded_hashes and kind == "few rows")
]


@pytest.mark.parametrize(("kind", "road"), TAKEN)
def test_every_road_leads_to_the_same_answers(kind: str, road: Any, tmp_path: Path) -> None:
    """Dask, Spark and ibis are in tests/scale/test_clusters.py, a GPU in tests/scale/cuda/test_device.py."""
    answers.agree_or_refuse(kind, partial(road, tmp_path), ROADS[road], values=road is not loaded_hashes)


def test_a_model_needs_the_rows_that_were_not_saved(tmp_path: Path) -> None:
    """Who saves no rows gets the answers of counts, and a note."""
    found = loaded_hashes(tmp_path, answers.TABLES["few rows"]).importance()
    assert found.estimator == "counts" != answers.in_memory("few rows").importance().estimator
    assert any("a model would be more accurate" in note for note in map(str, found.notes))


@pytest.mark.parametrize("kind", ["repeats", "few rows"])
def test_added_parts_give_the_answers_of_all_rows(kind: str, tmp_path: Path) -> None:
    """Rows and samples of whole configurations add up, whichever part a row is in."""
    table = answers.TABLES[kind]
    first, *others = answers.thirds(table)
    total = start = answers.analyzed(first)
    for part in others:
        total = total + answers.analyzed(part, levels=start.data.levels)
    total.save(tmp_path / "saved.pedanova")
    for one in (total, pa.load(tmp_path / "saved.pedanova")):
        answers.agree(one, answers.analyzed(table, levels=start.data.levels))


@pytest.mark.parametrize(("runs", "seeds"), [(10, 12), (100, 6), (2_000, 2)])
def test_idle_parameters_are_not_significant_because_runs_are_repeated(runs: int, seeds: int) -> None:
    """600 configurations with many runs each, and no effect; the other roads give the same answers."""
    found = [row for seed in range(seeds) for row in answers.analyzed(answers.idle(seed, runs)).importance().values()]
    assert len(found) == 2 * seeds
    assert sum(row.significant for row in found) <= 1
