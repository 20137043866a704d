"""Rows by cell in a page's payload: what is packed can be unpacked, and nothing is in the file without leave."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.tabs import mixed
from pedanova.errors import QueryError
from pedanova.report.page import binned as page
from pedanova.report.page.embedded import payload_of
from pedanova.space.grid import grid_of

QUICK: dict[str, Any] = {
    "estimator": "counts",
    "draws": 0,
    "reduce": False,
    "ladder": [0.1, 1.0],
    "questions": [(0.1, 1.0)],
}


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=kind)


@pytest.fixture(scope="module")
def analysis() -> pa.Analysis:
    return mixed(300)


def test_every_row_comes_back(analysis: pa.Analysis) -> None:
    facts = payload_of(analysis, rows="binned", **QUICK)["facts"]["binned"]
    rows = analysis.binned()
    assert facts["rows"] == len(rows)
    tied = np.unpackbits(unpacked(facts["tied"], "u1"), bitorder="little")[: len(rows)]
    assert tied.astype(bool).tolist() == rows.tied.tolist()
    for one in facts["parameters"]:
        planes = unpacked(one["at"], "u1").reshape(one["bytes"], -1).astype(int)
        assert (planes * 256 ** np.arange(one["bytes"])[:, None]).sum(axis=0).tolist() == rows.cells[
            one["name"]
        ].tolist()
        grid = grid_of(analysis.space[one["name"]])
        assert one["cells"] == grid.cells == len(unpacked(one["groups"], "u1"))
        if one["edges"]:
            assert unpacked(one["edges"], "<f8").tolist() == grid.edges.tolist()
        if one["prior"]:
            assert unpacked(one["prior"], "<f8").tolist() == grid.prior.tolist()


def test_a_brush_picks_edges_values_or_labels(analysis: pa.Analysis) -> None:
    found = {one["name"]: one for one in payload_of(analysis, rows="binned", **QUICK)["facts"]["binned"]["parameters"]}
    assert found["optimizer"]["labels"] == ["adam", "rmsprop", "sgd"]
    assert found["width"]["values"] == [16, 32, 64, 128]
    assert found["layers"]["values"] == list(range(1, 41))
    assert all(found[name]["edges"] for name in ("lr", "dropout", "units", "momentum"))
    assert [name for name, one in found.items() if one["child"]] == ["momentum"]


def test_no_row_without_leave(analysis: pa.Analysis, tmp_path: Path) -> None:
    assert payload_of(analysis, **QUICK)["facts"]["binned"] is None
    with pytest.raises(QueryError, match="rows='all' must be None"):
        analysis.report(tmp_path / "r.html", rows="all")
    assert not (tmp_path / "r.html").exists()


def test_too_many_rows_are_refused(analysis: pa.Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_ROWS", 299)
    with pytest.raises(QueryError, match="300 rows are more than a page can hold"):
        payload_of(analysis, rows="binned", **QUICK)
