"""Where questions wait: a few are answered at a time, and only those that somebody still waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

from pedanova.errors import PedanovaError
from pedanova.report.live.asked import Asked
from pedanova.report.live.session import Session

MOST_WAITING = 128  # questions at once; more are refused in words
SLOW = frozenset({"objectives", "pairs", "targets", "space", "difference", "groups"})
AT_ONCE = {"bars": 1, "quick": 2, "sure": 1, "slow": 1}  # two rows of bars at once would both be late
ANSWERING = "pedanova-answer"  # threads that count for somebody
Value = TypeVar("Value")


class BusyError(PedanovaError):
    """More questions at once than are answered."""


class StaleError(PedanovaError):
    """Nobody waits for this answer any more."""


class Desk:
    """Takes questions to a session: a few at a time, the newest of each lane alone."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.waiting = 0
        self._newest: dict[tuple[Any, ...], int] = {}
        self._count = 0
        self._lanes = {kind: asyncio.Semaphore(most) for kind, most in AT_ONCE.items()}

    async def answer(self, asked: Asked, gone: Callable[[], Any]) -> dict[str, Any]:
        if self.waiting >= MOST_WAITING:
            raise BusyError("too many questions at once; ask again in a moment")
        number = self._enter(asked)
        self.waiting += 1
        try:
            async with self._lanes[kind_of(asked)]:
                if self._overtaken(asked, number) or await gone():
                    raise StaleError("a newer question took the place of this one")
                return await in_thread(lambda: self.session.answer(asked))
        finally:
            self.waiting -= 1
            if self._newest.get(asked.lane) == number:
                del self._newest[asked.lane]

    async def slowly(self, work: Callable[[], Value]) -> Value:
        """Something that takes its time, one at a time."""
        if self.waiting >= MOST_WAITING:
            raise BusyError("too many questions at once; ask again in a moment")
        async with self._lanes["slow"]:
            return await in_thread(work)

    def _enter(self, asked: Asked) -> int:
        self._count += 1
        if asked.client:
            self._newest[asked.lane] = self._count
        return self._count

    def _overtaken(self, asked: Asked, number: int) -> bool:
        return bool(asked.client) and self._newest.get(asked.lane, number) > number


def kind_of(asked: Asked) -> str:
    """What is slow never stands in the way of what follows the mouse."""
    if asked.part in SLOW:
        return "slow"
    if asked.extras.get("drawn") is False and asked.extras.get("sure") is False:
        return "bars"
    return "sure" if asked.extras.get("sure") is True else "quick"


async def in_thread(work: Callable[[], Value]) -> Value:
    """The result of work done elsewhere. The thread is nobody's to wait for: an end never waits for a count."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Value] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(value) if error is None else future.set_exception(error)

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, value, failure)

    Thread(target=run, daemon=True, name=ANSWERING).start()
    return await future
