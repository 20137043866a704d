"""Counting at scale, against one plain read of the same arrays and against NumPy, as ratios of one run.

    python benchmarks/scale.py [--rows 10000000] [--largest 0] [--lattice 0] [--threads 2] [--repeats 5]
    python benchmarks/scale.py --by-threads 1,2,4,8,16 [--rows 10000000]
    python benchmarks/scale.py --wide 1000 [--rows 100000] [--parquet 1000000]

The work: `analyze` with 100 levels and 1001 cells, from arrays in memory to the tallies of every
parameter, and a sample of the rows that shows repeated configurations; what is asked later no longer depends on the
rows (`ranked` is the first ranking too). Contestants take turns; medians of the ratios
within a turn are shown, so that other work on the machine hits both sides. `--largest 100000000`
adds the longest table and its extra memory; `--lattice` sets the rows of the table of codes. `--by-threads`: what more
threads gain. `--wide`: so many columns, the space guessed, in memory, and `--parquet` rows in parts from a file of
single precision for every 10^5 rows.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from shared import Lines, Work, describe, in_a_process, ints, options_of, ratio, take_turns, without_kernel

import pedanova as pa
from pedanova.base.threads import chunks, spread
from pedanova.data.column import Column

LEVELS = [percent / 100 for percent in range(1, 101)]
FILE_ROWS = 100_000
Table = tuple[Mapping[str, np.ndarray | Column], np.ndarray, Mapping[str, pa.space.Parameter]]


def make_floats(rows: int, columns: int, dtype: str = "f8", *, log: bool = False, seed: int = 0) -> Table:
    random = np.random.default_rng(seed)
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
    return pa.analyze(data, objective, space=space, levels=levels, scan=pa.Scan(threads=threads))


def rank(table: Table, threads: int) -> object:
    return count(table, threads, LEVELS).importance(estimator="counts", draws=0)


def count_by_numpy(table: Table, levels: list[float] | None) -> pa.Analysis:
    with without_kernel():
        return count(table, 1, levels)


def arrays_of(table: Table) -> list[np.ndarray]:
    return [column.values if isinstance(column, Column) else column for column in table[0].values()] + [table[1]]


def read_once(table: Table, threads: int) -> float:
    """Every number touched once, all threads busy: the fastest that anything could be."""
    pieces = [array[rows] for array in arrays_of(table) for rows in chunks(len(array), pieces=threads)]
    return sum(spread(lambda piece: float(np.add.reduce(piece)), pieces, threads=threads))


def compare(
    table: Table, options: argparse.Namespace, *, numpy: bool = False, levels: list[float] | None = LEVELS
) -> list[str]:
    contestants: dict[str, Work] = {
        "own": lambda: count(table, options.threads, levels),
        "alone": lambda: count(table, 1, levels),
        "read": lambda: read_once(table, options.threads),
    }
    if numpy:
        contestants["numpy"] = lambda: count_by_numpy(table, levels)
    took = take_turns(contestants, options.repeats)
    own = took["own"]
    return [
        f"{statistics.median(own) * 1e3:.0f} ms",
        f"{ratio(own, took['read']):.1f}",
        f"{ratio(took['alone'], own):.2f}",
        f"{ratio(took['numpy'], own):.1f}" if numpy else "-",
    ]


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def show_memory(table: Table, options: argparse.Namespace) -> None:
    """Only of use for the first and largest table of a process: the peak never falls."""
    size = sum(array.nbytes for array in arrays_of(table))
    before = peak_bytes()
    count(table, options.threads, LEVELS)
    extra = max(0, peak_bytes() - before)
    print(f"extra memory {extra / 1e6:,.0f} MB, {100 * extra / size:.1f} % of the data", flush=True)


def tables(options: argparse.Namespace) -> None:
    lines = Lines("table", "pedanova", "to a read", "1 thread takes", "NumPy takes", first=34)
    rows, few = options.rows, options.rows // 100
    if options.largest:
        table = make_floats(options.largest, 4)
        show_memory(table, options)
        lines.row(f"{options.largest:,} x 4 float64", *compare(table, options))
        del table
    lines.row(f"{rows:,} x 4 float64", *compare(make_floats(rows, 4), options, numpy=True))
    lines.row(f"{rows:,} x 4 float64, log scale", *compare(make_floats(rows, 4, log=True), options))
    lines.row(f"{rows:,} x 4 float32", *compare(make_floats(rows, 4, "f4"), options))
    lines.row(f"{rows // 8:,} x 32 float64", *compare(make_floats(rows // 8, 32), options))
    lines.row(f"{few:,} x 1,000 float64", *compare(make_floats(few, 1000), options, levels=None))
    lines.row(f"{rows:,} x 12 uint8 codes", *compare(make_codes(rows, 12, 7), options, numpy=True, levels=None))
    if options.lattice:
        table = make_codes(options.lattice, 12, 7)
        lines.row(f"{options.lattice:,} x 12 uint8 codes", *compare(table, options, levels=None))


def by_threads(options: argparse.Namespace) -> None:
    table = make_floats(options.rows, 4)
    works: dict[str, Work] = {}
    for threads in options.by_threads:
        works[f"{threads}"] = lambda threads=threads: count(table, threads, LEVELS)  # type: ignore[misc]
        works[f"ranked by {threads}"] = lambda threads=threads: rank(table, threads)  # type: ignore[misc]
        works[f"read by {threads}"] = lambda threads=threads: read_once(table, threads)  # type: ignore[misc]
    took = take_turns(works, options.repeats)
    first = took[f"{options.by_threads[0]}"]
    columns = "pedanova", "times as fast", "to a read", "ranked"
    lines = Lines(f"{options.rows:,} x 4 float64, threads", *columns, first=34)
    for threads in options.by_threads:
        own, ranked, read = (took[f"{what}{threads}"] for what in ("", "ranked by ", "read by "))
        count_ms, ranked_ms = (f"{statistics.median(one) * 1e3:.0f} ms" for one in (own, ranked))
        lines.row(threads, count_ms, ratio(first, own), ratio(own, read), ranked_ms)


def wide(options: argparse.Namespace) -> None:
    """Many columns: `analyze` with a guessed space, and its ranking without and with p-values and intervals."""
    rows = min(options.rows, FILE_ROWS)
    data, objective, _ = make_floats(rows, options.wide)
    pa.analyze({name: data[name][:1000] for name in ("x0", "x1")}, objective[:1000]).importance(draws=0)  # imports
    lines = Lines(f"{rows:,} x {options.wide:,}, space guessed", "wall s", "CPU s", "peak MB", first=34)
    lines.row("read once", *spent(lambda: [float(column.sum()) for column in data.values()]), "")
    lines.row("analyze", *spent(lambda: pa.analyze(data, objective)), "")
    a = pa.analyze(data, objective)
    lines.row("rank", *spent(lambda: a.importance(draws=0)), "")
    lines.row("rank, p-values and intervals", *spent(a.importance), "")
    if options.parquet:
        cpu, wall, peak = from_parquet(options.parquet, options.wide)
        lines.row(f"analyze {options.parquet:,} rows in parts", wall, cpu, f"{peak:,.0f}")


def spent(work: Work) -> tuple[float, float]:
    begin = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def from_parquet(rows: int, columns: int) -> tuple[float, float, float]:
    from pyarrow import Table as ArrowTable
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        for number in range(max(1, rows // FILE_ROWS)):
            data, objective, _ = make_floats(min(rows, FILE_ROWS), columns, "f4", seed=number)
            place = Path(folder) / f"part-{number}.parquet"
            table = ArrowTable.from_pydict({**data, "y": objective})
            parquet.write_table(table, place, use_dictionary=False, compression="none")
        return in_a_process(f"pa.analyze({folder!r}, 'y', scan=pa.Scan(stream=True))", "import pedanova as pa")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--largest", type=int, default=0)
    parser.add_argument("--lattice", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--by-threads", type=ints, default=[])
    parser.add_argument("--wide", type=int, default=0)
    parser.add_argument("--parquet", type=int, default=0)
    options = parser.parse_args()
    print(describe())
    if options.by_threads:
        by_threads(options)
    elif options.wide:
        wide(options)
    else:
        tables(options)


if __name__ == "__main__":
    main()
