"""The result of `reduce`: a verdict with a reason for each parameter, and an evaluation of the smaller space."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pedanova.base.digits import interval, percent, short
from pedanova.base.notes import Note
from pedanova.base.table import Cell, NamedTable, Printed, html_table
from pedanova.reduction.domains import Bounds
from pedanova.space import exports
from pedanova.space.parameters import Categorical, Float, Int, Ordinal, Parameter, Space, in_words, values_of

FEW_FAIL = 0.05  # a smaller part that fails is not printed
FULL = 6  # digits of a bound in `to_dict`
Advice: TypeAlias = Literal["keep", "narrow", "widen", "drop", "undecided"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one parameter.

    Attributes
    ----------
    name
        The parameter.
    advice
        ``keep``, ``narrow``, ``widen`` (good values are most frequent at a bound), ``drop`` (the condition of
        the parameter can no longer be true) or ``undecided``.
    reason
        The reason, in one sentence.
    before, after
        The domain before and after the reduction; `after` is None if the parameter can no longer have a value.
    part
        The fraction of the range that is left, on the parameter's own scale.
    beyond
        New bounds (low, high) of a wider range to try, if good values are most frequent at a bound. A bound that is
        None does not change.

    Examples
    --------
    >>> import pedanova as pa
    >>> small = pa.analyze(pa.demo_trials(), "error").reduce()
    >>> low, high = small["units"].beyond
    >>> small["units"].advice, low, high > small["units"].before.high
    ('widen', None, True)
    """

    name: str
    advice: Advice
    reason: str
    before: Parameter
    after: Parameter | None
    part: float = 1.0
    beyond: Bounds = (None, None)

    def suggested(self) -> str:
        """Describe the new domain, and wider bounds to try; the text is empty if nothing changes."""
        if self.after is None:
            return "never active"
        (now, values), before = ((in_words(d), len(values_of(d))) for d in (self.after, self.before))
        left = "" if (now, values) == before else now
        ends = zip(("down", "up"), ("low", "high"), self.beyond, strict=True)
        moved = [(way, to) for way, end, to in ends if to is not None and getattr(self.after, end, None) != to]
        tries = [f"{way} to {short(to)}" for way, to in moved]
        return ", ".join(part for part in (left, f"try {' and '.join(tries)}" if tries else "") if part)


@dataclass(frozen=True, slots=True)
class Proportion:
    """A fraction of rows, such as 97 %, with its 95 % interval."""

    part: float
    low: float
    high: float
    rows: int

    def __str__(self) -> str:
        return f"{percent(self.part)} ({interval(self.low, self.high)})"


