"""The one order in which results of parts are added: sixteen at a time, by their place.

Sums of floating point numbers depend on the order of adding. Here it follows from the places of the parts alone: not
from who read them or who was ready first. Threads, pools of
processes and Dask's workers add so, and give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

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
