"""What `study.trials_dataframe()` gives, as a frame or in a file: settings, values, states, attributes.

It is told by the names of its columns alone, so that it is the same table whole and in parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from pedanova.data.records import SourceMetadata
from pedanova.sources.tables.known import KnownTable

SETTINGS = ("params_", "params.")  # the second where the names were pairs
VALUES = ("values_", "values.")
KEPT = ("number", "state", "datetime_start", "datetime_complete", "duration")


def fits(names: Sequence[str]) -> bool:
    told = any(name in names for name in ("number", "state"))
    return told and bool(_objectives(names)) and any(name.startswith(SETTINGS) for name in names)


def _objectives(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name == "value" or name.startswith(VALUES))


def metadata(names: Sequence[str]) -> SourceMetadata:
    objectives = _objectives(names)
    settings = tuple(name for name in names if name.startswith(SETTINGS))
    return SourceMetadata(
        source="Optuna's trials table",
        params=settings,
        objectives=objectives,
        metrics=objectives,
        aside=tuple(name for name in names if name not in (*settings, *objectives)),
        state="state" if "state" in names else None,
    )


TABLE = KnownTable(
    "Optuna trials_dataframe",
    "columns value, state and params_…, in any file or frame",
    "pedanova analyze trials.csv --direction max",
    fits,
    metadata,
)
