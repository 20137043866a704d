"""Compare two studies: how they are related, which parameters matter more in one, and which good values moved.

The answers of two studies are independent, so the variances of their shares add up. The interval of a single share is
widened for errors of the model. This is not needed for a difference, because errors in both studies cancel.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import chance, percent
from pedanova.base.notes import Note
from pedanova.base.table import NamedTable, Printed
from pedanova.counting.few_rows import counted_rows
from pedanova.data.column import Column
from pedanova.errors import QueryError, listed
from pedanova.measures.chance.ranked_rows import mixed
from pedanova.measures.clear import WORTH_A_WORD, is_clear
from pedanova.measures.densities import Densities
from pedanova.measures.distributions import LEVEL, NORMAL, chi2_tail, holm, pearson
from pedanova.measures.importance import Importance, Importances
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.estimate import ResolvedQuestion
from pedanova.space.comparison import CommonSpace, same_cells
from pedanova.space.grid import Reals, quantile_groups

Keys: TypeAlias = NDArray[np.uint64]
Relation: TypeAlias = Literal["same", "continued", "again", "other", "unknown"]
MOST = 0.9  # if the other study has this part of the smaller study's rows, the rows are the same
MANY = 0.5  # if it has this part of its configurations, they were run again
MOST_ROWS = 2_000_000  # with more rows, rows are not compared one by one
BINS, LEAST = 10, 5  # bins of a comparison of counts, and expected rows in each


@dataclass(frozen=True, slots=True)
class StudyRelation:
    """How two studies are related: equal rows, a continuation, the same configurations run again, or unrelated."""

    kind: Relation
    common: float  # the part of the smaller study's rows (for "again", of its configurations) that the other has
    longer: int | None  # for "continued": the number of the longer study, 1 or 2
    drawn: tuple[str, ...]  # shared parameters whose values were drawn differently
    space: bool  # whether the spaces are the same

    def in_words(self) -> str:
        rows = {
            "same": "both studies contain the same rows",
            "continued": "the {} study continues the {} study: it contains the same rows and more".format(
                *(("second", "first") if self.longer == 2 else ("first", "second"))
            ),
            "again": f"{percent(self.common)} of the configurations were run in both studies, with different results: "
            "the training seed or the task may differ",
            "other": "the studies ran different configurations",
            "unknown": "the rows are no longer available, so it is not known whether one study continues the other",
        }[self.kind]
        search = "the spaces are the same, and values were sampled in the same way"
        if not self.space:
            search = "the search spaces differ"
        elif self.drawn:
            why = "the samplers differ, or an adaptive sampler had another seed"
            search = f"the spaces are the same, but {listed(list(self.drawn), most=3)} were sampled differently ({why})"
        elif self.kind == "other":
            search += ": the same search with another seed"
        return f"{rows}; {search}"


def study_relation(a: TrialData, b: TrialData, shared: CommonSpace) -> StudyRelation:
    """Compare the rows, configurations, spaces and sampling of two studies."""
    kind, common, longer = compared_rows(a, b, (*shared.alike, *shared.narrowed))
    drawn: tuple[str, ...] = ()
    same = [name for name in shared.alike if same_cells(a.tallies[name].parameter, b.tallies[name].parameter)]
    if kind != "same" and same:
        p_values = [two_samples(*(one.tallies[name].counts.sum(axis=0) for one in (a, b))) for name in same]
        drawn = tuple(name for name, p in zip(same, holm(p_values), strict=True) if p <= LEVEL)
    return StudyRelation(kind, common, longer, drawn, shared.same)


def compared_rows(a: TrialData, b: TrialData, names: tuple[str, ...]) -> tuple[Relation, float, int | None]:
    """The relation of two studies, the fraction of common rows (or configurations), and the longer study (1 or 2)."""
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


def keys_of(a: TrialData, names: tuple[str, ...]) -> tuple[Keys, Keys] | None:
    """For every row, a hash of its configuration, and a hash of configuration and objective; None without rows."""
    observed = a.observations
    if observed is None or len(observed) > MOST_ROWS or any(name not in observed.table for name in names):
        return None
    rows = np.flatnonzero(counted_rows(observed, a.levels.nan))
    keys = np.zeros(len(rows), dtype=np.uint64)
    for name in names:
        keys = mixed(keys ^ bits_of(observed.table[name])[rows])
    objective = np.asarray(observed.objective, dtype=np.float64)[rows] + 0.0
    return keys, mixed(keys ^ objective.view(np.uint64))


def bits_of(column: Column) -> Keys:
    """An integer key for each value of a column; equal values have equal keys, for any type of column."""
    if column.labels is not None:
        codes = [  # labels that are numbers have the same keys as numbers
            int(np.float64(label).view(np.uint64))
            if isinstance(label, int | float)
            else zlib.crc32(str(label).encode())
            for label in column.labels
        ]
        table: Keys = np.array([*codes, 0], dtype=np.uint64)  # the last one is for rows without a value
        return table[np.where(column.values < 0, len(codes), column.values)]
    numbers: NDArray[Any] = np.asarray(column.values, dtype=np.float64) + 0.0
    return numbers.view(np.uint64)


def two_samples(one: NDArray[np.int64], two: NDArray[np.int64], bins: int = BINS) -> float:
    """The p-value of equal distributions in two arrays of counts; neighbouring cells are merged."""
    both = one + two
    smaller = min(int(one.sum()), int(two.sum()))
    if smaller < 2 * LEAST:
        return 1.0
    wanted = max(2, min(bins, smaller // LEAST))
    groups = quantile_groups(both, wanted)
    return chi2_tail(*pearson(np.bincount(groups, weights=one), np.bincount(groups, weights=both)))


Ends: TypeAlias = tuple[float | None, float | None]
BothDensities: TypeAlias = tuple[Mapping[str, Densities], Mapping[str, Densities]]
SHARED = "where both studies share rows, the intervals are wider than necessary"
TARGET_BINS = 8
FEWEST = 1e-12
SPREAD = 1.5  # factor of the deviation of posterior samples, because the kernel's settings are fixed


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """How the target of a study is distributed over the cells of one parameter."""

    counts: NDArray[np.int64]  # (cells,) rows
    samples: Reals | None  # (draws, merged cells) points of each posterior sample; None if counts answer
    adaptive: bool  # whether the sampler preferred good configurations


Targets: TypeAlias = Mapping[str, Target]


def targets_of(query: ResolvedQuestion) -> Targets:
    """The target of every parameter, from the same estimator as the importances."""
    adaptive = query.shown is not None and query.shown.adaptive
    samples = query.samples
    drawn: dict[str, Reals] = {}
    if samples is not None:
        counts, grids = samples.count(query.ranges[0]), samples.grids
        ends = zip(samples.space, grids.starts[:-1], grids.starts[1:], strict=True)
        drawn = {name: counts[:, first:last].astype(np.float64) for name, first, last in ends}
    rows = {one.name: np.rint(one.target).astype(np.int64) for one in query.contrasts}
    return {name: Target(counts, drawn.get(name), adaptive) for name, counts in rows.items()}


@dataclass(frozen=True, slots=True)
class Difference:
    """The shares of one parameter in two studies or two results of `importance`, and how they differ.

    Attributes
    ----------
    name
        The parameter.
    share, other
        The share in the first and in the second study.
    difference, low, high
        The first share minus the second share, and the 95 % interval of this difference; `low` and `high` are None if
        `draws` is 0.
    p_value, p_adjusted
        The p-value of the hypothesis that both shares are equal; `p_adjusted` is adjusted for the number of parameters
        (Holm). Both are None if two results are compared, or if `draws` is 0.
    ratio, other_ratio, ratio_difference
        The ratios in both studies, and their difference.
    good, other_good
        The good values in each study, in words.
    overlap
        How much the target densities of both studies overlap, from 0 to 1; None if the studies have different cells.
    moved_p_adjusted
        The p-value (adjusted by Holm) of the hypothesis that good values are distributed equally in both spaces; None
        if only rows could be compared, and an adaptive sampler chose them.
    matters
        Whether the parameter has a clear effect in at least one study.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "units"])
    >>> row = pa.difference(a.first(400), a, estimator="counts", draws=100)["units"]
    >>> row.low < row.difference < row.high, row.significant, row.moved
    (True, False, False)
    """

    name: str
    share: float
    other: float
    difference: float
    low: float | None
    high: float | None
    ratio: float
    other_ratio: float
    ratio_difference: float
    p_value: float | None = None
    p_adjusted: float | None = None
    good: str = ""
    other_good: str = ""
    overlap: float | None = None
    moved_p_adjusted: float | None = None
    matters: bool = True

    @property
    def significant(self) -> bool:
        """Whether the shares clearly differ: `p_adjusted` is at most 0.05."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL

    @property
    def clear(self) -> bool:
        """Whether the shares clearly differ, and at least one share is not negligible.

        The test uses `p_adjusted`. If there is no p-value, it uses the interval.
        """
        largest = max(self.share, self.other)
        if self.p_adjusted is not None or self.low is None or self.high is None:
            return is_clear(self.p_adjusted, largest)
        return largest >= WORTH_A_WORD and (self.low > 0 or self.high < 0)

    @property
    def moved(self) -> bool:
        """Whether the good values of both studies clearly differ, and the parameter matters in at least one study."""
        return self.matters and self.moved_p_adjusted is not None and self.moved_p_adjusted <= LEVEL


