"""One table in every form that a user may hold it in: the tallies must be the same."""

from __future__ import annotations

import datetime as dt
import decimal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pedanova
from helpers.common import COUNTS
from pedanova.data.column import Column, values_in
from pedanova.sources import read_records, read_series

ROWS = 300
NAMES = ["lr", "momentum", "layers", "optimizer", "nesterov", "loss"]
Table = dict[str, list[Any]]


def known(library: Any, name: str) -> pytest.MarkDecorator:
    """For what the oldest version that is supported does not have yet."""
    return pytest.mark.skipif(not hasattr(library, name), reason=f"{library.__name__} has no {name} yet")


def plain(*, gaps: bool) -> Table:
    """Python lists; with gaps, None in every column, the objective included."""
    random = np.random.default_rng(3)
    columns: dict[str, np.ndarray] = {
        "lr": np.exp(random.uniform(np.log(1e-5), 0.0, ROWS)),
        "momentum": random.uniform(0, 1, ROWS),
        "layers": random.integers(1, 9, ROWS),
        "optimizer": random.choice(["sgd", "adam", "ünïcode", ""], ROWS),
        "nesterov": random.integers(0, 2, ROWS).astype(bool),
        "loss": random.normal(0, 1, ROWS),
    }
    lists = {name: values.tolist() for name, values in columns.items()}
    if not gaps:
        return lists
    return {
        name: [None if (row + shift) % 7 == 0 else value for row, value in enumerate(values)]
        for shift, (name, values) in enumerate(lists.items())
    }


TABLE, GAPPED = plain(gaps=False), plain(gaps=True)


def structured(table: Table) -> np.ndarray:
    types = [("lr", "f8"), ("momentum", "f8"), ("layers", "i2"), ("optimizer", "U8"), ("nesterov", "?")]
    return np.array(list(zip(*table.values(), strict=True)), dtype=[*types, ("loss", "f8")])


def object_matrix(table: Table) -> np.ndarray:
    matrix = np.empty((ROWS, len(NAMES)), dtype=object)
    for i, values in enumerate(table.values()):
        matrix[:, i] = values
    return matrix


def pandas_objects(table: Table) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in table.items()})


def pandas_typed(table: Table, **dtypes: Any) -> pd.DataFrame:
    return pd.DataFrame({n: pd.Series(v, dtype=dtypes.get(n)) for n, v in table.items()})


def pandas_nullable(table: Table) -> pd.DataFrame:
    real = dict.fromkeys(["lr", "momentum", "loss"], "Float64")
    return pandas_typed(table, layers="Int64", optimizer="string", nesterov="boolean", **real)


def pandas_category(table: Table) -> pd.DataFrame:
    order = pd.CategoricalDtype(["unused", "ünïcode", "sgd", "", "adam"])
    return pandas_typed(table, layers="Int16", optimizer=order, nesterov="boolean")


def pandas_arrow(table: Table) -> pd.DataFrame:
    word = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    real = dict.fromkeys(["lr", "momentum", "loss"], "double[pyarrow]")
    return pandas_typed(table, layers="uint8[pyarrow]", optimizer=word, nesterov="bool[pyarrow]", **real)


def pandas_arrow_text(table: Table) -> pd.DataFrame:
    return pandas_typed(table, layers="int64[pyarrow]", optimizer=pd.ArrowDtype(pa.large_string()), nesterov="boolean")


def pandas_shuffled_index(table: Table) -> pd.DataFrame:
    frame = pandas_nullable(table)
    frame.index = pd.Index(np.random.default_rng(0).permutation(ROWS))
    return frame


def polars_text(table: Table) -> pl.DataFrame:
    return pl.DataFrame(table, strict=False)


def polars_category(table: Table) -> pl.DataFrame:
    return polars_text(table).with_columns(pl.col("optimizer").cast(pl.Categorical), pl.col("layers").cast(pl.Int8))


def polars_enum(table: Table) -> pl.DataFrame:
    order = pl.Enum(["ünïcode", "sgd", "never", "", "adam"])
    return polars_text(table).with_columns(pl.col("optimizer").cast(order), pl.col("layers").cast(pl.UInt64))


def polars_chunks(table: Table) -> pl.DataFrame:
    whole = polars_category(table)
    return pl.concat([whole[:100], whole[100:101], whole[101:]], rechunk=False)


def polars_lazy(table: Table) -> pl.LazyFrame:
    return polars_text(table).lazy()


def arrow_table(table: Table) -> pa.Table:
    return pa.table(table)


