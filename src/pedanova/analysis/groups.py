"""The studies of one table, each an analysis of its own: whole, or some rows of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pedanova.analysis.rows import AnalysisRows
from pedanova.base.notes import Count, Note
from pedanova.base.threads import ResultCache
from pedanova.counting.countable import Counted, InMemory, assembled, levels_for
from pedanova.counting.grouped import GroupedRows, group_rows
from pedanova.counting.levels import LADDER, SHORT_LADDER
from pedanova.data.column import Column
from pedanova.data.observations import Observations
from pedanova.data.regions import as_region
from pedanova.data.row_selection import needs_rows
from pedanova.data.row_status import NanPolicy
from pedanova.errors import Arg, OutsideSpaceError, QueryError, listed, unknown_name
from pedanova.measures.importance import Importances, rank
from pedanova.measures.question import Question
from pedanova.measures.studies.across import pool_studies
from pedanova.measures.surrogate.answer import answer
from pedanova.measures.surrogate.estimate import MOST_ROWS, check_enough
from pedanova.report.page.answers import by_value
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

Study = TypeVar("Study", bound=AnalysisRows)
DRAWS = 500  # behind the interval of one study: only their mean is used
KEPT_COUNTS = 1 << 23  # counts of studies that are kept: 128 MB with their sums; others are counted again when asked
PARTS = ("selected", "all")  # rows that a quantile is a part of, where some are selected


@dataclass(frozen=True, slots=True, eq=False)
class GroupAnalyses(Mapping[str, Study], Generic[Study]):
    """An analysis of every group of a table, counted when first asked for; the last ones are kept."""

    groups: GroupedRows
    levels: object
    nan: NanPolicy
    inside: bool  # no row may lie outside the space
    make: Callable[[Counted, int], Study]
    _kept: ResultCache[Study] = field(repr=False)

    def __getitem__(self, name: str) -> Study:
        if name not in self.groups:
            raise QueryError(unknown_name(name, tuple(self.groups), what="study"))
        return self._kept.get(name, lambda: self._counted(name))

    def _counted(self, name: str) -> Study:
        held = InMemory(self.groups[name], self.nan, 1)
        levels = levels_for(held, self.levels)
        try:
            counted = assembled(held, levels, held.count(levels), notes=(), inside=self.inside, part=True)
        except OutsideSpaceError as error:
            raise error.behind(f"study {name}: ") from None
        return self.make(counted, 1)

    def __contains__(self, name: object) -> bool:
        return name in self.groups

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)


@dataclass(frozen=True, slots=True, eq=False)
class Narrowed:
    """Some rows of a study, asked as the whole study would be."""

    study: Any  # with all questions of an analysis
    within: tuple[object, ...]
    parts: str

    @property
    def objective(self) -> str:
        return str(self.study.objective)

    @property
    def direction(self) -> str:
        return str(self.study.direction)

    @property
    def space(self) -> Space:
        return self.study.space  # type: ignore[no-any-return]

    def asked(self, target: object, region: object, options: Mapping[str, Any]) -> tuple[Any, object, object]:
        """The analysis of these rows, and target and region in it: parts of all rows are values of the objective."""
        of = "rows" if options.get("estimator") == "counts" else options.get("of", "space")
        if self.parts == "all" and not self.study.levels.several:
            target, region = (self._where_it_ends(rows, of) for rows in (target, region))
        return self.study.within(*self.within, at=(target, region)), target, region

    def _where_it_ends(self, rows: object, of: str) -> object:
        return rows if needs_rows(rows) else by_value(self.study, as_region(rows, "target"), of)

    def importance(self, target: object, region: object, **options: Any) -> Importances:
        inner, wanted, base = self.asked(target, region, options)
        return inner.importance(wanted, base, **options)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, eq=False)
class NarrowedStudies(Mapping[str, Narrowed]):
    """Every study's selected rows."""

    studies: Mapping[str, Any]
    within: tuple[object, ...]
    parts: str

    def __getitem__(self, name: str) -> Narrowed:
        return Narrowed(self.studies[name], self.within, self.parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.studies)

    def __len__(self) -> int:
        return len(self.studies)


