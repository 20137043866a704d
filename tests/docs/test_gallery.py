"""The gallery: every notebook runs from the top, ends in its decision, and says no number that it did not compute."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from helpers.documents import ROOT

pytestmark = pytest.mark.docs

GALLERY = ROOT / "docs/gallery"
BOOKS = sorted(GALLERY.glob("*.ipynb"))
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
LARGEST, LARGEST_IN_ALL = 250_000, 1_500_000  # bytes


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def runner() -> ModuleType:
    """docs/gallery/run.py, which also writes what the site shows."""
    spec = spec_from_file_location("run_gallery", GALLERY / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown_by(notebook: nbformat.NotebookNode) -> str:
    """The code and all that it printed."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts.append(cell.source)
            parts += [output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "\n".join(parts)


def kinds_of(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """What each cell puts out: text, a table, a picture."""
    return [[output.output_type for output in cell.get("outputs", [])] for cell in notebook.cells]


@pytest.fixture(scope="module")
def books() -> dict[Path, nbformat.NotebookNode]:
    """As they are when they have run; half of what each would take alone is loading the same libraries."""
    made: dict[Path, nbformat.NotebookNode] = runner().run_all(BOOKS)
    return made


def errors_of(notebook: nbformat.NotebookNode) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return ["\n".join(output.traceback) for output in outputs if output.output_type == "error"]


@pytest.mark.filterwarnings("ignore")  # of the kernel's own making
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_decides(path: Path, books: dict[Path, nbformat.NotebookNode]) -> None:
    stored, fresh = read(path), books[path]
    told = errors_of(fresh)  # a claim that fails is an assertion in the notebook
    assert not told, told[0]
    assert kinds_of(fresh) == kinds_of(stored), f"run python docs/gallery/run.py {path.stem}"


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_words_hold_no_number_of_their_own(path: Path) -> None:
    notebook = read(path)
    known = set(NUMBER.findall(shown_by(notebook).replace("_", "")))
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            said = [number.replace(",", "") for number in NUMBER.findall(cell.source)]
            assert set(said) <= known, cell.source


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_what_is_stored_is_fit_for_the_site(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert path.stat().st_size < LARGEST
    assert notebook.cells[0].source.startswith("# ")
    assert "**Decision**" in "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert str(ROOT) not in path.read_text(encoding="utf-8")
    assert sys.prefix not in path.read_text(encoding="utf-8")


def test_the_gallery_is_small_and_listed() -> None:
    assert sum(path.stat().st_size for path in BOOKS) < LARGEST_IN_ALL
    listed = re.findall(r"\]\(([\w-]+)\.ipynb\)", (GALLERY / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.stem for path in BOOKS]
