"""From rows to answers, held against exact shares and the laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.counting.few_rows import FewRows
from pedanova.data.regions import Region, at_most
from pedanova.measures.chance.ranked_rows import RankedRows, ranked_rows
from pedanova.measures.surrogate.fit import FittedModel, fit, scores_of
from pedanova.measures.surrogate.posterior import PosteriorSamples
from pedanova.measures.surrogate.summaries import SampledShares, can_tell, sampled_shares, shares_of_counts
from pedanova.space.grid import grid_of

ALL = Region.parse(1.0, "region")


def drawn_of(rows: RankedRows, **options: Any) -> PosteriorSamples:
    samples = fit(rows, **options).samples
    assert samples is not None
    return samples


def asked(samples: PosteriorSamples, target: Any = 0.1, region: Any = ALL, **options: Any) -> SampledShares:
    spans = (samples.ranks.range_of(Region.parse(one, "rows"), "minimize") for one in (target, region))
    return sampled_shares(samples, *spans, **options)


def named(samples: PosteriorSamples, **options: Any) -> dict[str, float]:
    found = asked(samples, **options)
    return dict(zip(found.names, found.uncorrected().share.tolist(), strict=True))


# --- laws ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told() -> dict[str, float]:
    return named(drawn_of(rows_of(*study())))


def test_any_order_of_rows_and_columns(told: dict[str, float]) -> None:
    columns, loss, space = study()
    order = np.random.default_rng(1).permutation(len(loss))
    shuffled = {name: column[order] for name, column in reversed(columns.items())}
    assert named(drawn_of(rows_of(shuffled, loss[order], dict(reversed(space.items()))))) == told


def test_any_monotone_transform(told: dict[str, float]) -> None:
    columns, loss, space = study()
    assert named(drawn_of(rows_of(columns, np.exp(loss), space))) == told
    turned = drawn_of(rows_of(columns, -loss, space, direction="maximize"))
    assert named(turned) == told


def test_any_names_of_the_categories(told: dict[str, float]) -> None:
    columns, loss, space = study()
    new = {"adam": "zeta", "sgd": "alpha", "rms": "mid"}
    renamed = {**columns, "kind": np.array([new[kind] for kind in columns["kind"]], dtype=object)}
    kinds = pa.Categorical(["alpha", "mid", "zeta"])
    child = pa.Float(0, 1, when={"kind": ["alpha"]})
    assert named(drawn_of(rows_of(renamed, loss, {**space, "kind": kinds, "momentum": child}))) == told


def test_a_constant_column_changes_nothing(told: dict[str, float]) -> None:
    columns, loss, space = study()
    more = named(drawn_of(rows_of({**columns, "a": np.ones(len(loss))}, loss, {**space, "a": pa.Float(0, 2)})))
    assert {name: more[name] for name in told} == told


def test_rows_told_twice_are_told_once(told: dict[str, float]) -> None:
    columns, loss, space = study()
    twice = {name: np.tile(column, 2) for name, column in columns.items()}
    assert named(drawn_of(rows_of(twice, np.tile(loss, 2), space))) == told


def test_equal_sets_of_rows_have_equal_answers() -> None:
    columns, loss, space = study()
    tied = np.where(loss <= np.quantile(loss, 0.3), 0.0, loss)
    samples = drawn_of(rows_of(columns, tied, space))
    one, two, three = (asked(samples, target).each for target in (0.01, 0.1, 0.3))
    assert np.array_equal(one, two)
    assert np.array_equal(two, three)
    assert asked(samples, 0.01).part == pytest.approx(np.mean(tied == 0.0), abs=1e-3)


def test_another_seed_is_near(told: dict[str, float]) -> None:
    other = named(drawn_of(rows_of(*study()), seed=1))
    assert list(other.values()) == pytest.approx(list(told.values()), abs=0.05)


# --- right answers ---------------------------------------------------------------------------------


def test_shares_of_a_plain_function_are_found() -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.random(150) for name in "abc"}
    loss = np.abs(columns["a"] - 0.5) + 0.5 * np.abs(columns["b"] - 0.5)
    samples = drawn_of(rows_of(columns, loss, dict.fromkeys("abc", pa.Float(0, 1))))
    big = rng.random((400_000, 2))
    exact = np.abs(big[:, 0] - 0.5) + 0.5 * np.abs(big[:, 1] - 0.5)
    inside = exact <= np.quantile(exact, 0.1)
    shares = [share_of(big[:, j], inside) for j in (0, 1)]
    found = named(samples)
    assert [found["a"], found["b"]] == pytest.approx(shares, rel=0.25)
    assert abs(found["c"]) < 0.01
    estimated = asked(samples).uncorrected()
    low, high = estimated.low, estimated.high
    assert np.all(low[:2] <= shares)
    assert np.all(shares <= high[:2])


def test_a_jump_that_two_make_together_hides_no_third() -> None:
    """A process of all rows takes the jump for noise; one of the better half never sees it."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 0x0A])
        x = rng.random((5, 300))
        loss = ((x[0] > 0.5) ^ (x[1] > 0.5)) + 0.5 * np.abs(x[2] - 0.4) + 0.05 * rng.normal(size=300)
        space = {f"x{j}": pa.Float(0, 1) for j in range(5)}
        a = pa.analyze({f"x{j}": x[j] for j in range(5)}, loss, space=space, direction="min")
        found.append(a.importance(0.1)["x2"])
    assert np.mean([row.ratio for row in found]) > 0.87  # of all that single parameters explain it is everything
    for row in found:
        assert row.low is not None
        assert row.high is not None
        assert row.low < 0.182 < row.high


