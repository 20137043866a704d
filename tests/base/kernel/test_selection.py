"""Order statistics of tables in which some rows lie far off the others."""

from __future__ import annotations

import numpy as np
import pytest

from pedanova.base.kernel import library, selection
from pedanova.base.kernel.selection import select_ranks, survey_rows
from pedanova.counting.levels import LADDER
from pedanova.data.regions import rank_of

ROWS = 120_000
FAR = {"zeros": 0.0, "infinite": np.inf, "huge": -1e30, "tiny": 1e-300, "none": None}
needs_kernel = pytest.mark.skipif(not library.available(), reason="NumPy sorts everything at once")


@needs_kernel
@pytest.mark.parametrize("part", [0.001, 0.02, 0.04])
@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_few_far_rows_do_not_put_the_others_together(
    monkeypatch: pytest.MonkeyPatch, far: str, part: float, sign: float
) -> None:
    random = np.random.default_rng(0)
    values = np.round(random.normal(80, 5, ROWS), 3)
    failed = random.random(ROWS) < (0 if FAR[far] is None else part)
    values[failed] = FAR[far]
    again: list[int] = []
    by_partition = selection.by_partition
    monkeypatch.setattr(
        selection,
        "by_partition",
        lambda *given: again.extend(given[2].tolist()) or by_partition(*given),  # type: ignore[func-returns-value]
    )
    ranks = sorted({*(rank_of(quantile, ROWS) for quantile in LADDER), 1, ROWS})
    found = select_ranks(values, sign, ranks)
    ordered = np.sort(sign * values)
    assert found == {rank: ordered[rank - 1] for rank in ranks}
    beside = {rank for rank in again if abs(ordered[rank - 1]) != abs(FAR[far] or np.nan)}
    best, worst = ranks[len(ranks) // 4], ranks[-len(ranks) // 4]
    assert not [rank for rank in beside if best <= rank <= worst], "ranks among the others were sought among all rows"


@needs_kernel
def test_slots_are_of_the_crowd() -> None:
    crowd = np.random.default_rng(1).uniform(10, 20, ROWS)
    with_far = np.where(np.arange(ROWS) % 40 == 0, 0.0, crowd)
    plain, far = (survey_rows(values, 1.0) for values in (crowd, with_far))
    assert plain is not None
    assert far is not None
    assert far.window[1] <= plain.window[1] + 1  # bits of a slot
    assert far.counts.sum() == ROWS
