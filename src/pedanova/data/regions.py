"""Targets and regions: a range of the objective (quantiles or values), a mask, a box or a condition."""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.kernel.selection import select_ranks
from pedanova.data.column import Column, Mask, as_column, as_numbers, count_nan, equals_any
from pedanova.errors import Arg, QueryError, SpaceError, plainly, unknown_name
from pedanova.space.values import Interval, as_labels, as_real, interval_from, items_of, shown

Direction: TypeAlias = Literal["minimize", "maximize"]
LIMITS = re.compile(r"(?:>=(.*?))?(?:(?:^|,)<=(.*))?")
PERCENTAGE = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*%\s*")
LEAST_TARGET = 5  # an answer needs at least this many target rows


def sign_of(direction: str) -> float:
    return 1.0 if direction == "minimize" else -1.0


@dataclass(frozen=True, slots=True)
class Quantile:
    """The boundary after the best 10 % if `part` is 1/10; rows that tie with the last one are included."""

    part: Fraction

    def __str__(self) -> str:
        return f"the best {part_in_words(self.part)}"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A boundary at a value of the objective; `signed` is this value, negated if the objective is maximised."""

    signed: float


Cut: TypeAlias = Quantile | Threshold


@dataclass(frozen=True, slots=True)
class Region:
    """A range of the objective for `target` or `region`, made by `at_most`, `at_least` or `between`.

    Attributes
    ----------
    kind
        Whether `low` and `high` are quantiles (``"quantile"``) or values of the objective (``"value"``).
    low, high
        The two ends; None for no limit.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.at_most(0.05).high
    0.05
    >>> pa.Region.parse("<=0.05") == pa.at_most(0.05)
    True
    >>> pa.between(0.1, 0.3).text("shell")
    '0.1..0.3'
    """

    kind: Literal["quantile", "value"]
    low: float | Fraction | None
    high: float | Fraction | None

    @classmethod
    def parse(cls, value: object, name: str = "region") -> Region:
        """A region from a quantile (``0.1``, ``"10%"``) or a text: ``"0.1..0.3"``, ``"<=0.05"``, ``">=0.1,<=0.3"``.

        Error messages contain the `name` of the argument. A `Region` is returned unchanged.
        """
        if isinstance(value, Region):
            return value
        if not isinstance(value, str) or is_percentage(value):
            return cls("quantile", Fraction(0), as_part(value, name))
        ends = _quantiles_in(value)
        if ends is not None:
            return between(*ends) if len(ends) == 2 else cls("quantile", Fraction(0), as_part(ends[0], name))
        text = value.strip()
        limits = LIMITS.fullmatch(text) if text else None
        if limits is None:
            sign = text[:1] if text[:1] in ("<", ">") else "<"
            words = f" must have {sign}= instead of {sign}" if text[:1] == sign else " must be a quantile or a limit"
            raise QueryError(Arg(name, shown=repr(value)), f"{words}, such as '{sign}=0.5'")
        try:
            first, last = (None if end is None else _as_value(float(end)) for end in limits.groups())
        except ValueError:
            raise QueryError(Arg(name, shown=repr(value)), f" must have a number after {text[:2]}") from None
        if first is None or last is None:
            return cls("value", first, last)
        return between(first, last, values=True)

    def text(self, dialect: Literal["python", "shell"]) -> str:
        """The region as it is written in Python (``pa.at_most(0.05)``) or in a shell (``<=0.05``)."""
        low, high = self.low, self.high
        if self.kind == "quantile":
            low, high = float(low or 0), 1.0 if high is None else float(high)
            python, shell = (f"pa.between({low!r}, {high!r})", f"{low!r}..{high!r}") if low else (repr(high),) * 2
        elif low is None or high is None:
            python = f"pa.at_most({high!r})" if low is None else f"pa.at_least({low!r})"
            shell = f"<={high!r}" if low is None else f">={low!r}"
        else:
            python, shell = f"pa.between({low!r}, {high!r}, values=True)", f">={low!r},<={high!r}"
        return python if dialect == "python" else shell

    def cuts(self, direction: Direction) -> tuple[Cut | None, Cut | None]:
        """The boundaries at the better and at the worse end; None for an end without a limit."""
        if self.kind == "quantile":
            begin = Quantile(Fraction(self.low)) if self.low else None
            end = None if self.high is None or self.high == 1 else Quantile(Fraction(self.high))
            return begin, end
        sign = sign_of(direction)
        best, worst = (self.low, self.high) if sign > 0 else (self.high, self.low)
        # "at least v" begins after all rows that are better than v.
        begin_at = None if best is None else math.nextafter(sign * float(best), -math.inf)
        if best is not None and sign * float(best) == -math.inf:  # nothing is better than infinity
            begin_at = None
        end_at = None if worst is None else sign * float(worst)
        return (None if begin_at is None else Threshold(begin_at), None if end_at is None else Threshold(end_at))

    @property
    def is_all(self) -> bool:
        """Whether the region contains all rows of every table."""
        return self.kind == "quantile" and not self.low and self.high in (None, 1)

    def as_float32(self) -> Region:
        """The same region with its ends rounded to float32, for an objective in single precision."""
        if self.kind == "quantile":
            return self
        with np.errstate(over="ignore", under="ignore"):  # a larger number becomes infinite
            low, high = (None if v is None else float(np.float32(v)) for v in (self.low, self.high))
        return Region("value", low, high)

    def __str__(self) -> str:
        if self.kind == "quantile":
            high = Fraction(1 if self.high is None else self.high)
            if not self.low:
                return "all rows" if self.is_all else f"the best {part_in_words(high)}"
            return f"the rows between the best {part_in_words(Fraction(self.low))} and the best {part_in_words(high)}"
        if self.low == self.high:
            return f"rows with objective = {_shown(self.low)}"
        if self.low is None:
            return f"rows with objective ≤ {_shown(self.high)}"
        if self.high is None:
            return f"rows with objective ≥ {_shown(self.low)}"
        return f"rows with {_shown(self.low)} ≤ objective ≤ {_shown(self.high)}"


def _shown(value: float | Fraction | None) -> str:
    return "" if value is None else short(float(value))


def at_most(value: float) -> Region:
    """Rows with an objective of `value` or less.

    Parameters
    ----------
    value
        The limit, in units of the objective.

    Returns
    -------
    Region
        A value for `target` or `region`.

    Examples
    --------
    >>> from pedanova import at_most
    >>> print(at_most(0.05))
    rows with objective ≤ 0.05
    """
    return Region("value", None, _as_value(value))


def at_least(value: float) -> Region:
    """Rows with an objective of `value` or more.

    Parameters
    ----------
    value
        The limit, in units of the objective.

    Returns
    -------
    Region
        A value for `target` or `region`.

    Examples
    --------
    >>> from pedanova import at_least
    >>> print(at_least(0.9))
    rows with objective ≥ 0.9
    """
    return Region("value", _as_value(value), None)


def between(low: float, high: float, *, values: bool = False) -> Region:
    """The rows between two quantiles, such as the rows between the best 10 % and the best 30 %.

    If 100 rows are sorted from best to worst, ``between(0.1, 0.3)`` means rows 11 to 30. Tied rows are never separated:
    rows that tie with row 10 are left out, and rows that tie with row 30 are included.

    Parameters
    ----------
    low, high
        Quantiles, or values of the objective.
    values
        If True, `low` and `high` are values of the objective, and both ends are included.

    Returns
    -------
    Region
        A value for `target` or `region`.

    Raises
    ------
    QueryError
        `low` is above `high`, two quantiles are equal, or `low` or `high` is out of range.

    Examples
    --------
    >>> from pedanova import between
    >>> print(between(0.1, 0.3))
    the rows between the best 10 % and the best 30 %
    >>> print(between(0.1, 0.3, values=True))
    rows with 0.1 ≤ objective ≤ 0.3
    """
    if values:
        first, last = _as_value(low), _as_value(high)
        if not first <= last:
            raise QueryError(f"between({low!r}, {high!r}): low must not exceed high; swap them")
        return Region("value", first, last)
    start, stop = as_part(low, "low", zero=True), as_part(high, "high")
    if not start < stop:
        raise QueryError(f"between({low!r}, {high!r}): low must be below high; swap them")
    return Region("quantile", start, stop)


def as_part(value: object, name: str, *, zero: bool = False) -> Fraction:
    """Convert a quantile to an exact decimal fraction: 0.07 becomes 7/100, not the nearest binary fraction."""
    rule = "a quantile above 0 and at most 1, such as 0.1 for the best 10 %"
    if zero:
        rule = rule.replace("above 0", "from 0")
    if isinstance(value, Region) and value.kind == "quantile" and not value.low:
        value = Fraction(1 if value.high is None else value.high)
    if isinstance(value, Fraction):
        part = value
    elif is_percentage(value):
        part = Fraction(Decimal(str(value).rstrip("% "))) / 100
    elif isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise QueryError(Arg(name, shown=repr(value)), f" must be {rule}; or use at_most(v), between(lo, hi)")
    else:
        try:
            part = Fraction(Decimal(str(value)))
        except (InvalidOperation, ValueError, OverflowError):
            raise QueryError(Arg(name, shown=shown(value)), f" must be {rule}") from None
    if not (0 <= part <= 1 if zero else 0 < part <= 1):
        raise QueryError(Arg(name, shown=f"{value}"), f" must be {rule}")
    return part


def is_percentage(value: object) -> bool:
    """Whether `value` is a text such as ``"10%"``."""
    return isinstance(value, str) and PERCENTAGE.fullmatch(value) is not None


def _quantiles_in(text: str) -> list[float] | None:
    """The numbers in a text such as ``"0.1"`` or ``"0.1..0.3"``; None for other texts."""
    with suppress(ValueError):
        return [float(part) for part in text.split("..", 1)]
    return None


def rank_of(part: Fraction, rows: int) -> int:
    """The number of rows in the best part, such as the best 10 %: ``⌈part · rows⌉``, without rounding errors."""
    return -(-part.numerator * rows // part.denominator)


def part_in_words(part: Fraction) -> str:
    return f"{float(part * 100):.6g} %"


def _as_value(value: object) -> float:
    with suppress(OverflowError):  # an integer may be too large for a float
        if not isinstance(value, bool) and isinstance(value, Real) and not math.isnan(value):
            return float(value)
    raise QueryError(f"{shown(value)} must be a number, in the units of the objective")


def as_parts(chosen: Iterable[object]) -> list[Fraction]:
    parts = items_of(chosen)
    if parts is None:
        raise QueryError(Arg("ladder", chosen), " must be a list of quantiles, such as [0.01, 0.1, 1.0]")
    return [as_part(part, "ladder") for part in parts]


LONGEST = 10_000
ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip
# Text in quotes is not changed; text in backticks is a name.
QUOTED = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|`([^`]+)`""")
EXAMPLE = "write it like this: epochs >= 10 and optimizer == 'adam'"


