"""Tables as people have them, answered with the default settings.

Truths are counted in a large draw of the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import pedanova as pa

Reals: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = Mapping[str, Any]
UNIT = pa.Float(0, 1)
MANY = 1_000_000


def two_ends(rows: int, rng: np.random.Generator) -> tuple[Columns, Reals]:
    columns = {name: rng.random(rows) for name in "abz"}
    a = columns["a"]
    return columns, np.minimum(a, 1 - a) + 0.1 * columns["b"] + 0.01 * rng.standard_normal(rows)


def waves(rows: int, rng: np.random.Generator) -> tuple[Columns, Reals]:
    columns = {name: rng.random(rows) for name in "abz"}
    loss = np.sin(10 * np.pi * columns["a"]) + 0.5 * columns["b"] + 0.1 * rng.standard_normal(rows)
    return columns, loss


def by_optimizer(rows: int, rng: np.random.Generator) -> tuple[Columns, Reals]:
    columns = {"a": rng.random(rows), "b": rng.random(rows), "kind": rng.choice(["adam", "sgd"], rows)}
    best = np.where(columns["kind"] == "adam", 0.2, 0.8)
    return columns, np.abs(columns["a"] - best) + 0.2 * columns["b"] + 0.05 * rng.standard_normal(rows)


def skewed(rows: int, rng: np.random.Generator) -> tuple[Columns, Reals]:
    columns = {"a": rng.beta(2, 6, rows), "b": rng.beta(6, 2, rows), "z": rng.beta(2, 6, rows)}
    loss = np.abs(columns["a"] - 0.6) + 0.4 * np.abs(columns["b"] - 0.9) + 0.05 * rng.standard_normal(rows)
    return columns, loss


def zeros(rows: int, rng: np.random.Generator) -> tuple[Columns, Reals]:
    columns = {name: np.where(rng.random(rows) < 0.5, 0.0, rng.random(rows)) for name in "az"}
    columns["b"] = rng.random(rows)
    return columns, np.abs(columns["a"] - 0.6) + 0.3 * columns["b"] + 0.05 * rng.standard_normal(rows)


WORLDS: dict[str, Callable[[int, np.random.Generator], tuple[Columns, Reals]]] = {
    "two ends": two_ends,
    "waves": waves,
    "an optimum that depends on a category": by_optimizer,
    "skewed columns": skewed,
    "half zeros": zeros,
}


def space_of(columns: Columns) -> dict[str, Any]:
    return {name: pa.Categorical(["adam", "sgd"]) if name == "kind" else UNIT for name in columns}


@lru_cache
def truth(world: str) -> dict[str, float]:
    """Shares of a histogram of a large draw."""
    columns, loss = WORLDS[world](MANY, np.random.default_rng(0))
    inside = loss <= np.quantile(loss, 0.1)
    shares = {}
    for name, values in columns.items():
        codes = (values == "adam").astype(int) if name == "kind" else np.minimum((values * 100).astype(int), 99)
        counts, good = np.bincount(codes), np.bincount(codes, weights=inside)
        there = counts > 0
        spread = float((counts[there] * (good[there] / counts[there] - inside.mean()) ** 2).sum())
        shares[name] = spread / MANY / (inside.mean() * (1 - inside.mean()))
    return shares


@pytest.mark.parametrize("rows", [200, 1000, 5001])
@pytest.mark.parametrize("world", WORLDS)
def test_the_truth_lies_in_the_interval_at_any_size(world: str, rows: int) -> None:
    columns, loss = WORLDS[world](rows, np.random.default_rng([rows, 1]))
    answer = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
    shares = truth(world)
    leader = max(shares, key=lambda name: shares[name])
    assert next(iter(answer)) == leader
    room = 0.01 + 0.25 * shares[leader] * np.sqrt(1000 / rows)
    for name, share in shares.items():
        assert answer[name].low - 0.01 <= share <= answer[name].high + 0.01, name
    if rows >= 1000:
        assert answer[leader].share == pytest.approx(shares[leader], abs=room)


@pytest.mark.parametrize("estimator", ["auto", "counts"])
def test_both_good_places_are_shown(estimator: Any) -> None:
    columns, loss = two_ends(1000, np.random.default_rng(3))
    a = pa.analyze(columns, loss, direction="min", space=space_of(columns))
    good = a.densities(estimator=estimator)["a"].good()
    assert [round(end, 2) for one in good for end in (one.start, one.stop)] == pytest.approx([0, 90, 910, 1001], abs=15)


# --- repeated configurations -----------------------------------------------------------------------


def repeated(configurations: int, repeats: int, seed: int) -> tuple[dict[str, Reals], Reals]:
    """Nothing but noise, most of it the configuration's own."""
    rng = np.random.default_rng(seed)
    columns = {name: np.repeat(rng.random(configurations), repeats) for name in "abcd"}
    own = np.repeat(rng.standard_normal(configurations), repeats)
    return columns, own + 0.3 * rng.standard_normal(len(own))


