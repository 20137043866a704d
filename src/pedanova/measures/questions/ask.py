"""One function for each question: importances, densities, effects, interactions, trials, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note, explaining
from pedanova.base.progress import watched
from pedanova.base.table import Cell, Printed, Table, columns_of, html_table
from pedanova.base.terminal import TableColumn
from pedanova.counting.contrasts import Codes, Contrast
from pedanova.counting.few_rows import MANY_ROWS, counted_rows
from pedanova.counting.pairs import SetTally, tally_sets
from pedanova.data.column import cells_of, take
from pedanova.data.history import ROW, History, history_of
from pedanova.data.observations import Observations
from pedanova.data.options import as_flag, check_choice
from pedanova.data.regions import LEAST_TARGET, Region, RowSet, as_part, as_parts, part_in_words
from pedanova.data.trials import Indices, Trials, best_first, sampled, sorted_by, taken, trials_of
from pedanova.errors import Arg, PedanovaError, QueryError, TooFewRowsError, check_names
from pedanova.measures.densities import Densities, PairDensity, pair_density
from pedanova.measures.importance import Importance, Importances, known_percent, never_notes, ranked
from pedanova.measures.question import DEFAULT, TARGET, How, Question, as_whole
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.smoothing import Smoothing, check_smoothing
from pedanova.measures.surrogate.estimate import ResolvedQuestion, density_answer, estimate
from pedanova.measures.surrogate.row_model import FEWEST_ROWS, Level
from pedanova.measures.surrogate.summaries import model_sets, targets_of_pair
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

USUAL = tuple(dict.fromkeys((TARGET, 0.1, 0.01, 0.5, 0.05, 0.2, 0.02, 0.3)))  # usual targets, the most usual first


def chosen_places(quantiles: Sequence[float]) -> list[int]:
    """The indices of the targets to show if there is little room, the most useful first."""
    if len(quantiles) <= len(USUAL):
        order = [*USUAL, *quantiles]
        return sorted(range(len(quantiles)), key=lambda i: order.index(quantiles[i]))
    wanted = [quantiles.index(quantile) for quantile in USUAL if quantile in quantiles]
    return wanted or [0, len(quantiles) - 1]


@dataclass(frozen=True, slots=True)
class Step:
    """The importances at one target of a profile."""

    quantile: Fraction  # the requested quantile
    effective: float  # the actual part of the rows, with ties
    rows: tuple[Importance, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Table):
    """The importance of every parameter at several targets inside one region.

    If two quantiles select the same rows because of ties, only one is included, and `notes` say so.

    Attributes
    ----------
    steps
        One step for each target. Each step has `quantile`, `effective` (the actual fraction of the rows, with ties) and
        `rows`.
    region
        The region, in words.
    estimator
        The estimator that was used: ``"counts"``, ``"surrogate"`` or ``"paper"``.

    Examples
    --------
    >>> import pedanova as pa
    >>> p = pa.analyze(pa.demo_trials(), "error").profile(ladder=[0.05, 0.2], estimator="counts")
    >>> [float(step.quantile) for step in p]
    [0.05, 0.2]
    """

    internal = Table.internal | {"by_parameter", "usable"}
    steps: tuple[Step, ...]
    region: str
    notes: tuple[Note, ...] = ()
    estimator: str = "counts"  # or "surrogate", "paper"

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def of(self, name: str) -> list[tuple[float, Importance]]:
        """The importance of one parameter at each target.

        Parameters
        ----------
        name
            The parameter.

        Returns
        -------
        list of tuple of float and Importance
            Pairs (quantile, importance), the strictest target first.
        """
        return [(float(step.quantile), row) for step in self.steps for row in step.rows if row.name == name]

    def to_dict(self) -> dict[str, list[Cell]]:
        """One entry for every quantile and parameter."""
        pairs = [(step, row) for step in self.steps for row in step.rows]
        steps: dict[str, list[Cell]] = {
            "target": [float(step.quantile) for step, _ in pairs],
            "effective": [step.effective for step, _ in pairs],
        }
        return steps | columns_of([row for _, row in pairs])

    def printed(self) -> Printed:
        """A table of ratios: one line for each quantile, and one column for each parameter."""
        targets = [f"{float(step.quantile):.6g}" for step in self.steps]
        rows = [str(step.rows[0].n_target) for step in self.steps]
        ratios = [{row.name: known_percent(row, row.ratio) for row in step.rows} for step in self.steps]
        names = list(ratios[-1]) if ratios else []
        columns = [TableColumn(name, [ratio[name] for ratio in ratios]) for name in names]
        return [TableColumn("target", targets), TableColumn("rows", rows), *columns]

    def usable(self) -> list[Step]:
        """The steps with enough target rows; all steps if none has enough."""
        return [step for step in self.steps if step.rows[0].n_target >= LEAST_TARGET] or list(self.steps)

    def by_parameter(self) -> list[list[Importance]]:
        """The importances at every usable target, by parameter; sorted by the importance at the default target."""
        steps = self.usable()
        if not steps:
            return []
        usual = min(steps, key=lambda step: abs(float(step.quantile) - TARGET))
        by_name = [{row.name: row for row in step.rows} for step in steps]
        return [[rows[row.name] for rows in by_name] for row in usual.rows]

    def _repr_html_(self) -> str:
        """An HTML table with parameters as lines and a few targets as columns."""
        steps, rows = self.usable(), self.by_parameter()
        places = sorted(chosen_places([float(step.quantile) for step in steps]))
        columns = [TableColumn("parameter", [row[0].name for row in rows])]
        for i in places:
            cells, parts = [known_percent(row[i], row[i].ratio) for row in rows], [row[i].ratio for row in rows]
            columns.append(TableColumn(f"best {part_in_words(steps[i].quantile)}", cells, parts=parts))
        return html_table(f"Ratio of each parameter by target, inside {self.region}", columns, notes=self.notes)


if TYPE_CHECKING:  # modules that few questions need are imported inside the functions
    from pedanova.measures.effects import Effects
    from pedanova.measures.forest import ForestEffects
    from pedanova.measures.interactions import Interactions


MOST_RANGES = 2  # ranges of good values in a sentence


def importance_of(data: TrialData, question: Question, *, good: bool = False) -> Importances:
    """The importances from counts or a model; if `good` is True, with good values of clearly important parameters."""
    data, question = data.selected(question) if question.within else (data, question)
    with explaining(data.notes):
        query = data.resolved(question)
        result = query.importances
        names = [row.name for row in result.rows if row.significant]
        if not good or not names:
            return result
        densities = query.cached("good", lambda: density_answer(query, names), query.words, repr(question.how))
        densities = with_failures(data, densities)
    values = {}
    for name in names:
        ranges = [one.words for one in densities[name].good(question.baseline)]  # type: ignore[arg-type]
        more = len(ranges) - MOST_RANGES
        values[name] = " or ".join(ranges[:MOST_RANGES]) + (f" or {more} more" if more > 0 else "")
    doubts = [note.subject for note in data.notes if note.kind == "roles" and note.severity == "warning"]
    return replace(result, good=values, doubtful=tuple(doubts))


def importance_or_wider(data: TrialData, question: Question, *, good: bool = True) -> Importances:
    """Like `importance_of`; a quantile with too few rows is replaced (`TrialData.widened`), and a note says so."""
    wide = data.widened(question)
    try:
        result = importance_of(data, wide, good=good)
    except TooFewRowsError:
        if wide is not question or data.quantile_of(question) is None or question.within:
            raise
        few = f"{Region.parse(question.target, 'target')} of {data.rows:,} rows are too few. "
        with explaining(data.notes):
            words = "Because of ties, there is no wider target; run more trials, or pass "
            raise TooFewRowsError(f"{few}{words}", Arg("force", True)) from None
    if wide is question:
        return result
    few = f"{Region.parse(question.target, 'target')} of {result.rows[0].n_region:,} rows are too few"
    change = f"{few}; the answer is for {result.target}, the strictest target with enough rows"
    return replace(result, notes=(Note("question", change, severity="warning"), *result.notes))


def densities_of_all(data: TrialData, question: Question) -> dict[str, Densities]:
    """The densities of every parameter in target, region and space, from the same estimator as `importance`."""
    return with_failures(data, data.resolved(replace(data.widened(question), force=True)).densities)


def with_failures(data: TrialData, densities: Mapping[str, Densities]) -> dict[str, Densities]:
    """The densities with the numbers of trials that succeeded and failed in each cell, so that good values succeed."""
    trials = data.failing(same_space=True) if data.rows <= MANY_ROWS else None
    if trials is None:
        return {**densities}
    observed = trials.observed()
    rows, result = np.flatnonzero(counted_rows(observed, trials.levels.nan)), {}
    failed = observed.goals[0].values[rows].astype(np.int64)
    for name, one in densities.items():
        grid = grid_of(observed.space[name])
        cells = cells_of(take({name: observed.columns[name]}, rows)[name], grid).astype(np.int64)
        tried = np.bincount(2 * cells + failed, minlength=2 * grid.width).reshape(-1, 2)[: grid.cells]
        result[name] = replace(one, tried=tried)
    return result


def profile_of(data: TrialData, question: Question, ladder: Iterable[object] | None) -> Profile:
    """The importances for each target in `ladder`, or for all quantiles that were counted."""
    parts = None if ladder is None else as_parts(ladder)
    base = data.resolve(question.region, "region")
    words = str(base)
    if isinstance(base, RowSet):
        data, base = data.within(base), Region.parse(1, "region")
    slices, same = data.slices(base, parts)
    beyond = [] if parts is None else sorted({*parts} - {one.part for one in slices} - {*same})
    queries = [data.resolved(replace(question, target=one.target, region=base), one.contrasts()) for one in slices]
    answers = [estimate(query) for query in queries]
    shown = queries[0].shown if queries and question.estimator != "paper" else None  # the paper knows no copies
    copies = {} if shown is None else shown.dependence.copies
    steps: list[Step] = []
    from_answers: list[Note] = []
    for one, query, result in zip(slices, queries, answers, strict=True):
        if steps and query.samples is not None and steps[-1].rows[0].n_target == result.rows[0].n_target:
            same.append(one.part)  # this target of the space has the same rows as the next stricter one
            continue
        ranks = query.samples.ranks if query.samples is not None and query.of_space else None
        effective = one.held if ranks is None else ranks.part_of(query.ranges[0][1])
        steps.append(Step(one.part, effective, ranked(result.rows, copies)))
        from_answers += result.notes
    varied = {row.name for step in steps for row in step.rows if row.varied}
    notes = never_notes([name for name in data.space if name not in varied]) if steps else []
    whys = (
        (same, "with the same rows as a stricter target (because of ties)"),
        (beyond, "that contain no row or all rows of the region"),
    )
    for some, why in whys:
        which = ", ".join(map(part_in_words, some))
        notes += [Note("question", f"targets {why} are left out: {which}")] if some else []
    estimator = next((result.estimator for result in answers if result.estimator != "counts"), "counts")
    return Profile(tuple(steps), words, (*notes, *dict.fromkeys(from_answers)), estimator)


def effects_within(
    data: TrialData, region: object = DEFAULT.region, clip: object = None, smoothing: Smoothing = DEFAULT.smoothing
) -> Effects:
    """The fraction of the objective's variance that each parameter explains inside a region."""
    from pedanova.measures.effects import effects_of

    if data.levels.several:
        first = data.objective.split(", ")[0]
        words = f"{data.objective}: effects of several objectives are not defined; use .alone({first!r}).effects()"
        raise QueryError(words)
    check_smoothing(smoothing)
    base = data.resolve(region, "region")
    if isinstance(base, RowSet):
        return replace(effects_within(data.within(base), clip=clip, smoothing=smoothing), region=str(base))
    ends = []
    if clip is not None:
        worst = data.resolve(clip, "clip")
        if isinstance(worst, RowSet):
            raise QueryError(f"clip ({worst}) must be a quantile such as 0.1, at_most(v) or at_least(v)")
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
    """How much each set of parameters explains beyond what its subsets explain."""
    from pedanova.measures import interactions

    question.check_not_paper("interactions")
    size = as_whole(order, "order", 2, interactions.MOST_ORDER + 1)
    query, codes, notes = _with_codes(data, question)
    chosen = interactions.choose(query.contrasts, params)
    if size > len(chosen):
        smaller = f" is larger than the number of parameters ({len(chosen)}); use a smaller order"
        raise QueryError(Arg("order", size), smaller)
    most = interactions.as_cells(cells, int(chosen[0].target.sum()), size)
    observed, threads = query.data.observed(), data.threads
    usual = interactions.as_cells("auto", int(chosen[0].target.sum()), size)
    rough = min(most, usual) if size == 2 else most
    groups = interactions.strongest(observed, codes, interactions.groups_of(chosen, rough), size, threads)
    how: dict[str, Any] = {"corrected": as_flag("corrected", corrected), "seed": question.seed, "threads": threads}
    samples = None if query.samples is None else query.samples.fine
    if size == 2:
        if cells == "auto":
            counted = int(chosen[0].region.sum()) if samples is None else len(samples)
            most = interactions.fine_cells(most, counted, len(chosen))
        groups, how["coarse"] = interactions.finer_groups(chosen, groups, most)
        how["alone"] = alone_shares(query) if corrected else None
        if samples is not None:
            how["samples"] = partial(targets_of_pair, samples, query.ranges[0], groups)
    tally = tally_sets(observed, codes, groups, size, threads=threads)
    # A model counts its points in the same cells; p-values come from the rows.
    shown = tally if samples is None else model_sets(samples, *query.ranges, groups, tally.sets)
    measure = interactions.measure_pairs if size == 2 else interactions.measure_sets
    rows = measure(tally, shown, **how)
    notes += interactions.notes_on(rows, most, size, len(chosen) - len(groups))
    notes += never_notes([c.name for c in chosen if not c.varies], "no interaction can be measured")
    estimator = "counts" if query.samples is None else "surrogate"
    return interactions.Interactions(rows, *query.in_words, most, bool(corrected), tuple(notes), estimator)


