"""The card of means, in a file and live: drawn from the answer, following the brush."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import asked, opened, saved, settled, tab
from pedanova.report.page.answers import marginals
from pedanova.report.page.page_question import parse_question


def same_as_python(page: Page, a: pa.Analysis) -> dict[str, Any]:
    """Every number that can be saved, and as many dots and lines as there are means."""
    found = marginals(a.data, parse_question(asked(page), a.space))
    rows = saved(page, "means")
    assert [row["mean"] for row in rows] == [
        "" if mean is None else f"{mean:g}" if mean == int(mean) else repr(mean)
        for one in found["parameters"]
        for mean in one["mean"]
    ]
    drawn = page.run("return [...document.querySelectorAll('.mean-card .card-name')].map((one) => one.textContent)")
    assert drawn == [one["parameter"] for one in found["parameters"]]
    return found


def test_means_follow_the_brush(page: Page, explorer: str, analysis: pa.Analysis) -> None:
    page.open(explorer)
    tab(page, "means")
    whole = same_as_python(page, analysis)
    page.run("pedanova.state.select('optimizer', {labels: ['adam', 'rmsprop']})")
    settled(page)
    some = same_as_python(page, analysis)
    assert some["rows"] < whole["rows"]
    assert "optimizer = adam or rmsprop" in page.text(".pane-means .pane-note")
    kinds = next(one for one in some["parameters"] if one["parameter"] == "optimizer")
    assert page.run(
        "return [...document.querySelectorAll('.mean-card')].find((c) => c.textContent.startsWith('optimizer'))"
        ".querySelectorAll('.mean-dot').length"
    ) == sum(mean is not None for mean in kinds["mean"])


def test_a_file_has_them_too(page: Page, report: Path, analysis: pa.Analysis) -> None:
    opened(page, report)
    tab(page, "means")
    same_as_python(page, analysis)
    page.press("[data-edge=region]", "\ue012")
    settled(page)
    assert page.state()["question"]["region"] != {"part": [0, 1]}
    same_as_python(page, analysis)
    assert "This file has no means" not in page.text(".pane-means .pane-note")
