"""What docs/paper.md says of the paper, run: exact values of its function, its identities, and every erratum."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS, contrast_of, four_dimensional
from pedanova.measures.importance import measure

ROOT = Path(__file__).parent.parent
NAMES = [f"x{d}" for d in range(1, 5)]
# Verified by convolution of the exact laws (two resolutions), enumeration and simulation.
EXACT = {
    (3, 0.1, 1.0): [3.729079759899105, 0.9070420241169157, 0.02840777681978124, 0.0012093369661094755],
    (3, 0.01, 0.1): [0.031370782110620166, 2.6491828620444844, 0.7843616318550894, 0.06521557885986295],
    (1, 0.1, 1.0): [3.514063183771216, 0.9504306101484175, 0.03273460719630661, 0.01180809222256829],
    (1, 0.01, 0.1): [0.18708822023251925, 1.2287547260317875, 1.155243320657375, 0.19082283944130962],
}


@pytest.fixture(scope="module")
def population() -> ModuleType:
    """The script that draws the exact lines into the figures."""
    sys.path.insert(0, str(ROOT / "experiments" / "paper"))
    try:
        return import_module("population")
    finally:
        sys.path.pop(0)


@pytest.mark.slow
class TestPopulation:
    @pytest.mark.parametrize(("shift", "target", "region"), EXACT)
    def test_divergences(self, population: ModuleType, shift: int, target: float, region: float) -> None:
        found = population.divergences(target, region, shift)
        np.testing.assert_allclose(found, EXACT[shift, target, region], rtol=2e-8, atol=1e-10)

    def test_thresholds(self, population: ModuleType) -> None:
        exact = {0.1: 1.6385678481863153, 0.01: 0.36224467138816063, 0.5: 8.478739338198158}
        for part, value in exact.items():
            assert population.threshold(part) == pytest.approx(value, rel=2e-9)

    def test_it_is_the_function_of_the_tests(self, population: ModuleType) -> None:
        x = np.random.default_rng(0).uniform(-5, 5, (1_000, 4))
        for shift in (1, 3):
            np.testing.assert_allclose(population.objective(x, shift), four_dimensional(x, inside_shift=shift))

    @pytest.mark.parametrize("shift", [1, 3])
    def test_fanova(self, population: ModuleType, shift: int) -> None:
        """f is a sum, so what `effects` finds on a fine sample are the variances of its terms."""
        x = np.random.default_rng(shift).uniform(-5, 5, (400_000, 4))
        data = {name: x[:, d] for d, name in enumerate(NAMES)}
        a = pa.analyze(data, four_dimensional(x, inside_shift=shift), space={name: pa.Float(-5, 5) for name in NAMES})
        found = a.effects()
        shares = np.array([max(0.0, found[name].share) for name in NAMES])
        np.testing.assert_allclose(shares / shares.sum(), population.fanova_ratios(shift), atol=0.002)

    def test_the_authors_densities_converge_to_something_else(self, population: ModuleType) -> None:
        """Of 6.9 % that x4 has locally, their widths leave 2 %; counts find it."""
        x = np.random.default_rng(3).uniform(-5, 5, (300_000, 4))
        data = {name: x[:, d] for d, name in enumerate(NAMES)}
        a = pa.analyze(data, four_dimensional(x, inside_shift=1), space={name: pa.Float(-5, 5) for name in NAMES})
        exact = population.ratios(0.01, 0.1, 1)[3]
        assert a.importance(0.01, 0.1, estimator="paper").ratios["x4"] < 0.4 * exact
        assert a.importance(0.01, 0.1, **COUNTS).ratios["x4"] == pytest.approx(exact, rel=0.25)


cells = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=12)


class TestIdentities:
    @given(cells)
    def test_the_theorem(self, counts: list[tuple[int, int]]) -> None:
        """m² · PED is the variance of E[in the target? | x], and m(1 - m) that of all: v / v0 is there to be had."""
        target = np.array([t for t, _ in counts])
        region = target + np.array([more for _, more in counts])
        if not 0 < target.sum() < region.sum() or np.count_nonzero(region) < 2:
            return
        row = measure(
            contrast_of(pa.Categorical(list(range(len(counts)))), target, region), baseline="region", smoothing="none"
        )
        x = np.repeat(np.arange(len(counts)), region)
        inside = np.concatenate([np.arange(c) < t for t, c in zip(target, region, strict=True)]).astype(float)
        means = np.array([inside[x == i].mean() if (x == i).any() else 0.0 for i in range(len(counts))])
        assert row.variance == pytest.approx(means[x].var(), abs=1e-12)
        assert row.raw_share == pytest.approx(means[x].var() / inside.var(), abs=1e-9)
        m = inside.mean()
        assert row.divergence <= (1 - m) / m + 1e-9


class TestErrata:
    def test_pairs_need_plus_one(self) -> None:
        """As printed, r12 - r1 - r2 - 1, a pair's variance is too large by 4m²: 5/16 for AND instead of 1/16."""
        a = pa.analyze(
            {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5}, [0.0, 1, 1, 1] * 5, direction="minimize", params=["a", "b"]
        )
        found = a.interactions(pa.at_most(0), corrected=False)["a", "b"].interaction
        m = 1 / 4
        assert found * m * (1 - m) == pytest.approx(1 / 16)
        inside, p1, p2 = np.array([[1.0, 0], [0, 0]]), np.array([[1.0], [0]]), np.array([[1.0, 0]])
        ratios = inside / 0.25, p1 / 0.5, p2 / 0.5  # densities over the uniform one
        terms = {sign: m**2 * np.mean((ratios[0] - ratios[1] - ratios[2] + sign) ** 2) for sign in (1, -1)}
        assert terms[1] == pytest.approx(1 / 16)
        assert terms[-1] == pytest.approx(5 / 16) == terms[1] + 4 * m**2

    def test_the_local_divergence_of_case_two_is_impossible(self) -> None:
        """8.97 is printed; no divergence exceeds (1 - m)/m, which is 8.4248 for 1 % in a disc of 3π/100."""
        m = 0.01 / (3 * np.pi / 100)
        assert (1 - m) / m == pytest.approx(8.4248, abs=1e-4)
        assert (1 - m) / m < 8.97

    def test_two_functions_have_one_name(self) -> None:
        """Printed and released, x1's local part is 0.9 % and 6.8 %: the figure is that of the code."""
        printed, released = (np.array(EXACT[shift, 0.01, 0.1]) for shift in (3, 1))
        figure = np.array([6.7, 44.4, 46.4, 2.5])
        off = [np.abs(100 * part / part.sum() - figure).sum() for part in (printed, released)]
        assert off[1] < 10 < 50 < off[0]

    def test_a_clipped_variance_first_rises(self) -> None:
        """min(x², 1) on [-L, L]: 4/45 at L = 1, more at 5/3, and 4/45 again at L = 5."""

        def variance(length: float) -> float:
            x = -length + (np.arange(60_060) + 0.5) * 2 * length / 60_060
            a = pa.analyze({"x": x}, x**2, direction="minimize", space={"x": pa.Float(-length, length)}, params=["x"])
            return a.effects(clip=pa.at_most(1.0)).total_variance

        assert variance(1.001) == pytest.approx(4 / 45, rel=5e-3)
        assert variance(5 / 3) == pytest.approx(0.16, rel=1e-4)
        assert variance(5.0) == pytest.approx(4 / 45, rel=1e-4)

    def test_local_shares_may_add_to_more_than_one(self) -> None:
        """On the diagonal of a square both parameters tell all: inclusion and exclusion find a pair where none is."""
        data = {"a": [0, 1, 0, 1] * 10, "b": [0, 1, 1, 0] * 10}
        a = pa.analyze(data, [0.0, 1, 2, 2] * 10, direction="minimize", params=["a", "b"])
        found = a.importance(pa.at_most(0), pa.at_most(1), **COUNTS)
        assert [found[name].raw_share for name in "ab"] == [pytest.approx(1.0)] * 2
        pair = a.interactions(pa.at_most(0), pa.at_most(1), corrected=False)["a", "b"]
        assert (pair.interaction, pair.redundancy) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0))

    def test_rows_by_int_lose_rows(self) -> None:
        """int(0.29 · 100) is 28: quantiles are exact decimals here."""
        a = pa.analyze({"x": np.arange(100)}, np.arange(100.0), direction="minimize", params=["x"])
        assert a.importance(0.29, **COUNTS).rows[0].n_target == 29
        assert int(0.29 * 100) == 28

    def test_a_posteriori_noise_scores_with_the_uniform_baseline(self) -> None:
        """γ = 1 against a uniform draw measures the sampler: what it drew unevenly scores, useless as it may be."""
        random = np.random.default_rng(0)
        x, noise = random.random(4_000), random.beta(2, 8, 4_000)
        a = pa.analyze({"x": x, "noise": noise}, np.abs(x - 0.3), direction="minimize",
                       space={"x": pa.Float(0, 1), "noise": pa.Float(0, 1)})  # fmt: skip
        uniform = a.importance(0.1, baseline="uniform", of="rows", **COUNTS)
        region = a.importance(0.1, of="rows", **COUNTS)
        assert uniform["noise"].divergence > 1.0
        assert region["noise"].divergence < 0.2


