"""All kinds of sources, the choice of the right kind, and error messages for files that contain no trials."""

from __future__ import annotations

import glob
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError, FormatError, PedanovaError, listed
from pedanova.sources.databases import Database, family_of, is_sqlite, open_database
from pedanova.sources.logs import (
    ax,
    hydra,
    kerastuner,
    kerneltuner,
    line_logs,
    mlflow,
    nni,
    raytune,
    sklearn_search,
    smac,
    synetune,
    tensorboard,
    ultralytics,
    wandb,
)
from pedanova.sources.logs.trials import Test, check_several
from pedanova.sources.optuna import journal as optuna_journal
from pedanova.sources.optuna import storage as optuna_tables
from pedanova.sources.optuna import study_log as optuna_study
from pedanova.sources.reader import Kind, KnownTable
from pedanova.sources.scans.scan import is_pattern
from pedanova.sources.tables import files
from pedanova.sources.tables.json_text import read_trials
from pedanova.sources.tables.text import Dialect, peek_header
from pedanova.space.values import shown

TABLES = tuple(
    Kind(name, mark, example, "path", lambda _: False, lambda path, _: files.read_file(str(path)))
    for name, mark, example in (
        ("CSV, TSV", "suffix .csv, .tsv, .txt, also .csv.gz; fields separated by commas, semicolons, tabs or |",
         "pedanova analyze trials.csv --objective error"),
        ("JSON", 'suffix .json, .json.gz: [{"lr": 0.1}, …], {"trial 1": {"lr": 0.1}, …} or {"lr": [0.1, …]}',
         "pedanova analyze trials.json --objective error"),
        ("JSON lines", "suffix .jsonl, .ndjson, .jsonl.gz", "pedanova analyze trials.jsonl --objective error"),
        ("Parquet, Arrow IPC", "suffix .parquet, .arrow, .feather", "pedanova analyze trials.parquet --objective f1"),
    )
)  # fmt: skip
LOGS: tuple[Kind, ...] = (
    Kind("Excel, OpenDocument", "a spreadsheet .xlsx, .xlsm, .xlsb, .xls or .ods; --study names a sheet",
         "pedanova analyze trials.xlsx --objective error", "path", files.is_sheet,
         lambda path, study: read_copy(files.sheet_as_csv(path, study), f"{path.stem}.csv", str(path))),
    Kind("MLflow UI's runs.csv", "a .csv file or a data frame with the columns Run ID, Start Time, Source Type, Status",
         "pedanova analyze runs.csv --objective rmse", "table", mlflow.fits_export, mlflow.read_export, True),
    Kind("Ray Tune experiment",
         "a folder with experiment_state-*.json, or with folders that hold params.json and result.json",
         "pedanova analyze ~/ray_results/train_2025-05-22 --objective loss", "path", raytune.fits, raytune.read),
    Kind("MLflow folder", "an mlruns folder or an experiment in it; each run has meta.yaml, params/ and metrics/",
         "pedanova analyze mlruns --study my-experiment --objective rmse", "path", mlflow.fits_folder,
         mlflow.read_folder),
    Kind("MLflow database", "a SQLite file, or a URL, with the tables experiments, runs, params, latest_metrics",
         "pedanova analyze mlflow.db --study my-experiment --objective rmse", "database", mlflow.fits_tables,
         mlflow.read_database),
    Kind("W&B runs table", "a .csv file or a data frame with the columns Name and State, or config and summary",
         "pedanova analyze wandb_export.csv --objective val_loss", "table", wandb.fits_table, wandb.read_table, True),
    Kind("W&B folder", "a wandb folder that contains run-* or offline-run-* folders",
         "pedanova analyze wandb --objective val_loss", "path", wandb.FOLDER.fits, wandb.FOLDER.read),
    Kind("scikit-learn search",
         "a fitted GridSearchCV, RandomizedSearchCV or halving search; or its cv_results_, as a dict or a .csv file",
         "pedanova.analyze(search)", "table", sklearn_search.fits, sklearn_search.read, True),
    Kind("Keras Tuner project", "a folder with oracle.json and trial_*/trial.json",
         "pedanova analyze my_dir/my_project", "path", kerastuner.fits, kerastuner.read),
    Kind("Hyperopt Trials", "a hyperopt.Trials object, the list of its trials, or this list as a .json file",
         "pedanova.analyze(trials)", "table", line_logs.fits_trials, line_logs.read_trials),
    Kind("Hyperopt results", "a file of JSON lines with the keys loss, params and status",
         "pedanova analyze results.jsonl", "path", line_logs.HYPEROPT.fits, line_logs.HYPEROPT.read, True),
    Kind("bayes_opt log", "a file of JSON lines with the keys target, params and datetime (JSONLogger)",
         "pedanova analyze logs.json", "path", line_logs.BAYES_OPT.fits, line_logs.BAYES_OPT.read, True),
    Kind("bayes_opt state", "a .json file that BayesianOptimization.save_state wrote",
         "pedanova analyze state.json", "path", line_logs.fits_state, line_logs.read_state, True),
    Kind("FLAML log", "a file of JSON lines with the keys record_id, learner, config and validation_loss",
         "pedanova analyze automl.log", "path", line_logs.FLAML.fits, line_logs.FLAML.read, True),
    Kind("freqtrade hyperopt", "a .fthypt file of JSON lines with the keys params_dict, loss and results_metrics",
         "pedanova analyze strategy_MyStrategy_2025-05-22.fthypt", "path", line_logs.FREQTRADE.fits,
         line_logs.FREQTRADE.read, True),
    Kind("Optuna study", "an optuna.Study object",
         "pedanova.analyze(study)", "object", optuna_study.is_study, optuna_study.read_study),
    Kind("Optuna database", "a SQLite file, or a URL (postgresql://, mysql://, sqlite:///), with Optuna's tables",
         "pedanova analyze postgresql://user:password@host/database --study NAME", "database",
         optuna_tables.fits_tables, optuna_tables.read_database),
    Kind("Optuna journal", "a file of JSON lines with journal operations",
         "pedanova analyze journal.log", "path", optuna_journal.is_journal, optuna_journal.read_journal),
    Kind("SMAC3 run", "a folder with runhistory.json",
         "pedanova analyze smac3_output/run/0", "path", smac.fits, smac.read),
    Kind("DeepCAVE run", "a folder with meta.json, configs.json and history.jsonl",
         "pedanova analyze deepcave_run/", "path", smac.fits_deepcave, smac.read_deepcave, True),
    Kind("Ax experiment", "a .json file that Ax saved: a snapshot of a client, or an experiment",
         "pedanova analyze ax_client_snapshot.json", "path", ax.fits, ax.read, True),
    Kind("Kernel Tuner cache", "a .json or .json.gz file with the keys kernel_name, tune_params_keys and cache",
         "pedanova analyze convolution_A100.json", "path", kerneltuner.fits, kerneltuner.read, True),
    Kind("NNI experiment", f"the folder of an experiment, which contains {nni.FILE}; or this file",
         "pedanova analyze ~/nni-experiments/h7zbmk0u", "database", nni.fits_tables, nni.read_database, True),
    Kind("Syne Tune experiment", "a folder with metadata.json and results.csv.zip, or a folder of such folders",
         "pedanova analyze ~/syne-tune/train-2025-05-22", "path", synetune.fits, synetune.read),
    Kind("DVC experiments", "a .json file with the output of `dvc exp show --json`",
         "dvc exp show --json > exp.json && pedanova analyze exp.json --objective loss", "path", hydra.fits_dvc,
         hydra.read_dvc, True),
    # Hydra comes before the loggers whose folders are inside its jobs
    Kind("Hydra jobs", "a folder of jobs; each has .hydra/overrides.yaml and a file of results (.json, .yaml, .csv)",
         "pedanova analyze multirun/2025-05-22/16-04-50 --objective loss", "path", hydra.fits, hydra.read),
    Kind("Lightning runs", "a folder of version_* folders; each has hparams.yaml, and metrics.csv or event files",
         "pedanova analyze lightning_logs --objective val_loss", "path", tensorboard.LIGHTNING.fits,
         tensorboard.LIGHTNING.read),
    Kind("Ultralytics runs", "a folder of runs with args.yaml (YOLOv5: hyp.yaml and opt.yaml) and results.csv",
         "pedanova analyze runs/detect", "path", ultralytics.RUNS.fits, ultralytics.RUNS.read),
    Kind("run folders", "a folder of runs; each has a file of settings (config.json, params.yaml) and one of results",
         "pedanova analyze runs --objective val_loss", "path", hydra.fits_runs, hydra.read_runs),
    # TensorBoard is last, because many tools also write event files
    Kind("TensorBoard runs",
         "a folder with event files (events.out.tfevents.*), in which the hparams plugin saved settings",
         "pedanova analyze runs --objective hparam/accuracy", "path", tensorboard.fits, tensorboard.read, True),
)  # fmt: skip
# These are recognised by their columns.
KNOWN_TABLES: tuple[KnownTable, ...] = (optuna_study.TABLE, raytune.TABLE, mlflow.TABLE)
KINDS: tuple[Kind | KnownTable, ...] = (*TABLES, *KNOWN_TABLES, *LOGS)
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle", ".pt", ".pth")
LFS = b"version https://git-lfs.github.com/spec/"
DATABASES = (".db", ".sqlite", ".sqlite3", ".db3")
SHEETS = (*files.SHEETS, ".numbers")
RUN_FILES: dict[str, tuple[Test, str]] = {  # files with curves: the tool whose runs contain such a file
    "metrics.csv": (tensorboard.LIGHTNING.is_run, tensorboard.LIGHTNING.what),
    "results.csv": (ultralytics.RUNS.is_run, ultralytics.RUNS.what),
    "progress.csv": (raytune.is_trial, "trial of Ray Tune"),
    "result.json": (raytune.is_trial, "trial of Ray Tune"),
}
CHART = ("__MIN", "__MAX", "__STEP")  # suffixes of columns in a chart exported by W&B


