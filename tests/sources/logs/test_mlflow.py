"""MLflow stores, as files and as SQLite, in the shape of the real ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, prints, read_untouched, tolerate, write
from helpers.mlflow_stores import run, write_database, write_files
from pedanova.errors import DataError, FormatError, PedanovaError, QueryError
from pedanova.sources import databases, read_records
from pedanova.sources.logs import mlflow

Store = Callable[..., Path]


@pytest.fixture(params=[write_files, write_database], ids=["files", "SQLite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Writes the same experiments in either way."""
    return lambda *content, **options: request.param(tmp_path, *content, **options)


RUNS = [
    run(
        f"r{n}", {"lr": n / 10, "opt": "adam" if n % 2 else "sgd", "net/depth": n % 3, "fixed": "x"}, {"loss": float(n)}
    )
    for n in range(6)
]


def test_one_experiment(store: Store) -> None:
    records = read_untouched(store({"it's; ü": RUNS, "Default": []}))
    assert records.metadata.source == 'MLflow experiment "it\'s; ü"'
    assert set(records.metadata.params) == {"lr", "opt", "net/depth"}
    assert records.metadata.objectives == records.metadata.metrics == ("loss",)
    assert records.columns["lr"].values.dtype.kind == "f"  # text in the store, numbers all the same
    assert records.columns["net/depth"].values.dtype.kind == "i"
    assert cells(records, "loss") == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert cells(records, "run_name") == ["a: 'b'"] * 6
    assert "parameters with the same value in every trial are left out: fixed" in records.notes


def test_text_among_numbers(store: Store) -> None:
    runs = [run("a", {"depth": 3, "w": "x"}, {"m": 1.0}), run("b", {"depth": "None", "w": "3"}, {"m": 2.0})]
    records = read_records(store({"e": [*runs, run("c", {"depth": 5, "w": "x"}, {"m": 2.0})]}))
    assert cells(records, "depth") == [3, None, 5]
    assert cells(records, "w") == ["x", "3", "x"]


def test_the_direction_is_named_as_a_guess(store: Store) -> None:
    a = pedanova.analyze(store({"e": RUNS}), "loss", scan=pedanova.Scan(threads=1))
    assert "loss is minimised, guessed from its name; pass direction='max' if higher is better" in " ".join(a.notes)


def test_states_and_deleted_runs(store: Store) -> None:
    words = ["FINISHED", "FAILED", "KILLED", "RUNNING", "SCHEDULED", "FINISHED"]
    runs = [one | {"status": word} for one, word in zip(RUNS, words, strict=True)]
    runs[5]["stage"] = "deleted"
    gone = [one | {"key": f"s{one['key']}"} for one in RUNS]
    records = read_records(store({"e": runs, "gone": gone}, stages={"gone": "deleted"}))
    assert cells(records, "state") == words[:5]


def test_several_experiments(store: Store) -> None:
    other = [one | {"key": f"s{one['key']}"} for one in RUNS[:4]]
    path = store({"one": RUNS, "two; 'x'": other, "empty": []})
    refuse(DataError, "2 experiments", "study=", "one (6 runs)", "two; 'x' (4 runs)", of=lambda: read_records(path))
    assert read_records(path, study="two; 'x'").rows == 4
    assert read_records(path, study="2").rows == 4
    refuse(DataError, "'three'", "one (6 runs)", of=lambda: read_records(path, study="three"))
    refuse(DataError, "but none has parameters", of=lambda: read_records(path, study="empty"))


def test_parents_and_bare_runs(store: Store) -> None:
    children = [one | {"parent": "top"} for one in RUNS]
    steps = [run("step", {}, {"loss": 1.0}, parent="r0")]
    top = run("top", {"grid": "large"}, {"best": 0.0})
    records = read_records(store({"e": [top, *children, *steps]}))
    assert records.rows == 6
    assert "1 run is the parent of other runs; left out" in records.notes
    assert "1 run has no parameters; left out" in records.notes


def test_odd_metrics(store: Store) -> None:
    values = [float("nan"), float("inf"), float("-inf"), 1.0, 2.0, 3.0]
    runs = [one | {"metrics": {"loss": value, "system/cpu": 1.0}} for one, value in zip(RUNS, values, strict=True)]
    records = read_records(store({"e": runs}))
    assert cells(records, "loss") == [None, float("inf"), float("-inf"), 1.0, 2.0, 3.0]
    assert records.metadata.metrics == ("loss",)


