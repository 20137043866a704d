"""Levels borrowed from other rows, and analyses added: what a quantile then means is told, never guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pedanova as pa
from helpers.common import COUNTS
from helpers.kernels import smoothing_matrix
from pedanova.errors import LevelsError, MergeError

SPACE = {"x": pa.Float(0, 1)}


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


def table(values: np.ndarray) -> dict[str, np.ndarray]:
    return {"x": values, "y": values}


def test_every_value_is_found_in_rows_the_levels_were_not_cut_from(random: np.random.Generator) -> None:
    few, many = random.random(100), random.random(5000)
    a = pa.analyze(table(few), "y", space=SPACE)
    b = pa.analyze(table(many), "y", space=SPACE, levels=a.data.levels)
    assert a.data.levels.complete
    assert not b.data.levels.complete
    value = float(np.sort(few)[10:12].mean())
    assert b.importance(pa.at_most(value), **COUNTS)["x"].n_target == int(np.sum(many <= value))
    with pytest.raises(LevelsError, match=r"no longer available|not cut at"):
        (a + b).importance(pa.at_most(value), **COUNTS)
    with pytest.raises(LevelsError, match="levels come from another analysis"):
        b.importance(0.115, **COUNTS)


def test_a_quantile_of_other_rows_is_told(random: np.random.Generator) -> None:
    x = random.random(5000)
    a = pa.analyze(table(x), "y", space=SPACE)
    for scale, more in ((1.25, False), (0.8, True)):
        b = pa.analyze({"x": x, "y": x * scale}, "y", space=SPACE, levels=a.data.levels)
        found = b.importance(0.1, 0.5, **COUNTS)
        assert (found["x"].n_region > 2500) == more
        assert any(note.startswith("region: with the levels of the other analysis, the best") for note in found.notes)
        assert b.importance(pa.at_most(0.07), 0.5, **COUNTS)["x"].n_region == found["x"].n_region


def test_a_model_answers_for_added_tables(random: np.random.Generator, tmp_path: Path) -> None:
    """The rows of both are kept, also in a file, so the answer is nearly that of one table."""
    space = {name: pa.Float(0, 1) for name in "abc"}
    columns = {name: random.random(200) for name in space}
    columns["loss"] = (columns["a"] - 0.3) ** 2 + 0.2 * columns["b"]
    whole = pa.analyze(columns, "loss", space=space).importance()
    one = pa.analyze({name: values[:100] for name, values in columns.items()}, "loss", space=space)
    levels = one.data.levels
    two = pa.analyze({name: values[100:] for name, values in columns.items()}, "loss", space=space, levels=levels)
    both = (one + two).importance()
    assert both.estimator == whole.estimator == "surrogate"
    for row in whole.rows:
        assert row.low <= max(0.0, both[row.name].share) <= row.high
        assert both[row.name].significant == row.significant or row.share < 0.01
    assert (two + one).importance() == both
    (one + two).save(tmp_path / "rows.pedanova")
    (one + two).save(tmp_path / "counts.pedanova", rows=False)
    assert pa.load(tmp_path / "rows.pedanova").importance() == both
    assert pa.load(tmp_path / "counts.pedanova").importance().estimator == "counts"


def test_a_streamed_table_answers_alike_after_saving(random: np.random.Generator, tmp_path: Path) -> None:
    x, z = random.random((2, 300))
    pl.DataFrame({"x": x, "z": z, "y": (x - 0.3) ** 2 + 0.1 * z}).write_parquet(tmp_path / "t.parquet")
    streamed = pa.analyze(tmp_path / "t.parquet", "y", params=["x", "z"], scan=pa.Scan(stream=True))
    streamed.save(tmp_path / "t.pedanova")
    answer = streamed.importance()
    assert answer.estimator == "surrogate"
    assert pa.load(tmp_path / "t.pedanova").importance() == answer


def test_adding_does_not_depend_on_the_order(random: np.random.Generator) -> None:
    """Equal thresholds that stand for different quantiles are refused, whichever comes first."""
    one = np.repeat([0.0, 1.0, 2.0], [10, 90, 100])
    two = np.repeat([0.0, 1.0, 2.0], [120, 40, 40])
    a, b = (pa.analyze({"x": random.random(200), "y": y}, "y", space=SPACE) for y in (one, two))
    for pair in ((a, b), (b, a)):
        with pytest.raises(MergeError, match="quantiles or their thresholds differ"):
            pair[0] + pair[1]
    c = pa.analyze({"x": random.random(200), "y": two}, "y", space=SPACE, levels=a.data.levels)
    assert (a + c).importance(0.1, **COUNTS)["x"].n_target == (c + a).importance(0.1, **COUNTS)["x"].n_target == 260


def test_infinite_bounds_lose_no_row(random: np.random.Generator) -> None:
    x = random.random(2000)
    for direction, sign in (("minimize", 1), ("maximize", -1)):
        y = sign * np.where(np.arange(2000) < 500, -np.inf, x)
        a = pa.analyze({"x": x, "y": y}, "y", space=SPACE, direction=direction)
        low, high = sorted((-sign * np.inf, sign * 0.1))
        expected = int(np.sum((y >= low) & (y <= high)))
        assert a.importance(pa.between(low, high, values=True), **COUNTS)["x"].n_target == expected


@pytest.mark.parametrize("region", [0.37, pa.at_most(0.5), "x < 0.5", {"x": (0, 0.5)}])
def test_a_profile_inside_any_region(random: np.random.Generator, region: object) -> None:
    x = random.random(2000)
    a = pa.analyze({"x": x, "z": random.random(2000), "y": x + random.random(2000)}, "y")
    profile = a.profile(region=region, estimator="counts")
    assert len(profile) > 5
    for step in list(profile)[::5]:
        assert step.rows == a.importance(step.quantile, region, **COUNTS).rows


def test_values_of_a_single_precision_objective(random: np.random.Generator) -> None:
    y = np.round(random.random(1000), 1).astype(np.float32)
    a = pa.analyze({"x": random.random(1000), "y": y}, "y")
    assert a.importance(pa.at_most(0.1), **COUNTS)["x"].n_target == int(np.sum(y <= np.float32(0.1)))
    assert a.importance(pa.at_least(0.9), **COUNTS)["x"].n_target == int(np.sum(y >= np.float32(0.9)))


def test_one_row_explains_nothing(random: np.random.Generator) -> None:
    a = pa.analyze({"x": random.random(60), "y": random.random(60)}, "y", space=SPACE)
    assert a.importance(0.01, **COUNTS)["x"].n_target == 1
    assert a.importance(0.01, **COUNTS)["x"].share <= 0
    assert any("only 1 row, so" in note for note in a.importance(0.01, **COUNTS).notes)


def test_a_very_wide_kernel_is_flat(random: np.random.Generator) -> None:
    a = pa.analyze({"x": random.random(500), "y": random.random(500)}, "y", space=SPACE)
    for width in (1e4, 1e9, np.int64(10**6), np.float32(1e5)):
        assert a.importance(smoothing=width, **COUNTS)["x"].divergence == pytest.approx(0, abs=1e-12)


def test_a_uniform_baseline_tells_when_it_measures_the_sampler(random: np.random.Generator) -> None:
    x = np.where(random.random(2000) < 0.95, 0.3 + 0.002 * random.standard_normal(2000), random.random(2000))
    data = {"x": np.clip(x, 0, 1), "z": random.random(2000), "y": (x - 0.3) ** 2}
    a = pa.analyze(data, "y", space={"x": pa.Float(0, 1), "z": pa.Float(0, 1)})
    notes = a.importance(0.3, baseline="uniform", **COUNTS).notes
    assert any("far from uniform in x: " in note for note in notes)
    (note,) = a.importance(0.3, **COUNTS).notes
    assert "far from uniform in x: the importances describe these rows" in note


def test_log_integers_have_one_rule_whatever_their_number(random: np.random.Generator) -> None:
    values = np.round(np.exp(random.uniform(0, np.log(1000), 1000)))
    data = {"v": values, "y": np.sin(4 * np.log(values))}
    shares = [
        pa.analyze(data, "y", space={"v": pa.Int(1, high, log=True)}).importance(0.3, **COUNTS)["v"].share
        for high in (1000, 1001, 1002, 1003)
    ]
    assert np.ptp(shares) < 0.02  # cells are merged, because copies are dropped, so rows are not log-uniform


def test_the_share_is_exact(random: np.random.Generator) -> None:
    """Against dense matrices, also where the kernel's tail is faint."""
    from pedanova.measures.smoothing import smooth, squared_smooth

    for width in (0.5, 1.0, 2.5, 20.0):
        counts = np.zeros(1001)
        np.add.at(counts, random.integers(0, 1001, 30), 1 / 30)
        matrix = smoothing_matrix(1001, width)
        base = matrix @ counts
        exact = ((matrix**2 @ counts)[base > 0] / base[base > 0]).sum()
        found = smooth(counts, width)
        quick = (squared_smooth(counts, width)[found > 0] / found[found > 0]).sum()
        assert quick == pytest.approx(exact, rel=1e-10)


