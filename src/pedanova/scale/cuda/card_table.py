"""A table whose columns lie on a card, as a source of levels and counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from pedanova.base.notes import Count, Note
from pedanova.counting.countable import Recount, recut
from pedanova.counting.counts import Counts
from pedanova.counting.few_rows import FewRows
from pedanova.counting.levels import SMALL, Levels, assemble, setting_apart, sought
from pedanova.counting.moments import Moments, centres_of, powers_of
from pedanova.data.column import LAST_PLACES, Column, cells_of
from pedanova.data.conditions import idle_note
from pedanova.data.observations import describe_outside
from pedanova.data.regions import Cut, Direction, rank_of, sign_of
from pedanova.data.row_status import NanPolicy
from pedanova.errors import DataError, SpaceError, unknown_name
from pedanova.scale.cuda.device import CardArray, blocks_for, here, kernel, launch, library
from pedanova.scale.cuda.evidence import exponents_of
from pedanova.scale.cuda.order import Ranking, keys_of, single_keys, turn_of
from pedanova.scale.cuda.tables import CardColumn, CardRows, add_bands, count_columns, rounded
from pedanova.scale.cuda.units import Units, bands_of, units_for
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Moving, Parameter, Space, Switch, parents_first

SHORT = ("int8", "uint8", "int16", "uint16")
AT_ONCE = 1 << 22  # rows that are fetched to name one that is outside
THREADS = 512


@dataclass(slots=True, eq=False)
class CardTable:
    """Columns and one objective, on the card in use."""

    name: str
    direction: Direction
    nan: NanPolicy
    space: Space
    columns: Mapping[str, Any]
    goal: Any
    with_sums: bool = True
    notes: list[Note] = field(default_factory=list)
    _ranking: Ranking | None = None
    _missing: dict[str, Any] = field(default_factory=dict)
    _ends: tuple[Levels, tuple[Any, Any]] | None = None

    @property
    def objective(self) -> str:
        return self.name

    @property
    def several(self) -> bool:
        return False

    @property
    def single(self) -> bool:
        return bool(self.goal.dtype == np.float32)

    @property
    def ranking(self) -> Ranking:
        if self._ranking is None:
            self._ranking = Ranking.of(self.goal, sign_of(self.direction))
        return self._ranking

    def cut(self, quantiles: Sequence[Fraction], *, every: bool = False) -> Levels:
        rows, numbers = len(self.goal), self.ranking.numbers
        if not numbers:
            raise DataError(f"the objective holds no number in {rows:,} rows; every value is NaN")
        counted = rows if self.nan == "worst" else numbers
        ranks = [rank_of(part, counted) for part in quantiles]
        complete = every and numbers <= SMALL
        wanted = range(1, numbers + 1) if complete else sought(quantiles, ranks, numbers)
        values = self.ranking.values_at(wanted)
        own = list(values.values()) if complete else setting_apart(values, numbers, counted)
        levels = assemble(values, ranks, quantiles, direction=self.direction, nan=self.nan, values=own)
        return replace(levels, complete=complete)

    def codes(self, levels: Levels) -> Any:
        """(rows,) The level of each row, on the card; ``levels.count`` for rows that do not count."""
        cupy, goal = library(), CardArray.of(self.goal)
        small = levels.count < 255
        codes = cupy.empty(len(self.goal), dtype=np.uint8 if small else np.uint16)
        nan_level = levels.count - 1 if levels.nan == "worst" else levels.count
        keys, table = self._slots(levels)
        shared = 2 * len(table)
        function = kernel("level_codes", goal.word, "u8" if small else "u16", str(goal.dense).lower(), shared=shared)
        given = goal.array, np.int64(goal.stride), np.int64(len(codes)), turn_of(levels.sign)
        told = cupy.asarray(np.concatenate([keys.view(np.uint8), table.view(np.uint8)]))  # one journey
        tail = told[keys.nbytes :], told, np.int32(len(keys)), np.int32(nan_level), codes
        processors, _ = here()
        blocks = blocks_for(len(codes), 4 * THREADS, 3 * processors)
        launch(function, blocks, THREADS, (*given, *self.ranking.window(), *tail), shared)
        return codes

    def _slots(self, levels: Levels) -> tuple[Any, Any]:
        """Order keys where levels end, and the level of every slot of the ranking."""
        if self._ends is None or self._ends[0] is not levels:
            real = np.float32 if self.single else np.float64
            ends = rounded(levels.boundaries, real, up=True)
            keys = single_keys(ends) if self.single else keys_of(ends)
            self._ends = levels, (keys, self.ranking.levels_of_slots(keys))
        return self._ends[1]

    def units(self, levels: Levels) -> list[Units]:
        """In which units the objective is summed; several, each for sizes of its own, where one cannot hold all."""
        extent = self.ranking.extent
        if not self.with_sums or extent.low != extent.low:
            return []
        rows = self.ranking.rows_of_levels(self._slots(levels)[0])
        units = units_for(levels, extent, rows, single=self.single)
        return bands_of(exponents_of(self.goal), levels.count) if units is None else [units]

    def count(self, levels: Levels) -> Counts:
        notes, idle = self._conditions()
        columns = [self._card_column(name) for name in self.space]
        own = CardRows(self.codes(levels), self.goal)
        bands: Sequence[Units | None] = self.units(levels) or [None]
        found = add_bands([count_columns(own, levels.count, units, columns) for units in bands])
        tables: dict[str, list[Any]] = {name: list(both) for name, both in zip(self.space, found, strict=True)}
        rows = int(found[0][0].sum())
        return Counts(len(self.goal), rows, tables, None, [*self.notes, *notes], idle)

    def _card_column(self, name: str) -> CardColumn:
        parameter, values = self.space[name], self.columns[name]
        grid = grid_of(parameter)
        if grid.inner is None:
            raise DataError(f"{name}: names cannot be counted on a card; give its codes and a space of numbers")
        missing = self._missing.get(name)
        if values.dtype.name in SHORT:
            ends = np.iinfo(values.dtype)
            table = grid.locate(np.arange(ends.min, ends.max + 1))
            return CardColumn(name, grid, values, missing, int(ends.min), table)
        return CardColumn(name, grid, values, missing)

    def _conditions(self) -> tuple[list[Note], frozenset[str]]:
        """Rows without a value wherever a condition does not hold; parents come first."""
        notes: list[Note] = []
        idle: list[str] = []
        for name in parents_first(self.space):
            parameter = self.space[name]
            if isinstance(parameter, Moving | Switch):
                raise SpaceError(f"{name}: {type(parameter).__name__} cannot be counted on a card; bring it to memory")
            if parameter.when:
                notes += self._silence(name, parameter, idle)
        return notes, frozenset(idle)

    def _silence(self, name: str, parameter: Parameter, idle: list[str]) -> list[Note]:
        cupy, values = library(), self.columns[name]
        active = cupy.ones(len(values), dtype=bool)
        for parent, wanted in parameter.when:
            if parent not in self.columns:
                raise SpaceError(f"{name}: {unknown_name(parent, tuple(self.columns), what='column')}")
            held = equal_to_any(self.columns[parent], wanted)
            if parent in self._missing:
                held &= self._missing[parent] == 0
            active &= held
        absent = cupy.isnan(values) if values.dtype.kind == "f" else cupy.zeros(len(values), dtype=bool)
        unneeded, lacking = int((~active & ~absent).sum()), int((active & absent).sum())
        if not bool(active.any()):
            idle.append(name)
        self._missing[name] = (~active | absent).view(np.uint8)
        words = " rows have no value where it is active; counted as inactive"
        lack = [Note("rows", Count(lacking), words, subject=name)] if lacking else []
        return [*([idle_note(name, unneeded)] if unneeded else []), *lack]

    def recut(self, levels: Levels, cuts: Iterable[Cut]) -> Recount:
        return recut(self, levels, cuts)

    def constant(self) -> float | None:
        extent = self.ranking.extent
        varies = extent.low != extent.high or (self.nan == "worst" and extent.absent)
        return None if varies else extent.low

    def few(self) -> FewRows | None:
        return None

    def sum_moments(self, levels: Levels) -> Moments:
        """Mean and spread of the objective by level, each level in one fixed order of additions."""
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

    def describe_outside(self, name: str, parameter: Parameter) -> str:
        """The first row that breaks the space, sought in pieces that fit memory."""
        cupy, values, grid = library(), self.columns[name], grid_of(parameter)
        for start in range(0, len(values), AT_ONCE):
            piece = Column(name, cupy.asnumpy(values[start : start + AT_ONCE]))
            if (cells_of(piece, grid) == grid.outside).any():
                words = describe_outside(piece, piece, parameter)
                row = int(words.split(" ", 2)[1])
                return words.replace(f"row {row} ", f"row {start + row} ", 1)
        raise DataError(f"{name}: the column changed while it was counted")


def equal_to_any(values: Any, wanted: Sequence[Any]) -> Any:
    """(rows,) Where the column holds one of these numbers, as `data.cells.equals_any` says."""
    cupy = library()
    hit = cupy.zeros(len(values), dtype=bool)
    for value in wanted:
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if values.dtype.kind != "f":
            hit |= values == int(number) if number == number // 1 else False
            continue
        meant = values.dtype.type(number)
        slack = values.dtype.type(LAST_PLACES * np.spacing(np.abs(meant)) if np.isfinite(meant) else 0)
        hit |= (values == meant) | (cupy.abs(values - meant) <= slack)
    return hit
