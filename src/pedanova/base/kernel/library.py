"""Load the compiled kernel with ctypes.

With `PEDANOVA_KERNEL=numpy`, no kernel is loaded; any other value is the path of a kernel.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.version import __version__
from pedanova.errors import PedanovaError

ENTRY = np.dtype([("count", np.float64), ("sum", np.float64)])
MOMENT = np.dtype([("count", np.int64), ("sum", np.float64), ("square", np.float64)])
MERGED = np.dtype("f8, i8, i8, i8, f8, f8")
MERGED.names = "number", "level", "count", "first", "low", "high"
DTYPES = {
    np.dtype(name): code for code, name in enumerate(["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
} | {np.dtype(bool): 6}
DIGIT_BITS = (16, 11, 11, 11, 11, 4)  # the digits into which select.hpp divides the bits of a number

_pointer, _int64, _int32, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_double
_column = [_pointer, _int64, _int32]
_window = [ctypes.c_uint64, _int32, _int64]
LETTERS = {_pointer: "P", _double: "d", _int32: "i", _int64: "q", ctypes.c_uint64: "Q"}  # as agreement.hpp writes them
SIGNATURES: dict[str, list[Any]] = {
    "all_finite": [*_column, _int64, _int32],
    "assign_levels": [*_column, _double, _int64, _pointer, _int64, _int64, _int32, _pointer, _int32],
    "count_features": [_pointer, _int64, _int64, _int32, _pointer, _int64, *_column, _pointer, _int32],
    "lowest_rows": [_pointer, _int64, _int32, _pointer, _int64, _int32],
    "split_table": [_pointer, _int64, _pointer, _pointer],
    "code_feature": [_pointer, _int64, _pointer, _pointer],
    "count_pairs": [_pointer, _pointer, _int64, _int64, _int64, _int64, _pointer],
    "sum_levels": [*_column, _int64, _int32, _pointer, _pointer, _pointer],
    "count_digits": [*_column, _double, _int64, _pointer, _int32, _pointer],
    "find_fronts": [_pointer, _int64, _int64, _pointer],
    "gather_wanted": [*_column, _double, _int64, _pointer, _int32, _pointer, _int64],
    "count_window": [*_column, _double, _int64, *_window, _pointer, _int32],
    "gather_slots": [*_column, _double, _int64, *_window, *[_pointer] * 3, _int64, *[_pointer] * 2, _int32],
    "assign_by_slots": [*_column, _double, _int64, *_window, _pointer, _int64, _int64, _int32, _pointer, _int32],
    "settle_rows": [_pointer, _pointer, _int64, _pointer, _int64, _pointer, _int32],
    "invert_triangle": [_pointer, _int64, _pointer],
    "sort_lines": [_pointer, _int64, _int64, _pointer],
}


# The values of one column, with which both structures begin
VALUES = (("data", _pointer), ("stride", _int64), ("dtype", _int32), ("looked_up", _int32), ("missing", _pointer))


class Feature(ctypes.Structure):
    """The C++ structure of cells.hpp that describes one column, its grid of cells and its table of counts."""

    _fields_ = (
        *VALUES, ("cells", _int64), ("inner", _pointer), ("accept_low", _pointer), ("accept_high", _pointer),
        ("range", _int32), ("even", _int32), ("origin", _double), ("scale", _double), ("offset", _int64),
        ("size", _int64), ("lookup", _pointer), ("table", _pointer), ("counts", _pointer), ("sums", _pointer),
    )  # fmt: skip


class Summand(ctypes.Structure):
    """The C++ structure of sample.hpp that describes what one column adds to the numbers of the rows."""

    _fields_ = (
        *VALUES, ("table", _pointer), ("size", _int64), ("gap", _double), ("first", _double), ("second", _double),
        ("weight", _double),
    )  # fmt: skip


class Sample(ctypes.Structure):
    """The C++ structure of sample.hpp for the configurations with the lowest numbers."""

    _fields_ = (
        ("summands", _pointer), ("count", _int64), ("data", _pointer), ("stride", _int64), ("dtype", _int32),
        ("shift", _int32), ("sign", _double), ("most", _int64), ("limit", _double), ("room", _int64),
        ("found", _pointer),
    )  # fmt: skip


STRUCTURES = Feature, Summand, Sample


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A column and its grid; if `lookup` is set, the cell of a value is ``lookup[value - offset]``."""

    values: NDArray[Any]
    grid: Any  # a `Grid` of the package `space`
    missing: NDArray[np.bool_] | None = None  # contiguous
    offset: int = 0
    lookup: NDArray[np.int32] | None = None

    def feature(self, rows: slice) -> Feature:
        """The C++ structure for `rows`, with addresses of arrays; the arrays must exist while the structure is used."""
        data, stride, dtype = column_of(self.values[rows])
        missing = None if self.missing is None else address(self.missing[rows])
        feature = Feature(data, stride, dtype, int(self.lookup is not None), missing, self.grid.cells)
        if self.lookup is None:
            grid = self.grid
            feature.inner, feature.accept_low = address(grid.inner), address(grid.accept_low)
            feature.accept_high, feature.range = address(grid.accept_high), int(grid.labels is None)
            if grid.even and grid.edges is not None and grid.cells > 1:
                feature.even, feature.origin = 1, float(grid.edges[0])
                feature.scale = grid.cells / float(grid.edges[-1] - grid.edges[0])
        else:
            feature.offset, feature.size, feature.lookup = self.offset, len(self.lookup), address(self.lookup)
        return feature


@dataclass(frozen=True, slots=True)
class Opened:
    library: ctypes.CDLL | None
    where: str


