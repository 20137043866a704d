"""Several studies and several budgets in the terminal: what matters over all of them, who disagrees, how two differ."""

from __future__ import annotations

from dataclasses import replace

from pedanova.base.digits import chance, percent, short
from pedanova.base.terminal import TableColumn, draw_columns, sparkline
from pedanova.measures.importance import NEVER, marked_share
from pedanova.measures.studies.across import Pooling
from pedanova.measures.studies.across import interval_in_words as pooled_interval
from pedanova.measures.studies.along import Along, interval_in_words, spearman_in_words
from pedanova.measures.studies.pooling import RankTest
from pedanova.measures.studies.seeds import Seeds
from pedanova.measures.studies.study_difference import Differences, ends_in_words, marked, signed_percent
from pedanova.report.sentences import joined
from pedanova.report.terminal.tables import bars, fill, in_full, meanings_in, name_column

MOST_STUDIES = 12  # in a table
MEANINGS = {
    "share": 'mean over studies of the part of the variance of "in the target?" that the parameter explains alone '
    "(random effects, so that no large study rules).",
    "between": "deviation of the share between studies, beyond the chance of their rows.",
    "rank": "mean over studies; 1 is the most important.",
    "top 3": "part of the studies in which it is among the first three.",
}
DIFFERENCE_MEANINGS = {
    "difference": "of the shares, the first less the second; ~ marks what is not distinguishable from chance.",
    "p": "how often equal shares would look so different, all parameters taken together (Holm).",
    "ratios": "the same difference of ratios, the parts of the sum of all shares.",
    "in common": "part of the target's density that both studies have in common.",
}


def draw_across(pooled: Pooling, *, colour: bool = False, width: int = 100, alone: bool = False) -> str:
    """Ranking, critical difference, disagreements and studies; or the ranking `alone`."""
    columns = across_columns(pooled, width)
    table = draw_columns(columns, width=width, colour=colour)
    if alone:
        return table
    meanings = meanings_in(columns, MEANINGS, width)
    parts = [
        fill(f"{pooled.heading()}:", width),
        table,
        fill(meanings, width),
        fill(ranks_in_words(pooled.ranks), width) if pooled.ranks is not None else "",
        draw_odd(pooled, width=width, colour=colour),
        draw_studies(pooled, width=width, colour=colour),
    ]
    return "\n\n".join(part for part in parts if part)


def across_columns(pooled: Pooling, width: int) -> list[TableColumn]:
    rows = pooled.rows
    every = all(row.studies == len(pooled.answers) for row in rows)
    columns = [
        name_column([row.name for row in rows], width),
        TableColumn("share", [percent(row.share) for row in rows]),
        bars([row.share for row in rows]),
        TableColumn("95 % interval", [pooled_interval(row) for row in rows], leave=1),
        TableColumn("between", [f"± {percent(row.spread)}" for row in rows], leave=3),
        TableColumn("rank", ["" if row.rank is None else short(row.rank) for row in rows], leave=2),
        TableColumn("top 3", [percent(row.first) for row in rows], leave=4),
    ]
    return columns if every else [*columns, TableColumn("studies", [str(row.studies) for row in rows], leave=1)]


def ranks_in_words(ranks: RankTest) -> str:
    """What Friedman's test and the critical difference say."""
    if ranks.p_value > 0.05:
        return (
            f"Ranks do not differ more than by chance (Friedman, {ranks.studies} studies: p {chance(ranks.p_value)})."
        )
    p = chance(ranks.p_value)
    words = f"Ranks differ (Friedman, {ranks.studies} studies: p {p if p.startswith('<') else f'= {p}'}). "
    runs = [joined(ranks.names[first : last + 1]) for first, last in ranks.alike]
    apart = f"Mean ranks closer than {short(ranks.critical)} are not told apart (Nemenyi)"
    return f"{words}{apart}{': ' + '; '.join(runs) if runs else '; no two are so close'}."


def draw_odd(pooled: Pooling, *, width: int, colour: bool) -> str:
    rows = pooled.disagreements.rows[:MOST_STUDIES]
    if not rows:
        return fill(f"{pooled.disagreements.heading()}.", width)
    columns = [
        TableColumn("study", [row.study for row in rows], "name"),
        TableColumn("parameter", [row.name for row in rows], "words"),
        TableColumn("share", [percent(row.share) for row in rows]),
        TableColumn("others", [percent(row.others) for row in rows]),
        TableColumn("p", [chance(row.p_adjusted) for row in rows], leave=1),
    ]
    more = len(pooled.disagreements.rows) - len(rows)
    behind = f"\n… and {more:,} more" if more else ""
    return f"{pooled.disagreements.heading()}:\n\n{draw_columns(columns, width=width, colour=colour)}{behind}"


def draw_studies(pooled: Pooling, *, width: int, colour: bool) -> str:
    """Every study, or of many those that agree least with the others."""
    every = sorted(pooled.studies.rows, key=lambda row: 1.0 if row.agreement is None else row.agreement)
    few = len(every) > MOST_STUDIES
    rows = every[:MOST_STUDIES] if few else list(pooled.studies.rows)
    leading = [", ".join(f"{name} {percent(share)}" for name, share in row.leading) for row in rows]
    columns = [
        TableColumn("study", [row.name for row in rows], "name"),
        TableColumn("rows", [f"{row.n_region:,}" for row in rows], leave=3),
        TableColumn("agreement", ["" if row.agreement is None else f"{row.agreement:.2f}" for row in rows], leave=2),
        TableColumn("what matters", leading, "words", leave=1),
    ]
    title = f"The {len(rows)} of {len(every)} studies that agree least with the others" if few else "The studies"
    table = draw_columns(columns, width=width, colour=colour)
    words = fill(f"{title} (agreement: correlation of ranks with the mean of all others):", width)
    return f"{words}\n\n{table}"


