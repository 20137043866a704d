"""Small result tables and the forms they print in. Nothing here computes statistics."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from pedanova.base.columns import laid_out, text_table
from pedanova.base.html import Look, draw
from pedanova.base.terminal_text import printable, width_of
from pedanova.errors import MissingLibraryError, UnknownParameterError, unknown_name

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Cell: TypeAlias = str | float | int | bool | None
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "γ": r"$\gamma$",
        "\n": " ",
        "\r": " ",
    }
)
MARKDOWN = str.maketrans({"|": r"\|", "\n": " ", "\r": " ", "<": "&lt;", "`": r"\`", "*": r"\*", "_": r"\_"})


class Table:
    """A table that prints well. A subclass says what is in it.

    `to_dict` holds every number in full, column by column; the printed forms (`header`, `lines`)
    are rounded for reading.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, list[Cell]]:
        """Columns by name, numbers in full."""
        raise TypeError(f"{type(self).__name__} does not say what its columns are")

    def header(self) -> list[str]:
        return list(self.to_dict())

    def lines(self) -> list[list[str]]:
        """Rows as text, rounded for reading."""
        return [[show(cell) for cell in row] for row in zip(*self.to_dict().values(), strict=True)]

    def to_pandas(self) -> pd.DataFrame:
        try:
            import pandas as pd
        except ImportError:
            raise MissingLibraryError("to_pandas() needs pandas; pip install pandas") from None
        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> pl.DataFrame:
        try:
            import polars as pl
        except ImportError:
            raise MissingLibraryError("to_polars() needs Polars; pip install polars") from None
        return pl.DataFrame(self.to_dict())

    def to_csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = self.to_dict()
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()

    def to_markdown(self) -> str:
        lines = [[cell.translate(MARKDOWN) for cell in line] for line in (self.header(), *self.lines())]
        head, *rows = laid_out(lines, least=3)
        rule = ["-" * (width_of(cell) - (i > 0)) + ":" * (i > 0) for i, cell in enumerate(head)]
        return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *rows))

    def to_latex(self) -> str:
        """A `tabular` with booktabs rules."""
        body = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in self.lines()]
        head = " & ".join(name.translate(LATEX) for name in self.header()) + r" \\"
        shape = "l" + "r" * (len(self.header()) - 1)
        lines = [
            rf"\begin{{tabular}}{{{shape}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"

    def to_text(self) -> str:
        """Columns in line, for a terminal."""
        return text_table(self.header(), self.lines())

    def look(self) -> Look:
        """What a notebook shows: a bar behind every ratio."""
        notes = getattr(self, "notes", ())
        return Look(self.heading(), self.header(), self.lines(), bars=self.ratio_bars(), notes=notes)

    def heading(self) -> str:
        """What is in it, as the line above; empty where the columns say enough."""
        return ""

    def ratio_bars(self, title: str = "ratio") -> dict[int, list[float]]:
        """Bars for one column, the largest number as long as the cell."""
        if title not in self.header():
            return {}
        numbers = [float(cell or 0.0) for cell in self.to_dict()[title]]
        top = max(numbers, default=0.0) or 1.0
        return {self.header().index(title): [number / top for number in numbers]}

    def _repr_html_(self) -> str:
        return draw(self.look())

    def __str__(self) -> str:
        heading = printable(self.heading())
        return f"{heading}:\n{self.to_text()}" if heading else self.to_text()

    def __repr__(self) -> str:
        return str(self)


class Named(Protocol):
    """A row that belongs to one parameter."""

    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=Named)


class NamedTable(Table, Generic[Row]):
    """A table with one row for each parameter: ``table["lr"]``, ``list(table)``, ``"lr" in table``."""

    __slots__ = ()
    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownParameterError(unknown_name(name, tuple(self)))

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.rows)


def show(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return "" if cell is None else str(cell)


def show_percent(part: float) -> str:
    """A part of one as a percentage; below zero is shown as zero."""
    return f"{max(0.0, part):.1%}"
