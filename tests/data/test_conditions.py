"""Conditional parameters: their two parts, and conditions that are declared or inferred."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from pedanova.counting.contrasts import Contrast
from pedanova.errors import SpaceError
from pedanova.measures.importance import measure
from pedanova.space.grid import grid_of

Table = dict[str, np.ndarray]
DOMAINS = [
    pa.Categorical(["a", "b", "c"]),
    pa.Int(1, 2),
    pa.Ordinal([1, 2, 4, 8]),
    pa.Int(0, 60),
    pa.Float(0.1, 10, log=True),
]


def noted(a: pa.Analysis, words: str) -> bool:
    return any(words in note for note in a.notes)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def contrasts(draw: st.DrawFn) -> Contrast:
    """Counts of any regimes: one to four domains, rows without a value, rows outside."""
    chosen = draw(st.lists(st.sampled_from(DOMAINS), min_size=1, max_size=4, unique_by=repr))
    parameter = chosen[0] if len(chosen) == 1 else pa.Switch("by", dict(enumerate(chosen)))
    grid, dice = grid_of(parameter), random(draw(st.integers(0, 2**32)))
    region = dice.integers(0, draw(st.sampled_from([2, 3, 20])), grid.width)
    region[dice.random(grid.width) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = 0
    region[-2:] *= draw(st.sampled_from([0, 1, 50]))
    region[0] += 2
    target = dice.binomial(region, draw(st.sampled_from([0.1, 0.5])) * dice.random(grid.width))
    target[0] = 1
    return Contrast("x", grid, target, region)


class TestAdditivity:
    @settings(max_examples=200)
    @given(contrasts(), st.sampled_from(["region", "uniform"]), st.sampled_from(["auto", "none", 0.7, 30.0]))
    def test_of_any_regimes(self, contrast: Contrast, baseline: str, smoothing: object) -> None:
        row = measure(contrast, baseline=baseline, smoothing=smoothing)  # type: ignore[arg-type]
        assert row.value >= 0
        assert row.activity >= 0
        assert abs(row.value + row.activity - row.divergence) <= 1e-12 * max(1.0, row.divergence)
        assert abs(row.value_share + row.activity_share - row.raw_share) <= 1e-12 * max(1.0, row.raw_share)

    @settings(max_examples=200)
    @given(contrasts())
    def test_of_the_definition(self, contrast: Contrast) -> None:
        """Regime by regime, as it is written: Σ α²/β · PED_i and Σ (α - β)²/β."""
        row = measure(contrast, baseline="region", smoothing="none")
        t, c = contrast.target.astype(float), contrast.region.astype(float)
        value = activity = 0.0
        blocks = [(block.start, block.stop) for block in contrast.grid.blocks]
        for start, stop in [*blocks, (len(c) - 2, len(c) - 1), (len(c) - 1, len(c))]:
            inside, rows = t[start:stop].sum(), c[start:stop].sum()
            if rows == 0:
                continue
            alpha, beta, held = inside / t.sum(), rows / c.sum(), c[start:stop] > 0
            activity += (alpha - beta) ** 2 / beta
            if inside:
                p, q = t[start:stop][held] / inside, c[start:stop][held] / rows
                value += alpha**2 / beta * (np.sum(p**2 / q) - 1)
        assert row.value == pytest.approx(value, abs=1e-10, rel=1e-10)
        assert row.activity == pytest.approx(activity, abs=1e-10, rel=1e-10)
        whole = np.sum((t / t.sum())[c > 0] ** 2 / (c / c.sum())[c > 0]) - 1
        assert row.divergence == pytest.approx(whole, abs=1e-10, rel=1e-10)

    @settings(max_examples=50)
    @given(st.integers(0, 2**32), st.booleans())
    def test_of_whole_analyses(self, seed: int, smoothed: bool) -> None:
        dice = random(seed)
        rows = int(dice.integers(30, 200))
        gate, m = dice.integers(0, 3, rows), dice.random(rows)
        data = {
            "gate": gate,
            "m": np.where(gate == 2, np.nan, m),
            "free": dice.random(rows),
            "y": gate * m + dice.random(rows),
        }
        for row in pa.analyze(data, "y").importance(0.2, 0.9, smoothing="auto" if smoothed else "none", **COUNTS).rows:
            assert row.value + row.activity == pytest.approx(row.divergence, abs=1e-12)
            assert row.value_share + row.activity_share == pytest.approx(row.raw_share, abs=1e-12)
            if row.name != "m":
                assert row.activity == 0.0
                assert row.activity_share == 0.0

    def test_no_conditions_no_activity(self, trials: Table) -> None:
        a = pa.analyze(trials, "loss")
        for baseline in ("region", "uniform"):
            for row in a.importance(baseline=baseline, **COUNTS).rows:
                assert (row.activity, row.activity_share) == (0.0, 0.0)
                assert row.value == row.divergence

    def test_an_example_from_rows(self) -> None:
        """Two domains and inactive rows, counted from a table: 1327/3024 and 35/216, exactly."""
        cells = {
            ("A", 1): (8, 5),
            ("A", 2): (6, 1),
            ("A", 3): (4, 0),
            ("B", 1): (7, 2),
            ("B", 2): (5, 3),
            ("-", None): (10, 1),
        }
        rows = [(by, x, i < t) for (by, x), (c, t) in cells.items() for i in range(c)]
        data = {"by": [r[0] for r in rows], "x": [r[1] for r in rows], "good": [r[2] for r in rows]}
        space = {"x": pa.Switch("by", {"A": pa.Categorical([1, 2, 3]), "B": pa.Categorical([1, 2])})}
        row = pa.analyze(data, "good", direction="maximize", space=space).importance(
            pa.between(1, 1, values=True), **COUNTS
        )["x"]
        assert (row.value, row.activity) == pytest.approx((1327 / 3024, 35 / 216), rel=1e-13)
        assert (row.value_share, row.activity_share) == pytest.approx((1327 / 7056, 5 / 72), rel=1e-13)
        assert (row.divergence, row.raw_share) == pytest.approx((1817 / 3024, 1817 / 7056), rel=1e-13)


def test_a_pure_gate() -> None:
    """Only whether m exists matters: its value explains nothing, its activity everything."""
    m, half = np.tile(np.arange(10), 20), np.repeat([True, False], 100)
    good = np.where(half, np.arange(200) // 10 % 2 == 0, False)  # in half of the active rows, evenly over m
    data = {"m": np.where(half, m, np.nan), "y": np.where(good, 0.0, 1.0)}
    row = pa.analyze(data, "y", space={"m": pa.Int(0, 9)}).importance(pa.at_most(0), **COUNTS)["m"]
    assert row.value == pytest.approx(0.0, abs=1e-12)
    assert row.activity == pytest.approx(1.0)
    assert row.activity_share == pytest.approx(row.raw_share)


def test_a_pure_gate_in_many_rows() -> None:
    dice = random()
    on, m, rows = dice.random(200_000) < 0.5, dice.random(200_000), 200_000
    data = {"on": on, "m": np.where(on, m, np.nan), "y": dice.random(rows) + ~on}
    space = {"on": pa.Categorical([False, True]), "m": pa.Float(0, 1, when={"on": True})}
    for smoothing in ("auto", 20.0):
        found = pa.analyze(data, "y", space=space).importance(0.25, smoothing=smoothing, **COUNTS)  # type: ignore[arg-type]
        assert found["m"].value < 0.01
        assert found["m"].activity == pytest.approx(1.0, abs=0.02)
        assert found["on"].divergence == pytest.approx(found["m"].activity, rel=1e-12)


@pytest.fixture
def gated() -> Table:
    """momentum lives under sgd, nesterov under momentum's choice; adam has beta, filled in elsewhere."""
    dice = random(4)
    rows = 600
    optimizer = dice.choice(["adam", "rms", "sgd"], rows)
    sgd = optimizer == "sgd"
    heavy = dice.choice(["plain", "heavy"], rows)
    return {
        "optimizer": optimizer,
        "kind": np.where(sgd, heavy, None),
        "momentum": np.where(sgd & (heavy == "heavy"), dice.random(rows), np.nan),
        "beta": dice.random(rows),
        "lr": dice.random(rows),
        "y": dice.random(rows) + sgd,
    }


