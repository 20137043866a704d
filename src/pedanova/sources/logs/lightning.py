"""Lightning: the folder of a logger, one folder a run with hparams.yaml and metrics.csv or event files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import DataError, PedanovaError
from pedanova.sources.logs.run_folders import (
    check_results,
    is_place,
    last_values,
    length_notes,
    read_each,
    read_points,
    read_steps,
    runs_of,
)
from pedanova.sources.logs.tensorboard import has_events, read_events
from pedanova.sources.logs.trials import Trial, left_out, tabulate
from pedanova.sources.reader import read_yaml

VERSION = re.compile(r"version_\d+")
STEPS = ("epoch", "step")  # how far a run came: no results, but of use in where=
NO_RESULT = "hp_metric"  # -1 from the start, where the user logs nothing under this name
TIMES = ("created_at", "relative_time", "wall_time")


def fits(path: Path) -> bool:
    return is_place(path, _is_run)


def _is_run(folder: Path) -> bool:
    settings, results = (folder / "hparams.yaml").is_file(), (folder / "metrics.csv").is_file()
    if VERSION.fullmatch(folder.name):
        return settings or results
    return settings and (results or has_events(folder))


def read(path: Path, study: str | None) -> Records:
    folder, runs = runs_of(path, study, _is_run, what="Lightning run")
    trials, kept, bare = read_each(runs, _trial, "runs")
    if not trials:
        raise DataError(
            f"{folder} holds {bare:,} Lightning runs, none with settings in hparams.yaml; "
            "call self.save_hyperparameters() in the module, and train again"
        )
    check_results(trials, folder, "in metrics.csv or event files")
    notes = left_out(bare, "runs have no settings in hparams.yaml")
    notes += length_notes(trials, "epoch", "epochs") or length_notes(trials, "step", "steps")
    metadata = SourceMetadata(source=f"Lightning runs {folder.resolve().name!r}")
    return tabulate(trials, metadata, notes=notes, points=partial(read_points, kept, _curve))


def _curve(place: Path, metric: str) -> Iterable[tuple[float, float]]:
    file = place / "metrics.csv"
    if not file.is_file():
        return read_events(place).curves.get(metric, [])
    return [(row["step"], row[metric]) for row in read_steps(file) if metric in row and "step" in row]


def _trial(place: Path) -> Trial | None:
    """A run without any result has not ended, as far as can be told; None without settings."""
    file = place / "hparams.yaml"
    settings = read_yaml(file, objects=True) if file.is_file() else None
    if not isinstance(settings, dict) or not settings:
        return None
    file, last = place / "metrics.csv", dict[str, float]()
    if file.is_file():
        with suppress(PedanovaError):
            last = last_values(read_steps(file))
    else:
        last = read_events(place).last
    if last.get(NO_RESULT) == -1:
        del last[NO_RESULT]
    other: dict[str, object] = {"run": place.name} | {name: last[name] for name in STEPS if name in last}
    results = {name: value for name, value in last.items() if name not in (*STEPS, *TIMES)}
    return Trial(settings, results, "COMPLETE" if results else "RUNNING", other)
