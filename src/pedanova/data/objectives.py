"""The objective or objectives, their directions, and what names of columns tell.

Of `val_acc`, `valAcc` and `acc@1` the last word that says something counts: `loss_weight` is no loss.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.base.notes import Note
from pedanova.data.column import Column, Mask, as_column, as_numbers
from pedanova.data.records import SourceMetadata
from pedanova.data.regions import Direction, columns_in, rows_where, sign_of
from pedanova.errors import Arg, DataError, QueryError, listed, unknown_name

DIRECTIONS: dict[str, Direction] = {
    "minimize": "minimize", "min": "minimize", "minimise": "minimize",
    "maximize": "maximize", "max": "maximize", "maximise": "maximize",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """One objective."""

    name: str
    values: NDArray[Any]  # (rows,) numbers of any type
    direction: Direction
    column: str | None  # the column of the table that it is, if it is one
    twin: str | None = None  # for an array: a column with the very same numbers
    made_of: tuple[str, ...] = ()  # the columns that it compares, if it is a condition

    @property
    def sign(self) -> float:
        return sign_of(self.direction)


def read_goals(
    table: Mapping[str, Column], rows: int, objective: object, direction: object, *, decimal: str | None = None
) -> tuple[Goal, ...]:
    """One goal for each objective; a list of names is several."""
    if objective is None:
        raise QueryError(Arg("objective"), f" is missing; name one of the columns: {listed(list(table), most=40)}")
    many = isinstance(objective, list | tuple) and bool(objective) and all(isinstance(o, str) for o in objective)
    objectives = list(objective) if many else [objective]  # type: ignore[call-overload]
    if len(set(map(id, objectives))) < len(objectives) or (many and len(set(objectives)) < len(objectives)):
        raise QueryError(Arg("objective", objective), " repeats a name; give each once")
    directions = as_directions(direction, len(objectives))
    return tuple(_read_goal(table, rows, o, d, decimal) for o, d in zip(objectives, directions, strict=True))


def as_directions(direction: object, count: int) -> list[Direction]:
    if isinstance(direction, Sequence) and not isinstance(direction, str):
        if len(direction) != count:
            raise QueryError(Arg("direction", direction), f" must give one direction for each of {count} objectives")
        return [as_direction(one) for one in direction]
    return [as_direction(direction)] * count


def as_direction(direction: object) -> Direction:
    if isinstance(direction, str) and direction in DIRECTIONS:
        return DIRECTIONS[direction]
    raise QueryError(Arg("direction", direction), " must be 'minimize' or 'maximize' ('min' or 'max')")


def _read_goal(
    table: Mapping[str, Column], rows: int, objective: object, direction: Direction, decimal: str | None
) -> Goal:
    if isinstance(objective, str):
        if objective in table:
            return Goal(objective, _as_numbers(table[objective], decimal), direction, objective)
        if not any(sign in objective for sign in "=<>") and " in " not in objective:
            raise DataError(unknown_name(objective, tuple(table), what="column"))
        holds = rows_where(objective, table).view(np.uint8)
        return Goal(objective, holds, direction, None, made_of=tuple(columns_in(objective, table)))
    column = as_column("objective", objective)
    if table and len(column) != rows:
        raise DataError(f"objective has {len(column)} rows but the table has {rows}; they must match")
    values, twin = column.values, None
    for name, other in table.items():  # the very same numbers: an array that is a column of the table too
        if other.values.dtype == values.dtype and other.labels is None and len(other) > 1:
            floats = values.dtype.kind == "f"
            if values[0] == other.values[0] and np.array_equal(values, other.values, equal_nan=floats):
                twin = twin or name
    return Goal("objective", _as_numbers(column, decimal), direction, None, twin)


def _as_numbers(column: Column, decimal: str | None) -> NDArray[Any]:
    name = column.name
    if len(column) == 0:
        raise DataError(f"{name}: there are no rows; give at least two")
    numbers = as_numbers(column, decimal=decimal)
    if numbers is not None:
        column = numbers[0]
    if column.labels is not None:
        shown = listed([str(label) for label in column.labels], most=3)
        content = f"text ({shown})" if column.labels else f"no value in {len(column)} rows"
        raise DataError(
            f"objective {name!r} holds {content}; it must hold numbers, or be compared: \"{name} == 'good'\""
        )
    if column.is_time:
        raise DataError(f"objective {name!r} holds dates or durations; turn them into numbers")
    if column.missing is None:
        return column.values.view(np.uint8) if column.values.dtype == bool else column.values
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


LEAST = 20  # different objectives: fewer may be in one order by chance
MOST_ROWS = 100_000  # looked at
A_LOOK = 100  # rows that mostly suffice to see that a column is none


def result_like_notes(
    names: Iterable[str], columns: Mapping[str, Column], goals: Iterable[Goal], keep: Mask | None
) -> list[Note]:
    """A warning on every parameter that an objective tells without exception, or that tells it."""
    notes = []
    for name in names:
        for goal in goals:
            if follows(columns[name], goal.values, keep):
                words = f"goes with {goal.name} in every row, as another form of it would; exclude it if it is a result"
                notes.append(Note("doubt", words, subject=name))
                break
    return notes


def follows(column: Column, objective: NDArray[Any], keep: Mask | None) -> bool:
    """Whether one is a strictly rising or falling function of the other, seen from up to 100,000 rows."""
    if column.labels is not None or column.values.dtype.kind not in "iuf":
        return False
    for most in (A_LOOK, MOST_ROWS):  # what holds of all rows holds of some
        rows = slice(None, None, max(1, len(objective) // most))
        values, goal = (array[rows].astype(np.float64) for array in (column.values, objective))
        both = np.isfinite(values) & np.isfinite(goal)
        both &= True if column.missing is None else ~column.missing[rows]
        both &= True if keep is None else keep[rows]
        values, goal = values[both], goal[both]
        order = np.argsort(goal, kind="stable")
        with np.errstate(over="ignore", invalid="ignore"):
            up, along = np.diff(goal[order]) > 0, np.diff(values[order])
        # values rise, or fall, just where the goal rises
        if not np.array_equal(along != 0, up) or not ((along >= 0).all() or (along <= 0).all()):
            return False
    return len(goal) >= LEAST and 2 * len(goal) >= len(objective[rows]) and len(np.unique(goal)) >= LEAST


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RESULTS_UP = _words(
    "acc accuracy auc auroc auprc roc f1 f2 fbeta fscore r2 score reward rewards recall iou miou map mrr ndcg bleu "
    "rouge meteor cider psnr ssim mcc kappa dice jaccard top1 top5 elo likelihood elbo sharpe profit "
    "sensitivity specificity tpr tnr fitness correlation spearman pearson precision return returns success throughput "
    "fps ap hits performance winrate"
)
RESULTS_DOWN = _words(
    "loss losses error errors err rmse mse mae mape rmsle msle nll perplexity ppl wer cer bpb bpc fid regret "
    "misclassification brier ece logloss crossentropy deviance aic bic fpr fnr mistakes"
)
COSTS = _words(
    "runtime walltime traintime timetrain timepredict "
    "duration elapsed latency seconds secs time timestamp flops macs joules"
)  # what a run took
# These tell the direction of an objective, yet may well be settings of their own.
ONLY_UP = _words("gain efficiency coverage volume hypervolume diversity")
ONLY_DOWN = _words("cost memory entropy divergence gap violation violations failures distance size risk")
LOW_FIRST = RESULTS_DOWN | {"rank", "fid"}  # before the word score: the score is then better where it is low

SPLITS = _words("train training val valid validation test dev holdout eval cv oob split fold epoch step")
SUMMARIES = _words(
    "mean avg average median std stddev var min max best final last sum total rate at ratio pct percent epoch k s ms "
    "sec ns us per ema smoothed running top overall macro micro weighted all seed rep repeat milli"
)  # behind a result they leave it one
FLIPS = _words("neg negative negated minus inverse")
BOOKKEEPING = re.compile(
    r"^(_(step|runtime|timestamp|wandb)|iterations?_since_restore|training_iteration|trial_num|date|hostname|node_ip|pid"
    r"|created(_?at)?|updated(_?at)?|start(ed)?(_?(at|time))|end(ed)?(_?(at|time))|datetime(_\w+)?)$",
    re.IGNORECASE,
)
JOINED = re.compile(r"cross[_\W]?entropy", re.IGNORECASE)
WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters."""
    words: list[str] = []
    joined = JOINED.sub("crossentropy", name.replace("²", "2"))
    for run in re.split(r"[^0-9A-Za-z]+", joined):
        whole = run.lower()
        in_vocabulary = whole.rstrip("0123456789") in _KNOWN or whole in _KNOWN
        words += [whole] if in_vocabulary else [word.lower() for word in WORD.findall(run)]
    return tuple(words)


