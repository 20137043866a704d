"""How far a scan has come, in a folder: workers keep what they count there themselves.

The head, which the driver writes, is a checkpoint without counts: what was asked, the space, the thresholds. Beside it
lie heaps: the counts of some parts, each in a file that the worker wrote which counted them. A heap of sixteen heaps
takes their place, and so on until one holds all: files are what every kind of worker can hand to another, and the
driver sees their names alone, and the last of them. A heap counts only if its checksum fits, it belongs to this very
head, and it is about the parts that it should be about; else these are counted again.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pedanova.base.files import framed, unframed
from pedanova.base.progress import Meter
from pedanova.counting import store
from pedanova.counting.counts import Counts
from pedanova.counting.levels import Levels
from pedanova.errors import DataError, FormatError
from pedanova.scale.checkpoint import Progress, counts_of, encode, progress_in, stored_of
from pedanova.scale.heaps import GROUP
from pedanova.scale.parts import Plan
from pedanova.scale.readers import Bundle, Crew, workers_of
from pedanova.sources.scans.shared_folder import SharedFolder

MAGIC = b"\x89PEDH\r\n\x1a"
VERSION = 1
SMALL_PART = 2_000_000  # rows, which are counted about as soon as their counts are written
HEAD = "head.pedc"
HEAP = re.compile(r"heap-([0-9a-f]{16})-([0-9]+)-([0-9]+)\.pedh")

Count = Callable[..., Counts]  # (bundle, plan, levels, meter) → its counts


@dataclass(frozen=True, slots=True)
class Heaps:
    """The heaps of one run: where they lie, and which parts each is about."""

    folder: SharedFolder
    run: str  # the digest of its head
    size: int  # parts of the smallest heaps
    low: int  # the least height of those that are kept
    parts: int

    @property
    def height(self) -> int:
        """Of the heap that holds all."""
        height, span = 0, self.size
        while span < self.parts:
            height, span = height + 1, span * GROUP
        return height

    def number(self, height: int, place: int) -> int:
        return int(place // (self.size * GROUP**height))

    def name(self, height: int, bundle: Bundle) -> str:
        return f"heap-{self.run}-{height}-{self.number(height, bundle.places[0])}.pedh"

    def split(self, bundle: Bundle, height: int) -> list[Bundle]:
        """The bundles of the heaps of this height that are in it."""
        pairs = zip(bundle.places, bundle.parts, strict=True)
        groups = [list(own) for _, own in groupby(pairs, lambda pair: self.number(height, pair[0]))]
        return [Bundle(tuple(part for _, part in own), tuple(place for place, _ in own)) for own in groups]

    def load(self, height: int, bundle: Bundle) -> Counts | None:
        """What a file holds; None where there is none, or none that can be trusted."""
        content = self.folder.read(self.name(height, bundle))
        if content is None:
            return None
        try:
            header, body = unframed(content, MAGIC, [VERSION], "heap of counts")
            if header["run"] != self.run or header["places"] != list(bundle.places):
                return None
            return counts_of(header, store.from_bytes(bytes(body)))
        except (FormatError, KeyError, TypeError, ValueError, zlib.error):
            return None

    def save(self, height: int, bundle: Bundle, counts: Counts, plan: Plan, levels: Levels) -> None:
        header = {"run": self.run, "places": bundle.places, "rows": counts.rows, "idle": sorted(counts.idle)}
        body = store.to_bytes(stored_of(counts, levels, plan.space, plan.objective))
        self.folder.write(self.name(height, bundle), framed(MAGIC, VERSION, header, body))


def heap_of(
    bundle: Bundle, plan: Plan, levels: Levels, heaps: Heaps, height: int, count: Count, meter: Meter | None = None
) -> Counts:
    """The counts of a heap, as they are kept; else of those it is made of, or of its parts, and then kept."""
    found = heaps.load(height, bundle) if height >= heaps.low else None
    if found is not None:
        return found
    inner = heaps.split(bundle, height - 1) if height else []
    if height:
        found = Counts.sum(heap_of(one, plan, levels, heaps, height - 1, count, meter) for one in inner)
    else:
        found = count(bundle, plan, levels, meter=meter)
    if height >= heaps.low:
        heaps.save(height, bundle, found, plan, levels)
    for one in inner if height > heaps.low else ():
        heaps.folder.remove(heaps.name(height - 1, one))
    return found


def keep_heap(
    bundle: Bundle, plan: Plan, levels: Levels, heaps: Heaps, height: int, count: Count, meter: Meter | None = None
) -> str:
    """See to it that a heap is kept; only its name travels."""
    heap_of(bundle, plan, levels, heaps, height, count, meter)
    return heaps.name(height, bundle)


def least_height(crew: Crew) -> int:
    """Of the heaps that are kept: small parts are, for each one's sake, only where else workers would have to wait."""
    many = len(crew.parts)
    small = crew.rows is not None and crew.rows < SMALL_PART * many
    return 1 if small and many >= 4 * GROUP * workers_of(crew.executor) else 0


