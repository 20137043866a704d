"""Files that hold no trials, or not in a way that can be read: each named for what it is, with what would help."""

from __future__ import annotations

import shlex
from pathlib import Path

from pedanova.errors import DataError, FormatError, listed
from pedanova.sources.databases import open_sqlite
from pedanova.sources.tables.text import peek_header

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
