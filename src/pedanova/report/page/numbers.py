"""Numbers as JSON says them: a few digits for what is only drawn, all of them for what is said."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

DIGITS = 4


def rounded(value: float, digits: int = DIGITS) -> float | int | None:
    """So many significant digits; None for what is no number."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def digits(values: Iterable[float], many: int = DIGITS) -> list[float | int | None]:
    """Numbers that are only drawn."""
    return [rounded(float(value), many) for value in values]


def exact(value: Any) -> Any:
    """As JSON can say it, with every digit."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
