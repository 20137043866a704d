"""Memory that was freed, handed back to the system."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any


def trim_memory() -> None:
    """What threads have freed lies in heaps of their own, where no other takes it; glibc can give it back."""
    trim = _trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