@dataclass(frozen=True, slots=True)
class Evidence:
    """How good the smaller space is.

    Attributes
    ----------
    kept
        The fraction of the best points that lies inside all bounds. With a model, its interval comes from the posterior
        samples; without a model, from the number of the best rows.
    inside
        The fraction of the target's rows that lies inside all bounds.
    volume
        The fraction of the space that is left, measured on the scales of the parameters (log or linear). A conditional
        parameter counts only where it has a value.
    enrichment
        The frequency of the best points inside the bounds, divided by their frequency in the original space.
    rows
        The number of rows that were used.
    estimator
        The estimator that chose the bounds: ``"surrogate"`` or ``"counts"``.
    best
        The best points, in words.
    fails, where
        The fraction of the smaller space that probably fails, and the values that mostly fail, in words. `where` is
        empty if there are no such values.

    Examples
    --------
    >>> import pedanova as pa
    >>> evidence = pa.analyze(pa.demo_trials(), "error").reduce(estimator="counts").evidence
    >>> evidence.rows, evidence.volume < 0.8
    (1000, True)
    """

    kept: Proportion
    inside: float
    volume: float
    enrichment: float
    rows: int
    estimator: str
    best: str
    fails: float = 0.0
    where: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ReducedSpace(NamedTable[Verdict]):
    """The verdicts by parameter, in the order of the space: ``r["lr"].reason``, ``r.space``, ``r.evidence``.

    Attributes
    ----------
    evidence
        How good the smaller space is; None if nothing was cut off.
    target, keep
        The best points in words, and the option `keep`.

    Examples
    --------
    >>> import pedanova as pa
    >>> small = pa.analyze(pa.demo_trials(), "error").reduce()
    >>> list(small.to("optuna"))[:2]
    ['learning_rate', 'alpha']
    >>> print(small.export("code").splitlines()[1])  # doctest: +ELLIPSIS
    params['learning_rate'] = trial.suggest_float('learning_rate', ..., log=True)
    """

    rows: tuple[Verdict, ...]
    evidence: Evidence | None  # None if nothing was cut off
    target: str  # in words
    keep: float
    notes: tuple[Note, ...] = ()

    @property
    def space(self) -> Space:
        """The reduced space; fixed parameters have a single choice."""
        return Space({row.name: row.after for row in self.rows if row.after is not None})

    @property
    def fixed(self) -> dict[str, object]:
        """The parameters with a single value left, and this value."""
        values = {name: values_of(domain) for name, domain in self.space.items()}
        return {name: only[0] for name, only in values.items() if len(only) == 1}

    def to_dict(self) -> dict[str, list[Cell]]:
        return {
            "parameter": [row.name for row in self.rows],
            "verdict": [row.advice for row in self.rows],
            "before": [in_words(row.before, FULL) for row in self.rows],
            "after": ["" if row.after is None else in_words(row.after, FULL) for row in self.rows],
            "part": [row.part for row in self.rows],
            "reason": [row.reason for row in self.rows],
        }

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.column("verdict", lambda row: row.advice, kind="words"),
            self.column("before", lambda row: in_words(row.before), kind="words", leave=1),
            self.column("after", lambda row: row.suggested(), kind="words"),
            self.percents("part", "kept", leave=2),
        ]

    def summary(self) -> str:
        """The fraction of the space that is left, and the fraction of the best points inside it, in words."""
        if self.evidence is None:
            return "Nothing is cut off."
        e = self.evidence
        volume = percent(e.volume) if e.volume >= 5e-4 else f"A fraction of {short(e.volume, 2)}"
        source = "According to the model" if e.estimator == "surrogate" else "According to the rows"
        return (
            f"{volume} of the space is left. {source}, {e.kept} of {e.best} lie inside; "
            f"there they are {short(e.enrichment, 2)} times as frequent as in the whole space."
            + (f" {percent(e.fails)} of it fails{e.where and f', mostly at {e.where}'}." if e.fails >= FEW_FAIL else "")
        )

    def _repr_html_(self) -> str:
        """HTML for a notebook: the verdicts with their reasons, and the evaluation of the smaller space."""
        name, *words, part = self.printed()
        columns = [
            name,
            *(replace(column, kind="words") for column in words),
            replace(part, parts=[row.part for row in self.rows]),
            self.column("reason", lambda row: row.reason, kind="words"),
        ]
        return html_table(self.summary(), columns, notes=self.notes)

    def to_text(self, width: int = 100) -> str:
        table = NamedTable.to_text(self)
        reasons = [textwrap.fill(f"{row.name}: {row.reason}", width, subsequent_indent="  ") for row in self.rows]
        return "\n".join([table, "", textwrap.fill(self.summary(), width), "", *reasons])

    def to(self, tool: str) -> Any:
        """Convert the space to the objects of a tool, such as distributions of Optuna.

        Parameters
        ----------
        tool
            ``"optuna"``: distributions by name; ``"configspace"``: a `ConfigurationSpace`, which SMAC uses too;
            ``"raytune"``: a `param_space`, with plain values for fixed parameters.

        Returns
        -------
        dict or ConfigSpace.ConfigurationSpace
            The space, with its conditions if the tool supports conditions; a warning names the conditions that are
            lost.

        Raises
        ------
        SpaceError
            `tool` is unknown.
        MissingLibraryError
            The tool is not installed.
        """
        exports.warn_of_lost_conditions(self.space, tool)
        return exports.to_tool(self.space, tool)

    def export(self, form: str) -> str:
        """The space as text in the format of a tool.

        Parameters
        ----------
        form
            ``optuna``, ``configspace`` (also for SMAC), ``raytune``, ``wandb``, ``sklearn`` (`param_distributions`),
            ``json``, or ``code`` (Python lines for the objective function of an Optuna study).

        Returns
        -------
        str
            JSON, YAML or Python.

        Raises
        ------
        SpaceError
            `form` is unknown.
        """
        exports.warn_of_lost_conditions(self.space, form)
        return exports.export(self.space, form)


Chosen: TypeAlias = tuple[float | None, float | None] | Sequence[Any]  # both ends of a range, or some values


def inside_box(reduced: ReducedSpace, box: Mapping[str, Chosen]) -> ReducedSpace:
    """Limit every new domain to the values in `box`."""
    rows = tuple(_cut(row, box[row.name]) if row.name in box else row for row in reduced.rows)
    return replace(reduced, rows=rows)


def _cut(row: Verdict, chosen: Chosen) -> Verdict:
    after = None if row.after is None else _inside(row.after, chosen)
    if after is None or after == row.after:
        return row
    changed = row.advice not in ("keep", "undecided")
    reason = row.reason if changed else "as selected"
    return replace(row, advice=row.advice if changed else "narrow", reason=reason, after=after, beyond=(None, None))


def _inside(domain: Parameter, chosen: Chosen) -> Parameter | None:
    """Restrict the domain to the values in `chosen`; returns None if no valid domain is left."""
    if isinstance(domain, Categorical | Ordinal):
        values = tuple(value for value in values_of(domain) if _is_in(value, chosen))
        return type(domain)(values, domain.when) if values else None
    if not isinstance(domain, Float | Int) or not isinstance(chosen, tuple):
        return None
    first = domain.low if chosen[0] is None else max(domain.low, chosen[0])
    last = domain.high if chosen[1] is None else min(domain.high, chosen[1])
    if isinstance(domain, Float):
        return replace(domain, low=float(first), high=float(last)) if first < last else None
    least = domain.low + math.ceil((first - domain.low) / domain.step) * domain.step
    most = domain.low + math.floor((last - domain.low) / domain.step) * domain.step
    return replace(domain, low=least, high=most) if least < most else None


def _is_in(value: Any, chosen: Chosen) -> bool:
    if not isinstance(chosen, tuple):
        return value in chosen
    low, high = chosen
    return (low is None or value >= low) and (high is None or value <= high)
