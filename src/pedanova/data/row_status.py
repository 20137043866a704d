"""Decide which rows are kept and which count as the worst (NaN, failed, pruned, infeasible); average repeated rows.

The second half finds doubtful rows: exact copies of other rows, steps of one run, and objectives that programs write
after a crash. It also guesses the direction from the rows if the name of the objective does not show it.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.kernel.selection import distinct
from pedanova.base.notes import Count, Note, Severity
from pedanova.data.column import Column, Mask, as_column, take
from pedanova.data.column_clues import ID_NAMES
from pedanova.data.column_values import joint_codes
from pedanova.data.objectives import Goal, follows, in_condition, rank_correlation
from pedanova.data.options import Reading
from pedanova.data.regions import Direction, as_mask
from pedanova.data.vocabulary import (
    FAILURES,
    GOOD_OUTCOMES,
    NOTHING,
    OUTCOMES,
    VERDICTS,
    as_flag,
    outcome_word,
    state_of,
)
from pedanova.errors import Arg, DataError, QueryError, Word, listed, unknown_name

NO_OBJECTIVE = "have no objective (NaN)"
ENDINGS = ("complete", "pruned", "failed", "unfinished", "infeasible", "no objective")  # how a trial can end
LEFT_OUT = 255  # in place of an ending: the row was not chosen
RANKS_WORST = "ranks them as the worst"
IF_DIVERGED: tuple[Word, ...] = (" (if they diverged, ", Arg("nan", "worst", of="Reading"), f" {RANKS_WORST})")
MANY = 0.1  # if more than this part of the rows is dropped, the note is a warning


class GuessedState(str):
    """The name of a column that seems to contain the states of trials; unknown words in it count as complete."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class RowStatus:
    """Two masks: `keep` marks the rows that are kept, `worst` marks the rows that count as the worst."""

    keep: Mask
    worst: Mask
    ended: NDArray[np.uint8]  # how each trial ended, as an index of `ENDINGS`
    notes: tuple[Note, ...] = ()

    @property
    def undecided(self) -> Mask:
        return self.keep & ~self.worst

    def ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        """The objective as floats, with NaN for rows that count as the worst."""
        kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        order: NDArray[Any] = values.astype(kind)
        order[self.worst] = np.nan
        return order

    def end(self, rows: Mask, how: str, ending: str, what: str, *remedy: Word) -> RowStatus:
        """Drop the given rows if `ending` is "drop", otherwise let them count as the worst; add a note."""
        struck = rows & self.undecided
        ended = self.marked(struck, how)
        notes = (*self.notes, ended_note(int(np.count_nonzero(struck)), len(rows), what, ending, *remedy))
        if ending == "drop":
            return replace(self, keep=self.keep & ~struck, ended=ended, notes=notes)
        return replace(self, worst=self.worst | struck, ended=ended, notes=notes)

    def marked(self, rows: Mask, how: str) -> NDArray[np.uint8]:
        return np.where(rows, np.uint8(ENDINGS.index(how)), self.ended)


def ended_note(count: int, rows: int, what: str, ending: str, *remedy: Word) -> Note:
    fate = ("are dropped", *remedy) if ending == "drop" else ("are ranked as the worst",)
    many: Severity = "warning" if ending == "drop" and count > MANY * rows else "info"
    return Note("rows", Count(count), " of ", Count(rows), f" rows {what} and ", *fate, severity=many)


def status_of_rows(
    goals: tuple[Goal, ...], table: Mapping[str, Column], reading: Reading, feasible: object = None
) -> RowStatus:
    rows = len(goals[0].values)
    status = RowStatus(np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool), np.zeros(rows, dtype=np.uint8))
    if reading.state is not None:
        states = states_of(reading.state, table, rows, reading.failed_states)
        status = status.end(states == "unfinished", "unfinished", "drop", "are unfinished")
        failed = states == "failed"
        what = f"failed{_shared_score(goals, failed & status.undecided)}{_by_column(reading.state)}"
        status = status.end(failed, "failed", reading.failed, what)
        if reading.pruned == "last":
            pruned = (states == "pruned") & status.keep
            note = Note("rows", Count(np.sum(pruned)), " pruned rows are included; their objective is their last value")
            status = replace(status, ended=status.marked(pruned, "pruned"), notes=(*status.notes, note))
        else:
            pruned = states == "pruned"
            known = all(not np.isnan(goal.values[pruned]).all() for goal in goals)
            how, ends = ("last", "includes them with their last value") if known else ("worst", RANKS_WORST)
            remedy = " (", Arg("pruned", how, of="Reading"), f" {ends})"
            status = status.end(pruned, "pruned", reading.pruned, "were pruned", *remedy)
    if feasible is not None:  # failed rows have no constraint values
        allowed = feasible_rows(feasible, table, rows, needed=status.undecided)
        status = status.end(~allowed, "infeasible", reading.infeasible, "are infeasible")
    unknown = np.logical_or.reduce([np.isnan(goal.values) for goal in goals])
    return status.end(unknown, "no objective", reading.nan, NO_OBJECTIVE, *IF_DIVERGED)


