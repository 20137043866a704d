"""Where every page stands in the navigation. A page that is not named here is picked up by its folder."""

from __future__ import annotations

import re
from pathlib import Path

SECTIONS: dict[str, list[str]] = {  # a folder, as "how-to/", stands for all pages in it
    "Start": ["start", "terminal", "notebook"],
    "How to": [
        "how-to/", "sources", "object-stores", "search-space", "rows-and-conditions", "explore", "report", "figures",
        "reduction", "scale", "cuda", "parts-and-files",
    ],
    "Understand": [
        "importance", "how-sure", "how-sure-tables", "league", "effects-and-pairs", "along", "studies", "forest",
        "paper", "scale-costs",
        "*",
    ],
    "Gallery": ["gallery/"],
    "Compare": ["compare"],
    "Reference": ["reference/index", "reference/command-line", "reference/notes", "reference/errors", "file-format"],
    "Project": ["stability", "contributing", "architecture", "changelog", "security", "licenses", "threat-model"],
}  # fmt: skip
SUFFIXES = (".md", ".rst", ".ipynb")
LISTED = ("how-to/", "gallery/")  # whose pages an index of their own lists
OF_THE_ROOT = {page: f"{page.upper()}.md" for page in ("contributing", "changelog", "security", "licenses")}
FRONT = {"README.md": "/index.md"} | {file: f"/{page}.md" for page, file in OF_THE_ROOT.items()}
TO_THE_ROOT = re.compile(r"\]\((?:\.\./)+([A-Z]+\.md)")
TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)#]+)(#[^)]*)?\)")


def pages_in(docs: Path) -> set[str]:
    """Every page by its name, less those that are generated or belong to the machinery."""
    found = {path.relative_to(docs).with_suffix("") for path in docs.rglob("*") if path.suffix in SUFFIXES}
    return {
        path.as_posix() for path in found if not path.parts[0].startswith(("_", ".")) and path.parts[0] != "reference"
    }


def toctrees(docs: Path) -> str:
    """The navigation as the front page holds it: one captioned tree a section, none that is empty."""
    known = pages_in(docs) - {"index"}
    named = {page for pages in SECTIONS.values() for page in pages}
    rest = sorted(page for page in known - named if "/" not in page)
    parts = []
    for caption, pages in SECTIONS.items():
        entries = [entry for page in pages for entry in entries_of(page, known, rest)]
        if entries:
            lines = "\n".join(entries)
            parts.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n:maxdepth: 2\n\n{lines}\n```\n")
    return "\n".join(parts)


def pages_of_the_root(docs: Path) -> dict[str, str]:
    """Pages of this site that are files of the project's own folder."""
    there = {page: file for page, file in OF_THE_ROOT.items() if (docs.parent / file).exists()}
    return {page: moved((docs.parent / file).read_text(encoding="utf-8")) for page, file in there.items()}


def moved(text: str) -> str:
    """A file of the root as a page: links lead to pages; files that are none (a licence's text) are named only."""

    def link(found: re.Match[str]) -> str:
        words, file, anchor = found[1], found[2], found[3] or ""
        page = file.removeprefix("docs/") if file.startswith("docs/") else FRONT.get(file)
        return f"[{words}]({page}{anchor})" if page else words

    return TO_A_FILE.sub(link, text)


def on_the_site(text: str) -> str:
    """Links to files of the root lead to their pages."""
    return TO_THE_ROOT.sub(lambda found: f"]({FRONT.get(found[1], found[0][2:])}", text)


def entries_of(page: str, known: set[str], rest: list[str]) -> list[str]:
    if page == "*":
        return rest
    if page.endswith("/"):
        return [f"{page}index"]
    return [page] if page in known or page.startswith("reference/") else []


def listing(docs: Path, folder: str, text: str) -> str:
    """A tree of all pages of a folder, to stand behind what its index says; unseen where that names them all."""
    inside = sorted(page for page in pages_in(docs) if page.startswith(folder) and page != f"{folder}index")
    names = [page.removeprefix(folder) for page in inside]
    hidden = ":hidden:\n" if all(f"]({name}." in text for name in names) else ""
    lines = "\n".join(names)
    return f"```{{toctree}}\n{hidden}:maxdepth: 1\n\n{lines}\n```\n" if inside else ""
