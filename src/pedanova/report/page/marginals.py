"""The mean objective along every parameter's values, as the page draws it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import PedanovaError
from pedanova.measures.effects import BinnedMarginal, Effect, binned_marginal
from pedanova.report.asks import Shows
from pedanova.report.page.answers import asked_of
from pedanova.report.page.numbers import exact
from pedanova.report.page.question import Question
from pedanova.report.page.shapes import bins_for

DIGITS = 3  # of the spread of what is drawn: less is below a pixel


def marginals(a: Shows, question: Question, **_: Any) -> dict[str, Any]:
    """`Analysis.effects` of the region, and its marginals by the bars and steps of the densities; target aside."""
    try:
        inner, _target, region = asked_of(a, question)
        found = inner.effects(region)
    except PedanovaError as error:
        return {"refused": str(error)}
    shapes = bins_for(a)
    binned = {effect.name: binned_marginal(effect.marginal, shapes[effect.name]) for effect in found.rows}
    places = places_of(list(binned.values()))
    return {
        "refused": None,
        "rows": found.n_region,
        "mean": exact(found.mean),
        "parameters": [effect_to_json(effect, binned[effect.name], places) for effect in found.rows],
        "notes": [str(note) for note in found.notes],
    }


def places_of(binned: list[BinnedMarginal]) -> int:
    """Decimal places to which means are told."""
    means = np.concatenate([one.mean for one in binned])
    span = float(np.nanmax(means) - np.nanmin(means)) if np.isfinite(means).any() else 0.0
    return DIGITS - math.floor(math.log10(span)) if span > 0 else 15


def effect_to_json(effect: Effect, binned: BinnedMarginal, places: int) -> dict[str, Any]:
    marginal = effect.marginal
    return {
        "parameter": effect.name,
        "share": exact(effect.share),
        "rows": [int(rows) for rows in binned.rows],
        "mean": told(binned.mean, places),
        "low": told(binned.low, places),
        "high": told(binned.high, places),
        "missing": [marginal.missing_rows, *told(np.array([marginal.missing_mean]), places)],
    }


def told(values: NDArray[np.float64], places: int) -> list[float | None]:
    return [round(value, places) if math.isfinite(value) else None for value in values.tolist()]
