"""All exceptions of pedanova.

A message is one line that names the wrong value, the rule and the remedy. An argument in a message (class `Arg`) is
printed as ``target=2`` in Python and as ``--target 2`` on the command line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable
from copy import copy
from typing import Any, Self, TypeAlias

NOTHING: Any = object()


class Arg:
    """An argument in a message: its name, and its value if one is given; `shown` is printed instead of the value.

    `of` is set if the argument belongs to a class of options, as in ``reading=pa.Reading(nan='worst')``.
    """

    __slots__ = ("_said", "name")

    def __init__(
        self,
        name: str,
        value: Any = NOTHING,
        *,
        shown: str | None = None,
        of: str | None = None,
        said: tuple[str, str] | None = None,
    ) -> None:
        self.name = name
        self._said = said or _said(name, value, shown)
        if of is not None:
            words = self._said[0] if value is not NOTHING else f"{name}=…"
            self._said = f"{of.lower()}=pa.{of}({words})", self._said[1]

    def in_python(self) -> str:
        return self._said[0]

    def in_shell(self) -> str:
        return self._said[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arg) and (self.name, self._said) == (other.name, other._said)

    def __hash__(self) -> int:
        return hash((self.name, self._said))

    def __repr__(self) -> str:
        return self.in_python()


def plainly(value: object) -> str:
    """`repr`, also of integers with more digits than Python writes."""
    try:
        return repr(value)
    except ValueError:
        return f"<{type(value).__name__} with a very long integer>"


def _said(name: str, value: Any, shown: str | None) -> tuple[str, str]:
    option = f"--{name.replace('_', '-')}"
    if shown is not None:
        return f"{name}={shown}", f"{option} {shown}"
    if value is NOTHING:
        return f"{name}=", option
    if isinstance(value, bool):
        return f"{name}={value}", option if value else f"--no-{option[2:]}"
    plain = plainly(value)
    return f"{name}={plain}", f"{option} {value if isinstance(value, str) else plain}"


Word: TypeAlias = str | int | Arg


def in_python(words: Iterable[Word]) -> str:
    """The message as one line, with arguments written as in Python."""
    return _line(word.in_python() if isinstance(word, Arg) else str(word) for word in words)


def in_shell(words: Iterable[Word]) -> str:
    """The message as one line, with options written as on the command line."""
    return _line(word.in_shell() if isinstance(word, Arg) else str(word) for word in words)


def _line(words: Iterable[str]) -> str:
    return " ".join("".join(words).splitlines())


class PedanovaError(Exception):
    """The base class of all errors that a user's input can cause.

    Examples
    --------
    >>> import pedanova as pa
    >>> try:
    ...     pa.analyze(pa.demo_trials(), "eror")
    ... except pa.PedanovaError as error:
    ...     print(type(error).__name__)
    UnknownParameterError
    """

    def __init__(self, *words: Word) -> None:
        super().__init__(*words)
        self.words = words

    def __str__(self) -> str:
        return in_python(self.words)

    def in_shell(self) -> str:
        """The message with options written as on the command line: ``--target`` instead of ``target=``."""
        return in_shell(self.words)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments that the message mentions."""
        return tuple(word.name for word in self.words if isinstance(word, Arg))

    def behind(self, *words: Word) -> Self:
        """A copy of this error with `words`, such as a file name, in front of its message."""
        error = copy(self)
        error.words = error.args = (*words, *self.words)
        return error


class DataError(PedanovaError, ValueError):
    """The table cannot be used, because of its objective, a column or a file.

    **What to do:** correct the data, or leave out rows with ``where=`` or columns with ``exclude=``.
    """


class NoTrialsError(DataError):
    """The source can be read, but it contains no trial yet.

    **What to do:** wait until the first trial has ended; ``explore --watch`` waits for the first trial.
    """


class SpaceError(PedanovaError, ValueError):
    """A search space contradicts itself or the data.

    **What to do:** correct the domain that the message names; ``pedanova space`` writes a space guessed from the data.
    """