def alone_shares(query: ResolvedQuestion) -> dict[str, float]:
    """The share of every parameter on its own, at least 0."""
    rows = estimate(replace(query, question=replace(query.question, draws=0, force=True))).rows
    return {row.name: max(0.0, row.share) for row in rows}


def _with_codes(data: TrialData, question: Question) -> tuple[ResolvedQuestion, Codes, list[Note]]:
    """The question with its counts, codes of the rows that were counted, and notes, to count pairs of parameters."""
    data.observed()  # raises an error if the rows are not available
    query = data.resolved(data.widened(question))
    wanted, base = query.values
    query = replace(query, given=query.data.contrasts(wanted, base))
    return query, query.data.codes(wanted, base), replace(query, target=wanted, region=base).notes


def pair_planes(
    data: TrialData, names: Sequence[str] | None, question: Question, cells: object
) -> dict[tuple[str, str], PairDensity]:
    """The numbers of target and region rows in the cells of every pair of parameters."""
    contrasts, tally = _count_pairs(data, names, question, cells)
    return {pair: pair_density(tally, *(contrasts[name] for name in pair)) for pair in combinations(tally.groups, 2)}


def pair_plane(data: TrialData, names: tuple[str, str], question: Question, cells: object) -> PairDensity:
    """The numbers of target and region rows in the cells of one pair of parameters."""
    contrasts, tally = _count_pairs(data, names, question, cells)
    return pair_density(tally, contrasts[names[0]], contrasts[names[1]])


