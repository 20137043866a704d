"""Gains: exact where the table is complete, inside their intervals where a model answers, refused where none can."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import LevelsError, PedanovaError, QueryError, UnknownParameterError
from pedanova.measures.surrogate.objective_model import Candidates, ObjectiveModel
from pedanova.measures.surrogate.row_model import RowModel

LATTICE = {"a": pa.Ordinal([1, 2, 4, 8]), "b": pa.Int(0, 4), "k": pa.Categorical(["x", "y", "z"])}
WORTH = {"x": 0.0, "y": 0.7, "z": 0.2}


def lattice_value(a: int, b: int, k: str) -> float:
    return (np.log2(a) - 2) ** 2 * (1 if k == "x" else 2) + 0.3 * abs(b - 3) + WORTH[k]


def complete_table() -> tuple[dict[str, list[Any]], dict[tuple[Any, ...], float]]:
    every = list(itertools.product((1, 2, 4, 8), range(5), "xyz"))
    truth = {one: lattice_value(*one) for one in every}
    columns = {name: [one[j] for one in every] for j, name in enumerate(LATTICE)}
    return {**columns, "loss": list(truth.values())}, truth


def test_a_complete_table_is_enumerated() -> None:
    table, truth = complete_table()
    default = {"a": 8, "b": 0, "k": "y"}
    gains = pa.analyze(table, "loss", space=LATTICE).gains(default)
    base, best = truth[8, 0, "y"], min(truth.values())
    for j, name in enumerate(LATTICE):
        along = [value for key, value in truth.items() if all(key[i] == [8, 0, "y"][i] for i in range(3) if i != j)]
        row = gains[name]
        assert row.gain == row.low == row.high == pytest.approx(base - min(along))
        assert row.wrong == pytest.approx(max(along) - base)
        left = min(value for key, value in truth.items() if key[j] == default[name]) - best
        assert row.left == row.left_high == pytest.approx(left)
    assert gains.total.gain == gains.total.low == gains.total.high == pytest.approx(base - best)
    assert gains.best == {"a": 4, "b": 3, "k": "x"}
    assert gains.path.rows[-1].objective == pytest.approx(best)
    assert sum(step.gain for step in gains.path.rows) == pytest.approx(base - best)


def test_a_larger_objective_is_better_where_it_is_maximised() -> None:
    table, _ = complete_table()
    less = pa.analyze(table, "loss", space=LATTICE).gains({"a": 1})
    more = pa.analyze({**table, "loss": [-value for value in table["loss"]]}, "loss", direction="max", space=LATTICE)
    assert more.gains({"a": 1}).to_dict() == less.to_dict()
    assert more.gains({"a": 1}).path.rows[-1].objective == -less.path.rows[-1].objective


def test_what_is_safe_is_safe_together() -> None:
    """b and c replace each other: either may stay at its default, but not both."""
    every = list(itertools.product(range(4), range(4), range(4)))
    loss = [(a - 3.0) ** 2 + 2.0 * ((b < 3) and (c < 3)) for a, b, c in every]
    columns = {name: [one[j] for one in every] for j, name in enumerate("abc")}
    gains = pa.analyze({**columns, "loss": loss}, "loss", space=dict.fromkeys("abc", pa.Int(0, 3))).gains(
        {"a": 0, "b": 0, "c": 0}
    )
    assert gains["b"].left == gains["c"].left == 0.0
    assert len(gains.safe) == 1
    assert gains.safe_loss == 0.0
    assert "a loss of at most 0" in gains.summary()


SMOOTH = {"a": pa.Float(0, 1), "b": pa.Float(0, 1), "n": pa.Int(1, 1000, log=True), "idle": pa.Float(0, 1)}


def smooth_trials(rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a, b, idle = rng.random((3, rows))
    n = np.round(np.exp(rng.uniform(0, np.log(1000), rows))).astype(int)
    return {"a": a, "b": b, "n": n, "idle": idle, "loss": smooth(a, b, n)}


def smooth(a: Any, b: Any, n: Any) -> Any:
    return 4 * (a - 0.3) ** 2 + b + 0.2 * (np.log10(n) - 1) ** 2


@pytest.mark.parametrize("seed", range(3))
def test_known_gains_lie_in_their_intervals(seed: int) -> None:
    a = pa.analyze(smooth_trials(150, seed), "loss", space=SMOOTH)
    gains = a.gains({"a": 0.9, "b": 0.5, "n": 1000, "idle": 0.5})
    for name, true in (("a", 4 * 0.6**2), ("b", 0.5), ("n", 0.8), ("idle", 0.0)):
        assert gains[name].low - 1e-3 <= true <= gains[name].high + 1e-3, name
    assert gains["a"].verdict == "tune"
    assert gains["a"].gain == pytest.approx(1.44, abs=0.15)
    assert next(iter(gains)) == "a"
    assert gains["n"].best == pytest.approx(10, abs=8)
    assert isinstance(gains["n"].best, int)
    assert gains.default == {"a": 0.9, "b": 0.5, "n": 1000, "idle": 0.5}


def test_the_default_is_the_best_trial_and_nothing_worse_is_proposed() -> None:
    for seed in range(4):
        columns = smooth_trials(101, seed)
        best = int(np.argmin(columns["loss"]))
        a = pa.analyze(columns, "loss", space=SMOOTH)
        gains = a.gains()
        assert gains.default == {name: columns[name][best] for name in SMOOTH}
        assert gains.default_was_run
        assert gains.total.low >= 0.0
        assert str(gains).startswith(gains.summary()[:60])
        assert "\ndefault: your best trial; default={...} sets another\n" in str(gains)
        # Compared with a poor default, the gain is at least the one that the best trial has already.
        poor = int(np.argmax(columns["loss"]))
        again = a.gains({name: columns[name][poor] for name in SMOOTH})
        assert again.total.gain >= 0.9 * (columns["loss"][poor] - columns["loss"][best])


def test_a_default_that_was_run_is_seen() -> None:
    columns = smooth_trials(80, 0)
    first = {name: columns[name][0] for name in SMOOTH}
    gains = pa.analyze(columns, "loss", space=SMOOTH).gains(first)
    assert gains.default_was_run
    assert not gains.notes
    assert "\ndefault:" not in str(gains)


def test_a_region_bounds_the_values() -> None:
    a = pa.analyze(smooth_trials(200, 1), "loss", space=SMOOTH)
    default = {"a": 0.9, "b": 0.5, "n": 100}
    whole, inside = a.gains(default), a.gains(default, region={"a": (0.7, 1.0)})
    assert inside["a"].gain < whole["a"].gain
    assert inside["a"].best >= 0.69
    assert inside["a"].low - 1e-3 <= 4 * (0.6**2 - 0.4**2) <= inside["a"].high
    assert a.within("a >= 0.7").gains(default)["a"].best >= 0.7
    with pytest.raises(QueryError, match=r"a=0\.2\d* lies outside the region"):
        a.gains({"a": 0.2}, region={"a": (0.7, 1.0)})


CONDITIONAL = {
    "kind": pa.Categorical(["sgd", "adam"]),
    "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
    "rate": pa.Float(1e-4, 1, log=True),
}


def conditional_trials(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    kind = rng.choice(["sgd", "adam"], rows)
    momentum = np.where(kind == "sgd", rng.random(rows), np.nan)
    rate = 10 ** rng.uniform(-4, 0, rows)
    loss = np.where(kind == "sgd", 3 * (np.nan_to_num(momentum) - 0.9) ** 2, 0.5) + 0.1 * (np.log10(rate) + 2) ** 2
    return {"kind": kind, "momentum": momentum, "rate": rate, "loss": loss}


def test_children_come_and_go_with_their_parents() -> None:
    a = pa.analyze(conditional_trials(200), "loss", space=CONDITIONAL)
    gains = a.gains({"kind": "adam", "rate": 1.0})
    assert gains.default["momentum"] is None
    assert gains["momentum"].gain == gains["momentum"].high == 0.0  # it has no value at the default
    assert gains.best["kind"] == "sgd"
    assert gains.best["momentum"] == pytest.approx(0.9, abs=0.1)
    assert gains.total.low <= 0.5 + 0.4 <= gains.total.high
    names = [step.name for step in gains.path.rows]
    assert names.index("kind") < names.index("momentum")


def test_a_switch_keeps_its_regimes() -> None:
    rng = np.random.default_rng(3)
    phase = rng.choice(["early", "late"], 150)
    rate = np.where(phase == "early", rng.uniform(0.5, 1, 150), rng.uniform(0, 0.1, 150))
    space = {
        "phase": pa.Categorical(["early", "late"]),
        "rate": pa.Switch("phase", {"early": pa.Float(0.5, 1), "late": pa.Float(0, 0.1)}),
    }
    columns = {"phase": phase, "rate": rate, "loss": (phase == "late") + np.abs(rate - 0.75)}
    gains = pa.analyze(columns, "loss", space=space).gains({"phase": "late", "rate": 0.05})
    assert gains["rate"].best <= 0.1
    assert gains.best["phase"] == "early"
    assert 0.5 <= gains.best["rate"] <= 1
    with pytest.raises(QueryError, match="outside its domain for this value of phase"):
        pa.analyze(columns, "loss", space=space).gains({"phase": "late", "rate": 0.75})


def test_a_copy_has_the_gain_of_its_original() -> None:
    columns = smooth_trials(120, 4)
    columns = {"log_n": np.log10(columns["n"]), **columns}
    gains = pa.analyze(columns, "loss").gains()
    assert gains["log_n"].gain == gains["n"].gain
    assert any("changes together with" in note for note in gains.notes)


def test_diverged_rows_count_as_the_worst() -> None:
    columns = smooth_trials(150, 5)
    columns["loss"] = np.where(columns["a"] > 0.9, np.inf, columns["loss"])
    gains = pa.analyze(columns, "loss", space=SMOOTH).gains({"a": 0.5})
    assert all(np.isfinite(row.high) for row in gains.rows)


def test_the_order_of_rows_and_names_does_not_matter() -> None:
    columns = smooth_trials(100, 6)
    turn = np.random.default_rng(0).permutation(100)
    first = pa.analyze(columns, "loss", space=SMOOTH).gains({"a": 0.5})
    turned = pa.analyze({name: values[turn] for name, values in columns.items()}, "loss", space=SMOOTH)
    assert turned.gains({"a": 0.5}).to_dict() == first.to_dict()


@pytest.mark.parametrize(
    ("default", "error", "words"),
    [
        ({"c": 1}, UnknownParameterError, "c"),
        ({"a": 7.0}, QueryError, "a is 7.0, outside"),
        ({"a": "much"}, QueryError, "a is 'much'"),
        ({"n": 2.5}, QueryError, "n is 2.5"),
        ([1], QueryError, "must be a dict"),
    ],
)
def test_a_default_outside_the_space_is_refused(default: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pa.analyze(smooth_trials(60, 0), "loss", space=SMOOTH).gains(default)


def test_what_cannot_be_known_is_refused(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    noise = pa.analyze({"a": rng.random(100), "b": rng.random(100), "loss": rng.random(100)}, "loss")
    with pytest.raises(QueryError, match=r"a model predicts the order of the rows badly .* run more trials"):
        noise.gains()
    with pytest.raises(QueryError, match="30 rows are too few"):
        pa.analyze(smooth_trials(30, 0), "loss", space=SMOOTH).gains()
    saved = tmp_path / "a.pedanova"
    a = pa.analyze(smooth_trials(60, 0), "loss", space=SMOOTH)
    a.save(saved, rows=False)
    with pytest.raises(LevelsError, match="no longer available"):
        pa.load(saved).gains()
    a.save(saved)
    assert pa.load(saved).gains().to_dict() == a.gains().to_dict()
    two = pa.analyze({**smooth_trials(60, 0), "time": rng.random(60)}, ["loss", "time"])
    with pytest.raises(PedanovaError, match="gains need a single objective"):
        two.gains()


def test_many_rows_are_sampled() -> None:
    gains = pa.analyze(smooth_trials(6000, 0), "loss", space=SMOOTH).gains({"a": 0.9})
    assert any("2,000 of 6,000 rows" in note for note in gains.notes)
    assert gains["a"].low - 1e-3 <= 1.44 <= gains["a"].high


def test_the_default_of_the_tool_is_taken(tmp_path: Any) -> None:
    """SMAC writes the defaults of its configuration space; one that is out of bounds is left out."""
    rng = np.random.default_rng(0)
    configs = {str(i): {"x": float(rng.random()), "n": int(rng.integers(1, 9))} for i in range(1, 81)}
    cost = {key: (one["x"] - 0.2) ** 2 + 0.01 * one["n"] for key, one in configs.items()}
    rows = [[int(key), None, 0, None, cost[key], 0.5, 1, 0.0, 1.0, {}] for key in configs]
    items = [
        {"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0, "default_value": 0.9, "log": False},
        {"type": "uniform_int", "name": "n", "lower": 1, "upper": 8, "default_value": 99, "log": False},
    ]
    space = {"hyperparameters": items, "conditions": [], "forbiddens": [], "format_version": 0.4}
    run = tmp_path / "run"
    run.mkdir()
    (run / "runhistory.json").write_text(json.dumps({"data": rows, "configs": configs, "config_origins": {}}))
    (run / "configspace.json").write_text(json.dumps(space))
    gains = pa.analyze(run).gains()
    assert gains.default["x"] == 0.9
    assert 1 <= int(str(gains.default["n"])) <= 8
    assert any("come from the tool's configuration space" in note for note in gains.notes)
    assert "default: the tool's own default; default={...} sets another" in str(gains)
    assert gains["x"].low - 1e-3 <= 0.49 <= gains["x"].high


def test_candidates_that_change_are_as_if_computed_anew() -> None:
    """One parameter after the other, of a range and of a category."""
    model = pa.analyze(pa.demo_trials(), "error").first(200).data.row_model
    assert isinstance(model, RowModel)
    known = model.objective(0)
    assert isinstance(known, ObjectiveModel)
    names = list(model.space)
    settings = np.stack([model.few.cells[name][:40] for name in names], axis=1).astype(np.int32)
    some = np.arange(40) % 4 != 0
    for name in ("learning_rate", "solver"):
        j = names.index(name)
        settings[:, j] = settings[0, j]
        near = Candidates(known, settings)
        near.change(j, int(settings[0, j] == 0), some)
        np.testing.assert_allclose(near.middle(), known.middle(near.settings), rtol=1e-3)
        assert (near.settings[some, j] != settings[some, j]).all()
        assert (near.settings[~some] == settings[~some]).all()


def networks(rows: int, seed: int = 0) -> dict[str, Any]:
    """Wide networks have a lower error and take longer; deep ones only take longer."""
    rng = np.random.default_rng(seed)
    width, depth = rng.integers(10, 101, rows), rng.integers(1, 9, rows)
    return {"width": width, "depth": depth, "error": 1.0 / width + 0.001 * depth, "speed": 1e4 / (width * depth)}


@pytest.mark.parametrize("least", [20.0, 50.0, 100.0])
def test_gains_at_a_level_of_another_objective(least: float) -> None:
    table = networks(100)
    space = {"width": pa.Int(10, 100), "depth": pa.Int(1, 8)}
    a = pa.analyze(table, ["error", "speed"], direction=["min", "max"], space=space)
    gains = a.gains(limit={"speed": least})
    assert 1e4 / (gains.best["width"] * gains.best["depth"]) >= least * 0.99
    inside = table["speed"] >= least
    best_run = table["error"][inside].min()
    assert gains.default["width"] == table["width"][inside][table["error"][inside].argmin()]
    truth = best_run - (1.0 / min(100, 1e4 / least) + 0.001)
    assert gains.total.low - 5e-4 <= truth <= gains.total.high + 5e-4
    assert f"at speed ≥ {least:g}" in gains.summary()
    assert gains.objective == "error"


def test_limits_that_make_no_sense_are_refused() -> None:
    a = pa.analyze(networks(60), ["error", "speed"], direction=["min", "max"])
    with pytest.raises(QueryError, match=r"use .alone\('error'\), or limit all others: limit=\{'speed'"):
        a.gains()
    with pytest.raises(QueryError, match="is met by no trial"):
        a.gains(limit={"speed": 1e9})
    with pytest.raises(QueryError, match="no objective is called"):
        a.gains(limit={"spede": 1.0})
    with pytest.raises(QueryError, match="must have a number for speed"):
        a.gains(limit={"speed": "fast"})
    with pytest.raises(QueryError, match="is for further objectives"):
        a.alone("error").gains(limit={"error": 1.0})


@pytest.mark.parametrize("poor", [False, True])
def test_one_outlier_does_not_move_the_tolerance(poor: bool) -> None:
    columns = smooth_trials(100, 1)
    order = np.argsort(columns["loss"])
    default = {name: columns[name][order[90]] for name in SMOOTH} if poor else None
    usual = pa.analyze(columns, "loss", space=SMOOTH).gains(default).tolerance
    for outlier in (1e3, 1e9):
        loss = columns["loss"].copy()
        loss[order[50]] = outlier
        moved = pa.analyze(columns | {"loss": loss}, "loss", space=SMOOTH).gains(default).tolerance
        assert moved == pytest.approx(usual, rel=0.1)
