"""Compute advice: what tuning gains, which trials to run next, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pedanova.base.notes import Note
from pedanova.base.threads import RESULTS
from pedanova.counting.few_rows import MANY_ROWS, FewRows
from pedanova.data.column import Mask, as_column
from pedanova.data.objectives import Goal as Objective
from pedanova.data.options import check_choice
from pedanova.data.regions import rows_in_box
from pedanova.errors import Arg, PedanovaError, QueryError, unknown_name
from pedanova.measures.advice.configurations import Rules, cell_values
from pedanova.measures.advice.gains import DRAWS, Gain, Gains, Limit, Tuning, find_gains
from pedanova.measures.advice.needed import (
    FURTHER,
    Needed,
    NeededTrials,
    StopAdvice,
    advise,
    first_stays,
    until_apart,
    until_narrow,
    with_intervals,
)
from pedanova.measures.advice.next_trials import (
    MOST_OBJECTIVES,
    NEAR_ROWS,
    Goal,
    NextTrial,
    NextTrials,
    Objectives,
    allowed,
    check_movable,
    choose_next,
    distinct,
    neighbours,
)
from pedanova.measures.importance import Importance, Importances
from pedanova.measures.question import Question, as_whole
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.failures import EVEN_CHANCE, Success, failure_notes, success_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.objective_model import KnownObjective, Settings
from pedanova.measures.surrogate.posterior import FEWER_POINTS, even_points
from pedanova.measures.surrogate.row_model import FEWEST_ROWS, RowModel, hull_of
from pedanova.space.grid import Reals, grid_of
from pedanova.space.parameters import Float, Int, Moving, Parameter, Space, Switch
from pedanova.space.values import Label

SEVERAL = "with several objectives, gains with a limit for all but one say what further trials may still improve"
MOST_TRIALS = 501  # the number of proposed trials is below this
CANDIDATE_SIDE, MOST_CANDIDATES = 31, 700
LATELY, TAIL = 60, 8  # the last trials of an adaptive sampler, and the best of them, which predict how it goes on
EXCEEDED = 0.05  # the probability that further trials gain more than the limit
BELIEVED = 2.0  # gains that are believed after an adaptive search, in limits of further trials
SIMULATED = 40  # trials near the best ones, and elsewhere, by which a model predicts the same
BEST_RUN = 200  # the number of best rows that are candidates for the best configuration


def model_at_hand(data: TrialData) -> tuple[RowModel, list[Note]]:
    """The model of all rows; if there are too many rows, the model of a random sample, and a note."""
    data.observed()  # raises an error if the rows are not available
    model, notes = data.row_model, []
    if data.rows > MANY_ROWS:
        model = data.row_draw
        notes.append(Note("answer", f"the model uses a random sample of {len(model.few):,} of {data.rows:,} rows"))
    if not isinstance(model, RowModel):
        raise QueryError("the rows are no longer available; analyze the data again")
    return model, notes


def known_objective(model: RowModel, seed: int, what: str) -> KnownObjective:
    """The model that predicts the objective of any configuration; raises an error if it is not reliable."""
    rows = len(model.rows)
    fitted = model.fitted(seed)
    known = model.objective(seed)
    if known is None:
        why = fitted.objection or "no model could be fitted to these rows"
        raise QueryError(f"{what} need a model of the objective, but {why}; run more trials (so far {rows:,} rows)")
    return known


def gains_of(
    data: TrialData,
    default: Mapping[str, object] | None,
    region: object,
    seed: int,
    limit: Mapping[str, object] | None = None,
) -> Gains:
    """How much an objective improves by tuning, compared with a default configuration, inside a region.

    With several objectives, `limit` has a limit for every objective except one.
    """
    base = data.resolve(region, "region")
    whole = bool(getattr(base, "is_all", False))
    inner = data if whole else data.within(base)
    goal, limits = goal_and_limits(data, limit)
    chosen, notes = model_at_hand(inner)
    models, own = models_of(data, chosen.around or chosen), models_of(data, chosen)
    model, part = models[goal.name], own[goal.name]
    if len(model.rows) < FEWEST_ROWS:
        raise QueryError(
            f"gains need a model, and {len(model.rows)} rows are too few; at least {FEWEST_ROWS} are needed"
        )
    known = known_objective(model, seed, "gains")
    kept = {} if whole and chosen.around is None else cells_kept(model, part, region)
    signs = {one.name: one.sign for one in data.observed().goals}
    lowered = {name: signs[name] * end for name, end in limits.items()}  # lower is better
    best_row = best_row_within(part, own, lowered)
    if best_row is None:
        raise QueryError(Arg("limit", limit), " is met by no trial; choose a wider limit")
    rules = Rules(model.space, part.few.cells, best_row)
    default, source = default_of(rules, default, {} if limits else inner.observed().default, notes)
    start = rules.best() if default is None else rules.given(default)
    check_inside(rules, start, kept)
    notes += failure_notes(data)
    demands = [
        Limit(known_objective(models[name], seed, f"gains at a level of {name}"), end, seed)
        for name, end in lowered.items()
    ]
    tuning = Tuning(rules, known, start, kept, seed, (*demands, *filter(None, [success_of(data)])))
    answer = find_gains(tuning, candidates_of(part, rules, seed), rules.best(), spread_of(part))
    gains = gains_with_copies(answer.rows, model.dependence.copies, notes)
    steps = tuple(replace(step, objective=goal.sign * step.objective) for step in answer.path.rows)
    was_run = bool((np.stack([model.few.cells[name] for name in rules.names], axis=1) == start).all(axis=1).any())
    if not was_run:
        notes.append(Note("answer", "no trial has the default values; such a trial would make the gains more certain"))
    own_values = values_in_row(inner, rules.space, int(part.few.rows[best_row]))
    values = exact_values(rules, start, own_values if default is None else default)
    is_start, is_run = (np.array_equal(answer.best, one) for one in (start, rules.best()))
    best = values if is_start else exact_values(rules, answer.best, own_values if is_run else {})
    gains = {name: replace(gains[name], default=values[name]) for name in rules.names}
    return Gains(
        rows=tuple(sorted(gains.values(), key=lambda gain: (-gain.gain, -gain.high))),
        total=answer.total,
        path=replace(answer.path, rows=steps),
        default=values,
        best=best,
        safe_loss=answer.safe_loss,
        tolerance=answer.tolerance,
        objective=goal.name,
        direction=goal.direction,
        region=str(base),
        default_was_run=was_run,
        default_source=source,
        limit={f"{name} {'≤' if signs[name] > 0 else '≥'}": end for name, end in limits.items()},
        notes=tuple(notes),
    )


def candidates_of(part: RowModel, rules: Rules, seed: int) -> Settings:
    """Configurations that may be the best ones: spread over the space, the best trials, and changes of them."""
    run = run_settings(part, rules)
    near = neighbours(rules, run[:NEAR_ROWS], np.random.default_rng([seed, 0x6A2]))
    return np.concatenate([points_of(part.around or part, seed), run, near])


def best_of(data: TrialData, seed: int) -> Settings:
    """(1, parameters) The cells of the best configuration by `gains_of` without a default, region or limit."""
    part, _ = model_at_hand(data)
    model, success = part.around or part, success_of(data)
    known = known_objective(model, seed, "gains")

    def make() -> Settings:
        rules = Rules(model.space, part.few.cells, int(np.argmin(part.few.signed)))
        kept = {} if part.around is None else cells_kept(model, part, None)
        tuning = Tuning(rules, known, rules.best(), kept, seed, [] if success is None else [success])
        return tuning.best_of(tuning.likely(candidates_of(part, rules, seed))[1], rules.best())

    return RESULTS.get(part, ("best", seed, success is None), make)


def default_of(
    rules: Rules, default: Mapping[str, object] | None, of_tool: Mapping[str, Any], notes: list[Note]
) -> tuple[Mapping[str, object] | None, str]:
    """The given default, or that of the tool, if there is one; and what the gains are compared with, in words."""
    if default is not None or not of_tool:
        return default, "your best trial" if default is None else ""
    notes.append(Note("answer", "the default values come from the tool's configuration space"))
    return known_values(rules, of_tool), "the tool's own default"


def gains_with_copies(rows: Iterable[Gain], copies: Mapping[str, str], notes: list[Note]) -> dict[str, Gain]:
    """The gains by name; a copy gets the gain of its original, and `notes` say so."""
    gains = {row.name: row for row in rows}
    for copy, original in copies.items():
        gains[copy] = replace(gains[original], name=copy, default=gains[copy].default, best=gains[copy].best)
        notes.append(Note("answer", f"changes together with {original}, so both get the same gain", subject=copy))
    return gains


def best_row_within(part: RowModel, own: Mapping[str, RowModel], limits: Mapping[str, float]) -> int | None:
    """The best row whose objectives are within all limits, where lower is better; None if no row is."""
    signed = part.few.signed
    allowed = np.logical_and.reduce(
        [np.isfinite(signed), *(own[name].few.signed <= end for name, end in limits.items())]
    )
    row = int(np.argmin(np.where(allowed, signed, np.inf)))
    return None if limits and not allowed[row] else row


def spread_of(part: RowModel) -> float:
    """The interquartile range of the objective, without infinite values."""
    finite = part.few.signed[np.isfinite(part.few.signed)]
    return float(np.subtract(*np.quantile(finite, [0.75, 0.25]))) if len(finite) else 0.0


def values_in_row(data: TrialData, space: Space, row: int) -> dict[str, object]:
    """The values of the parameters in one row of the table, without those whose domain depends on others."""
    columns = data.observed().columns
    plain = (name for name, parameter in space.items() if not isinstance(parameter, Moving | Switch))
    return {name: columns[name].value_at(row) for name in plain if not columns[name].absent()[row]}


def goal_and_limits(data: TrialData, limit: object) -> tuple[Objective, dict[str, float]]:
    """The objective whose gains are computed, and the limits of all others."""
    goals = {goal.name: goal for goal in data.observed().goals}
    if limit is not None and not isinstance(limit, Mapping):
        raise QueryError(Arg("limit", limit), " must be a dict from objectives to numbers")
    ends = {}
    for name, end in (limit or {}).items():
        if name not in goals:
            raise QueryError(unknown_name(str(name), tuple(goals), what="objective"))
        try:
            ends[name] = float(end)
        except (TypeError, ValueError):
            raise QueryError(Arg("limit", limit), f" must have a number for {name}") from None
    left = [goal for name, goal in goals.items() if name not in ends]
    if len(left) == 1:
        return left[0], ends
    if len(goals) == 1:
        raise QueryError(Arg("limit", limit), " is for further objectives, and there is only one; leave it out")
    first, *others = goals
    alone = Arg("objective", said=(f".alone({first!r})", f"--objective {first} alone"))
    limits = Arg("limit", said=(f"limit={{{others[0]!r}: …}}", f"--limit {others[0]}=…"))
    raise QueryError(f"{data.objective}: gains need a single objective; use ", alone, ", or limit all others: ", limits)


def known_values(rules: Rules, default: Mapping[str, Label]) -> dict[str, object]:
    """Those values of a tool's default configuration that lie in the space."""
    known: dict[str, object] = {}
    for name, value in default.items():
        with suppress(PedanovaError):
            rules.given({name: value})
            known[name] = value
    return known


