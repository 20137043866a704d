"""A question at a glance: the numbers of an answer without draws and notes, each found when it is first looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importances
from pedanova.measures.question import Question
from pedanova.measures.surrogate.answer import answer, density_answer
from pedanova.measures.surrogate.estimate import Query


@dataclass(frozen=True, eq=False)
class Glance:
    """Counts of one question, for a page that follows the mouse: bars first, densities after them."""

    query: Query
    question: Question
    words: tuple[str, str]  # target and region
    objective: str

    @property
    def rows(self) -> int:
        """That are looked at, in the region or not."""
        return self.query.count

    @cached_property
    def importances(self) -> Importances:
        """What `importance` says with ``draws=0``, without its notes."""
        return answer(self.query, self.question, self.words, (), objective=self.objective, whole=False, brief=True)

    @cached_property
    def densities(self) -> dict[str, Densities]:
        """What `all_densities` says."""
        plain = replace(self.question, baseline="region", smoothing="auto", force=True)
        return density_answer(self.query, plain, self.words, objective=self.objective)