def arrow_chunks(table: Table) -> pa.Table:
    """Three chunks, each with a dictionary of its own in an order of its own."""
    text = table["optimizer"]
    parts = [text[:100], text[100:200], text[200:]]
    words = [
        pa.array(part).dictionary_encode() if i else pa.array(part[::-1]).dictionary_encode()[::-1]
        for i, part in enumerate(parts)
    ]
    column = pa.chunked_array(words)
    assert column.chunk(0).dictionary != column.chunk(1).dictionary
    whole = pa.concat_tables([pa.table(table).slice(0, 37), pa.table(table).slice(37)])
    return whole.set_column(3, "optimizer", column)


def arrow_null_in_dictionary(table: Table) -> pa.Table:
    """Nulls in the indices and a null among the words: both are missing values."""
    words = ["sgd", None, "adam", "ünïcode", ""]
    places = [words.index(text) if text is not None or row % 2 else None for row, text in enumerate(table["optimizer"])]
    column = pa.DictionaryArray.from_arrays(pa.array(places, pa.int16()), pa.array(words))
    return pa.table(table).set_column(3, "optimizer", column)


def arrow_batch(table: Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(table)


def arrow_columns(table: Table) -> dict[str, Any]:
    return {name: pa.array(values) for name, values in table.items()}


def masked(table: Table) -> dict[str, Any]:
    """NumPy's masked arrays; what lies under the mask must not matter."""
    fill = {"lr": 9e9, "momentum": -1.0, "layers": 77, "optimizer": "zzz", "nesterov": True, "loss": -5.0}
    gone = {name: np.array([value is None for value in values]) for name, values in table.items()}
    filled = {n: np.array([fill[n] if v is None else v for v in values]) for n, values in table.items()}
    return {name: np.ma.array(filled[name], mask=gone[name]) for name in table}


def series(table: Table) -> dict[str, Any]:
    """A dict may hold columns of different libraries."""
    first, second = polars_text(table), pandas_nullable(table)
    return {name: (first if i % 2 else second)[name] for i, name in enumerate(NAMES)}


WHOLE_ONLY: dict[str, Callable[[Table], Any]] = {
    "dict of arrays": lambda t: {name: np.array(values) for name, values in t.items()},
    "dict of big-endian": lambda t: {n: np.array(v).astype(np.array(v).dtype.newbyteorder(">")) for n, v in t.items()},
    "structured": structured,
    "structured, strided": lambda t: structured(t)[::-1][::-1],
    "pandas": pd.DataFrame,
}
ANY: dict[str, Callable[[Table], Any]] = {
    "dict of lists": dict,
    "dict of tuples": lambda t: {name: tuple(values) for name, values in t.items()},
    "dict of generators": lambda t: {name: iter(values) for name, values in t.items()},
    "dict of object arrays": lambda t: {n: np.array(v, dtype=object) for n, v in t.items()},
    "dict of Arrow arrays": arrow_columns,
    "dict of masked arrays": masked,
    "dict of series": series,
    "pandas objects": pandas_objects,
    "pandas nullable": pandas_nullable,
    "pandas category": pandas_category,
    "pandas Arrow": pandas_arrow,
    "pandas Arrow text": pandas_arrow_text,
    "pandas shuffled index": pandas_shuffled_index,
    "polars": polars_text,
    "polars categorical": polars_category,
    "polars enum": polars_enum,
    "polars chunks": polars_chunks,
    "polars lazy": polars_lazy,
    "arrow": arrow_table,
    "arrow chunks": arrow_chunks,
    "arrow null in dictionary": arrow_null_in_dictionary,
    "arrow batch": arrow_batch,
}


@pytest.mark.parametrize("form", [*WHOLE_ONLY, *ANY])
def test_every_source_gives_the_same_tallies(form: str) -> None:
    found = pedanova.analyze((WHOLE_ONLY | ANY)[form](TABLE), objective="loss", scan=pedanova.Scan(threads=1))
    judge = pedanova.analyze(TABLE, objective="loss", scan=pedanova.Scan(threads=1))
    assert list(found.data.tallies) == NAMES[:-1]
    assert found.data.tallies == judge.data.tallies
    assert found.data.dropped == 0


@pytest.mark.parametrize("form", list(ANY))
def test_every_source_finds_the_same_gaps(form: str) -> None:
    found = pedanova.analyze(ANY[form](GAPPED), objective="loss", scan=pedanova.Scan(threads=1))
    judge = pedanova.analyze(GAPPED, objective="loss", scan=pedanova.Scan(threads=1))
    assert found.data.tallies == judge.data.tallies
    assert found.data.dropped == judge.data.dropped == GAPPED["loss"].count(None)
    for name, tally in found.data.tallies.items():
        gone = sum(v in (None, "") and y is not None for v, y in zip(GAPPED[name], GAPPED["loss"], strict=True))
        assert tally.counts[:, tally.grid.missing].sum() == gone


def test_a_matrix_with_names_gives_the_same_tallies() -> None:
    numbers = {name: TABLE[name] for name in ("lr", "momentum", "layers", "loss")}
    judge = pedanova.analyze(numbers, objective="loss", scan=pedanova.Scan(threads=1))
    for order in ("C", "F"):
        matrix = np.array(list(numbers.values()), order=order).T
        assert (
            pedanova.analyze(matrix, "loss", names=list(numbers), scan=pedanova.Scan(threads=1)).data.tallies
            == judge.data.tallies
        )
    apart = pedanova.analyze(
        matrix[:, :3], matrix[:, 3], names=["lr", "momentum", "layers"], scan=pedanova.Scan(threads=1)
    )
    assert apart.data.tallies == judge.data.tallies


def test_a_matrix_of_objects_gives_the_same_tallies() -> None:
    found = pedanova.analyze(object_matrix(GAPPED), "loss", names=NAMES, scan=pedanova.Scan(threads=1))
    assert found.data.tallies == pedanova.analyze(GAPPED, "loss", scan=pedanova.Scan(threads=1)).data.tallies


def test_a_matrix_without_names_counts_its_columns() -> None:
    assert list(read_records(np.zeros((4, 3))).columns) == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda v: {"cost": [None if x is None else decimal.Decimal(x) for x in v]}, id="list"),
        pytest.param(lambda v: {"cost": pl.Series(v, dtype=pl.Decimal(10, 2), strict=False)}, id="polars"),
        pytest.param(lambda v: pa.table({"cost": pa.array(v).cast(pa.decimal128(10, 2))}), id="arrow"),
        pytest.param(lambda v: pa.table({"cost": pa.array(v).cast(pa.decimal256(40, 2))}), id="arrow256"),
        pytest.param(
            lambda v: pd.DataFrame({"cost": pd.Series(v, dtype=pd.ArrowDtype(pa.decimal128(10, 2)))}), id="pandas"
        ),
    ],
)
def test_decimals_are_numbers(make: Callable[[Any], Any]) -> None:
    values: list[float | None] = [i / 4 for i in range(100)]
    values[7] = None
    loss = [i * 37 % 100 / 10 for i in range(100)]
    exact = [None if v is None else decimal.Decimal(str(v)) for v in values]
    found = pedanova.analyze(make(exact), loss, scan=pedanova.Scan(threads=1))
    assert found.data.tallies == pedanova.analyze({"cost": values}, loss, scan=pedanova.Scan(threads=1)).data.tallies


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(lambda x: np.array(x, np.float32), id="float32"),
        pytest.param(lambda x: np.array(x, np.float16), id="float16"),
        pytest.param(lambda x: np.array(x, np.longdouble), id="long double"),
        pytest.param(lambda x: np.array(x, np.int8), id="int8"),
        pytest.param(lambda x: np.array(x, np.uint64), id="uint64"),
        pytest.param(lambda x: [np.int16(v) for v in x], id="NumPy scalars"),
        pytest.param(lambda x: [np.longdouble(v) for v in x], id="long double scalars"),
        pytest.param(lambda x: pl.Series(x, dtype=pl.Int128), id="Int128", marks=known(pl, "Int128")),
        pytest.param(lambda x: pd.arrays.SparseArray(x), id="sparse"),
        pytest.param(lambda x: pd.Index(x), id="index"),
        pytest.param(lambda x: range(min(x), max(x) + 1), id="range"),
        pytest.param(lambda x: memoryview(np.array(x)), id="memoryview"),
    ],
)
def test_whole_numbers_of_every_type_mean_the_same(values: Callable[[list[int]], Any]) -> None:
    column = list(range(1, 61))
    loss = [i * 7 % 60 for i in range(60)]
    found = pedanova.analyze({"n": values(column)}, loss, params="n", scan=pedanova.Scan(threads=1))
    assert (
        found.data.tallies
        == pedanova.analyze({"n": column}, loss, params="n", scan=pedanova.Scan(threads=1)).data.tallies
    )


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(np.array, id="NumPy text"),
        pytest.param(lambda w: np.array(w, dtype=bytes), id="NumPy bytes"),
        pytest.param(
            lambda w: np.array(w, dtype=np.dtypes.StringDType()),
            id="StringDType",
            marks=known(np.dtypes, "StringDType"),
        ),
        pytest.param(lambda w: [np.str_(x) if i % 2 else x for i, x in enumerate(w)], id="NumPy scalars"),
        pytest.param(lambda w: [x.encode() if i % 2 else x for i, x in enumerate(w)], id="bytes"),
        pytest.param(lambda w: pa.array([x.encode() for x in w]), id="Arrow bytes"),
        pytest.param(lambda w: pa.array(w, pa.string_view()), id="string view", marks=known(pa, "string_view")),
        pytest.param(lambda w: pa.array(w).dictionary_encode(), id="Arrow dictionary"),
        pytest.param(lambda w: pl.Series(w, dtype=pl.Categorical), id="polars categorical"),
        pytest.param(pd.Categorical, id="pandas categorical"),
    ],
)
def test_text_of_every_type_means_the_same(words: Callable[[list[str]], Any]) -> None:
    text = ["sgd", "adam", "lion"] * 20
    found = read_series("o", words(text))
    assert found.labels == ("adam", "lion", "sgd")
    assert [found.value_at(row) for row in range(60)] == text


