"""Which estimator answers, why, and how near the truth it comes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.data.regions import as_region
from pedanova.errors import QueryError
from pedanova.measures.importance import measure
from pedanova.measures.inference import Sureness, infer
from pedanova.measures.surrogate import estimate as estimators
from pedanova.measures.surrogate import gaussian
from pedanova.measures.surrogate import model as surrogate
from pedanova.measures.surrogate.blend import (
    UNEVEN,
    Question,
    Told,
    assist,
    believe,
    says_of,
    unevenness,
    weight_of_counts,
    within,
)
from pedanova.measures.surrogate.estimate import Query, as_options, beliefs_of, fitted
from pedanova.measures.surrogate.model import fit_surrogate
from pedanova.measures.surrogate.residuals import residual_p_values
from pedanova.space.grid import grid_of

Table = dict[str, np.ndarray]
SPACE = {name: pa.Float(0, 1) for name in ("x", "y", "z")}


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def quadratic(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return (x - 0.3) ** 2 + 0.4 * (y - 0.6) ** 2 + 0.02 * z


def uniform(rows: int, seed: int = 0, noise: float = 0.0) -> Table:
    dice = random(seed)
    x, y, z = dice.random((3, rows))
    return {"x": x, "y": y, "z": z, "loss": quadratic(x, y, z) + dice.normal(0, noise, rows)}


def adaptive(rows: int, seed: int) -> Table:
    """The first fifth at random, then every row beside one of the best so far."""
    dice = random(seed)
    found = list(dice.random((rows // 5, 3)))
    while len(found) < rows:
        best = sorted(found, key=lambda p: float(quadratic(*p)))[: max(2, len(found) // 5)]
        found.append(np.clip(best[dice.integers(len(best))] + dice.normal(0, 0.15, 3), 0, 1))
    x, y, z = np.array(found).T
    return {"x": x, "y": y, "z": z, "loss": quadratic(x, y, z)}


def asked_of(a: pa.Analysis, target: object = 0.1, region: object = 1.0) -> Query:
    return a.asked(a.ask(target, region)[0], target, region)


def options(**given: object) -> estimators.Options:
    known = {"estimator": "auto", "draws": 200, "seed": 0} | given
    return as_options("region", "auto", known["estimator"], known["draws"], known["seed"], force=True)


@pytest.fixture(scope="module")
def smooth() -> pa.Analysis:
    return pa.analyze(uniform(100), "loss", space=SPACE)


@pytest.fixture(scope="module")
def wide() -> pa.Analysis:
    """Rows enough for a model of a region; one column has gaps that nobody decides."""
    table = uniform(120, seed=2)
    gaps = (table["loss"] > np.median(table["loss"])) & (random(5).random(120) < 0.5)
    return pa.analyze({**table, "m": np.where(gaps, np.nan, random(6).random(120))}, "loss")


@pytest.fixture(scope="module")
def large() -> pa.Analysis:
    """Rows enough for models in a region and around it."""
    return pa.analyze(uniform(500, seed=4, noise=0.002), "loss", space=SPACE)


def lattice(times: int = 3) -> Table:
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(5), np.arange(4)))
    x, y = np.tile(x, times), np.tile(y, times)
    return {"x": x, "y": y, "loss": (x - 2) ** 2 + y + 0.01 * random().random(len(x))}


class TestChoice:
    @pytest.mark.slow
    def test_a_smooth_function_of_few_rows_is_modelled_and_said_to_be(self, smooth: pa.Analysis) -> None:
        found = smooth.importance()
        assert found.estimator == "surrogate"
        note = " ".join(found.notes)
        assert "the target has 10 rows, so a model of all rows was used (rank correlation" in note
        assert "estimator='counts' shows the counts alone" in note

    def test_counts_when_asked_for(self, smooth: pa.Analysis) -> None:
        found = smooth.importance(estimator="counts")
        assert found.estimator == "counts"
        assert not any("model" in note for note in found.notes)

    @pytest.mark.slow
    def test_noise_is_counted_and_the_notes_say_why(self) -> None:
        table = uniform(60) | {"loss": random(9).random(60)}
        a = pa.analyze(table, "loss", space=SPACE)
        found = a.importance()
        assert found.estimator == "counts"
        assert any("predicts the order of the rows badly (rank correlation" in note for note in found.notes)
        refuse(
            QueryError,
            "estimator='surrogate'",
            "predicts the order of the rows badly",
            "use estimator='counts'",
            of=lambda: a.importance(estimator="surrogate"),
        )

    @pytest.mark.parametrize(
        ("rows", "words"),
        [(39, "39 rows are not between 40 and 5,000"), (5001, "5,001 rows are not between 40 and 5,000")],
    )
    def test_too_few_and_too_many_rows_are_counted(self, rows: int, words: str) -> None:
        a = pa.analyze(uniform(rows), "loss", space=SPACE)
        assert a.importance(0.2, draws=0).estimator == "counts"
        refuse(QueryError, words, "use estimator='counts'", of=lambda: a.importance(0.2, estimator="surrogate"))

    @pytest.mark.slow
    def test_forty_rows_are_enough(self) -> None:
        a = pa.analyze(uniform(40), "loss", space=SPACE)
        assert a.importance(0.2, draws=0).estimator == "surrogate"

    @pytest.mark.parametrize(
        "question",
        [
            {"target": "loss <= 0.05"},
            {"target": {"x": (0.2, 0.5)}},
            {"target": np.arange(100) < 20},
            {"target": 0.2, "region": "x < 0.7"},
            {"target": 0.2, "region": {"y": (0.0, 0.8)}},
        ],
        ids=str,
    )
    def test_rows_picked_one_by_one_are_counted(self, smooth: pa.Analysis, question: Table) -> None:
        assert smooth.importance(**question, draws=0).estimator == "counts"
        refuse(
            QueryError,
            "a mask, a box or a condition",
            "use estimator='counts'",
            of=lambda: smooth.importance(**question, estimator="surrogate"),
        )

    def test_rows_chosen_beforehand_are_counted(self) -> None:
        a = pa.analyze(uniform(120), "loss", space=SPACE, where="x < 0.7")
        assert a.importance(draws=0).estimator == "counts"
        refuse(QueryError, "a mask, a box or a condition", of=lambda: a.importance(estimator="surrogate"))

    @pytest.mark.parametrize("smoothing", ["none", 3.0])
    def test_smoothing_of_ones_own_is_a_matter_of_counts(self, smooth: pa.Analysis, smoothing: object) -> None:
        assert smooth.importance(smoothing=smoothing, draws=0).estimator == "counts"
        refuse(
            QueryError,
            f"smoothing={smoothing!r} applies to counts only",
            of=lambda: smooth.importance(smoothing=smoothing, estimator="surrogate"),
        )

    def test_a_loaded_analysis_has_no_rows_to_fit(self, smooth: pa.Analysis, tmp_path: Path) -> None:
        smooth.save(tmp_path / "kept.pedanova")
        kept = pa.load(tmp_path / "kept.pedanova")
        assert kept.importance(draws=0).estimator == "counts"
        refuse(QueryError, "the rows are no longer at hand", of=lambda: kept.importance(estimator="surrogate"))

    def test_a_complete_lattice_is_counted(self) -> None:
        a = pa.analyze(lattice(), "loss")
        assert a.importance(0.2, draws=0).estimator == "counts"
        refuse(QueryError, "the table holds every configuration", of=lambda: a.importance(0.2, estimator="surrogate"))

    def test_a_lattice_with_as_many_rows_but_not_every_configuration_is_not_complete(self) -> None:
        """60 rows of 20 configurations, of which the last is not among them."""
        table = {name: np.concatenate([column[:-1], column[:1]]) for name, column in lattice(3).items()}
        a = pa.analyze(table, "loss", space={"x": pa.Int(0, 4), "y": pa.Int(0, 3)})
        assert a.importance(0.2, draws=0).estimator == "surrogate"

    def test_quantiles_of_other_rows_are_counted(self, smooth: pa.Analysis) -> None:
        """The best tenth of the first rows is no tenth of these."""
        b = pa.analyze(uniform(100, seed=1), "loss", space=SPACE, levels=smooth.levels)
        assert b.importance(0.2, draws=0).estimator == "counts"
        refuse(QueryError, "the quantiles are those of other rows", of=lambda: b.importance(0.2, estimator="surrogate"))

    def test_without_scipy_counts_answer_and_the_extra_is_named(
        self, smooth: pa.Analysis, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gaussian, "available", lambda: False)
        found = smooth.importance(draws=0)
        assert found.estimator == "counts"
        assert any("pip install 'pedanova[surrogate]'" in note for note in found.notes)
        refuse(
            QueryError,
            "it needs SciPy (pip install 'pedanova[surrogate]')",
            of=lambda: smooth.importance(estimator="surrogate"),
        )
        assert not smooth.importance(estimator="counts", draws=0).notes[1:]


class TestAccuracy:
    @staticmethod
    def ratios(a: pa.Analysis, **given: object) -> np.ndarray:
        found = a.importance(**given)  # type: ignore[arg-type]
        return np.array([found[name].ratio for name in SPACE])

    @pytest.fixture(scope="class")
    @staticmethod
    def truth() -> np.ndarray:
        """Ratios over a million points of a dense lattice."""
        x, y, z = (axis.ravel() for axis in np.meshgrid(*3 * [(np.arange(100) + 0.5) / 100]))
        table = {"x": x, "y": y, "z": z, "loss": quadratic(x, y, z)}
        return TestAccuracy.ratios(pa.analyze(table, "loss", space=SPACE), estimator="counts", draws=0)

    @pytest.mark.slow
    @pytest.mark.parametrize("sampler", [uniform, adaptive])
    def test_a_model_is_nearer_the_truth_than_counts(self, truth: np.ndarray, sampler) -> None:  # type: ignore[no-untyped-def]
        model, counts = [], []
        for seed in range(5):
            a = pa.analyze(sampler(100, seed), "loss", space=SPACE)
            model.append(np.abs(self.ratios(a, draws=0) - truth).sum())
            counts.append(np.abs(self.ratios(a, draws=0, estimator="counts") - truth).sum())
        assert np.mean(model) < 0.8 * np.mean(counts)

    @pytest.mark.slow
    def test_noise_is_rarely_found_and_a_weak_parameter_more_often_than_by_counts(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, few in (("KINDS", 1), ("DRAWS_EACH", 1), ("POINTS", 10)):  # p-values need no draws
            monkeypatch.setattr(surrogate, name, few)
        noise, by_model, by_counts = [], 0, 0
        for seed in range(40):
            dice = random(seed)
            x, weak, *idle = dice.random((4, 100))
            loss = (x - 0.3) ** 2 + 0.12 * weak + dice.normal(0, 0.05, 100)
            table = {"x": x, "weak": weak, "a": idle[0], "b": idle[1], "loss": loss}
            a = pa.analyze(table, "loss", space={name: pa.Float(0, 1) for name in ("x", "weak", "a", "b")})
            assert a.observations is not None
            model = fit_surrogate(a.observations, np.arange(100), seed=seed)
            found = residual_p_values(model, np.arange(100), ["weak", "a", "b"], draws=400, seed=seed)
            counted = a.importance(estimator="counts", draws=400, seed=seed)
            noise += [p <= 0.05 for p in found[1:]]
            by_model += found[0] <= 0.05
            p_value = counted["weak"].p_value
            by_counts += p_value is not None and p_value <= 0.05
        assert np.mean(noise) <= 0.12
        assert by_model > by_counts


def assert_sound(found: pa.Importances) -> None:
    """Finite numbers, ratios that add to one, intervals around shares."""
    for row in found.rows:
        numbers = (row.ratio, row.share, row.value, row.activity, row.low, row.high, row.p_value)
        assert all(number is not None and np.isfinite(number) for number in numbers), row
        assert row.low is not None
        assert row.high is not None
        assert 0 <= row.low <= max(0.0, row.share) <= row.high <= 1, row
        assert row.value + row.activity == pytest.approx(row.divergence)
    assert sum(row.ratio for row in found.rows) == pytest.approx(1.0)


def optimizers(rows: int = 100) -> Table:
    """Momentum only under SGD, where it matters most."""
    dice = random(4)
    kind, lr = dice.choice(["adam", "rmsprop", "sgd"], rows), 10 ** dice.uniform(-4, 0, rows)
    momentum = np.where(kind == "sgd", dice.random(rows), np.nan)
    loss = np.abs(np.log10(lr) + 2) + 0.5 * (kind == "adam") + 2 * np.nan_to_num(momentum)
    return {"kind": kind, "lr": lr, "momentum": momentum, "loss": loss + dice.normal(0, 0.1, rows)}


class TestAnswers:
    @pytest.mark.slow
    def test_intervals_hold_the_shares(self, smooth: pa.Analysis) -> None:
        for target in (0.1, 0.5, pa.at_most(0.1), pa.between(0.1, 0.3)):
            assert_sound(smooth.importance(target))

    def test_few_draws_do_not_change_who_is_believed(self, smooth: pa.Analysis) -> None:
        one, many = smooth.importance(draws=1), smooth.importance()
        assert_sound(one)
        for name in SPACE:
            assert one[name].share == pytest.approx(many[name].share, abs=0.03)
        assert smooth.importance(draws=0)["x"].low is None

    def test_conditional_and_categorical_parameters_have_both_their_parts(self) -> None:
        found = pa.analyze(optimizers(), "loss").importance(0.2)
        assert found.estimator == "surrogate"
        assert_sound(found)
        assert found["momentum"].activity > 0
        assert found["momentum"].value > 0
        assert found["kind"].activity == found["lr"].activity == 0

    @pytest.mark.slow
    def test_relabelled_categories_hardly_matter(self) -> None:
        table = optimizers() | {"momentum": random(7).random(100)}
        one = pa.analyze(table, "loss").importance(0.2)
        renamed = np.array([{"adam": "z", "rmsprop": "k", "sgd": "b"}[kind] for kind in table["kind"]])
        two = pa.analyze(table | {"kind": renamed}, "loss").importance(0.2)
        for name in one:
            assert two[name].ratio == pytest.approx(one[name].ratio, abs=0.03)

    @pytest.mark.slow
    def test_only_the_order_of_the_objective_counts(self, smooth: pa.Analysis) -> None:
        table = uniform(100)
        risen = pa.analyze(table | {"loss": np.exp(9 * table["loss"])}, "loss", space=SPACE)
        turned = pa.analyze(table | {"loss": -table["loss"]}, "loss", space=SPACE, direction="maximize")
        again = pa.analyze(table, "loss", space=SPACE)
        told = smooth.importance().to_dict()
        assert risen.importance().to_dict() == told
        assert turned.importance().to_dict() == told
        assert again.importance().to_dict() == told  # and the same seed gives the same bytes

    def test_another_seed_gives_nearly_the_same(self, smooth: pa.Analysis) -> None:
        one, two = smooth.importance(draws=0), smooth.importance(draws=0, seed=7)
        assert one.to_dict() != two.to_dict()
        for name in SPACE:
            assert two[name].ratio == pytest.approx(one[name].ratio, abs=0.1)

    def test_several_objectives_are_modelled_by_their_order(self) -> None:
        table = uniform(80)
        table["cost"] = (table["z"] - 0.5) ** 2
        found = pa.analyze(table, ["loss", "cost"], space=SPACE).importance(0.2)
        assert found.estimator == "surrogate"
        assert_sound(found)


class TestNear:
    @pytest.mark.slow
    def test_a_local_question_asks_both_models_at_the_same_points(self, wide: pa.Analysis) -> None:
        """Else what one says of a region would be read at the other's places."""
        beliefs, _ = self.beliefs(wide, 0.1, 0.5)
        assert len(beliefs) == 2
        far, near = (belief.model for belief in beliefs)
        assert len(near.rows) == 60
        for name, cells in far.points.items():
            np.testing.assert_array_equal(near.points[name], cells)
        assert np.all(beliefs[1].targets <= beliefs[1].regions)
        assert_sound(wide.importance(0.1, 0.5))

    def test_a_region_of_few_rows_has_no_model_of_its_own(self, wide: pa.Analysis) -> None:
        assert len(self.beliefs(wide, 0.1, 0.3)[0]) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("by_value", [False, True])
    def test_the_surroundings_of_a_region_have_a_model_too(self, large: pa.Analysis, by_value: bool) -> None:
        """Three times the region's rows, asked about the region's own."""
        losses = np.sort(large._observed().ranked)
        cuts = [pa.at_most(losses[9]), pa.at_most(losses[49])] if by_value else [0.02, 0.1]
        beliefs, _ = self.beliefs(large, *cuts)
        assert [len(belief.model.rows) for belief in beliefs] == [500, 150, 50]
        for belief in beliefs:
            assert np.all(belief.targets <= belief.regions)
            assert belief.chances.shape == (50,)
            assert belief.chances.sum() == pytest.approx(10, abs=0.01)
            assert np.corrcoef(belief.chances, belief.reached)[0, 1] > 0.5
        assert_sound(large.importance(*cuts))

    def test_a_band_has_no_surroundings(self, large: pa.Analysis) -> None:
        assert len(self.beliefs(large, pa.between(0.1, 0.15), pa.between(0.1, 0.3))[0]) == 2

    def test_who_is_less_surprised_has_more_to_say(self, large: pa.Analysis) -> None:
        beliefs, _ = self.beliefs(large, 0.02, 0.1)
        knows = replace(beliefs[0], chances=np.where(beliefs[0].reached, 0.9, 0.025))
        blind = replace(beliefs[0], chances=np.full(50, 0.2))
        assert says_of([knows]) == pytest.approx([1.0])
        assert says_of([blind, blind]) == pytest.approx([0.5, 0.5])
        says = says_of([knows, blind])
        assert says.sum() == pytest.approx(1.0)
        assert says[0] > 0.9

    def test_draws_count_as_much_as_they_have_to_say(self) -> None:
        told = Told([], np.r_[np.full(100, 3.0), np.full(100, 1.0)])
        values = np.r_[np.zeros(100), np.ones(100)]
        assert told.mean(values) == pytest.approx(0.25)
        assert told.ends(values) == (0.0, 1.0)
        sure = Told([], np.r_[np.full(100, 99.0), np.full(100, 1.0)])
        assert sure.ends(values) == (0.0, 0.0)

    def test_a_quantile_inside_a_region_of_values_is_left_to_the_model_of_all_rows(self, wide: pa.Analysis) -> None:
        """A tenth of all rows is a fifth of this region: a model of it alone would not know."""
        middle = float(np.median(wide._observed().ranked))
        assert len(self.beliefs(wide, 0.1, pa.at_most(middle))[0]) == 1
        assert len(self.beliefs(wide, pa.at_most(middle / 2), pa.at_most(middle))[0]) == 2

    def test_quantiles_are_translated_into_those_of_the_region(self) -> None:
        assert within(as_region(0.1, ""), as_region(0.5, "")) == as_region(0.2, "")
        assert within(pa.between(0.2, 0.3), pa.between(0.1, 0.5)) == pa.between(0.25, 0.5)
        assert within(pa.at_most(3), as_region(0.5, "")) == pa.at_most(3)

    @staticmethod
    def beliefs(a: pa.Analysis, target: object, region: object):  # type: ignore[no-untyped-def]
        asked = asked_of(a, target, region)
        return beliefs_of(asked, options(), fitted(asked, options(), asked.rows))


