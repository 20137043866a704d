"""Optuna's studies from real servers, files and journals: the very numbers of the study object."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.storages.journal import JournalFileBackend

import pedanova as pa
from helpers.common import refuse
from helpers.servers import PASSWORD, mariadb_url, postgresql_url  # noqa: F401
from helpers.studies import ODD_NAME, TRIALS, fill_conditional, make, with_changed_range, with_moving_bounds
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.sources import read_records
from pedanova.sources.databases import sqlite_path, without_password

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def same(one: Records, other: Records) -> None:
    """Every column, and everything that is told."""
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        twin = other.columns[name]
        assert column.labels == twin.labels, name
        if column.values.dtype.kind == "f":
            np.testing.assert_allclose(column.values, twin.values, rtol=1e-12, atol=0, err_msg=name)
        else:
            np.testing.assert_array_equal(column.values, twin.values, err_msg=name)
        np.testing.assert_array_equal(column.absent(), twin.absent(), err_msg=name)
    assert one.metadata == other.metadata


def same_answers(one: object, other: object, **options: object) -> None:
    first, second = (pa.analyze(source, **options).importance(0.3, draws=0).to_dict() for source in (one, other))
    assert first["parameter"] == second["parameter"]
    np.testing.assert_allclose(first["ratio"], second["ratio"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(first["share"], second["share"], rtol=0, atol=1e-12)


def for_optuna(url: str) -> str:
    """The same database with drivers that Optuna's own library can load."""
    return url.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")