def read_place(place: str, study: str | None, dialect: Dialect = files.ANY) -> Records:
    """Read a database, the log of a tool, or a table; `place` is a path or a URL."""
    if place == "-":
        content = sys.stdin.buffer.read()
        name = "stdin.json" if content.lstrip()[:1] in (b"[", b"{") else "stdin.csv"
        return read_copy(content, name, "-", dialect)
    database = database_at(place)
    if database is not None:
        return read_database(database, study)
    path = path_at(place)
    trials = json_files(place)
    check_no_pickle(path)
    if _exists(path):
        kind = find_kind("path", path)
        if kind is not None:
            return read_as(kind, path, study)
        if path.is_dir() and not trials:
            if is_empty(path):
                raise DataError(f"{path} is an empty folder; nothing was written to it yet, or the path is wrong")
            raise DataError(f"{path} is a folder of an unknown tool; see `pedanova formats`, or name a file in it")
        check_known(path)
    if trials:
        return read_trials(trials, place)
    if study is not None and _exists(path):
        words = f" names one of several studies, but {path} is one table; leave this option out"
        raise DataError(Arg("study", study), words)
    return files.read_file(str(path), dialect)


def read_copy(content: bytes, name: str, shown: str, dialect: Dialect = files.ANY) -> Records:
    """Read bytes, through a temporary file; in error messages, the file is called `shown`."""
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(content)
        try:
            return read_place(str(file), None, dialect)
        except PedanovaError as error:
            words = [word.replace(str(file), shown) if isinstance(word, str) else word for word in error.words]
            raise type(error)(*words) from None


