"""Conditions that are ranges of numbers: declared, seen in the rows, and decided by an Optuna study on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import polars as pl
import pytest

import pedanova as pa
from pedanova.data.column import Column
from pedanova.data.conditions import Presence, ranges_of
from pedanova.errors import SpaceError
from pedanova.space.exports import configspace_plain, optuna_code
from pedanova.space.values import Interval, in_both, interval_from

optuna.logging.set_verbosity(optuna.logging.ERROR)


def table(rows: int = 400, seed: int = 0) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(seed)
    dropout = np.where(rng.random(rows) < 0.4, 0.0, rng.uniform(0.05, 0.5, rows))
    columns = {"dropout": dropout, "rate": np.where(dropout > 0, rng.random(rows), np.nan), "z": rng.random(rows)}
    loss = np.where(dropout > 0, np.abs(np.nan_to_num(columns["rate"]) - 0.3), 0.4) + 0.05 * rng.standard_normal(rows)
    return columns, loss


def space(condition: Any) -> dict[str, Any]:
    return {"dropout": pa.Float(0, 0.5), "rate": pa.Float(0, 1, when={"dropout": condition}), "z": pa.Float(0, 1)}


@pytest.mark.parametrize("condition", [pa.above(0), pa.between(0.05, 0.5), pa.at_least(0.05), {"low": 0.01}])
def test_a_range_says_when_a_parameter_exists(condition: Any) -> None:
    columns, loss = table()
    a = pa.analyze(columns, loss, direction="min", space=space(condition))
    seen = pa.analyze(columns, loss, direction="min")
    assert next(iter(a.importance())) == next(iter(seen.importance())) == "rate"
    inactive = int(np.isnan(columns["rate"]).sum())
    assert a.data.tallies["rate"].counts.sum(axis=0)[-2] == inactive


def test_the_rows_show_the_threshold() -> None:
    columns, loss = table()
    a = pa.analyze(columns, loss, direction="min")
    assert a.space["rate"].when == (("dropout", (pa.above(0),)),)
    assert "treated as conditional: it is missing unless dropout > 0" in " ".join(map(str, a.notes))


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(0.49, 0.51, 0.5), (0.0, 0.3, 0.0), (1e-4, 3e-3, 0.002), (-7.0, -2.2, -5.0), (99, 101, 100)],
)
def test_thresholds_are_round(low: float, high: float, wanted: float) -> None:
    numbers = np.r_[np.linspace(low - 1, low, 20), np.linspace(high, high + 1, 20)]
    found = ranges_of(numbers, np.repeat([0, 1], 20))
    assert found is not None
    assert found[1][1].low == pytest.approx(wanted)


def test_points_at_the_bound_are_active_as_the_rows_there_are() -> None:
    columns, loss = table()
    inside = loss <= np.quantile(loss, 0.1)
    off, part = columns["dropout"] == 0, inside.mean()
    parts = [(inside[mask].mean() - part) ** 2 * mask.mean() for mask in (off, ~off)]
    for domains in (None, space(pa.above(0))):
        answer = pa.analyze(columns, loss, direction="min", space=domains).importance()
        assert answer["dropout"].share == pytest.approx(sum(parts) / (part * (1 - part)), abs=0.02)
        assert answer["rate"].activity > 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("present", [True, False])
def test_a_parent_may_be_infinite(sign: int, present: bool) -> None:
    rng = np.random.default_rng(0)
    infinite = rng.random(200) < 0.3
    clip = sign * np.where(infinite, np.inf, rng.uniform(0.5, 0.9, 200))
    child = np.where(infinite == present, rng.random(200), np.nan)
    a = pa.analyze({"clip": clip, "child": child, "z": rng.random(200)}, rng.random(200), direction="min")
    ((parent, (interval,)),) = a.space["child"].when
    assert parent == "clip"
    assert [value in interval for value in clip] == (infinite == present).tolist()


@pytest.mark.parametrize(
    ("bounds", "words"), [(pa.above(0.3), "z > 0.3"), (pa.at_least(0.3), "z >= 0.3"), (pa.below(0.3), "z < 0.3")]
)
def test_a_box_has_ranges(bounds: Any, words: str) -> None:
    columns, loss = table()
    answer = pa.analyze(columns, loss, direction="min").importance(0.2, region={"z": bounds})
    interval = interval_from(bounds)
    assert interval is not None
    assert answer["rate"].n_region == sum(value in interval for value in columns["z"])
    assert words in str(answer)


def test_too_few_rows_or_an_exception_show_none() -> None:
    rng = np.random.default_rng(0)
    parent = np.sort(rng.random(40))
    for gone in (np.arange(40) < 3, (np.arange(40) < 20) ^ (np.arange(40) == 30)):
        child = np.where(gone, np.nan, rng.random(40))
        a = pa.analyze({"parent": parent, "child": child, "loss": rng.random(40)}, "loss")
        assert a.space["child"].when == ()


def test_parts_show_the_same_threshold(tmp_path: Path) -> None:
    columns, loss = table(600)
    frame = pl.DataFrame({**columns, "loss": loss}).with_columns(pl.col("rate").fill_nan(None))
    for i in range(3):
        frame[i * 200 : (i + 1) * 200].write_parquet(tmp_path / f"{i}.parquet")
    parts = pa.analyze(str(tmp_path / "*.parquet"), "loss", scan=pa.Scan(stream=True))
    whole = pa.analyze(frame, "loss")
    assert parts.space["rate"].when == whole.space["rate"].when == (("dropout", (pa.above(0),)),)
    assert parts.importance().ratios == whole.importance().ratios


def test_presence_adds_up() -> None:
    columns, _ = table()
    every = {name: Column(name, values) for name, values in columns.items()}
    whole = Presence.of(every, ["rate"], ["dropout", "z"])
    halves = [
        Presence.of({name: Column(name, values[some]) for name, values in columns.items()}, ["rate"], ["dropout", "z"])
        for some in (slice(0, 200), slice(200, 400))
    ]
    assert Presence.sum(halves).condition("rate") == whole.condition("rate") == ("dropout", (pa.above(0),))


def test_a_file_keeps_ranges(tmp_path: Path) -> None:
    plain = pa.Space(space(pa.above(0)))
    assert pa.Space.from_dict(plain.to_dict()) == plain
    switch = pa.Space(
        {"c": pa.Float(0, 1), "x": pa.Switch("c", {pa.below(0.5): pa.Float(0, 1), pa.at_least(0.5): pa.Float(5, 6)})}
    )
    assert pa.Space.from_dict(switch.to_dict()) == switch
    columns, loss = table()
    a = pa.analyze(columns, loss, direction="min", space=space(pa.above(0)))
    a.save(tmp_path / "a.pedanova")
    assert pa.load(tmp_path / "a.pedanova").space == a.space


def test_code_and_configspace_have_the_condition() -> None:
    code = optuna_code(pa.Space(space(pa.above(0.1))))
    for dropout, there in ((0.05, False), (0.2, True)):
        fixed = optuna.trial.FixedTrial({"dropout": dropout, "rate": 0.5, "z": 0.5})
        names: dict[str, Any] = {"trial": fixed}
        exec(code, names)
        assert ("rate" in names["params"]) is there
    (condition,) = configspace_plain(pa.Space(space(pa.above(0.1))))["conditions"]
    assert condition == {"type": "GT", "child": "rate", "parent": "dropout", "value": 0.1}
    (condition,) = configspace_plain(pa.Space(space(pa.between(0.1, 0.3))))["conditions"]
    assert [part["type"] for part in condition["conditions"]] == ["GT", "LT"]


def test_ranges_that_cannot_be_are_refused() -> None:
    with pytest.raises(SpaceError, match="no number lies between 2 and 1"):
        pa.Float(0, 1, when={"a": {"low": 2, "high": 1}})
    with pytest.raises(SpaceError, match="can never be"):
        pa.Space({"layers": pa.Ordinal([1, 2]), "a": pa.Float(0, 1, when={"layers": pa.above(3)})})
    with pytest.raises(SpaceError, match="must be a number"):
        pa.above("many")  # type: ignore[arg-type]


def test_an_interval_knows_its_ends() -> None:
    assert [number in Interval(0, 1, open_low=True) for number in (0, 0.5, 1, 2)] == [False, True, True, False]
    assert "0.5" not in Interval(0, 1)
    assert str(Interval(0, 1, open_low=True)) == "> 0 and <= 1"


def test_what_lies_in_both() -> None:
    assert in_both((pa.above(0),), (pa.below(1),)) == (Interval(0, 1, open_low=True, open_high=True),)
    assert in_both((pa.above(1),), (pa.below(1),)) == ()
    assert in_both((1, 2, 3), (pa.above(1), 1)) == (1, 2, 3)
    assert in_both((pa.above(1),), (1, 2, 3)) == (2, 3)


def test_a_value_or_zero_under_a_gate() -> None:
    """A parameter that is 0 or log-uniform, and exists under a category alone."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 300)
    decay = np.where(rng.random(300) < 0.5, 0.0, 10 ** rng.uniform(-5, -1, 300))
    columns = {"kind": kind, "decay": np.where(kind == "a", decay, np.nan), "z": rng.random(300)}
    loss = np.where(kind == "a", np.where(decay == 0, 0.5, np.abs(np.log10(np.maximum(decay, 1e-9)) + 3)), 1.0)
    domains = {"zero": pa.Ordinal([0.0]), "range": pa.Float(1e-5, 0.1, log=True)}
    a = pa.analyze(
        columns,
        loss + 0.1 * rng.standard_normal(300),
        direction="min",
        space={
            "kind": pa.Categorical(["a", "b"]),
            "decay": pa.Switch("", domains, when={"kind": "a"}),
            "z": pa.Float(0, 1),
        },
    )
    answer = a.importance()
    assert {"decay", "kind"} == set(list(answer)[:2])
    assert answer["z"].share < 0.02


