"""How far a scan has come, in a file: the parts that are counted need not be read again.

The header tells what was asked, which parts are counted, and what the first look told; the body holds the
counts of those parts, as `store` writes them: a sum for each height of heaps (`heaps`). The file is replaced as a
whole, so that a crash leaves the last one. Whoever counts writes it, so it is for one machine: many have a folder
(`checkpoint_folder`), whose head is such a file without counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.base.files import framed, unframed, write_whole
from pedanova.base.notes import Note
from pedanova.counting import store
from pedanova.counting.counts import Counts
from pedanova.counting.levels import Levels
from pedanova.counting.tally import Tally
from pedanova.errors import Arg, DataError, FormatError, QueryError
from pedanova.scale.heaps import RunningHeaps
from pedanova.scale.parts import FirstLook, Plan
from pedanova.sources.scans.scan import Part
from pedanova.space.parameters import Space

MAGIC = b"\x89PEDC\r\n\x1a"
VERSION = 4
LEISURE = 20.0  # saving takes at most one part in so many of the time
WORDS = {
    "files": "the files are others, or were changed",
    "space": "the space is another",
    "objective": "the objective is {old}, not {new}",
}


@dataclass(slots=True)
class Progress:
    """All that is known of a scan whose thresholds are known."""

    levels: Levels
    space: Space
    look: FirstLook
    heaps: RunningHeaps = field(default_factory=RunningHeaps)
    done: set[int] = field(default_factory=set)  # places of the parts that are counted
    lost: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)  # on the space
    heap: tuple[int, int] = (1, 0)  # in a folder: parts of the smallest heaps, and the least height that is kept


@dataclass(slots=True)
class Checkpoint:
    """A file to save progress in."""

    path: Path
    asked: Mapping[str, Any]
    objective: str
    _begun: float = 0.0
    _spent: float = 0.0

    def load(self) -> Progress | None:
        """What was saved; None if nothing was. A file that is about something else is refused."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"checkpoint {self.path} cannot be read: {error.strerror or error}") from None
        return progress_in(content, self.asked, f"{self.path}")

    def save(self, progress: Progress, *, now: bool = False) -> None:
        """Write, unless that was done just before; `now` in any case."""
        start = time.monotonic()
        if not now and start - self._begun < LEISURE * self._spent:
            return
        write_whole(self.path, encode(self.asked, self.objective, progress))
        self._begun = time.monotonic()
        self._spent = self._begun - start


def progress_in(content: bytes, asked: Mapping[str, Any], shown: str) -> Progress:
    """What a checkpoint holds; refused where it is about something else, or damaged."""
    try:
        header, rest = unframed(content, MAGIC, [VERSION], "checkpoint")
        check_asked(asked, header["asked"], shown)
        return decode(header, bytes(rest))
    except (FormatError, KeyError, TypeError, ValueError, zlib.error) as error:
        if isinstance(error, QueryError):
            raise
        told = str(error) if isinstance(error, FormatError) else "its header is damaged"
        raise FormatError(f"checkpoint {shown}: {told}; delete it to begin anew") from None


def check_asked(asked: Mapping[str, Any], before: Mapping[str, Any], shown: str) -> None:
    for name, new in asked.items():
        old = before.get(name)
        if old != new:
            words = WORDS.get(name, "{name} was {old}, not {new}").format(name=name, old=old, new=new)
            raise QueryError(f"checkpoint {shown} is of another analysis: {words}; name another file, or delete it")


def encode(asked: Mapping[str, Any], objective: str, progress: Progress) -> bytes:
    levels, look, heaps = progress.levels, progress.look, progress.heaps
    bodies = [
        store.to_bytes(stored_of(counts, levels, progress.space, objective)) for counts in heaps.sums or [Counts()]
    ]
    slots = zlib.compress(np.asarray(look.counts).astype("<i8").tobytes(), 6)
    header = {
        "asked": dict(asked),
        "done": sorted(progress.done),
        "lost": progress.lost,
        "space": [note.to_dict() for note in progress.notes],
        "look": [look.rows, look.kept, look.single],
        "look_notes": [note.to_dict() for note in look.notes],
        "slots": [list(look.window), base64.b85encode(slots).decode()],
        "heap": list(progress.heap),
        "taken": heaps.taken,
        "heaps": [{"rows": counts.rows, "idle": sorted(counts.idle)} for counts in heaps.sums],
        "bodies": [len(body) for body in bodies],
    }
    return framed(MAGIC, VERSION, header, b"".join(bodies))


