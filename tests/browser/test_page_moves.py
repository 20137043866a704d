"""The page in a real browser: what is asked of the sliders is what Python answers."""

from __future__ import annotations

import csv
import io
import math
import struct
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.reports import LADDER, analysis, browser, page, report

COUNTS = {"estimator": "counts", "draws": 200}
BOX = {"optimizer": {"adam", "sgd"}}


def expected(a: pa.Analysis, metric: str = "ratio", *question: object) -> dict[str, float]:
    return {row.name: getattr(row, metric) for row in a.importance(*question, **COUNTS).rows}


def same(shown: dict[str, float], wanted: dict[str, float]) -> None:
    assert shown == wanted
    assert list(shown) == list(wanted)  # ranked alike


def set_sliders(page: Page, target: int, region: int) -> None:
    """By the arrow keys, as a reader would."""
    page.press("#region", "\ue010")  # End
    page.press("#target", "\ue011", *["\ue014"] * target)  # Home, then →
    page.press("#region", *["\ue012"] * (len(LADDER) - 1 - region))  # ←


@pytest.mark.slow
def test_it_opens_offline_with_the_first_question(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    same(page.bars(), expected(analysis, "ratio", 0.1, 1.0))
    assert page.run("return navigator.onLine") is False
    assert "the best 10 %" in page.text("#summary")
    assert page.run("return document.querySelectorAll('.chart svg').length") == 5


@pytest.mark.slow
def test_arrow_keys_reach_every_pair(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    for target, region in combinations(range(len(LADDER)), 2):
        set_sliders(page, target, region)
        wanted = expected(analysis, "ratio", LADDER[target], LADDER[region])
        same(page.bars(), wanted)
        words = page.text("#target-words"), page.text("#region-words")
        assert f"the best {100 * LADDER[target]:g} %" in words[0]
        rows = analysis.importance(LADDER[target], LADDER[region], **COUNTS).rows[0]
        assert f"{rows.n_target} rows" in words[0]
        assert f"{rows.n_region} rows" in words[1]
        shown = page.run("return [...document.querySelectorAll('#bars .track i')].map((i) => i.style.width)")
        longest = max(float(width.rstrip("%")) for width in shown)
        assert 50 <= longest <= 100


@pytest.mark.slow
def test_the_mouse_drags_each_slider(page: Page, report: Path, analysis: pa.Analysis) -> None:
    from selenium.webdriver import ActionChains

    page.open(report)
    for slider, places in (("#target", 3), ("#region", 3)):
        box = page.find(slider)
        width = box.size["width"] - 16
        drag = ActionChains(page.driver)
        drag.move_to_element_with_offset(box, -width // 2, 0).click_and_hold()
        drag.move_by_offset(width // (places - 1), 0).release().perform()
        page.settle()
        assert page.run("return Number(document.querySelector(arguments[0]).value)", slider) == (
            1 if slider == "#target" else 2
        )
    same(page.bars(), expected(analysis, "ratio", 0.1, 0.3))


@pytest.mark.slow
def test_the_region_stays_wider_than_the_target(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    page.press("#region", "\ue011")  # Home: pushes the target down
    assert page.run("return [pedanova.state.target, pedanova.state.region]") == [0, 1]
    page.press("#target", "\ue010")  # End: pushes the region up
    assert page.run("return [pedanova.state.target, pedanova.state.region]") == [2, 3]
    same(page.bars(), expected(analysis, "ratio", 0.3, 1.0))


@pytest.mark.slow
def test_switches(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    page.press("input[name=baseline]:checked", "\ue014")
    same(page.bars(), expected(analysis, "ratio", 0.1, 1.0, "uniform"))
    page.press("input[name=metric]:checked", "\ue014")
    wanted = expected(analysis, "share", 0.1, 1.0, "uniform")
    assert page.bars("share") == wanted
    shown = page.run("return [...document.querySelectorAll('#bars .value')].map((v) => v.textContent)")
    assert {text.lstrip("~ ") for text in shown} == {f"{100 * max(0.0, v):.1f} %" for v in wanted.values()}


@pytest.mark.slow
def test_noise_is_marked(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    marked = page.run("return [...document.querySelectorAll('#bars .noise .name')].map((n) => n.textContent)")
    rows = analysis.importance(0.1, 1.0, **COUNTS).rows
    assert sorted(marked) == sorted(row.name for row in rows if not row.significant)
    assert marked


@pytest.mark.slow
def test_a_click_on_a_bar_switches_the_density(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    assert page.text("#chosen") == "lr"
    for name in ("optimizer", "momentum"):
        page.click(f"#bars button[title={name}]")
        assert page.text("#chosen") == name
        assert name in page.find("#density-chart").get_attribute("aria-label")
        assert page.find(f"#bars button[title={name}]").get_attribute("aria-pressed") == "true"
    page.click("#bars button[title=optimizer]")
    found = analysis.densities("optimizer", 0.1, 1.0, estimator="counts")
    rows = page.table("density")[1:]
    assert [row[0] for row in rows] == list(found.cells)
    assert [float(row[1]) for row in rows] == pytest.approx(100 * found.target, rel=1e-3)
    assert [float(row[2]) for row in rows] == pytest.approx(100 * found.region, rel=1e-3)


@pytest.mark.slow
def test_a_question_that_sliders_cannot_ask(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    page.press("#named", "\ue015")  # ↓
    same(page.bars(), expected(analysis, "ratio", 0.1, BOX))
    assert page.run("return document.getElementById('target').disabled")
    page.press("#named", "\ue013")
    same(page.bars(), expected(analysis, "ratio", 0.1, 1.0))


@pytest.mark.slow
def test_cells_of_the_heat_map_open_the_plane(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    strongest = analysis.interactions(0.1, 1.0).rows[0]
    assert {strongest.first, strongest.second} == set(page.table("plane")[0][:2])
    cell = "#pairs-chart .layer_0_marks path:last-of-type"
    page.run("document.getElementById('pairs').scrollIntoView()")
    before = page.run("return pedanova.state.pair")
    page.find(cell).click()
    page.settle()
    assert page.run("return pedanova.state.pair") != before
    same_plane(page, analysis)
    for _ in range(4):  # the same by keyboard
        page.press("#pair", "\ue015")
        same_plane(page, analysis)


def same_plane(page: Page, a: pa.Analysis) -> None:
    (first, second, *_), *rows = page.table("plane")
    chosen = page.run("return document.querySelector('#pair').selectedOptions[0].textContent")
    assert chosen == f"{first} × {second}"
    found = a.pair(first, second, 0.1, 1.0, cells=7).to_dict()
    assert [int(row[2]) for row in rows] == found["target"]
    assert [int(row[3]) for row in rows] == found["region"]
    lifts = [float(row[4]) if row[4] else math.nan for row in rows]
    assert lifts == pytest.approx(found["lift"], rel=1e-3, nan_ok=True)


@pytest.mark.slow
def test_csv_is_the_table_of_python(page: Page, report: Path, analysis: pa.Analysis) -> None:
    page.open(report)
    set_sliders(page, 0, 2)
    text = page.save("importance", "csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(text))
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    wanted = analysis.importance(LADDER[0], LADDER[2], **COUNTS).to_dict()
    assert header == list(wanted)
    for name, cells in wanted.items():
        kind = type(cells[0])
        read = [cell == "True" if kind is bool else kind(cell) for cell in columns[name]]
        assert read == cells, name


@pytest.mark.slow
def test_charts_are_saved(page: Page, report: Path) -> None:
    page.open(report)
    for key in ("importance", "density", "profile", "objective", "pairs", "plane"):
        root = ET.parse(page.save(key, "svg")).getroot()
        assert root.tag.endswith("svg")
        assert "the best 10 %" in "".join(root.itertext())
        image = page.save(key, "png").read_bytes()
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", image[16:24])[0] > 1000
        assert len(page.save(key, "csv").read_text(encoding="utf-8").splitlines()) > 1


PLACES = "return [...document.querySelectorAll('.card, #ask, .chart')].map((e) => [e.offsetTop, e.offsetHeight])"


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("notes", ["closed", "open"])
def test_nothing_moves_with_the_sliders(page: Page, report: Path, width: int, notes: str) -> None:
    """Every note has room for its longest text, those on the answer too where they are open."""
    page.size(width)
    page.open(report)
    if notes == "open":
        page.run("document.getElementById('remarks').parentElement.open = true")
    for baseline in ("region", "uniform"):
        page.press("input[name=baseline]:checked", *(["\ue014"] if baseline == "uniform" else []))
        before, texts = page.run(PLACES), set()
        for target, region in combinations(range(len(LADDER)), 2):
            set_sliders(page, target, region)
            page.run("pedanova.charts.paintAll()")
            assert page.run(PLACES) == before
            texts.add(page.text("#density-note") + page.text("#remarks") + page.text("#objective-note"))
        assert len(texts) == 6  # they did change


@pytest.mark.slow
def test_nothing_moves_where_an_answer_is_refused(page: Page, analysis: pa.Analysis, tmp_path: Path) -> None:
    """Two rows in the target: no bars, but their place stays."""
    path = tmp_path / "refused.html"
    analysis.report(path, ladder=[0.005, 0.1, 1.0], estimator="counts", draws=100, reduce=False)
    page.open(path)
    before = page.run(PLACES)
    page.press("#target", "\ue011")
    assert "at least 5 are needed to say anything" in page.text("#importance-refused")
    assert page.find("#importance-refused").is_displayed()
    assert not page.find("#bars button").is_displayed()
    page.run("pedanova.charts.paintAll()")
    assert page.run(PLACES) == before
    page.press("#target", "\ue014")
    assert page.find("#bars button").is_displayed()
    assert page.run(PLACES) == before


@pytest.mark.slow
def test_what_never_varied_is_said_so(page: Page, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    columns = {"x": random.random(300), "y": random.random(300), "kind": np.full(300, "adam")}
    a = pa.analyze({**columns, "loss": columns["x"] + 0.1 * columns["y"]}, "loss")
    path = tmp_path / "still.html"
    a.report(path, ladder=[0.1, 1.0], estimator="counts", draws=100, reduce=False)
    page.open(path)
    assert page.text("#bars button[title=kind] .value") == "–"
    assert "kind never varied in these rows." in page.text("#summary")
    page.click("#bars button[title=kind]")
    assert "It never varied in these rows" in page.text("#density-note")
    row = next(row for row in page.table("importance") if row[0] == "kind")
    assert row[1:5] == ["–", "–", "", "never varied"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_sliders_stay_under_the_pointer(page: Page, report: Path, width: int) -> None:
    """Summaries differ in length; the longest has room from the start."""
    page.size(width)
    page.open(report)
    place = "return document.getElementById('region').getBoundingClientRect().top + scrollY"
    before = page.run(place)
    for target, region in combinations(range(len(LADDER)), 2):
        set_sliders(page, target, region)
        assert page.run(place) == pytest.approx(before, abs=1)
