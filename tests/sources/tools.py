"""Tools whose logs are read: needed by heavy tests alone."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

import pytest


def need(module: str) -> Any:
    """The module; without it the test is skipped, or fails where PEDANOVA_HEAVY=1 asks for every tool."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the tools' own making
            return importlib.import_module(module)
    except ImportError as error:
        if os.environ.get("PEDANOVA_HEAVY") == "1":
            pytest.fail(f"{module} cannot be imported, and PEDANOVA_HEAVY=1 asks for it: {error}")
        return pytest.skip(f"{module} is not installed")
