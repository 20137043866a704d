"""Values that lie in no order with the others have a domain of their own beside the range."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova.data.column import as_column
from pedanova.data.space_inference import guess
from pedanova.errors import OutsideSpaceError
from pedanova.space.exports import FORMS, export, unfolded
from pedanova.space.parameters import in_words

ROWS = 600
RNG = np.random.default_rng(6)
LOG = np.exp(RNG.uniform(np.log(1e-6), 0.0, ROWS))
DECAY = np.where(np.arange(ROWS) % 5 == 0, 0.0, LOG)
DEPTH = np.where(np.arange(ROWS) % 7 == 0, -1, RNG.integers(1, 60, ROWS))
PART = np.where(np.arange(ROWS) % 4 == 0, "auto", [f"{x:.5f}" for x in RNG.uniform(0, 1, ROWS)])
LOSS = np.where(DECAY == 0, 0.1, np.abs(np.log10(LOG) + 3)) + RNG.normal(0, 0.05, ROWS)
TABLE: dict[str, Any] = {"decay": DECAY, "depth": DEPTH, "part": PART, "loss": LOSS}


def test_a_number_written_in_another_way_than_the_others_is_told() -> None:
    part = np.where(np.arange(ROWS) == 7, "0,01", PART)
    notes = pa.analyze({"part": np.where(part == "auto", "0.5", part), "loss": LOSS}, "loss").notes
    (told,) = [note for note in notes if "has only 1 row;" in note]
    assert "'0,01'" in told
    assert "meant as a number" in told


def test_what_is_special() -> None:
    space = pa.analyze(TABLE, "loss").space
    words = {name: in_words(parameter) for name, parameter in space.items()}
    assert words["decay"].startswith("0 or 1.0")
    assert words["decay"].endswith("log")
    assert words["depth"] == "-1 or 1 … 59"
    assert words["part"].startswith("auto or 9e-4")
    assert all(isinstance(parameter, pa.Switch) and parameter.is_own for parameter in space.values())
    notes = pa.analyze(TABLE, "loss").notes
    assert any("decay: 0 is taken as a special value beside the range" in note for note in notes)
    assert any("part: auto beside a range of numbers" in note for note in notes)


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 1, 200), np.r_[0.0, 0.0, np.linspace(0.1, 1, 200)], np.r_[0.0, LOG], np.arange(-1, 40),
        np.tile([-1, 10, 20, 50], 50), np.tile([0.0, 0.001, 0.01, 0.1], 50), np.r_[-1, -1, np.linspace(-3, 3, 99)],
    ],
)  # fmt: skip
def test_what_is_not(values: Any) -> None:
    found = guess(as_column("x", RNG.permutation(values))).parameter
    assert not isinstance(found, pa.Switch)


def test_words_beside_few_numbers_are_categories() -> None:
    found = guess(as_column("x", np.tile(["auto", "1", "2", "3"], 20))).parameter
    assert isinstance(found, pa.Categorical)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_same_in_parts(kind: str, tmp_path: Path) -> None:
    many = 3000
    part = np.where(
        np.arange(many) % 4 == 0, "auto", [f"{x:.6f}" for x in np.random.default_rng(1).uniform(0, 1, many)]
    )
    frame = pd.DataFrame({name: np.resize(values, many) for name, values in TABLE.items()} | {"part": part})
    for i, rows in enumerate((frame.iloc[:1300], frame.iloc[1300:])):
        path = tmp_path / f"{i}.{kind}"
        rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    parts, held = (pa.analyze(str(tmp_path / f"*.{kind}"), "loss", stream=stream) for stream in (True, False))
    assert parts.space == held.space
    assert parts.tallies == held.tallies


def test_every_row_has_a_cell_and_the_special_value_counts() -> None:
    a = pa.analyze(TABLE, "loss")
    for name, tally in a.tallies.items():
        assert tally.counts[:, tally.grid.missing :].sum() == 0, name
    grid = a.tallies["decay"].grid
    assert a.tallies["decay"].counts[:, grid.blocks[0].start].sum() == ROWS // 5
    assert next(iter(a.importance(**COUNTS))) == "decay"


def test_a_given_space_is_checked() -> None:
    space = {"decay": pa.Switch("", {"off": pa.Categorical([0]), "on": pa.Float(1e-3, 1, log=True)})}
    refuse(OutsideSpaceError, "decay", "in none of its domains", of=lambda: pa.analyze(TABLE, "loss", space=space))
    again = pa.Space.from_dict(pa.analyze(TABLE, "loss").space.to_dict())
    assert pa.analyze(TABLE, "loss", space=again).tallies == pa.analyze(TABLE, "loss").tallies


@pytest.mark.parametrize("form", FORMS)
def test_exports(form: str) -> None:
    space = pa.analyze(TABLE, "loss").space
    assert export(space, form)
    plain = unfolded(space)
    assert list(plain)[:2] == ["decay_kind", "decay"]
    assert plain["decay"].when == (("decay_kind", ("range",)),)


def test_the_page_shows_them(tmp_path: Path) -> None:
    pa.analyze(TABLE, "loss").report(tmp_path / "r.html", estimator="counts", draws=0)
    assert "range" in (tmp_path / "r.html").read_text()
