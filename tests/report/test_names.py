"""Names as they are shown: all different, none empty, whatever the order; children under their parents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.base.names import LONGEST, short_names
from pedanova.base.terminal import width_of
from pedanova.report.names import NO_NESTING, Nesting, nesting_of
from pedanova.report.terminal.tables import TerminalStyle, draw_importances

NAMES = st.lists(st.text("ab._-/:0名", min_size=1, max_size=60), min_size=1, max_size=12, unique=True)
FAMILIES = st.lists(
    st.builds(
        lambda head, middle, tail: f"{head}{middle}{tail}",
        st.sampled_from(["model.backbone.encoder.", "data/augmentation/pipeline/", "very_long_prefix_of_names_", ""]),
        st.text("abc_01", min_size=1, max_size=40),
        st.sampled_from([".dropout_probability", "_rate", ""]),
    ),
    min_size=1,
    max_size=20,
    unique=True,
)


@given(NAMES | FAMILIES)
def test_forms_differ_and_none_is_empty(names: list[str]) -> None:
    forms = short_names(names)
    assert list(forms) == names
    assert len(set(forms.values())) == len(names)
    assert all(forms.values())
    assert all(width_of(form) <= width_of(name) for name, form in forms.items())


@given(NAMES | FAMILIES, st.randoms())
def test_no_order_matters(names: list[str], random) -> None:
    turned = list(names)
    random.shuffle(turned)
    assert short_names(turned) == short_names(names)


@given(NAMES | FAMILIES)
def test_what_is_short_stays(names: list[str]) -> None:
    forms = short_names(names)
    assert all(forms[name] == name for name in names if width_of(name) <= LONGEST)
    again = list(forms.values())
    if max(map(width_of, again)) <= LONGEST:
        assert list(short_names(again).values()) == again


def test_what_all_share_is_left_out() -> None:
    names = [f"model.backbone.encoder.block_{i:02}.dropout_probability" for i in range(30)]
    assert list(short_names(names).values()) == [f"block_{i:02}" for i in range(30)]
    assert short_names([*names, "lr"])["lr"] == "lr"


def test_what_a_family_shares_is_left_out() -> None:
    one = [f"model.backbone.encoder.layer_{i}.rate" for i in range(3)]
    two = [f"trainer.callbacks.early_stopping.patience_{i}" for i in range(3)]
    forms = short_names([*one, *two])
    assert [forms[name] for name in one] == ["layer_0", "layer_1", "layer_2"]
    assert [forms[name] for name in two] == ["patience_0", "patience_1", "patience_2"]


def test_a_form_says_something() -> None:
    """Numbers alone would name nothing."""
    assert set(short_names([f"some_long_prefix_of_a_layer_{i}" for i in range(3)]).values()) == {
        "layer_0",
        "layer_1",
        "layer_2",
    }


@pytest.mark.parametrize("short", ["b", "block_00"])
def test_a_short_name_is_not_taken_over(short: str) -> None:
    names = [short, "model.backbone.encoder.block_00.x", "model.backbone.encoder.block_01.x"]
    assert short_names(names)[short] == short
    assert len(set(short_names(names).values())) == 3


def test_the_middle_is_cut_last() -> None:
    (form,) = short_names(["a_name_without_any_family_that_goes_on_and_on"]).values()
    assert width_of(form) <= LONGEST
    assert "…" in form


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
    nesting = nesting_of(a.data.tallies)
    assert nesting.active == {"momentum": 0.4}
    assert nesting.note("momentum") == "active in 40\u00a0%"
    assert nesting.note("other") == ""
    found = a.importance(estimator="counts", draws=0)
    lines = draw_importances(found.in_full(), TerminalStyle(), nesting).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("kind"))
    assert lines[at + 1].startswith("  momentum")
    assert "40 %" in lines[at + 1]
    assert any("active in" in line for line in lines[:at])
