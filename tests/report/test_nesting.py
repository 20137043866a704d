"""Children under their parents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.report.names import NO_NESTING, Nesting, nesting_of
from pedanova.report.terminal.tables import draw_importances


@given(st.permutations(["a", "b", "c", "d", "e"]))
def test_every_name_once_and_children_right_behind_their_parents(names: list[str]) -> None:
    nesting = Nesting({"b": "a", "c": "b", "e": "d"})
    order = nesting.order(names)
    assert sorted(order) == sorted(names)
    assert order.index("b") == order.index("a") + 1
    assert order.index("c") == order.index("b") + 1
    assert order.index("e") == order.index("d") + 1
    assert [name for name in order if name in "ad"] == [name for name in names if name in "ad"]
    assert [nesting.depth(name) for name in "abcde"] == [0, 1, 2, 0, 1]
    assert NO_NESTING.order(names) == names


def test_a_child_without_its_parent_stands_alone() -> None:
    assert Nesting({"b": "a"}).order(["c", "b"]) == ["c", "b"]


def test_the_table_says_how_often_a_child_is_active() -> None:
    random = np.random.default_rng(0)
    kind, other = np.where(np.arange(300) < 120, "sgd", "adam"), random.random(300)
    momentum = np.where(kind == "sgd", random.random(300), np.nan)
    space = {
        "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
        "other": pa.Float(0, 1),
        "kind": pa.Categorical(["sgd", "adam"]),
    }
    loss = 2.0 * (kind == "sgd") + np.nan_to_num(momentum) + 3 * other
    a = pa.analyze({"other": other, "kind": kind, "momentum": momentum}, loss, space=space)
    nesting = nesting_of(a.tallies)
    assert nesting.active == {"momentum": 0.4}
    assert nesting.note("momentum") == "active in 40\u00a0%"
    assert nesting.note("other") == ""
    found = a.importance(estimator="counts", draws=0)
    lines = draw_importances(found, nesting=nesting, width=100).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("kind"))
    assert lines[at + 1].startswith("  momentum")
    assert "40 %" in lines[at + 1]
    assert "active in" in lines[2]
