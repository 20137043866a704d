"""Pairs: exact values, coarse cells, the questions that can be asked, and how it prints."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS, four_dimensional, refuse
from pedanova.base.kernel import library as kernel
from pedanova.counting.pairs import SetTally, coarse_groups, count_by_judge, count_sets, tally_sets
from pedanova.errors import LevelsError, QueryError, UnknownParameterError
from pedanova.measures.distributions import holm
from pedanova.measures.interactions import (
    design_of,
    explained,
    groups_of,
    measure_pairs,
    set_design,
    set_shares,
    shares_of,
)
from pedanova.results import Interactions
from pedanova.space.grid import grid_of

ONES = np.ones((3, 3), dtype=np.int64)
WIDE_TARGET = np.array([[6, 4, 2, 0], [3, 5, 1, 1], [0, 2, 1, 1]])
EXACT = {  # target, region, [ped1, ped2, ped12, share1, share2, closed, additive, interaction, redundancy]
    "and": (np.array([[1, 0], [0, 0]]), ONES[:2, :2], [1, 1, 3, 1 / 3, 1 / 3, 1, 2 / 3, 1 / 3, 0]),
    "balanced": (
        WIDE_TARGET,
        np.full((3, 4), 12),
        [
            0.15384615384615385,
            0.3136094674556213,
            0.7396449704142012,
            0.03389830508474576,
            0.06910039113428944,
            0.16297262059973924,
            0.10299869621903521,
            0.05997392438070404,
            0.0,
        ],
    ),
    "dependent": (
        WIDE_TARGET,
        np.array([[20, 10, 5, 2], [8, 15, 6, 6], [2, 5, 12, 9]]),
        [
            0.08290877521646753,
            0.13376917528009402,
            0.2306870479947403,
            0.02913011021119129,
            0.04699998050381682,
            0.08105220605220605,
            0.0561392932825191,
            0.024912912769686955,
            0.019990797432489014,
        ],
    ),
    "corner": (np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]]), ONES, [2 / 3, 2 / 3, 2, 1 / 3, 1 / 3, 1, 2 / 3, 1 / 3, 0]),
}
SIZES = (4, 3, 5, 2)
PLAIN: dict[str, Any] = {"corrected": False, "estimator": "counts"}


def square(table: np.ndarray) -> np.ndarray:
    """(1, side, side) with empty cells around, as pairs of unlike parameters have them."""
    side = max(table.shape) + 1
    padded = np.zeros((1, side, side), dtype=np.int64)
    padded[0, : table.shape[0], : table.shape[1]] = table
    return padded


def as_rows(target: np.ndarray, region: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows that have these counts, 0 for the target's objective."""
    first, second = np.indices(region.shape)
    data = {name: np.repeat(axis.ravel(), region.ravel()) for name, axis in (("a", first), ("b", second))}
    loss = np.concatenate([np.arange(c) >= t for t, c in zip(target.ravel(), region.ravel(), strict=True)])
    return data, loss.astype(float)


