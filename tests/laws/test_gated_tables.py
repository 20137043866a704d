"""Random tables with gates, constants, copies, ties and gaps: an answer with default options, or a refusal."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from pedanova.errors import PedanovaError

Table = dict[str, list[Any]]


@st.composite
def gated_tables(draw: st.DrawFn) -> Table:
    """Some configurations of a gate and its children; their repeats take the objectives from a few patterns."""
    repeats = draw(st.sampled_from([1, 5, 20]))
    count = draw(st.integers(3, 6)) if repeats > 1 else draw(st.integers(20, 60))
    pattern = st.lists(st.integers(0, 2), min_size=repeats, max_size=repeats)
    patterns = draw(st.lists(pattern, min_size=1, max_size=2 if repeats > 1 else 4))
    levels = draw(st.sampled_from([["a", "b"], [1, 2, 3], [0.1, 0.25, 0.7, 0.9]]))
    text = draw(st.booleans())  # a missing value is an empty text, or None
    rows: list[dict[str, Any]] = []
    for _ in range(count):
        on = draw(st.integers(0, 2)) > 0
        value = draw(st.sampled_from(levels)) if on else ("" if text else None)
        one = {"gate": "on" if on else "off", "child": value, "copy": value, "fixed": 7}
        one["other"] = draw(st.sampled_from([1.0, 2.0, None]))
        rows += [one | {"loss": float(loss)} for loss in draw(st.sampled_from(patterns))]
    kept = [name for name in ("copy", "fixed", "other") if draw(st.booleans())]
    return {name: [row[name] for row in rows] for name in ["gate", "child", *kept, "loss"]}


@settings(max_examples=60, deadline=None)
@given(gated_tables())
def test_a_table_is_answered_or_refused(table: Table) -> None:
    try:
        answer = pa.analyze(table, "loss", direction="minimize").importance()
    except PedanovaError:
        return
    for row in answer.rows:
        numbers = [row.share, row.ratio, *(() if row.p_value is None else (row.low, row.high, row.p_value))]
        assert all(math.isfinite(number) for number in numbers), row
    assert str(answer)
