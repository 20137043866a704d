"""W&B: exported tables, data frames of runs, and local folders."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova
from helpers.common import refuse
from helpers.logs import cells, read_untouched, tolerate, write
from pedanova.errors import DataError, FormatError, MissingLibraryError, PedanovaError
from pedanova.sources import read_records
from pedanova.sources.reader import read_yaml

WORDS = ["finished", "crashed", "failed", "killed", "running", "finished"]


def export(prefix: str, *, rows: int = 6) -> str:
    """A runs table as the website saves it: every cell in quotes."""
    header = ["Name", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep", f"{prefix}lr", f"{prefix}opt",
              "_step", "val_loss"]  # fmt: skip
    lines = [
        [f"run; 'ü'-{n}", WORDS[n % 6], "-", "me", "", "2024-01-01T00:00:00.000Z", str(60 + n), "abc", str(n / 10),
         "adam" if n % 2 else "sgd", str(n), str(n * 0.5)]
        for n in range(rows)
    ]  # fmt: skip
    return "\n".join(",".join(f'"{cell}"' for cell in line) for line in [header, *lines]) + "\n"


CONFIGS = [{"lr": n / 10, "opt": {"name": "adam" if n % 2 else "sgd"}, "_wandb": {"x": 1}} for n in range(6)]
SUMMARIES: list[dict[str, Any]] = [
    {"loss": n * 0.5, "_step": n, "_wandb": {"runtime": 3}, "acc": {"max": n},
     "image": {"_type": "image-file", "size": 1}, "note": "text"}
    for n in range(6)
]  # fmt: skip


# ── the exported table ──────────────────────────────────────────────────────────────────────────


def test_marked_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "export.csv", export("config."))
    records = read_untouched(path)
    assert records.metadata.params == ("config.lr", "config.opt")
    assert records.metadata.objectives == ("val_loss",)
    assert records.metadata.state == "State"
    assert set(records.columns) - set(records.metadata.aside) == {"State", "config.lr", "config.opt", "val_loss"}
    a = pedanova.analyze(path, scan=pedanova.Scan(threads=1))
    assert any("3 of 6 rows failed" in note for note in a.notes)
    assert any("1 of 6 rows is unfinished" in note for note in a.notes)


def test_plain_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "export.csv", export(""))
    guessed = pedanova.analyze(path, scan=pedanova.Scan(threads=1), yes=True)
    assert any("val_loss is used as the objective" in note for note in guessed.notes)
    a = pedanova.analyze(path, "val_loss", scan=pedanova.Scan(threads=1))
    assert set(a.data.tallies) == {"lr", "opt"}
    assert not [note for note in a.notes if note.kind == "doubt"]


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_the_export(tmp_path: Path, library: Any) -> None:
    frame = library.read_csv(write(tmp_path / "export.csv", export("config.")))
    assert read_records(frame).metadata.params == ("config.lr", "config.opt")
    refuse(DataError, "'x'", "leave this option out", of=lambda: read_records(frame, study="x"))


def test_states_that_are_no_words(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "Name,State,Runtime,config.a,config.b,loss\nx,,1,1,1,1\ny,,2,2,5,2\n")
    assert read_records(path).metadata.objectives == ("loss",)
    tolerate(lambda: pedanova.analyze(path, scan=pedanova.Scan(threads=1)))


def test_states_that_nobody_knows(tmp_path: Path) -> None:
    text = export("config.").replace('"crashed"', '"preempted"')
    assert cells(read_records(write(tmp_path / "export.csv", text)), "State")[:2] == ["finished", "FAIL"]


def test_other_tables_are_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "Name,lr,loss\na,1,2\nb,2,3\n")
    assert read_records(path).metadata.source == ""
    assert read_records(pd.read_csv(path)).metadata.source == ""


# ── dicts in cells ──────────────────────────────────────────────────────────────────────────────


def runs_frame() -> pd.DataFrame:
    """As W&B's documentation makes it from the API."""
    names = [f"n{n}" for n in range(6)]
    return pd.DataFrame({"summary": SUMMARIES, "config": CONFIGS, "name": names, "state": WORDS})


def check_runs(data: object) -> None:
    records = read_records(data)
    assert records.metadata.params == ("lr", "opt.name")
    assert records.metadata.metrics == ("loss", "acc.max")
    assert cells(records, "lr") == [n / 10 for n in range(6)]
    assert cells(records, "loss") == [n / 2 for n in range(6)]
    assert cells(records, "state") == WORDS


def test_runs_in_any_form(tmp_path: Path) -> None:
    frame = runs_frame()
    check_runs(frame)
    check_runs(pl.DataFrame(frame.to_dict("list")))
    frame.to_csv(tmp_path / "project.csv")  # dicts as Python prints them
    check_runs(tmp_path / "project.csv")
    frame.assign(summary=frame.summary.map(json.dumps), config=frame.config.map(json.dumps)).to_csv(tmp_path / "j.csv")
    check_runs(tmp_path / "j.csv")


