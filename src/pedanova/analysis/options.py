"""The options of `analyze` for sources, and all options of `analyze` and `importance` on the command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, get_args

from pedanova.counting.levels import Levels
from pedanova.data.options import GROUPED, Option, RowOptions, Scan, option, options_of
from pedanova.errors import plainly
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
    question("target", f"the rows that count as good (the target): {ROWS} (default {DEFAULT.target})", metavar="T",
        shell_default=str(DEFAULT.target)),
    question("region",
        f"the rows that the target is compared with (the region): {ROWS} (default {DEFAULT.region}: all rows)",
        metavar="R", shell_default=str(DEFAULT.region)),
    question("baseline",
        "region (default): compare the target with the rows of the region; uniform: with a uniform draw from the space",
        choices=get_args(Baseline)),
    question("smoothing", "smoothing of densities: auto (default), none, or a bandwidth in cells", metavar="S",
        shell_default="auto"),
    question("estimator",
        "counts: count the rows; surrogate: use a model (for few rows); auto (default): the more accurate one; "
        "paper: the estimator of the paper, without intervals", choices=get_args(Estimator)),
    question("draws", "number of random draws for intervals and p-values (0: none)", metavar="N", type=int),
    question("seed", "random seed (default 0)", metavar="N", type=int),
    question("of",
        "what 0.1 means for trials of an adaptive sampler: the best 10 % of the space (default), or of the rows",
        choices=get_args(PartsOf)),
    question("force", "answer even if the target has fewer than 5 rows", flag=True),
)  # fmt: skip
BY_NAME: Mapping[str, Option] = {option.name: option for option in (OBJECTIVE, *TABLE, *QUESTION)}


def as_typed(values: Mapping[str, Any], options: Iterable[Option]) -> list[str]:
    """The options as words of a shell command; options that have their default value are left out."""
    words: list[str] = []
    for one in options:
        value = values.get(one.name, one.typed_default)
        if value == one.typed_default:
            continue
        if one.flag:
            words.append(one.switch if value else f"--no-{one.switch[2:]}")
        else:
            several = value if isinstance(value, list) else [value]
            words += [word for each in several for word in (one.switch, str(each))]
    return words


class Opening(NamedTuple):
    """How an analysis was opened, as code: an expression in Python, and the source with its options in a shell.

    An empty text stands for data that exist only in memory. None means that there is no such code.
    """

    python: str = ""
    shell: str | None = ""

    def within(self, rows: Sequence[object]) -> Opening:
        """The same analysis of some of the rows."""
        texts, plain = [written(one) or "rows" for one in rows], all(isinstance(one, str) for one in rows)
        python = self.python and f"{self.python}.within({', '.join(texts)})"
        words = shlex.join(word for one in rows for word in ("--within", str(one)))
        return Opening(python, f"{self.shell} {words}" if self.shell and plain else None)


UNKNOWN = Opening()


def opening_of(call: AnalyzeCall) -> Opening:
    """The call of `analyze` as code, without options that have their defaults."""
    plain = isinstance(call.data, str | os.PathLike)
    given = [repr(str(call.data)) if plain else "table", *([] if call.objective is None else [written(call.objective)])]
    for one in fields(AnalyzeOptions):
        if (value := getattr(call, one.name)) is None:
            continue
        text = written(value)  # compared as text, because arrays cannot be compared
        if text != written(one.default):
            given.append(None if text is None else f"{one.name}={text}")
    if None in given:
        return UNKNOWN
    flat = {one.name: getattr(call, one.name) for one in fields(AnalyzeOptions)}
    for kind in GROUPED:
        if flat[kind] is not None:
            flat |= {one.name: getattr(flat[kind], one.name) for one in fields(flat[kind])}
    words = as_typed(flat | {"objective": call.objective}, (OBJECTIVE, *TABLE)) if plain else []
    return Opening(f"pa.analyze({', '.join(map(str, given))})", shlex.join([str(call.data), *words]) if plain else "")


def written(value: object) -> str | None:
    """A value as Python code; None if it has no short code, such as an array."""
    kind = next((kind for kind, made in GROUPED.items() if isinstance(value, made)), None)
    if kind is not None:
        every = {one.name: (written(getattr(value, one.name)), written(one.default)) for one in fields(GROUPED[kind])}
        texts = {name: text for name, (text, default) in every.items() if text != default}
        inner = ", ".join(f"{name}={text}" for name, text in texts.items())
        return None if None in texts.values() else f"pa.{GROUPED[kind].__name__}({inner})"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, Mapping):
        parts = [(written(key), written(one)) for key, one in value.items()]
        return None if any(None in part for part in parts) else f"{{{', '.join(f'{k}: {v}' for k, v in parts)}}}"
    if isinstance(value, list | tuple | set):
        return None if any(written(one) is None for one in value) else repr(value)
    return plainly(value) if value is None or isinstance(value, str | bool | int | float) else None


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the options of `Reading` and `Scan` in one object each, as `analyze` expects them."""
    names = {kind: {one.name for one in fields(made)} & {*flat} for kind, made in GROUPED.items()}
    own = {name: value for name, value in flat.items() if not any(name in one for one in names.values())}
    return own | {kind: GROUPED[kind](**{name: flat[name] for name in inner}) for kind, inner in names.items()}
