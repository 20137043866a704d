"""Pool many studies, or the groups of one table: mean shares, how much studies differ, and which disagree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import interval, percent, short
from pedanova.base.notes import Count, Note, in_order
from pedanova.base.table import Cell, NamedTable, Printed
from pedanova.base.threads import RESULTS, Owner
from pedanova.counting.countable import InMemory, assembled, levels_for
from pedanova.counting.levels import LADDER, SHORT_LADDER
from pedanova.data.column import Column
from pedanova.data.objectives import TO_DO
from pedanova.data.observations import Observations
from pedanova.data.options import NanPolicy
from pedanova.data.prepare import reordered
from pedanova.data.regions import Region, needs_rows
from pedanova.data.trials import taken
from pedanova.errors import Arg, DataError, OutsideSpaceError, PedanovaError, QueryError, listed, unknown_name
from pedanova.measures.importance import NEVER, Importances
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.measures.studies import pooling
from pedanova.space.grid import Reals, grid_of
from pedanova.space.parameters import Space, in_words


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One study, and how well its ranking agrees with the other studies."""

    name: str
    n_region: int
    n_target: int
    leading: tuple[tuple[str, float], ...]  # its first parameters with their shares
    agreement: float | None  # Spearman's correlation of its ranking with the mean ranks in all other studies
    differs: tuple[str, ...]  # parameters that matter clearly more or less here than in all other studies
    estimator: str  # "counts" or "surrogate"

    def in_words(self) -> str:
        return ", ".join(f"{name} {percent(part)}" for name, part in self.leading)


@dataclass(frozen=True, slots=True, repr=False)
class Studies(NamedTable[StudyRow]):
    """A table with one `StudyRow` per study, in the given order."""

    rows: tuple[StudyRow, ...]

    def to_dict(self) -> dict[str, list[Cell]]:
        return {
            "study": [row.name for row in self.rows],
            "n_region": [row.n_region for row in self.rows],
            "n_target": [row.n_target for row in self.rows],
            "first": [row.leading[0][0] if row.leading else None for row in self.rows],
            "agreement": [row.agreement for row in self.rows],
            "differs": [", ".join(row.differs) for row in self.rows],
            "estimator": [row.estimator for row in self.rows],
        }

    def printed(self) -> Printed:
        return [
            self.column("study", lambda row: row.name),
            self.column("rows", lambda row: f"{row.n_region:,}", leave=3),
            self.column("target", lambda row: f"{row.n_target:,}"),
            self.column("what matters", StudyRow.in_words, kind="words", leave=1),
            self.column("agreement", lambda row: "" if row.agreement is None else f"{row.agreement:.2f}", leave=2),
            self.column("differs in", lambda row: ", ".join(row.differs)),
        ]

    def heading(self) -> str:
        return "The studies, and how well each ranking agrees with the other studies"


NAMED, KINDS = 5, 3  # the number of studies, and of kinds of difference, in a note


def differing(what: str, by_study: Iterable[tuple[str, str]], subject: str = "") -> list[Note]:
    """A note if the studies have different values; it begins with `what`, and lists the studies with each value."""
    kinds: dict[str, list[str]] = {}
    for study, kind in by_study:
        kinds.setdefault(kind, []).append(study)
    if len(kinds) < 2:
        return []
    words = "; ".join(f"{kind}: {among(studies)}" for kind, studies in list(kinds.items())[:KINDS])
    more = f"; and {len(kinds) - KINDS} more" if len(kinds) > KINDS else ""
    return [Note("answer", f"{what} ({words}{more})", subject=subject)]


def warning_notes(answers: Mapping[str, Importances]) -> list[Note]:
    """Warnings of single studies; equal warnings are merged."""
    doubts: dict[str, tuple[Note, list[str]]] = {}
    for name, answer in answers.items():
        for note in answer.notes:
            if note.severity == "warning":
                doubts.setdefault(str(note), (note, []))[1].append(name)
    return [note.about(among(studies)) for note, studies in doubts.values()]


def parameter_notes(name: str, answers: Mapping[str, Importances], spaces: Mapping[str, Space]) -> Iterable[Note]:
    """Notes if the parameter `name` is missing, did not vary, or has another domain in some studies."""
    missing = [study for study, answer in answers.items() if name not in answer]
    fixed = [study for study, answer in answers.items() if name in answer and not answer[name].varied]
    if missing:
        yield Note("answer", f"missing in {among(missing)}; its mean share uses the other studies", subject=name)
    if fixed:
        yield Note("answer", f"{NEVER} in {among(fixed)}; its mean share uses the other studies", subject=name)
    domains = ((study, in_words(space[name])) for study, space in spaces.items() if name in space)
    yield from differing("ranges differ, so the importances refer to different ranges", domains, name)


