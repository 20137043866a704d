"""Sets of three parameters and more: what they explain only all together (the paper's v_s for larger s).

interaction = closed - lower, where closed is the part of the variance of "in the target?" that the set explains,
and lower the part that the best sum of effects of its smaller sets does. On a product of independent parameters
that is the term of the set in the decomposition of the variance; the terms of all sets add up to closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.threads import one_thread, spread
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, Names, SetTally, tally_pairs, tally_sets
from pedanova.data.observations import Observations
from pedanova.errors import Arg, QueryError, UnknownParameterError
from pedanova.measures.additive import design_of
from pedanova.measures.importance import never_notes
from pedanova.measures.interactions import FINE, ROUGH, as_cells, choose, groups_of, shares_of
from pedanova.measures.lower_order import SetDesign, set_design, set_p_value, set_shares
from pedanova.measures.question import as_whole
from pedanova.measures.share import corrected as without_chance
from pedanova.measures.significance import LEVEL, holm

Told: TypeAlias = Callable[[Mapping[str, Groups], Sequence[Names]], SetTally]
MOST_ORDER = 5
MOST_SETS = 220  # all triples of 12 parameters
MOST_EFFECTS = 1_000  # of the smaller sets of one set: least squares over more takes seconds
ENOUGH_ROWS = 1_000  # target rows from which on the fine cells say more


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
    told: Told | None = None,
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
        return min(FINE if target_rows >= ENOUGH_ROWS else ROUGH, limit)
    asked = as_cells(cells, target_rows)
    if asked > limit:
        raise QueryError(Arg("cells", cells), f" are too many for sets of {order}; use at most {limit}")
    return asked


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
        found = spread(measure, range(len(tally.sets)), threads=threads)
    adjusted = holm([row[3] for row in found], np.array([row[4] for row in found]))
    rows = [
        SetInteraction(names, *row[:4], float(p)) for names, row, p in zip(tally.sets, found, adjusted, strict=True)
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
