"""Choose the estimator (counts, or a model combined with counts), and build the answers that users see."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from pedanova.base.digits import short
from pedanova.base.notes import Note
from pedanova.base.threads import one_thread
from pedanova.counting.contrasts import Contrast, few_rows_note
from pedanova.counting.levels import Levels
from pedanova.counting.pairs import Groups, Names, SetTally
from pedanova.data.column import Mask
from pedanova.data.regions import LEAST_TARGET, Quantile, Region
from pedanova.errors import Arg, QueryError, TooFewRowsError, listed
from pedanova.measures.densities import Densities, densities_of
from pedanova.measures.importance import (
    WORTH_A_WORD,
    Importance,
    Importances,
    chance_notes,
    is_even,
    measure,
    measure_all,
    ranked,
    sampler_notes,
    sparse_notes,
    unvaried,
)
from pedanova.measures.inference import NORMAL, Sureness, infer, with_sureness
from pedanova.measures.question import Question
from pedanova.measures.smoothing import Smoothing, bandwidth, smoothed_away
from pedanova.measures.surrogate.fit import FittedModel
from pedanova.measures.surrogate.posterior import ObjectiveRanks, PosteriorSamples, RankRange
from pedanova.measures.surrogate.row_model import FEWEST_ROWS, PValues, RowModel
from pedanova.measures.surrogate.summaries import EstimatedShares, can_tell, model_densities, model_sets, sampled_shares
from pedanova.space.grid import blocks_of
from pedanova.space.parameters import parents_of

MOST_ROWS = 5000  # the largest number of rows that a model is fitted to
MODEL_ERROR = 0.4  # error of a model as a part of its interval's half, which holds nearly every true share
FEW = 20.0  # target rows with which the deviation of a counted share is twice as large as by its formula
REACH = 2.0  # factor for the upper half of an interval after an adaptive sampler, which avoids bad values
UNEVEN, ADAPTIVE = (f"the trials were not drawn evenly{why}: " for why in ("", " (adaptive sampler)"))
FEW_LEVELS = 12  # different values of each parameter of a design, which no sampler chose
ALONE = "rows chosen by a mask, a box or a condition do not represent the space"
Near: TypeAlias = tuple[float, Sequence[Contrast]]  # a quantile of the rows, and its contrasts


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A target and a region, with the counts and the model from which importances can be computed."""

    contrasts: Sequence[Contrast]
    target: Region | None  # None for rows given by a mask, which are in `masks`
    region: Region | None
    levels: Levels
    count: int  # rows that count
    model: RowModel | None  # None if there are too many rows, or none are available
    masks: tuple[Mask, Mask] | None = None  # rows of the table that were given as a mask
    fixed: tuple[RankRange, RankRange] | None = None  # ranks of `masks` that contain all rows between two objectives
    objection: str = ""  # why these rows do not allow a model
    near: Callable[[], tuple[Near, Near] | None] = lambda: None  # a stricter and a wider target
    sample: RowModel | None = None  # a sample of too many rows, to find copies and repeats
    objective: str = ""  # its name
    words: tuple[str, str] = ("", "")  # target and region in words
    notes: Sequence[Note] = ()
    whole: bool = False  # whether the region contains all rows

    @property
    def shown(self) -> RowModel | None:
        """The model of all rows or of a sample, used to find copies, repeats and signs of an adaptive sampler."""
        return self.sample if self.model is None else self.model

    def spans(self, ranks: ObjectiveRanks, *, of_space: bool = False) -> tuple[RankRange, RankRange] | None:
        """Target and region as ranges of ranks of the objective; None if one of them is not such a range."""
        if self.fixed is not None:
            return self.fixed
        if self.target is None or self.region is None or self.foreign:
            return None
        direction = self.levels.direction
        inner, outer = (ranks.range_of(one, direction, of_space=of_space) for one in (self.target, self.region))
        return (max(inner[0], outer[0]), min(inner[1], outer[1])), outer

    @property
    def by_quantile(self) -> bool:
        """Whether a bound of the target or of the region is a quantile."""
        regions = [region for region in (self.target, self.region) if region is not None]
        return any(isinstance(cut, Quantile) for region in regions for cut in region.cuts("minimize"))

    @property
    def foreign(self) -> bool:
        """Whether the quantiles of target or region were computed from other rows, not from these."""
        return not self.levels.own and self.by_quantile


