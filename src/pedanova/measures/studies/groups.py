"""The studies of one table, each an analysis of its own: whole, or some rows of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.notes import Count, Note
from pedanova.base.threads import ResultCache
from pedanova.counting.countable import InMemory, assembled, levels_for
from pedanova.counting.levels import LADDER, SHORT_LADDER
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.prepare import reordered
from pedanova.data.regions import as_region
from pedanova.data.row_selection import needs_rows
from pedanova.errors import Arg, DataError, OutsideSpaceError, QueryError, listed, unknown_name
from pedanova.measures.question import Question
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import pool_studies
from pedanova.space.grid import grid_of

Codes: TypeAlias = NDArray[Any]
DENSE = 1 << 20  # whole numbers that span no more are their own codes
SHORT = 1 << 16  # so many codes fit into 16 bits, which are sorted by counting


def codes_of(group: Column) -> tuple[Codes, list[str]]:
    """(rows,) The place of each row's group in the list of names; behind the last one for rows without."""
    absent = group.absent()
    if group.labels is not None:
        codes, labels = group.values, [str(label) for label in group.labels]
    elif group.values.dtype.kind in "iu" and len(group) and (span := _span(group.values)) is not None:
        codes = group.values.astype(np.int64) - span.start
        labels = [str(value) for value in span]
    else:
        distinct, codes = np.unique(group.values, return_inverse=True)
        labels = [short(value) if isinstance(value, float) else str(value) for value in distinct.tolist()]
    last = len(labels)
    codes = np.where(absent, last, codes) if absent.any() else codes
    return codes.astype(np.uint16 if last < SHORT else np.int64), labels


def _span(values: NDArray[Any]) -> range | None:
    low, high = int(values.min()), int(values.max())
    return range(low, high + 1) if high - low < DENSE else None


def part_of(observed: Observations, rows: Any) -> Observations:
    """Some rows, by a slice or by their places, in an order of their own where objectives are several.

    A column that stands in several roles is taken once.
    """
    taken: dict[int, NDArray[Any]] = {}

    def at(values: NDArray[Any]) -> NDArray[Any]:
        if id(values) not in taken:
            taken[id(values)] = values[rows]
        return taken[id(values)]

    def of(column: Column) -> Column:
        return replace(column, values=at(column.values), missing=None if column.missing is None else at(column.missing))

    part = replace(
        observed,
        columns={name: of(column) for name, column in observed.columns.items()},
        goals=tuple(replace(goal, values=at(goal.values)) for goal in observed.goals),
        table={name: of(column) for name, column in observed.table.items()},
        notes=(),
        order=None if observed.order is None else at(observed.order),
        keep=None if observed.keep is None else at(observed.keep),
        trials=None if observed.trials is None else at(observed.trials),
        origin=None,  # that of all studies
    )
    if len(part.goals) == 1:
        return part
    return reordered(replace(part, keep=np.ones(len(part), dtype=bool) if part.keep is None else part.keep))


_GROUPS: WeakKeyDictionary[TrialData, ResultCache[GroupData]] = WeakKeyDictionary()
DRAWS = 500  # behind the interval of one study: only their mean is used
KEPT_COUNTS = 1 << 23  # counts of studies that are kept: 128 MB with their sums; others are counted again when asked
PARTS = ("selected", "all")  # rows that a quantile is a part of, where some are selected


@dataclass(frozen=True, slots=True, eq=False)
class GroupData(Mapping[str, TrialData]):
    """The data of every group of a table, counted when first asked for; the last ones are kept."""

    observed: Observations
    order: Codes | None  # (rows,) rows by group; None where they lie so already
    spans: Mapping[str, slice]  # of the rows in that order, by group in the order of their names
    levels: object
    nan: NanPolicy
    inside: bool  # no row may lie outside the space
    _kept: ResultCache[TrialData] = field(repr=False)

    def __getitem__(self, name: str) -> TrialData:
        if name not in self.spans:
            raise QueryError(unknown_name(name, tuple(self.spans), what="study"))
        return self._kept.get(name, lambda: self._counted(name))

    def rows_of(self, name: str) -> Observations:
        """The observations of one group."""
        span = self.spans[name]
        return part_of(self.observed, span if self.order is None else self.order[span])

    def _counted(self, name: str) -> TrialData:
        source = InMemory(self.rows_of(name), self.nan, 1)
        levels = levels_for(source, self.levels)
        try:
            counted = assembled(source, levels, source.count(levels), notes=(), inside=self.inside, part=True)
        except OutsideSpaceError as error:
            raise error.behind(f"study {name}: ") from None
        return TrialData.of(counted, 1)

    def __contains__(self, name: object) -> bool:
        return name in self.spans  # without counting

    def __iter__(self) -> Iterator[str]:
        return iter(self.spans)

    def __len__(self) -> int:
        return len(self.spans)


