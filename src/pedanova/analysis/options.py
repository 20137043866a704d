"""Every option once: what it means, what it may be, and how the command line takes it.

The docstring of `analyze`, the command line, its help and its completion are
made from here; their signatures are checked against it. What an option does is written where rows are
chosen (`data.table_options`, `data.prepare`); what it is called and means, here alone.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from pedanova.errors import Arg, QueryError

Function = TypeVar("Function", bound=Callable[..., Any])
Group: TypeAlias = Literal["the question", "columns", "rows", "large tables", "output"]
ROWS = (
    "0.1 for the best 10 %; '<=V' or '>=V' for values; 'A..B' for the rows between two quantiles; "
    'the name of a boolean column; or a condition such as "epochs >= 10"'
)


@dataclass(frozen=True, slots=True)
class Option:
    """One keyword of a function, and one option of the command line."""

    name: str
    default: Any
    about: str  # for whoever writes Python
    help: str | None = None  # for whoever types commands; None where there is no such option
    group: Group = "the question"
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    several: bool = False  # may be given more than once
    names_columns: bool = False  # the shell completes names of columns
    flag: bool = False
    type: Callable[[str], Any] | None = None
    shell_default: Any = None  # where a text stands for the default

    def checked(self, value: Any) -> Any:
        """The value, if it is one of the choices."""
        fits = value is self.default or (isinstance(value, str) and value in self.choices)
        if self.choices and not fits:
            allowed = " or ".join(repr(choice) for choice in self.choices)
            raise QueryError(Arg(self.name, value), f" must be {allowed}")
        return value


OBJECTIVE = Option(
    "objective", None,
    "The name of a column, one number per row, a condition such as ``\"verdict == 'good'\"``, or a list of "
    "names: several objectives are ordered by non-domination. A log that knows what was optimised needs none; "
    "nor a direction.",
    "the column to optimise; several may be given", metavar="COLUMN", several=True, names_columns=True,
)  # fmt: skip
TABLE = (
    Option(
        "direction", None,
        '``"minimize"`` or ``"maximize"`` (``"min"``, ``"max"``), or a list with one for each. Without it the log '
        "tells, or else the objective's name (an accuracy is maximised, a loss minimised); ``notes`` say what was "
        "guessed, as a warning where the name tells nothing.",
        "once, or once for each objective (default: as the log or the objective's name tells)",
        choices=("minimize", "maximize", "min", "max"), several=True,
    ),
    Option(
        "space", None,
        "The search space by name: `Float`, `Int`, `Ordinal`, `Categorical`, `Moving`, `Switch`; or whatever "
        "`space_from` reads: a JSON or YAML file, a ConfigSpace, Optuna's distributions. Without it, the "
        "space is the log's own, or guessed from the data; ``notes`` tell every guess.",
        'search space as JSON or YAML: {"lr": {"type": "float", "low": 1e-5, "high": 1, "log": true}}; '
        "or a ConfigSpace file", "columns", metavar="FILE",
    ),
    Option(
        "levels", None,
        "Quantiles to cut the objective at, or the `levels` of another analysis, so that both can be added. By "
        "default a ladder from 0.001 to 1.",
    ),
    Option(
        "nan", "drop", 'What to do with rows whose objective is NaN: ``"drop"`` or count as the ``"worst"``.',
        "rows whose objective is NaN", "rows", choices=("drop", "worst"),
    ),
    Option(
        "outside", "error",
        'What to do with values outside a given space: ``"error"``, or ``"count"`` them apart.',
        "values outside the given space", "columns", choices=("error", "count"),
    ),
    Option(
        "params", None, "Columns to use as parameters; by default all that look like settings.",
        "columns to use, separated by commas (default: all others)", "columns",
        metavar="COLS", several=True, names_columns=True,
    ),
    Option(
        "exclude", None, "Columns to leave out.",
        "columns to leave out, separated by commas", "columns",
        metavar="COLS", several=True, names_columns=True,
    ),
    Option(
        "where", None,
        'Rows to use: a condition such as ``"epochs >= 10"``, a boolean column or mask, a box such as '
        '``{"lr": (1e-4, 1e-2)}``, or a region of the objective.',
        "use only these rows, such as \"epochs >= 10 and optimizer == 'adam'\"", "rows", metavar="CONDITION",
    ),
    Option(
        "feasible", None,
        "Which rows are feasible: a mask, a boolean column, or columns that must be at most 0.",
        "a boolean column, or columns that must be at most 0", "rows",
        metavar="COLS", several=True, names_columns=True,
    ),
    Option(
        "infeasible", "drop", 'Rows that are not feasible are dropped or count as the ``"worst"``.',
        "rows that are not feasible", "rows", choices=("drop", "worst"),
    ),
    Option(
        "state", None, "The column of the trials' states (COMPLETE, FAIL, PRUNED, RUNNING).",
        "the column of states: COMPLETE, FAIL, PRUNED, RUNNING", "rows", metavar="COLUMN", names_columns=True,
    ),
    Option(
        "failed", "drop", 'Rows that failed are dropped or count as the ``"worst"``.',
        "rows that failed", "rows", choices=("drop", "worst"),
    ),
    Option(
        "pruned", "drop",
        'Rows that were pruned are dropped, count as the ``"worst"``, or with their ``"last"`` value.',
        "rows that were pruned", "rows", choices=("drop", "worst", "last"),
    ),
    Option(
        "repeats", None,
        'Rows of the same configuration: count ``"all"``, or their ``"mean"`` or ``"median"``.',
        "rows of the same configuration", "rows", choices=("all", "mean", "median"),
    ),
    Option(
        "study", None, "Which study or experiment, where a store holds several.",
        "which study or experiment, where a store holds several", "rows", metavar="NAME",
    ),
    Option("names", None, "Column names of a 2-D NumPy array."),
    Option(
        "delimiter", None,
        "The sign between the fields of a CSV file, such as ``\";\"`` or ``\"tab\"``; None to find it.",
        "the sign between the fields of a CSV file, such as ';' or tab (default: found)", "columns", metavar="SIGN",
    ),
    Option(
        "decimal", None,
        'The sign before the decimals of numbers: ``","`` where ``1,234`` is not 1234; None to find it.',
        "the sign before the decimals (default: found)", "columns", choices=(".", ","),
    ),
    Option(
        "stream", None,
        "Read files, lazy frames and relations in parts, in memory that does not grow with them; None for large "
        "ones only.",
        "read files in parts, in memory that does not grow with them (default: large ones only)",
        "large tables", flag=True,
    ),
    Option(
        "executor", None,
        "Whose workers read the parts: any executor in the manner of ``concurrent.futures``, such as Dask's "
        "``client.get_executor(retries=2)``, or a Spark session.",
    ),
    Option(
        "on_error", "raise",
        'What to do with files that cannot be read, where there are several: ``"raise"``, or ``"skip"`` them '
        "and say so in the notes.",
        "files that cannot be read", "large tables", choices=("raise", "skip"),
    ),
    Option(
        "pushdown", None,
        "Let the engine of a DuckDB relation, a Polars lazy frame or an ibis table count, so that only the "
        "objective travels; None for ibis tables only.",
    ),
    Option(
        "engine", None,
        'Who counts: ``"cpu"``, or ``"cuda"`` for a GPU (`pedanova[cuda]`). None for whoever has the rows: arrays '
        "on a GPU (CuPy, PyTorch, JAX, cuDF, DLPack) are counted there, where they lie.",
        "count on the CPU, or on a CUDA GPU (default: the CPU)", "large tables", choices=("cpu", "cuda"),
    ),
    Option(
        "threads", None, "Threads to count with; None for all cores.",
        "threads to count with (default: all cores)", "output", metavar="N", type=int,
    ),
)  # fmt: skip
QUESTION = (
    Option(
        "target", 0.1,
        "The rows to reach: a quantile (0.1 = the best 10 %), `at_most`, `at_least`, `between`, `equals`, a "
        'boolean column or mask, a box such as ``{"lr": (1e-4, 1e-2), "optimizer": {"adam"}}``, or a condition '
        'such as ``"epochs >= 10"``. It must lie inside the region; a quantile is taken within a region that is '
        "a mask, a box or a condition.",
        f"the rows to reach: {ROWS} (default 0.1)", metavar="T", shell_default="0.1",
    ),
    Option(
        "region", 1.0, "The rows to stand in, in the same ways; by default all.",
        f"the rows to stand in: {ROWS} (default 1.0: all)", metavar="R", shell_default="1.0",
    ),
    Option(
        "baseline", "region",
        '``"region"``: the target against the rows of the region, right for adaptive samplers too. '
        '``"uniform"``: against a uniform draw from the space.',
        "hold the target against the region's rows (default) or a uniform draw", choices=("region", "uniform"),
    ),
    Option(
        "smoothing", "auto", '``"auto"``, ``"none"``, or a bandwidth in cells.',
        "auto, none, or a bandwidth in cells", metavar="S", shell_default="auto",
    ),
    Option(
        "estimator", "auto",
        '``"counts"``: the rows alone. ``"surrogate"``: a model of the objective, asked all over the space, '
        'right where rows are few. ``"auto"``: the model for 40 to 5,000 rows if it predicts rows that it has '
        'not seen; the notes say what was taken and why. ``"paper"``: the densities of the paper\'s authors, to '
        "compare with.",
        "counts of the rows, a model for few rows, whichever is nearer the truth (default), or the paper's own",
        choices=("auto", "counts", "surrogate", "paper"),
    ),
    Option(
        "draws", 2000, "Random draws behind p-values and intervals; 0 for none of them.",
        "behind intervals and p-values; 0 for none", metavar="N", type=int,
    ),
    Option(
        "seed", 0, "Of the draws: the same seed gives the same numbers.",
        "of everything random (default 0)", metavar="N", type=int,
    ),
    Option(
        "of", "space",
        'What quantiles are parts of after an adaptive sampler: ``"space"``, as a model sees it, or ``"rows"``, the '
        "best of the trials, which counts answer. Where rows were drawn evenly, both are the same.",
        "after an adaptive sampler: quantiles of the space (default) or of the rows", choices=("space", "rows"),
    ),
    Option(
        "force", False,
        "Answer from fewer than 5 target rows too; a model or not, they say next to nothing.",
        "answer from fewer than 5 target rows too", flag=True,
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Option] = {option.name: option for option in (OBJECTIVE, *TABLE, *QUESTION)}


def check_choices(given: Mapping[str, Any]) -> None:
    """Refuse what is none of an option's choices; directions are checked with their objectives."""
    for option in TABLE:
        if not option.several:
            option.checked(given[option.name])


def parameters_section(options: Iterable[Option]) -> str:
    """The options as a docstring lists them."""
    lines = []
    for option in options:
        about = textwrap.wrap(option.about, 100, break_long_words=False, break_on_hyphens=False)
        lines += [option.name, *(f"    {line}" for line in about)]
    return "\n".join(lines)


def documented(options: Iterable[Option]) -> Callable[[Function], Function]:
    """A function whose docstring lists these options where it says ``{options}``."""

    def describe(function: Function) -> Function:
        if function.__doc__ is not None:  # python -OO leaves none
            function.__doc__ = inspect.cleandoc(function.__doc__).replace("{options}", parameters_section(options))
        return function

    return describe
