"""Results that are added up where they were found, so that only their sum travels.

Dask's workers can hand results to one another: each stays with the worker that found it, some sixteen
of them are added by one of these workers, sixteen of such sums by another, and one comes here. Which
results are added to which follows from their order alone (`heaps`), not from who was ready first.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from pedanova.scale.heaps import GROUP, Add


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