class TestExactValues:
    @pytest.mark.parametrize("name", EXACT)
    def test_tables(self, name: str) -> None:
        target, region, (_, _, _, share1, share2, closed, additive, interaction, redundancy) = EXACT[name]
        design = design_of(square(region))
        found = [float(part[0]) for part in shares_of(design, square(target), corrected=False)]
        expected = [interaction, closed, additive, redundancy, share1, share2]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)

    @pytest.mark.parametrize("name", EXACT)
    @pytest.mark.parametrize("turned", [False, True])
    def test_from_rows(self, name: str, turned: bool) -> None:
        target, region, (_, _, ped12, *_, interaction, redundancy) = EXACT[name]
        data, loss = as_rows(target, region)
        if turned:
            data = dict(reversed(data.items()))
        space = {key: pa.Ordinal(list(range(int(column.max()) + 1))) for key, column in data.items()}
        a = pa.analyze(data, loss, space=space)
        row = a.interactions(pa.at_most(0), cells=8, corrected=False)["a", "b"]
        part = target.sum() / region.sum()
        assert row.closed == pytest.approx(part / (1 - part) * ped12, rel=1e-12)
        assert (row.interaction, row.redundancy) == pytest.approx((interaction, redundancy), abs=1e-12)
        found = a.importance(pa.at_most(0), smoothing="none", **COUNTS)
        shares = {row.first: row.first_share, row.second: row.second_share}
        assert shares == pytest.approx({key: found[key].raw_share for key in data}, abs=1e-12)

    def test_the_sign_in_the_paper(self) -> None:
        """A wrong sign in its pair formula makes the value too large by 4 m², whatever the table."""
        target, region, (ped1, ped2, ped12, *_, interaction, _) = EXACT["balanced"]
        part = target.sum() / region.sum()
        excluded = part**2 * ((ped12 + 1) - (ped1 + 1) - (ped2 + 1) + 1)
        assert excluded / (part * (1 - part)) == pytest.approx(interaction)  # exact for a product baseline
        printed = 0.9413298565840938 * part * (1 - part)
        assert printed - excluded == pytest.approx(0.13040123456790123, rel=1e-12)
        assert 4 * part**2 == pytest.approx(0.13040123456790123, rel=1e-12)

    def test_means_under_chance_with_empty_cells(self) -> None:
        region = np.array([[9, 6, 0], [4, 10, 3], [0, 5, 8]])
        closed, additive, first, second = design_of(region[None]).freedoms[0]
        chance = [first / 44, second / 44, closed / 44, (closed - additive) / 44]
        expected = [0.045454545454545456, 0.045454545454545456, 0.13636363636363635, 0.045454545454545456]
        assert chance == pytest.approx(expected, rel=1e-12)

    def test_chance_is_taken_off(self) -> None:
        """Targets drawn from the region at random: corrected parts are 0 on average."""
        region = np.array([[9, 6, 0], [4, 10, 3], [0, 5, 8]])
        random = np.random.default_rng(0)
        drawn = random.multivariate_hypergeometric(region.ravel(), 12, size=20_000).reshape(-1, 3, 3)
        design = design_of(np.broadcast_to(region, drawn.shape))
        for part in shares_of(design, drawn, corrected=True):
            assert abs(part.mean()) < 4 * part.std() / np.sqrt(len(part))

    def test_a_diagonal_is_redundant_not_interacting(self) -> None:
        """Each of the two tells all: shares 1 and 1, and nothing more together."""
        a = pa.analyze({"x1": [0, 1, 0, 1], "x2": [0, 1, 1, 0]}, [0.0, 1.0, 2.0, 2.0], levels=[0.25, 0.5])
        row = a.interactions(0.25, 0.5, corrected=False)["x1", "x2"]
        assert (row.first_share, row.second_share) == pytest.approx((1.0, 1.0))
        assert (row.closed, row.additive, row.redundancy) == pytest.approx((1.0, 1.0, 1.0))
        assert row.interaction == pytest.approx(0.0, abs=1e-12)
        assert row.p_value == 1.0

    def test_four_dimensions(self) -> None:
        """Population 0.894085 and 0.37896. Cells cut by the rim of the target explain less than points
        would: at 100 × 100 cells about 1 % less, at a million rows with 0.001 of noise."""
        x = np.random.default_rng(0).uniform(-5, 5, (1_000_000, 4))
        data = {"x1": x[:, 0], "x2": x[:, 1]}
        loss = four_dimensional(x)
        a = pa.analyze(data, loss, space={name: pa.Float(-5, 5) for name in data})
        contrasts = a.data.contrasts(0.1, 1.0)
        codes = (loss > np.partition(loss, 99_999)[99_999]).astype(np.uint8)
        assert (codes == 0).sum() == contrasts[0].target.sum() == 100_000
        assert a.data.observations is not None
        groups = {c.name: coarse_groups(c.grid, c.region, 100) for c in contrasts}
        tally = tally_sets(a.data.observations, codes, groups)
        interaction, closed, *_ = shares_of(design_of(tally.region), tally.target, corrected=True)
        assert closed[0] == pytest.approx(0.894085, rel=0.015)
        assert interaction[0] == pytest.approx(0.37896, rel=0.015)
        rough = a.interactions()["x1", "x2"]
        assert rough.closed < closed[0]
        assert rough.significant


