"""The data frame that `mlflow.search_runs()` gives, as a frame or in a file."""

from __future__ import annotations

from collections.abc import Sequence

from pedanova.data.records import SourceMetadata
from pedanova.sources.tables.known import KnownTable

SETTINGS, RESULTS = "params.", "metrics."


def fits(names: Sequence[str]) -> bool:
    marked = (any(name.startswith(mark) for name in names) for mark in (SETTINGS, RESULTS))
    return "run_id" in names and all(marked)


def metadata(names: Sequence[str]) -> SourceMetadata:
    settings = tuple(name for name in names if name.startswith(SETTINGS))
    results = tuple(name for name in names if name.startswith(RESULTS))
    return SourceMetadata(
        source="MLflow's table of runs",
        params=settings,
        objectives=results if len(results) == 1 else (),
        metrics=results,
        aside=tuple(name for name in names if name not in (*settings, *results)),
        state="status" if "status" in names else None,
    )


TABLE = KnownTable(
    "MLflow search_runs",
    "columns run_id, params.… and metrics.…, in any file or frame",
    "pedanova analyze runs.csv --objective metrics.rmse",
    fits,
    metadata,
)
