"""A file with rows by cell is brushed by mouse and keyboard like a page that is answered live."""

from __future__ import annotations

from pathlib import Path

import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.reports import LADDER, QUICK


@pytest.fixture(scope="module")
def binned(analysis: pa.Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("binned") / "report.html"
    analysis.report(path, ladder=LADDER, rows="binned", **QUICK)
    return path


@pytest.mark.slow
def test_a_file_with_rows_is_brushed(page: Page, binned: Path, analysis: pa.Analysis) -> None:
    page.open(binned)
    page.drag(".density[data-parameter=lr] svg", (0.3, 0.5), (0.7, 0.5))
    low, high = page.state()["question"]["selection"]["lr"]["range"]
    inner = analysis.within({"lr": (low, high)})
    assert page.answer()["rows"]["selected"] == inner.rows
    end = analysis.reach(0.1)[0]
    found = inner.importance(pa.at_most(end), estimator="counts", draws=0)
    assert page.bars() == pytest.approx({row.name: row.share for row in found.rows}, abs=1e-9)
    assert page.run("return document.querySelector('.density[data-parameter=lr] .brush-band').classList.contains('on')")
    page.click(".density[data-parameter=optimizer] .bar-catch")
    assert page.answer()["rows"]["selected"] == analysis.within({"lr": (low, high), "optimizer": ["adam"]}).rows
    page.run("document.getElementById('tool-undo').click()")
    page.run("document.getElementById('tool-undo').click()")
    page.settle()
    assert page.state()["question"]["selection"] == {}
    assert page.answer()["sure"] is True  # all rows have the answer that Python gave
