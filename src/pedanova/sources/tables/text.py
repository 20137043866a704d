"""Read CSV and TSV, plain or gzipped. Cells that look like numbers are numbers; empty cells are missing values.

pyarrow is used if it is installed, because it is faster; Python's own reader follows the same rules.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby, islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TextIO

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import HEXADECIMAL, REAL, Column, Form, encode, in_form, reads_all, some, take, values_in
from pedanova.data.column_clues import ID_NAMES, INDEX_NAMES, REMARKS
from pedanova.data.records import Records
from pedanova.errors import Arg, FormatError, PedanovaError, QueryError, listed
from pedanova.sources.tables.frames import as_names, read_frame
from pedanova.space.values import shown

MOST_TIMES = 50  # the largest ratio of unpacked to packed size; text tables rarely exceed 20
FREE = 1 << 20  # bytes that are always allowed
USUAL = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
OTHERS = (",", ";", "\t", "|")
LOOK_AT = 30  # lines that are examined
MOST_SHORT = 0.2  # the largest part of rows that may have too few fields
LONGEST = 1 << 20  # characters of a line that is examined
NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
# In columns of numbers or booleans these mean "no value"; in other columns they are words, and only "" is missing.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "none", "n/a", "<NA>")
BLOCK = 1 << 22  # bytes that are read at a time; larger blocks do not fit into the processor's cache
TRUE = ("True", "true", "TRUE")
FALSE = ("False", "false", "FALSE")
WHOLE = re.compile(r"-?[0-9]+")  # as pyarrow reads them
DIGITS = re.compile(r"[0-9]+")
COMMA = re.compile(r"-?[0-9]+,([0-9]{1,2}|[0-9]{4,})|-?(0[0-9]*|[0-9]{4,}),[0-9]+")  # a decimal comma, not thousands


def is_packed(file: PurePath) -> bool:
    return file.suffix.lower() == ".gz"


def suffix_of(file: PurePath) -> str:
    """The suffix that shows the format: .csv for trials.csv and trials.csv.gz."""
    return (PurePath(file.stem).suffix if is_packed(file) else file.suffix).lower()


def first_bytes(file: Path, size: int, *, unpacked: bool = False) -> bytes:
    """The first bytes of a file; empty if there is no such file, or if it cannot be read."""
    with suppress(OSError, ValueError, EOFError, zlib.error):  # a name that the system does not accept is a ValueError
        if file.is_file():
            with gzip.open(file) if unpacked and is_packed(file) else file.open("rb") as start:
                return start.read(size)
    return b""


def _last_bytes(file: Path) -> bytes:
    if is_packed(file):
        return read_bytes(file)
    with file.open("rb") as source:
        source.seek(max(0, file.stat().st_size - BLOCK))
        return source.read()


def read_bytes(file: Path) -> bytes:
    if not is_packed(file):
        return file.read_bytes()
    most = MOST_TIMES * file.stat().st_size + FREE
    try:
        with gzip.open(file) as packed:
            data = packed.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"{file} is not a gzip file, or was cut off ({error}); compress it again") from None
    if len(data) > most:
        raise FormatError(f"{file} grows to over {MOST_TIMES} times its size if unpacked; unpack it yourself")
    return data


def open_text(file: Path) -> TextIO:
    """Open a plain or gzipped file as text, with its line endings unchanged."""
    if not is_packed(file):
        return file.open(encoding="utf-8-sig", newline="")
    return io.TextIOWrapper(io.BytesIO(read_bytes(file)), encoding="utf-8-sig", newline="")


class Dialect(NamedTuple):
    """How a CSV file is written; None means that it is detected."""

    delimiter: str | None = None
    decimal: str | None = None


def as_delimiter(given: object) -> str | None:
    """The delimiter as a character, from a character or a name such as "tab"; None means that it is detected."""
    if given is None:
        return None
    sign = NAMES.get(given, given) if isinstance(given, str) else given
    if not isinstance(sign, str) or len(sign) != 1 or sign in '"\r\n':
        raise QueryError(Arg("delimiter", given), " must be one character, such as ';', or 'tab'")
    return sign


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a text file: lines above the header, the header, and the delimiter."""

    delimiter: str
    above: int  # lines above the header
    names: tuple[str, ...]
    in_comment: bool = False  # whether the header is the last comment line above, after its #
    twice: tuple[str, ...] = ()  # names that several columns have in the header

    @property
    def arrow_options(self) -> dict[str, Any]:
        skipped = 0 if self.in_comment else 1
        return {"column_names": list(self.names), "skip_rows": self.above, "skip_rows_after_names": skipped}

    @property
    def notes(self) -> tuple[Note, ...]:
        lines = "line above the table is" if self.above == 1 else "lines above the table are"
        notes = [Note("source", f"{self.above} {lines} skipped")] if self.above else []
        if self.twice:
            words = f"columns with the same name in the header: {listed(self.twice)}; numbers are added to their names"
            notes.append(Note("doubt", words))
        return tuple(notes)


