"""What is said of a smaller space speaks of the bounds that are printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.reduction.boxes import Box, Cloud, axis_of
from pedanova.reduction.reduce import Judgement, sure_enough
from pedanova.space.grid import grid_of

KINDS = list("abc")


def two_alike(rows: int, seed: int) -> tuple[dict[str, Any], Any]:
    """Two kinds are equally good, each at its own x: now this one is kept, now the other."""
    rng = np.random.default_rng([seed, 1])
    table: dict[str, Any] = {"x": rng.random(rows), "y": rng.random(rows), "kind": rng.choice(KINDS, rows)}
    place = np.select([table["kind"] == "a", table["kind"] == "b"], [0.3, 0.7], np.nan)
    loss = np.where(np.isnan(place), 0.4, (table["x"] - np.nan_to_num(place)) ** 2) + 0.1 * table["y"]
    return table, loss + 0.03 * rng.normal(size=rows)


@pytest.mark.parametrize("seed", range(3))
def test_rows_held_back_never_say_more_than_lies_inside(seed: int) -> None:
    table, loss = two_alike(150, seed)
    space = {"x": pa.Float(0, 1), "y": pa.Float(0, 1), "kind": pa.Categorical(KINDS)}
    small = pa.analyze(table, loss, space=space, direction="min").reduce()
    evidence = small.evidence
    assert evidence is not None
    inside = np.ones(150, dtype=bool)
    for name, domain in small.space.items():
        if isinstance(domain, pa.Categorical):
            inside &= np.isin(table[name], domain.choices)
        else:
            inside &= (table[name] >= domain.low) & (table[name] <= domain.high)  # type: ignore[union-attr]
    top = loss <= np.sort(loss)[14]
    assert evidence.inside == pytest.approx(inside[top].mean(), abs=0.07)  # printed bounds are rounded outwards
    assert evidence.kept.part <= evidence.inside
    assert evidence.enrichment == pytest.approx(evidence.kept.part / evidence.volume)


def test_of_other_boxes_only_what_they_lose_counts() -> None:
    wanted = np.ones(10, dtype=bool)
    inside = np.arange(10) < 5
    for parts, held in ((np.full(10, 0.9), np.arange(10) < 8), (np.full(10, 0.3), np.arange(10) < 2)):
        assert Judgement(inside, held, parts).kept_of(wanted).part == pytest.approx(0.4)  # each loses a tenth
    assert Judgement(inside, np.arange(10) < 7, np.full(10, 0.5)).kept_of(wanted).part == 0.5  # none is found by luck
    assert Judgement(inside, ~wanted, np.ones(10)).kept_of(wanted).part == 0.0
    none = Judgement(inside, inside, inside.astype(float)).kept_of(~wanted)
    assert (none.part, none.low) == (0.0, 0.0)


def test_a_child_is_as_often_active_as_what_is_left_of_its_parent_allows() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 3000)
    half = np.where(kind == 0, rng.integers(0, 2, 3000), -1)
    axes = {"half": axis_of(grid_of(pa.Int(0, 1))), "kind": axis_of(grid_of(pa.Categorical(KINDS)))}
    cloud = Cloud(axes, {"half": half, "kind": kind}, np.full((3000, 1), 1 / 3000), parents=frozenset({"kind"}))
    both, child = Box({"half": (0,), "kind": (0,)}), Box({"half": (0,)})
    assert both.volume(cloud) == pytest.approx(1 / 6)
    assert child.volume(cloud) == pytest.approx(np.mean(half != 1), abs=0.01)
    assert Box({"kind": (1, 2), "half": (0,)}).volume(cloud) == pytest.approx(2 / 3)  # the child is gone with it
    assert Box().volume(cloud) == 1.0


def test_no_category_is_cut_that_the_table_marks_as_maybe_noise() -> None:
    table, loss = two_alike(150, 0)
    space = pa.Space({"x": pa.Float(0, 1), "y": pa.Float(0, 1), "kind": pa.Categorical(KINDS)})
    found = pa.analyze(table, loss, space=space, direction="min").importance(draws=0)
    names = ["x", "y", "kind"]
    for significant, left in ((True, names), (False, ["x", "y"]), (None, names)):
        marked = replace(found, rows=tuple(replace(row, significant=significant) for row in found.rows))
        assert sure_enough(names, marked, space) == left
