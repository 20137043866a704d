"""Text for a terminal: the displayed width of text, removal of control characters, and tables that fit a width."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

UNSEEN = "�"  # replaces a control character
EIGHTHS = " ▏▎▍▌▋▊▉"
HEIGHTS = " ▁▂▃▄▅▆▇█"


def printable(text: str) -> str:
    """The text as one line; control characters are replaced by �, so that a terminal does not execute them."""
    return text if text.isprintable() else "".join(_shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if unicodedata.category(letter) == "Zs" else UNSEEN


def wrapped(text: str, width: int, *, before: str = "", behind: str = "", whole: bool = False) -> str:
    """Break the text into lines of at most `width` columns, but not before a percent sign.

    With `whole`, a longer word, such as a path, has a line of its own.
    """
    kept = text.replace(" %", "\u00a0%")
    lines = textwrap.wrap(
        kept, width, initial_indent=before, subsequent_indent=behind, break_long_words=not whole, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\u00a0", " ")


def width_of(text: str) -> int:
    """The number of terminal columns that a text needs: East Asian letters take two, combining accents none."""
    if text.isascii():
        return len(text)
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def shorten(text: str, width: int = 40) -> str:
    """Cut out the middle of a text longer than `width`; control characters are replaced by �."""
    text = printable(text)
    if width_of(text) <= width:
        return text
    half = (width - 1) // 2
    head, tail = _fitting(text, half), _fitting(text[::-1], half)[::-1]
    return f"{head}…{tail}"


def _fitting(text: str, width: int) -> str:
    taken = 0
    for i, letter in enumerate(text):
        taken += _width(letter)
        if taken > width:
            return text[:i]
    return text


def bar(part: float, width: int = 20) -> str:
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def sparkline(parts: list[float]) -> str:
    """One block character for each number from 0 to 1; numbers above 0 are always visible."""
    return "".join(HEIGHTS[max(part > 0, min(8, round(8 * part)))] for part in parts)


GAP = 2
WIDEST_BAR, USUAL_BAR, LEAST_BAR = 20, 8, 4
LEAST_NAME = 8
ENDLESS = 10_000
BOLD, FAINT, CYAN, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"

ColumnKind: TypeAlias = Literal["name", "words", "number", "bar"]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a result table, which can be printed as text, HTML, Markdown or LaTeX."""

    title: str
    cells: Sequence[str] = ()  # by row, rounded for reading
    kind: ColumnKind = "number"  # numbers are right-aligned, names and words left-aligned; a bar shows only `parts`
    leave: int = 0  # in a narrow terminal, columns with a higher number are removed first; 0 is kept
    parts: Sequence[float] = ()  # the length of each bar, from 0 to 1
    marks: Sequence[float] = ()  # the position of a mark on each bar, from 0 to 1

    @property
    def width(self) -> int:
        """The number of terminal columns that the texts need; bars are not included."""
        if self.kind == "bar":
            return 0
        return max(width_of(text) for text in (self.title, *self.cells))


def fitted(columns: Sequence[TableColumn], width: int) -> list[TableColumn]:
    """The table columns that fit into lines of `width` characters, with bars drawn as text."""
    longest = max(16, width // 3)
    kept = [_safe(column, longest) for column in columns]
    while _bar_width(kept, width) < USUAL_BAR and any(column.leave for column in kept):
        last = max(kept, key=lambda column: column.leave)
        kept = [column for column in kept if column is not last]
    if _bar_width(kept, width) < LEAST_BAR:
        lacking = (LEAST_BAR - _bar_width(kept, width)) * max(1, sum(column.kind == "bar" for column in kept))
        kept = [_safe(c, max(LEAST_NAME, c.width - lacking)) if c.kind == "name" else c for c in kept]
    size = max(LEAST_BAR, min(WIDEST_BAR, _bar_width(kept, width)))
    return [_drawn(column, size) if column.kind == "bar" else column for column in kept]


def _safe(column: TableColumn, longest: int, most: int = 200) -> TableColumn:
    most = longest if column.kind == "name" else most
    return replace(column, title=shorten(column.title, most), cells=[shorten(cell, most) for cell in column.cells])


def _bar_width(columns: Sequence[TableColumn], width: int) -> int:
    """How many terminal columns remain for each column of bars; negative if the other columns do not fit."""
    taken = sum(column.width for column in columns) + GAP * (len(columns) - 1)
    bars = sum(column.kind == "bar" for column in columns)
    if not bars:
        return USUAL_BAR if taken <= width else width - taken
    return (width - taken) // bars


def _drawn(column: TableColumn, size: int) -> TableColumn:
    cells = [bar(part, size) for part in column.parts]
    if column.marks:
        places = [min(size - 1, round(max(0.0, min(1.0, mark)) * size)) for mark in column.marks]
        cells = [f"{cell[:at]}┃{cell[at + 1 :]}" for cell, at in zip(cells, places, strict=True)]
    return replace(column, cells=cells, title=column.title[:size])


def text_table(
    columns: Sequence[TableColumn], *, width: int | None = None, colour: bool = False, faint: Collection[int] = ()
) -> str:
    """A text table that fits `width` (None: any width). With `colour`, bars are cyan and rows in `faint` are dimmed."""
    kept = [_safe(column, ENDLESS, ENDLESS) for column in columns] if width is None else fitted(columns, width)
    lines = [[column.title for column in kept], *zip(*(column.cells for column in kept), strict=True)]
    left = [i for i, column in enumerate(kept) if i == 0 or column.kind != "number"]
    head, *rows = laid_out(lines, left=left, least=3 if width is None else 0)
    bars = [CYAN if column.kind == "bar" else "" for column in kept]
    body = ([FAINT] * len(kept) if i in faint else bars for i in range(len(rows)))
    inks = [[BOLD] * len(kept), [""] * len(kept), *body]
    cells = [head, ["─" * width_of(cell) for cell in head], *rows]
    if colour:
        cells = [[*map(_inked, *both)] for both in zip(cells, inks, strict=True)]
    return "\n".join((" " * GAP).join(line).rstrip() for line in cells)


def _inked(text: str, ink: str) -> str:
    return f"{ink}{text}{PLAIN}" if ink and text.strip() else text


def laid_out(lines: Sequence[Sequence[str]], *, left: Collection[int] = (0,), least: int = 0) -> list[list[str]]:
    """Pad cells to the width of their column; the first line is the header, and columns in `left` are left-aligned."""
    widths = [max(least, *(width_of(line[i]) for line in lines)) for i in range(len(lines[0]))]
    result = []
    for line in lines:
        each = enumerate((cell, " " * (width - width_of(cell))) for cell, width in zip(line, widths, strict=True))
        result.append([cell + gap if i in left else gap + cell for i, (cell, gap) in each])
    return result


def draw_table(columns: Sequence[TableColumn], *, width: int = 100, colour: bool = False) -> str:
    """A text table with lines of at most `width` characters; columns that do not fit are printed below the others."""
    first, *others = [
        _safe(replace(c, kind=("words" if c.kind == "words" else "number") if i else "name"), max(16, width // 3))
        for i, c in enumerate(columns)
    ]
    parts, line, taken = [], [first], first.width
    for column in others:
        if taken + GAP + column.width > width and len(line) > 1:
            parts.append(line)
            line, taken = [first], first.width
        line.append(column)
        taken += GAP + column.width
    return "\n\n".join(text_table(part, width=ENDLESS, colour=colour) for part in [*parts, line])
