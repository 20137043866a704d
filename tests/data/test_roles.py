"""What the columns of a table are: settings alone are compared, and every other column is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.data.column import as_column
from pedanova.data.column_values import Values, crossed_with, full_grid
from pedanova.data.roles import Role, by_rules, marked, notes_on, roles_of, status_column
from pedanova.data.space_inference import step_of_one_run

ROWS = 60
RNG = np.random.default_rng(7)
SETTINGS: dict[str, Any] = {
    "lr": np.exp(RNG.uniform(-9, 0, ROWS)),
    "batch_size": RNG.choice([16, 32, 64], ROWS),
    "optimizer": RNG.choice(["adam", "sgd"], ROWS),
}


SEEDS = np.arange(ROWS) % 5
START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Every test draws the same numbers, whichever tests ran before."""
    RNG.bit_generator.state = START


def real(low: float = 0.0, high: float = 1.0) -> Any:
    return RNG.uniform(low, high, ROWS)


def roles(columns: dict[str, Any], *objectives: str) -> dict[str, Role]:
    table = {name: as_column(name, values) for name, values in columns.items()}
    return roles_of([name for name in columns if name not in objectives], lambda _: table, objectives)[1]


def ruled(columns: dict[str, Any], objectives: Sequence[str], order: Sequence[str]) -> Mapping[str, Role]:
    """The roles before doubts are resolved by scores."""
    table = {name: as_column(name, values) for name, values in columns.items()}
    names = [name for name in columns if name not in objectives]
    return (
        roles_of(names, lambda _: table, objectives)[1]
        if marked(names)
        else by_rules(names, table, objectives, order).roles
    )


def role_of(name: str, values: Any, objective: str = "val_loss") -> str:
    """Beside three settings and the objective."""
    decided = roles({**SETTINGS, name: values, objective: real()}, objective)
    assert all(decided[setting].is_setting for setting in SETTINGS)
    return decided[name].name


RESULTS = (
    "training_time_minutes duration tokens_per_second samples_per_sec val_f1_macro_per_class avg_reward_last_100 "
    "reward_std test_rmse rmses scores_ latency_us peak_vram_mb memory_gb val_acc eval/return final_kl "
    "epoch_time gpu_hours num_params total_params inference_ms metrics.kl best_threshold_metric "
    "us_per_step wall_s mfu num_params_M"
)
NO_RESULTS = (
    "lr learning_rate weight_decay train_batch_size test_size val_split eval_interval train_steps loss_weight "
    "loss_scale score_threshold time_steps max_time reward_scaling n_estimators num_layers dropout_rate alpha gamma "
    "lambda_1 error_tolerance batch_norm_momentum temperature x1 depth hidden_dim window_size reward_discount "
    "label_smoothing"
)


@pytest.mark.parametrize("name", RESULTS.split())
def test_numbers_that_came_out_of_a_trial(name: str) -> None:
    assert role_of(name, real()) in ("result", "time")


@pytest.mark.parametrize("name", NO_RESULTS.split())
def test_numbers_that_were_set(name: str) -> None:
    counted = name.startswith(("n_", "num_"))
    assert role_of(name, RNG.integers(1, 500, ROWS) if counted else real()) == "parameter"


def test_a_mean_of_counts_was_not_set() -> None:
    assert role_of("n_estimators", real(100, 900)) == "result"
    assert role_of("nRatioSmote", real()) == "parameter"


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        ("ppl_c4", "ppl_wikitext"),
        ("mape - 5yr", "mape - 1yr"),
        ("value", "value_std"),
        ("auc", "auc_macro_ovr"),
        ("acc_seed0", "acc_seed4"),
        ("Score (dev)", "Score (hidden set)"),
        ("objective_1", "objective_2"),
    ],
)
def test_names_beside_the_objective(objective: str, name: str) -> None:
    assert role_of(name, real(), objective) == "result"


def test_a_name_that_begins_like_the_objective_may_still_be_a_setting() -> None:
    assert role_of("loss_weight", real(), "loss") == "parameter"
    assert role_of("loss", RNG.choice(["hinge", "log"], ROWS), "error") == "parameter"


OTHERS: dict[str, tuple[str, Any, str]] = {
    "numbers of the rows": ("x", np.arange(ROWS), "identifier"),
    "numbers of the trials, sorted by the result": ("iteration", RNG.permutation(ROWS) + 1, "identifier"),
    "numbers of the rows in another order": ("c7", RNG.permutation(ROWS), "identifier"),
    "an index saved twice": ("Unnamed: 0.1", np.arange(ROWS), "identifier"),
    "names": ("model_name", [f"run-{i}" for i in range(ROWS)], "identifier"),
    "a host": ("hostname", RNG.choice(["n1", "n2"], ROWS), "identifier"),
    "a seed": ("random_state", RNG.integers(0, 3, ROWS), "seed"),
    "a fold": ("fold", RNG.integers(0, 5, ROWS), "seed"),
    "states": ("status", RNG.choice(["ok", "crash"], ROWS), "status"),
    "states under another name": ("how", RNG.choice(["done", "crashed", "running"], ROWS), "status"),
    "whether it went well": ("success", RNG.random(ROWS) < 0.5, "status"),
    "whether memory was exceeded": ("oom_error", RNG.integers(0, 2, ROWS), "status"),
    "words for yes and no": ("converged", RNG.choice(["yes", "no"], ROWS), "status"),
    "dates": ("created", [f"2024-03-{i % 28 + 1:02d}" for i in range(ROWS)], "time"),
    "unix times": ("x", 1_700_000_000 + 60 * np.arange(ROWS), "time"),
    "a logger's own": ("_runtime", real(), "time"),
    "a budget": ("budget", RNG.choice([1, 3, 9, 27], ROWS), "budget"),
    "an epoch": ("epoch", RNG.integers(0, 300, ROWS), "budget"),
    "a remark": ("description", RNG.choice(["baseline", "wider", "try again"], ROWS), "text"),
    "lists": ("history", [f"[{i}, {i + 1}]" for i in range(ROWS)], "text"),
    "long texts": ("x", [f"{'word ' * 20}{i}" for i in range(ROWS)], "text"),
    "nothing": ("x", [None] * ROWS, "empty"),
}


@pytest.mark.parametrize("case", list(OTHERS))
def test_what_is_neither_set_nor_a_result(case: str) -> None:
    name, values, role = OTHERS[case]
    assert role_of(name, values) == role


def test_a_latin_hypercube_has_a_permutation_in_every_column() -> None:
    design = {name: RNG.permutation(ROWS) for name in "abc"}
    decided = roles({**design, "trial": np.arange(ROWS), "y": real()}, "y")
    assert [decided[name].name for name in design] == ["parameter"] * 3
    assert decided["trial"].name == "identifier"


