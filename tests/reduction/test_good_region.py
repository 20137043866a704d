"""Where good values lie: by rows, by a model, and after an adaptive sampler."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from pedanova.counting.few_rows import counted_rows, few_rows
from pedanova.data.regions import Region, as_rows
from pedanova.measures.question import Question
from pedanova.reduction.boxes import MOST_GROUPS, Axis, Box, Cloud, axis_of, poorest, way_down
from pedanova.reduction.good_region import (
    LEAST,
    LEAST_OF_CATEGORY,
    LEAST_OF_WHOLE,
    LEAST_TRIED,
    SLICES,
    WHOLE,
    GoodRegion,
    ModelGoodRegion,
    Search,
    TrialGoodRegion,
    cloud_of,
    configurations,
    good_region_of,
    leading,
    looked_at,
    roomier,
    trimmed,
)
from pedanova.results import ReducedSpace
from pedanova.space.grid import grid_of

SPACE = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "wd": pa.Float(0.0, 1.0),
    "kind": pa.Categorical(["a", "b", "c"]),
    "dull": pa.Float(0.0, 1.0),
}
KINDS = np.array(["a", "b", "c"])


def loss_of(units: Any, kind: Any) -> Any:
    """On the unit cube: best at lr 0.001, at the upper bound of wd, with kind b."""
    return 5 * (units[..., 0] - 0.4) ** 2 - 1.5 * units[..., 1] + 0.8 * (kind != "b")


def adaptive(
    rows: int, seed: int = 0, loss: Callable[..., Any] = loss_of
) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """A sampler that soon stays near the best of what it has seen, on dull parameters too."""
    random = np.random.default_rng(seed)
    units, kinds, losses = np.empty((rows, 3)), np.empty(rows, dtype="<U1"), np.empty(rows)
    for i in range(rows):
        units[i], kinds[i] = random.random(3), random.choice(KINDS)
        if i >= 20 and random.random() < 0.85:
            parent = random.choice(np.argsort(losses[:i])[: max(3, i // 6)])
            units[i] = np.clip(units[parent] + 0.1 * random.standard_normal(3), 0.0, 1.0)
            kinds[i] = kinds[parent] if random.random() < 0.8 else kinds[i]
        losses[i] = loss(units[i], kinds[i]) + 0.02 * random.standard_normal()
    columns = {"lr": 10 ** (5 * units[:, 0] - 5), "wd": units[:, 1], "kind": kinds, "dull": units[:, 2]}
    return columns, losses


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    return pa.analyze(*adaptive(200), space=SPACE)


@pytest.fixture(scope="module")
def found(a: pa.Analysis) -> ReducedSpace:
    return a.reduce()


def test_what_the_sampler_left_is_cut_off(found: ReducedSpace) -> None:
    lr = found.space["lr"]
    assert isinstance(lr, pa.Float)
    assert 1e-5 < lr.low < 1e-3 < lr.high < 1.0
    assert found.space["kind"] == pa.Categorical(["b"])
    assert found["wd"].advice == "widen"
    assert found["wd"].beyond[1] is not None
    assert "of 200 trials had other values" in found["lr"].reason
    assert any("not drawn evenly" in note for note in found.notes)


def test_bounds_are_finer_than_a_twentieth(found: ReducedSpace) -> None:
    wd = found.space["wd"]
    assert isinstance(wd, pa.Float)
    assert wd.high == 1.0
    assert 0.0 < wd.high - wd.low < 1.0 / MOST_GROUPS


def test_what_cannot_be_told_from_noise_is_cut_to_the_whole_target_and_says_so() -> None:
    columns, loss = adaptive(200, seed=1)
    a = pa.analyze(columns, loss, space=SPACE)
    row = a.reduce(folds=0)["dull"]
    assert a.importance()["dull"].p_value > 0.05  # type: ignore[operator]
    assert row.advice == "narrow"
    assert "on its own, the parameter has no clear effect" in row.reason
    assert isinstance(row.after, pa.Float)
    best = np.argsort(loss)[:LEAST_OF_WHOLE]  # all of them, for 0.95 of twenty are nineteen
    inside = (columns["dull"][best] >= row.after.low) & (columns["dull"][best] <= row.after.high)
    assert inside.sum() >= LEAST_OF_WHOLE - 1


def test_trials_that_were_chosen_fix_nothing_and_promise_nothing(found: ReducedSpace) -> None:
    assert all(row.advice != "fix" for row in found.rows)
    assert found.evidence is not None
    assert found.evidence.enrichment is None
    assert "times as often" not in str(found)
    assert found.evidence.kept.part > 0.7
    assert found.evidence.volume < 0.3


def test_keeping_more_keeps_more(a: pa.Analysis) -> None:
    spaces = [a.reduce(keep=keep, folds=0).space for keep in (0.5, 0.8, 0.95, 1.0)]
    for tight, wide in pairwise(spaces):
        for name in ("lr", "wd", "dull"):
            one, two = tight[name], wide[name]
            assert two.low <= one.low < one.high <= two.high  # type: ignore[union-attr]


def test_noise_is_left_alone_though_the_sampler_believed_in_it() -> None:
    changed = uneven = 0
    for seed in range(8):
        table, loss = adaptive(150, seed, lambda _, __: 0.0)
        reduced = pa.analyze(table, loss, space=SPACE).reduce(folds=0)
        uneven += any("not drawn evenly" in note for note in reduced.notes)
        changed += sum(row.after != row.before for row in reduced.rows)
    assert uneven >= 2
    assert changed <= 0.05 * 8 * len(SPACE)


def deciding(table: dict[str, Any], loss: Any, target: object = 0.1, **options: Any) -> Any:
    observed = pa.analyze(table, loss, space=SPACE, repeats="all").data.observations
    assert observed is not None
    rows = np.arange(len(loss))
    reached = np.asarray(loss) <= np.quantile(loss, 0.1)
    return leading(
        observed,
        few_rows(observed, np.arange(len(observed))).cells,
        rows,
        reached,
        Region.parse(target, "target"),
        **options,
    )


def test_the_best_quarter_decides_and_the_whole_target_on_the_rest() -> None:
    table, loss = adaptive(800)
    assert len(deciding(table, loss)) == 20
    assert len(deciding(table, loss, among=(WHOLE, LEAST_OF_WHOLE))) == 80
    few = {name: column[:100] for name, column in table.items()}
    assert len(deciding(few, loss[:100])) == LEAST
    assert len(deciding(few, loss[:100], among=(WHOLE, LEAST_OF_WHOLE))) == LEAST_OF_WHOLE


def test_a_configuration_counts_once_however_often_it_was_tried() -> None:
    table, loss = adaptive(150)
    once = deciding(table, loss)
    best = int(np.argmin(loss))
    again = np.concatenate([np.arange(150), np.full(100, best)])
    often = deciding({name: column[again] for name, column in table.items()}, loss[again])
    assert len(once) == len(often) == LEAST
    assert set(often) - set(range(150)) <= set(range(150, 250))
    assert set(loss[once]) == set(loss[again][often])


def test_what_judges_was_not_learned_from_under_another_number() -> None:
    table, loss = adaptive(60)
    twice = np.tile(np.arange(60), 2)
    observed = pa.analyze(
        {name: column[twice] for name, column in table.items()}, loss[twice], space=SPACE, repeats="all"
    ).data.observations
    assert observed is not None
    alike = configurations(few_rows(observed, np.arange(len(observed))).cells, np.arange(120))
    np.testing.assert_array_equal(alike[:60], alike[60:])


def test_what_nobody_looked_at_is_not_cut_off() -> None:
    axes = {name: axis_of(grid_of(domain)) for name, domain in SPACE.items()}
    box = Box({"lr": tuple(range(5, 12)), "kind": (1,)})
    looks = np.array([*range(4, 12)] * 3 + [0] * (LEAST_TRIED - 1))
    kinds = np.array([0] * LEAST_OF_CATEGORY + [1] * 9 + [2] * (LEAST_OF_CATEGORY - 1))
    left = looked_at(box, axes, {"lr": looks, "kind": kinds}).left
    assert left["lr"] == tuple(range(5, 20))  # something was seen below, nothing above
    assert left["kind"] == (1, 2)


def test_a_range_goes_on_to_the_next_value_that_was_tried() -> None:
    """A grid leaves gaps: between its values nobody has looked."""
    axes = {"lr": axis_of(grid_of(SPACE["lr"]))}
    grid = np.array([2] * 9 + [8] * 9 + [15] * 9)
    assert looked_at(Box({"lr": (8,)}), axes, {"lr": grid}).left["lr"] == tuple(range(3, 15))


def few_with_a_value(active: int) -> tuple[Cloud, dict[str, Any]]:
    """Ten rows decide, some of which have a value, all in one slice; others have looked all over."""
    axis = axis_of(grid_of(SPACE["lr"]), SLICES)
    places = np.where(np.arange(10) < active, 50, -1)
    mass = np.full(10, 0.1)
    cloud = Cloud(
        {"lr": axis}, {"lr": places}, mass[:, None], unit=0.1, anywhere={"lr": np.arange(axis.groups)}, whole=mass
    )
    return cloud, {"lr": np.arange(SLICES)}


def test_too_few_rows_with_a_value_cut_nothing() -> None:
    cloud, tried = few_with_a_value(LEAST_TRIED - 1)
    assert not trimmed(cloud, ["lr"], 0.95, tried).left
    cloud, tried = few_with_a_value(LEAST_TRIED)
    assert trimmed(cloud, ["lr"], 0.95, tried).left["lr"] == (50,)


def test_ranges_are_widened_by_two_mean_gaps() -> None:
    cloud, _ = few_with_a_value(5)
    assert roomier(Box({"lr": tuple(range(40, 60))}), cloud).left["lr"] == tuple(range(32, 68))


def test_fine_slices_lie_in_wider_ones() -> None:
    axis = axis_of(grid_of(SPACE["lr"]), SLICES)
    np.testing.assert_array_equal(np.bincount(axis.coarse()), np.full(MOST_GROUPS, SLICES // MOST_GROUPS))
    kind = axis_of(grid_of(SPACE["kind"]))
    np.testing.assert_array_equal(kind.coarse(), [0, 1, 2])
    cloud, _ = few_with_a_value(10)
    fine, wide = cloud.density("lr"), cloud.density("lr", axis.coarse())
    assert np.argmax(fine[:, 0]) == 50
    np.testing.assert_allclose(wide[10], 1.0 / axis.prior[50:55].sum())
    assert np.count_nonzero(wide) == 1


def plain_way_down(cloud: Cloud, names: list[str]) -> list[Box]:
    """Every slice is looked at anew after each cut."""
    left = {name: list(range(cloud.axes[name].groups)) for name in names}
    inside, boxes, kept = np.ones(len(cloud.pooled), dtype=bool), [Box()], 1.0
    while True:
        found = [
            poorest(cloud, name, left[name], 1 + cloud.places[name][inside], cloud.pooled[None, inside], kept)
            for name in names
        ]
        if not any(found):
            return boxes
        _, name, group, lost = min(one for one in found if one is not None)
        left[name].remove(group)
        inside &= cloud.places[name] != group
        kept -= lost
        cut = {key: tuple(groups) for key, groups in left.items() if len(groups) < cloud.axes[key].groups}
        boxes.append(Box(cut, kept))


def fine_cloud(seed: int, rows: int) -> tuple[Cloud, dict[str, Any]]:
    table, loss = adaptive(max(rows, 30), seed)
    observed = pa.analyze(table, loss, space=SPACE).data.observations
    assert observed is not None
    cells = few_rows(observed, np.arange(len(observed))).cells
    axes: dict[str, Axis] = {name: axis_of(grid_of(domain), SLICES) for name, domain in SPACE.items()}
    cloud = cloud_of(observed, cells, axes, np.arange(rows) % len(loss), np.random.default_rng(seed))
    return cloud, {name: axis.place(cells[name]) for name, axis in axes.items()}


@pytest.mark.parametrize("seed", [0, 1])
def test_what_a_cut_leaves_alone_need_not_be_looked_at_again(seed: int) -> None:
    cloud, _ = fine_cloud(seed, 25)
    names = list(cloud.axes)
    assert way_down(cloud, names) == plain_way_down(cloud, names)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.floats(0.3, 1.0), st.floats(0.3, 1.0), st.integers(5, 40))
def test_boxes_lie_one_in_the_other(seed: int, one: float, two: float, rows: int) -> None:
    cloud, tried = fine_cloud(seed, rows)
    axes = cloud.axes
    tight, wide = (trimmed(cloud, list(axes), keep, tried) for keep in sorted((one, two)))
    assert tight.volume(cloud) <= wide.volume(cloud) + 1e-12 <= 1.0 + 1e-9
    for name, axis in axes.items():
        inner, outer = (set(box.left.get(name, range(axis.groups))) for box in (tight, wide))
        assert inner
        assert inner <= outer <= set(range(axis.groups))
        if axis.ordered:
            assert len(inner) == max(inner) - min(inner) + 1


def search_of(*, adaptive: bool, target: object = 0.1) -> tuple[Search, pa.Analysis]:
    random = np.random.default_rng(0)
    x, y = random.random((2, 300))
    near = random.random(300) < (0.8 if adaptive else 0.0)  # a sampler that homes in does so in all columns
    x, y = np.where(near, 0.4 + 0.02 * x, x), np.where(near, 0.3 + 0.1 * y, y)
    a = pa.analyze({"x": x, "y": y}, (x - 0.41) ** 2, space={"x": pa.Float(0, 1), "y": pa.Float(0, 1)})
    assert a.data.observations is not None
    rows = (
        Region.parse(target, "target")
        if isinstance(target, float)
        else as_rows(target, "target", a.data.observations.table, 300)
    )
    counted = counted_rows(a.data.observations, a.data.levels.nan)
    return Search(a.data.observations, a.data.resolved(Question(target)), rows, 0, counted), a


@pytest.mark.parametrize(
    ("kind", "adaptive", "target", "estimator"),
    [(GoodRegion, False, 0.1, "counts"), (ModelGoodRegion, False, 0.1, "auto"), (TrialGoodRegion, True, 0.1, "auto"),
     (TrialGoodRegion, True, 0.1, "counts"), (GoodRegion, False, "x < 0.2", "counts")],
)  # fmt: skip
def test_each_kind_tells_by_some_of_the_rows_as_by_all(
    kind: type[GoodRegion], adaptive: bool, target: object, estimator: str
) -> None:
    search, a = search_of(adaptive=adaptive, target=target)
    region = good_region_of(search, a.importance(target, estimator=estimator))
    assert type(region) is kind
    half = region.among(np.arange(0, 300, 2))
    assert type(half) is kind
    for one in (region, half):
        box = one.bounds(["x"], 0.95)
        assert "x" in box.left
        assert 0 < box.volume(one.cloud) < 1
    assert region.estimator == ("surrogate" if kind is ModelGoodRegion else "counts")
    assert region.even == (kind is not TrialGoodRegion)
