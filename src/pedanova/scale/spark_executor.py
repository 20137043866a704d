"""Spark's workers as an executor: they read files in parts, as those of Dask or of a pool of processes do."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from pedanova.errors import Arg, QueryError
from pedanova.scale.spark_crew import packed, unpacked


def is_session(executor: object) -> bool:
    return type(executor).__module__.startswith("pyspark.sql") and hasattr(executor, "createDataFrame")


class SparkExecutor:
    """Every piece of work is a job of one task, which Spark runs again by itself where a worker is lost."""

    def __init__(self, session: Any) -> None:
        context = getattr(session, "_sc", None)
        if context is None:
            raise QueryError(Arg("executor"), " must be a session of Spark itself; one of Spark Connect runs no tasks")
        self._context: Any = context
        self._max_workers = max(1, int(context.defaultParallelism))
        self._pool = ThreadPoolExecutor(2 * self._max_workers + 2, thread_name_prefix="spark-job")

    def submit(self, function: Callable[..., Any], *given: Any) -> Future[Any]:
        return self._pool.submit(self._run, function, given)

    def _run(self, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        def work(_: int) -> bytes:
            return packed(lambda: function(*given))

        (found,) = self._context.parallelize([0], 1).map(work).collect()
        return unpacked(bytes(found))