def is_empty(path: Path) -> bool:
    return path.is_dir() and next(path.iterdir(), None) is None


def json_files(place: str) -> list[Path]:
    """The JSON files in a folder (at least two), those with one name in its folders, or those that match a pattern."""
    path = Path(place)
    if not is_pattern(place):
        inside, below = (sorted(path.glob(mark)) if _is_folder(path) else [] for mark in ("*.json", "*/*.json"))
        alike = below if len({file.name for file in below}) == 1 else []
        return inside if len(inside) > 1 else alike if len(alike) > 1 else []
    hits = sorted(Path(hit) for hit in glob.glob(str(path.expanduser()), recursive=True))  # noqa: PTH207
    return hits if hits and all(hit.suffix.lower() == ".json" for hit in hits) else []


def database_at(place: str) -> str | Path | None:
    """The URL of a database or the path of a SQLite file, also in an experiment of NNI; None for other places."""
    if is_url(place):
        return place if family_of(place) else None
    return next(filter(is_sqlite, (Path(place), Path(place, nni.FILE))), None)


def path_at(place: str) -> Path:
    """The path in `place`, which is a path or a file:/// URL."""
    if not is_url(place):
        return Path(place)
    scheme, _, rest = place.partition("://")
    if scheme != "file":
        raise DataError(f"{scheme}://… is not a URL that can be read; use sqlite:///, postgresql:// or mysql://")
    return Path(unquote(rest))


