"""``a.plot``: a figure for every question. Each takes ``ax=``, and returns the Axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pedanova.data.regions import Quantile, as_region
from pedanova.errors import QueryError
from pedanova.reduction.result import ReducedSpace
from pedanova.report.asks import Shows
from pedanova.report.figures import draw as figures

SHOWN = 6  # parameters, where none is named
MANY = 12  # panels from which on more stand in a row
STEPS, FEWEST_ROWS = 8, 50  # of a profile over rows
Axes = Any


@dataclass(frozen=True, slots=True)
class Plots:
    """Figures of one analysis."""

    _analysis: Shows

    def importance(
        self,
        target: object = 0.1,
        region: object = 1.0,
        *,
        metric: str = "share",
        ax: Axes = None,
        **options: Any,
    ) -> Axes:
        """Ranked shares (or ratios) with their intervals; further options are those of `importance`."""
        return figures.draw_importances(
            self._analysis.importance(target, region, **options), ax, metric=metric
        )

    def densities(
        self,
        names: str | Sequence[str] | None = None,
        target: object = 0.1,
        region: object = 1.0,
        *,
        ax: Axes = None,
    ) -> Axes:
        """Where the target's values lie: one parameter in `ax`, or several side by side."""
        found = self._analysis.all_densities(target, region)
        chosen = self._chosen(names, target, region)
        axes = self._axes(len(chosen), ax)
        for name, one in zip(chosen, axes.flat, strict=False):
            figures.draw_densities(found[name], one)
        axes.flat[0].legend(fontsize="small")
        return axes.flat[0] if len(chosen) == 1 else axes

    def reduction(
        self,
        target: object = 0.1,
        keep: float = 0.95,
        *,
        names: str | Sequence[str] | None = None,
        reduced: ReducedSpace | None = None,
        ax: Axes = None,
        **options: Any,
    ) -> Axes:
        """The reduced space over the densities: what is cut off is hatched, a line marks a fixed value.

        Further options are those of `reduce`; `reduced` is a space that it gave before.
        """
        found = self._analysis.reduce(target, keep, **{"folds": 0, **options}) if reduced is None else reduced
        spread = self._analysis.all_densities(target)
        chosen = [names] if isinstance(names, str) else list(names or found)
        axes = self._axes(len(chosen), ax, in_a_row=3 if len(chosen) <= MANY else 5)
        for name, one in zip(chosen, axes.flat, strict=False):
            figures.draw_verdict(found[name], spread[name], one)
        axes.flat[0].legend(fontsize="small")
        return axes.flat[0] if len(chosen) == 1 else axes

    def profile(
        self,
        region: object = 1.0,
        *,
        over: str = "target",
        target: object = 0.1,
        ax: Axes = None,
        **options: Any,
    ) -> Axes:
        """Ratios as bands over the target's quantile, or over the number of rows: have they settled?

        ``over="target"`` takes the options of `Analysis.profile`. ``over="rows"`` asks the first rows,
        more and more of them, for one `target`, and takes those of `importance`. Both draw its numbers.
        """
        if over == "target":
            return figures.draw_profile(self._analysis.profile(region, **options), ax)
        if over != "rows":
            raise QueryError(f"over={over!r} must be 'target' or 'rows'")
        found = [
            (rows, self._analysis.first(rows).importance(target, region, **{"draws": 0} | options))
            for rows in steps_to(self._analysis.rows)
        ]
        return figures.draw_growth(found, ax)

    def interactions(
        self, target: object = 0.1, region: object = 1.0, *, ax: Axes = None, **options: Any
    ) -> Axes:
        """All pairs as a heat map."""
        return figures.draw_interactions(self._analysis.interactions(target, region, **options), ax)

    def pair(
        self,
        first: str,
        second: str,
        target: object = 0.1,
        region: object = 1.0,
        *,
        cells: int = 8,
        ax: Axes = None,
    ) -> Axes:
        """Where on the plane of two parameters the target is likelier."""
        return figures.draw_pair(self._analysis.pair(first, second, target, region, cells=cells), ax)

    def effects(
        self,
        names: str | Sequence[str] | None = None,
        region: object = 1.0,
        *,
        ax: Axes = None,
        **options: Any,
    ) -> Axes:
        """The mean objective by value."""
        found = self._analysis.effects(region, **options)
        wanted = [names] if isinstance(names, str) else list(names or list(found)[:SHOWN])
        axes = self._axes(len(wanted), ax)
        for name, one in zip(wanted, axes.flat, strict=False):
            figures.draw_marginal(found.marginal(name), found.mean, one)
        return axes.flat[0] if len(wanted) == 1 else axes

    def objective(self, target: object = 0.1, region: object = 1.0, *, ax: Axes = None) -> Axes:
        """How the objective is spread, and where target and region end."""
        levels = self._analysis.levels
        by_level = next(iter(self._analysis.tallies.values())).rows_by_level()
        reached = np.cumsum(by_level) / max(1, by_level.sum())
        marks = []
        for word, rows in (("target", as_region(target, "target")), ("region", as_region(region, "region"))):
            end = rows.cuts(levels.direction)[1]
            if isinstance(end, Quantile):
                marks.append((word, self._analysis.reach(end.part)[0]))
            elif end is not None:
                marks.append((word, levels.sign * end.signed))
        return figures.draw_objective(levels.thresholds, reached, marks, self._analysis.objective, ax)

    def _chosen(self, names: str | Sequence[str] | None, target: object, region: object) -> list[str]:
        if isinstance(names, str):
            return [names]
        if names is not None:
            return list(names)
        return list(self._analysis.importance(target, region, estimator="counts", draws=0, force=True))[
            :SHOWN
        ]

    def _axes(self, count: int, ax: Axes, in_a_row: int = 3) -> Axes:
        """So many Axes; or the one that was given."""
        if ax is None:
            columns = min(in_a_row, count)
            rows = -(-count // columns)
            axes = figures.pyplot().subplots(
                rows, columns, figsize=(3.6 * columns, 2.9 * rows), layout="constrained", squeeze=False
            )[1]
            for spare in axes.flat[count:]:
                spare.set_visible(False)
            return axes
        axes = np.array([ax], dtype=object) if not isinstance(ax, np.ndarray) else ax
        if axes.size < count:
            raise QueryError(
                f"ax= holds {axes.size} Axes for {count} parameters; name one, or give more Axes"
            )
        return axes


def steps_to(rows: int) -> list[int]:
    """Ever more rows, up to all: a few steps, even on a log scale."""
    if rows < FEWEST_ROWS:
        raise QueryError(f"{rows} rows are too few to see ratios settle; it takes {FEWEST_ROWS}")
    return sorted({round(step) for step in np.geomspace(max(FEWEST_ROWS, rows / 64), rows, STEPS)})