def layout_of(file: Path, delimiter: str | None = None) -> Layout:
    """Detect the layout of a text file from its first lines.

    If the header contains the usual delimiter of the suffix, this delimiter is used; otherwise the one that splits
    most lines into the same number of fields. Lines above the header may be comments, or have another number of fields.
    """
    with in_utf8(file), open_text(file) as text:
        lines = [*islice(iter(lambda: text.readline(LONGEST), ""), LOOK_AT)]
    comments = next((i for i, line in enumerate(lines) if not line.startswith("#") or line[1:2] not in " \t"), 0)
    body = lines[comments:]
    usual = USUAL.get(suffix_of(file), ",")
    sign = delimiter or _sign_of(body, usual)
    above = comments + _above(body, sign)
    behind = csv.reader([lines[comments - 1][1:]], delimiter=sign) if comments and above == comments else iter(())
    comment = [name.strip() for name in next(behind, [])]
    rows = [row for row in _cut(body[:1], sign) if row]
    in_comment = len(comment) > 1 and rows and len(rows[0]) == len(comment) and all(map(REAL.fullmatch, rows[0]))
    names = comment if in_comment else _header(file, sign, above)
    known = as_names(names, where=f"{file}: ", error=FormatError, numbered=True)
    if not in_comment and _is_data(names, _cut(lines[above + 1 :], sign)):
        raise FormatError(f"{file}: line {above + 1} holds numbers; write a line above it that names the columns")
    twice = tuple(name for name, times in Counter(filter(None, names)).items() if times > 1)
    return Layout(sign, above, tuple(known), bool(in_comment), twice)


def _sign_of(lines: Sequence[str], usual: str) -> str:
    whole = [sign for sign in OTHERS if not _opens_brackets(lines, sign) and len(set(_fields(lines, sign)) - {1}) == 1]
    inside = bool(whole) and _opens_brackets(lines, usual)  # such as the commas of lists
    if not lines or (_fields(lines[:1], usual)[0] > 1 and not inside):
        return usual
    cuts = {sign: _fields(lines, sign) for sign in (whole if inside else (usual, *OTHERS))}
    even = {sign: max(counts.count(many) * (many > 1) for many in set(counts)) for sign, counts in cuts.items()}
    best = max(even.values())
    present = [sign for sign in even if even[sign] == best and best > 0]
    return max(present, key=lambda sign: (cuts[sign][0], max(cuts[sign])), default=usual)


def _opens_brackets(lines: Sequence[str], sign: str) -> bool:
    """Whether a field of the first line has a bracket without its counterpart."""
    fields = (field for row in _cut(lines[:1], sign) for field in row)
    return any(field.count(pair[0]) != field.count(pair[1]) for field in fields for pair in ("[]", "{}", "()"))