def grouped(
    observed: Observations,
    column: Column,
    *,
    levels: object,
    nan: NanPolicy,
    inside: bool,
    make: Callable[[Counted, int], Study],
) -> tuple[GroupAnalyses[Study], list[Note]]:
    """Rows sorted into groups once; every group is then counted from its own rows."""
    groups = group_rows(observed, column)
    widths = sum(grid_of(parameter).width for parameter in observed.space.values())
    # Of very many studies few levels are kept; others are counted when asked for.
    if levels is None and widths * len(LADDER) * len(groups) > KEPT_COUNTS:
        levels = SHORT_LADDER
    many = len(levels) if isinstance(levels, Sequence) else len(LADDER)
    kept = max(2, KEPT_COUNTS // (widths * many))
    notes = []
    if groups.unnamed:
        words = (
            Count(groups.unnamed),
            " of ",
            Count(len(observed)),
            f" rows have no value of {column.name}; in no study",
        )
        notes.append(Note("rows", *words))
    if len(groups) < 2:
        named = f" names {len(groups)} study ({listed(list(groups))}); give two or more"
        raise QueryError(Arg("group", column.name), named)
    return GroupAnalyses(groups, levels, nan, inside, make, ResultCache(kept)), notes


def briefly(a: Any, target: object, region: object, **how: Any) -> Importances:
    """The numbers of `importance` without draws, and without the notes, whose checks cost more than the numbers."""
    if isinstance(a, Narrowed):
        a, target, region = a.asked(target, region, how)
    question = Question(target, region, **how).without_draws()
    contrasts, words, _ = a.ask(target, region)
    if a.rows > MOST_ROWS and question.estimator in ("auto", "counts"):  # no model is thought of
        rows = rank(contrasts, baseline=question.baseline, smoothing=question.smoothing)
        check_enough(rows[0].n_target, rows[0].n_region, question)
        return Importances(rows, words[0], words[1], question.baseline)  # type: ignore[arg-type]
    query = a.asked(contrasts, target, region)
    return answer(query, question, words, (), objective=a.objective, whole=False, brief=True)


def check_narrowing(within: tuple[object, ...], parts: str) -> None:
    if parts not in PARTS:
        raise QueryError(Arg("parts", parts), " must be 'selected' or 'all'")
    for one in within:
        if not isinstance(one, str | Mapping) and (not needs_rows(one) or hasattr(one, "__array__")):
            words = " must be a box or a condition, which every study has; part of a study is region="
            raise QueryError(Arg("within"), words)


def as_choices(within: object) -> tuple[object, ...]:
    """One choice of rows, or several that must all hold."""
    if within is None:
        return ()
    return tuple(within) if isinstance(within, list | tuple) else (within,)


def pooled_studies(
    studies: Mapping[str, Any],
    target: object,
    region: object,
    *,
    within: object = None,
    parts: str = "selected",
    draws: int = DRAWS,
    **options: Any,
) -> dict[str, Any]:
    """The fields of a `Pooling`: every study, or these rows of every study, asked the same question."""
    rows = as_choices(within)
    check_narrowing(rows, parts)
    asked: Mapping[str, Any] = NarrowedStudies(studies, rows, parts) if rows else studies
    found = pool_studies(asked, target, region, draws=draws, brief=briefly, **options)
    return found | {"analyses": studies} | (words_of(target, region, parts) if rows else {})


def words_of(target: object, region: object, parts: str) -> dict[str, str]:
    """Target and region of selected rows, for all studies alike."""
    wanted, base = (str(one) if needs_rows(one) else str(as_region(one, "region")) for one in (target, region))
    of = " of all rows" if parts == "all" and not needs_rows(target) else ""
    return {"target": f"{wanted}{of}", "region": "the selected rows" if base == "all rows" else f"{base}, selected"}
