"""Target and region rows of every group by cell, in one pass over each column.

Groups are counted together where each would be too small to be worth a pass of its own: a row's code says its group
and whether it is among the best of it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.arrays import count_codes
from pedanova.counting.grouped import GroupedRows
from pedanova.data.regions import rank_of, sign_of
from pedanova.space.parameters import Space

Counts: TypeAlias = NDArray[np.int64]  # (groups, cells + 2)
PIECE = 1 << 20  # rows that are looked at together
MOST_GROUPS = 30_000  # codes have 16 bits


def best_codes(groups: GroupedRows, part: Fraction) -> NDArray[np.uint16]:
    """(rows,) Twice the group's place, and one more for a row that is not among its best; the last is of no group."""
    observed, last = groups.observed, 2 * len(groups.labels)
    ranked, sign = observed.ranked, sign_of(observed.direction)
    ends = ends_of_groups(groups, part)
    codes = np.full(len(ranked), last, dtype=np.uint16)
    for start in range(0, len(ranked), PIECE):
        rows = slice(start, start + PIECE)
        values, own = sign * ranked[rows], groups.codes[rows]
        counted = ~np.isnan(values) & (own < len(groups.labels))
        if observed.keep is not None:
            counted &= observed.keep[rows]
        behind = values > ends[np.minimum(own, len(ends) - 1)]
        codes[rows] = np.where(counted, 2 * own.astype(np.int64) + behind, last)
    return codes


def ends_of_groups(groups: GroupedRows, part: Fraction) -> NDArray[Any]:
    """(groups,) Signed objectives at which the best part of each group ends; NaN where a group has no row."""
    observed = groups.observed
    sign = sign_of(observed.direction)
    ends = np.full(len(groups.labels), np.nan, dtype=np.result_type(observed.ranked.dtype, np.float32))
    place = {label: i for i, label in enumerate(groups.labels)}
    for name, span in groups.spans.items():
        rows = span if groups.order is None else groups.order[span]
        values = observed.ranked[rows]
        if observed.keep is not None:
            values = values[observed.keep[rows]]
        values = sign * values[~np.isnan(values)]
        if len(values):
            rank = rank_of(part, len(values))
            ends[place[name]] = np.partition(values, rank - 1)[rank - 1]
    return ends


def count_groups(groups: GroupedRows, name: str, codes: NDArray[np.uint16]) -> tuple[Counts, Counts]:
    """Target and region rows of one parameter by [group × cell]."""
    observed = groups.observed
    alone = replace(observed, columns={name: observed.columns[name]}, space=Space({name: observed.space[name]}))
    counts, _ = count_codes(alone, codes, 2 * len(groups.labels))[name]
    target, rest = counts[0::2], counts[1::2]
    return target, target + rest
