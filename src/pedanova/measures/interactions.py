"""Interactions: what two parameters explain together about being in the target, beyond the sum of both.

closed = part of the variance of "in the target?" that the two explain together; additive = the
part that the best sum of an effect of each explains; interaction = closed - additive. On a product
of independent parameters additive is the sum of the two shares; where the rows make the two depend
on each other it is less, and the difference is their redundancy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import chance
from pedanova.base.notes import Note
from pedanova.base.table import Cell, PairTable, Printed, Table, html_table
from pedanova.base.terminal import printable, text_table
from pedanova.base.threads import one_thread, spread
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, Names, PairTally, SetTally, coarse_groups, tally_pairs, tally_sets
from pedanova.data.observations import Observations
from pedanova.errors import Arg, QueryError, UnknownParameterError, unknown_name
from pedanova.measures.additive import (
    FIRST_LOOK,
    SEEN_OFTEN,
    Design,
    SetDesign,
    design_of,
    explained,
    first_look,
    p_value,
    set_design,
    set_p_value,
    set_shares,
)
from pedanova.measures.distributions import LEVEL, holm
from pedanova.measures.importance import never_notes
from pedanova.measures.question import as_whole
from pedanova.measures.share import corrected as without_chance

Reals = NDArray[np.float64]
FINE, ROUGH = 8, 4  # cells of each parameter, by how many target rows there are
ENOUGH_ROWS = 100  # target rows from which on the fine cells say more
MOST_CELLS = 64
MOST_PAIRS = 20_000
PAIRS_SHOWN = 20  # the strongest; tables hold all
MOST_DRAWS = 200_000
SetCounter: TypeAlias = Callable[[Mapping[str, Groups], Sequence[Names]], SetTally]
MOST_ORDER = 5
MOST_SETS = 220  # all triples of 12 parameters
MOST_EFFECTS = 1_000  # of the smaller sets of one set: least squares over more takes seconds
ENOUGH_ROWS_FOR_SETS = 1_000  # target rows from which on the fine cells say more


@dataclass(frozen=True, slots=True)
class Interaction:
    """One pair's row.

    Attributes
    ----------
    first, second
        The parameters.
    interaction
        Part of the variance of "is this row in the target?" that the two explain together beyond
        the sum of an effect of each, corrected for what chance would explain unless asked otherwise.
    closed
        What the two explain together.
    additive
        What the best sum of an effect of each explains.
    redundancy
        How much the two shares overlap: their sum less `additive`. 0 for independent parameters.
    first_share, second_share
        What each explains alone, by the same coarse cells.
    p_value
        How often an additive pair would show as large an interaction by chance.
    p_adjusted
        The same, adjusted for the number of pairs asked about (Holm).

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> pair = a.interactions(params=["solver", "shuffle"], estimator="counts").rows[0]
    >>> pair.first, pair.second, pair.significant
    ('solver', 'shuffle', False)
    """

    first: str
    second: str
    interaction: float
    closed: float
    additive: float
    redundancy: float
    first_share: float
    second_share: float
    p_value: float
    p_adjusted: float

    @property
    def significant(self) -> bool:
        """Whether chance is ruled out, at the level 0.05 over all pairs together."""
        return self.p_adjusted <= LEVEL


@dataclass(frozen=True, slots=True, repr=False)
class Interactions(PairTable[Interaction]):
    """`Interaction` rows by pair, the largest first: ``pairs["lr", "depth"].interaction``, in either order.

    Attributes
    ----------
    rows
        The same, by place.
    target, region
        What was asked, in words.
    cells
        Of each parameter, at most.
    corrected
        Whether what chance would explain was taken off.
    notes
        What to know beside the numbers.
    estimator
        ``"counts"`` or ``"surrogate"``; p-values are those of the rows.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> list(a.interactions(params=["solver", "shuffle"], estimator="counts"))
    [('solver', 'shuffle')]
    """

    also = ("significant",)
    rows: tuple[Interaction, ...]
    target: str  # in words
    region: str
    cells: int  # of each parameter, at most
    corrected: bool
    notes: tuple[Note, ...] = ()
    estimator: str = "counts"  # or "surrogate"; p-values are those of the rows

    def printed(self) -> Printed:
        return [
            self.column("pair", lambda row: f"{row.first} × {row.second}"),
            self.percents("interaction", bar=True),
            self.percents("closed", "together"),
            self.percents("additive", "added"),
            self.percents("redundancy", "overlap"),
            self.column("p", lambda row: f"{'' if row.significant else '~ '}{chance(row.p_adjusted)}"),
        ]

    def heading(self) -> str:
        return f"What separates {self.target} from {self.region}, by pairs"

    def faint(self) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(self.rows) if not row.significant)

    def _repr_html_(self) -> str:
        more = len(self.rows) - PAIRS_SHOWN
        weaker = [f"{more:,} weaker pairs are not shown; to_pandas() has all"] if more > 0 else []
        shown = [
            replace(column, cells=column.cells[:PAIRS_SHOWN], parts=column.parts[:PAIRS_SHOWN])
            for column in self.printed()
        ]
        return html_table(self.heading(), shown, faint=self.faint(), notes=[*weaker, *self.notes])

    def __str__(self) -> str:
        """The 20 strongest pairs; `to_text` holds all."""
        table = text_table(self.header(), self.lines()[:PAIRS_SHOWN])
        more = [f"… and {len(self) - PAIRS_SHOWN} more pairs"] if len(self) > PAIRS_SHOWN else []
        return "\n".join([f"{printable(self.heading())}:", table, *more])


def find_pairs(
    observed: Observations,
    codes: NDArray[np.uint8],
    contrasts: Sequence[Contrast],
    *,
    cells: object,
    corrected: object,
    params: object,
    seed: object,
    threads: int,
    told: Callable[[Mapping[str, Groups]], PairTally] | None = None,
) -> Interactions:
    """Count and measure; codes are 0 in the target, 1 elsewhere in the region, 2 elsewhere.

    Where a model answers, it has `told` how its points lie in the same coarse cells.
    """
    start = as_whole(seed, "seed")
    chosen = choose(contrasts, params)
    most = as_cells(cells, int(chosen[0].target.sum()))
    groups = groups_of(chosen, most)
    tally = tally_pairs(observed, codes, groups, threads=threads)
    shown = tally if told is None else told(groups)
    rows = measure_pairs(tally, shown, corrected=bool(corrected), seed=start, threads=threads)
    never = never_notes([c.name for c in chosen if not c.varies], "nothing can be said about pairs with them")
    by = "counts" if told is None else "surrogate"
    return Interactions(rows, "", "", most, bool(corrected), (*pair_notes(rows, most), *never), by)


def as_cells(cells: object, target_rows: int) -> int:
    """Cells of each parameter: as asked, or by the target rows there are to fill them."""
    if isinstance(cells, str) and cells == "auto":
        return FINE if target_rows >= ENOUGH_ROWS else ROUGH
    if isinstance(cells, bool) or not isinstance(cells, Integral) or not 2 <= int(cells) <= MOST_CELLS:
        raise QueryError(Arg("cells", cells), f" must be 'auto' or a whole number from 2 to {MOST_CELLS}")
    return int(cells)


def choose(contrasts: Sequence[Contrast], params: object) -> list[Contrast]:
    """The parameters to pair, in the order of the space."""
    available = tuple(contrast.name for contrast in contrasts)
    if params is not None and (isinstance(params, str) or not isinstance(params, Iterable)):
        raise QueryError(Arg("params", params), " must be a list of two names or more; None pairs all")
    wanted = available if params is None else tuple(params)
    for name in wanted:
        if name not in available:
            raise UnknownParameterError(unknown_name(name, available))
    chosen = [contrast for contrast in contrasts if contrast.name in wanted]
    if len(chosen) < 2:
        raise QueryError(Arg("params", shown=f"{list(wanted)}"), f" names {len(chosen)} parameters; a pair needs two")
    pairs = len(chosen) * (len(chosen) - 1) // 2
    if pairs > MOST_PAIRS:
        raise QueryError(
            f"{len(chosen)} parameters make {pairs:,} pairs, more than {MOST_PAIRS:,}; name some in ", Arg("params")
        )
    return chosen


def groups_of(contrasts: Iterable[Contrast], cells: int) -> dict[str, Groups]:
    return {c.name: coarse_groups(c.grid, c.region, cells) for c in contrasts}


def measure_pairs(
    tally: PairTally, shown: PairTally | None = None, *, corrected: bool = True, seed: int = 0, threads: int = 1
) -> tuple[Interaction, ...]:
    """A row for every pair, the largest interaction first; `shown` has the shares where it is another tally."""
    design = design_of(tally.region)
    if shown is None or shown is tally:
        parts = shares_of(design, tally.target, corrected=corrected)
    else:
        parts = shares_of(design_of(shown.region), shown.target, corrected=corrected)
    p = p_values(design, tally.target, seed=seed, threads=threads)
    columns = [*parts, p, holm(p, tested(tally.region))]
    rows = [Interaction(*pair, *(float(column[i]) for column in columns)) for i, pair in enumerate(tally.pairs)]
    return tuple(sorted(rows, key=lambda row: -row.interaction))


def shares_of(design: Design, target: NDArray[np.int64], *, corrected: bool) -> list[Reals]:
    """Interaction, closed, additive, redundancy and the two shares of every pair."""
    raw = explained(design, target)
    parts, interaction = [raw.closed, raw.additive, raw.first, raw.second], raw.interaction
    if corrected:
        chance = design.freedoms / np.maximum(1.0, design.region.sum(axis=(-1, -2)) - 1.0)[:, None]
        parts = [without_chance(part, chance[:, i]) for i, part in enumerate(parts)]
        interaction = parts[0] - parts[1]
    closed, additive, first, second = parts
    return [interaction, closed, additive, first + second - additive, first, second]


def p_values(design: Design, target: NDArray[np.int64], *, seed: int, threads: int) -> Reals:
    """(pairs,) What chance reaches often is told by a first look at all; others have draws of their own.

    So no pair changes what is drawn for another.
    """
    most = max(999, min(MOST_DRAWS, 40 * len(target)) - 1)  # enough that the best can pass the adjustment
    often = first_look(design, target, np.random.Generator(np.random.PCG64([seed, FIRST_LOOK])))

    def test(pair: int) -> float:
        if often[pair] >= SEEN_OFTEN:
            return float(1 + often[pair]) / (1 + FIRST_LOOK)
        random = np.random.Generator(np.random.PCG64([seed, pair]))
        return p_value(design.of(pair), target[pair], most=most, random=random)

    return np.array(spread(test, range(len(target)), threads=threads))


def tested(region: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(pairs,) Whether both parameters vary: else there is nothing to test."""
    both = [(region.sum(axis=axis) > 0).sum(axis=-1) > 1 for axis in (-1, -2)]
    return np.asarray(both[0] & both[1])


