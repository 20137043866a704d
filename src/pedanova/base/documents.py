"""Docstrings in parts: what a method does stands beside it, the sections that its kind has in common in a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

Cls = TypeVar("Cls", bound=type)
Sections: TypeAlias = Mapping[str, str]  # title → text; of parameters their names alone will do
ITSELF = ""  # the class among its methods


def completed(methods: Mapping[str, Sections], *, setup: str, word: Callable[[str], str] = str) -> Callable[[Cls], Cls]:
    """A class whose methods' docstrings get these sections, unless they have examples of their own.

    `setup` is put before every example; `word` says what a parameter means that is only named.
    """

    def complete(cls: Cls) -> Cls:
        for name, sections in methods.items():
            thing: Any = getattr(cls, name) if name else cls
            if thing.__doc__ is not None and "Examples\n" not in thing.__doc__:  # python -OO leaves none
                parts = (section(title, text, setup, word) for title, text in sections.items())
                thing.__doc__ = "\n\n".join([inspect.cleandoc(thing.__doc__), *parts])
        return cls

    return complete


def section(title: str, text: str, setup: str, word: Callable[[str], str]) -> str:
    """One section as numpydoc has it."""
    if title == "Parameters":
        text = "\n".join(map(word, text.split()))
    if title == "Examples":
        text = f"{setup}\n{text}"
    return f"{title}\n{'-' * len(title)}\n{text}"
