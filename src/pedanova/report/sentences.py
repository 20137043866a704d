"""Answers as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pedanova.base.digits import percent
from pedanova.base.names import joined
from pedanova.base.notes import Note
from pedanova.base.terminal import printable
from pedanova.data.objectives import TO_DO
from pedanova.errors import listed
from pedanova.measures.clear import beats_chance
from pedanova.measures.importance import NEVER, UNKNOWN, Importances, reached_in_words

if TYPE_CHECKING:
    from pedanova.measures.questions.trial_data import TrialData
    from pedanova.measures.studies.across import Pooling

ENOUGH_ROWS = 20  # with fewer target rows, a change is not mentioned
MOST_NAMED = 12  # columns that are named in the first lines
NOTEWORTHY = 0.05  # a smaller change of a ratio is not mentioned


def aim_in_words(goals: Sequence[tuple[str, str]], notes: Sequence[Note]) -> str:
    """The objectives and their directions in words, and whether a direction was guessed."""
    words = " and ".join(f"{TO_DO[direction]} {name}" for direction, name in goals)
    guesses = {note.severity for note in notes if note.kind == "direction"}
    if "warning" in guesses:
        return f"{words} (direction not known)"
    return f"{words} (guessed from its name)" if guesses else words


def contents_in_words(data: TrialData) -> str:
    """The number of rows and parameters, and the objectives: "1,000 rows, 10 parameters, minimise error"."""
    goals = data.observations.goals if data.observations is not None else ()
    pairs = [(str(goal.direction), goal.name) for goal in goals] or [(data.direction, data.objective)]
    many = "parameter" if len(data.space) == 1 else "parameters"
    return f"{rows_in_words(data)}, {len(data.space)} {many}, {printable(aim_in_words(pairs, data.notes))}"


def rows_in_words(data: TrialData) -> str:
    """The number of rows; if rows of the table were dropped, "8 of 36 rows"."""
    origin = None if data.observations is None else data.observations.origin
    chosen = origin is not None and (origin.request.where is not None or origin.request.repeats not in (None, "all"))
    # Two counts are the dropped rows and all rows; rows that were asked for are counted as the rows that are left.
    lost = [note.counts for note in data.notes if note.kind == "rows" and len(note.counts) == 2]
    total = max((counts[1] for counts in lost if counts[0] != data.rows or 2 * data.rows == counts[1]), default=0)
    return f"{data.rows:,} of {total:,} rows" if total > data.rows and not chosen else f"{data.rows:,} rows"


def doubts_in_words(data: TrialData) -> str:
    """Name the columns that might not be parameters, and the option that selects others; empty if there are none."""
    notes, parameters = data.notes, len(data.space)
    names = list(dict.fromkeys(note.subject for note in notes if note.kind == "roles" and note.severity == "warning"))
    if not names:
        return ""
    parameter = "a parameter" if len(names) == 1 else "parameters"
    why = "(--roles says why)"
    others = [name for name in data.tallies if name not in names and np.count_nonzero(data.tallies[name].by_cell) > 1]
    if not others:
        doubtful = f"{listed(names, most=MOST_NAMED)} might not be {parameter}"
        return f"{doubtful}, but there is no better column {why}; list the parameters in --params"
    if 3 * len(names) > parameters and len(names) > 2:  # a list of the others would be a guess about most columns
        doubtful = f"{len(names)} of {parameters} columns might not be parameters: {listed(names, most=MOST_NAMED)}"
        return f"{doubtful} {why}; name the parameters in --params"
    return f"{listed(names, most=MOST_NAMED)} might not be {parameter} {why}; --params selects the columns to use"


def left_out_in_words(data: TrialData) -> str:
    """Name the columns that are not used because of a guess about their role or values; empty if there are none."""
    names = list(dict.fromkeys(note.subject for note in data.notes if note.kind == "unused" and note.subject))
    if not names:
        return ""
    return f"left out: {listed(names, most=MOST_NAMED)} (--roles says why); --params selects the columns to use"


def contrast(wide: Importances, narrow: Importances) -> str:
    """One sentence on how the importances change from a wide target to a narrow one."""
    rows = narrow.rows[0].n_target
    if rows < ENOUGH_ROWS:
        return f"Among {narrow.region}, only {rows} rows are in the target: too few to say more."
    if not any(beats_chance(row) for row in narrow.rows):
        return f"Among {narrow.region}, no parameter clearly affects whether a trial is in {narrow.target}."
    change = {row.name: row.ratio - wide[row.name].ratio for row in narrow.rows}
    fallen, risen = (pick(change, key=lambda name: change[name]) for pick in (min, max))
    if change[risen] < NOTEWORTHY:
        return f"Among {narrow.region}, the ranking is almost the same."
    ways = [percent(importances[name].ratio) for name in (fallen, risen) for importances in (wide, narrow)]
    return (
        f"Among {narrow.region}, {fallen} falls from {ways[0]} to {ways[1]} of the sum of all importances, "
        f"and {risen} rises from {ways[2]} to {ways[3]}."
    )


def shares_over_studies(pooled: Pooling) -> str:
    """The most important parameters over all studies, in one sentence."""
    first = [row for row in pooled.rows if row.low is not None and row.low > 0][:3]
    if not first:
        return f"Over {len(pooled.answers)} studies, no parameter has a clear effect."
    named = joined([f"{row.name} ({percent(row.share)})" for row in first])
    verb = "matters" if len(first) == 1 else "matter"
    return f"Over {len(pooled.answers)} studies, {named} {verb} most. The target is {pooled.target}."


def meanings_of(importances: Importances) -> dict[str, str]:
    """The meaning of each printed column, by its title; the key "" has a remark on the whole table."""
    against_region = importances.baseline == "region"
    base = "the other rows" if against_region else "a uniform draw from the space"
    drawn = "" if against_region else ", if rows were drawn uniformly"
    words = {
        "importance": "importance: how well the parameter alone explains whether a row "
        f"{reached_in_words(importances.target)}{drawn}, corrected for chance (0 %: not at all; 100 %: fully). "
        "In Python, its name is share."
        + (" Importance ignores whether a conditional parameter has a value." if importances.is_conditional else "")
        + (" ~ means no clear effect (p above 0.05, or importance below 0.5 %)." if importances.is_sure else "")
        + ("" if all(row.varied for row in importances.rows) else f" {UNKNOWN} means: {NEVER}."),
        "p": "p: how often chance alone would give this importance, adjusted for the number of parameters (Holm).",
        "good values": "good values: values that are clearly more frequent in the target than in other rows.",
        "ratio": "ratio: importance divided by the sum of all importances.",
        "in best trials": "in best trials: the ratio, computed by comparing your best trials with a uniform draw.",
        "divergence": f"divergence: how much the target's values differ from {base} (PED in the paper).",
        "raw share": "raw share: the importance before the correction for chance.",
        "active in": "active in: the fraction of the rows in which the parameter has a value.",
        "by presence": "by presence: the part of the divergence that depends on whether the parameter has a value.",
    }
    if against_region and not importances.whole:
        words[""] = "Inside a region, importances may overlap and add up to more than 100 %."
    return words
