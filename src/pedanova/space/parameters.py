"""The domains of hyperparameters, and `Space`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, Literal, TypeAlias

from pedanova.base.digits import DIGITS, short
from pedanova.errors import SpaceError, UnknownParameterError, unknown_name
from pedanova.space.values import (
    LARGEST_INT,
    Condition,
    Interval,
    Label,
    Value,
    as_conditions,
    as_labels,
    as_number,
    as_values,
    as_whole,
    check_bounds,
    in_both,
    is_one_of,
    shown,
)


class ShortRepr:
    """A mixin for a short repr that leaves out empty conditions."""

    __slots__ = ()

    def __repr__(self) -> str:
        pairs = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        inside = ", ".join(f"{name}={value!r}" for name, value in pairs if name != "when" or value)
        return f"{type(self).__name__}({inside})"


@dataclass(frozen=True, slots=True, repr=False)
class Float(ShortRepr):
    """A real number between two bounds, both included.

    Parameters
    ----------
    low, high
        The bounds, both included.
    log
        Whether the scale is logarithmic.
    when
        The condition under which the parameter exists, such as ``{"optimizer": ["sgd"]}`` or ``{"dropout":
        pa.above(0)}``; by default it always exists.

    Examples
    --------
    >>> from pedanova import Float
    >>> Float(1e-5, 1e-1, log=True)
    Float(low=1e-05, high=0.1, log=True)
    """

    low: float
    high: float
    log: bool = False
    when: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", as_number(self.low, "low"))
        object.__setattr__(self, "high", as_number(self.high, "high"))
        object.__setattr__(self, "when", as_conditions(self.when))
        check_bounds(self.low, self.high, log=self.log)
        if not math.isfinite(self.high - self.low):
            raise SpaceError(f"the range from {self.low:g} to {self.high:g} is too wide; rescale the parameter")


@dataclass(frozen=True, slots=True, repr=False)
class Int(ShortRepr):
    """A whole number ``low, low + step, …`` up to ``high``.

    Parameters
    ----------
    low, high
        The bounds, both included.
    step
        The distance from one value to the next.
    log
        Whether the scale is logarithmic.
    when
        As in `Float`.

    Examples
    --------
    >>> from pedanova import Int
    >>> Int(1, 1024, log=True)
    Int(low=1, high=1024, step=1, log=True)
    """

    low: int
    high: int
    step: int = 1
    log: bool = False
    when: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name))
        object.__setattr__(self, "when", as_conditions(self.when))
        check_bounds(self.low, self.high, log=self.log)
        if self.step < 1:
            raise SpaceError(f"step={self.step} must be at least 1")
        if self.log and self.step != 1:
            raise SpaceError(f"step={self.step} cannot be combined with log=True; use step=1 or Ordinal")
        if max(abs(self.low), abs(self.high)) > LARGEST_INT:
            raise SpaceError(f"bounds {shown(self.low)} and {shown(self.high)} exceed ±2^53; rescale the parameter")
        # The last value on the lattice is the true upper bound.
        object.__setattr__(self, "high", self.low + (self.high - self.low) // self.step * self.step)


@dataclass(frozen=True, slots=True, repr=False)
class Ordinal(ShortRepr):
    """One of several values in a given order.

    Parameters
    ----------
    values
        The values in their order.
    when
        As in `Float`.

    Examples
    --------
    >>> from pedanova import Ordinal
    >>> Ordinal([16, 32, 64])
    Ordinal(values=(16, 32, 64))
    """

    values: tuple[Label, ...]
    when: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_labels(self.values, "Ordinal values"))
        object.__setattr__(self, "when", as_conditions(self.when))


@dataclass(frozen=True, slots=True, repr=False)
class Categorical(ShortRepr):
    """One of several values without an order.

    Parameters
    ----------
    choices
        The possible values, in any order.
    when
        As in `Float`.

    Examples
    --------
    >>> from pedanova import Categorical
    >>> Categorical(["adam", "sgd"])
    Categorical(choices=('adam', 'sgd'))
    """

    choices: tuple[Label, ...]
    when: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", as_labels(self.choices, "Categorical choices"))
        object.__setattr__(self, "when", as_conditions(self.when))


@dataclass(frozen=True, slots=True, repr=False)
class Moving(ShortRepr):
    """A real number with bounds that can differ between rows: one bound or both bounds come from columns.

    Each value is replaced by its relative position (0 to 1) between the bounds of its row.

    Parameters
    ----------
    low, high
        A number, or the name of the column with the bound of each row.
    log
        Whether the scale is logarithmic.
    when
        As in `Float`.

    Examples
    --------
    >>> from pedanova import Moving
    >>> Moving("min_lr", 1.0, log=True)
    Moving(low='min_lr', high=1.0, log=True)
    """

    low: float | str
    high: float | str
    log: bool = False
    when: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            if not isinstance(getattr(self, name), str):
                object.__setattr__(self, name, as_number(getattr(self, name), name))
        object.__setattr__(self, "when", as_conditions(self.when))
        if not isinstance(self.low, str) and not isinstance(self.high, str):
            raise SpaceError(f"bounds {self.low!r} and {self.high!r} are not columns; use Float for fixed bounds")


@dataclass(frozen=True, slots=True, repr=False)
class Switch(ShortRepr):
    """A parameter with a domain that depends on the column `by`.

    The parameter is inactive in rows in which the value of `by` is not a key of `domains`. If `by` is empty, the
    parameter has a range and also special values outside this range, such as -1.

    Parameters
    ----------
    by
        The column that selects the domain; empty if the parameter's own value selects it.
    domains
        The domain for each value of the column `by`, or for a range of numbers such as ``pa.below(0.5)``.
    when
        As in `Float`.

    Examples
    --------
    >>> from pedanova import Float, Switch
    >>> Switch("phase", {"early": Float(1e-4, 1.0), "late": Float(1e-5, 1e-2)}).by
    'phase'
    """

    by: str
    domains: tuple[tuple[Value, Domain], ...]
    when: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", as_conditions(self.when))
        domains = self.domains
        pairs = tuple(domains.items()) if isinstance(domains, Mapping) else tuple(domains)
        if not isinstance(self.by, str) or not pairs:
            words = "Switch needs the name of a column and a dict that maps its values to domains"
            raise SpaceError(f"{words}, not {self.by!r}, {domains!r}")
        for value, domain in pairs:
            if not isinstance(domain, Float | Int | Ordinal | Categorical) or domain.when:
                kinds = "a Float, Int, Ordinal or Categorical without a condition"
                raise SpaceError(f"Switch: the domain of {value!r} must be {kinds}, not {domain!r}")
        values = as_values([value for value, _ in pairs], "Switch values")
        for (one, first), (two, second) in combinations(zip(values, [d for _, d in pairs], strict=True), 2):
            if self.by and first != second and in_both((one,), (two,)):
                raise SpaceError(
                    f"Switch: {self.by} {in_condition([one])} and {self.by} {in_condition([two])} overlap; "
                    "give ranges that do not overlap, such as pa.below(0.5) and pa.above(0.5)"
                )
        object.__setattr__(self, "domains", tuple(zip(values, [d for _, d in pairs], strict=True)))

    @property
    def is_own(self) -> bool:
        """Whether the parameter's own value selects the domain (`by` is empty)."""
        return not self.by

    @property
    def regimes(self) -> tuple[Domain, ...]:
        """The distinct domains."""
        return tuple(dict.fromkeys(domain for _, domain in self.domains))


