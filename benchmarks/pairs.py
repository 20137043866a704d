"""How long all pairs take beside the pass over single columns, as ratios measured in the same run.

    python benchmarks/pairs.py [--largest 10000000] [--repeats 5]

The work: count every two of the parameters on 8 × 8 cells, from arrays in memory. Against it stand
the tally of every single parameter of the same table, and the same pairs counted by NumPy alone
(`bincount`, up to 10⁸ pairs of values). The last column is the whole question, p-values included.
Contestants take turns; medians are shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations

import numpy as np
from core import make_data, timed

import pedanova as pa
from pedanova.base.threads import as_threads
from pedanova.counting import pairs
from pedanova.counting.arrays import tally_columns
from pedanova.measures.interactions import groups_of

NUMPY_VALUES = 10**8  # rows × pairs


def compare(rows: int, columns: int, repeats: int) -> None:
    data, objective = make_data(rows, columns)
    a = pa.analyze(data, objective, space={name: pa.Float(-5, 5) for name in data})
    observed, threads = a.observations, as_threads(None)
    contrasts, _, _ = a.ask(0.1, 1.0)
    groups = groups_of(contrasts, 8)
    codes = (objective > np.quantile(objective, 0.1)).astype(np.uint8)
    contestants: dict[str, Callable[[], object]] = {
        "pairs": lambda: pairs.tally_pairs(observed, codes, groups, threads=threads),
        "one thread": lambda: pairs.tally_pairs(observed, codes, groups, threads=1),
        "single": lambda: tally_columns(observed, a.levels, threads=threads),
        "question": lambda: a.interactions(cells=8),
    }
    count = columns * (columns - 1) // 2
    if rows * count <= NUMPY_VALUES:
        contestants["numpy"] = lambda: pairs.count_by_judge(observed, codes, groups, list(combinations(groups, 2)))
    took = timed(contestants, repeats)
    own = took["pairs"]
    numpy = f"{took['numpy'] / own:9.1f}x" if "numpy" in took else "         -"
    size = f"{rows:>11,} x{columns:>3}{count:>6}{own * 1e3:>11.1f} ms"
    ratios = f"{took['one thread'] / own:>9.2f}x{own / took['single']:>10.2f}x"
    print(f"{size}{ratios}{numpy}{took['question'] * 1e3:>11.1f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    wanted = parser.parse_args()
    print("       rows    columns pairs       all pairs  1 thread  to tally     numpy     question")
    for rows, columns in ((10_000, 8), (10_000, 32), (1_000_000, 8), (1_000_000, 32), (10_000_000, 8)):
        if rows <= wanted.largest:
            compare(rows, columns, wanted.repeats)


if __name__ == "__main__":
    main()
