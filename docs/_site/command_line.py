"""The command line's parser, its examples as blocks of code."""

from __future__ import annotations

import argparse
import textwrap

from pedanova.cli.parser import build_parser


def parser() -> argparse.ArgumentParser:
    """What `pedanova` parses with, for sphinx-argparse, which reads epilogs as reStructuredText."""
    made = build_parser()
    (commands,) = (action for action in made._actions if isinstance(action, argparse._SubParsersAction))
    for one in (made, *commands.choices.values()):
        examples = (one.epilog or "").removeprefix("examples:\n")
        one.epilog = f".. code-block:: console\n\n{textwrap.indent(prompted(examples), '   ')}" if examples else None
    return made


def prompted(examples: str) -> str:
    """Lines as they are typed; one that goes on has no prompt."""
    return textwrap.dedent(examples).replace("\npedanova", "\n$ pedanova").replace("pedanova", "$ pedanova", 1)
