"""Where the lines of a critical-difference diagram run: decided once, for figures and for the page."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.measures.studies.pooling import RankTest


@dataclass(frozen=True, slots=True)
class RankLine:
    """One name: its mean rank, whether it stands on the left, and how many steps below the axis."""

    name: str
    rank: float
    left: bool
    step: int


@dataclass(frozen=True, slots=True)
class RankLines:
    """Rungs from the axis downwards, the bars of names that are not told apart, and how many steps there are."""

    rungs: tuple[RankLine, ...]
    bars: tuple[tuple[float, float, int], ...]  # from rank, to rank, in which lane below the axis
    lanes: int
    steps: int
    low: int  # ranks that the axis spans
    high: int


def rank_lines_of(test: RankTest) -> RankLines:
    """The better half of the names on the left, the others on the right, the outermost nearest to the axis."""
    count = len(test.names)
    half = (count + 1) // 2
    rungs = []
    for place, (name, rank) in enumerate(zip(test.names, test.ranks, strict=True)):
        left = place < half
        rungs.append(RankLine(name, rank, left, place if left else count - 1 - place))
    bars: list[tuple[float, float, int]] = []
    ends: list[float] = []  # of each lane
    for first, last in test.alike:
        begin, end = test.ranks[first], test.ranks[last]
        lane = next((i for i, taken in enumerate(ends) if taken < begin - 0.05), len(ends))
        ends[lane : lane + 1] = [end]
        bars.append((begin, end, lane))
    return RankLines(tuple(rungs), tuple(bars), len(ends), half, 1, count)