_KNOWN = RESULTS_UP | RESULTS_DOWN | COSTS | ONLY_UP | ONLY_DOWN | SPLITS


def _last_telling(name: str) -> tuple[str, bool] | None:
    """The last word that is no summary, split or number, and whether the words before it turn it round."""
    words = words_of(name)
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        word = word if word in _KNOWN else word.rstrip("0123456789") or word  # the number behind it may belong to it
        if word in _KNOWN - SPLITS:
            before = words[:place]
            turned = sum(one in FLIPS for one in before) + ("1" in before)
            low = word == "score" and not LOW_FIRST.isdisjoint(before)
            return word, (turned + low) % 2 == 1
        if word not in SUMMARIES and word not in SPLITS and not word.isdigit():
            return None
    return None


def direction_by_name(name: str) -> Direction | None:
    """Which way a result of that name is better; None where the name does not tell."""
    telling = _last_telling(name)
    if telling is None:
        return None
    word, turned = telling
    up = word in RESULTS_UP or word in ONLY_UP
    return "maximize" if up != turned else "minimize"


def is_named_like_a_result(name: str) -> bool:
    """Whether numbers of that name are an outcome of a trial: a score, a loss, what it took.
    A few different numbers may be a setting all the same, such as a precision of 16 or 32 bits."""
    if BOOKKEEPING.match(name):
        return True
    telling = _last_telling(name)
    if telling is None or telling[0] in ONLY_UP | ONLY_DOWN:
        return False
    first = words_of(name)[0]
    limited = telling[0] in COSTS and first in ("max", "min", "limit", "budget")  # max_time is a setting
    return not limited


