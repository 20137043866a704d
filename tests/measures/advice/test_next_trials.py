"""Next trials: inside the space and its conditions, not run before, useful, and marked for a later analysis."""

from __future__ import annotations

import csv
import io
import itertools
import json
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.base.digits import short
from pedanova.counting.few_rows import FewRows
from pedanova.errors import LevelsError, QueryError
from pedanova.measures.advice.advise import belief_in, further_gain
from pedanova.measures.advice.next_trials import hypervolume_gain, open_boxes

SPACE = {
    "kind": pa.Categorical(["sgd", "adam"]),
    "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
    "rate": pa.Float(1e-4, 1, log=True),
    "layers": pa.Int(1, 9, step=2),
    "units": pa.Int(8, 2048, log=True),
    "batch": pa.Ordinal([16, 32, 64]),
    "drop": pa.Float(0, 0.5, when={"layers": pa.above(3)}),
}


def trials(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    kind = rng.choice(["sgd", "adam"], rows)
    layers = rng.choice([1, 3, 5, 7, 9], rows)
    columns = {
        "kind": kind,
        "momentum": np.where(kind == "sgd", rng.random(rows), np.nan),
        "rate": 10 ** rng.uniform(-4, 0, rows),
        "layers": layers,
        "units": np.round(np.exp(rng.uniform(np.log(8), np.log(2048), rows))).astype(int),
        "batch": rng.choice([16, 32, 64], rows),
        "drop": np.where(layers > 3, rng.uniform(0, 0.5, rows), np.nan),
    }
    return {**columns, "loss": loss_of(columns)}


def loss_of(c: dict[str, Any]) -> Any:
    momentum = np.nan_to_num(np.asarray(c["momentum"], dtype=float))
    bowl = (np.log10(np.asarray(c["rate"], dtype=float)) + 2) ** 2
    return bowl + np.where(np.asarray(c["kind"]) == "sgd", (momentum - 0.9) ** 2, 0.3) + 0.05 * np.asarray(c["layers"])


def check_valid(values: dict[str, Any]) -> None:
    assert values["kind"] in ("sgd", "adam")
    assert ("momentum" in values) == (values["kind"] == "sgd")
    assert 1e-4 <= values["rate"] <= 1
    assert values["layers"] in (1, 3, 5, 7, 9)
    assert isinstance(values["layers"], int)
    assert isinstance(values["units"], int)
    assert 8 <= values["units"] <= 2048
    assert values["batch"] in (16, 32, 64)
    assert ("drop" in values) == (values["layers"] > 3)


@pytest.mark.parametrize("goal", ["know", "win", "both"])
def test_proposals_lie_in_a_conditional_space(goal: str) -> None:
    proposed = pa.analyze(trials(80), "loss", space=SPACE).next_trials(12, goal)
    assert len(proposed) == 12
    for trial in proposed:
        check_valid(dict(trial.values))
        assert trial.low <= trial.expected <= trial.high
        assert ("better than the best trial so far" in trial.reason) == (trial.goal == "win")
    assert proposed.header()[-3:] == ["expected", "95 % interval", "why"]
    assert short(proposed.rows[0].expected) in str(proposed)
    goals = [trial.goal for trial in proposed]
    assert goals == {"know": ["know"] * 12, "win": ["win"] * 12, "both": ["know", "win"] * 6}[goal]


def test_forbidden_parts_are_left_out() -> None:
    a = pa.analyze(trials(80), "loss", space=SPACE)
    rule = "not (kind == 'sgd' and layers > 3) and rate < 0.1"
    for trial in a.next_trials(20, within=rule):
        check_valid(dict(trial.values))
        assert not (trial.values["kind"] == "sgd" and trial.values["layers"] > 3)
        assert trial.values["rate"] < 0.1
    assert all(trial.values["kind"] == "adam" for trial in a.within("kind == 'adam'").next_trials(5))
    assert all(trial.values["batch"] == 64 for trial in a.next_trials(5, within={"batch": {64}}))
    with pytest.raises(QueryError, match="must be a box or a condition"):
        a.next_trials(2, within=0.1)
    with pytest.raises(QueryError, match=r"within=.*contains no new configuration"):
        a.next_trials(2, within="rate > 2")


def test_a_lattice_is_run_up_but_never_twice() -> None:
    every = list(itertools.product(range(4), "abc", (1, 2, 4)))
    rng = np.random.default_rng(0)
    some = [every[i] for i in rng.permutation(len(every))[:30]]
    space = {"n": pa.Int(0, 3), "k": pa.Categorical(list("abc")), "m": pa.Ordinal([1, 2, 4])}
    columns = {name: [one[j] for one in some] for j, name in enumerate(space)}
    a = pa.analyze({**columns, "loss": [n + m + (k == "a") for n, k, m in some]}, "loss", space=space)
    proposed = a.next_trials(len(every) - 30)
    left = {tuple(trial.values[name] for name in space) for trial in proposed}
    assert left == set(every) - set(some)
    with pytest.raises(QueryError, match="number=7 is too large: only 6 configurations are left to run"):
        a.next_trials(7)


def test_to_win_is_to_find_better_ones() -> None:
    columns = trials(60, 1)
    a = pa.analyze(columns, "loss", space=SPACE)
    fresh = [{**dict.fromkeys(SPACE), **trial.values} for trial in a.next_trials(10, "win")]
    found = [float(loss_of({name: [one[name]] for name in SPACE})[0]) for one in fresh]
    assert min(found) < columns["loss"].min()
    assert np.median(found) < np.quantile(columns["loss"], 0.25)


def test_to_know_is_to_settle_the_edge_of_the_best() -> None:
    """Proposals lie nearer to the edge of the best tenth than trials by chance."""
    rng = np.random.default_rng(3)
    x, z = rng.random((2, 60))
    a = pa.analyze({"x": x, "z": z, "loss": np.abs(x - 0.4)}, "loss", space=dict.fromkeys("xz", pa.Float(0, 1)))
    off = [abs(abs(trial.values["x"] - 0.4) - 0.05) for trial in a.next_trials(20, "know")]
    assert np.median(off) < 0.5 * np.median(np.abs(np.abs(rng.random(1000) - 0.4) - 0.05))


def test_a_later_analysis_sees_the_mark(tmp_path: Any) -> None:
    columns = trials(60)
    proposed = pa.analyze(columns, "loss", space=SPACE).next_trials(20, "know").to_dict()
    table = {name: [*columns[name], *proposed[name]] for name in SPACE}
    loss = [*columns["loss"], *loss_of({name: [np.nan if v is None else v for v in proposed[name]] for name in SPACE})]
    marks = [None] * 60 + proposed["pedanova_next"]
    plain = pa.analyze({**table, "loss": loss}, "loss", space=SPACE)
    marked = pa.analyze({**table, "pedanova_next": marks, "loss": loss}, "loss", space=SPACE)
    assert not plain.data.row_model.adaptive
    assert marked.data.row_model.adaptive
    assert any("not drawn evenly" in note for note in marked.importance().notes)
    marked.save(tmp_path / "a.pedanova")
    assert pa.load(tmp_path / "a.pedanova").data.row_model.adaptive
    guessed = pa.analyze({**table, "user_attrs_pedanova_next": marks, "loss": loss}, "loss")
    assert "user_attrs_pedanova_next" not in guessed.space
    assert guessed.data.row_model.adaptive


def test_optuna_takes_them_and_gives_them_back() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial: Any) -> float:
        return float((trial.suggest_float("x", 0, 1) - 0.3) ** 2 + 0.1 * trial.suggest_int("n", 1, 5))

    study.optimize(objective, n_trials=50)
    proposed = pa.analyze(study).next_trials(5)
    for trial in proposed:
        study.enqueue_trial(dict(trial.values), user_attrs=trial.attributes)
    study.optimize(objective, n_trials=5)
    assert [trial.params for trial in study.trials[50:]] == [dict(trial.values) for trial in proposed]
    assert pa.analyze(study).data.row_model.rows.designed


