"""Exact marginals of trees, against enumeration and Optuna."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import pedanova as pa
from pedanova.measures.forest import trees as tree_functions
from pedanova.measures.forest.forest import as_tree, forest_effects
from pedanova.measures.forest.trees import (
    Axis,
    Lattice,
    RangeAxis,
    TreeArrays,
    closed_variance,
    encode,
    leaf_boxes,
    main_variances,
    pair_variances,
)


def random_tree(random: np.random.Generator, dims: int, leaves: int) -> TreeArrays:
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
    return TreeArrays(np.array(left), np.array(right), np.array(feature), np.array(threshold), values)


def predict(tree: TreeArrays, points: np.ndarray) -> np.ndarray:
    """The tree as anyone would walk it, point by point."""
    found = []
    for point in points:
        node = 0
        while tree.left[node] >= 0:
            goes_left = point[tree.feature[node]] <= tree.threshold[node]
            node = int((tree.left if goes_left else tree.right)[node])
        found.append(tree.value[node])
    return np.array(found)


def cells_along(axis: Axis, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights that stand for a whole domain: a lattice's own, or the middles between cuts."""
    if isinstance(axis, Lattice):
        return axis.values.astype(float), np.diff(axis.reached)
    edges = np.r_[axis.low, cuts, axis.high]
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges) / (axis.high - axis.low)


def enumerated(trees: Sequence[TreeArrays], axes: Sequence[Axis]) -> tuple[np.ndarray, list[np.ndarray]]:
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


def random_axes(random: np.random.Generator, dims: int) -> list[Axis]:
    """Ranges and lattices of uneven weights, all between 0 and 1; some points lie on the trees' cuts."""
    axes: list[Axis] = []
    for _ in range(dims):
        cells = int(random.integers(1, 6))
        even = random.choice(np.arange(9) / 8, cells, replace=False)
        points = np.sort(even if random.random() < 0.5 else random.random(cells))
        weights = np.cumsum(random.uniform(0.1, 1, cells))
        lattice = Lattice(points.astype(np.float32), np.r_[0, weights / weights[-1]])
        axes.append(RangeAxis() if random.random() < 0.5 else lattice)
    return axes


def close(found: float, wanted: float, scale: float) -> bool:
    return abs(found - wanted) <= 1e-10 * max(1.0, scale)


seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, dims=st.integers(1, 3), leaves=st.integers(1, 12), strip=st.sampled_from([1, 7, 1 << 18]))
@settings(max_examples=60)
def test_variances_equal_enumeration(seed: int, dims: int, leaves: int, strip: int) -> None:
    random = np.random.default_rng(seed)
    axes, tree = random_axes(random, dims), random_tree(random, dims, leaves)
    boxes = leaf_boxes(tree, axes)
    values, weights = enumerated([tree], axes)
    everything = tuple(range(dims))
    total = closed_by_enumeration(values, weights, everything)
    assert close(boxes.variance, total, total)
    assert close(boxes.mean, float(average_over(values, weights, everything).item()), 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_functions, "STRIP", strip)
        main = main_variances(boxes)
        for dim in range(dims):
            assert close(main[dim], closed_by_enumeration(values, weights, (dim,)), total)
        for pair, found in zip(combinations(range(dims), 2), pair_variances(boxes, main), strict=True):
            wanted = closed_by_enumeration(values, weights, pair) - main[list(pair)].sum()
            assert close(found, wanted, total)
            assert found >= 0
        assert close(closed_variance(boxes, everything), total, total)


@given(seed=seeds, dims=st.integers(2, 3), leaves=st.integers(2, 20))
@settings(max_examples=40)
def test_parts_add_up_to_the_whole(seed: int, dims: int, leaves: int) -> None:
    random = np.random.default_rng(seed)
    boxes = leaf_boxes(random_tree(random, dims, leaves), random_axes(random, dims))
    pure: dict[tuple[int, ...], float] = {}
    for size in range(1, dims + 1):
        for group in combinations(range(dims), size):
            below = sum(pure[part] for n in range(1, size) for part in combinations(group, n))
            pure[group] = closed_variance(boxes, group) - below
            assert pure[group] >= -1e-10 * max(1.0, boxes.variance)
    assert close(sum(pure.values()), boxes.variance, boxes.variance)


