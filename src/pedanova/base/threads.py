"""Threads: how many, and work spread over them. The kernel and NumPy let go of the interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from pedanova.errors import Arg, QueryError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

SMALLEST_PIECE = 1 << 18  # rows worth a thread's while
MANY_PIECES = 50  # small ones that are worth several threads
SMALL_PIECE = 1 << 20  # a thread gets no second one of fewer rows: to hand it over would take longer than to wait
Work = TypeVar("Work")
Result = TypeVar("Result")
_crew: ContextVar[tuple[int, ThreadPoolExecutor] | None] = ContextVar("_crew", default=None)  # of the calling thread


def as_threads(threads: object) -> int:
    """The number of threads to use; None means one for every core this process may use."""
    if threads is None:
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        return len(cores) if cores else (os.cpu_count() or 1)
    if isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1:
        raise QueryError(Arg("threads", threads), " must be a whole number from 1 up, or None for all cores")
    return int(threads)


def threads_for(pieces: int) -> int:
    """How many threads so many small pieces of work are worth."""
    return as_threads(None) if pieces > MANY_PIECES else 1


@contextmanager
def one_crew(threads: int) -> Iterator[None]:
    """Work that is spread over so many threads within is done by the same ones: to start them takes its time, and a
    large table is gone through in several steps. They end with the block."""
    if threads == 1:
        yield
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        before = _crew.set((threads, pool))
        try:
            yield
        finally:
            _crew.reset(before)


def spread(function: Callable[[Work], Result], work: Iterable[Work], *, threads: int) -> list[Result]:
    """`function` of every piece of work, in order, on at most so many threads."""
    pieces = list(work)
    if threads == 1 or len(pieces) < 2:
        return [function(piece) for piece in pieces]
    size, crew = _crew.get() or (0, None)
    if crew is not None and size == threads:
        return list(crew.map(function, pieces))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
        return list(pool.map(function, pieces))


def chunks(rows: int, *, pieces: int) -> list[slice]:
    """The rows in so many even pieces, none of them empty."""
    pieces = max(1, min(pieces, rows))
    ends = [rows * i // pieces for i in range(pieces + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends)]


def portions(rows: int, *, threads: int, each: int = 4) -> list[slice]:
    """The rows in `each` pieces for a thread: one that other work holds up leaves its pieces to the others.

    Fewer, where the pieces would be too small for the trouble.
    """
    if threads == 1:
        return chunks(rows, pieces=1)
    several = min(threads * each, max(threads, rows // SMALL_PIECE))
    return chunks(rows, pieces=min(several, rows // SMALLEST_PIECE + 1))


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread: small matrices gain nothing from a second, and wait for it long on
    a busy machine. The last digits then do not hang on the number of cores either."""
    try:
        controller = _controller("scipy.linalg" in sys.modules)
    except ImportError:
        yield
        return
    with controller.limit(limits=1):
        yield


@lru_cache(maxsize=2)
def _controller(scipy: bool) -> Any:  # noqa: ARG001
    """Whoever knows the libraries of linear algebra that are loaded; SciPy brings one of its own. To find them takes
    a millisecond, and a question that follows the mouse has few."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
