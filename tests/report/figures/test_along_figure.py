"""The figure along a budget draws the numbers of `along`."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt

import pedanova as pa


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    rng = np.random.default_rng(0)
    x, z, dull = rng.random((3, 900))
    epochs = np.repeat([1, 5, 50], 300)
    return pa.analyze(
        {"x$": x, "z": z, "dull": dull, "epochs": epochs, "loss": np.where(epochs >= 5, z, x) ** 2}, "loss"
    )


def test_lines_bands_and_the_budget_from_which_on(a: pa.Analysis) -> None:
    how = {"estimator": "counts", "draws": 200}
    found, ax = a.along("epochs", **how), a.plot.along("epochs", **how)
    drawn = {tuple(np.round(line.get_ydata(), 9)) for line in ax.lines}
    for name in a.space:
        if name != "epochs":
            shares = tuple(np.round([100 * max(0.0, row.share) for _, row in found.of(name)], 9))
            assert shares in drawn
    assert len(ax.collections) == 2  # bands of what is no noise
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "5", "50"]
    assert any(list(line.get_xdata()) == [5, 5] for line in ax.lines)
    assert "At epochs 5 of 50" in " ".join(ax.get_title(loc="left").split())
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {r"x\$", "z"}
    plt.close("all")


def test_it_takes_axes_and_needs_no_intervals(a: pa.Analysis) -> None:
    axes = plt.subplots()[1]
    assert a.plot.along("epochs", estimator="counts", draws=0, ax=axes) is axes
    assert not axes.collections
    plt.close("all")
