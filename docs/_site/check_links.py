"""Held against the built site: every link inside it leads somewhere, and nothing is loaded from elsewhere.

python docs/_site/check_links.py build/site
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
FETCHED = re.compile(r"url\(\s*[\"']?\s*(?:https?:)?//|@import\s+[\"'](?:https?:)?//")  # by a style sheet


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loads.append(given[LOADED[tag]])


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def check(site: Path) -> list[str]:
    """What is wrong with the site, a line each."""
    pages = {path.resolve(): read(path) for path in sorted(site.resolve().rglob("*.html"))}
    wrong = [] if pages else [f"{site}: no pages"]
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        wrong += [f"{where}: loads {load}" for load in page.loads if is_remote(load)]
        inside = [link for link in (*page.links, *page.loads) if not is_remote(link)]
        wrong += [f"{where}: {link} {fault}" for link in inside if (fault := fault_of(link, path, pages))]
    styles = (
        path for path in site.rglob("*.css") if FETCHED.search(path.read_text(encoding="utf-8", errors="replace"))
    )
    return wrong + [f"{path.relative_to(site)}: loads from elsewhere" for path in styles]


def is_remote(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc) and not link.startswith("data:")


def fault_of(link: str, path: Path, pages: dict[Path, Page]) -> str:
    if link.startswith("data:"):
        return ""
    file, anchor = urldefrag(link)
    target = (path.parent / unquote(urlsplit(file).path)).resolve() if file else path.resolve()
    if not target.is_file():
        return "is no file of the site"
    known = pages.get(target)
    return "has no such anchor" if anchor and known and unquote(anchor) not in known.anchors else ""


def main() -> int:
    wrong = check(Path(sys.argv[1]))
    print("\n".join(wrong) or f"{sys.argv[1]}: every link inside leads somewhere, nothing is loaded from elsewhere")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
