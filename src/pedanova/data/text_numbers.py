"""Numbers that a table keeps as text: plain ones, decimal commas, thousands, percent signs, 2k and units.

A column is read in one `Form` or not at all: the first form that every text in it has. Which forms a part of a
column may have is found part by part; what all parts may have is the form of the whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import Column, some
from pedanova.errors import Arg
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter
from pedanova.space.values import Label

Number: TypeAlias = int | float
FormName: TypeAlias = Literal["plain", "thousands", "comma", "percent", "scaled", "unit"]
GAP_WORDS = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "-", "--", "?")
)  # in a column of numbers, whatever their capitals
# As pyarrow reads numbers: no underscores, no digits of other scripts.
WHOLE = re.compile(r"[+-]?[0-9]+")
HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,15}")
REAL = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([ ,'_\u00a0\u202f][0-9]{3})+(\.[0-9]+)?")
GROUP = re.compile(r"[ ,'_\u00a0\u202f]")
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+|[1-9][0-9]{0,2}(\.[0-9]{3})+),[0-9]+([eE][+-]?[0-9]+)?")
BEHIND = re.compile(r"(?P<number>.*?[0-9.])\s*(?P<unit>[a-zA-Zµμ°/²³]{1,8}|%)")
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
LONGEST = 60  # letters of a number with its unit
PEEK = 20  # texts by which most columns of words are told at once


@dataclass(frozen=True, slots=True)
class Form:
    """How the numbers of a column are written."""

    name: FormName
    unit: str = ""

    def read(self, text: str) -> Number | None:
        plain = text.strip().replace("\u2212", "-")  # a minus sign as typesetters have it
        return READERS[self.name](plain) if self.name != "unit" else _read_unit(plain, self.unit)


PLAIN = Form("plain")


def read_plain(text: str) -> Number | None:
    if WHOLE.fullmatch(text) or HEXADECIMAL.fullmatch(text):
        number = int(text, 16 if "x" in text.lower() else 10) if len(text) < 400 else math.inf
        return number if -(2**63) <= number < 2**63 else float(text)
    return float(text) if REAL.fullmatch(text) else None


def _read_thousands(text: str) -> Number | None:
    return read_plain(GROUP.sub("", text) if GROUPED.fullmatch(text) else text)


def _read_comma(text: str) -> Number | None:
    if DECIMAL_COMMA.fullmatch(text):
        return read_plain(text.replace(".", "").replace(",", "."))
    return read_plain(text) if "." not in text else None


def _read_percent(text: str) -> Number | None:
    number = _read_any(text[:-1].strip()) if text.endswith("%") else 0.0 if read_plain(text) == 0 else None
    return None if number is None else number / 100


def _read_scaled(text: str) -> Number | None:
    number = _read_any(text[:-1].strip()) if text[-1:] in SCALES else read_plain(text)
    scaled = None if number is None else number * SCALES.get(text[-1:], 1)
    return int(scaled) if isinstance(scaled, float) and scaled.is_integer() and abs(scaled) < 2**53 else scaled


def _read_unit(text: str, unit: str) -> Number | None:
    if text.endswith(unit) and len(text) > len(unit):
        return _read_any(text[: -len(unit)].strip())
    return 0 if read_plain(text) == 0 else None


def _read_any(text: str) -> Number | None:
    number = read_plain(text)
    return number if number is not None else _read_comma(text)


READERS: dict[str, Callable[[str], Number | None]] = {
    "plain": read_plain,
    "thousands": _read_thousands,
    "comma": _read_comma,
    "percent": _read_percent,
    "scaled": _read_scaled,
}


def is_gap(label: Label) -> bool:
    """Whether a text among numbers stands for no value."""
    return isinstance(label, str) and label.strip().lower() in GAP_WORDS


def forms_of(labels: Sequence[Label]) -> tuple[Form, ...]:
    """Every form in which all of the labels are numbers or gaps, the likeliest first; none for words.

    Examples
    --------
    >>> [form.name for form in forms_of(["1e-3", "0.1"])], [form.name for form in forms_of(["adam", "sgd"])]
    (['plain'], [])
    """
    every = every_form(labels)
    return every[:1] if PLAIN in every else every


def every_form(labels: Sequence[Label]) -> tuple[Form, ...]:
    """As `forms_of`, with those that plain numbers have too: other rows of the column may need them."""
    if any(isinstance(label, bool) for label in labels):
        return ()
    texts = _texts(labels)
    if not texts:  # numbers as they are, with words for gaps among them
        return (PLAIN,) if any(not isinstance(label, str) for label in labels) else ()
    few = texts[:PEEK]
    if not any(char.isdigit() for text in few for char in text):
        return ()
    units = dict.fromkeys(match["unit"] for text in few if (match := BEHIND.fullmatch(text.strip()[:LONGEST])))
    own = [Form("unit", unit) for unit in units if unit not in SCALES and unit != "%"]
    forms = [PLAIN, *(Form(name) for name in ("thousands", "comma", "percent", "scaled")), *own]
    return tuple(form for form in forms if reads_all(form, few) and reads_all(form, texts))


def reads_all(form: Form, labels: Sequence[Label]) -> bool:
    return all(form.read(text) is not None for text in _texts(labels))


def _texts(labels: Sequence[Label]) -> list[str]:
    return [label for label in labels if isinstance(label, str) and not is_gap(label)]


def in_form(column: Column, form: Form) -> Column:
    """The column as numbers; texts that are none are gaps."""
    read = [_number(label, form) for label in column.labels or ()]
    whole = all(isinstance(number, int) for number in read if number is not None)
    kind = np.int64 if whole else np.float64
    table = np.array([0 if number is None else number for number in [*read, None]], dtype=kind)
    gaps = np.array([number is None for number in [*read, None]], dtype=bool)
    codes = np.where(column.absent(), len(read), column.values)
    return Column(column.name, table[codes], None, some(gaps[codes]))


def _number(label: Label, form: Form) -> Number | None:
    number = form.read(label) if isinstance(label, str) else label
    return None if number is None or (isinstance(number, float) and math.isnan(number)) else number


def as_numbers(column: Column, *, decimal: str | None = None) -> tuple[Column, Note] | None:
    """A column of text that is all numbers as those numbers, and a note; None for any other column."""
    forms = forms_of(column.labels) if column.labels else ()
    if not forms:  # words, or numbers that are no text
        return None
    form = next((form for form in forms if decimal == "," and form.name == "comma"), forms[0])
    unsure = decimal is None and {"thousands", "comma"} <= {form.name for form in forms}
    return in_form(column, form), note_on(column, form, unsure=unsure)


def note_on(column: Column, form: Form, *, unsure: bool = False) -> Note:
    if form == PLAIN:
        return Note("space", "numbers kept as text, read as numbers", subject=column.name)
    text = min((text for text in _texts(column.labels or ()) if read_plain(text.strip()) is None), default="")
    number = form.read(text)
    words = f"texts such as {text!r} read as numbers, here {number if number is None else f'{number:.15g}'}"
    if not unsure:
        return Note("space", words, subject=column.name)
    return Note(
        "doubt",
        f"{words}; pass ",
        Arg("decimal", ",", of="Reading"),
        " if the comma is a decimal one",
        subject=column.name,
    )


def for_domain(column: Column, parameter: Parameter) -> Column:
    """A column as its domain needs it.

    Text is numbers where the domain is one of numbers: in the form that fits the domain best. Where an empty
    text is one of the choices, it is no gap.
    """
    if isinstance(parameter, Categorical | Ordinal) and column.labels is not None and not parameter.when:
        choices = parameter.choices if isinstance(parameter, Categorical) else parameter.values
        blank = next((choice for choice in choices if isinstance(choice, str) and not choice.strip()), None)
        if blank is not None:
            codes = np.where(column.absent(), len(column.labels), column.values).astype(np.int32)
            return Column(column.name, codes, (*column.labels, blank))
    words = isinstance(parameter, Ordinal) and any(isinstance(value, str | bool) for value in parameter.values)
    if not column.labels or words or not isinstance(parameter, Ordinal | Float | Int | Moving):
        return column
    readings = [in_form(column, form) for form in forms_of(column.labels)]
    if not readings:
        return column
    return next((one for one in readings if _lies_in(one, parameter)), readings[0])


def _lies_in(column: Column, parameter: Parameter) -> bool:
    if isinstance(parameter, Moving):
        return True
    grid = grid_of(parameter)
    present = column.values[~column.absent()]
    return bool((grid.locate(present) != grid.outside).all())
