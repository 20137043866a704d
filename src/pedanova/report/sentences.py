"""What the numbers say, in plain language."""

from __future__ import annotations

from collections.abc import Sequence

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.base.terminal import shorten
from pedanova.measures.importance import NEVER, UNKNOWN, Importance, Importances, beats_chance, interval_in_words
from pedanova.measures.studies.across import Pooling
from pedanova.report.names import short_names

ENOUGH_ROWS = 20  # target rows below which a change says nothing
NOTEWORTHY = 0.05  # a ratio that changes by less is no change
MOST_NAMED = 3
LONGEST_NAME = 60
LONGEST_HEADLINE, LONGEST_LEADER = 90, 30  # letters


def aim_in_words(goals: Sequence[tuple[str, str]], notes: Sequence[Note]) -> str:
    """What is optimised which way, by direction and name; a way that was guessed is said to be."""
    words = " and ".join(f"{direction} {name}" for direction, name in goals)
    guesses = {note.severity for note in notes if note.kind == "direction"}
    if "warning" in guesses:
        return f"{words} (direction not known)"
    return f"{words} (guessed from its name)" if guesses else words


def contrast(wide: Importances, narrow: Importances) -> str:
    """One sentence on what changes from the wide question to the narrow one."""
    rows = narrow.rows[0].n_target
    if rows < ENOUGH_ROWS:
        return f"Inside {narrow.region}, {rows} target rows are too few to say more."
    if not any(beats_chance(row) for row in narrow.rows):
        return f"Inside {narrow.region}, nothing separates {narrow.target} clearly better than chance would."
    change = {row.name: row.ratio - wide[row.name].ratio for row in narrow.rows}
    fallen, risen = (pick(change, key=lambda name: change[name]) for pick in (min, max))
    if change[risen] < NOTEWORTHY:
        return f"Inside {narrow.region} the picture is much the same."
    ways = [percent(importances[name].ratio) for name in (fallen, risen) for importances in (wide, narrow)]
    moved = (
        f"Once inside {narrow.region}, the ratio of {fallen} falls from {ways[0]} to {ways[1]} "
        f"and that of {risen} rises from {ways[2]} to {ways[3]}"
    )
    sure = beats_chance(narrow[risen])
    return f"{moved}: what gets you there is not what makes the last step." if sure else f"{moved}."


def joined(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def shares_over_studies(pooled: Pooling) -> str:
    """What matters in general, in one sentence."""
    first = [row for row in pooled.rows if row.low is not None and row.low > 0][:3]
    if not first:
        return f"Over {len(pooled.answers)} studies no parameter matters clearly."
    named = joined([f"{row.name} ({percent(row.share)})" for row in first])
    return f"What separates {pooled.target} from {pooled.region} over {len(pooled.answers)} studies: {named}."


def meanings_of(importances: Importances) -> dict[str, str]:
    """What each column means, by its title; under no title, what is to be known beside."""
    against_region = importances.baseline == "region"
    base = "the region's rows" if against_region else "a uniform draw from the space"
    part = f"part{'' if against_region else ', if rows were drawn uniformly,'} of the variance"
    words = {
        "share": f'share: {part} of "in the target?" that the parameter explains alone, corrected for chance'
        + (", and of a conditional one what its value explains" if importances.is_conditional else "")
        + ("; ~ marks what is not distinguishable from noise" if importances.is_sure else "")
        + ("." if all(row.varied for row in importances.rows) else f"; {UNKNOWN} marks what {NEVER}."),
        "ratio": "ratio: part of the sum of all shares.",
        "divergence": f"divergence: distance of the target from {base}.",
    }
    if importances.is_sure:
        words["p"] = (
            "p: how often chance alone would make it look as important for this target in this region, "
            "adjusted for the number of parameters (Holm); ~ marks p above 0.05."
        )
    if importances.trials:
        words["in best trials"] = (
            "in best trials: the ratio of what the best of the trials share, against a uniform draw."
        )
    if importances.is_conditional:
        words["by activity"] = "by activity: part of the divergence from the parameter being active at all."
    if against_region and not importances.whole:
        words[""] = "Inside a region shares may overlap and add to more than 100 %."
    return words


def headline(importances: Importances) -> str:
    """What there is to say in at most 90 characters: who leads, by how much and how surely, and who follows."""
    sure = sorted((row for row in importances.rows if beats_chance(row)), key=lambda row: -row.share)
    if not sure:
        words = f"Nothing separates {importances.target} from {_others(importances)} clearly better than chance would."
        return words if len(words) <= LONGEST_HEADLINE else "Nothing is clearly better than chance would be."
    names = short_names(list(importances))
    first, *others = sure
    text = _lead(first, shorten(names[first.name], LONGEST_LEADER))
    for number, row in enumerate(others):
        more = f"{', then' if number == 0 else ','} {names[row.name]} {percent(row.share)}"
        if len(text) + len(more) + 1 > LONGEST_HEADLINE or row.share > 1:
            break
        text += more
    return f"{text}."


def _lead(row: Importance, name: str) -> str:
    """Against a uniform draw a share may be above 1, where the rows are far from uniform: it is no part then."""
    if row.share > 1:
        return f"{name} leads, with {percent(row.ratio)} of all importance"
    interval = interval_in_words(row)
    return f"{name} explains {percent(row.share)}{f' ({interval})' if interval else ''} of what decides"


def summarize(importances: Importances) -> str:
    """A few sentences about one question, the first of at most 90 characters."""
    if not any(beats_chance(row) for row in importances.rows):
        return f"{headline(importances)} The ranking may be nothing but luck."
    question = f"That is what separates {importances.target} from {_others(importances)}."
    noise = [row for row in importances.rows if row.significant is False]
    never = [row for row in importances.rows if not row.varied]
    parts = [headline(importances), question]
    if noise:
        parts.append(f"{_names(noise)} {'is' if len(noise) == 1 else 'are'} not distinguishable from noise.")
    if never:
        parts.append(f"{_names(never)} {NEVER} in these rows.")
    return " ".join(parts)


def _others(importances: Importances) -> str:
    return "the rest" if importances.whole else f"the rest of {importances.region}"


def _names(rows: Sequence[Importance]) -> str:
    names = [shorten(row.name, LONGEST_NAME) for row in rows]
    more = len(names) - MOST_NAMED
    return joined(names if more <= 0 else [*names[:MOST_NAMED], f"{more} more"])
