"""Figures of many studies and of two, of a prior, and of mean ranks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.families import family, prior_over
from pedanova.errors import QueryError, UnknownParameterError
from pedanova.measures.studies.pooling import rank_test
from pedanova.report.figures.studies import AcrossPlots, rank_bars
from pedanova.results import Across

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def study(seed: int, weight: float = 1.0) -> pa.Analysis:
    rng = np.random.default_rng(seed)
    lr, opt, other = rng.random(200), rng.choice(["adam", "sgd"], 200), rng.random(200)
    loss = weight * np.abs(lr - 0.3) + 0.1 * (opt == "sgd") + 0.05 * rng.random(200)
    table = {"lr": lr, "opt": opt, "cost $x$": other, "loss": loss}
    return pa.analyze(table, "loss", params=["lr", "opt", "cost $x$"])


@pytest.fixture(scope="module")
def found() -> Across:
    return pa.across({f"s{i}": study(i) for i in range(5)}, estimator="counts", draws=50)


@pytest.fixture(autouse=True)
def closed() -> object:
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def words_of(ax: object) -> str:
    ax.figure.draw_without_rendering()  # type: ignore[attr-defined]
    return " ".join(text.get_text() for text in ax.figure.findobj(matplotlib.text.Text))  # type: ignore[attr-defined]


def test_pooled_shares(found: Across) -> None:
    ax = found.plot.importance()
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([100 * max(0, row.share) for row in found.rows[::-1]])
    assert "over 5 studies" in words_of(ax)


def test_the_critical_difference_diagram(found: Across) -> None:
    words = words_of(found.plot.ranks())
    for name in ("lr", "opt", "critical difference", "Friedman"):
        assert name in words


def test_no_ranks_without_shared_parameters() -> None:
    one = pa.analyze({"a": np.random.default_rng(0).random(100), "loss": np.arange(100.0)}, "loss", params=["a"])
    found = pa.across({"x": one, "y": one}, estimator="counts", draws=0)
    refuse(QueryError, "no mean ranks", of=lambda: found.plot.ranks())


def test_two_studies() -> None:
    found = pa.difference(study(0), study(1, 0.1), names=("spring", "autumn"), estimator="counts", draws=50)
    assert {"spring", "autumn"} <= set(words_of(found.plot.importance()).split())
    axes = found.plot.densities()
    assert axes.size >= 3
    assert {"spring", "autumn"} <= set(words_of(axes.flat[0]).split())
    assert found.plot.densities("opt").get_ylabel() == "rows (%)"
    refuse(UnknownParameterError, "'lrr'", "lr", of=lambda: found.plot.densities("lrr"))


def test_a_prior_over_its_studies(found: Across) -> None:
    prior = prior_over(family(3, rows=120))
    plots = AcrossPlots(found, lambda: prior)
    axes = plots.prior(list(prior))
    by_name = dict(zip(prior, axes.flat, strict=False))
    assert [ax.get_xlabel() for ax in by_name.values()] == list(prior)
    assert by_name["lr"].get_legend_handles_labels()[1] == ["a study", "uniform", "prior"]
    curves = [one for one in by_name["lr"].patches if not one.get_fill()]
    assert len(curves) == 3 + 2  # studies, uniform, prior
    heights = curves[-1].get_data().values
    assert np.mean(heights) == pytest.approx(1.0, abs=0.01)  # even = 1
    bars = [one for one in by_name["optimizer"].patches if not one.get_fill()]
    assert sum(bars[-1].get_data().values) == pytest.approx(100.0)
    assert plots.prior("lr").get_xlabel() == "lr"
    refuse(UnknownParameterError, "nothing", of=lambda: plots.prior(["nothing"]))


@pytest.mark.parametrize("count", [2, 5, 9])
def test_bars_of_one_lane_do_not_touch(count: int) -> None:
    rng = np.random.default_rng(count)
    test = rank_test([str(i) for i in range(count)], rng.random((8, count)) + np.linspace(0, 0.8, count))
    bars = rank_bars(test)
    assert len(bars) == len(test.alike)
    for lane in {lane for *_, lane in bars}:
        spans = sorted((begin, end) for begin, end, own in bars if own == lane)
        assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(spans))
