"""The paper's two rules for a smaller space, applied literally; `Analysis.reduce` tells parameters from noise first.

    python experiments/paper/domains.py

A domain is cut to where the target's density is at least that of a uniform draw, p(x) ≥ u(x). A parameter whose
importance is low both over all rows and among the best is fixed where the target is densest. The paper gives no
number for low; here it is a tenth of an even part.
"""

from __future__ import annotations

import numpy as np

import pedanova as pa
from pedanova.errors import PedanovaError
from pedanova.space.parameters import parents_of

LOW = 0.1  # of an even part


def paper_domains(a: pa.Analysis, target: float = 0.1, estimator: str = "counts") -> dict[str, list[object]]:
    """The values that are left of every parameter: middles of cells, categories, or places of an order."""
    low = low_parameters(a, target, estimator)
    domains = {}
    for name, density in a.densities(None, target, estimator=estimator).items():
        ratio = density.target / np.maximum(density.uniform, 1e-300)
        dense = np.flatnonzero(ratio >= 1.0 - 1e-9)
        if name in low:
            dense = np.array([np.argmax(ratio)])
        elif not isinstance(a.space[name], pa.Categorical):
            dense = np.arange(dense[0], dense[-1] + 1)
        domains[name] = [density.cells[cell] for cell in dense]
    return domains


def low_parameters(a: pa.Analysis, target: float, estimator: str) -> set[str]:
    """Parameters that are low over all rows and among the best; none where the best rows are too few."""
    try:
        local = a.importance(target / 10, target, estimator=estimator, draws=0, of="rows").ratios
    except PedanovaError:
        return set()
    ratios = a.importance(target, estimator=estimator, draws=0, of="rows").ratios
    parents = {parent for parameter in a.space.values() for parent in parents_of(parameter)}
    low = {name for name in ratios if max(ratios[name], local[name]) < LOW / len(ratios)}
    return low - parents


if __name__ == "__main__":
    for name, values in paper_domains(pa.analyze(pa.demo_trials(), "error")).items():
        print(f"{name}: {values[0]} … {values[-1]}, {len(values)} cells")
