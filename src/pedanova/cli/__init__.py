"""The command line: its options and commands, and the function that runs the chosen command.

For a new command, copy an entry of the list in `parser.py` with its examples, which the help prints and the tests run,
and the function that it names. A command computes nothing that `Analysis` cannot answer.
"""

import gc
import sys
from collections.abc import Sequence

__all__ = ["main", "run_program"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status. Ctrl-C gives 130, also while modules are imported."""
    try:
        from pedanova.cli.program import main as run

        return run(arguments)
    except KeyboardInterrupt:
        print("pedanova: interrupted; nothing was written", file=sys.stderr)
        return 130


def run_program() -> int:
    """Run `main` as the entry point of the shell command, with less garbage collection to save time."""
    gc.set_threshold(50_000)
    status = main()
    gc.freeze()
    return status