def rank_notes(studies: Sequence[str], names: Sequence[str], block: tuple[Sequence[int], Sequence[int]]) -> list[Note]:
    rows, columns = block
    if len(rows) < 2 or len(columns) < 2:
        return [Note("answer", "there are no mean ranks, because they need two studies with two parameters in common")]
    notes = []
    if len(columns) < len(names):
        gone = [name for j, name in enumerate(names) if j not in columns]
        words = f"no mean rank, because fewer than half of the studies have the parameter: {listed(gone, most=NAMED)}"
        notes.append(Note("answer", words))
    if len(rows) < len(studies):
        gone = [name for i, name in enumerate(studies) if i not in rows]
        words = "studies left out of the mean ranks, because they lack a ranked parameter"
        notes.append(Note("answer", f"{words}: {among(gone)}"))
    return notes


def among(studies: Sequence[str]) -> str:
    return listed(list(studies), most=NAMED)


SURE = 25  # the number of studies whose draws estimate the effect of chance on a share
SURE_OF_MANY, MANY = 12, 200  # this number if there are more than MANY studies
FIRST = 3
ALIKE, FINEST = 0.05, 0.005  # the error that all studies have in common, as a part of a share, and its minimum
COMMON = 0.5  # this part of a model's error is the same in all studies, because a model of few rows smooths too much


