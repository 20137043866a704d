"""Folders that are tables of a warehouse: which of their files count, only the table's own log can tell.

A Delta, Iceberg or Hudi table is a folder of Parquet files, many of them outdated: read as plain files it gives
rows twice, or rows that were deleted. So such a folder is known by what lies beside its files, and these alone are
refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote, urlsplit

from pedanova.errors import DataError
from pedanova.sources.scans.objects import WEB, is_object, opened_store, plain_words, retried, shown_address

MARKS = {"_delta_log": "Delta", ".hoodie": "Hudi", "metadata": "Iceberg"}
ICEBERG = ".metadata.json"  # how the files end that tell an Iceberg table's state


def table_kind(place: str) -> str | None:
    """What kind of a table's folder, or metadata file, a path or an address names; None for anything else."""
    if is_object(place):
        address = urlsplit(place)
        path = PurePosixPath(unquote(address.path))
        if path.name.endswith(ICEBERG):
            return "Iceberg"
        if address.scheme in WEB or path.suffix or any(sign in address.path for sign in "*["):
            return None
        return far_kinds(place, [path]).get(path)
    try:
        if place.endswith(ICEBERG) and Path(place).is_file():
            return "Iceberg"
        return near_kind(Path(place)) if Path(place).is_dir() else None
    except (OSError, ValueError):  # a name that the system cannot take
        return None


def near_kind(folder: Path) -> str | None:
    for mark, kind in MARKS.items():
        if (folder / mark).is_dir() and (kind != "Iceberg" or any((folder / mark).glob(f"*{ICEBERG}"))):
            return kind
    return None


def far_kinds(place: str, folders: Iterable[PurePath]) -> dict[PurePath, str]:
    """The kinds of those folders of a store that are tables; asked for all together."""
    from pyarrow import fs

    asked = [(folder, mark) for folder in folders for mark in MARKS]
    address = urlsplit(place)
    found: dict[PurePath, str] = {}
    try:
        with plain_words(place):
            filesystem, root = opened_store(address._replace(path="").geturl())
            paths = [f"{root}/{str(folder / mark).lstrip('/')}" for folder, mark in asked]
            for (folder, mark), info in zip(asked, retried(lambda: filesystem.get_file_info(paths)), strict=True):
                if info.type.name == "Directory" and MARKS[mark] == "Iceberg":
                    inside = filesystem.get_file_info(fs.FileSelector(info.path))
                    if not any(one.path.endswith(ICEBERG) for one in inside):
                        continue
                if info.type.name == "Directory":
                    found.setdefault(folder, MARKS[mark])
    except OSError as error:
        raise DataError(f"{error}; check the address and your rights to it") from None
    return found


def check_no_table(place: str, paths: Iterable[PurePath]) -> None:
    """Refuse files of a table that are named beside its log: by a pattern, a folder inside it or one around it."""
    folders = {folder for path in paths for folder in path.parents}
    shown = shown_address(place) if is_object(place) else place
    if is_object(place):
        kinds = far_kinds(place, folders) if urlsplit(place).scheme not in WEB else {}
        found = next(((str(folder), kind) for folder, kind in kinds.items()), None)
    else:
        near = ((str(folder), near_kind(Path(folder))) for folder in sorted(folders))
        found = next(((folder, kind) for folder, kind in near if kind is not None), None)
    if found is not None:
        raise DataError(
            f"{shown}: its files belong to the {found[1]} table {found[0]}, which keeps outdated ones among them; "
            "give the folder of the table"
        )
