"""The question of the page, as JSON and as code: a selection of rows, a target, a region and a baseline.

The page keeps its question as plain JSON, stores it in its URL, and sends it with each request. The page also shows
the question as Python code and as a shell command. These give exactly the same numbers, so bounds have all digits.
"""

from __future__ import annotations

import keyword
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, get_args

from pedanova.data.regions import LONGEST, Region, as_part, between
from pedanova.errors import QueryError, unknown_name
from pedanova.measures.question import DEFAULT, REGION, TARGET, Baseline, How
from pedanova.space.parameters import Categorical, Ordinal, Parameter, Space
from pedanova.space.values import Label, as_real

KEYS = frozenset({"selection", "target", "region", "good", "baseline", "of", "study"})
LONGEST_NAME = 10_000  # characters of a column's or a study's name
GOOD = ("all", "selection")
OF = ("space", "rows")


@dataclass(frozen=True, slots=True)
class Span:
    """A selection of values between two bounds, both included, where None means no bound."""

    low: float | None
    high: float | None

    @classmethod
    def parse(cls, name: str, value: Any) -> Span:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise QueryError(f"selection of {name}: {_brief(value)} must be [low, high]; null means no bound")
        ends = [None if end is None else _number(end, f"selection of {name}") for end in value]
        if None not in ends and ends[0] > ends[1]:  # type: ignore[operator]
            raise QueryError(f"selection of {name}: {_brief(value)} has its low end above its high end; swap them")
        return cls(*ends)

    def bounds(self) -> tuple[float | None, float | None]:
        return self.low, self.high

    def to_json(self) -> dict[str, Any]:
        return {"range": [self.low, self.high]}


@dataclass(frozen=True, slots=True)
class Picks:
    """A selection of single values of a parameter."""

    labels: Mapping[str, Label]  # the values by their text

    def bounds(self) -> list[Label]:
        return list(self.labels.values())

    def to_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}


@dataclass(frozen=True, slots=True)
class StudyName:
    """A selection of the rows of one study: a column, and the study's value in this column."""

    column: str
    name: str

    @classmethod
    def parse(cls, value: Any) -> StudyName | None:
        """The study from JSON; whether it exists is checked later."""
        if value is None:
            return None
        keys = ("column", "name")
        named = isinstance(value, dict) and set(value) == set(keys)
        if not named or not all(isinstance(value[k], str) and len(value[k]) <= LONGEST_NAME for k in keys):
            raise QueryError(f'study: {_brief(value)} must be {{"column": …, "name": …}}')
        return cls(value["column"], value["name"])

    def to_json(self) -> dict[str, str]:
        return {"column": self.column, "name": self.name}


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question of the page: selection, target, region, baseline, and what quantiles refer to."""

    target: Region = field(default_factory=lambda: Region.parse(TARGET, "target"))
    region: Region = field(default_factory=lambda: Region.parse(REGION, "region"))
    selection: Mapping[str, Span | Picks] = field(default_factory=dict)
    good: str = "all"  # what quantiles refer to if rows are selected
    baseline: Baseline = "region"
    of: str = "space"
    study: StudyName | None = None  # one study of the table, analysed separately

    @classmethod
    def parse(cls, data: Any, space: Space) -> PageQuestion:
        """The question from untrusted JSON; raises an error for anything unknown."""
        if not isinstance(data, dict):
            raise QueryError("a question must be an object")
        if unknown := sorted(set(data) - KEYS):
            raise QueryError(f"{_brief(unknown[0])} is not part of a question; the parts are {', '.join(sorted(KEYS))}")
        selection = data.get("selection", {})
        if not isinstance(selection, dict):
            raise QueryError(f"selection: {_brief(selection)} must be an object with parameters as keys")
        return cls(
            target=parse_band(data.get("target", {"part": [0, TARGET]}), "target"),
            region=parse_band(data.get("region", {"part": [0, REGION]}), "region"),
            selection={name: parse_part(name, part, space) for name, part in selection.items()},
            good=_one_of(data.get("good", "all"), "good", GOOD),
            baseline=_one_of(data.get("baseline", "region"), "baseline", get_args(Baseline)),  # type: ignore[arg-type]
            of=_one_of(data.get("of", "space"), "of", OF),
            study=StudyName.parse(data.get("study")),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "target": band_to_json(self.target),
            "region": band_to_json(self.region),
            "selection": {name: part.to_json() for name, part in self.selection.items()},
            "good": self.good,
            "baseline": self.baseline,
            "of": self.of,
            **({} if self.study is None else {"study": self.study.to_json()}),
        }

    def how(self, how: How) -> How:
        """Add this question's values of the options `baseline` and `of` to the given options of `importance`."""
        return {**how, "baseline": self.baseline, "of": self.of}

    def box(self) -> dict[str, Any]:
        """The selection as an argument of `Analysis.within`; the dictionary is empty if all rows are selected."""
        return {name: part.bounds() for name, part in self.selection.items()}

    def rows(self) -> tuple[Any, ...]:
        """The arguments for `Analysis.within`; the tuple is empty if all rows are selected."""
        return (self.box(),) if self.selection else ()


