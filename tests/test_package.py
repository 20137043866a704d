"""The package as it is installed: light to import, whole without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pedanova.report.page.html import SCRIPTS

ROOT = Path(__file__).parent.parent
HEAVY = ["pandas", "polars", "pyarrow", "rich", "duckdb", "scipy", "sklearn", "optuna", "matplotlib"]


def test_importing_brings_no_optional_library() -> None:
    code = f"import sys, pedanova; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_using_brings_no_optional_library() -> None:
    code = "import sys, pedanova as pa; a = pa.analyze({'x': [1, 2, 3, 4]}, [1.0, 2, 3, 4], params=['x']); "
    code += "a.importance(0.3, force=True); "
    code += f"print([m for m in {HEAVY} if m in sys.modules and m != 'scipy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_exist_and_are_documented() -> None:
    import pedanova

    assert set(pedanova.__all__) == {*pedanova.HOMES, "__version__"}
    assert dir(pedanova) == [
        "Analysis", "Categorical", "Float", "Int", "Levels", "Moving", "Ordinal", "PedanovaError", "Reading", "Region",
        "Scan", "Space", "Switch", "Tally", "Trials", "__version__", "above", "across", "analyze", "at_least",
        "at_most", "below", "between", "demo_trials", "difference", "errors", "forest_effects", "guess_space",
        "load", "results", "show_versions", "space", "space_from",
    ]  # fmt: skip
    assert pedanova.results.__all__ == [
        "AblationPath", "Across", "Along", "Amount", "Brief", "BriefLine", "Comparison", "Densities",
        "Difference", "Differences", "Effect", "Effects", "Estimate", "Evidence", "ForestEffects", "Gain",
        "Gains", "History", "Importance", "Importances", "Interaction", "Interactions", "LearningCurves",
        "Marginal", "Needed", "NeededTrials", "NextTrial", "NextTrials", "PathStep", "Profile", "ReducedSpace",
        "Seeds", "StopAdvice", "StudyDifferences", "Verdict",
    ]  # fmt: skip
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pedanova.nothing  # noqa: B018
    assert pedanova.space.Float is pedanova.Float
    for module in (pedanova, pedanova.results):
        for name in module.__all__:
            assert name == "__version__" or getattr(module, name).__doc__, f"{name} has no docstring"


def test_versions_agree() -> None:
    import tomllib
    from importlib import metadata

    import pedanova

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" in project["dynamic"]  # it stands in one place
    assert metadata.version("pedanova") == pedanova.__version__
    assert f"[{pedanova.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def wheel_of_make() -> Path | None:
    """The wheel that `make` has built and installed, if nothing has changed since: compiling takes a while."""
    made = sorted((ROOT / "build/wheel").glob("*.whl"))
    sources = [ROOT / "pyproject.toml", ROOT / "CMakeLists.txt", *(p for p in (ROOT / "src").rglob("*") if p.is_file())]
    newest = max(p.stat().st_mtime for p in sources if p.suffix != ".pyc")
    return made[0] if made and made[0].stat().st_mtime > newest else None


@pytest.mark.parametrize("compiler", ["present", "absent"])
def test_a_wheel_is_built_with_and_without_a_compiler(compiler: str, tmp_path: Path) -> None:
    """Where nothing compiles, the install still succeeds and NumPy counts."""
    environment = dict(os.environ)
    if compiler == "absent":
        environment |= {"CXX": str(tmp_path / "no-such-compiler"), "CC": str(tmp_path / "no-such-compiler")}
    wheel = wheel_of_make() if compiler == "present" else None
    if wheel is None:
        command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "-q"]
        command += ["-w", str(tmp_path), f"--config-settings=build-dir={tmp_path / 'build'}"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 3_000_000
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"pedanova/report/assets/{name}" for name in ("page.css", *SCRIPTS)} <= set(names)
    assert ("pedanova/_kernel.so" in names) == (compiler == "present")
    assert "pedanova/cli/demo_trials.csv" in names
    assert "-py3-none-" in wheel.name
    unpacked = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(unpacked)
    # An editable install of this checkout must not step in for the wheel.
    code = "import sys; sys.meta_path = [f for f in sys.meta_path if 'Redirect' not in type(f).__name__]; "
    code += "import pedanova as pa; pa.show_versions(); from pedanova.cli import main; main(['demo'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(unpacked)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ("kernel    C++" in done.stdout) == (compiler == "present")
    assert ("NumPy (kernel not built" in done.stdout) == (compiler == "absent")
    assert "learning_rate" in done.stdout
