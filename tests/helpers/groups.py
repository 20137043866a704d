"""One table of several studies, one of which is unlike the others."""

from __future__ import annotations

from typing import Any

import numpy as np

import pedanova as pa

ODD = "letter"


def studies_table(studies: int = 5, rows: int = 80, seed: int = 0) -> dict[str, Any]:
    """In every study `lr` decides, in the odd one `depth`; each has a scale of its own."""
    rng = np.random.default_rng(seed)
    names = [ODD, *(f"task {i:03}" for i in range(1, studies))]
    dataset = rng.permutation(np.repeat(names, rows))
    lr, depth, dull = rng.random((3, len(dataset)))
    near = np.where(dataset == ODD, depth, lr)
    scale = np.array([names.index(one) for one in dataset])
    loss = 10 * scale + (near - 0.3) ** 2 + 0.02 * rng.random(len(dataset))
    return {"lr": lr, "depth": depth, "dull": dull, "dataset": dataset, "loss": loss}


def studies_of(studies: int = 5, rows: int = 80) -> pa.Analysis:
    return pa.analyze(studies_table(studies, rows), "loss", exclude=["dataset"])
