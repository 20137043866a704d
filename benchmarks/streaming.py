"""Parquet in parts: CPU and memory of `analyze`, against the same scanner only summing those columns.

    python benchmarks/streaming.py [--rows 1e6,1e7] [--repeats 3]
    python benchmarks/streaming.py --store [--rows 1e7]

Each measurement is a process of its own, on one thread; medians are shown. The limit is
pyarrow's reader with one sum for each column: whatever counts these rows must at least read them.
Polars, which reads faster, stands beside it. Two tables: five columns of single precision, and one
as trials look (two floats, a whole number, a text and the objective).

`--store`: the same files in an S3 server on this machine (Moto's, a process whose CPU does not count) against the disk.
A file has at most 1.25 million rows, or an eighth of them: for every part of an object Moto reads all of it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import fs, parquet
from shared import Lines, ints, options_of, processes

PIECE = 250_000
FILES, ROWS_A_FILE = 8, 1_250_000
KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1"}
SPACES = {
    "floats": "{f'x{i}': pa.Float(0, 1) for i in range(4)}",
    "trials": (
        "{'lr': pa.Float(1e-5, 1, log=True), 'drop': pa.Float(0, 1), 'layers': pa.Int(1, 8), "
        "'optimizer': pa.Categorical(['adam', 'rmsprop', 'sgd'])}"
    ),
}
SUM_SETUP = """
import pyarrow as pa, pyarrow.compute as pc
from pyarrow import parquet
pa.set_cpu_count(1)
"""
SUM_WORK = """
with parquet.ParquetFile({file!r}, pre_buffer=False) as source:
    for batch in source.iter_batches(1 << 20, columns={names!r}, use_threads=False):
        for column in batch.columns:
            pc.sum(column) if not pa.types.is_string(column.type) else pc.count(column)
"""
# What Python must load first is no part of the work; it takes about a second, once.
OURS_SETUP = """
import tempfile, pyarrow, pyarrow.parquet, pedanova as pa
pyarrow.set_cpu_count(1)
with tempfile.TemporaryDirectory() as folder:
    few = [i / 100 for i in range(100)]
    pyarrow.parquet.write_table(pyarrow.table(dict(x=few, loss=few)), folder + "/few.parquet")
    pa.analyze(folder + "/few.parquet", "loss", scan=pa.Scan(stream=True, threads=1))
"""
OURS_WORK = "pa.analyze({file!r}, 'loss', scan=pa.Scan(stream=True, threads=1), space={space})"
POLARS_WORK = """
frame = pl.scan_parquet({file!r})
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


def show(kind: str, rows: int, repeats: int, path: Path) -> None:
    every, file = write(path, kind, rows), str(path)
    contestants = {
        "pyarrow: sum every column": (SUM_SETUP, SUM_WORK.format(file=file, names=every)),
        "pyarrow: the objective alone": (SUM_SETUP, SUM_WORK.format(file=file, names=["loss"])),
        "Polars: sum every column": ("import polars as pl", POLARS_WORK.format(file=file)),
        "analyze, space given": (OURS_SETUP, OURS_WORK.format(file=file, space=SPACES[kind])),
        "analyze, space guessed": (OURS_SETUP, OURS_WORK.format(file=file, space=None)),
    }
    took = processes(contestants, repeats)
    limit = took["pyarrow: sum every column"][0]
    lines = Lines(f"{kind}, {rows:,} rows, {path.stat().st_size / rows:.1f} bytes each", "CPU s", "ratio", "peak MB")
    for name, (cpu, _, peak) in took.items():
        lines.row(name, f"{cpu:.2f}", f"{cpu / limit:.1f}", f"{peak:.0f}")


@contextmanager
def server() -> Iterator[str]:
    """The address of a store on this machine."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen([sys.executable, "-m", "moto.server", "-p", str(port)], **quiet)
    try:
        for _ in range(300):
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        else:
            raise SystemExit("Moto's server does not start; pip install 'moto[s3,server]'")
        yield f"127.0.0.1:{port}"
    finally:
        started.terminate()


def show_store(rows: int, repeats: int, folder: str) -> None:
    files = max(FILES, rows // ROWS_A_FILE)
    for number in range(files):
        write(Path(folder) / f"part-{number}.parquet", "floats", rows // files)
    os.environ.update(KEYS)
    with server() as host:
        os.environ["AWS_ENDPOINT_URL"] = f"http://{host}"
        store = fs.S3FileSystem(endpoint_override=host, scheme="http", allow_bucket_creation=True, region="us-east-1")
        store.create_dir("data")
        fs.copy_files(folder, "data", destination_filesystem=store)
        places = {"disk": folder, "store": "s3://data"}
        works = {name: OURS_WORK.format(file=place, space=SPACES["floats"]) for name, place in places.items()}
        took = processes({name: (OURS_SETUP, work) for name, work in works.items()}, repeats)
    count = sum(parquet.read_metadata(file).num_rows for file in Path(folder).iterdir())
    lines = Lines(f"{count:,} rows × 5 in {files} files", "CPU s", "ratio", "peak MB")
    for name, (cpu, _, peak) in took.items():
        lines.row(name, f"{cpu:.2f}", f"{cpu / took['disk'][0]:.2f}", f"{peak:.0f}")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=ints, default=[10**6, 10**7])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    for rows in options.rows:
        for kind in () if options.store else SPACES:
            with tempfile.TemporaryDirectory() as folder:
                show(kind, rows, options.repeats, Path(folder) / "trials.parquet")
        if options.store:
            with tempfile.TemporaryDirectory() as folder:
                show_store(rows, options.repeats, folder)


if __name__ == "__main__":
    main()
