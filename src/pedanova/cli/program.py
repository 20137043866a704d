# PYTHON_ARGCOMPLETE_OK
"""The command line: ``pedanova analyze FILE --objective y``.

After a mistake of the user, the program prints one line and exits with status 2. It also suggests the nearest name
for a mistyped command, completes words for the shell, and prints versions.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pedanova.base.files import check_output_path
from pedanova.base.kernel import library as kernel
from pedanova.base.version import __version__
from pedanova.cli.parser import BY_COMMAND, COMMANDS, Command, build_parser, usage_of
from pedanova.errors import PedanovaError, unknown_name

if TYPE_CHECKING:
    from pedanova.cli import commands, mcp_server, pages  # noqa: F401  (named by the commands, loaded when asked for)

OVERVIEW = """pedanova: which hyperparameters matter, where good values lie, and how sure you can be.

Try it:
  pedanova demo --report report.html analyse 1,000 real trials and write a report

Ask about your own trials (a table, a study, the folder of a tool):
{questions}

{others}
  pedanova COMMAND --help            options and examples of a command

For a CSV file, name the column to optimise: pedanova analyze trials.csv --objective loss
"""
BEHIND = {"densities": "names", "across": "others", "difference": "others"}  # words that may also come after options
LIBRARIES = ("numpy", "scipy", "narwhals", "pandas", "polars", "pyarrow", "scikit-learn", "optuna")


def is_source(text: str) -> bool:
    """Whether an argument is a path, rather than a command (which has no suffix) or an option."""
    return text[:1] not in ("", "-") and (Path(text).suffix != "" or "/" in text or Path(text).exists())


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options of a command; if a command or option is unknown, print one line and end the program."""
    if arguments and arguments[0] not in BY_COMMAND and is_source(arguments[0]):
        arguments = ["analyze", *arguments]
    known = arguments[0] if arguments and arguments[0] in BY_COMMAND and "_ARGCOMPLETE" not in os.environ else None
    parser = build_parser(known)
    complete(parser)  # exits if the shell asked for completion
    if arguments and not arguments[0].startswith("-") and arguments[0] not in BY_COMMAND:
        parser.error(unknown_name(arguments[0], tuple(BY_COMMAND), what="command", most=2))
    options, rest = parser.parse_known_args(arguments)
    if options.command in BEHIND:  # names may also come after options
        getattr(options, BEHIND[options.command]).extend(text for text in rest if not text.startswith("-"))
        rest = [text for text in rest if text.startswith("-")]
    if rest and options.command is not None:
        parser.prog = f"{parser.prog} {options.command}"  # the command whose --help describes its options
    if rest:
        parser.error(left_over(BY_COMMAND.get(options.command), rest, getattr(options, "file", "")))
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(sys.argv[1:] if arguments is None else arguments)
    if options.command is None:
        lines = {command.name: f"  {usage_of(command):<34} {command.what}" for command in COMMANDS}
        others = [lines.pop(name) for name in ("space", "formats")]
        del lines["demo"]
        print(OVERVIEW.format(questions="\n".join(lines.values()), others="\n".join(others)), end="")
        return 0
    module = import_module(f"pedanova.cli.{BY_COMMAND[options.command].module}")
    run: Callable[[Any], int] = getattr(module, f"run_{options.command}", None) or module.run_method
    try:
        for name in ("output", "save", "report"):  # checked before the long work
            if getattr(options, name, None) is not None:
                check_output_path(getattr(options, name))
        return run(options)
    except PedanovaError as error:
        return refused(error.in_shell())
    except MemoryError:
        return refused("not enough memory for this table; use fewer columns (--params)")
    except BrokenPipeError:  # the reader of the output has closed it, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def refused(message: str) -> int:
    from pedanova.cli.output import complain

    complain(message)
    return 2


# --- mistakes --------------------------------------------------------------------------------------


def left_over(command: Command | None, rest: Sequence[str], source: str = "") -> str:
    """The error message for `rest`, the words on the command line that were not understood."""
    first = rest[0]
    if command is None:
        return unknown_name(first, ("--help", "--version"), what="option")
    if first.startswith("-"):
        flags = tuple(option.switch for option in command.options)
        return unknown_name(first.partition("=")[0], (*flags, "--help"), what="option")
    if not command.source:
        return f"{first!r} is one argument too many: this command takes no source"
    if command.name == "compare" and Path(first).exists():
        return f"compare takes one source; to compare two studies: pedanova difference {source} {first}"
    objective = any(option.name == "objective" for option in command.options)
    hint = f"; if {first!r} is the column to optimise, write --objective {first}" if objective else ""
    return f"{first!r} is one argument too many: {command.name} takes only the source{hint}"


# --- completion: the shell starts the program with _ARGCOMPLETE set --------------------------------


def complete(parser: argparse.ArgumentParser) -> None:
    """If the shell asks for completions, print them and exit; needs argcomplete."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)


# --- versions --------------------------------------------------------------------------------------


def show_versions() -> None:
    """Print the versions of pedanova and its libraries, for a bug report.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.show_versions()  # doctest: +ELLIPSIS
    pedanova  ...
    """
    import platform  # slow to import, and rarely needed
    from importlib import metadata

    print(f"pedanova  {__version__}")
    print(f"kernel    {kernel.describe()}")
    print(f"python    {platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            print(f"{name:<9} {metadata.version(name)}")


if __name__ == "__main__":
    sys.exit(main())
