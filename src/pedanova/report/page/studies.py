"""The page of many studies: one file without any script. Every name is text; nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pedanova.base.digits import chance, percent
from pedanova.base.notes import gathered, in_order
from pedanova.base.table import Table
from pedanova.base.terminal import printable
from pedanova.measures.studies.across import Pooling
from pedanova.report import palette
from pedanova.report.page.groups import SHOWN, first_studies
from pedanova.report.page.html import asset, colours, digest
from pedanova.report.page.studies_drawn import draw_map, draw_ranking, draw_ranks, draw_side_by_side
from pedanova.report.sentences import shares_over_studies
from pedanova.report.terminal.studies import MEANINGS, ranks_in_words

WORDS = frozenset({"study", "parameter", "what matters", "differs in"})  # columns that stand left


def draw_studies(found: Pooling, title: str) -> str:
    """The whole page, as UTF-8 can hold it."""
    style = colours() + dark() + asset("page.css") + asset("studies.css") + asset("groups.css")
    policy = f"default-src 'none'; style-src {digest(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    page = (
        "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body class='studies'>\n"
        f"{head(found, title)}\n<main class='wide'>\n{body(found)}\n</main>\n{foot(found)}\n</body>\n</html>\n"
    )
    return page.encode("utf-8", errors="xmlcharrefreplace").decode("utf-8")


def dark() -> str:
    """The dark palette for whoever's screen asks for it: there is no switch, for there is no script."""
    variables = "".join(f"--{name}:{colour};" for name, colour in palette.DARK.items())
    return f"@media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{variables}}}}}\n"


def head(found: Pooling, title: str) -> str:
    rows = sum(row.n_region for row in found.studies.rows)
    facts = f"{len(found.answers)} studies, {rows:,} rows, {len(found.rows)} parameters"
    said = escape(shares_over_studies(found))
    return (
        f"<header id='top'><div class='wide'><div class='title'><h1>{escape(title)}</h1>"
        f"<p id='facts'>{escape(facts)}</p></div><p id='headline'>{said}</p></div></header>"
    )


def beside_words(found: Pooling, shown: int) -> str:
    """What the marks mean, and who is not shown."""
    left = len(found.studies.rows) - shown
    more = f" {left:,} more agree better with the others; the table of all studies has them." if left else ""
    return f"◆ marks what matters clearly more or less in a study than in all others.{more}"


def body(found: Pooling) -> str:
    shown = first_studies(found, "disagreement" if len(found.studies.rows) > SHOWN else "name", SHOWN)
    cards = [
        card("What matters over all studies", draw_ranking(found), f"share: {MEANINGS['share']} Dots are studies."),
        card("Studies side by side", draw_side_by_side(found, shown), beside_words(found, len(shown))),
        card("Mean ranks", draw_ranks(found.ranks), ranks_in_words(found.ranks)) if found.ranks is not None else "",
        card("Studies by what matters in them", draw_map(found), map_words(found)) if found.map is not None else "",
        card("In numbers", table_of(found), ""),
        card(found.disagreements.heading(), table_of(found.disagreements) if found.disagreements.rows else "", ""),
        card(
            "All studies", table_of(found.studies), "agreement: correlation of its ranks with the mean of all others."
        ),
        card("Notes", notes_of(found), "") if found.notes else "",
    ]
    return "\n".join(card for card in cards if card)


def map_words(found: Pooling) -> str:
    held = percent(found.map.held) if found.map is not None else ""
    words = "Near each other where the same parameters matter; arrows point to where one matters more."
    return f"{words} Both axes hold {held} of the distances."


def card(title: str, content: str, words: str) -> str:
    said = f"<p class='note'>{escape(words)}</p>" if words else ""
    return f"<section class='panel'><h2>{escape(title)}</h2>\n{content}\n{said}</section>"


def table_of(table: Table) -> str:
    """A table as the page has them; columns of words stand left."""
    header = table.header()
    left = ["" if i == 0 or name not in WORDS else " class='words'" for i, name in enumerate(header)]
    top = "".join(f"<th scope='col'{kind}>{escape(name)}</th>" for name, kind in zip(header, left, strict=True))
    lines = "".join(line_of(line, left) for line in table.lines())
    return f"<div class='scroll' tabindex='0'><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"


def line_of(line: Sequence[str], left: Sequence[str]) -> str:
    cells = "".join(f"<td{kind}>{escape(printable(cell))}</td>" for cell, kind in zip(line, left, strict=True))
    return f"<tr>{cells}</tr>"


def notes_of(found: Pooling) -> str:
    notes = gathered(in_order(found.notes))
    return (
        "<ul class='notes'>" + "".join(f"<li>{escape(printable(note))}</li>" for note in notes) + "</ul>"
        if notes
        else ""
    )


def foot(found: Pooling) -> str:
    words = ["Intervals: random effects (Paule and Mandel; Hartung and Knapp)."]
    if found.ranks is not None:
        words.append(f"Ranks: Friedman p {chance(found.ranks.p_value)}, Nemenyi's critical difference at 5 %.")
    return f"<footer class='wide'>{escape(' '.join(words))}</footer>"