@pytest.mark.parametrize("prefix", ["params_", "hyperparameters.", "config.", "param_"])
def test_where_names_mark_the_settings_nothing_else_is_one(prefix: str) -> None:
    table = {f"{prefix}{name}": values for name, values in SETTINGS.items()}
    table |= {f"{prefix}score": real(), "kl": real(), "host": ["a"] * ROWS, "note": RNG.choice(["a", "b"], ROWS)}
    decided = roles({**table, f"{prefix}seed": RNG.integers(0, 9, ROWS), "value": real()}, "value")
    settings = [name for name, role in decided.items() if role.is_setting]
    assert settings == [*(f"{prefix}{name}" for name in SETTINGS), f"{prefix}score"]
    assert decided[f"{prefix}seed"].name == "seed"
    assert "parameters have a prefix, as in" in decided["kl"].why


def test_one_column_is_marked_by_a_point_but_not_by_an_underscore() -> None:
    assert marked(["config.lr", "loss"]) == ["config.lr"]
    assert not marked(["param_count", "lr"])


def test_a_few_different_numbers_of_an_unclear_name_are_kept_and_doubted() -> None:
    decided = roles({**SETTINGS, "map": RNG.choice([1, 2, 4, 8], ROWS), "precision": np.tile([16, 32], 30)}, "y")
    assert decided["map"].is_setting
    assert decided["precision"].is_setting
    (note,) = notes_on(decided, "y")
    assert note.startswith("map: its name is typical of a result; exclude it if it is a result")
    assert note.severity == "warning"


def test_one_sentence_names_every_column() -> None:
    decided = roles({"run_id": [f"r{i}" for i in range(ROWS)], **SETTINGS, "duration": real(), "val_acc": real()})
    sentence, *reasons = notes_on(decided, "val_loss")
    names = "parameters lr, batch_size, optimizer; left out: run_id, duration, val_acc"
    assert sentence == f"objective val_loss; {names} (other notes say why); params= selects the columns to use"
    assert [note.subject for note in reasons] == ["run_id", "duration", "val_acc"]
    assert not notes_on(roles(SETTINGS), "val_loss")


def test_what_stands_behind_the_objective_of_a_grid() -> None:
    grid: dict[str, Any] = {"shrink": np.tile([0.1, 0.5], 30), "method": np.repeat(["a", "b", "c"], 20)}
    table = {**grid, "mse": real(), "spread": real(), "wait": real(), "level": np.tile([1, 2, 3], 20)}
    columns = {name: as_column(name, values) for name, values in table.items()}
    names = [name for name in table if name != "mse"]
    order = list(table)
    decided = by_rules(names, columns, ["mse"], order).roles
    assert [name for name in names if decided[name].is_setting] == ["shrink", "method", "level"]
    assert doubted(decided) == ["level"]
    columns["shrink"] = as_column("shrink", real())  # no grid
    decided = by_rules(names, columns, ["mse"], order).roles
    assert doubted(decided) == ["shrink", "spread", "wait", "level"]  # only the words show what was set


GRID = np.arange(32)
BETA, DEPTH, WIDTH = GRID % 4, GRID // 4 % 4, GRID // 16
TWICE = np.sqrt(BETA + 10 * DEPTH + 0.3)  # the same for both widths


def in_order(columns: dict[str, Any], objective: str) -> Mapping[str, Role]:
    return ruled(columns, [objective], list(columns))


def test_numbers_beside_a_full_grid_are_results_unless_they_follow_from_one_setting() -> None:
    measured = RNG.uniform(size=32)
    grid = {"beta": BETA, "depth": DEPTH, "width": WIDTH, "n_pcs": BETA**2}
    decided = in_order({**grid, "inertia": TWICE, "score": measured, "n_events": GRID * 7 % 32}, "score")
    assert {name for name, role in decided.items() if role.is_setting} == set(grid)
    assert "every combination of beta, depth, width" in decided["inertia"].why


def test_names_of_settings_and_whole_numbers_before_the_objective_of_a_grid_stay() -> None:
    columns = {"beta": BETA, "depth": DEPTH, "width": WIDTH, "lr": TWICE, "w": (BETA + DEPTH) % 3, "score": GRID}
    decided = in_order(columns, "score")
    assert all(role.is_setting for role in decided.values())
    assert decided["lr"].doubt is None
    assert decided["w"].doubt is not None


def test_a_grid_needs_every_combination_equally_often() -> None:
    assert full_grid({"a": BETA, "b": DEPTH, "c": TWICE}) == (["a", "b"], ["c"])
    assert full_grid({"a": BETA[:-1], "b": DEPTH[:-1], "c": WIDTH[:-1]}) == (["a", "b", "c"], [])  # one row is missing
    assert full_grid({"a": BETA[:-4], "b": DEPTH[:-4], "c": WIDTH[:-4]}) == ([], [])
    assert full_grid({"a": RNG.choice(3, 90), "b": RNG.choice(3, 90), "c": np.arange(90)}) == ([], [])


def test_what_stands_between_results_or_right_before_the_objective_of_a_grid() -> None:
    settings = {"kind": RNG.choice(["a", "b"], ROWS), "size": RNG.choice([1, 2], ROWS)}
    decided = in_order(
        {**settings, "val_loss": real(), "n_epochs": RNG.choice(900, ROWS, False), "val_acc": real()}, "val_acc"
    )
    assert decided["n_epochs"].name == "result"
    decided = in_order({**settings, "base": real(), "lock": real(), "change": real(), "total": real()}, "change")
    assert [decided[name].doubt is not None for name in ("kind", "size", "base", "lock")] == [False, False, True, True]
    assert decided["total"].name == "result"
    decided = in_order({**settings, "acc": real(), "ran": RNG.choice([1, 2], ROWS)}, "acc")
    assert decided["ran"].doubt is not None


@pytest.mark.parametrize("name", ["overfitting", "delta", "improvement"])
def test_differences_have_both_signs(name: str) -> None:
    assert role_of(name, real(-1, 1)) == "result"
    assert role_of("huber_delta", real(0.1, 1)) == "parameter"


def test_false_negatives_are_no_function_and_a_spread_may_be_set() -> None:
    assert role_of("test_FN", RNG.integers(0, 500, ROWS)) == "result"
    assert role_of("CV_Std", real()) == "result"
    assert role_of("init_std", real()) == "parameter"


def test_behind_an_objective_with_one_column_before_it_nothing_is_sure() -> None:
    decided = in_order({"start": RNG.choice(4, ROWS), "objective": real(), "w1": real(), "pdp": real()}, "objective")
    assert all(role.is_setting for role in decided.values())
    assert [decided[name].doubt is not None for name in decided] == [False, True, True]


def test_lists_of_results_and_ranges_that_were_set() -> None:
    lists = np.array([f"[{i}, 0.5]" for i in range(5)])
    assert role_of("all_fitnesses", lists[RNG.integers(0, 5, ROWS)]) == "result"
    assert role_of("hidden_layers", lists[RNG.integers(0, 5, ROWS)]) == "parameter"
    few = {"roll_min": RNG.choice([1, 2], ROWS), "roll_max": RNG.choice([5, 9], ROWS)}
    assert all(role.is_setting for role in roles({**SETTINGS, **few, "r2": real()}, "r2").values())
    few = {"ran_mean": RNG.choice([0.1, 0.2], ROWS), "ran_std": RNG.choice([0.5, 0.9], ROWS)}
    assert [role_of(name, few[name]) for name in few] == ["parameter", "parameter"]
    assert {roles({**SETTINGS, **few, "r2": real()}, "r2")[name].name for name in few} == {"result"}


