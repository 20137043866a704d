"""Every rule by which a space is guessed from data, each with the note that tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pedanova
import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova import Categorical, Float, Int, Ordinal, Space
from pedanova.data.column import Column, as_column
from pedanova.data.roles import roles_of
from pedanova.data.space_inference import guess, infer_space
from pedanova.errors import DataError, OutsideSpaceError
from pedanova.space.exports import FORMS, export, unfolded
from pedanova.space.parameters import Parameter, in_words
from pedanova.space.values import LARGEST_INT

EVEN = np.linspace(0.0, 1.0, 200)
LOG = np.geomspace(1e-5, 1.0, 200)
SHUFFLED = np.random.default_rng(5).permutation(200)
EPOCH = 1_700_000_000 + np.arange(0, 40_000, 200)
WORDS = np.array([f"word{i}" for i in range(200)])


def guessed(values: Any, name: str = "x") -> tuple[Parameter | None, str]:
    """As a setting."""
    domain = guess(as_column(name, values))
    return domain.parameter, domain.note or ""


def decided(values: Any, name: str) -> tuple[Parameter | None, str]:
    """As a column of which nothing is known."""
    role = roles_of([name], lambda _: {name: as_column(name, values)})[1][name]
    return guessed(values, name) if role.is_setting else (None, f"{role.why}; left out")


USED: dict[str, tuple[Any, Parameter, str]] = {
    "reals": (EVEN[SHUFFLED], Float(0, 1), "bounds 0 to 1 taken from the data, linear scale"),
    "negative reals": (EVEN[SHUFFLED] - 5, Float(-5, -4), "bounds -5 to -4 taken from the data, linear scale"),
    "float32": (EVEN[SHUFFLED].astype(np.float32), Float(0, 1), "bounds 0 to 1 taken from the data, linear scale"),
    "log reals": (
        LOG[SHUFFLED],
        Float(1e-5, 1, log=True),
        "bounds 1e-05 to 1 taken from the data, log scale guessed "
        "(values span a factor of 100,000 and fit a log scale better than a linear one)",
    ),
    "wide but linear": (np.linspace(1, 1000, 200)[SHUFFLED] + 0.5, Float(1.5, 1000.5), "linear scale"),
    "log of a narrow span": (np.geomspace(1, 9.9, 200)[SHUFFLED], Float(1, 9.9), "linear scale"),
    "log from zero": (np.r_[0.0, LOG], Float(0, 1), "linear scale"),
    "infinite apart": (np.r_[np.inf, EVEN, -np.inf], Float(0, 1), "bounds 0 to 1 taken from the data"),
    "nan apart": (np.r_[np.nan, EVEN, np.nan], Float(0, 1), "bounds 0 to 1 taken from the data"),
    "whole": (SHUFFLED * 2, Int(0, 398), "whole numbers, bounds 0 to 398 taken from the data, linear scale"),
    "whole as floats": (SHUFFLED * 2.0, Int(0, 398), "whole numbers, bounds 0 to 398"),
    "whole with gaps": ([*SHUFFLED.tolist(), None], Int(0, 199), "whole numbers, bounds 0 to 199"),
    "whole without holes": (np.tile([3, 1, 2, 4], 50), Int(1, 4), "whole numbers, bounds 1 to 4"),
    "log whole": (
        np.unique(np.geomspace(1, 1e6, 300).astype(int))[::-1],
        Int(1, 10**6, log=True),
        "whole numbers, bounds 1 to 1e+06 taken from the data, log scale guessed",
    ),
    "whole beyond 2^53": (
        SHUFFLED * 2**50,
        Float(0, 199 * 2.0**50),
        "bounds 0 to 2.24054e+17 taken from the data, linear scale",
    ),
    "whole up to 2^53": (np.r_[SHUFFLED, LARGEST_INT], Int(0, LARGEST_INT), "whole numbers"),
    "powers of two": (
        np.tile([16, 64, 32], 10),
        Ordinal((16, 32, 64)),
        "only 3 different numbers, treated as ordinal levels",
    ),
    "few reals": (np.tile([0.1, 0.9, 0.5], 10), Ordinal((0.1, 0.5, 0.9)), "only 3 different numbers"),
    "whole floats with holes": (np.tile([1.0, 5.0], 10), Ordinal((1, 5)), "only 2 different numbers"),
    "twelve twice": (np.repeat(np.arange(12.0) ** 2, 2), Ordinal(tuple(i * i for i in range(12))), "only 12 different"),
    "two hundred ten times": (np.repeat(EVEN, 10), Ordinal(tuple(EVEN.tolist())), "only 200 different numbers"),
    "constant": ([7] * 20, Ordinal((7,)), "is constant (7), so it cannot explain anything"),
    "constant real": ([0.5] * 20, Ordinal((0.5,)), "is constant (0.5), so it cannot explain anything"),
    "constant but for gaps": ([None, 7] * 9, Ordinal((7,)), "has the value 7 or no value"),
    "one row": ([7], Ordinal((7,)), "is constant (7)"),
    "booleans": ([True, False] * 9, Categorical((False, True)), "boolean, treated as two categories"),
    "booleans with gaps": ([True, None, False] * 9, Categorical((False, True)), "boolean, treated as two categories"),
    "always true": ([True] * 9, Categorical((True,)), "is constant (True), so it cannot explain anything"),
    "always false, with gaps": ([False, None] * 9, Categorical((False,)), "has the value False or no value"),
    "words": (["b", "a"] * 9, Categorical(("a", "b")), "2 categories"),
    "words with gaps": (["b", "a", None] * 9, Categorical(("a", "b")), "2 categories"),
    "one word": (["a"] * 9, Categorical(("a",)), "is constant ('a'), so it cannot explain anything"),
    "one word or none": (["a", None, "a"] * 3, Categorical(("a",)), "has the value 'a' or no value"),
    "one number or none": ([0.5, None, 0.5] * 9, Ordinal((0.5,)), "has the value 0.5 or no value"),
    "mixed": (["a", 1, 2.5] * 9, Categorical((1, 2.5, "a")), "3 categories of mixed types"),
    "truth and words": (["a", True] * 9, Categorical((True, "a")), "2 categories of mixed types"),
    "truth and numbers": ([1, True] * 9, Categorical(("1", "True")), "2 categories"),
    "infinity and words": (["a", np.inf] * 9, Categorical(("a", "inf")), "2 categories"),
    "unused category": (Column("x", np.array([0, 2] * 9), ("a", "b", "c")), Categorical(("a", "c")), "2 categories"),
    "few different words": (WORDS[:9], Categorical(tuple(WORDS[:9].tolist())), "9 categories"),
    "half of the words": (np.tile(WORDS[:100], 2), Categorical(tuple(sorted(WORDS[:100].tolist()))), "100 categories"),
    "text of numbers": (["10", "2"] * 9, Categorical(("10", "2")), "2 categories"),
    "bytes": ([b"a", b"b"] * 9, Categorical(("a", "b")), "2 categories"),
    "lists": ([[1, 2], [3]] * 9, Categorical(("[1, 2]", "[3]")), "2 categories"),
}


@pytest.mark.parametrize("case", list(USED))
def test_columns_that_are_used(case: str) -> None:
    values, expected, note = USED[case]
    parameter, told = guessed(values)
    assert parameter == expected
    assert told.startswith(note) or told.endswith(note)


# name, values, note; and what params= makes of the column, None where it stays left out
LEFT_OUT: dict[str, tuple[str, Any, str, Parameter | None]] = {
    "counting up": ("x", np.arange(5, 205), "increases by one from row to row, like an id", Int(5, 204)),
    "counting up, uint64": ("x", np.arange(200, dtype=np.uint64), "increases by one from row to row", Int(0, 199)),
    "an index": ("index", SHUFFLED * 3, "is different in every row and looks like an id", Int(0, 597)),
    "pandas' index": ("Unnamed: 0", SHUFFLED * 3, "looks like an index", Int(0, 597)),
    "trial_id": ("trial_id", SHUFFLED * 3, "looks like an id", Int(0, 597)),
    "Run": ("Run", SHUFFLED * 3, "looks like an id", Int(0, 597)),
    "config_number": ("config_number", SHUFFLED * 3, "looks like an id", Int(0, 597)),
    "rising seconds": ("x", EPOCH, "looks like a time stamp", Int(int(EPOCH[0]), int(EPOCH[-1]))),
    "rising milliseconds": (
        "x",
        EPOCH * 1000 + 0.5,
        "looks like a time stamp",
        Float(EPOCH[0] * 1000 + 0.5, EPOCH[-1] * 1000 + 0.5),
    ),
    "shuffled, named": ("created_at", EPOCH[SHUFFLED], "looks like a time stamp", Int(int(EPOCH[0]), int(EPOCH[-1]))),
    "different words": (
        "x",
        WORDS,
        "200 different texts in 200 rows look like an id",
        Categorical(tuple(sorted(WORDS.tolist()))),
    ),
    "mostly different words": (
        "x",
        [*WORDS[:60].tolist(), *["same"] * 40],
        "61 different texts in 100 rows look like an id",
        Categorical(tuple(sorted([*WORDS[:60].tolist(), "same"]))),
    ),
    "days as text": (
        "x",
        ["2024-01-01", "2024-01-02"] * 9,
        "looks like a time stamp ('2024-01-01')",
        Categorical(("2024-01-01", "2024-01-02")),
    ),
    "times as text": (
        "x",
        ["2024-01-01T10:00:00.5", "2024-01-02 11:30"] * 9,
        "looks like a time stamp",
        Categorical(("2024-01-01T10:00:00.5", "2024-01-02 11:30")),
    ),
    "dates": ("x", np.arange(20).astype("M8[D]"), "contains dates or times; left out", None),
    "durations": ("x", np.arange(20).astype("m8[s]"), "contains dates or times; left out", None),
    "nothing": ("x", [None] * 20, "has no value in any row; left out", None),
    "NaN only": ("x", np.full(20, np.nan), "has no value in any row; left out", None),
    "infinite only": ("x", np.array([np.inf, -np.inf] * 9), "has no finite number; left out", None),
    "too many words": (
        "x",
        [f"w{i % 1500}" for i in range(4500)],
        "has more than 1001 categories (1500); left out",
        None,
    ),
    "within rounding": ("x", 1 + np.arange(300) * 2.0**-52, "all values equal 1 up to rounding; left out", None),
    "too far apart": (
        "x",
        np.linspace(-1, 1, 200)[SHUFFLED] * 1.7e308,
        "cannot be divided into 1001 cells; left out",
        None,
    ),
    "too near zero": ("x", SHUFFLED * 5e-324, "cannot be divided into 1001 cells; left out", None),
}


@pytest.mark.parametrize("case", list(LEFT_OUT))
def test_columns_that_are_left_out(case: str) -> None:
    name, values, note, _ = LEFT_OUT[case]
    parameter, told = decided(values, name)
    assert parameter is None
    assert note in told
    assert "left out" in told


@pytest.mark.parametrize("case", list(LEFT_OUT))
def test_params_overrides_leaving_out(case: str) -> None:
    name, values, note, kept = LEFT_OUT[case]
    other, loss = np.random.default_rng(6).normal(size=(2, len(values)))
    table = {name: values, "depth": np.arange(len(values)) % 5 + 2, "other": other, "loss": loss}
    found = pedanova.analyze(table, "loss", scan=pedanova.Scan(threads=1))
    assert name not in found.data.tallies
    assert any(told.startswith(f"{name}: ") and note in told for told in found.notes)
    if kept is None:
        with pytest.raises(DataError, match="left out"):
            pedanova.analyze(table, "loss", params=[name], scan=pedanova.Scan(threads=1))
    else:
        assert pedanova.analyze(table, "loss", params=[name], scan=pedanova.Scan(threads=1)).space == Space(
            {name: kept}
        )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param("x", np.arange(9), id="few rows counting up"),
        pytest.param("x", np.arange(200)[::-1] + 5, id="counting down, not to 0 or 1"),
        pytest.param("x", [*range(200), None], id="counting up with a gap"),
        pytest.param("x", np.arange(200.0), id="reals counting up"),
        pytest.param("grid_spacing", SHUFFLED // 2, id="whole numbers that repeat"),
        pytest.param("identity", SHUFFLED * 3, id="a name that only begins like an id"),
        pytest.param("train_time_budget", SHUFFLED * 3, id="a time that is no time stamp"),
        pytest.param("size", EPOCH[SHUFFLED], id="large numbers in no order"),
        pytest.param("x", np.r_[EPOCH, 5], id="one number outside the epoch"),
        pytest.param("x", WORDS[:9], id="nine different words"),
        pytest.param("x", ["2024-01-01", "later"] * 9, id="not only dates"),
    ],
)
def test_columns_that_only_look_like_ids_or_times(name: str, values: Any) -> None:
    parameter, note = decided(values, name)
    assert parameter is not None, note


def test_a_space_keeps_the_order_of_the_columns_and_tells_every_guess() -> None:
    table = {"b": EVEN, "id": SHUFFLED * 3, "a": ["x", "y"] * 100}
    space, notes = infer_space({name: as_column(name, values) for name, values in table.items()})
    assert list(space) == ["b", "id", "a"]
    assert [note.split(":")[0] for note in notes] == ["b", "id", "a"]


def test_a_long_column_is_judged_like_a_short_one() -> None:
    """Past 100,000 rows a sample decides whether to look for a lattice."""
    lattice = np.tile([0.1, 0.2, 0.4], 50_000)
    assert guessed(lattice)[0] == Ordinal((0.1, 0.2, 0.4))
    assert guessed(np.linspace(0, 1, 150_000)[::-1])[0] == Float(0, 1)


def test_nothing_that_can_serve_is_told_with_the_reasons() -> None:
    table = {"id": SHUFFLED * 3, "when": EPOCH, "n": [None] * 200, "w": WORDS, "loss": EVEN}
    with pytest.raises(DataError, match=r"no column can serve .*id: .*when: .*n: .*and 1 more.*params="):
        pedanova.analyze(table, "loss", scan=pedanova.Scan(threads=1))


def test_marked_settings_are_the_parameters() -> None:
    """Trackers write settings with a prefix; then nothing else is one."""
    random = np.random.default_rng(0)
    columns = {
        "index": np.arange(100),
        "outcome": random.random(100),
        "duration": random.random(100),
        "params_x": random.random(100),
        "params_y": random.random(100),
        "state": random.choice(["COMPLETE", "PRUNED"], 100),
    }
    a = pedanova.analyze(columns, "outcome")
    assert list(a.space) == ["params_x", "params_y"]
    assert any("parameters params_x, params_y; left out: index, duration" in n for n in a.notes)
    assert any(
        n.startswith("duration: parameters have a prefix, as in 'params_x', but this column has none") for n in a.notes
    )
    assert (
        len(a) == np.sum(columns["state"] == "COMPLETE") < len(pedanova.analyze(columns, "outcome", exclude=["state"]))
    )
    assert list(pedanova.analyze(columns, "outcome", params=["duration"]).space) == ["duration"]
    assert len(pedanova.analyze(columns | {"config.z": random.random(100)}, "outcome").space) == 2


def test_one_category_written_in_several_ways_is_told() -> None:
    data = {"model": ["ResNet", "resnet", "resnet ", "vit"] * 10, "solver": ["adam", "sgd"] * 20}
    _, notes = infer_space({name: as_column(name, values) for name, values in data.items()})
    (note,) = [str(note) for note in notes if "capitals" in str(note)]
    assert note.startswith("model: 'ResNet' and 'resnet' and 'resnet ' differ only in capitals or spaces")


ROWS = 200
RNG = np.random.default_rng(8)
TABLE: dict[str, Any] = {
    "lr": RNG.uniform(0.0, 1.0, ROWS),
    "loss_weight": RNG.uniform(0.0, 1.0, ROWS),
    "precision": np.tile([16, 32], ROWS // 2),
    "loss": RNG.choice(["hinge", "log"], ROWS),
    "train/loss": RNG.uniform(0.0, 1.0, ROWS),
    "fit_time": RNG.uniform(1.0, 9.0, ROWS),
    "_runtime": RNG.uniform(1.0, 9.0, ROWS),
    "val_acc": RNG.uniform(0.0, 1.0, ROWS),
    "error": RNG.uniform(0.0, 1.0, ROWS),
}
SETTINGS = ["lr", "loss_weight", "precision", "loss"]


def left_out(a: pa.Analysis) -> str:
    (note,) = [note for note in a.notes if note.kind == "roles"]
    return note


@pytest.mark.parametrize("stream", [False, True])
def test_results_are_no_settings(tmp_path: Path, stream: bool) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    file = tmp_path / "t.csv"
    pd.DataFrame(TABLE).to_csv(file, index=False)
    a = pa.analyze(str(file), "error", scan=pa.Scan(stream=stream))
    assert list(a.space) == SETTINGS
    for name in ("train/loss", "fit_time", "_runtime", "val_acc"):
        assert name in left_out(a)
    assert "params=" in left_out(a)


def test_a_user_takes_them_in() -> None:
    a = pa.analyze(TABLE, "error", params=["lr", "train/loss"])
    assert list(a.space) == ["lr", "train/loss"]
    assert not any(note.kind == "roles" for note in a.notes)
    given = pa.analyze(TABLE, "error", space={"fit_time": pa.Float(0, 10)})
    assert list(given.space) == ["fit_time"]


def test_marked_columns_are_settings_whatever_they_are_called() -> None:
    table = {"params_score": TABLE["lr"], "params_time": TABLE["fit_time"], "value": TABLE["error"]}
    assert list(pa.analyze(table, "value").space) == ["params_score", "params_time"]


def test_where_nothing_else_is_left_the_refusal_says_so() -> None:
    table = {"val_acc": TABLE["val_acc"], "error": TABLE["error"]}
    refuse(DataError, "val_acc", "its name is typical of a result", "params=", of=lambda: pa.analyze(table, "error"))


def test_a_column_that_the_exporter_keeps_aside_may_be_the_objective(tmp_path: Path) -> None:
    file = tmp_path / "wandb.csv"
    rows = [f"run{i},finished,me,{i % 17},{i / 40},{i % 5}" for i in range(40)]
    file.write_text("\n".join(["Name,State,User,Runtime,lr,layers", *rows]))
    a = pa.analyze(str(file), "Runtime")
    assert (a.direction, set(a.space)) == ("minimize", {"lr", "layers"})


MIXED_ROWS = 600
MIXED_RNG = np.random.default_rng(6)
LOG_VALUES = np.exp(MIXED_RNG.uniform(np.log(1e-6), 0.0, MIXED_ROWS))
DECAY = np.where(np.arange(MIXED_ROWS) % 5 == 0, 0.0, LOG_VALUES)
DEPTH = np.where(np.arange(MIXED_ROWS) % 7 == 0, -1, MIXED_RNG.integers(1, 60, MIXED_ROWS))
PART = np.where(np.arange(MIXED_ROWS) % 4 == 0, "auto", [f"{x:.5f}" for x in MIXED_RNG.uniform(0, 1, MIXED_ROWS)])
LOSS = np.where(DECAY == 0, 0.1, np.abs(np.log10(LOG_VALUES) + 3)) + MIXED_RNG.normal(0, 0.05, MIXED_ROWS)
MIXED_TABLE: dict[str, Any] = {"decay": DECAY, "depth": DEPTH, "part": PART, "loss": LOSS}


def test_a_number_written_in_another_way_than_the_others_is_told() -> None:
    part = np.where(np.arange(MIXED_ROWS) == 7, "0,01", PART)
    notes = pa.analyze({"part": np.where(part == "auto", "0.5", part), "loss": LOSS}, "loss").notes
    (told,) = [note for note in notes if "has only 1 row, so" in note]
    assert "'0,01'" in told
    assert "if it should be a number" in told


def test_what_is_special() -> None:
    space = pa.analyze(MIXED_TABLE, "loss").space
    words = {name: in_words(parameter) for name, parameter in space.items()}
    assert words["decay"].startswith("0 or 1.0")
    assert words["decay"].endswith("log")
    assert words["depth"] == "-1 or 1 … 59"
    assert words["part"].startswith("auto or 9e-4")
    assert all(isinstance(parameter, pa.Switch) and parameter.is_own for parameter in space.values())
    notes = pa.analyze(MIXED_TABLE, "loss").notes
    assert any("decay: 0 is treated as a special value outside the range" in note for note in notes)
    assert any("part: a range of numbers, and the special values auto" in note for note in notes)


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 1, 200), np.r_[0.0, 0.0, np.linspace(0.1, 1, 200)], np.r_[0.0, LOG_VALUES], np.arange(-1, 40),
        np.tile([-1, 10, 20, 50], 50), np.tile([0.0, 0.001, 0.01, 0.1], 50), np.r_[-1, -1, np.linspace(-3, 3, 99)],
    ],
)  # fmt: skip
def test_what_is_not(values: Any) -> None:
    found = guess(as_column("x", MIXED_RNG.permutation(values))).parameter
    assert not isinstance(found, pa.Switch)


def test_words_beside_few_numbers_are_categories() -> None:
    found = guess(as_column("x", np.tile(["auto", "1", "2", "3"], 20))).parameter
    assert isinstance(found, pa.Categorical)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_same_in_parts(kind: str, tmp_path: Path) -> None:
    many = 3000
    part = np.where(
        np.arange(many) % 7 == 0, "auto", [f"{x:.6f}" for x in np.random.default_rng(1).uniform(0, 1, many)]
    )
    frame = pd.DataFrame({name: np.resize(values, many) for name, values in MIXED_TABLE.items()} | {"part": part})
    for i, rows in enumerate((frame.iloc[:1300], frame.iloc[1300:])):
        path = tmp_path / f"{i}.{kind}"
        rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    parts, held = (
        pa.analyze(str(tmp_path / f"*.{kind}"), "loss", scan=pa.Scan(stream=stream)) for stream in (True, False)
    )
    assert parts.space == held.space
    assert parts.data.tallies == held.data.tallies


def test_every_row_has_a_cell_and_the_special_value_counts() -> None:
    a = pa.analyze(MIXED_TABLE, "loss")
    for name, tally in a.data.tallies.items():
        assert tally.counts[:, tally.grid.missing :].sum() == 0, name
    grid = a.data.tallies["decay"].grid
    assert a.data.tallies["decay"].counts[:, grid.blocks[0].start].sum() == MIXED_ROWS // 5
    assert next(iter(a.importance(**COUNTS))) == "decay"


def test_a_given_space_is_checked() -> None:
    space = {"decay": pa.Switch("", {"off": pa.Categorical([0]), "on": pa.Float(1e-3, 1, log=True)})}
    refuse(OutsideSpaceError, "decay", "outside ", of=lambda: pa.analyze(MIXED_TABLE, "loss", space=space))
    again = pa.Space.from_dict(pa.analyze(MIXED_TABLE, "loss").space.to_dict())
    assert pa.analyze(MIXED_TABLE, "loss", space=again).data.tallies == pa.analyze(MIXED_TABLE, "loss").data.tallies


@pytest.mark.parametrize("form", FORMS)
def test_exports(form: str) -> None:
    space = pa.analyze(MIXED_TABLE, "loss").space
    assert export(space, form)
    plain = unfolded(space)
    assert list(plain)[:2] == ["decay_kind", "decay"]
    assert plain["decay"].when == (("decay_kind", ("range",)),)


def test_the_page_shows_them(tmp_path: Path) -> None:
    pa.analyze(MIXED_TABLE, "loss").report(tmp_path / "r.html", estimator="counts", draws=0)
    assert "range" in (tmp_path / "r.html").read_text()


def test_a_linear_range_whose_rows_are_crowded_at_its_low_end_is_doubted() -> None:
    random = np.random.default_rng(0)
    rate = 10 ** random.uniform(-5, 0, 300)
    loss = np.abs(np.log10(rate) + 3)

    def doubts(values: np.ndarray, declared: pa.Float) -> list[str]:
        a = pa.analyze({"rate": values}, loss, direction="min", space={"rate": declared})
        return [str(note) for note in a.notes if note.kind == "doubt"]

    (doubt,) = doubts(rate, pa.Float(1e-5, 1))
    assert doubt.endswith("declare it as Float(1e-05, 1, log=True)")
    assert doubts(rate, pa.Float(1e-5, 1, log=True)) == []
    assert doubts(random.random(300), pa.Float(0, 1)) == []
