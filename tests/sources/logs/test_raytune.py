"""Folders of Ray Tune: trials, states and results as three generations of Ray write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from pedanova.errors import DataError, QueryError
from pedanova.sources import read_records

PICKLED = {"_type": "CLOUDPICKLE_FALLBACK", "value": "80054e2e"}


def result(trial: str, step: int = 1, **results: Any) -> dict[str, Any]:
    """A line of result.json."""
    return {
        **results, "timestamp": 1747922690, "checkpoint_dir_name": None, "done": False, "training_iteration": step,
        "trial_id": trial, "date": "2025-05-22_16-04-50", "time_this_iter_s": 0.1, "time_total_s": 0.1 * step,
        "pid": 17444, "hostname": "host", "node_ip": "127.0.0.1", "config": {}, "time_since_restore": 0.1,
        "iterations_since_restore": step,
    }  # fmt: skip


def trial(folder: Path, number: int, params: Any = None, lines: list[Any] | None = None) -> str:
    """One trial's folder; its name."""
    name = f"train_b92c8_{number:05d}_{number}_lr=0.1,act='a;b'_2025-05-22"
    config = {"lr": number / 10, "net": {"depth": number % 3}, "seed": 1} if params is None else params
    rows = [result(str(number), 1, loss=9.0), result(str(number), 2, loss=float(number))] if lines is None else lines
    write(folder / name / "params.json", config)
    write(folder / name / "result.json", "".join(json.dumps(row) + "\n" for row in rows))
    return name


def entry(name: str, status: str, **more: Any) -> list[str]:
    """A trial in experiment_state, as Ray 2.7 and later write it."""
    return [
        json.dumps({"trial_id": name, "relative_logdir": name, "status": status, "config": {"fn": PICKLED}} | more),
        json.dumps({"last_result": {}, "error_filename": None}),
    ]


def state(folder: Path, entries: list[Any], *, key: str = "trial_data", metric: Any = None, **runner: Any) -> Path:
    content = {key: entries, "runner_data": {"_metric": metric, **runner}, "stats": {"start_time": 1.0}}
    return write(folder / "experiment_state-2025-05-22_16-04-48.json", content)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    folder = tmp_path / "exp; 'ü'"
    names = [trial(folder, number) for number in range(8)]
    state(folder, [entry(name, "TERMINATED") for name in names], metric="loss")
    write(folder / "tuner.pkl", "no pickle at all")
    write(folder / names[0] / "params.pkl", "no pickle at all")
    return folder


def test_an_experiment(experiment: Path) -> None:
    records = read_untouched(experiment)
    assert records.metadata.source == "Ray Tune experiment \"exp; 'ü'\""
    assert records.metadata.params == ("lr", "net.depth")
    assert records.metadata.objectives == ("loss",)
    assert records.metadata.directions == ()
    assert records.metadata.metrics == ("loss",)
    assert cells(records, "loss") == [float(number) for number in range(8)]
    assert cells(records, "training_iteration") == [2] * 8
    assert "parameters with the same value in every trial are left out: seed" in records.notes


def test_the_direction_is_named_as_a_guess(experiment: Path) -> None:
    a = pedanova.analyze(experiment, scan=pedanova.Scan(threads=1))
    assert "loss is minimised, guessed from its name; pass direction='max' if higher is better" in " ".join(a.notes)
    b = pedanova.analyze(experiment, direction="maximize", scan=pedanova.Scan(threads=1))
    assert not any("minimised" in note for note in b.notes)


@pytest.mark.parametrize(("mode", "direction"), [("min", "minimize"), ("max", "maximize")])
def test_a_mode_where_it_is_told(experiment: Path, mode: str, direction: str) -> None:
    names = [place.name for place in experiment.iterdir() if place.is_dir()]
    state(experiment, [entry(name, "TERMINATED") for name in names], metric="loss", _mode=mode)
    assert read_records(experiment).metadata.directions == (direction,)
    notes = pedanova.analyze(experiment, scan=pedanova.Scan(threads=1)).notes
    assert not any("minimised" in note for note in notes)


def test_states(experiment: Path) -> None:
    names = sorted(place.name for place in experiment.iterdir() if place.is_dir())
    words = ["TERMINATED", "ERROR", "RUNNING", "PENDING", "PAUSED", "TERMINATED", "TERMINATED", "RUNNING"]
    entries = [entry(name, word) for name, word in zip(names, words, strict=True)]
    write(experiment / names[5] / "error.txt", "it failed once and was tried again")
    write(experiment / names[7] / "error.txt", "it failed since")
    state(experiment, [*entries, entry("not_begun", "PENDING", config={"lr": 0.9})])
    assert cells(read_records(experiment), "state") == [
        "COMPLETE", "FAIL", "RUNNING", "RUNNING", "RUNNING", "COMPLETE", "COMPLETE", "FAIL", "RUNNING",
    ]  # fmt: skip


def test_without_a_state_file(tmp_path: Path) -> None:
    names = [trial(tmp_path, number) for number in range(4)]
    write(tmp_path / names[1] / "error.txt", "ValueError")
    write(tmp_path / names[2] / "result.json", "")
    records = read_untouched(tmp_path)
    assert cells(records, "state") == ["COMPLETE", "FAIL", "RUNNING", "COMPLETE"]
    assert records.metadata.objectives == ("loss",)  # the only number that came out


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "objects"])
def test_older_state_files(tmp_path: Path, as_text: bool) -> None:
    names = [trial(tmp_path, number) for number in range(3)]
    olds = [{"logdir": f"/home/me/ray_results/x/{name}", "status": "ERROR", "trial_id": "1"} for name in names]
    state(tmp_path, [json.dumps(old) if as_text else old for old in olds], key="checkpoints")
    assert cells(read_records(tmp_path), "state") == ["FAIL"] * 3