def rows_where(text: str, table: Mapping[str, Column]) -> Mask:
    try:
        tree, names = parse(text)
        return Reader(text, table, names).truth(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, QueryError):
            raise
        raise QueryError(f"{text[:80]!r} is not a condition; {EXAMPLE}") from None


def columns_in(text: str, table: Mapping[str, Column]) -> list[str]:
    """The columns that a condition mentions; empty if the condition is not valid."""
    try:
        tree, names = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    columns = (names.get(node.id, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name))
    return [name for name in dict.fromkeys(columns) if name in table]


def parse(text: str) -> tuple[ast.expr, dict[str, str]]:
    """Parse a condition; names in backticks become placeholders, and the dict maps each placeholder to its name."""
    names: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        if match.group(2) is None:
            return match.group(0)
        name = f"_{len(names)}_"
        while name in text:  # a column may have this name
            name = f"_{name}"
        names[name] = match.group(2)
        return f" {name} "

    if len(text) > LONGEST:
        raise QueryError(f"a condition has {len(text)} characters; at most {LONGEST} are allowed; use a boolean column")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's warnings about style do not apply to conditions
        tree = ast.parse(QUOTED.sub(stand_in, text).strip(), mode="eval")
    return tree.body, names


DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?(Z|\+00:00)?")