def _count_pairs(
    data: TrialData, names: Sequence[str] | None, question: Question, cells: object
) -> tuple[dict[str, Contrast], SetTally]:
    from pedanova.measures.interactions import as_cells, choose, groups_of

    query, codes, _ = _with_codes(data, Question(question.target, question.region))
    chosen = {c.name: c for c in choose(query.contrasts, names)}
    groups = groups_of(chosen.values(), as_cells(cells, 0))
    return chosen, tally_sets(query.data.observed(), codes, groups, threads=data.threads)


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
    """A table of the rows with parameters and objective; if there is a target, a column says which rows are in it."""
    for name, value in (("offset", offset), ("limit", limit), ("sample", sample)):
        if value is not None or name == "offset":
            as_whole(value, name)
    observed = data.observed()
    check_names(params or (), {*observed.table, ROW})
    rows = np.flatnonzero(counted_rows(observed, data.levels.nan))
    total = len(rows)
    rows = rows if sample is None else sampled(rows, sample, question.seed)
    many = len(rows) if limit is None else min(offset + limit, len(rows))
    shown = in_order(observed, rows, many, sort, descending=descending)[offset:]
    return trials_of(observed, shown, total, target_codes(data, question, shown), params)


def trial_pieces(
    data: TrialData,
    question: Question,
    size: int,
    *,
    sort: str | None = None,
    descending: bool = False,
    params: Sequence[str] | None = None,
) -> Iterator[Trials]:
    """All rows as tables like `trial_table`, of `size` rows each."""
    observed = data.observed()
    rows = np.flatnonzero(counted_rows(observed, data.levels.nan))
    shown = in_order(observed, rows, len(rows), sort, descending=descending)
    codes = target_codes(data, question, shown)
    parts = [slice(start, start + size) for start in range(0, len(shown), size)]
    each = ((part, None if codes is None else codes[part]) for part in parts)
    return (trials_of(observed, shown[part], len(rows), own, params) for part, own in each)


