"""One column of a table in memory: numbers, or integer codes with labels.

Text such as "1,5", "20%", "2k", "3 ms" or "[4]" is read as numbers, in the first number format (`Form`) that fits all
values.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.notes import Note
from pedanova.errors import Arg, DataError
from pedanova.space.grid import Cells, Grid, grid_of
from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter
from pedanova.space.values import Interval, Label, Value, as_real, shown

Numbers: TypeAlias = NDArray[Any]  # (rows,) bool, integer, float32 or float64, any stride
Mask: TypeAlias = NDArray[np.bool_]  # (rows,)
MISSING_CODE = -1
MANY_VALUES = 1 << 20  # more values are examined by the threads of the kernel


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one column.

    ``values`` are numbers, or integer codes (indices of ``labels``) if the column has labels. A value is missing if
    it is NaN, if its code is negative, or if ``missing`` is True. Dates and durations keep their NumPy type and cannot
    be counted.
    """

    name: str
    values: Numbers
    labels: tuple[Label, ...] | None = None
    missing: Mask | None = None
    located: bool = False  # whether the values are already cells of the parameter's grid

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_coded(self) -> bool:
        return self.labels is not None

    @property
    def is_time(self) -> bool:
        return self.values.dtype.kind in "mM"

    def absent(self) -> Mask:
        if self.is_coded or self.located:
            gone = self.values < 0
        elif self.values.dtype.kind == "f":
            gone = np.isnan(self.values)
        elif self.is_time:
            gone = np.isnat(self.values)
        else:
            gone = np.zeros(len(self), dtype=bool)
        return gone | self.missing if self.missing is not None else gone

    def value_at(self, row: int) -> object:
        value = self.values[row]
        return self.labels[int(value)] if self.labels is not None else value.item()


def as_column(name: str, values: object) -> Column:
    """Make a column from an array, a list or any other one-dimensional sequence."""
    if isinstance(values, Column):
        return Column(name, values.values, values.labels, values.missing)
    mask = None
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):  # it is slow to import
        mask = np.ma.getmaskarray(values)
        values = values.data
    array = values if isinstance(values, np.ndarray) else _as_array(name, values)
    if array.ndim != 1:
        raise DataError(f"{name}: an array of shape {array.shape} is not one-dimensional; give one value per row")
    column = _from_array(name, array)
    if mask is None or not mask.any():
        return column
    both = mask if column.missing is None else mask | column.missing
    return Column(name, column.values, column.labels, both)


def _as_array(name: str, values: object) -> NDArray[Any]:
    if hasattr(values, "__array__") and not isinstance(values, np.generic):  # tensors, pandas' arrays
        return np.asarray(values)
    unordered = isinstance(values, str | bytes | Mapping | Set)
    if unordered or not isinstance(values, Iterable):
        raise DataError(f"{name}: {shown(values)} is not a column; give an array or a list with one value per row")
    rows = values if isinstance(values, Sequence) else list(values)
    return np.fromiter(rows, dtype=object, count=len(rows))  # each list in it is a single value


def _from_array(name: str, array: NDArray[Any]) -> Column:
    kind = array.dtype.kind
    if kind in "biu" or (kind == "f" and array.dtype.itemsize in (4, 8)):
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        return Column(name, native)
    if kind == "f":
        with np.errstate(over="ignore"):  # a long double may be too large and becomes infinite
            return Column(name, array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64))
    if kind in "US":
        labels, codes = np.unique(array, return_inverse=True)
        texts = tuple(as_text(x) if isinstance(x, bytes) else x for x in labels.tolist())
        return recoded(Column(name, codes.astype(np.int32, copy=False), texts))
    if kind in "mM":
        return Column(name, array)
    if kind in "OT":
        return _from_objects(name, array.tolist())
    raise DataError(f"{name}: values of type {array.dtype} cannot be used; give numbers, text or booleans")


def recoded(column: Column) -> Column:
    """The same column with empty texts replaced by missing values."""
    labels = column.labels or ()
    full = [not isinstance(label, str) or bool(label.strip()) for label in labels]
    if all(full):
        return column
    table = np.full(len(labels) + 1, MISSING_CODE, dtype=np.int32)
    table[:-1][full] = np.arange(sum(full))
    kept = tuple(label for label, stays in zip(labels, full, strict=True) if stays)
    return replace(column, values=table[np.where(column.values < 0, len(labels), column.values)], labels=kept)


