"""`across` pools the results of many studies; `difference` compares two studies, or two results of `importance`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from pedanova.analysis.analysis import Analysis
from pedanova.analysis.analyze import analyze, load, request_of
from pedanova.analysis.options import AnalyzeOptions
from pedanova.base.notes import Note, in_order
from pedanova.data.objectives import TO_DO
from pedanova.data.options import Scan
from pedanova.data.prepare import prepare
from pedanova.data.regions import Region
from pedanova.data.table_options import TableOptions
from pedanova.errors import Arg, DataError, QueryError, listed, unknown_name
from pedanova.measures.importance import Importances
from pedanova.measures.question import DEFAULT, HOW, How, Question, check_how
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.across import DRAWS, Groups, Pooling, as_selection, grouped, itself, pooled_studies
from pedanova.measures.studies.prior import SAFETY, STRENGTH, SearchPrior, prior_of
from pedanova.measures.studies.study_difference import (
    SHARED,
    Differences,
    StudyRelation,
    difference_of_answers,
    differences_of,
    study_relation,
    targets_of,
)
from pedanova.space.comparison import CommonSpace, shared_space
from pedanova.space.parameters import in_words

if TYPE_CHECKING:
    from pedanova.report.figures.studies import AcrossPlots, DifferencePlots

NEED_ONE_TABLE = ("stream", "executor", "pushdown", "engine")


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Across(Pooling):
    """What matters over many studies: see `across`. ``x["lr"].share``, ``x.ranks``, ``x.studies``.

    Attributes
    ----------
    rows
        One row per parameter, the most important first. Each row has the mean share with its 95 % interval, the mean
        rank, and the number of studies that have the parameter. ``spread`` says how much the studies differ beyond
        chance.
    analyses, answers
        Two dicts by name of the study: the analysis of each study, and its importances. If the importances of a study
        cannot be computed, `answers` does not contain this study, and a note says so.
    studies
        For every study: its number of rows, its most important parameters, and how well it agrees with the others.
    ranks
        Friedman's test of all ranks, with mean ranks and the critical difference. None if fewer than
        two studies or fewer than two parameters can be ranked.
    disagreements
        Parameters that matter clearly more or clearly less in one study than in the other studies on average.
    target, region
        The target and the region, in words.
    notes
        Studies that were left out, parameters that some studies do not have, and objectives that differ.

    Examples
    --------
    >>> import pedanova as pa
    >>> x = pa.across(pa.demo_trials(), "error", group="solver", estimator="counts")
    >>> x["learning_rate"].share > x["alpha"].share, x.ranks.names[0], list(x.analyses)
    (True, 'learning_rate', ['adam', 'sgd'])
    >>> len(x.disagreements.rows)
    0
    """

    analyses: Mapping[str, Analysis] = field(compare=False)

    @property
    def plot(self) -> AcrossPlots:
        """Figures: ``x.plot.importance()``, ``.ranks()`` (critical differences), ``.prior()``."""
        from pedanova.report.figures.studies import AcrossPlots

        return AcrossPlots(self, self.prior)

    def prior(
        self, target: object = DEFAULT.target, *, safety: float = SAFETY, strength: float = STRENGTH, **how: Unpack[How]
    ) -> SearchPrior:
        """Where good values lie across all studies: a density for every parameter, as a start for the next search.

        Parameters
        ----------
        target
            The target of each study, as in `importance`.
        safety
            The probability that a configuration is drawn uniformly from the whole space.
        strength
            How much the studies influence the density: from 0 (uniform) to 1 (the geometric mean of the studies).
        how
            The options of `Analysis.densities`; the default is ``estimator="counts"``.

        Returns
        -------
        SearchPrior
            A density for each parameter, the narrowest first; ``.sample()`` draws configurations, ``.to_json()`` gives
            the densities as JSON.

        Raises
        ------
        QueryError
            An option is out of range, or the densities cannot be computed for any study.

        Examples
        --------
        >>> import pedanova as pa
        >>> prior = pa.across(pa.demo_trials(), "error", group="solver", estimator="counts").prior()
        >>> list(prior)[:2], 0.01 < prior["learning_rate"].mode < 0.1
        (['learning_rate', 'units'], True)
        """
        how.setdefault("estimator", "counts")
        question = replace(Question(target, **check_how(how)), force=True)
        return prior_of({name: a.data for name, a in self.analyses.items()}, question, safety=safety, strength=strength)


def across(
    data: object,
    objective: object = None,
    *,
    group: str | None = None,
    target: object = DEFAULT.target,
    region: object = DEFAULT.region,
    within: object = None,
    parts: str = "selected",
    **options: Any,
) -> Across:
    """Which parameters matter over many studies: mean shares, mean ranks, and the studies that differ from the others.

    All studies have the same target and region; quantiles refer to the rows of each study. The notes name studies that
    were left out, parameters that some studies do not have, and objectives that differ.

    Parameters
    ----------
    data
        The studies, in one of three forms:

        - a dict of studies by name. Each study is an `Analysis`, a file that `Analysis.save` wrote, or anything that
          `analyze` reads;
        - a list of files. Each study then has the name of its file;
        - one table or its analysis. Then `group` is the column that names the study of each row.
    objective
        As in `analyze`; not needed if each study is given as an `Analysis`.
    group
        The column that names the study of each row. All these studies have the space of the whole table.
    target, region
        As in `importance`, for each study.
    within
        The rows to use in every study: a box, a condition, or a list of boxes and conditions that must all be met.
    parts
        ``"selected"``: quantiles refer to the rows that `within` selects; ``"all"``: quantiles refer to all rows of a
        study.
    options
        The options of `analyze` and of `importance`. `draws` is 500 by default. Studies with narrow intervals have more
        weight. But with ``draws=0``, all studies have the same weight.

    Returns
    -------
    Across
        A table with one row per parameter, the most important first. Its attributes are `studies`, `ranks`,
        `disagreements`, `notes` and `plot` (figures). `Analysis.report` with `group` shows the studies side by side.

    Raises
    ------
    QueryError
        Fewer than two studies could be analysed, or an option is unknown.
    DataError
        A study cannot be read, or the table does not have the column that `group` names.

    Examples
    --------
    >>> import pedanova as pa
    >>> x = pa.across(pa.demo_trials(), "error", group="solver", estimator="counts")
    >>> list(x)[:2], x["learning_rate"].studies
    (['learning_rate', 'units'], 2)
    """
    how, table = split_keywords(options)
    how.setdefault("draws", DRAWS)
    question = Question(target, region, **how, within=as_selection(within), parts=parts)
    question.check_not_paper("pooled shares")
    notes: tuple[Note, ...] = ()
    analyses: Mapping[str, Analysis]
    if isinstance(data, Analysis) and group is not None:
        for name in (["objective"] if objective is not None else []) + list(table):
            raise QueryError(Arg(name), " was already set in analyze; leave it out, or pass a table")
        analyses = data.groups(group)
    elif group is not None:
        analyses, notes = grouped_analyses(data, objective, group, **table)
    else:
        analyses = named_analyses(data, objective, table)
    data = analyses.of(itself) if isinstance(analyses, Groups) else {name: a.data for name, a in analyses.items()}
    pooled = pooled_studies(data, question)
    own = {one.name: getattr(pooled, one.name) for one in fields(pooled)}
    return Across(analyses=analyses, **(own | {"notes": in_order((*pooled.notes, *notes))}))


def split_keywords(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of `importance`, and those of `analyze`; raises an error for others."""
    known = (*HOW, *(one.name for one in fields(AnalyzeOptions)))
    for name in options:
        if name not in known:
            raise QueryError(unknown_name(name, ("group", "target", "region", *known), what="option"))
    how = {name: value for name, value in options.items() if name in HOW}
    return how, {name: value for name, value in options.items() if name not in HOW}


