"""Figures of two studies: shares side by side with their differences, and densities over one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pedanova.errors import UnknownParameterError, unknown_name
from pedanova.measures.densities import Densities, Drawing
from pedanova.measures.studies.study_difference import Changes
from pedanova.report.figures.draw import (
    NOISE,
    Axes,
    Reals,
    colours_of,
    name_ticks,
    new_axes,
    plain,
    plain_names,
    title,
    trim,
)
from pedanova.report.figures.plots import SHOWN, panels, with_legend
from pedanova.report.figures.spread import DENSITY, LEAST_TOP, name_places
from pedanova.space.comparison import same_cells


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

    _found: Changes

    def importance(self, *, ax: Axes = None) -> Axes:
        """The share of every parameter in both studies; grey and ~ where they are not distinguishable.

        Parameters
        ----------
        ax
            Where to; None for new ones.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        return draw_both(self._found, ax)

    def densities(self, names: str | Sequence[str] | None = None, *, ax: Axes = None) -> Axes:
        """Where the target's values lie in both studies, over one another: one parameter in `ax`, or several.

        Parameters
        ----------
        names
            A parameter, or several; None for the clearest differences.
        ax
            Where to, one for each parameter; None for new ones.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on; an array of them for several parameters.

        Raises
        ------
        UnknownParameterError
            The studies share no parameter of that name.
        QueryError
            There are more parameters than Axes in `ax`.
        """
        found = self._found
        shown = plain_names(list(found))
        chosen = list(found)[:SHOWN] if names is None else names
        for name in [chosen] if isinstance(chosen, str) else chosen:
            if name not in shown:
                raise UnknownParameterError(unknown_name(name, tuple(shown)))

        def draw(name: str, one: Axes) -> Axes:
            return draw_over(found.densities[0][name], found.densities[1][name], found.names, one, shown[name])

        return with_legend(panels(chosen, ax, draw))


def draw_both(found: Changes, ax: Axes | None = None) -> Axes:
    rows = found.rows[::-1]
    ax = ax if ax is not None else new_axes(6.4, 1.4 + 0.46 * len(rows))
    ink = colours_of(ax)
    places = np.arange(len(rows))
    for offset, key, colour, name in ((0.19, "share", "A", found.names[0]), (-0.19, "other", "B", found.names[1])):
        values = [100 * max(0.0, getattr(row, key)) for row in rows]
        fills = [ink[colour] if row.significant else ink["noise"] for row in rows]
        ax.barh(places + offset, values, 0.34, color=fills, edgecolor=ink[colour], linewidth=1.2)
        ax.barh([0], [0], color=ink[colour], label=plain(name))  # for the legend: bars may be grey
    shown = plain_names([row.name for row in rows])
    ax.set_yticks(places, [f"{'' if row.significant else NOISE}{shown[row.name]}" for row in rows])
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlim(left=0)
    ax.set_xlabel("share (%)")
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    title(ax, found.heading())
    trim(ax)
    return ax


def draw_over(one: Densities, two: Densities, names: tuple[str, str], ax: Axes | None, shown: str) -> Axes:
    """Both targets on one axis, each against its own rows below it."""
    ax = ax if ax is not None else new_axes(4.8, 3.2)
    ink = colours_of(ax)
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
