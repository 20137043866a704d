"""Counting where the rows lie: one grouping for each parameter, run by the engine that holds the table.

Single values (categories, ordinal levels, whole numbers) are grouped as they are, and the few groups
placed here by the code that places rows. Ranges are placed by the engine, by comparing with the
grid's own boundaries: the same doubles, hence the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pedanova.counting.levels import Levels
from pedanova.counting.moments import Moments, centres_of, powers_of
from pedanova.data.column import cells_of
from pedanova.errors import DataError
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


def is_single(frame: Any, name: str) -> bool:
    """Whether a column is kept in single precision."""
    return bool(nw.from_native(frame).lazy().collect_schema()[name] == nw.Float32)


def count_in_engine(frame: Any, objective: str, name: str, parameter: Parameter, levels: Levels) -> Table:
    """Rows and sums of the objective by [level × cell] of one parameter; a last level does not count."""
    grid, number = grid_of(parameter), nw.col(objective).cast(nw.Float64)
    ranged = is_ranged(parameter)
    frame, inside = level_steps(frame, objective, levels)
    value = nw.col(name)
    if ranged:
        frame, cell = steps(frame, CELL, name, 1.0, boundaries_of(grid), range(grid.cells))
        value = place(nw.col(name).cast(nw.Float64), cell, grid, literal_of(frame))
    columns = [level_of(number, inside, levels).alias(LEVEL), value.alias(VALUE), finite(number).alias(SUM)]
    columns += [is_odd(number, odd).alias(key) for key, odd in ODD.items()]
    lazy: Any = nw.from_native(frame).lazy()
    sums = [nw.col(key).sum().alias(key) for key in (SUM, *ODD)]
    groups = lazy.select(*columns).group_by(LEVEL, VALUE).agg(nw.len().alias(ROWS), *sums)
    return unfold(groups.collect("pyarrow").to_native(), grid, levels, ranged=ranged)


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
    columns = [level_of(number, inside, levels).alias(LEVEL), finite(number, beyond).alias(SUM)]
    columns += [is_odd(number, odd).alias(key) for key, odd in ODD.items()]
    lazy: Any = nw.from_native(frame).lazy()
    squared = lazy.select(*columns).with_columns((nw.col(SUM) * nw.col(SUM)).alias(SQUARE))
    sums = [nw.col(key).sum().alias(key) for key in (SUM, SQUARE, *ODD)]
    groups = squared.group_by(LEVEL).agg(nw.len().alias(ROWS), *sums).collect("pyarrow").to_native()
    grouped = {name: column.values for name, column in read_frame(groups).columns.items()}
    tables = np.zeros((3, levels.count + 1))
    odd = sum(grouped[key] for key in ODD) > 0
    place = grouped[LEVEL].astype(np.int64)
    tables[0, place] = grouped[ROWS]
    tables[1, place] = np.where(odd, np.nan, grouped[SUM])
    tables[2, place] = np.where(odd, np.inf, grouped[SQUARE])
    return Moments(centres, tables[0, :-1].astype(np.int64), tables[1, :-1], tables[2, :-1], powers)


def is_ranged(parameter: Parameter) -> bool:
    """Cells with many values in each."""
    return isinstance(parameter, Float) or (isinstance(parameter, Int) and grid_of(parameter).labels is None)


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


def boundaries_of(grid: Grid) -> NDArray[np.float64]:
    if grid.inner is None:
        raise DataError(f"{grid.parameter} has no range to be compared with")
    return grid.inner


def place(number: Any, cell: Any, grid: Grid, literal: Literal) -> Any:
    """The cell of a number on a range; whole numbers must be whole, and on their lattice."""
    if grid.accept_low is None or grid.accept_high is None:
        raise DataError(f"{grid.parameter} has no range to be compared with")
    inside = (number >= literal(grid.accept_low[0])) & (number <= literal(grid.accept_high[-1]))
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
