"""Numbers for printing, rounded to two or three digits."""

from __future__ import annotations

import math

DIGITS = 3
SPACE = "\u00a0"  # keeps "30 %" on one line; `terminal.printable` replaces it by a plain space
SMALL, LARGE = 1e-3, 1e6  # numbers outside this range are written with powers of ten
GROUPED = 10_000  # larger numbers get separators of thousands


def short(value: object, digits: int = DIGITS) -> str:
    """Format a number with `digits` significant digits; integers are written in full, and other objects as text."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return _grouped(value)
    if not math.isfinite(value):
        return f"{value:g}"
    if value.is_integer() and abs(value) < LARGE:
        return _grouped(int(value))
    rounded = float(f"{value:.{digits}g}")
    if SMALL <= abs(rounded) < LARGE:
        return _grouped(int(rounded)) if rounded.is_integer() else f"{rounded:.{digits}g}"
    mantissa, power = f"{value:.{digits - 1}e}".split("e")  # `rounded` may be infinite
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(power)}"


def _grouped(value: int) -> str:
    return f"{value:,}" if abs(value) >= GROUPED else f"{value}"


def percent(part: float | None) -> str:
    """Format the fraction `part` as a percentage with about two digits; negative fractions are shown as 0 %."""
    if part is None or math.isnan(part):
        return ""
    percents = 100.0 * max(0.0, part)
    if 99.5 <= percents < 100:
        return f"{min(percents, 99.9):.1f}{SPACE}%"
    places = 0 if percents == 0.0 or percents >= 9.95 else 1
    return f"{percents:.{places}f}{SPACE}%"


def interval(low: float | None, high: float | None) -> str:
    """Format two fractions as an interval in percent; an empty string if one of them is None."""
    if low is None or high is None:
        return ""
    return f"{percent(low).removesuffix('%').rstrip()} to {percent(high)}"


def times(lift: float) -> str:
    """Format a factor with two significant digits, such as 2.5×."""
    if not math.isfinite(lift):
        return ""
    return f"{float(f'{lift:.2g}'):g}×"


def chance(p_value: float | None) -> str:
    """Format a p-value; values below 0.001 are shown as "<0.001"."""
    if p_value is None:
        return ""
    if p_value < 0.001:
        return "<0.001"
    return f"{p_value:.2f}" if p_value >= 0.0995 else f"{p_value:.3f}"


def roundest(low: float, high: float) -> float:
    """The number between `low` and `high` that has the fewest digits."""
    if low <= 0 <= high:
        return 0.0
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        for value in (middle, low, high):
            near = float(f"{value:.{digits}g}")
            if low <= near <= high:
                return near
    return middle
