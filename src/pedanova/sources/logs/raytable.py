"""The data frame of a Ray Tune experiment, `results.get_dataframe()`, as a frame or in a file."""

from __future__ import annotations

from collections.abc import Sequence

from pedanova.data.records import SourceMetadata
from pedanova.sources.tables.known import KnownTable

SETTINGS = "config/"
OWN = {  # what Ray adds to every row
    "trial_id", "experiment_id", "experiment_tag", "logdir", "date", "timestamp", "timestamps_total", "hostname",
    "node_ip", "pid", "done", "training_iteration", "iterations_since_restore", "time_this_iter_s", "time_total_s",
    "time_since_restore", "timesteps_since_restore", "timesteps_total", "episodes_total", "warmup_time",
    "checkpoint_dir_name", "should_checkpoint", "trial_log_path",
}  # fmt: skip
ERRORS = ("error_type", "error_msg", "error_message", "error_file")  # set where a trial failed


def fits(names: Sequence[str]) -> bool:
    return any(name.startswith(SETTINGS) for name in names) and len(OWN.intersection(names)) >= 2


def metadata(names: Sequence[str]) -> SourceMetadata:
    settings = tuple(name for name in names if name.startswith(SETTINGS))
    aside = tuple(name for name in names if name in OWN or name in ERRORS or name.startswith("Unnamed: "))
    error = next((name for name in ERRORS if name in names), None)
    results = tuple(name for name in names if name not in (*settings, *aside))
    return SourceMetadata(
        source="Ray Tune's table of results",
        params=settings,
        objectives=results if len(results) == 1 else (),
        metrics=results,
        aside=aside,
        where=None if error is None else f"{error} is None",
    )


TABLE = KnownTable(
    "Ray Tune data frame",
    "columns config/… and Ray's own such as trial_id, in any file or frame",
    "pedanova analyze results.csv --objective loss",
    fits,
    metadata,
)
