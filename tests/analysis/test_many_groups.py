"""Very many groups at once say what each says alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.analysis.across import TABLE_OPTIONS, grouped_analyses
from pedanova.analysis.many_groups import ready_answers, usual_part
from pedanova.counting.group_counts import best_codes, count_groups

SPACE = {"lr": pa.Float(0, 1), "depth": pa.Int(1, 8), "opt": pa.Categorical(["a", "b"]), "fixed": pa.Float(0, 1)}


def table(sizes: dict[str, int], *, nan: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    rows = sum(sizes.values())
    lr, depth, opt = rng.random(rows, dtype=np.float32), rng.integers(1, 9, rows), rng.choice(["a", "b"], rows)
    loss = np.round(np.abs(lr - 0.3) + 0.02 * depth + 0.1 * rng.standard_normal(rows), 2)  # with ties
    loss[rng.random(rows) < 0.1 * nan] = np.nan
    order = rng.permutation(rows)
    dataset = np.repeat(list(sizes), list(sizes.values()))[order]
    return {"lr": lr, "depth": depth, "opt": opt, "fixed": np.full(rows, 0.5), "dataset": dataset, "loss": -loss}


@pytest.mark.parametrize("nan", [False, True])
def test_the_same_numbers(nan: bool) -> None:
    data = table({"x": 5600, "y": 6400, "few": 900}, nan=nan)
    given = TABLE_OPTIONS | {"space": SPACE, "direction": "maximize"}
    analyses, _ = grouped_analyses(data, "loss", "dataset", given)
    ready = ready_answers(analyses.groups, 0.1, 1.0, {})
    assert set(ready) == {"x", "y"} - ({"x"} if nan and analyses["x"].rows <= 5000 else set())
    for name, found in ready.items():
        alone = analyses[name].importance(draws=0)
        assert (found.target, found.region) == (alone.target, alone.region)
        assert {row.name for row in found.rows if not row.varied} == {"fixed"}
        for row in alone.rows:
            own = found[row.name]
            assert (own.n_target, own.n_region) == (row.n_target, row.n_region)
            assert own.share == pytest.approx(row.share, abs=1e-3)
            assert own.ratio == pytest.approx(row.ratio, abs=3e-3)
            assert own.divergence == pytest.approx(row.divergence, abs=1e-2)


def test_counts_are_exact() -> None:
    data = table({"x": 700, "y": 500}, nan=True)
    analyses, _ = grouped_analyses(data, "loss", "dataset", TABLE_OPTIONS | {"space": SPACE, "direction": "maximize"})
    codes = best_codes(analyses.groups, Fraction(1, 10))
    for name in SPACE:
        targets, regions = count_groups(analyses.groups, name, codes)
        for place, label in enumerate(analyses.groups.labels):
            contrast = next(c for c in analyses[label].ask(0.1, 1.0)[0] if c.name == name)
            assert np.array_equal(targets[place], contrast.target)
            assert np.array_equal(regions[place], contrast.region)


@pytest.mark.parametrize(
    ("target", "region", "options"),
    [
        (0.1, 0.5, {}),
        (pa.at_most(1.0), 1.0, {}),
        (pa.between(0.1, 0.2), 1.0, {}),
        ("lr <= 0.5", 1.0, {}),
        (0.1, 1.0, {"baseline": "uniform"}),
        (0.1, 1.0, {"smoothing": "none"}),
        (0.1, 1.0, {"estimator": "paper"}),
    ],
)
def test_other_questions_are_asked_one_by_one(target: object, region: object, options: dict[str, Any]) -> None:
    data = table({"x": 300, "y": 300})
    analyses, _ = grouped_analyses(data, "loss", "dataset", TABLE_OPTIONS | {"space": SPACE, "direction": "maximize"})
    assert usual_part(analyses.groups, 0.1, 1.0, {}) == Fraction(1, 10)
    assert usual_part(analyses.groups, target, region, options) is None
