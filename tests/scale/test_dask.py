"""The one order of adding, whoever adds."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from pedanova.base.notes import Count, Note, added
from pedanova.counting.tally import Counts
from pedanova.data.column import Column
from pedanova.scale.parts import FirstLook
from pedanova.scale.sketch import FEW, MOST, Sketch, joined_sketches
from pedanova.scale.workers import GROUP, ordered_sum

SIZES = [0, 1, 2, 15, 16, 17, 31, 255, 256, 257, 272, 300]


def strung(found: Iterable[str]) -> str:
    inside = list(found)
    return inside[0] if len(inside) == 1 else "(" + " ".join(inside) + ")"


def by_halves(names: list[str]) -> str:
    """Written down from the rule: heaps of sixteen, heaps of sixteen of these, and so on."""
    while len(names) > 1:
        names = [strung(names[start : start + GROUP]) for start in range(0, len(names), GROUP)]
    return strung(names)


@pytest.mark.parametrize("many", SIZES)
def test_results_are_added_by_their_place(many: int) -> None:
    names = [str(number) for number in range(many)]
    assert ordered_sum(iter(names), strung, many) == by_halves(names)
    assert ordered_sum(iter(names), strung, 3 * many + 40) == by_halves(names)  # some were lost on the way


def test_few_results_are_held_and_all_are_asked_for() -> None:
    held, most, ended = 0, 0, []

    def results() -> Iterator[int]:
        nonlocal held, most
        for _ in range(256):
            held += 1
            most = max(most, held)
            yield 1
        ended.append(True)

    def add(found: Iterable[int]) -> int:
        nonlocal held
        total = 0
        for one in found:
            total += one
            held -= 1
        held += 1
        return total

    assert ordered_sum(results(), add, 256) == 256
    assert most <= 4  # one at a time, and a sum for each height
    assert ended


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


def counts_of(random: np.random.Generator) -> Counts:
    tables = [random.integers(0, 9, (3, 4)), random.random((3, 4))]
    for table in tables:
        table.flags.writeable = False  # as they come out of a message
    rows = int(tables[0].sum())
    return Counts(
        rows,
        rows,
        {"lr": tables},
        None,
        [Note("rows", Count(rows), " of ", Count(rows + 1), " rows are used"), Note("source", "told")],
    )


def test_counts_that_are_added_stay_as_they_are(random: np.random.Generator) -> None:
    """A worker may be asked for them again."""
    found = [counts_of(random) for _ in range(5)]
    before = copy.deepcopy(found)
    total = Counts.sum(found)
    nested = Counts.sum([Counts.sum(found[:2]), Counts.sum(found[2:]), Counts.sum([])])
    np.testing.assert_array_equal(nested.tables["lr"][0], total.tables["lr"][0])
    np.testing.assert_allclose(nested.tables["lr"][1], total.tables["lr"][1])
    assert (nested.rows, nested.counted, nested.notes) == (total.rows, total.counted, total.notes)
    assert total.notes == added(note for counts in found for note in counts.notes)
    for one, old in zip(found, before, strict=True):
        for own, was in zip(one.tables["lr"], old.tables["lr"], strict=True):
            np.testing.assert_array_equal(own, was)


def used_of(rows: int) -> Note:
    return Note("rows", Count(rows), " of ", Count(9), " rows are used")


def test_looks_add_up_in_any_grouping(random: np.random.Generator) -> None:
    looks = [FirstLook(9, 8, bool(n), (5, 3, 7), random.integers(0, 9, 8), [used_of(n)]) for n in range(4)]
    total, nested = FirstLook.sum(looks), FirstLook.sum([FirstLook.sum(looks[:1]), FirstLook.sum(looks[1:])])
    np.testing.assert_array_equal(total.counts, nested.counts)
    assert (total.rows, total.kept, total.window, total.notes) == (36, 32, (5, 3, 7), ["6 of 36 rows are used"])
    assert (nested.rows, nested.kept, nested.window, nested.notes) == (36, 32, (5, 3, 7), total.notes)
    assert total.single is nested.single is False


def sketch_of(values: np.ndarray) -> list[Sketch]:
    sketch = Sketch("lr")
    sketch.add(Column("lr", values))
    return [sketch]


def test_sketches_join_in_any_grouping(random: np.random.Generator) -> None:
    found = [sketch_of(np.round(random.random(400) * 20) + number) for number in range(9)]
    before = copy.deepcopy(found)
    (total,) = joined_sketches(found)
    (nested,) = joined_sketches([joined_sketches(found[:4]), joined_sketches(found[4:])])
    assert (nested.rows, nested.low, nested.high) == (total.rows, total.low, total.high)
    assert nested.values == total.values
    assert len(total.values or ()) in range(1, FEW + 1)
    np.testing.assert_array_equal(nested.column().values, total.column().values)
    assert [one[0].rows for one in found] == [one[0].rows for one in before]
    assert joined_sketches([]) == []


def test_a_running_number_is_known_across_parts_in_any_grouping() -> None:
    found = [sketch_of(np.arange(start, start + 1000)) for start in range(0, 9000, 1000)]
    (nested,) = joined_sketches([joined_sketches(found[:4]), joined_sketches(found[4:])])
    assert nested.counts_on
    (torn,) = joined_sketches([joined_sketches(found[4:]), joined_sketches(found[:4])])
    assert not torn.counts_on


def test_samples_that_were_thinned_out_differently_weigh_alike() -> None:
    """Three times as many rows on one side stay three times as many in the sample."""
    many, few = Sketch("lr"), Sketch("lr")
    for _ in range(300):
        many.add(Column("lr", np.linspace(0.0, 0.4, 4096)))
    for _ in range(100):
        few.add(Column("lr", np.linspace(0.6, 1.0, 4096)))
    assert many.stride > few.stride
    for order in ([many, few], [few, many]):
        (both,) = joined_sketches([one] for one in order)
        sample = np.concatenate(both.sample)
        assert len(sample) <= 2 * MOST
        assert np.mean(sample > 0.5) == pytest.approx(0.25, abs=0.01)
