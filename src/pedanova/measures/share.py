"""The share: which part of the variance of "in the target?" is explained, beyond chance.

One formula for single numbers and for arrays of draws. PED + 1 = Σ (St)²/(Sb), noise = Σ S²π/(Sb) over the
cells, with the target's parts t, the baseline's b, those that chance draws from π, and the kernel S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.table import NamedTable, Row

Reals: TypeAlias = NDArray[np.float64]
ALL = 1.0 - 1e-9  # a part so large is all there is


class RatioTable(NamedTable[Row]):
    """Rows by parameter, each with a ratio."""

    __slots__ = ()

    @property
    def ratios(self) -> dict[str, float]:
        """The ratio of every parameter by its name."""
        return {row.name: row.ratio for row in self.rows}  # type: ignore[attr-defined]


class ShareTable(RatioTable[Row]):
    """Rows by parameter, each with a ratio and a share."""

    __slots__ = ()

    @property
    def shares(self) -> dict[str, float]:
        """The share of every parameter by its name."""
        return {row.name: row.share for row in self.rows}  # type: ignore[attr-defined]


def with_ratios(rows: Sequence[Any]) -> list[Any]:
    """The rows with their parts of the summed variance."""
    total = sum(row.variance for row in rows)
    return [replace(row, ratio=row.variance / total) for row in rows] if total > 0 else list(rows)


def ratio_of(above: Reals | float, below: Reals) -> Reals:
    """0 where there is nothing to divide by."""
    shape = below.shape
    if np.ndim(above) and np.shape(above) != shape:
        shape = np.broadcast_shapes(np.shape(above), shape)
    return np.divide(above, below, out=np.zeros(shape), where=below > 0)


def summed_ratio(above: Reals, below: Reals) -> Reals:
    """Σ above / below over the cells, which are the last axis."""
    total: Reals = ratio_of(above, below).sum(axis=-1)
    return total


def corrected(share: float | Reals, chance: float | Reals) -> Reals:
    """The share beyond what chance explains; 0 where chance explains everything."""
    rest: Reals = np.where(np.asarray(chance) < ALL, 1.0 - chance, np.inf)
    return (share - chance) / rest + 0.0


def share_of(
    divergence: float | Reals,
    noise: float | Reals,
    odds: float | Reals,
    inside: float | Reals,
    rows: float | Reals,
    baseline: str,
) -> Reals:
    """From the divergence; `odds` are those of a row of the region to be one of the `inside` rows of the target."""
    if baseline == "region":
        return corrected(odds * divergence, (noise - 1.0) / (rows - 1.0))
    unbiased = (inside * (divergence + 1.0) - noise) / np.maximum(inside - 1.0, 1.0) - 1.0
    return odds * np.where(np.asarray(inside) > 1, unbiased, 0.0)
