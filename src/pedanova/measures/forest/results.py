"""Tables of what a forest explains: single parameters and pairs."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.base.table import PairTable, Printed
from pedanova.errors import QueryError
from pedanova.measures.share import ShareTable


@dataclass(frozen=True, slots=True)
class ForestEffect:
    """One parameter's row.

    ratio
        Its part of the sum of `share` over all parameters: what Optuna prints.
    share
        Fraction of a tree's variance over the space that it explains alone, averaged over trees.
    std
        Standard deviation of that fraction over the trees.
    variance
        Variance that it explains alone, in squared units of the objective, averaged over trees.
    """

    name: str
    ratio: float
    share: float
    std: float
    variance: float


@dataclass(frozen=True, slots=True)
class ForestPair:
    """Two parameters' row: `share`, `std` and `variance` of what they explain only together."""

    first: str
    second: str
    share: float
    std: float
    variance: float


@dataclass(frozen=True, slots=True, repr=False)
class ForestPairs(PairTable[ForestPair]):
    """`ForestPair` rows by pair, largest share first: ``pairs["lr", "layers"]``, in either order.

    Attributes
    ----------
    rows
        The same, by place: `first`, `second`, `share`, `std`, `variance`.
    computed
        Whether pairs were asked for.

    Examples
    --------
    >>> import pedanova as pa
    >>> effects = pa.analyze(pa.demo_trials(), "error", params=["units", "alpha"]).first(100).forest(trees=8)
    >>> list(effects.pairs)
    [('alpha', 'units')]
    """

    rows: tuple[ForestPair, ...]
    computed: bool = True

    def __getitem__(self, names: tuple[str, str]) -> ForestPair:
        if not self.computed:
            raise QueryError("pairs were not computed; pass pairs=True")
        return PairTable.__getitem__(self, names)

    def printed(self) -> Printed:
        names = [("pair", [row.first for row in self.rows]), ("with", [row.second for row in self.rows])]
        shares = [percent(row.share) for row in self.rows]
        return [*names, ("share", shares), ("± trees", [percent(row.std) for row in self.rows])]


@dataclass(frozen=True, slots=True, repr=False)
class ForestEffects(ShareTable[ForestEffect]):
    """A table of `ForestEffect` rows, largest share first. ``effects["lr"].share``, ``effects.pairs``.

    Shares of parameters, of pairs and of larger groups add up to 1 in every tree.

    Attributes
    ----------
    rows
        The same, by place: `name`, `ratio`, `share`, `std`, `variance`.
    pairs
        What two explain only together.
    objective
        Its name.
    variance
        Of a tree over the space, averaged over trees.
    trees, n_rows
        How many there were.
    notes
        What to know beside the numbers.

    Examples
    --------
    >>> import pedanova as pa
    >>> effects = pa.analyze(pa.demo_trials(), "error").first(100).forest(trees=8, pairs=False)
    >>> effects.trees, round(sum(effects.ratios.values()), 6)
    (8, 1.0)
    """

    rows: tuple[ForestEffect, ...]
    pairs: ForestPairs
    objective: str
    variance: float  # of a tree over the space, averaged over trees
    trees: int
    n_rows: int
    notes: tuple[Note, ...] = ()

    def printed(self) -> Printed:
        spread = "± trees", self.percents("std")[1]
        return [("parameter", list(self)), self.percents("ratio"), self.percents("share"), spread]

    def heading(self) -> str:
        return f"What explains {self.objective} in a forest of {self.trees} trees on {self.n_rows:,} rows"
