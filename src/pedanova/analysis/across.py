"""`across`: many studies, or one table of them, asked the same question."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze, delimiter_for, request_of
from pedanova.analysis.load import load
from pedanova.analysis.many_groups import ready_answers
from pedanova.analysis.options import QUESTION, TABLE, check_choices
from pedanova.base.notes import Count, Note, in_order
from pedanova.base.recent import Recent
from pedanova.counting.countable import assembled, levels_for
from pedanova.counting.grouped import GroupedRows, group_rows
from pedanova.counting.in_memory import InMemory
from pedanova.counting.levels import LADDER, SHORT_LADDER
from pedanova.data.outcomes import NanPolicy
from pedanova.data.prepare import prepare
from pedanova.data.records import Records
from pedanova.data.regions import Region
from pedanova.data.request import Request
from pedanova.errors import Arg, DataError, OutsideSpaceError, QueryError, listed, unknown_name
from pedanova.measures.importance import Importances, rank
from pedanova.measures.studies.across import Pooling, pool_studies
from pedanova.measures.studies.defaults import Defaults, defaults_of
from pedanova.measures.studies.prior import SearchPrior, prior_of
from pedanova.measures.studies.told import Facts
from pedanova.measures.surrogate.answer import answered
from pedanova.measures.surrogate.estimate import MOST_ROWS, as_options, check_enough
from pedanova.space.grid import grid_of

if TYPE_CHECKING:
    from pedanova.report.figures.across import AcrossPlots

Ready: TypeAlias = Callable[[], tuple[dict[str, Importances], Facts]]
DRAWS = 500  # behind the interval of one study: only their mean is used
KEPT_COUNTS = 1 << 23  # counts of studies that are kept: 128 MB with their sums; others are counted again when asked
TABLE_OPTIONS = {option.name: option.default for option in TABLE}
QUESTION_OPTIONS = {option.name for option in QUESTION} - {"target", "region"}
NEED_ONE_TABLE = ("stream", "executor", "checkpoint", "pushdown", "engine")


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Across(Pooling):
    """What matters over many studies: see `across`. ``x["lr"].share``, ``x.ranks``, ``x.studies``, ``x.map``.

    Attributes
    ----------
    rows
        By parameter, the most important first: the mean share with its 95 % interval, how far studies differ beyond
        chance (``spread``), the mean rank, and how many studies have it.
    analyses, answers
        Of every study by name; `answers` lacks those that cannot be asked, which `notes` name.
    studies
        Rows, first parameters and agreement of every study.
    ranks
        Friedman's test of all ranks, with mean ranks and the critical difference; None where no two studies share
        two parameters.
    map
        Studies by what matters in them; None likewise.
    disagreements
        Parameters that matter clearly more or less in one study than in all others.
    target, region
        What was asked, in words.
    notes
        What to know beside the numbers: studies left out, parameters that some lack, aims that differ.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car", "iris"], 100)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> x["lr"].share > x["other"].share, x.ranks.names, list(x.analyses)
    (True, ('lr', 'other'), ['adult', 'car', 'iris'])
    >>> len(x.disagreements.rows)
    0
    """

    analyses: Mapping[str, Analysis] = field(compare=False)

    @property
    def plot(self) -> AcrossPlots:
        """Figures: ``x.plot.importance()``, ``.ranks()`` (critical differences), ``.map()``."""
        from pedanova.report.figures.across import AcrossPlots

        return AcrossPlots(self)

    def prior(self, target: object = 0.1, **options: Any) -> SearchPrior:
        """Where good values lie over all studies: the prior for the next one, which `export` writes for other tools.

        Parameters
        ----------
        target
            The rows of each study that are good.
        options
            ``safety``: the part of all draws that come from the whole space, evenly (0.3); ``strength``: from 0 (no
            prior) to 1 (the pooled densities as they are; 0.7); ``pool``: ``"geometric"``, what studies agree on, or
            ``"mean"``, what is good in any of them; and those of `Analysis.all_densities`.

        Returns
        -------
        SearchPrior
            By parameter, the narrowest first; ``.sample()``, ``.export("optuna")``, and ``.left_out()``: what it is
            worth on studies that had no part in it.

        Raises
        ------
        QueryError
            An option is out of range, or no study can be asked.

        Examples
        --------
        >>> import numpy as np, pedanova as pa
        >>> rng = np.random.default_rng(0)
        >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
        >>> table["loss"] = (table["lr"] - 0.3) ** 2
        >>> prior = pa.across(table, "loss", group="dataset", estimator="counts").prior()
        >>> list(prior), 0.2 < prior["lr"].mode < 0.4
        (['lr', 'other'], True)
        >>> "import optuna" in prior.export("optuna")
        True
        """
        return prior_of(self.analyses, target=target, **options)

    def defaults(self, target: object = 0.1, *, seed: int = 0, **options: Any) -> Defaults:
        """Defaults that suit all studies, their regret on left-out ones, and what tuning each parameter gains.

        Parameters
        ----------
        target
            The rows of each study that are good.
        seed
            Of everything random.
        options
            Those of `prior`.

        Returns
        -------
        Defaults
            By parameter, the most tunable first; ``.configuration`` is the default as a dict, ``.regrets`` what it
            costs on studies that had no part in it.

        Raises
        ------
        QueryError
            A study has several objectives, an option is out of range, or no study can be asked.
        """
        return defaults_of(self.analyses, target=target, seed=seed, **options)

    def report(self, path: str | os.PathLike[str], *, title: str = "Hyperparameter importance across studies") -> None:
        """Write one HTML file that needs no network: ranking, critical differences, map and all studies.

        Parameters
        ----------
        path
            Where to; a file that is there is replaced.
        title
            Of the page.

        Raises
        ------
        DataError
            The file cannot be written.
        """
        from pedanova.base.places import check_place
        from pedanova.report.page.html import write_page
        from pedanova.report.page.studies import draw_studies

        write_page(check_place(path), draw_studies(self, title))


@dataclass(frozen=True, slots=True, eq=False)
class GroupAnalyses(Mapping[str, Analysis]):
    """An analysis of every group of a table, counted when first asked for; the last ones are kept."""

    groups: GroupedRows
    levels: object
    nan: NanPolicy
    inside: bool  # no row may lie outside the space
    _kept: Recent[Analysis] = field(repr=False)

    def __getitem__(self, name: str) -> Analysis:
        if name not in self.groups:
            raise QueryError(unknown_name(name, tuple(self.groups), what="study"))
        return self._kept.get(name, lambda: self._counted(name))

    def _counted(self, name: str) -> Analysis:
        held = InMemory(self.groups[name], self.nan, 1)
        levels = levels_for(held, self.levels)
        try:
            counted = assembled(held, levels, held.count(levels), notes=(), inside=self.inside, part=True)
        except OutsideSpaceError as error:
            raise error.behind(f"study {name}: ") from None
        return Analysis.of(counted, 1)

    def ready(self, target: object, region: object, options: Mapping[str, Any]) -> Ready | None:
        """How to have many answers at once, counted together; None where rows without an objective are the worst."""
        if self.nan != "drop":
            return None
        observed = self.groups.observed
        about = Facts(f"{observed.direction} {observed.name}", observed.space)
        return lambda: (ready_answers(self.groups, target, region, options), about)

    def __contains__(self, name: object) -> bool:
        return name in self.groups

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)


def across(
    data: object,
    objective: object = None,
    *,
    group: str | None = None,
    target: object = 0.1,
    region: object = 1.0,
    draws: int = DRAWS,
    **options: Any,
) -> Across:
    """What matters over many studies: pooled shares, ranks, and which studies disagree.

    Every study is asked the same question; quantiles are those of its own rows. Nothing is silently dropped:
    `notes` name studies that cannot be asked, parameters that some lack, and aims that differ.

    Parameters
    ----------
    data
        Studies by name: analyses, or whatever `analyze` reads, or files that `Analysis.save` wrote; or one table
        with a column that names the study of each row (`group`).
    objective
        As in `analyze`, for whatever is no analysis yet.
    group
        The column that names the study of each row. The table is read and sorted once; the space is that of all rows.
    target, region
        As in `importance`: within each study.
    draws
        Random draws behind the interval of a study, which weights it; 0: all studies weigh the same.
    options
        Those of `analyze` and of `importance`.

    Returns
    -------
    Across
        A table by parameter, the most important first, with `studies`, `ranks`, `map`, `disagreements` and
        `notes`; figures (`plot`) and a page (`report`).

    Raises
    ------
    QueryError
        Where fewer than two studies can be asked, or an option is unknown, or for one study alone.
    DataError
        Where a study cannot be read, or a table has no column `group`.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> lr, seed, dataset = rng.random(600), rng.random(600), np.repeat(["adult", "car", "iris"], 200)
    >>> table = {"lr": lr, "other": seed, "dataset": dataset, "loss": (lr - 0.3) ** 2}
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> list(x), x["lr"].studies
    (['lr', 'other'], 3)
    """
    asked = {name: options.pop(name) for name in list(options) if name in QUESTION_OPTIONS}
    given = checked(options)
    notes: tuple[Note, ...] = ()
    analyses: Mapping[str, Analysis]
    if group is not None:
        analyses, notes = grouped_analyses(data, objective, group, given)
    else:
        analyses = named_analyses(data, objective, given)
    ready = analyses.ready(target, region, asked) if isinstance(analyses, GroupAnalyses) else None
    found = pool_studies(analyses, target, region, draws=draws, brief=briefly, ready=ready, **asked)
    return Across(**(found | {"notes": in_order((*found["notes"], *notes))}))


def briefly(a: Analysis, target: object, region: object, baseline: str = "region", **how: Any) -> Importances:
    """The numbers of `importance` without draws, and without the notes, whose checks cost more than the numbers."""
    usual: dict[str, Any] = {"smoothing": "auto", "estimator": "auto", "seed": 0, "of": "space", "force": False}
    options = as_options(baseline, draws=0, **(usual | how))
    contrasts, words, _ = a.ask(target, region)
    if a.rows > MOST_ROWS and options.estimator in ("auto", "counts"):  # no model is thought of
        rows = rank(contrasts, baseline=baseline, smoothing=options.smoothing)
        check_enough(rows[0].n_target, rows[0].n_region, options)
        return Importances(rows, *words, baseline)  # type: ignore[arg-type]
    query = a.asked(contrasts, target, region)
    return answered(query, options, words, (), objective=a.objective, whole=False, brief=True)


def checked(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in TABLE_OPTIONS:
            known = ("group", "target", "region", "draws", *sorted(QUESTION_OPTIONS), *TABLE_OPTIONS)
            raise QueryError(unknown_name(name, known, what="option"))
    given = TABLE_OPTIONS | options
    check_choices(given)
    return given


def named_analyses(data: object, objective: object, given: dict[str, Any]) -> dict[str, Analysis]:
    """Studies by name; what is no analysis is analysed, or loaded."""
    if isinstance(data, Sequence) and not isinstance(data, str) and all(isinstance(p, str | Path) for p in data):
        data = by_stem([os.fspath(place) for place in data])
    if not isinstance(data, Mapping) or any(is_column(value) for value in data.values()):
        raise QueryError(Arg("group"), " must name the column of a table's studies; or give analyses by name, {…: a}")
    if objective is None and all(isinstance(value, Analysis) for value in data.values()) and len(data) < 2:
        raise QueryError(f"across needs at least two studies, not {len(data)}; one is asked by importance()")
    return {str(name): as_analysis(value, objective, given) for name, value in data.items()}


def is_column(value: object) -> bool:
    """Whether it is one column of a table, rather than a study."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.names is None
    return isinstance(value, list | tuple) and not any(isinstance(row, Mapping) for row in value[:1])