@pytest.mark.parametrize(("configurations", "repeats"), [(40, 5), (100, 10), (3000, 4)])
def test_noise_of_configurations_is_no_effect(configurations: int, repeats: int) -> None:
    marked = 0
    for seed in range(6):
        columns, loss = repeated(configurations, repeats, seed)
        answer = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
        marked += any(row.significant for row in answer.rows)
    assert marked <= 1  # rows taken for independent marked nine of ten


def test_repeats_and_copied_rows_are_named() -> None:
    columns, loss = repeated(60, 4, 0)
    loss[1::4] = loss[0::4]
    answer = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
    notes = " ".join(map(str, answer.notes))
    assert "240 rows have 60 configurations" in notes
    assert "60 of 240 rows are exact copies of another row" in notes
    columns, loss = repeated(6000, 4, 0)
    long = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
    assert "24,000 rows have about 6,000 configurations" in " ".join(map(str, long.notes))
    columns, loss = repeated(100, 1, 0)
    plain = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
    assert "configurations" not in " ".join(map(str, plain.notes))


def test_twice_the_same_rows_are_no_more_evidence() -> None:
    rng = np.random.default_rng(5)
    columns = {name: rng.random(60) for name in "abc"}
    loss = columns["a"] + rng.standard_normal(60)
    once, twice = (
        pa.analyze(
            {name: np.tile(column, times) for name, column in columns.items()},
            np.tile(loss, times),
            direction="min",
            space=space_of(columns),
        ).importance()
        for times in (1, 4)
    )
    for row in once.rows:
        assert twice[row.name].p_value == pytest.approx(row.p_value, abs=0.05)


@pytest.mark.parametrize("name", ["seed", "random_state", "model.seed", "fold", "cv_fold", "repeat", "seed_2"])
def test_a_seed_is_no_setting_unless_it_is_named(name: str) -> None:
    rng = np.random.default_rng(0)
    columns = {"lr": np.repeat(rng.random(30), 4), name: np.tile(np.arange(4), 30)}
    loss = columns["lr"] + 0.1 * rng.standard_normal(120)
    assert list(pa.analyze(columns, loss, direction="min").space) == ["lr"]
    assert list(pa.analyze(columns, loss, direction="min", params=["lr", name]).space) == ["lr", name]


@pytest.mark.parametrize("seed", range(2))
def test_one_configuration_run_all_the_time_leaves_counts_without_a_word(seed: int) -> None:
    rng = np.random.default_rng(seed)
    owner = np.r_[np.zeros(300, dtype=int), np.arange(1, 50)]
    columns = {name: rng.random(50)[owner] for name in "xy"}
    loss = columns["x"] + 0.2 * rng.random(349)
    answer = pa.analyze(columns, loss, params=["x", "y"], direction="min").importance(estimator="counts")
    for row in answer.rows:
        assert -1 <= row.share <= row.high <= 1
        assert row.low == 0.0 or row.significant
    assert any(row.high > 0.01 for row in answer.rows)


def test_infinite_settings_count_as_they_do_in_the_rows() -> None:
    rng = np.random.default_rng(0)
    a, y = rng.random(300), rng.random(300)
    columns = {"clip": np.where(a < 0.3, np.inf, a), "y": y}
    analysis = pa.analyze(columns, a + y + 0.1 * rng.random(300), direction="min")
    modelled, counted = analysis.importance(), analysis.importance(estimator="counts")
    assert modelled.estimator == "surrogate"
    assert modelled["clip"].share == pytest.approx(counted["clip"].share, abs=0.06)


# --- copies ----------------------------------------------------------------------------------------


def with_copy(rows: int, seed: int) -> tuple[dict[str, Reals], Reals]:
    rng = np.random.default_rng(seed)
    lr = 10 ** rng.uniform(-5, 0, rows)
    columns = {"lr": lr, "b": rng.random(rows), "z": rng.random(rows), "log_lr": np.log10(lr)}
    return columns, 0.3 * (np.log10(lr) + 3) ** 2 + 0.5 * columns["b"] + 0.1 * rng.standard_normal(rows)


@pytest.mark.parametrize("rows", [100, 1000, 8000])
def test_a_copy_has_the_share_that_it_would_have_alone(rows: int) -> None:
    columns, loss = with_copy(rows, rows)
    alone = pa.analyze({k: v for k, v in columns.items() if k != "lr"}, loss, direction="min").importance()
    both = pa.analyze(columns, loss, direction="min").importance()
    assert both.copies == {"lr": "log_lr"}
    assert both["lr"].share == pytest.approx(both["log_lr"].share, abs=1e-12)
    assert both["log_lr"].share == pytest.approx(alone["log_lr"].share, abs=0.03)
    assert both["b"].share == pytest.approx(alone["b"].share, abs=0.03)
    assert both["log_lr"].ratio == pytest.approx(alone["log_lr"].ratio, abs=0.05)


