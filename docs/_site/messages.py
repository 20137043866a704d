"""Every sentence that pedanova may say, read out of its source: notes by kind, refusals by class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pedanova
from pedanova import errors

PACKAGE = Path(pedanova.__file__).parent
GAP = "…"  # where a name or a number of the user's stands
SPOKEN = re.compile(r"[a-z]{3}")


@dataclass(frozen=True, order=True)
class Message:
    """A note or a refusal as its source has it: `kind` is a kind of note, or the name of an exception."""

    kind: str
    text: str
    module: str


@cache
def messages() -> list[Message]:
    """All of them, each once, in the order of the alphabet."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        found |= {Message(kind, text, module) for kind, text in spoken_in(ast.parse(path.read_text(encoding="utf-8")))}
    return sorted(found)


def spoken_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name, words = node.func.id, node.args
        if name == "Note" and words and isinstance(words[0], ast.Constant):
            kind, words = str(words[0].value), words[1:]
        elif is_error(name):
            kind = name
        else:
            continue
        text = " ".join("".join(map(wording, words)).split())
        if SPOKEN.search(text):
            yield kind, re.sub(rf"{GAP}+", GAP, text)


def is_error(name: str) -> bool:
    found = getattr(errors, name, None)
    return isinstance(found, type) and issubclass(found, errors.PedanovaError)


def wording(node: ast.expr) -> str:
    """What a part of a message reads like; whatever is known only when it is said is a gap."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(wording, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return wording(left) + wording(right)
        case ast.Call(func=ast.Name(id="Arg"), args=[ast.Constant(value=str(name)), *rest]):
            return f"{name}={GAP if rest else ''}"
    return GAP
