"""Many columns counted batch after batch, into tables that stay: adding up tables would cost more than the rows do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from pedanova.base.kernel import library as kernel
from pedanova.base.threads import spread
from pedanova.counting.arrays import Job, added, added_up, grouped, in_order, job_of, usable
from pedanova.counting.reference import Counted
from pedanova.data.observations import Observations
from pedanova.space.grid import grid_of

MANY_COLUMNS = 64  # from here on


@dataclass(slots=True, eq=False)
class RunningCounts:
    """Tables of every parameter by [code × cell]; a thread fills those of some columns."""

    levels: int
    threads: int = 1
    _tables: dict[tuple[str, bool], tuple[Job, NDArray[Any]]] = field(default_factory=dict)

    @staticmethod
    def is_for(observations: Observations) -> bool:
        return kernel.available() and len(observations.space) >= MANY_COLUMNS

    def add(self, observations: Observations, codes: NDArray[Any]) -> None:
        """Rows coded `levels` are left out."""
        objective, every = usable(observations.objective), slice(0, len(codes))
        jobs = [job_of(observations.columns[name], grid_of(own)) for name, own in observations.space.items()]

        def count(group: list[Job]) -> None:
            tables = [self._table(job) for job in group]
            kernel.count_features([job.placed for job in group], every, codes, self.levels, objective, tables)

        if len(codes):
            spread(count, grouped(jobs), threads=self.threads)

    def _table(self, job: Job) -> NDArray[Any]:
        """Its table so far. Cells may stand in another order where a column came in another form."""
        key = job.name, job.order is None
        if key not in self._tables:
            self._tables[key] = job, kernel.empty_table(self.levels + 1, job.grid.width)
        return self._tables[key][1]

    def take(self) -> dict[str, list[NDArray[Any]]]:
        """Counts and sums of every parameter, once: they are given away one by one, as memory may be short."""
        found: dict[str, Counted] = {}
        while self._tables:
            (name, _), (job, table) = self._tables.popitem()
            (total,) = added_up([[table[: self.levels]]])
            own = in_order(total, job)
            found[name] = added([found[name], own]) if name in found else own
        return {name: list(both) for name, both in found.items()}
