"""Work spread over threads: in order, and cut into pieces that cover all rows."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from threading import Barrier, Event, Thread
from weakref import ref

import numpy as np
import pytest

from pedanova.base import threads
from pedanova.base.threads import RESULTS, SMALL_PIECE, SMALLEST_PIECE, Owner, ResultCache, portions, size_of, spread


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
    """However many owners there are: the limit holds for all together."""
    made: list[str] = []
    one, other = Owner(), Owner()
    kept = ResultCache(4_000)
    for owner, key in ((one, "a"), (other, "b"), (one, "a"), (other, "c"), (one, "a"), (other, "b")):
        value = kept.get(owner, key, lambda key=key: made.append(key) or key, lambda _: 1_500)  # type: ignore[misc]
        assert value == key
    assert made == ["a", "b", "c", "b"]
    assert len(kept) <= 2


def test_results_are_removed_with_their_owner() -> None:
    kept, owner = ResultCache(1 << 20), Owner()
    gone = ref(kept.get(owner, "array", lambda: np.zeros(1_000)))
    kept.get(Owner(), "other", lambda: 1)
    assert gone() is not None
    del owner
    gc.collect()
    assert gone() is None
    assert len(kept) == kept._bytes == 0


def test_results_are_removed_with_an_owner_that_goes_while_the_cache_is_busy() -> None:
    kept = ResultCache(1 << 20)
    owners = [Owner()]
    kept.get(owners[0], "one", lambda: 1)
    with kept._lock:
        owners.clear()
    assert kept.get(Owner(), "three", lambda: 3) == 3
    assert len(kept) == 0


def test_the_size_of_a_result_is_that_of_its_arrays() -> None:
    array = np.zeros(1_000)
    assert size_of({"a": array, "b": [array, array]}) == pytest.approx(24_000, rel=0.1)
    assert size_of([1.5] * 1_000) >= 8_000


def test_several_threads_make_it_once() -> None:
    kept, owner = ResultCache(1 << 20), Owner()
    start, made, found = Barrier(8), [], []

    def make() -> int:
        made.append(1)
        return 7

    def ask() -> None:
        start.wait()
        found.append(kept.get(owner, "key", make))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, made) == ([7] * 8, [1])


def test_a_failure_is_not_kept() -> None:
    kept, owner = ResultCache(1 << 20), Owner()
    with pytest.raises(ZeroDivisionError):
        kept.get(owner, "key", lambda: 1 // 0)
    assert kept.get(owner, "key", lambda: 5) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_not_wait_for_threads_of_its_parent() -> None:
    kept, owner = RESULTS, Owner()
    begun, finish = Event(), Event()

    def slow() -> int:
        begun.set()
        finish.wait()
        return 1

    thread = Thread(target=lambda: kept.get(owner, "key", slow))
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        os._exit(kept.get(owner, "key", lambda: 7))
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
    assert kept.get(owner, "key", lambda: 2) == 1