class OutsideSpaceError(SpaceError):
    """A value lies outside the given space.

    **What to do:** widen the domain, or keep such rows in a separate bin with ``reading=pa.Reading(outside="count")``.
    """


class QueryError(PedanovaError, ValueError):
    """A question cannot be answered, because a target, a region or an option is out of range.

    **What to do:** use one of the values that the message names.
    """


class TooFewRowsError(QueryError):
    """The target has too few rows for an answer.

    **What to do:** widen the target, or run more trials. ``force=True`` gives an answer, but a very uncertain one.
    """


class LevelsError(QueryError):
    """The question needs a threshold for which no counts are stored, and the data is no longer available.

    **What to do:** use a threshold that the message lists, or analyze the data again. To avoid this error, save the
    rows too: ``save(…, rows=True)``.
    """


class MergeError(PedanovaError, ValueError):
    """Two tallies or analyses have different spaces or levels and cannot be added.

    **What to do:** analyze both tables with the same ``space=``, and the second with ``levels=first.data.levels``.
    """


class FormatError(PedanovaError, ValueError):
    """A file is damaged, or its content does not match its suffix.

    **What to do:** restore the file, or write it again; the message names the damaged line or section. Nothing in the
    file was used.
    """


class PartError(FormatError):
    """Some rows of a table cannot be read; `part` says which rows.

    **What to do:** restore the file, or leave it out with ``scan=pa.Scan(on_error="skip")``; a note then says so.
    """

    def __init__(self, *words: Word, part: str = "") -> None:
        super().__init__(*words)
        self.part = part


class WorkerError(PedanovaError, RuntimeError):
    """A worker of an executor was lost, or failed for a reason that is not in the data.

    **What to do:** run the analysis again. If counting takes hours, analyse a few files at a time, ``save`` each
    analysis, and add the analyses.
    """


class UnknownParameterError(PedanovaError, KeyError):
    """No parameter has the given name.

    **What to do:** use a name that the message proposes, or print ``list(a.space)``.
    """


class MissingLibraryError(PedanovaError, ImportError):
    """An optional library is not installed.

    **What to do:** run the ``pip install`` command in the message.
    """


def missing_library(what: str, extra: str) -> MissingLibraryError:
    """The error for an optional library that is not installed, with the command that installs it."""
    return MissingLibraryError(f"{what}; pip install {' '.join(_libraries_of(extra))}")


def _libraries_of(extra: str) -> list[str]:
    """The requirements of an extra, without pedanova itself, which may not be in any index."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        written = [line.partition(";") for line in requires("pedanova") or ()]
    except PackageNotFoundError:  # the sources are used without being installed
        written = []
    names = [name.strip() for name, _, marker in written if re.search(rf"extra == .{extra}\b", marker)]
    libraries = [shlex.quote(name) for name in names if not name.startswith("pedanova[")]
    inner = [one for name in names for one in re.findall(r"^pedanova\[(.*)\]", name)]
    libraries += [library for own in inner for one in own.split(",") for library in _libraries_of(one)]
    return libraries or [f"'.[{extra}]'"]


def unknown_name(name: object, names: tuple[str, ...], *, what: str = "parameter", most: int = 1) -> str:
    """The message for an unknown name, with up to `most` similar names."""
    from difflib import get_close_matches

    small = {other.lower(): other for other in reversed(names)}
    wanted = str(name).lower()
    behind = [other for other in small if other.endswith((f".{wanted}", f"/{wanted}"))]  # metrics.rmse, config/lr
    near = [repr(small[match]) for match in behind[:most] or get_close_matches(wanted, small, n=most)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose one of: {listed(names)}"
    return f"no {what} is called {name!r}; {hint}"


def check_names(names: Iterable[object], known: Collection[str], *, what: str = "parameter") -> None:
    """Raise an error for the first name that is not in `known`."""
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise UnknownParameterError(unknown_name(name, tuple(known), what=what))


def listed(names: tuple[str, ...] | list[str], *, most: int = 8) -> str:
    """Join names by commas; if there are more than `most` names, write "a, b and 3 more"."""
    shown = ", ".join(repr(name) if not name.isidentifier() else name for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else (shown or "none")
