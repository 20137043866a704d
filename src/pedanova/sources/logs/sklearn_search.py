"""scikit-learn: a fitted search, or its `cv_results_` as a dict, a data frame or a CSV file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pedanova.base.notes import Note
from pedanova.data.column import plain_value
from pedanova.data.records import Records, SourceMetadata, free_name
from pedanova.data.regions import Direction
from pedanova.errors import DataError, SpaceError, listed
from pedanova.sources.logs.trials import Trial, budget_rule, tabulate
from pedanova.sources.spaces.described import as_choices, as_range, domain_of_law, has_ends, is_law, number_or_nan
from pedanova.sources.tables.files import table_cells, table_columns
from pedanova.sources.tables.json_text import as_dict
from pedanova.space.parameters import Domain, Space
from pedanova.space.values import shown

SCORE = "mean_test_"
TIME = "mean_test_time"  # a cost that Surprise measures beside the scores
PARAM = "param_"
GRIDS = ("param_grid", "param_distributions")
OTHER = ("iter", "n_resources", "mean_fit_time", "mean_score_time")
OWN = re.compile(r"params$|param_|iter$|n_resources$|(mean|std|rank|split\d+)_")  # how the names of its columns begin


def fits(data: object) -> bool:
    if isinstance(data, Mapping):
        return _are_results(data)
    if isinstance(getattr(data, "cv_results_", None), Mapping):
        return True
    is_search = hasattr(data, "estimator") and hasattr(data, "fit") and any(hasattr(data, g) for g in GRIDS)
    return is_search or _are_results(table_columns(data))


def _are_results(names: Iterable[object]) -> bool:
    known = [name for name in names if isinstance(name, str)]
    settings = "params" in known or any(name.startswith(PARAM) for name in known)
    return settings and any(name.startswith(SCORE) for name in known)


def read(data: Any) -> Records:
    if isinstance(data, Mapping):
        return _records(data, "scikit-learn cv_results_")
    if table_columns(data):
        where = f"results {data.name!r}" if isinstance(data, Path) else "cv_results_"
        return _records(table_cells(data), f"scikit-learn {where}")
    name = type(data).__name__
    results = getattr(data, "cv_results_", None)
    if not isinstance(results, Mapping):
        raise DataError(f"this {name} is not fitted, so it has no results; call its fit(X, y) first")
    refit = getattr(data, "refit", None)
    grid = next((getattr(data, grid) for grid in GRIDS if hasattr(data, grid)), None)
    return _records(results, f"scikit-learn {name}", grid, refit if isinstance(refit, str) else None)


def _records(results: Mapping[str, Any], source: str, grid: object = None, refit: str | None = None) -> Records:
    cells = {str(name): _listed(str(name), values) for name, values in results.items()}
    scores = [name for name in cells if name.startswith(SCORE)]
    scores = [name for name in scores if name != TIME] or scores
    rows = len(cells[scores[0]])
    short = next((name for name, values in cells.items() if len(values) != rows), None)
    if short is not None:
        words = f"{source}: {short!r} has {len(cells[short])} rows but {scores[0]} has {rows}"
        raise DataError(f"{words}; the numbers must be equal")
    chosen = [f"{SCORE}{refit}"] if f"{SCORE}{refit}" in scores else scores
    nones = {} if "params" in cells else _nones(cells)
    settings = _settings(cells | nones, rows)
    space, notes = _space(grid, settings)
    notes += [
        Note("source", "empty cells are read as the value None", subject=name.removeprefix(PARAM)) for name in nones
    ]
    if space is not None and any(name not in space for row in settings for name in row):
        space = None
    trials = [_trial(cells, row, settings[row], scores, chosen) for row in range(rows)]
    step = free_name("iter", [*(name for row in settings for name in row), *scores])
    metadata = SourceMetadata(
        source=source,
        space=space,
        objectives=tuple(chosen),
        directions=tuple(_direction(cells, name) for name in dict.fromkeys((*chosen, *scores))),
        metrics=tuple(scores),
        where=budget_rule(trials, "iter", step),
    )
    return tabulate(trials, metadata, notes=notes)


def _direction(cells: Mapping[str, list[Any]], score: str) -> Direction:
    """Scores are maximised, unless the ranking shows that they are errors, as those of Surprise are."""
    ranks = cells.get(score.replace("mean_", "rank_", 1), [])
    pairs = [tuple(number_or_nan(plain_value(one)) for one in pair) for pair in zip(ranks, cells[score], strict=False)]
    ordered = sorted(pair for pair in pairs if not any(map(math.isnan, pair)))
    return "minimize" if ordered and ordered[0][1] < ordered[-1][1] else "maximize"


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, np.ma.MaskedArray):
        return [None if gone else v for v, gone in zip(values.data.tolist(), np.ma.getmaskarray(values), strict=True)]
    if isinstance(values, np.ndarray) or hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise DataError(f"cv_results_: {name!r} is {shown(values)}; it must have one value for each candidate")
    return list(values)


def _trial(
    cells: Mapping[str, list[Any]], row: int, settings: dict[str, Any], scores: list[str], chosen: list[str]
) -> Trial:
    results = {name: number_or_nan(plain_value(cells[name][row])) for name in scores}
    failed = any(math.isnan(results[name]) for name in chosen)
    other = {name: plain_value(cells[name][row]) for name in OTHER if name in cells}
    return Trial(settings, results, "FAIL" if failed else "COMPLETE", other)


def _settings(cells: Mapping[str, list[Any]], rows: int) -> list[dict[str, Any]]:
    """The parameters of each candidate, from the dicts in `params` or from the columns `param_*`.

    A text column that the user added, such as `model`, is also a parameter if its values repeat, and so is each
    column `param_*` that `params` does not have.
    """
    added = {name: values for name, values in cells.items() if not OWN.match(name) and _repeat(values)}
    own = [as_dict(cell) for cell in cells.get("params", ())]
    if own and all(row is not None for row in own):
        within = {name for row in own for name in row or ()}
        outside = {name.removeprefix(PARAM): values for name, values in cells.items() if name.startswith(PARAM)}
        added |= {name: values for name, values in outside.items() if name not in within}
        beside = [{name: _plain(values[row]) for name, values in added.items()} for row in range(rows)]
        plain = [{name: _plain(value) for name, value in (row or {}).items()} for row in own]
        return [words | row for words, row in zip(beside, plain, strict=True)]
    own_cells = {name.removeprefix(PARAM): cells[name] for name in cells if name.startswith(PARAM) or name in added}
    every = [{name: values[row] for name, values in own_cells.items()} for row in range(rows)]
    return [{name: _plain(one) for name, one in row.items() if plain_value(one) is not None} for row in every]


def _nones(cells: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Columns with the value None, which a CSV file writes as an empty cell; such a cell may also mean "inactive".

    A parameter is inactive if the rows without a value have other values of another parameter than all other rows.
    """
    table = {name: [*map(str, values)] for name, values in cells.items() if name.startswith(PARAM)}
    found = {}
    for name in table:
        gone = [plain_value(value) is None for value in cells[name]]
        parents = [own for other, own in table.items() if other != name and 2 * len({*own}) <= len(own)]
        with_value, without = (
            [{value for value, lacks in zip(own, gone, strict=True) if lacks is end} for own in parents]
            for end in (False, True)
        )
        inactive = any(one.isdisjoint(two) for one, two in zip(with_value, without, strict=True))
        if any(gone) and not all(gone) and not inactive:
            found[name] = ["None" if lacks else value for lacks, value in zip(gone, cells[name], strict=True)]
    return found


