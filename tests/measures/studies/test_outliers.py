"""Studies that disagree."""

from __future__ import annotations

import numpy as np
import pytest

from pedanova.measures.studies.outliers import beside_others, disagreements

STUDIES = [f"s{i}" for i in range(12)]


def test_the_odd_one_is_found_and_named() -> None:
    rng = np.random.default_rng(0)
    shares = 0.2 + 0.01 * rng.normal(size=(12, 2))
    shares[3, 1] = 0.7
    found = disagreements(STUDIES, ["lr", "depth"], shares, np.full((12, 2), 1e-4))
    assert [(row.study, row.name) for row in found.rows] == [("s3", "depth")]
    assert found.rows[0].others == pytest.approx(0.2, abs=0.02)
    assert found.of("s3") == found.rows
    assert "s3" in str(found)


@pytest.mark.parametrize("variance", [0.0, 4e-4])
def test_alarms_are_rare(variance: float) -> None:
    """Studies of one law: any is called odd in at most 5 % of the tables, whether chance is known or not."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(120):
        shares = 0.3 + 0.05 * rng.normal(size=(12, 3)) + 0.02 * rng.normal(size=(12, 3))
        alarms += bool(disagreements(STUDIES, list("abc"), shares, np.full((12, 3), variance)).rows)
    assert alarms / 120 <= 0.1


def test_missing_shares_and_few_studies_are_not_judged() -> None:
    shares = np.full((12, 2), 0.1)
    shares[:, 1] = np.nan
    shares[:3, 1] = [0.1, 0.1, 0.9]
    assert not disagreements(STUDIES, ["a", "b"], shares, np.full((12, 2), 1e-6)).rows


def test_the_mean_of_the_others_leaves_the_study_out() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.9])
    means, p = beside_others(values, np.full(4, 1e-2))
    assert means == pytest.approx([(values.sum() - v) / 3 for v in values])
    assert np.argmin(p) == 3
