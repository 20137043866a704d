"""Read search spaces: our own JSON or YAML, ConfigSpace, Optuna, W&B and Hydra sweeps, Ray Tune.

A space is also found next to a log, in a file such as space.json, sweep.yaml or (for trials.csv) trials.yaml.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pedanova.base.notes import Note
from pedanova.data.column import cells_of, for_domain, read_plain
from pedanova.data.column_clues import MARKS
from pedanova.data.records import Records
from pedanova.data.table_options import TableOptions, objectives_of
from pedanova.errors import Arg, DataError, FormatError, PedanovaError, SpaceError, listed
from pedanova.sources.reader import read_json, read_yaml
from pedanova.sources.scans.scan import TableScan
from pedanova.sources.spaces.configspace import space_from_configspace
from pedanova.sources.spaces.described import as_choices, as_range, distinct_labels, domain_of_law, is_law
from pedanova.space.grid import grid_of
from pedanova.space.parameters import (
    KINDS,
    Categorical,
    Domain,
    Float,
    Int,
    Moving,
    Ordinal,
    Parameter,
    Space,
    Switch,
    as_space,
    parameter_from_dict,
)
from pedanova.space.values import LARGEST_INT, Label, as_label, is_number, shown

SUFFIXES = (".json", ".yaml", ".yml")
UNDER = ("search_space", "param_space", "param_grid", "hyperparameter_space", "space")
MOST_EXPONENT = 700  # the largest exponent of e for a float
LINEAR = ("uniform", "int_uniform", "q_uniform", "constant", "categorical")
LOGS = ("log_uniform_values", "q_log_uniform_values", "inv_log_uniform_values")
HYDRA_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
HYDRA_WORDS: dict[str, Label] = {"true": True, "false": False}


def space_from(source: object) -> Space:
    """Read a search space from a file or from objects of other tools.

    Parameters
    ----------
    source
        One of these:

        - a path to a JSON or YAML file: a space of pedanova or ConfigSpace, Optuna's distributions, or a W&B sweep;
        - a dict of `Float`, `Int` and others, or a dict of plain values, as in the example;
        - an object of another tool: a ConfigSpace, a dict of Optuna's distributions, scikit-learn's
          ``param_distributions``, or a search space of Ray Tune.

    Returns
    -------
    Space
        Parameters by name.

    Raises
    ------
    SpaceError
        The space contradicts itself, or its format is unknown.
    FormatError
        The content of a file does not match its suffix.

    Examples
    --------
    >>> from pedanova import space_from
    >>> space_from({"lr": {"type": "float", "low": 1e-5, "high": 1.0, "log": True}})
    Space({'lr': Float(low=1e-05, high=1.0, log=True)})
    """
    return read_space(source)[0]


def read_space(source: object) -> tuple[Space, list[Note]]:
    """Read a space as `space_from` does, with notes on what was left out."""
    if isinstance(source, Space):
        return source, []
    if isinstance(source, str | os.PathLike):
        return read_space_file(Path(source))
    if type(source).__name__ == "ConfigurationSpace":
        return space_from_configspace(source)
    if isinstance(source, Mapping):
        return space_from_mapping(source)
    wrong: Any = source
    return as_space(wrong), []  # raises an error that describes the problem


def read_space_file(file: Path) -> tuple[Space, list[Note]]:
    suffix = file.suffix.lower()
    if not file.is_file():
        raise DataError(Arg("space", str(file)), " is not a file; give the path of a space in JSON or YAML")
    if suffix not in SUFFIXES:
        raise SpaceError(Arg("space", str(file)), f" must end in one of {', '.join(SUFFIXES)}")
    plain = read_json(file) if suffix == ".json" else read_yaml(file)
    if not isinstance(plain, Mapping):
        raise SpaceError(f"{file} must be an object that maps names to parameters, not {shown(plain)}")
    return space_from_mapping(plain)


def space_from_mapping(plain: Mapping[Any, Any]) -> tuple[Space, list[Note]]:
    hydra = hydra_sweep_in(plain)
    if hydra is not None:
        return nested_space(hydra, hydra_setting)
    for key in UNDER:  # keys of a script's configuration
        inside = plain.get(key)
        if isinstance(inside, Mapping) and all(isinstance(one, Mapping | list | str) for one in inside.values()):
            return space_from_mapping(inside)
    if "hyperparameters" in plain and isinstance(plain["hyperparameters"], list | Mapping):
        return space_from_configspace(plain)
    if "parameters" in plain and isinstance(plain["parameters"], Mapping):
        return nested_space(plain["parameters"], sweep_setting)
    if plain and all(is_distribution(one) for one in plain.values()):
        return Space({str(name): read_distribution(one, str(name)).domain for name, one in plain.items()}), []
    if plain and all(isinstance(one, list) for one in plain.values()):  # a grid
        return Space({str(name): as_choices(one, ordered=True) for name, one in plain.items()}), []
    if plain and all(isinstance(one, Mapping) and "_type" in one for one in plain.values()):
        return Space({str(name): nni_domain(str(name), one) for name, one in plain.items()}), []
    if any(map(is_law, plain.values())):
        return Space({str(name): law_or_choices(str(name), one) for name, one in plain.items()}), []
    if any(map(holds_tune, plain.values())):
        return nested_space(plain, tune_setting)
    dicts = {name: parameter_from_dict(str(name), one) for name, one in plain.items() if isinstance(one, Mapping)}
    return as_space({**plain, **dicts}), []


def law_or_choices(name: str, given: Any) -> Domain:
    """A domain from scikit-learn's `param_distributions`: a SciPy distribution, a list, or a domain of pedanova."""
    if isinstance(given, Categorical | Float | Int | Ordinal):
        return given
    try:
        if is_law(given):
            return domain_of_law(given)
        return as_choices([as_label(one, name) for one in given], ordered=True)
    except (SpaceError, TypeError, ValueError) as error:
        raise SpaceError(f"{name}: {error}") from None


