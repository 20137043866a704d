"""What more threads gain, and what keeps them waiting.

    python benchmarks/threads.py [--rows 10000000 100000000] [--threads 1 2 4 8 16] [--repeats 5]

The work is that of `benchmarks/scale.py`: `analyze` with 100 levels and 1001 cells, four columns of float64. For every
number of threads, medians in milliseconds: the whole call, how many times as fast as with the first number, how many
plain reads by as many threads it takes, CPU, CPU in the system, page faults. Then the wall time of its stages: those
of the kernel, from the first call to the end of the last one, and what lies before, between and after them, where one
thread works alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from dataclasses import dataclass, field

import pedanova as pa
from pedanova.base.kernel import library as kernel
from scale import LEVELS, Table, count, make_floats, read_once

STAGES = ("count_window", "gather_slots", "settle_rows", "count_features", "add_tables")  # of the kernel, in order


@dataclass
class Watch:
    """When each function of the kernel was first called and last left."""

    spans: dict[str, list[float]] = field(default_factory=dict)

    def __enter__(self) -> Watch:
        self.call = kernel.call
        kernel.call = self.timed
        return self

    def __exit__(self, *_: object) -> None:
        kernel.call = self.call

    def timed(self, name: str, *arguments: object) -> int:
        start = time.perf_counter()
        try:
            return self.call(name, *arguments)
        finally:
            span = self.spans.setdefault(name, [start, start])
            span[0], span[1] = min(span[0], start), max(span[1], time.perf_counter())


def measure(table: Table, threads: int) -> dict[str, float]:
    """One call: seconds of wall and CPU, faults, and seconds of each stage and of the gaps before it."""
    used, cpu, start = resource.getrusage(resource.RUSAGE_SELF), time.process_time(), time.perf_counter()
    with Watch() as watch:
        count(table, threads, LEVELS)
    end, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    found = {"wall": end - start, "cpu": time.process_time() - cpu, "sys": after.ru_stime - used.ru_stime}
    found["faults"] = float(after.ru_minflt - used.ru_minflt)
    last = start
    for stage in (name for name in STAGES if name in watch.spans):
        begin, left = watch.spans[stage]
        found[f"before {stage}"], found[stage], last = begin - last, left - begin, left
    return found | {"after": end - last}


def timed_read(table: Table, threads: int) -> float:
    start = time.perf_counter()
    read_once(table, threads)
    return time.perf_counter() - start


def show(table: Table, every: list[int], repeats: int) -> None:
    """All numbers of threads take turns; the first turn warms up."""
    turns: dict[int, list[dict[str, float]]] = {threads: [] for threads in every}
    for turn in range(repeats + 1):
        for threads in every:
            found = measure(table, threads) | {"read": timed_read(table, threads)}
            if turn:
                turns[threads].append(found)
    medians = {
        threads: {name: statistics.median(one[name] for one in found) for name in found[0]}
        for threads, found in turns.items()
    }
    print(f"{'threads':>28}" + "".join(f"{threads:>10}" for threads in every))
    alone = medians[every[0]]["wall"]
    print(f"{'times as fast':>28}" + "".join(f"{alone / medians[n]['wall']:10.2f}" for n in every))
    print(f"{'plain reads':>28}" + "".join(f"{medians[n]['wall'] / medians[n]['read']:10.2f}" for n in every))
    for name in medians[every[0]]:
        unit = 1.0 if name == "faults" else 1e3
        print(f"{name:>28}" + "".join(f"{medians[n].get(name, 0.0) * unit:10.1f}" for n in every), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"pedanova {pa.__version__}, counting: {kernel.describe()}, {os.cpu_count()} cores, load {load}")
    for rows in options.rows:
        print(f"\n{rows:,} x 4 float64, milliseconds")
        show(make_floats(rows, 4), options.threads, options.repeats)


if __name__ == "__main__":
    main()
