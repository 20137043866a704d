"""``a.plot``: a figure for every question. Each takes ``ax=``, and returns the Axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, Unpack

import numpy as np

from pedanova.base.documents import completed
from pedanova.data.regions import Quantile, as_region
from pedanova.errors import QueryError
from pedanova.measures.question import HOW, How, Question, check_how
from pedanova.measures.questions.ask import (
    densities_of_all,
    effects_within,
    importance_of,
    interactions_of,
    pair_plane,
    profile_of,
)
from pedanova.measures.questions.compare import compare_measures, compare_objectives
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.smoothing import Smoothing
from pedanova.measures.studies.budgets import along_budgets
from pedanova.measures.surrogate.profile import Profile
from pedanova.measures.tradeoff import tradeoff_of
from pedanova.reduction.reduce import reduce_space
from pedanova.reduction.result import ReducedSpace
from pedanova.report.figures.draw import (
    draw_along,
    draw_growth,
    draw_importances,
    draw_measures,
    draw_objective,
    draw_profile,
    plain_names,
    pyplot,
)
from pedanova.report.figures.planes import draw_interactions, draw_objectives, draw_pair
from pedanova.report.figures.spread import CHANCE, draw_densities, draw_marginal, draw_marginal_band, draw_verdict
from pedanova.report.names import nesting_of

SETUP = '>>> import pedanova as pa\n>>> a = pa.analyze(pa.demo_trials(), "error")'
WORDS = {
    "target": "As in `Analysis.importance`.",
    "region": "As in `Analysis.importance`.",
    "metric": '``"share"`` or ``"ratio"``.',
    "ax": "Axes to draw in, one for each parameter; None for a new figure.",
    "options": "Those of the method of `Analysis` that is drawn, by name.",
    "names": "One parameter or several; None for the most important ones.",
    "keep": "As in `Analysis.reduce`.",
    "reduced": "A space that `Analysis.reduce` gave before; None to ask for it.",
    "over": '``"target"``, or ``"rows"`` for the first rows, more and more of them.',
    "first": "A parameter.",
    "second": "Another.",
    "cells": "Of each parameter.",
    "budget": "As in `Analysis.along`.",
    "at": "As in `Analysis.along`.",
    "among": "As in `Analysis.along`.",
    "clip": "As in `Analysis.effects`.",
    "smoothing": "As in `Analysis.effects`.",
    "seed": "As in `Analysis.compare`.",
    "objectives": "Which two, where there are more.",
}
ONE_AXES = "matplotlib.axes.Axes\n    What was drawn in."
AXES = "matplotlib.axes.Axes or array of them\n    What was drawn in: one, or one for each parameter."
FIGURES: dict[str, dict[str, str]] = {
    "": {
        "Examples": """>>> a.plot.importance(estimator="counts").figure.savefig  # doctest: +ELLIPSIS
<bound method Figure.savefig of ...>"""
    },
    "importance": {
        "Parameters": "target region metric ax options",
        "Returns": ONE_AXES,
        "Examples": """>>> ax = a.plot.importance(0.1, 0.3, estimator="counts", draws=200)
>>> [label.get_text() for label in ax.get_yticklabels()][-1] in a.space
True""",
    },
    "densities": {
        "Parameters": "names target region ax",
        "Returns": AXES,
        "Examples": """>>> a.plot.densities(["learning_rate", "units"]).size
2""",
    },
    "reduction": {
        "Parameters": "target keep names reduced ax options",
        "Returns": AXES,
        "Examples": """>>> small = a.reduce(folds=0, estimator="counts")
>>> a.plot.reduction(reduced=small).size >= len(small)
True""",
    },
    "profile": {
        "Parameters": "region over target ax options",
        "Returns": ONE_AXES,
        "Raises": "QueryError\n    `over` is neither.",
        "Examples": """>>> len(a.plot.profile(ladder=[0.05, 0.1, 0.3], estimator="counts").collections) > 1
True""",
    },
    "interactions": {
        "Parameters": "target region ax options",
        "Returns": ONE_AXES,
        "Examples": """>>> ax = a.plot.interactions(params=["learning_rate", "units", "alpha"], estimator="counts")
