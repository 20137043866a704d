"""What a file keeps of an analysis beyond its tallies, and what a loaded one makes of it."""

from __future__ import annotations

import os
from typing import Any

from pedanova.base.files import Attachment
from pedanova.base.threads import as_threads
from pedanova.counting.countable import InMemory
from pedanova.counting.store import Stored, read_tallies, write_tallies
from pedanova.data.observations import rows_from, rows_kept
from pedanova.errors import FormatError, PedanovaError
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.surrogate.estimate import ALONE
from pedanova.measures.surrogate.row_model import RowModel, from_attachment, to_attachment
from pedanova.space.parameters import Space


def write_analysis(path: str | os.PathLike[str], data: TrialData, *, rows: bool, model: bool) -> None:
    """Write tallies, and what else the file is to keep."""
    attachments = attachments_of(data, rows=rows) if rows or model else {}
    kept = (data.objective, data.dropped, data.levels, data.tallies, data.notes)
    write_tallies(path, Stored(*kept, moments=data.moments_to_keep(), attachments=attachments))


def attachments_of(data: TrialData, *, rows: bool) -> dict[str, Attachment]:
    """The rows, if they are to be kept; else what a model knows of them, or what an earlier file did."""
    if rows:
        return {"rows": rows_kept(data.observed())}
    model = data.row_model
    if isinstance(model, RowModel):
        return {"known": to_attachment(model, data.levels.direction, objection=ALONE if data.is_alone() else "")}
    return {} if data.attached is None else {"known": data.attached}


def read_data(path: str | os.PathLike[str]) -> TrialData:
    """What a file keeps, as far as it can be asked."""
    stored = read_tallies(path)
    kept = (stored.objective, stored.levels, stored.tallies, stored.notes, stored.dropped)
    return TrialData(*kept, _moments=stored.moments, **from_attachments(stored))


def from_attachments(stored: Stored) -> dict[str, Any]:
    """Fields of trial data."""
    space = Space({name: tally.parameter for name, tally in stored.tallies.items()})
    rows = next(iter(stored.tallies.values())).rows
    try:
        if "rows" in stored.attachments:
            observed = rows_from(stored.attachments["rows"], space)
            threads = as_threads(None)
            source = InMemory(observed, stored.levels.nan, threads)
            return {"observations": observed, "threads": threads, "_source": source}
        if "known" in stored.attachments:
            attachment = stored.attachments["known"]
            return {"_model": from_attachment(attachment, space, rows), "attached": attachment}
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, PedanovaError) as error:
        raise FormatError(f"what is attached is damaged ({type(error).__name__}: {error})") from None
    return {}