@dataclass(frozen=True, slots=True, eq=False)
class ModelQuery:
    """A question to a fitted model: the model's posterior samples, and target and region as ranges of ranks."""

    fitted: FittedModel
    samples: PosteriorSamples
    target: RankRange
    region: RankRange
    of_space: bool  # whether quantiles refer to the space instead of the rows

    @property
    def rows(self) -> tuple[int, int]:
        return self.samples.ranks.size(self.target), self.samples.ranks.size(self.region)

    def count_sets(self, groups: Mapping[str, Groups], sets: Sequence[Names]) -> SetTally:
        """Count the model's points in each cell, for sets of parameters."""
        return model_sets(self.samples, self.target, self.region, groups, sets)


@dataclass(frozen=True, slots=True, eq=False)
class ShareEstimate:
    """The importances of all parameters, without ratios, and the estimator that was used."""

    rows: list[Importance]
    estimator: str
    notes: list[Note]
    model_query: ModelQuery | None = None


def estimate(query: Query, question: Question) -> ShareEstimate:
    """The importances from counts, or from a model if one is requested or more accurate."""
    with one_thread():
        model_query, notes = choose(query, question)
        return by_counts(query, question, notes) if model_query is None else by_model(query, question, model_query)


def choose(query: Query, question: Question) -> tuple[ModelQuery | None, list[Note]]:
    """The question to the model, or None if counts are used; a note may say why counts are used."""
    objection, curable = objection_to(query, question)
    if not objection and not question.by_rows and query.model is not None:
        fitted = query.model.fitted(question.seed)
        samples, objection = fitted.samples, fitted.objection
        if samples is not None:
            # If the sampler was adaptive, quantiles refer to the space; questions about quantiles of rows need counts.
            of_space = samples.adaptive and query.by_quantile
            spans = None if of_space and question.of == "rows" else query.spans(samples.ranks, of_space=of_space)
            usable = spans is not None and can_tell(samples, *spans)
            return ModelQuery(fitted, samples, *spans, of_space) if spans is not None and usable else None, []
    if question.estimator == "surrogate":
        cure = "use ", Arg("estimator", "counts")
        raise QueryError(Arg("estimator", "surrogate"), f" cannot be used: {objection}; ", *cure)
    if question.by_rows or not objection:
        return None, []
    helps = FEWEST_ROWS <= query.count <= MOST_ROWS
    if curable and helps:
        words = f"with {query.count:,} rows a model would be more accurate than counts, but {objection}"
        return None, [Note("answer", words)]
    worth = query.model is not None and helps and not query.objection and query.masks is None
    return None, [Note("answer", f"{objection}; plain counts are used")] if worth else []


def objection_to(query: Query, question: Question) -> tuple[str, bool]:
    """Why no model can be used (empty if one can), and whether the only reason is that the rows are not available."""
    if question.smoothing != "auto":
        return f"smoothing={question.smoothing!r} applies to counts only", False
    if not FEWEST_ROWS <= query.count <= MOST_ROWS:
        return f"a model needs {FEWEST_ROWS} to {MOST_ROWS:,} rows, not {query.count:,}", False
    if query.masks is not None:
        return "the rows are chosen by a mask, a box or a condition, not by the objective", False
    if query.objection:
        return query.objection, False
    if query.foreign:
        return "the quantiles were computed from other rows", False
    return ("the rows are no longer available", True) if query.model is None else ("", False)


def check_enough(inside: int, region: int, query: Query, question: Question) -> None:
    """Raise an error if the target has too few rows, unless `force` is set."""
    if inside < LEAST_TARGET and not question.force:
        inner = query.region is not None and query.region.kind == "quantile" and not query.region.is_all
        rows = query.count if inner else region  # the rows that the quantile of the target refers to
        wide = next((part for part in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5) if part * rows >= LEAST_TARGET), None)
        remedy: tuple[str | Arg, ...] = "choose a wider target such as ", Arg("target", wide)
        if wide is None:
            remedy = ("run more trials",)
        elif inner and 2.0 * wide * rows > region:
            outer = Arg("region", min(1.0, round(3 * wide, 2)))
            remedy = "choose a wider target and region, such as ", Arg("target", wide), " and ", outer
        few = f"the target has {inside} of {region:,} rows, and at least {LEAST_TARGET} are needed to say anything; "
        raise TooFewRowsError(few, *remedy, ", or pass ", Arg("force", True))


