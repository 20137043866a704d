"""What priors are worth on left-out studies: ``python benchmarks/priors.py DATA [--all]``.

DATA holds the tables with their descriptions (NAME.parquet, NAME.json). Three families of two complete or nearly
complete tables share a space each; openml_adaboost holds 100 tasks. Every study is searched with the prior of the
others of its family. ``--all`` compares ways to pool, strengths and safety shares.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pedanova as pa
from pedanova.measures.studies.prior import prior_of

FAMILIES = (
    ("hpobench_car", "hpobench_phoneme"),
    ("hpolib_naval_propulsion", "hpolib_slice_localization"),
    ("nmt_so-en", "nmt_sw-en"),
)
TASKS = "openml_adaboost"
WAYS = [("mean", strength, safety) for strength in (1.0, 0.7) for safety in (0.0, 0.2, 0.3, 0.5)]
WAYS += [("geometric", strength, safety) for strength in (1.0, 0.8, 0.7, 0.6, 0.5) for safety in (0.0, 0.2, 0.3, 0.5)]


def parameter_of(plain: dict[str, Any]) -> Any:
    match plain["type"]:
        case "categorical":
            return pa.Categorical(plain["choices"])
        case "int":
            return pa.Int(plain["low"], plain["high"], log=plain["log"])
        case _:
            return pa.Float(plain["low"], plain["high"], log=plain["log"])


def described(folder: Path, name: str) -> tuple[pl.DataFrame, dict[str, Any], dict[str, Any]]:
    about = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    space = {key: parameter_of(plain) for key, plain in about["space"].items()}
    return pl.read_parquet(folder / f"{name}.parquet"), about, space


def study_of(folder: Path, name: str) -> pa.Analysis:
    """One table; an objective with several seeds is their mean."""
    table, about, space = described(folder, name)
    goal = about["objectives"][about["main_objective"]]
    mean = table.select(list(space)).with_columns(goal=table.select(goal["columns"]).to_numpy().mean(axis=1))
    return pa.analyze(mean, "goal", direction=goal["direction"], params=list(space), space=space)


def tasks_of(folder: Path) -> dict[str, pa.Analysis]:
    table, about, space = described(folder, TASKS)
    name = about["main_objective"]
    how = {"direction": about["objectives"][name]["direction"], "params": list(space), "space": space}
    parts = table.partition_by(about["group_column"], maintain_order=True)
    return {str(part[about["group_column"]][0]): pa.analyze(part, name, **how) for part in parts}


def families_of(folder: Path) -> dict[str, dict[str, pa.Analysis]]:
    pairs = {one.partition("_")[0]: {one: study_of(folder, one), two: study_of(folder, two)} for one, two in FAMILIES}
    return pairs | {TASKS: tasks_of(folder)}


def line(families: dict[str, dict[str, pa.Analysis]], **how: Any) -> str:
    worths = {name: prior_of(studies, **how).left_out() for name, studies in families.items()}
    six = [row for name, worth in worths.items() if name != TASKS for row in worth.rows]
    tasks = worths[TASKS].rows
    trials, even = (np.median([getattr(row, name) for row in tasks]) for name in ("trials", "uniform_trials"))
    slower = sum(row.trials > row.uniform_trials for row in tasks)
    losses = [abs(row.best - row.uniform_best) for row in tasks if not row.no_worse]
    safe = np.mean([row.no_worse for row in [*six, *tasks]])
    return (
        f"six tables: {[row.trials for row in six]} trials, no worse in {sum(row.no_worse for row in six)} | "
        f"tasks: {trials:g} trials (uniform {even:g}, at most {max(row.trials for row in tasks)}), "
        f"no worse in {sum(row.no_worse for row in tasks)}, slower in {slower}, "
        f"loses at most {max(losses, default=0):.4f} | all 106: no worse in {safe:.1%}"
    )


def main() -> None:
    families = families_of(Path(sys.argv[1]))
    start = time.process_time()
    for estimator in ("counts", "auto"):
        how: dict[str, Any] = {"estimator": estimator}
        print(f"{estimator}, as it is:", line(families, **how))
        print(f"{time.process_time() - start:.0f} s of CPU time")
    if "--all" in sys.argv:
        for target in (0.05, 0.1, 0.2):
            for pool, strength, safety in WAYS:
                how = {"pool": pool, "strength": strength, "safety": safety, "target": target}
                print(target, pool, strength, safety, line(families, **how))


if __name__ == "__main__":
    main()
