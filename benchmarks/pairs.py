"""Pairs of parameters: how long all take beside single columns, and how often chance is taken for an interaction.

    python benchmarks/pairs.py [--largest 10000000] [--repeats 5]
    python benchmarks/pairs.py --by-chance [--samples 1000]

Speed: every two of the parameters are counted on 8 × 8 cells, from arrays in memory. Against it stand
the tally of every single parameter of the same table, and the same pairs counted by NumPy alone
(`bincount`, up to 10⁸ pairs of values). The last column is the whole question, p-values included.
Contestants take turns; medians are shown.

By chance: two independent uniform parameters; each row is in the target with a probability that is a sum of
an effect of each (no interaction), or by a rule that no sum can say. Printed: the part of the
samples with a p-value of at most 0.05, by the cells asked for. Without an interaction it should be 0.05.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from core import make_data
from shared import Lines, Work, describe, medians, options_of, take_turns

import pedanova as pa
from pedanova.base.threads import as_threads
from pedanova.counting import pairs
from pedanova.counting.arrays import count_codes, kept_codes
from pedanova.measures.interactions import groups_of

NUMPY_VALUES = 10**8  # rows × pairs
SHAPES = ((10_000, 8), (10_000, 32), (1_000_000, 8), (1_000_000, 32), (10_000_000, 8))
SPACE = {"x1": pa.Float(0, 1), "x2": pa.Float(0, 1)}
CELLS = ("auto", 8)
Rule = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
Draw = Callable[[Rule, int, int, np.random.Generator], tuple[np.ndarray, np.ndarray]]

ADDITIVE: dict[str, Rule] = {  # chances, 1 on average
    "none": lambda a, b, _: 1.0 + 0.0 * (a + b),
    "one slope": lambda a, b, _: 2.0 * a + 0.0 * b,
    "two slopes": lambda a, b, _: a + b,
    "two steps": lambda a, b, _: 0.19 + 1.35 * (a < 0.3) + 1.35 * (b < 0.3),
    "two curves": lambda a, b, _: 2.0 * (a**3 + b**3),
}
JOINT: dict[str, Rule] = {  # losses
    "corner": lambda a, b, _: np.maximum(a, b),
    "ridge": lambda a, b, _: np.abs(a - b),
    "xor": lambda a, b, random: np.where((a < 0.5) ^ (b < 0.5), 0, 1) + 1.3 * random.random(len(a)),
    "disc": lambda a, b, _: (a - 0.5) ** 2 + (b - 0.5) ** 2,
    "noisy disc": lambda a, b, random: (a - 0.3) ** 2 + (b - 0.6) ** 2 + 0.15 * random.random(len(a)),
}


def compare(rows: int, columns: int, repeats: int) -> list[str]:
    data, objective = make_data(rows, columns)
    a = pa.analyze(data, objective, space={name: pa.Float(-5, 5) for name in data})
    observed, threads = a.data.observations, as_threads(None)
    contrasts = a.data.contrasts(0.1, 1.0)
    groups = groups_of(contrasts, 8)
    codes = (objective > np.quantile(objective, 0.1)).astype(np.uint8)
    contestants: dict[str, Work] = {
        "pairs": lambda: pairs.tally_sets(observed, codes, groups, threads=threads),
        "one thread": lambda: pairs.tally_sets(observed, codes, groups, threads=1),
        "single": lambda: count_codes(
            observed, kept_codes(observed, a.data.levels, threads=threads), a.data.levels.count, threads=threads
        ),
        "question": lambda: a.interactions(cells=8),
    }
    number = columns * (columns - 1) // 2
    if rows * number <= NUMPY_VALUES:
        contestants["numpy"] = lambda: pairs.count_by_judge(observed, codes, groups)
    took = medians(take_turns(contestants, repeats))
    own = took["pairs"]
    return [
        f"{rows:,} × {columns}: {number} pairs",
        f"{own * 1e3:.1f} ms",
        f"{took['one thread'] / own:.2f}",
        f"{own / took['single']:.2f}",
        f"{took['numpy'] / own:.1f}" if "numpy" in took else "-",
        f"{took['question'] * 1e3:.1f} ms",
    ]


def p_of(x: np.ndarray, target: np.ndarray, cells: object, seed: int) -> float:
    data = {"x1": x[0], "x2": x[1]}
    a = pa.analyze(data, (~target).astype(float), space=SPACE, levels=[1.0], scan=pa.Scan(threads=1))
    return a.interactions(pa.at_most(0), cells=cells, seed=seed)["x1", "x2"].p_value


def draw_additive(rule: Rule, rows: int, inside: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their targets, as many as a quantile would hold up to one in twenty."""
    while True:
        x = random.random((2, rows))
        target = random.random(rows) < rule(*x, random) * inside / rows
        if abs(target.sum() - inside) <= 0.05 * inside:
            return x, target


def draw_joint(rule: Rule, rows: int, inside: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = random.random((2, rows))
    target = np.zeros(rows, dtype=bool)
    target[np.argsort(rule(*x, random))[:inside]] = True
    return x, target


def rejected(draw: Draw, rule: Rule, size: tuple[int, int], cells: object, samples: int) -> float:
    random = np.random.default_rng(1)
    return float(np.mean([p_of(*draw(rule, *size, random), cells, seed) <= 0.05 for seed in range(samples)]))


def by_chance(samples: int) -> None:
    for title, draw, rules, times in (
        ("no interaction: 0.05 is right", draw_additive, ADDITIVE, samples),
        ("an interaction: the more the better", draw_joint, JOINT, max(1, samples // 5)),
    ):
        lines = Lines(title, "rows", "target", *(f"cells {cells}" for cells in CELLS), first=36)
        for size in ((500, 50), (200, 20), (1_000, 100)):
            for name, rule in rules.items():
                lines.row(name, *size, *(f"{rejected(draw, rule, size, cells, times):.3f}" for cells in CELLS))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--by-chance", action="store_true")
    parser.add_argument("--samples", type=int, default=1_000)
    options = parser.parse_args()
    if options.by_chance:
        by_chance(options.samples)
        return
    print(describe())
    lines = Lines("rows × columns", "all pairs", "1 thread takes", "to single columns", "NumPy takes", "the question")
    for rows, columns in SHAPES:
        if rows <= options.largest:
            lines.row(*compare(rows, columns, options.repeats))


if __name__ == "__main__":
    main()
