"""Parallel work in threads, and a cache that is safe to use from several threads."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from numpy.typing import NDArray

from pedanova.errors import Arg, QueryError

SMALLEST_PIECE = 1 << 18  # the fewest rows that are worth a thread
SMALL_PIECE = 1 << 20  # the fewest rows that are worth a further piece per thread
Work = TypeVar("Work")
Result = TypeVar("Result")


def as_threads(threads: object) -> int:
    """The number of threads to use; None means one for every core this process may use."""
    if threads is None:
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        return len(cores) if cores else (os.cpu_count() or 1)
    if isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1:
        raise QueryError(Arg("threads", threads), " must be a whole number of at least 1, or None for all cores")
    return int(threads)


def spread(function: Callable[[Work], Result], work: Iterable[Work], *, threads: int) -> list[Result]:
    """Apply `function` to every item, in order, with at most `threads` threads."""
    pieces = list(work)
    if threads == 1 or len(pieces) < 2:
        return [function(piece) for piece in pieces]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
        return list(pool.map(function, pieces))


def chunks(rows: int, *, pieces: int) -> list[slice]:
    pieces = max(1, min(pieces, rows))
    ends = [rows * i // pieces for i in range(pieces + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends)]


def portions(rows: int, *, threads: int, each: int = 4) -> list[slice]:
    """Divide the rows into slices, several per thread, so that fast threads can do more of them."""
    if threads == 1:
        return chunks(rows, pieces=1)
    several = min(threads * each, max(threads, rows // SMALL_PIECE))
    return chunks(rows, pieces=min(several, rows // SMALLEST_PIECE + 1))


@contextmanager
def one_thread() -> Iterator[None]:
    """Run linear algebra on one thread, so that results do not depend on the number of cores."""
    try:
        controller = _controller("scipy.linalg" in sys.modules)
    except ImportError:
        yield
        return
    with controller.limit(limits=1):
        yield


@lru_cache(maxsize=2)
def _controller(scipy: bool) -> Any:  # noqa: ARG001
    """The controller of the loaded linear algebra libraries; cached, because finding them takes a millisecond."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def trim_memory() -> None:
    """Return freed memory to the operating system (glibc only)."""
    trim = _trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


Value = TypeVar("Value")
_CACHES: WeakSet[ResultCache[Any]] = WeakSet()


class ResultCache(Generic[Value]):
    """A cache for several threads: if two threads need the same result, one computes it and the other waits.

    If the cache is full, the least recently used result is removed. An error is raised in all waiting threads and is
    not cached.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        _CACHES.add(self)

    def get(self, key: Hashable, make: Callable[[], Value], *, most: int | None = None) -> Value:
        """Return the cached result for `key`, or compute it with `make`. `most` limits the number of cached results."""
        with self._lock:
            existing = self._made.get(key)
            waiting = existing if existing is not None else Future[Value]()
            self._made[key] = waiting
            self._made.move_to_end(key)
            while len(self._made) > (self._most if most is None else most):
                self._made.popitem(last=False)
        return waiting.result() if existing is not None else self._make(key, waiting, make)

    def _make(self, key: Hashable, waiting: Future[Value], make: Callable[[], Value]) -> Value:
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                if self._made.get(key) is waiting:
                    del self._made[key]
            waiting.set_exception(error)
            raise
        waiting.set_result(value)
        return value

    def after_fork(self) -> None:
        """Empty the cache in a forked process: threads that hold its lock or compute a result do not exist there."""
        self._lock, self._made = Lock(), OrderedDict()

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return ResultCache, (self._most,)  # results can be computed again, but locks cannot be pickled


def _after_fork() -> None:
    for cache in list(_CACHES):
        cache.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def digest_of(values: NDArray[Any]) -> tuple[str, int, int]:
    """A short key for an array in a cache; different arrays have the same key with a probability of 2⁻⁶⁴."""
    return values.dtype.str, values.size, hash(values.tobytes())