def test_a_model_that_is_wrong_about_the_rows_leaves_it_to_the_counts(smooth: pa.Analysis) -> None:
    asked = asked_of(smooth, 0.2)
    question = Question(as_region(0.2, ""), as_region(1.0, ""), "minimize", "region", "auto")
    counted = [measure(contrast, baseline="region", smoothing="auto") for contrast in asked.contrasts]
    found = infer(asked.contrasts, counted, draws=200)
    right = believe(fitted(asked, options(), asked.rows), question)
    wrong = replace(right, chances=random().permutation(right.chances))
    weights = [weight_of_counts(b, question, asked.contrasts, counted, found) for b in (right, wrong)]
    assert 0 <= weights[0] < weights[1] - 0.2 <= 0.8


def test_a_parameter_that_decides_everything_explains_at_most_everything(smooth: pa.Analysis) -> None:
    """The doubt in a model whose target is one half of x must not pass 100 %."""
    asked = asked_of(smooth, 0.2)
    question = Question(as_region(0.2, ""), as_region(1.0, ""), "minimize", "region", "auto")
    counted = [measure(contrast, baseline="region", smoothing="auto") for contrast in asked.contrasts]
    belief = believe(fitted(asked, options(), asked.rows), question)
    half = belief.model.cells_drawn("x") < 500
    unsure = [Sureness(0.0, 1.0, 0.5, np.nan) for _ in counted]
    rows, weight = assist([replace(belief, targets=half)], question, asked.contrasts, counted, unsure)
    assert weight == 0
    assert rows[0].share > 0.9
    assert rows[0].high == 1.0


def test_rows_of_an_adaptive_sampler_have_no_say_against_the_model() -> None:
    """Unevenness is near 0 for uniform rows of every kind, and large where a sampler had its likes."""
    random = np.random.default_rng(3)
    for parameter in (pa.Float(0, 1), pa.Int(1, 7), pa.Categorical(["a", "b", "c"]), pa.Ordinal([1, 2, 4, 8])):
        grid = grid_of(parameter)
        even = random.choice(grid.cells, 400, p=grid.prior)
        assert abs(unevenness(even, grid)) < 0.1
        assert unevenness(np.where(random.random(400) < 0.8, 0, even), grid) > UNEVEN
