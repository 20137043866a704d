"""f-ANOVA of a random forest: the variance that parameters and pairs explain, by exact marginals of its trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from pedanova.base.notes import Note
from pedanova.base.table import PairTable, Printed
from pedanova.base.threads import as_threads, spread
from pedanova.data.observations import Observations
from pedanova.data.regions import as_region
from pedanova.errors import MissingLibraryError, QueryError
from pedanova.measures.forest.trees import Encoded, TreeArrays, encode, leaf_boxes, main_variances, pair_variances
from pedanova.measures.question import as_whole
from pedanova.measures.share import ShareTable
from pedanova.space.grid import Reals


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
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["units", "alpha"]).first(100)
    >>> effects = pa.forest_effects(a.data.observed(), trees=8)
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
        names = [self.column("pair", lambda row: row.first), self.column("with", lambda row: row.second)]
        return [*names, self.percents("share"), self.percents("std", "± trees")]


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
    >>> a = pa.analyze(pa.demo_trials(), "error").first(100)
    >>> effects = pa.forest_effects(a.data.observed(), trees=8, pairs=False)
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
        names, ratios = self.column("parameter", lambda row: row.name), self.percents("ratio", bar=True)
        return [names, ratios, self.percents("share"), self.percents("std", "± trees")]

    def heading(self) -> str:
        return f"What explains {self.objective} in a forest of {self.trees} trees on {self.n_rows:,} rows"


Numbers: TypeAlias = tuple[float, float, float]  # share, its deviation over trees, variance
DEEPEST = 64  # levels of a tree: in practice, as deep as the rows allow


def forest_effects(
    observed: Observations,
    *,
    clip: float | None = None,
    trees: int = 64,
    seed: int = 0,
    pairs: bool = True,
    model: object = None,
    threads: int | None = 1,
) -> ForestEffects:
    """How much of a random forest's variance each parameter, and each pair, explains over the space.

    Parameters
    ----------
    observed
        The rows: ``analyze(…).data.observed()``. Rows without a finite objective are left out.
    clip
        A quantile such as 0.1: objectives worse than those of the best 10 % are taken as equal, so
        that only differences among good rows count (Hutter's min(f, f*)).
    trees, seed
        Size of the forest and its seed; the same seed gives the same numbers.
    pairs
        Whether to compute pairs; their time grows with the square of the rows.
    model
        A forest of scikit-learn that was fitted to the matrix and objective of
        ``encode(observed, clip=clip)``; none is fitted then.
    threads
        Threads to work with, None for all cores; the numbers do not depend on it.

    Returns
    -------
    ForestEffects
        Rows by parameter, the largest share first.

    Raises
    ------
    DataError
        There are too few rows, or the objective is constant.
    QueryError
        There are several objectives, or `model` does not fit.
    MissingLibraryError
        scikit-learn is not installed.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error").first(100)
    >>> pa.forest_effects(a.data.observed(), trees=8, pairs=False).n_rows
    99
    """
    workers, encoded = as_threads(threads), encode(observed, clip=clip)
    forest, unit = _fit(encoded, trees, seed, workers) if model is None else _given(model, encoded)

    def decomposed(estimator: Any) -> tuple[float, Reals, Reals]:
        """The variance of a tree, and those of parameters and pairs."""
        boxes = leaf_boxes(as_tree(estimator.tree_), encoded.axes)
        main = main_variances(boxes)
        return boxes.variance, main, pair_variances(boxes, main) if pairs else np.empty(0)

    parts = zip(*spread(decomposed, forest.estimators_, threads=workers), strict=True)
    total, main, both = map(np.array, parts)
    if not total.any():
        raise QueryError(f"all {len(total)} trees are constant over the space; give more rows or trees")
    clipped = "" if clip is None else f" (clipped behind {as_region(clip, 'clip')})"
    return ForestEffects(
        rows=_main_rows(encoded.names, _over_trees(total, main, unit)),
        pairs=_pair_rows(encoded.names, _over_trees(total, both, unit)) if pairs else ForestPairs((), computed=False),
        objective=f"{observed.name}{clipped}",
        variance=float(total.mean()) * unit,
        trees=len(total),
        n_rows=len(encoded.objective),
        notes=encoded.notes,
    )


def _fit(encoded: Encoded, trees: object, seed: object, threads: int) -> tuple[Any, float]:
    """A forest with Optuna's settings: bootstrapped, deep, all parameters tried at every split; and its squared unit.

    Deep trees follow what there is to follow; averaging over the other parameters, and over trees,
    takes the noise out again. The objective is scaled to -1 … 1, lest its squares overflow.
    """
    size, start = as_whole(trees, "trees", 1, 2**32), as_whole(seed, "seed", 0, 2**32)
    try:
        from sklearn.ensemble import RandomForestRegressor
    except ImportError:
        needed = "forest f-ANOVA needs scikit-learn; pip install 'pedanova[fanova]'"
        raise MissingLibraryError(needed) from None
    low, high = float(encoded.objective.min()), float(encoded.objective.max())
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    settings = {"max_depth": DEEPEST, "min_samples_split": 2, "min_samples_leaf": 1, "random_state": start}
    forest = RandomForestRegressor(n_estimators=size, n_jobs=threads, **settings)
    forest.fit(encoded.matrix, (encoded.objective - middle) / half)
    return forest, half * half


def _given(model: Any, encoded: Encoded) -> tuple[Any, float]:
    columns = getattr(model, "n_features_in_", None)
    if not hasattr(model, "estimators_") or getattr(model, "n_outputs_", None) != 1:
        raise QueryError(f"model={type(model).__name__} must be a fitted forest of scikit-learn with one output")
    if columns != len(encoded.names):
        raise QueryError(
            f"model= was fitted to {columns} columns, and there are {len(encoded.names)} parameters; "
            "fit it to encode(observed).matrix"
        )
    return model, 1.0


def as_tree(tree: Any) -> TreeArrays:
    return TreeArrays(
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        threshold=tree.threshold,
        value=tree.value[:, 0, 0],
    )


def _over_trees(total: Reals, variances: Reals, unit: float) -> list[Numbers]:
    """For each column its mean share, the share's spread over trees, and its mean variance."""
    split = total > 0  # a constant tree has nothing to share
    shares = variances[split] / total[split, None]
    columns = shares.mean(axis=0), shares.std(axis=0), variances.mean(axis=0)
    return [
        (share, std, variance * unit) for share, std, variance in zip(*map(np.ndarray.tolist, columns), strict=True)
    ]


def _main_rows(names: Sequence[str], numbers: list[Numbers]) -> tuple[ForestEffect, ...]:
    whole = sum(share for share, _, _ in numbers)
    rows = [
        ForestEffect(name, share / whole if whole > 0 else 0.0, share, std, variance)
        for name, (share, std, variance) in zip(names, numbers, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.share))


def _pair_rows(names: Sequence[str], numbers: list[Numbers]) -> ForestPairs:
    rows = [ForestPair(*pair, *row) for pair, row in zip(combinations(names, 2), numbers, strict=True)]
    return ForestPairs(tuple(sorted(rows, key=lambda row: -row.share)))
