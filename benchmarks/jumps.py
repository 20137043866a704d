"""Jumps and interactions: where a smooth model could go wrong, is the default still near the truth?

    python benchmarks/jumps.py [--rows 100,200,500] [--seeds 6] [--first 6]

Functions of five uniform parameters, two of which matter only together or by a jump; the third has an effect of
its own. The truth is the plain count of two million rows. Printed are the mean L1 error of the ratios, by
default and by counts, and how often the interval holds shares above 2 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared import ints, options_of

# isort: split
import numpy as np
from numpy.typing import NDArray

import pedanova as pa
from pedanova.results import Importances

Reals = NDArray[np.float64]
NAMES = tuple(f"x{j}" for j in range(5))
POPULATION = 2_000_000
LARGE = 0.02  # a share that a reader would notice
FUNCTIONS: dict[str, Callable[[Reals], Any]] = {
    "xor": lambda x: (x[0] > 0.5) ^ (x[1] > 0.5),
    "xor off the middle": lambda x: (x[0] > 0.3) ^ (x[1] > 0.65),
    "sign of a product": lambda x: 0.3 * np.sign((x[0] - 0.5) * (x[1] - 0.5)),
    "xor of three": lambda x: (x[0] > 0.5) ^ (x[1] > 0.5) ^ (x[3] > 0.5),
    "checkerboard": lambda x: (np.floor(3 * x[0]) + np.floor(3 * x[1])) % 2,
    "xor of categories": lambda x: np.floor(2 * x[0]) != np.floor(2 * x[1]),
    "step": lambda x: x[0] > 0.6,
    "product": lambda x: -4 * (x[0] - 0.5) * (x[1] - 0.5),
}


def analysed(name: str, rows: int, rng: np.random.Generator) -> pa.Analysis:
    x = rng.random((5, rows))
    loss = FUNCTIONS[name](x) + 0.5 * np.abs(x[2] - 0.4) + 0.05 * rng.normal(size=rows)
    columns: dict[str, Any] = dict(zip(NAMES, x, strict=True))
    space: dict[str, Any] = {one: pa.Float(0, 1) for one in NAMES}
    if name.endswith("categories"):
        for one in NAMES[:2]:
            columns[one] = np.where(columns[one] < 0.5, "a", "b")
            space[one] = pa.Categorical(["a", "b"])
    return pa.analyze(columns, loss, space=space, direction="min")


def shares_of(found: Importances) -> Reals:
    return np.maximum([found[name].share for name in NAMES], 0.0)


def error(shares: Reals, true: Reals) -> float:
    told = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
    return float(np.abs(told - true / true.sum()).sum())


def scores(name: str, rows: int, seed: int, true: Reals) -> tuple[float, float, float]:
    a = analysed(name, rows, np.random.default_rng([seed, rows]))
    found, counted = a.importance(), a.importance(estimator="counts", draws=0)
    low, high = (np.array([getattr(found[one], end) for one in NAMES]) for end in ("low", "high"))
    held = ((low <= true) & (true <= high))[true > LARGE]
    return error(shares_of(found), true), error(shares_of(counted), true), float(held.mean())


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=ints, default=[100, 200, 500])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=6, help="the first seed: others than those that constants saw")
    options = parser.parse_args()
    print(f"{'function':<20}{'rows':>6}{'default':>9}{'counts':>9}{'held':>7}")
    for name in FUNCTIONS:
        whole = analysed(name, POPULATION, np.random.default_rng(12345))
        true = shares_of(whole.importance(estimator="counts", smoothing="none", draws=0))
        for rows in options.rows:
            told = [scores(name, rows, options.first + i, true) for i in range(options.seeds)]
            default, counts, held = np.mean(told, axis=0)
            print(f"{name:<20}{rows:>6}{default:>9.2f}{counts:>9.2f}{held:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
