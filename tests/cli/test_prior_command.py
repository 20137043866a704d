"""`pedanova prior`: tables on the terminal, the prior in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from helpers.families import family_table
from pedanova.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies")
    tables = [pd.DataFrame(family_table(seed, rows=200)) for seed in range(3)]
    for number, table in enumerate(tables):
        table.to_csv(place / f"study{number}.csv", index=False)
    pd.concat([table.assign(dataset=f"d{i}") for i, table in enumerate(tables)]).to_csv(place / "all.csv", index=False)
    return place


def test_files_and_groups_are_studies(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [str(folder / f"study{i}.csv") for i in range(3)]
    out = tmp_path / "prior.py"
    assert main(["prior", *files, "--objective", "loss", "--target", "0.1", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "over 3 studies" in text
    assert "What the prior of the other studies is worth" in text
    assert f"Prior for optuna: {out}" in text
    compile(out.read_text(encoding="utf-8"), "prior.py", "exec")
    assert (
        main(["prior", str(folder / "all.csv"), "--objective", "loss", "--group", "dataset", "--format", "json"]) == 0
    )
    plain = json.loads(capsys.readouterr().out)
    assert plain["studies"] == ["d0", "d1", "d2"]
    assert plain["no_worse"] == 1.0
    assert {row["parameter"] for row in plain["prior"]} >= {"lr", "layers", "optimizer"}


@pytest.mark.slow
def test_defaults_and_a_figure(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = tmp_path / "prior.png"
    command = ["prior", str(folder / "all.csv"), "--objective", "loss", "--group", "dataset", "--defaults"]
    assert main([*command, "--figure", str(drawn), "--format", "json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["configuration"]["optimizer"] == "adam"
    assert len(plain["regrets"]) == 3
    assert drawn.read_bytes()[:4] == b"\x89PNG"


def test_a_form_alone_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prior", str(folder / "study0.csv"), "--objective", "loss", "--to", "configspace"]) == 0
    told = capsys.readouterr()
    assert {one["name"] for one in json.loads(told.out)["hyperparameters"]} >= {"lr", "layers"}


@pytest.mark.parametrize(("more", "words"), [
    (["--out", "prior.txt"], "form"), (["--safety", "2"], "--safety"), (["--target", "2"], "target"),
    (["--figure", "prior.gif"], "must end in"),
])  # fmt: skip
def test_mistakes_end_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert main(["prior", str(folder / "study0.csv"), "--objective", "loss", *more]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(err.strip().splitlines()) == 1
