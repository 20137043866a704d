"""Figures of several studies: pooled shares, mean ranks and the map of many; two side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pedanova.base.digits import chance, percent, short
from pedanova.errors import QueryError, UnknownParameterError, unknown_name
from pedanova.measures.bins import Bins, bins_of
from pedanova.measures.densities import Densities, Drawing
from pedanova.measures.studies.across import Pooling
from pedanova.measures.studies.pooling import RankTest, StudyMap
from pedanova.measures.studies.prior import ParameterPrior, SearchPrior
from pedanova.measures.studies.study_difference import Differences
from pedanova.report.figures.draw import (
    NOISE,
    Axes,
    Reals,
    axes_with_ink,
    colours_of,
    name_bars,
    name_ticks,
    panels,
    plain,
    plain_names,
    pyplot,
    title,
    trim,
    with_legend,
)
from pedanova.report.figures.plots import SHOWN
from pedanova.report.figures.spread import DENSITY, LEAST_TOP, name_places
from pedanova.space.comparison import same_cells


@dataclass(frozen=True, slots=True)
class RankLine:
    """One name: its mean rank, whether it stands on the left, and how many steps below the axis."""

    name: str
    rank: float
    left: bool
    step: int


@dataclass(frozen=True, slots=True)
class RankLines:
    """Lines from the axis downwards, and the bars of names that are not told apart."""

    lines: list[RankLine]
    bars: list[tuple[float, float, int]]  # from rank, to rank, in which lane below the axis
    lanes: int


def rank_lines_of(test: RankTest) -> RankLines:
    """The better half of the names on the left, the others on the right, the outermost nearest to the axis."""
    count = len(test.names)
    half = (count + 1) // 2
    lines = [
        RankLine(name, rank, place < half, place if place < half else count - 1 - place)
        for place, (name, rank) in enumerate(zip(test.names, test.ranks, strict=True))
    ]
    bars: list[tuple[float, float, int]] = []
    ends: list[float] = []  # of each lane
    for first, last in test.alike:
        begin, end = test.ranks[first], test.ranks[last]
        lane = next((i for i, taken in enumerate(ends) if taken < begin - 0.05), len(ends))
        ends[lane : lane + 1] = [end]
        bars.append((begin, end, lane))
    return RankLines(lines, bars, len(ends))


MOST_NAMED = 40  # studies on the map that are named; of more, those at its rim
ARROWS = 4  # parameters that the map shows
LANE, RUNG = 0.34, 0.62  # between bars, and between names, in steps of the diagram


@dataclass(frozen=True, slots=True)
class AcrossPlots:
    """Figures of many studies; each takes ``ax=``, and returns the Axes.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> x.plot.importance().get_xlabel()[:5]
    'share'
    """

    _result: Pooling
    _prior: Callable[..., SearchPrior]

    def importance(self, *, ax: Axes = None) -> Axes:
        """Pooled shares with their intervals, and a dot for every study.

        Parameters
        ----------
        ax
            Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn in.
        """
        return draw_pooled(self._result, ax)

    def ranks(self, *, ax: Axes = None) -> Axes:
        """The critical-difference diagram: mean ranks, and bars over names that are not told apart.

        Parameters
        ----------
        ax
            Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn in.

        Raises
        ------
        QueryError
            No two studies share two parameters.
        """
        if self._result.ranks is None:
            raise QueryError("no two studies share two parameters, so there are no mean ranks; the notes say more")
        return draw_ranks(self._result.ranks, ax)

    def map(self, *, ax: Axes = None) -> Axes:
        """Studies by what matters in them; arrows point to where a parameter matters more.

        Parameters
        ----------
        ax
            Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn in.

        Raises
        ------
        QueryError
            No two studies share two parameters.
        """
        if self._result.map is None:
            raise QueryError("no two studies share two parameters, so there is no map; the notes say more")
        odd = {row.study for row in self._result.disagreements.rows}
        return draw_map(self._result.map, odd, ax)

    def prior(self, *, names: Sequence[str] | None = None, **options: Any) -> list[Axes]:
        """Where good values lie over all studies, and in grey in each.

        Parameters
        ----------
        names
            The parameters; None for the most important ones.
        options
            Those of `Across.prior`.

        Returns
        -------
        list of matplotlib.axes.Axes
            One for each parameter.

        Raises
        ------
        QueryError
            `names` is empty, or an option is out of range.
        UnknownParameterError
            No study has a parameter of that name.
        """
        return draw_prior(self._prior(**options), names)


def draw_pooled(pooled: Pooling, ax: Axes | None = None) -> Axes:
    rows = pooled.rows[::-1]
    ax, ink = axes_with_ink(ax, 6.4, 1.3 + 0.36 * len(rows))
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
    shown = plain_names([row.name for row in rows])
    name_bars(ax, [shown[row.name] for row in rows], "share (%)")
    ax.set_xlim(left=min(0.0, *(100 * row.share for row in rows)))
    title(ax, pooled.heading())
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    return ax


def draw_ranks(test: RankTest, ax: Axes | None = None) -> Axes:
    """An axis of ranks, a line from each mean rank to its name, bars over what is not told apart."""
    diagram, count = rank_lines_of(test), len(test.names)
    below = 0.35 + LANE * diagram.lanes
    depth = below + RUNG * ((count + 1) // 2)
    ax, ink = axes_with_ink(ax, 7.2, 1.1 + 0.34 * (depth + 1.4))
    width = max(1.0, count - 1.0)
    edge = 0.06 * width
    ax.plot([1, count], [0, 0], color=ink["ink"], linewidth=1.2, solid_capstyle="butt")
    step = max(1, -(-(count - 1) // 10))
    for rank in range(1, count + 1, step):
        ax.plot([rank, rank], [0, 0.14], color=ink["ink"], linewidth=1.2)
        ax.text(rank, 0.24, str(rank), ha="center", va="bottom", fontsize="small", color=ink["soft"])
    shown = plain_names(list(test.names))
    for line in diagram.lines:
        y = -(below + RUNG * (line.step + 0.3))
        end = 1 - edge if line.left else count + edge
        ax.plot([line.rank, line.rank, end], [0, y, y], color=ink["soft"], linewidth=0.9, solid_joinstyle="miter")
        words = f"{shown[line.name]}  {short(line.rank)}" if line.left else f"{short(line.rank)}  {shown[line.name]}"
        side = {"ha": "right" if line.left else "left", "va": "center", "color": ink["ink"]}
        ax.text(end + (-0.01 if line.left else 0.01) * width, y, words, **side)
    for begin, end, lane in diagram.bars:
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
    title(ax, f"Mean ranks over {test.studies} studies (Friedman p {p if p.startswith('<') else f'= {p}'})")
    return ax


def draw_map(studies: StudyMap, odd: set[str], ax: Axes | None = None) -> Axes:
    ax, ink = axes_with_ink(ax, 6.4, 5.4)
    x, y = studies.places.T
    strange = np.array([name in odd for name in studies.studies])
    ax.axhline(0, color=ink["line"], linewidth=0.8, zorder=0)
    ax.axvline(0, color=ink["line"], linewidth=0.8, zorder=0)
    ax.scatter(x[~strange], y[~strange], s=26, color=ink["target"], alpha=0.75, linewidth=0, label="a study")
    if strange.any():
        ax.scatter(x[strange], y[strange], s=34, color=ink["B"], marker="D", label="disagrees with all others")
    far = np.argsort(-np.linalg.norm(studies.places, axis=1))[: MOST_NAMED // 3]
    few = sorted({*far.tolist(), *np.flatnonzero(strange).tolist()})  # of many studies the odd ones and the furthest
    for i in range(len(x)) if len(x) <= MOST_NAMED else few:
        at = (float(x[i]), float(y[i]))
        style = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": "x-small", "color": ink["soft"]}
        ax.annotate(plain(studies.studies[i], 16), at, **style)
    reach = float(np.abs(studies.places).max()) or 1.0
    heavy = np.argsort(-np.linalg.norm(studies.arrows, axis=1))[:ARROWS]
    shown = plain_names(list(studies.names))
    for j in heavy:
        tip = 0.9 * reach * studies.arrows[j]
        arrow = {"arrowstyle": "-|>", "color": ink["A"], "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tuple(tip), (0, 0), arrowprops=arrow)
        ax.text(*(1.06 * tip), shown[studies.names[j]], color=ink["A"], fontsize="small", ha="center", va="center")
    ax.update_datalim(1.15 * 0.9 * reach * studies.arrows[heavy])  # room for the arrows and their names
    ax.margins(0.12)
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.legend(fontsize="small", frameon=False, loc="best")
    title(ax, f"Studies by what matters in them ({percent(studies.held)} of their distances)")
    return ax


@dataclass(frozen=True, slots=True)
class DifferencePlots:
    """Figures of two studies; each takes ``ax=``, and returns the Axes.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "units"])
    >>> d = pa.difference(a.first(400), a, estimator="counts", draws=0)
    >>> d.plot.importance().get_xlabel()
    'share (%)'
    """

    _result: Differences

    def importance(self, *, ax: Axes = None) -> Axes:
        """The share of every parameter in both studies; grey and ~ where they are not distinguishable.

        Parameters
        ----------
        ax
            Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn in.
        """
        return draw_both(self._result, ax)

    def densities(self, names: str | Sequence[str] | None = None, *, ax: Axes = None) -> Axes:
        """Where the target's values lie in both studies, over one another: one parameter in `ax`, or several.

        Parameters
        ----------
        names
            One parameter or several; None for the most important ones.
        ax
            Axes to draw in, one for each parameter; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes or array of them
            What was drawn in: one, or one for each parameter.

        Raises
        ------
        UnknownParameterError
            The studies share no parameter of that name.
        QueryError
            There are more parameters than Axes in `ax`.
        """
        differences = self._result
        shown = plain_names(list(differences))
        chosen = list(differences)[:SHOWN] if names is None else names
        for name in [chosen] if isinstance(chosen, str) else chosen:
            if name not in shown:
                raise UnknownParameterError(unknown_name(name, tuple(shown)))

        def draw(name: str, one: Axes) -> Axes:
            return draw_over(
                differences.densities[0][name], differences.densities[1][name], differences.names, one, shown[name]
            )

        return with_legend(panels(chosen, ax, draw))


def draw_both(differences: Differences, ax: Axes | None = None) -> Axes:
    rows = differences.rows[::-1]
    ax, ink = axes_with_ink(ax, 6.4, 1.4 + 0.46 * len(rows))
    places = np.arange(len(rows))
    for offset, key, colour, name in (
        (0.19, "share", "A", differences.names[0]),
        (-0.19, "other", "B", differences.names[1]),
    ):
        values = [100 * max(0.0, getattr(row, key)) for row in rows]
        fills = [ink[colour] if row.significant else ink["noise"] for row in rows]
        ax.barh(places + offset, values, 0.34, color=fills, edgecolor=ink[colour], linewidth=1.2)
        ax.barh([0], [0], color=ink[colour], label=plain(name))  # for the legend: bars may be grey
    shown = plain_names([row.name for row in rows])
    name_bars(ax, [f"{'' if row.significant else NOISE}{shown[row.name]}" for row in rows], "share (%)")
    ax.set_xlim(left=0)
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    title(ax, differences.heading())
    return ax


def draw_over(one: Densities, two: Densities, names: tuple[str, str], ax: Axes | None, shown: str) -> Axes:
    """Both targets on one axis, each against its own rows below it."""
    ax, ink = axes_with_ink(ax, 4.8, 3.2)
    first = one.drawn()
    second = two.drawn(like=first) if same_cells(one.parameter, two.parameter) else two.drawn()
    if first.edges is None or second.edges is None:
        _bars(first, second, names, ink, ax)
    else:
        _lines(first, second, names, ink, ax)
    ax.set_xlabel(shown)
    ax.set_ylim(bottom=0)
    trim(ax)
    return ax


def _lines(first: Drawing, second: Drawing, names: tuple[str, str], ink: dict[str, str], ax: Axes) -> None:
    low, high, top = [], [], LEAST_TOP
    for drawing, name, colour in ((first, names[0], "A"), (second, names[1], "B")):
        edges: Reals = drawing.edges if drawing.edges is not None else np.arange(len(drawing) + 1.0)
        heights = drawing.heights(drawing.target)
        ax.stairs(heights, edges, baseline=None, color=ink[colour], linewidth=2, label=plain(name))
        ax.stairs(heights, edges, fill=True, color=ink[colour], alpha=0.14, linewidth=0)
        ax.stairs(
            drawing.heights(drawing.region), edges, baseline=None, color=ink[colour], linewidth=0.9, linestyle=":"
        )
        top = max(top, 1.08 * float(heights.max(initial=0.0)))
        low.append(float(edges[0]))
        high.append(float(edges[-1]))
    name_ticks(ax, min(low), max(high), log=first.log and second.log)
    ax.set_ylabel(DENSITY)
    ax.set_ylim(0, top)


def _bars(first: Drawing, second: Drawing, names: tuple[str, str], ink: dict[str, str], ax: Axes) -> None:
    labels = list(dict.fromkeys([*first.labels, *second.labels]))
    for drawing, name, colour, offset in ((first, names[0], "A", -0.2), (second, names[1], "B", 0.2)):
        places = np.array([labels.index(label) for label in drawing.labels], dtype=float) + offset
        ax.bar(places, 100 * drawing.target, 0.36, color=ink[colour], label=plain(name))
        ax.hlines(100 * drawing.region, places - 0.19, places + 0.19, color=ink["ink"], linewidth=1.3)
    name_places(ax, labels)
    ax.set_xlim(-0.6, len(labels) - 0.4)
    ax.set_ylabel("rows (%)")


MOST_PANELS = 12
COLUMNS = 3


def draw_prior(prior: SearchPrior, names: Sequence[str] | None = None) -> list[Axes]:
    rows = [prior[name] for name in (names if names is not None else list(prior)[:MOST_PANELS])]
    if not rows:
        raise QueryError("names=[] leaves nothing to draw; name at least one parameter")
    columns = min(COLUMNS, len(rows))
    lines = -(-len(rows) // columns)
    size = {"figsize": (3.6 * columns, 2.7 * lines + 0.4), "layout": "constrained", "squeeze": False}
    figure, axes = pyplot().subplots(lines, columns, **size)
    panels = list(axes.flat)
    labels = plain_names([row.name for row in rows])
    for ax, row in zip(panels, rows, strict=False):
        draw_parameter_prior(row, prior.safety, ax)
        ax.set_xlabel(labels[row.name])
    for ax in panels[len(rows) :]:
        ax.remove()
    figure.suptitle(prior.heading().replace("; ", "\n").replace("$", r"\$"), x=0.01, ha="left", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower right", ncols=4, frameon=False)
    return panels[: len(rows)]


def draw_parameter_prior(row: ParameterPrior, safety: float, ax: Axes) -> None:
    """The density that is drawn from, the uniform part included; studies in grey behind it."""
    ink, bins = colours_of(ax), bins_of(row.parameter)
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
        name_ticks(ax, float(edges[0]), float(edges[-1]), log=bins.log, most=5)
    ax.set_ylabel("draws (%)" if bins.widths is None else DENSITY)
    ax.set_ylim(0, 1.08 * max(1.5 * float(uniform.max()), 2.5 * float(prior.max())))
    trim(ax)


def prior_heights(bins: Bins, density: Reals) -> Reals:
    """Per cent of the draws for categories; for ranges a density that is 1 where draws are uniform."""
    gathered = bins.gather(density)
    return 100 * gathered if bins.widths is None else gathered / bins.widths
