"""Convert a search space to objects or text for other tools."""

from __future__ import annotations

import json
import math
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pedanova.base.notes import Note
from pedanova.errors import MissingLibraryError, SpaceError, listed, missing_library
from pedanova.space.parameters import (
    Categorical,
    Domain,
    Float,
    Int,
    Ordinal,
    Parameter,
    Space,
    Switch,
    parents_first,
    values_of,
)
from pedanova.space.values import Interval, Label, Value

FORMS = ("optuna", "configspace", "raytune", "wandb", "sklearn", "json", "code")
LOG_STEPS = 50  # values on a log scale of integers, because scikit-learn has no such distribution
CONDITIONAL = ("configspace", "json", "code")  # formats that support conditional parameters


def export(space: Space, form: str) -> str:
    writers: dict[str, Callable[[Space], str]] = {
        "json": lambda one: as_json(one.to_dict()), "code": optuna_code,
        "optuna": lambda one: as_json(optuna_plain(one)), "configspace": lambda one: as_json(configspace_plain(one)),
        "raytune": raytune_code, "wandb": wandb_text, "sklearn": sklearn_code,
    }  # fmt: skip
    if form not in writers:
        raise SpaceError(f"format {form!r} is unknown; use one of {', '.join(FORMS)}")
    return writers[form](space)


def to_tool(space: Space, tool: str) -> Any:
    makers = {"optuna": to_optuna, "configspace": to_configspace, "raytune": to_raytune}
    if tool in FORMS and tool not in makers:
        raise SpaceError(f"a space for {tool!r} is always text; use export({tool!r})")
    if tool not in makers:
        raise SpaceError(f"tool {tool!r} is unknown; use one of {', '.join(makers)}, or export() for text")
    return makers[tool](space)


def left_out(space: Space, form: str) -> list[Note]:
    names = [name for name, parameter in unfolded(space).items() if parameter.when]
    if form in CONDITIONAL or not names:
        return []
    words = f"{form} cannot express conditions, so every trial will have values for {listed(names)}; "
    return [Note("doubt", f"{words}use 'code', 'configspace' or 'json'")]


def warn_of_lost_conditions(space: Space, form: str) -> None:
    for note in left_out(space, form):
        warnings.warn(str(note), stacklevel=3)


def unfolded(space: Space) -> Space:
    """Split a parameter x that has special values: x_kind is a special value or "range", and x is the range."""
    plain: dict[str, Parameter] = {}
    for name, parameter in space.items():
        own = parameter.regimes if isinstance(parameter, Switch) and parameter.is_own else ()
        ranges = [one for one in own if isinstance(one, Float | Int | Ordinal)]
        if not isinstance(parameter, Switch) or len(ranges) != 1:
            plain[name] = parameter
            continue
        inside = [key for key, domain in parameter.domains if domain == ranges[0]]
        plain[f"{name}_kind"] = Categorical(tuple(key for key, _ in parameter.domains if not isinstance(key, Interval)))
        plain[name] = replace(ranges[0], when=((f"{name}_kind", tuple(inside)),))
    return Space(plain)


def plain_domains(space: Space, form: str) -> dict[str, Domain]:
    """The domains by name, parents before children; raises an error for a domain that the format cannot express."""
    space = unfolded(space)
    domains: dict[str, Domain] = {}
    for name in parents_first(space):
        domain = space[name]
        if not isinstance(domain, Domain):
            raise SpaceError(f"{name}: its bounds change from row to row, which {form} cannot express; use json")
        domains[name] = domain
    return {name: domains[name] for name in (domains if form == "code" else space)}


def labels_of(domain: Domain) -> list[Label]:
    return list(range(domain.low, domain.high + 1, domain.step) if isinstance(domain, Int) else values_of(domain))


def optuna_plain(space: Space) -> dict[str, Any]:
    """The space as distributions in the JSON format of Optuna's storages."""
    plain: dict[str, Any] = {}
    fields: dict[str, Any]
    for name, domain in plain_domains(space, "optuna").items():
        match domain:
            case Float(low, high, log):
                kind, fields = "Float", {"step": None, "low": low, "high": high, "log": log}
            case Int(low, high, step, log):
                kind, fields = "Int", {"log": log, "step": step, "low": low, "high": high}
            case Categorical(values) | Ordinal(values):
                kind, fields = "Categorical", {"choices": with_none(values)}
        plain[name] = {"name": f"{kind}Distribution", "attributes": fields}
    return plain


