"""A column with more rows behind it, exactly as if all of them had been read at once, or None where that takes
their text: a number among words is a word, and only its text says how it was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.data.column import MISSING_CODE, Column, Mask, encode, some
from pedanova.sources.tables.text import parse_text


def with_texts(column: Column, texts: Sequence[str]) -> Column | None:
    """More cells of a text file. Words such as NA are gaps among numbers, and words among words."""
    if column.labels is not None and not column.absent().all():
        return with_rows(column, encode(column.name, (text if text.strip() else None for text in texts)))
    more = parse_text(column.name, texts)
    return None if more.labels is not None else with_rows(column, more)


def with_rows(column: Column, more: Column) -> Column | None:
    """More rows; numbers stay numbers, words stay words."""
    if (column.labels is None) != (more.labels is None):
        return _beside_gaps(column, more)
    if column.labels is not None and more.labels is not None:
        return _words(column, more)
    kinds = {part.values.dtype.kind for part in (column, more) if not part.absent().all()}
    if "b" in kinds and len(kinds) > 1:
        return None
    return _numbers(column, more, "b" if "b" in kinds else "f" if "f" in kinds else "i")


def without_values(name: str, rows: int, like: Column) -> Column:
    """Rows without a value, of the kind of another column."""
    if like.labels is not None:
        return replace(like, name=name, values=np.full(rows, MISSING_CODE, dtype=np.int32), missing=None)
    return Column(name, np.zeros(rows, dtype=like.values.dtype), None, np.ones(rows, dtype=bool))


def _beside_gaps(column: Column, more: Column) -> Column | None:
    """Words here and numbers there: told only where one of both has no value at all."""
    if more.absent().all():
        return with_rows(column, without_values(column.name, len(more), column))
    if column.absent().all() and column.labels is not None:
        return with_rows(without_values(column.name, len(column), more), more)
    return None


def _words(column: Column, more: Column) -> Column | None:
    if not all(isinstance(label, str) for part in (column, more) for label in part.labels or ()):
        return _same_words(column, more)
    labels = tuple(sorted({str(label) for part in (column, more) for label in part.labels or ()}))
    place = {label: code for code, label in enumerate(labels)}
    codes = [_recoded(part, place) for part in (column, more)]
    return replace(column, values=np.concatenate(codes), labels=labels)


def _same_words(column: Column, more: Column) -> Column | None:
    """Labels of mixed kinds, such as True beside 1, are named by all of them together: no new one may come."""
    place = {(type(label), label): code for code, label in enumerate(column.labels or ())}
    if any((type(label), label) not in place for label in more.labels or ()):
        return None
    table = np.array([place[type(label), label] for label in more.labels or ()] + [MISSING_CODE], dtype=np.int32)
    return replace(column, values=np.concatenate([column.values, table[more.values]]))


def _recoded(part: Column, place: dict[str, int]) -> NDArray[Any]:
    table = np.array([place[str(label)] for label in part.labels or ()] + [MISSING_CODE], dtype=np.int32)
    return table[np.where(part.values < 0, len(table) - 1, part.values)]


def _numbers(column: Column, more: Column, kind: str) -> Column:
    gone: Mask = np.concatenate([column.absent(), more.absent()])
    values = np.concatenate([_as_kind(part, kind) for part in (column, more)])
    if kind == "f":
        values[gone] = np.nan
        return Column(column.name, values)
    return Column(column.name, values, None, some(gone))


def _as_kind(part: Column, kind: str) -> NDArray[Any]:
    values = np.where(part.absent(), 0, part.values)
    return values.astype({"b": np.bool_, "i": np.int64, "f": np.float64}[kind])
