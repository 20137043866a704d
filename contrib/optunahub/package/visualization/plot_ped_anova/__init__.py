"""Which parameters matter, how surely, and where their good values lie: pedanova's answers as Plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

import pedanova as pa

if TYPE_CHECKING:
    import optuna

__all__ = ["plot_good_values", "plot_importances"]

SURE, NOISE, ALL = "#0072b2", "#b0b0b0", "#808080"


def plot_importances(study: optuna.Study, *, target: Any = 0.1, region: Any = 1.0, **options: Any) -> go.Figure:
    """Shares with 95 % intervals, the largest on top; grey is what cannot be told from noise.

    Args:
        study: The study; states, constraints and distributions are taken from it.
        target: The rows to reach, 0.1 for the best tenth.
        region: The rows to stand in, 1.0 for all.
        **options: What ``pedanova.Analysis.importance`` takes, such as ``estimator`` and ``seed``.
    """
    found = pa.analyze(study).importance(target, region, **options)
    rows = found.rows[::-1]
    reach = [(row.share if row.high is None else row.high) for row in rows]
    bars = go.Bar(
        x=[100 * max(0.0, row.share) for row in rows],
        y=[row.name for row in rows],
        orientation="h",
        marker_color=[SURE if row.significant else NOISE for row in rows],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [100 * max(0.0, top - max(0.0, row.share)) for row, top in zip(rows, reach)],
            "arrayminus": [100 * max(0.0, row.share - (row.low or 0.0)) for row in rows],
        },
        customdata=[[row.p_adjusted] for row in rows],
        hovertemplate="%{y}: %{x:.1f} % (adjusted p %{customdata[0]:.3f})<extra></extra>",
    )
    title = f"Importance: {found.target} compared with {found.region}"
    layout = {"title": title, "xaxis_title": "share of what decides, in %, with 95 % interval"}
    return go.Figure(bars, layout=layout | {"yaxis": {"type": "category"}, "template": "plotly_white"})


def plot_good_values(
    study: optuna.Study, param: str, *, target: Any = 0.1, region: Any = 1.0, **options: Any
) -> go.Figure:
    """How one parameter is spread in the target, beside the region.

    Args:
        study: The study.
        param: The parameter's name.
        target: The rows to reach, 0.1 for the best tenth.
        region: The rows to stand in, 1.0 for all.
        **options: What ``pedanova.Analysis.densities`` takes.
    """
    analysis = pa.analyze(study)
    panels = analysis.densities(param, target, region, **options).to_dict()
    cells = [str(cell) if isinstance(cell, (str, bool)) or cell is None else cell for cell in panels["cell"]]
    lines = [("target", SURE, "tozeroy"), ("region", ALL, None)]
    figure = go.Figure(layout={"title": f"Where the good values of {param} lie", "template": "plotly_white"})
    for key, colour, fill in lines:
        named = {"name": key, "x": cells, "y": panels[key]}
        if all(isinstance(cell, str) for cell in cells):
            figure.add_trace(go.Bar(marker_color=colour, **named))
        else:
            figure.add_trace(go.Scatter(line={"color": colour, "shape": "hvh"}, fill=fill, **named))
    log = getattr(analysis.space[param], "log", False)
    figure.update_layout(
        xaxis={"title": param, "type": "log" if log and not isinstance(cells[0], str) else None},
        yaxis={"title": "part of the rows"},
    )
    return figure
