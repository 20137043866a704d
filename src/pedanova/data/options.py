"""The options of `analyze`, as fields of dataclasses.

The metadata of a field explains the option. The signature and docstring of `analyze`, and the options, help and
completion of the command line, are made from these fields. For a new option, add a field here, and use it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import cleandoc, signature
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, get_args

import numpy as np

from pedanova.base.threads import as_threads
from pedanova.data.records import RepeatPolicy
from pedanova.errors import Arg, QueryError
from pedanova.space.values import items_of, shown

Group: TypeAlias = Literal["the question", "columns", "rows", "large tables", "output"]

NanPolicy: TypeAlias = Literal["drop", "worst"]
Ending: TypeAlias = Literal["drop", "worst"]
PrunedEnding: TypeAlias = Literal["drop", "worst", "last"]
Outside: TypeAlias = Literal["error", "count"]
Decimal: TypeAlias = Literal[".", ","]
OnError: TypeAlias = Literal["raise", "skip"]
Engine: TypeAlias = Literal["cpu", "cuda"]
Given = ParamSpec("Given")
Made = TypeVar("Made")
Result = TypeVar("Result")


def check_choice(name: str, value: object, choices: object) -> None:
    """Raise an error if `value` is not one of `choices`."""
    known = choices if isinstance(choices, tuple) else get_args(choices)
    if not isinstance(value, str) or value not in known:
        *others, last = map(repr, known)
        raise QueryError(Arg(name, value), f" must be {', '.join(others)} or {last}")


def as_flag(name: str, value: object) -> bool:
    """Convert a NumPy boolean to a bool; raise an error for values that are not booleans."""
    if not isinstance(value, bool | np.bool_):
        raise QueryError(Arg(name, value), " must be True or False")
    return bool(value)


def as_names(names: object, argument: str, *, what: str = "column names") -> list[str] | None:
    """Convert one column name or several to a list; raise an error for other values."""
    if names is None or isinstance(names, str):
        return None if names is None else [names]
    result = items_of(names)
    if result is None:
        raise QueryError(Arg(argument, names), f" must be a list of {what}")
    for name in result:
        if not isinstance(name, str):
            raise QueryError(Arg(argument), f" holds {shown(name)}; {what} are text, such as {shown(name)!r}")
    return result


@dataclass(frozen=True, slots=True)
class Option:
    """How an option is explained, and how it is typed on the command line."""

    name: str
    default: Any
    help: str
    group: Group | None = "the question"  # None: only in Python
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    several: bool = False  # may be given more than once
    flag: bool = False
    type: Callable[[str], Any] | None = None
    shell_default: Any = None  # the default on the command line, if it is a text there

    @property
    def switch(self) -> str:
        """The option as it is typed, such as ``--save-rows``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def typed_default(self) -> Any:
        return self.default if self.shell_default is None else self.shell_default


NO_OPTION = Option("", None, "", None)


def option(
    words: str, group: Group | None = None, default: Any = None, choices: object = (), *, typed: str = "", **more: Any
) -> Any:
    """A field that is an option in Python, and if it has a `group` also in a shell; `typed` is its help there."""
    in_shell = typed or words[0].lower() + words[1:].rstrip(".").replace("`", "")
    made = Option("", default, in_shell, group, get_args(choices), **more)
    return field(default=default, metadata={"option": made, "help": words})


def options_of(kind: Any) -> Iterator[Option]:
    """The options of the command line for the fields of a dataclass, and of the dataclasses in `GROUPED`."""
    for one in fields(kind):
        if one.name in GROUPED:
            yield from options_of(GROUPED[one.name])
        elif one.metadata.get("option", NO_OPTION).group is not None:
            yield replace(one.metadata["option"], name=one.name)


def check_choices(options: Any) -> None:
    """Raise an error if an option that is not left out has a value that is not one of its choices."""
    for one in fields(options):
        made, value = one.metadata.get("option", NO_OPTION), getattr(options, one.name)
        if made.choices and not made.several and value is not made.default:
            check_choice(one.name, value, made.choices)


def with_options(doc: str | None, kind: Any) -> str:
    """A docstring with the options of the dataclass `kind` in place of ``{options}``."""
    texts = {one.name: textwrap.fill(one.metadata["help"], 112) for one in fields(kind) if "help" in one.metadata}
    parts = (f"{name}\n{textwrap.indent(text, '    ')}" for name, text in texts.items())
    return cleandoc(doc or "").replace("{options}", "\n".join(parts))


