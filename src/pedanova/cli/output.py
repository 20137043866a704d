"""Print an answer in the chosen format, with its notes, to the terminal or to a file."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.options import as_typed
from pedanova.base.digits import short
from pedanova.base.files import write_file
from pedanova.base.notes import Note, gathered, in_order
from pedanova.base.table import Cell, Table, finite
from pedanova.base.terminal import printable, shorten, wrapped
from pedanova.cli.parser import BY_COMMAND
from pedanova.data.observations import Observations
from pedanova.report.sentences import contents_in_words, doubts_in_words, left_out_in_words
from pedanova.report.terminal.tables import TerminalStyle, draw_notes, in_short
from pedanova.space.parameters import Space

MOST_SETTINGS = 4  # parameters of a row that is shown in one line
NARROWEST, WIDEST, UNKNOWN = 40, 120, 100  # columns of a terminal, and of a file


def complain(message: str) -> None:
    """Print a message as one line on the error stream; control characters are replaced by �."""
    print(f"pedanova: {printable(' '.join(message.split()))}", file=sys.stderr)


def worded(notes: Iterable[Note], options: argparse.Namespace, *, headed: Sequence[Note] = ()) -> list[str]:
    """The notes as text: none with ``--quiet``, all with ``--notes``, otherwise a short selection.

    The notes in `headed`, which a heading contains, are left out of the selection.
    """
    if getattr(options, "quiet", False):
        return []
    ordered = in_order(notes)
    if getattr(options, "notes", False):
        return [note.in_shell() for note in gathered(ordered)]
    shown = [note for note in ordered if note not in headed and not (headed and note.kind == "unused" and note.subject)]
    return [note.in_shell() for note in in_short(shown, len(gathered(ordered)))]


def wants_colour(output: str | None = None) -> bool:
    """Whether to print colours: only in a terminal that supports them, and only if NO_COLOR is not set."""
    able = os.environ.get("TERM", "") != "dumb" and (os.name != "nt" or "WT_SESSION" in os.environ)
    return output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and able


def line_width(output: str | None = None) -> int:
    """The width of the terminal in characters; for files and pipes a fixed width, so that output is reproducible."""
    if output is not None:
        return UNKNOWN
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((UNKNOWN, 24)).columns))


def emit(text: str, output: str | None, *, coloured: bool = False) -> None:
    """Write the text to the file `output` or to the terminal; unless `coloured`, control characters are replaced."""
    if output is not None:
        write_file(Path(output), text.encode())
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may not have all characters
    if sys.stdout.isatty() and not coloured:
        text = "\n".join(map(printable, text.split("\n")))
    sys.stdout.write(text)
    sys.stdout.flush()


def shown_place(place: str) -> str:
    """The source for display: a URL without its password, an object-store address without its query, or the path."""
    from pedanova.sources.databases import without_password
    from pedanova.sources.scans.objects import is_object, shown_address

    if is_object(place):
        return shown_address(place)
    return without_password(place) if "://" in place else place


def heading(a: Analysis, options: argparse.Namespace) -> str:
    """The source and its contents in one line, and a list of all that was guessed about its columns; a path is never
    broken."""
    if getattr(options, "quiet", False):
        return ""
    first = f"{printable(shown_place(options.file))}: {contents_in_words(a.data)}{_ends(a)}"
    points = [
        *(note.in_shell() for note in _guesses(a)),
        *(words(a.data) for words in (doubts_in_words, left_out_in_words)),
    ]
    width = line_width(options.output)
    lines = [wrapped(printable(words), width, before="- ", behind="  ", whole=True) for words in points if words]
    return "\n".join([wrapped(first, width, whole=True), *lines])


def _guesses(a: Analysis) -> list[Note]:
    """The notes on what was guessed or is doubtful about the table as a whole."""
    whole = [note for note in in_order(a.notes) if not note.subject or note.kind == "status"]
    always = ("objective", "status", "space", "doubt")
    return [note for note in whole if note.kind in always or (note.kind == "rows" and note.severity == "warning")]


def _ends(a: Analysis) -> str:
    """If the direction is a guess, the option for the other one; if it is uncertain, also the rows with the lowest and
    the highest objective."""
    rows = a.data.observations
    guesses = [note.severity for note in a.notes if note.kind == "direction"]
    if not guesses or (rows is not None and len(rows.goals) > 1):
        return ""
    other = "min" if a.direction == "maximize" else "max"
    remedy = f"; pass --direction {other} if {'lower' if other == 'min' else 'higher'} is better"
    if "warning" not in guesses or rows is None:
        return remedy
    values = np.where(np.isfinite(rows.goals[0].values), rows.goals[0].values, np.nan)
    kept = values if rows.keep is None else np.where(rows.keep, values, np.nan)
    ends = {"lowest": int(np.nanargmin(kept)), "highest": int(np.nanargmax(kept))}
    shown = [f"{end} {short(kept[row].item())} in row {row}: {_settings(rows, row)}" for end, row in ends.items()]
    return f": {'; '.join(shown)}{remedy}"


def _settings(rows: Observations, row: int) -> str:
    names = list(rows.space)[:MOST_SETTINGS]
    cells = {name: rows.table[name].value_at(row) for name in names if not rows.table[name].absent()[row]}
    words = {name: short(value) if isinstance(value, float) else str(value) for name, value in cells.items()}
    shown = ", ".join(f"{shorten(name)}={shorten(word)}" for name, word in words.items())
    return shown + (", …" if len(rows.space) > len(names) else "")


def command_line(name: str, options: argparse.Namespace, *words: str, **changed: str) -> str:
    """The shell command `name` with the source and options of this call; `changed` contains new values for options."""
    given = vars(options) | changed
    typed = as_typed(given, (option for option in BY_COMMAND[name].options if option.group != "output"))
    return " ".join(map(quoted, ["pedanova", name, shown_place(options.file), *words, *typed]))


def quoted(text: str) -> str:
    """Quote the text for a shell, with double quotes if it contains single quotes."""
    return f'"{text}"' if "'" in text and not {*'"$`\\!'} & {*text} else shlex.quote(text)


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def as_rows(columns: Mapping[str, Sequence[Cell]]) -> list[dict[str, Cell]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_json(answer: Mapping[str, Any]) -> str:
    text = json.dumps(finite(dict(answer)), indent=1, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def notes_aside(notes: Iterable[Note], options: argparse.Namespace) -> None:
    for note in worded(notes, options):
        complain(note)


def look(options: argparse.Namespace) -> TerminalStyle:
    alone, most = getattr(options, "quiet", False), getattr(options, "top", 0)
    return TerminalStyle(line_width(options.output), wants_colour(options.output), alone, most)


def print_answer(
    options: argparse.Namespace,
    result: Table,
    draw: Callable[[Any, TerminalStyle], str],
    *,
    a: Analysis | None = None,
    more: Mapping[str, Any] | None = None,
    notes: Sequence[Note] | None = (),
    aside: Sequence[Note] | None = None,
    gap: str = "\n\n",
) -> int:
    """Print the result in the chosen format; the function `draw` makes the text.

    JSON contains what the command declares, the entries of `more`, and the rows. With CSV, Markdown and LaTeX, notes go
    to the error stream; `aside` replaces them. The string `gap` is printed between the heading and the text.
    """
    if options.format == "text":
        headed = () if a is None else _guesses(a)
        words = draw_notes(worded(notes or (), options, headed=headed), width=line_width(options.output))
        parts = "" if a is None else heading(a, options), draw(result, look(options))
        text = paragraphs(gap.join(part for part in parts if part), words)
        emit(text, options.output, coloured=True)  # names are already printable
        return 0
    if options.format != "json":
        emit(getattr(result, f"to_{options.format}")(), options.output)
        notes_aside(notes or () if aside is None else aside, options)
        return 0
    data: dict[str, Any] = {}
    if a is not None:
        goals = () if a.data.observations is None else a.data.observations.goals
        data |= {"objective": a.objective, "direction": a.direction, "rows": len(a), "dropped": a.data.dropped}
        if len(goals) > 1:
            data |= {"objective": [goal.name for goal in goals], "direction": [goal.direction for goal in goals]}
    command = BY_COMMAND[options.command]
    roles = getattr(options, "roles", False)
    data |= {} if roles else {name: one for entry in command.json for name, one in [member(result, entry, options)]}
    data |= more or {}
    key = "roles" if roles else command.rows or command.name
    data |= {} if key in data else {key: as_rows(result.to_dict())}
    emit(as_json(data if notes is None else data | {"notes": list(notes)}), options.output)
    return 0


def member(result: object, entry: str, options: argparse.Namespace) -> tuple[str, Any]:
    """An attribute of the result (or an option) for JSON; "full=full.budget" has another name there."""
    name, _, path = entry.partition("=")
    path = path or name
    value = attrgetter(path)(result if hasattr(result, path.partition(".")[0]) else options)
    return name, plain(value() if callable(value) else value)


def plain(value: Any) -> Any:
    """A table as a list of its rows, a space or a row as a dict, and other values unchanged."""
    if isinstance(value, Table):
        return as_rows(value.to_dict())
    if isinstance(value, Space):
        return value.to_dict()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
