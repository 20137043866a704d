"""The static page in a real browser: what is asked of it is what Python answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from urllib.parse import quote

import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.reports import LADDER
from pedanova.report.page import answers
from pedanova.report.page.page_question import parse_question

COUNTS = {"estimator": "counts", "draws": 200}
HOME, END, LEFT, RIGHT, ENTER, ESCAPE = "\ue011", "\ue010", "\ue012", "\ue014", "\ue007", "\ue00c"


def expected(a: pa.Analysis, metric: str = "share", *question: object) -> dict[str, float]:
    return {row.name: getattr(row, metric) for row in a.importance(*question, **COUNTS).rows}


def bands(page: Page) -> list[float]:
    question = page.state()["question"]
    return [question[which]["part"][1] for which in ("target", "region")]


def test_it_opens_offline_with_the_first_question(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    assert page.bars() == expected(analysis, "share", 0.1, 1.0)
    assert page.bars("ratio") == expected(analysis, "ratio", 0.1, 1.0)
    assert page.run("return navigator.onLine") is False
    assert page.text("#headline")
    assert page.run("return document.querySelectorAll('.density .plot .target').length") == len(analysis.space)
    assert report.stat().st_size < 500_000


def test_arrow_keys_reach_every_pair(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    for target, region in combinations(range(len(LADDER)), 2):
        page.press("[data-edge=region]", END)
        page.press("[data-edge=target]", HOME, *[RIGHT] * target)
        page.press("[data-edge=region]", END, *[LEFT] * (len(LADDER) - 1 - region))
        assert bands(page) == [LADDER[target], LADDER[region]]
        assert page.bars() == expected(analysis, "share", LADDER[target], LADDER[region])
        found = analysis.importance(LADDER[target], LADDER[region], **COUNTS).rows[0]
        said = page.run("return document.querySelector('[data-edge=target]').getAttribute('aria-valuetext')")
        assert f"{found.n_target} rows" in said
        assert f"{found.n_target} good" in page.text(".counts")


def test_the_mouse_drags_each_edge_to_the_nearest_step(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    script = "return Number(document.querySelector('[data-edge=target]').dataset.x) / arguments[0].clientWidth"
    at = page.run(script, page.find("#strip"))
    page.drag(".strip", (at, 0.5), (at + 0.25, 0.5))
    target, region = bands(page)
    assert 0.1 < target < region == 1.0
    assert target in LADDER
    assert page.bars() == expected(analysis, "share", target, 1.0)
    page.click("#tool-undo")
    assert bands(page) == [0.1, 1.0]  # one drag is one step


def test_the_region_stays_wider_than_the_target(page: Page, report: Path) -> None:
    page.open(report)
    page.press("[data-edge=region]", HOME)  # pushes the target down
    assert bands(page) == [0.05, 0.1]
    page.press("[data-edge=target]", END)  # pushes the region up
    assert bands(page) == [0.3, 1.0]


def test_what_the_target_is_compared_with(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    page.press("select[data-focus=baseline]", "a")
    assert page.state()["question"]["baseline"] == "uniform"
    assert page.bars() == expected(analysis, "share", 0.1, 1.0, "uniform")
    assert page.text("#densities .against") == "uniform draw"


def test_a_chip_is_typed_into(page: Page, report: Path) -> None:
    page.open(report)
    page.click("[data-focus=target]")
    page.press(".chip-field", "\ue009a\ue000", "28 %", ENTER)  # Ctrl+A
    assert bands(page) == [0.3, 1.0]  # the nearest step of the file
    page.click("[data-focus=target]")
    page.press(".chip-field", "\ue009a\ue000", "<= 0.4", ENTER)
    assert "only percentages" in page.run("return document.querySelector('.chip-field').validationMessage")
    page.press(".chip-field", ESCAPE)
    assert bands(page) == [0.3, 1.0]


def test_undo_redo_and_the_address(page: Page, report: Path) -> None:
    page.open(report)
    page.press("[data-edge=target]", RIGHT)
    page.press("[data-edge=region]", LEFT)
    moved = page.state()
    assert moved["question"]["target"]["part"][1] == 0.3 or bands(page) != [0.1, 1.0]
    address = page.run("return window.location.href")
    for _ in range(2):
        page.run("document.getElementById('tool-undo').click()")
    page.settle()
    assert bands(page) == [0.1, 1.0]
    assert page.run("return document.getElementById('tool-undo').disabled")
    page.press("body", "\ue009\ue008z\ue000")  # Ctrl+Shift+Z
    page.run("document.getElementById('tool-redo').click()")
    page.settle()
    assert page.state() == moved
    page.driver.get("about:blank")
    page.driver.get(address)
    page.until("return document.body.dataset.ready === 'yes'")
    assert page.state() == moved


def test_back_and_forward_step_through_questions(page: Page, report: Path) -> None:
    """As undo and redo do; a tab that is opened is no step of either."""
    page.open(report)
    page.press("[data-edge=target]", RIGHT)
    page.click("#tab-notes")
    page.press("[data-edge=region]", LEFT)
    last = bands(page)
    for word, known in (("back", False), ("forward", True)):
        page.run(f"history.{word}()")
        page.until("return document.getElementById('tool-redo').disabled === arguments[0]", known)
        page.settle()
        assert (bands(page) == last) == known
        assert page.state()["tab"] == "notes"
    assert not page.run("return document.getElementById('tool-undo').disabled")


ODD = ["%", "{}", "[1]", "null", "a" * 5000, '{"question":1}', '{"tab":{},"hidden":[1],"pair":["a"]}',
       '{"question":{"target":{},"region":{},"selection":{}}}',
       '{"question":{"target":{"part":[0,9]},"region":{"value":[null,null]},"selection":{}}}']  # fmt: skip


@pytest.mark.parametrize("address", ODD)
def test_an_address_that_is_none(page: Page, report: Path, address: str) -> None:
    page.driver.get("about:blank")
    page.driver.get(f"{report.as_uri()}#{address if address == '%' else quote(address)}")
    page.until("return document.body.dataset.ready === 'yes'")
    assert page.text("#headline")
    assert page.run("return document.querySelectorAll('.ranked, .refused').length") > 0


def test_a_box_that_was_asked_for_is_a_chip(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    question = parse_question({"selection": {"optimizer": {"labels": ["adam", "sgd"]}}}, analysis.space)
    page.run("pedanova.state.ask({selection: {optimizer: {labels: ['adam', 'sgd']}}})")
    page.settle()
    wanted = answers.ranking(analysis.data, replace(question, **COUNTS))
    assert page.answer()["importances"] == wanted["importances"]
    assert "optimizer = adam, sgd" in page.text("#chips")
    page.click("[data-focus='cross optimizer']")
    assert page.bars() == expected(analysis, "share", 0.1, 1.0)


def test_noise_stands_apart_and_grey(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    noise = {row.name for row in analysis.importance(0.1, **COUNTS).rows if row.significant is False}
    assert noise
    script = "return [...document.querySelectorAll('#matters .folded ~ .ranked')].map((row) => row.dataset.parameter)"
    assert set(page.run(script)) == noise  # there is room for them
    assert page.run("return document.querySelectorAll('#matters .ranked.noise').length") == len(noise)
    page.click(".fold")
    assert page.run(script) == []
    assert len(page.bars()) == len(analysis.space)


def test_a_density_is_enlarged(page: Page, report: Path) -> None:
    page.open(report)
    page.click(".density[data-parameter=lr] .card-name")
    assert page.run("return document.getElementById('sheet').open")
    assert "The importance for the target" in page.text("#sheet")
    assert page.run("return document.querySelectorAll('#sheet .plot .target').length") == 1
    page.press("#sheet summary", " ")
    assert page.run("return document.querySelectorAll('#sheet tbody tr').length") > 5
    page.press("#sheet .close", ESCAPE)
    assert not page.run("return document.getElementById('sheet').open")
    assert page.run("return document.activeElement.className") == "card-name"  # back where it came from


def test_a_file_without_rows_cannot_be_brushed(page: Page, report: Path) -> None:
    page.open(report)
    page.drag(".density[data-parameter=lr] svg", (0.2, 0.5), (0.6, 0.5))
    assert page.state()["question"]["selection"] == {}
    assert page.run("return document.querySelectorAll('.brush, .bar-catch').length") == 0
    assert page.text("#densities .how") == "click to enlarge"


def test_lines_to_copy(page: Page, report: Path) -> None:
    page.open(report)
    page.press("[data-edge=region]", LEFT)
    page.click("#tool-code")
    shown = page.run("return [...document.querySelectorAll('#code code')].map((one) => one.textContent)")
    assert shown[0].splitlines()[-1].startswith("a.importance(0.1, 0.3")
    assert shown[1].startswith("pedanova analyze ")