def test_a_number_of_the_trial_beside_a_full_grid_is_an_id() -> None:
    grid = {"beta": BETA, "depth": DEPTH, "width": WIDTH}
    assert in_order({"trial": GRID[::-1] + 5, **grid, "score": np.sin(GRID)}, "score")["trial"].name == "identifier"


def test_means_and_deviations_of_one_result() -> None:
    decided = roles({**SETTINGS, "noise_std": real(), "spread_mean": real(), "spread_std": real()}, "y")
    assert [decided[name].name for name in ("noise_std", "spread_mean", "spread_std")] == [
        "parameter",
        "result",
        "result",
    ]


def test_a_number_with_a_spread_was_measured() -> None:
    jobs = {"total_jobs": RNG.choice([2500, 2600], ROWS), "total_jobs_std": real(), "total_jobs_ci95": real()}
    assert {roles({**SETTINGS, **jobs}, "y")[name].name for name in jobs} == {"result"}
    depth = {"depth": RNG.choice([2, 4], ROWS), "depth_mean": real(), "depth_std": real()}  # the spread of the mean
    assert roles({**SETTINGS, **depth}, "y")["depth"].is_setting
    width = {"width": RNG.choice([2, 4], ROWS), "width_sd": RNG.choice([0.1, 0.2], ROWS)}
    assert roles({**SETTINGS, **width}, "y")["width"].is_setting


def test_numbers_with_many_digits_that_follow_from_another_column_are_doubted() -> None:
    layers = RNG.integers(0, 3, ROWS)
    shapes = {"dimensions": np.array(["[24, 3]", "[24, 6]", "[24, 9]"])[layers]}
    for times, expected in ((layers, ["squeeze"]), (RNG.permutation(np.arange(ROWS) % 3), [])):
        decided = in_order({**SETTINGS, **shapes, "squeeze": (times + 1) / 192, "loss": real()}, "loss")
        assert doubted(decided) == expected
    decided = in_order({**SETTINGS, **shapes, "squeeze": (layers + 1) / 20, "loss": real()}, "loss")
    assert doubted(decided) == []


def test_thresholds_of_validation_among_results_are_doubted() -> None:
    for name, expected in (("validation_best_threshold", ["validation_best_threshold"]), ("score_threshold", [])):
        found = {name: RNG.choice([0.8, 0.9, 0.95], ROWS)}
        assert doubted(in_order({**SETTINGS, "f1": real(), "rmse": real(), **found, "auc": real()}, "f1")) == expected


def test_a_column_of_nothing_beside_a_status() -> None:
    nothing = as_column("notes", np.full(ROWS, None))
    assert status_column({"notes": nothing, "status": as_column("status", ["ok", "OOM"] * 30)}) == "status"


EPOCHS = np.arange(1, 101)
CURVES: dict[str, tuple[dict[str, Any], str | None]] = {
    "Lightning": (
        {"epoch": np.repeat(EPOCHS, 2), "step": np.repeat(EPOCHS, 2) * 50, "val_loss": 1 / EPOCHS.repeat(2)},
        "epoch",
    ),
    "a schedule beside it": (
        {"epoch": EPOCHS, "time": EPOCHS * 9.5, "train/box_loss": 1 / EPOCHS, "lr/pg0": 0.1 * 0.97**EPOCHS},
        "epoch",
    ),
    "what was logged of every epoch": (
        {"epoch": EPOCHS, "reward": RNG.random(100), "entropy": RNG.random(100)},
        "epoch",
    ),
    "a counter beside it": (
        {"epoch": EPOCHS, "val_loss": 1 / EPOCHS, "patience": RNG.integers(0, 3, 100), "lr": 0.1 * 0.97**EPOCHS},
        "epoch",
    ),
    "trials in the order of their run": ({"iteration": np.arange(ROWS), **SETTINGS, "loss": real()}, None),
    "trials at several epochs": ({"epoch": np.tile([1, 2, 3], 20), **SETTINGS, "loss": real()}, None),
}


@pytest.mark.parametrize("case", list(CURVES))
def test_the_curve_of_one_run(case: str) -> None:
    table, step = CURVES[case]
    columns = {name: as_column(name, values) for name, values in table.items()}
    assert step_of_one_run(columns, roles_of(list(table), lambda _: columns)[1]) == step
    marks = {"config.lr": columns["epoch" if "epoch" in columns else "iteration"]}  # the others are not read
    assert step_of_one_run(marks, roles_of(["config.lr", *table], lambda _: marks)[1]) is None


def test_names_of_one_family_and_counts_of_errors() -> None:
    columns = {**SETTINGS, "a_n_end": real(), "b_n_end": real(), "b_n_sum": real(), "tp": real(), "fn": real()}
    decided = roles({**columns, "variance": real(), "time_cost": real(), "nominal_value": real()}, "a_n_end")
    assert {name for name, role in decided.items() if role.is_setting} == {*SETTINGS, "nominal_value"}
    assert decided["b_n_sum"].why == "named after another result"
    doubt = roles({**SETTINGS, "nominal_value": real(), "expected_value": real()}, "expected_value")[
        "nominal_value"
    ].doubt
    assert doubt is not None


def test_a_setting_beside_its_bounds_stays() -> None:
    bounds = {"lr_min": RNG.choice([1e-5, 1e-4], ROWS), "lr_max": RNG.choice([0.1, 0.2], ROWS)}
    assert all(role.is_setting for role in roles({**SETTINGS, **bounds, "r2": real()}, "r2").values())


def test_numbers_among_results_are_results_and_few_of_them_are_doubted() -> None:
    settings = {"method": RNG.choice(["a", "b"], ROWS), "lookback": RNG.choice([5, 9], ROWS)}
    results = {"total_return": real(), "n_buys": RNG.choice(900, ROWS, False), "sharpe": real(), "rmse": real()}
    decided = in_order({**settings, **results, "days": RNG.choice([1, 2], ROWS), "max_drawdown": real()}, "sharpe")
    assert {name for name, role in decided.items() if role.is_setting} == {*settings, "days"}
    assert doubted(decided) == ["days"]
    ordered = dict(sorted({**settings, **results, "max_drawdown": real()}.items()))  # such an order tells nothing
    assert doubted(in_order(ordered, "sharpe")) == ["n_buys"]