OPTIMIZER = pa.Categorical(["adam", "rms", "sgd"])
NESTED = {
    "momentum": pa.Float(0, 1, when={"kind": ["heavy"]}),
    "kind": pa.Categorical(["plain", "heavy"], when={"optimizer": "sgd"}),
    "optimizer": OPTIMIZER,
    "beta": pa.Float(0, 1, when={"optimizer": ["adam", "rms"]}),
}


class TestDeclared:
    def test_inside_one_regime_all_is_plain(self, gated: Table) -> None:
        a = pa.analyze(gated, "y", space=NESTED)
        active = gated["kind"] == "heavy"
        alone = pa.analyze({n: c[active] for n, c in gated.items()}, "y", space={"momentum": pa.Float(0, 1)})
        for region in (active, "kind == 'heavy'", {"kind": {"heavy"}}, "momentum is not None"):
            for options in ({}, {"smoothing": "none"}, {"baseline": "uniform"}):
                inside = a.importance(0.3, region, **options, **COUNTS)["momentum"]  # type: ignore[arg-type]
                plain = alone.importance(0.3, **options, **COUNTS)["momentum"]  # type: ignore[arg-type]
                assert inside.activity == 0.0
                assert (inside.value, inside.share, inside.bandwidth) == (plain.value, plain.share, plain.bandwidth)

    def test_fillers_are_taken_as_inactive_and_told(self, gated: Table) -> None:
        a = pa.analyze(gated, "y", space=NESTED)
        filled = int(np.sum(gated["optimizer"] == "sgd"))
        words = "rows have a value although the parameter is inactive; these values are ignored"
        assert noted(a, f"beta: {filled} {words}")
        assert noted(a, f"beta: {filled} of 600 rows have no value (inactive) and are kept in a separate bin")
        clean = {**gated, "beta": np.where(gated["optimizer"] == "sgd", np.nan, gated["beta"])}
        b = pa.analyze(clean, "y", space=NESTED)
        assert a.importance(**COUNTS) == b.importance(**COUNTS)
        assert not noted(b, "these values are ignored")

    def test_missing_where_active_is_told(self, gated: Table) -> None:
        beta = np.where(np.arange(600) < 90, np.nan, gated["beta"])
        lacking = int(np.sum(gated["optimizer"][:90] != "sgd"))
        a = pa.analyze({**gated, "beta": beta}, "y", space=NESTED)
        assert noted(a, f"beta: {lacking} rows have no value although the parameter is active; it is treated as")

    def test_a_parent_that_is_inactive_itself(self, gated: Table) -> None:
        """kind has a filler value outside sgd; momentum below it must stay inactive there."""
        kind = np.where(gated["kind"] == None, "heavy", gated["kind"])  # noqa: E711
        momentum = np.where(np.isnan(gated["momentum"]), 0.5, gated["momentum"])
        filled = pa.analyze({**gated, "kind": kind, "momentum": momentum}, "y", space=NESTED)
        assert filled.importance(**COUNTS) == pa.analyze(gated, "y", space=NESTED).importance(**COUNTS)
        turned = {name: NESTED[name] for name in reversed(NESTED)}
        again = pa.analyze({**gated, "kind": kind, "momentum": momentum}, "y", space=turned)
        assert again.importance(**COUNTS)["momentum"].share == filled.importance(**COUNTS)["momentum"].share

    def test_several_parents(self, gated: Table) -> None:
        both = {"optimizer": ["adam", "sgd"], "kind": "heavy"}
        space = NESTED | {"lr": pa.Float(0, 1, when=both)}  # type: ignore[arg-type]
        a = pa.analyze(gated, "y", space=space)
        active = gated["kind"] == "heavy"
        assert a.data.tallies["lr"].counts[:, a.data.tallies["lr"].grid.missing].sum() == np.sum(~active)

    def test_a_parent_that_is_no_parameter(self, gated: Table) -> None:
        a = pa.analyze(gated, "y", space={"beta": NESTED["beta"]})
        assert a.importance(**COUNTS)["beta"].activity > 0

    def test_a_parent_of_numbers_or_truth_values(self) -> None:
        dice = random()
        layers, on = dice.integers(1, 4, 300), dice.random(300) < 0.5
        data = {"layers": layers, "on": on, "third": dice.random(300), "m": dice.random(300), "y": dice.random(300)}
        space = {
            "layers": pa.Int(1, 3),
            "on": pa.Categorical([False, True]),
            "third": pa.Float(0, 1, when={"layers": 3}),
            "m": pa.Float(0, 1, when={"on": True}),
        }
        a = pa.analyze(data, "y", space=space)
        assert noted(a, f"third: {np.sum(layers < 3)} of 300 rows have no value (inactive)")
        assert noted(a, f"m: {np.sum(~on)} of 300 rows have no value (inactive)")

    @pytest.mark.parametrize(
        ("space", "words"),
        [
            ({"beta": pa.Float(0, 1, when={"optimiser": "sgd"})}, "beta: no column is called 'optimiser'"),
            ({"optimizer": OPTIMIZER, "beta": pa.Float(0, 1, when={"optimizer": "sgdd"})}, "'sgdd'\" can never be"),
            ({"beta": pa.Float(0, 1, when={"optimizer": "sgdd"})}, "\"optimizer is 'sgdd'\" is true in no row"),
            ({"beta": pa.Float(0, 1, when={"optimizer": "adam", "kind": "heavy"})}, "is true in no row; check"),
            (NESTED | {"lr": pa.Float(0, 1, when={"kind": "heavy", "optimizer": "adam"})}, "lr: .* is true in no row"),
        ],
    )  # fmt: skip
    def test_contradictions(self, gated: Table, space: dict[str, pa.Float], words: str) -> None:
        with pytest.raises(SpaceError, match=words) as refused:
            pa.analyze(gated, "y", space=space)
        assert "\n" not in str(refused.value)

    def test_circles(self) -> None:
        one, two = pa.Categorical([0, 1], when={"b": 1}), pa.Categorical([0, 1], when={"a": 1})
        for space in ({"a": one, "b": two}, {"a": pa.Int(0, 1, when={"a": 1})}, {"c": two, "a": one, "b": two}):
            with pytest.raises(SpaceError, match=r"depends on itself .*; break the cycle"):
                pa.Space(space)  # type: ignore[arg-type]

    @pytest.mark.parametrize("when", ["sgd", 3, {"optimizer": []}, {3: "sgd"}, {"optimizer": [np.nan]}, [("a",)]])
    def test_what_is_no_condition(self, when: object) -> None:
        with pytest.raises(SpaceError):
            pa.Float(0, 1, when=when)  # type: ignore[arg-type]


