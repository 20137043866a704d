"""Answers of very many groups of one table at once, where plain counts of a usual question answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.group_counts import MOST_GROUPS, best_codes, count_groups
from pedanova.counting.grouped import GroupedRows
from pedanova.data.regions import as_region
from pedanova.data.row_selection import needs_rows
from pedanova.measures.importance import Importances, ranked
from pedanova.measures.significance import LEAST_TARGET
from pedanova.measures.studies.many import ManyShares, shares_of_many
from pedanova.measures.surrogate.estimate import MOST_ROWS
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal

USUAL = {"baseline": "region", "smoothing": "auto"}


def ready_answers(
    groups: GroupedRows,
    target: object,
    region: object,
    options: Mapping[str, Any],
    chosen: NDArray[np.bool_] | None = None,
    parts: str = "selected",
) -> dict[str, Importances]:
    """Answers of the groups that need no model, without draws; none where that cannot be had.

    Of `chosen` rows alone, where they are given: the best are a part of those, or of all rows of a group. Other
    questions, and groups that are odd in some way, are left to be asked one by one.
    """
    part = usual_part(groups, target, region, options)
    if part is None:
        return {}
    codes = codes_among(groups, part, chosen, parts)
    least = 0 if options.get("estimator") == "counts" else MOST_ROWS
    every: list[ManyShares] = []
    large = np.zeros(0, dtype=np.int64)
    for name, parameter in groups.observed.space.items():
        targets, regions = count_groups(groups, name, codes)
        grid = grid_of(parameter)
        if regions[:, [grid.missing, grid.outside]].any():
            return {}
        if not every:
            inside, rows = targets.sum(axis=1), regions.sum(axis=1)
            large = np.flatnonzero((rows > least) & (inside >= LEAST_TARGET) & (inside < rows))
            if not len(large):
                return {}
        every.append(shares_of_many(name, grid, targets[large], regions[large]))
    words = str(as_region(target, "target")), str(as_region(region, "region"))
    return {
        groups.labels[place]: Importances(ranked([one.importance(i) for one in every]), *words, "region")
        for i, place in enumerate(large.tolist())
    }


def codes_among(
    groups: GroupedRows, part: Fraction, chosen: NDArray[np.bool_] | None, parts: str
) -> NDArray[np.uint16]:
    """(rows,) As `best_codes`, of chosen rows; others are of no group."""
    if chosen is None:
        return best_codes(groups, part)
    if parts == "all":
        codes = best_codes(groups, part)
        codes[~chosen] = 2 * len(groups.labels)
        return codes
    keep = groups.observed.keep
    kept = replace(groups.observed, keep=chosen if keep is None else chosen & keep)
    return best_codes(replace(groups, observed=kept), part)


def usual_part(groups: GroupedRows, target: object, region: object, options: Mapping[str, Any]) -> Fraction | None:
    """The best part that is asked for, of all rows of a group; None for any other question."""
    observed = groups.observed
    usual = all(options.get(key, value) == value for key, value in USUAL.items())
    counts = options.get("estimator", "auto") in ("auto", "counts") and len(groups.labels) <= MOST_GROUPS
    plain = len(observed.goals) == 1 and observed.order is None and observed.ranked.dtype.kind == "f"
    domains = observed.space.values()
    unconditional = all(isinstance(p, Float | Int | Ordinal | Categorical) and not p.when for p in domains)
    if not (usual and counts and plain and unconditional) or needs_rows(target) or needs_rows(region):
        return None
    wanted, base = as_region(target, "target"), as_region(region, "region")
    if not base.is_all or wanted.kind != "quantile" or wanted.low or wanted.is_all or wanted.high is None:
        return None
    return Fraction(wanted.high)