def _above(lines: Sequence[str], sign: str) -> int:
    """The number of lines above the header; from the header on, all lines have the same number of fields.

    A line with few cells above a line of words is a title, and a line with numbers is no header below a line of words.
    """
    if not lines:
        return 0
    rows = [row for line in lines for row in _cut([line], sign) or [[]]]
    titles = 0 if any(line.count('"') % 2 for line in lines) else _titles(rows)
    if titles or (lines[0].strip() and lines[0].count(sign) == lines[-1].count(sign)):
        return titles
    counts = [len(row) for row in rows]
    full = [count for count in counts if count]
    quoted = any(line.count('"') % 2 for line in lines[:1])  # a name continues in the next line
    if quoted or len(full) < 3 or len(counts) != len(lines):
        return 0
    if not counts[0]:
        return next(i for i, count in enumerate(counts) if count)
    if full[0] >= full[-1] - 1 or full[-1] < 3:
        return 0
    same = len(counts)
    while same and counts[same - 1] in (full[-1], 0):
        same -= 1
    first = next((i for i in range(same, len(counts)) if counts[i]), 0)
    grown = _are_words(rows[0]) and not _are_words(rows[first])
    return first if len(counts) - first >= 2 and not grown else 0


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """The number of lines above the first full line of words, if most of their cells are empty."""
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    header = next((i for i, row in enumerate(rows) if 2 * filled[i] > max(filled) and _are_words(row)), 0)
    same = all(len(rows[i]) == len(rows[header]) and 2 * filled[i] <= filled[header] for i in range(header))
    numbers = any(REAL.fullmatch(cell.strip()) for row in rows[header + 1 :] for cell in row)
    return header if same and numbers else 0


def _are_words(cells: Sequence[str]) -> bool:
    words = [cell.strip() for cell in cells if cell.strip()]
    return len(words) > 1 and not any(map(REAL.fullmatch, words))


def _fields(lines: Sequence[str], sign: str) -> list[int]:
    return [len(row) for row in _cut(lines, sign) if row] or [0]


def _cut(lines: Sequence[str], sign: str) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=sign))
    except csv.Error:
        return []


def read_delimited(file: Path, dialect: Dialect) -> Records:
    layout = layout_of(file, dialect.delimiter)
    read = _by_python if importlib.util.find_spec("pyarrow") is None else _by_arrow
    records = _without_headers(read(file, layout, dialect.decimal))
    _check_closed(file, records)
    _check_upright(file, records)
    notes = [*layout.notes, *records.notes]
    behind_index = dropwhile(lambda pair: pair[0].startswith("Unnamed: "), records.columns.items())
    unnamed = [name for name, column in behind_index if name.startswith("Unnamed: ") and not column.absent().all()]
    if unnamed:
        notes.append(Note("doubt", f"columns with values but no name in the header: {listed(unnamed)}"))
    if not dialect.delimiter and layout.delimiter != USUAL.get(suffix_of(file), ","):  # not the delimiter of the suffix
        words = f"{file.name}: fields are separated by {layout.delimiter!r}; pass "
        notes.append(Note("source", words, Arg("delimiter", of="Reading"), " if this is wrong"))
    return replace(records, notes=tuple(notes))


def _without_headers(records: Records) -> Records:
    """Leave out repetitions of the header, as in files joined to one, and the titles directly above them."""
    columns = records.columns
    if not records.rows or not all(column.labels and name in column.labels for name, column in columns.items()):
        return records
    repeats = np.all([column.values == (column.labels or ()).index(name) for name, column in columns.items()], axis=0)
    filled = np.sum([~column.absent() for column in columns.values()], axis=0)
    titles = np.append(repeats[1:], False) & (filled == 1) & ~repeats if len(columns) > 1 else np.zeros_like(repeats)
    rows = np.flatnonzero(~repeats & ~titles)
    if len(rows) == records.rows or not len(rows):
        return records
    texts = {name: values_in(column) for name, column in take(columns, rows).items()}
    table = {name: parse_text(name, ("" if text is None else text for text in cells)) for name, cells in texts.items()}
    titled = f" ({titles.sum()} with a title above)" if titles.any() else ""
    note = Note("doubt", f"lines that repeat the header: {repeats.sum()}{titled}; the parts are read as one table")
    return replace(records, columns=table, notes=(*records.notes, note))


def _check_closed(file: Path, records: Records) -> None:
    """Raise an error if a quote is never closed, so that the last cell contains the rest of the file."""
    column = records.columns[next(reversed(list(records.columns)))]
    check_closed(file, column.value_at(-1) if len(column) and not column.absent()[-1] else None)