@dataclass(frozen=True, slots=True)
class PooledShare:
    """The pooled share of one parameter, over all studies that have it.

    Attributes
    ----------
    name
        The parameter.
    share, low, high
        The mean share over studies (random effects), and its 95 % interval.
    spread
        The standard deviation of the share between studies, without sampling error.
    rank
        The mean rank of the parameter; None if too few studies have the parameter.
    first
        The fraction of the studies in which the parameter is among the first three.
    studies
        The number of studies that have the parameter.

    Examples
    --------
    >>> import pedanova as pa
    >>> x = pa.across(pa.demo_trials(), "error", group="solver", estimator="counts")
    >>> x["learning_rate"].rank, x["learning_rate"].first, x["learning_rate"].studies
    (1.0, 1.0, 2)
    """

    name: str
    share: float
    low: float | None
    high: float | None
    spread: float
    rank: float | None
    first: float
    studies: int

    @property
    def highest(self) -> float | None:
        """`high`, limited to 1."""
        return None if self.high is None else min(self.high, max(1.0, self.share))


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Pooling(NamedTable[PooledShare]):
    """A table of `PooledShare` rows, the most important first, and the answers by study; see `Across`."""

    rows: tuple[PooledShare, ...]
    answers: Mapping[str, Importances] = field(compare=False)
    studies: Studies
    ranks: pooling.RankTest | None
    disagreements: pooling.Disagreements
    target: str
    region: str
    notes: tuple[Note, ...] = ()

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.percents("share"),
            self.column("95 % interval", lambda row: interval(row.low, row.highest), leave=1),
            self.column("between studies", lambda row: f"± {percent(row.spread)}", leave=3),
            self.column("mean rank", lambda row: "" if row.rank is None else short(row.rank), leave=2),
            self.percents("first", "in first three", leave=4),
            self.column("studies", lambda row: str(row.studies), leave=1),
        ]

    def heading(self) -> str:
        return f"Mean importance over {len(self.answers)} studies: {self.target} compared with {self.region}"


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The shares of all parameters in all studies; NaN if a parameter is missing or constant in a study."""

    studies: list[str]
    names: list[str]
    shares: Reals  # (studies, parameters)
    ranks: Reals  # ranks within each study
    variances: Reals  # sampling variances of the shares
    common: Reals  # (2, parameters) the error below and above a share that the models of all studies have in common

    def block(self) -> tuple[list[int], list[int]]:
        """The indices of the studies and parameters to rank.

        A parameter is ranked if at least half of the studies have it. A study is ranked if it has all these parameters.
        """
        known = np.isfinite(self.shares)
        columns = np.flatnonzero(known.mean(axis=0) >= 0.5)
        rows = np.flatnonzero(known[:, columns].all(axis=1)) if len(columns) else np.array([], dtype=int)
        return rows.tolist(), columns.tolist()


def pooled_studies(studies: Mapping[str, TrialData], question: Question) -> Pooling:
    """Ask all studies (or their selected rows) the same question.

    With more than `SURE` studies, only some studies get intervals.
    """
    answers, left, aims, spaces = ask_all(studies, question)
    if len(answers) < 2:
        why = "".join(f"; {name}: {error}" for name, error in list(left.items())[:3])
        lack = f"only {len(answers)} of {len(studies)} studies have importances"
        raise QueryError(f"{lack}; at least two are needed{why}")
    matrix = matrix_of(answers)
    rows, columns = matrix.block()
    together = len(rows) >= 2 and len(columns) >= 2
    names = [matrix.names[i] for i in columns]
    ranks = pooling.rank_test(names, matrix.shares[np.ix_(rows, columns)]) if together else None
    odd = pooling.disagreements(matrix.studies, matrix.names, matrix.shares, matrix.variances)
    notes = [Note("doubt", "left out: ", *error.words, subject=name) for name, error in left.items()]
    notes += differing("the studies have different objectives; each study uses its own best rows", aims.items())
    ways = ((study, answer.estimator) for study, answer in answers.items())
    notes += [*differing("the studies used different estimators", ways), *warning_notes(answers)]
    notes += [note for name in matrix.names for note in parameter_notes(name, answers, spaces)]
    notes += rank_notes(matrix.studies, matrix.names, (rows, columns))
    if len(studies) > SURE:
        few = len(chosen(list(studies)))
        words = f"intervals and warnings are computed only for {few} studies, evenly chosen"
        notes.append(Note("answer", words))
    target, region = question_in_words(answers, question)
    return Pooling(
        rows=pooled_rows(matrix, ranks),
        answers=answers,
        studies=studies_of(matrix, answers, odd),
        ranks=ranks,
        disagreements=odd,
        target=target,
        region=region,
        notes=in_order(notes),
    )


def as_selection(within: object) -> tuple[object, ...]:
    """`within` as a tuple of conditions; every selected row meets all conditions."""
    selection = () if within is None else tuple(within) if isinstance(within, list | tuple) else (within,)
    for one in selection:
        if not isinstance(one, str | Mapping) and (not needs_rows(one) or hasattr(one, "__array__")):
            words = " must be a box or a condition, because it applies to every study; use region= for a quantile"
            raise QueryError(Arg("within"), words)
    return selection


def question_in_words(answers: Mapping[str, Importances], question: Question) -> tuple[str, str]:
    """Target and region in words, for all studies."""
    if not question.within:
        targets, regions = ({getattr(one, name) for one in answers.values()} for name in ("target", "region"))
        return (
            targets.pop() if len(targets) == 1 else "the target",
            regions.pop() if len(regions) == 1 else "the region",
        )
    both = question.target, question.region
    target, region = (str(one) if needs_rows(one) else str(Region.parse(one, "region")) for one in both)
    of = " of all rows" if question.parts == "all" and not needs_rows(question.target) else ""
    return f"{target}{of}", "the selected rows" if region == "all rows" else f"{region}, selected"


def chosen(names: list[str]) -> set[str]:
    """The studies that get intervals: all studies, or some if there are many."""
    most = SURE if len(names) <= MANY else SURE_OF_MANY
    return {names[i] for i in np.unique(np.linspace(0, len(names) - 1, most).round().astype(int))} if names else set()


def ask_all(
    studies: Mapping[str, TrialData], question: Question
) -> tuple[dict[str, Importances], dict[str, PedanovaError], dict[str, str], dict[str, Space]]:
    """Ask every study; return the answers, the errors, the objectives in words and the spaces, each by study."""
    sure = chosen(list(studies))
    answers: dict[str, Importances] = {}
    left: dict[str, PedanovaError] = {}
    aims: dict[str, str] = {}
    spaces: dict[str, Space] = {}
    for name in studies:
        try:
            data = studies[name]
            answers[name] = importance_of(data, question) if name in sure else data.at_once(question).importances
            aims[name], spaces[name] = f"{TO_DO[data.direction]} {data.objective}", data.space
        except OutsideSpaceError:
            raise
        except PedanovaError as error:
            left[name] = error
    return answers, left, aims, spaces


def matrix_of(answers: Mapping[str, Importances]) -> Matrix:
    studies = list(answers)
    names = list(dict.fromkeys(name for answer in answers.values() for name in answer))
    shape = len(studies), len(names)
    shares, ranks = np.full(shape, np.nan), np.full(shape, np.nan)
    for i, answer in enumerate(answers.values()):
        for place, row in enumerate(answer.rows):
            if row.varied:
                at = i, names.index(row.name)
                shares[at], ranks[at] = row.unlimited, place + 1
    # The sampling variance is v / n in a study with n rows; v is the mean of n · (deviation of the share)².
    rows = np.array([answer.rows[0].n_region for answer in answers.values()], dtype=np.float64)
    each, common = np.empty(len(names)), np.zeros((2, len(names)))
    for j, name in enumerate(names):
        every = [answer.get(name) for answer in answers.values()]
        common[:, j] = common_error(answers.values(), name)
        sure = [(row.deviation, row.n_region) for row in every if row is not None and row.deviation is not None]
        variances = [deviation**2 * many for deviation, many in sure if not math.isnan(deviation)]
        each[j] = float(np.mean(variances)) if variances else 0.0
    return Matrix(studies, names, shares, ranks, each[None, :] / rows[:, None], common)


def common_error(answers: Iterable[Importances], name: str) -> tuple[float, float]:
    """The error below and above a share that does not average out: a part of the mean interval of the models."""
    known = [(answer.estimator, answer[name]) for answer in answers if name in answer]
    ends = [
        (row.share - row.low, row.high - row.share) if estimator == "surrogate" else (0.0, 0.0)
        for estimator, row in known
        if row.low is not None and row.high is not None
    ]
    below, above = np.mean(ends, axis=0) if ends else (0.0, 0.0)
    return COMMON * max(0.0, float(below)), COMMON * max(0.0, float(above))


def pooled_rows(matrix: Matrix, ranks: pooling.RankTest | None) -> tuple[PooledShare, ...]:
    rows = []
    mean_ranks = dict(zip(ranks.names, ranks.ranks, strict=True)) if ranks is not None else {}
    for j, name in enumerate(matrix.names):
        known = np.isfinite(matrix.shares[:, j])
        if not known.any():
            continue
        mean = pooling.pooled(matrix.shares[known, j], matrix.variances[known, j])
        off, low, high = max(FINEST, ALIKE * abs(mean.value)), mean.low, mean.high
        if low is not None and high is not None:  # a model may make the same error in all studies
            below, above = matrix.common[:, j]
            low = min(low - off, mean.value - math.hypot(mean.value - low, below))
            high = max(high + off, mean.value + math.hypot(high - mean.value, above))
        rows.append(
            PooledShare(
                name=name,
                share=mean.value,
                low=low,
                high=high,
                spread=mean.spread,
                rank=mean_ranks.get(name),
                first=float(np.mean(matrix.ranks[known, j] <= FIRST)),
                studies=int(known.sum()),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.share))


def studies_of(matrix: Matrix, answers: Mapping[str, Importances], odd: pooling.Disagreements) -> Studies:
    """One row for each study, which compares its shares with the mean of all other studies."""
    rows = []
    known = np.isfinite(matrix.shares)
    own = np.where(known, matrix.ranks, 0.0)
    sums, many = own.sum(axis=0), known.sum(axis=0)
    for i, (name, answer) in enumerate(answers.items()):
        beside = known[i] & (many > 1)
        means = (sums - own[i])[beside] / (many - 1)[beside]
        agreement = float(pooling.spearman(own[i, beside], means)) if beside.sum() > 1 else None
        leading = tuple((row.name, row.share) for row in answer.rows[:FIRST] if row.varied)
        differs = tuple(row.name for row in odd.of(name))
        first = answer.rows[0]
        rows.append(StudyRow(name, first.n_region, first.n_target, leading, agreement, differs, answer.estimator))
    return Studies(tuple(rows))


Codes: TypeAlias = NDArray[Any]
Made = TypeVar("Made")
Other = TypeVar("Other")
SHORT = 1 << 16  # this many codes fit into 16 bits, which NumPy sorts faster


def group_codes(group: Column) -> tuple[Codes, list[str]]:
    """(rows,) The index of each row's group, and the names of the groups; a row without a group gets len(names)."""
    absent = group.absent()
    if group.labels is not None:
        codes, labels = group.values, [str(label) for label in group.labels]
    else:
        distinct, codes = np.unique(group.values, return_inverse=True)
        labels = [short(value) if isinstance(value, float) else str(value) for value in distinct.tolist()]
    last = len(labels)
    codes = np.where(absent, last, codes) if absent.any() else codes
    return codes.astype(np.uint16 if last < SHORT else np.int64), labels


