"""Where the target lies in the space, and which bounds the rows would choose.

A model of the rows tells for points all over the space how likely each belongs to the target's best
tenth; where rows are many, or an adaptive sampler chose them, they tell it themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.contrasts import rows_in
from pedanova.data.observations import Observations
from pedanova.data.regions import Region, sign_of
from pedanova.data.rowsets import RowSet
from pedanova.measures.importance import Importances
from pedanova.measures.inference import DRAWS
from pedanova.measures.significance import LEAST_TARGET, LEVEL, holm
from pedanova.measures.surrogate.blend import UNEVEN, unevenness
from pedanova.measures.surrogate.estimate import Asked, as_options, fitted
from pedanova.measures.surrogate.gaussian import Reals
from pedanova.measures.surrogate.model import Surrogate, refit_surrogate
from pedanova.measures.surrogate.residuals import residual_p_values
from pedanova.measures.surrogate.sampling import cells_by_name, varies
from pedanova.reduction.adaptive import (
    LEAST_OF_WHOLE,
    SLICES,
    WHOLE,
    cloud_of,
    configurations,
    leading,
    trimmed,
)
from pedanova.reduction.boxes import MOST_GROUPS, Box, Cloud, Groups, axis_of, choose, way_down
from pedanova.reduction.result import Evidence, Part
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Space

FINEST = 10  # the target's best tenth decides, in the eyes of a model
SHOWN = 5  # and of its best fifth the rows tell how much was kept: a tenth has too few of them
ENOUGH_BEST = 50  # rows in that fifth from which on rows alone can tell where it lies
ROWS_A_GROUP, FEWEST_GROUPS = 4, 5  # of an ordered parameter's values, where rows alone tell
MOST_POINTS = 50_000  # rows that cuts are looked for in
FOLD_DRAWS = 500
FOLD_KINDS, FOLD_POINTS = 4, 1000  # of the models of a part of the rows
OPINIONS = 8  # random halves of the rows, where no model has opinions of its own
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Where the target lies, and how far the model's function hangs on each parameter."""

    cloud: Cloud  # the mass is that of the best of the target
    plain: Reals  # (points,) that of the whole target
    influence: Mapping[str, float]  # an upper end; empty without a model
    estimator: str
    tried: Mapping[str, Groups] | None = None  # every row's groups, where an adaptive sampler chose the rows
    wider: Cloud | None = None  # and the whole target among them
    model_tells: bool = False  # whether a model tells which parameters are noise

    @property
    def even(self) -> bool:
        return self.tried is None

    def bounds(self, names: Sequence[str], keep: float) -> Box:
        """The box to which these parameters are cut, which can be told from noise.

        Where an adaptive sampler has settled, too few trials are left to tell the others from noise by.
        These are cut to where the whole target lies: what is noise loses nothing by it. If nothing can
        be told from noise, nothing is cut.
        """
        if self.tried is None or self.wider is None:
            return choose(way_down(self.cloud, names), keep)
        others = [name for name in self.cloud.axes if name not in names] if names else []
        box = trimmed(self.cloud, names, keep, self.tried)
        return Box({**box.left, **trimmed(self.wider, others, keep, self.tried).left}, box.kept)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The rows and the target, as every search for bounds needs them."""

    observed: Observations
    asked: Asked
    target: Region | RowSet
    seed: int
    counted: NDArray[np.bool_]
    located: dict[str, Cells] = field(default_factory=dict)

    def cells(self) -> dict[str, Cells]:
        """The cell of every row and parameter, looked up once."""
        if not self.located:
            self.located.update(cells_by_name(self.observed))
        return self.located

    def scene(self, found: Importances) -> Scene:
        rows = np.flatnonzero(self.counted)
        if isinstance(self.target, Region) and not self.is_even(rows):
            return replace(self.by_trials(rows), model_tells=found.estimator == "surrogate")
        if isinstance(self.target, Region) and found.estimator == "surrogate":
            return by_model(self.observed, self.model(), self.target)
        return self.by_rows(rows)

    def model(self) -> Surrogate:
        """Of all rows, as it was fitted for the importances."""
        options = as_options("region", "auto", "auto", DRAWS, self.seed, force=False)
        return fitted(self.asked, options, self.asked.rows)

    def p_values_inside(self, target: Region, region: Region) -> dict[str, float] | None:
        """Whether each parameter tells anything inside a region; None where too few rows reach the target there."""
        model, direction = self.model(), self.observed.direction
        if int(model.holds(target, direction).sum()) < LEAST_TARGET:
            return None
        rows, names = np.flatnonzero(model.holds(region, direction)), list(self.observed.space)
        return dict(
            zip(names, residual_p_values(model, rows, names, draws=DRAWS, seed=self.seed), strict=True)
        )

    def is_even(self, rows: Rows) -> bool:
        """Whether the rows look like a uniform draw from the space, as far as they vary at all."""
        cells = {name: column[rows] for name, column in self.cells().items()}
        return all(
            unevenness(cells[name], grid_of(parameter)) <= UNEVEN
            for name, parameter in self.observed.space.items()
            if varies(cells[name])
        )

    def reached(self) -> NDArray[np.bool_]:
        """(rows of the observations) Which of them are in the target."""
        return rows_in(self.target, self.observed, self.counted)

    def by_rows(self, rows: Rows) -> Scene:
        """Rows alone: those of the target, or of its best fifth where that has enough of them."""
        reached = self.reached()
        best = best_part(self.observed, reached & np.isin(np.arange(len(reached)), rows))
        rng = np.random.default_rng([self.seed, 3])
        some = rows if len(rows) <= MOST_POINTS else np.sort(rng.choice(rows, MOST_POINTS, replace=False))
        wanted = (best if best[some].sum() >= ENOUGH_BEST else reached)[some].astype(np.float64)
        cells = {name: column[some] for name, column in self.cells().items()}
        axes, places = laid_out(self.observed, cells, groups_for(int(reached.sum())))
        halves = rng.random((len(some), OPINIONS)) < 0.5
        mass = wanted[:, None] * halves
        total = np.maximum(mass.sum(axis=0), 1e-300)
        cloud = Cloud(axes, places, mass / total, unit=1.0 / max(1.0, wanted.sum()))
        plain = reached[some] / max(1, int(reached[some].sum()))
        return Scene(cloud, plain, {}, "counts")

    def by_trials(self, rows: Rows) -> Scene:
        """The best configurations that an adaptive sampler found, held against the space."""
        if not isinstance(self.target, Region):
            raise TypeError("rows picked one by one are held against the other rows")
        cells = self.cells()
        reached = self.reached()
        best = leading(self.observed, cells, rows, reached, self.target)
        whole = leading(self.observed, cells, rows, reached, self.target, (WHOLE, LEAST_OF_WHOLE))
        axes, tried = laid_out(self.observed, {name: column[rows] for name, column in cells.items()}, SLICES)
        rng = np.random.default_rng([self.seed, 5])
        cloud, wider = (cloud_of(self.observed, cells, axes, deciding, rng) for deciding in (best, whole))
        return Scene(cloud, cloud.pooled, {}, "counts", tried, wider)

    def evidence(
        self, scene: Scene, box: Box, keep: float, surely: Sequence[str], folds: int
    ) -> Evidence | None:
        """The target's rows judged by bounds found without them."""
        if folds < 2:
            return None
        rows = np.flatnonzero(self.counted)
        rng = np.random.default_rng([self.seed, 4])
        cells = self.cells()
        alike = configurations(cells, rows)  # what was tried twice must not judge itself
        fold_of = rng.permutation(int(alike.max()) + 1)[alike] % folds
        reached = self.reached()[rows]
        held = np.zeros(len(rows), dtype=bool)
        places = {name: axis.place(cells[name][rows]) for name, axis in scene.cloud.axes.items()}
        volumes = []
        for fold in range(folds):
            there, cloud = self.box_without(rows[fold_of != fold], scene, keep, surely)
            here = np.flatnonzero(fold_of == fold)
            held[here] = there.holds({name: column[here] for name, column in places.items()})
            volumes.append(there.volume(cloud))
        best = best_part(self.observed, self.reached())[rows]
        kept, volume = part_of(held, reached), float(np.mean(volumes))
        return Evidence(
            kept=kept,
            best=part_of(held, best),
            volume=box.volume(scene.cloud),
            enrichment=self.enrichment(scene, box, kept.part / volume),
            rows=len(rows),
            estimator=scene.estimator,
        )

    def enrichment(self, scene: Scene, box: Box, found: float) -> float | None:
        """How much likelier a draw lands in the target; None where trials cannot tell what a draw would find."""
        if not scene.even:
            return None
        even = isinstance(self.target, Region) or self.is_even(np.flatnonzero(self.counted))
        return found if even else likelier(scene, box)

    def box_without(self, rows: Rows, scene: Scene, keep: float, surely: Sequence[str]) -> tuple[Box, Cloud]:
        """Bounds from some of the rows alone."""
        if not scene.model_tells or not isinstance(self.target, Region):
            own = self.by_rows(rows) if scene.even else self.by_trials(rows)
            return own.bounds(surely, keep), own.cloud
        every = self.model()
        part = np.flatnonzero(np.isin(every.rows, rows))
        kinds, points = (FOLD_KINDS, FOLD_POINTS) if scene.even else (1, 1)
        model = refit_surrogate(every, self.observed, part, seed=self.seed, kinds=kinds, points=points)
        own = by_model(self.observed, model, self.target) if scene.even else self.by_trials(rows)
        axes = list(own.cloud.axes)
        p_values = residual_p_values(model, np.arange(len(part)), axes, draws=FOLD_DRAWS, seed=self.seed)
        names = [name for name in told_apart(axes, p_values, self.observed.space) if name in axes]
        return own.bounds(names, keep), own.cloud


