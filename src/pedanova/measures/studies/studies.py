"""The studies themselves, a line for each."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.base.table import Cell, NamedTable, Printed


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One study among others.

    leading
        Its first parameters with their shares.
    agreement
        Spearman's correlation of its ranking with the mean ranks in all other studies.
    differs
        Parameters that matter clearly more or less here than in all other studies.
    estimator
        Who answered: counts of its rows, or a model of them.
    """

    name: str
    n_region: int
    n_target: int
    leading: tuple[tuple[str, float], ...]
    agreement: float | None
    differs: tuple[str, ...]
    estimator: str


@dataclass(frozen=True, slots=True, repr=False)
class Studies(NamedTable[StudyRow]):
    """`StudyRow` by name, in the order given."""

    rows: tuple[StudyRow, ...]
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, list[Cell]]:
        rows = self.rows
        return {
            "study": [row.name for row in rows],
            "n_region": [row.n_region for row in rows],
            "n_target": [row.n_target for row in rows],
            "first": [row.leading[0][0] if row.leading else None for row in rows],
            "agreement": [row.agreement for row in rows],
            "differs": [", ".join(row.differs) for row in rows],
            "estimator": [row.estimator for row in rows],
        }

    def printed(self) -> Printed:
        leading = [", ".join(f"{name} {percent(share)}" for name, share in row.leading) for row in self.rows]
        return [
            ("study", [row.name for row in self.rows]),
            ("rows", [f"{row.n_region:,}" for row in self.rows]),
            ("target", [f"{row.n_target:,}" for row in self.rows]),
            ("what matters", leading),
            ("agreement", ["" if row.agreement is None else f"{row.agreement:.2f}" for row in self.rows]),
            ("differs in", [", ".join(row.differs) for row in self.rows]),
        ]

    def heading(self) -> str:
        return "The studies, and how their rankings agree with those of all others"
