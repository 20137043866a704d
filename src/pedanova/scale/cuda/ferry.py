"""Rows that travel to a card while others are counted there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import portions, spread
from pedanova.scale.cuda.device import library, pinned


class Ferry:
    """Two places on the card, and two in memory that it may copy from: one travels while the other is filled.

    What it brought is there until the next but one: whoever launched work on it need not wait.
    """

    def __init__(self, threads: int = 1) -> None:
        cupy = library()
        self.threads, self.turn = threads, 0
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.here: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)] * 2
        self.there: list[Any] = [cupy.empty(0, dtype=np.uint8)] * 2
        self.copied, self.used = ([cupy.cuda.Event(disable_timing=True) for _ in range(2)] for _ in range(2))

    def bring(self, values: NDArray[Any]) -> Any:
        """The same numbers on the card, for work that is launched from now on."""
        work = library().cuda.get_current_stream()
        self.used[self.turn].record(work)  # all work on what was brought last is launched by now
        self.turn = turn = 1 - self.turn
        self._make_room(turn, values.nbytes)
        self.copied[turn].synchronize()
        source = self.here[turn][: values.nbytes].view(values.dtype)
        there = self.there[turn][: values.nbytes].view(values.dtype)
        pieces = portions(len(values), threads=self.threads, each=1)
        spread(lambda rows: np.copyto(source[rows], values[rows]), pieces, threads=self.threads)
        self.stream.wait_event(self.used[turn])
        there.set(source, stream=self.stream)
        self.copied[turn].record(self.stream)
        work.wait_event(self.copied[turn])
        return there

    def _make_room(self, turn: int, size: int) -> None:
        if size <= len(self.here[turn]):
            return
        library().cuda.Device().synchronize()  # what is given back may be in use
        self.here[turn] = pinned(size, np.uint8)
        self.there[turn] = library().empty(size, dtype=np.uint8)
