"""The figure of a prior: a panel for each parameter, studies grey behind it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.families import family
from pedanova.errors import QueryError, UnknownParameterError
from pedanova.measures.studies.prior import prior_of

pytest.importorskip("matplotlib")


def test_panels_and_studies() -> None:
    from matplotlib import pyplot as plt

    from pedanova.report.figures.spread import draw_prior

    prior = prior_of(family(3, rows=120))
    panels = draw_prior(prior)
    assert [ax.get_xlabel() for ax in panels] == list(prior)
    by_name = dict(zip(prior, panels, strict=True))
    labels = by_name["lr"].get_legend_handles_labels()[1]
    assert labels == ["a study", "uniform", "prior"]
    curves = [one for one in by_name["lr"].patches if not one.get_fill()]
    assert len(curves) == 3 + 2  # studies, uniform, prior
    heights = curves[-1].get_data().values
    assert np.mean(heights) == pytest.approx(1.0, abs=0.01)  # even = 1
    bars = [one for one in by_name["optimizer"].patches if not one.get_fill()]
    assert sum(bars[-1].get_data().values) == pytest.approx(100.0)
    assert len(draw_prior(prior, ["lr"])) == 1
    with pytest.raises(UnknownParameterError):
        draw_prior(prior, ["nothing"])
    with pytest.raises(QueryError, match="names"):
        draw_prior(prior, [])
    plt.close("all")
