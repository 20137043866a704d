"""Who reads the parts of a scan: threads here, or an executor's workers elsewhere.

Results come in the order of the parts. No more of them are under way than the workers need, so that the memory of
whoever adds them up does not grow with the number of parts. Sums of floating point numbers depend on the order of
adding: it follows from the places of the parts alone, sixteen at a time, not from who read them or who was ready first.

Dask's workers hand results to one another: each stays with the worker that made it, some sixteen of them are added by
one of these workers, sixteen of such sums by another, and only the last sum travels here. The bytes are the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from pedanova.base.progress import Meter
from pedanova.data.records import Records
from pedanova.errors import DataError, MissingLibraryError, PartError, PedanovaError, WorkerError
from pedanova.sources.scans.batches import release_memory, settle_libraries
from pedanova.sources.scans.scan import Part, with_kept

Result = TypeVar("Result")

MOST_TASKS = 2048  # of an executor; more parts than that are bundled, so that fewer results travel
SOME_WORKERS = 16  # where an executor does not tell how many it has
LOST = ("BrokenProcessPool", "BrokenExecutor", "BrokenThreadPool", "KilledWorker", "CancelledError")


GROUP = 16  # results, or sums of them, that are added at a time
Add: TypeAlias = Callable[[Iterable[Any]], Any]  # what several hold together; leaves them as they are
PATIENCE = 20.0  # seconds to wait for a scheduler
RETRIES = 2  # of a piece of work whose worker is lost


def ordered_sum(results: Iterable[Result], add: Callable[[Iterable[Result]], Result], many: int) -> Result:
    """The sum of at most so many results as they come: no more of them are held than there are heights of heaps."""
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
    while size <= many:  # larger than all of them, so that the end of `results` is met
        size *= GROUP
    for first in left:
        return heap(first, size)
    return add([])


def client_of(executor: Any) -> Any:
    """The Dask client behind an executor; None for executors whose workers do not know one another."""
    client = getattr(executor, "_client", None)
    return client if hasattr(client, "nthreads") and hasattr(client, "submit") else None


def submit_kept(executor: Any, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Work for Dask, as the executor would hand it in (its `retries` too), whose result nobody fetches."""
    given = {"pure": False, **getattr(executor, "_kwargs", {}), **options}  # never an earlier call's result
    return client_of(executor).submit(function, *arguments, **given)


@dataclass(frozen=True, slots=True)
class Kept:
    """A result that stays with its worker: asked for it, it waits, fails as the work did, or gives the way there."""

    future: Any

    def result(self) -> Any:
        error = self.future.exception()
        if error is None and self.future.cancelled():
            error = CancelledError("the scheduler knows nothing of it any more")
        if error is not None:
            raise error
        return self.future

    def cancel(self) -> None:
        self.future.release()  # nobody else wants it: Dask drops the work, and its client waits for no answer


@dataclass(slots=True)
class SumTree:
    """Kept results, added as they come. A sum is asked for early, so that workers soon forget what is in it."""

    executor: Any
    add: Add
    heights: list[list[Any]] = field(default_factory=list)  # sums of GROUP ** height results, too few to add

    def take(self, future: Any, height: int = 0) -> None:
        if height == len(self.heights):
            self.heights.append([])
        self.heights[height].append(future)
        if len(self.heights[height]) == GROUP:
            group, self.heights[height] = self.heights[height], []
            self.take(self._sum_of(group), height + 1)

    def total(self) -> Any:
        """The sum of all: the only result that is fetched."""
        last: list[Any] = []  # later than all that is higher
        for row in self.heights:
            group = [*row, *last]
            last = [self._sum_of(group)] if len(group) > 1 else group
        self.heights = [last]
        return Kept(last[0]).result().result() if last else self.add([])

    def forget(self) -> None:
        """Leave nothing on the workers."""
        for future in (future for row in self.heights for future in row):
            future.release()

    def _sum_of(self, group: list[Any]) -> Any:
        return submit_kept(self.executor, self.add, group, priority=1)  # before further parts are read


@contextmanager
def dask_executor(address: str) -> Iterator[object]:
    """An executor of the Dask cluster whose scheduler is at this address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingLibraryError("--dask needs distributed; pip install 'pedanova[dask]'") from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DataError(f"no Dask scheduler answers at {address}: {first}") from None
    with client:
        yield client.get_executor(retries=RETRIES)


class StartOverError(Exception):
    """A part failed that earlier readings had counted on: begin again without it."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Parts that are read one after the other, as one piece of work."""

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
    """Work that is done when its result is asked for; a future without a worker."""

    work: Callable[[], Any]

    def result(self) -> Any:
        return self.work()

    def cancel(self) -> None:
        """Nothing is under way."""


