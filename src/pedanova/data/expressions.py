"""Conditions on columns as text, such as ``epochs >= 10 and optimizer == 'adam'``.

The text is parsed, never run: comparisons, ``in``, ``and``, ``or``, ``not`` and parentheses over
columns and plain values. Names that are no Python names stand in backticks. A comparison with a
missing value is false; ``x is None`` asks for missing ones. ``lasso(log(lr), momentum, [(1e-4, 0.5), …])``
holds inside a closed line, whose edges are straight on the scales that are written there.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.data.cells import equals_any
from pedanova.data.column import Column, Mask
from pedanova.data.lasso import lasso
from pedanova.data.text_numbers import as_numbers
from pedanova.errors import QueryError, unknown_name
from pedanova.space.values import as_real, shown

LONGEST = 10_000
ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
# Text in quotes stays as it is; what stands in backticks elsewhere is a name.
QUOTED = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|`([^`]+)`""")
EXAMPLE = "write it like: epochs >= 10 and optimizer == 'adam'"


def rows_where(text: str, table: Mapping[str, Column]) -> Mask:
    """(rows,) True where the condition holds."""
    try:
        tree, names = parse(text)
        return Reader(text, table, names).truth(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, QueryError):
            raise
        raise QueryError(f"{text[:80]!r} is no condition; {EXAMPLE}") from None


def columns_in(text: str, table: Mapping[str, Column]) -> list[str]:
    """The columns that a well-formed condition speaks of; any other speaks of none, and `rows_where` refuses it."""
    try:
        tree, names = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    spoken = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called)
    found = (names.get(node.id, node.id) for node in spoken)
    return [name for name in dict.fromkeys(found) if name in table]


def parse(text: str) -> tuple[ast.expr, dict[str, str]]:
    """The parsed text, and the names in backticks by what stands for them."""
    names: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        if match.group(2) is None:
            return match.group(0)
        name = f"_{len(names)}_"
        while name in text:  # a column may be called so
            name = f"_{name}"
        names[name] = match.group(2)
        return f" {name} "

    if len(text) > LONGEST:
        raise QueryError(f"a condition of {len(text)} letters is longer than {LONGEST}; use a boolean column")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's advice on style is none on conditions
        tree = ast.parse(QUOTED.sub(stand_in, text).strip(), mode="eval")
    return tree.body, names


class Reader:
    """Walks a parsed condition; whatever it does not know, it refuses."""

    def __init__(self, text: str, table: Mapping[str, Column], names: Mapping[str, str]) -> None:
        self.text, self.table, self.names = text, table, names

    def truth(self, node: ast.expr) -> Mask:
        match node:
            case ast.BoolOp(op=op, values=values):
                join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                return join.reduce([self.truth(value) for value in values])  # type: ignore[no-any-return]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self.truth(operand)
            case ast.Compare():
                return self.comparison(node)
            case ast.Name():
                return self.boolean(self.column(node))
            case ast.Call(func=ast.Name(id="lasso"), args=[x, y, corners], keywords=[]):
                return self.inside(x, y, corners)
            case _:
                raise self.refusal(node)

    def inside(self, x: ast.expr, y: ast.expr, corners: ast.expr) -> Mask:
        """``lasso(log(lr), momentum, [(1e-4, 0.5), …])``: the text alone says where edges are straight."""
        if not isinstance(corners, ast.List | ast.Tuple):
            raise self.refusal(corners)
        (across, log_x), (up, log_y) = self.axis(x), self.axis(y)
        line = lasso(across.name, up.name, [self.value(corner) for corner in corners.elts])
        return replace(line, log=(log_x, log_y)).rows(across, up)

    def axis(self, node: ast.expr) -> tuple[Column, bool]:
        """A column, and whether it lies on a log scale."""
        match node:
            case ast.Call(func=ast.Name(id="log"), args=[ast.Name() as name], keywords=[]):
                return self.column(name), True
            case ast.Name():
                return self.column(node), False
            case _:
                raise self.refusal(node)

    def comparison(self, node: ast.Compare) -> Mask:
        """Chains such as ``1e-4 <= lr < 1e-2`` are taken pair by pair."""
        sides = [node.left, *node.comparators]
        pairs = zip(sides[:-1], node.ops, sides[1:], strict=True)
        return np.logical_and.reduce([self.pair(*pair) for pair in pairs])  # type: ignore[no-any-return]

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
            raise QueryError(f"{self.text[:80]!r}: {column.name} holds numbers, {shown(value)} is text")
        with np.errstate(invalid="ignore"):
            return present & ORDERS[type(op)](numbers, as_real(value))  # type: ignore[no-any-return]

    def equal(self, column: Column, values: tuple[Any, ...]) -> Mask:
        if any(isinstance(value, float) and not math.isfinite(value) for value in values):
            raise QueryError(f"{self.text[:80]!r}: nothing equals infinity; compare by < or >")
        return equals_any(column, values)

    def columns(self, left: Column, op: ast.cmpop, right: Column) -> Mask:
        present = ~left.absent() & ~right.absent()
        compare = ORDERS.get(type(op)) or {ast.Eq: operator.eq, ast.NotEq: operator.ne}.get(type(op))
        if compare is None:
            raise QueryError(f"{self.text[:80]!r}: columns can be compared by <, <=, ==, !=, >=, >")
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
            quotes = f"; text stands in quotes: {name!r}" if name.isidentifier() else ""
            raise QueryError(f"{self.text[:80]!r}: {unknown_name(name, tuple(self.table), what='column')}{quotes}")
        return self.table[name]

    def boolean(self, column: Column) -> Mask:
        if column.values.dtype.kind != "b":
            raise QueryError(f"{self.text[:80]!r}: {column.name} is no boolean column; compare it with a value")
        marked: Mask = column.values & ~column.absent()
        return marked

    def numbers(self, column: Column) -> NDArray[Any]:
        numbers = as_numbers(column)
        column = column if numbers is None else numbers[0]
        if column.labels is not None or column.is_time:
            raise self.unfit(column)
        return column.values

    def unfit(self, column: Column) -> QueryError:
        remedy = "dates; turn them into numbers" if column.is_time else "text; use == or in with a value"
        return QueryError(f"{self.text[:80]!r}: {column.name} holds {remedy}")

    def refusal(self, node: ast.AST) -> QueryError:
        part = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
        return QueryError(f"{self.text[:80]!r}: {part[:40]!r} is not understood; {EXAMPLE}")
