"""Repeated configurations of tables and logs: found whether an analysis has averaged them or not."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import DataError, QueryError
from pedanova.measures.studies.seeds import IN_TARGET


def table(count: int = 80, runs: int = 4, part: float = 0.4, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, z = (np.repeat(rng.random(count), runs) for _ in range(2))
    own = np.repeat(rng.standard_normal(count), runs) * np.sqrt(1 - part)
    noise = np.sqrt(part) * rng.standard_normal(count * runs)
    return {"x": x, "z": z, "seed": np.tile(np.arange(runs), count), "loss": own + noise}


def test_a_column_called_seed_sets_no_configuration_apart() -> None:
    found = pa.analyze(table(), "loss").seeds()
    assert (found.configurations, found.repeated, found.runs) == (80, 80, 320)
    assert found["loss"].low < 0.4 < found["loss"].high
    assert found.rows == pa.analyze(table(), "loss", exclude=["seed"]).seeds().rows
    named = pa.analyze(table(), "loss", params=[*table().keys() - {"loss"}]).seeds()
    assert any("treated as seeds, not as parameters: seed" in note for note in named.notes)
    assert named.repeated == found.repeated


def test_other_names_are_excluded() -> None:
    columns = table()
    columns = {"roll": columns.pop("seed"), **columns}
    a = pa.analyze(columns, "loss")
    with pytest.raises(DataError, match="no configuration is repeated"):
        a.seeds()
    assert a.seeds(exclude=["roll"]).repeated == 80
    with pytest.raises(QueryError, match="exclude= contains 'die', which is not a parameter"):
        a.seeds(exclude="die")


def test_averaged_rows_are_taken_apart_again() -> None:
    columns = table()
    one, two = (pa.analyze(columns, "loss", exclude=["seed"], repeats=how) for how in ("all", "mean"))
    assert (len(one), len(two)) == (320, 80)
    assert one.seeds(0.2).to_dict() == two.seeds(0.2).to_dict()


def test_every_objective_has_its_part_and_one_alone_its_own() -> None:
    columns = table() | {"cost": np.repeat(np.random.default_rng(1).random(80), 4)}
    both = pa.analyze(columns, ["loss", "cost"], exclude=["seed"])
    assert list(both.seeds()) == ["loss", "cost", IN_TARGET]
    assert both.seeds()["cost"].seed == 0.0
    assert list(pa.Analysis(both.data.alone("loss")).seeds()) == ["loss", IN_TARGET]
    mean = pa.Analysis(pa.analyze(columns, ["loss", "cost"], exclude=["seed"], repeats="mean").data.alone("loss"))
    assert mean.seeds().to_dict() == pa.Analysis(both.data.alone("loss")).seeds().to_dict()


def test_rows_that_do_not_count_are_left_out() -> None:
    columns = table()
    columns["loss"][::5] = np.nan
    assert pa.analyze(columns, "loss").seeds().runs == 256
    inner = pa.analyze(columns, "loss", exclude=["seed"]).within("x < 0.5").seeds()
    assert inner.configurations == int((columns["x"][::4] < 0.5).sum())


def test_the_target_may_be_a_value_or_a_condition() -> None:
    a = pa.analyze(table(), "loss")
    by_value = a.seeds(pa.at_most(0.0))[IN_TARGET]
    by_words = a.seeds("loss <= 0")[IN_TARGET]
    assert by_value == by_words
    settled = a.seeds("x < 0.5")[IN_TARGET]  # a setting is no matter of seeds
    assert settled.seed == 0.0
