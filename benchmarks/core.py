"""How long one question takes from arrays in memory, as ratios measured in the same run.

    python benchmarks/core.py [--largest 10000000] [--repeats 5]

The work: rows × parameters of float64 and an objective; importance of the best 10 % in all rows.
Against it stand one plain read of the same arrays (a limit), the same counting in NumPy alone
(`bincount`), and Optuna's PED-ANOVA evaluator on trials in memory (up to 10⁵ rows). Contestants
take turns; medians are shown. The last column is what 2,000 draws add.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import numpy as np
from samples import Sample, study_of
from shared import Lines, Work, describe, medians, options_of, optuna_parts, take_turns, without_kernel

import pedanova as pa
from pedanova.base.threads import as_threads, spread

OPTUNA_ROWS = 100_000
CODES = ("pass", "import numpy", "import pedanova", "import pedanova; pedanova.analyze")


def make_data(rows: int, columns: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.uniform(-5, 5, rows) for i in range(columns)}
    return data, sum(5.0**-i * data[f"x{i}"] ** 2 for i in range(4))


def ask_pedanova(data: dict[str, np.ndarray], objective: np.ndarray, threads: int | None, draws: int = 0) -> list[str]:
    """Ranked importances, as the others give them; with draws also intervals and p-values, which they lack."""
    space = {name: pa.Float(-5, 5) for name in data}
    return list(pa.analyze(data, objective, space=space, scan=pa.Scan(threads=threads)).importance(0.1, draws=draws))


def ask_numpy(data: dict[str, np.ndarray], objective: np.ndarray) -> list[str]:
    with without_kernel():
        return ask_pedanova(data, objective, 1)


def read_once(data: dict[str, np.ndarray], objective: np.ndarray, threads: int) -> float:
    """Every number touched once: the fastest that anything could be."""
    return sum(spread(lambda column: float(column.max()), [*data.values(), objective], threads=threads))


def compare(rows: int, columns: int, repeats: int) -> list[str]:
    data, objective = make_data(rows, columns)
    cores = as_threads(None)
    contestants: dict[str, Work] = {
        "pedanova": lambda: ask_pedanova(data, objective, None),
        "one thread": lambda: ask_pedanova(data, objective, 1),
        "draws": lambda: ask_pedanova(data, objective, None, 2000),
        "read": lambda: read_once(data, objective, cores),
        "numpy": lambda: ask_numpy(data, objective),
    }
    if rows <= OPTUNA_ROWS and columns <= 4:
        study = study_of(Sample(dict.fromkeys(data, pa.Float(-5, 5)), data, objective), "ranges")
        contestants["optuna"] = lambda: optuna_parts(study)
    took = medians(take_turns(contestants, min(repeats, 3) if rows * columns > 10**8 else repeats))
    own = took["pedanova"]
    return [
        f"{rows:,} × {columns}",
        f"{own * 1e3:.1f} ms",
        f"{took['one thread'] / own:.2f}",
        f"{own / took['read']:.1f}",
        f"{took['numpy'] / own:.1f}",
        f"{took['optuna'] / own:.0f}" if "optuna" in took else "-",
        f"{(took['draws'] - own) * 1e3:.0f} ms",
    ]


def import_seconds(code: str, repeats: int = 9) -> float:
    """Median time of a new interpreter that runs `code`."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(describe())
    lines = Lines("rows × columns", "pedanova", "1 thread", "to one read", "NumPy takes", "Optuna takes", "2,000 draws")
    for columns in (4, 32):
        for rows in (10_000, 100_000, 1_000_000, 10_000_000):
            if rows <= options.largest:
                lines.row(*compare(rows, columns, options.repeats))
    bare, numpy, own, ready = (import_seconds(code) for code in CODES)
    print(
        f"\nimport pedanova: {own - bare:.3f} s; ready to analyze: {ready - bare:.3f} s (NumPy: {numpy - bare:.3f} s)"
    )


if __name__ == "__main__":
    main()
