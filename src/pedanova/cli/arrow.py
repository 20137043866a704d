"""Answers as Arrow, for R, Julia and whatever else reads it: a table, with the rest of the answer in its metadata.

A file gets the random-access form (Feather 2, ``.arrow``), a pipe the streaming form, as each is usually read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pedanova.base.files import write_file
from pedanova.base.table import Cell
from pedanova.errors import MissingLibraryError, QueryError

KEY = b"pedanova"  # of the metadata that holds the rest of the answer, as JSON


def emit_arrow(columns: Mapping[str, Sequence[Cell]], answer: Mapping[str, Any], output: str | None) -> None:
    """The table to the file or the pipe; of the answer, everything that is no table goes along."""
    if output is None and sys.stdout.isatty():
        raise QueryError("--format arrow is no text; name a file with -o, or pipe it into what reads Arrow")
    about = {key: value for key, value in answer.items() if not _is_table(value)}
    content = arrow_bytes(columns, about, streamed=output is None)
    if output is not None:
        write_file(Path(output), content)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def arrow_bytes(columns: Mapping[str, Sequence[Cell]], about: Mapping[str, Any], *, streamed: bool) -> bytes:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingLibraryError("--format arrow needs pyarrow; pip install 'pedanova[arrow]'") from None
    types = {"text": pa.string(), "truth": pa.bool_(), "whole": pa.int64(), "number": pa.float64()}
    arrays = {name: typed(cells) for name, cells in columns.items()}
    metadata = {KEY: json.dumps(about, ensure_ascii=False).encode()}
    table = pa.table(
        [pa.array(cells, types[kind]) for kind, cells in arrays.values()], names=list(arrays), metadata=metadata
    )
    sink = pa.BufferOutputStream()
    open_writer = pa.ipc.new_stream if streamed else pa.ipc.new_file
    with open_writer(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def typed(cells: Sequence[Cell]) -> tuple[str, Sequence[Cell]]:
    """One type for a column: what is empty throughout holds numbers; what is of several kinds is text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {float} or kinds == {float, int}:
        return "number", [None if cell is None else float(cell) for cell in cells]
    if kinds == {int}:
        return "whole", cells
    if kinds == {bool}:
        return "truth", cells
    return "text", [None if cell is None else str(cell) for cell in cells]


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
