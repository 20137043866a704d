"""A messy table gives the analysis of its clean twin, or a warning that names the difference.

Each comes as CSV and through one other door.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import pedanova as pa
from helpers.messy import DOORS, TABLES, Messy


def counts(a: pa.Analysis, messy: Messy | None = None) -> dict[str, object]:
    names = {} if messy is None else messy.names
    return {names.get(name, name): tally.counts.tolist() for name, tally in a.data.tallies.items()}


@cache
def twin(kind: str) -> pa.Analysis:
    messy = TABLES[kind]
    known = {old: new for new, old in messy.names.items()}
    table = {(known.get(n, n) if n == "loss" else n): values for n, values in messy.clean.items()}
    params = [name for name in table if name not in ("loss", messy.objective)]
    return pa.analyze(table, messy.objective, params=params)


def test_there_are_enough() -> None:
    assert len(TABLES) >= 100


OTHERS = [door for door in DOORS if door != "CSV"]
PASSED = [(kind, door) for i, kind in enumerate(TABLES) for door in ("CSV", OTHERS[i % len(OTHERS)])]


@pytest.mark.parametrize(("kind", "door"), PASSED)
def test_messy_tables(kind: str, door: str, tmp_path: Path) -> None:
    messy = TABLES[kind]
    judge = twin(kind)
    a = pa.analyze(DOORS[door](messy, tmp_path), messy.objective, **messy.options)
    warned = [note for note in a.notes if note.severity == "warning"]
    if messy.warns:
        assert any(messy.warns in note for note in warned), a.notes
    assert a.direction == judge.direction
    assert len(a) == len(judge)
    assert counts(a, messy) == counts(judge)


# Columns of dicts are opened, packed files read, copies and seeds put together, in memory alone.
WHOLE = ("a dict of settings", "a dict as JSON", "a dict as Python", "packed", "every line twice", "some lines twice",
         "a result of several seeds")  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind not in WHOLE])
def test_messy_tables_in_parts(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    messy = TABLES[kind]
    a = pa.analyze(DOORS["CSV"](messy, tmp_path), messy.objective, scan=pa.Scan(stream=True), **messy.options)
    judge = twin(kind)
    assert (a.direction, len(a)) == (judge.direction, len(judge))
    assert counts(a, messy) == counts(judge)