class TestCells:
    def test_few_values_keep_theirs(self) -> None:
        grid = grid_of(pa.Ordinal(list(range(6))))
        groups = coarse_groups(grid, np.array([5, 0, 7, 0, 1, 2, 0, 0]), 4)
        assert groups.tolist()[:6] == [0, 0, 1, 1, 2, 3]

    def test_neighbours_share_equal_counts(self) -> None:
        grid = grid_of(pa.Float(0, 1))
        counts = np.random.default_rng(0).integers(0, 20, grid.width)
        counts[-2:] = 0
        groups = coarse_groups(grid, counts, 8)
        assert np.all(np.diff(groups[:-2].astype(int)) >= 0)
        rows = np.bincount(groups[:-2], weights=counts[:-2])
        assert len(rows) == 8
        assert rows == pytest.approx(counts.sum() / 8, rel=0.02)

    @pytest.mark.parametrize("heavy", [0, 5, 19])
    def test_one_heavy_value_leaves_two_cells_at_least(self, heavy: int) -> None:
        counts = np.ones(22, dtype=np.int64)
        counts[heavy], counts[20:] = 1_000, 0
        groups = coarse_groups(grid_of(pa.Int(1, 20)), counts, 2)
        assert set(groups[:20].tolist()) == {0, 1}

    def test_rare_categories_are_one_cell(self) -> None:
        grid = grid_of(pa.Categorical(list("abcdef")))
        groups = coarse_groups(grid, np.array([3, 50, 2, 40, 1, 4, 0, 0]), 3).tolist()
        assert groups[1] != groups[3]
        assert len({groups[i] for i in (0, 2, 4, 5)}) == 1
        assert len(set(groups[:6])) == 3

    def test_missing_and_outside_have_cells_of_their_own_if_they_occur(self) -> None:
        grid = grid_of(pa.Categorical(["a", "b"]))
        assert coarse_groups(grid, np.array([5, 5, 3, 0]), 8).tolist() == [0, 1, 2, 0]
        assert coarse_groups(grid, np.array([5, 5, 0, 3]), 8).tolist() == [0, 1, 0, 2]

    def test_domains_are_not_mixed(self) -> None:
        parameter = pa.Switch("by", {"a": pa.Float(0, 1), "b": pa.Float(5, 6), "c": pa.Categorical(["u"])})
        grid = grid_of(parameter)
        counts = np.zeros(grid.width, dtype=np.int64)
        counts[:1001], counts[1001:2002], counts[2002] = 3, 1, 5
        groups = coarse_groups(grid, counts, 8)
        parts = [set(groups[start:stop].tolist()) for start, stop in ((0, 1001), (1001, 2002), (2002, 2003))]
        assert [len(part) for part in parts] == [6, 2, 1]
        assert len(set.union(*parts)) == 9


