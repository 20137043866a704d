"""What independent recalculation once found wrong; each stays right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.errors import MergeError, QueryError
from pedanova.measures.clear import beats_chance
from pedanova.report.sentences import contrast


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


class TestRepeats:
    def test_a_switch_keeps_configurations_apart(self, random: np.random.Generator) -> None:
        o, lr = random.choice(["a", "b"], 2000), random.random(2000)
        space = {"o": pa.Categorical(["a", "b"]), "lr": pa.Switch("o", {"a": pa.Float(0, 1), "b": pa.Float(0, 2)})}
        a = pa.analyze({"o": o, "lr": lr, "y": random.random(2000)}, "y", repeats="mean", space=space)
        assert len(a) == 2000
        assert any("no configuration occurs twice in 2,000 rows" in note for note in a.notes)

    def test_moving_bounds_keep_configurations_apart(self, random: np.random.Generator) -> None:
        low = np.tile([0, 0.5], 20)
        x = low + np.repeat(random.random(20), 2) * (1 - low)
        data = {"low": low, "x": x, "y": random.random(40)}
        a = pa.analyze(data, "y", repeats="mean", space={"x": pa.Moving("low", 1.0)})
        assert len(a) == 40

    def test_seeds_do_not_make_a_lattice_of_random_draws(self, random: np.random.Generator) -> None:
        lr, w = np.repeat(random.random((2, 40)), 10, axis=1)
        data = {"lr": lr, "w": w, "seed": np.tile(np.arange(10), 40), "y": lr + random.normal(0, 0.01, 400)}
        a = pa.analyze(data, "y", exclude=["seed"], repeats="mean")
        assert isinstance(a.space["lr"], pa.Float)
        found = a.importance(0.25, **COUNTS)
        assert found["lr"].share > 0.3 > found["w"].share


def test_the_space_is_guessed_from_the_rows_that_count(random: np.random.Generator) -> None:
    x = np.r_[random.random(500), 1e6]
    y = np.r_[x[:500], 0.0]
    some = pa.analyze({"x": x, "y": y}, "y", where="x < 2")
    only = pa.analyze({"x": x[:500], "y": y[:500]}, "y")
    assert some.space == only.space
    assert some.importance(**COUNTS).rows == only.importance(**COUNTS).rows


class TestSeveralObjectives:
    @pytest.fixture
    def data(self, random: np.random.Generator) -> dict[str, np.ndarray]:
        x = random.random(2000)
        return {"x": x, "a": x + 0.1 * random.random(2000), "b": x + 0.1 * random.random(2000)}

    def test_orders_of_different_tables_do_not_mix(self, data: dict[str, np.ndarray], tmp_path: Path) -> None:
        a = pa.analyze(data, ["a", "b"])
        with pytest.raises(QueryError, match="analyze all rows at once"):
            pa.analyze(data, ["a", "b"], levels=a.data.levels)
        with pytest.raises(QueryError, match="analyze all rows at once"):
            pa.analyze(data, "a", levels=a.data.levels)
        with pytest.raises(MergeError, match="analyze all rows at once"):
            a + a
        a.save(tmp_path / "a.pedanova")
        with pytest.raises(QueryError, match="one limit cannot be used with 2 objectives"):
            pa.load(tmp_path / "a.pedanova").importance(pa.at_most(6), **COUNTS)
        assert pa.load(tmp_path / "a.pedanova").importance(**COUNTS) == a.importance(**COUNTS)

    def test_one_objective_does_not_suffer_from_the_other(self, data: dict[str, np.ndarray]) -> None:
        data["a"][:500] = np.nan
        both = pa.analyze(data, ["a", "b"], reading=pa.Reading(nan="worst"))
        alone = pa.analyze(data, "b", params=["x"], space=None)
        assert pa.Analysis(both.data.alone("b")).importance(**COUNTS)["x"].share == pytest.approx(
            alone.importance(**COUNTS)["x"].share, abs=1e-9
        )


def test_nan_and_infinity_are_equally_bad_everywhere() -> None:
    y = np.tile([0.0, 1.0, np.inf, np.nan], 30)
    data = {"x": np.arange(120) % 7, "y": y}
    a = pa.analyze(data, "y", reading=pa.Reading(nan="worst"), params=["x"])
    assert a.importance(0.1, 0.75, **COUNTS).rows[0].n_region == 120
    assert a.importance(y == 0, 0.75, **COUNTS).rows[0].n_region == 120
    assert len(pa.analyze(data, "y", reading=pa.Reading(nan="worst"), params=["x"], where=0.75)) == 120


def test_missing_rows_are_a_category_under_the_uniform_baseline() -> None:
    present = np.array([True] * 8 + [False] * 2 + [True] * 42 + [False] * 48)
    y = np.arange(100.0)
    gap = pa.analyze({"c": np.where(present, "k", None)}, y, space={"c": pa.Categorical(["k"])})
    assert gap.importance(0.1, baseline="uniform", **COUNTS)["c"].share == pytest.approx(0.0320987654, abs=1e-9)


def test_rounding_is_no_importance(random: np.random.Generator) -> None:
    data = {"x": random.random(60), "z": random.random(60), "y": random.random(60)}
    found = pa.analyze(data, "y", space={"x": pa.Float(0, 1), "z": pa.Float(0, 1)}).importance(0.01, **COUNTS)
    assert [row.ratio for row in found.rows] == [0.0, 0.0]


class TestSentences:
    def test_many_equal_parameters(self, random: np.random.Generator) -> None:
        x = random.random((3000, 40))
        found = pa.analyze(x, x.sum(axis=1)).importance(**COUNTS)
        assert found.headline().startswith(f"{found.rows[0].name} matters most for whether ")

    def test_a_noisy_first_place_hides_nothing(self, random: np.random.Generator) -> None:
        b = random.integers(0, 2, 2000).astype(bool)
        data = {"b": b, "c": random.integers(0, 40, 2000).astype(str), "y": b + random.normal(size=2000)}
        found = pa.analyze(data, "y").importance(**COUNTS)
        assert beats_chance(found["b"])
        assert found.headline().startswith("b matters most for whether ")

    def test_noise_is_rarely_called_a_cause(self) -> None:
        claims = inside = warned = 0
        for seed in range(40):
            random = np.random.default_rng(seed)
            data = {f"x{i}": random.random(300) for i in range(4)} | {"y": random.random(300)}
            a = pa.analyze(data, "y")
            few = {"estimator": "counts", "draws": 200}
            wide, narrow = a.importance(**few), a.importance(0.1, 0.5, **few)
            claims += not wide.headline().startswith("No parameter")
            inside += "no parameter clearly affects" not in contrast(wide, narrow)
            warned += any("no parameter is distinguishable from noise" in note for note in wide.notes)
        assert claims <= 6  # a level of 1 in 20 gives 2; one of 1 in 4 is found nine times of ten
        assert inside <= 6
        assert warned >= 34

    def test_a_real_effect_is_called_one(self, random: np.random.Generator) -> None:
        x = random.random(300)
        a = pa.analyze({"x": x, "z": random.random(300), "y": x + 0.1 * random.random(300)}, "y")
        found = a.importance(estimator="counts", draws=200)
        assert beats_chance(found["x"])
        assert not any("distinguishable from noise" in note for note in found.notes)

    def test_few_rows_say_nothing_of_the_last_step(self, random: np.random.Generator) -> None:
        x = random.random(100)
        a = pa.analyze({"x": x, "y": x}, "y", params=["x"])
        assert "too few to say more" in contrast(a.importance(**COUNTS), a.importance(0.02, 0.1, **COUNTS))


def test_a_sparse_regime_is_told(random: np.random.Generator) -> None:
    gate = random.choice(["on", "off"], 600)
    value = np.where(gate == "on", random.random(600), np.nan)
    y = np.where(gate == "on", 1.0, 0.0) + random.random(600) * 0.5
    notes = pa.analyze({"gate": gate, "v": value, "y": y}, "y").importance(**COUNTS).notes
    assert any(note.startswith("v: only 0 of") and "too few to measure" in note for note in notes)


def test_nested_conditions_through_a_number_with_gaps(random: np.random.Generator) -> None:
    o = random.choice(["a", "b"], 500)
    p = np.where(o == "a", random.integers(0, 2, 500), np.nan)
    q = np.where(p == 1, random.random(500), np.nan)
    space = pa.analyze({"o": o, "p": p, "q": q, "y": random.random(500)}, "y").space
    assert space["p"].when == (("o", ("a",)),)
    assert space["q"].when == (("p", (1.0,)),)


def test_states_are_no_parameter(random: np.random.Generator) -> None:
    data = {"x": random.random(100), "state": random.choice(["COMPLETE", "PRUNED"], 100), "value": random.random(100)}
    a = pa.analyze(data, "value")
    assert list(a.space) == ["x"]
    assert len(a) == np.sum(data["state"] == "COMPLETE")
    assert any("were pruned and are dropped (reading=pa.Reading(pruned='last')" in note for note in a.notes)


def test_a_report_counts_its_rows_once(
    random: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pedanova.counting.countable as module

    data = {f"x{i}": random.random(300) for i in range(6)} | {"y": random.random(300)}
    a = pa.analyze(data, "y")
    counted = []
    from pedanova.counting.arrays import count_rows as real

    monkeypatch.setattr(module, "count_rows", lambda *args, **kwargs: (counted.append(1), real(*args, **kwargs))[1])
    a.report(tmp_path / "r.html", questions=[(0.1, {"x0": (0, 0.5)})], **COUNTS)
    assert len(counted) <= 2


def test_the_sampler_note_has_a_sharp_eye(random: np.random.Generator) -> None:
    """A moderate unevenness of a noise parameter is enough to be told, a small one is not."""
    told = []
    for shape in (1.0, 1.2, 4.0):
        data = {"x": random.beta(shape, 1, 5000), "y": random.random(5000)}
        a = pa.analyze(data, "y", space={"x": pa.Float(0, 1)})
        told.append(any("far from uniform" in note for note in a.importance(baseline="uniform", **COUNTS).notes))
    assert told == [False, False, True]


def test_thirty_values_in_a_hundred_rows_are_no_lattice(random: np.random.Generator) -> None:
    values = np.sort(random.random(30))
    few, many = (pa.analyze({"x": np.tile(values, n), "y": random.random(30 * n)}, "y") for n in (4, 12))
    assert isinstance(few.space["x"], pa.Float)
    assert isinstance(many.space["x"], pa.Ordinal)


def test_a_switch_shows_every_domain_as_a_uniform_draw(random: np.random.Generator) -> None:
    space = {"x": pa.Switch("k", {0: pa.Int(1, 4), 1: pa.Categorical(["a", "b"])})}
    data = {"k": np.tile([0, 1], 50), "x": np.tile(np.array([2, "a"], dtype=object), 50), "y": random.random(100)}
    uniform = pa.analyze(data, "y", space=space).densities("x").uniform
    np.testing.assert_allclose(uniform, [1 / 8] * 4 + [1 / 4] * 2)


def test_an_adaptive_sampler_is_told_of_by_default(random: np.random.Generator) -> None:
    """The usual baseline is the rows there are: whoever reads it must know that they are not the space."""
    spaces = {"x": pa.Float(0, 1), "z": pa.Float(0, 1)}
    for shape, expected in ((1.0, False), (6.0, True)):
        x = random.beta(shape, 1, 6000)
        data = {"x": x, "z": random.random(6000), "y": random.random(6000)}
        notes = pa.analyze(data, "y", space=spaces).importance(estimator="counts", draws=0).notes
        assert any("far from uniform in x: the importances describe" in note for note in notes) is expected
