"""How an answer leaves: its words, its width, its colours, its form, and where it goes."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.base.files import write_file
from pedanova.base.notes import Note, gathered, in_order
from pedanova.base.table import Cell, Table
from pedanova.base.terminal import printable, printable_lines
from pedanova.errors import MissingLibraryError, QueryError
from pedanova.report.sentences import aim_in_words
from pedanova.report.terminal.tables import TerminalStyle, draw_notes, in_short

KEY = b"pedanova"  # of the metadata of an Arrow table, which holds the rest of the answer as JSON
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


def heading(a: Analysis, options: argparse.Namespace) -> str:
    """What was read, in one line where there is room; a path is never broken."""
    if getattr(options, "quiet", False):
        return ""
    many = "parameter" if len(a.space) == 1 else "parameters"
    place = printable(shown_place(options.file))
    goals = a.data.observations.goals if a.data.observations is not None else ()
    pairs = [(str(goal.direction), goal.name) for goal in goals] if len(goals) > 1 else [(a.direction, a.objective)]
    words = f"{place}: {len(a):,} rows, {len(a.space)} {many}, {printable(aim_in_words(pairs, a.notes))}"
    return textwrap.fill(words, line_width(options.output), break_long_words=False, break_on_hyphens=False)


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def as_rows(columns: Mapping[str, Sequence[Cell]]) -> list[dict[str, Cell]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_json(answer: Mapping[str, Any]) -> str:
    text = json.dumps(answer, indent=1, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def notes_aside(notes: Iterable[Note], options: argparse.Namespace) -> None:
    for note in worded(notes, options):
        complain(note)


def look(options: argparse.Namespace) -> TerminalStyle:
    alone, most = getattr(options, "quiet", False), getattr(options, "top", 0)
    return TerminalStyle(line_width(options.output), wants_colour(options.output), alone, most)


def answer(
    options: argparse.Namespace,
    result: Table,
    data: dict[str, Any],
    drawn: Callable[[TerminalStyle], str],
    notes: Sequence[Note] | None,
    *,
    a: Analysis | None = None,
    aside: Sequence[Note] | None = None,
) -> int:
    """The result as it is `drawn`, or in one of the forms for scripts and documents; JSON holds `data`.

    `aside` are the notes for forms that have no place for them, where these are not all.
    """
    if options.format == "text":
        words = draw_notes(worded(notes or (), options), width=line_width(options.output))
        parts = "" if a is None else heading(a, options), drawn(look(options)), words
        emit(paragraphs(*parts), options.output, coloured=True)  # names were made printable where they were drawn
        return 0
    if a is not None:
        data = {"objective": a.objective, "direction": a.direction, "rows": len(a), "dropped": a.data.dropped} | data
    data = data if notes is None else data | {"notes": list(notes)}
    match options.format:
        case "json":
            emit(as_json(data), options.output)
        case "arrow":
            emit_arrow(result.to_dict(), data, options.output)
        case form:
            emit(getattr(result, f"to_{form}")(), options.output)
            notes_aside(notes or () if aside is None else aside, options)
    return 0


# --- Arrow: a file gets the random-access form (Feather 2), a pipe the streaming form ----------------


def emit_arrow(columns: Mapping[str, Sequence[Cell]], answer: Mapping[str, Any], output: str | None) -> None:
    """The table to the file or the pipe; of the answer, everything that is no table goes along."""
    if output is None and sys.stdout.isatty():
        raise QueryError("--format arrow is no text; name a file with -o, or pipe it into what reads Arrow")
    about = {
        key: value
        for key, value in answer.items()
        if not (isinstance(value, list) and value and isinstance(value[0], Mapping))
    }
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingLibraryError("--format arrow needs pyarrow; pip install 'pedanova[arrow]'") from None
    types = {"text": pa.string(), "truth": pa.bool_(), "whole": pa.int64(), "number": pa.float64()}
    arrays = {name: typed(cells) for name, cells in columns.items()}
    metadata = {KEY: json.dumps(about, ensure_ascii=False).encode()}
    table = pa.table(
        [pa.array(cells, types[kind]) for kind, cells in arrays.values()], names=list(arrays), metadata=metadata
    )
    sink = pa.BufferOutputStream()
    open_writer = pa.ipc.new_stream if output is None else pa.ipc.new_file
    with open_writer(sink, table.schema) as writer:
        writer.write_table(table)
    content = bytes(sink.getvalue())
    if output is not None:
        write_file(Path(output), content)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def typed(cells: Sequence[Cell]) -> tuple[str, Sequence[Cell]]:
    """One type for a column: what is empty throughout holds numbers; what is of several kinds is text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {float} or kinds == {float, int}:
        return "number", [None if cell is None else float(cell) for cell in cells]
    if kinds == {int}:
        return "whole", cells
    if kinds == {bool}:
        return "truth", cells
    return "text", [None if cell is None else str(cell) for cell in cells]
