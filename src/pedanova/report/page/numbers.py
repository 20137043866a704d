"""Numbers as JSON says them: a few digits for what is only drawn, all of them for what is said."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGITS = 4
MOST_PLACES = 15


def rounded(value: float, digits: int = DIGITS) -> float | int | None:
    """So many significant digits; None for what is no number."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def digits(values: Iterable[float], many: int = DIGITS) -> list[float | int | None]:
    """Numbers that are only drawn."""
    given = np.fromiter(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = many - 1 - np.floor(np.log10(np.abs(given)))
    if not np.all(np.isfinite(places) | (given == 0)) or np.any(np.abs(places[given != 0]) > MOST_PLACES):
        return [rounded(value, many) for value in given.tolist()]
    scale = 10.0 ** np.where(given == 0, 0.0, places)  # a power of ten is exact, and so is what it divides
    short = np.where(places < 0, np.round(given * scale) * 10.0**-places, np.round(given * scale) / scale)
    return [int(value) if value.is_integer() else value for value in np.where(given == 0, 0.0, short).tolist()]


def parts(values: NDArray[np.float64], places: int = 5) -> list[float]:
    """Parts of one that are only drawn."""
    drawn: list[float] = np.round(values, places).tolist()
    return drawn


def exact(value: Any) -> Any:
    """As JSON can say it, with every digit."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