def test_csv_and_json_hold_the_same() -> None:
    proposed = pa.analyze(trials(60), "loss", space=SPACE).next_trials(4)
    rows = json.loads(proposed.to_json())
    assert rows == [{**trial.values, "pedanova_next": trial.goal} for trial in proposed]
    table = list(csv.DictReader(io.StringIO(proposed.to_csv())))
    assert [row["kind"] for row in table] == [row["kind"] for row in rows]
    assert [row["pedanova_next"] for row in table] == [row["pedanova_next"] for row in rows]


def test_without_a_model_gaps_are_filled() -> None:
    rng = np.random.default_rng(0)
    noise = pa.analyze({"a": rng.random(60), "b": rng.random(60), "loss": rng.random(60)}, "loss")
    proposed = noise.next_trials(6, "know")
    assert any("not reliable yet" in note for note in proposed.notes)
    assert sum(trial.reason == "unlike every trial so far" for trial in proposed) == 3
    few = pa.analyze(trials(40), "loss", space=SPACE).first(4).next_trials(3)
    assert {trial.reason for trial in few} == {"drawn evenly"}
    for trial in few:
        check_valid(dict(trial.values))


def test_what_cannot_be_proposed_is_refused(tmp_path: Any) -> None:
    a = pa.analyze(trials(60), "loss", space=SPACE)
    for n in (0, 501, 2.5, True):
        with pytest.raises(QueryError, match="number="):
            a.next_trials(n)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="goal='best' must be 'know', 'win' or 'both'"):
        a.next_trials(2, "best")
    with pytest.raises(QueryError, match="epochs"):
        a.next_trials(2, within="epochs > 3")
    a.save(tmp_path / "a.pedanova", rows=False)
    with pytest.raises(LevelsError, match="no longer available"):
        pa.load(tmp_path / "a.pedanova").next_trials(2)
    columns = {"low": np.arange(60) / 100, "x": 0.6 + np.arange(60) / 200, "loss": np.arange(60)}
    moving = pa.analyze(columns, "loss", space={"x": pa.Moving("low", 1.0)})
    with pytest.raises(QueryError, match="its bound 'low' is not a parameter"):
        moving.next_trials(2)


