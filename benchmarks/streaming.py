"""Parquet in parts: CPU and memory of `analyze`, against the same scanner only summing those columns.

    python benchmarks/streaming.py [rows ...]        by default 10^6 and 10^7

Each measurement is a process of its own, on one thread. The limit is pyarrow's reader with one sum
for each column: whatever counts these rows must at least read them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

PIECE = 250_000
SPACE = "{'lr': pa.Float(1e-5, 1, log=True), 'drop': pa.Float(0, 1), 'layers': pa.Int(1, 8), "
SPACE += "'optimizer': pa.Categorical(['adam', 'rmsprop', 'sgd'])}"
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
OURS_SETUP = "import pyarrow, pedanova as pa\npyarrow.set_cpu_count(1)\nfile = {file!r}"
OURS_WORK = "pa.analyze(file, 'loss', stream=True, threads=1{options})"


def write(file: Path, rows: int) -> None:
    random = np.random.default_rng(0)
    schema = pa.schema(
        {"lr": pa.float64(), "drop": pa.float64(), "layers": pa.int64(), "optimizer": pa.string(), "loss": pa.float64()}
    )  # fmt: skip
    words = np.array(["adam", "rmsprop", "sgd"])
    with parquet.ParquetWriter(file, schema) as out:
        for _ in range(0, rows, PIECE):
            lr = np.exp(random.uniform(np.log(1e-5), 0, PIECE))
            columns = {
                "lr": lr,
                "drop": random.random(PIECE),
                "layers": random.integers(1, 9, PIECE),
                "optimizer": words[random.integers(0, 3, PIECE)],
                "loss": np.abs(np.log10(lr) + 3) + random.normal(0, 0.1, PIECE),
            }
            out.write_table(pa.table(columns, schema))


def measure(setup: str, work: str) -> tuple[float, float]:
    script = MEASURE.format(setup=setup, work=work)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(found.stdout)
    return seconds, megabytes


def main() -> None:
    sizes = [int(float(text)) for text in sys.argv[1:]] or [10**6, 10**7]
    print("rows        what                              CPU s   ratio   peak MB")
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trials.parquet"
            write(file, rows)
            size = file.stat().st_size
            every = ["lr", "drop", "layers", "optimizer", "loss"]
            limit = 0.0
            for what, setup, work in (
                ("the scanner: sum every column", SUM_SETUP, SUM_WORK.format(names=every)),
                ("the scanner: the objective alone", SUM_SETUP, SUM_WORK.format(names=["loss"])),
                ("analyze, space given", OURS_SETUP, OURS_WORK.format(options=f", space={SPACE}")),
                ("analyze, space guessed", OURS_SETUP, OURS_WORK.format(options="")),
            ):
                seconds, peak = measure(setup.format(file=str(file)), work)
                limit = limit or seconds
                print(f"{rows:<11,} {what:33} {seconds:6.2f} {seconds / limit:7.1f} {peak:9.0f}", flush=True)
            print(f"{rows:<11,} file: {size / rows:.1f} bytes a row")


if __name__ == "__main__":
    main()
