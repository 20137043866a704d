"""The last few results of long work, by what they are about, for several threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Whoever asks for what is just being made waits for it; what was not asked for longest is let go.

    A failure is told to all who wait for it, and not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, Future[Value]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What is kept under the key; made where there is nothing."""
        with self._lock:
            known = self._made.get(key)
            waiting = known if known is not None else Future[Value]()
            self._made[key] = waiting
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return waiting.result() if known is not None else self._make(key, waiting, make)

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

    def clear(self) -> None:
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return Recent, (self._most,)  # results can be made again, locks cannot be sent