# --- counts ------------------------------------------------------------------------------------------


def by_counts(query: Query, question: Question, notes: list[Note]) -> ShareEstimate:
    how: dict[str, Any] = {"baseline": question.baseline, "smoothing": question.smoothing}
    contrasts = with_repeats(query)
    counted = measure_all(contrasts, **how)
    check_enough(counted[0].n_target, counted[0].n_region, query, question)
    if question.draws == 0:
        return ShareEstimate(counted, "counts", notes)
    p_values = p_values_for(query, question, None)
    sureness = infer(contrasts, counted, question, p_values)
    if question.baseline == "region":
        sureness = with_threshold(query, counted, sureness, **how)
        each = zip(contrasts, counted, sureness, strict=True)
        sureness = [with_unseen(*one, question.smoothing) for one in each]
        adaptive = query.masks is None and query.shown is not None and query.shown.adaptive
        if adaptive and question.of != "rows":  # an adaptive sampler tries few bad values
            floors = [max(0.0, row.share) for row in counted]
            pairs = zip(floors, sureness, strict=True)
            sureness = [replace(one, high=min(1.0, s + REACH * max(0.0, one.high - s))) for s, one in pairs]
    return ShareEstimate(with_sureness(counted, sureness), "counts", notes)


def with_threshold(
    query: Query, rows: Sequence[Importance], sureness: Sequence[Sureness], **how: Any
) -> list[Sureness]:
    """Widen intervals, because the threshold is a quantile of these rows and would differ in another sample.

    A stricter and a wider target show how much the share depends on the threshold.
    """
    near = query.near()
    if near is None:
        return list(sureness)
    (strict, inner), (wide, outer) = near
    part = rows[0].n_target / rows[0].n_region
    independent = rows[0].n_region / with_repeats(query)[0].repeats
    off = math.sqrt(part * (1.0 - part) / independent) / (wide - strict)
    result = []
    for row, one, less, more in zip(rows, sureness, inner, outer, strict=True):
        if row.share <= WORTH_A_WORD or not 0 < less.target.sum() < more.target.sum():
            result.append(one)
            continue
        moved = (measure(more, **how).share - measure(less, **how).share) * off
        low = row.share - math.hypot(max(row.share - one.low, 0.0), NORMAL * moved)
        high = row.share + math.hypot(max(one.high - row.share, 0.0), NORMAL * moved)
        result.append(replace(one, low=max(low, 0.0), high=min(high, 1.0), deviation=math.hypot(one.deviation, moved)))
    return result


def with_unseen(contrast: Contrast, row: Importance, sureness: Sureness, smoothing: Smoothing) -> Sureness:
    """Raise the upper end of the interval, because smoothing may have removed a part of the effect."""
    target, region = contrast.independent()
    rows = float(region.sum())
    if not row.varied or rows > MOST_ROWS:
        return sureness
    unseen = 0.0
    for block in blocks_of(contrast.grid):
        inside, outside = target[block.cells], region[block.cells]
        width = float(bandwidth(smoothing, inside, block, region=outside))
        if width > 0.0 and inside.sum() > 1:
            unseen += smoothed_away(inside, outside, width) / rows
    above = math.hypot(max(0.0, sureness.high - row.share), unseen)
    return replace(sureness, high=min(1.0, row.share + above))


def with_repeats(query: Query) -> Sequence[Contrast]:
    """The contrasts, each with the design effect of repeated configurations (1 if there are none)."""
    model = query.shown
    if model is None:
        return query.contrasts
    masks = query.masks
    spans = None if masks is not None else query.spans(model.ranks)
    if masks is not None:
        target, region = (mask[model.rows.rows] for mask in masks)
    elif spans is not None:
        target, region = (model.between(span) for span in spans)
    else:
        return query.contrasts
    repeats = model.design_effect(target, region)
    return [replace(one, repeats=repeats) for one in query.contrasts] if repeats > 1.0 else query.contrasts


