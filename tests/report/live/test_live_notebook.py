"""The live page in a notebook: what can be set and read, and a real kernel that answers."""

from __future__ import annotations

import queue
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import MissingLibraryError, QueryError
from pedanova.report.live import widget as page_widget
from pedanova.report.live.widget import Widget

anywidget = pytest.importorskip("anywidget")
COUNTS = {"estimator": "counts", "draws": 100}


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    table = {"lr": 10 ** random.uniform(-5, 0, 300), "opt": random.choice(["adam", "sgd"], 300)}
    table["on"] = random.random(300) < 0.5
    return pa.analyze(table, np.abs(np.log10(table["lr"]) + 3) + (table["opt"] == "sgd"))


@pytest.fixture
def w(a: pa.Analysis) -> Any:
    return a.widget(**COUNTS)


def test_a_selection_can_be_set_and_read(a: pa.Analysis, w: Any) -> None:
    assert w.selection == {}
    w.selection = {"lr": (1e-4, 1e-2), "opt": {"adam"}, "on": np.bool_(True)}
    assert w.selection == {"lr": (1e-4, 1e-2), "opt": ["adam"], "on": [True]}
    assert w.question["selection"]["opt"] == {"labels": ["adam"]}
    assert w.wanted["question"] == w.question
    inner = a.within(w.selection)
    good = a.data.reach(0.1, of="space")[0]
    assert w.importance().to_dict() == inner.importance(pa.at_most(good), **COUNTS).to_dict()
    w.selection = {}
    assert w.importance().to_dict() == a.importance(**COUNTS).to_dict()


def test_a_question_can_be_set(w: Any) -> None:
    w.question = {"target": {"part": [0, 0.3]}, "selection": {"lr": {"range": [None, 0.1]}}}
    assert w.selection == {"lr": (None, 0.1)}
    assert w.question["baseline"] == "region", "completed"
    assert w.wanted["question"] == w.question


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rl": (0, 1)}, "no parameter is called 'rl'"),
        ({"opt": ["adan"]}, "no value is called 'adan'; did you mean 'adam'?"),
        ({"opt": []}, "the list is empty"),
        ({"on": [1]}, "no value is called 1"),
        ({"lr": (1, 0.1)}, "swap them"),
        ({"lr": 0.1}, "must be [low, high]"),
        ({"lr": (0.1, "x")}, "must be a number"),
    ],
)
def test_what_is_no_selection_is_refused_and_changes_nothing(w: Any, wrong: dict[str, Any], words: str) -> None:
    w.selection = {"opt": ["sgd"]}
    before = w.wanted
    refuse(QueryError, words, of=lambda: setattr(w, "selection", wrong))
    assert w.selection == {"opt": ["sgd"]}
    assert w.wanted == before


def test_the_page_moves_and_python_follows_without_answering_back(w: Any) -> None:
    seen: list[Any] = []
    w.observe(lambda change: seen.append(change["new"]), names="selection")
    before = w.wanted
    w._handle_custom_msg({"pedanova": "moved", "question": {"selection": {"opt": {"labels": ["sgd"]}}}}, [])
    assert (w.selection, seen) == ({"opt": ["sgd"]}, [{"opt": ["sgd"]}])
    assert w.wanted == before, "what the page knows is not sent back: it may have moved on"
    for nonsense in (
        {"pedanova": "moved", "question": {"selection": {"x": 1}}},
        {"pedanova": "moved"},
        "text",
        None,
        [],
    ):
        w._handle_custom_msg(nonsense, [])
    assert w.selection == {"opt": ["sgd"]}
    w.selection = {}
    first = w.wanted["number"]
    w._handle_custom_msg({"pedanova": "moved", "question": {"selection": {"opt": {"labels": ["sgd"]}}}}, [])
    w.selection = {}
    assert w.wanted["number"] == first + 1, "the same wish once more is a wish"


def test_without_anywidget_it_is_the_page_of_the_report(a: pa.Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**COUNTS, "reduce": False}
    assert isinstance(a.widget(live=False, **options), Widget)
    assert "pip install" not in a.widget(live=False, **options)._repr_html_()
    monkeypatch.setattr(page_widget, "find_spec", lambda _: None)
    plain = a.widget(**options)
    assert isinstance(plain, Widget)
    assert "pip install anywidget" in plain._repr_html_()
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    monkeypatch.delitem(__import__("sys").modules, "pedanova.report.live.notebook")
    refuse(MissingLibraryError, "pip install 'anywidget>=", of=lambda: a.widget(live=True))