@pytest.mark.parametrize("rows", [200, 8000])
def test_a_family_of_copies_is_one_line(rows: int) -> None:
    columns, loss = with_copy(rows, 0)
    answer = pa.analyze(columns, loss, direction="min").importance()
    assert answer.copies == {"lr": "log_lr"}
    lines = [line for line in answer.in_lines().splitlines() if "lr" in line]
    assert len(lines) == 1
    assert "log_lr (= lr)" in lines[0]
    assert set(answer.to_dict()["parameter"]) == set(columns)


def test_copies_are_decided_once() -> None:
    columns, loss = with_copy(300, 2)
    reduced = pa.analyze(columns, loss, direction="min").reduce()
    assert reduced["log_lr"].advice == "narrow"
    assert reduced["lr"].advice == "keep"
    assert "the same information as log_lr" in reduced["lr"].reason


def test_a_copy_on_a_poorer_scale_is_one(tmp_path: Any) -> None:
    columns, loss = with_copy(300, 1)
    space = {"lr": pa.Float(1e-5, 1), "log_lr": pa.Float(-5, 0), "b": UNIT, "z": UNIT}
    a = pa.analyze(columns, loss, direction="min", space=space)
    answer = a.importance()
    assert answer["lr"].share == answer["log_lr"].share > 0.15
    a.save(tmp_path / "a.pedanova")
    assert pa.load(tmp_path / "a.pedanova").importance().rows == answer.rows


def test_a_copy_that_is_a_parent_decides_as_it_does_alone() -> None:
    rng = np.random.default_rng(0)
    x, child = rng.random(400), rng.random(400)
    use = (x > 0.5).astype(int)
    loss = np.where(use, np.abs(child - 0.2), 0.2) + 0.02 * rng.random(400)
    columns = {"use": use, "child": np.where(use, child, np.nan), "y": rng.random(400)}
    alone = pa.analyze(columns, loss, direction="min").importance()
    both = pa.analyze({**columns, "z": x}, loss, direction="min").importance()
    assert both.copies == {"use": "z"}
    assert both["use"].share == pytest.approx(alone["use"].share, abs=0.02)


# --- significance ----------------------------------------------------------------------------------


def test_what_explains_nothing_is_not_significant() -> None:
    rng = np.random.default_rng(0)
    columns = {"a": rng.random(200_000), "b": rng.random(200_000)}
    loss = columns["a"] + 0.005 * columns["b"] + 0.1 * rng.standard_normal(200_000)
    answer = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
    assert answer["a"].significant
    assert answer["b"].share < 0.005
    assert not answer["b"].significant
    assert answer["b"].low == 0.0


@pytest.mark.parametrize("rows", [1000, 5001])
def test_an_idle_child_of_a_gate_is_not_marked(rows: int) -> None:
    marked = 0
    for seed in range(6):
        rng = np.random.default_rng([rows, seed])
        kind = rng.choice(["adam", "sgd"], rows)
        columns = {"kind": kind, "momentum": np.where(kind == "sgd", rng.random(rows), np.nan), "z": rng.random(rows)}
        loss = np.where(kind == "sgd", 0.0, 0.5) + 0.3 * rng.standard_normal(rows)
        space = {"kind": pa.Categorical(["adam", "sgd"]), "momentum": pa.Float(0, 1, when={"kind": "sgd"}), "z": UNIT}
        answer = pa.analyze(columns, loss, direction="min", space=space).importance()
        assert answer["kind"].significant
        marked += bool(answer["momentum"].significant)
    assert marked <= 1


def test_what_sorts_all_other_rows_does_not_lead_to_the_best() -> None:
    """The best tenth is decided by b alone; among the others only a matters, which is most of what a model sees."""
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        columns = {name: rng.random(1000) for name in "abz"}
        good = rng.random(1000) < 0.02 + 0.16 * columns["b"]
        loss = np.where(good, -5.0 + columns["z"], 5.0 * columns["a"] + rng.standard_normal(1000))
        answer = pa.analyze(columns, loss, direction="min", space=space_of(columns)).importance()
        shares.append(answer["a"].share)
        assert answer["a"].low < 0.005
    assert np.mean(shares) < 0.03  # without a look at both residuals together: up to 0.25


# --- with many rows the counts weigh more ------------------------------------------------------------


def steps(rows: int, rng: np.random.Generator) -> tuple[Columns, Reals]:
    columns = {name: rng.random(rows) for name in "abcz"}
    loss = 10.0 * (columns["a"] > 0.7) + (columns["b"] > 0.15) + 0.05 * columns["c"]
    return columns, loss + 0.05 * rng.standard_normal(rows)