def p_values_for(query: Query, question: Question, model_query: ModelQuery | None) -> PValues | None:
    """p-values by permutation of the rows; None if the rows cannot be permuted."""
    model = query.model
    if model is None:
        return None
    if query.masks is not None:
        masks = [mask[model.rows.rows] for mask in query.masks]
        return model.tested(*masks, certain=True, blocks=False, seed=question.seed)
    spans = query.spans(model.ranks) if model_query is None else (model_query.target, model_query.region)
    return None if spans is None else model.p_values(*spans, seed=question.seed)


# --- the model ---------------------------------------------------------------------------------------


def by_model(query: Query, question: Question, model_query: ModelQuery) -> ShareEstimate:
    """The importances from the model, corrected by the rows if these were sampled uniformly."""
    inside, rows = model_query.rows
    check_enough(inside, rows, query, question)
    samples, spans = model_query.samples, (model_query.target, model_query.region)
    children = [contrast.name for contrast in query.contrasts if contrast.child]
    shares = sampled_shares(samples, *spans, baseline=question.baseline, children=children)
    names = [contrast.name for contrast in query.contrasts]
    order = [shares.names.index(name) for name in names]
    top = 1.0 if question.baseline == "region" else math.inf
    correction = None
    if question.baseline == "region" and query.model is not None:
        correction = query.model.corrected(*spans, shares, seed=question.seed)
    estimated = shares.uncorrected(adaptive=samples.adaptive) if correction is None else correction
    estimated = EstimatedShares(*(column[order] for column in estimated))
    if correction is not None:
        counted = {contrast.name: contrast for contrast in with_repeats(query)}
        sources = [shares.names[samples.sources[place]] for place in order]
        # A copy gets the counts of its original.
        each = [counted.get(source, counted[name]) for source, name in zip(sources, names, strict=True)]
        estimated = with_counts(estimated, each)
    share, low, high, deviation = estimated
    columns = share.tolist(), shares.activity[order].tolist(), shares.active_share[order].tolist()
    importances = [
        modelled_row(name, (inside, rows), shares.part, min(one, top), activity, active_share)
        if name in samples.varying
        else unvaried(name, inside, rows)
        for name, one, activity, active_share in zip(names, *columns, strict=True)
    ]
    if question.draws:
        p_values = p_values_for(query, question, model_query) or {}
        p = [p_values.get(name, 1.0) for name in names]
        ends = zip(low.tolist(), np.minimum(high, top).tolist(), p, deviation.tolist(), strict=True)
        importances = with_sureness(importances, [Sureness(*one) for one in ends])
    words = f"answered by a model of the objective ({model_query.fitted.skill}); "
    notes = [Note("answer", words, Arg("estimator", "counts"), " uses the counts alone")]
    return ShareEstimate(importances, "surrogate", notes, model_query)


def with_counts(model: EstimatedShares, contrasts: Sequence[Contrast]) -> EstimatedShares:
    """The mean of the model's shares and of the counted shares, weighted by their precision.

    The errors of a model hardly depend on the number of rows, but those of counts do: so the counts get a small weight
    if the target has few rows, and nearly all the weight if it has hundreds of them.
    """
    counted = measure_all(contrasts, baseline="region", smoothing="auto")
    rows = counted[0].n_region / contrasts[0].repeats
    inside = counted[0].n_target / contrasts[0].repeats
    share, raw = (np.array([getattr(row, name) for row in counted]) for name in ("share", "raw_share"))
    # n times the uncorrected share is a sum of squares; chance adds its degrees of freedom.
    freedom = np.maximum((raw - share) * rows, 1.0)
    spread = np.sqrt(2.0 * freedom + 4.0 * rows * np.maximum(share, 0.0)) / rows * (1.0 + FEW / inside)
    certain = MODEL_ERROR / (2.0 * NORMAL) * (model.high - model.low)
    weight = certain**2 / (certain**2 + spread**2)
    middle = (1.0 - weight) * model.share + weight * share
    below, above, deviation = (
        np.hypot((1.0 - weight) * own, weight * counts)
        for own, counts in (
            (model.share - model.low, NORMAL * spread),
            (model.high - model.share, NORMAL * spread),
            (model.deviation, spread),
        )
    )
    return EstimatedShares(middle, np.maximum(middle - below, 0.0), middle + above, deviation)


