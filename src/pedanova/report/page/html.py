"""The page's HTML: a template, its style and scripts, and a payload (the data). The page loads nothing else.

A static file, the explorer's server and a notebook use the same template; the payload says where the page is
shown. Text from the user, such as names, is in the base64 payload or is passed through `escape`.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Any

from pedanova.report import palette
from pedanova.report.page.cards import Payload

SCRIPTS = (
    "core.js", "digits.js", "scales.js", "state.js", "source.js", "theme.js", "brush.js", "plot.js", "objective.js",
    "chips.js", "ranking.js", "densities.js", "sheet.js", "code.js", "tabs.js", "groups.js",
    "trials.js", "parallel.js", "pairs.js", "plane.js", "scatter.js", "history.js", "targets.js", "means.js",
    "along.js", "front.js", "space.js", "gains.js",
    "notes.js", "compare.js", "exports.js", "watch.js", "page.js",
)  # fmt: skip
ASSETS = resources.files("pedanova.report") / "assets"
FALLBACK = "<noscript><p class='refused'>This page needs JavaScript; it loads nothing from the network.</p></noscript>"


def draw_page(payload: Payload, nonce: str = "") -> str:
    """The whole page as HTML text; `nonce` is for the content security policy of a server."""
    scripts = [asset(name) for name in SCRIPTS]
    style = colours() + asset("page.css") + asset("tabs.css")
    marked = f" nonce='{nonce}'" if nonce else ""
    page = (
        "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy(payload["facts"], style, scripts)}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(str(payload['facts']['title']))}</title><style{marked}>{style}</style></head>\n"
        f"<body>\n{SHELL}\n<script type='application/octet-stream' id='data'>{packed(payload)}</script>\n"
        + "\n".join(f"<script{marked}>{script}</script>" for script in scripts)
        + "\n</body>\n</html>\n"
    )
    return page.encode("utf-8", errors="xmlcharrefreplace").decode("utf-8")


def colours() -> str:
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in (*plain.items(), *lifts))
        for plain, lifts in (
            (palette.LIGHT, [(f"lift-{i}", colour) for i, colour in enumerate(palette.LIGHT_LIFT)]),
            (palette.DARK, [(f"lift-{i}", colour) for i, colour in enumerate(palette.DARK_LIFT)]),
        )
    )
    return f":root{{color-scheme:light;{light}}}\n:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"


def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def packed(payload: Payload) -> str:
    """The payload as JSON, gzip and base64, so that it is short and cannot end the HTML element."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    return b64encode(gzip.compress(text.encode("utf-8"), 7, mtime=0)).decode("ascii")


def policy(facts: dict[str, Any], style: str, scripts: list[str]) -> str:
    """A content security policy that allows only the given scripts and style; a live page can contact its server."""
    digests = " ".join(digest(script) for script in scripts)
    own = " connect-src 'self';" if facts["live"] == "http" else ""
    return (
        f"default-src 'none'; script-src {digests}; style-src {digest(style)}; img-src data: blob:;{own} "
        "base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


SHELL = f"""<a class='skip' href='#matters'>Skip to what matters</a>
<header id='top'><div class='wide'>
<div class='title'><h1 id='title'></h1><p id='facts'></p></div>
<div id='tools' role='toolbar' aria-label='Page'></div>
<p id='headline' role='status'></p>
</div></header>
{FALLBACK}
<section id='ask' aria-label='Question'><div class='wide'>
<div id='strip'></div>
<div id='chips' role='group' aria-label='Selection'></div>
</div></section>
<main class='wide'>
<div id='code' hidden></div>
<section id='compare' class='compare' aria-label='Comparison' hidden></section>
<div id='cards'>
<section id='matters' aria-labelledby='matters-title' tabindex='-1'></section>
<section id='densities' aria-labelledby='densities-title'></section>
</div>
<section id='tabs' aria-label='More'></section>
</main>
<footer class='wide' id='foot'></footer>
<dialog id='sheet'></dialog>
<div id='tip' role='presentation' hidden></div>
<div id='said' class='unseen' role='status'></div>"""
