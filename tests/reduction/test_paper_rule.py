"""The paper's rules for a smaller space, taken literally."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from helpers.common import DEMO, refuse
from pedanova.cli.main import main
from pedanova.errors import QueryError
from pedanova.reduction.paper_rule import runs_of

SPACE = {"x": pa.Float(0, 1), "step": pa.Ordinal([1, 2, 3, 4]), "kind": pa.Categorical(["a", "b", "c"])}


def drawn(rows: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Good are x around 0.2 and 0.8, large steps, and everything but c."""
    random = np.random.default_rng(seed)
    data = {"x": random.random(rows), "step": random.integers(1, 5, rows), "kind": random.choice(["a", "b", "c"], rows)}
    loss = np.minimum(np.abs(data["x"] - 0.2), np.abs(data["x"] - 0.8)) - 0.05 * data["step"] + (data["kind"] == "c")
    return data, loss


@pytest.mark.parametrize("estimator", ["counts", "paper"])
def test_domains_are_where_the_density_is_at_least_uniform(estimator: str) -> None:
    data, loss = drawn(8_000)
    a = pa.analyze(data, loss, space=SPACE, direction="minimize")
    found = a.reduce(rule="paper", estimator=estimator)
    for name, verdict in found.items():
        densities = a.densities(name, estimator=estimator)
        dense = densities.target >= densities.uniform * (1 - 1e-9)
        cells = [cell for cell, good in zip(densities.cells, dense, strict=True) if good]
        left = verdict.after
        if isinstance(left, pa.Categorical):
            assert list(left.choices) == cells
        elif isinstance(left, pa.Ordinal):
            assert (left.values[0], left.values[-1]) == (min(cells), max(cells))
        else:
            width = 1 / 1001 + 1e-3  # a cell, and what rounding outwards adds
            assert left.low == pytest.approx(min(cells), abs=width)
            assert left.high == pytest.approx(max(cells), abs=width)
    assert found["kind"].after == pa.Categorical(["a", "b"])
    assert len(found["x"].pieces) == 2
    assert found["x"].part < 0.5


def test_what_is_low_twice_is_fixed() -> None:
    data, loss = drawn(20_000)
    data["dull"] = np.random.default_rng(9).integers(0, 3, 20_000)
    a = pa.analyze(data, loss, space=SPACE | {"dull": pa.Ordinal([0, 1, 2])}, direction="minimize")
    found = a.reduce(rule="paper")
    assert found["dull"].advice == "fix"
    assert "among the best" in found["dull"].reason
    assert list(found.fixed) == ["dull"]
    few = pa.analyze(*drawn(400), space=SPACE, direction="minimize").reduce(rule="paper")
    assert not few.fixed  # four rows show nothing among the best


def test_evidence_comes_from_rows_held_back() -> None:
    data, loss = drawn(4_000)
    a = pa.analyze(data, loss, space=SPACE, direction="minimize")
    found = a.reduce(rule="paper")
    assert found.evidence is not None
    hull = {name: row.after for name, row in found.items()}
    inside = np.isin(data["kind"], hull["kind"].choices) & np.isin(data["step"], hull["step"].values)
    inside &= (data["x"] >= hull["x"].low) & (data["x"] <= hull["x"].high)
    top = loss <= np.sort(loss)[399]
    assert found.evidence.inside == pytest.approx(inside[top].mean(), abs=0.01)
    assert found.evidence.volume == pytest.approx(inside.mean(), rel=0.1)
    assert found.evidence.enrichment == pytest.approx(found.evidence.kept.part / inside.mean(), rel=0.15)
    assert a.reduce(rule="paper", folds=0).evidence is None
    assert any("paper" in note for note in found.notes)


def test_pure_noise_is_cut_all_the_same() -> None:
    """What the package's own rule refuses to do."""
    random = np.random.default_rng(4)
    a = pa.analyze({"x": random.random(500)}, random.random(500), space={"x": pa.Float(0, 1)}, direction="minimize")
    assert a.reduce(rule="paper")["x"].advice == "narrow"
    assert a.reduce()["x"].advice == "undecided"


def test_runs() -> None:
    assert runs_of([0, 1, 4, 6, 7, 8]) == [(0, 1), (4,), (6, 7, 8)]
    assert runs_of([3]) == [(3,)]


def test_refusals() -> None:
    a = pa.analyze(*drawn(400), space=SPACE, direction="minimize")
    refuse(QueryError, "rule='mine'", "'paper'", of=lambda: a.reduce(rule="mine"))
    refuse(QueryError, "widen=True", of=lambda: a.reduce(rule="paper", widen=True))
    refuse(QueryError, "estimator='surrogate'", of=lambda: a.reduce(rule="paper", estimator="surrogate"))
    assert a.first(30).reduce(rule="paper")["x"].advice == "undecided"


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(DEMO), "--objective", "error", "--rule", "paper", "--estimator", "counts"]) == 0
    shown = capsys.readouterr().out
    assert "at least as dense as a uniform draw" in shown
    assert "the paper's rules" in shown
