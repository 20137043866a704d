"""The page's HTML: a shell that asks for nothing, and names from the data that stay names."""

from __future__ import annotations

import base64
import gzip
import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import DataError
from pedanova.report.page.html import ASSETS, SCRIPTS, asset, draw_page

HOSTILE = "</script><script>alert('1')</script>\"'><img src=x onerror=alert(1)>"
QUICK = {"estimator": "counts", "draws": 0, "force": True, "reduce": False, "ladder": [0.1, 0.5, 1.0]}
EMPTY = {"meta", "input"}


class Tags(HTMLParser):
    """Every element of a page, what scripts and styles hold, and whether all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.held: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.held.append((self.open[-1], data))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def read(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    return tags


def page_of(a: pa.Analysis, path: Path, **options: Any) -> tuple[str, Tags]:
    a.report(path, **{**QUICK, **options})
    text = path.read_text(encoding="utf-8")
    return text, read(text)


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r"id='data'>([^<]*)</script>", text)
    assert found
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return data


def test_the_page_asks_for_nothing(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    text, tags = page_of(pa.analyze(trials, "loss"), tmp_path / "r.html")
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in tags.seen}
    for _, attributes in tags.seen:
        assert not {"src", "action", "style"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"@import|url\(", asset("page.css"))
    assert len(text) < 500_000


def test_only_these_very_scripts_may_run(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    _, tags = page_of(pa.analyze(trials, "loss"), tmp_path / "r.html")
    policy = next(one["content"] or "" for tag, one in tags.seen if tag == "meta" and "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "connect-src" not in policy
    inline = [text for tag, text in tags.held if not re.fullmatch(r"[\w+/=]+", text)]
    assert len(inline) == len(SCRIPTS) + 1
    for text in inline:
        assert f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'" in policy


def test_a_served_page_may_ask_its_own_server_alone() -> None:
    text = draw_page({"facts": {"title": "t", "live": "http"}, "answers": []}, "n0nce")
    tags = read(text)
    assert "connect-src 'self';" in text
    scripts = [one for tag, one in tags.seen if tag in ("script", "style") and "type" not in one]
    assert {one["nonce"] for one in scripts} == {"n0nce"}
    assert data_of(text) == {"facts": {"title": "t", "live": "http"}, "answers": []}


def test_every_script_is_strict_and_evaluates_nothing() -> None:
    for name in SCRIPTS:
        text = (ASSETS / name).read_text(encoding="utf-8")
        assert '"use strict";' in text, name
        for forbidden in ("eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
            assert forbidden not in text, (name, forbidden)
        assert "</script" not in text.lower()


def test_what_is_labelled_exists(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    _, tags = page_of(pa.analyze(trials, "loss"), tmp_path / "r.html")
    ids = [attributes["id"] for _, attributes in tags.seen if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_few_rows_have_a_page_that_says_so(tmp_path: Path) -> None:
    a = pa.analyze({"x": [1, 2, 3, 4, 5]}, [1.0, 2, 3, 4, 5], params=["x"])
    text, _ = page_of(a, tmp_path / "r.html", ladder=[0.1, 1.0], force=False)
    refused = [one["answer"]["refused"] for one in data_of(text)["answers"] if one["part"] == "answer"]
    assert all(refused)
    assert any("at least 5 are needed" in words for words in refused)


def test_a_page_that_cannot_be_written(tmp_path: Path, trials: dict[str, np.ndarray]) -> None:
    a = pa.analyze(trials, "loss")
    refuse(DataError, "its folder does not exist", of=lambda: a.report(tmp_path / "no" / "r.html"))
    refuse(DataError, "it is a folder", of=lambda: a.report(tmp_path))


def test_hostile_names_stay_inert(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels = random.choice([HOSTILE + "a", HOSTILE + "b"], 200)
    data = {HOSTILE: random.random(200), "c": labels, HOSTILE + "y": random.random(200)}
    text, tags = page_of(pa.analyze(data, HOSTILE + "y", params=[HOSTILE, "c"]), tmp_path / "r.html", title=HOSTILE)
    assert [tag for tag, _ in tags.seen].count("script") == len(SCRIPTS) + 1
    assert "img" not in [tag for tag, _ in tags.seen]
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]
    facts = data_of(text)["facts"]
    assert facts["title"] == HOSTILE
    assert [one["name"] for one in facts["parameters"]] == [HOSTILE, "c"]


def test_letters_that_are_none(tmp_path: Path) -> None:
    name = "half\ud800"
    a = pa.analyze({name: np.arange(60.0), "y": np.arange(60.0)}, "y", params=[name])
    assert page_of(a, tmp_path / "r.html", title=name, reduce=True)
