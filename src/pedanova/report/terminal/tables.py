"""Results for the terminal: a title, a table that fits the width, the meaning of its columns, and short notes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pedanova.base.digits import chance, interval, percent, short
from pedanova.base.names import joined, short_names
from pedanova.base.notes import Note, gathered, ranged
from pedanova.base.table import Table, bar_parts
from pedanova.base.terminal import (
    GAP,
    TableColumn,
    draw_table,
    fitted,
    printable,
    shorten,
    sparkline,
    text_table,
    width_of,
    wrapped,
)
from pedanova.data.regions import LEAST_TARGET, part_in_words
from pedanova.errors import Arg, Word, listed
from pedanova.measures.importance import NEVER, Importance, Importances, is_faint, known_percent, marked_share
from pedanova.measures.questions.ask import Comparison, Profile, chosen_places
from pedanova.report.names import NO_NESTING, Nesting
from pedanova.report.sentences import meanings_of

if TYPE_CHECKING:  # results of other commands
    from pedanova.measures.advice.gains import Gains
    from pedanova.measures.interactions import Interactions
    from pedanova.measures.studies.across import Pooling
    from pedanova.measures.studies.budgets import Along
    from pedanova.measures.studies.pooling import RankTest
    from pedanova.measures.studies.seeds import Seeds
    from pedanova.measures.studies.study_difference import Differences
    from pedanova.reduction.result import ReducedSpace

ARGUMENT = re.compile(r"""(?:--[\w-]+ (?!-))?(?:'[^']*'|"[^"]*"|[^\s'"])+""")  # of a shell; an option with its value
SPARKS = 24  # characters of a curve in a table
A_FEW_MORE = 5  # if only this many more rows are left, all are shown
LEAST_NAMES = 16  # characters
LEAST_LETTERS = 6  # characters of a name in a set
LONGEST_VALUES = 28  # characters of good values
SET_MEANINGS = {
    "interaction": "how well the parameters together explain whether a row is in the target, beyond what smaller sets "
    "of these parameters explain; ~ marks a set without a clear effect.",
    "together": "what the parameters explain together.",
    "added": "what the separate effects of both parameters explain, added together.",
    "by smaller sets": "what smaller sets of these parameters explain.",
    "overlap": "the sum of both importances minus the column added. It is 0 if the two parameters are independent.",
    "p": "how often chance alone would give this interaction, adjusted for the number of sets.",
}


def fill(text: str, width: int, behind: str = "") -> str:
    """The text wrapped to `width`; control characters are escaped."""
    return wrapped(printable(text), max(20, width), behind=behind)


def with_command(text: str, width: int) -> str:
    """Wrap text that ends with a shell command; a long command is split with backslashes."""
    text = printable(text)
    words, begin, rest = text.partition(": pedanova ")
    if width_of(text) <= width or not begin:
        return text
    lines = ["  pedanova"]
    for argument in ARGUMENT.findall(rest):
        if width_of(f"{lines[-1]} {argument} \\") <= width:
            lines[-1] += f" {argument}"
        else:
            lines.append(f"    {argument}")
    return f"{fill(f'{words}:', width)}\n" + " \\\n".join(lines)


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """How results are printed: the width, colours, and how many rows and texts are shown."""

    width: int = 100
    colour: bool = False
    alone: bool = False  # only the table, without text
    most: int = 0  # rows that are shown; 0 for all

    def table(self, columns: Sequence[TableColumn], faint: Collection[int] = ()) -> str:
        return text_table(columns, width=self.width, colour=self.colour, faint=faint)

    def folded(self, columns: Sequence[TableColumn]) -> str:
        return draw_table(columns, width=self.width, colour=self.colour)

    def titled(self, title: str, table: str, *paragraphs: str) -> str:
        """A table below its title, and paragraphs about it; empty paragraphs are left out."""
        if self.alone:
            return table
        parts = [fill(f"{title}:", self.width), table, *(fill(text, self.width) for text in paragraphs)]
        return "\n\n".join(part for part in parts if part)