def cells_kept(model: RowModel, part: RowModel, region: object) -> dict[str, Mask]:
    """For each parameter, a mask of its cells in the region.

    If the region is not a box, the mask has all cells between the lowest and the highest value in its rows.
    """
    if not isinstance(region, Mapping):
        return hull_of(model.few, np.isin(model.few.rows, part.few.rows), model.space)
    kept = {}
    for name, bounds in region.items():
        parameter = model.space[name]
        grid, values = grid_of(parameter), cell_values(parameter)
        inside = rows_in_box({name: bounds}, {name: as_column(name, values)}, len(values))
        kept[name] = np.concatenate([inside, np.zeros(grid.width - grid.cells, dtype=bool)])
    return kept


def exact_values(rules: Rules, settings: Settings, known: Mapping[str, object]) -> dict[str, Label | None]:
    """The values of one configuration; those in `known` are exact, others are the middles of cells."""
    values = rules.values(settings)[0]
    return values | {name: exactly(rules.space[name], one) for name, one in known.items() if values[name] is not None}


def exactly(parameter: Parameter, value: Any) -> Label:
    """Convert a value to the type of the parameter: '3' -> 3 for a range of integers."""
    if isinstance(parameter, Int | Float | Moving):
        return int(float(value)) if isinstance(parameter, Int) else float(value)
    grid = grid_of(parameter)
    listed = grid.labels is not None and not isinstance(parameter, Switch)
    return grid.labels[int(grid.match((value,))[0])] if listed else value  # type: ignore[index]


