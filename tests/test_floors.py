"""The floors of docs/architecture.md: a module imports only from lower floors."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pedanova

ROOT = Path(pedanova.__file__).parent
FLOORS = {
    "errors": 0, "progress": 0, "letters": 0, "markup": 0, "completion": 89,
    "checks": 1,
    "space": 10, "table": 10, "workers": 10, "regions": 10,
    "column": 11,
    "grid": 12,
    "kernel": 13, "infer": 13, "conditions": 13,
    "versions": 14, "selection": 14, "expressions": 14, "pareto": 14, "gaussian": 14, "chisquare": 14, "draws": 14,
    "goals": 15, "rowsets": 15,
    "fates": 16,
    "repeats": 17,
    "told": 18,
    "observations": 20,
    "sampling": 21,
    "levels": 30, "sources.names": 30,
    "sources.arrays": 31, "sources.frames": 31,
    "sources.text": 32, "sources.binary": 32, "sources.described": 32, "sources.headings": 32,
    "sources.files": 33, "sources.kinds": 33, "sources.trials": 33, "sources.clauses": 33, "sources.pcs": 33,
    "sources.yaml_text": 34, "sources.cells": 34,
    "sources.raytune": 35, "sources.mlflow": 35, "sources.wandb": 35,
    "sources.sklearn_search": 35, "sources.kerastuner": 35, "sources.hyperopt": 35,
    "sources.databases": 33, "sources.distributions": 33,
    "sources.configspace": 34, "sources.runs": 34, "sources.optuna_log": 34,
    "sources.smac": 35, "sources.bohb": 35, "sources.deepcave": 35, "sources.amltk": 35,
    "sources.optuna_study": 35, "sources.optuna_rows": 35, "sources.optuna_journal": 35,
    "sources.optuna_tables": 36, "sources.spaces": 36, "sources.batches": 36, "sources.spark": 36,
    "sources.scans": 37,
    "sources.registry": 37,
    "sources": 38,
    "request": 39,
    "preparation": 40,
    "surrogate": 41,
    "residuals": 42,
    "tally": 45, "nesting": 45, "moments": 45, "pairs": 45,
    "store": 50, "engines.judge": 50, "density": 50,
    "engines": 51, "engines.arrays": 51,
    "engines.pairs": 52, "engines.spark": 52, "engines.frames": 52,
    "engines.ranks": 53,
    "importance": 60, "additive": 60,
    "contrasts": 61, "counting": 61, "stacks": 61, "trees": 61,
    "streaming": 62, "crew": 62,
    "survey": 63, "checkpoint": 63, "pushed": 63,
    "effects": 62, "interactions": 62, "inference": 62, "marginals": 62, "forestresults": 62,
    "assisted": 63, "encoding": 63, "pairdensity": 63,
    "estimators": 64, "forest": 64, "boxes": 64, "rescan": 64,
    "domains": 65, "exports": 65, "uneven": 65,
    "reducedspace": 66, "panels": 66,
    "search": 67,
    "verdicts": 68,
    "reduction": 69,
    "results": 70, "profiles": 70,
    "report": 80, "report.sentences": 80, "report.columns": 80,
    "report.ladder": 80, "report.shapes": 80, "report.specs": 80,
    "report.text": 81, "report.figures": 81, "report.summary": 81, "report.widget": 81,
    "report.view": 82, "report.curves": 82,
    "report.payload": 83,
    "report.page": 84,
    "measures": 82, "plots": 82,
    "counted": 84,
    "analysis": 85,
    "scanned": 86,
    "pipeline": 87,
    "options": 89, "arguments": 89, "clusters": 89,
    "commands": 88, "commands.shown": 89, "commands.opened": 90,
    "commands.pages": 91, "commands.spaces": 91,
    "commands.answers": 92,
    "cli": 95, "integrations": 90,
    "integrations.optuna": 91,
    "__init__": 99, "__main__": 99,
}  # fmt: skip
OPTIONAL = {  # library → the only modules that may import it
    "pandas": {"table"},
    "polars": {"table", "sources.binary"},
    "pyarrow": {"sources.binary", "sources.text", "sources.batches", "sources.spark"},
    "argcomplete": {"completion"},
    "sklearn": {"forest"},
    "scipy": {"gaussian"},
    "threadpoolctl": {"workers"},
    "yaml": {"sources.yaml_text"},
    "matplotlib": {"report.figures"},
    "optuna": {"integrations.optuna", "exports"},
    "ConfigSpace": {"exports"},
    "ray": {"exports"},
    "distributed": {"clusters"},
}
ALLOWED = {"numpy", "narwhals"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1]) if parts[-1] == "__init__" and len(parts) > 1 else ".".join(parts)


def imports_of(path: Path) -> set[str]:
    """Absolute names of everything a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


FILES = sorted(ROOT.rglob("*.py"))


def modules_among(imported: set[str]) -> set[str]:
    own = {name.removeprefix("pedanova.") for name in imported if name.startswith("pedanova.")}
    return {name for name in own if name in FLOORS}


def test_every_module_has_a_floor() -> None:
    assert {name_of(path) for path in FILES} == set(FLOORS)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_come_from_lower_floors(path: Path) -> None:
    own = name_of(path)
    higher = {name for name in modules_among(imports_of(path)) if FLOORS[name] >= FLOORS[own]}
    # A package's own __init__ is imported with any of its modules and may be named by them.
    higher = {name for name in higher if name != own and not own.startswith(f"{name}.")}
    assert not higher, f"{own} (floor {FLOORS[own]}) imports {higher} from its own or a higher floor"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_optional_libraries_stay_in_their_files(path: Path) -> None:
    import sys

    roots = {name.split(".")[0] for name in imports_of(path)} - {"pedanova", "__future__"} - ALLOWED
    foreign = {name for name in roots if name not in sys.stdlib_module_names}
    misplaced = {name for name in foreign if name_of(path) not in OPTIONAL.get(name, set())}
    assert not misplaced, f"{name_of(path)} imports {misplaced}"


def test_report_never_sees_observations() -> None:
    for path in (ROOT / "report").glob("*.py"):
        assert not modules_among(imports_of(path)) & {"observations", "column", "engines.arrays"}


def test_the_test_itself_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from pedanova.cli import main\n    import torch\n")
    assert modules_among(imports_of(bad)) == {"cli"}
    assert "torch" in imports_of(bad)
