"""What a notebook shows: by itself, with hostile names, and in a real kernel."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import pedanova as pa
from helpers.common import ROOT
from pedanova.base.table import MOST_LINES, html_table
from pedanova.base.terminal import TableColumn
from pedanova.errors import QueryError
from pedanova.report.live.widget import cell_of

HOSTILE = "</script><script>alert(1)"
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
TAGS = TABLE | {"div", "details", "summary", "ul", "li", "p", "code"}
NAMES = [HOSTILE, "\"'><img src=x onerror=alert(1)>", "a&b", "lr"]


class Seen(HTMLParser):
    """Every tag and attribute, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.frames: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.frames += [value or "" for name, value in attrs if name == "srcdoc"]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(0)
    table = {name: random.random(400) for name in NAMES[:3]}
    table["lr"] = 10 ** random.uniform(-5, 0, 400)
    kinds = np.array([f"{HOSTILE}{i}" for i in range(3)])
    table["kind"] = kinds[random.integers(0, 3, 400)]
    table["sometimes"] = np.where(table["kind"] == kinds[0], random.random(400), np.nan)
    loss = np.abs(np.log10(table["lr"]) + 3) + (table["kind"] == kinds[1]) + random.random(400) / 5
    return pa.analyze(table, loss)


RESULTS = {
    "analysis": lambda a: a,
    "importance": lambda a: a.importance(draws=200),
    "profile": lambda a: a.profile(),
    "interactions": lambda a: a.interactions(),
    "effects": lambda a: a.effects(),
    "marginal": lambda a: a.effects().marginal("lr"),
    "range": lambda a: a.densities("lr"),
    "kinds": lambda a: a.densities("kind"),
    "hostile": lambda a: a.densities(HOSTILE),
    "conditional": lambda a: a.densities("sometimes"),
    "reduce": lambda a: a.reduce(estimator="counts"),
    "pair": lambda a: a.pairs(["lr", "kind"])["lr", "kind"],
}


@pytest.mark.parametrize("name", RESULTS)
def test_tables_are_inert_and_small(a: pa.Analysis, name: str) -> None:
    shown = RESULTS[name](a)._repr_html_()
    seen = Seen(shown)
    assert set(seen.tags) <= TAGS
    assert seen.attributes <= {"style"}
    assert "<script" not in shown
    assert len(shown) < 60_000
    assert seen.tags.count("tr") <= MOST_LINES + 1


def test_bars_marks_and_noise() -> None:
    ratios = TableColumn("ratio", ["80%", "2%"], parts=[1.0, 0.025], marks=[0.5, 0.1])
    shown = html_table("t", [TableColumn("n", ["a", "b"]), ratios], faint={1})
    assert "rgba(40,140,200,.38) 100.0%,transparent 100.0%" in shown
    assert "calc(50.0% - 1px)" in shown
    assert shown.count("opacity:.55") == 1


def test_what_the_tables_say(a: pa.Analysis) -> None:
    assert "400 rows, 6 parameters, minimise objective" in Seen(a._repr_html_()).text
    found = a.importance(draws=200)
    text = Seen(found._repr_html_()).text
    assert text.startswith("lr matters most for whether a trial is in the best 10 %: its importance is")

    assert all(name in text for name in found)
    assert "opacity" in found._repr_html_()  # something here is noise
    text = Seen(a.densities("sometimes")._repr_html_()).text
    assert "active in" in text
    assert "best 10 %" in Seen(a.profile()._repr_html_()).text
    assert "reason" in Seen(a.reduce(estimator="counts")._repr_html_()).text


def test_long_tables_say_what_they_leave_out() -> None:
    shown = html_table("", [TableColumn("n", [str(i) for i in range(1000)])], notes=[str(i) for i in range(50)])
    assert "960 more lines" in shown
    assert "Notes (50)" in shown
    assert "… and 20 more" in shown


def test_a_short_repr(a: pa.Analysis) -> None:
    assert repr(a) == "Analysis(400 rows, 6 parameters, minimise objective (direction not known))"


def test_printed_tables_cannot_steer_a_terminal() -> None:
    random = np.random.default_rng(0)
    b = pa.analyze({"\x1b[31mx": random.random(100), "y\nz": random.random(100)}, random.random(100))
    for found in (b.importance(draws=0), b.interactions(), b.profile(), b.effects(), b.densities("y\nz")):
        assert all(letter.isprintable() or letter == "\n" for letter in str(found))


def test_the_widget_is_the_page_in_a_closed_frame(a: pa.Analysis, tmp_path) -> None:
    options = {"title": HOSTILE, "estimator": "counts", "draws": 0, "reduce": False, "ladder": [0.1, 0.5, 1.0]}
    widget = cell_of(a.data, height=700, live=False, **options)
    a.report(tmp_path / "r.html", **options)
    seen = Seen(widget._repr_html_())
    assert seen.tags == ["iframe"]
    assert seen.frames == [(tmp_path / "r.html").read_text(encoding="utf-8")]
    assert "allow-scripts" in widget._repr_html_()
    assert "allow-same-origin" not in widget._repr_html_()
    assert "height:700px" in widget._repr_html_()
    assert "KB" in repr(widget)
    for height in (0, True, "tall", 10**6):
        with pytest.raises(QueryError, match="height="):
            cell_of(a.data, height=height, live=False)


def test_the_widget_writes_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is made in memory, whatever letters the names have."""
    random = np.random.default_rng(0)
    name = "half\ud800"
    a = pa.analyze({name: random.random(60)}, random.random(60), params=[name])
    monkeypatch.setattr("pathlib.Path.write_text", lambda *_, **__: pytest.fail("a file was written"))
    shown = cell_of(a.data, height=700, live=False, title=name, estimator="counts", draws=0, reduce=False)._repr_html_()
    assert "half&amp;#55296;" in shown
    shown.encode("utf-8")


CELLS = [
    """import numpy as np, pedanova as pa
rng = np.random.default_rng(0)
table = {"</script><script>alert(1)": rng.random(300), "lr": 10 ** rng.uniform(-5, 0, 300)}
a = pa.analyze(table, np.abs(np.log10(table["lr"]) + 3))
a""",
    "a.importance(estimator='counts')",
    "a.profile()",
    "a.densities('lr')",
    "a.interactions()",
    "a.reduce(estimator='counts')",
    "a.widget(height=700, live=False, estimator='counts', draws=0)",
]


@pytest.mark.filterwarnings("default")  # of the kernel's own libraries
def test_a_real_notebook() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [cell.outputs[-1]["data"] for cell in notebook.cells]
    assert all({"text/html", "text/plain"} <= set(data) for data in shown)
    for data in shown[:-1]:
        assert "<table>" in data["text/html"]
        assert "<script" not in data["text/html"]
    assert html.unescape(Seen(shown[-1]["text/html"]).frames[0]).startswith("<!doctype html>")
    nbformat.validate(notebook)


def test_the_code_of_the_document() -> None:
    text = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "notebook.md", "exec"), names)
    assert isinstance(names["a"], pa.Analysis)