class TestQuestions:
    @pytest.fixture
    def data(self) -> dict[str, np.ndarray]:
        random = np.random.default_rng(9)
        rows = 800
        data = {f"x{i}": random.random(rows) for i in range(4)}
        data["flag"] = random.random(rows) < 0.3
        data["loss"] = np.where((data["x0"] < 0.5) ^ (data["x1"] < 0.5), 0, 1) + random.random(rows)
        return data

    @pytest.fixture
    def a(self, data: dict[str, np.ndarray]) -> pa.Analysis:
        return pa.analyze(data, "loss", params=["x0", "x1", "x2", "x3"])

    def test_xor_is_the_top_pair(self, a: pa.Analysis) -> None:
        """Neither of the two tells anything alone."""
        found = a.interactions()
        top = found.rows[0]
        assert (top.first, top.second) == ("x0", "x1")
        assert top.significant
        assert top.interaction > 0.05
        assert abs(top.first_share) < 0.02
        assert abs(top.second_share) < 0.02
        assert [row.significant for row in found.rows[1:]] == [False] * 5

    def test_every_kind_of_target_and_region(self, a: pa.Analysis, data: dict[str, np.ndarray]) -> None:
        best = data["loss"] <= np.sort(data["loss"])[79]
        plain = a.interactions(0.1, cells=4)
        for target in (pa.at_most(np.sort(data["loss"])[79]), best):
            assert a.interactions(target, cells=4).rows == plain.rows
        half = data["x2"] < 0.5
        for region in ("x2 < 0.5", {"x2": (0, 0.4999999)}, half):
            found = a.interactions(0.1, region, cells=4, estimator="counts")
            assert found["x0", "x1"].significant
            inside = pa.analyze(
                {key: column[half] for key, column in data.items()}, "loss", space=a.space, params=list(a.space)
            )
            assert found.rows == inside.interactions(0.1, cells=4, estimator="counts").rows
        assert a.interactions("flag").target == "rows marked flag"
        assert a.interactions("flag and x2 < 0.5", "x2 < 0.5").region == "rows where x2 < 0.5"
        assert not any(row.significant for row in a.interactions("flag").rows)
        assert a.interactions(0.05, 0.5).region == "the best 50 %"

    def test_options(self, a: pa.Analysis) -> None:
        assert a.interactions(estimator="counts").cells == 8  # ten of 800 rows for each of 8 × 8 cells
        assert a.interactions(cells=3).cells == 3
        some = a.interactions(params=["x3", "x0", "x1"])
        assert len(some) == 3
        assert set(some) == set(combinations(["x0", "x1", "x3"], 2))
        raw = a.interactions(corrected=False)
        assert all(row.interaction >= 0 for row in raw.rows)
        assert raw["x0", "x1"].interaction > a.interactions()["x0", "x1"].interaction
        assert a.interactions(seed=1).rows == a.interactions(seed=1).rows
        p = [[row.p_value for row in a.interactions(seed=seed, estimator="counts").rows] for seed in (1, 2)]
        assert p[0] != p[1]
        assert p[0] == pytest.approx(p[1], abs=0.25)

    def test_refusals(self, a: pa.Analysis, data: dict[str, np.ndarray], tmp_path: Path) -> None:
        for cells in (1, 65, 2.5, "many", True, None):
            refuse(QueryError, "cells=", "'auto'", of=lambda cells=cells: a.interactions(cells=cells))
        for seed in (-1, 0.5, True):
            refuse(QueryError, "seed=", of=lambda seed=seed: a.interactions(seed=seed))
        refuse(UnknownParameterError, "did you mean", of=lambda: a.interactions(params=["x0", "x11"]))
        refuse(QueryError, "a pair needs two", of=lambda: a.interactions(params=["x0"]))
        refuse(QueryError, "list of two or more names", of=lambda: a.interactions(params="x0"))
        refuse(QueryError, "are outside region", of=lambda: a.interactions(0.5, 0.1))
        a.save(tmp_path / "a.pedanova", rows=False)
        loaded = pa.load(tmp_path / "a.pedanova")
        refuse(LevelsError, "no longer available", "analyze", of=loaded.interactions)
        refuse(LevelsError, "no longer available", of=(a + a).interactions)
        alone = pa.analyze(data, "loss", params=["x0"])
        refuse(QueryError, "a pair needs two", of=alone.interactions)
        many = pa.analyze(
            np.random.default_rng(0).random((30, 202)),
            np.arange(30.0),
            space={f"x{i}": pa.Float(0, 1) for i in range(202)},
        )
        refuse(QueryError, "20,301 pairs", "params=", of=many.interactions)

    def test_several_objectives(self, data: dict[str, np.ndarray]) -> None:
        a = pa.analyze(data | {"time": data["x2"] + data["x3"]}, ["loss", "time"], params=["x0", "x1", "x2"])
        assert len(a.interactions()) == 3

    def test_rows_that_do_not_count(self, data: dict[str, np.ndarray]) -> None:
        loss = data["loss"].copy()
        loss[::7] = np.nan
        names = ["x0", "x1", "x2"]
        whole = pa.analyze(data | {"loss": loss}, "loss", params=names, where="x3 < 0.9", space=None)
        kept = ~np.isnan(loss) & (data["x3"] < 0.9)
        part = pa.analyze({key: column[kept] for key, column in data.items()}, "loss", space=whole.space)
        by_counts = {"estimator": "counts"}
        assert whole.interactions(**by_counts).rows == part.interactions(**by_counts).rows
        assert whole.interactions("flag").rows == part.interactions(data["flag"][kept]).rows


