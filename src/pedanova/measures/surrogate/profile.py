"""The profile: the importances at several targets, from one estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table, columns_of, html_table
from pedanova.base.terminal import TableColumn
from pedanova.data.regions import percent
from pedanova.measures.distributions import LEAST_TARGET
from pedanova.measures.importance import Importance, known_percent
from pedanova.measures.question import TARGET

USUAL = tuple(dict.fromkeys((TARGET, 0.1, 0.01, 0.5, 0.05, 0.2, 0.02, 0.3)))  # usual targets, the most usual first


def chosen_places(quantiles: Sequence[float]) -> list[int]:
    """The indices of the targets to show if there is little room, the most useful first."""
    if len(quantiles) <= len(USUAL):
        order = [*USUAL, *quantiles]
        return sorted(range(len(quantiles)), key=lambda i: order.index(quantiles[i]))
    wanted = [quantiles.index(quantile) for quantile in USUAL if quantile in quantiles]
    return wanted or [0, len(quantiles) - 1]


@dataclass(frozen=True, slots=True)
class Step:
    """The importances at one target of a profile."""

    quantile: Fraction  # the requested quantile
    effective: float  # the actual part of the rows, with ties
    rows: tuple[Importance, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Table):
    """The importance of every parameter at several targets inside one region.

    If two quantiles select the same rows because of ties, only one is included, and `notes` say so.

    Attributes
    ----------
    steps
        One step for each target. Each step has `quantile`, `effective` (the actual fraction of the rows, with ties) and
        `rows`.
    region
        The region, in words.
    estimator
        The estimator that was used: ``"counts"`` or ``"surrogate"``.

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
    estimator: str = "counts"  # or "surrogate"

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def of(self, name: str) -> list[tuple[float, Importance]]:
        """The importance of one parameter at each target.

        Parameters
        ----------
        name
            The parameter.

        Returns
        -------
        list of tuple of float and Importance
            Pairs (quantile, importance), the strictest target first.
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
        """A table of ratios: one line for each quantile, and one column for each parameter."""
        targets = [f"{float(step.quantile):.6g}" for step in self.steps]
        rows = [str(step.rows[0].n_target) for step in self.steps]
        ratios = [{row.name: known_percent(row, row.ratio) for row in step.rows} for step in self.steps]
        names = list(ratios[-1]) if ratios else []
        columns = [TableColumn(name, [ratio[name] for ratio in ratios]) for name in names]
        return [TableColumn("target", targets), TableColumn("rows", rows), *columns]

    def usable(self) -> list[Step]:
        """The steps with enough target rows; all steps if none has enough."""
        return [step for step in self.steps if step.rows[0].n_target >= LEAST_TARGET] or list(self.steps)

    def by_parameter(self) -> list[list[Importance]]:
        """The importances at every usable target, by parameter; sorted by the importance at the default target."""
        steps = self.usable()
        if not steps:
            return []
        usual = min(steps, key=lambda step: abs(float(step.quantile) - TARGET))
        by_name = [{row.name: row for row in step.rows} for step in steps]
        return [[rows[row.name] for rows in by_name] for row in usual.rows]

    def _repr_html_(self) -> str:
        """An HTML table with parameters as lines and a few targets as columns."""
        steps, rows = self.usable(), self.by_parameter()
        places = sorted(chosen_places([float(step.quantile) for step in steps]))
        columns = [TableColumn("parameter", [row[0].name for row in rows])]
        for i in places:
            cells, parts = [known_percent(row[i], row[i].ratio) for row in rows], [row[i].ratio for row in rows]
            columns.append(TableColumn(f"best {percent(steps[i].quantile)}", cells, parts=parts))
        return html_table(f"Ratio of each parameter by target, inside {self.region}", columns, notes=self.notes)
