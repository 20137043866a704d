"""Summarise each column of a large table in one reading, to guess the space.

The summary of a column has a sample of its rows, the smallest and the largest value, all values if there are few, and
all categories. This is enough to guess the same space as from the whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.base.progress import Meter
from pedanova.data.column import PLAIN, Column, Form, every_form, in_form, note_on, reads_all, take
from pedanova.data.column_values import MOST_WORDS, is_word
from pedanova.data.conditions import Presence
from pedanova.errors import DataError
from pedanova.scale.parts import SLICE, Plan, batches_of, spoken_for
from pedanova.sources.scans.scan import Part
from pedanova.space.grid import MAX_CELLS
from pedanova.space.values import Label

SAMPLE = 4096  # rows of each batch
MOST = 200_000  # rows of all samples
MOST_VALUES = 1 << 24  # values in the samples of all columns together
FEW = 200  # up to this many distinct numbers, all are stored


@dataclass(slots=True)
class Sketch:
    """A summary of one column, from the rows read so far."""

    name: str
    most: int = MOST  # rows of the sample
    rows: int = 0  # rows with a value
    sample: list[NDArray[Any]] = field(default_factory=list)
    stride: int = 1  # one in this many rows of further samples is used
    low: Any = None  # the smallest and the largest finite number
    high: Any = None
    broken: float | None = None  # a number that is not whole
    values: dict[Any, None] | None = field(default_factory=dict)  # all numbers; None if they are many
    labels: dict[Label, None] = field(default_factory=dict)
    forms: dict[Form, Sketch] | None = None  # for texts that may all be numbers: their sketch in every possible format
    words: dict[Label, None] = field(default_factory=dict)  # texts that are not numbers, while there are few
    others: Sketch | None = None  # the numbers among these texts
    kind: str = ""  # labels, time or numbers, from the first batch with a value
    gaps: bool = False
    counts_on: bool = True  # whether each value is the value before plus one
    ends: tuple[Any, Any] | None = None  # the first and the last row

    @classmethod
    def of(cls, column: Column, forms: Iterable[Form] | None = None) -> Sketch:
        """Summarise some rows; `forms` are the number formats in which all texts of earlier rows can be read."""
        absent, sketch = column.absent(), cls(column.name)
        sketch.gaps = bool(absent.any())
        if absent.all():
            return sketch
        present = column.values[~absent] if sketch.gaps else column.values
        sketch.rows = len(present)
        if column.labels is not None:
            sketch.kind = "labels"
            used = [column.labels[code] for code in np.unique(present)]
            sketch.labels = dict.fromkeys(used)
            may_be = every_form(used) if forms is None else [form for form in forms if reads_all(form, used)]
            sketch.forms = {form: cls.of(in_form(column, form)) for form in may_be}
            sketch.words = dict.fromkeys(label for label in used if is_word(label))
            sketch.others = cls.of(in_form(column, PLAIN))
            return sketch
        piece = present[:: max(1, len(present) // SAMPLE)].copy()  # a view would keep the whole batch alive
        sketch.kind, sketch.sample = "time" if column.is_time else "numbers", [piece]
        if sketch.kind == "numbers":
            sketch._measure(present, piece)
        return sketch

    def add(self, column: Column) -> None:
        self.join(Sketch.of(column, self.forms))

    def numbers(self, decimal: str | None = None) -> tuple[Form, Sketch] | None:
        """If all texts are numbers, the number format and the summary of the numbers; otherwise None."""
        forms = self.forms or {}
        form = next((form for form in forms if decimal == "," and form.name == "comma"), next(iter(forms), None))
        return None if form is None else (form, forms[form])

    def _take(self, pieces: Sequence[NDArray[Any]], stride: int = 1) -> None:
        """Add a sample of every `stride`-th row; if the old or the new sample is denser, it is thinned to match."""
        while self.stride < stride:
            self._halve()
        step = self.stride // stride
        self.sample += [piece if step == 1 else piece[::step].copy() for piece in pieces]
        if sum(map(len, self.sample)) > 2 * self.most:
            self._halve()

    def _halve(self) -> None:
        self.sample = [np.concatenate(self.sample)[::2].copy()] if self.sample else []
        self.stride *= 2

    def _measure(self, present: NDArray[Any], piece: NDArray[Any]) -> None:
        whole = present.dtype.kind in "iub"
        finite = present if whole else present[np.isfinite(present)]
        self.ends = present[0].item(), present[-1].item()
        self.counts_on = present.dtype.kind in "iu" and bool(np.all(present[1:] == present[:-1] + 1))
        if not len(finite):
            return
        self.low, self.high = finite.min().item(), finite.max().item()
        odd = finite != np.floor(finite) if not whole else np.zeros(1, dtype=bool)
        self.broken = finite[np.argmax(odd)].item() if odd.any() else None
        few = len(np.unique(piece)) <= FEW
        self.values = dict.fromkeys(np.unique(finite).tolist()) if few else None

    def join(self, other: Sketch) -> None:
        self.gaps = self.gaps or other.gaps
        if not other.kind:
            return
        self.kind = self.kind or other.kind
        if other.kind != self.kind:
            raise DataError(f"{self.name}: some rows hold {self.kind} and others {other.kind}; use one type")
        self.rows += other.rows
        self._take(other.sample, other.stride)
        if other.low is not None:
            self.low = other.low if self.low is None else min(self.low, other.low)
            self.high = other.high if self.high is None else max(self.high, other.high)
        self.broken = other.broken if self.broken is None else self.broken
        self.values = None if self.values is None or other.values is None else self.values | other.values
        self.values = None if self.values is None or len(self.values) > FEW else self.values
        if len(self.labels) <= MAX_CELLS:
            self.labels |= other.labels
        self._join_forms(other)
        if other.ends is not None:
            follows = self.ends is None or other.ends[0] == self.ends[1] + 1
            self.counts_on = self.counts_on and other.counts_on and follows
            self.ends = other.ends if self.ends is None else (self.ends[0], other.ends[1])

    def _join_forms(self, other: Sketch) -> None:
        if other.forms is None:
            return
        if self.forms is None:
            self.forms = {form: Sketch(self.name) for form in other.forms}
        self.forms = {form: sketch for form, sketch in self.forms.items() if form in other.forms}
        for form, sketch in self.forms.items():
            sketch.join(other.forms[form])
        self.words |= other.words
        if other.others is not None:
            self.others = self.others or Sketch(self.name)
            self.others.join(other.others)

    def _with_words(self) -> Column | None:
        """If the texts are many numbers and a few words, a categorical column of numbers and words; otherwise None."""
        if self.others is None or not 0 < len(self.words) <= MOST_WORDS or len(self.labels) <= MAX_CELLS:
            return None
        numbers = self.others.column()
        values, codes = np.unique(numbers.values[~numbers.absent()], return_inverse=True)
        labels = (*values.tolist(), *self.words)
        behind = [*range(len(values), len(labels)), *([-1] if self.gaps else [])]
        return Column(self.name, np.concatenate([codes, behind]).astype(np.int32), labels)

    def column(self, decimal: str | None = None) -> Column:
        """A small column that leads to the same guessed domain as all rows."""
        numbers = self.numbers(decimal)
        if numbers is not None:
            return numbers[1].column()
        mixed = self._with_words()
        if mixed is not None:
            return mixed
        if self.kind == "labels":
            labels = tuple(sorted(self.labels, key=str))
            codes = np.resize(
                np.arange(len(labels), dtype=np.int32), min(max(self.rows, len(labels)), 20 * len(labels))
            )
            return Column(self.name, np.append(codes, np.int32(-1)) if self.gaps else codes, labels)
        if not self.sample:
            return Column(self.name, np.full(2, np.nan))
        if self.kind == "numbers" and self.counts_on and self.rows >= SAMPLE and not self.gaps:
            return Column(self.name, np.arange(self.ends[0], self.ends[0] + 20))  # type: ignore[index]
        values = self._completed(np.concatenate(self.sample))
        missing = None
        if self.gaps:
            values = np.append(values, values[-1:])
            missing = np.arange(len(values)) == len(values) - 1
        return Column(self.name, values, None, missing)

    def _completed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add the smallest value (first), the largest value (last) and other necessary values to a sample."""
        if self.low is None:
            return values
        wanted = [v for v in dict.fromkeys([*(self.values or ()), self.broken, self.low, self.high]) if v is not None]
        there = np.isin(np.array(wanted, dtype=values.dtype), values).tolist()
        lacking = [v for v, present in zip(wanted, there, strict=True) if not present]
        extra = [v for v in lacking if v not in (self.low, self.high)]
        first, last = ([v] if v in lacking else [] for v in (self.low, self.high))
        pieces = [np.array(piece, dtype=values.dtype) for piece in (first, extra, last)]
        return np.concatenate([pieces[0], pieces[1], values, pieces[2]])


