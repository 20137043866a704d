"""Levels for observations, and what the finished counts tell about the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import Survey, survey_rows
from pedanova.counting.arrays import kept_codes
from pedanova.counting.levels import (
    LADDER,
    LARGEST_TALLIES,
    SHORT_LADDER,
    SMALL,
    Levels,
    as_ladder,
    cut_levels,
)
from pedanova.counting.tally import Tally
from pedanova.data.column import count_nan
from pedanova.data.observations import Observations, describe_outside
from pedanova.data.outcomes import NanPolicy
from pedanova.data.regions import Cut, Quantile, Threshold, sign_of
from pedanova.errors import DataError, MergeError, OutsideSpaceError, QueryError
from pedanova.space.grid import grid_of

Tallies = Mapping[str, Tally]


def levelled(
    observed: Observations, levels: object, nan: NanPolicy, threads: int
) -> tuple[Levels, NDArray[Any] | None]:
    """Levels, and the level of every row where all rows count and are many: one look at their objective, which
    is forgotten here, serves for both."""
    sign = sign_of(observed.direction)
    survey = survey_rows(observed.ranked, sign, threads=threads) if observed.keep is None else None
    cut = levels_for(observed, levels, nan, threads, survey)
    codes = None if survey is None else kept_codes(observed, cut, threads=threads, survey=survey)
    return cut, codes


def levels_for(
    observed: Observations, levels: object, nan: NanPolicy, threads: int, survey: Survey | None = None
) -> Levels:
    several = len(observed.goals) > 1
    if isinstance(levels, Levels) and (several or levels.several):
        raise QueryError(
            "levels= of another analysis do not fit several objectives: their order exists only within one "
            "table; analyze all rows at once"
        )
    if isinstance(levels, Levels):
        if levels.direction != observed.direction:
            raise QueryError(
                f"direction={observed.direction!r} differs from that of the levels given, {levels.direction!r}"
            )
        if levels.nan != nan:
            raise QueryError(f"nan={nan!r} differs from the levels given, cut with nan={levels.nan!r}")
        return levels.borrowed()
    cells = sum(grid_of(parameter).width for parameter in observed.space.values())
    # A table of very many columns keeps fewer levels; others are counted when asked for.
    wide = levels is None and cells * len(LADDER) > LARGEST_TALLIES
    cut = cut_levels(
        kept(observed),
        direction=observed.direction,
        nan=nan,
        quantiles=SHORT_LADDER if wide else as_ladder(levels),  # type: ignore[arg-type]
        every=cells * SMALL <= LARGEST_TALLIES // 16,
        threads=threads,
        survey=survey,
    )
    if np.isfinite(cut.thresholds).sum() < 2:  # two thresholds are two values: it varies
        check_varies(observed, nan)
    return replace(cut, several=several)


def recut(observed: Observations, levels: Levels, cuts: Iterable[Cut], threads: int) -> Levels:
    """Levels cut further. Those of other data have no further quantiles: asking for one is refused."""
    parts = {cut.part for cut in cuts if isinstance(cut, Quantile)}
    finer = levels
    if not parts <= set(levels.quantiles) and levels.own:
        finer = cut_levels(
            kept(observed),
            direction=levels.direction,
            nan=levels.nan,
            quantiles=as_ladder(parts | set(levels.quantiles)),
            threads=threads,
        )
        finer = replace(finer, several=levels.several)
    return finer.with_values(cut.signed for cut in cuts if isinstance(cut, Threshold))


def kept(observed: Observations) -> Any:
    return observed.ranked if observed.keep is None else observed.ranked[observed.keep]


def check_varies(observed: Observations, nan: str) -> None:
    values = kept(observed)
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if low == high and not (nan == "worst" and count_nan(values)):
        raise DataError(
            f"objective {observed.name!r} is {low:g} in every row; nothing can explain a constant"
        )


class Counted(Protocol):
    """What an analysis has counted."""

    @property
    def objective(self) -> str: ...
    @property
    def levels(self) -> Levels: ...
    @property
    def tallies(self) -> Tallies: ...


def check_alike(one: Counted, two: Counted) -> None:
    """Raise where two analyses cannot be added; their tallies check the rest."""
    if one.objective != two.objective:
        raise MergeError(f"objectives differ: {one.objective!r} and {two.objective!r}")
    if one.levels.several or two.levels.several:
        raise MergeError("several objectives are ordered within one table; analyze all rows at once")
    if list(one.tallies) != list(two.tallies):
        raise MergeError(f"parameters differ: {list(one.tallies)} and {list(two.tallies)}")


def check_inside(tallies: Tallies, observed: Observations) -> None:
    for name, tally in tallies.items():
        if tally.counts[:, tally.grid.outside].any():
            placed = observed.columns[name]
            raise OutsideSpaceError(describe_outside(observed.table[name], placed, tally.parameter))


def cell_notes(tallies: Tallies) -> list[str]:
    notes = []
    for name, tally in tallies.items():
        missing, outside = (
            int(tally.counts[:, cell].sum()) for cell in (tally.grid.missing, tally.grid.outside)
        )
        if missing:
            what = "are inactive" if tally.parameter.when else "have no value"
            notes.append(f"{name}: {missing:,} of {tally.rows:,} rows {what}; counted in a cell apart")
        if outside:
            notes.append(f"{name}: {outside:,} of {tally.rows:,} rows lie outside the space; counted apart")
    return notes
