"""The sample of whole configurations: the kernel's is NumPy's to the last digit, in any order of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.base.kernel import library as kernel
from pedanova.counting.arrays import kept_codes
from pedanova.counting.countable import LARGE, InMemory
from pedanova.counting.few_rows import SAMPLED, FewRows, configuration_sample
from pedanova.counting.levels import Levels
from pedanova.data.observations import Observations

SPACE = {
    "even": pa.Float(0.0, 1.0),
    "log": pa.Float(1e-5, 10.0, log=True),
    "whole": pa.Int(1, 100),
    "steps": pa.Ordinal((1, 2, 4, 8)),
    "words": pa.Categorical(["a", "b", "c"]),
    "inner": pa.Float(0.0, 1.0, when={"words": ["a", "b"]}),
}
READING = pa.Reading(outside="count")
Order = Callable[[int, int, np.random.Generator], np.ndarray]


def adjacent(configurations: int, runs: int, _: np.random.Generator) -> np.ndarray:
    return np.repeat(np.arange(configurations), runs)


def far_apart(configurations: int, runs: int, _: np.random.Generator) -> np.ndarray:
    return np.tile(np.arange(configurations), runs)


def shuffled(configurations: int, runs: int, random: np.random.Generator) -> np.ndarray:
    return random.permutation(adjacent(configurations, runs, random))


def one_block(configurations: int, runs: int, _: np.random.Generator) -> np.ndarray:
    """All repeats are in the first rows."""
    repeated = configurations // 20
    return np.append(np.repeat(np.arange(repeated), runs), np.arange(repeated, configurations))


def table(rows: np.ndarray, dtype: type, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Configurations with NaN, infinities, values outside the space, texts and gaps."""
    many = int(rows.max()) + 1
    columns = {
        "even": random.random(many).astype(dtype),
        "log": 10.0 ** random.uniform(-5, 1, many),
        "whole": random.integers(0, 102, many).astype(np.int16),
        "steps": random.choice([1, 2, 4, 8], many).astype(np.uint8),
        "words": random.choice(["a", "b", "c", "d"], many).astype(object),
        "inner": random.random(many).astype(dtype),
    }
    columns["log"][::31] = np.nan
    columns["even"][::57] = np.inf
    columns["words"][::43] = None
    columns["inner"][columns["words"] == "c"] = np.nan
    loss = random.normal(size=len(rows))
    loss[::13] = np.nan
    strided = {name: np.stack([column[rows]] * 2, axis=1)[:, 0] for name, column in columns.items()}
    return strided | {"loss": loss}


def judged(observed: Observations, levels: Levels, monkeypatch: pytest.MonkeyPatch) -> FewRows:
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "available", lambda: False)
        return configuration_sample(observed, kept_codes(observed, levels), levels.count)


def check(one: FewRows, judge: FewRows) -> None:
    assert one.below == judge.below
    assert (one.counts is None) == (judge.counts is None)
    for name in ("rows", "draws", "signed", "levels", "weights", "worst"):
        np.testing.assert_array_equal(getattr(one, name), getattr(judge, name))


@pytest.mark.parametrize("order", [adjacent, far_apart, shuffled, one_block])
@given(
    configurations=st.integers(60, 4_000),
    runs=st.sampled_from([1, 2, 7, 50]),
    dtype=st.sampled_from([np.float64, np.float32]),
    threads=st.integers(1, 3),
)
def test_the_kernel_finds_the_rows_that_numpy_finds(
    order: Order, configurations: int, runs: int, dtype: type, threads: int
) -> None:
    random = np.random.default_rng(configurations)
    columns = table(order(configurations, runs, random)[:20_000], dtype, random)
    data = pa.analyze(columns, "loss", space=SPACE, reading=READING).data
    observed, levels = data.observations, data.levels
    assert observed is not None
    one = configuration_sample(observed, kept_codes(observed, levels), levels.count, threads=threads)
    with pytest.MonkeyPatch.context() as patch:
        check(one, judged(observed, levels, patch))


@pytest.mark.parametrize(
    ("order", "configurations", "runs"), [(adjacent, 3, LARGE), (far_apart, LARGE // 8, 10), (one_block, 2 * LARGE, 2)]
)
def test_a_sample_taken_while_counting_is_the_same(
    order: Order, configurations: int, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if one configuration has more rows than a sample may have."""
    random = np.random.default_rng(runs)
    columns = table(order(configurations, runs, random), np.float64, random)
    a = pa.analyze(columns, "loss", space=SPACE, reading=READING, scan=pa.Scan(threads=3))
    source = a.data._source
    assert isinstance(source, InMemory)
    assert (source._sample is not None) == kernel.available()
    sample = source.sample(a.data.levels)
    check(sample, judged(source.observed, a.data.levels, monkeypatch))
    assert len(np.unique(sample.draws)) <= SAMPLED < sample.weights.sum()
