"""Read the parts of a table with threads, with the workers of an executor, or with Spark.

Only a few parts per worker are in progress at the same time, so memory does not grow with the number of parts. Results
are returned in the order of the parts. Results are added in a fixed order, sixteen parts at a time, so that a
floating-point sum does not depend on which worker finished first.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from pedanova.base.progress import Meter
from pedanova.data.records import Records
from pedanova.errors import PartError, PedanovaError, WorkerError
from pedanova.sources.scans.batches import release_memory, settle_libraries
from pedanova.sources.scans.scan import Part, Partition, run_on_partitions

Result = TypeVar("Result")

MOST_TASKS = 2048  # tasks of an executor; more parts are bundled, so that fewer results are transferred
SOME_WORKERS = 16  # the number of workers if an executor does not report it
LOST = ("BrokenProcessPool", "BrokenExecutor", "BrokenThreadPool", "KilledWorker", "CancelledError")
GROUP = 16  # results, or sums of them, that are added at a time


def ordered_sum(results: Iterable[Result], add: Callable[[Iterable[Result]], Result], many: int) -> Result:
    """Add the results (at most `many`) in a fixed order; only a few are in memory at the same time."""
    left = iter(results)

    def heap(first: Result, size: int) -> Result:
        return first if size == 1 else add(heaps(first, size // GROUP))

    def heaps(first: Result, size: int) -> Iterator[Result]:
        yield heap(first, size)
        for _ in range(GROUP - 1):
            for one in left:
                yield heap(one, size)
                break
            else:
                return

    size = GROUP
    while size <= many:  # until it exceeds `many`, so that `results` is read to its end
        size *= GROUP
    for first in left:
        return heap(first, size)
    return add([])


def client_of(executor: Any) -> Any:
    """The Dask client of an executor; None for other executors."""
    client = getattr(executor, "_client", None)
    return client if hasattr(client, "nthreads") and hasattr(client, "submit") else None


class StartOverError(Exception):
    """A part can no longer be read, although an earlier reading used it; counting starts again without this part."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Several parts that one task reads one after the other."""

    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        more = f" and {len(self.parts) - 1} more" if len(self.parts) > 1 else ""
        return f"{self.parts[0].name}{more}"

    def batches(self, names: Sequence[str]) -> Iterator[Records]:
        for part in self.parts:
            yield from part.batches(names)


@dataclass(slots=True)
class Later:
    """Like a future, but the work is done in this thread when its result is requested."""

    work: Callable[[], Any]

    def result(self) -> Any:
        return self.work()

    def cancel(self) -> None:
        """Do nothing, because the work has not started."""


