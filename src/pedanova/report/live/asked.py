"""What a page may ask, part by part. It comes from outside: what is not understood is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pedanova.data.regions import as_part
from pedanova.errors import QueryError, unknown_name
from pedanova.report.page.groups import ORDERS, SHOWN
from pedanova.report.page.question import Question
from pedanova.space.parameters import Space

MOST_ROWS = 2_000  # of a table or a picture, in one answer
MOST_PARTS = 64
LONGEST_CLIENT = 64
Check: TypeAlias = Callable[[Any, str, Space], Any]
SHARED = ("part", "question", "client")


@dataclass(frozen=True, slots=True)
class Asked:
    """One part of the page's answer, asked for by one of its clients."""

    part: str
    question: Question
    extras: Mapping[str, Any] = field(default_factory=dict)
    client: str = ""

    @classmethod
    def parse(cls, data: Any, space: Space) -> Asked:
        if not isinstance(data, dict):
            raise QueryError("a request must be an object with a part and a question")
        part, client = data.get("part"), data.get("client", "")
        if not isinstance(part, str) or part not in PARTS:
            raise QueryError(f"part {str(part)[:40]!r} is not known; there are {', '.join(PARTS)}")
        if not isinstance(client, str) or len(client) > LONGEST_CLIENT:
            raise QueryError(f"client must be a text of at most {LONGEST_CLIENT} letters")
        known = PARTS[part]
        for name in data:
            if name not in known and name not in SHARED:
                raise QueryError(f"{str(name)[:40]!r} is no part of a request for {part}")
        extras = {name: check(data.get(name), name, space) for name, check in known.items()}
        return cls(part, Question.parse(data.get("question", {}), space), extras, client)

    @property
    def key(self) -> str:
        """The same for the same question, whoever asks it."""
        extras = {k: v.to_json() if isinstance(v, Question) else v for k, v in self.extras.items()}
        return json.dumps([self.part, self.question.to_json(), extras], sort_keys=True, default=str)

    @property
    def lane(self) -> tuple[Any, ...]:
        """Where a newer question takes the place of an older one."""
        return self.client, self.part, self.extras.get("sure")


def flag(default: bool) -> Check:
    def check(value: Any, name: str, _: Space) -> bool:
        if value is not None and not isinstance(value, bool):
            raise QueryError(f"{name}: {str(value)[:40]!r} must be true or false")
        return default if value is None else value

    return check


def whole(default: int, most: int) -> Check:
    def check(value: Any, name: str, _: Space) -> int:
        number = default if value is None else value
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
            raise QueryError(f"{name}: {str(value)[:40]!r} must be a whole number from 0 to {most:,}")
        return number

    return check


def one_of(*known: str) -> Check:
    def check(value: Any, name: str, _: Space) -> str:
        if value is not None and value not in known:
            raise QueryError(f"{name}: {str(value)[:40]!r} must be one of {', '.join(known)}")
        return known[0] if value is None else str(value)

    return check


def a_name(value: Any, name: str, space: Space) -> str:
    if not isinstance(value, str) or value not in space:
        raise QueryError(f"{name}: {unknown_name(value, tuple(space))}")
    return value


def names(value: Any, name: str, space: Space) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise QueryError(f"{name}: {str(value)[:40]!r} must be a list of parameters")
    return [a_name(one, name, space) for one in value]


def parts(value: Any, name: str, _: Space) -> list[Any] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not 0 < len(value) <= MOST_PARTS:
        raise QueryError(f"{name}: {str(value)[:40]!r} must be a list of at most {MOST_PARTS} quantiles")
    return [as_part(one, name) for one in value]


def column(value: Any, name: str, _: Space) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) > 10_000):
        raise QueryError(f"{name}: {str(value)[:40]!r} must be the name of a column")
    return value


def other_question(value: Any, _: str, space: Space) -> Question:
    return Question.parse(value, space)


PARTS: dict[str, dict[str, Check]] = {
    "answer": {"sure": flag(default=True), "drawn": flag(default=True)},
    "densities": {},
    "pairs": {"names": names},
    "plane": {"first": a_name, "second": a_name},
    "targets": {"parts": parts},
    "space": {},
    "objectives": {},
    "along": {},
    "groups": {"order": one_of(*ORDERS), "limit": whole(SHOWN, MOST_ROWS)},
    "trials": {
        "sort": column,
        "descending": flag(default=False),
        "offset": whole(0, 10**12),
        "limit": whole(50, MOST_ROWS),
    },
    "parallel": {"limit": whole(500, MOST_ROWS)},
    "points": {"x": a_name, "y": a_name, "limit": whole(1_000, MOST_ROWS)},
    "difference": {"other": other_question},
    "news": {"since": whole(0, 10**12)},
}