class TestInferred:
    def test_nested_ones(self, gated: Table) -> None:
        a = pa.analyze(gated, "y")
        assert a.space["kind"].when == (("optimizer", ("sgd",)),)
        assert a.space["momentum"].when == (("kind", ("heavy",)),)
        assert a.space["beta"].when == a.space["lr"].when == ()
        assert noted(a, "momentum: treated as conditional: it is missing unless kind is 'heavy'")
        assert noted(a, "kind: treated as conditional: it is missing unless optimizer is 'sgd'")
        assert a.importance(**COUNTS) == pa.analyze(gated, "y", space=a.space).importance(**COUNTS)

    def test_not_where_there_is_an_exception(self, gated: Table) -> None:
        row = int(np.flatnonzero(gated["optimizer"] == "adam")[0])
        gated["momentum"][row] = 0.5
        a = pa.analyze(gated, "y")
        assert a.space["momentum"].when == ()
        assert a.space["kind"].when == (("optimizer", ("sgd",)),)
        assert noted(a, "momentum: ")

    def test_not_where_a_child_lacks_a_value(self, gated: Table) -> None:
        row = int(np.flatnonzero(gated["optimizer"] == "sgd")[0])
        gated["kind"][row] = None
        assert pa.analyze({n: gated[n] for n in ("optimizer", "kind", "y")}, "y").space["kind"].when == ()

    def test_brothers_are_no_parents_of_each_other(self) -> None:
        """Both live under sgd; each is missing exactly where the other is."""
        dice = random()
        sgd = dice.choice(["adam", "rms", "sgd"], 300)
        one = np.where(sgd == "sgd", dice.choice(["p", "q"], 300), None)
        two = np.where(sgd == "sgd", dice.choice(["r", "s"], 300), None)
        a = pa.analyze({"one": one, "two": two, "opt": sgd}, dice.random(300))
        assert a.space["one"].when == a.space["two"].when == (("opt", ("sgd",)),)
        b = pa.analyze({"one": one, "two": two}, dice.random(300))
        assert b.space["one"].when == b.space["two"].when == ()

    def test_not_from_a_column_with_a_value_for_each_row(self) -> None:
        dice = random()
        data = {"n": np.arange(24) * 3, "x": np.where(dice.random(24) < 0.3, np.nan, dice.random(24))}
        assert pa.analyze(data, dice.random(24), params=["n", "x"]).space["x"].when == ()

    def test_parents_of_every_kind(self) -> None:
        dice = random()
        layers, on = dice.integers(1, 5, 300), dice.random(300) < 0.5
        data = {
            "layers": layers,
            "third": np.where(layers >= 3, dice.random(300), np.nan),
            "on": on,
            "m": [str(v) if o else None for v, o in zip(dice.integers(0, 3, 300), on, strict=True)],
            "y": dice.random(300),
        }
        a = pa.analyze(data, "y")
        assert a.space["third"].when == (("layers", (3, 4)),)
        assert a.space["m"].when == (("on", (True,)),)
        assert pa.Space.from_dict(json.loads(json.dumps(a.space.to_dict()))) == a.space
