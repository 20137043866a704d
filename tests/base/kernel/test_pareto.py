"""Several objectives: fronts, the order inside them, and what becomes of rows that have none."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.base.kernel.pareto import order_rows, ranks_of
from pedanova.errors import DataError, QueryError

#                    A       B       C       D       E       F       G       H
EXAMPLE = np.array([[1, 5], [2, 3], [4, 1], [2, 5], [3, 4], [5, 2], [5, 5], [6, 6]], dtype=float)


def brute_force(losses: np.ndarray) -> list[int]:
    """Peel fronts one by one, comparing every pair."""
    better = np.all(losses[:, None] <= losses[None], axis=2) & np.any(losses[:, None] < losses[None], axis=2)
    ranks, left, front = np.full(len(losses), -1), np.ones(len(losses), dtype=bool), 0
    while left.any():
        free = left & ~np.any(better & left[:, None], axis=0)
        ranks[free], left, front = front, left & ~free, front + 1
    return ranks.tolist()


def small_set(seed: int) -> np.ndarray:
    """Few values, so that ties and duplicates abound; some infinite ones, both zeros."""
    random = np.random.default_rng(seed)
    rows, objectives = int(random.integers(1, 40)), int(random.integers(2, 6))
    losses = random.integers(-3, 4, (rows, objectives)).astype(float)
    losses[random.random(losses.shape) < 0.05] = np.inf
    losses[random.random(losses.shape) < 0.05] = -np.inf
    losses[random.random(losses.shape) < 0.1] = -0.0
    return losses


@pytest.fixture(params=["kernel", "numpy"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr("pedanova.base.kernel.library.available", lambda: False)
    return str(request.param)


class TestRanks:
    def test_an_example(self, engine: str) -> None:
        assert ranks_of(EXAMPLE).tolist() == [0, 0, 0, 1, 1, 1, 2, 3]
        order = order_rows(EXAMPLE)
        assert set(np.argsort(order)[:2]) == {0, 2}  # A and C, the ends of the first front
        assert [set(np.argsort(order)[i:j]) for i, j in ((2, 3), (3, 5), (5, 6), (6, 7), (7, 8))] == [
            {1}, {3, 5}, {4}, {6}, {7},
        ]  # fmt: skip

    def test_500_small_sets(self, engine: str) -> None:
        for seed in range(500):
            losses = small_set(seed)
            assert ranks_of(losses).tolist() == brute_force(losses), seed

    @pytest.mark.parametrize(("rows", "objectives"), [(20_000, 2), (5_000, 3), (2_000, 4)])
    def test_other_libraries_agree(self, rows: int, objectives: int) -> None:
        import moocore
        from optuna.study._multi_objective import _fast_non_domination_rank

        random = np.random.default_rng(rows)
        losses = random.normal(size=(rows, objectives))
        for sample in (losses, losses.round(1)):
            ranks = ranks_of(sample)
            np.testing.assert_array_equal(ranks, moocore.pareto_rank(sample))
            few = sample[:2_000]
            np.testing.assert_array_equal(ranks_of(few), _fast_non_domination_rank(few))

    @pytest.mark.parametrize("objectives", [2, 3, 5])
    def test_the_kernel_and_python_agree(self, objectives: int, monkeypatch: pytest.MonkeyPatch) -> None:
        random = np.random.default_rng(objectives)
        samples = [random.normal(size=(600, objectives)), random.integers(0, 6, (600, objectives)).astype(float)]
        fast = [(ranks_of(sample), order_rows(sample)) for sample in samples]
        monkeypatch.setattr("pedanova.base.kernel.library.available", lambda: False)
        for sample, (ranks, order) in zip(samples, fast, strict=True):
            np.testing.assert_array_equal(ranks_of(sample), ranks)
            np.testing.assert_array_equal(order_rows(sample), order)

    def test_chains_and_fronts_of_everybody(self, engine: str) -> None:
        line = np.arange(300.0)
        assert ranks_of(np.stack([line, line], axis=1)).tolist() == list(range(300))
        assert ranks_of(np.stack([line, -line], axis=1)).tolist() == [0] * 300
        assert ranks_of(np.zeros((300, 3))).tolist() == [0] * 300
        assert order_rows(np.zeros((300, 3))).tolist() == [0.0] * 300


class TestOrder:
    @pytest.mark.parametrize("seed", range(60))
    def test_ranks_first_and_ties_only_for_what_cannot_be_told_apart(self, seed: int) -> None:
        losses = small_set(seed)
        order, ranks = order_rows(losses), ranks_of(losses)
        assert sorted(set(order)) == list(range(len(set(order))))
        by_order = np.argsort(order, kind="stable")
        assert np.all(np.diff(ranks[by_order]) >= 0)
        for i, row in enumerate(losses):
            same = np.all(losses == row, axis=1)
            assert np.all(order[same] == order[i])

    @pytest.mark.parametrize("seed", range(60))
    def test_invariances(self, seed: int) -> None:
        losses, random = small_set(seed), np.random.default_rng(seed)
        order, ranks = order_rows(losses), ranks_of(losses)
        shuffled = random.permutation(len(losses))
        np.testing.assert_array_equal(order_rows(losses[shuffled]), order[shuffled])
        bent = np.stack([[np.arctan, np.cbrt, lambda x: 3 * x + 1][k % 3](c) for k, c in enumerate(losses.T)], axis=1)
        np.testing.assert_array_equal(order_rows(bent), order)
        for columns in permutations(range(losses.shape[1])):
            np.testing.assert_array_equal(ranks_of(losses[:, list(columns)]), ranks)
        twice = np.concatenate([losses, losses])
        np.testing.assert_array_equal(ranks_of(twice), np.tile(ranks, 2))

    def test_room_inside_a_front(self) -> None:
        """The ends come first, then whoever has the farthest neighbours, counted in ranks."""
        first = np.array([0.0, 1, 2, 3, 10, 11])
        front = np.stack([first, -first], axis=1)
        dominated = np.stack([np.array([5.0, 6, 7, 8]), np.full(4, 50.0)], axis=1)  # lie between 3 and 10
        order = order_rows(np.concatenate([front, dominated]))
        assert {order[0], order[5]} == {0, 1}
        assert {order[3], order[4]} == {2, 3}
        assert {order[1], order[2]} == {4, 5}

    def test_an_even_front_is_thinned_evenly(self) -> None:
        """Where every inner row has the same room, the best tenth still is a tenth, spread along the front."""
        x = np.random.default_rng(0).random(5_000)
        found = pa.analyze({"x": x, "err": x, "lat": 1 - x}, ["err", "lat"]).importance(0.1, **COUNTS)
        assert found["x"].n_target == 500
        assert found["x"].share < 0.01

    def test_only_equal_objectives_are_tied(self) -> None:
        losses = np.random.default_rng(1).random((300, 2)).round(1)
        order = order_rows(losses)
        assert len(np.unique(order)) == len(np.unique(losses, axis=0))
        _, first, back = np.unique(losses, axis=0, return_index=True, return_inverse=True)
        np.testing.assert_array_equal(order, order[first][back.reshape(-1)])


@pytest.fixture
def study() -> dict[str, np.ndarray]:
    """Loss and speed pull x apart; z is noise."""
    random = np.random.default_rng(5)
    x, y, z = random.random((3, 2_000))
    return {"x": x, "y": y, "z": z, "loss": x + 0.3 * y, "speed": x - 0.3 * y + 2.0}


BOTH = {"objective": ["loss", "speed"], "direction": ["minimize", "maximize"]}


class TestAnalysis:
    def test_the_best_rows(self) -> None:
        data = {"who": np.arange(8), "a": EXAMPLE[:, 0], "b": EXAMPLE[:, 1]}
        space = {"who": pa.Ordinal(list(range(8)))}
        a = pa.analyze(data, ["a", "b"], space=space)
        assert np.flatnonzero(a.densities("who", 5 / 8, smoothing="none").target).tolist() == [0, 1, 2, 3, 5]
        assert a.importance(0.25, **COUNTS)["who"].n_target == 2
        assert a.importance(3 / 8, **COUNTS)["who"].n_target == 3
        assert a.objective == "a, b"
        up = pa.analyze(data | {"a": -data["a"]}, ["a", "b"], space=space, direction=["maximize", "minimize"])
        assert np.flatnonzero(up.densities("who", 5 / 8, smoothing="none").target).tolist() == [0, 1, 2, 3, 5]

    def test_two_mirrored_objectives_find_the_same_parameter(self) -> None:
        random = np.random.default_rng(0)
        x, z = random.random((2, 2_000))
        data = {"x": x, "z": z, "loss": x**2, "score": -np.exp(x)}
        a = pa.analyze(data, ["loss", "score"], direction=["minimize", "maximize"])
        compared = a.compare(by="objective", **COUNTS)
        for found in (
            a.importance(**COUNTS),
            pa.Analysis(a.data.alone("loss")).importance(**COUNTS),
            pa.Analysis(a.data.alone("score")).importance(**COUNTS),
        ):
            assert next(iter(found)) == "x"
            assert found["x"].raw_share == pytest.approx(a.importance(**COUNTS)["x"].raw_share, rel=1e-12)
            assert abs(found["z"].share) < 0.02
        for name in ("together", "loss", "score"):
            assert compared.to_dict()[f"{name} share"][0] == a.importance(**COUNTS)["x"].share

    def test_alone_is_the_analysis_of_one(self, study: dict[str, np.ndarray]) -> None:
        a = pa.analyze(study, **BOTH)  # type: ignore[arg-type]
        assert set(a.space) == {"x", "y", "z"}
        for name, direction in (("loss", "minimize"), ("speed", "maximize")):
            one = pa.analyze({n: study[n] for n in ("x", "y", "z", name)}, name, direction=direction)
            assert pa.Analysis(a.data.alone(name)).importance(0.2, 0.6, **COUNTS) == one.importance(0.2, 0.6, **COUNTS)
        assert pa.analyze(study, ["loss"], params=["x"]).importance(**COUNTS) == pa.analyze(
            study, "loss", params=["x"]
        ).importance(**COUNTS)  # fmt: skip

    def test_questions_about_rows(self, study: dict[str, np.ndarray]) -> None:
        a = pa.analyze(study, **BOTH)  # type: ignore[arg-type]
        mask = study["x"] < 0.5
        alone = pa.analyze({n: c[mask] for n, c in study.items()}, space=a.space, **BOTH)  # type: ignore[arg-type]
        filtered = pa.analyze(study, space=a.space, where="x < 0.5", **BOTH)  # type: ignore[arg-type]
        assert filtered.importance(0.2, **COUNTS).rows == alone.importance(0.2, **COUNTS).rows
        assert a.importance(0.1, **COUNTS)["y"].n_target == 200  # no ties at the cut
        assert a.importance(pa.between(0.1, 0.2), **COUNTS)["x"].n_target > 0

    def test_monotone_transforms_change_nothing(self, study: dict[str, np.ndarray]) -> None:
        bent = study | {"loss": np.exp(study["loss"]), "speed": study["speed"] ** 3}
        one, two = (pa.analyze(data, **BOTH) for data in (study, bent))  # type: ignore[arg-type]
        assert one.importance(0.1, 0.5, **COUNTS).rows == two.importance(0.1, 0.5, **COUNTS).rows

    def test_nan_in_one_objective(self, study: dict[str, np.ndarray]) -> None:
        broken = study | {"speed": np.where(study["z"] > 0.8, np.nan, study["speed"])}
        gone = int(np.sum(study["z"] > 0.8))
        dropped = pa.analyze(broken, **BOTH)  # type: ignore[arg-type]
        whole = {n: c[study["z"] <= 0.8] for n, c in study.items()}
        assert len(dropped) == 2_000 - gone
        assert (
            dropped.importance(**COUNTS).rows
            == pa.analyze(whole, space=dropped.space, **BOTH).importance(**COUNTS).rows
        )  # type: ignore[arg-type]
        assert any(f"{gone} of 2,000 rows have no objective (NaN) and are dropped" in n for n in dropped.notes)
        worst = pa.analyze(broken, reading=pa.Reading(nan="worst"), **BOTH)  # type: ignore[arg-type]
        assert len(worst) == 2_000
        part = (2_000 - gone) / 2_000
        found = worst.importance(round(part, 4), **COUNTS)
        assert found["z"].raw_share > 0.85
        alone = pa.analyze(broken, "loss", reading=pa.Reading(nan="worst"), space=worst.space)
        assert pa.Analysis(worst.data.alone("loss")).importance(**COUNTS).rows == alone.importance(**COUNTS).rows

    def test_infeasible_rows_come_after_every_feasible_one(self, study: dict[str, np.ndarray]) -> None:
        limit = study | {"constraint": 0.5 - study["x"]}  # the best losses are infeasible
        infeasible = int(np.sum(study["x"] < 0.5))
        a = pa.analyze(limit, feasible="constraint", reading=pa.Reading(infeasible="worst"), **BOTH)  # type: ignore[arg-type]
        assert len(a) == 2_000
        part = (2_000 - infeasible) / 2_000
        found = a.importance(round(part, 4), **COUNTS)
        assert found["x"].n_target == 2_000 - infeasible
        assert found["x"].raw_share > 0.85
        only = pa.analyze(limit, feasible="constraint", **BOTH)  # type: ignore[arg-type]
        assert len(only) == 2_000 - infeasible
        assert "constraint" not in only.space

    def test_infinite_objectives_are_ordered(self, study: dict[str, np.ndarray]) -> None:
        study["loss"][study["x"] > 0.3] = np.inf
        study["speed"][study["x"] > 0.3] = -np.inf
        assert next(iter(pa.analyze(study, **BOTH).importance(0.3, **COUNTS))) == "x"  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"objective": ["loss", "loss"]}, "contains a column twice; give each column once"),
            ({"objective": ["loss", "nobody"]}, "no column is called 'nobody'"),
            ({"objective": ["loss", "name"]}, "objective 'name' holds text"),
            ({"direction": ["minimize"]}, "must give one direction for each of 2 objectives"),
            ({"direction": ["minimize", "up"]}, "direction='up' must be 'minimize' or 'maximize'"),
            ({"direction": {"loss": "minimize"}}, "must be 'minimize' or 'maximize'"),
            ({"objective": []}, "objective"),
            ({"where": pa.at_most(0.3)}, 'objectives; write a condition such as "loss <= …"'),
            ({"space": {"loss": pa.Float(0, 9)}}, "the space contains the objective 'loss'"),
        ],
    )
    def test_refusals(self, study: dict[str, np.ndarray], options: dict[str, object], words: str) -> None:
        data = study | {"name": np.full(2_000, "a")}
        with pytest.raises(pa.PedanovaError, match=words) as refused:
            pa.analyze(data, **(BOTH | options))  # type: ignore[arg-type]
        assert "\n" not in str(refused.value)

    def test_what_cannot_be_ordered(self, study: dict[str, np.ndarray]) -> None:
        study["speed"][:] = np.nan
        for nan in ("drop", "worst"):
            with pytest.raises(DataError, match="no row is left to count"):
                pa.analyze(study, reading=pa.Reading(nan=nan), **BOTH)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="no parameter can explain it"):
            pa.analyze({"x": study["x"], "a": np.zeros(2_000), "b": np.ones(2_000)}, ["a", "b"])
        with pytest.raises(QueryError, match="no objective is called"):
            pa.Analysis(pa.analyze(study, "loss").data.alone("speed"))


def test_a_region_orders_its_own_rows_anew() -> None:
    """Within a mask, a row is not dominated by rows outside: the same as analysing those rows alone."""
    random = np.random.default_rng(0)
    x, y = random.random((2, 400))
    data = {"x": x, "y": y, "l1": x + y, "l2": 1 - x + y**2}
    a = pa.analyze(data, ["l1", "l2"])
    mask = x < 0.5
    alone = pa.analyze(data, ["l1", "l2"], space=a.space, where=mask)
    assert a.importance(0.2, mask, **COUNTS).rows == alone.importance(0.2, **COUNTS).rows


def test_several_objectives_have_no_one_value() -> None:
    random = np.random.default_rng(0)
    a = pa.analyze({"x": random.random(50), "l1": random.random(50), "l2": random.random(50)}, ["l1", "l2"])
    for question in ({"target": pa.at_most(3)}, {"region": pa.at_least(0.1)}):
        with pytest.raises(QueryError, match=r"one limit cannot be used with 2 objectives.*'l1 <= 1'"):
            a.importance(**question, **COUNTS)


def test_labels_that_python_takes_for_equal_stay_apart() -> None:
    from pedanova.space.grid import grid_of

    assert grid_of(pa.Categorical([1, 0])).labels == (1, 0)
    assert [type(label) for label in grid_of(pa.Categorical([True, False])).labels or ()] == [bool, bool]
