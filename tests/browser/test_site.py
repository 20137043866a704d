"""The documentation as it is built: strictly, alone on its disk, for phones and laptops, light and dark."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.chromium import Page, axe_script, missing

ROOT = Path(__file__).parent.parent.parent
PAGES = ("index.html", "start.html", "how-sure.html", "reference/api/rows.html")
WIDTHS = {"phone": (390, 844), "laptop": (1366, 768)}
pytestmark = pytest.mark.slow


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


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    page = Page(tmp_path_factory.mktemp("browser"))
    yield page
    page.driver.quit()


def show(browser: Page, path: Path) -> None:
    browser.driver.get(path.as_uri())
    browser.until("return document.readyState === 'complete'")


def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(site: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/_site/check_links.py"), str(site)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_everyone_can_read_it(name: str, site: Path, browser: Page, pytestconfig: pytest.Config) -> None:
    axe = axe_script(Path(pytestconfig.cache.mkdir("axe")))
    browser.driver.set_script_timeout(120)
    for dark, (width, height) in ((True, WIDTHS["phone"]), (False, WIDTHS["laptop"])):
        browser.size(width, height)
        browser.dark(on=dark)
        show(browser, site / name)
        wide = browser.run("return document.documentElement.scrollWidth")
        assert wide <= width, f"{wide} pixels on a screen of {width}"
        browser.run(axe)
        found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
        assert not found["violations"], described(found)


def described(found: dict[str, Any]) -> str:
    return "\n".join(
        f"{one['id']}: {one['help']}\n" + "\n".join(f"    {node['html'][:160]}" for node in one["nodes"][:4])
        for one in found["violations"]
    )


def test_search_finds_a_name_without_a_server(site: Path, browser: Page) -> None:
    browser.size(*WIDTHS["laptop"])
    show(browser, site / "search.html")
    browser.driver.get((site / "search.html").as_uri() + "?q=demo_trials")
    browser.until("return document.querySelectorAll('#search-results li').length > 0")
