"""The evaluator in Optuna's own suite, its importances, its plots, and the dashboard's way of asking."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.importance import get_param_importances
from optuna.testing.pytest_importance import BasicImportanceEvaluatorTestCase, MultiObjectiveImportanceEvaluatorTestCase
from optuna.trial import Trial

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError
from pedanova.integrations.optuna import PedAnovaEvaluator

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)


class Suite:
    @pytest.fixture
    def evaluator(self) -> Callable[..., PedAnovaEvaluator]:
        return PedAnovaEvaluator


class TestBasic(Suite, BasicImportanceEvaluatorTestCase):
    """Without what the suite asks of 3 trials, and without its rule that infinite values are dropped."""

    test_get_param_importances_empty_search_space: Any = None
    test_importance_evaluator_with_target: Any = None
    test_evaluator_with_infinite: Any = None


class TestMultiObjective(Suite, MultiObjectiveImportanceEvaluatorTestCase):
    pass


@pytest.mark.parametrize("estimator", ["auto", "counts", "paper"])
def test_too_few_trials_give_zeros_and_a_warning(estimator: str) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    evaluator = PedAnovaEvaluator(estimator=estimator)
    for trials in range(1, 6):
        study.optimize(quadratic, n_trials=1)
        with pytest.warns(UserWarning, match=f"{trials} completed trials are too few"):
            assert evaluator.evaluate(study) == {"x": 0.0, "y": 0.0, "idle": 0.0}
    study.optimize(quadratic, n_trials=45)
    assert evaluator.evaluate(study)["x"] > 0


@pytest.mark.parametrize("end", [np.inf, -np.inf])
def test_infinite_objectives_are_ordered_like_numbers(end: float) -> None:
    """A diverged run is a bad trial: x decides who diverges, and the others do not depend on anything."""
    study = optuna.create_study(
        direction="minimize" if end > 0 else "maximize", sampler=optuna.samplers.RandomSampler(seed=0)
    )

    def diverging(trial: Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        return end if x > 0.4 else (y * 1e-9 if trial.number % 2 else 0.0)

    study.optimize(diverging, n_trials=120)
    found = PedAnovaEvaluator(target=0.3).evaluate(study)
    shares = pa.analyze(study).importance(0.3, draws=0)
    assert found == pytest.approx({name: max(0.0, shares[name].share) for name in shares})
    assert found["x"] > 0.2 > found["y"]


def test_conditional_parameters_of_some_names() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))

    def branches(trial: Trial) -> float:
        c = trial.suggest_float("c", 0, 1)
        return trial.suggest_float("x", -2, 0) if c > 0.5 else trial.suggest_float("y", 0, 2)

    study.optimize(branches, n_trials=60)
    for params in (["c"], ["x"], ["c", "x"], ["c", "x", "y"]):
        found = PedAnovaEvaluator().evaluate(study, params=params)
        assert set(found) == set(params)
        assert any(found.values())
    with pytest.warns(UserWarning, match="knows neither conditions nor missing values"):
        assert PedAnovaEvaluator(estimator="paper").evaluate(study) == {"c": 0.0, "x": 0.0, "y": 0.0}
    with pytest.raises(ValueError, match="'d'"):
        PedAnovaEvaluator().evaluate(study, params=["c", "d"])


def quadratic(trial: Trial) -> float:
    x, y = trial.suggest_float("x", -1, 1), trial.suggest_float("y", -1, 1)
    trial.suggest_categorical("idle", ["a", "b", "c"])
    return x**2 + 0.1 * y**2


@pytest.fixture(scope="module")
def study() -> optuna.Study:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(quadratic, n_trials=200)
    return study


def test_the_numbers_are_those_of_analyze(study: optuna.Study) -> None:
    found = PedAnovaEvaluator().evaluate(study)
    shares = pa.analyze(study).importance(draws=0)
    assert found == pytest.approx({name: max(0.0, shares[name].share) for name in shares})
    assert list(found)[:2] == ["x", "y"]
    ratios = get_param_importances(study, evaluator=PedAnovaEvaluator())
    assert sum(ratios.values()) == pytest.approx(1.0)
    assert PedAnovaEvaluator().evaluate(study) == found  # the same at every call


def test_questions_can_be_chosen(study: optuna.Study) -> None:
    near = PedAnovaEvaluator(target=0.1, region=0.5, estimator="counts").evaluate(study)
    same = pa.analyze(study).importance(0.1, 0.5, estimator="counts", draws=0)
    assert near["x"] == pytest.approx(max(0.0, same["x"].share))
    assert PedAnovaEvaluator(target=pa.at_most(0.05)).evaluate(study)["x"] > 0.1
    assert PedAnovaEvaluator(baseline="uniform").evaluate(study)["x"] > 0.1
    refuse(QueryError, "2", of=lambda: PedAnovaEvaluator(target=2))


def test_a_maximised_objective_is_scored_on_its_best_part() -> None:
    """x decides who is at the top, y who is at the bottom."""

    def objective(trial: Trial) -> tuple[float, float]:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        gain = 5.0 if x > 0.9 else (-5.0 if y > 0.9 else 0.01 * (x + y))
        return gain, -gain

    study = optuna.create_study(directions=["maximize", "minimize"], sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=300)
    for target in (lambda t: t.values[0], lambda t: t.values[1], lambda t: -t.values[0], None):
        found = PedAnovaEvaluator(estimator="counts").evaluate(study, target=target)
        assert found["x"] > 5 * found["y"]


def test_plots(study: optuna.Study) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    axes = optuna.visualization.matplotlib.plot_param_importances(study, evaluator=PedAnovaEvaluator())
    assert {text.get_text() for text in axes.get_yticklabels()} >= {"x", "y", "idle"}
    plotly = pytest.importorskip("plotly")
    figure = optuna.visualization.plot_param_importances(study, evaluator=PedAnovaEvaluator())
    assert isinstance(figure, plotly.graph_objects.Figure)
    bars = dict(zip(figure.data[0].y, figure.data[0].x, strict=True))
    assert bars == pytest.approx(get_param_importances(study, evaluator=PedAnovaEvaluator()))


def test_the_dashboard_asks_by_a_wrapped_study(study: optuna.Study) -> None:
    """optuna-dashboard hands over a study of its own kind, which knows nothing but its trials."""

    class Wrapper(optuna.Study):
        def __init__(self) -> None:
            super().__init__(study.study_name, study._storage)

        def get_trials(self, deepcopy: bool = True, states: object = None) -> list[optuna.trial.FrozenTrial]:
            return [trial for trial in study.trials if states is None or trial.state in states]  # type: ignore[operator]

    found = PedAnovaEvaluator().evaluate(Wrapper(), target=lambda trial: trial.values[0])
    assert found == PedAnovaEvaluator().evaluate(study)


def test_constraints_and_tied_objectives() -> None:
    study = optuna.create_study()
    study.optimize(lambda trial: 0.0 * trial.suggest_float("x", 0, 1), n_trials=20)
    with pytest.warns(UserWarning, match="cannot be computed"):
        assert PedAnovaEvaluator().evaluate(study) == {"x": 0.0}
    sampler = optuna.samplers.NSGAIISampler(seed=0, constraints_func=lambda t: (t.params["x"] - 0.5,))
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda t: -t.suggest_float("x", 0, 1) + 0.01 * t.suggest_float("y", 0, 1), n_trials=100)
    assert PedAnovaEvaluator(estimator="counts").evaluate(study)["x"] > 0.2  # best just below 0.5


def test_without_optuna_the_remedy_is_named() -> None:
    code = (
        "import sys; sys.modules['optuna'] = None; sys.modules['optuna.importance'] = None\n"
        "try:\n    import pedanova.integrations.optuna\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'optuna>=" in done.stdout


def test_many_trials_are_quickly_read() -> None:
    """Equal distributions that are different objects, as databases give them, are one."""
    study = optuna.create_study()
    for i in range(50):
        study.add_trial(
            optuna.create_trial(
                params={"x": i / 50}, distributions={"x": optuna.distributions.FloatDistribution(0, 1)}, value=i
            )
        )
    assert pa.analyze(study).space["x"] == pa.Float(0.0, 1.0)
    assert np.isfinite(list(PedAnovaEvaluator().evaluate(study).values())).all()
