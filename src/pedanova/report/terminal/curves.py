"""Densities as a small text plot: the target as an area, the region as a line, bars for single values."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import interval, percent, times
from pedanova.base.terminal import CYAN, FAINT, HEIGHTS, PLAIN, TableColumn, printable, shorten, text_table, width_of
from pedanova.measures.bins import Panel, ticks
from pedanova.measures.clear import unclear
from pedanova.measures.densities import Densities, Drawing
from pedanova.measures.importance import NEVER, OF_TRIALS, Importance, is_faint, marked_share
from pedanova.report.terminal.tables import TerminalStyle, fill

HEIGHT = 7  # lines of a plot
WIDEST = 72  # columns of a plot
GUTTER = 6  # columns for the scale on the left
LEAST_TOP = 2.0  # the least height of the axis, so that random differences look small
MOST_NAMES = 20
LINE, CROSSED = "─", "▒"  # the region's line, on the background and on the target's area


def draw_densities(density: Densities, look: TerminalStyle, row: Importance | None = None) -> str:
    """A text plot for each domain of the parameter, followed by its good values."""
    width, colour = look.width, look.colour
    parts = [_title(density, row, width)]
    parts += [fill(f"{note}; only these rows are drawn", width) for note in density.notes]
    words_of = density.words
    if density.missing_region or density.missing_target:
        words_of = (f"{density.words[0]} where active", f"{density.words[1]} where active")
    noise = row is not None and is_faint(row)
    room = max(10, min(WIDEST, width - GUTTER - 1))
    for panel, drawing in zip(density.panels(), density.drawings(room), strict=True):
        if panel.is_curve:
            drawn = _curve(panel, drawing, colour, room, noise=noise)
        else:
            drawn = _bars(panel, drawing, density.words, colour, width)
        words = [] if noise else _good(panel, drawing, words_of, width)
        scale = "log scale" if panel.scale == "log" and panel.is_curve else ""
        kind = ", ".join(part for part in (panel.domain, scale) if part)
        parts += [part for part in (fill(kind, width), drawn, *words) if part]
    return "\n".join(parts)


def _title(density: Densities, row: Importance | None, width: int) -> str:
    if row is None:
        return shorten(density.name, width)
    if not row.varied:
        return fill(f"{density.name}: {NEVER} in these rows; nothing can be said about other values", width)
    noise = f"; {unclear(row.share)}" if row.significant is False else ""
    ends = f" ({interval(row.low, row.high)})" if row.low is not None else ""
    return fill(f"{density.name}: importance {marked_share(row)}{ends}{noise}", width)


def draw_key(words: tuple[str, str], look: TerminalStyle) -> str:
    target, region = (printable(word) for word in words)
    area, line = (f"{ink}{sign}{PLAIN}" if look.colour else sign for ink, sign in ((CYAN, "█"), (FAINT, LINE)))
    key = f"{area} {target}   {line} {region}"
    if len(words[0]) + len(words[1]) + 7 > look.width:
        key = f"{area} {target}\n{line} {region}"
    meaning = (
        "A uniform distribution would have height 1. Values are good where █ is above the line. Where the axis is "
        "thick (━), █ is higher than chance alone would explain (95 %). In bars, ┃ marks how frequent the value is in "
        "the region; ~ means that the bar may differ from ┃ by chance."
    )
    return f"{key}\n{fill(meaning, look.width)}"


def _good(panel: Panel, drawing: Drawing, words: tuple[str, str], width: int) -> list[str]:
    """Text on the ranges of good values, with the percentages of target and region in each range."""
    if not panel.is_curve:
        return []
    words = OF_TRIALS.sub("", words[0]), OF_TRIALS.sub("", words[1])
    parts = "({} of {}, {} of {})"
    before = 0 if panel.bounds is None else int(panel.bounds[0])  # cells of other domains
    more = np.concatenate([np.zeros(before, dtype=bool), drawing.more[drawing.bins.groups]])
    good = panel.good(more)
    ranges = [f"{g.words} {parts.format(percent(g.target), words[0], percent(g.base), words[1])}" for g in good]
    return [fill("Good values: " + "; ".join(ranges), width, "  ")] if ranges else []


def _curve(panel: Panel, drawing: Drawing, colour: bool, room: int, *, noise: bool) -> str:
    """A text plot with the target as an area and the region as a line; single values have equal widths."""
    count = len(drawing)
    columns = room if drawing.bins.edges is not None else count * max(1, room // count)
    widths = np.full(count, 1.0 / count) if drawing.bins.widths is None else drawing.bins.widths
    bins = np.searchsorted(np.cumsum(widths)[:-1], (np.arange(columns) + 0.5) / columns, side="right")
    target, region = ((parts / widths)[bins] for parts in (drawing.target, drawing.region))
    top = max(LEAST_TOP, float(target.max()), float(region.max()))
    lines = []
    for level in range(HEIGHT, 0, -1):
        letters = "".join(_letter(t / top, r / top, level) for t, r in zip(target, region, strict=True))
        mark = f"{top:.1f}" if level == HEIGHT else "1" if level == _level(1.0 / top) else ""
        lines.append(f"{mark:>{GUTTER - 1}} │{_inked(letters, colour)}".rstrip())
    more = np.zeros(columns, dtype=bool) if noise else drawing.more[bins]
    return "\n".join([*lines, *_axis(panel, more)])


def _level(part: float) -> int:
    """The text line for the height `part`; line 1 is at the bottom."""
    return min(HEIGHT, max(1, int(np.ceil(part * HEIGHT - 1e-9))))


def _letter(target: float, region: float, level: int) -> str:
    eighths = round(8 * max(0.0, min(1.0, target * HEIGHT - (level - 1))))
    if region > 0 and _level(region) == level and eighths in (0, 8):
        return LINE if eighths == 0 else CROSSED
    return HEIGHTS[eighths]


def _inked(letters: str, colour: bool) -> str:
    if not colour:
        return letters
    return re.sub(f"{LINE}+|[^{LINE}]+", lambda run: f"{FAINT if run[0][0] == LINE else CYAN}{run[0]}{PLAIN}", letters)


def _axis(panel: Panel, more: NDArray[np.bool_]) -> list[str]:
    """The x axis with ticks and labels, drawn thick where the target exceeds chance."""
    marks = ticks(panel, len(more))
    places = {at for at, _ in marks}
    signs = {(False, False): "─", (True, False): "┴", (False, True): "━", (True, True): "┷"}
    ruler = "".join(signs[i in places, bool(here)] for i, here in enumerate(more))
    labels = [" "] * (len(more) + GUTTER + 8)
    for at, label in marks:
        text = shorten(label, 12)
        start = max(0, at + GUTTER + 1 - width_of(text) // 2)
        labels[start : start + len(text)] = text
    return [f"{'0':>{GUTTER - 1}} └{ruler}", "".join(labels).rstrip()]


def _bars(panel: Panel, drawing: Drawing, words: tuple[str, str], colour: bool, width: int) -> str:
    """A bar for every value, with a mark at the region's fraction; if there are many, only the most frequent."""
    labels = panel.labels
    order = list(range(len(labels)))
    if panel.scale == "names" and len(order) > MOST_NAMES:
        order = sorted(order, key=lambda i: -panel.target[i])[:MOST_NAMES]
    target, region = panel.target[order], panel.region[order]
    top = max(float(panel.target.max()), float(panel.region.max())) or 1.0
    clear = drawing.more | drawing.less
    clear = clear[drawing.bins.groups] if len(drawing) < len(labels) else clear
    parts = zip(target, region, order, strict=True)
    lift = [f"{'' if clear[i] else '~ '}{times(t / r)}" if r > 0 else "" for t, r, i in parts]
    titles = words if width >= 60 and max(map(len, words)) <= 16 else ("target", "region")
    columns = [
        TableColumn("value", [labels[i] for i in order], "name"),
        TableColumn("", kind="bar", parts=list(target / top), marks=list(region / top)),
        TableColumn(titles[0], [percent(part) for part in target]),
        TableColumn(titles[1], [percent(part) for part in region]),
        TableColumn("lift", lift, leave=1),
    ]
    table = text_table(columns, width=min(width, WIDEST), colour=colour)
    left = len(labels) - len(order)
    return table + (f"\n… and {left} more values" if left else "")
