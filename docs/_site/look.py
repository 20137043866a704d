"""Every page of the built site in Chromium, on a phone and a laptop, light and dark, held to axe-core.

    python docs/_site/look.py build/site                          # all of it; some minutes
    python docs/_site/look.py build/site start.html --shots /tmp  # some pages, and pictures of them

`tests/browser/test_site.py` does the same to a few pages in every run. Needs Chromium, its driver, npm and Selenium.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from helpers.chromium import Page, axe_script
from helpers.site_looks import SCREENS, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*", help="such as start.html (default: all)")
    parser.add_argument("--shots", type=Path, help="a folder for pictures")
    options = parser.parse_args()
    site = options.site.resolve()
    names = options.pages or sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        axe, browser = axe_script(Path(folder)), Page(Path(folder))
        for name, screen, dark in product(names, SCREENS, (False, True)):
            found = faults(browser, site / name, axe, screen, dark=dark)
            wrong += bool(found)
            for line in found:
                print(f"{name} ({screen}, {'dark' if dark else 'light'}): {line}", flush=True)
            if options.shots is not None:
                shade = "dark" if dark else "light"
                browser.shot(options.shots / f"{name.replace('/', '-').removesuffix('.html')}-{screen}-{shade}.png")
        browser.driver.quit()
    print(f"{len(names)} pages, {wrong} of {4 * len(names)} looks found fault")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
