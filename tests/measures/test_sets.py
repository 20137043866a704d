"""Sets of three and more: exact values on lattices, the algebra of the decomposition, chance, and refusals."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.base.kernel import library as kernel
from pedanova.counting.pairs import count_by_judge, count_sets
from pedanova.errors import QueryError, UnknownParameterError
from pedanova.measures.additive import set_design, set_shares
from pedanova.measures.interactions import groups_of

SIZES = (4, 3, 5, 2)
PLAIN: dict[str, Any] = {"corrected": False, "estimator": "counts"}


def lattice(sizes: tuple[int, ...], seed: int) -> tuple[pa.Analysis, np.ndarray]:
    """Every configuration once, its objective at random; and which of them are in the best quarter."""
    axes = np.indices(sizes).reshape(len(sizes), -1)
    loss = np.random.default_rng(seed).normal(size=axes.shape[1])
    space = {f"p{i}": pa.Ordinal(list(range(size))) for i, size in enumerate(sizes)}
    a = pa.analyze({f"p{i}": axis for i, axis in enumerate(axes)}, loss, space=space, direction="minimize")
    inside = loss <= np.sort(loss)[int(np.ceil(0.25 * len(loss))) - 1]
    return a, inside.reshape(sizes).astype(float)


def closed(inside: np.ndarray, names: tuple[int, ...]) -> float:
    others = tuple(i for i in range(inside.ndim) if i not in names)
    return float((inside.mean(axis=others) if others else inside).var() / inside.var())


def term(inside: np.ndarray, names: tuple[int, ...]) -> float:
    """By inclusion and exclusion: what a set explains beyond all its smaller sets."""
    smaller = [s for size in range(1, len(names)) for s in combinations(names, size)]
    return closed(inside, names) - sum(term(inside, s) for s in smaller)


def places(names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(name[1]) for name in names)


class TestExactValues:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("order", [3, 4])
    def test_enumeration(self, order: int, seed: int) -> None:
        a, inside = lattice(SIZES, seed)
        found = a.interactions(0.25, order=order, cells=5, **PLAIN)
        assert len(found) == {3: 4, 4: 1}[order]
        for row in found.rows:
            assert row.interaction == pytest.approx(term(inside, places(row.names)), abs=1e-12)
            assert row.closed == pytest.approx(closed(inside, places(row.names)), abs=1e-12)

    def test_terms_of_all_orders_add_up_to_all(self) -> None:
        """The whole set knows every configuration, so nothing is left over."""
        a, _ = lattice(SIZES, 1)
        singles = sum(row.raw_share for row in a.importance(0.25, estimator="counts", draws=0).rows)
        pairs = sum(row.interaction for row in a.interactions(0.25, cells=5, **PLAIN).rows)
        larger = [sum(row.interaction for row in a.interactions(0.25, order=k, cells=5, **PLAIN).rows) for k in (3, 4)]
        assert singles + pairs + sum(larger) == pytest.approx(1.0, abs=1e-12)

    def test_effects_of_the_indicator(self) -> None:
        """`effects` of 0/1 as an objective has the same shares: two ways, one variance."""
        a, inside = lattice(SIZES, 2)
        data = {f"p{i}": axis for i, axis in enumerate(np.indices(SIZES).reshape(4, -1))}
        e = pa.analyze(data, 1.0 - inside.ravel(), direction="minimize", space=a.space).effects()
        triples = a.interactions(0.25, order=3, cells=5, **PLAIN)
        pairs = a.interactions(0.25, cells=5, **PLAIN)
        for row in triples.rows:
            lower = sum(e[name].raw_share for name in row.names)
            lower += sum(pairs[pair].interaction for pair in combinations(row.names, 2))
            assert row.lower == pytest.approx(lower, abs=1e-12)

    def test_exclusive_or(self) -> None:
        """Parity of three: nothing alone, nothing in pairs, all together."""
        axes = np.indices((2, 2, 2, 10)).reshape(4, -1)
        names = ["a", "b", "c", "again"]
        a = pa.analyze(
            dict(zip(names, axes, strict=True)), axes[:3].sum(axis=0) % 2, direction="minimize", params=names
        )
        found = a.interactions(pa.at_most(0), order=3, **PLAIN)
        assert found["c", "a", "b"].interaction == pytest.approx(1.0)
        assert found["c", "a", "b"].lower == pytest.approx(0.0, abs=1e-12)
        assert found["a", "b", "again"].interaction == pytest.approx(0.0, abs=1e-12)
        assert found["a", "b", "c"].significant

    def test_where_rows_depend(self) -> None:
        """Weighted least squares by NumPy is the judge where cells hold unequal rows."""
        random = np.random.default_rng(5)
        region = random.integers(0, 9, 24)
        target = random.binomial(region, 0.3)
        cells = np.indices((2, 3, 4)).reshape(3, -1)
        columns = [
            np.equal.outer(cells[i] * 10 + cells[j], np.unique(cells[i] * 10 + cells[j]))
            for i, j in combinations(range(3), 2)
        ]
        design = np.concatenate(columns, axis=1).astype(float)
        root, full = np.sqrt(region), region > 0
        part = target.sum() / region.sum()
        fit = (
            design
            @ np.linalg.lstsq(root[:, None] * design, root * np.where(full, target / np.maximum(region, 1), 0))[0]
        )
        explained = float(region @ (fit - part) ** 2) / (region.sum() * part * (1 - part))
        mine = set_design(cells, region)
        assert set_shares(mine, target[mine.full])[1] == pytest.approx(explained, abs=1e-10)


class TestCounting:
    @pytest.mark.skipif(not kernel.available(), reason="the kernel is not built")
    @pytest.mark.parametrize("order", [3, 4, 5])
    def test_kernel_and_judge_agree(self, order: int) -> None:
        random = np.random.default_rng(order)
        data: dict[str, Any] = {f"x{i}": random.random(3_000) for i in range(4)}
        data["c"] = random.choice(["a", "b", "c"], 3_000)
        data["x0"][::7] = np.nan
        a = pa.analyze(data, random.random(3_000), direction="minimize")
        contrasts, _, _ = a.ask(0.2, 0.8)
        codes = a._codes(a._as_rows(0.2, "target"), a._as_rows(0.8, "region"))
        groups = groups_of(contrasts, 3)
        sets = list(combinations(groups, order))
        both = [count(a.observations, codes, groups, sets, threads=2) for count in (count_sets, count_by_judge)]
        np.testing.assert_array_equal(*both)
        assert both[0].sum(axis=(1, 2)).tolist() == [2_400] * len(sets)


class TestQuestions:
    def test_columns_in_any_order_and_rows_in_any_order(self) -> None:
        random = np.random.default_rng(0)
        data = {name: random.integers(0, 3, 600) for name in "abcd"}
        loss = (data["a"] + data["b"] * data["c"]) % 3 + 0.1 * random.random(600)
        whole = pa.analyze(data, loss, direction="minimize", params=list("abcd")).interactions(0.2, order=3, **PLAIN)
        turned = {name: data[name][::-1] for name in "dbca"}
        other = pa.analyze(turned, loss[::-1], direction="minimize", params=list("dbca"))
        again = other.interactions(0.2, order=3, **PLAIN)
        for names in whole:
            for order in permutations(names):
                assert again[order].interaction == pytest.approx(whole[names].interaction, abs=1e-12)

    def test_many_parameters_are_chosen_by_their_pairs(self) -> None:
        random = np.random.default_rng(1)
        data = {f"x{i}": random.integers(0, 3, 4_000) for i in range(20)}
        loss = 1.0 * (data["x17"] != data["x3"]) + 1.0 * (data["x3"] != data["x11"]) * (data["x17"] == data["x3"])
        a = pa.analyze(data, loss + 0.01 * random.random(4_000), direction="minimize", params=list(data))
        found = a.interactions(0.1, order=3, estimator="counts")
        assert len(found) == 220
        assert any("8 parameters" in note for note in found.notes)
        assert set(found.rows[0].names) == {"x3", "x11", "x17"}
        assert len(a.interactions(0.1, order=3, params=["x0", "x1", "x2", "x3"], estimator="counts")) == 4

    @pytest.mark.slow
    def test_chance_alone(self) -> None:
        """Chances that are sums of effects of pairs: p-values are not small more often than they say."""
        small = []
        for seed in range(150):
            random = np.random.default_rng([seed, 8])
            x = random.integers(0, 4, (500, 3))
            chance = 0.1 + 0.3 * (x[:, 0] == x[:, 1]) + 0.05 * x[:, 2] + 0.2 * (x[:, 1] > 1) * (x[:, 2] > 1)
            a = pa.analyze(
                dict(zip("abc", x.T, strict=True)), 1.0 * (random.random(500) > chance), direction="minimize",
                params=list("abc"),
            )  # fmt: skip
            small.append(a.interactions(pa.at_most(0), order=3, seed=seed, estimator="counts").rows[0].p_value)
        assert np.mean(np.array(small) <= 0.05) <= 0.1  # 0.05 and three deviations
        assert 0.35 <= np.mean(np.array(small) <= 0.5) <= 0.65

    @pytest.mark.slow
    def test_a_model_of_few_rows(self) -> None:
        random = np.random.default_rng(3)
        x = random.random((300, 4))
        loss = (x[:, 0] - 0.5) ** 2 + (x[:, 1] - 0.5) ** 2 + (x[:, 2] - 0.5) ** 2 + 0.01 * x[:, 3]
        a = pa.analyze({f"x{i}": x[:, i] for i in range(4)}, loss, direction="minimize")
        found = a.interactions(order=3)
        assert found.estimator == "surrogate"
        assert set(found.rows[0].names) == {"x0", "x1", "x2"}
        assert found.rows[0].interaction > max(0.05, 3 * found.rows[1].interaction)

    def test_forms(self) -> None:
        a, _ = lattice(SIZES, 0)
        found = a.interactions(0.25, order=3, estimator="counts")
        assert list(found.to_dict())[:4] == ["parameter_1", "parameter_2", "parameter_3", "interaction"]
        assert "by sets of 3" in str(found)
        assert "p0 × p1 × p2" in found.to_text()
        assert "<table" in found._repr_html_()
        assert ("p2", "p1", "p0") in found
        inner = a.interactions(0.25, {"p3": [1]}, order=3, estimator="counts", params=["p0", "p1", "p2"])
        assert len(inner) == 1

    def test_refusals(self) -> None:
        a, _ = lattice(SIZES, 0)
        found = a.interactions(0.25, order=3, estimator="counts")
        refuse(UnknownParameterError, "3 different names", of=lambda: found["p0", "p1"])
        for wrong in (1, 6, "3", 2.5):
            refuse(QueryError, "order", of=lambda wrong=wrong: a.interactions(0.25, order=wrong))
        refuse(QueryError, "order=5", "4 parameters", of=lambda: a.interactions(0.25, order=5))
        refuse(QueryError, "cells=9", "at most 6", of=lambda: a.interactions(0.25, order=4, cells=9))
