"""Where an adaptive sampler found the target: its trials are held against the space, not against each other.

Such a sampler has left poor places early, so target and other trials lie close together and their
densities tell little. What it came back to, and found good, tells more. A configuration counts
once, however often it was tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.counting.few_rows import lower_is_better
from pedanova.data.observations import Observations
from pedanova.data.regions import Region
from pedanova.measures.chance.ranked_rows import arranged
from pedanova.measures.share import Reals
from pedanova.measures.surrogate.posterior import uniform_points
from pedanova.reduction.boxes import Axis, Box, Cloud, Groups, choose, way_down
from pedanova.space.grid import Cells
from pedanova.space.parameters import Space, parents_of

Rows: TypeAlias = NDArray[np.int64]
BEST, LEAST = 4, 10  # of the target's configurations the best quarter decides, at least ten
WHOLE, LEAST_OF_WHOLE = 1, 20  # all of them on what is not distinguishable from noise
LEAST_TRIED = 5  # rows that must have looked at what is cut off, and must have a value of those that decide
SLICES = 100  # of a range: such trials lie closer together than a twentieth
GAPS = 2  # between the rows that decide, by which ranges are widened
MOST_ROWS = 50_000  # up to which configurations that were tried twice are looked for
OPINIONS = 8  # random halves of what decides
SPACE_POINTS = 4093  # that tell how often each parameter has a value; a prime
CellsByName: TypeAlias = Mapping[str, Cells]


def configurations(cells: CellsByName, rows: Rows) -> Rows:
    """(rows,) A number for each configuration."""
    if len(rows) > MOST_ROWS:
        return np.arange(len(rows))
    table = np.stack([column[rows] for column in cells.values()], axis=1)
    _, numbers = np.unique(table, axis=0, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64)


def leading(
    observed: Observations,
    cells: CellsByName,
    rows: Rows,
    reached: NDArray[np.bool_],
    target: Region,
    among: tuple[int, int] = (BEST, LEAST),
) -> Rows:
    """The rows that decide: the best of the target's configurations, each once.

    A quantile is one of the configurations here: a sampler that comes back to the best one again
    and again would leave that one alone in the target.
    """
    signed = lower_is_better(observed, rows)
    order = np.argsort(signed, kind="stable")
    _, first = np.unique(configurations(cells, rows)[order], return_index=True)
    once = order[np.sort(first)]  # best first
    if target.cuts(observed.direction)[0] is not None:  # no target that the best rows are in
        return np.sort(rows[once[reached[rows[once]]]])
    part = float(target.high or 1) if target.kind == "quantile" else float(reached[rows[once]].mean())
    divisor, least = among
    count = min(len(once), max(least, math.ceil(part * len(once) / divisor)))
    limit = signed[once[count - 1]]
    return np.sort(rows[once[signed[once] <= limit]])


def cloud_of(
    observed: Observations, cells: CellsByName, axes: Mapping[str, Axis], deciding: Rows, rng: np.random.Generator
) -> Cloud:
    """The rows that decide, held against the space."""
    places = {name: axis.place(cells[name][deciding]) for name, axis in axes.items()}
    points = space_points(observed.space, cells)
    anywhere = {name: axis.place(points[name]) for name, axis in axes.items()}
    halves = (rng.random((len(deciding), OPINIONS)) < 0.5).astype(np.float64)
    mass = halves / np.maximum(halves.sum(axis=0), 1e-300)
    whole: Reals = np.full(len(deciding), 1.0 / len(deciding))
    parents = deciders_of(observed.space)
    return Cloud(axes, places, mass, unit=1.0 / len(deciding), anywhere=anywhere, whole=whole, parents=parents)


def deciders_of(space: Space) -> frozenset[str]:
    """Parameters that others need to have a value."""
    return frozenset(parent for parameter in space.values() for parent in parents_of(parameter))


def space_points(space: Space, cells: CellsByName) -> CellsByName:
    """Uniform points of the space."""
    rows = len(next(iter(cells.values())))
    arrangement = arranged(space, cells, np.zeros(rows, dtype=np.int64))
    return arrangement.cells(uniform_points(arrangement, arrangement.places(cells), count=SPACE_POINTS))


def having(cloud: Cloud, name: str) -> int:
    """How many of the rows that decide have a value."""
    return int(np.sum(cloud.places[name] >= 0))


def trimmed(cloud: Cloud, names: Iterable[str], keep: float, tried: Mapping[str, Groups]) -> Box:
    """The box around the rows that decide, as far as trials that looked elsewhere can speak for it."""
    boxes = way_down(cloud, [name for name in names if having(cloud, name) >= LEAST_TRIED])
    return looked_at(roomier(choose(boxes, keep, jointly=True), cloud), cloud.axes, tried)


def roomier(box: Box, cloud: Cloud) -> Box:
    """Ranges wider by two mean gaps between the rows that decide: the next one may lie just outside."""
    left = {}
    for name, groups in box.left.items():
        axis = cloud.axes[name]
        more = GAPS * len(groups) // max(1, having(cloud, name)) if axis.ordered else 0
        wide = range(max(0, groups[0] - more), min(axis.groups, groups[-1] + 1 + more)) if more else groups
        left[name] = tuple(wide)
    return cut_only(left, box.kept, cloud.axes)


def looked_at(box: Box, axes: Mapping[str, Axis], tried: Mapping[str, Groups]) -> Box:
    """The box without cuts that hardly any row can speak for: ranges go on to the next value that was tried."""
    left = {}
    for name, groups in box.left.items():
        rows = np.bincount(tried[name][tried[name] >= 0], minlength=axes[name].groups)
        if axes[name].ordered:
            first = groups[0] if rows[: groups[0]].sum() >= LEAST_TRIED else 0
            last = groups[-1] if rows[groups[-1] + 1 :].sum() >= LEAST_TRIED else axes[name].groups - 1
            met = np.flatnonzero(rows)
            first = int(max(met[met < first], default=-1)) + 1
            last = int(min(met[met > last], default=axes[name].groups)) - 1
            left[name] = tuple(range(first, last + 1))
        else:
            left[name] = tuple(g for g in range(axes[name].groups) if g in groups or rows[g] < LEAST_TRIED)
    return cut_only(left, box.kept, axes)


def cut_only(left: Mapping[str, tuple[int, ...]], kept: float, axes: Mapping[str, Axis]) -> Box:
    """A box of the parameters that lose something."""
    return Box({name: groups for name, groups in left.items() if len(groups) < axes[name].groups}, kept)
