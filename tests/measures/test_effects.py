"""Scale-aware effects: exact values, clipping, what cannot be answered, and how it prints."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pedanova as pa
from helpers.common import refuse, toy
from pedanova.errors import QueryError, UnknownParameterError
from pedanova.measures.bins import bins_of
from pedanova.measures.distributions import student_end
from pedanova.measures.effects import binned_marginal
from pedanova.results import Effects

SQUARE = {"x1": pa.Float(-5, 5), "x2": pa.Float(-5, 5)}


def lattice(points: int) -> np.ndarray:
    """(points², 2) midpoints of [-5, 5]²."""
    middle = -5 + (np.arange(points) + 0.5) * 10 / points
    return np.stack(np.meshgrid(middle, middle, indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.fixture(scope="module")
def disc() -> tuple[np.ndarray, pa.Analysis]:
    """Two points to a cell and axis: the midpoint rule, whose error comes from the rim of the disc."""
    x = lattice(2002)
    return x, pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, toy(x), space=SQUARE)


class TestToy:
    def test_all_rows(self, disc: tuple[np.ndarray, pa.Analysis]) -> None:
        found = disc[1].effects(smoothing="none")
        assert found.mean == pytest.approx(16.596687690307952, rel=1e-6)
        assert found["x1"].variance == pytest.approx(56.66562070529999, rel=1e-5)
        assert found["x2"].variance == pytest.approx(56.527990866406334, rel=1e-5)

    def test_all_rows_smoothed(self, disc: tuple[np.ndarray, pa.Analysis]) -> None:
        """A kernel of 7 cells turns x² into x² + h² inside and flattens it at the ends: under 1 %."""
        assert disc[1].effects()["x1"].bandwidth == 0.0  # among so many rows the default is none
        found = disc[1].effects(smoothing=7.0)
        assert found["x1"].bandwidth == 7.0
        assert found["x1"].variance == pytest.approx(56.66562070529999, rel=0.01)

    @pytest.mark.parametrize("how", ["mask", "value"])
    def test_the_disc(self, disc: tuple[np.ndarray, pa.Analysis], how: str) -> None:
        """The rim lies between two points: off by their distance over the radius, 3 in 1,000."""
        x, a = disc
        inside = (x**2).sum(axis=1) <= 3
        found = a.effects(inside if how == "mask" else pa.at_most(2.9999999), smoothing="none")
        assert found.n_region == inside.sum()
        assert found["x1"].variance == pytest.approx(0.55875625, rel=3e-3)
        assert found["x2"].variance == pytest.approx(0.05880625, rel=3e-3)
        assert found.total_variance == pytest.approx(0.55880625, rel=3e-3)
        assert sum(row.raw_share for row in found.rows) == pytest.approx(1.105146, rel=3e-3)
        assert "more than 100 %" in " ".join(found.notes)

    def test_a_random_sample(self) -> None:
        """200,000 rows: the sampling error of a variance of x² is about 0.3 %."""
        x = np.random.default_rng(4).uniform(-5, 5, (200_000, 2))
        found = pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, toy(x), space=SQUARE).effects(smoothing="none")
        corrected = found["x1"].share * found.total_variance
        assert corrected == pytest.approx(56.66562070529999, rel=0.012)
        assert found["x1"].share + found["x2"].share == pytest.approx(1.0, abs=0.005)


class TestClip:
    @pytest.mark.parametrize(
        ("length", "exact"),
        [(1, 0.08888888888888889), (2, 0.15555555555555556), (5, 0.08888888888888889), (10, 0.04888888888888889)],
    )
    def test_global_variance(self, length: int, exact: float) -> None:
        x = -length + (np.arange(100_100) + 0.5) * 2 * length / 100_100
        a = pa.analyze({"x": x}, x**2, space={"x": pa.Float(-length, length)})
        found = a.effects(clip=pa.at_most(1.0), smoothing="none")
        assert found.total_variance == pytest.approx(exact, rel=1e-6)
        assert found["x"].variance == pytest.approx(exact, rel=1e-4)  # less what a cell of 1/1001 hides

    @pytest.mark.parametrize("direction", ["minimize", "maximize"])
    @pytest.mark.parametrize("clip", [0.1, 0.333, "value"])
    @pytest.mark.parametrize("rows", [100, 3_000])
    def test_against_clipping_the_rows(self, direction: str, clip: float | str, rows: int) -> None:
        random = np.random.default_rng(0)
        x, c = random.random(rows), random.choice(["a", "b"], rows)
        sign = 1.0 if direction == "minimize" else -1.0
        loss = sign * np.exp(3 * x + (c == "a") + random.normal(size=rows))
        a = pa.analyze({"x": x, "c": c}, loss, direction=direction)
        if clip == "value":
            cut = 5.0 * sign
            found = a.effects(clip=pa.at_most(cut) if sign > 0 else pa.at_least(cut))
        else:
            cut = sign * np.sort(sign * loss)[math.ceil(float(clip) * rows) - 1]
            found = a.effects(clip=clip)
        clipped = np.minimum(loss, cut) if sign > 0 else np.maximum(loss, cut)
        expected = pa.analyze({"x": x, "c": c}, clipped, direction=direction).effects()
        assert found.mean == pytest.approx(expected.mean, rel=1e-10)
        assert found.total_variance == pytest.approx(clipped.var(), rel=1e-10)
        for name in found:
            assert found[name].variance == pytest.approx(expected[name].variance, rel=1e-9)
        assert "is set to" in " ".join(found.notes)

    def test_inside_a_region(self) -> None:
        x = np.random.default_rng(1).random(2_000)
        a = pa.analyze({"x": x}, x, params=["x"])
        best = np.sort(x)
        found = a.effects(0.5, clip=0.1)
        assert found.n_region == 1_000
        assert found.total_variance == pytest.approx(np.minimum(best[:1_000], best[199]).var(), rel=1e-10)
        inside = a.effects(x <= best[999], clip=0.2)
        assert inside.total_variance == pytest.approx(found.total_variance, rel=1e-10)

    def test_infinite_losses_are_clipped(self) -> None:
        x = np.arange(1_000) / 1_000
        loss = np.where(x > 0.7, np.inf, x)
        a = pa.analyze({"x": x}, loss)
        assert a.effects(clip=0.1).total_variance == pytest.approx(np.minimum(x, 0.099).var())
        assert a.effects(0.5).total_variance == pytest.approx(x[:500].var())

    def test_rows_that_failed_count_as_worst(self) -> None:
        """Their objective is no result: it may be clipped away, not averaged."""
        x = np.arange(500) / 500
        state = np.where(x > 0.8, "FAIL", "COMPLETE")
        table = {"x": x, "state": state, "y": np.where(x > 0.8, -1.0, x)}
        reading = pa.Reading(state="state", failed="worst")
        a = pa.analyze(table, "y", direction="min", params=["x"], reading=reading)
        assert len(a) == 500
        assert (a.effects().n_region, a.effects().mean) == (401, pytest.approx(x[:401].mean()))
        assert a.effects(clip=0.2).mean == pytest.approx(np.minimum(x, x[99]).mean())


class TestRowsWithoutAFiniteObjective:
    def table(self, rows: int) -> dict[str, np.ndarray]:
        random = np.random.default_rng(0)
        x, c = random.random(rows), random.choice(["a", "b"], rows)
        loss = np.where((x > 0.7) & (c == "a"), np.inf, x + (c == "a") + 0.1 * random.normal(size=rows))
        return {"x": x, "c": c, "loss": loss}

    @pytest.mark.parametrize("rows", [100, 3_000])
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_they_are_left_out_and_counted_aloud(self, rows: int, sign: float) -> None:
        table = self.table(rows)
        known = np.isfinite(table["loss"])
        given = table | {"loss": sign * table["loss"]}
        space = {"x": pa.Float(0, 1), "c": pa.Categorical(["a", "b"])}
        options = {"space": space, "direction": "minimize" if sign > 0 else "maximize"}
        found = pa.analyze(given, "loss", **options).effects()
        without = pa.analyze({n: column[known] for n, column in given.items()}, "loss", **options).effects()
        assert found.n_region == known.sum()
        assert found.mean == pytest.approx(without.mean, rel=1e-12)
        for name in space:
            assert found[name].share == pytest.approx(without[name].share, rel=1e-9)
        told = " ".join(map(str, found.notes))
        assert f"{(~known).sum():,} of {rows:,} rows have no finite objective and are left out" in told
        assert not without.notes

    @pytest.mark.parametrize("how", ["in parts", "saved", "by an engine", "added"])
    def test_however_the_rows_are_counted(self, how: str, tmp_path: Path) -> None:
        table = self.table(3_000)
        a = pa.analyze(table, "loss")
        if how == "in parts":
            frames = [pl.DataFrame(table)[i : i + 1_000] for i in (0, 1_000, 2_000)]
            for i, frame in enumerate(frames):
                frame.write_parquet(tmp_path / f"{i}.parquet")
            other = pa.analyze(tmp_path, "loss", scan=pa.Scan(stream=True))
        elif how == "saved":
            a.save(tmp_path / "a.pedanova")
            other = pa.load(tmp_path / "a.pedanova")
        elif how == "by an engine":
            other = pa.analyze(pl.DataFrame(table).lazy(), "loss", scan=pa.Scan(pushdown=True))
        else:
            halves = [{n: column[i::2] for n, column in table.items()} for i in range(2)]
            other = sum(pa.analyze(half, "loss", space=a.space, levels=a.data.levels) for half in halves)
        one, two = a.effects(), other.effects()
        assert two.n_region == one.n_region
        assert two.shares == pytest.approx(one.shares, rel=1e-9)
        assert [str(note) for note in two.notes] == [str(note) for note in one.notes]

    def test_levels_of_others_may_not_tell_them_apart(self) -> None:
        table = self.table(3_000)
        known = np.isfinite(table["loss"])
        first = pa.analyze({n: column[known] for n, column in table.items()}, "loss")
        later = pa.analyze(table, "loss", space=first.space, levels=first.data.levels)
        refuse(QueryError, "infinite", "clip=0.1", "where=", of=later.effects)

    def test_the_best_may_not_be_endless(self) -> None:
        table = self.table(3_000)
        a = pa.analyze(table | {"loss": -table["loss"]}, "loss")
        refuse(QueryError, "infinite", of=a.effects)

    def test_the_demo(self) -> None:
        demo = Path(pa.__file__).parent / "cli" / "demo_trials.csv"
        found = pa.analyze(demo, "error").effects()
        assert found.n_region == 986
        assert next(iter(found)) == "learning_rate"


class TestScale:
    @pytest.mark.parametrize(("power", "rows"), [(-280, 3_000), (-200, 100), (-125, 100), (300, 3_000)])
    def test_no_scale_takes_digits(self, power: int, rows: int, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        table = {"x": random.random(rows), "c": random.choice(["a", "b", "c"], rows)}
        loss = table["x"] ** 2 + 0.5 * (table["c"] == "a") + 0.1 * random.normal(size=rows)
        one, a = pa.analyze(table, loss), pa.analyze(table, loss * 10.0**power)
        a.save(tmp_path / "a.pedanova")
        counted = [a, pa.load(tmp_path / "a.pedanova")]
        if power in (-280, 300):  # an engine is asked in words, which takes a second
            frame = pl.DataFrame(table | {"y": loss * 10.0**power}).lazy()
            counted.append(pa.analyze(frame, "y", scan=pa.Scan(pushdown=True)))
        for region in (1.0, 0.1):
            expected = one.effects(region)
            for b in counted:
                found = b.effects(region)
                assert found.shares == pytest.approx(expected.shares, rel=1e-9)
                assert found.ratios == pytest.approx(expected.ratios, rel=1e-9)
                assert found.mean / 10.0**power == pytest.approx(expected.mean, rel=1e-12)
        told = " ".join(map(str, a.effects().notes))
        assert ("outside the range of floating-point numbers" in told) == (abs(power) > 150)

    def test_scales_beside_each_other(self) -> None:
        """Each region has its own scale: the best rows are not drowned by the worst."""
        x = np.arange(1_000) / 1_000
        loss = np.where(x < 0.1, x * 1e-200, x * 1e200)
        a = pa.analyze({"x": x}, loss, space={"x": pa.Float(0, 1)})
        assert a.effects(0.1, smoothing="none")["x"].raw_share == pytest.approx(1.0)
        assert a.effects(smoothing="none")["x"].raw_share == pytest.approx(1.0)

    @pytest.mark.parametrize("largest", [1e306, 1.7e308])
    def test_sums_that_overflow_are_refused(self, largest: float) -> None:
        loss = np.where(np.arange(300) % 3, largest, -largest)
        with pytest.raises(QueryError, match=r"too large to add.*clip=0.1"):
            pa.analyze({"x": np.arange(300) % 7}, loss).effects()


class TestRefusals:
    @pytest.fixture
    def a(self, trials: dict[str, np.ndarray]) -> pa.Analysis:
        return pa.analyze(trials, "loss")

    def test_clip(self, a: pa.Analysis) -> None:
        refuse(QueryError, "clip", "at_most(v)", of=lambda: a.effects(clip=pa.at_least(1.0)))
        refuse(QueryError, "clip", "at_most(v)", of=lambda: a.effects(clip=pa.between(0.1, 0.2)))
        refuse(QueryError, "clip", "quantile", of=lambda: a.effects(clip="layers > 2"))
        refuse(QueryError, "clip", "limit inside region", of=lambda: a.effects(0.1, clip=0.5))
        refuse(QueryError, "clip", "limit inside region", of=lambda: a.effects(clip=1.0))
        refuse(QueryError, "clip=2", "quantile", of=lambda: a.effects(clip=2))
        refuse(
            QueryError, "clip", "limit inside region", of=lambda: a.effects(pa.between(0.5, 0.9), clip=pa.at_most(-9))
        )

    def test_region(self, a: pa.Analysis) -> None:
        refuse(QueryError, "region", of=lambda: a.effects(0))
        refuse(QueryError, "has 0 rows", of=lambda: a.effects(pa.at_most(-99.0)))
        refuse(QueryError, "smoothing", of=lambda: a.effects(smoothing="much"))

    def test_a_constant(self) -> None:
        a = pa.analyze({"x": np.arange(10)}, [1.0] * 8 + [2.0] * 2, params=["x"])
        refuse(QueryError, "is 1 in every row", of=lambda: a.effects(0.5))
        third = pa.analyze({"x": np.arange(1_000)}, [0.1] * 500 + [1 / 3] * 500, params=["x"], levels=[0.5])
        worse = pa.between(0.5, 1.0)
        refuse(QueryError, "is 0.333333 in every row", of=lambda: third.effects(worse))

    def test_several_objectives(self) -> None:
        random = np.random.default_rng(0)
        table = {"x": random.random(200), "loss": random.random(200), "time": random.random(200)}
        a = pa.analyze(table, ["loss", "time"])
        refuse(QueryError, "several objectives", ".alone('loss').effects()", of=a.effects)
        assert pa.Analysis(a.data.alone("time")).effects().n_region == 200

    def test_unknown_names(self, a: pa.Analysis) -> None:
        with pytest.raises(KeyError, match="did you mean 'layers'"):
            a.effects()["layer"]


class TestTable:
    @pytest.fixture
    def found(self, trials: dict[str, np.ndarray]) -> Effects:
        return pa.analyze(trials, "loss").effects(0.5)

    def test_it_prints(self, found: Effects) -> None:
        assert str(found).startswith("Effects of the parameters on the objective in the best 50 %:\nparameter")
        assert found.header() == ["parameter", "ratio", "share", "variance"]
        assert list(found.to_dict()) == ["parameter", "ratio", "share", "raw_share", "variance", "bandwidth"]
        assert len(found) == 5
        assert "lr" in found
        assert sum(row.ratio for row in found.rows) == pytest.approx(1.0)
        assert [row.name for row in found.rows] == list(found)

    def test_marginals(self) -> None:
        x = np.array(["a", "b", "b", None, "c"], dtype=object)
        space = {"x": pa.Categorical(["a", "b", "c", "d"])}
        a = pa.analyze({"x": x}, [1.0, 2.0, 4.0, 8.0, 5.0], space=space)
        marginal = a.effects().marginal("x")
        assert marginal.cells == ("a", "b", "c", "d")
        assert marginal.counts.tolist() == [1, 2, 1, 0]
        np.testing.assert_allclose(marginal.mean, [1.0, 3.0, 5.0, np.nan])
        assert (marginal.missing_rows, marginal.missing_mean) == (1, pytest.approx(8.0))
        assert a.effects()["x"].variance == pytest.approx(np.var([1, 3, 3, 5, 8]))
        assert len(marginal) == 4
        assert list(marginal.to_dict()) == ["cell", "rows", "mean", "low", "high"]

    def test_smoothed_marginals_follow_the_function(self) -> None:
        x = np.random.default_rng(0).random(20_000)
        marginal = pa.analyze({"x": x}, 2 * x, space={"x": pa.Float(0, 1)}).effects()["x"].marginal
        middle = np.array(marginal.cells, dtype=float)
        inner = (middle > 0.1) & (middle < 0.9)
        np.testing.assert_allclose(marginal.mean[inner], 2 * middle[inner], atol=0.02)
        assert marginal.edges is not None
        assert marginal.bandwidth > 0

    def test_ties_and_few_rows_are_told(self) -> None:
        a = pa.analyze({"x": np.arange(10) % 3}, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7], params=["x"])
        notes = " ".join(a.effects(0.5).notes)
        assert "only 5 rows" in notes
        tied = pa.analyze({"x": np.arange(6) % 3}, [0, 1, 1, 1, 2, 3], params=["x"]).effects(0.4)
        assert "because of ties, the best 40 % are" in " ".join(tied.notes)


def drawn(rows: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    x, kind = random.random(rows), random.choice(["a", "b", "c"], rows)
    loss = np.where(kind == "a", 0.0, np.where(kind == "b", 1.0, 3.0)) + 4 * x + random.normal(size=rows)
    return {"x": x, "kind": kind}, loss


SPACE = {"x": pa.Float(0, 1), "kind": pa.Categorical(["a", "b", "c"])}


def own_half(values: np.ndarray) -> float:
    return float(student_end(len(values) - 1.0) * values.std(ddof=1) / np.sqrt(len(values)))


def test_few_rows_are_exact() -> None:
    """Up to 128 rows every objective has a level of its own: the tally knows all."""
    data, loss = drawn(100)
    marginal = pa.analyze(data, loss, space=SPACE, direction="minimize").effects().marginal("kind")
    for i, kind in enumerate(marginal.cells):
        own = loss[data["kind"] == kind]
        assert marginal.mean[i] == pytest.approx(own.mean(), rel=1e-12)
        assert marginal.high[i] - marginal.mean[i] == pytest.approx(own_half(own), rel=1e-9)
        assert marginal.mean[i] - marginal.low[i] == pytest.approx(own_half(own), rel=1e-9)
        assert marginal.counts[i] == len(own)


@pytest.mark.parametrize("clip", [None, 0.5])
def test_many_rows_from_levels(clip: float | None) -> None:
    data, loss = drawn(50_000)
    marginal = pa.analyze(data, loss, space=SPACE, direction="minimize").effects(clip=clip).marginal("kind")
    value = loss if clip is None else np.minimum(loss, np.sort(loss)[len(loss) // 2 - 1])
    for i, kind in enumerate(marginal.cells):
        own = value[data["kind"] == kind]
        assert marginal.mean[i] == pytest.approx(own.mean(), rel=1e-9)
        assert marginal.high[i] - marginal.mean[i] == pytest.approx(own_half(own), rel=0.01)


def test_inside_a_region() -> None:
    data, loss = drawn(5_000)
    a = pa.analyze(data, loss, space=SPACE, direction="minimize")
    inside = data["x"] < 0.5
    marginal = a.effects({"x": (0.0, 0.5)}).marginal("kind")
    assert marginal.counts.sum() == inside.sum()
    own = loss[inside & (data["kind"] == "b")]
    assert marginal.mean[1] == pytest.approx(own.mean(), rel=1e-9)
    assert marginal.high[1] - marginal.mean[1] == pytest.approx(own_half(own), rel=0.02)


def test_intervals_hold_the_truth() -> None:
    """Of 95 % of the tables; on a range the kernel's bias is part of the error, and small on a line."""
    by_kind, along = [], []
    for seed in range(150):
        a = pa.analyze(*drawn(300, seed), space=SPACE, direction="minimize")
        kind, x = a.effects().marginal("kind"), a.effects().marginal("x")
        by_kind.append((kind.low <= [2, 3, 5]) & (kind.high >= [2, 3, 5]))
        line = 4 / 3 + 4 * np.array(x.cells, dtype=float)
        along.append(((x.low <= line) & (line <= x.high))[100:950:100])
    assert 0.92 <= np.mean(by_kind) <= 0.98
    assert 0.91 <= np.mean(along) <= 0.99


