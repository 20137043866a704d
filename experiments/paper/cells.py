"""How many cells are enough, and regions by the objective beside regions by the parameters.

    python experiments/paper/cells.py [--out DIR] [--runs 10]

The paper's Proposition 2 bounds the error of a divergence that is computed on a grid. Here the exact densities of the
4-D function are averaged over equal cells: what is lost is what lies inside a cell. Its appendix B.5 compares two ways
to cut a smaller region: by the objective (as Lebesgue's integral cuts), and by a box of the parameters (as Riemann's).
"""

from __future__ import annotations

import numpy as np
from population import along, divergences, ratios, target_density
from study import COLOURS, DASHES, NAMES, Page, analysis, mean_and_error, options_of, percents, plt

import pedanova as pa

CELLS = [4, 8, 16, 32, 64, 128, 256, 512]
ROWS = 1_000_000
TARGET = 0.1
SIDE = 1000  # of the grid that rows are drawn from, in steps


def divergence_on_cells(d: int, cells: int, target: float) -> float:
    """PED of one parameter where its range, -5 to 5, is cut into so many equal cells."""
    x, mass, _ = along(d, 3)
    wanted = target_density(d, target)[1]
    place = np.minimum((x / 5.0 * (cells // 2)).astype(np.int64), cells // 2 - 1)  # both halves are alike
    base = np.bincount(place, weights=mass)
    inside = np.bincount(place, weights=mass * wanted)
    return float(np.sum(inside**2 / base)) - 1.0


def lost(cells: int, target: float) -> np.ndarray:
    """(4,) The part of every divergence that cells of this size hide."""
    exact = divergences(target)
    return np.array([1.0 - divergence_on_cells(d, cells, target) / exact[d] for d in range(4)])


def cells_table(page: Page) -> None:
    parts = np.array([lost(cells, TARGET) for cells in CELLS])
    figure, ax = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
    for d, name in enumerate(NAMES):
        ax.loglog(CELLS, np.maximum(parts[:, d], 1e-9), color=COLOURS[d], linestyle=DASHES[d], marker="o", label=name)
    ax.loglog(CELLS, 4.0 / np.array(CELLS) ** 2, color="#999999", linewidth=0.8, label="4 / cells²")
    ax.set_xlabel("cells")
    ax.set_ylabel("part of the divergence that is lost")
    ax.legend()
    page.figure(figure, "cells", "What a grid hides of every divergence (best 10 % of all), exactly.")
    lines = [[str(cells), *(f"{100 * part:.3f}" for part in row)] for cells, row in zip(CELLS, parts, strict=True)]
    page.table(["cells", *NAMES], lines, "Part of the divergence that is lost (%), best 10 % of all", docs="cells")
    page.numbers["lost"] = {"cells": CELLS, "parts": parts.tolist()}


def regions_table(page: Page, runs: int, rows: int) -> None:
    """The best tenth of the space as a region, beside a box around the optimum of the same volume."""
    half = 0.1**0.25 * SIDE / 2
    box = dict.fromkeys(NAMES, (SIDE / 2 - half, SIDE / 2 + half))
    by_objective, by_box = [], []
    for seed in range(runs):
        a = analysis(rows, seed)
        by_objective.append(list_of(a.importance(0.01, 0.1, estimator="counts", draws=0)))
        by_box.append(list_of(a.within(box).importance(TARGET, estimator="counts", draws=0)))
    lines = [["exact, best 1 % in the best 10 %", *percents(ratios(0.01, 0.1))]]
    for words, each in (("best 1 % in the best 10 %", by_objective), ("best 10 % in a box of 10 %", by_box)):
        mean, error = mean_and_error(each)
        lines.append([words, *(f"{100 * m:.1f} ± {196 * e:.1f}" for m, e in zip(mean, error, strict=True))])
        page.numbers[words] = mean.tolist()
    page.table(
        ["region", *NAMES], lines, f"Ratios (%) inside two regions of the same size, {rows:,} rows", docs="regions"
    )


def list_of(importances: pa.results.Importances) -> list[float]:
    return [importances.ratios[name] for name in NAMES]


def main() -> None:
    options = options_of(__doc__ or "")
    page = Page(options.out, "cells", "The number of cells; two ways to cut a region")
    cells_table(page)
    regions_table(page, max(1, options.runs // 3), min(ROWS, 10**options.largest))
    page.close()


if __name__ == "__main__":
    main()