@dataclass(slots=True, eq=False)
class Workers:
    """Reads all parts, as often as it is asked to."""

    parts: tuple[Part, ...]
    rows: int | None = None
    threads: int = 1
    executor: Any = None
    skip: bool = False  # parts that cannot be read are left out
    lost: dict[str, str] = field(default_factory=dict)  # their names, and why
    readings: int = 0  # of all parts, finished

    def each(
        self,
        function: Callable[..., Result],
        plan: Any,
        *arguments: Any,
        what: str,
        parts: Sequence[Part] | None = None,
    ) -> Iterator[Result]:
        """``function(part, plan, …)`` of every part, or of some, in their order."""
        with self._workers(what) as (submit, width):
            work = self._run(self._bundles(parts), partial(submit, function), (plan, *arguments), width)
            yield from (result for _, result in work)
        self.readings += 1
        release_memory()

    def at_once(self, function: Callable[..., Result], plan: Any, *arguments: Any, what: str) -> Result:
        """``function(parts, plan, …, threads)`` of all parts together, for results too large to have several of."""
        bundle = Bundle(tuple(part for part in self.parts if part.name not in self.lost))
        with Meter(what, self.rows) as meter:

            def submit(*given: Any) -> Later:
                return Later(partial(function, *given, self.threads, meter=meter))

            results: list[Result] = [result for _, result in self._run([bundle], submit, (plan, *arguments), 1)]
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
        """``function(part, plan, …)`` of every part, added up; by the workers themselves if they can."""
        if client_of(self.executor) is None:
            return ordered_sum(self.each(function, plan, *arguments, what=what), add, len(self.parts))
        tree = SumTree(self.executor, add)
        try:
            with Meter(what, len(self.parts), "parts") as meter:
                width = 4 * workers_of(self.executor) + GROUP  # only word of them comes here
                submit = partial(self._submit_kept, function)
                for bundle, future in self._run(self._bundles(), submit, (plan, *arguments), width):
                    meter.add(len(bundle.parts))
                    named(f"the sum of {len(self.parts)} parts", partial(tree.take, future))
                total: Result = self._fetch(tree)
        except BaseException:
            tree.forget()
            raise
        self.readings += 1
        return total

    def _submit_kept(self, function: Callable[..., Any], bundle: Bundle, *given: Any) -> Kept:
        return Kept(submit_kept(self.executor, function, bundle, *given))

    def _fetch(self, tree: SumTree) -> Any:
        try:
            return named(f"the sum of {len(self.parts)} parts", tree.total)
        except PartError as error:  # lost with its worker, read again, and unreadable by now
            self._lose(error)
            raise StartOverError from None

    def start_over(self) -> None:
        self.readings = 0

    def keep(self, names: Iterable[str]) -> None:
        """Columns to keep in memory from reading to reading, where that saves a long way; none: forget them."""
        if self.executor is None:
            self.parts = with_kept(self.parts, names)

    def _bundles(self, parts: Sequence[Part] | None = None) -> list[Bundle]:
        left = [part for part in parts or self.parts if part.name not in self.lost]
        tasks = max(MOST_TASKS, 4 * workers_of(self.executor))
        size = 1 if self.executor is None else -(-len(left) // tasks)
        return [Bundle(tuple(left[start : start + size])) for start in range(0, len(left), max(1, size))]

    @contextmanager
    def _workers(self, what: str) -> Iterator[tuple[Callable[..., Any], int]]:
        """How to hand in work, and how much of it at a time."""
        if self.executor is not None:
            with Meter(what, len(self.parts), "parts") as meter:
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
                    meter.stopped = True  # threads end at their next batch
                    raise

    def _run(
        self, bundles: list[Bundle], submit: Callable[..., Any], arguments: tuple[Any, ...], width: int
    ) -> Iterator[tuple[Bundle, Any]]:
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
                    spoiled = spoiled or self.readings > 0  # go on, to find all of them at once
                    todo.extendleft([Bundle(rest)] if rest else [])
                    continue
                if not spoiled:
                    yield bundle, result
        finally:
            for _, future in waiting:
                future.cancel()
        if spoiled:
            raise StartOverError

    def _lose(self, error: PartError) -> None:
        if not self.skip:
            raise error
        if len(self.lost) + 1 == len(self.parts):
            raise error.behind("no part can be read; the last one: ") from None
        self.lost[error.part] = str(error)


def submit_to(executor: Any, meter: Meter, function: Callable[..., Any], bundle: Bundle, *given: Any) -> Any:
    meter.add(len(bundle.parts))
    own = {} if client_of(executor) is None else {"pure": False}  # never an earlier call's, nor cancelled with it
    return executor.submit(function, bundle, *given, **own)


def named(name: str, work: Callable[[], Result]) -> Result:
    """The result; whatever goes wrong names the part and says what to do."""
    try:
        return work()
    except PedanovaError:
        raise
    except Exception as error:  # of executors (a broken pool, a failed pickle), and whatever another process raised
        kind = type(error).__name__
        first = next(iter(str(error).strip().splitlines()), "")
        if kind in LOST:
            raise WorkerError(
                f"{name}: a worker was lost ({kind}), killed or out of memory; use fewer workers, or Dask's "
                "client.get_executor(retries=2), which carries on"
            ) from error
        if "pickle" in first:
            raise WorkerError(f"{name} cannot be sent to another process: {first}") from error
        raise WorkerError(f"{name}: a worker failed with {kind}: {first}") from error


def workers_of(executor: Any) -> int:
    """How many pieces of work an executor does at a time."""
    if executor is None:
        return 1
    client = client_of(executor)
    if client is not None:
        return max(1, sum(int(threads) for threads in client.nthreads().values()))
    many = getattr(executor, "_max_workers", SOME_WORKERS)
    return many if isinstance(many, int) else SOME_WORKERS