def test_intervals_do_not_jump_where_the_model_ends() -> None:
    below, above = (
        pa.analyze(*steps(rows, np.random.default_rng(1)), direction="min").importance() for rows in (19_900, 20_100)
    )
    assert (below.estimator, above.estimator) == ("surrogate", "counts")
    for name in "ab":
        narrow, wide = sorted(one[name].high - one[name].low for one in (below, above))
        assert wide < 3.0 * narrow
        assert below[name].low <= above[name].share <= below[name].high


FUNCTIONS: dict[str, Callable[[Columns], Any]] = {
    "a + b": lambda c: c["a"] + c["b"],
    "a · b": lambda c: c["a"] * c["b"],
    "disc": lambda c: (c["a"] - 0.5) ** 2 + (c["b"] - 0.5) ** 2,
}


def drawn(name: str, rows: int, seed: int) -> pa.Analysis:
    rng = np.random.default_rng([seed, rows])
    columns = {name: rng.random(rows) for name in "abz"}
    return pa.analyze(columns, FUNCTIONS[name](columns), direction="min", space=space_of(columns))


@pytest.mark.parametrize("name", ["disc"])
def test_5000_rows_are_no_border(name: str) -> None:
    """Errors do not grow with the rows, and intervals and p-values are alike on both sides."""
    true = drawn(name, MANY, 0).importance(draws=0)["a"].share
    few, more, many = (
        [drawn(name, rows, seed).importance()["a"] for seed in range(4)] for rows in (4_900, 5_100, 10_000)
    )
    errors = [np.mean([abs(row.share - true) for row in rows]) for rows in (few, more, many)]
    assert max(errors[1:]) < 0.015
    assert errors[2] < errors[0] + 0.005  # of four samples each
    below, above = (np.mean([row.high - row.low for row in rows]) for rows in (few, more))
    assert below / 1.33 < above < below * 1.33
    below, above = (np.mean([np.log(row.p_value) for row in rows]) for rows in (few, more))
    assert abs(below - above) < np.log(3)


LOCAL = {"a + b": 0.144, "a · b": 0.207, "disc": 0.19}  # true shares of a for the best 1 % in the best 10 %


@lru_cache
def local(name: str, rows: int, seed: int) -> list[pa.Importance]:
    answer = drawn(name, rows, seed).importance(0.01, 0.1)
    return [answer["a"], answer["b"]]


def local_rows(name: str, rows: int, samples: int) -> list[pa.Importance]:
    return [local(name, rows, seed)[0] for seed in range(samples)]


@pytest.mark.parametrize(("rows", "wide", "off"), [(1_000, 0.45, 0.15), (10_000, 0.16, 0.035)])
@pytest.mark.parametrize("name", LOCAL)
def test_local_shares(name: str, rows: int, wide: float, off: float) -> None:
    """The best 1 % of a · b lies in two strips that are thinner than a fiftieth of the space."""
    found, true = local_rows(name, rows, 12), LOCAL[name]
    assert np.mean([row.low <= true <= row.high for row in found]) >= 0.8
    assert np.mean([row.high - row.low for row in found]) < wide
    assert abs(np.mean([row.share for row in found]) - true) < off


@pytest.mark.parametrize("name", ["a + b", "disc"])
def test_local_intervals_hold_and_are_not_wide(name: str) -> None:
    """Widths near 3.9 standard deviations of the estimate; a and b have the same share."""
    for own in zip(*(local(name, 10_000, seed) for seed in range(25)), strict=True):
        width = np.mean([row.high - row.low for row in own]) / np.std([row.share for row in own], ddof=1)
        assert 2.9 < width < 6.5
        assert np.mean([row.low <= LOCAL[name] <= row.high for row in own]) >= 0.84  # of 25; of 100 samples it is 0.96


def test_5000_rows_are_no_border_of_local_questions() -> None:
    below, above = (np.mean([row.high - row.low for row in local_rows("disc", rows, 8)]) for rows in (4_900, 5_100))
    assert below / 1.33 < above < below * 1.33


def test_with_many_rows_a_model_that_smooths_steps_is_no_worse_than_counts() -> None:
    truth = pa.analyze(*steps(MANY, np.random.default_rng(99)), direction="min").importance(draws=0)
    tables = [pa.analyze(*steps(4_000, np.random.default_rng(seed)), direction="min") for seed in range(3)]
    default, counts = (
        np.mean([abs(answer[name].ratio - truth[name].ratio) for answer in answers for name in truth])
        for answers in ([a.importance(draws=0, **how) for a in tables] for how in ({}, {"estimator": "counts"}))
    )
    assert default < counts + 0.005