def share_of(x: np.ndarray, inside: np.ndarray) -> float:
    cells = (x * 40).astype(int)
    target, region = np.bincount(cells[inside], minlength=40) / inside.sum(), np.bincount(cells) / len(x)
    part = inside.mean()
    return float(part / (1 - part) * (np.sum(target**2 / region) - 1))


def test_noise_is_not_learned() -> None:
    trusted = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        columns = {name: rng.random(60) for name in "abcde"}
        fitted = fit(rows_of(columns, rng.random(60), dict.fromkeys("abcde", pa.Float(0, 1))))
        trusted += fitted.skill.trusted
        assert (fitted.samples is None) == (not fitted.skill.trusted)
    assert trusted == 0


def test_what_cannot_be_learned_is_said() -> None:
    rng = np.random.default_rng(0)
    space = pa.Space({"a": pa.Float(0, 1)})
    for a, loss in ((np.full(50, 7), rng.random(50)), (rng.integers(0, 1001, 50), np.ones(50))):
        rows = ranked_rows(space, FewRows({"a": a.astype(np.int32)}, {}, loss, np.arange(50), None))
        fitted: FittedModel = fit(rows)
        assert fitted.samples is None
        assert fitted.skill.correlation == 0.0


# --- questions -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples() -> PosteriorSamples:
    return drawn_of(rows_of(*study(200)))


def test_values_and_quantiles_meet(samples: PosteriorSamples) -> None:
    loss = np.sort(study(200)[1])
    ends = [
        samples.ends(samples.ranks.range_of(region, "minimize")) for region in (at_most(loss[39]), Region.parse(0.2))
    ]
    assert ends[0] == ends[1] == (0, np.ceil(0.2 * len(samples)))
    assert samples.ends(samples.ranks.range_of(at_most(loss[0] - 1), "minimize")) == (0, 0)
    assert samples.ends(samples.ranks.range_of(at_most(loss[-1]), "minimize")) == (0, len(samples))


def test_a_band_lies_between(samples: PosteriorSamples) -> None:
    regions = Region("quantile", Fraction(1, 10), Fraction(4, 10)), Region.parse(0.4, "x"), Region.parse(0.1, "x")
    band, wide, narrow = (samples.count(samples.ranks.range_of(region, "minimize")) for region in regions)
    assert np.array_equal(band + narrow, wide)


def test_a_box_keeps_its_points(samples: PosteriorSamples) -> None:
    grid = grid_of(samples.space["lr"])
    half = np.arange(grid.width) < grid.cells // 2
    box = samples.box({"lr": half})
    assert box.mean() == pytest.approx(0.5, abs=0.01)
    inner = samples.narrowed(box, samples.ranks)
    assert len(inner) == box.sum()
    assert np.array_equal(np.sort(inner.order, axis=1), np.tile(np.arange(len(inner)), (inner.draws, 1)))
    assert inner.cells("lr").max() < grid.cells // 2
    everywhere = samples.narrowed(np.ones(len(samples), dtype=bool), samples.ranks)
    assert np.array_equal(asked(everywhere).each, asked(samples).each)


def test_a_target_without_points_cannot_be_told(samples: PosteriorSamples) -> None:
    none = samples.ranks.range_of(at_most(study(200)[1].min() - 1.0), "minimize")
    assert not can_tell(samples, none, (0, len(samples.ranks)))
    assert can_tell(samples, (0, 20), (0, len(samples.ranks)))
    assert not can_tell(samples, (0, 20), (0, 20))


def test_a_uniform_baseline_is_near_the_points_own(samples: PosteriorSamples) -> None:
    one, two = asked(samples), asked(samples, baseline="uniform")
    assert one.each.mean(axis=0) == pytest.approx(two.each.mean(axis=0), abs=0.02)


def test_activity_is_part_of_the_share(samples: PosteriorSamples) -> None:
    found = asked(samples)
    by_name = dict(zip(found.names, found.activity.tolist(), strict=True))
    assert 0 < by_name["momentum"] < 1
    assert by_name["lr"] == by_name["units"] == 0.0


def test_counting_agrees_with_the_measure() -> None:
    from pedanova.counting.contrasts import Contrast
    from pedanova.measures.importance import measure

    samples = drawn_of(rows_of(*study()))
    grids = samples.grids
    targets = samples.count(samples.ranks.range_of(Region.parse(0.1, "x"), "minimize"))
    everywhere = samples.count((0, len(samples.ranks)))
    children = np.array([name == "momentum" for name in samples.space])
    for baseline, told in product(("region", "uniform"), (children, children & False)):
        found = shares_of_counts(tuple(samples.space), grids, targets, everywhere, baseline, told)
        for j, name in enumerate(samples.space):
            parameter = samples.space[name]
            grid = grid_of(parameter)
            if grid.cells > 50:
                continue
            cells = slice(int(grids.starts[j]), int(grids.starts[j + 1]))
            target, region = np.r_[targets[0, cells], 0], np.r_[everywhere[0, cells], 0]
            row = measure(Contrast(name, grid, target, region, bool(told[j])), baseline=baseline, smoothing="none")
            assert found.each[0, j] == pytest.approx(row.share, abs=1e-12)


def test_scores_are_those_of_the_space() -> None:
    levels = np.array([0, 1, 2, 3])
    even, adaptive = scores_of(levels, np.ones(4)), scores_of(levels, np.array([0.1, 0.1, 0.1, 3.7]))
    assert even == pytest.approx(-even[::-1])
    assert np.all(adaptive[:3] < even[:3])
