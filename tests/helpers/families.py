"""Studies of one family, whose good values are known: what priors are tested with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import pedanova as pa
from pedanova.measures.question import HOW, Question
from pedanova.measures.studies.prior import SearchPrior, prior_of

SPACE: dict[str, Any] = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "layers": pa.Int(1, 8),
    "optimizer": pa.Categorical(["adam", "sgd"]),
    "momentum": pa.Float(0.0, 0.99, when={"optimizer": ["sgd"]}),
    "width": pa.Int(8, 1024, log=True),
    "size": pa.Ordinal([16, 32, 64]),
}


def family_table(seed: int, best: float = -2.0, rows: int = 300) -> dict[str, Any]:
    """A random search: the loss is least at lr = 10^best, with 4 layers and adam; width and size are noise."""
    rng = np.random.default_rng(seed)
    lr, layers = 10 ** rng.uniform(-5, 0, rows), rng.integers(1, 9, rows)
    optimizer = rng.choice(["adam", "sgd"], rows)
    momentum = np.where(optimizer == "sgd", rng.uniform(0, 0.99, rows), np.nan)
    width = np.round(np.exp(rng.uniform(np.log(8), np.log(1024), rows))).astype(int)
    loss = (np.log10(lr) - best) ** 2 + 0.5 * (optimizer == "sgd") + 0.1 * (layers - 4) ** 2
    loss += np.where(optimizer == "sgd", (np.nan_to_num(momentum) - 0.9) ** 2, 0.0) + 0.1 * rng.normal(size=rows)
    columns = {"lr": lr, "layers": layers, "optimizer": optimizer, "momentum": momentum, "width": width}
    return columns | {"size": rng.choice([16, 32, 64], rows), "loss": loss}


def family(count: int = 3, rows: int = 300, shift: float = 0.3) -> dict[str, pa.Analysis]:
    """Studies whose best learning rates lie a little apart, in powers of ten."""
    tables = {f"study {i}": family_table(i, -2.0 + shift * i, rows) for i in range(count)}
    return {name: pa.analyze(table, "loss", direction="minimize", space=SPACE) for name, table in tables.items()}


def prior_over(analyses: Mapping[str, pa.Analysis], *, target: object = 0.1, **options: Any) -> SearchPrior:
    """`Across.prior` of studies that need not be pooled otherwise."""
    how = {name: options.pop(name) for name in list(options) if name in HOW}
    question = Question(target, **{"estimator": "counts", "force": True, **how})
    return prior_of({name: a.data for name, a in analyses.items()}, question, **options)
