"""Databases of NNI, with the tables that NNI 1 and NNI 3 create."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate
from pedanova.errors import FormatError, NoTrialsError, SpaceError
from pedanova.sources import read_records

OLD = """CREATE TABLE TrialJobEvent (timestamp integer, trialJobId text, event text, data text, logPath text,
sequenceId integer);
CREATE TABLE MetricData (timestamp integer, trialJobId text, parameterId text, type text, sequence integer, data text);
CREATE TABLE ExperimentProfile (params text, id text, execDuration integer, startTime integer, endTime integer,
logDir text, nextSequenceId integer, revision integer);"""
NEW = OLD.replace("sequenceId integer", "sequenceId integer, message text, environmentId text")
SPACE = {
    "lr": {"_type": "loguniform", "_value": [1e-4, 1e-1]},
    "units": {"_type": "choice", "_value": [16, 32, 64]},
    "opt": {"_type": "choice", "_value": ["adam", "sgd"]},
    "depth": {"_type": "randint", "_value": [1, 5]},
    "rate": {"_type": "quniform", "_value": [0, 1, 0.25]},
}
ENDS = {3: "FAILED", 4: "EARLY_STOPPED", 5: "USER_CANCELED", 6: None}
START = 1_700_000_000_000


def experiment(folder: Path, schema: str = NEW, params: object = None, trials: int = 40) -> Path:
    """An experiment in which most trials succeed; NNI 1 writes metrics as JSON, NNI 3 as JSON inside of JSON."""
    draw, twice = random.Random(0), schema == NEW
    file = folder / "db" / "nni.sqlite"
    file.parent.mkdir(parents=True)
    if params is None:
        tuner = {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}}
        params = {"experimentName": "mnist", "searchSpace": SPACE if twice else json.dumps(SPACE), "tuner": tuner}

    def written(value: object) -> str:
        return json.dumps(json.dumps(value)) if twice else json.dumps(value)

    with closing(sqlite3.connect(file)) as database:
        database.executescript(schema)
        database.execute("INSERT INTO ExperimentProfile VALUES ('{}', 'x', 0, 0, 0, '', 0, 0)")
        database.execute("INSERT INTO ExperimentProfile VALUES (?, 'x', 0, 0, 0, '', 0, 7)", (json.dumps(params),))

        def event(key: str, time: int, word: str, data: str | None = None) -> None:
            cells = ", NULL" * (5 if twice else 3)
            database.execute(f"INSERT INTO TrialJobEvent VALUES (?, ?, ?{cells})", (START + time, key, word))
            database.execute("UPDATE TrialJobEvent SET data = ? WHERE rowid = last_insert_rowid()", (data,))

        def metric(key: str, time: int, kind: str, step: int, value: object) -> None:
            row = (START + time, key, "0", kind, step, written(value))
            database.execute("INSERT INTO MetricData VALUES (?, ?, ?, ?, ?, ?)", row)

        event("", 0, "ADD_CUSTOMIZED", '{"parameters": {"lr": 1}}')
        for number in range(trials):
            settings = {
                "lr": 10 ** draw.uniform(-4, -1), "units": draw.choice([16, 32, 64]), "depth": draw.randint(1, 4),
                "opt": draw.choice(["adam", "sgd"]), "rate": draw.randrange(5) / 4,
            }  # fmt: skip
            key, time, accuracy = f"t{number:02}", 60_000 * number, 1 - settings["lr"]
            event(key, time, "WAITING", json.dumps({"parameter_id": number, "parameters": settings}))
            event(key, time + 1000, "RUNNING")
            for step in range(3):
                metric(key, time + 1000 + step, "PERIODICAL", step, accuracy - (2 - step) / 10)
            end = ENDS.get(number % 10, "SUCCEEDED")
            if end == "SUCCEEDED":
                metric(
                    key,
                    time + 4000,
                    "FINAL",
                    0,
                    {"default": accuracy, "loss": 1 - accuracy} if number % 2 else accuracy,
                )
            if end is not None:
                event(key, time + 5000, end)
        database.commit()
    return folder


@pytest.mark.parametrize("schema", [OLD, NEW], ids=["old", "new"])
def test_an_experiment(tmp_path: Path, schema: str) -> None:
    folder = experiment(tmp_path / "h7zbmk0u", schema)
    records = read_untouched(folder)
    assert records.metadata.source == "NNI experiment 'mnist'"
    assert records.metadata.objectives == ("default",)
    assert records.metadata.directions == ("maximize",)
    assert records.metadata.space is not None
    assert dict(records.metadata.space) == {
        "lr": pa.Float(1e-4, 1e-1, log=True), "units": pa.Ordinal((16, 32, 64)), "opt": pa.Categorical(("adam", "sgd")),
        "depth": pa.Int(1, 4), "rate": pa.Ordinal((0.0, 0.25, 0.5, 0.75, 1.0)),
    }  # fmt: skip
    assert cells(records, "state")[:8] == ["COMPLETE"] * 3 + ["FAIL", "PRUNED", "RUNNING", "RUNNING", "COMPLETE"]
    assert cells(records, "default")[0] == pytest.approx(1 - cells(records, "lr")[0])
    assert cells(records, "loss")[:2] == pytest.approx([None, cells(records, "lr")[1]])
    assert cells(records, "start")[1] == "2023-11-14T22:14:21"
    assert cells(records, "duration")[0] == 4
    assert records.curves is not None
    curve = records.curves.read("default")
    assert curve.at(1, records.rows)[:2] == pytest.approx([0.9 - lr for lr in cells(records, "lr")[:2]])
    a = pa.analyze(folder / "db" / "nni.sqlite", where="start >= '2023-11-14T22:20'")
    assert len(a) == 21
    assert list(a.space) == list(SPACE)


def test_without_a_profile(tmp_path: Path) -> None:
    """Without a mode the direction is asked for; a space that cannot be read is guessed."""
    normal = {"lr": {"_type": "normal", "_value": [0, 1]}}
    folder = experiment(tmp_path, params={"searchSpace": normal})
    records = read_records(folder)
    assert records.metadata.directions == ()
    assert records.metadata.space is None
    assert any("normal with [0, 1] has no bounds" in str(note) for note in records.notes)
    with closing(sqlite3.connect(folder / "db" / "nni.sqlite")) as database:
        database.execute("DROP TABLE ExperimentProfile")
    assert read_records(folder).rows == 40


def test_a_space_beside_a_table(tmp_path: Path) -> None:
    """NNI's search_space.json is a file for `--space`, and is found beside a table."""
    file = tmp_path / "search_space.json"
    file.write_text(json.dumps(SPACE))
    assert list(pa.space_from(file)) == list(SPACE)
    nested = {"layer": {"_type": "choice", "_value": [{"_name": "conv", "size": {"_type": "choice", "_value": [1]}}]}}
    refuse(SpaceError, "layer", "nested spaces of NNI cannot be read", of=lambda: pa.space_from(nested))


