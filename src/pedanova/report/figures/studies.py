"""Figures of several studies: pooled shares, mean ranks and priors of many studies, and two studies compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pedanova.base.digits import chance, short
from pedanova.errors import QueryError
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.densities import Densities, Drawing
from pedanova.measures.studies.across import Pooling
from pedanova.measures.studies.pooling import RankTest
from pedanova.measures.studies.prior import ParameterPrior, SearchPrior
from pedanova.measures.studies.study_difference import Differences
from pedanova.report.figures import draw
from pedanova.report.figures.plots import SHOWN
from pedanova.report.figures.spread import DENSITY, LEAST_TOP, name_places
from pedanova.space.comparison import same_cells

LANE, RUNG = 0.34, 0.62  # the distance between bars, and between names, in steps of the diagram


@dataclass(frozen=True, slots=True)
class AcrossPlots:
    """Figures of many studies. Each method returns the Axes that it drew in, or an array of them.

    With ``ax=``, a method draws in these Axes (one for each parameter that it draws); None makes a new figure.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> x.plot.importance().get_xlabel()
    'importance (%)'
    """

    _result: Pooling
    _prior: Callable[..., SearchPrior]

    def importance(self, *, ax: draw.Axes = None) -> draw.Axes:
        """Draw the pooled shares with their intervals, and a dot for every study."""
        return draw_pooled(self._result, ax)

    def ranks(self, *, ax: draw.Axes = None) -> draw.Axes:
        """Draw a critical-difference diagram: mean ranks, and bars over parameters that do not differ clearly.

        Raises
        ------
        QueryError
            No two studies have two parameters in common.
        """
        if self._result.ranks is None:
            raise QueryError("no mean ranks, because they need two studies with two parameters in common (see notes)")
        return draw_ranks(self._result.ranks, ax)

    def prior(self, names: str | Sequence[str] | None = None, *, ax: draw.Axes = None, **options: Any) -> draw.Axes:
        """Draw the density of good values over all studies, and the density of each single study in grey.

        Parameters
        ----------
        names
            One parameter, several, or None for the narrowest.
        options
            The options of `Across.prior`.
        """
        prior = self._prior(**options)

        def paint(name: str, one: draw.Axes, shown: str) -> None:
            draw_prior(prior[name], prior.safety, one, shown)

        return draw.with_legend(draw.panels(list(prior)[:SHOWN] if names is None else names, prior, ax, paint))


def draw_pooled(pooled: Pooling, ax: draw.Axes | None = None) -> draw.Axes:
    rows = pooled.rows[::-1]
    ax, ink = draw.axes_with_ink(ax, 6.4, 1.3 + 0.36 * len(rows))
    places = np.arange(len(rows))
    ax.barh(places, [100 * max(0.0, row.share) for row in rows], color=ink["target"], height=0.62, label="mean")
    for place, row in zip(places, rows, strict=True):
        shares = [100 * answer[row.name].share for answer in pooled.answers.values() if row.name in answer]
        beside = place + 0.22 * (((np.arange(len(shares)) * 0.618) % 1.0) - 0.5) * 2
        style = {"s": 9, "color": ink["ink"], "alpha": 0.35, "linewidth": 0, "zorder": 2}
        ax.scatter(shares, beside, **style, label="a study" if place == 0 else None)
        if row.low is not None and row.high is not None:
            span = [[100 * (row.share - row.low)], [100 * (row.high - row.share)]]
            ax.errorbar(
                [100 * row.share], [place], xerr=np.abs(span), fmt="none", ecolor=ink["B"], elinewidth=2.5, capsize=4,
                zorder=3, label="95 % interval of the mean" if place == 0 else None,
            )  # fmt: skip
    shown = draw.plain_names([row.name for row in rows])
    draw.name_bars(ax, [shown[row.name] for row in rows], "importance (%)")
    ax.set_xlim(left=min(0.0, *(100 * row.share for row in rows)))
    draw.title(ax, pooled.heading())
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    return ax


def rank_bars(test: RankTest) -> list[tuple[float, float, int]]:
    """The bars of a critical-difference diagram: first rank, last rank, and lane (0 is next to the axis)."""
    bars: list[tuple[float, float, int]] = []
    ends: list[float] = []  # the end of each lane
    for first, last in test.alike:
        begin, end = test.ranks[first], test.ranks[last]
        lane = next((i for i, taken in enumerate(ends) if taken < begin - 0.05), len(ends))
        ends[lane : lane + 1] = [end]
        bars.append((begin, end, lane))
    return bars


def draw_ranks(test: RankTest, ax: draw.Axes | None = None) -> draw.Axes:
    """Draw a critical-difference diagram: a line from each mean rank to its name, and bars over similar ranks."""
    bars, count = rank_bars(test), len(test.names)
    half = (count + 1) // 2  # the better half is on the left, and the outermost names are nearest to the axis
    below = 0.35 + LANE * max((lane + 1 for *_, lane in bars), default=0)
    depth = below + RUNG * half
    ax, ink = draw.axes_with_ink(ax, 7.2, 1.1 + 0.34 * (depth + 1.4))
    width = max(1.0, count - 1.0)
    edge = 0.06 * width
    ax.plot([1, count], [0, 0], color=ink["ink"], linewidth=1.2, solid_capstyle="butt")
    step = max(1, -(-(count - 1) // 10))
    for tick in range(1, count + 1, step):
        ax.plot([tick, tick], [0, 0.14], color=ink["ink"], linewidth=1.2)
        ax.text(tick, 0.24, str(tick), ha="center", va="bottom", fontsize="small", color=ink["soft"])
    shown = draw.plain_names(list(test.names))
    for place, (name, rank) in enumerate(zip(test.names, test.ranks, strict=True)):
        left = place < half
        y = -(below + RUNG * ((place if left else count - 1 - place) + 0.3))
        end = 1 - edge if left else count + edge
        ax.plot([rank, rank, end], [0, y, y], color=ink["soft"], linewidth=0.9, solid_joinstyle="miter")
        words = f"{shown[name]}  {short(rank)}" if left else f"{short(rank)}  {shown[name]}"
        side = {"ha": "right" if left else "left", "va": "center", "color": ink["ink"]}
        ax.text(end + (-0.01 if left else 0.01) * width, y, words, **side)
    for begin, end, lane in bars:
        y = -(0.28 + LANE * lane)
        look = {"color": ink["target"], "linewidth": 4, "solid_capstyle": "round"}
        ax.plot([begin - 0.008 * width, end + 0.008 * width], [y, y], **look)
    mark = 0.95
    ends = [1, 1 + min(test.critical, width)]
    ax.plot(ends, [mark, mark], color=ink["ink"], linewidth=1.6, marker="|", markersize=7)
    words = f"critical difference {short(test.critical)}"
    ax.text(ends[0], mark + 0.16, words, fontsize="small", va="bottom", color=ink["soft"])
    ax.set_xlim(1 - 0.42 * width, count + 0.42 * width)
    ax.set_ylim(-(depth + 0.1), mark + 0.7)
    ax.axis("off")
    p = chance(test.p_value)
    draw.title(ax, f"Mean ranks over {test.studies} studies (Friedman p {p if p.startswith('<') else f'= {p}'})")
    return ax


@dataclass(frozen=True, slots=True)
class DifferencePlots:
    """The figures of two studies. Each method returns the Axes that it drew in, or an array of them.

    With ``ax=``, a method draws in these Axes (one for each parameter that it draws); None makes a new figure.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "units"])
    >>> d = pa.difference(a.first(400), a, estimator="counts", draws=0)
    >>> d.plot.importance().get_xlabel()
    'importance (%)'
    """

    _result: Differences

    def importance(self, *, ax: draw.Axes = None) -> draw.Axes:
        """Draw the share of every parameter in both studies; grey and ~ mark shares that do not differ clearly."""
        return draw_both(self._result, ax)

    def densities(self, names: str | Sequence[str] | None = None, *, ax: draw.Axes = None) -> draw.Axes:
        """Draw the densities of the target in both studies, for one parameter or several.

        Parameters
        ----------
        names
            One parameter, several, or None for the most important.
        """
        differences = self._result

        def paint(name: str, one: draw.Axes, shown: str) -> draw.Axes:
            key = differences[name].name  # raises an error for a name that the studies do not share
            first, second = (densities[key] for densities in differences.densities)
            return draw_over(first, second, differences.names, one, shown)

        chosen = list(differences)[:SHOWN] if names is None else names
        return draw.with_legend(draw.panels(chosen, differences, ax, paint))


def draw_both(differences: Differences, ax: draw.Axes | None = None) -> draw.Axes:
    rows = differences.rows[::-1]
    ax, ink = draw.axes_with_ink(ax, 6.4, 1.4 + 0.46 * len(rows))
    places = np.arange(len(rows))
    for offset, key, colour, name in (
        (0.19, "share", "A", differences.names[0]),
        (-0.19, "other", "B", differences.names[1]),
    ):
        values = [100 * max(0.0, getattr(row, key)) for row in rows]
        fills = [ink[colour] if row.significant else ink["noise"] for row in rows]
        ax.barh(places + offset, values, 0.34, color=fills, edgecolor=ink[colour], linewidth=1.2)
        ax.barh([0], [0], color=ink[colour], label=draw.plain(name))  # for the legend, because bars may be grey
    shown = draw.plain_names([row.name for row in rows])
    draw.name_bars(ax, [f"{'' if row.significant else draw.NOISE}{shown[row.name]}" for row in rows], "importance (%)")
    ax.set_xlim(left=0)
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    draw.title(ax, differences.heading())
    return ax


def draw_over(one: Densities, two: Densities, names: tuple[str, str], ax: draw.Axes, shown: str) -> draw.Axes:
    """Draw the densities of target and region for two studies on one axis."""
    ink = draw.colours_of(ax)
    first = one.drawn()
    second = two.drawn(like=first) if same_cells(one.parameter, two.parameter) else two.drawn()
    if first.bins.edges is None or second.bins.edges is None:
        _bars(first, second, names, ink, ax)
    else:
        _lines(first, second, names, ink, ax)
    ax.set_xlabel(shown)
    ax.set_ylim(bottom=0)
    draw.trim(ax)
    return ax


def _lines(first: Drawing, second: Drawing, names: tuple[str, str], ink: dict[str, str], ax: draw.Axes) -> None:
    low, high, top = [], [], LEAST_TOP
    for drawing, name, colour in ((first, names[0], "A"), (second, names[1], "B")):
        edges: draw.Reals = drawing.bins.edges if drawing.bins.edges is not None else np.arange(len(drawing) + 1.0)
        heights = drawing.heights(drawing.target)
        ax.stairs(heights, edges, baseline=None, color=ink[colour], linewidth=2, label=draw.plain(name))
        ax.stairs(heights, edges, fill=True, color=ink[colour], alpha=0.14, linewidth=0)
        ax.stairs(
            drawing.heights(drawing.region), edges, baseline=None, color=ink[colour], linewidth=0.9, linestyle=":"
        )
        top = max(top, 1.08 * float(heights.max(initial=0.0)))
        low.append(float(edges[0]))
        high.append(float(edges[-1]))
    draw.name_ticks(ax, min(low), max(high), log=first.bins.log and second.bins.log)
    ax.set_ylabel(DENSITY)
    ax.set_ylim(0, top)


def _bars(first: Drawing, second: Drawing, names: tuple[str, str], ink: dict[str, str], ax: draw.Axes) -> None:
    labels = list(dict.fromkeys([*first.bins.labels, *second.bins.labels]))
    for drawing, name, colour, offset in ((first, names[0], "A", -0.2), (second, names[1], "B", 0.2)):
        places = np.array([labels.index(label) for label in drawing.bins.labels], dtype=float) + offset
        ax.bar(places, 100 * drawing.target, 0.36, color=ink[colour], label=draw.plain(name))
        ax.hlines(100 * drawing.region, places - 0.19, places + 0.19, color=ink["ink"], linewidth=1.3)
    name_places(ax, labels)
    ax.set_xlim(-0.6, len(labels) - 0.4)
    ax.set_ylabel("rows (%)")


def draw_prior(row: ParameterPrior, safety: float, ax: draw.Axes, shown: str) -> None:
    """Draw the density from which `sample` draws, and the density of each study in grey."""
    ink, bins = draw.colours_of(ax), bins_of(row.parameter)
    studies = [prior_heights(bins, row.uniform * lift) for lift in row.lifts]
    prior, uniform = prior_heights(bins, row.mixed(safety)), prior_heights(bins, row.uniform)
    grey = {"color": ink["soft"], "linewidth": 0.8, "alpha": max(0.12, min(0.7, 4 / len(studies)))}
    edges = np.arange(len(bins) + 1) - 0.5 if bins.edges is None else bins.edges
    for number, line in enumerate(studies):
        ax.stairs(line, edges, baseline=None, **grey, label="a study" if number == 0 else None)
    ax.stairs(uniform, edges, baseline=None, color=ink["uniform"], linestyle=":", linewidth=1.2, label="uniform")
    ax.stairs(prior, edges, baseline=0, fill=True, color=ink["target"], alpha=0.2, linewidth=0)
    ax.stairs(prior, edges, baseline=None, color=ink["target"], linewidth=2.2, label="prior")
    if bins.edges is None:
        name_places(ax, bins.labels)
    else:
        draw.name_ticks(ax, float(edges[0]), float(edges[-1]), log=bins.log, most=5)
    ax.set_xlabel(shown)
    ax.set_ylabel("draws (%)" if bins.widths is None else DENSITY)
    ax.set_ylim(0, 1.08 * max(1.5 * float(uniform.max()), 2.5 * float(prior.max())))
    draw.trim(ax)


def prior_heights(bins: Bins, density: draw.Reals) -> draw.Reals:
    """The heights to draw: percentages for categories; for ranges, the density divided by a uniform density."""
    gathered = bins.gather(density)
    return 100 * gathered if bins.widths is None else gathered / bins.widths