def named_analyses(data: object, objective: object, table: Mapping[str, Any]) -> dict[str, Analysis]:
    """Analyses by name of the study: saved ones are loaded, other data are analysed with the options in `table`."""
    if isinstance(data, Sequence) and not isinstance(data, str) and all(isinstance(p, str | Path) for p in data):
        data = by_stem([os.fspath(place) for place in data])
    if not isinstance(data, Mapping) or any(is_column(value) for value in data.values()):
        raise QueryError(
            Arg("group"),
            ' must name the column that says which study each row belongs to; or pass a dict of analyses, {"name": a}',
        )
    if objective is None and all(isinstance(value, Analysis) for value in data.values()) and len(data) < 2:
        raise QueryError(f"across needs at least two studies, not {len(data)}; for one study use importance()")
    return {str(name): as_analysis(value, objective, table) for name, value in data.items()}


def is_column(value: object) -> bool:
    """Whether `value` is a column of numbers or texts; a dict of columns is one table, not several studies."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.names is None
    return isinstance(value, list | tuple) and not any(isinstance(row, Mapping) for row in value[:1])


def by_stem(places: Sequence[str]) -> dict[str, str]:
    """Name each path after its file: 'runs/a.csv' -> 'a'. If two names would be equal, use the whole paths."""
    if len(set(places)) < len(places):
        words = "a source is given twice; to compare studies of one file, save each study with "
        raise QueryError(f"{words}pedanova analyze FILE --study NAME --save NAME.pedanova, and give the saved files")
    stems = [Path(place).stem for place in places]
    return dict(zip(stems if len(set(stems)) == len(stems) else places, places, strict=True))


def as_analysis(value: object, objective: object, table: Mapping[str, Any]) -> Analysis:
    if isinstance(value, Analysis):
        return value
    if isinstance(value, str | Path) and os.fspath(value).lower().endswith(".pedanova"):
        return load(value)
    return analyze(value, objective, **table)


def grouped_analyses(
    data: object, objective: object, group: str, **table: Any
) -> tuple[Groups[Analysis], tuple[Note, ...]]:
    """Read a table once and divide its rows by the column `group`; return an analysis for each group, and notes."""
    from pedanova.sources import read_records

    options = AnalyzeOptions(**table)
    scan = options.scan or Scan()
    request = request_of(objective, options, scan.threads)
    check_grouped(group, request, scan)
    request = replace(request, exclude=[*(request.exclude or ()), group])
    dialect = {"delimiter": request.reading.delimiter, "decimal": request.reading.decimal}
    records = read_records(data, names=options.names, study=options.study, **dialect)
    if group not in records.columns:
        raise DataError(unknown_name(group, tuple(records.columns), what="column"))
    observed, notes = prepare(replace(records, notes=(*records.notes, *request.notes)), request)
    if len(observed) != records.rows:
        words = " needs all rows, but some were left out, such as earlier steps of a run; choose the rows with "
        raise QueryError(Arg("group"), words, Arg("where"))
    nan, column = request.reading.ending, records.columns[group]
    groups, unnamed = grouped(observed, column, levels=options.levels, nan=nan, inside=request.inside)
    return groups.of(Analysis), (*notes, *observed.notes, *unnamed)


def check_grouped(group: str, request: TableOptions, scan: Scan) -> None:
    for name in NEED_ONE_TABLE:
        if getattr(scan, name):
            words = " cannot be used with groups, because groups need the table in memory; leave it out, or analyze "
            alone = "each study alone with ", Arg("where", shown=f'"{group} == …"'), " and pass the analyses by name"
            raise QueryError(Arg(name), words, *alone)
    if request.repeats not in (None, "all"):
        words = " would average over different studies; analyze each study alone and pass the analyses by name"
        raise QueryError(Arg("repeats", request.repeats), words)
    if isinstance(request.where, Region):
        words = " cannot be a range of the objective, because it would apply to all studies together; use "
        raise QueryError(Arg("where"), words, Arg("region"), ", which applies to each study")


@dataclass(frozen=True, slots=True, repr=False)
class StudyDifferences(Differences):
    """How two studies differ: see `difference`. ``d["lr"].difference``, ``d.relation``, ``d.plot.densities()``.

    Attributes
    ----------
    rows
        One `Difference` for each parameter, the clearest difference first.
    names
        The names of both studies.
    relation
        How the studies are related. ``kind`` is ``"same"`` (equal trials), ``"continued"`` (one study contains the
        other), ``"again"`` (many equal configurations), ``"other"`` or ``"unknown"``; ``in_words()`` describes the
        relation.
    notes
        What was compared, and which parameters are not in both studies.
    densities
        The densities of the target by parameter, for each study.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "units"])
    >>> d = pa.difference(a.first(400), a, names=("A", "B"), estimator="counts", draws=100)
    >>> d.relation.kind, d["units"].significant
    ('continued', False)
    >>> d.summary()
    'No importance clearly differs between A and B.'
    """

    relation: StudyRelation = field(kw_only=True)

    @property
    def plot(self) -> DifferencePlots:
        """Figures: ``d.plot.importance()``, ``d.plot.densities()``."""
        from pedanova.report.figures.studies import DifferencePlots

        return DifferencePlots(self)


@overload
def difference(a: Importances, b: Importances) -> Differences: ...
@overload
def difference(
    a: Analysis,
    b: Analysis,
    target: object = ...,
    region: object = ...,
    *,
    names: tuple[str, str] = ...,
    **how: Unpack[How],
) -> StudyDifferences: ...
def difference(
    a: Analysis | Importances,
    b: Analysis | Importances,
    target: object = DEFAULT.target,
    region: object = DEFAULT.region,
    *,
    names: tuple[str, str] = ("A", "B"),
    **how: Unpack[How],
) -> StudyDifferences | Differences:
    """How the importances of two studies differ, by parameter, and how certain each difference is.

    Parameters
    ----------
    a, b
        Two analyses; or two results of `importance`, such as those for two regions of one study.
    target, region
        As in `importance`, for both studies.
    names
        The names of the two studies in the output.
    how
        The other options of `importance`.

    Returns
    -------
    StudyDifferences
        For each parameter: its share in both studies, and the difference of the two shares with a 95 % interval and a
        p-value (adjusted by Holm). The result also contains the ratios and the good values in both studies, and whether
        the good values moved. `notes` say how the studies are related, and which parameters were not compared. If `a`
        and `b` are results of `importance`, a `Differences` is returned, which contains only shares and ratios.

    Raises
    ------
    QueryError
        The studies have no parameter in common, only one of `a` and `b` is an analysis, or the baselines of two results
        differ.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "epochs"])
    >>> adam, sgd = (a.within(f"solver == '{name}'") for name in ("adam", "sgd"))  # two studies
    >>> list(pa.difference(adam, sgd, names=("adam", "sgd"), estimator="counts", draws=100))
    ['epochs', 'learning_rate']
    >>> good, best = (a.importance(target, estimator="counts", draws=0) for target in (0.3, 0.1))  # two results
    >>> next(iter(pa.difference(good, best)))
    'learning_rate'
    """
    if isinstance(a, Importances) and isinstance(b, Importances):
        return difference_of_answers(a, b)
    if not isinstance(a, Analysis) or not isinstance(b, Analysis):
        words = "only two analyses, or two results of importance(), can be compared"
        raise QueryError(f"{words}, not {type(a).__name__} and {type(b).__name__}")
    shared = shared_space(a.space, b.space)
    if not shared.names:
        both = f"the first has {listed(list(a.space))}; the second has {listed(list(b.space))}"
        raise QueryError(f"the studies have no parameter in common; {both}")
    question = Question(target, region, **check_how(how))
    question.check_not_paper("differences between studies")
    relation = study_relation(a.data, b.data, shared)
    first, second, notes = on_common_ground(a.data, b.data, shared)
    answers = [importance_of(one, question) for one in (first, second)]
    plain = replace(question, baseline=DEFAULT.baseline, force=True)
    one, two = (data.resolved(data.widened(plain)) for data in (first, second))
    densities = {**one.densities}, {**two.densities}
    rows = differences_of(answers[0], answers[1], shared.names, densities, (targets_of(one), targets_of(two)))
    every = [*notes_on_relation(relation, a.data, b.data), *notes, *notes_on_answers(answers, shared, names)]
    return StudyDifferences(rows, names, in_order(every), densities, relation=relation)


def notes_on_relation(relation: StudyRelation, a: TrialData, b: TrialData) -> list[Note]:
    words = [relation.in_words()]
    if relation.kind in ("same", "continued"):
        words.append(SHARED)
    aims = [f"{TO_DO[one.direction]} {one.objective}" for one in (a, b)]
    if aims[0] != aims[1]:
        words.append(f"the objectives differ ({aims[0]}, {aims[1]}), so each study has its own best rows")
    return [Note("answer", one) for one in words]


def on_common_ground(a: TrialData, b: TrialData, shared: CommonSpace) -> tuple[TrialData, TrialData, list[Note]]:
    """Restrict both studies to the parameters and values that they share; also return notes on what is left out."""
    notes = [
        Note("answer", f"parameters that are only in the {which} study are not compared: {listed(list(names))}")
        for which, names in (("first", shared.first), ("second", shared.second))
        if names
    ]
    for name in shared.unlike:
        domains = f"{in_words(a.space[name])} and {in_words(b.space[name])}"
        words = f"its domains in the two studies ({domains}) have fewer than two common values; it is not compared"
        notes.append(Note("answer", words, subject=name))
    if not shared.narrowed:
        return a, b, notes
    box = listed(list(shared.narrowed))
    if a.observations is None or b.observations is None:
        words = "the two studies have different ranges; all rows are compared, because the table is not in memory"
        return a, b, [*notes, Note("doubt", words, subject=box)]
    first, second = a.within(shared.narrowed), b.within(shared.narrowed)
    words = "the two studies have different ranges; only rows inside the common range are compared"
    kept = f"{first.rows:,} of {a.rows:,} rows of the first study, {second.rows:,} of {b.rows:,} rows of the second"
    return first, second, [*notes, Note("rows", f"{words}: {kept}", subject=box)]


def notes_on_answers(answers: list[Importances], shared: CommonSpace, names: tuple[str, str]) -> list[Note]:
    """Collect the notes of both answers, and add notes on parameters that one of the studies never varied."""
    one, two = answers
    notes = []
    if one.estimator != two.estimator:
        notes.append(Note("answer", f"the studies used different estimators: {one.estimator} and {two.estimator}"))
    for answer, name in zip(answers, names, strict=True):
        fixed = [key for key in shared.names if not answer[key].varied]
        if fixed:
            notes.append(Note("answer", f"never varied in {name}, so not compared", subject=listed(fixed)))
        notes += [note.about(name) for note in answer.notes if note.severity == "warning"]
    return notes
