"""Small result tables, and their output as text, HTML, Markdown, LaTeX and CSV. This module computes no statistics."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from pedanova.base.digits import SPACE, percent, short
from pedanova.base.terminal import ColumnKind, TableColumn, laid_out, printable, text_table, width_of
from pedanova.errors import MissingLibraryError, UnknownParameterError, unknown_name

if TYPE_CHECKING:
    import pandas as pd


BAR = "rgba(40,140,200,.38)"  # translucent, for light and dark backgrounds
MOST_LINES = 40
MOST_NOTES = 30


def html_table(
    title: str, columns: Sequence[TableColumn], *, faint: Collection[int] = (), notes: Sequence[str] = ()
) -> str:
    """An HTML table for notebooks, with bars in cells, and notes that open with a click. Rows in `faint` are grey."""
    many_bars = sum(bool(column.parts) for column in columns) > 1
    rows = len(columns[0].cells)
    head = "".join(f"<th{_html_style(i, column)}>{escape(column.title)}</th>" for i, column in enumerate(columns))
    body = ""
    for row in range(min(rows, MOST_LINES)):
        styles = [_html_style(i, column, _html_bar(column, row, many_bars)) for i, column in enumerate(columns)]
        cells = (f"<td{style}>{escape(column.cells[row])}</td>" for style, column in zip(styles, columns, strict=True))
        opacity = " style='opacity:.55'" if row in faint else ""
        body += f"<tr{opacity}>{''.join(cells)}</tr>"
    above = f"<p style='margin:0 0 .3em'>{escape(title)}</p>" if title else ""
    more = rows - MOST_LINES
    rest = f"<p>… and {more:,} more lines; <code>to_pandas()</code> has all lines</p>" if more > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{above}{table}{rest}{folded(notes)}</div>"


def _html_style(place: int, column: TableColumn, more: str = "") -> str:
    side = "left" if place == 0 or column.kind == "words" else "right"
    return f" style='text-align:{side};padding:.15em .6em{more}'"


def _html_bar(column: TableColumn, row: int, many_bars: bool) -> str:
    """The CSS background of a cell: a bar beside the number (or behind it if there are many columns of bars)."""
    if not column.parts:
        return ""
    end = _css_percent(column.parts[row])
    layers = [f"linear-gradient(to right,{BAR} {end},transparent {end})"]
    if column.marks:
        at = _css_percent(column.marks[row])
        line = f"transparent calc({at} - 1px),currentColor calc({at} - 1px),currentColor calc({at} + 1px)"
        layers.insert(0, f"linear-gradient(to right,{line},transparent calc({at} + 1px))")
    ground = f"background:{','.join(layers)}"
    if many_bars:
        return f";min-width:4em;{ground}"
    return f";min-width:11em;{ground};background-size:calc(100% - 4.5em) 100%;background-repeat:no-repeat"


def _css_percent(part: float) -> str:
    return f"{100 * max(0.0, min(1.0, part)):.1f}%"


def folded(notes: Sequence[str]) -> str:
    """HTML for notes that open with a click; empty if there are no notes."""
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes[:MOST_NOTES])
    more = f"<li>… and {len(notes) - MOST_NOTES} more</li>" if len(notes) > MOST_NOTES else ""
    return f"<details><summary>Notes ({len(notes)})</summary><ul>{items}{more}</ul></details>"


Cell: TypeAlias = str | float | int | bool | None
Printed: TypeAlias = list[TableColumn]  # the columns that a result prints, in order
SHOWN, A_FEW_MORE = 20, 5  # lines of a table's repr, and how many more may be added
LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"γ": r"$\gamma$", "\n": " ", "\r": " ", SPACE: "~"}
)
MARKDOWN = str.maketrans({"|": r"\|", "\n": " ", "\r": " ", "<": "&lt;", "`": r"\`", "*": r"\*", "_": r"\_"})


PAINTERS: dict[type, Callable[..., Any]] = {}  # the function that draws each type of result, set in `analysis`


class Table:
    """The base class of all answers: prints a table, and exports its numbers.

    `to_dict` returns the columns with all digits; printed numbers are rounded.

    Attributes
    ----------
    rows
        The rows of the table.
    notes
        Remarks on the numbers, in sentences.

    Examples
    --------
    >>> import pedanova as pa
    >>> answer = pa.analyze(pa.demo_trials(), "error").importance(draws=0, estimator="counts")
    >>> isinstance(answer, pa.results.Importances), list(answer.to_dict())[:3]
    (True, ['parameter', 'ratio', 'share'])
    >>> print(answer.to_csv().splitlines()[0][:21])
    parameter,ratio,share
    """

    __slots__ = ()
    internal: ClassVar[frozenset[str]] = frozenset(
        {"also", "column", "faint", "header", "heading", "in_lines", "internal", "lines", "percents", "printed"}
        | {"printed_rows"}
    )
    also: ClassVar[tuple[str, ...]] = ()  # attributes of rows that `to_dict` contains besides their fields
    rows: tuple[Any, ...]

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name[0] != "_" and name not in self.internal]

    def to_dict(self) -> dict[str, list[Cell]]:
        """The columns by name, each a list with one value per row, with all digits."""
        return columns_of(self.rows) | {key: [getattr(row, key) for row in self.rows] for key in self.also}

    def printed(self) -> Printed:
        """The columns as they are printed, with rounded numbers; the ratio is printed with a bar."""
        columns = self.to_dict().items()
        return [
            TableColumn(name, [short(cell) for cell in cells], parts=bar_parts(cells) if name == "ratio" else ())
            for name, cells in columns
        ]

    def column(
        self, title: str, text: Callable[[Any], str], *, kind: ColumnKind = "number", bar: str = "", leave: int = 0
    ) -> TableColumn:
        """Make a column for printing: `text` formats each row, and `bar` names the attribute that is drawn as a bar."""
        rows = self.printed_rows()
        parts = bar_parts([getattr(row, bar) for row in rows]) if bar else ()
        return TableColumn(title, [text(row) for row in rows], kind, leave, parts)

    def printed_rows(self) -> Sequence[Any]:
        """The rows that are printed; by default all rows."""
        return self.rows

    def percents(self, key: str, title: str = "", *, bar: bool = False, leave: int = 0) -> TableColumn:
        return self.column(title or key, lambda row: percent(getattr(row, key)), bar=key if bar else "", leave=leave)

    def header(self) -> list[str]:
        return [column.title for column in self.printed()]

    def lines(self) -> list[list[str]]:
        return [list(line) for line in zip(*(column.cells for column in self.printed()), strict=True)]

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas data frame.

        Raises
        ------
        MissingLibraryError
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingLibraryError("to_pandas() needs pandas; pip install pandas") from None
        return pd.DataFrame(self.to_dict())

    def to_csv(self) -> str:
        """The columns of `to_dict` as CSV, with a header."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = self.to_dict()
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()

    def to_markdown(self) -> str:
        """The printed table in Markdown."""
        lines = [[cell.translate(MARKDOWN) for cell in line] for line in (self.header(), *self.lines())]
        head, *rows = laid_out(lines, least=3)
        rule = ["-" * (width_of(cell) - (i > 0)) + ":" * (i > 0) for i, cell in enumerate(head)]
        return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *rows))

    def to_latex(self) -> str:
        """The printed table in LaTeX, as a `tabular` with booktabs rules."""
        body = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in self.lines()]
        head = " & ".join(name.translate(LATEX) for name in self.header()) + r" \\"
        shape = "l" + "r" * (len(self.header()) - 1)
        begin, end = [rf"\begin{{tabular}}{{{shape}}}", r"\toprule"], [r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*begin, head, r"\midrule", *body, *end]) + "\n"

    def to_text(self) -> str:
        """The printed table as text, for a terminal."""
        return text_table(self.printed())

    def summary(self) -> str:
        """The answer in one or two sentences."""
        return self.heading()

    def heading(self) -> str:
        """The line above the table; empty if the columns are clear without it."""
        return ""

    def faint(self) -> frozenset[int]:
        """The indices of rows whose effect cannot be distinguished from noise."""
        return frozenset()

    def _repr_html_(self) -> str:
        return html_table(self.heading(), self.printed(), faint=self.faint(), notes=getattr(self, "notes", ()))

    def in_lines(self) -> str:
        """The table as text; a long table is cut, and the last line says how many rows are missing."""
        columns = self.printed()
        more = len(columns[0].cells) - SHOWN
        if more <= A_FEW_MORE:
            return self.to_text()
        first = [replace(column, cells=column.cells[:SHOWN]) for column in columns]
        return text_table(first) + f"\n… and {more:,} more; .to_text() shows all"

    def __str__(self) -> str:
        heading = printable(self.heading())
        return f"{heading}:\n{self.in_lines()}" if heading else self.in_lines()

    def __repr__(self) -> str:
        return str(self)


Row = TypeVar("Row")


def bar_parts(cells: Sequence[Any]) -> list[float]:
    """The length of each bar as a fraction of the longest bar."""
    numbers = [float(cell or 0.0) for cell in cells]
    top = max(numbers, default=0.0) or 1.0
    return [number / top for number in numbers]


def columns_of(rows: Sequence[Any]) -> dict[str, list[Cell]]:
    """Convert dataclass rows to columns; fields with ``compare=False`` are left out, `name` becomes `parameter`."""
    names = [field.name for field in (fields(rows[0]) if rows else ()) if field.compare]
    return {"parameter" if name == "name" else name: [finite(getattr(row, name)) for row in rows] for name in names}


def finite(value: Any) -> Any:
    """The value, or None in place of numbers that JSON does not have: NaN and infinities."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class NamedTable(Table, Mapping[str, Row]):
    """A table whose rows are found by parameter name: ``table["lr"]``, ``table.items()``, ``"lr" in table``."""

    __slots__ = ()
    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:  # type: ignore[attr-defined]
                return row
        raise UnknownParameterError(unknown_name(name, tuple(self)))

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in self.rows)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.rows)
