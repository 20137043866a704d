"""How many more trials are needed, and whether to stop.

With n trials, the width of an interval is about proportional to n^-0.4. The powers n^-0.8 and n^-0.25 give a lower and
an upper bound of the number of trials: from 100 to 800 trials, 80 % of wide intervals lie between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note
from pedanova.base.table import NamedTable, Printed
from pedanova.measures.clear import chance_of_first, deviation_of, rough
from pedanova.measures.distributions import NORMAL
from pedanova.measures.importance import Importance

RATE, SLOW, FAST = 0.4, 0.25, 0.8  # powers of the number of trials by which intervals become narrower
SOME = 1.28  # standard deviations of an 80 % interval for the difference of two shares
FIRST_STAYS = 0.95  # the probability at which the first place counts as settled
NEGLIGIBLE = 0.02  # part of the distance from a typical to the best configuration
FURTHER = 20  # trials in which the best value may improve
MOST = 1e6  # larger numbers of trials count as unreachable


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of further trials, with an interval.

    Attributes
    ----------
    more
        The number of further trials; None if even a million trials in total are not enough.
    low, high
        The ends of an approximate 80 % interval of `more`; `high` is None if there is no upper limit.

    Examples
    --------
    >>> import pedanova as pa
    >>> estimate = pa.analyze(pa.demo_trials(), "error").first(100).needed().apart
    >>> estimate.more is None or estimate.low <= estimate.more
    True
    """

    more: int | None
    low: int
    high: int | None

    def __str__(self) -> str:
        if self.more is None:
            return f"more than {rough(self.low)}"
        if self.more == 0 == self.high:
            return "none"
        span = f"at least {rough(self.low)}" if self.high is None else f"{rough(self.low)} to {rough(self.high)}"
        return f"about {rough(self.more)} ({span})"


@dataclass(frozen=True, slots=True)
class NeededTrials:
    """The number of further trials for one parameter.

    Attributes
    ----------
    name
        The parameter.
    share, width
        The share of the parameter, and the width of the share's 95 % interval.
    more, low, high
        `more`: the number of further trials until the interval of the share is narrow enough. `low` and `high`: the
        ends of an approximate 80 % interval of this number. None means that even a million trials in total are not
        enough.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.analyze(pa.demo_trials(), "error").first(100).needed(width=0.9)["solver"].more
    0
    """

    name: str
    share: float
    width: float
    more: int | None
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """Advice on whether to run more trials: is the ranking settled, and what may further trials still improve?

    Attributes
    ----------
    first, first_stays
        The first parameter, and the probability that it stays first.
    better
        The largest improvement of the best value to expect from `trials` further trials, but at least `negligible`: a
        95 % limit that follows from the spread of the eight best values (after an adaptive search, of its last 60
        trials), or, if that is less, from the model's posterior samples. After random trials, it is not less than the
        model expects of its next trial. None if there are too few trials.
    negligible
        An improvement up to this size is negligible: a fiftieth of the difference between a typical value and the best
        value.
    trials
        The number of further trials that `better` refers to.

    Examples
    --------
    >>> import pedanova as pa
    >>> advice = pa.analyze(pa.demo_trials(), "error").needed().stop
    >>> advice.first, advice.ranking_settled
    ('learning_rate', True)
    """

    first: str
    first_stays: float
    better: float | None
    negligible: float
    trials: int = FURTHER

    @property
    def ranking_settled(self) -> bool:
        """Whether the first parameter is very likely to stay first."""
        return self.first_stays >= FIRST_STAYS

    @property
    def value_settled(self) -> bool:
        """Whether further trials will hardly improve the best value."""
        return self.better is not None and self.better <= self.negligible

    @property
    def settled(self) -> bool:
        """Whether further trials will hardly change the ranking and the best value."""
        return self.ranking_settled and self.value_settled

    def of_the_ranking(self) -> str:
        """The sentence about the ranking."""
        settled = "settled" if self.ranking_settled else "not settled"
        return f"The ranking is {settled}: {self.first} stays first with {percent(self.first_stays)} probability."

    def of_the_value(self) -> str:
        """The sentence about the best value."""
        if self.better is None:
            return "It cannot be predicted how much further trials improve the best value."
        little = f" ({percent(NEGLIGIBLE)} of its difference from a typical value)" if self.value_settled else ""
        much = f"at most {short(self.better, 2)} in {self.trials} further trials{little}"
        return f"Expect the best value to improve by {much}."

    def __str__(self) -> str:
        return f"{self.of_the_ranking()} {self.of_the_value()}"


