"""Small helpers for tests of logs: files as tools write them, and proof that reading changes nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pedanova.data.column import values_in
from pedanova.data.records import Records
from pedanova.errors import PedanovaError
from pedanova.sources import read_records


def write(path: Path, content: object) -> Path:
    """Text as it is, anything else as JSON; folders are made on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def cells(records: Records, name: str) -> list[Any]:
    return values_in(records.columns[name])


def prints(folder: Path) -> dict[str, str]:
    """Every file by its hash."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def read_untouched(path: Path, study: str | None = None) -> Records:
    """Read a store, and see that it is the same afterwards, down to the list of its files."""
    root = path if path.is_dir() else path.parent
    before = prints(root)
    records = read_records(path, study=study)
    assert prints(root) == before
    return records


def tolerate(read: Callable[[], object]) -> None:
    """Any input: an answer, or one line of ours."""
    try:
        read()
    except PedanovaError as error:
        message = str(error)
    except Exception as error:
        pytest.fail(f"{type(error).__name__}: {error}")
    else:
        return
    assert len(message.splitlines()) == 1, message