class TestTable:
    @pytest.fixture
    def found(self, trials: dict[str, np.ndarray]) -> Interactions:
        return pa.analyze(trials, "loss").interactions()

    def test_it_prints(self, found: Interactions) -> None:
        text = str(found)
        assert text.startswith("Interactions of pairs: the best 10 % compared with all rows:\npair")
        assert " × " in text
        assert len(text.splitlines()) == 13
        assert len(found) == 10
        assert list(found.to_dict())[:3] == ["first", "second", "interaction"]
        assert "10 pairs, each in at most 62 × 62 cells" in found.notes[0]
        assert [row.interaction for row in found.rows] == sorted((row.interaction for row in found.rows), reverse=True)

    def test_long_tables_are_cut(self) -> None:
        random = np.random.default_rng(0)
        a = pa.analyze(random.random((60, 8)), random.random(60))
        assert str(a.interactions()).endswith("… and 8 more; .to_text() shows all")
        assert len(a.interactions().to_text().splitlines()) == 30

    def test_look_up(self, found: Interactions) -> None:
        assert found["lr", "layers"] is found["layers", "lr"]
        assert ("layers", "lr") in found
        assert ("lr", "depth") not in found
        assert "lr" not in found
        with pytest.raises(KeyError, match="did you mean 'layers'"):
            found["lr", "layer"]
        with pytest.raises(KeyError, match="2 different parameters"):
            found["lr", "lr"]
        with pytest.raises(KeyError, match="2 different parameters"):
            found["lr"]  # type: ignore[index]


def sums(rows: int) -> pa.Analysis:
    """Whether a + b is small: each alone explains 22 % of it, both together everything."""
    x = np.random.default_rng(4).random((rows, 3))
    space = {name: pa.Float(0, 1) for name in "abc"}
    return pa.analyze(dict(zip("abc", x.T, strict=True)), x[:, 0] + x[:, 1], space=space, direction="minimize")


@pytest.mark.parametrize(("rows", "off"), [(1_000, 0.07), (6_000, 0.06), (300_000, 0.02)])
def test_interactions_converge(rows: int, off: float) -> None:
    found = sums(rows).interactions()
    row = found["a", "b"]
    assert row.interaction == pytest.approx(0.56, abs=off)
    assert row.closed > 1 - 1.5 * off
    assert row.low < row.interaction < 0.56 < row.high < row.interaction + 0.12
    assert [one.significant for one in found.rows] == [True, False, False]
    assert all(one.low == 0 for one in found.rows[1:])


@pytest.mark.parametrize("estimator", ["counts", "auto"])
def test_two_parameters_explain_no_less_than_one(trials: dict[str, np.ndarray], estimator: str) -> None:
    a = pa.analyze(trials, "loss")
    shares = a.importance(estimator=estimator, draws=0).shares
    for row in a.interactions(estimator=estimator).rows:
        assert row.closed >= max(shares[row.first], shares[row.second]) - 1e-12
        assert row.closed == pytest.approx(row.additive + max(0.0, row.interaction))


