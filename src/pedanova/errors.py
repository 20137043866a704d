"""Every exception that pedanova raises on purpose.

A message names the value, the rule it breaks and the remedy, in one line.
"""

from __future__ import annotations


class PedanovaError(Exception):
    """Base class: catch this to catch everything that a user's input can cause."""

    def __str__(self) -> str:  # one line, whatever letters a name of the user's has
        return " ".join(super().__str__().splitlines())


class DataError(PedanovaError, ValueError):
    """The table cannot be used as it is: an objective, a column or a file is at fault."""


class SpaceError(PedanovaError, ValueError):
    """A search space contradicts itself or the data."""


class OutsideSpaceError(SpaceError):
    """A value lies outside the space that was given for it."""


class QueryError(PedanovaError, ValueError):
    """A question that cannot be answered: a target, region or option out of range."""


class LevelsError(QueryError):
    """The question needs a threshold that was not counted, and the data is no longer at hand."""


class MergeError(PedanovaError, ValueError):
    """Two tallies or analyses count different things and cannot be added."""


class FormatError(PedanovaError, ValueError):
    """A file is not what its name says, or was damaged."""


class PartError(FormatError):
    """Some rows of a table cannot be read; `part` names them."""

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message, part)  # both, so that it survives the way from another process
        self.part = part

    def __str__(self) -> str:
        return str(self.args[0])


class WorkerError(PedanovaError, RuntimeError):
    """A worker of an executor was lost, or failed in a way that is not about the data."""


class UnknownParameterError(PedanovaError, KeyError):
    """A name that is not among the parameters."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return " ".join(str(self.args[0]).splitlines()) if self.args else ""


class MissingLibraryError(PedanovaError, ImportError):
    """An optional library is needed; the message names the extra to install."""


def unknown_name(name: object, known: tuple[str, ...], *, what: str = "parameter", most: int = 1) -> str:
    """One line for a name that is not there, with the nearest ones that are, in capitals or not."""
    from difflib import get_close_matches

    small = {other.lower(): other for other in reversed(known)}
    near = [repr(small[found]) for found in get_close_matches(str(name).lower(), small, n=most)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {listed(known)}"
    return f"no {what} is called {name!r}; {hint}"


def listed(names: tuple[str, ...] | list[str], *, most: int = 8) -> str:
    """Names joined by commas, cut short when there are many."""
    shown = ", ".join(repr(name) if not name.isidentifier() else name for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else (shown or "none")
