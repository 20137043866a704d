"""Levels of an objective that is an array."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from pedanova.base.kernel.selection import Survey, select_ranks
from pedanova.counting.levels import LADDER, Levels, levels_at
from pedanova.data.regions import sign_of


def cut_levels(
    objective: Any,
    direction: Any,
    nan: Any = "drop",
    quantiles: Sequence[Fraction] = LADDER,
    *,
    threads: int = 1,
    survey: Survey | None = None,
) -> Levels:
    values_at = partial(select_ranks, objective, sign_of(direction), threads=threads, survey=survey)
    numbers = len(objective) - int(np.isnan(objective.astype(float)).sum())
    return levels_at((values_at, len(objective), numbers), direction, nan, quantiles)
