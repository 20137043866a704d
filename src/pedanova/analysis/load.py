"""Back from a file."""

from __future__ import annotations

import os

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.files import from_attachments


def load(path: str | os.PathLike[str]) -> Analysis:
    """An analysis from a file that `Analysis.save` wrote.

    Parameters
    ----------
    path
        A file of this version or an older one.

    Returns
    -------
    Analysis
        It answers as the one that was saved; what needs rows, only where they were saved too.

    Raises
    ------
    DataError
        The file cannot be read.
    FormatError
        It is no such file, or was damaged.

    Examples
    --------
    >>> import tempfile, pathlib, pedanova as pa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.pedanova"
    >>> pa.analyze(pa.demo_trials(), "error").save(path, model=False)
    >>> pa.load(path)
    Analysis(1,000 rows, 10 parameters, minimize error (guessed from its name))
    """
    from pedanova.counting.store import read_tallies

    stored = read_tallies(path)
    kept = (stored.objective, stored.levels, stored.tallies, stored.notes, stored.dropped)
    return Analysis(*kept, _moments=stored.moments, **from_attachments(stored))
