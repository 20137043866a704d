"""The one order of adding: that of Dask's sums, whoever adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from pedanova.scale.dask import GROUP, ordered_sum

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
