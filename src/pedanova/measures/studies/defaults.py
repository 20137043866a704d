"""Defaults that suit many studies, what they cost on studies they were not made from, and what tuning gains.

Tunability is that of Probst, Boulesteix and Bischl (2019, "Tunability: importance of hyperparameters of machine
learning algorithms"): by how much the objective improves where one parameter is tuned for a study and all others
stay at the default. It is counted in steps from the best configuration (0) to the middle one of a uniform draw (1),
so that studies with other objectives can be averaged, and in units of the objective beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note, in_order
from pedanova.base.table import Cell, NamedTable, Printed, Table, columns_of
from pedanova.errors import QueryError
from pedanova.measures.asks import Asks
from pedanova.measures.studies.candidates import EVERYBODYS, Candidates, candidates_of, told, usual_cells
from pedanova.measures.studies.prior import prior_of
from pedanova.measures.studies.response import Response, response_of
from pedanova.space.parameters import Space
from pedanova.space.values import Label

Reals: TypeAlias = NDArray[np.float64]
WORST = 2.0  # steps beyond which a configuration is simply bad
WAYS = {"table": "the whole table", "model": "a model of the rows", "tallies": "the tallies, parameter by parameter"}


@dataclass(frozen=True, slots=True)
class Default:
    """One parameter: its default, and what tuning it alone gains over all defaults.

    Attributes
    ----------
    name
        The parameter.
    default
        None where it does not exist under the other defaults.
    tunability, low, high
        The mean over studies and its quartiles, in steps from the best to a middling configuration.
    first
        The studies in which tuning it gains most.
    gains
        By study, in units of the objective; None where it does not exist under the defaults.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> row = x.defaults()["lr"]
    >>> 0.2 < row.default < 0.4, list(row.gains)
    (True, ['adult', 'car'])
    """

    name: str
    default: Label | None
    tunability: float
    low: float
    high: float
    first: int
    gains: Mapping[str, float | None] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class StudyRegret:
    """One study under the defaults that all others give.

    Attributes
    ----------
    study
        Its name.
    objective, best
        At these defaults, and at the best configuration known.
    regret
        Their distance, in steps from the best (0) to the middle one of a uniform draw (1).
    uniform
        The mean of the same for uniform draws, none worse than 2.
    tunability
        What tuning everything gains over the defaults of all studies, in the same steps.
    way
        How the study was asked: its table, a model, its tallies.
    """

    study: str
    objective: float
    best: float
    regret: float
    uniform: float
    tunability: float
    way: str


@dataclass(frozen=True, slots=True, repr=False)
class Regrets(Table):
    """What defaults cost on studies that had no part in them.

    Attributes
    ----------
    rows
        By study: ``regret`` is 0 at the best configuration and 1 at the middle one of a uniform draw.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> [(row.study, row.regret < row.uniform) for row in x.defaults().regrets.rows]
    [('adult', True), ('car', True)]
    """

    rows: tuple[StudyRegret, ...]

    def to_dict(self) -> dict[str, list[Cell]]:
        return columns_of(self.rows)

    def printed(self) -> Printed:
        rows = self.rows
        return [
            ("left out", [row.study for row in rows]),
            ("at the defaults", [short(row.objective) for row in rows]),
            ("best", [short(row.best) for row in rows]),
            ("regret", [percent(row.regret) for row in rows]),
            ("uniform", [percent(row.uniform) for row in rows]),
            ("told by", [WAYS[row.way] for row in rows]),
        ]

    def heading(self) -> str:
        if not self.rows:
            return "Nothing is known of the regret: there is only one study"
        middle = float(np.median([row.regret for row in self.rows]))
        drawn = float(np.median([row.uniform for row in self.rows]))
        better = sum(row.regret < row.uniform for row in self.rows)
        words = (
            f"Defaults of the other studies stay {percent(middle)} of the way from the best to a middling configuration"
        )
        return (
            f"{words} behind (a uniform draw {percent(drawn)}), in the median; better in {better} of {len(self.rows)}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Defaults(NamedTable[Default]):
    """Defaults by parameter, the most tunable first; `regrets` tells what they cost on left-out studies.

    Attributes
    ----------
    rows
        The same, by place.
    configuration
        The defaults as a dict, without parameters that do not exist under the others.
    regrets
        A line for each study, under the defaults of all others.
    notes
        What to know beside the numbers, and how each study was asked.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> defaults = x.defaults()
    >>> 0.2 < defaults.configuration["lr"] < 0.4, len(defaults.regrets.rows)
    (True, 2)
    """

    rows: tuple[Default, ...]
    configuration: Mapping[str, Label]
    regrets: Regrets
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, list[Cell]]:
        names = ("default", "tunability", "low", "high", "first")
        columns: dict[str, list[Cell]] = {"parameter": [row.name for row in self.rows]}
        return columns | {name: [getattr(row, name) for row in self.rows] for name in names}

    def printed(self) -> Printed:
        rows = self.rows
        return [
            ("parameter", [row.name for row in rows]),
            ("default", ["" if row.default is None else short(row.default) for row in rows]),
            ("tuning it gains", [percent(row.tunability) for row in rows]),
            ("in half of them", [f"{percent(row.low)} … {percent(row.high)}" for row in rows]),
            ("gains most in", [f"{row.first} of {len(row.gains)}" for row in rows]),
        ]

    def heading(self) -> str:
        return "Defaults, and what tuning one parameter gains of the way from a middling configuration to the best"


def defaults_of(analyses: Mapping[str, Asks], *, target: object = 0.1, seed: int = 0, **options: Any) -> Defaults:
    """The configuration that does best over all studies, each of which weighs the same.

    Parameters
    ----------
    analyses
        Studies by name. With rows a study is asked by its table or by a model, else by its tallies.
    target
        The rows that are good: configurations are drawn where these lie, and evenly.
    seed
        Of the draws and the models.
    options
        Those of `prior_of`.

    Returns
    -------
    Defaults
        By parameter; ``.configuration`` is the default as a dict, ``.regrets`` what it costs on left-out studies.
    """
    prior = prior_of(analyses, target=target, **options)
    candidates = candidates_of(prior, seed)
    asked = {name: StudyAnswers.of(name, analyses[name], candidates, seed) for name in prior.studies}
    steps = np.stack([one.steps for one in asked.values()])
    chosen = candidates.only(best_of(steps, np.ones(len(steps), dtype=bool), candidates.owners))
    rows = _defaults(chosen, asked)
    regrets = _regrets(steps, candidates, asked, chosen)
    ways = Counter(one.response.way for one in asked.values())
    words = ", ".join(f"{many} by {WAYS[way]}" for way, many in ways.items())
    notes = in_order([*prior.notes, Note("answer", f"how the studies were asked: {words}")])
    return Defaults(rows, chosen.values(), regrets, notes)


@dataclass(frozen=True, slots=True, eq=False)
class StudyAnswers:
    """One study's word on every candidate."""

    space: Space
    usual: Mapping[str, int]  # cells, for parameters without a prior
    sign: float
    response: Response
    values: Reals  # (candidates,) less is better
    best: float
    step: float  # from the best to the middle one of even draws

    @classmethod
    def of(cls, name: str, analysis: Asks, candidates: Candidates, seed: int) -> StudyAnswers:
        if analysis.levels.several:
            raise QueryError(f"{name}: several objectives have no one regret; take one with .alone(objective)")
        response = response_of(analysis, seed=seed)
        usual = usual_cells(analysis)
        values = told(response, analysis.space, usual, candidates)
        best = float(np.nanmin(values))
        table = getattr(response, "values", None)
        if response.way == "table" and table is not None:
            best = float(table.min())
        step = step_of(values[candidates.owners == EVERYBODYS] - best)
        return cls(analysis.space, usual, analysis.levels.sign, response, values, best, step)

    def at(self, candidates: Candidates) -> Reals:
        return told(self.response, self.space, self.usual, candidates)

    def in_steps(self, values: Reals) -> Reals:
        """0 for the best, 1 for the middle of a uniform draw."""
        return (values - self.best) / self.step

    @property
    def steps(self) -> Reals:
        return np.minimum(self.in_steps(self.values), WORST)


