"""The configurations that were run, each once: repeats are put together with the mean of their ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pedanova.measures.chance.ranked_rows import Arrangement, Indices, Places, RankedRows, Reals
from pedanova.measures.chance.ranks import doubled_ranks


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """What a model learns from; in an order that tells nothing of them."""

    arrangement: Arrangement
    places: Places  # (configurations, parameters)
    levels: Indices  # (configurations,) 0 for the best; equal ones share a level
    repeats: Indices  # (configurations,) rows of each
    owner: Indices  # (rows,) the configuration of each row
    signed: Reals  # (rows,) the objective, lower is better
    trials: Reals | None  # (rows,)

    def __len__(self) -> int:
        return len(self.places)


def configurations_of(rows: RankedRows) -> Configurations:
    _, first, owner, repeats = np.unique(rows.keys, return_index=True, return_inverse=True, return_counts=True)
    # Sums of whole numbers are exact, and so equal means are equal numbers.
    means = np.bincount(owner, weights=doubled_ranks(rows.signed)) / repeats
    levels = np.unique(means, return_inverse=True)[1]
    return Configurations(rows.arrangement, rows.places[first], levels, repeats, owner, rows.signed, rows.trials)
