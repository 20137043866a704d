"""What was mistyped in the first minute, and what was meant: commands and options that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pedanova.cli.parser import COMMANDS, Command
from pedanova.errors import unknown_name

BEHIND = {"densities": "names", "across": "others", "difference": "others"}  # behind options too


def unknown_command(name: str) -> str:
    """The nearest command; for whoever named only their file, the whole line."""
    known = tuple(command.name for command in COMMANDS)
    if Path(name).exists() or "/" in name or Path(name).suffix:
        return f"{name} is no command; write what to do with it first: pedanova analyze {name}"
    return unknown_name(name, known, what="command", most=2)


def left_over(command: Command | None, rest: Sequence[str]) -> str:
    """One line for what no option of the command, or of pedanova itself, has taken."""
    first = rest[0]
    if command is None:
        return unknown_name(first, ("--help", "--version"), what="option")
    if first.startswith("-"):
        flags = tuple(f"--{option.name.replace('_', '-')}" for option in command.options if option.help is not None)
        return unknown_name(first.partition("=")[0], (*flags, "--help"), what="option")
    if not command.source:
        return f"{first!r} is left over; this command takes no source"
    objective = any(option.name == "objective" for option in command.options)
    hint = f"; if that is the column to optimise, write --objective {first}" if objective else ""
    return f"{first!r} is left over: the source is {command.name}'s only argument{hint}"