@dataclass(slots=True, eq=False)
class Workers:
    """Applies functions to all parts of a table, with threads or an executor."""

    parts: tuple[Part, ...]
    rows: int | None = None
    threads: int = 1
    executor: Any = None
    skip: bool = False  # whether parts that cannot be read are left out
    lost: dict[str, str] = field(default_factory=dict)  # the names of these parts, and the reasons
    readings: int = 0  # the number of finished readings of all parts

    def each(
        self,
        function: Callable[..., Result],
        plan: Any,
        *arguments: Any,
        what: str,
        parts: Sequence[Part] | None = None,
    ) -> Iterator[Result]:
        """Iterate over the results of ``function(part, plan, …)`` for all parts (or for `parts`), in their order."""
        with self._workers(what) as (submit, width):
            yield from self._run(self._bundles(parts), partial(submit, function), (plan, *arguments), width)
        self.readings += 1
        release_memory()

    def at_once(self, function: Callable[..., Result], plan: Any, *arguments: Any, what: str) -> Result:
        """Call ``function(parts, plan, …, threads)`` once for all parts together, to save memory."""
        bundle = Bundle(tuple(part for part in self.parts if part.name not in self.lost))
        with Meter(what, self.rows) as meter:

            def submit(*given: Any) -> Later:
                return Later(partial(function, *given, self.threads, meter=meter))

            results: list[Result] = list(self._run([bundle], submit, (plan, *arguments), 1))
        self.readings += 1
        release_memory()
        return results[0]

    def total(
        self,
        function: Callable[..., Result],
        add: Callable[[Iterable[Result]], Result],
        plan: Any,
        *arguments: Any,
        what: str,
    ) -> Result:
        """Add up the results of ``function(part, plan, …)`` for all parts."""
        return ordered_sum(self.each(function, plan, *arguments, what=what), add, len(self.parts))

    def start_over(self) -> None:
        self.readings = 0

    def _bundles(self, parts: Sequence[Part] | None = None) -> list[Bundle]:
        left = [part for part in parts or self.parts if part.name not in self.lost]
        tasks = max(MOST_TASKS, 4 * workers_of(self.executor))
        size = 1 if self.executor is None else -(-len(left) // tasks)
        return [Bundle(tuple(left[start : start + size])) for start in range(0, len(left), max(1, size))]

    @contextmanager
    def _workers(self, what: str) -> Iterator[tuple[Callable[..., Any], int]]:
        """A function that submits a task, and the number of tasks that may be in progress at the same time."""
        if self.executor is not None:
            with Meter(what, len(self.parts)) as meter:
                yield partial(submit_to, self.executor, meter), 2 * workers_of(self.executor) + 2
            return
        with Meter(what, self.rows) as meter:
            if self.threads == 1 or len(self.parts) == 1:
                yield lambda function, *given: Later(partial(function, *given, meter=meter)), 1
                return
            settle_libraries()
            with ThreadPoolExecutor(self.threads) as pool:
                try:
                    yield (lambda function, *given: pool.submit(function, *given, meter=meter), 2 * self.threads)
                except BaseException:
                    meter.stopped = True  # threads stop at their next batch
                    raise

    def _run(
        self, bundles: list[Bundle], submit: Callable[..., Any], arguments: tuple[Any, ...], width: int
    ) -> Iterator[Any]:
        todo, waiting = deque(bundles), deque[tuple[Bundle, Any]]()
        spoiled = False
        try:
            while todo or waiting:
                while todo and len(waiting) < width:
                    bundle = todo.popleft()
                    waiting.append((bundle, named(bundle.name, partial(submit, bundle, *arguments))))
                bundle, future = waiting.popleft()
                try:
                    result = named(bundle.name, future.result)
                except PartError as error:
                    self._lose(error)
                    rest = tuple(part for part in bundle.parts if part.name != error.part)
                    spoiled = spoiled or self.readings > 0  # continue, to find all failures in one reading
                    todo.extendleft([Bundle(rest)] if rest else [])
                    continue
                if not spoiled:
                    yield result
        finally:
            for _, future in waiting:
                future.cancel()
        if spoiled:
            raise StartOverError

    def _lose(self, error: PartError) -> None:
        if not self.skip:
            raise error
        if len(self.lost) + 1 == len(self.parts):
            raise error.behind("no part can be read; the last error: ") from None
        self.lost[error.part] = str(error)


def submit_to(executor: Any, meter: Meter, function: Callable[..., Any], bundle: Bundle, *given: Any) -> Any:
    meter.add(len(bundle.parts))
    own = {} if client_of(executor) is None else {"pure": False}  # do not reuse results of earlier calls
    return executor.submit(function, bundle, *given, **own)


def named(name: str, work: Callable[[], Result]) -> Result:
    """Run `work`; an unexpected error becomes a `WorkerError` that names the part `name`."""
    try:
        return work()
    except PedanovaError:
        raise
    except Exception as error:  # errors of executors (a broken pool, a failed pickle) and of other processes
        kind = type(error).__name__
        first = next(iter(str(error).strip().splitlines()), "")
        if kind in LOST:
            raise WorkerError(
                f"{name}: a worker was lost ({kind}): it was killed or had too little memory; use fewer workers, "
                "or let Dask repeat lost tasks: client.get_executor(retries=2)"
            ) from error
        if "pickle" in first:
            raise WorkerError(f"{name} cannot be sent to another process: {first}") from error
        raise WorkerError(f"{name}: a worker failed with {kind}: {first}") from error


def workers_of(executor: Any) -> int:
    """The number of tasks that an executor can run at the same time."""
    if executor is None:
        return 1
    client = client_of(executor)
    if client is not None:
        return max(1, sum(int(threads) for threads in client.nthreads().values()))
    many = getattr(executor, "_max_workers", SOME_WORKERS)
    return many if isinstance(many, int) else SOME_WORKERS


# --- Spark: partitions of a data frame counted where they lie ------------------------------------------


def packed(work: Callable[[], Any]) -> bytes:
    """Run `work` and serialise its result; a `PedanovaError` is serialised too, instead of raised."""
    try:
        result = work()
    except PedanovaError as error:
        result = error
    return zlib.compress(pickle.dumps(result), 1)


def unpacked(content: bytes) -> Any:
    """Restore the result that `packed` serialised; raise it if it is an error."""
    result = pickle.loads(zlib.decompress(content))  # noqa: S301  (our own workers wrote it)
    if isinstance(result, PedanovaError):
        raise result
    return result


@dataclass(frozen=True, slots=True, eq=False)
class SparkWorkers:
    """Applies functions to all partitions of a Spark data frame; Spark repeats lost work itself."""

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
        """Add up the results of ``function(partition, plan, …)`` for all partitions, mostly on the Spark workers."""

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
        except Exception as error:  # errors of py4j and PySpark, which wrap those of a worker or the JVM
            message = [line.strip() for line in str(error).splitlines() if line.strip()]
            lines = [line for line in message if "Error:" in line or "Exception:" in line] or message or [""]
            signs = "PYTHON_VERSION_MISMATCH", "Cannot run program", "ModuleNotFoundError"  # not the driver's Python
            other = any(sign in str(error) for sign in signs)
            remedy = f"; set PYSPARK_PYTHON={sys.executable} before Spark starts" if other else ""
            raise WorkerError(f"Spark could not read the data frame: {lines[-1][:300]}{remedy}") from error

    def start_over(self) -> None:
        """Do nothing, because Spark never skips a part."""