def read_database(place: str | Path, study: str | None) -> Records:
    with open_database(place) as database:
        tables = database.tables()
        kind = find_kind("database", tables)
        if kind is not None:
            return read_as(kind, database, study)
    if not tables:
        raise FormatError(f"{database.shown} is a database without tables; nothing has been written to it yet")
    words = f"{database.shown} is a database of an unknown tool (tables: {listed(sorted(tables))}); export the trials"
    if database.family == "sqlite":
        name = shlex.quote(Path(database.shown).name)
        words += f": sqlite3 -header -csv {name} 'SELECT * FROM …' > trials.csv, with the table of trials as …"  # noqa: S608  (shown, never run)
    raise FormatError(words)


def table_metadata(names: Sequence[str]) -> SourceMetadata | None:
    known = (table.metadata(names) for table in KNOWN_TABLES)
    return next((metadata for metadata in known if metadata is not None), None)


def find_kind(takes: str, source: object) -> Kind | None:
    either = "database" if takes == "database" else "table"
    return next((kind for kind in LOGS if kind.takes in (takes, either) and kind.fits(source)), None)


def read_as(kind: Kind, source: object, study: str | None) -> Records:
    if kind.single and study is not None:
        words = f" names one of several studies, but this source ({kind.name}) has only one; leave this option out"
        raise DataError(Arg("study", study), words)
    try:
        return kind.read(source) if kind.single else kind.read(source, study)
    except PedanovaError:
        raise
    except RecursionError:
        raise DataError(f"{kind.name}: values are nested too deeply to be read; flatten them") from None
    except PermissionError as error:
        raise DataError(f"{error.filename or source}: no permission to read it") from None
    except OSError as error:
        raise DataError(f"{error.filename or source}: {error.strerror or error}") from None
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        place = source.shown if isinstance(source, Database) else source if isinstance(source, Path) else "the source"
        reason = f"{type(error).__name__} {shown(error.args[0]) if error.args else ''}".rstrip()
        words = f"{place} is damaged, or was written by an unknown version of its tool ({kind.name}: {reason})"
        raise FormatError(f"{words}; write it again, or give a table of the trials") from error


def _exists(place: Path) -> bool:
    """Whether a path exists; False for a name that the operating system does not accept."""
    try:
        return place.exists()
    except (OSError, ValueError):
        return False


def _is_folder(place: Path) -> bool:
    return _exists(place) and place.is_dir()


def is_log(place: str) -> bool:
    path = Path(place)
    return database_at(place) is not None or (_exists(path) and find_kind("path", path) is not None)


def is_url(text: str | os.PathLike[str]) -> bool:
    return isinstance(text, str) and "://" in text and not _exists(Path(text))


def check_no_pickle(place: Path) -> None:
    """Raise an error for a pickle, which is never loaded; the message shows how to convert an Optuna study."""
    if place.suffix.lower() not in PICKLES:
        return
    raise DataError(
        f"{place}: a pickle can run any program when it is loaded, so it is not read. If you trust the file and it is "
        f'an Optuna study, run `study = pickle.load(open({str(place)!r}, "rb"))` (or joblib.load) and '
        '`optuna.create_study(storage="sqlite:///study.db", directions=study.directions).add_trials(study.trials)`, '
        "then pass study.db. If the file holds other trials, save them as a table or as JSON"
    )


def check_known(place: Path) -> None:
    """Raise an error for files that cannot contain trials, such as Git LFS pointers and exported W&B charts."""
    try:
        with place.open("rb") as file:
            start = file.read(100)
    except OSError:
        return  # the reader reports the problem
    if start.startswith(LFS):
        remedy = f"fetch the file with `git lfs pull --include {shlex.quote(place.name)}`"
        raise DataError(f"{place} is a Git LFS pointer, not the file itself; {remedy}")
    if place.name in RUN_FILES:
        is_run, what = RUN_FILES[place.name]
        check_several(place.parent, is_run, what)
    suffix = place.suffix.lower()
    if suffix in DATABASES and not start:
        raise DataError(f"{place} is an empty database; nothing was written to it yet, or the path is wrong")
    if suffix in SHEETS:
        raise DataError(f"{place} is not a readable spreadsheet; save its table as CSV, or as .xlsx")
    names = peek_header(place) if suffix == ".csv" else []
    behind = [name for name in names if name.endswith(CHART)]
    if len(behind) >= 2 and 3 * len(behind) >= 2 * (len(names) - 1):
        words = f"{place} is an exported W&B chart, which contains no settings; export the runs table instead"
        raise DataError(f"{words} (in the W&B project, open Table, click the arrow, and choose CSV export)")