def modelled_row(
    name: str, rows: tuple[int, int], part: float, share: float, activity: float, active_share: float
) -> Importance:
    """The importance of one parameter by a model, without its ratio; `part` is the fraction of points in the target."""
    odds = part / (1.0 - part)
    floored = max(0.0, share)
    whole = max(floored, active_share) if activity > 0 else floored
    divergence = whole / odds
    return Importance(
        name=name,
        ratio=0.0,
        share=share,
        raw_share=whole,
        divergence=divergence,
        variance=part**2 * divergence,
        n_target=rows[0],
        n_region=rows[1],
        bandwidth=0.0,
        value=divergence * (1.0 - activity),
        activity=divergence * activity,
        value_share=whole * (1.0 - activity),
        activity_share=whole * activity,
    )


# --- answers -------------------------------------------------------------------------------------------


def answer(query: Query, question: Question, *, brief: bool = False, narrowed: bool = False) -> Importances:
    """The importances from counts or from a model.

    A `brief` answer has no notes, because notes take longer to compute than the numbers. A `narrowed` answer has
    fewer parameters; its ratios are relative to these, and its `copies` are empty. If an adaptive sampler chose
    the trials, the answer also contains the result for the best trials.
    """
    result = estimate(query, question)
    copies = {} if query.shown is None or narrowed else query.shown.dependence.copies
    rows = ranked(result.rows, copies)
    words, notes, model_query = query.words, [*query.notes], result.model_query
    trials: tuple[Importance, ...] = ()
    of_space = model_query is not None and model_query.of_space
    if model_query is not None and of_space:
        words, notes = words_of(query, model_query), []
        trials = ranked(measure_all(query.contrasts, baseline="uniform", smoothing=question.smoothing))
    if not brief:
        notes += [*([] if model_query is not None else few_rows_note(rows[0].n_target)), *result.notes]
        notes += [] if of_space else sparse_notes(query.contrasts)
        notes += query.shown.repeats.notes() if query.shown is not None else []
        notes += [*chance_notes(rows), *kin_notes(query, [row.name for row in rows])]
        notes += sampler_check_notes(query, question, result)
    shown = question.baseline, tuple(notes), result.estimator, query.whole
    return Importances(rows, *words, *shown, trials, copies)  # type: ignore[arg-type]


def density_answer(query: Query, question: Question, names: Collection[str] | None = None) -> dict[str, Densities]:
    """The densities of all or some parameters, from counts or from a model."""
    model_query, _ = choose(query, question)
    contrasts = [c for c in query.contrasts if names is None or c.name in names]
    if model_query is None:
        return {c.name: densities_of(c, smoothing=question.smoothing, words=query.words) for c in contrasts}
    words = words_of(query, model_query) if model_query.of_space else query.words
    return model_densities(model_query.samples, model_query.target, model_query.region, words, contrasts)


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedQuestion:
    """A question with its quantiles replaced by values of the objective, and the model that answers it."""

    target: object
    region: object
    model_query: ModelQuery | None
    words: tuple[str, str] | None = None  # None for the words of target and region


def resolve(query: Query, question: Question) -> ResolvedQuestion:
    """Replace quantiles of the space by values of the objective."""
    model_query, _ = choose(query, question)
    if model_query is None or not model_query.of_space:
        return ResolvedQuestion(question.target, question.region, model_query)
    ranks, sign = model_query.samples.ranks, query.levels.sign
    whole = Region("quantile", Fraction(0), Fraction(1))
    both = []
    for first, last in (model_query.target, model_query.region):
        best = None if first == 0 else sign * float(np.nextafter(ranks.value_of(first), np.inf))
        worst = None if last == len(ranks) else sign * ranks.value_of(last)
        ends = (best, worst) if sign > 0 else (worst, best)
        both.append(whole if ends == (None, None) else Region("value", *ends))
    return ResolvedQuestion(both[0], both[1], model_query, words_of(query, model_query))


