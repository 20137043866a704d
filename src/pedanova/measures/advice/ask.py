"""Questions about what to do: gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pedanova.base.notes import Note
from pedanova.counting.few_rows import counted_rows
from pedanova.data.column import Mask, as_column
from pedanova.data.prepare import reordered
from pedanova.data.regions import rows_in_box
from pedanova.data.trials import sampled, taken
from pedanova.errors import QueryError
from pedanova.measures.advice.configurations import Rules, cell_values
from pedanova.measures.advice.gains import Gains, Tuning, find_gains
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.estimate import MOST_ROWS
from pedanova.measures.surrogate.objective_model import KnownObjective, Settings, objective_of
from pedanova.measures.surrogate.posterior import FEWER_POINTS, even_points
from pedanova.measures.surrogate.row_model import FEWEST_ROWS, RowModel, hull_of
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Float, Int, Moving, Parameter, Space, Switch
from pedanova.space.values import Label

SAMPLE = 2000  # rows of a larger table that a model is fitted to
BEST_RUN = 200  # rows, the best of all, that are candidates for the best configuration


def model_at_hand(data: TrialData) -> tuple[RowModel, list[Note]]:
    """The model of the rows, or of a sample of very many."""
    if data.levels.several:
        first = data.objective.split(", ")[0]
        raise QueryError(f"{data.objective}: several objectives have no one gain; use .alone({first!r}) first")
    observed = data.observed()
    model, notes = data.row_model, []
    if data.rows > MOST_ROWS:
        rows = np.flatnonzero(counted_rows(observed, data.levels.nan))
        model = data.like(reordered(taken(observed, sampled(rows, SAMPLE, 0)))).row_model
        notes.append(Note("answer", f"a model of {SAMPLE:,} of {data.rows:,} rows, drawn at random, was used"))
    if not isinstance(model, RowModel):
        raise QueryError("the rows are no longer at hand; analyze the data again")
    return model, notes


def known_objective(model: RowModel, seed: int, what: str) -> KnownObjective:
    """The objective anywhere in the space; an error where no model of it is to be trusted."""
    rows = len(model.rows)
    fitted = model.fitted(seed)
    known = objective_of(model.rows, fitted, model.dependence.copies)
    if known is None:
        why = fitted.objection or "there is no model of these rows"
        raise QueryError(f"{what} need a model of the objective, and {why} ({rows:,} rows); run more trials")
    return known


def gains_of(data: TrialData, default: Mapping[str, object] | None, region: object, seed: int) -> Gains:
    """What tuning wins over a default, inside a region."""
    base = data.resolve(region, "region")
    whole = bool(getattr(base, "is_all", False))
    inner = data if whole else data.within(base)
    part, notes = model_at_hand(inner)
    model = part.around or part
    if len(model.rows) < FEWEST_ROWS:
        raise QueryError(f"gains need a model, and {len(model.rows)} rows are too few for one; {FEWEST_ROWS} do")
    known = known_objective(model, seed, "gains")
    kept = {} if whole and part.around is None else cells_kept(model, part, region)
    rules = Rules(model.space, part.few.cells)
    start = rules.usual() if default is None else rules.given(default)
    check_inside(rules, start, kept)
    tuning = Tuning(rules, known, start, kept, seed)
    signed = part.few.signed
    finite = signed[np.isfinite(signed)]
    spread = float(np.subtract(*np.quantile(finite, [0.75, 0.25]))) if len(finite) else 0.0
    points = np.concatenate([points_of(model, seed), run_settings(part, rules)])
    answer = find_gains(tuning, points, spread)
    gains = {row.name: row for row in answer.rows}
    for copy, original in model.dependence.copies.items():
        gains[copy] = replace(gains[original], name=copy, default=gains[copy].default, best=gains[copy].best)
        notes.append(Note("answer", f"moves with {original}: both have its gain", subject=copy))
    sign = data.levels.sign
    steps = tuple(replace(step, objective=sign * step.objective) for step in answer.path.rows)
    was_run = bool((np.stack([model.few.cells[name] for name in rules.names], axis=1) == start).all(axis=1).any())
    if not was_run:
        notes.append(Note("answer", "the default was not run; running it once about halves the error of gains"))
    values = rules.values(start)[0]
    for name, value in (default or {}).items():
        values[name] = None if values[name] is None else exactly(rules.space[name], value)
    gains = {name: replace(row, default=values[name]) for name, row in gains.items()}
    order = {name: j for j, name in enumerate(rules.names)}
    rows = sorted(gains.values(), key=lambda gain: (-gain.gain, -gain.high, order[gain.name]))
    return Gains(
        rows=tuple(rows),
        total=answer.total,
        path=replace(answer.path, rows=steps),
        default=values,
        best=rules.values(answer.best)[0],
        safe_loss=answer.safe_loss,
        tolerance=answer.tolerance,
        objective=data.objective,
        direction=data.direction,
        region=str(base),
        default_was_run=was_run,
        notes=tuple(notes),
    )


def cells_kept(model: RowModel, part: RowModel, region: object) -> dict[str, Mask]:
    """By parameter the cells of a box; of any other choice of rows those between theirs."""
    if not isinstance(region, Mapping):
        return hull_of(model.few, np.isin(model.few.rows, part.few.rows), model.space)
    kept = {}
    for name, bounds in region.items():
        parameter = model.space[name]
        grid, values = grid_of(parameter), cell_values(parameter)
        inside = rows_in_box({name: bounds}, {name: as_column(name, values)}, len(values))
        kept[name] = np.concatenate([inside, np.zeros(grid.width - grid.cells, dtype=bool)])
    return kept


def exactly(parameter: Parameter, value: Any) -> Label:
    """A value of a range as a number, where it was given as text; one of a list as the list has it."""
    if isinstance(parameter, Int | Float | Moving):
        return int(float(value)) if isinstance(parameter, Int) else float(value)
    grid = grid_of(parameter)
    listed = grid.labels is not None and not isinstance(parameter, Switch)
    return grid.labels[int(grid.match((value,))[0])] if listed else value  # type: ignore[index, no-any-return]


def check_inside(rules: Rules, default: Settings, kept: Mapping[str, Mask]) -> None:
    for j, name in enumerate(rules.names):
        if name in kept and not kept[name][default[0, j]]:
            value = rules.values(default)[0][name]
            raise QueryError(f"default: {name}={value!r} lies outside the region; choose one inside")


def points_of(model: RowModel, seed: int) -> Settings:
    """(points, parameters) Configurations all over the space."""
    rows = model.rows
    places = even_points(rows.arrangement, rows.places, count=FEWER_POINTS, seed=seed, copies=model.dependence.copies)
    return in_space_order(model.space, rows.arrangement.cells(places))


def run_settings(model: RowModel, rules: Rules) -> Settings:
    """(rows, parameters) The best configurations that were run; what lies outside the space is none."""
    order = np.argsort(model.few.signed, kind="stable")[:BEST_RUN]
    settings = in_space_order(model.space, {name: cells[order] for name, cells in model.few.cells.items()})
    outside = np.array([grid.outside for grid in rules.grids])
    return settings[(settings != outside).all(axis=1)]


def in_space_order(space: Space, cells: Mapping[str, np.ndarray]) -> Settings:
    settings: Settings = np.stack([cells[name] for name in space], axis=1).astype(np.int32)
    return settings