def _repeat(values: list[Any]) -> bool:
    """Whether all values are text, at least two differ, and each text occurs at least twice on average."""
    words = {value for value in values if isinstance(value, str)}
    return 2 <= len(words) <= len(values) / 2 and all(isinstance(value, str) for value in values)


def _plain(value: object) -> object:
    """A parameter value as plain data: numbers, booleans and text unchanged, None as "None", objects by class name."""
    if value is None:
        return "None"
    if isinstance(value, str | bool | int | float | np.generic):
        return plain_value(value)
    if hasattr(value, "get_params"):
        return type(value).__name__
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", str(value))


def _space(grid: object, settings: Sequence[Mapping[str, Any]]) -> tuple[Space | None, list[Note]]:
    """The space of a search, or None. A distribution without bounds gets the range of the tried values."""
    if isinstance(grid, list | tuple) and len(grid) == 1:
        grid = grid[0]
    if not isinstance(grid, Mapping) or not grid:
        return None, []
    open_ended = [str(name) for name, values in grid.items() if is_law(values) and not has_ends(values)]
    laws = {str(name): values for name, values in grid.items()}
    try:
        space = Space({n: _tried(n, settings) if n in open_ended else _domain(law) for n, law in laws.items()})
    except (SpaceError, DataError, TypeError, ValueError, AttributeError):
        return None, []
    words = f"distributions without bounds: {listed(open_ended)}; the range of the tried values is used instead"
    return space, [Note("space", words)] if open_ended else []


def _tried(name: str, settings: Sequence[Mapping[str, Any]]) -> Domain:
    values = [row[name] for row in settings if name in row]
    return as_range(min(values), max(values), whole=all(isinstance(value, int) for value in values))


def _domain(values: Any) -> Domain:
    if is_law(values):
        return domain_of_law(values)
    options = dict.fromkeys(_plain(value) for value in _listed("grid", values))
    return as_choices((value for value in options if value is not None), ordered=True)
