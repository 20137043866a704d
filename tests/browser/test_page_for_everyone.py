"""The page for keyboards, screen readers, small screens and hostile names, and for data that refuses."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page, axe_script
from helpers.reports import LADDER, QUICK, analysis, browser, page, report

HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "a.b[0]\"' onmouseover=window.hacked=1 ",
    "__proto__",
    "x); window.hacked=1; (",
    '=1+1,"quoted"\nand broken',
    "]]>{{7*7}}${window.hacked=1}&lt;\u2028",
]


@pytest.mark.slow
def test_the_keyboard_reaches_everything(page: Page, report: Path) -> None:
    from selenium.webdriver import ActionChains

    page.open(report)
    count = page.run(
        """
        const all = [...document.querySelectorAll(
            'button, select, input:not([type=radio]), input[type=radio]:checked, summary, a')];
        window.left = new Set(all);
        document.addEventListener('focusin', (event) => window.left.delete(event.target));
        return all.length;"""
    )
    ActionChains(page.driver, duration=0).send_keys("\ue004" * 2 * count).perform()
    assert page.run("return [...window.left].map((e) => e.outerHTML)") == []


@pytest.mark.slow
def test_the_keyboard_works_everything(page: Page, report: Path) -> None:
    page.open(report)
    order = page.run("return [...document.querySelectorAll('#bars button')].map((b) => b.title)")
    assert order == list(page.bars())  # Tab goes down the list as it is seen
    page.press("#bars li:nth-child(3) button", "\ue007")  # Enter
    assert page.text("#chosen") == order[2]
    assert page.run("return document.activeElement.title") == order[2]
    page.press("#importance-table summary", " ")
    assert page.run("return document.getElementById('importance-table').open")
    page.press("#theme", " ")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    outline = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, report: Path, pytestconfig: pytest.Config, dark: bool) -> None:
    axe = axe_script(Path(pytestconfig.cache.mkdir("axe")))
    page.open(report)
    page.dark(on=dark)
    page.run(axe)
    assert serious(page) == []
    page.press("#pair", "\ue015")  # another plane
    page.press("#bars li:nth-child(2) button", "\ue007")
    for key in ("importance", "density", "profile", "objective", "pairs", "plane"):
        page.table(key)
    assert serious(page) == []


def serious(page: Page) -> list[str]:
    script = """
        const done = arguments[0];
        const only = { resultTypes: ['violations'] };
        axe.run(only).then((found) => done(found.violations), (error) => done([String(error)]));"""
    found = page.driver.execute_async_script(script)
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in found
        if not isinstance(one, dict) or one["impact"] in ("serious", "critical")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_every_width_fits(page: Page, report: Path, width: int) -> None:
    page.size(width)
    page.open(report)
    wide, seen = page.run("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    script = """
        return [...document.querySelectorAll('.chart')].filter((c) => {
            const svg = c.querySelector('svg');
            return !svg || svg.getBoundingClientRect().right > c.getBoundingClientRect().right + 1;
        }).map((c) => c.id);"""
    assert page.run(script) == []


@pytest.mark.slow
def test_charts_follow_the_theme(page: Page, report: Path) -> None:
    page.open(report)
    colour = "return document.querySelector('#density-chart .layer_3_marks path').getAttribute('stroke')"
    light = page.run(colour)
    page.dark(on=True)
    assert page.run(colour) != light
    page.click("#theme")
    assert page.run(colour) == light


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Analysis]:
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {name: random.random(300) for name in HOSTILE[:-1]}
    columns["<b>c</b>"] = random.choice(HOSTILE, 300)
    columns[HOSTILE[-1]] = random.random(300)
    score = columns[HOSTILE[0]] + (columns["<b>c</b>"] == HOSTILE[1]) + 0.3 * columns[HOSTILE[3]]
    a = pa.analyze({**columns, "loss</title>": score}, "loss</title>")
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    a.report(path, title=HOSTILE[0], ladder=[0.1, 0.5, 1.0], **{**QUICK, "reduce": True})
    return path, a


@pytest.mark.slow
def test_hostile_names_stay_names(page: Page, hostile: tuple[Path, pa.Analysis]) -> None:
    path, a = hostile
    page.open(path)
    assert set(page.bars()) == set(a.space)
    for i in range(len(a.space)):
        page.click(f"#bars li:nth-child({i + 1}) button")
        assert page.text("#chosen") in a.space
    for key in ("importance", "density", "profile", "objective", "pairs", "plane"):
        page.table(key)
    page.press("#pair", "\ue010")
    page.press("#region", "\ue011")
    assert page.run("return window.hacked === undefined && Object.prototype.hacked === undefined")
    assert (
        page.run(
            "return document.querySelectorAll('img, iframe, object, b:not([class]):not(.track b):not(.intro b)').length"
        )
        == 0
    )
    assert page.run("return document.querySelectorAll('script').length") == 12
    attributes = "return [...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames())"
    assert not [name for name in page.run(attributes) if name.startswith("on")]


@pytest.mark.slow
def test_hostile_names_in_files(page: Page, hostile: tuple[Path, pa.Analysis]) -> None:
    path, a = hostile
    page.open(path)
    with page.save("importance", "csv").open(encoding="utf-8", newline="") as file:
        assert sorted(row["parameter"] for row in csv.DictReader(file)) == sorted(a.space)
    page.click('#bars button[title="<b>c</b>"]')
    for key in ("importance", "density", "pairs"):
        root = ET.parse(page.save(key, "svg")).getroot()  # well-formed: nothing leaked into markup
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {
            "svg",
            "g",
            "path",
            "text",
            "tspan",
            "rect",
            "line",
            "defs",
            "clipPath",
            "linearGradient",
            "stop",
            "title",
        }
    assert page.run("return window.hacked === undefined")


def odd_analyses() -> dict[str, pa.Analysis]:
    random = np.random.default_rng(1)
    x, y = random.random(200), random.random(200)
    names = [f"c{i}" for i in range(60)]
    sgd = random.random(200) < 0.5
    momentum = np.where(sgd, random.random(200), np.nan)
    space = {"opt": pa.Categorical(["sgd", "adam"]), "m": pa.Float(0, 1, when={"opt": "sgd"})}
    conditional = {"opt": np.where(sgd, "sgd", "adam"), "m": momentum, "loss": np.where(sgd, momentum, 0.5 + 0.5 * x)}
    return {
        "one parameter": pa.analyze({"x": x, "loss": x + 0.1 * y}, "loss"),
        "two rows": pa.analyze({"x": [1.0, 2.0], "z": [3.0, 4.0], "loss": [0.1, 0.2]}, "loss", params=["x", "z"]),
        "noise": pa.analyze({"x": x, "z": y, "loss": random.random(200)}, "loss"),
        "two values": pa.analyze({"x": x, "z": y, "loss": (x > 0.5).astype(float)}, "loss"),
        "several objectives": pa.analyze({"x": x, "z": y, "a": x, "b": 1 - x + y}, ["a", "b"]),
        "conditional": pa.analyze(conditional, "loss", space=space),
        "many categories": pa.analyze({"c": random.choice(names, 200), "x": x, "loss": x}, "loss"),
    }  # fmt: skip


ODD = odd_analyses()


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(ODD))
def test_odd_data_still_has_a_page(page: Page, tmp_path: Path, kind: str) -> None:
    a = ODD[kind]
    a.report(tmp_path / "r.html", **{**QUICK, "draws": 0, "reduce": True})
    page.open(tmp_path / "r.html")
    assert page.text("#summary")
    if kind == "two rows":
        assert "cannot be answered" in page.text("#summary")
        assert page.text("#importance-refused")
    else:
        assert set(page.bars()) == set(a.space)


@pytest.mark.slow
def test_a_loaded_analysis_says_what_is_missing(page: Page, tmp_path: Path, analysis: pa.Analysis) -> None:
    analysis.save(tmp_path / "run.pedanova")
    loaded = pa.load(tmp_path / "run.pedanova")
    loaded.report(tmp_path / "r.html", ladder=LADDER, estimator="counts", draws=200)
    page.open(tmp_path / "r.html")
    wanted = {row.name: row.ratio for row in analysis.importance(0.1, 1.0, estimator="counts", draws=200).rows}
    assert page.bars() == wanted
    assert "no longer at hand" in page.text("#pairs-note")
    assert "no longer at hand" in page.text("#space")
