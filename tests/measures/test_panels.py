"""Densities as panels: where marks stand, and which values are good."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.measures.bins import Panel, good_ranges, panels_of, rough, round_values, ticks


def test_good_ranges() -> None:
    base = np.full(6, 1.0)
    target = np.array([2, 2, 1, 0, 1.04, 3.0])
    assert good_ranges(target, base, ordered=True) == [(0, 2, 4.0, 2.0), (4, 6, 4.04, 2.0)]
    assert [one[:2] for one in good_ranges(target, base, ordered=False)] == [(0, 1), (1, 2), (5, 6)]
    assert good_ranges(base, base, ordered=True) == good_ranges(base, base, ordered=False) == []


def test_every_domain_of_a_switch_has_its_panel() -> None:
    space = pa.Switch("phase", {"early": pa.Float(1e-4, 1.0, log=True), "late": pa.Categorical(["a", "b"])})
    parts = np.full(1003, 1 / 1003)
    early, late = panels_of("x", space, [""] * 1003, parts, parts)
    assert (early.scale, early.domain, early.is_curve) == ("log", "where phase is early", True)
    assert (late.labels, late.is_curve) == (("a", "b"), False)


class TestPanels:
    def panel(self, scale: str, low: float, high: float, cells: int = 100) -> Panel:
        edges = np.geomspace(low, high, cells + 1) if scale == "log" else np.linspace(low, high, cells + 1)
        parts = np.full(cells, 1 / cells)
        return Panel("x", "", scale, ("",) * cells, edges, parts, parts)

    @pytest.mark.parametrize("columns", [20, 33, 72])
    @pytest.mark.parametrize(
        ("scale", "low", "high"),
        [("log", 1e-5, 1), ("log", 1e-300, 1e300), ("log", 3, 7), ("log", 1.0, 1.1), ("linear", 0, 1),
         ("linear", -1e9, 3e9), ("linear", 1e-9, 2e-9), ("linear", 5, 5.0001), ("linear", 0.5, 30.5)],
    )  # fmt: skip
    def test_marks_stand_where_their_numbers_lie(self, scale, low, high, columns) -> None:
        panel = self.panel(scale, low, high)
        marks = ticks(panel, columns)
        assert len(marks) >= 2
        for at, label in marks:
            assert abs(panel.place(float(label.replace(",", ""))) * columns - at) <= 1.5, (at, label)

    def test_good_values_are_those_with_more_of_the_target(self) -> None:
        panel = self.panel("linear", 0, 100)
        target = np.where(np.arange(100) < 20, 0.04, 0.0025)
        one = Panel("x", "", "linear", panel.labels, panel.edges, target, panel.region).good(target > 0.01)
        assert [(s.words, round(s.target, 2), round(s.base, 2)) for s in one] == [("0 to 20", 0.8, 0.2)]
        assert panel.good(np.ones(100, dtype=bool)) == []
        unclear = Panel("x", "", "linear", panel.labels, panel.edges, target, panel.region)
        assert unclear.good(np.zeros(100, dtype=bool)) == []  # within the band of chance


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.floats(0, 1))
def test_rough_ends_never_lie_beyond_the_bounds(low: float, width: float, part: float) -> None:
    high = low + width
    value = min(high, low + part * width)
    assert low <= float(rough(value, low, high).replace(",", "")) <= high or value in (low, high)


@pytest.mark.parametrize(("low", "high", "log"), [(1e-5, 1, True), (3, 7, True), (0, 1, False), (0.5, 200, False)])
def test_an_axis_has_few_round_numbers(low: float, high: float, log: bool) -> None:
    values = round_values(low, high, log=log)
    assert 2 <= len(values) <= 6
    assert all(low <= value <= high * (1 + 1e-12) for value in values)


def test_whole_numbers_are_told_within_their_bounds() -> None:
    """Epochs from 1 to 30, all of the target at the upper end."""
    random = np.random.default_rng(0)
    for high in (30, 300, 30_000):
        epochs = random.integers(1, high + 1, 2000)
        a = pa.analyze({"epochs": epochs}, -epochs, space={"epochs": pa.Int(1, high)})
        (good,) = a.densities("epochs", estimator="counts").good()
        first, last = (int(end.replace(",", "")) for end in good.words.split(" to "))
        assert 0.8 * high < first < high
        assert last == high
