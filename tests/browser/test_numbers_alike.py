"""Numbers on the page are written by the same rule as everywhere else."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from helpers.chromium import Page
from pedanova.base import digits


def numbers() -> list[float]:
    """Of every size, with many that lie exactly between two roundings."""
    random = np.random.default_rng(0)
    sizes = 10.0 ** random.uniform(-12, 12, 3000) * random.choice([-1, 1], 3000)
    halves = [k / 2**p for p in range(12) for k in range(1, 200, 2)]
    near = [float(f"{x:.4g}") for x in sizes[:500]]
    edges = [0.0, 1.0, 0.001, 0.00099949, 0.0009995, 999.5, 9999.0, 10_000.0, 999_999.0, 1e6, 1e15, 1e300, 5e-324,
             0.5, 0.05, 0.0005, 0.00049, 0.0995, 0.09949, 0.99949, 0.9995, 0.995, 0.9999]  # fmt: skip
    parts = random.random(1500) ** 4
    return [*map(float, sizes), *halves, *near, *edges, *map(float, parts), math.inf, -math.inf]


@pytest.mark.parametrize(("name", "most"), [("short", None), ("percent", 1e4), ("times", 1e300), ("chance", 1.0)])
def test_python_and_the_page_write_alike(page: Page, report: Path, name: str, most: float | None) -> None:
    page.open(report)
    given = [x for x in numbers() if most is None or x == 0 or 1e-200 < x <= most]
    assert len(given) > 2000
    texts = [repr(x).replace("inf", "Infinity") for x in given]
    shown = page.run(f"return arguments[0].map((text) => pedanova.{name}(Number(text)))", texts)
    wanted = [getattr(digits, name)(x) for x in given]
    assert [(x, a, b) for x, a, b in zip(given, shown, wanted, strict=True) if a != b] == []
