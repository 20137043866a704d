"""The report: what it says, and that names from the data stay names."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from conftest import COUNTS
from pedanova.letters import bar, shorten
from pedanova.report.sentences import contrast, describe, gathered, joined

HOSTILE = "</script><script>alert('1')</script>\"'><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """Every element of a page, and whether all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in {"meta", "rect", "path", "polygon", "polyline", "i"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            assert tag in {"rect", "path", "polygon", "polyline", "i"}, f"</{tag}> closes nothing"


def page_of(a: pa.Analysis, path: Path) -> tuple[str, Tags]:
    a.report(path, **COUNTS)
    text = path.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    return text, tags


def test_the_page_holds_both_questions_and_no_row_of_data(
    tmp_path: Path, trials: dict[str, np.ndarray]
) -> None:
    a = pa.analyze(trials, "loss")
    text, tags = page_of(a, tmp_path / "r.html")
    assert not tags.open
    assert text.count("<table>") == 2
    assert text.count("<figure>") == 5
    assert "What separates the best 2 % (8) from the best 10 % (40)" in text
    for row in a.importance(**COUNTS).rows:
        assert f"<td>{row.name}</td><td>{row.ratio:.1%}</td>" in text
    assert not re.search(r"https?://|<script|<link|@import|url\(", text)
    assert repr(float(trials["loss"][17])) not in text
    assert len(text) < 100_000


def test_few_rows_leave_out_the_inner_question(tmp_path: Path) -> None:
    a = pa.analyze({"x": [1, 2, 3, 4, 5, 6]}, [1.0, 2, 3, 4, 5, 6], params=["x"])
    text, _ = page_of(a, tmp_path / "r.html")
    assert text.count("<table>") == 1


def test_hostile_names_stay_inert(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels = random.choice([HOSTILE + "a", HOSTILE + "b"], 200)
    data = {HOSTILE: random.random(200), "c": labels, HOSTILE + "y": random.random(200)}
    a = pa.analyze(data, HOSTILE + "y")
    a.report(tmp_path / "r.html", title=HOSTILE)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert not {"script", "img"} & {tag for tag, _ in tags.seen}
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]


def test_sentences(trials: dict[str, np.ndarray]) -> None:
    a = pa.analyze(trials, "loss")
    wide, narrow = a.importance(0.5, **COUNTS), a.importance(0.1, 0.5, **COUNTS)
    assert describe(wide).startswith("Among all rows, lr has")
    assert "Once inside the best 50 %" in contrast(wide, narrow)
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"


def test_noise_is_called_noise() -> None:
    random = np.random.default_rng(3)
    a = pa.analyze({"x": np.tile(np.arange(5), 400), "y": random.random(2_000)}, "y", params=["x"])
    assert "Nothing here separates the best 10 % from all rows clearly better than chance would" in describe(
        a.importance(**COUNTS)
    )


@pytest.mark.parametrize(("part", "full"), [(0, 0), (1, 20), (0.5, 10), (2, 20), (-1, 0)])
def test_bars(part: float, full: int) -> None:
    assert bar(part).count("█") == full
    assert len(bar(part)) == 20


def test_long_names_are_cut_in_the_middle() -> None:
    assert shorten("x" * 100) == "x" * 19 + "…" + "x" * 19
    assert shorten("a\x1b[0m\n") == "a�[0m�"


def test_notes_that_say_the_same_are_gathered() -> None:
    notes = ["a: 3 categories", "10 rows dropped", "b: boolean", "c: 3 categories", "x: y: z"]
    assert gathered(notes, ["a", "b", "c"]) == [
        "a, c: 3 categories",
        "10 rows dropped",
        "b: boolean",
        "x: y: z",
    ]
