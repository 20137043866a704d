"""Work spread over threads: in order, by one crew where there is one, and cut into pieces that cover all rows."""

from __future__ import annotations

import threading

import pytest

from pedanova.base.threads import SMALL_PIECE, SMALLEST_PIECE, one_crew, portions, spread


def test_a_crew_serves_every_step() -> None:
    """The same threads in all steps, also after one that failed; without a crew, each step has its own."""
    barrier = threading.Barrier(3, timeout=60)

    def who(_: int) -> int:
        barrier.wait()  # so that each of the three takes one piece
        return threading.get_ident()

    def fail(piece: int) -> None:
        raise ValueError(piece)

    with one_crew(3):
        first = set(spread(who, range(3), threads=3))
        with pytest.raises(ValueError, match="0"):
            spread(fail, range(3), threads=3)
        assert set(spread(who, range(3), threads=3)) == first
        assert len(first) == 3
        assert spread(lambda piece: -piece, range(9), threads=2) == [-piece for piece in range(9)]
    assert all(thread.ident not in first for thread in threading.enumerate())


def test_work_within_work_does_not_wait_for_its_own_crew() -> None:
    with one_crew(2):
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
