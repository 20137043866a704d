"""Shared pieces of the tests: the functions whose importances are known exactly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import pedanova as pa
from pedanova.errors import PedanovaError
from pedanova.grid import grid_of
from pedanova.importance import Contrast, Importance, measure
from pedanova.space import Parameter

common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("explore", **common)  # at a desk: new examples in every run
settings.register_profile("repeat", derandomize=True, **common)  # in CI: a change is judged, not the dice
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat" if os.environ.get("CI") else "explore"))


COUNTS = {"estimator": "counts", "draws": 0, "force": True}  # the plain numbers, from however few rows


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


def refuse(kind: type[PedanovaError], *parts: str, of: Callable[[], object]) -> str:
    """`of()` must raise this kind, in one line that holds every part; the line itself."""
    with pytest.raises(kind) as caught:
        of()
    message = str(caught.value)
    assert len(message.splitlines()) == 1, message
    for part in parts:
        assert part in message, message
    return message


def four_dimensional(x: np.ndarray, *, inside_shift: int = 3) -> np.ndarray:
    """The paper's validation function; `inside_shift` is 3 as printed, 1 as in the released code."""
    outside = [5.0**-d for d in range(4)]
    inside = [5.0 ** -((d + inside_shift) % 4) for d in range(4)]
    return sum(np.where(np.abs(x[:, d]) >= 1, outside[d], inside[d]) * x[:, d] ** 2 for d in range(4))


def toy(x: np.ndarray) -> np.ndarray:
    """Case II of the paper on [-5, 5]²: a disc inside which the second parameter hardly matters."""
    square = x[:, 0] ** 2 + x[:, 1] ** 2
    return np.where(square >= 3, square, x[:, 0] ** 2 + x[:, 1] ** 2 / 100)


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


def measured(
    target: np.ndarray, region: np.ndarray, width: float = 0.0, baseline: str = "region"
) -> Importance:
    """The row for counts by cell; the last two cells are missing and outside."""
    grid = grid_of(pa.Ordinal(list(range(len(target) - 2))))
    return measure(Contrast("x", grid, target, region), baseline=baseline, smoothing=width)


def against_region(target: np.ndarray, region: np.ndarray, width: float) -> tuple[float, float]:
    row = measured(target, region, width)
    return row.divergence, row.share


def against_uniform(target: np.ndarray, width: float) -> float:
    """Divergence of counts from equal cells."""
    counts = np.concatenate([target, [0, 0]])
    region = counts.copy()
    region[0] += 1
    return measured(counts, region, width, "uniform").divergence


def contrast_of(parameter: Parameter, target: np.ndarray, region: np.ndarray, name: str = "x") -> Contrast:
    """Counts by cell of a parameter; none are missing or outside."""
    target, region = (np.concatenate([counts, [0, 0]]).astype(np.int64) for counts in (target, region))
    return Contrast(name, grid_of(parameter), target, region)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command line as a shell would call it: status, output, errors."""
    from pedanova.cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
