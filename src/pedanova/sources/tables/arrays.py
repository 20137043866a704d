"""NumPy arrays: structured ones by field, two-dimensional ones by names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from pedanova.data.column import as_column
from pedanova.data.records import Records
from pedanova.errors import Arg, DataError
from pedanova.sources.tables.names import as_names


def read_array(array: NDArray[Any], names: Sequence[str] | None) -> Records:
    """A structured array, or a 2-D array whose columns are `names` (x0, x1, … without)."""
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise DataError(f"a structured array of shape {array.shape} must be one-dimensional")
        fields = zip(as_names(array.dtype.names), array.dtype.names, strict=True)
        return Records({name: as_column(name, array[field]) for name, field in fields})
    if array.ndim != 2:
        raise DataError(f"an array of shape {array.shape} must have two dimensions: rows and columns")
    columns = array.shape[1]
    if isinstance(names, str) or not isinstance(names, Iterable | None):
        raise DataError(Arg("names", names), f" must be a list of names, one for each of {columns} columns")
    known = [f"x{i}" for i in range(columns)] if names is None else as_names(names)
    if len(known) != columns:
        raise DataError(Arg("names"), f" gives {len(known)} names for {columns} columns; give one for each")
    return Records({name: as_column(name, array[:, i]) for i, name in enumerate(known)})
