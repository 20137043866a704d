"""TensorBoard's hparams plugin: folders of event files, one session each with its settings and results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import DataError, FormatError
from pedanova.sources.kind import Kind
from pedanova.sources.logs.events import Events, has_events, read_events
from pedanova.sources.logs.runs import folders_in
from pedanova.sources.logs.steps import check_results, length_notes
from pedanova.sources.logs.trials import Trial, tabulate

DEEPEST = 4
LOOK_AT = 200
STAMP = re.compile(r"\d{9,}(\.\d+)?")  # the folder that PyTorch's add_hparams makes inside that of the run


def fits(path: Path) -> bool:
    try:
        return path.is_dir() and next(_event_folders(path, most=LOOK_AT), None) is not None
    except OSError:
        return False


def _event_folders(place: Path, depth: int = DEEPEST, most: int | None = None) -> Iterator[Path]:
    if has_events(place):
        yield place
    if depth > 0:
        for inner in islice(sorted(folders_in(place)), most):
            if not inner.name.startswith("."):
                yield from _event_folders(inner, depth - 1, most)


def read(path: Path, study: str | None) -> Records:
    if study is not None:
        raise DataError(
            f"{study!r} is no study of {path}: TensorBoard knows none; give the folder of the runs you mean"
        )
    found, damaged = _read_all(path)
    sessions = [folder for folder, events in found.items() if events.settings]
    if not sessions:
        raise DataError(
            f"{path} holds {len(found):,} folders of event files, none with settings; write them with add_hparams "
            "(PyTorch) or hp.hparams (TensorFlow), or give a table of the runs"
        )
    if len(sessions) == 1:
        raise DataError(
            f"{path} holds the settings of a single run, {sessions[0].name}, and one row compares nothing; "
            "give the folder of all runs"
        )
    trials = [_trial(folder, found, path) for folder in sessions]
    check_results(trials, path, "in event files")
    notes = [Note("unused", f"{damaged:,} event files cannot be read; left out")] if damaged else []
    notes += length_notes(trials, "step", "steps")
    named = {name for folder in sessions for name in found[folder].metrics}
    results = {name for trial in trials for name in trial.results}
    metrics = tuple(sorted(named & results))
    metadata = SourceMetadata(
        source=f"TensorBoard runs {path.resolve().name!r}", objectives=metrics if len(metrics) == 1 else ()
    )
    return tabulate(trials, metadata, notes=notes)


def _read_all(path: Path) -> tuple[dict[Path, Events], int]:
    found: dict[Path, Events] = {}
    damaged = 0
    for folder in watched(list(_event_folders(path)), "runs"):
        try:
            found[folder] = read_events(folder)
        except FormatError:
            damaged += 1
    return found, damaged


def _trial(folder: Path, found: dict[Path, Events], root: Path) -> Trial:
    """A session has its own results, those of folders inside (train, validation), and those that stand beside
    the folder that PyTorch makes for the settings alone."""
    own = found[folder]
    results: dict[str, object] = {}
    steps = [own.steps]
    if STAMP.fullmatch(folder.name) and folder.parent in found and not found[folder.parent].settings:
        results |= found[folder.parent].last
        steps.append(found[folder.parent].steps)
    for inner, events in found.items():
        if folder in inner.parents and not events.settings:
            prefix = inner.relative_to(folder).as_posix()
            results |= {f"{prefix}/{name}": value for name, value in events.last.items()}
            steps.append(events.steps)
    results |= own.last
    name = folder.parent if STAMP.fullmatch(folder.name) and folder.parent != root else folder
    other: dict[str, object] = {"run": name.relative_to(root).as_posix()}
    known = [step for step in steps if step is not None]
    if known:
        other["step"] = max(known)
    state = "COMPLETE" if results else "RUNNING"
    return Trial(own.settings or {}, results, "FAIL" if own.state == "FAIL" else state, other)


KIND = Kind(
    "TensorBoard runs",
    "a folder with event files (events.out.tfevents.*) that hold settings of the hparams plugin",
    "pedanova analyze runs --objective hparam/accuracy",
    "path",
    fits,
    read,
)
