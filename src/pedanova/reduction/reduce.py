"""Decide which parameters to narrow, fix, widen or keep in a smaller search space.

Only parameters with a clear effect are narrowed. A parameter is fixed only if it has no clear effect, neither over all
rows nor among the best rows. docs/reduction.md has the rules and measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.lazy import LazyMapping
from pedanova.base.notes import Note
from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import counted_rows
from pedanova.data.column import Mask
from pedanova.data.regions import Region
from pedanova.errors import Arg, PedanovaError, QueryError
from pedanova.measures.distributions import LEVEL, NORMAL
from pedanova.measures.importance import NEVER, Importance, Importances
from pedanova.measures.question import LEAST_TO_REDUCE, Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.reduction.boxes import Box, beyond, constant, crowd, middle, piles_up, runs, shrunk, widened
from pedanova.reduction.good_region import GoodRegion, Search, best_part, beyond_noise, configurations, good_region_of
from pedanova.reduction.result import Advice, Evidence, Proportion, ReducedSpace, Verdict
from pedanova.space.grid import grid_of
from pedanova.space.parameters import (
    Categorical,
    Domain,
    Float,
    Int,
    Ordinal,
    Parameter,
    Space,
    Switch,
    in_words,
    values_of,
)
from pedanova.space.values import Interval, is_one_of


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Which rows lie in the final box, and which rows lie in the boxes of the cross-validation."""

    inside: Mask  # (rows,) in the printed box
    without: Mask  # (rows,) in the box that was chosen without the row
    chosen: NDArray[np.float64]  # (rows,) the part of the boxes chosen with the row that contain it

    def inside_of(self, wanted: Mask) -> float:
        return float(self.inside[wanted].mean()) if wanted.any() else 0.0

    def kept_of(self, wanted: Mask) -> Proportion:
        """The fraction of the rows in the mask `wanted` that lie in the final box, corrected by cross-validation."""
        if not wanted.any():
            return proportion_of(0.0, 1)
        luck = float(self.chosen[wanted].mean()) - float(self.without[wanted].mean())
        return proportion_of(max(0.0, self.inside_of(wanted) - max(0.0, luck)), int(wanted.sum()))


def evidence_of(
    search: Search, region: GoodRegion, box: Box, keep: float, surely: Sequence[str], folds: int
) -> Evidence:
    """Evaluate the box by cross-validation; each fold chooses a box of about the same volume."""
    size, cells, axes = box.volume(region.cloud), search.cells, region.cloud.axes
    rows, reached = np.flatnonzero(search.counted), search.reached()
    places = LazyMapping(axes, lambda name: axes[name].place(cells[name][rows]))
    alike = configurations(cells, rows)  # rows of one configuration are in the same fold
    fold_of = np.random.default_rng([search.seed, 4]).permutation(int(alike.max()) + 1)[alike] % folds
    without, chosen = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
    for fold in range(folds):
        others = fold_of != fold
        inside = region.among(rows[others]).as_small(surely, keep, size).holds(places)
        without[~others] = inside[~others]
        chosen[others] += inside[others]
    judgement = Judgement(box.holds(places), without, chosen / (folds - 1))
    kept = judgement.kept_of(reached[rows])
    return Evidence(
        kept=kept,
        best=judgement.kept_of(best_part(search.observed, reached)[rows]),
        inside=judgement.inside_of(reached[rows]),
        volume=size,
        enrichment=enrichment(search, region, box, kept.part / size),
        rows=len(rows),
        estimator=region.estimator,
    )


def enrichment(search: Search, region: GoodRegion, box: Box, by_rows: float) -> float | None:
    """The probability of the target in the box, divided by its probability in the space, or None if unknown."""
    if not region.even:
        return None
    if isinstance(search.target, Region) or search.is_even():
        return by_rows
    inside = box.holds(region.cloud.places)
    return float(region.plain[inside].sum() / max(float(inside.mean()), 1e-12))


