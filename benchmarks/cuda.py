"""Counting on a CUDA GPU, as multiples of a plain read of the same arrays: python benchmarks/cuda.py [--largest ROWS].

Single-precision columns and objective on the GPU; exact quantiles, 34 levels × 1,001 cells, medians of some runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# CuPy imports a package called cuda, which this file must not stand in for.
sys.path = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent]

import pedanova as pa  # noqa: E402
from pedanova.counting.levels import LADDER  # noqa: E402
from pedanova.scale.cuda.device import library  # noqa: E402
from pedanova.scale.cuda.device_table import DeviceTable  # noqa: E402

RUNS = 9


def timed(run: Callable[[], object]) -> float:
    """Milliseconds in the median; the first run, which compiles, is not counted."""
    device = library().cuda.Device()
    times = []
    for _ in range(RUNS + 1):
        begin = time.perf_counter()
        run()
        device.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[1:])


def measure(rows: int, columns: int, *, log: bool) -> None:
    cupy = library()
    table: dict[str, Any] = {f"x{i}": cupy.random.random(rows, dtype=cupy.float32) for i in range(columns)}
    if log:
        table = {name: 10.0 ** (-5.0 * values) for name, values in table.items()}
    goal = table["x0"] * table["x1"] + cupy.random.random(rows, dtype=cupy.float32)
    space = pa.Space({name: pa.Float(1e-5, 1.0, log=True) if log else pa.Float(0.0, 1.0) for name in table})

    def count(*, with_sums: bool) -> None:
        held = DeviceTable("y", "minimize", "drop", space, table, goal, with_sums=with_sums)
        held.count(held.cut(LADDER))

    def rank() -> object:
        a = pa.analyze(
            {**table, "y": goal},
            "y",
            space=space,
            direction="min",
            scan=pa.Scan(engine="cuda"),
            reading=pa.Reading(outside="count"),
        )
        return a.importance(estimator="counts", draws=0)

    read = timed(lambda: [values.max() for values in (*table.values(), goal)])
    counts, sums, ranked = timed(lambda: count(with_sums=False)), timed(lambda: count(with_sums=True)), timed(rank)
    form = f"{rows:.0e} x {columns}{' log' if log else ''}"
    print(
        f"{form:>14}: plain read {read:7.2f} ms; counts {counts:7.2f} ({counts / read:5.1f}); with sums {sums:7.2f} "
        f"({sums / read:5.1f}); analyze and rank {ranked:7.2f} ({ranked / read:5.1f})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=float, default=1e9, help="rows of the largest table")
    largest = int(parser.parse_args().largest)
    name = library().cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}; numbers in brackets are multiples of the plain read")
    shapes = [
        (10**6, 4, False),
        (10**7, 4, False),
        (10**8, 4, False),
        (10**8, 4, True),
        (10**8, 32, False),
        (10**9, 4, False),
    ]
    for rows, columns, log in shapes:
        if rows <= largest:
            measure(rows, columns, log=log)


if __name__ == "__main__":
    main()
