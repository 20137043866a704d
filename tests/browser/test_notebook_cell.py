"""The live page in a cell: the real script in Chromium, the real widget in Python, and their messages between them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page

comm = pytest.importorskip("comm")
pytest.importorskip("anywidget")
COUNTS = {"estimator": "counts", "draws": 100}
# What a notebook gives to a widget's script: the state, its changes, and messages. Nothing else is asked of it.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><title>cell</title><body><div id="cell"></div><div id="second"></div>
<script type="application/json" id="state">STATE</script><script type="module">
const state = JSON.parse(document.getElementById("state").textContent);
const listeners = new Map();
const tell = (name, ...what) => (listeners.get(name) || []).forEach((listener) => listener(...what));
window.outbox = [];
window.model = {
  get: (name) => state[name],
  on: (name, listener) => listeners.set(name, [...(listeners.get(name) || []), listener]),
  off: (name, listener) => listeners.set(name, (listeners.get(name) || []).filter((one) => one !== listener)),
  send: (content) => window.outbox.push(content),
};
window.receive = (content) => tell("msg:custom", content, []);
window.update = (patch) => {
  Object.assign(state, patch);
  Object.keys(patch).forEach((name) => tell(`change:${name}`));
};
window.listeners = listeners;
const script = URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" }));
window.widget = (await import(script)).default;
window.draw = (id) => window.widget.render({ model: window.model, el: document.getElementById(id) });
window.end = window.draw("cell");
</script>"""


