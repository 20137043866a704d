"""The way back from observations to the table as its source gave it."""

from __future__ import annotations

from dataclasses import dataclass

from pedanova.data.records import Records
from pedanova.data.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Before any row was set aside: lower budgets, pruned trials, single runs of a configuration are still there."""

    records: Records
    request: Request
