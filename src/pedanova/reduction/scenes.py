"""Where the target lies in the space, and which bounds follow: one class for each way to tell.

A model of the rows tells for points all over the space how likely each belongs to the target's best
tenth; where rows are many, or an adaptive sampler chose them, they tell it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from pedanova.data.observations import Observations
from pedanova.data.regions import Region
from pedanova.measures.importance import Importances
from pedanova.measures.surrogate.gaussian import Reals
from pedanova.measures.surrogate.model import Surrogate
from pedanova.measures.surrogate.sampling import CellsByName
from pedanova.reduction.adaptive import LEAST_OF_WHOLE, SLICES, WHOLE, cloud_of, leading, trimmed
from pedanova.reduction.boxes import MOST_GROUPS, Axis, Box, Cloud, Groups, axis_of, choose, way_down
from pedanova.reduction.search import Rows, Search, best_part
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Ordinal

FINEST = 10  # the target's best tenth decides, in the eyes of a model
ENOUGH_BEST = 50  # rows in its best fifth from which on rows alone can tell where that lies
ROWS_A_GROUP, FEWEST_GROUPS = 4, 5  # of an ordered parameter's values, where rows alone tell
MOST_POINTS = 50_000  # rows that cuts are looked for in
FOLD_KINDS, FOLD_POINTS = 4, 1000  # of the models of a part of the rows
OPINIONS = 8  # random halves of the rows, where no model has opinions of its own


@dataclass(frozen=True, slots=True, eq=False)
class RowScene:
    """Rows alone: those of the target, or of its best fifth where that has enough of them."""

    search: Search
    cloud: Cloud  # the mass is that of the best of the target
    plain: Reals  # (points,) that of the whole target
    influence: Mapping[str, float] = field(default_factory=dict)  # of each parameter on a model, an upper end
    estimator: ClassVar[str] = "counts"
    even: ClassVar[bool] = True  # rows were drawn evenly, or are held against each other
    spread: ClassVar[str] = "good values are spread over all of it"  # why a parameter that matters is not cut

    @classmethod
    def of(cls, search: Search, rows: Rows) -> Self:
        observed, reached = search.observed, search.reached()
        best = best_part(observed, reached & np.isin(np.arange(len(reached)), rows))
        rng = np.random.default_rng([search.seed, 3])
        some = rows if len(rows) <= MOST_POINTS else np.sort(rng.choice(rows, MOST_POINTS, replace=False))
        wanted = (best if best[some].sum() >= ENOUGH_BEST else reached)[some].astype(np.float64)
        cells = {name: column[some] for name, column in search.cells().items()}
        axes, places = laid_out(observed, cells, groups_for(int(reached.sum())))
        mass = wanted[:, None] * (rng.random((len(some), OPINIONS)) < 0.5)
        total = np.maximum(mass.sum(axis=0), 1e-300)
        cloud = Cloud(axes, places, mass / total, unit=1.0 / max(1.0, wanted.sum()))
        return cls(search, cloud, reached[some] / max(1, int(reached[some].sum())))

    def among(self, rows: Rows, names: Sequence[str]) -> tuple[Scene, Sequence[str]]:
        """The same by some of the rows alone, and what may be cut there; these names may be where all rows tell."""
        return RowScene.of(self.search, rows), names

    def bounds(self, names: Sequence[str], keep: float) -> Box:
        """The box to which these parameters are cut, which are distinguishable from noise."""
        return choose(way_down(self.cloud, names), keep)

    def elsewhere(self, name: str, groups: Sequence[int]) -> str:  # noqa: ARG002  (where rows are even, all alike)
        """What is known of the part that is cut off."""
        return "elsewhere good rows are rare"


@dataclass(frozen=True, slots=True, eq=False)
class ModelScene(RowScene):
    """Points of the space with their chance to be in the target, and in its best tenth."""

    estimator = "surrogate"

    @classmethod
    def by(cls, search: Search, model: Surrogate, target: Region) -> Self:
        inside = model.inside(target, search.observed.direction, model.drawn)
        best, part = inside, inside.mean()
        if target.cuts(search.observed.direction)[0] is None and part > 0:
            best = model.drawn <= np.quantile(model.drawn, part / FINEST, axis=0)
        points, kinds = next(iter(model.points.values())).shape
        cells = {name: column.T.reshape(-1) for name, column in model.points.items()}
        axes, places = laid_out(search.observed, cells)
        each = best.reshape(points, kinds, -1).mean(axis=2)
        mass = np.zeros((points * kinds, kinds))
        for kind in range(kinds):
            mass[kind * points : (kind + 1) * points, kind] = each[:, kind]
        mass /= np.maximum(mass.sum(axis=0), 1e-300)
        plain = inside.reshape(points, kinds, -1).mean(axis=2).T.reshape(-1)
        plain = plain / max(plain.sum(), 1e-300)
        return cls(search, Cloud(axes, places, mass, wider=plain), plain, influences(model))

    def among(self, rows: Rows, names: Sequence[str]) -> tuple[Scene, Sequence[str]]:
        search, target = self.search, self.search.target
        if not isinstance(target, Region):
            return RowScene.among(self, rows, names)
        model = search.model_without(rows, kinds=FOLD_KINDS, points=FOLD_POINTS)
        return ModelScene.by(search, model, target), search.beyond_noise_by(model, list(self.cloud.axes))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrialScene(RowScene):
    """The best configurations that an adaptive sampler found, held against the space."""

    tried: Mapping[str, Groups]  # every row's groups
    wider: Cloud  # the whole target
    by_model: bool  # whether a model tells which parameters are noise
    even = False
    spread = "the rest of it holds good trials, too, or was hardly tried"

    @classmethod
    def by(cls, search: Search, rows: Rows, target: Region, *, by_model: bool) -> Self:
        observed, cells, reached = search.observed, search.cells(), search.reached()
        best = leading(observed, cells, rows, reached, target)
        whole = leading(observed, cells, rows, reached, target, (WHOLE, LEAST_OF_WHOLE))
        axes, tried = laid_out(observed, {name: column[rows] for name, column in cells.items()}, SLICES)
        rng = np.random.default_rng([search.seed, 5])
        cloud, wider = (cloud_of(observed, cells, axes, deciding, rng) for deciding in (best, whole))
        return cls(search, cloud, cloud.pooled, tried=tried, wider=wider, by_model=by_model)

    def among(self, rows: Rows, names: Sequence[str]) -> tuple[Scene, Sequence[str]]:
        search, target = self.search, self.search.target
        if not isinstance(target, Region):
            raise TypeError("rows picked one by one are held against the other rows")
        if self.by_model:
            model = search.model_without(rows, kinds=1, points=1)
            names = search.beyond_noise_by(model, list(self.cloud.axes))
        return TrialScene.by(search, rows, target, by_model=self.by_model), names

    def bounds(self, names: Sequence[str], keep: float) -> Box:
        """The box to which parameters are cut; all of them, if any of these is distinguishable from noise.

        Where an adaptive sampler has settled, too few trials are left to tell the others from noise by.
        They are cut to where the whole target lies: what is noise loses nothing by it.
        """
        others = [name for name in self.cloud.axes if name not in names] if names else []
        box = trimmed(self.cloud, names, keep, self.tried)
        return Box({**box.left, **trimmed(self.wider, others, keep, self.tried).left}, box.kept)

    def elsewhere(self, name: str, groups: Sequence[int]) -> str:
        places = self.tried[name]
        outside = int(np.sum((places >= 0) & ~np.isin(places, list(groups))))
        return f"{outside} of {len(places):,} trials looked elsewhere"


Scene = RowScene


def scene_of(search: Search, importances: Importances) -> Scene:
    """Trials where a sampler was adaptive, else the model where it answered, else the rows."""
    rows, by_model = np.flatnonzero(search.counted), importances.estimator == "surrogate"
    if not isinstance(search.target, Region):
        return RowScene.of(search, rows)
    if not search.is_even(rows):
        return TrialScene.by(search, rows, search.target, by_model=by_model)
    return ModelScene.by(search, search.model(), search.target) if by_model else RowScene.of(search, rows)


def groups_for(rows: int) -> int:
    """Into how many groups a range is put where so many rows of the target have to tell about each."""
    return max(FEWEST_GROUPS, min(MOST_GROUPS, rows // ROWS_A_GROUP))


def laid_out(
    observed: Observations, cells: CellsByName, most: int = MOST_GROUPS
) -> tuple[dict[str, Axis], dict[str, Groups]]:
    """Axes and groups of every parameter that has one domain."""
    axes = {
        name: axis_of(name, grid_of(parameter), most)
        for name, parameter in observed.space.items()
        if isinstance(parameter, Float | Int | Ordinal | Categorical)
    }
    return axes, {name: axis.place(cells[name]) for name, axis in axes.items()}


def influences(model: Surrogate) -> dict[str, float]:
    """How much of the function may change where one parameter alone is drawn anew, as a part of its variance."""
    features = model.features
    other = np.random.default_rng(0).permutation(len(features))
    parts: dict[str, float] = {}
    for d, owner in enumerate(features.owners):
        gap = features.values[:, d] - features.values[other, d]
        distance = gap**2 if features.sizes[d] == 0 else (gap != 0).astype(np.float64)
        part = 1.0 - float(np.mean(np.exp(-model.weights[:, d : d + 1] * distance), axis=1).min())
        parts[owner] = max(parts.get(owner, 0.0), part)
    return parts
