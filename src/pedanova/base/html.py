"""Tables as HTML for notebooks: no script, no style sheet, readable on light and on dark ground.

Every string passes through `escape`; where a viewer strips the styles, the numbers remain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

BAR = "rgba(40,140,200,.38)"  # lets the ground shine through, light or dark
MOST_LINES = 40
MOST_NOTES = 30


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """What a notebook shows of a table.

    bars
        By column: for every line how long its bar is, from 0 to 1.
    marks
        By column: where on the bar a line stands, to compare with.
    faint
        Lines that are not distinguishable from noise.
    words
        Columns of words, which are set to the left as the first one is.
    """

    title: str
    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    bars: Mapping[int, Sequence[float]] = field(default_factory=dict)
    marks: Mapping[int, Sequence[float]] = field(default_factory=dict)
    faint: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()
    notes: Sequence[str] = ()


def draw(look: HtmlTable) -> str:
    """The table, a line for what was left out, and the notes, folded."""
    shown = look.lines[:MOST_LINES]
    head = "".join(f"<th{_style(look, i)}>{escape(name)}</th>" for i, name in enumerate(look.header))
    body = "".join(_line(look, i, line) for i, line in enumerate(shown))
    title = f"<p style='margin:0 0 .3em'>{escape(look.title)}</p>" if look.title else ""
    return (
        f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{_rest(len(look.lines) - len(shown))}{folded(look.notes)}</div>"
    )


def _line(look: HtmlTable, place: int, line: Sequence[str]) -> str:
    style = " style='opacity:.55'" if place in look.faint else ""
    cells = "".join(f"<td{_style(look, i, _bar(look, i, place))}>{escape(cell)}</td>" for i, cell in enumerate(line))
    return f"<tr{style}>{cells}</tr>"


def _style(look: HtmlTable, column: int, more: str = "") -> str:
    left = column == 0 or column in look.words
    return f" style='text-align:{'left' if left else 'right'};padding:.15em .6em{more}'"


def _bar(look: HtmlTable, column: int, place: int) -> str:
    """The cell's ground: a bar beside the number, behind it where there are many; a mark is a line across it."""
    if column not in look.bars:
        return ""
    end = _percent(look.bars[column][place])
    layers = [f"linear-gradient(to right,{BAR} {end},transparent {end})"]
    if column in look.marks:
        at = _percent(look.marks[column][place])
        line = f"transparent calc({at} - 1px),currentColor calc({at} - 1px),currentColor calc({at} + 1px)"
        layers.insert(0, f"linear-gradient(to right,{line},transparent calc({at} + 1px))")
    ground = f"background:{','.join(layers)}"
    if len(look.bars) > 1:
        return f";min-width:4em;{ground}"
    return f";min-width:11em;{ground};background-size:calc(100% - 4.5em) 100%;background-repeat:no-repeat"


def _percent(part: float) -> str:
    return f"{100 * max(0.0, min(1.0, part)):.1f}%"


def _rest(count: int) -> str:
    return f"<p>… and {count:,} lines more; <code>to_pandas()</code> has all</p>" if count > 0 else ""


def folded(notes: Sequence[str]) -> str:
    """Notes behind a line to click; nothing where there is none."""
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes[:MOST_NOTES])
    more = f"<li>… and {len(notes) - MOST_NOTES} more</li>" if len(notes) > MOST_NOTES else ""
    return f"<details><summary>Notes ({len(notes)})</summary><ul>{items}{more}</ul></details>"
