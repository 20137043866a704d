"""Keras Tuner: the folder of a project, with oracle.json and one trial.json per trial."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.objectives import DIRECTIONS
from pedanova.data.records import Point, Records, SourceMetadata
from pedanova.data.regions import Direction
from pedanova.errors import DataError, FormatError, SpaceError, listed
from pedanova.sources.logs.trials import Trial, budget_rule, folder_meant, holds_runs, tabulate
from pedanova.sources.reader import has, read_json
from pedanova.sources.spaces.described import as_choices, as_range, if_understood
from pedanova.space.parameters import Categorical, Domain, Space
from pedanova.space.values import Condition, as_conditions, is_number

STATES = {"COMPLETED": "COMPLETE", "STOPPED": "PRUNED", "INVALID": "FAIL", "FAILED": "FAIL"}
EPOCHS = "tuner/epochs"  # the budget of a trial in Hyperband
FILES = ("oracle.json", "tuner0.json")
Dict = Mapping[str, Any]


def fits(path: Path) -> bool:
    """Whether a path is a project, a folder of projects, or one of the files of a project."""
    if path.is_file():
        return (path.name in FILES and _is_project(path.parent)) or path.match("trial_*/trial.json")
    return path.is_dir() and (_is_project(path) or holds_runs(path, _is_project))


def _is_project(folder: Path) -> bool:
    """Whether a folder has oracle.json and also a tuner or a trial; other tools write files called oracle.json, too."""
    return has(folder, "oracle.json") and (has(folder, "tuner0.json") or next(_trial_files(folder), None) is not None)


def _trial_files(folder: Path) -> Iterator[Path]:
    return folder.glob("trial_*/trial.json")


def read(path: Path, study: str | None) -> Records:
    if path.is_file():
        path = path.parent if path.name in FILES else path.parent.parent
    folder = folder_meant(path, study, _is_project, "project")
    entries, notes = _read_entries(folder)
    source = f"Keras Tuner project {folder.name!r}"
    if not entries:
        raise DataError(f"{source} holds no trial that can be read; run the search, or give another folder")
    space = if_understood(lambda: _space(read_json(folder / "oracle.json")["hyperparameters"]["space"]), notes)
    trials = [_trial(entry, space) for entry in entries]
    objective, direction = _objective(entries)
    metadata = SourceMetadata(
        source=source,
        space=space,
        conditions=space is not None,
        objectives=(objective,),
        directions=(direction,) if direction else (),
        unclear=("score",),  # it may be any metric, also a loss
        where=budget_rule(trials, EPOCHS, EPOCHS),
    )
    return tabulate(trials, metadata, notes=notes, points=partial(_points, entries))


def _read_entries(folder: Path) -> tuple[list[Dict], list[Note]]:
    """The trials whose file can be read, and a note on the others."""
    entries: list[Dict] = []
    bad: list[str] = []
    for file in watched(sorted(_trial_files(folder)), "trials"):
        try:
            plain = read_json(file)
        except FormatError:
            plain = None
        if isinstance(plain, dict) and isinstance(plain.get("hyperparameters"), dict):
            entries.append(plain)
        else:
            bad.append(file.parent.name)
    notes = [Note("unused", f"{len(bad):,} trials cannot be read and are left out: {listed(bad)}")] if bad else []
    return entries, notes


def _trial(entry: Dict, space: Space | None) -> Trial:
    given = entry["hyperparameters"].get("values")
    values = {str(name): value for name, value in given.items()} if isinstance(given, dict) else {}
    known = (lambda name: not name.startswith("tuner/")) if space is None else space.__contains__
    params = {name: value for name, value in values.items() if known(name)}
    bests = {name: _best(metric) for name, metric in _metrics(entry).items()}
    results: dict[str, object] = {name: best for name, best in bests.items() if best is not None}
    score = entry.get("score")
    results["score"] = score if is_number(score) else math.nan
    epochs = {EPOCHS: values[EPOCHS]} if EPOCHS in values else {}
    state = STATES.get(str(entry.get("status")), "RUNNING")
    return Trial(params, results, state, {"trial": str(entry.get("trial_id", ""))} | epochs)


def _metrics(entry: Dict) -> dict[str, Dict]:
    tracked = entry.get("metrics")
    metrics = tracked.get("metrics") if isinstance(tracked, dict) else None
    pairs = metrics.items() if isinstance(metrics, dict) else ()
    return {str(name): metric for name, metric in pairs if isinstance(metric, dict)}


def _best(metric: Dict) -> float | None:
    """The score of a trial as in Keras Tuner: the mean of all executions, at the best step."""
    known = [mean for _, mean in _means(metric) if not math.isnan(mean)]
    if not known:
        return None
    return max(known) if metric.get("direction") == "max" else min(known)


def _means(metric: Dict) -> Iterator[tuple[Any, float]]:
    seen = metric.get("observations")
    for step in seen if isinstance(seen, list) else ():
        values = step.get("value") if isinstance(step, dict) else None
        numbers = [value for value in values if is_number(value)] if isinstance(values, list) else []
        if numbers:
            mean = math.fsum(numbers) / len(numbers) if all(map(math.isfinite, numbers)) else sum(numbers)
            yield step.get("step"), mean


def _points(entries: list[Dict], name: str) -> Iterator[Point]:
    for row, entry in enumerate(entries):
        for step, mean in _means(_metrics(entry).get(name, {})):
            if is_number(step):
                yield row, float(step), mean


def _objective(entries: list[Dict]) -> tuple[str, Direction | None]:
    """The metric that Keras Tuner used as the score, and its direction; "score" if the metric is unknown."""
    scored = [entry for entry in entries if is_number(entry.get("score"))]
    for name, metric in _metrics(scored[0]).items() if scored else ():
        bests = [_best(_metrics(entry).get(name, {})) for entry in scored]
        pairs = zip(bests, (entry["score"] for entry in scored), strict=True)
        if all(best is not None and math.isclose(best, score, rel_tol=1e-9, abs_tol=1e-300) for best, score in pairs):
            return name, DIRECTIONS.get(str(metric.get("direction")))
    return "score", None


def _space(fields: list[Any]) -> Space | None:
    domains: dict[str, Domain] = {}
    for field in fields:
        kind, config = field["class_name"], field["config"]
        name = str(config["name"])
        if kind == "Fixed" or name.startswith("tuner/"):
            continue
        domain = replace(_domain(kind, config), when=_conditions(config.get("conditions") or ()))
        domains[name] = _either(name, domains[name], domain) if name in domains else domain
    # Conditions on parameters that never change are not needed.
    settings = {
        name: replace(domain, when=tuple(one for one in domain.when if one[0] in domains))
        for name, domain in domains.items()
    }
    return Space(settings) if settings else None


def _domain(kind: str, config: Dict) -> Domain:
    match kind:
        case "Boolean":
            return Categorical((False, True))
        case "Choice":
            return as_choices(config["values"], ordered=bool(config.get("ordered")))
        case "Int" | "Float":
            low, high, log = config["min_value"], config["max_value"], config.get("sampling") == "log"
            return as_range(low, high, whole=kind == "Int", log=log, step=config.get("step"))
    raise SpaceError(f"{config['name']}: {kind!r} is not a known kind of setting")


def _conditions(conditions: Any) -> tuple[Condition, ...]:
    allowed: dict[str, list[Any]] = {}
    for condition in conditions:
        config = condition["config"]
        if condition["class_name"] != "Parent":
            raise SpaceError(f"{condition['class_name']!r} is not a known kind of condition")
        values = list(config["values"])
        name = str(config["name"])
        allowed[name] = [value for value in allowed[name] if value in values] if name in allowed else values
    return as_conditions(allowed)


def _either(name: str, one: Domain, two: Domain) -> Domain:
    """The domain of a parameter that exists under either of two conditions."""
    if replace(one, when=two.when) != two:
        raise SpaceError(f"{name} has two domains, {one!r} and {two!r}")
    if not one.when or not two.when:
        return replace(one, when=())
    if len(one.when) == len(two.when) == 1 and one.when[0][0] == two.when[0][0]:
        return replace(one, when=((one.when[0][0], tuple(dict.fromkeys((*one.when[0][1], *two.when[0][1])))),))
    raise SpaceError(f"{name} exists under two conditions on different parameters")
