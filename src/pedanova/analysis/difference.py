"""`difference`: two answers, or two studies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Unpack, overload

from pedanova.analysis.analysis import Analysis
from pedanova.base.notes import Note, in_order
from pedanova.errors import QueryError, listed
from pedanova.measures.importance import Importances
from pedanova.measures.question import DEFAULT, How, Question, check_how
from pedanova.measures.questions.ask import densities_of_all, importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies.study_difference import (
    SHARED,
    Differences,
    StudyRelation,
    difference_of_answers,
    differences_of,
    study_relation,
)
from pedanova.space.comparison import CommonSpace, shared_space
from pedanova.space.parameters import in_words

if TYPE_CHECKING:
    from pedanova.report.figures.studies import DifferencePlots


@dataclass(frozen=True, slots=True, repr=False)
class StudyDifferences(Differences):
    """How two studies differ: see `difference`. ``d["lr"].difference``, ``d.relation``, ``d.plot.densities()``.

    Attributes
    ----------
    rows
        By parameter, the clearest first: ``share`` and ``other``, their ``difference`` with ``low``, ``high`` and
        ``p_adjusted``, the same of the ratios, good values in both, and whether they ``moved``.
    names
        Of both studies.
    relation
        What the second study is to the first: ``kind`` is ``"same"``, ``"continued"``, ``"again"``, ``"other"`` or
        ``"unknown"``; ``in_words()`` says it.
    notes
        What to know beside the numbers, and what the studies do not share.
    densities
        Where the target lies, by parameter, in each study.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "units"])
    >>> d = pa.difference(a.first(400), a, names=("early", "all"), estimator="counts", draws=100)
    >>> d.relation.kind, d["units"].significant
    ('continued', False)
    >>> d.in_words()
    'No parameter matters clearly more in early than in all.'
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
    target: object = 0.1,
    region: object = 1.0,
    *,
    names: tuple[str, str] = ("A", "B"),
    **how: Unpack[How],
) -> StudyDifferences | Differences:
    """How two studies differ in what matters, parameter by parameter, and how surely.

    Parameters
    ----------
    a, b
        Two analyses; or two answers of `importance`, such as those inside two parts of one space.
    target, region
        As in `importance`, asked of both studies.
    names
        What to call the two studies.
    how
        The other options of `importance`.

    Returns
    -------
    StudyDifferences
        By parameter: both shares and ratios, their differences with 95 % intervals and p-values (Holm over all
        parameters), good values in both and whether they moved. `notes` say what the studies are to each other,
        and what they do not share. For two answers: `Differences`, of shares alone.

    Raises
    ------
    QueryError
        Where the studies share no parameter, where an analysis is held against an answer, or where two answers were
        held against different baselines.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "epochs"])
    >>> adam, sgd = (a.within(f"solver == '{name}'") for name in ("adam", "sgd"))  # two studies
    >>> list(pa.difference(adam, sgd, names=("adam", "sgd"), estimator="counts", draws=100))
    ['epochs', 'learning_rate']
    >>> good, best = (a.importance(target, estimator="counts", draws=0) for target in (0.3, 0.1))  # two answers
    >>> next(iter(pa.difference(good, best)))
    'learning_rate'
    """
    if not isinstance(a, Analysis) or not isinstance(b, Analysis):
        if isinstance(a, Analysis) or isinstance(b, Analysis):
            raise QueryError("an analysis and an answer cannot be compared; give two analyses, or two importance()")
        return difference_of_answers(a, b)
    shared = shared_space(a.space, b.space)
    if not shared.names:
        raise QueryError(f"the studies share no parameter: {listed(list(a.space))} and {listed(list(b.space))}")
    question = Question(target, region, **check_how(how))
    plain = replace(question, baseline=DEFAULT.baseline, force=True)
    relation = study_relation(a.data, b.data, shared)
    first, second, notes = on_common_ground(a.data, b.data, shared)
    answers = [importance_of(one, question) for one in (first, second)]
    densities = densities_of_all(first, plain), densities_of_all(second, plain)
    contrasts = first.contrasts(target, region)[0], second.contrasts(target, region)[0]
    rows = differences_of(answers[0], answers[1], shared.names, densities, contrasts)
    if relation.kind in ("same", "continued"):
        notes.append(Note("answer", SHARED))
    aims = [f"{one.direction} {one.objective}" for one in (a, b)]
    if aims[0] != aims[1]:
        notes.append(Note("answer", f"the aims differ, each counts its own best rows: {aims[0]} and {aims[1]}"))
    every = [relation.note, *notes, *_answered(answers, shared, names)]
    return StudyDifferences(rows, names, in_order(every), densities, relation=relation)


def on_common_ground(a: TrialData, b: TrialData, shared: CommonSpace) -> tuple[TrialData, TrialData, list[Note]]:
    """Both studies inside the values that both may take, and what is not shared."""
    notes = [
        Note("answer", f"only in the {which} study, not compared: {listed(list(names))}")
        for which, names in (("first", shared.first), ("second", shared.second))
        if names
    ]
    for name in shared.unlike:
        words = f"{in_words(a.space[name])} and {in_words(b.space[name])} have no two values in common; not compared"
        notes.append(Note("answer", words, subject=name))
    if not shared.narrowed:
        return a, b, notes
    box = listed(list(shared.narrowed))
    if a.observations is None or b.observations is None:
        words = "domains differ, and rows are no longer at hand to keep to what both share; each share is of its own"
        return a, b, [*notes, Note("doubt", words, subject=box)]
    first, second = a.within(shared.narrowed), b.within(shared.narrowed)
    words = "domains differ; only rows inside what both share are compared"
    kept = f"{first.rows:,} of {a.rows:,} and {second.rows:,} of {b.rows:,}"
    return first, second, [*notes, Note("rows", f"{words}: {kept}", subject=box)]


def _answered(answers: list[Importances], shared: CommonSpace, names: tuple[str, str]) -> list[Note]:
    """What the answers themselves say, and parameters that one study never varied."""
    one, two = answers
    notes = []
    if one.estimator != two.estimator:
        notes.append(Note("answer", f"answered in different ways: {one.estimator} and {two.estimator}"))
    for answer, name in zip(answers, names, strict=True):
        fixed = [key for key in shared.names if not answer[key].varied]
        if fixed:
            notes.append(Note("answer", f"never varied in {name}, not compared", subject=listed(fixed)))
        notes += [note.about(name) for note in answer.notes if note.severity == "warning"]
    return notes
