"""Many columns: 10^5 rows of a thousand in memory, and 10^6 rows from Parquet in parts, in wall time, CPU and memory.

    python benchmarks/wide.py [--rows 100000] [--columns 1000] [--parquet 1000000]

In memory: `analyze` with a guessed space, and its ranking without and with p-values and intervals, each against one
plain read of the columns. From Parquet: single precision, a file for every 10^5 rows, the space guessed; told is the
peak of a process of its own that does nothing else. `--parquet 0` leaves that out.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pedanova as pa

FILE_ROWS = 100_000
IN_PARTS = """
import resource, sys, time
import pedanova as pa
begin = time.perf_counter()
analysis = pa.analyze(sys.argv[1], "y", stream=True)
wall, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF)
cpu = used.ru_utime + used.ru_stime
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
peak = int(status["VmHWM"].split()[0]) / 1024  # ru_maxrss would be that of the process that started this one
print(f"{'analyze in parts, guessed':<34}{wall:8.2f} s{cpu:9.2f} s   peak {peak:,.0f} MB")
"""


def make(rows: int, columns: int, seed: int, dtype: str = "f8") -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    data = {f"x{i}": random.random(rows, dtype=np.dtype(dtype).type) for i in range(columns)}
    return data, sum((5.0**-i * (data[f"x{i}"] - 0.5) ** 2 for i in range(min(4, columns))), np.zeros(rows))


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(title: str, work: Callable[[], object], read: float | None = None) -> tuple[object, float]:
    begin, before = time.perf_counter(), cpu_seconds()
    result = work()
    wall, cpu = time.perf_counter() - begin, cpu_seconds() - before
    print(f"{title:<34}{wall:8.2f} s{cpu:9.2f} s" + (f"{cpu / read:9.0f}x" if read else ""), flush=True)
    return result, cpu


def in_memory(rows: int, columns: int) -> None:
    data, objective = make(rows, columns, 0)
    print(f"{rows:,} x {columns:,} in memory\n{'':<34}{'wall':>10}{'CPU':>11}{'to a read':>10}")
    few = {name: column[:1000] for name, column in list(data.items())[:2]}
    timed("a first small one (imports)", lambda: pa.analyze(few, objective[:1000]).importance(draws=0))
    _, read = timed("read once", lambda: [float(column.sum()) for column in data.values()])
    analysis, _ = timed("analyze, space guessed", lambda: pa.analyze(data, objective), read)
    timed("rank", lambda: analysis.importance(draws=0), read)
    timed("rank, p-values and intervals", lambda: analysis.importance(), read)


def from_parquet(rows: int, columns: int) -> None:
    from pyarrow import Table, parquet

    with tempfile.TemporaryDirectory() as folder:
        for number in range(max(1, rows // FILE_ROWS)):
            data, objective = make(min(rows, FILE_ROWS), columns, number, "f4")
            table = Table.from_pydict({**data, "y": objective})
            parquet.write_table(
                table, Path(folder) / f"part-{number}.parquet", use_dictionary=False, compression="none"
            )
        print(f"\n{rows:,} x {columns:,} single precision in Parquet", flush=True)
        subprocess.run([sys.executable, "-c", IN_PARTS, folder], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--parquet", type=int, default=1_000_000)
    options = parser.parse_args()
    in_memory(options.rows, options.columns)
    if options.parquet:
        from_parquet(options.parquet, options.columns)


if __name__ == "__main__":
    main()
