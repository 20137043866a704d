"""The public face, as a user holds it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.counting.store import read_tallies, write_tallies
from pedanova.errors import FormatError, OutsideSpaceError, QueryError, UnknownParameterError


@pytest.fixture
def analysis(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, objective="loss")


def test_what_matters_comes_first(analysis: pa.Analysis) -> None:
    found = analysis.importance(**COUNTS)
    assert list(found)[:2] == ["lr", "optimizer"]
    assert [row.name for row in found.rows] == list(found)
    assert len(found) == 5
    assert "lr" in found
    assert sum(row.ratio for row in found.rows) == pytest.approx(1.0)
    assert found["lr"].share > 0.2 > found["momentum"].share
    with pytest.raises(UnknownParameterError, match="did you mean 'lr'"):
        found["lrr"]


def test_numbers_fit_together(analysis: pa.Analysis) -> None:
    for row in analysis.importance(0.1, 0.5, **COUNTS).rows:
        m = row.n_target / row.n_region
        assert (row.n_target, row.n_region) == (40, 200)
        assert row.variance == pytest.approx(m**2 * row.divergence, rel=1e-12)
        assert row.raw_share == pytest.approx(m / (1 - m) * row.divergence, rel=1e-12)
        assert row.share <= row.raw_share + 1e-12


def test_forms(analysis: pa.Analysis) -> None:
    found = analysis.importance(**COUNTS)
    columns = found.to_dict()
    assert columns["parameter"] == list(found)
    assert columns["ratio"] == [row.ratio for row in found.rows]
    assert found.to_pandas().to_dict(orient="list") == columns
    assert json.loads(json.dumps(columns)) == columns
    assert found.to_csv().splitlines()[0].startswith("parameter,ratio,share,raw_share")
    assert found.to_markdown().splitlines()[1].startswith("| ---")
    assert found.to_latex().startswith("\\begin{tabular}{lr}")
    assert found.in_full().to_latex().startswith("\\begin{tabular}{lrrrr}")
    assert ">lr</td>" in found._repr_html_()
    assert found.heading() == "Importance: the best 10 % compared with all rows"
    assert " ".join(str(found).split()).startswith(" ".join(found.summary().split()))
    profile = analysis.profile(estimator="counts")
    assert profile.to_pandas().shape[0] == len(profile) * 5


def test_names_are_escaped_everywhere() -> None:
    random = np.random.default_rng(0)
    name = "</script><b>&a|b_c%{\\}"
    found = pa.analyze({name: random.random(100), "y": random.random(100)}, "y").importance(**COUNTS)
    assert "<b>" not in found._repr_html_()
    assert "&lt;/script&gt;" in found._repr_html_()
    assert "a\\|b\\_c" in found.to_markdown()
    assert "\\&a|b\\_c\\%\\{\\textbackslash{}\\}" in found.to_latex()


def test_profile(analysis: pa.Analysis) -> None:
    profile = analysis.profile(estimator="counts")
    for step in profile:
        again = analysis.importance(step.quantile, **COUNTS)  # type: ignore[arg-type]
        assert step.rows == again.rows
        assert step.effective == pytest.approx(step.rows[0].n_target / 400)
    inner = analysis.profile(region=0.5, estimator="counts")
    assert max(float(step.quantile) for step in inner) < 0.5
    assert all(row.n_region == 200 for step in inner for row in step.rows)
    assert profile.of("lr")[0][0] < profile.of("lr")[-1][0]


def test_profile_tells_which_quantiles_ties_hide() -> None:
    y = np.repeat([0.0, 1.0, 2.0], 100)
    profile = pa.analyze({"x": np.arange(300) % 7}, y, params=["x"]).profile()
    assert [step.rows[0].n_target for step in profile] == [100, 200]
    assert "left out" in profile.notes[0]


def test_densities(analysis: pa.Analysis) -> None:
    density = analysis.densities("lr", target=0.1)
    for masses in (density.target, density.region, density.uniform):
        assert masses.sum() == pytest.approx(1.0)
        assert masses.min() >= 0
    best = density.cells[int(np.argmax(density.target))]
    assert 1e-4 < best < 1e-2  # type: ignore[operator]
    assert len(density) == 1001
    assert density.edges is not None
    assert density.edges[0] == analysis.space["lr"].low  # type: ignore[union-attr]
    labels = analysis.densities("optimizer")
    assert labels.cells == ("adam", "rmsprop", "sgd")
    assert labels.to_dict()["cell"] == ["adam", "rmsprop", "sgd"]
    with pytest.raises(UnknownParameterError):
        analysis.densities("nothing")


def test_the_uniform_baseline_sees_the_sampler() -> None:
    """A pure-noise parameter drawn unevenly: important against uniform, not against the region."""
    random = np.random.default_rng(0)
    data = {"noise": random.beta(5, 1, 20_000), "y": random.normal(size=20_000)}
    a = pa.analyze(data, "y", space={"noise": pa.Float(0, 1)})
    assert a.importance(baseline="uniform", **COUNTS)["noise"].divergence > 0.5
    assert abs(a.importance(baseline="region", **COUNTS)["noise"].share) < 0.002


def test_corrected_shares_of_noise_are_zero_on_average() -> None:
    random = np.random.default_rng(1)
    shares = []
    for _ in range(100):
        data = {"x": random.random(200), "c": random.integers(0, 10, 200), "y": random.normal(size=200)}
        found = pa.analyze(data, "y", space={"x": pa.Float(0, 1), "c": pa.Int(0, 9)}).importance(0.1, **COUNTS)
        shares.append((found["x"].unlimited, found["c"].unlimited, found["c"].raw_share))
    mean = np.mean(shares, axis=0)
    assert abs(mean[1]) < 0.005
    assert mean[2] == pytest.approx(9 / 199, abs=0.005)  # what chance explains, uncorrected
    assert abs(mean[0]) < 0.01


def test_missing_values_are_a_cell_of_their_own() -> None:
    random = np.random.default_rng(0)
    present = random.random(1_000) < 0.5
    x = np.where(present, random.random(1_000), np.nan)
    loss = np.where(present, 0.0, 1.0) + random.random(1_000) * 0.1
    a = pa.analyze({"x": x}, loss)
    assert any(f"x: {np.sum(~present)} of 1,000 rows have no value" in note for note in a.notes)
    found = a.importance(0.2, smoothing="none", **COUNTS)
    n, m = 1_000, 200 / 1_000
    assert found["x"].raw_share >= m / (1 - m) * (n / present.sum() - 1) - 1e-9
    assert a.data.tallies["x"].rows == 1_000
    assert a.densities("x").missing_target == 0
    assert a.densities("x").missing_region == pytest.approx(np.mean(~present))


def test_values_outside_the_space() -> None:
    data = {"x": [0.1, 0.5, 2.0, 3.0], "y": [1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(OutsideSpaceError, match=r"x: row 2 has 2.0, outside 0 … 1 \(2 rows in all\); widen the space"):
        pa.analyze(data, "y", space={"x": pa.Float(0, 1)})
    a = pa.analyze(data, "y", space={"x": pa.Float(0, 1)}, reading=pa.Reading(outside="count"))
    assert any("x: 2 of 4 rows lie outside the space" in note for note in a.notes)
    assert len(a) == 4


def test_a_constant_parameter_explains_nothing() -> None:
    random = np.random.default_rng(0)
    table = {"x": random.random(200), "fixed": np.full(200, 3), "y": random.random(200)}
    guessed = pa.analyze(table, "y")
    assert list(guessed.space) == ["x"]
    assert any("fixed: is constant (3)" in note for note in guessed.notes)
    a = pa.analyze(table, "y", params=["x", "fixed"])
    found = a.importance(**COUNTS)
    assert found["fixed"].divergence == 0.0
    assert found["fixed"].ratio == 0.0
    assert any("fixed: is constant (3)" in note for note in a.notes)


def test_every_value_different_tells_nothing() -> None:
    names = [f"n{i}" for i in range(40)]
    a = pa.analyze({"id": names}, np.arange(40.0), params=["id"])
    assert a.importance(**COUNTS)["id"].share == 0.0


def test_levels_of_another_analysis_must_fit(analysis: pa.Analysis, trials: dict[str, np.ndarray]) -> None:
    with pytest.raises(QueryError, match="direction="):
        pa.analyze(trials, "loss", direction="maximize", levels=analysis.data.levels)
    with pytest.raises(QueryError, match="nan="):
        pa.analyze(trials, "loss", reading=pa.Reading(nan="worst"), levels=analysis.data.levels)


def test_shards_answer_like_the_whole(analysis: pa.Analysis, trials: dict[str, np.ndarray]) -> None:
    parts = [
        pa.analyze({n: c[i::3] for n, c in trials.items()}, "loss", space=analysis.space, levels=analysis.data.levels)
        for i in range(3)
    ]
    added = parts[0] + parts[1] + parts[2]
    assert added.importance(0.05, 0.3, **COUNTS) == analysis.importance(0.05, 0.3, **COUNTS)
    assert len(added) == 400
    assert added.data.observations is None


def test_a_small_target_is_told(analysis: pa.Analysis) -> None:
    assert any("only 4 rows" in note for note in analysis.importance(0.01, **COUNTS).notes)
    assert not analysis.importance(0.1, **COUNTS).notes


def test_the_same_call_gives_the_same_bytes(trials: dict[str, np.ndarray]) -> None:
    one, two = (pa.analyze(trials, "loss", scan=pa.Scan(threads=n)) for n in (1, 2))
    assert one.importance(**COUNTS) == two.importance(**COUNTS)
    assert one.profile(estimator="counts").to_csv() == two.profile(estimator="counts").to_csv()


def test_analysis_of_objective_arrays_of_every_kind(trials: dict[str, np.ndarray]) -> None:
    import pandas as pd
    import polars as pl

    loss = trials.pop("loss")
    expected = pa.analyze(trials, loss).importance(**COUNTS)
    for objective in (loss.tolist(), pd.Series(loss), pl.Series(loss), tuple(loss)):
        assert pa.analyze(trials, objective).importance(**COUNTS) == expected


def test_show_versions(capsys: pytest.CaptureFixture[str]) -> None:
    pa.show_versions()
    shown = capsys.readouterr().out
    assert pa.__version__ in shown
    assert "kernel    C++" in shown


def test_completion_offers_what_a_user_may_call(analysis: pa.Analysis) -> None:
    assert [name for name in dir(analysis) if name[0] != "_"] == [
        "alone", "along", "brief", "compare", "curves", "data", "densities", "direction", "effects", "explore", "first",
        "gains", "groups", "history", "importance", "interactions", "needed", "next_trials", "notes", "objective",
        "opening", "pairs", "plot", "profile", "reduce", "report", "save", "seeds", "space", "trials", "widget",
        "within",
    ]  # fmt: skip
    assert [name for name in dir(analysis.plot) if name[0] != "_"] == [
        "along", "curves", "densities", "effects", "gains", "history", "importance", "interactions", "objectives",
        "pair", "profile", "reduction", "slice",
    ]  # fmt: skip


def test_an_answer_knows_whether_its_region_is_all_rows(analysis: pa.Analysis) -> None:
    """Whatever its words are: a condition may be called like that."""
    assert analysis.importance(0.1, **COUNTS).whole
    assert analysis.importance("layers > 2", **COUNTS).whole
    assert not analysis.importance(0.1, 0.5, **COUNTS).whole
    assert not analysis.importance(0.1, "layers > 2", **COUNTS).whole


def test_several_restrictions_hold_at_once(analysis: pa.Analysis) -> None:
    both = analysis.within({"layers": (2, 3)}, "layers > 2")
    one = analysis.within("layers == 3")
    assert both.importance(0.2, **COUNTS).to_dict() == one.importance(0.2, **COUNTS).to_dict()
    assert analysis.within() is analysis
    assert analysis.within("layers > 2", "layers <= 3").data is both.data  # the same rows are not counted again
    with pytest.raises(QueryError, match=r"layers > 2 and rows where layers < 2\) has 0 rows"):
        analysis.within("layers > 2", "layers < 2")


def test_a_file_of_a_long_table_knows_repeated_configurations(tmp_path: Path) -> None:
    """Counts do not show which rows have the same configuration; a sample of the rows or of their hashes does."""
    random = np.random.default_rng(0)
    x, z = np.repeat(random.random((2, 7_000)), 3, axis=1)
    a, path = pa.analyze({"x": x, "z": z, "y": x + 0.1 * random.normal(size=len(x))}, "y"), tmp_path / "a.pedanova"
    for rows in (None, True, False):
        a.save(path, rows=rows)
        b = pa.load(path)
        assert b.importance().to_dict() == a.importance().to_dict()
    b.save(tmp_path / "again.pedanova")
    assert pa.load(tmp_path / "again.pedanova").importance().to_dict() == a.importance().to_dict()
    assert any("42,000 rows have about 7,000 configurations" in note for note in (a + a).importance().notes)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("signed", np.zeros(3)),
        ("signed", np.full(2000, np.nan)),
        ("cells 0", np.zeros(2000)),
        ("cells 0", np.full(2000, 10**6)),
        ("cells 0", np.full(2000, -1)),
        ("trials", np.full(2000, "x")),
    ],
)
def test_a_file_with_an_impossible_sample(tmp_path: Path, name: str, array: np.ndarray) -> None:
    random = np.random.default_rng(0)
    path = tmp_path / "a.pedanova"
    pa.analyze({"x": random.random(20_100), "z": random.random(20_100), "y": random.random(20_100)}, "y").save(path)
    stored = read_tallies(path)
    sample = stored.attachments["sample"]
    arrays = {key: np.resize(own, 2000) for key, own in sample.arrays.items()} | {name: array}
    wrong = replace(sample, header={**sample.header, "rows": 2000}, arrays=arrays)
    write_tallies(path, replace(stored, attachments={"sample": wrong}))
    with pytest.raises(FormatError, match=r"a\.pedanova has (columns|values|rows) "):
        pa.load(path)


def test_levels_of_one_objective_show_what_matters_for_the_other() -> None:
    rng = np.random.default_rng(0)
    width, rate, idle = rng.random((3, 200))
    table = {
        "width": width,
        "rate": rate,
        "idle": idle,
        "error": (rate - 0.3) ** 2 + 0.5 * (1 - width) ** 2,
        "speed": -width,
    }
    a = pa.analyze(
        table,
        ["error", "speed"],
        direction=["min", "max"],
        space=dict.fromkeys(("width", "rate", "idle"), pa.Float(0, 1)),
    )
    levels = a.compare(by="level")
    _, half, every = levels.values()
    assert list(levels)[2] == "any speed"
    assert all(key.startswith("speed ≥ -") for key in list(levels)[:2])
    assert half.estimator == every.estimator == "surrogate"
    assert half["idle"].share < 0.05 < half["rate"].share
    rows = a.alone("error").importance(region=f"speed >= {np.quantile(-width, 0.5)}")
    assert half["rate"].low <= rows["rate"].share <= half["rate"].high
    assert set(levels.meanings) == set(levels)
    with pytest.raises(QueryError, match="needs two objectives, not 1"):
        a.alone("error").compare(by="level")