def nni_domain(name: str, given: Mapping[Any, Any]) -> Domain:
    """Convert a domain of NNI; the upper bound of `randint` is exclusive."""
    kind, values = str(given["_type"]), given.get("_value")
    if not isinstance(values, list) or any(isinstance(value, Mapping) for value in values):
        raise SpaceError(f"{name}: {shown(values)} is not a list of values; nested spaces of NNI cannot be read")
    if kind == "choice":
        return as_choices(distinct_labels(values), ordered=True)
    if kind not in ("randint", "uniform", "loguniform", "quniform", "qloguniform") or len(values) < 2:
        raise SpaceError(f"{name}: {kind} with {shown(values)} has no bounds; use uniform, loguniform or choice")
    low, high, step = *values[:2], values[2] if kind.startswith("q") and len(values) > 2 else None
    if kind == "randint":
        return as_range(int(low), int(high) - 1, whole=True)
    whole = all(is_number(one) and float(one).is_integer() for one in (low, high, step))
    return Distribution("int" if whole else "float", low, high, step, "log" in kind).domain


def is_distribution(one: object) -> bool:
    """Whether an object is an Optuna distribution, or the JSON text or the dict of one."""
    if isinstance(one, Mapping):
        kind = one.get("type")
        lattice = kind in ("float", "categorical") and "step" in one
        return one.get("name") in CLASSES or lattice or (kind not in KINDS and "attributes" in one)
    return type(one).__name__ in CLASSES or (isinstance(one, str) and one.lstrip().startswith("{"))


def nested_space(
    given: Mapping[Any, Any], read: Callable[[str, Any], Parameter | Mapping[Any, Any] | str], prefix: str = ""
) -> tuple[Space, list[Note]]:
    """A space from a nested dict, with names joined by dots; if `read` returns text, the parameter is left out."""
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
    if not isinstance(given, Mapping):
        raise SpaceError(f"{name}: {shown(given)} must be an object with values, or min and max")
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
        raise SpaceError(f"{shown(dict(given))} needs two numbers, min and max")
    law = given.get("distribution")
    if law == "log_uniform":  # its bounds are exponents
        if max(low, high) > MOST_EXPONENT:
            raise SpaceError(f"max={high!r} is too large, because log_uniform uses e**max; use log_uniform_values")
        return Float(math.exp(low), math.exp(high), log=True)
    if law not in (None, *LINEAR, *LOGS):
        raise SpaceError(f"distribution {law!r} has no bounds; use uniform or log_uniform_values")
    steps = law in (None, "int_uniform") or (law == "q_log_uniform_values" and given.get("q") == 1)
    return as_range(low, high, whole=steps and isinstance(low, int) and isinstance(high, int), log=law in LOGS)


