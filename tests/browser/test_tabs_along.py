"""The card of budgets in a file: drawn from the answer, saved to the last digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import FAST, opened, saved, tab


def test_budgets_are_drawn_and_saved(page: Page, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 900))
    epochs = np.repeat([1, 5, 50], 300)
    table = {"x": x, "z": z, "dull": rng.random(900), "epochs": epochs, "loss": np.where(epochs >= 5, z, x) ** 2}
    a = pa.analyze(table, "loss")
    a.report(tmp_path / "report.html", budget="epochs", ladder=[0.1, 0.5, 1.0], **FAST)
    opened(page, tmp_path / "report.html")
    tab(page, "along")
    how = {name: FAST[name] for name in ("estimator", "draws") if name in FAST}
    found = a.along("epochs", **how)
    assert found.summary().replace("\u00a0", " ") in page.text(".pane-along .pane-note").replace("\u00a0", " ")
    assert page.run("return document.querySelectorAll('.pane-along .target-line').length") == 3
    assert page.run("return document.querySelectorAll('.pane-along .along-band').length") == (
        2 if found.full.importances.is_sure else 0
    )
    ranks = page.run(
        "return [...document.querySelectorAll('.along-table tbody tr')].map((r) => r.lastChild.textContent)"
    )
    assert ranks == [found.verdict_in_words(step) for step in found]
    rows = saved(page, "along")
    assert [float(row["share"]) for row in rows] == found.to_dict()["share"]
    assert page.complaints() == []
