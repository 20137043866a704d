"""The command line: options, commands, and the choice of the command."""

from pedanova.cli.main import main, run_program

__all__ = ["main", "run_program"]
