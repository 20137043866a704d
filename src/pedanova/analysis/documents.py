"""What the methods of an analysis take, give and refuse, and an example of each, which the tests run.

A method says what it does where it is written; these sections are put behind that, so that `help` and the site
show them whole. Options that several methods share are worded once, in `analysis.options`.
"""

from __future__ import annotations

from pedanova.analysis.options import BY_NAME, parameters_section

SETUP = '>>> import pedanova as pa\n>>> a = pa.analyze(pa.demo_trials(), "error")'
SHARED = {  # arguments that are no options of the command line
    "name": "A parameter.",
    "names": "Parameters; None for all.",
    "cells": "Cells of each parameter, about equal in rows: a whole number from 2 up.",
    "options": "Those of `importance`, by name.",
    "trees": "Size of the forest.",
    "clip": "A quantile, or `at_most` (`at_least` where larger is better): worse objectives count as the one there.",
    "ladder": "The targets, as quantiles; None for all that were counted.",
    "height": "Of the frame, in pixels.",
    "live": "Whether rows can be selected in it; None for wherever anywidget is installed and the rows are at hand.",
    "objective": "Its name.",
    "part": "A part of the rows, such as 0.1, or a region of the objective.",
    "first": "A parameter.",
    "second": "Another.",
    "rows": "How many.",
    "pairs": "Whether to compute pairs; their time grows with the square of the rows.",
}
NO_SUCH = """UnknownParameterError
    No parameter is called so; the nearest names are given."""
REFUSED = """QueryError
    Target or region are out of range, or one is not inside the other.
TooFewRowsError
    The target holds fewer than 5 rows, and `force` was not given.
LevelsError
    The analysis was loaded or added, and needs rows or thresholds that it does not keep."""
NO_ROWS = """LevelsError
    The rows are no longer at hand: the analysis was loaded without them, or added."""
