"""Which estimator answers: the counts alone, or a model of the objective held to account by them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.threads import one_thread
from pedanova.counting.contrasts import Contrast
from pedanova.data.observations import Observations
from pedanova.data.regions import Quantile, Region
from pedanova.errors import Arg, QueryError, TooFewRowsError
from pedanova.measures.importance import Baseline, Importance, as_whole, measure
from pedanova.measures.inference import DRAWS, Sureness, infer, with_sureness
from pedanova.measures.significance import LEAST_TARGET
from pedanova.measures.surrogate import gaussian
from pedanova.measures.surrogate.blend import Belief, Question, assist, believe, believe_near
from pedanova.measures.surrogate.model import Surrogate, fit_surrogate
from pedanova.measures.surrogate.residuals import residual_p_values
from pedanova.measures.surrogate.sampling import cells_by_name
from pedanova.space.grid import grid_of

Estimator: TypeAlias = Literal["auto", "counts", "surrogate"]
FEWEST_ROWS, MOST_ROWS = 40, 5000  # a model is thought of in between
NEAR_ROWS = 40  # rows of a region that suffice for a model of their own
WIDER = 3  # times the rows of a region are learned by a model of it and its surroundings
PREDICTS = 0.3  # rank correlation, each row predicted from the others, below which a model is refused


@dataclass(frozen=True, slots=True)
class Options:
    """How the numbers are to be found."""

    baseline: str
    smoothing: Any
    estimator: str
    draws: int
    seed: int
    force: bool


def as_options(
    baseline: object, smoothing: object, estimator: object, draws: object, seed: object, *, force: bool
) -> Options:
    """The options, checked."""
    if not isinstance(baseline, str) or baseline not in get_args(Baseline):
        raise QueryError(Arg("baseline", baseline), " must be 'region' or 'uniform'")
    if not isinstance(estimator, str) or estimator not in get_args(Estimator):
        raise QueryError(Arg("estimator", estimator), " must be 'auto', 'counts' or 'surrogate'")
    return Options(baseline, smoothing, estimator, as_whole(draws, "draws"), as_whole(seed, "seed"), bool(force))


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question with all that can answer it."""

    contrasts: Sequence[Contrast]
    target: Region | None  # None for rows picked one by one
    region: Region | None
    observed: Observations | None
    count: int  # rows that count
    rows: NDArray[np.int64]  # of the observations, those that count; empty where they are too many
    models: dict[object, Any]  # fitted before, by what they were fitted to
    own: bool = True  # quantiles are those of these rows

    @property
    def by_quantile(self) -> bool:
        """Whether some end of target or region is a quantile."""
        regions = [region for region in (self.target, self.region) if region is not None]
        return any(isinstance(cut, Quantile) for region in regions for cut in region.cuts("minimize"))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Rows in the order of the contrasts, ratios still open."""

    rows: list[Importance]
    estimator: str
    notes: list[Note]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why no model can be used, in words; `curable` where only the rows or a library are missing."""

    words: str
    curable: bool = False


def estimate(query: Query, options: Options) -> Estimate:
    """Counts, unless a model is asked for or would do better."""
    with undisturbed(query, options):
        return _estimate(query, options)


@contextmanager
def undisturbed(query: Query, options: Options) -> Iterator[None]:
    """Linear algebra on one thread, that of SciPy too."""
    if options.estimator != "counts" and len(query.rows) >= FEWEST_ROWS and gaussian.available():
        gaussian.warm_up()  # SciPy brings threads of its own: they must be there to be held back
    with one_thread():
        yield


def _estimate(query: Query, options: Options) -> Estimate:
    how = {"baseline": options.baseline, "smoothing": options.smoothing}
    counted = [measure(contrast, **how) for contrast in query.contrasts]
    check_enough(counted[0].n_target, counted[0].n_region, options)
    model, notes = choose(query, options)
    if model is None:
        return by_counts(query, options, counted, notes)
    return by_model(query, options, counted, model)


def model_of(query: Query, options: Options) -> Surrogate | None:
    """The model that would answer, None where counts would."""
    with undisturbed(query, options):
        return choose(query, options)[0]


