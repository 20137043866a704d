"""Smaller and larger domains of one parameter."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import COUNTS
from pedanova.errors import DataError, OutsideSpaceError, SpaceError

Table = dict[str, np.ndarray]


def noted(a: pa.Analysis, words: str) -> bool:
    return any(words in note for note in a.notes)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestSwitch:
    def test_choices_that_changed(self) -> None:
        dice = random()
        phase = np.repeat(["early", "late"], 300)
        c = np.r_[dice.choice(["a", "b"], 300), dice.choice(["b", "c", "d"], 300)]
        data = {"c": c, "phase": phase, "y": dice.random(600) + (c == "b")}
        early, late = pa.Categorical(["a", "b"]), pa.Categorical(["b", "c", "d"])
        a = pa.analyze(data, "y", space={"c": pa.Switch("phase", {"early": early, "late": late})})
        for name, domain in (("early", early), ("late", late)):
            alone = pa.analyze({n: v[phase == name] for n, v in data.items()}, "y", space={"c": domain})
            inside = a.importance(0.3, f"phase == '{name}'", **COUNTS)["c"]
            assert inside.value == alone.importance(0.3, **COUNTS)["c"].divergence
            assert inside.activity == 0.0
        assert a.importance(0.3, **COUNTS)["c"].value > 0.2

    def test_bounds_that_changed(self) -> None:
        """Where they changed in time with luck, only activity shows; inside each phase lr is noise."""
        dice = random()
        phase = np.repeat([0, 1], 20_000)
        lr = np.where(phase == 0, dice.random(40_000), 0.1 * dice.random(40_000))
        data = {"lr": lr, "phase": phase, "y": dice.random(40_000) + phase}
        space = {"lr": pa.Switch("phase", {0: pa.Float(0, 1), 1: pa.Float(0, 0.1)})}
        row = pa.analyze(data, "y", space=space).importance(0.25, **COUNTS)["lr"]
        assert row.value < 0.02
        assert row.activity == pytest.approx(1.0, abs=1e-9)

    def test_one_domain_for_several_values_and_none_for_others(self) -> None:
        dice = random()
        by = dice.choice(["a", "b", "c"], 300)
        data = {"x": dice.random(300), "by": by, "y": dice.random(300)}
        same = pa.Switch("by", {"a": pa.Float(0, 1), "b": pa.Float(0, 1)})
        a = pa.analyze(data, "y", space={"x": same})
        idle = int(np.sum(by == "c"))
        assert noted(a, f"x: {idle} rows have a value although the parameter is inactive; these values are ignored")
        when = pa.analyze(data, "y", space={"x": pa.Float(0, 1, when={"by": ["a", "b"]})})
        for name in ("value", "activity", "divergence", "share"):
            assert getattr(a.importance(**COUNTS)["x"], name) == getattr(when.importance(**COUNTS)["x"], name)

    def test_a_sparse_regime_is_told(self) -> None:
        by = np.r_[np.zeros(95, dtype=int), np.ones(5, dtype=int)]
        data = {"x": random().random(100), "by": by, "y": random(1).random(100)}
        a = pa.analyze(data, "y", space={"x": pa.Switch("by", {0: pa.Float(0, 1), 1: pa.Float(0, 2)})})
        assert noted(a, "has only 5 rows, so its numbers are rough")
        assert len(a) == 100

    def test_values_outside_the_chosen_domain(self) -> None:
        data = {"x": [0.5, 0.5, 3.0, 0.2], "by": [0, 0, 0, 1], "y": [1.0, 2.0, 3.0, 4.0]}
        space = {"x": pa.Switch("by", {0: pa.Float(0, 1), 1: pa.Float(0, 5)})}
        with pytest.raises(OutsideSpaceError, match=r"x: row 2 has 3.0, outside its domain for this value of by"):
            pa.analyze(data, "y", space=space)
        assert noted(
            pa.analyze(data, "y", space=space, reading=pa.Reading(outside="count")),
            "1 of 4 rows lies outside the space",
        )

    def test_as_a_parent_and_under_one(self) -> None:
        """A switch's values, not its cells, decide over others; its own switch may be inactive."""
        dice = random()
        by, n = dice.integers(1, 3, 400), dice.integers(2, 4, 400)
        top = dice.choice(["on", "off"], 400)
        data = {"by": by, "n": n, "top": top, "c": dice.random(400), "y": dice.random(400)}
        space = {
            "c": pa.Float(0, 1, when={"n": 3}),
            "n": pa.Switch("by", {1: pa.Int(1, 3), 2: pa.Int(2, 5)}),
            "by": pa.Int(1, 2, when={"top": "on"}),
            "top": pa.Categorical(["on", "off"]),
        }
        for order in (space, dict(reversed(space.items()))):
            a = pa.analyze(data, "y", space=order)
            inactive = {name: int(t.counts[:, t.grid.missing].sum()) for name, t in a.data.tallies.items()}
            off = np.sum(top == "off")
            assert inactive == {"c": np.sum((n != 3) | (top == "off")), "n": off, "by": off, "top": 0}

    def test_refusals(self) -> None:
        data = {"a": [1, 2, 1, 2], "b": [1, 2, 2, 1], "y": [1.0, 2.0, 3.0, 4.0]}
        circle = {"a": pa.Switch("b", {1: pa.Int(1, 2), 2: pa.Int(1, 3)}), "b": pa.Switch("a", {1: pa.Int(1, 2)})}
        with pytest.raises(SpaceError, match="depends on itself"):
            pa.analyze(data, "y", space=circle)
        with pytest.raises(SpaceError, match="a: no column is called 'phase'"):
            pa.analyze(data, "y", space={"a": pa.Switch("phase", {1: pa.Int(1, 2)})})
        for by, domains in (("", {}), (3, {1: pa.Int(1, 2)}), ("by", {1: pa.Moving("a", 1)}), ("by", {1: 3})):
            with pytest.raises(SpaceError, match="Switch"):
                pa.Switch(by, domains)  # type: ignore[arg-type]
        with pytest.raises(SpaceError, match="must be a Float, Int, Ordinal or Categorical"):
            pa.Switch("by", {1: pa.Float(0, 1, when={"x": 1})})


