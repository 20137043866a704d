"""From rows to answers, held against exact shares and the laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.data.regions import as_region, at_most, between
from pedanova.measures.chance.ranked_rows import RankedRows, ranked
from pedanova.measures.surrogate.drawn import Drawn
from pedanova.measures.surrogate.learner import Lesson, learn, scores_of
from pedanova.measures.surrogate.shares import DrawnShares, drawn_shares, measured, ratios_of
from pedanova.space.grid import grid_of

ALL = as_region(1.0, "region")


def drawn_of(rows: RankedRows, **options: Any) -> Drawn:
    drawn = learn(rows, **options).drawn
    assert drawn is not None
    return drawn


def asked(drawn: Drawn, target: Any = 0.1, region: Any = ALL, **options: Any) -> DrawnShares:
    found = drawn_shares(drawn, as_region(target, "target"), as_region(region, "region"), "minimize", **options)
    assert found is not None
    return found


def named(drawn: Drawn, **options: Any) -> dict[str, float]:
    found = asked(drawn, **options)
    return dict(zip(found.names, found.share(uneven=drawn.uneven).tolist(), strict=True))


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
    found = drawn_shares(turned, as_region(0.1, "target"), ALL, "maximize")
    assert found is not None
    assert dict(zip(found.names, found.share(uneven=False).tolist(), strict=True)) == told


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


def test_a_file_gives_the_same_answers() -> None:
    drawn = drawn_of(rows_of(*study()))
    again = Drawn.from_arrays(drawn.space, drawn.to_arrays())
    for target, region in ((0.1, 1.0), (at_most(0.5), 1.0), (0.05, 0.3)):
        one, two = asked(drawn, target, region), asked(again, target, region)
        assert np.array_equal(one.each, two.each)
    assert sum(array.nbytes for array in drawn.to_arrays().values()) < 1_000_000


def test_equal_sets_of_rows_have_equal_answers() -> None:
    columns, loss, space = study()
    tied = np.where(loss <= np.quantile(loss, 0.3), 0.0, loss)
    drawn = drawn_of(rows_of(columns, tied, space))
    one, two, three = (asked(drawn, target).each for target in (0.01, 0.1, 0.3))
    assert np.array_equal(one, two)
    assert np.array_equal(two, three)
    assert asked(drawn, 0.01).part == pytest.approx(np.mean(tied == 0.0), abs=1e-3)


def test_another_seed_is_near(told: dict[str, float]) -> None:
    other = named(drawn_of(rows_of(*study()), seed=1))
    assert list(other.values()) == pytest.approx(list(told.values()), abs=0.05)


# --- right answers ---------------------------------------------------------------------------------


def test_shares_of_a_plain_function_are_found() -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.random(150) for name in "abc"}
    loss = np.abs(columns["a"] - 0.5) + 0.5 * np.abs(columns["b"] - 0.5)
    drawn = drawn_of(rows_of(columns, loss, dict.fromkeys("abc", pa.Float(0, 1))))
    big = rng.random((400_000, 2))
    exact = np.abs(big[:, 0] - 0.5) + 0.5 * np.abs(big[:, 1] - 0.5)
    inside = exact <= np.quantile(exact, 0.1)
    shares = [share_of(big[:, j], inside) for j in (0, 1)]
    found = named(drawn)
    assert [found["a"], found["b"]] == pytest.approx(shares, rel=0.25)
    assert abs(found["c"]) < 0.01
    low, high = asked(drawn).interval()
    assert np.all(low[:2] <= shares)
    assert np.all(shares <= high[:2])


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
        lesson = learn(rows_of(columns, rng.random(60), dict.fromkeys("abcde", pa.Float(0, 1))))
        trusted += lesson.skill.trusted
        assert (lesson.drawn is None) == (not lesson.skill.trusted)
    assert trusted == 0


def test_what_cannot_be_learned_is_said() -> None:
    rng = np.random.default_rng(0)
    space = pa.Space({"a": pa.Float(0, 1)})
    for a, loss in ((np.full(50, 7), rng.random(50)), (rng.integers(0, 1001, 50), np.ones(50))):
        rows = ranked(space, {"a": a.astype(np.int32)}, loss, rows=np.arange(50), trials=None)
        lesson: Lesson = learn(rows)
        assert lesson.drawn is None
        assert lesson.skill.correlation == 0.0


# --- questions -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return drawn_of(rows_of(*study(200)))


def test_values_and_quantiles_meet(drawn: Drawn) -> None:
    loss = np.sort(study(200)[1])
    by_value = drawn.places(at_most(float(loss[39])).cuts("minimize")[1])  # type: ignore[arg-type]
    assert by_value.mean() == pytest.approx(0.2 * len(drawn), rel=0.2)
    assert np.all(drawn.places(as_region(0.2, "x").cuts("minimize")[1]) == np.ceil(0.2 * len(drawn)))  # type: ignore[arg-type]
    assert np.all(drawn.places(at_most(float(loss[0]) - 1).cuts("minimize")[1]) == 0)  # type: ignore[arg-type]
    assert np.all(drawn.places(at_most(float(loss[-1])).cuts("minimize")[1]) == len(drawn))  # type: ignore[arg-type]


def test_a_band_lies_between(drawn: Drawn) -> None:
    shelf = drawn.shelf()
    band, wide, narrow = (
        drawn.count(drawn.ends(region, "minimize"), shelf)
        for region in (between(0.1, 0.4), as_region(0.4, "x"), as_region(0.1, "x"))
    )
    assert np.array_equal(band + narrow, wide)


def test_a_box_keeps_its_points(drawn: Drawn) -> None:
    grid = grid_of(drawn.space["lr"])
    half = np.arange(grid.width) < grid.cells // 2
    box = drawn.box({"lr": half})
    assert box.mean() == pytest.approx(0.5, abs=0.01)
    found = asked(drawn, 0.1, box=box)
    assert np.isfinite(found.each).all()
    assert np.array_equal(asked(drawn, 0.1, box=np.ones(len(drawn), dtype=bool)).each, asked(drawn, 0.1).each)


def test_a_target_without_points_is_none(drawn: Drawn) -> None:
    loss = study(200)[1]
    assert drawn_shares(drawn, at_most(float(loss.min()) - 1.0), ALL, "minimize") is None


def test_a_uniform_baseline_is_near_the_points_own(drawn: Drawn) -> None:
    one, two = asked(drawn), asked(drawn, baseline="uniform")
    assert one.each.mean(axis=0) == pytest.approx(two.each.mean(axis=0), abs=0.02)


def test_activity_is_part_of_the_share(drawn: Drawn) -> None:
    found = asked(drawn)
    by_name = dict(zip(found.names, found.activity.tolist(), strict=True))
    assert 0 < by_name["momentum"] < 1
    assert by_name["lr"] == by_name["units"] == 0.0


def test_counting_agrees_with_the_measure() -> None:
    from pedanova.counting.contrasts import Contrast
    from pedanova.measures.importance import measure

    drawn = drawn_of(rows_of(*study()))
    shelf = drawn.shelf()
    ends = drawn.ends(as_region(0.1, "x"), "minimize")
    targets = drawn.count(ends, shelf)
    everywhere = drawn.count(ends, shelf, everywhere=True)
    for baseline in ("region", "uniform"):
        found = measured(tuple(drawn.space), shelf, targets, everywhere, baseline)
        assert found is not None
        for j, name in enumerate(drawn.space):
            parameter = drawn.space[name]
            grid = grid_of(parameter)
            if grid.cells > 50:
                continue
            cells = slice(int(shelf.starts[j]), int(shelf.starts[j + 1]))
            target, region = np.r_[targets[0, cells], 0], np.r_[everywhere[0, cells], 0]
            row = measure(Contrast(name, grid, target, region), baseline=baseline, smoothing="none")
            assert found.each[0, j] == pytest.approx(row.share, abs=1e-12)


def test_ratios_follow_shares() -> None:
    assert ratios_of(np.array([0.3, 0.1, -0.1])) == pytest.approx([0.75, 0.25, 0.0])
    assert ratios_of(np.array([-0.1, 0.0])).tolist() == [0.0, 0.0]


def test_scores_are_those_of_the_space() -> None:
    levels = np.array([0, 1, 2, 3])
    even, uneven = scores_of(levels, np.ones(4)), scores_of(levels, np.array([0.1, 0.1, 0.1, 3.7]))
    assert even == pytest.approx(-even[::-1])
    assert np.all(uneven[:3] < even[:3])