def by_stem(places: Sequence[str]) -> dict[str, str]:
    """Files by name, as much of it as tells them apart."""
    stems = [Path(place).stem for place in places]
    return dict(zip(stems if len(set(stems)) == len(stems) else places, places, strict=True))


def as_analysis(value: object, objective: object, given: Mapping[str, Any]) -> Analysis:
    if isinstance(value, Analysis):
        return value
    if isinstance(value, str | Path) and os.fspath(value).lower().endswith(".pedanova"):
        return load(value)
    return analyze(value, objective, **given)


def grouped_analyses(
    data: object, objective: object, group: str, given: dict[str, Any]
) -> tuple[GroupAnalyses, tuple[Note, ...]]:
    """One pass over the table: prepared, and sorted into groups; every group is then counted from its own rows."""
    from pedanova.sources import read_records

    for name in NEED_ONE_TABLE:
        if given[name]:
            raise QueryError(Arg(name), " is for one study; a table of groups is read into memory, leave it out")
    if given["repeats"] not in (None, "all"):
        words = " would average over studies; analyze each alone and give them by name"
        raise QueryError(Arg("repeats", given["repeats"]), words)
    if isinstance(given["where"], Region):
        raise QueryError(Arg("where"), " cannot be a part of all studies' rows; use ", Arg("region"), " within each")
    whole = given | {"data": data, "objective": objective, "exclude": [*_names(given["exclude"]), group]}
    request, notes = request_of(whole)
    records = read_records(data, names=given["names"], study=given["study"], delimiter=delimiter_for(data, whole))
    if group not in records.columns:
        raise DataError(unknown_name(group, tuple(records.columns), what="column"))
    return counted_by(replace(records, notes=(*records.notes, *notes)), request, group, given)