>>> sorted(label.get_text() for label in ax.get_yticklabels())
['alpha', 'units']""",
    },
    "pair": {
        "Parameters": "first second target region cells ax",
        "Returns": ONE_AXES,
        "Examples": """>>> a.plot.pair("learning_rate", "units").get_xlabel()
'learning_rate'""",
    },
    "effects": {
        "Parameters": "names region clip smoothing ax",
        "Returns": AXES,
        "Examples": """>>> a.plot.effects(["learning_rate", "units"], region=0.5).size
2""",
    },
    "compare": {
        "Parameters": "target seed ax",
        "Returns": ONE_AXES,
        "Examples": """>>> b = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "solver"]).first(100)
>>> len(b.plot.compare().patches) >= 10
True""",
    },
    "objectives": {
        "Parameters": "target objectives options",
        "Returns": "array of matplotlib.axes.Axes\n    The scatter first.",
        "Raises": "QueryError\n    The rows are no longer at hand, or there are not two objectives.",
        "Examples": """>>> b = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
>>> b.plot.objectives(estimator="counts", draws=0)[0].get_xlabel()
'error ↓'""",
    },
    "marginal": {
        "Parameters": "names region clip smoothing ax",
        "Returns": AXES,
        "Examples": """>>> a.plot.marginal(["learning_rate", "units"], region=0.5).size
2""",
    },
    "along": {
        "Parameters": "budget target at among ax options",
        "Returns": ONE_AXES,
        "Examples": """>>> a.plot.along("batch_size", estimator="counts", draws=0).get_xlabel()
'batch_size'""",
    },
    "objective": {
        "Parameters": "target region ax",
        "Returns": ONE_AXES,
        "Examples": """>>> a.plot.objective(0.1, 0.3).get_xlabel()