def in_order(observed: Observations, rows: Indices, many: int, sort: str | None, *, descending: bool) -> Indices:
    if sort is None:
        return best_first(observed, rows, many)
    return sorted_by(observed, rows, sort, many, descending=descending)


def history_table(
    data: TrialData,
    question: Question,
    *,
    objective: str | None = None,
    params: Sequence[str] | None = (),
    sample: int | None = None,
) -> History:
    """The trials in their order, with the best so far; if there is a target, a column says which rows are in it."""
    if sample is not None:
        as_whole(sample, "sample")
    observed = data.observed()
    check_names(params or (), {*observed.table, ROW})
    counted = counted_rows(observed, data.levels.nan)
    some = target_codes(data, question, np.flatnonzero(counted))
    codes = np.full(len(observed), 2, dtype=np.uint8)
    codes[counted] = 2 if some is None else some
    marks = None if some is None else codes
    return history_of(observed, counted, marks, objective=objective, names=params, sample=sample, seed=question.seed)


def target_codes(data: TrialData, question: Question, rows: Indices) -> Codes | None:
    """Codes that say which of the rows lie in target and region; None without a target."""
    if question.target is None:
        return None
    query = data.resolved(data.widened(question))
    return data.codes(*query.values, rows)


Ranked: TypeAlias = "Importances | Effects | ForestEffects"
Answer = TypeVar("Answer", bound="Importances | Effects | ForestEffects")
Ways: TypeAlias = Mapping[str, tuple[str, Callable[[], "Ranked"]]]  # measure → its meaning, and its call


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Table, Mapping[str, Answer]):
    """The answers of several measures, or for several objectives, side by side (`Analysis.compare`).

    Attributes
    ----------
    answers
        The answers by name: ``c["PED"]["lr"].ratio``, ``c["loss"]["lr"].share``.
    shown
        The number that is printed: ``"ratio"`` or ``"share"``.
    meanings
        The meaning of each answer, in words.
    notes
        Notes on the answers, and on answers that were left out.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
    >>> c = a.compare(by="objective", estimator="counts", draws=0)
    >>> next(iter(c["train_seconds"]))
    'epochs'
    """

    answers: Mapping[str, Answer]
    shown: Literal["ratio", "share"] = "share"
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __getitem__(self, name: str) -> Answer:
        check_names([name], self.answers, what="answer")
        return self.answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def ratios(self) -> dict[str, dict[str, float]]:
        """The ratios by answer and parameter."""
        return {name: answer.ratios for name, answer in self.items()}

    @property
    def noise(self) -> dict[str, frozenset[str]]:
        """For each answer with p-values, the parameters without a clear effect."""
        known = {name: answer.rows for name, answer in self.items() if isinstance(answer, Importances)}
        return {name: frozenset(one.name for one in rows if one.significant is False) for name, rows in known.items()}

    def to_dict(self) -> dict[str, list[Cell]]:
        names = list(next(iter(self.answers.values())))
        columns: dict[str, list[Cell]] = {"parameter": list(names)}
        for key, result in self.items():
            by_name = {row.name: row for row in result.rows}
            rows = [by_name.get(name) for name in names]  # the forest may have used only some parameters
            columns[f"{key} ratio"] = [row.ratio if row else None for row in rows]
            columns[f"{key} share"] = [row.share if row else None for row in rows]
        return columns

    def printed(self) -> Printed:
        names, noise = list(next(iter(self.answers.values()))), self.noise
        columns = [TableColumn("parameter", names)]
        for key, result in self.items():
            marks = ["~ " if name in noise.get(key, ()) else "" for name in names]
            rows = {row.name: row for row in result.rows}
            values = [self._shown(rows[name]) if name in rows else "" for name in names]
            columns.append(TableColumn(key, [mark + value for mark, value in zip(marks, values, strict=True)]))
        return columns

    def _shown(self, row: Any) -> str:
        """The ratio or share of a row as a percentage; the share of a parameter that never varied is "–"."""
        value = getattr(row, self.shown)
        return known_percent(row, value) if self.shown == "share" and isinstance(row, Importance) else percent(value)