def column_of(data: object) -> Column:
    return read_records(data).columns["x"]


def test_numbers_are_not_copied() -> None:
    reals = np.linspace(0, 1, 50)
    wide = np.arange(100.0).reshape(50, 2)
    polars = pl.Series("x", reals)
    frame = pd.DataFrame({"x": reals})
    arrow = pa.array(reals)
    assert np.shares_memory(column_of({"x": reals}).values, reals)
    assert np.shares_memory(column_of({"x": reals[::-3]}).values, reals)
    assert np.shares_memory(read_records(wide, names=["x", "y"]).columns["y"].values, wide)
    assert np.shares_memory(column_of(frame).values, frame["x"].to_numpy())
    assert np.shares_memory(column_of(pl.DataFrame({"x": polars})).values, polars.to_numpy(allow_copy=False))
    assert np.shares_memory(column_of(pa.table({"x": arrow})).values, arrow.to_numpy())
    fields = np.zeros(5, dtype=[("x", "f8"), ("n", "i4")])
    assert np.shares_memory(column_of(fields).values, fields)


def test_whole_numbers_and_booleans_are_not_copied() -> None:
    whole, flags = np.arange(50, dtype=np.int16), np.arange(50) % 2 == 0
    polars = pl.Series("x", whole)
    assert np.shares_memory(column_of({"x": whole[::2]}).values, whole)
    assert np.shares_memory(column_of({"x": flags}).values, flags)
    assert np.shares_memory(column_of(pl.DataFrame({"x": polars})).values, polars.to_numpy(allow_copy=False))


