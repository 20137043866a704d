"""Tables read in parts: the answers of the whole table, errors that name a file, and no memory that grows."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova.cli.program import main
from pedanova.errors import DataError, FormatError, PartError, QueryError, SpaceError, WorkerError
from pedanova.scale import workers
from pedanova.sources.scans import batches
from pedanova.sources.scans import scan as scans

ROWS = 6_000
FILES = 12
EACH = ROWS // FILES  # rows of a file


def table_of(rows: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    lr = np.exp(random.uniform(np.log(1e-5), 0.0, rows))
    frame = pd.DataFrame(
        {
            "lr": lr,
            "momentum": random.uniform(0, 1, rows),
            "layers": random.integers(1, 6, rows),
            "width": np.exp(random.uniform(0, np.log(150), rows)).astype(int),
            "batch": random.choice([16, 32, 64], rows),
            "optimizer": random.choice(["adam", "rmsprop", "sgd"], rows),
            "nesterov": random.choice([True, False], rows),
            "trial_id": np.arange(rows),
            "stamp": 1.7e9 + np.arange(rows),
            "epochs": random.integers(1, 30, rows),
            "over": random.normal(-1, 1, rows),
            "status": random.choice(["COMPLETE", "FAIL", "PRUNED", "RUNNING"], rows, p=[0.8, 0.1, 0.05, 0.05]),
        }
    )
    loss = np.abs(np.log10(lr) + 3) + 0.1 * frame["layers"] + random.normal(0, 0.1, rows)
    frame["loss"] = loss.round(3)
    frame.loc[random.random(rows) < 0.02, "loss"] = np.nan
    return frame


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return table_of(ROWS)


@pytest.fixture(scope="module")
def files(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several files, written once."""
    return write(table, tmp_path_factory.mktemp("files") / "data")


@pytest.fixture
def folder(files: Path, tmp_path: Path) -> Path:
    """The same files, which a test may damage."""
    return shutil.copytree(files, tmp_path / "data")


def write(table: pd.DataFrame, folder: Path, files: int = FILES) -> Path:
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(table)), files)):
        table.iloc[rows].to_parquet(folder / f"part-{number:02}.parquet", row_group_size=250)
    return folder


def told(a: pa.Analysis) -> list[str]:
    """The notes, less those on who counted and what could not be read."""
    return [note for note in a.notes if not note.startswith(("counted by the engine", "a part of the data is skipped"))]


def same(streamed: pa.Analysis, whole: pa.Analysis) -> None:
    assert streamed.space == whole.space
    assert streamed.data.levels == whole.data.levels
    assert streamed.data.tallies == whole.data.tallies
    assert streamed.data.dropped == whole.data.dropped
    assert told(streamed) == told(whole)
    one, two = streamed.importance(**COUNTS), whole.importance(**COUNTS)
    assert one.to_dict() == two.to_dict()


CHOICES: list[dict[str, Any]] = [
    {},
    {"direction": "maximize", "reading": pa.Reading(nan="worst")},
    {"levels": [0.05, 0.25]},
    {"where": "epochs >= 10 and optimizer != 'sgd'"},
    {"where": {"lr": (1e-4, 1e-2), "optimizer": {"adam", "sgd"}}},
    {"reading": pa.Reading(state="status")},
    {"reading": pa.Reading(state="status", failed="worst", pruned="last")},
    {"feasible": "over"},
    {"feasible": ["over"], "reading": pa.Reading(infeasible="worst")},
    {"params": ["lr", "layers"]},
    {"exclude": ["over", "width"], "where": "layers > 1", "reading": pa.Reading(state="status"), "feasible": "over"},
    {"space": {"lr": pa.Float(1e-5, 1, log=True), "layers": pa.Int(1, 5)}},
]


KEPT = 1 << 29  # bytes
OF_THE_OBJECTIVE = CHOICES[:3]


