"""Logs of one study, each of other trials, as one: what was read at different times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import TypeVar

import numpy as np

from pedanova.sources.optuna.study_log import Rows, Setting, StudyLog

Item = TypeVar("Item")


def joined(logs: Sequence[StudyLog], order: Rows) -> StudyLog:
    """All trials, one log's behind the other's, then put in order: row i of the result was row `order[i]`."""
    sizes = [len(log.states) for log in logs]
    starts = [0, *accumulate(sizes)][:-1]
    place = np.empty(len(order), dtype=np.int64)  # of each row in the result
    place[order] = np.arange(len(order))
    newest = logs[-1]
    return replace(
        newest,
        states=in_order(chain.from_iterable(log.states for log in logs), order),
        values=np.concatenate([log.values for log in logs])[order],
        settings=_settings(logs, starts, place),
        constraints=_constraints(logs, sizes, order),
        attributes=_attributes(logs, sizes, order),
        reports=dict(sorted(_reports(logs, starts, place))),
        points=None,
        seconds=np.concatenate([np.full(len(log.states), np.nan) if log.seconds is None else log.seconds
                                for log in logs])[order],
    )  # fmt: skip


def in_order(items: Iterable[Item], order: Rows) -> list[Item]:
    held = list(items)
    return [held[row] for row in order.tolist()]


def _settings(logs: Sequence[StudyLog], starts: Sequence[int], place: Rows) -> dict[str, Setting]:
    names = dict.fromkeys(name for log in logs for name in log.settings)
    return {
        name: _setting([(log.settings[name], start) for log, start in zip(logs, starts, strict=True)
                        if name in log.settings], place)
        for name in names
    }  # fmt: skip


def _setting(parts: Sequence[tuple[Setting, int]], place: Rows) -> Setting:
    distributions = list(dict.fromkeys(one for part, _ in parts for one in part.distributions))
    rows, values, which = [], [], []
    for part, start in parts:
        number = np.array([distributions.index(one) for one in part.distributions], dtype=np.int64)
        rows.append(place[np.asarray(part.rows, dtype=np.int64) + start])
        values.append(np.asarray(part.values, dtype=np.float64))
        which.append(number[np.asarray(part.which, dtype=np.int64)])
    everywhere = np.concatenate(rows)
    sort = np.argsort(everywhere, kind="stable")
    return Setting(everywhere[sort], np.concatenate(values)[sort], np.concatenate(which)[sort], distributions)


def _constraints(logs: Sequence[StudyLog], sizes: Sequence[int], order: Rows) -> list[Mapping[str, float]]:
    if not any(log.constraints for log in logs):
        return []
    none: list[Mapping[str, float]] = [{}]
    rows = [log.constraints or none * size for log, size in zip(logs, sizes, strict=True)]
    return in_order(chain.from_iterable(rows), order)


def _attributes(logs: Sequence[StudyLog], sizes: Sequence[int], order: Rows) -> dict[str, Sequence[object]]:
    keys = sorted({key for log in logs for key in log.attributes})
    found: dict[str, Sequence[object]] = {}
    for key in keys:
        columns = [log.attributes.get(key, [None] * size) for log, size in zip(logs, sizes, strict=True)]
        found[key] = in_order(chain.from_iterable(columns), order)
    return found


def _reports(logs: Sequence[StudyLog], starts: Sequence[int], place: Rows) -> Iterable[tuple[int, tuple[int, float]]]:
    for log, start in zip(logs, starts, strict=True):
        yield from ((int(place[row + start]), report) for row, report in log.reports.items())
