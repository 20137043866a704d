"""How long a forest's f-ANOVA takes beside fitting the forest, as ratios measured in the same run.

    python benchmarks/fanova.py [--rows 1000 3000 10000] [--repeats 5]

The work: 64 trees on rows × 8 parameters, one thread. Everyone takes the very same forest apart:
pedanova, Optuna's own evaluator and optuna-fast-fanova where it is
installed. Contestants take turns and medians are shown; whoever needs more than
20 s is run once (marked 1×), and who would need more than 3 minutes, judged by one tree, not at all.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

import pedanova as pa
from pedanova.measures.forest import Axis, tree_variances

PARAMETERS = 8
TREES = 64
COLUMNS = ("main", "optuna", "fast-fanova")
ONCE = 20.0  # seconds beyond which a contestant is run once
TOO_LONG = 180.0
Work = Callable[[Iterable[Any]], object]  # takes scikit-learn's trees


def make_data(rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.random((rows, PARAMETERS)).astype(np.float32)
    wide = 10 * x.astype(np.float64) - 5
    objective = sum(5.0**-i * wide[:, i] ** 2 for i in range(4)) + wide[:, 0] * wide[:, 1]
    return x, objective + random.normal(0, 0.1, rows)


def fit(x: np.ndarray, objective: np.ndarray) -> RandomForestRegressor:
    forest = RandomForestRegressor(TREES, max_depth=64, random_state=0, n_jobs=1)
    return forest.fit(x, objective)


def main_effects(trees: Iterable[Any]) -> np.ndarray:
    shares = []
    for tree in trees:
        total, main = tree_variances(tree, [Axis()] * PARAMETERS)
        shares.append(main / total)
    return np.mean(shares, axis=0)


def by_walking(kind: Any) -> Work:
    """Main effects by a class that has `variance` and `get_marginal_variance`, as Optuna's has."""
    space = np.tile([0.0, 1.0], (PARAMETERS, 1))

    def work(trees: Iterable[Any]) -> np.ndarray:
        found = [kind(tree, space) for tree in trees]
        shares = [
            [tree.get_marginal_variance(np.array([dim])) / tree.variance for dim in range(PARAMETERS)] for tree in found
        ]
        return np.mean(shares, axis=0)

    return work


def others() -> dict[str, Work]:
    from optuna.importance._fanova._tree import _FanovaTree

    found = {"optuna": by_walking(_FanovaTree)}
    try:
        from optuna_fast_fanova._fanova import FanovaTree
    except ImportError:
        return found
    return found | {"fast-fanova": by_walking(FanovaTree)}


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def timed(contestants: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every run; they take turns, so that a slow minute hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, work in contestants.items():
            if seconds[name] and seconds[name][0] > ONCE:
                continue
            took = seconds_of(work)
            if turn or took > ONCE:  # the first round warms up, but a slow one is not repeated
                seconds[name].append(took)
    return seconds


def agreeing_seconds(name: str, work: Work, trees: list[Any]) -> float:
    """Seconds for a few trees, whose numbers must be ours."""
    work(estimator.tree_ for estimator in fit(*make_data(50)).estimators_[:2])  # warms up
    start = time.perf_counter()
    found = work(trees)
    took = time.perf_counter() - start
    if not np.allclose(found, main_effects(trees), atol=1e-8):
        raise SystemExit(f"{name} and pedanova disagree")
    return took


def compare(rows: int, repeats: int) -> None:
    x, objective = make_data(rows)
    trees = [estimator.tree_ for estimator in fit(x, objective).estimators_]
    contestants: dict[str, Callable[[], object]] = {
        "fit": lambda: fit(x, objective),
        "main": lambda: main_effects(trees),
    }
    skipped = {}
    for name, work in others().items():
        one = agreeing_seconds(name, work, trees[:1])
        if one * TREES > TOO_LONG:
            skipped[name] = f"> 3 min (a tree: {one:.1f} s)"
        else:
            contestants[name] = lambda work=work: work(trees)
    took = timed(contestants, repeats)
    fitting = statistics.median(took["fit"])
    shown = [_cell(took[name], fitting) if name in took else skipped.get(name, "-") for name in COLUMNS]
    print(f"{rows:>7,}{fitting:>9.2f} s" + "".join(f"{cell:>28}" for cell in shown), flush=True)


def _cell(times: list[float], fitting: float) -> str:
    median = statistics.median(times)
    return f"{median:.2f} s = {median / fitting:.2f} fits{' (1×)' if len(times) == 1 else ''}"


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} not installed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    peers = ", ".join(map(_version, ("scikit-learn", "optuna", "optuna-fast-fanova")))
    print(f"pedanova {pa.__version__}; {peers}; {TREES} trees, {PARAMETERS} parameters, one thread\n")
    print(f"{'rows':>7}{'fit':>11}" + "".join(f"{name:>28}" for name in COLUMNS))
    for rows in options.rows:
        compare(rows, options.repeats)


if __name__ == "__main__":
    main()
