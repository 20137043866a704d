"""Files that hold no trials are named for what they are, with what would help."""

from __future__ import annotations

import pickle
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.logs import write
from pedanova.errors import DataError, FormatError, PedanovaError
from pedanova.sources import read_records


def test_a_foreign_database(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE users (id INTEGER, name TEXT)")
    database.close()
    refuse(
        FormatError, "database of an unknown tool", "users", "sqlite3 -header -csv", of=lambda: pa.analyze(path, "y")
    )


def test_an_empty_database(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(b"")
    refuse(DataError, "empty database", of=lambda: pa.analyze(path, "y"))
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (x)")
        database.execute("DROP TABLE t")
    database.close()
    refuse(FormatError, "without tables", of=lambda: pa.analyze(path, "y"))


@pytest.mark.parametrize("name", ["study.db", "trials.csv", "trials.parquet", "log.json"])
def test_a_pointer_of_git_lfs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    refuse(PedanovaError, "Git LFS pointer", "git lfs pull", of=lambda: pa.analyze(path, "y"))


def test_a_chart_of_wandb(tmp_path: Path) -> None:
    path = tmp_path / "wandb_export.csv"
    runs = [f"run{i} - val_loss" for i in range(3)]
    names = ["Step", *(f"{run}{end}" for run in runs for end in ("", "__MIN", "__MAX"))]
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    refuse(DataError, "exported W&B chart", "runs table", of=lambda: pa.analyze(path, "y"))


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.write_text, (tmp_path / "trapped", "x")

    path = tmp_path / "study.pkl"
    path.write_bytes(pickle.dumps(Trap()))
    refuse(DataError, "pickle", "sqlite:///study.db", "add_trials", of=lambda: pa.analyze(path, "y"))
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("name", ["t.numbers", "t.xlsx"])
def test_a_spreadsheet_that_is_none(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"lr;loss")
    refuse(DataError, "not a readable spreadsheet", "CSV", of=lambda: pa.analyze(path, "y"))


EPOCHS = range(1, 31)


def lightning(run: float) -> str:
    return "epoch,step,train_loss,val_loss\n" + "".join(f"{n},{50 * n},{1 / n},{run / n}\n" for n in EPOCHS)


def ultralytics(run: float) -> str:
    names = "epoch,time,train/box_loss,metrics/mAP50(B),metrics/mAP50-95(B),val/box_loss,lr/pg0\n"
    rows = (f"{n},{9.5 * n},{1 / n},{1 - 1 / n},{0.01 * run - 0.1 / n},{2 / n},{0.01 / n}\n" for n in EPOCHS)
    return names + "".join(rows)


def ray(run: float) -> str:
    names = "loss,time_this_iter_s,done,training_iteration,trial_id,date,timestamp,pid,hostname,node_ip,time_total_s\n"
    rows = (
        f"{run / n},0.1,False,{n},a1b2_00000,2025-05-22_10-00-{n:02d},{1_747_900_000 + n},77,host,10.0.0.1,{0.1 * n}\n"
        for n in EPOCHS
    )
    return names + "".join(rows)


RUNS: dict[str, Any] = {  # the name of a run's curve, the curve, the file of its settings, its settings, the objective
    "Lightning": ("version_{}", "metrics.csv", lightning, "hparams.yaml", "lr: 0.{}\n", "val_loss"),
    "Ultralytics": ("train{}", "results.csv", ultralytics, "args.yaml", "lr0: 0.{}\n", "fitness"),
    "Ray Tune": ("train_{}", "progress.csv", ray, "params.json", '{{"lr": 0.{}}}', "loss"),
}


@pytest.mark.parametrize("tool", RUNS)
def test_the_curve_of_one_run_names_the_folder_of_all(tmp_path: Path, tool: str) -> None:
    folder, name, curve, settings, text, objective = RUNS[tool]
    for number in range(10, 40):
        place = tmp_path / "all runs" / folder.format(number)
        write(place / name, curve(number))
        write(place / settings, text.format(number))
    message = refuse(DataError, "single", tool, of=lambda: pa.analyze(place / name, objective))
    advised = message.rpartition(", ")[2]
    assert Path(advised) == tmp_path / "all runs"
    assert len(pa.analyze(advised, objective)) == 30


@pytest.mark.parametrize("tool", RUNS)
def test_the_curve_of_one_run_is_no_table_of_trials(tmp_path: Path, tool: str) -> None:
    """Given alone, under any name."""
    objective = {"Lightning": "val_loss", "Ultralytics": "metrics/mAP50-95(B)", "Ray Tune": "loss"}[tool]
    path = write(tmp_path / "curve.csv", RUNS[tool][2](2))
    refuse(DataError, "curve of one run", "folder of all runs", of=lambda: pa.analyze(path, objective))


def test_results_of_a_research_loop(tmp_path: Path) -> None:
    """Crashes have a score of 0 and never count; descriptions hold quotes, commas and dashes."""
    rows = []
    for n in range(60):
        crash = n % 6 == 5
        score, memory = (0, 0.0) if crash else (1.3 - 0.001 * (n * 7 % 40), 10 + (n * 11 % 37) / 10)
        words = f'lr {n} -> {n + 1}, "warm" start - it\'s {n}'
        status = "crash" if crash else ("keep", "discard")[n % 2]
        rows.append(f"{n:07x}\t{score:.6f}\t{memory}\t{n % 4}\t{status}\t{words}")
    path = write(tmp_path / "results.tsv", "\n".join(["commit\tval_bpb\tmemory_gb\tdepth\tstatus\tdescription", *rows]))
    assert read_records(path).rows == 60
    a = pa.analyze(path, "val_bpb", direction="min")
    assert len(a) == 50
    assert list(a.data.space) == ["depth"]


def test_a_missing_file_is_missing_with_study_too(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        pa.analyze(tmp_path / "optuna.db", study="mlp")
