"""The command line: its options and commands, and the function that runs the chosen command.

For a new command, copy an entry of the list in `parser.py` with its examples, which the help prints and the tests run,
and the function that it names. A command computes nothing that `Analysis` cannot answer.
"""

from pedanova.cli.program import main, run_program

__all__ = ["main", "run_program"]
