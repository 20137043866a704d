"""Figures of many studies: pooled shares, the critical-difference diagram, the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pedanova.base.digits import chance, percent, short
from pedanova.errors import QueryError
from pedanova.measures.studies.across import Pooling
from pedanova.measures.studies.pooling import RankTest, StudyMap
from pedanova.measures.studies.prior import prior_of
from pedanova.report.figures.draw import Axes, colours_of, new_axes, plain, plain_names, title, trim
from pedanova.report.figures.priors import draw_prior
from pedanova.report.rank_lines import rank_lines_of

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

    _found: Pooling

    def importance(self, *, ax: Axes = None) -> Axes:
        """Pooled shares with their intervals, and a dot for every study.

        Parameters
        ----------
        ax
            Where to; None for new ones.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        return draw_pooled(self._found, ax)

    def ranks(self, *, ax: Axes = None) -> Axes:
        """The critical-difference diagram: mean ranks, and bars over names that are not told apart.

        Parameters
        ----------
        ax
            Where to; None for new ones.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        Raises
        ------
        QueryError
            No two studies share two parameters.
        """
        if self._found.ranks is None:
            raise QueryError("no two studies share two parameters, so there are no mean ranks; the notes say more")
        return draw_ranks(self._found.ranks, ax)

    def map(self, *, ax: Axes = None) -> Axes:
        """Studies by what matters in them; arrows point to where a parameter matters more.

        Parameters
        ----------
        ax
            Where to; None for new ones.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        Raises
        ------
        QueryError
            No two studies share two parameters.
        """
        if self._found.map is None:
            raise QueryError("no two studies share two parameters, so there is no map; the notes say more")
        odd = {row.study for row in self._found.disagreements.rows}
        return draw_map(self._found.map, odd, ax)

    def prior(self, *, names: Sequence[str] | None = None, **options: Any) -> list[Axes]:
        """Where good values lie over all studies, and in grey in each.

        Parameters
        ----------
        names
            Parameters; None for the first of the prior.
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
        return draw_prior(prior_of(self._found.analyses, **options), names)


def draw_pooled(found: Pooling, ax: Axes | None = None) -> Axes:
    rows = found.rows[::-1]
    ax = ax if ax is not None else new_axes(6.4, 1.3 + 0.36 * len(rows))
    ink = colours_of(ax)
    places = np.arange(len(rows))
    ax.barh(places, [100 * max(0.0, row.share) for row in rows], color=ink["target"], height=0.62, label="mean")
    for place, row in zip(places, rows, strict=True):
        shares = [100 * answer[row.name].share for answer in found.answers.values() if row.name in answer]
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
    ax.set_yticks(places, [shown[row.name] for row in rows])
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlim(left=min(0.0, *(100 * row.share for row in rows)))
    ax.set_xlabel("share (%)")
    title(ax, found.heading())
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    trim(ax)
    return ax


def draw_ranks(test: RankTest, ax: Axes | None = None) -> Axes:
    """An axis of ranks, a line from each mean rank to its name, bars over what is not told apart."""
    ladder = rank_lines_of(test)
    below = 0.35 + LANE * ladder.lanes
    depth = below + RUNG * ladder.steps
    ax = ax if ax is not None else new_axes(7.2, 1.1 + 0.34 * (depth + 1.4))
    ink = colours_of(ax)
    width = max(1.0, float(ladder.high - ladder.low))
    edge = 0.06 * width
    ax.plot([ladder.low, ladder.high], [0, 0], color=ink["ink"], linewidth=1.2, solid_capstyle="butt")
    step = max(1, -(-(ladder.high - ladder.low) // 10))
    for rank in range(ladder.low, ladder.high + 1, step):
        ax.plot([rank, rank], [0, 0.14], color=ink["ink"], linewidth=1.2)
        ax.text(rank, 0.24, str(rank), ha="center", va="bottom", fontsize="small", color=ink["soft"])
    shown = plain_names(list(test.names))
    for rung in ladder.rungs:
        y = -(below + RUNG * (rung.step + 0.3))
        end = ladder.low - edge if rung.left else ladder.high + edge
        ax.plot([rung.rank, rung.rank, end], [0, y, y], color=ink["soft"], linewidth=0.9, solid_joinstyle="miter")
        words = f"{shown[rung.name]}  {short(rung.rank)}" if rung.left else f"{short(rung.rank)}  {shown[rung.name]}"
        side = {"ha": "right" if rung.left else "left", "va": "center", "color": ink["ink"]}
        ax.text(end + (-0.01 if rung.left else 0.01) * width, y, words, **side)
    for begin, end, lane in ladder.bars:
        y = -(0.28 + LANE * lane)
        look = {"color": ink["target"], "linewidth": 4, "solid_capstyle": "round"}
        ax.plot([begin - 0.008 * width, end + 0.008 * width], [y, y], **look)
    mark = 0.95
    ends = [ladder.low, ladder.low + min(test.critical, width)]
    ax.plot(ends, [mark, mark], color=ink["ink"], linewidth=1.6, marker="|", markersize=7)
    words = f"critical difference {short(test.critical)}"
    ax.text(ends[0], mark + 0.16, words, fontsize="small", va="bottom", color=ink["soft"])
    ax.set_xlim(ladder.low - 0.42 * width, ladder.high + 0.42 * width)
    ax.set_ylim(-(depth + 0.1), mark + 0.7)
    ax.axis("off")
    p = chance(test.p_value)
    title(ax, f"Mean ranks over {test.studies} studies (Friedman p {p if p.startswith('<') else f'= {p}'})")
    return ax


def draw_map(found: StudyMap, odd: set[str], ax: Axes | None = None) -> Axes:
    ax = ax if ax is not None else new_axes(6.4, 5.4)
    ink = colours_of(ax)
    x, y = found.places.T
    strange = np.array([name in odd for name in found.studies])
    ax.axhline(0, color=ink["line"], linewidth=0.8, zorder=0)
    ax.axvline(0, color=ink["line"], linewidth=0.8, zorder=0)
    ax.scatter(x[~strange], y[~strange], s=26, color=ink["target"], alpha=0.75, linewidth=0, label="a study")
    if strange.any():
        ax.scatter(x[strange], y[strange], s=34, color=ink["B"], marker="D", label="disagrees with all others")
    for i in named_on(found.places, strange):
        at = (float(x[i]), float(y[i]))
        style = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": "x-small", "color": ink["soft"]}
        ax.annotate(plain(found.studies[i], 16), at, **style)
    reach = float(np.abs(found.places).max()) or 1.0
    heavy = np.argsort(-np.linalg.norm(found.arrows, axis=1))[:ARROWS]
    shown = plain_names(list(found.names))
    for j in heavy:
        tip = 0.9 * reach * found.arrows[j]
        arrow = {"arrowstyle": "-|>", "color": ink["A"], "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tuple(tip), (0, 0), arrowprops=arrow)
        ax.text(*(1.06 * tip), shown[found.names[j]], color=ink["A"], fontsize="small", ha="center", va="center")
    ax.update_datalim(1.15 * 0.9 * reach * found.arrows[heavy])  # room for the arrows and their names
    ax.margins(0.12)
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.legend(fontsize="small", frameon=False, loc="best")
    title(ax, f"Studies by what matters in them ({percent(found.held)} of their distances)")
    return ax


def named_on(places: np.ndarray, odd: np.ndarray) -> list[int]:
    """All of a few studies; of many the odd ones and those furthest out."""
    if len(places) <= MOST_NAMED:
        return list(range(len(places)))
    far = np.argsort(-np.linalg.norm(places, axis=1))[: MOST_NAMED // 3]
    return sorted({*far.tolist(), *np.flatnonzero(odd).tolist()})
