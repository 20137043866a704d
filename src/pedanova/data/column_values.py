"""Properties of a column's values that suggest its role; for example, parameters often have few or round values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import LAST_PLACES, PLAIN, Column, Mask, all_finite, in_form, read_plain
from pedanova.data.vocabulary import as_flag

LEAST_ROWS = 10  # the fewest rows of a column that may be an id; fewer may be distinct by chance
FIRST_ROWS = 100  # checked first, because these rows often show that a property is false
MOST_WORDS = 3  # words among numbers; with more, the column is a category
FEW_NUMBERS = 12  # with at most this many numbers beside words, the column is a category
MOST_STEPS = 200  # the largest number of values of a lattice
A_LOOK = 1_000  # numbers in a first check, which has more distinct ones unless they lie on a lattice
TOGETHER = 0.8  # rank correlation from which two columns move together
LEAST_GRID = 8  # the fewest combinations of a grid
LEAST_POWER = 8  # powers of two up to at least this one are set, not counted
MOST_COUNTED = 20  # whole numbers up to this one may be counts
LEAST_TIMES = 4  # rows per value that show whether values are equally frequent up to chance
LEAST_DRAWN = 100  # rows that show that numbers were drawn at random, if no other column was
EVEN = 2.0  # Kolmogorov's statistic, which one of 1,500 uniform draws exceeds
LARGEST = 1e100  # parameters have no larger values
SMALLEST = 1e-300  # smaller numbers have no decimal mantissa
MOSTLY = 0.8  # share of round numbers among numbers that people choose
MOST_COMPARED = 300  # columns that are compared in pairs
MOST_CELLS = 0.9  # share of its combinations that a nearly complete design has
NEARLY = 0.95  # share of the rows of a full grid that a grid with a few missing rows has
MOST_TEXTS = 0.6  # distinct texts per row, above which a column is not a category
ROUND = (0.0, *range(10_000, 100_000, 10_000), 12_500, 15_000, 25_000, 75_000)  # mantissas of round numbers
SMOOTH = 0.1  # changes of direction per row, below which a column is smooth


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a column, with properties that help to guess its role."""

    kind: Literal["empty", "dates", "words", "flags", "numbers"]
    present: NDArray[Any]  # numbers, or codes of words
    full: bool = True  # whether every row has a value
    texts: tuple[str, ...] = ()  # the different words
    levels: int | None = None  # the number of distinct numbers, if they are few for this many rows
    gaps: Mask | None = None  # the rows without a value, if there are some

    @classmethod
    def of(cls, column: Column) -> Values:
        plain = column.labels is None and column.missing is None and not column.is_time and all_finite(column.values)
        absent = None if plain else column.absent()
        full = absent is None or not absent.any()
        present = column.values if absent is None or full else column.values[~absent]
        gaps = None if full else absent
        if column.is_time or not len(present):
            return cls("dates" if column.is_time else "empty", present, full)
        if column.labels is not None:
            texts = tuple(str(column.labels[code]) for code in np.flatnonzero(np.bincount(present)))
            if is_mixed(texts):
                column = in_form(column, PLAIN)
                present = column.values[~column.absent()]
            else:
                flags = None not in map(as_flag, texts)
                return cls("flags" if flags else "words", present, full, texts, gaps=gaps)
        if present.dtype.kind == "b":
            return cls("flags", present, full, gaps=gaps)
        finite = present if plain or present.dtype.kind != "f" else present[np.isfinite(present)]
        distinct = few_distinct(finite) if len(finite) else None
        kind: Any = "flags" if distinct is not None and set(distinct.tolist()) == {0, 1} else "numbers"
        return cls(kind, finite, full, levels=None if distinct is None else len(distinct), gaps=gaps)

    @property
    def is_few(self) -> bool:
        """Whether the number of distinct values is small for the number of rows."""
        if self.kind == "words":
            return 2 * len(self.texts) <= len(self.present)
        return self.kind == "flags" or self.levels is not None

    @property
    def by_row(self) -> NDArray[Any]:
        """One value or code for each row, where rows without a value share a code; infinite numbers are left out."""
        if self.gaps is None or np.count_nonzero(~self.gaps) != len(self.present):
            return self.present
        codes = np.zeros(len(self.gaps), dtype=np.int64)
        codes[~self.gaps] = np.unique(self.present, return_inverse=True)[1] + 1
        return codes

    @property
    def is_numbered(self) -> bool:
        """Whether the values are the integers from 0 or 1 up to the largest, as ranks and numbers of repeats are."""
        some = np.unique(self.some) if self.kind == "numbers" else np.zeros(0)
        return len(some) > 0 and some[0] in (0, 1) and bool(np.all(np.diff(some) == 1))

    @property
    def some(self) -> NDArray[Any]:
        return self.present[:: max(1, len(self.present) // A_LOOK)]

    def is_like(self, other: Values) -> bool:
        return self.kind == other.kind and self.is_few == other.is_few

    @property
    def varies(self) -> bool:
        return len(self.present) > 0 and bool(np.any(self.present != self.present[0]))

    @property
    def is_balanced(self) -> bool:
        """Whether there are several distinct values that all occur equally often."""
        levels = len(self.texts) or self.levels or 2
        if levels == 1 or len(self.present) % levels:
            return False
        times = np.unique(self.present, return_counts=True)[1]
        return len(times) > 1 and bool(times.min() == times.max())

    @property
    def has_own(self) -> bool:
        """Whether nearly every row has a different number."""
        few = self.kind != "numbers" or self.levels is not None
        return not few and len(np.unique(self.some)) > 0.8 * len(self.some)

    @property
    def mostly_one(self) -> bool:
        """Whether more than half of the numbers are the same, as counts of rare events are."""
        return 2 * int(np.unique(self.some, return_counts=True)[1].max(initial=0)) > len(self.some)

    @property
    def are_round(self) -> bool:
        """Whether most numbers are round, or all numbers are short and equally spaced."""
        return _are_round(self._distinct()[0])

    @property
    def are_short(self) -> bool:
        """Whether all numbers have at most three digits, or most numbers are round."""
        return self.are_round or _are_short(self._distinct()[0])

    @property
    def looks_chosen(self) -> bool:
        """Whether people seem to have chosen the values: repeated words, round numbers, or equally frequent numbers."""
        if self.kind != "numbers":
            return self.kind == "flags" or len(self.texts) <= MOST_TEXTS * len(self.present)
        distinct, times = self._distinct()
        if not len(distinct) or _are_round(distinct):
            return len(distinct) > 0
        chi2 = float(np.sum((times - times.mean()) ** 2) / times.mean())
        if chi2 > (len(times) - 1 + 3 * np.sqrt(2 * len(times)) if times.mean() >= LEAST_TIMES else 0):
            return False
        return (self.is_few and _are_short(distinct)) or _steps_equal(distinct)

    def _distinct(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The distinct numbers in a sample of the rows, and how often each occurs; empty if there are too many."""
        some = self.some.astype(np.float64) if self.kind == "numbers" else np.zeros(0)
        distinct, times = np.unique(some, return_counts=True)
        usable = 0 < len(distinct) <= (MOST_STEPS if self.is_few else FEW_NUMBERS * 4) and distinct[0] > -LARGEST
        return (distinct, times) if usable and distinct[-1] < LARGEST else (distinct[:0], times[:0])

    def looks_drawn(self, *, beside: bool) -> bool:
        """Whether the numbers are spread evenly on a linear or a log scale, as in a random search.

        If `beside` is True, other columns look like a random search too; then two numbers are enough.
        """
        some = np.sort(self.some.astype(np.float64)) if self.kind == "numbers" and not self.is_few else np.zeros(0)
        if len(some) < (2 if beside else LEAST_DRAWN) or max(-some[0], some[-1]) > LARGEST:
            return False
        return any(_spread(scale) < EVEN for scale in ([some, np.log(some)] if some[0] > 0 else [some]))

    @property
    def whole(self) -> bool:
        return self.kind == "numbers" and self.present.dtype.kind in "iu"

    @property
    def span(self) -> tuple[float, float]:
        numbers = self.kind == "numbers" and len(self.present) > 0
        return (float(self.present.min()), float(self.present.max())) if numbers else (0.0, 0.0)

    @property
    def counts_rows(self) -> bool:
        """Whether the value increases by one from each row to the next."""
        return self._fills_a_range() and bool(np.all(np.diff(self.present.astype(np.int64)) == 1))

    @property
    def is_permutation(self) -> bool:
        """Whether every integer from 0 or 1 up to the largest value occurs exactly once."""
        low = self.span[0]
        return self._fills_a_range() and low in (0, 1) and bool(np.bincount(self.present - int(low)).all())

    def _fills_a_range(self) -> bool:
        rows = len(self.present)
        return self.whole and self.full and rows >= LEAST_ROWS and self.span[1] - self.span[0] == rows - 1

    @property
    def all_different(self) -> bool:
        ordered = (np.sort(some) for some in (self.present[:FIRST_ROWS], self.present))
        return all(bool(np.all(some[1:] != some[:-1])) for some in ordered)

    @property
    def rises(self) -> bool:
        """Whether the values never decrease from row to row."""
        return all(bool(np.all(some[1:] >= some[:-1])) for some in (self.present[:FIRST_ROWS], self.present))

    @property
    def is_smooth(self) -> bool:
        """Whether the values seldom switch between rising and falling, like a schedule."""
        if self.kind not in ("numbers", "flags") or self.texts:
            return False
        steps = np.sign(np.diff(self.present.astype(np.float64)))
        return int(np.count_nonzero(np.diff(steps[steps != 0]))) <= SMOOTH * len(self.present)


def _mantissas(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move the decimal point of each number: 0.0123 -> 12300, 1.5 -> 15000, 0 -> 0."""
    size = np.abs(numbers)
    with np.errstate(all="ignore"):  # for 0, and for numbers near the smallest double, which count as 0
        return np.where(size > SMALLEST, np.round(size / 10.0 ** (np.floor(np.log10(size)) - 4), 3), 0.0)


def _are_short(numbers: NDArray[np.float64]) -> bool:
    """Whether no number has more than three significant digits."""
    return not np.any(_mantissas(numbers) % 100)


def _are_round(distinct: NDArray[np.float64]) -> bool:
    if not len(distinct):
        return False
    close = distinct[-1] <= MOST_COUNTED or distinct[-1] - distinct[0] < 2 * len(distinct)
    if close and distinct[0] >= 0 and not np.any(distinct % 1):  # possibly counts, which fill a range
        doubled = distinct[0] > 1 and distinct[-1] >= LEAST_POWER and not np.any(np.log2(distinct) % 1)
        return bool(doubled or (len(distinct) > 2 and distinct[1] - distinct[0] > 1 and _steps_equal(distinct)))
    return bool(np.mean(_is_round(distinct)) >= MOSTLY) or (_are_short(distinct) and _steps_equal(distinct))


def _is_round(numbers: NDArray[np.float64]) -> Mask:
    """Which numbers are round, such as 0.3, 0.97 (1 - 0.03), 250 or 96 (3 times 32)."""
    digits = np.isin(_mantissas(np.stack([numbers, 1 - numbers])), ROUND).any(axis=0)
    halvings = np.log2(np.where(numbers >= 1, numbers, 0.3) / np.array([[1], [3], [5], [7]]))
    round_ones: Mask = digits | (halvings % 1 == 0).any(axis=0)
    return round_ones


def _spread(ordered: NDArray[np.float64]) -> float:
    """Kolmogorov's statistic: how far sorted numbers are from a uniform distribution over their range."""
    places = (ordered - ordered[0]) / (ordered[-1] - ordered[0])
    distance = np.abs(places - np.linspace(0, 1, len(ordered))).max()
    return float(distance * np.sqrt(np.count_nonzero(np.diff(ordered))))  # equal numbers are one draw


def _steps_equal(values: NDArray[np.float64]) -> bool:
    """Whether sorted numbers are equally spaced on a linear or a log scale."""
    scales = [values, np.log(values)] if values[0] > 0 else [values]
    return len(values) > 2 and any(np.ptp(step) <= 0.01 * step.mean() for step in map(np.diff, scales))


def is_mixed(labels: Sequence[object]) -> bool:
    """Whether the labels are many different numbers and a few words such as "auto"."""
    words = sum(is_word(label) for label in labels)
    return 0 < words <= MOST_WORDS and len(labels) - words > FEW_NUMBERS


def is_word(label: object) -> bool:
    return isinstance(label, bool) or (isinstance(label, str) and read_plain(label.strip()) is None)


def few_distinct(finite: NDArray[Any]) -> NDArray[Any] | None:
    """The distinct numbers, if they are few compared with the number of rows; otherwise None."""
    if len(finite) > A_LOOK and len(np.unique(finite[:: len(finite) // A_LOOK])) > MOST_STEPS:
        return None
    distinct = np.unique(finite)
    if distinct.dtype.kind == "f" and 1 < len(distinct) <= 50:  # numbers that differ only by rounding are merged
        size = np.abs(distinct[1:])
        with np.errstate(over="ignore"):  # the difference of two very large numbers may be infinite
            apart = np.diff(distinct) > 2 * LAST_PLACES * (size - np.nextafter(size, 0))
        distinct = distinct[np.concatenate([[True], apart])]
    rows, count = len(finite), len(distinct)
    if count == 1 or (count <= 12 and rows >= 2 * count) or (count <= 50 and rows >= 10 * count):
        return distinct
    if count > MOST_STEPS or rows < 10 * count:
        return None
    return distinct if _steps_equal(distinct.astype(np.float64)) else None  # a lattice, unlike random draws


def full_grid(columns: Mapping[str, NDArray[Any]]) -> tuple[list[str], list[str]]:
    """Find columns that form a full grid: every combination of their values occurs equally often, up to a few gaps.

    The second list contains all other columns, except constants and columns that follow from one column of the grid,
    such as c below. Both lists are empty if there is no grid.

    Examples
    --------
    >>> a, b = np.arange(12) % 3, np.arange(12) // 3
    >>> full_grid({"a": a, "b": b, "c": a * 2, "d": np.sin(np.arange(12))})
    (['a', 'b'], ['d'])
    """
    factors, others, grid, cells = dict[str, NDArray[np.int64]](), list[str](), np.zeros(1, dtype=np.int64), 1
    for name, column in columns.items():
        codes, times = np.unique(column, return_inverse=True, return_counts=True)[1:]
        levels = len(times)
        if levels == 1 or any(tells(one, codes) for one in factors.values()):
            continue
        balanced = 2 * levels <= len(codes) and len(codes) >= NEARLY * levels * times.max()
        places, mixed = np.unique(grid * levels + codes, return_inverse=True) if balanced else ([], grid)
        if len(places) >= NEARLY * cells * levels:
            factors[name], grid, cells = codes, mixed, cells * levels
        else:
            others.append(name)
    if len(factors) < 2 or cells < LEAST_GRID or len(grid) < NEARLY * cells * np.bincount(grid).max():
        return [], []
    return list(factors), others


def crossed_with(factors: Sequence[str], columns: Mapping[str, NDArray[Any]], others: Iterable[str]) -> list[str]:
    """Find other columns whose combinations occur with nearly all combinations of the factors, nearly once each."""
    grid, found = joint_codes(columns[name] for name in factors), list[str]()
    joint, filled = np.zeros(len(grid), dtype=np.int64), int(grid.max()) + 1
    for name in others:
        more = joint_codes([joint, columns[name]])
        cells = len(np.unique(joint_codes([grid, more])))
        if cells > filled and cells >= MOST_CELLS * (grid.max() + 1) * (more.max() + 1):
            joint, filled, found = more, cells, [*found, name]
    return found if filled >= MOSTLY * len(grid) else []


def joint_codes(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Number the combinations of values in the rows: 0, 1, 2, …"""
    joint, *others = (np.unique(column, return_inverse=True)[1] for column in columns)
    for codes in others:
        joint = np.unique(joint * (codes.max(initial=-1) + 1) + codes, return_inverse=True)[1]
    return joint


def by_rows(columns: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    """One value or code for each row of each column, without columns that contain infinite numbers."""
    arrays = {name: one.by_row for name, one in columns.items()}
    rows = max(map(len, arrays.values()), default=0)
    return {name: array for name, array in arrays.items() if len(array) == rows > 0}


def in_every_row(columns: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    rows = max((len(one.present) for one in columns.values()), default=0)
    return {name: one.present for name, one in columns.items() if one.full and len(one.present) == rows > 0}


def computed(settings: Mapping[str, Values]) -> set[str]:
    """Find columns computed from another column, such as compression ratios: few different values with many digits."""
    whole = {name: one for name, one in in_every_row(settings).items() if settings[name].is_few}
    odd = [name for name in whole if settings[name].kind == "numbers" and not settings[name].are_short]
    codes = {name: joint_codes([column]) for name, column in whole.items() if odd and len(whole) <= MOST_COMPARED}
    return {name for name in odd if any(tells(codes[other], codes[name]) for other in codes if other != name)}


def tells(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether the code in `one` determines that in `other`."""
    return len(np.unique(one * (other.max() + 1) + other)) == int(one.max()) + 1


def moving_together(columns: Mapping[str, NDArray[Any]], candidates: Collection[str]) -> dict[str, list[str]]:
    """For each candidate, the columns that have a strong rank correlation (of either sign) with it.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=50)
    >>> moving_together({"a": x, "b": x**3, "c": np.exp(x), "d": np.roll(x, 9)}, ["a", "d"])
    {'a': ['b', 'c']}
    """
    names = list(columns)
    if len(names) < 2 or len(columns[names[0]]) < LEAST_ROWS:
        return {}
    step = max(1, len(columns[names[0]]) // A_LOOK)
    ranks = np.stack([np.argsort(np.argsort(columns[name][::step], kind="stable")) for name in names])
    alike = np.abs(np.corrcoef(ranks)) > max(TOGETHER, 3.0 / np.sqrt(ranks.shape[1]))
    partners = {name: [other for other, same in zip(names, row, strict=True) if same and other != name]
                for name, row in zip(names, alike, strict=True) if name in candidates}  # fmt: skip
    return {name: others for name, others in partners.items() if others}
