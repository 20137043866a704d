"""A saved report says which rows it is about, and its line of Python gives its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.reports import QUICK

HOME, END, LEFT, RIGHT = "\ue011", "\ue010", "\ue012", "\ue014"


def line(page: Page) -> str:
    if page.run("return document.getElementById('code').hidden"):
        page.click("#tool-code")
    return str(page.run("return document.querySelector('#code code').textContent")).splitlines()[-1]


def same(page: Page, a: pa.Analysis) -> None:
    """What the shown line gives when it is typed is what is shown."""
    found = eval(line(page), {"a": a, "pa": pa})
    assert page.bars() == {row.name: row.share for row in found.rows}


@pytest.fixture
def saved(page: Page, explorer: str, tmp_path: Path) -> Path:
    """Of a selection, at a target that is a value of the objective."""
    page.open(explorer)
    page.run("pedanova.state.select('lr', {range: [0.0001, 0.03]})")
    page.settle()
    page.run("pedanova.state.select('optimizer', {labels: ['adam', 'sgd']})")
    page.settle()
    found = page.downloaded("report.html", lambda: page.click("#tool-save"))
    page.until("return document.getElementById('said').textContent.includes('saved')")
    kept = tmp_path / "report.html"
    kept.write_bytes(found.read_bytes())
    return kept


def test_a_saved_report_names_its_rows(page: Page, saved: Path, analysis: pa.Analysis) -> None:
    page.open(saved)
    box = {"lr": (0.0001, 0.03), "optimizer": ["adam", "sgd"]}
    rows = len(analysis.within(box))
    assert line(page).startswith(f"a.within({box!r}).importance(pa.at_most(")
    assert "--within" in page.run("return document.querySelectorAll('#code code')[1].textContent")
    same(page, analysis)
    assert f"{rows} of 400 rows" in page.text("#facts")
    assert f"{rows} of 400 rows" in page.text(".counts")
    assert page.text("#headline").startswith(("With lr", f"In {rows} selected rows"))
    chips = page.run("return [...document.querySelectorAll('.chip.fixed')].map((one) => one.textContent)")
    assert chips == ["lr 1e-4 to 0.03", "optimizer = adam, sgd"]
    page.click("#tab-targets")
    assert "only rows with lr" in page.text("#panel-targets")


def test_sliders_of_a_file_move_among_what_it_holds(page: Page, saved: Path, analysis: pa.Analysis) -> None:
    page.open(saved)
    for edge, keys in (("target", [RIGHT]), ("target", [RIGHT, RIGHT]), ("region", [LEFT]), ("region", [LEFT, LEFT]),
                       ("target", [HOME]), ("region", [END])):  # fmt: skip
        page.press(f"[data-edge={edge}]", *keys)
        assert not page.answer()["refused"]
        same(page, analysis)
    page.open(saved)
    for edge, to in (("target", 0.7), ("region", 0.4), ("target", 0.95)):
        at = page.run(
            "return Number(document.querySelector(`[data-edge=${arguments[0]}]`).dataset.x)"
            " / document.getElementById('strip').clientWidth", edge,
        )  # fmt: skip
        page.drag(".strip", (at, 0.5), (to, 0.5))
        assert not page.answer()["refused"]
        same(page, analysis)
    page.run("location.hash = encodeURIComponent(JSON.stringify({question:"
             " {...pedanova.asked(), target: {part: [0, 0.123]}}}))")  # fmt: skip
    page.settle()
    assert not page.answer()["refused"]  # an address that asks for what the file has not
    assert "no answer" not in page.text("main")


@pytest.mark.parametrize("within", ["optimizer == 'adam'", {"layers": (2.0, 4.0)}])
def test_a_report_about_some_rows_says_so(page: Page, tmp_path: Path, analysis: pa.Analysis, within: Any) -> None:
    analysis.report(tmp_path / "r.html", within=within, **QUICK)
    page.open(tmp_path / "r.html")
    assert line(page).startswith(f"a.within({within!r}).importance(")
    same(page, analysis)
    assert page.run("return document.querySelectorAll('.chip.fixed').length") == 1
    assert f"{len(analysis.within(within))} of 400 rows" in page.text("#facts")