def test_holm() -> None:
    p = np.array([0.04, 0.01, 0.03, 0.5])
    assert holm(p, np.full(4, True)) == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert holm(p, np.array([True, False, True, False])) == pytest.approx([0.06, 1.0, 0.06, 1.0])


def test_type_one_error() -> None:
    """Chances that are sums of two slopes: of 400 tables 5 % are called significant, give or take."""
    random = np.random.default_rng(5)
    groups = {name: np.arange(4, dtype=np.uint8) for name in ("a", "b")}
    low = 0
    for _ in range(400):
        x = random.random((2, 500))
        inside = random.random(500) < 0.1 * (x[0] + x[1])
        cells = tuple((x * 4).astype(int))
        target, region = np.zeros((2, 1, 4, 4), dtype=np.int64)
        np.add.at(region[0], cells, 1)
        np.add.at(target[0], cells, inside)
        tally = SetTally(groups, 2, target, region)
        row = measure_pairs(tally, tally)[0]
        low += row.p_value <= 0.05
    assert 0.025 < low / 400 < 0.08


def test_explained_parts_are_ordered() -> None:
    random = np.random.default_rng(0)
    region = random.integers(0, 6, (200, 5, 5))
    target = random.binomial(region, 0.3)
    some = target.sum(axis=(1, 2)) > 0
    found = explained(design_of(region[some]), target[some])
    assert np.all(found.closed <= 1 + 1e-9)
    assert np.all(found.additive <= found.closed + 1e-9)
    assert np.all(np.maximum(found.first, found.second) <= found.additive + 1e-9)


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


class TestExactValuesOfSets:
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
            assert row.additive == pytest.approx(lower, abs=1e-12)

    def test_exclusive_or(self) -> None:
        """Parity of three: nothing alone, nothing in pairs, all together."""
        axes = np.indices((2, 2, 2, 10)).reshape(4, -1)
        names = ["a", "b", "c", "again"]
        a = pa.analyze(
            dict(zip(names, axes, strict=True)), axes[:3].sum(axis=0) % 2, direction="minimize", params=names
        )
        found = a.interactions(pa.at_most(0), order=3, **PLAIN)
        assert found["c", "a", "b"].interaction == pytest.approx(1.0)
        assert found["c", "a", "b"].additive == pytest.approx(0.0, abs=1e-12)
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
        contrasts = a.data.contrasts(0.2, 0.8)
        codes = a.data.codes(a.data.resolve(0.2, "target"), a.data.resolve(0.8, "region"))
        groups = groups_of(contrasts, 3)
        sets = list(combinations(groups, order))
        both = [count(a.data.observations, codes, groups, order, threads=2) for count in (count_sets, count_by_judge)]
        np.testing.assert_array_equal(*both)
        assert both[0].sum(axis=(1, 2)).tolist() == [2_400] * len(sets)


class TestQuestionsOfSets:
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
        assert "of sets of 3" in str(found)
        assert "p0 × p1 × p2" in found.to_text()
        assert "<table" in found._repr_html_()
        assert ("p2", "p1", "p0") in found
        inner = a.interactions(0.25, {"p3": [1]}, order=3, estimator="counts", params=["p0", "p1", "p2"])
        assert len(inner) == 1

    def test_refusals(self) -> None:
        a, _ = lattice(SIZES, 0)
        found = a.interactions(0.25, order=3, estimator="counts")
        refuse(UnknownParameterError, "3 different parameters", of=lambda: found["p0", "p1"])
        for wrong in (1, 6, "3", 2.5):
            refuse(QueryError, "order", of=lambda wrong=wrong: a.interactions(0.25, order=wrong))
        refuse(QueryError, "order=5", "parameters (4)", of=lambda: a.interactions(0.25, order=5))
        refuse(QueryError, "cells=9", "at most 6", of=lambda: a.interactions(0.25, order=4, cells=9))
