"""Pairs, the plane of two, targets and the smaller space in a file: numbers, keys, and a question that moves."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import FAST, mixed, opened, save, saved, settled, tab
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import pair_plane

LADDER = [0.05, 0.1, 0.3, 1.0]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Analysis]:
    a = mixed(600)
    path = tmp_path_factory.mktemp("tabs") / "report.html"
    a.report(path, ladder=LADDER, **FAST)
    return path, a


def test_nothing_of_rows_has_a_tab_in_a_file(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    opened(page, report[0])
    shown = page.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)")
    assert shown == ["Pairs", "Targets", "Mean objective", "Smaller space", "Gains", "Notes"]


def test_tabs_are_reached_by_arrow_keys(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    opened(page, report[0])
    page.press("#tab-pairs", "\ue014")  # →
    assert page.run("return document.activeElement.id") == "tab-targets"
    assert page.run("return document.getElementById('panel-targets').hidden") is False
    page.press("#tab-targets", "\ue010")  # End
    assert page.run("return document.activeElement.id") == "tab-notes"
    assert page.run("return document.querySelectorAll('[role=tab][tabindex=\"0\"]').length") == 1


def test_the_list_holds_every_pair_and_marks_what_is_sure(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    path, a = report
    opened(page, path)
    found = a.interactions(0.1, 1.0, estimator="counts")
    cells = page.run(
        "return [...document.querySelectorAll('.pane-pairs [role=radio]')].map((c) => [c.getAttribute('aria-label'),"
        "c.classList.contains('sure')])"
    )
    assert len(cells) == len(list(combinations(a.space, 2))) == len(found.rows)
    sure = sum(row.significant for row in found.rows)
    assert sum(one[1] for one in cells) == sure
    rows = {(row["first"], row["second"]): float(row["interaction"]) for row in saved(page, "pairs")}
    assert rows == {(row.first, row.second): row.interaction for row in found.rows}


def test_noise_is_never_dark_however_large_it_is_beside_other_noise(page: Page, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    noise = {name: random.random(300) for name in "abcd"}
    pa.analyze({**noise, "loss": random.random(300)}, "loss").report(
        tmp_path / "r.html", ladder=[0.1, 1.0], reduce=False, **FAST
    )
    opened(page, tmp_path / "r.html")
    kinds = page.run(
        "return [...document.querySelectorAll('.pane-pairs [role=radio]')].map((c) => c.getAttribute('class'))"
    )
    assert kinds
    assert all("unsure" in kind for kind in kinds)
    assert "No pair has a clear interaction" in page.text(".pane-pairs .pane-note")


def test_a_line_of_the_list_opens_its_plane_by_click_and_by_key(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    path, a = report
    opened(page, path)
    for _ in range(2):
        page.press(".pane-pairs [role=radio][tabindex='0']", "\ue014")
        settled(page)
        pair = page.run("return pedanova.state.get().pair")
        chosen = page.run("return document.querySelector('.pane-pairs [aria-checked=true]').getAttribute('aria-label')")
        assert all(name in chosen for name in pair)
        lines = saved(page, "plane")
        wanted = pair_plane(a.data, (pair[0], pair[1]), Question(0.1, 1.0), 7)
        assert sum(int(line["target"]) for line in lines) == wanted.target.sum()
        assert [int(line["region"]) for line in lines] == wanted.region.ravel().tolist()


def test_cells_that_expect_few_rows_are_hatched(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    path, a = report
    opened(page, path)
    page.run("pedanova.state.change({ pair: ['lr', 'optimizer'] })")
    settled(page)
    wanted = pair_plane(a.data, ("lr", "optimizer"), Question(0.1, 1.0), 7)
    expected = wanted.region * wanted.target.sum() / wanted.region.sum()
    hatched = page.run("return document.querySelectorAll('.pane-plane .few-mark').length")
    assert hatched == int(((expected < 5) & (wanted.region > 0)).sum()) > 0
    places = page.run("return [0, 0.25, 0.5, 1, 2, 4, 40].map(pedanova.plane.liftPlace)")
    assert places == [0, 0, 1, 2, 3, 4, 4]


def test_many_parameters_are_a_ranked_list(page: Page, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    columns = {f"model.encoder.block_{i:02d}.dropout": random.random(250) for i in range(10)}
    first, second = (columns[name] for name in list(columns)[:2])
    a = pa.analyze({**columns, "loss": np.abs(first - second) + 0.05 * random.random(250)}, "loss")
    a.report(tmp_path / "r.html", ladder=[0.1, 1.0], reduce=False, **FAST)
    opened(page, tmp_path / "r.html")
    items = page.run(
        "return [...document.querySelectorAll('.pair-list li')].map((li) => li.querySelector('.pair-name').textContent)"
    )
    assert items[0] == "block_00 × block_01"
    assert len(set(items)) == len(items) > 5
    assert page.run("return document.querySelector('.pair-list li').classList.contains('sure')")


def test_importance_by_target_is_what_each_target_says(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    path, a = report
    opened(page, path)
    tab(page, "targets")
    shown = {(float(row["target"]), row["parameter"]): float(row["share"]) for row in saved(page, "targets")}
    for part in (0.05, 0.1, 0.3):
        for name, row in a.importance(part, 1.0, **FAST).items():
            assert shown[part, name] == row.share
    here = page.run("return document.querySelector('.target-step.here').getAttribute('aria-label')")
    assert "the best 10 %" in here.replace("\u00a0", " ")
    page.press(".target-step.here", "\ue014")
    settled(page)
    assert page.run("return pedanova.asked().target.part") == [0, 0.3]


def test_targets_that_pick_the_same_rows_are_one(page: Page, tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    x = random.random(300)
    loss = np.round(np.abs(x - 0.5), 1) + (random.random(300) < 0.1)  # many ties
    a = pa.analyze({"x": x, "y": random.random(300), "loss": loss}, "loss")
    a.report(tmp_path / "r.html", ladder=[0.01, 0.05, 0.1, 0.3, 0.6, 1.0], reduce=False, **FAST)
    opened(page, tmp_path / "r.html")
    tab(page, "targets")
    rows = page.run(
        "return [...document.querySelectorAll('.target-step')].map((s) => s.getAttribute('aria-label').split(', ')[1])"
    )
    assert len(rows) == len(set(rows))


def test_the_smaller_space_says_for_which_question_it_speaks(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    path, a = report
    opened(page, path)
    tab(page, "space")
    reduced = a.reduce(0.1, estimator="counts")
    assert page.text(".pane-space .pane-note") == "Suggested space for reaching the best 10 % of all rows."
    assert [row["verdict"] for row in saved(page, "space")] == [row.advice for row in reduced.rows]
    assert reduced.export("code").strip() == page.text(".pane-space pre").strip()
    page.run("pedanova.state.ask({ target: { part: [0, 0.3] } })")
    settled(page)
    said = page.text(".pane-space .pane-note")
    assert "the best 10 %" in said
    assert "no suggested space for the current question" in said
    assert page.run("return document.querySelector('.pane-space').classList.contains('moved')")
    page.run("pedanova.state.undo()")
    settled(page)
    assert "moved" not in page.text(".pane-space .pane-note")


def test_cards_are_saved_with_every_digit(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    path, a = report
    opened(page, path)
    wanted = a.importance(0.1, 1.0, **FAST)
    rows = saved(page, "importance")
    assert [row["parameter"] for row in rows] == list(wanted)
    assert [(float(row["share"]), float(row["low"])) for row in rows] == [
        (row.share, row.low) for row in wanted.values()
    ]
    assert {row["parameter"] for row in saved(page, "densities")} == set(a.space)
    for key, least in (("importance", len(a.space)), ("densities", 4 * len(a.space))):
        root = ET.parse(save(page, key, "svg")).getroot()
        assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > least
        assert save(page, key, "png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_drawings_are_saved_whole(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    opened(page, report[0])
    for key in ("pairs", "plane"):
        root = ET.parse(save(page, key, "svg")).getroot()
        assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 5
        assert not [element for element in root.iter() if "class" in element.attrib or "var(" in str(element.attrib)]
        assert save(page, key, "png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_gains_are_those_of_the_analysis(page: Page, report: tuple[Path, pa.Analysis]) -> None:
    opened(page, report[0])
    tab(page, "gains")
    gains = report[1].gains()
    page.until("return document.querySelectorAll('.gains-table tbody tr').length > 0")
    assert page.run("return document.querySelector('.gains-summary').textContent") == gains.summary()
    assert [float(row["gain"]) for row in saved(page, "gains")] == pytest.approx([row.gain for row in gains.rows])
