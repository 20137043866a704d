"""Optuna's distributions, in every form they are written, as parameters; no Optuna needed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from pedanova.data.column import shorten
from pedanova.errors import FormatError
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal
from pedanova.space.values import LARGEST_INT, Label, as_label

NEAR = 1e-6  # of a step: as far as rounding may move a value off its lattice
MOST_STEPS = 1000  # a lattice of floats with more points than these is as good as a continuum
# class → kind, log; the former names of Optuna's first years beside today's
CLASSES: dict[str, tuple[str, bool | None]] = {
    "FloatDistribution": ("float", None),
    "UniformDistribution": ("float", False),
    "LogUniformDistribution": ("float", True),
    "DiscreteUniformDistribution": ("float", False),
    "IntDistribution": ("int", None),
    "IntUniformDistribution": ("int", False),
    "IntLogUniformDistribution": ("int", True),
    "CategoricalDistribution": ("categorical", False),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Distribution:
    """The domain of one parameter in one trial, as Optuna wrote it."""

    kind: Literal["float", "int", "categorical"]
    low: float = 0.0
    high: float = 0.0
    step: float | None = None
    log: bool = False
    choices: tuple[Label, ...] = ()

    @property
    def steps(self) -> int:
        """How many points a lattice has; 0 for a continuum, or a lattice that is as good as one."""
        if self.kind != "float" or not self.step:
            return 0
        if self.step < 8 * math.ulp(max(abs(self.low), abs(self.high))):  # points that no float tells apart
            return 0
        count = round((self.high - self.low) / self.step) + 1
        return count if 1 < count <= MOST_STEPS else 0

    @property
    def lattice(self) -> tuple[float, ...]:
        """The points as a person would write them: 0.3, not 0.30000000000000004."""
        step = self.step or 0.0
        exact = [self.low + i * step for i in range(self.steps)]
        short = [float(f"{point:.12g}") for point in exact]
        near = all(abs(a - b) <= NEAR * step for a, b in zip(exact, short, strict=True))
        return tuple(short if near else exact)

    @property
    def domain(self) -> Domain:
        """As a parameter."""
        if self.kind == "categorical":
            return Categorical(self.choices)
        if self.low == self.high:
            return Categorical((int(self.low) if self.kind == "int" else self.low,))
        if self.kind == "int" and max(abs(self.low), abs(self.high)) <= LARGEST_INT:
            step = 1 if self.log else max(1, int(self.step or 1))
            return Int(int(self.low), int(self.high), step, self.log)
        return Ordinal(self.lattice) if self.steps else Float(self.low, self.high, self.log)


def read_distribution(given: object, where: str) -> Distribution:
    """From JSON text of either form, the dict in it, or a distribution object of Optuna."""
    plain = as_dict(given, where)
    name = plain.get("name")
    kind, log = CLASSES.get(str(name), ("", None)) if name is not None else (str(plain.get("type")), None)
    fields = plain.get("attributes", {}) if name is not None else plain
    if (kind != "float" and kind != "int" and kind != "categorical") or not isinstance(fields, Mapping):
        raise FormatError(f"{where}: {shorten(given)} is no distribution that Optuna is known to write")
    if kind == "categorical":
        return Distribution("categorical", choices=labels_of(fields.get("choices"), where))
    low, high = (as_bound(fields.get(key), given, where) for key in ("low", "high"))
    step = fields.get("step", fields.get("q"))
    logged = bool(fields.get("log", False)) if log is None else log
    if low > high or (logged and low <= 0):
        raise FormatError(f"{where}: {shorten(given)} has bounds that contradict themselves")
    return Distribution(
        "int" if kind == "int" else "float", low, high, None if step is None else as_bound(step, given, where), logged
    )


def as_dict(given: object, where: str) -> Mapping[str, Any]:
    if isinstance(given, str | bytes):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise FormatError(f"{where}: {shorten(given)} is no distribution in JSON") from None
    if isinstance(given, Mapping):
        return given
    if type(given).__name__ in CLASSES:
        names = ("low", "high", "step", "log", "choices", "q")
        fields = {name: getattr(given, name) for name in names if hasattr(given, name)}
        return {"name": type(given).__name__, "attributes": fields}
    raise FormatError(f"{where}: {shorten(given)} is no distribution")


def as_bound(value: object, given: object, where: str) -> float:
    with suppress(OverflowError):  # a whole number too large for a float
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    raise FormatError(f"{where}: {shorten(given)} has {shorten(value)} where a finite number is needed")


def labels_of(choices: object, where: str) -> tuple[Label, ...]:
    """Choices as labels that can be kept apart: None, True, 1 and '1' are four."""
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise FormatError(f"{where}: choices {shorten(choices)} must be a list of values")
    labels = [_label(choice) for choice in choices]
    if len(set(labels)) == len(labels):
        return tuple(labels)
    named = [str(label) for label in labels]
    if len(set(named)) < len(named):
        named = [f"{name} ({type(choice).__name__})" for name, choice in zip(named, choices, strict=True)]
    if len(set(named)) < len(named):
        named = [f"{name} #{i}" for i, name in enumerate(named)]
    return tuple(named)


def _label(choice: object) -> Label:
    if isinstance(choice, float) and not math.isfinite(choice):
        return str(choice)
    return as_label(choice, "choices")
