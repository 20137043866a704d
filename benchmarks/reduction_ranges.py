"""Does a reduced space help where parameters are ranges? Four functions, after trials by Optuna's TPE.

    python benchmarks/reduction_ranges.py [--rows 200] [--first-seed 10] [--seeds 5]

The tables of `reduction.py` are lattices, on which a box of few configurations is soon seen whole. Here
every parameter is a range, and two more that do nothing are tried beside those of each function. 200
further random trials, 100 times over, are run in the reduced space and in the naive box around the
best 10 % of the trials. A run improves if they find a better value than the trials before.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import pedanova as pa  # noqa: E402

Reals = NDArray[np.float64]
DULL, FURTHER, REPEATS = 2, 200, 100


def ackley(units: Reals) -> Reals:
    x = 4.0 * (units - 0.5) - 0.37
    waves = np.exp(np.cos(2.0 * np.pi * x).mean(axis=-1))
    found: Reals = 20.0 + math.e - waves - 20.0 * np.exp(-0.2 * np.sqrt((x**2).mean(axis=-1)))
    return found


def rosenbrock(units: Reals) -> Reals:
    x = 3.0 * units - 1.5
    found: Reals = (100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2).sum(axis=-1)
    return found


def bowl(units: Reals) -> Reals:
    gaps = units - np.array([0.3, 0.8, 0.55, 0.1, 0.6])
    found: Reals = (gaps**2 * np.array([4.0, 2.0, 1.0, 0.5, 0.1])).sum(axis=-1)
    return found


def at_a_bound(units: Reals) -> Reals:
    a, b, c, d, e = np.moveaxis(units, -1, 0)
    found: Reals = 5.0 * (a - 0.4) ** 2 + 2.0 * (b - 0.7) ** 2 + c * d + 0.3 * e
    return found


FUNCTIONS: tuple[tuple[Callable[[Reals], Reals], int], ...] = (
    (ackley, 4), (rosenbrock, 4), (bowl, 5), (at_a_bound, 5),
)  # fmt: skip


def by_tpe(function: Callable[[Reals], Reals], size: int, rows: int, seed: int) -> tuple[Reals, Reals]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    tried, values = np.empty((rows, size + DULL)), np.empty(rows)
    for row in range(rows):
        trial = study.ask()
        tried[row] = [trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(size + DULL)]
        values[row] = function(tried[row, :size])
        study.tell(trial, float(values[row]))
    return tried, values


def reduced(tried: Reals, values: Reals) -> tuple[Reals, pa.ReducedSpace]:
    names = [f"x{i}" for i in range(tried.shape[1])]
    columns = {name: tried[:, i] for i, name in enumerate(names)}
    found = pa.analyze(columns, values, space=dict.fromkeys(names, pa.Float(0.0, 1.0))).reduce()
    bounds = [(found.space[name].low, found.space[name].high) for name in names]  # type: ignore[union-attr]
    return np.array(bounds), found


def naive(tried: Reals, values: Reals) -> Reals:
    top = tried[values <= np.sort(values)[math.ceil(0.1 * len(values)) - 1]]
    return np.stack([top.min(axis=0), top.max(axis=0)], axis=1)


def score(function: Callable[[Reals], Reals], size: int, rows: int, seed: int) -> list[float]:
    tried, values = by_tpe(function, size, rows, seed)
    box, small = reduced(tried, values)
    rng = np.random.default_rng(seed)
    own, other = (
        function(
            (low + (high - low) * rng.random((REPEATS, FURTHER, size + DULL)))[..., :size]
        ).min(axis=1)
        for low, high in (bounds.T for bounds in (box, naive(tried, values)))
    )  # fmt: skip
    known, told = values.min(), small.evidence
    kept = [told.kept.part, told.best.part] if told else [1.0, 1.0]
    return [float(np.mean(own < other)), float(np.mean(own < known)), float(np.mean(other < known)), *kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=10, help="0 to 5 chose the rules")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    print("| function | better than naive | improves: reduced, naive | target kept, its best fifth |")
    print("|---|---|---|---|")
    every = []
    for function, size in FUNCTIONS:
        every.append([score(function, size, options.rows, seed) for seed in seeds])
        show(function.__name__, np.mean(every[-1], axis=0))
    show("all", np.mean(every, axis=(0, 1)))


def show(name: str, numbers: Reals) -> None:
    than, own, other, kept, best = (f"{number:.0%}" for number in numbers)
    print(f"| {name} | {than} | {own}, {other} | {kept}, {best} |", flush=True)


if __name__ == "__main__":
    main()
