"""A source that is analysed while it grows: every look that finds new rows gives a new analysis of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import RowKeywords, count_records, request_of
from pedanova.counting.levels import Levels
from pedanova.data.options import Scan
from pedanova.data.records import Records
from pedanova.data.regions import sign_of
from pedanova.errors import Arg, PedanovaError, QueryError, SpaceError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.report.live.watch import Update
from pedanova.space.comparison import changes_between, steadied
from pedanova.space.parameters import Space

PAUSE = 1.0  # seconds between two looks at a source that has hardly begun
ENOUGH = 10  # trials; what cannot be analysed then is no matter of waiting
IN_PARTS = ("stream", "executor", "pushdown")  # options of tables that do not grow


class Watched:
    """One source and the options of `analyze`; it is read anew when it has changed.

    A space that was guessed stays until a value lies outside or a parameter is new, one that was given stays always:
    rows outside are counted apart.
    """

    def __init__(
        self,
        data: object,
        objective: object = None,
        *,
        study: str | None = None,
        names: Sequence[str] | None = None,
        levels: Levels | Iterable[float] | None = None,
        scan: Scan | None = None,
        **rows: Unpack[RowKeywords],
    ) -> None:
        from pedanova.sources.follow import follow

        scan = scan or Scan()
        for name, value in (("names", names), *((name, getattr(scan, name)) for name in IN_PARTS)):
            if value is not None:
                raise QueryError(Arg(name), " cannot be used with watch; leave it out")
        self._request, self._levels = request_of(objective, scan.threads, **rows), levels
        self._follow = follow(data, study=study, delimiter=self._request.reading.delimiter)
        self._space: Space | None = None
        self._rows: Records | None = None  # read, and not analysed yet
        self._event: str | None = None  # not told yet
        self._finished: int | None = None
        self.last: Update | None = None  # what was seen last, less its analysis

    @property
    def shown(self) -> str:
        return self._follow.shown

    @property
    def ordered(self) -> bool:
        return self._follow.ordered

    def look(self) -> Update:
        look = self._follow.look()
        self._finished = look.finished
        if look.event is not None:
            self._event, self._space, self._rows = look.event, None, None
        self._rows = look.records or self._rows
        if self._rows is None:
            event, self._event = self._event, None
            return Update(None, look.finished, look.running, event)
        analysis = self._analysed(self._rows)
        before, self._space, self._rows = self._space, analysis.space, None
        domains = () if before is None else changes_between(before, analysis.space)
        event, self._event = self._event, None
        update = Update(analysis.data, look.finished, look.running, event, domains, best_of(analysis))
        self.last = replace(update, analysis=None)
        return update

    def begin(self, say: Callable[[str], None], *, pause: float = PAUSE) -> Update:
        """The first look that tells anything: while hardly a trial has ended, it is waited for."""
        said = None
        while True:
            try:
                update = self.look()
            except PedanovaError as error:
                if self._finished is None or self._finished >= ENOUGH:
                    raise
                reason = str(error)
            else:
                if update.analysis is not None:
                    return update
                reason = "no trial has ended yet"
            if reason != said:
                say(f"waiting for trials: {reason}")
                said = reason
            time.sleep(pause)

    def _analysed(self, found: Records) -> Analysis:
        from pedanova.sources import read_records

        records = read_records(found)
        told = self._request.space is not None or records.metadata.space is not None
        fresh = self._counted(records, None)
        if told or self._space is None:
            return fresh
        try:
            steady = steadied(self._space, fresh.space)
        except SpaceError:  # conditions that do not fit the earlier domains
            return fresh
        return (
            fresh
            if steady == fresh.space
            else Analysis(replace(self._counted(records, steady).data, notes=fresh.notes))
        )

    def _counted(self, records: Records, space: Space | None) -> Analysis:
        request = self._request if space is None else replace(self._request, space=space, params=None, exclude=None)
        if self._space is not None:
            request = replace(request, reading=replace(request.reading, outside="count"))
        return Analysis(TrialData.of(count_records(records, request, self._levels), request.threads))


def best_of(analysis: Analysis) -> float | None:
    """The objective of the best row that counts; several objectives have no best."""
    observed = analysis.data.observations
    if observed is None or analysis.data.levels.several:
        return None
    values = observed.ranked if observed.keep is None else observed.ranked[observed.keep]
    sign = sign_of(observed.direction)
    best = np.fmin.reduce(sign * np.asarray(values, dtype=np.float64))
    return float(sign * best) if np.isfinite(best) else None
