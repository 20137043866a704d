"""The command line: options, what each command does, and who picks it."""

from pedanova.cli.main import main, run_program

__all__ = ["main", "run_program"]
