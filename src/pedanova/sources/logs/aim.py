"""Aim: the run store `.aim`. Its databases are opened by the storage library alone, read-only.

Aim itself is not asked: it mends, indexes and deletes what it finds as soon as a store is opened.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.data.records import Records, SourceMetadata
from pedanova.errors import Arg, DataError, FormatError, MissingLibraryError, listed
from pedanova.sources.databases import open_sqlite
from pedanova.sources.kind import Kind
from pedanova.sources.logs.steps import check_results, length_notes
from pedanova.sources.logs.trials import Trial, tabulate

STORE = ".aim"
BETWEEN = 0xFE  # ends a step of a path; before eight bytes it says that they are a number
NOTHING = object()  # what stands for a list, an object or something that only Aim can make

Tree = dict[str | int, Any]


@dataclass(frozen=True, slots=True)
class AimRun:
    """What the table of runs tells."""

    name: str
    experiment: str
    archived: bool


def fits(path: Path) -> bool:
    try:
        return _store(path) is not None
    except OSError:
        return False


def _store(path: Path) -> Path | None:
    """The store itself, or the one inside."""
    for place in (path, path / STORE):
        if (place / "meta" / "chunks").is_dir() and (place / "run_metadata.sqlite").is_file():
            return place
    return None


def read(path: Path, study: str | None) -> Records:
    store = _store(path) or path
    known = _known_runs(store / "run_metadata.sqlite")
    experiment = _experiment(known, study, path)
    trials, damaged, bare = [], 0, 0
    chunks = {place.name: place for place in sorted((store / "meta" / "chunks").iterdir()) if place.is_dir()}
    wanted = [name for name, run in known.items() if run.experiment == experiment and not run.archived]
    for name in watched([name for name in wanted if name in chunks], "runs"):
        try:
            tree = _tree(chunks[name])
        except FormatError:
            damaged += 1
            continue
        trial = _trial(known[name], tree)
        bare += not trial.params
        trials += [trial] if trial.params else []
    check_results(trials, path, "that was tracked")
    notes = [Note("unused", f"{damaged:,} runs cannot be read; left out")] if damaged else []
    notes += [Note("unused", f"{bare:,} runs have no settings; left out")] if bare else []
    return tabulate(
        trials,
        SourceMetadata(source=f"Aim experiment {experiment!r}"),
        notes=[*notes, *length_notes(trials, "step", "steps")],
    )


# ── the table of runs ───────────────────────────────────────────────────────────────────────────


def _known_runs(file: Path) -> dict[str, AimRun]:
    """By their hashes, in the order in which they were made."""
    query = (
        "SELECT run.hash, run.name, experiment.name, run.is_archived FROM run "
        "LEFT JOIN experiment ON run.experiment_id = experiment.id ORDER BY run.id"
    )
    with open_sqlite(file) as database:
        rows = database.rows(query)
    return {
        str(key): AimRun(str(name or key), str(experiment or "default"), bool(archived))
        for key, name, experiment, archived in rows
    }


def _experiment(known: Mapping[str, AimRun], study: str | None, path: Path) -> str:
    counts = Counter(run.experiment for run in known.values() if not run.archived)
    if not counts:
        raise DataError(f"{path} holds no runs of Aim; nothing can be counted")
    if study is not None and study not in counts:
        raise DataError(Arg("study", study), f" is no experiment in {path}; there are: {listed(list(counts))}")
    if study is None and len(counts) > 1:
        raise DataError(
            f"{path} holds {len(counts)} experiments of Aim; name one in ",
            Arg("study"),
            f": {', '.join(f'{name} ({rows})' for name, rows in counts.items())}",
        )
    return study or next(iter(counts))


# ── one run ─────────────────────────────────────────────────────────────────────────────────────


def _trial(run: AimRun, tree: Tree) -> Trial:
    attributes = tree.get("attrs")
    settings = attributes if isinstance(attributes, dict) else {}
    results: dict[str, object] = {}
    steps: list[int] = []
    for name, trace in _traces(tree):
        results[name] = trace["last"]
        step = trace.get("last_step")
        steps += [step] if isinstance(step, int) else []
    other: dict[str, object] = {"run": run.name} | ({"step": max(steps)} if steps else {})
    ended = tree.get("end_time") is not None
    params = {str(key): value for key, value in settings.items() if not str(key).startswith("__")}
    return Trial(params, results, "COMPLETE" if ended else "RUNNING", other)


def _traces(tree: Tree) -> Iterator[tuple[str, Tree]]:
    """Numbers by name, as in val/loss: what a context says stands before the name; the machine's own are left out."""
    contexts = tree.get("contexts")
    traces = tree.get("traces")
    for key, inside in traces.items() if isinstance(traces, dict) else ():
        context = contexts.get(key) if isinstance(contexts, dict) else None
        words = [str(context[word]) for word in sorted(context, key=str)] if isinstance(context, dict) else []
        for name, trace in inside.items() if isinstance(inside, dict) else ():
            last = trace.get("last") if isinstance(trace, dict) else None
            if isinstance(last, int | float) and not isinstance(last, bool) and not str(name).startswith("__"):
                yield "/".join([*words, str(name)]), trace


