"""All kinds of sources, in the order in which they are tried."""

from __future__ import annotations

import os
from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import Arg, DataError
from pedanova.sources.foreign import check_known, check_no_pickle
from pedanova.sources.kind import Kind
from pedanova.sources.logs import (
    ax,
    deepcave,
    dvc,
    hydra,
    hyperopt,
    kerastuner,
    lightning,
    mlflow,
    mlflowtable,
    raytable,
    raytune,
    sklearn_search,
    smac,
    synetune,
    tensorboard,
    wandb,
)
from pedanova.sources.optuna import journal as optuna_journal
from pedanova.sources.optuna import live as optuna_study
from pedanova.sources.optuna import storage as optuna_tables
from pedanova.sources.optuna import trials_table
from pedanova.sources.tables import files
from pedanova.sources.tables.known import KnownTable

TABLES = tuple(
    Kind(name, mark, example, "path", lambda _: False, lambda path, _: files.read_file(str(path)))
    for name, mark, example in (
        ("CSV, TSV", "suffix .csv, .tsv, .txt, also .csv.gz; fields between commas, semicolons, tabs or |",
         "pedanova analyze trials.csv --objective error"),
        ("JSON", "suffix .json, .json.gz: a list of objects, objects by trial, columns by name",
         "pedanova analyze trials.json --objective error"),
        ("JSON lines", "suffix .jsonl, .ndjson, .jsonl.gz", "pedanova analyze trials.jsonl --objective error"),
        ("Parquet, Arrow IPC", "suffix .parquet, .arrow, .feather", "pedanova analyze trials.parquet --objective f1"),
        ("Delta, Iceberg", "a folder with _delta_log; a file ….metadata.json; tables of deltalake and pyiceberg",
         "pedanova analyze s3://lake/trials --objective f1"),
    )
)  # fmt: skip
LOGS: tuple[Kind, ...] = (
    raytune.KIND,
    *mlflow.KINDS,  # before Optuna's, which takes the URL of any database
    *wandb.KINDS,
    *sklearn_search.KINDS,
    kerastuner.KIND,
    *hyperopt.KINDS,
    optuna_study.KIND,
    optuna_tables.FILE,
    optuna_tables.URL,
    optuna_journal.KIND,
    smac.KIND,
    deepcave.KIND,
    deepcave.TABLE_KIND,
    ax.KIND,
    synetune.KIND,
    dvc.KIND,
    hydra.KIND,  # before the loggers whose folders lie inside its jobs
    lightning.KIND,
    tensorboard.KIND,  # last: many tools write event files beside their own
)
# Told by their columns, wherever they are.
KNOWN_TABLES: tuple[KnownTable, ...] = (trials_table.TABLE, raytable.TABLE, mlflowtable.TABLE)
KINDS: tuple[Kind | KnownTable, ...] = (*TABLES, *KNOWN_TABLES, *LOGS)


def read_place(path: str, study: str | None, delimiter: str | None = None) -> Records:
    """A file or a folder: a log of some tool by its shape, or else a table by its suffix."""
    place = Path(path)
    check_no_pickle(place)
    if _exists(place):
        kind = find_kind("path", place)
        if kind is not None:
            return read_as(kind, place, study)
        if place.is_dir():
            raise DataError(f"{path} is a folder of no known tool; see `pedanova formats`, or name a file in it")
        check_known(place)
    if study is not None:
        raise DataError(Arg("study", study), f" is for stores of several studies; {path} is a table")
    return files.read_file(path, delimiter=delimiter)


def read_url(url: str, study: str | None) -> Records:
    kind = find_kind("url", url)
    if kind is None:
        raise DataError(
            f"{url.partition('://')[0]}://… is no URL that can be read; use sqlite:///, postgresql:// or mysql://"
        )
    return read_as(kind, url, study)


def find_kind(takes: str, source: object) -> Kind | None:
    return next((kind for kind in LOGS if kind.takes == takes and kind.fits(source)), None)


def read_as(kind: Kind, source: object, study: str | None) -> Records:
    try:
        return kind.read(source, study)
    except RecursionError:
        raise DataError(f"{kind.name}: values are nested too deeply to be read; flatten them") from None
    except PermissionError as error:
        raise DataError(f"{error.filename or source}: no permission to read it") from None
    except OSError as error:
        raise DataError(f"{error.filename or source}: {error.strerror or error}") from None


def _exists(place: Path) -> bool:
    """Whether there is such a place; a name that the system cannot take is left to the reader of files."""
    try:
        return place.exists()
    except (OSError, ValueError):
        return False


def is_log(place: str) -> bool:
    """Whether a path is the log of some tool."""
    path = Path(place)
    return _exists(path) and find_kind("path", path) is not None


def is_url(text: str | os.PathLike[str]) -> bool:
    return isinstance(text, str) and "://" in text and not _exists(Path(text))
