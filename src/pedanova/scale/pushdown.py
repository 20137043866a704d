"""Let a database engine or lazy frame count its own table: grouped queries and the objective, but no whole rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.counting.arrays import kept_codes
from pedanova.counting.few_rows import (
    GOLDEN,
    SAMPLED,
    FewRows,
    bounded,
    configuration_sample,
    factors_of,
    mixed_draws,
    most_rows,
    rows_below,
)
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Counts, Moments, centres_of, powers_of
from pedanova.data.column import cells_of
from pedanova.data.observations import Observations
from pedanova.data.records import Records
from pedanova.data.trials import trial_numbers
from pedanova.errors import Arg, QueryError, Word
from pedanova.scale.parts import Plan, conditional, observe
from pedanova.sources.scans.batches import is_ibis
from pedanova.sources.scans.scan import TableScan
from pedanova.sources.tables.frames import read_frame
from pedanova.space.grid import Grid, grid_of
from pedanova.space.parameters import Float, Int, Parameter

Table = list[NDArray[Any]]  # counts and sums, both (levels, cells + 2)
LEVEL, VALUE, ROWS = "pedanova_level", "pedanova_value", "pedanova_rows"
SUM, SQUARE = "pedanova_sum", "pedanova_square"
LOW, HIGH, GONE = "pedanova_low", "pedanova_high", "pedanova_gone"
ODD = {"pedanova_plus": np.inf, "pedanova_minus": -np.inf, "pedanova_nan": np.nan}  # objectives with separate counts


Literal = Callable[[float], Any]  # makes an expression from a double


def literal_of(frame: Any) -> Literal:
    """A function that writes a double into a query without changing its value.

    ibis writes numbers as decimals, which DuckDB rounds to another double; a cast from text gives the exact double.
    """
    if nw.from_native(frame).implementation.is_ibis():
        return lambda value: nw.lit(repr(float(value))).cast(nw.Float64)
    return lambda value: nw.lit(float(value))


def count_in_engine(frame: Any, objective: str, name: str, parameter: Parameter, levels: Levels) -> Table:
    """Counts and objective sums by level and cell of one parameter; rows that are left out are in an extra level."""
    grid, number = grid_of(parameter), nw.col(objective).cast(nw.Float64)
    ranged = isinstance(parameter, Float) or (isinstance(parameter, Int) and grid.labels is None)  # many values a cell
    value = nw.col(name)
    if ranged:
        cell = steps(frame, name, 1.0, np.asarray(grid.inner), range(grid.cells))
        value = place(nw.col(name).cast(nw.Float64), cell, grid, literal_of(frame))
    columns = {LEVEL: level_of(frame, objective, levels), VALUE: value, SUM: finite(number)}
    return unfold(grouped(frame, number, columns, (LEVEL, VALUE), (SUM,)), grid, levels, ranged=ranged)


def grouped(frame: Any, number: Any, columns: dict[str, Any], keys: Sequence[str], sums: Sequence[str]) -> Any:
    """A grouped query: the number of rows, and the sums of the columns in `sums`, for each combination of `keys`."""
    columns = columns | {key: is_odd(number, odd) for key, odd in ODD.items()}
    lazy: Any = nw.from_native(frame).lazy().select(*(column.alias(key) for key, column in columns.items()))
    totals = [nw.col(key).sum().alias(key) for key in (*sums, *ODD)]
    return lazy.group_by(*keys).agg(nw.len().alias(ROWS), *totals).collect("pyarrow").to_native()


def moments_in_engine(frame: Any, objective: str, levels: Levels) -> Moments:
    """The moments of the objective in each level; the sums are NaN in a level with an objective that is not finite."""
    number, centres = nw.col(objective).cast(nw.Float64), centres_of(levels)
    centre = steps(frame, objective, levels.sign, levels.boundaries, centres.tolist())
    powers, beyond = powers_of(levels), number - centre
    if powers.any():
        scales = np.ldexp(1.0, -powers).tolist()
        beyond = beyond * steps(frame, objective, levels.sign, levels.boundaries, scales)
    value = finite(number, beyond)
    columns = {LEVEL: level_of(frame, objective, levels), SUM: value, SQUARE: value * value}
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
    """Whether a number is null or NaN; this must be tested first, because engines compare NaN differently."""
    return number.is_null() | number.is_nan()


def finite(number: Any, value: Any = None) -> Any:
    """An expression that is `value` if the objective is finite, otherwise 0, so that every engine can sum it."""
    usable = ~absent(number) & number.is_finite()
    return nw.when(usable).then(number if value is None else value).otherwise(nw.lit(0.0))


def is_odd(number: Any, odd: float) -> Any:
    """An expression that is 1 if the objective equals `odd` (an infinity or NaN), otherwise 0."""
    if np.isnan(odd):
        return nw.when(absent(number)).then(nw.lit(1)).otherwise(nw.lit(0))
    return nw.when(~absent(number) & (number == odd)).then(nw.lit(1)).otherwise(nw.lit(0))


def level_of(frame: Any, objective: str, levels: Levels) -> Any:
    unknown = levels.count - 1 if levels.nan == "worst" else levels.count
    inside = steps(frame, objective, levels.sign, levels.boundaries, range(levels.count))
    return nw.when(absent(nw.col(objective).cast(nw.Float64))).then(nw.lit(unknown)).otherwise(inside)


def place(number: Any, cell: Any, grid: Grid, literal: Literal) -> Any:
    """An expression for the cell of a number; a number beyond the bounds or between two steps is outside the space."""
    low, high = np.asarray(grid.accept_low)[0], np.asarray(grid.accept_high)[-1]
    inside = (number >= literal(low)) & (number <= literal(high))
    if grid.lattice is not None:
        first, step = grid.lattice
        whole = (number - first) / step
        inside = inside & (whole.floor() == whole)
    either = nw.when(inside).then(cell).otherwise(nw.lit(grid.outside))
    return nw.when(absent(number)).then(nw.lit(grid.missing)).otherwise(either)


def steps(frame: Any, name: str, sign: float, boundaries: NDArray[np.float64], leaves: Sequence[int | float]) -> Any:
    """An expression that selects ``leaves[i]``; i is the number of boundaries that are at most ``sign * column``."""
    literal, signed = literal_of(frame), nw.col(name).cast(nw.Float64) * sign
    made = [nw.lit(leaf) if isinstance(leaf, int) else literal(leaf) for leaf in leaves]
    return halved(
        [literal(end) for end in boundaries.tolist()],
        made,
        lambda end, below, above: nw.when(signed < end).then(below).otherwise(above),
    )


def halved(boundaries: Sequence[Any], leaves: Sequence[Any], choose: Callable[[Any, Any, Any], Any]) -> Any:
    """Write a binary search in `boundaries` as nested conditions, which select one of `leaves`."""
    if len(leaves) == 1:
        return leaves[0]
    half = (len(leaves) - 1) // 2
    below = halved(boundaries[:half], leaves[: half + 1], choose)
    above = halved(boundaries[half + 1 :], leaves[half + 1 :], choose)
    return choose(boundaries[half], below, above)


def unfold(groups: Any, grid: Grid, levels: Levels, *, ranged: bool) -> Table:
    """Convert the result of a grouped query to tables; rows that are left out are in an extra last level."""
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


def sample_in_engine(frame: Any, plan: Plan, levels: Levels, rows: int) -> FewRows | None:
    """All rows of a small table; otherwise the engine computes the number of each row, selects by it and merges rows.

    `rows` is the number of rows that count.
    """
    if rows <= most_rows(plan.space):
        few = nw.from_native(frame).lazy().select(*plan.needs).collect("pyarrow").to_native()
        observed = _observed(read_frame(few), plan)
        return configuration_sample(observed, kept_codes(observed, levels), levels.count)
    number, objective = literal_of(frame), nw.col(plan.objective).cast(nw.Float64)
    columns = [
        (_value(name, plan.space[name]), factors_of(plan.space[name]) or (GOLDEN,)) for name in sorted(plan.space)
    ]
    draws = mixed_draws(columns, lambda scaled: scaled.floor().cast(nw.Float64), number)
    made = {VALUE: draws, LEVEL: level_of(frame, plan.objective, levels), GONE: is_odd(objective, np.nan)}
    lazy: Any = nw.from_native(frame).lazy().with_columns(*(one.alias(name) for name, one in made.items()))
    limit = 2.0 * SAMPLED / rows
    while True:
        some = lazy if limit >= 1.0 else lazy.filter(nw.col(VALUE) < number(limit))
        few = merged_rows(some, plan, levels, min(limit, 1.0))
        if limit >= 1.0 or (few is not None and few.below < limit):
            return few
        limit *= 8.0


def merged_rows(lazy: Any, plan: Plan, levels: Levels, most: float) -> FewRows | None:
    """The sample of the rows of a query, merged by the engine by configuration and level; None if there are none."""
    keys, goal = (*plan.space, LEVEL, GONE), nw.col(plan.objective).cast(nw.Float64)
    others = [nw.col(name).min() for name in plan.needs if name not in {*plan.space, plan.objective}]
    ends = goal.min().alias(LOW), goal.max().alias(HIGH)
    groups = lazy.group_by(*keys).agg(nw.len().alias(ROWS), *ends, *others).collect("pyarrow")
    if not len(groups):
        return None
    columns = dict(read_frame(groups.to_native()).columns)
    counts, low, high = (columns.pop(key) for key in (ROWS, LOW, HIGH))
    best, worst = (low, high) if plan.sign > 0 else (high, low)
    columns = {name: columns[name] for name in plan.needs if name in columns}
    columns[plan.objective] = replace(best, name=plan.objective)
    observed = _observed(Records(columns), plan)
    few = rows_below(observed, kept_codes(observed, levels), levels.count, most)
    last = np.where(worst.absent(), np.inf, plan.sign * worst.values)[few.rows]
    return bounded(replace(few, counts=counts.values[few.rows].astype(np.int64), worst=last))


def _observed(records: Records, plan: Plan) -> Observations:
    observed = observe(records, plan)
    return replace(observed, trials=trial_numbers(observed.table, len(observed), ordered=False))


def _value(name: str, parameter: Parameter) -> Any:
    """An expression for the value of a parameter as a double; null if it is missing or infinite."""
    number = nw.col(name).cast(nw.Float64) if factors_of(parameter) else None
    if number is not None:
        return nw.when(~absent(number) & number.is_finite()).then(number)
    grid = grid_of(parameter)
    cell: Any = nw.lit(float(grid.outside))
    for label, place in zip(grid.labels or (), grid.match(grid.labels or ()), strict=True):
        cell = nw.when(nw.col(name) == nw.lit(label)).then(nw.lit(float(place))).otherwise(cell)
    return nw.when(~nw.col(name).is_null()).then(cell)


def engine_of(scan: TableScan, plan: Plan, *, pushdown: bool | None) -> Any:
    """The table, if its database engine counts the rows; None if the rows must be read."""
    frame = getattr(scan.parts[0], "plan", None)
    if pushdown is False or (pushdown is None and not is_ibis(frame)):
        return None
    if frame is None:
        words = " works only for DuckDB relations, Polars lazy frames and ibis tables"
        raise QueryError(Arg("pushdown", True), words)
    reason = why_not(plan)
    if reason is not None and pushdown is None:
        words = f"{scan.name} is counted in its database, but this cannot count "
        remedy = "; select the rows and columns in your query, or pass ", Arg("pushdown", False, of="Scan")
        raise QueryError(words, *reason, *remedy, " to read the rows")
    if reason is not None:
        raise QueryError(
            Arg("pushdown", True),
            " cannot count ",
            *reason,
            "; leave out ",
            Arg("pushdown"),
            ", or select the rows and columns in your query",
        )
    return frame


def why_not(plan: Plan) -> tuple[Word, ...] | None:
    """The reason why a database engine cannot count the table with these options; None if the engine can."""
    if plan.objective not in plan.needs:
        return ("an objective that is a condition",)
    for name in ("where", "feasible", "state"):
        choice = getattr(plan.request, name)
        if choice is not None:
            return ("rows chosen by ", Arg(name, choice))
    if plan.texts:
        return (f"the numbers in {plan.texts[0]!r}, which are stored as text",)
    odd = conditional(plan.space, given=plan.request.space is not None)
    return (f"the conditional parameter {odd[0]!r}",) if odd else None


def count_pushed(frame: Any, plan: Plan, levels: Levels, notes: list[Note]) -> Counts:
    """Let the engine of the table `frame` count the rows; rows that are left out are in an extra last level."""
    tables = {
        name: count_in_engine(frame, plan.objective, name, parameter, levels) for name, parameter in plan.space.items()
    }
    counts = next(iter(tables.values()))[0]
    moments = moments_in_engine(frame, plan.objective, levels)
    inner = {name: [table[:-1] for table in both] for name, both in tables.items()}
    return Counts(int(counts.sum()), int(counts[:-1].sum()), inner, moments, notes)