def test_a_setting_that_counts_the_rows_in_a_sweep_of_one_parameter_stays() -> None:
    decided = roles({"": np.arange(12), "0_kernel_size": np.arange(5, 17), "acc": RNG.random(12)}, "acc")
    assert decided[""].name == "identifier"
    assert decided["0_kernel_size"].is_setting
    assert decided["0_kernel_size"].doubt is None
    swept = {"size": np.arange(1, 31), "score": RNG.random(30), "p_value": RNG.random(30), "change": RNG.random(30)}
    decided = in_order(swept, "score")
    assert [decided[name].doubt is not None for name in ("size", "p_value", "change")] == [False, True, True]


def test_numbers_that_take_many_values_behind_a_first_column_that_takes_few() -> None:
    few = {"angle": RNG.choice([-2, 0, 2], ROWS)}
    decided = in_order({**few, "lift": real(), "drag": real(), "speed": RNG.choice([1, 5], ROWS), "ld": real()}, "ld")
    assert doubted(decided) == ["lift", "drag"]
    decided = in_order({"lift": real(), **few, "drag": real(), "ld": real()}, "ld")
    assert doubted(decided) == ["lift", "drag"]
    decided = in_order(
        {**few, "speed": few["angle"] * 2, "units_1": real(), "start_id": few["angle"], "ld": real()}, "ld"
    )
    assert decided["units_1"].doubt is None
    decided = in_order({"start_id": RNG.choice(4, ROWS), "objective": real(), "w1": real(), "pdp": real()}, "objective")
    assert decided["start_id"].name == "identifier"
    assert all(role.doubt is not None for name, role in decided.items() if name != "start_id")


def test_names_of_configurations() -> None:
    width, depth = np.tile([1, 2, 4], 20), np.repeat([1, 2, 3, 4], 15)
    names = [f"w{a}d{b}" for a, b in zip(width, depth, strict=True)]
    table = {"width": width, "depth": depth, "lr": np.where(depth > 2, 0.1, 0.2), "loss": real()}
    assert in_order({"preset": names, **table}, "loss")["preset"].name == "identifier"
    assert in_order({"config_idx": width * 10 + depth, **table}, "loss")["config_idx"].name == "identifier"
    decided = in_order({"preset": names, **table, "batch": RNG.choice([16, 32], ROWS)}, "loss")
    assert decided["preset"].doubt is not None
    assert decided["preset"].doubt.role == "identifier"
    assert in_order({"kind": width.astype(str), **table}, "loss")["kind"].doubt is None
    few = {name: np.asarray(column)[::7] for name, column in table.items()}  # so few that every name is another
    decided = in_order({"folder": [f"runs/{i}" for i in range(9)], **few}, "loss")
    assert decided["folder"].doubt is not None


def test_numbers_with_more_digits_than_what_was_set() -> None:
    coarse = {"fee": np.tile([0.1, 0.5, 0.9], 20), "span": np.repeat([7, 14, 21], 20)}
    table = {"weight_kg": np.tile(real()[:3], 20), **coarse, "acc": real()}
    assert doubted(roles({**table, "kind": RNG.choice(["a", "b"], ROWS)}, "acc")) == ["weight_kg"]
    assert doubted(in_order({**table, "lr": real()}, "acc")) == ["weight_kg"]  # three values are not drawn


def test_numbers_that_move_together_are_doubted() -> None:
    x, lr = real(), real()
    table = {"lr": lr, "sr.odds": x, "ra.odds": np.exp(x), "wf.odds": x**3, "free": real(), "utility": real()}
    decided = in_order(table, "utility")
    assert [name for name, role in decided.items() if role.doubt is not None] == ["sr.odds", "ra.odds", "wf.odds"]


def test_flags_and_seeds_beside_a_full_grid() -> None:
    grid = {"influence": BETA, "noise": DEPTH, "repeat": WIDTH}
    decided = in_order({**grid, "reached": RNG.random(32) < 0.5, "spread": np.sin(GRID)}, "spread")
    assert decided["repeat"].name == "seed"
    assert decided["reached"].doubt is not None
    decided = in_order({**grid, "spread": np.sin(GRID), "reached": RNG.random(32) < 0.5}, "spread")
    assert decided["reached"].name == "result"


