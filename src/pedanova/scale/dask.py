"""Clusters that are found by their address: whose workers read files for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pedanova.errors import DataError, MissingLibraryError

PATIENCE = 20.0  # seconds to wait for a scheduler
RETRIES = 2  # of a piece of work whose worker is lost


@contextmanager
def dask_executor(address: str) -> Iterator[object]:
    """An executor of the Dask cluster whose scheduler is at this address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingLibraryError("--dask needs distributed; pip install 'pedanova[dask]'") from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DataError(f"no Dask scheduler answers at {address}: {first}") from None
    with client:
        yield client.get_executor(retries=RETRIES)
