"""Ax: snapshots and saved experiments as JSON, with their space, objectives, constraints and states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.records import Records, SourceMetadata, free_name
from pedanova.data.regions import Direction
from pedanova.errors import Arg, FormatError, SpaceError
from pedanova.sources.logs.trials import Trial, tell
from pedanova.sources.reader import json_head, read_json
from pedanova.sources.spaces.described import Described, as_choices, as_range, if_understood
from pedanova.space.parameters import Domain
from pedanova.space.values import Condition

MARK = re.compile(rb'"_?_type":\s*"(AxClient|Client|Experiment|MultiTypeExperiment)"')
START = 4096  # the first bytes, which contain the mark
STATES = {
    "COMPLETED": "COMPLETE", "FAILED": "FAIL", "ABANDONED": "FAIL", "EARLY_STOPPED": "PRUNED",
    "RUNNING": "RUNNING", "STAGED": "WAITING", "CANDIDATE": "WAITING", "DISPATCHED": "RUNNING", "STALE": "FAIL",
}  # fmt: skip
TERM = re.compile(r"\s*(?P<sign>[-+]?)\s*(?:(?P<weight>[\d.]+(?:[eE][-+]?\d+)?)\s*\*\s*)?(?P<name>[^\s*+][^*+]*?)\s*")
LIMIT = re.compile(r"\s*(?P<name>.+?)\s*(?P<op><=|>=)\s*(?P<bound>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*")

Dict = dict[str, Any]
Measured = dict[tuple[int, str], dict[str, float]]  # by trial and arm


def fits(path: Path) -> bool:
    return MARK.search(json_head(path, START)) is not None


def read(path: Path) -> Records:
    plain = read_json(path)
    experiment = plain.get("experiment", plain) if isinstance(plain, dict) else None
    if not isinstance(experiment, dict) or not isinstance(experiment.get("trials"), dict):
        raise FormatError(f"{path} is not an Ax snapshot (no trials); save the experiment with save_to_json_file")
    directions, limits, notes = _aim(experiment.get("optimization_config") or {})
    measured = _measured(experiment)
    budgets, described = _space(experiment["search_space"]["parameters"], notes)
    trials = [trial for entry in experiment["trials"].values() for trial in _trials(entry, measured, budgets)]
    names = {name for trial in trials for name in trial.results}
    metadata = SourceMetadata(
        source=f"Ax experiment {experiment.get('name') or path.stem!r}",
        objectives=tuple(name for name in directions if name in names),
        directions=tuple(way for name, way in directions.items() if name in names),
        feasible=_mark_feasible(trials, [limit for limit in limits if limit[0] in names]),
        ordered=True,
    )
    return tell(trials, metadata, described, notes=notes)


def _aim(config: Dict) -> tuple[dict[str, Direction], list[tuple[str, str, float]], list[Note]]:
    """The direction of each objective, the constraints as tuples (metric, operator, bound), and notes."""
    directions: dict[str, Direction] = {}
    limits: list[tuple[str, str, float]] = []
    notes: list[Note] = []
    objective = config.get("objective") or {}
    for one in objective.get("objectives") or [objective]:
        if "metric" in one:
            directions[str(one["metric"]["name"])] = "minimize" if one.get("minimize") else "maximize"
        elif isinstance(one.get("expression"), str):
            # "accuracy, -latency" are metrics, all maximised; a sum has no single metrics
            terms = [TERM.fullmatch(term) for term in one["expression"].split(",")]
            for term in terms if all(terms) else ():
                directions[term["name"]] = "minimize" if term["sign"] == "-" else "maximize"  # type: ignore[index]
    if not directions and objective:
        notes.append(Note("source", "the objective is a sum of metrics; name one of them in ", Arg("objective")))
    for limit in config.get("outcome_constraints") or ():
        bound = _limit(limit)
        if bound is None:
            notes.append(Note("source", "a constraint on several metrics, or relative to the status quo, is ignored"))
        else:
            limits.append(bound)
    return directions, limits, notes


def _limit(limit: Dict) -> tuple[str, str, float] | None:
    if limit.get("relative"):
        return None
    if "metric" in limit:
        return str(limit["metric"]["name"]), "<=" if limit["op"]["name"] == "LEQ" else ">=", float(limit["bound"])
    match = LIMIT.fullmatch(str(limit.get("expression", "")))
    if match is None or "*" in match["name"]:
        return None
    return match["name"], match["op"], float(match["bound"])


def _mark_feasible(trials: list[Trial], limits: list[tuple[str, str, float]]) -> str | None:
    """Add a column that says whether each trial is feasible, and return its name; missing metrics are ignored."""
    if not limits:
        return None
    name = free_name("feasible", {key for trial in trials for key in (*trial.params, *trial.results)})
    for trial in trials:
        known = [(trial.results.get(metric), op, bound) for metric, op, bound in limits]
        satisfied = (
            value <= bound if op == "<=" else value >= bound
            for value, op, bound in known
            if isinstance(value, int | float)
        )
        trial.other = {**trial.other, name: all(satisfied)}
    return name


def _space(parameters: list[Dict], notes: list[Note]) -> tuple[tuple[str, ...], Described | None]:
    """The names of the budget parameters, and the space of all other parameters (None if a domain is not valid)."""
    budgets = tuple(str(one["name"]) for one in parameters if one.get("is_fidelity"))
    kept = [one for one in parameters if str(one["name"]) not in budgets]
    fixed = tuple(str(one["name"]) for one in kept if one["__type"] in ("FixedParameter", "DerivedParameter"))
    when = _conditions(kept)
    named = {str(one["name"]): one for one in kept if str(one["name"]) not in fixed}

    def read() -> Described:
        domains = {name: replace(_domain(one), when=when.get(name, ())) for name, one in named.items()}
        return Described(domains, fixed=fixed)

    return budgets, if_understood(read, notes)


def _domain(one: Dict) -> Domain:
    if one["__type"] == "RangeParameter":
        whole = one["parameter_type"]["name"] == "INT"
        return as_range(one["lower"], one["upper"], whole=whole, log=bool(one.get("log_scale")))
    if one["__type"] != "ChoiceParameter":
        raise SpaceError(f"{one['name']}: {one['__type']} is not a known kind of parameter")
    return as_choices(one["values"], ordered=bool(one.get("is_ordered")))


def _conditions(parameters: list[Dict]) -> dict[str, tuple[Condition, ...]]:
    by_child: dict[str, dict[str, list[Any]]] = {}
    for one in parameters:
        values = {json.dumps(value).strip('"'): value for value in one.get("values") or (one.get("value"),)}
        for word, names in (one.get("dependents") or {}).items():
            for name in names:
                by_child.setdefault(str(name), {}).setdefault(str(one["name"]), []).append(values.get(word, word))
    fixed = {str(one["name"]) for one in parameters if one["__type"] == "FixedParameter"}
    return {
        name: tuple((parent, tuple(values)) for parent, values in parents.items() if parent not in fixed)
        for name, parents in by_child.items()
    }


def _trials(entry: Dict, measured: Measured, budgets: tuple[str, ...]) -> Iterator[Trial]:
    runs = entry.get("generator_runs") or [entry.get("generator_run")]
    runs = [one.get("generator_run") for one in entry.get("generator_run_structs") or ()] or runs
    index, status = int(entry["index"]), str(entry["status"]["name"])
    for run in runs:
        for arm in run["arms"] if run else ():
            name = str(arm["name"])
            params = {str(key): value for key, value in arm["parameters"].items()}
            results = dict(measured.get((index, name), {}))
            other: Dict = {"trial": index, "arm": name}
            for key in budgets:
                other["budget"] = params.pop(key, None)
            yield Trial(params, results, STATES.get(status, "FAIL"), other)


def _measured(experiment: Dict) -> Measured:
    """The last mean of each metric, by trial and arm."""
    measured: Measured = {}
    data = experiment.get("data_by_trial") or experiment.get("data") or {}
    for table in _tables(data):
        rows = _rows(table)
        for row in sorted(rows, key=lambda row: row.get("step") or 0) if any("step" in row for row in rows) else rows:
            if row.get("mean") is not None:
                of_arm = measured.setdefault((int(row["trial_index"]), str(row["arm_name"])), {})
                of_arm[str(row.get("metric_name", row.get("metric_signature")))] = float(row["mean"])
    return measured


def _tables(data: object) -> Iterator[Dict]:
    """Yield every table of results in Ax's nested JSON, in the order in which they were written."""
    if isinstance(data, dict):
        table = data.get("map_df") or data.get("full_df") or data.get("df")
        if isinstance(table, dict):
            yield table
            return
        data = list(data.values())
    for inner in data if isinstance(data, list) else ():
        yield from _tables(inner)


def _rows(table: Dict) -> list[Dict]:
    """The rows of a table that pandas wrote as JSON text (column → row → value), as dicts by column."""
    value = table["value"]
    try:
        columns: Mapping[str, Mapping[str, Any]] = json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise FormatError(f"a table of results in the snapshot is not valid JSON: {error}") from None
    rows = list(next(iter(columns.values()), {}))
    return [{name: column[row] for name, column in columns.items()} for row in rows]
