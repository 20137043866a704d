"""The way back to the rows of a scan: thresholds and counts, as often as a question needs other ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import LEADING_BITS, Gathered, joined, pick_ranks, radix_select
from pedanova.counting.cut import Tallies
from pedanova.counting.levels import Levels, as_ladder, assemble, sought
from pedanova.data.expressions import columns_in
from pedanova.data.regions import Cut, Quantile, Threshold, rank_of
from pedanova.errors import DataError, LevelsError
from pedanova.scale.checkpoint import Checkpoint, Progress
from pedanova.scale.parts import (
    Counts,
    Look,
    Marks,
    Plan,
    Prefixes,
    count_part,
    digits_of_part,
    marked_of_part,
    strung,
    summed,
    wanted_of_part,
)
from pedanova.scale.pushdown import count_pushed, ranks_pushed
from pedanova.scale.readers import Crew, StartOverError
from pedanova.scale.spark import SparkCrew
from pedanova.space.parameters import Space

SORTED_AT_ONCE = 4_000_000  # rows that may be gathered to find the thresholds among them


@dataclass(frozen=True, slots=True, eq=False)
class Rescan:
    """The way back to the rows: they are read once more where a question needs other thresholds."""

    crew: Crew | SparkCrew
    plan: Plan
    look: Look
    engine: Any = None  # the table itself, where whoever holds it counts,
    extent: Any = None  # and what it said of the objective

    @property
    def single(self) -> bool:
        return self.look.single

    def count(self, levels: Levels) -> Counts:
        if self.engine is not None:
            return count_pushed(self.engine, self.plan, levels)
        return self.crew.total(count_part, Counts.sum, self.plan, levels, what="rows to count")

    def go_on(self, progress: Progress, checkpoint: Checkpoint) -> Counts:
        """Count the parts that are not counted yet, and keep what is."""
        checkpoint.save(progress, now=True)
        left = self.crew.each_but(
            sorted(progress.done), count_part, self.plan, progress.levels, what="rows to count"
        )
        try:
            for places, counts in left:
                progress.counts.add(counts)
                progress.done |= set(places)
                checkpoint.save(progress)
        finally:
            checkpoint.save(progress, now=True)
        return progress.counts

    def recut(self, levels: Levels, cuts: Iterable[Cut]) -> tuple[Levels, Tallies]:
        """Levels and counts for a later question; it must be about the very rows of the first."""
        known = set(self.crew.lost)
        try:
            return self._recut(levels, list(cuts))
        except StartOverError:
            lost = {name: self.crew.lost.pop(name) for name in set(self.crew.lost) - known}
            why = next(iter(lost.values()))  # forgotten again: no question is answered without these rows
            raise DataError(f"{why}; it was counted before: bring it back, or analyze the rest") from None

    def _recut(self, levels: Levels, cuts: Sequence[Cut]) -> tuple[Levels, Tallies]:
        parts = {cut.part for cut in cuts if isinstance(cut, Quantile)}
        finer = levels
        if not parts <= set(levels.quantiles):
            if not levels.own:
                raise LevelsError("the levels are those of other data; ask for one of their quantiles")
            finer = self.cut(as_ladder(parts | set(levels.quantiles)))
        finer = finer.with_values(cut.signed for cut in cuts if isinstance(cut, Threshold))
        return finer, self.count(finer).tallies(self.plan, finer)

    def cut(self, quantiles: Sequence[Fraction]) -> Levels:
        """Exact thresholds: one more reading of the objective where the first knew where to look, else two or three."""
        look, plan = self.look, self.plan
        if not look.numbers:
            raise DataError(f"objective {plan.objective!r} holds no number in {look.rows:,} rows")
        rows = look.kept if plan.nan == "worst" else look.numbers
        ranks = [rank_of(part, rows) for part in quantiles]
        found = self.values_at(sought(quantiles, ranks, look.numbers))
        return assemble(found, ranks, quantiles, direction=plan.direction, nan=plan.nan)

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

    def varies(self) -> bool:
        """Whether the objective differs anywhere; a row that counts as the worst differs from every number."""
        if self.look.kept > self.look.numbers and self.plan.nan == "worst":
            return True
        return len(set(self.values_at([1, self.look.numbers]).values())) > 1

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


def light(plan: Plan) -> Plan:
    """The same rows, their settings left unread."""
    return replace(
        plan, space=Space({}), needs=tuple(name for name in plan.needs if name in spoken_for(plan))
    )


def spoken_for(plan: Plan) -> set[str]:
    """Columns that tell the objective, and which rows count."""
    choices = (plan.objective, plan.where, plan.feasible, plan.state)
    return {name for choice in choices for name in named_in(choice, plan.needs)}


def named_in(choice: object, columns: Sequence[str]) -> list[str]:
    """The columns that a choice speaks of."""
    if choice is None:
        return []
    if isinstance(choice, dict):
        return [name for name in choice if name in columns]
    if isinstance(choice, list | tuple | set):
        return [name for one in choice for name in named_in(one, columns)]
    if isinstance(choice, str):
        return [choice] if choice in columns else list(columns_in(choice, dict.fromkeys(columns)))  # type: ignore[arg-type]
    return []