def draw_changes(differences: Differences, *, colour: bool = False, width: int = 100, alone: bool = False) -> str:
    """Both studies by parameter, what is clear in words, and what the columns mean."""
    columns = change_columns(differences, width)
    faint = {i for i, row in enumerate(differences.rows) if not row.significant}
    table = draw_columns(columns, width=width, colour=colour, faint=faint)
    if alone:
        return table
    meanings = meanings_in(columns, DIFFERENCE_MEANINGS, width)
    parts = [
        fill(f"{differences.heading()}:", width),
        table,
        fill(differences.in_words(), width),
        fill(meanings, width),
    ]
    return "\n\n".join(part for part in parts if part)


def change_columns(differences: Differences, width: int) -> list[TableColumn]:
    rows, (first, second) = differences.rows, differences.names
    p_values = ["" if row.p_adjusted is None else chance(row.p_adjusted) for row in rows]
    overlaps = ["" if row.overlap is None else percent(row.overlap) for row in rows]
    return [
        name_column([row.name for row in rows], width),
        TableColumn(first, [percent(row.share) for row in rows]),
        TableColumn(second, [percent(row.other) for row in rows]),
        TableColumn("difference", [marked(row) for row in rows]),
        TableColumn("95 % interval", [ends_in_words(row.low, row.high) for row in rows], leave=1),
        TableColumn("p", p_values, leave=2),
        TableColumn("ratios", [signed_percent(row.ratio_difference) for row in rows], leave=3),
        TableColumn("in common", overlaps, leave=4),
    ]


FEW = 4  # budgets whose shares are shown in numbers, the highest first
LEAST_STEPS = 3  # budgets from which on a small curve is drawn
SHARES = (
    'share: fraction of the variance of "in the target?" explained, among the rows of that budget; ~ marks what is not '
    "distinguishable from noise."
)
RANKING = (
    "Spearman: rank correlation of the shares with those of the full budget; what is noise at both is tied. ranking: "
    "the same where it is as near as the full budget's is to itself, another where some order is clearly turned, ? "
    "where the rows cannot tell. cost: were every trial stopped there."
)
CEILING = (
    "the seed's: part of the variance among runs of one configuration. ceiling: what is left, which is the most that "
    "parameters can explain, alone and together. averaged: the ceiling where each configuration's runs are averaged."
)


def draw_along(along: Along, *, colour: bool = False, width: int = 100, alone: bool = False) -> str:
    """Shares by parameter over the budgets, then the agreement of each budget with the full one."""
    shares, shown = draw_shares(along, colour=colour, width=width)
    agreement = draw_agreement(along, colour=colour, width=width)
    if alone:
        return f"{shares}\n\n{agreement}"
    heading = fill(f"{along.heading()}:", width)
    words = [*in_full([row[0].name for row in along.by_parameter()], shown), SHARES]
    return "\n\n".join(
        [heading, shares, fill(" ".join(words), width), agreement, fill(RANKING, width), fill(along.in_words(), width)]
    )


def draw_shares(along: Along, *, colour: bool, width: int) -> tuple[str, TableColumn]:
    """A small curve for each parameter, and its share at a few budgets."""
    rows = along.by_parameter()
    names = name_column([row[0].name for row in rows], width)
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
        columns.insert(
            len(columns) - leave, TableColumn(f"{along.name} {short(along.steps[place].budget)}", cells, leave=leave)
        )
    return draw_columns(columns, width=width, colour=colour), names


def draw_agreement(along: Along, *, colour: bool, width: int) -> str:
    """One line for every budget."""
    steps = along.steps
    costs = [along.cost(step) for step in steps]
    columns = [
        TableColumn(along.name, [short(step.budget) for step in steps], "words"),
        TableColumn("rows", [f"{step.rows:,}" for step in steps]),
        TableColumn("cost", ["" if cost is None else percent(cost) for cost in costs], leave=2),
        TableColumn("first", [along.first(step) or "–" for step in steps], "words", leave=3),
        TableColumn("Spearman", [spearman_in_words(step.agreement) for step in steps]),
        TableColumn("95 % interval", [interval_in_words(step.agreement) for step in steps], leave=1),
        TableColumn("ranking", [along.verdict_in_words(step) for step in steps]),
    ]
    return draw_columns(columns, width=width, colour=colour)


def draw_seeds(seeds: Seeds, *, colour: bool = False, width: int = 100, alone: bool = False) -> str:
    """The seed's part of every variance, and the ceiling that it leaves."""
    leave = {"its interval": 1, "averaged": 2}
    columns = [
        replace(column, kind="number" if i else "name", leave=leave.get(column.title, 0))
        for i, column in enumerate(seeds.printed())
    ]
    table = draw_columns(columns, width=width, colour=colour)
    if alone:
        return table
    return "\n\n".join([fill(f"{seeds.heading()}:", width), table, fill(CEILING, width), fill(seeds.in_words(), width)])
