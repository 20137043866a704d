"""How often pairs that do not interact are called significant, and how often pairs that do are found.

    python benchmarks/pairs_by_chance.py [--repeats 1000]

Two independent uniform parameters; each row is in the target with a probability that is a sum of
an effect of each (no interaction), or by a rule that no sum can say. Printed: the part of the
repeats with a p-value of at most 0.05, by the cells asked for. Without an interaction it should be
0.05.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import pedanova as pa

SPACE = {"x1": pa.Float(0, 1), "x2": pa.Float(0, 1)}
Rule = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]

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


def p_of(x: np.ndarray, target: np.ndarray, cells: object, seed: int) -> float:
    data = {"x1": x[0], "x2": x[1]}
    a = pa.analyze(data, (~target).astype(float), space=SPACE, levels=[1.0], threads=1)
    return a.interactions(pa.equals(0), cells=cells, seed=seed)["x1", "x2"].p_value


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


def rejected(
    draw: Callable[..., tuple[np.ndarray, np.ndarray]], rule: Rule, size: tuple[int, int], cells: object, repeats: int
) -> float:
    random = np.random.default_rng(1)
    low = [p_of(*draw(rule, *size, random), cells, seed) <= 0.05 for seed in range(repeats)]
    return float(np.mean(low))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1_000)
    repeats = parser.parse_args().repeats
    choices = ("auto", 8)
    for title, draw, rules, times in (
        ("no interaction: 0.05 is right", draw_additive, ADDITIVE, repeats),
        ("an interaction: the more the better", draw_joint, JOINT, repeats // 5),
    ):
        print(title)
        print(f"{'rows':>6}{'target':>8}  {'rule':<12}" + "".join(f"{'cells ' + str(c):>13}" for c in choices))
        for size in ((500, 50), (200, 20), (1_000, 100)):
            for name, rule in rules.items():
                shown = "".join(f"{rejected(draw, rule, size, c, times):>13.3f}" for c in choices)
                print(f"{size[0]:>6}{size[1]:>8}  {name:<12}{shown}", flush=True)


if __name__ == "__main__":
    main()