def decode(header: Mapping[str, Any], content: bytes) -> Progress:
    ends = np.cumsum([0, *header["bodies"]]).tolist()
    stored = [store.from_bytes(content[start:end]) for start, end in pairwise(ends)]
    sums = [counts_of(told, one) for told, one in zip(header["heaps"], stored, strict=False)]
    space = Space({name: tally.parameter for name, tally in stored[0].tallies.items()})
    return Progress(
        stored[0].levels,
        space,
        look_in(header),
        RunningHeaps(int(header["taken"]), sums),
        {int(place) for place in header["done"]},
        dict(header["lost"]),
        [*map(Note.from_dict, header["space"])],
        (int(header["heap"][0]), int(header["heap"][1])),
    )


def look_in(header: Mapping[str, Any]) -> FirstLook:
    (first, shift, slots), text = header["slots"]
    counted = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<i8").astype(np.int64)
    if len(counted) != slots + 1:
        raise FormatError(f"has {len(counted)} counts for {slots} slots")
    rows, kept, single = header["look"]
    notes = [*map(Note.from_dict, header["look_notes"])]
    return FirstLook(rows, kept, bool(single), (first, shift, slots), counted, notes)


def stored_of(counts: Counts, levels: Levels, space: Space, objective: str) -> store.Stored:
    """Counts as they are written."""
    tallies = {
        name: Tally(name, parameter, levels, *counts.tables[name])
        if name in counts.tables
        else Tally.empty(name, parameter, levels)
        for name, parameter in space.items()
    }
    return store.Stored(objective, counts.rows - counts.counted, levels, tallies, tuple(counts.notes), counts.moments)


def counts_of(told: Mapping[str, Any], stored: store.Stored) -> Counts:
    """The counts again; `told` has what stands in no tally."""
    rows = int(told["rows"])
    tables = {name: [np.array(tally.counts), np.array(tally.sums)] for name, tally in stored.tallies.items()}
    tables = tables if rows else {}  # as they were before the first part
    return Counts(rows, rows - stored.dropped, tables, stored.moments, list(stored.notes), frozenset(told["idle"]))


def question_of(
    plan: Plan, parts: Sequence[Part], *, space: Space | None, levels: object, columns: Sequence[object]
) -> dict[str, Any]:
    """All that the counts hang on, as plain values."""
    request, policies = plan.request, plan.request.policies
    cuts: Any = levels
    if isinstance(levels, Levels):
        cuts = [levels.direction, *levels.thresholds.tolist()]
    asked = {
        "files": fingerprint(parts),
        "objective": plan.objective,
        "direction": plan.direction,
        "space": None if space is None else space.to_dict(),
        "where": None if request.where is None else repr(request.where),
        "feasible": None if request.feasible is None else repr(request.feasible),
        "state": request.state,
        "nan": policies.nan,
        "failed": policies.failed,
        "pruned": policies.pruned,
        "infeasible": policies.infeasible,
        "levels": None if cuts is None else [str(cut) for cut in cuts],
        "params": [str(name) for name in columns],
    }
    plain: dict[str, Any] = json.loads(json.dumps(asked))
    return plain


def fingerprint(parts: Sequence[Part]) -> str:
    """Of the paths, sizes and times of change of all files."""
    marks = [getattr(part, "mark", None) for part in parts]
    if None in marks:
        words = (
            " is for files: other tables may change between two readings; give the path of its files, if it has some"
        )
        raise QueryError(Arg("checkpoint"), words)
    return hashlib.sha256(repr(marks).encode()).hexdigest()