def as_date(value: object) -> np.datetime64 | None:
    """The moment that a text in ISO form means, in UTC; None for any other value."""
    if not isinstance(value, str) or DATE.fullmatch(value) is None:
        return None
    try:
        return np.datetime64(value.replace(" ", "T").removesuffix("Z").removesuffix("+00:00"), "us")
    except ValueError:  # such as 2026-02-31
        return None


def dates_of(column: Column) -> NDArray[Any] | None:
    """The moments in a column of dates, or of text in which each value is a date; None for other columns."""
    if column.labels is None:
        return column.values if column.values.dtype.kind == "M" else None
    read = [as_date(label) for label in column.labels]
    if not read or any(one is None for one in read):
        return None
    return np.array([*read, np.datetime64("NaT", "us")])[column.values]  # the code of a missing value is -1


class Reader:
    """Evaluates the syntax tree of a condition; raises an error for syntax that is not allowed."""

    def __init__(self, text: str, table: Mapping[str, Column], names: Mapping[str, str]) -> None:
        self.text, self.table, self.names = text, table, names

    def truth(self, node: ast.expr) -> Mask:
        match node:
            case ast.BoolOp(op=op, values=values):
                join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                return join.reduce([self.truth(value) for value in values])  # type: ignore[no-any-return]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self.truth(operand)
            case ast.Compare(left=left, ops=ops, comparators=others):  # a chain is evaluated pair by pair
                pairs = zip([left, *others[:-1]], ops, others, strict=True)
                return np.logical_and.reduce([self.pair(*pair) for pair in pairs])  # type: ignore[no-any-return]
            case ast.Name():
                return self.boolean(self.column(node))
            case _:
                raise self.refusal(node)

    def pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Mask:
        if not isinstance(left, ast.Name) and isinstance(right, ast.Name) and type(op) in MIRRORED:
            left, op, right = right, MIRRORED[type(op)](), left
        if not isinstance(left, ast.Name):
            raise self.refusal(left)
        column = self.column(left)
        if isinstance(op, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise self.refusal(right)
            return column.absent() if isinstance(op, ast.Is) else ~column.absent()
        if isinstance(right, ast.Name):
            return self.columns(column, op, self.column(right))
        return self.against(column, op, self.value(right))

    def against(self, column: Column, op: ast.cmpop, value: Any) -> Mask:
        present = ~column.absent()
        compare = ORDERS.get(type(op)) or {ast.Eq: operator.eq, ast.NotEq: operator.ne}.get(type(op))
        day = as_date(value)
        dates = None if day is None or compare is None else dates_of(column)
        if compare is not None and dates is not None:
            return present & compare(dates, day)  # type: ignore[no-any-return]
        if column.is_time:
            raise self.unfit(column)
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(value, tuple) or not value:
                raise QueryError(f"{self.text[:80]!r}: 'in' needs a list of values, such as ['adam', 'sgd']")
            hit = self.equal(column, tuple(dict.fromkeys(value)))
            return hit if isinstance(op, ast.In) else present & ~hit
        if isinstance(value, tuple):
            raise QueryError(f"{self.text[:80]!r}: compare {column.name} with one value, or use 'in'")
        if isinstance(op, ast.Eq | ast.NotEq):
            hit = self.equal(column, (value,))
            return hit if isinstance(op, ast.Eq) else present & ~hit
        numbers = self.numbers(column)
        if isinstance(value, str):
            raise QueryError(f"{self.text[:80]!r}: {column.name} holds numbers, but {shown(value)} is text")
        with np.errstate(invalid="ignore"):
            return present & ORDERS[type(op)](numbers, as_real(value))  # type: ignore[no-any-return]

    def equal(self, column: Column, values: tuple[Any, ...]) -> Mask:
        if any(isinstance(value, float) and not math.isfinite(value) for value in values):
            raise QueryError(f"{self.text[:80]!r}: no value equals infinity; compare with < or >")
        return equals_any(column, values)

    def columns(self, left: Column, op: ast.cmpop, right: Column) -> Mask:
        present = ~left.absent() & ~right.absent()
        compare = ORDERS.get(type(op)) or {ast.Eq: operator.eq, ast.NotEq: operator.ne}.get(type(op))
        if compare is None:
            raise QueryError(f"{self.text[:80]!r}: compare two columns with <, <=, ==, !=, >= or >")
        return present & compare(self.numbers(left), self.numbers(right))  # type: ignore[no-any-return]

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | bool() | int() | float() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                if any(isinstance(part, ast.List | ast.Tuple | ast.Set) for part in parts):
                    raise self.refusal(node)
                return tuple(self.value(part) for part in parts)
            case _:
                raise self.refusal(node)

    def column(self, node: ast.Name) -> Column:
        name = self.names.get(node.id, node.id)
        if name not in self.table:
            words = unknown_name(name, tuple(self.table), what="column")
            quotes = f"{'' if words.endswith('?') else ';'} put text in quotes: {name!r}" if name.isidentifier() else ""
            raise QueryError(f"{self.text[:80]!r}: {words}{quotes}")
        return self.table[name]

    def boolean(self, column: Column) -> Mask:
        if column.values.dtype.kind != "b":
            raise QueryError(f"{self.text[:80]!r}: {column.name} is not a boolean column; compare it with a value")
        marked: Mask = column.values & ~column.absent()
        return marked

    def numbers(self, column: Column) -> NDArray[Any]:
        numbers = as_numbers(column)
        column = column if numbers is None else numbers[0]
        if column.labels is not None or column.is_time:
            raise self.unfit(column)
        return column.values

    def unfit(self, column: Column) -> QueryError:
        text = f"text; write a condition such as {column.name} == 'adam'"
        dated = (
            f"dates or durations; compare dates as in {column.name} >= '2026-03-10', and turn durations into numbers"
        )
        remedy = dated if column.is_time else text
        return QueryError(f"{self.text[:80]!r}: {column.name} holds {remedy}")

    def refusal(self, node: ast.AST) -> QueryError:
        part = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
        return QueryError(f"{self.text[:80]!r}: {part[:40]!r} is not understood; {EXAMPLE}")


@dataclass(frozen=True, slots=True, eq=False)
class RowSet:
    """A set of rows as a mask, with a description."""

    mask: Mask
    words: str

    def __str__(self) -> str:
        return self.words


def as_rows(value: object, name: str, table: Mapping[str, Column], rows: int) -> Region | RowSet:
    """Convert a column name, condition, box or mask to a set of rows, and any other value to a region."""
    if isinstance(value, RowSet):
        return value
    if isinstance(value, str) and needs_rows(value):
        return _from_text(value, name, table)
    if isinstance(value, Mapping):
        return RowSet(rows_in_box(value, table, rows), rows_in_words(value))
    if not needs_rows(value):
        return Region.parse(value, name)
    mask = as_mask(value, name, rows)
    return RowSet(mask, f"the {int(mask.sum()):,} rows marked True")


def rows_in_words(value: object) -> str:
    if not isinstance(value, Mapping):
        return f"rows where {in_short(str(value))}"
    return f"rows with {', '.join(f'{name} {_bounds_in_words(bounds)}' for name, bounds in value.items())}"


def needs_rows(value: object) -> bool:
    """Whether a target or region is a set of rows (mask, box or condition), not a range of the objective."""
    if isinstance(value, str):
        return not (is_percentage(value) or value.strip()[:1] in ("<", ">") or _quantiles_in(value))
    if isinstance(value, RowSet | Mapping | list | tuple):
        return True
    return hasattr(value, "__array__") and np.ndim(value) > 0


def _from_text(text: str, name: str, table: Mapping[str, Column]) -> RowSet:
    if text not in table:
        try:
            return RowSet(rows_where(text, table), rows_in_words(text))
        except QueryError as error:
            first, *rest = error.words
            raise QueryError(Arg(name, shown=str(first)), *rest) from None
    column = table[text]
    if column.values.dtype.kind != "b":
        raise QueryError(Arg(name, text), f' is not a boolean column; compare it, as in "{text} == …"')
    return RowSet(column.values & ~column.absent(), f"rows marked {text}")


def as_mask(value: Any, name: str, rows: int) -> Mask:
    """Convert `value` to a boolean array with one entry per row; raise an error if that is not possible."""
    column = as_column(name, np.asarray(value) if hasattr(value, "__array__") else value)
    if column.values.dtype.kind != "b" or column.missing is not None:
        raise QueryError(
            Arg(name, shown=f"{shown(value)}"), " must be True or False for each row, or a quantile, or a condition"
        )
    if len(column) != rows:
        raise QueryError(f"{name} has {len(column)} values for {rows} rows; give one boolean per row")
    return column.values


def rows_in_box(box: Mapping[Any, Any], table: Mapping[str, Column], rows: int) -> Mask:
    """The rows inside a box such as ``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}, "dropout": above(0)}``."""
    if not box:
        raise QueryError("the box is empty; give at least one column and its bounds")
    inside = np.ones(rows, dtype=bool)
    for name, bounds in box.items():
        if name not in table:
            raise QueryError(f"box: {unknown_name(name, tuple(table), what='column')}")
        column = table[name]
        if column.is_time:
            raise QueryError(f"box: {name} holds dates; turn them into numbers")
        interval = interval_from(bounds)
        if interval is not None:
            inside &= equals_any(column, (interval,))
        elif isinstance(bounds, tuple):
            inside &= _in_range(column, bounds)
        else:
            many = bounds if isinstance(bounds, Set | list | np.ndarray) else [bounds]
            inside &= equals_any(column, as_labels(many, f"box values of {name}"))
    return inside


def _in_range(column: Column, bounds: tuple[Any, ...]) -> Mask:
    numbers = as_numbers(column)  # text that represents numbers, as in conditions
    column = column if numbers is None else numbers[0]
    if len(bounds) != 2 or column.labels is not None:
        raise QueryError(f"box: {column.name}={bounds!r} must be (low, high) for numbers, or a set of values")
    low, high = (end if bound is None else bound for bound, end in zip(bounds, (-math.inf, math.inf), strict=True))
    try:
        return equals_any(column, (Interval(low, high),))
    except SpaceError:
        raise QueryError(f"box: {column.name}={bounds!r} must be (low, high) with low <= high") from None


def _bounds_in_words(bounds: Any) -> str:
    interval = interval_from(bounds)
    if interval is not None:
        return str(interval)
    if isinstance(bounds, tuple) and len(bounds) == 2:
        low, high = (plainly(bound) if isinstance(bound, int) else bound for bound in bounds)
        if low is None or high is None:
            return "of any value" if low is high else f"≤ {high}" if low is None else f"≥ {low}"
        return f"from {low} to {high}"
    if isinstance(bounds, Iterable) and not isinstance(bounds, str):
        return in_short("in " + ", ".join(sorted(str(value) for value in bounds)))
    return f"= {bounds}"


def in_short(text: str, most: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def cut_at(
    ranked: NDArray[Any], keep: NDArray[np.bool_] | None, region: Region, direction: Direction
) -> NDArray[np.bool_]:
    """The kept rows that lie in a region, as a mask; NaN is worse than every number."""
    sign = sign_of(direction)
    mask = np.ones(len(ranked), dtype=bool) if keep is None else keep.copy()
    signed = sign * ranked.astype(np.float64)
    cuts = region.cuts(direction)
    kept = signed[mask] if any(isinstance(cut, Quantile) for cut in cuts) else signed[:0]  # rows only for quantiles
    begin, end = (_signed_cut(cut, kept) for cut in cuts)
    if begin is not None:
        mask &= ~(signed <= begin) if begin < math.inf else False
    if end is not None and end < math.inf:  # NaN counts as infinite, so a threshold at infinity includes all rows
        mask &= signed <= end
    return mask


def _signed_cut(cut: Cut | None, kept: NDArray[np.float64]) -> float | None:
    """The objective at a boundary, negated if it is maximised; None if no row lies beyond the boundary."""
    if cut is None or not isinstance(cut, Quantile):
        return None if cut is None else cut.signed
    rank = rank_of(cut.part, len(kept))
    return select_ranks(kept, 1.0, [rank])[rank] if rank <= len(kept) - count_nan(kept) else None