def words_of(query: Query, model_query: ModelQuery) -> tuple[str, str]:
    """Target and region in words: "the best 10 % of the space (error ≤ 0.2; it contains 40 of your 90 trials)"."""
    ranks, sign = model_query.samples.ranks, query.levels.sign
    words = []
    for region, span in ((query.target, model_query.target), (query.region, model_query.region)):
        if region is None or region.is_all:
            words.append("the whole space")
            continue
        limit = sign * ranks.value_of(span[1])
        trials = f"it contains {ranks.size(span):,} of your {int(ranks.rows[-1]):,} trials"
        of_space = str(region) if region.kind == "value" else f"{region} of the space"
        words.append(f"{of_space} ({query.objective} {'≤' if sign > 0 else '≥'} {short(limit)}; {trials})")
    return words[0], words[1]


def sampler_check_notes(query: Query, question: Question, result: ShareEstimate) -> list[Note]:
    """Notes on how the importances are affected by a sampler that did not draw values uniformly."""
    adaptive = query.shown is not None and query.shown.adaptive
    if result.model_query is not None and result.model_query.of_space:
        words = "a model estimates which part of the search space is the best; "
        return [Note("doubt", _uneven(query), words, Arg("of", "rows"), " uses the best trials instead")]
    if adaptive and question.baseline == "region":
        return [Note("doubt", _uneven(query), "the importances hold for these rows, not for the whole space")]
    if result.model_query is not None or (question.baseline == "region" and not query.whole):
        return []
    varying = [contrast for contrast in query.contrasts if contrast.varies and not is_even(contrast)]
    computed = {row.name: row.divergence for row in result.rows} if result.estimator == "counts" else {}
    level, near = (
        computed
        if question.baseline == baseline and computed
        else {row.name: row.divergence for row in measure_all(varying, baseline=baseline, smoothing=question.smoothing)}
        for baseline in ("uniform", "region")
    )
    return sampler_notes({c.name: level[c.name] for c in varying}, near, against=question.baseline)


def _uneven(query: Query) -> str:
    """That trials were not drawn evenly, and by what; without a cause if they may be a design or most of a grid."""
    levels = [int(np.count_nonzero(contrast.region)) for contrast in query.contrasts if contrast.varies]
    designed = max(levels, default=0) <= FEW_LEVELS or math.prod(levels) <= 2 * query.count
    return UNEVEN if designed else ADAPTIVE


def kin_notes(query: Query, shown: Sequence[str]) -> list[Note]:
    if query.shown is None:
        return []
    notes = []
    declared = {(parent, c.name) for c in query.contrasts for parent in parents_of(c.grid.parameter)}
    gates = [pair for pair in query.shown.dependence.gates if pair not in declared and {*pair} <= {*shown}]
    for parent in sorted({parent for parent, _ in gates}):
        children = [child for one, child in gates if one == parent]
        exist = "exists" if len(children) == 1 else "exist"
        words = f"{listed(children, most=4)} {exist} only for some values of {parent}"
        notes.append(Note("answer", f"{words}; importance also counts whether the parameter exists"))
    twins = [" and ".join(pair) for pair in query.shown.dependence.twins if {*pair} <= {*shown}]
    if twins:
        more = f" (and {len(twins) - 4} more pairs)" if len(twins) > 4 else ""
        words = "carry nearly the same information, so the importance of each includes the importance of the other"
        notes.append(Note("answer", f"{'; '.join(twins[:4])}{more} {words}"))
    return notes


@dataclass(frozen=True, eq=False)
class Glance:
    """A quick answer for a page, without intervals, p-values and notes; computed at first use."""

    query: Query
    question: Question
    narrowed: bool = False  # whether only some of the parameters are included

    def of(self, names: Collection[str]) -> Glance:
        """The same question for some parameters only; ratios are relative to these parameters."""
        some = [one for one in self.query.contrasts if one.name in names]
        return replace(self, query=replace(self.query, contrasts=some), narrowed=True)

    @property
    def rows(self) -> int:
        """The number of rows of the table, also outside the region."""
        return self.query.count

    @cached_property
    def importances(self) -> Importances:
        """The result of `importance` with ``draws=0``, without notes."""
        return answer(replace(self.query, notes=(), whole=False), self.question, brief=True, narrowed=self.narrowed)

    @cached_property
    def densities(self) -> dict[str, Densities]:
        """The result of `densities` for all parameters."""
        plain = replace(self.question, baseline="region", smoothing="auto", force=True)
        return density_answer(self.query, plain)
