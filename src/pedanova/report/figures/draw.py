"""Figures with matplotlib: every function takes a result and an Axes, draws, and returns the Axes.

Figures use the colours of the page (`report/palette.py`) for a light or dark background, and do not set fonts.
Parameters without a clear effect are grey and marked with ~. This file has the figures of rankings, and helper
functions for all figures.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import short
from pedanova.base.names import short_names
from pedanova.base.terminal import shorten
from pedanova.counting.goal_plane import Tradeoff
from pedanova.errors import QueryError, missing_library
from pedanova.measures.advice.gains import Amount, Gain, Gains
from pedanova.measures.bins import round_values
from pedanova.measures.clear import beats_chance
from pedanova.measures.densities import PairDensity
from pedanova.measures.importance import NEVER, Importance, Importances, is_faint
from pedanova.measures.interactions import Interactions
from pedanova.measures.questions.ask import Profile
from pedanova.measures.studies.budgets import Along
from pedanova.report.names import NO_NESTING, Nesting
from pedanova.report.palette import DARK, LIFTS, LIGHT, ink_on, lift_colour, luminance, mixed

LONGEST = 28  # characters of a value or a title
MOST_NAMED = 12  # bands that the legend names
SHADES = 8  # shades of bands
NOISE = "~ "
Axes: TypeAlias = Any
Reals: TypeAlias = NDArray[np.float64]


def pyplot() -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise missing_library("figures need matplotlib", "plot") from None
    return plt


def axes_with_ink(ax: Axes | None, width: float, height: float) -> tuple[Axes, dict[str, str]]:
    """Return `ax`, or new Axes if `ax` is None, and the colours for the background."""
    ax = ax if ax is not None else pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return ax, colours_of(ax)


def is_dark(ax: Axes) -> bool:
    from matplotlib.colors import to_rgba

    *parts, alpha = to_rgba(ax.get_facecolor())  # a transparent background is treated as white
    return luminance("#" + "".join(f"{round(255 * (1 - alpha + alpha * part)):02x}" for part in parts)) < 0.2


def colours_of(ax: Axes) -> dict[str, str]:
    return DARK if is_dark(ax) else LIGHT


def plain(text: object, longest: int = LONGEST) -> str:
    """Shorten a name for a figure, and escape $ so that matplotlib does not read a formula."""
    return shorten(str(text), longest).replace("$", r"\$")


def plain_names(names: Sequence[str]) -> dict[str, str]:
    return {name: form.replace("$", r"\$") for name, form in short_names(names, LONGEST).items()}


PER_INCH, SMALL_PER_INCH = 13, 15  # characters of a title and of a legend
HANDLE = 9  # characters in the room of a legend's symbol


def title(ax: Axes, words: str) -> None:
    """Set the title of the Axes; a long title is wrapped, so that it is not cut off."""
    half = words.find(" from ") if len(words) > 60 else -1
    lines = [words] if half < 0 else [words[:half], words[half + 1 :]]
    widest = max(24, int(PER_INCH * ax.figure.get_figwidth() * ax.get_position().width))
    text = "\n".join(line for part in lines for line in textwrap.wrap(part, widest))
    ax.set_title(text.replace("$", r"\$"), loc="left", fontsize="medium")


def trim(ax: Axes) -> None:
    """Hide the upper and the right side of the Axes' frame."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def name_bars(ax: Axes, labels: Sequence[str], words: str) -> None:
    """Label horizontal bars from the bottom up with `labels`, and the x axis with `words`."""
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    ax.set_xlabel(words)
    trim(ax)


def name_ticks(ax: Axes, low: float, high: float, *, log: bool, most: int = 6) -> None:
    """Put a few round numbers in plain digits along the x axis."""
    ax.set_xscale("log" if log else "linear")
    ax.set_xlim(low, high)
    values = round_values(low, high, log=log, most=most)
    ax.set_xticks(values, [short(value) for value in values], minor=False)
    ax.minorticks_off()


MANY = 12  # from this many panels on, there are more in a row
CHANCE = "by chance alone (95 %)"


