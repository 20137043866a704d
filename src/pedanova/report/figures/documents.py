"""What the figures take and give, and an example of each, which the tests run."""

from __future__ import annotations

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
    "clip": "As in `Analysis.marginal`.",
    "objectives": "Which two, where there are more.",
}
ONE = "matplotlib.axes.Axes\n    What was drawn in."
MANY = "matplotlib.axes.Axes or array of them\n    What was drawn in: one, or one for each parameter."
FIGURES: dict[str, dict[str, str]] = {
    "": {
        "Examples": """>>> a.plot.importance(estimator="counts").figure.savefig  # doctest: +ELLIPSIS
<bound method Figure.savefig of ...>"""
    },
    "importance": {
        "Parameters": "target region metric ax options",
        "Returns": ONE,
        "Examples": """>>> ax = a.plot.importance(0.1, 0.3, estimator="counts", draws=200)
>>> [label.get_text() for label in ax.get_yticklabels()][-1] in a.space
True""",
    },
    "densities": {
        "Parameters": "names target region ax",
        "Returns": MANY,
        "Examples": """>>> a.plot.densities(["learning_rate", "units"]).size
2""",
    },
    "reduction": {
        "Parameters": "target keep names reduced ax options",
        "Returns": MANY,
        "Examples": """>>> small = a.reduce(folds=0, estimator="counts")
>>> a.plot.reduction(reduced=small).size >= len(small)
True""",
    },
    "profile": {
        "Parameters": "region over target ax options",
        "Returns": ONE,
        "Raises": "QueryError\n    `over` is neither.",
        "Examples": """>>> len(a.plot.profile(ladder=[0.05, 0.1, 0.3], estimator="counts").collections) > 1
True""",
    },
    "interactions": {
        "Parameters": "target region ax options",
        "Returns": ONE,
        "Examples": """>>> ax = a.plot.interactions(params=["learning_rate", "units", "alpha"], estimator="counts")
>>> sorted(label.get_text() for label in ax.get_yticklabels())
['alpha', 'units']""",
    },
    "pair": {
        "Parameters": "first second target region cells ax",
        "Returns": ONE,
        "Examples": """>>> a.plot.pair("learning_rate", "units").get_xlabel()
'learning_rate'""",
    },
    "effects": {
        "Parameters": "names region ax options",
        "Returns": MANY,
        "Examples": """>>> a.plot.effects(["learning_rate", "units"], region=0.5).size
2""",
    },
    "compare": {
        "Parameters": "target ax options",
        "Returns": ONE,
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
        "Parameters": "names region clip ax options",
        "Returns": MANY,
        "Examples": """>>> a.plot.marginal(["learning_rate", "units"], region=0.5).size
2""",
    },
    "along": {
        "Parameters": "budget target ax options",
        "Returns": ONE,
        "Examples": """>>> a.plot.along("batch_size", estimator="counts", draws=0).get_xlabel()
'batch_size'""",
    },
    "objective": {
        "Parameters": "target region ax",
        "Returns": ONE,
        "Examples": """>>> a.plot.objective(0.1, 0.3).get_xlabel()
'error'""",
    },
}


def meaning(name: str) -> str:
    return f"{name}\n    {WORDS[name]}"
