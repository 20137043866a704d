"""Spark's data frames: a function of every partition, run by Spark's own workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from pedanova.errors import DataError
from pedanova.observations import Records
from pedanova.sources.frames import read_frame

MOST_RESULTS = 256  # partitions beyond that, and four for each core, are read several in a row
HANDFUL = 16  # results that are put together at a time, and that may come back


def is_spark(data: object) -> bool:
    """A data frame of Spark, classic or Connect."""
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")


@dataclass(frozen=True, slots=True, eq=False)
class SparkPart:
    """All of a data frame, which its own cluster reads."""

    frame: Any = field(repr=False)
    name: str = "a Spark DataFrame"

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        raise DataError(f"{self.name} is read by its own workers ({len(names)} columns were asked for)")


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The rows of one partition as they come, on a worker."""

    rows: Iterator[Any] = field(repr=False)
    name: str = "a Spark partition"

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        for batch in self.rows:
            if batch.num_rows:
                yield read_frame(batch.select(list(names)))


def run_on_partitions(
    frame: Any, names: Sequence[str], work: Callable[[Partition], bytes], add: Callable[[list[bytes]], bytes]
) -> list[bytes]:
    """`work` of every partition of these columns; `add` puts results together, and a handful comes back.

    Whoever adds takes results by the place of their partitions, whichever comes first.
    """

    def each(rows: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"result": pa.array([work(Partition(rows))], pa.binary())})

    def together(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]
        for heap, group in groupby(sorted(rows), key=itemgetter(0)):
            found = add([result for _, _, result in group])
            yield pa.RecordBatch.from_pydict(
                {"place": pa.array([heap], pa.int64()), "result": pa.array([found], pa.binary())}
            )

    chosen = frame.select(*(f"`{name.replace('`', '``')}`" for name in names))
    most = most_results(chosen)
    found = chosen.coalesce(most).mapInArrow(each, "result binary")
    found = found.selectExpr("cast(spark_partition_id() as bigint) as place", "result")
    while most > HANDFUL:
        most = -(-most // HANDFUL)
        heaps = found.selectExpr(f"place div {HANDFUL} as heap", "place", "result").repartition(most, "heap")
        found = heaps.mapInArrow(together, "place bigint, result binary")
    return [bytes(row["result"]) for row in sorted(found.collect(), key=itemgetter("place"))]


def most_results(frame: Any) -> int:
    """How many partitions are read apart."""
    context = getattr(frame.sparkSession, "_sc", None)  # Connect has none
    cores = context.defaultParallelism if context is not None else 1
    return max(MOST_RESULTS, 4 * cores)
