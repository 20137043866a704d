"""Densities as panels: where marks stand, and which values are good."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.panels import Panel, good_ranges, panels_of, resampled, ticks


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
            assert abs(panel.place(float(label)) * columns - at) <= 1.5, (at, label)

    def test_parts_add_up_on_any_number_of_columns(self) -> None:
        parts = np.random.default_rng(0).dirichlet(np.ones(29))
        for columns in (7, 29, 100):
            assert resampled(parts, columns).sum() / columns == pytest.approx(1.0)

    def test_good_values_are_those_with_more_of_the_target(self) -> None:
        panel = self.panel("linear", 0, 100)
        target = np.where(np.arange(100) < 20, 0.04, 0.0025)
        one = Panel("x", "", "linear", panel.labels, panel.edges, target, panel.region).good()
        assert [(s.words, round(s.target, 2), round(s.base, 2)) for s in one] == [("0 … 20", 0.8, 0.2)]
        assert panel.good() == []
