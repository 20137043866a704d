"""Rows as the cells they lie in, best first: all that counting needs, and nothing of their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import FewRows


@dataclass(frozen=True, slots=True, eq=False)
class BinnedRows:
    """Cells by parameter, the rows in order of the objective."""

    cells: Mapping[str, NDArray[Any]]  # (rows,) each: bytes, or 16 bit where a grid has more cells
    tied: NDArray[np.bool_]  # (rows,) whether a row is exactly as good as the one before it

    def __len__(self) -> int:
        return len(self.tied)


def binned(rows: FewRows) -> BinnedRows:
    """Rows that are equally good stay in the order they came in: nothing else is told of them."""
    order = np.argsort(rows.signed, kind="stable")
    signed = rows.signed[order]
    tied = np.zeros(len(order), dtype=bool)
    tied[1:] = signed[1:] == signed[:-1]
    return BinnedRows({name: narrow(cells[order]) for name, cells in rows.cells.items()}, tied)


def narrow(cells: NDArray[Any]) -> NDArray[Any]:
    return cells.astype(np.uint8 if cells.max(initial=0) < 256 else np.uint16)