By: TypeAlias = Literal["measure", "objective", "level"]
LEVELS = (0.25, 0.5)  # parts of the rows that are best by the second objective
TOP = 30  # the largest number of parameters that a forest is fitted to
FOREST_VALUES = 100_000  # the largest number of values; a longer table is sampled


def compare(
    data: TrialData, by: str, target: object, region: object = DEFAULT.region, top: object = TOP, **how: Unpack[How]
) -> Comparison[Any]:
    """Compare importances side by side: of several measures, for several objectives, or at levels of an objective."""
    check_choice("by", by, By)
    if by != "measure":
        return (compare_objectives if by == "objective" else compare_levels)(data, Question(target, region, **how))
    if region != DEFAULT.region or set(how) - {"seed"}:
        words = "a comparison of measures accepts only target=, top= and seed=; "
        raise QueryError(f"{words}other options need by='objective'")
    return compare_measures(data, target, as_whole(top, "top", 1), seed=how.get("seed", DEFAULT.seed))


def compare_measures(data: TrialData, target: object, top: int = TOP, *, seed: int) -> Comparison[Ranked]:
    """Compare PED-ANOVA and f-ANOVA, over all rows and in the target, from counts and from a random forest."""
    from pedanova.measures.forest import forest_effects

    part = as_part(target, "target")
    whole, tenth = part_in_words(part), part_in_words(part / 10)
    inner, by_paper = Question(part / 10, part, seed=seed), Question(part, estimator="paper")
    answers: dict[str, Ranked] = {}

    def by_forest(clip: float | None) -> Ranked:
        some, notes = forest_table(data.observed(), answers.values(), top, seed)
        result = forest_effects(some, clip=clip, seed=seed, threads=data.threads)
        return replace(result, notes=(*notes, *result.notes))

    decide, explain = "which parameters decide whether a row", "which parameters explain the variance of"
    of_all, of_best = f"{decide} is in the best {whole}, compared with all rows", f"{decide} of the best {whole}"
    predicted = f"{explain} a random forest's prediction"
    clipped = f"{predicted}, with the objective clipped at the worst value of the best {whole}"
    ways: Ways = {
        "PED": (of_all, lambda: importance_of(data, Question(part, seed=seed))),
        "PED local": (f"{of_best} is in the best {tenth}", lambda: importance_of(data, inner)),
        "paper": ("as PED, by the estimator of the paper", lambda: importance_of(data, by_paper)),
        "f-ANOVA": (f"{explain} the objective", lambda: effects_within(data)),
        "f-ANOVA local": (f"{explain} the objective within the best {whole}", lambda: effects_within(data, part)),
        "forest": (f"{predicted} over the space", lambda: by_forest(None)),
        "forest clipped": (clipped, lambda: by_forest(float(part))),
    }
    # A measure without an answer is listed in the notes; without the first one, an error is raised.
    meanings, notes = {}, []
    for name, (meaning, ask) in watched(ways.items(), "measures", len(ways), verb="asking"):
        try:
            answers[name], meanings[name] = ask(), meaning
        except PedanovaError as error:
            if not answers:
                raise
            words = needs_more(data.rows) if isinstance(error, TooFewRowsError) else ("left out, ", *error.words)
            notes.append(Note("answer", *words, subject=name, severity="warning"))
            continue
        notes += [Note(note.kind, note, subject=name) for note in answers[name].notes]
    return Comparison(answers, "ratio", meanings, tuple(notes))


