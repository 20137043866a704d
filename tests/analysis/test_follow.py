"""Sources while they grow: what a reading at once would give, and every trial once."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages.journal import JournalFileBackend

from helpers.common import refuse
from helpers.followed import Tale, same
from helpers.mlflow_stores import STATUS, run, write_database, write_files
from helpers.proxy import proxy_to
from helpers.servers import mariadb_url, postgresql_url  # noqa: F401
from helpers.studies import TRIALS, fill_conditional, make, with_changed_range, with_moving_bounds
from helpers.tools import need
from pedanova.analysis.watched import follow
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.sources import read_records

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
RUNS = [
    run(f"r{n:03}", {"lr": n / 10, "opt": "adam" if n % 2 else "sgd"}, {"loss": float(n)}, status="RUNNING")
    for n in range(8)
]


def for_optuna(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'trials.db'}"
        return
    found = str(request.getfixturevalue(f"{request.param}_url"))
    held = optuna.storages.RDBStorage(for_optuna(found))
    for study in held.get_all_studies():
        held.delete_study(study._study_id)
    yield found
    held.engine.dispose()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "my trials.db"


def test_every_look_tells_what_a_reading_at_once_tells(url: str) -> None:
    study = make(for_optuna(url), "grows")
    tale = Tale(follow(url))
    for trials in (0, 1, 6):
        fill_conditional(study, trials)
        look = tale.look()
        same(tale.rows, read_records(url))
        assert look.running == 0
    assert tale.new == len(study.trials)
    assert tale.look().records is None, "nothing is new"
    assert not tale.events


@pytest.mark.parametrize("url", ["sqlite", "mariadb"], indirect=True)
def test_a_trial_is_taken_when_it_has_ended(url: str) -> None:
    study = make(for_optuna(url), "waits")
    tale = Tale(follow(url))
    early, late = study.ask(), study.ask()
    for trial in (early, late):
        trial.suggest_float("rate", 1e-5, 1.0, log=True)
    look = tale.look()
    assert (look.finished, look.running) == (TRIALS, 2)
    same(tale.rows, read_records(url))
    fill_conditional(study, 5)
    study.tell(late, 0.5)
    assert tale.look().new == 6
    same(tale.rows, read_records(url))
    study.tell(early, 0.25)  # it takes its place among the others, by its number
    assert tale.look().new == 1
    same(tale.rows, read_records(url))


def test_a_study_without_trials_is_waited_for(path: Path) -> None:
    study = optuna.create_study(storage=f"sqlite:///{path}")
    tale = Tale(follow(path))
    assert tale.look().records is None
    waiting = study.ask()
    assert tale.look().records is None, "it has no setting yet"
    fill_conditional(study, 3)
    assert tale.look().new == 3
    study.tell(waiting, 1.0)


@pytest.mark.parametrize("fill", [with_changed_range, with_moving_bounds])
def test_domains_that_change_between_two_looks(fill: object, path: Path) -> None:
    url = f"sqlite:///{path}"
    whole = fill(None)  # type: ignore[operator]
    study = optuna.create_study(storage=url, study_name=whole.study_name, directions=whole.directions)
    look_while_written(whole, study, path, every=7)


def test_several_objectives_and_constraints(path: Path) -> None:
    whole = make(None, "front", constrain=True)
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name="front", directions=whole.directions)
    study.set_metric_names(["error", "gain"])
    look_while_written(whole, study, path, every=11)


def look_while_written(whole: optuna.Study, study: optuna.Study, path: Path, *, every: int) -> None:
    """The trials of a study are copied to another one, with a look at every so many of them."""
    tale = Tale(follow(path))
    for trial in whole.trials:
        study.add_trial(trial)
        if trial.number % every == 0:
            tale.look()
    tale.look()
    same(tale.rows, read_records(path))


def test_values_on_the_way_are_those_of_the_rows(path: Path) -> None:
    study = make(f"sqlite:///{path}", "curves")
    tale = Tale(follow(path))
    waiting = study.ask()
    waiting.suggest_float("rate", 1e-5, 1.0, log=True)
    tale.look()
    fill_conditional(study, 10)
    waiting.report(3.5, 2)
    study.tell(waiting, 1.0)
    tale.look()
    one, other = tale.rows.curves, read_records(path).curves
    assert one is not None
    assert other is not None
    here, there = one.read("value"), other.read("value")
    assert here.rows.tolist() == there.rows.tolist()
    assert here.values.tolist() == there.values.tolist()


def test_a_trial_that_a_server_shows_late_is_not_missed(path: Path) -> None:
    """Two sessions draw keys 7 and 8, and that of 8 is finished first: so it is on servers."""
    study = make(f"sqlite:///{path}", "late")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trials SET study_id = 99 WHERE trial_id = 20")  # not to be seen yet
    database.close()
    tale = Tale(follow(path))
    assert tale.look().new == TRIALS - 1
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trials SET study_id = 1 WHERE trial_id = 20")
    database.close()
    assert tale.look().new == 1
    fill_conditional(study, 2)
    assert tale.look().new == 2
    same(tale.rows, read_records(path))


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_study_that_is_deleted_and_begun_anew(url: str) -> None:
    make(for_optuna(url), "again")
    tale = Tale(follow(url, study="again"))
    tale.look()
    optuna.delete_study(study_name="again", storage=for_optuna(url))
    assert (tale.look().event, tale.new) == ("shortened", 0)
    study = optuna.create_study(study_name="again", storage=for_optuna(url))
    fill_conditional(study, 5)
    assert tale.look().new == 5
    same(tale.rows, read_records(url))


def test_a_file_that_is_gone_and_comes_back(path: Path, tmp_path: Path) -> None:
    study = make(f"sqlite:///{path}", "moved")
    tale = Tale(follow(path))
    tale.look()
    away = tmp_path / "away.db"
    path.rename(away)
    refuse(DataError, "no such file", of=tale.look)
    away.rename(path)
    fill_conditional(study, 3)
    assert tale.look().new == 3
    other = tmp_path / "other.db"
    make(f"sqlite:///{other}", "moved")
    other.replace(path)
    assert tale.look().event == "shortened"
    same(tale.rows, read_records(path))


def test_a_server_that_goes_away_in_the_midst_of_looks(postgresql_url: str) -> None:  # noqa: F811
    """Wherever a look breaks off, nothing of it is taken, and the next one finds all of it."""
    held = optuna.storages.RDBStorage(for_optuna(postgresql_url))
    study = make(held, "cut off")
    broken = 0
    with proxy_to(postgresql_url) as proxy:
        tale = Tale(follow(proxy.url, study="cut off"))
        for most in (0, 300, 1_500, 3_000, 6_000, 12_000, 24_000, 48_000):
            proxy.sent, proxy.most = 0, most
            try:
                tale.look()
            except DataError:
                broken += 1
            proxy.most = None
            if most in (300, 6_000):
                tale.look()
            fill_conditional(study, 2)
        tale.look()
    assert broken >= 3
    assert tale.new == len(study.trials)
    same(tale.rows, read_records(postgresql_url, study="cut off"))
    held.engine.dispose()


def test_which_study(path: Path) -> None:
    for name in ("one", "two"):
        optuna.create_study(study_name=name, storage=f"sqlite:///{path}")
    refuse(DataError, "2 studies", "study=", of=follow(path).look)
    refuse(DataError, "no study called 'three'", of=follow(path, study="three").look)
    assert follow(path, study="two").look().finished == 0


def test_reading_changes_nothing_and_locks_nobody(path: Path) -> None:
    """A look in the midst of a writer's transaction waits for nothing, and the writer's commit does not fail."""
    make(f"sqlite:///{path}", "busy")
    writer = sqlite3.connect(path, timeout=0)  # it would fail at once
    tale = Tale(follow(path))
    for number in range(20):
        writer.execute("BEGIN IMMEDIATE")
        writer.execute(
            "INSERT INTO trial_user_attributes (trial_id, key, value_json) VALUES (1, ?, '1')", (str(number),)
        )
        tale.look()
        writer.commit()
        tale.look()
    writer.close()
    assert tale.new == TRIALS


# ── journals ────────────────────────────────────────────────────────────────────────────────────


def journal_study(path: Path, trials: int) -> optuna.Study:
    backend = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(storage=backend, study_name="one", sampler=optuna.samplers.RandomSampler(seed=0))
    fill_conditional(study, trials)
    return study


def test_a_journal_with_four_writers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    journal_study(path, 1)
    tale = Tale(follow(path))
    backends = [optuna.storages.JournalStorage(JournalFileBackend(str(path))) for _ in range(4)]
    studies = [optuna.load_study(study_name="one", storage=backend) for backend in backends]
    writers = [threading.Thread(target=fill_conditional, args=(study, 12)) for study in studies]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        tale.follow.look()
    final = follow(path).look()
    assert (final.finished, final.running) == (49, 0)
    assert final.records is not None
    same(final.records, read_records(path))


def test_a_journal_counts_trials_that_have_ended(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    study = journal_study(path, 0)
    followed = follow(path)
    assert followed.look().records is None, "no trial yet"
    trial = study.ask()
    trial.suggest_float("rate", 0.1, 1.0)
    look = followed.look()
    assert (look.records, look.finished, look.running) == (None, 0, 1)
    study.tell(trial, 1.0)
    look = followed.look()
    assert (look.new, look.finished, look.running) == (1, 1, 0)
    assert (followed.look().records, followed.ordered) == (None, True)


def test_a_damaged_journal_is_reported_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    study = journal_study(path, 3)
    tale = Tale(follow(path))
    tale.look()
    good = path.read_bytes()
    fill_conditional(study, 2)
    more = path.read_bytes()[len(good) :]
    path.write_bytes(good + b"what is this\n" + more)
    for _ in range(2):
        refuse(FormatError, "is not an operation", of=tale.look)
    path.write_bytes(good + more)
    tale.look()
    assert tale.new == 5
    same(tale.rows, read_records(path))
    path.write_bytes(b"".join(good.splitlines(keepends=True)[:20]))
    assert tale.follow.look().event == "shortened"


# ── MLflow ──────────────────────────────────────────────────────────────────────────────────────


def set_status(path: Path, key: str, status: str) -> None:
    """As MLflow does it: a new file in the place of the old one, or one update."""
    if path.is_file():
        store = sqlite3.connect(path)
        store.execute("UPDATE runs SET status = ? WHERE run_uuid = ?", (status, key))
        store.commit()
        store.close()
        return
    (meta,) = path.glob(f"*/{key}/meta.yaml")
    lines = [
        f"status: {STATUS[status]}" if line.startswith("status:") else line for line in meta.read_text().splitlines()
    ]
    fresh = meta.with_suffix(".tmp")
    fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
    fresh.replace(meta)


@pytest.fixture(params=[write_files, write_database], ids=["files", "SQLite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(request.param(tmp_path, {"mine": RUNS, "Default": []}))


def test_runs_of_mlflow_are_counted_as_they_end(store: Path) -> None:
    followed = follow(store)
    look = followed.look()
    assert (look.records, look.finished, look.running) == (None, 0, 8)
    for count, one in enumerate([RUNS[3], RUNS[0], *RUNS[4:]], start=1):
        set_status(store, one["key"], "FAILED" if count == 2 else "FINISHED")
        look = followed.look()
        assert (look.new, look.finished, look.running) == (1, count, 8 - count)
        assert followed.look().records is None
    for one in RUNS[1:3]:
        set_status(store, one["key"], "FINISHED")
    look = followed.look()
    assert look.new == 2
    assert look.records is not None
    same(look.records, read_records(store))


def test_an_mlflow_store_that_is_gone_for_a_while(store: Path, tmp_path: Path) -> None:
    for one in RUNS[:5]:
        set_status(store, one["key"], "FINISHED")
    followed = follow(store)
    followed.look()
    away = tmp_path / "away"
    store.rename(away)
    refuse(DataError, of=followed.look)
    away.rename(store)
    set_status(store, "r005", "FINISHED")
    look = followed.look()
    assert (look.new, look.finished) == (1, 6)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["folder", "SQLite", "PostgreSQL"])
def test_the_real_mlflow(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> None:
    monkeypatch.setitem(os.environ, "MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow: Any = need("mlflow")
    place: Any = tmp_path / ("mlruns" if kind == "folder" else "mlflow.db")
    address = place.as_uri() if kind == "folder" else f"sqlite:///{place}"
    if kind == "PostgreSQL":
        place = request.getfixturevalue("postgresql_url")
        address = for_optuna(place)
    mlflow.set_tracking_uri(address)
    mlflow.set_experiment("grows")

    def log(number: int) -> None:
        with mlflow.start_run():
            mlflow.log_params({"lr": number / 10, "opt": "adam" if number % 2 else "sgd"})
            mlflow.log_metric("loss", number, step=1)

    log(0)
    followed = follow(place, study="grows")
    followed.look()
    for number in range(1, 12):
        log(number)
        assert followed.look().new == 1
    with mlflow.start_run():
        mlflow.log_params({"lr": 5, "opt": "adam"})
        assert followed.look().running == 1
        mlflow.log_metric("loss", 3.0)
    look = followed.look()
    assert look.new == 1
    assert look.records is not None
    assert sorted(look.records.columns["loss"].values.tolist()) == sorted([*map(float, range(12)), 3.0])


# ── tables ──────────────────────────────────────────────────────────────────────────────────────


def table(rows: range, suffix: str) -> str:
    if suffix == "csv":
        return "lr,loss\n" + "".join(f"{row},{row}\n" for row in rows)
    lines = [json.dumps({"lr": row, "loss": row}) for row in rows]
    return "\n".join(lines) + "\n" if suffix == "jsonl" else f"[{', '.join(lines)}]"


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_tables_are_read_anew_when_they_change(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"trials.{suffix}"
    path.write_text(table(range(9), suffix), encoding="utf-8")
    tale = Tale(follow(path))
    assert tale.look().new == 9
    assert tale.look().records is None
    path.write_text(table(range(12), suffix), encoding="utf-8")
    assert tale.look().new == 3
    path.write_text("lr,loss\n1,2\n3\n" if suffix == "csv" else "{", encoding="utf-8")
    refuse(PedanovaError, of=tale.look)
    path.write_text(table(range(4), suffix), encoding="utf-8")
    assert tale.look().event == "shortened"
    assert tale.new == 4
    path.unlink()
    refuse(DataError, "waiting for it to come back", of=tale.look)
    path.write_text(table(range(5), suffix), encoding="utf-8")
    assert tale.look().new == 1
    same(tale.rows, read_records(path))
    path.write_text("", encoding="utf-8")
    assert tale.look().finished == 0
    path.write_text(table(range(3), suffix), encoding="utf-8")
    assert tale.look().new == 3


def test_what_cannot_be_followed(tmp_path: Path) -> None:
    refuse(DataError, "cannot be watched", of=lambda: follow({"a": [1]}))
    refuse(DataError, "does not exist", of=lambda: follow(tmp_path / "none.csv"))
    refuse(DataError, "several files", of=lambda: follow(f"{tmp_path}/*.csv"))
    (tmp_path / "x.pkl").write_bytes(b"")
    refuse(DataError, "pickle", of=lambda: follow(tmp_path / "x.pkl"))
