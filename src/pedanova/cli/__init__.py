"""The command line: options, what each command does, and who picks it."""

from pedanova.cli.main import main

__all__ = ["main"]