def to_optuna(space: Space) -> dict[str, Any]:
    try:
        from optuna.distributions import json_to_distribution
    except ImportError:
        raise missing("Optuna", "optuna") from None
    return {name: json_to_distribution(json.dumps(one)) for name, one in optuna_plain(space).items()}


def optuna_code(space: Space) -> str:
    """Python code that suggests all parameters in an objective function of Optuna; conditions become ``if`` lines."""
    lines = ["params = {}"]
    for name, domain in plain_domains(space, "code").items():
        line = f"params[{name!r}] = trial.{_suggest(name, domain)}"
        tests = [_test(parent, values) for parent, values in domain.when]
        lines += [f"if {' and '.join(tests)}:", f"    {line}"] if tests else [line]
    return "\n".join(lines) + "\n"


def _test(parent: str, values: tuple[Value, ...]) -> str:
    """A condition as Python code; it is false if the parent has no value."""
    labels = tuple(value for value in values if not isinstance(value, Interval))
    tests = [f"params.get({parent!r}) in {labels!r}"] if labels else []
    got = f"params.get({parent!r}, float('nan'))"
    ranges = [value for value in values if isinstance(value, Interval)]
    tests += [" and ".join(f"{got} {test}" for test in interval.tests()) for interval in ranges]
    return tests[0] if len(tests) == 1 else f"({' or '.join(tests)})"


def _suggest(name: str, domain: Domain) -> str:
    match domain:
        case Float(low, high, log):
            return f"suggest_float({name!r}, {low!r}, {high!r}{', log=True' if log else ''})"
        case Int(low, high, step, log):
            more = f", step={step}" if step > 1 else ", log=True" if log else ""
            return f"suggest_int({name!r}, {low}, {high}{more})"
        case Categorical(values) | Ordinal(values):
            return f"suggest_categorical({name!r}, {with_none(values)!r})"


def with_none(values: Iterable[Label]) -> list[Label | None]:
    """The choices for Python code, where the label "None" stands for None."""
    return [None if value == "None" else value for value in values]


def configspace_plain(space: Space) -> dict[str, Any]:
    """The space as a JSON document for ConfigSpace (format 0.4); a parameter with one value is a constant."""
    domains = plain_domains(space, "configspace")
    items = [_item(name, domain) for name, domain in domains.items()]
    parts = {name: [_part(name, *one) for one in domain.when] for name, domain in domains.items() if domain.when}
    conditions = [_together("AND", name, own) for name, own in parts.items()]
    return {
        "name": None,
        "hyperparameters": items,
        "conditions": conditions,
        "forbiddens": [],
        "python_module_version": "1.2.0",
        "format_version": 0.4,
    }


def _item(name: str, domain: Domain) -> dict[str, Any]:
    common = {"name": name, "meta": None}
    match domain:
        case Float(low, high, log):
            start = math.sqrt(low) * math.sqrt(high) if log else low + (high - low) / 2
            fields = {"lower": low, "upper": high, "log": log, "default_value": start}
            return {"type": "uniform_float", **common, **fields}
        case Int(low, high, step, log) if step == 1:
            start = round(math.sqrt(low * high)) if log else (low + high) // 2
            fields = {"lower": low, "upper": high, "log": log, "default_value": start}
            return {"type": "uniform_int", **common, **fields}
    values = labels_of(domain)
    if len(values) == 1:
        return {"type": "constant", **common, "value": values[0]}
    if isinstance(domain, Categorical):
        return {"type": "categorical", **common, "choices": values, "weights": None, "default_value": values[0]}
    return {"type": "ordinal", **common, "sequence": values, "default_value": values[0]}


def _part(name: str, parent: str, values: tuple[Value, ...]) -> dict[str, Any]:
    """A condition for ConfigSpace, which has only < and >; ``<= 0.5`` becomes ``< 0.5000000000000001``."""
    common = {"child": name, "parent": parent}
    labels = [value for value in values if not isinstance(value, Interval)]
    parts = [{"type": "IN", **common, "values": labels}] if labels else []
    for interval in (value for value in values if isinstance(value, Interval)):
        ends = []
        if interval.low > -math.inf:
            low = interval.low if interval.open_low else math.nextafter(interval.low, -math.inf)
            ends.append({"type": "GT", **common, "value": low})
        if interval.high < math.inf:
            high = interval.high if interval.open_high else math.nextafter(interval.high, math.inf)
            ends.append({"type": "LT", **common, "value": high})
        parts.append(_together("AND", name, ends))
    return _together("OR", name, parts)


