"""The page of many studies: whole, still and inert whatever names are in it."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from pedanova.report.page.html import digest
from pedanova.report.page.studies import draw_studies
from pedanova.report.rank_lines import rank_lines_of

HOSTILE = "<script>alert(1)</script>"
QUOTES = "a'b\"c&d"


def across(*, hostile: bool = False) -> pa.Across:
    first, studies = (HOSTILE, [QUOTES, "</svg><img src=x>", "\x1b[31mred"]) if hostile else ("lr", ["a", "b", "c"])
    analyses = {}
    for seed, name in enumerate(studies):
        rng = np.random.default_rng(seed)
        lr, depth = rng.random(200), rng.random(200)
        table = {first: lr, "depth": depth, "loss": np.abs(lr - 0.3) + 0.1 * depth}
        analyses[name] = pa.analyze(table, "loss", params=[first, "depth"])
    return pa.across(analyses, estimator="counts", draws=50)


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    return elements


def test_what_is_on_it(tmp_path: Path) -> None:
    found = across()
    found.report(tmp_path / "page.html", title="Two & three")
    page = (tmp_path / "page.html").read_text()
    elements = read(page)
    assert elements.tags.count("svg") == 3 + (1 + len(found.answers)) * len(found.rows)
    words = " ".join(elements.texts)
    for part in ("Two & three", "3 studies, 600 rows, 2 parameters", "critical difference", "All studies", "depth"):
        assert part in words
    assert elements.tags.count("circle") == 3 * 2 + 3


def test_it_is_still_and_loads_nothing() -> None:
    page = draw_studies(across(), "title")
    elements = read(page)
    assert "script" not in elements.tags
    assert not [name for name, _ in elements.attributes if name.startswith("on") or name in ("href", "src", "style")]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert digest(style[1]) in page
    assert page == draw_studies(across(), "title")


def test_hostile_names_are_text() -> None:
    page = draw_studies(across(hostile=True), HOSTILE)
    elements = read(page)
    assert not {"script", "img"} & set(elements.tags)
    assert HOSTILE in " ".join(elements.texts)
    assert "\x1b" not in page


def test_the_lines_of_a_critical_difference_diagram() -> None:
    ranks = across().ranks
    assert ranks is not None
    ladder = rank_lines_of(ranks)
    assert [rung.name for rung in ladder.rungs] == list(ranks.names)
    sides = [[rung.step for rung in ladder.rungs if rung.left is left] for left in (True, False)]
    assert all(len(set(steps)) == len(steps) for steps in sides)
    assert len(ladder.bars) == len(ranks.alike)


@pytest.mark.parametrize("count", [5, 9])
def test_bars_of_one_lane_do_not_touch(count: int) -> None:
    from pedanova.measures.studies.ranks import rank_test

    rng = np.random.default_rng(count)
    test = rank_test([str(i) for i in range(count)], rng.random((8, count)) + np.linspace(0, 0.8, count))
    ladder = rank_lines_of(test)
    for lane in range(ladder.lanes):
        spans = sorted((begin, end) for begin, end, own in ladder.bars if own == lane)
        assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(spans))