def counted_by(
    records: Records, request: Request, group: str, given: dict[str, Any]
) -> tuple[GroupAnalyses, tuple[Note, ...]]:
    observed, notes = prepare(records, request)
    if len(observed) != records.rows:
        raise QueryError(Arg("group"), " needs every row of the source; it uses only some of them; choose with where=")
    groups = group_rows(observed, records.columns[group])
    nan: NanPolicy = "worst" if request.policies.may_be_worst else "drop"
    inside = given["outside"] == "error" and request.space is not None
    widths = sum(grid_of(parameter).width for parameter in observed.space.values())
    # Of very many studies few levels are kept; others are counted when asked for.
    levels = given["levels"]
    if levels is None and widths * len(LADDER) * len(groups) > KEPT_COUNTS:
        levels = SHORT_LADDER
    many = len(levels) if isinstance(levels, Sequence) else len(LADDER)
    kept = max(2, KEPT_COUNTS // (widths * many))
    told = [*notes, *observed.notes]
    if groups.unnamed:
        words = Count(groups.unnamed), " of ", Count(len(observed)), f" rows have no value of {group}; in no study"
        told.append(Note("rows", *words))
    if len(groups) < 2:
        raise QueryError(Arg("group", group), f" names {len(groups)} study ({listed(list(groups))}); give two or more")
    return GroupAnalyses(groups, levels, nan, inside, Recent(kept)), tuple(told)


def _names(exclude: Iterable[str] | str | None) -> list[str]:
    return [exclude] if isinstance(exclude, str) else list(exclude or ())
