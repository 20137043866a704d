"""The marginal objective: its mean and interval by value, from the tallies alone."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import UnknownParameterError
from pedanova.measures.effects import student


def drawn(rows: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    x, kind = random.random(rows), random.choice(["a", "b", "c"], rows)
    loss = np.where(kind == "a", 0.0, np.where(kind == "b", 1.0, 3.0)) + 4 * x + random.normal(size=rows)
    return {"x": x, "kind": kind}, loss


SPACE = {"x": pa.Float(0, 1), "kind": pa.Categorical(["a", "b", "c"])}


def own_half(values: np.ndarray) -> float:
    return float(student(np.array([len(values) - 1.0]))[0] * values.std(ddof=1) / np.sqrt(len(values)))


def test_few_rows_are_exact() -> None:
    """Up to 128 rows every objective has a level of its own: the tally knows all."""
    data, loss = drawn(100)
    marginal = pa.analyze(data, loss, space=SPACE, direction="minimize").marginal("kind")
    for i, kind in enumerate(marginal.cells):
        own = loss[data["kind"] == kind]
        assert marginal.mean[i] == pytest.approx(own.mean(), rel=1e-12)
        assert marginal.high[i] - marginal.mean[i] == pytest.approx(own_half(own), rel=1e-9)
        assert marginal.mean[i] - marginal.low[i] == pytest.approx(own_half(own), rel=1e-9)
        assert marginal.counts[i] == len(own)


@pytest.mark.parametrize("clip", [None, 0.5])
def test_many_rows_from_levels(clip: float | None) -> None:
    data, loss = drawn(50_000)
    marginal = pa.analyze(data, loss, space=SPACE, direction="minimize").marginal("kind", clip=clip)
    value = loss if clip is None else np.minimum(loss, np.sort(loss)[len(loss) // 2 - 1])
    for i, kind in enumerate(marginal.cells):
        own = value[data["kind"] == kind]
        assert marginal.mean[i] == pytest.approx(own.mean(), rel=1e-9)
        assert marginal.high[i] - marginal.mean[i] == pytest.approx(own_half(own), rel=0.01)


def test_inside_a_region() -> None:
    data, loss = drawn(5_000)
    a = pa.analyze(data, loss, space=SPACE, direction="minimize")
    inside = data["x"] < 0.5
    marginal = a.marginal("kind", {"x": (0.0, 0.5)})
    assert marginal.counts.sum() == inside.sum()
    own = loss[inside & (data["kind"] == "b")]
    assert marginal.mean[1] == pytest.approx(own.mean(), rel=1e-9)
    assert marginal.high[1] - marginal.mean[1] == pytest.approx(own_half(own), rel=0.02)


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    """Of 95 % of the tables; on a range the kernel's bias is part of the error, and small on a line."""
    by_kind, along = [], []
    for seed in range(150):
        a = pa.analyze(*drawn(300, seed), space=SPACE, direction="minimize")
        kind, x = a.marginal("kind"), a.marginal("x")
        by_kind.append((kind.low <= [2, 3, 5]) & (kind.high >= [2, 3, 5]))
        line = 4 / 3 + 4 * np.array(x.cells, dtype=float)
        along.append(((x.low <= line) & (line <= x.high))[100:950:100])
    assert 0.92 <= np.mean(by_kind) <= 0.98
    assert 0.91 <= np.mean(along) <= 0.99


def test_scale_and_direction_move_it_along() -> None:
    data, loss = drawn(1_000)
    one = pa.analyze(data, loss, space=SPACE, direction="minimize").marginal("x")
    two = pa.analyze(data, 5 - 1e200 * loss, space=SPACE, direction="maximize").marginal("x")
    np.testing.assert_allclose(two.high - two.mean, 1e200 * (one.mean - one.low), rtol=1e-6)


def test_single_rows_have_no_interval_and_empty_cells_nothing() -> None:
    a = pa.analyze(
        {"c": ["a", "b", "b", "b"]}, [1.0, 2.0, 3.0, 5.0], direction="minimize",
        space={"c": pa.Categorical(["a", "b", "none"])},
    )  # fmt: skip
    marginal = a.marginal("c")
    assert marginal.mean[0] == 1.0
    assert np.isnan(marginal.low[0])
    assert marginal.low[1] < marginal.mean[1] < marginal.high[1]
    assert np.isnan(marginal.mean[2])
    assert list(marginal.to_dict()) == ["cell", "rows", "mean", "low", "high"]


def test_student() -> None:
    exact = {1: 12.706, 2: 4.303, 7: 2.365, 12: 2.179, 40: 2.021, 1e9: 1.960}
    for free, end in exact.items():
        assert student(np.array([free]))[0] == pytest.approx(end, rel=0.005)


def test_unknown_names() -> None:
    a = pa.analyze(*drawn(50), space=SPACE, direction="minimize")
    refuse(UnknownParameterError, "kind", of=lambda: a.marginal("kinds"))
    refuse(UnknownParameterError, of=lambda: a.marginal(0))
