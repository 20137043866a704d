"""All kinds of sources, how one is chosen, and files that hold no trials: each named for what it is."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import Arg, DataError, FormatError, listed
from pedanova.sources.databases import open_sqlite
from pedanova.sources.logs import (
    ax,
    deepcave,
    dvc,
    hydra,
    hyperopt,
    kerastuner,
    lightning,
    mlflow,
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
from pedanova.sources.reader import Kind, KnownTable
from pedanova.sources.tables import files
from pedanova.sources.tables.text import peek_header

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
KNOWN_TABLES: tuple[KnownTable, ...] = (optuna_study.TABLE, raytune.TABLE, mlflow.TABLE)
KINDS: tuple[Kind | KnownTable, ...] = (*TABLES, *KNOWN_TABLES, *LOGS)
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle", ".pt", ".pth")
LFS = b"version https://git-lfs.github.com/spec/"
SQLITE = b"SQLite format 3\0"
DATABASES = (".db", ".sqlite", ".sqlite3", ".db3")
SHEETS = {
    ".xlsx": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "a spreadsheet",
    ".numbers": "a spreadsheet",
}
CHART = ("__MIN", "__MAX", "__STEP")  # behind the columns of a chart that W&B exports


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


def check_no_pickle(place: Path) -> None:
    """A pickle is never loaded; if it is a study of Optuna's, two lines make a database of it."""
    if place.suffix.lower() not in PICKLES:
        return
    raise DataError(
        f"{place}: a pickle can run any program when it is loaded, so none is. If you trust it and it is a study of "
        f'Optuna: `study = pickle.load(open({str(place)!r}, "rb"))` (or joblib.load), then '
        '`optuna.create_study(storage="sqlite:///study.db", directions=study.directions).add_trials(study.trials)`, '
        "and give study.db; of other trials, write a table or JSON"
    )


def check_known(place: Path) -> None:
    """Refuse a file that is known to hold no table, in words that name it."""
    try:
        with place.open("rb") as file:
            start = file.read(100)
    except OSError:
        return  # whoever reads it says why it cannot be read
    if start.startswith(LFS):
        raise DataError(
            f"{place} is a pointer of Git LFS, not the file itself; fetch it by `git lfs pull --include "
            f"{shlex.quote(place.name)}`"
        )
    suffix = place.suffix.lower()
    if suffix in DATABASES and not start:
        raise DataError(f"{place} is an empty database; nothing was written to it yet, or the path is wrong")
    if start.startswith(SQLITE):
        raise DataError(*_foreign_database(place))
    if suffix in SHEETS:
        raise DataError(
            f"{place} is {SHEETS[suffix]}; save its table as CSV, or give pandas.read_excel({place.name!r})"
        )
    if suffix == ".csv" and _is_chart(peek_header(place)):
        raise DataError(
            f"{place} is a chart of W&B, one column for each run, without any setting; export the runs table "
            "instead (in the project: Table, then the arrow: CSV export)"
        )


def _foreign_database(place: Path) -> tuple[str, ...]:
    try:
        with open_sqlite(place) as database:
            tables = sorted(database.tables())
    except (DataError, FormatError) as error:
        return (str(error),)
    if not tables:
        return (f"{place} is a SQLite database without any table; nothing was written to it yet",)
    export = f"sqlite3 -header -csv {shlex.quote(place.name)} 'SELECT * FROM \"{tables[0]}\"' > trials.csv"  # noqa: S608  (shown, never run)
    return (f"{place} is a SQLite database of no known tool, with {listed(tables)}; export the trials: {export}",)


def _is_chart(names: list[str]) -> bool:
    behind = [name for name in names if name.endswith(CHART)]
    return len(behind) >= 2 and 3 * len(behind) >= 2 * (len(names) - 1)
