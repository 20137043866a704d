"""Optuna's journal, followed: operations are applied as they are appended."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from pedanova.data.column import shorten
from pedanova.errors import DataError, FormatError
from pedanova.sources.follow.look import Event, Look
from pedanova.sources.follow.tail import Tail
from pedanova.sources.optuna.journal import ENDED, Journal, Study, apply, log_of
from pedanova.sources.optuna.study_log import as_records, pick_study


@dataclass(slots=True)
class JournalFollow:
    """One study of a journal file."""

    path: Path
    study: str | None = None
    ordered: bool = True
    _tail: Tail = field(init=False)
    _journal: Journal = field(default_factory=Journal)
    _line: int = 0
    _key: int | None = None  # of the study: another one of the same name has another
    _finished: int = 0
    _event: Event | None = None

    def __post_init__(self) -> None:
        self._tail = Tail(self.path)

    @property
    def shown(self) -> str:
        return str(self.path)

    def look(self) -> Look:
        lines, event = self._tail.fresh()
        if event is not None:
            self._journal, self._line, self._key, self._finished, self._event = Journal(), 0, None, 0, event
        for line in io.BytesIO(lines):
            self._apply(line)
        study = self._chosen()
        ended = [trial for trial in study.trials if trial.state in ENDED]
        new, running = len(ended) - self._finished, len(study.trials) - len(ended)
        records = as_records(log_of(replace(study, trials=ended), [])) if new else None
        look = Look(records, new, len(ended), running, self._event)
        self._finished, self._event = len(ended), None
        return look

    def _apply(self, line: bytes) -> None:
        """One operation, settled at once: what comes before a damaged line is never applied twice."""
        if line.strip():
            try:
                apply(self._journal, json.loads(line))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
                shown = shorten(line.decode(errors="replace").strip())
                where = f"{self.path}: line {self._line + 1}, {shown},"
                raise FormatError(f"{where} is no operation that Optuna writes; mend or drop it") from None
        self._line += 1
        self._tail.taken(line)

    def _chosen(self) -> Study:
        found = {one.name: (key, len(one.trials)) for key, one in self._journal.studies.items()}
        if not found:
            raise DataError(f"{self.path} holds no study yet")
        key, self.study = pick_study(found, self.study, str(self.path))
        if self._key not in (None, key):
            self._event, self._finished = "study anew", 0
        self._key = key
        return self._journal.studies[key]