def documented(kind: type[Made]) -> type[Made]:
    kind.__doc__ = with_options(kind.__doc__, kind)
    return kind


def called_with(kind: Callable[Given, Made]) -> Callable[[Callable[[Made], Result]], Callable[Given, Result]]:
    """Turn a function of one `kind`, a dataclass, into a function of its fields, with their signature and docstring."""

    def decorated(function: Callable[[Made], Result]) -> Callable[Given, Result]:
        taken = signature(kind)

        def call(*args: Given.args, **keywords: Given.kwargs) -> Result:
            try:
                taken.bind(*args, **keywords)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(kind(*args, **keywords))

        for name in ("__name__", "__qualname__", "__module__"):
            setattr(call, name, getattr(function, name))
        call.__doc__ = with_options(function.__doc__, kind)
        call.__signature__ = taken.replace(return_annotation=signature(function).return_annotation)  # type: ignore[attr-defined]
        return call

    return decorated


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options for reading text, and for special rows such as failed ones: ``analyze(..., reading=pa.Reading(...))``.

    Parameters
    ----------
    {options}

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

    delimiter: str | None = option(
        "The separator of a CSV file, such as ``;`` or ``tab``; it is detected by default.", "columns", metavar="SIGN"
    )
    decimal: Decimal | None = option(
        'The decimal separator: ``","`` if ``1,234`` means 1.234. It is detected by default.',
        "columns",
        choices=Decimal,
    )
    state: object = option(
        "The column with the state of each trial (COMPLETE, FAIL, PRUNED or RUNNING).", "rows", metavar="COLUMN"
    )
    failed_states: Iterable[str] | None = option(
        "Words in the column of states that mean that a trial failed, such as ``abgebrochen``; all other unknown words "
        "then mean that a trial is complete. By default, the English words of common tools are known.",
        "rows",
        metavar="WORD,WORD,…",
        several=True,
    )
    nan: NanPolicy = option(
        'Rows with a NaN objective: ``"drop"`` them (default), or count them as the ``"worst"``.',
        "rows",
        "drop",
        NanPolicy,
    )
    failed: Ending = option(
        'Rows that failed: ``"drop"`` them (default), or count them as the ``"worst"``.', "rows", "drop", Ending
    )
    pruned: PrunedEnding = option(
        'Pruned rows: ``"drop"`` them (default), count them as the ``"worst"``, or use their ``"last"`` value.',
        "rows",
        "drop",
        PrunedEnding,
    )
    infeasible: Ending = option(
        'Infeasible rows: ``"drop"`` them (default), or count them as the ``"worst"``.', "rows", "drop", Ending
    )
    outside: Outside = option(
        'Values outside a given space: raise an ``"error"`` (default), or ``"count"`` them in a separate bin.',
        "columns",
        "error",
        Outside,
    )

    def __post_init__(self) -> None:
        check_choices(self)
        words = as_names(self.failed_states, "failed_states", what="words")
        object.__setattr__(self, "failed_states", None if words is None else tuple(words))

    @property
    def ending(self) -> NanPolicy:
        """``"worst"`` if `nan`, `failed`, `pruned` or `infeasible` is ``"worst"``; if not, ``"drop"``."""
        return "worst" if "worst" in (self.nan, self.failed, self.pruned, self.infeasible) else "drop"


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Options for reading and counting large tables: ``analyze(..., scan=pa.Scan(...))``.

    Parameters
    ----------
    {options}

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

    stream: bool | None = option(
        "Read files, lazy frames and relations in parts, with constant memory; by default only large tables.",
        "large tables",
        flag=True,
    )
    executor: Any = option(
        "The executor that reads the parts in parallel. It may come from ``concurrent.futures``, or from another "
        "library, such as Dask's ``client.get_executor(retries=2)``."
    )
    on_error: OnError = option(
        'Files that cannot be read: ``"raise"`` an error (default), or ``"skip"`` them and list them in notes.',
        "large tables",
        "raise",
        OnError,
    )
    pushdown: bool | None = option(
        "Whether DuckDB, Polars or the database of an ibis table counts the rows. If True, only the objective, "
        "counts, sums, the names of categories and a sample of about 2,000 rows are transferred (of a table with at "
        "most 20,000 rows, all rows). By default, only ibis tables are counted in this way."
    )
    engine: Engine | None = option(
        'Where arrays on a GPU (CuPy, PyTorch, JAX, cuDF, DLPack) are counted. ``"cuda"`` counts on the GPU and needs '
        '`pedanova[cuda]`. ``"cpu"`` counts in main memory and can answer every question. None means the GPU, unless '
        "the arrays are small.",
        choices=Engine,
    )
    threads: int | None = option(
        "The number of threads; all cores are used by default.", "output", metavar="N", type=int
    )

    def __post_init__(self) -> None:
        check_choices(self)
        as_threads(self.threads)
        for name in ("stream", "pushdown"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_flag(name, getattr(self, name)))
        if self.executor is not None and not hasattr(self.executor, "submit"):
            words = " must have the method submit, as concurrent.futures.ProcessPoolExecutor(4) has"
            raise QueryError(Arg("executor", self.executor), words)
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


