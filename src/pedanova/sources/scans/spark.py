"""Spark's data frames: a function of every partition, run by Spark's own workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from pedanova.data.records import Records
from pedanova.errors import DataError
from pedanova.sources.tables.frames import read_frame

MOST_RESULTS = 256  # partitions beyond that, and four for each core, are read several in a row
HANDFUL = 16  # results that are put together at a time, and that come back of many
AT_ONCE = 1 << 26  # bytes of results; to put fewer together takes longer than to send them


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


Put = Callable[[list[bytes]], bytes]  # several results together


def run_on_partitions(frame: Any, names: Sequence[str], work: Callable[[Partition], bytes], put: Put) -> list[bytes]:
    """`work` of every partition of these columns, in their order; of large results only a handful, `put` together.

    Results stay with the workers, which tell how large they are, until it is clear what shall travel.
    """

    def each(rows: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"result": pa.array([work(Partition(rows))], pa.binary())})

    chosen = frame.select(*(f"`{name.replace('`', '``')}`" for name in names))
    worked = fewer(chosen).mapInArrow(each, "result binary")
    kept = worked.selectExpr("cast(spark_partition_id() as bigint) as place", "result").persist()
    try:
        sizes = [row[0] for row in kept.selectExpr("length(result)").collect()]
        results = heaped(kept, len(sizes), put) if sum(sizes) > AT_ONCE else kept
        return [bytes(result) for _, result in sorted(results.collect())]
    finally:
        kept.unpersist()


def heaped(results: Any, many: int, put: Put) -> Any:
    """Results in heaps of sixteen, until no more heaps are left; by place, so that sums are the same each time."""

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
    """The same rows in no more partitions than shall be read apart."""
    context = getattr(frame.sparkSession, "_sc", None)  # Connect has none
    cores = context.defaultParallelism if context is not None else 1
    return frame.coalesce(max(MOST_RESULTS, 4 * cores))