@dataclass(slots=True)
class CheckpointFolder:
    """A folder to save progress in, which all workers may write."""

    folder: SharedFolder
    asked: Mapping[str, Any]
    objective: str
    head: bytes = b""

    def load(self) -> Progress | None:
        """What was saved; None if nothing was. A folder that is about something else is refused."""
        self.folder.prepare()
        self.head = self.folder.read(HEAD) or b""
        return progress_in(self.head, self.asked, f"{self.folder}") if self.head else None

    def go_on(self, progress: Progress, crew: Crew, plan: Plan, count: Count) -> Counts:
        """Let the crew count what is in no heap yet, and heap it up."""
        heaps = self._heaps(progress, crew)
        every = Bundle(crew.parts, tuple(range(len(crew.parts)))).without(*crew.lost)
        if every is None:
            return Counts()
        found = heaps.load(heaps.height, every)
        if found is None:
            there = set(self.folder.names()) - {heaps.name(heaps.height, every)}
            self._pile(heaps, every, there, crew, (plan, progress.levels), count)
            found = heaps.load(heaps.height, every)
        if found is None:
            raise DataError(f"checkpoint {self.folder} does not give back what was written; choose another place")
        self._sweep({HEAD, heaps.name(heaps.height, every)})
        return found

    def _heaps(self, progress: Progress, crew: Crew) -> Heaps:
        """Those of the head that lies there, or of a new one, where none is or a part was lost since."""
        if not self.head:
            self.folder.prepare()
            self._sweep({HEAD})
            progress.heap = crew.parts_at_once(len(crew.parts)), least_height(crew)
            self.head = encode(self.asked, self.objective, progress)
            self.folder.write(HEAD, self.head)
        return Heaps(self.folder, hashlib.sha256(self.head).hexdigest()[:16], *progress.heap, len(crew.parts))

    def _pile(
        self, heaps: Heaps, every: Bundle, there: set[str], crew: Crew, asked: tuple[Plan, Levels], count: Count
    ) -> None:
        """From the smallest heaps to the one of all: of every height those that nothing higher holds already."""
        for height in range(heaps.low, heaps.height + 1):
            above = range(height, heaps.height + 1)
            lacking = [
                bundle
                for bundle in heaps.split(every, height)
                if not any(heaps.name(one, bundle) in there for one in above)
            ]
            what = "rows to count" if height == heaps.low else "heaps of counts to add"
            for _ in crew.each_of(lacking, keep_heap, *asked, heaps, height, count, what=what):
                pass
        crew.readings += 1

    def _sweep(self, kept: Iterable[str]) -> None:
        """Remove heaps that nobody needs any more; whatever else lies in the folder is none of ours."""
        for name in self.folder.names():
            if HEAP.fullmatch(name) and name not in kept:
                self.folder.remove(name)
