"""Pages as a reader works through them: every block is run, top to bottom, in one folder and one session."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from helpers.explorers import served
from pedanova.cli.program import main

ROOT = Path(__file__).parent.parent.parent
FENCE = re.compile(r"^(?:<!-- not run: (.+?) -->\n)?```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e-?\d+)?")
BARS = re.compile(r"[▁-█▉▊▋▌▍▎▏]+")
STATUS = [";", "echo", "$?"]
NOT_RUN = ("pip",)  # what the reader's machine already has here


@dataclass(frozen=True)
class Block:
    """A fenced block: `python` and `console` are run, `text` is what the one before it printed."""

    kind: str
    text: str
    line: int  # of its first line in the page
    not_run: str = ""  # why, where it needs what a test has not

    def commands(self) -> Iterator[list[str]]:
        """The words of every line behind a `$`, a backslash at its end joining the next."""
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                yield shlex.split(line[2:], comments=True)


def blocks_of(page: Path) -> list[Block]:
    """Every block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    starts = ((found, text.count("\n", 0, found.start()) + 2) for found in FENCE.finditer(text))
    return [Block(found[2], found[3], line + bool(found[1]), found[1] or "") for found, line in starts]


def run_page(page: Path, names: dict[str, object] | None = None) -> dict[str, object]:
    """Run all blocks of a page in the present folder; what they printed must be what the page says they print."""
    names = {} if names is None else names
    printed = ""
    for block in (block for block in blocks_of(page) if not block.not_run):
        with redirect_stdout(StringIO()) as out:
            if block.kind == "python":
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
            elif block.kind == "console":
                for words in block.commands():
                    run_command(words)
        if block.kind == "text":
            check_shown(block.text, printed, f"{page.name}, line {block.line}")
        printed = out.getvalue() or printed
    return names


def run_command(words: list[str]) -> None:
    """One line of a shell: of pedanova, in this process; a page that is served is stopped as by Ctrl-C.

    A line must end well, unless it asks for its own status by `; echo $?`.
    """
    if words[0] in NOT_RUN:
        return
    assert words[0] == "pedanova", f"{shlex.join(words)}: pages may only run pedanova"
    if words[1] == "explore":
        with served(*words[2:]) as explorer:
            assert explorer.interrupt() == 0
    elif words[-3:] == STATUS:
        print(main(words[1:-3]))
    else:
        assert main(words[1:]) == 0, shlex.join(words)


def check_shown(text: str, printed: str, where: str) -> None:
    """Every line that a page shows was printed; `…` stands for others, and last digits may differ by machine."""
    lines = {form(line): numbers(line) for line in printed.splitlines()}
    for line in text.splitlines():
        if line.strip() in ("…", ""):
            continue
        assert form(line) in lines, f"{where}: {line!r} was not printed; this was:\n{printed}"
        assert numbers(line) == pytest.approx(lines[form(line)], rel=0.06, abs=0.11), f"{where}: {line!r}\n{printed}"


def form(line: str) -> str:
    """A line without its numbers and bars."""
    return " ".join(NUMBER.sub("#", BARS.sub("", line)).split())


def numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(line)]
