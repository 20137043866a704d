"""The paper's real-world experiment on a complete lattice: exact importances of 41 million rows.

    python experiments/jahs_lattice.py DATA_DIR

DATA_DIR holds ``jahs_thesis_cifar10_lattice.parquet`` with one column ``valid_acc_milli``, its
``.json`` with the space (rows in product order, the first parameter slowest), and
``published/jahs_thesis_full_lattice_exact.json`` with exact ratios in percent. The script prints
both side by side, the time and the peak memory, and fails where a ratio is off by more than 1e-9.

The published numbers take exactly ⌊γN⌋ rows and the first ones among equals; pedanova takes ⌈γN⌉
rows and all ties, so that the order of rows never matters. Both are shown; the digits are compared
under the published rule.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import pedanova as pa
from pedanova.data.column import Column

QUESTIONS = {
    "global_0.1": (0.1, 1.0),
    "global_0.01": (0.01, 1.0),
    "global_0.001": (0.001, 1.0),
    "0.01_in_0.1": (0.01, 0.1),
}
LARGEST_DIFFERENCE = 1e-9  # of the ratios


def choices_of(fields: dict[str, object]) -> list[object]:
    return list(fields.get("grid") or fields["choices"])  # type: ignore[call-overload]


def lattice_columns(space: dict[str, dict[str, object]]) -> dict[str, Column]:
    """The product of all choices as one-byte codes."""
    sizes = [len(choices_of(fields)) for fields in space.values()]
    columns = {}
    for i, (name, fields) in enumerate(space.items()):
        inner = math.prod(sizes[i + 1 :])
        outer = math.prod(sizes[:i])
        codes = np.tile(np.repeat(np.arange(sizes[i], dtype=np.uint8), inner), outer)
        columns[name] = Column(name, codes, tuple(choices_of(fields)))  # type: ignore[arg-type]
    return columns


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    plain = json.loads((options.folder / "jahs_thesis_cifar10_lattice.json").read_text())["space"]
    truth = json.loads((options.folder / "published" / "jahs_thesis_full_lattice_exact.json").read_text())
    table = pq.read_table(options.folder / "jahs_thesis_cifar10_lattice.parquet")
    accuracy = table["valid_acc_milli"].combine_chunks().to_numpy()
    columns = lattice_columns(plain)
    space = {
        name: (pa.Ordinal if "grid" in fields else pa.Categorical)(choices_of(fields)) for name, fields in plain.items()
    }
    before = peak_megabytes()
    start = time.perf_counter()
    a = analyze(columns, accuracy, space, options.threads)
    seconds = time.perf_counter() - start
    print(f"{len(a):,} rows x {len(space)} parameters counted in {seconds:.2f} s")
    after = peak_megabytes()
    print(f"peak memory {after:,.0f} MB, of which {after - before:,.0f} MB for the analysis")
    print("\nBy pedanova's rule (published in brackets):")
    compare(a, truth, exactly)
    rows = len(accuracy)
    first_wins = accuracy + np.arange(rows, 0, -1) / (2.0 * rows)
    print("\nBy the published rule:")
    worst = compare(analyze(columns, first_wins, space, options.threads), truth, floored(rows))
    print(f"\nlargest difference of a ratio from the published one: {worst:.1e}")
    return int(worst > LARGEST_DIFFERENCE)


Rule = Callable[[float], Fraction]


def exactly(part: float) -> Fraction:
    return Fraction(str(part))


def floored(rows: int) -> Rule:
    return lambda part: Fraction(int(exactly(part) * rows), rows)


def analyze(
    columns: dict[str, Column], accuracy: np.ndarray, space: dict[str, object], threads: int | None
) -> pa.Analysis:
    rule = floored(len(accuracy))
    levels = [cut for part in (0.001, 0.01, 0.1) for cut in (exactly(part), rule(part))]
    return pa.analyze(
        columns, accuracy, direction="maximize", space=space, levels=levels, scan=pa.Scan(threads=threads)
    )


def compare(a: pa.Analysis, truth: dict[str, dict[str, float]], rule: Rule) -> float:
    """Print every question's ratios; the largest difference from the truth."""
    worst = 0.0
    for question, (target, region) in QUESTIONS.items():
        found = a.importance(rule(target), rule(region))
        first = found.rows[0]
        print(f"  {found.target} in {found.region}: {first.n_target:,} of {first.n_region:,} rows")
        shown = [f"{name} {100 * found[name].ratio:.4f} ({exact:.4f})" for name, exact in truth[question].items()]
        print("    " + ", ".join(shown))
        worst = max(worst, *(abs(found[n].ratio - exact / 100) for n, exact in truth[question].items()))
    return worst


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
