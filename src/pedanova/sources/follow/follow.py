"""Which way a source is followed: its own, or by reading it anew."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from pedanova.data.records import Records
from pedanova.errors import DataError
from pedanova.sources import read_records
from pedanova.sources.follow.journal import JournalFollow
from pedanova.sources.follow.look import Follow
from pedanova.sources.follow.mlflow import MLflowFollow
from pedanova.sources.follow.reread import Reread
from pedanova.sources.follow.storage import StorageFollow
from pedanova.sources.follow.tables import TableFollow
from pedanova.sources.foreign import check_known, check_no_pickle
from pedanova.sources.kind import Kind
from pedanova.sources.logs import mlflow
from pedanova.sources.optuna import journal, storage
from pedanova.sources.registry import find_kind, is_url
from pedanova.sources.scans.scan import is_pattern
from pedanova.sources.tables.delimiters import as_delimiter
from pedanova.sources.tables.files import kind_of
from pedanova.sources.tables.opening import is_packed

GROWING = ("CSV", "TSV", "JSON lines")


def follow(data: object, *, study: str | None = None, delimiter: str | None = None) -> Follow:
    """A source that is looked at again and again: a path or a URL. Nothing is read before the first look."""
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"a {type(data).__name__} cannot be followed; give a path or the URL of a database")
    place = os.fspath(data)
    if is_url(place):
        return MLflowFollow(place, study) if mlflow.fits_url(place) else StorageFollow.of_url(place, study)
    if is_pattern(place):
        raise DataError(f"{place} names several files, which cannot be followed; give one file, folder or database")
    path = Path(place)
    check_no_pickle(path)
    if not path.exists():
        raise DataError(f"{place} does not exist; begin to write it, then follow it")
    kind = find_kind("path", path)
    if kind is None:
        check_known(path)
    return _way(kind, path, study, as_delimiter(delimiter))


def _way(kind: Kind | None, path: Path, study: str | None, delimiter: str | None) -> Follow:
    if kind is storage.FILE:
        return StorageFollow.of_file(path, study)
    if kind is journal.KIND:
        return JournalFollow(path, study)
    if kind in mlflow.KINDS:
        return MLflowFollow(path, study)
    if kind is None and kind_of(path) in GROWING and not is_packed(path):
        return TableFollow(path, delimiter)
    return Reread(path, partial(_read, path, study, delimiter))


def _read(path: Path, study: str | None, delimiter: str | None) -> Records:
    return read_records(path, study=study, delimiter=delimiter)
