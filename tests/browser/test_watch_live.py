"""A study that grows while its page is open: rows arrive, what changed is said, the selection stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.chromium import Page
from helpers.followed import append, begin
from pedanova.analysis.watched import Watched, Watcher
from pedanova.report.live.server import Explorer, explore
from pedanova.report.live.session import Session

COUNTS = {"estimator": "counts", "draws": 100}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return begin(tmp_path / "trials.csv")


@pytest.fixture
def explorer(path: Path) -> Iterator[Explorer]:
    watched = Watched(path, "loss")
    first = watched.begin(pytest.fail).analysis
    assert first is not None
    session = Session(first, title="grows", options=COUNTS)
    made = explore(session, show=False, wait=False, at_end=Watcher(session, watched).start().close)
    with made:
        yield made


def test_rows_arrive_and_the_selection_stays(page: Page, explorer: Explorer, path: Path, tmp_path: Path) -> None:
    page.open(explorer.url)
    page.run("pedanova.state.select('x', {range: [0.2, 0.9]})")
    page.settle()
    before = page.answer()["rows"]["selected"]
    page.until("return document.querySelector('.news').textContent.includes('stable for 50 trials')")
    append(path, 900, 1, swap=True)
    page.until("return pedanova.facts.rows === 1000")
    page.until("return pedanova.page.answer().rows.selected > arguments[0]", before)
    assert page.state()["question"]["selection"] == {"x": {"range": [0.2, 0.9]}}
    page.until("return document.querySelector('.news').textContent.includes('y passed x after 1,000 trials')")
    away = tmp_path / "away"
    path.rename(away)
    page.until("return document.querySelector('.news').textContent.includes('waiting for it to come back')")
    away.rename(path)
    append(path, 5, 2)
    page.until("return pedanova.facts.rows === 1005")
    page.until("return !document.querySelector('.news').textContent.includes('waiting for it')")
    assert page.state()["question"]["selection"] == {"x": {"range": [0.2, 0.9]}}
    assert not [line for line in page.complaints() if "favicon" not in line]
    page.driver.get("about:blank")  # it asks for news no more
