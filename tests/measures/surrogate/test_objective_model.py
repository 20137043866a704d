"""The model of the objective: its intervals are as wide as left-out rows demand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.surrogate.objective_model import STEEPER, WIDEN, ScoreCurve

SPACE = dict.fromkeys("abc", pa.Float(0, 1))


def peak(columns: dict[str, Any], width: float) -> Any:
    """Flat but for a peak: rougher near the best value than elsewhere."""
    distance = sum((np.asarray(columns[name]) - 0.7) ** 2 for name in "abc")
    return -np.exp(-distance / width)


def analysis(seed: int, width: float) -> pa.Analysis:
    rng = np.random.default_rng(seed)
    columns = {name: rng.random(120) for name in SPACE}
    return pa.analyze(columns, peak(columns, width), direction="min", space=SPACE)


def widened(a: pa.Analysis) -> float:
    model = a.data.row_model.process(0)
    return model.widen / WIDEN


def test_a_model_that_errs_near_the_best_trials_is_less_sure() -> None:
    assert widened(analysis(0, width=2.0)) == 1.0
    assert widened(analysis(0, width=0.03)) > 1.2


@pytest.mark.parametrize("width", [0.03, 0.2])
def test_proposals_hold_what_they_say_near_a_peak(width: float) -> None:
    held = []
    for seed in range(3):
        trials = list(analysis(seed, width).next_trials(10, "win"))
        true = peak({name: [trial.values[name] for trial in trials] for name in SPACE}, width)
        held += [trial.low <= one <= trial.high for trial, one in zip(trials, true, strict=True)]
    assert np.mean(held) >= 0.8


def test_beyond_the_best_trial_the_objective_falls_faster() -> None:
    curve = ScoreCurve(np.linspace(-2.0, 2.0, 41), np.linspace(0.0, 4.0, 41))
    assert curve.objective(np.array([-3.0, 0.0, 3.0])) == pytest.approx([-STEEPER, 2.0, 5.0])
