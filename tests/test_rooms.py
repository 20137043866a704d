"""The rooms of docs/architecture.md: a module imports from its own room and from the rooms before it."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pedanova

ROOT = Path(pedanova.__file__).parent
ORDER = (
    "errors", "base", "base.kernel", "space", "data", "sources", "counting", "scale",
    "measures", "paper", "measures.surrogate", "measures.questions", "measures.studies", "measures.advice",
    "reduction", "report", "analysis", "cli", "integrations",
)  # fmt: skip
REPOSITORY = Path(__file__).parents[1]
ABOVE = (".", "src/kernel", "src/pedanova/report/assets", "docs/_site", "docs/gallery", "tests")
TOP = ("__init__", "__main__", "results")  # above all rooms
WALLS = {  # whoever stands here never sees these, although they come before
    (
        "measures",
        "paper",
        "measures.surrogate",
        "measures.questions",
        "measures.studies",
        "measures.advice",
        "reduction",
        "report",
    ): ("sources", "scale"),
    ("report",): ("data.observations", "data.column", "data.prepare", "counting.arrays"),
    ("counting",): ("sources",),
    ("integrations",): ("cli",),
}
OPTIONAL = {  # library → the only modules that may import it
    "pandas": {"base.table"},
    "polars": {"base.table"},
    "pyarrow": {
        "sources.tables.files",
        "sources.tables.text",
        "sources.scans.batches",
        "sources.scans.objects",
        "sources.scans.scan",
        "cli.output",
    },
    "fsspec": {"sources.scans.objects"},
    "argcomplete": {"cli.program"},
    "mcp": {"cli.mcp_server"},
    "sklearn": {"measures.forest"},
    "threadpoolctl": {"base.threads"},
    "yaml": {"sources.reader"},
    "python_calamine": {"sources.tables.files"},
    "matplotlib": {"report.figures.draw", "report.figures.trials"},
    "cupy": {"scale.cuda.device"},
    "optuna": {"integrations.optuna", "space.exports"},
    "ConfigSpace": {"space.exports"},
    "ray": {"space.exports"},
    "distributed": {"scale.workers"},
    "tensorboard": {"sources.logs.tensorboard"},
    "google": {"sources.logs.tensorboard"},  # its messages
    "anywidget": {"report.live.notebook"},
    "traitlets": {"report.live.notebook"},
    "starlette": {"report.live.server"},
    "uvicorn": {"report.live.server"},
}
ALLOWED = {"numpy", "scipy", "narwhals"}
LATE = ("import_module", "__import__", "LazyModule")  # calls that import what they name
FILES = sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1]) if parts[-1] == "__init__" and len(parts) > 1 else ".".join(parts)


MODULES = {name_of(path): path for path in FILES}


def room_of(name: str) -> str:
    """The innermost room that a module lies in."""
    inside = [room for room in ORDER if name == room or name.startswith(f"{room}.")]
    return max(inside, key=len, default="")


@cache
def imports_of(path: Path) -> set[str]:
    """Absolute names of everything a file imports, wherever in the file."""
    names: set[str] = set()
    for node in nodes_of(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
        elif isinstance(node, ast.Call) and called(node.func) in LATE:
            names |= {start_of(node.args[0])} - {""}
    return names


def nodes_of(text: str) -> Iterator[ast.AST]:
    """The statements, however deep; where a call may import, also all that they consist of, which takes far longer."""
    if any(word in text for word in LATE):
        yield from ast.walk(ast.parse(text))
        return
    left: list[ast.AST] = [ast.parse(text)]
    while left:
        node = left.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, part, [])


def called(function: ast.expr) -> str:
    """The last part of the name behind which the brackets stand."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def start_of(name: ast.expr) -> str:
    """As much of a module's name as is written where it is imported late."""
    first = name.values[0] if isinstance(name, ast.JoinedStr) else name
    return first.value.rstrip(".") if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def modules_among(imported: set[str]) -> set[str]:
    """Modules of this package; a folder counts only where it is imported for its own sake."""
    own = {name.removeprefix("pedanova.") for name in imported if name.startswith("pedanova.")}
    named = {name for name in own if name in MODULES}
    return {name for name in named if not any(other.startswith(f"{name}.") for other in named)}


