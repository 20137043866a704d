"""What logs of tools with configuration spaces have in common: budgets, seeds, a space beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pedanova.base.notes import Note
from pedanova.data.column import shorten
from pedanova.data.records import Point, Records, SourceMetadata
from pedanova.errors import DataError, NoTrialsError
from pedanova.sources.logs.trials import ENOUGH, Trial, free_name, tabulate
from pedanova.sources.spaces.described import Described, as_number, fit

DONE = ("COMPLETE", "SUCCESS")
NO_SPACE = Note("space", "no configuration space lies beside the log; the domains are guessed from the trials")


def tell(
    trials: Sequence[Trial],
    metadata: SourceMetadata,
    described: Described | None,
    *,
    notes: Iterable[Note] = (),
    texts: bool = False,
    points: Callable[[str], Iterable[Point]] | None = None,
) -> Records:
    """Records of trials with their space; of several budgets the highest is used, seeds are averaged."""
    if not trials:
        raise NoTrialsError(f"{metadata.source} holds no trials; wait for the first to end")
    words = list(notes)
    if described is None:
        words.append(NO_SPACE)
    else:
        space, settings, more = fit(described, [trial.params for trial in trials])
        if not space:
            raise DataError(f"{metadata.source}: every setting is constant; there is nothing to compare")
        trials = [replace(trial, params=row) for trial, row in zip(trials, settings, strict=True)]
        metadata = replace(metadata, space=space, conditions=described.conditions)
        words += more
    instances = {str(trial.other.get("instance")) for trial in trials}
    if len(instances) > 1:
        words.append(
            Note("source", f"results are averaged over {len(instances)} instances; few configurations may have met all")
        )
    trials, where = _by_budget(trials)
    metadata = replace(metadata, where=where, repeats="mean" if _repeats(trials) else metadata.repeats)
    return tabulate(trials, metadata, notes=words, texts=texts, points=points)


def number_or_nan(value: object) -> float:
    """A result as a number; whatever is none is missing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")


def whole_or_none(value: object) -> object:
    """A seed or an id, where it is a plain value."""
    return value if isinstance(value, str | int | float) else None if value is None else shorten(value)


def _by_budget(trials: Sequence[Trial]) -> tuple[list[Trial], str | None]:
    """The trials with a column of budgets that no setting hides, and the rule for the highest.

    Results of different budgets are not to be compared; a budget that few trials had tells too little.
    """
    taken = {str(name) for trial in trials for name in (*trial.params, *trial.results)}
    name = free_name("budget", taken)
    renamed = [
        replace(trial, other={name if key == "budget" else key: value for key, value in trial.other.items()})
        for trial in trials
    ]
    ended = Counter(number_or_nan(trial.other.get(name)) for trial in renamed if trial.state in DONE)
    budgets = sorted(budget for budget in ended if budget == budget)
    if len(budgets) < 2:
        return renamed, None
    highest = next((budget for budget in reversed(budgets) if ended[budget] >= ENOUGH), budgets[-1])
    finite = as_number(highest) is not None
    return renamed, f"{name} == {highest!r}" if finite else f"{name} > {budgets[-2]!r}"


def _repeats(trials: Sequence[Trial]) -> bool:
    """Whether configurations were run with several seeds or on several instances."""
    return any(len({str(trial.other.get(key)) for trial in trials}) > 1 for key in ("seed", "instance"))
