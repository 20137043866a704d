"""Folders of runs: which lie in a place, and which of several is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from pedanova.errors import Arg, DataError, listed

LOOK_AT = 200  # folders to look into before deciding that a place is something else
DEEPEST = 3

Test = Callable[[Path], bool]


def folders_in(place: Path, most: int | None = None) -> Iterator[Path]:
    return islice((inner for inner in place.iterdir() if inner.is_dir()), most)


def holds_runs(place: Path, is_run: Test, most: int | None = LOOK_AT) -> bool:
    """Whether some folder right inside is a run."""
    return any(map(is_run, folders_in(place, most)))


def is_place(path: Path, is_run: Test, depth: int = DEEPEST) -> bool:
    """Whether a folder is a run, or holds runs at most so deep. Never raises."""
    try:
        return path.is_dir() and (is_run(path) or _groups(path, is_run, depth, LOOK_AT) != [])
    except OSError:
        return False


def _groups(place: Path, is_run: Test, depth: int, most: int | None) -> list[Path]:
    """Folders that hold runs, the outermost first; nothing is looked for inside a run."""
    if holds_runs(place, is_run, most):
        return [place]
    found: list[Path] = []
    for inner in sorted(folders_in(place, most)) if depth > 0 else ():
        if not inner.name.startswith("."):
            found += _groups(inner, is_run, depth - 1, most)
        if found and most is not None:
            break
    return found


def runs_of(path: Path, study: str | None, is_run: Test, *, what: str, depth: int = DEEPEST) -> tuple[Path, list[Path]]:
    """The folder that is meant, and the runs in it, in the order of their numbers.

    Raises
    ------
    DataError
        Where it is a single run, or where it is unclear which folder is meant.
    """
    if is_run(path):
        raise DataError(
            f"{path} is a single {what}, and one row compares nothing; give the folder of all runs, {path.parent}"
        )
    groups = {_name(place, path): place for place in _groups(path, is_run, depth, None)}
    if study is not None and study not in groups:
        raise DataError(Arg("study", study), f" is no folder of {what}s in {path}; there are: {listed(list(groups))}")
    if study is None and len(groups) > 1:
        raise DataError(
            f"{path} holds {len(groups)} folders of {what}s; name one in ", Arg("study"), f": {listed(list(groups))}"
        )
    folder = groups[study] if study is not None else next(iter(groups.values()))
    return folder, sorted((place for place in folders_in(folder) if is_run(place)), key=_by_number)


def _name(place: Path, root: Path) -> str:
    return place.name if place == root else place.relative_to(root).as_posix()


def _by_number(place: Path) -> tuple[str, int, str]:
    """version_2 before version_10."""
    head = place.name.rstrip("0123456789")
    tail = place.name[len(head) :]
    return head, int(tail or -1), place.name
