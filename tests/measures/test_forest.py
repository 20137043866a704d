"""Random-forest f-ANOVA of observations: right on known functions, indifferent to names and threads."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import pedanova as pa
from helpers.common import refuse, toy
from pedanova.errors import DataError, LevelsError, MissingLibraryError, QueryError, UnknownParameterError
from pedanova.measures.forest import ColumnDomain, clipped_at, encode, forest_effects, leaf_boxes, tree_variances


def weights_of(axis: ColumnDomain) -> np.ndarray:
    assert axis.reached is not None
    return np.diff(axis.reached)


def mixed(rows: int = 300) -> tuple[dict[str, np.ndarray], dict[str, object], np.ndarray]:
    random = np.random.default_rng(11)
    lr = np.exp(random.uniform(np.log(1e-4), 0, rows))
    data = {
        "lr": lr,
        "layers": random.integers(1, 6, rows),
        "units": random.integers(8, 513, rows),
        "batch": random.choice([16, 32, 64], rows),
        "optimizer": random.choice(["adam", "rmsprop", "sgd", "lion"], rows),
    }
    space = {
        "lr": pa.Float(1e-4, 1, log=True),
        "layers": pa.Int(1, 5),
        "units": pa.Int(8, 512, log=True),
        "batch": pa.Ordinal([16, 32, 64]),
        "optimizer": pa.Categorical(["adam", "rmsprop", "sgd", "lion"]),
    }
    costs = {"adam": 0.0, "rmsprop": 3.0, "sgd": 1.0, "lion": 2.0}
    cost = np.array([costs[name] for name in data["optimizer"].tolist()])
    return data, space, (np.log10(lr) + 2) ** 2 + cost * data["layers"] / 3 + random.normal(0, 0.1, rows)


def test_names_and_order_of_categories_do_not_matter() -> None:
    data, space, loss = mixed()
    before = pa.analyze(data, loss, space=space)
    other = {"adam": "z", "rmsprop": "", "sgd": "<b>|`", "lion": "NaN"}
    renamed = data | {"optimizer": np.array([other[name] for name in data["optimizer"].tolist()])}
    after = pa.analyze(renamed, loss, space=space | {"optimizer": pa.Categorical(["NaN", "<b>|`", "z", ""])})
    assert forest_effects(before.data.observed(), trees=16) == pa.forest_effects(after.data.observed(), trees=16)


def test_a_category_without_rows_and_equal_means_are_placed_by_the_rows() -> None:
    data = {"c": np.tile(["a", "b", "c"], 20), "x": np.linspace(0, 1, 60)}
    loss = np.tile([1.0, 1.0, 2.0], 20)
    space = {"c": pa.Categorical(["d", "b", "c", "a"]), "x": pa.Float(0, 1)}
    encoded = encode(pa.analyze(data, loss, space=space).data.observations)
    assert encoded.matrix[:3, 0].tolist() == [0.0, 1.0, 4.0]  # d and "no value" are average: between
    assert weights_of(encoded.axes[0]).tolist() == pytest.approx([0.25, 0.25, 0.25, 0, 0.25])


def test_positions_and_weights_are_those_of_the_space() -> None:
    data, space, loss = mixed()
    encoded = encode(pa.analyze(data, loss, space=space).data.observations)
    lr, layers, units, batch, _ = encoded.axes
    assert lr.values is None
    assert encoded.matrix[:, 0] == pytest.approx(1 + np.log10(data["lr"]) / 4, abs=1e-6)
    assert weights_of(layers) == pytest.approx([0.2] * 5)
    mass = np.log((np.arange(8, 513) + 0.5) / (np.arange(8, 513) - 0.5)) / np.log(512.5 / 7.5)
    assert weights_of(units) == pytest.approx(mass)
    assert weights_of(batch) == pytest.approx([1 / 3] * 3)
    assert layers.below(np.array([0.1 - 1e-6, 0.1 + 1e-6, 0.29])).tolist() == pytest.approx([0, 0.2, 0.2])


def test_large_whole_numbers_keep_their_resolution() -> None:
    start = 2**49
    for count, log in ((100, False), (12, True)):
        x = np.arange(start, start + count)
        space = {"x": pa.Int(start, start + count - 1, log=log)}
        encoded = encode(pa.analyze({"x": x}, x % 7, space=space).data.observations)
        assert encoded.matrix[:, 0] == pytest.approx((np.arange(count) + 0.5) / count)
        assert weights_of(encoded.axes[0]) == pytest.approx([1 / count] * count)
    wide = pa.analyze({"x": np.arange(0, 10**6, 1000)}, np.arange(1000), space={"x": pa.Int(0, 10**6)})
    assert encode(wide.data.observations).axes[0].values is None


def test_the_toy_function() -> None:
    """v1, v2 = 56.6656, 56.5280 over the space."""
    x = np.random.default_rng(0).uniform(-5, 5, (5000, 2))
    space = {"x1": pa.Float(-5, 5), "x2": pa.Float(-5, 5)}
    observed = pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, toy(x), space=space).data.observations
    found = forest_effects(observed, trees=16)
    assert found["x1"].variance == pytest.approx(56.66562, rel=0.03)
    assert found["x2"].variance == pytest.approx(56.52799, rel=0.03)


def test_the_same_seed_gives_the_same_numbers_on_any_threads() -> None:
    data, space, loss = mixed()
    observed = pa.analyze(data, loss, space=space).data.observations
    first = forest_effects(observed, trees=8, seed=4)
    assert first == forest_effects(observed, trees=8, seed=4, threads=2)
    assert repr(first.to_dict()) == repr(forest_effects(observed, trees=8, seed=4).to_dict())
    assert first != forest_effects(observed, trees=8, seed=5)


def test_scale_and_direction_do_not_matter() -> None:
    data, space, loss = mixed()
    found = forest_effects(pa.analyze(data, loss, space=space).data.observed(), trees=8)
    huge = forest_effects(pa.analyze(data, loss * 2.0**500, direction="maximize", space=space).data.observed(), trees=8)
    assert [(row.name, row.share) for row in huge.rows] == [(row.name, row.share) for row in found.rows]
    assert huge["lr"].variance == found["lr"].variance * 2.0**1000
    assert sum(row.ratio for row in found.rows) == pytest.approx(1)


def test_clipping_forgets_what_happens_among_bad_rows() -> None:
    objective = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    assert clipped_at(objective, Fraction(2, 5), "minimize").tolist() == [2, 1, 2, 2, 2]
    assert clipped_at(objective, Fraction(2, 5), "maximize").tolist() == [5, 4, 4, 4, 4]
    assert clipped_at(objective, Fraction(3, 10), "minimize").tolist() == [2, 1, 2, 2, 2]
    exact = pa.analyze({"x": np.arange(100)}, np.arange(100), params=["x"]).data.observations
    assert encode(exact, clip=0.07).objective.max() == 6  # 7 rows of 100: 0.07 is an exact decimal
    x = np.random.default_rng(0).random((600, 2))
    good = x[:, 0] < 0.3  # inside, b matters a little; outside, a matters much
    loss = np.where(good, 0.1 * x[:, 1], 1 + 50 * x[:, 0])
    a = pa.analyze({"a": x[:, 0], "b": x[:, 1]}, loss, space={"a": pa.Float(0, 1), "b": pa.Float(0, 1)})
    whole, clipped = (
        forest_effects(a.data.observed(), trees=16),
        pa.forest_effects(a.data.observed(), clip=0.1, trees=16),
    )
    assert clipped["b"].ratio > 10 * whole["b"].ratio
    assert clipped.variance < whole.variance
    assert "clipped at the best 10 %" in str(clipped)
    assert (
        forest_effects(a.data.observed(), clip=1.0, trees=4).to_dict()
        == pa.forest_effects(a.data.observed(), trees=4).to_dict()
    )


def conditional(rows: int = 400) -> tuple[dict[str, np.ndarray], dict[str, object], np.ndarray]:
    random = np.random.default_rng(3)
    optimizer = random.choice(["adam", "sgd"], rows)
    sgd = optimizer == "sgd"
    momentum, low = random.random(rows), random.random(rows)
    data = {
        "optimizer": optimizer,
        "momentum": np.where(sgd, momentum, np.nan),
        "nesterov": np.where(sgd, np.where(random.random(rows) < 0.5, "yes", "no"), None),
        "lr": np.where(sgd, random.uniform(0, 1, rows), random.uniform(0, 0.01, rows)),
        "batch": np.where(sgd, random.choice([8, 16, 64], rows), np.nan),
        "low": low,
        "top": low + (2 - low) * random.random(rows),
    }
    space = {
        "optimizer": pa.Categorical(["adam", "sgd"]),
        "momentum": pa.Float(0, 1, when={"optimizer": "sgd"}),
        "nesterov": pa.Categorical(["yes", "no"], when={"optimizer": "sgd"}),
        "lr": pa.Switch("optimizer", {"adam": pa.Float(0, 0.01), "sgd": pa.Float(0, 1)}),
        "top": pa.Moving("low", 2.0),
        "batch": pa.Ordinal([8, 16, 64], when={"optimizer": "sgd"}),
    }
    return data, space, np.where(sgd, momentum * 2, 0.3) + 0.05 * random.random(rows)


def test_conditional_parameters() -> None:
    data, space, loss = conditional()
    a = pa.analyze(data, loss, space=space)
    encoded = encode(a.data.observations)
    idle = data["optimizer"] == "adam"
    assert (encoded.matrix[idle, 1] == 0.5).all()
    assert len(np.unique(encoded.matrix[idle, 2])) == 1
    assert (encoded.matrix[idle, 5] == 1).all()
    nesterov = encoded.axes[2]
    assert sorted(weights_of(nesterov)) == pytest.approx(sorted([idle.mean(), *[(~idle).mean() / 2] * 2]))
    assert encoded.matrix[:, 4].min() >= 0 <= encoded.matrix[:, 4].max() <= 1
    found = forest_effects(a.data.observed(), trees=16)
    assert next(iter(found)) == "momentum"
    assert "momentum" in str(found.notes)
    assert "middle of its range" in str(found.notes)
    assert "a separate category" in str(found.notes)


def test_rows_that_do_not_count() -> None:
    data, space, loss = mixed()
    loss = loss.copy()
    loss[:3] = [np.nan, np.inf, -np.inf]
    data = data | {"lr": np.where(np.arange(300) == 5, 7.0, data["lr"])}
    a = pa.analyze(data, loss, space=space, reading=pa.Reading(outside="count"), where=np.arange(300) >= 2)
    found = forest_effects(a.data.observed(), trees=4)
    assert found.n_rows == 296
    assert "1 row without a finite objective is left out" in found.notes
    assert "1 row with a value outside the space is left out" in found.notes
    small = pa.analyze({k: v[6:] for k, v in data.items()}, loss[6:], space=space)
    rows = np.arange(300) >= 6
    assert (
        forest_effects(small.data.observed(), trees=4).to_dict()
        == pa.forest_effects(a.within(rows).data.observed(), trees=4).to_dict()
    )


def test_tables_and_hostile_names() -> None:
    random = np.random.default_rng(0)
    names = ["a|b", "<script>", "π \n x", "share", "a|b "]
    data = {name: random.random(60) for name in names}
    a = pa.analyze(data, sum(data.values()), params=names)
    found = forest_effects(a.data.observed(), trees=4)
    assert set(found) == set(names)
    assert len(found) == 5
    assert "<script>" in found
    assert list(found.to_dict()) == ["parameter", "ratio", "share", "std", "variance"]
    assert "<script>" not in found._repr_html_()
    for text in (str(found), found.to_markdown(), found.to_latex(), found.to_csv()):
        assert text
    refuse(UnknownParameterError, "did you mean 'share'?", of=lambda: found["shar"])


def test_one_parameter_alone() -> None:
    alone = forest_effects(pa.analyze({"x": np.arange(30)}, np.arange(30), params=["x"]).data.observed(), trees=4)
    assert alone["x"].share == pytest.approx(1)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    data, space, loss = mixed()
    a = pa.analyze(data, loss, space=space)
    flat = replace(a.data.observations.goals[0], values=np.full(300, 2.5))
    constant = replace(a.data.observations, goals=(flat,))  # type: ignore[type-var]
    refuse(DataError, "is 2.5 in all 300 rows", of=lambda: forest_effects(constant))
    few = pa.analyze({name: column[:9] for name, column in data.items()}, loss[:9], space=space)
    refuse(DataError, "needs 10 usable rows, but only 9", of=lambda: forest_effects(few.data.observed()))
    tied = pa.analyze(data, np.minimum(np.arange(300) // 100, 1), space=space)
    refuse(QueryError, "rows all have", of=lambda: forest_effects(tied.data.observed(), clip=0.1))
    for bad in (0, 1.5, "a"):
        refuse(QueryError, "clip", of=lambda bad=bad: forest_effects(a.data.observed(), clip=bad))
    for bad in (0, 2.5, True, "64"):
        refuse(QueryError, "trees=", of=lambda bad=bad: forest_effects(a.data.observed(), trees=bad))
    refuse(QueryError, "seed=-1", of=lambda: forest_effects(a.data.observed(), seed=-1))
    refuse(LevelsError, "no longer available", of=(a + a).data.observed)
    two = pa.analyze(data | {"f": loss, "g": -loss}, ["f", "g"], space=space)
    refuse(QueryError, "one objective, not 2", "a.alone('f')", of=lambda: forest_effects(two.data.observed()))
    assert (
        forest_effects(two.data.alone("f").observed(), trees=4).to_dict()
        == forest_effects(a.data.observed(), trees=4).to_dict()
    )
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    refuse(MissingLibraryError, "pip install 'scikit-learn>=", of=lambda: forest_effects(a.data.observed()))


class Tree(NamedTuple):
    """A regression tree as scikit-learn stores it; node 0 is the root, leaves have no left child."""

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray  # (nodes, 1, 1)


def random_tree(random: np.random.Generator, dims: int, leaves: int) -> Tree:
    """A tree that splits random leaves at random places, sometimes twice at the same one."""
    left, right, feature, threshold = [-1], [-1], [-2], [-2.0]
    bounds = [np.tile([0.0, 1.0], (dims, 1))]
    for _ in range(leaves - 1):
        node = int(random.choice([i for i, child in enumerate(left) if child < 0]))
        dim = int(random.integers(dims))
        low, high = bounds[node][dim]
        cut = random.uniform(low, high) if random.random() < 0.7 else low + (high - low) / 2
        for side, bound in ((left, 1), (right, 0)):
            side[node] = len(left)
            box = bounds[node].copy()
            box[dim, bound] = cut
            bounds.append(box)
            for column, empty in ((left, -1), (right, -1), (feature, -2), (threshold, -2.0)):
                column.append(empty)
        feature[node], threshold[node] = dim, cut
    values = random.normal(5.0, 3.0, len(left))
    return Tree(np.array(left), np.array(right), np.array(feature), np.array(threshold), values[:, None, None])


def predict(tree: Tree, points: np.ndarray) -> np.ndarray:
    """The tree as anyone would walk it, point by point."""
    found = []
    for point in points:
        node = 0
        while tree.children_left[node] >= 0:
            goes_left = point[tree.feature[node]] <= tree.threshold[node]
            node = int((tree.children_left if goes_left else tree.children_right)[node])
        found.append(tree.value[node, 0, 0])
    return np.array(found)


def cells_along(axis: ColumnDomain, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights that stand for a whole domain: a lattice's own, or the middles between cuts."""
    if axis.values is not None and axis.reached is not None:
        return axis.values.astype(float), np.diff(axis.reached)
    edges = np.r_[0.0, cuts, 1.0]
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def enumerated(trees: Sequence[Tree], axes: Sequence[ColumnDomain]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The mean of the trees on the full product of all cells, and the weights along each axis."""
    cuts = [
        np.unique(np.concatenate([tree.threshold[tree.feature == dim] for tree in trees])) for dim in range(len(axes))
    ]
    points, weights = zip(*map(cells_along, axes, cuts), strict=True)
    values = np.mean([predict(tree, np.array(list(product(*points)))) for tree in trees], axis=0)
    return values.reshape([len(each) for each in points]), list(weights)


def average_over(values: np.ndarray, weights: list[np.ndarray], dims: tuple[int, ...]) -> np.ndarray:
    """The mean over some axes, which stay with length one."""
    for dim in dims:
        shape = [1] * values.ndim
        shape[dim] = -1
        values = np.sum(values * weights[dim].reshape(shape), axis=dim, keepdims=True)
    return values


def closed_by_enumeration(values: np.ndarray, weights: list[np.ndarray], dims: tuple[int, ...]) -> float:
    others = tuple(dim for dim in range(values.ndim) if dim not in dims)
    marginal = average_over(values, weights, others)
    squares = average_over((marginal - average_over(marginal, weights, dims)) ** 2, weights, dims)
    return float(squares.item())


def random_axes(random: np.random.Generator, dims: int) -> list[ColumnDomain]:
    """Ranges and lattices of uneven weights, all between 0 and 1; some points lie on the trees' cuts."""
    axes: list[ColumnDomain] = []
    for _ in range(dims):
        cells = int(random.integers(1, 6))
        even = random.choice(np.arange(9) / 8, cells, replace=False)
        points = np.sort(even if random.random() < 0.5 else random.random(cells))
        weights = np.cumsum(random.uniform(0.1, 1, cells))
        lattice = ColumnDomain(points.astype(np.float32), np.r_[0, weights / weights[-1]])
        axes.append(ColumnDomain() if random.random() < 0.5 else lattice)
    return axes


def close(found: float, wanted: float, scale: float) -> bool:
    return abs(found - wanted) <= 1e-10 * max(1.0, scale)


seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, dims=st.integers(1, 3), leaves=st.integers(1, 12))
@settings(max_examples=60)
def test_variances_equal_enumeration(seed: int, dims: int, leaves: int) -> None:
    random = np.random.default_rng(seed)
    axes, tree = random_axes(random, dims), random_tree(random, dims, leaves)
    total, main = tree_variances(tree, axes)
    values, weights = enumerated([tree], axes)
    whole = closed_by_enumeration(values, weights, tuple(range(dims)))
    assert close(total, whole, whole)
    for dim in range(dims):
        assert close(main[dim], closed_by_enumeration(values, weights, (dim,)), whole)
    assert main.sum() <= total + 1e-10 * max(1.0, whole)


