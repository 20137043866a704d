"""Replay Optuna's journal files: one operation per line, as JSON. Another process may still be writing the file.

A trial's key is its position among all trials of the journal. Operations on a finished trial or a deleted study are
ignored. The journal also contains operations that Optuna rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Records
from pedanova.data.regions import Direction
from pedanova.errors import FormatError, NoTrialsError
from pedanova.sources.optuna.study_log import STATES, LoggedTrial, as_records, log_of_trials, pick_study
from pedanova.sources.spaces.read import read_distribution
from pedanova.space.values import shown

CREATE_STUDY, DELETE_STUDY, STUDY_ATTRIBUTE, CREATE_TRIAL = 0, 1, 3, 4  # the codes of the operations
CHANGES = PARAM, STATE, REPORT, USER_ATTRIBUTE, SYSTEM_ATTRIBUTE = 5, 6, 7, 8, 9
ENDED = ("COMPLETE", "PRUNED", "FAIL")
Operation = Mapping[str, Any]


@dataclass(slots=True)
class Study:
    name: str
    directions: list[Direction]
    trials: list[LoggedTrial] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    first: dict[str, str] = field(default_factory=dict)  # name → its first distribution


@dataclass(slots=True)
class Journal:
    studies: dict[int, Study] = field(default_factory=dict)
    made: int = 0  # the number of studies ever created
    trials: list[tuple[Study, LoggedTrial]] = field(default_factory=list)  # of all studies, in order of creation


def is_journal(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as lines:
        first = json.loads(lines.readline(100_000))
    return isinstance(first, dict) and "op_code" in first and "worker_id" in first


def read_journal(path: Path, study: str | None) -> Records:
    journal, notes = replay(path)
    if not journal.studies:
        raise NoTrialsError(f"{path} holds no study yet")
    studies = {one.name: (one, len(one.trials)) for one in journal.studies.values()}
    one = pick_study(studies, study, path)
    return as_records(log_of_trials(one.name, one.directions, one.trials, one.metrics, notes))


def replay(path: Path) -> tuple[Journal, list[Note]]:
    journal = Journal()
    size = path.stat().st_size  # later lines are not read
    with path.open("rb") as lines:
        for number, line in enumerate(watched(lines, "operations"), start=1):
            size -= len(line)
            if size > 0 and not line.endswith(b"\n"):
                break
            if size < 0 or not line.endswith(b"\n"):
                return journal, [Note("unused", "the journal's last line is still being written, so it is left out")]
            if not line.strip():
                continue
            try:
                apply(journal, json.loads(line))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
                text = shown(line.decode(errors="replace").strip())
                words = f"{path}: line {number}, {text}, is not an operation that Optuna writes; correct or remove it"
                raise FormatError(words) from None
    if size > 0:
        raise FormatError(f"{path} became shorter while it was being read; restore it, or read it again")
    return journal, []


def apply(journal: Journal, operation: Operation) -> None:
    """Apply one operation; an operation that is no longer valid is ignored, as in Optuna."""
    code = operation["op_code"]
    study = journal.studies.get(operation["study_id"]) if code in (STUDY_ATTRIBUTE, CREATE_TRIAL) else None
    if code == CREATE_STUDY and not any(study.name == operation["study_name"] for study in journal.studies.values()):
        directions: list[Direction] = ["maximize" if code == 2 else "minimize" for code in operation["directions"]]
        journal.studies[journal.made] = Study(str(operation["study_name"]), directions or ["minimize"])
        journal.made += 1
    elif code == DELETE_STUDY:
        journal.studies.pop(operation["study_id"], None)
    elif code == STUDY_ATTRIBUTE:
        names = operation["system_attr"].get("study:metric_names")
        if study is not None and isinstance(names, list):
            study.metrics = [str(name) for name in names]
    elif code == CREATE_TRIAL and study is not None:
        _create_trial(journal, study, operation)
    elif code in CHANGES:
        _change_trial(journal, operation)


def _create_trial(journal: Journal, study: Study, operation: Operation) -> None:
    distributions = operation.get("distributions", {})
    trial = LoggedTrial(
        state=STATES[operation.get("state", 0)],
        params={key: (float(value), str(distributions[key])) for key, value in operation.get("params", {}).items()},
        values=as_values(operation.get("values")),
        reports={int(step): float(value) for step, value in operation.get("intermediate_values", {}).items()},
        user=dict(operation.get("user_attrs", {})),
        system=dict(operation.get("system_attrs", {})),
        begin=operation.get("datetime_start"),
        end=operation.get("datetime_complete"),
    )
    if trial.values is None and operation.get("value") is not None:
        trial.values = as_values([operation["value"]])
    for name, (_, text) in trial.params.items():
        study.first.setdefault(name, text)
    study.trials.append(trial)
    journal.trials.append((study, trial))


def as_values(given: object) -> list[float] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise TypeError
    return [float(value) for value in given]


def _change_trial(journal: Journal, operation: Operation) -> None:
    key = operation["trial_id"]
    if not 0 <= key < len(journal.trials):
        return
    study, trial = journal.trials[key]
    if trial.state in ENDED:
        return
    code = operation["op_code"]
    if code == PARAM:
        name, text = str(operation["param_name"]), str(operation["distribution"])
        if are_alike(study.first.setdefault(name, text), text):  # otherwise Optuna rejected it
            trial.params[name] = float(operation["param_value_internal"]), text
    elif code == STATE:
        state = STATES[operation["state"]]
        if state == trial.state == "RUNNING":  # another worker already runs it
            return
        trial.state = state
        trial.values = as_values(operation["values"]) or trial.values
        trial.begin = operation.get("datetime_start") or trial.begin
        trial.end = operation.get("datetime_complete") or trial.end
    elif code == REPORT:
        trial.reports[int(operation["step"])] = float(operation["intermediate_value"])
    elif code == USER_ATTRIBUTE:
        trial.user.update(operation["user_attr"])
    else:
        trial.system.update(operation["system_attr"])


@lru_cache(maxsize=1000)
def are_alike(one: str, two: str) -> bool:
    """Whether Optuna accepts both distributions for the same parameter; they may have different bounds."""
    a, b = (read_distribution(text, "a parameter") for text in (one, two))
    return (a.kind, a.log, a.choices) == (b.kind, b.log, b.choices)
