"""Fixtures of the page's tests, for all files of tests/browser: one browser, and a small report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page

LADDER = [0.05, 0.1, 0.3, 1.0]
KNOWN = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")  # the last is the explorer
QUICK = {"estimator": "counts", "draws": 200, "reduce": False}


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A process of some seconds of work: one for all files."""
    page = Page(tmp_path_factory.mktemp("downloads"))
    yield page
    page.driver.quit()


@pytest.fixture(scope="module")
def browser(chromium: Page) -> Page:
    """As if it had just been started: what another file left is gone."""
    chromium.fresh()
    return chromium


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    """The browser as it was: a laptop in daylight; whatever a test opens must not complain."""
    browser.size(1280)
    browser.dark(on=False)
    yield browser
    said = browser.complaints()
    assert said == [], said
    asked = [url for url in browser.requests() if not url.startswith(KNOWN)]
    assert asked == [], asked


@pytest.fixture(scope="session")
def analysis() -> pa.Analysis:
    random = np.random.default_rng(7)
    rows = 400
    lr = np.exp(random.uniform(np.log(1e-5), 0.0, rows))
    layers, optimizer = random.integers(1, 6, rows), random.choice(["adam", "rmsprop", "sgd"], rows)
    loss = np.abs(np.log10(lr) + 3) + 0.1 * layers + (optimizer == "sgd") + random.normal(0, 0.1, rows)
    columns = {"lr": lr, "momentum": random.uniform(0, 1, rows), "layers": layers, "optimizer": optimizer}
    return pa.analyze({**columns, "nesterov": random.random(rows) < 0.5, "loss": loss}, "loss")


@pytest.fixture(scope="session")
def report(analysis: pa.Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    questions = [(0.1, 1.0), (0.1, {"optimizer": {"adam", "sgd"}})]
    analysis.report(path, ladder=LADDER, questions=questions, **QUICK)
    return path


@pytest.fixture(scope="session")
def serving(analysis: pa.Analysis) -> Iterator[Any]:
    with analysis.explore(open=False, wait=False, estimator="counts", draws=100) as served:
        yield served


@pytest.fixture
def explorer(serving: Any) -> str:
    """An address of a page that is answered live."""
    return str(serving.url)
