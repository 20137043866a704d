"""The page with somebody who answers: brushes are selections, and every number is the one that Python gives."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

import pedanova as pa
from helpers.chromium import Page
from pedanova.base.digits import percent
from pedanova.report.page import answers
from pedanova.report.page.page_question import parse_question

COUNTS = {"estimator": "counts", "draws": 100}
TAB, LEFT, RIGHT, ENTER, ESCAPE, SPACE = "\ue004", "\ue012", "\ue014", "\ue007", "\ue00c", "\ue00d"
LR = ".density[data-parameter=lr]"
KINDS = ".density[data-parameter=optimizer]"


def chosen(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.state()["question"]["selection"]
    return found


def same_as_python(page: Page, a: pa.Analysis) -> dict[str, Any]:
    """Everything that the page shows, held against the analysis itself."""
    shown = page.answer()
    question = parse_question(page.state()["question"], a.space)
    wanted = json.loads(json.dumps(answers.ranking(a.data, replace(question, **COUNTS))))
    del wanted["lines"]  # in the order of the brushes, which the driver does not keep
    if "densities" in wanted:  # the page also shows columns that are not parameters
        shown["densities"] = {name: shown["densities"][name] for name in wanted["densities"]}
    assert {name: shown.get(name) for name in wanted} == wanted
    if not wanted["refused"]:
        rows = {row["parameter"]: row for row in wanted["importances"]}
        assert page.bars() == {name: rows[name]["share"] for name in page.bars()}
        assert page.bars("ratio") == {name: row["ratio"] for name, row in rows.items()}
    return wanted


def test_a_brush_is_a_selection(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    same_as_python(page, analysis)
    page.drag(f"{LR} svg", (0.3, 0.5), (0.7, 0.5))
    low, high = chosen(page)["lr"]["range"]
    assert 1e-5 < low < high < 1
    wanted = same_as_python(page, analysis)
    rows = len(analysis.within({"lr": (low, high)}))
    assert wanted["rows"]["selected"] == rows
    assert f"{rows} of 400 rows" in page.text(".counts")
    page.drag(f"{LR} .edge.on:last-of-type .edge-catch", (0.5, 0.5), (-2, 0.5))  # pulls the upper end down
    assert chosen(page)["lr"]["range"][0] == low
    assert chosen(page)["lr"]["range"][1] < high
    same_as_python(page, analysis)
    for _ in range(2):
        page.run("document.getElementById('tool-undo').click()")
    page.settle()
    assert chosen(page) == {}


def test_the_keyboard_brushes_and_clears(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.press(f"{LR} .edge", RIGHT, RIGHT, RIGHT)
    low, high = chosen(page)["lr"]["range"]
    assert 1e-5 < low < high
    focused = page.run("return document.activeElement.getAttribute('aria-label')")
    assert focused == "lr: lower end of the selection"
    page.press(f"{LR} .edge:last-child", LEFT)
    assert chosen(page)["lr"]["range"][1] < high
    same_as_python(page, analysis)
    page.press(f"{LR} .edge", ESCAPE)
    assert chosen(page) == {}


def test_a_click_toggles_a_category(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.click(f"{KINDS} .bar-catch:nth-of-type(1)")
    assert chosen(page) == {"optimizer": {"labels": ["adam"]}}
    same_as_python(page, analysis)
    page.press(f"{KINDS} .bar-catch:nth-of-type(1)", RIGHT, RIGHT)
    page.press(f"{KINDS} .bar-catch:nth-of-type(3)", SPACE)
    assert chosen(page) == {"optimizer": {"labels": ["adam", "sgd"]}}
    checked = page.run(
        "return [...document.querySelectorAll(arguments[0])].map((bar) => bar.getAttribute('aria-checked'))",
        f"{KINDS} .bar-catch",
    )
    assert checked == ["true", "false", "true"]
    page.press(f"{KINDS} .bar-catch:nth-of-type(3)", ESCAPE)
    assert chosen(page) == {}


def test_chips_are_hidden_typed_into_and_removed(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.run("pedanova.state.select('lr', {range: [0.0001, 0.1]}); pedanova.state.select('layers', {range: [2, 4]})")
    page.settle()
    page.click("[data-focus='text lr']")
    page.press(".chip-field", "\ue009a\ue000", "1e-4 to 0.02", ENTER)
    assert chosen(page)["lr"] == {"range": [1e-4, 0.02]}
    same_as_python(page, analysis)
    page.click("[data-focus='eye layers']")
    assert page.answer()["rows"]["selected"] == len(analysis.within({"lr": (1e-4, 0.02)}))
    assert set(chosen(page)) == {"lr", "layers"}  # hidden, not forgotten
    page.click("[data-focus='cross lr']")
    page.click("[data-focus='eye layers']")
    assert page.answer()["rows"]["selected"] == len(analysis.within({"layers": (2, 4)}))
    page.click("[data-focus='text layers']")
    page.press(".chip-field", "\ue009a\ue000", "many", ENTER)
    assert page.run("return document.querySelector('.chip-field').validationMessage")
    page.press(".chip-field", "\ue009a\ue000", "", "\ue003", ENTER)
    assert chosen(page) == {}


def test_the_edges_of_the_objective_are_free(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    at = page.run(
        "return Number(document.querySelector('[data-edge=target]').dataset.x) / arguments[0].clientWidth",
        page.find("#strip"),
    )
    page.drag(".strip", (at, 0.5), (at + 0.11, 0.5))
    part = page.state()["question"]["target"]["part"][1]
    assert 0.1 < part < 0.6
    same_as_python(page, analysis)
    page.click("[data-focus=target]")
    page.press(".chip-field", "\ue009a\ue000", "<= 0.75", ENTER)
    assert page.state()["question"]["target"] == {"value": [None, 0.75]}
    same_as_python(page, analysis)
    inner = "[data-inner=target] .edge-catch"
    page.drag(inner, (0.5, 0.5), (3, 0.5))  # leaves out the best
    low, high = page.state()["question"]["target"]["value"]  # a band of values stays one
    assert analysis.data.reach(0.001)[0] < low < high == 0.75
    same_as_python(page, analysis)
    page.drag(inner, (0.5, 0.5), (-2, 0.5))
    assert page.state()["question"]["target"] == {"value": [None, 0.75]}


def test_the_inner_edges_push_each_other(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.press("[data-inner=region]", RIGHT, RIGHT)  # the target goes along: it lies inside the region
    question = page.state()["question"]
    assert question["target"]["part"][0] == question["region"]["part"][0] > 0
    same_as_python(page, analysis)
    page.drag("[data-edge=target] .edge-catch", (0.5, 0.5), (3, 0.5))
    wider = page.state()["question"]["target"]["part"]
    assert wider[0] == question["target"]["part"][0]  # the inner edge stays where it was
    assert wider[1] > question["target"]["part"][1]
    page.press("[data-inner=target]", LEFT, LEFT)
    assert page.state()["question"]["region"]["part"] == [0, 1]
    assert page.state()["question"]["target"]["part"] == [0, wider[1]]
    same_as_python(page, analysis)


def test_few_good_rows_are_hatched_and_shown_one_by_one(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    good = np.sort(analysis.trials(limit=40).columns["lr"])  # the best tenth
    page.run("pedanova.state.select('lr', {range: [arguments[0], arguments[1]]})", float(good[0]), float(good[2]))
    assert page.answer()["rows"]["target"] == 3
    assert page.text("#headline").startswith("Only 3 good rows among")
    assert "widen the selection" in page.text("#headline")
    for word in ("force", "target=", "pass "):  # advice for those who type
        assert word not in page.text("#headline")
        assert word not in page.text("main")
    assert page.text(".counts").endswith("3 good")
    assert page.run("return document.getElementById('densities').classList.contains('few')")
    page.until("return document.querySelectorAll('.density[data-parameter=lr] .row-tick').length === 3")
    assert page.run("return document.querySelectorAll('#matters .ranked, .density .plot .target').length") == 0


def test_a_selection_is_saved_as_a_report(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    page.run("pedanova.state.select('optimizer', {labels: ['adam']})")
    shown = page.bars()
    saved = page.downloaded("report.html", lambda: page.click("#tool-save"))
    page.until("return document.getElementById('said').textContent.includes('saved')")
    page.open(saved)
    assert page.bars() == shown
    assert f"{len(analysis.within({'optimizer': ['adam']}))} of 400 rows" in page.text("#facts")


def random_question(random: np.random.Generator) -> dict[str, Any]:
    """A selection as the mouse makes it: ranges of three digits, some labels, another target now and then."""
    selection: dict[str, Any] = {}
    if random.random() < 0.7:
        low, high = np.sort(10 ** random.uniform(-5, 0, 2))
        selection["lr"] = {"range": [float(f"{low:.3g}"), float(f"{high:.3g}")]}
    if random.random() < 0.5:
        low, high = np.sort(random.uniform(0, 1, 2))
        selection["momentum"] = {
            "range": [None if random.random() < 0.3 else float(f"{low:.3g}"), float(f"{high:.3g}")]
        }
    if random.random() < 0.4:
        low, high = np.sort(random.integers(1, 6, 2))
        selection["layers"] = {"range": [int(low), int(high)]}
    if random.random() < 0.5:
        labels = [name for name in ("adam", "rmsprop", "sgd") if random.random() < 0.6]
        selection |= {"optimizer": {"labels": labels}} if labels else {}
    target = {"part": [0, float(random.choice([0.05, 0.1, 0.2, 0.33]))]}
    region = {"part": [0, float(random.choice([0.5, 1, 1, 1]))]}
    baseline, good = str(random.choice(["region", "uniform"])), str(random.choice(["all", "selection"]))
    return {
        "target": target,
        "region": region,
        "selection": selection,
        "baseline": baseline,
        "good": good,
        "of": "space",
    }


ASK = """
    const [questions, done] = arguments;
    const frame = () => new Promise(requestAnimationFrame);
    const settled = async () => { do await frame(); while (!pedanova.page.isSettled()); };
    (async () => {
        const told = [];
        pedanova.state.change({tab: 'notes'});  // a table of trials after every question is another test's matter
        for (const question of questions) {
            pedanova.state.change({question, hidden: []});
            await settled();
            document.querySelectorAll('.fold[aria-expanded=false]').forEach((fold) => fold.click());
            await settled();
            const rows = [...document.querySelectorAll('#matters .ranked')];
            const drawn = rows.map((row) =>
                [row.dataset.parameter, row.dataset.share, row.querySelector('.share').textContent]);
            told.push([pedanova.page.answer(), drawn]);
        }
        done(told);
    })();
