"""An analysis with the rows themselves to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from pedanova.analysis.rows import AnalysisRows
from pedanova.counting.few_rows import counted_rows
from pedanova.data.prepare import reordered
from pedanova.data.trials import Codes, Indices, Trials, best_first, sampled, sorted_by, taken, trials_of
from pedanova.errors import Arg, QueryError, UnknownParameterError, unknown_name
from pedanova.measures.question import Question

LARGE = 2_000_000  # rows above which a first answer comes from a sample
SAMPLE = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisTrials(AnalysisRows):
    """Rows as a table; they must be at hand."""

    def trials(
        self,
        target: object = None,
        region: object = 1.0,
        *,
        sort: str | None = None,
        descending: bool = False,
        offset: int = 0,
        limit: int | None = 50,
        sample: int | None = None,
        params: Sequence[str] | None = None,
        of: str = "space",
        seed: int = 0,
    ) -> Trials:
        """The rows with their settings and objective, best first.

        Of some rows only: ``a.within("optimizer == 'adam'").trials()``. Rows that do not count (dropped, failed)
        are not among them.

        Parameters
        ----------
        target, region
            As in `importance`. Where a target is named, the column ``in`` says whether a row lies in it, or
            elsewhere in the region.
        sort
            A parameter, an objective or ``"row"`` to order by; by default the best come first. What has no value
            comes last, either way.
        descending
            Whether the largest come first, where `sort` names a column.
        offset, limit
            The first row to show, and how many; None for all.
        sample
            Show so many rows drawn at random instead, in the same order.
        params
            The parameters to show; None for all.
        of
            What parts are parts of, as in `importance`.
        seed
            Of the sample.
        """
        for name, value in (("offset", offset), ("limit", limit), ("sample", sample)):
            _check_whole(name, value, needed=name == "offset")
        for name in params or ():
            if name not in self.space:
                raise UnknownParameterError(unknown_name(name, tuple(self.space)))
        observed = self._observed()
        rows = np.flatnonzero(counted_rows(observed, self.levels.nan))
        total = len(rows)
        rows = rows if sample is None else sampled(rows, sample, seed)
        many = len(rows) if limit is None else min(offset + limit, len(rows))
        if sort is None:
            ordered = best_first(observed, rows, many)
        else:
            ordered = sorted_by(observed, rows, sort, many, descending=descending)
        shown = ordered[offset:]
        codes = None if target is None else self._members(target, region, of, seed, shown)
        return trials_of(observed, shown, total, codes, params)

    @cached_property
    def excerpt(self) -> Self | None:
        """The same analysis of a sample of the rows, where there are so many that a count takes long."""
        if self.observations is None or self.rows <= LARGE:
            return None
        rows = np.flatnonzero(counted_rows(self.observations, self.levels.nan))
        return self._like(reordered(taken(self.observations, sampled(rows, SAMPLE, 0))))

    def _members(self, target: object, region: object, of: str, seed: int, shown: Indices) -> Codes:
        """(shown rows,) 0 in the target, 1 elsewhere in the region, 2 elsewhere."""
        resolved = self.resolved(Question(target, region, of=of, seed=seed))
        wanted, base = self._as_rows(resolved.target, "target"), self._as_rows(resolved.region, "region")
        return self._codes(wanted, base, shown)


def _check_whole(name: str, value: object, *, needed: bool) -> None:
    if value is None and not needed:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise QueryError(Arg(name, value), " must be a whole number from 0 up" + ("" if needed else ", or None"))
