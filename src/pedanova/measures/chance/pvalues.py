"""p-values for the question of the table: is a parameter independent of being in this target, among the rows
of this region?

Each row has a score: how likely it belongs to the best part of the population, which for the rows
next to the threshold is a matter of chance. What parameters that are no kin tell of it is taken off
first, and the order of the other rows points where to look. Then scores are permuted among the rows.
docs/how-sure.md says what was simulated.
"""

from __future__ import annotations

from collections.abc import Sequence

from pedanova.measures.chance.examiner import Examiner, Mask
from pedanova.measures.chance.kinship import Kinship
from pedanova.measures.chance.ranked_rows import RankedRows


def p_values(
    rows: RankedRows,
    kinship: Kinship,
    target: Mask,
    region: Mask | None = None,
    *,
    certain: bool = False,
    blocks: bool = False,
    only: Sequence[str] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Of one question; a `Examiner` answers several of the same rows in a fraction of the time."""
    examiner = Examiner(rows, kinship)
    return examiner.p_values(target, region, certain=certain, blocks=blocks, only=only, seed=seed)