def check_closed(file: Path, last: object) -> None:
    """The same, given the last cell of the last column."""
    if isinstance(last, str) and "\n" in last and not _last_bytes(file).rstrip().endswith(b'"'):
        raise FormatError(f"{file}: the quote before {shown(last)} is never closed; close it or remove it")


def _check_upright(file: Path, records: Records) -> None:
    """Raise an error for a Markdown table (dashes below the header) or a transposed table (parameters in rows)."""
    names, firsts = list(records.columns), [column.labels or () for column in records.columns.values()]
    if len(names) > 2 and all(labels and set(str(labels[0])) <= {*" :-"} for labels in firsts[1:-1]):
        raise FormatError(f"{file} is a Markdown table; save it as CSV, without the line of dashes")
    turned = INDEX_NAMES.match(names[0]) and len(firsts[0]) == records.rows and all(firsts)
    if turned and len(names) > 2 and names[1:] == [str(i) for i in range(len(names) - 1)]:
        remedy = f"pd.read_csv({file.name!r}, index_col=0).T.to_csv('transposed.csv', index=False)"
        raise FormatError(f"{file} has one run per column instead of one run per row; transpose it: {remedy}")


def peek_header(file: Path) -> list[str]:
    """The column names of a CSV file; empty if there is no such file or header."""
    try:
        return list(layout_of(file).names) if suffix_of(file) == ".csv" and file.is_file() else []
    except (PedanovaError, OSError, ValueError):
        return []


def _header(file: Path, delimiter: str, above: int) -> list[str]:
    try:
        with in_utf8(file), open_text(file) as lines:
            header = next(csv.reader(islice(lines, above, None), delimiter=delimiter), [])
    except csv.Error as error:
        raise FormatError(f"{file}: the header cannot be read: {error}") from None
    names = [name.strip() for name in header]
    if not any(names):
        raise FormatError(f"{file} begins with an empty line; the first line must name the columns")
    return names


