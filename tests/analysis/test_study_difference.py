"""Two studies: shares, ratios and good values that differ, on what both share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError
from pedanova.measures.distributions import holm
from pedanova.results import Differences

FAST = {"estimator": "counts", "draws": 200}
SPACE = {"lr": pa.Float(0, 1), "depth": pa.Int(1, 8), "noise": pa.Float(0, 1)}


def table(rows: int, seed: int, weight: float = 1.0, best: float = 0.3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    lr, depth, noise = rng.random(rows), rng.integers(1, 9, rows), rng.random(rows)
    loss = weight * np.abs(lr - best) + 0.05 * depth + 0.1 * rng.standard_normal(rows)
    return {"lr": lr, "depth": depth, "noise": noise, "loss": loss}


def study(*given: Any, **named: Any) -> pa.Analysis:
    return pa.analyze(table(*given, **named), "loss", space=SPACE)


def test_a_clear_difference() -> None:
    a, b = study(800, 0, weight=2.0), study(800, 1, weight=0.2)
    found = pa.difference(a, b, names=("spring", "autumn"), **FAST)
    row = found["lr"]
    assert row.significant
    assert row.low is not None
    assert row.low > 0
    assert row.difference == pytest.approx(row.share - row.other)
    assert row.ratio_difference == pytest.approx(row.ratio - row.other_ratio)
    assert found.rows[0].name == "lr"
    assert "lr matters more in spring than in autumn" in found.summary()
    assert "spring" in str(found)


def test_turned_around_the_signs_turn() -> None:
    a, b = study(400, 0), study(500, 1, weight=0.5)
    one, two = pa.difference(a, b, **FAST), pa.difference(b, a, **FAST)
    for name in one:
        assert one[name].difference == pytest.approx(-two[name].difference)
        assert one[name].low == pytest.approx(-(two[name].high or 0))
        assert one[name].p_adjusted == pytest.approx(two[name].p_adjusted)


def test_p_values_belong_to_intervals_and_are_corrected_together() -> None:
    found = pa.difference(study(400, 0), study(400, 1, weight=0.4), **FAST)
    rows = found.rows
    for row in rows:
        assert row.low is not None
        assert row.high is not None
        assert row.p_value is not None
        assert (row.p_value < 0.05) == (row.low > 0 or row.high < 0)
    adjusted = holm([row.p_value for row in rows])
    assert [row.p_adjusted for row in rows] == pytest.approx(adjusted.tolist())


def test_the_same_study_does_not_differ_from_itself() -> None:
    a = study(300, 0)
    found = pa.difference(a, a, **FAST)
    assert all(row.difference == 0 and not row.significant and not row.moved for row in found.rows)
    assert all(row.overlap == pytest.approx(1) for row in found.rows)
    assert found.relation.kind == "same"
    assert any("share rows" in note for note in found.notes)


def test_good_values_that_moved() -> None:
    found = pa.difference(study(1500, 0, best=0.2), study(1500, 1, best=0.8), **FAST)
    row = found["lr"]
    assert row.moved
    assert row.overlap is not None
    assert row.overlap < 0.6
    assert row.good != row.other_good
    assert f"Good values of lr moved: {row.good} → {row.other_good}" in found.summary()
    assert not found["noise"].moved


def test_good_values_move_only_where_the_parameter_matters() -> None:
    """In the second study `noise` was drawn elsewhere, and so were its rows in the target; it matters in neither."""
    skewed = table(1500, 1)
    skewed["noise"] = skewed["noise"] ** 4
    found = pa.difference(study(1500, 0), pa.analyze(skewed, "loss", space=SPACE), **FAST)
    row = found["noise"]
    assert row.moved_p_adjusted is not None
    assert row.moved_p_adjusted < 0.01
    assert not row.matters
    assert not row.moved
    assert "Good values of noise" not in found.summary()


def test_spaces_are_mapped_onto_what_they_share() -> None:
    wide = table(600, 0)
    wide["lr"] = 2 * wide["lr"]
    wide["width"] = np.random.default_rng(5).random(600)
    narrow = table(400, 1)
    a = pa.analyze(wide, "loss", space=SPACE | {"lr": pa.Float(0, 2), "width": pa.Float(0, 1)})
    b = pa.analyze(narrow, "loss", space=SPACE)
    found = pa.difference(a, b, **FAST)
    inside = int((wide["lr"] <= 1).sum())
    assert any("width" in note and "first" in note for note in found.notes)
    assert any(
        f"{inside} of 600 rows of the first study, 400 of 400 rows of the second" in note for note in found.notes
    )
    assert "width" not in found
    assert not found.relation.space
    alone = a.within({"lr": (0, 1)}).importance(**FAST)
    assert found["depth"].share == pytest.approx(alone["depth"].share)


def test_without_rows_the_domains_are_told(tmp_path: Path) -> None:
    a, b = study(300, 0), pa.analyze(table(300, 1), "loss", space=SPACE | {"depth": pa.Int(1, 30)})
    b.save(tmp_path / "b.pedanova", rows=False)
    found = pa.difference(a, pa.load(tmp_path / "b.pedanova"), **FAST)
    assert any(note.subject == "depth" and note.severity == "warning" for note in found.notes)


def test_aims_and_fixed_parameters_are_told() -> None:
    other = table(300, 1) | {"noise": np.full(300, 0.5)}
    other["score"] = -other.pop("loss")
    b = pa.analyze(other, "score", direction="maximize", space=SPACE)
    found = pa.difference(study(300, 0), b, **FAST)
    assert any("maximise score" in note for note in found.notes)
    assert any(note.subject == "noise" and "never varied in B" in note for note in found.notes)
    assert set(found) == {"lr", "depth"}


def test_without_draws_there_are_no_intervals() -> None:
    found = pa.difference(study(300, 0), study(300, 1), estimator="counts", draws=0)
    assert all(row.low is None and row.p_adjusted is None and not row.significant for row in found.rows)


def test_answers_are_compared_as_before() -> None:
    a = study(300, 0)
    found = pa.difference(a.importance(0.1, **FAST), a.importance(0.2, **FAST))
    assert isinstance(found, Differences)


def test_refusals() -> None:
    a = study(300, 0)
    refuse(QueryError, "importance()", of=lambda: pa.difference(a, a.importance(**FAST)))  # type: ignore[call-overload]
    other = pa.analyze({"width": np.arange(100.0), "loss": np.arange(100.0) ** 2}, "loss", params=["width"])
    refuse(QueryError, "have no parameter in common", "width", of=lambda: pa.difference(a, other))