@pytest.fixture(params=["postgresql", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def fresh(url: str) -> Iterator[str]:
    """The database with no study in it."""
    storage = optuna.storages.RDBStorage(for_optuna(url))
    for study in storage.get_all_studies():
        storage.delete_study(study._study_id)
    yield url
    storage.engine.dispose()


@pytest.fixture
def filled(url: str) -> Iterator[str]:
    """The database with one study, which is written once: a trial is a dozen commits."""
    storage = optuna.storages.RDBStorage(for_optuna(url))
    names = {study.study_name: study._study_id for study in storage.get_all_studies()}
    for name in names.keys() - {"filled"}:
        storage.delete_study(names[name])
    if "filled" not in names:
        make(storage, "filled")
    yield url
    storage.engine.dispose()


class TestServers:
    def test_a_server_tells_what_the_study_tells(self, fresh: str) -> None:
        storage = optuna.storages.RDBStorage(for_optuna(fresh))
        names = {ODD_NAME: make(storage, ODD_NAME, constrain=True), "moving": with_moving_bounds(storage)}
        for name, study in names.items():
            same(read_records(study), read_records(fresh, study=name))
            same_answers(study, fresh, study=name)
        message = refuse(DataError, "2 studies", "study=", ODD_NAME, of=lambda: pa.analyze(fresh))
        assert "***" in message
        refuse(DataError, "'nope'", "choose one of", of=lambda: pa.analyze(fresh, study="nope"))

    def test_the_in_memory_study_gives_the_same_numbers(self, filled: str) -> None:
        same_answers(make(None, "filled"), filled)

    def test_wrong_passwords_and_places(self, url: str) -> None:
        from urllib.parse import quote

        hidden = quote(PASSWORD, safe="")
        for wrong in (
            url.replace(hidden, "WrongSecret"),
            url.replace("/trials", "/nowhere"),
            url.replace("127.0.0.1", "no-such-host.invalid"),
            url.partition("@")[0] + "@127.0.0.1:1/trials",
            url.replace("ann:", "nobody:"),
        ):
            message = refuse(DataError, of=lambda wrong=wrong: pa.analyze(wrong))
            assert hidden not in message
            assert PASSWORD not in message
            assert "WrongSecret" not in message

    def test_nothing_is_written(self, filled: str) -> None:
        from pedanova.sources.databases import open_database

        with open_database(filled) as database:
            refuse(
                DataError, "transaction", of=lambda: database.rows("DELETE FROM trial_params WHERE param_id > ?", (0,))
            )
        assert read_records(filled).rows == TRIALS

    def test_reading_while_another_process_writes(self, filled: str) -> None:
        study = optuna.load_study(study_name="filled", storage=for_optuna(filled))
        reads_while_writing(study, filled)

    def test_a_database_without_tables_of_optuna(self, url: str) -> None:
        from sqlalchemy import create_engine, text

        empty = url.replace("/trials", "/nothing")
        engine = create_engine(for_optuna(url), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("CREATE DATABASE nothing"))
        engine.dispose()
        refuse(FormatError, "without tables", of=lambda: pa.analyze(empty))


def reads_while_writing(study: optuna.Study, source: object) -> None:
    """Answers come, and every ended trial is whole."""
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            fill_conditional(study, 1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        last = 0
        for _ in range(10):
            records = read_records(source)
            assert records.rows >= last >= 0
            last = records.rows
            states = records.columns["state"]
            complete = np.array([states.value_at(row) == "COMPLETE" for row in range(records.rows)])
            for name in ("rate", "depth", "drop", "width", "value"):
                assert not records.columns[name].absent()[complete].any(), name
            time.sleep(0.05)
    finally:
        stop.set()
        writer.join()


def digest(*paths: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def as_before_2_4(path: Path, *, numbered: bool) -> None:
    """The tables of a study as Optuna 0.19 to 2.3 made them, from those of today."""
    infinite = "CASE value_type WHEN 'INF_POS' THEN 9e999 WHEN 'INF_NEG' THEN -9e999 ELSE value END"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            f"""
            ALTER TABLE studies ADD COLUMN direction VARCHAR(8);
            UPDATE studies SET direction = (SELECT direction FROM study_directions);
            ALTER TABLE trials ADD COLUMN value FLOAT;
            UPDATE trials SET value = (SELECT {infinite} FROM trial_values v WHERE v.trial_id = trials.trial_id);
            DROP TABLE study_directions;
            DROP TABLE trial_values;
            CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, step INTEGER, value FLOAT);
            INSERT INTO trial_values (trial_id, step, value)
                SELECT trial_id, step, intermediate_value FROM trial_intermediate_values;
            DROP TABLE trial_intermediate_values;
            """
        )
        if not numbered:
            connection.execute("ALTER TABLE trials DROP COLUMN number")


class TestSQLite:
    @pytest.fixture(scope="class")
    def path(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        path = tmp_path_factory.mktemp("a folder, with % and #") / "my studies.db"
        make(f"sqlite:///{path}", ODD_NAME)
        return path

    def test_a_file_tells_what_the_study_tells(self, path: Path) -> None:
        study = optuna.load_study(storage=f"sqlite:///{path}", study_name=ODD_NAME)
        before, listing = digest(path), sorted(path.parent.iterdir())
        for source in (path, str(path), f"sqlite:///{path}"):
            same(read_records(study), read_records(source))
            same_answers(study, source)
        assert digest(path) == before
        assert sorted(path.parent.iterdir()) == listing

    def test_a_file_that_may_only_be_read(self, path: Path, tmp_path: Path) -> None:
        copy = tmp_path / "locked.db"
        copy.write_bytes(path.read_bytes())
        copy.chmod(0o400)
        same(read_records(path), read_records(copy))

    def test_a_write_ahead_log(self, path: Path, tmp_path: Path) -> None:
        copy = tmp_path / "wal.db"
        copy.write_bytes(path.read_bytes())
        writer = sqlite3.connect(copy)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE studies SET study_name = 'other'")
        writer.commit()
        before = digest(copy)
        assert read_records(copy).metadata.source == "Optuna study 'other'"  # what is in the log counts
        assert digest(copy) == before
        writer.close()

    def test_a_file_locked_by_another(self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from pedanova.sources import databases

        copy = tmp_path / "busy.db"
        copy.write_bytes(path.read_bytes())
        monkeypatch.setattr(databases, "PATIENCE", 0.2)
        writer = sqlite3.connect(copy, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        refuse(DataError, "locked", "try again", of=lambda: read_records(f"sqlite:///{copy}"))
        writer.execute("ROLLBACK")
        same(read_records(path), read_records(copy))
        writer.close()

    def test_reading_while_another_process_writes(self, tmp_path: Path) -> None:
        path = tmp_path / "busy.db"
        study = make(f"sqlite:///{path}", "busy")
        reads_while_writing(study, path)

    @pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
    def test_damaged_files(self, path: Path, tmp_path: Path, part: float) -> None:
        whole = path.read_bytes()
        cut = tmp_path / "cut.db"
        cut.write_bytes(whole[: int(len(whole) * part)])
        refuse(PedanovaError, "cut.db", of=lambda: pa.analyze(f"sqlite:///{cut}"))
        for seed in range(7):
            rng = np.random.default_rng(seed)
            spoilt = bytearray(whole)
            for place in rng.integers(100, len(spoilt), 2000):
                spoilt[place] = rng.integers(256)
            cut.write_bytes(spoilt)
            with suppress(PedanovaError):  # nothing else may come of it
                pa.analyze(f"sqlite:///{cut}").importance(draws=0, force=True)

    def test_files_that_are_something_else(self, tmp_path: Path) -> None:
        text, empty, other = tmp_path / "text.db", tmp_path / "empty.db", tmp_path / "other.db"
        text.write_text("no database")
        empty.write_bytes(b"")
        with sqlite3.connect(other) as connection:
            connection.execute("CREATE TABLE things (a, b)")
        for path, words in ((text, "not a SQLite"), (empty, "without tables"), (other, "things")):
            refuse(FormatError, words, of=lambda path=path: pa.analyze(f"sqlite:///{path}"))
            refuse(PedanovaError, path.name, of=lambda path=path: pa.analyze(path))
        refuse(DataError, "no such file", of=lambda: pa.analyze("sqlite:///nowhere/at/all.db"))
        refuse(DataError, "contains no file name", of=lambda: pa.analyze("sqlite://"))
        refuse(DataError, "is a folder", of=lambda: pa.analyze(f"sqlite:///{tmp_path}"))

    def test_storages_of_other_versions(self, path: Path, tmp_path: Path) -> None:
        """Without the types of values, as before 3.0; without directions, as before 2.4; a column renamed."""
        copy = tmp_path / "old.db"
        copy.write_bytes(path.read_bytes())
        with sqlite3.connect(copy) as connection:
            connection.execute("UPDATE trial_values SET value = NULL WHERE value_type != 'FINITE'")
            connection.execute("ALTER TABLE trial_values DROP COLUMN value_type")
            connection.execute("DROP TABLE trial_intermediate_values")
            connection.execute("DROP TABLE trial_user_attributes")
        assert read_records(copy).columns["value"].absent().sum() > 0
        with sqlite3.connect(copy) as connection:
            connection.execute("ALTER TABLE trial_params RENAME COLUMN distribution_json TO distribution")
        refuse(
            FormatError, "trial_params has no column distribution_json", "trials_dataframe", of=lambda: pa.analyze(copy)
        )

    @pytest.mark.parametrize("numbered", [True, False])
    @pytest.mark.parametrize("name", ["old.db", "old.log", "old.json", "old"])
    def test_storages_before_2_4(self, path: Path, tmp_path: Path, name: str, numbered: bool) -> None:
        """The direction stands with the study, the value with the trial, reports in trial_values."""
        copy = tmp_path / name
        copy.write_bytes(path.read_bytes())
        as_before_2_4(copy, numbered=numbered)
        before = digest(copy)
        same(read_records(path), read_records(copy))
        same_answers(path, copy)
        assert digest(copy) == before
        assert read_records(copy).metadata.directions == ("minimize",)
        read, twin = (read_records(one).curves for one in (path, copy))
        assert read is not None
        assert twin is not None
        np.testing.assert_array_equal(read.read("value").values, twin.read("value").values)
        with sqlite3.connect(copy) as connection:
            connection.execute("UPDATE studies SET direction = 'MAXIMIZE'")
        assert read_records(copy).metadata.directions == ("maximize",)

    def test_many_rows_of_others_cost_nothing(self, path: Path, tmp_path: Path) -> None:
        """Attributes too long to be read, in a study that nobody asked for and in ours."""
        copy = tmp_path / "big.db"
        copy.write_bytes(path.read_bytes())
        with sqlite3.connect(copy) as connection:
            connection.execute("INSERT INTO studies VALUES (99, 'huge')")
            connection.execute("INSERT INTO trials (trial_id, number, study_id, state) VALUES (9999, 0, 99, 'FAIL')")
            blob = json.dumps("x" * 1_000_000)
            connection.executemany(
                "INSERT INTO trial_user_attributes (trial_id, key, value_json) VALUES (?, ?, ?)",
                [(9999, f"key {i}", blob) for i in range(50)] + [(1, "log", blob)],
            )
        import tracemalloc

        tracemalloc.start()
        records = read_records(copy, study=ODD_NAME)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        tracemalloc.stop()
        same(read_records(path), records)

    def test_no_study_and_no_trial(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path / 'none.db'}"
        storage = optuna.storages.RDBStorage(url)
        refuse(DataError, "no study yet", of=lambda: pa.analyze(url))
        study = optuna.create_study(storage=storage, study_name="young")
        refuse(DataError, "young", "no trials", of=lambda: pa.analyze(url))
        study.optimize(lambda _: 1.0, n_trials=3)
        refuse(DataError, "none has a parameter", of=lambda: pa.analyze(url))


class TestDomains:
    def test_ranges_that_move_or_switch(self) -> None:
        a = pa.analyze(with_moving_bounds(None))
        assert a.space["inner"] == pa.Moving("inner low", "inner high")
        assert isinstance(a.space["layers"], pa.Switch)
        assert a.space["layers"].by == "model"
        assert a.direction == "maximize"
        found = a.importance(estimator="counts", draws=0)
        assert next(iter(found)) == "inner"  # the position decides, not the value
        assert found["inner"].ratio > 0.6

    def test_a_range_that_was_changed(self) -> None:
        a = pa.analyze(with_changed_range(None))
        assert a.space["x"] == pa.Float(0.0, 2.0)
        assert any("range changed" in note for note in a.notes)

    def test_constraints_and_several_objectives(self) -> None:
        study = make(None, "c", constrain=True)
        a = pa.analyze(study)
        assert a.data.observations is not None
        assert [(goal.name, goal.direction) for goal in a.data.observations.goals] == [
            ("error", "minimize"),
            ("gain", "maximize"),
        ]
        infeasible = sum(trial.params["x"] + trial.params["y"] > 0.8 for trial in study.trials)
        assert any(note.startswith(f"{infeasible} of {len(study.trials)} rows are infeasible") for note in a.notes)
        alone = pa.analyze(study, objective="gain")
        assert alone.direction == "maximize"
        assert set(alone.space) == {"x", "y"}

    def test_pruned_trials_count_with_their_last_value(self) -> None:
        study = make(None, "p")
        pruned = [trial for trial in study.trials if trial.state.name == "PRUNED"]
        a, b = pa.analyze(study), pa.analyze(study, reading=pa.Reading(pruned="last"))
        assert len(b) == len(a) + len(pruned)

    def test_other_columns_can_be_the_objective(self) -> None:
        study = make(None, "u")
        a = pa.analyze(study, objective="user_attrs_accuracy", direction="maximize")
        assert next(iter(a.importance(0.3, estimator="counts", draws=0))) == "rate"
        assert len(pa.analyze(study, objective="duration")) > TRIALS // 2
        assert pa.analyze(study, exclude=["rate"], params=None).space.keys() == a.space.keys() - {"rate"}
        refuse(PedanovaError, "'value'", of=lambda: pa.analyze(study, exclude=["value"]))
        assert len(pa.analyze(study, where="last_step >= 5 and depth > 3")) < len(a)
        begin = study.trials[len(study.trials) // 2].datetime_start
        assert begin is not None
        later = (one.state.name for one in study.trials if one.datetime_start and one.datetime_start >= begin)
        assert len(pa.analyze(study, where=f"datetime_start >= '{begin}'")) == [*later].count("COMPLETE")


class TestJournals:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "journal.log"

    @staticmethod
    def storage(path: Path) -> optuna.storages.JournalStorage:
        return optuna.storages.JournalStorage(JournalFileBackend(str(path)))

    def test_a_journal_tells_what_the_study_tells(self, path: Path) -> None:
        storage = self.storage(path)
        make(storage, "gone")
        optuna.delete_study(study_name="gone", storage=storage)
        study, other = make(storage, ODD_NAME), make(storage, "constrained", constrain=True)
        changed = with_changed_range(storage)  # trials added whole
        before = digest(path)
        for one in (study, other, changed):
            same(read_records(one), read_records(path, study=one.study_name))
            same_answers(one, path, study=one.study_name)
        refuse(DataError, "3 studies", "study=", of=lambda: pa.analyze(path))
        assert digest(path) == before

    def test_half_a_line_at_the_end(self, path: Path) -> None:
        make(self.storage(path), "half")
        whole = read_records(path)
        with path.open("ab") as log:
            log.write(b'{"op_code": 4, "worker_id": "x", "study')
        records = read_records(path)
        assert any("still being written" in note for note in records.notes)
        same(whole, records)
        with path.open("ab") as log:
            log.write(b"\n")
        refuse(FormatError, "line", "correct or remove", of=lambda: pa.analyze(path))

    def test_reading_while_another_process_writes(self, path: Path) -> None:
        reads_while_writing(make(self.storage(path), "busy"), path)

    def test_spoilt_journals(self, path: Path) -> None:
        make(self.storage(path), "spoilt")
        whole = path.read_bytes()
        for seed in range(24):
            rng = np.random.default_rng(seed)
            lines = whole.splitlines(keepends=True)
            place = int(rng.integers(1, len(lines)))
            line = json.loads(lines[place])
            key = list(line)[int(rng.integers(len(line)))]
            line[key] = [None, "x", -1, 1e99, [], {}][int(rng.integers(6))]
            lines[place] = json.dumps(line).encode() + b"\n"
            path.write_bytes(b"".join(lines))
            with suppress(PedanovaError):  # nothing else may come of it
                pa.analyze(path).importance(draws=0, force=True)


class TestURLs:
    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("postgresql://ann:secret@host/db", "postgresql://ann:***@host/db"),
            ("mysql+pymysql://ann:p@ss:w@host:3306/db?password=x", "mysql+pymysql://ann:***@host:3306/db"),
            ("sqlite:///a b.db", "sqlite:///a b.db"),
            ("postgresql://host/db", "postgresql://host/db"),
        ],
    )
    def test_passwords_are_hidden(self, url: str, shown: str) -> None:
        assert without_password(url) == shown

    def test_paths_in_urls(self) -> None:
        assert sqlite_path("sqlite:///a/b.db") == Path("a/b.db")
        assert sqlite_path("sqlite:////a/b.db?mode=ro") == Path("/a/b.db")

    @pytest.mark.parametrize(
        "url", ["http://host/db", "postgresql://", "postgresql://host", "mysql://host:port/db", "redis://h/0"]
    )
    def test_urls_that_cannot_be_read(self, url: str) -> None:
        refuse(PedanovaError, of=lambda: pa.analyze(url))