def survey_part(
    part: Part, plan: Plan, names: Sequence[str], most: int = MOST, meter: Meter | None = None
) -> list[Sketch]:
    """Summarise the columns `names` of a part, from the rows that are kept."""
    sketches = [Sketch(name, most) for name in names]
    for columns in _read(part, plan, meter):
        for sketch in sketches:
            sketch.add(columns[sketch.name])
    return sketches


def joined_sketches(parts: Iterable[list[Sketch]]) -> list[Sketch]:
    total: list[Sketch] = []
    for sketches in parts:
        total = total or [Sketch(sketch.name, sketch.most) for sketch in sketches]  # the given ones are not changed
        for sketch, more in zip(total, sketches, strict=True):
            sketch.join(more)
    return total


def presence_part(
    part: Part,
    plan: Plan,
    children: Sequence[str],
    parents: Sequence[str],
    forms: Mapping[str, Form],
    meter: Meter | None = None,
) -> Presence:
    """For each value of a possible parent, count in how many kept rows each child has a value."""
    tables = (
        {
            name: in_form(column, forms[name]) if name in forms and column.labels else column
            for name, column in t.items()
        }
        for t in _read(part, plan, meter)
    )
    return Presence.sum(Presence.of(columns, children, parents) for columns in tables)


def _read(part: Part, plan: Plan, meter: Meter | None) -> Iterator[Mapping[str, Column]]:
    if plan.request.is_plain:
        for records in part.batches(plan.needs):
            yield records.columns
            if meter is not None:
                meter.add(records.rows)
        return
    for observed in batches_of(part, plan, meter):
        if observed.keep is None or observed.keep.any():
            kept = observed.keep
            yield observed.table if kept is None else take(observed.table, np.flatnonzero(kept))


