"""Words of refusals: a name that is not there is answered with those that are near, a library with its installation."""

from __future__ import annotations

from importlib import metadata

import pytest

from pedanova.errors import missing_library, unknown_name

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


def test_the_command_that_is_printed_installs_libraries_of_any_index() -> None:
    """`pedanova[web]` can only be installed from an index that has pedanova, so its libraries are named."""
    assert str(missing_library("s3:// needs pyarrow", "arrow")) == "s3:// needs pyarrow; pip install 'pyarrow>=15'"
    assert str(missing_library("x", "web")) == "x; pip install 'fsspec[http]>=2024.2' 'pyarrow>=15'"


def test_without_metadata_the_folder_of_the_sources_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: None)
    assert str(missing_library("x", "mcp")) == "x; pip install '.[mcp]'"