Domain: TypeAlias = Float | Int | Ordinal | Categorical
Parameter: TypeAlias = Domain | Moving | Switch
Scale: TypeAlias = Literal["log", "linear", "ordered", "names"]


def scale_of(parameter: Parameter) -> Scale:
    """The scale of a domain (not of a `Switch`); it is linear for `Moving`, whose values are relative positions."""
    if isinstance(parameter, Float | Int | Moving):
        return "log" if parameter.log and not isinstance(parameter, Moving) else "linear"
    return "ordered" if isinstance(parameter, Ordinal) else "names"


class Space(Mapping[str, Parameter]):
    """An immutable search space: a mapping from names to parameters, in a fixed order.

    Parameters
    ----------
    parameters
        `Float`, `Int`, `Ordinal`, `Categorical`, `Moving` and `Switch` by name.

    Raises
    ------
    SpaceError
        The space contradicts itself: impossible bounds, steps or conditions.

    Examples
    --------
    >>> from pedanova import Float, Int, Space
    >>> Space({"lr": Float(1e-5, 1e-1, log=True), "layers": Int(1, 5)})
    Space({'lr': Float(low=1e-05, high=0.1, log=True), 'layers': Int(low=1, high=5, step=1, log=False)})
    """

    __slots__ = ("_parameters",)

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        if not isinstance(parameters, Mapping):
            raise SpaceError(f"{shown(parameters)} is not a space; use a dict, such as {{'lr': Float(0, 1)}}")
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise SpaceError(f"{name!r} is not a name for a parameter; use a non-empty string")
            if not isinstance(parameter, Float | Int | Ordinal | Categorical | Moving | Switch):
                raise SpaceError(f"{name}: {parameter!r} is not a parameter; use Float, Int, Ordinal or Categorical")
        self._parameters = dict(parameters)
        for name in parameters:
            check_conditions(name, self._parameters)
        parents_first(self)  # raises an error if the conditions form a cycle

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

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The domain of each parameter as plain values for JSON; `Space.from_dict` reads them."""
        return {name: parameter_to_dict(parameter) for name, parameter in self.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Mapping[str, Any]]) -> Space:
        """Make a space from the result of `to_dict`.

        Parameters
        ----------
        plain
            The domain of each parameter, by name: ``{"lr": {"type": "float", "low": 1e-5, "high": 1, "log": true}}``.

        Returns
        -------
        Space
            The checked space.

        Raises
        ------
        SpaceError
            A domain is incomplete or impossible.
        """
        if not isinstance(plain, Mapping):
            raise SpaceError(f"{plain!r} must be a dict that maps names to parameters")
        return cls({name: parameter_from_dict(name, fields) for name, fields in plain.items()})


def as_space(space: Space | Mapping[str, Parameter]) -> Space:
    if isinstance(space, Space):
        return space
    if isinstance(space, Mapping):
        return Space(space)
    raise SpaceError(f"space={shown(space)} must be a Space or a dict of Float, Int, Ordinal, Categorical")


def check_conditions(name: str, parameters: Mapping[str, Parameter]) -> None:
    """Raise an error if a condition of a parameter requires a value that its parent cannot have."""
    for parent, values in parameters[name].when:
        choices = values_of(parameters.get(parent))
        stray = [value for value in values if choices and not any(is_one_of(one, (value,)) for one in choices)]
        if stray:
            condition = f"{parent} {in_condition(stray)}"
            raise SpaceError(f'{name}: its condition "{condition}" can never be true; {parent} is one of {choices}')


CLASSES: tuple[type[Any], ...] = (Float, Int, Ordinal, Categorical, Moving, Switch)
KINDS = {kind.__name__.lower(): kind for kind in CLASSES}


def parameter_to_dict(parameter: Parameter) -> dict[str, Any]:
    plain: dict[str, Any] = {"type": type(parameter).__name__.lower()}
    for field in fields(parameter):
        value = getattr(parameter, field.name)
        plain[field.name] = list(value) if isinstance(value, tuple) else value
    if isinstance(parameter, Switch):
        plain["domains"] = [[plain_value(value), parameter_to_dict(domain)] for value, domain in parameter.domains]
    if parameter.when:
        plain["when"] = {parent: [plain_value(value) for value in values] for parent, values in parameter.when}
    else:
        del plain["when"]
    return plain


def plain_value(value: Value) -> Label | dict[str, Any]:
    """Convert a value of a condition for JSON; a range becomes a dict of its finite bounds."""
    if not isinstance(value, Interval):
        return value
    pairs = ((name, getattr(value, name)) for name in Interval.__match_args__)
    return {name: own for name, own in pairs if own != getattr(Interval(), name)}


def in_condition(values: Sequence[Value]) -> str:
    """Describe the values of a condition, such as "is 'sgd' or 'adam'" or "> 0"."""
    ranges = [str(value) for value in values if isinstance(value, Interval)]
    labels = [repr(value) for value in values if not isinstance(value, Interval)]
    return " or ".join([*([f"is {' or '.join(labels)}"] if labels else []), *ranges])


def parameter_from_dict(name: str, fields: Mapping[str, Any]) -> Parameter:
    if not isinstance(fields, Mapping) or not isinstance(fields.get("type"), str) or fields["type"] not in KINDS:
        raise SpaceError(f"{name}: {fields!r} needs a 'type'; use one of {', '.join(KINDS)}")
    arguments = {key: value for key, value in fields.items() if key != "type"}
    names = KINDS[fields["type"]].__match_args__  # the names of its fields
    strange = [str(key) for key in arguments if key not in names]
    if strange:
        raise SpaceError(f"{name}: a {fields['type']} has no field {strange[0]!r}; its fields are {', '.join(names)}")
    try:
        if fields["type"] == "switch":
            pairs = arguments["domains"]
            arguments["domains"] = [(value, parameter_from_dict(name, domain)) for value, domain in pairs]
        made: Parameter = KINDS[fields["type"]](**arguments)
    except (TypeError, KeyError, ValueError) as error:
        if isinstance(error, SpaceError):
            raise SpaceError(f"{name}: {error}") from None
        raise SpaceError(f"{name}: {dict(fields)!r} does not describe a {fields['type']}: {error}") from None
    return made


def parents_first(space: Space) -> list[str]:
    """The names of all parameters, sorted so that parents come before their children."""
    done: dict[str, None] = {}

    def visit(name: str, line: tuple[str, ...]) -> None:
        if name in line:
            raise SpaceError(f"{name}: it depends on itself through {line[-1]!r}; break the cycle")
        for parent in parents_of(space[name]):
            if parent in space and parent not in done:
                visit(parent, (*line, name))
        done[name] = None

    for name in space:
        visit(name, ())
    return list(done)


def children_of(space: Mapping[str, Parameter]) -> frozenset[str]:
    """The names of the parameters that depend on another parameter of the space."""
    return frozenset(name for name, one in space.items() if any(parent in space for parent in parents_of(one)))


def parents_of(parameter: Parameter) -> list[str]:
    """The parameters that decide whether `parameter` has a value, or which domain it has."""
    conditions = [parent for parent, _ in parameter.when]
    return [*conditions, parameter.by] if isinstance(parameter, Switch) and parameter.by else conditions


def in_words(parameter: Parameter, digits: int = DIGITS) -> str:
    """Describe a domain in a few words for a table; real numbers have `digits` significant digits."""
    match parameter:
        case Float(low, high, log):
            return f"{short(low, digits)} … {short(high, digits)}{' log' if log else ''}"
        case Int(low, high, step, log):
            return f"{short(low)} … {short(high)}{f' by {step}' if step > 1 else ''}{' log' if log else ''}"
        case Categorical(values) | Ordinal(values):
            shown = [short(value, digits) for value in values]
            return ", ".join(shown) if len(shown) <= 6 else f"{', '.join(shown[:5])} … {shown[-1]}"
        case Moving(low, high):
            return f"{low} … {high}"
        case Switch(by):
            return f"by {by}" if by else " or ".join(in_words(domain, digits) for domain in parameter.regimes)


def values_of(parameter: Parameter | None) -> tuple[Label, ...]:
    """The values of an ordinal or categorical domain; empty for a range."""
    match parameter:
        case Categorical(values) | Ordinal(values):
            return values
        case _:
            return ()


def domain_names(parameter: Switch) -> list[str]:
    """A name for each domain of a `Switch`, such as "where phase is early"."""
    keys = [[value for value, other in parameter.domains if other == one] for one in parameter.regimes]
    if parameter.by:
        return [f"where {parameter.by} {in_condition(some)}".replace("'", "") for some in keys]
    return [" or ".join(map(str, some)) for some in keys]
