"""Parquet in parts: CPU and memory of `analyze`, against the same scanner only summing those columns.

    python benchmarks/streaming.py [rows ...]        by default 10^6 and 10^7

Each measurement is a process of its own, on one thread; the median of three is shown. The limit is
pyarrow's reader with one sum for each column: whatever counts these rows must at least read them.
Polars, which reads faster, stands beside it. Two tables: five columns of single precision, and one
as trials look (two floats, a whole number, a text and the objective).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

PIECE = 250_000
REPEATS = 3
SPACES = {
    "floats": "{f'x{i}': pa.Float(0, 1) for i in range(4)}",
    "trials": (
        "{'lr': pa.Float(1e-5, 1, log=True), 'drop': pa.Float(0, 1), 'layers': pa.Int(1, 8), "
        "'optimizer': pa.Categorical(['adam', 'rmsprop', 'sgd'])}"
    ),
}
MEASURE = """
import json, re, time
{setup}
start = time.process_time()
{work}
used = time.process_time() - start
with open("/proc/self/status") as status:  # not ru_maxrss, which a child inherits from its parent
    peak = re.search("VmHWM:[^0-9]+([0-9]+)", status.read())[1]
print(json.dumps([used, int(peak) / 1024]))
"""
SUM_SETUP = """
import pyarrow as pa, pyarrow.compute as pc
from pyarrow import parquet
pa.set_cpu_count(1)
file = {file!r}
"""
SUM_WORK = """
with parquet.ParquetFile(file, pre_buffer=False) as source:
    for batch in source.iter_batches(1 << 20, columns={names!r}, use_threads=False):
        for column in batch.columns:
            pc.sum(column) if not pa.types.is_string(column.type) else pc.count(column)
"""
# What Python must load first is no part of the work; it takes about a second, once.
OURS_SETUP = """
import pyarrow, pyarrow.parquet, narwhals, pedanova as pa
import pedanova.scale.count_scan
pyarrow.set_cpu_count(1)
file = {file!r}
"""
OURS_WORK = "pa.analyze(file, 'loss', stream=True, threads=1{options})"


POLARS_SETUP = "import polars as pl\nfile = {file!r}"
POLARS_WORK = """
frame = pl.scan_parquet(file)
numbers = pl.selectors.numeric()
frame.select(numbers.sum(), pl.selectors.string().count()).collect(engine="streaming")
"""


def floats_of(random: np.random.Generator) -> dict[str, np.ndarray]:
    columns = {f"x{i}": random.random(PIECE, dtype=np.float32) for i in range(4)}
    loss = sum(5.0**-i * (column - 0.5) ** 2 for i, column in enumerate(columns.values()))
    return {**columns, "loss": np.asarray(loss, dtype=np.float32)}


def trials_of(random: np.random.Generator) -> dict[str, np.ndarray]:
    lr = np.exp(random.uniform(np.log(1e-5), 0, PIECE))
    return {
        "lr": lr,
        "drop": random.random(PIECE),
        "layers": random.integers(1, 9, PIECE),
        "optimizer": np.array(["adam", "rmsprop", "sgd"])[random.integers(0, 3, PIECE)],
        "loss": np.abs(np.log10(lr) + 3) + random.normal(0, 0.1, PIECE),
    }


def write(file: Path, kind: str, rows: int) -> list[str]:
    """The table; returns its columns."""
    random = np.random.default_rng(0)
    make = floats_of if kind == "floats" else trials_of
    first = pa.table(make(random))
    with parquet.ParquetWriter(file, first.schema) as out:
        for _ in range(0, rows, PIECE):
            out.write_table(pa.table(make(random), first.schema))
    return list(first.column_names)


def measure(setup: str, work: str) -> tuple[float, float]:
    script = MEASURE.format(setup=setup, work=work)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(found.stdout)
    return seconds, megabytes


def main() -> None:
    sizes = [int(float(text)) for text in sys.argv[1:]] or [10**6, 10**7]
    print("table   rows        what                              CPU s   ratio   peak MB")
    for kind in SPACES:
        for rows in sizes:
            with tempfile.TemporaryDirectory() as folder:
                show(kind, rows, Path(folder) / "trials.parquet")


def show(kind: str, rows: int, file: Path) -> None:
    every = write(file, kind, rows)
    contestants = {
        "pyarrow: sum every column": (SUM_SETUP, SUM_WORK.format(names=every)),
        "pyarrow: the objective alone": (SUM_SETUP, SUM_WORK.format(names=["loss"])),
        "Polars: sum every column": (POLARS_SETUP, POLARS_WORK),
        "analyze, space given": (OURS_SETUP, OURS_WORK.format(options=f", space={SPACES[kind]}")),
        "analyze, space guessed": (OURS_SETUP, OURS_WORK.format(options="")),
    }
    found: dict[str, list[tuple[float, float]]] = {what: [] for what in contestants}
    for _ in range(REPEATS):
        for what, (setup, work) in contestants.items():
            found[what].append(measure(setup.format(file=str(file)), work))
    limit = statistics.median(seconds for seconds, _ in next(iter(found.values())))
    for what, runs in found.items():
        seconds, peak = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"{kind:7} {rows:<11,} {what:33} {seconds:6.2f} {seconds / limit:7.1f} {peak:9.0f}", flush=True)
    print(f"{kind:7} {rows:<11,} file: {file.stat().st_size / rows:.1f} bytes a row")


if __name__ == "__main__":
    main()
