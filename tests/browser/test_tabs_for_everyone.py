"""The tabs for keyboards, screen readers and small screens, and with hostile names in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page, axe_script
from helpers.groups import studies_of
from helpers.tabs import mixed, saved, served, settled, tab, two_goals

TABS = ["trials", "parallel", "pairs", "targets", "means", "space", "gains", "notes"]
HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "a.b[0]\"' onmouseover=window.hacked=1 ",
    "__proto__",
    'constructor"]',
    '=1+1,"quoted"\nand broken',
    "]]>{{7*7}}${window.hacked=1}&lt;\u2028",
]


def hostile() -> pa.Analysis:
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {name: random.random(300) for name in HOSTILE[:-1]}
    columns["<b>c</b>"] = random.choice(HOSTILE, 300)
    score = columns[HOSTILE[0]] + (columns["<b>c</b>"] == HOSTILE[1]) + 0.3 * columns[HOSTILE[3]]
    return pa.analyze({**columns, "loss</title>": score}, "loss</title>", params=list(columns))


@pytest.fixture(scope="module")
def analysis() -> pa.Analysis:
    return mixed(150)


@pytest.fixture
def live(browser: Page, analysis: pa.Analysis) -> Iterator[Page]:
    browser.size(1280)
    browser.dark(on=False)
    with served(browser, analysis) as page:
        yield page
        assert page.complaints() == []


CONTRAST = {"runOnly": ["color-contrast"]}  # nothing but colours is other in the dark


PARTS = ("#tabs", "#compare", "#tools")


def serious(page: Page, rules: dict[str, Any], parts: tuple[str, ...] = PARTS) -> list[str]:
    """What axe finds in these parts by these rules; by all of them where none are named."""
    script = """
        const [rules, parts, done] = arguments;
        const where = { include: parts.filter((part) => document.querySelector(part)).map((part) => [part]) };
        axe.run(where, { resultTypes: ['violations'], ...rules })
            .then((found) => done(found.violations), (error) => done([String(error)]));"""
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in page.driver.execute_async_script(script, rules, parts)
        if not isinstance(one, dict) or one["impact"] in ("serious", "critical")
    ]


@pytest.fixture
def axe(pytestconfig: pytest.Config) -> str:
    return axe_script(Path(pytestconfig.cache.mkdir("axe")))


def test_axe_finds_nothing_serious_in_any_tab(live: Page, axe: str) -> None:
    live.click("#tool-pin")
    live.run("pedanova.state.select('optimizer', { labels: ['adam'] })")
    settled(live)
    live.run(axe)
    assert serious_anywhere(live, PARTS[1:]) == []  # beside every tab
    for key in TABS:
        tab(live, key)
        assert serious_anywhere(live, PARTS[:1]) == [], key
    tab(live, "pairs")
    live.run("[...document.querySelectorAll('.plane-picks button')].find((b) => b.textContent === 'Trials').click()")
    settled(live)
    assert serious_anywhere(live, PARTS[:1]) == []


def serious_anywhere(page: Page, parts: tuple[str, ...]) -> list[str]:
    """On a desk in daylight, and on a phone in the dark."""
    desk = serious(page, {}, parts)
    page.size(390)
    page.dark(on=True)
    phone = serious(page, {}, parts)
    page.size(1280)
    page.dark(on=False)
    return desk + phone


def test_axe_finds_nothing_serious_among_objectives(browser: Page, axe: str) -> None:
    with served(browser, two_goals(200)) as page:
        tab(page, "objectives")
        page.run(axe)
        assert serious(page, {}) == []


def test_axe_finds_nothing_serious_among_studies(browser: Page, axe: str) -> None:
    browser.dark(on=False)
    with served(browser, studies_of(rows=200), group="dataset") as page:
        page.click(".groups-table tbody tr:nth-child(2) th button")
        settled(page)
        page.run(axe)
        assert serious(page, {}) == []
        page.dark(on=True)
        assert serious(page, CONTRAST) == []


def test_the_tab_key_reaches_all_that_can_be_used(live: Page) -> None:
    from selenium.webdriver import ActionChains

    live.run("document.addEventListener('focusin', (event) => window.left && window.left.delete(event.target))")
    for key in TABS:
        tab(live, key)
        count = live.run(
            """
            const panel = document.getElementById(arguments[0]);
            const all = [...panel.querySelectorAll('button:not([disabled]), select, summary, [tabindex="0"]')]
                .filter((e) => e.checkVisibility());
            window.left = new Set(all);
            document.getElementById(arguments[1]).focus();
            return all.length;""",
            f"panel-{key}",
            f"tab-{key}",
        )
        ActionChains(live.driver, duration=0).send_keys("\ue004" * (count + 2)).perform()
        assert live.run("return [...window.left].map((e) => e.outerHTML.slice(0, 200))") == [], key


def test_every_tab_fits_every_width(live: Page) -> None:
    for width, key in itertools.product((360, 768, 1920), TABS):
        live.size(width)
        tab(live, key)
        wide, seen = live.run("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert wide <= seen, (key, width)
        script = """
            const panel = document.getElementById(arguments[0]), edge = panel.getBoundingClientRect().right + 1;
            return [...panel.querySelectorAll('svg')].filter((one) => !one.closest('.scroll')
                && one.getBoundingClientRect().right > edge).map((one) => one.outerHTML.slice(0, 100));"""
        assert live.run(script, f"panel-{key}") == [], (key, width)


def test_hostile_names_stay_names(browser: Page) -> None:
    a = hostile()
    browser.size(1280)
    with served(browser, a) as page:
        for key in TABS:
            tab(page, key)
        page.run("pedanova.state.select('<b>c</b>', { labels: [arguments[0]] })", HOSTILE[1])
        settled(page)
        page.click("#tool-pin")
        page.run("pedanova.state.select('<b>c</b>', null)")
        settled(page)
        tab(page, "trials")
        names = page.run(
            "return [...document.querySelectorAll('.trials-table .sort')].map((b) => b.firstChild.textContent)"
        )
        assert len(names) == len(a.space) + 2
        rows = saved(page, "trials")
        plain = {name.removeprefix("'") for name in rows[0]}  # what a spreadsheet would compute is quoted
        assert set(a.space) < plain
        assert {row["<b>c</b>"].removeprefix("'") for row in rows} == set(HOSTILE)
        tab(page, "pairs")
        for first in list(a.space)[:3]:
            page.run("pedanova.state.change({ pair: [arguments[0], '<b>c</b>'] })", first)
            settled(page)
        assert page.run("return window.hacked === undefined && Object.prototype.hacked === undefined")
        assert (
            page.run("return document.querySelectorAll('main img, iframe, object, main b:not(.compare-line b)').length")
            == 0
        )
        attributes = "return [...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames())"
        assert not [name for name in page.run(attributes) if name.startswith("on")]
        assert page.complaints() == []
