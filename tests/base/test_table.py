"""Results are mappings: by name, never by place; completion offers what a user may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova.errors import UnknownParameterError
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import pair_plane


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    x, y = random.random((2, 200))
    return pa.analyze({"x": x, "y": y, "kind": random.choice(["a", "b"], 200)}, x + y / 10)


@pytest.fixture(scope="module")
def results(a: pa.Analysis) -> dict[str, Any]:
    return {
        "importance": a.importance(**COUNTS),
        "effects": a.effects(),
        "interactions": a.interactions(),
        "reduce": a.reduce(estimator="counts"),
        "forest": pa.forest_effects(a.data.observed(), trees=4),
        "compare": a.compare(),
        "by_objective": a.compare(by="objective", **COUNTS),
    }


NAMES = ["importance", "effects", "interactions", "reduce", "forest", "compare", "by_objective"]


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_a_mapping(results: dict[str, Any], name: str) -> None:
    found = results[name]
    assert isinstance(found, Mapping)
    assert list(found) == list(found.keys()) == list(dict(found))
    assert len(found) == len(list(found)) > 0
    assert [found[key] for key in found] == list(found.values())
    assert dict(found.items()) == dict(found)
    assert all(key in found for key in found)
    assert "nothing" not in found
    assert found.get("nothing") is None


def test_ratios_and_shares_by_name(a: pa.Analysis, results: dict[str, Any]) -> None:
    for found in (a.importance(**COUNTS), a.effects(), results["forest"]):
        assert found.ratios == {name: row.ratio for name, row in found.items()}
        assert found.shares == {name: row.share for name, row in found.items()}
        assert sum(found.ratios.values()) == pytest.approx(1.0)


def test_a_place_is_no_name(a: pa.Analysis, results: dict[str, Any]) -> None:
    found = a.importance(**COUNTS)
    for place in (0, np.int64(0), -1, slice(0, 2)):
        refuse(UnknownParameterError, "no parameter is called", f"choose one of: {found.rows[0].name}",
               of=lambda place=place: found[place])  # fmt: skip
    pairs = results["interactions"]
    for wrong in (0, "x"):
        refuse(UnknownParameterError, f"{wrong!r} must be 2 different parameters", of=lambda wrong=wrong: pairs[wrong])
    refuse(UnknownParameterError, "no parameter is called 'xx'; did you mean 'x'?", of=lambda: found["xx"])


FORMS = {"summary", "to_csv", "to_dict", "to_latex", "to_markdown", "to_pandas", "to_text"}
MAPPING = {"get", "items", "keys", "values"}
OFFERED = {
    "importance": {
        "baseline", "copies", "doubtful", "estimator", "full", "good", "headline", "in_full", "notes", "plot",
        "ratios", "region", "rows", "shares", "target", "trials", "whole",
    },
    "effects": {
        "clip", "marginal", "mean", "n_region", "notes", "ratios", "region", "rows", "shares", "total_variance",
    },
    "interactions": {"cells", "corrected", "estimator", "notes", "order", "region", "rows", "target"},
    "forest": {"n_rows", "notes", "objective", "ratios", "rows", "shares", "trees", "variance"},
    "compare": {"answers", "meanings", "noise", "notes", "ratios", "shown"},
    "by_objective": {"answers", "meanings", "noise", "notes", "ratios", "shown"},
    "reduce": {
        "evidence", "export", "fixed", "keep", "notes", "rows", "space", "target", "to",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_completion_offers_what_a_user_may_call(results: dict[str, object], name: str) -> None:
    assert set(dir(results[name])) == OFFERED[name] | FORMS | MAPPING


def test_completion_of_other_results(a: pa.Analysis) -> None:
    assert set(dir(a.profile(estimator="counts"))) == FORMS | {"estimator", "notes", "of", "region", "steps"}
    density = {
        "bandwidth",
        "cells",
        "drawings",
        "drawn",
        "edges",
        "failed_in",
        "good",
        "missing_region",
        "missing_target",
        "name",
        "notes",
        "parameter",
    }
    assert set(dir(a.densities("x"))) == FORMS | density | {"region", "target", "uniform", "words"}
    marginal = {"bandwidth", "cells", "counts", "edges", "mean", "missing_mean", "missing_rows", "name", "parameter"}
    assert set(dir(a.effects().marginal("x"))) == FORMS | marginal | {"high", "low"}
    plane = {"expected", "first", "first_cells", "lift", "region", "second", "second_cells", "significant", "target"}
    assert set(dir(pair_plane(a.data, ("x", "y"), Question(), 8))) == FORMS | plane
