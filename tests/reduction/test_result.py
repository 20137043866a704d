"""A reduced space inside a box that was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.reduction.result import ReducedSpace, Verdict, inside_box

DOMAINS: dict[str, Any] = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "layers": pa.Int(1, 9, step=2),
    "batch": pa.Ordinal((16, 32, 64)),
    "optimizer": pa.Categorical(("adam", "sgd")),
}


def reduced(**after: pa.space.Parameter) -> ReducedSpace:
    rows = [Verdict(n, "keep", "matters", domain, after.get(n, domain)) for n, domain in DOMAINS.items()]
    return ReducedSpace(tuple(rows), None, "the best 10 %", 0.95)


@given(st.floats(1e-6, 1.0), st.floats(1.0, 10.0), st.integers(0, 10), st.integers(0, 10))
def test_no_bound_leaves_the_box_or_the_domain(low: float, times: float, first: int, more: int) -> None:
    box = {"lr": (low, low * times), "layers": (first, first + more)}
    found = inside_box(reduced(), box)
    for name, (least, most) in box.items():
        domain, before = found[name].after, DOMAINS[name]
        if domain == before:  # the box holds all of it, or too little for a range
            continue
        assert max(least, before.low) <= domain.low < domain.high <= min(most, before.high)
        assert found[name].advice == "narrow"
    assert (found["layers"].after.low - 1) % 2 == 0


def test_values_that_were_not_selected_go() -> None:
    found = inside_box(reduced(), {"optimizer": ["adam"], "batch": (20, None), "lr": (None, None)})
    assert found["optimizer"].after.choices == ("adam",)
    assert found["batch"].after.values == (32, 64)
    assert found["lr"] == reduced()["lr"]
    assert "adam" in found.export("code")
    assert "sgd" not in found.export("code")


def test_the_page_suggests_no_more_than_was_selected() -> None:
    from pedanova.report.page.answers import smaller_space
    from pedanova.report.page.page_question import parse_question

    rng = np.random.default_rng(0)
    lr, z = 10 ** rng.uniform(-5, 0, 400), rng.random(400)
    a = pa.analyze({"lr": lr, "z": z, "loss": (np.log10(lr) + 3) ** 2 + z}, "loss")
    question = parse_question({"selection": {"lr": {"range": [1e-4, 1e-2]}}}, a.space)
    rows = {row["name"]: row for row in smaller_space(a.data, question)["rows"]}
    assert rows["lr"]["advice"] == "narrow"
    low, high = (float(end) for end in rows["lr"]["suggested"].split(", try")[0].removesuffix(" log").split(" … "))
    assert 1e-4 <= low < high <= 1e-2


def test_a_lost_condition_is_a_warning() -> None:
    momentum = pa.Float(0.1, 0.9, when=(("optimizer", ("sgd",)),))
    small = reduced(lr=momentum)
    for form in (small.to, small.export):
        with pytest.warns(UserWarning, match="optuna cannot express conditions.* values for lr"):
            form("optuna")
    assert "if params.get('optimizer') in ('sgd',)" in small.export("code")