def choose(query: Query, options: Options) -> tuple[Surrogate | None, list[Note]]:
    """The model that answers; or none, and why not where that is worth a word."""
    objection = objection_to(query, options)
    if options.estimator == "surrogate" and objection is not None:
        raise QueryError(
            Arg("estimator", "surrogate"), f" cannot be used: {objection.words}; use ", Arg("estimator", "counts")
        )
    if options.estimator == "counts" or objection is not None:
        return None, advice(query, options, objection)
    model = fitted(query, options, query.rows)
    if model.correlation >= PREDICTS:
        return model, []
    why = f"a model predicts the order of the rows badly (rank correlation {model.correlation:.2f})"
    if options.estimator == "surrogate":
        raise QueryError(Arg("estimator", "surrogate"), f": {why}; use ", Arg("estimator", "counts"))
    return None, [Note("answer", f"{why}; plain counts are used")]


def check_enough(inside: int, region: int, options: Options) -> None:
    """A handful of rows says nothing, and a model learns little of what sets them apart."""
    if inside < LEAST_TARGET and not options.force:
        wide = next((part for part in (0.1, 0.2, 0.3, 0.5) if part * region >= LEAST_TARGET), None)
        such = () if wide is None else (" such as ", Arg("target", wide))
        raise TooFewRowsError(
            f"the target has {inside} of {region:,} rows, and at least {LEAST_TARGET} are ",
            "needed to say anything; choose a wider target",
            *such,
            ", or pass ",
            Arg("force", True),
        )


def objection_to(query: Query, options: Options) -> Objection | None:
    """Why no model can be used, before one is fitted."""
    rows, picked = query.count, "rows picked by a mask, a box or a condition"
    if query.observed is None:
        return Objection("the rows are no longer at hand", curable=True)
    if query.target is None or query.region is None or query.observed.restricted:
        return Objection(f"{picked} are not a part of the space that can be sampled")
    if not query.own and query.by_quantile:
        return Objection("the quantiles are those of other rows")
    if options.smoothing != "auto":
        return Objection(f"smoothing={options.smoothing!r} applies to counts only")
    if not FEWEST_ROWS <= rows <= MOST_ROWS:
        return Objection(f"{rows:,} rows are not between {FEWEST_ROWS} and {MOST_ROWS:,}")
    if is_complete(query.observed, query.rows):
        return Objection("the table holds every configuration, so counts are exact")
    needed = Objection("it needs SciPy (pip install 'pedanova[surrogate]')", curable=True)
    return None if gaussian.available() else needed


def is_complete(observed: Observations, rows: NDArray[np.int64]) -> bool:
    """Whether the rows hold every configuration, each as often as any other."""
    grids = [grid_of(parameter) for parameter in observed.space.values()]
    if any(grid.labels is None or len(grid.blocks) > 1 for grid in grids):
        return False
    configurations = math.prod(grid.cells for grid in grids)
    if len(rows) % configurations:
        return False
    cells = np.stack([column[rows] for column in cells_by_name(observed).values()], axis=1)
    _, counts = np.unique(cells, axis=0, return_counts=True)
    return len(counts) == configurations and bool(np.all(counts == counts[0]))


def advice(query: Query, options: Options, objection: Objection | None) -> list[Note]:
    """A word on a model that would help, where only a library or the rows are missing."""
    helps = options.estimator == "auto" and FEWEST_ROWS <= query.count <= MOST_ROWS
    if not helps or objection is None or not objection.curable:
        return []
    words = f"with {query.count:,} rows a model would be more accurate than counts, but {objection.words}"
    return [Note("answer", words)]


def by_counts(query: Query, options: Options, counted: list[Importance], notes: list[Note]) -> Estimate:
    if options.draws == 0:
        return Estimate(counted, "counts", notes)
    sure = sureness(query, options, counted, options.draws)
    return Estimate(with_sureness(counted, sure), "counts", notes)


def sureness(query: Query, options: Options, counted: Sequence[Importance], draws: int) -> list[Sureness]:
    how = {"baseline": options.baseline, "smoothing": options.smoothing, "seed": options.seed}
    return infer(query.contrasts, counted, draws=draws, **how)


