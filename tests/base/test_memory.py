"""Freed memory is handed back where that can be done, and asking for it elsewhere does no harm."""

from __future__ import annotations

import sys

import pytest

from pedanova.base import threads


def test_asking_is_safe_twice() -> None:
    threads.trim_memory()
    threads.trim_memory()


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    threads._trim.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert threads._trim() is None
    threads.trim_memory()
    threads._trim.cache_clear()