def _tree(chunk: Path) -> Tree:
    """All that a run's database holds, under its own branch."""
    root: Tree = {}
    for key, value in _pairs(chunk):
        try:
            path, plain = list(_steps(key)), _plain(value)
        except (ValueError, IndexError, struct.error):
            raise FormatError(f"{chunk} is no store of a known version of Aim: {key[:40]!r}") from None
        if path[:1] == ["meta"] and path[1:3] == ["chunks", chunk.name]:
            _put(root, path[3:], plain)
    return _listed(root)  # type: ignore[no-any-return]


def _pairs(chunk: Path) -> list[tuple[bytes, bytes]]:
    try:
        import aimrocks
    except ImportError:
        raise MissingLibraryError(f"{chunk}: a store of Aim needs aimrocks; pip install 'pedanova[aim]'") from None
    try:
        database = aimrocks.DB(str(chunk), aimrocks.Options(create_if_missing=False), read_only=True)
        found = database.iteritems()
        found.seek_to_first()
        return list(found)
    except Exception as error:  # of RocksDB: Corruption, RocksIOError and five others without a common base
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise FormatError(f"{chunk} cannot be read: {reason}; was it damaged?") from None


def _steps(key: bytes) -> Iterator[str | int]:
    """The steps of a path, texts and numbers.

    Examples
    --------
    >>> list(_steps(bytes([97, 254, 254, 0, 0, 0, 0, 0, 0, 0, 3, 254])))
    ['a', 3]
    """
    at = 0
    while at < len(key):
        if key[at] == BETWEEN:
            yield int(struct.unpack(">q", key[at + 1 : at + 9])[0])
            at += 10
        else:
            end = key.index(BETWEEN, at)
            yield key[at:end].decode()
            at = end + 1


def _plain(value: bytes) -> object:
    """A value by the sign before it."""
    match value[0]:
        case 0:
            return None
        case 1:
            return value[1] != 0
        case 2:
            return int.from_bytes(value[1:], "little", signed=True)
        case 3:
            return struct.unpack("<d", value[1:])[0]
        case 4:
            return value[1:].decode()
    return NOTHING


def _put(root: Tree, path: list[str | int], value: object) -> None:
    inside = root
    for step in path[:-1]:
        deeper = inside.setdefault(step, {})
        if not isinstance(deeper, dict):
            return
        inside = deeper
    if path and value is not NOTHING:
        inside[path[-1]] = value
    elif path:
        inside.setdefault(path[-1], {})


def _listed(tree: Any, depth: int = 0) -> Any:
    """The same with lists where a branch has only numbers from 0 on."""
    if not isinstance(tree, dict) or depth > 60:
        return tree
    inner = {key: _listed(value, depth + 1) for key, value in tree.items()}
    return list(inner.values()) if inner and list(inner) == list(range(len(inner))) else inner


KIND = Kind(
    "Aim store",
    "a folder .aim with meta/chunks and run_metadata.sqlite, or one that holds it",
    "pedanova analyze .aim --study my-experiment --objective val/loss",
    "path",
    fits,
    read,
)