'error'""",
    },
}


def meaning(name: str) -> str:
    return f"{name}\n    {WORDS[name]}"


SHOWN = 6  # parameters, where none is named
MANY = 12  # panels from which on more stand in a row
STEPS, FEWEST_ROWS = 8, 50  # of a profile over rows
Axes = Any
Names: TypeAlias = str | Sequence[str] | None
Rows: TypeAlias = object  # whatever `importance` takes as target or region


@completed(FIGURES, setup=SETUP, word=meaning)
@dataclass(frozen=True, slots=True)
class Plots:
    """Figures of one analysis: ``a.plot``. Each takes ``ax=``, and returns the Axes."""

    _data: TrialData

    def importance(
        self, target: Rows = 0.1, region: Rows = 1.0, *, metric: str = "share", ax: Axes = None, **options: Unpack[How]
    ) -> Axes:
        """Ranked shares (or ratios) with their intervals."""
        importances = importance_of(self._data, Question(target, region, **options))
        nesting = nesting_of(self._data.tallies)
        return draw_importances(importances, ax, metric=metric, nesting=nesting)

    def densities(self, names: Names = None, target: Rows = 0.1, region: Rows = 1.0, *, ax: Axes = None) -> Axes:
        """Where the target's values lie: one parameter in `ax`, or several side by side.

        The band is what chance alone would do, full colour what is beyond it; ~ and grey mark a parameter that is
        not distinguishable from noise.
        """
        densities = densities_of_all(self._data, Question(target, region, force=True))
        ranked = importance_of(self._data, Question(target, region, force=True))
        chosen = list(ranked)[:SHOWN] if names is None else names
        shown = plain_names(list(densities))

        def draw(name: str, one: Axes) -> Axes:
            return draw_densities(densities[name], one, row=ranked[name], shown=shown[name])

        return with_legend(panels(chosen, ax, draw))

    def reduction(
        self,
        target: Rows = 0.1,
        keep: float = 0.95,
        *,
        names: Names = None,
        reduced: ReducedSpace | None = None,
        ax: Axes = None,
        **options: Any,
    ) -> Axes:
        """The reduced space over the densities: what is cut off is hatched, a line marks a fixed value.

        Further options are those of `reduce`; `reduced` is a space that it gave before.
        """
        if reduced is None:
            how = {name: options.pop(name) for name in list(options) if name in HOW}
            reduced = reduce_space(self._data, Question(target, **how), keep, **{"folds": 0, **options})
        verdicts, densities = dict(reduced), densities_of_all(self._data, Question(target, force=True))
        shown = plain_names(list(densities))

        def draw(name: str, one: Axes) -> Axes:
            return draw_verdict(verdicts[name], densities[name], one, shown=shown[name])

        return with_legend(panels(names or list(verdicts), ax, draw))

    def profile(
        self, region: Rows = 1.0, *, over: str = "target", target: Rows = 0.1, ax: Axes = None, **options: Any
    ) -> Axes:
        """Ratios as bands over the target's quantile, or over the number of rows: have they settled?

        ``over="target"`` takes the options of `Analysis.profile`. ``over="rows"`` asks the first rows,
        more and more of them, for one `target`, and takes those of `importance`. Both draw its numbers.
        """
        if over == "target":
            return draw_profile(self._profile(region, **options), ax)
        if over != "rows":
            raise QueryError(f"over={over!r} must be 'target' or 'rows'")
        steps, options = steps_to(self._data.rows), {"draws": 0} | options
        answers = [importance_of(self._data.first(rows), Question(target, region, **options)) for rows in steps]
        return draw_growth(steps, answers, ax)

    def along(
        self,
        budget: str | Mapping[float, str] | None = None,
        target: Rows = 0.1,
        *,
        at: Sequence[float] | None = None,
        among: str = "all",
        ax: Axes = None,
        **options: Unpack[How],
    ) -> Axes:
        """Shares with their intervals at each budget, and from which on the ranking is the full one's.

        Further options are those of `Analysis.along`.
        """
        question = Question(target, **check_how(options))
        return draw_along(along_budgets(self._data, budget, question, at=at, among=among), ax)

    def interactions(self, target: Rows = 0.1, region: Rows = 1.0, *, ax: Axes = None, **options: Any) -> Axes:
        """All pairs as a matrix, or the strongest as a list where there are more than eight parameters."""
        return draw_interactions(self._interactions(target, region, **options), ax)

    def pair(
        self, first: str, second: str, target: Rows = 0.1, region: Rows = 1.0, *, cells: int = 8, ax: Axes = None
    ) -> Axes:
        """Where on the plane of two parameters the target is likelier."""
        return draw_pair(pair_plane(self._data, (first, second), Question(target, region), cells), ax)

    def effects(
        self,
        names: Names = None,
        region: Rows = 1.0,
        *,
        clip: object = None,
        smoothing: Smoothing = "auto",
        ax: Axes = None,
    ) -> Axes:
        """The mean objective by value."""
        effects = effects_within(self._data, region, clip, smoothing)
        shown = plain_names(list(effects))

        def draw(name: str, one: Axes) -> Axes:
            return draw_marginal(effects.marginal(name), effects.mean, one, shown=shown.get(name))

        return panels(names or list(effects)[:SHOWN], ax, draw)

    def compare(self, target: float = 0.1, *, seed: int = 0, ax: Axes = None) -> Axes:
        """Ratios of every parameter by PED, f-ANOVA and a forest, side by side."""
        measures = compare_measures(self._data, target, seed=seed)
        return draw_measures(measures.ratios, measures.noise, ax)

    def objectives(
        self, target: Rows = 0.1, *, objectives: Sequence[str] | None = None, **options: Unpack[How]
    ) -> Axes:
        """Two objectives: every row, the target's filled, the front; and the shares for both and for each alone.

        Further options are those of `importance`. Returns an array of Axes, the scatter first.
        """
        observed = self._data.observations
        if observed is None:
            raise QueryError("the rows are no longer at hand; keep them with save(…, rows=True)")
        tradeoff = tradeoff_of(observed, target, self._data.levels.nan, objectives)
        return draw_objectives(tradeoff, dict(compare_objectives(self._data, Question(target, **options))))

    def marginal(
        self,
        names: Names = None,
        region: Rows = 1.0,
        *,
        clip: object = None,
        smoothing: Smoothing = "auto",
        ax: Axes = None,
    ) -> Axes:
        """The mean objective by value with its 95 % interval."""
        effects = effects_within(self._data, region, clip, smoothing)
        return panels(
            names or list(effects)[:SHOWN],
            ax,
            lambda name, one: draw_marginal_band(effects.marginal(name), effects.mean, one),
        )

    def _profile(self, region: Rows, ladder: Iterable[object] | None = None, **how: Unpack[How]) -> Profile:
        how.setdefault("draws", 0)
        return profile_of(self._data, replace(Question(region=region, **check_how(how)), force=True), ladder)

    def _interactions(
        self,
        target: Rows,
        region: Rows,
        order: int = 2,
        cells: object = "auto",
        corrected: bool = True,
        params: Iterable[str] | None = None,
        **how: Unpack[How],
    ) -> Any:
        question = Question(target, region, **check_how(how))
        return interactions_of(self._data, question, order=order, cells=cells, corrected=corrected, params=params)

    def objective(self, target: Rows = 0.1, region: Rows = 1.0, *, ax: Axes = None) -> Axes:
        """How the objective is spread, and where target and region end."""
        levels = self._data.levels
        by_level = next(iter(self._data.tallies.values())).rows_by_level()
        reached = np.cumsum(by_level) / max(1, by_level.sum())
        marks = []
        for word, rows in (("target", as_region(target, "target")), ("region", as_region(region, "region"))):
            end = rows.cuts(levels.direction)[1]
            if isinstance(end, Quantile):
                marks.append((word, self._data.reach(end.part, of="space")[0]))
            elif end is not None:
                marks.append((word, levels.sign * end.signed))
        return draw_objective(levels.thresholds, reached, marks, self._data.objective, ax)


def with_legend(axes: Axes) -> Axes:
    """One legend for all panels of a new figure, below them; in Axes of the caller's, on the first."""
    first = np.ravel(axes)[0]
    by_label: dict[str, Any] = {}
    for one in np.ravel(axes):
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            by_label.setdefault(label, handle)
    labels = sorted(by_label, key=lambda label: label == CHANCE)
    handles = [by_label[label] for label in labels]
    look = {"fontsize": "small", "frameon": False}
    if len(first.figure.axes) > 1 and first.figure.get_layout_engine() is not None:
        first.figure.legend(handles, labels, loc="outside lower center", ncols=4, **look)
    else:
        first.legend(handles, labels, **look)
    return axes


