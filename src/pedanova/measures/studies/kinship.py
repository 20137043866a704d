"""What two studies are to each other: the same rows, one continued, configurations run again, another search?

Told from the data: rows are compared by their values while they are at hand; how rows were drawn, by the counts of
all rows in each cell.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.counting.few_rows import counted_rows
from pedanova.counting.tally import Tally
from pedanova.data.column import Column
from pedanova.errors import listed
from pedanova.measures.asks import Asks
from pedanova.measures.chisquare import chi2_tail
from pedanova.measures.significance import LEVEL, holm
from pedanova.space.comparison import CommonSpace, same_cells

Keys: TypeAlias = NDArray[np.uint64]
Relation: TypeAlias = Literal["same", "continued", "again", "other", "unknown"]
MOST = 0.9  # of the rows of the smaller study: found in the other, they are the same rows
MANY = 0.5  # of its configurations: run again
MOST_ROWS = 2_000_000  # beyond, rows are not compared one by one
BINS, LEAST = 10, 5  # of a comparison of counts, and rows that each must expect
MIX, START = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x2545F4914F6CDD1D)


@dataclass(frozen=True, slots=True)
class StudyKinship:
    """What the second study is to the first.

    relation
        ``"same"`` rows; ``"continued"``: the rows of one are all in the other; ``"again"``: the same configurations
        with other results, as with another seed of the training; ``"other"`` configurations; ``"unknown"`` where the
        rows are no longer at hand.
    common
        The part of the smaller study's rows (for ``"again"``, of its configurations) that the other has.
    longer
        For ``"continued"``: which is the longer one, 1 or 2.
    drawn
        Parameters whose values were drawn differently, with parameters shared by both spaces alone compared.
    space
        Whether the spaces are the same.
    """

    relation: Relation
    common: float
    longer: int | None
    drawn: tuple[str, ...]
    space: bool

    def in_words(self) -> str:
        known = {
            "same": "both hold the same rows",
            "continued": "the {} study is the {} continued: it holds the other's rows".format(
                *(("second", "first") if self.longer == 2 else ("first", "second"))
            ),
            "again": f"the same configurations were run again ({self.common:.0%}), with other results: "
            "another seed of the training, or another task",
            "other": "other configurations were run",
            "unknown": "the rows are no longer at hand, so whether one continues the other cannot be told",
        }[self.relation]
        return f"{known}; {self._search()}"

    def _search(self) -> str:
        if not self.space:
            return "the search spaces differ"
        if self.drawn:
            return f"another sampler: {listed(list(self.drawn), most=3)} were not drawn alike, in the same space"
        alike = "in the same space, drawn alike"
        return f"{alike}: another seed of the same search" if self.relation == "other" else alike

    @property
    def note(self) -> Note:
        return Note("answer", self.in_words())


def kinship_of_studies(a: Asks, b: Asks, shared: CommonSpace) -> StudyKinship:
    """Compare rows, configurations, spaces, and how rows were drawn."""
    relation, common, longer = compared_rows(a, b, (*shared.alike, *shared.narrowed))
    drawn = () if relation == "same" else drawn_unlike(a, b, shared.alike)
    return StudyKinship(relation, common, longer, drawn, shared.same)


def compared_rows(a: Asks, b: Asks, names: tuple[str, ...]) -> tuple[Relation, float, int | None]:
    """Which rows both have, by the values of the parameters that both have, and by the objective."""
    settings = [keys_of(one, names) for one in (a, b)]
    one, two = settings
    if one is None or two is None or not names:
        return "unknown", 0.0, None
    small = 0 if len(one[0]) <= len(two[0]) else 1
    rows = part_in(settings[small][1], settings[1 - small][1])  # type: ignore[index]
    if rows >= MOST:
        same = min(len(one[0]), len(two[0])) >= MOST * max(len(one[0]), len(two[0]))
        return ("same", rows, None) if same else ("continued", rows, 2 - small)
    configurations = part_in(settings[small][0], settings[1 - small][0])  # type: ignore[index]
    return ("again", configurations, None) if configurations >= MANY else ("other", configurations, None)


def part_in(one: Keys, two: Keys) -> float:
    return float(np.isin(one, two).mean()) if len(one) else 0.0


def keys_of(a: Asks, names: tuple[str, ...]) -> tuple[Keys, Keys] | None:
    """A number for every row that counts: of its configuration, and of that with its objective."""
    observed = a.observations
    if observed is None or len(observed) > MOST_ROWS or any(name not in observed.table for name in names):
        return None
    rows = np.flatnonzero(counted_rows(observed, a.levels.nan))
    keys = np.full(len(rows), START)
    for name in names:
        keys = mixed(keys, bits_of(observed.table[name])[rows])
    objective = np.asarray(observed.objective, dtype=np.float64)[rows] + 0.0
    return keys, mixed(keys, objective.view(np.uint64))


def bits_of(column: Column) -> Keys:
    """The same number for the same value, whatever the type of its column."""
    if column.labels is not None:
        codes = [_label_key(label) for label in column.labels]
        table: Keys = np.array([*codes, 0], dtype=np.uint64)  # the last for rows without a value
        return table[np.where(column.values < 0, len(codes), column.values)]
    numbers: NDArray[Any] = np.asarray(column.values, dtype=np.float64) + 0.0
    return numbers.view(np.uint64)


def _label_key(label: object) -> int:
    """Labels that are numbers are as numbers are."""
    if isinstance(label, int | float):
        return int(np.float64(label).view(np.uint64))
    return zlib.crc32(str(label).encode())


def mixed(keys: Keys, values: Keys) -> Keys:
    with np.errstate(over="ignore"):
        turned = (keys ^ values) * MIX
    return turned ^ (turned >> np.uint64(29))


def drawn_unlike(a: Asks, b: Asks, names: tuple[str, ...]) -> tuple[str, ...]:
    """Parameters whose rows lie differently in the same cells: a chi-square of the counts, all taken together."""
    same = [name for name in names if same_cells(a.tallies[name].parameter, b.tallies[name].parameter)]
    if not same:
        return ()
    p_values = [two_samples(by_cell(a.tallies[name]), by_cell(b.tallies[name])) for name in same]
    return tuple(name for name, p in zip(same, holm(p_values), strict=True) if p <= LEVEL)


def by_cell(tally: Tally) -> NDArray[np.int64]:
    found: NDArray[np.int64] = tally.counts.sum(axis=0)
    return found


def two_samples(one: NDArray[np.int64], two: NDArray[np.int64], bins: int = BINS) -> float:
    """How often two draws from one law lie so differently in cells; cells in order are put together."""
    both = one + two
    smaller = min(int(one.sum()), int(two.sum()))
    if smaller < 2 * LEAST:
        return 1.0
    wanted = max(2, min(bins, smaller // LEAST))
    place = (np.cumsum(both) - both / 2.0) / both.sum()
    groups = np.minimum((place * wanted).astype(np.int64), wanted - 1)
    table = np.stack([np.bincount(groups, weights=part, minlength=wanted) for part in (one, two)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    return chi2_tail(float(np.sum((table - expected) ** 2 / expected)), table.shape[1] - 1)
