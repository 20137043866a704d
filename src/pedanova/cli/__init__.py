"""The command line: its options and commands, and the function that runs the chosen command."""

from pedanova.cli.main import main, run_program

__all__ = ["main", "run_program"]
