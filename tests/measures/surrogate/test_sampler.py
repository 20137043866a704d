from __future__ import annotations

import numpy as np

import pedanova as pa
from helpers.ranked import rows_of
from pedanova.measures.chance.ranked_rows import dependence_of
from pedanova.measures.surrogate.sampler import SamplerEvidence, configurations_of, sampler_of, settling

SPACE = {"a": pa.Float(0, 1), "b": pa.Float(0, 1), "c": pa.Float(0, 1)}


def evidence(
    columns: dict[str, np.ndarray], space: dict[str, object] = SPACE, *, ordered: bool = True
) -> SamplerEvidence:  # type: ignore[assignment]
    rows = len(columns["a"])
    loss = sum((column - 0.7) ** 2 for column in columns.values())
    trials = np.arange(float(rows)) if ordered else None
    rows = rows_of(columns, loss, space, trials=trials)
    return sampler_of(configurations_of(rows), dependence_of(rows))


def random_search(rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.random(rows) for name in "abc"}


def homing(rows: int, seed: int) -> dict[str, np.ndarray]:
    """First anywhere, then nearer and nearer to a good place."""
    rng = np.random.default_rng(seed)
    width = np.linspace(1.0, 0.05, rows)
    return {name: np.clip(0.7 + width * (rng.random(rows) - 0.7), 0, 1) for name in "abc"}


def test_random_search_is_not_adaptive() -> None:
    assert not any(evidence(random_search(100, seed)).adaptive for seed in range(20))


def test_zeros_and_odd_scales_do_not_look_adaptive() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = random_search(200, seed)
        columns["a"] = np.where(rng.random(200) < 0.25, 0.0, columns["a"])
        columns["b"] = 10 ** (-6 * columns["b"])  # on a log scale, in a space that is not
        assert not evidence(columns).adaptive


def test_homing_in_is_seen_with_and_without_the_order() -> None:
    for ordered in (True, False):
        found = [evidence(homing(150, seed), ordered=ordered) for seed in range(10)]
        assert all(one.adaptive for one in found)
        assert all((one.drift is None) == (not ordered) for one in found)


def test_running_the_best_again_is_seen() -> None:
    rng = np.random.default_rng(0)
    grid = {name: rng.integers(0, 5, 60) / 4.0 for name in "abc"}
    loss = sum((column - 0.75) ** 2 for column in grid.values())
    again = np.repeat(np.argsort(loss), np.r_[np.full(20, 4), np.full(20, 2), np.full(20, 1)])
    found = evidence({name: column[again] for name, column in grid.items()}, ordered=False)
    assert found.again > 3.3
    assert found.adaptive


def test_repeats_of_every_configuration_are_no_sign() -> None:
    for ordered in (True, False):
        for seed in range(10):
            columns = {name: np.repeat(column, 4) for name, column in random_search(50, seed).items()}
            result = evidence(columns, ordered=ordered)
            assert result.again == 0.0
            assert not result.adaptive


def test_one_parameter_varied_after_the_other_is_seen() -> None:
    rng = np.random.default_rng(0)
    rows, best = [], dict.fromkeys("abc", 0.5)
    for _ in range(3):
        for name in "abc":
            rows += [best | {name: value} for value in rng.random(12)]
            best = min(rows[-12:], key=lambda row: sum((value - 0.7) ** 2 for value in row.values()))
    columns = {name: np.array([row[name] for row in rows]) for name in "abc"}
    result = evidence(columns, ordered=False)
    assert result.stepwise
    assert result.adaptive


def test_lattices_and_rows_under_a_constraint_are_no_sampler() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        lattice = {name: rng.integers(0, 4, 300) / 3.0 for name in "abc"}
        corner = rng.random((3000, 3))
        corner = corner[corner[:, 0] + corner[:, 1] < 1.0]
        for columns in (lattice, dict(zip("abc", corner.T, strict=True))):
            assert not evidence(columns, ordered=False).adaptive


def test_homing_in_below_a_gate_is_seen() -> None:
    """The columns that home in exist in a half of the rows only."""
    rng = np.random.default_rng(0)
    gate = rng.choice(["off", "on"], 300)
    columns: dict[str, np.ndarray] = {
        name: np.where(gate == "on", column, np.nan) for name, column in homing(300, 0).items()
    }
    space = {name: pa.Float(0, 1, when={"gate": ["on"]}) for name in "abc"}
    rows = rows_of(
        columns | {"gate": gate}, np.nan_to_num(columns["a"]), space | {"gate": pa.Categorical(["off", "on"])}
    )
    assert sampler_of(configurations_of(rows), dependence_of(rows)).together > 3.7


def test_a_copy_is_no_sampler() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(300)
    columns = {"a": x, "b": np.clip(x + 1e-3 * rng.normal(size=300), 0, 1), "c": rng.random(300)}
    assert not evidence(columns).adaptive


def test_settling_soon_after_a_random_start_is_seen() -> None:
    """Twelve trials anywhere, then mostly one of twenty categories: no column moves with the number after that."""
    space = {"a": pa.Categorical(range(20)), "b": pa.Float(0, 1), "c": pa.Float(0, 1)}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        settled = (np.arange(200) >= 12) & (rng.random(200) < 0.6)
        a = np.where(settled, 7, rng.integers(0, 20, 200))
        b, c = (np.where(settled, 0.4 + 0.2 * rng.random(200), rng.random(200)) for _ in range(2))
        assert evidence({"a": a, "b": b, "c": c}, space).adaptive
        order = rng.permutation(200)
        assert evidence({"a": a[order], "b": rng.random(200), "c": rng.random(200)}, space).drift < 3.0


def test_the_law_of_settling_holds_for_rows_in_no_order() -> None:
    rng = np.random.default_rng(1)
    usual = [np.log(rng.choice([1.0, 10.0, 80.0], 100, p=[0.1, 0.3, 0.6])) for _ in range(4)]
    steps = np.array([settling(rng.permutation(np.arange(100.0)), usual) for _ in range(2000)])
    assert 0.002 < np.mean(steps > 2.326) < 0.015  # 1 % of normal numbers
