"""AdaBoost on 100 OpenML tasks: what matters over all of them, beside what van Rijn and Hutter published (KDD 2018).

    python experiments/adaboost.py DATA_DIR [--forest] [--estimator counts]

DATA_DIR holds ``openml_adaboost.parquet`` with its ``.json``, and ``openml_adaboost_published_fanova.json``: the
variance that each parameter's main effect explains, by task. Ours: f-ANOVA of the objective by exact counts, with
`--forest` by a random forest as theirs; and PED-ANOVA for the best 10 %, pooled by `across`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pedanova as pa
from pedanova.measures.studies.pooling import pooled, spearman

Shares = Mapping[str, Mapping[str, float]]  # task → parameter → part of the variance


def parameter_of(fields: Mapping[str, Any]) -> pa.space.Parameter:
    if fields["type"] == "categorical":
        return pa.Categorical(fields["choices"])
    return (pa.Int if fields["type"] == "int" else pa.Float)(fields["low"], fields["high"], log=bool(fields["log"]))


def means_of(shares: Shares, names: list[str]) -> dict[str, float]:
    """The mean over tasks, each weighing the same: all have as many rows."""
    return {name: pooled([one[name] for one in shares.values()], [0.0] * len(shares)).value for name in names}


def ranks_of(shares: Shares, names: list[str]) -> np.ndarray:
    table = np.array([[one[name] for name in names] for one in shares.values()])
    return (-table).argsort(axis=1).argsort(axis=1).mean(axis=0) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--forest", action="store_true")
    parser.add_argument("--estimator", default="auto")
    given = parser.parse_args()
    facts = json.loads((given.folder / "openml_adaboost.json").read_text())
    published: Shares = json.loads((given.folder / "openml_adaboost_published_fanova.json").read_text())["values"]
    space = {name: parameter_of(fields) for name, fields in facts["space"].items()}
    names = list(space)
    x = pa.across(
        given.folder / "openml_adaboost.parquet",
        facts["main_objective"],
        group=facts["group_column"],
        direction="maximize",
        space=space,
        estimator=given.estimator,
    )
    ways: dict[str, Shares] = {"published": published}
    ways["f-ANOVA by counts"] = {task: a.effects().shares for task, a in x.analyses.items()}
    if given.forest:
        ways["f-ANOVA by forest"] = {
            task: pa.forest_effects(a.data.observed(), threads=None).shares for task, a in x.analyses.items()
        }
    ways["PED, best 10 %"] = {task: answer.shares for task, answer in x.answers.items()}
    reference = means_of(published, names)
    order = sorted(names, key=lambda name: -reference[name])
    print(f"{'':<20}" + "".join(f"{name:>16}" for name in order) + "   Spearman  first two")
    for way, shares in ways.items():
        means = means_of(shares, names)
        ranks = dict(zip(names, ranks_of(shares, names), strict=True))
        both = [np.array([one[name] for name in order]) for one in (reference, means)]
        ours = sorted(names, key=lambda name: -means[name])
        same = "same" if ours[:2] == order[:2] else ", ".join(ours[:2])
        cells = "".join(f"{100 * means[name]:8.1f} % ({ranks[name]:.1f})" for name in order)
        print(f"{way:<20}{cells}   {spearman(*both):8.2f}  {same}")
    by_task = [
        spearman(*(np.array([one[task][name] for name in names]) for one in (published, ways["f-ANOVA by counts"])))
        for task in published
        if task in ways["f-ANOVA by counts"]
    ]
    print(f"\ntasks in both: {len(by_task)}; median Spearman within a task: {np.median(by_task):.2f}\n")
    print(x)
    print(f"\n{x.ranks}")
    for note in x.notes:
        print(f"- {note}")


if __name__ == "__main__":
    main()
