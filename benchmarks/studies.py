"""Comparisons of studies against known truth, and many groups of one table against the same rows as one.

    python benchmarks/studies.py [--repeats 100] [--studies 100] [--batches 10]
    python benchmarks/studies.py --groups [--rows 10000000] [--count 1000]

Generated studies: five parameters on [0, 1], of which one decides most, two together a little, one nothing; how much
each decides differs from study to study. `held`: how often the pooled interval holds the mean of the true shares over
all such studies. `alarms`: the part of comparisons of two equal studies in which any parameter is called different
after Holm's correction; `power`: how often a share of 0.3 is told from one of 0.1, 300 rows each.

`--groups` compares CPU time and the peak of memory of `across` on groups with `analyze` and `importance` of the same
rows as one table, each in a process of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shared import Lines, in_a_process, options_of

# isort: split
import numpy as np

import pedanova as pa

SPACE = {f"x{i}": pa.Float(0, 1) for i in range(5)}
STRONG, WEAK = 1.55, 0.53  # weights at which the first parameter's share is 0.3 and 0.1
TRUTH_ROWS = 100_000
NODES = 7  # by which the mean over all studies is integrated, for each of both weights
SETUP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import pedanova as pa
from studies import grouped_table
"""
WAYS = {
    "one": "pa.analyze(table, 'loss', exclude=['dataset']).importance()",
    "groups": "pa.across(table, 'loss', group='dataset')",
}


def study(weight: float, other: float, rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """A random search; the objective is noisy."""
    x = {name: rng.random(rows) for name in SPACE}
    loss = weight * np.abs(x["x0"] - 0.3) + other * x["x1"] + 0.3 * np.abs(x["x2"] - 0.6) * x["x3"]
    return {**x, "loss": loss + 0.1 * rng.standard_normal(rows)}


def analysed(table: dict[str, Any]) -> pa.Analysis:
    return pa.analyze(table, "loss", space=SPACE)


def shares_of(weight: float, other: float, seed: int) -> dict[str, float]:
    """True shares, from very many rows."""
    a = analysed(study(weight, other, TRUTH_ROWS, np.random.default_rng([9, seed])))
    return a.importance(estimator="counts", draws=0).shares


def weights(first: float, second: float) -> tuple[float, float]:
    """Of one study, by two normal values: they differ by a factor of two and more."""
    return float(np.exp(0.5 * first)), float(0.3 * np.exp(0.5 * second))


def mean_truth() -> dict[str, float]:
    """True shares, averaged over all such studies (Gauss and Hermite)."""
    values, parts = np.polynomial.hermite_e.hermegauss(NODES)
    parts = parts / parts.sum()
    total = dict.fromkeys(SPACE, 0.0)
    for i, one in enumerate(values):
        for j, two in enumerate(values):
            for name, share in shares_of(*weights(one, two), NODES * i + j).items():
                total[name] += parts[i] * parts[j] * share
    return total


def pooled(batches: range, studies: int, estimator: str) -> None:
    """Batches of studies of 100 to 800 rows: does the pooled interval hold the mean of all true shares?"""
    truth = mean_truth()
    held: dict[str, list[bool]] = {name: [] for name in SPACE}
    wide: dict[str, list[float]] = {name: [] for name in SPACE}
    for batch in batches:
        rng = np.random.default_rng([2, batch])
        some = {
            str(i): analysed(study(*weights(*rng.standard_normal(2)), int(rng.integers(100, 800)), rng))
            for i in range(studies)
        }
        found = pa.across(some, estimator=estimator)
        for name in SPACE:
            row = found[name]
            held[name].append(bool((row.low or 0.0) <= truth[name] <= (row.high or 0.0)))
            wide[name].append((row.high or 0.0) - (row.low or 0.0))
    for name in SPACE:
        print(
            f"  {name}: true mean {truth[name]:6.3f}  held {np.mean(held[name]):5.0%}  width {np.mean(wide[name]):.3f}"
        )
    print(f"pooled, {estimator}, {len(batches)} × {studies} studies: {np.mean([*held.values()]):.1%} of intervals hold")


def compared(repeats: range, estimator: str) -> None:
    alarms, single, power = [], [], []
    for repeat in repeats:
        rng = np.random.default_rng([3, repeat])
        one, same, other = (analysed(study(w, 0.3, 300, rng)) for w in (STRONG, STRONG, WEAK))
        equal = pa.difference(one, same, estimator=estimator)
        alarms.append(any(row.significant for row in equal.rows))
        single += [row.p_value <= 0.05 for row in equal.rows if row.p_value is not None]
        power.append(pa.difference(one, other, estimator=estimator)["x0"].significant)
    words = f"alarms {np.mean(alarms):.1%} (single tests {np.mean(single):.1%}), power {np.mean(power):.1%}"
    print(f"two studies of 300 rows, {estimator}, {len(repeats)} pairs: {words}")


def grouped_table(rows: int, count: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"x{i}": rng.random(rows, dtype=np.float32) for i in range(5)}
    table["dataset"] = rng.integers(0, count, rows, dtype=np.int16)
    noise = rng.random(rows, dtype=np.float32)
    table["loss"] = np.abs(table["x0"] - np.float32(0.3)) + np.float32(0.3) * table["x1"] + np.float32(0.1) * noise
    return table


def groups(rows: int, count: int) -> None:
    lines = Lines(f"{rows:,} rows in {count:,} groups", "CPU s", "ratio", "peak MB")
    setup = f"{SETUP}table = grouped_table({rows}, {count})"
    took = {way: in_a_process(work, setup) for way, work in WAYS.items()}
    for way, (cpu, _, peak) in took.items():
        lines.row(way, f"{cpu:.1f}", f"{cpu / took['one'][0]:.2f}", f"{peak:,.0f}")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="which pair or batch to begin with")
    parser.add_argument("--estimator", default="auto")
    parser.add_argument("--only", choices=("pooled", "compared"))
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--count", type=int, default=1000)
    given = parser.parse_args()
    if given.groups:
        groups(given.rows, given.count)
    else:
        if given.only != "compared":
            pooled(range(given.first, given.first + given.batches), given.studies, given.estimator)
        if given.only != "pooled":
            compared(range(given.first, given.first + given.repeats), given.estimator)


if __name__ == "__main__":
    main()