# --- the functions of Conditional PED-ANOVA (Baba, Ozaki, Watanabe, arXiv 2601.20800) ---------------------------------


def disjoint(trial: Any) -> float:
    lower = trial.suggest_float("c", 0, 1) < 0.5
    return float(trial.suggest_float("x", -5, -2) if lower else trial.suggest_float("y", 2, 5))


def overlapping(trial: Any) -> float:
    lower = trial.suggest_float("c", 0, 1) < 0.5
    return float(trial.suggest_float("x", -5, 2) if lower else trial.suggest_float("y", -2, 5))


def moved(trial: Any) -> float:
    if trial.suggest_float("c", 0, 1) < 0.5:
        return float(trial.suggest_float("x", -7, -2) + trial.suggest_float("y", -5, -2))
    return float(trial.suggest_float("x", 2, 7) + trial.suggest_float("y", 2, 5))


def nested(trial: Any) -> float:
    if trial.suggest_float("c0", 0, 1) >= 0.75:
        return float(trial.suggest_float("z", 2, 5))
    lower = trial.suggest_float("c1", 0, 1) < 0.5
    return float(trial.suggest_float("x", -7, -4) if lower else trial.suggest_float("y", -3, 0))


def three_ways(trial: Any) -> float:
    c = trial.suggest_float("c", 0, 1)
    if c >= 2 / 3:
        return float(trial.suggest_float("y", 4, 7))
    return float(trial.suggest_float("x", -7, -4) if c < 1 / 3 else trial.suggest_float("x", -3, 0))


# Ratios of what the value does inside each regime, of 2 · 10⁵ draws and 50 cells a regime.
EXACT: dict[Callable[[Any], float], dict[str, float]] = {
    disjoint: {"c": 0.111, "x": 0.889, "y": 0.0},
    overlapping: {"c": 0.111, "x": 0.889, "y": 0.0},
    moved: {"c": 0.176, "x": 0.601, "y": 0.223},
    nested: {"c0": 0.037, "c1": 0.152, "x": 0.811, "y": 0.0, "z": 0.0},
    three_ways: {"c": 0.220, "x": 0.780, "y": 0.0},
}


@pytest.mark.parametrize("function", EXACT, ids=lambda function: function.__name__)
def test_conditional_ped_anova(function: Callable[[Any], float]) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(function, n_trials=300)
    ratios = pa.analyze(study).importance().ratios
    exact = EXACT[function]
    assert sum(abs(ratios[name] - exact[name]) for name in exact) < 0.2
