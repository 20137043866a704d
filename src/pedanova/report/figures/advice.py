"""Figures of advice: what tuning wins."""

from __future__ import annotations

from typing import Any

import numpy as np

from pedanova.measures.advice.gains import Amount, Gain, Gains
from pedanova.report.figures.draw import axes_with_ink, name_bars, plain_names, title

Axes = Any


def draw_gains(gains: Gains, ax: Axes | None = None) -> Axes:
    """Bars of what tuning each parameter alone wins, with intervals, above that of all together; grey ones are safe."""
    rows = gains.rows[::-1]
    amounts: list[Amount | Gain] = [gains.total, *rows]
    ax, ink = axes_with_ink(ax, 6.4, 1.4 + 0.3 * len(amounts))
    values = np.array([one.gain for one in amounts])
    ends = np.array([[one.low, one.high] for one in amounts])
    places = np.arange(len(amounts))
    fills = [ink["region"], *(ink["noise"] if row.verdict == "safe" else ink["target"] for row in rows)]
    ax.barh(places, values, color=fills, height=0.7)
    spans = np.abs(np.stack([values - ends[:, 0], ends[:, 1] - values]))
    ax.errorbar(values, places, xerr=spans, fmt="none", ecolor=ink["ink"], elinewidth=1, capsize=2)
    shown = plain_names([row.name for row in rows])
    labels = ["all together", *(f"{shown[row.name]}{' (safe)' if row.verdict == 'safe' else ''}" for row in rows)]
    name_bars(ax, labels, f"gain in {gains.objective}")
    ax.set_xlim(left=0)
    title(ax, gains.heading())
    return ax
