"""In which order the trials were run, where that is known: adaptive samplers move with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import Column

NAMES = ("number", "trial", "trial_number", "trial_id", "trial_index", "trial_num", "tid")


def trial_column(names: Iterable[str]) -> str | None:
    """The column that numbers the trials, by its name."""
    by_name = {name.lower(): name for name in names}
    return next((by_name[name] for name in NAMES if name in by_name), None)


def trial_numbers(columns: Mapping[str, Column], rows: int, *, ordered: bool) -> NDArray[Any] | None:
    """(rows,) Where a log has its rows in order, or a column of numbers is named so; else None."""
    if ordered:
        return np.arange(rows)
    name = trial_column(columns)
    if name is None:
        return None
    column = columns[name]
    return None if column.is_coded or column.is_time else column.values
