"""Which estimator answers, why, and how near the truth it comes."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import QueryError
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import pair_plane
from pedanova.results import Importances

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


@pytest.fixture(scope="module")
def smooth() -> pa.Analysis:
    return pa.analyze(uniform(100), "loss", space=SPACE)


def lattice(times: int = 3) -> Table:
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(5), np.arange(4)))
    x, y = np.tile(x, times), np.tile(y, times)
    return {"x": x, "y": y, "loss": (x - 2) ** 2 + y + 0.01 * random().random(len(x))}


class TestChoice:
    def test_a_smooth_function_of_few_rows_is_modelled_and_said_to_be(self, smooth: pa.Analysis) -> None:
        found = smooth.importance()
        assert found.estimator == "surrogate"
        note = " ".join(found.notes)
        assert "answered by a model of the objective (rank correlation" in note
        assert "on held-out rows" in note
        assert "estimator='counts' uses the counts alone" in note

    def test_counts_when_asked_for(self, smooth: pa.Analysis) -> None:
        found = smooth.importance(estimator="counts")
        assert found.estimator == "counts"
        assert not any("model" in note for note in found.notes)

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
        [(39, "a model needs 40 to 20,000 rows, not 39"), (20_001, "a model needs 40 to 20,000 rows, not 20,001")],
    )
    def test_too_few_and_too_many_rows_are_counted(self, rows: int, words: str) -> None:
        a = pa.analyze(uniform(rows), "loss", space=SPACE)
        assert a.importance(0.2, draws=0).estimator == "counts"
        refuse(QueryError, words, "use estimator='counts'", of=lambda: a.importance(0.2, estimator="surrogate"))

    def test_forty_rows_are_enough(self) -> None:
        a = pa.analyze(uniform(40), "loss", space=SPACE)
        assert a.importance(0.2, draws=0).estimator == "surrogate"

    @pytest.mark.parametrize(
        "question",
        [
            {"target": {"x": (0.2, 0.5)}},
            {"target": np.arange(100) < 20},
            {"target": 0.2, "region": uniform(100)["x"] + uniform(100)["y"] < 1.2},
        ],
        ids=str,
    )
    def test_rows_that_are_no_part_of_the_space_are_counted(self, smooth: pa.Analysis, question: Table) -> None:
        assert smooth.importance(**question, draws=0).estimator == "counts"
        refuse(
            QueryError, "box", "use estimator='counts'", of=lambda: smooth.importance(**question, estimator="surrogate")
        )

    @pytest.mark.parametrize("region", ["x < 0.7", {"x": (0.0, 0.7)}], ids=str)
    def test_a_box_is_a_part_of_the_space(self, smooth: pa.Analysis, region: object) -> None:
        """However it is written: the same rows have the same answer."""
        found = smooth.importance(0.2, region)
        assert found.estimator == "surrogate"
        x = uniform(100)["x"]
        assert found.rows == smooth.importance(0.2, x < 0.7).rows
        assert found["x"].n_region == int((x < 0.7).sum())

    def test_rows_chosen_beforehand_are_a_table_of_their_own(self) -> None:
        """In whatever space: it may be that of all rows, of which these reach a part."""
        table = uniform(300)
        part = {"x": pa.Float(0, 0.7)}
        answers = [
            pa.analyze(table, "loss", where="x < 0.7", space=space).importance(draws=0)
            for space in (SPACE, {**SPACE, **part}, None)
        ]
        within = pa.analyze(table, "loss", space=SPACE).within("x < 0.7").importance(draws=0)
        assert {one.estimator for one in (*answers, within)} == {"surrogate"}
        for name in SPACE:
            assert [one[name].share for one in answers] == pytest.approx([within[name].share] * 3, abs=0.04)

    @pytest.mark.parametrize("smoothing", ["none", 3.0])
    def test_smoothing_of_ones_own_is_a_matter_of_counts(self, smooth: pa.Analysis, smoothing: object) -> None:
        assert smooth.importance(smoothing=smoothing, draws=0).estimator == "counts"
        refuse(
            QueryError,
            f"smoothing={smoothing!r} applies to counts only",
            of=lambda: smooth.importance(smoothing=smoothing, estimator="surrogate"),
        )

    def test_a_file_without_the_model_says_what_is_missing(self, smooth: pa.Analysis, tmp_path: Path) -> None:
        smooth.save(tmp_path / "kept.pedanova", rows=False)
        kept = pa.load(tmp_path / "kept.pedanova")
        found = kept.importance(draws=0)
        assert found.estimator == "counts"
        assert any("a model would be more accurate than counts, but the rows are no longer" in n for n in found.notes)
        refuse(QueryError, "the rows are no longer available", of=lambda: kept.importance(estimator="surrogate"))

    def test_a_complete_lattice_is_counted(self) -> None:
        a = pa.analyze(lattice(), "loss")
        assert a.importance(0.2, draws=0).estimator == "counts"
        refuse(QueryError, "the table holds every configuration", of=lambda: a.importance(0.2, estimator="surrogate"))

    def test_a_lattice_with_as_many_rows_but_not_every_configuration_is_not_complete(self) -> None:
        """60 rows of 20 configurations, of which the last is not among them."""
        table = {name: np.concatenate([column[:-1], column[:1]]) for name, column in lattice(3).items()}
        a = pa.analyze(table, "loss", space={"x": pa.Int(0, 4), "y": pa.Int(0, 3)})
        assert a.importance(0.2, draws=0).estimator == "surrogate"

    def test_quantiles_of_other_rows_are_limits(self, smooth: pa.Analysis) -> None:
        """The best fifth of the first rows is no fifth of these, but ends at the same objective."""
        b = pa.analyze(uniform(100, seed=1), "loss", space=SPACE, levels=smooth.data.levels)
        by_part, by_value = b.importance(0.2), b.importance(pa.at_most(smooth.data.reach(0.2)[0]))
        assert by_part.estimator == by_value.estimator == "surrogate"
        assert [row.share for row in by_part.rows] == [row.share for row in by_value.rows]


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

    @pytest.mark.parametrize("sampler", [uniform, adaptive])
    def test_a_model_is_nearer_the_truth_than_counts(self, truth: np.ndarray, sampler) -> None:  # type: ignore[no-untyped-def]
        model, counts = [], []
        for seed in range(5):
            a = pa.analyze(sampler(100, seed), "loss", space=SPACE)
            model.append(np.abs(self.ratios(a, draws=0) - truth).sum())
            counts.append(np.abs(self.ratios(a, draws=0, estimator="counts") - truth).sum())
        assert np.mean(model) < 0.8 * np.mean(counts)


def assert_sound(found: Importances) -> None:
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

    def test_relabelled_categories_hardly_matter(self) -> None:
        table = optimizers() | {"momentum": random(7).random(100)}
        one = pa.analyze(table, "loss").importance(0.2)
        renamed = np.array([{"adam": "z", "rmsprop": "k", "sgd": "b"}[kind] for kind in table["kind"]])
        two = pa.analyze(table | {"kind": renamed}, "loss").importance(0.2)
        for name in one:
            assert two[name].ratio == pytest.approx(one[name].ratio, abs=0.03)

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


class TestAfterAnAdaptiveSampler:
    @pytest.fixture(scope="class")
    @staticmethod
    def found() -> pa.Analysis:
        return pa.analyze(adaptive(200, 1), "loss", space=SPACE)

    def test_the_first_line_says_what_the_best_tenth_is(self, found: pa.Analysis) -> None:
        answer = found.importance()
        words = r"the best 10 % of the space \(loss ≤ [\d.]+; it contains \d+ of your 200 trials\)"
        assert re.search(words, answer.target)
        assert answer.region == "the whole space"
        rows = int(re.search(r"contains (\d+) of your", answer.target)[1])  # type: ignore[index]
        limit = float(re.search(r"≤ ([\d.]+);", answer.target)[1])  # type: ignore[index]
        assert answer.rows[0].n_target == rows == int(np.sum(adaptive(200, 1)["loss"] <= limit * 1.001))
        assert rows > 20
        assert {row.name for row in answer.trials} == set(SPACE)
        assert "in best trials" in str(answer.in_full())

    def test_the_other_meaning_has_a_name(self, found: pa.Analysis) -> None:
        answer = found.importance(of="rows")
        assert answer.estimator == "counts"
        assert answer.target == "the best 10 %"
        assert answer.rows[0].n_target == 20
        assert not answer.trials
        refuse(QueryError, "of='all'", "'space' or 'rows'", of=lambda: found.importance(of="all"))

    def test_a_weak_model_answers_for_the_space_but_gives_no_advice(self) -> None:
        table = adaptive(200, 1)
        weak = pa.analyze(table | {"loss": table["loss"] + 0.2866 * random(1).normal(size=200)}, "loss", space=SPACE)
        answer = weak.importance()
        assert answer.estimator == "surrogate"
        assert "of the space" in answer.target
        assert any("rank correlation 0.2" in note for note in answer.notes)
        with pytest.raises(QueryError, match="predicts the order of the rows badly"):
            weak.gains()
        chance = pa.analyze(table | {"loss": random(1).normal(size=200)}, "loss", space=SPACE)
        assert chance.importance().estimator == "counts"

    def test_everything_speaks_of_one_target(self, found: pa.Analysis) -> None:
        answer = found.importance()
        assert found.densities("x").words == (answer.target, answer.region)
        assert found.interactions().target == answer.target
        step = next(step for step in found.profile(ladder=[0.1]) if step.quantile == Fraction(1, 10))
        assert [row.share for row in step.rows] == [row.share for row in answer.rows]
        assert pair_plane(found.data, ("x", "y"), Question(), 8).target.sum() == answer.rows[0].n_target

    def test_a_value_is_a_value(self, found: pa.Analysis) -> None:
        answer = found.importance(pa.at_most(0.02))
        assert answer.target == "rows with objective ≤ 0.02"
        assert answer.rows[0].n_target == int(np.sum(adaptive(200, 1)["loss"] <= 0.02))


def test_a_column_beside_a_near_copy_keeps_its_share() -> None:
    def table(rows: int) -> Table:
        dice = random(3)
        x, apart, z = dice.normal(size=(3, rows))
        columns = {"x": x, "near": 0.95 * x + np.sqrt(1 - 0.95**2) * apart, "z": z}
        return columns | {"loss": x + 0.6 * z + dice.normal(0, 0.2, rows)}

    space = dict.fromkeys(("x", "near", "z"), pa.Float(-6, 6))
    found, true = (pa.analyze(table(rows), "loss", space=space).importance(draws=0) for rows in (200, 50_000))
    assert found.estimator == "surrogate"
    assert true.estimator == "counts"
    for name, row in true.items():
        assert found[name].share == pytest.approx(row.share, abs=0.06)


def test_values_that_crowd_are_seen_by_their_ranks() -> None:
    dice = random(4)
    columns = {"rate": 10.0 ** dice.uniform(-4, 0, 200), "a": dice.random(200), "z": dice.random(200)}
    loss = 0.2 * np.abs(np.log10(columns["rate"]) + 2) + 0.3 * columns["a"] + dice.normal(0, 0.05, 200)
    unit = pa.Float(0, 1)
    linear, true = (
        pa.analyze(columns | {"loss": loss}, "loss", space={"rate": rate, "a": unit, "z": unit}).importance(draws=0)
        for rate in (unit, pa.Float(1e-4, 1, log=True))
    )
    assert linear.estimator == "surrogate"
    for name, row in true.items():
        assert linear[name].share == pytest.approx(row.share, abs=0.06)