def needs_more(rows: int) -> tuple[str | Arg, ...]:
    """An error message that the best tenth of the target has too few rows; it names a target with enough rows."""
    wide = next((part for part in (0.1, 0.2, 0.3, 0.5) if part / 10 * rows >= LEAST_TARGET), None)
    remedy = ("run more trials",) if wide is None else ("choose a wider target, such as ", Arg("target", wide))
    return "left out, because the best tenth of the target has too few rows; ", *remedy


def forest_table(
    observed: Observations, answers: Iterable[Ranked], top: int, seed: int
) -> tuple[Observations, list[Note]]:
    """A sample of the rows with the parameters that rank highest in `answers`, so that a forest does not take hours."""
    largest: dict[str, float] = {}
    for result in answers:
        for row in result.rows:
            largest[row.name] = max(largest.get(row.name, 0.0), row.ratio)
    names = sorted(observed.space, key=lambda name: -largest.get(name, 0.0))[:top]
    rows = np.arange(len(observed)) if observed.keep is None else np.flatnonzero(observed.keep)
    some = sampled(rows, FOREST_VALUES // len(names), seed)
    notes = []
    if len(names) < len(observed.space):
        words = f"fitted to the {len(names)} of {len(observed.space):,} parameters that other measures rank highest; "
        notes.append(Note("answer", words, "a larger ", Arg("top"), " uses more"))
        space = Space({name: parameter for name, parameter in observed.space.items() if name in set(names)})
        observed = replace(observed, space=space, columns={name: observed.columns[name] for name in space})
    if len(some) < len(rows):
        notes.append(Note("answer", f"fitted to a sample of {len(some):,} of {len(rows):,} rows"))
        observed = taken(replace(observed, table={}), some)
    return observed, notes


def compare_objectives(data: TrialData, question: Question) -> Comparison[Importances]:
    """The importances for each of several objectives, and for all together."""
    goals, question = data.observed().goals, data.widened(question)
    together = {"together": importance_of(data, question)} if len(goals) > 1 else {}
    return Comparison(together | {goal.name: importance_of(data.alone(goal.name), question) for goal in goals})


def compare_levels(data: TrialData, question: Question) -> Comparison[Importances]:
    """The importances for the first of two objectives, among the rows that are good by the second one."""
    goals = data.observed().goals
    if len(goals) != 2:
        raise QueryError(Arg("by", "level"), f" needs two objectives, not {len(goals)}; the second one is limited")
    first, second = (data.alone(goal.name) for goal in goals)
    name, sign = second.objective, goals[1].sign
    losses = sign * goals[1].values.astype(np.float64)
    model = second.row_model
    known = None if model is None or len(model.rows) < FEWEST_ROWS else model.objective(question.seed)
    answers, meanings = {}, {}
    for part in LEVELS:
        end = second.reach(part)[0]
        inner = first.at_level(losses <= sign * end, None if known is None else Level(known, sign * end))
        key = f"{name} {'≤' if sign > 0 else '≥'} {short(end)}"
        answers[key], meanings[key] = importance_or_wider(inner, question), f"among trials with {key}"
    answers[f"any {name}"] = importance_or_wider(first, question)
    meanings[f"any {name}"] = "among all trials"
    what = f"which parameters decide whether {first.objective} is good"
    return Comparison(answers, meanings={key: f"{what}, {who}" for key, who in meanings.items()})
