"""What the theme leaves undone for keyboards and screen readers, put into the built pages, and held to by axe-core."""

from __future__ import annotations

import re
from pathlib import Path

MENDED = (
    (re.compile(r'role="heading">'), 'role="heading" aria-level="2">'),
    (re.compile(r'<aside class="sidebar-drawer">'), '<aside class="sidebar-drawer" aria-label="All pages">'),
    (re.compile(r'<aside class="toc-drawer([^"]*)">'), r'<aside class="toc-drawer\1" aria-label="This page">'),
    # What scrolls must be reached by Tab, or nobody without a mouse sees its end.
    (re.compile(r"<pre(?! tabindex)"), '<pre tabindex="0"'),
    (re.compile(r'<div class="table-wrapper'), '<div tabindex="0" class="table-wrapper'),
    (re.compile(r'<th class="head[^"]*"><p></p></th>|<th></th>'), "<td></td>"),  # the corner of a table heads nothing
    (re.compile(r'<div id="search-results"></div>'), '<h1>Search</h1>\n<div id="search-results"></div>'),
)


def mend(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = mended = path.read_text(encoding="utf-8")
        for pattern, instead in MENDED:
            mended = pattern.sub(instead, mended)
        if mended != text:
            path.write_text(mended, encoding="utf-8")
