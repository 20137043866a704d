"""Find the smallest box that keeps most of the best points, and derive a verdict on every parameter from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note
from pedanova.base.threads import one_thread
from pedanova.counting.contrasts import rows_in
from pedanova.counting.few_rows import counted_rows, lower_is_better
from pedanova.data.column import cells_of, take
from pedanova.data.observations import Observations
from pedanova.data.regions import Region, RowSet
from pedanova.data.trials import sampled
from pedanova.errors import Arg, QueryError
from pedanova.measures.advice.advise import best_of, in_space_order
from pedanova.measures.chance.ranked_rows import arranged, codes_of
from pedanova.measures.densities import span_in_words
from pedanova.measures.distributions import NORMAL
from pedanova.measures.importance import NEVER
from pedanova.measures.question import LEAST_TO_REDUCE, Question
from pedanova.measures.questions.failures import Success, success_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.estimate import ResolvedQuestion, objection_to
from pedanova.measures.surrogate.objective_model import ObjectiveModel, Settings
from pedanova.measures.surrogate.posterior import PosteriorSamples, even_points
from pedanova.reduction.box import Axis, Box, Cloud, at_least, axis_of, smallest_box
from pedanova.reduction.domains import beyond, shrunk, widened
from pedanova.reduction.result import Advice, Evidence, Proportion, ReducedSpace, Verdict
from pedanova.space.grid import Cells, Grid, Reals, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, Space, Switch, parents_of, values_of
from pedanova.space.values import Interval, is_number, is_one_of

LEAST_ROWS, LEAST_TARGET = LEAST_TO_REDUCE
DRAWS = 64  # posterior samples of the objective
KEEP = 0.9  # the part of the best points that stays
BEST = 10  # the best points are the best tenth of the target
LEAST_POINTS, LEAST_BEST = 20, 50  # the fewest best points of a sample, and the fewest best rows if there is no model
MOST_ROWS, VOLUME_POINTS = 10_000, 4093  # rows that the best rows are compared with, and points that measure a volume
ROW_BY_ROW = "the bounds differ from row to row, so they are not changed"
PILED = 1.5  # density of the best points in the outermost tenth from which a wider range is worth trying
SURELY = 0.5  # the same density at least, in 95 % of the samples: it differs little for a parameter without an effect

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The points in which a box is searched, and how its statements are phrased."""

    space: Space
    cloud: Cloud
    rows: Mapping[str, Cells]  # (rows,) cells of a sample of the rows
    best: str  # the best points in words
    estimator: str

    @property
    def axes(self) -> Mapping[str, Axis]:
        return self.cloud.axes


def reduce_space(data: TrialData, question: Question, keep: float = KEEP, *, widen: bool = False) -> ReducedSpace:
    """Compute the result of `Analysis.reduce`."""
    if not is_number(keep) or not 0 < keep <= 1:
        raise QueryError(Arg("keep", keep), " must be above 0 and at most 1, such as 0.9")
    question.check_not_paper("verdicts on a smaller space")
    wanted = data.resolve(question.target, "target")
    query = data.resolved(replace(question, target=wanted, region=1.0))
    observed, space = data.observed(), data.observed().space
    counted = counted_rows(observed, data.levels.nan)
    reached = np.flatnonzero(rows_in(wanted, observed, counted))
    samples, remarks = samples_for(query)
    notes, why = (*query.notes, *remarks), too_few(data.rows, len(reached), modelled=samples is not None)
    copies = {} if samples is None else samples.copies  # they follow their originals
    axes = {
        name: axis_of(grid_of(parameter))
        for name, parameter in space.items()
        if isinstance(parameter, Float | Int | Ordinal | Categorical) and name not in copies
    }
    if why or not axes:
        advice: Advice = "undecided" if why else "keep"
        same = tuple(unchanged(name, advice, why or ROW_BY_ROW, one) for name, one in space.items())
        return ReducedSpace(same, None, query.words[0], float(keep), notes)
    with one_thread():
        search = search_for(query, samples, axes, wanted, reached)
        box = smallest_box(search.cloud, keep)
        evidence = evidence_of(search, box, observed, reached, len(np.flatnonzero(counted))) if box.left else None
        verdicts = consistent([verdict_on(search, box, name, copies, widen=widen) for name in space])
    return ReducedSpace(verdicts, evidence, search.best, float(keep), notes)