DONE = {"minimize": "minimised", "maximize": "maximised"}
OTHER: dict[str, str] = {"minimize": "max", "maximize": "min"}


def guess_directions(
    objective: object, columns: Collection[str], metadata: SourceMetadata | None = None
) -> tuple[object, list[Note]]:
    """A direction for each objective, and a note on each that the source does not tell."""
    metadata = metadata or SourceMetadata()
    several = isinstance(objective, list | tuple) and all(isinstance(one, str) for one in objective)
    names = list(objective) if several else [objective]  # type: ignore[call-overload]
    guesses = [_guess(name, columns, metadata) for name in names]
    notes = [note for _, note in guesses if note is not None]
    directions = [direction for direction, _ in guesses]
    return (directions if several else directions[0]), notes


def known_directions(metadata: SourceMetadata) -> dict[str, Direction]:
    """By name: of the objectives, then of the other metrics."""
    names = dict.fromkeys((*metadata.objectives, *metadata.metrics))
    return dict(zip(names, metadata.directions, strict=False))


def _guess(objective: object, columns: Collection[str], metadata: SourceMetadata) -> tuple[Direction, Note | None]:
    directions = known_directions(metadata)
    if not isinstance(objective, str):
        return "minimize", _unsure("the objective", "minimize", "an array has no name to tell more")
    if objective in directions:
        return directions[objective], None
    if objective not in columns:
        return "maximize", _unsure(repr(objective), "maximize", "rows where it holds are taken for the good ones")
    direction = None if objective in metadata.unclear else direction_by_name(objective)
    if direction is None:
        who = f"neither {metadata.source} nor its name tells" if metadata.source else "its name does not tell"
        return "minimize", _unsure(objective, "minimize", f"{who} which way is better")
    words = f"{objective} is {DONE[direction]}, as its name says; pass "
    return direction, Note("direction", words, Arg("direction", OTHER[direction]), " otherwise", severity="guess")


def _unsure(what: str, direction: Direction, why: str) -> Note:
    words = f"{what} is {DONE[direction]}: {why}; pass "
    return Note("direction", words, Arg("direction", OTHER[direction]), " otherwise", severity="warning")
