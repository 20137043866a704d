"""Questions to an analysis that take more than a line: effects, interactions, planes of pairs, the rows as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from pedanova.base.notes import explaining
from pedanova.counting.contrasts import Contrast
from pedanova.counting.few_rows import counted_rows
from pedanova.counting.pairs import SetTally, tally_sets
from pedanova.data.regions import as_parts, as_region
from pedanova.data.row_selection import RowSet
from pedanova.data.trials import Trials, best_first, sampled, sorted_by, trials_of
from pedanova.errors import QueryError, UnknownParameterError, unknown_name
from pedanova.measures.densities import Densities
from pedanova.measures.effects import Effects, effects_of
from pedanova.measures.importance import Importances, rank
from pedanova.measures.interactions import Interactions, as_cells, as_order, choose, find_interactions, groups_of
from pedanova.measures.plane import PairDensity, pair_density
from pedanova.measures.question import DEFAULT, Question, as_whole, check_no_paper
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.surrogate.answer import answer, density_answer
from pedanova.measures.surrogate.estimate import MOST_ROWS, check_enough
from pedanova.measures.surrogate.profile import Profile, profile_answer
from pedanova.space.parameters import Space


def check_names(names: Iterable[object], space: Space) -> None:
    """Refuse names that no parameter has."""
    for name in names:
        if not isinstance(name, str) or name not in space:
            raise UnknownParameterError(unknown_name(name, tuple(space)))


def importance_of(data: TrialData, question: Question) -> Importances:
    """The answer of whichever estimator is right for the question."""
    wanted, base = data.resolve(question.target, "target"), data.resolve(question.region, "region")
    contrasts, words, notes = data.contrasts(wanted, base)
    inputs = data.inputs(contrasts, wanted, base)
    with explaining(data.notes):
        return answer(inputs, question, words, notes, objective=data.objective, whole=getattr(base, "is_all", False))


def brief_importance(data: TrialData, question: Question) -> Importances:
    """The numbers of `importance_of` without draws, and without the notes, whose checks cost more than the numbers."""
    question = question.without_draws()
    contrasts, words, _ = data.contrasts(question.target, question.region)
    if data.rows > MOST_ROWS and question.estimator in ("auto", "counts"):  # too many rows for a model
        rows = rank(contrasts, baseline=question.baseline, smoothing=question.smoothing)
        check_enough(rows[0].n_target, rows[0].n_region, question)
        return Importances(rows, words[0], words[1], question.baseline)  # type: ignore[arg-type]
    inputs = data.inputs(contrasts, question.target, question.region)
    return answer(inputs, question, words, (), objective=data.objective, whole=False, brief=True)


def densities_of_all(data: TrialData, question: Question) -> dict[str, Densities]:
    """How every parameter is spread in target, region and space, by the estimator that answers `importance`."""
    wanted, base = data.resolve(question.target, "target"), data.resolve(question.region, "region")
    contrasts, words, _ = data.contrasts(wanted, base)
    return density_answer(data.inputs(contrasts, wanted, base), question, words, objective=data.objective)


def profile_of(data: TrialData, question: Question, ladder: Iterable[object] | None) -> Profile:
    """The question at one target after the other."""
    parts = None if ladder is None else as_parts(ladder)
    base = data.resolve(question.region, "region")
    if isinstance(base, RowSet):
        return replace(profile_answer(data.within(base), as_region(1, "region"), parts, question), region=str(base))
    return profile_answer(data, base, parts, question)


def effects_within(
    data: TrialData, region: object = DEFAULT.region, clip: object = None, smoothing: Smoothing = DEFAULT.smoothing
) -> Effects:
    """Parts of the objective's own variance, inside a region."""
    if data.levels.several:
        first = data.objective.split(", ")[0]
        words = f"{data.objective}: several objectives have no single variance; use .alone({first!r}).effects()"
        raise QueryError(words)
    base = data.resolve(region, "region")
    if isinstance(base, RowSet):
        return replace(effects_within(data.within(base), clip=clip, smoothing=smoothing), region=str(base))
    ends = []
    if clip is not None:
        worst = data.resolve(clip, "clip")
        if isinstance(worst, RowSet):
            raise QueryError(f"clip ({worst}) must be a quantile such as 0.1, or at_most(v), at_least(v)")
        ends = [worst]
    levels, tallies = data.cut_at(base, *ends)
    moments = data.moments if levels is data.levels else data.sum_moments_by(levels)
    return effects_of(tallies, moments, base, clip=ends[0] if ends else None, smoothing=smoothing)