def panels(names: str | Sequence[str], ax: Axes, draw: Callable[[str, Axes], object]) -> Axes:
    """A panel for each name, side by side or in the Axes that were given; one alone is no array."""
    chosen = [names] if isinstance(names, str) else list(names)
    axes = _new_axes(len(chosen)) if ax is None else np.atleast_1d(np.array(ax, dtype=object))
    if axes.size < len(chosen):
        raise QueryError(f"ax= holds {axes.size} Axes for {len(chosen)} parameters; name one, or give more Axes")
    for name, one in zip(chosen, axes.flat, strict=False):
        draw(name, one)
    return axes.flat[0] if len(chosen) == 1 else axes


def _new_axes(count: int) -> Axes:
    columns = min(3 if count <= MANY else 5, count)
    rows = -(-count // columns)
    axes = pyplot().subplots(rows, columns, figsize=(3.6 * columns, 2.9 * rows), layout="constrained", squeeze=False)[1]
    for spare in axes.flat[count:]:
        spare.set_visible(False)
    return axes


def steps_to(rows: int) -> list[int]:
    """Ever more rows, up to all: a few steps, even on a log scale."""
    if rows < FEWEST_ROWS:
        raise QueryError(f"{rows} rows are too few to see ratios settle; at least {FEWEST_ROWS} are needed")
    return sorted({round(step) for step in np.geomspace(max(FEWEST_ROWS, rows / 64), rows, STEPS)})