def test_several_metrics_must_be_chosen_from(store: Store) -> None:
    path = store({"e": [one | {"metrics": {"a": 1.0, "b": float(n)}} for n, one in enumerate(RUNS)]})
    refuse(QueryError, "objective=", "a, b", of=lambda: pedanova.analyze(path))
    assert pedanova.analyze(path, "b", scan=pedanova.Scan(threads=1)).objective == "b"


def test_nothing_inside(store: Store) -> None:
    path = store({"e": [], "f": []})
    refuse(DataError, "no run", of=lambda: read_records(path))


def test_no_run_has_parameters(store: Store) -> None:
    path = store({"e": [run("a", {}, {"m": 1.0})]})
    refuse(DataError, "but none has parameters", "log_params", of=lambda: read_records(path))


# ── files ───────────────────────────────────────────────────────────────────────────────────────


def test_places_around_the_store(tmp_path: Path) -> None:
    store = write_files(tmp_path, {"one": RUNS})
    for place in (tmp_path, store, store / "1"):
        assert read_untouched(place).rows == 6
    assert read_records(f"file://{store}").rows == 6
    refuse(DataError, "single MLflow run", str(store / "1"), of=lambda: read_records(store / "1" / "r0"))
    (store / "1" / "meta.yaml").unlink()
    assert read_records(store).metadata.source == "MLflow experiment '1'"
    assert read_records(store, study="1").rows == 6


def test_odd_files(tmp_path: Path) -> None:
    place = write_files(tmp_path, {"one": RUNS}) / "1" / "r0"
    write(place / "metrics" / "loss", "1767 0.25\n")  # without a step, as old versions wrote it
    write(place / "metrics" / "half", "1767")
    write(place / "metrics" / "empty", "")
    records = read_records(tmp_path)
    assert cells(records, "loss")[0] == 0.25
    assert "half" not in records.columns
    write(place / "meta.yaml", "status: x\n")
    assert cells(read_records(tmp_path), "state")[0] == "FAIL"
    write(place / "meta.yaml", "")
    assert cells(read_records(tmp_path), "state")[0] == "RUNNING"
    (place / "params" / "lr").write_bytes(b"\xff")
    refuse(FormatError, "lr", "UTF-8", of=lambda: read_records(tmp_path))


def test_runs_that_lost_their_empty_folders(tmp_path: Path) -> None:
    """git keeps no empty folders; an experiment may have tags as well."""
    store = write_files(tmp_path, {"one": [*RUNS, run("bare", {}, {})]})
    (store / "1" / "bare" / "params").rmdir()
    (store / "1" / "bare" / "metrics").rmdir()
    write(store / "1" / "tags" / "mlflow.note.content", "text")
    assert "1 run has no parameters; left out" in read_records(store).notes


def test_meta_yaml() -> None:
    text = "a: 'it''s'\nb: \"x \\u00fc\"\nc: \"\\q\"\nd: plain: text\ne: null\nf: long\n  text\nno colon\n"
    assert mlflow._parse_meta(text) == {
        "a": "it's", "b": "x ü", "c": "\\q", "d": "plain: text", "e": "", "f": "long text",
    }  # fmt: skip


@settings(max_examples=30)
@given(part=st.sampled_from(["meta.yaml", "params/lr", "metrics/loss"]), content=st.text(max_size=30) | st.binary())
def test_any_file(tmp_path_factory: pytest.TempPathFactory, part: str, content: str | bytes) -> None:
    root = tmp_path_factory.mktemp("odd")
    place = write_files(root, {"one": RUNS}) / "1" / "r0" / part
    data = content if isinstance(content, bytes) else content.encode(errors="replace")
    place.write_bytes(data)
    tolerate(lambda: pedanova.analyze(root, "loss", scan=pedanova.Scan(threads=1)))


# ── SQLite ──────────────────────────────────────────────────────────────────────────────────────