def parse_band(value: Any, name: str) -> Region:
    """A region from JSON: ``{"part": [0, 0.1]}`` is the best tenth, ``{"value": [null, 0.3]}`` is values up to 0.3."""
    ends = value.get("part", value.get("value")) if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(ends, list) or len(ends) != 2:
        raise QueryError(f'{name}: {_brief(value)} must be {{"part": [0, 0.1]}} or {{"value": [null, 0.3]}}')
    if "part" in value:
        start, stop = (as_part(_number(end, name), name, zero=True) for end in ends)
        return Region.parse(stop, name) if not start else between(start, stop)  # type: ignore[arg-type]
    low, high = (None if end is None else _number(end, name) for end in ends)
    if low is None and high is None:
        return Region.parse(1, name)
    if low is not None and high is not None and low > high:
        raise QueryError(f"{name}: {_brief(value)} has its low end above its high end; swap them")
    return Region("value", low, high)


def band_to_json(region: Region) -> dict[str, Any]:
    if region.kind == "value":
        return {"value": [region.low, region.high]}
    high = Fraction(1) if region.high is None else region.high
    return {"part": [float(region.low or 0), float(high)]}


def parse_part(name: str, part: Any, space: Space) -> Span | Picks:
    if name not in space:
        raise QueryError(f"selection: {unknown_name(name, tuple(space))}")
    if isinstance(part, dict) and set(part) == {"range"}:
        return Span.parse(name, part["range"])
    if not (isinstance(part, dict) and set(part) == {"labels"} and isinstance(part["labels"], list) and part["labels"]):
        raise QueryError(f'selection of {name}: {_brief(part)} must be {{"range": [low, high]}} or {{"labels": [...]}}')
    labels = labels_by_text(space[name])
    for label in part["labels"]:
        if not isinstance(label, str) or label not in labels:
            raise QueryError(f"selection of {name}: {unknown_name(label, tuple(labels), what='value')}")
    return Picks({label: labels[label] for label in part["labels"]})


def chosen_part(name: str, rows: Any, space: Space) -> Span | Picks:
    """The selection for the parameter `name` from JSON: two ends of a range, or some of its values."""
    if not isinstance(name, str) or name not in space:
        raise QueryError(f"selection: {unknown_name(name, tuple(space))}")
    labels = labels_by_text(space[name])
    if not labels:
        return Span.parse(name, list(rows) if isinstance(rows, tuple) else rows)
    wanted = list(rows) if isinstance(rows, Iterable) and not isinstance(rows, str | Mapping) else [rows]
    texts = [next((text for text, label in labels.items() if is_same(label, one)), None) for one in wanted]
    for one, text in zip(wanted, texts, strict=True):
        if text is None:
            raise QueryError(f"selection of {name}: {unknown_name(one, tuple(labels), what='value')}")
    if not texts:
        raise QueryError(f"selection of {name}: the list is empty; leave {name} out to select all values")
    return Picks({text: labels[text] for text in labels if text in texts})


def is_same(label: object, other: Any) -> bool:
    """Whether two labels are equal and of the same type; a NumPy scalar counts as its Python value."""
    plain = other.item() if hasattr(other, "item") else other
    return type(label) is type(plain) and label == plain