def proportion_of(part: float, total: int) -> Proportion:
    """A proportion with its 95 % Wilson interval."""
    z = NORMAL
    centre = (part + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    return Proportion(part, max(0.0, centre - half), min(1.0, centre + half), total)


LITTLE = 0.02  # a share below which a parameter that looks like noise may be fixed
NOISE = "no clear effect"
INFLUENCE = 0.02  # part of the model's variance that may depend on a parameter that is fixed


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """Decides the verdict on each parameter: keep, narrow, fix, widen or undecided."""

    space: Space
    region: GoodRegion
    box: Box
    importances: Importances
    ask_locally: Callable[[], Mapping[str, float] | None]  # p-values among the best rows, computed only if needed
    surely: frozenset[str]  # the parameters that may be cut
    widen: bool

    def verdict(self, name: str) -> Verdict:
        parameter = self.space[name]
        if not isinstance(parameter, Float | Int | Ordinal | Categorical):
            return unchanged(name, "keep", "the bounds differ from row to row, so they are not changed", parameter)
        row = self.importances[name]
        if name in self.importances.copies and name not in self.box.left:
            original = self.importances.copies[name]
            return unchanged(name, "keep", f"carries the same information as {original}: see {original}", parameter)
        if not row.varied:
            return unchanged(name, "undecided", f"{NEVER}, so its effect is not known; not changed", parameter)
        if name not in self.surely and name not in self.box.left:
            return self.unsure(name, parameter, row)
        if name not in self.surely:  # cut nevertheless, from the rows of an adaptive sampler
            cut = self.narrowed(name, parameter)
            return replace(cut, reason=f"{cut.reason}; on its own, the parameter has no clear effect")
        cut = self.in_pieces(self.narrowed(name, parameter), parameter)
        piled = self.at_bounds(name, parameter)
        if piled == (None, None) or not isinstance(parameter, Float | Int):
            return cut
        after = cut.after
        if self.widen:
            after = widened(after if isinstance(after, Float | Int) else parameter, piled)
        reason = pile_in_words(parameter, piled, cut, applied=self.widen)
        return replace(cut, advice="widen", reason=reason, after=after, beyond=piled)

    def narrowed(self, name: str, parameter: Domain) -> Verdict:
        if name not in self.box.left:
            row = self.importances[name]
            matters = "may matter" if row.significant is False else "matters"  # in the joint test, or only alone
            why = f"{matters} (importance {small(row.share)}), but {self.region.spread}"
            return unchanged(name, "keep", why, parameter)
        groups, axis = self.box.left[name], self.region.cloud.axes[name]
        after = shrunk(parameter, axis, grid_of(parameter), groups)
        part = float(axis.prior[list(groups)].sum() / axis.prior.sum())
        density = self.region.cloud.density(name).mean(axis=1)
        mass = float((density * axis.prior)[list(groups)].sum() / max((density * axis.prior).sum(), 1e-300))
        if after == parameter:
            return unchanged(name, "keep", "the cut would not remove any value", parameter)
        several = "have these values" if isinstance(parameter, Categorical) else f"lie in {percent(part)} of its range"
        what = "have this value" if len(values_of(after)) == 1 else several
        reason = f"{percent(mass)} of {self.region.decides} {what}; {self.region.elsewhere(name, groups)}"
        return Verdict(name, "narrow", reason, parameter, after, part)

    def in_pieces(self, cut: Verdict, parameter: Domain) -> Verdict:
        """If good values lie in several ranges, add these ranges to the verdict."""
        axis = self.region.cloud.axes[cut.name]
        ranges = runs(self.region.cloud, self.box, cut.name)
        if len(ranges) < 2:
            return cut
        pieces = tuple(shrunk(parameter, axis, grid_of(parameter), run) for run in ranges)
        part = float(axis.prior[[group for run in ranges for group in run]].sum() / axis.prior.sum())
        words = f"good values lie in {' and '.join(map(in_words, pieces))}, but are rare between these ranges"
        before = f"{cut.reason}; " if cut.advice == "narrow" else ""
        return replace(cut, advice="narrow", part=part, pieces=pieces, reason=before + words)

    def at_bounds(self, name: str, parameter: Domain) -> tuple[float | None, float | None]:
        axis = self.region.cloud.axes[name]
        if not isinstance(parameter, Float | Int) or axis.groups < 3:
            return None, None
        slices = axis.coarse()
        density = self.region.cloud.density(name, slices)
        prior = np.bincount(slices, weights=axis.prior).astype(np.float64)
        left = self.box.left.get(name, tuple(range(axis.groups)))
        # The few best trials of an adaptive sampler are always close together, so half of them must be at the bound.
        least = 0.0 if self.region.even else 0.5
        low = 0 in left and piles_up(density, 0) and crowd(density, prior, 0) >= least
        high = axis.groups - 1 in left and piles_up(density, -1) and crowd(density, prior, -1) >= least
        return beyond(parameter, density, (low, high)) if low or high else (None, None)

    def unsure(self, name: str, parameter: Domain, row: Importance) -> Verdict:
        advice, reason = self.noise(name, row)
        if advice != "fix":
            return unchanged(name, advice, reason, parameter)
        axis = self.region.cloud.axes[name]
        density = self.region.cloud.density(name).mean(axis=1)
        value = middle(parameter, axis, grid_of(parameter), int(np.argmax(density)))
        reason = f"{reason}; the best rows are most likely at {short(value)}"
        return Verdict(name, "fix", reason, parameter, constant(value, parameter), 0.0)

    def noise(self, name: str, row: Importance) -> tuple[Advice, str]:
        """Whether to fix a parameter without a clear effect, and the reason."""
        high = row.high if row.high is not None else 1.0
        most = small(max(high, 0.001))
        if not any(other.significant for other in self.importances.rows):
            return "undecided", "no parameter has a clear effect, so nothing is changed"
        if not self.region.even:
            return "undecided", f"{NOISE}, but the trials were not drawn evenly, so it may still matter; not changed"
        if high > LITTLE or self.region.influence.get(name, 1.0) > INFLUENCE or (row.p_value or 0.0) <= LEVEL:
            return "undecided", f"{NOISE}, but its importance may be up to {most}; not changed"
        local = self.ask_locally()
        if local is None:
            few = "there are too few rows to test its effect among the best"
            return "undecided", f"{NOISE}, but {few}; not changed"
        if local[name] <= LEVEL:
            return "keep", "no clear effect over all rows, but it matters among the best"
        if name in self.region.cloud.parents:
            return "keep", "other parameters exist only for some of its values"
        return "fix", f"no clear effect over all rows or among the best (its importance is at most {most})"


def unchanged(name: str, advice: Advice, reason: str, parameter: Parameter) -> Verdict:
    return Verdict(name, advice, reason, parameter, parameter)


def small(part: float) -> str:
    """Format a fraction as a percentage that is never 0 %."""
    return percent(part) if part >= 0.0005 else f"less than {percent(0.001)}"


def pile_in_words(
    parameter: Float | Int, piled: tuple[float | None, float | None], cut: Verdict, *, applied: bool
) -> str:
    sides = [
        f"{short(new)} as {word} bound instead of {short(bound)}"
        for word, bound, new in zip(("lower", "upper"), (parameter.low, parameter.high), piled, strict=True)
        if new is not None
    ]
    narrowed = f"; {cut.reason}" if cut.advice == "narrow" else ""
    how = "" if applied else " (not applied; widen=True or --widen applies it)"
    tries = " and ".join(sides)
    return f"good values are most frequent at a bound; try {tries} if such values are valid{how}{narrowed}"


def consistent(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Remove cut-off values from all conditions, and drop parameters whose condition can no longer be true."""
    after: dict[str, Parameter | None] = {verdict.name: verdict.after for verdict in verdicts}
    settled = list(verdicts)
    if not any(parameter is not None and parameter.when for parameter in after.values()):
        return tuple(settled)
    for _ in verdicts:  # at most as often as a chain of conditions is long
        for i, verdict in enumerate(settled):
            now = reachable(after[verdict.name], after)
            if now is not after[verdict.name]:
                gone = now is None
                reason = (
                    "exists only for some values of another parameter, and these values are cut off"
                    if gone
                    else verdict.reason
                )
                advice: Advice = "drop" if gone else verdict.advice
                part = 0.0 if gone else verdict.part
                settled[i] = replace(verdict, after=now, reason=reason, advice=advice, part=part)
                after[verdict.name] = now
    return tuple(settled)


def reachable(parameter: Parameter | None, after: Mapping[str, Parameter | None]) -> Parameter | None:
    """Remove cut-off values from the conditions of a parameter; returns None if a condition can no longer be true."""
    if parameter is None or not parameter.when or isinstance(parameter, Switch):
        return parameter
    conditions = []
    for parent, values in parameter.when:
        above = after.get(parent, parameter)
        if above is None:
            return None
        left = tuple(value for value in values if parent not in after or may_be(above, value))
        if not left:
            return None
        conditions.append((parent, left))
    return parameter if tuple(conditions) == parameter.when else replace(parameter, when=tuple(conditions))


def may_be(parameter: Parameter, value: Any) -> bool:
    match parameter:
        case Categorical(values) | Ordinal(values):
            return any(is_one_of(one, (value,)) for one in values) or str(value) in map(str, values)
        case Int(low, high) | Float(low, high):
            if isinstance(value, Interval):
                return low in value or high in value or (value.low >= low and value.high <= high)
            return not isinstance(value, int | float) or low <= value <= high
        case _:
            return True


LEAST_ROWS, LEAST_TARGET = LEAST_TO_REDUCE
ADAPTIVE = (
    "the trials were not drawn evenly, so the best trials are compared with a uniform draw "
    "from the space; values that were hardly tried count as poor"
)
IN_PIECES = "{}: good values lie in several ranges; the reduced space has one range that contains all of them"


def reduce_space(
    data: TrialData, question: Question, keep: float = 0.95, *, widen: bool = False, folds: int = 5
) -> ReducedSpace:
    """Compute the result of `Analysis.reduce`."""
    question.check_not_paper("verdicts on a smaller space")
    wanted = data.resolve(question.target, "target")
    question = replace(question, target=wanted)
    query = data.resolved(replace(question, region=1.0))
    words, notes = query.words, query.notes
    observed = data.observed()
    counted = counted_rows(observed, data.levels.nan)
    search = Search(observed, query, wanted, question.seed, counted)
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= 1:
        raise QueryError(Arg("keep", keep), " must be above 0 and at most 1, such as 0.95")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 0 or folds == 1:
        raise QueryError(Arg("folds", folds), " must be a whole number of at least 2, or 0 for no cross-validation")
    space, inside = search.observed.space, int(search.reached().sum())
    if data.rows < LEAST_ROWS or inside < LEAST_TARGET:
        why = f"{data.rows:,} rows are too few to decide: at least {LEAST_ROWS} are needed"
        if data.rows >= LEAST_ROWS:
            few = f"{inside} rows in the target are too few to decide: at least {LEAST_TARGET} are needed"
            why = f"{few}; choose a wider target, or run more trials"
        rows = tuple(unchanged(name, "undecided", why, one) for name, one in space.items())
        return ReducedSpace(rows, None, words[0], float(keep), tuple(notes))
    ranked = importance_of(data, question)
    local = cache(lambda: local_p_values(data, search, question))
    with one_thread():
        region = good_region_of(search, ranked)
        p_values = [1.0 if row.p_value is None else row.p_value for row in ranked.rows]
        apart = beyond_noise([row.name for row in ranked.rows], p_values, space)
        sure = [name for name in sure_enough(apart, ranked, space) if name in region.cloud.axes]
        surely = [name for name in sure if name not in ranked.copies]  # copies follow their originals
        box = region.bounds(surely, keep)
        evidence = evidence_of(search, region, box, keep, surely, folds) if box.left and folds else None
        judge = Judge(space, region, box, ranked, local, frozenset(surely), widen=widen)
        verdicts = consistent([judge.verdict(name) for name in space])
    remarks = [*notes, *(note for note in ranked.notes if not note.names("of"))]  # `reduce` has no option `of`
    remarks += [] if region.even else [Note("answer", ADAPTIVE)]
    parted = [row.name for row in verdicts if row.pieces]
    remarks += [Note("answer", IN_PIECES.format(", ".join(parted)))] if parted else []
    aim = words[0] if region.even else f"{words[0]} of your trials"
    return ReducedSpace(verdicts, evidence, aim, float(keep), tuple(remarks))


def sure_enough(names: Sequence[str], importances: Importances, space: Space) -> list[str]:
    """Remove categorical parameters without a clear effect from `names`.

    A cut removes only the worst end of a range, but it removes a category completely.
    """
    doubtful = {row.name for row in importances.rows if row.significant is False}
    return [name for name in names if name not in doubtful or not isinstance(space[name], Categorical)]


def local_p_values(data: TrialData, search: Search, question: Question) -> Mapping[str, float] | None:
    """The p-values among the best rows, such as the best 5 % compared with the best 30 %, or None if unavailable."""
    target = search.target
    if not isinstance(target, Region) or target.kind != "quantile" or target.low:
        return None
    part = target.high or 1
    half, around = part / 2, min(1, part * 3)
    if search.query.model is not None:
        return search.p_values_inside(Region.parse(half, "target"), Region.parse(around, "region"))
    try:
        importances = importance_of(data, replace(question, target=half, region=around))
    except PedanovaError:
        return None
    return {row.name: 1.0 if row.p_value is None else row.p_value for row in importances.rows}
