"""Drawings of the page of many studies, as SVG: attributes for places, classes for colours, names as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.base.terminal import printable
from pedanova.measures.importance import Importance
from pedanova.measures.panels import round_values
from pedanova.measures.studies.across import PooledShare, Pooling, interval_in_words
from pedanova.measures.studies.ranks import RankTest
from pedanova.measures.studies.studies import StudyRow
from pedanova.report.names import short_names
from pedanova.report.rank_lines import rank_lines_of

WIDE, MAP = 760, 560  # pixels
LEFT, RIGHT, LINE = 190, 150, 30  # of the ranking
LONGEST = 26  # letters of a name
BAR, CELL, COLUMNS = 74, 136, 12  # of studies side by side, as in groups.js
GOLDEN = 0.618
ARROWS = 5


def svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    inside = "".join(parts)
    return (
        f"<svg viewBox='0 0 {width:g} {height:g}' width='{width:g}' height='{height:g}' role='img' "
        f"aria-label='{escape(title, quote=True)}'>{inside}</svg>"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start", full: str | None = None) -> str:
    """Words at a place; `full` is what a mouse that rests on them is told."""
    told = f"<title>{escape(printable(full))}</title>" if full is not None else ""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' class='{kind}' text-anchor='{anchor}'>{told}{escape(printable(words))}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' class='{kind}'/>"


def dot(x: float, y: float, radius: float, kind: str, told: str) -> str:
    title = f"<title>{escape(printable(told))}</title>"
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:g}' class='{kind}'>{title}</circle>"


def draw_ranking(found: Pooling) -> str:
    """A bar, an interval, and a dot for every study, by parameter."""
    shares = {row.name: {s: a[row.name].share for s, a in found.answers.items() if row.name in a} for row in found.rows}
    every = [share for some in shares.values() for share in some.values()]
    ends = [row.high for row in found.rows if row.high is not None]
    low, high = min(0.0, *every), max([0.01, *every, *ends])
    room = WIDE - LEFT - RIGHT

    def x(share: float) -> float:
        return LEFT + room * (share - low) / (high - low)

    height = LINE * len(found.rows) + 34
    parts = []
    for value in round_values(100 * low, 100 * high, log=False, most=6):
        at = x(value / 100)
        parts += [line(at, 0, at, height - 24, "grid"), text(at, height - 8, f"{short(value)} %", "soft", "middle")]
    names = short_names([row.name for row in found.rows], LONGEST)
    for place, row in enumerate(found.rows):
        middle = LINE * (place + 0.5)
        parts.append(text(LEFT - 10, middle + 4, names[row.name], "name", "end", full=row.name))
        start, stop = sorted((x(0.0), x(row.share)))
        parts.append(f"<rect x='{start:.1f}' y='{middle - 8:.1f}' width='{stop - start:.1f}' height='16' class='bar'/>")
        for i, (study, share) in enumerate(shares[row.name].items()):
            beside = middle + 12 * (((i * GOLDEN) % 1.0) - 0.5)
            parts.append(dot(x(share), beside, 2.2, "dot", f"{study}: {percent(share)}"))
        if row.low is not None and row.high is not None:
            parts += [line(x(row.low), middle, x(row.high), middle, "interval")]
            parts += [line(x(end), middle - 5, x(end), middle + 5, "interval") for end in (row.low, row.high)]
        words = f"{percent(row.share)}  ({interval_in_words(row)})"
        parts.append(
            text(WIDE - RIGHT + 12, middle + 4, words, "name", full=f"between studies ± {percent(row.spread)}")
        )
    return svg(WIDE, height, "Pooled shares with their intervals", parts)


def draw_side_by_side(found: Pooling, studies: Sequence[StudyRow]) -> str:
    """A line for all studies and one for each of these, a column for each parameter: as the live page draws them."""
    columns = found.rows[:COLUMNS]
    answers = [found.answers[row.name] for row in studies]
    ends = [one.high if one.high is not None else one.share for answer in answers for one in answer.rows]
    top = max([0.05, *ends, *(row.high if row.high is not None else row.share for row in columns)])
    names = short_names([row.name for row in columns], LONGEST)
    heads = ["study", "rows", *(names[row.name] for row in columns), "agreement"]
    pooled = "".join(f"<td>{bar_cell(row, top, f'{row.name} over all studies')}</td>" for row in columns)
    lines = [f"<tr class='groups-all'><th scope='row'>all studies</th><td></td>{pooled}<td></td></tr>"]
    for row, answer in zip(studies, answers, strict=True):
        cells = "".join(study_cell(row, answer.get(one.name), one.name, top) for one in columns)
        odd = "<span class='groups-odd'> ◆</span>" if row.differs else ""
        agreement = "" if row.agreement is None else f"{row.agreement:.2f}".replace("-", "−")
        begin = f"<th scope='row'>{escape(printable(row.name))}{odd}</th><td class='number'>{row.n_region:,}</td>"
        lines.append(f"<tr>{begin}{cells}<td class='number'>{agreement}</td></tr>")
    top_line = "".join(f"<th scope='col'>{escape(printable(head))}</th>" for head in heads)
    return (
        f"<div class='scroll' tabindex='0'><table class='groups-table'><thead><tr>{top_line}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def study_cell(study: StudyRow, row: Importance | None, name: str, top: float) -> str:
    if row is None or not row.varied:
        return "<td>–</td>"
    differs = name in study.differs
    kind = " class='groups-differs'" if differs else ""
    return f"<td{kind}>{bar_cell(row, top, f'{name} in {study.name}', differs=differs)}</td>"


def bar_cell(row: PooledShare | Importance, top: float, what: str, *, differs: bool = False) -> str:
    """A share as a bar, its interval as a line, its number behind."""

    def at(share: float) -> float:
        return BAR * min(top, max(0.0, share)) / top

    noise = " noise" if getattr(row, "significant", None) is False else ""
    parts = [f"<rect class='bar{noise}' x='0' y='5' width='{at(row.share):.1f}' height='12'/>"]
    told = f"{what}: {percent(row.share)}"
    if row.low is not None and row.high is not None:
        parts.append(line(at(row.low), 11, at(row.high), 11, "interval"))
        told += f", 95 % interval {percent(row.low)} to {percent(row.high)}"
    parts.append(text(BAR + 6, 15, f"{percent(max(0.0, row.share))}{' ◆' if differs else ''}", full=told))
    drawn = svg(CELL, 22, printable(told), parts)
    return drawn.replace("<svg ", "<svg class='groups-cell' ", 1)


def draw_ranks(test: RankTest) -> str:
    """The critical-difference diagram."""
    ladder = rank_lines_of(test)
    left, right, top = 220, WIDE - 220, 60
    span = max(1, ladder.high - ladder.low)

    def x(rank: float) -> float:
        return left + (right - left) * (rank - ladder.low) / span

    below = top + 16 + 12 * ladder.lanes
    height = below + 24 * ladder.steps + 8
    parts = [line(x(ladder.low), top, x(ladder.high), top, "axis")]
    step = max(1, -(-span // 10))
    for rank in range(ladder.low, ladder.high + 1, step):
        parts += [line(x(rank), top - 6, x(rank), top, "axis"), text(x(rank), top - 10, str(rank), "soft", "middle")]
    end = x(ladder.low) + (right - left) * min(1.0, test.critical / span)
    parts += [line(x(ladder.low), 22, end, 22, "axis")]
    parts += [line(at, 17, at, 27, "axis") for at in (x(ladder.low), end)]
    parts.append(text(x(ladder.low), 12, f"critical difference {short(test.critical)}", "soft"))
    names = short_names(list(test.names), LONGEST)
    for rung in ladder.rungs:
        y = below + 24 * (rung.step + 0.5)
        side = left - 20 if rung.left else right + 20
        path = f"M{x(rung.rank):.1f} {top}V{y:.1f}H{side}"
        parts.append(f"<path d='{path}' class='rung'/>")
        mean, name = short(rung.rank), names[rung.name]
        words, anchor = (f"{name}  {mean}", "end") if rung.left else (f"{mean}  {name}", "start")
        parts.append(text(side + (-6 if rung.left else 6), y + 4, words, "name", anchor, full=rung.name))
    for begin, stop, lane in ladder.bars:
        y = top + 12 + 12 * lane
        parts.append(line(x(begin) - 4, y, x(stop) + 4, y, "alike"))
    return svg(WIDE, height, "Mean ranks and which of them are not told apart", parts)


def draw_map(found: Pooling) -> str:
    """Studies on a plane; a mouse that rests on one is told what matters there."""
    plane = found.map
    if plane is None:
        return ""
    odd = {row.study for row in found.disagreements.rows}
    reach = float(np.abs(plane.places).max()) or 1.0
    centre, scale = MAP / 2, (MAP / 2 - 60) / reach
    heights = [*np.abs(plane.places[:, 1]) * scale, *0.9 * reach * scale * np.abs(plane.arrows[:, 1])]
    middle = 40.0 + max(40.0, *heights)
    parts = [line(0, middle, MAP, middle, "grid"), line(centre, 0, centre, 2 * middle, "grid")]
    heavy = np.argsort(-np.linalg.norm(plane.arrows, axis=1))[:ARROWS]
    names = short_names(list(plane.names), LONGEST)
    for j in heavy.tolist():
        dx, dy = (0.9 * reach * scale * plane.arrows[j]).tolist()
        parts.append(line(centre, middle, centre + dx, middle - dy, "arrow"))
        at = centre + 1.08 * dx, middle - 1.08 * dy + 4
        parts.append(text(*at, names[plane.names[j]], "arrow-name", "middle", full=plane.names[j]))
    for study, (px, py) in zip(plane.studies, plane.places.tolist(), strict=True):
        leading = ", ".join(f"{name} {percent(share)}" for name, share in found.studies[study].leading)
        kind = "odd" if study in odd else "study"
        parts.append(dot(centre + px * scale, middle - py * scale, 4.5, kind, f"{study}: {leading}"))
        if len(plane.studies) <= 30 or study in odd:
            label = study if len(study) <= LONGEST else f"{study[:LONGEST]}…"
            parts.append(text(centre + px * scale + 7, middle - py * scale - 5, label, "soft tiny", full=study))
    return svg(MAP, 2 * middle, "Map of studies", parts)
