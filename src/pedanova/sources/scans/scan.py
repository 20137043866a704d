"""Tables that need not fit into memory: files, and lazy tables of data frame libraries, read batch by batch.

A scan has parts: files, or row groups of a large file. Every part can be read separately and repeatedly, also on
another machine. For Spark's data frames, Spark's workers apply a function to every partition.
"""

from __future__ import annotations

import glob
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any, Protocol
from urllib.parse import unquote

from pedanova.base.notes import Note
from pedanova.data.column import Column, as_column
from pedanova.data.records import Records
from pedanova.errors import DataError, FormatError, PartError, listed, missing_library, unknown_name
from pedanova.sources.scans import batches
from pedanova.sources.scans.objects import (
    ObjectFile,
    below,
    find_objects,
    folders_among,
    is_object,
    located,
    path_of,
    shown_address,
)
from pedanova.sources.tables.files import Stamp, check_steady, kind_of
from pedanova.sources.tables.frames import read_frame
from pedanova.sources.tables.text import is_packed, parse_text

LARGE = 5_000_000  # rows; smaller tables are read into memory, so that every question can be answered
LARGE_BYTES = 400_000_000
SMALL_BYTES = 20_000_000  # bytes of a file that is certainly small
ROWS_A_PART = 8_000_000  # a file with more rows is split between row groups
ASKED_AT_ONCE = 16  # requests to a store at a time
LISTED = ("Parquet", "CSV", "TSV", "Arrow IPC")
OTHER = {"text": "numbers", "numbers": "text"}
MARKS = {"_delta_log": "Delta", ".hoodie": "Hudi", "metadata": "Iceberg"}  # folders that only such tables have
ICEBERG = ".metadata.json"  # the suffix of files with the state of an Iceberg table


