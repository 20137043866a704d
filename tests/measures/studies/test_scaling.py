"""The map of studies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pedanova.measures.studies.scaling import study_map


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_distances_on_a_plane_are_kept(seed: int, studies: int) -> None:
    """Ratios that lie on a plane lose nothing."""
    rng = np.random.default_rng(seed)
    ratios = rng.random((studies, 2)) @ rng.random((2, 5))
    found = study_map([str(i) for i in range(studies)], list("abcde"), ratios)
    known = np.linalg.norm(ratios[:, None] - ratios[None], axis=2)
    drawn = np.linalg.norm(found.places[:, None] - found.places[None], axis=2)
    assert drawn == pytest.approx(known, abs=1e-7)
    assert found.held == pytest.approx(1)


def test_arrows_point_to_where_a_parameter_matters() -> None:
    ratios = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    found = study_map(["x", "y", "z"], ["lr", "depth"], ratios)
    assert found.places[0] @ found.arrows[0] > 0 > found.places[2] @ found.arrows[0]
    assert abs(found.arrows).max() <= 1 + 1e-9
    assert "x" in str(found)


def test_equal_studies_lie_in_one_place() -> None:
    found = study_map(["x", "y"], ["a", "b"], np.full((2, 2), 0.5))
    assert np.allclose(found.places, 0)
    assert found.held == 1