class TestMoving:
    def test_a_domain_that_moves(self) -> None:
        """b ~ U(a, 1) and the objective is b: b matters, and clearly."""
        dice = random()
        a = dice.random(5_000)
        b = a + (1 - a) * dice.random(5_000)
        found = pa.analyze({"a": a, "b": b, "y": b}, "y", space={"a": pa.Float(0, 1), "b": pa.Moving("a", 1)})
        row = found.importance(0.1, **COUNTS)["b"]
        assert row.share > 0.1
        assert row.ratio > 0.3
        assert noted(found, "b: bounds differ between rows; each value is replaced by its position between its bounds")
        high = pa.analyze({"a": a, "b": b, "y": b}, "y", direction="maximize", space=found.space)
        assert high.importance(0.1, **COUNTS)["b"].share > 0.1

    @pytest.mark.parametrize("log", [False, True])
    def test_positions(self, log: bool) -> None:
        """The same as analysing the positions themselves."""
        dice = random(2)
        low, high, position = 0.1 + dice.random(500), 2 + dice.random(500), dice.random(500)
        value = low * (high / low) ** position if log else low + (high - low) * position
        data = {"value": value, "low": low, "high": high, "position": position, "y": position + 0.3 * dice.random(500)}
        moving = pa.analyze(data, "y", space={"value": pa.Moving("low", "high", log=log)}).importance(**COUNTS)["value"]
        plain = pa.analyze(data, "y", space={"position": pa.Float(0, 1)}).importance(**COUNTS)["position"]
        assert moving.share == pytest.approx(plain.share, rel=1e-2)
        assert (moving.n_target, moving.activity) == (plain.n_target, 0.0)

    def test_ends_and_degenerate_bounds(self) -> None:
        low = np.array([0.0, 0.5, 1.0, 1.0, 0.25, 0.0])
        data = {"b": np.array([0.0, 1.0, 1.0, 1.0, 0.625, 1.0]), "low": low, "y": np.arange(6.0)}
        a = pa.analyze(data, "y", space={"b": pa.Moving("low", 1.0)})
        tally = a.data.tallies["b"].counts.sum(axis=0)
        assert tally[[0, 500, 1000]].tolist() == [1, 3, 2]
        assert noted(a, "b: 2 rows have equal lower and upper bounds; their values are placed in the middle")

    def test_inactive_rows_need_no_bounds(self) -> None:
        dice = random()
        on = dice.random(200) < 0.5
        low = np.where(on, 0.1, np.where(dice.random(200) < 0.5, np.nan, 9.0))  # 9 would be above the upper bound
        data = {"b": np.where(on, 0.1 + 0.9 * dice.random(200), np.nan), "low": low, "on": on, "y": dice.random(200)}
        for space in ({"b": pa.Moving("low", 1, log=True)}, {"b": pa.Moving("low", 1, when={"on": True})}):
            row = pa.analyze(data, "y", space=space).importance(pa.at_most(0.3), **COUNTS)["b"]
            assert row.value + row.activity == pytest.approx(row.divergence, abs=1e-12)
            assert row.n_region == 200

    @pytest.mark.parametrize(
        ("parameter", "change", "error", "words"),
        [
            (pa.Moving("lo", 1), {}, SpaceError, "b: no column is called 'lo'"),
            (pa.Moving("name", 1), {}, DataError, "name holds text or dates, but numbers are needed"),
            (pa.Moving("low", 1), {"low": np.nan}, DataError, "b: row 3 has no value for its bound 'low'"),
            (pa.Moving("low", 1), {"low": 2.0}, SpaceError, "b: row 3 has a lower bound above the upper bound"),
            (pa.Moving("low", 1), {"low": -np.inf}, SpaceError, "b: row 3 has a bound that is not finite"),
            (pa.Moving("low", 1, log=True), {"low": 0.0}, SpaceError, "b: a log scale needs lower bounds above 0"),
            (pa.Moving(0.01, "low", log=True), {"low": -1.0}, SpaceError, "row 3 has a lower bound above the upper"),
            (pa.Moving("low", 1), {"b": 1.5}, OutsideSpaceError, "b: row 3 has 1.5, outside low … 1"),
            (pa.Moving("low", 1), {"b": np.inf}, OutsideSpaceError, "b: row 3 has inf, outside low"),
            (pa.Moving("low", 1, log=True), {"b": -1.0}, OutsideSpaceError, "b: row 3 has -1.0, outside low"),
            (pa.Moving("low", 0.1), {"b": 0.7}, OutsideSpaceError, "b: row 3 has 0.7, outside low"),
        ],
    )  # fmt: skip
    def test_refusals(self, parameter: pa.Moving, change: Table, error: type[Exception], words: str) -> None:
        data = {"b": np.full(10, 0.1), "low": np.full(10, 0.1), "y": np.arange(10.0), "name": np.full(10, "a")}
        for name, value in change.items():
            data[name][3] = value
        with pytest.raises(error, match=words) as refused:
            pa.analyze(data, "y", space={"b": parameter})
        assert "\n" not in str(refused.value)

    def test_fixed_bounds_are_no_moving_ones(self) -> None:
        with pytest.raises(SpaceError, match="are not columns; use Float for fixed bounds"):
            pa.Moving(0, 1)


