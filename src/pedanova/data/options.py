"""Two groups of options of `analyze`: `Reading` for text and failed rows, `Scan` for large tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from pedanova.base.threads import as_threads
from pedanova.errors import Arg, QueryError

NanPolicy: TypeAlias = Literal["drop", "worst"]
Ending: TypeAlias = Literal["drop", "worst"]
PrunedEnding: TypeAlias = Literal["drop", "worst", "last"]
Outside: TypeAlias = Literal["error", "count"]
Decimal: TypeAlias = Literal[".", ","]
OnError: TypeAlias = Literal["raise", "skip"]
Engine: TypeAlias = Literal["cpu", "cuda"]


def check_choice(name: str, value: object, choices: object) -> None:
    """Raise an error if `value` is not one of `choices`."""
    known = get_args(choices)
    if not isinstance(value, str) or value not in known:
        *others, last = map(repr, known)
        raise QueryError(Arg(name, value), f" must be {', '.join(others)} or {last}")


def as_names(names: object, argument: str) -> list[str] | None:
    """Convert one column name or several to a list; raise an error for other values."""
    if names is None or isinstance(names, str):
        return None if names is None else [names]
    if not isinstance(names, Iterable):
        raise QueryError(Arg(argument, names), " must be a list of column names")
    result = list(names)
    for name in result:
        if not isinstance(name, str):
            raise QueryError(Arg(argument), f" holds {name!r}; column names are text, such as {str(name)!r}")
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options for reading text, and for special rows such as failed ones: ``analyze(..., reading=pa.Reading(...))``.

    Parameters
    ----------
    delimiter
        The separator of a CSV file, such as ``";"`` or ``"tab"``; it is detected by default.
    decimal
        The decimal separator: ``","`` if ``1,234`` means 1.234. It is detected by default.
    state
        The column with the state of each trial (COMPLETE, FAIL, PRUNED or RUNNING).
    nan
        What to do with rows with a NaN objective: ``"drop"`` them, or count them as the ``"worst"``.
    failed
        What to do with rows that failed: ``"drop"`` them, or count them as the ``"worst"``.
    pruned
        What to do with pruned rows: ``"drop"`` them, count them as the ``"worst"``, or use their ``"last"`` value.
    infeasible
        What to do with infeasible rows: ``"drop"`` them, or count them as the ``"worst"``.
    outside
        What to do with values outside a given space: raise an ``"error"``, or ``"count"`` them in a separate bin.

    Raises
    ------
    QueryError
        An option has an unknown value.

    Examples
    --------
    >>> import pedanova as pa
    >>> table = {"x": [1, 2, 3, 4] * 20, "loss": [0.1, 0.2, float("nan"), 0.4] * 20}
    >>> len(pa.analyze(table, "loss")), len(pa.analyze(table, "loss", reading=pa.Reading(nan="worst")))
    (60, 80)
    """

    delimiter: str | None = None
    decimal: Decimal | None = None
    state: object = None
    nan: NanPolicy = "drop"
    failed: Ending = "drop"
    pruned: PrunedEnding = "drop"
    infeasible: Ending = "drop"
    outside: Outside = "error"

    def __post_init__(self) -> None:
        for name, choices in (("nan", NanPolicy), ("failed", Ending), ("pruned", PrunedEnding), ("infeasible", Ending)):
            check_choice(name, getattr(self, name), choices)
        check_choice("outside", self.outside, Outside)
        if self.decimal is not None:
            check_choice("decimal", self.decimal, Decimal)

    @property
    def ending(self) -> NanPolicy:
        """``"worst"`` if `nan`, `failed`, `pruned` or `infeasible` is ``"worst"``; if not, ``"drop"``."""
        return "worst" if "worst" in (self.nan, self.failed, self.pruned, self.infeasible) else "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Options for reading and counting large tables: ``analyze(..., scan=pa.Scan(...))``.

    Parameters
    ----------
    stream
        Whether to read files, lazy frames and relations in parts, with constant memory. By default, only large tables
        are read in parts.
    executor
        The executor that reads the parts in parallel. It may come from ``concurrent.futures``, or from another library,
        such as Dask's ``client.get_executor(retries=2)``.
    on_error
        What to do with files that cannot be read: ``"raise"`` an error, or ``"skip"`` them and list them in notes.
    pushdown
        Whether DuckDB, Polars or the database of an ibis table counts the rows. If True, only the objective, counts,
        sums and the names of categories are transferred. By default, only ibis tables are counted in this way.
    engine
        Where arrays on a GPU (CuPy, PyTorch, JAX, cuDF, DLPack) are counted. ``"cuda"`` counts on the GPU and needs
        `pedanova[cuda]`. ``"cpu"`` counts in main memory and can answer every question. None means the GPU, unless the
        arrays are small.
    threads
        The number of threads; all cores are used by default.

    Raises
    ------
    QueryError
        An option has an unknown value, or two options contradict each other.

    Examples
    --------
    >>> import pedanova as pa
    >>> len(pa.analyze(pa.demo_trials(), "error", scan=pa.Scan(threads=1)))
    1000
    """

    stream: bool | None = None
    executor: Any = None
    on_error: OnError = "raise"
    pushdown: bool | None = None
    engine: Engine | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        check_choice("on_error", self.on_error, OnError)
        if self.engine is not None:
            check_choice("engine", self.engine, Engine)
        as_threads(self.threads)
        if self.stream is False:
            for name in ("executor", "pushdown"):
                if getattr(self, name):
                    raise QueryError(
                        Arg(name), " is for tables that are read in parts; leave out ", Arg("stream", False)
                    )

    @property
    def skip(self) -> bool:
        return self.on_error == "skip"

    @property
    def in_parts(self) -> bool | None:
        """Whether to read the table in parts; None means that only large tables are read in parts."""
        return True if self.executor or self.pushdown else self.stream
