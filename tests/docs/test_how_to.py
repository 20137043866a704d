"""The how-to pages do what they say: each is followed from nothing, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.documents import ROOT, blocks_of, run_page
from helpers.tools import need

pytestmark = pytest.mark.docs

PAGES = sorted(page for page in (ROOT / "docs/how-to").glob("*.md") if page.stem != "index")
TOOLS = {
    "delta-and-iceberg": "deltalake",
    "mlflow": "mlflow",
    "ray-tune": "ray.tune",
    "smac": "smac",
}  # of pages that run a tool
LIGHT = [page for page in PAGES if page.stem not in TOOLS]
HEAVY = [page for page in PAGES if page.stem in TOOLS]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("COLUMNS", "100")  # as the pages show it, wherever this runs


@pytest.mark.parametrize("page", LIGHT, ids=lambda page: page.stem)
def test_page(page: Path) -> None:
    run_page(page)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # the tools' own warnings
@pytest.mark.parametrize("page", HEAVY, ids=lambda page: page.stem)
def test_page_of_a_tool(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    need(TOOLS[page.stem])
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_runs_something(page: Path) -> None:
    assert 20 <= len(page.read_text(encoding="utf-8").splitlines()) <= 80
    assert {block.kind for block in blocks_of(page)} & {"python", "console"}
