"""The question of the page, as JSON and as code: a selection of rows, a target, a region and a baseline.

The page keeps its question as plain JSON, stores it in its URL, and sends it with each request. The page also shows
the question as Python code and as a shell command. These give exactly the same numbers, so bounds have all digits.
"""

from __future__ import annotations

import keyword
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias, get_args

from pedanova.data.regions import LONGEST, Region, as_part, between
from pedanova.errors import QueryError, unknown_name
from pedanova.measures.question import DEFAULT, HOW, REGION, TARGET, Baseline, PartsOf, Question
from pedanova.space.parameters import Categorical, Ordinal, Parameter, Space
from pedanova.space.values import Label, as_real, is_number

KEYS = frozenset({"selection", "target", "region", "good", "baseline", "of", "study"})
PAPER = "paper"  # the estimator that the page offers beside the baselines
LONGEST_NAME = 10_000  # characters of a column's or a study's name
GOOD = {"all": "all", "selection": "selected"}  # what quantiles refer to: the page's word → `Question.parts`
Span: TypeAlias = tuple[float | None, float | None]  # two bounds of a selection, both included; None for no bound
Bounds: TypeAlias = Span | list[Label]  # what is selected of a parameter: a range, or some of its values


def parse_question(data: Any, space: Space, start: Question = DEFAULT) -> Question:
    """The question from untrusted JSON, with other options as in `start`; raises an error for anything unknown."""
    if not isinstance(data, dict):
        raise QueryError("a question must be an object")
    if unknown := sorted(set(data) - KEYS):
        raise QueryError(f"{_brief(unknown[0])} is not part of a question; the parts are {', '.join(sorted(KEYS))}")
    selection = data.get("selection", {})
    if not isinstance(selection, dict):
        raise QueryError(f"selection: {_brief(selection)} must be an object with parameters as keys")
    against = _one_of(data.get("baseline", "region"), "baseline", (*get_args(Baseline), PAPER))
    if PAPER in (against, start.estimator):
        start = replace(start, estimator=PAPER if against == PAPER else DEFAULT.estimator)
    return replace(
        start,
        target=parse_band(data.get("target", {"part": [0, TARGET]}), "target"),
        region=parse_band(data.get("region", {"part": [0, REGION]}), "region"),
        within=boxed({name: parse_part(name, part, space) for name, part in selection.items()}),
        parts=GOOD[_one_of(data.get("good", "all"), "good", tuple(GOOD))],
        baseline=DEFAULT.baseline if against == PAPER else against,
        of=_one_of(data.get("of", "space"), "of", get_args(PartsOf)),
        study=parse_study(data.get("study")),
    )


def question_to_json(question: Question, space: Space) -> dict[str, Any]:
    study = None if question.study is None else study_to_json(question.study)
    return {
        "target": band_to_json(Region.parse(question.target, "target")),
        "region": band_to_json(Region.parse(question.region, "region")),
        "selection": box_to_json(box_of(question), space),
        "good": next(good for good, parts in GOOD.items() if parts == question.parts),
        "baseline": PAPER if question.estimator == PAPER else question.baseline,
        "of": question.of,
        **({} if study is None else {"study": study}),
    }


def boxed(box: Mapping[str, Bounds]) -> tuple[Any, ...]:
    """The box as `Question.within`; an empty box selects all rows."""
    return (dict(box),) if box else ()


def box_of(question: Question) -> dict[str, Bounds]:
    """The selection of a question of the page, as an argument of `Analysis.within`; empty if all rows are selected."""
    return dict(question.within[0]) if question.within else {}


def box_to_json(box: Mapping[str, Bounds], space: Space) -> dict[str, Any]:
    def part(name: str, bounds: Bounds) -> dict[str, Any]:
        if isinstance(bounds, tuple):
            return {"range": list(bounds)}
        texts = labels_by_text(space[name])
        return {"labels": [text for one in bounds for text, label in texts.items() if is_same(label, one)]}

    return {name: part(name, bounds) for name, bounds in box.items()}


def parse_study(value: Any) -> tuple[str, str] | None:
    """The column and the name of a study from JSON; whether the study exists is checked later."""
    if value is None:
        return None
    keys = ("column", "name")
    named = isinstance(value, dict) and set(value) == set(keys)
    if not named or not all(isinstance(value[k], str) and len(value[k]) <= LONGEST_NAME for k in keys):
        raise QueryError(f'study: {_brief(value)} must be {{"column": …, "name": …}}')
    return value["column"], value["name"]


def study_to_json(study: tuple[str, str]) -> dict[str, str]:
    return {"column": study[0], "name": study[1]}


