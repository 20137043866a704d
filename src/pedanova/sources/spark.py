"""Spark's data frames: a function of every partition, run by Spark's own workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pedanova.errors import DataError
from pedanova.observations import Records
from pedanova.sources.frames import read_frame

MOST_RESULTS = 256  # partitions beyond that, and four for each core, are read several in a row


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


def run_on_partitions(frame: Any, names: Sequence[str], work: Callable[[Partition], bytes]) -> list[bytes]:
    """`work` of every partition of these columns; only its bytes come back."""

    def each(rows: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"result": pa.array([work(Partition(rows))], pa.binary())})

    chosen = frame.select(*(f"`{name.replace('`', '``')}`" for name in names))
    few = fewer(chosen)
    return [bytes(row[0]) for row in few.mapInArrow(each, "result binary").collect()]


def fewer(frame: Any) -> Any:
    """The same rows in no more partitions than there should be results."""
    context = getattr(frame.sparkSession, "_sc", None)  # Connect has none
    cores = context.defaultParallelism if context is not None else 1
    return frame.coalesce(max(MOST_RESULTS, 4 * cores))