class Part(Protocol):
    """The interface of a part of a scan: a name, and its rows in batches."""

    @property
    def name(self) -> str: ...
    def batches(self, names: Sequence[str]) -> Iterator[Records]: ...


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part that is a file or some of its row groups; it can be sent to another process."""

    path: str
    kind: str
    groups: tuple[int, ...] | None = None  # row groups of a Parquet file; None for all
    keys: tuple[tuple[str, str], ...] = ()  # columns from the path, as in year=2024/
    texts: tuple[str, ...] = ()  # keys that are text in some file, and so in all
    types: tuple[tuple[str, Any], ...] = ()  # of the columns of a CSV file; a column that is text in some file is text
    delimiter: str | None = None  # of CSV files; None to detect it
    stamp: Stamp | None = None  # the state of the file when the scan was made

    @property
    def file(self) -> Path | ObjectFile:
        return located(self.path)

    @property
    def name(self) -> str:
        groups = "" if self.groups is None else f", row groups {self.groups[0]} to {self.groups[-1]}"
        return f"{self.file}{groups}"

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        inside = [name for name in names if name not in dict(self.keys)]
        try:
            if not isinstance(self.file, ObjectFile):  # in a store it is checked once, at the end
                check_steady(self.file, self.stamp)
            for records in self._read(inside):
                yield self._with_keys(records, names)
            check_steady(self.file, self.stamp)
        except FormatError as error:
            reason = error
            with suppress(OSError):  # if the store does not answer, the first error is reported
                try:
                    check_steady(self.file, self.stamp)
                except FormatError as changed:
                    reason = changed
            raise PartError(*reason.words, part=self.name) from None
        except OSError as error:
            raise PartError(f"{self.file} cannot be read: {error.strerror or error}", part=self.name) from None

    def _read(self, names: list[str]) -> Iterator[Records]:
        file = self.file
        if isinstance(file, ObjectFile):
            return batches.read_from_afar(file, names, self.groups, self.stamp)
        return batches.read_batches(file, self.kind, names, self.groups, dict(self.types), self.delimiter)

    def _with_keys(self, records: Records, names: Sequence[str]) -> Records:
        if not self.keys:
            return records
        columns: dict[str, Column] = {**records.columns}
        for key, value in self.keys:
            columns[key] = batches.constant(key, value, records.rows, text=key in self.texts)
        return Records({name: columns[name] for name in names}, records.notes)


@dataclass(frozen=True, slots=True, eq=False)
class FramePart:
    """A part that is a Polars lazy frame or a DuckDB relation; it is executed again each time it is read."""

    plan: Any = field(repr=False)
    name: str

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        yield from batches.run_plan(self.plan, names)


@dataclass(frozen=True, slots=True, eq=False)
class TableScan:
    name: str
    columns: tuple[str, ...]
    parts: tuple[Part, ...]
    rows: int | None = None  # the number of rows, if the files have it
    size: int = 0  # bytes on disk
    lost: tuple[tuple[str, str], ...] = ()  # files that were skipped, and why

    @property
    def is_large(self) -> bool:
        return self.size > LARGE_BYTES if self.rows is None else self.rows > LARGE

    @property
    def is_spark(self) -> bool:
        return isinstance(self.parts[0], SparkPart)

    def check(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.columns:
                raise DataError(unknown_name(name, self.columns, what="column"))

    def load(self, *, skip: bool = False) -> Records:
        """Read the whole table into memory; with `skip`, unreadable parts are left out."""
        tables: list[Records] = []
        lost = dict(self.lost)
        for part in self.parts:
            try:
                tables += list(part.batches(self.columns))
            except PartError as error:
                if not skip:
                    raise
                lost[error.part] = str(error)
        records = batches.join(tables, self.columns)
        skipped = (Note("doubt", f"a part of the data is skipped: {why}") for why in lost.values())
        return Records(records.columns, tuple(skipped))


def scan_of(data: object, *, skip: bool = False, delimiter: str | None = None) -> TableScan | None:
    """A scan of files, lazy frames or relations; None for other data. With `skip`, unreadable files are left out."""
    if isinstance(data, str | os.PathLike):
        return scan_place(os.fspath(data), skip=skip, delimiter=delimiter)
    if is_spark(data):
        frame: Any = data
        return TableScan("a Spark DataFrame", tuple(frame.columns), (SparkPart(frame),), size=LARGE_BYTES + 1)
    if batches.is_plan(data):
        library = type(data).__module__.partition(".")[0]
        name = f"{'an' if library == 'ibis' else 'a'} {library} {type(data).__name__}"
        columns, rows = batches.plan_size(data)
        return TableScan(name, columns, (FramePart(data, name),), rows=rows)
    return None


def check_no_warehouse(place: str, paths: Iterable[PurePath]) -> None:
    """Raise an error if files belong to a Delta, Iceberg or Hudi table, because some of its files may be outdated."""
    marks = {folder / mark: kind for path in paths for folder in path.parents for mark, kind in MARKS.items()}
    far = is_object(place)
    for mark in folders_among(place, list(marks)) if far else [mark for mark in marks if Path(mark).is_dir()]:
        inside = below(place, str(mark)) if far else map(str, Path(mark).iterdir())
        if marks[mark] != "Iceberg" or any(name.partition("?")[0].endswith(ICEBERG) for name in inside):
            where = f"{shown_address(place) if far else place}: its files belong to the {marks[mark]} table"
            remedy = "read the table with Polars or DuckDB, as in pedanova.analyze(polars.scan_delta(…))"
            raise DataError(f"{where} {mark.parent}, and some of them may be outdated; {remedy}")


def scan_place(place: str, *, skip: bool = False, delimiter: str | None = None) -> TableScan | None:
    files = find_objects(place) if is_object(place) else find_files(place)
    if not files:
        return None
    if len(files) > 1 or path_of(files[0]) != path_of(located(place)):
        check_no_warehouse(place, [file.path if isinstance(file, ObjectFile) else file.absolute() for file in files])
    place = shown_address(place) if is_object(place) else place
    kinds = {kind for file in files if (kind := kind_of(path_of(file))) is not None}
    if len(kinds) > 1:
        raise DataError(f"{place} holds files of several kinds ({listed(sorted(kinds))}); name one kind by its suffix")
    kind = kinds.pop() if kinds else None
    if isinstance(files[0], ObjectFile) and kind != "Parquet":
        if len(files) > 1:
            words = f"{place}: over the network, several files can be read only if they are Parquet"
            raise DataError(f"{words}; name one file, or download them")
        return None  # downloaded as a whole
    if kind not in LISTED:
        return None
    if importlib.util.find_spec("pyarrow") is None:
        if len(files) == 1 and not is_pattern(place):
            return None  # read as a whole, by the available library
        raise missing_library(f"{place}: reading several files needs pyarrow", "arrow")
    return scan_files(place, files, kind, skip=skip, delimiter=delimiter)


def is_pattern(place: str) -> bool:
    return any(sign in place for sign in "*?[") and not Path(place).exists()


def find_files(place: str) -> Sequence[Path]:
    """The files of a table, given by a path, a pattern or a folder; hidden files are left out."""
    path = Path(place)
    if is_pattern(place):
        files = sorted(Path(hit) for hit in glob.glob(str(path.expanduser()), recursive=True))  # noqa: PTH207
        if not files:
            raise DataError(f"{place} matches no file; check the pattern")
        return [file for file in files if kind_of(file) is not None and not is_packed(file)]
    try:
        if path.is_dir():
            inside = sorted(path.rglob("*.parquet")) or sorted(path.glob("*.csv")) or sorted(path.glob("*.tsv"))
            parts = {file: file.relative_to(path).parts for file in inside}
            return [file for file in inside if not any(part.startswith((".", "_")) for part in parts[file])]
        return [path] if path.is_file() and kind_of(path) is not None and not is_packed(path) else []
    except (OSError, ValueError):
        return []


def is_small_file(place: str) -> bool:
    """Whether a path is a small file, or not a file at all (its reader then reports the problem)."""
    path = Path(place)
    try:
        return not is_pattern(place) and not path.is_dir() and (not path.is_file() or path.stat().st_size < SMALL_BYTES)
    except (OSError, ValueError):
        return True


def scan_files(
    place: str, files: Sequence[Path | ObjectFile], kind: str, *, skip: bool = False, delimiter: str | None = None
) -> TableScan:
    parts: list[FilePart] = []
    rows = size = 0
    columns: tuple[str, ...] = ()
    first: dict[tuple[str, str], str] = {}  # by column and type: the first file that has this type
    lost: list[tuple[str, str]] = []
    keys = {pair for file in files for pair in keys_in(file)}
    present = ((name, parse_text(name, [value])) for name, value in keys if value not in batches.HIVE_NULL)
    words = tuple(sorted({name for name, column in present if column.labels is not None}))  # in at least one file
    far = isinstance(files[0], ObjectFile)
    with ThreadPoolExecutor(min(ASKED_AT_ONCE, len(files)) if far else 1) as pool:  # parallel requests to stores
        looks = [pool.submit(describe, file, kind, delimiter) for file in files]
    for file, look in zip(files, looks, strict=True):
        try:
            stamp, names, groups = look.result()
            lacking = [name for name in columns if name not in names]
            if lacking:
                why = "which other files have; all files need the same columns"
                raise FormatError(f"{file} has no column {lacking[0]!r}, {why}")
            check_types(str(file), names, first)
        except (FormatError, OSError) as error:
            if not skip:
                if isinstance(error, OSError):
                    why = str(error) if isinstance(file, ObjectFile) else f"{file} cannot be read: {error.strerror}"
                    raise DataError(why) from None
                raise
            lost.append((str(file), str(error)))
            continue
        columns = columns or tuple(names)
        rows += sum(groups)
        size += 0 if stamp is None else stamp.size
        path = file.url if isinstance(file, ObjectFile) else str(file)
        parts += [FilePart(path, kind, group, keys_in(file), words, stamp=stamp) for group in group_rows(groups)]
    if not parts:
        raise DataError(f"{place}: none of {len(files)} files can be read ({lost[0][1]})")
    known = rows if kind == "Parquet" else None
    if kind in ("CSV", "TSV"):
        types = [batches.csv_types(Path(part.path), kind, delimiter) for part in parts]
        texts = {name: own for some in types for name, own in some.items() if str(own) == "string"}
        both = zip(parts, types, strict=True)
        parts = [replace(part, types=tuple((own | texts).items()), delimiter=delimiter) for part, own in both]
    return TableScan(place, columns, tuple(parts), known, size, tuple(lost))


def check_types(file: str, types: dict[str, str], first: dict[tuple[str, str], str]) -> None:
    """Raise an error if a column has text in one file and numbers in another; `first` has the files until now."""
    for name, kind in types.items():
        if kind and (name, OTHER[kind]) in first:
            before = first[name, OTHER[kind]]
            raise FormatError(f"{file}: {name} holds {kind}, but {OTHER[kind]} in {before}; use one type in all files")
        if kind:
            first.setdefault((name, kind), file)


def describe(
    file: Path | ObjectFile, kind: str, delimiter: str | None
) -> tuple[Stamp | None, dict[str, str], list[int]]:
    stamp = Stamp.of(file)
    names, groups = batches.describe_file(file, kind, delimiter, stamp)
    return stamp, names | {key: "" for key, _ in keys_in(file) if key not in names}, groups


def keys_in(file: Path | ObjectFile) -> tuple[tuple[str, str], ...]:
    """The pairs (column, value) in a path such as year=2024/month=3/part.parquet."""
    pairs = [part.partition("=") for part in path_of(file).parts[:-1] if "=" in part]
    return tuple((name, unquote(value)) for name, _, value in pairs if name)


def group_rows(groups: Sequence[int]) -> list[tuple[int, ...] | None]:
    """Divide a file's row groups into parts of limited size; [None] means that the whole file is one part."""
    if sum(groups) <= ROWS_A_PART:
        return [None]
    parts: list[tuple[int, ...]] = []
    rows_in_part = 0
    for number, rows in enumerate(groups):
        if not parts or rows_in_part + rows > ROWS_A_PART:
            parts.append(())
            rows_in_part = 0
        parts[-1] = (*parts[-1], number)
        rows_in_part += rows
    return list(parts)


