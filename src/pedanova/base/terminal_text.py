"""Letters as a terminal shows them: how wide they are, and which must never reach it raw."""

from __future__ import annotations

import unicodedata

UNSEEN = "�"  # stands for a letter that would steer the terminal instead of being shown
EIGHTHS = " ▏▎▍▌▋▊▉"
HEIGHTS = " ▁▂▃▄▅▆▇█"


def printable(text: str) -> str:
    """One line without control characters: a name of the user's is shown, never obeyed.

    Examples
    --------
    >>> printable("lr\\x1b[31m\\n")
    'lr�[31m�'
    """
    return "".join(_shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if unicodedata.category(letter) == "Zs" else UNSEEN


def printable_lines(text: str) -> str:
    """Several lines, each of them printable."""
    return "\n".join(printable(line) for line in text.split("\n"))


def width_of(text: str) -> int:
    """Columns of a terminal that a text takes: East Asian letters take two, accents none.

    Examples
    --------
    >>> width_of("lr"), width_of("名前")
    (2, 4)
    """
    if text.isascii():
        return len(text)
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def shorten(text: str, width: int = 40) -> str:
    """A long name cut in its middle; control characters shown, not obeyed."""
    text = printable(text)
    if width_of(text) <= width:
        return text
    half = (width - 1) // 2
    head, tail = _fitting(text, half), _fitting(text[::-1], half)[::-1]
    return f"{head}…{tail}"


def _fitting(text: str, width: int) -> str:
    taken = 0
    for i, letter in enumerate(text):
        taken += _width(letter)
        if taken > width:
            return text[:i]
    return text


def to_left(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def to_right(text: str, width: int) -> str:
    return " " * (width - width_of(text)) + text


def bar(part: float, width: int = 20) -> str:
    """A bar of blocks, an eighth of a block at a time."""
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def sparkline(parts: list[float]) -> str:
    """One letter for each number from 0 to 1; what is above 0 is seen.

    Examples
    --------
    >>> sparkline([0.0, 0.01, 0.5, 1.0])
    ' ▁▄█'
    """
    return "".join(HEIGHTS[max(part > 0, min(8, round(8 * part)))] for part in parts)