def _from_objects(name: str, rows: list[object]) -> Column:
    if set(map(type, rows)) <= {float, type(None)}:  # the most common case, without a loop in Python
        numbers = np.array(rows, dtype=np.float64)
        if not np.isnan(numbers).all():
            return Column(name, numbers)
    plain = [plain_value(value) for value in rows]
    kinds = {type(value) for value in plain if value is not None}
    missing = np.array([value is None for value in plain], dtype=bool)
    if kinds == {bool}:
        return Column(name, np.array([value is True for value in plain]), None, some(missing))
    if kinds == {int}:
        whole: Numbers = np.array([0 if value is None else value for value in plain], dtype=np.int64)
        return Column(name, whole, None, some(missing))
    if kinds and kinds <= {int, float}:
        return Column(name, np.array([math.nan if value is None else value for value in plain], dtype=np.float64))
    return encode(name, plain)


def encode(name: str, plain: Iterable[object]) -> Column:
    """Make a column of integer codes; labels are in alphabetical order, and None is a missing value."""
    rows = [str(v) if isinstance(v, float) and math.isinf(v) else v for v in plain]
    if set(map(type, rows)) <= {str, type(None)}:  # the most common case, in a fraction of the time
        texts = sorted({*rows} - {None})  # type: ignore[type-var]
        places = {None: MISSING_CODE} | {text: i for i, text in enumerate(texts)}
        return Column(name, np.fromiter(map(places.__getitem__, rows), np.int32, len(rows)), tuple(texts))  # type: ignore[arg-type]
    # The type is part of the key, so that True, 1 and '1' are three different labels.
    keys = {(type(value).__name__, value): str(value) for value in rows if value is not None}
    ordered = sorted(keys, key=lambda key: (keys[key], key[0]))
    code = {key: i for i, key in enumerate(ordered)}
    codes = [MISSING_CODE if v is None else code[type(v).__name__, v] for v in rows]
    clash = len({value for _, value in ordered}) < len(ordered)  # such as True and 1
    labels = tuple(str(value) if clash else value for _, value in ordered)
    if len(set(labels)) < len(labels):
        labels = tuple(f"{value} ({kind})" for kind, value in ordered)
    return Column(name, np.array(codes, dtype=np.int32), labels)  # type: ignore[arg-type]


