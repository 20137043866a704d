"""Kernel and Python sides work together only where both are of one version and one face."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.base.kernel import library as kernel

BUILT = kernel.find_library()
pytestmark = pytest.mark.skipif(not kernel.available(), reason="no compiled kernel here")


@pytest.fixture
def opened_anew() -> Iterator[None]:
    """Whatever a test makes of the kernel is forgotten behind it."""
    kernel.opened.cache_clear()
    yield
    kernel.opened.cache_clear()


def face() -> str:
    state = kernel.opened()
    assert state.library is not None
    return state.library.pedanova_face().decode()


def test_both_sides_have_one_face() -> None:
    told = dict(line.split("=", 1) for line in face().splitlines())
    assert told == kernel.own_face()
    assert "?" not in "".join(told.values())


def test_the_best_loops_are_chosen_that_this_processor_runs() -> None:
    library = kernel.opened().library
    assert library is not None
    library.pedanova_processor.restype = ctypes.c_char_p
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    best = b"AVX-512" if "avx512f" in flags else b"AVX2" if "avx2" in flags else b"base"
    assert library.pedanova_processor() == best or platform.system() != "Linux"


@pytest.mark.parametrize("name", ["count_pairs", "find_fronts", "Feature", "Feature.offset"])
@pytest.mark.parametrize("how", ["changed", "gone", "new"])
def test_what_differs_is_named(name: str, how: str) -> None:
    lines = face().splitlines()
    (line,) = (one for one in lines if one.startswith(f"{name}="))
    others = [one for one in lines if one != line]
    changed = {"changed": [f"{line}0"], "gone": [], "new": [line, "other_loop=Pq:q"]}[how]
    assert kernel.disagreements("\n".join(others + changed)) == (["other_loop"] if how == "new" else [name])


@pytest.mark.usefixtures("opened_anew")
def test_another_version_is_refused_in_words_and_numpy_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).uniform(size=6_000)
    how: dict[str, Any] = {"draws": 0, "estimator": "counts"}
    expected = pa.analyze({"x": x}, x**2, params=["x"]).importance(**how).to_dict()
    kernel.opened.cache_clear()
    monkeypatch.setattr(kernel, "__version__", "99.0.0")
    with pytest.warns(RuntimeWarning, match=r"belongs to pedanova 0\.\S+, not to 99\.0\.0; reinstall pedanova; NumPy"):
        assert not kernel.available()
    assert "99.0.0; reinstall pedanova" in kernel.describe()
    assert pa.analyze({"x": x}, x**2, params=["x"]).importance(**how).to_dict() == expected


def test_other_sources_of_the_same_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BUILT is not None
    monkeypatch.setitem(kernel.SIGNATURES, "count_pairs", [*kernel.SIGNATURES["count_pairs"], kernel._int64])
    refused = kernel.open_library(BUILT)
    assert refused.library is None
    assert "and the Python code define count_pairs differently; reinstall pedanova" in refused.where


def test_a_library_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    foreign = find_spec("numpy.random._generator")
    assert foreign is not None
    assert "does not say which version of pedanova" in kernel.open_library(Path(str(foreign.origin))).where
    text = tmp_path / "_kernel.so"
    text.write_text("no library")
    assert "cannot be opened" in kernel.open_library(text).where
