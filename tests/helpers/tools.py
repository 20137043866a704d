"""What tests of readers share: logs that are damaged on purpose, and the real tools."""

from __future__ import annotations

import copy
import importlib
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from pedanova.errors import PedanovaError

plain_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
odd_values = st.recursive(
    plain_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


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


def tame(of: Callable[[], object]) -> None:
    """`of()` does its work, or raises an error of pedanova's own, in one line."""
    try:
        of()
    except PedanovaError as error:
        message = str(error)
    else:
        return
    assert len(message.splitlines()) == 1, message


def cut_short(file: Path, *, steps: int = 25) -> Iterator[int]:
    """The file as it would be after a crash in the midst of writing, at several places; whole at the end."""
    content = file.read_bytes()
    for step in range(steps):
        size = step * len(content) // steps
        file.write_bytes(content[:size])
        yield size
    file.write_bytes(content)


def places_in(plain: object, line: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in nested lists and objects."""
    pairs = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [place for key, inner in pairs for place in [(*line, key), *places_in(inner, (*line, key))]]


def replaced(plain: Any, place: tuple[Any, ...], value: object) -> Any:
    """A copy with one value replaced."""
    changed = inner = copy.deepcopy(plain)
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed
