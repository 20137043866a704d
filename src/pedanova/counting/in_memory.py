"""Rows in memory, as a source of levels and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import Survey, survey_rows
from pedanova.counting.arrays import count_codes, kept_codes, kept_values
from pedanova.counting.countable import Recount, recut
from pedanova.counting.counts import Counts
from pedanova.counting.few_rows import FewRows, counted_rows, few_rows
from pedanova.counting.levels import Levels, cut_levels
from pedanova.data.column import count_nan
from pedanova.data.observations import Observations, describe_outside
from pedanova.data.regions import Cut, Direction, sign_of
from pedanova.data.row_status import NanPolicy
from pedanova.space.parameters import Parameter, Space


@dataclass(slots=True, eq=False)
class InMemory:
    """Observations, and the threads to count them with."""

    observed: Observations
    nan: NanPolicy
    threads: int = 1
    _survey: Survey | None = (
        None  # one look at the objective of the rows that are kept serves for thresholds and for levels
    )

    @property
    def objective(self) -> str:
        return self.observed.name

    @property
    def direction(self) -> Direction:
        return self.observed.direction

    @property
    def space(self) -> Space:
        return self.observed.space

    @property
    def several(self) -> bool:
        return len(self.observed.goals) > 1

    @property
    def single(self) -> bool:
        return self.observed.ranked.dtype == np.float32

    def cut(self, quantiles: Sequence[Fraction], *, every: bool = False) -> Levels:
        kept = self._kept()
        self._survey = survey_rows(kept, sign_of(self.direction), threads=self.threads)
        cut = cut_levels(
            kept,
            direction=self.direction,
            nan=self.nan,
            quantiles=quantiles,
            every=every,
            threads=self.threads,
            survey=self._survey,
        )
        return replace(cut, several=self.several)

    def count(self, levels: Levels) -> Counts:
        codes = kept_codes(self.observed, levels, threads=self.threads, survey=self._survey)
        self._survey = None  # forgotten before counting: it is as large as the objective
        counted = count_codes(self.observed, codes, levels.count, threads=self.threads)
        tables = {name: list(both) for name, both in counted.items()}
        rows = int(next(iter(counted.values()))[0].sum())
        return Counts(len(self.observed), rows, tables, None, list(self.observed.notes), self.observed.idle)

    def recut(self, levels: Levels, cuts: Iterable[Cut]) -> Recount:
        return recut(self, levels, cuts)

    def constant(self) -> float | None:
        values = self._kept()
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        varies = low != high or (self.nan == "worst" and count_nan(values))
        return None if varies else float(low)

    def few(self) -> FewRows:
        return few_rows(self.observed, np.flatnonzero(counted_rows(self.observed, self.nan)))

    def describe_outside(self, name: str, parameter: Parameter) -> str:
        return describe_outside(self.observed.table[name], self.observed.columns[name], parameter)

    def _kept(self) -> NDArray[Any]:
        return kept_values(self.observed, threads=self.threads)
