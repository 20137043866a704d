"""Shared pieces of the tests: the functions whose importances are known exactly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("explore", **common)  # at a desk: new examples in every run
settings.register_profile("repeat", derandomize=True, **common)  # in CI: a change is judged, not the dice
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat" if os.environ.get("CI") else "explore"))


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from a second thread, and wait for it long on a busy machine."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with suppress(ImportError):
        import scipy.linalg  # noqa: F401  (it brings threads of its own)
    with threadpool_limits(1):
        yield


@pytest.fixture
def trials() -> dict[str, np.ndarray]:
    """A small mixed table: float, log float, int, text, boolean and an objective."""
    random = np.random.default_rng(7)
    rows = 400
    lr = np.exp(random.uniform(np.log(1e-5), 0.0, rows))
    layers = random.integers(1, 6, rows)
    optimizer = random.choice(["adam", "rmsprop", "sgd"], rows)
    loss = np.abs(np.log10(lr) + 3) + 0.1 * layers + (optimizer == "sgd") + random.normal(0, 0.1, rows)
    return {
        "lr": lr,
        "momentum": random.uniform(0, 1, rows),
        "layers": layers,
        "optimizer": optimizer,
        "nesterov": random.integers(0, 2, rows).astype(bool),
        "loss": loss,
    }


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command line as a shell would call it: status, output, errors."""
    from pedanova.cli.main import main

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


LONGEST = (  # begun first, so that no worker is left alone with one of them at the end
    "test_documents", "test_tables", "test_optuna_databases", "test_profile", "test_parts", "test_main",
    "test_page_moves", "test_sureness_slow", "test_plots", "test_page_for_everyone", "test_same_tallies",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))  # the sort is stable
