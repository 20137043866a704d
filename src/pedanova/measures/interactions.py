"""Interactions: how much two or more parameters explain together beyond the sum of their separate effects.

`closed` is the fraction of the variance of "in the target?" that two parameters explain together. `additive` is the
fraction that the best sum of two single effects explains. `interaction` is `closed` - `additive`. If the parameters are
independent, `additive` is the sum of the two shares. If they depend on each other, `additive` is less than the sum of
shares, and the difference is their redundancy.

In cell (i, j) of the two-way table, t_ij of c_ij region rows are in the target. The additive fit approximates t_ij/c_ij
by a row effect plus a column effect (least squares with weights c_ij). If the row effects are eliminated, the matrix
for the column effects is L = diag(column sums) - Cᵀ diag(1/row sums) C. The pseudo-inverse of L is computed once for
each region; then a fit to another target takes only matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, hypot, isqrt, sqrt
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import chance, interval, percent
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.threads import one_thread, spread
from pedanova.counting.contrasts import Contrast
from pedanova.counting.pairs import Groups, Names, SetTally, coarse_groups, merged_pairs, refined, tally_sets
from pedanova.data.observations import Observations
from pedanova.errors import Arg, QueryError, UnknownParameterError, check_names, unknown_name
from pedanova.measures.clear import is_clear, low_of
from pedanova.measures.distributions import NORMAL, holm, in_batches, p_by_draws
from pedanova.measures.share import ratio_of, without_chance
from pedanova.space.grid import Reals
from pedanova.space.values import items_of

FINE, ROUGH = 8, 4  # cells of each parameter for p-values, with many and with few target rows
ENOUGH_ROWS = 100  # target rows from which fine cells are used
MOST_CELLS = 64
ROWS_A_CELL = 10  # region rows (or points of a model) in each cell of a pair's table, if the cells grow with the rows
MOST_ENTRIES = 1 << 19  # cells of all tables together
WIDEN = 1.5  # factor for the deviation of a model's samples, because these ignore that the settings are uncertain
LEAST_DEVIATION = 0.005
MOST_PAIRS = 20_000
MOST_DRAWS = 200_000
MOST_ORDER = 5
MOST_SETS = 220  # all triples of 12 parameters
MOST_EFFECTS = 1_000  # effects of the smaller sets of one set; least squares with more takes seconds
ENOUGH_ROWS_FOR_SETS = 1_000  # the same for sets of three and more


@dataclass(frozen=True, slots=True)
class Interaction:
    """The interaction of a pair or a larger set of parameters.

    Attributes
    ----------
    names
        The parameters, in the order of the space. For a pair, `first` and `second` are the two names.
    interaction
        `closed` minus `additive`: how much the parameters explain together beyond the sum of their separate effects.
        All three numbers are corrected for chance, unless ``corrected=False``.
    closed
        The fraction of the variance that the parameters explain together (see `Importance.share`).
    additive
        The fraction of the variance that is explained by the sum of the separate effects. For a set of three or more
        parameters, the sum includes the effects of its subsets.
    low, high
        For a pair: the 95 % interval of `interaction`; None for larger sets. It includes what finer cells would add.
    redundancy
        For a pair: the sum of both shares minus `additive`; 0 if the parameters are independent.
    first_share, second_share
        For a pair: the fraction of the variance that each parameter explains on its own, as in `importance`; with
        ``corrected=False``, in the same cells.
    p_value
        The probability that chance alone gives an interaction at least this large.
    p_adjusted
        The p-value adjusted for the number of pairs or sets (Holm).

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> pair = a.interactions(params=["solver", "shuffle"], estimator="counts").rows[0]
    >>> pair.first, pair.second, pair.significant
    ('solver', 'shuffle', False)
    """

    names: Names
    interaction: float
    closed: float
    additive: float
    redundancy: float | None
    first_share: float | None
    second_share: float | None
    p_value: float
    p_adjusted: float
    low: float | None = None
    high: float | None = None

    @property
    def first(self) -> str:
        """The first parameter."""
        return self.names[0]

    @property
    def second(self) -> str:
        """The second parameter."""
        return self.names[1]

    @property
    def significant(self) -> bool:
        """Whether the interaction is clear: `p_adjusted` is at most 0.05, and `interaction` is at least 0.005."""
        return is_clear(self.p_adjusted, self.interaction)


@dataclass(frozen=True, slots=True, repr=False)
class Interactions(Table, Mapping[Names, Interaction]):
    """A table of interactions, the largest first: ``pairs["lr", "depth"].interaction``. The names can be in any order.

    Attributes
    ----------
    rows
        One `Interaction` for each pair or larger set.
    target, region
        The target and the region, in words.
    cells
        The largest number of cells into which a parameter is divided.
    corrected
        Whether the numbers are corrected for chance.
    estimator
        ``"counts"`` or ``"surrogate"``; p-values always come from the rows.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> list(a.interactions(params=["solver", "shuffle"], estimator="counts"))
    [('solver', 'shuffle')]
    >>> a.interactions(order=3, params=["solver", "shuffle", "layers"], estimator="counts").order
    3
    """

    also = ("significant",)
    rows: tuple[Interaction, ...]
    target: str
    region: str
    cells: int
    corrected: bool
    notes: tuple[Note, ...] = ()
    estimator: str = "counts"

    @property
    def order(self) -> int:
        """The number of parameters in a set."""
        return len(self.rows[0].names)

    def __getitem__(self, names: Names) -> Interaction:
        several = isinstance(names, tuple) and len(names) == self.order
        for row in self.rows:
            if several and set(row.names) == set(names):
                return row
        parameters = tuple(dict.fromkeys(name for own in self for name in own))
        unknown = [name for name in names if name not in parameters] if several else []
        such = ", ".join(map(repr, self.rows[0].names))
        wrong = f"{names!r} must be {self.order} different parameters of this table, such as {such}"
        raise UnknownParameterError(unknown_name(unknown[0], parameters) if unknown else wrong)

    def __iter__(self) -> Iterator[Names]:
        return (row.names for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        columns = Table.to_dict(self)
        names: Any = zip(*columns.pop("names"), strict=True)
        if self.order == 2:
            return dict(zip(("first", "second"), map(list, names), strict=True)) | columns
        known = {key: column for key, column in columns.items() if column[0] is not None}
        return {f"parameter_{i + 1}": list(column) for i, column in enumerate(names)} | known

    def printed(self) -> Printed:
        names = self.column("pair" if self.order == 2 else "set", lambda row: " × ".join(row.names))
        own = self.column("interaction", marked_interaction, bar="interaction")
        together = self.percents("closed", "together", leave=1)
        p_values = self.column("p", lambda row: chance(row.p_adjusted), leave=3)
        if self.order > 2:
            return [names, own, together, self.percents("additive", "by smaller sets", leave=2), p_values]
        ends = self.column("95 % interval", lambda row: interval(row.low, row.high), leave=3)
        added, overlap = self.percents("additive", "added", leave=2), self.percents("redundancy", "overlap", leave=4)
        return [names, own, ends, together, added, overlap, p_values]

    def heading(self) -> str:
        sets = "pairs" if self.order == 2 else f"sets of {self.order}"
        return f"Interactions of {sets}: {self.target} compared with {self.region}"

    def faint(self) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(self.rows) if not row.significant)


def marked_interaction(row: Interaction) -> str:
    """The interaction as text: "~" marks one without a clear effect."""
    return f"{'' if row.significant else '~ '}{percent(row.interaction)}"


def as_cells(cells: object, target_rows: int, order: int = 2) -> int:
    """The number of cells per parameter; if `cells` is "auto", it depends on the number of target rows.

    For sets of three or more parameters, fewer cells are allowed, so that the least-squares fit stays small.
    """
    limit, enough = MOST_CELLS, ENOUGH_ROWS
    if order > 2:
        limit = max(c for c in range(2, 15) if order * c ** (order - 1) <= MOST_EFFECTS)
        enough = ENOUGH_ROWS_FOR_SETS
    if isinstance(cells, str) and cells == "auto":
        return min(FINE if target_rows >= enough else ROUGH, limit)
    if isinstance(cells, bool) or not isinstance(cells, Integral) or not 2 <= int(cells) <= MOST_CELLS:
        raise QueryError(Arg("cells", cells), f" must be 'auto' or a whole number from 2 to {MOST_CELLS}")
    if int(cells) > limit:
        raise QueryError(Arg("cells", cells), f" is too large for sets of {order} parameters; use at most {limit}")
    return int(cells)


def choose(contrasts: Sequence[Contrast], params: object) -> list[Contrast]:
    """The counts of the parameters named in `params`, in the order of the space; all parameters if `params` is None."""
    available = tuple(contrast.name for contrast in contrasts)
    wanted = available if params is None else items_of(params)
    if wanted is None:
        raise QueryError(Arg("params", params), " must be a list of two or more names; None means all pairs")
    check_names(wanted, available)
    chosen = [contrast for contrast in contrasts if contrast.name in wanted]
    if len(chosen) < 2:
        raise QueryError(Arg("params", shown=f"{list(wanted)}"), " holds fewer than two parameters; a pair needs two")
    pairs = len(chosen) * (len(chosen) - 1) // 2
    if pairs > MOST_PAIRS:
        raise QueryError(
            f"{len(chosen)} parameters form {pairs:,} pairs, more than {MOST_PAIRS:,}; choose some with ", Arg("params")
        )
    return chosen


def groups_of(contrasts: Iterable[Contrast], cells: int) -> dict[str, Groups]:
    return {c.name: coarse_groups(c.grid, c.region, cells) for c in contrasts}


def finer_groups(
    contrasts: Iterable[Contrast], groups: Mapping[str, Groups], cells: int
) -> tuple[dict[str, Groups], dict[str, NDArray[np.int64]]]:
    """Groups of at most about `cells` cells that divide those in `groups`, and the old group of every new one."""
    fine = {c.name: refined(groups[c.name], coarse_groups(c.grid, c.region, cells), c.region) for c in contrasts}
    return {name: own for name, (own, _) in fine.items()}, {name: old for name, (_, old) in fine.items()}


def fine_cells(coarse: int, rows: int, parameters: int) -> int:
    """The number of cells per parameter in which the interactions of pairs are measured; it grows with the rows."""
    return max(coarse, min(MOST_CELLS, isqrt(rows // ROWS_A_CELL), isqrt(MOST_ENTRIES // comb(parameters, 2))))


def measure_pairs(
    tally: SetTally,
    shown: SetTally,
    *,
    coarse: Mapping[str, NDArray[np.int64]] | None = None,
    alone: Mapping[str, float] | None = None,
    samples: Callable[[Names], Reals] | None = None,
    corrected: bool = True,
    seed: int = 0,
    threads: int = 1,
) -> tuple[Interaction, ...]:
    """One row for every pair, largest interaction first; p-values are computed from `tally`, shares from `shown`.

    coarse
        The coarse cell of every cell; p-values are computed in coarse cells, because many cells dilute a smooth effect.
    alone
        The share of each parameter, if it is known from elsewhere.
    samples
        The target counts (draws, cells, cells) of a pair in a model's samples, for the interval.
    """
    rough, rough_shown = (one if coarse is None else merged_pairs(one, coarse) for one in (tally, shown))
    design, own = design_of(rough.region), design_of(shown.region)
    parts = shares_of(own, shown.target, corrected=corrected, grain=shown.grain)
    if alone is not None:
        parts = around_single_shares(parts, np.array([[alone[name] for name in pair] for pair in tally.sets]).T)
    p = p_values(design, rough.target, seed=seed, threads=threads)
    both = [(rough.region.sum(axis=axis) > 0).sum(axis=-1) > 1 for axis in (-1, -2)]  # whether a parameter varies
    adjusted = holm(p, both[0] & both[1])
    before = shares_of(design_of(rough_shown.region), rough_shown.target, corrected=corrected, grain=shown.grain)[0]
    growth = own.region.shape[-1] / design.region.shape[-1]
    # The border of the target cuts cells; the part that is lost is inversely proportional to their number.
    left = np.maximum(parts[0] - before, 0.0) / (growth - 1.0) if growth > 1.0 else np.zeros(len(p))
    rows = []
    for i, names in enumerate(tally.sets):
        numbers = [float(column[i]) for column in (*parts, p, adjusted)]
        if samples is None:
            off = deviation_of(own.of(i), shown.target[i], numbers[0])
        else:
            each = explained(own.of(i), samples(names))
            off = WIDEN * float((each.closed - each.additive).std(ddof=1))
        rows.append(with_ends(Interaction(names, *numbers), off, float(left[i])))
    return tuple(sorted(rows, key=lambda row: -row.interaction))


def around_single_shares(parts: Sequence[Reals], alone: Reals) -> list[Reals]:
    """The numbers of `shares_of`, moved so that both single shares are those in `alone` (2, pairs)."""
    interaction, _, _, overlap, *_ = parts
    first, second = alone
    added = np.maximum(first + second - overlap, np.maximum(first, second))
    closed = np.minimum(added + np.maximum(interaction, 0.0), 1.0)
    return [interaction, closed, closed - np.maximum(interaction, 0.0), overlap, first, second]


def with_ends(row: Interaction, off: float, left: float) -> Interaction:
    """The row with its 95 % interval, from a standard deviation and from what finer cells would add (`left`)."""
    least = row.interaction - NORMAL * hypot(off, LEAST_DEVIATION)
    low = low_of(least, row.interaction, row.p_value) if row.significant else 0.0
    high = row.interaction + left + NORMAL * hypot(off, LEAST_DEVIATION, left / 2.0)
    return replace(row, low=low, high=min(max(high, 0.0), 1.0))


def deviation_of(design: Design, target: NDArray[Any], interaction: float) -> float:
    """The standard deviation of an interaction in samples of rows, to first order, and by chance alone."""
    total = float(design.region.sum())
    rows, part = design.region / total, float(target.sum()) / total
    cell, fit = target * design.by_cell, fitted_parts(design, target)
    variance = part * (1.0 - part)
    # The interaction is a difference of mean squared errors, divided by the variance; these are the errors of one row.
    hit, miss = ((one - fit) ** 2 - (one - cell) ** 2 - interaction * (one - part) ** 2 for one in (1.0, 0.0))
    mean = float(np.sum(rows * (cell * hit + (1.0 - cell) * miss)))
    square = float(np.sum(rows * (cell * hit**2 + (1.0 - cell) * miss**2)))
    freedom = float(design.freedoms[0] - design.freedoms[1])
    return sqrt(max(0.0, square - mean**2) / total / variance**2 + 2.0 * freedom / total**2)


def shares_of(design: Design, target: NDArray[Any], *, corrected: bool, grain: float = 1.0) -> list[Reals]:
    """For every pair: interaction, closed, additive, redundancy and the two single shares, each (pairs,)."""
    raw = explained(design, target)
    parts, interaction = [raw.closed, raw.additive, raw.first, raw.second], raw.interaction
    if corrected:
        chance = grain * design.freedoms / np.maximum(1.0, design.region.sum(axis=(-1, -2)) - 1.0)[:, None]
        parts = [without_chance(part, chance[:, i]) for i, part in enumerate(parts)]
        interaction = parts[0] - parts[1]
    closed, added, first, second = parts
    return [interaction, closed, added, first + second - added, first, second]


def p_values(design: Design, target: NDArray[np.int64], *, seed: int, threads: int) -> Reals:
    """(pairs,) p-values by random draws; drawing stops early for a pair whose p-value is clearly not small."""
    most = max(999, min(MOST_DRAWS, 40 * len(target)) - 1)  # so the smallest p-value can pass the adjustment

    def test(pair: int) -> float:
        random = np.random.Generator(np.random.PCG64([seed, pair]))
        return p_value(design.of(pair), target[pair], most=most, random=random)

    return np.array(spread(test, range(len(target)), threads=threads))


def strongest(
    observed: Observations, codes: NDArray[np.uint8], groups: Mapping[str, Groups], order: int, threads: int
) -> Mapping[str, Groups]:
    """The parameters whose pairs have the strongest interactions, few enough to form at most `MOST_SETS` sets."""
    most = max(m for m in range(order, 64) if comb(m, order) <= MOST_SETS)
    if order == 2 or len(groups) <= most:
        return groups
    tally = tally_sets(observed, codes, groups, threads=threads)
    interaction = shares_of(design_of(tally.region), tally.target, corrected=True)[0]
    ranked = [name for place in np.argsort(-interaction) for name in tally.sets[place]]
    chosen = set(list(dict.fromkeys(ranked))[:most])
    return {name: group for name, group in groups.items() if name in chosen}


def measure_sets(
    tally: SetTally, shown: SetTally, *, corrected: bool = True, seed: int = 0, threads: int = 1
) -> tuple[Interaction, ...]:
    """One row for every set, largest interaction first; p-values are computed from `tally`, shares from `shown`."""
    cells, sets = tally.cells(), tally.sets
    target, region, *others = (
        table.reshape(len(sets), -1) for table in (tally.target, tally.region, shown.target, shown.region)
    )
    most = max(999, 40 * len(sets) - 1)  # so the smallest p-value can pass the adjustment

    def measure(place: int) -> tuple[Interaction, bool]:
        design = set_design(cells, region[place])
        own = design if shown is tally else set_design(cells, others[1][place])
        closed, lower = (float(part) for part in set_shares(own, others[0][place][own.full]))
        interaction = max(0.0, closed - lower)
        if corrected:
            rows = max(1.0, float(own.region.sum()) - 1.0)
            parts = zip((closed, lower), own.freedoms, strict=True)
            closed, lower = (float(without_chance(part, shown.grain * free / rows)) for part, free in parts)
            interaction = closed - lower
        random = np.random.Generator(np.random.PCG64([seed, place]))
        varies = all(len(np.unique(axis[design.full])) > 1 for axis in cells)
        p = set_p_value(design, target[place][design.full], most=most, random=random) if varies else 1.0
        row = Interaction(sets[place], interaction, closed, lower, None, None, None, p_value=p, p_adjusted=p)
        return row, varies

    with one_thread():  # for linear algebra, because the sets are spread over the other threads
        measured = spread(measure, range(len(sets)), threads=threads)
    adjusted = holm([row.p_value for row, _ in measured], np.array([varies for _, varies in measured]))
    rows = [replace(row, p_adjusted=float(p)) for (row, _), p in zip(measured, adjusted, strict=True)]
    return tuple(sorted(rows, key=lambda row: -row.interaction))


def notes_on(rows: Sequence[Interaction], cells: int, order: int, left: int) -> list[Note]:
    """Notes on the interactions; a set has `order` parameters, and `left` parameters were left out."""
    many = f"{len(rows):,} " if len(rows) > 1 else "1 "
    plural = "s" * (len(rows) > 1)
    shape = f"set{plural} of {order} parameters, with at most {cells} cells for each parameter"
    if order == 2:
        shape = f"pair{plural}, each in at most {cells} × {cells} cells, plus cells for missing values"
    notes = [Note("answer", f"rows were counted for {many}{shape}")]
    if left:
        words = f"{left:,} parameters are left out, because their interactions are the weakest; choose others with "
        notes.append(Note("answer", words, Arg("params")))
    if not any(row.significant for row in rows):
        notes.append(Note("answer", f"no {'pair' if order == 2 else 'set'} has a clear interaction"))
    if order == 2 and any((row.redundancy or 0.0) > 0.05 for row in rows):
        words = "some parameters depend on each other in this region and partly explain the same variance"
        notes.append(Note("answer", words))
    return notes


EMPTY = 1e-12  # eigenvalues below this part of the largest are rounding errors
NEARLY_NORMAL = 10.0  # binomial counts with at least this variance are drawn as normal numbers


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The number of region rows in each cell of a two-way table, and the matrices that every least-squares fit uses."""

    region: Reals  # (…, cells, cells)
    by_cell: Reals  # 1 / region, 0 where it is empty
    by_row: Reals  # (…, cells) 1 / row sums
    by_column: Reals
    inverse: Reals  # (…, cells, cells) L⁺
    freedoms: NDArray[np.int64]  # (…, 4) degrees of freedom: whole table, additive fit, rows, columns

    def of(self, pairs: int | slice) -> Design:
        return Design(*(getattr(self, name)[pairs] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """Fractions of the variance of "is the row in the target?"; each field says what explains this fraction."""

    closed: Reals  # by the whole table
    additive: Reals  # by the sum of both effects
    first: Reals  # by the first parameter alone
    second: Reals

    @property
    def interaction(self) -> Reals:
        return np.maximum(0.0, self.closed - self.additive)


def design_of(region: NDArray[np.int64]) -> Design:
    """Make the design from region counts (pairs, cells, cells); empty rows and columns are allowed."""
    counts = region.astype(np.float64)
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    by_row = ratio_of(1.0, rows)
    scaled = counts * by_row[..., None]
    laplacian = columns[..., None] * np.eye(counts.shape[-1]) - np.swapaxes(counts, -1, -2) @ scaled
    values, vectors = np.linalg.eigh(laplacian)
    real = values > EMPTY * np.maximum(1.0, columns.max(axis=-1, initial=0.0))[..., None]
    inverted = np.where(real, ratio_of(1.0, np.where(real, values, 0.0)), 0.0)
    inverse = (vectors * inverted[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    used, others = (rows > 0).sum(axis=-1), (columns > 0).sum(axis=-1)
    freedoms = np.stack([(counts > 0).sum(axis=(-1, -2)), used + real.sum(axis=-1), used, others], axis=-1)
    return Design(counts, ratio_of(1.0, counts), by_row, ratio_of(1.0, columns), inverse, freedoms - 1)


def explained(design: Design, target: NDArray[Any]) -> Explained:
    """Compute `Explained` from the number of target rows in each cell: `target` is (…, cells, cells)."""
    total = design.region.sum(axis=(-1, -2))
    part = target.sum(axis=(-1, -2)) / total
    beyond = target - part[..., None, None] * design.region
    rows, columns, rest = margins(design, beyond)
    first = np.sum(rows**2 * design.by_row, axis=-1)
    fitted = np.squeeze(rest[..., None, :] @ design.inverse, axis=-2)
    spread = ratio_of(1.0, total * part * (1.0 - part))
    return Explained(
        closed=np.sum(beyond**2 * design.by_cell, axis=(-1, -2)) * spread,
        additive=(first + np.sum(fitted * rest, axis=-1)) * spread,
        first=first * spread,
        second=np.sum(columns**2 * design.by_column, axis=-1) * spread,
    )


def margins(design: Design, beyond: Reals) -> tuple[Reals, Reals, Reals]:
    """Sums of `beyond` (counts minus expected counts): by row, by column, and by column without the row effects."""
    rows, columns = beyond.sum(axis=-1), beyond.sum(axis=-2)
    expected = np.squeeze((rows * design.by_row)[..., None, :] @ design.region, axis=-2)
    return rows, columns, columns - expected


def fitted_parts(design: Design, target: NDArray[np.int64]) -> Reals:
    """(…, cells, cells) The probability that a row in the cell is in the target, predicted by the additive fit."""
    part = target.sum(axis=(-1, -2)) / design.region.sum(axis=(-1, -2))
    rows, _, rest = margins(design, target - part[..., None, None] * design.region)
    by_column = np.squeeze(rest[..., None, :] @ design.inverse, axis=-2)
    moved = np.squeeze(design.region @ by_column[..., None], axis=-1)
    by_row = (rows - moved) * design.by_row
    fit: Reals = part[..., None, None] + by_row[..., :, None] + by_column[..., None, :]
    return np.clip(fit, 0.0, 1.0)


def p_value(design: Design, target: NDArray[np.int64], *, most: int, random: np.random.Generator) -> float:
    """The p-value of one pair: how often chance gives such a large interaction if effects are additive.

    In every cell, target rows are drawn with the probability of the additive fit (a parametric bootstrap). Drawing
    stops early for a pair whose p-value is clearly not small.
    """
    chances = fitted_parts(design, target)

    def again(draws: int) -> Reals:
        return rest_explained(design, draw_targets(design.region, chances, draws, random))

    return p_by_draws(float(rest_explained(design, target[None])[0]), in_batches(again, most), most=most)


def rest_explained(design: Design, targets: NDArray[Any]) -> Reals:
    """(draws,) The interaction of one pair, divided by the variance that the additive fit leaves unexplained.

    `targets` is (draws, cells, cells): the number of target rows in each cell.
    """
    cells = len(design.region)
    flat, region = targets.reshape(len(targets), -1), design.region.ravel()
    by_row = np.repeat(np.eye(cells), cells, axis=0)  # (cells², cells) the sums over each row
    by_column = np.tile(np.eye(cells), (cells, 1)) - np.repeat(design.by_row[:, None] * design.region, cells, axis=0)
    sums = flat @ np.concatenate([by_row, by_column], axis=1)
    total = float(region.sum())
    part = sums[:, :cells].sum(axis=1) / total
    rows, rest = sums[:, :cells] - part[:, None] * design.region.sum(axis=1), sums[:, cells:]
    closed = flat**2 @ design.by_cell.ravel() - total * part**2
    added = rows**2 @ design.by_row + np.einsum("ij,ij->i", rest @ design.inverse, rest)
    left = np.maximum(0.0, total * part * (1.0 - part) - added)
    return np.asarray(np.maximum(0.0, closed - added) * ratio_of(1.0, left))


def draw_targets(region: Reals, chances: Reals, draws: int, random: np.random.Generator) -> Reals:
    """(draws, …) Random target counts by cell: binomial, or normal (faster) where the variance is large enough."""
    rows, chance = region.ravel(), chances.ravel()
    spread = rows * chance * (1.0 - chance)
    counts = np.zeros((draws, region.size))
    many, few = np.flatnonzero(spread >= NEARLY_NORMAL), np.flatnonzero((rows > 0) & (spread < NEARLY_NORMAL))
    counts[:, many] = random.standard_normal((draws, len(many))) * np.sqrt(spread[many]) + (rows * chance)[many]
    tries = rows[few].astype(np.int64)[:, None]  # drawing cell by cell is faster
    counts[:, few] = random.binomial(tries, chance[few, None], size=(len(few), draws)).T
    return counts.reshape(draws, *region.shape)


@dataclass(frozen=True, slots=True, eq=False)
class SetDesign:
    """For a set of parameters: the number of region rows in each non-empty cell, and a basis for least-squares fits."""

    full: NDArray[np.int64]  # positions of the cells that have rows
    region: Reals  # (full,)
    basis: Reals  # (full, rank) orthonormal basis of the effects of smaller sets, weighted by √c

    @property
    def freedoms(self) -> tuple[int, int]:
        """The degrees of freedom of the whole table, and those of the model with smaller sets."""
        return len(self.full) - 1, self.basis.shape[1] - 1


def set_design(cells: NDArray[np.int64], region: NDArray[Any]) -> SetDesign:
    """Make the design; column k of `cells` (order, cells) has the coordinates of cell k, one for each parameter."""
    full = np.flatnonzero(region > 0)
    rows = region[full].astype(np.float64)
    width = int(cells.max(initial=0)) + 1
    columns = []
    for smaller in combinations(range(len(cells)), len(cells) - 1):
        place = np.zeros(len(full), dtype=np.int64)
        for axis in smaller:
            place = place * width + cells[axis, full]
        columns.append(np.equal.outer(place, np.unique(place)).astype(np.float64))
    effects = np.sqrt(rows)[:, None] * np.concatenate(columns, axis=1)
    values, vectors = np.linalg.eigh(effects.T @ effects)
    real = values > EMPTY * len(values) * max(1.0, float(values[-1]))
    return SetDesign(full, rows, effects @ (vectors[:, real] / np.sqrt(values[real])))


def set_shares(design: SetDesign, target: NDArray[Any]) -> tuple[Reals, Reals]:
    """The fractions of the variance that the whole set and its subsets explain; `target` has the counts (…, full)."""
    total = float(design.region.sum())
    part = target.sum(axis=-1) / total
    off = (target - part[..., None] * design.region) / np.sqrt(design.region)
    spread = total * part * (1.0 - part)
    spread = np.where(spread > 0, spread, np.inf)
    lower = np.sum((off @ design.basis) ** 2, axis=-1)
    return np.sum(off**2, axis=-1) / spread, lower / spread


def of_the_rest(closed: Reals, lower: Reals) -> Reals:
    """(closed - lower) / (1 - lower): how much the whole set explains of what its subsets leave unexplained."""
    return np.maximum(0.0, without_chance(closed, lower))


def set_p_value(design: SetDesign, target: NDArray[Any], *, most: int, random: np.random.Generator) -> float:
    """The p-value of one set: how often chance gives such a large interaction if only subsets have an effect."""
    part = target.sum() / design.region.sum()
    root = np.sqrt(design.region)
    off = (target - part * design.region) / root
    chances = np.clip(part + (design.basis @ (design.basis.T @ off)) / root, 0.0, 1.0)

    def again(draws: int) -> Reals:
        return of_the_rest(*set_shares(design, draw_targets(design.region, chances, draws, random)))

    return p_by_draws(float(of_the_rest(*set_shares(design, target))), in_batches(again, most), most=most)