@dataclass(frozen=True, slots=True, repr=False)
class Differences(NamedTable[Difference]):
    """The differences of two studies or two results of `importance`, by parameter, the clearest first.

    Attributes
    ----------
    names
        The names of both studies or results.
    densities
        For each study, the densities by parameter; empty if two results are compared.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> two = [a.importance(target, estimator="counts", draws=0) for target in (0.3, 0.1)]
    >>> next(iter(pa.difference(*two)))
    'learning_rate'
    """

    also = ("clear", "significant", "moved")
    rows: tuple[Difference, ...]
    names: tuple[str, str] = ("A", "B")
    notes: tuple[Note, ...] = ()
    densities: BothDensities = field(default=({}, {}), compare=False)

    def printed(self) -> Printed:
        first, second = self.names
        columns = [
            self.column("parameter", lambda row: row.name),
            self.percents("share", first),
            self.percents("other", second),
            self.column("difference", marked),
            self.column("95 % interval", lambda row: ends_in_words(row.low, row.high), leave=1),
        ]
        if any(row.p_adjusted is not None for row in self.rows):
            columns.append(self.column("p", lambda row: chance(row.p_adjusted), leave=2))
        columns.append(self.column("ratio difference", lambda row: signed_percent(row.ratio_difference), leave=3))
        if any(row.overlap is not None for row in self.rows):
            columns.append(self.column("in common", lambda row: percent(row.overlap), leave=4))
        if any(row.moved for row in self.rows):
            columns.append(self.column("good values", moved_in_words, leave=5))
        return columns

    def heading(self) -> str:
        return f"What matters in {self.names[0]} and in {self.names[1]}"

    def summary(self) -> str:
        """The clearest difference and the good values that moved, in words."""
        here, there = (f"in {name}" for name in self.names)
        row = next((row for row in self.rows if row.clear), None)
        if row is not None:
            more = "more" if row.difference > 0 else "less"
            interval = ends_in_words(row.low, row.high)
            words = f"{row.name} matters {more} {here} than {there}: {signed_percent(row.difference)}, {interval}."
        else:
            known = any(row.low is not None for row in self.rows)
            words = f"No importance clearly differs between {' and '.join(self.names)}." if known else ""
        moved = [row for row in self.rows if row.moved]
        return words + "".join(f" Good values of {row.name} moved: {moved_in_words(row)}." for row in moved[:2])


