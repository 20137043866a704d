"""Histories of AMLTK: a folder with history.parquet (or .csv) and configspace.json."""

from __future__ import annotations

import re
from pathlib import Path

from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import FormatError
from pedanova.sources.kind import Kind
from pedanova.sources.logs.budgets import number_or_nan, tell
from pedanova.sources.logs.metric_columns import metrics_among, rows_of
from pedanova.sources.logs.trials import Trial
from pedanova.sources.spaces.configspace import read_space
from pedanova.sources.tables.files import read_file

NAMES = ("history.parquet", "history.csv")
SETTING, DURATION = "config:", re.compile(r"profile:.*:time:duration")
BUDGET = re.compile(r"budget=([0-9.eE+-]+)")


def fits(place: Path) -> bool:
    """A history beside its space; a Parquet file of that name in a folder may be alone."""
    folder = place.parent if place.name in NAMES and place.is_file() else place
    beside = (folder / "configspace.json").is_file() and any((folder / name).is_file() for name in NAMES)
    return beside or (place.is_dir() and (place / NAMES[0]).is_file())


def read(place: Path, _: str | None) -> Records:
    file = place if place.is_file() else next(place / name for name in NAMES if (place / name).is_file())
    table = read_file(str(file)).columns
    metrics = metrics_among(table)
    settings = [name for name in table if name.startswith(SETTING)]
    if not metrics or not settings or len({metric.name for metric in metrics}) < len(metrics):
        raise FormatError(
            f"{file} is no history of AMLTK: it needs columns such as 'config:lr' and "
            "'metric:accuracy [0.0, 1.0] (maximize)', each once"
        )
    kept = ["status", "trial_seed", "name", *(name for name in table if DURATION.fullmatch(name))]
    wanted = {name: table[name] for name in (*settings, *(m.column for m in metrics), *kept) if name in table}
    trials = []
    for row in rows_of(wanted):
        budget = BUDGET.search(str(row.get("name")))
        other = {key: row[key] for key in row if DURATION.fullmatch(key)}
        if "trial_seed" in row:
            other["seed"] = row["trial_seed"]
        if budget:
            other["budget"] = number_or_nan(budget[1])
        trials.append(
            Trial(
                {name.removeprefix(SETTING): row[name] for name in settings if name in row},
                {metric.name: number_or_nan(row.get(metric.column)) for metric in metrics},
                str(row.get("status", "success")).upper(),
                other,
            )
        )
    metadata = SourceMetadata(
        source=f"AMLTK history {file.parent.name!r}",
        objectives=tuple(metric.name for metric in metrics),
        directions=tuple(metric.direction for metric in metrics),
    )
    return tell(trials, metadata, read_space(file.parent))


KIND = Kind(
    "AMLTK history",
    "a folder with history.parquet and configspace.json",
    "pedanova analyze amltk_run/",
    "path",
    fits,
    read,
)
