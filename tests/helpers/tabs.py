"""What the tests of the tabs share: a table with every kind of parameter, pages in a file and from a server."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pedanova as pa
from helpers.chromium import Page

FAST: dict[str, Any] = {"estimator": "counts", "draws": 200}
WAIT = """
    const done = arguments[arguments.length - 1], from = performance.now();
    const look = () => {
        const busy = !document.body || document.querySelector('[aria-busy=true], body.pending');
        const ready = !busy && Boolean(document.body.dataset.ready) && pedanova.page.isSettled(); // also drawn
        const late = performance.now() - from > 30000;
        if (ready || late) requestAnimationFrame(() => requestAnimationFrame(() => done(ready)));
        else setTimeout(look, 30);
    };
    setTimeout(look, 60);"""


def mixed(rows: int = 800, seed: int = 0) -> pa.Analysis:
    """Ranges on both scales, whole numbers, names, truth values, a lattice and a parameter that is not always there."""
    random = np.random.default_rng(seed)
    lr, layers = np.exp(random.uniform(np.log(1e-5), 0, rows)), random.integers(1, 40, rows)
    optimizer = random.choice(["adam", "rmsprop", "sgd"], rows)
    loss = np.abs(np.log10(lr) + 3) + layers / 80 + (optimizer == "sgd") + random.normal(0, 0.1, rows)
    columns = {
        "lr": lr,
        "momentum": np.where(optimizer == "sgd", random.random(rows), np.nan),
        "layers": layers,
        "optimizer": optimizer,
        "units": np.exp(random.uniform(2, 8, rows)).astype(int),
        "dropout": random.random(rows),
        "width": random.choice([16, 32, 64, 128], rows),
        "nesterov": random.random(rows) < 0.5,
        "loss": np.round(loss, 2),  # with ties
    }
    space = {
        "lr": pa.Float(1e-5, 1, log=True),
        "momentum": pa.Float(0, 1, when={"optimizer": "sgd"}),
        "layers": pa.Int(1, 40),
        "optimizer": pa.Categorical(["adam", "rmsprop", "sgd"]),
        "units": pa.Int(7, 2981, log=True),
        "dropout": pa.Float(0, 1),
        "width": pa.Ordinal([16, 32, 64, 128]),
        "nesterov": pa.Categorical([False, True]),
    }
    return pa.analyze(columns, "loss", space=space)


def two_goals(rows: int = 400) -> pa.Analysis:
    random = np.random.default_rng(1)
    lr, width, depth = 10 ** random.uniform(-5, 0, rows), 2 ** random.integers(3, 9, rows), random.integers(1, 6, rows)
    error = 0.1 + 0.05 * np.abs(np.log10(lr) + 3) + 0.3 / np.log2(width) + 0.02 * random.random(rows)
    columns = {"lr": lr, "width": width, "depth": depth, "useless": random.random(rows)}
    return pa.analyze({**columns, "error": error, "seconds": 0.01 * width * depth}, ["error", "seconds"])


def opened(page: Page, place: Path | str) -> Page:
    """The page, once it has drawn its first answer."""
    page.driver.get("about:blank")
    page.complaints()
    page.requests()
    page.driver.get(place if isinstance(place, str) else place.as_uri())
    settled(page)
    return page


def settled(page: Page) -> None:
    """Until nothing is asked for any more."""
    page.driver.set_script_timeout(60)
    assert page.driver.execute_async_script(WAIT), "the page did not come to rest"


def tab(page: Page, key: str) -> None:
    page.click(f"#tab-{key}")
    settled(page)


def save(page: Page, key: str, form: str) -> Path:
    """The file that an export button gives."""
    button = f"[data-export={form}][data-of={key}]"
    return page.downloaded(
        f"pedanova-{key}.{form}", lambda: page.run("document.querySelector(arguments[0]).click()", button)
    )


def saved(page: Page, key: str) -> list[dict[str, str]]:
    """Lines of the CSV of a card."""
    with save(page, key, "csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def asked(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.run("return pedanova.asked()")
    return found


@contextmanager
def served(page: Page, a: pa.Analysis, **options: Any) -> Iterator[Page]:
    """The live page of an analysis, in a browser that may reach this machine."""
    explorer = a.explore(open=False, wait=False, **{**FAST, **options})
    online = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.command("Network.emulateNetworkConditions", **online)
    try:
        page.explorer = explorer  # type: ignore[attr-defined]
        yield opened(page, explorer.url)
        strange = [url for url in page.requests() if not url.startswith((explorer.url.split("?")[0], "blob:", "data:"))]
        assert not [url for url in strange if not url.startswith(("about:", "file:"))], strange
    finally:
        page.driver.get("about:blank")
        page.command("Network.emulateNetworkConditions", **{**online, "offline": True})
        explorer.close()
