"""Where the target lies in the space, and which bounds the rows would choose.

A model of the rows tells for points all over the space how likely each belongs to the target's best
fifth; where rows are many, they tell it themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.assisted import UNEVEN, unevenness
from pedanova.boxes import Box, Cloud, axis_of, choose, way_down
from pedanova.contrasts import rows_in
from pedanova.estimators import Asked, as_options, fitted
from pedanova.gaussian import Reals
from pedanova.grid import grid_of
from pedanova.importance import Importances
from pedanova.inference import DRAWS, LEVEL, holm
from pedanova.observations import Observations
from pedanova.reducedspace import Evidence, Part
from pedanova.regions import Region
from pedanova.residuals import residual_p_values
from pedanova.rowsets import RowSet
from pedanova.sampling import cells_by_name
from pedanova.space import Categorical, Float, Int, Ordinal, Space
from pedanova.surrogate import Surrogate, fit_surrogate

FINEST = 5  # the target's best fifth decides
ENOUGH_BEST = 50  # rows in that fifth from which on rows alone can tell where it lies
MOST_POINTS = 50_000  # rows that cuts are looked for in
FOLD_DRAWS = 500
OPINIONS = 8  # random halves of the rows, where no model has opinions of its own
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Where the target lies, and how far the model's function hangs on each parameter."""

    cloud: Cloud  # the mass is that of the target's best fifth
    plain: Reals  # (points,) that of the whole target
    influence: Mapping[str, float]  # an upper end; empty without a model
    estimator: str


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The rows and the target, as every search for bounds needs them."""

    observed: Observations
    asked: Asked
    target: Region | RowSet
    seed: int
    counted: NDArray[np.bool_]

    def scene(self, found: Importances) -> Scene:
        if found.estimator == "surrogate" and isinstance(self.target, Region):
            model = fitted(
                self.asked,
                as_options("region", "auto", "auto", DRAWS, self.seed, force=False),
                self.asked.rows,
            )
            return by_model(self.observed, model, self.target)
        return self.by_rows(np.flatnonzero(self.counted))

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
        axes, places = laid_out(self.observed, {n: c[some] for n, c in cells_by_name(self.observed).items()})
        halves = rng.random((len(some), OPINIONS)) < 0.5
        mass = wanted[:, None] * halves
        total = np.maximum(mass.sum(axis=0), 1e-300)
        cloud = Cloud(axes, places, mass / total, unit=1.0 / max(1.0, wanted.sum()))
        plain = reached[some] / max(1, int(reached[some].sum()))
        return Scene(cloud, plain, {}, "counts")

    def evidence(
        self, scene: Scene, box: Box, keep: float, surely: Sequence[str], folds: int
    ) -> Evidence | None:
        """The target's rows judged by bounds found without them."""
        if folds < 2:
            return None
        rows = np.flatnonzero(self.counted)
        rng = np.random.default_rng([self.seed, 4])
        fold_of = rng.permutation(len(rows)) % folds
        reached = self.reached()[rows]
        held = np.zeros(len(rows), dtype=bool)
        _, places = laid_out(self.observed, {n: c[rows] for n, c in cells_by_name(self.observed).items()})
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
            enrichment=kept.part / volume if is_even(self, rows) else likelier(scene, box),
            rows=len(rows),
            estimator=scene.estimator,
        )

    def box_without(self, rows: Rows, scene: Scene, keep: float, surely: Sequence[str]) -> tuple[Box, Cloud]:
        """Bounds from some of the rows alone."""
        if scene.estimator == "counts" or not isinstance(self.target, Region):
            cloud = self.by_rows(rows).cloud
            return choose(way_down(cloud, surely), keep), cloud
        model = fit_surrogate(self.observed, rows, seed=self.seed)
        cloud = by_model(self.observed, model, self.target).cloud
        names = list(cloud.axes)
        p_values = residual_p_values(model, np.arange(len(rows)), names, draws=FOLD_DRAWS, seed=self.seed)
        told = [name for name, p in zip(names, holm(p_values), strict=True) if p <= LEVEL]
        own = [name for name in with_parents(told, self.observed.space) if name in cloud.axes]
        return choose(way_down(cloud, own), keep), cloud


def with_parents(told: Sequence[str], space: Space) -> list[str]:
    """What can be told from noise, and what decides whether that is active: both say the same."""
    names = list(told)
    for name in names:  # which grows on the way
        names += [parent for parent, _ in space[name].when if parent in space and parent not in names]
    return names


def is_even(search: Search, rows: Rows) -> bool:
    """Whether the rows look like a uniform draw from the space."""
    cells = cells_by_name(search.observed)
    return all(
        unevenness(cells[name][rows], grid_of(parameter)) <= UNEVEN
        for name, parameter in search.observed.space.items()
    )


def likelier(scene: Scene, box: Box) -> float:
    """How much likelier a draw lands in the target, in the eyes of the model."""
    inside = box.holds(scene.cloud.places)
    return float(scene.plain[inside].sum() / max(float(inside.mean()), 1e-12))


def best_part(observed: Observations, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The best fifth of some rows."""
    rows = np.flatnonzero(reached)
    sign = 1.0 if observed.direction == "minimize" else -1.0
    ranked = sign * observed.ranked[rows].astype(np.float64)
    count = math.ceil(len(rows) / FINEST)
    if count == 0:
        return reached
    limit = np.partition(ranked, count - 1)[count - 1]
    best = np.zeros(len(reached), dtype=bool)
    best[rows[ranked <= limit]] = True
    return best


def laid_out(observed: Observations, cells: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axes and groups of every parameter that has one domain."""
    plain = {
        name: parameter
        for name, parameter in observed.space.items()
        if isinstance(parameter, Float | Int | Ordinal | Categorical)
    }
    axes = {name: axis_of(name, grid_of(parameter)) for name, parameter in plain.items()}
    return axes, {name: axes[name].place(cells[name]) for name in axes}


def by_model(observed: Observations, model: Surrogate, target: Region) -> Scene:
    """Points of the space with their chance to be in the target, and in its best fifth."""
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
    return Scene(Cloud(axes, places, mass), plain / max(plain.sum(), 1e-300), influences(model), "surrogate")


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
