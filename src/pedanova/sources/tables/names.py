"""Names of columns: text, never empty, never twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pedanova.errors import DataError, PedanovaError

MOST_COLUMNS = 50_000


def as_names(names: Iterable[object], *, where: str = "", error: type[PedanovaError] = DataError) -> list[str]:
    """Names as text; a column without one is numbered in the manner of pandas.

    Examples
    --------
    >>> as_names(["", "lr", ("model", "depth")])
    ['Unnamed: 0', 'lr', 'model.depth']
    """
    names = list(names)
    if len(names) > MOST_COLUMNS:
        raise error(f"{where}{len(names):,} columns are more than {MOST_COLUMNS:,}; is the table turned on its side?")
    known = [_as_name(name) or f"Unnamed: {i}" for i, name in enumerate(names)]
    if len(set(known)) < len(known):
        twice = next(name for name, times in Counter(known).items() if times > 1)
        raise error(f"{where}two columns are called {twice!r}; every column needs its own name")
    return known


def _as_name(name: object) -> str:
    if isinstance(name, tuple):  # a pandas header of several lines
        return ".".join(part for part in map(_as_name, name) if part)
    return "" if name is None else str(name)