def _is_data(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line holds values: numbers, and texts that occur below it too (apart from their digits)."""
    texts = {i: DIGITS.sub("0", name) for i, name in enumerate(names) if name and not REAL.fullmatch(name)}
    numbers = [i for i, name in enumerate(names) if name and i not in texts]
    if not texts:
        return not all(map(WHOLE.fullmatch, filter(None, names))) or len({names[i] for i in numbers}) < len(numbers)
    below = [row for row in rows if len(row) == len(names)]
    return (
        2 * len(numbers) >= len(texts) + len(numbers)
        and len(below) > 0
        and all(REAL.fullmatch(row[i].strip()) or row[i] in MISSING for i in numbers for row in below)
        and all(any(DIGITS.sub("0", row[i].strip()) == text for row in below) for i, text in texts.items())
    )


def read_text(file: Path) -> str:
    """The content of a file as text; if a line is not UTF-8, the error message contains its line number."""
    with in_utf8(file):
        return read_bytes(file).decode("utf-8-sig")


@contextmanager
def in_utf8(file: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        check_utf8(file)
        raise


def check_utf8(file: Path) -> None:
    """Raise an error that names the first line that is not UTF-8, if there is one."""
    with io.BytesIO(read_bytes(file)) if is_packed(file) else file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                what = f"line {number} holds byte 0x{line[error.start]:02x}, which is not UTF-8"
                raise FormatError(f"{file}: {what}; save the file as UTF-8") from None


def _by_arrow(file: Path, layout: Layout, decimal: str | None = None) -> Records:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    quotes, comments = is_packed(file) or holds_quotes(file), 0

    def read(names: Sequence[str], kind: Any = None, point: str = ".") -> dict[str, Any]:
        nonlocal comments
        skipped: list[int] = []
        types = dict.fromkeys(names, kind) if kind else None
        table = arrow_csv.read_csv(
            io.BytesIO(read_bytes(file)) if is_packed(file) else file,
            read_options=arrow_csv.ReadOptions(**layout.arrow_options, block_size=BLOCK),
            parse_options=arrow_parsing(layout.delimiter, skipped, quotes=quotes),
            convert_options=arrow_conversion(include_columns=names, column_types=types, decimal_point=point),
        )
        comments = len(skipped)
        return dict(zip(names, table.columns, strict=True))

    examples = _decimal_commas(file, layout, decimal)
    columns: dict[str, Any] = {}
    for names in [[*examples], *([name] for name in examples)]:  # together; if that fails, one by one
        if len(columns) < len(examples):
            with suppress(pa.ArrowException):  # a column with other cells stays text
                columns |= read(names, pa.float64(), ",")
    pairs = {name: f"{examples[name]!r} becomes {float(examples[name].replace(',', '.')):.15g}" for name in columns}
    words = "text is read as numbers; for example, "
    notes = [Note("source", f"{words}{one}", subject=name, severity="guess") for name, one in pairs.items()]
    try:
        others = [name for name in layout.names if name not in columns]
        columns |= read(others) if others else {}
        # Dates and times stay text, as in Python's reader.
        times = [name for name in others if pa.types.is_temporal(columns[name].type)]
        columns |= read(times, pa.string()) if times else {}
    except pa.ArrowException:
        # Python's reader is slower, but accepts lines of any length and names the faulty one.
        return _by_python(file, layout, decimal)
    check_texts(file, [column.type for column in columns.values()])
    known = dict(read_frame(pa.table({name: columns[name] for name in layout.names})).columns)
    if examples or decimal == ",":
        points = [name for name in others if _may_be_thousands(known[name])]
        texts = read_frame(pa.table(read(points, pa.string()) if points else {})).columns
        notes += _read_thousands(known, texts, decimal)
    return Records(known, (*_on_comments(comments), *notes))


def _may_be_thousands(column: Column) -> bool:
    """Whether all numbers may be whole numbers whose thousands are separated by points, such as 1.496."""
    if column.labels is not None or column.values.dtype.kind != "f":
        return False
    values = column.values[~column.absent()]
    return len(values) > 0 and bool(np.all(np.round(values * 1000) / 1000 == values))


def _read_thousands(columns: dict[str, Column], texts: Mapping[str, Column], decimal: str | None) -> list[Note]:
    """Replace columns in which all points separate thousands, as their texts show; return notes on them."""
    notes, form = [], Form("comma")
    for name, column in texts.items():
        labels = column.labels or ()
        example = next((label for label in labels if isinstance(label, str) and "." in label), None)
        if example is None or not reads_all(form, labels):
            continue
        columns[name] = in_form(column, form)
        words = f"text is read as numbers; for example, {example!r} becomes {form.read(example)}"
        why = (
            "; other columns have decimal commas, so points separate thousands; pass ",
            Arg("decimal", ".", of="Reading"),
        )
        doubt = Note("doubt", words, *why, " if they are decimal points", subject=name)
        notes.append(Note("source", words, subject=name, severity="guess") if decimal == "," else doubt)
    return notes


def check_texts(file: Path, types: Iterable[Any]) -> None:
    """Raise an error if a column has pyarrow's type for text that is not UTF-8."""
    if any(str(own) == "binary" for own in types):
        check_utf8(file)


def _decimal_commas(file: Path, layout: Layout, decimal: str | None) -> dict[str, str]:
    """Columns that must be numbers with decimal commas, by the first lines, and an example of each."""
    if layout.delimiter == "," or decimal == ".":
        return {}
    with in_utf8(file), open_text(file) as text:
        lines = [*islice(iter(lambda: text.readline(LONGEST), ""), layout.above + 1, layout.above + LOOK_AT)]
    rows = [row for row in _cut(lines, layout.delimiter) if len(row) == len(layout.names)]
    pairs = (pair for row in rows[::-1] for pair in zip(layout.names, row, strict=True))
    return {name: cell for name, cell in pairs if COMMA.fullmatch(cell)}


def holds_quotes(file: Path) -> bool:
    with file.open("rb") as source:
        return any(b'"' in block for block in iter(lambda: source.read(BLOCK), b""))


def arrow_parsing(delimiter: str, comments: list[int], *, quotes: bool = True) -> Any:
    """Options for how pyarrow splits lines. The list `comments` gets the field count of each skipped comment.

    If `quotes` is False, every line break ends a row; this saves a fifth of the time.
    """
    from pyarrow import csv as arrow_csv

    def passed_over(row: Any) -> str:
        if not is_comment(row.text or ""):
            return "error"
        comments.append(row.actual_columns)
        return "skip"

    return arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes, invalid_row_handler=passed_over)