def test_scale_and_direction_move_it_along() -> None:
    data, loss = drawn(1_000)
    one = pa.analyze(data, loss, space=SPACE, direction="minimize").effects().marginal("x")
    two = pa.analyze(data, 5 - 1e200 * loss, space=SPACE, direction="maximize").effects().marginal("x")
    np.testing.assert_allclose(two.high - two.mean, 1e200 * (one.mean - one.low), rtol=1e-6)


def test_single_rows_have_no_interval_and_empty_cells_nothing() -> None:
    a = pa.analyze(
        {"c": ["a", "b", "b", "b"]}, [1.0, 2.0, 3.0, 5.0], direction="minimize",
        space={"c": pa.Categorical(["a", "b", "none"])},
    )  # fmt: skip
    marginal = a.effects().marginal("c")
    assert marginal.mean[0] == 1.0
    assert np.isnan(marginal.low[0])
    assert marginal.low[1] < marginal.mean[1] < marginal.high[1]
    assert np.isnan(marginal.mean[2])
    assert list(marginal.to_dict()) == ["cell", "rows", "mean", "low", "high"]


def test_unknown_names() -> None:
    a = pa.analyze(*drawn(50), space=SPACE, direction="minimize")
    refuse(UnknownParameterError, "kind", of=lambda: a.effects().marginal("kinds"))
    refuse(UnknownParameterError, of=lambda: a.effects().marginal(0))