def is_tune(one: object) -> bool:
    return type(one).__module__.startswith("ray.tune") and hasattr(one, "sampler")


def holds_tune(one: object) -> bool:
    return is_tune(one) or (isinstance(one, Mapping) and any(map(holds_tune, one.values())))


def tune_setting(name: str, one: Any) -> Parameter | Mapping[Any, Any] | str:
    if isinstance(one, Mapping) and holds_tune(one):
        return one
    return tune_parameter(name, one) if is_tune(one) else "is not a domain of Ray Tune"


def tune_parameter(name: str, one: Any) -> Parameter:
    """Convert a domain of Ray Tune; the upper bound of integers is exclusive, but inclusive if there is a step."""
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
    raise SpaceError(f"{name}: {shown(one)} has no bounds; use uniform, loguniform, randint or choice")


def hydra_sweep_in(plain: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """The parameters of `hydra.sweeper` in a Hydra configuration, by name; None without a sweeper."""
    hydra = plain.get("hydra")
    sweeper = hydra.get("sweeper") if isinstance(hydra, Mapping) else None
    if not isinstance(sweeper, Mapping):
        return None
    return next((sweeper[key] for key in ("params", "search_space") if isinstance(sweeper.get(key), Mapping)), None)


def hydra_setting(name: str, given: Any) -> Parameter | str:
    """Convert a parameter of Hydra's command line to a domain; if this is not possible, return the reason as text.

    Examples
    --------
    >>> hydra_setting("lr", "tag(log, interval(0.001, 0.1))")
    Float(low=0.001, high=0.1, log=True)
    >>> hydra_setting("units", "range(16, 64, step=16)")
    Int(low=16, high=48, step=16, log=False)
    """
    if isinstance(given, Mapping):
        return hydra_described(name, given)
    text = str(given).strip()
    call = HYDRA_CALL.fullmatch(text)
    if call is None:
        values = [hydra_word(one) for one in text.split(",")]
        return as_choices(values, ordered=True) if len(values) > 1 else "is constant in the sweep"
    kind, parts = call[1], hydra_parts(call[2])
    if kind == "choice":
        return as_choices([hydra_word(one) for one in parts], ordered=True)
    if kind in ("tag", "shuffle", "sort", "float", "int"):
        inside = hydra_setting(name, parts[-1])
        if kind == "tag" and "log" in parts[:-1] and isinstance(inside, Float | Int):
            return replace(inside, log=True)
        if kind == "int" and isinstance(inside, Float):
            return Int(int(inside.low), int(inside.high), log=inside.log)
        return inside
    numbers = [float(one) for part in parts if (one := read_plain(part.rpartition("=")[2].strip())) is not None]
    if len(numbers) == len(parts) == 2 and kind == "interval":
        return Float(numbers[0], numbers[1])
    if len(numbers) == len(parts) <= 3 and kind == "range":
        whole = range(*map(int, numbers))
        return Int(whole[0], whole[-1], step=whole.step)
    raise SpaceError(f"{name}: {text!r} is not a Hydra domain such as interval(0, 1), range(1, 9) or choice(a, b)")


def hydra_described(name: str, given: Mapping[Any, Any]) -> Parameter:
    if "choices" in given:
        return as_choices(list(given["choices"]), ordered=True)
    low, high = given.get("low", given.get("lower")), given.get("high", given.get("upper"))
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        raise SpaceError(f"{name}: {dict(given)!r} must contain choices, or both low and high")
    kind = str(given.get("type", given.get("integer", "")))
    return as_range(low, high, whole=kind in ("int", "True"), log=bool(given.get("log")) or "log" in kind)


def hydra_word(text: str) -> Label:
    plain = text.strip()
    number = read_plain(plain)
    return number if number is not None else HYDRA_WORDS.get(plain.lower(), plain.strip("'\""))


def hydra_parts(text: str) -> list[str]:
    """The text split at commas outside brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


NEAR = 1e-6  # the largest rounding error of a value on a lattice, as a part of the step
MOST_STEPS = 1000  # a lattice of floats with more points is treated as continuous
# class → kind, log; with the names of early Optuna versions
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
        """The number of points of the lattice; 0 if there is no lattice, or if its steps are very small."""
        if self.kind != "float" or not self.step:
            return 0
        if self.step < 8 * math.ulp(max(abs(self.low), abs(self.high))):  # steps that are too small for floats
            return 0
        count = round((self.high - self.low) / self.step) + 1
        return count if 1 < count <= MOST_STEPS else 0

    @property
    def lattice(self) -> tuple[float, ...]:
        """The values of the lattice, rounded as a person would write them: 0.3, not 0.30000000000000004."""
        step = self.step or 0.0
        exact = [self.low + i * step for i in range(self.steps)]
        short = [float(f"{point:.12g}") for point in exact]
        near = all(abs(a - b) <= NEAR * step for a, b in zip(exact, short, strict=True))
        return tuple(short if near else exact)

    @property
    def domain(self) -> Domain:
        if self.kind == "categorical":
            return Categorical(self.choices)
        if self.low == self.high:
            return Categorical((int(self.low) if self.kind == "int" else self.low,))
        if self.kind == "int" and max(abs(self.low), abs(self.high)) <= LARGEST_INT:
            step = 1 if self.log else max(1, int(self.step or 1))
            return Int(int(self.low), int(self.high), step, self.log)
        return Ordinal(self.lattice) if self.steps else Float(self.low, self.high, self.log)


def read_distribution(given: object, where: str) -> Distribution:
    """Read a distribution from Optuna's JSON text (old or new format), from parsed JSON, or from an Optuna object."""
    plain = as_dict(given, where)
    name = plain.get("name")
    kind, log = CLASSES.get(str(name), ("", None)) if name is not None else (str(plain.get("type")), None)
    fields = plain.get("attributes", {}) if name is not None else plain
    if (kind != "float" and kind != "int" and kind != "categorical") or not isinstance(fields, Mapping):
        raise FormatError(f"{where}: {shown(given)} is not a distribution that Optuna writes")
    if kind == "categorical":
        return Distribution("categorical", choices=labels_of(fields.get("choices"), where))
    low, high = (as_bound(fields.get(key), given, where) for key in ("low", "high"))
    step = fields.get("step", fields.get("q"))
    logged = bool(fields.get("log", False)) if log is None else log
    if low > high or (logged and low <= 0):
        raise FormatError(f"{where}: {shown(given)} needs low <= high, and low > 0 on a log scale")
    return Distribution(
        "int" if kind == "int" else "float", low, high, None if step is None else as_bound(step, given, where), logged
    )


def as_dict(given: object, where: str) -> Mapping[str, Any]:
    if isinstance(given, str | bytes):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise FormatError(f"{where}: {shown(given)} is not the JSON text of a distribution") from None
    if isinstance(given, Mapping):
        return given
    if type(given).__name__ in CLASSES:
        names = ("low", "high", "step", "log", "choices", "q")
        fields = {name: getattr(given, name) for name in names if hasattr(given, name)}
        return {"name": type(given).__name__, "attributes": fields}
    raise FormatError(f"{where}: {shown(given)} is not a distribution")


def as_bound(value: object, given: object, where: str) -> float:
    with suppress(OverflowError):  # a whole number too large for a float
        if is_number(value) and math.isfinite(value):
            return float(value)
    raise FormatError(f"{where}: {shown(given)} has {shown(value)} instead of a finite number")


def labels_of(choices: object, where: str) -> tuple[Label, ...]:
    """The choices as distinct labels; None, True, 1 and '1' are four different labels."""
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise FormatError(f"{where}: choices {shown(choices)} must be a list of values")
    finite = [str(one) if isinstance(one, float) and not math.isfinite(one) else one for one in choices]
    labels = [as_label(choice, "choices") for choice in finite]
    if len(set(labels)) == len(labels):
        return tuple(labels)
    named = [str(label) for label in labels]
    if len(set(named)) < len(named):
        named = [f"{name} ({type(choice).__name__})" for name, choice in zip(named, choices, strict=True)]
    if len(set(named)) < len(named):
        named = [f"{name} #{i}" for i, name in enumerate(named)]
    return tuple(named)


BESIDE = ("search_space", "space", "param_space", "param_grid", "sweep", "sweep_config", "multirun")
OF_JOB = (".hydra", "hydra.yaml")  # the file with the sweep in the folder of each Hydra job
LARGEST_FILE = 1_000_000  # bytes of a file written by a person


def with_space_beside(records: Records | TableScan, request: TableOptions, data: object) -> TableOptions:
    """If a space is found next to the log, add it to the options; if it may belong to another log, add only a note.

    A space is used if it is the only one found, all its parameters are columns, and all rows lie in it.
    """
    whole = records if isinstance(records, Records) else None  # only tables in memory are compared with a space
    settled = request.space is not None or request.params is not None or (whole and whole.metadata.space is not None)
    if settled or not isinstance(data, str | os.PathLike) or "://" in os.fspath(data):
        return request
    fitting = {}
    for file in _files_beside(Path(data)):
        try:
            space = _named_as_columns(read_space_file(file)[0], records)
        except (PedanovaError, OSError):
            continue  # a file with this name and other content
        if space and not {*space} & {*objectives_of(request)}:
            fitting[file] = space
    if not fitting:
        return request
    file, space = next(iter(fitting.items()))
    outside = [name for name in space if whole and not _holds_all_rows(space, name, whole)]
    if len(fitting) == 1 and whole and not outside:
        words = f"the space is read from {file.name} next to the log; pass "
        note = Note("space", words, Arg("space", shown="FILE"), " to use another space")
        return replace(request, space=space, notes=(*request.notes, note))
    why = f", but some values of {listed(outside)} lie outside it" if outside and len(fitting) == 1 else ""
    words = f"{' or '.join(one.name for one in fitting)} may be the search space{why}; pass "
    note = Note("space", words, Arg("space", shown="FILE"), " to use it", severity="warning")
    return replace(request, notes=(*request.notes, note))


def _files_beside(place: Path) -> Iterator[Path]:
    """Yield files that may contain the space of a log, the most likely first."""
    folder = place if place.is_dir() else place.parent
    own = () if place.is_dir() else (place.stem, f"{place.stem}_space")
    for name in (*own, *BESIDE):
        for suffix in SUFFIXES:
            file = folder / f"{name}{suffix}"
            if file != place and file.is_file() and file.stat().st_size <= LARGEST_FILE:
                yield file
    if place.is_dir() and not (place / "multirun.yaml").is_file():
        yield from sorted(place.glob("/".join(("*", *OF_JOB))))[:1]


def _named_as_columns(space: Space, records: Records | TableScan) -> Space | None:
    """The space with the names of the columns, which may have a prefix such as params_; None if columns are missing."""
    columns = {name.removeprefix(mark): name for name in records.columns for mark in MARKS if name.startswith(mark)}
    columns |= {name: name for name in records.columns}
    if not {*space} <= {*columns}:
        return None
    if all(columns[name] == name for name in space):
        return space
    plain = not any(one.when or isinstance(one, Switch | Moving) for one in space.values())
    return Space({columns[name]: one for name, one in space.items()}) if plain else None


def _holds_all_rows(space: Space, name: str, records: Records) -> bool:
    if isinstance(space[name], Switch | Moving):
        return True
    column, grid = for_domain(records.columns[name], space[name]), grid_of(space[name])
    return bool((cells_of(column, grid) != grid.outside)[~column.absent()].all())