def test_every_claim_and_every_term_of_a_set_is_a_call() -> None:
    """v_s of all sets of four parameters, from single ones up, add to what is to be explained."""
    axes = np.indices((3, 3, 2, 2)).reshape(4, -1)
    loss = np.random.default_rng(7).random(36)
    data = dict(zip(NAMES, axes, strict=True))
    a = pa.analyze(data, loss, direction="minimize", params=NAMES)
    plain = {"corrected": False, "estimator": "counts", "cells": 3}
    total = sum(row.raw_share for row in a.importance(0.25, estimator="counts", draws=0).rows)
    total += sum(row.interaction for order in (2, 3, 4) for row in a.interactions(0.25, order=order, **plain).rows)
    assert total == pytest.approx(1.0)
    assert len(a.interactions(0.25, order=3, **plain)) == len(list(combinations(NAMES, 3)))


@pytest.mark.slow
def test_a_script_writes_its_figures_and_its_part_of_the_page(tmp_path: Path) -> None:
    script = ROOT / "experiments" / "paper" / "concepts.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True, capture_output=True)
    part = (tmp_path / "concepts.html").read_text(encoding="utf-8")
    assert len(list(tmp_path.glob("concept-*.png"))) == 6
    assert part.count("<figure>") == 6
    assert "8.97" in part  # as printed, beside ours