def check_inside(rules: Rules, default: Settings, kept: Mapping[str, Mask]) -> None:
    for j, name in enumerate(rules.names):
        if name in kept and not kept[name][default[0, j]]:
            value = rules.values(default)[0][name]
            raise QueryError(f"default: {name}={value!r} lies outside the region; choose a value inside it")


def points_of(model: RowModel, seed: int, *, count: int = FEWER_POINTS) -> Settings:
    """(points, parameters) The cells of configurations spread evenly over the space."""
    rows = model.rows
    places = even_points(rows.arrangement, rows.places, count=count, seed=seed, dependence=model.dependence)
    return in_space_order(model.space, rows.arrangement.cells(places))


def run_settings(model: RowModel, rules: Rules) -> Settings:
    """(rows, parameters) The cells of the best configurations that were run; those outside the space are left out."""
    order = np.argsort(model.few.signed, kind="stable")[:BEST_RUN]
    settings = in_space_order(model.space, {name: cells[order] for name, cells in model.few.cells.items()})
    outside = np.array([grid.outside for grid in rules.grids])
    inside: Settings = settings[(settings != outside).all(axis=1)]
    return inside


def in_space_order(space: Space, cells: Mapping[str, np.ndarray]) -> Settings:
    settings: Settings = np.stack([cells[name] for name in space], axis=1).astype(np.int32)
    return settings