def pair_notes(rows: Sequence[Interaction], cells: int) -> list[Note]:
    many = f"{len(rows):,} pairs" if len(rows) > 1 else "1 pair"
    notes = [Note("answer", f"{many}, at most {cells} × {cells} cells each, not counting rows without a value")]
    if not any(row.significant for row in rows):
        notes.append(Note("answer", "no pair explains clearly more than its two parameters added up"))
    if any(row.redundancy > 0.05 for row in rows):
        words = "some parameters depend on each other in this region: what they explain overlaps"
        notes.append(Note("answer", words))
    return notes


@dataclass(frozen=True, slots=True)
class SetInteraction:
    """One set's row.

    Attributes
    ----------
    names
        Its parameters, in the order of the space.
    interaction
        Part of the variance of "is this row in the target?" that the set explains beyond all that its
        smaller sets explain, corrected for what chance would explain unless asked otherwise.
    closed
        What the set explains, with all that its smaller sets do.
    lower
        What the best sum of effects of its smaller sets explains.
    p_value
        How often chance would show as large an interaction, were there none.
    p_adjusted
        The same, adjusted for the number of sets asked about (Holm).

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> found = a.interactions(order=3, params=["solver", "shuffle", "layers"], estimator="counts")
    >>> found.rows[0].names
    ('layers', 'solver', 'shuffle')
    """

    names: Names
    interaction: float
    closed: float
    lower: float
    p_value: float
    p_adjusted: float

    @property
    def significant(self) -> bool:
        """Whether chance is ruled out, at the level 0.05 over all sets together."""
        return self.p_adjusted <= LEVEL