class Cell:
    """A cell with one widget; `pump` carries messages both ways, as a notebook's kernel does."""

    def __init__(self, page: Page, widget: Any, published: list[dict[str, Any]], folder: Path) -> None:
        self.page, self.widget, self.published = page, widget, published
        self.asked: list[dict[str, Any]] = []
        state = json.dumps({name: getattr(widget, name) for name in ("_esm", "page", "height", "wanted")})
        file = folder / "cell.html"
        file.write_text(NOTEBOOK.replace("STATE", state.replace("</", "<\\/")), encoding="utf-8")
        page.complaints()
        page.requests()
        page.driver.get(file.as_uri())
        self.until(lambda: self.inside("return Boolean(document.body && document.body.dataset.ready)"))

    def pump(self) -> None:
        self.page.driver.switch_to.default_content()
        for content in self.page.run("return window.outbox ? window.outbox.splice(0) : []"):
            self.asked.append(content)
            self.widget._handle_custom_msg(content, [])
        for data in [self.published.pop(0) for _ in list(self.published)]:
            call = "window.receive(arguments[0])" if data["method"] == "custom" else "window.update(arguments[0])"
            self.page.run(call, data["content"] if data["method"] == "custom" else data["state"])

    def until(self, done: Callable[[], Any]) -> Any:
        for _ in range(600):
            self.pump()
            found = done()
            if found:
                return found
            time.sleep(0.05)
        return pytest.fail(f"it did not come; the page said {self.page.complaints()}")

    def inside(self, script: str, *arguments: Any) -> Any:
        """Run in the frame of the page."""
        self.page.driver.switch_to.default_content()
        frames = self.page.driver.find_elements("css selector", "iframe")
        if not frames:
            return None
        self.page.driver.switch_to.frame(frames[0])
        try:
            return self.page.run(script, *arguments)
        finally:
            self.page.driver.switch_to.default_content()

    def settled(self) -> None:
        """Everything that was asked is answered, for good."""
        script = (
            "return !document.querySelector('[aria-busy=true], body.pending') && pedanova.page.answer().sure === true"
        )
        self.until(lambda: self.inside(script))

    def shown(self) -> dict[str, float]:
        found = self.inside("return pedanova.page.answer().importances.map((row) => [row.parameter, row.share])")
        return {name: float(share) for name, share in found}

    def question(self) -> dict[str, Any]:
        found: dict[str, Any] = self.inside("return pedanova.state.get().question")
        return found


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What widgets send from now on."""
    sent: list[dict[str, Any]] = []

    class Recorded(comm.base_comm.BaseComm):  # type: ignore[misc, name-defined]
        def publish_msg(self, msg_type: str, data: Any = None, **_: Any) -> None:
            if msg_type == "comm_msg":
                sent.append(data)

    monkeypatch.setattr(comm, "create_comm", Recorded)
    return sent


@pytest.fixture
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    table = {
        "lr": 10 ** random.uniform(-5, 0, 400),
        "opt": random.choice(["adam", "sgd"], 400),
        "m": random.random(400),
    }
    return pa.analyze(table, np.abs(np.log10(table["lr"]) + 3) + (table["opt"] == "sgd") + table["m"] / 5)


@pytest.fixture
def cell(page: Page, a: pa.Analysis, published: list[dict[str, Any]], tmp_path: Path) -> Cell:
    page.online(on=False)
    return Cell(page, a.widget(title="</script><script>alert(1)", height=700, **COUNTS), published, tmp_path)


def test_the_cell_shows_what_the_kernel_answers(cell: Cell, a: pa.Analysis) -> None:
    cell.settled()
    wanted = a.importance(**COUNTS)
    assert cell.shown() == pytest.approx({row.name: row.share for row in wanted.rows}, abs=0)
    assert cell.widget.importance().to_dict() == wanted.to_dict()
    assert cell.page.run("return document.querySelector('iframe').style.height") == "700px"
    assert cell.inside("return window.origin") == "null", "scripts of the page reach nothing of the notebook"
    assert not [line for line in cell.page.complaints() if "favicon" not in line]


def test_a_selection_goes_both_ways(cell: Cell, a: pa.Analysis) -> None:
    cell.settled()
    seen: list[Any] = []
    cell.widget.observe(lambda change: seen.append(change["new"]), names="selection")
    cell.inside("pedanova.state.select('lr', {range: [0.0001, 0.1]})")
    cell.until(lambda: cell.widget.selection == {"lr": (1e-4, 0.1)})
    assert seen == [{"lr": (1e-4, 0.1)}]
    cell.settled()
    inner = a.within(cell.widget.selection)
    assert cell.inside("return pedanova.page.answer().rows.selected") == len(inner)
    cell.widget.selection = {"opt": {"adam"}, "m": (None, 0.5)}
    cell.until(lambda: set(cell.question()["selection"]) == {"opt", "m"})
    cell.settled()
    assert cell.inside("return pedanova.page.answer().rows.selected") == len(
        a.within({"opt": ["adam"], "m": (None, 0.5)})
    )
    assert cell.shown() == pytest.approx({row.name: row.share for row in cell.widget.importance().rows}, abs=0)
    cell.inside("pedanova.state.undo()")
    cell.until(lambda: cell.widget.selection == {"lr": (1e-4, 0.1)})
    cell.widget.question = {**cell.widget.question, "target": {"part": [0, 0.3]}}
    cell.until(lambda: cell.question()["target"] == {"part": [0, 0.3]})
    assert cell.question()["selection"] == {"lr": {"range": [1e-4, 0.1]}}


def test_of_many_questions_the_newest_alone_is_asked(cell: Cell) -> None:
    cell.settled()
    cell.asked.clear()
    cell.inside("""
        for (let i = 1; i <= 30; i += 1) pedanova.source.ask("answer",
            {...pedanova.state.get().question, target: {part: [0, 0.1 + i / 100]}}, {sure: false}).catch(() => {});""")
    last = "{...pedanova.state.get().question, target: {part: [0, 0.4]}}"
    cell.until(lambda: cell.inside(f"return pedanova.source.known('answer', {last}, {{sure: false}}) !== undefined"))
    parts = [one["question"]["target"]["part"][1] for one in cell.asked if one.get("part") == "answer"]
    assert parts == [0.11, 0.4]


def test_a_cell_drawn_again_begins_where_the_page_was(cell: Cell) -> None:
    cell.settled()
    cell.inside("pedanova.state.select('opt', {labels: ['sgd']})")
    cell.until(lambda: cell.widget.selection == {"opt": ["sgd"]})
    cell.page.run("window.end(); window.end = window.draw('second')")
    cell.until(lambda: (cell.inside("return Boolean(document.body && document.body.dataset.ready)")
                        and "opt" in cell.question()["selection"]))  # fmt: skip
    assert cell.widget.selection == {"opt": ["sgd"]}
    cell.page.run("window.end()")
    assert cell.page.run("return document.querySelectorAll('iframe').length") == 0
    assert cell.page.run("return [...window.listeners.values()].flat().length") == 0, "nothing is left behind"
    cell.page.run("window.receive({view: 'x', pedanova: 1})")


def test_a_question_that_is_refused_says_why(cell: Cell) -> None:
    cell.settled()
    cell.inside("window.found = null; pedanova.source.ask('plane', pedanova.state.get().question, "
                "{first: 'lr', second: 'nobody'}).then((answer) => { window.found = answer; })")  # fmt: skip
    cell.until(lambda: cell.inside("return window.found !== null"))
    assert "no parameter is called 'nobody'" in cell.inside("return window.found.refused")