def broken_walls(name: str, imported: set[str]) -> set[str]:
    hidden = [prefix for rooms, prefixes in WALLS.items() if room_of(name) in rooms for prefix in prefixes]
    return {one for one in imported if any(one == p or one.startswith(f"{p}.") for p in hidden)}


def later_imports(name: str, imported: set[str]) -> set[str]:
    place = ORDER.index(room_of(name))
    return {one for one in imported if one in TOP or ORDER.index(room_of(one)) > place}


def foreign_imports(name: str, imported: set[str]) -> set[str]:
    """Libraries that a module imports although they belong to another one."""
    roots = {one.split(".")[0] for one in imported} - {"pedanova", "__future__"} - ALLOWED
    return {root for root in roots if root not in sys.stdlib_module_names and name not in OPTIONAL.get(root, set())}


def test_every_module_lies_in_a_room() -> None:
    assert {name for name in MODULES if not room_of(name)} == set(TOP)
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders == {room.split(".")[0] for room in ORDER} - {"errors", "paper"}
    entries = {path.relative_to(ROOT).parts[0] for path in FILES}
    assert len(entries) <= 17, sorted(entries)


def test_imports_come_from_earlier_rooms_and_through_no_wall() -> None:
    offenders = {}
    for name, path in MODULES.items():
        if name in TOP:
            continue
        imported = modules_among(imports_of(path))
        wrong = later_imports(name, imported) | broken_walls(name, imported)
        offenders |= {name: wrong} if wrong else {}
    assert not offenders


def test_no_imports_run_in_a_circle() -> None:
    graph = {name: modules_among(imports_of(path)) - {name} for name, path in MODULES.items()}
    while True:
        free = {name for name, imported in graph.items() if not imported & set(graph)}
        if not free:
            break
        graph = {name: imported for name, imported in graph.items() if name not in free}
    assert not graph, f"in a circle, or above one: {sorted(graph)}"


def test_optional_libraries_stay_in_their_files() -> None:
    misplaced = {name: foreign_imports(name, imports_of(path)) for name, path in MODULES.items()}
    assert not {name: libraries for name, libraries in misplaced.items() if libraries}


def test_the_files_that_newcomers_are_sent_to_exist() -> None:
    for document in ("CONTRIBUTING.md", "docs/architecture.md"):
        text = (REPOSITORY / document).read_text(encoding="utf-8")
        assert len(named_files(text)) > 10
        assert not missing_files(text, ROOT)
    assert len((REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 70


def test_a_subpackage_says_what_lives_there_and_what_to_copy() -> None:
    for path in sorted(ROOT.glob("*/**/__init__.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert re.search(r"\n\n.*\b([Nn]ew|copy)\b", text, re.DOTALL), path
        assert not missing_files(text, path.parent), path


def named_files(text: str) -> set[str]:
    return {name for name in re.findall(r"`([\w/.-]+\.(?:py|cpp|hpp|css|js|md|txt))", text) if "NAME" not in name}


def missing_files(text: str, room: Path) -> set[str]:
    """Names may be relative to the room, to the package or to a folder above it."""
    places = [room, ROOT, *(REPOSITORY / name for name in ABOVE)]
    return {name for name in named_files(text) if not any((folder / name).exists() for folder in places)}


def test_no_class_name_occurs_twice_and_no_file_is_long() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    classes = Counter(name for text in texts.values() for name in re.findall(r"^class (\w+)", text, re.MULTILINE))
    assert not [name for name, count in classes.items() if count > 1]
    assert not [name for name, text in texts.items() if len(text.splitlines()) > 700]


def test_the_test_itself_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from pedanova.cli.program import main\n    import torch\n")
    assert modules_among(imports_of(bad)) == {"cli.program"}
    late = tmp_path / "late.py"
    late.write_text("importlib.import_module('pedanova.report.page.html')\nimport_module(f'pedanova.scale.{name}')\n")
    assert modules_among(imports_of(late)) == {"report.page.html", "scale"}
    assert foreign_imports("data.column", imports_of(bad)) == {"torch"}
    assert later_imports("data.column", {"cli.program", "space.grid"}) == {"cli.program"}
    assert room_of("measures.surrogate.model") == "measures.surrogate"
    assert broken_walls("report.page.html", {"scale.count_scan", "data.column"}) == {"scale.count_scan", "data.column"}
