"""Sets of three parameters and more, for the terminal."""

from __future__ import annotations

from typing import Any

from pedanova.base.digits import chance, percent
from pedanova.base.terminal import (
    GAP,
    USUAL_BAR,
    TableColumn,
    draw_below,
    draw_columns,
    fitted,
    printable,
    shorten,
    width_of,
)
from pedanova.measures.interactions import SetInteractions
from pedanova.report.names import short_names
from pedanova.report.terminal.tables import NARROW, PAIRS_SHOWN, fill

MEANINGS = {
    "interaction": 'part of the variance of "in the target?" that a set explains beyond all that its smaller sets do; '
    "~ marks sets that chance explains (all sets taken together).",
    "together": "what a set explains, with its smaller sets.",
    "by smaller sets": "what the best sum of effects of its smaller sets explains.",
    "p": "how often a set without such an interaction would look like this by chance, all sets taken together.",
}


def draw_sets(
    found: SetInteractions, *, colour: bool = False, width: int = 100, most: int = PAIRS_SHOWN, alone: bool = False
) -> str:
    """The strongest sets, with bars; ~ marks what chance explains."""
    rows = found.rows[:most] if most else found.rows
    look: dict[str, Any] = {"width": width, "colour": colour}
    look["faint"] = {i for i, row in enumerate(rows) if not row.significant}
    names = short_names(list(dict.fromkeys(name for row in rows for name in row.names)))
    sets = [printable(" × ".join(names[name] for name in row.names)) for row in rows]
    columns = set_columns(found, len(rows))
    beside = width - TableColumn("interaction").width - 2 * GAP - USUAL_BAR
    if width < NARROW or max(map(width_of, sets), default=0) > beside:
        table = draw_below("set", [shorten(one, width) for one in sets], columns, **look)
    else:
        columns = [TableColumn("set", sets, "words"), *columns]
        table = draw_columns(columns, **look)
    if alone:
        return table
    shown = {column.title for column in fitted(columns, width)}
    meanings = " ".join(f"{name}: {text}" for name, text in MEANINGS.items() if name in shown)
    left = len(found.rows) - len(rows)
    more = [f"… and {left:,} more sets; --top 0 shows all"] if left else []
    return "\n\n".join([fill(f"{found.heading()}:", width), "\n".join([table, *more]), fill(meanings, width)])


def set_columns(found: SetInteractions, many: int) -> list[TableColumn]:
    """What stands behind the names of a set."""
    rows = found.rows[:many]
    top = max((row.interaction for row in rows), default=0.0)
    parts = [max(0.0, row.interaction) / (top if top > 0 else 1.0) for row in rows]
    marked = [f"{'' if row.significant else '~ '}{percent(row.interaction)}" for row in rows]
    return [
        TableColumn("interaction", marked),
        TableColumn("", kind="bar", parts=parts),
        TableColumn("together", [percent(row.closed) for row in rows], leave=1),
        TableColumn("by smaller sets", [percent(row.lower) for row in rows], leave=2),
        TableColumn("p", [chance(row.p_adjusted) for row in rows], leave=3),
    ]
