"""Who passed whom: noise changes nothing, and what changes is told once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pedanova as pa
from pedanova.measures.importance import LONGEST, Importance, Importances, Standings


def ranked(**ends: tuple[float, float]) -> Importances:
    """Parameters by their intervals, most important first."""
    blank = Importance("", 0, 0, 0, 0, 0, 10, 100, 0, 0, 0, 0, 0)
    rows = [replace(blank, name=name, share=(low + high) / 2, low=low, high=high) for name, (low, high) in ends.items()]
    rows.sort(key=lambda row: -row.share)
    return Importances(tuple(rows), "the best 10 %", "all rows", "region")


def test_within_the_noise_nothing_changes() -> None:
    now = Standings.begin(ranked(a=(0.3, 0.5), b=(0.2, 0.45)), 50)
    now = now.then(ranked(a=(0.2, 0.4), b=(0.35, 0.5)), 90)  # b stands first, and they overlap
    assert now.order == ("a", "b")
    assert now.passes == ()
    assert now.stable_for == 40


def test_a_pass_is_told_once_and_begins_the_count_anew() -> None:
    now = Standings.begin(ranked(a=(0.5, 0.6), b=(0.1, 0.2)), 50)
    now = now.then(ranked(a=(0.3, 0.5), b=(0.2, 0.4)), 80)
    assert now.stable_for == 30
    now = now.then(ranked(b=(0.5, 0.6), a=(0.1, 0.3)), 120)
    ((one),) = now.passes
    assert (one.ahead, one.behind, one.rows, one.was_clear) == ("b", "a", 120, True)
    assert (now.order, now.stable_for) == (("b", "a"), 0)
    later = now.then(ranked(b=(0.5, 0.6), a=(0.1, 0.3)), 160)
    assert later.passes == now.passes
    assert later.stable_for == 40


def test_who_was_never_clearly_ahead_was_not_passed_but_left_behind() -> None:
    now = Standings.begin(ranked(a=(0.2, 0.5), b=(0.2, 0.45)), 50)
    now = now.then(ranked(b=(0.5, 0.6), a=(0.1, 0.3)), 100)
    assert [one.was_clear for one in now.passes] == [False]


def test_parameters_come_and_go_without_passing_anybody() -> None:
    now = Standings.begin(ranked(a=(0.5, 0.6), b=(0.1, 0.2)), 50)
    now = now.then(ranked(new=(0.8, 0.9), a=(0.5, 0.6)), 60)
    assert now.passes == ()
    assert now.order == ("a", "new")
    now = now.then(ranked(new=(0.8, 0.9), a=(0.5, 0.6)), 70)
    assert [(one.ahead, one.behind) for one in now.passes] == [("new", "a")]


def test_a_parameter_without_an_interval_passes_nobody() -> None:
    now = Standings.begin(ranked(a=(0.5, 0.6), b=(0.1, 0.2)), 50)
    bare = ranked(b=(0.9, 1.0), a=(0.1, 0.2))
    bare = replace(bare, rows=tuple(replace(row, low=None, high=None) for row in bare.rows))
    assert now.then(bare, 60).passes == ()


def test_what_is_remembered_is_bounded() -> None:
    now = Standings.begin(ranked(a=(0.5, 0.6), b=(0.1, 0.2)), 0)
    for rows in range(1, 3 * LONGEST):
        first, second = "ab" if rows % 2 else "ba"
        now = now.then(ranked(**{second: (0.5, 0.6), first: (0.1, 0.2)}), rows)
    assert len(now.passes) == LONGEST
    assert len(now.clear) == 1


def test_parameters_alike_do_not_pass_each_other_twenty_looks_long() -> None:
    """Six parameters of equal weight, in two studies of 300 trials: their order is noise from look to look."""
    passes = moves = 0
    for seed in range(2):
        random = np.random.default_rng(seed)
        table = {name: random.random(300) for name in "abcdef"}
        a = pa.analyze(table, sum((values - 0.5) ** 2 for values in table.values()))
        now = None
        for rows in range(60, 301, 20):
            found = a.first(rows).importance(0.2, estimator="counts", draws=500)
            moves += now is not None and tuple(found) != now.order
            now = Standings.begin(found, rows) if now is None else now.then(found, rows)
        assert now is not None
        passes += len(now.passes)
    assert moves > 15, "the raw ranking changes all the time"
    assert passes <= 2, "24 looks at 15 pairs each"


def test_a_real_change_is_seen() -> None:
    """Early trials vary one parameter to great effect, later ones have it right and vary another."""
    random = np.random.default_rng(0)
    a, b = random.random(900), random.random(900)
    scale = np.where(np.arange(900) < 200, 1.0, 0.02)
    table = {"a": 0.5 + (a - 0.5) * scale, "b": b, "c": random.random(900)}
    whole = pa.analyze(table, np.abs(table["a"] - 0.45) * 3 + np.abs(b - 0.3), space={n: pa.Float(0, 1) for n in table})
    now = None
    for rows in (100, 200, 400, 900):
        found = whole.first(rows).importance(estimator="counts", draws=500)
        now = Standings.begin(found, rows) if now is None else now.then(found, rows)
    assert now is not None
    assert ("b", "a") in [(one.ahead, one.behind) for one in now.passes]


@pytest.mark.parametrize(("rows", "part"), [(60, 0.02), (150, 0.01), (2000, 0.001), (12_345, 0.0001)])
def test_a_target_that_is_too_small_is_widened_to_a_few_rows(rows: int, part: float) -> None:
    rng = np.random.default_rng(rows)
    x, y = rng.random((2, rows))
    result = pa.analyze({"x": x, "y": y}, x + 0.1 * y, direction="min").importance(part, draws=0)
    assert 5 <= result.rows[0].n_target <= 10
    assert any("too few; the answer is for the best" in str(note) for note in result.notes)
