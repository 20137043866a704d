"""Clues to the role of a single column: from its name, its values, and the names of objectives and summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from pedanova.data.column_values import LEAST_ROWS, Values
from pedanova.data.vocabulary import (
    BEFORE_RESULTS,
    BOOKKEEPING,
    COSTS,
    COUNTED,
    COUNTS,
    DIFFERENCES,
    FAILURES,
    FRACTIONS,
    MEMORY,
    MIDDLES,
    NOTHING,
    OUTCOMES,
    PAST,
    PER_SECOND,
    PROCESSES,
    RESULTS,
    SUMMARIES,
    UNCLEAR,
    UNITS,
    has_head,
    is_limit,
    is_state,
    known_form,
    last_telling,
    outcome_word,
    split_of,
    state_of,
    stem_of,
    words_of,
)

RoleName: TypeAlias = Literal[
    "objective", "parameter", "result", "identifier", "seed", "status", "time", "budget", "text", "empty",
    "block",
]  # fmt: skip
PRIOR = 2  # the weight for a parameter if nothing is known about a column
SURE, FAIR, SLIGHT, WEAK = 6, 3, 2, 1  # weights of clues
MARKS = (
    "params_", "params.", "params/", "param_", "param.", "config.", "config/", "config:", "hparams.", "hparams/",
    "hyperparameters.", "hyperparameters/", "hyperparameters_", "hyperparams.", "hp.", "args.", "misc.vals.",
)  # before a setting's name  # fmt: skip
INDEX_NAMES = re.compile(r"^(unnamed: ?\d+(\.\d+)*|level_\d+)$", re.IGNORECASE)
ID_NAMES = re.compile(
    r"^(unnamed: ?\d+(\.\d+)*|level_\d+|index|idx|id|uuid|number|row|.*_(id|uuid|idx|index|#|no\.?|nr\.?)"
    r"|(trial|run|config|job|exp|experiment)(_?(id|number|no|num|name))?)$",
    re.IGNORECASE,
)
PLACES = re.compile(
    r"^(host(name)?|node(_?(ip|name))?|pid|user(name)?|((git|parent|base)_?)?(commit|sha|hash|branch)"
    r"|.*_(sha(1|256)?|md5|hash|commit|fingerprint))$",
    re.IGNORECASE,
)
SEED_NAMES = re.compile(
    r"^((.*[_./ ])?(seed|random_state|rng_state)([_./ ]?\d+)?|(cv|outer|inner|nr)?_?fold(_?(id|idx|index|no|number))?"
    r"|((n|num)_)?(rep|repeat|repetition|replicate|replication)s?|(n|num)_(seeds|folds|runs))$",
    re.IGNORECASE,
)
STATUS_NAMES = re.compile("stat(e|us)|outcome|verdict", re.IGNORECASE)
STATUS_NAME = re.compile(
    r"((trial|run|job|exit|final|solver?|task)[_ ]?)?(state|status|outcome|verdict)", re.IGNORECASE
)  # of a column in which some words may be unknown
TIME_NAMES = re.compile(r"(date|time_?stamp|_at$|^time$|datetime|_time$)", re.IGNORECASE)
TIME_TEXT = re.compile(
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(\D|$)"
    r"|\d{8}[_-]\d{6}$|\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?$|\d+ days? )"
)
REMARKS = re.compile(
    r"((.*[_\s])?(description|tags?|notes?|notizen|comments?|remarks?)|units?|message|.*error_?m(essage|sg)|traceback|.*reason)$",
    re.I,
)
DIGEST = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}", re.I)  # a hash, such as that of a commit
BUDGET_NAMES = re.compile(
    r"^(budget|fidelity|rung|n?_?resources?|epoch|(global_?)?step|(training_?)?iteration|round|generation|episode)$",
    re.I,
)
EPOCHS = [(9e8 * scale, 4.1e9 * scale) for scale in (1, 1e3, 1e6, 1e9)]  # 1998 to 2099, s to ns
LONG_TEXT = 60  # mean number of characters
STATE_WORDS = 3  # mean number of words of a state, at most


@dataclass(frozen=True, slots=True)
class Clue:
    """Evidence that a column has a certain role, with its weight and reason."""

    role: RoleName
    weight: float
    why: str


def by_summaries(name: str, family: Mapping[str, Values]) -> Iterator[Clue]:
    """Clues from columns that summarise the same result, such as acc_mean, acc_std and acc_max."""
    summaries = {words_of(other)[-1]: one for other, one in family.items() if words_of(other) != stem_of(name)}
    ends = summaries.keys()
    if stem_of(name) != words_of(name):
        if len(family) > 1 and (not family[name].is_few or not {"min", "max"} >= ends):
            yield Clue("result", SURE, "one of several summaries of a result")
    elif MIDDLES.isdisjoint(ends) and any(not summaries[end].looks_chosen for end in ends - {"min", "max"}):
        yield Clue("result", SURE, "another column contains its spread (such as a standard deviation)")


def tells_result(name: str) -> bool:
    return (last_telling(name) or ("",))[0] in RESULTS - UNCLEAR


def by_name(name: str, values: Values) -> Iterator[Clue]:
    if SEED_NAMES.match(name):
        yield Clue("seed", SURE, "looks like a seed, a fold or a repeat, not a parameter")
    elif name.lower() in ("split", "splits") and values.is_numbered:
        yield Clue("seed", SURE, "contains the numbers of data splits")
    if PLACES.match(name):
        yield Clue("identifier", FAIR, "looks like the folder, machine or version of a run")
    if values.kind == "words" and REMARKS.match(name):
        variants = words_of(name)[-1:] in (("tag",), ("tags",)) and values.is_balanced  # such as those of an ablation
        yield Clue("text", SLIGHT if variants else FAIR, "looks like a comment or a unit")
    words = words_of(name)
    states = set(map(state_of, values.texts)) if STATUS_NAMES.search(name) else set()
    short = sum(len(text.split()) for text in values.texts) <= STATE_WORDS * len(values.texts)  # unlike a remark
    some_known = words[-1] in ("state", "status") and short and not states <= {None, "complete"}
    if states and (None not in states or (STATUS_NAME.fullmatch(name) and some_known)):
        yield Clue("status", SURE, f"contains the states of trials ({', '.join(values.texts[:3])})")
    elif values.kind == "words" and STATUS_NAME.fullmatch(name):
        yield Clue("status", SLIGHT, "has the name of a column of trial states, but its words are not known")
    nothing = not values.full or not NOTHING.isdisjoint(text.strip().lower() for text in values.texts)
    if values.kind == "words" and words and words[-1] in FAILURES and nothing:
        yield Clue("text", FAIR, "has a text if a trial failed")
    if values.kind == "flags" and outcome_word(name) in OUTCOMES:
        yield Clue("status", FAIR, "says whether a trial succeeded")
    if BUDGET_NAMES.match(name) and values.kind == "numbers":
        yield Clue("budget", SURE, "looks like the progress of a trial")
    if values.kind == "numbers":
        yield from _named_numbers(name, words, values)


def _named_numbers(name: str, words: tuple[str, ...], values: Values) -> Iterator[Clue]:
    """Clues from the name of a numeric column; they are weaker if the column has few distinct values."""
    few = values.levels is not None and values.levels <= 12
    known = _by_telling_word(name, words, values, few=few)
    if known is None:
        if words and words[-1] in DIFFERENCES and values.span[0] < 0 < values.span[1]:
            known = Clue("result", FAIR, f"its name ends in {words[-1]!r}, and it has positive and negative values")
        elif len(words) > 1 and words[0] in COUNTS and FRACTIONS.isdisjoint(words) and np.any(values.some % 1):
            known = Clue("result", FAIR, "its name is typical of a count, but its values are not integers")
        elif has_head(name):
            yield Clue("parameter", FAIR, f"its name ends in {words[-1]!r}, as the names of parameters often do")
            return
        elif words and known_form(words[0]) in RESULTS and not few:
            known = Clue("result", FAIR, f"its name begins with {words[0]!r}, the name of a result")
    yield from [known] if known is not None and known.weight else []
    yield from _by_other_words(name, words, values, few=few)


def _by_telling_word(name: str, words: tuple[str, ...], values: Values, *, few: bool) -> Clue | None:
    """A clue from the last known word of a name, with the weight 0 if the word is too weak; None for other names."""
    telling = (last_telling(name) or (None,))[0]
    if BOOKKEEPING.match(name):
        return Clue("time", SURE, "has a name that loggers use for their own fields")
    if telling == "time" and not PROCESSES.isdisjoint(words):
        return Clue("parameter", FAIR, "looks like the time of a step of an experiment, not like the time of a trial")
    if telling is not None and (telling in COSTS or (telling == "cost" and not COSTS.isdisjoint(words))):
        chosen = values.levels is not None and (values.are_round and values.is_balanced)
        unsure = is_limit(name) or chosen or (few and telling in UNCLEAR)
        weight = 0 if is_limit(name) and not values.has_own else SLIGHT if unsure else SURE
        return Clue("time", weight, "looks like the cost of a trial")
    if telling is not None and telling in RESULTS:
        unsure = few and telling in UNCLEAR
        weight = 0 if unsure and (values.levels or 0) <= 2 else SLIGHT if unsure else SURE
        return Clue("result", weight, "its name is typical of a result")
    return None


def _by_other_words(name: str, words: tuple[str, ...], values: Values, *, few: bool) -> Iterator[Clue]:
    if COUNTED.match(name) or (words and words[-1] in MEMORY and not few):
        yield Clue("result", FAIR, "looks like the size or the cost of the model")
    if len(words) > 1 and words[0] in BEFORE_RESULTS and words[1] not in ("param", "params", "config"):
        weight = SLIGHT if values.is_few and values.are_round else FAIR  # such as train_subset
        yield Clue("result", weight, f"its name begins with {words[0]!r}, as the names of results often do")
    if len(words) > 1 and not few and PAST.search(words[-1]):
        yield Clue("result", SLIGHT, f"its name ends in {words[-1]!r}, as the names of results often do")
    if len(words) > 1 and words[-1] in ("s", "sec") and words[-2] in PER_SECOND:
        yield Clue("result", SURE, "its name is typical of a speed")
    elif len(words) > 1 and not is_limit(name) and words[-2:] != ("m", "s"):
        for role, units in UNITS.items():
            if words[-1] in units and not few:
                yield Clue(role, FAIR, f"its name ends in the unit {words[-1]!r}")  # type: ignore[arg-type]
    if len(words) > 2 and words[-2] == "per" and {words[0], words[-1]} & (UNITS["time"] | {"watt", "token"}):
        yield Clue("result", SURE, "its name is typical of a speed")


def by_values(name: str, values: Values, *, single: bool) -> Iterator[Clue]:
    if name.startswith("Unnamed: ") and not values.whole:
        yield Clue("text", SURE, "has no name in the header")
    if values.kind == "dates":
        yield Clue("time", SURE, "contains dates or times")
    elif values.kind == "empty":
        yield Clue("empty", SURE, "has no value in any row")
    elif values.kind == "words":
        yield from by_texts(name, values)
    elif values.kind == "numbers":
        low, high = values.span
        in_epoch = any(first <= low and high <= last for first, last in EPOCHS) and len(values.present) >= LEAST_ROWS
        if in_epoch and values.full and high > low and (TIME_NAMES.search(name) or values.rises):
            yield Clue("time", SURE, "looks like a time stamp")
        if values.counts_rows:
            yield Clue("identifier", FAIR if has_head(name) else SURE, "increases by one from row to row, like an id")
        elif values.is_permutation and single:
            yield Clue("identifier", SURE + 1, "contains 0, 1, 2, … or 1, 2, 3, … in any order, like an id")
        if INDEX_NAMES.match(name) and values.whole:
            yield Clue("identifier", SURE, "looks like an index saved with the table")
        elif is_id(name) and values.levels != 1:
            rows = values.whole and values.full and len(values.present) >= LEAST_ROWS
            different = rows and (values.counts_rows or values.all_different)
            why = "is different in every row and looks like an id" if different else "looks like an id, not a parameter"
            yield Clue("identifier", SURE if different else FAIR, why)


def by_texts(name: str, values: Values) -> Iterator[Clue]:
    texts, rows = values.texts, len(values.present)
    if all(TIME_TEXT.match(text) for text in texts[:100]):
        yield Clue("time", SURE, f"looks like a time stamp ({texts[0]!r})")
    elif texts and all(DIGEST.fullmatch(text) for text in texts[:100]):
        yield Clue("identifier", SURE, f"contains hashes ({texts[0]!r})")
    elif len(states := set(map(state_of, texts))) > 1 and None not in states and any(map(is_state, texts)):
        yield Clue("status", FAIR, f"contains words for how trials ended ({', '.join(texts[:3])})")
    elif len(texts) > 1 and None not in map(split_of, texts):
        yield Clue("seed", FAIR, f"contains names of data splits ({', '.join(texts[:3])})")
    if (tells_result(name) or BEFORE_RESULTS.intersection(words_of(name)[:1])) and _kind_of_texts(texts) == "lists":
        yield Clue("result", SURE, "its name is typical of a result, and it contains lists")
    if len(texts) > 1 and _kind_of_texts(texts) == "dicts":
        yield Clue("text", SURE, "contains dicts")
    long = len(texts) == rows > 1 and sum(map(len, texts)) > LONG_TEXT * rows  # few rows, each with its own text
    many = len(texts) > 0.5 * rows and (rows >= LEAST_ROWS or long)
    if many and (len(texts) >= 0.9 * rows or len(texts) > 50):
        what = _kind_of_texts(texts)
        role: RoleName = "identifier" if what == "texts" else "text"
        like = " look like an id" if what == "texts" else ""
        yield Clue(role, SURE, f"{len(texts)} different {what} in {rows} rows{like}")
    elif is_id(name) and len(texts) > 1:
        weight = SLIGHT if words_of(name)[-1] in ("config", "experiment", "exp") else FAIR
        yield Clue("identifier", weight, "looks like an id, not a parameter")


def _kind_of_texts(texts: Sequence[str]) -> str:
    """What the first hundred texts are: "dicts", "lists", "long texts" or "texts"."""
    few = [text.strip() for text in texts[:100]]
    for start, end, what in (("{", "}", "dicts"), ("[", "]", "lists"), ("(", ")", "lists")):
        if all(text.startswith(start) and text.endswith(end) for text in few):
            return what
    return "long texts" if sum(map(len, few)) > LONG_TEXT * len(few) else "texts"


def is_id(name: str) -> bool:
    return ID_NAMES.match("_".join(name.split())) is not None


def beside_objectives(name: str, values: Values, objectives: Iterable[str]) -> Iterator[Clue]:
    """Clues from a name that resembles an objective, as val_loss_std and train_loss resemble val_loss."""
    words = words_of(name)
    if values.kind != "numbers" or not words:
        return
    for objective in objectives:
        own = list(words_of(objective))
        while len(own) > 1 and (own[-1] in SUMMARIES or own[-1].isdigit()):
            own.pop()
        long_enough = sum(map(len, own)) >= 3
        shared = {known_form(word) for word in own} & RESULTS & {known_form(word) for word in words}
        # such as forget_qa_prob with forget_qa_rouge, or lut_change_pct with latency_change_pct
        alike = len(own) > 2 and own[:-1] == list(words[: len(own) - 1])
        alike |= len(words_of(objective)) > 2 and words[1:] == words_of(objective)[1:]
        inside = values.is_few and last_telling(name) is None  # such as bin_loss_w with val_loss
        after = (shared and not inside) or (long_enough and list(words[: len(own)]) == own)
        if alike or (after and not has_head(name)):
            yield Clue("result", SURE, f"named after the objective {objective!r}")
            return
        if len(words) > 1 and [words[-1]] == own[-1:] and words[-1].isalpha() and not has_head(name):
            yield Clue("result", SLIGHT, f"its name ends in the same word as the objective {objective!r}")