@dataclass(frozen=True, slots=True, repr=False)
class SetInteractions(Table, Mapping[Names, SetInteraction]):
    """`SetInteraction` rows by names in any order, the largest first: ``sets["lr", "depth", "width"].interaction``.

    Attributes
    ----------
    rows
        The same, by place.
    order
        How many parameters a set has.
    target, region
        What was asked, in words.
    cells
        Of each parameter, at most.
    corrected
        Whether what chance would explain was taken off.
    notes
        What to know beside the numbers.
    estimator
        ``"counts"`` or ``"surrogate"``; p-values are those of the rows.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> a.interactions(order=3, params=["solver", "shuffle", "layers"], estimator="counts").order
    3
    """

    also = ("significant",)
    rows: tuple[SetInteraction, ...]
    order: int
    target: str  # in words
    region: str
    cells: int  # of each parameter, at most
    corrected: bool
    notes: tuple[Note, ...] = ()
    estimator: str = "counts"  # or "surrogate"; p-values are those of the rows

    def __getitem__(self, names: Names) -> SetInteraction:
        wanted = sorted(names) if isinstance(names, tuple) else names
        for row in self.rows:
            if sorted(row.names) == wanted:
                return row
        such = ", ".join(map(repr, self.rows[0].names))
        raise UnknownParameterError(f"{names!r} must be {self.order} different names of this table, such as {such}")

    def __iter__(self) -> Iterator[Names]:
        return (row.names for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        columns: dict[str, list[Cell]] = {
            f"parameter_{i + 1}": [row.names[i] for row in self.rows] for i in range(self.order)
        }
        return columns | {key: cells for key, cells in Table.to_dict(self).items() if key != "names"}

    def printed(self) -> Printed:
        return [
            self.column("set", lambda row: " × ".join(row.names)),
            self.percents("interaction", bar=True),
            self.percents("closed", "together"),
            self.percents("lower", "by smaller sets"),
            self.column("p", lambda row: f"{row.p_adjusted:.2g}" + "*" * row.significant),
        ]

    def heading(self) -> str:
        return f"What separates {self.target} from {self.region}, by sets of {self.order}"

    def faint(self) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(self.rows) if not row.significant)


