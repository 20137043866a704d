"""Search spaces as people keep them: pedanova's own JSON or YAML, ConfigSpace, Optuna, W&B sweeps."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.column import shorten
from pedanova.errors import Arg, DataError, SpaceError
from pedanova.sources.reader import read_json, read_yaml
from pedanova.sources.spaces.configspace import space_from_configspace
from pedanova.sources.spaces.described import as_choices
from pedanova.sources.spaces.distributions import CLASSES, read_distribution
from pedanova.space.parameters import KINDS, Categorical, Float, Int, Parameter, Space, as_space, parameter_from_dict

SUFFIXES = (".json", ".yaml", ".yml")
MOST_EXPONENT = 700  # of e, that a float can hold
LINEAR = ("uniform", "int_uniform", "q_uniform", "constant", "categorical")
LOGS = ("log_uniform_values", "q_log_uniform_values", "inv_log_uniform_values")


def space_from(source: object) -> Space:
    """A search space out of whatever describes one.

    Parameters
    ----------
    source
        A path to a JSON or YAML file (pedanova's own form, ConfigSpace's, Optuna's distributions, or a
        W&B sweep); a ConfigSpace object; a dict of parameters, of plain values, of Optuna's distributions,
        or a search space of Ray Tune.

    Returns
    -------
    Space
        Parameters by name.

    Raises
    ------
    SpaceError
        It contradicts itself, or is of no known form.
    FormatError
        A file is not what its name says.

    Examples
    --------
    >>> from pedanova import space_from
    >>> space_from({"lr": {"type": "float", "low": 1e-5, "high": 1.0, "log": True}})
    Space({'lr': Float(low=1e-05, high=1.0, log=True)})
    """
    return read_space(source)[0]


def read_space(source: object) -> tuple[Space, list[Note]]:
    """The space, and what of it could not be kept."""
    if isinstance(source, Space):
        return source, []
    if isinstance(source, str | os.PathLike):
        return read_space_file(Path(source))
    if hasattr(source, "get_hyperparameters") or type(source).__name__ == "ConfigurationSpace":
        return space_from_configspace(source)
    if isinstance(source, Mapping):
        return space_from_mapping(source)
    wrong: Any = source
    return as_space(wrong), []  # which says what is wrong with it


def read_space_file(file: Path) -> tuple[Space, list[Note]]:
    suffix = file.suffix.lower()
    if not file.is_file():
        raise DataError(Arg("space", str(file)), " is no file; give the path of a space in JSON or YAML")
    if suffix not in SUFFIXES:
        raise SpaceError(Arg("space", str(file)), f" must end in one of {', '.join(SUFFIXES)}")
    plain = read_json(file) if suffix == ".json" else read_yaml(file)
    if not isinstance(plain, Mapping):
        raise SpaceError(f"{file} must hold an object of parameters by name, not {shorten(plain)}")
    return space_from_mapping(plain)


def space_from_mapping(plain: Mapping[Any, Any]) -> tuple[Space, list[Note]]:
    if "hyperparameters" in plain and isinstance(plain["hyperparameters"], list | Mapping):
        return space_from_configspace(plain)
    if "parameters" in plain and isinstance(plain["parameters"], Mapping):
        return nested_space(plain["parameters"], sweep_setting)
    if plain and all(is_distribution(one) for one in plain.values()):
        return Space({str(name): read_distribution(one, str(name)).domain for name, one in plain.items()}), []
    if any(map(holds_tune, plain.values())):
        return nested_space(plain, tune_setting)
    given = {
        name: parameter_from_dict(str(name), one) if isinstance(one, Mapping) else one for name, one in plain.items()
    }
    return as_space(given), []


def is_distribution(one: object) -> bool:
    """Of Optuna: its objects, their JSON, or the dicts in it."""
    if isinstance(one, Mapping):
        kind = one.get("type")
        lattice = kind in ("float", "categorical") and "step" in one
        return one.get("name") in CLASSES or lattice or (kind not in KINDS and "attributes" in one)
    return type(one).__name__ in CLASSES or (isinstance(one, str) and one.lstrip().startswith("{"))


def nested_space(
    given: Mapping[Any, Any], read: Callable[[str, Any], Parameter | Mapping[Any, Any] | str], prefix: str = ""
) -> tuple[Space, list[Note]]:
    """Parameters as `read` gives them, nested ones named with dots; text is the reason why one is left out."""
    parameters: dict[str, Parameter] = {}
    notes: list[Note] = []
    for key, one in given.items():
        name = f"{prefix}{key}"
        result = read(name, one)
        if isinstance(result, Mapping):
            inner, more = nested_space(result, read, f"{name}.")
            parameters |= dict(inner)
            notes += more
        elif isinstance(result, str):
            notes.append(Note("unused", f"{result}; left out", subject=name))
        else:
            parameters[name] = result
    return Space(parameters), notes


def sweep_setting(name: str, given: Any) -> Parameter | Mapping[Any, Any] | str:
    """A setting of a W&B sweep."""
    if not isinstance(given, Mapping):
        raise SpaceError(f"{name}: {shorten(given)} must be an object with values, or min and max")
    if isinstance(given.get("parameters"), Mapping):
        inside: Mapping[Any, Any] = given["parameters"]
        return inside
    if "value" in given:
        return "is constant in the sweep"
    try:
        return sweep_parameter(given)
    except SpaceError as error:
        raise SpaceError(f"{name}: {error}") from None


def sweep_parameter(given: Mapping[str, Any]) -> Parameter:
    if "values" in given:
        values = given["values"]
        return as_choices(values, ordered=True) if isinstance(values, list) else Categorical(values)
    low, high = given.get("min"), given.get("max")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        raise SpaceError(f"{shorten(dict(given))} has no min and max; write them for what has no bounds")
    law = given.get("distribution")
    if law == "log_uniform":  # its bounds are exponents
        if max(low, high) > MOST_EXPONENT:
            raise SpaceError(f"max={high!r} is an exponent of e, and too large for one; is it a value?")
        return Float(math.exp(low), math.exp(high), log=True)
    if law not in (None, *LINEAR, *LOGS):
        raise SpaceError(f"distribution {law!r} has no bounds; use uniform or log_uniform_values")
    if isinstance(low, int) and isinstance(high, int):
        if law in (None, "int_uniform"):
            return Int(low, high)
        if law == "q_log_uniform_values" and given.get("q") == 1:
            return Int(low, high, log=True)
    return Float(float(low), float(high), log=law in LOGS)


def is_tune(one: object) -> bool:
    """A domain of Ray Tune."""
    return type(one).__module__.startswith("ray.tune") and hasattr(one, "sampler")


def holds_tune(one: object) -> bool:
    return is_tune(one) or (isinstance(one, Mapping) and any(map(holds_tune, one.values())))


def tune_setting(name: str, one: Any) -> Parameter | Mapping[Any, Any] | str:
    if isinstance(one, Mapping) and holds_tune(one):
        return one
    return tune_parameter(name, one) if is_tune(one) else "is no domain of Ray Tune"


def tune_parameter(name: str, one: Any) -> Parameter:
    """Upper ends of whole numbers are not drawn, but those of steps are."""
    sampler, step = one.sampler, getattr(one.sampler, "q", None)
    law = type(getattr(sampler, "sampler", sampler)).__name__
    log = "Log" in law
    match type(one).__name__:
        case "Categorical":
            return Categorical(tuple(one.categories))
        case "Integer" if step is None:
            return Int(one.lower, one.upper - 1, log=log)
        case "Integer" if step is not None:
            return Int(one.lower, one.upper, step=1 if log else int(step), log=log)
        case "Float" if "Uniform" in law:
            return Float(one.lower, one.upper, log=log)
    raise SpaceError(f"{name}: {shorten(one)} has no bounds; use uniform, loguniform, randint or choice")
