"""What a reduction is worth: how many of the target's rows the bounds hold, less what choosing them brought along.

A box holds more of the rows that chose it than of others. How much more, boxes show that some of the
rows choose and the others judge. They may be other boxes than the printed one: where two categories are
alike, a fold may keep the other. So it is the difference alone that is taken from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pedanova.data.regions import Region
from pedanova.reduction.adaptive import configurations
from pedanova.reduction.boxes import Box
from pedanova.reduction.result import Evidence, Proportion
from pedanova.reduction.scenes import Scene
from pedanova.reduction.search import Rows, Search, best_part

Mask = NDArray[np.bool_]
Holds = Callable[[Rows], Mask]  # which of some rows lie in a box


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Every row that counts, held against the printed box and against those of the folds."""

    inside: Mask  # (rows,) in the printed box
    held: Mask  # (rows,) in the box that was found without the row
    chosen: NDArray[np.float64]  # (rows,) of the boxes that it helped to choose, the part that it lies in

    def inside_of(self, wanted: Mask) -> float:
        """The part of some rows that lies in the printed box."""
        return float(self.inside[wanted].mean()) if wanted.any() else 0.0

    def kept_of(self, wanted: Mask) -> Proportion:
        """The same of such rows as did not choose it, with a 95 % interval."""
        if not wanted.any():
            return proportion_of(0.0, 1)
        luck = float(self.chosen[wanted].mean()) - float(self.held[wanted].mean())
        return proportion_of(max(0.0, self.inside_of(wanted) - max(0.0, luck)), int(wanted.sum()))


def judged(search: Search, printed: Holds, box_of: Callable[[Rows], Holds], folds: int) -> Judgement:
    """The rows in so many folds; `box_of` finds the box that some rows choose."""
    rows = np.flatnonzero(search.counted)
    alike = configurations(search.cells(), rows)  # what was tried twice must not judge itself
    fold_of = np.random.default_rng([search.seed, 4]).permutation(int(alike.max()) + 1)[alike] % folds
    held, chosen = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
    for fold in range(folds):
        others = fold_of != fold
        found = box_of(rows[others])(rows)
        held[~others] = found[~others]
        chosen[others] += found[others]
    return Judgement(printed(rows), held, chosen / (folds - 1))


def evidence_of(search: Search, scene: Scene, box: Box, keep: float, surely: Sequence[str], folds: int) -> Evidence:
    """Folds choose boxes as small as the printed one."""
    size, cells = box.volume(scene.cloud), search.cells()

    def holds(one: Box) -> Holds:
        return lambda some: one.holds({name: axis.place(cells[name][some]) for name, axis in scene.cloud.axes.items()})

    def box_of(some: Rows) -> Holds:
        others, names = scene.among(some, surely)
        return holds(others.as_small(names, keep, size))

    rows, reached = np.flatnonzero(search.counted), search.reached()
    judgement = judged(search, holds(box), box_of, folds)
    kept = judgement.kept_of(reached[rows])
    return Evidence(
        kept=kept,
        best=judgement.kept_of(best_part(search.observed, reached)[rows]),
        inside=judgement.inside_of(reached[rows]),
        volume=size,
        enrichment=enrichment(search, scene, box, kept.part / size),
        rows=len(rows),
        estimator=scene.estimator,
    )


def enrichment(search: Search, scene: Scene, box: Box, by_rows: float) -> float | None:
    """How much likelier a draw lands in the target; None where trials cannot tell what a draw would find."""
    if not scene.even:
        return None
    if isinstance(search.target, Region) or search.is_even(np.flatnonzero(search.counted)):
        return by_rows
    inside = box.holds(scene.cloud.places)
    return float(scene.plain[inside].sum() / max(float(inside.mean()), 1e-12))


def proportion_of(part: float, total: int) -> Proportion:
    """A part of so many rows, with a 95 % interval (Wilson's)."""
    z = 1.96
    centre = (part + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    return Proportion(part, max(0.0, centre - half), min(1.0, centre + half), total)