def _forms_in(sketches: Iterable[Sketch], decimal: str | None) -> Iterator[tuple[str, tuple[Form, Note]]]:
    for sketch in sketches:
        numbers = sketch.numbers(decimal)
        if numbers is not None:
            texts = Column(sketch.name, np.empty(0, dtype=np.int32), tuple(sketch.labels))
            names = {form.name for form in sketch.forms or ()}
            unsure = decimal is None and {"thousands", "comma"} <= names and "plain" not in names
            yield sketch.name, (numbers[0], note_on(texts, numbers[0], unsure=unsure))


@dataclass(frozen=True, slots=True, eq=False)
class SurveyedColumns:
    """Small columns that represent the columns of a table in parts when the space is guessed."""

    workers: Any  # read the parts of a scan and add the results
    plan: Plan
    texts: dict[str, tuple[Form, Note]] = field(default_factory=dict)  # text columns that contain only numbers

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        what = "rows, to guess the search space"
        sketches: list[Sketch] = []
        for first in range(0, len(names), SLICE):
            some = list(names[first : first + SLICE])
            most = min(MOST, max(SAMPLE, MOST_VALUES // len(names)))
            sketches += (
                self.workers.total(survey_part, joined_sketches, self._reading(some), some, most, what=what) or ()
            )
        decimal = self.plan.request.reading.decimal
        self.texts.update(_forms_in(sketches or (), decimal))
        return {sketch.name: sketch.column(decimal) for sketch in sketches or map(Sketch, names)}

    def presence(self, children: Sequence[str], parents: Sequence[str]) -> Presence:
        plan = self._reading([*children, *parents])
        arguments = list(children), list(parents), {name: form for name, (form, _) in self.texts.items()}
        what = "rows, to guess which parameters are conditional"
        presence: Presence = self.workers.total(presence_part, Presence.sum, plan, *arguments, what=what)
        return presence

    def notes(self) -> list[Note]:
        """Notes on text columns that are read as numbers."""
        return [note for _, note in self.texts.values()]

    def _reading(self, names: Sequence[str]) -> Plan:
        """A plan that reads the columns `names` and the columns that select rows."""
        chosen = [] if self.plan.request.is_plain else sorted(spoken_for(self.plan))
        return replace(self.plan, needs=tuple(dict.fromkeys([*names, *chosen])))