def test_a_moving_range_has_values_between_its_bounds() -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(0.1, 0.5, 60)
    x = rng.uniform(low, 1.0)
    space = {"low": pa.Float(0.1, 0.5), "x": pa.Moving("low", 1.0)}
    proposed = pa.analyze({"low": low, "x": x, "loss": (x - 0.6) ** 2}, "loss", space=space).next_trials(8)
    assert all(trial.values["low"] <= trial.values["x"] <= 1.0 for trial in proposed)


def test_proposals_repeat_with_their_seed() -> None:
    a = pa.analyze(trials(60), "loss", space=SPACE)
    assert a.next_trials(5, seed=1).to_dict() == a.next_trials(5, seed=1).to_dict()
    assert a.next_trials(5, seed=1).to_dict() != a.next_trials(5, seed=2).to_dict()


def chance_of(trial: pa.NextTrial) -> float:
    return float(trial.reason.split(" with ")[1].removeprefix("less than ").split()[0]) / 100


def test_the_first_proposal_has_the_same_numbers_beside_others() -> None:
    a = pa.analyze(trials(60), "loss", space=SPACE)
    alone, among = a.next_trials(1, "win").rows[0], a.next_trials(4, "win").rows[0]
    assert (alone.values, alone.better, alone.predicted) == (among.values, among.better, among.predicted)


def test_the_best_of_many_noisy_trials_is_hard_to_beat() -> None:
    """The chance is that of one new result, noise included, against the best result so far."""
    table = trials(150)
    easy = pa.analyze(table, "loss", space=SPACE, direction="min").next_trials(4, "win")
    noisy = {**table, "loss": table["loss"] + 3.0 * np.random.default_rng(0).normal(size=150)}
    hard = pa.analyze(noisy, "loss", space=SPACE, direction="min").next_trials(4, "win")
    assert max(map(chance_of, hard)) < 0.2 < 0.8 < max(map(chance_of, easy))


def two(rows: int, seed: int = 0) -> tuple[dict[str, Any], Any]:
    """Trials of two objectives whose true front is the quarter of a circle at b = c = 0.5, and their losses."""
    table = dict(zip("abc", np.random.default_rng(seed).random((3, rows)), strict=True))
    return table, front_losses(table)


def front_losses(table: dict[str, Any]) -> Any:
    a, b, c = (np.asarray(table[name]) for name in "abc")
    reach = 1 + (b - 0.5) ** 2 + (c - 0.5) ** 2
    return np.stack([reach * np.cos(a * np.pi / 2), reach * np.sin(a * np.pi / 2)], axis=1)


def area(losses: Any) -> float:
    """The hypervolume below the corner (1.5, 1.5)."""
    losses = losses[(losses < 1.5).all(axis=1)]
    losses = losses[np.argsort(losses[:, 0])]
    lowest = np.minimum.accumulate(np.r_[1.5, losses[:, 1]])
    return float(((1.5 - losses[:, 0]) * -np.diff(lowest)).sum())


