"""Tables that their own engine counts: exact order statistics and counts by groupings that the engine runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Count, Note
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Counts, Moments, centres_of, powers_of
from pedanova.data.column import cells_of
from pedanova.errors import Arg, DataError, QueryError, Word
from pedanova.scale.parts import FirstLook, Plan, conditional
from pedanova.sources.scans.batches import is_ibis
from pedanova.sources.scans.scan import TableScan
from pedanova.sources.tables.frames import read_frame
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Float, Int, Parameter

Table = list[NDArray[Any]]  # counts and sums, both (levels, cells + 2)
LEVEL, VALUE, ROWS = "pedanova_level", "pedanova_value", "pedanova_rows"
SUM, SQUARE = "pedanova_sum", "pedanova_square"
BEHIND, CELL, CENTRE, SCALE = "pedanova_behind", "pedanova_cell", "pedanova_centre", "pedanova_scale"
ODD = {"pedanova_plus": np.inf, "pedanova_minus": -np.inf, "pedanova_nan": np.nan}  # objectives, counted apart


Literal = Callable[[float], Any]  # a double as an expression


def literal_of(frame: Any) -> Literal:
    """How to hand a double over unchanged.

    ibis writes it into the text of a query, where engines take 0.1 for a decimal and DuckDB rounds that
    to a neighbour of the double; as text that is cast it arrives.
    """
    if nw.from_native(frame).implementation.is_ibis():
        return lambda value: nw.lit(repr(float(value))).cast(nw.Float64)
    return lambda value: nw.lit(float(value))


def count_in_engine(frame: Any, objective: str, name: str, parameter: Parameter, levels: Levels) -> Table:
    """Rows and sums of the objective by [level × cell] of one parameter; a last level does not count."""
    grid, number = grid_of(parameter), nw.col(objective).cast(nw.Float64)
    ranged = isinstance(parameter, Float) or (isinstance(parameter, Int) and grid.labels is None)  # many values a cell
    frame, inside = level_steps(frame, objective, levels)
    value = nw.col(name)
    if ranged:
        frame, cell = steps(frame, CELL, name, 1.0, np.asarray(grid.inner), range(grid.cells))
        value = place(nw.col(name).cast(nw.Float64), cell, grid, literal_of(frame))
    columns = {LEVEL: level_of(number, inside, levels), VALUE: value, SUM: finite(number)}
    return unfold(grouped(frame, number, columns, (LEVEL, VALUE), (SUM,)), grid, levels, ranged=ranged)


def grouped(frame: Any, number: Any, columns: dict[str, Any], keys: Sequence[str], sums: Sequence[str]) -> Any:
    """Rows by some keys, with sums of some columns, and of how many objectives are odd."""
    columns = columns | {key: is_odd(number, odd) for key, odd in ODD.items()}
    lazy: Any = nw.from_native(frame).lazy().select(*(column.alias(key) for key, column in columns.items()))
    totals = [nw.col(key).sum().alias(key) for key in (*sums, *ODD)]
    return lazy.group_by(*keys).agg(nw.len().alias(ROWS), *totals).collect("pyarrow").to_native()


def moments_in_engine(frame: Any, objective: str, levels: Levels) -> Moments:
    """Spread of the objective by level; a level with an infinite or unknown one has none."""
    number, centres = nw.col(objective).cast(nw.Float64), centres_of(levels)
    frame, centre = steps(frame, CENTRE, objective, levels.sign, levels.boundaries, centres.tolist())
    powers, beyond = powers_of(levels), number - centre
    if powers.any():
        scales = np.ldexp(1.0, -powers).tolist()
        frame, scale = steps(frame, SCALE, objective, levels.sign, levels.boundaries, scales)
        beyond = beyond * scale
    frame, inside = level_steps(frame, objective, levels)
    value = finite(number, beyond)
    columns = {LEVEL: level_of(number, inside, levels), SUM: value, SQUARE: value * value}
    groups = read_frame(grouped(frame, number, columns, (LEVEL,), (SUM, SQUARE))).columns
    by_level = {name: column.values for name, column in groups.items()}
    tables = np.zeros((3, levels.count + 1))
    odd = sum(by_level[key] for key in ODD) > 0
    place = by_level[LEVEL].astype(np.int64)
    tables[0, place] = by_level[ROWS]
    tables[1, place] = np.where(odd, np.nan, by_level[SUM])
    tables[2, place] = np.where(odd, np.inf, by_level[SQUARE])
    return Moments(centres, tables[0, :-1].astype(np.int64), tables[1, :-1], tables[2, :-1], powers)


def absent(number: Any) -> Any:
    """Null or NaN; asked first, for engines differ in what they compare NaN to."""
    return number.is_null() | number.is_nan()


def finite(number: Any, value: Any = None) -> Any:
    """What every engine can sum; other objectives are counted apart."""
    usable = ~absent(number) & number.is_finite()
    return nw.when(usable).then(number if value is None else value).otherwise(nw.lit(0.0))


def is_odd(number: Any, odd: float) -> Any:
    """1 where the objective is this odd one."""
    if np.isnan(odd):
        return nw.when(absent(number)).then(nw.lit(1)).otherwise(nw.lit(0))
    return nw.when(~absent(number) & (number == odd)).then(nw.lit(1)).otherwise(nw.lit(0))


def level_of(number: Any, inside: Any, levels: Levels) -> Any:
    unknown = levels.count - 1 if levels.nan == "worst" else levels.count
    return nw.when(absent(number)).then(nw.lit(unknown)).otherwise(inside)


def level_steps(frame: Any, objective: str, levels: Levels) -> tuple[Any, Any]:
    return steps(frame, BEHIND, objective, levels.sign, levels.boundaries, range(levels.count))


def place(number: Any, cell: Any, grid: Grid, literal: Literal) -> Any:
    """The cell of a number on a range; whole numbers must be whole, and on their lattice."""
    low, high = np.asarray(grid.accept_low)[0], np.asarray(grid.accept_high)[-1]
    inside = (number >= literal(low)) & (number <= literal(high))
    if grid.lattice is not None:
        first, step = grid.lattice
        whole = (number - first) / step
        inside = inside & (whole.floor() == whole)
    either = nw.when(inside).then(cell).otherwise(nw.lit(grid.outside))
    return nw.when(absent(number)).then(nw.lit(grid.missing)).otherwise(either)


def steps(
    frame: Any, alias: str, name: str, sign: float, boundaries: NDArray[np.float64], leaves: Sequence[int | float]
) -> tuple[Any, Any]:
    """The leaf behind as many boundaries as are at most sign * column: the frame to ask, and the expression."""
    ends = boundaries.tolist()
    if nw.from_native(frame).implementation.is_pyspark():
        # As text: a thousand small objects take Spark's driver minutes.
        number = f"(CAST({quoted(name)} AS DOUBLE) * {sql_double(sign)})"

        def choose(end: str, below: str, above: str) -> str:
            return f"IF({number} < {end}, {below}, {above})"

        leaf = str if isinstance(leaves[0], int) else sql_double
        text = halved(list(map(sql_double, ends)), list(map(leaf, leaves)), choose)
        return frame.selectExpr("*", f"{text} AS {alias}"), nw.col(alias)
    literal, signed = literal_of(frame), nw.col(name).cast(nw.Float64) * sign
    made = [nw.lit(leaf) if isinstance(leaf, int) else literal(leaf) for leaf in leaves]
    return frame, halved(
        [literal(end) for end in ends],
        made,
        lambda end, below, above: nw.when(signed < end).then(below).otherwise(above),
    )


def halved(boundaries: Sequence[Any], leaves: Sequence[Any], choose: Callable[[Any, Any, Any], Any]) -> Any:
    """A tree of choices, each between one half of the leaves and the other."""
    if len(leaves) == 1:
        return leaves[0]
    half = (len(leaves) - 1) // 2
    below = halved(boundaries[:half], leaves[: half + 1], choose)
    above = halved(boundaries[half + 1 :], leaves[half + 1 :], choose)
    return choose(boundaries[half], below, above)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def sql_double(value: float) -> str:
    return f"{float(value)!r}D" if np.isfinite(value) else f"CAST('{float(value)!r}' AS DOUBLE)"


def unfold(groups: Any, grid: Grid, levels: Levels, *, ranged: bool) -> Table:
    """The groups as tables, with a last level for rows that do not count."""
    counts = np.zeros((levels.count + 1, grid.width), dtype=np.int64)
    sums = np.zeros((levels.count + 1, grid.width))
    if groups.num_rows:
        columns = read_frame(groups).columns
        level, rows = (columns[key].values.astype(np.int64) for key in (LEVEL, ROWS))
        value = columns[VALUE]
        cells = value.values.astype(np.int64) if ranged else cells_of(value, grid)
        np.add.at(counts, (level, cells), rows)
        np.add.at(sums, (level, cells), columns[SUM].values.astype(np.float64))
        with np.errstate(invalid="ignore"):
            for key, odd in ODD.items():
                some = columns[key].values > 0
                np.add.at(sums, (level[some], cells[some]), odd)
    return [counts, sums]


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
    ends = [is_odd(number, end).alias(key) for key, end in ((FIRST, -np.inf), (LAST, np.inf))]
    columns = [inner.alias(VALUE), *ends, nw.when(usable).then(nw.lit(1)).otherwise(nw.lit(0)).alias(SLOT)]
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


def engine_of(scan: TableScan, plan: Plan, *, pushdown: bool | None) -> Any:
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
    odd = conditional(plan.space, given=plan.request.space is not None)
    return (f"the conditional parameter {odd[0]!r}",) if odd else None


def look_by_engine(frame: Any, plan: Plan) -> tuple[FirstLook, Extent]:
    """What a first reading tells, by the engine that holds the table."""
    extent = extent_of(frame, plan.objective, plan.sign)
    absent = extent.rows - extent.numbers
    kept = extent.rows if plan.nan == "worst" else extent.numbers
    notes = []
    if absent:
        fate = "dropped" if plan.request.reading.nan == "drop" else "counted as the worst"
        words = f" rows have no number as objective; {fate}"
        notes = [Note("rows", Count(absent), " of ", Count(extent.rows), words)]
    single = bool(nw.from_native(frame).lazy().collect_schema()[plan.objective] == nw.Float32)
    counts = np.array([extent.numbers, kept - extent.numbers])
    return FirstLook(extent.rows, kept, single, (0, 63, 1), counts, notes), extent


def count_pushed(frame: Any, plan: Plan, levels: Levels, notes: list[Note]) -> Counts:
    """Counts by the engine that holds the table; the last level has the rows that do not count."""
    tables = {
        name: count_in_engine(frame, plan.objective, name, parameter, levels) for name, parameter in plan.space.items()
    }
    counts = next(iter(tables.values()))[0]
    moments = moments_in_engine(frame, plan.objective, levels)
    inner = {name: [table[:-1] for table in both] for name, both in tables.items()}
    return Counts(int(counts.sum()), int(counts[:-1].sum()), inner, moments, notes)