def difference_of_answers(one: Importances, two: Importances) -> Differences:
    """The differences of the shares of two answers, with 95 % intervals; see `difference`."""
    if one.baseline != two.baseline:
        raise QueryError(f"baselines differ: {one.baseline!r} and {two.baseline!r}; use the same baseline for both")
    both = [(row, two[row.name]) for row in one.rows if row.name in two]
    return Differences(clearest_first(recovered(*pair) for pair in both), notes=(Note("answer", SHARED),))


def recovered(one: Importance, two: Importance) -> Difference:
    """The difference of two shares, with an interval that is computed from the intervals of both shares.

    The method is variance estimates recovery (Zou and Donner, Statistics in Medicine 27, 2008). Let a and b be the
    distances from the two shares to ends of their intervals. Then the difference has the distance √(a² + b²) to an end
    of its interval. The shares are treated as independent; if they come from the same rows, the interval is wider than
    necessary.
    """
    gap = one.share - two.share
    low = high = None
    if one.low is not None and one.high is not None and two.low is not None and two.high is not None:
        low = gap - math.hypot(max(0.0, one.share - one.low), max(0.0, two.high - two.share))
        high = gap + math.hypot(max(0.0, one.high - one.share), max(0.0, two.share - two.low))
    return Difference(
        name=one.name,
        share=one.share,
        other=two.share,
        difference=gap,
        low=low,
        high=high,
        ratio=one.ratio,
        other_ratio=two.ratio,
        ratio_difference=one.ratio - two.ratio,
    )


def clearest_first(rows: Iterable[Difference]) -> tuple[Difference, ...]:
    return tuple(sorted(rows, key=lambda row: (not row.clear, -abs(row.difference))))