def test_numbers_that_differ_between_repeats_of_a_configuration_are_results() -> None:
    case, repeat = np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)
    design = {"case_id": case, "repeat": repeat, "n_carts": case // 4 + 2, "n_ramps": case % 2 + 1}
    left, arrived = RNG.integers(20, 60, 60), RNG.integers(300, 400, 60)
    decided = in_order({**design, "left": left, "arrived": arrived, "profit": real()}, "profit")
    assert {name for name, role in decided.items() if role.name == "result"} == {"left", "arrived"}
    assert "differs between repeats (repeat) of the same case_id" in decided["left"].why
    assert not {"n_carts", "n_ramps"} & set(doubted(decided))
    decided = in_order({**design, "lr": real(), "pace": RNG.choice([0.1, 0.2, 0.5], 60), "profit": real()}, "profit")
    assert decided["lr"].is_setting  # a name of a parameter
    assert "pace" in doubted(decided)  # round numbers
    design["repeat"] = np.arange(60)  # each repeat once
    assert in_order({**design, "left": left, "profit": real()}, "profit")["left"].is_setting


def test_columns_that_were_combined_with_a_grid_are_part_of_the_design() -> None:
    tiles = np.array([(x, y) for x in (3, 5, 9, 17) for y in (2, 7, 11, 26) if x * y < 200])
    place, side, rep = (codes.ravel() for codes in np.indices((len(tiles), 4, 3)))
    shape = {"tile_x": tiles[place, 0], "tile_y": tiles[place, 1]}
    assert not doubted(in_order({"rep": rep, "side": side * 70 + 9, **shape, "t": np.sin(np.arange(len(rep)))}, "t"))
    one_at_a_time = np.array([(8, 1), (2, 1), (4, 1), (16, 1), (8, 3), (8, 7)])  # an agreed value, then others
    place, kind, load = (codes.ravel() for codes in np.indices((6, 3, 3)))
    sweep = {"kind": np.array(["a", "b", "c"])[kind], "load": np.array(["x", "y", "z"])[load]}
    sweep |= {
        "banks": one_at_a_time[place, 0],
        "lanes": one_at_a_time[place, 1],
        "room": 128 * (one_at_a_time[place, 1] > 1),
    }
    decided = in_order({**sweep, "served": place * 7 % 5 + kind * load, "speed": np.sin(np.arange(54))}, "speed")
    assert doubted(decided) == ["served"]
    assert crossed_with(["side"], {"side": side, "y": np.arange(len(side)) % 7}, ["y"]) == []


def test_an_id_or_a_repeat_is_no_part_of_a_grid() -> None:
    design = {"case_id": np.repeat(np.arange(4), 8), "run_id": np.tile(np.arange(8), 4)}
    decided = in_order({**design, "steps": np.arange(32) * 7 % 29 + 40, "loss": np.sin(GRID)}, "loss")
    assert not any("grid" in role.in_words() for role in decided.values())


def test_parameters_with_names_like_those_of_others_are_not_doubted() -> None:
    rng = np.random.default_rng(0)
    odd = [1, 3, 4, 4, 4, 9, 13, 13, 13, 14]
    numbers = {name: rng.choice(odd, ROWS) for name in ("K1", "K2", "n_carts", "bin_count", "generations", "kp")}
    table = {"n_layers": rng.choice([2, 4, 8], ROWS), **numbers, "acc": rng.random(ROWS), "test_acc": rng.random(ROWS)}
    assert not doubted(in_order(table, "acc"))
    assert doubted(in_order({"n_layers": table["n_layers"], "K1": numbers["K1"], "acc": rng.random(ROWS)}, "acc")) == [
        "K1"
    ]


def test_summaries_without_a_stem_and_speeds() -> None:
    decided = roles({**SETTINGS, "best": real(), "worst": real(), "std": real()}, "avg")
    assert {decided[name].name for name in ("best", "worst", "std")} == {"result"}
    assert role_of("V (m/s)", real()) == "parameter"


def doubted(decided: Mapping[str, Role]) -> list[str]:
    return [name for name, role in decided.items() if role.doubt is not None]


def test_what_was_counted_after_a_run_is_doubted_beside_a_grid_whatever_its_name() -> None:
    grid = {"beta": BETA, "depth": DEPTH, "width": WIDTH}
    decided = in_order({**grid, "trees": 40 + GRID * 7 % 31, "score": np.sin(GRID)}, "score")
    assert decided["trees"].name == "result"
    grid["batch_size"] = 2 ** (BETA + DEPTH)  # made of two of the settings
    assert not doubted(in_order({**grid, "score": np.sin(GRID)}, "score"))
    seeds = {"beta": BETA, "depth": DEPTH, "seed": WIDTH, "chosen": BETA * DEPTH % 3, "reached": GRID * 7 % 3}
    decided = in_order({**seeds, "score": np.sin(GRID)}, "score")
    assert decided["chosen"].name == "result"
    assert doubted(decided) == ["reached"]  # equally frequent values
    few = {"start": RNG.choice(["a", "b"], ROWS), "n": RNG.choice([10, 20], ROWS), "lr": np.tile([0.1, 0.2], 30)}
    assert doubted(in_order({**few, "error": real(), "iterations": RNG.integers(20, 90, ROWS)}, "error")) == [
        "iterations"
    ]


def test_numbers_behind_the_objective_of_drawn_settings_and_past_participles() -> None:
    drawn = {"lr": real(), "alpha": real(), "val_loss": real(), "val_acc": real(), "sparsity": real()}
    assert doubted(in_order(drawn, "val_loss")) == ["sparsity"]
    assert doubted(in_order({**drawn, "gamma": real()}, "val_loss")) == ["sparsity"]  # the other has a parameter's name
    assert not doubted(in_order({**drawn, "gamma": real(), "momentum": real()}, "val_loss"))  # parameters are here, too
    assert doubted(roles({**SETTINGS, "n_features_selected": RNG.integers(5, 90, ROWS)})) == ["n_features_selected"]
    assert not doubted(
        roles({**SETTINGS, "wind_speed": real(), "text_embed": real(), "clip_fixed": BETA[:20].tolist() * 3})
    )


def test_a_single_number_behind_several_results_is_doubted() -> None:
    names = {"model": [f"m{i}" for i in range(ROWS)], "train_score": real(), "test_score": real()}
    assert doubted(in_order({**names, "iterations": RNG.integers(100, 900, ROWS)}, "test_score")) == ["iterations"]
    assert not doubted(in_order({**names, "units": RNG.choice([8, 16], ROWS)}, "test_score"))


def test_a_marked_path_is_doubted() -> None:
    paths = {"config.checkpoint_name": [f"runs/{i}.pt" for i in range(ROWS)], "config.lr": real()}
    assert doubted(roles({**paths, "loss": real()}, "loss")) == ["config.checkpoint_name"]


def test_a_long_row_of_unknown_numbers_among_results_or_before_a_cost() -> None:
    unknown = {name: real().round(2) for name in ("calmar", "psr", "dsr", "skew")}
    results = {"val_sharpe": real(), **unknown, "max_drawdown": real(), "win_rate": real(), "train_sharpe": real()}
    more = {"val_min": real(), "discard_reason": RNG.choice(["", "few trades"], ROWS)}
    decided = in_order({**results, **more}, "val_sharpe")
    assert [name for name, role in decided.items() if role.is_setting] == doubted(decided) == [*unknown]
    decided = in_order({"lr": real(), "acc": real(), "kept_share": real(), "fit_time": real()}, "acc")
    assert doubted(decided) == ["kept_share"]
    decided = in_order({"created_at": 1_700_000_000 + 60 * np.arange(ROWS), "x": real(), "acc": real()}, "acc")
    assert decided["x"].is_setting


def test_few_values_are_settings_though_their_names_hold_a_result_or_a_split() -> None:
    few = {"bin_loss_w": np.tile([0.1, 0.3, 0.5], 20), "train_subset": np.tile([0.1, 1.0], 30)}
    decided = roles({**SETTINGS, **few, "val_loss": real()}, "val_loss")
    assert all(decided[name].is_setting for name in few)
    assert doubted(decided) == ["train_subset"]
    assert role_of("valid_a_picp_original", np.tile(["[0, '']", "[1, '']"], 30)) == "result"
    assert role_of("valid_a_picp_original", np.tile([0.951, 0.976], 30)) == "result"


def test_many_values_where_all_settings_take_few_and_lattices_of_many_digits() -> None:
    few = {"opt": RNG.choice(["a", "b"], ROWS), "n_layer": RNG.choice([1, 2], ROWS), "dropout": np.tile([0, 0.1], 30)}
    scores = {"blimp": real().round(3), "entity_tracking": real().round(3), "ewok": real().round(3)}
    assert doubted(in_order({**few, **scores, "loss": real()}, "loss")) == [*scores]
    assert doubted(in_order({**few, **scores, "lr": real(), "loss": real()}, "loss")) == []
    lattice = {"gran": np.tile([8, 9], 150), "quantile": np.repeat(np.linspace(0.1, 0.9, 30), 10)}
    lattice |= {"threshold": np.tile(np.linspace(0.01, 0.7, 30), 10), "kernel": np.tile([1, 2, 3], 100)}
    assert not doubted(in_order({**lattice, "f1": RNG.random(300)}, "f1"))
    assert doubted(in_order({"type": few["opt"], "view1": real(), "acc": real()}, "acc")) == ["view1"]


def test_dicts_of_results_columns_without_a_name_and_long_lists() -> None:
    scores = {"bleu.bleu": real(), "bleu.length_ratio": real(), "bleu.brevity_penalty": real()}
    decided = roles({**SETTINGS, **scores, "loss.alpha": real(), "Unnamed: 7": RNG.choice(["LR", "UD"], ROWS)}, "y")
    assert {name for name, role in decided.items() if role.is_setting} == {*SETTINGS, "loss.alpha"}
    table = {
        "width": [1, 2, 3, 4],
        "log": [str([{"step": i}] * 9) for i in range(4)],
        "layers": ["[1]", "[2]", "[3]", "[4]"],
    }
    assert [role.name for role in roles(table, "y").values()] == ["parameter", "text", "parameter"]
    names = {"model": np.repeat(["a", "b"], 30), "device": np.repeat([1, 2], 30), "jobs": np.repeat([3, 4], 30)}
    assert not doubted(roles({**SETTINGS, **names, "pool": np.repeat([5, 6], 30)}, "y"))  # so few tell no configuration


def settings_beside(name: str, values: Any) -> list[str]:
    """The doubts about a column between few-valued parameters and the objective."""
    few = {"batch_size": np.tile([16, 32, 64], 20), "optimizer": np.tile(["adam", "sgd"], 30)}
    return doubted(in_order({**few, name: values, "val_loss": real()}, "val_loss"))


CHOSEN: dict[str, Any] = {
    "words that repeat": RNG.choice(["a", "b", "c"], ROWS),
    "round numbers": RNG.choice([0.1, 0.5, 2, 25], ROWS, p=[0.6, 0.2, 0.1, 0.1]),
    "numbers near one": RNG.choice([0.9, 0.95, 0.99, 0.995], ROWS, p=[0.6, 0.2, 0.1, 0.1]),
    "powers of two": RNG.choice([48, 64, 96, 224], ROWS, p=[0.6, 0.2, 0.1, 0.1]),
    "equal steps": RNG.choice([3.7, 7.4, 11.1, 14.8], ROWS, p=[0.6, 0.2, 0.1, 0.1]),
    "equal factors": RNG.choice(1e-4 * 2.3 ** np.arange(5), ROWS),
    "small numbers, equally often": np.tile([1, 2, 3], 20),
    "short numbers, equally often": np.tile([31, 49, 73], 20),
}
MEASURED: dict[str, Any] = {
    "counts": RNG.binomial(9, 0.1, ROWS),
    "rates of a few cases": RNG.choice([0, 1 / 3, 2 / 3, 1], ROWS, p=[0.6, 0.2, 0.1, 0.1]),
    "sums of products": RNG.choice([86016, 786432, 2883584], ROWS),
    "measured numbers": RNG.normal(size=ROWS),
    "numbers that were rounded": RNG.normal(50, 9, ROWS).round(1),
}


@pytest.mark.parametrize("case", list(CHOSEN))
def test_values_that_people_choose_are_evidence_for_a_parameter(case: str) -> None:
    assert not settings_beside("quux", CHOSEN[case])


@pytest.mark.parametrize("case", list(MEASURED))
def test_without_evidence_a_parameter_is_doubted(case: str) -> None:
    assert settings_beside("quux", MEASURED[case]) == ["quux"]
    constant = {name: np.ones(ROWS) for name in ("quux", "total")}
    assert not doubted(in_order({"lr": real(), **constant, "val_loss": real()}, "val_loss"))


@pytest.mark.parametrize("name", ["weight_decay", "dropout_2", "learning_rate", "batch_size", "max_leaves", "gamma"])
def test_a_name_is_evidence_for_a_parameter(name: str) -> None:
    assert not settings_beside(name, RNG.normal(size=ROWS))


@pytest.mark.parametrize("name", ["compression_ratio", "detection_rate", "model_size", "n_leaves", "stdev_strategy"])
def test_a_name_of_parameters_and_of_results_is_none(name: str) -> None:
    decided = in_order(
        {"batch_size": np.tile([16, 32, 64], 20), name: RNG.integers(90, 999, ROWS), "mse": real()}, "mse"
    )
    assert doubted(decided) == [name] or decided[name].name == "result"


def test_draws_are_evidence_beside_other_draws_or_in_many_rows() -> None:
    rows = 400
    spread = {"kind": RNG.choice(["a", "b"], rows), "quux": RNG.uniform(size=rows), "mse": RNG.normal(size=rows)}
    assert not doubted(in_order(spread, "mse"))
    assert doubted(in_order({**spread, "quux": RNG.normal(size=rows)}, "mse")) == ["quux"]
    drawn = {"lr": np.exp(real(-9, 0)), "quux": np.exp(real(-3, 3)), "mse": real()}
    assert not doubted(in_order(drawn, "mse"))
    assert doubted(in_order({**drawn, "quux": RNG.standard_cauchy(ROWS)}, "mse")) == ["quux"]
    assert not doubted(in_order({"x1": RNG.normal(size=ROWS), "x2": RNG.normal(size=ROWS), "y": real()}, "y"))


def test_chance_hardly_ever_makes_uniform_draws_look_uneven() -> None:
    draws = np.random.default_rng(0).uniform(size=(500, 300))
    columns = [Values.of(as_column("x", column)) for column in draws]
    uneven = [column for column in columns if not column.looks_drawn(beside=True)]
    assert len(uneven) <= 1


def test_among_results_a_parameter_needs_a_name_and_values() -> None:
    first = {"lr": np.tile([0.1, 0.2], 30), "kind": np.repeat(["a", "b"], 30), "mse": real()}
    decided = in_order(
        {**first, "quux": np.tile([10, 20], 30), "depth": RNG.integers(1, 9, ROWS), "mae": real()}, "mse"
    )
    assert doubted(decided) == ["quux", "depth"]
    decided = in_order({**first, "mae": real(), "batch_size": RNG.choice([16, 64], ROWS), "momentum": real()}, "mse")
    assert not doubted(decided)
    behind = {"mse": real(), "units": RNG.choice([16, 64], ROWS), "n": RNG.choice([10, 20], ROWS), "lr": real()}
    assert not doubted(in_order(behind, "mse"))


def test_one_column_alone_is_the_parameter_but_not_beside_constant_ones() -> None:
    names = {"text": [f"data_{i}" for i in range(8)], "acc": real()[:8]}
    assert not doubted(in_order(names, "acc"))
    table = {"gini": real()[:8], "acc": real()[:8], "lr": [0.1] * 8, "batch_size": [8] * 8}
    assert doubted(in_order(table, "acc")) == ["gini"]


def test_parts_of_the_data_names_of_columns_and_long_names_of_runs() -> None:
    table = {"lr": np.tile([0.1, 0.2], 30), "depth": np.repeat([1, 2, 3], 20), "acc": real()}
    assert in_order({**table, "part": np.tile(["train", "val", "test"], 20)}, "acc")["part"].name == "seed"
    assert in_order({"tuned": np.tile(["lr", "depth", "all"], 20), **table}, "acc")["tuned"].name == "text"
    names = [f"run{i % 2}{i // 20}{i % 3}" for i in range(ROWS)]
    assert doubted(in_order({"name": names, "free": RNG.choice(["a", "b"], ROWS), **table}, "acc")) == ["name"]


def test_a_grid_is_no_evidence_for_what_is_right_of_the_objective() -> None:
    table = {"beta": BETA, "width": WIDTH, "score": np.sin(GRID), "quux": DEPTH, "mae": np.cos(GRID)}
    assert doubted(in_order(table, "score")) == ["quux"]


def test_few_rows_do_not_show_that_values_are_equally_frequent() -> None:
    few = {"batch_size": [16, 32] * 5, "optimizer": ["adam", "sgd", "adam", "sgd", "sgd"] * 2}
    assert doubted(in_order({**few, "quux": [0, 6, 92, 129, 0, 0, 92, 6, 0, 92], "mse": real()[:10]}, "mse")) == [
        "quux"
    ]
    assert not doubted(in_order({**few, "quux": [3, 7, 11, 13, 17] * 2, "mse": real()[:10]}, "mse"))


def test_the_best_parameters_are_parameters() -> None:
    best = {"best_params.penalty": real(), "best_params.depth": RNG.integers(1, 9, ROWS), "best_score": real()}
    decided = roles({"kind": RNG.choice(["a", "b"], ROWS), **best, "mse": real()}, "mse")
    assert [name for name, role in decided.items() if role.is_setting] == ["kind", *list(best)[:2]]


def rows_of_a_grid() -> dict[str, Any]:
    table = [(s, n, d) for s in "abcd" for n in (4, 8, 16) for d in (50, 100, 200) for _ in range(2)]
    strategy, size, latency = map(list, zip(*table, strict=True))
    rng = np.random.default_rng(0)
    return {"strategy": strategy, "buffer_kb": size, "dram_latency": latency, "total_cycles": rng.uniform(1, 9, 72)}


def doubted_in(a: pa.Analysis) -> set[str]:
    return {note.subject for note in a.notes if note.kind == "roles" and note.severity == "warning"}


def test_a_time_with_few_round_values_may_be_a_parameter() -> None:
    a = pa.analyze(rows_of_a_grid(), "total_cycles", direction="min")
    assert set(a.space) == {"strategy", "buffer_kb", "dram_latency"}


def test_the_time_of_a_step_of_an_experiment_is_a_parameter() -> None:
    rng = np.random.default_rng(0)
    names = ("temperature", "residence_time", "pressure")
    a = pa.analyze({name: rng.uniform(1, 10, 60) for name in names} | {"yield": rng.uniform(size=60)}, "yield")
    assert set(a.space) == set(names)


def test_many_numbers_beside_few_values_are_doubted() -> None:
    table = rows_of_a_grid()
    del table["dram_latency"]
    ratio = np.random.default_rng(1).uniform(0.2, 0.9, 72).round(4)
    a = pa.analyze({"strategy": table["strategy"], "n_nodes": table["buffer_kb"], "delivery_ratio": ratio,
                    "regret": table["total_cycles"]}, "regret")  # fmt: skip
    assert set(a.space) == {"strategy", "n_nodes"}
    assert [note.subject for note in a.notes if note.kind == "unused"] == ["delivery_ratio"]


def test_hashes_and_descriptions_are_not_parameters() -> None:
    assert role_of("weights", RNG.choice(["9f86d081884c", "60303ae22b99", "fd61a03af4f7"], ROWS)) == "identifier"
    assert role_of("code_fingerprint", RNG.choice(["v1-clean", "v2-dirty"], ROWS)) == "identifier"
    assert role_of("run_description", RNG.choice(["first try", "with warmup", "again"], ROWS)) == "text"


def test_a_tag_with_equally_frequent_values_may_be_a_parameter() -> None:
    tags = np.repeat(["full", "no_mixer", "no_noise"], ROWS // 3)
    decided = roles({**SETTINGS, "tag": tags, "val_loss": real()}, "val_loss")["tag"]
    assert decided.is_setting
    assert decided.doubt is not None


def test_a_latency_with_equally_frequent_values_may_be_a_parameter() -> None:
    decided = roles({**SETTINGS, "latency": np.tile(np.arange(10, 70, 10), 10), "val_loss": real()}, "val_loss")[
        "latency"
    ]
    assert decided.is_setting
    assert decided.doubt is not None


def test_two_parameters_that_depend_on_each_other_or_a_result_on_one_are_not_doubted() -> None:
    x = np.arange(200.0) * 7.0 % 199 + 0.25
    table = {"weight_decay": real_many(), "nx": x, "ny": 3 * x + 1, "points_per_sec": 1 / x, "utility": real_many()}
    assert not doubted(in_order(table, "utility"))
    behind = {"lr": real_many(), "utility": real_many(), "odds": x, "even": np.exp(-x)}
    assert doubted(in_order(behind, "utility")) == ["odds", "even"]


def real_many() -> Any:
    return RNG.uniform(size=200)


def test_iterations_that_a_benchmark_chose_by_the_time() -> None:
    time = np.exp(RNG.uniform(0, 9, 200))
    table = {"name": [f"b{n}" for n in range(200)], "iterations": (1e9 / time).astype(int), "real_time": time}
    decided = in_order({**table, "cpu_time": time * RNG.uniform(0.99, 1.0, 200)}, "real_time")
    assert doubted(decided) == ["iterations"]


@pytest.mark.parametrize("signs", [("✓", "✗"), ("✓ Yes", "✗ No"), ("✔️", "✘"), ("yes", "no")])
def test_yes_and_no_between_results_or_behind_them_are_doubted(signs: tuple[str, str]) -> None:
    flags = np.array(signs)[RNG.integers(0, 2, ROWS)]
    assert Values.of(as_column("within", flags)).kind == "flags"
    settings = {"lr": SETTINGS["lr"], "use_bias": flags, "batch_size": SETTINGS["batch_size"]}
    between = {**settings, "loss": real(), "within": flags, "kl": real(), "runtime": real()}
    assert "within" in doubted(in_order(between, "loss"))
    assert doubted(in_order({**settings, "loss": real(), "runtime": real(), "within": flags}, "loss")) == ["within"]
    assert not doubted(in_order({"loss": real(), "runtime": real(), **settings}, "loss"))


def test_powers_of_two_are_set_but_small_counts_may_be_counted() -> None:
    for values, chosen in (([4, 8], True), ([4, 16], True), ([2, 4], False), ([3, 8], False), ([1, 8], False)):
        column = as_column("block", np.array(values)[RNG.random(ROWS).argsort() % 3 // 2])
        assert Values.of(column).are_round is chosen, values


def test_a_grid_with_a_few_missing_rows_shows_what_was_measured() -> None:
    cells = np.array(list(np.ndindex(4, 5, 5)))[:-3]
    rng = np.random.default_rng(0)
    grid = {"low_n": cells[:, 0] * 10 + 4, "high_n": cells[:, 1] * 7 + 3, "power_factor": cells[:, 2] / 10 + 1.1}
    results = {"fit_score": rng.random(97), "deals": rng.integers(20, 90, 97), "scale": rng.random(97).round(3)}
    decided = in_order({**grid, **results}, "fit_score")
    assert {name for name, role in decided.items() if role.is_setting} == {*grid}
    assert not doubted(decided)


def test_a_member_of_a_grid_is_a_parameter_wherever_it_stands_and_whatever_its_name() -> None:
    sizes, waits = np.array([262144, 1048576, 4194304, 16777216]), np.array([10, 50, 100, 200])
    decided = in_order({"beta": BETA, "width": WIDTH, "score": np.sin(GRID), "frame": sizes[DEPTH]}, "score")
    assert not doubted(decided)
    decided = in_order({"beta": BETA, "width": WIDTH, "stop_loss": waits[DEPTH] / 1000, "gain": np.sin(GRID)}, "gain")
    assert all(role.is_setting for role in decided.values())


def test_missing_values_are_a_level_of_a_grid() -> None:
    steps = np.array([np.nan, 1e-4, 1e-8, 1e-12])[DEPTH]
    measured = np.random.default_rng(0).random(32)
    decided = in_order({"beta": BETA, "width": WIDTH, "h": steps, "grad_norm": measured, "time": np.cos(GRID)}, "time")
    assert [name for name, role in decided.items() if role.is_setting] == ["beta", "width", "h"]


def test_round_numbers_that_correspond_to_a_parameter_are_parameters() -> None:
    kind = RNG.integers(0, 3, ROWS)
    ratio, loss = np.array([1.2, 1.3, 1.5])[kind], np.array([0.05, 0.04, 0.03])[kind]
    few = {"threshold": RNG.choice([30, 40, 50], ROWS), "volume_ratio": ratio, "stop_loss": loss}
    decided = in_order({**few, "win_rate": real()}, "win_rate")
    assert all(decided[name].is_setting for name in few)
    assert in_order({**few, "stop_loss": real(), "win_rate": real()}, "win_rate")["stop_loss"].name == "result"
    symbol = np.array(["a", "b", "c", "d", "e", "f"])[kind + 3 * RNG.integers(0, 2, ROWS)]  # two for each ratio
    more = {"take_gain": loss * 2, "win_rate": real()}
    assert not doubted(in_order({"symbol": symbol, **few, **more}, "win_rate"))


def test_right_of_the_first_parameters_a_name_alone_is_not_enough() -> None:
    few = {"lr": np.tile([0.1, 0.2], 30), "kind": RNG.choice(["a", "b"], ROWS), "n": RNG.choice([10, 20, 50], ROWS)}
    results = {"mse": real(), "mae": real()}
    assert doubted(in_order({**few, **results, "momentum": real()}, "mse")) == ["momentum"]
    modes = RNG.choice(["linear", "fast"], ROWS)
    decided = in_order({**few, "mse": real(), "end_mode": modes, "mae": real()}, "mse")
    assert doubted(decided) == ["end_mode"]
    decided = in_order({**few, "converged": RNG.random(ROWS) < 0.5, "mse": real(), "conv_filters": few["n"]}, "mse")
    assert decided["conv_filters"].is_setting


def test_columns_like_their_neighbours_are_not_doubted() -> None:
    odd = {"min_wait": RNG.choice([1, 2], ROWS, p=[0.8, 0.2]), "max_wait": RNG.choice([7, 3], ROWS, p=[0.7, 0.3])}
    few = {"font": RNG.choice(["a", "b"], ROWS), "motion": RNG.choice(["c", "d"], ROWS)}
    assert not doubted(in_order({**few, **odd, "error": real()}, "error"))
    columns = {"col_bytree": real(), "col_bynode": RNG.normal(size=ROWS), "loss": real()}
    assert not doubted(in_order({"lr": real(), **columns}, "loss"))
    counts = RNG.binomial(9, 0.3, ROWS)
    assert not doubted(in_order({"lr": real(), "kids": counts, "gamma": real(), "loss": real()}, "loss"))
    assert doubted(in_order({"lr": real(), "gamma": real(), "kids": counts, "loss": real()}, "loss")) == ["kids"]


def test_the_size_of_a_model_is_no_prefix_and_numbered_splits_are_no_parameters() -> None:
    assert not marked(["stages", "params_total", "params_per_stage", "memory"])
    assert marked(["number", "value", "params_lr", "params_total_steps"]) == ["params_lr", "params_total_steps"]
    assert role_of("split", np.tile(np.arange(10), 6)) == "seed"
    assert role_of("split", np.tile([0.1, 0.2], 30)) == "parameter"


def test_the_smallest_double_is_no_warning() -> None:
    assert not Values.of(as_column("x", [0.375, 5e-324, 0.37519] * 20)).are_short


def test_a_bias_between_other_measures_is_doubted() -> None:
    method, size = np.tile(["ols", "css"], 30), np.repeat([100, 200, 500], 20)
    measured = {"bias": real(-1, 1), "variance": real(), "mse": real(), "rmse": real()}
    assert "bias" in doubted(in_order({"method": method, "sample_size": size, **measured}, "mse"))
    assert "use_bias" not in doubted(in_order({"use_bias": size > 100, "method": method, "mse": real()}, "mse"))


def test_values_that_come_again_in_every_cell_of_a_grid_are_not_measured() -> None:
    kind, data = np.repeat(["x", "y", "z", "w"], 400), np.tile(np.repeat(np.arange(5), 80), 4)
    scale = np.tile(1.03 ** np.arange(16), 100) + data / 7  # each data set has its own steps
    table = {"kind": kind, "data": data.astype(str), "scale": scale, "seen": RNG.random(1600), "mse": RNG.random(1600)}
    decided = in_order(table, "mse")
    assert decided["scale"].is_setting
    assert decided["seen"].name == "result"


def test_excluded_columns_still_show_what_the_others_are() -> None:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {"depth": np.repeat([1, 2, 3, 4], 15), "kind": np.tile(["a", "b", "c"], 20)}
    table |= {"seen": rng.random(60), "loss": rng.random(60)}
    assert set(pa.analyze(table, "loss").space) == {"depth", "kind"}
    assert set(pa.analyze(table, "loss", exclude=["kind"]).space) == {"depth"}


@pytest.mark.parametrize(("name", "values"), [("lauf", SEEDS + 1), ("code", 100 + 3 * np.arange(60))])
def test_what_grows_with_a_seed_or_the_rows_is_no_parameter(name: str, values: Any) -> None:
    table = {name: values, "seed": SEEDS, **SETTINGS, "loss": RNG.random(60)}
    assert list(pa.analyze(table, "loss").space) == list(SETTINGS)


def test_a_remark_is_no_state() -> None:
    remarks = ["good", "too slow but ok", "failed to improve", "keep this", "failed"] * 12
    assert status_column({"verdict": as_column("verdict", remarks)}) is None


def test_a_table_of_unknown_words_is_announced() -> None:
    table = {"zuko": RNG.choice([1, 2, 3], 60), "lanvo": RNG.random(60), "terba": RNG.random(60)}
    (note,) = (note for note in pa.analyze({**table, "filni": RNG.random(60)}, "filni").notes if "understood" in note)
    assert (note.severity, "params=" in note) == ("warning", True)
    assert not any("understood" in note for note in pa.analyze({**table, "loss": RNG.random(60)}, "loss").notes)
