"""Results for the terminal: plain text, or colours through rich where it is installed and wanted."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Sequence

from pedanova.importance import Importance, Importances
from pedanova.report.sentences import explain_columns
from pedanova.table import aligned, column_widths, show_percent

BAR = 20
EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(part: float, width: int = BAR) -> str:
    """A bar of blocks, an eighth of a block at a time."""
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def importance_rows(found: Importances) -> tuple[list[str], list[list[str]]]:
    header = ["parameter", "ratio", "", *found.header()[2:]]
    top = max((row.ratio for row in found.rows), default=0.0) or 1.0
    rows = [
        [row.name, show_percent(row.ratio), bar(row.ratio / top), *found.cells_of(row)] for row in found.rows
    ]
    return header, rows


def compare_rows(wide: Importances, narrow: Importances) -> tuple[list[str], list[list[str]]]:
    """Two questions side by side, in the order of the first."""
    top = max((row.ratio for found in (wide, narrow) for row in found.rows), default=0.0) or 1.0
    header = ["parameter", "global", "", "share", "local", "", "share"]
    rows = []
    for name in wide:
        pair = wide[name], narrow[name]
        shown = [(show_percent(row.ratio), bar(row.ratio / top), marked_share(row)) for row in pair]
        rows.append([name, *shown[0], *shown[1]])
    return header, rows


def marked_share(row: Importance) -> str:
    """The share, with ~ where the parameter cannot be told from noise."""
    return f"{'~ ' if row.significant is False else ''}{show_percent(row.share)}"


def draw_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, colour: bool = False) -> str:
    """A table as text; bars stand beside their numbers, names to the left, numbers to the right."""
    if colour and importlib.util.find_spec("rich") is not None:
        return _draw_rich(header, rows)
    shown = [[shorten(row[0]), *row[1:]] for row in rows]
    widths = column_widths(header, shown)
    rule = ["─" * width for width in widths]
    return "\n".join("  ".join(aligned(row, widths)).rstrip() for row in [header, rule, *shown])


def shorten(name: str, width: int = 40) -> str:
    """A long name cut in its middle; control characters shown, not obeyed."""
    printable = "".join(letter if letter.isprintable() else "�" for letter in name)
    if len(printable) <= width:
        return printable
    half = (width - 1) // 2
    return f"{printable[:half]}…{printable[-half:]}"


def _draw_rich(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(header):
        is_bar = name == "" and i > 0
        table.add_column(
            Text(name),
            justify="left" if i == 0 or is_bar else "right",
            style="cyan" if is_bar else "",
            no_wrap=True,
        )
    for row in rows:
        table.add_row(*(Text(shorten(cell)) for cell in row))
    console = Console(force_terminal=True, width=max(100, sum(len(name) for name in header) + 80))
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")


def draw_importances(found: Importances, *, colour: bool = False, width: int = 100) -> str:
    """Title, table and what its columns mean."""
    first = found.rows[0]
    title = f"What separates {found.target} ({first.n_target:,}) from {found.region} ({first.n_region:,}):"
    table = draw_table(*importance_rows(found), colour=colour)
    return f"{title}\n\n{table}\n\n{textwrap.fill(explain_columns(found), width)}"


def draw_notes(notes: Sequence[str], *, width: int = 100) -> str:
    if not notes:
        return ""
    lines = [
        textwrap.fill(shorten(note, 2_000), width, initial_indent="- ", subsequent_indent="  ")
        for note in notes
    ]
    return "\n".join(["Notes", *lines])