def too_few(rows: int, reached: int, *, modelled: bool) -> str:
    """Why there are too few rows to decide; empty if there are enough."""
    if rows < LEAST_ROWS:
        return f"{rows:,} rows are too few to decide: at least {LEAST_ROWS} are needed"
    if modelled or reached >= LEAST_TARGET:
        return ""
    few = f"{reached} rows in the target are too few to decide: at least {LEAST_TARGET} are needed"
    return f"{few}; choose a wider target, or run more trials"


def search_for(
    query: ResolvedQuestion,
    samples: PosteriorSamples | None,
    axes: Mapping[str, Axis],
    wanted: Region | RowSet,
    reached: Rows,
) -> Search:
    """The best points: of the model's samples, if there is a model, or else the best rows."""
    data, seed = query.data, query.question.seed
    observed, failing = data.observed(), data.failing(same_space=True)
    space, tried = observed.space, observed if failing is None else failing.observed()  # also the trials that failed
    some = sampled(np.flatnonzero(counted_rows(tried, data.levels.nan)), MOST_ROWS, seed)
    rows = cells_at(tried, space, some)
    process = None if samples is None or query.model is None else query.model.process(seed)
    if samples is None:
        fails = np.zeros(len(some)) if failing is None else failing.observed().goals[0].values[some]
        search = search_in_rows(observed, axes, rows, fails, wanted, reached)
    else:
        if process is None:
            every, orders = placed(axes, {name: samples.cells(name) for name in space}), samples.order.astype(np.int64)
            fails = np.zeros(len(every))
        else:
            cells = points_in(space, rows, count=len(samples))
            orders, fails = ordered_points(process, success_of(data), in_space_order(space, cells))
            every = placed(axes, cells)
        search = search_in_samples(samples, orders, every, fails, axes, rows, wanted, data.direction)
    if data.levels.several or not isinstance(wanted, Region) or wanted.cuts(observed.direction)[0] is not None:
        return search
    return replace(search, cloud=replace(search.cloud, held=held_inside(data, observed, axes, seed)))


def held_inside(data: TrialData, observed: Observations, axes: Mapping[str, Axis], seed: int) -> NDArray[np.int16]:
    """(configurations, parameters) The slices of the best trial, and of the configuration that `gains` proposes."""
    rows = np.flatnonzero(counted_rows(observed, data.levels.nan))
    best = placed(axes, cells_at(observed, axes, rows[[int(np.argmin(lower_is_better(observed, rows)))]]))
    try:
        proposed = best_of(data, seed)
    except QueryError:  # no model predicts the objective
        return best
    return np.concatenate([best, placed(axes, dict(zip(observed.space, proposed.T, strict=True)))])


def samples_for(query: ResolvedQuestion) -> tuple[PosteriorSamples | None, list[Note]]:
    """The posterior samples of the model, and notes; None if the best rows are counted instead."""
    usable = not query.question.by_rows and not objection_to(query)[0]
    fitted = query.model.fitted(query.question.seed) if usable and query.model is not None else None
    if fitted is None or fitted.samples is None:
        return None, query.choice[1]  # raises an error if the model was requested
    return fitted.samples, [Note("answer", fitted.objection)] if fitted.objection else []


def cells_at(observed: Observations, names: Sequence[str] | Mapping[str, Any], rows: Rows) -> dict[str, Cells]:
    """By parameter, the cells (rows,) of some rows."""
    columns = take({name: observed.columns[name] for name in names}, rows)
    return {name: cells_of(column, grid_of(observed.space[name])) for name, column in columns.items()}


def placed(axes: Mapping[str, Axis], cells: Mapping[str, Cells]) -> NDArray[np.int16]:
    """(points, parameters) The slice of every point, from its cells."""
    return np.stack([axis.slice_of[cells[name]] for name, axis in axes.items()], axis=1)


def ordered_points(process: ObjectiveModel, success: Success | None, points: Settings) -> tuple[Rows, Reals]:
    """(draws, points) The points from best to worst in posterior samples, and the chance (points,) that each fails.

    Points that fail in a sample are the worst. The points are spread over the whole space, also where no trial
    succeeded.
    """
    drawn, fails = process.draw(points, DRAWS, np.random.default_rng(0xFA2)), np.zeros(len(points))
    if success is not None:
        drawn[success.drawn_fails(points, len(drawn))] = np.inf
        fails = 1.0 - success.chance(points)
    return np.argsort(drawn, axis=1, kind="stable"), fails


