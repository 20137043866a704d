"""An analysis with the questions about every two parameters, which are counted when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pedanova.analysis.trials import AnalysisTrials
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pair_arrays import tally_pairs
from pedanova.counting.pairs import PairTally
from pedanova.data.rowsets import RowSet
from pedanova.measures.interactions import Interactions, as_cells, choose, find_pairs, groups_of
from pedanova.measures.plane import PairDensity, pair_density
from pedanova.measures.surrogate.estimate import Options, as_options


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisPairs(AnalysisTrials):
    """Pairs of parameters; the rows must be at hand."""

    def interactions(
        self,
        target: object = 0.1,
        region: object = 1.0,
        *,
        cells: object = "auto",
        corrected: bool = True,
        params: Iterable[str] | None = None,
        estimator: str = "auto",
        seed: int = 0,
        of: str = "space",
    ) -> Interactions:
        """What every two parameters explain together about being in the target, beyond the sum of both.

        Parameters
        ----------
        target, region
            As in `importance`. The rows must be at hand: pairs are counted when asked for.
        cells
            Cells of each parameter, about equal in rows: ``"auto"`` is 8, or 4 below 100 target rows.
        corrected
            Whether what chance would explain is taken off.
        params
            The parameters to pair; None for all.
        estimator, of
            As in `importance`; p-values are those of the rows.
        seed
            Of the draws behind the p-values.
        """
        options = {"cells": cells, "corrected": corrected, "params": params, "seed": seed}
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
            inner = self.within(base)
            found = inner.interactions(wanted, estimator=estimator, of=of, **options)  # type: ignore[arg-type]
            return replace(found, region=str(base))
        observed = self._observed()
        meant = self.meant(wanted, base, as_options("region", "auto", estimator, 0, seed, force=True, of=of))
        wanted, base = self._as_rows(meant.target, "target"), self._as_rows(meant.region, "region")
        contrasts, words, notes = self.ask(wanted, base)
        codes, told = self._codes(wanted, base), meant.pairs_told()
        found = find_pairs(observed, codes, contrasts, threads=self.threads, told=told, **options)
        words = meant.words or words
        return replace(found, target=words[0], region=words[1], notes=(*notes, *found.notes))

    def pair(
        self, first: str, second: str, target: object = 0.1, region: object = 1.0, *, cells: object = 8
    ) -> PairDensity:
        """Rows of target and region on the plane of two parameters, by coarse cells."""
        contrasts, tally = self._count_pairs([first, second], target, region, cells)
        return pair_density(tally, contrasts[first], contrasts[second])

    def pairs(
        self, names: Sequence[str] | None = None, target: object = 0.1, region: object = 1.0, *, cells: object = 8
    ) -> dict[tuple[str, str], PairDensity]:
        """`pair` of every two of these parameters (None for all), the rows counted once."""
        contrasts, tally = self._count_pairs(names, target, region, cells)
        return {pair: pair_density(tally, *(contrasts[name] for name in pair)) for pair in tally.pairs}

    def _count_pairs(
        self, names: Sequence[str] | None, target: object, region: object, cells: object
    ) -> tuple[dict[str, Contrast], PairTally]:
        self._observed()
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
            return self.within(base)._count_pairs(names, wanted, 1.0, cells)  # noqa: SLF001  (its own kind)
        meant = self.meant(wanted, base, Options())
        wanted, base = self._as_rows(meant.target, "target"), self._as_rows(meant.region, "region")
        contrasts, _, _ = self.ask(wanted, base)
        chosen = {c.name: c for c in choose(contrasts, names)}
        groups = groups_of(chosen.values(), as_cells(cells, 0))
        return chosen, tally_pairs(self._observed(), self._codes(wanted, base), groups, threads=self.threads)
