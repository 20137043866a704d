"""What changed since the last look, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pedanova.measures.importance import Pass, Standings
from pedanova.report.live.sight import Sight
from pedanova.report.sentences import joined
from pedanova.space.comparison import DomainChange
from pedanova.space.parameters import in_words

MOST_NAMED = 3
EVENTS = {
    "replaced": "{source} was replaced by another; it is read from its beginning",
    "shortened": "{source} was cut short; it is read from its beginning",
    "study anew": "the study was deleted and begun anew; its trials are read from the first",
}


def said_of_source(sight: Sight, source: str) -> list[str]:
    """What happened to the source and to the space."""
    event = [] if sight.event is None else [EVENTS[sight.event].format(source=source)]
    return [*event, *said_of_domains(sight.domains)]


def said_of_domains(changes: Sequence[DomainChange]) -> list[str]:
    new = [one.name for one in changes if one.before is None]
    gone = [one.name for one in changes if one.after is None]
    other = [one for one in changes if one.before is not None and one.after is not None]
    said = [
        f"{named(new)} {'is a new parameter' if len(new) == 1 else 'are new parameters'}" if new else "",
        f"{named(gone)} {'is' if len(gone) == 1 else 'are'} no parameter any more" if gone else "",
    ]
    if len(other) > MOST_NAMED:
        said.append(f"the domains of {named([one.name for one in other])} have changed with new values")
    else:
        said += [f"the domain of {one.name} is {_domain(one)} now" for one in other]
    return [text for text in said if text]


def _domain(change: DomainChange) -> str:
    return "" if change.after is None else in_words(change.after)


def said_of_passes(passes: Sequence[Pass]) -> list[str]:
    """One sentence for each parameter that rose."""
    said = []
    for ahead in dict.fromkeys(one.ahead for one in passes):
        mine = [one for one in passes if one.ahead == ahead]
        for clear, verb in ((True, "passed"), (False, "is clearly ahead of")):
            behind = [one.behind for one in mine if one.was_clear is clear]
            if behind:
                said.append(f"{ahead} {verb} {named(behind)} after {mine[0].rows:,} trials")
    return said


def stability(standings: Standings | None, wanted: str = "") -> str:
    """How long the ranking has been as it is; why there is none yet."""
    if standings is None:
        return f"no ranking yet: {wanted}" if wanted else "no ranking yet"
    many = standings.stable_for
    return f"the ranking has been stable for {many:,} {'trial' if many == 1 else 'trials'}" if many else ""


def named(names: Iterable[str]) -> str:
    """A few of them, and how many more."""
    listed = list(names)
    few = listed[:MOST_NAMED] if len(listed) > MOST_NAMED + 1 else listed
    rest = len(listed) - len(few)
    return joined([*few, f"{rest} others"] if rest else few)