def draw_importances(
    importances: Importances, look: TerminalStyle, nesting: Nesting = NO_NESTING, next_step: str = ""
) -> str:
    """The text for importances: conclusion, next step and table; if all columns are shown, also their meaning.

    Children are listed under their parents. If there are many parameters, only the first are shown.
    """
    printed = importances.printed_rows()
    stop = shown_rows(len(printed), look)
    places = {row.name: place for place, row in enumerate(printed[:stop])}
    shown = [places[name] for name in nesting.order([row.name for row in printed]) if name in places]
    columns = importance_columns(importances, shown, nesting, look.width)
    if importances.full:
        table = look.folded(columns)
    else:
        table = look.table(columns, {i for i, place in enumerate(shown) if is_faint(printed[place])})
    table += left_in_words(printed[stop:])
    if look.alone:
        return table
    lead = fill(importances.summary(), look.width) + (f"\n{with_command(next_step, look.width)}" if next_step else "")
    titles = ["", *(column.title for column in columns)] if importances.full else []
    words = [text for name, text in meanings_of(importances).items() if name in titles]
    words += in_full([printed[place].name for place in shown], columns[0])
    return "\n\n".join(part for part in (lead, table, fill(" ".join(words), look.width)) if part)


def shown_rows(count: int, look: TerminalStyle) -> int:
    return look.most if look.most and count > look.most + A_FEW_MORE else count


def left_in_words(rows: Sequence[Importance]) -> str:
    """A sentence on the parameters in `rows`, which are not shown; the text is empty if there are none."""
    if not rows:
        return ""
    surely = sum(row.significant is True for row in rows)
    sure = f"; {surely} with a clear effect" if surely else ""
    return f"\n… and {len(rows):,} more parameters (importance up to {percent(rows[0].share)}{sure}); --top 0 shows all"


def importance_columns(
    importances: Importances, places: Sequence[int], nesting: Nesting, width: int
) -> list[TableColumn]:
    """The table columns for the rows with indices `places`."""
    rows = [importances.printed_rows()[place] for place in places]
    names = name_column([row.name for row in rows], width, nesting)
    copies = [importances.name_of(row).removeprefix(row.name) for row in rows]
    columns = [replace(names, cells=[cell + copy for cell, copy in zip(names.cells, copies, strict=True)])]
    for column in declared(importances, rows=places)[1:]:
        cells = aligned_intervals(rows) if column.title == "95 % interval" else column.cells
        cells = [shorten(cell, LONGEST_VALUES) for cell in cells]
        columns.append(replace(column, cells=cells))
    if not importances.full:
        return [*columns[:2], bars([row.share for row in rows]), *columns[2:]]
    if nesting.active:
        parts = [percent(nesting.active[row.name]) if row.name in nesting.active else "" for row in rows]
        columns.append(TableColumn("active in", parts))
    return columns


