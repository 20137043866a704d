"""Columns that are not parameters, on a live page: "what matters among models with low latency?" takes two clicks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.explorers import payload_of
from helpers.tabs import FAST, opened, served, settled, tab

CARD = "[data-parameter=latency_ms]"


@pytest.fixture(scope="module")
def latencies() -> pa.Analysis:
    """Large models are good, and slow: among fast models, only the rate matters."""
    random = np.random.default_rng(0)
    rows = 600
    lr, units = 10 ** random.uniform(-4, -1, rows), random.integers(8, 129, rows)
    latency = units / 10 + random.exponential(0.3, rows)
    error = np.where(units < 64, (np.log10(lr) + 2.5) ** 2, -units / 20) + random.normal(0, 0.1, rows)
    table = {"lr": lr, "units": units, "latency_ms": latency, "host": random.choice(["a", "b"], rows), "error": error}
    return pa.analyze(table, "error")


@pytest.fixture
def live(browser: Page, latencies: pa.Analysis) -> Iterator[Page]:
    browser.size(1280)
    browser.dark(on=False)
    with served(browser, latencies) as page:
        yield page
        assert page.complaints() == []


def test_what_matters_among_models_with_low_latency(live: Page, latencies: pa.Analysis) -> None:
    assert list(live.bars()) == ["units", "lr"], "only parameters are ranked"
    live.drag(f"{CARD} svg", (0.02, 0.5), (0.45, 0.5))
    live.click(".chip-choice[data-focus=good] option[value=selection]")
    settled(live)
    limit = live.state()["question"]["selection"]["latency_ms"]["range"][1]
    assert limit < 7
    inner = latencies.within(f"latency_ms <= {limit}").importance(0.1, **FAST)
    assert live.bars() == {row.name: row.share for row in inner.rows}
    assert next(iter(live.bars())) == "lr"
    assert live.text("#headline").startswith("With latency_ms ")
    line = live.answer()["lines"]["python"]
    assert eval(line, {"a": latencies, "pa": pa}).rows == inner.rows

    payload = payload_of(live.downloaded("report.html", lambda: live.click("#tool-save")).read_text(encoding="utf-8"))
    assert payload["facts"]["within"]["selection"]["latency_ms"]["range"][1] == limit
    state = live.state()
    opened(live, f"{live.explorer.url}{live.run('return window.location.hash')}")  # type: ignore[attr-defined]
    assert live.state()["question"] == state["question"]


def test_rows_are_sorted_and_coloured_by_any_column(live: Page, latencies: pa.Analysis) -> None:
    tab(live, "trials")
    live.run(
        "[...document.querySelectorAll('.trials-table .sort')].find((b) => b.textContent === 'latency_ms').click()"
    )
    settled(live)
    first = live.run(
        "return [...document.querySelectorAll('.trials-table tbody tr')].map((tr) => Number(tr.dataset.row))"
    )
    assert first == latencies.trials(sort="latency_ms", limit=50).columns["row"]

    tab(live, "parallel")
    pixels = "return document.querySelector('.parallel-all').toDataURL()"
    before = live.run(pixels)
    live.run(
        "const list = document.querySelector('.pane-parallel select'); list.value = 'latency_ms';"
        "list.dispatchEvent(new Event('change'))"
    )
    settled(live)
    assert live.run(pixels) != before
    words = (
        "return [...document.querySelector('.pane-parallel .key').childNodes].map((one) => one.data).filter(Boolean)"
    )
    ends = [float(end) for end in live.run(words)]
    assert ends == pytest.approx([latencies.data.observed().table["latency_ms"].values.min(), 13], rel=0.1)
    titles = live.run(
        "return [...document.querySelectorAll('.parallel-axis .axis-name')].map((one) => one.textContent)"
    )
    assert "latency_ms" in " ".join(titles)