@pytest.mark.parametrize(
    ("options", "kept"), [*((one, KEPT) for one in CHOICES), *((one, 0) for one in OF_THE_OBJECTIVE)]
)
def test_in_parts_or_at_once(
    table: pd.DataFrame, folder: Path, options: dict[str, Any], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the objective takes too much memory to keep it until the thresholds are known."""
    monkeypatch.setattr("pedanova.scale.count_scan.KEPT_BYTES", kept)
    same(pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **options), pa.analyze(table, "loss", **options))


def conditional(rows: int = 400, seed: int = 5) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    optimizer = random.choice(["adam", "sgd"], rows)
    return pd.DataFrame(
        {
            "optimizer": optimizer,
            "momentum": np.where(optimizer == "sgd", random.random(rows), np.nan),
            "lr": 10 ** random.uniform(-5, -1, rows),
            "status": random.choice(["COMPLETE", "PRUNED"], rows, p=[0.8, 0.2]),
            "loss": random.random(rows),
        }
    )


def test_notes_of_several_parts_are_those_of_the_whole(tmp_path: Path) -> None:
    """They were thirty once: one for each part that had pruned rows."""
    table = conditional()
    folder = write(table, tmp_path / "parts")
    options = {"reading": pa.Reading(state="status", pruned="last")}
    space = {"optimizer": pa.Categorical(["adam", "sgd"]), "momentum": pa.Float(0, 1, when={"optimizer": "sgd"})}
    for given in ({}, {"space": space}):
        parts = pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **options, **given)
        same(parts, pa.analyze(table, "loss", **options, **given))
    assert len(parts.notes) == 4
    pruned = int((table["status"] == "PRUNED").sum())
    assert f"{pruned} pruned rows are included; their objective is their last value" in parts.notes


def test_a_few_words_among_the_objectives_are_noted_in_parts_too(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for i, word in enumerate(("", "oops", "failed")):
        x = random.random(500)
        y = [word if word and k in (7, 300) else f"{one}" for k, one in enumerate(x + random.random(500))]
        pd.DataFrame({"x": x, "y": y}).to_csv(tmp_path / f"{i}.csv", index=False)
    both = [pa.analyze(str(tmp_path), "y", direction="min", scan=pa.Scan(stream=stream)) for stream in (False, True)]
    first, second = ([*map(str, a.notes)] for a in both)
    assert sorted(first) == sorted(second)
    assert any("y: 2 rows have text such as 'oops' instead of a number" in note for note in first)


@pytest.mark.parametrize("given", [True, False], ids=["given", "guessed"])
def test_a_part_without_an_active_row_decides_nothing(tmp_path: Path, given: bool) -> None:
    table = conditional().sort_values("optimizer").reset_index(drop=True)
    table = table.drop(columns="status")
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, rows in table.groupby("optimizer"):
        rows.to_parquet(folder / f"{name}.parquet")
    space = {"optimizer": pa.Categorical(["adam", "sgd"]), "momentum": pa.Float(0, 1, when={"optimizer": "sgd"})}
    options: dict[str, Any] = {"space": space} if given else {}
    same(pa.analyze(folder, "loss", scan=pa.Scan(stream=True), **options), pa.analyze(table, "loss", **options))


def test_a_condition_that_never_holds_is_refused_in_parts_too(tmp_path: Path) -> None:
    table = conditional()
    folder = write(table, tmp_path / "parts", files=3)
    space = {"momentum": pa.Float(0, 1, when={"optimizer": "lion"})}
    asked = (
        lambda: pa.analyze(table, "loss", space=space),
        lambda: pa.analyze(folder, "loss", scan=pa.Scan(stream=True), space=space),
    )
    messages = {refuse(SpaceError, "is true in no row", of=ask) for ask in asked}
    assert len(messages) == 1


@pytest.mark.parametrize("rows", [40, 128, 129])
def test_a_small_table_has_every_objective_as_a_level_in_parts_too(tmp_path: Path, rows: int) -> None:
    table = conditional(rows).drop(columns="status")
    folder = write(table, tmp_path / "parts", files=3)
    parts, whole = pa.analyze(folder, "loss", scan=pa.Scan(stream=True)), pa.analyze(table, "loss")
    same(parts, whole)
    assert parts.data.levels.complete == whole.data.levels.complete == (rows <= 128)


def test_an_objective_that_is_a_condition(table: pd.DataFrame, folder: Path) -> None:
    objective = "status == 'COMPLETE'"
    options = {"direction": "maximize", "exclude": ["loss"], "levels": [0.5]}
    whole = pa.analyze(table, objective, **options)
    assert len(whole) == len(table)  # what the objective speaks of does not choose the rows
    same(pa.analyze(folder, objective, scan=pa.Scan(stream=True), **options), whole)


def test_questions_beside_the_ladder_read_once_more(table: pd.DataFrame, folder: Path) -> None:
    streamed, whole = pa.analyze(folder, "loss", scan=pa.Scan(stream=True)), pa.analyze(table, "loss")
    for target, region in [(0.0123, 0.456), (pa.at_most(0.5), 1.0), (pa.at_most(0.7), 0.33)]:
        one, two = (a.importance(target, region, **COUNTS) for a in (streamed, whole))
        assert one.to_dict() == two.to_dict()
    one, two = streamed.effects().to_dict(), whole.effects().to_dict()
    for name, values in one.items():
        assert values == (pytest.approx(two[name]) if isinstance(values[0], float) else two[name])


def test_the_objective_is_read_again_only_if_it_is_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[str] = []
    plain = workers.Workers.each

    def each(self: workers.Workers, *arguments: Any, what: str, **options: Any) -> Any:
        readings.append(what)
        return plain(self, *arguments, what=what, **options)

    monkeypatch.setattr("pedanova.scale.workers.Workers.each", each)
    pa.analyze(folder, "loss", scan=pa.Scan(stream=True))
    assert "rows for thresholds" not in readings
    monkeypatch.setattr("pedanova.scale.count_scan.KEPT_BYTES", 100)
    pa.analyze(folder, "loss", scan=pa.Scan(stream=True))
    assert "rows for thresholds" in readings


def test_the_survey_sees_every_value(tmp_path: Path) -> None:
    """A value in one row of a million, and one that is not whole, are found."""
    rows = 30_000
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"rare": np.full(rows, 1), "half": np.full(rows, 2.0), "loss": random.random(rows)})
    frame["id"] = [f"run-{i}" for i in range(rows)]
    frame["rare"] = random.choice([1, 2, 5], rows)
    frame["half"] = random.choice([1.0, 2.0, 3.0], rows)
    frame.loc[17_001, ["rare", "half"]] = [9, 2.5]
    folder = write(frame, tmp_path / "data", 3)
    streamed, whole = pa.analyze(folder, "loss", scan=pa.Scan(stream=True)), pa.analyze(frame, "loss")
    assert streamed.space == whole.space == pa.Space(
        {"rare": pa.Ordinal([1, 2, 5, 9]), "half": pa.Ordinal([1.0, 2.0, 2.5, 3.0])}
    )  # fmt: skip


def test_shards_add_up(table: pd.DataFrame, folder: Path) -> None:
    whole = pa.analyze(table, "loss")
    pieces = [
        pa.analyze(
            f"{folder}/part-{half}*.parquet",
            "loss",
            scan=pa.Scan(stream=True),
            space=whole.space,
            levels=whole.data.levels,
        )
        for half in "01"
    ]
    assert sum(pieces).data.tallies == whole.data.tallies


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "repeats": ({"repeats": "mean"}, "needs all rows at once"),
    "a mask": ({"where": np.ones(ROWS, dtype=bool)}, "condition"),
    "a region": ({"where": pa.at_most(1.0)}, "condition"),
    "an array of states": ({"reading": pa.Reading(state=np.array(["COMPLETE"] * ROWS))}, "state="),
    "no objective": ({"objective": None}, "objective= must be given"),
    "several objectives": ({"objective": ["loss", "lr"]}, "needs all rows at once"),
    "an unknown objective": ({"objective": "los"}, "did you mean 'loss'"),
    "an unknown parameter": ({"params": ["rl"]}, "rl"),
    "other levels": ({"levels": "mine", "direction": "maximize"}, "must be 'minimize', as in the analysis that"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_needs_all_rows_is_refused(table: pd.DataFrame, folder: Path, case: str) -> None:
    options, message = REFUSED[case]
    options = {"objective": "loss", "scan": pa.Scan(stream=True)} | options
    if options.get("levels") == "mine":
        options["levels"] = pa.analyze(table, "loss").data.levels
    with pytest.raises((QueryError, DataError), match=message):
        pa.analyze(folder, **options)


def test_rows_by_a_mask_need_the_rows(folder: Path) -> None:
    a = pa.analyze(folder, "loss", scan=pa.Scan(stream=True))
    with pytest.raises(QueryError, match="read in parts"):
        a.importance("epochs >= 10")


def test_options_that_contradict_each_other_are_refused() -> None:
    refuse(QueryError, "on_error='ignore'", of=lambda: pa.Scan(on_error="ignore"))  # type: ignore[arg-type]
    refuse(QueryError, "executor=1", "submit", of=lambda: pa.Scan(executor=1))
    with ThreadPoolExecutor(1) as pool:
        refuse(QueryError, "stream=False", of=lambda: pa.Scan(stream=False, executor=pool))
    refuse(QueryError, "stream=False", of=lambda: pa.Scan(stream=False, pushdown=True))


def test_other_tables_are_refused(table: pd.DataFrame) -> None:
    refuse(DataError, "in parts", of=lambda: pa.analyze(table, "loss", scan=pa.Scan(stream=True)))
    lazy = pl.from_pandas(table).lazy()
    with ThreadPoolExecutor(1) as pool:
        refuse(QueryError, "executor= is for files", of=lambda: pa.analyze(lazy, "loss", scan=pa.Scan(executor=pool)))


def test_files_of_other_types(table: pd.DataFrame, folder: Path) -> None:
    """Integers in one file and floats in another go together; text does not."""
    changed = table.iloc[:EACH].astype({"layers": "float32", "batch": "int8"})
    changed.to_parquet(folder / "part-00.parquet")
    same(pa.analyze(folder, "loss", scan=pa.Scan(stream=True)), pa.analyze(table, "loss"))
    changed.assign(layers="many").to_parquet(folder / "part-00.parquet")
    refuse(FormatError, "layers", "one type", of=lambda: pa.analyze(folder, "loss", scan=pa.Scan(stream=True)))
    changed.to_parquet(folder / "part-00.parquet")
    changed.drop(columns="layers").to_parquet(folder / "part-07.parquet")
    refuse(FormatError, "part-07.parquet", "layers", of=lambda: pa.analyze(folder, "loss", scan=pa.Scan(stream=True)))
    table.assign(loss="low").to_parquet(folder / "part-07.parquet")
    options = {"scan": pa.Scan(stream=True), "params": ["lr"]}
    refuse(FormatError, "part-07.parquet", "text", of=lambda: pa.analyze(folder, "loss", **options))


def cut(file: Path) -> None:
    """As after a crash in the midst of writing."""
    file.write_bytes(file.read_bytes()[:-200])


def damage(file: Path) -> None:
    """The pages are gone, the footer is not: only reading the rows finds out."""
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    file.write_bytes(content)


@pytest.mark.parametrize("harm", [cut, damage, Path.unlink], ids=["cut", "damaged", "gone"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_bad_file_among_good_ones(
    table: pd.DataFrame, folder: Path, harm: Any, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = folder / "part-05.parquet"
    if harm is Path.unlink:  # after the files were listed
        monkeypatch.setattr("pedanova.scale.workers.Workers._bundles", first_unlinking(workers.Workers._bundles, bad))
    else:
        harm(bad)
    if harm is not Path.unlink:
        refuse(
            FormatError,
            "part-05.parquet",
            of=lambda: pa.analyze(folder, "loss", scan=pa.Scan(stream=True, threads=threads)),
        )
    a = pa.analyze(folder, "loss", scan=pa.Scan(stream=True, on_error="skip", threads=threads))
    rest = pd.concat([table.iloc[: 5 * EACH], table.iloc[6 * EACH :]])
    assert a.data.tallies == pa.analyze(rest, "loss", space=a.space).data.tallies
    (note,) = [note for note in a.notes if note.startswith("a part of the data is skipped")]
    assert "part-05.parquet" in note


def first_unlinking(plain: Any, file: Path) -> Any:
    def bundles(self: workers.Workers, done: set[int]) -> Any:
        file.unlink(missing_ok=True)
        return plain(self, done)

    return bundles


def test_a_file_that_breaks_on_the_way_is_left_out_of_everything(
    table: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The space and the thresholds knew its rows: both are found anew."""
    plain = workers.Workers._bundles
    calls = []

    def bundles(self: workers.Workers, done: set[int]) -> Any:
        calls.append(self.readings)
        if len(calls) == 3:  # the thresholds are being sought
            damage(folder / "part-05.parquet")
            damage(folder / "part-06.parquet")
        return plain(self, done)

    monkeypatch.setattr("pedanova.scale.workers.Workers._bundles", bundles)
    monkeypatch.setattr("pedanova.scale.count_scan.SORTED_AT_ONCE", 100)
    a = pa.analyze(folder, "loss", params=["lr", "layers"], scan=pa.Scan(on_error="skip", stream=True))
    rest = pd.concat([table.iloc[: 5 * EACH], table.iloc[7 * EACH :]])
    assert a.data.tallies == pa.analyze(rest, "loss", space=a.space).data.tallies
    assert calls.count(0) == 2  # one new start for both
    assert sum(note.startswith("a part of the data is skipped") for note in a.notes) == 2


def test_a_file_whose_rows_alone_break_on_the_way_is_left_out_too(
    table: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It still tells its row groups, of which some are asked for: the loss is that of the whole part."""
    plain, bad = workers.Workers._bundles, folder / "part-05.parquet"
    calls = []

    def bundles(self: workers.Workers, done: set[int]) -> Any:
        calls.append(self.readings)
        assert len(calls) < 12, "it is read again and again"
        if len(calls) == 4:  # the rows of a few slots are being gathered
            whole = bad.read_bytes()
            footer = int.from_bytes(whole[-8:-4], "little") + 8
            bad.write_bytes(bytes(len(whole) - footer) + whole[-footer:])
        return plain(self, done)

    lose, losses = workers.Workers._lose, []

    def counted(self: workers.Workers, *given: Any) -> Any:
        losses.append(given)
        assert len(losses) < 12, "it is lost again and again"
        return lose(self, *given)

    monkeypatch.setattr("pedanova.scale.workers.Workers._bundles", bundles)
    monkeypatch.setattr("pedanova.scale.workers.Workers._lose", counted)
    a = pa.analyze(folder, "loss", params=["lr", "layers"], scan=pa.Scan(on_error="skip", stream=True))
    rest = pd.concat([table.iloc[: 5 * EACH], table.iloc[6 * EACH :]])
    assert a.data.tallies == pa.analyze(rest, "loss", space=a.space).data.tallies


@pytest.mark.parametrize("reading", [pa.Reading(nan="worst"), pa.Reading(state="status", failed="worst")])
def test_a_limit_on_single_precision_means_the_same_where_rows_count_as_worst(
    tmp_path: Path, reading: pa.Reading
) -> None:
    """0.1 in single precision is a little more than 0.1, and still at most 0.1."""
    random = np.random.default_rng(0)
    loss = random.integers(0, 10, 3000).astype("f4") / np.float32(10)
    status = random.choice(["COMPLETE", "FAIL"], 3000, p=[0.9, 0.1])
    good = np.where(status == "FAIL", False, loss <= np.float32(0.1)) if reading.state else loss <= 0.11
    loss[random.integers(0, 3000, 20)] = np.nan
    many = int(np.sum(good & ~np.isnan(loss)))
    table = pd.DataFrame(
        {
            "lr": random.random(3000),
            "status" if reading.state else "kind": status if reading.state else "a",
            "loss": loss,
        }
    )
    place = write(table, tmp_path / "data", files=3)
    for data, how in ((table, {}), (place, {"scan": pa.Scan(stream=True)})):
        a = pa.analyze(data, "loss", params=["lr"], reading=reading, **how)
        (contrast,) = a.data.contrasts(pa.at_most(0.1), 1.0)
        assert contrast.target.sum() == many


def test_a_later_question_misses_no_file_that_was_counted(folder: Path) -> None:
    a = pa.analyze(folder, "loss", params=["lr"], scan=pa.Scan(on_error="skip", stream=True))
    bad = folder / "part-05.parquet"
    content, times = bad.read_bytes(), bad.stat()
    answer = a.importance(target=0.033).to_dict()
    bad.unlink()
    for _ in range(2):
        refuse(DataError, "part-05.parquet", of=lambda: a.importance(target=0.044))
    bad.write_bytes(content)
    os.utime(bad, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert a.importance(target=0.033).to_dict() == answer


@pytest.mark.parametrize(
    ("loss", "choices", "constant"),
    [
        (np.full(3000, 5.0), {}, True),
        (np.full(3000, 5.0), {"levels": [0.5]}, True),
        (np.full(3000, np.inf), {}, True),
        (np.where(np.arange(3000) < 2, 1.0, np.inf), {}, False),
        (np.where(np.arange(3000) < 2, 1.0, -np.inf), {}, False),
        (np.arange(3000.0), {"levels": [1.0]}, False),
        (np.where(np.arange(3000) < 2000, 5.0, np.nan), {}, True),
        (np.where(np.arange(3000) < 2000, 5.0, np.nan), {"reading": pa.Reading(nan="worst")}, False),
    ],
)
def test_a_constant_objective_is_told_as_in_memory(
    tmp_path: Path, loss: np.ndarray, choices: dict[str, Any], constant: bool
) -> None:
    table = pd.DataFrame({"lr": np.linspace(0.0, 1.0, 3000), "loss": loss})
    place = write(table, tmp_path / "data", files=3)
    for data, how in ((table, {}), (place, {"scan": pa.Scan(stream=True)})):
        if constant:
            refuse(DataError, "in every row", of=lambda: pa.analyze(data, "loss", **how, **choices))  # noqa: B023
        else:
            assert len(pa.analyze(data, "loss", **how, **choices)) > 0


def test_no_file_that_can_be_read(folder: Path) -> None:
    for file in folder.iterdir():
        cut(file)
    refuse(
        DataError, f"none of {FILES}", of=lambda: pa.analyze(folder, "loss", scan=pa.Scan(stream=True, on_error="skip"))
    )


def test_several_files_at_once_skip_too(table: pd.DataFrame, folder: Path) -> None:
    cut(folder / "part-11.parquet")
    a = pa.analyze(folder, "loss", scan=pa.Scan(on_error="skip"))
    assert a.data.tallies == pa.analyze(table.iloc[: 11 * EACH], "loss", space=a.space).data.tallies
    assert any("part-11.parquet" in note for note in a.notes)


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError("no such luck")


def test_lost_and_failing_workers_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for function, words in ((fail, "ZeroDivisionError: no such luck"), (die, "a worker was lost")):
            monkeypatch.setattr("pedanova.scale.parts.count_part", function)
            ask = partial(pa.analyze, folder, "loss", scan=pa.Scan(executor=pool))
            refuse(WorkerError, "part-00.parquet", words, of=ask)


class Slow:
    """An executor that notes how many results wait on the driver."""

    def __init__(self) -> None:
        self._max_workers = 2
        self.futures: list[Future[Any]] = []
        self.most = 0

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        self.most = max(self.most, sum(not taken.done() for taken in self.futures))
        future.result = lambda *_: (future.set_result(None), function(*arguments))[1]  # type: ignore[method-assign]
        return future


def test_few_results_wait_on_the_driver(table: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    a = pa.analyze(folder, "loss", scan=pa.Scan(executor=slow))
    same(a, pa.analyze(table, "loss"))
    assert slow.most <= 2 * 2 + 2
    monkeypatch.setattr("pedanova.scale.workers.MOST_TASKS", 4)
    bundled = Slow()
    assert pa.analyze(folder, "loss", scan=pa.Scan(executor=bundled)).data.tallies == a.data.tallies
    assert len(bundled.futures) - 3 == (len(slow.futures) - 3) / 2  # both look at the start of three files


def test_waiting_work_is_cancelled_after_an_error(folder: Path) -> None:
    damage(folder / "part-00.parquet")
    slow = Slow()
    with pytest.raises(PartError, match="part-00"):
        pa.analyze(folder, "loss", scan=pa.Scan(executor=slow))
    assert len(slow.futures) <= 6
    assert all(future.done() for future in slow.futures)


SCRIPT = """
import sys, time, pedanova as pa
from pedanova.scale import parts
plain = parts.count_part
def slowly(*arguments, **options):
    time.sleep(0.05)
    found = plain(*arguments, **options)
    print("counted", flush=True)
    return found
parts.count_part = slowly
pa.analyze(sys.argv[1], "loss", scan=pa.Scan(stream=True, threads=1))
"""


@pytest.fixture
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, in the midst of counting."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(5):
        assert process.stdout is not None
        assert process.stdout.readline() == "counted\n"
    yield process
    process.kill()
    process.communicate()


def test_an_interrupt_ends_it(running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert "KeyboardInterrupt" in err
    assert running.returncode != 0


def test_threads_end_soon_after_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(folder / "part-00.parquet")
    plain, read_to_the_end = scans.FilePart.batches, []

    def many(part: scans.FilePart, names: list[str]) -> Iterator[Any]:
        if "part-00" in part.name:
            yield from plain(part, names)  # ends in the error
        first = next(iter(plain(part, names)))
        yield from (first for _ in range(3_000))
        read_to_the_end.append(part.name)

    monkeypatch.setattr(scans.FilePart, "batches", many)
    with pytest.raises(PartError):
        pa.analyze(folder, "loss", scan=pa.Scan(stream=True, threads=4))
    assert not read_to_the_end


def test_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    cut(folder / "part-02.parquet")
    place = ["*.parquet", "--objective", "loss", "--draws", "0"]
    assert main(["analyze", *place, "--stream"]) == 2
    assert "part-02.parquet" in capsys.readouterr().err
    assert main(["analyze", *place, "--on-error", "skip", "--stream"]) == 0
    printed = capsys.readouterr().out
    assert "part-02.parquet" in printed
    assert "a part of the data is skipped" in printed
    assert main(["analyze", *place, "--on-error", "skip", "--no-stream"]) == 0
    assert "a part of the data is skipped" in capsys.readouterr().out


PEAK = """
import re, sys, pedanova as pa
from pathlib import Path
a = pa.analyze(sys.argv[1], "loss", scan=pa.Scan(stream=True, threads=1))
# Not ru_maxrss: a child inherits its parent's, which then hides whatever the child does.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(len(a), int(peak) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """Three million rows more are 96 MB more; a reader that keeps hold of its batches shows."""
    peaks = []
    for rows in (5_000_000, 8_000_000):
        file = tmp_path / f"{rows}.parquet"
        write_numbers(file, rows)
        found = subprocess.run([sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, check=True)
        counted, peak = map(int, found.stdout.split())
        assert counted == rows
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 50, peaks


def write_numbers(file: Path, rows: int) -> None:
    from pyarrow import float64, parquet, schema, table

    random = np.random.default_rng(0)
    names = ("a", "b", "c", "loss")
    types = schema([(name, float64()) for name in names])
    with parquet.ParquetWriter(file, types, use_dictionary=False) as out:
        for _ in range(rows // 250_000):
            out.write_table(table({name: random.random(250_000) for name in names}, types))


def test_what_another_engine_cannot_count_is_refused(table: pd.DataFrame, folder: Path) -> None:
    lazy, plain = pl.from_pandas(table).lazy(), pl.from_pandas(table.drop(columns="status")).lazy()
    given = {"params": ["lr"], "scan": pa.Scan(pushdown=True)}
    for reading in (pa.Reading(state="status"), pa.Reading()):
        words = "rows chosen by state='status'"
        refuse(QueryError, words, of=lambda reading=reading: pa.analyze(lazy, "loss", reading=reading, **given))
    for options, words in (
        ({"where": "layers > 1"}, "rows chosen by where="),
        ({"space": {"lr": pa.Float(1e-5, 1, when={"optimizer": "sgd"})}}, "conditional parameter 'lr'"),
    ):
        refuse(QueryError, words, of=lambda options=options: pa.analyze(plain, "loss", **(given | options)))
    refuse(QueryError, "pushdown=True works only", of=lambda: pa.analyze(folder, "loss", scan=pa.Scan(pushdown=True)))


def test_an_engine_counts_with_a_guessed_space_and_other_quantiles(table: pd.DataFrame) -> None:
    import duckdb

    options = {"params": ["layers", "width", "optimizer", "nesterov", "batch"]}
    states = pa.analyze(duckdb.from_df(table), "loss", scan=pa.Scan(stream=True), **options)
    assert states.data.tallies == pa.analyze(table, "loss", **options).data.tallies
    plain = table.drop(columns="status")
    relation = duckdb.from_df(plain)
    pushed, streamed = (
        pa.analyze(relation, "loss", scan=pa.Scan(**{how: True}), **options) for how in ("pushdown", "stream")
    )
    whole = pa.analyze(plain, "loss", **options)
    assert (pushed.space, pushed.data.levels, pushed.data.dropped) == (
        whole.space,
        whole.data.levels,
        whole.data.dropped,
    )
    assert pushed.data.tallies == whole.data.tallies
    same(pushed, streamed)  # rows in memory also tell which settings are repeated, and are smoothed accordingly
    assert pushed.importance(0.0123, **COUNTS).to_dict() == streamed.importance(0.0123, **COUNTS).to_dict()
    one, two = (a.importance(0.0123, smoothing="none", **COUNTS).rows for a in (pushed, whole))
    assert {row.name: row.divergence for row in one} == {row.name: row.divergence for row in two}
    np.testing.assert_allclose(pushed.data.moments.squares, whole.data.moments.squares, rtol=1e-9, atol=1e-9)


def test_many_columns_are_read_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three slices of columns, each through all files and in small batches: the counts of the whole table."""
    random, rows, columns = np.random.default_rng(1), 3_000, 300
    frame = pd.DataFrame({f"x{i}": random.random(rows, dtype=np.float32) for i in range(columns)})
    frame["y"] = (frame["x0"] - 0.5) ** 2 + 0.01 * random.random(rows)
    for number in range(3):
        frame[number * 1_000 : (number + 1) * 1_000].to_parquet(tmp_path / f"{number}.parquet")
    monkeypatch.setattr("pedanova.scale.count_scan.LARGE_RESULT", 1)
    monkeypatch.setattr(batches, "ROWS", 400)
    parts, whole = pa.analyze(tmp_path, "y", scan=pa.Scan(stream=True, threads=2)), pa.analyze(frame, "y")
    assert list(parts.space) == list(whole.space)
    assert all(parts.data.tallies[name] == whole.data.tallies[name] for name in whole.space)
    assert len(parts) == len(whole) == rows


@pytest.mark.parametrize(
    ("name", "good", "bad", "said"),
    [
        ("success", "yes", "no", "some rows failed according to this column, but count like all others; to leave such"),
        ("error", "", "no memory", "rows out, remove them from the table"),
        ("status", "ok", "failed", "rows with an unknown state (odd) count as complete"),
    ],
)
def test_doubts_on_failed_rows_are_those_of_a_table_in_memory(
    name: str, good: str, bad: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in range(2):
        rows = "".join(f"{i},{(i * 7 + part) % 40},{bad if i % 5 == 0 else good},{i * 13 % 37}\n" for i in range(1, 40))
        odd = "3,4,odd,5\n" * (name == "status")
        (tmp_path / f"{part}.csv").write_text(f"lr,depth,{name},loss\n{rows}{odd}")
    arguments = ["analyze", str(tmp_path / "*.csv"), "--objective", "loss", "--stream"]
    assert main(arguments) == 0
    first = " ".join(capsys.readouterr().out.split("\n\n")[0].split())
    assert said in first
    if name == "success":
        assert "--where \"success == 'yes'\"" in first
        assert main([*arguments, "--where", "success == 'yes'"]) == 0
        assert "64 rows" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("stream", [None, True])
def test_a_file_with_another_type_is_named(stream: bool | None, tmp_path: Path) -> None:
    numbers, words = np.arange(30.0), [f"w{i}" for i in range(30)]
    for name, columns in (("a", (numbers, numbers)), ("b", (numbers, words)), ("c", (words, numbers))):
        pl.DataFrame({"x": columns[0], "loss": columns[1]}).write_parquet(tmp_path / f"{name}.parquet")
    for file, name in (("b", "loss"), ("c", "x")):
        for space in (None, {"x": pa.Float(0, 30)}):
            with pytest.raises(FormatError, match=rf"{file}.parquet: {name} holds text, but numbers in .*a.parquet"):
                pa.analyze(f"{tmp_path}/[a{file}].parquet", "loss", space=space, scan=pa.Scan(stream=stream))
    for name, loss in (("0", numbers), ("1", [*words[:9], *numbers[9:].astype(str)])):
        pl.DataFrame({"x": numbers, "loss": loss}).write_csv(tmp_path / f"{name}.csv")
    with pytest.raises(DataError, match=r"1\.csv: objective 'loss' has values such as .* and others such as w0"):
        pa.analyze(f"{tmp_path}/*.csv", "loss", scan=pa.Scan(stream=stream))


@pytest.mark.parametrize("stream", [None, True])
def test_a_dangling_link_is_named(stream: bool | None, tmp_path: Path) -> None:
    pl.DataFrame({"x": [1.0, 2.0], "loss": [1.0, 2.0]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to(tmp_path / "nowhere.parquet")
    with pytest.raises(DataError, match=r"b\.parquet cannot be read: No such file"):
        pa.analyze(f"{tmp_path}/*.parquet", "loss", scan=pa.Scan(stream=stream))
    link = r"link to .*nowhere\.parquet, which does not exist"
    for name, words in (("b", link), ("ab", r"exist; did you mean .*b\.p")):
        with pytest.raises(DataError, match=words):
            pa.analyze(tmp_path / f"{name}.parquet", "loss", scan=pa.Scan(stream=stream))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="is an empty folder; nothing was written"):
        pa.analyze(tmp_path / "empty", "loss", scan=pa.Scan(stream=stream))
