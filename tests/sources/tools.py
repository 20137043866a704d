"""Real tools, where they are installed."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest


def need(module: str) -> ModuleType:
    """The module; the test is skipped without it, unless PEDANOVA_HEAVY=1 says that it must be there."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if os.environ.get("PEDANOVA_HEAVY") == "1":
            pytest.fail(f"{module} cannot be imported: {error}")
        pytest.skip(f"{module} is not installed: {error}")