def _together(kind: str, name: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {"type": kind, "child": name, "conditions": parts}


def to_configspace(space: Space) -> Any:
    """The space as a `ConfigurationSpace`, which SMAC's `Scenario` accepts."""
    try:
        from ConfigSpace import ConfigurationSpace
    except ImportError:
        raise missing("ConfigSpace", "configspace") from None
    return ConfigurationSpace.from_serialized_dict(configspace_plain(space))


def _tune(domain: Domain) -> tuple[str, list[Any]]:
    """The name and arguments of the ``ray.tune`` function for a domain; Ray Tune excludes upper bounds of integers."""
    match domain:
        case Float(low, high, log):
            return "loguniform" if log else "uniform", [low, high]
        case Int(low, high, step, log) if step == 1:
            return "lograndint" if log else "randint", [low, high + 1]
    return "choice", [with_none(labels_of(domain))]


def to_raytune(space: Space) -> dict[str, Any]:
    """The space as a dict for ``tune.Tuner(param_space=…)``."""
    try:
        from ray import tune
    except ImportError:
        raise missing("Ray Tune", "raytune") from None
    calls = {name: _tune(domain) for name, domain in plain_domains(space, "raytune").items()}
    return {name: getattr(tune, function)(*arguments) for name, (function, arguments) in calls.items()}


def raytune_code(space: Space) -> str:
    lines = []
    for name, domain in plain_domains(space, "raytune").items():
        function, arguments = _tune(domain)
        lines.append(f"    {name!r}: tune.{function}({', '.join(map(repr, arguments))}),")
    return "\n".join(["from ray import tune", "", "param_space = {", *lines, "}"]) + "\n"


def sklearn_code(space: Space) -> str:
    """Python code of ``param_distributions`` for scikit-learn's `RandomizedSearchCV`."""
    domains = plain_domains(space, "sklearn")
    lines = [f"    {name!r}: {_scipy(domain)}," for name, domain in domains.items()]
    head = "from scipy.stats import loguniform, randint, uniform"
    return "\n".join([head, "", "param_distributions = {", *lines, "}"]) + "\n"


def _scipy(domain: Domain) -> str:
    match domain:
        case Float(low, high, log):
            return f"loguniform({low!r}, {high!r})" if log else f"uniform({low!r}, {high - low!r})"
        case Int(low, high, 1, False):
            return f"randint({low}, {high + 1})"
        case Int(low, high, 1, True):
            steps = [round(low * (high / low) ** (i / LOG_STEPS)) for i in range(LOG_STEPS + 1)]
            return repr(list(dict.fromkeys(steps)))
    return f"[{', '.join(map(_as_written, labels_of(domain)))}]"


def _as_written(value: Label) -> str:
    """A value as Python code; the text "(16, 16)" becomes a tuple, and the text "None" becomes None."""
    try:
        plain = literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return repr(value)
    return repr(plain) if plain is None or isinstance(plain, tuple | list | dict | bool) else repr(value)


def wandb_text(space: Space) -> str:
    """The configuration of a W&B sweep in YAML, without program and metric."""
    domains = plain_domains(space, "wandb")
    lines = [f"  {_scalar(name)}: {_scalar(_sweep(domain))}\n" for name, domain in domains.items()]
    return f"method: random\nparameters:\n{''.join(lines)}"


def _sweep(domain: Domain) -> dict[str, Any]:
    match domain:
        case Float(low, high, log):
            return {"distribution": "log_uniform_values" if log else "uniform", "min": low, "max": high}
        case Int(low, high, 1, True):
            return {"distribution": "q_log_uniform_values", "q": 1, "min": low, "max": high}
        case Int(low, high, 1):
            return {"distribution": "int_uniform", "min": low, "max": high}
    values = labels_of(domain)
    return {"value": values[0]} if len(values) == 1 else {"values": values}


def missing(library: str, extra: str) -> MissingLibraryError:
    return missing_library(f"to({extra!r}) needs {library}", extra)


def as_json(plain: Mapping[str, Any]) -> str:
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in plain.items())
    return f"{{\n{lines}\n}}\n"


def _scalar(value: object) -> str:
    """A value as JSON, which is also YAML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_scalar(one) for one in value)}]"
    text = json.dumps(value, ensure_ascii=False)
    without_point = isinstance(value, float) and "e" in text and "." not in text
    return text.replace("e", ".0e") if without_point else text  # YAML 1.1 takes 1e-05 for text, but not 1.0e-05