def is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _on_comments(count: int) -> tuple[Note, ...]:
    return (Note("source", f"{count} lines begin with # and are skipped"),) if count else ()


def arrow_conversion(**options: Any) -> Any:
    """Options for how pyarrow converts cells, so that it follows the rules of this module."""
    from pyarrow import csv as arrow_csv

    words = {"null_values": list(MISSING), "true_values": list(TRUE), "false_values": list(FALSE)}
    return arrow_csv.ConvertOptions(strings_can_be_null=False, quoted_strings_can_be_null=True, **words, **options)


def _by_python(file: Path, layout: Layout, decimal: str | None = None) -> Records:
    rows: list[list[str]] = []
    places: list[int] = []
    comments = 0
    for place, row in _rows_of(file, layout):
        if len(row) != len(layout.names) and is_comment(row[0]):
            comments += 1
        else:
            rows.append(row)
            places.append(place)
    header, notes = list(layout.names), list(_on_comments(comments))
    if {len(row) for row in rows} - {len(header)}:
        header, more = evened(rows, places, header, file, layout.delimiter)
        notes += more
    columns = [*zip(*rows, strict=True)] if rows else [() for _ in header]
    table = {name: parse_text(name, texts) for name, texts in zip(header, columns, strict=True)}
    if decimal == "," or _decimal_commas(file, layout, decimal):
        cells = {name: texts for name, texts in zip(header, columns, strict=True) if _may_be_thousands(table[name])}
        texts = {name: encode(name, (text.strip() or None for text in own)) for name, own in cells.items()}
        notes += _read_thousands(table, texts, decimal)
    return Records(table, tuple(notes))