def search_in_samples(
    samples: PosteriorSamples,
    orders: Rows,
    every: NDArray[np.int16],
    fails: Reals,
    axes: Mapping[str, Axis],
    rows: Mapping[str, Cells],
    target: Region | RowSet,
    way: Any,
) -> Search:
    """The best points of every posterior sample; a quantile refers to the space.

    `orders` (draws, points) has the points from best to worst, `every` (points, parameters) their slices.
    """
    first, last = 0, len(samples)
    if isinstance(target, Region):
        first, last = samples.ends(samples.ranks.range_of(target, way))
        if target.kind == "quantile":
            first, last = (round(float(part or 0) * len(samples)) for part in (target.low, target.high or 1))
    if first == 0:
        last = max(LEAST_POINTS, math.ceil(last / BEST))
    chosen, places = np.unique(orders[:, first:last], return_inverse=True)
    weights = np.zeros((len(chosen), len(orders)))
    weights[places.reshape(len(orders), -1), np.arange(len(orders))[:, None]] = 1.0 / (last - first)
    words = f"the best {short(100 * last / len(samples), 2)} % of the space" if first == 0 else f"{target} of the space"
    parents = {parent for parameter in samples.space.values() for parent in parents_of(parameter)} & set(axes)
    # Where a parameter exists only for some values of another, few rows say little about all of its own values.
    unseen = {name: 1.0 / (1.0 + rows_by_slice(axes[name], rows[name])) for name in parents}
    cloud = Cloud(axes, every, fails, every[chosen], weights, at_least(axes, unseen))
    return Search(samples.space, cloud, rows, words, "surrogate")


def rows_by_slice(axis: Axis, cells: Cells) -> Reals:
    """(slices,) How many rows lie in each slice of a parameter."""
    return np.bincount(axis.slice_of[cells] + 1, minlength=len(axis.prior) + 1)[1:].astype(np.float64)


def search_in_rows(
    observed: Observations,
    axes: Mapping[str, Axis],
    rows: Mapping[str, Cells],
    fails: Reals,
    target: Region | RowSet,
    reached: Rows,
) -> Search:
    """The best rows of the target, compared with all rows; a new row may lie in each part that is cut off."""
    best, words = reached, str(target)
    if isinstance(target, Region) and target.cuts(observed.direction)[0] is None:
        signed = lower_is_better(observed, reached)
        least = max(math.ceil(len(reached) / BEST), min(LEAST_BEST, len(reached)))
        best = reached[signed <= np.partition(signed, least - 1)[least - 1]]
        words = f"the best {len(best):,} rows"
    deciding = placed(axes, cells_at(observed, axes, best))
    weights: Reals = np.full((len(best), 1), 1.0 / len(best))
    cloud = Cloud(axes, placed(axes, rows), fails, deciding, weights, at_least(axes, 1.0 / (len(best) + 1)))
    return Search(observed.space, cloud, rows, words, "counts")


def evidence_of(search: Search, box: Box, observed: Observations, reached: Rows, rows: int) -> Evidence:
    cloud, axes = search.cloud, search.axes
    if search.estimator == "surrogate":
        by_sample = np.sort(box.holds(axes, cloud.best) @ cloud.weights)
        low, high = (float(end) for end in np.quantile(by_sample, [0.025, 0.975]))
        kept = Proportion(box.kept, min(low, box.kept), max(high, box.kept), len(by_sample))
    else:
        kept = proportion_of(box.kept, len(cloud.best))
    cut = {name: axes[name] for name in box.left}
    points = points_in(search.space, search.rows, count=VOLUME_POINTS)
    inside = float(box.holds(cut, placed(cut, cells_at(observed, cut, reached))).mean())
    volume = float(box.holds(cut, placed(cut, points)).mean())
    enrichment = box.kept / max(float(box.holds(axes, cloud.every).mean()), 1e-12)
    part, name, slices = box.failing(cloud)
    where = f"{name} {values_in_words(grid_of(search.space[name]), axes[name], slices)}" if slices else ""
    return Evidence(kept, inside, volume, enrichment, rows, search.estimator, search.best, part, where)