def _shared_score(goals: tuple[Goal, ...], failed: Mask) -> str:
    """A phrase with the objective that all failed rows have; empty if their objectives differ."""
    for goal in goals:
        scores = distinct(goal.values[failed & ~np.isnan(goal.values)])
        if len(scores) == 1 and np.count_nonzero(failed) > 1:
            return f", all with {goal.name} = {scores[0]:g}"
    return ""


def _by_column(state: object) -> str:
    name = state if isinstance(state, str) else getattr(state, "name", "")
    return f" (according to the column {name})" if name else ""


def states_of(
    state: object, table: Mapping[str, Column], rows: int, failures: Iterable[str] | None = None
) -> NDArray[Any]:
    """The state of each row (complete, failed, pruned or unfinished), recognised from the words that tools use.

    `failures` are further words for failed trials; then all other unknown words mean that a trial is complete.
    """
    if isinstance(state, str):
        if state not in table:
            raise DataError(f"state: {unknown_name(state, tuple(table), what='column')}")
        column = table[state]
    else:
        column = as_column("state", state)
    if len(column) != rows:
        raise DataError(f"state has {len(column)} values but the table has {rows} rows; give one value per row")
    if column.labels is None:
        raise DataError(f"state: the column {column.name!r} must hold words such as COMPLETE, FAIL, PRUNED")
    meanings = ["failed" if _is_any(label, failures) else state_of(label) for label in column.labels]
    strange = [label for label, meaning in zip(column.labels, meanings, strict=True) if meaning is None]
    if isinstance(state, GuessedState) or failures:
        meanings = [meaning or "complete" for meaning in meanings]
    elif strange:
        words = (
            f"state {strange[0]!r} is unknown; use COMPLETE, FAIL, PRUNED or RUNNING, or if such trials failed, pass "
        )
        raise DataError(words, _as_failed(strange[0]))
    return np.array([*meanings, "unfinished"])[np.where(column.values < 0, len(meanings), column.values)]


def _is_any(label: object, words: Iterable[str] | None) -> bool:
    return str(label).strip().lower() in {word.strip().lower() for word in words or ()}


def _as_failed(label: object) -> Arg:
    said = f"failed_states=[{str(label)!r}]", f"--failed-states {shlex.quote(str(label))}"
    return Arg("failed_states", label, said=said, of="Reading")


def column_with(words: Iterable[str], table: Mapping[str, Column]) -> GuessedState:
    """The column of states that has one of the words for failed trials."""
    for name, column in table.items():
        if any(_is_any(label, words) for label in column.labels or ()):
            return GuessedState(name)
    raise DataError(Arg("failed_states", shown=",".join(words)), ": no column has such a word; check its spelling")


def unknown_states(column: Column) -> list[Note]:
    """A warning if a column of trial states contains unknown words; such rows count as complete."""
    strange = [str(label) for label in column.labels or () if state_of(label) is None]
    if not strange:
        return []
    words = f"rows with an unknown state ({listed(strange, most=4)}) count as complete; if such trials failed, pass "
    return [Note("status", words, _as_failed(strange[0]), subject=column.name)]


def feasible_rows(feasible: object, table: Mapping[str, Column], rows: int, *, needed: Mask) -> Mask:
    """A mask of the feasible rows, from booleans or from numbers that are at most 0 in feasible rows.

    Rows in the mask `needed` must have a value.
    """
    if isinstance(feasible, str):
        return _feasible_by(feasible, table, needed)
    if isinstance(feasible, Iterable) and not hasattr(feasible, "__array__"):
        names = list(feasible)
        if names and all(isinstance(name, str) for name in names):
            return np.logical_and.reduce([_feasible_by(name, table, needed) for name in names])  # type: ignore[no-any-return]
        feasible = names
    return as_mask(feasible, "feasible", rows)


