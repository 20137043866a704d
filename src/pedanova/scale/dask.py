"""Results of parts, added in one order; by Dask's workers themselves where there are some.

Sums of floating point numbers depend on the order of adding. Here it follows from the places of the parts alone,
sixteen at a time: not from who read them or who was ready first. Threads, pools of processes and Dask's workers add
so, and give the same bytes.

Dask's workers can hand results to one another: each stays with the worker that made it, some sixteen of them are added
by one of these workers, sixteen of such sums by another, and only the last sum travels here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pedanova.errors import DataError, MissingLibraryError

GROUP = 16  # results, or sums of them, that are added at a time
Result = TypeVar("Result")
Add: TypeAlias = Callable[[Iterable[Any]], Any]  # what several hold together; leaves them as they are
PATIENCE = 20.0  # seconds to wait for a scheduler
RETRIES = 2  # of a piece of work whose worker is lost


def ordered_sum(results: Iterable[Result], add: Callable[[Iterable[Result]], Result], many: int) -> Result:
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


def client_of(executor: Any) -> Any:
    """The Dask client behind an executor; None for executors whose workers do not know one another."""
    client = getattr(executor, "_client", None)
    return client if hasattr(client, "nthreads") and hasattr(client, "submit") else None


def submit_kept(executor: Any, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Work for Dask, as the executor would hand it in (its `retries` too), whose result nobody fetches."""
    given = {"pure": False, **getattr(executor, "_kwargs", {}), **options}  # never an earlier call's result
    return client_of(executor).submit(function, *arguments, **given)


@dataclass(frozen=True, slots=True)
class Kept:
    """A result that stays with its worker: asked for it, it waits, fails as the work did, or gives the way there."""

    future: Any

    def result(self) -> Any:
        error = self.future.exception()
        if error is None and self.future.cancelled():
            error = CancelledError("the scheduler knows nothing of it any more")
        if error is not None:
            raise error
        return self.future

    def cancel(self) -> None:
        self.future.release()  # nobody else wants it: Dask drops the work, and its client waits for no answer


@dataclass(slots=True)
class SumTree:
    """Kept results, added as they come. A sum is asked for early, so that workers soon forget what is in it."""

    executor: Any
    add: Add
    heights: list[list[Any]] = field(default_factory=list)  # sums of GROUP ** height results, too few to add

    def take(self, future: Any, height: int = 0) -> None:
        if height == len(self.heights):
            self.heights.append([])
        self.heights[height].append(future)
        if len(self.heights[height]) == GROUP:
            group, self.heights[height] = self.heights[height], []
            self.take(self._sum_of(group), height + 1)

    def total(self) -> Any:
        """The sum of all: the only result that is fetched."""
        last: list[Any] = []  # later than all that is higher
        for row in self.heights:
            group = [*row, *last]
            last = [self._sum_of(group)] if len(group) > 1 else group
        self.heights = [last]
        return Kept(last[0]).result().result() if last else self.add([])

    def forget(self) -> None:
        """Leave nothing on the workers."""
        for future in (future for row in self.heights for future in row):
            future.release()

    def _sum_of(self, group: list[Any]) -> Any:
        return submit_kept(self.executor, self.add, group, priority=1)  # before further parts are read


@contextmanager
def dask_executor(address: str) -> Iterator[object]:
    """An executor of the Dask cluster whose scheduler is at this address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingLibraryError("--dask needs distributed; pip install 'pedanova[dask]'") from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DataError(f"no Dask scheduler answers at {address}: {first}") from None
    with client:
        yield client.get_executor(retries=RETRIES)
