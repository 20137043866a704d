"""How an answer leaves: its words, its width, its colours, and where it goes."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.base.files import write_file
from pedanova.base.notes import Note, gathered, in_order
from pedanova.base.table import Cell
from pedanova.base.terminal import printable, printable_lines
from pedanova.report.sentences import aim_in_words
from pedanova.report.terminal.tables import in_short

NARROWEST, WIDEST, UNKNOWN = 40, 120, 100  # columns of a terminal; where there is none, of a file


def complain(message: str) -> None:
    """One line on the error stream, whatever letters the user's names have."""
    print(f"pedanova: {printable(' '.join(message.split()))}", file=sys.stderr)


def worded(notes: Iterable[Note], options: argparse.Namespace) -> list[str]:
    """Notes as whoever types commands reads them: in short, all of them, or none."""
    if getattr(options, "quiet", False):
        return []
    ordered = in_order(notes)
    return [note.in_shell() for note in (gathered(ordered) if getattr(options, "notes", False) else in_short(ordered))]


def wants_colour(output: str | None = None) -> bool:
    """Only on a terminal that shows colours, and that was not asked to leave them (NO_COLOR)."""
    able = os.environ.get("TERM", "") != "dumb" and (os.name != "nt" or "WT_SESSION" in os.environ)
    return output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and able


def line_width(output: str | None = None) -> int:
    """Columns of the terminal; files and pipes have a width of their own, so that they do not change."""
    if output is not None:
        return UNKNOWN
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((UNKNOWN, 24)).columns))


def emit(text: str, output: str | None, *, coloured: bool = False) -> None:
    """To the file, or to the terminal; a terminal never gets a control character that is not our own."""
    if output is not None:
        write_file(Path(output), text.encode())
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without these letters still gets the numbers
    if sys.stdout.isatty() and not coloured:
        text = printable_lines(text)
    sys.stdout.write(text)
    sys.stdout.flush()


def shown_place(place: str) -> str:
    """A path, or a URL without its password, or an address in a store without what follows its question mark."""
    from pedanova.sources.databases import without_password
    from pedanova.sources.scans.objects import is_object, shown_address

    if is_object(place):
        return shown_address(place)
    return without_password(place) if "://" in place else place


def goals_in_words(a: Analysis) -> str:
    """What is optimised which way; a way that was guessed is said to be."""
    goals = a.observations.goals if a.observations is not None else ()
    pairs = [(str(goal.direction), goal.name) for goal in goals] if len(goals) > 1 else [(a.direction, a.objective)]
    return aim_in_words(pairs, a.notes)


def heading(a: Analysis, options: argparse.Namespace) -> str:
    """What was read, in one line where there is room; a path is never broken."""
    if getattr(options, "quiet", False):
        return ""
    many = "parameter" if len(a.space) == 1 else "parameters"
    place = printable(shown_place(options.file))
    words = f"{place}: {a.rows:,} rows, {len(a.space)} {many}, {printable(goals_in_words(a))}"
    return textwrap.fill(words, line_width(options.output), break_long_words=False, break_on_hyphens=False)


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def as_rows(columns: Mapping[str, Sequence[Cell]]) -> list[dict[str, Cell]]:
    """Columns as one dict for each row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_json(answer: Mapping[str, Any]) -> str:
    text = json.dumps(answer, indent=1, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def notes_aside(notes: Iterable[Note], options: argparse.Namespace) -> None:
    """Notes of an answer whose form has no place for them."""
    for note in worded(notes, options):
        complain(note)