def test_wrapped_values_and_words_for_numbers() -> None:
    frame = pd.DataFrame(
        {
            "config": [{"lr": {"value": n / 10, "desc": None}, "x": {"value": 1, "more": n}} for n in range(3)],
            "summary": ['{"loss": "NaN"}', '{"loss": "Infinity"}', "{'loss': -inf, 'a': [nan, 1]}"],
        }
    )
    records = read_records(frame)
    assert records.metadata.params == ("lr", "x.more")
    assert cells(records, "loss") == [None, float("inf"), float("-inf")]
    assert cells(records, "state") == ["finished"] * 3


def test_cells_that_are_no_dicts() -> None:
    frame = runs_frame()
    frame["config"] = frame["config"].map(json.dumps)
    frame.loc[2, "config"] = "{'lr': open('x')}"
    refuse(FormatError, "config: row 2", "open", of=lambda: read_records(frame))
    frame.loc[2, "config"] = None
    assert cells(read_records(frame), "lr")[2] is None


@settings(max_examples=60)
@given(cell=st.text(max_size=20) | st.builds("{{{}".format, st.text(max_size=20)))
def test_any_cell(cell: str) -> None:
    frame = pd.DataFrame({"config": ['{"lr": 1}', cell, '{"lr": 3}'], "summary": ['{"l": 1}', '{"l": 2}', cell]})
    tolerate(lambda: pedanova.analyze(frame, "l", scan=pedanova.Scan(threads=1)))


# ── the local folder ────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(5):
        online = "offline-" if n % 2 else ""
        files = tmp_path / "wandb" / f"{online}run-20240101_12000{n}-ab{n}" / "files"
        depth = "  value: 3\n" if n else "  value: 1e-3\n"
        write(files / "config.yaml", f"_wandb:\n  value: {{}}\nlr:\n  desc: null\n  value: 0.{n}\nmix:\n{depth}")
        write(files / "wandb-summary.json", {"loss": n / 2, "_runtime": 3.5, "_wandb": {"runtime": 3}})
        write(files / "wandb-metadata.json", {"os": "Linux"})
    (tmp_path / "wandb" / "latest-run").symlink_to(tmp_path / "wandb" / "run-20240101_120000-ab0")
    return tmp_path / "wandb"


def test_a_local_folder(folder: Path) -> None:
    runs = sorted(folder.glob("*run-2*"))
    (runs[0] / "files" / "wandb-summary.json").unlink()
    for place in (folder, folder.parent):
        records = read_untouched(place)
        assert records.rows == 5
        assert records.metadata.params == ("lr", "mix")
        assert records.metadata.objectives == ("loss",)
        assert cells(records, "state").count("running") == 1
        assert sorted(set(cells(records, "mix"))) == [0.001, 3]
    refuse(DataError, "single W&B run", str(folder), of=lambda: read_records(runs[0]))
    refuse(DataError, "'x'", of=lambda: read_records(folder, study="x"))


def test_runs_without_settings(folder: Path) -> None:
    runs = sorted(folder.glob("*run-2*"))
    (runs[0] / "files" / "config.yaml").unlink()
    write(runs[1] / "files" / "config.yaml", "lr: [1")
    write(runs[2] / "files" / "config.yaml", "just text")
    write(runs[3] / "files" / "wandb-summary.json", '{"loss"')
    records = read_records(folder)
    assert records.rows == 2
    assert any("3 runs have no settings in files/config.yaml" in note for note in records.notes)
    for run in runs:
        (run / "files" / "config.yaml").unlink(missing_ok=True)
    refuse(DataError, "but none has settings in files/config.yaml", "wandb sync", of=lambda: read_records(folder))


def test_without_pyyaml(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def hide(name: str, *rest: Any, **named: Any) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", hide)
    refuse(MissingLibraryError, "config.yaml", "pip install 'pyyaml>=", of=lambda: read_records(folder))


@settings(max_examples=60)
@given(text=st.text(max_size=40) | st.sampled_from(["!!python/object:os.system x", "&a [*a]", "? [1]", "2024-13-45"]))
def test_any_yaml(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("yaml") / "a.yaml"
    file.write_bytes(text.encode(errors="replace"))
    tolerate(lambda: read_yaml(file))


def test_yaml_makes_no_objects(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", "!!python/object/apply:os.getcwd []")
    with pytest.raises(PedanovaError, match="YAML"):
        read_yaml(file)
    assert read_yaml(write(file, "a: 1e-5\nb: -2E+3\nc: 1.0e-3\nd: e5\n")) == {
        "a": 1e-5,
        "b": -2e3,
        "c": 1e-3,
        "d": "e5",
    }
