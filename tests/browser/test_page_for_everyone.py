"""The page for keyboards, screen readers, small screens, paper and hostile names, and for data that refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page, axe_script
from helpers.reports import LADDER, QUICK

HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "a.b[0]\"' onmouseover=window.hacked=1 ",
    "__proto__",
    "x); window.hacked=1; (",
    '=1+1,"quoted"\nand broken',
    "]]>{{7*7}}${window.hacked=1}&lt;\u2028",
]
TAB, ENTER, ESCAPE, RIGHT = "\ue004", "\ue007", "\ue00c", "\ue014"


@pytest.mark.parametrize("live", [False, True], ids=["file", "live"])
def test_the_keyboard_reaches_everything(page: Page, report: Path, explorer: str, live: bool) -> None:
    from selenium.webdriver import ActionChains

    page.open(explorer if live else report)
    count = page.run(
        """
        const all = [...document.querySelectorAll('button:not(:disabled), select, input, summary, a, [role=slider]')]
            .filter((one) => one.checkVisibility() && one.tabIndex >= 0);
        window.left = new Set(all);
        document.addEventListener('focusin', (event) => window.left.delete(event.target));
        return all.length;"""
    )
    ActionChains(page.driver, duration=0).send_keys(TAB * 2 * count).perform()
    assert page.run("return [...window.left].map((one) => one.outerHTML)") == []


def test_the_keyboard_works_everything(page: Page, report: Path) -> None:
    page.open(report)
    first = page.run("return document.querySelector('#matters .ranked').dataset.parameter")
    page.press("#matters .rank-row", ENTER)
    assert page.state()["chosen"] == first
    page.press("[role=tab]", RIGHT)
    assert page.run("return document.activeElement.getAttribute('aria-selected')") == "true"
    assert page.state()["tab"] == page.run("return document.activeElement.id").removeprefix("tab-")
    unfolded = "return document.querySelector('.fold').getAttribute('aria-expanded')"
    before = page.run(unfolded)
    page.press(".fold", ENTER)
    assert {before, page.run(unfolded)} == {"true", "false"}
    page.press("#tool-theme", " ")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    outline = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def serious(page: Page, *rules: str) -> list[str]:
    """What axe finds by these rules, or by all of them."""
    script = """
        const [rules, done] = arguments;
        const only = { resultTypes: ['violations'], ...(rules.length ? { runOnly: rules } : {}) };
        axe.run(only).then((found) => done(found.violations), (error) => done([String(error)]));"""
    found = page.driver.execute_async_script(script, list(rules))
    return [
        f"{one['id']}: {[(node['target'], node.get('failureSummary')) for node in one['nodes']][:3]}"
        for one in found
        if not isinstance(one, dict) or one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("live", [False, True], ids=["file", "live"])
def test_axe_finds_nothing_serious(
    page: Page, report: Path, explorer: str, pytestconfig: pytest.Config, live: bool
) -> None:
    axe = axe_script(Path(pytestconfig.cache.mkdir("axe")))
    page.open(explorer if live else report)
    page.bars()  # with what is folded
    page.command("Runtime.evaluate", expression=axe)  # past the policy of the page
    assert serious_in_both_themes(page) == []
    if live:
        page.run("pedanova.state.select('lr', {range: [0.0001, 0.1]})")
        page.run("pedanova.state.select('optimizer', {labels: ['adam']})")
        page.settle()
    page.click("#tool-code")
    assert serious_in_both_themes(page) == []
    page.click(".density[data-parameter=lr] .card-name")
    assert serious_in_both_themes(page) == []


def serious_in_both_themes(page: Page) -> list[str]:
    """Nothing but colours is other in the dark."""
    light = serious(page)
    page.dark(on=True)
    dark = serious(page, "color-contrast")
    page.dark(on=False)
    return light + dark


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_every_width_fits(page: Page, report: Path, width: int) -> None:
    page.size(width)
    page.open(report)
    wide, seen = page.run("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    script = """
        return [...document.querySelectorAll('#cards svg, #strip svg')].filter((svg) => {
            const [one, other] = [svg, svg.parentElement].map((element) => element.getBoundingClientRect());
            return one.width > 0 && (one.right > other.right + 1 || one.left < other.left - 1);
        }).map((svg) => svg.outerHTML.slice(0, 200));"""
    assert page.run(script) == []
    sticky = page.run("return document.getElementById('ask').getBoundingClientRect().height")
    assert sticky <= 120


def test_a_phone_has_small_densities_and_a_sheet(page: Page, explorer: str) -> None:
    page.size(390, 844)
    page.open(explorer)
    assert not page.run("return document.getElementById('densities').checkVisibility()")
    rows = page.run("return document.querySelectorAll('#matters .ranked').length")
    assert page.run("return document.querySelectorAll('#matters .small svg .target').length") == rows
    page.click("#matters .ranked[data-parameter=lr] button")
    assert page.run("return document.getElementById('sheet').open")
    page.drag("#sheet .brush-ground", (0.2, 0.5), (0.6, 0.5))
    low, high = page.state()["question"]["selection"]["lr"]["range"]
    assert 1e-5 < low < high < 1
    assert "Selected" in page.text("#sheet")
    small = page.run(
        "return [...document.querySelectorAll('#matters button, #chips button, .tab')].filter((one) =>"
        " one.checkVisibility() && one.getBoundingClientRect().height < 24).length"
    )
    assert small == 0


def test_colours_follow_the_theme(page: Page, report: Path) -> None:
    page.open(report)
    colour = "return getComputedStyle(document.querySelector('.density .plot .target')).stroke"
    light = page.run(colour)
    page.dark(on=True)
    assert page.run(colour) != light
    page.click("#tool-theme")
    assert page.run(colour) == light


def test_on_paper_it_takes_two_pages_of_words(page: Page, report: Path) -> None:
    page.open(report)
    page.dark(on=True)
    assert page.pages() <= 2
    page.command("Emulation.setEmulatedMedia", media="print")
    shown = page.run(
        "return [...document.querySelectorAll('select, #tools, .tabbar, .chip-side')]"
        ".filter((one) => one.checkVisibility()).length"
    )
    assert shown == 0
    assert "the region" in page.text("#chips .printed")
    page.command("Emulation.setEmulatedMedia", media="")
    page.settle()
    assert not page.run("return document.body.classList.contains('printing')")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Analysis]:
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {name: random.random(300) for name in HOSTILE[:-1]}
    columns["<b>c</b>"] = random.choice(HOSTILE, 300)
    columns[HOSTILE[-1]] = random.random(300)
    score = columns[HOSTILE[0]] + (columns["<b>c</b>"] == HOSTILE[1]) + 0.3 * columns[HOSTILE[3]]
    a = pa.analyze({**columns, "loss</title>": score}, "loss</title>", params=list(columns))
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    a.report(path, title=HOSTILE[0], ladder=[0.1, 0.5, 1.0], **{**QUICK, "reduce": True})
    return path, a


def test_hostile_names_stay_names(page: Page, hostile: tuple[Path, pa.Analysis]) -> None:
    path, a = hostile
    page.open(path)
    scripts = page.run("return document.querySelectorAll('script').length")
    assert set(page.bars()) == set(a.space)
    assert page.run("return document.title") == HOSTILE[0]
    for name in a.space:
        page.run("pedanova.sheet.open(arguments[0])", name)
        page.run("pedanova.state.change({chosen: arguments[0]})", name)
        page.settle()
        assert page.text("#sheet h2")
    page.press("#sheet .close", ESCAPE)
    page.run("pedanova.state.select('<b>c</b>', {labels: [arguments[0], arguments[1]]})", HOSTILE[0], HOSTILE[1])
    page.run("pedanova.state.select('__proto__', {range: [0.1, 0.9]})")
    page.settle()
    assert page.run("return Object.keys(pedanova.state.get().question.selection).length") == 2
    for tab in page.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)"):
        page.click(f"#{tab}")
    page.settle()
    assert page.run("return window.hacked === undefined && Object.prototype.hacked === undefined")
    assert page.run("return document.querySelectorAll('img, iframe, object').length") == 0
    assert page.run("return document.querySelectorAll('script').length") == scripts
    attributes = "return [...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames())"
    assert not [name for name in page.run(attributes) if name.startswith("on")]


def odd_analyses() -> dict[str, pa.Analysis]:
    random = np.random.default_rng(1)
    x, y = random.random(200), random.random(200)
    names = [f"c{i}" for i in range(60)]
    long = {f"a.long.name.of.block_{i}.rate": random.random(200) for i in range(18)}
    sgd = random.random(200) < 0.5
    momentum = np.where(sgd, random.random(200), np.nan)
    space = {"opt": pa.Categorical(["sgd", "adam"]), "m": pa.Float(0, 1, when={"opt": "sgd"})}
    conditional = {"opt": np.where(sgd, "sgd", "adam"), "m": momentum, "loss": np.where(sgd, momentum, 0.5 + 0.5 * x)}
    return {
        "one parameter": pa.analyze({"x": x, "loss": x + 0.1 * y}, "loss"),
        "two rows": pa.analyze({"x": [1.0, 2.0], "z": [3.0, 4.0], "loss": [0.1, 0.2]}, "loss", params=["x", "z"]),
        "25 rows": pa.analyze({"x": x[:25], "z": y[:25], "loss": x[:25]}, "loss"),
        "noise": pa.analyze({"x": x, "z": y, "loss": random.random(200)}, "loss"),
        "two values": pa.analyze({"x": x, "z": y, "loss": (x > 0.5).astype(float)}, "loss"),
        "several objectives": pa.analyze({"x": x, "z": y, "a": x, "b": 1 - x + y}, ["a", "b"]),
        "conditional": pa.analyze(conditional, "loss", space=space),
        "many categories": pa.analyze({"c": random.choice(names, 200), "x": x, "loss": x}, "loss"),
        "maximised": pa.analyze({"x": x, "z": y, "score": x}, "score", direction="maximize"),
        "many parameters": pa.analyze({**long, "y": x}, "y"),
    }  # fmt: skip


ODD = odd_analyses()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the many: the longest to make, and looked at twice."""
    path = tmp_path_factory.mktemp("many") / "r.html"
    ODD["many parameters"].report(path, ladder=LADDER, **{**QUICK, "draws": 50})
    return path


