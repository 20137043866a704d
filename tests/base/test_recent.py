"""Results that are kept for a while."""

from __future__ import annotations

import pickle
from threading import Barrier, Thread

import pytest

from pedanova.base.threads import ResultCache


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