@lru_cache(maxsize=1)
def opened() -> Opened:
    wish = os.environ.get("PEDANOVA_KERNEL", "")
    if wish == "numpy":
        return Opened(None, "switched off by PEDANOVA_KERNEL=numpy")
    path = Path(wish) if wish else find_library()
    if path is None:
        return Opened(None, "not built, because no C++ compiler was found when pedanova was installed")
    state = open_library(path)
    if state.library is None:
        warnings.warn(f"{state.where}; NumPy is used, which is several times slower", RuntimeWarning, stacklevel=2)
    return state


def open_library(path: Path) -> Opened:
    """Load the library if its version, functions and structures match this module; otherwise return the reason."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        return Opened(None, f"{path} cannot be opened: {error}")
    if not hasattr(library, "pedanova_face"):
        return Opened(None, f"{path} does not say which version of pedanova it belongs to; reinstall pedanova")
    library.pedanova_version.restype = library.pedanova_face.restype = ctypes.c_char_p
    version, face = library.pedanova_version().decode(), library.pedanova_face().decode()
    if version != __version__:
        return Opened(None, f"{path} belongs to pedanova {version}, not to {__version__}; reinstall pedanova")
    unlike = disagreements(face)
    if unlike:
        return Opened(None, f"{path} and the Python code define {', '.join(unlike)} differently; reinstall pedanova")
    for name, arguments in SIGNATURES.items():
        function = getattr(library, f"pedanova_{name}")
        function.argtypes, function.restype = arguments, _int64
    return Opened(library, str(path))


def own_face() -> dict[str, str]:
    """Describe the arguments of functions and the layout of structures, in the same form as agreement.hpp."""
    face = {name: f"{''.join(LETTERS[kind] for kind in kinds)}:q" for name, kinds in SIGNATURES.items()}
    for one in STRUCTURES:
        face |= {f"{one.__name__}.{name}": str(getattr(one, name).offset) for name, _ in one._fields_}
        face[one.__name__] = str(ctypes.sizeof(one))
    return face | {"Merged": str(MERGED.itemsize)}


def disagreements(face: str) -> list[str]:
    ours, theirs = own_face(), dict(line.split("=", 1) for line in face.splitlines())
    return [name for name in ours | theirs if ours.get(name) != theirs.get(name)]


def find_library() -> Path | None:
    """The path of the compiled kernel, also in an editable install; None if the kernel was not built."""
    spec = find_spec("pedanova")
    for folder in (spec and spec.submodule_search_locations) or ():
        for suffix in ("so", "dll", "dylib"):
            path = Path(folder) / f"_kernel.{suffix}"
            if path.is_file():
                return path
    return None


def available() -> bool:
    return opened().library is not None


def describe() -> str:
    state = opened()
    return "C++" if state.library is not None else f"NumPy (kernel {state.where})"


def is_usable(values: NDArray[Any]) -> bool:
    return values.dtype in DTYPES and values.dtype.isnative


def usable(values: NDArray[Any]) -> NDArray[Any]:
    return values if is_usable(values) else np.ascontiguousarray(values, dtype=np.float64)


def call(name: str, *arguments: object) -> int:
    """Call the library function ``pedanova_<name>``, described in src/kernel; arrays are passed by address."""
    library = opened().library
    if library is None:
        raise PedanovaError(f"the compiled kernel is not available: {opened().where}")
    result: int = getattr(library, f"pedanova_{name}")(*map(_passed, arguments))
    if result < 0:
        raise PedanovaError(f"the kernel function {name} failed (code {result}); please report this")
    return result


def _passed(argument: object) -> object:
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data
    return ctypes.byref(argument) if isinstance(argument, STRUCTURES) else argument


def address(array: NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


def column_of(values: NDArray[Any]) -> tuple[int, int, int]:
    return values.ctypes.data, values.strides[0] if len(values) else 0, DTYPES[values.dtype]


def signed(values: NDArray[Any], sign: float) -> tuple[Any, ...]:
    """The C arguments for a column; the kernel multiplies every value by `sign`."""
    return *column_of(values), sign, len(values)


def pointers(arrays: Sequence[NDArray[Any]]) -> Any:
    """A C array with the addresses of `arrays`, which must exist as long as the result is used."""
    return (_pointer * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def count_features(
    placed: Sequence[Placed],
    levels: NDArray[Any],
    count: int,
    objective: NDArray[Any],
    places: Sequence[NDArray[Any] | tuple[NDArray[np.int64], NDArray[np.float64]]],
    *,
    sample: Sample | None = None,
    threads: int = 1,
) -> int:
    """For every column, count the rows and sum the objective in each cell, separately for each level.

    `places` has one output for each column: two new arrays (counts, sums), or an array of type `ENTRY`, whose counts
    and sums are increased. Levels are 0 to `count - 1`. Rows with the level `count` are left out; their output is
    undefined. The result is the number of entries of `sample`, which is taken in the same pass.
    """
    features = (Feature * len(placed))(*(one.feature(slice(0, len(levels))) for one in placed))
    for feature, place in zip(features, places, strict=True):
        if isinstance(place, tuple):
            feature.counts, feature.sums = map(address, place)
        else:
            feature.table = address(place)
    rows = len(levels), levels.itemsize, levels, count
    return call("count_features", features, len(placed), *rows, *column_of(objective), sample, threads)


def split_table(table: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Split a contiguous array of type `ENTRY` into an array of counts and an array of sums."""
    counts, sums = np.empty(table.shape, dtype=np.int64), np.empty(table.shape, dtype=np.float64)
    call("split_table", table, counts.size, counts, sums)
    return counts, sums
