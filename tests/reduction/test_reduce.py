"""A smaller space: what is cut, what is not, and what that is worth."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.cli.program import main
from pedanova.errors import QueryError
from pedanova.reduction.box import axis_of
from pedanova.reduction.domains import beyond, shrunk, widened
from pedanova.reduction.result import Verdict
from pedanova.results import ReducedSpace
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Domain

SPACE = {
    "lr": pa.Float(1e-5, 1.0, log=True),
    "wd": pa.Float(0.0, 1.0),
    "width": pa.Int(1, 50),
    "optimizer": pa.Categorical(["adam", "sgd", "lion"]),
    "dull": pa.Float(0.0, 1.0),
}


def samples(rows: int, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "lr": 10 ** random.uniform(-5, 0, rows),
        "wd": random.random(rows),
        "width": random.integers(1, 51, rows),
        "optimizer": random.choice(["adam", "sgd", "lion"], rows),
        "dull": random.random(rows),
    }


def loss_of(table: dict[str, Any]) -> Any:
    """Best at lr = 1e-3, by adam, at the upper bound of wd; dull does nothing."""
    slow = np.where(table["optimizer"] == "adam", 0.0, 1.0)
    return (np.log10(table["lr"]) + 3) ** 2 + slow - 1.5 * table["wd"] + 0.01 * table["width"]


@pytest.fixture(scope="module")
def found() -> ReducedSpace:
    table = samples(200)
    return pa.analyze(table, loss_of(table), space=SPACE).reduce()


def test_verdicts(found: ReducedSpace) -> None:
    assert found["lr"].advice == "narrow"
    lr = found.space["lr"]
    assert isinstance(lr, pa.Float)
    assert lr.log
    assert 1e-5 < lr.low < 1e-3 < lr.high < 1.0
    assert found.space["optimizer"] == pa.Categorical(["adam"])
    assert found["dull"].advice == "keep"
    assert list(found.fixed) == ["optimizer"]
    assert all(row.reason and "\n" not in row.reason for row in found.rows)


def test_an_optimum_on_a_bound_says_widen(found: ReducedSpace) -> None:
    wd = found["wd"]
    assert wd.advice == "widen"
    assert wd.beyond[0] is None
    assert wd.beyond[1] is not None
    assert wd.beyond[1] > 1.0
    assert "as upper bound instead of 1" in wd.reason
    assert found.space["wd"].high == 1.0  # type: ignore[union-attr]  # only said
    table = samples(200)
    wide = pa.analyze(table, loss_of(table), space=SPACE).reduce(widen=True)
    assert wide.space["wd"].high == wd.beyond[1]  # type: ignore[union-attr]


def test_forms(found: ReducedSpace) -> None:
    text = str(found)
    assert "of the space is left" in text
    assert all(row.reason.split()[0] in text for row in found.rows)
    assert found.to_dict()["verdict"][0] == "narrow"
    assert "suggest_float('lr'" in found.export("code")
    assert pa.Space.from_dict(json.loads(found.export("json"))) == found.space


def test_the_same_seed_gives_the_same_space(found: ReducedSpace) -> None:
    table = samples(200)
    again = pa.analyze(table, loss_of(table), space=SPACE).reduce()
    assert again.rows == found.rows


def test_keeping_more_keeps_more() -> None:
    table = samples(120, seed=3)
    a = pa.analyze(table, loss_of(table), space=SPACE)
    spaces = [a.reduce(keep=keep).space for keep in (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)]
    for tight, wide in pairwise(spaces):
        assert all(lies_in(tight[name], wide[name]) for name in tight)


def lies_in(inner: Any, outer: Any) -> bool:
    if isinstance(inner, pa.Categorical) and isinstance(outer, pa.Float | pa.Int):
        return all(outer.low <= value <= outer.high for value in inner.choices)
    if isinstance(inner, pa.Float | pa.Int):
        return outer.low <= inner.low < inner.high <= outer.high and outer.log == inner.log
    one, two = (d.choices if isinstance(d, pa.Categorical) else d.values for d in (inner, outer))
    return set(one) <= set(two)


def test_noise_is_left_alone() -> None:
    """Nothing narrowed or fixed in more than 5 % of the parameters."""
    changed = count = 0
    for seed in range(6):
        for rows in (60, 120):
            table = samples(rows, seed)
            random = np.random.default_rng([seed, rows])
            reduced = pa.analyze(table, random.random(rows), space=SPACE).reduce()
            changed += sum(row.after != row.before for row in reduced.rows)
            count += len(reduced.rows)
    assert changed <= 0.05 * count


def test_what_matters_globally_is_not_fixed_for_mattering_little_locally() -> None:
    """The paper's warning: among the best, a parameter may tell nothing because all of them have it right."""
    random = np.random.default_rng(5)
    gate, fine, idle = random.random((3, 300))
    loss = np.where(gate < 0.4, 0.0, 10.0 + gate) + (fine - 0.3) ** 2
    a = pa.analyze({"gate": gate, "fine": fine, "idle": idle}, loss)
    inside = a.importance(0.05, 0.3)["gate"]
    assert inside.significant is False  # locally it is nothing,
    reduced = a.reduce()
    assert reduced["gate"].advice in ("narrow", "widen", "keep")  # and yet
    assert "gate" not in reduced.fixed


