"""What is written behind an option, as values."""

from __future__ import annotations

from typing import Any

from pedanova.data.regions import Region, as_region, at_least, at_most, between
from pedanova.errors import Arg, QueryError


def split_names(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def parse_rows(text: str, name: str) -> Region | str:
    """A quantile, '<=V', '>=V', '>=V,<=W' or 'A..B'; anything else is left as a column or a condition."""
    first, comma, last = text.partition(",")
    if comma and (first[:2], last[:2]) == (">=", "<="):
        ends = [as_float(part[2:]) for part in (first, last)]
        if None in ends:
            raise QueryError(f"--{name} {text!r} must have numbers behind >= and <=")
        return between(*ends, values=True)  # type: ignore[arg-type]
    if text[:2] in ("<=", ">="):
        value = as_float(text[2:])
        if value is None:
            raise QueryError(f"--{name} {text!r} must have a number behind {text[:2]}")
        return at_most(value) if text.startswith("<=") else at_least(value)
    low, high = (as_float(part) for part in (text.partition("..")[0], text.partition("..")[2]))
    if ".." in text and low is not None and high is not None:
        return between(low, high)
    if text[:1] in ("<", ">"):
        raise QueryError(f"--{name} {text!r} must be written with {text[0]}= and a number")
    number = as_float(text.rstrip("% ")) if text.endswith("%") else as_float(text)
    if number is None:
        return text
    return as_region(number / 100 if text.endswith("%") else number, name)


def parse_ladder(given: list[str] | None) -> list[float] | None:
    """Quantiles, separated by commas."""
    texts = split_names(given)
    if texts is None:
        return None
    found = [as_float(text) for text in texts]
    if None in found:
        raise QueryError(f"--ladder {texts[found.index(None)]!r} must be a quantile, such as 0.1 for the best 10 %")
    return found  # type: ignore[return-value]


def as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse_box(given: list[str]) -> dict[str, Any]:
    """``lr=1e-4..1e-2`` is a range, ``optimizer=adam,sgd`` a set of values."""
    box: dict[str, Any] = {}
    for text in given:
        name, equal, bounds = text.partition("=")
        if not equal or not name.strip() or not bounds.strip():
            raise QueryError(f"--region-box {text!r} must be NAME=LOW..HIGH or NAME=A,B")
        low, dots, high = bounds.partition("..")
        box[name.strip()] = (as_bound(low, text), as_bound(high, text)) if dots else as_values(bounds)
    return box


def as_bound(text: str, whole: str) -> float | None:
    if text.strip() and as_float(text) is None:
        raise QueryError(f"--region-box {whole!r}: {text!r} is no number")
    return as_float(text)


def as_values(text: str) -> set[str]:
    return {value.strip() for value in text.split(",") if value.strip()}


def parse_smoothing(text: str) -> Any:
    if text in ("auto", "none"):
        return text
    try:
        return float(text)
    except ValueError:
        raise QueryError(f"--smoothing {text!r} must be auto, none or a bandwidth in cells") from None


def parse_budget(text: str | None) -> str | dict[float, str] | None:
    """A column, or ``5=loss_5,50=loss_50``."""
    if text is None or "=" not in text:
        return text
    columns: dict[float, str] = {}
    for part in text.split(","):
        number, _, name = part.partition("=")
        value = as_float(number)
        if value is None or not name.strip():
            raise QueryError(Arg("budget", text), " must be a column, or the objective's at each: 5=loss_5,50=loss_50")
        columns[value] = name.strip()
    return columns
