"""How long one question takes from arrays in memory, as ratios measured in the same run.

    python benchmarks/core.py [--largest 10000000] [--repeats 5]

The work: rows × parameters of float64 and an objective; importance of the best 10 % in all rows.
Against it stand one plain read of the same arrays (a limit), the same counting in NumPy alone
(`bincount`), and Optuna's PED-ANOVA evaluator on trials in memory (up to 10⁵ rows). Contestants
take turns; medians are shown.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import pedanova as pa
from pedanova.base.kernel import library as kernel
from pedanova.base.threads import as_threads, spread

OPTUNA_ROWS = 100_000


def make_data(rows: int, columns: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.uniform(-5, 5, rows) for i in range(columns)}
    return data, sum(5.0**-i * data[f"x{i}"] ** 2 for i in range(4))


def ask_pedanova(data: dict[str, np.ndarray], objective: np.ndarray, threads: int | None, draws: int = 0) -> list[str]:
    """Ranked importances, as the others give them; with draws also intervals and p-values, which they lack."""
    space = {name: pa.Float(-5, 5) for name in data}
    return list(pa.analyze(data, objective, space=space, threads=threads).importance(0.1, draws=draws))


def ask_numpy(data: dict[str, np.ndarray], objective: np.ndarray) -> list[str]:
    """The same answer with the compiled kernel switched off."""
    available = kernel.available
    kernel.available = lambda: False
    try:
        return ask_pedanova(data, objective, 1)
    finally:
        kernel.available = available


def read_once(data: dict[str, np.ndarray], objective: np.ndarray, threads: int) -> float:
    """Every number touched once: the fastest that anything could be."""
    return sum(spread(lambda column: float(column.max()), [*data.values(), objective], threads=threads))


def make_trials(data: dict[str, np.ndarray], objective: np.ndarray) -> object:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study()
    distributions = {name: optuna.distributions.FloatDistribution(-5, 5) for name in data}
    columns = [column.tolist() for column in data.values()]
    study.add_trials(
        optuna.trial.create_trial(params=dict(zip(data, values, strict=True)), distributions=distributions, value=value)
        for *values, value in zip(*columns, objective.tolist(), strict=True)
    )
    return study


def ask_optuna(study: object) -> list[str]:
    import optuna

    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    return list(optuna.importance.get_param_importances(study, evaluator=evaluator))


def timed(contestants: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each; they take turns, so that a slow minute hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, work in contestants.items():
            start = time.perf_counter()
            work()
            if turn:  # the first round warms up
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def compare(rows: int, columns: int, repeats: int) -> None:
    data, objective = make_data(rows, columns)
    cores = as_threads(None)
    contestants: dict[str, Callable[[], object]] = {
        "pedanova": lambda: ask_pedanova(data, objective, None),
        "one thread": lambda: ask_pedanova(data, objective, 1),
        "surely": lambda: ask_pedanova(data, objective, None, 2000),
        "read": lambda: read_once(data, objective, cores),
        "numpy": lambda: ask_numpy(data, objective),
    }
    if rows <= OPTUNA_ROWS and columns <= 4:
        study = make_trials(data, objective)
        contestants["optuna"] = lambda: ask_optuna(study)
    if rows * columns > 10**8:
        repeats = min(repeats, 3)
    took = timed(contestants, repeats)
    own = took["pedanova"]
    optuna = f"{took['optuna'] / own:9.0f}x" if "optuna" in took else "         -"
    size = f"{rows:>11,} x{columns:>3}{own * 1e3:>11.1f} ms"
    ratios = f"{took['one thread'] / own:>8.2f}x{own / took['read']:>12.1f}x{took['numpy'] / own:>10.1f}x"
    print(f"{size}{ratios}{optuna}{(took['surely'] - own) * 1e3:>12.0f} ms", flush=True)


def import_seconds(code: str, repeats: int = 9) -> float:
    """Median time of a new interpreter that runs `code`."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"pedanova {pa.__version__}, counting: {kernel.describe()}, {as_threads(None)} cores\n")
    print("       rows x cols   pedanova  1 thread  to one read  NumPy takes  Optuna takes  2,000 draws")
    for columns in (4, 32):
        for rows in (10_000, 100_000, 1_000_000, 10_000_000):
            if rows <= options.largest:
                compare(rows, columns, options.repeats)
    codes = ("pass", "import numpy", "import pedanova", "import pedanova; pedanova.analyze")
    bare, numpy, own, ready = (import_seconds(code) for code in codes)
    print(
        f"\nimport pedanova: {own - bare:.3f} s; ready to analyze: {ready - bare:.3f} s (NumPy: {numpy - bare:.3f} s)"
    )


if __name__ == "__main__":
    main()
