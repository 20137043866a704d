"""What priors are worth on left-out studies: ``python benchmarks/priors.py DATA [--all] [--defaults]``.

DATA holds the tables with their descriptions (NAME.parquet, NAME.json). Three families of two complete or nearly
complete tables share a space each; openml_adaboost holds 100 tasks. Every study is searched with the prior of the
others of its family. ``--all`` compares ways to pool, strengths and safety shares; since the best of many ways looks
better than it is, it also lets one half of the tasks choose the way and judges it by the other half.
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
from pedanova.measures.studies.defaults import defaults_of
from pedanova.measures.studies.prior import prior_of
from pedanova.measures.studies.worth import StudyWorth

FAMILIES = (
    ("hpobench_car", "hpobench_phoneme"),
    ("hpolib_naval_propulsion", "hpolib_slice_localization"),
    ("nmt_so-en", "nmt_sw-en"),
)
TASKS = "openml_adaboost"
WAYS = [("mean", strength, safety) for strength in (1.0, 0.7) for safety in (0.0, 0.3, 0.5)]
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


def worths_of(families: dict[str, dict[str, pa.Analysis]], **how: Any) -> tuple[list[StudyWorth], list[StudyWorth]]:
    """What the prior is worth in the six tables, and in the tasks."""
    worths = {name: prior_of(studies, **how).left_out() for name, studies in families.items()}
    six = [row for name, worth in worths.items() if name != TASKS for row in worth.rows]
    return six, list(worths[TASKS].rows)


def line(six: list[StudyWorth], tasks: list[StudyWorth]) -> str:
    trials, even = (np.median([getattr(row, name) for row in tasks]) for name in ("trials", "uniform_trials"))
    slower = sum(row.trials > row.uniform_trials for row in tasks)
    losses = [abs(row.best - row.uniform_best) for row in tasks if not row.no_worse]
    return (
        f"six tables: {[row.trials for row in six]} trials (uniform {[row.uniform_trials for row in six]}), "
        f"no worse in {sum(row.no_worse for row in six)} | "
        f"tasks: {trials:g} trials (uniform {even:g}, at most {max(row.trials for row in tasks)}), "
        f"no worse in {sum(row.no_worse for row in tasks)}, slower in {slower}, "
        f"loses at most {max(losses, default=0):.4f} | "
        f"all {len(six) + len(tasks)}: no worse in {np.mean([row.no_worse for row in [*six, *tasks]]):.1%}, "
        f"slower in {np.mean([row.trials > row.uniform_trials for row in [*six, *tasks]]):.1%}"
    )


def chosen_by_halves(found: dict[Any, list[StudyWorth]], splits: int = 200) -> str:
    """One half of the tasks chooses: of the ways with 90 % no worse (else the safest) the one with fewest trials."""
    ways = list(found)
    safe = np.array([[row.no_worse for row in found[way]] for way in ways])
    trials = np.array([[row.trials for row in found[way]] for way in ways])
    rng, held = np.random.default_rng(0), []
    for _ in range(splits):
        order = rng.permutation(safe.shape[1])
        ours, theirs = np.array_split(order, 2)
        part = safe[:, ours].mean(axis=1)
        allowed = part >= min(0.9, part.max())
        best = int(np.argmin(np.where(allowed, np.median(trials[:, ours], axis=1), np.inf)))
        held.append((safe[best, theirs].mean(), np.median(trials[best, theirs])))
    mean = np.mean(held, axis=0)
    enough = np.mean([one >= 0.9 for one, _ in held])
    words = f"a way chosen by half of the tasks is no worse in {mean[0]:.1%} of the others"
    return f"{words} ({enough:.0%} of {splits} splits reach 90 %), with {mean[1]:.1f} trials in the median"


def main() -> None:
    families = families_of(Path(sys.argv[1]))
    for estimator in ("counts",) if "--all" in sys.argv or "--defaults" in sys.argv else ("counts", "auto"):
        start = time.process_time()
        print(f"{estimator}, as it is:", line(*worths_of(families, estimator=estimator)))
        print(f"{time.process_time() - start:.0f} s of CPU time", flush=True)
    if "--defaults" in sys.argv:
        for name, studies in families.items():
            found = defaults_of(studies)
            print(name, found, found.regrets.heading(), sep="\n", flush=True)
    if "--all" in sys.argv:
        compare_ways(families)


def compare_ways(families: dict[str, dict[str, pa.Analysis]]) -> None:
    tasks = {}
    for way in WAYS:
        six, tasks[way] = worths_of(families, **dict(zip(("pool", "strength", "safety"), way, strict=True)))
        print(*way, line(six, tasks[way]), flush=True)
    print(chosen_by_halves(tasks))


if __name__ == "__main__":
    main()
