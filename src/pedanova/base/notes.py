"""Notes: remarks on an answer. A note is a sentence with structured content, such as counts and argument names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, get_args

from pedanova.errors import Arg, FormatError, QueryError, TooFewRowsError, Word, in_python, in_shell, listed

Severity: TypeAlias = Literal["info", "guess", "warning"]
Kind: TypeAlias = Literal[
    "source",  # how the data was read, and what the source says about it
    "rows",  # which rows count, and how
    "status",  # rows that may have failed
    "objective",  # the column that is optimised, if it was not given
    "direction",  # the direction of the objective, if it was not given
    "space",  # a domain that was guessed
    "condition",  # when a parameter exists
    "roles",  # the role of columns, if some are not parameters or may not be
    "unused",  # a column or setting that was left out
    "question",  # what target and region mean in these rows
    "answer",  # how the numbers were computed
    "doubt",  # what may make the answer wrong
]
SEVERITIES: dict[str, Severity] = {
    "space": "guess", "condition": "guess", "unused": "guess", "doubt": "warning", "status": "warning"
}  # fmt: skip

ORDER = ("warning", "info", "guess")
MOST_ALIKE = 3  # more notes that differ only in their counts are merged
MOST_SHOWN = 20  # notes of one kind in the full list
ONE_ROW = re.compile(r"(?<![\d,.])1 (of [\d,]+ rows|(?:pruned )?rows|runs|trials|jobs)( [^;:]*)")
OF_ONE = {"have": "has", "are": "is", "were": "was", "count": "counts", "lie": "lies"}


class Count(int):
    """A number of rows in a note. If several parts of a table have the same note, these numbers are added."""

    def __str__(self) -> str:
        return f"{int(self):,}"


class Note(str):
    """A sentence (a `str`) with its kind, the parameter that it is about (`subject`), and its parts (`words`)."""

    kind: Kind
    subject: str
    words: tuple[Word, ...]
    severity: Severity

    def __new__(cls, kind: Kind, *words: Word, subject: str = "", severity: Severity | None = None) -> Note:
        text = ONE_ROW.sub(_of_one_row, in_python(words))
        self = super().__new__(cls, f"{' '.join(subject.split())}: {text}" if subject else text)
        self.kind, self.subject, self.words = kind, subject, words
        self.severity = severity or SEVERITIES.get(kind, "info")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _note, (self.kind, self.words, self.subject, self.severity)

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(int(word) for word in self.words if isinstance(word, Count))

    def about(self, subject: str) -> Note:
        return _note(self.kind, self.words, subject, self.severity)

    def in_shell(self) -> str:
        text = ONE_ROW.sub(_of_one_row, in_shell(self.words))
        return f"{self.subject}: {text}" if self.subject else text

    def is_like(self) -> tuple[Any, ...]:
        """A key that is equal for notes that differ only in their counts."""
        return self.kind, self.subject, tuple(Count if isinstance(w, Count) else w for w in self.words)

    def plus(self, other: Note) -> Note:
        pairs = zip(self.words, other.words, strict=True)
        words = (Count(a + b) if isinstance(a, Count) and isinstance(b, Count) else a for a, b in pairs)
        return _note(self.kind, tuple(words), self.subject, self.severity)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "subject": self.subject,
            "severity": self.severity,
            "words": [*map(_plain, self.words)],
        }

    @classmethod
    def from_dict(cls, plain: object) -> Note:
        if not isinstance(plain, Mapping) or not isinstance(plain.get("words"), list):
            raise FormatError(f"has {str(plain)[:40]!r} instead of a note")
        kind: Any = plain.get("kind")
        subject, severity = plain.get("subject"), plain.get("severity")
        if kind not in get_args(Kind) or severity not in get_args(Severity) or not isinstance(subject, str):
            raise FormatError(f"has a damaged note of kind {str(kind)[:40]!r}")
        return cls(kind, *map(_word, plain["words"]), subject=subject, severity=severity)


def _note(kind: Kind, words: Sequence[Word], subject: str, severity: Severity) -> Note:
    return Note(kind, *words, subject=subject, severity=severity)


def _of_one_row(found: re.Match[str]) -> str:
    """Correct the grammar: "1 rows are dropped" becomes "1 row is dropped"."""
    many = found[1] if found[1].startswith("of") else found[1].removesuffix("s")
    return f"1 {many}" + re.sub(r"\b(?:have|are|were|count|lie)\b", lambda verb: OF_ONE[verb[0]], found[2])


def _plain(word: Word) -> object:
    if isinstance(word, Arg):
        return {"argument": word.name, "shown": [word.in_python(), word.in_shell()]}
    return int(word) if isinstance(word, Count) else str(word)


def _word(plain: object) -> Word:
    match plain:
        case bool():
            pass
        case str():
            return plain
        case int():
            return Count(plain)
        case {"argument": str(name), "shown": [str(python), str(shell)]}:
            return Arg(name, said=(python, shell))
    raise FormatError(f"has a note that contains {str(plain)[:40]!r} instead of text")


def added(notes: Iterable[Note]) -> list[Note]:
    sums: dict[tuple[Any, ...], Note] = {}
    for note in notes:
        key = note.is_like()
        sums[key] = sums[key].plus(note) if key in sums and note.counts else sums.get(key, note)
    return list(sums.values())


def gathered(notes: Iterable[Note]) -> list[Note]:
    """Merge notes that say the same about several subjects into one note."""
    subjects: dict[tuple[Any, ...], dict[str, None]] = {}
    first: dict[tuple[Any, ...], Note] = {}
    for note in notes:
        key = note.kind, note.words
        first.setdefault(key, note)
        subjects.setdefault(key, {})[note.subject] = None
    return [note.about(", ".join(filter(None, subjects[key]))) for key, note in first.items()]


def ranged(notes: Iterable[Note]) -> list[Note]:
    """Merge many notes that differ only in the parameter and the count; the count becomes a range such as "3 to 9"."""
    every = list(notes)
    alike: dict[tuple[Any, ...], list[Note]] = {}
    for note in every:
        alike.setdefault((*note.about("").is_like(), note.severity, not note.subject), []).append(note)
    result = []
    for group in alike.values():
        result += [_as_one(group)] if group[0].subject and len(group) > MOST_ALIKE else group
    return result


def _as_one(notes: Sequence[Note]) -> Note:
    words: list[Word] = []
    for same in zip(*(note.words for note in notes), strict=True):
        counts = [word for word in same if isinstance(word, Count)]
        words.append(f"{min(counts)} to {max(counts)}" if counts and min(counts) < max(counts) else same[0])
    subjects = list(dict.fromkeys(note.subject for note in notes))
    return _note(notes[0].kind, words, listed(subjects), notes[0].severity)


def shortened(notes: Iterable[Note]) -> list[Note]:
    """At most `MOST_SHOWN` notes of each kind, and a note that says how many others there are."""
    kinds: dict[str, list[Note]] = {}
    for note in ranged(gathered(notes)):
        kinds.setdefault(note.kind, []).append(note)
    result = []
    for group in kinds.values():
        more = len(group) - MOST_SHOWN
        result += group[:MOST_SHOWN]
        if more > 0:
            words = f"and {more:,} more {'note' if more == 1 else 'notes'} of this kind; .notes has all of them"
            result.append(Note(group[0].kind, words, severity=group[0].severity))
    return result


@contextmanager
def explaining(notes: Iterable[Note]) -> Iterator[None]:
    """A context manager that extends the message of a `QueryError` by notes on dropped rows and on the direction."""
    try:
        yield
    except QueryError as error:
        kinds = ("rows", "direction") if isinstance(error, TooFewRowsError) else ("direction",)
        words: list[Word] = []
        for note in notes:
            if note.kind in kinds and (not note.counts or note.counts[0]) and note.severity != "guess":
                subject = f"{note.subject}: " if note.subject else ""
                words += ["; " if words else " (", subject, *note.words]
        raise type(error)(*error.words, *words, *([")"] if words else [])) from None


def in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Sort notes by severity: warnings, information, guesses. Notes whose count is 0 are left out."""
    relevant = (note for note in notes if not note.counts or note.counts[0])
    return tuple(sorted(relevant, key=lambda note: ORDER.index(note.severity)))
