"""A target must lie inside its region: checked before counting by cuts, and after by rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.regions import Region, percent, rank_of
from pedanova.errors import QueryError

FEW_ROWS = 20  # a target smaller than this gives rough numbers
Range = tuple[int, int]  # first level, last level + 1


def check_order(wanted: Region, base: Region) -> None:
    """Refuse quantiles that cannot be nested, whatever the data."""
    if wanted.kind != "quantile" or base.kind != "quantile":
        return
    if bounds(wanted)[0] < bounds(base)[0] or bounds(wanted)[1] > bounds(base)[1]:
        raise QueryError(f"target ({wanted}) must lie inside region ({base}); shrink the target or widen the region")


def check_one_value(region: Region, name: str, objective: str, *, several: bool) -> None:
    if region.kind == "value" and several:
        names = objective.split(", ")
        raise QueryError(
            f"{name} ({region}): {len(names)} objectives have no one value; use a quantile, "
            f"or a condition such as {f'{names[0]} <= 1'!r}"
        )


def bounds(region: Region) -> tuple[Fraction, Fraction]:
    """Where a region of quantiles begins and ends."""
    return Fraction(region.low or 0), Fraction(1 if region.high is None else region.high)


def check_nested(wanted: Region, base: Region, inner: Range, outer: Range, by_level: NDArray[np.int64]) -> None:
    """Target rows must be some, but not all, of the region's rows."""
    inside = int(by_level[slice(*inner)].sum())
    region = int(by_level[slice(*outer)].sum())
    first, last = max(inner[0], outer[0]), min(inner[1], outer[1])
    common = int(by_level[first : max(first, last)].sum())
    if inside == 0:
        raise QueryError(f"target ({wanted}) holds no row; choose a wider one")
    if common < inside:
        raise QueryError(
            f"target ({wanted}) has {inside - common:,} of its {inside:,} rows outside region ({base}); "
            "it must lie inside"
        )
    if inside == region:
        raise QueryError(
            f"target ({wanted}) and region ({base}) hold the same {region:,} rows, by ties or by choice; "
            "choose a smaller target or a larger region"
        )


def query_notes(wanted: Region, base: Region, inside: int, rows: int, total: int, *, own: bool = True) -> list[Note]:
    """What a reader must know of the rows behind an answer; `own`: levels cut from these very rows."""
    asked = (("target", wanted, inside), ("region", base, rows))
    return [note for name, region, held in asked for note in ties_note(name, region, held, total, own=own)]


def ties_note(name: str, region: Region, held: int, total: int, *, own: bool) -> list[Note]:
    """Quantiles that hold other rows than their name says."""
    if region.kind != "quantile":
        return []
    low, high = bounds(region)
    if held == rank_of(high, total) - rank_of(low, total):
        return []
    why = "with ties" if own else "by the levels given"
    return [Note("question", f"{why}, {region} are {percent(Fraction(held, total))} of the rows", subject=name)]


def few_rows_note(inside: int) -> list[Note]:
    if inside >= FEW_ROWS:
        return []
    words = f"the target has only {inside} row{'s' * (inside > 1)}; take these numbers as rough"
    return [Note("doubt", words)]
