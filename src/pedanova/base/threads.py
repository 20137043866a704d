"""Parallel work in threads, and a cache that is safe to use from several threads."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, finalize

from numpy.typing import NDArray

from pedanova.errors import Arg, QueryError

SMALLEST_PIECE = 1 << 18  # the fewest rows that are worth a thread
MOST_THREADS = 1024
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
    return min(int(threads), MOST_THREADS)


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


def portions(rows: int, *, threads: int) -> list[slice]:
    """Divide the rows into slices, several per thread, so that fast threads can do more of them."""
    if threads == 1:
        return chunks(rows, pieces=1)
    several = min(4 * threads, max(threads, rows // SMALL_PIECE))
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
MOST_BYTES = 1 << 28  # of all cached results together
PLAIN = (float, int, str, bool)


class Owner:
    """An object for `ResultCache.get` whose results are no longer needed when it is gone."""


class CachedResult:
    """A result, or the future of a result that a thread is computing."""

    __slots__ = ("future", "size", "used", "value")

    def __init__(self) -> None:
        self.future: Future[Any] | None = Future()
        self.value: Any = None
        self.size = self.used = 0


class ResultCache:
    """A cache for several threads: if two threads need the same result, one computes it and the other waits.

    A result belongs to an owner, such as the data of an analysis, and is removed with it; a result must not refer to
    its owner. If all results together take more than `most` bytes, those that were not used for longest are removed.
    An error is raised in all waiting threads and is not cached.
    """

    def __init__(self, most: int) -> None:
        self.most, self._owners = most, 0
        self.forget_all()

    def forget_all(self) -> None:
        """Empty the cache; a forked process needs this, because other threads do not exist there."""
        self._lock = Lock()
        self._numbers: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        self._made: dict[int, dict[Hashable, CachedResult]] = {}
        self._gone: deque[int] = deque()
        self._bytes = self._uses = 0

    def get(
        self, owner: object, key: Hashable, make: Callable[[], Value], size: Callable[[Value], int] | None = None
    ) -> Value:
        """The cached result of `owner` for `key`, or that of `make`, which takes `size` bytes."""
        with self._lock:
            number = self._numbers.get(owner) or self._number_of(owner)
            made = self._made[number]
            found = made.get(key)
            mine = found is None
            one = made[key] = CachedResult() if found is None else found
            self._uses = one.used = self._uses + 1
            future = one.future
        if future is None:
            return one.value  # type: ignore[no-any-return]
        if not mine:
            return future.result()  # type: ignore[no-any-return]
        try:
            value = make()
            one.size = max(200, (size or size_of)(value))
        except BaseException as error:  # raised in all threads that wait for the result
            self._settle(number, key, one, failed=True)
            future.set_exception(error)
            raise
        one.value, one.future = value, None
        future.set_result(value)
        self._settle(number, key, one)
        return value

    def _number_of(self, owner: object) -> int:
        self._owners = self._numbers[owner] = number = self._owners + 1
        self._made[number] = {}
        finalize(owner, self._forget, number).atexit = False
        self._forget_gone()
        return number

    def _settle(self, number: int, key: Hashable, one: CachedResult, *, failed: bool = False) -> None:
        with self._lock:
            made = self._made.get(number, {})
            if made.get(key) is one and failed:
                del made[key]
            elif made.get(key) is one:
                self._bytes += one.size
            self._forget_gone()
            if self._bytes > self.most:
                self._make_room()

    def _make_room(self) -> None:
        """Remove the results that were not used for longest, until a quarter of the bytes is free."""
        pairs = ((number, key, one) for number, made in self._made.items() for key, one in made.items())
        done = [(one.used, number, key) for number, key, one in pairs if one.future is None]
        for _, number, key in sorted(done, key=lambda one: one[0]):
            if self._bytes <= 3 * self.most // 4:
                break
            self._bytes -= self._made[number].pop(key).size

    def _forget(self, number: int) -> None:
        """Remove the results of an owner that is gone; later, if a thread (perhaps this one) holds the lock now."""
        self._gone.append(number)
        if self._lock.acquire(blocking=False):
            try:
                self._forget_gone()
            finally:
                self._lock.release()

    def _forget_gone(self) -> None:
        while self._gone:
            self._bytes -= sum(one.size for one in self._made.pop(self._gone.popleft(), {}).values() if not one.future)

    def __len__(self) -> int:
        return sum(map(len, self._made.values()))


def size_of(value: Any) -> int:
    """Roughly how many bytes a result takes."""
    if value is None or type(value) in PLAIN:
        return 40
    if (size := getattr(value, "nbytes", None)) is not None:
        return int(size)
    if type(value) is dict:
        return sum(100 + size_of(one) for one in value.values())
    if type(value) in (list, tuple):
        plain = value and type(value[0]) in PLAIN
        return 40 * len(value) if plain else sum(map(size_of, value))
    return sum(size_of(getattr(value, one.name)) for one in fields(value)) if is_dataclass(value) else 40


RESULTS = ResultCache(MOST_BYTES)
EVERYWHERE = Owner()  # the owner of results that depend on their key alone
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=RESULTS.forget_all)


def digest_of(values: NDArray[Any]) -> tuple[str, int, int]:
    """A short key for an array in a cache; different arrays have the same key with a probability of 2⁻⁶⁴."""
    return values.dtype.str, values.size, hash(values.tobytes())
