"""Spark: partitions of a data frame counted where they lie."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pedanova.base.progress import Meter
from pedanova.errors import PedanovaError, WorkerError
from pedanova.sources.scans.scan import Partition, run_on_partitions

Result = TypeVar("Result")


def packed(work: Callable[[], Any]) -> bytes:
    """A result, or what went wrong as far as it is about the data, as it travels."""
    try:
        result = work()
    except PedanovaError as error:
        result = error
    return zlib.compress(pickle.dumps(result), 1)


def unpacked(content: bytes) -> Any:
    """The result again; it fails as the work did."""
    result = pickle.loads(zlib.decompress(content))  # noqa: S301  (our own workers wrote it)
    if isinstance(result, PedanovaError):
        raise result
    return result


@dataclass(frozen=True, slots=True, eq=False)
class SparkWorkers:
    """Reads a data frame as often as it is asked to; Spark runs lost work again by itself."""

    part: Any
    lost: dict[str, str] = field(default_factory=dict)

    def total(
        self,
        function: Callable[..., Result],
        add: Callable[[Iterable[Result]], Result],
        plan: Any,
        *arguments: Any,
        what: str,
    ) -> Result:
        """``function(partition, plan, …)`` of every partition, added up by the workers as far as it goes."""

        def work(partition: Partition) -> bytes:
            return packed(lambda: function(partition, plan, *arguments))

        def put_together(results: list[bytes]) -> bytes:
            return packed(lambda: add(map(unpacked, results)))

        with Meter(what):
            results = self._run(plan.needs, work, put_together)
        return add(map(unpacked, results))

    def _run(
        self, names: tuple[str, ...], work: Callable[[Partition], bytes], add: Callable[[list[bytes]], bytes]
    ) -> list[bytes]:
        try:
            return run_on_partitions(self.part.frame, names, work, add)
        except Exception as error:  # py4j's and PySpark's, behind which lies whatever a worker or the JVM raised
            message = [line.strip() for line in str(error).splitlines() if line.strip()]
            lines = [line for line in message if "Error:" in line or "Exception:" in line] or message or [""]
            raise WorkerError(f"Spark could not read the data frame: {lines[-1][:300]}") from error

    def start_over(self) -> None:
        """Nothing is ever skipped."""