FIRST_ROWS = 10_000  # rows of a Spark frame that show the kind of a text column
MOST_RESULTS = 256  # with more partitions than this and four per core, a task reads several
HANDFUL = 16  # results that are combined at a time, and that are returned in the end
AT_ONCE = 1 << 26  # bytes of results from which they are combined before they are sent


def is_spark(data: object) -> bool:
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")


def quoted_columns(frame: Any, names: Sequence[str]) -> Any:
    return frame.select(*(f"`{name.replace('`', '``')}`" for name in names))


@dataclass(frozen=True, slots=True, eq=False)
class SparkPart:
    """A part that is a whole Spark data frame; only Spark's workers can read it."""

    frame: Any = field(repr=False)
    name: str = "a Spark DataFrame"

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        raise DataError(f"only Spark's workers can read the {len(names)} columns of {self.name}")

    def head(self, names: Sequence[str]) -> Records:
        """The first rows of the columns `names`."""
        rows = quoted_columns(self.frame, names).limit(FIRST_ROWS).collect()
        return Records({name: as_column(name, [row[i] for row in rows]) for i, name in enumerate(names)})


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The rows of one Spark partition on a worker, read in batches."""

    rows: Iterator[Any] = field(repr=False)
    name: str = "a Spark partition"

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        for batch in self.rows:
            if batch.num_rows:
                yield read_frame(batch.select(list(names)))


Put = Callable[[list[bytes]], bytes]  # combines several results


def run_on_partitions(frame: Any, names: Sequence[str], work: Callable[[Partition], bytes], put: Put) -> list[bytes]:
    """Apply `work` to every partition, and return the results in order.

    Results stay on the workers until their sizes are known. Large results are combined there with the function `put`.
    """

    def each(rows: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"result": pa.array([work(Partition(rows))], pa.binary())})

    worked = fewer(quoted_columns(frame, names)).mapInArrow(each, "result binary")
    kept = worked.selectExpr("cast(spark_partition_id() as bigint) as place", "result").persist()
    try:
        sizes = [row[0] for row in kept.selectExpr("length(result)").collect()]
        results = heaped(kept, len(sizes), put) if sum(sizes) > AT_ONCE else kept
        return [bytes(result) for _, result in sorted(results.collect())]
    finally:
        kept.unpersist()


def heaped(results: Any, many: int, put: Put) -> Any:
    """Combine sixteen neighbouring results at a time until few are left; the fixed order makes sums reproducible."""

    def each(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]
        for heap, group in groupby(sorted(rows), key=itemgetter(0)):
            result = put([result for _, _, result in group])
            columns = {"place": pa.array([heap], pa.int64()), "result": pa.array([result], pa.binary())}
            yield pa.RecordBatch.from_pydict(columns)

    while many > HANDFUL:
        many = -(-many // HANDFUL)
        heaps = results.selectExpr(f"place div {HANDFUL} as heap", "place", "result")
        results = heaps.repartition(many, "heap").mapInArrow(each, "place bigint, result binary")
    return results


def fewer(frame: Any) -> Any:
    context = getattr(frame.sparkSession, "_sc", None)  # Spark Connect has none
    cores = context.defaultParallelism if context is not None else 1
    return frame.coalesce(max(MOST_RESULTS, 4 * cores))