@pytest.mark.parametrize("kind", list(ODD))
def test_odd_data_still_has_a_page(page: Page, tmp_path: Path, many: Path, kind: str) -> None:
    a, path = ODD[kind], tmp_path / "r.html"
    if kind == "many parameters":
        path = many
    else:
        a.report(path, ladder=LADDER, **{**QUICK, "draws": 50})
    page.open(path)
    assert page.text("#headline")
    if kind == "two rows":
        assert page.run("return document.getElementById('headline').classList.contains('refused')")
    else:
        assert set(page.bars()) == set(a.space)
    page.press("[data-edge=target]", RIGHT)
    page.size(390, 844)
    page.settle()
    wide, seen = page.run("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen


def test_children_stand_under_their_parents(page: Page, tmp_path: Path) -> None:
    ODD["conditional"].report(tmp_path / "r.html", **QUICK)
    page.open(tmp_path / "r.html")
    assert list(page.bars()) == ["opt", "m"]
    assert "active in" in page.text(".ranked.child .active")


def test_long_names_are_told_apart(page: Page, many: Path) -> None:
    page.open(many)
    page.bars()
    names = page.run("return [...document.querySelectorAll('#matters .name')].map((one) => one.textContent)")
    assert len(set(names)) == 18
    assert all(len(name) <= 24 for name in names)
    assert page.run("return document.querySelectorAll('.density').length") == 9
    page.click(".show-all")
    assert page.run("return document.querySelectorAll('.density').length") == 18


def test_a_loaded_analysis_says_what_is_missing(page: Page, tmp_path: Path, analysis: pa.Analysis) -> None:
    analysis.save(tmp_path / "run.pedanova", rows=False)
    loaded = pa.load(tmp_path / "run.pedanova")
    loaded.report(tmp_path / "r.html", ladder=LADDER, estimator="counts", draws=200)
    page.open(tmp_path / "r.html")
    wanted = {row.name: row.share for row in analysis.importance(0.1, 1.0, estimator="counts", draws=200).rows}
    assert page.bars() == wanted
    page.click("#tab-pairs")
    assert "no longer available" in page.text("#panel-pairs")