def test_the_same_trees_give_the_numbers_of_optuna() -> None:
    """Over positions: what a forest of scikit-learn sees of three ranges."""
    from optuna.importance._fanova._tree import _FanovaTree

    random = np.random.default_rng(2)
    data = {"a": random.uniform(-1, 1, 80), "b": np.exp(random.uniform(-7, 0, 80)), "c": random.random(80)}
    space = {"a": pa.Float(-1, 1), "b": pa.Float(math.exp(-7), 1, log=True), "c": pa.Float(0, 1)}
    loss = data["a"] ** 2 + np.log(data["b"]) * data["c"] / 5
    encoded = encode(pa.analyze(data, loss, space=space).data.observations)
    for estimator in RandomForestRegressor(4, random_state=0).fit(encoded.matrix, encoded.objective).estimators_:
        theirs = _FanovaTree(estimator.tree_, np.array([[0.0, 1.0]] * 3))
        total, main = tree_variances(estimator.tree_, encoded.axes)
        assert total == pytest.approx(theirs.variance, abs=1e-8)
        wanted = [theirs.get_marginal_variance(np.array([dim])) for dim in range(3)]
        assert main == pytest.approx(wanted, abs=1e-8)


def test_what_no_draw_can_reach_is_no_variance() -> None:
    """Rows without a value stand between two whole numbers: a leaf of their own has no volume."""
    lattice = ColumnDomain(np.array([0.25, 0.75], dtype=np.float32), np.array([0.0, 0.5, 1.0]))
    tree = Tree(
        children_left=np.array([1, -1, 3, -1, -1]),
        children_right=np.array([2, -1, 4, -1, -1]),
        feature=np.array([0, -2, 0, -2, -2]),
        threshold=np.array([0.4, -2, 0.6, -2, -2]),
        value=np.array([0.0, 0.1, 0.0, 70.0, 0.1])[:, None, None],
    )
    low, high = leaf_boxes(tree, [lattice, ColumnDomain()])
    assert (high - low).prod(axis=1).tolist() == [0.5, 0.0, 0.5]
    assert tree_variances(tree, [lattice, ColumnDomain()])[0] == 0