def told_apart(names: Sequence[str], p_values: Sequence[float], space: Space) -> list[str]:
    """What can be told from noise: every parameter on its own, once some parameter can be for all of them together."""
    if not any(p <= LEVEL for p in holm(p_values)):
        return []
    return with_parents([name for name, p in zip(names, p_values, strict=True) if p <= LEVEL], space)


def with_parents(told: Sequence[str], space: Space) -> list[str]:
    """What can be told from noise, and what decides whether that is active: both say the same."""
    names = list(told)
    for name in names:  # which grows on the way
        names += [parent for parent, _ in space[name].when if parent in space and parent not in names]
    return names


def likelier(scene: Scene, box: Box) -> float:
    """How much likelier a draw lands in the target, in the eyes of the model."""
    inside = box.holds(scene.cloud.places)
    return float(scene.plain[inside].sum() / max(float(inside.mean()), 1e-12))


def best_part(observed: Observations, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The best fifth of some rows."""
    rows = np.flatnonzero(reached)
    ranked = sign_of(observed.direction) * observed.ranked[rows].astype(np.float64)
    count = math.ceil(len(rows) / SHOWN)
    if count == 0:
        return reached
    limit = np.partition(ranked, count - 1)[count - 1]
    best = np.zeros(len(reached), dtype=bool)
    best[rows[ranked <= limit]] = True
    return best


def groups_for(rows: int) -> int:
    """Into how many groups a range is put where so many rows of the target have to tell about each."""
    return max(FEWEST_GROUPS, min(MOST_GROUPS, rows // ROWS_A_GROUP))


def laid_out(
    observed: Observations, cells: Mapping[str, Any], most: int = MOST_GROUPS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axes and groups of every parameter that has one domain."""
    plain = {
        name: parameter
        for name, parameter in observed.space.items()
        if isinstance(parameter, Float | Int | Ordinal | Categorical)
    }
    axes = {name: axis_of(name, grid_of(parameter), most) for name, parameter in plain.items()}
    return axes, {name: axes[name].place(cells[name]) for name in axes}


def by_model(observed: Observations, model: Surrogate, target: Region) -> Scene:
    """Points of the space with their chance to be in the target, and in its best tenth."""
    inside = model.inside(target, observed.direction, model.drawn)
    part = inside.mean()
    start = target.cuts(observed.direction)[0]
    if start is None and part > 0:
        ends = np.quantile(model.drawn, part / FINEST, axis=0)
        best = model.drawn <= ends
    else:
        best = inside
    points = next(iter(model.points.values()))
    kinds = points.shape[1]
    axes, places = laid_out(observed, {name: column.T.reshape(-1) for name, column in model.points.items()})
    each = best.reshape(len(points), kinds, -1).mean(axis=2)  # (points, settings)
    mass = np.zeros((len(points) * kinds, kinds))
    for kind in range(kinds):
        mass[kind * len(points) : (kind + 1) * len(points), kind] = each[:, kind]
    mass /= np.maximum(mass.sum(axis=0), 1e-300)
    plain = inside.reshape(len(points), kinds, -1).mean(axis=2).T.reshape(-1)
    plain = plain / max(plain.sum(), 1e-300)
    cloud = Cloud(axes, places, mass, wider=plain)
    return Scene(cloud, plain, influences(model), "surrogate", model_tells=True)


def influences(model: Surrogate) -> dict[str, float]:
    """How much of the function may change where one parameter alone is drawn anew, as a part of its variance."""
    features = model.features
    rng = np.random.default_rng(0)
    other = rng.permutation(len(features))
    found: dict[str, float] = {}
    for d, owner in enumerate(features.owners):
        gap = features.values[:, d] - features.values[other, d]
        distance = gap**2 if features.sizes[d] == 0 else (gap != 0).astype(np.float64)
        part = 1.0 - float(np.mean(np.exp(-model.weights[:, d : d + 1] * distance), axis=1).min())
        found[owner] = max(found.get(owner, 0.0), part)
    return found


def part_of(held: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Part:
    """How many of the rows wanted are held, with a 95 % interval (Wilson's)."""
    inside, total = int(np.sum(held & wanted)), max(1, int(wanted.sum()))
    z, part = 1.96, inside / total
    centre = (part + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    return Part(part, max(0.0, centre - half), min(1.0, centre + half), total)