def step_of(behind: Reals) -> float:
    """The median distance from the best; where half of all draws are as good as the best, a tenth of the way to bad
    ones, lest a study in which nearly everything is perfect outweigh all others."""
    middle, bad = np.nanquantile(behind, [0.5, 0.9]).tolist()
    return max(middle, 0.1 * bad) or 1.0


def best_of(steps: Reals, studies: NDArray[np.bool_], owners: NDArray[np.int64]) -> int:
    """The candidate with the least mean regret in these studies, among those that no other study was drawn for."""
    allowed = (owners == EVERYBODYS) | studies[np.maximum(owners, 0)]
    known = np.isfinite(steps[studies])
    means = np.where(known, steps[studies], 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    usable = allowed & (2 * known.sum(axis=0) >= studies.sum())
    return int(np.argmin(np.where(usable, means, np.inf)))


def _defaults(chosen: Candidates, asked: Mapping[str, StudyAnswers]) -> tuple[Default, ...]:
    values, active = chosen.values(), chosen.active()
    gains = {name: _gains(name, chosen, asked) if active[name][0] else {} for name in chosen.space}
    leaders = Counter(_leader({name: gains[name].get(study) for name in gains}) for study in asked)
    rows = []
    for name in chosen.space:
        known = {study: gains[name].get(study) for study in asked}
        steps = [gain / asked[s].step for s, gain in known.items() if gain is not None]
        low, high = np.quantile(steps, [0.25, 0.75]).tolist() if steps else (0.0, 0.0)
        mean = float(np.mean(steps)) if steps else 0.0
        rows.append(Default(name, values.get(name), mean, low, high, leaders[name], known))
    return tuple(sorted(rows, key=lambda row: -row.tunability))


def _gains(name: str, chosen: Candidates, asked: Mapping[str, StudyAnswers]) -> dict[str, float]:
    """By study, what the best value of one parameter gains, all others at their defaults."""
    tried, found = chosen.varied(name), {}
    for study, one in asked.items():
        values = one.at(tried)
        start = float(one.at(chosen)[0])
        if name in one.space and np.isfinite(start):
            found[study] = max(0.0, start - float(np.nanmin(values)))
    return found


def _leader(gains: Mapping[str, float | None]) -> str | None:
    known = {name: gain for name, gain in gains.items() if gain}
    return max(known, key=lambda name: known[name]) if known else None


def _regrets(steps: Reals, candidates: Candidates, asked: Mapping[str, StudyAnswers], chosen: Candidates) -> Regrets:
    """Every study under the defaults of the others."""
    if len(asked) < 2:
        return Regrets(())
    rows = []
    for i, (study, one) in enumerate(asked.items()):
        others = np.arange(len(asked)) != i
        value = one.values[best_of(steps, others, candidates.owners)]
        own = float(one.at(chosen)[0])
        rows.append(
            StudyRegret(
                study=study,
                objective=one.sign * float(value),
                best=one.sign * one.best,
                regret=float(one.in_steps(value)),
                uniform=float(np.nanmean(one.steps[candidates.owners == EVERYBODYS])),
                tunability=float(one.in_steps(np.array(own))),
                way=one.response.way,
            )
        )
    return Regrets(tuple(rows))
