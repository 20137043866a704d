"""Which studies disagree: a share that lies further from those of all other studies than these are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import chance, percent
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.measures.significance import LEVEL, holm
from pedanova.measures.studies.laws import student_tail

Reals: TypeAlias = NDArray[np.float64]
FEWEST = 4  # studies: of fewer, any may be the odd one


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One parameter in one study: its share, the mean of all other studies, and how likely that is by chance.

    `p_adjusted` takes every parameter of every study together (Holm).
    """

    study: str
    name: str
    share: float
    others: float
    p_value: float
    p_adjusted: float

    @property
    def significant(self) -> bool:
        return self.p_adjusted <= LEVEL


@dataclass(frozen=True, slots=True, repr=False)
class Disagreements(Table):
    """Parameters of single studies that matter clearly more or less than elsewhere, the clearest first."""

    rows: tuple[Disagreement, ...]
    notes: tuple[Note, ...] = ()

    def of(self, study: str) -> tuple[Disagreement, ...]:
        """Those of one study."""
        return tuple(row for row in self.rows if row.study == study)

    def to_dict(self) -> dict[str, list[Cell]]:
        names = ("study", "name", "share", "others", "p_value", "p_adjusted")
        return {"parameter" if n == "name" else n: [getattr(row, n) for row in self.rows] for n in names}

    def printed(self) -> Printed:
        return [
            ("study", [row.study for row in self.rows]),
            ("parameter", [row.name for row in self.rows]),
            ("share", [percent(row.share) for row in self.rows]),
            ("others", [percent(row.others) for row in self.rows]),
            ("p", [chance(row.p_adjusted) for row in self.rows]),
        ]

    def heading(self) -> str:
        return "Studies that disagree with all others" if self.rows else "No study disagrees clearly with the others"


def disagreements(studies: list[str], names: list[str], shares: Reals, variances: Reals) -> Disagreements:
    """From (studies, parameters) shares, NaN where there is none, and the variances that chance gives them."""
    others, p_values = np.full(shares.shape, np.nan), np.full(shares.shape, np.nan)
    for column in range(len(names)):
        known = np.flatnonzero(np.isfinite(shares[:, column]))
        if len(known) >= FEWEST:
            found = beside_others(shares[known, column], variances[known, column])
            others[known, column], p_values[known, column] = found
    tested = np.argwhere(np.isfinite(p_values))
    adjusted = holm(p_values[tested[:, 0], tested[:, 1]])
    rows = [
        Disagreement(studies[i], names[j], float(shares[i, j]), float(others[i, j]), float(p_values[i, j]), float(p))
        for (i, j), p in zip(tested.tolist(), adjusted, strict=True)
    ]
    clear = sorted((row for row in rows if row.significant), key=lambda row: (row.p_adjusted, -row.share))
    return Disagreements(tuple(clear))


def beside_others(values: Reals, own: Reals) -> tuple[Reals, Reals]:
    """For each value the mean of all others, and the chance to be as far from it (Student's).

    The spread between studies is found without the study in question (DerSimonian and Laird): else the odd one
    would hide behind the spread that it makes itself.
    """
    weights = 1.0 / own if (own > 0).all() else np.ones(len(values))
    sums = [float(np.sum(weights * values**power)) - weights * values**power for power in (0, 1, 2)]
    squares = float(np.sum(weights**2)) - weights**2
    free = len(values) - 2
    scatter = np.maximum(sums[2] - sums[1] ** 2 / sums[0], 0.0)
    between = np.maximum(0.0, (scatter - free) / (sums[0] - squares / sums[0])) if (own > 0).all() else scatter / free
    means, errors = _means_of_others(values, own, between)
    deviations = np.sqrt(own + between + errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(deviations > 0, np.abs(values - means) / deviations, 0.0)
    return means, np.array([student_tail(float(one), free) for one in distance])


def _means_of_others(values: Reals, own: Reals, between: Reals) -> tuple[Reals, Reals]:
    """Mean of the others, and its variance, by the weights that their own spread gives them."""
    means, errors = np.empty(len(values)), np.zeros(len(values))
    for place, spread in enumerate(between.tolist()):
        variances = own + spread
        weights = 1.0 / variances if (variances > 0).all() else np.ones(len(own))
        rest = float(weights.sum()) - float(weights[place])
        means[place] = (float(weights @ values) - float(weights[place] * values[place])) / rest
        if (variances > 0).all():
            errors[place] = 1.0 / rest
    return means, errors
