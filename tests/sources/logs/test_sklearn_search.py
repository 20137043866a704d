"""scikit-learn's searches: fitted objects, their results as dicts, frames and CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeRegressor

import pedanova
from helpers.common import refuse
from helpers.logs import cells, tolerate
from pedanova import Categorical, Float, Int, Ordinal, Space
from pedanova.errors import DataError, SpaceError
from pedanova.sources import read_records

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = X[:, 0] + RANDOM.normal(size=60) / 10
GRID = {"max_depth": [None, 1, 3], "min_samples_leaf": [5, 1], "criterion": ["squared_error", "absolute_error"]}


@pytest.fixture(scope="module")
def grid() -> Any:
    return GridSearchCV(DecisionTreeRegressor(random_state=0), GRID, cv=2).fit(X, Y)


def test_a_grid(grid: Any) -> None:
    records = read_records(grid)
    assert records.metadata.source == "scikit-learn GridSearchCV"
    assert records.metadata.objectives == ("mean_test_score",)
    assert records.metadata.directions == ("maximize",)
    assert records.metadata.space == Space(
        {
            "max_depth": Categorical(("None", 1, 3)),
            "min_samples_leaf": Ordinal((1, 5)),
            "criterion": Categorical(("squared_error", "absolute_error")),
        }
    )
    assert cells(records, "mean_test_score") == grid.cv_results_["mean_test_score"].tolist()
    a = pedanova.analyze(grid, scan=pedanova.Scan(threads=1))
    assert not any("outside" in note or "minimised" in note for note in a.notes)
    assert set(a.data.tallies) == set(GRID)
    assert all(tally.counts[..., -2:].sum() == 0 for tally in a.data.tallies.values())  # none missing, none outside


@pytest.mark.parametrize("library", [pd, pl])
def test_results_in_any_form(grid: Any, tmp_path: Path, library: Any) -> None:
    results = grid.cv_results_
    frame = pd.DataFrame(results)
    frame.to_csv(tmp_path / "cv.csv")
    plain = (
        frame if library is pd else pl.DataFrame({name: list(values) for name, values in results.items()}, strict=False)
    )
    for data in (results, plain, tmp_path / "cv.csv"):
        records = read_records(data)
        assert set(records.metadata.params) == set(GRID)
        assert records.metadata.directions == ("maximize",)
        assert cells(records, "mean_test_score") == pytest.approx(results["mean_test_score"].tolist())
        assert cells(records, "max_depth").count("None") == 4
    without = frame.drop(columns="params")
    assert set(read_records(without).metadata.params) == set(GRID)


def test_several_searches_in_one_table(grid: Any) -> None:
    once = pd.DataFrame(grid.cv_results_)
    both = pd.concat([once.assign(model="tree", note="first"), once.assign(model="forest", note="second")])
    both["note"] = [f"{note} {row}" for row, note in enumerate(both["note"])]
    for frame in (both, both.drop(columns="params")):
        records = read_records(frame)
        assert set(records.metadata.params) == {*GRID, "model"}
        assert cells(records, "model") == ["tree"] * len(once) + ["forest"] * len(once)


def test_drawn_settings() -> None:
    laws = {
        "alpha": stats.loguniform(1e-4, 1e2),
        "tol": stats.uniform(0.1, 0.4),
        "max_iter": stats.randint(10, 20),
        "fit_intercept": [True, False],
        "solver": ["auto"],
    }
    search = RandomizedSearchCV(Ridge(), laws, n_iter=12, cv=2, random_state=0).fit(X, Y)
    space = read_records(search).metadata.space
    assert space == Space(
        {
            "alpha": Float(1e-4, 1e2, log=True),
            "tol": Float(0.1, 0.5),
            "max_iter": Int(10, 19),
            "fit_intercept": Categorical((True, False)),
            "solver": Categorical(("auto",)),
        }
    )
    assert "alpha" in pedanova.analyze(search, scan=pedanova.Scan(threads=1)).data.tallies
    laws["alpha"] = stats.expon()  # without an upper bound: what was tried
    other = read_records(RandomizedSearchCV(Ridge(), laws, n_iter=4, cv=2, random_state=0).fit(X, Y))
    tried = cells(other, "alpha")
    assert other.metadata.space == Space(dict(space) | {"alpha": Float(min(tried), max(tried))})
    assert any("without bounds" in str(note) and "alpha" in str(note) for note in other.notes)


def test_the_bounds_of_a_search_for_its_saved_results(tmp_path: Path) -> None:
    """`cv_results_` alone have no bounds: `param_distributions` are passed as the space."""
    laws = {
        "alpha": stats.loguniform(1e-4, 1e2),
        "tol": stats.beta(2, 3),
        "positive": [True, False],
        "max_iter": [9, 5],
    }
    search = RandomizedSearchCV(Ridge(), laws, n_iter=40, cv=2, random_state=0).fit(X, Y)
    path = tmp_path / "results.csv"
    pd.DataFrame(search.cv_results_).to_csv(path)
    a = pedanova.analyze(path, space=search.param_distributions, scan=pedanova.Scan(threads=1))
    assert a.data.space == read_records(search).metadata.space
    assert a.data.space["tol"] == Float(0.0, 1.0)
    assert a.data.space["max_iter"] == Ordinal((5, 9))
    laws["alpha"] = stats.norm()
    refuse(SpaceError, "alpha", "no bounds", "pa.Float", of=lambda: pedanova.space_from(laws))
    assert pedanova.space_from(laws | {"alpha": Float(0, 1)})["alpha"] == Float(0, 1)


def test_several_scores_and_refit() -> None:
    scoring = {"r2": "r2", "mse": "neg_mean_squared_error"}
    grid = {"max_depth": [1, 2, 3, 4]}
    free = GridSearchCV(DecisionTreeRegressor(), grid, cv=2, scoring=scoring, refit=False).fit(X, Y)
    assert read_records(free).metadata.objectives == ("mean_test_r2", "mean_test_mse")
    one = GridSearchCV(DecisionTreeRegressor(), grid, cv=2, scoring=scoring, refit="mse").fit(X, Y)
    told = read_records(one).metadata
    assert told.objectives == ("mean_test_mse",)
    assert told.metrics == ("mean_test_r2", "mean_test_mse")
    a = pedanova.analyze(
        one, "mean_test_r2", scan=pedanova.Scan(threads=1)
    )  # not the one it was fitted for, yet a score
    assert a.data.levels.direction == "maximize"
    assert not any("minimised" in note for note in a.notes)


@pytest.mark.filterwarnings("ignore")  # scikit-learn tells of the fits that fail, as it should
def test_fits_that_fail() -> None:
    grid = {"max_depth": [1, 2, -7, 4]}
    search = GridSearchCV(DecisionTreeRegressor(), grid, cv=2).fit(X, Y)
    assert cells(read_records(search), "state") == ["COMPLETE", "COMPLETE", "FAIL", "COMPLETE"]


@pytest.mark.filterwarnings("ignore")
def test_halving() -> None:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV

    grid = {"max_depth": stats.randint(1, 6), "min_samples_leaf": stats.randint(1, 6)}
    search = HalvingRandomSearchCV(DecisionTreeRegressor(), grid, random_state=0, min_resources=10).fit(X, Y)
    records = read_records(search)
    assert records.metadata.where == "iter == 0"  # where most candidates were compared
    assert cells(records, "n_resources")[0] == 10
    a = pedanova.analyze(search, scan=pedanova.Scan(threads=1))
    assert any("rows with iter == 0 are used" in note for note in a.notes)


def test_a_setting_called_iter() -> None:
    results = {"params": [{"iter": n} for n in range(6)], "mean_test_score": [0.1] * 6, "iter": [0, 0, 0, 0, 1, 1]}
    records = read_records(results)
    assert records.metadata.where == "iter_ == 0"
    assert cells(records, "iter_") == [0, 0, 0, 0, 1, 1]


def test_estimators_as_values() -> None:
    pipe = Pipeline([("model", Ridge())])
    grids = [{"model": [Ridge(), KNeighborsRegressor()]}, {"model": [Ridge()], "model__alpha": [1.0, 2.0]}]
    records = read_records(GridSearchCV(pipe, grids, cv=2).fit(X, Y))
    assert cells(records, "model") == ["Ridge", "KNeighborsRegressor", "Ridge", "Ridge"]
    assert cells(records, "model__alpha") == [None, None, 1.0, 2.0]
    assert records.metadata.space is None  # two grids are no one space


def test_odd_grids() -> None:
    results = {"mean_test_score": [0.1, 0.2, 0.3], "params": [{"a": np.int64(1), "b": (1, 2), "c": len}] * 3}
    assert read_records(results).metadata.params == ("a", "b", "c")

    class Search:
        estimator, cv_results_, refit = None, results, True
        param_grid: Any = None

    Search.param_grid = {"a": np.array([1, 2]), "b": [(1, 2)], "c": [len]}
    assert read_records(Search()).metadata.space == Space(
        {"a": Ordinal((1, 2)), "b": Categorical(("(1, 2)",)), "c": Categorical(("len",))}
    )
    for odd in ({"a": "text"}, {"a": []}, {"a": [1]}, [], None, {"a": [float("nan")], "b": [1], "c": [1]}):
        Search.param_grid = odd
        assert read_records(Search()).metadata.space is None


def test_what_cannot_be_read(grid: Any) -> None:
    unfitted = GridSearchCV(DummyClassifier(), {"strategy": ["prior"]})
    refuse(DataError, "GridSearchCV is not fitted", "fit(X, y)", of=lambda: read_records(unfitted))
    refuse(DataError, "'x'", "leave this option out", of=lambda: read_records(grid, study="x"))
    short = {"mean_test_score": [1.0, 2.0], "param_a": [1]}
    refuse(DataError, "'param_a' has 1 rows", of=lambda: read_records(short))
    refuse(DataError, "'mean_test_score' is 3", of=lambda: read_records({"mean_test_score": 3, "params": []}))
    refuse(DataError, "no trials", of=lambda: read_records({"mean_test_score": [], "params": []}))


ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just({"a": 1}) | st.just(())


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["mean_test_score", "mean_test_x", "params", "param_a", "iter"]), st.lists(ODD)))
def test_any_results(results: dict[str, list[Any]]) -> None:
    tolerate(lambda: pedanova.analyze({"params": [], "mean_test_score": []} | results, scan=pedanova.Scan(threads=1)))


def test_a_column_of_a_parameter_that_the_dicts_do_not_have_is_a_parameter() -> None:
    rows = [(c, k) for c in (1, 10, 100) for k in (2, 5, 10)] * 4
    table = {
        "mean_fit_time": [0.1] * 36,
        "params": [{"C": c} for c, _ in rows],
        "param_C": [c for c, _ in rows],
        "mean_test_score": [(i * 7 % 36) / 40 for i in range(36)],
        "param_k": [k for _, k in rows],
    }
    assert set(pedanova.analyze(table).space) == {"C", "k"}


@pytest.mark.parametrize("written", ["params", "no params", "Excel"])
def test_none_in_a_file_is_a_value(tmp_path: Path, written: str) -> None:
    """A CSV file of `cv_results_` has an empty cell for None, and also where a parameter is not active."""
    grid = [{"depth": depth, "rate": rate} for depth in (None, 2, 4) for rate in (0.1, 0.2, 0.4)]
    grid += [{"rate": rate, "drop": drop} for rate in (1.1, 2.2, 3.3) for drop in (0.5, 0.7, 0.9)]
    frame = pd.DataFrame({
        "mean_fit_time": 0.1, "param_depth": pd.Series([one.get("depth") for one in grid], dtype=object),
        "param_rate": [one["rate"] for one in grid], "param_kind": ["a"] * 9 + ["b"] * 9,
        "param_drop": [one.get("drop") for one in grid], "params": [*map(str, grid)],
        "mean_test_score": [0.5 + i / 40 for i in range(18)],
    })  # fmt: skip
    if written == "no params":
        frame = frame.iloc[:9].drop(columns=["params", "param_kind", "param_drop"])
    file = tmp_path / ("cv.xlsx" if written == "Excel" else "cv.csv")
    frame.to_excel(file, index=False) if written == "Excel" else frame.to_csv(file, index=False)
    records = read_records(file)
    assert records.metadata.source == "scikit-learn results 'cv.csv'"
    assert cells(records, "depth")[:4] == ["None"] * 3 + [2]
    depth = pedanova.analyze(file).space["depth"]
    assert isinstance(depth, Categorical)
    assert set(depth.choices) == {2, 4, "None"}


def test_an_empty_cell_of_an_inactive_parameter_stays_empty() -> None:
    kinds = ["a"] * 9 + ["b"] * 9
    table = {
        "param_kind": kinds,
        "param_drop": [None] * 9 + [0.5, 0.7, 0.9] * 3,
        "mean_test_score": [i / 40 for i in range(18)],
    }
    assert cells(read_records(table), "drop") == table["param_drop"]


def test_errors_of_surprise_are_minimised() -> None:
    table = {"param_n": [1, 2, 3, 4], "mean_test_rmse": [0.9, 0.7, 0.8, 1.1], "rank_test_rmse": [3, 1, 2, 4]}
    metadata = read_records(pd.DataFrame(table | {"mean_test_time": [0.1, 0.2, 0.3, 0.4]})).metadata
    assert (metadata.objectives, metadata.directions) == (("mean_test_rmse",), ("minimize",))
