"""How long a forest's f-ANOVA takes beside fitting the forest, as ratios measured in the same run.

    python benchmarks/fanova.py [--rows 1000 3000 10000] [--repeats 5]

The work: 64 trees on rows × 8 parameters, one thread. Everyone takes the very same forest apart:
pedanova, Optuna's own evaluator and optuna-fast-fanova where it is
installed. Contestants take turns and medians are shown; of whoever would need more than half a minute, one tree alone
is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from shared import Lines, describe, medians, options_of, take_turns

# isort: split
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from pedanova.measures.forest import ColumnDomain, tree_variances

PARAMETERS = 8
TREES = 64
COLUMNS = ("pedanova", "optuna", "fast-fanova")
TOO_LONG = 30.0  # seconds
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
        total, main = tree_variances(tree, [ColumnDomain()] * PARAMETERS)
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


def seconds_of_one(name: str, work: Work, tree: Any) -> float:
    """Seconds for one tree, whose numbers must be ours."""
    work(estimator.tree_ for estimator in fit(*make_data(50)).estimators_[:2])  # warms up
    start = time.perf_counter()
    found = work([tree])
    took = time.perf_counter() - start
    if not np.allclose(found, main_effects([tree]), atol=1e-8):
        raise SystemExit(f"{name} and pedanova disagree")
    return took


def compare(rows: int, repeats: int, lines: Lines) -> None:
    x, objective = make_data(rows)
    trees = [estimator.tree_ for estimator in fit(x, objective).estimators_]
    contestants: dict[str, Callable[[], object]] = {
        "fit": lambda: fit(x, objective),
        "pedanova": lambda: main_effects(trees),
    }
    skipped = {}
    for name, work in others().items():
        one = seconds_of_one(name, work, trees[0])
        if one * TREES > TOO_LONG:
            skipped[name] = f"a tree: {one:.1f} s"
        else:
            contestants[name] = lambda work=work: work(trees)
    took = medians(take_turns(contestants, repeats))
    cells = {name: f"{seconds:.2f} s = {seconds / took['fit']:.2f} fits" for name, seconds in took.items()} | skipped
    lines.row(f"{rows:,}", f"{took['fit']:.2f} s", *(cells.get(name, "-") for name in COLUMNS))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(describe())
    lines = Lines("rows", "fit", *(f"{name:>20}" for name in COLUMNS), first=8)
    for rows in options.rows:
        compare(rows, options.repeats, lines)


if __name__ == "__main__":
    main()
