"""A first reading of a scan whose space nobody gave: small columns that stand for the large ones.

Such a column has a sample of the rows, the least and the greatest value of all rows, and every
category there is, so that `infer` guesses from it what it would guess from the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pedanova.checks import Label
from pedanova.column import Column
from pedanova.errors import DataError
from pedanova.grid import MAX_CELLS
from pedanova.progress import Meter
from pedanova.sources.scans import Part

SAMPLE = 4096  # rows of each batch
MOST = 200_000  # rows of all samples


@dataclass(slots=True)
class Sketch:
    """One column, as far as it has been read."""

    name: str
    sample: list[Any] = field(default_factory=list)
    low: float = np.inf
    high: float = -np.inf
    labels: dict[Label, None] = field(default_factory=dict)
    kind: str = ""  # of the first batch that has a value: labels, time, or NumPy's
    gaps: bool = False

    def add(self, column: Column) -> None:
        absent = column.absent()
        self.gaps = self.gaps or bool(absent.any())
        if absent.all():
            return
        kind = "labels" if column.labels is not None else "time" if column.is_time else "numbers"
        self.kind = self.kind or kind
        if kind != self.kind:
            raise DataError(f"{self.name}: some rows hold {self.kind} and others {kind}; give it one type")
        present = column.values[~absent] if absent.any() else column.values
        if column.labels is not None:
            used = np.unique(present)
            if len(self.labels) <= MAX_CELLS:
                self.labels |= dict.fromkeys(column.labels[code] for code in used)
            return
        if kind == "numbers":
            finite = present[np.isfinite(present)] if present.dtype.kind == "f" else present
            if len(finite):
                self.low, self.high = min(self.low, finite.min().item()), max(self.high, finite.max().item())
        if sum(map(len, self.sample)) < MOST:
            self.sample.append(present[:: max(1, len(present) // SAMPLE)])

    def join(self, other: Sketch) -> None:
        self.kind = self.kind or other.kind
        if other.kind and other.kind != self.kind:
            raise DataError(
                f"{self.name}: some rows hold {self.kind} and others {other.kind}; give it one type"
            )
        self.sample += other.sample
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.labels |= other.labels
        self.gaps = self.gaps or other.gaps

    def column(self) -> Column:
        """A column that stands for all rows."""
        if self.kind == "labels":
            labels = tuple(sorted(self.labels, key=str))
            codes = np.tile(np.arange(len(labels), dtype=np.int32), 20)  # so often that none looks like an id
            return Column(self.name, np.append(codes, -1) if self.gaps else codes, labels)
        if not self.sample:
            return Column(self.name, np.full(2, np.nan))
        values = np.concatenate(self.sample)[:MOST]
        if np.isfinite(self.low):
            ends = np.array(
                [self.low, self.high], dtype=np.result_type(values.dtype, np.min_scalar_type(self.low))
            )
            values = np.concatenate(
                [values, ends.astype(values.dtype) if values.dtype.kind in "iub" else ends]
            )
        missing = None
        if self.gaps:
            values = np.append(values, values[-1])
            missing = np.arange(len(values)) == len(values) - 1
        return Column(self.name, values, None, missing)


def survey_part(part: Part, names: Sequence[str], meter: Meter | None = None) -> list[Sketch]:
    sketches = [Sketch(name) for name in names]
    for records in part.batches(names):
        for sketch in sketches:
            sketch.add(records.columns[sketch.name])
        if meter is not None:
            meter.add(records.rows)
    return sketches
