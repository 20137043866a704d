"""Build the results that users see: importances with notes, densities, and counts for interactions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from pedanova.base.digits import short
from pedanova.base.notes import Note
from pedanova.counting.contrasts import Contrast, few_rows_note
from pedanova.counting.pairs import Groups, Names, SetTally
from pedanova.data.regions import Region
from pedanova.errors import Arg, listed
from pedanova.measures.densities import Densities, densities_of
from pedanova.measures.importance import (
    Importance,
    Importances,
    chance_notes,
    is_even,
    measure_all,
    rank,
    ranked,
    sampler_notes,
    sparse_notes,
)
from pedanova.measures.question import Question
from pedanova.measures.surrogate.estimate import ModelQuery, Query, ShareEstimate, choose, estimate
from pedanova.measures.surrogate.summaries import model_densities, model_sets
from pedanova.space.parameters import parents_of

ADAPTIVE = "the trials were not drawn evenly (adaptive sampler): "


def answer(
    query: Query,
    question: Question,
    words: tuple[str, str],
    notes: Sequence[Note],
    *,
    objective: str,
    whole: bool,
    brief: bool = False,
    narrowed: bool = False,
) -> Importances:
    """The importances from counts or from a model; `whole` means that the region contains all rows.

    A `brief` answer has no notes, because notes take longer to compute than the numbers. A `narrowed` answer has
    fewer parameters; its ratios are relative to these, and its `copies` are empty. If an adaptive sampler chose
    the trials, the answer also contains the result for the best trials.
    """
    result = estimate(query, question)
    copies = {} if query.shown is None or narrowed else query.shown.dependence.copies
    rows = ranked(result.rows, copies)
    model_query = result.model_query
    checks = [] if brief else check_notes(query, question, result, rows, whole=whole)
    trials: tuple[Importance, ...] = ()
    if model_query is not None and model_query.of_space:
        words, notes = words_of(query, model_query, objective), []
        trials = rank(query.contrasts, baseline="uniform", smoothing=question.smoothing)
    every = (*notes, *checks)
    table = Importances(rows, *words, question.baseline, every, result.estimator, whole)  # type: ignore[arg-type]
    return replace(table, trials=trials, copies=copies)


def check_notes(
    query: Query, question: Question, result: ShareEstimate, rows: Sequence[Importance], *, whole: bool
) -> list[Note]:
    model_query = result.model_query
    checks = [*([] if model_query is not None else few_rows_note(rows[0].n_target)), *result.notes]
    checks += [] if model_query is not None and model_query.of_space else sparse_notes(query.contrasts)
    checks += query.shown.repeats.notes() if query.shown is not None else []
    checks += [*chance_notes(rows), *kin_notes(query, [row.name for row in rows])]
    return [*checks, *sampler_check_notes(query, question, result, whole=whole)]


def density_answer(
    query: Query, question: Question, words: tuple[str, str], *, objective: str, names: Collection[str] | None = None
) -> dict[str, Densities]:
    """The densities of all or some parameters, from counts or from a model."""
    model_query, _ = choose(query, question)
    contrasts = [c for c in query.contrasts if names is None or c.name in names]
    if model_query is None:
        return {c.name: densities_of(c, smoothing=question.smoothing, words=words) for c in contrasts}
    words = words_of(query, model_query, objective) if model_query.of_space else words
    return model_densities(model_query.samples, model_query.target, model_query.region, words, contrasts)


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedQuestion:
    """A question with its quantiles replaced by values of the objective, and the model that answers it."""

    target: object
    region: object
    model_query: ModelQuery | None
    words: tuple[str, str] | None = None  # None for the words of target and region

    def set_counter(self) -> Callable[[Mapping[str, Groups], Sequence[Names]], SetTally] | None:
        """A function that counts the model's points in each cell, for sets of parameters; None if no model is used."""
        model_query = self.model_query
        return (
            None
            if model_query is None
            else partial(model_sets, model_query.samples, model_query.target, model_query.region)
        )


def resolve(query: Query, question: Question, *, objective: str) -> ResolvedQuestion:
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
    return ResolvedQuestion(both[0], both[1], model_query, words_of(query, model_query, objective))


def words_of(query: Query, model_query: ModelQuery, objective: str) -> tuple[str, str]:
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
        words.append(f"{of_space} ({objective} {'≤' if sign > 0 else '≥'} {short(limit)}; {trials})")
    return words[0], words[1]


def sampler_check_notes(query: Query, question: Question, result: ShareEstimate, *, whole: bool) -> list[Note]:
    """Notes on how the importances are affected by a sampler that did not draw values uniformly."""
    adaptive = query.shown is not None and query.shown.adaptive
    if result.model_query is not None and result.model_query.of_space:
        words = "a model estimates which part of the search space is the best; "
        return [Note("doubt", ADAPTIVE, words, Arg("of", "rows"), " uses the best trials instead")]
    if adaptive and question.baseline == "region":
        return [Note("doubt", ADAPTIVE, "the importances hold for these rows, not for the whole space")]
    if result.model_query is not None or (question.baseline == "region" and not whole):
        return []
    varying = [contrast for contrast in query.contrasts if contrast.varies and not is_even(contrast)]
    computed = {row.name: row.divergence for row in result.rows} if result.estimator == "counts" else {}
    level, near = (
        computed if question.baseline == baseline and computed else divergences_of(varying, baseline, question)
        for baseline in ("uniform", "region")
    )
    return sampler_notes({c.name: level[c.name] for c in varying}, near, against=question.baseline)


def divergences_of(contrasts: Sequence[Contrast], baseline: str, question: Question) -> dict[str, float]:
    return {row.name: row.divergence for row in measure_all(contrasts, baseline=baseline, smoothing=question.smoothing)}


def kin_notes(query: Query, shown: Sequence[str]) -> list[Note]:
    if query.shown is None:
        return []
    notes = []
    declared = {(parent, c.name) for c in query.contrasts for parent in parents_of(c.grid.parameter)}
    pairs = [(gate.parent, gate.child) for gate in query.shown.dependence.gates]
    gates = [pair for pair in pairs if pair not in declared and {*pair} <= {*shown}]
    for parent in sorted({parent for parent, _ in gates}):
        children = [child for one, child in gates if one == parent]
        exist = "exists" if len(children) == 1 else "exist"
        words = f"{listed(children, most=4)} {exist} only for some values of {parent}"
        notes.append(Note("answer", f"{words}; importance also counts whether the parameter exists"))
    twins = [f"{pair.one} and {pair.two}" for pair in query.shown.dependence.twins if {pair.one, pair.two} <= {*shown}]
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
    words: tuple[str, str]  # of target and region
    objective: str
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
        told = {"objective": self.objective, "whole": False, "brief": True, "narrowed": self.narrowed}
        return answer(self.query, self.question, self.words, (), **told)  # type: ignore[arg-type]

    @cached_property
    def densities(self) -> dict[str, Densities]:
        """The result of `densities` for all parameters."""
        plain = replace(self.question, baseline="region", smoothing="auto", force=True)
        return density_answer(self.query, plain, self.words, objective=self.objective)
