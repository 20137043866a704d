"""How numbers and parameters are written for the page: few digits for drawings, shapes cut once for all questions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.densities import Densities, drawing_of
from pedanova.measures.question import Baseline
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.page.question import Span, labels_by_text
from pedanova.space.parameters import Parameter

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


POINTS = 40  # steps of a range
_BINS: WeakKeyDictionary[TrialData, dict[str, Bins]] = WeakKeyDictionary()


def bins_for(a: TrialData) -> dict[str, Bins]:
    """Of every parameter, from all rows of the analysis."""
    if a not in _BINS:
        _BINS[a] = {
            name: bins_of(tally.parameter, tally.counts.sum(axis=0)[: tally.grid.cells], POINTS)
            for name, tally in a.tallies.items()
        }
    return _BINS[a]


def draw_like(part: TrialData, whole: TrialData) -> None:
    """A study among others is drawn as all of them are: in the same steps."""
    _BINS.setdefault(part, bins_for(whole))


def shape_to_json(parameter: Parameter, bins: Bins) -> dict[str, Any]:
    """Bars with labels, and with values where they are numbers; or steps between edges."""
    if bins.edges is not None:
        edges = [float(edge) for edge in bins.edges]
        labels = list(bins.labels) if bins.kind == "steps" else None  # whole numbers: what is in a step
        widths = None if bins.widths is None or bins.kind == "curve" else parts(bins.widths)  # a curve: even
        return {"kind": "steps", "edges": edges, "labels": labels, "widths": widths, "log": bins.log}
    texts = {label: text for text, label in labels_by_text(parameter).items()}
    values = bins.values or ()
    if texts and values:
        return {"kind": "bars", "labels": [texts[value] for value in values]}
    return {"kind": "bars", "labels": list(bins.labels), **({"values": list(values)} if values else {})}


def density_to_json(density: Densities, bins: Bins, baseline: Baseline) -> dict[str, Any]:
    """Parts of the rows by bar or step; between `low` and `high` chance alone would put the target's."""
    drawing = drawing_of(density, bins, baseline)
    drawn = {name: parts(getattr(drawing, name)) for name in ("target", "region", "uniform")}
    drawn |= {name: parts(getattr(drawing, name), 4) for name in ("low", "high")}
    good = {"at": [[rounded(end, 6) for end in span] for span in drawing.good], "words": drawing.good_words}
    return {**drawn, "good": good, "missing": [rounded(density.missing_target), rounded(density.missing_region)]}


def inside_span(good: dict[str, Any], span: Span) -> dict[str, Any]:
    """Good values of a range, cut at a selection: a kernel spreads rows beyond its ends, where none were looked at."""
    low, high = (-math.inf if span.low is None else span.low), (math.inf if span.high is None else span.high)
    inside = [[max(low, start), min(high, stop)] for start, stop in good["at"] if start < high and stop > low]
    if inside == good["at"]:
        return good
    return {"at": inside, "words": ", ".join(f"{short(start)} to {short(stop)}" for start, stop in inside)}