@pytest.fixture
def everything() -> tuple[Table, pa.Space]:
    dice = random(9)
    rows = 500
    opt, phase, low = (dice.choice(["sgd", "adam"], rows), dice.integers(0, 3, rows), 0.1 + 0.4 * dice.random(rows))
    return {
        "opt": opt,
        "m": np.where(opt == "sgd", dice.random(rows), np.nan),
        "k": dice.integers(0, 5, rows),
        "sw": np.where(phase == 0, dice.random(rows), dice.integers(1, 4, rows)),
        "mv": low + (1 - low) * dice.random(rows),
        "phase": phase,
        "low": low,
        "y": dice.random(rows) + (opt == "sgd") * 0.5,
    }, pa.Space(
        {
            "opt": pa.Categorical(["sgd", "adam"]),
            "m": pa.Float(0, 1, when={"opt": ["sgd"]}),
            "k": pa.Int(0, 4, when={"opt": "adam", "phase": [0, 1]}),
            "sw": pa.Switch("phase", {0: pa.Float(0, 1), 1: pa.Int(1, 3)}),
            "mv": pa.Moving("low", 1.0, log=True),
        }
    )  # fmt: skip


def test_spaces_survive_json(everything: tuple[Table, pa.Space]) -> None:
    data, space = everything
    again = pa.Space.from_dict(json.loads(json.dumps(space.to_dict())))
    assert again == space
    assert hash(again) == hash(space)
    assert again["k"].when == (("opt", ("adam",)), ("phase", (0, 1)))
    assert pa.analyze(data, "y", space=again).importance(**COUNTS) == pa.analyze(data, "y", space=space).importance(
        **COUNTS
    )


def test_analyses_survive_files_and_add_up(everything: tuple[Table, pa.Space], tmp_path: Path) -> None:
    data, space = everything
    a = pa.analyze(data, "y", space=space)
    a.save(tmp_path / "a.pedanova")
    loaded = pa.load(tmp_path / "a.pedanova")
    assert loaded.space == space
    assert loaded.importance(0.1, 0.5, **COUNTS) == a.importance(0.1, 0.5, **COUNTS)
    halves = [pa.analyze({n: c[i::2] for n, c in data.items()}, "y", space=space, levels=a.data.levels) for i in (0, 1)]
    assert (halves[0] + halves[1]).importance(0.1, 0.5, **COUNTS) == a.importance(0.1, 0.5, **COUNTS)


def test_the_kernel_and_numpy_agree(everything: tuple[Table, pa.Space], monkeypatch: pytest.MonkeyPatch) -> None:
    data, space = everything
    fast = pa.analyze(data, "y", space=space)
    monkeypatch.setattr("pedanova.base.kernel.library.available", lambda: False)
    slow = pa.analyze(data, "y", space=space)
    for name in space:
        np.testing.assert_array_equal(slow.data.tallies[name].counts, fast.data.tallies[name].counts)
    assert slow.importance(0.2, 0.7, **COUNTS) == fast.importance(0.2, 0.7, **COUNTS)
    assert slow.notes == fast.notes
