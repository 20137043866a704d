"""What separates the fields of a text file: given, told by the suffix, or found in its first lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pedanova.errors import Arg, QueryError
from pedanova.sources.tables.opening import open_text, suffix_of

USUAL = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
OTHERS = (",", ";", "\t", "|")
LOOK_AT = 6  # lines
LONGEST = 1 << 20  # letters of a line that is looked at
NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}


def as_delimiter(given: object) -> str | None:
    """One sign, or the name of one; None where it is to be found."""
    if given is None:
        return None
    sign = NAMES.get(given, given) if isinstance(given, str) else given
    if not isinstance(sign, str) or len(sign) != 1 or sign in '"\r\n':
        raise QueryError(Arg("delimiter", given), " must be one sign, such as ';', or 'tab'")
    return sign


def find_delimiter(file: Path) -> str:
    """The usual one, unless the heading has no such sign and another one cuts all first lines alike."""
    usual = USUAL.get(suffix_of(file), ",")
    lines = first_lines(file)
    if not lines or _fields(lines[:1], usual)[0] > 1:
        return usual
    cuts = {sign: _fields(lines, sign) for sign in OTHERS if sign != usual}
    found = [sign for sign, counts in cuts.items() if counts[0] > 1]
    even = [sign for sign in found if len(set(cuts[sign])) == 1]
    return max(even or found, key=lambda sign: cuts[sign][0], default=usual)


def first_lines(file: Path) -> list[str]:
    with open_text(file) as text:
        lines = islice(iter(lambda: text.readline(LONGEST), ""), LOOK_AT)
        return [line for line in lines if line.strip()]


def _fields(lines: Sequence[str], sign: str) -> list[int]:
    try:
        return [len(row) for row in csv.reader(lines, delimiter=sign) if row] or [0]
    except csv.Error:
        return [0]