def test_few_rows_decide_nothing() -> None:
    table = samples(30)
    a = pa.analyze(table, loss_of(table), space=SPACE)
    reduced = a.reduce()
    assert {row.advice for row in reduced.rows} == {"undecided"}
    assert reduced.space == a.space
    assert reduced.evidence is None
    assert "Nothing is cut off" in str(reduced)


def test_many_rows_by_counts() -> None:
    table = samples(21_000)
    reduced = pa.analyze(table, loss_of(table), space=SPACE).reduce()
    assert reduced.evidence is not None
    assert reduced.evidence.estimator == "counts"
    assert reduced["lr"].advice == "narrow"
    assert reduced["wd"].advice == "widen"
    assert reduced["dull"].after == reduced["dull"].before
    assert reduced.evidence.enrichment > 3


def test_conditions_are_kept_in_order() -> None:
    """A parameter is reduced where it is active, and gone with the values under which it exists."""
    random = np.random.default_rng(2)
    rows = 240
    kind = random.choice(["sgd", "adam", "other"], rows)
    momentum = np.where(kind == "sgd", random.random(rows), np.nan)
    beta = np.where(kind == "other", random.random(rows), np.nan)
    loss = np.where(kind == "sgd", (momentum - 0.8) ** 2 * 4, np.where(kind == "adam", 1.0, 4.0))
    space = {
        "kind": pa.Categorical(["sgd", "adam", "other"]),
        "momentum": pa.Float(0, 1, when={"kind": ["sgd"]}),
        "beta": pa.Float(0, 1, when={"kind": ["other"]}),
    }
    table = {"kind": kind, "momentum": momentum, "beta": beta}
    reduced = pa.analyze(table, loss + 0.01 * random.random(rows), space=space).reduce()
    assert reduced.space["kind"] == pa.Categorical(["sgd"])
    assert "beta" not in reduced.space
    assert (reduced["beta"].advice, reduced["beta"].suggested()) == ("drop", "never active")
    left = reduced.space["momentum"]
    assert isinstance(left, pa.Float)
    assert left.when == (("kind", ("sgd",)),)
    assert 0.3 < left.low < 0.8 < left.high <= 1.0


def test_several_objectives_and_constraints_go_through_the_same_target() -> None:
    table = samples(150)
    random = np.random.default_rng(0)
    table |= {"loss": loss_of(table), "cost": table["width"] / 50 + 0.01 * random.random(150)}
    table["over"] = table["wd"] - 0.9
    a = pa.analyze(table, ["loss", "cost"], space=SPACE, feasible=["over"])
    reduced = a.reduce(target=0.2)
    assert set(reduced) == set(SPACE)


def test_masks_are_targets_too() -> None:
    table = samples(400)
    a = pa.analyze(table, loss_of(table), space=SPACE)
    reduced = a.reduce(target=table["lr"] < 1e-4)
    assert reduced["lr"].advice in ("narrow", "widen")
    assert reduced.space["lr"].high < 1e-2  # type: ignore[union-attr]


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"keep": 1.5}, {"keep": True}])
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    table = samples(60)
    with pytest.raises(QueryError, match=next(iter(wrong))):
        pa.analyze(table, loss_of(table), space=SPACE).reduce(**wrong)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas as pd

    table = samples(100)
    file = tmp_path / "trials.csv"
    pd.DataFrame({**table, "loss": loss_of(table)}).to_csv(file, index=False)
    (tmp_path / "space.json").write_text(json.dumps(pa.Space(SPACE).to_dict()))
    start = ["reduce", str(file), "--objective", "loss", "--space", str(tmp_path / "space.json")]
    assert main(start) == 0
    assert "narrow" in capsys.readouterr().out
    out = tmp_path / "small.json"
    assert main([*start, "--to", "json", "-o", str(out)]) == 0
    assert set(pa.space_from(out)) == set(SPACE)
    capsys.readouterr()
    assert main([*start, "--to", "code"]) == 0
    assert capsys.readouterr().out.endswith("\n")  # what follows on the terminal begins a line of its own
    assert main([*start, "--keep", "7"]) == 2
    assert "--keep 7.0 must be" in capsys.readouterr().err


