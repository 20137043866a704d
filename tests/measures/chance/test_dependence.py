from __future__ import annotations

import numpy as np

import pedanova as pa
from helpers.ranked import rows_of, study
from pedanova.measures.chance.ranked_rows import dependence_of


def test_independent_columns_are_no_kin() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = {name: rng.random(60) for name in "abcdef"}
        dependence = dependence_of(rows_of(columns, rng.random(60), dict.fromkeys("abcdef", pa.Float(0, 1))))
        assert np.array_equal(dependence.dependent, np.eye(6, dtype=bool))
        assert dependence.gates == dependence.twins == ()


def test_a_gate_is_found_with_and_without_the_space_saying_so() -> None:
    columns, loss, space = study()
    assert dependence_of(rows_of(columns, loss, space)).gates == (("kind", "momentum"),)
    plain = {**space, "momentum": pa.Float(0, 1)}
    dependence = dependence_of(rows_of(columns, loss, plain))
    assert ("kind", "momentum") in dependence.gates
    assert dependence.dependent[dependence.names.index("kind"), dependence.names.index("momentum")]


def test_copies_are_named() -> None:
    rng = np.random.default_rng(0)
    a = rng.random(100)
    columns = {"a": a, "b": 1 - a + 0.01 * rng.random(100), "c": rng.random(100)}
    space = {"a": pa.Float(0, 1), "b": pa.Float(0, 1.01), "c": pa.Float(0, 1)}
    dependence = dependence_of(rows_of(columns, rng.random(100), space))
    assert list(dependence.twins) == [("a", "b")]
    assert dependence.strength[dependence.names.index("a"), dependence.names.index("b")] > 0.95


def test_kin_of_kin_are_kin() -> None:
    rng = np.random.default_rng(0)
    a = rng.random(200)
    b = (a + 0.35 * rng.random(200)) / 1.35
    c = (b + 0.35 * rng.random(200)) / 1.35
    columns = {"a": a, "b": b, "c": c}
    assert dependence_of(rows_of(columns, rng.random(200), dict.fromkeys("abc", pa.Float(0, 1)))).dependent.all()


def copies_of(columns: dict[str, object]) -> dict[str, str]:
    rng = np.random.default_rng(9)
    answer = pa.analyze(columns, rng.random(len(next(iter(columns.values())))), direction="min")  # type: ignore[arg-type]
    return dict(answer.importance().copies)


def test_what_is_at_its_default_together_is_no_copy() -> None:
    rng = np.random.default_rng(0)
    off = rng.random(400) < 0.82
    numbers = {name: np.where(off, 0.0, rng.uniform(0.1, 1, 400)) for name in "ab"}
    assert copies_of({**numbers, "x": rng.random(400)}) == {}
    names = {name: np.where(off, "k0", rng.choice([f"k{i}" for i in range(1, 40)], 400)) for name in "ab"}
    assert copies_of({**names, "x": rng.random(400)}) == {}
    flag = np.where(off, "no", "yes")
    assert copies_of({"flag": flag, "again": np.where(off, 0, 1), "x": rng.random(400)}) == {"flag": "again"}


def test_two_of_which_one_always_has_its_default_are_no_copies() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(400) < 0.5
    size = rng.integers(1, 30, 400)
    columns = {"short": np.where(first, size, 0), "long": np.where(first, 0, size), "x": rng.random(400)}
    assert copies_of(columns) == {}


def test_two_that_have_a_copy_in_common_are_no_copies() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)
    columns = {"kind": kind, "a": 2 * kind + rng.random(300), "b": 2 * kind + rng.random(300)}
    copies = copies_of(columns)
    assert set(copies) == {"kind"}


def test_pooled_and_hand_picked_rows_are_announced() -> None:
    """Two searches in opposite corners of the space; and eight good rows beside a hundred random ones."""
    rng = np.random.default_rng(1)
    space = {name: pa.Float(0, 1) for name in "xyz"}
    corner = np.repeat([0.0, 0.5], 60)
    pooled = {name: corner + 0.5 * rng.random(120) for name in space}
    picked = {
        name: np.append(rng.random(100), np.full(8, value)) for name, value in zip("xyz", (0.3, 0.1, 0.5), strict=True)
    }
    even = {name: rng.random(120) for name in space}
    notes = {}
    for name, columns in (("pooled", pooled), ("picked", picked), ("even", even)):
        loss = (columns["x"] - 0.3) ** 2 + 0.2 * columns["y"] + 0.02 * rng.standard_normal(len(columns["x"]))
        answer = pa.analyze(columns, loss, space=space, direction="min").importance(estimator="counts")
        notes[name] = " ".join(map(str, answer.notes))
    assert "x and y; x and z; y and z depend on each other in these rows" in notes["pooled"]
    assert "the rows are far from uniform in x, y, z" in notes["picked"]
    assert "depend" not in notes["even"]
    assert "uniform" not in notes["even"]
