"""Freed memory is handed back where that can be done, and asking for it elsewhere does no harm."""

from __future__ import annotations

import sys

import pytest

from pedanova.base import memory


def test_asking_is_safe_twice() -> None:
    memory.trim_memory()
    memory.trim_memory()


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    memory._trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory._trim() is None
    memory.trim_memory()
    memory._trim.cache_clear()