def parse_band(value: Any, name: str) -> Region:
    """A region from JSON: ``{"part": [0, 0.1]}`` is the best tenth, ``{"value": [null, 0.3]}`` is values up to 0.3."""
    ends = value.get("part", value.get("value")) if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(ends, list) or len(ends) != 2:
        raise QueryError(f'{name}: {_brief(value)} must be {{"part": [0, 0.1]}} or {{"value": [null, 0.3]}}')
    if "part" in value:
        start, stop = (as_part(_number(end, name), name, zero=True) for end in ends)
        return Region.parse(stop, name) if not start else between(start, stop)  # type: ignore[arg-type]
    low, high = parse_span(name, ends)
    return Region.parse(1, name) if low is None and high is None else Region("value", low, high)


def band_to_json(region: Region) -> dict[str, Any]:
    if region.kind == "value":
        return {"value": [region.low, region.high]}
    high = Fraction(1) if region.high is None else region.high
    return {"part": [float(region.low or 0), float(high)]}


def parse_span(what: str, value: Any) -> Span:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise QueryError(f"{what}: {_brief(value)} must be [low, high]; null means no bound")
    low, high = (None if end is None else _number(end, what) for end in value)
    if low is not None and high is not None and low > high:
        raise QueryError(f"{what}: {_brief(value)} has its low end above its high end; swap them")
    return low, high


def parse_part(name: str, part: Any, space: Space) -> Bounds:
    if name not in space:
        raise QueryError(f"selection: {unknown_name(name, tuple(space))}")
    if isinstance(part, dict) and set(part) == {"range"}:
        return parse_span(f"selection of {name}", part["range"])
    if not (isinstance(part, dict) and set(part) == {"labels"} and isinstance(part["labels"], list) and part["labels"]):
        raise QueryError(f'selection of {name}: {_brief(part)} must be {{"range": [low, high]}} or {{"labels": [...]}}')
    labels = labels_by_text(space[name])
    for label in part["labels"]:
        if not isinstance(label, str) or label not in labels:
            raise QueryError(f"selection of {name}: {unknown_name(label, tuple(labels), what='value')}")
    return [labels[label] for label in dict.fromkeys(part["labels"])]


def chosen_part(name: str, rows: Any, space: Space) -> Bounds:
    """The selection for the parameter `name` from JSON: two ends of a range, or some of its values."""
    if not isinstance(name, str) or name not in space:
        raise QueryError(f"selection: {unknown_name(name, tuple(space))}")
    labels = labels_by_text(space[name])
    if not labels:
        return parse_span(f"selection of {name}", list(rows) if isinstance(rows, tuple) else rows)
    wanted = list(rows) if isinstance(rows, Iterable) and not isinstance(rows, str | Mapping) else [rows]
    texts = [next((text for text, label in labels.items() if is_same(label, one)), None) for one in wanted]
    for one, text in zip(wanted, texts, strict=True):
        if text is None:
            raise QueryError(f"selection of {name}: {unknown_name(one, tuple(labels), what='value')}")
    if not texts:
        raise QueryError(f"selection of {name}: the list is empty; leave {name} out to select all values")
    return [labels[text] for text in labels if text in texts]


def is_same(label: object, other: Any) -> bool:
    """Whether two labels are equal and of the same type; a NumPy scalar counts as its Python value."""
    plain = other.item() if hasattr(other, "item") else other
    return type(label) is type(plain) and label == plain


def labels_by_text(parameter: Parameter) -> dict[str, Label]:
    """The values of a parameter by their text on the page, or {} if the page shows a numeric range."""
    if isinstance(parameter, Categorical):
        labels = parameter.choices
    elif isinstance(parameter, Ordinal) and not all(map(is_number, parameter.values)):
        labels = parameter.values
    else:
        return {}
    plain = {str(label): label for label in labels}
    return plain if len(plain) == len(labels) else {repr(label): label for label in labels}  # such as "1" and 1