# ── laws of boxes and domains ───────────────────────────────────────────────────────────────────

bounds = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
domains: st.SearchStrategy[Domain] = st.one_of(
    bounds.map(lambda b: pa.Float(b[0], b[0] + b[1])),
    st.tuples(st.floats(1e-12, 1e3), st.floats(1.5, 1e9)).map(lambda b: pa.Float(b[0], b[0] * b[1], log=True)),
    st.tuples(st.integers(-1000, 1000), st.integers(1, 5000), st.integers(1, 7)).map(
        lambda b: pa.Int(b[0], b[0] + b[1] * b[2], step=b[2])
    ),
    st.tuples(st.integers(1, 50), st.integers(1, 100_000)).map(lambda b: pa.Int(b[0], b[0] + b[1], log=True)),
    st.integers(2, 30).map(lambda n: pa.Ordinal(list(range(n)))),
    st.integers(2, 30).map(lambda n: pa.Categorical([f"c{i}" for i in range(n)])),
)


@given(domains, st.data())
def test_a_shrunk_domain_lies_inside(domain: Domain, data: st.DataObject) -> None:
    axis, grid = axis_of(grid_of(domain)), grid_of(domain)
    slices = len(axis.prior)
    if axis.ordered:
        first = data.draw(st.integers(0, slices - 1))
        groups = tuple(range(first, data.draw(st.integers(first, slices - 1)) + 1))
    else:
        groups = tuple(sorted(data.draw(st.sets(st.integers(0, slices - 1), min_size=1))))
    inner = shrunk(domain, axis, grid, groups)
    assert lies_in(inner, domain)
    if isinstance(inner, pa.Int):
        assert isinstance(domain, pa.Int)
        assert (inner.low - domain.low) % domain.step == 0
        assert inner.step == domain.step
    if len(groups) == slices:
        assert inner == domain
    if len(groups) > 1 and axis.ordered:
        assert lies_in(shrunk(domain, axis, grid, groups[1:]), inner)


@given(domains.filter(lambda d: isinstance(d, pa.Float | pa.Int)), st.booleans(), st.booleans())
def test_a_widened_domain_lies_around(domain: Any, low: bool, high: bool) -> None:
    density = np.ones(20)
    wide = widened(domain, beyond(domain, density, (low, high)))
    assert wide.low <= domain.low < domain.high <= wide.high  # type: ignore[union-attr]
    assert low or wide.low == domain.low  # type: ignore[union-attr]
    assert high or wide.high == domain.high  # type: ignore[union-attr]
    for before, after in ((domain.low, wide.low), (domain.high, wide.high)):  # type: ignore[union-attr]
        assert np.sign(before) == np.sign(after)  # no advice ends at zero or beyond it
    if isinstance(domain, pa.Int) and domain.low >= 1:
        assert wide.low >= 1  # type: ignore[union-attr]


def test_what_is_suggested_in_words() -> None:
    """A verdict "widen" beside a smaller range would contradict itself without the bound to try."""
    before, after = pa.Int(4, 128, log=True), pa.Int(8, 128, log=True)
    assert Verdict("units", "widen", "", before, after, beyond=(None, 720.0)).suggested() == (
        "8 … 128 log, try up to 720"
    )
    assert Verdict("units", "widen", "", before, before, beyond=(1.0, 720.0)).suggested() == (
        "try down to 1 and up to 720"
    )
    wider = pa.Int(8, 720, log=True)
    assert Verdict("units", "widen", "", before, wider, beyond=(None, 720.0)).suggested() == "8 … 720 log"
    assert Verdict("units", "keep", "", before, before).suggested() == ""
    there = [pa.Float(0, 1, when={"kind": kinds}) for kinds in (["a", "b"], ["a"])]
    assert Verdict("x", "keep", "", *there).suggested() == ""  # only its condition is shorter
    many = [pa.Ordinal([1, *range(2, last), 99]) for last in (20, 10)]
    assert Verdict("x", "narrow", "", *many).suggested() == "1, 2, 3, 4, 5 … 99"
