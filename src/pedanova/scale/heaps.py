"""The one order in which results of parts are added: sixteen at a time, by their place.

Sums of floating point numbers depend on the order of adding. Here it follows from the places of the parts alone: not
from who read them, who was ready first, or where a run was broken off and taken up again. Threads, pools of
processes, Dask's workers and checkpoints add so, and give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pedanova.counting.counts import Counts

GROUP = 16  # results, or sums of them, that are added at a time
Result = TypeVar("Result")
Add: TypeAlias = Callable[[Iterable[Any]], Any]  # what several hold together; leaves them as they are


def added_in_heaps(results: Iterable[Result], add: Callable[[Iterable[Result]], Result], many: int) -> Result:
    """The sum of at most so many results as they come: no more of them are held than there are heights of heaps."""
    left = iter(results)

    def heap(first: Result, size: int) -> Result:
        return first if size == 1 else add(heaps(first, size // GROUP))

    def heaps(first: Result, size: int) -> Iterator[Result]:
        yield heap(first, size)
        for _ in range(GROUP - 1):
            for one in left:
                yield heap(one, size)
                break
            else:
                return

    size = GROUP
    while size <= many:  # larger than all of them, so that the end of `results` is met
        size *= GROUP
    for first in left:
        return heap(first, size)
    return add([])


@dataclass(slots=True)
class RunningHeaps:
    """The same sum of counts, as far as it has come: one sum for each height, which can be saved and gone on from."""

    taken: int = 0
    sums: list[Counts] = field(default_factory=list)  # of a heap that is not full yet, for each height

    def take(self, counts: Counts) -> None:
        self.taken += 1
        self._add(counts, 0)

    def _add(self, counts: Counts, height: int) -> None:
        if height == len(self.sums):
            self.sums.append(Counts())
        own = self.sums[height].add(counts)
        if self.taken % GROUP ** (height + 1) == 0:
            self.sums[height] = Counts()
            self._add(own, height + 1)

    def total(self) -> Counts:
        """What all have together; further ones may still come."""
        last: list[Counts] = []
        for height, own in enumerate(self.sums):
            if self.taken // GROUP**height % GROUP:  # so many are in it
                last = [Counts.sum([own, *last])]
        return last[0] if last else Counts()
