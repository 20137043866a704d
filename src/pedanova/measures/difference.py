"""How two answers differ, parameter by parameter, and how surely.

The interval of a difference is put together from the intervals of both shares, by the method of variance
estimates recovery (Zou and Donner, Statistics in Medicine 27, 2008): each end moves by the root of the summed
squares of the two distances that can move it. It takes both answers as independent; where they share rows they
rise and fall together, so that the interval is wider than it need be, never narrower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pedanova.base.notes import Note
from pedanova.base.table import NamedTable, Printed
from pedanova.errors import QueryError
from pedanova.measures.importance import Importance, Importances

SHARED = "where both share rows, the intervals are wider than they need be"


@dataclass(frozen=True, slots=True)
class Difference:
    """One parameter's share in two answers, and the first less the second with its 95 % interval.

    Attributes
    ----------
    name
        The parameter.
    share, other
        In the first answer and in the second.
    difference
        The first less the second.
    low, high
        Its 95 % interval; None where draws were left out.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> two = [a.importance(target, estimator="counts", draws=0) for target in (0.3, 0.1)]
    >>> row = pa.difference(*two)["learning_rate"]
    >>> row.difference == row.share - row.other
    True
    """

    name: str
    share: float
    other: float
    difference: float
    low: float | None
    high: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out no difference at all."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True, repr=False)
class Differences(NamedTable[Difference]):
    """Differences by parameter, the largest first.

    Attributes
    ----------
    rows
        The same, by place.
    notes
        What to know beside the numbers.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> two = [a.importance(target, estimator="counts", draws=0) for target in (0.3, 0.1)]
    >>> next(iter(pa.difference(*two)))
    'learning_rate'
    """

    also = ("clear",)
    rows: tuple[Difference, ...]
    notes: tuple[Note, ...] = ()

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.percents("share"),
            self.percents("other"),
            self.column("difference", lambda row: signed_percent(row.difference)),
            self.column("interval", interval_in_words),
        ]

    def heading(self) -> str:
        return "How the shares of two answers differ"

    def in_words(self, here: str = "here", there: str = "there") -> str:
        """The clearest difference in one sentence.

        Parameters
        ----------
        here, there
            What the two answers are called.

        Returns
        -------
        str
            A sentence, or that nothing is clear.
        """
        clear = [row for row in self.rows if row.clear]
        if not clear:
            sure = any(row.low is not None for row in self.rows)
            return f"No parameter matters clearly more {here} than {there}." if sure else ""
        row = clear[0]
        more = "more" if row.difference > 0 else "less"
        words = f"{row.name} matters {more} {here} than {there}: {signed_percent(row.difference)}"
        return f"{words}, {interval_in_words(row)}."


def difference(one: Importances, two: Importances) -> Differences:
    """How the shares of one answer differ from those of another, with 95 % intervals.

    Parameters
    ----------
    one, two
        Answers of `importance`, such as those inside two parts of the space. Where draws were left out, so
        are the intervals.

    Returns
    -------
    Differences
        Rows by parameter, the largest difference first.

    Raises
    ------
    QueryError
        The two were held against different baselines.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> adam, sgd = (a.within(f"solver == '{name}'").importance(estimator="counts") for name in ("adam", "sgd"))
    >>> next(iter(pa.difference(adam, sgd)))
    'epochs'
    """
    for answer in (one, two):
        if not isinstance(answer, Importances):
            raise QueryError(f"{type(answer).__name__} must be what importance() gives, to be compared")
    if one.baseline != two.baseline:
        raise QueryError(f"baselines differ, {one.baseline!r} and {two.baseline!r}; ask both against the same")
    both = [(row, two[row.name]) for row in one.rows if row.name in two]
    rows = sorted((recovered(*pair) for pair in both), key=lambda row: (not row.clear, -abs(row.difference)))
    return Differences(tuple(rows), (Note("answer", SHARED),))


def recovered(one: Importance, two: Importance) -> Difference:
    """The difference of two shares, its interval from theirs."""
    gap = one.share - two.share
    ends: tuple[float | None, float | None] = (None, None)
    if None not in (one.low, one.high, two.low, two.high):
        down = math.hypot(below(one), above(two))
        up = math.hypot(above(one), below(two))
        ends = gap - down, gap + up
    return Difference(one.name, one.share, two.share, gap, *ends)


def below(row: Importance) -> float:
    return max(0.0, row.share - row.low) if row.low is not None else math.inf


def above(row: Importance) -> float:
    return max(0.0, row.high - row.share) if row.high is not None else math.inf


def signed_percent(part: float) -> str:
    words = f"{part:+.0%}".replace("%", " %").replace("-", "−")
    return "0 %" if words[1:] == "0 %" else words


def interval_in_words(row: Difference) -> str:
    if row.low is None or row.high is None:
        return ""
    return f"{100 * row.low:.0f} … {100 * row.high:.0f}".replace("-", "−")
