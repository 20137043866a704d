"""The way back to the rows of a scan: thresholds and counts, as often as a question needs other ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import LEADING_BITS, Gathered, joined, pick_ranks, radix_select
from pedanova.counting.countable import Recount, recut
from pedanova.counting.counts import Counts
from pedanova.counting.few_rows import FewRows
from pedanova.counting.levels import SMALL, Levels, assemble, setting_apart, sought
from pedanova.data.regions import Cut, Direction, rank_of
from pedanova.data.row_status import NanPolicy
from pedanova.errors import DataError
from pedanova.scale.parts import (
    FirstLook,
    Marks,
    Plan,
    Prefixes,
    count_part,
    digits_of_part,
    few_of_part,
    in_slices,
    light,
    marked_of_part,
    strung,
    strung_parts,
    summed,
    wanted_of_part,
)
from pedanova.scale.pushdown import count_pushed, ranks_pushed
from pedanova.scale.readers import Crew, StartOverError
from pedanova.scale.spark_crew import SparkCrew
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter, Space

SORTED_AT_ONCE = 4_000_000  # rows that may be gathered to find the thresholds among them
LARGE_RESULT = 1 << 23  # counts of a part, 128 MB with their sums: threads then share one table


@dataclass(frozen=True, slots=True, eq=False)
class Rescan:
    """The way back to the rows: they are read once more where a question needs other thresholds."""

    crew: Crew | SparkCrew
    plan: Plan
    look: FirstLook
    engine: Any = None  # the table itself, where whoever holds it counts,
    extent: Any = None  # and what it said of the objective

    @property
    def objective(self) -> str:
        return self.plan.objective

    @property
    def direction(self) -> Direction:
        return self.plan.direction

    @property
    def nan(self) -> NanPolicy:
        return self.plan.nan

    @property
    def several(self) -> bool:
        return False

    @property
    def space(self) -> Space:
        return self.plan.space

    @property
    def single(self) -> bool:
        return self.look.single

    def count(self, levels: Levels) -> Counts:
        if self.engine is not None:
            return count_pushed(self.engine, self.plan, levels, self.look.notes)
        if isinstance(self.crew, Crew) and self.crew.executor is None and self._cells(levels) > LARGE_RESULT:
            slices = [
                self.crew.at_once(count_part, plan, levels, what="rows to count") for plan in in_slices(self.plan)
            ]
            return Counts.beside(slices)
        return self.crew.total(count_part, Counts.sum, self.plan, levels, what="rows to count")

    def _cells(self, levels: Levels) -> int:
        return levels.count * sum(grid_of(parameter).width for parameter in self.space.values())

    def recut(self, levels: Levels, cuts: Iterable[Cut]) -> Recount:
        """Levels and counts for a later question; it must be about the very rows of the first."""
        known = set(self.crew.lost)
        try:
            return recut(self, levels, cuts)
        except StartOverError:
            lost = {name: self.crew.lost.pop(name) for name in set(self.crew.lost) - known}
            why = next(iter(lost.values()))  # forgotten again: no question is answered without these rows
            raise DataError(f"{why}; it was counted before: bring it back, or analyze the rest") from None

    def cut(self, quantiles: Sequence[Fraction], *, every: bool = False) -> Levels:
        """Exact thresholds: one more reading of the objective where the first knew where to look, else two or three."""
        look, plan = self.look, self.plan
        if not look.numbers:
            raise DataError(f"the objective holds no number in {look.rows:,} rows; every value is NaN")
        rows = look.kept if plan.nan == "worst" else look.numbers
        ranks = [rank_of(part, rows) for part in quantiles]
        complete = every and look.numbers <= SMALL
        wanted = range(1, look.numbers + 1) if complete else sought(quantiles, ranks, look.numbers)
        values = self.values_at(wanted)
        own = list(values.values()) if complete else setting_apart(values, look.numbers, rows)
        levels = assemble(values, ranks, quantiles, direction=plan.direction, nan=plan.nan, values=own)
        return replace(levels, complete=complete)

    def values_at(self, ranks: Iterable[int]) -> dict[int, float]:
        """The signed objective at each of these ranks (1 = smallest)."""
        wanted = np.unique(np.fromiter(ranks, dtype=np.int64))
        look = self.look
        if not len(wanted):
            return {}
        if self.engine is not None:
            values = ranks_pushed(self.engine, light(self.plan), wanted, self.extent)
        elif look.window == LEADING_BITS:
            values = self._by_radix(wanted)
        else:
            values = pick_ranks(look.counts, wanted, self._gather, self._by_radix, most=SORTED_AT_ONCE)
        return dict(zip(wanted.tolist(), values.tolist(), strict=True))

    def constant(self) -> float | None:
        """The objective of all rows, where it is the same; a row that counts as the worst differs from every number."""
        if self.look.kept > self.look.numbers and self.plan.nan == "worst":
            return None
        values = set(self.values_at([1, self.look.numbers]).values())
        return self.plan.sign * values.pop() if len(values) == 1 else None

    def few(self) -> FewRows | None:
        """Read once more; whoever counts by itself does not hand out rows."""
        if self.engine is not None:
            return None
        return self.crew.total(few_of_part, strung_parts, self.plan, what="rows for a model")

    def describe_outside(self, _: str, parameter: Parameter) -> str:
        return f"rows lie outside {parameter}"

    def _gather(self, marks: NDArray[np.int32], few: int, large: int) -> Gathered:
        asked = Marks.of(self.look.window, marks, few, large)
        return self.crew.total(marked_of_part, joined, light(self.plan), asked, what="rows for thresholds")

    def _by_radix(self, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
        plan = light(self.plan)

        def count(tables: list[NDArray[np.int32]], nodes: int, bits: int) -> NDArray[np.int64]:
            if not tables and self.look.window == LEADING_BITS:  # counted at the first look
                return np.append(self.look.counts[:-1], 0)[None, :]
            asked = Prefixes.of(tables), nodes, bits
            return self.crew.total(digits_of_part, summed, plan, *asked, what="rows for thresholds")

        def gather(tables: list[NDArray[np.int32]], most: int) -> NDArray[np.float64]:
            asked = Prefixes.of(tables), most
            return self.crew.total(wanted_of_part, strung, plan, *asked, what="rows for thresholds")

        return radix_select(count, gather, wanted, few=SORTED_AT_ONCE)
