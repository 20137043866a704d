"""What a file keeps of an analysis beyond its tallies, and what a loaded one makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pedanova.base.files import Attachment
from pedanova.base.threads import as_threads
from pedanova.counting.countable import InMemory
from pedanova.data.observations import Observations, rows_from, rows_kept
from pedanova.data.regions import Direction
from pedanova.errors import FormatError, PedanovaError
from pedanova.measures.surrogate.estimate import ALONE
from pedanova.measures.surrogate.row_model import AnyModel, RowModel, from_attachment, to_attachment
from pedanova.space.parameters import Space

if TYPE_CHECKING:
    from pedanova.counting.store import Stored


def attachments_of(
    observed: Observations | None, model: AnyModel | None, alone: bool, direction: Direction, before: Attachment | None
) -> dict[str, Attachment]:
    """The rows, if they are to be kept; else what they tell, or what an earlier file told of them."""
    if observed is not None:
        return {"rows": rows_kept(observed)}
    if isinstance(model, RowModel):
        return {"known": to_attachment(model, direction, objection=ALONE if alone else "")}
    return {} if before is None else {"known": before}


def from_attachments(stored: Stored) -> dict[str, Any]:
    """Fields of an analysis."""
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
            return {"_model": from_attachment(attachment, space, rows), "_attached": attachment}
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, PedanovaError) as error:
        raise FormatError(f"what is attached is damaged ({type(error).__name__}: {error})") from None
    return {}