"""


def test_random_selections_say_what_python_says(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    """What the page shows is what the shown line of Python gives, to the last digit."""
    page.open(explorer)
    random = np.random.default_rng(11)
    answered: list[dict[str, Any]] = []
    while len(answered) < 22:  # a fault that shows in one of ten is found nine times of ten
        question = random_question(random)
        if not answers.ranking(analysis.data, parse_question(question, analysis.space), sure=False)["refused"]:
            answered.append(question)
    told = [one for start in (0, 11) for one in page.later(ASK, answered[start : start + 11])]
    for shown, drawn in told:
        assert not shown["refused"]
        found = by_line(shown["lines"]["python"], analysis)
        assert [row["parameter"] for row in shown["importances"]] == list(found)
        for row in shown["importances"]:
            assert (row["share"], row["ratio"], row["low"], row["high"]) == tuple(
                getattr(found[row["parameter"]], name) for name in ("share", "ratio", "low", "high")
            )
        assert {name: float(share) for name, share, _ in drawn} == {name: row.share for name, row in found.items()}
        for name, _, text in drawn:
            assert text == (percent(found[name].share) if found[name].varied else "–")


def by_line(line: str, a: pa.Analysis) -> Any:
    """What the line gives when it is typed."""
    return eval(line, {"a": a, "pa": pa})
