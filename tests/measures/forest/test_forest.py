"""Random-forest f-ANOVA of observations: right on known functions, indifferent to names and threads."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import pedanova as pa
from helpers.common import refuse, toy
from pedanova.errors import DataError, LevelsError, MissingLibraryError, QueryError, UnknownParameterError
from pedanova.measures.forest.forest import forest_effects
from pedanova.measures.forest.trees import RangeAxis, clipped_at, encode


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


def test_a_given_model_equals_optuna_over_positions() -> None:
    from optuna.importance._fanova._tree import _FanovaTree

    random = np.random.default_rng(2)
    data = {"a": random.uniform(-1, 1, 80), "b": np.exp(random.uniform(-7, 0, 80)), "c": random.random(80)}
    space = {"a": pa.Float(-1, 1), "b": pa.Float(math.exp(-7), 1, log=True), "c": pa.Float(0, 1)}
    loss = data["a"] ** 2 + np.log(data["b"]) * data["c"] / 5
    observed = pa.analyze(data, loss, space=space).data.observations
    encoded = encode(observed)
    model = RandomForestRegressor(4, random_state=0).fit(encoded.matrix, encoded.objective)
    found = forest_effects(observed, model=model)
    trees = [_FanovaTree(e.tree_, np.array([[0.0, 1.0]] * 3)) for e in model.estimators_]
    for dim, name in enumerate("abc"):
        shares = [tree.get_marginal_variance(np.array([dim])) / tree.variance for tree in trees]
        assert found[name].share == pytest.approx(np.mean(shares), abs=1e-8)
        assert found[name].std == pytest.approx(np.std(shares), abs=1e-8)
    closed = [tree.get_marginal_variance(np.array([1, 2])) / tree.variance for tree in trees]
    together = found.pairs["c", "b"].share + found["b"].share + found["c"].share
    assert together == pytest.approx(np.mean(closed), abs=1e-8)
    assert found.variance == pytest.approx(np.mean([tree.variance for tree in trees]))


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
    assert np.diff(encoded.axes[0].reached).tolist() == pytest.approx([0.25, 0.25, 0.25, 0, 0.25])


def test_positions_and_weights_are_those_of_the_space() -> None:
    data, space, loss = mixed()
    encoded = encode(pa.analyze(data, loss, space=space).data.observations)
    lr, layers, units, batch, _ = encoded.axes
    assert isinstance(lr, RangeAxis)
    assert encoded.matrix[:, 0] == pytest.approx(1 + np.log10(data["lr"]) / 4, abs=1e-6)
    assert np.diff(layers.reached) == pytest.approx([0.2] * 5)
    mass = np.log((np.arange(8, 513) + 0.5) / (np.arange(8, 513) - 0.5)) / np.log(512.5 / 7.5)
    assert np.diff(units.reached) == pytest.approx(mass)
    assert np.diff(batch.reached) == pytest.approx([1 / 3] * 3)
    assert layers.below(np.array([0.1 - 1e-6, 0.1 + 1e-6, 0.29])).tolist() == pytest.approx([0, 0.2, 0.2])


def test_large_whole_numbers_keep_their_resolution() -> None:
    start = 2**49
    for count, log in ((100, False), (12, True)):
        x = np.arange(start, start + count)
        space = {"x": pa.Int(start, start + count - 1, log=log)}
        encoded = encode(pa.analyze({"x": x}, x % 7, space=space).data.observations)
        assert encoded.matrix[:, 0] == pytest.approx((np.arange(count) + 0.5) / count)
        assert np.diff(encoded.axes[0].reached) == pytest.approx([1 / count] * count)
    wide = pa.analyze({"x": np.arange(0, 10**6, 1000)}, np.arange(1000), space={"x": pa.Int(0, 10**6)})
    assert isinstance(encode(wide.data.observations).axes[0], RangeAxis)


@pytest.mark.slow
def test_the_toy_function() -> None:
    """v1, v2 = 56.6656, 56.5280 over the space."""
    x = np.random.default_rng(0).uniform(-5, 5, (5000, 2))
    space = {"x1": pa.Float(-5, 5), "x2": pa.Float(-5, 5)}
    observed = pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, toy(x), space=space).data.observations
    encoded = encode(observed)
    model = RandomForestRegressor(16, random_state=0).fit(encoded.matrix, encoded.objective)
    found = forest_effects(observed, model=model)
    assert found["x1"].variance == pytest.approx(56.66562, rel=0.03)
    assert found["x2"].variance == pytest.approx(56.52799, rel=0.03)
    assert found.pairs["x1", "x2"].share < 0.02


def test_an_interaction_is_seen_only_in_the_pair() -> None:
    x = np.random.default_rng(0).integers(0, 2, (400, 3))
    space = {name: pa.Categorical([0, 1]) for name in "abc"}
    a = pa.analyze(dict(zip("abc", x.T, strict=True)), x[:, 0] ^ x[:, 1], space=space)
    found = forest_effects(a.data.observed(), trees=16)
    assert found.pairs["b", "a"].share > 0.95
    assert next(iter(found.pairs)) == ("a", "b")
    assert max(row.share for row in found.rows) < 0.02
    shares = [*(row.share for row in found.rows), *(row.share for row in found.pairs.rows)]
    assert sum(shares) <= 1 + 1e-9


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
    assert "clipped behind the best 10 %" in str(clipped)
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
    assert sorted(np.diff(nesterov.reached)) == pytest.approx(sorted([idle.mean(), *[(~idle).mean() / 2] * 2]))
    assert encoded.matrix[:, 4].min() >= 0 <= encoded.matrix[:, 4].max() <= 1
    found = forest_effects(a.data.observed(), trees=16)
    assert next(iter(found)) == "momentum"
    assert "momentum" in str(found.notes)
    assert "middle of its range" in str(found.notes)
    assert "a category of their own" in str(found.notes)


def test_rows_that_do_not_count() -> None:
    data, space, loss = mixed()
    loss = loss.copy()
    loss[:3] = [np.nan, np.inf, -np.inf]
    data = data | {"lr": np.where(np.arange(300) == 5, 7.0, data["lr"])}
    a = pa.analyze(data, loss, space=space, reading=pa.Reading(outside="count"), where=np.arange(300) >= 2)
    found = forest_effects(a.data.observed(), trees=4)
    assert found.n_rows == 296
    assert "1 rows without a finite objective are left out" in found.notes
    assert "1 rows with a value outside the space are left out" in found.notes
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
    assert len(found.pairs) == 10
    assert "<script>" in found
    assert ("share", "a|b") in found.pairs
    assert ("share", "share") not in found.pairs
    assert found.pairs["share", "a|b"] is found.pairs["a|b", "share"]
    assert list(found.to_dict()) == ["parameter", "ratio", "share", "std", "variance"]
    assert list(found.pairs.to_dict()) == ["first", "second", "share", "std", "variance"]
    for table in (found, found.pairs):
        assert "<script>" not in table._repr_html_()
        for text in (str(table), table.to_markdown(), table.to_latex(), table.to_csv()):
            assert text
    refuse(UnknownParameterError, "did you mean 'share'?", of=lambda: found["shar"])
    refuse(UnknownParameterError, "no parameter", of=lambda: found.pairs["share", "nothing"])
    refuse(UnknownParameterError, "two different", of=lambda: found.pairs["share", "share"])
    refuse(UnknownParameterError, "must be two names", of=lambda: found.pairs["share"])  # type: ignore[index]


def test_without_pairs_and_with_one_parameter() -> None:
    data, space, loss = mixed()
    found = forest_effects(pa.analyze(data, loss, space=space).data.observed(), trees=4, pairs=False)
    assert len(found.pairs) == 0
    refuse(QueryError, "pass pairs=True", of=lambda: found.pairs["lr", "layers"])
    assert ("lr", "layers") not in found.pairs
    assert str(found.pairs)
    alone = forest_effects(pa.analyze({"x": np.arange(30)}, np.arange(30), params=["x"]).data.observed(), trees=4)
    assert alone["x"].share == pytest.approx(1)
    assert len(alone.pairs) == 0


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    data, space, loss = mixed()
    a = pa.analyze(data, loss, space=space)
    flat = replace(a.data.observations.goals[0], values=np.full(300, 2.5))
    constant = replace(a.data.observations, goals=(flat,))  # type: ignore[type-var]
    refuse(DataError, "is 2.5 in all 300 rows", of=lambda: forest_effects(constant))
    few = pa.analyze({name: column[:9] for name, column in data.items()}, loss[:9], space=space)
    refuse(DataError, "needs 10 usable rows, and there are 9", of=lambda: forest_effects(few.data.observed()))
    tied = pa.analyze(data, np.minimum(np.arange(300) // 100, 1), space=space)
    refuse(QueryError, "share one objective", "larger part", of=lambda: forest_effects(tied.data.observed(), clip=0.1))
    for bad in (0, 1.5, "a"):
        refuse(QueryError, "clip", of=lambda bad=bad: forest_effects(a.data.observed(), clip=bad))
    for bad in (0, 2.5, True, "64"):
        refuse(QueryError, "trees=", of=lambda bad=bad: forest_effects(a.data.observed(), trees=bad))
    refuse(QueryError, "seed=-1", of=lambda: forest_effects(a.data.observed(), seed=-1))
    refuse(LevelsError, "no longer at hand", of=(a + a).data.observed)
    two = pa.analyze(data | {"f": loss, "g": -loss}, ["f", "g"], space=space)
    refuse(QueryError, "one objective, not 2", "a.alone('f')", of=lambda: forest_effects(two.data.observed()))
    assert (
        forest_effects(two.data.alone("f").observed(), trees=4).to_dict()
        == forest_effects(a.data.observed(), trees=4).to_dict()
    )
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    refuse(MissingLibraryError, "pip install 'pedanova[fanova]'", of=lambda: forest_effects(a.data.observed()))


def test_models_that_do_not_fit() -> None:
    data, space, loss = mixed()
    observed = pa.analyze(data, loss, space=space).data.observations
    matrix = encode(observed).matrix
    other = RandomForestRegressor(2).fit(matrix[:, :2], loss)
    refuse(QueryError, "fitted to 2 columns", of=lambda: forest_effects(observed, model=other))
    refuse(QueryError, "must be a fitted forest", of=lambda: forest_effects(observed, model=3))
    unfit = RandomForestRegressor(2)
    refuse(QueryError, "must be a fitted forest", of=lambda: forest_effects(observed, model=unfit))
    flat = RandomForestRegressor(2).fit(matrix, np.zeros(300))
    refuse(QueryError, "2 trees are constant", of=lambda: forest_effects(observed, model=flat))
    double = RandomForestRegressor(2).fit(matrix, np.stack([loss, loss], axis=1))
    refuse(QueryError, "with one output", of=lambda: forest_effects(observed, model=double))
