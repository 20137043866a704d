"""Which effects are clear: one definition for tables, sentences, intervals, advice and the page.

An effect is clear if its adjusted p-value is at most `LEVEL` and the effect is at least `WORTH_A_WORD`. Then its
interval begins above 0 (`low_of`); otherwise the interval begins at 0. If no effect is clear, `undecided` says what is
likely. docs/how-sure.md has the simulations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from pedanova.base.digits import percent
from pedanova.base.names import and_more
from pedanova.base.notes import Note
from pedanova.measures.distributions import LEVEL, NORMAL, normal_below, normal_quantile

Row: TypeAlias = Any  # an `Importance`, which is defined with the help of this module
WORTH_A_WORD = 0.005  # a smaller share is not worth mentioning
LARGE = 0.2  # a larger share that is not clear is "not certain", because "no clear effect" would be misleading
POWER = 0.84  # quantile of the power with which further trials should make an effect clear
LIKELY = 3  # parameters that are named if no effect is clear
RISK = 0.1  # the largest risk of leaving the most important parameter alone
MOST_COMPARED = 30  # parameters whose chance of being the first is computed
NODES = 100  # equally likely values of a normal distribution
MOST_FACTOR = 100  # larger multiples of the number of trials count as unreachable


def is_clear(p_adjusted: float | None, effect: float) -> bool:
    """Whether an effect is clear: neither due to chance, nor too small to mention."""
    return p_adjusted is not None and p_adjusted <= LEVEL and effect >= WORTH_A_WORD


def low_of(low: float, effect: float, p_value: float) -> float:
    """The lower end of the 95 % interval of a clear effect, so that it agrees with the p-value.

    The root of a share is nearly normal. A p-value says how many deviations the root is above 0, so `low` is raised if
    it is more than 1.96 of these deviations below the effect.
    """
    deviations = deviations_of(p_value)
    by_test = effect * max(0.0, 1.0 - NORMAL / deviations) ** 2 if deviations > 0.0 else 0.0
    return min(max(low, by_test), effect)


def deviations_of(p_value: float) -> float:
    """How many standard deviations from 0 have this two-sided p-value."""
    return -NormalDist().inv_cdf(min(max(p_value, 1e-300), 1.0) / 2.0)


def beats_chance(row: Row) -> bool:
    """Whether the parameter has a clear effect; if there is no p-value, its share must be far above chance."""
    if row.significant is not None:
        return bool(row.significant)
    if row.n_region < 3 or row.share >= 1.0:
        return bool(row.share >= 1.0)
    chance = max(0.0, (row.raw_share - row.share) / (1.0 - row.share))  # its mean under chance
    spread = math.sqrt(2.0 * chance / (row.n_region - 1))
    return bool(row.share > max(WORTH_A_WORD, 4.0 * spread))


def unclear(effect: float) -> str:
    """What is said about an effect that is not clear; a large one is not called none."""
    return "not certain yet" if effect > LARGE else "no clear effect"


def chance_notes(rows: Sequence[Row]) -> list[Note]:
    """A warning if no parameter has a clear effect."""
    tests = [row.significant for row in rows if row.varied]
    if not tests or any(significant is None or significant for significant in tests):
        return []
    words = "no parameter is distinguishable from noise, so the ranking may be due to chance"
    if any(row.p_adjusted is not None and row.p_adjusted <= LEVEL for row in rows):
        words = "small p-values show that some effects are not due to chance, but every effect is below 0.5 %"
    return [Note("doubt", words)]


# --- if no effect is clear -----------------------------------------------------------------------------


def deviation_of(row: Row) -> float:
    return float((row.high or row.share) - (row.low or 0.0)) / (2.0 * NORMAL)


def chance_of_first(rows: Sequence[Row], place: int = 0) -> float:
    """The probability that the row at `place` really has the largest share, computed from the intervals."""
    first, others = rows[place], [row for i, row in enumerate(rows) if i != place]
    places = first.share + deviation_of(first) * normal_quantile((np.arange(NODES) + 0.5) / NODES)[:, None]
    off = np.array([max(deviation_of(one), 1e-9) for one in others])
    return float((normal_below((places - np.array([one.share for one in others])) / off).prod(axis=1)).mean())


def trials_to_settle(rows: Sequence[Row]) -> int | None:
    """The number of further trials after which an effect is probably clear; None if they are unreachably many.

    The deviations of the clearest effect grow with the square root of the number of trials.
    """
    now = deviations_of(min(1.0 if row.p_value is None else row.p_value for row in rows))
    wanted, trials = deviations_of(LEVEL / len(rows)) + POWER, rows[0].n_region
    factor = (wanted / now) ** 2 if now > 0.0 else math.inf
    return math.ceil(trials * (factor - 1.0)) if factor <= MOST_FACTOR else None


def undecided(rows: Sequence[Row], name: Callable[[str], str]) -> list[str]:
    """Sentences for an answer without a clear effect: what is likely, what may be left alone, and how to settle it."""
    tested = [row for row in rows if row.varied and row.p_value is not None]
    if not tested:
        return []
    more, sentences = trials_to_settle(tested), []
    compared = sorted(tested, key=lambda row: -(row.high or 0.0))[:MOST_COMPARED]
    if len(compared) > 1:
        chances = np.array([chance_of_first(compared, place) for place in range(len(compared))])
        order = np.argsort(-chances, kind="stable")
        likely = [f"{name(compared[i].name)} {percent(chances[i])}" for i in order[:LIKELY]]
        sentences.append(f"Probability of being the most important: {and_more(likely)}.")
        risks = np.cumsum(chances[order[::-1]])
        count = min(int(np.searchsorted(risks, RISK, side="right")), len(compared) - 1)
        if count:
            alone = [name(compared[i].name) for i in order[len(order) - count :]]
            risk = percent(risks[count - 1])
            sentences.append(f"With {and_more(alone)} left alone, the risk of missing it is {risk}.")
    number = f"More than {rough(MOST_FACTOR * rows[0].n_region)}" if more is None else f"About {rough(more)}"
    return [*sentences, f"{number} further trials would make an effect clear, if there is one."]


def rough(number: int) -> str:
    """The number with two significant digits, because more digits of an estimate mean nothing."""
    return f"{int(float(f'{number:.2g}')):,}"