METHODS: dict[str, dict[str, str]] = {  # by method: names of parameters, and the sections behind them
    "": {
        "Attributes": """objective
    Its name.
levels, tallies
    What was counted: slices of the objective, and counts by parameter.
notes
    What was guessed, dropped or merged, in sentences.
dropped
    Rows left out for want of an objective.
observations
    The rows; None once loaded without them, or added.
threads
    That count.""",
        "Examples": """>>> a.objective, a.rows, len(a.notes) > 5
('error', 1000, True)""",
    },
    "importance": {
        "Returns": """Importances
    Rows by parameter, the most important first: ``found["lr"].share``, ``.low``, ``.high``, ``.p_value``.""",
        "Raises": REFUSED,
        "Examples": """>>> found = a.importance()
>>> list(found)[:3]
['learning_rate', 'units', 'epochs']
>>> found["learning_rate"].significant, found["lucky_number"].significant
(True, False)
>>> next(iter(a.importance(target=0.1, region=0.3)))  # once inside the best 30 %
'units'""",
    },
    "profile": {
        "Parameters": "region baseline smoothing ladder estimator draws seed of",
        "Returns": """Profile
    Ratios of every parameter by target; ``.to_pandas()`` for a table.""",
        "Raises": REFUSED,
        "Examples": """>>> [round(row.share, 2) for _, row in a.profile(ladder=[0.05, 0.2]).of("learning_rate")]
[0.05, 0.19]""",
    },
    "densities": {
        "Parameters": "name target region smoothing estimator seed of",
        "Returns": """Densities
    Parts by cell, and ``.good()``: where the good values lie.""",
        "Raises": f"{NO_SUCH}\n{REFUSED}",
        "Examples": """>>> [good.words for good in a.densities("solver").good()]
['adam']""",
    },
    "all_densities": {
        "Parameters": "target region smoothing estimator seed of",
        "Returns": """dict of str to Densities
    One for every parameter.""",
        "Raises": REFUSED,
        "Examples": """>>> list(a.all_densities())[:3]
['learning_rate', 'alpha', 'units']""",
    },
    "effects": {
        "Returns": """Effects
    Rows by parameter, the largest first: ``e["lr"].share``, and ``e.marginal("lr")``.""",
        "Raises": """QueryError
    The region holds objectives that have no variance (infinite, or NaN), or several objectives were analysed.""",
        "Examples": """>>> next(iter(a.effects(region=0.5)))
'learning_rate'""",
    },
    "marginal": {
        "Parameters": "name region clip smoothing",
        "Returns": """Marginal
    Mean and interval by cell.""",
        "Raises": NO_SUCH,
        "Examples": """>>> m = a.marginal("solver", region=0.5)
>>> [(cell, round(mean, 2)) for cell, mean in zip(m.cells, m.mean.tolist())]
[('adam', 0.17), ('sgd', 0.19)]""",
    },
    "plot": {
        "Returns": """Plots
    Its methods draw with matplotlib.""",
        "Examples": """>>> type(a.plot).__name__
'Plots'""",
    },
    "widget": {
        "Parameters": "height live options",
        "Returns": """LiveWidget or Widget
    What a notebook shows; the live one has ``selection`` and ``importance()``.""",
        "Raises": """MissingLibraryError
    It is to be live, and anywidget is not installed.""",
        "Examples": """>>> w = a.widget()
>>> w.selection = {"solver": ["adam"]}
>>> w.selection
{'solver': ['adam']}""",
    },
    "explore": {
        "Returns": """Explorer
    Its ``url`` opens the page, its ``close()`` ends it.""",
        "Raises": """MissingLibraryError
    Starlette and uvicorn are not installed (``pedanova[explore]``).""",
        "Examples": """>>> with a.explore(open=False, wait=False) as page:
...     page.url.partition("?")[0].rpartition(":")[0]
'http://127.0.0.1'""",
    },
    "by_objective": {
        "Parameters": "target region options",
        "Returns": """Comparison
    Ratios by parameter, a column for each objective.""",
        "Raises": NO_ROWS,
        "Examples": """>>> b = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
>>> list(b.by_objective(draws=0, estimator="counts"))
['together', 'error', 'train_seconds']""",
    },
    "forest": {
        "Parameters": "clip trees seed pairs",
        "Returns": """ForestEffects
    Rows by parameter, the largest share first; ``.pairs`` for those by pair.""",
        "Raises": f"""MissingLibraryError
    scikit-learn is not installed (``pedanova[fanova]``).
{NO_ROWS}""",
        "Examples": """>>> next(iter(a.first(200).forest(trees=8, pairs=False)))
'learning_rate'""",
    },
    "compare": {
        "Parameters": "target seed",
        "Returns": """Comparison
    Ratios by parameter, a column for each measure.""",
        "Raises": f"""MissingLibraryError
    scikit-learn is not installed (``pedanova[fanova]``).
{NO_ROWS}""",
        "Examples": """>>> b = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "solver"]).first(200)
>>> b.compare().to_dict()["parameter"][0]
'learning_rate'""",
    },
    "reduce": {
        "Returns": """ReducedSpace
    A verdict for every parameter; ``.to_optuna()``, ``.export("wandb")`` … write the space for other tools.""",
        "Raises": f"""QueryError
    An option is none of its choices, or `keep` and `folds` are out of range.
{NO_ROWS}""",
        "Examples": """>>> small = a.reduce(folds=0)
>>> small["learning_rate"].advice, small["units"].advice
('narrow', 'widen')
>>> small.space["learning_rate"].low > a.space["learning_rate"].low
True""",
    },
    "alone": {
        "Parameters": "objective",
        "Returns": """Analysis
    For that objective, with its own direction.""",
        "Raises": NO_ROWS,
        "Examples": """>>> pa.analyze(pa.demo_trials(), ["error", "train_seconds"]).alone("train_seconds")
Analysis(1,000 rows, 10 parameters, minimize train_seconds)""",
    },
    "save": {
        "Raises": """DataError
    The file cannot be written, or `rows` are more than a file keeps.""",
        "Examples": """>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "run.pedanova"
>>> a.save(path, model=False)
>>> pa.load(path).rows
1000""",
    },
    "report": {
        "Raises": """DataError
    The file cannot be written.
QueryError
    `questions` or `ladder` hold what cannot be shown.""",
        "Examples": """>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
>>> a.report(path, ladder=[0.1, 1.0], questions=[(0.1, 1.0)], estimator="counts", reduce=False)
>>> path.stat().st_size < 1_000_000
True""",
    },
    "within": {
        "Returns": """Analysis
    Of these rows; quantiles are then parts of them.""",
        "Raises": """QueryError
    Fewer than two rows lie there.""",
        "Examples": """>>> a.within({"learning_rate": (1e-3, 1e-1)}, "solver == 'adam'").rows
198""",
    },
    "first": {
        "Parameters": "rows",
        "Returns": """Analysis
    Of the first rows, in the order of the table.""",
        "Raises": f"""QueryError
    `rows` is no whole number from 2 to all of them.
{NO_ROWS}""",
        "Examples": """>>> a.first(100).rows
100""",
    },
    "reach": {
        "Parameters": "part of seed",
        "Returns": """tuple of float and int
    The objective of the last row, and the number of rows.""",
        "Examples": """>>> a.reach(0.1)
(0.047288, 100)""",
    },
    "trials": {
        "Returns": """Trials
    A table: ``.to_pandas()``, ``.to_csv()``.""",
        "Raises": f"{NO_SUCH}\n{NO_ROWS}",
        "Examples": """>>> a.trials(limit=2, params=["learning_rate", "units"])
2 of 1,000 rows:
row   error  learning_rate  units
───  ──────  ─────────────  ─────
84   0.0167         0.0113     88
448  0.0181          0.487    105
>>> a.within("units > 100").trials(sort="units", limit=1).to_dict()["units"]
[101]""",
    },
    "interactions": {
        "Returns": """Interactions or SetInteractions
    Rows by pair, the strongest first: ``pairs["lr", "depth"].interaction``.""",
        "Raises": f"{REFUSED}",
        "Examples": """>>> pairs = a.interactions(params=["learning_rate", "units", "epochs"])
>>> next(iter(pairs))
('learning_rate', 'units')
>>> pairs["units", "learning_rate"].significant
False""",
    },
    "pair": {
        "Parameters": "first second target region cells",
        "Returns": """PairDensity
    Rows of target and region in every cell, and how many times as often the target is there (``lift``).""",
        "Raises": f"{NO_SUCH}\n{NO_ROWS}",
        "Examples": """>>> a.pair("solver", "shuffle").to_dict()["target"]
[27, 29, 18, 26]""",
    },
    "pairs": {
        "Parameters": "names target region cells",
        "Returns": """dict of pairs of str to PairDensity
    Pairs are named in the order of the space.""",
        "Raises": f"{NO_SUCH}\n{NO_ROWS}",
        "Examples": """>>> list(a.pairs(["units", "epochs", "alpha"]))
[('alpha', 'units'), ('alpha', 'epochs'), ('units', 'epochs')]""",
    },
    "space": {
        "Returns": """Space
    Parameters by name: as given, as the log has them, or as guessed.""",
        "Examples": """>>> a.space["units"]
Int(low=4, high=128, step=1, log=True)""",
    },
    "direction": {
        "Returns": """str
    ``"minimize"`` or ``"maximize"``.""",
        "Examples": """>>> a.direction
'minimize'""",
    },
    "rows": {
        "Returns": """int
    How many rows count.""",
        "Examples": """>>> a.rows
1000""",
    },
}


def word(name: str) -> str:
    """What a parameter means, as an option of the question has it, or one of these methods."""
    return f"{name}\n    {SHARED[name]}" if name in SHARED else parameters_section([BY_NAME[name]])