def name_column(names: Sequence[str], width: int, nesting: Nesting = NO_NESTING) -> TableColumn:
    """A column of parameter names, shortened to a third of `width`; conditional parameters are indented."""
    deepest = max((len(nesting.indented(name, "")) for name in names), default=0)
    shown = short_names(names, max(LEAST_NAMES, width // 3) - deepest)
    return TableColumn("parameter", [nesting.indented(name, shown[name]) for name in names], "name")


def in_full(names: Sequence[str], column: TableColumn) -> list[str]:
    """A sentence that explains the first shortened name in the column; empty if no name is shortened."""
    pairs = zip(names, column.cells, strict=True)
    short = ((cell.strip(), name) for name, cell in pairs if not cell.strip().startswith(name))
    return next(([f"{cell} is short for {name}."] for cell, name in short), [])


def aligned_intervals(rows: Sequence[Importance]) -> list[str]:
    """The intervals as text, padded so that both ends are aligned."""
    ends = [interval(row.low, row.high).split(" to ") for row in rows]
    widest = [max((len(pair[i]) for pair in ends if len(pair) > 1), default=0) for i in (0, 1)]
    return [f"{pair[0]:>{widest[0]}} to {pair[1]:>{widest[1]}}" if len(pair) > 1 else "" for pair in ends]


def draw_questions(wide: Importances, narrow: Importances, look: TerminalStyle) -> str:
    """A table of the importances for a wide and a narrow target, sorted by the wide target."""
    columns = [name_column(list(wide), look.width)]
    top = max((row.share for importances in (wide, narrow) for row in importances.rows), default=0.0)
    for word, importances in (("global", wide), ("local", narrow)):
        rows = [importances[name] for name in wide]
        columns += [
            TableColumn(word, [marked_share(row) for row in rows]),
            TableColumn("", kind="bar", parts=[max(0.0, row.share) / (top if top > 0 else 1.0) for row in rows]),
        ]
    return look.table(columns)


def draw_profile(profile: Profile, look: TerminalStyle) -> str:
    """A table of each parameter's ratio for targets of increasing size: a sparkline, and numbers for a few sizes."""
    steps, rows = profile.usable(), profile.by_parameter()
    if not steps:
        return "No target has enough rows in this region; choose a wider region."
    left_out = len(rows) - shown_rows(len(rows), look)
    rows = rows[: len(rows) - left_out]
    top = max((one.ratio for row in rows for one in row), default=0.0) or 1.0
    ends = " to ".join(dict.fromkeys(part_in_words(step.quantile) for step in (steps[0], steps[-1])))
    curves = [
        sparkline(thinned([one.ratio / top for one in row], look.width // 4)) if row[0].varied else NEVER
        for row in rows
    ]
    columns = [name_column([row[0].name for row in rows], look.width), TableColumn(ends, curves, "words")]
    usual = chosen_places([float(step.quantile) for step in steps])
    for place in sorted(usual):
        cells = [known_percent(row[place], row[place].ratio) for row in rows]
        title = f"best {part_in_words(steps[place].quantile)}"
        columns.append(TableColumn(title, cells, leave=usual.index(place)))
    meaning = (
        "ratio: importance divided by the sum of all importances, for the best x % of the rows. The curve goes from "
        f"the strictest target ({part_in_words(steps[0].quantile)}) to the widest; full height means {percent(top)}."
    )
    left = len(profile.steps) - len(steps)
    if left:
        meaning += f" Not shown: {left} {'target' if left == 1 else 'targets'} with fewer than {LEAST_TARGET} rows."
    table = look.table(columns) + more_in_words("parameters", left_out)
    return look.titled(f"Ratios by target, within {profile.region}", table, meaning)


def thinned(ratios: Sequence[float], most: int) -> list[float]:
    """Shorten a list of numbers for a sparkline to `most` numbers or fewer: neighbours are averaged."""
    step = -(-len(ratios) // min(SPARKS, most))
    groups = [ratios[i : i + step] for i in range(0, len(ratios), step)]
    return [sum(group) / len(group) for group in groups]


def draw_interactions(result: Interactions, look: TerminalStyle) -> str:
    """A table of the strongest pairs or larger sets, with bars; ~ marks sets without a clear interaction."""
    rows = result.rows[: look.most or None]
    room = max(LEAST_LETTERS, (look.width // 2 - 3 * (result.order - 1)) // result.order)  # for a name
    names = short_names(list(dict.fromkeys(name for row in rows for name in row.names)), room)
    labels = [" × ".join(names[name] for name in row.names) for row in rows]
    named, own, *others = declared(result, rows=range(len(rows)))
    named = replace(named, cells=labels, kind="words")
    columns = [named, replace(own, parts=()), bars([row.interaction for row in rows]), *others]
    table = look.table(columns, {i for i, row in enumerate(rows) if not row.significant})
    many = "pairs" if result.order == 2 else "sets"
    table += "" if look.alone else more_in_words(many, len(result.rows) - len(rows))
    return look.titled(result.heading(), table, meanings_in(columns, SET_MEANINGS, look.width))


def declared(result: Table, *titles: str, rows: Sequence[int] | None = None) -> list[TableColumn]:
    """The columns that a result prints; `titles` and `rows` (indices) select columns and rows."""
    printed = {column.title: column for column in result.printed()}
    columns = [printed[title] for title in titles or printed]
    if rows is not None:
        columns = [replace(column, cells=[column.cells[i] for i in rows]) for column in columns]
    return [replace(columns[0], kind="name"), *columns[1:]]


def more_in_words(what: str, left: int) -> str:
    return f"\n… and {left:,} more {what}; --top 0 shows all" if left else ""


def bars(values: Sequence[float]) -> TableColumn:
    """A column of bars for positive numbers; the largest bar fills the column."""
    return TableColumn("", kind="bar", parts=bar_parts([max(0.0, value) for value in values]))


def meanings_in(columns: Sequence[TableColumn], meanings: Mapping[str, str], width: int) -> str:
    """The meaning of the columns that fit into the width."""
    shown = {column.title for column in fitted(columns, width)}
    return " ".join(f"{name}: {text}" for name, text in meanings.items() if name in shown)


def draw_reduce(reduced: ReducedSpace, look: TerminalStyle) -> str:
    """The verdicts of `reduce` as a table, the evidence, and the reasons; a narrow terminal gets no table."""
    width = look.width
    columns = [name_column([row.name for row in reduced.rows], width), *declared(reduced)[1:]]
    shown = fitted(columns, width)
    fits = sum(column.width for column in shown) + GAP * (len(shown) - 1) <= width
    faint = {i for i, row in enumerate(reduced.rows) if row.advice in ("keep", "undecided")}
    table = look.table(columns, faint) if fits else ""
    if look.alone and fits:
        return table
    reasons: dict[str, list[str]] = {}  # reason → the parameters that have it
    for row in reduced.rows:
        verdict = "" if fits else f"{row.advice} ({row.suggested() or 'all values'}): "
        reasons.setdefault(f"{verdict}{row.reason}", []).append(row.name)
    words = [fill(f"{', '.join(names)}: {reason}", width, "  ") for reason, names in reasons.items()]
    return "\n\n".join(part for part in [table, fill(reduced.summary(), width), "\n".join(words)] if part)


def draw_notes(notes: Sequence[str], *, width: int = 100) -> str:
    if not notes:
        return ""
    lines = [wrapped(shorten(note, 2_000), width, before="- ", behind="  ") for note in notes]
    return "\n".join(["Notes", *lines])


MOST_NAMED = 8
MOST_NOTES = 3
NOTE_GROUPS: dict[str, tuple[str, tuple[Word, ...]]] = {
    "unused": ("left out: ", ("; ", Arg("params"), " selects the columns to use")),
    "condition": ("conditional (missing for some values of another parameter): ", ()),
    "space": ("ranges guessed from the data: ", ("; ", Arg("space"), " sets them")),
}


def in_short(notes: Iterable[Note], total: int | None = None) -> list[Note]:
    """The three most important notes, in this order: roles of columns, warnings on rows and others, method, guesses.

    If notes are missing, the last line says how many there are: `total`, or all of `notes`.
    """
    every = list(notes)
    warnings = ranged(gathered(note for note in every if note.severity == "warning"))
    roles = [note for note in warnings if note.kind == "roles"]  # the first lines of an answer list all of them
    others = [note for note in warnings if note not in roles]
    warnings = [*roles[:1], *sorted(others, key=lambda note: note.kind != "rows")]
    rest = [note for note in every if note.severity != "warning"]
    answers = ranged(gathered(note for note in rest if note.kind == "answer"))
    ordered = [*warnings, *_joined(rest, "rows"), *answers, *_grouped(rest), *_joined(rest, "direction")]
    shown = ordered[:MOST_NOTES]
    many = len(gathered(every)) if total is None else total
    if not {*gathered(every)} <= {*shown} and (shown or many > 1):  # a lone note about the source is not worth a hint
        words = f" prints all {many} notes" if many > 1 else " prints the whole note"
        shown.append(Note("source", Arg("notes", True), words))
    return shown


def _joined(notes: Sequence[Note], kind: str) -> list[Note]:
    words: list[Word] = []
    for note in ranged(gathered(note for note in notes if note.kind == kind)):
        subject = f"{note.subject}: " if note.subject else ""
        words += ["; " if words else "", subject, *note.words]
    return [Note(kind, *words, severity="info")] if words else []  # type: ignore[arg-type]


def _grouped(notes: Sequence[Note]) -> list[Note]:
    groups = []
    for kind, (before, behind) in NOTE_GROUPS.items():
        names = list(dict.fromkeys(note.subject for note in notes if note.kind == kind and note.subject))
        if names:
            groups.append(Note(kind, before, listed(names, most=MOST_NAMED), *behind))  # type: ignore[arg-type]
        groups += [note for note in notes if note.kind == kind and not note.subject]
    return groups


# --- several studies, budgets and seeds ------------------------------------------------------------

MOST_STUDIES = 12  # studies in a table
SHORT = {"share": "importance", "between studies": "between", "mean rank": "rank", "in first three": "top 3"}  # titles
POOLED_MEANINGS = {
    "importance": "how well the parameter alone explains whether a row is in the target: the mean over all studies, "
    "with about the same weight for each study (random effects).",
    "between": "how much the importance differs between studies, beyond chance (standard deviation).",
    "rank": "mean rank over studies; 1 is the most important.",
    "top 3": "the fraction of the studies in which the parameter is among the first three.",
}
DIFFERENCE_MEANINGS = {
    "difference": "importance in the first study minus importance in the second; ~ marks an unclear difference.",
    "p": "how often chance alone would give this difference, adjusted for the number of parameters (Holm).",
    "ratio difference": "difference of the ratios (importance divided by the sum of all importances).",
    "in common": "how much the densities of the target in the two studies overlap.",
}


def draw_across(pooled: Pooling, look: TerminalStyle) -> str:
    """The text for many studies: ranking, critical difference, disagreements and studies; or only the ranking."""
    every = all(row.studies == len(pooled.answers) for row in pooled.rows)
    columns = [replace(column, title=SHORT.get(column.title, column.title)) for column in declared(pooled)]
    shares = [columns[1], bars([row.share for row in pooled.rows])]
    columns = [name_column(list(pooled), look.width), *shares, *columns[2 : -1 if every else None]]
    ranks = "" if pooled.ranks is None else ranks_in_words(pooled.ranks)
    meanings = meanings_in(columns, POOLED_MEANINGS, look.width)
    ranking = look.titled(pooled.heading(), look.table(columns), meanings, ranks)
    return ranking if look.alone else "\n\n".join([ranking, draw_odd(pooled, look), draw_studies(pooled, look)])


def ranks_in_words(ranks: RankTest) -> str:
    """The result of Friedman's test and the critical difference, in words."""
    if ranks.p_value > 0.05:
        return f"Ranks do not differ clearly (Friedman's test, {ranks.studies} studies: p {chance(ranks.p_value)})."
    p = chance(ranks.p_value)
    words = f"Ranks differ (Friedman's test, {ranks.studies} studies: p {p if p.startswith('<') else f'= {p}'}). "
    if ranks.critical >= len(ranks.names) - 1:
        return f"{words}{ranks.studies} studies are too few to say which ranks differ."
    runs = [joined(ranks.names[first : last + 1]) for first, last in ranks.alike]
    apart = f"Mean ranks closer than {short(ranks.critical)} do not differ clearly (Nemenyi)"
    return f"{words}{apart}{': ' + '; '.join(runs) if runs else '; here, all mean ranks differ clearly'}."


def draw_odd(pooled: Pooling, look: TerminalStyle) -> str:
    odd = pooled.disagreements
    if not odd.rows:
        return fill(f"{odd.heading()}.", look.width)
    rows = range(len(odd.rows))[:MOST_STUDIES]
    more = len(odd.rows) - len(rows)
    table = look.table(declared(odd, rows=rows)) + (f"\n… and {more:,} more" if more else "")
    return look.titled(odd.heading(), table)


def draw_studies(pooled: Pooling, look: TerminalStyle) -> str:
    """A table of the studies; if there are many, only those that agree least with the others."""
    agreement = [1.0 if row.agreement is None else row.agreement for row in pooled.studies.rows]
    rows, title = list(range(len(agreement))), "The studies"
    if len(rows) > MOST_STUDIES:
        title = f"The {MOST_STUDIES} studies (of {len(rows)}) that agree least with the others"
        rows = sorted(rows, key=lambda i: agreement[i])[:MOST_STUDIES]
    columns = declared(pooled.studies, "study", "rows", "agreement", "what matters", rows=rows)
    words = f"{title} (agreement: rank correlation with the mean ranks of the other studies)"
    return look.titled(words, look.table(columns))


def draw_difference(differences: Differences, look: TerminalStyle) -> str:
    """A table of the importances in both studies, the clear differences in words, and the meaning of the columns."""
    columns = [name_column(list(differences), look.width), *declared(differences)[1:]]
    table = look.table(columns, {i for i, row in enumerate(differences.rows) if not row.significant})
    meanings = meanings_in(columns, DIFFERENCE_MEANINGS, look.width)
    return look.titled(differences.heading(), table, differences.summary(), meanings)


FEW = 4  # budgets whose shares are shown in numbers, the highest first
LEAST_STEPS = 3  # from this many budgets on, a small curve is drawn
SHARES = (
    "importance: how well the parameter alone explains whether a row is in the target, among the rows of that budget; "
    "~ marks a parameter without a clear effect."
)
RANKING = (
    "Spearman: rank correlation of the importances with those at the full budget. ranking: whether the ranking is the "
    'same as at the full budget. "another" means that two parameters are clearly in the opposite order; ? means too '
    "few rows. cost: the cost of the study if every trial stopped at this budget, as a fraction of the full cost."
)
CEILING = (
    "by the seed: how much of the variance is between runs of the same configuration. ceiling: the rest of the "
    "variance. The parameters cannot explain more than the ceiling. averaged: the ceiling after averaging the runs "
    "of each configuration."
)


def draw_along(along: Along, look: TerminalStyle) -> str:
    """Two tables: the shares at each budget, and how well each budget agrees with the full budget."""
    shares, shown = draw_shares(along, look)
    words = [*in_full([row[0].name for row in along.by_parameter()], shown), SHARES]
    texts = [] if look.alone else [fill(RANKING, look.width), fill(along.summary(), look.width)]
    cost = TableColumn("cost", [percent(along.cost(step)) for step in along.steps], leave=2)
    first = TableColumn("first", [along.first(step) or "–" for step in along.steps], "words", leave=3)
    printed = along.printed()
    columns = [*printed[:2], cost, first, *printed[-3:]]
    parts = look.titled(along.heading(), shares, " ".join(words)), look.table(columns)
    return "\n\n".join([*parts, *texts])


def draw_shares(along: Along, look: TerminalStyle) -> tuple[str, TableColumn]:
    """A table with a sparkline of each parameter's shares, and its share at a few budgets."""
    rows = along.by_parameter()
    names = name_column([row[0].name for row in rows], look.width)
    columns = [names]
    if len(along) >= LEAST_STEPS:
        top = max((one.share for row in rows for one in row), default=0.0)
        curves = [
            sparkline([max(0.0, one.share) / (top if top > 0 else 1.0) for one in row]) if row[-1].varied else NEVER
            for row in rows
        ]
        columns.append(TableColumn(f"{short(along.steps[0].budget)} to {short(along.full.budget)}", curves, "words"))
    places = sorted({round(i * (len(along) - 1) / max(1, FEW - 1)) for i in range(min(FEW, len(along)))})
    for leave, place in enumerate(places[::-1]):
        cells = [marked_share(row[place]) for row in rows]
        title = f"{along.name} {short(along.steps[place].budget)}"
        columns.insert(len(columns) - leave, TableColumn(title, cells, leave=leave))
    return look.table(columns), names


def draw_seeds(seeds: Seeds, look: TerminalStyle) -> str:
    """A table: how much of the variance is due to the seed, and how much parameters can explain at most."""
    return look.titled(seeds.heading(), look.table(declared(seeds)), CEILING, seeds.summary())


NOT_IMPORTANCE = (
    "A gain is an improvement over the default. Importance (pedanova analyze) says what makes a trial one of the best. "
    "So the two rankings may differ."
)


def draw_gains(gains: Gains, look: TerminalStyle) -> str:
    """The table of gains as text, with the meaning of its columns and the steps from the default to the best values."""
    from pedanova.measures.advice.gains import COLUMNS, default_in_words

    default = default_in_words(gains, "--default NAME=VALUE")
    meaning = f"{COLUMNS} {NOT_IMPORTANCE}"
    words = look.titled(gains.heading(), look.table(declared(gains)), default, meaning, gains.summary())
    if look.alone or not gains.path.rows:
        return words
    return f"{words}\n\n{look.titled('From the default to the best', look.table(declared(gains.path)))}"


def draw_compare(result: Comparison[Any], look: TerminalStyle) -> str:
    table = look.folded(result.printed())
    noise = "~ marks parameters without a clear effect."
    if result.shown == "ratio":
        noise += " Measures without a significance test have no marks."
    title = "Ratios by measure" if result.shown == "ratio" else "Importances"
    words = look.titled(title, table, noise if any(result.noise.values()) else "")
    meanings = [fill(f"{name}: {meaning}", look.width, "  ") for name, meaning in result.meanings.items()]
    return words if look.alone else words + "\n\n" + "\n".join(meanings)
