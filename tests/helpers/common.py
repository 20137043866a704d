"""Functions whose importances are known exactly, and checks that many tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.contrasts import Contrast
from pedanova.errors import PedanovaError
from pedanova.measures.importance import Importance, measure
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "files"
DEMO = Path(pa.__file__).parent / "cli" / "demo_trials.csv"
COUNTS: dict[str, Any] = {"estimator": "counts", "draws": 0, "force": True}  # the plain numbers, from however few rows


def refuse(kind: type[PedanovaError], *parts: str, of: Callable[[], object]) -> str:
    """`of()` must raise this kind, in one line that holds every part; the line itself."""
    with pytest.raises(kind) as caught:
        of()
    message = str(caught.value)
    assert len(message.splitlines()) == 1, message
    for part in parts:
        assert part in message, message
    return message


def forty_rows() -> dict[str, np.ndarray]:
    """A small table of trials with every kind of column."""
    rng = np.random.default_rng(2)
    return {
        "lr": rng.uniform(0.01, 1.0, 40).round(5),
        "depth": rng.integers(1, 20, 40),
        "kind": rng.choice(["a", "b"], 40),
        "loss": rng.normal(size=40).round(5),
    }


def four_dimensional(x: np.ndarray, *, inside_shift: int = 3) -> np.ndarray:
    """The paper's validation function; `inside_shift` is 3 as printed, 1 as in the released code."""
    outside = [5.0**-d for d in range(4)]
    inside = [5.0 ** -((d + inside_shift) % 4) for d in range(4)]
    return sum(np.where(np.abs(x[:, d]) >= 1, outside[d], inside[d]) * x[:, d] ** 2 for d in range(4))


def toy(x: np.ndarray) -> np.ndarray:
    """Case II of the paper on [-5, 5]²: a disc inside which the second parameter hardly matters."""
    square = x[:, 0] ** 2 + x[:, 1] ** 2
    return np.where(square >= 3, square, x[:, 0] ** 2 + x[:, 1] ** 2 / 100)


def measured(target: np.ndarray, region: np.ndarray, width: float = 0.0, baseline: str = "region") -> Importance:
    """The row for counts by cell; the last two cells are missing and outside."""
    grid = grid_of(pa.Ordinal(list(range(len(target) - 2))))
    return measure(Contrast("x", grid, target, region), baseline=baseline, smoothing=width)


def against_region(target: np.ndarray, region: np.ndarray, width: float) -> tuple[float, float]:
    row = measured(target, region, width)
    return row.divergence, row.share


def against_uniform(target: np.ndarray, width: float) -> float:
    """Divergence of counts from equal cells."""
    counts = np.concatenate([target, [0, 0]])
    region = counts.copy()
    region[0] += 1
    return measured(counts, region, width, "uniform").divergence


def contrast_of(parameter: Parameter, target: np.ndarray, region: np.ndarray, name: str = "x") -> Contrast:
    """Counts by cell of a parameter; none are missing or outside."""
    target, region = (np.concatenate([counts, [0, 0]]).astype(np.int64) for counts in (target, region))
    return Contrast(name, grid_of(parameter), target, region)
