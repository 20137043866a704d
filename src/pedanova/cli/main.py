# PYTHON_ARGCOMPLETE_OK
"""The command line: ``pedanova analyze FILE --objective y``. Mistakes end in one line and status 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pedanova.base.files import check_output_path
from pedanova.cli.completion import complete
from pedanova.cli.mistakes import BEHIND, left_over, unknown_command
from pedanova.cli.parser import COMMANDS, build_parser, usage_of
from pedanova.errors import PedanovaError

if TYPE_CHECKING:
    from pedanova.cli import along, answers, explore, pages, spaces, studies  # noqa: F401  (named by the commands, loaded when asked for)

OVERVIEW = """pedanova: which hyperparameters matter, where, and how surely.

Try it:
  pedanova demo --report report.html a real random search, and a page to look at

Ask about your own trials (a table, a study, the folder of a tool):
{questions}

{others}
  pedanova COMMAND --help            options and examples of a command

For a CSV file, name the column to optimise: pedanova analyze trials.csv --objective loss
"""


def overview() -> str:
    """What there is, for whoever typed no command."""
    lines = {command.name: f"  {usage_of(command):<34} {command.what}" for command in COMMANDS}
    about_sources = ("space", "formats")
    asked = [line for name, line in lines.items() if name not in (*about_sources, "demo")]
    others = [lines[name] for name in about_sources]
    return OVERVIEW.format(questions="\n".join(asked), others="\n".join(others))


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command; whatever is no command or option of it ends here, in one line."""
    parser = build_parser()
    complete(parser)  # ends here if it was the shell that asked
    commands = {command.name: command for command in COMMANDS}
    if arguments and not arguments[0].startswith("-") and arguments[0] not in commands:
        parser.error(unknown_command(arguments[0]))
    options, rest = parser.parse_known_args(arguments)
    if options.command in BEHIND:  # names may stand behind options too
        getattr(options, BEHIND[options.command]).extend(text for text in rest if not text.startswith("-"))
        rest = [text for text in rest if text.startswith("-")]
    if rest and options.command is not None:
        parser.prog = f"{parser.prog} {options.command}"  # whose --help tells
    if rest:
        parser.error(left_over(commands.get(options.command), rest))
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(sys.argv[1:] if arguments is None else arguments)
    if options.command is None:
        print(overview(), end="")
        return 0
    module = next(command.module for command in COMMANDS if command.name == options.command)
    run: Callable[[Any], int] = getattr(import_module(f"pedanova.cli.{module}"), f"run_{options.command}")
    try:
        for name in ("output", "save", "report", "out", "figure"):  # before the long work
            if getattr(options, name, None) is not None:
                check_output_path(getattr(options, name))
        return run(options)
    except PedanovaError as error:
        return refused(error.in_shell())
    except MemoryError:
        return refused("not enough memory for this table; use fewer columns (--params)")
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("pedanova: interrupted; nothing was written", file=sys.stderr)
        return 130


def refused(message: str) -> int:
    from pedanova.cli.output import complain

    complain(message)
    return 2


if __name__ == "__main__":
    sys.exit(main())
