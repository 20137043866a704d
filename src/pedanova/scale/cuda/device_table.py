"""Tables in GPU memory: guess the space, divide the objective into levels, and count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import keys_of
from pedanova.base.notes import Note
from pedanova.counting.arrays import kept_codes
from pedanova.counting.countable import Countable, Counted, assembled, levels_for
from pedanova.counting.few_rows import (
    GOLDEN,
    MOST_COMPARED,
    SAMPLED,
    FewRows,
    configuration_sample,
    factors_of,
    most_rows,
    strung_rows,
    weight_of,
)
from pedanova.counting.levels import Levels, RankedObjective
from pedanova.counting.tally import Counts, Moments, centres_of, powers_of
from pedanova.data.column import Column, cells_of
from pedanova.data.conditions import Presence
from pedanova.data.objectives import Goal, as_direction
from pedanova.data.observations import Observations, describe_outside
from pedanova.data.records import check_lengths
from pedanova.data.regions import sign_of
from pedanova.data.row_status import IF_DIVERGED, NO_OBJECTIVE, ended_note
from pedanova.data.space_inference import choose_space
from pedanova.data.table_options import TableOptions
from pedanova.errors import Arg, DataError, QueryError, SpaceError, listed, unknown_name
from pedanova.scale.cuda.device import THREADS, DeviceArray, blocks_for, fetching, here, kernel, launch, library
from pedanova.scale.cuda.order import ColumnExtent, Ranking, turn_of
from pedanova.scale.cuda.tables import (
    DeviceColumn,
    DeviceRows,
    Units,
    add_bands,
    bands_of,
    count_columns,
    rounded,
    units_for,
)
from pedanova.scale.parts import conditional, directed
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Ordinal, Parameter

SAMPLE = 50_000
LOOKED_AT, MOST_CHOSEN = 3 * SAMPLED // 2, 4 * SAMPLED  # rows that are probably enough for a sample; that are copied
FEW = 200  # up to this many distinct numbers, all are found
SHORT = ("int8", "uint8", "int16", "uint16")
AT_ONCE = 1 << 22  # rows that are fetched at a time to find one outside the space
CHOOSING = 256  # threads of a block that chooses rows
REFUSED = ("where", "feasible", "state", "blocks")


def extent_of(array: Any) -> ColumnExtent:
    """The range of a column's numbers, and whether they are integers, from one pass over the column."""
    words = library().zeros(ColumnExtent.WORDS, dtype=np.uint64)
    DeviceArray.of(array).read_by("extent", words)
    return ColumnExtent.of(library().asnumpy(words))


def exponents_of(array: Any) -> NDArray[np.int64]:
    """The number of values with each binary exponent, as an array (2048,)."""
    cupy, reading = library(), DeviceArray.of(array)
    counts = cupy.zeros(2048, dtype=np.uint64)
    function = kernel("exponents", reading.word, "false", shared=8192)
    blocks = blocks_for(len(array), THREADS, 4 * here()[0])
    launch(function, blocks, THREADS, (reading.array, np.int64(reading.stride), np.int64(len(array)), counts), 8192)
    by_exponent: NDArray[np.int64] = cupy.asnumpy(counts).astype(np.int64)
    return by_exponent