def next_trials_of(data: TrialData, number: object, goal: str, within: object, seed: int) -> NextTrials:
    """Choose `number` configurations to run next in the region `within`; `goal` is ``know``, ``win`` or ``both``."""
    many = as_whole(number, "number", 1, MOST_TRIALS)
    check_choice("goal", goal, Goal)
    part, notes = model_at_hand(data)
    model = part.around or part
    rules = Rules(model.space, part.few.cells)
    check_movable(rules)
    rng = np.random.default_rng([seed, 0x7E7])
    run = in_space_order(model.space, part.few.cells)
    kept = {} if part.around is None else cells_kept(model, part, None)
    points = points_of(model, seed + len(run), count=CANDIDATE_SIDE**2)
    goals = [("know", "win")[i % 2] if goal == "both" else goal for i in range(many)]
    near = neighbours(rules, run_settings(part, rules)[:NEAR_ROWS], rng)[: 0 if goal == "know" else None]
    near, points = (distinct(allowed(rules, some, kept, within), run) for some in (near, points))
    candidates = distinct(np.concatenate([near, points[: max(MOST_CANDIDATES, 2 * many)]]), run)
    check_enough(candidates, number, many, within)
    ranking, objectives = model.process(seed), objectives_of(data, part, seed)
    if ranking is None or objectives is None:
        notes.append(Note("answer", "too few different trials for a model: the proposals are drawn uniformly"))
        trials = [NextTrial(present(one), "know", "drawn evenly") for one in rules.values(candidates[:many])]
        return NextTrials(tuple(trials), tuple(rules.names), tuple(notes))
    why = doubt_about(data, model, seed)
    if why:
        notes.append(
            Note("answer", f"the model is not reliable yet ({why}), so every second proposal is unlike every trial")
        )
    success = success_of(data) if part.around is None else None
    chances = np.ones(len(candidates)) if success is None else success.chance(candidates)
    notes += failure_notes(data) if part.around is None else []
    even = slice(len(near), None)
    trust = skill_of(data, model, seed) if why else 1.0
    chosen = choose_next(ranking, objectives, run, candidates, goals, even=even, trust=trust, chances=chances)
    places = [place for place, *_ in chosen]
    results = objectives.results_of(candidates[places], seed)
    predicted, better = objectives.predict(results), objectives.chance_of_new(results, seed) * chances[places]
    if model.adaptive and len(objectives.names) == 1:
        better *= belief_in(results[..., 0], part.few)
    succeeds = [None] * many if success is None else chances[places].tolist()
    rows = zip(rules.values(candidates[places]), chosen, predicted, succeeds, better.tolist(), strict=True)
    trials = [
        NextTrial(present(one), way, reason or objectives.reason(wins), some, chance, wins)
        for one, (_, way, reason), some, chance, wins in rows
    ]
    return NextTrials(tuple(trials), tuple(rules.names), tuple(notes))