def test_a_value_on_a_threshold_belongs_to_the_left() -> None:
    lattice = ColumnDomain(np.array([0.0, 1.0, 2.0], dtype=np.float32), np.array([0.0, 0.5, 0.75, 1.0]))
    assert lattice.below(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [0.0, 0.5, 0.5, 0.75, 1.0]


def test_boxes_fill_the_space() -> None:
    random = np.random.default_rng(0)
    for leaves in (1, 2, 50):
        low, high = leaf_boxes(random_tree(random, 4, leaves), random_axes(random, 4))
        assert (high - low).prod(axis=1).sum() == pytest.approx(1)
        assert (low <= high).all()


def test_a_forest_over_labels_equals_enumeration() -> None:
    """Lattices as `encode` makes them: every whole number and category is one point."""
    random = np.random.default_rng(1)
    names = ["layers", "batch", "optimizer"]
    columns = (random.integers(1, 6, 60), random.choice([16, 32, 64], 60), random.choice(["a", "b", "c", "d"], 60))
    space = {
        "layers": pa.Int(1, 7, log=True),
        "batch": pa.Ordinal([16, 32, 64]),
        "optimizer": pa.Categorical(["c", "a", "d", "b"]),
    }
    loss = columns[0] ** 2 + columns[1] / 8 + (columns[2] == "b") * columns[0]
    observed = pa.analyze(dict(zip(names, columns, strict=True)), loss, space=space).data.observations
    encoded = encode(observed)
    for estimator in RandomForestRegressor(4, random_state=0).fit(encoded.matrix, encoded.objective).estimators_:
        total, main = tree_variances(estimator.tree_, encoded.axes)
        values, weights = enumerated([estimator.tree_], encoded.axes)
        assert total == pytest.approx(closed_by_enumeration(values, weights, (0, 1, 2)), abs=1e-10)
        wanted = [closed_by_enumeration(values, weights, (dim,)) for dim in range(3)]
        assert main == pytest.approx(wanted, abs=1e-10)
