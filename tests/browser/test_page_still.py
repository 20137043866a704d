"""The page stands still: while something is dragged nothing moves but what is dragged and the bars that answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.followed import append, begin
from pedanova.analysis.watched import Watched, Watcher
from pedanova.report.live.server import Explorer, explore
from pedanova.report.live.session import Session

LR = ".density[data-parameter=lr] svg"
FRAME = """
    const box = (css) => [...document.querySelectorAll(css)].map((one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        return [x, y, width, height].map(Math.round).join(' ');
    });
    return {
        places: box('#ask, #strip, #matters, #densities, .density, .density svg, #tabs, .tabbar, .rank-box, .folded'),
        order: [...document.querySelectorAll('#matters .ranked')].map((one) => one.dataset.parameter),
        marks: [...document.querySelectorAll('.rank-marks span')].map((one) => one.textContent),
        noise: [...document.querySelectorAll('.noise[data-parameter]')].map((one) => one.dataset.parameter),
        fold: [...document.querySelectorAll('.fold')].map((one) => one.textContent),
        headline: document.getElementById('headline').textContent,
        height: document.documentElement.scrollHeight,
    };"""
ANSWERED = """
    const range = pedanova.state.get().question.selection.lr.range;
    return pedanova.page.answer().question.selection.lr
        && String(pedanova.page.answer().question.selection.lr.range) === String(range);"""


def chosen(page: Page) -> Any:
    return page.state()["question"]["selection"]


def test_only_the_bars_move_while_something_is_dragged(page: Page, explorer: str) -> None:
    page.open(explorer)
    before = page.run(FRAME)
    share = page.bars()
    page.hold(LR, (0.35, 0.5), (0.6, 0.5))
    page.until(ANSWERED)
    page.pull(LR, (0.6, 0.5), (0.55, 0.5))
    page.until(ANSWERED)
    page.later("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert page.run(FRAME) == before
    drawn = page.run("return Number(document.querySelector('.ranked[data-parameter=lr]').dataset.share)")
    assert drawn != share["lr"]
    page.release()
    after = page.run(FRAME)
    assert after["order"] != before["order"]  # the rate decides no more where it is brushed to its good values
    assert after["headline"] != before["headline"]
    assert after["places"][:3] == before["places"][:3]


def test_the_scale_keeps_its_maximum_until_it_is_fitted(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.run("pedanova.state.select('optimizer', {labels: ['adam', 'rmsprop']})")
    page.run("pedanova.state.select('lr', {range: [0.001, 0.003]})")
    page.settle()
    most = page.run("return document.querySelector('.rank-axis').dataset.most")
    page.run("pedanova.state.select('lr', {range: [0.0003, 0.003]})")
    page.settle()
    assert max(page.bars().values()) < float(most) / 2
    assert page.run("return document.querySelector('.rank-axis').dataset.most") == most
    page.click(".fit")
    assert page.run("return document.querySelector('.rank-axis').dataset.most") < most
    assert page.run("return document.querySelector('.fit').hidden")


@pytest.mark.parametrize(("start", "stop"), [(0.01, 0.28), (0.99, 0.7), (0.0, 0.5)])
def test_a_brush_starts_at_the_ends(page: Page, explorer: str, start: float, stop: float) -> None:
    page.open(explorer)
    page.drag(LR, (start, 0.5), (stop, 0.5))
    low, high = chosen(page)["lr"]["range"]
    least, most = page.run(
        "const { edges } = pedanova.parameter('lr').shape; return [edges[0], edges[edges.length - 1]]"
    )
    part = math.log(high / low) / math.log(most / least)
    assert part == pytest.approx(abs(stop - start), abs=0.05)
    assert (low == least) if start < stop else (high == most)


def test_a_drag_outlives_another_width(page: Page, explorer: str) -> None:
    """As where a scrollbar appears."""
    page.open(explorer)
    page.hold(LR, (0.2, 0.5), (0.4, 0.5))
    page.size(1265)
    page.later("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    page.pull(LR, (0.4, 0.5), (0.7, 0.5))
    page.release()
    low, high = chosen(page)["lr"]["range"]
    assert 1e-4 / 2 < low < 3e-4
    assert 1e-3 < high < 0.1
    widths = page.run(
        "return [...document.querySelectorAll('.density')].map((one) =>"
        " Math.abs(one.clientWidth - one.querySelector('svg').clientWidth))"
    )
    assert max(widths) <= 3  # drawn anew once the mouse was let go
    assert page.run("return getComputedStyle(document.documentElement).scrollbarGutter") == "stable"


def test_the_tooltip_says_what_is_seen(page: Page, explorer: str) -> None:
    from selenium.webdriver import ActionChains

    page.open(explorer)
    card = page.find(".density[data-parameter=momentum] svg")
    ActionChains(page.driver, duration=0).move_to_element(card).perform()
    before = page.text("#tip")
    assert "of the rows in the target" in before
    page.run("pedanova.state.select('lr', {range: [0.0001, 0.0015]})")
    page.settle()
    page.until("return document.getElementById('tip').textContent.replaceAll('\\u00a0', ' ') !== arguments[0]", before)
    density = page.answer()["densities"]["momentum"]["target"]
    shown = {page.run("return pedanova.percent(arguments[0])", part).replace("\u00a0", " ") for part in density}
    assert page.text("#tip").split("\n")[1].split(" of the rows in the target")[0] in shown


def test_chips_never_need_a_second_line(page: Page, explorer: str) -> None:
    page.open(explorer)
    high = "return document.getElementById('ask').getBoundingClientRect().height"
    before = page.run(high)
    for name, brush in {
        "lr": "{range: [0.0001, 0.1]}",
        "momentum": "{range: [0.1, 0.9]}",
        "layers": "{range: [1, 4]}",
    }.items():
        page.run(f"pedanova.state.select('{name}', {brush})")
    page.settle()
    assert page.run("return document.querySelectorAll('.chip').length") >= 6
    assert page.run(high) == before


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[tuple[Explorer, Path]]:
    path = begin(tmp_path / "trials.csv")
    watched = Watched(path, "loss")
    first = watched.begin(pytest.fail).analysis
    assert first is not None
    session = Session(first, title="grows", options={"estimator": "counts", "draws": 100})
    made = explore(session, show=False, wait=False, at_end=Watcher(session, watched).start().close)
    with made:
        yield made, path


def test_new_rows_move_nothing_under_the_mouse(page: Page, growing: tuple[Explorer, Path]) -> None:
    from selenium.webdriver import ActionChains

    explorer, path = growing
    page.open(explorer.url)
    order = "return [...document.querySelectorAll('#matters .ranked')].map((one) => one.dataset.parameter)"
    before = page.run(order)
    ActionChains(page.driver, duration=0).move_to_element(page.find("#matters .rank-row")).perform()
    append(path, 900, 1, swap=True)
    page.until("return pedanova.facts.rows === 1000")
    page.until("return pedanova.page.isSettled() && pedanova.page.answer().rows.selected === 1000")
    assert page.run(order) == before
    ActionChains(page.driver, duration=0).move_to_element(page.find("#title")).perform()
    page.until(f"return String((() => {{ {order} }})()) !== String(arguments[0])", before)
    page.driver.get("about:blank")


def test_nothing_is_taken_from_the_mouse_while_rows_come(page: Page, growing: tuple[Explorer, Path]) -> None:
    explorer, path = growing
    page.open(explorer.url)
    card = ".density[data-parameter=x] svg"
    page.hold(card, (0.2, 0.5), (0.5, 0.5))
    append(path, 100, 1)
    page.until("return document.querySelector('.news').textContent.includes('trials') || true")
    page.later("setTimeout(arguments[0], 5000)")  # two looks
    assert page.run("return pedanova.facts.rows") == 100
    page.pull(card, (0.5, 0.5), (0.6, 0.5))
    page.release()
    low, high = chosen(page)["x"]["range"]
    assert low == pytest.approx(0.2, abs=0.05)
    assert high == pytest.approx(0.6, abs=0.05)
    page.until("return pedanova.facts.rows === 200")
    page.driver.get("about:blank")
