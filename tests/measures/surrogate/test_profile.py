"""A profile says of every target what `importance` says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.data.regions import Region
from pedanova.errors import LevelsError, QueryError
from pedanova.measures.importance import Importance

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    """Few rows, so that a model answers; ties in the objective, and a parameter that is not always active."""
    random = np.random.default_rng(0)
    x, y, z = random.random((3, 300))
    kind = np.where(random.random(300) < 0.5, "sgd", "adam")
    momentum = np.where(kind == "sgd", z, np.nan)
    loss = (x - 0.3) ** 2 + 0.3 * y + 0.2 * (kind == "sgd") * z + 0.05 * random.random(300)
    table = {"x": x, "y": y, "kind": kind, "momentum": momentum, "loss": np.round(loss, 2)}
    return pa.analyze(table, "loss")


def plain(rows: tuple[Importance, ...]) -> list[Importance]:
    """Without what hangs on the number of draws."""
    return [replace(row, low=None, high=None, p_value=None, p_adjusted=None, significant=None) for row in rows]


@pytest.mark.parametrize("estimator", ["auto", "counts"])
@pytest.mark.parametrize("region", [1.0, 0.5, pa.at_most(0.3)], ids=str)
def test_every_step_is_that_importance(a: pa.Analysis, region: object, estimator: str) -> None:
    profile = a.profile(region, estimator=estimator)
    assert profile.estimator == ("counts" if estimator == "counts" else "surrogate")
    assert len(profile) >= 3
    for step in list(profile)[:: 1 if estimator != "counts" else 4]:
        alone = a.importance(step.quantile, region, estimator=estimator, force=True)
        assert plain(alone.rows) == list(step.rows)


@pytest.mark.parametrize("baseline", ["region", "uniform"])
def test_the_same_seed_and_draws_give_the_same_intervals(a: pa.Analysis, baseline: str) -> None:
    options = {"baseline": baseline, "draws": 300, "seed": 7}
    profile = a.profile(0.6, ladder=[0.07, 0.25], **options)
    assert [float(step.quantile) for step in profile] == [0.07, 0.25]
    for step in profile:
        assert step.rows == a.importance(step.quantile, 0.6, **options).rows
    assert a.profile(ladder=[0.1], seed=1).steps != a.profile(ladder=[0.1], seed=2).steps


def test_shares_hang_on_no_number_of_draws(a: pa.Analysis) -> None:
    found = [plain(a.importance(0.1, 0.5, draws=draws).rows) for draws in (0, 100, 2000)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_bands_begin_where_the_region_begins(direction: str) -> None:
    random = np.random.default_rng(1)
    x, y = random.random((2, 400))
    loss = np.round((x - 0.3) ** 2 + 0.2 * y, 3) * (1 if direction == "minimize" else -1)
    b = pa.analyze({"x": x, "y": y, "loss": loss}, "loss", direction=direction)
    for step in b.profile(pa.between(0.1, 0.6)):
        target = pa.between(0.1, float(step.quantile))
        assert plain(b.importance(target, pa.between(0.1, 0.6), force=True).rows) == list(step.rows)
    low, high = sorted(np.quantile(loss, (0.2, 0.8)))
    region = pa.between(low, high, values=True)
    for step in b.profile(region):
        end = float(b.data.reach(step.quantile)[0])
        target = Region("value", *((low, end) if direction == "minimize" else (end, high)))
        assert plain(b.importance(target, region, force=True).rows) == list(step.rows)


def test_a_box_is_profiled_as_it_is_asked(a: pa.Analysis) -> None:
    profile = a.profile({"x": (0, 0.5)})
    assert profile.estimator == "surrogate"
    for step in list(profile)[::6]:
        alone = a.importance(step.quantile, {"x": (0, 0.5)}, force=True)
        assert plain(alone.rows) == list(step.rows)
    odd = np.arange(300) % 2 == 0
    assert a.profile(odd).estimator == "counts"
    with pytest.raises(QueryError, match=r"do not form a box.*use estimator='counts'"):
        a.profile(odd, estimator="surrogate")


def test_a_model_is_asked_at_every_target_that_was_counted(a: pa.Analysis) -> None:
    asked, counted = ([float(step.quantile) for step in a.profile(estimator=who)] for who in ("auto", "counts"))
    assert asked == counted
    assert len(asked) > 20
    own = pa.analyze({"x": np.arange(90) / 90, "loss": np.arange(90) % 31}, "loss", levels=[0.25, 0.75])
    assert [float(step.quantile) for step in own.profile(estimator="counts")] == [0.25, 0.75]


def test_notes_tell_who_answered_and_what_is_missing(a: pa.Analysis, tmp_path: Path) -> None:
    assert "answered by a model of the objective (rank correlation" in a.profile().notes[-1]
    assert "estimator='counts'" in a.profile().notes[-1]
    found = a.profile(0.5, ladder=[0.1, 0.5, 0.9], estimator="counts")
    assert found.notes == ("targets that contain no row or all rows of the region are left out: 50 %, 90 %",)
    a.save(tmp_path / "a.pedanova", rows=False)
    kept = pa.load(tmp_path / "a.pedanova")
    assert "with 300 rows a model would be more accurate" in kept.profile().notes[-1]
    refuse(LevelsError, "the best 1.7 % cannot be counted", of=lambda: kept.profile(ladder=[0.017]))
    refuse(QueryError, "ladder='0.1' must be a list", of=lambda: a.profile(ladder="0.1"))
    refuse(QueryError, "ladder=3 must be a quantile", of=lambda: a.profile(ladder=[3]))
    refuse(QueryError, "estimator='x' must be", of=lambda: a.profile(estimator="x"))


def bands(ax: Any) -> dict[float, list[float]]:
    """Where every band ends, by place on the axis."""
    ends: dict[float, list[float]] = {}
    for band in ax.collections:
        corners = band.get_paths()[0].vertices
        for place in np.unique(corners[:, 0]):
            ends.setdefault(float(place), []).append(corners[corners[:, 0] == place, 1].max())
    return ends


def test_figures_draw_the_numbers_of_importance(a: pa.Analysis) -> None:
    ax = a.plot.profile(0.8)
    names = [label.get_text() for label in ax.get_legend().get_texts()][::-1]
    for place, ends in bands(ax).items():
        found = a.importance(round(place / 100, 6), 0.8, force=True)
        assert ends == pytest.approx(list(np.cumsum([100 * found[name].ratio for name in names])))
    plt.close("all")
