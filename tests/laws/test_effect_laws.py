"""Laws of effects: what may change without changing them, and exact f-ANOVA on complete lattices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.base.kernel import library as kernel
from pedanova.counting.arrays import sum_moments
from pedanova.counting.levels import Levels, as_ladder
from pedanova.counting.tally import Moments, centres_of
from pedanova.errors import MergeError
from pedanova.results import Effects

ROWS = st.integers(20, 300)
SEEDS = st.integers(0, 2**32 - 1)
SPACE = {"x": pa.Float(0, 1), "k": pa.Int(0, 19), "colour": pa.Categorical(["red", "green", "blue"])}


def table(seed: int, rows: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    x, k = random.random(rows), random.integers(0, 20, rows)
    colour = random.choice(["red", "green", "blue"], rows)
    return {"x": x, "k": k, "colour": colour, "loss": 3 * x + 0.1 * k + random.normal(size=rows)}


def numbers(found: Effects) -> dict[str, tuple[float, ...]]:
    return {row.name: (row.variance, row.share, row.raw_share, row.ratio) for row in found.rows}


def same(one: Effects, two: Effects, *, rel: float = 1e-9) -> None:
    assert (one.mean, one.total_variance) == pytest.approx((two.mean, two.total_variance), rel=rel)
    left, right = numbers(one), numbers(two)
    assert left.keys() == right.keys()
    for name in left:
        assert left[name] == pytest.approx(right[name], rel=rel, abs=rel)


def analyze(data: dict[str, np.ndarray], **options: object) -> pa.Analysis:
    return pa.analyze(data, "loss", space=SPACE, **options)  # type: ignore[arg-type]


@given(SEEDS, ROWS, st.floats(0.01, 100), st.floats(-100, 100))
def test_affine_transforms(seed: int, rows: int, scale: float, shift: float) -> None:
    data = table(seed, rows)
    one = analyze(data).effects(0.6)
    two = analyze(data | {"loss": scale * data["loss"] + shift}).effects(0.6)
    assert two.n_region == one.n_region
    assert two.total_variance == pytest.approx(scale**2 * one.total_variance, rel=1e-6)
    for name in one:
        assert two[name].variance == pytest.approx(scale**2 * one[name].variance, rel=1e-6, abs=1e-9)
        assert two[name].share == pytest.approx(one[name].share, abs=1e-7)


@given(SEEDS, ROWS)
def test_maximize_is_minimize_of_the_negative(seed: int, rows: int) -> None:
    data = table(seed, rows)
    one = analyze(data).effects(0.5, clip=0.2)
    two = analyze(data | {"loss": -data["loss"]}, direction="maximize").effects(0.5, clip=0.2)
    assert two.mean == pytest.approx(-one.mean)
    for name in one:
        assert numbers(two)[name] == pytest.approx(numbers(one)[name])


@given(SEEDS, ROWS)
def test_duplication_leaves_the_plain_numbers(seed: int, rows: int) -> None:
    data = table(seed, rows)
    one = analyze(data).effects(0.5, smoothing=3.0)
    two = analyze({name: np.tile(column, 2) for name, column in data.items()}).effects(0.5, smoothing=3.0)
    for name in one:
        assert two[name].variance == pytest.approx(one[name].variance)
        assert two[name].raw_share == pytest.approx(one[name].raw_share)


@given(SEEDS, ROWS, st.integers(2, 4))
def test_parts_add_up_to_the_whole(seed: int, rows: int, parts: int) -> None:
    data = table(seed, rows)
    whole = analyze(data)
    pieces = [analyze({n: c[i::parts] for n, c in data.items()}, levels=whole.data.levels) for i in range(parts)]
    added = sum(pieces)
    assert isinstance(added, pa.Analysis)
    same(added.effects(0.5), whole.effects(0.5))
    same(added.effects(clip=0.3), whole.effects(clip=0.3))


@given(SEEDS)
def test_a_constant_column_has_no_effect_and_no_share_leaves_its_range(seed: int) -> None:
    data = table(seed, 100) | {"k": np.full(100, 7)}
    found = analyze(data).effects()
    assert found["k"].variance == pytest.approx(0.0, abs=1e-12)
    for row in found.rows:
        assert -1e-12 <= row.raw_share <= 1 + 1e-12


def test_chance_is_taken_off() -> None:
    """Objectives shuffled among the rows: the corrected share is 0 on average, smoothed or not."""
    random = np.random.default_rng(0)
    data = table(1, 150)
    shares = []
    for _ in range(120):  # the plain share, which chance swells, is 11 errors away and more
        found = analyze(data | {"loss": random.permutation(data["loss"])}).effects()
        shares.append([found[name].share for name in SPACE])
    mean, error = np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(len(shares))
    assert np.all(np.abs(mean) < 4 * error)


def main_effects(values: np.ndarray) -> tuple[list[float], float]:
    """f-ANOVA of a complete table by means alone: main effects, and all that is left."""
    mains = []
    fitted = np.full(values.shape, values.mean())
    for axis in range(values.ndim):
        others = tuple(i for i in range(values.ndim) if i != axis)
        part = values.mean(axis=others, keepdims=True) - values.mean()
        mains.append(float((part**2).mean()))
        fitted = fitted + part
    return mains, float(((values - fitted) ** 2).mean())


@given(SEEDS, st.integers(2, 6), st.integers(2, 5), st.integers(1, 4))
def test_complete_lattices(seed: int, first: int, second: int, third: int) -> None:
    values = np.random.default_rng(seed).normal(size=(first, second, third)).round(3)
    assume(values.std() > 0)
    mains, rest = main_effects(values)
    axes = np.meshgrid(*(np.arange(n) for n in values.shape), indexing="ij")
    data = {f"x{i}": axis.ravel() for i, axis in enumerate(axes)}
    space = {f"x{i}": pa.Ordinal(list(range(max(2, n)))) for i, n in enumerate(values.shape)}
    found = pa.analyze(data, values.ravel(), space=space).effects()
    assert [found[name].variance for name in data] == pytest.approx(mains, abs=1e-12)
    assert sum(mains) + rest == pytest.approx(found.total_variance)


@pytest.mark.parametrize("offset", [1e6, -1e6])
def test_a_large_offset_keeps_six_digits(offset: float) -> None:
    data = table(3, 5_000)
    one = analyze(data)
    two = analyze(data | {"loss": data["loss"] + offset})
    for region in (1.0, 0.01):
        same_but_mean = one.effects(region), two.effects(region)
        assert same_but_mean[1].total_variance == pytest.approx(same_but_mean[0].total_variance, rel=1e-6)
        for name in SPACE:
            assert same_but_mean[1][name].variance == pytest.approx(same_but_mean[0][name].variance, rel=1e-6)


def test_the_best_rows_may_differ_in_the_eighth_digit() -> None:
    """A centre in the middle of all rows would leave no digit of this variance."""
    loss = np.concatenate([1e-9 * np.arange(1_000), np.full(1_000, 1.0), [5.0]])
    a = pa.analyze({"x": np.arange(2_001) % 7}, loss, params=["x"])
    found = a.effects(pa.at_most(1e-6))
    assert found.total_variance == pytest.approx((1e-9 * np.arange(1_000)).var(), rel=1e-9)


def test_loaded_is_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    a = analyze(table(5, 400))
    a.save(tmp_path / "a.pedanova")
    loaded = pa.load(tmp_path / "a.pedanova")
    assert loaded.effects(0.1) == a.effects(0.1)
    assert loaded.effects(clip=0.1) == a.effects(clip=0.1)


class TestMoments:
    @staticmethod
    def both(objective: np.ndarray, levels: Levels, monkeypatch: pytest.MonkeyPatch, threads: int) -> Moments:
        observed = pa.analyze({"x": np.arange(len(objective)) % 5}, objective, params=["x"]).data.observations
        assert observed is not None
        fast = sum_moments(observed, levels, threads=threads)
        with monkeypatch.context() as patch:
            patch.setattr(kernel, "available", lambda: False)
            slow = sum_moments(observed, levels)
        np.testing.assert_array_equal(fast.rows, slow.rows)
        for one, two in ((fast.sums, slow.sums), (fast.squares, slow.squares)):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9, equal_nan=True)
        return fast

    @pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
    @pytest.mark.parametrize("count", [3, 400])
    @pytest.mark.parametrize("threads", [1, 3])
    def test_kernel_equals_judge(self, dtype: str, count: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
        objective = (np.random.default_rng(0).random(600_000)[::2] * 200).astype(dtype)
        cuts = np.append(np.linspace(0, 190, count), np.inf)
        levels = Levels("minimize", "drop", cuts, as_ladder([]), (count,))
        found = self.both(objective, levels, monkeypatch, threads)
        spread = found.spread(0, levels.count)
        assert spread.mean == pytest.approx(objective.mean(dtype=float), rel=1e-9)
        assert spread.variance == pytest.approx(objective.var(dtype=float), rel=1e-9)

    def test_numbers_that_have_no_square(self, monkeypatch: pytest.MonkeyPatch) -> None:
        objective = np.array([0.0, 1.0, 2.0, np.inf, -np.inf, 1e200, np.nan, 3.0])
        levels = Levels("minimize", "worst", np.array([-np.inf, 1.0, 3.0, np.inf]), as_ladder([]), (3,))
        found = self.both(objective, levels, monkeypatch, 1)
        assert found.spread(1, 3).mean == pytest.approx(1.5)
        assert found.spread(1, 3).variance == pytest.approx(1.25)
        for first, last in [(0, 1), (0, 3), (3, 4), (2, 2)]:
            assert np.isnan([found.spread(first, last).mean, found.spread(first, last).variance]).all()
        assert found.clipped(3, 3.0).spread(1, 4).mean == pytest.approx((0 + 1 + 2 + 3 + 3 * 3) / 7)

    def test_only_like_moments_add(self) -> None:
        cuts = np.array([1.0, np.inf])
        one = centres_of(Levels("minimize", "drop", cuts, as_ladder([]), (1,)))
        empty = Moments(one, np.zeros(2, dtype=np.int64), np.zeros(2), np.zeros(2))
        other = Moments(one + 1, empty.rows, empty.sums, empty.squares)
        assert (empty + empty).rows.tolist() == [0, 0]
        with pytest.raises(MergeError, match="different levels"):
            empty + other
        with pytest.raises(MergeError, match="moments have the shapes"):
            Moments(one, empty.rows[:1], empty.sums, empty.squares)
        with pytest.raises(TypeError):
            empty + 1
