"""What a hyperparameter may be: `Float`, `Int`, `Ordinal`, `Categorical`, and a `Space` of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

from pedanova.errors import SpaceError, UnknownParameterError, unknown_name

Label: TypeAlias = str | int | float | bool
LARGEST_INT = 2**53  # beyond it a float cannot tell two whole numbers apart


@dataclass(frozen=True, slots=True)
class Float:
    """A real number between two bounds, both included.

    Examples
    --------
    >>> Float(1e-5, 1e-1, log=True)
    Float(low=1e-05, high=0.1, log=True)
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", as_number(self.low, "low"))
        object.__setattr__(self, "high", as_number(self.high, "high"))
        check_bounds(self.low, self.high, log=self.log)
        if not math.isfinite(self.high - self.low):
            raise SpaceError(f"high - low of {self.high:g} and {self.low:g} overflows; rescale the parameter")


@dataclass(frozen=True, slots=True)
class Int:
    """A whole number ``low, low + step, …`` up to ``high``.

    Examples
    --------
    >>> Int(1, 1024, log=True)
    Int(low=1, high=1024, step=1, log=True)
    """

    low: int
    high: int
    step: int = 1
    log: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name))
        check_bounds(self.low, self.high, log=self.log)
        if self.step < 1:
            raise SpaceError(f"step={self.step} must be at least 1")
        if self.log and self.step != 1:
            raise SpaceError(f"step={self.step} and log=True exclude each other; use step=1 or Ordinal")
        if max(abs(self.low), abs(self.high)) > LARGEST_INT:
            raise SpaceError(
                f"bounds {shown(self.low)} and {shown(self.high)} exceed ±2^53; rescale the parameter"
            )
        # The last value on the lattice is the true upper bound.
        object.__setattr__(self, "high", self.low + (self.high - self.low) // self.step * self.step)


@dataclass(frozen=True, slots=True)
class Ordinal:
    """One of a few values that have an order: the order in which they are given.

    Examples
    --------
    >>> Ordinal([16, 32, 64])
    Ordinal(values=(16, 32, 64))
    """

    values: tuple[Label, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_labels(self.values, "Ordinal values"))


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of a few values without an order.

    Examples
    --------
    >>> Categorical(["adam", "sgd"])
    Categorical(choices=('adam', 'sgd'))
    """

    choices: tuple[Label, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", as_labels(self.choices, "Categorical choices"))


Parameter: TypeAlias = Float | Int | Ordinal | Categorical
KINDS: dict[str, type[Parameter]] = {
    "float": Float,
    "int": Int,
    "ordinal": Ordinal,
    "categorical": Categorical,
}


class Space(Mapping[str, Parameter]):
    """Hyperparameters by name, in order. Read-only.

    Examples
    --------
    >>> Space({"lr": Float(1e-5, 1e-1, log=True), "layers": Int(1, 5)})
    Space({'lr': Float(low=1e-05, high=0.1, log=True), 'layers': Int(low=1, high=5, step=1, log=False)})
    """

    __slots__ = ("_parameters",)

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise SpaceError(f"{name!r} is no name for a parameter; use a non-empty string")
            if not isinstance(parameter, Float | Int | Ordinal | Categorical):
                raise SpaceError(
                    f"{name}: {parameter!r} is no parameter; use Float, Int, Ordinal or Categorical"
                )
        self._parameters = dict(parameters)

    def __getitem__(self, name: str) -> Parameter:
        try:
            return self._parameters[name]
        except KeyError:
            raise UnknownParameterError(unknown_name(name, tuple(self))) from None

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __repr__(self) -> str:
        return f"Space({self._parameters!r})"

    def __hash__(self) -> int:
        return hash(tuple(self._parameters.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return self._parameters == other._parameters

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain values, fit for JSON; `Space.from_dict` reads them back."""
        return {name: parameter_to_dict(parameter) for name, parameter in self.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Mapping[str, Any]]) -> Space:
        """The inverse of `to_dict`."""
        if not isinstance(plain, Mapping):
            raise SpaceError(f"{plain!r} must be a dict of parameters by name")
        return cls({name: parameter_from_dict(name, fields) for name, fields in plain.items()})


def as_space(space: Space | Mapping[str, Parameter]) -> Space:
    if isinstance(space, Space):
        return space
    if isinstance(space, Mapping):
        return Space(space)
    raise SpaceError(f"space={space!r} must be a Space or a dict of Float, Int, Ordinal, Categorical")


def parameter_to_dict(parameter: Parameter) -> dict[str, Any]:
    match parameter:
        case Float(low, high, log):
            return {"type": "float", "low": low, "high": high, "log": log}
        case Int(low, high, step, log):
            return {"type": "int", "low": low, "high": high, "step": step, "log": log}
        case Ordinal(values):
            return {"type": "ordinal", "values": list(values)}
        case Categorical(choices):
            return {"type": "categorical", "choices": list(choices)}


def parameter_from_dict(name: str, fields: Mapping[str, Any]) -> Parameter:
    if not isinstance(fields, Mapping) or fields.get("type") not in KINDS:
        raise SpaceError(f"{name}: {fields!r} needs a 'type' out of {', '.join(KINDS)}")
    arguments = {key: value for key, value in fields.items() if key != "type"}
    try:
        return KINDS[fields["type"]](**arguments)
    except TypeError as error:
        raise SpaceError(f"{name}: {dict(fields)!r} does not describe a {fields['type']}: {error}") from None
    except SpaceError as error:
        raise SpaceError(f"{name}: {error}") from None


def as_number(value: object, name: str) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):  # a whole number too large for a float
            if math.isfinite(value):
                return float(value)
    raise SpaceError(f"{name}={shown(value)} must be a finite number")


def as_whole(value: object, name: str) -> int:
    if not isinstance(value, bool):
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real) and float(value).is_integer():
            return int(float(value))
    raise SpaceError(f"{name}={value!r} must be a whole number; use Float for real ones")


def shown(value: object, most: int = 60) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def check_bounds(low: float, high: float, *, log: bool) -> None:
    if not isinstance(log, bool):
        raise SpaceError(f"log={log!r} must be True or False")
    if not low < high:
        raise SpaceError(
            f"low={shown(low)} must be below high={shown(high)}; a constant is Ordinal([{shown(low)}])"
        )
    if log and low <= 0:
        raise SpaceError(f"low={shown(low)} must be above 0 on a log scale; pass log=False or raise low")


def as_labels(values: object, what: str) -> tuple[Label, ...]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise SpaceError(f"{what}={values!r} must be a list of values, such as ['adam', 'sgd']")
    labels = tuple(as_label(value, what) for value in values)
    if not labels:
        raise SpaceError(f"{what} are empty; give at least one value")
    if len(set(labels)) < len(labels):
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise SpaceError(f"{what} hold {twice!r} twice; give each value once")
    return labels


def as_label(value: object, what: str) -> Label:
    """A plain Python value; NumPy's scalars are unwrapped, other objects become their text."""
    plain = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        raise SpaceError(f"{what} hold {plain!r}; only finite numbers, text and booleans can be values")
    if isinstance(plain, int) and not isinstance(plain, bool) and abs(plain) > LARGEST_INT:
        return str(plain)  # beyond what a float can hold apart: a name rather than a number
    if isinstance(plain, str | int | float | bool):
        return plain
    return "None" if plain is None else str(plain)