def part_of(observed: Observations, rows: Any) -> Observations:
    """The observations of some rows, as in `taken`; if there are several objectives, these rows are ranked again."""
    part = replace(taken(observed, rows), notes=())
    if len(part.goals) == 1:
        return part
    return reordered(replace(part, keep=np.ones(len(part), dtype=bool) if part.keep is None else part.keep))


DRAWS = 500  # for the interval of one study; only the mean over studies is used
MOST_COUNTS = 1 << 23  # counts of all studies, 128 MB with their sums; with more, they have fewer levels


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Mapping[str, Made]):
    """An object for each group of rows, by name; the data are counted at first use, and the latest are cached."""

    observed: Observations
    order: Codes | None  # (rows,) rows sorted by group; None if they already are
    spans: Mapping[str, slice]  # by group, sorted by name: its rows in that order
    levels: object
    nan: NanPolicy
    inside: bool  # whether all rows must lie inside the space
    make: Callable[[TrialData], Made]
    _owner: Owner = field(default_factory=Owner, repr=False)  # of the data of the groups

    def __getitem__(self, name: str) -> Made:
        if name not in self.spans:
            raise QueryError(unknown_name(name, tuple(self.spans), what="study"))
        return self.make(RESULTS.get(self._owner, name, lambda: self._counted(name)))

    def of(self, make: Callable[[TrialData], Other]) -> Groups[Other]:
        """The same groups, with other objects made of their data."""
        return replace(self, make=make)  # type: ignore[return-value, arg-type]

    def rows_of(self, name: str) -> Observations:
        span = self.spans[name]
        return part_of(self.observed, span if self.order is None else self.order[span])

    def _counted(self, name: str) -> TrialData:
        source = InMemory(self.rows_of(name), self.nan, 1)
        levels = levels_for(source, self.levels)
        try:
            counted = assembled(source, levels, source.count(levels), notes=(), inside=self.inside, part=True)
        except OutsideSpaceError as error:
            raise error.behind(f"study {name}: ") from None
        return TrialData.of(counted, 1)

    def __contains__(self, name: object) -> bool:
        return name in self.spans  # without counting

    def __iter__(self) -> Iterator[str]:
        return iter(self.spans)

    def __len__(self) -> int:
        return len(self.spans)


