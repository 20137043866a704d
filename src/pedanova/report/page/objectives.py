"""Several objectives: what matters for each alone, beside what matters for all, and where the good rows lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from pedanova.counting.goal_plane import GoalPlane
from pedanova.errors import PedanovaError
from pedanova.report.asks import Shows
from pedanova.report.page.answers import asked_of, importance_row
from pedanova.report.page.numbers import digits
from pedanova.report.page.question import Question

BEST = (
    "Rows are ordered by fronts: first those that no other row beats in every objective at once, then those beaten "
    "only by these, and so on; inside a front, rows with more room around them come first."
)


def objectives(a: Shows, question: Question, **options: Any) -> dict[str, Any]:
    """Shares for each objective and for all together, and the plane of the first two."""
    try:
        inner, target, region = asked_of(a, question)
        found = inner.by_objective(target, region, baseline=question.baseline, of=question.of, **options)
        plane = inner.goal_plane(target, region)
    except PedanovaError as error:
        return {"refused": str(error)}
    return {
        "refused": None,
        "best": BEST,
        "importances": {name: [importance_row(row) for row in one.rows] for name, one in found.items()},
        "plane": plane_of_goals(plane),
    }


def plane_of_goals(plane: GoalPlane) -> dict[str, Any]:
    """Cells that hold rows, as [across, up, rows, good rows, rows of the front]."""
    held = np.argwhere(plane.region > 0).tolist()
    cells = [[i, j, *(int(table[i, j]) for table in (plane.region, plane.target, plane.front))] for i, j in held]
    axes = [
        {"name": name, "direction": direction, "log": log, "edges": digits(edges, 6)}
        for name, direction, log, edges in zip(plane.names, plane.directions, plane.log, plane.edges, strict=True)
    ]
    return {"axes": axes, "cells": cells}
