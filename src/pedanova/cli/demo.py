"""The bundled table of trials: what the demo shows, and what examples can be tried on."""

from __future__ import annotations

from pathlib import Path


def demo_trials() -> Path:
    """The bundled table: 1,000 random trainings of a neural network on handwritten digits.

    Ten settings by trial, one of which (`lucky_number`) is used by nothing, the ``error`` on held-out digits, and
    the seconds that it took. It is what ``pedanova demo`` analyses.

    Returns
    -------
    pathlib.Path
        A CSV file, which `analyze`, ``pandas.read_csv`` or ``polars.read_csv`` read.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.analyze(pa.demo_trials(), "error")
    Analysis(1,000 rows, 10 parameters, minimize error (guessed from its name))
    """
    return Path(__file__).with_name("demo_trials.csv")
