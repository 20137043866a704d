"""The tab of single trials: history, slices and intermediate values; a drag over a period selects its rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import saved, served, settled, tab

LIST = "const list = document.querySelector(arguments[0]); list.value = arguments[1];"
ENTER = "\ue007"
CHOOSE = LIST + "list.dispatchEvent(new Event('change'))"


@pytest.fixture(scope="module")
def ended() -> pa.Analysis:
    rng = np.random.default_rng(0)
    lr, opt = 10 ** rng.uniform(-5, 0, 200), rng.choice(["adam", "sgd"], 200)
    state = np.where(lr > 0.3, "FAIL", np.where(rng.random(200) < 0.2, "PRUNED", "COMPLETE"))
    loss = np.where(state == "FAIL", np.nan, np.abs(np.log10(lr) + 3) + rng.random(200))
    return pa.analyze({"lr": lr, "opt": opt, "loss": loss, "state": state}, "loss")


@pytest.fixture
def live(browser: Page, ended: pa.Analysis) -> Iterator[Page]:
    browser.size(1280)
    browser.dark(on=False)
    with served(browser, ended) as page:
        tab(page, "history")
        yield page
        assert page.complaints() == []


def test_a_period_is_selected(live: Page, ended: pa.Analysis) -> None:
    found = ended.history()
    lines = saved(live, "history")
    assert [line["state"] for line in lines] == found.columns["state"]
    assert [float(line["best"]) for line in lines] == found.columns["best"]
    live.drag(".scatter-area", (0.3, 0.3), (0.9, 0.6))
    settled(live)
    selection = live.state()["question"]["selection"]
    assert list(selection) == ["row"], "a period, whatever its height"
    low, high = selection["row"]["range"]
    line = live.answer()["lines"]["python"]
    assert line.startswith(f"a.within({{'row': ({low:.1f}, {high:.1f})}})")
    assert live.bars() == {row.name: row.share for row in eval(line, {"a": ended, "pa": pa}).rows}
    assert len(saved(live, "history")) == 200, "the rows around the period stay visible"


def test_a_slice_has_a_colour_and_a_line_of_python(live: Page, ended: pa.Analysis) -> None:
    picture = "return document.querySelector('.pane-history canvas').toDataURL()"
    before = live.run(picture)
    live.run(CHOOSE, ".pane-history select[aria-label='x axis']", "lr")
    settled(live)
    live.run(CHOOSE, ".pane-history select[aria-label^=Colour]", "opt")
    settled(live)
    assert live.run(picture) != before
    lines = saved(live, "history")
    assert [float(line["lr"]) for line in lines] == ended.history(params=["lr"]).columns["lr"]
    live.click("#tool-code")
    settled(live)
    code = live.run("return [...document.querySelectorAll('#code code')].map((one) => one.textContent)")
    line = next(one for one in code if "slice" in one).splitlines()[-1]
    assert eval(line, {"a": ended, "pa": pa}).get_xlabel() == "lr"
    live.drag(".scatter-area", (0.1, 0.3), (0.5, 0.6))
    settled(live)
    assert list(live.state()["question"]["selection"]) == ["lr"]


def test_intermediate_values_are_lines(browser: Page) -> None:
    optuna = pytest.importorskip("optuna")
    study, space = optuna.create_study(), {"x": optuna.distributions.FloatDistribution(0, 1)}
    for row in range(60):
        steps = {1: 2.0, 2: 1 + row / 60, **({} if row % 3 == 0 else {5: row / 60})}
        more = {"state": optuna.trial.TrialState.PRUNED} if row % 3 == 0 else {"value": steps[5]}
        study.add_trial(
            optuna.create_trial(params={"x": row / 60}, distributions=space, intermediate_values=steps, **more)
        )
    a = pa.analyze(study)
    with served(browser, a) as page:
        tab(page, "history")
        assert page.run("return document.querySelectorAll('.curve').length") == 60
        assert page.run("return document.querySelectorAll('.curve.ended').length") == 20
        values = [float(line["value"]) for line in saved(page, "curves")]
        assert values == a.curves().columns["value"]
        assert page.complaints() == []


def test_trials_are_filtered_by_a_column_and_two_are_compared(live: Page, ended: pa.Analysis) -> None:
    tab(live, "trials")
    live.run(CHOOSE, ".pane-trials select[aria-label^=Filter]", "lr")
    live.press(".pane-trials .chip-field", "<= 0.001", ENTER)
    settled(live)
    assert live.state()["question"]["selection"] == {"lr": {"range": [None, 0.001]}}
    kept = ended.within("lr <= 0.001").trials(limit=50)
    names = live.run("return [...document.querySelectorAll('.trials-table .row-name')].map((one) => one.textContent)")
    assert names == [str(row) for row in kept.columns["row"]]
    for place in (1, 3):
        live.click(f".trials-table tbody tr:nth-child({place}) .row-name")
    cells = "[...line.cells].map((one) => one.textContent)"
    both = live.run(f"return [...document.querySelectorAll('.pins-table tr')].map((line) => {cells})")
    assert both[0] == ["", f"row {names[0]}", f"row {names[2]}"]
    told = {line[0]: line[1:] for line in both[1:]}
    assert told["opt"] == [kept.columns["opt"][0], kept.columns["opt"][2]]
    assert [float(one) for one in told["lr"]] == pytest.approx([kept.columns["lr"][i] for i in (0, 2)], rel=0.01)
    live.click(".trials-table tbody tr:nth-child(1) .row-name")
    assert not live.run("return document.querySelector('.pins-table')")
