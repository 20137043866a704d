"""Results that are logged step by step: the last of each counts, and the trials should have run equally long."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pedanova.base.notes import Note
from pedanova.data.records import Point
from pedanova.errors import Arg, DataError, FormatError, PedanovaError
from pedanova.sources.kind import read_text
from pedanova.sources.logs.trials import Trial


def read_steps(file: Path) -> list[dict[str, float]]:
    """The rows of a CSV of metrics, numbers alone; a last line that is still being written is left out."""
    lines = read_text(file).splitlines(keepends=True)
    try:
        header, *rows = csv.reader(lines) if lines else [[]]
    except csv.Error as error:
        raise FormatError(f"{file}: {error}; was it cut off?") from None
    if rows and not lines[-1].endswith("\n") and len(rows[-1]) < len(header):
        rows.pop()
    names = [name.strip() for name in header]
    return [_numbers(names, row) for row in rows]


def _numbers(names: Sequence[str], row: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, text in zip(names, row, strict=False):
        value = as_number(text)
        if name and value is not None:
            found[name] = value
    return found


def as_number(text: str) -> float | int | None:
    """A number as it is written; NaN is one, an empty field is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def last_values(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    """The last value of every column, as rows may hold only some of them."""
    last: dict[str, float] = {}
    for row in rows:
        last |= row
    return last


def read_points(places: Sequence[Path], read: Callable[[Path], Iterable[tuple[float, float]]]) -> Iterator[Point]:
    """Steps and values of each place, which are the rows in this order; what cannot be read has none."""
    for row, place in enumerate(places):
        try:
            found = list(read(place))
        except PedanovaError:
            continue
        yield from ((row, step, value) for step, value in found)


def check_results(trials: Sequence[Trial], folder: Path, where: str) -> None:
    """Refuse runs of which none has any result: whoever is asked for an objective then would look in vain."""
    if trials and not any(trial.results for trial in trials):
        raise DataError(f"{folder}: none of {len(trials):,} runs has a result {where}; wait for the first, or log some")


def length_notes(trials: Iterable[Trial], name: str, what: str) -> list[Note]:
    """A note where trials that ended are of different lengths, since their last results are compared."""
    ended = (trial.other.get(name) for trial in trials if trial.state == "COMPLETE")
    lengths = Counter(one for one in ended if isinstance(one, int | float) and math.isfinite(one))
    if len(lengths) < 2:
        return []
    words = f"trials ran for {min(lengths):,} to {max(lengths):,} {what}, and their last results are compared; pass "
    return [Note("rows", words, Arg("where", shown=f'"{name} == {max(lengths)}"'), " for those that ran longest")]