def plain_value(value: object) -> Label | None:
    """Convert a value to a plain Python number, boolean or text; a missing value becomes None."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = str.__str__(value)  # also for NumPy strings and enums
        return text if text.strip() else None
    if isinstance(value, bytes):
        return as_text(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, np.generic):
        return plain_value(float(value) if isinstance(value, np.floating) else value.item())
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else as_real(value)
    if isinstance(value, float | Decimal | Fraction):
        number = as_real(value)
        return None if math.isnan(number) else number
    if type(value).__name__ in ("NAType", "NaTType") or value is np.ma.masked:
        return None
    return str(value)


def as_text(value: bytes) -> str:
    return value.decode(errors="backslashreplace")


def some(mask: Mask) -> Mask | None:
    return mask if mask.any() else None


def all_finite(values: Numbers, *, threads: int = 1) -> bool:
    if values.dtype.kind != "f":
        return True
    if len(values) > MANY_VALUES and kernel.available() and kernel.is_usable(values):
        return bool(kernel.call("all_finite", *kernel.column_of(values), len(values), threads))
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(values, dtype=np.float64)
    return bool(np.isfinite(total)) or bool(np.isfinite(values).all())


def count_nan(objective: NDArray[Any]) -> int:
    return 0 if all_finite(objective) else int(np.isnan(objective).sum())


def values_in(column: Column) -> list[Any]:
    """The values or labels of all rows as plain Python values, dates as text; None for missing values."""
    values = column.values.astype(str) if column.is_time else column.values
    pairs = zip(values.tolist(), column.absent().tolist(), strict=True)
    labels = column.labels
    return [None if gone else value if labels is None else labels[value] for value, gone in pairs]


def take(columns: Mapping[str, Column], rows: NDArray[np.int64]) -> dict[str, Column]:
    return {
        name: replace(
            column, values=column.values[rows], missing=None if column.missing is None else column.missing[rows]
        )
        for name, column in columns.items()
    }


LAST_PLACES = 2  # units in the last place by which a computed or stored double may differ


def cells_of(column: Column, grid: Grid) -> Cells:
    """The grid cell of every row, computed in plain NumPy; tests compare faster methods with this function."""
    if column.located:
        return column.values.astype(np.int32, copy=False)
    if column.is_coded or grid.inner is None:
        column = column if column.is_coded else coded(column)
        labels = column.labels or ()
        table = np.r_[grid.match(labels), grid.outside, grid.missing].astype(np.int32)
        codes = np.minimum(column.values.astype(np.int64), len(labels))
        cells = table[np.where(codes < 0, len(labels) + 1, codes)]
    else:
        cells = grid.locate(column.values)
    if column.missing is not None:
        cells = np.where(column.missing, grid.missing, cells)
    placed: Cells = cells.astype(np.int32, copy=False)
    return placed


def coded(column: Column) -> Column:
    absent = column.absent()
    distinct, codes = np.unique(column.values, return_inverse=True)
    codes = np.where(absent, -1, codes).astype(np.int32)
    return Column(column.name, codes, tuple(distinct.tolist()))


def equals_any(column: Column, values: tuple[Value, ...]) -> Mask:
    """A mask of the rows with one of `values`; an interval in `values` stands for all numbers in it.

    Numbers that differ only by rounding are equal. Text is compared as text, or as numbers if both texts are numbers.
    """
    if column.is_coded or column.values.dtype.kind == "b":
        labels = column.labels if column.labels is not None else (False, True)
        hits = np.array([*(_is_any(label, values) for label in labels), False])
        codes = np.where(column.absent(), len(labels), column.values.astype(np.int64))
        return np.asarray(hits[codes])
    ranges = [value for value in values if isinstance(value, Interval)]
    numbers = [n for value in values if not isinstance(value, Interval) and (n := _as_number(value)) is not None]
    inside: Mask = _meets(column.values, numbers)
    with np.errstate(over="ignore", invalid="ignore"):  # a bound may be too large for float32
        for interval in ranges:
            inside = inside | interval.holds(column.values)
    return inside & ~column.absent()


def _is_any(label: Label, every: tuple[Value, ...]) -> bool:
    if any(_as_number(label) in value for value in every if isinstance(value, Interval)):
        return True
    values = tuple(value for value in every if not isinstance(value, Interval))
    if any(isinstance(value, bool) == isinstance(label, bool) and value == label for value in values):
        return True
    if str(label) in map(str, values):
        return True
    number = _as_number(label)
    numbers = [other for value in values if (other := _as_number(value)) is not None]
    return number is not None and bool(_meets(np.array([number]), numbers)[0])


def _as_number(value: Label) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        return float(value) if isinstance(value, str) else float(bool(value))
    except ValueError:
        return None


def _meets(values: NDArray[Any], numbers: list[float]) -> Mask:
    if values.dtype.kind in "iu":
        whole = [int(number) for number in numbers if number == number // 1]
        ends = np.iinfo(values.dtype)
        return np.isin(values, np.array([n for n in whole if ends.min <= n <= ends.max], dtype=values.dtype))
    hit = np.zeros(len(values), dtype=bool)
    for number in dict.fromkeys(numbers):
        with np.errstate(over="ignore", invalid="ignore"):
            meant = values.dtype.type(as_real(number))
            slack = 0 if not np.isfinite(meant) else LAST_PLACES * np.spacing(np.abs(meant))
            hit |= (values == meant) | (np.abs(values - meant) <= slack)
    return hit


Number: TypeAlias = int | float
FormName: TypeAlias = Literal[
    "plain", "thousands", "comma", "percent", "scaled", "unit", "time", "bytes", "deviation", "wrapped", "clock"
]
GAP_WORDS = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "-", "--", "?")
)  # in a column of numbers, in upper or lower case
# Like pyarrow: no underscores, no digits of other scripts.
HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,15}")
REAL = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([ ,'_\u00a0\u202f][0-9]{3})+(\.[0-9]+)?")
GROUP = re.compile(r"[ ,'_\u00a0\u202f]")
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+|[1-9][0-9]{0,2}(\.[0-9]{3})+),[0-9]+([eE][+-]?[0-9]+)?")
DOTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")  # thousands, if the comma is the decimal separator
CLOCK = re.compile(r"(?:([0-9]+) days?,? *)?([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)")  # days, hours …
DURATION = re.compile(r"[0-9]:|(2[4-9]|[3-9][0-9]|[0-9]{3,}):|[0-9]+ day")  # not a time of day, such as 09:30:00
BEHIND = re.compile(r"(?P<number>.*?[0-9.])\s*(?P<unit>[a-zA-Zµμ°/²³]{1,8}|%)")
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
FAMILIES: dict[FormName, dict[str, float]] = {
    "time": {"ms": 1e-3, "s": 1, "sec": 1, "secs": 1, "m": 60, "min": 60, "mins": 60, "h": 3600, "hr": 3600,
             "hrs": 3600, "d": 86400, "days": 86400},
    "bytes": {"B": 1, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
}  # units that may stand side by side  # fmt: skip
DEVIATION = re.compile(r"\s*(±|\+/-|\+-)\s*[0-9.,eE+-]+\s*%?$")  # after a mean
WRAPPED = re.compile(r"[~≈]\s*(.+)|\[\s*(.+?)\s*\]|(?:np\.)?(?:float|u?int)[0-9]*\((.+)\)")
AMOUNT = re.compile(r"([0-9]*\.?[0-9]+)\s*([a-zA-Z]+)\s*")
LONGEST = 60  # characters of a number with its unit; longer texts would take very long to match
PEEK = 20  # the first texts, which are enough to recognise most columns of words


@dataclass(frozen=True, slots=True)
class Form:
    """A format for numbers in text, such as decimal commas, percentages or numbers with a unit."""

    name: FormName
    unit: str = ""

    def read(self, text: str) -> Number | None:
        plain = text.strip().replace("\u2212", "-")  # the typographic minus sign
        match self.name:
            case "thousands":
                return read_plain(GROUP.sub("", plain) if GROUPED.fullmatch(plain) else plain)
            case "comma":
                return _read_comma(plain)
            case "scaled":
                scale = SCALES.get(plain[-1:], 1)
                number = read_plain(plain) if scale == 1 else _read_any(plain[:-1].strip())
                scaled = None if number is None else number * scale
                whole = isinstance(scaled, float) and scaled.is_integer() and abs(scaled) < 2**53
                return int(scaled) if whole and scaled is not None else scaled
            case "percent" | "unit":
                sign = "%" if self.name == "percent" else self.unit
                zero = 0 if read_plain(plain) == 0 else None  # 0 needs no unit
                number = _read_any(plain.removesuffix(sign).strip()) if plain.endswith(sign) else zero
                return number if self.name == "unit" or number is None else number / 100
            case "deviation":
                return _read_any(DEVIATION.sub("", plain).removesuffix("%").strip())
            case "wrapped":
                while len(plain) <= LONGEST and (inside := WRAPPED.fullmatch(plain)):
                    plain = inside[inside.lastindex or 0]
            case "clock":
                match = CLOCK.fullmatch(plain[:LONGEST])
                if match is None:
                    return None
                days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
                return (days * 24 + hours) * 3600 + minutes * 60 + float(match[4])
            case "time" | "bytes":
                return _read_amounts(plain, FAMILIES[self.name])
        return read_plain(plain)


PLAIN = Form("plain")


def _read_amounts(text: str, units: Mapping[str, float]) -> Number | None:
    """Convert text such as "1h 20m" to one number in the base unit (4800 s); None for other text."""
    amounts = AMOUNT.findall(text) if len(text) <= LONGEST else []
    if not amounts or AMOUNT.sub("", text) or any(unit not in units for _, unit in amounts):
        return 0 if read_plain(text) == 0 else None
    return sum(float(number) * units[unit] for number, unit in amounts)


def read_plain(text: str) -> Number | None:
    if REAL.fullmatch(text):
        number = int(text) if len(text) < 400 and text.lstrip("+-").isdigit() else math.inf
        return number if -(2**63) <= number < 2**63 else float(text)
    return int(text, 16) if HEXADECIMAL.fullmatch(text) else None


def _read_comma(text: str) -> Number | None:
    if DECIMAL_COMMA.fullmatch(text) or DOTS.fullmatch(text):
        return read_plain(text.replace(".", "").replace(",", "."))
    return read_plain(text) if "." not in text else None


def _read_any(text: str) -> Number | None:
    number = read_plain(text)
    return number if number is not None else _read_comma(text)


def is_gap(label: Label) -> bool:
    return isinstance(label, str) and label.strip().lower() in GAP_WORDS


def forms_of(labels: Sequence[Label]) -> tuple[Form, ...]:
    """The number formats that fit all labels, the most likely first; if `PLAIN` fits, no other format is returned."""
    every = every_form(labels)
    return every[:1] if PLAIN in every else every


def every_form(labels: Sequence[Label]) -> tuple[Form, ...]:
    """All number formats that fit all labels, even if `PLAIN` is one of them; later rows may need another format."""
    if any(isinstance(label, bool) for label in labels):
        return ()
    texts = _texts(labels)
    if not texts:  # only numbers and words for missing values
        return (PLAIN,) if any(not isinstance(label, str) for label in labels) else ()
    few = texts[:PEEK]
    if not any(char.isdigit() for text in few for char in text):
        return ()
    units = dict.fromkeys(match["unit"] for text in few if (match := BEHIND.fullmatch(text.strip()[:LONGEST])))
    own = [Form("unit", unit) for unit in units if unit not in SCALES and unit != "%"]
    own += [Form("deviation")] if any(DEVIATION.search(text) for text in few) else []
    own += [Form("clock")] if any(":" in text for text in few) and _are_durations(texts) else []
    own += [Form(name) for name, known in FAMILIES.items() if units and units.keys() <= known.keys()]
    forms = [PLAIN, *(Form(name) for name in ("thousands", "comma", "percent", "scaled", "wrapped")), *own]
    forms = [form for form in forms if reads_all(form, few)]
    # Every format is tried on these texts first, because most formats read all plain numbers.
    odd = list(islice((text for text in texts if read_plain(text.strip()) is None), PEEK)) if forms else []
    return tuple(form for form in forms if reads_all(form, odd) and reads_all(form, texts))


def _are_durations(texts: Sequence[str]) -> bool:
    """Whether some text cannot be a time of day; times of day begin with 00 to 23, but hardly all with 00."""
    return any(map(DURATION.match, texts)) or all(text.startswith("00:") for text in texts)


def reads_all(form: Form, labels: Sequence[Label]) -> bool:
    return all(form.read(text) is not None for text in _texts(labels))


def _texts(labels: Sequence[Label]) -> list[str]:
    return [label for label in labels if isinstance(label, str) and not is_gap(label)]


def in_form(column: Column, form: Form) -> Column:
    """Convert a text column to numbers in the given format; texts that do not fit become missing values."""
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
    """Convert a text column to numbers, and return a note on the format; None if some text is not a number."""
    labels = column.labels or ()
    points = decimal == "," and any(DOTS.fullmatch(label.strip()) for label in labels if isinstance(label, str))
    forms = every_form(labels) if points else forms_of(labels) if labels else ()
    if not forms:  # the column has words, or no text at all
        return None
    form = next((form for form in forms if decimal == "," and form.name == "comma"), forms[0])
    unsure = decimal is None and {"thousands", "comma"} <= {form.name for form in forms}
    return in_form(column, form), note_on(column, form, unsure=unsure)


def note_on(column: Column, form: Form, *, unsure: bool = False) -> Note:
    if form == PLAIN:
        return Note("source", "numbers stored as text are read as numbers", subject=column.name, severity="guess")
    texts = _texts(column.labels or ())
    text = min((text for text in texts if read_plain(text.strip()) != form.read(text)), default="")
    number = form.read(text)
    words = f"text is read as numbers; for example, {text!r} becomes {number if number is None else f'{number:.15g}'}"
    if not unsure:
        return Note("source", words, subject=column.name, severity="guess")
    return Note(
        "doubt",
        f"{words}; pass ",
        Arg("decimal", ",", of="Reading"),
        " if the comma is the decimal separator",
        subject=column.name,
    )


def for_domain(column: Column, parameter: Parameter) -> Column:
    """Convert text to numbers for a numeric domain; if an empty text is a choice, it replaces missing values."""
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
