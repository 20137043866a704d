"""Read Delta and Iceberg tables with their own libraries: exactly the rows of one snapshot.

Features that `deltalake` and `pyiceberg` do not support raise an error. A path is read in its current state; a table
object of `deltalake` or `pyiceberg` is read at its snapshot. A single file of such a table, or of a Hudi table, is not
read: this raises an error, because outdated files contain duplicate or deleted rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from pedanova.data.records import Records
from pedanova.errors import DataError, MissingLibraryError, PedanovaError
from pedanova.sources.scans.batches import batch_rows
from pedanova.sources.scans.objects import (
    WEB,
    is_object,
    opened_store,
    plain_words,
    retried,
    server_of,
    shown_address,
    without_secrets,
)
from pedanova.sources.tables.frames import read_frame

MARKS = {"_delta_log": "Delta", ".hoodie": "Hudi", "metadata": "Iceberg"}
ICEBERG = ".metadata.json"  # the suffix of files with the state of an Iceberg table
HINT = "metadata/version-hint.text"


def table_kind(place: str) -> str | None:
    """The kind of table that a folder or metadata file belongs to; None for anything else."""
    if is_object(place):
        address = urlsplit(place)
        path = PurePosixPath(unquote(address.path))
        if path.name.endswith(ICEBERG):
            return "Iceberg"
        if address.scheme in WEB or path.suffix or any(sign in address.path for sign in "*["):
            return None
        return far_kinds(place, [path]).get(path)
    try:
        if place.endswith(ICEBERG) and Path(place).is_file():
            return "Iceberg"
        return near_kind(Path(place)) if Path(place).is_dir() else None
    except (OSError, ValueError):  # a name that the system does not accept
        return None


def near_kind(folder: Path) -> str | None:
    for mark, kind in MARKS.items():
        if (folder / mark).is_dir() and (kind != "Iceberg" or any((folder / mark).glob(f"*{ICEBERG}"))):
            return kind
    return None


def far_kinds(place: str, folders: Iterable[PurePath]) -> dict[PurePath, str]:
    """The kind of table in each of the given folders of an object store; folders that are not tables are left out."""
    from pyarrow import fs

    marks = [(folder, mark) for folder in folders for mark in MARKS]
    address = urlsplit(place)
    kinds: dict[PurePath, str] = {}
    try:
        with plain_words(place):
            filesystem, root = opened_store(address._replace(path="").geturl())
            paths = [f"{root}/{str(folder / mark).lstrip('/')}" for folder, mark in marks]
            for (folder, mark), info in zip(marks, retried(lambda: filesystem.get_file_info(paths)), strict=True):
                if info.type.name == "Directory" and MARKS[mark] == "Iceberg":
                    inside = filesystem.get_file_info(fs.FileSelector(info.path))
                    if not any(one.path.endswith(ICEBERG) for one in inside):
                        continue
                if info.type.name == "Directory":
                    kinds.setdefault(folder, MARKS[mark])
    except OSError as error:
        raise DataError(f"{error}; check the address and your permissions") from None
    return kinds


def check_no_table(place: str, paths: Iterable[PurePath]) -> None:
    """Raise an error if files are inside the folder of a Delta, Iceberg or Hudi table, at any depth."""
    folders = {folder for path in paths for folder in path.parents}
    shown = shown_address(place) if is_object(place) else place
    if is_object(place):
        kinds = far_kinds(place, folders) if urlsplit(place).scheme not in WEB else {}
    else:
        kinds = {folder: kind for folder in sorted(folders) if (kind := near_kind(Path(folder))) is not None}
    table = next(((str(folder), kind) for folder, kind in kinds.items()), None)
    if table is not None:
        raise DataError(
            f"{shown}: its files belong to the {table[1]} table {table[0]}, and some of them may be outdated; "
            "give the folder of the table"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A part that is one snapshot of a Delta or Iceberg table."""

    name: str
    columns: tuple[str, ...]
    rows: int | None  # None if some rows of the files may be deleted
    size: int  # bytes of its files
    read: Callable[[list[str]], Iterator[Any]] = field(repr=False)  # Arrow batches of these columns

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        with told_by(self.name):
            for table in gathered(self.read(list(names)), batch_rows(len(names))):
                yield read_frame(table.select(list(names)))


