"""Find a search space next to a log, in a file such as space.json, sweep.yaml or (for trials.csv) trials.yaml."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pedanova.base.notes import Note
from pedanova.data.column import cells_of, for_domain
from pedanova.data.records import Records
from pedanova.data.roles import MARKS
from pedanova.data.table_options import TableOptions, objectives_of
from pedanova.errors import Arg, PedanovaError, listed
from pedanova.sources.scans.scan import TableScan
from pedanova.sources.spaces.read import SUFFIXES, read_space_file
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Moving, Space, Switch

NAMES = ("search_space", "space", "param_space", "param_grid", "sweep", "sweep_config", "multirun")
OF_JOB = (".hydra", "hydra.yaml")  # the file with the sweep in the folder of each Hydra job
LARGEST = 1_000_000  # bytes of a file written by a person


def with_space_beside(records: Records | TableScan, request: TableOptions, data: object) -> TableOptions:
    """If a space is found next to the log, add it to the options; if it may belong to another log, add only a note.

    A space is used if it is the only one found, all its parameters are columns, and all rows lie in it.
    """
    whole = records if isinstance(records, Records) else None  # only tables in memory are compared with a space
    settled = request.space is not None or request.params is not None or (whole and whole.metadata.space is not None)
    if settled or not isinstance(data, str | os.PathLike) or "://" in os.fspath(data):
        return request
    fitting = {}
    for file in _candidates(Path(data)):
        try:
            space = _named_as_columns(read_space_file(file)[0], records)
        except (PedanovaError, OSError):
            continue  # a file with this name and other content
        if space and not {*space} & {*objectives_of(request)}:
            fitting[file] = space
    if not fitting:
        return request
    file, space = next(iter(fitting.items()))
    outside = [name for name in space if whole and not _holds_all_rows(space, name, whole)]
    if len(fitting) == 1 and whole and not outside:
        words = f"the space is read from {file.name} next to the log; pass "
        note = Note("space", words, Arg("space", shown="FILE"), " to use another space")
        return replace(request, space=space, notes=(*request.notes, note))
    why = f", but some values of {listed(outside)} lie outside it" if outside and len(fitting) == 1 else ""
    words = f"{' or '.join(one.name for one in fitting)} may be the search space{why}; pass "
    note = Note("space", words, Arg("space", shown="FILE"), " to use it", severity="warning")
    return replace(request, notes=(*request.notes, note))


def _candidates(place: Path) -> Iterator[Path]:
    """Yield files that may contain the space of a log, the most likely first."""
    folder = place if place.is_dir() else place.parent
    own = () if place.is_dir() else (place.stem, f"{place.stem}_space")
    for name in (*own, *NAMES):
        for suffix in SUFFIXES:
            file = folder / f"{name}{suffix}"
            if file != place and file.is_file() and file.stat().st_size <= LARGEST:
                yield file
    if place.is_dir() and not (place / "multirun.yaml").is_file():
        yield from sorted(place.glob("/".join(("*", *OF_JOB))))[:1]


def _named_as_columns(space: Space, records: Records | TableScan) -> Space | None:
    """The space with the names of the columns, which may have a prefix such as params_; None if columns are missing."""
    columns = {name.removeprefix(mark): name for name in records.columns for mark in MARKS if name.startswith(mark)}
    columns |= {name: name for name in records.columns}
    if not {*space} <= {*columns}:
        return None
    if all(columns[name] == name for name in space):
        return space
    plain = not any(one.when or isinstance(one, Switch | Moving) for one in space.values())
    return Space({columns[name]: one for name, one in space.items()}) if plain else None


def _holds_all_rows(space: Space, name: str, records: Records) -> bool:
    if isinstance(space[name], Switch | Moving):
        return True
    column, grid = for_domain(records.columns[name], space[name]), grid_of(space[name])
    return bool((cells_of(column, grid) != grid.outside)[~column.absent()].all())