class TestDomains:
    """The paper's rules for a smaller space: p(x) ≥ u(x), and what is low twice is fixed."""

    @pytest.fixture
    def domains(self) -> ModuleType:
        sys.path.insert(0, str(ROOT / "experiments" / "paper"))
        try:
            return import_module("domains")
        finally:
            sys.path.pop(0)

    @pytest.mark.parametrize("estimator", ["counts", "paper"])
    def test_cells_at_least_as_dense_as_a_uniform_draw(self, domains: ModuleType, estimator: str) -> None:
        random = np.random.default_rng(0)
        x, kind, dull = random.random(8_000), random.choice(["a", "b", "c"], 8_000), random.integers(0, 3, 8_000)
        space = {"x": pa.Float(0, 1), "kind": pa.Categorical(["a", "b", "c"]), "dull": pa.Ordinal([0, 1, 2])}
        loss = np.abs(x - 0.2) + (kind == "c")
        a = pa.analyze({"x": x, "kind": kind, "dull": dull}, loss, space=space, direction="minimize")
        left = domains.paper_domains(a, estimator=estimator)
        assert left["kind"] == ["a", "b"]
        assert len(left["dull"]) == 1
        density = a.densities("x", estimator=estimator)
        dense = [cell for cell, good in zip(density.cells, density.target >= density.uniform, strict=True) if good]
        assert (left["x"][0], left["x"][-1]) == (dense[0], dense[-1])

    def test_pure_noise_is_cut_as_well(self, domains: ModuleType) -> None:
        random = np.random.default_rng(4)
        a = pa.analyze({"x": random.random(500)}, random.random(500), space={"x": pa.Float(0, 1)}, direction="minimize")
        assert len(domains.paper_domains(a)["x"]) < 1001
        assert a.reduce()["x"].advice == "undecided"