GroupData: TypeAlias = Groups[TrialData]


def itself(data: TrialData) -> TrialData:
    return data


def grouped(
    observed: Observations, column: Column, *, levels: object, nan: NanPolicy, inside: bool
) -> tuple[GroupData, list[Note]]:
    """Split the rows into groups, one for each value of `column`; return the data of each group, and notes."""
    codes, labels = group_codes(column)
    counts = np.bincount(codes, minlength=len(labels) + 1)  # the last code is for rows without a value
    order = None
    if len(codes) > 1 and (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable").astype(np.int32 if len(codes) < 1 << 31 else np.int64)
    ends = np.cumsum(counts)
    spans = {label: slice(int(ends[i] - counts[i]), int(ends[i])) for i, label in enumerate(labels) if counts[i]}
    if len(spans) < 2:
        named = f" has only {len(spans)} study ({listed(list(spans))}); at least two are needed"
        raise QueryError(Arg("group", column.name), named)
    widths = sum(grid_of(parameter).width for parameter in observed.space.values())
    # With very many studies, few levels are counted now, and others when they are needed.
    if levels is None and widths * len(LADDER) * len(spans) > MOST_COUNTS:
        levels = SHORT_LADDER
    words = f" rows have no value of {column.name}; they belong to no study"
    notes = [Note("rows", Count(counts[-1]), " of ", Count(len(observed)), words)] if counts[-1] else []
    return Groups(observed, order, spans, levels, nan, inside, itself), notes


def groups_by(data: TrialData, column: str) -> GroupData:
    """Split the data by the names of studies in `column`."""
    observed = data.observed()
    if not isinstance(column, str) or column not in observed.table:
        raise DataError(unknown_name(column, tuple(observed.table), what="column"))
    if observed.origin is not None and len(observed) != observed.origin.records.rows:
        words = " needs every row of the source, but some rows were averaged or merged; analyze the source with "
        raise QueryError(Arg("group"), words, Arg("repeats", "all"))
    how: dict[str, Any] = {"levels": data.levels.quantiles, "nan": data.levels.nan, "inside": False}
    size = 64 * len(observed)  # of the rows in another order
    key, names = ("groups", column), observed.table[column]
    return RESULTS.get(data, key, lambda: grouped(observed, names, **how)[0], lambda _: size)