def interactions_of(
    data: TrialData,
    question: Question,
    *,
    order: object = 2,
    cells: object = "auto",
    corrected: bool = True,
    params: Iterable[str] | None = None,
) -> Interactions:
    """What sets of parameters explain together, beyond their smaller sets."""
    size = as_order(order)
    check_no_paper(question, "interactions")
    wanted, base = data.resolve(question.target, "target"), data.resolve(question.region, "region")
    if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
        inner = replace(question, target=wanted, region=1.0)
        return replace(
            interactions_of(data.within(base), inner, order=size, cells=cells, corrected=corrected, params=params),
            region=str(base),
        )
    observed = data.observed()
    resolved = data.resolved(replace(question, target=wanted, region=base))
    wanted, base = data.resolve(resolved.target, "target"), data.resolve(resolved.region, "region")
    contrasts, words, notes = data.contrasts(wanted, base)
    result = find_interactions(
        observed,
        data.codes(wanted, base),
        contrasts,
        size,
        cells=cells,
        corrected=corrected,
        params=params,
        seed=question.seed,
        threads=data.threads,
        counter=resolved.set_counter(),
    )
    words = resolved.words or words
    return replace(result, target=words[0], region=words[1], notes=(*notes, *result.notes))


def pair_planes(
    data: TrialData, names: Sequence[str] | None, question: Question, cells: object
) -> dict[tuple[str, str], PairDensity]:
    """Rows of target and region on the plane of every two of these parameters, the rows counted once."""
    contrasts, tally = _count_pairs(data, names, question, cells)
    return {pair: pair_density(tally, *(contrasts[name] for name in pair)) for pair in combinations(tally.groups, 2)}


def pair_plane(data: TrialData, names: tuple[str, str], question: Question, cells: object) -> PairDensity:
    """The same of two parameters, the first one across."""
    contrasts, tally = _count_pairs(data, names, question, cells)
    return pair_density(tally, contrasts[names[0]], contrasts[names[1]])


def _count_pairs(
    data: TrialData, names: Sequence[str] | None, question: Question, cells: object
) -> tuple[dict[str, Contrast], SetTally]:
    observed = data.observed()
    wanted, base = data.resolve(question.target, "target"), data.resolve(question.region, "region")
    if isinstance(base, RowSet) and not isinstance(wanted, RowSet):
        return _count_pairs(data.within(base), names, Question(wanted), cells)
    resolved = data.resolved(Question(wanted, base))
    wanted, base = data.resolve(resolved.target, "target"), data.resolve(resolved.region, "region")
    contrasts, _, _ = data.contrasts(wanted, base)
    chosen = {c.name: c for c in choose(contrasts, names)}
    groups = groups_of(chosen.values(), as_cells(cells, 0))
    return chosen, tally_sets(observed, data.codes(wanted, base), groups, threads=data.threads)


def trial_table(
    data: TrialData,
    question: Question,
    *,
    sort: str | None = None,
    descending: bool = False,
    offset: int = 0,
    limit: int | None = 50,
    sample: int | None = None,
    params: Sequence[str] | None = None,
) -> Trials:
    """The rows with their settings and objective; a target of None marks none of them."""
    for name, value in (("offset", offset), ("limit", limit), ("sample", sample)):
        if value is not None or name == "offset":
            as_whole(value, name)
    check_names(params or (), data.space)
    observed = data.observed()
    rows = np.flatnonzero(counted_rows(observed, data.levels.nan))
    total = len(rows)
    rows = rows if sample is None else sampled(rows, sample, question.seed)
    many = len(rows) if limit is None else min(offset + limit, len(rows))
    if sort is None:
        ordered = best_first(observed, rows, many)
    else:
        ordered = sorted_by(observed, rows, sort, many, descending=descending)
    shown = ordered[offset:]
    codes = None
    if question.target is not None:
        resolved = data.resolved(question)
        codes = data.codes(data.resolve(resolved.target, "target"), data.resolve(resolved.region, "region"), shown)
    return trials_of(observed, shown, total, codes, params)
