"""Run the notebooks of the gallery and store their outputs: python docs/gallery/run.py [NAME …].

The site shows the stored outputs. A test runs every notebook again, and checks that each number in the text is also in
the code or in an output.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
SECONDS = 120  # for one cell, on a busy machine
os.environ.setdefault("OMP_NUM_THREADS", "1")  # small matrices gain nothing from a second thread


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook after all its cells have run, in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        execute(notebook, folder)
    return notebook


def execute(notebook: nbformat.NotebookNode, folder: str, **options: object) -> None:
    resources = {"metadata": {"path": folder}}
    how = {"timeout": SECONDS, "kernel_name": "python3", "coalesce_streams": True, **options}
    NotebookClient(notebook, resources=resources, **how).execute()


def run_all(paths: list[Path]) -> dict[Path, nbformat.NotebookNode]:
    """Run all notebooks one after the other in one kernel, so that the libraries are loaded only once.

    All names are deleted between notebooks. An error is stored as an output of its cell, and later cells still run.
    """
    books = {path: nbformat.read(path, as_version=4) for path in paths}
    whole = nbformat.v4.new_notebook()
    with TemporaryDirectory() as folder:
        for path, book in books.items():
            (Path(folder) / path.stem).mkdir()
            forget = f"%reset -f\n%cd -q {folder}/{path.stem}"
            whole.cells += [nbformat.v4.new_code_cell(forget), *book.cells]
        for place, cell in enumerate(whole.cells):
            cell.id = f"cell-{place}"
        execute(whole, folder, allow_errors=True)
    return books


def plain(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs between runs or between machines: times, names of objects, versions."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for place, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{place}", {}
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"].pop("text/plain", None)
    return notebook


def main(names: list[str]) -> None:
    for path in [HERE / f"{name}.ipynb" for name in names] or sorted(HERE.glob("*.ipynb")):
        before = os.times()
        nbformat.write(plain(run(path)), path)
        spent = os.times().children_user - before.children_user
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB, {spent:.1f} s of CPU")


if __name__ == "__main__":
    main(sys.argv[1:])
