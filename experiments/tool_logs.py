"""Every log in a folder of tool logs, read and asked: source, rows, settings, what was skipped, top three.

    python experiments/tool_logs.py DATA/tool_logs

The folder holds logs that real tools wrote, one folder or file each; archives (.tgz) are unpacked
into a temporary folder first. What is refused stands in a line with the reason; a traceback is a defect.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pedanova as pa
from pedanova.errors import PedanovaError, QueryError
from pedanova.sources import read_records
from pedanova.sources.registry import find_kind


def find_logs(folder: Path) -> Iterator[Path]:
    """Places that some reader knows, the outermost first; nothing is looked for inside a log."""
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if find_kind("path", place) is not None and not holds_several(place):
            yield place
        elif place.is_dir():
            yield from find_logs(place)


def holds_several(place: Path) -> bool:
    """Whether a reader asks which of several logs is meant."""
    try:
        read_records(place)
    except PedanovaError as error:
        return "study=" in str(error) and next(find_logs(place), None) is not None
    return False


def studies_of(place: Path) -> list[str | None]:
    """The studies of a store that holds several."""
    try:
        read_records(place)
    except PedanovaError as error:
        if "study=" not in str(error):
            raise
        words = str(error).rpartition(": ")[2]
        return [part.partition(" (")[0].strip("'") for part in words.split(", ")]
    return [None]


def ask(place: Path, study: str | None) -> list[str]:
    records = read_records(place, study=study)
    told = records.metadata
    try:
        a = pa.analyze(records)
    except QueryError as error:
        if "objective=" not in str(error) or not told.metrics:
            raise
        a = pa.analyze(records, objective=told.metrics[-1])
    found = a.importance(draws=0, force=True)
    top = ", ".join(f"{name} {found[name].ratio:.0%}" for name in list(found)[:3])
    skipped = [note for note in a.notes if "dropped" in note or "left out" in note or "only rows" in note]
    return [
        told.source or place.name,
        f"{records.rows:,}",
        f"{len(a):,}",
        str(len(a.space)),
        f"{a.direction} {a.objective}",
        "; ".join(skipped) or "-",
        top,
    ]


def answers(place: Path) -> list[list[str]]:
    """A line for each study of a log, or one that says why it is refused."""
    try:
        return [ask(place, study) for study in studies_of(place)]
    except PedanovaError as error:
        return [[str(place), "-", "-", "-", "-", f"refused: {error}", "-"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    lines = [["source", "rows", "counted", "settings", "objective", "skipped", "top three"]]
    with tempfile.TemporaryDirectory() as unpacked:
        for archive in sorted(folder.rglob("*.tgz")):
            with tarfile.open(archive) as tar:
                tar.extractall(Path(unpacked) / archive.stem, filter="data")
        for root in (folder, Path(unpacked)):
            for place in find_logs(root):
                lines += answers(place)
    for line in lines:
        print("| " + " | ".join(line) + " |")
        if line is lines[0]:
            print("|" + "---|" * len(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
