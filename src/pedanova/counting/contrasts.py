"""Count target rows and region rows in every cell of each parameter; check that the region contains the target."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.counting.arrays import count_codes, kept_codes, level_codes
from pedanova.counting.few_rows import counted_rows
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Tally
from pedanova.data.column import Mask
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.regions import LEAST_TARGET, Direction, Region, RowSet, cut_at, rank_of, sign_of
from pedanova.errors import Arg, QueryError
from pedanova.space.grid import EXTRA_CELLS, Grid, even_groups, grid_of, uneven
from pedanova.space.parameters import Space, children_of

FEW_ROWS = 20  # a target smaller than this gives rough numbers
Range = tuple[int, int]  # first level, last level + 1
Counts: TypeAlias = NDArray[np.int64]  # (cells + 2,)
Codes: TypeAlias = NDArray[np.uint8]  # (rows,) 0 in the target, 1 elsewhere in the region, 2 elsewhere


def check_one_value(region: Region, name: str, objective: str, *, several: bool) -> None:
    if region.kind == "value" and several:
        names = objective.split(", ")
        raise QueryError(
            f"{name} ({region}): one limit cannot be used with {len(names)} objectives; use a quantile, "
            f"or a condition such as {f'{names[0]} <= 1'!r}"
        )


def bounds(region: Region) -> tuple[Fraction, Fraction]:
    return Fraction(region.low or 0), Fraction(1 if region.high is None else region.high)


def check_nested(wanted: Region, base: Region, inner: Range, outer: Range, by_level: NDArray[np.int64]) -> None:
    """Raise an error if the target is empty, not inside the region, or equal to the region."""
    first, last = max(inner[0], outer[0]), min(inner[1], outer[1])
    inside, rows, common = (int(by_level[slice(*span)].sum()) for span in (inner, outer, (first, max(first, last))))
    better = int(by_level[outer[0] : inner[1] - 1].sum())  # rows that are better than the last, tied rows of the target
    words: list[str | Arg] = [
        " (because of ties, or because target and region are equal); choose a smaller target or a larger region"
    ]
    if wanted == base and wanted.kind == "quantile" and not outer[0]:
        words = ["; choose a smaller target, such as ", Arg("target", float(bounds(wanted)[1]) / 2)]
    elif wanted.kind == "quantile" and not outer[0] and better:
        part = math.floor(1e4 * better / int(by_level.sum())) / 1e4 or better / int(by_level.sum())
        words = [
            f", because {rows - better:,} of them are tied; pass ",
            Arg("target", part),
            f" to select only the {better:,} rows that are better",
        ]
        if better < LEAST_TARGET:
            tied = f", because {rows - better:,} of them are tied; better rows: {better}, but an answer needs at least "
            words = [f"{tied}{LEAST_TARGET}; run more trials, or use another objective"]
    check_sizes(wanted, base, inside, inside - common, rows, *words)


def check_sizes(wanted: object, base: object, inside: int, stray: int, rows: int, *same: str | Arg) -> None:
    """Raise an error if the target is empty, has rows outside the region, or contains all rows of the region."""
    if inside == 0:
        raise QueryError(f"target ({wanted}) contains no row; choose a wider target")
    if stray:
        raise QueryError(
            f"target ({wanted}) has {inside:,} rows, and {stray:,} of them are outside region ({base}); "
            "choose a smaller target, or a region that contains the target"
        )
    if inside == rows:
        raise QueryError(f"target ({wanted}) and region ({base}) contain the same {rows:,} rows", *same)


def query_notes(wanted: Region, base: Region, inside: int, rows: int, total: int, *, own: bool = True) -> list[Note]:
    regions = (("target", wanted, inside), ("region", base, rows))
    return [note for name, region, many in regions for note in ties_note(name, region, many, total, own=own)]


def ties_note(name: str, region: Region, many: int, total: int, *, own: bool) -> list[Note]:
    """A note if the number of rows in a quantile is unexpected, because of ties or levels from another analysis."""
    if region.kind != "quantile":
        return []
    low, high = bounds(region)
    if many == rank_of(high, total) - rank_of(low, total):
        return []
    why = "because of ties" if own else "with the levels of the other analysis"
    return [Note("question", f"{why}, {region} are {many:,} of {total:,} rows", subject=name)]


def few_rows_note(inside: int) -> list[Note]:
    if inside >= FEW_ROWS:
        return []
    words = f"the target has only {inside} row{'s' * (inside > 1)}, so these numbers are rough"
    return [Note("doubt", words)]


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The number of target rows and of region rows in every cell of one parameter."""

    name: str
    grid: Grid
    target: Counts
    region: Counts
    child: bool = False  # whether a parent decides if it has a value; that effect belongs to the parent
    repeats: float = 1.0  # the number of rows that count as one independent row

    def independent(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both counts divided by `repeats`, because repeated rows are not independent."""
        if self.repeats == 1.0:
            return self.target, self.region
        return self.target / self.repeats, self.region / self.repeats

    def by_counts(self) -> Contrast:
        """The same contrast with categories sorted by their counts, so that draws do not depend on their names."""
        order = np.arange(self.grid.width)
        for block in self.grid.blocks:
            if not block.ordered:
                order[block.cells] = block.start + np.lexsort((self.target[block.cells], self.region[block.cells]))
        return replace(self, target=self.target[order], region=self.region[order])

    def thinned(self) -> Contrast:
        """The same contrast with counts divided by `repeats` and rounded to whole numbers."""
        if self.repeats == 1.0:
            return self
        target, rest = (
            np.diff(np.rint(np.cumsum(counts) / self.repeats), prepend=0.0).astype(np.int64)
            for counts in (self.target, self.region - self.target)
        )
        return replace(self, target=target, region=target + rest, repeats=1.0)

    def evened(self) -> Contrast:
        """The counts in fewer cells with equally many region rows, if these rows are spread unevenly.

        A kernel that is as wide everywhere blurs rows that crowd, and elsewhere cells have too few rows to correct for
        chance. Both happen inside a region. A share does not depend on the scale of the parameter.
        """
        rows = self.independent()[1]
        spread = (
            block.smoothable and uneven(self.grid.prior[block.cells], rows[block.cells]) for block in self.grid.blocks
        )
        if self.grid.labels is not None or not any(spread):  # a label is a cell
            return self
        groups = [
            even_groups(self.region[block.cells]) if block.smoothable else np.arange(len(block))
            for block in self.grid.blocks
        ]
        coarse = self.grid.coarsened(groups, apart=True)
        cells = coarse.cells - EXTRA_CELLS
        grid = Grid(self.grid.parameter, cells, coarse.prior[:cells], coarse.blocks[:-EXTRA_CELLS])
        target, region = (np.bincount(coarse.table, weights=one).astype(np.int64) for one in (self.target, self.region))
        return replace(self, grid=grid, target=target, region=region)

    @property
    def varies(self) -> bool:
        return int(np.count_nonzero(self.region)) > 1


def from_tallies(tallies: Mapping[str, Tally], target: Range, region: Range) -> list[Contrast]:
    children = children_of({name: tally.parameter for name, tally in tallies.items()})
    return [
        Contrast(name, tally.grid, tally.between(*target), tally.between(*region), name in children)
        for name, tally in tallies.items()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """A target inside a region: the rows of the region that are also among the best `part` of all rows."""

    part: Fraction
    held: float  # the actual part of all rows, with ties
    rows: int  # the number of target rows
    target: Region  # from the beginning of the region
    tallies: Mapping[str, Tally]
    inner: Range
    outer: Range

    def contrasts(self) -> list[Contrast]:
        return from_tallies(self.tallies, self.inner, self.outer)


def slices_of(
    tallies: Mapping[str, Tally], base: Region, parts: Sequence[Fraction]
) -> tuple[list[Slice], list[Fraction]]:
    """A target for each quantile in `parts`, strictest first; all `parts` must be in ``levels.quantiles``.

    Targets that are empty, equal to the region or not inside it are left out. If ties make several targets
    equal, only the strictest is kept, and the quantiles of the others are returned as a second list.
    """
    tally = next(iter(tallies.values()))
    levels, by_level = tally.levels, tally.by_level
    outer = levels.find(base, by_level)
    region, total = int(by_level[slice(*outer)].sum()), max(1, int(by_level.sum()))
    slices: list[Slice] = []
    same: list[Fraction] = []
    for part in parts:
        end = levels.find(Region.parse(part, "target"), by_level)[1]
        rows = int(by_level[outer[0] : end].sum())
        if end > outer[1] or rows in (0, region):
            continue
        if slices and rows == slices[-1].rows:
            same.append(part)
            continue
        share = float(by_level[:end].sum()) / total
        target = up_to(base, part, float(levels.thresholds[end - 1]), levels.direction)
        slices.append(Slice(part, share, rows, target, tallies, (outer[0], end), outer))
    return slices, same


def up_to(base: Region, part: Fraction, threshold: float, direction: Direction) -> Region:
    """The region from the best end of `base` to `threshold`, where the best fraction `part` of all rows ends."""
    if base.kind == "quantile" or base.cuts(direction)[0] is None:
        return Region("quantile", base.low if base.kind == "quantile" else Fraction(0), part)
    ends = (base.low, threshold) if sign_of(direction) > 0 else (threshold, base.high)
    return Region("value", *ends)


def from_codes(
    observed: Observations, codes: Codes, *, threads: int, names: Collection[str] | None = None
) -> list[Contrast]:
    children = children_of(observed.space)
    if names is not None:
        observed = replace(
            observed, space=Space({name: observed.space[name] for name in observed.space if name in names})
        )
    counted = count_codes(observed, codes, 2, threads=threads)
    return [
        Contrast(name, grid_of(parameter), counted[name][0][0], counted[name][0].sum(axis=0), name in children)
        for name, parameter in observed.space.items()
    ]


def codes_of_levels(
    observed: Observations,
    levels: Levels,
    target: Range,
    region: Range,
    *,
    threads: int,
    rows: NDArray[np.int64] | None = None,
) -> Codes:
    """A code for each row, as an array (rows,): 0 in the target, 1 elsewhere in the region, 2 outside the region."""
    parts = np.full(levels.count + 1, 2, dtype=np.uint8)  # the last entry is for rows that do not count
    parts[slice(*region)] = 1
    parts[slice(*target)] = 0
    of_levels = (
        kept_codes(observed, levels, threads=threads) if rows is None else level_codes(observed.ranked[rows], levels)
    )
    return np.asarray(parts[of_levels])


def codes_of_rows(observed: Observations, wanted: Region | RowSet, base: Region | RowSet, nan: NanPolicy) -> Codes:
    """The codes of `codes_of_levels` for sets of rows; raises an error if the region does not contain the target."""
    counted = counted_rows(observed, nan)
    target, region = rows_in(wanted, observed, counted), rows_in(base, observed, counted)
    sizes = int(target.sum()), int(np.sum(target & ~region)), int(region.sum())
    check_sizes(wanted, base, *sizes, "; choose a smaller target")
    return np.where(target, 0, np.where(region, 1, 2)).astype(np.uint8)


def rows_in(rows: Region | RowSet, observed: Observations, counted: Mask) -> Mask:
    if isinstance(rows, RowSet):
        return rows.mask & counted
    return cut_at(observed.ranked, counted, rows, observed.direction)
