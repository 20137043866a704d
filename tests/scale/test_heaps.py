"""The one order of adding: that of Dask's sums, whoever adds, and however often it is interrupted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from pedanova.counting.counts import Counts
from pedanova.scale.heaps import GROUP, RunningHeaps, added_in_heaps

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
    assert added_in_heaps(iter(names), strung, many) == by_halves(names)
    assert added_in_heaps(iter(names), strung, 3 * many + 40) == by_halves(names)  # some were lost on the way


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

    assert added_in_heaps(results(), add, 256) == 256
    assert most <= 4  # one at a time, and a sum for each height
    assert ended


@pytest.mark.parametrize("many", SIZES)
def test_running_sums_are_the_same_to_the_last_digit(many: int) -> None:
    random = np.random.default_rng(many)
    found = [Counts(1, 1, {"x": [np.ones((1, 2), dtype=np.int64), random.normal(size=(1, 2))]}) for _ in range(many)]
    running = RunningHeaps()
    for counts in found:
        running.take(counts)
        running.total()  # a look at it changes nothing
    whole, total = added_in_heaps(iter(found), Counts.sum, many), running.total()
    assert (total.rows, total.counted) == (whole.rows, whole.counted) == (many, many)
    assert [table.tobytes() for table in total.tables.get("x", ())] == [
        table.tobytes() for table in whole.tables.get("x", ())
    ]
