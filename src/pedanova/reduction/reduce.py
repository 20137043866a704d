"""A smaller search space: which parameters to narrow, to fix, to widen, and which to leave alone.

Only parameters that are distinguishable from noise are narrowed, and only those that look like noise both
globally and locally are fixed. docs/reduction.md has the rules and what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.threads import one_thread
from pedanova.data.regions import Region, as_region
from pedanova.errors import Arg, PedanovaError, QueryError
from pedanova.measures.asks import Asks
from pedanova.measures.importance import Importances
from pedanova.reduction.evidence import evidence_of
from pedanova.reduction.result import ReducedSpace
from pedanova.reduction.scenes import scene_of
from pedanova.reduction.search import Search, beyond_noise
from pedanova.reduction.verdicts import Judge, consistent, unchanged
from pedanova.space.parameters import Categorical, Space

LEAST_ROWS, LEAST_TARGET = 40, 10  # fewer decide nothing
ADAPTIVE = (
    "the trials were not drawn evenly, as with an adaptive sampler: the best of them are compared with a uniform draw "
    "from the space, and what the sampler hardly tried counts as poor"
)
IN_PIECES = "{}: good values lie in several ranges; the space and its exports hold the range around them"


def reduce_space(
    a: Asks, search: Search, target: object, keep: float, *, widen: bool, estimator: str, folds: int
) -> ReducedSpace:
    """See `Analysis.reduce`; `a` is the analysis, `search` its rows and target."""
    kept, parts = check_keep(keep), check_folds(folds)
    if estimator == "paper":
        raise QueryError(Arg("estimator", "paper"), " has no p-values; use 'auto', 'surrogate' or 'counts'")
    _, words, notes = a.ask(target, 1.0)
    space, inside = search.observed.space, int(search.reached().sum())
    if a.rows < LEAST_ROWS or inside < LEAST_TARGET:
        few = f"{a.rows:,} rows, {inside} of them in the target, are too few to decide"
        why = f"{few}: at least {LEAST_ROWS} and {LEAST_TARGET} are needed"
        rows = tuple(unchanged(name, "undecided", why, one) for name, one in space.items())
        return ReducedSpace(rows, None, words[0], kept, tuple(notes))
    options: dict[str, Any] = {"estimator": estimator, "seed": search.seed}
    importances = a.importance(target, **options)
    local = cache(lambda: local_p_values(a, search, options))
    with one_thread():
        scene = scene_of(search, importances)
        p_values = [1.0 if row.p_value is None else row.p_value for row in importances.rows]
        apart = beyond_noise([row.name for row in importances.rows], p_values, space)
        surely = [name for name in sure_enough(apart, importances, space) if name in scene.cloud.axes]
        box = scene.bounds(surely, kept)
        evidence = evidence_of(search, scene, box, kept, surely, parts) if box.left and parts else None
        judge = Judge(space, scene, box, importances, local, frozenset(surely), widen=widen)
        verdicts = consistent([judge.verdict(name) for name in space])
    remarks = [*notes, *importances.notes]
    remarks += [] if scene.even else [Note("answer", ADAPTIVE)]
    parted = [row.name for row in verdicts if row.pieces]
    remarks += [Note("answer", IN_PIECES.format(", ".join(parted)))] if parted else []
    aim = words[0] if scene.even else f"{words[0]} of your trials"
    return ReducedSpace(verdicts, evidence, aim, kept, tuple(remarks))


def sure_enough(names: Sequence[str], importances: Importances, space: Space) -> list[str]:
    """Those whose values may be cut by what decides: no category that the table marks as maybe noise.

    A range loses the poorest of its ends, and has others beside them; of a category a whole kind of things goes.
    """
    doubtful = {row.name for row in importances.rows if row.significant is False}
    return [name for name in names if name not in doubtful or not isinstance(space[name], Categorical)]


def check_keep(keep: object) -> float:
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= 1:
        raise QueryError(Arg("keep", keep), " must be above 0 and at most 1, such as 0.95")
    return float(keep)


def check_folds(folds: object) -> int:
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 0 or folds == 1:
        raise QueryError(Arg("folds", folds), " must be a whole number from 2 up, or 0 for no evidence")
    return folds


def local_p_values(a: Asks, search: Search, options: dict[str, Any]) -> Mapping[str, float] | None:
    """Does a parameter lead to the target's best half, among thrice as many rows? None where it cannot be asked."""
    target = search.target
    if not isinstance(target, Region) or target.kind != "quantile" or target.low:
        return None
    part = target.high or 1
    half, around = part / 2, min(1, part * 3)
    if search.query.known is not None:
        return search.p_values_inside(as_region(half, "target"), as_region(around, "region"))
    try:
        importances = a.importance(half, around, **options)
    except PedanovaError:
        return None
    return {row.name: 1.0 if row.p_value is None else row.p_value for row in importances.rows}
