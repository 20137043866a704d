"""The rungs of the page's two sliders: parts of the rows that can be a target or a region."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from pedanova.base.notes import Note
from pedanova.data.regions import Region, as_part, as_parts, as_region, percent
from pedanova.errors import LevelsError, QueryError
from pedanova.measures.asks import Tallied
from pedanova.measures.distributions import LEAST_TARGET
from pedanova.measures.surrogate.row_model import USUAL_PARTS

RUNGS = USUAL_PARTS
MOST_RUNGS = 24
WHOLE = Fraction(1)
Reach: TypeAlias = Callable[[object], tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Rung:
    """A part of the rows, the best first."""

    part: Fraction
    words: str
    rows: int
    threshold: float | None  # the objective at which it ends; None for all rows and several objectives


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs, strictest first, and what was left out."""

    rungs: tuple[Rung, ...]
    notes: tuple[Note, ...] = ()

    def place(self, part: Fraction) -> int:
        """The rung that holds the same rows as this part."""
        parts = [rung.part for rung in self.rungs]
        return parts.index(part) if part in parts else next(i for i, p in enumerate(parts) if p > part)


def part_of(rows: object) -> Fraction | None:
    """The quantile that a target or region is, None where it is something else."""
    if isinstance(rows, Region):
        plain = rows.kind == "quantile" and not rows.low
        return (WHOLE if rows.high is None else Fraction(rows.high)) if plain else None
    if isinstance(rows, bool) or not isinstance(rows, int | float | Fraction):
        return None
    return as_part(rows, "target")


def ladder_of(
    a: Tallied,
    asked: Iterable[Fraction],
    chosen: Iterable[object] | None,
    *,
    usual: Sequence[Fraction] = RUNGS,
    force: bool = False,
    of: str = "rows",
    seed: int = 0,
) -> Ladder:
    """The rungs that were chosen, or those of the usual ones that have enough rows; always the asked ones.

    `of` says what they are parts of, as in `Analysis.reach`.
    """
    reach = partial(a.reach, of=of, seed=seed)
    needed = {*asked, WHOLE}
    if chosen is None:
        rungs, notes = _usual(a, reach, usual, needed, least=1 if force else LEAST_TARGET)
    else:
        needed |= set(as_parts(chosen))
        rungs, notes = [], []
    rungs += [_rung(a, reach, part) for part in needed]
    if len(rungs) > MOST_RUNGS:
        raise QueryError(f"ladder: {len(rungs)} rungs are more than {MOST_RUNGS}; choose fewer")
    return _distinct(sorted(rungs, key=lambda rung: rung.part), needed, notes)


def _usual(
    a: Tallied, reach: Reach, usual: Sequence[Fraction], needed: set[Fraction], *, least: int
) -> tuple[list[Rung], list[Note]]:
    rungs: list[Rung] = []
    few: list[Rung] = []
    for part in (part for part in _at_hand(a, usual) if part not in needed):
        with suppress(LevelsError):  # not counted, and the rows are gone
            rung = _rung(a, reach, part)
            (rungs if rung.rows >= least else few).append(rung)
    names = ", ".join(percent(rung.part) for rung in few)
    words = f"left out of the sliders, with fewer than {least} rows: the best {names}"
    return rungs, [Note("question", words)] if few else []


def _at_hand(a: Tallied, usual: Sequence[Fraction]) -> Sequence[Fraction]:
    """The usual rungs; where too few of them were counted, the ones that were."""
    counted = a.levels.quantiles
    if a.observations is not None or len(set(usual) & set(counted)) > 3:
        return usual
    step = max(1, math.ceil(len(counted) / len(RUNGS)))
    return tuple(counted[::step])


def _rung(a: Tallied, reach: Reach, part: Fraction) -> Rung:
    threshold, rows = reach(part)
    known = math.isfinite(threshold) and part < 1 and not a.levels.several
    uneven = part < 1 and (threshold, rows) != a.reach(part)
    words = f"{as_region(part, 'target')}{' of the space' * uneven}"
    return Rung(part, words, rows, threshold if known else None)


def _distinct(rungs: list[Rung], needed: set[Fraction], notes: list[Note]) -> Ladder:
    """Without rungs that hold the same rows as another, unless both were asked for."""
    kept: list[Rung] = []
    same: list[Fraction] = []
    for rung in rungs:
        if kept and kept[-1].rows == rung.rows and not {rung.part, kept[-1].part} <= needed:
            drop = kept[-1] if rung.part in needed else rung
            same.append(drop.part)
            kept[-1] = rung if drop is kept[-1] else kept[-1]
        else:
            kept.append(rung)
    if same:
        names = ", ".join(percent(part) for part in sorted(same))
        words = f"left out of the sliders, holding the same rows as a neighbour: {names}"
        notes = [*notes, Note("question", words)]
    return Ladder(tuple(kept), tuple(notes))