def signed_percent(part: float) -> str:
    words = f"{part:+.0%}".replace("%", " %").replace("-", "−")
    return "0 %" if words[1:] == "0 %" else words


def marked(row: Difference) -> str:
    noise = "" if row.significant or row.p_adjusted is None else "~ "
    return f"{noise}{signed_percent(row.difference)}"


def ends_in_words(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{100 * low:.0f} to {100 * high:.0f} %".replace("-", "−")


def moved_in_words(row: Difference) -> str:
    if not row.moved:
        return ""
    return f"{row.good or 'none'} → {row.other_good or 'none'}"


def differences_of(
    one: Importances, two: Importances, names: Sequence[str], densities: BothDensities, targets: tuple[Targets, Targets]
) -> tuple[Difference, ...]:
    """The differences of some parameters, with p-values adjusted for the number of parameters."""
    rows, moved = [], []
    for name in (name for name in names if one[name].varied and two[name].varied):
        first, second = one[name], two[name]
        row = recovered(first, second)
        low, high = ends_of(row.difference, first.deviation, second.deviation)
        p_value = None  # at most 0.05 if the interval excludes 0
        if low is not None and high is not None:
            deviation = max((high - low) / (2.0 * NORMAL), FEWEST)
            p_value = 2.0 * NormalDist().cdf(-abs(row.difference) / deviation)
        here, there = (some[name] for some in densities)
        alike = same_cells(here.parameter, there.parameter)
        moved.append(equal_targets(targets[0][name], targets[1][name]) if alike else None)
        good, other_good = (", ".join(values.words for values in some.good()) for some in (here, there))
        row = replace(row, low=low, high=high, p_value=p_value, good=good, other_good=other_good)
        overlap = float(np.minimum(here.target, there.target).sum()) if alike else None
        matters = first.significant is not False or second.significant is not False
        rows.append(replace(row, overlap=overlap, matters=matters))
    each = zip(rows, adjusted_together([row.p_value for row in rows]), adjusted_together(moved), strict=True)
    return clearest_first(replace(row, p_adjusted=p, moved_p_adjusted=m) for row, p, m in each)


def equal_targets(one: Target, two: Target) -> float | None:
    """The p-value of the hypothesis that both studies have the same distribution of good values.

    Posterior samples say how good values are distributed in the space, whatever the sampler preferred. Counts depend on
    the sampler, so they are compared only if both samplers drew evenly; the result is None otherwise.
    """
    if one.samples is None and two.samples is None and not (one.adaptive or two.adaptive):
        return two_samples(one.counts, two.counts, bins=TARGET_BINS)
    if one.samples is None or two.samples is None:
        return None
    groups = quantile_groups((one.samples.mean(axis=0) + two.samples.mean(axis=0)), TARGET_BINS)
    member = groups[:, None] == np.arange(groups.max() + 1)
    parts = [target.samples @ member for target in (one, two)]
    parts = [part / np.maximum(part.sum(axis=1, keepdims=True), FEWEST) for part in parts]
    middles = [part.mean(axis=0) for part in parts]
    scale = np.sqrt(np.maximum((middles[0] + middles[1]) / 2.0, FEWEST))
    gap = (middles[0] - middles[1]) / scale
    off = [SPREAD * (part - middle) / scale for part, middle in zip(parts, middles, strict=True)]
    covariance = off[0].T @ off[0] / max(1, len(off[0]) - 1) + off[1].T @ off[1] / max(1, len(off[1]) - 1)
    expected, spread = float(np.trace(covariance)), 2.0 * float((covariance**2).sum())
    if expected <= FEWEST or spread <= FEWEST**2:
        return float(gap @ gap <= FEWEST)
    # The squared distance of two distributions is a weighted sum of chi-squares; its mean and variance are matched.
    return chi2_tail(float(gap @ gap) * 2.0 * expected / spread, 2.0 * expected**2 / spread)


def adjusted_together(p_values: Sequence[float | None]) -> list[float | None]:
    tested = np.array([p is not None for p in p_values], dtype=bool)
    found = holm([1.0 if p is None else p for p in p_values], tested)
    return [float(p) if known else None for p, known in zip(found, tested, strict=True)]


def ends_of(gap: float, first: float | None, second: float | None) -> Ends:
    """The 95 % interval of the difference `gap`, from the standard deviation of each share; None if one is missing."""
    if first is None or second is None or math.isnan(first + second):
        return None, None
    half = NORMAL * math.hypot(first, second)
    return gap - half, gap + half