def test_the_newest_readable_state_file_counts(experiment: Path) -> None:
    write(experiment / "experiment_state-2026-01-01_00-00-00.json", '{"trial_data": [')
    records = read_records(experiment)
    assert records.metadata.objectives == ("loss",)


def test_odd_settings(tmp_path: Path) -> None:
    configs = [
        {"fn": f"<function f at 0x7f{number}>", "layers": [1, number], "a;'b\n": number, "none": None}
        for number in range(4)
    ]
    for number, config in enumerate(configs):
        trial(tmp_path, number, config)
    records = read_records(tmp_path)
    assert cells(records, "fn") == ["<function f>"] * 4
    assert cells(records, "layers")[2] == "[1, 2]"
    assert records.metadata.params == ("layers", "a;'b\n")


def test_settings_from_elsewhere(tmp_path: Path) -> None:
    """params.json may be half-written; results and the state file repeat it."""
    names = [trial(tmp_path, number) for number in range(4)]
    for name in names[:3]:
        write(tmp_path / name / "params.json", '{"lr": 0.')
    write(tmp_path / names[0] / "result.json", json.dumps(result("0", loss=1.0) | {"config": {"lr": 0.7}}))
    config = {"lr": 0.8, "fn": PICKLED}
    state(tmp_path, [entry(names[1], "TERMINATED", config=config)], metric="loss")
    records = read_records(tmp_path)
    assert cells(records, "lr") == [0.7, 0.8, 0.3]
    assert "1 trial has no settings that can be read; left out" in records.notes


def test_results(tmp_path: Path) -> None:
    """The last whole line counts; nested results have the names that Ray gives them."""
    losses = [1.0, 2.0, float("nan")]
    rows = [result("x", n, eval={"acc": n / 10}, loss=loss) for n, loss in enumerate(losses, start=1)]
    names = [trial(tmp_path, n, lines=[row]) for n, row in enumerate(rows)]
    write(tmp_path / names[0] / "result.json", json.dumps(rows[0]) + '\n{"eval": {"ac')
    (tmp_path / names[1] / "result.json").unlink()
    header, row = "eval/acc,loss,training_iteration,date,config/lr", "0.5,,7,2025-05-22,0.1"
    write(tmp_path / names[1] / "progress.csv", f"{header}\n{row}\n0.9,1")
    records = read_records(tmp_path)
    assert records.metadata.metrics == ("eval/acc", "loss")
    assert cells(records, "eval/acc") == [0.1, 0.5, 0.3]
    assert cells(records, "training_iteration") == [1, 7, 3]
    assert any("ran for 1 to 7 iterations" in note for note in records.notes)
    refuse(QueryError, "objective=", "eval/acc", of=lambda: pedanova.analyze(tmp_path))


def test_nested_too_deeply(tmp_path: Path) -> None:
    for depth in range(700, 1000, 10):
        folder = tmp_path / str(depth)
        trial(folder, 1)
        name = trial(folder, 2)
        write(folder / name / "params.json", '{"a":' * depth + "1" + "}" * depth)
        tolerate(lambda folder=folder: read_records(folder))  # type: ignore[misc]


def test_one_level_up(experiment: Path) -> None:
    assert read_records(experiment.parent).rows == 8
    for number in range(3):
        trial(experiment.parent / "second", number)
    refuse(DataError, "2 experiments", "study=", "second", of=lambda: read_records(experiment.parent))
    assert read_records(experiment.parent, study="second").rows == 3
    refuse(DataError, "'third'", "second", of=lambda: read_records(experiment.parent, study="third"))
    refuse(DataError, "'third'", "you need not name it", of=lambda: read_records(experiment, study="third"))
    assert read_records(experiment, study=experiment.name).rows == 8


def test_one_trial_or_the_state_file(experiment: Path) -> None:
    one = next(place for place in experiment.iterdir() if place.is_dir())
    refuse(DataError, "single trial", str(experiment), of=lambda: read_records(one))
    assert read_records(next(experiment.glob("experiment_state-*.json"))).rows == 8


def test_nothing_inside(tmp_path: Path) -> None:
    refuse(DataError, "empty folder", of=lambda: read_records(tmp_path))
    state(tmp_path, [])
    refuse(DataError, "no trials", of=lambda: read_records(tmp_path))
    write(tmp_path / "experiment_state-2025-05-22_16-04-48.json", "[1]")
    refuse(DataError, "no trials", of=lambda: read_records(tmp_path))


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["trial_data", "checkpoints", "runner_data", "_metric", "status", "config", "last_result"])


@settings(max_examples=40)
@given(content=st.dictionaries(KEYS, ODD), params=ODD, line=ODD, cut=st.integers(0, 60))
def test_any_content(tmp_path_factory: pytest.TempPathFactory, content: Any, params: Any, line: Any, cut: int) -> None:
    folder = tmp_path_factory.mktemp("odd")
    name = trial(folder, 1, params, [line])
    trial(folder, 2)
    write(folder / "experiment_state-1.json", content)
    tolerate(lambda: pedanova.analyze(folder, "loss", scan=pedanova.Scan(threads=1)))
    for file in ("params.json", "result.json"):
        text = (folder / name / file).read_text(encoding="utf-8")
        write(folder / name / file, text[:cut])
    tolerate(lambda: pedanova.analyze(folder, "loss", scan=pedanova.Scan(threads=1)))
    (folder / name / "result.json").write_bytes(b"\xff\xfe\x00")
    tolerate(lambda: pedanova.analyze(folder, "loss", scan=pedanova.Scan(threads=1)))
