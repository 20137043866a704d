"""What two studies are to each other, told from their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.studies.study_difference import StudyRelation, study_relation, two_samples
from pedanova.space.comparison import shared_space

SPACE = {"lr": pa.Float(1e-4, 1, log=True), "units": pa.Int(1, 500), "opt": pa.Categorical(["adam", "sgd"])}


def table(rows: int, seed: int, *, pulled: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    place = rng.beta(3, 6, rows) if pulled else rng.random(rows)
    lr, units, opt = 10.0 ** (4 * place - 4), rng.integers(1, 501, rows), rng.choice(["adam", "sgd"], rows)
    return {"lr": lr, "units": units, "opt": opt, "loss": np.abs(place - 0.4) + 0.1 * rng.random(rows)}


def first(data: dict[str, Any], rows: int) -> dict[str, Any]:
    return {name: values[:rows] for name, values in data.items()}


def relation_of(one: dict[str, Any], two: dict[str, Any]) -> StudyRelation:
    a, b = (pa.analyze(data, "loss", space=SPACE) for data in (one, two))
    return study_relation(a.data, b.data, shared_space(a.space, b.space))


def test_the_same_rows_in_any_order() -> None:
    data = table(200, 0)
    order = np.random.default_rng(1).permutation(200)
    assert relation_of(data, {name: values[order] for name, values in data.items()}).kind == "same"


def test_a_study_that_went_on() -> None:
    data = table(300, 0)
    found = relation_of(first(data, 200), data)
    assert (found.kind, found.longer) == ("continued", 2)
    assert "second study continues the first" in found.in_words()
    assert relation_of(data, first(data, 200)).longer == 1


def test_configurations_run_again() -> None:
    data = table(200, 0)
    found = relation_of(data, data | {"loss": data["loss"] + np.random.default_rng(1).normal(0, 0.1, 200)})
    assert (found.kind, found.common) == ("again", 1.0)
    assert "the training seed or the task may differ" in found.in_words()


def test_another_seed_and_another_sampler() -> None:
    same = relation_of(table(300, 0), table(300, 1))
    assert (same.kind, same.drawn) == ("other", ())
    assert "the same search with another seed" in same.in_words()
    other = relation_of(table(300, 0), table(300, 1, pulled=True))
    assert other.drawn == ("lr",)
    assert "were sampled differently (the samplers differ, or" in other.in_words()


def test_another_space() -> None:
    a = pa.analyze(table(200, 0), "loss", space=SPACE)
    b = pa.analyze(table(200, 1), "loss", space=SPACE | {"units": pa.Int(1, 9000)}, reading=pa.Reading(outside="count"))
    assert "the search spaces differ" in study_relation(a.data, b.data, shared_space(a.space, b.space)).in_words()


def test_a_file_without_rows_leaves_it_open(tmp_path: Path) -> None:
    a = pa.analyze(table(200, 0), "loss", space=SPACE)
    a.save(tmp_path / "a.pedanova", rows=False)
    b = pa.load(tmp_path / "a.pedanova")
    found = study_relation(a.data, b.data, shared_space(a.space, b.space))
    assert found.kind == "unknown"
    assert "it is not known whether" in found.in_words()


def test_types_of_columns_do_not_matter() -> None:
    data = table(200, 0)
    again = data | {"units": data["units"].astype(float), "opt": list(data["opt"])}
    assert relation_of(data, again).kind == "same"


def test_two_draws_from_one_law_differ_by_chance_alone() -> None:
    rng = np.random.default_rng(0)
    p = [two_samples(*(np.bincount(rng.integers(0, 50, 200), minlength=50) for _ in range(2))) for _ in range(300)]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.035)
    assert two_samples(np.array([50, 0]), np.array([0, 50])) < 1e-6
    assert two_samples(np.array([3, 0]), np.array([0, 50])) == 1.0
