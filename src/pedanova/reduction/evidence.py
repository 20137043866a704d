"""What a reduction is worth: the target's rows judged by bounds that were found without them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import Region
from pedanova.reduction.adaptive import configurations
from pedanova.reduction.boxes import Box
from pedanova.reduction.result import Evidence, Proportion
from pedanova.reduction.scenes import Scene
from pedanova.reduction.search import Search, best_part


def evidence_of(search: Search, scene: Scene, box: Box, keep: float, surely: Sequence[str], folds: int) -> Evidence:
    """The rows in so many folds, each judged by the bounds that the others choose for the same parameters."""
    rows = np.flatnonzero(search.counted)
    cells = search.cells()
    alike = configurations(cells, rows)  # what was tried twice must not judge itself
    fold_of = np.random.default_rng([search.seed, 4]).permutation(int(alike.max()) + 1)[alike] % folds
    held = np.zeros(len(rows), dtype=bool)
    places = {name: axis.place(cells[name][rows]) for name, axis in scene.cloud.axes.items()}
    volumes = []
    for fold in range(folds):
        others, names = scene.among(rows[fold_of != fold], surely)
        there, here = others.bounds(names, keep), np.flatnonzero(fold_of == fold)
        held[here] = there.holds({name: column[here] for name, column in places.items()})
        volumes.append(there.volume(others.cloud))
    reached = search.reached()
    kept = proportion_of(held, reached[rows])
    inside = box.holds(places)
    return Evidence(
        kept=kept,
        inside=proportion_of(inside, reached[rows]).part,
        best=proportion_of(held, best_part(search.observed, reached)[rows]),
        volume=box.volume(scene.cloud),
        enrichment=enrichment(search, scene, box, kept.part / float(np.mean(volumes))),
        rows=len(rows),
        estimator=scene.estimator,
    )


def enrichment(search: Search, scene: Scene, box: Box, by_folds: float) -> float | None:
    """How much likelier a draw lands in the target; None where trials cannot tell what a draw would find."""
    if not scene.even:
        return None
    if isinstance(search.target, Region) or search.is_even(np.flatnonzero(search.counted)):
        return by_folds
    inside = box.holds(scene.cloud.places)
    return float(scene.plain[inside].sum() / max(float(inside.mean()), 1e-12))


def proportion_of(held: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Proportion:
    """How many of the rows wanted are held, with a 95 % interval (Wilson's)."""
    inside, total = int(np.sum(held & wanted)), max(1, int(wanted.sum()))
    z, part = 1.96, inside / total
    centre = (part + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    return Proportion(part, max(0.0, centre - half), min(1.0, centre + half), total)
