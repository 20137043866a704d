"""The options of `analyze` and of `importance`, as options of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from pedanova.data.options import Decimal, Ending, NanPolicy, OnError, Outside, PrunedEnding, Reading, Scan
from pedanova.data.records import RepeatPolicy
from pedanova.measures.question import DEFAULT, Baseline, Estimator, PartsOf, Question

Group: TypeAlias = Literal["the question", "columns", "rows", "large tables", "output"]
ROWS = (
    "0.1 for the best 10 %; '<=V' or '>=V' for values of the objective; 'A..B' for the rows between two quantiles; "
    'the name of a boolean column; or a condition such as "epochs >= 10"'
)


@dataclass(frozen=True, slots=True)
class Option:
    name: str
    default: Any
    help: str
    group: Group = "the question"
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


def field_of(
    kind: Reading | Scan | Question, name: str, words: str, group: Group = "the question", **more: Any
) -> Option:
    """A command-line option for a field of `Reading`, `Scan` or `Question`, with the default of that field."""
    return Option(name, getattr(kind, name), words, group, **more)


columns = partial(Option, default=None, metavar="COLS", several=True)
reading, scan, question = (partial(field_of, kind) for kind in (Reading(), Scan(), DEFAULT))
OBJECTIVE = columns("objective", help="the column to optimise; several may be given", metavar="COLUMN")
TABLE = (
    Option(
        "direction",
        None,
        "whether lower or higher is better; give it once, or once for each objective "
        "(default: from the log or the objective's name)",
        choices=("minimize", "maximize", "min", "max"),
        several=True,
    ),
    Option(
        "space",
        None,
        'search space as JSON or YAML: {"lr": {"type": "float", "low": 1e-5, "high": 1, "log": true}}; '
        "or a ConfigSpace file",
        "columns",
        metavar="FILE",
    ),
    reading("nan", "what to do with rows whose objective is NaN", "rows", choices=get_args(NanPolicy)),
    reading("outside", "what to do with values outside the given space", "columns", choices=get_args(Outside)),
    columns("params", help="the parameters, separated by commas (default: guessed from the table)", group="columns"),
    columns("exclude", help="columns to leave out, separated by commas", group="columns"),
    Option(
        "where",
        None,
        "use only these rows, such as \"epochs >= 10 and optimizer == 'adam'\"",
        "rows",
        metavar="CONDITION",
    ),
    columns(
        "feasible",
        help="columns of constraints: a row is feasible if its values there are true (or numbers up to 0)",
        group="rows",
    ),
    reading("infeasible", "what to do with rows that are not feasible", "rows", choices=get_args(Ending)),
    reading("state", "the column of trial states: COMPLETE, FAIL, PRUNED, RUNNING", "rows", metavar="COLUMN"),
    reading("failed", "what to do with rows that failed", "rows", choices=get_args(Ending)),
    reading("pruned", "what to do with rows that were pruned", "rows", choices=get_args(PrunedEnding)),
    Option("repeats", None, "what to do with repeated configurations", "rows", choices=get_args(RepeatPolicy)),
    Option("study", None, "the study or experiment to read, if the source has several", "rows", metavar="NAME"),
    reading(
        "delimiter", "the separator of a CSV file, such as ';' or tab (default: detected)", "columns", metavar="SIGN"
    ),
    reading("decimal", "the decimal separator (default: detected)", "columns", choices=get_args(Decimal)),
    scan("stream", "read files in parts, with constant memory (default: only large files)", "large tables", flag=True),
    scan("on_error", "what to do with files that cannot be read", "large tables", choices=get_args(OnError)),
    scan("threads", "number of threads (default: all cores)", "output", metavar="N", type=int),
)
QUESTION = (
    question(
        "target",
        f"the rows that count as good (the target): {ROWS} (default {DEFAULT.target})",
        metavar="T",
        shell_default=str(DEFAULT.target),
    ),
    question(
        "region",
        f"the rows that the target is compared with (the region): {ROWS} (default {DEFAULT.region}: all rows)",
        metavar="R",
        shell_default=str(DEFAULT.region),
    ),
    question(
        "baseline",
        "region (default): compare the target with the rows of the region; uniform: with a uniform draw from the space",
        choices=get_args(Baseline),
    ),
    question(
        "smoothing",
        "smoothing of densities: auto (default), none, or a bandwidth in cells",
        metavar="S",
        shell_default="auto",
    ),
    question(
        "estimator",
        "counts: count the rows; surrogate: use a model (for few rows); auto (default): the more accurate one",
        choices=get_args(Estimator),
    ),
    question("draws", "number of random draws for intervals and p-values (0: none)", metavar="N", type=int),
    question("seed", "random seed (default 0)", metavar="N", type=int),
    question(
        "of",
        "what 0.1 means for trials of an adaptive sampler: the best 10 % of the space (default), or of the rows",
        choices=get_args(PartsOf),
    ),
    question("force", "answer even if the target has fewer than 5 rows", flag=True),
)
BY_NAME: Mapping[str, Option] = {option.name: option for option in (OBJECTIVE, *TABLE, *QUESTION)}


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the options for reading in one `Reading` and one `Scan`, as `analyze` expects."""
    kinds = {"reading": Reading, "scan": Scan}
    names = {kind: [one.name for one in fields(made)] for kind, made in kinds.items()}
    own = {name: value for name, value in flat.items() if not any(name in one for one in names.values())}
    return own | {
        kind: made(**{name: flat[name] for name in names[kind] if name in flat}) for kind, made in kinds.items()
    }
