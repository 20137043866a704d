"""Tables on a card: which they are, and how they are analysed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pedanova.base.notes import Count, Note
from pedanova.counting.countable import Counted, assembled, levels_for
from pedanova.data.metric_names import guess_directions
from pedanova.data.objectives import Goal, as_directions
from pedanova.data.space_inference import choose_space
from pedanova.data.table_options import TableOptions
from pedanova.errors import Arg, DataError, QueryError, listed, unknown_name
from pedanova.scale.cuda.card_table import CardTable
from pedanova.scale.cuda.device import as_card_array, is_on_card, library
from pedanova.scale.cuda.evidence import CardEvidence

SMALL = 1 << 18  # values of a table that are sooner copied than counted on the card
REFUSED = ("where", "feasible", "state")


@dataclass(frozen=True, slots=True, eq=False)
class OnCard:
    """Columns that lie on a card, to be counted there."""

    columns: Mapping[str, Any]


def table_on_card(data: object, names: Sequence[str] | None, *, engine: str | None) -> object:
    """The table as it is; one on a card as such, unless it is small or asked for on the CPU: then it is copied."""
    columns = columns_on_card(data, names)
    if columns is None:
        return data
    arrays = {name: as_card_array(name, values) for name, values in columns.items()}
    small = sum(len(values) for values in arrays.values()) <= SMALL
    if engine == "cpu" or (engine is None and small):
        return {name: library().asnumpy(array) for name, array in arrays.items()}
    return OnCard(arrays)


def columns_on_card(data: object, names: Sequence[str] | None) -> dict[str, Any] | None:
    """The columns by name, where they lie on a card; None for anything else."""
    if names is not None and is_on_card(data) and getattr(data, "ndim", 0) == 2:
        table: Any = data
        if table.shape[1] != len(names):
            raise DataError(Arg("names"), f" has {len(names)} names for {table.shape[1]} columns")
        return {str(name): table[:, i] for i, name in enumerate(names)}
    if type(data).__module__.split(".")[0] == "cudf":
        frame: Any = data
        return {str(name): frame[name].values for name in frame.columns}
    if not isinstance(data, Mapping) or not any(is_on_card(values) for values in data.values()):
        return None
    elsewhere = [str(name) for name, values in data.items() if not is_on_card(values)]
    if elsewhere:
        raise DataError(f"{listed(elsewhere)}: not on the card as the other columns are; move it there")
    return {str(name): values for name, values in data.items()}


def count_card(
    columns: Mapping[str, Any], request: TableOptions, levels: object, *, inside: bool, notes: list[Note]
) -> Counted:
    """Count a table on the card it lies on."""
    cupy, arrays = library(), columns
    request, name = check_request(request, arrays)
    check_lengths(arrays)
    goal = arrays[name]
    if goal.dtype.kind not in "f":
        goal = goal.astype(np.float64)
    guess, more = guess_directions(name, tuple(arrays))
    direction = as_directions(guess if request.direction is None else request.direction, 1)[0]
    found = Goal(name, np.empty(0), direction, name)
    try:
        choice = choose_space(tuple(arrays), (found,), request, CardEvidence(arrays))
        nan = "worst" if request.policies.may_be_worst else "drop"
        table = CardTable(name, direction, nan, choice.space, arrays, goal)  # type: ignore[arg-type]
        cut = levels_for(table, levels)
        table.notes += objective_notes(table)
        own = [*notes, *([] if request.direction is not None else more), *choice.notes]
        return assembled(table, cut, table.count(cut), notes=own, inside=inside)
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DataError(
            f"the card has too little memory ({error}); pass engine='cpu', or fewer columns in params="
        ) from None


def objective_notes(table: CardTable) -> list[Note]:
    """Rows that have no number."""
    gone = len(table.goal) - table.ranking.numbers
    if not gone:
        return []
    end = "counted as the worst" if table.nan == "worst" else "dropped"
    return [Note("rows", Count(gone), " of ", Count(len(table.goal)), f" rows have no objective (NaN); {end}")]


def check_request(request: TableOptions, arrays: Mapping[str, Any]) -> tuple[TableOptions, str]:
    """What needs rows in memory is refused."""
    name = request.objective
    if not isinstance(name, str):
        raise QueryError(Arg("objective"), f" must name a column of the card: {listed(list(arrays), most=40)}")
    if name not in arrays:
        raise DataError(unknown_name(name, tuple(arrays), what="column"))
    for option in REFUSED:
        if getattr(request, option) is not None:
            raise QueryError(Arg(option), " needs the rows in memory; pass ", Arg("engine", "cpu"), " to copy them")
    if request.repeats not in (None, "all"):
        raise QueryError(Arg("repeats", request.repeats), " needs the rows in memory; pass ", Arg("engine", "cpu"))
    return replace(request, repeats=None), name


def check_lengths(arrays: Mapping[str, Any]) -> None:
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns of different lengths: {', '.join(f'{n} {rows:,}' for n, rows in lengths.items())}")
    if not next(iter(lengths.values())):
        raise DataError("the table holds no rows; nothing can be counted")
