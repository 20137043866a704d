"""Counting at scale, against one plain read of the same arrays and against NumPy, as ratios of one run.

    python benchmarks/scale.py [--rows 10000000] [--largest 0] [--threads 2] [--repeats 5]

The work: `analyze` with 100 levels and 1001 cells, from arrays in memory to the tallies of every
parameter; what is asked of them later no longer depends on the rows. Contestants take turns; medians of the ratios
within a turn are shown, so that other work on the machine hits both sides. `--largest 100000000`
adds the longest table and its extra memory; `--lattice` sets the rows of the table of codes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

import pedanova as pa
from pedanova.base.kernel import library as kernel
from pedanova.base.threads import chunks, spread
from pedanova.data.column import Column

LEVELS = [percent / 100 for percent in range(1, 101)]
Table = tuple[Mapping[str, np.ndarray | Column], np.ndarray, Mapping[str, pa.space.Parameter]]


def make_floats(rows: int, columns: int, dtype: str = "f8", *, log: bool = False) -> Table:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.random(rows, dtype=np.dtype(dtype).type) for i in range(columns)}
    objective = np.zeros(rows)
    for part in chunks(rows, pieces=rows // 100_000 + 1):  # the peak of memory must not be here
        for i, column in enumerate(list(data.values())[:4]):
            objective[part] += 5.0**-i * (column[part] - 0.5) ** 2
    if log:
        for column in data.values():
            np.exp(10 * column - 10, out=column)
    parameter = pa.Float(4e-5, 1.0, log=True) if log else pa.Float(0, 1)
    return data, objective, dict.fromkeys(data, parameter)


def make_codes(rows: int, columns: int, choices: int) -> Table:
    """Codes of one byte, and an objective with many ties, as benchmark tables have them."""
    random = np.random.default_rng(0)
    labels = tuple(f"choice {i}" for i in range(choices))
    codes = {f"x{i}": random.integers(0, choices, rows, dtype=np.uint8) for i in range(columns)}
    objective = random.integers(0, 100_000, rows, dtype=np.int32)
    data = {name: Column(name, column, labels) for name, column in codes.items()}
    return data, objective, dict.fromkeys(data, pa.Categorical(labels))


def count(table: Table, threads: int, levels: list[float] | None) -> pa.Analysis:
    data, objective, space = table
    return pa.analyze(data, objective, space=space, levels=levels, threads=threads)


def count_by_numpy(table: Table, levels: list[float] | None) -> pa.Analysis:
    """The same with the compiled kernel switched off."""
    available = kernel.available
    kernel.available = lambda: False
    try:
        return count(table, 1, levels)
    finally:
        kernel.available = available


def read_once(table: Table, threads: int) -> float:
    """Every number touched once, all threads busy: the fastest that anything could be."""
    arrays = [column.values if isinstance(column, Column) else column for column in table[0].values()]
    pieces = [array[rows] for array in [*arrays, table[1]] for rows in chunks(len(array), pieces=threads)]
    return sum(spread(lambda piece: float(np.add.reduce(piece)), pieces, threads=threads))


def take_turns(contestants: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each, turn by turn; the first turn warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, work in contestants.items():
            start = time.perf_counter()
            work()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(above: list[float], below: list[float]) -> float:
    return statistics.median(one / two for one, two in zip(above, below, strict=True))


def show(
    title: str, table: Table, options: argparse.Namespace, *, numpy: bool = False, levels: list[float] | None = LEVELS
) -> None:
    contestants: dict[str, Callable[[], object]] = {
        "own": lambda: count(table, options.threads, levels),
        "alone": lambda: count(table, 1, levels),
        "read": lambda: read_once(table, options.threads),
    }
    if numpy:
        contestants["numpy"] = lambda: count_by_numpy(table, levels)
    took = take_turns(contestants, options.repeats)
    own = took["own"]
    slower = f"{ratio(took['numpy'], own):10.1f}x" if numpy else "          -"
    ratios = f"{ratio(own, took['read']):10.1f}x{ratio(took['alone'], own):10.2f}x{slower}"
    print(f"{title:<34}{statistics.median(own) * 1e3:9.0f} ms{ratios}", flush=True)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def show_memory(table: Table, options: argparse.Namespace) -> None:
    """Only of use for the first and largest table of a process: the peak never falls."""
    data, objective, _ = table
    size = sum(column.values.nbytes if isinstance(column, Column) else column.nbytes for column in data.values())
    size += objective.nbytes
    before = peak_bytes()
    count(table, options.threads, LEVELS)
    extra = max(0, peak_bytes() - before)
    print(f"  extra memory {extra / 1e6:,.0f} MB, {100 * extra / size:.1f} % of the data", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--largest", type=int, default=0)
    parser.add_argument("--lattice", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"pedanova {pa.__version__}, counting: {kernel.describe()}, {options.threads} threads, load {load}\n")
    print(f"{'':<34}{'pedanova':>12}{'to a read':>11}{'1 thread':>11}{'NumPy':>11}")
    if options.largest:
        table = make_floats(options.largest, 4)
        show_memory(table, options)
        show(f"{options.largest:,} x 4 float64", table, options)
        del table
    rows = options.rows
    show(f"{rows:,} x 4 float64", make_floats(rows, 4), options, numpy=True)
    show(f"{rows:,} x 4 float64, log scale", make_floats(rows, 4, log=True), options)
    show(f"{rows:,} x 4 float32", make_floats(rows, 4, "f4"), options)
    show(f"{rows // 8:,} x 32 float64", make_floats(rows // 8, 32), options)
    show(f"{rows // 100:,} x 1,000 float64", make_floats(rows // 100, 1000), options, levels=None)
    show(f"{rows:,} x 12 uint8 codes", make_codes(rows, 12, 7), options, numpy=True, levels=None)
    if options.lattice:
        table = make_codes(options.lattice, 12, 7)
        show(f"{options.lattice:,} x 12 uint8 codes", table, options, levels=None)


if __name__ == "__main__":
    main()
