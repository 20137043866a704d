"""Choose the estimator (counts, or a model combined with counts), and build the answers that users see."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from pedanova.base.digits import short
from pedanova.base.notes import Note
from pedanova.base.threads import RESULTS, digest_of, one_thread
from pedanova.counting.contrasts import Contrast, few_rows_note, query_notes
from pedanova.counting.few_rows import MANY_ROWS, MOST_ROWS, most_rows
from pedanova.data.column import Mask
from pedanova.data.regions import LEAST_TARGET, Quantile, Region, RowSet
from pedanova.errors import Arg, QueryError, TooFewRowsError, listed
from pedanova.measures.clear import WORTH_A_WORD, chance_notes
from pedanova.measures.densities import Densities, densities_of
from pedanova.measures.distributions import NORMAL
from pedanova.measures.importance import (
    Importance,
    Importances,
    importance_row,
    measure,
    measure_all,
    never_notes,
    ranked,
    sparse_notes,
    sum_notes,
    unvaried,
)
from pedanova.measures.inference import Sureness, infer, with_sureness
from pedanova.measures.question import Question
from pedanova.measures.smoothing import Smoothing, smoothed_away, width_in
from pedanova.measures.surrogate.fit import FittedModel
from pedanova.measures.surrogate.posterior import ObjectiveRanks, PosteriorSamples, RankRange
from pedanova.measures.surrogate.row_model import FEWEST_ROWS, PValues, RowModel
from pedanova.measures.surrogate.summaries import EstimatedShares, can_tell, model_densities, sampled_shares
from pedanova.paper import check_question, densities_by_paper, importances_by_paper
from pedanova.space.grid import blocks_of
from pedanova.space.parameters import parents_of

MODEL_ERROR = 0.25  # the error of a model's share, as a part of the deviation of its samples
REACH = 2.0  # factor for the upper half of an interval after an adaptive sampler, which avoids bad values
UNEVEN, ADAPTIVE = (f"the trials were not drawn evenly{why}: " for why in ("", " (adaptive sampler)"))
FEW_LEVELS = 12  # different values of each parameter of a design, which no sampler chose
Value = TypeVar("Value")
ALONE = "rows chosen by a mask, a box or a condition do not represent the space"


@dataclass(frozen=True, eq=False)
class ResolvedQuestion:
    """A question with the rows that it is about: the counts and the model from which all its answers are computed."""

    question: Question
    data: Any  # the `TrialData` of the rows among which the target is compared with the region
    target: Region | RowSet
    region: Region | RowSet
    words: tuple[str, str]  # target and region in words
    count: int  # rows that count
    model: RowModel | None  # None if there are too many rows, or none are available
    sample: RowModel | None = None  # a sample of too many rows, to find copies and repeats
    masks: tuple[Mask, Mask] | None = None  # target and region as rows of the table, if one of them is a set of rows
    fixed: tuple[RankRange, RankRange] | None = None  # ranks of `masks` that contain all rows between two objectives
    objection: str = ""  # why these rows do not allow a model
    whole: bool = False  # whether the region contains all rows
    given: Sequence[Contrast] | None = None  # the counts, if they are known already
    given_key: Hashable = None  # differs for different `given` counts; answers from others are not cached
    brief: bool = False  # whether notes are left out, because they take longer to compute than the numbers
    narrowed: bool = False  # whether the answer is about some of the parameters only

    @cached_property
    def rows_key(self) -> Hashable:
        """A key of the rows: the target, the region, and `given` counts of them."""
        bounds = [digest_of(one.mask) if isinstance(one, RowSet) else one for one in (self.target, self.region)]
        return *bounds, self.given_key

    def cached(self, what: str, make: Callable[[], Value], *about: Hashable) -> Value:
        """The result `what` about these rows, cached with the data."""
        if self.given is not None and self.given_key is None:
            return make()
        return RESULTS.get(self.data, (what, self.rows_key, *about), make)

    @cached_property
    def contrasts(self) -> Sequence[Contrast]:
        """The counts of target and region rows in the cells of every parameter."""
        if self.given is not None:
            return self.given
        return RESULTS.get(
            self.data,
            ("contrasts", self.rows_key),
            lambda: self.data.contrasts(self.target, self.region),
            lambda every: sum(2 * one.target.nbytes for one in every),
        )

    @property
    def notes(self) -> list[Note]:
        """Notes on the target and the region, such as a quantile that has more rows because of ties."""
        if not self.bands:
            return []
        inside, rows = int(self.contrasts[0].target.sum()), int(self.contrasts[0].region.sum())
        return query_notes(*self.bands, inside, rows, self.count, own=self.data.levels.own)

    @property
    def as_drawn(self) -> ResolvedQuestion:
        """The same question with the usual smoothing, with which densities are drawn."""
        if self.question.smoothing == "auto":
            return self
        return replace(self, question=replace(self.question, smoothing="auto"))

    @property
    def importances(self) -> Importances:
        """The importances of all parameters."""
        options = self.words, self.whole, self.brief, self.narrowed, repr(self.question.how)
        return self.cached("importances", lambda: answer(self), *options)

    @property
    def densities(self) -> dict[str, Densities]:
        """The densities of all parameters in target and region, from the same estimator as the importances."""
        question = self.question
        options = self.words, repr(question.smoothing), question.estimator, question.seed, question.of
        return self.cached("densities", lambda: density_answer(self), *options)

    @property
    def shown(self) -> RowModel | None:
        """The model of all rows or of a sample, used to find copies, repeats and signs of an adaptive sampler."""
        return self.sample if self.model is None else self.model

    @property
    def bands(self) -> tuple[Region, Region] | tuple[()]:
        """Target and region if both are ranges of the objective; empty if one of them is a set of rows."""
        target, region = self.target, self.region
        return (target, region) if isinstance(target, Region) and isinstance(region, Region) else ()

    @property
    def baseline(self) -> str:
        """What the target is compared with; the paper compares it with a uniform draw if the region is the table."""
        observed, region = self.data.observations, self.region
        chosen = isinstance(region, RowSet) or not region.is_all or (observed is not None and observed.restricted)
        return self.question.baseline if self.question.estimator != "paper" or chosen else "uniform"

    @property
    def most_rows(self) -> int:
        """The largest number of rows for which a model answers; models are less accurate inside a small region."""
        most = most_rows(self.data.space)
        return most if self.whole else min(2 * MANY_ROWS, most)

    @property
    def by_quantile(self) -> bool:
        """Whether a bound of the target or of the region is a quantile."""
        return any(isinstance(cut, Quantile) for region in self.bands for cut in region.cuts("minimize"))

    @property
    def foreign(self) -> bool:
        """Whether quantiles of target or region are not those of the rows at hand: of a sample, or of added tables."""
        return self.by_quantile and (self.model is None or not self.data.levels.own)

    def spans(self, ranks: ObjectiveRanks, *, of_space: bool = False) -> tuple[RankRange, RankRange] | None:
        """Target and region as ranges of ranks of the objective; None if one of them is not such a range."""
        if self.fixed is not None:
            return self.fixed
        if not self.bands:
            return None
        direction, bands = self.data.levels.direction, self.bands
        if self.foreign:  # the quantiles are those of other rows: the same values are the limits here
            bands, of_space = tuple(map(self.data.levels.by_value, bands)), False
        inner, outer = (ranks.range_of(one, direction, of_space=of_space) for one in bands)
        return (max(inner[0], outer[0]), min(inner[1], outer[1])), outer

    # --- the model, if it answers --------------------------------------------------------------------

    @cached_property
    def choice(self) -> tuple[tuple[RankRange, RankRange] | None, list[Note]]:
        """Target and region as ranges of ranks if a model answers, None if counts do; a note may say why they do."""
        question, model = self.question, self.model
        objection, curable = objection_to(self)
        if not objection and not question.by_rows and model is not None:
            samples, objection = model.fitted(question.seed).samples, model.fitted(question.seed).objection
            if samples is not None:
                # If the sampler was adaptive, quantiles refer to the space; those of rows need counts.
                of_space = samples.adaptive and self.by_quantile
                spans = None if of_space and question.of == "rows" else self.spans(samples.ranks, of_space=of_space)
                return spans if spans is not None and can_tell(samples, *spans) else None, []
        if question.estimator == "surrogate":
            cure = "use ", Arg("estimator", "counts")
            raise QueryError(Arg("estimator", "surrogate"), f" cannot be used: {objection}; ", *cure)
        if question.by_rows or not objection:
            return None, []
        helps = FEWEST_ROWS <= self.count <= self.most_rows
        if curable and helps:
            words = f"with {self.count:,} rows a model would be more accurate than counts, but {objection}"
            return None, [Note("answer", words)]
        worth = model is not None and helps and not self.objection and self.masks is None
        return None, [Note("answer", f"{objection}; plain counts are used")] if worth else []

    @property
    def ranges(self) -> tuple[RankRange, RankRange]:
        """Target and region as ranges of ranks; only if a model answers."""
        return cast("tuple[RankRange, RankRange]", self.choice[0])

    @property
    def fitted(self) -> FittedModel | None:
        """The model that answers; None if counts answer."""
        return None if self.choice[0] is None or self.model is None else self.model.fitted(self.question.seed)

    @property
    def samples(self) -> PosteriorSamples | None:
        """The posterior samples of the model that answers; None if counts answer."""
        return None if self.fitted is None else self.fitted.samples

    @property
    def inside(self) -> int:
        """The number of target rows."""
        return int(self.contrasts[0].target.sum()) if self.samples is None else self.samples.ranks.size(self.ranges[0])

    @property
    def of_space(self) -> bool:
        """Whether quantiles refer to the space instead of the rows, because a model corrects an adaptive sampler."""
        return self.samples is not None and self.samples.adaptive and self.by_quantile and not self.foreign

    @property
    def values(self) -> tuple[Region | RowSet, Region | RowSet]:
        """Target and region, with quantiles of the space replaced by values of the objective."""
        if self.samples is None or not self.of_space:
            return self.target, self.region
        ranks, sign = self.samples.ranks, self.data.levels.sign
        both = []
        for first, last in self.ranges:
            best = None if first == 0 else sign * float(np.nextafter(ranks.value_of(first), np.inf))
            worst = None if last == len(ranks) else sign * ranks.value_of(last)
            ends = (best, worst) if sign > 0 else (worst, best)
            whole = Region("quantile", Fraction(0), Fraction(1))
            both.append(whole if ends == (None, None) else Region("value", *ends))
        return both[0], both[1]

    @property
    def in_words(self) -> tuple[str, str]:
        """Target and region in words: "the best 10 % of the space (error ≤ 0.2; it contains 40 of your 90 trials)"."""
        if self.samples is None or not self.of_space:
            return self.words
        ranks, sign = self.samples.ranks, self.data.levels.sign
        words = []
        for region, span in zip(self.bands, self.ranges, strict=True):
            if region.is_all:
                words.append("the whole space")
                continue
            limit = f"{self.data.objective} {'≤' if sign > 0 else '≥'} {short(sign * ranks.value_of(span[1]))}"
            trials = f"it contains {ranks.size(span):,} of your {int(ranks.rows[-1]):,} trials"
            of_space = str(region) if region.kind == "value" else f"{region} of the space"
            words.append(f"{of_space} ({limit}; {trials})")
        return words[0], words[1]


@dataclass(frozen=True, slots=True, eq=False)
class ShareEstimate:
    """The importances of all parameters, without ratios, and the estimator that was used."""

    rows: list[Importance]
    estimator: str
    notes: list[Note]


def estimate(query: ResolvedQuestion) -> ShareEstimate:
    """The importances from counts, or from a model if one is requested or more accurate."""
    if query.question.estimator == "paper":
        return by_paper(query)
    with one_thread():
        fitted, samples = query.fitted, query.samples
        return by_counts(query) if fitted is None or samples is None else by_model(query, fitted, samples)


def objection_to(query: ResolvedQuestion) -> tuple[str, bool]:
    """Why no model can be used (empty if one can), and whether the only reason is that the rows are not available."""
    if query.question.smoothing != "auto":
        return f"smoothing={query.question.smoothing!r} applies to counts only", False
    if not FEWEST_ROWS <= query.count <= query.most_rows:
        return f"a model needs {FEWEST_ROWS} to {query.most_rows:,} rows, not {query.count:,}", False
    if query.masks is not None:
        return "the rows are chosen by a mask, a box or a condition, not by the objective", False
    if query.objection:
        return query.objection, False
    return ("the rows are no longer available", True) if query.model is None else ("", False)


def check_enough(inside: int, region: int, query: ResolvedQuestion) -> None:
    """Raise an error if the target has too few rows, unless `force` is set."""
    if inside < LEAST_TARGET and not query.question.force:
        inner = any(band.kind == "quantile" and not band.is_all for band in query.bands[1:])
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


# --- the paper ---------------------------------------------------------------------------------------


def by_paper(query: ResolvedQuestion) -> ShareEstimate:
    check_question(query.question)
    rows, notes = importances_by_paper(query.contrasts, uniform=query.baseline == "uniform")
    return ShareEstimate(rows, "paper", notes)


# --- counts ------------------------------------------------------------------------------------------


def by_counts(query: ResolvedQuestion) -> ShareEstimate:
    question, notes = query.question, query.choice[1]
    how: dict[str, Any] = {"baseline": question.baseline, "smoothing": question.smoothing}
    contrasts = counted_cells(query, with_repeats(query))
    counted = measure_all(contrasts, **how)
    check_enough(counted[0].n_target, counted[0].n_region, query)
    if question.draws == 0:
        return ShareEstimate(counted, "counts", notes)
    sureness = sureness_of(query, contrasts, counted, **how)
    adaptive = query.masks is None and query.shown is not None and query.shown.adaptive
    if question.baseline == "region" and adaptive and question.of != "rows":  # an adaptive sampler tries few bad values
        floors = [max(0.0, row.share) for row in counted]
        pairs = zip(floors, sureness, strict=True)
        sureness = [replace(one, high=min(1.0, s + REACH * max(0.0, one.high - s))) for s, one in pairs]
    return ShareEstimate(with_sureness(counted, sureness), "counts", notes)


def sureness_of(
    query: ResolvedQuestion, contrasts: Sequence[Contrast], counted: Sequence[Importance], **how: Any
) -> list[Sureness]:
    """The intervals and p-values of counted shares."""
    sureness = infer(contrasts, counted, query.question, p_values_for(query))
    if how["baseline"] != "region":
        return sureness
    sureness = with_threshold(query, counted, sureness, **how)
    each = zip(contrasts, counted, sureness, strict=True)
    return [with_unseen(*one, how["smoothing"]) for one in each]


def with_threshold(
    query: ResolvedQuestion, rows: Sequence[Importance], sureness: Sequence[Sureness], **how: Any
) -> list[Sureness]:
    """Widen intervals, because the threshold is a quantile of these rows and would differ in another sample.

    A stricter and a wider target show how much the share depends on the threshold.
    """
    near = query.data.near_targets(*query.bands) if query.bands else None
    if near is None:
        return list(sureness)
    (strict, inner), (wide, outer) = near
    part = rows[0].n_target / rows[0].n_region
    independent = rows[0].n_region / with_repeats(query)[0].repeats
    apart = (wide - strict) * query.count / rows[0].n_region  # as a part of the region, like `part`
    off = math.sqrt(part * (1.0 - part) / independent) / apart
    result = []
    for row, one, less, more in zip(rows, sureness, inner, outer, strict=True):
        if row.share <= WORTH_A_WORD or not 0 < less.target.sum() < more.target.sum():
            result.append(one)
            continue
        lower, upper = (measure(near, **how).share for near in counted_cells(query, (less, more)))
        moved = (upper - lower) * off
        low = row.share - math.hypot(max(row.share - one.low, 0.0), NORMAL * moved)
        high = row.share + math.hypot(max(one.high - row.share, 0.0), NORMAL * moved)
        result.append(replace(one, low=max(low, 0.0), high=min(high, 1.0), deviation=math.hypot(one.deviation, moved)))
    return result


def with_unseen(contrast: Contrast, row: Importance, sureness: Sureness, smoothing: Smoothing) -> Sureness:
    """Raise the upper end of the interval, because smoothing may have removed a part of the effect."""
    if not row.varied or row.n_region > MOST_ROWS:
        return sureness
    removed, chance = unseen_part(contrast, smoothing)
    above = removed + math.hypot(max(0.0, sureness.high - row.share), chance)
    return replace(sureness, high=min(1.0, row.share + above))


def unseen_part(contrast: Contrast, smoothing: Smoothing) -> tuple[float, float]:
    """The share that smoothing has removed, and how much more it may have removed."""
    target, region = contrast.independent()
    rows, unseen = float(region.sum()), np.zeros(2)
    for block in blocks_of(contrast.grid):
        inside, outside = target[block.cells], region[block.cells]
        width = width_in(block, smoothing, inside, outside)
        if width > 0.0 and inside.sum() > 1:
            unseen += smoothed_away(inside, outside, width)
    removed, chance = (unseen / rows).tolist()
    return removed, chance


def with_repeats(query: ResolvedQuestion) -> Sequence[Contrast]:
    """The contrasts, each with the design effect of repeated configurations (1 if there are none)."""
    model = query.shown
    if model is None or not model.clustered:
        return query.contrasts
    masks = query.masks
    if masks is not None:
        target, region = (mask[model.rows.rows] for mask in masks)
    elif (spans := query.spans(model.ranks)) is not None:
        target, region = (model.between(span) for span in spans)
    else:
        return query.contrasts
    repeats = model.design_effect(target, region)
    return [replace(one, repeats=repeats) for one in query.contrasts] if repeats > 1.0 else query.contrasts


def counted_cells(query: ResolvedQuestion, contrasts: Sequence[Contrast]) -> Sequence[Contrast]:
    """The contrasts as they are counted: with equally many rows in each cell where they are spread unevenly."""
    how = query.question
    if how.smoothing != "auto" or how.baseline != "region":
        return contrasts
    return [contrast.evened() for contrast in contrasts]


def p_values_for(query: ResolvedQuestion) -> PValues | None:
    """p-values by permutation of the rows; None if the rows cannot be permuted."""
    model, seed = query.model, query.question.seed
    if model is None:
        return None
    if query.masks is not None:
        masks = [mask[model.rows.rows] for mask in query.masks]
        return model.tested(*masks, certain=True, blocks=False, seed=seed)
    spans = query.choice[0] or query.spans(model.ranks)
    return None if spans is None else model.p_values(*spans, seed=seed)


# --- the model ---------------------------------------------------------------------------------------


def by_model(query: ResolvedQuestion, fitted: FittedModel, samples: PosteriorSamples) -> ShareEstimate:
    """The importances from the model, corrected by the rows if these were sampled uniformly."""
    question, spans = query.question, query.ranges
    inside, rows = (samples.ranks.size(span) for span in spans)
    check_enough(inside, rows, query)
    children = [contrast.name for contrast in query.contrasts if contrast.child]
    shares = sampled_shares(samples.focused(spans[1]), *spans, baseline=question.baseline, children=children)
    names = [contrast.name for contrast in query.contrasts]
    order = [shares.names.index(name) for name in names]
    top = 1.0 if question.baseline == "region" else math.inf
    correction = None
    if question.baseline == "region" and query.model is not None:
        correction = query.model.with_residuals(*spans, shares, seed=question.seed)
    estimated = shares.uncorrected() if correction is None else correction
    estimated = EstimatedShares(*(column[order] for column in estimated))
    if correction is not None:
        counted = {contrast.name: contrast for contrast in counted_cells(query, with_repeats(query))}
        sources = [shares.names[samples.sources[place]] for place in order]
        # A copy gets the counts of its original.
        each = [counted.get(source, counted[name]) for source, name in zip(sources, names, strict=True)]
        estimated = with_counts(query, estimated, each)
    share, low, high, deviation = estimated
    columns = share.tolist(), shares.activity[order].tolist(), shares.active_share[order].tolist()
    importances = [
        modelled_row(name, (inside, rows), shares.part, min(one, top), activity, active_share)
        if name in samples.varying
        else unvaried(name, inside, rows)
        for name, one, activity, active_share in zip(names, *columns, strict=True)
    ]
    if question.draws:
        p_values = p_values_for(query) or {}
        p = [p_values.get(name, 1.0) for name in names]
        ends = zip(low.tolist(), np.minimum(high, top).tolist(), p, deviation.tolist(), strict=True)
        importances = with_sureness(importances, [Sureness(*one) for one in ends])
    words = f"answered by a model of the objective ({fitted.skill}); "
    notes = [Note("answer", words, Arg("estimator", "counts"), " uses the counts alone")]
    return ShareEstimate(importances, "surrogate", notes)


def with_counts(query: ResolvedQuestion, model: EstimatedShares, contrasts: Sequence[Contrast]) -> EstimatedShares:
    """The mean of the model's shares and of the counted shares, weighted by their precision.

    The errors of a model hardly depend on the number of rows, but those of counts do: so the counts get a small weight
    if the target has few rows, and nearly all the weight if it has hundreds of them. `trust` falls from 1 to 0 for the
    largest table that has a model. The model's weight is multiplied by it, so that answers do not jump where it ends.
    """
    how: dict[str, Any] = {"baseline": "region", "smoothing": "auto"}
    counted, trust = measure_all(contrasts, **how), min(1.0, 2.0 - 2.0 * query.count / query.most_rows)
    rows = counted[0].n_region / contrasts[0].repeats
    share, raw = (np.array([getattr(row, name) for row in counted]) for name in ("share", "raw_share"))
    # n times the uncorrected share is a sum of squares; chance adds its degrees of freedom. If the model shows a larger
    # effect, counts that show a small one are not more certain.
    freedom = np.maximum((raw - share) * rows, 1.0)
    effect = np.maximum(np.maximum(share, model.share), 0.0)
    spread = np.sqrt(2.0 * freedom + 4.0 * rows * effect) / rows
    certain = MODEL_ERROR * model.deviation
    weight = 1.0 - trust * spread**2 / (certain**2 + spread**2)
    middle = (1.0 - weight) * model.share + weight * share
    if (
        counted[0].n_region == query.count or not query.question.draws
    ):  # the formula is near enough, and resampling takes longer
        removed, chance = np.array([unseen_part(one, "auto") for one in contrasts]).T
        counts = NORMAL * spread, removed + np.hypot(NORMAL * spread, chance), spread
    else:
        sureness = sureness_of(query, contrasts, counted, **how)
        low, high, off = np.array([(one.low, one.high, one.deviation) for one in sureness]).T
        counts = np.maximum(share - low, 0.0), np.maximum(high - share, 0.0), np.where(np.isnan(off), spread, off)
    own = model.share - model.low, model.high - model.share, model.deviation
    below, above, deviation = (
        np.hypot((1.0 - weight) * one, weight * two) for one, two in zip(own, counts, strict=True)
    )
    return EstimatedShares(middle, np.maximum(middle - below, 0.0), middle + above, deviation)


def modelled_row(
    name: str, rows: tuple[int, int], part: float, share: float, activity: float, active_share: float
) -> Importance:
    """The importance of one parameter by a model, without its ratio; `part` is the fraction of points in the target."""
    whole = max(0.0, share, active_share) if activity > 0 else max(0.0, share)
    divergence = whole * (1.0 - part) / part
    return importance_row(name, rows, share, divergence * (1.0 - activity), divergence * activity, part=part)


# --- answers -------------------------------------------------------------------------------------------


def answer(query: ResolvedQuestion) -> Importances:
    """The importances from counts or from a model.

    An answer about some of the parameters has ratios relative to these, and its `copies` are empty. If an adaptive
    sampler chose the trials, the answer also contains the result for the best trials.
    """
    question, result = query.question, estimate(query)
    copies = (
        {} if query.shown is None or query.narrowed or result.estimator == "paper" else query.shown.dependence.copies
    )
    rows, of_space = ranked(result.rows, copies), query.of_space
    trials: tuple[Importance, ...] = ()
    if of_space:
        trials = ranked(measure_all(query.contrasts, baseline="uniform", smoothing=question.smoothing))
    notes: list[Note] = []
    if not query.brief:
        notes += [] if of_space else query.notes
        notes += [*([] if query.samples is not None else few_rows_note(rows[0].n_target)), *result.notes]
        notes += [] if of_space else sparse_notes(query.contrasts)
        notes += query.shown.repeat_notes() if query.shown is not None else []
        notes += never_notes([row.name for row in rows if not row.varied])
        notes += [*chance_notes(rows), *kin_notes(query, [row.name for row in rows])]
        notes += sum_notes(rows, copies) if query.baseline == "region" else []
        notes += sampler_check_notes(query, result)
    shown = query.baseline, tuple(notes), result.estimator, query.whole and not query.brief
    return Importances(rows, *query.in_words, *shown, trials, copies)  # type: ignore[arg-type]


def density_answer(query: ResolvedQuestion, names: Collection[str] | None = None) -> dict[str, Densities]:
    """The densities of all or some parameters, from counts or from a model."""
    contrasts = [c for c in query.contrasts if names is None or c.name in names]
    if query.question.estimator == "paper":
        check_question(query.question)
        return {c.name: densities_by_paper(c, query.words) for c in contrasts}
    if query.samples is None:
        return {c.name: densities_of(c, smoothing=query.question.smoothing, words=query.words) for c in contrasts}
    return model_densities(query.samples, *query.ranges, query.in_words, contrasts)


def sampler_check_notes(query: ResolvedQuestion, result: ShareEstimate) -> list[Note]:
    """Notes on how the importances are affected by a sampler that did not draw values uniformly."""
    question, adaptive = query.question, query.shown is not None and query.shown.adaptive
    if query.of_space:
        words = "a model estimates which part of the search space is the best; "
        return [Note("doubt", _uneven(query), words, Arg("of", "rows"), " uses the best trials instead")]
    if adaptive and query.baseline == "region":
        return [Note("doubt", _uneven(query), "the importances hold for these rows, not for the whole space")]
    if query.samples is not None or (query.baseline == "region" and not query.whole):
        return []
    varying = [contrast for contrast in query.contrasts if contrast.varies and not is_even(contrast)]
    computed = {row.name: row.divergence for row in result.rows} if result.estimator == "counts" else {}
    uniform, near = (
        computed
        if query.baseline == baseline and computed
        else {row.name: row.divergence for row in measure_all(varying, baseline=baseline, smoothing=question.smoothing)}
        for baseline in ("uniform", "region")
    )
    names = [one.name for one in varying if uniform[one.name] > 2 * near[one.name] + 0.5]
    far = f"the rows are far from uniform in {listed(names, most=3)}: "
    if names and query.baseline == "region":
        return [Note("doubt", f"{far}the importances describe these rows, not the whole space")]
    words = f"{far}with a uniform baseline, the importances also show which values the sampler preferred; "
    remedy = Arg("estimator", "counts") if result.estimator == "paper" else Arg("baseline", "region")
    return [Note("doubt", words, remedy, " avoids this")] if names else []


def is_even(contrast: Contrast) -> bool:
    """Whether the region's rows are nearly uniform, so that no note says that they are far from it.

    Nearly uniform means that no cell has more than 1.5 times the rows that a uniform draw would give. Suppose that the
    target's divergence from the region is d. Then its divergence from a uniform draw is at most 1.5 · (d + 1) - 1. A
    note is given only if this divergence is more than 2 · d + 0.5.
    """
    regimes = [(contrast.region[block.cells], contrast.grid.prior[block.cells]) for block in contrast.grid.blocks]
    return all((rows * prior.sum() <= 1.5 * rows.sum() * prior).all() for rows, prior in regimes)


def _uneven(query: ResolvedQuestion) -> str:
    """That trials were not drawn evenly, and by what; without a cause if they may be a design or most of a grid."""
    levels = [int(np.count_nonzero(contrast.region)) for contrast in query.contrasts if contrast.varies]
    designed = max(levels, default=0) <= FEW_LEVELS or math.prod(levels) <= 2 * query.count
    return UNEVEN if designed else ADAPTIVE


def kin_notes(query: ResolvedQuestion, shown: Sequence[str]) -> list[Note]:
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
    own = query.shown.dependence
    for pairs, words in (
        (
            own.twins,
            "carry nearly the same information, so the importance of each includes the importance of the other",
        ),
        (own.related, "depend on each other in these rows, so each includes a part of the other's importance"),
    ):
        if pairs is own.related and query.shown.adaptive:  # another note says so
            continue
        known = [" and ".join(pair) for pair in pairs if {*pair} <= {*shown}]
        more = f" (and {len(known) - 4} more pairs)" if len(known) > 4 else ""
        notes += [Note("answer", f"{'; '.join(known[:4])}{more} {words}")] if known else []
    return notes
