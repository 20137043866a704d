"""Laws that hold for every table: what may change without changing the answer, and how tallies add."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS, against_region, against_uniform
from pedanova.counting.tally import Tally

ROWS = st.integers(8, 300)
SEEDS = st.integers(0, 2**32 - 1)


def table(seed: int, rows: int) -> dict[str, np.ndarray]:
    """A mixed table with ties in the objective and some dependence on the parameters."""
    random = np.random.default_rng(seed)
    x, k, colour = (random.random(rows), random.integers(0, 20, rows), random.choice(["red", "green", "blue"], rows))
    loss = np.round(3 * x + 0.1 * k + (colour == "red") + random.normal(size=rows), 1)
    return {"x": x, "k": k, "colour": colour, "loss": loss}


SPACE = {"x": pa.Float(0, 1), "k": pa.Int(0, 19), "colour": pa.Categorical(["red", "green", "blue"])}


def numbers(a: pa.Analysis, target: float, region: float) -> dict[str, tuple[float, ...]]:
    found = a.importance(target, region, **COUNTS)
    return {r.name: (r.ratio, r.share, r.divergence, r.variance, r.n_target) for r in found.rows}


def ask(a: pa.Analysis) -> dict[str, tuple[float, ...]] | None:
    try:
        return numbers(a, 0.2, 0.7)
    except pa.PedanovaError:
        return None  # ties may leave nothing to ask; then they must do so on both sides


def same(one: dict[str, tuple[float, ...]] | None, two: dict[str, tuple[float, ...]] | None) -> None:
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        assert one.keys() == two.keys()
        for name in one:
            assert one[name] == pytest.approx(two[name], rel=1e-9, abs=1e-9)


@given(SEEDS, ROWS, st.sampled_from(["exp", "cube", "affine", "negate"]))
def test_monotone_transforms_of_the_objective(seed: int, rows: int, kind: str) -> None:
    data = table(seed, rows)
    loss = data["loss"]
    assume(len(np.unique(loss)) > 2)
    changed, direction = {
        "exp": (np.exp(loss), "minimize"),
        "cube": (loss**3, "minimize"),
        "affine": (5 * loss - 3, "minimize"),
        "negate": (-loss, "maximize"),
    }[kind]
    plain = pa.analyze(data, "loss", space=SPACE)
    other = pa.analyze(data | {"loss": changed}, "loss", space=SPACE, direction=direction)
    same(ask(plain), ask(other))


@given(SEEDS, ROWS, st.permutations(["red", "green", "blue"]))
def test_relabelled_categories(seed: int, rows: int, names: list[str]) -> None:
    data = table(seed, rows)
    assume(len(np.unique(data["loss"])) > 2)
    renamed = np.array([dict(zip(["red", "green", "blue"], names, strict=True))[c] for c in data["colour"]])
    space = SPACE | {"colour": pa.Categorical(sorted(names, reverse=True))}
    same(ask(pa.analyze(data, "loss", space=SPACE)), ask(pa.analyze(data | {"colour": renamed}, "loss", space=space)))


@given(SEEDS, ROWS, st.integers(2, 5))
@example(1182521, 8, 2)  # eight rows whose columns rise together by chance: twice as many are no more evidence
def test_duplicated_data(seed: int, rows: int, times: int) -> None:
    """Without smoothing, whose bandwidth knows the number of rows, PED and ratios stay."""
    data = table(seed, rows)
    assume(len(np.unique(data["loss"])) > 2)
    once = pa.analyze(data, "loss", space=SPACE, levels=[0.25, 0.5])
    more = pa.analyze(
        {name: np.tile(column, times) for name, column in data.items()}, "loss", space=SPACE, levels=[0.25, 0.5]
    )
    try:
        one, two = (a.importance(0.25, 0.5, smoothing="none", **COUNTS) for a in (once, more))
    except pa.PedanovaError:
        assume(False)
    # Copies of enough rows are counted once, those of a few as rows of their own: of these, ⌈γN⌉ may take one row less
    # of the last value than γ of the original (then skip).
    copies = 1 if len(more) == rows else times
    sizes = [(found.rows[0].n_target, found.rows[0].n_region) for found in (one, two)]
    assert copies == times or sizes[0] == sizes[1]
    assume(sizes[1] == tuple(copies * size for size in sizes[0]))
    for name in SPACE:
        assert two[name].divergence == pytest.approx(one[name].divergence, rel=1e-9, abs=1e-12)
        assert two[name].raw_ratio == pytest.approx(one[name].raw_ratio, rel=1e-9, abs=1e-12)


@given(SEEDS, ROWS)
def test_shuffled_rows(seed: int, rows: int) -> None:
    data = table(seed, rows)
    assume(len(np.unique(data["loss"])) > 2)
    order = np.random.default_rng(seed).permutation(rows)
    same(
        ask(pa.analyze(data, "loss", space=SPACE)),
        ask(pa.analyze({name: column[order] for name, column in data.items()}, "loss", space=SPACE)),
    )


@settings(max_examples=8)  # each fits two models
@given(SEEDS, st.permutations(["a", "b", "c"]))
def test_renamed_columns(seed: int, names: list[str]) -> None:
    """Whoever answers: intervals and p-values stay, too."""
    data = table(seed, 60)
    assume(len(np.unique(data["loss"])) > 20)
    new = dict(zip(SPACE, names, strict=True))
    renamed = {new.get(name, name): column for name, column in data.items()}
    space = {new[name]: parameter for name, parameter in SPACE.items()}
    for how in ({}, COUNTS | {"draws": 200}):
        one = pa.analyze(data, "loss", space=SPACE).importance(0.2, **how)
        two = pa.analyze(renamed, "loss", space=space).importance(0.2, **how)
        for name in SPACE:
            assert two[new[name]] == replace(one[name], name=new[name])


CELLS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=4, max_size=30)


@given(CELLS)
def test_coarsening_never_raises_divergence(pairs: list[tuple[int, int]]) -> None:
    target = np.array([t for t, _ in pairs] + [0, 0])
    region = target + np.array([more for _, more in pairs] + [0, 0])
    assume(0 < target.sum() < region.sum())
    fine, _ = against_region(target, region, 0.0)
    even = len(pairs) // 2 * 2
    fewer, whole = (np.concatenate([c[:even].reshape(-1, 2).sum(axis=1), c[even:]]) for c in (target, region))
    assert against_region(fewer, whole, 0.0)[0] <= fine + 1e-12


@given(CELLS, st.floats(0.3, 20))
def test_smoothing_never_raises_divergence(pairs: list[tuple[int, int]], width: float) -> None:
    target = np.array([t for t, _ in pairs] + [1, 0])
    region = target + np.array([more for _, more in pairs] + [2, 0])
    assume(0 < target.sum() < region.sum())
    assert against_region(target, region, width)[0] <= against_region(target, region, 0.0)[0] + 1e-9
    if target[:-2].sum():
        assert against_uniform(target[:-2], width) <= against_uniform(target[:-2], 0.0) + 1e-9


@given(CELLS)
def test_shares_lie_between_zero_and_one(pairs: list[tuple[int, int]]) -> None:
    target = np.array([t for t, _ in pairs] + [0, 0])
    region = target + np.array([more for _, more in pairs] + [0, 0])
    assume(0 < target.sum() < region.sum())
    divergence, corrected = against_region(target, region, 0.0)
    m = target.sum() / region.sum()
    assert -1e-12 <= m / (1 - m) * divergence <= 1 + 1e-9
    assert corrected <= 1 + 1e-9


@given(SEEDS, st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_shards_add_up_to_the_whole(seed: int, sizes: list[int]) -> None:
    data = table(seed, sum(sizes) + 20)
    assume(len(np.unique(data["loss"])) > 2)
    whole = pa.analyze(data, "loss", space=SPACE)
    ends = np.cumsum([0, *sizes, 20])
    shards = [
        pa.analyze({n: c[a:b] for n, c in data.items()}, "loss", space=SPACE, levels=whole.data.levels)
        for a, b in itertools.pairwise(ends)
        if b > a
    ]
    added = sum(shards)
    assert added.data.tallies == whole.data.tallies
    assert functools.reduce(operator.add, reversed(shards)).data.tallies == whole.data.tallies
    same(ask(added), ask(whole))


@given(SEEDS, st.integers(30, 60))
def test_addition_is_an_algebra(seed: int, rows: int) -> None:
    data = table(seed, rows)
    assume(len(np.unique(data["loss"])) > 2)
    levels = pa.analyze(data, "loss", space=SPACE).data.levels
    a, b, c = (
        pa.analyze({n: col[i::3] for n, col in data.items()}, "loss", space=SPACE, levels=levels).data.tallies["x"]
        for i in range(3)
    )
    zero = Tally("x", SPACE["x"], levels, np.zeros_like(a.counts), np.zeros_like(a.sums))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + zero == a
    assert zero + a == a
    assert np.array_equal((a + zero).sums, a.sums)
