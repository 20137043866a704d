"""Questions that follow the mouse: counted for themselves alone, where that suffices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pedanova.analysis.trials import AnalysisTrials
from pedanova.counting.contrasts import from_codes, from_few, rows_in
from pedanova.data.regions import Quantile, Region
from pedanova.measures.question import Question
from pedanova.measures.surrogate.answer import Glance
from pedanova.measures.surrogate.estimate import ALONE, Query


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisGlances(AnalysisTrials):
    """The numbers of `importance` and `all_densities` without draws and notes."""

    def at_once(self, question: Question, *, within: Sequence[object] = ()) -> Glance:
        """What ``within(*within)`` would say of target and region, in the least time."""
        question, target, region = question.without_draws(), question.target, question.region
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if within and not self.levels.several and self._by_value(wanted, base):
            query = self._counted_alone(within, wanted, base)
            if query is not None:
                return Glance(query, question, (str(wanted), str(base)), self.objective)
        inner = self.within(*within, at=(target, region))
        contrasts, words, _ = inner.ask(target, region)
        return Glance(inner.asked(contrasts, target, region), question, words, self.objective)

    def _by_value(self, *bands: object) -> bool:
        """Whether these are bands of the objective that are the same whatever the rows."""
        direction = self.levels.direction
        return all(
            isinstance(band, Region) and not any(isinstance(cut, Quantile) for cut in band.cuts(direction))
            for band in bands
        )

    def _counted_alone(self, within: Sequence[object], target: Any, region: Any) -> Query | None:
        """One pass for two codes instead of a ladder of levels: half the time, and the same counts.

        None where the long way is the same, or has words for what cannot be answered.
        """
        mask, counted = self._mask_of(within)
        if np.count_nonzero(mask) == np.count_nonzero(counted):  # none of the others counts
            return None
        observed = self._observed()
        inside, outside = rows_in(target, observed, mask), mask if region.is_all else rows_in(region, observed, mask)
        if not inside.any() or np.array_equal(inside, outside) or (inside & ~outside).any():
            return None
        codes = np.uint8(2) - outside.view(np.uint8) - inside.view(np.uint8)
        model = self._model_of(mask)
        return Query(
            contrasts=from_codes(observed, codes, threads=self.threads)
            if model is None
            else from_few(self.space, model.few, codes),
            target=target,
            region=region,
            levels=self.levels,
            count=int(mask.sum()),
            model=model,
            objection="" if model is not None and not model.cut_off else ALONE,
            inner=True,
        )
