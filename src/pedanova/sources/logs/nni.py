"""NNI: the database of an experiment, nni.sqlite. Trials have events; the last event is the state of a trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pedanova.data.objectives import DIRECTIONS
from pedanova.data.records import Point, Records, SourceMetadata
from pedanova.errors import FormatError
from pedanova.sources.databases import Database
from pedanova.sources.logs.trials import Trial, left_out, only_numbers, tell
from pedanova.sources.reader import object_in
from pedanova.sources.spaces.described import Described, if_understood
from pedanova.sources.spaces.read import space_from_mapping
from pedanova.space.values import is_number, shown

FILE = "db/nni.sqlite"  # in the folder of an experiment
OBJECTIVE = "default"  # NNI's name for the metric that is optimised
STATES = {"SUCCEEDED": "COMPLETE", "FAILED": "FAIL", "EARLY_STOPPED": "PRUNED"}  # canceled trials did not end
EVENTS = "SELECT trialJobId, event, timestamp, data FROM TrialJobEvent ORDER BY timestamp, rowid"
METRICS = "SELECT trialJobId, sequence, data FROM MetricData WHERE type = ? ORDER BY timestamp, rowid"
PROFILE = "SELECT params FROM ExperimentProfile ORDER BY revision DESC LIMIT 1"

Dict = dict[str, Any]


def fits_tables(tables: set[str]) -> bool:
    return {"TrialJobEvent", "MetricData"} <= tables


def read_database(database: Database) -> Records:
    profile = database.rows(PROFILE) if "ExperimentProfile" in database.tables() else []
    about = object_in(profile[0][0] if profile else None)
    finals = {key: _metrics(database, data) for key, _, data in database.rows(METRICS, ("FINAL",))}
    events: dict[str, list[Any]] = {}
    for key, *event in database.rows(EVENTS):
        events.setdefault(key, []).append(event)
    read = {key: _trial(key, own, finals.get(key, {})) for key, own in events.items() if key}  # others are commands
    trials = {key: trial for key, trial in read.items() if trial is not None}
    if read and not trials:
        raise FormatError(
            f"{database.shown}: none of {len(read)} trials has settings that can be read; restore the file"
        )
    notes = left_out(len(read) - len(trials), "trials have no settings that can be read")
    way = object_in(object_in(about.get("tuner") or about.get("advisor")).get("classArgs")).get("optimize_mode")
    metadata = SourceMetadata(
        source=f"NNI experiment {about.get('experimentName') or database.shown!r}",
        objectives=(OBJECTIVE,),
        directions=(DIRECTIONS[way],) if isinstance(way, str) and way in DIRECTIONS else (),
        ordered=True,
    )
    described = if_understood(lambda: _space(about.get("searchSpace")), notes)
    points = partial(_points, database.reopen, {key: row for row, key in enumerate(trials)})
    return tell([*trials.values()], metadata, described, notes=notes, points=points)


def _trial(key: str, events: list[Any], results: Mapping[str, object]) -> Trial | None:
    """A trial from its events; None if none of them has its parameters."""
    settings = next((own for *_, data in events if (own := object_in(data).get("parameters"))), None)
    if not isinstance(settings, dict):
        return None
    last = events[-1][0]
    times = [time / 1000 for event, time, _ in events if is_number(time) and event != "WAITING"]
    other: Dict = {"trial": key}
    if times:
        start = datetime.fromtimestamp(times[0], UTC).replace(tzinfo=None)
        other |= {"start": start.isoformat(timespec="seconds"), "duration": times[-1] - times[0]}
    return Trial(settings, results or {OBJECTIVE: None}, STATES.get(last, "RUNNING"), other)


def _metrics(database: Database, data: object) -> dict[str, object]:
    """The numbers in a metric, which is a number or a dict; newer versions of NNI write it as JSON inside of JSON."""
    try:
        outer = json.loads(str(data))
        plain = json.loads(outer) if isinstance(outer, str) else outer
    except (ValueError, RecursionError):
        raise FormatError(f"{database.shown}: the metric {shown(data)} is not JSON; was the file damaged?") from None
    return only_numbers(plain if isinstance(plain, dict) else {OBJECTIVE: plain})


def _points(reopen: Any, rows: Mapping[str, int], metric: str) -> Iterator[Point]:
    with reopen() as database:
        for key, step, data in database.rows(METRICS, ("PERIODICAL",)):
            value = _metrics(database, data).get(metric)
            if key in rows and is_number(step) and is_number(value):
                yield rows[key], step, value


def _space(written: Any) -> Described | None:
    space = object_in(written)
    if not space:
        return None
    domains, notes = space_from_mapping(space)
    return Described(domains, tuple(notes))  # type: ignore[arg-type]