def test_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_database(tmp_path, {"e": RUNS})
    plain = path.rename(tmp_path / "mlflow.db")
    assert read_records(f"sqlite:///{plain}").rows == 6
    monkeypatch.chdir(tmp_path)
    assert read_records("sqlite:///mlflow.db").rows == 6
    refuse(DataError, "sqlite", of=lambda: read_records("sqlite:///missing.db"))
    refuse(DataError, "does not exist", of=lambda: read_records("file:///missing/mlruns"))
    refuse(DataError, "sqlite", of=lambda: read_records("sqlite:///a\0b"))


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "optuna.db"
    with sqlite3.connect(path) as store:
        store.execute("CREATE TABLE studies (study_id INTEGER)")
        store.execute("CREATE TABLE trials (trial_id INTEGER)")
    store.close()
    refuse(FormatError, "unknown tool", "studies, trials", of=lambda: read_records(path))
    for content in (b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000):
        path.write_bytes(content)
        refuse(PedanovaError, "optuna.db", of=lambda: read_records(path))


@pytest.mark.parametrize("part", [0.2, 0.5, 0.8, 0.95])
def test_a_damaged_store(tmp_path: Path, part: float) -> None:
    path = write_database(tmp_path, {"e": RUNS})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    tolerate(lambda: read_records(path))
    path.write_bytes(whole[: len(whole) // 2] + b"\xab" * (len(whole) - len(whole) // 2))
    tolerate(lambda: read_records(path))


def test_a_locked_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_database(tmp_path, {"e": RUNS})
    monkeypatch.setattr(databases, "PATIENCE", 0.2)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    refuse(DataError, "locked", "try again", of=lambda: read_records(path))
    writer.execute("ROLLBACK")
    assert read_records(path).rows == len(RUNS)
    writer.close()


def test_values_of_odd_types(tmp_path: Path) -> None:
    path = write_database(tmp_path, {"e": RUNS})
    with sqlite3.connect(path) as store:
        store.execute("UPDATE params SET value = NULL WHERE run_uuid = 'r0'")
        store.execute("UPDATE params SET value = x'ff' WHERE run_uuid = 'r1' AND key = 'opt'")
        store.execute("UPDATE latest_metrics SET value = 'text' WHERE run_uuid = 'r2'")
    store.close()
    before = prints(tmp_path)
    records = read_records(path)
    assert cells(records, "lr")[0] is None
    assert cells(records, "loss")[2] is None
    assert prints(tmp_path) == before


UI = ("Start Time", "Duration", "Run ID", "Name", "Source Type", "Source Name", "User", "Status")


def exported(path: Path, params: tuple[str, ...], metrics: tuple[str, ...], tags: tuple[str, ...] = ()) -> Path:
    """As the UI's button Download CSV writes it; a run that failed has no metric."""
    lines = [",".join((*UI, *params, *metrics, *tags))]
    for n in range(60):
        failed = n % 10 == 9
        own = (
            f"2025-05-22 10:00:{n:02d}",
            f"{1 + n / 10}min",
            f"{n:032x}",
            f"calm-owl-{n}",
            "LOCAL",
            "train.py",
            "ann",
        )
        results = ["" if failed else str((n * (7 + i) % 31) / 10) for i, _ in enumerate(metrics)]
        words = [f"tag {n}" for _ in tags]
        lines.append(
            ",".join(
                (
                    *own,
                    "FAILED" if failed else "FINISHED",
                    *(str(n % (3 + i)) for i, _ in enumerate(params)),
                    *results,
                    *words,
                )
            )
        )
    return write(path, "\n".join(lines) + "\n")


def test_runs_that_the_ui_exported(tmp_path: Path) -> None:
    """Parameters, metrics and tags follow each other, each sorted: where the order falls, the next begins."""
    path = exported(tmp_path / "runs.csv", ("batch_size", "lr", "max_depth"), ("f1", "loss"), ("commit",))
    records = read_records(path)
    assert records.metadata.params == ("batch_size", "lr", "max_depth")
    assert records.metadata.metrics == ("f1", "loss")
    message = refuse(QueryError, "f1, loss", of=lambda: pedanova.analyze(path))
    a = pedanova.analyze(path, message.rpartition(", ")[2])
    assert list(a.data.space) == ["batch_size", "lr", "max_depth"]
    assert len(a) == 54
    one = exported(tmp_path / "one.csv", ("batch_size", "lr"), ("accuracy",))
    assert pedanova.analyze(one).data.levels.direction == "maximize"


def test_an_export_in_which_no_order_falls(tmp_path: Path) -> None:
    """Nothing tells parameters from metrics: names do, as in any table, and what is the UI's is left out."""
    path = exported(tmp_path / "runs.csv", ("alpha", "depth"), ("val_loss",))
    records = read_records(path)
    assert records.metadata.params == ()
    assert list(pedanova.analyze(path, "val_loss").data.space) == ["alpha", "depth"]