def values_in_words(grid: Grid, axis: Axis, slices: Sequence[int]) -> str:
    """The values of some slices: all categories, or the range from the lowest to the highest value."""
    if not axis.ordered:
        return " or ".join(short(grid.centres()[one]) for one in slices)
    return span_in_words(grid, *axis.cells(tuple(slices)))


def points_in(space: Space, rows: Mapping[str, Cells], *, count: int) -> dict[str, Cells]:
    """By parameter, the cells of points spread evenly over the space; `rows` say where conditional ones have values."""
    arrangement = arranged(space, rows, *codes_of(np.zeros(len(next(iter(rows.values()))))))
    return arrangement.cells(even_points(arrangement, arrangement.places(rows), count=count))


def proportion_of(part: float, total: int) -> Proportion:
    """A proportion with its 95 % Wilson interval."""
    z = NORMAL
    centre = (part + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    return Proportion(part, max(0.0, centre - half), min(1.0, centre + half), total)


# --- verdicts ------------------------------------------------------------------------------------------


def verdict_on(search: Search, box: Box, name: str, copies: Mapping[str, str], *, widen: bool) -> Verdict:
    """The verdict on one parameter, with a reason that says where the best points lie."""
    parameter = search.space[name]
    if not isinstance(parameter, Float | Int | Ordinal | Categorical):
        return unchanged(name, "keep", ROW_BY_ROW, parameter)
    cells = search.rows[name]
    if np.all(cells == cells[:1]):
        return unchanged(name, "undecided", f"{NEVER}, so its effect is not known; not changed", parameter)
    if name in copies:
        words = f"carries the same information as {copies[name]}: see {copies[name]}"
        return unchanged(name, "keep", words, parameter)
    if name not in box.left and (some := search.cloud.having(name)) < 1.0 - KEEP:
        return unchanged(
            name, "keep", f"only {percent(some)} of {search.best} have this parameter; not changed", parameter
        )
    axis, density = search.axes[name], search.cloud.density(name)
    kept = box.left.get(name, tuple(range(len(axis.prior))))
    cut = unchanged(name, "keep", f"{search.best} lie at all of its values", parameter)
    if name in box.left and (after := shrunk(parameter, axis, grid_of(parameter), kept)) != parameter:
        part = float(axis.prior[list(kept)].sum())
        mass = float((density * axis.prior)[list(kept)].sum() / max(float((density * axis.prior).sum()), 1e-300))
        where = "have these values" if isinstance(parameter, Categorical) else f"lie in {percent(part)} of its range"
        where = "have this value" if len(values_of(after)) == 1 else where
        cut = Verdict(name, "narrow", f"{percent(mass)} of {search.best} {where}", parameter, after, part)
    if not isinstance(parameter, Float | Int):
        return cut
    tenth = max(1, len(density) // 10)
    tenths = np.array([part.mean() for part in np.array_split(density, max(1, len(density) // tenth))])
    surely = search.cloud.least_at_ends(name)
    ends = [tenths[end] >= PILED and tenths[end] == tenths.max() and surely[end] >= SURELY for end in (0, -1)]
    sides = ends[0] and kept[0] == 0, ends[1] and kept[-1] == len(axis.prior) - 1
    piled = beyond(parameter, density, sides)
    return cut if piled == (None, None) else wider(cut, parameter, piled, widen=widen)


def wider(cut: Verdict, parameter: Float | Int, piled: tuple[float | None, float | None], *, widen: bool) -> Verdict:
    """The verdict ``widen``: the best points are most frequent at a bound."""
    sides = [
        f"{short(new)} as {word} bound instead of {short(bound)}"
        for word, bound, new in zip(("lower", "upper"), (parameter.low, parameter.high), piled, strict=True)
        if new is not None
    ]
    how = "" if widen else " (not applied; widen=True or --widen applies it)"
    words = f"good values are most frequent at a bound; try {' and '.join(sides)} if such values are valid{how}"
    words += f"; {cut.reason}" if cut.advice == "narrow" else ""
    after = cut.after
    if widen:
        after = widened(after if isinstance(after, Float | Int) else parameter, piled)
    return replace(cut, advice="widen", reason=words, after=after, beyond=piled)


def unchanged(name: str, advice: Advice, reason: str, parameter: Parameter) -> Verdict:
    return Verdict(name, advice, reason, parameter, parameter)


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
