"""One HTML file: the answers, the densities behind them and the assumptions. No network, no script.

Small functions give pieces of HTML; every string that comes from the data passes through `escape`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from pedanova.errors import QueryError
from pedanova.importance import Importances
from pedanova.report.sentences import contrast, describe, explain_columns, gathered
from pedanova.results import Densities
from pedanova.table import show_percent

STYLE = """
:root { color-scheme: light dark; --ink: #1b2733; --paper: #ffffff; --soft: #5b6b7a; --line: #d5dde5;
  --target: #0072b2; --region: #8a97a3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #10161c; --soft: #9fb0c0;
  --line: #2b3844; --target: #56b4e9; --region: #7d8b98; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.soft, figcaption, li { color: var(--soft); font-size: .92rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
td.bar { width: 30%; }
td.bar span { display: block; height: .8rem; background: var(--target); border-radius: 2px; }
.densities { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.2rem; }
figure { margin: 0; } figcaption { overflow-wrap: anywhere; }
svg { width: 100%; height: auto; display: block; }
.target { fill: var(--target); } .region { fill: none; stroke: var(--region); stroke-width: 1.5; }
.key i { display: inline-block; width: .9rem; height: .7rem; margin: 0 .3rem 0 .8rem;
  background: var(--target); }
.key i.r { background: none; border-top: 2px solid var(--region); height: 0; vertical-align: middle; }
text { fill: var(--soft); font-size: 10px; }
"""


@dataclass(frozen=True, slots=True)
class View:
    """All that the page shows."""

    title: str
    subtitle: str
    wide: Importances
    narrow: Importances | None
    densities: tuple[Densities, ...]  # target and region of the wide question
    notes: tuple[str, ...]


def view_of(a: Any, title: str, *questions: Any, **options: Any) -> View:
    """What an analysis has to show; the second question is left out if the rows do not suffice."""
    wide = a.importance(*questions[0], **options)
    narrow = None
    if len(questions) > 1:
        with suppress(QueryError):
            narrow = a.importance(*questions[1], **options)
    subtitle = f"{a.rows:,} rows, {len(a.space)} parameters, {a.direction} {a.objective}"
    found = a.all_densities(*questions[0], smoothing=options.get("smoothing", "auto"))
    densities = tuple(found[name] for name in wide)
    return View(title, subtitle, wide, narrow, densities, a.notes)


def draw_page(view: View) -> str:
    """The whole page."""
    parts = [
        f"<h1>{escape(view.title)}</h1><p class='soft'>{escape(view.subtitle)}</p>",
        f"<p>{escape(describe(view.wide))}{_contrast(view)}</p>",
        question(view.wide),
        question(view.narrow) if view.narrow is not None else "",
        small_multiples(view.densities, view.wide),
        note_list(gathered([*view.wide.notes, *_inner_notes(view), *view.notes], view.wide)),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(view.title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _inner_notes(view: View) -> list[str]:
    return (
        [] if view.narrow is None else [f"inside {view.narrow.region}: {note}" for note in view.narrow.notes]
    )


def _contrast(view: View) -> str:
    return "" if view.narrow is None else f" {escape(contrast(view.wide, view.narrow))}"


def question(found: Importances) -> str:
    first = found.rows[0]
    title = f"What separates {found.target} ({first.n_target:,}) from {found.region} ({first.n_region:,})"
    return (
        f"<section><h2>{escape(title)}</h2>{importance_table(found)}"
        f"<p class='soft'>{escape(explain_columns(found))}</p></section>"
    )


def importance_table(found: Importances) -> str:
    top = max((row.ratio for row in found.rows), default=0.0) or 1.0
    rows = "".join(
        f"<tr><td>{escape(row.name)}</td><td>{show_percent(row.ratio)}</td>"
        f"<td class='bar'><span style='width:{100 * row.ratio / top:.1f}%'></span></td>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in found.cells_of(row))
        + "</tr>"
        for row in found.rows
    )
    names = ["parameter", "ratio", "", *found.header()[2:]]
    head = "".join(f"<th>{name}</th>" if name else "<th aria-label='bar'></th>" for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def small_multiples(densities: Sequence[Densities], found: Importances) -> str:
    if not densities:
        return ""
    key = f"<p class='soft key'><i></i>{escape(found.target)}<i class='r'></i>{escape(found.region)}</p>"
    figures = "".join(density_figure(density) for density in densities)
    return f"<section><h2>Where good values lie</h2>{key}<div class='densities'>{figures}</div></section>"


def density_figure(density: Densities) -> str:
    draw = _bars if len(density) <= 40 else _areas
    ends = (density.cells[0], density.cells[-1])
    if density.edges is not None and len(density) > 40:
        ends = (float(density.edges[0]), float(density.edges[-1]))
    label = f"Density of {density.name} in the target and in the region"
    return (
        f"<figure><svg viewBox='0 0 280 120' role='img' aria-label='{escape(label, quote=True)}'>"
        f"{draw(density)}"
        f"<text x='4' y='116'>{escape(_short(ends[0]))}</text>"
        f"<text x='276' y='116' text-anchor='end'>{escape(_short(ends[1]))}</text></svg>"
        f"<figcaption>{escape(caption(density))}</figcaption></figure>"
    )


def caption(density: Densities) -> str:
    """The name, where single values can be told the one that the target prefers most, and who has none."""
    words = density.name
    known = density.region > 0
    if len(density) <= 40 and known.any():
        lift = np.where(known, density.target / np.where(known, density.region, 1.0), 0.0)
        best = int(np.argmax(lift))
        words += f" · most enriched: {_short(density.cells[best])} ({lift[best]:.1f}×)"
    if density.missing_region > 0:
        active = 1 - density.missing_region, 1 - density.missing_target
        words += f" · where active ({active[0]:.0%} of all, {active[1]:.0%} of target)"
    return words


def _short(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 18 else text[:17] + "…"


def _bars(density: Densities) -> str:
    """One bar a cell for the target, a line across it for the region."""
    top = float(max(density.target.max(), density.region.max())) or 1.0
    step = 272 / len(density)
    marks = []
    for i, (wanted, base) in enumerate(zip(density.target / top, density.region / top, strict=True)):
        left = 4 + i * step
        shape = f"x='{left + step * 0.1:.1f}' y='{100 - 95 * wanted:.1f}' width='{step * 0.8:.1f}'"
        name = escape(str(density.cells[i]))
        marks.append(f"<rect class='target' {shape} height='{95 * wanted:.1f}'><title>{name}</title></rect>")
        marks.append(f"<path class='region' d='M{left:.1f} {100 - 95 * base:.1f}h{step:.1f}'/>")
    return "".join(marks)


def _areas(density: Densities) -> str:
    """An area for the target, a line for the region, thinned to what the picture can show."""
    target, region = (_thin(values) for values in (density.target, density.region))
    top = float(max(target.max(), region.max())) or 1.0
    x = np.linspace(4, 276, len(target))
    points = [f"{a:.1f},{100 - 95 * b / top:.1f}" for a, b in zip(x, target, strict=True)]
    line = [f"{a:.1f},{100 - 95 * b / top:.1f}" for a, b in zip(x, region, strict=True)]
    return (
        f"<polygon class='target' points='4,100 {' '.join(points)} 276,100'/>"
        f"<polyline class='region' points='{' '.join(line)}'/>"
    )


def _thin(values: np.ndarray, most: int = 100) -> np.ndarray:
    return np.array([part.mean() for part in np.array_split(values, min(most, len(values)))])


def note_list(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<section><h2>Notes and assumptions</h2><ul>{items}</ul></section>"
