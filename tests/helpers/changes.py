"""Whether the documentation differs from that of main: only then does `make test` build and run it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "src/pedanova"
PAGES = ("docs", "README.md")


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def changed_documents() -> list[str]:
    """The pages and modules whose public docstrings differ from those of main; where git cannot tell, ``["?"]``."""
    try:
        base = next(filter(None, map(forked_from, ("origin/main", "main"))), "")
        new = git("ls-files", "--others", "--exclude-standard", "--", *PAGES).split("\n")
        pages = git("diff", "--name-only", base, "--", *PAGES).split("\n") + new
        modules = [name for name in git("diff", "--name-only", base, "--", PACKAGE).split() if name.endswith(".py")]
        return [*filter(None, pages), *(name for name in modules if docstrings_differ(base, name))]
    except (OSError, subprocess.CalledProcessError):
        return ["?"]


def forked_from(branch: str) -> str:
    done = subprocess.run(["git", "merge-base", "HEAD", branch], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def docstrings_differ(base: str, name: str) -> bool:
    path = ROOT / name
    before = subprocess.run(["git", "show", f"{base}:{name}"], cwd=ROOT, capture_output=True, text=True).stdout
    after = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(docstrings(ast.parse(before))) != dict(docstrings(ast.parse(after)))


def docstrings(node: ast.AST, inside: str = "") -> Iterator[tuple[str, str]]:
    """The docstrings of public classes and functions by name."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.ClassDef | ast.FunctionDef) and not part.name.startswith("_"):
            name = f"{inside}.{part.name}"
            yield name, ast.get_docstring(part) or ""
            yield from docstrings(part, name)
