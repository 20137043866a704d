"""Studies side by side, live and in a file: what is drawn, what follows, and a study asked alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.chromium import Page
from helpers.groups import ODD, studies_of
from helpers.tabs import FAST, asked, saved, served, settled

NAMES = "return [...document.querySelectorAll('.groups-table tbody th button')].map((one) => one.textContent)"
CELLS = "return document.querySelector('.groups-table tbody tr:nth-child(2)').textContent"
BY_DISAGREEMENT = """
    const list = document.querySelector('.groups-order');
    list.value = 'disagreement';
    list.dispatchEvent(new Event('change'))"""


def test_studies_stand_side_by_side_and_one_is_asked_alone(browser: Page) -> None:
    a = studies_of(rows=200)
    with served(browser, a, group="dataset") as page:
        assert page.run(NAMES) == list(a.groups("dataset"))
        assert page.text(".groups-odd").strip() == "◆"
        rows = saved(page, "groups")
        own = a.groups("dataset")[ODD].importance(**FAST)
        assert {row["parameter"]: float(row["share"]) for row in rows if row["dataset"] == ODD} == {
            row.name: row.share for row in own.rows
        }
        before = page.run(CELLS)
        page.run("pedanova.state.select('lr', { range: [0.2, 0.9] })")
        settled(page)
        assert page.run(CELLS) != before
        page.run("pedanova.state.undo()")
        settled(page)
        page.click(".groups-table tbody tr:nth-child(2) th button")
        settled(page)
        assert asked(page)["study"] == {"column": "dataset", "name": ODD}
        assert page.bars() == {row.name: pytest.approx(row.share) for row in own.rows}
        assert f"dataset = {ODD}" in page.text("#chips")
        assert len(page.run(NAMES)) == 5
        page.click("#chips [aria-label='Show all studies again']")
        settled(page)
        assert "study" not in asked(page)
        assert page.complaints() == []


def test_of_very_many_studies_some_are_shown(browser: Page) -> None:
    a = studies_of(studies=40, rows=60)
    with served(browser, a, group="dataset", draws=0) as page:
        assert len(page.run(NAMES)) == 16
        assert "24 more studies" in page.text(".groups-more")
        page.click(".groups-more button")
        settled(page)
        assert len(page.run(NAMES)) == 32
        page.run(BY_DISAGREEMENT)
        settled(page)
        assert page.complaints() == []


def test_a_file_has_the_studies_of_its_first_question(page: Page, tmp_path: Path) -> None:
    a = studies_of(rows=200)
    a.report(tmp_path / "studies.html", group="dataset", reduce=False, ladder=[0.1, 0.5, 1.0], **FAST)
    page.open(tmp_path / "studies.html")
    page.click("#tab-groups")
    settled(page)
    names = page.run("return [...document.querySelectorAll('.groups-table tbody th')].map((one) => one.textContent)")
    assert [name.removesuffix(" ◆") for name in names] == ["all studies", *a.groups("dataset")]
    assert page.run("return document.querySelectorAll('.groups-table tbody button, .groups-order').length") == 0
    own = a.groups("dataset")[ODD].importance(**FAST)
    assert {row["parameter"]: float(row["share"]) for row in saved(page, "groups") if row["dataset"] == ODD} == {
        row.name: row.share for row in own.rows
    }
    page.run("pedanova.state.ask({ target: { part: [0, 0.5] } })")
    settled(page)
    assert "the best 10" in page.text("#panel-groups .pane-note")
    assert page.complaints() == []