def optuna_study(rows: int) -> object:
    """Trials over a plain, a log, two whole and two categorical parameters."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kinds = optuna.distributions
    space = {
        "plain": kinds.FloatDistribution(-3, 4),
        "log": kinds.FloatDistribution(1e-4, 1, log=True),
        "whole": kinds.IntDistribution(1, 9),
        "log whole": kinds.IntDistribution(1, 64, log=True),
        "two": kinds.CategoricalDistribution(["a", "b"]),
        "three": kinds.CategoricalDistribution(["x", "y", "z"]),
    }
    random = np.random.default_rng(5)
    study = optuna.create_study()
    for _ in range(rows):
        row = {
            "plain": random.uniform(-3, 4),
            "log": float(np.exp(random.uniform(np.log(1e-4), 0))),
            "whole": int(random.integers(1, 10)),
            "log whole": int(np.exp(random.uniform(0, np.log(64)))),
            "two": str(random.choice(["a", "b"])),
            "three": str(random.choice(["x", "y", "z"])),
        }
        value = row["plain"] ** 2 + row["whole"] * (row["two"] == "a") + 3 * (row["three"] == "z") + row["log"]
        study.add_trial(optuna.trial.create_trial(params=row, distributions=space, value=value))
    return study


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_the_same_forest_gives_the_numbers_of_optuna() -> None:
    """Optuna's own encoding: one-hot categories, whose columns are one group here."""
    import optuna

    study = optuna_study(120)
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=8, seed=3)
    wanted = optuna.importance.get_param_importances(study, evaluator=evaluator)
    inside = evaluator._evaluator
    axes = [RangeAxis(low, high) for low, high in inside._trees[0]._search_spaces]
    boxes = [leaf_boxes(as_tree(tree.tree_), axes) for tree in inside._forest.estimators_]
    groups = inside._column_to_encoded_columns
    shares = [np.mean([closed_variance(b, list(group)) / b.variance for b in boxes]) for group in groups]
    names = sorted(wanted)  # Optuna's order of columns
    for name, share in zip(names, shares / np.sum(shares), strict=True):
        assert abs(wanted[name] - share) < 1e-8, name


def test_rounding_never_makes_a_pair_negative() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        tree = random_tree(random, 1, 9)  # only the first of two parameters is ever split
        boxes = leaf_boxes(tree, [RangeAxis(), RangeAxis()])
        assert pair_variances(boxes, main_variances(boxes))[0] >= 0


def test_what_no_draw_can_reach_is_no_variance() -> None:
    """Rows without a value stand between two whole numbers: a leaf of their own has no volume."""
    lattice = Lattice(np.array([0.25, 0.75], dtype=np.float32), np.array([0.0, 0.5, 1.0]))
    tree = TreeArrays(
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        feature=np.array([0, -2, 0, -2, -2]),
        threshold=np.array([0.4, -2, 0.6, -2, -2]),
        value=np.array([0.0, 0.1, 0.0, 70.0, 0.1]),
    )
    boxes = leaf_boxes(tree, [lattice, RangeAxis()])
    assert boxes.volume.tolist() == [0.5, 0.0, 0.5]
    assert boxes.variance == 0


def test_a_value_on_a_threshold_belongs_to_the_left() -> None:
    lattice = Lattice(np.array([0.0, 1.0, 2.0], dtype=np.float32), np.array([0.0, 0.5, 0.75, 1.0]))
    assert lattice.below(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [0.0, 0.5, 0.5, 0.75, 1.0]


def test_boxes_fill_the_space() -> None:
    random = np.random.default_rng(0)
    for leaves in (1, 2, 50):
        boxes = leaf_boxes(random_tree(random, 4, leaves), random_axes(random, 4))
        assert boxes.volume.sum() == pytest.approx(1)
        assert (boxes.low < boxes.high).all()


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
    model = RandomForestRegressor(4, random_state=0).fit(encoded.matrix, encoded.objective)
    shares = []
    for estimator in model.estimators_:
        values, weights = enumerated([as_tree(estimator.tree_)], encoded.axes)
        total = closed_by_enumeration(values, weights, (0, 1, 2))
        shares.append([closed_by_enumeration(values, weights, (dim,)) / total for dim in range(3)])
    found = forest_effects(observed, model=model)
    assert [found[name].share for name in names] == pytest.approx(np.mean(shares, axis=0), abs=1e-10)
