"""Intervals and p-values as a user asks for them."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova.errors import QueryError

BY_COUNTS = {"estimator": "counts", "draws": 300}


@pytest.fixture
def analysis(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, objective="loss")


def first_rows(trials: dict[str, np.ndarray], rows: int) -> pa.Analysis:
    return pa.analyze({name: column[:rows] for name, column in trials.items()}, objective="loss")


class TestAnswer:
    def test_every_parameter_has_an_interval_and_a_p_value(self, analysis: pa.Analysis) -> None:
        found = analysis.importance(**BY_COUNTS)
        assert found.estimator == "counts"
        assert len(found) == 5
        for row in found.rows:
            assert row.low is not None
            assert row.high is not None
            assert row.p_value is not None
            assert 0.0 <= row.low <= max(row.share, 0.0) <= row.high <= 1.0
            assert 0.0 < row.p_value <= 1.0
            assert isinstance(row.significant, bool)

    @pytest.mark.parametrize("draws", [1, 2, 3])
    def test_a_few_draws_are_enough_for_an_interval(self, analysis: pa.Analysis, draws: int) -> None:
        assert all(row.low is not None for row in analysis.importance(estimator="counts", draws=draws).rows)

    def test_what_matters_is_told_from_noise(self, analysis: pa.Analysis) -> None:
        found = analysis.importance(**BY_COUNTS)
        assert [found[name].significant for name in ("lr", "optimizer", "momentum")] == [True, True, False]
        assert found["lr"].p_value < 0.001 < found["lr"].p_adjusted < 0.01
        assert found["lr"].low > 0.1
        assert found["momentum"].low == 0.0

    def test_shares_do_not_hang_on_the_draws(self, analysis: pa.Analysis) -> None:
        with_draws, without = analysis.importance(**BY_COUNTS), analysis.importance(**COUNTS)
        assert list(with_draws) == list(without)
        assert [row.share for row in with_draws.rows] == [row.share for row in without.rows]

    def test_no_draws_leave_them_out(self, analysis: pa.Analysis) -> None:
        for row in analysis.importance(estimator="counts", draws=0).rows:
            assert (row.low, row.high, row.p_value, row.significant) == (None, None, None, None)

    def test_the_seed_settles_the_numbers(self, analysis: pa.Analysis) -> None:
        once = analysis.importance(seed=5, **BY_COUNTS)
        assert analysis.importance(seed=np.int64(5), **BY_COUNTS).rows == once.rows
        other = analysis.importance(seed=6, **BY_COUNTS)
        assert other.rows != once.rows
        assert other["lr"].low == pytest.approx(once["lr"].low, abs=0.05)

    def test_the_uniform_baseline_has_them_too(self, analysis: pa.Analysis) -> None:
        found = analysis.importance(baseline="uniform", **BY_COUNTS)
        assert all(row.low <= max(0.0, row.share) <= row.high for row in found.rows)
        assert found["lr"].significant

    def test_a_region_of_chance_says_that_nothing_is_told(self) -> None:
        rng = np.random.default_rng(2)
        table = {"x": rng.random(300), "y": rng.integers(0, 4, 300), "loss": rng.random(300)}
        found = pa.analyze(table, objective="loss").importance(**BY_COUNTS)
        assert not any(row.significant for row in found.rows)
        assert any("no parameter is distinguishable from noise" in note for note in found.notes)

    def test_a_tiny_effect_is_not_called_chance(self) -> None:
        rng = np.random.default_rng(0)
        x, noise = rng.random((2, 60_000))
        found = pa.analyze({"x": x, "y": rng.random(60_000), "loss": noise - 0.03 * x}, "loss").importance(**BY_COUNTS)
        assert found["x"].p_adjusted < 0.05
        assert not found["x"].significant
        assert not any("distinguishable from noise" in note for note in found.notes)
        assert "Every effect is below 0.5 %." in found.summary()

    def test_columns_hold_them(self, analysis: pa.Analysis) -> None:
        columns = analysis.importance(**BY_COUNTS).to_dict()
        assert {"low", "high", "p_value", "significant"} <= columns.keys()

    def test_conditional_parameters(self, trials: dict[str, np.ndarray]) -> None:
        trials["momentum"] = np.where(trials["optimizer"] == "sgd", trials["momentum"], np.nan)
        found = pa.analyze(trials, objective="loss").importance(**BY_COUNTS)
        assert found["momentum"].activity > 0
        assert not found["momentum"].significant  # that it is active at all is the optimizer's credit
        assert found["optimizer"].significant


class TestFewRows:
    def test_below_five_rows_there_is_no_answer(self, trials: dict[str, np.ndarray]) -> None:
        """A best part is widened to five rows; values of the objective are not."""
        few = first_rows(trials, 30)
        assert {row.n_target for row in few.importance(0.1, **BY_COUNTS).rows} == {5}
        one = lambda: few.importance(pa.at_most(float(np.min(trials["loss"][:30]))), **BY_COUNTS)  # noqa: E731
        refuse(QueryError, "1 of 30 rows,", "force=True", of=one)

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    def test_unless_forced(self, trials: dict[str, np.ndarray], baseline: str) -> None:
        found = first_rows(trials, 30).importance(0.1, force=True, baseline=baseline, **BY_COUNTS)
        for row in found.rows:
            assert row.n_target == 3
            assert 0.0 <= row.low <= max(0.0, row.share) <= row.high
            assert 0.0 < row.p_value <= 1.0
        assert any("only 3 rows" in note for note in found.notes)

    def test_below_twenty_rows_numbers_are_rough(self, trials: dict[str, np.ndarray]) -> None:
        few, enough = (first_rows(trials, n).importance(0.1, **BY_COUNTS) for n in (190, 200))
        assert any("only 19 rows" in note for note in few.notes)
        assert not any("only" in note for note in enough.notes)

    def test_fewer_rows_widen_the_interval(self, trials: dict[str, np.ndarray]) -> None:
        few, all_rows = (first_rows(trials, n).importance(0.1, **BY_COUNTS)["lr"] for n in (100, 400))
        assert few.high - few.low > all_rows.high - all_rows.low


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("estimator", "x", "'auto', 'counts', 'surrogate' or 'paper'"),
        ("estimator", None, "'auto', 'counts', 'surrogate' or 'paper'"),
        ("draws", -1, "whole number of at least 0"),
        ("draws", True, "whole number of at least 0"),
        ("draws", 10**9, "at least 0 and below 1,000,001"),
        ("draws", 10.5, "whole number of at least 0"),
        ("seed", -1, "whole number of at least 0"),
        ("seed", "a", "whole number of at least 0"),
        ("seed", None, "whole number of at least 0"),
        ("baseline", "prior", "'region' or 'uniform'"),
    ],
)
def test_bad_options_are_named(analysis: pa.Analysis, option: str, value: object, part: str) -> None:
    refuse(QueryError, f"{option}={value!r}", part, of=lambda: analysis.importance(**{option: value}))
