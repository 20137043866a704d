"""A uniform sample of the space, rows as features, and the regions of a model's scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import pedanova as pa
from pedanova.data.regions import Quantile, Region, as_region
from pedanova.measures.surrogate.gaussian import Process
from pedanova.measures.surrogate.model import Surrogate, fit_surrogate, normal_scores, ranks
from pedanova.measures.surrogate.sampling import cells_by_name, features_of, regime_of, uniform_cells
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Parameter, Space

POINTS = 20_000


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def sampled(
    space: Mapping[str, Parameter], seen: Mapping[str, np.ndarray] | None = None, points: int = POINTS
) -> dict[str, np.ndarray]:
    """Points of a space; rows seen are in every first cell unless given."""
    known = {name: np.zeros(4, dtype=np.int32) for name in space} | dict(seen or {})
    return uniform_cells(Space(space), known, points, random(1))


def observed(space: Mapping[str, Parameter], table: Mapping[str, object]):  # type: ignore[no-untyped-def]
    a = pa.analyze(dict(table), "loss", space=space)
    assert a.observations is not None
    return a.observations


class TestUniform:
    @pytest.mark.parametrize(
        "parameter",
        [
            pa.Float(1e-4, 1.0, log=True),
            pa.Float(-2, 5),
            pa.Int(3, 40),
            pa.Int(1, 5000),
            pa.Int(1, 6, log=True),
            pa.Int(1, 1024, log=True),
            pa.Ordinal([16, 32, 64]),
            pa.Categorical(["a", "b", "c", "d"]),
        ],
        ids=repr,
    )
    def test_cells_are_drawn_by_their_prior(self, parameter: Parameter) -> None:
        grid = grid_of(parameter)
        counts = np.bincount(sampled({"x": parameter})["x"], minlength=grid.width)
        assert counts[grid.cells :].sum() == 0
        assert counts[: grid.cells][grid.prior == 0].sum() == 0
        possible = grid.prior > 0
        expected = POINTS * grid.prior[possible]
        distance = np.sum((counts[: grid.cells][possible] - expected) ** 2 / expected)
        freedom = possible.sum() - 1
        assert abs(distance - freedom) < 4.5 * np.sqrt(2 * freedom)

    def test_a_log_float_is_even_in_its_logarithm(self) -> None:
        grid = grid_of(pa.Float(1e-4, 1.0, log=True))
        values = np.array(grid.centres())[sampled({"lr": pa.Float(1e-4, 1.0, log=True)})["lr"]]
        assert np.log10(values).mean() == pytest.approx(-2.0, abs=0.04)
        assert np.log10(values).std() == pytest.approx(4 / np.sqrt(12), abs=0.03)

    def test_parameters_are_drawn_independently(self) -> None:
        drawn = sampled({"x": pa.Float(0, 1), "y": pa.Float(0, 1)})
        assert abs(np.corrcoef(drawn["x"], drawn["y"])[0, 1]) < 0.03


class TestConditions:
    def test_a_child_has_a_value_exactly_where_its_parent_says_so(self) -> None:
        space = {
            "momentum": pa.Float(0, 1, when={"optimizer": ["sgd", "nag"]}),
            "optimizer": pa.Categorical(["adam", "sgd", "nag"]),
        }
        drawn = sampled(space)
        active = drawn["momentum"] < grid_of(space["momentum"]).cells
        np.testing.assert_array_equal(active, drawn["optimizer"] >= 1)
        assert list(drawn) == list(space)

    def test_conditions_nest_and_add_up(self) -> None:
        space = {
            "use": pa.Categorical([True, False]),
            "kind": pa.Categorical(["a", "b"], when={"use": [True]}),
            "size": pa.Int(1, 5, when={"kind": ["b"]}),
            "both": pa.Float(0, 1, when={"kind": ["a"], "layers": [2, 3]}),
            "layers": pa.Int(1, 3),
        }
        drawn = sampled(space)
        active = {name: drawn[name] < grid_of(space[name]).cells for name in space}
        np.testing.assert_array_equal(active["kind"], drawn["use"] == 0)
        np.testing.assert_array_equal(active["size"], active["kind"] & (drawn["kind"] == 1))
        both = active["kind"] & (drawn["kind"] == 0) & (drawn["layers"] >= 1)
        np.testing.assert_array_equal(active["both"], both)
        assert active["size"].mean() == pytest.approx(0.25, abs=0.02)

    def test_a_parent_of_the_space_decides_which_domain_a_switch_has(self) -> None:
        switch = pa.Switch(
            "phase", {"early": pa.Float(0, 1), "late": pa.Categorical(["x", "y"]), "end": pa.Float(0, 1)}
        )
        space = {"lr": switch, "phase": pa.Categorical(["early", "late", "never", "end"])}
        drawn = sampled(space)
        regimes = regime_of(drawn["lr"], grid_of(switch))
        np.testing.assert_array_equal(regimes, np.array([0, 1, 2, 0])[drawn["phase"]])

    def test_a_switch_by_another_column_has_its_domains_as_often_as_seen(self) -> None:
        switch = pa.Switch("phase", {"early": pa.Float(0, 1), "late": pa.Int(1, 4)})
        grid = grid_of(switch)
        seen = np.repeat([0, grid.blocks[1].start, grid.missing], [60, 30, 10]).astype(np.int32)
        drawn = sampled({"lr": switch}, {"lr": seen})["lr"]
        parts = np.bincount(regime_of(drawn, grid), minlength=4) / POINTS
        np.testing.assert_allclose(parts, [0.6, 0.3, 0.1, 0.0], atol=0.02)

    def test_missing_without_a_condition_is_drawn_as_often_as_seen(self) -> None:
        grid = grid_of(pa.Float(0, 1))
        seen = np.repeat([5, grid.missing], [25, 75]).astype(np.int32)
        drawn = sampled({"m": pa.Float(0, 1)}, {"m": seen})["m"]
        assert np.mean(drawn == grid.missing) == pytest.approx(0.75, abs=0.02)
        inside = drawn[drawn < grid.cells]
        assert inside.mean() == pytest.approx(grid.cells / 2, rel=0.03)  # by the prior, not as seen

    def test_values_outside_the_space_count_as_no_value(self) -> None:
        grid = grid_of(pa.Float(0, 1))
        drawn = sampled({"m": pa.Float(0, 1)}, {"m": np.array([0, grid.outside], dtype=np.int32)})["m"]
        assert drawn.max() == grid.missing
        assert np.mean(drawn == grid.missing) == pytest.approx(0.5, abs=0.02)

    def test_a_condition_on_a_column_that_is_no_parameter(self) -> None:
        """Nobody draws the column: a value is there as often as seen."""
        dice = random(3)
        gate = dice.random(200) < 0.3
        table = {"gate": gate, "m": np.where(gate, dice.random(200), np.nan), "loss": dice.random(200)}
        rows = observed({"m": pa.Float(0, 1, when={"gate": [True]})}, table)
        drawn = uniform_cells(rows.space, cells_by_name(rows), POINTS, random())["m"]
        assert np.mean(drawn < grid_of(rows.space["m"]).cells) == pytest.approx(gate.mean(), abs=0.02)

    def test_moving_bounds_are_drawn_as_positions(self) -> None:
        dice = random(4)
        low, high = dice.random(100), 2 + dice.random(100)
        table = {"x": low + dice.random(100) * (high - low), "lo": low, "hi": high, "loss": dice.random(100)}
        rows = observed({"x": pa.Moving("lo", "hi")}, table)
        drawn = uniform_cells(rows.space, cells_by_name(rows), POINTS, random())["x"]
        assert drawn.min() >= 0
        assert drawn.mean() == pytest.approx(500, rel=0.03)


class TestFeatures:
    def test_ordered_values_lie_between_0_and_1_and_categories_are_numbered(self) -> None:
        space = Space({"n": pa.Int(1, 5), "kind": pa.Categorical(["a", "b", "c"])})
        cells = {"n": np.array([0, 2, 4], dtype=np.int32), "kind": np.array([2, 0, 1], dtype=np.int32)}
        features = features_of(space, cells, cells)
        assert (features.sizes, features.owners) == ((0, 4), ("n", "kind"))
        np.testing.assert_array_equal(features.values, [[0, 3], [0.5, 1], [1, 2]])

    def test_having_a_value_is_a_feature_of_its_own_where_some_rows_have_none(self) -> None:
        space = Space({"x": pa.Float(0, 1)})
        grid = grid_of(space["x"])
        gappy = {"x": np.array([0, grid.missing, 1000, grid.outside], dtype=np.int32)}
        features = features_of(space, gappy, gappy)
        assert (features.sizes, features.owners) == ((3, 0), ("x", "x"))
        np.testing.assert_array_equal(features.values, [[0, 0], [1, 0.5], [0, 1], [2, 0.5]])

    def test_the_rows_seen_decide_which_features_there_are(self) -> None:
        space = Space({"x": pa.Float(0, 1)})
        full = {"x": np.array([0, 500], dtype=np.int32)}
        gappy = {"x": np.array([0, grid_of(space["x"]).missing], dtype=np.int32)}
        assert features_of(space, gappy, full).sizes == (0,)
        assert features_of(space, full, gappy).sizes == (3, 0)

    def test_every_domain_of_a_switch_is_told_apart(self) -> None:
        switch = pa.Switch("by", {1: pa.Float(0, 1), 2: pa.Categorical(["a", "b"]), 3: pa.Ordinal([1, 2, 3])})
        blocks = grid_of(switch).blocks
        cells = {"s": np.array([blocks[0].start, blocks[1].start + 1, blocks[2].start + 1], dtype=np.int32)}
        features = features_of(Space({"s": switch}), cells, cells)
        assert features.sizes == (5, 0, 3)
        np.testing.assert_array_equal(features.values, [[0, 0, 0], [1, 0.5, 2], [2, 0.5, 0]])

    def test_a_domain_of_one_value_is_no_division_by_zero(self) -> None:
        space = Space({"x": pa.Ordinal([3])})
        cells = {"x": np.zeros(3, dtype=np.int32)}
        np.testing.assert_array_equal(features_of(space, cells, cells).values, np.zeros((3, 1)))


values = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=1, max_size=40)


@settings(max_examples=100)
@given(values)
def test_ranks_are_those_of_scipy(given: list[float]) -> None:
    np.testing.assert_allclose(ranks(np.array(given)), stats.rankdata(given))


@settings(max_examples=50)
@given(values)
def test_normal_scores_keep_order_and_ties_and_are_standard(given: list[float]) -> None:
    signed = np.array(given)
    scores = normal_scores(signed)
    np.testing.assert_array_equal(ranks(scores), ranks(signed))
    assert scores.mean() == pytest.approx(0, abs=1e-9)
    assert scores.std() == pytest.approx(1.0 if len(set(given)) > 1 else 0.0, abs=1e-9)


def known(signed: list[float], *, spread: float = 0.01) -> Surrogate:
    """A model that expects every row to be just what it is; nothing is fitted."""
    objective = np.array(signed, dtype=np.float64)
    scores, none = normal_scores(objective), np.zeros((0, 0))
    process = Process(none, scores, np.ones(0), 1.0, 0.1, none, scores)
    rows = np.arange(len(objective))
    some = np.full(len(rows), spread)
    features = features_of(Space({"x": pa.Int(0, 1)}), {"x": rows.astype(np.int32)}, {"x": np.zeros(1, "i4")})
    drawn = scores[:, None] + np.array([0.0, 10.0])
    return Surrogate(
        rows, {}, {}, drawn, objective, scores, scores, some, features, process, rows, process.settings[None, :]
    )


class TestRegions:
    def test_a_threshold_lies_half_way_between_two_rows(self) -> None:
        model = known([3.0, 1.0, 2.0, 2.0, 5.0])
        ordered = np.sort(np.unique(model.scores))
        end = pa.at_most(2).cuts("minimize")[1]
        assert end is not None
        assert model.score_at(end) == pytest.approx((ordered[1] + ordered[2]) / 2)

    @pytest.mark.parametrize(("limit", "score"), [(0.5, -np.inf), (5.0, np.inf), (9.0, np.inf)])
    def test_a_threshold_before_or_behind_all_rows_is_infinite(self, limit: float, score: float) -> None:
        end = pa.at_most(limit).cuts("minimize")[1]
        assert end is not None
        assert known([3.0, 1.0, 5.0]).score_at(end) == score

    @pytest.mark.parametrize(
        ("region", "rows"),
        [
            (as_region(0.2, "target"), [1, 3]),  # a tie at the end of the quantile stays together
            (as_region(1.0, "region"), [0, 1, 2, 3, 4]),
            (pa.at_most(2), [1, 2, 3]),
            (pa.at_least(2), [0, 2, 4]),
            (pa.between(1, 3, values=True), [0, 1, 2, 3]),
            (pa.between(0.4, 0.8), [0, 2]),
            (pa.equals(2), [2]),
        ],
        ids=str,
    )
    def test_rows_in_a_region_and_their_chances_agree(self, region: Region, rows: list[int]) -> None:
        model = known([3.0, 1.0, 2.0, 1.0, 5.0], spread=1e-6)
        held = model.holds(region, "minimize")
        assert np.flatnonzero(held).tolist() == rows
        np.testing.assert_allclose(model.chance(region, "minimize"), held, atol=1e-6)

    def test_maximize_counts_from_the_other_end(self) -> None:
        model = known([-3.0, -1.0, -2.0])  # signed: objectives 3, 1, 2
        assert np.flatnonzero(model.holds(pa.at_least(2), "maximize")).tolist() == [0, 2]
        assert np.flatnonzero(model.holds(pa.at_most(1), "maximize")).tolist() == [1]
        np.testing.assert_allclose(model.chance(pa.at_least(2), "maximize").round(), [1, 0, 1])

    def test_quantiles_of_draws_are_those_of_the_space_and_values_are_not(self) -> None:
        model = known([float(i) for i in range(10)])  # the second function is worse by 10 everywhere
        quantile = model.inside(as_region(0.3, "target"), "minimize", model.drawn)
        assert quantile.sum(axis=0).tolist() == [3, 3]
        value = model.inside(pa.at_most(2), "minimize", model.drawn)
        assert value.sum(axis=0).tolist() == [3, 0]
        band = model.inside(pa.between(0.3, 0.5), "minimize", model.drawn)
        assert np.flatnonzero(band[:, 1]).tolist() == [3, 4]
        assert model.cut(None, model.drawn) is None
        assert model.objective_at(Quantile(as_region(0.3, "target").high)) == 2.0  # type: ignore[arg-type]

    def test_without_limits_every_row_and_point_is_inside(self) -> None:
        model = known([1.0, 2.0, 3.0])
        everywhere = as_region(1.0, "region")
        assert model.inside(everywhere, "minimize", model.drawn).all()
        np.testing.assert_array_equal(model.chance(everywhere, "minimize"), np.ones(3))


@pytest.fixture(scope="module")
def smooth() -> Surrogate:
    dice = random(5)
    x, y = dice.random(120), dice.random(120)
    loss = np.where(np.arange(120) % 12 == 0, np.nan, (x - 0.4) ** 2 + 0.3 * y)
    a = pa.analyze({"x": x, "y": y, "loss": loss}, "loss", nan="worst")
    assert a.observations is not None
    return fit_surrogate(a.observations, np.arange(120))


class TestFitted:
    @pytest.mark.slow
    def test_a_smooth_function_is_predicted(self, smooth: Surrogate) -> None:
        assert smooth.correlation > 0.7

    def test_nan_is_the_worst_that_there_is(self, smooth: Surrogate) -> None:
        failed = np.isinf(smooth.signed)
        assert failed.sum() == 10
        assert smooth.scores[failed].min() > smooth.scores[~failed].max()
        assert not smooth.holds(as_region(0.9, "target"), "minimize")[failed].any()

    def test_draws_cover_the_points(self, smooth: Surrogate) -> None:
        assert smooth.drawn.shape == (len(smooth.points["x"]), 64)
        assert np.isfinite(smooth.drawn).all()
        assert (smooth.spread > 0).all()

    def test_every_setting_has_points_of_its_own(self, smooth: Surrogate) -> None:
        assert smooth.points["x"].shape == (4000, 8)
        assert (smooth.points["x"][:, 0] != smooth.points["x"][:, 1]).mean() > 0.9
        drawn = smooth.cells_drawn("x")
        assert drawn.shape == smooth.drawn.shape
        np.testing.assert_array_equal(drawn[:, 8:16], np.repeat(smooth.points["x"][:, 1:2], 8, axis=1))

    def test_noise_is_not_predicted(self) -> None:
        dice = random(6)
        a = pa.analyze({"x": dice.random(60), "y": dice.random(60), "loss": dice.random(60)}, "loss")
        assert a.observations is not None
        assert fit_surrogate(a.observations, np.arange(60)).correlation < 0.3
