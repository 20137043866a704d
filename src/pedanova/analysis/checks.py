"""What a search must show before others build on it: checks that pass or fail, for whoever tunes unattended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pedanova.analysis.analysis import Analysis
from pedanova.base.digits import percent, short
from pedanova.base.table import Cell, Printed, Table
from pedanova.data.space_inference import SEED_NAMES
from pedanova.errors import QueryError, UnknownParameterError, unknown_name
from pedanova.measures.difference import difference, interval_in_words, signed_percent
from pedanova.measures.importance import Importance, Importances
from pedanova.measures.importance import interval_in_words as share_interval
from pedanova.measures.standings import is_clear


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: of what, what was found there, what was wanted, and whether that holds."""

    name: str
    subject: str
    passed: bool
    found: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of a search; None, empty or False for what is not. Where nothing is, `signal` and `bounds` are."""

    min_trials: int | None = None  # that count
    max_dropped: float | None = None  # part of all trials that may have failed or been left out
    best: float | None = None  # objective that the best trial must reach
    signal: bool = False  # some parameter is distinguishable from noise
    require: tuple[str, ...] = ()  # parameters that must be
    max_noise: float | None = None  # share that each of the columns that are luck may have
    noise: tuple[str, ...] = ()  # those columns; by default the ones named like seeds
    sure_top: int | None = None  # so many parameters must be clearly ahead of all others
    bounds: bool = False  # good values pile up at no bound of the space
    against: Analysis | None = None  # no share may differ clearly from this analysis

    @property
    def is_silent(self) -> bool:
        values = [getattr(self, name) for name in self.__slots__ if name != "noise"]
        return all(value is None or value is False or value == () for value in values)


@dataclass(frozen=True, slots=True, repr=False)
class Checks(Table):
    """The checks in the order in which they were made."""

    rows: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)

    def to_dict(self) -> dict[str, list[Cell]]:
        names = ("subject", "passed", "found", "wanted")
        return {"check": [row.name for row in self.rows]} | {
            name: [getattr(row, name) for row in self.rows] for name in names
        }

    def printed(self) -> Printed:
        return [
            ("check", [" ".join((row.name, row.subject)).strip() for row in self.rows]),
            ("", ["ok" if row.passed else "FAILED" for row in self.rows]),
            ("found", [row.found for row in self.rows]),
            ("wanted", [row.wanted for row in self.rows]),
        ]

    def summary(self) -> str:
        failed = [" ".join((row.name, row.subject)).strip() for row in self.rows if not row.passed]
        if not failed:
            return "The check passed." if len(self.rows) == 1 else f"All {len(self.rows)} checks passed."
        return f"{len(failed)} of {len(self.rows)} checks failed: {', '.join(failed)}."


def check(
    a: Analysis, wishes: Wishes, target: object = 0.1, region: object = 1.0, options: Mapping[str, Any] | None = None
) -> Checks:
    """Look at everything that is wished for; `options` are those of `importance`."""
    if wishes.is_silent:
        wishes = Wishes(signal=True, bounds=True)
    found = a.importance(target, region, **(options or {}))
    if not found.is_sure:
        raise QueryError("without draws no answer has an interval, and nothing can be checked; leave --draws away")
    rows = [*of_trials(a, wishes), *of_ranking(found, wishes)]
    if wishes.bounds:
        rows.append(of_bounds(a, target))
    if wishes.against is not None:
        rows.append(of_difference(found, wishes.against.importance(target, region, **(options or {}))))
    return Checks(tuple(rows))


def of_trials(a: Analysis, wishes: Wishes) -> Iterator[Check]:
    if wishes.min_trials is not None:
        yield Check("trials", "", a.rows >= wishes.min_trials, f"{a.rows:,}", f"at least {wishes.min_trials:,}")
    if wishes.max_dropped is not None:
        part = a.dropped / max(1, a.rows + a.dropped)
        told = f"{a.dropped:,} of {a.rows + a.dropped:,} ({percent(part)})"
        yield Check("dropped", "", part <= wishes.max_dropped, told, f"at most {percent(wishes.max_dropped)}")
    if wishes.best is not None:
        yield of_best(a, wishes.best)


def of_best(a: Analysis, wanted: float) -> Check:
    """The best trial's objective against a number, whichever way is better."""
    if a.observations is not None and len(a.observations.goals) > 1:
        raise QueryError("--best is about one objective; name it with --objective")
    column = a.trials(limit=1).to_dict()[a.objective]
    value = float(column[0]) if column and column[0] is not None else float("nan")
    least = a.direction == "maximize"
    told = f"{'at least' if least else 'at most'} {short(wanted)}"
    return Check("best", a.objective, value >= wanted if least else value <= wanted, short(value), told)


def of_ranking(found: Importances, wishes: Wishes) -> Iterator[Check]:
    for name in (*wishes.require, *wishes.noise):
        if name not in found:
            raise UnknownParameterError(unknown_name(name, tuple(found)))
    if wishes.signal:
        clear = [row.name for row in found.rows if row.significant]
        told = ", ".join(clear[:3]) + (f" and {len(clear) - 3} more" if len(clear) > 3 else "")
        yield Check("signal", "", bool(clear), told or "nothing but noise", "something above noise")
    for name in wishes.require:
        yield Check("require", name, bool(found[name].significant), share_in_words(found[name]), "above noise")
    if wishes.max_noise is not None:
        for name in wishes.noise or named_like_luck(tuple(found)):
            row = found[name]
            fine = row.share <= wishes.max_noise or not row.significant
            yield Check("noise", name, fine, share_in_words(row), f"at most {percent(wishes.max_noise)}")
    if wishes.sure_top is not None:
        yield of_top(found, wishes.sure_top)


def named_like_luck(names: Sequence[str]) -> list[str]:
    known = [name for name in names if SEED_NAMES.search(name)]
    if not known:
        raise QueryError(
            "--max-noise finds no parameter named like a seed; name the columns that are luck with --noise"
        )
    return known


def of_top(found: Importances, many: int) -> Check:
    """Whether the first so many are told apart from all that follow."""
    if not 1 <= many < len(found):
        raise QueryError(f"--sure-top {many} must leave a parameter to be ahead of; there are {len(found)}")
    first, rest = found.rows[:many], found.rows[many:]
    near = [(one, two) for one in first for two in rest if not is_clear(one, two)]
    names = ", ".join(row.name for row in first)
    told = f"{near[-1][0].name} and {near[0][1].name} are too near" if near else names
    return Check("sure-top", str(many), not near, told, "clearly ahead")


def of_bounds(a: Analysis, target: object) -> Check:
    """Whether good values pile up where the space ends."""
    piled = [row for row in a.reduce(target).rows if row.advice == "widen"]
    told = "; ".join(f"{row.name}: {row.suggested()}" for row in piled)
    return Check("bounds", "", not piled, told or "all inside", "no good values pile up there")


def of_difference(found: Importances, before: Importances) -> Check:
    clear = [row for row in difference(found, before).rows if row.clear]
    told = "; ".join(f"{row.name} {signed_percent(row.difference)} ({interval_in_words(row)})" for row in clear)
    return Check("against", "", not clear, told or "no clear difference", "shares as before")


def share_in_words(row: Importance) -> str:
    interval = share_interval(row)
    noise = "" if row.significant else ", like noise"
    return f"{percent(row.share)}{f' ({interval})' if interval else ''}{noise}"
