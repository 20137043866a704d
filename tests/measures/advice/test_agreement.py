"""No two answers about one study contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import QueryError
from pedanova.measures.clear import beats_chance


def study(seed: int) -> pa.Analysis:
    """A random function of five parameters, which is smooth, has a jump, or has an interaction; with little noise."""
    rng = np.random.default_rng(seed)
    rows, (a, b, c, d, e) = 100, rng.random((5, 100))
    if seed % 2:  # as an adaptive sampler: later trials come closer to good values
        near = np.linspace(0.0, 1.0, rows) ** 2
        a, b = (1.0 - near) * a + near * 0.4, (1.0 - near) * b + near * 0.7
    parts = rng.random(4)
    loss = [
        parts[0] * (a - 0.4) ** 2 + parts[1] * np.abs(b - 0.7) + 0.3 * parts[2] * c,
        parts[0] * (a > 0.6) + parts[1] * (b - 0.7) ** 2 + 0.3 * parts[2] * c,
        parts[0] * (a - b) ** 2 + 0.3 * parts[1] * np.abs(c - 0.2),
    ][seed % 3]
    names = dict(zip("abcde", (a, b, c, d, e), strict=True))
    table: dict[str, Any] = {**names, "number": np.arange(rows), "loss": loss + 0.01 * parts[3] * rng.normal(size=rows)}
    return pa.analyze(table, "loss", space=dict.fromkeys("abcde", pa.Float(0, 1)))


def lies_in(space: pa.Space, values: Mapping[str, Any]) -> bool:
    domains = {name: domain for name, domain in space.items() if isinstance(domain, pa.Float)}
    return all(domain.low <= values[name] <= domain.high for name, domain in domains.items())


@pytest.mark.parametrize("seed", range(30))
def test_no_two_answers_contradict_each_other(seed: int) -> None:
    a = study(seed)
    answer, needed, brief = a.importance(force=True), a.needed(force=True), a.brief()
    facts = {line.topic: line.facts for line in brief.rows}
    clear = [row.name for row in answer.rows if beats_chance(row)]
    assert [one["name"] for one in facts["matters"]["clear"]] == clear
    assert set(facts["where"]["good_values"]) == set(clear)
    assert facts["ranking"]["first"] == needed.pair[0] == answer.rows[0].name
    assert facts["ranking"]["settled"] == needed.stop.ranking_settled
    if needed.stop.ranking_settled or needed.apart.more == 0:
        assert needed.pair[0] in clear
    space = a.reduce(keep=0.6).space
    assert lies_in(space, facts["best"]["values"])
    trial = a.next_trials(1, "win").rows[0]
    assert facts["next"]["values"] == trial.values
    if needed.stop.value_settled and trial.expected is not None:
        assert facts["best"]["value"] - trial.expected <= needed.stop.negligible
    try:
        gains = a.gains()
    except QueryError:
        assert needed.stop.better is None
        return
    assert lies_in(space, gains.best)
    assert facts["stay"]["safe"] == gains.safe
    assert (gains.best != gains.default) == (gains.total.low > 0.0)
    assert all(gains[name].low <= gains.total.high for name in gains)