def check_enough(candidates: Settings, number: object, many: int, within: object) -> None:
    if within is not None and not len(candidates):
        raise QueryError(Arg("within", within), " contains no new configuration; allow more values")
    if len(candidates) < many:
        raise QueryError(
            Arg("number", number), f" is too large: only {len(candidates):,} configurations are left to run"
        )


def models_of(data: TrialData, model: RowModel) -> dict[str, RowModel]:
    """For each objective, the model of the same rows as `model`, which is the model of their order."""
    goals = data.observed().goals
    if len(goals) == 1:
        return {goals[0].name: model}

    def alone(goal: Objective) -> RowModel:
        signed = goal.sign * goal.values[model.few.rows].astype(np.float64)
        worst = np.isnan(signed) | np.isinf(model.few.signed)
        return RowModel(model.space, replace(model.few, signed=np.where(worst, np.inf, signed)))

    return {goal.name: RESULTS.get(model, ("goal", goal.name), partial(alone, goal)) for goal in goals}


def objectives_of(data: TrialData, part: RowModel, seed: int) -> Objectives | None:
    """The Gaussian processes of all objectives, and the results of the trials; None without such a process."""
    goals = data.observed().goals
    if len(goals) > MOST_OBJECTIVES:
        few = f"at most {MOST_OBJECTIVES} objectives, not {len(goals)}"
        raise QueryError(f"next trials need {few}; analyze fewer objectives, or use .alone({goals[0].name!r})")
    fitted = [model.process(seed) for model in models_of(data, part.around or part).values()]
    models = tuple(model for model in fitted if model is not None)
    if len(models) < len(goals):
        return None
    results = np.stack([model.few.signed for model in models_of(data, part).values()], axis=1)
    return Objectives(tuple(goal.name for goal in goals), np.array([goal.sign for goal in goals]), models, results)


def doubt_about(data: TrialData, model: RowModel, seed: int) -> str:
    """Why a model is not reliable; empty if the models of all objectives are."""
    if len(model.rows) < FEWEST_ROWS:
        return f"only {len(model.rows)} rows"
    models = models_of(data, model)
    doubts = {name: one.fitted(seed).objection for name, one in models.items()}
    named = [why if len(models) == 1 else f"{name}: {why}" for name, why in doubts.items() if why]
    return "; ".join(named)


def skill_of(data: TrialData, model: RowModel, seed: int) -> float:
    """How well the models predict held-out trials: the lowest rank correlation, or 0 if there is none above 0."""
    if len(model.rows) < FEWEST_ROWS:
        return 0.0
    return max(0.0, min(one.fitted(seed).skill.correlation for one in models_of(data, model).values()))


def present(values: Mapping[str, Label | None]) -> dict[str, Label]:
    return {name: value for name, value in values.items() if value is not None}


def needed_of(data: TrialData, width: object, question: Question) -> Needed:
    """How many more trials are needed for a reliable ranking, and whether to stop."""
    if isinstance(width, bool) or not isinstance(width, int | float) or not 0 < width <= 1:
        raise QueryError(Arg("width", width), " must be a number above 0 and at most 1, such as 0.1")
    question.check_not_paper("intervals")
    answer = importance_of(data, question)
    rows = [row for row in answer.rows if row.varied and row.high is not None]
    if len(rows) < 2:
        raise QueryError("fewer than two parameters varied, so there is no ranking")
    needs = []
    for row in rows:
        wide = (row.high or 0.0) - (row.low or 0.0)
        more = until_narrow(data.rows, wide, float(width))
        needs.append(NeededTrials(row.name, row.share, wide, more.more, more.low, more.high))
    return Needed(
        rows=tuple(needs),
        apart=until_apart(data.rows, rows[0], rows[1]),
        pair=(rows[0].name, rows[1].name),
        width=float(width),
        trials=data.rows,
        stop=stop_of(data, rows, question.seed),
        notes=(*answer.notes, *([Note("answer", SEVERAL)] if data.levels.several else [])),
    )


