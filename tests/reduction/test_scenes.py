"""Who tells where the target lies: the rows, a model, or an adaptive sampler's trials."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.counting.few_rows import counted_rows
from pedanova.data.regions import as_region
from pedanova.data.row_selection import as_rows
from pedanova.reduction.scenes import ModelScene, RowScene, TrialScene, scene_of
from pedanova.reduction.search import Search


def search_of(*, adaptive: bool, target: object = 0.1) -> tuple[Search, pa.Analysis]:
    random = np.random.default_rng(0)
    x, y = random.random((2, 300))
    near = random.random(300) < (0.8 if adaptive else 0.0)  # a sampler that homes in does so in all columns
    x, y = np.where(near, 0.4 + 0.02 * x, x), np.where(near, 0.3 + 0.1 * y, y)
    a = pa.analyze({"x": x, "y": y}, (x - 0.41) ** 2, space={"x": pa.Float(0, 1), "y": pa.Float(0, 1)})
    assert a.observations is not None
    contrasts, _, _ = a.ask(target, 1.0)
    rows = (
        as_region(target, "target")
        if isinstance(target, float)
        else as_rows(target, "target", a.observations.table, 300)
    )
    counted = counted_rows(a.observations, a.levels.nan)
    return Search(a.observations, a.asked(contrasts, target, 1.0), rows, 0, counted), a


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "adaptive", "target", "estimator"),
    [(RowScene, False, 0.1, "counts"), (ModelScene, False, 0.1, "auto"), (TrialScene, True, 0.1, "auto"),
     (TrialScene, True, 0.1, "counts"), (RowScene, False, "x < 0.2", "counts")],
)  # fmt: skip
def test_each_kind_tells_by_some_of_the_rows_as_by_all(
    kind: type[RowScene], adaptive: bool, target: object, estimator: str
) -> None:
    search, a = search_of(adaptive=adaptive, target=target)
    scene = scene_of(search, a.importance(target, estimator=estimator))
    assert type(scene) is kind
    half, names = scene.among(np.arange(0, 300, 2), ["x"])
    assert type(half) is kind
    assert names == ["x"]
    for one in (scene, half):
        box = one.bounds(["x"], 0.95)
        assert "x" in box.left
        assert 0 < box.volume(one.cloud) < 1
    assert scene.estimator == ("surrogate" if kind is ModelScene else "counts")
    assert scene.even == (kind is not TrialScene)