def test_rows_that_are_no_longer_at_hand(a: pa.Analysis, tmp_path: Any) -> None:
    a.save(tmp_path / "a.pedanova", rows=False)
    shown = pa.load(tmp_path / "a.pedanova").widget(**COUNTS, reduce=False)
    assert isinstance(shown, Widget)
    assert "no longer available" in shown._repr_html_()


def test_bad_options(a: pa.Analysis) -> None:
    refuse(QueryError, "height=", of=lambda: a.widget(height=5))
    refuse(QueryError, "colour=", of=lambda: a.widget(colour="red"))
    refuse(QueryError, "estimator=", of=lambda: a.widget(estimator="guess"))


CODE = """import numpy as np, pedanova as pa
rng = np.random.default_rng(0)
table = {"</script><script>alert(1)": rng.random(300), "lr": 10 ** rng.uniform(-5, 0, 300)}
a = pa.analyze(table, np.abs(np.log10(table["lr"]) + 3))
w = a.widget(estimator="counts", draws=100)
w"""


EXPLORED = "from urllib.request import urlopen\npage = a.explore(open=False)\nprint(page.url)"


@pytest.mark.filterwarnings("default")  # of the kernel's own libraries
def test_a_real_kernel_answers() -> None:
    """The messages that a notebook's front end sends, and what comes back over the wire."""
    pytest.importorskip("ipykernel")
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel(kernel_name="python3")
    try:
        told = run(client, CODE)
        (shown,) = [one["content"]["data"] for one in told if one["msg_type"] == "execute_result"]
        assert "<table>" in shown["text/html"], "what an exported notebook shows"
        assert "<script" not in shown["text/html"]
        model = shown["application/vnd.jupyter.widget-view+json"]["model_id"]
        (opened,) = [m for m in told if m["msg_type"] == "comm_open" and m["content"]["comm_id"] == model]
        state = opened["content"]["data"]["state"]
        assert state["page"].startswith("<!doctype html>")
        assert "alert(1)" not in state["page"]
        assert "export default { render }" in state["_esm"]
        question = {"selection": {"lr": {"range": [1e-4, 1e-2]}}}
        asked = {"pedanova": 7, "view": "v", "lane": "l", "part": "answer", "question": question, "sure": True}
        (answer,) = [one for one in send(client, model, asked) if one["method"] == "custom"]
        assert (answer["content"]["pedanova"], answer["content"]["view"]) == (7, "v")
        assert answer["content"]["answer"]["refused"] is None
        assert "lr" in [row["parameter"] for row in answer["content"]["answer"]["importances"]]
        send(client, model, {"pedanova": "moved", "question": question})
        assert "{'lr': (0.0001, 0.01)}" in printed(run(client, "print(w.selection)"))
        (update,) = [
            one["content"]["data"]["state"]["wanted"]
            for one in run(client, "w.selection = {'lr': (None, 0.5)}")
            if one["msg_type"] == "comm_msg"
        ]
        assert update["question"]["selection"] == {"lr": {"range": [None, 0.5]}}
        assert "http://127.0.0.1:" in printed(run(client, EXPLORED)), "the cell ends, and the next one runs"
        assert "200 <!doctype html>" in printed(
            run(client, "look = urlopen(page.url); print(look.status, look.read(15).decode())")
        )
        run(client, "page.close()")
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def run(client: Any, code: str) -> list[dict[str, Any]]:
    return heard(client, client.execute(code))


def send(client: Any, model: str, content: dict[str, Any]) -> list[dict[str, Any]]:
    data = {"comm_id": model, "data": {"method": "custom", "content": content}}
    message = client.session.msg("comm_msg", data)
    client.shell_channel.send(message)
    told = heard(client, message["header"]["msg_id"])
    return [one["content"]["data"] for one in told if one["msg_type"] == "comm_msg"]


def heard(client: Any, parent: str) -> list[dict[str, Any]]:
    """All that the kernel says until it is idle again."""
    told: list[dict[str, Any]] = []
    while True:
        try:
            message = client.get_iopub_msg(timeout=120)
        except queue.Empty:
            pytest.fail("the kernel says nothing")
        if message["parent_header"].get("msg_id") != parent:
            continue
        assert message["msg_type"] != "error", message["content"]
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return told
        told.append(message)


def printed(told: list[dict[str, Any]]) -> str:
    return "".join(one["content"]["text"] for one in told if one["msg_type"] == "stream")