def labels_by_text(parameter: Parameter) -> dict[str, Label]:
    """The values of a parameter by their text on the page, or {} if the page shows a numeric range."""
    if isinstance(parameter, Categorical):
        labels = parameter.choices
    elif isinstance(parameter, Ordinal) and not all(is_number(value) for value in parameter.values):
        labels = parameter.values
    else:
        return {}
    plain = {str(label): label for label in labels}
    return plain if len(plain) == len(labels) else {repr(label): label for label in labels}  # such as "1" and 1


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(as_real(value)):
        raise QueryError(f"{name}: {_brief(value)} must be a number")
    return as_real(value)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _one_of(value: Any, name: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise QueryError(f"{name}: {_brief(value)} must be one of {', '.join(choices)}")
    return str(value)


@dataclass(frozen=True, slots=True)
class FixedRows:
    """The selection of rows that all questions of a report file share."""

    rows: object  # the argument of `within`; None for all rows
    of: int  # the number of rows that they were selected from
    selection: Mapping[str, Span | Picks] = field(default_factory=dict)
    study: StudyName | None = None

    @classmethod
    def chosen(cls, rows: object, of: int, space: Space, study: StudyName | None = None) -> FixedRows:
        box = rows if isinstance(rows, Mapping) and all(name in space for name in rows) else {}
        return cls(rows, of, {name: chosen_part(name, part, space) for name, part in box.items()}, study)

    @property
    def question(self) -> PageQuestion:
        return PageQuestion(selection=self.selection, study=self.study)

    @property
    def python(self) -> str:
        if self.rows is None:
            return ""
        return f".within({self.question.box()!r})" if self.selection else f".within({self.text or 'rows'})"

    @property
    def text(self) -> str:
        return repr(self.rows) if isinstance(self.rows, str) else ""

    @property
    def condition(self) -> str | None:
        return self.rows if isinstance(self.rows, str) else condition_of(self.question) or None

    def to_json(self) -> dict[str, Any]:
        return {
            "of": self.of,
            "selection": {name: part.to_json() for name, part in self.selection.items()},
            "words": self.rows if isinstance(self.rows, str) else "" if self.rows is None else "a custom filter",
            "study": None if self.study is None else self.study.to_json(),
        }


USUAL: dict[str, Any] = {**DEFAULT.how}
ALWAYS = "`"  # a name that contains it cannot be used in a condition


def lines_of(
    question: PageQuestion,
    target: Region,
    region: Region,
    source: str = "",
    options: Mapping[str, Any] | None = None,
    fixed: FixedRows | None = None,
) -> dict[str, str | None]:
    """The Python call and shell command for a question, within its selection and the `fixed` rows."""
    how = {name: value for name, value in (options or {}).items() if name in USUAL and value != USUAL[name]}
    how |= {"baseline": question.baseline} if question.baseline != "region" else {}
    how |= {"of": question.of} if question.of != "space" else {}
    condition = condition_of(question)
    if fixed is not None:
        question = replace(question, study=fixed.study)
        whole = fixed.condition
        condition = None if whole is None else f"({whole}) and {condition}" if condition else whole
    shell = None
    if condition is not None:  # the command that prints the same table; `source` is already quoted
        words = ["--within", condition] if condition else []
        words += ["--target", target.text("shell")]
        words += [] if region.is_all else ["--region", region.text("shell")]
        for name, value in how.items():
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        shell = f"pedanova analyze {source or 'SOURCE'} {shlex.join(words)}"
    python = python_line(question, target, region, how, "" if fixed is None else fixed.python)
    return {"python": python, "shell": shell, "condition": condition or None}


# --- Python ------------------------------------------------------------------------------------------


def python_line(
    question: PageQuestion, target: Region, region: Region, how: Mapping[str, Any], within: str = ""
) -> str:
    rows = [target.text("python"), *([] if region.is_all else [region.text("python")])]
    given = ", ".join([*rows, *(f"{name}={value!r}" for name, value in how.items())])
    whole = "a" if question.study is None else f"a.groups({question.study.column!r})[{question.study.name!r}]"
    return f"{whole}{within}{f'.within({question.box()!r})' if question.selection else ''}.importance({given})"


# --- the condition -----------------------------------------------------------------------------------


def condition_of(question: PageQuestion) -> str | None:
    """The selection as text for ``--within``, such as ``lr <= 0.1``; None if it cannot be written as a condition."""
    if question.study is not None or any(ALWAYS in name for name in question.selection):
        return None
    text = " and ".join(comparison(name, part) for name, part in question.selection.items())
    return text if len(text) <= LONGEST else None


def comparison(name: str, part: Span | Picks) -> str:
    column = name if name.isidentifier() and not keyword.iskeyword(name) else f"{ALWAYS}{name}{ALWAYS}"
    if isinstance(part, Picks):
        labels = part.bounds()
        return f"{column} == {labels[0]!r}" if len(labels) == 1 else f"{column} in {labels!r}"
    if part.low is None and part.high is None:
        return f"{column} is not None"
    if part.low is None or part.high is None:
        return f"{column} <= {part.high!r}" if part.low is None else f"{column} >= {part.low!r}"
    return f"{part.low!r} <= {column} <= {part.high!r}"