def test_no_trials(tmp_path: Path) -> None:
    refuse(
        NoTrialsError, "NNI experiment 'mnist' holds no trials", of=lambda: pa.analyze(experiment(tmp_path, trials=0))
    )


def damage(change: Callable[[sqlite3.Connection], object], folder: Path) -> None:
    with closing(sqlite3.connect(folder / "db" / "nni.sqlite")) as database:
        change(database)
        database.commit()


def test_damaged_databases(tmp_path: Path) -> None:
    folder = experiment(tmp_path)
    damage(lambda database: database.execute("UPDATE MetricData SET data = 'x' WHERE rowid = 4"), folder)
    refuse(FormatError, "the metric 'x' is not JSON", of=lambda: read_records(folder))
    damage(lambda database: database.execute("UPDATE TrialJobEvent SET data = '{'"), folder)
    damage(lambda database: database.execute("DELETE FROM MetricData"), folder)
    refuse(FormatError, "none of 40 trials has settings that can be read", of=lambda: read_records(folder))
    draw, odd = random.Random(0), (None, "", "{", "[1]", "1e999", b"\xff", -1, '{"parameters": 5}', '"\\"x\\""')
    names = {"TrialJobEvent": ("timestamp", "trialJobId", "event", "data"), "ExperimentProfile": ("params",),
             "MetricData": ("timestamp", "trialJobId", "type", "sequence", "data")}  # fmt: skip
    for number in range(40):
        folder = experiment(tmp_path / str(number), trials=12)
        table = draw.choice(list(names))
        query = f"UPDATE {table} SET {draw.choice(names[table])} = ? WHERE rowid % ? = 0"
        values = (draw.choice(odd), draw.randint(1, 3))
        damage(lambda database, query=query, values=values: database.execute(query, values), folder)
        tolerate(lambda folder=folder: pa.analyze(folder, scan=pa.Scan(threads=1)))
