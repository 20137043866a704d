"""The profile: one question asked at one target after the other, by one estimator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table, columns_of, html_table
from pedanova.base.terminal import TableColumn
from pedanova.counting.contrasts import Contrast, Slice
from pedanova.data.regions import Region, percent
from pedanova.measures.distributions import LEAST_TARGET
from pedanova.measures.importance import Importance, known_percent, never_notes, ranked
from pedanova.measures.question import Question
from pedanova.measures.surrogate.estimate import Estimate, Query, estimate
from pedanova.space.parameters import Space

USUAL = (0.1, 0.01, 0.5, 0.05, 0.2, 0.02, 0.3)  # targets that people ask for, the most usual first


def chosen_places(quantiles: Sequence[float]) -> list[int]:
    """Which steps to show where there is room for a few, the most usual first: all of a few, or both ends."""
    if len(quantiles) <= len(USUAL):
        order = [*USUAL, *quantiles]
        return sorted(range(len(quantiles)), key=lambda i: order.index(quantiles[i]))
    wanted = [quantiles.index(quantile) for quantile in USUAL if quantile in quantiles]
    return wanted or [0, len(quantiles) - 1]


@dataclass(frozen=True, slots=True)
class Step:
    """The importances at one quantile of the ladder."""

    quantile: Fraction  # asked for
    effective: float  # held, ties included
    rows: tuple[Importance, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Table):
    """Every parameter's importance at every quantile of a ladder inside one region.

    Quantiles that hold the same rows, by ties, appear in `notes`.

    Attributes
    ----------
    steps
        One a target: `quantile`, `effective` (ties included) and its `rows`.
    region
        In words.
    notes
        What to know beside the numbers.
    estimator
        Who answered: ``"counts"``, ``"surrogate"`` or ``"paper"``.

    Examples
    --------
    >>> import pedanova as pa
    >>> p = pa.analyze(pa.demo_trials(), "error").profile(ladder=[0.05, 0.2], estimator="counts")
    >>> [float(step.quantile) for step in p]
    [0.05, 0.2]
    """

    internal = Table.internal | {"by_parameter", "usable"}
    steps: tuple[Step, ...]
    region: str
    notes: tuple[Note, ...] = ()
    estimator: str = "counts"  # or "surrogate", or "paper"

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def of(self, name: str) -> list[tuple[float, Importance]]:
        """(quantile, importance) of one parameter, the strictest target first.

        Parameters
        ----------
        name
            The parameter.

        Returns
        -------
        list of tuple of float and Importance
            One for every target.
        """
        return [(float(step.quantile), row) for step in self.steps for row in step.rows if row.name == name]

    def to_dict(self) -> dict[str, list[Cell]]:
        """One entry for every quantile and parameter."""
        pairs = [(step, row) for step in self.steps for row in step.rows]
        steps: dict[str, list[Cell]] = {
            "target": [float(step.quantile) for step, _ in pairs],
            "effective": [step.effective for step, _ in pairs],
        }
        return steps | columns_of([row for _, row in pairs])

    def printed(self) -> Printed:
        """One line for every quantile, the ratio of every parameter."""
        targets = [f"{float(step.quantile):.6g}" for step in self.steps]
        rows = [str(step.rows[0].n_target) for step in self.steps]
        ratios = [{row.name: known_percent(row, row.ratio) for row in step.rows} for step in self.steps]
        names = list(ratios[-1]) if ratios else []
        columns = [TableColumn(name, [ratio[name] for ratio in ratios]) for name in names]
        return [TableColumn("target", targets), TableColumn("rows", rows), *columns]

    def usable(self) -> list[Step]:
        """Steps with enough target rows to say anything; all, where none has."""
        return [step for step in self.steps if step.rows[0].n_target >= LEAST_TARGET] or list(self.steps)

    def by_parameter(self) -> list[list[Importance]]:
        """Each parameter at every step of `usable`; the most important first where the target is the best 10 %."""
        steps = self.usable()
        if not steps:
            return []
        usual = min(steps, key=lambda step: abs(float(step.quantile) - 0.1))
        by_name = [{row.name: row for row in step.rows} for step in steps]
        return [[rows[row.name] for rows in by_name] for row in usual.rows]

    def _repr_html_(self) -> str:
        """Parameters down, a few targets across."""
        steps, rows = self.usable(), self.by_parameter()
        places = sorted(chosen_places([float(step.quantile) for step in steps]))
        columns = [TableColumn("parameter", [row[0].name for row in rows])]
        for i in places:
            cells, parts = [known_percent(row[i], row[i].ratio) for row in rows], [row[i].ratio for row in rows]
            columns.append(TableColumn(f"best {percent(steps[i].quantile)}", cells, parts=parts))
        return html_table(f"Ratios by target, inside {self.region}", columns, notes=self.notes)


class Sliced(Protocol):
    """What a profile asks of an analysis."""

    @property
    def space(self) -> Space: ...
    def inputs(self, contrasts: list[Contrast], target: object, region: object) -> Query: ...
    def slices(self, base: Region, parts: Iterable[Fraction] | None = ...) -> tuple[list[Slice], list[Fraction]]: ...


def profile_answer(a: Sliced, base: Region, parts: Sequence[Fraction] | None, question: Question) -> Profile:
    """The answer of `Analysis.importance` at these targets, or at all that were counted; one model serves all."""
    slices, same = a.slices(base, parts)
    queries = [a.inputs(one.contrasts(), one.target, base) for one in slices]
    answers = [estimate(query, question) for query in queries]
    copies = queries[0].model.dependence.copies if queries and queries[0].model is not None else {}
    by_model = any(answer.model_query is not None for answer in answers)
    steps, more = distinct_targets(slices, answers) if by_model else (list(zip(slices, answers, strict=True)), [])
    profile = [Step(one.part, effective_part(one, answer), ranked(answer.rows, copies)) for one, answer in steps]
    varied = {row.name for step in profile for row in step.rows if row.varied}
    notes = never_notes([name for name in a.space if name not in varied]) if profile else []
    notes += omitted_notes(
        [*same, *more], [] if parts is None else sorted({*parts} - {one.part for one in slices} - {*same})
    )
    notes += dict.fromkeys(note for _, answer in steps for note in answer.notes)
    by = "surrogate" if by_model else "paper" if question.estimator == "paper" else "counts"
    return Profile(tuple(profile), str(base), tuple(notes), by)


def effective_part(one: Slice, answer: Estimate) -> float:
    """The part that a target has, ties included: of the space after an adaptive sampler, else of the rows."""
    query = answer.model_query
    return one.held if query is None or not query.of_space else query.samples.ranks.part_of(query.target[1])


def distinct_targets(
    slices: Sequence[Slice], answers: Sequence[Estimate]
) -> tuple[list[tuple[Slice, Estimate]], list[Fraction]]:
    """Targets of the space that have other rows than the next stricter one; and the parts left out."""
    kept: list[tuple[Slice, Estimate]] = []
    same = []
    for one, answer in zip(slices, answers, strict=True):
        if kept and answer.model_query is not None and kept[-1][1].rows[0].n_target == answer.rows[0].n_target:
            same.append(one.part)
        else:
            kept.append((one, answer))
    return kept, same


def omitted_notes(same: Sequence[Fraction], beyond: Sequence[Fraction]) -> list[Note]:
    """Notes on which targets are missing, and why."""
    whys = (
        (same, "by ties the same rows as the next stricter target"),
        (beyond, "holding none of the region's rows, or all"),
    )
    return [Note("question", f"left out, {why}: {', '.join(map(percent, parts))}") for parts, why in whys if parts]
