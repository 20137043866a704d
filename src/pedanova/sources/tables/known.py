"""Tables that some tool writes, told by the names of their columns: what those names say of the columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pedanova.data.records import Records, SourceMetadata


@dataclass(frozen=True, slots=True)
class KnownTable:
    """One kind of table. Only names are asked, so that a table in parts is known as a whole one is."""

    name: str
    mark: str  # what it is recognised by, in words
    example: str  # what a user types
    fits: Callable[[Sequence[str]], bool]
    metadata: Callable[[Sequence[str]], SourceMetadata]


def account_of(names: Sequence[str], tables: Sequence[KnownTable]) -> SourceMetadata | None:
    """What is known of a table with these columns."""
    return next((table.metadata(names) for table in tables if table.fits(names)), None)


def with_account(records: Records, tables: Sequence[KnownTable]) -> Records:
    """Records of which no source told anything, with what the names of their columns tell."""
    if records.metadata != SourceMetadata():
        return records
    metadata = account_of(tuple(records.columns), tables)
    return records if metadata is None else replace(records, metadata=metadata)
