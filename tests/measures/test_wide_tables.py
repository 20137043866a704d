"""Hundreds of parameters: what matters is still told from noise, and a table that is looked at stays short."""

from __future__ import annotations

import numpy as np
import pytest

import pedanova as pa
from pedanova.cli.program import main
from pedanova.measures.inference import tail_beyond

MANY = 150
ROWS = 6000


@pytest.fixture(scope="module")
def wide() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    columns = {f"f{i:03}": random.random(ROWS) for i in range(MANY)}
    return columns | {"loss": columns["f007"] + 0.5 * columns["f011"] + 0.3 * random.random(ROWS)}


def test_what_matters_is_significant_among_many(wide: dict[str, np.ndarray]) -> None:
    found = pa.analyze(wide, "loss", direction="minimize").importance(estimator="counts")
    assert {row.name for row in found.rows if row.significant} == {"f007", "f011"}
    text = str(found).splitlines()
    assert len(text) < 30
    assert f"and {MANY - 20} more" in text[-1]
    assert len(found.to_text().splitlines()) == MANY + 2
    assert len(found.to_dict()["parameter"]) == MANY


def test_the_command_line_shows_the_first(
    wide: dict[str, np.ndarray], tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wide.csv"  # type: ignore[operator]
    lines = zip(*(column[:400] for column in wide.values()), strict=True)
    file.write_text("\n".join([",".join(wide), *(",".join(f"{x:.6g}" for x in line) for line in lines)]))
    ask = ["analyze", str(file), "--objective", "loss", "--estimator", "counts", "--draws", "0", "--quiet"]
    assert main(ask) == 0
    printed = capsys.readouterr().out
    assert "130 more parameters" in printed
    assert len(printed.splitlines()) < 30
    assert main([*ask, "--top", "0"]) == 0
    assert "f149" in capsys.readouterr().out


@pytest.mark.parametrize("freedom", [1, 3, 30])
def test_a_tail_is_never_taken_for_much_shorter_than_it_is(freedom: int) -> None:
    """Against sums of squares, whose law is known: one draw of four million reaches what is asked."""
    random = np.random.default_rng(freedom)
    largest = np.sort(random.chisquare(freedom, 4_000_000))[-40]  # about p = 1e-5
    told = [tail_beyond(random.chisquare(freedom, 2000), largest) for _ in range(40)]
    assert np.median(told) >= 1e-5
    assert np.quantile(told, 0.05) >= 0.5e-5
