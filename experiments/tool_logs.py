"""Every log in a folder of tool logs, read and asked: source, rows, settings, top three.

    python experiments/tool_logs.py DATA/tool_logs

The folder holds logs that real tools wrote, one folder or file each; archives (.tgz) are unpacked
into a temporary folder first. What is refused stands in a line with the reason; a traceback is a defect.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pedanova as pa
from pedanova.errors import PedanovaError
from pedanova.sources import read_records
from pedanova.sources.registry import find_kind


def answers(folder: Path) -> Iterator[str]:
    """A line for each study of each log; nothing is looked for inside a log, unless it holds several."""
    for place in sorted(folder.iterdir()):
        lines = [ask(place)] if find_kind("path", place) is not None else []
        if lines and "study=" in lines[0]:
            inside = list(answers(place)) if place.is_dir() else []
            studies = re.findall(r"'([^']+)'|(\S+) \(", lines[0].rpartition(": ")[2])
            lines = inside or [ask(place, quoted or plain) for quoted, plain in studies]
        elif not lines and place.is_dir():
            lines = list(answers(place))
        yield from lines


def ask(place: Path, study: str | None = None) -> str:
    try:
        records = read_records(place, study=study)
        metadata = records.metadata
        named = metadata.objectives or not metadata.metrics
        a = pa.analyze(records, None if named else metadata.metrics[-1])
        found = a.importance(draws=0, force=True)
    except PedanovaError as error:
        return f"| {place} | refused: {error} |"
    top = ", ".join(f"{name} {found[name].ratio:.0%}" for name in list(found)[:3])
    counts = f"{records.rows:,} rows | {len(a):,} counted | {len(a.space)} settings"
    return f"| {metadata.source or place.name} | {counts} | {a.direction} {a.objective} | {top} |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as unpacked:
        for archive in sorted(Path(sys.argv[1]).rglob("*.tgz")):
            with tarfile.open(archive) as tar:
                tar.extractall(Path(unpacked) / archive.stem, filter="data")
        for root in (Path(sys.argv[1]), Path(unpacked)):
            for line in answers(root):
                print(line)
