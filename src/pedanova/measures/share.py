"""The share: the fraction of the variance of "in the target?" that a parameter explains, beyond chance.

The same formulas are used for single targets and for arrays of many (draws, permutations, groups, model samples):
PED + 1 = Σ (St)²/(Sb) and noise = Σ S²π/(Sb), summed over the cells. In each cell, t is the target's fraction and b is
the baseline's fraction. S is the smoothing kernel. Random targets are drawn with the probabilities π.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pedanova.base.table import NamedTable, Row
from pedanova.measures.smoothing import BandedKernel, Stack, cached_kernel
from pedanova.space.grid import Block, Reals

Number: TypeAlias = float | Reals
ALL = 1.0 - 1e-9  # a larger part counts as everything
SINGLE_ROW = 1.5  # a cell with at most this many rows says nothing about scatter


class ShareTable(NamedTable[Row]):
    """Rows by parameter, each with a ratio and a share."""

    __slots__ = ()

    @property
    def ratios(self) -> dict[str, float]:
        """The ratio of every parameter by its name."""
        return {row.name: row.ratio for row in self.rows}  # type: ignore[attr-defined]

    @property
    def shares(self) -> dict[str, float]:
        """The share of every parameter by its name."""
        return {row.name: row.share for row in self.rows}  # type: ignore[attr-defined]


def ratio_of(above: Any, below: Any) -> Any:
    """above / below, or 0 where `below` is 0, in the precision of the arguments."""
    if np.ndim(below) > 1 and below.min() > 0:
        return above / below
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    quotient = np.zeros(shape, dtype=np.result_type(above, below, np.float32))
    return np.divide(above, below, out=quotient, where=below > 0)


def summed_ratio(above: Any, below: Any) -> Any:
    """Σ above / below over the cells (last axis); if `below` is the same for all draws, it is inverted only once."""
    if np.ndim(above) > np.ndim(below):
        return above @ ratio_of(1.0, below).astype(above.dtype)
    return ratio_of(above, below).sum(axis=-1)


def without_chance(share: float | Reals, chance: float | Reals) -> Reals:
    """(share - chance) / (1 - chance), where `chance` is the share that chance explains; 0 if `chance` is 1."""
    if isinstance(chance, float):
        rest: Any = 1.0 - chance if chance < ALL else np.inf
    else:
        rest = np.where(chance < ALL, 1.0 - chance, np.inf)
    return (share - chance) / rest + 0.0  # type: ignore[no-any-return]


def share_of(divergence: Number, noise: Number, odds: Number, inside: Number, rows: Number, baseline: str) -> Reals:
    """The corrected share from a divergence; `odds` is the ratio of target rows to other region rows."""
    if baseline == "region":
        return without_chance(odds * divergence, (noise - 1.0) / (rows - 1.0))
    unbiased = (inside * (divergence + 1.0) - noise) / np.maximum(inside - 1.0, 1.0) - 1.0
    return odds * np.where(np.asarray(inside) > 1, unbiased, 0.0)


class Shares(NamedTuple):
    """The shares of many targets: without and with the correction for chance, both (...,)."""

    raw: Reals
    corrected: Reals


def shares(
    targets: Stack,
    regions: Stack,
    blocks: Sequence[Block],
    widths: Sequence[float | Reals],
    *,
    prior: Reals | None = None,
    as_found: bool = False,
    inside: float | None = None,
) -> Shares:
    """The shares of targets (draws, cells); `regions` is (draws, cells), or (cells,) if all targets share a region.

    widths
        The kernel's width for each block: one width, or one for each draw.
    prior
        For a uniform baseline: the probabilities of a uniform draw inside each block.
    as_found
        If True, the correction for chance uses the sampling variance of the observed counts; if False, the variance of
        a random target. The two differ if, for example, one cell has nearly all target rows: then other counts hardly
        vary.
    inside
        The number of rows in every target. Random counts may add up to it only approximately. With a prior, counts are
        divided by `inside`; otherwise by their sum.
    """
    targets = targets.astype(np.result_type(targets, np.float32), copy=False)
    regions = regions.astype(targets.dtype, copy=False)
    counted_rows = targets.sum(axis=-1)
    rows = np.maximum(regions.sum(axis=-1), counted_rows + 1.0)
    size = counted_rows if inside is None or prior is None else inside
    scale, part = rows / size, counted_rows / rows
    divergence, noise = np.zeros(len(targets)), np.zeros(len(targets))
    for block, width in zip(blocks, widths, strict=True):
        target, region = targets[..., block.cells], regions[..., block.cells]
        if not region.any():
            continue
        uniform = None if prior is None else prior[block.cells].astype(targets.dtype)
        base = region if uniform is None else region.sum(axis=-1, keepdims=True) * uniform
        beyond = target * scale[:, None]
        beyond -= base
        counted = target if prior is not None else scatter(target, region, part[:, None]) if as_found else region
        for some, kernel in kernels_of(width, base):
            # With t - b instead of t, the sums add up to PED instead of PED + 1. So a small PED stays precise.
            below, above, scattered = (drawn(one, some) for one in (base, beyond, counted))
            if kernel is not None:
                below, above, scattered = kernel.smooth(below), kernel.smooth(above), kernel.squared_smooth(scattered)
            divergence[some] += summed_ratio(above**2, below)
            noise[some] += summed_ratio(scattered, below)
    divergence /= rows
    if prior is not None:
        noise *= scale
        divergence += 2.0 * (counted_rows / size - 1.0)  # if counts do not sum to `size`: Σ t²/b - 1, not Σ (t - b)²/b
    elif as_found:
        noise *= scale / (1.0 - part)
    odds = (part / (1.0 - part)).astype(np.float64) if inside is None else inside / (rows - inside)
    n, baseline = counted_rows if inside is None else inside, "region" if prior is None else "uniform"
    return Shares(odds * divergence, share_of(divergence, noise, odds, n, rows, baseline))


def kernels_of(width: float | Reals, base: Stack) -> Iterator[tuple[Any, BandedKernel | None]]:
    """Pairs (draws, kernel): the indices of all draws with the same kernel width, and their kernel."""
    cells, each = base.shape[-1], np.unique(width)
    for one in each.tolist():
        some = slice(None) if len(each) == 1 else np.flatnonzero(width == one)
        if one == 0.0:
            yield some, None
        elif base.dtype == np.float32 and np.ndim(width):
            yield some, cached_kernel(cells, one)
        else:
            yield some, BandedKernel.of(cells, one, base.dtype)


def drawn(stack: Stack, some: Any) -> Stack:
    """Take the draws with the indices `some` from an array (draws, cells); an array (cells,) is returned unchanged."""
    if stack.ndim == 1 or isinstance(some, slice):
        return stack
    by_cell = stack.strides[0] < stack.strides[1]  # keeps the draws of a cell contiguous
    chosen: Stack = stack.T.take(some, axis=1).T if by_cell else stack[some]
    return chosen


def scatter(targets: Any, regions: Any, part: Any) -> Any:
    """The sampling variance of the number of target rows in each cell.

    The rows of a cell are in the target with the same probability: the cell's fraction of target rows. For a cell with
    a single row, this probability is `part`, the fraction of target rows among all rows.
    """
    spread = targets * np.maximum(regions - targets, 0.0)
    if regions.min() > SINGLE_ROW:
        spread /= regions - 1.0
        return spread
    several = regions > SINGLE_ROW
    spread /= np.where(several, regions - 1.0, 1.0)
    return np.where(several, spread, targets * (1.0 - part))
