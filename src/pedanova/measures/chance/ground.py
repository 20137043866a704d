"""The rows of a region, and all of a p-value that does not depend on the target: computed once, asked often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.measures.chance.kinship import Kinship
from pedanova.measures.chance.marks import marks_of
from pedanova.measures.chance.normal import normal_quantile
from pedanova.measures.chance.others import Others
from pedanova.measures.chance.permuting import Deals, block_means
from pedanova.measures.chance.ranked_rows import RankedRows
from pedanova.measures.chance.ranks import mid_ranks

Reals: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
BLOCK = 10  # trials next to each other, among which a sampler that adapts hardly moved


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Of one region; with `neighbours`, scores are dealt among rows of the same block alone."""

    ranks: Reals  # (rows,) mid-ranks, ½ for the best
    normal: Reals  # (rows,) normal scores of the ranks, centred
    marks: tuple[Reals, ...]  # (rows, columns) for every parameter that varies
    neighbours: Indices | None  # (rows,) the block of trials that each row is in
    others: Others | None  # None with neighbours: there everything moves with the number of the trial
    deals: dict[tuple[int, int], Deals] = field(default_factory=dict)  # by their number and seed

    @classmethod
    def of(cls, rows: RankedRows, kinship: Kinship, held: Indices, *, blocks: bool) -> Ground:
        ranks = mid_ranks(rows.signed[held]) - 0.5
        normal = normal_quantile(ranks / len(held))
        normal = normal - normal.mean()
        grids = rows.arrangement.grids
        marks = [marks_of(grids[j], rows.places[held, j]) for j in range(len(kinship.names))]
        neighbours = neighbours_of(rows, held) if blocks else None
        if neighbours is not None:
            marks = [columns - block_means(columns, neighbours) if columns.size else columns for columns in marks]
        others = Others.of(normal, marks, kinship.kin) if neighbours is None else None
        return cls(ranks, normal, tuple(marks), neighbours, others)

    def dealt(self, side: int, seed: int) -> Deals:
        """Random orders of the rows, side² of them."""
        key = side, seed
        if key not in self.deals:
            self.deals.clear()
            most = max(columns.shape[1] for columns in self.marks)
            self.deals[key] = Deals(len(self.ranks), most, side, self.neighbours, seed)
        return self.deals[key]


def neighbours_of(rows: RankedRows, held: Indices) -> Indices | None:
    """(rows,) The block of trials that each row is in; None where the order is not known."""
    if rows.trials is None:
        return None
    places = np.empty(len(held), dtype=np.int64)
    places[np.argsort(rows.trials[held], kind="stable")] = np.arange(len(held))
    return places // BLOCK