def stop_of(data: TrialData, rows: Sequence[Importance], seed: int) -> StopAdvice:
    model = None if data.levels.several else data.row_model
    if not isinstance(model, RowModel) or model.around is not None or len(model.rows) < FEWEST_ROWS:
        return advise(rows, None, 0.0)
    known, better = model.objective(seed), further_gain(model.few, adaptive=model.adaptive)
    if known is not None:
        most, expected, distance = predicted_gains(model, known, success_of(data), seed)
        least = -math.inf if model.adaptive else expected  # random trials do not try what the model proposes
        return advise(rows, max(min(better, most), least), distance)
    finite = model.few.signed[np.isfinite(model.few.signed)]
    distance = float(np.median(finite) - finite.min()) if len(finite) else 0.0
    return advise(rows, better if np.isfinite(better) else None, distance)


def further_gain(few: FewRows, *, adaptive: bool) -> float:
    """How much further trials like the last ones may improve the best value (a 95 % limit); infinite for few trials.

    The differences between the best values and the next one are taken for the tail of an exponential distribution. An
    adaptive sampler changes this distribution, so only its last trials count. In unknown order, the best values are
    taken for those of so many trials.
    """
    last, among = few.signed, len(few)
    if adaptive:
        among = min(among, LATELY)
        last = last if few.order is None else last[np.argsort(few.order)[-LATELY:]]
    finite = np.sort(last[np.isfinite(last)])
    if len(finite) <= TAIL:
        return math.inf
    end = float(finite[TAIL])
    scale = end - float(finite[:TAIL].mean())
    return max(0.0, scale * math.log(FURTHER * TAIL / (EXCEEDED * among)) - (end - float(few.signed.min())))


def belief_in(results: Reals, few: FewRows) -> Reals:
    """(configurations,) How far the gains of the drawn `results` (draws, configurations) are believed, 0 to 1.

    After an adaptive search, a model may promise much where nothing was tried, although the best values lie close
    together. Gains of more than `BELIEVED` times the limit of further trials are believed in proportion. A value that
    was repeated counts once, because repeats say nothing about new configurations.
    """
    gains = few.signed.min() - np.median(results, axis=0)
    different = few.take(np.unique(few.signed, return_index=True)[1])
    most = BELIEVED * further_gain(different, adaptive=True)
    return np.asarray(np.where(gains > most, most / np.maximum(gains, 1e-300), 1.0))


def stop_sentence(data: TrialData, answer: Importances, seed: int = 0) -> str:
    """Return a sentence if further trials would hardly change the answer, and an empty string otherwise."""
    if not first_stays(answer.rows):
        return ""
    advice = stop_of(data, with_intervals(answer.rows), seed)
    return str(advice) if advice.settled else ""


def predicted_gains(
    model: RowModel, known: KnownObjective, success: Success | None, seed: int
) -> tuple[float, float, float]:
    """How much further trials may improve the best value, what the best of them is expected to gain, and a distance.

    The distance is that between the best and a typical value, which is the median of the predicted objective.

    The trials are those with the best predictions among those that probably succeed, `SIMULATED` near the best trials,
    and as many anywhere. A trial that fails improves nothing. The limit is the 95 % quantile over posterior samples.
    """
    rules, rng = Rules(model.space, model.few.cells), np.random.default_rng([seed, 0x570])
    run, points = run_settings(model, rules), points_of(model, seed)
    near = neighbours(rules, np.repeat(run[:NEAR_ROWS], 4, axis=0), rng)
    every = np.concatenate([near, points])
    middle, chances = known.middle(every), np.ones(len(every)) if success is None else success.chance(every)
    likely = every[np.argsort(np.where(chances < EVEN_CHANCE, np.inf, middle), kind="stable")[:FURTHER]]
    later = np.concatenate([likely, *(part[rng.permutation(len(part))[:SIMULATED]] for part in (near, points))])
    best = float(model.few.signed.min())
    results = known.observe(later, DRAWS, rng)
    if success is not None:
        results[rng.random(results.shape) >= success.chance(later)] = np.inf
    most = float(np.quantile(best - results.min(axis=1), 1.0 - EXCEEDED))
    usual, likeliest = float(np.median(known.middle(points))), float(known.middle(likely[:1])[0])
    return max(0.0, most), best - likeliest, max(0.0, usual - best)
