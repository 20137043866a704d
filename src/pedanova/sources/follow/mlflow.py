"""A store of MLflow, followed: a run is read when it has ended, and again where it went on and ended anew."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pedanova.errors import DataError
from pedanova.sources.databases import open_database, open_sqlite, without_password
from pedanova.sources.follow.look import Event, Look, in_parts
from pedanova.sources.logs.mlflow import (
    Run,
    choose,
    experiments_in,
    experiments_of,
    place_of,
    records_of,
    runs_in,
    runs_of,
)

ENDED = ("FINISHED", "FAILED", "KILLED")
AT_ONCE = 200  # runs in one query


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs of an experiment, in order; what is noted beside each changes when it ends."""

    key: str
    name: str
    stamps: Mapping[str, Hashable]
    read: Callable[[list[str]], list[Run]]


@dataclass(slots=True)
class MLflowFollow:
    """One experiment of a store."""

    place: str | Path
    study: str | None = None
    ordered: bool = True
    _key: str | None = None
    _known: dict[str, tuple[Hashable, Run | None]] = field(default_factory=dict)  # None: not ended yet

    def __post_init__(self) -> None:
        found = place_of(self.place) if isinstance(self.place, str) else None
        self.place = found or self.place
        self.ordered = not (isinstance(self.place, Path) and self.place.is_dir())

    @property
    def shown(self) -> str:
        return without_password(self.place) if isinstance(self.place, str) else str(self.place)

    def look(self) -> Look:
        with self._listed() as listing:
            anew = self._key not in (None, listing.key)
            known = {} if anew else self._known
            changed = {key for key, stamp in listing.stamps.items() if key not in known or known[key][0] != stamp}
            runs = {run.key: run for run in listing.read(sorted(changed)) if run.state in ENDED}
        found = {
            key: (stamp, runs.get(key) if key in changed else known[key][1]) for key, stamp in listing.stamps.items()
        }
        ended = {key: run for key, (_, run) in found.items() if run is not None}
        before = {key for key, (_, run) in known.items() if run is not None}
        moved = bool(runs) or before != ended.keys()
        records = records_of(list(ended.values()), listing.name, self.shown) if ended and moved else None
        self._known, self._key, self.study = found, listing.key, listing.key
        event: Event | None = "study anew" if anew else None
        return Look(records, len(ended.keys() - before), len(ended), len(found) - len(ended), event)

    @contextmanager
    def _listed(self) -> Iterator[Listing]:
        if isinstance(self.place, str):
            opened = open_database(self.place)
        elif self.place.is_file():
            opened = open_sqlite(self.place)
        elif self.place.is_dir():
            yield self._in_folder(self.place)
            return
        else:
            raise DataError(f"{self.place} does not exist; waiting for it to come back")
        with opened as database:
            chosen = choose(experiments_of(database), self.study, self.shown)
            key = next(k for (k,) in database.rows("SELECT experiment_id FROM experiments") if str(k) == chosen.key)
            end = "end_time" if "end_time" in database.columns("runs") else "NULL"
            rows = database.rows(
                f"SELECT run_uuid, status, {end} FROM runs WHERE experiment_id = ? AND lifecycle_stage = 'active' "
                "ORDER BY start_time, run_uuid",
                (key,),
            )

            def read(keys: list[str]) -> list[Run]:
                return [run for part in in_parts(keys, AT_ONCE) for run in runs_of(database, key, part)]

            stamps = {str(run): (str(status), end) for run, status, end in rows}
            yield Listing(chosen.key, chosen.name, stamps, read)

    def _in_folder(self, path: Path) -> Listing:
        chosen = choose(experiments_in(path), self.study, path)
        places = {place.name: place for place in chosen.places}
        stamps = {name: stamp_of(place / "meta.yaml") for name, place in places.items()}
        return Listing(chosen.key, chosen.name, stamps, lambda keys: runs_in([places[key] for key in keys]))


def stamp_of(file: Path) -> Hashable:
    try:
        found = file.stat()
    except OSError:  # it is just being replaced
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
