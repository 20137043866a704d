"""A question to an analysis (target, region and options), with the defaults of all options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, Literal, TypeAlias, TypedDict, cast

from pedanova.data.options import as_flag, check_choice
from pedanova.errors import Arg, QueryError
from pedanova.measures.smoothing import Smoothing, check_smoothing

Baseline: TypeAlias = Literal["region", "uniform"]
Estimator: TypeAlias = Literal["auto", "counts", "surrogate", "paper"]
PartsOf: TypeAlias = Literal["space", "rows"]
Parts: TypeAlias = Literal["selected", "all"]
TARGET, REGION = 0.1, 1.0  # γ′ and γ in the paper
INNER = (0.02, 0.1)  # the second question of a page: a target inside the best rows
LEAST_TO_REDUCE = 40, 10  # the fewest rows, and target rows if there is no model, that give a smaller space


def as_whole(value: object, name: str, least: int = 0, most: float = math.inf) -> int:
    """The option `name` as an integer; raises an error if it is not a whole number in the given limits."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) < most:
        limit = "" if most == math.inf else f" and below {most:,}"
        raise QueryError(Arg(name, value), f" must be a whole number of at least {least}{limit}")
    return int(value)


class DensityHow(TypedDict, total=False):
    """The options for computing densities; `Question` has their defaults."""

    smoothing: Smoothing
    estimator: str
    seed: int
    of: str


class How(DensityHow, total=False):
    """The options of `Analysis.importance` other than target and region."""

    baseline: str
    draws: int
    force: bool


MOST_DRAWS = 1_000_000  # more need gigabytes, and change no printed digit


@dataclass(frozen=True, slots=True)
class Question:
    """Which rows are compared with which, and how the numbers are computed. See `Analysis.importance`.

    The page sends the same object as JSON (`report/page/page_question.py`).
    """

    target: object = TARGET
    region: object = REGION
    baseline: str = "region"
    smoothing: Smoothing = "auto"
    estimator: str = "auto"
    draws: int = 2000
    seed: int = 0
    of: str = "space"
    force: bool = False
    within: tuple[Any, ...] = ()  # the rows that are selected first; each is a box, a condition or a mask
    parts: str = "selected"  # which rows quantiles refer to if rows are selected
    study: tuple[str, str] | None = None  # one study of the table: a column, and the study's value in it

    def __post_init__(self) -> None:
        for name, choices in (("baseline", Baseline), ("estimator", Estimator), ("of", PartsOf), ("parts", Parts)):
            check_choice(name, getattr(self, name), choices)
        for name, most in (("draws", MOST_DRAWS), ("seed", 2**64)):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, most=most + 1))
        check_smoothing(self.smoothing)
        object.__setattr__(self, "force", as_flag("force", self.force))

    @property
    def by_rows(self) -> bool:
        """Whether the question must be answered from counts, not by a model."""
        return self.estimator not in ("auto", "surrogate")

    def check_not_paper(self, what: str) -> None:
        """Raise an error if the paper's estimator is chosen for something that it does not define."""
        if self.estimator == "paper":
            words = f" gives importances and densities, but no {what}; use "
            raise QueryError(Arg("estimator", "paper"), words, Arg("estimator", "counts"))

    @property
    def how(self) -> How:
        """How the numbers are computed."""
        return cast("How", {name: getattr(self, name) for name in HOW})


DEFAULT = Question()
ROWS = ("target", "region", "within", "parts", "study")  # the fields that say which rows are compared
HOW = tuple(field.name for field in fields(Question) if field.name not in ROWS)


def check_how(options: Mapping[str, Any], *, what: str = "importance", names: Sequence[str] = HOW) -> How:
    """The options as a `How`; raises an error for an option that is not in `names`."""
    for name in options:
        if name not in names:
            raise QueryError(f"{name}= is not an option of {what}; its options are {', '.join(names)}")
    return cast("How", dict(options))