def find_sets(
    observed: Observations,
    codes: NDArray[np.uint8],
    contrasts: Sequence[Contrast],
    *,
    order: int,
    cells: object,
    corrected: object,
    params: object,
    seed: object,
    threads: int,
    told: SetCounter | None = None,
) -> SetInteractions:
    """Count and measure; codes are 0 in the target, 1 elsewhere in the region, 2 elsewhere."""
    start = as_whole(seed, "seed")
    chosen = choose(contrasts, params)
    check_order(order, len(chosen))
    most = as_set_cells(cells, int(chosen[0].target.sum()), order)
    groups = groups_of(chosen, most)
    names, left = strongest(observed, codes, groups, order, threads)
    groups = {name: groups[name] for name in names}
    sets = list(combinations(groups, order))
    tally = tally_sets(observed, codes, groups, sets, threads=threads)
    shown = tally if told is None else told(groups, sets)
    rows = measure_sets(tally, shown, corrected=bool(corrected), seed=start, threads=threads)
    never = never_notes([c.name for c in chosen if not c.varies], "nothing can be said about sets with them")
    notes = (*set_notes(rows, most, order, left), *never)
    by = "counts" if told is None else "surrogate"
    return SetInteractions(rows, order, "", "", most, bool(corrected), notes, by)


