"""Tables that their own engine counts: exact order statistics and counts by groupings that the engine runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Count, Note
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Counts
from pedanova.errors import Arg, DataError, QueryError, Word
from pedanova.scale.parts import FirstLook, Plan
from pedanova.scale.pushdown_counts import (
    ROWS,
    VALUE,
    Literal,
    absent,
    count_in_engine,
    is_single,
    literal_of,
    moments_in_engine,
)
from pedanova.sources.scans.batches import is_ibis
from pedanova.sources.scans.scan import Scan
from pedanova.sources.tables.frames import read_frame
from pedanova.space.parameters import Moving, Switch

SLOT, LOW, HIGH, FIRST, LAST = (f"pedanova_{word}" for word in ("slot", "low", "high", "first", "last"))
SLOTS = 1 << 14
FEW = 1_000_000  # rows that may travel
LOGARITHMIC = 16.0  # times from the smallest to the largest number
MOST_CUTS = 200  # groupings; what is asked for more is stranger than any objective


@dataclass(frozen=True, slots=True)
class Extent:
    """The signed objective in all rows."""

    rows: int
    first: int  # rows at minus infinity
    last: int  # rows at infinity
    finite: int
    low: float  # of the finite ones
    high: float

    @property
    def numbers(self) -> int:
        return self.first + self.finite + self.last


@dataclass(frozen=True, slots=True)
class RankSpan:
    """Some rows, one behind the other in order: those from `low` to `high`."""

    low: float
    high: float
    before: int  # rows before them
    rows: int
    whole: bool = False  # all there are


def extent_of(frame: Any, objective: str, sign: float) -> Extent:
    """One look at the objective."""
    number = signed(objective, sign)
    usable = ~absent(number) & number.is_finite()
    lazy: Any = nw.from_native(frame).lazy()
    inner = nw.when(usable).then(number)
    ends = {FIRST: -np.inf, LAST: np.inf}
    columns = [
        inner.alias(VALUE),
        *(
            nw.when(~absent(number) & (number == end)).then(nw.lit(1)).otherwise(nw.lit(0)).alias(key)
            for key, end in ends.items()
        ),
        nw.when(usable).then(nw.lit(1)).otherwise(nw.lit(0)).alias(SLOT),
    ]
    summary = lazy.select(*columns).select(
        nw.len().alias(ROWS),
        nw.col(VALUE).min().alias(LOW),
        nw.col(VALUE).max().alias(HIGH),
        *(nw.col(key).sum().alias(key) for key in (FIRST, LAST, SLOT)),
    )
    row = {name: values[0] for name, values in summary.collect("pyarrow").to_native().to_pydict().items()}
    rows, first, last, finite = (int(row[key] or 0) for key in (ROWS, FIRST, LAST, SLOT))
    low, high = (math.nan if row[key] is None else float(row[key]) for key in (LOW, HIGH))
    return Extent(rows, first, last, finite, low, high)


def ranks_in_engine(
    frame: Any, objective: str, sign: float, wanted: NDArray[np.int64], extent: Extent
) -> NDArray[np.float64]:
    """The signed objectives at some ranks (1 = smallest)."""
    values = np.where(wanted <= extent.first, -np.inf, np.inf)
    open_ranks = wanted[(wanted > extent.first) & (wanted <= extent.first + extent.finite)]
    value_of: dict[int, float] = {}
    todo = [RankSpan(extent.low, extent.high, extent.first, extent.finite, whole=True)]
    cuts = 0
    while len(open_ranks) > len(value_of):
        spans = [s for span in todo for s in narrowed(span, [r for r in open_ranks if r not in value_of], value_of)]
        if sum(span.rows for span in spans) <= FEW:
            collect_ranks(frame, objective, sign, spans, open_ranks, value_of)
            break
        cuts += len(spans)
        if cuts > MOST_CUTS:
            raise DataError(
                f"{objective}: its quantiles cannot be found by groupings; leave ", Arg("pushdown", True), " out"
            )
        todo = [slot for span in spans for slot in slots_of(frame, objective, sign, span)]
    inside = np.array([value_of.get(int(rank), math.nan) for rank in wanted])
    return np.where(np.isin(wanted, open_ranks), inside, values)


def narrowed(span: RankSpan, ranks: list[int], value_of: dict[int, float]) -> list[RankSpan]:
    """The span if a rank lies in it that is still open; one value only settles its ranks."""
    own = [rank for rank in ranks if span.before < rank <= span.before + span.rows]
    if own and span.low == span.high:
        value_of.update(dict.fromkeys(map(int, own), span.low + 0.0))
        return []
    return [span] if own else []


def signed(objective: str, sign: float) -> Any:
    return nw.col(objective).cast(nw.Float64) * sign


def rows_within(frame: Any, objective: str, sign: float, spans: list[RankSpan]) -> Any:
    """The signed objectives from `low` to `high` of any of the spans, as a lazy frame."""
    literal = literal_of(frame)
    number = nw.col(VALUE)
    within = [(number >= literal(span.low)) & (number <= literal(span.high)) for span in spans]
    lazy: Any = nw.from_native(frame).lazy().select(signed(objective, sign).alias(VALUE))
    return lazy.filter(~absent(number)).filter(nw.any_horizontal(*within, ignore_nulls=True))


def slots_of(frame: Any, objective: str, sign: float, span: RankSpan) -> list[RankSpan]:
    """The rows of a span by slots, in order."""
    rows = rows_within(frame, objective, sign, [span])
    groups = (
        rows.with_columns(slot_within(span, literal_of(frame)).alias(SLOT))
        .group_by(SLOT)
        .agg(nw.len().alias(ROWS), nw.col(VALUE).min().alias(LOW), nw.col(VALUE).max().alias(HIGH))
    )
    columns = read_frame(groups.collect("pyarrow").to_native()).columns
    slots: list[RankSpan] = []
    for low, high, count in sorted(zip(*(columns[key].values.tolist() for key in (LOW, HIGH, ROWS)), strict=True)):
        if slots and low <= slots[-1].high:
            last = slots.pop()
            joint = max(high, last.high), last.before, last.rows + count
            slots.append(RankSpan(last.low, *joint))
        else:
            before = slots[-1].before + slots[-1].rows if slots else span.before
            slots.append(RankSpan(low + 0.0, high + 0.0, before, count))
    return slots


def slot_within(span: RankSpan, literal: Literal) -> Any:
    """An expression that rises with the number, and tells the ends of the span apart."""
    number, width = nw.col(VALUE), span.high - span.low
    if span.low < 0.0 < span.high and not span.whole:
        above = nw.when(number > literal(0.0)).then(nw.lit(2)).otherwise(nw.lit(1))
        return nw.when(number < literal(0.0)).then(nw.lit(0)).otherwise(above)
    small, large = sorted((abs(span.low), abs(span.high)))
    if not span.whole and small > 0.0 and large / small > LOGARITHMIC:
        scale = SLOTS / (math.log(large) - math.log(small))
        size = number if span.low > 0.0 else -number
        steps = ((size.log() - literal(math.log(small))) * literal(scale)).floor()
        return steps if span.low > 0.0 else -steps
    if math.isfinite(width) and math.isfinite(SLOTS / width):
        return ((number - literal(span.low)) * literal(SLOTS / width)).floor()
    half = span.low / 2 + span.high / 2
    half = half if half < span.high else span.low  # neighbours: either has its own slot
    return nw.when(number <= literal(half)).then(nw.lit(0)).otherwise(nw.lit(1))


def collect_ranks(
    frame: Any, objective: str, sign: float, spans: list[RankSpan], ranks: NDArray[np.int64], value_of: dict[int, float]
) -> None:
    """The rows of a few small spans, sorted here."""
    if not spans:
        return
    rows = rows_within(frame, objective, sign, spans).collect("pyarrow").to_native()
    values = np.sort(read_frame(rows).columns[VALUE].values.astype(np.float64) + 0.0)
    if len(values) != sum(span.rows for span in spans):
        raise DataError(f"{objective}: the table changed while it was read; count it again")
    first = 0
    for span in sorted(spans, key=lambda span: span.before):
        for rank in ranks[(ranks > span.before) & (ranks <= span.before + span.rows)]:
            value_of[int(rank)] = float(values[first + int(rank) - span.before - 1])
        first += span.rows


def engine_of(scan: Scan, plan: Plan, *, pushdown: bool | None) -> Any:
    """The table itself if its own engine is to count; None if its rows come here."""
    frame = getattr(scan.parts[0], "frame" if scan.is_spark else "plan", None)
    if pushdown is None:
        return frame if is_ibis(frame) and why_not(plan) is None else None
    if not pushdown:
        return None
    if frame is None:
        raise QueryError(
            Arg("pushdown", True),
            " is for relations of DuckDB, lazy frames of Polars, tables of ibis and data frames of ",
            "Spark",
        )
    reason = why_not(plan)
    if reason is not None:
        raise QueryError(
            Arg("pushdown", True), " cannot count ", *reason, "; leave it out, or filter the table yourself"
        )
    return frame


def why_not(plan: Plan) -> tuple[Word, ...] | None:
    """What keeps a plan from being run by another engine."""
    if plan.objective not in plan.needs:
        return ("an objective that is a condition",)
    for name in ("where", "feasible", "state"):
        if getattr(plan.request, name) is not None:
            return ("rows chosen by ", Arg(name))
    if plan.texts:
        return (f"the numbers that {plan.texts[0]!r} keeps as text",)
    # A condition that was guessed is told by the gaps themselves, which any engine counts.
    given = plan.request.space is not None
    odd = [name for name, p in plan.space.items() if (p.when and given) or isinstance(p, Moving | Switch)]
    return (f"the conditional parameter {odd[0]!r}",) if odd else None


def look_by_engine(frame: Any, plan: Plan) -> tuple[FirstLook, Extent]:
    """What a first reading tells, by the engine that holds the table."""
    extent = extent_of(frame, plan.objective, plan.sign)
    absent = extent.rows - extent.numbers
    kept = extent.rows if plan.nan == "worst" else extent.numbers
    notes = []
    if absent:
        fate = "dropped" if plan.request.policies.nan == "drop" else "counted as the worst"
        words = f" rows have no number as objective; {fate}"
        notes = [Note("rows", Count(absent), " of ", Count(extent.rows), words)]
    single = is_single(frame, plan.objective)
    counts = np.array([extent.numbers, kept - extent.numbers])
    return FirstLook(extent.rows, kept, single, (0, 63, 1), counts, notes), extent


def ranks_pushed(frame: Any, plan: Plan, wanted: NDArray[np.int64], extent: Extent) -> NDArray[np.float64]:
    return ranks_in_engine(frame, plan.objective, plan.sign, wanted, extent)


def count_pushed(frame: Any, plan: Plan, levels: Levels, notes: list[Note]) -> Counts:
    """Counts by the engine that holds the table; the last level has the rows that do not count."""
    tables = {
        name: count_in_engine(frame, plan.objective, name, parameter, levels) for name, parameter in plan.space.items()
    }
    counts = next(iter(tables.values()))[0]
    moments = moments_in_engine(frame, plan.objective, levels)
    inner = {name: [table[:-1] for table in both] for name, both in tables.items()}
    return Counts(int(counts.sum()), int(counts[:-1].sum()), inner, moments, notes)
