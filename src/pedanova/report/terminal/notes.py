"""Notes for the terminal: few warnings first, what was guessed in one line for each kind, the rest on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pedanova.base.notes import Note, gathered, ranged
from pedanova.errors import Arg, Word, listed

MOST_NAMES = 8
MOST_ANSWERS = 4
GROUPS: dict[str, tuple[str, tuple[Word, ...]]] = {
    "space": ("domains guessed from the data: ", ("; pass ", Arg("space"), " to give them")),
    "condition": ("taken as conditional, for gaps follow another parameter: ", ()),
    "unused": ("left out: ", ("; name in ", Arg("params"), " what is a setting")),
}


def in_short(notes: Iterable[Note]) -> list[Note]:
    """Warnings, how the answer was found, one note for each kind of guess, then how many more there are."""
    every = list(notes)
    warnings = ranged(gathered(note for note in every if note.severity == "warning"))
    rest = [note for note in every if note.severity != "warning"]
    answers = ranged(gathered(note for note in rest if note.kind == "answer"))
    few = answers[:MOST_ANSWERS]
    shown = [*warnings, *few, *_joined(rest, "direction"), *_joined(rest, "rows"), *_groups(rest)]
    kinds = {"answer", "direction", "rows", *GROUPS}
    hidden = len(answers) - len(few) + sum(note.kind not in kinds for note in rest)
    spoken = sum(note.kind in GROUPS and bool(note.subject) for note in rest)
    if more := hidden + spoken:
        shown.append(Note("source", f"{more} note{'s' if more > 1 else ''} in full: ", Arg("notes", True)))
    return shown


def _joined(notes: Sequence[Note], kind: str) -> list[Note]:
    """The sentences of a kind as one."""
    words: list[Word] = []
    for note in ranged(note for note in notes if note.kind == kind):
        subject = f"{note.subject}: " if note.subject else ""
        words += ["; " if words else "", subject, *note.words]
    return [Note(kind, *words, severity="info")] if words else []  # type: ignore[arg-type]


def _groups(notes: Sequence[Note]) -> list[Note]:
    groups = []
    for kind, (before, behind) in GROUPS.items():
        names = list(dict.fromkeys(note.subject for note in notes if note.kind == kind and note.subject))
        if names:
            groups.append(Note(kind, before, listed(names, most=MOST_NAMES), *behind))  # type: ignore[arg-type]
        groups += [note for note in notes if note.kind == kind and not note.subject]
    return groups
