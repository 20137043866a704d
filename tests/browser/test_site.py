"""The documentation as it is built: strictly, alone on its disk, for phones and laptops, light and dark."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.chromium import Page, axe_script, missing
from helpers.site_looks import faults, show

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent.parent
PAGES = ("index.html", "search.html", "gallery/trade-off.html", "how-sure.html", "reference/api/rows.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it; a warning is a failure."""
    if importlib.util.find_spec("sphinx") is None:
        missing("Sphinx", "pip install 'pedanova[docs]'")
    made = tmp_path_factory.mktemp("site")
    trees = tmp_path_factory.mktemp("trees")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-d",
        str(trees),
        str(ROOT / "docs"),
        str(made),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(site: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/_site/check_links.py"), str(site)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_everyone_can_read_it(name: str, site: Path, browser: Page, pytestconfig: pytest.Config) -> None:
    axe = axe_script(Path(pytestconfig.cache.mkdir("axe")))
    assert faults(browser, site / name, axe, "phone", dark=True) == []
    assert faults(browser, site / name, axe, "laptop", dark=False) == []


def test_search_finds_a_name_without_a_server(site: Path, browser: Page) -> None:
    show(browser, site / "search.html")
    browser.driver.get((site / "search.html").as_uri() + "?q=demo_trials")
    browser.until("return document.querySelectorAll('#search-results li').length > 0")