def _feasible_by(name: str, table: Mapping[str, Column], needed: Mask) -> Mask:
    if name not in table:
        raise DataError(f"feasible: {unknown_name(name, tuple(table), what='column')}")
    column = table[name]
    if column.labels is not None or column.is_time:
        raise QueryError(f"feasible: {name} holds text; give booleans, or numbers that are at most 0 in feasible rows")
    absent = np.flatnonzero(column.absent() & needed)
    if len(absent):
        raise DataError(f"feasible: {name} has no value in row {int(absent[0])}; add a value, or drop the row")
    holds: Mask = column.values if column.values.dtype.kind == "b" else column.values <= 0
    return holds


def configurations(columns: Iterable[Column]) -> NDArray[np.int64]:
    """An integer for each row; rows with the same configuration have the same integer."""
    pairs = [(column.values, column.absent()) for column in columns]
    codes = [
        np.where(absent, -1, np.unique(values, return_inverse=True)[1]) if absent.any() else values
        for values, absent in pairs
    ]
    return joint_codes(codes) if codes else np.empty(0, dtype=np.int64)


def first_rows(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(groups, return_index=True)[1]


def average(goals: tuple[Goal, ...], status: RowStatus, groups: NDArray[np.int64], how: str) -> tuple[Goal, ...]:
    """The mean or median of each objective by configuration; the worst rows count as infinitely bad."""
    count = int(groups.max(initial=-1)) + 1
    kept = status.keep
    averaged = []
    for goal in goals:
        signed = np.where(status.worst, np.inf, goal.sign * goal.values.astype(np.float64))[kept]
        if how == "mean":
            with np.errstate(invalid="ignore", divide="ignore"):
                middle = np.bincount(groups[kept], weights=signed, minlength=count) / np.bincount(
                    groups[kept], minlength=count
                )
        else:
            middle = _medians(signed, groups[kept], count)
        averaged.append(replace(goal, values=goal.sign * middle))
    return tuple(averaged)


def _medians(values: NDArray[np.float64], groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    order = np.lexsort([values, groups])
    rows = np.bincount(groups, minlength=count)
    start = np.cumsum(rows) - rows
    medians = np.full(count, np.nan)
    some = rows > 0
    low = values[order][start[some] + (rows[some] - 1) // 2]
    high = values[order][start[some] + rows[some] // 2]
    with np.errstate(invalid="ignore"):
        medians[some] = np.where(low == high, low, low / 2 + high / 2)
    return medians


MOST_ROWS = 100_000  # larger tables are not searched for copies, because programs wrote them
LEAST_ROWS = 20  # the fewest distinct rows; fewer may be equal by chance
SENTINELS = (0.0, -1.0, 999.0, 9999.0, 99999.0, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10)
NEARLY_ALL = 0.9
FEWEST_ALIKE = 3  # the fewest rows with the same score
APART = 0.1  # distance of that score from the others, as a part of their range
BLOCK, LEAST_BLOCKS = 20, 3  # consecutive rows with one score, and the fewest such blocks
STEPS = re.compile(r"^(train(ing)?_?)?(epoch|step|iter(ation)?|round|generation|episode)$", re.IGNORECASE)
LEAST_STEPS = 3  # mean steps of a run
FEWEST_RUNS = 10  # rows that one step must leave, to be worth advising
LEAST_TREND = 0.25  # mean squared rank correlation of step and objective within the runs
LEAST_DRIFTING = 12  # the fewest values with a trend; Optuna's default sampler draws the first ten at random
LEAST_DRIFT = 2.0  # rank correlation of number and value, in standard errors, that shows where a sampler went
RANKS = ("rank", "ranking", "place")
BEST = ("best", "is_best")


def without_copies(columns: Mapping[str, Column], objective: object) -> tuple[NDArray[np.int64], Note] | None:
    """Find rows that are copies of other rows; return the indices of the remaining rows and a note, or None.

    Equal rows may also be repeated trials. But if a column such as a time stamp differs in nearly every trial, repeated
    trials would not be equal, so equal rows are copies. They are also copies if every row occurs equally often.
    """
    rows = max((len(column) for column in columns.values()), default=0)
    if not LEAST_ROWS < rows <= MOST_ROWS or not isinstance(objective, str) or objective not in columns:
        return None
    scores = columns[objective]
    if len(np.unique(scores.values)) == rows:
        return None
    codes, times = np.unique(scores.values, return_inverse=True, return_counts=True)[1:]
    tied = np.flatnonzero((times[codes] > 1) | scores.absent())  # no other rows can be copies
    if len(first_rows(configurations(take(columns, tied).values()))) == len(tied):
        return None
    groups = configurations(columns.values())
    firsts = first_rows(groups)
    if len(firsts) < LEAST_ROWS:
        return None
    different = {name: len(np.unique(column.values[firsts])) for name, column in columns.items()}
    times = np.unique(np.bincount(groups))
    many = NEARLY_ALL * len(firsts)
    own = any(count >= many for name, count in different.items() if name != objective)
    if not own and not (len(times) == 1 and different[objective] >= many):
        return None
    count = Count(rows - len(firsts)), " of ", Count(rows)
    severity: Severity = "warning" if count[0] > MANY * rows else "info"
    words = " rows are exact copies of other rows; identical rows are counted once"
    return np.sort(firsts), Note("rows", *count, words, severity=severity)


def last_of_runs(columns: Mapping[str, Column], objective: object) -> tuple[NDArray[np.int64], Note] | None:
    """If the rows are the steps of several runs, return the last row of each run and a note.

    If the objective does not rise or fall with the steps, they may be repeats: all rows are returned, with a warning.
    """
    for name, column in columns.items():
        whole = column.labels is None and column.missing is None and column.values.dtype.kind in "iu"
        if not STEPS.match(name) or name == objective or not whole or not 0 < len(column) <= MOST_ROWS:
            continue
        scores = columns[objective].values if isinstance(objective, str) and objective in columns else column.values
        possible = [runs for runs in _possible_runs(name, columns, objective) if _are_runs(runs, name, columns)]
        if not possible:
            continue
        likely = [runs for runs in possible if _trend(runs, column.values, scores) >= LEAST_TREND]
        runs, steps = min(likely or possible, key=np.max), np.unique(column.values)
        step = Arg("where", shown=f'"{in_condition(name)} == {steps[len(steps) // 2 - 1]}"')
        order = np.lexsort([column.values, runs])
        last = np.sort(order[np.append(np.diff(runs[order]) != 0, True)])
        if not likely and len(last) < FEWEST_RUNS:
            words = f"{name} may only number the repeats of {len(last)} configurations; if it does, pass "
            exclude = Arg("exclude", said=(f"exclude=[{name!r}]", f"--exclude {shlex.quote(name)}"))
            return np.arange(len(runs)), Note("doubt", words, exclude)
        if not likely:
            words = f"the rows may be the steps of {len(last)} runs ({name}); if they are, choose one step, as with "
            return np.arange(len(runs)), Note("doubt", words, step)
        words = f" rows are earlier steps of {len(last)} runs ({name}); the last step of each run is used; pass "
        dropped = Count(len(runs) - len(last)), " of ", Count(len(runs))
        return last, Note("rows", *dropped, words, step, " for another step", severity="warning")
    return None


def _are_runs(runs: NDArray[np.int64], step: str, columns: Mapping[str, Column]) -> bool:
    """Whether each run has several steps, all different, and a setting differs between runs but not during a run."""
    order = np.lexsort([columns[step].values, runs])
    same = np.diff(runs[order]) == 0
    again = (np.diff(columns[step].values[order]) == 0) & same
    many = len(runs) - np.count_nonzero(same)
    if again.any() or not 1 < many <= len(runs) / LEAST_STEPS:
        return False
    others = (column.values[order] for name, column in columns.items() if name != step)
    changes = (values[1:] != values[:-1] for values in others)
    return any(change.any() and not change[same].any() for change in changes)


def _possible_runs(step: str, columns: Mapping[str, Column], objective: object) -> Iterator[NDArray[np.int64]]:
    """The run of each row: rows in which the step grows by one, or rows with the same id, or with the same settings."""
    rows, settings = len(columns[step]), []
    yield np.cumsum(np.append(False, np.diff(columns[step].values) != 1))
    for name, column in columns.items():
        if name not in (step, objective) and LEAST_STEPS * len(np.unique(column.values)) <= rows:
            settings.append(column)
            yield from [configurations([column])] if ID_NAMES.match(name) else []
    yield configurations(settings) if settings else np.zeros(rows, dtype=np.int64)


def _trend(runs: NDArray[np.int64], steps: NDArray[Any], scores: NDArray[Any]) -> float:
    """How strongly the scores rise or fall during the runs: the mean squared rank correlation, less that of chance.

    A run counts as 1 if all its scores are equal; its final score was written to each of its rows.
    """
    places = np.split(np.argsort(runs, kind="stable"), np.cumsum(np.bincount(runs))[:-1])
    long = [(steps[rows], scores[rows]) for rows in places if len(rows) > 1]
    squares = [1.0 if len(np.unique(own)) == 1 else rank_correlation(steps, own) ** 2 for steps, own in long]
    weights = [len(own) - 1 for _, own in long]
    chance = len(long) / sum(weights)
    return (float(np.average(squares, weights=weights)) - chance) / (1 - chance)


def failed_by_flag(columns: Mapping[str, Column], objective: object) -> Column | None:
    """Make a column of trial states from a yes/no column such as `success`, or from texts in a column such as `error`.

    The column is used if failed rows have no objective. It is also used if all failed rows have the same objective,
    such as 999, and it lies outside the range of the other objectives.
    """
    if not isinstance(objective, str) or objective not in columns or columns[objective].labels is not None:
        return None
    for name, column in columns.items():
        failed = None if name == objective else failed_rows(name, column)
        if failed is None:
            continue
        scores = np.where(columns[objective].absent(), np.nan, columns[objective].values.astype(np.float64))
        bad, good = (np.unique(scores[rows & np.isfinite(scores)]) for rows in (failed, ~failed))
        if failed.any() and len(good) and (not len(bad) or (len(bad) == 1 and not good[0] <= bad[0] <= good[-1])):
            return Column(name, failed.astype(np.int32), ("COMPLETE", "FAIL"))
    return None


def failed_rows(name: str, column: Column) -> Mask | None:
    """A mask of the rows that failed according to a yes/no column or a column of error texts; None for others."""
    word = outcome_word(name)
    flags = flags_of(column) if word in OUTCOMES - VERDICTS else None
    if flags is not None:
        return ~flags & ~column.absent() if word in GOOD_OUTCOMES else flags
    if word not in FAILURES or column.labels is None:
        return None
    filled = np.array([*(str(label).strip().lower() not in NOTHING for label in column.labels), False])
    failed: Mask = filled[np.where(column.values < 0, len(column.labels), column.values)]
    return failed


def best_failed_notes(columns: Mapping[str, Column], goal: Goal, rows: Mask | None) -> list[Note]:
    """A warning if rows that failed according to a column such as `completed` are among the best rows."""
    if len(goal.values) > MOST_ROWS or goal.column is None:
        return []
    kept = np.isfinite(goal.values) if rows is None else rows & np.isfinite(goal.values)
    if np.count_nonzero(kept) < FEWEST_ALIKE:
        return []
    values = (goal.sign * goal.values.astype(np.float64))[kept]
    best = values <= np.partition(values, len(values) // 10)[len(values) // 10]
    notes = []
    for name, column in columns.items():
        failed = None if name == goal.column or len(column) != len(kept) else failed_rows(name, column)
        if failed is None or not failed[kept].any() or failed[kept].all():
            continue
        count, among = int(np.count_nonzero(failed[kept] & best)), int(np.count_nonzero(best))
        if count >= min(FEWEST_ALIKE, max(1, among // 5)):
            words = f"{count:,} of the best {among:,} rows failed according to this column; to leave such rows out, "
            notes.append(Note("status", words, *without_failed(column, failed), subject=name))
    return notes


def without_failed(column: Column, failed: Mask) -> tuple[Word, ...]:
    """Words on how to leave out the rows that failed according to a column."""
    if flags_of(column) is None:
        return ("remove them from the table",)
    value = column.value_at(int(np.flatnonzero(~failed & ~column.absent())[0]))
    return "pass ", Arg("where", shown=f'"{in_condition(column.name)} == {value!r}"')


def flags_of(column: Column) -> Mask | None:
    """A mask made from a yes/no column; missing values are False. None for other columns."""
    if column.is_time:
        return None
    if column.labels is not None:
        truth = [as_flag(label) for label in column.labels]
        if not truth or None in truth:
            return None
        return np.array([*truth, False])[np.where(column.values < 0, len(truth), column.values)]
    values = column.values[~column.absent()]
    if not np.isin(values, (0, 1)).all():
        return None
    return np.where(column.absent(), False, column.values.astype(bool))


def sentinel_notes(goal: Goal, rows: Mask | None) -> list[Note]:
    """A warning if several of the best rows have the same suspicious objective, such as 0 or 999 after a crash."""
    values = goal.values if rows is None else goal.values[rows]
    if not 2 * FEWEST_ALIKE <= len(values) <= MOST_ROWS or goal.column is None:
        return []
    signed = goal.sign * values.astype(np.float64)
    best = np.nanmin(signed) if not np.isnan(signed).all() else np.nan
    alike = np.count_nonzero(signed == best)
    others = distinct(signed[np.isfinite(signed) & (signed != best)])
    known = any(goal.sign * best == sentinel for sentinel in SENTINELS) or np.isinf(best)
    if not known or alike < FEWEST_ALIKE or 2 * alike > len(values) or len(others) < 0.7 * (len(values) - alike):
        return []
    far = not np.isfinite(best) or others[0] - best >= APART * (others[-1] - others[0])
    single = alike >= LEAST_ROWS and len(others) >= NEARLY_ALL * (len(values) - alike)
    if not far and not single:
        return []
    score = f"{goal.sign * best:g}"
    why = "far from all others" if far else "but nearly all others differ"
    words = f"the best {alike} rows all have {goal.name} = {score}, {why}; if these trials crashed, pass "
    return [Note("status", words, Arg("where", shown=f'"{in_condition(goal.column)} != {score}"'))]


def doubtful_columns(
    names: Collection[str], columns: Mapping[str, Column], goals: Iterable[Goal], keep: Mask | None
) -> dict[str, str]:
    """Columns that may not be parameters, and why: they rank the rows like an objective, or change during a run."""
    doubts: dict[str, str] = {}
    for goal in goals:
        for name in names:
            if name not in doubts and follows(columns[name], goal.values, keep):
                doubts[name] = f"has a perfect rank correlation with {goal.name}"
        doubts = _parts_of_runs(names, columns, goal, keep) | doubts
    return doubts


def _parts_of_runs(
    names: Collection[str], columns: Mapping[str, Column], goal: Goal, keep: Mask | None
) -> dict[str, str]:
    """Columns that change while the objective stays the same; these rows may be the steps of one run."""
    rows = slice(None) if keep is None else keep
    scores = goal.values[rows]
    same, up, down = (compare(scores[1:], scores[:-1]) for compare in (np.equal, np.greater, np.less))
    blocks = len(scores) - np.count_nonzero(same)
    large = LEAST_BLOCKS <= blocks <= len(scores) / BLOCK and len(scores) <= MOST_ROWS and goal.column is not None
    if not large or not up.any() or not down.any() or blocks > 1.1 * len(np.unique(scores)):
        return {}
    within = {name: columns[name].values[rows] for name in names}
    changing = [name for name, values in within.items() if (values[1:] != values[:-1])[same].any()]
    why = f"changes while {goal.name} stays the same, so the rows may be the steps of {blocks} runs"
    return dict.fromkeys(changing, why)


def direction_by_rows(
    values: NDArray[Any], columns: Mapping[str, Column], failed: Mask | None
) -> tuple[Direction, str] | None:
    """Guess the direction from failed rows, from a rank column or from sorted rows; also return the reason."""
    usable = np.isfinite(values)
    good = {} if failed is None else {"rows that did not fail": ~failed}
    for name, column in columns.items():
        if column.labels is None and not column.is_time and name.lower() in (*RANKS, *BEST):
            marks = column.values.astype(np.float64)
            best = np.nanmin(marks) if name.lower() in RANKS else 1.0
            good[f"the rows that the column {name} marks as best"] = marks == best
    for which, rows in good.items():
        first, rest = values[rows & usable], values[~rows & usable]
        if len(first) and len(rest) and first.min() >= rest.max():
            return "maximize", f"{which} have the highest values"
        if len(first) and len(rest) and first.max() <= rest.min():
            return "minimize", f"{which} have the lowest values"
    if any(name.startswith("params_") for name in columns):  # written by Optuna
        numbers = columns["number"].values if "number" in columns else np.arange(len(values))
        count = int(np.count_nonzero(usable))
        enough = numbers.dtype.kind in "iu" and count >= LEAST_DRIFTING
        trend = rank_correlation(numbers[usable], values[usable]) if enough else 0.0
        if enough and abs(trend) * math.sqrt(count - 1) > LEAST_DRIFT:
            way: Direction = "maximize" if trend > 0 else "minimize"
            return way, f"it {'rises' if trend > 0 else 'falls'} from trial to trial (rank correlation {trend:.2f})"
    before, after = values[usable][:-1], values[usable][1:]
    if len(after) >= LEAST_ROWS // 2 and (after != before).any():
        if (after <= before).all():
            return "maximize", "the rows are sorted, the highest first"
        if (after >= before).all():
            return "minimize", "the rows are sorted, the lowest first"
    return None