@dataclass(slots=True, eq=False)
class DeviceColumns:
    """Small columns in main memory that represent the columns of a table on a GPU when the space is guessed."""

    table: Mapping[str, Any]
    extents: dict[str, ColumnExtent] = field(default_factory=dict)

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        return {name: self._column(name) for name in names}

    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence:
        names = list(dict.fromkeys([*children, *parents]))
        return Presence.of({name: Column(name, self._sample(name)) for name in names}, children, parents)

    def notes(self) -> list[Note]:
        return []

    def _sample(self, name: str) -> NDArray[Any]:
        """The values in a sample of rows from the whole table; the sample is the same for every column."""
        cupy, array = library(), self.table[name]
        rows = np.unique(np.linspace(0, len(array) - 1, min(len(array), SAMPLE)).astype(np.int64))
        picked: NDArray[Any] = cupy.asnumpy(array[cupy.asarray(rows)])
        return picked

    def _column(self, name: str) -> Column:
        array = self.table[name]
        sample = self._sample(name)
        extent = self.extents.setdefault(name, extent_of(array))
        gaps = extent.absent > 0
        finite = sample[np.isfinite(sample)] if sample.dtype.kind == "f" else sample
        distinct = np.unique(finite)
        ends = np.array([end for end in (extent.low, extent.high) if end == end]).astype(sample.dtype)
        beyond = np.setdiff1d(ends, distinct)
        if len(distinct) <= FEW and not self._are_all(array, np.union1d(distinct, ends)):
            more = self._others(array, distinct)
            beyond = np.union1d(beyond, more)
        values = np.concatenate([sample, beyond])
        if not gaps:
            return Column(name, values)
        values = np.append(values, values[-1:])
        return Column(name, values, None, np.arange(len(values)) == len(values) - 1)

    def _are_all(self, array: Any, values: NDArray[Any]) -> bool:
        if not len(values):
            return True
        grid = grid_of(Ordinal(tuple(value.item() for value in values)))
        rows = DeviceRows(library().zeros(len(array), dtype=np.uint8))
        ((counts, _),) = count_columns(rows, 1, None, [DeviceColumn("", grid, array)])
        return not counts[0, grid.outside]

    def _others(self, array: Any, distinct: NDArray[Any]) -> NDArray[Any]:
        """Some numbers of `array` that are not in `distinct`."""
        cupy = library()
        strange = ~cupy.isin(array, cupy.asarray(distinct)) & ~cupy.isnan(array)
        rows = cupy.flatnonzero(strange)[: 4 * FEW]
        others: NDArray[Any] = cupy.asnumpy(array[rows])
        return others


