"""Odd small tables with default options: an answer in finite numbers, or one clear line why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.errors import DataError, PedanovaError, QueryError
from pedanova.results import Importances

Table = dict[str, np.ndarray]
ROWS = 60
FLOATS = {"x": pa.Float(0, 1), "y": pa.Float(0, 1)}


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def plain(rows: int = ROWS, seed: int = 0) -> Table:
    x, y = random(seed).random((2, rows))
    return {"x": x, "y": y, "loss": (x - 0.3) ** 2 + 0.2 * y}


def with_column(name: str, values: object, rows: int = ROWS) -> Table:
    return plain(rows) | {name: np.asarray(values)}


def with_loss(change: Callable[[np.ndarray], np.ndarray]) -> Table:
    table = plain()
    return table | {"loss": change(table["loss"].copy())}


def some(part: slice, value: float) -> Table:
    def change(loss: np.ndarray) -> np.ndarray:
        loss[part] = value
        return loss

    return with_loss(change)


DICE = random(1)
ORDERS = 10 ** DICE.uniform(-9, 3, ROWS)
RARE = np.where(np.arange(ROWS) % 20 == 0, DICE.random(ROWS), np.nan)
GATE = DICE.choice(["a", "b", "c"], ROWS)

TABLES: dict[str, Table] = {
    "one parameter": {"x": plain()["x"], "loss": plain()["x"] ** 2},
    "the objective is a parameter": {"x": plain()["x"], "loss": plain()["x"]},
    "a column twice": with_column("z", plain()["x"]),
    "a constant number": with_column("c", np.ones(ROWS)),
    "a constant text": with_column("c", ["a"] * ROWS),
    "a category for every row": with_column("c", [f"k{i}" for i in range(ROWS)]),
    "two rows for every category": with_column("c", [f"k{i // 2}" for i in range(ROWS)]),
    "two rows for every level": with_column("o", np.arange(ROWS) // 2),
    "booleans": plain() | {"p": DICE.random(ROWS) < 0.5, "q": DICE.random(ROWS) < 0.1},
    "nothing but booleans": {"p": DICE.random(41) < 0.5, "q": DICE.random(41) < 0.5, "loss": DICE.random(41)},
    "a huge range of whole numbers": with_column("i", DICE.integers(-(2**52), 2**52, ROWS)),
    "twelve orders of magnitude": with_column("lr", ORDERS) | {"loss": np.abs(np.log10(ORDERS) + 3) + plain()["y"]},
    "missing in 95 % of the rows": with_column("m", RARE),
    "a constant or missing": with_column("m", np.where(np.isnan(RARE), np.nan, 3.0)),
    "missing but for one category": with_column("m", np.array(["a"] + [None] * (ROWS - 1), dtype=object)),
    "a parameter of one optimizer": plain() | {"gate": GATE, "m": np.where(GATE == "a", DICE.random(ROWS), np.nan)},
    "ten configurations": {name: np.tile(column[:10], 6) for name, column in plain().items()},
    "three values as objective": with_loss(lambda loss: np.round(loss * 3)),
    "two values as objective": with_loss(lambda loss: (loss > 0.3).astype(float)),
    "ranks": with_loss(lambda loss: np.argsort(np.argsort(loss))),
    "float32": {name: column.astype(np.float32) for name, column in plain().items()},
    "the largest doubles": with_loss(lambda loss: loss * 1e308),
    "the smallest doubles": with_loss(lambda loss: loss * 5e-322),
    "infinite at the worst end": some(slice(0, 20), np.inf),
    "infinite at the best end": some(slice(0, 5), -np.inf),
    "NaN": some(slice(0, 15), np.nan),
    "many parameters": plain() | {f"p{i}": DICE.random(ROWS) for i in range(7)},
    "hardly enough rows": plain(40),
}
QUESTIONS: dict[str, dict[str, object]] = {
    "nearly all": {"target": 0.9},
    "all but one": {"target": 0.98},
    "one row": {"target": 0.01},
    "one row by value": {"target": pa.at_most(float(plain()["loss"].min()))},
    "all but one by value": {"target": pa.at_most(float(np.sort(plain()["loss"])[-2]))},
    "the worst": {"target": pa.between(0.9, 1)},
    "bad by value": {"target": pa.at_least(0.4)},
    "a band in a band": {"target": pa.between(0.3, 0.4), "region": pa.between(0.2, 0.6)},
    "a band that starts with its region": {"target": pa.between(0.1, 0.4), "region": pa.between(0.1, 0.9)},
    "values in values": {"target": pa.between(0.1, 0.2, values=True), "region": pa.between(0.05, 0.4, values=True)},
    "a quantile in values": {"target": 0.1, "region": pa.at_most(0.35)},
    "values in a quantile": {"target": pa.at_most(0.1), "region": 0.8},
    "a tenth of a region of few": {"target": 0.05, "region": 0.15},
    "against uniform": {"baseline": "uniform"},
    "one draw": {"draws": 1},
    "no draws": {"draws": 0},
}


def assert_sound(found: Importances) -> None:
    for row in found.rows:
        numbers = [getattr(row, name) for name in ("ratio", "share", "raw_share", "divergence", "variance")]
        numbers += [row.value, row.activity, row.value_share, row.activity_share, row.bandwidth]
        assert np.isfinite(numbers).all(), row
        if row.low is not None and row.high is not None and row.p_value is not None:
            assert 0 <= row.low <= max(0.0, row.share) <= row.high, row
            assert found.baseline == "uniform" or row.high <= 1
            assert 0 < row.p_value <= 1
    own = [row for row in found.rows if row.name not in found.copies]  # a copy is not counted once more
    some = any(row.share > 0 for row in own)
    assert sum(row.ratio for row in own) == pytest.approx(1.0 if some else 0.0)
    assert "nan" not in str(found).split("\n\n")[0]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_answered(name: str) -> None:
    assert_sound(pa.analyze(TABLES[name], "loss").importance(0.15))


@pytest.mark.parametrize("name", ["NaN", "infinite at the worst end"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_failed_rows_as_the_worst_are_answered(name: str, direction: str) -> None:
    table = TABLES[name] | ({"loss": -TABLES[name]["loss"]} if direction == "maximize" else {})
    assert_sound(pa.analyze(table, "loss", reading=pa.Reading(nan="worst"), direction=direction).importance(0.2))


@pytest.fixture(scope="module")
def asked() -> pa.Analysis:
    return pa.analyze(plain(), "loss", space=FLOATS)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered(asked: pa.Analysis, name: str) -> None:
    found = asked.importance(**QUESTIONS[name], force=True)  # type: ignore[arg-type]
    assert found.estimator == "surrogate"
    assert_sound(found)
    assert "has 1 rows" not in " ".join(found.notes)


@pytest.mark.parametrize(
    ("table", "given", "question", "words"),
    [
        (with_loss(np.zeros_like), {}, {}, "no parameter can explain it"),
        (some(slice(5, None), np.inf), {}, {"target": 0.5}, "contain the same 60 rows"),
        (
            some(slice(5, None), np.nan),
            {"reading": pa.Reading(nan="worst")},
            {"target": 0.2},
            "contain the same 60 rows",
        ),
        (some(slice(2, None), np.nan), {}, {}, "the target has 1 of 2 rows, and at least 5"),
        (plain(), {}, {"target": pa.at_most(-1)}, "contains no row"),
        (plain(), {}, {"target": 0.5, "region": 0.2}, "are outside region"),
        (plain(30), {}, {"target": 0.1, "region": 0.5}, "at least 5 are needed to say anything"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(
    table: Table, given: dict[str, Any], question: dict[str, object], words: str
) -> None:
    with pytest.raises(PedanovaError) as caught:
        pa.analyze(table, "loss", **given).importance(**question)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert isinstance(caught.value, DataError | QueryError)


def test_the_same_configuration_in_every_row_explains_nothing() -> None:
    space = {"x": pa.Float(0, 1), "y": pa.Float(0, 1)}
    table = {"x": np.full(ROWS, 0.5), "y": np.full(ROWS, 0.2), "loss": random().random(ROWS)}
    found = pa.analyze(table, "loss", space=space).importance()
    assert found.estimator == "counts"
    assert all(row.ratio == row.divergence == 0 for row in found.rows)
    assert not any(row.significant for row in found.rows)


def test_rows_outside_the_space_are_modelled_apart() -> None:
    space = {"x": pa.Float(0, 0.5), "y": pa.Float(0, 1)}
    assert_sound(pa.analyze(plain(), "loss", space=space, reading=pa.Reading(outside="count")).importance(0.2))
    beyond = {"x": pa.Float(0, 1), "z": pa.Float(0, 0.5)}
    table = with_column("z", plain()["x"] + 5)
    assert_sound(pa.analyze(table, "loss", space=beyond, reading=pa.Reading(outside="count")).importance(0.2))


def test_a_target_that_the_points_cannot_tell_is_counted_with_its_interval() -> None:
    found = pa.analyze(plain(800), "loss", space=FLOATS).importance(0.0013, 0.0026, force=True)
    assert found.estimator == "counts"
    assert_sound(found)


def test_a_mistake_in_the_options_is_refused(asked: pa.Analysis) -> None:
    refuse(QueryError, "estimator='gp'", "'surrogate'", of=lambda: asked.importance(estimator="gp"))
    refuse(QueryError, "draws=-1", of=lambda: asked.importance(draws=-1))
    refuse(QueryError, "seed=True", of=lambda: asked.importance(seed=True))
