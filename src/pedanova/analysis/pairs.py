"""Questions about several parameters at once: pairs, larger sets, planes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

from pedanova.analysis.glances import AnalysisGlances
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import PairTally, tally_pairs
from pedanova.data.row_selection import RowSet
from pedanova.measures.interactions import (
    Interactions,
    SetInteractions,
    as_cells,
    as_order,
    choose,
    find_pairs,
    find_sets,
    groups_of,
)
from pedanova.measures.plane import PairDensity, pair_density
from pedanova.measures.question import DEFAULT, Question, check_no_paper


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisPairs(AnalysisGlances):
    """What parameters explain only together."""

    @overload
    def interactions(
        self,
        target: object = ...,
        region: object = ...,
        *,
        order: Literal[2] = ...,
        cells: object = ...,
        corrected: bool = ...,
        params: Iterable[str] | None = ...,
        estimator: str = ...,
        seed: int = ...,
        of: str = ...,
    ) -> Interactions: ...
    @overload
    def interactions(
        self,
        target: object = ...,
        region: object = ...,
        *,
        order: int,
        cells: object = ...,
        corrected: bool = ...,
        params: Iterable[str] | None = ...,
        estimator: str = ...,
        seed: int = ...,
        of: str = ...,
    ) -> SetInteractions | Interactions: ...
    def interactions(
        self,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        order: int = 2,
        cells: object = "auto",
        corrected: bool = True,
        params: Iterable[str] | None = None,
        estimator: str = DEFAULT.estimator,
        seed: int = DEFAULT.seed,
        of: str = DEFAULT.of,
    ) -> Interactions | SetInteractions:
        """What every two parameters explain together about being in the target, beyond the sum of both.

        Parameters
        ----------
        target, region
            As in `importance`. The rows must be at hand: pairs are counted when asked for.
        order
            2 for pairs; 3 to 5 for sets of so many, beyond all that their smaller sets explain
            (`SetInteractions`). Of many parameters those of the strongest pairs are asked: 12 for triples.
        cells
            Cells of each parameter, about equal in rows: ``"auto"`` is 8, or 4 below 100 target rows
            (1,000 for sets of three and more).
        corrected
            Whether what chance would explain is taken off.
        params
            The parameters to pair; None for all.
        estimator, of
            As in `importance`; p-values are those of the rows.
        seed
            Of the draws behind the p-values.
        """
        size = as_order(order)
        options: dict[str, Any] = {"cells": cells, "corrected": corrected, "params": params, "seed": seed}
        question = Question(target, region, estimator=estimator, seed=seed, of=of)
        check_no_paper(question, "interactions")
        wanted, base = self._as_rows(target, "target"), self._as_rows(region, "region")
        if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
            inner = self.within(base).interactions(wanted, order=size, estimator=estimator, of=of, **options)
            return replace(inner, region=str(base))
        observed = self._observed()
        resolved = self.resolved(replace(question, target=wanted, region=base))
        wanted, base = self._as_rows(resolved.target, "target"), self._as_rows(resolved.region, "region")
        contrasts, words, notes = self.ask(wanted, base)
        codes = self._codes(wanted, base)
        options["threads"] = self.threads
        found: Interactions | SetInteractions
        if size == 2:
            found = find_pairs(observed, codes, contrasts, told=resolved.pair_counter(), **options)
        else:
            found = find_sets(observed, codes, contrasts, order=size, told=resolved.set_counter(), **options)
        words = resolved.words or words
        return replace(found, target=words[0], region=words[1], notes=(*notes, *found.notes))

    def pair(
        self,
        first: str,
        second: str,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        cells: object = 8,
    ) -> PairDensity:
        """Rows of target and region on the plane of two parameters, by coarse cells."""
        contrasts, tally = self._count_pairs([first, second], target, region, cells)
        return pair_density(tally, contrasts[first], contrasts[second])

    def pairs(
        self,
        names: Sequence[str] | None = None,
        target: object = DEFAULT.target,
        region: object = DEFAULT.region,
        *,
        cells: object = 8,
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
        resolved = self.resolved(Question(wanted, base))
        wanted, base = self._as_rows(resolved.target, "target"), self._as_rows(resolved.region, "region")
        contrasts, _, _ = self.ask(wanted, base)
        chosen = {c.name: c for c in choose(contrasts, names)}
        groups = groups_of(chosen.values(), as_cells(cells, 0))
        return chosen, tally_pairs(self._observed(), self._codes(wanted, base), groups, threads=self.threads)
