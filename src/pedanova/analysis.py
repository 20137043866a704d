"""The whole way on one page: read, cut into levels, count, answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pedanova.density import Smoothing
from pedanova.engines.arrays import tally_columns
from pedanova.errors import (
    DataError,
    LevelsError,
    MergeError,
    OutsideSpaceError,
    QueryError,
    UnknownParameterError,
    unknown_name,
)
from pedanova.grid import grid_of
from pedanova.importance import Importances, rank
from pedanova.levels import (
    LADDER,
    LARGEST_TALLIES,
    SHORT_LADDER,
    SMALL,
    Levels,
    NanPolicy,
    as_ladder,
    count_nan,
    cut_levels,
)
from pedanova.nesting import Range, check_nested, check_order, query_notes
from pedanova.observations import Observations, OutsidePolicy, describe_outside, observe
from pedanova.regions import Quantile, Region, Threshold, as_region, percent
from pedanova.results import Densities, Profile, Step, densities_of
from pedanova.space import Parameter, Space
from pedanova.tally import Tally
from pedanova.workers import as_threads

Tallies = Mapping[str, Tally]


def analyze(
    data: object,
    objective: object = None,
    *,
    direction: str = "minimize",
    space: Space | Mapping[str, Parameter] | None = None,
    levels: Levels | Iterable[float] | None = None,
    nan: str = "drop",
    outside: str = "error",
    params: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    names: Sequence[str] | None = None,
    threads: int | None = None,
) -> Analysis:
    """Count a table of trials once; every question is then answered from the counts.

    Parameters
    ----------
    data
        A path (CSV, TSV, JSON lines, Parquet, Arrow IPC), a pandas, Polars or pyarrow table, a
        dict of arrays, a structured NumPy array, or a 2-D NumPy array with `names`.
    objective
        The name of a column, or one number per row.
    direction
        ``"minimize"`` or ``"maximize"``.
    space
        The search space by name: `Float`, `Int`, `Ordinal`, `Categorical`. Without it, the space
        is guessed from the data; ``notes`` tell every guess.
    levels
        Quantiles to cut the objective at, or the `levels` of another analysis, so that both can
        be added. By default a ladder from 0.001 to 1.
    nan
        What to do with rows whose objective is NaN: ``"drop"`` or count as the ``"worst"``.
    outside
        What to do with values outside a given space: ``"error"``, or ``"count"`` them apart.
    params, exclude
        Columns to use as parameters, and columns to leave out.
    names
        Column names of a 2-D NumPy array.
    threads
        Threads to count with; None for all cores.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> x = np.linspace(0, 1, 1000)
    >>> a = pa.analyze({"x": x, "z": np.tile([0, 1], 500), "loss": (x - 0.3) ** 2}, objective="loss")
    >>> list(a.importance())
    ['x', 'z']
    """
    from pedanova.sources import read_records, read_series  # brings narwhals along: only when needed

    policy: NanPolicy = as_choice("nan", nan, NanPolicy)
    fate: OutsidePolicy = as_choice("outside", outside, OutsidePolicy)
    workers = as_threads(threads)
    if objective is not None and not isinstance(objective, str):
        objective = read_series("objective", objective)
    records = read_records(data, names=names)
    observed = observe(
        records, objective=objective, direction=direction, space=space, params=params, exclude=exclude
    )
    cut = _levels(observed, levels, policy, workers)
    tallies = tally_columns(observed, cut, threads=workers)
    if space is not None and fate == "error":
        check_inside(tallies, observed)
    nans = count_nan(observed.objective)
    return Analysis(
        objective=observed.objective_name,
        levels=cut,
        tallies=tallies,
        notes=(*row_notes(observed, policy, nans), *observed.notes, *cell_notes(tallies)),
        dropped=nans if policy == "drop" else 0,
        observations=observed,
        threads=workers,
    )


def as_choice(name: str, value: object, choices: Any) -> Any:
    allowed = get_args(choices)
    if not isinstance(value, str) or value not in allowed:
        raise QueryError(f"{name}={value!r} must be {' or '.join(repr(choice) for choice in allowed)}")
    return value


def _levels(observed: Observations, levels: object, nan: NanPolicy, threads: int) -> Levels:
    if isinstance(levels, Levels):
        if levels.direction != observed.direction:
            raise QueryError(
                f"direction={observed.direction!r} differs from the levels given, which {levels.direction}"
            )
        if levels.nan != nan:
            raise QueryError(f"nan={nan!r} differs from the levels given, cut with nan={levels.nan!r}")
        return levels
    cells = sum(grid_of(parameter).width for parameter in observed.space.values())
    # A table of very many columns keeps fewer levels; others are counted when asked for.
    wide = levels is None and cells * len(LADDER) > LARGEST_TALLIES
    cut = cut_levels(
        observed.objective,
        direction=observed.direction,
        nan=nan,
        quantiles=SHORT_LADDER if wide else as_ladder(levels),  # type: ignore[arg-type]
        every=cells * SMALL <= LARGEST_TALLIES // 16,
        threads=threads,
    )
    check_varies(observed, nan)
    return cut


def check_varies(observed: Observations, nan: str) -> None:
    values = observed.objective
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if low == high and not (nan == "worst" and count_nan(values)):
        raise DataError(
            f"objective {observed.objective_name!r} is {low:g} in every row; nothing can explain a constant"
        )


def check_inside(tallies: Tallies, observed: Observations) -> None:
    for name, tally in tallies.items():
        if tally.counts[:, tally.grid.outside].any():
            raise OutsideSpaceError(describe_outside(observed.columns[name], tally.parameter))


def row_notes(observed: Observations, nan: str, nans: int) -> list[str]:
    notes = []
    if nans:
        fate = "dropped" if nan == "drop" else "counted as the worst"
        notes.append(f"{nans:,} of {len(observed):,} rows have no number as objective; {fate}")
    infinite = int(np.isinf(observed.objective).sum()) if observed.objective.dtype.kind == "f" else 0
    if infinite:
        notes.append(f"{infinite:,} rows have an infinite objective; ordered like numbers")
    return notes


def cell_notes(tallies: Tallies) -> list[str]:
    notes = []
    for name, tally in tallies.items():
        missing, outside = (
            int(tally.counts[:, cell].sum()) for cell in (tally.grid.missing, tally.grid.outside)
        )
        if missing:
            notes.append(f"{name}: {missing:,} of {tally.rows:,} rows have no value; counted in a cell apart")
        if outside:
            notes.append(f"{name}: {outside:,} of {tally.rows:,} rows lie outside the space; counted apart")
    return notes


@dataclass(frozen=True, eq=False)
class Analysis:
    """Tallies of every parameter, and the questions they answer.

    Analyses of parts add up to the analysis of the whole: ``a + b``, given the same space and levels.
    """

    objective: str
    levels: Levels
    tallies: Tallies = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    dropped: int = 0
    observations: Observations | None = field(default=None, repr=False)  # None once loaded or added
    threads: int = field(default=1, repr=False)
    _recounts: dict[object, tuple[Levels, Tallies]] = field(default_factory=dict, repr=False)

    @property
    def space(self) -> Space:
        return Space({name: tally.parameter for name, tally in self.tallies.items()})

    @property
    def direction(self) -> str:
        return self.levels.direction

    @property
    def rows(self) -> int:
        """Rows counted; dropped ones are not among them."""
        return next(iter(self.tallies.values())).rows

    def __len__(self) -> int:
        return self.rows

    def importance(
        self,
        target: float | Region = 0.1,
        region: float | Region = 1.0,
        baseline: str = "region",
        smoothing: Smoothing = "auto",
    ) -> Importances:
        """Which parameters decide whether a row of the region is in the target.

        Parameters
        ----------
        target, region
            A quantile (0.1 = the best 10 %), `at_most`, `at_least` or `between`. The target must
            lie inside the region.
        baseline
            ``"region"``: the target against the rows of the region, right for adaptive samplers
            too. ``"uniform"``: against a uniform draw from the space.
        smoothing
            ``"auto"``, ``"none"``, or a bandwidth in cells.
        """
        wanted, base = as_region(target, "target"), as_region(region, "region")
        tallies, inner, outer = self._find(wanted, base)
        rows = rank(tallies, target=inner, region=outer, baseline=baseline, smoothing=smoothing)
        notes = query_notes(wanted, base, rows[0].n_target, rows[0].n_region, self.rows)
        return Importances(rows, str(wanted), str(base), baseline, tuple(notes))  # type: ignore[arg-type]

    def profile(
        self, region: float | Region = 1.0, baseline: str = "region", smoothing: Smoothing = "auto"
    ) -> Profile:
        """Every parameter's importance at every quantile of the ladder inside the region."""
        base = as_region(region, "region")
        tallies, _, outer = self._find(base, base, nested=False)
        levels = next(iter(tallies.values())).levels
        by_level = next(iter(tallies.values())).rows_by_level()
        effective = levels.effective(by_level)
        steps, same = [], []
        seen = 0
        for part, index, held in zip(levels.quantiles, levels.index, effective, strict=True):
            inner = (outer[0], index + 1)
            rows = int(by_level[inner[0] : inner[1]].sum())
            if index + 1 > outer[1] or rows in (0, int(by_level[outer[0] : outer[1]].sum())):
                continue
            if rows == seen:
                same.append(percent(part))
                continue
            seen = rows
            found = rank(tallies, target=inner, region=outer, baseline=baseline, smoothing=smoothing)
            steps.append(Step(part, held, found))
        notes = (f"the same rows as the quantile before, and left out: {', '.join(same)}",) if same else ()
        return Profile(tuple(steps), str(base), notes)

    def densities(
        self,
        name: str,
        target: float | Region = 0.1,
        region: float | Region = 1.0,
        smoothing: Smoothing = "auto",
    ) -> Densities:
        """How one parameter is spread in the target, in the region and over the space."""
        if not isinstance(name, str) or name not in self.tallies:
            raise UnknownParameterError(unknown_name(name, tuple(self.tallies)))
        tallies, inner, outer = self._find(as_region(target, "target"), as_region(region, "region"))
        return densities_of(tallies[name], target=inner, region=outer, smoothing=smoothing)

    def _find(self, wanted: Region, base: Region, *, nested: bool = True) -> tuple[Tallies, Range, Range]:
        """Tallies cut where the question needs it, and the levels of target and region."""
        check_order(wanted, base)
        levels, tallies = self._cut_at(wanted, base)
        by_level = next(iter(tallies.values())).rows_by_level()
        inner, outer = levels.find(wanted, by_level), levels.find(base, by_level)
        if nested:
            check_nested(wanted, base, inner, outer, by_level)
        return tallies, inner, outer

    def _cut_at(self, *regions: Region) -> tuple[Levels, Tallies]:
        by_level = next(iter(self.tallies.values())).rows_by_level()
        try:
            for region in regions:
                self.levels.find(region, by_level)
        except LevelsError:
            if self.observations is None:
                raise
            return self._recount(*regions)
        return self.levels, self.tallies

    def _recount(self, *regions: Region) -> tuple[Levels, Tallies]:
        """The data once more, cut at the thresholds that the ladder does not have."""
        if self.observations is None:
            raise LevelsError("the data is no longer at hand")
        cuts = frozenset(cut for region in regions for cut in region.cuts(self.levels.direction) if cut)
        if cuts not in self._recounts:
            parts = {cut.part for cut in cuts if isinstance(cut, Quantile)}
            levels = cut_levels(
                self.observations.objective,
                direction=self.levels.direction,
                nan=self.levels.nan,
                quantiles=as_ladder(parts),
                values=[cut.signed for cut in cuts if isinstance(cut, Threshold)],
                threads=self.threads,
            )
            self._recounts.clear()  # the last question's counts are enough
            self._recounts[cuts] = levels, tally_columns(self.observations, levels, threads=self.threads)
        return self._recounts[cuts]

    def __add__(self, other: Analysis) -> Analysis:
        if not isinstance(other, Analysis):
            return NotImplemented
        if self.objective != other.objective:
            raise MergeError(f"objectives differ: {self.objective!r} and {other.objective!r}")
        if list(self.tallies) != list(other.tallies):
            raise MergeError(f"parameters differ: {list(self.tallies)} and {list(other.tallies)}")
        tallies = {name: tally + other.tallies[name] for name, tally in self.tallies.items()}
        notes = tuple(dict.fromkeys([*self.notes, *other.notes]))
        return Analysis(
            self.objective, self.levels, tallies, notes, self.dropped + other.dropped, None, self.threads
        )

    def __radd__(self, other: object) -> Analysis:
        return self if other == 0 else NotImplemented  # so that sum([...]) works

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tallies, not the data, to a small file; `load` reads it."""
        from pedanova.store import Stored, write_tallies

        write_tallies(path, Stored(self.objective, self.dropped, self.levels, self.tallies, self.notes))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Hyperparameter importance",
        questions: Sequence[tuple[float | Region, float | Region]] = ((0.1, 1.0), (0.02, 0.1)),
    ) -> None:
        """Write one HTML file: the global and the local answer, densities and notes.

        `questions` are (target, region): the wide one, then one inside it, left out if the rows do
        not suffice.
        """
        write_report(self, path, title, *questions[:2])


def write_report(a: Analysis, path: str | os.PathLike[str], title: str, *questions: Any) -> None:
    from pedanova.report.page import View, draw_page

    wide = a.importance(*questions[0])
    narrow = None
    if len(questions) > 1:
        with suppress(QueryError):
            narrow = a.importance(*questions[1])
    subtitle = f"{a.rows:,} rows, {len(a.space)} parameters, {a.direction} {a.objective}"
    densities = tuple(a.densities(name, *questions[0]) for name in wide)
    page = draw_page(View(title, subtitle, wide, narrow, densities, a.notes))
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None


def load(path: str | os.PathLike[str]) -> Analysis:
    """An analysis from a file that `Analysis.save` wrote."""
    from pedanova.store import read_tallies

    stored = read_tallies(path)
    return Analysis(stored.objective, stored.levels, stored.tallies, stored.notes, stored.dropped)
