"""The options of `analyze` for sources, and all options of `analyze` and `importance` on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from pedanova.counting.levels import Levels
from pedanova.data.options import GROUPED, Option, RowOptions, Scan, option, options_of
from pedanova.measures.question import DEFAULT, Baseline, Estimator, PartsOf

ROWS = (
    "0.1 for the best 10 %; '<=V' or '>=V' for values of the objective; 'A..B' for the rows between two quantiles; "
    'the name of a boolean column; or a condition such as "epochs >= 10"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeOptions(RowOptions):
    """All options of `analyze`."""

    study: str | None = option(
        "The study or experiment to read, if the source contains several.", "rows", metavar="NAME"
    )
    names: Sequence[str] | None = option("Column names of a 2-D NumPy array.")
    levels: Levels | Iterable[float] | None = option(
        "The quantiles to count, by default a list from 0.001 to 1. Other targets need a new count of the rows. If you "
        "want to add two analyses, make the second one with ``levels=first.data.levels``."
    )
    scan: Scan | None = option(
        "How large tables are read, and where rows are counted. Example: ``pa.Scan(stream=True, threads=4)``."
    )


@dataclass(frozen=True, slots=True)
class AnalyzeCall(AnalyzeOptions):
    """All arguments of `analyze`; its docstring explains the first two."""

    data: object
    objective: object = None


def question(name: str, words: str, **more: Any) -> Option:
    """A command-line option for a field of `Question`, with the default of that field."""
    return Option(name, getattr(DEFAULT, name), words, **more)


OBJECTIVE = Option("objective", None, "the column to optimise; several may be given", metavar="COLUMN", several=True)
TABLE = tuple(options_of(AnalyzeOptions))
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
        "counts: count the rows; surrogate: use a model (for few rows); auto (default): the more accurate one; "
        "paper: the estimator of the paper, without intervals",
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
    """Collect the options of `Reading` and `Scan` in one object each, as `analyze` expects them."""
    names = {kind: {one.name for one in fields(made)} & {*flat} for kind, made in GROUPED.items()}
    own = {name: value for name, value in flat.items() if not any(name in one for one in names.values())}
    return own | {kind: GROUPED[kind](**{name: flat[name] for name in inner}) for kind, inner in names.items()}
