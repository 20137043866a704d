"""Columns of the table that are not parameters, such as a time or a cost: rows can be selected by them and drawn over
them, but they have no importance.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from pedanova.data.column import Column, all_finite, as_numbers
from pedanova.data.conditions import place_columns
from pedanova.data.observations import Observations
from pedanova.data.space_inference import guess
from pedanova.errors import SpaceError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Float, Moving, Ordinal, Parameter, Space, Switch


def other_names(data: TrialData) -> list[str]:
    """All columns of the table that are neither parameters nor objectives, in the order of the table."""
    if data.observations is None:
        return []
    goals = {goal.name for goal in data.observations.goals}
    return [name for name in data.observations.table if name not in data.space and name not in goals]


def other_columns(data: TrialData, space: Space | None = None) -> TrialData | None:
    """The counts of the columns that are not parameters, or of those in `space`; None if there are none.

    Columns of dates have no counts. Many rows are counted in a sample.
    """
    if data.observations is None:
        return None
    readable = _readable(data.observed(), data.space)
    if space is None:
        found = {name: _domain(column) for name, column in readable.items()}
        space = Space({name: domain for name, domain in found.items() if domain is not None})
    if not space:
        return None
    observed = (data.excerpt or data).observed()
    readable = readable if data.excerpt is None else _readable(observed, data.space)
    columns = {name: readable[name] for name in space}
    placed, _, idle = place_columns(space, columns, observed.table)
    return data.like(replace(observed, columns=placed, space=space, idle=idle, origin=None))


def _readable(observed: Observations, space: Space) -> Mapping[str, Column]:
    """The columns that are not parameters, with text such as "3 ms" as numbers."""
    columns = {name: column for name, column in observed.table.items() if name not in space and not column.is_time}
    numbers = {name: as_numbers(column) for name, column in columns.items()}
    return {name: column if (found := numbers[name]) is None else found[0] for name, column in columns.items()}


def _domain(column: Column) -> Parameter | None:
    """The guessed domain; None if rows cannot be selected by the column, for example because it is constant."""
    found = guess(column).parameter
    match found:
        case Categorical((_,)) | Ordinal((_,)):
            return None
        case Moving() | Switch():
            pass
        case _:
            return found
    values = column.values[~column.absent()]
    values = values if all_finite(values) else values[np.isfinite(values)]
    with suppress(SpaceError):  # bounds near the largest or the smallest float
        whole_range = Float(float(values.min()), float(values.max()))
        grid_of(whole_range)
        return whole_range
    return None
