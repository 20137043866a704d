"""What people write out of habit works: percentages as text, trial numbers, plots of an answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.errors import QueryError


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    x, y = random.random((2, 400))
    return pa.analyze({"x": x, "y": y}, 3 * x + y)


@pytest.mark.parametrize("text", ["10%", "10 %", " 10.0% "])
def test_a_percentage_is_a_quantile(a: pa.Analysis, text: str) -> None:
    assert a.importance(text, **COUNTS) == a.importance(0.1, **COUNTS)
    assert a.importance("5%", "50 %", **COUNTS) == a.importance(0.05, 0.5, **COUNTS)


@pytest.mark.parametrize("text", ["0%", "101%", "-5%"])
def test_a_percentage_that_is_none_is_refused(a: pa.Analysis, text: str) -> None:
    with pytest.raises(QueryError):
        a.importance(text)


def test_the_number_of_a_trial_can_be_compared(tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(study_name="s", storage=f"sqlite:///{tmp_path}/s.db")
    space = {"x": optuna.distributions.FloatDistribution(0, 1)}
    for i in range(30):
        study.add_trial(optuna.create_trial(params={"x": i / 30}, distributions=space, value=(i * 7) % 30))
    for source in (study, tmp_path / "s.db"):
        assert len(pa.analyze(source, where="number >= 10")) == 20
        assert list(pa.analyze(source).space) == ["x"]


def test_an_answer_draws_itself(a: pa.Analysis) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = a.importance(**COUNTS).plot()
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "x"
    matplotlib.pyplot.close("all")
