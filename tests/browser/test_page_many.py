"""Very many parameters: only what is on the screen is drawn and asked for while the mouse moves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import saved, served, tab

MANY = 104
LINES = "return document.querySelectorAll('#matters .ranked').length"


@pytest.fixture(scope="module")
def wide() -> pa.Analysis:
    random = np.random.default_rng(0)
    columns = {f"p{i:03d}": random.random(200) for i in range(MANY)}
    return pa.analyze({**columns, "loss": columns["p077"] + 0.5 * columns["p100"] + 0.1 * random.random(200)}, "loss")


def bodies(page: Page) -> list[dict[str, Any]]:
    """Questions that were sent since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in page.driver.get_log("performance")]
    sent = [one["params"]["request"] for one in events if one["method"] == "Network.requestWillBeSent"]
    return [json.loads(one["postData"]) for one in sent if "postData" in one]


def test_a_long_ranking_holds_the_lines_that_are_seen(page: Page, wide: pa.Analysis) -> None:
    page.size(1440, 900)
    with served(page, wide):
        page.run("document.querySelectorAll('.fold[aria-expanded=false]').forEach((fold) => fold.click())")
        page.settle()
        assert 15 < page.run(LINES) < 60
        assert page.run("return document.querySelector('.rank-box').scrollHeight") > 30 * MANY
        assert page.run("return document.documentElement.scrollHeight") < 3000
        assert page.text("#headline").startswith("p077 matters most")
        first = page.text("#matters .ranked")
        page.run("document.querySelector('.rank-box').scrollTop = 1e6")
        page.until("return document.querySelector('#matters .ranked').textContent !== arguments[0]", first)
        assert page.run(LINES) < 60
        page.press(".rank-search", "p0")
        page.until(f"{LINES} > 20")  # as many as there is room for, though the box was small before
        page.press(".rank-search", "77")
        page.until(f"{LINES} === 1")
        assert page.text("#matters .ranked .name") == "p077"


def test_only_what_is_on_the_screen_is_asked_for_first(page: Page, wide: pa.Analysis) -> None:
    page.size(1440, 900)
    with served(page, wide):
        first, *_ = page.run("return [...document.querySelectorAll('.density')].map((one) => one.dataset.parameter)")
        bodies(page)
        page.drag(f".density[data-parameter={first}] svg", (0.1, 0.5), (0.6, 0.5))
        asked = bodies(page)
        quick = [one for one in asked if one["part"] in ("answer", "densities") and one.get("sure") is not True]
        assert quick
        assert all(0 < len(one["names"]) <= 60 for one in quick)
        assert all(one.get("drawn") is False for one in asked if one["part"] == "answer")
        page.settle()
        shown = page.answer()
        assert len(shown["importances"]) == MANY  # and all, once it rests
        assert len(shown["densities"]) < 60
        wanted = eval(shown["lines"]["python"], {"a": wide, "pa": pa})
        assert {row["parameter"]: row["share"] for row in shown["importances"]} == {
            row.name: row.share for row in wanted.rows
        }


def test_cards_are_drawn_when_they_come_into_sight(page: Page, wide: pa.Analysis) -> None:
    page.size(1440, 900)
    with served(page, wide):
        page.click(".show-all")
        page.settle()
        drawn = "return document.querySelectorAll('.density .plot .target').length"
        assert page.run("return document.querySelectorAll('.density').length") == MANY
        page.until(f"{drawn} >= 9")
        assert page.run(drawn) < 60
        last = "[...document.querySelectorAll('.density')].at(-1)"
        page.run(f"{last}.scrollIntoView()")
        page.until(f"return {last}.querySelector('.plot .target') !== null")


def test_a_file_of_many_parameters_is_small(page: Page, wide: pa.Analysis, tmp_path: Path) -> None:
    asked = [(0.1, 1.0), (0.05, 1.0)]
    wide.report(tmp_path / "r.html", questions=asked, estimator="counts", draws=100, reduce=False)
    assert (tmp_path / "r.html").stat().st_size < 2_000_000
    page.open(tmp_path / "r.html")
    assert not page.answer()["refused"]
    page.press("[data-edge=target]", "\ue012")
    assert not page.answer()["refused"]
    assert page.run("return document.querySelectorAll('#chips select option').length") == 1


def test_rows_of_many_parameters_are_shown_with_some_and_saved_with_all(page: Page, wide: pa.Analysis) -> None:
    page.size(1440, 900)
    with served(page, wide):
        tab(page, "trials")
        columns = page.run("return document.querySelectorAll('.trials-table thead th').length")
        assert columns == 40 + 3  # the row, whether it is good, the objective
        assert f"40 of {MANY} parameters" in page.text("#panel-trials")
        rows = saved(page, "trials")
        assert len(rows) == 200
        assert set(wide.space) < set(rows[0])
        tab(page, "parallel")
        assert page.run("return document.querySelectorAll('.parallel-axis').length") == 41