def _number(value: Any, name: str) -> float:
    if not is_number(value) or not math.isfinite(as_real(value)):
        raise QueryError(f"{name}: {_brief(value)} must be a number")
    return as_real(value)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _one_of(value: Any, name: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise QueryError(f"{name}: {_brief(value)} must be one of {', '.join(choices)}")
    return str(value)


USUAL: dict[str, Any] = {**DEFAULT.how}
ALWAYS = "`"  # a name that contains it cannot be used in a condition
LAST = ("baseline", "of")


@dataclass(frozen=True, slots=True)
class Call:
    """The method of `Analysis` that gives the numbers of a card, and the command if there is one."""

    method: str
    command: str = ""
    bands: tuple[str, ...] = ("target", "region")
    options: tuple[str, ...] = HOW


CALLS = {
    "answer": Call("importance", "analyze"),
    "pairs": Call("interactions", "interactions", options=("estimator", "seed", "of")),
    "plane": Call("pairs", options=()),
    "marginal": Call("effects", bands=("region",), options=()),
    "space": Call("reduce", "reduce", ("target",), ("estimator", "seed")),
    "gains": Call("gains", "gains", (), ("seed",)),
    "objectives": Call("compare"),
    "along": Call("along", "along", ("target",)),
    "trials": Call("trials", options=("of", "seed")),
    "history": Call("plot.history", bands=(), options=()),
    "slice": Call("plot.slice", bands=("target",), options=()),
    "curves": Call("plot.curves", bands=(), options=()),
}


NAMED = ("plane", "along", "slice")  # of these, the target is not the first argument


def opened_by(opening: str, objective: str) -> str:
    """The first lines of the code of a page; `opening` is the call of `analyze`."""
    call = opening or f"pa.analyze(table, {objective!r})  # table: the data of this page"
    return f"import pedanova as pa\n\na = {call}"


def lines_of(question: Question, source: str | None = "", card: str = "answer", **more: Any) -> dict[str, str | None]:
    """The Python call and shell command for a card; a selection that cannot be written as a condition has no command.

    `more` are further arguments of the method; the command does not have them, except `budget`.
    """
    call, bands = CALLS[card], bands_of_code(question, CALLS[card].bands)
    how = more | options_of_code(question, call.options)
    condition, shell = condition_of(question), None
    if None not in (condition, source) and call.command and not {*more} - {"budget"}:
        words = ["--within", condition] if condition else []  # `source` is already quoted
        words += words_of_shell({name: band.text("shell") for name, band in bands.items()} | how)
        shell = " ".join(["pedanova", call.command, source or "SOURCE", *map(shlex.quote, words)])
    texts = [f"{name}=" * (card in NAMED) + band.text("python") for name, band in bands.items()]
    given = ", ".join([*texts, *(f"{name}={value!r}" for name, value in how.items())])
    whole = "a" if question.study is None else "a.groups({!r})[{!r}]".format(*question.study)
    python = f"{rows_of_code(whole, question.within)}.{call.method}({given})"
    return {"python": python, "shell": shell, "condition": condition or None}


def bands_of_code(question: Question, names: Sequence[str] = ("target", "region")) -> dict[str, Region]:
    """The target and the region, without a region that contains all rows."""
    bands = {name: Region.parse(getattr(question, name), name) for name in names}
    return {name: band for name, band in bands.items() if name == "target" or not band.is_all}


def options_of_code(question: Question, names: Sequence[str] = HOW, always: Sequence[str] = ()) -> dict[str, Any]:
    """The options that do not have their default value, and those in `always`."""
    ordered = sorted(names, key=lambda name: name in LAST)
    values = {name: question.how[name] for name in ordered}  # type: ignore[literal-required]
    return {name: value for name, value in values.items() if name in always or value != USUAL[name]}


def rows_of_code(whole: str, within: Sequence[object]) -> str:
    """The analysis `whole`, limited to some rows; None stands for rows that cannot be written as code."""
    return whole + "".join(f".within({'rows' if rows is None else repr(rows)})" for rows in within)


def words_of_shell(options: Mapping[str, object]) -> list[str]:
    pairs = ([f"--{name}"] if value is True else [f"--{name}", str(value)] for name, value in options.items())
    return [word for pair in pairs for word in pair]


def condition_of(question: Question) -> str | None:
    """The selection as text for ``--within``, such as ``lr <= 0.1``; None if it cannot be written as a condition."""
    texts: list[str] = []
    for rows in question.within:
        if rows is None or any(ALWAYS in name for name in rows if not isinstance(rows, str)):
            return None
        joined = " and ".join(comparison(*one) for one in rows.items()) if isinstance(rows, Mapping) else rows
        texts = [*(f"({text})" for text in texts), joined]
    text = " and ".join(texts)
    return text if len(text) <= LONGEST and question.study is None else None


def comparison(name: str, bounds: Bounds) -> str:
    column = name if name.isidentifier() and not keyword.iskeyword(name) else f"{ALWAYS}{name}{ALWAYS}"
    if isinstance(bounds, list):
        return f"{column} == {bounds[0]!r}" if len(bounds) == 1 else f"{column} in {bounds!r}"
    low, high = bounds
    if low is None and high is None:
        return f"{column} is not None"
    if low is None or high is None:
        return f"{column} <= {high!r}" if low is None else f"{column} >= {low!r}"
    return f"{low!r} <= {column} <= {high!r}"
