"""Single runs of repeated configurations, also where an analysis has averaged them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pedanova.base.notes import Note
from pedanova.data.observations import Observations
from pedanova.data.prepare import prepare
from pedanova.data.space_inference import SEED_NAMES, as_names
from pedanova.errors import Arg, QueryError, listed
from pedanova.space.parameters import Space


def single_runs(observed: Observations) -> Observations:
    """The same rows before any were averaged."""
    origin = observed.origin
    if origin is None:
        return observed
    metadata = origin.records.metadata
    if (origin.request.repeats or metadata.repeats) == "all":
        return observed
    found = prepare(origin.records, replace(origin.request, repeats="all", space=observed.space, params=None))[0]
    if len(observed.goals) == len(found.goals):
        return found
    names = {goal.name for goal in observed.goals}  # one of several objectives
    return replace(found, goals=tuple(goal for goal in found.goals if goal.name in names), order=None)


def without_seeds(observed: Observations, exclude: Iterable[str] | None) -> tuple[Observations, list[Note]]:
    """Less the parameters that are named, or that are called like a seed: they set no configuration apart."""
    named = as_names(exclude, "exclude")
    for name in named:
        if name not in observed.space:
            raise QueryError(
                Arg("exclude"), f" names {name!r}, no parameter here: {listed(list(observed.space), most=40)}"
            )
    seeds = [name for name in observed.space if name in named or SEED_NAMES.match(name)]
    left = Space({name: parameter for name, parameter in observed.space.items() if name not in seeds})
    if not seeds or not left:
        return observed, []
    words = f"taken as seeds and not as settings: {listed(seeds)}"
    columns = {name: observed.columns[name] for name in left}
    return replace(observed, space=left, columns=columns), [Note("unused", words)]
