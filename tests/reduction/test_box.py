"""The smallest box, and what it says of the best points, compared with the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from pedanova.reduction.box import SLICES, Box, Cloud, at_least, axis_of, smallest_box
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Domain

SPACE: dict[str, Any] = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "wd": pa.Float(0.0, 1.0),
    "kind": pa.Categorical(["a", "b", "c"]),
    "dull": pa.Float(0.0, 1.0),
}
KINDS = np.array(["a", "b", "c"])
Loss = Callable[[Any, Any], Any]  # of points in the unit cube, and kinds


def one_region(units: Any, kind: Any) -> Any:
    """Best at lr 0.001, at the upper bound of wd, with kind b."""
    return 5 * (units[..., 0] - 0.4) ** 2 - 1.5 * units[..., 1] + 0.8 * (kind != "b")


def two_regions(units: Any, kind: Any) -> Any:
    """Equally good near lr 0.1 and near lr 1e-4."""
    near = np.minimum((units[..., 0] - 0.2) ** 2, (units[..., 0] - 0.8) ** 2)
    return 5 * near + 0.5 * units[..., 1] + 0.0 * (kind == "b")


def even(rows: int, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng([seed, 1])
    return random.random((rows, 3)), random.choice(KINDS, rows)


def adaptive(rows: int, seed: int, loss: Loss) -> tuple[Any, Any]:
    """A sampler that soon stays near the best of what it has seen, for parameters without an effect too."""
    random = np.random.default_rng(seed)
    units, kinds, losses = np.empty((rows, 3)), np.empty(rows, dtype="<U1"), np.empty(rows)
    for i in range(rows):
        units[i], kinds[i] = random.random(3), random.choice(KINDS)
        if i >= 20 and random.random() < 0.85:
            parent = random.choice(np.argsort(losses[:i])[: max(3, i // 6)])
            units[i] = np.clip(units[parent] + 0.1 * random.standard_normal(3), 0.0, 1.0)
            kinds[i] = kinds[parent] if random.random() < 0.8 else kinds[i]
        losses[i] = loss(units[i], kinds[i])
    return units, kinds


def columns_of(units: Any, kinds: Any) -> dict[str, Any]:
    return {"lr": 10 ** (5 * units[:, 0] - 5), "wd": units[:, 1], "kind": kinds, "dull": units[:, 2]}


def analysis_of(units: Any, kinds: Any, loss: Loss, seed: int) -> pa.Analysis:
    noise = 0.02 * np.random.default_rng([seed, 2]).standard_normal(len(units))
    return pa.analyze(columns_of(units, kinds), loss(units, kinds) + noise, space=SPACE)


def lies_in(space: pa.Space, table: dict[str, Any]) -> Any:
    inside = np.ones(len(table["dull"]), dtype=bool)
    for name, domain in space.items():
        if isinstance(domain, pa.Categorical):
            inside &= np.isin(table[name], domain.choices)
        else:
            inside &= (table[name] >= domain.low) & (table[name] <= domain.high)  # type: ignore[union-attr]
    return inside


@pytest.mark.parametrize("loss", [one_region, two_regions])
@pytest.mark.parametrize("sampler", ["even", "adaptive"])
def test_what_is_said_of_the_box_is_true(loss: Loss, sampler: str) -> None:
    """Of the best 1 % of the space, at least about the stated part lies inside, also with two good regions."""
    units, kinds = even(50_000, 99)
    table, truth = columns_of(units, kinds), loss(units, kinds)
    best = truth <= np.quantile(truth, 0.01)
    said, true = [], []
    for seed in range(5):
        trials = even(150, seed) if sampler == "even" else adaptive(150, seed, loss)
        small = analysis_of(*trials, loss, seed).reduce()
        evidence, inside = small.evidence, lies_in(small.space, table)
        assert evidence is not None
        assert evidence.best == "the best 1 % of the space"
        assert evidence.kept.low <= evidence.kept.part <= evidence.kept.high
        assert inside.mean() == pytest.approx(evidence.volume, abs=0.03)
        said.append(evidence.kept.part)
        true.append(inside[best].mean())
        if sampler == "even":
            assert inside[best].mean() / inside.mean() > 2.0
    assert min(said) >= 0.9
    assert np.mean(true) > np.mean(said) - 0.1


def test_noise_is_left_alone_though_the_sampler_believed_in_it() -> None:
    changed = 0
    for seed in range(6):
        units, kinds = adaptive(150, seed, lambda units, _: np.random.default_rng(int(units.sum() * 1e6)).random())
        values = np.random.default_rng([seed, 3]).random(150)
        reduced = pa.analyze(columns_of(units, kinds), values, space=SPACE).reduce()
        changed += sum(row.after != row.before for row in reduced.rows)
    assert changed <= 0.05 * 6 * len(SPACE)


def test_the_volume_of_a_conditional_space_is_that_of_points_drawn_from_it() -> None:
    random = np.random.default_rng(0)

    def draw(rows: int) -> dict[str, Any]:
        kind = random.choice(["sgd", "adam", "other"], rows)
        return {
            "kind": kind,
            "momentum": np.where(kind == "sgd", random.random(rows), np.nan),
            "beta": np.where(kind == "adam", random.random(rows), np.nan),
        }

    def loss_of(table: dict[str, Any]) -> Any:
        sgd, adam = 0.3 * np.abs(table["momentum"] - 0.7), 0.02 + 0.1 * np.abs(table["beta"] - 0.3)
        return np.select([table["kind"] == "sgd", table["kind"] == "adam"], [sgd, adam], 2.0)

    space = {
        "kind": pa.Categorical(["sgd", "adam", "other"]),
        "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
        "beta": pa.Float(0, 1, when={"kind": ["adam"]}),
    }
    table = draw(300)
    small = pa.analyze(table, loss_of(table), space=space).reduce()
    fresh = draw(20_000)
    inside = np.isin(fresh["kind"], small.space["kind"].choices)  # type: ignore[union-attr]
    for name in ("momentum", "beta"):
        domain = small.space.get(name, pa.Float(0, 1))  # gone with its condition
        assert isinstance(domain, pa.Float)
        inside &= np.isnan(fresh[name]) | ((fresh[name] >= domain.low) & (fresh[name] <= domain.high))
    assert small.evidence is not None
    assert small["kind"].advice == "narrow"
    assert inside.mean() == pytest.approx(small.evidence.volume, abs=0.02)
    assert small.evidence.volume < 0.6


domains: st.SearchStrategy[Domain] = st.one_of(
    st.just(pa.Float(0, 1)),
    st.just(pa.Float(1e-6, 1, log=True)),
    st.integers(1, 60).map(lambda n: pa.Int(0, n)),
    st.integers(2, 30).map(lambda n: pa.Categorical([f"c{i}" for i in range(n)])),
)


@settings(max_examples=40)
@given(st.lists(domains, min_size=1, max_size=3), st.integers(0, 10_000), st.floats(0.3, 1.0), st.booleans())
def test_a_box_keeps_what_it_says(space: list[Domain], seed: int, keep: float, counted: bool) -> None:
    random = np.random.default_rng(seed)
    axes = {f"p{i}": axis_of(grid_of(domain)) for i, domain in enumerate(space)}
    every = np.stack([random.integers(-1, len(axis.prior), 400) for axis in axes.values()], axis=1).astype(np.int16)
    best = every[(every < 4).all(axis=1)]
    best = best if len(best) else every[:1]
    unseen = 1.0 / (len(best) + 1) if counted else 0.0
    cloud = Cloud(
        axes, every, np.zeros(len(every)), best, np.full((len(best), 1), 1.0 / len(best)), at_least(axes, unseen)
    )
    box = smallest_box(cloud, keep)
    inside = float(box.holds(axes, best).mean())
    assert keep - 1e-9 <= box.kept <= inside + 1e-9
    assert box.kept == pytest.approx(inside) or counted
    for name, left in box.left.items():
        axis = axes[name]
        assert 0 < len(left) < len(axis.prior)
        assert not axis.ordered or left == tuple(range(left[0], left[-1] + 1))
    assert Box().holds(axes, every).all()


@given(domains)
def test_slices_have_about_the_same_prior_probability(domain: Domain) -> None:
    axis = axis_of(grid_of(domain))
    assert axis.prior.sum() == pytest.approx(1.0)
    if axis.ordered:
        assert len(axis.prior) <= SLICES
        assert axis.prior.max() <= max(2.1 / SLICES, 1.01 * grid_of(domain).prior.max())
        assert np.all(np.diff(axis.slice_of[: grid_of(domain).cells]) >= 0)
