"""One HTML file to look at and to drag in: no network, no row of data.

Small functions give pieces of HTML. What does not change is written here, every word of the user's
passed through `escape`; what moves with the sliders is drawn by `assets/*.js` from the payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from pedanova.base.places import write_whole
from pedanova.errors import PedanovaError
from pedanova.reduction.result import ReducedSpace
from pedanova.report.page.payload import to_json
from pedanova.report.page.view import TITLE, View
from pedanova.space.words import in_words

SCRIPTS = (
    "vendor/vega.min.js",
    "vendor/vega-lite.min.js",
    "vendor/vega-interpreter.js",
    "data.js",
    "theme.js",
    "charts.js",
    "tables.js",
    "cards.js",
    "pairs.js",
    "room.js",
    "page.js",
)
LICENCES = {
    "vendor/vega.min.js": "vendor/LICENSE-vega.txt",  # the interpreter's too
    "vendor/vega-lite.min.js": "vendor/LICENSE-vega-lite.txt",
}
# Nothing may be fetched from anywhere. Charts run through Vega's interpreter, so nothing is evaluated either.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def write_page(place: Path, page: str) -> None:
    write_whole(place, page.encode())


def draw_page(view: View) -> str:
    """The whole page, as UTF-8 can hold it."""
    scripts = "\n".join(f"<script>{licence(name)}{asset(name)}</script>" for name in SCRIPTS)
    page = (
        f"<!doctype html>\n<html lang='en'>\n{head(view.title)}\n<body>\n"
        f"{header(view)}\n<main>\n{body(view)}\n</main>\n{footer()}\n"
        f"<script type='application/json' id='data'>{to_json(view)}</script>\n{scripts}\n</body>\n</html>\n"
    )
    return page.encode("utf-8", errors="xmlcharrefreplace").decode("utf-8")


def asset(name: str) -> str:
    return (resources.files("pedanova.report") / "assets" / name).read_text(encoding="utf-8")


def licence(name: str) -> str:
    """The terms of what others wrote go wherever their code goes."""
    return f"/*!\n{asset(LICENCES[name])}*/\n" if name in LICENCES else ""


def head(title: str) -> str:
    return (
        "<head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{asset('page.css')}</style></head>"
    )


def header(view: View) -> str:
    parameters = "1 parameter" if len(view.names) == 1 else f"{len(view.names)} parameters"
    dropped = f", {view.dropped:,} left out" if view.dropped else ""
    facts = f"{view.rows:,} rows{dropped} · {parameters} · {view.direction} {view.objective}"
    return (
        "<a class='skip' href='#importance'>Skip to the results</a>"
        f"<header><div><h1>{escape(title_of(view))}</h1><p class='facts'>{escape(facts)}</p></div>"
        "<button type='button' id='theme' class='quiet'>Dark</button></header>"
        "<noscript><p class='refused'>The charts of this page need JavaScript; nothing is loaded from "
        "anywhere.</p></noscript>"
    )


def title_of(view: View) -> str:
    return view.title.strip() or TITLE


def body(view: View) -> str:
    cards = [
        importance_card(),
        density_card(),
        profile_card(),
        objective_card(view),
        *([pairs_card(), plane_card()] if len(view.names) > 1 else []),
        space_card(view.reduced, view.unreduced),
        notes_card(view.notes),
    ]
    return controls(view) + "\n<div class='cards'>\n" + "\n".join(filter(None, cards)) + "\n</div>"


def controls(view: View) -> str:
    """The question: two sliders, two switches, and the answer in words."""
    own = [one for one in view.questions if one.rungs is None]
    named = ""
    if own:
        named = "<div class='field named'><label for='named'>Question</label><select id='named'></select></div>"
    sliders = "".join(
        f"<div class='field slider'><label for='{key}'>{label}</label>"
        f"<input type='range' id='{key}' min='0' max='0' step='1' value='0'>"
        f"<output id='{key}-words' for='{key}' aria-live='off'></output></div>"
        for key, label in (("target", "Target: the rows to reach"), ("region", "Region: the rows we stand in"))
    )
    return (
        "<section id='ask' aria-label='Question and answer'>"
        "<p id='summary' class='said' role='status'></p>"
        f"<div class='controls'>{named}{sliders}"
        + switch("baseline", "Compare the target with", (("region", "the region"), ("uniform", "a uniform draw")))
        + switch("metric", "Show", (("ratio", "ratio"), ("share", "share")))
        + "</div></section>"
    )  # fmt: skip


def switch(name: str, legend: str, choices: Sequence[tuple[str, str]]) -> str:
    buttons = "".join(
        f"<label><input type='radio' name='{name}' value='{value}'><span>{label}</span></label>"
        for value, label in choices
    )
    return f"<fieldset class='field switch'><legend>{legend}</legend><div>{buttons}</div></fieldset>"


def card(key: str, heading: str, intro: str, inner: str, *, wide: bool = False) -> str:
    kind = "card wide" if wide else "card"
    return (
        f"<section class='{kind}' id='{key}' aria-labelledby='{key}-title'>"
        f"<h2 id='{key}-title'>{heading}</h2><p class='intro'>{intro}</p>{inner}</section>"
    )


def chart(key: str, label: str) -> str:
    """The place of a chart, its export buttons, and the table behind it."""
    return (
        f"<div class='chart' id='{key}-chart' role='img' aria-label='{label}'></div>"
        f"<p class='note' id='{key}-note'></p>{tools(key)}"
    )


def tools(key: str) -> str:
    return (
        f"<div class='tools'><details id='{key}-table'><summary>Table</summary>"
        f"<div class='scroll' tabindex='0' role='region' aria-label='Table'></div></details>"
        f"<div class='exports' role='group' aria-label='Export'>"
        + "".join(
            f"<button type='button' class='quiet' data-export='{form}' data-of='{key}'>{form.upper()}</button>"
            for form in ("csv", "svg", "png")
        )
        + "</div></div>"
    )


def importance_card() -> str:
    intro = (
        "Which parameters decide whether a row of the region is in the target. Choose one to see where its good "
        "values lie. Pale bars with <b>~</b> are not distinguishable from noise; <b>–</b> marks what never varied."
    )
    inner = (
        "<div class='axis' aria-hidden='true'><span></span><div id='importance-axis'></div><span></span></div>"
        "<div class='ranked'><div class='many'><ol id='bars' class='bars'></ol></div>"
        "<p class='refused' id='importance-refused' hidden></p></div>"
        "<p class='note' id='importance-note'></p>"
        f"{tools('importance')}<details><summary>Notes on this answer: <span id='remarked'></span></summary>"
        "<ul class='remarks' id='remarks'></ul></details>"
    )
    return card("importance", "What matters", intro, inner)


def density_card() -> str:
    intro = (
        "<span class='key target'></span>target <span class='key region'></span>region "
        "<span class='key uniform'></span>uniform draw <span class='key good'></span>"
        "good values: clearly more often in the target"
    )
    inner = chart("density", "Densities of the chosen parameter")
    return card("density", "Where good values lie: <span id='chosen'></span>", intro, inner)


def profile_card() -> str:
    intro = (
        "The same importance for every target inside this region, the strictest on the left. "
        "The vertical line is the current target."
    )
    inner = "<ul class='legend' id='profile-legend'></ul>" + chart("profile", "Importance by target")
    return card("profile", "How importance changes with the target", intro, inner)


def objective_card(view: View) -> str:
    if view.several:
        text = escape(
            f"{view.objective}: several objectives are ordered together, so target and region have no single threshold."
        )
        return card("objective", "The objective", text, "")
    intro = (
        "<span class='key target-area'></span>target <span class='key region-area'></span>region. "
        "The height is the part of all rows that is at least as good; the worst few are not drawn."
    )
    return card("objective", "The objective", intro, chart("objective", "Distribution of the objective"))


def pairs_card() -> str:
    intro = (
        "What two parameters explain together, beyond the sum of both, as a part of what decides. A dot marks pairs "
        "that chance does not explain. Choose a cell to see the two together."
    )
    return card("pairs", "Pairs of parameters", intro, chart("pairs", "Interactions of pairs"))


def plane_card() -> str:
    inner = (
        "<div class='field'><label for='pair'>Pair</label><select id='pair'></select></div>"
        + chart("plane", "Two parameters together")
    )  # fmt: skip
    intro = "How much more likely the target is in each part of the plane than in the whole region; 1 is the same."
    return card("plane", "Two parameters together", intro, inner)


def space_card(reduced: ReducedSpace | None, refused: str) -> str:
    heading = "A smaller search space"
    if reduced is None:
        why = f"No smaller space is suggested: {refused}" if refused else ""
        return card("space", heading, escape(why), "", wide=True) if why else ""
    intro = escape(f"For reaching {reduced.target}. {reduced.summary()}")
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("parameter", "verdict", "now", "suggested", "why"))
    rows = "".join(
        f"<tr><th scope='row'>{escape(row.name)}</th>"
        f"<td><span class='verdict {row.advice}'>{row.advice}</span></td>"
        f"<td data-label='now'>{escape(in_words(row.before))}</td>"
        f"<td data-label='suggested'>{escape(row.suggested())}</td><td>{escape(row.reason)}</td></tr>"
        for row in reduced.rows
    )
    table = (
        "<div class='scroll' tabindex='0' role='region' aria-label='A smaller search space'>"
        f"<table class='space'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in dict.fromkeys(reduced.notes))
    remarks = f"<ul class='remarks'>{notes}</ul>" if notes else ""
    return card("space", heading, intro, table + remarks + code(reduced), wide=True)


def code(reduced: ReducedSpace) -> str:
    """Lines to paste, where Optuna can say such a space at all."""
    try:
        lines = reduced.as_code()
    except PedanovaError:
        return ""
    return f"<details><summary>As code for Optuna</summary><pre tabindex='0'>{escape(lines)}</pre></details>"


def notes_card(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    known = f"<ul class='remarks'>{items}</ul>" if items else "<p class='note'>Nothing was guessed.</p>"
    words = (
        "<dl><dt>ratio</dt><dd>a parameter’s part of the summed importance</dd>"
        "<dt>share</dt><dd>the part of what decides “in the target?” that the parameter explains alone, "
        "corrected for chance; inside a region shares may overlap and add to more than 100 %</dd>"
        "<dt>interval</dt><dd>95 % interval of the share</dd>"
        "<dt>p</dt><dd>how often chance alone would look as important</dd>"
        "<dt>region, uniform draw</dt><dd>what the target is compared with: the rows you have, or a draw "
        "without preference from the search space</dd></dl>"
    )
    return card("notes", "Notes and assumptions", "What was guessed, dropped or merged.", known + words, wide=True)


def footer() -> str:
    return "<footer><p>Made by pedanova from counts; no row of the data is in this file.</p></footer>"
