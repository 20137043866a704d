"""Sources: whatever a user has → `Records`. One file for each kind, picked by type or suffix."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from pedanova.column import Column, as_column
from pedanova.errors import DataError
from pedanova.observations import Records
from pedanova.sources import arrays, files, frames
from pedanova.sources.names import as_names


def read_records(data: object, *, names: Sequence[str] | None = None) -> Records:
    """The columns of a file, a data frame, a dict of arrays or a NumPy array."""
    if isinstance(data, Records):
        return data
    if isinstance(data, np.ndarray):
        return arrays.read_array(data, names)
    if names is not None:
        raise DataError(f"names={names!r} is for 2-D NumPy arrays; this source names its own columns")
    if isinstance(data, str | os.PathLike):
        return files.read_file(os.fspath(data))
    if isinstance(data, Mapping):
        named = zip(as_names(data), data.values(), strict=True)
        return Records({name: read_series(name, values) for name, values in named})
    if frames.is_frame(data):
        return frames.read_frame(data)
    raise DataError(
        f"a {type(data).__module__}.{type(data).__name__} cannot be read; give a path, a pandas, Polars or "
        "pyarrow table, a dict of arrays, or a NumPy array with names="
    )


def read_series(name: str, values: object) -> Column:
    """One column from an array, a list, or a series of a data frame library."""
    if isinstance(values, np.ndarray | list | tuple | range | Column):
        return as_column(name, values)
    if frames.is_frame(values):
        raise DataError(f"{name}: a {type(values).__name__} has several columns; give one of them")
    series = frames.as_series(values)
    return as_column(name, values) if series is None else frames.read_series(name, series)