@pytest.mark.parametrize("points", [1, 7, 40])
def test_means_of_bins_add_up_to_that_of_the_cells(points: int) -> None:
    random = np.random.default_rng(points)
    x, y = random.random(400), random.random(400)
    a = pa.analyze({"x": x, "y": y, "loss": x**2 + random.normal(0, 0.1, 400)}, "loss")
    marginal = a.effects().marginal("x")
    found = binned_marginal(marginal, bins_of(marginal.parameter, marginal.counts, points))
    assert found.rows.sum() == marginal.counts.sum() == 400
    held = found.rows > 0
    assert found.mean[held] @ found.rows[held] == pytest.approx(np.nansum(marginal.mean * marginal.counts))
    assert np.all(np.isnan(found.mean[~held]))
    known = np.isfinite(found.low)
    assert np.all((found.low <= found.mean)[known] & (found.mean <= found.high)[known])


def test_bars_are_the_plain_means_of_their_rows() -> None:
    random = np.random.default_rng(0)
    n, loss = random.integers(1, 6, 300), random.random(300)
    marginal = pa.analyze({"n": n, "z": random.random(300), "loss": loss}, "loss").effects().marginal("n")
    found = binned_marginal(marginal, bins_of(marginal.parameter, marginal.counts))
    assert found.mean == pytest.approx([loss[n == value].mean() for value in range(1, 6)])
