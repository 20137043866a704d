"""Budgets of a table that is read in parts: every budget is counted by readings of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pedanova.analysis.budgets import Reals, check_several
from pedanova.base.notes import Note
from pedanova.counting.countable import Counted
from pedanova.errors import Arg, QueryError, unknown_name
from pedanova.measures.studies.along import ALL
from pedanova.scale.count_scan import IN_MEMORY
from pedanova.scale.narrowed import only, values_in
from pedanova.scale.rescan import Rescan


@dataclass(frozen=True, slots=True, eq=False)
class BudgetsInParts:
    """A column of budgets, and how many rows lie at each."""

    name: str
    values: Reals  # ascending
    rows: Mapping[float, int]
    source: Rescan
    quantiles: Sequence[Fraction]
    notes: tuple[Note, ...] = ()

    def counted(self, budget: float) -> Counted:
        """The rows at one budget, as a table of their own."""
        return only(self.source, self.name, budget, self.quantiles)

    def followed(self) -> bool:
        """Whether fewer rows are left at the highest budget; whether they are of the same trials is not known here."""
        return self.rows[float(self.values[-1])] < ALL * max(self.rows.values())


def budgets_in_parts(source: Rescan, budget: object, among: str, quantiles: Sequence[Fraction]) -> BudgetsInParts:
    """By a column that is a parameter of the analysis: whatever else needs all rows at once is refused."""
    if among != "all":
        raise QueryError(Arg("among", among), " needs all rows at once", *IN_MEMORY)
    if not isinstance(budget, str):
        raise QueryError(Arg("budget"), " must name one column where a table is read in parts", *IN_MEMORY)
    if budget not in source.space:
        raise QueryError(f"{unknown_name(budget, tuple(source.space))}", *IN_MEMORY)
    if len(source.space) < 2:
        raise QueryError(Arg("budget", budget), " is the only parameter; nothing is left to rank")
    counts = values_in(source, budget)
    rows = {value: many for value, many in sorted(counts.items()) if not math.isnan(value)}
    lost = sum(many for value, many in counts.items() if math.isnan(value))
    values, total = np.array(list(rows)), sum(rows.values())
    check_several(budget, values, total)
    words = f"{lost:,} of {total + lost:,} rows have no {budget} and are left out"
    return BudgetsInParts(budget, values, rows, source, quantiles, (Note("rows", words),) if lost else ())