def test_a_lazy_table_is_told_in_a_note() -> None:
    found = pedanova.analyze(polars_lazy(TABLE), objective="loss", scan=pedanova.Scan(threads=1))
    assert "a lazy table was collected into memory" in found.notes


def test_names_need_not_be_text() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=pd.Index([0, "x", None], dtype=object))
    assert list(read_records(frame).columns) == ["0", "x", "Unnamed: 2"]
    double = pd.DataFrame(np.zeros((2, 2)), columns=pd.MultiIndex.from_tuples([("a", ""), ("a", "b")]))
    assert list(read_records(double).columns) == ["a", "a.b"]
    assert list(read_records(pl.DataFrame({"": [1], "x": [2]})).columns) == ["Unnamed: 0", "x"]


def test_an_absent_library_stays_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.delitem(sys.modules, name)
    pedanova.analyze({"x": list(range(50))}, list(range(50)), params="x", scan=pedanova.Scan(threads=1)).importance(
        **COUNTS
    )
    assert not {"pandas", "polars", "pyarrow"} & set(sys.modules)


def test_dicts_that_begin_late_in_a_column_of_pandas() -> None:
    """As Optuna's `trials_dataframe` after `enqueue_trial`: the first hundreds of cells are empty."""
    cells = [None] * 150 + [{"x": place} for place in range(10)]
    frame = pd.DataFrame({"x": np.linspace(0, 1, 160), "fixed": cells, "loss": np.linspace(1, 0, 160)})
    a = pedanova.analyze(frame, "loss", params=["x", "fixed.x"])
    assert a.space["fixed.x"].high == 9


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_can_be_compared_and_durations_are_seconds(make: Callable[[Any], Any]) -> None:
    """Dates with a time zone are compared in UTC; a missing date is in neither half."""
    start = [dt.datetime(2026, 3, 1) + dt.timedelta(hours=6 * i) for i in range(60)]
    table = {
        "lr": [10 ** (-1 - i * 7 % 60 / 20) for i in range(60)], "start": [None, *start[1:]],
        "zoned": [one.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))) for one in start],
        "took": [dt.timedelta(seconds=i / 2) for i in range(60)], "loss": [i * 11 % 60 / 7 for i in range(60)],
    }  # fmt: skip
    frame = make(table)
    assert list(values_in(read_records(frame).columns["took"])) == [i / 2 for i in range(60)]
    counts = {
        words: len(pedanova.analyze(frame, "loss", where=words))
        for words in ("start < '2026-03-08'", "start >= '2026-03-08 00:00'", "zoned < '2026-03-08'", "took < 5")
    }
    assert [*counts.values()] == [27, 32, 29, 10]
