"""The paper's own rules for a smaller space, taken literally, to be held against those of this package.

A domain is cut to where the target's density is at least that of a uniform draw, p(x) ≥ u(x). A parameter
whose importance is low both over all rows and among the best is dropped: fixed where the target is densest.
The paper gives no number for low; here it is a tenth of an even part. Rows alone decide, chance or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.counting.contrasts import Contrast
from pedanova.data.regions import Region
from pedanova.errors import Arg, PedanovaError, QueryError
from pedanova.measures.asks import Asks
from pedanova.measures.densities import Densities, densities_of
from pedanova.measures.importance import NEVER
from pedanova.measures.parzen import paper_densities
from pedanova.reduction.boxes import Axis, axis_of
from pedanova.reduction.domains import constant, is_constant, middle, shrunk
from pedanova.reduction.evidence import Holds, judged
from pedanova.reduction.result import Evidence, ReducedSpace, Verdict
from pedanova.reduction.search import Rows, Search, best_part
from pedanova.reduction.verdicts import consistent, small, unchanged
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, in_words, parents_of

LOW = 0.1  # of an even part: a ratio below that is low
LITERAL = "the paper's rules were asked for: they tell no parameter from noise, and cut where chance cuts"


def paper_space(a: Asks, search: Search, words: str, *, widen: bool, estimator: str, folds: int) -> ReducedSpace:
    """Every parameter by the two rules; `search` has the rows and the target."""
    by = check_literal(estimator, widen=widen)
    rule = PaperRule(search, by, low_ones(a, search, by))
    verdicts = consistent([rule.verdict(contrast) for contrast in search.query.contrasts])
    changed = any(row.advice == "narrow" for row in verdicts)
    evidence = rule.evidence(folds) if folds and changed else None
    return ReducedSpace(verdicts, evidence, words, 0.0, (Note("answer", LITERAL),))


def check_literal(estimator: str, *, widen: bool) -> str:
    """Rows alone decide, by our densities of them or by the authors'."""
    if estimator not in ("auto", "counts", "paper"):
        raise QueryError(
            Arg("estimator", estimator), " cannot be used with ", Arg("rule", "paper"), "; use 'counts' or 'paper'"
        )
    if widen:
        raise QueryError(Arg("widen", True), " cannot be used with ", Arg("rule", "paper"), ": it only narrows")
    return "paper" if estimator == "paper" else "counts"


def low_ones(a: Asks, search: Search, estimator: str) -> Mapping[str, tuple[float, float]]:
    """Ratios, over all rows and among the best, of the parameters where both are low."""
    target = search.target
    if not isinstance(target, Region) or target.kind != "quantile" or target.low or target.high is None:
        return {}
    options: dict[str, Any] = {"estimator": estimator, "draws": 0, "of": "rows"}
    try:
        local = a.importance(target.high / 10, target.high, **options).ratios
    except PedanovaError:  # too few rows
        return {}
    ratios = a.importance(target.high, **options).ratios
    leading = {parent for parameter in search.observed.space.values() for parent in parents_of(parameter)}
    low = [name for name in ratios if max(ratios[name], local[name]) < LOW / len(ratios) and name not in leading]
    return {name: (ratios[name], local[name]) for name in low}