def with_legend(axes: Axes) -> Axes:
    """Add one legend for all panels: below the panels of a new figure, or in the first of the given Axes."""
    first = np.ravel(axes)[0]
    by_label: dict[str, Any] = {}
    for one in np.ravel(axes):
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            by_label.setdefault(label, handle)
    labels = sorted(by_label, key=lambda label: label == CHANCE)
    handles = [by_label[label] for label in labels]
    look = {"fontsize": "small", "frameon": False}
    below = len(first.figure.axes) > 1 and first.figure.get_layout_engine() is not None
    room = int(SMALL_PER_INCH * first.figure.get_figwidth())  # characters in a line
    labels = [textwrap.fill(label, max(32, room - HANDLE if below else room // 2)) for label in labels]
    widths = [max(map(len, label.splitlines())) + HANDLE for label in labels]
    if below:
        columns = len(labels) if sum(widths) <= room else max(1, room // max(widths))
        first.figure.legend(handles, labels, loc="outside lower center", ncols=columns, **look)
    else:
        first.legend(handles, labels, **look)
    return axes


def panels(
    names: str | Sequence[str], every: Iterable[str], ax: Axes, draw: Callable[[str, Axes, str], object]
) -> Axes:
    """Draw one panel for each name; returns an array of Axes, or one Axes if there is a single panel.

    `draw` gets the name, the Axes, and a short form of the name that is unique among `every`.
    """
    chosen = [names] if isinstance(names, str) else list(names)
    columns = min(3 if len(chosen) <= MANY else 5, len(chosen))
    rows = -(-len(chosen) // columns)
    if ax is None:
        size = {"figsize": (3.6 * columns, 2.9 * rows), "layout": "constrained", "squeeze": False}
        axes = pyplot().subplots(rows, columns, **size)[1]
        for spare in axes.flat[len(chosen) :]:
            spare.set_visible(False)
    else:
        axes = np.atleast_1d(np.array(ax, dtype=object))
    if axes.size < len(chosen):
        words = f"ax= has {axes.size} Axes for {len(chosen)} parameters; name fewer parameters, or give more Axes"
        raise QueryError(words)
    shown = plain_names(list(every))
    for name, one in zip(chosen, axes.flat, strict=False):
        draw(name, one, shown.get(name, plain(name)))
    return axes.flat[0] if len(chosen) == 1 else axes


def draw_importances(
    importances: Importances,
    ax: Axes | None = None,
    *,
    metric: str = "share",
    nesting: Nesting = NO_NESTING,
    names: Sequence[str] | None = None,
) -> Axes:
    """Draw bars with intervals, in the order of `names` (default: largest on top); grey and ~ mean no clear effect."""
    if metric not in ("share", "ratio"):
        raise QueryError(f"metric={metric!r} must be 'share' or 'ratio'")
    names = nesting.order(names or list(importances))[::-1]
    rows = [importances[name] for name in names]
    ax, ink = axes_with_ink(ax, 6.4, 1.2 + 0.3 * len(rows))
    values = [100 * max(0.0, getattr(row, metric)) for row in rows]
    fills = [ink["noise"] if is_faint(row) else ink["target"] for row in rows]
    ends = None
    if metric == "share" and any(row.low is not None for row in rows):
        ends = [(100 * (row.low or 0.0), 100 * (row.high or 0.0)) for row in rows]
    shown = plain_names(names)
    labels = [row_label(row, shown[row.name], nesting) for row in rows]
    draw_bars(ax, values, fills, labels, f"{'importance' if metric == 'share' else metric} (%)", ends)
    title(ax, importances.heading())
    return ax


def draw_bars(
    ax: Axes,
    values: Sequence[float],
    fills: Sequence[str],
    labels: Sequence[str],
    words: str,
    ends: Sequence[tuple[float, float]] | None = None,
) -> None:
    """Draw horizontal bars from the bottom up, each with the interval in `ends`; `words` is the label of the x axis."""
    places = np.arange(len(values))
    ax.barh(places, values, color=fills, height=0.7)
    if ends is not None:
        spans = np.abs(np.array(ends) - np.reshape(values, (-1, 1))).T
        ax.errorbar(values, places, xerr=spans, fmt="none", ecolor=colours_of(ax)["ink"], elinewidth=1, capsize=2)
    name_bars(ax, labels, words)
    ax.set_xlim(left=0)


def row_label(row: Importance, shown: str, nesting: Nesting) -> str:
    """The label of a bar, such as "└ gamma (active in 30 %)" for a conditional parameter."""
    hook = "└ " if nesting.depth(row.name) else ""
    notes = [nesting.note(row.name), "" if row.varied else NEVER]
    behind = ", ".join(note for note in notes if note)
    noise = NOISE if row.significant is False else ""
    return f"{hook}{noise}{shown}" + (f" ({behind})" if behind else "")


def draw_profile(profile: Profile, ax: Axes | None = None) -> Axes:
    """Draw stacked bands of ratios over the target's quantile, with the strictest target on the left."""
    if not profile.steps:
        raise QueryError("no target has enough rows in this region; choose a wider region")
    ax, ink = axes_with_ink(ax, 6.4, 4.0)
    quantiles = [100 * float(step.quantile) for step in profile.steps]
    names = [row.name for row in profile.steps[-1].rows]
    ratios = [{row.name: 100 * row.ratio for row in step.rows} for step in profile.steps]
    steps_down = max(1, min(SHADES, len(names)) - 1)  # the first bands differ most, the last share one shade
    shades = [mixed(ink["target"], ink["card"], min(1.0, place / steps_down)) for place in range(len(names))]
    bands = [[step[name] for step in ratios] for name in names]
    shown = plain_names(names)
    labels = [shown[name] for name in names]
    ax.stackplot(quantiles, bands, colors=shades, labels=labels, edgecolor=ink["soft"], linewidth=0.6)
    ax.set_xscale("log")
    ax.set_xlim(quantiles[0], quantiles[-1])
    ticks = [q for q in (0.1, 0.3, 1, 3, 10, 30, 100) if quantiles[0] <= q <= quantiles[-1]]
    ax.set_xticks(ticks, [short(tick) for tick in ticks], minor=False)
    ax.minorticks_off()
    ax.set_xlabel("target: the best … % of all rows")
    ax.set_ylim(0, 100)
    ax.set_ylabel("ratio (%)")
    handles, labels = ax.get_legend_handles_labels()
    few = slice(MOST_NAMED - 1, None, -1)
    ax.legend(handles[few], labels[few], loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    return ax


LINES = 4  # lines that are drawn in colour and with a name
STYLES = (("target", "o", "-"), ("A", "s", "--"), ("B", "^", "-."), ("ink", "D", ":"))
LOG_SPAN = 8.0  # budgets with a larger range are drawn on a log scale
WIDEST = 78  # characters of the title


def draw_along(along: Along, ax: Axes | None = None) -> Axes:
    """Draw shares with their 95 % intervals over the budget; parameters that matter less are grey."""
    ax, ink = axes_with_ink(ax, 7.2, 4.2)
    budgets, shown = [step.budget for step in along.steps], plain_names(list(along.full.importances))
    rows = sorted(along.by_parameter(), key=lambda row: -max(one.share for one in row))
    named = [row for row in rows if any(beats_chance(one) for one in row)][:LINES]
    for row in (row for row in rows if row not in named):
        ax.plot(budgets, shares(row), color=ink["noise"], linewidth=0.9, zorder=1)
    for row, (colour, marker, line) in zip(named, STYLES, strict=False):
        low, high = (np.array([100 * (getattr(one, end) or 0.0) for one in row]) for end in ("low", "high"))
        if row[0].low is not None:
            ax.fill_between(budgets, low, high, color=ink[colour], alpha=0.15, linewidth=0)
        style = {"color": ink[colour], "marker": marker, "linestyle": line, "label": shown[row[0].name]}
        ax.plot(budgets, shares(row), **style, markersize=4, zorder=3)
    ax.set_ylim(bottom=0)
    if named:
        ax.legend(fontsize="small", frameon=False)
    if along.since is not None:
        ax.axvline(along.since, color=ink["soft"], linestyle="--", linewidth=1, zorder=2)
        words = f" the ranking stays the same from {short(along.since)} on"
        ax.annotate(words, (along.since, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize="small")
    if budgets[0] > 0 and budgets[-1] / budgets[0] > LOG_SPAN:
        ax.set_xscale("log")
    ax.set_xticks(budgets, [short(budget) for budget in budgets], minor=False, fontsize="small")
    ax.minorticks_off()
    ax.set_xlabel(along.name.replace("$", r"\$"))
    ax.set_ylabel("importance (%)")
    ax.set_title("\n".join(textwrap.wrap(along.summary(), WIDEST)).replace("$", r"\$"), loc="left", fontsize="small")
    trim(ax)
    return ax


def shares(row: list[Importance]) -> list[float]:
    return [100 * max(0.0, one.share) for one in row]


# --- two parameters or two objectives -----------------------------------------------------------------

LISTED = 15  # pairs that are drawn
LEAST_PERCENT = 10.0  # the axis ends at this percentage of the variance or above
ENOUGH = 5.0  # the fewest expected rows in a cell that is not hatched
FADED = 0.65  # part of the background colour in cells within chance
TIMES = {0.25: "≤ ¼", 0.5: "½", 1.0: "1", 2.0: "2", 4.0: "≥ 4"}


def draw_interactions(interactions: Interactions, ax: Axes | None = None) -> Axes:
    """Draw the strongest pairs as bars; ~ marks pairs without a clear interaction."""
    rows = interactions.rows[:LISTED][::-1]
    ax, ink = axes_with_ink(ax, 6.4, 1.2 + 0.28 * len(rows))
    shown = plain_names(list(dict.fromkeys(name for pair in interactions for name in pair)))
    values = [100 * max(0.0, row.interaction) for row in rows]
    fills = [ink["target"] if row.significant else ink["noise"] for row in rows]
    labels = [f"{'' if row.significant else NOISE}{shown[row.first]} × {shown[row.second]}" for row in rows]
    known = [(row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    ends = [(100 * low, 100 * high) for low, high in known] if len(known) == len(rows) else None
    draw_bars(ax, values, fills, labels, "interaction (% of the variance)", ends)
    ax.set_xlim(0, max(LEAST_PERCENT, 1.05 * max([*values, *(high for _, high in ends or ())], default=0.0)))
    left = len(interactions.rows) - len(rows)
    more = f"; {left:,} weaker {'pair is' if left == 1 else 'pairs are'} not shown" if left else ""
    ax.set_title(f"{NOISE}no clear effect{more}", loc="left", fontsize="medium")
    return ax


def draw_pair(plane: PairDensity, ax: Axes | None = None) -> Axes:
    """Draw a map of lifts: how frequent the target is in each cell, relative to the whole region.

    The text "3 / 10" in a cell means that 3 of its 10 rows are in the target. Colours end at ¼ and 4 times the mean.
    Pale cells may differ from the mean by chance. In hatched cells, fewer than five target rows are expected.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm
    from matplotlib.patches import Rectangle

    rows, columns = plane.target.shape
    ax, ink = axes_with_ink(ax, 2.4 + 0.62 * rows, max(3.0, 1.6 + 0.42 * columns))
    dark = is_dark(ax)
    lift, expected, significant = plane.lift, plane.expected, plane.significant
    for i in range(rows):
        for j in range(columns):
            if not plane.region[i, j]:
                continue
            fill = lift_colour(float(lift[i, j]), dark=dark)
            fill = fill if significant[i, j] else mixed(fill, ink["ground"], FADED)
            sparse = "////" if expected[i, j] < ENOUGH else None
            edge = mixed(fill, ink["ink"], 0.18)
            cell = Rectangle((i - 0.5, j - 0.5), 1, 1, facecolor=fill, edgecolor=edge, hatch=sparse, linewidth=0.8)
            ax.add_patch(cell)
            words = f"{plane.target[i, j]:,}/{plane.region[i, j]:,}"
            paper = {"facecolor": fill, "edgecolor": "none", "pad": 0.6}
            ax.text(i, j, words, ha="center", va="center", fontsize="x-small", color=ink_on(fill), bbox=paper)
    shown = plain_names([plane.first, plane.second])
    ax.set_xticks(range(rows), [plain(cell) for cell in plane.first_cells], rotation=45, ha="right")
    ax.set_yticks(range(columns), [plain(cell) for cell in plane.second_cells])
    ax.set_xlim(-0.5, rows - 0.5)
    ax.set_ylim(-0.5, columns - 0.5)
    ax.tick_params(length=0)
    ax.set_xlabel(shown[plane.first])
    ax.set_ylabel(shown[plane.second])
    stops = np.geomspace(LIFTS[0], LIFTS[-1], 128)
    scale = ListedColormap([lift_colour(float(one), dark=dark) for one in stops])
    mappable = ScalarMappable(LogNorm(LIFTS[0], LIFTS[-1]), scale)
    bar = ax.figure.colorbar(mappable, ax=ax, label="times as often", shrink=0.9)
    bar.set_ticks(list(TIMES), labels=list(TIMES.values()))
    bar.ax.minorticks_off()
    ax.set_title("target rows / all rows in each cell", loc="left", fontsize="small", color=ink["soft"])
    return ax


ARROWS = {"minimize": "↓", "maximize": "↑"}


def draw_tradeoff(tradeoff: Tradeoff, ax: Axes) -> Axes:
    """Draw a scatter plot of two objectives: filled dots are rows in the target, a line is the Pareto front."""
    ink = colours_of(ax)
    others, inside = tradeoff.values[~tradeoff.target], tradeoff.values[tradeoff.target]
    open_marks = {"s": 14, "facecolors": "none", "edgecolors": ink["region"], "linewidths": 0.7}
    ax.scatter(*others.T, **open_marks, label=f"others ({len(others):,})")
    ax.scatter(*inside.T, s=18, color=ink["target"], linewidths=0, label=f"{tradeoff.words} ({len(inside):,})")
    front = tradeoff.values[tradeoff.front]
    front = front[np.lexsort((front[:, 1], front[:, 0]))]
    corner = "steps-post" if tradeoff.directions[0] == "minimize" else "steps-pre"  # rows behind the line are dominated
    ax.plot(*front.T, color=ink["ink"], linewidth=1.2, drawstyle=corner, label=f"front ({len(front):,})")
    for set_label, name, way in zip((ax.set_xlabel, ax.set_ylabel), tradeoff.names, tradeoff.directions, strict=True):
        set_label(f"{plain(name)} {ARROWS.get(way, '')}")
    ax.legend(fontsize="small")
    trim(ax)
    return ax


def draw_objectives(tradeoff: Tradeoff, answers: Mapping[str, Importances]) -> Axes:
    """Draw a scatter plot of two objectives, and one panel with shares for each entry of `answers`."""
    names, many = list(next(iter(answers.values()))), len(answers)
    size = (5.0 + 2.6 * many, max(3.8, 1.2 + 0.3 * len(names)))
    ratios = {"width_ratios": [2.2, *[1.0] * many]}
    axes = pyplot().subplots(1, 1 + many, figsize=size, layout="constrained", gridspec_kw=ratios)[1]
    draw_tradeoff(tradeoff, axes[0])
    top = 105 * max(0.01, *(row.high or row.share for answer in answers.values() for row in answer.rows))
    for ax, (question, importances) in zip(axes[1:], answers.items(), strict=True):
        draw_importances(importances, ax, names=names)
        ax.set_xlim(0, top)
        ax.set_title(plain(question), loc="left", fontsize="medium")
    return axes


def draw_gains(gains: Gains, ax: Axes | None = None) -> Axes:
    """Draw bars with intervals for the gain of tuning each parameter alone, and all together.

    Grey bars mark parameters that may stay at their defaults.
    """
    rows = gains.rows[::-1]
    amounts: list[Amount | Gain] = [gains.total, *rows]
    ax, ink = axes_with_ink(ax, 6.4, 1.4 + 0.3 * len(amounts))
    fills = [ink["region"], *(ink["noise"] if row.verdict == "safe" else ink["target"] for row in rows)]
    shown = plain_names([row.name for row in rows])
    labels = ["all together", *(f"{shown[row.name]}{' (safe)' if row.verdict == 'safe' else ''}" for row in rows)]
    ends = [(one.low, one.high) for one in amounts]
    draw_bars(ax, [one.gain for one in amounts], fills, labels, f"gain in {gains.objective}", ends)
    title(ax, gains.heading())
    return ax