@dataclass(frozen=True, slots=True, repr=False)
class Needed(NamedTable[NeededTrials]):
    """How many more trials are needed, by parameter: ``n["lr"].more``, ``n.apart``, ``n.stop``.

    Attributes
    ----------
    apart
        The number of further trials until the first two parameters can be distinguished (an `Estimate`).
    pair
        The names of the first two parameters of the ranking.
    width
        An interval of at most this width is narrow enough.
    trials
        The number of trials so far.
    stop
        A `StopAdvice`: whether to run more trials or to stop.

    Examples
    --------
    >>> import pedanova as pa
    >>> needed = pa.analyze(pa.demo_trials(), "error").first(100).needed()
    >>> needed.trials, needed.pair[0]
    (100, 'learning_rate')
    """

    rows: tuple[NeededTrials, ...]
    apart: Estimate
    pair: tuple[str, str]
    width: float
    trials: int
    stop: StopAdvice
    notes: tuple[Note, ...] = field(default=())

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.percents("share"),
            self.percents("width", "interval's width"),
            self.column("more trials", lambda row: str(Estimate(row.more, row.low, row.high)), kind="words"),
        ]

    def heading(self) -> str:
        return f"Further trials (after {self.trials:,}) until 95 % intervals are narrower than {percent(self.width)}"

    def summary(self) -> str:
        """Whether the first two parameters can be distinguished, and whether to stop."""
        first, second = self.pair
        if self.apart.more == 0:
            return f"{first} is clearly more important than {second}. {self.stop}"
        return f"To distinguish {first} from {second}: {self.apart} more trials. {self.stop}"


def trials_for(rows: int, factor: float, power: float) -> int | None:
    """How many further trials divide an interval's width by `factor`, if width ~ trials^-power; None above `MOST`."""
    if not math.isfinite(factor):
        return None
    total = rows * max(1.0, factor) ** (1.0 / power)
    return None if total > MOST else math.ceil(total - rows)


def until_narrow(rows: int, width: float, wanted: float) -> Estimate:
    more, low, high = (trials_for(rows, width / wanted, power) for power in (RATE, FAST, SLOW))
    return Estimate(more, int(MOST) if low is None else low, high)


def until_apart(rows: int, first: Importance, second: Importance) -> Estimate:
    """The number of further trials until the difference of two shares is clearly larger than 0."""
    off = math.hypot(deviation_of(first), deviation_of(second))
    gap = first.share - second.share

    def until(distance: float) -> int | None:
        return trials_for(rows, NORMAL * off / distance if distance > 0.0 else math.inf, RATE)

    least = until(gap + SOME * off)
    return Estimate(until(gap), int(MOST) if least is None else least, until(gap - SOME * off))


def with_intervals(rows: Sequence[Importance]) -> list[Importance]:
    """The importances of parameters that varied and have an interval."""
    return [row for row in rows if row.varied and row.high is not None]


def first_stays(rows: Sequence[Importance]) -> bool:
    """Whether the most important parameter is very likely to stay the most important one."""
    known = with_intervals(rows)
    return len(known) >= 2 and chance_of_first(known) >= FIRST_STAYS


def advise(rows: Sequence[Importance], better: float | None, distance: float) -> StopAdvice:
    """Whether to stop; `better` and `distance` are computed by `stop_of`."""
    negligible = NEGLIGIBLE * distance
    return StopAdvice(
        rows[0].name, chance_of_first(rows), None if better is None else max(better, negligible), negligible
    )
