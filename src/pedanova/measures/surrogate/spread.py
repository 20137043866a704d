"""Densities as a model has them: where the points of target and region lie, on the cells of each grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pedanova.counting.contrasts import Contrast
from pedanova.measures.band import Basis, expected_widths
from pedanova.measures.densities import Densities
from pedanova.measures.smoothing import smooth
from pedanova.measures.surrogate.drawn import Drawn, Reals
from pedanova.measures.surrogate.fold import Fold
from pedanova.measures.surrogate.rungs import Span
from pedanova.space.grid import Grid

BLUR = 0.7  # of a counted cell: what is flat inside it is made a curve


def densities_told(
    drawn: Drawn, target: Span, region: Span, words: tuple[str, str], contrasts: Sequence[Contrast]
) -> dict[str, Densities]:
    """Of every parameter, the mean over all draws; the contrasts say where its rows lie."""
    shelf = drawn.shelf()
    wanted, base = (drawn.count(span, shelf).mean(axis=0) for span in (target, region))
    rows = drawn.rungs.size(target), drawn.rungs.size(region)
    known = {contrast.name: contrast for contrast in contrasts}
    found = {}
    for j, name in enumerate(drawn.space):
        cells = slice(int(shelf.starts[j]), int(shelf.starts[j + 1]))
        found[name] = density_told(known[name], shelf.folds[j], wanted[cells], base[cells], words, rows)
    return {name: found[name] for name in known}


def density_told(
    contrast: Contrast, fold: Fold, wanted: Reals, base: Reals, words: tuple[str, str], rows: tuple[int, int]
) -> Densities:
    grid = contrast.grid
    target, region = spread_out(grid, fold, wanted), spread_out(grid, fold, base)
    missing = float(wanted[-1] / wanted.sum()), float(base[-1] / base.sum())
    held = rows[0] * (1.0 - missing[0]), rows[1] * (1.0 - missing[1])
    widths = expected_widths(region, held[0], grid.blocks)
    basis = Basis(contrast.target[: grid.cells], contrast.region[: grid.cells], held, widths, modelled=True)
    return Densities(
        name=contrast.name,
        cells=tuple(grid.centres()),
        target=target,
        region=region,
        uniform=grid.prior / max(float(grid.prior.sum()), 1e-300),
        edges=grid.edges,
        bandwidth=max(blur_of(grid, fold)),
        missing_target=missing[0],
        missing_region=missing[1],
        parameter=grid.parameter,
        basis=basis,
        words=words,
    )


def spread_out(grid: Grid, fold: Fold, counts: Reals) -> Reals:
    """(cells,) Parts of the points that have a value: each folded cell spread over its cells as the prior has it."""
    here = fold.table[: grid.cells]
    mass = np.bincount(here, weights=grid.prior, minlength=fold.cells)
    parts = counts[here] * grid.prior / np.maximum(mass[here], 1e-300)
    parts = parts / max(float(parts.sum()), 1e-300)
    pairs = zip(grid.blocks, blur_of(grid, fold), strict=True)
    return np.concatenate([smooth(parts[block.start : block.stop], width) for block, width in pairs])


def blur_of(grid: Grid, fold: Fold) -> list[float]:
    """For each block, the width of the kernel in cells; none where every cell is counted by itself."""
    widths = []
    for block, folded in zip(grid.blocks, fold.blocks, strict=False):
        together = (block.stop - block.start) / (folded.stop - folded.start)
        widths.append(BLUR * together if block.smoothable and together > 1 else 0.0)
    return widths