def by_model(query: Query, options: Options, counted: list[Importance], model: Surrogate) -> Estimate:
    beliefs, question = beliefs_of(query, options, model)
    # What never varied keeps the row that says so. What did, in other rows than the region's, a model can tell.
    known = [i for i, contrast in enumerate(query.contrasts) if model.varies(contrast.name)]
    part = replace(query, contrasts=[query.contrasts[i] for i in known])
    rows = [replace(counted[i], varied=True) for i in known]
    sure = held_against(part, options, rows)
    rows, weight = assist(beliefs, question, part.contrasts, rows, sure)
    if options.draws:
        names = [row.name for row in rows]
        p_values = residual_p_values(model, beliefs[0].rows, names, draws=options.draws, seed=options.seed)
        finals = [
            Sureness(row.low or 0.0, row.high or 0.0, p, s.deviation)
            for row, s, p in zip(rows, sure, p_values, strict=True)
        ]
        rows = with_sureness(rows, finals)
    else:
        rows = [replace(row, low=None, high=None) for row in rows]
    by_name = {row.name: row for row in rows}
    every = [by_name.get(row.name, row) for row in counted]
    return Estimate(every, "surrogate", [model_note(model, counted[0].n_target, weight)])


def held_against(query: Query, options: Options, counted: Sequence[Importance]) -> list[Sureness]:
    """How sure the counts are. A model's shares are moved by that, so it depends on no number that is asked for."""
    check = sureness(query, options, counted, DRAWS)
    if options.draws in (0, DRAWS):
        return check
    sure = sureness(query, options, counted, options.draws)
    return [replace(one, deviation=other.deviation) for one, other in zip(sure, check, strict=True)]


def fitted(query: Query, options: Options, rows: NDArray[np.int64], *, beside: Surrogate | None = None) -> Surrogate:
    """A model of some rows; `beside` another one it is asked at the same points."""
    key = (rows.tobytes(), options.seed)
    if key not in query.models:
        points = None if beside is None else beside.points
        query.models[key] = fit_surrogate(query.observed, rows, seed=options.seed, points=points)  # type: ignore[arg-type]
    model: Surrogate = query.models[key]
    return model


def beliefs_of(query: Query, options: Options, model: Surrogate) -> tuple[list[Belief], Question]:
    """What the model of all rows says, and beside it those of the rows in and around the region."""
    if query.target is None or query.region is None or query.observed is None:
        raise QueryError("a model answers questions about regions of the objective only")
    direction = query.observed.direction
    question = Question(query.target, query.region, direction, options.baseline, options.smoothing)
    far = believe(model, question)
    # The part of a region of values that a quantile of all rows makes up is another in every draw.
    translatable = query.target.kind == "value" or query.region.kind == "quantile"
    beliefs = [far]
    for rows, rows_of in surroundings(far, question) if translatable else ():
        near = fitted(query, options, query.rows[rows], beside=model)
        beliefs.append(believe_near(near, rows_of, far, question))
    return beliefs, question


def surroundings(far: Belief, question: Question) -> list[tuple[NDArray[np.int64], Region]]:
    """Rows of the model of all rows, and the region they make up: around the region asked about, and in it.

    A model of all rows spends itself on what sets bad rows apart. One of the region alone has never
    seen what is just outside, where the model of all rows may wrongly see the region.
    """
    every = len(far.model.rows)
    areas = []
    wide = WIDER * len(far.rows)
    if question.region.cuts(question.direction)[0] is None and 2 * wide <= every:
        ordered = np.sort(far.model.signed)
        rows = np.flatnonzero(far.model.signed <= ordered[wide - 1])
        areas.append((rows, Region("quantile", Fraction(0), Fraction(len(rows), every))))
    areas.append((far.rows, question.region))
    return [(rows, rows_of) for rows, rows_of in areas if NEAR_ROWS <= len(rows) < every]


def model_note(model: Surrogate, inside: int, weight: float) -> Note:
    moved = f", moved {weight:.0%} of the way to the counts" if weight >= 0.005 else ""
    words = f"the target has {inside:,} row{'s' * (inside > 1)}, so {model_in_words(model)}{moved}; "
    return Note("answer", words, Arg("estimator", "counts"), " shows the counts alone")


def model_in_words(model: Surrogate) -> str:
    correlation = f"rank correlation {model.correlation:.2f}, each row predicted from the others"
    return f"a model of all rows was used ({correlation})"
