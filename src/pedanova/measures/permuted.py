"""Scores of very many random parts of a region, in stacks of [cell × draw]: `Folded.scores` where rows are many."""

from __future__ import annotations

import numpy as np

from pedanova.measures.folded import Folded, same_widths
from pedanova.measures.narrow_kernel import Singles, kept_kernel
from pedanova.measures.share import Reals, ratio_of, share_of
from pedanova.measures.smoothing import FLAT, NARROWEST, Smoothing, as_bandwidth, fading, scott, smooth, squared_smooth
from pedanova.space.grid import FEW_CELLS, Block


def permuted_scores(folded: Folded, targets: Singles, baseline: str, smoothing: Smoothing) -> Reals:
    """(draws,) The corrected share of every draw, its bandwidths found anew."""
    if baseline != "region":
        return folded.scores(targets.T.astype(np.float64), baseline, smoothing)
    inside, rows = float(folded.target.sum()), float(folded.region.sum())
    draws = targets.shape[1]
    divergence, noise = np.zeros(draws), np.zeros(draws)
    odds = np.float32(rows) / targets.sum(axis=0)
    for block, step in zip(folded.blocks, folded.steps, strict=True):
        cells = slice(block.start, block.stop)
        region = folded.region[cells]
        if not region.any():
            continue
        widths = stacked_widths(smoothing, targets[cells], block, step)
        apart = targets[cells] * odds
        apart -= region.astype(np.float32)[:, None]
        for width in np.unique(widths):
            of = slice(None) if (widths == width).all() else np.flatnonzero(widths == width)
            near = kept_kernel(len(region), float(width)).smooth(apart[:, of])
            base = smooth(region / rows, float(width))
            divergence[of] += ratio_of(1.0, base).astype(np.float32) @ np.square(near)
            noise[of] += ratio_of(squared_smooth(region / rows, float(width)), base).sum()
    return share_of(divergence / rows**2, noise, inside / (rows - inside), inside, rows, "region")


def stacked_widths(smoothing: Smoothing, targets: Singles, block: Block, step: int) -> Reals:
    """(draws,) Bandwidths in folded cells, near ones made equal: `Folded.widths`."""
    draws = targets.shape[1]
    if smoothing != "auto":
        return np.full(draws, as_bandwidth(smoothing, targets[:, 0].astype(np.int64), block) / step)
    if not (block.ordered and step * len(targets) > FEW_CELLS):
        return np.zeros(draws)
    total = targets.sum(axis=0)
    rows = np.maximum(total, 2.0).astype(np.float64)
    places = np.arange(len(targets)) - (len(targets) - 1) / 2.0  # from the middle, so that squares keep their digits
    mean, square = (np.stack([places, places**2]).astype(np.float32) @ targets) / rows
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0) * (rows / (rows - 1.0)))
    widths = scott(rows, deviation, quartile_distance(targets, total)) * fading(rows)
    widths[widths * step < NARROWEST] = 0.0
    widths[total < 2.0] = FLAT * len(targets)
    return same_widths(widths)


def quartile_distance(targets: Singles, total: Singles) -> Reals:
    """(draws,) Cells between the quartiles; they are those of hundreds of rows, so none lies between two of them."""
    reached = np.empty_like(targets)
    reached[0] = targets[0]
    for cell in range(1, len(targets)):  # line by line: several times as fast as a sum down the columns
        np.add(reached[cell - 1], targets[cell], out=reached[cell])
    first, third = (np.add.reduce(reached <= np.float32(part) * total, axis=0, dtype=np.int16) for part in (0.25, 0.75))
    distance: Reals = (third - first).astype(np.float64)
    return distance
