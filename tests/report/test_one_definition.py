"""Terminal, page and figures say the same of one table: where good values lie, and on which scale."""

from __future__ import annotations

import re
from collections.abc import Iterator

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt

import pedanova as pa
from pedanova.report.page.cards import payload_of
from pedanova.report.terminal.curves import draw_densities
from pedanova.report.terminal.tables import TerminalStyle


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    """Good values on a narrow and on a wide hill, and everywhere else a bit of noise."""
    random = np.random.default_rng(4)
    rows = 3000
    x = 10 ** random.uniform(-5, 0, rows)
    units, step = random.integers(1, 200, rows), 5 * random.integers(0, 30, rows)
    near = np.minimum(np.abs(np.log10(x) + 3), 0.3 + 3 * np.abs(np.log10(x) + 1))
    kind = random.choice(["adam", "rmsprop", "sgd"], rows, p=[0.2, 0.3, 0.5])
    loss = near + np.abs(units - 60) / 200 + np.abs(step - 40) / 250 + 0.3 * (kind == "sgd")
    space = {
        "x": pa.Float(1e-5, 1, log=True),
        "units": pa.Int(1, 199),
        "step": pa.Int(0, 145, step=5),
        "kind": pa.Categorical(["adam", "rmsprop", "sgd"]),
    }
    table = {"x": x, "units": units, "step": step, "kind": kind}
    return pa.analyze(table, loss + random.normal(0, 0.3, rows), space=space)


def on_the_terminal(a: pa.Analysis, name: str) -> list[str]:
    """The ranges that are named, as they are worded."""
    shown = " ".join(draw_densities(a.densities(name, 0.1), TerminalStyle()).split())
    return re.findall(r"(?:values:|;) (.+?) \([\d.]+ % of", shown)


def on_the_page(a: pa.Analysis, name: str) -> tuple[list[list[float]], str]:
    """Both ends of every good range (or the numbers of its bars), and the ranges as they are worded."""
    made = payload_of(a.data, "", [(0.1, 1.0)], ladder=[0.1, 1.0], reduce=False, draws=0)
    good = made["answers"][0]["answer"]["densities"][name]["good"]
    return good["at"], good["words"]


def in_the_figure(a: pa.Analysis, name: str) -> list[float]:
    """The ends of the lines under good values; of bars, the outer edges of the values that they stand for."""
    lines = [line.get_xdata() for line in a.plot.densities(name, 0.1).lines if line.get_gid() == "good"]
    if a.densities(name, 0.1).drawn().bins.edges is not None:
        return [float(end) for line in lines for end in line]
    edges = a.densities(name, 0.1).edges
    assert edges is not None
    return [float(edges[round(end + shift)]) for line in lines for end, shift in zip(line, (0.4, 0.6), strict=True)]


@pytest.mark.parametrize("name", ["x", "units", "step"])
def test_good_values_are_the_same_everywhere(a: pa.Analysis, name: str) -> None:
    density = a.densities(name, 0.1)
    good = density.good()
    assert good
    assert density.edges is not None
    ends = [float(density.edges[at]) for one in good for at in (one.start, one.stop)]
    shown, words = on_the_page(a, name)
    np.testing.assert_allclose(shown, density.drawn().good, rtol=1e-5)
    assert on_the_terminal(a, name) == [one.words for one in good]
    assert words.split(", ") == [one.brief for one in good]
    cell = 0.02 if name == "x" else 3.0  # of which the figure shades half at each end
    drawn = in_the_figure(a, name)
    log = np.log10 if name == "x" else np.asarray
    np.testing.assert_allclose(log(drawn), log(ends), atol=cell)


def test_a_good_range_is_worth_a_word(a: pa.Analysis) -> None:
    """At least 5 % of the target more than of the region; single names are judged one by one."""
    for name in ("x", "units", "step", "kind"):
        density = a.densities(name, 0.1)
        for one in density.good():
            inside = slice(one.start, one.stop)
            excess = density.target[inside].sum() - density.region[inside].sum()
            assert excess >= 0.05
            assert one.target - one.base == pytest.approx(excess)
    assert [one.words for one in a.densities("kind", 0.1).good()] == on_the_page(a, "kind")[1].split(", ")
    assert all(one.stop - one.start == 1 for one in a.densities("kind", 0.1).good())


def test_a_narrow_log_range_is_drawn_on_a_log_scale_everywhere() -> None:
    random = np.random.default_rng(0)
    x = np.exp(random.uniform(0, np.log(3.9), 500))
    a = pa.analyze({"x": x}, (x - 2) ** 2, space={"x": pa.Float(1, 3.9, log=True)})
    assert "log scale" in draw_densities(a.densities("x"), TerminalStyle())
    made = payload_of(a.data, "", [(0.1, 1.0)], ladder=[0.1, 1.0], reduce=False, draws=0)
    assert made["facts"]["parameters"][0]["shape"]["log"] is True
    assert a.plot.densities("x").get_xscale() == "log"
    assert a.plot.effects("x").get_xscale() == "log"


def test_a_wide_linear_range_is_drawn_on_a_linear_scale_everywhere() -> None:
    random = np.random.default_rng(0)
    a = pa.analyze({"x": random.random(500)}, random.random(500), space={"x": pa.Float(1e-9, 1)})
    assert "log scale" not in draw_densities(a.densities("x"), TerminalStyle())
    assert a.plot.densities("x").get_xscale() == "linear"
    assert a.plot.effects("x").get_xscale() == "linear"
