"""Words of refusals: a name that is not there is answered with those that are near."""

from __future__ import annotations

import pytest

from pedanova.errors import unknown_name

RUNS = ("run_id", "metrics.rmse", "params.lr", "config/depth", "Layers")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("rmse", "metrics.rmse"), ("LR", "params.lr"), ("depth", "config/depth"), ("layer", "Layers"), ("run", "run_id")],
)
def test_near_names(wrong: str, meant: str) -> None:
    assert unknown_name(wrong, RUNS, what="column") == f"no column is called {wrong!r}; did you mean {meant!r}?"


def test_names_that_are_far() -> None:
    assert "choose one of: run_id, 'metrics.rmse'" in unknown_name("zzz", RUNS)
    assert unknown_name("lr", ("a.lr", "b/lr"), most=2).endswith("did you mean 'b/lr' or 'a.lr'?")
