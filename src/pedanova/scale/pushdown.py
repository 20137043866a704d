"""When the engine that holds a table counts it, and what that engine is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Count, Note
from pedanova.counting.counts import Counts
from pedanova.counting.levels import Levels
from pedanova.errors import Arg, QueryError, Word
from pedanova.scale.parts import FirstLook, Plan
from pedanova.scale.pushdown_counts import count_in_engine, is_single, moments_in_engine
from pedanova.scale.pushdown_ranks import Extent, extent_of, ranks_in_engine
from pedanova.sources.scans.batches import is_ibis
from pedanova.sources.scans.scan import Scan
from pedanova.space.parameters import Moving, Switch


def engine_of(scan: Scan, plan: Plan, *, pushdown: bool | None) -> Any:
    """The table itself if its own engine is to count; None if its rows come here."""
    frame = getattr(scan.parts[0], "frame" if scan.is_spark else "plan", None)
    if pushdown is None:
        return frame if is_ibis(frame) and why_not(plan) is None else None
    if not pushdown:
        return None
    if frame is None:
        raise QueryError(
            Arg("pushdown", True),
            " is for relations of DuckDB, lazy frames of Polars, tables of ibis and data frames of ",
            "Spark",
        )
    reason = why_not(plan)
    if reason is not None:
        raise QueryError(
            Arg("pushdown", True), " cannot count ", *reason, "; leave it out, or filter the table yourself"
        )
    return frame


def why_not(plan: Plan) -> tuple[Word, ...] | None:
    """What keeps a plan from being run by another engine."""
    if plan.objective not in plan.needs:
        return ("an objective that is a condition",)
    for name in ("where", "feasible", "state"):
        if getattr(plan.request, name) is not None:
            return ("rows chosen by ", Arg(name))
    if plan.texts:
        return (f"the numbers that {plan.texts[0]!r} keeps as text",)
    # A condition that was guessed is told by the gaps themselves, which any engine counts.
    given = plan.request.space is not None
    odd = [name for name, p in plan.space.items() if (p.when and given) or isinstance(p, Moving | Switch)]
    return (f"the conditional parameter {odd[0]!r}",) if odd else None


def look_by_engine(frame: Any, plan: Plan) -> tuple[FirstLook, Extent]:
    """What a first reading tells, by the engine that holds the table."""
    extent = extent_of(frame, plan.objective, plan.sign)
    absent = extent.rows - extent.numbers
    kept = extent.rows if plan.nan == "worst" else extent.numbers
    notes = []
    if absent:
        fate = "dropped" if plan.request.policies.nan == "drop" else "counted as the worst"
        words = f" rows have no number as objective; {fate}"
        notes = [Note("rows", Count(absent), " of ", Count(extent.rows), words)]
    single = is_single(frame, plan.objective)
    counts = np.array([extent.numbers, kept - extent.numbers])
    return FirstLook(extent.rows, kept, single, (0, 63, 1), counts, notes), extent


def ranks_pushed(frame: Any, plan: Plan, wanted: NDArray[np.int64], extent: Extent) -> NDArray[np.float64]:
    return ranks_in_engine(frame, plan.objective, plan.sign, wanted, extent)


def count_pushed(frame: Any, plan: Plan, levels: Levels, notes: list[Note]) -> Counts:
    """Counts by the engine that holds the table; the last level has the rows that do not count."""
    tables = {
        name: count_in_engine(frame, plan.objective, name, parameter, levels) for name, parameter in plan.space.items()
    }
    counts = next(iter(tables.values()))[0]
    moments = moments_in_engine(frame, plan.objective, levels)
    inner = {name: [table[:-1] for table in both] for name, both in tables.items()}
    return Counts(int(counts.sum()), int(counts[:-1].sum()), inner, moments, notes)