def check_order(order: int, parameters: int) -> None:
    if order > parameters:
        raise QueryError(Arg("order", order), f" is more than the {parameters} parameters there are; use a smaller one")


def as_order(order: object) -> int:
    return as_whole(order, "order", 2, MOST_ORDER + 1)


def as_set_cells(cells: object, target_rows: int, order: int) -> int:
    """Cells of each parameter, as asked or by the target rows; never more than least squares can take."""
    limit = max(c for c in range(2, 15) if order * c ** (order - 1) <= MOST_EFFECTS)
    if isinstance(cells, str) and cells == "auto":
        return min(FINE if target_rows >= ENOUGH_ROWS_FOR_SETS else ROUGH, limit)
    number = as_cells(cells, target_rows)
    if number > limit:
        raise QueryError(Arg("cells", cells), f" are too many for sets of {order}; use at most {limit}")
    return number


def strongest(
    observed: Observations, codes: NDArray[np.uint8], groups: Mapping[str, Groups], order: int, threads: int
) -> tuple[list[str], int]:
    """The parameters of the pairs that matter most, as many as keep the cost bounded; and how many are left out."""
    most = max(m for m in range(order, 64) if comb(m, order) <= MOST_SETS)
    if len(groups) <= most:
        return list(groups), 0
    tally = tally_pairs(observed, codes, groups, threads=threads)
    interaction = shares_of(design_of(tally.region), tally.target, corrected=True)[0]
    ranked = [name for place in np.argsort(-interaction) for name in tally.pairs[place]]
    chosen = set(list(dict.fromkeys(ranked))[:most])
    return [name for name in groups if name in chosen], len(groups) - most


def measure_sets(
    tally: SetTally, shown: SetTally, *, corrected: bool = True, seed: int = 0, threads: int = 1
) -> tuple[SetInteraction, ...]:
    """A row for every set, the largest interaction first; `shown` has the shares where it is another tally."""
    cells = tally.cells()
    most = max(999, 40 * len(tally.sets) - 1)  # enough that the best can pass the adjustment

    def measure(place: int) -> tuple[float, float, float, float, bool]:
        design = set_design(cells, tally.region[place])
        own = design if shown is tally else set_design(cells, shown.region[place])
        parts = parts_of(own, shown.target[place][own.full], corrected=corrected)
        random = np.random.Generator(np.random.PCG64([seed, place]))
        varies = all(len(np.unique(axis[design.full])) > 1 for axis in cells)
        p = set_p_value(design, tally.target[place][design.full], most=most, random=random) if varies else 1.0
        return *parts, p, varies

    with one_thread():  # of linear algebra: the sets are spread over the others
        measured = spread(measure, range(len(tally.sets)), threads=threads)
    adjusted = holm([row[3] for row in measured], np.array([row[4] for row in measured]))
    rows = [
        SetInteraction(names, *row[:4], float(p)) for names, row, p in zip(tally.sets, measured, adjusted, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.interaction))


def parts_of(design: SetDesign, target: NDArray[np.float64], *, corrected: bool) -> tuple[float, float, float]:
    """Interaction, closed, lower."""
    both = [float(part) for part in set_shares(design, target)]
    if corrected:
        rows = max(1.0, float(design.region.sum()) - 1.0)
        both = [float(without_chance(p, free / rows)) for p, free in zip(both, design.freedoms, strict=True)]
        return both[0] - both[1], both[0], both[1]
    return max(0.0, both[0] - both[1]), both[0], both[1]


def set_notes(rows: Sequence[SetInteraction], cells: int, order: int, left: int) -> list[Note]:
    many = f"{len(rows):,} sets" if len(rows) > 1 else "1 set"
    notes = [Note("answer", f"{many} of {order}, at most {cells} cells of each parameter")]
    if left:
        words = f"{left:,} parameters whose pairs explain least are left out; name others in "
        notes.append(Note("answer", words, Arg("params")))
    if not any(row.significant for row in rows):
        notes.append(Note("answer", "no set explains clearly more than its smaller sets do"))
    return notes
