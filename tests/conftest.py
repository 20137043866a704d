"""Shared pieces of the tests: the functions whose importances are known exactly."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy, and for every program that a test starts
os.environ.update(COLUMNS="100", LINES="24")  # lines break alike in every terminal
os.environ.setdefault("RAY_TMPDIR", "/tmp")  # the name of Ray's socket has at most 107 bytes, and TMPDIR may be long

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from helpers.changes import changed_documents

common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("explore", max_examples=30, **common)  # at a desk: new examples in every run
settings.register_profile(
    "repeat", derandomize=True, max_examples=30, **common
)  # in CI: a change is judged, not the dice
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
    from pedanova.cli.program import main

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


BROWSER = Path(__file__).with_name("browser")
SLOW = Path(__file__).with_name("slow.txt")  # functions with tests that `make check` leaves out, and their seconds
LONGEST = 0.15  # seconds that all tests of a function may take together in `make check`


UNCHANGED = "The documentation is as on main: its tests were left out. PEDANOVA_DOCS=1 runs them."


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--list-slow", action="store_true", help=f"write {SLOW.name} from the times of this run")
    parser.addoption("--docs-if-changed", action="store_true", help="tests of the documentation only where it changed")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--docs-if-changed") and not os.environ.get("PEDANOVA_DOCS") and not changed_documents():
        config.option.markexpr = "not docs"


def pytest_report_header(config: pytest.Config) -> str | None:
    return UNCHANGED if config.option.markexpr == "not docs" else None


def slow_tests() -> dict[str, int]:
    return {name: int(seconds) for name, seconds in map(str.split, SLOW.read_text().splitlines())}


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.option.markexpr == "not docs":
        terminalreporter.write_line(UNCHANGED)
    if config.getoption("--list-slow"):
        known, times = slow_tests(), Counter[str]()
        for outcome in ("passed", "", "skipped"):  # calls; fixtures made and taken down; what another run has timed
            for report in terminalreporter.stats.get(outcome, ()):
                name = report.nodeid.partition("[")[0]
                if outcome == "skipped":
                    times[name] = max(times[name], known.get(name, 0))
                else:
                    times[name] += report.duration
        lines = (f"{name} {ceil(time)}\n" for name, time in sorted(times.items()) if time > LONGEST)
        SLOW.write_text("".join(lines))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What thousands of tests and all libraries consist of stays: no later search for garbage looks at it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest files begin, so that no worker is left alone with one of them at the end.

    A test in the browser is run once more where it fails: what Chromium does on a crowded machine is not this
    project's to promise. What fails twice is a failure.
    """
    slow = slow_tests()
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker("slow")
    times: Counter[str] = Counter()
    for name, seconds in slow.items():
        times[name.partition("::")[0]] += seconds
    items.sort(key=lambda item: -times[item.nodeid.partition("::")[0]])  # the sort is stable: files stay in order
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if item.path.is_relative_to(BROWSER):
                item.add_marker(pytest.mark.flaky(reruns=1))
