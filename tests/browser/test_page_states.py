"""What the page does where data, people or servers are odd: no rows, no server, slow answers, odd names, a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import served, settled, tab
from pedanova.data.regions import Region
from pedanova.report.page.page_question import band_to_json

ENTER, ESCAPE, SELECT_ALL = "\ue007", "\ue00c", "\ue009a\ue000"
GONE = "return document.getElementById('headline').textContent.startsWith('No answer')"


def test_no_rows_are_said_to_be_none(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    good = np.sort(analysis.trials(limit=40).columns["lr"])
    page.run("pedanova.state.select('lr', {range: [arguments[0], arguments[1]]})", float(good[0]), float(good[2]))
    page.until("return document.querySelectorAll('.row-tick').length > 0")
    page.run("pedanova.state.select('lr', {range: [2, 3]})")
    page.settle()
    assert page.text("#headline") == "No row is selected: widen the selection."
    assert page.text(".counts").startswith("0 of 400 rows")
    page.until("return document.querySelectorAll('.row-tick').length === 0")
    assert page.run("return document.querySelectorAll('.density .plot .target, #matters .ranked').length") == 0
    for key in ("trials", "targets"):
        page.click(f"#tab-{key}")
        for word in ("force", "pass ", "target="):
            assert word not in page.text(f"#panel-{key}")


def test_too_few_rows_are_told_without_python(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    good = np.sort(analysis.trials(limit=40).columns["lr"])
    page.run("pedanova.state.select('lr', {range: [arguments[0], arguments[1]]})", float(good[0]), float(good[1]))
    page.settle()
    refused = page.answer()["refused"]
    assert "target=" in refused or "pass " in refused  # as Python is told
    assert "too few" in page.text("#headline")
    selected = page.answer()["rows"]["selected"]
    assert page.text(".counts").startswith(f"{selected} of 400 rows")
    assert page.run("return document.body.textContent").count("force=True") == 0


def test_rows_of_one_objective_are_refused_in_words(page: Page) -> None:
    x = np.linspace(0, 1, 200)
    with served(page, pa.analyze({"x": x, "y": x[::-1] ** 2, "loss": np.maximum(x, 0.5)}, "loss")):
        page.run("pedanova.state.select('x', {range: [0, 0.4]})")
        page.settle()
        assert page.text("#headline") == "Objective 'loss' is 0.5 in every row; no parameter can explain it."
        assert page.text(".counts").startswith("80 of 200 rows")
        assert page.complaints() == []  # no answer is an error of the server


def test_notes_hold_no_python(page: Page) -> None:
    random = np.random.default_rng(0)
    x = random.random(300)
    with served(page, pa.analyze({"x": x, "y": random.random(300), "loss": x**2}, "loss"), estimator="auto"):
        tab(page, "notes")
        said = page.text("#panel-notes")
        assert "guessed from its name" in said
        assert said.count("nswered by a model of the objective") == 1
        for word in ("direction=", "estimator=", "pass "):
            assert word not in said


def test_without_a_server_the_last_answer_stays(page: Page, analysis: pa.Analysis) -> None:
    with analysis.explore(open=False, wait=False, estimator="counts", draws=100) as explorer:
        page.open(explorer.url)
        shown = page.bars()
    drawn = page.run("return document.querySelectorAll('.density .plot .target').length")
    page.run("pedanova.state.select('lr', {range: [0.001, 0.1]})")
    page.until(GONE)
    assert "last answer" in page.text("#headline")
    assert page.run("return document.querySelectorAll('.density .plot .target').length") == drawn == 5
    names = page.run("return [...document.querySelectorAll('#matters .ranked')].map((one) => one.dataset.parameter)")
    assert set(names) == set(shown)
    assert page.run("return document.body.classList.contains('pending')")
    with analysis.explore(open=False, wait=False, estimator="counts", draws=100, port=explorer.port):
        page.until(f"return !(() => {{ {GONE} }})()")  # and is asked again
    page.driver.get("about:blank")
    page.complaints()  # the browser's own words on a server that is gone


def test_a_slow_answer_has_a_quiet_sign(page: Page, explorer: str) -> None:
    page.open(explorer)
    assert not page.run("return document.body.classList.contains('slow')")
    slow = {"offline": False, "latency": 1500, "downloadThroughput": -1, "uploadThroughput": -1}
    page.command("Network.emulateNetworkConditions", **slow)
    page.run("pedanova.state.select('lr', {range: [0.0011, 0.1]})")
    page.until("return document.body.classList.contains('slow')")
    assert page.run("return getComputedStyle(document.querySelector('#ask'), '::after').opacity") > "0"
    page.online(on=True)
    page.settle()
    assert not page.run("return document.body.classList.contains('slow')")


# --- typed targets -----------------------------------------------------------------------------------


def test_what_is_typed_means_what_it_means_in_a_shell(page: Page, explorer: str) -> None:
    page.open(explorer)
    for typed in ("0.05", "5 %", "20%", "0.1..0.3", "<=0.8", ">=0.5", ">=0.1,<=0.8", "1e-1"):
        page.click("[data-focus=target]")
        page.press(".chip-field", SELECT_ALL, typed, ENTER)
        wanted = Region.parse(typed.replace(" ", ""))
        assert page.state()["question"]["target"] == band_to_json(wanted), typed


def test_what_cannot_be_read_is_refused_beside_the_field(page: Page, explorer: str) -> None:
    page.open(explorer)
    before = page.state()["question"]
    for typed in ("0.1-0.3", "< 0,05", "0,05", "10", "-5 %", "0.3..0.1", "many", ">= 2, <= 1", "<= 0,05"):
        page.click("[data-focus=target]")
        assert not page.find(".chip .chip-wrong").text
        page.press(".chip-field", SELECT_ALL, typed, ENTER)
        assert page.state()["question"] == before, typed
        wrong = page.find(".chip .chip-wrong")
        assert wrong.text
        assert wrong.is_displayed()
        assert page.run("return document.querySelector('.chip-field').getAttribute('aria-invalid')") == "true"
        page.press(".chip-field", ESCAPE)


def test_a_decimal_comma_selects_nothing(page: Page, explorer: str) -> None:
    page.open(explorer)
    page.run("pedanova.state.select('lr', {range: [0.0001, 0.1]})")
    page.settle()
    page.click("[data-focus='text lr']")
    page.press(".chip-field", SELECT_ALL, "0,05", ENTER)
    assert page.state()["question"]["selection"]["lr"] == {"range": [0.0001, 0.1]}
    assert page.find(".chip .chip-wrong").text


# --- names, objectives, categories --------------------------------------------------------------------


def named() -> pa.Analysis:
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {name: random.random(200) for name in ("in", "row", "trial", "\u202egnp", "constructor")}
    loss = columns["in"] + 0.3 * columns["row"] + 0.1 * random.random(200)
    return pa.analyze({**columns, "loss": loss}, "loss", params=list(columns))


def test_parameters_may_be_called_as_the_page_calls_its_own(page: Page) -> None:
    a = named()
    with served(page, a):
        tab(page, "trials")
        best = a.trials(limit=1)
        assert best.columns["in"][0] < 0.2
        assert set(best.columns) >= {"row_", "in", "row", "trial"}
        good = page.run("return document.querySelectorAll('.trials-table .good').length")
        assert good == page.answer()["rows"]["target"]
        page.run("pedanova.state.change({sort: {key: 'row', descending: true}})")
        settled(page)
        assert page.run("return document.querySelector('.trials-table tbody tr').dataset.row") == str(
            int(np.argmax(a.trials(limit=200, sort="row_").columns["row"]))
        )
        tab(page, "parallel")
        assert f"{good} in the target" in page.text("#panel-parallel")
        page.run("pedanova.state.select('in', {range: [0.001, 0.9]})")
        settled(page)
        assert not page.answer()["refused"]


def goals(many: int) -> pa.Analysis:
    random = np.random.default_rng(3)
    x, y, z = random.random((3, 300))
    values = {f"goal{i}": (x - i / many) ** 2 + (y - 0.5) ** 2 * i + 0.05 * random.random(300) for i in range(many)}
    return pa.analyze({"x": x, "y": y, "z": z, **values}, list(values), direction="minimize")


@pytest.mark.parametrize("live", [True, False])
def test_two_of_three_objectives_are_chosen_and_the_front_is_no_zigzag(page: Page, tmp_path: Path, live: bool) -> None:
    a = goals(3)
    if live:
        with served(page, a):
            look_at_goals(page)
    else:
        a.report(tmp_path / "r.html", estimator="counts", draws=100, reduce=False)
        page.open(tmp_path / "r.html")
        look_at_goals(page)


def look_at_goals(page: Page) -> None:
    tab(page, "objectives")
    assert page.run("return document.querySelectorAll('#panel-objectives path.goal-front').length") == 0
    assert page.run("return document.querySelectorAll('#panel-objectives circle.goal-front').length") > 5
    names = "return [...document.querySelectorAll('#panel-objectives .axis-name')].map((one) => one.textContent)"
    assert [name.split()[0] for name in page.run(names)] == ["goal0", "goal1"]
    page.run(
        "const list = document.querySelector('#panel-objectives select[aria-label=\"y axis\"]');"
        "list.value = 2; list.dispatchEvent(new Event('change'))"
    )
    page.until(f"return String((() => {{ {names} }})()).includes('goal2')")
    assert [name.split()[0] for name in page.run(names)] == ["goal0", "goal2"]


def test_twenty_objectives_are_counted(page: Page) -> None:
    with served(page, goals(20)):
        tab(page, "objectives")
        assert "without intervals" in page.text("#panel-objectives")
        assert page.run("return document.querySelectorAll('#panel-objectives .goal-table thead th').length") == 22


def test_hundreds_of_categories_are_searched_and_too_many_are_told(page: Page) -> None:
    random = np.random.default_rng(0)
    columns = {"some": random.integers(0, 300, 3000).astype(str), "most": random.integers(0, 1500, 3000).astype(str)}
    some = np.char.add("kind ", columns["some"])
    most = np.char.add("name ", columns["most"])
    a = pa.analyze({"some": some, "most": most, "x": random.random(3000), "loss": random.random(3000)}, "loss")
    with served(page, a):
        assert "1 column not used" in page.text("#facts")
        card = ".density[data-parameter=some]"
        assert "300 values" in page.text(f"{card} .card-words")
        page.run("pedanova.sheet.open('some')")
        page.press("#sheet .rank-search", "kind 299")
        assert "1 of 300 values" in page.text("#sheet .sheet-find")
        page.click("#sheet .sheet-find button")
        assert page.state()["question"]["selection"] == {"some": {"labels": ["kind 299"]}}


# --- words and density --------------------------------------------------------------------------------


def test_all_that_matters_is_on_one_screen(page: Page) -> None:
    random = np.random.default_rng(0)
    columns = {f"x{i}": random.random(300) for i in range(12)}
    a = pa.analyze({**columns, "loss": columns["x0"] + 0.5 * columns["x1"]}, "loss")
    page.size(1440, 900)
    with served(page, a):
        box = "(one) => one.getBoundingClientRect().bottom"
        low = f"return Math.max(...[...document.querySelectorAll(arguments[0])].map({box}))"
        assert page.run("return document.querySelectorAll('.density').length") == 9
        for css in ("#matters", ".density", ".tabbar"):
            assert page.run(low, css) <= 900, css
        heads = "return [...document.querySelectorAll('.rank-head > span')].map((one) => one.textContent)"
        assert page.run(heads)[-2:] == ["importance", "ratio"]
        sentence = page.text("#headline")
        assert "for whether a row is in the best 10 % (loss ≤ 0.3" in sentence
        page.run("pedanova.state.select('x0', {range: [0.01, 0.5]})")
        page.settle()
        assert page.text("#headline").startswith("With x0 0.01 to 0.5: x")
        every = "[...document.querySelectorAll('#cards [data-export]')]"
        exports = f"return {every}.filter((one) => one.checkVisibility()).length"
        assert page.run(exports) == 0
        page.click("#matters .menu summary")
        assert page.run(exports) == 3


def test_a_tapped_tab_is_seen_on_a_phone(page: Page, explorer: str) -> None:
    page.size(390, 844)
    page.open(explorer)
    for key in ("notes", "trials"):
        page.run("document.getElementById(`tab-${arguments[0]}`).click()", key)
        page.settle()
        panel = "document.getElementById(`panel-${arguments[0]}`)"
        place = f"return [{panel}.getBoundingClientRect().top, innerHeight]"
        page.until(f"const [top, high] = (() => {{ {place} }})(); return top >= 0 && top < high / 2", key)
    faded = page.run("return getComputedStyle(document.querySelector('.chip-list')).maskImage")
    assert "gradient" in faded


def test_copies_stand_in_one_line(page: Page) -> None:
    random = np.random.default_rng(0)
    lr, width = 10 ** random.uniform(-5, -1, 300), random.integers(1, 9, 300)
    loss = np.abs(np.log10(lr) + 3) + 0.1 * width + random.normal(0, 0.1, 300)
    a = pa.analyze({"lr": lr, "log_lr": np.log10(lr), "width": width, "x": random.random(300), "loss": loss}, "loss")
    copies = a.importance(estimator="counts").copies
    assert copies
    ((copy, original),) = copies.items()
    with served(page, a):
        shown = page.bars()
        assert copy not in shown
        assert original in shown
        assert f"= {copy}" in page.text(f".ranked[data-parameter={original}] .name")


def test_a_or_b_shows_its_line(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.click("#tool-pin")
    page.run("pedanova.state.select('optimizer', {labels: ['adam', 'rmsprop']})")
    page.settle()
    page.until("return document.querySelector('.compare-table') !== null")
    line = page.run("return Object.fromEntries(pedanova.pane.coded())['A|B'].python")
    found = eval(line, {"a": analysis, "pa": pa})
    cells = page.run(
        "return [...document.querySelectorAll('.compare-table tbody tr')].map((row) =>"
        " [row.children[0].textContent, row.children[3].textContent])"
    )
    assert len(cells) == len(found.rows)
    for row, (name, difference) in zip(found.rows, cells, strict=True):
        assert name == row.name
        sign = "−" if row.difference < 0 else "+"
        assert difference == sign + page.run("return pedanova.percent(arguments[0])", abs(row.difference))
