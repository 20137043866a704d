"""The report: what it says, and that names from the data stay names."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS, FILES, refuse
from pedanova.base.terminal_text import bar, shorten
from pedanova.errors import DataError
from pedanova.reduction.result import ReducedSpace, Verdict
from pedanova.report.page.html import asset, space_card
from pedanova.report.sentences import contrast, joined, summarize

HOSTILE = "</script><script>alert('1')</script>\"'><img src=x onerror=alert(1)>"


QUICK = {"estimator": "counts", "draws": 0, "force": True, "reduce": False, "ladder": [0.1, 0.5, 1.0]}
EMPTY = {"meta", "input"}


class Tags(HTMLParser):
    """Every element of a page, and whether all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def page_of(a: pa.Analysis, path: Path, **options: Any) -> tuple[str, Tags]:
    a.report(path, **{**QUICK, **options})
    text = path.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    return text, tags


def skeleton(text: str) -> str:
    """The page without styles, scripts and data, one element a line."""
    bare = re.sub(r"(<(style|script)[^>]*>).*?(</\2>)", r"\1\3", text, flags=re.DOTALL)
    return re.sub(r">\s*<", ">\n<", bare)


@pytest.mark.slow
def test_the_skeleton_is_as_it_was(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    """PEDANOVA_UPDATE=1 writes it anew; look at the difference."""
    domains = {name: space(name) for name in trials if name != "loss"}
    a = pa.analyze(trials, "loss", direction="minimize", space=domains)
    found = skeleton(page_of(a, tmp_path / "r.html")[0])
    kept = FILES / "page.html"
    if os.environ.get("PEDANOVA_UPDATE") == "1":
        kept.write_text(found, encoding="utf-8")
    assert found == kept.read_text(encoding="utf-8")


def test_the_smaller_space_as_a_table() -> None:
    lr, wd = pa.Float(1e-5, 1, log=True), pa.Float(0, 1)
    verdicts = (
        Verdict("<lr>", "narrow", "good rows are rare & far", lr, pa.Float(1e-3, 1e-1, log=True), 0.4),
        Verdict("wd", "keep", "good everywhere", wd, wd),
    )
    text = space_card(ReducedSpace(verdicts, None, "the best 10 %", 0.95, ("a note", "a note")), "")
    rows = re.findall(r"<tr>(.*?)</tr>", text)
    assert [re.sub(r"<[^>]+>", "|", row) for row in rows[1:]] == [
        "|&lt;lr&gt;|||narrow|||1e-5 … 1 log||0.001 … 0.1 log||good rows are rare &amp; far|",
        "|wd|||keep|||0 … 1||||good everywhere|",
    ]
    assert text.count("a note") == 1
    assert "suggest_float(" in text
    assert "No smaller space is suggested: too few &lt;rows&gt;" in space_card(None, "too few <rows>")
    assert space_card(None, "") == ""


def space(name: str) -> pa.space.Parameter:
    return {
        "lr": pa.Float(1e-5, 1, log=True),
        "momentum": pa.Float(0, 1),
        "layers": pa.Int(1, 5),
        "optimizer": pa.Categorical(["adam", "rmsprop", "sgd"]),
        "nesterov": pa.Categorical([False, True]),
    }[name]


@pytest.mark.slow
def test_the_page_asks_for_nothing(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    text, tags = page_of(pa.analyze(trials, "loss"), tmp_path / "r.html")
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in tags.seen}
    for _, attributes in tags.seen:
        assert not {"src", "action"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text
    assert not re.search(r"@import|url\(", asset("page.css"))
    assert len(text) < 1_000_000


@pytest.mark.slow
def test_what_is_labelled_exists(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    _, tags = page_of(pa.analyze(trials, "loss"), tmp_path / "r.html")
    ids = [attributes["id"] for _, attributes in tags.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in tags.seen:
        for name in ("for", "aria-labelledby"):
            assert attributes.get(name, ids[0]) in ids


def test_few_rows_have_a_page_that_says_so(tmp_path: Path) -> None:
    a = pa.analyze({"x": [1, 2, 3, 4, 5, 6]}, [1.0, 2, 3, 4, 5, 6], params=["x"])
    text, _ = page_of(a, tmp_path / "r.html", ladder=None, force=False)
    assert "This cannot be answered" in text


def test_a_page_that_cannot_be_written(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    a = pa.analyze(trials, "loss")
    refuse(DataError, "its folder does not exist", of=lambda: a.report(tmp_path / "no" / "r.html"))
    refuse(DataError, "it is a folder", of=lambda: a.report(tmp_path))


@pytest.mark.slow
def test_hostile_names_stay_inert(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels = random.choice([HOSTILE + "a", HOSTILE + "b"], 200)
    data = {HOSTILE: random.random(200), "c": labels, HOSTILE + "y": random.random(200)}
    a = pa.analyze(data, HOSTILE + "y")
    plain = page_of(
        pa.analyze({"x": data[HOSTILE], "c": data["c"], "y": data[HOSTILE + "y"]}, "y"), tmp_path / "p.html"
    )
    _, tags = page_of(a, tmp_path / "r.html", title=HOSTILE, reduce=True)
    for tag in ("script", "img"):
        assert [name for name, _ in tags.seen].count(tag) == [name for name, _ in plain[1].seen].count(tag)
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]


def test_letters_that_are_none(tmp_path: Path) -> None:
    name = "half\ud800"
    a = pa.analyze({name: np.arange(60.0), "y": np.arange(60.0)}, "y", params=[name])
    assert page_of(a, tmp_path / "r.html", title=name, reduce=True)


def test_sentences(trials: dict[str, np.ndarray]) -> None:
    a = pa.analyze(trials, "loss")
    wide, narrow = a.importance(0.5, **COUNTS), a.importance(0.1, 0.5, **COUNTS)
    assert summarize(wide).startswith("lr explains ")
    assert "Once inside the best 50 %" in contrast(wide, narrow)
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"


def test_noise_is_called_noise() -> None:
    random = np.random.default_rng(3)
    a = pa.analyze({"x": np.tile(np.arange(5), 400), "y": random.random(2_000)}, "y", params=["x"])
    text = summarize(a.importance(**COUNTS))
    assert text.startswith("Nothing separates the best 10 % from the rest clearly better than chance would.")


@pytest.mark.parametrize(("part", "full"), [(0, 0), (1, 20), (0.5, 10), (2, 20), (-1, 0)])
def test_bars(part: float, full: int) -> None:
    assert bar(part).count("█") == full
    assert len(bar(part)) == 20


def test_long_names_are_cut_in_the_middle() -> None:
    assert shorten("x" * 100) == "x" * 19 + "…" + "x" * 19
    assert shorten("a\x1b[0m\n") == "a�[0m�"