def test_frozen_is_frozen(random: np.random.Generator) -> None:
    """What is kept cannot be written to, and the caller's own arrays stay as they were."""
    a = pa.analyze({"x": random.random(10), "y": random.random(10)}, "y", space=SPACE, levels=[1.0])
    shape = a.data.tallies["x"].counts.shape
    counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    tally = pa.Tally("x", SPACE["x"], a.data.levels, counts, sums)
    for kept in (a.data.levels.thresholds, tally.counts, tally.sums):
        assert not kept.flags.writeable
    counts[0, 0] = sums[0, 0] = 1


def test_an_objective_given_twice_is_no_parameter(random: np.random.Generator) -> None:
    y = random.random(100)
    a = pa.analyze({"x": random.random(100), "loss": y}, y)
    assert list(a.space) == ["x"]
    assert any("loss: has exactly the same numbers as the objective" in note for note in a.notes)
    assert list(pa.analyze({"x": random.random(100), "loss": y}, y, params=["loss"]).space) == ["loss"]


def test_results_show_themselves_as_tables(random: np.random.Generator) -> None:
    a = pa.analyze({"x": random.random(200), "y": random.random(200)}, "y")
    conclusion, table = repr(a.importance(**COUNTS)).split("\n\n")
    assert conclusion.startswith("No parameter clearly affects whether a trial is in the best 10 %.")
    assert [line.split()[0] for line in table.splitlines()][::2] == ["parameter", "x"]
    assert len(repr(a.densities("x")).splitlines()) <= 41
    assert repr(a.profile(estimator="counts")).startswith("target  rows")