GROUPED = {"reading": Reading, "scan": Scan}  # options that have options themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """The options of `analyze` for rows and columns."""

    direction: str | Sequence[str] | None = option(
        '``"minimize"`` or ``"maximize"`` (``"min"``, ``"max"``), or a list with one direction for each objective. By '
        "default the direction comes from the log, or is guessed from the objective's name (an accuracy is maximised, "
        "a loss is minimised). ``notes`` say what was guessed; if the name does not show the direction, the note is a "
        "warning.",
        "the question",
        typed="whether lower or higher is better; give it once, or once for each objective "
        "(default: from the log or the objective's name)",
        choices=Literal["minimize", "maximize", "min", "max"],
        several=True,
    )
    space: object = option(
        "The search space: a dict of `Float`, `Int`, `Ordinal`, `Categorical`, `Moving` or `Switch`; or anything that "
        "`space_from` reads, such as a JSON or YAML file or a ConfigSpace. By default the space comes from the log, "
        "or is guessed from the data; the notes mention every guess.",
        "columns",
        typed='search space as JSON or YAML: {"lr": {"type": "float", "low": 1e-5, "high": 1, "log": true}}; '
        "or a ConfigSpace file",
        metavar="FILE",
    )
    params: Iterable[str] | None = option(
        "The columns to use as parameters; by default all columns that look like parameters.",
        "columns",
        metavar="COL,COL,…",
        several=True,
    )
    exclude: Iterable[str] | None = option("Columns to leave out.", "columns", metavar="COL,COL,…", several=True)
    where: object = option(
        'Rows to use: a condition such as ``"epochs >= 10"``, a boolean column or mask, a box such as '
        '``{"lr": (1e-4, 1e-2)}``, or a region of the objective.',
        "rows",
        typed="use only these rows, such as \"epochs >= 10 and optimizer == 'adam'\"",
        metavar="CONDITION",
    )
    feasible: object = option(
        "Which rows are feasible: a mask, a boolean column, or columns of numbers that must be at most 0.",
        "rows",
        typed="columns of constraints: a row is feasible if its values there are true (or numbers up to 0)",
        metavar="COL,COL,…",
        several=True,
    )
    blocks: Iterable[str] | None = option(
        'Columns such as ``"dataset"`` for whose values results cannot be compared: rows are ranked within each of '
        "their values, and the importance is that of all blocks together. By default, columns with names such as "
        "``dataset``, ``instance``, ``problem`` and ``benchmark``; with ``[]`` all rows are compared.",
        "rows",
        typed="columns such as dataset: rows are ranked within each of their values; none: compare all rows",
        metavar="COL,COL,…",
        several=True,
    )
    repeats: str | None = option(
        'If several rows have the same configuration: use ``"all"`` of them, or one row with the ``"mean"`` or '
        '``"median"`` of their objectives.',
        "rows",
        choices=RepeatPolicy,
    )
    yes: bool = option(
        "Take every guess, also a doubtful one: the most likely objective, and columns that may not be parameters.",
        "columns",
        default=False,
        flag=True,
    )
    reading: Reading | None = option(
        "How text is read, and what to do with special rows: failed, pruned, infeasible, outside the space, or without "
        'an objective. Example: ``pa.Reading(state="status", failed="worst")``.'
    )

    def __post_init__(self) -> None:
        check_choices(self)
        object.__setattr__(self, "yes", as_flag("yes", self.yes))