def grouped(
    observed: Observations, column: Column, *, levels: object, nan: NanPolicy, inside: bool
) -> tuple[GroupData, list[Note]]:
    """Rows sorted into groups once; every group is then counted from its own rows."""
    codes, labels = codes_of(column)
    counts = np.bincount(codes, minlength=len(labels) + 1)  # the last code is of rows without a value
    order = None
    if len(codes) > 1 and (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable").astype(np.int32 if len(codes) < 1 << 31 else np.int64)
    ends = np.cumsum(counts)
    spans = {label: slice(int(ends[i] - counts[i]), int(ends[i])) for i, label in enumerate(labels) if counts[i]}
    if len(spans) < 2:
        named = f" names {len(spans)} study ({listed(list(spans))}); give two or more"
        raise QueryError(Arg("group", column.name), named)
    widths = sum(grid_of(parameter).width for parameter in observed.space.values())
    # Of very many studies few levels are kept; others are counted when asked for.
    if levels is None and widths * len(LADDER) * len(spans) > KEPT_COUNTS:
        levels = SHORT_LADDER
    many = len(levels) if isinstance(levels, Sequence) else len(LADDER)
    kept: ResultCache[TrialData] = ResultCache(max(2, KEPT_COUNTS // (widths * many)))
    words = f" rows have no value of {column.name}; in no study"
    notes = [Note("rows", Count(counts[-1]), " of ", Count(len(observed)), words)] if counts[-1] else []
    return GroupData(observed, order, spans, levels, nan, inside, kept), notes


def groups_by(data: TrialData, column: str) -> GroupData:
    """Every study that a column of the table names; the last two columns are kept."""
    return _GROUPS.setdefault(data, ResultCache(2)).get(column, lambda: _sorted_into(data, column))


def _sorted_into(data: TrialData, column: str) -> GroupData:
    observed = data.observed()
    if not isinstance(column, str) or column not in observed.table:
        raise DataError(unknown_name(column, tuple(observed.table), what="column"))
    if observed.origin is not None and len(observed) != observed.origin.records.rows:
        words = " needs every row of the source, and some were averaged or taken together; analyze it with "
        raise QueryError(Arg("group"), words, Arg("repeats", "all"))
    levels, nan = data.levels.quantiles, data.levels.nan
    return grouped(observed, observed.table[column], levels=levels, nan=nan, inside=False)[0]


def pooled_studies(
    studies: Mapping[str, TrialData], question: Question, *, within: object = None, parts: str = "selected"
) -> dict[str, Any]:
    """The fields of a `Pooling`: every study, or these rows of every study, asked the same question."""
    rows = () if within is None else tuple(within) if isinstance(within, list | tuple) else (within,)
    if parts not in PARTS:
        raise QueryError(Arg("parts", parts), " must be 'selected' or 'all'")
    for one in rows:
        if not isinstance(one, str | Mapping) and (not needs_rows(one) or hasattr(one, "__array__")):
            words = " must be a box or a condition, which every study has; part of a study is region="
            raise QueryError(Arg("within"), words)
    narrow = partial(narrowed, rows=rows, parts=parts) if rows else None
    fields = pool_studies(studies, question, narrow)
    return fields | (words_of(question.target, question.region, parts) if rows else {})


def narrowed(
    data: TrialData, question: Question, *, rows: tuple[object, ...], parts: str
) -> tuple[TrialData, Question]:
    """Some rows of a study, and the question to them: parts of all rows are values of the objective there."""
    target, region = question.target, question.region
    if parts == "all" and not data.levels.several:
        of = "rows" if question.estimator == "counts" else question.of
        target, region = (
            one if needs_rows(one) else data.by_value(as_region(one, "target"), of) for one in (target, region)
        )
    return data.within(*rows, at=(target, region)), replace(question, target=target, region=region)


def words_of(target: object, region: object, parts: str) -> dict[str, str]:
    """Target and region of selected rows, for all studies alike."""
    wanted, base = (str(one) if needs_rows(one) else str(as_region(one, "region")) for one in (target, region))
    of = " of all rows" if parts == "all" and not needs_rows(target) else ""
    return {"target": f"{wanted}{of}", "region": "the selected rows" if base == "all rows" else f"{base}, selected"}