def _rows_of(file: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header that are not empty, each with the number of its last line."""
    place = layout.above
    with in_utf8(file), open_text(file) as lines:
        reader = csv.reader(islice(lines, layout.above, None), delimiter=layout.delimiter)
        try:
            if not layout.in_comment:
                next(reader, None)
            for row in reader:
                place = layout.above + reader.line_num
                if row:
                    yield place, row
        except csv.Error as error:
            remedy = "close its quotes or shorten its fields"
            raise FormatError(f"{file}: the row that begins in line {place + 1}: {error}; {remedy}") from None


def check_rows(file: Path, delimiter: str | None) -> None:
    """Raise the error that Python's reader would raise for a file that pyarrow cannot read, if there is one."""
    for _ in _rows_of(file, layout_of(file, delimiter)):
        pass


def evened(
    rows: list[list[str]], places: Sequence[int], header: list[str], file: Path, sign: str
) -> tuple[list[str], list[Note]]:
    """Repair rows that have another number of fields than the header, in place, if the repair is unambiguous."""
    many, counts = len(header), [len(row) for row in rows]
    for row in rows:  # delimiters after the last field
        while len(row) > many and not row[-1].strip():
            row.pop()
    widths = {len(row) for row in rows}
    if len(widths) == 1 and max(widths) > many:
        extra = max(widths) - many
        if extra > 1 or not _is_index([row[0] for row in rows]) or ID_NAMES.match(header[0]):
            remedy = "add a name to the header" if extra == 1 else f"add {extra} names to the header"
            raise FormatError(f"{file}: every row has {many + extra} fields but the header has {many}; {remedy}")
        words = "the rows have one more field than the header; the first field is used as an index"
        return as_names(["", *header]), [Note("source", words)]
    long = [i for i, row in enumerate(rows) if len(row) > many]
    if long and REMARKS.match(header[-1]):  # an unquoted remark that contains the delimiter
        for i in long:
            rows[i][many - 1 :] = [sign.join(rows[i][many - 1 :])]
        long = []
    short = [i for i, row in enumerate(rows) if len(row) < many]
    few = len(short) <= MOST_SHORT * len(rows) and all(len(rows[i]) > 1 for i in short)
    if long or (short and not few and not _same_start(rows)):
        raise FormatError(f"{file}: {_on_fields(rows, long or short, places, counts, many)}")
    if not short:
        return header, []
    if len(widths) == 1:
        lacking = header[max(widths) :]
        words = f"the rows have one field fewer than the header; the column {lacking[0]!r} is left empty"
        if len(lacking) > 1:
            words = f"the rows have {len(lacking)} fields fewer than the header; columns left empty: {listed(lacking)}"
        note = Note("doubt", words)
    else:
        words = f"{len(short)} rows have fewer fields than the header (first: line {places[short[0]]}); "
        note = Note("doubt", f"{words}the missing fields are left empty")
    for i in short:
        rows[i] += [""] * (many - len(rows[i]))
    return header, [note]


def _same_start(rows: Sequence[Sequence[str]]) -> bool:
    """Whether short rows lack only last fields: none has words where longer rows have numbers, or the reverse."""
    known: dict[int, set[bool]] = {}
    for width, group in groupby(sorted(rows, key=len, reverse=True), key=len):
        for i, cells in enumerate(zip(*group, strict=True)):
            kinds = {REAL.fullmatch(cell.strip()) is not None for cell in cells if cell not in MISSING}
            if width < 2 or (known.get(i) and not kinds <= known[i]):
                return False
            known[i] = known.get(i, set()) | kinds
    return True


def _on_fields(
    rows: Sequence[Sequence[str]], wrong: Sequence[int], places: Sequence[int], counts: Sequence[int], many: int
) -> str:
    """The message on rows with another number of fields than the header; a remedy that is possible comes last."""
    least, most, first = min(counts[i] for i in wrong), max(counts[i] for i in wrong), places[wrong[0]]
    fields = f"{least} to {most} fields" if least < most else "1 field" if most == 1 else f"{most} fields"
    if len(wrong) == 1:
        return f"line {first} has {fields}, but the header has {many}; correct the line or its quotes"
    remedy = "correct them, or write them to another file with its own header"
    if len(wrong) <= MOST_SHORT * len(rows):
        remedy = "correct these lines or their quotes"
    elif most > many and _same_start(rows):
        remedy = f"add {'a name' if most == many + 1 else f'{most - many} names'} to the end of the header"
    return f"{len(wrong)} of {len(rows)} rows have {fields}, but the header has {many} (first: line {first}); {remedy}"


LONGEST_INDEX = 19  # digits


def _is_index(fields: Sequence[str]) -> bool:
    """Whether the fields of a first column look like an index: row numbers, or words that are all different."""
    if len(set(fields)) < len(fields):
        return False
    if all(map(WHOLE.fullmatch, fields)) and max(map(len, fields)) < LONGEST_INDEX:
        numbers = [int(field) for field in fields]
        return max(numbers) - min(numbers) == len(numbers) - 1
    return not any(map(REAL.fullmatch, fields))


def parse_text(name: str, texts: Iterable[str]) -> Column:
    """A column of integers, numbers, booleans or labels: the first type that fits every cell."""
    cells = list(texts)
    missing = np.array([text in MISSING for text in cells], dtype=bool)
    present = [text for text, gone in zip(cells, missing, strict=True) if not gone]
    plain = [text.strip(" \t") for text in present]
    numbers = _as_whole(plain)
    if numbers is None and all(REAL.fullmatch(text) for text in plain):
        numbers = np.array([float(text) for text in plain], dtype=np.float64)
    if numbers is None and all(text in TRUE or text in FALSE for text in present):
        numbers = np.array([text in TRUE for text in present], dtype=bool)
    if numbers is not None:
        values = np.zeros(len(cells), dtype=numbers.dtype)
        values[~missing] = numbers
        return Column(name, values, None, some(missing))
    return encode(name, (text if text.strip() else None for text in cells))


def _as_whole(cells: list[str]) -> Any | None:
    if not all(WHOLE.fullmatch(text) or HEXADECIMAL.fullmatch(text) for text in cells):
        return None
    try:
        return np.array([int(text, 16 if "x" in text.lower() else 10) for text in cells], dtype=np.int64)
    except (ValueError, OverflowError):  # too many digits
        return None
