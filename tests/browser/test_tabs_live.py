"""The live tabs: trials, parallel coordinates, the scatter with its box, and A or B."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import ActionChains

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import FAST, asked, mixed, saved, served, settled, tab, two_goals
from pedanova.report.page.answers import asked_of
from pedanova.report.page.page_question import parse_question

RIGHT, UP, ENTER = "\ue014", "\ue013", "\ue007"


@pytest.fixture(scope="module")
def analysis() -> pa.Analysis:
    return mixed(600)


@pytest.fixture
def live(browser: Page, analysis: pa.Analysis) -> Iterator[Page]:
    browser.size(1280)
    browser.dark(on=False)
    with served(browser, analysis) as page:
        yield page
        assert page.complaints() == []


def inside(page: Page, a: pa.Analysis) -> Any:
    rows, question = asked_of(a.data, parse_question(asked(page), a.space))
    return pa.Analysis(rows), question.target, question.region


def select(page: Page, **brushes: Any) -> None:
    for name, brush in brushes.items():
        page.run("pedanova.state.select(arguments[0], arguments[1])", name, brush)
    settled(page)


def shown_rows(page: Page) -> list[int]:
    rows = "return [...document.querySelectorAll('.trials-table tbody tr')].map((tr) => Number(tr.dataset.row))"
    found: list[int] = page.run(rows)
    return found


def test_trials_are_the_rows_of_the_selection_best_first(live: Page, analysis: pa.Analysis) -> None:
    tab(live, "trials")
    select(live, optimizer={"labels": ["adam"]}, lr={"range": [1e-4, 1e-2]})
    inner, target, _ = inside(live, analysis)
    wanted = inner.trials(target, limit=50)
    shown = shown_rows(live)
    assert shown == wanted.columns["row"]
    good = live.run("return document.querySelectorAll('.trials-table tr.good').length")
    assert good == sum(one == "target" for one in wanted.columns["in"])
    live.run("[...document.querySelectorAll('.trials-table .sort')].find((b) => b.textContent.trim() === 'lr').click()")
    settled(live)
    shown = shown_rows(live)
    assert shown == inner.trials(target, sort="lr", limit=50).columns["row"]
    assert live.run("return document.querySelectorAll('.trials-table th[aria-sort=ascending]').length") == 1


def test_all_rows_are_saved_with_every_digit(live: Page, analysis: pa.Analysis) -> None:
    tab(live, "trials")
    rows = saved(live, "trials")
    wanted = analysis.trials(0.1, limit=None).columns
    assert [float(row["lr"]) for row in rows] == wanted["lr"]
    assert [float(row["loss"]) for row in rows] == wanted["loss"]
    assert {row["momentum"] for row in rows} > {""}


def test_a_hovered_trial_is_seen_in_every_card_and_a_click_keeps_it(live: Page) -> None:
    tab(live, "trials")
    live.run("document.querySelector('.trials-table tbody tr').scrollIntoView({ block: 'center' })")
    ActionChains(live.driver, duration=0).move_to_element(live.find(".trials-table tbody td:nth-child(3)")).perform()
    live.settle()
    ticks = live.run("return document.querySelectorAll('#densities .hover-tick').length")
    assert ticks >= 6
    live.press(".trials-table tbody .row-name", ENTER)
    assert live.run("return document.querySelector('.trials-table tbody tr').classList.contains('pinned')")
    ActionChains(live.driver, duration=0).move_to_element(live.find("#title")).perform()
    live.run("document.activeElement.blur()")
    live.settle()
    assert live.run("return document.querySelectorAll('#densities .hover-tick').length") == ticks


def test_parallel_axes_select_as_everywhere(live: Page, analysis: pa.Analysis) -> None:
    tab(live, "parallel")
    names = live.run("return document.querySelectorAll('.parallel-axis').length")
    assert names == len(analysis.space) + 1
    live.press("[aria-label='optimizer adam']", ENTER)
    settled(live)
    assert asked(live)["selection"] == {"optimizer": {"labels": ["adam"]}}
    edge = "#panel-parallel [aria-label='lr: lower end of the selection']"
    live.press(edge, UP, UP, UP)
    settled(live)
    low = asked(live)["selection"]["lr"]["range"][0]
    assert low > 1e-5
    inner, _, _ = inside(live, analysis)
    assert f"{len(inner)} rows" in live.text("#panel-parallel .pane-note")


def plane(page: Page, first: str, second: str) -> None:
    tab(page, "pairs")
    page.run("pedanova.state.change({ pair: [arguments[0], arguments[1]] })", first, second)
    settled(page)
    page.run("[...document.querySelectorAll('.plane-picks button')].find((b) => b.textContent === 'Trials').click()")
    settled(page)
    page.run("document.querySelector('.scatter-area').scrollIntoView({ block: 'center' })")


def test_a_box_on_the_plane_is_two_ranges(live: Page, analysis: pa.Analysis) -> None:
    plane(live, "lr", "dropout")
    area = live.find(".scatter-area")
    drag = ActionChains(live.driver, duration=30).move_to_element_with_offset(area, -60, -50).click_and_hold()
    drag.move_by_offset(80, 40).move_by_offset(40, 60).release().perform()
    settled(live)
    question = asked(live)
    assert set(question["selection"]) == {"lr", "dropout"}
    inner, target, region = inside(live, analysis)
    wanted = inner.importance(target, region, **FAST)
    assert (
        dict(live.run("return pedanova.page.answer().importances.map((r) => [r.parameter, r.share])")) == wanted.shares
    )
    assert live.run("return document.querySelectorAll('.outline').length") == 1
    live.press("#panel-pairs [aria-label='lr: upper end of the selection']", RIGHT, RIGHT)
    settled(live)
    assert asked(live)["selection"]["lr"]["range"][1] > question["selection"]["lr"]["range"][1]
    live.click("[data-tool=clear]")
    settled(live)
    assert asked(live)["selection"] == {}


def test_a_or_b_gives_the_differences_of_python(live: Page, analysis: pa.Analysis) -> None:
    live.click("#tool-pin")
    settled(live)
    select(live, optimizer={"labels": ["adam"]})
    one = analysis.within({"optimizer": ["adam"]})
    inner, target, region = inside(live, analysis)
    assert len(inner) == len(one)
    wanted = pa.difference(inner.importance(target, region, **FAST), analysis.importance(0.1, 1.0, **FAST))
    shown = {row["parameter"]: row for row in saved(live, "difference")}
    for name, row in wanted.items():
        assert float(shown[name]["difference"]) == row.difference
        low = shown[name]["low"]
        assert (float(low) if low else None) == row.low
    assert live.text("#compare .compare-said")
    marked = live.run("return document.querySelectorAll('#matters .difference.clear').length")
    assert marked == sum(row.clear for row in wanted.values())
    assert live.run("return document.querySelectorAll('#densities .ghost').length") > 0
    live.run("[...document.querySelectorAll('#compare button')].find((b) => b.textContent === 'Swap').click()")
    settled(live)
    assert asked(live)["selection"] == {}
    live.click("#tool-pin")
    assert live.run("return document.getElementById('compare').hidden")


def test_the_smaller_space_follows_the_question(live: Page, analysis: pa.Analysis) -> None:
    tab(live, "space")
    select(live, optimizer={"labels": ["adam", "rmsprop"]})
    assert "only rows with optimizer = adam or rmsprop" in live.text(".pane-space .pane-note")
    inner, target, _ = inside(live, analysis)
    wanted = inner.reduce(target, estimator="counts").summary().replace("\u00a0", " ")
    assert wanted == live.text(".space-summary")
    assert not live.run("return document.querySelector('.pane-space').classList.contains('moved')")


def test_new_rows_reach_an_open_tab(browser: Page) -> None:
    before, after = mixed(300), mixed(400)
    browser.size(1280)
    with served(browser, before) as page:
        tab(page, "trials")
        assert "300 rows" in page.text("#panel-trials .pane-note")
        explorer = page.explorer  # type: ignore[attr-defined]
        explorer.session.renew(after.data)
        page.run("pedanova.page.renew({ ...pedanova.facts, rows: 400 })")
        settled(page)
        assert "400 rows" in page.text("#panel-trials .pane-note")


def test_several_objectives_have_their_own_tab(browser: Page) -> None:
    a = two_goals()
    browser.size(1280)
    with served(browser, a) as page:
        tab(page, "objectives")
        filled = page.run("return document.querySelectorAll('.goal-dot .good').length")
        assert filled > 0
        cells = saved(page, "goals")
        assert sum(int(cell["rows"]) for cell in cells) == len(a)
        assert sum(int(cell["good"]) for cell in cells) == a.importance(0.1, **FAST).rows[0].n_target
        wanted = a.compare(0.1, 1.0, by="objective", **FAST)
        for row in saved(page, "goal-importance"):
            assert float(row["share"]) == wanted[row["objective"]][row["parameter"]].share
        assert "fronts" in page.text(".pane-goals .pane-note")
        assert page.complaints() == []
