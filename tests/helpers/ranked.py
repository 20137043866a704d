"""Small studies as ranked rows, for models and p-values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import pedanova as pa
from pedanova.counting.few_rows import few_rows
from pedanova.measures.chance.ranked_rows import RankedRows, ranked_rows


def rows_of(
    columns: dict[str, Any], objective: Any, space: dict[str, Any], *, trials: Any = None, **options: Any
) -> RankedRows:
    """The study as the package reads it."""
    observed = pa.analyze(columns, objective, space=space, **options).data.observations
    few = few_rows(observed, np.arange(len(objective)))
    return ranked_rows(observed.space, replace(few, trials=trials))


def study(rows: int = 120, seed: int = 0) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """Two ranges, a category, a child of it, whole numbers: an objective that all but the last decide."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["adam", "sgd", "rms"], rows)
    lr = 10 ** rng.uniform(-4, -1, rows)
    momentum = np.where(kind == "sgd", rng.random(rows), np.nan)
    units = rng.integers(1, 9, rows)
    columns = {"kind": kind.astype(object), "lr": lr, "momentum": momentum, "units": units}
    space = {
        "kind": pa.Categorical(["adam", "sgd", "rms"]),
        "lr": pa.Float(1e-4, 1e-1, log=True),
        "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
        "units": pa.Int(1, 8),
    }
    loss = (np.log10(lr) + 2.5) ** 2 + 1.0 * (kind == "rms") + np.where(kind == "sgd", 1 - 2 * momentum, 0.0)
    return columns, loss, space