def gathered(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Join small batches into tables of about `rows` rows."""
    import pyarrow as pa

    collected: list[Any] = []
    for batch in batches:
        collected.append(batch)
        if sum(one.num_rows for one in collected) >= rows:
            yield plain_text(pa.Table.from_batches(collected))
            collected = []
    if any(batch.num_rows for batch in collected):
        yield plain_text(pa.Table.from_batches(collected))


def plain_text(table: Any) -> Any:
    """The table with string views converted to strings."""
    import pyarrow as pa

    views = {getattr(pa, name)() for name in ("string_view",) if hasattr(pa, name)}
    fields = [one.with_type(pa.string()) if one.type in views else one for one in table.schema]
    return table.cast(pa.schema(fields))


def is_warehouse(data: object) -> bool:
    module, name = type(data).__module__, type(data).__name__
    delta = module.startswith("deltalake") and name == "DeltaTable"
    return delta or (module.startswith("pyiceberg.") and (hasattr(data, "to_arrow_batch_reader") or is_iceberg(data)))


def is_iceberg(data: object) -> bool:
    return hasattr(data, "scan") and hasattr(data, "current_snapshot")


def snapshot_of(data: Any) -> Snapshot:
    if type(data).__module__.startswith("deltalake"):
        return delta_snapshot(data, f"the Delta table {shown_address(data.table_uri)}")
    with told_by("the Iceberg table"):
        scan = data.scan() if is_iceberg(data) else data
    return iceberg_snapshot(scan, "the Iceberg table")


def snapshot_at(place: str, kind: str) -> Snapshot:
    shown = shown_address(place) if is_object(place) else place
    if kind == "Delta":
        return delta_snapshot(open_delta(place, shown), f"the Delta table {shown}")
    if kind == "Iceberg":
        return iceberg_snapshot(open_iceberg(place, shown).scan(), f"the Iceberg table {shown}")
    raise DataError(f"{shown} is a {kind} table, which cannot be read; write its rows as Parquet, Delta or Iceberg")


def open_delta(place: str, shown: str) -> Any:
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise MissingLibraryError(f"{shown}: a Delta table needs deltalake; pip install 'pedanova[delta]'") from None
    with told_by(f"the Delta table {shown}"):
        if not is_object(place):
            return DeltaTable(str(Path(place).expanduser().resolve()))
        return DeltaTable(shown, storage_options=delta_options(place))


def delta_options(place: str) -> dict[str, str]:
    """The server, region and access options of an S3 URL, under the names that `deltalake` uses."""
    address = urlsplit(place)
    if address.scheme != "s3":
        return {}
    host, scheme, region = server_of(place)
    options = {"AWS_ENDPOINT_URL": f"{scheme}://{host}" if host else "", "AWS_REGION": region}
    plain = {"AWS_ALLOW_HTTP": "true"} if scheme == "http" else {}
    unsigned = {"AWS_SKIP_SIGNATURE": "true"} if address.netloc.startswith("anonymous@") else {}
    return {name: value for name, value in options.items() if value} | plain | unsigned


def delta_snapshot(table: Any, name: str) -> Snapshot:
    if not hasattr(table, "scan"):
        raise MissingLibraryError(f"{name} needs deltalake 1.6.6 or newer; pip install -U 'pedanova[delta]'")
    with told_by(name):
        import pyarrow as pa

        files = pa.table(table.get_add_actions(flatten=True))
        rows = files["num_records"].to_pylist() if "num_records" in files.column_names else [None]
        vectors = "deletionVectors" in (table.protocol().reader_features or ())
        columns = tuple(str(one.name) for one in table.schema().fields)
        version = table.version()

    def read(names: list[str]) -> Iterator[Any]:
        if table.version() != version:
            raise DataError(
                f"{name} changed from version {version} to {table.version()} while it was read; analyze it again"
            )
        yield from pa.RecordBatchReader.from_stream(table.scan(columns=names))

    known = None if vectors or None in rows else sum(rows)
    return Snapshot(name, columns, known, sum(files["size_bytes"].to_pylist()), read)


def open_iceberg(place: str, shown: str) -> Any:
    """Open an Iceberg table from a metadata file, or from a folder with a file that points to it."""
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise MissingLibraryError(
            f"{shown}: an Iceberg table needs pyiceberg; pip install 'pedanova[iceberg]'"
        ) from None
    if not shown.endswith(ICEBERG) and (is_object(place) or not (Path(place) / HINT).is_file()):
        raise DataError(
            f"{shown} is an Iceberg table, and only its catalog knows the current version; give a table object of "
            f"pyiceberg, such as load_catalog(…).load_table(…), or the path of a file …{ICEBERG}"
        )
    with told_by(f"the Iceberg table {shown}"):
        if not is_object(place):
            return StaticTable.from_metadata(str(Path(place).expanduser().resolve()))
        host, scheme, region = server_of(place)
        options = {"s3.endpoint": f"{scheme}://{host}" if host else "", "s3.region": region}
        return StaticTable.from_metadata(shown, {name: value for name, value in options.items() if value})


def iceberg_snapshot(scan: Any, name: str) -> Snapshot:
    with told_by(name):
        columns = tuple(str(one.name) for one in scan.projection().fields)
        tasks = list(scan.plan_files())
        whole = type(scan.row_filter).__name__ == "AlwaysTrue" and not any(task.delete_files for task in tasks)
        size = sum(int(task.file.file_size_in_bytes) for task in tasks)
        rows = sum(int(task.file.record_count) for task in tasks) if whole else None

    def read(names: list[str]) -> Iterator[Any]:
        yield from scan.select(*names).to_arrow_batch_reader()

    return Snapshot(name, columns, rows, size, read)


@contextmanager
def told_by(name: str) -> Iterator[None]:
    """A context manager that shortens errors of `deltalake` or `pyiceberg` to one line with the table's name."""
    try:
        yield
    except PedanovaError:
        raise
    except Exception as error:  # errors of Rust, Arrow, the store or the format have no common type
        words = without_secrets(str(error), name) if str(error).strip() else type(error).__name__
        raise DataError(f"{name} cannot be read: {words}") from error