@dataclass(slots=True, eq=False)
class DeviceTable(Countable):
    """Columns and one objective in the memory of the GPU in use."""

    columns: Mapping[str, Any]
    goal: Any
    with_sums: bool = True
    notes: list[Note] = field(default_factory=list)
    chosen: RowsOnTheWay | None = None  # the first rows that may be in a sample, which the GPU finds before it counts
    _few: FewRows | None = None
    _ranking: Ranking | None = None
    _ends: tuple[Levels, tuple[Any, Any]] | None = None

    @property
    def single(self) -> bool:
        return bool(self.goal.dtype == np.float32)

    @property
    def ranking(self) -> Ranking:
        if self._ranking is None:
            self._ranking = Ranking.of(self.goal, sign_of(self.direction))
        return self._ranking

    def rank_and_choose(self) -> None:
        """Rank the objective; the GPU then looks for the first rows of a sample, while the CPU goes on."""

        def choose() -> None:
            self.chosen = self.choose(LOOKED_AT / len(self.goal))

        self._ranking = Ranking.of(self.goal, sign_of(self.direction), choose)

    def ranked(self) -> RankedObjective:
        return self.ranking.values_at, len(self.goal), self.ranking.numbers

    def codes(self, levels: Levels) -> Any:
        """The level of each row, as a GPU array (rows,); rows that are left out have the level ``levels.count``."""
        cupy, small = library(), levels.count < 255
        codes = cupy.empty(len(self.goal), dtype=np.uint8 if small else np.uint16)
        nan_level = levels.count - 1 if levels.nan == "worst" else levels.count
        keys, table = self._slots(levels)
        packed = cupy.asarray(np.concatenate([keys.view(np.uint8), table.view(np.uint8)]))  # in one transfer
        tail = packed[keys.nbytes :], packed, np.int32(len(keys)), np.int32(nan_level), codes
        given, words = (turn_of(levels.sign), *self.ranking.window(), *tail), ("u8" if small else "u16",)
        DeviceArray.of(self.goal).read_by("level_codes", *given, words=words, shared=2 * len(table))
        return codes

    def _slots(self, levels: Levels) -> tuple[Any, Any]:
        """The integer keys at which levels end, and the result of `levels_of_slots` for these keys."""
        if self._ends is None or self._ends[0] is not levels:
            real = np.float32 if self.single else np.float64
            ends = rounded(levels.boundaries, real, up=True)
            keys = keys_of(ends)
            self._ends = levels, (keys, self.ranking.levels_of_slots(keys))
        return self._ends[1]

    def units(self, levels: Levels) -> list[Units]:
        """The units in which the objective is summed; several if one unit is not exact for all magnitudes."""
        extent = self.ranking.extent
        if not self.with_sums or extent.low != extent.low:
            return []
        rows = self.ranking.rows_of_levels(self._slots(levels)[0])
        units = units_for(levels, extent, rows, single=self.single)
        return bands_of(exponents_of(self.goal), levels.count) if units is None else [units]

    def count(self, levels: Levels) -> Counts:
        columns = [self._device_column(name) for name in self.space]
        own = DeviceRows(self.codes(levels), self.goal)
        bands: Sequence[Units | None] = self.units(levels) or [None]
        meanwhile = tuple if self.chosen is None else partial(self.sample, levels)
        counted = add_bands([count_columns(own, levels.count, units, columns, meanwhile) for units in bands])
        tables: dict[str, list[Any]] = {name: list(both) for name, both in zip(self.space, counted, strict=True)}
        rows = int(counted[0][0].sum())
        if not self.with_sums:  # most questions need none
            summed = cache(lambda: replace(self, with_sums=True).count(levels).tables)
            for name, both in tables.items():
                both[1] = partial(lambda name: summed()[name][1], name)
        return Counts(len(self.goal), rows, tables, None, list(self.notes))

    def sample(self, levels: Levels) -> FewRows:
        """All rows of a small table; otherwise the GPU finds rows with low numbers, which the CPU computes again."""
        if self._few is None and self.counted <= most_rows(self.space):
            cupy = library()
            rows = slice(None) if self.nan == "worst" else cupy.flatnonzero(~cupy.isnan(self.goal))
            columns = {name: cupy.asnumpy(self.columns[name][rows]) for name in self.space}
            self._few = self.sample_here(columns, cupy.asnumpy(self.goal[rows]), levels, 1.0)
        elif self._few is None:
            chosen = self.chosen or self.choose(LOOKED_AT / len(self.goal))
            few, many = chosen.sample(self, levels)
            while many <= MOST_CHOSEN and few.below >= chosen.limit and chosen.limit < 1.0:
                chosen = self.choose(2.0 * chosen.limit)
                few, many = chosen.sample(self, levels)
            self._few, self.chosen = few if many <= MOST_CHOSEN else self._sample_in_slices(levels), None
        return self._few

    def sample_here(self, columns: dict[str, NDArray[Any]], goal: NDArray[Any], levels: Levels, most: float) -> FewRows:
        """The sample of rows in main memory."""
        own = {name: Column(name, values) for name, values in columns.items()}
        goals = (Goal(self.objective, goal, self.direction, self.objective),)
        observed = Observations(own, goals, self.space, own)
        keep = None if self.counted <= most_rows(self.space) else 0  # all rows, or a sample of configurations
        return configuration_sample(observed, kept_codes(observed, levels), levels.count, keep=keep, most=most)

    def _sample_in_slices(self, levels: Levels) -> FewRows:
        """The sample of a table in which configurations have many rows; these are copied, a slice at a time."""
        few: FewRows | None = None
        for start in range(0, len(self.goal), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            columns = {name: column[rows] for name, column in self.columns.items()}
            own = replace(self, columns=columns, goal=self.goal[rows])
            more, _ = own.choose(1.0 if few is None else few.below, AT_ONCE).sample(own, levels)
            few = more if few is None else strung_rows([few, more])
        return cast("FewRows", few)

    def choose(self, limit: float, most: int = MOST_CHOSEN) -> RowsOnTheWay:
        return RowsOnTheWay.start(self, min(limit, 1.0), most)

    def _device_column(self, name: str) -> DeviceColumn:
        parameter, values = self.space[name], self.columns[name]
        grid = grid_of(parameter)
        if grid.inner is None:
            raise DataError(
                f"{name}: text categories cannot be counted on a GPU; use numbers in the column and in the space"
            )
        if values.dtype.name in SHORT:
            ends = np.iinfo(values.dtype)
            table = grid.locate(np.arange(ends.min, ends.max + 1))
            return DeviceColumn(name, grid, values, int(ends.min), table)
        return DeviceColumn(name, grid, values)

    def sum_moments(self, levels: Levels) -> Moments:
        """The moments of the objective in each level; the order of addition is fixed, for reproducible results."""
        cupy = library()
        codes, centres, powers = self.codes(levels), centres_of(levels), powers_of(levels)
        inside = "c == l && isfinite((double)y)"
        of = "(((double)y - m) * u)"
        text = "T y, C c, int32 l, float64 m, float64 u", "float64 s"
        total, square = (
            cupy.ReductionKernel(*text, f"{inside} ? {term} : 0.0", "a + b", "s = a", "0", f"pedanova_{name}")
            for name, term in (("sum", of), ("square", f"{of} * {of}"))
        )
        count = cupy.ReductionKernel("T y, C c, int32 l", "int64 s", "c == l", "a + b", "s = a", "0", "pedanova_rows")
        rows, sums, squares = [], [], []
        for level in range(levels.count):
            unit = float(np.ldexp(1.0, -int(powers[level])))
            given = self.goal, codes, np.int32(level), np.float64(centres[level]), np.float64(unit)
            rows.append(int(count(self.goal, codes, np.int32(level))))
            sums.append(float(total(*given)))
            squares.append(float(square(*given)))
        return Moments(centres, np.array(rows), np.array(sums), np.array(squares), powers)

    def describe_outside(self, name: str, parameter: Parameter, /) -> str:
        """A description of the first row outside the space; rows are searched in slices that fit into memory."""
        cupy, values, grid = library(), self.columns[name], grid_of(parameter)
        for start in range(0, len(values), AT_ONCE):
            piece = Column(name, cupy.asnumpy(values[start : start + AT_ONCE]))
            if (cells_of(piece, grid) == grid.outside).any():
                words = describe_outside(piece, piece, parameter)
                row = int(words.split(" ", 2)[1])
                return words.replace(f"row {row} ", f"row {start + row} ", 1)
        raise DataError(f"{name}: the column changed while it was counted")


@dataclass(frozen=True, slots=True, eq=False)
class RowsOnTheWay:
    """Rows of a table whose number from their configuration is below `limit`, on their way from the GPU."""

    limit: float
    most: int  # rows that are copied
    fetched: Callable[[], NDArray[np.uint64]]

    @classmethod
    def start(cls, table: DeviceTable, limit: float, most: int) -> RowsOnTheWay:
        cupy, names = library(), sorted(table.space)
        arrays = [DeviceArray.of(one) for one in (table.goal, *(table.columns[name] for name in names))]
        factors = [(*(factors_of(table.space[name]) or (GOLDEN,)), 0.0)[:2] for name in names]
        numbers = np.array([(*pair, weight_of(place)) for place, pair in enumerate(factors, start=1)])
        strides = np.array([array.stride for array in arrays], dtype=np.int64)
        given = cupy.asarray(np.concatenate([numbers.ravel().view(np.int64), strides]))  # in one transfer
        out = cupy.zeros(1 + most * (1 + len(arrays)), dtype=np.uint64)
        dense = "true" if all(array.dense for array in arrays) else "false"
        function = kernel("choose_rows", dense, *(array.word for array in arrays), file="sample.cu")
        rows, whole = len(table.goal), np.int32(table.nan == "worst")
        head = np.int64(rows), np.float64(limit), np.int64(most), whole, given, given[numbers.size :], out
        blocks = blocks_for(rows, 4 * CHOOSING, 8 * here()[0])
        launch(function, blocks, CHOOSING, (*head, *(array.array for array in arrays)))
        return cls(limit, most, fetching(out))

    def sample(self, table: DeviceTable, levels: Levels) -> tuple[FewRows, int]:
        """The sample of these rows, and how many rows were found; at most `most` were copied."""
        words, names = self.fetched(), sorted(table.space)
        many = int(words[0])
        records = words[1:].reshape(self.most, -1)[:many]
        columns = {name: as_stored(records[:, i], table.columns[name].dtype) for i, name in enumerate(names, start=2)}
        return table.sample_here(columns, as_stored(records[:, 1], table.goal.dtype), levels, self.limit), many


def as_stored(words: NDArray[np.uint64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of a type in the first bytes of each word."""
    stored: NDArray[Any] = np.ascontiguousarray(words).view(dtype)[:: 8 // dtype.itemsize]
    return stored


def count_device_table(columns: Mapping[str, Any], request: TableOptions, levels: object) -> Counted:
    cupy, arrays = library(), columns
    request, name = check_request(request, arrays)
    check_lengths(arrays)
    goal = arrays[name]
    if not len(goal):
        raise DataError("the table holds no rows; there is nothing to analyze")
    if goal.dtype.kind not in "f":
        goal = goal.astype(np.float64)
    request = directed(request, tuple(arrays))
    direction = as_direction(request.direction)
    objective = Goal(name, np.empty(0), direction, name)
    try:
        choice = choose_space(tuple(arrays), (objective,), request, DeviceColumns(arrays))
        for odd in conditional(choice.space, given=request.space is not None):
            words = f"{odd}: a conditional parameter cannot be counted on a GPU; pass "
            raise SpaceError(words, Arg("engine", "cpu", of="Scan"), " to copy the rows to the CPU")
        table = DeviceTable(name, direction, request.reading.ending, choice.space, arrays, goal, with_sums=False)
        if len(table.space) <= MOST_COMPARED and len(goal) > most_rows(table.space):
            table.rank_and_choose()
        cut = levels_for(table, levels)
        gone = len(goal) - table.ranking.numbers
        table.notes += [ended_note(gone, len(goal), NO_OBJECTIVE, table.nan, *IF_DIVERGED)] if gone else []
        own = [*request.notes, *choice.notes]
        return assembled(table, cut, table.count(cut), notes=own, inside=request.inside)
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DataError(
            f"the GPU has too little memory ({error}); pass scan=pa.Scan(engine='cpu'), or fewer columns in params="
        ) from None


def check_request(request: TableOptions, arrays: Mapping[str, Any]) -> tuple[TableOptions, str]:
    """Check that no option needs the rows in main memory; return the options and the name of the objective."""
    name = request.objective
    if not isinstance(name, str):
        raise QueryError(Arg("objective"), f" must be the name of a column, one of: {listed(list(arrays), most=40)}")
    if name not in arrays:
        raise DataError(unknown_name(name, tuple(arrays), what="column"))
    for option in REFUSED:
        if getattr(request, option) is not None:
            raise QueryError(
                Arg(option), " needs the rows on the CPU; pass ", Arg("engine", "cpu", of="Scan"), " to copy them"
            )
    if request.repeats not in (None, "all"):
        raise QueryError(
            Arg("repeats", request.repeats), " needs the rows on the CPU; pass ", Arg("engine", "cpu", of="Scan")
        )
    return replace(request, repeats=None), name