@pytest.mark.parametrize("seed", range(2))
def test_with_two_objectives_the_front_moves_more_than_by_random_trials(seed: int) -> None:
    """The first objective is maximised and shifted; neither changes anything."""
    table, losses = two(40, seed)
    shown = {**table, "gain": 100 - losses[:, 0], "cost": losses[:, 1]}
    a = pa.analyze(shown, ["gain", "cost"], direction=["max", "min"], space=dict.fromkeys("abc", pa.Float(0, 1)))
    proposed = a.next_trials(10, "win")
    found = front_losses({name: [trial.values[name] for trial in proposed] for name in "abc"})
    assert area(np.vstack([losses, found])) > area(np.vstack([losses, two(20, seed + 9)[1]]))
    for trial, first in zip(proposed, found[:, 0], strict=True):
        assert trial.expected is None
        assert list(trial.predicted) == ["gain", "cost"]
        assert abs(trial.predicted["gain"][0] - (100 - first)) < 0.1
        assert trial.predicted["cost"][1] <= trial.predicted["cost"][0] <= trial.predicted["cost"][2]
        assert "extends the Pareto front with" in trial.reason
    assert np.mean([trial.better for trial in proposed]) > 0.5
    spread = found[:, 0].max() - found[:, 0].min()
    assert spread > 0.3  # a batch is spread along the front
    both = a.next_trials(4)
    assert list(both.to_dict())[-4:] == ["pedanova_next", "expected gain", "expected cost", "reason"]
    assert [trial.goal for trial in both] == ["know", "win", "know", "win"]


def test_proposals_for_two_objectives_avoid_what_fails() -> None:
    table, losses = two(80)
    losses[table["b"] > 0.6] = np.nan
    a = pa.analyze({**table, "f": losses[:, 0], "g": losses[:, 1]}, ["f", "g"], direction="min")
    proposed = a.next_trials(10, "win")
    assert sum(trial.values["b"] > 0.6 for trial in proposed) <= 2
    assert all(trial.succeeds is not None for trial in proposed)
    assert any("trials fail, mostly at b" in note for note in proposed.notes)


@pytest.mark.parametrize("objectives", [1, 2, 3])
def test_expected_hypervolume_agrees_with_sampling(objectives: int) -> None:
    rng = np.random.default_rng(objectives)
    front, mean, deviation = rng.normal(size=(5, objectives)), rng.normal(size=objectives), rng.random(objectives) + 0.2
    boxes = np.array(open_boxes(front, front.max(axis=0) + 1))
    points = rng.normal(size=(4000, objectives)) * 2
    inside = ((points[:, None] > boxes[..., 0]) & (points[:, None] <= boxes[..., 1])).all(axis=2).sum(axis=1)
    open_ones = (points <= front.max(axis=0) + 1).all(axis=1) & ~(front[:, None] < points).all(axis=2).any(axis=0)
    if objectives > 1:
        assert np.array_equal(inside, open_ones.astype(int))  # disjoint, and complete
    drawn = mean + deviation * rng.normal(size=(40_000, objectives))
    volumes = np.clip(boxes[..., 1] - np.maximum(boxes[..., 0], drawn[:, None]), 0, None).prod(axis=2).sum(axis=1)
    found = hypervolume_gain(boxes, [(mean[[j]], deviation[[j]]) for j in range(objectives)])
    assert found[0] == pytest.approx(volumes.mean(), rel=0.1)


def test_more_than_three_objectives_are_refused() -> None:
    table, losses = two(60)
    names = {f"f{j}": losses[:, j % 2] + j * table["c"] for j in range(4)}
    a = pa.analyze({**table, **names}, list(names), direction="min")
    with pytest.raises(QueryError, match="at most 3 objectives, not 4"):
        a.next_trials(2)


def test_where_nothing_can_be_predicted_no_trial_promises_to_be_better() -> None:
    said = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        columns = {"a": rng.random(60), "b": rng.random(60), "k": rng.choice(["x", "y"], 60)}
        trials = list(pa.analyze(columns, rng.random(60), direction="min").next_trials(2))
        assert "10 % probability that it is inside" in trials[0].reason.replace("\xa0", " ")
        said.append(trials[1].better)
    assert np.mean(said) < 0.06  # true: 1 of 61


def test_gains_far_beyond_the_best_values_are_hardly_believed_after_an_adaptive_search() -> None:
    few = FewRows({}, {}, np.linspace(1.0, 2.0, 50), np.arange(50), None)
    limit = further_gain(few, adaptive=True)
    near, far = 1.0 - limit, 1.0 - 200.0 * limit
    assert belief_in(np.array([[near, far]]), few).tolist() == pytest.approx([1.0, 0.01])
    repeated = few.take(np.r_[np.zeros(40, dtype=np.int64), np.arange(50)])
    assert further_gain(repeated, adaptive=True) == 0.0
    assert belief_in(np.array([[near, far]]), repeated).tolist() == pytest.approx([1.0, 0.01])