@dataclass(frozen=True, slots=True, eq=False)
class PaperRule:
    """Both rules for one target."""

    search: Search
    estimator: str
    low: Mapping[str, tuple[float, float]]

    def verdict(self, contrast: Contrast) -> Verdict:
        name, parameter = contrast.name, contrast.grid.parameter
        if not isinstance(parameter, Float | Int | Ordinal | Categorical):
            return unchanged(name, "keep", "its bounds change from row to row; left alone", parameter)
        if not contrast.varies:
            return unchanged(name, "undecided", f"{NEVER}, so nothing can be said; left alone", parameter)
        if name in self.low:
            return self.dropped(contrast, parameter)
        return self.narrowed(contrast, parameter)

    def dropped(self, contrast: Contrast, parameter: Domain) -> Verdict:
        axis = own_axis(contrast)
        densest = int(np.argmax(by_group(axis, self.densities(contrast))))
        value = middle(parameter, axis, contrast.grid, densest)
        here, there = self.low[contrast.name]
        reason = (
            f"{small(here)} over all rows and {small(there)} among the best are low; the target is densest at {value}"
        )
        return Verdict(contrast.name, "fix", reason, parameter, constant(value, parameter), 0.0)

    def narrowed(self, contrast: Contrast, parameter: Domain) -> Verdict:
        axis, groups = own_axis(contrast), self.dense(contrast)
        after = shrunk(parameter, axis, contrast.grid, groups)
        if after == parameter:
            return unchanged(
                contrast.name, "keep", "the target is as dense as a uniform draw up to its ends", parameter
            )
        runs = runs_of(groups) if axis.ordered else [groups]
        pieces = tuple(shrunk(parameter, axis, contrast.grid, run) for run in runs) if len(runs) > 1 else ()
        part = float(axis.prior[list(groups)].sum() / axis.prior.sum())
        where = " and ".join(map(in_words, pieces)) or ("this value" if is_constant(after) else in_words(after))
        reason = f"the target is at least as dense as a uniform draw in {where}"
        return Verdict(contrast.name, "narrow", reason, parameter, after, part, pieces=pieces)

    def dense(self, contrast: Contrast) -> tuple[int, ...]:
        """Groups of cells where p ≥ u."""
        axis, densities = own_axis(contrast), self.densities(contrast)
        dense = by_group(axis, densities) >= 1.0 - 1e-9
        return tuple(np.flatnonzero(dense).tolist())

    def densities(self, contrast: Contrast) -> Densities:
        if self.estimator == "paper":
            return paper_densities(contrast, uniform=True, words=("", ""))
        return densities_of(contrast, smoothing="auto")

    def box(self, contrasts: Sequence[Contrast]) -> dict[str, NDArray[np.bool_]]:
        """(groups,) by parameter: what is left of those that are narrowed, ends and all between them."""
        left = {}
        for contrast in contrasts:
            if contrast.name in self.low or len(contrast.grid.blocks) > 1 or not contrast.varies:
                continue
            axis, groups = own_axis(contrast), self.dense(contrast)
            held = np.isin(np.arange(axis.groups), groups)
            if axis.ordered:
                held[min(groups) : max(groups) + 1] = True
            left[contrast.name] = held
        return left

    def evidence(self, folds: int) -> Evidence:
        """The rows in so many folds, each judged by bounds that the others choose."""
        reached, whole = self.search.reached(), self.box(self.search.query.contrasts)
        rows, size = np.flatnonzero(self.search.counted), self.volume(whole)

        def box_of(some: Rows) -> Holds:
            return partial(self.inside, self.box(self.among(some)))

        judgement = judged(self.search, partial(self.inside, whole), box_of, folds)
        kept = judgement.kept_of(reached[rows])
        return Evidence(
            kept=kept,
            best=judgement.kept_of(best_part(self.search.observed, reached)[rows]),
            inside=judgement.inside_of(reached[rows]),
            volume=size,
            enrichment=kept.part / size if self.search.is_even(rows) else None,
            rows=len(rows),
            estimator=self.estimator,
        )

    def among(self, rows: Rows) -> list[Contrast]:
        """Target and region of some of the rows."""
        reached = self.search.reached()[rows]
        found = []
        for name, cells in self.search.cells().items():
            grid = grid_of(self.search.observed.space[name])
            target, region = (np.bincount(each, minlength=grid.width) for each in (cells[rows][reached], cells[rows]))
            found.append(Contrast(name, grid, target, region))
        return found

    def inside(self, box: Mapping[str, NDArray[np.bool_]], rows: Rows) -> NDArray[np.bool_]:
        """Rows without a value of a parameter are not judged by it."""
        held = np.ones(len(rows), dtype=bool)
        for name, left in box.items():
            place = axis_of_name(self.search, name).place(self.search.cells()[name][rows])
            held &= left[place] | (place < 0)
        return held

    def volume(self, box: Mapping[str, NDArray[np.bool_]]) -> float:
        priors = ((left, axis_of_name(self.search, name).prior) for name, left in box.items())
        return float(np.prod([prior[left].sum() / prior.sum() for left, prior in priors]))


def own_axis(contrast: Contrast) -> Axis:
    """Every cell a group of its own."""
    return axis_of(contrast.name, contrast.grid, contrast.grid.cells)


def axis_of_name(search: Search, name: str) -> Axis:
    grid = grid_of(search.observed.space[name])
    return axis_of(name, grid, grid.cells)


def by_group(axis: Axis, densities: Densities) -> NDArray[np.float64]:
    """(groups,) p / u."""
    live = axis.group_of >= 0
    parts = [np.bincount(axis.group_of[live], weights=one[live]) for one in (densities.target, densities.uniform)]
    ratio: NDArray[np.float64] = parts[0] / np.maximum(parts[1], 1e-300)
    return ratio


def runs_of(groups: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups that follow each other."""
    breaks = [0, *(i + 1 for i, (one, two) in enumerate(pairwise(groups)) if two != one + 1), len(groups)]
    return [tuple(groups[first:last]) for first, last in pairwise(breaks)]
