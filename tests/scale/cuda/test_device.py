"""Counts on a GPU equal the judge's, cell by cell; skipped, in words, where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pedanova as pa
from helpers import answers
from helpers.levels import cut_levels
from pedanova.counting import reference as judge
from pedanova.counting.levels import LADDER, as_ladder
from pedanova.data.column import Column, cells_of
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space

cupy = pytest.importorskip("cupy", reason="CuPy is not installed: no GPU can be asked")
try:
    if not cupy.cuda.runtime.getDeviceCount():
        pytest.skip("this machine has no CUDA GPU", allow_module_level=True)
except cupy.cuda.runtime.CUDARuntimeError:
    pytest.skip("this machine has no CUDA driver", allow_module_level=True)

from pedanova.scale.cuda.device_table import DeviceTable  # noqa: E402

PARAMETERS = {
    "even": pa.Float(0.0, 1.0),
    "log": pa.Float(1e-5, 10.0, log=True),
    "negative": pa.Float(-3.0, 7.5),
    "whole": pa.Int(1, 100),
    "whole_log": pa.Int(1, 4096, log=True),
    "lattice": pa.Int(0, 6000, step=3),
    "ordinal": pa.Ordinal((4, 8, 16, 32)),
    "names": pa.Categorical((3.5, -1.0, 2.0)),
    "tiny": pa.Float(1e-300, 1e-290, log=True),
}
TYPES = [np.float64, np.float32, np.int32, np.int64, np.int16, np.uint8, np.int8, np.uint32]
GOALS = ("normal", "ties", "heavy", "mostly one", "tiny")


def values_for(parameter, rows: int, dtype, rng) -> np.ndarray:
    """Every boundary and its neighbours, no number, infinities, and draws beyond both ends."""
    grid = grid_of(parameter)
    ends = np.concatenate([grid.inner, [grid.accept_low[0], grid.accept_high[-1]]])
    ends = np.concatenate([ends, np.nextafter(ends, -np.inf), np.nextafter(ends, np.inf)])
    low, high = (grid.edges[0], grid.edges[-1]) if grid.edges is not None else (min(grid.labels), max(grid.labels))
    body = rng.uniform(low - abs(low) * 0.1, high * 1.1, rows)
    if not isinstance(parameter, pa.Float):
        body = np.where(rng.random(rows) < 0.9, np.round(body), body)
    values = np.resize(rng.permutation(np.concatenate([ends, [np.nan, np.inf, -np.inf, 0.0, -0.0], body])), rows)
    if np.dtype(dtype).kind in "iu":
        most = np.iinfo(dtype)
        values = np.nan_to_num(values, nan=0, posinf=most.max // 2, neginf=most.min // 2)
        values = np.clip(np.round(values), max(most.min, -(2**62)), min(most.max, 2**62))
    return values.astype(dtype)


def goal_for(kind: str, rows: int, dtype, rng) -> np.ndarray:
    y = {
        "normal": rng.standard_normal(rows),
        "ties": rng.integers(0, 7, rows).astype(float),
        "heavy": rng.standard_cauchy(rows) ** 3,
        "mostly one": np.where(rng.random(rows) < 0.9, 1.0, rng.random(rows)),
        "tiny": rng.random(rows) * 1e-300,
    }[kind]
    y[rng.random(rows) < 0.01] = np.nan
    y[rng.random(rows) < 0.005] = np.inf
    y[rng.random(rows) < 0.002] = -np.inf
    y[0] = 1.0
    return y.astype(dtype)


def laid_out(values: np.ndarray, form: int):
    """On the GPU: as it comes, not on a boundary of four values, or as a column of a table."""
    if form == 0:
        return cupy.asarray(values)
    if form == 1:
        held = cupy.empty(len(values) + 1, dtype=values.dtype)
        held[1:] = cupy.asarray(values)
        return held[1:]
    held = cupy.empty((len(values), 3), dtype=values.dtype)
    held[:, 1] = cupy.asarray(values)
    return held[:, 1]


@pytest.mark.parametrize("seed", range(200))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_levels_counts_and_sums_equal_the_judge(seed) -> None:
    rng = np.random.default_rng(seed)
    rows, kind = int(rng.integers(2, 40_000)), GOALS[seed % 5]
    y = goal_for(kind, rows, np.float64 if kind == "tiny" or seed % 2 else np.float32, rng)
    how = {"direction": ("minimize", "maximize")[seed // 2 % 2], "nan": ("drop", "worst")[seed // 3 % 2]}
    columns = {name: values_for(p, rows, rng.choice(TYPES), rng) for name, p in PARAMETERS.items()}
    arrays = {name: laid_out(values, seed % 3) for name, values in columns.items()}
    table = DeviceTable("y", how["direction"], how["nan"], Space(PARAMETERS), arrays, laid_out(y, seed % 3))
    ladder = as_ladder([i / 500 for i in range(1, 500)]) if seed % 7 == 0 else LADDER
    levels = cut_levels(y, quantiles=ladder, **how)
    assert table.cut(ladder) == levels
    codes = judge.assign_levels(y, levels)
    assert np.array_equal(cupy.asnumpy(table.codes(levels)), codes)
    counted = table.count(levels)
    for name, parameter in PARAMETERS.items():
        counts, _ = judge.count(Column(name, columns[name]), grid_of(parameter), codes, y, levels.count)
        assert np.array_equal(counted.tables[name][0], counts), name
    check_sums(counted.tables["even"][1], columns["even"], y, codes, levels.count)
    again = table.count(levels)
    assert all(
        np.array_equal(a, b) for n in PARAMETERS for a, b in zip(counted.tables[n], again.tables[n], strict=True)
    )


def check_sums(sums: np.ndarray, values: np.ndarray, y: np.ndarray, codes: np.ndarray, levels: int) -> None:
    """Against exact sums, relative to the sizes that were added."""
    grid = grid_of(PARAMETERS["even"])
    flat = codes * grid.width + cells_of(Column("even", values), grid)
    used = np.isfinite(y) & (codes < levels)
    order = np.argsort(flat[used], kind="stable")
    places, goals = flat[used][order], y[used][order].astype(np.float64)
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(places)], strict=True):
        exact, size = math.fsum(goals[start:stop]), math.fsum(np.abs(goals[start:stop]))
        assert abs(sums.ravel()[places[start]] - exact) <= 2e-15 * size


@pytest.mark.parametrize("library", ["cupy", "torch", "jax", "array of a table"])
def test_analyze_takes_arrays_where_they_lie(library) -> None:
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 200_000)).astype(np.float32)
    host = {"x": x, "z": z, "loss": (x - 0.3) ** 2 + 0.1 * z}
    names = list(host)
    if library == "torch":
        torch = pytest.importorskip("torch")
        data, options = {name: torch.as_tensor(v, device="cuda") for name, v in host.items()}, {}
    elif library == "jax":
        jax = pytest.importorskip("jax")
        data, options = {name: jax.device_put(v) for name, v in host.items()}, {}
    elif library == "cupy":
        data, options = {name: cupy.asarray(v) for name, v in host.items()}, {}
    else:
        data, options = cupy.asarray(np.stack(list(host.values()), axis=1)), {"names": names}
    a, b = pa.analyze(data, "loss", **options), pa.analyze(host, "loss")
    assert a.data.observations is None
    assert (a.space, a.data.levels, len(a), [*a.notes]) == (b.space, b.data.levels, len(b), [*b.notes])
    assert all(np.array_equal(a.data.tallies[n].counts, b.data.tallies[n].counts) for n in a.space)
    assert a.importance(estimator="counts").ratios == b.importance(estimator="counts").ratios
    for name in a.space:
        assert a.effects()[name].share == pytest.approx(b.effects()[name].share, rel=1e-9)


def test_conditions_are_refused_and_counted_in_memory() -> None:
    rng = np.random.default_rng(1)
    gate, x = rng.integers(0, 3, 100_000), rng.random(100_000)
    host = {"gate": gate, "x": np.where(gate == 1, x, np.nan), "loss": np.where(gate == 1, x, 0.5)}
    space = {"gate": pa.Ordinal((0, 1, 2)), "x": pa.Float(0.0, 1.0, when={"gate": [1]})}
    card = {name: cupy.asarray(v) for name, v in host.items()}
    with pytest.raises(pa.PedanovaError, match="engine='cpu'"):
        pa.analyze(card, "loss", space=space, scan=pa.Scan(engine="cuda"))
    a, b = pa.analyze(card, "loss", space=space, scan=pa.Scan(engine="cpu")), pa.analyze(host, "loss", space=space)
    assert a.data.tallies == b.data.tallies


@pytest.mark.parametrize("kind", ["few cells", "one cell", "smallest singles", "far", "half infinite", "cancels out"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_narrow_sums_carry_what_a_word_cannot_hold(kind, direction) -> None:
    """Counts of 16 bits wrap, lower words of sums wrap, levels begin far from zero, or around it."""
    rng = np.random.default_rng(7)
    rows = 3_000_000
    y = {
        "few cells": rng.random(rows),
        "one cell": rng.random(rows),
        "smallest singles": rng.integers(-60, 60, rows) * 1e-45,
        "far": 1e6 + rng.standard_normal(rows),
        "half infinite": np.where(rng.random(rows) < 0.5, rng.choice([np.inf, -np.inf], rows), rng.random(rows)),
        "cancels out": np.where(rng.random(rows) < 0.99, rng.choice([-1e-6, 1e-6], rows), rng.standard_normal(rows)),
    }[kind].astype(np.float32)
    x = {"one cell": np.zeros(rows)}.get(kind, rng.integers(0, 3, rows) / 1000).astype(np.float32)
    levels = cut_levels(y, direction=direction, quantiles=as_ladder([0.1, 0.5]))
    table = DeviceTable(
        "y", direction, "drop", Space({"even": pa.Float(0.0, 1.0)}), {"even": cupy.asarray(x)}, cupy.asarray(y)
    )
    assert table.cut(as_ladder([0.1, 0.5])) == levels
    codes = judge.assign_levels(y, levels)
    counts, sums = table.count(levels).tables["even"]
    exact, _ = judge.count(Column("even", x), grid_of(pa.Float(0.0, 1.0)), codes, y, levels.count)
    assert np.array_equal(counts, exact)
    check_sums(sums, x, y, codes, levels.count)


def test_a_small_table_is_copied_and_can_be_asked_everything() -> None:
    x = cupy.linspace(0, 1, 500)
    a = pa.analyze({"x": x, "loss": (x - 0.3) ** 2}, "loss")
    assert a.data.observations is not None
    assert a.importance(0.1, {"x": (0.2, 0.6)}).rows[0].n_region == 200


def test_what_a_card_cannot_do_is_refused_in_words() -> None:
    x = cupy.random.random(300_000)
    with pytest.raises(pa.PedanovaError, match="engine='cpu'"):
        pa.analyze({"x": x, "loss": x}, "loss", where="x > 0.5")
    with pytest.raises(pa.PedanovaError, match="copy all columns to the GPU"):
        pa.analyze({"x": x, "loss": cupy.asnumpy(x)}, "loss")
    with pytest.raises(pa.PedanovaError, match="must have the same length"):
        pa.analyze({"x": x, "loss": x[:-1]}, "loss")
    with pytest.raises(pa.PedanovaError, match=r"cupy\.asarray"):
        pa.analyze({"x": cupy.asnumpy(x), "loss": cupy.asnumpy(x)}, "loss", scan=pa.Scan(engine="cuda"))
    with pytest.raises(pa.PedanovaError, match="complex"):
        pa.analyze({"x": x + 1j, "loss": x}, "loss", scan=pa.Scan(engine="cuda"))


@pytest.mark.parametrize("order", ["adjacent", "far apart", "shuffled"])
@pytest.mark.parametrize(("configurations", "runs"), [(900, 8), (30, 9_000), (2, 150_000), (300_000, 1)])
@pytest.mark.parametrize("form", [0, 2])
def test_the_sample_of_configurations_is_the_same_as_in_memory(order, configurations, runs, form) -> None:
    """Its arithmetic is the same to the last digit, also for single precision, short integers and missing values."""
    random = np.random.default_rng(3)
    rows = {"far apart": np.tile, "adjacent": np.repeat, "shuffled": np.repeat}[order](np.arange(configurations), runs)
    rows = random.permutation(rows) if order == "shuffled" else rows
    columns = {
        "log": np.exp(random.uniform(np.log(1e-5), np.log(10), configurations))[rows],
        "even": random.random(configurations).astype(np.float32)[rows],
        "whole": random.integers(1, 101, configurations).astype(np.int16)[rows],
    }
    columns["log"][::50] = np.nan
    loss = random.normal(size=len(rows))
    loss[::7] = np.nan
    space = Space({name: PARAMETERS[name] for name in columns})
    own = {name: laid_out(column, form) for name, column in columns.items()}
    data = pa.analyze({**columns, "loss": loss}, "loss", space=space).data
    there = DeviceTable("loss", "minimize", "drop", space, own, laid_out(loss, form)).sample(data.levels)
    here = data.configurations
    assert here is not None
    assert there.below == here.below
    for one in ("draws", "signed", "levels", "weights"):
        np.testing.assert_array_equal(getattr(there, one), getattr(here, one))


@pytest.mark.parametrize("kind", ["repeats", "missing values", "repeats and missing values", "few rows"])
def test_a_gpu_gives_the_answers_of_memory(kind: str) -> None:
    """The other engines are in tests/counting/test_same_tallies.py; a GPU holds no texts."""
    columns = {name: one for name, one in answers.TABLES[kind].columns.items() if one.dtype.kind in "iuf"}
    table = answers.Given(columns, {name: answers.SPACE[name] for name in columns if name != "loss"})
    there = {name: cupy.asarray(column) for name, column in columns.items()}
    answers.agree(answers.analyzed(table, there, pa.Scan(engine="cuda")), answers.analyzed(table))
