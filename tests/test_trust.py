"""What is promised beside the code: versions agree, nothing foreign is bundled, forms that others read are whole."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import pedanova

ROOT = Path(__file__).parent.parent
ASSETS = Path(pedanova.__file__).parent / "report" / "assets"
yaml = pytest.importorskip("yaml")


def script(name: str) -> ModuleType:
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, ROOT / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_one_version_everywhere() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == pedanova.__version__
    assert [person["family-names"] for person in cited["preferred-citation"]["authors"]] == [
        "Watanabe", "Bansal", "Hutter",
    ]  # fmt: skip
    assert f'version = "{pedanova.__version__}"' in (ROOT / "conda" / "meta.yaml").read_text()


def test_conda_needs_what_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / "conda" / "meta.yaml").read_text()
    for needed in (*project["dependencies"], f"python{project['requires-python']}"):
        name, bound = re.split(r"(?=>=)", needed)
        assert f"    - {name} {bound}\n" in recipe.split("  run:")[1]


def test_no_foreign_asset_is_bundled() -> None:
    for path in ASSETS.iterdir():
        text = path.read_text(encoding="utf-8")
        assert path.suffix in (".js", ".mjs", ".css")
        assert not re.search(r"copyright|@license|\(c\) \d{4}", text, re.IGNORECASE), path
        assert max(map(len, text.splitlines())) < 400, f"{path} looks minified: name it in LICENSES.md"


@pytest.mark.parametrize(
    "name", [path.relative_to(ROOT).as_posix() for path in (ROOT / ".github").rglob("*.yml")] + ["CITATION.cff"]
)
def test_forms_are_well_formed(name: str) -> None:
    assert yaml.safe_load((ROOT / name).read_text())


FORM = {"label", "description", "placeholder", "value", "render", "options", "multiple"}  # what an issue form may hold


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.stem
)
def test_issue_forms_hold_what_they_may(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= set(form)
    for part in form["body"]:
        assert set(part["attributes"]) <= FORM, "a comma in a bare label begins another key"
        assert part["type"] == "markdown" or "label" in part["attributes"]


def test_the_optunahub_package_has_its_form() -> None:
    folder = ROOT / "contrib" / "optunahub" / "package" / "visualization" / "plot_ped_anova"
    _, front, text = (folder / "README.md").read_text().split("---\n", 2)
    assert set(yaml.safe_load(front)) == {"author", "title", "description", "tags", "optuna_versions", "license"}
    for heading in ("## Abstract", "## APIs", "## Installation", "## Example"):
        assert heading in text


@pytest.mark.parametrize(("value", "found"), [(1.09, 0), (1.11, 1), (0.5, 0)])
def test_a_loss_of_a_tenth_is_told(value: float, found: int) -> None:
    history = script("benchmarks/history.py")
    before = [{"machine": "m", "rows": 1, "ratios": {"a": ratio}} for ratio in (0.1, 1.3, 1.0, 1.2, 1.1, 1.4)]
    now = {"machine": "m", "rows": 1, "ratios": {"a": value}}
    assert len(history.losses(now, before)) == found
    assert history.losses(now | {"machine": "another"}, before) == []


def test_every_platform_has_a_target() -> None:
    wheels = script("packaging/wheels.py")
    here = wheels.of_this_machine()
    assert here
    assert set(here) <= set(wheels.PLATFORMS)
    kinds = {re.split(r"[_\d]", tag)[0] for tag in wheels.PLATFORMS}
    assert kinds == {"manylinux", "musllinux", "macosx", "win"}
