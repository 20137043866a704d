"""Work spread over threads: in order, and cut into pieces that cover all rows."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from threading import Barrier, Event, Thread

import pytest

from pedanova.base import threads
from pedanova.base.threads import SMALL_PIECE, SMALLEST_PIECE, ResultCache, portions, spread


def test_work_is_done_by_several_threads_and_in_order() -> None:
    barrier = threading.Barrier(3, timeout=60)

    def who(_: int) -> int:
        barrier.wait()  # so that each of the three takes one piece
        return threading.get_ident()

    def fail(piece: int) -> None:
        raise ValueError(piece)

    assert len(set(spread(who, range(3), threads=3))) == 3
    with pytest.raises(ValueError, match="0"):
        spread(fail, range(3), threads=3)
    found = spread(lambda piece: spread(lambda n: piece * n, range(3), threads=2), range(4), threads=2)
    assert found == [[0, piece, 2 * piece] for piece in range(4)]


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("rows", [0, 1, SMALLEST_PIECE, 10**7, 10**8])
def test_portions_cover_all_rows_and_are_not_too_small(rows: int, threads: int) -> None:
    pieces = portions(rows, threads=threads)
    assert [piece.start for piece in pieces[1:]] == [piece.stop for piece in pieces[:-1]]
    assert (pieces[0].start, pieces[-1].stop) == (0, rows)
    assert len(pieces) <= 4 * threads
    if len(pieces) > threads:
        assert rows // len(pieces) >= SMALL_PIECE // 2


def test_asking_is_safe_twice() -> None:
    threads.trim_memory()
    threads.trim_memory()


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    threads._trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert threads._trim() is None
    threads.trim_memory()
    threads._trim.cache_clear()


def test_what_was_not_asked_for_longest_goes_first() -> None:
    made: list[str] = []
    kept: ResultCache[str] = ResultCache(2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert kept.get(key, lambda key=key: made.append(key) or key) == key  # type: ignore[misc]
    assert made == ["a", "b", "c", "b"]
    assert len(kept) == 2


def test_several_threads_make_it_once() -> None:
    kept: ResultCache[int] = ResultCache(4)
    start, made, found = Barrier(8), [], []

    def make() -> int:
        made.append(1)
        return 7

    def ask() -> None:
        start.wait()
        found.append(kept.get("key", make))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, made) == ([7] * 8, [1])


def test_a_failure_is_not_kept() -> None:
    kept: ResultCache[int] = ResultCache(4)
    with pytest.raises(ZeroDivisionError):
        kept.get("key", lambda: 1 // 0)
    assert kept.get("key", lambda: 5) == 5


def test_it_travels_empty() -> None:
    kept: ResultCache[int] = ResultCache(4)
    kept.get("key", lambda: 5)
    assert len(pickle.loads(pickle.dumps(kept))) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_not_wait_for_threads_of_its_parent() -> None:
    kept: ResultCache[int] = ResultCache(4)
    begun, finish = Event(), Event()

    def slow() -> int:
        begun.set()
        finish.wait()
        return 1

    thread = Thread(target=lambda: kept.get("key", slow))
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        os._exit(kept.get("key", lambda: 7))
    finish.set()
    thread.join()
    for _ in range(500):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert (done, os.waitstatus_to_exitcode(status)) == (child, 7)
    assert kept.get("key", lambda: 2) == 1
