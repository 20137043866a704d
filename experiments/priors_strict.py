"""Can a prior be slower than uniform search in a tenth of the tasks at most? ``experiments/priors_strict.py DATA``.

Of the 100 tasks of openml_adaboost every one is searched with what the other 99 say, in two families of ways that go
beyond those of benchmarks/priors.py: only some of the parameters speak; and a mixture of the studies' own products of
densities, whose weights are learned from how well each study serves the other 98. The losses of a task there weigh
exp(-beta * gain), so that for a large beta the tasks that lose decide.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from priors import tasks_of

from pedanova.measures.studies.prior import SearchPrior, prior_of
from pedanova.measures.studies.worth import Compared, compared, ratios_for, rows_of

TRIALS, BEST = 50, 0.02  # the best of 50 uniform draws is among the best 2 %
STEPS = 300


@dataclass(frozen=True)
class Task:
    """One task's rows: objective, what the others say of each row, what each single study says, uniform search."""

    signed: NDArray[np.float64]  # (rows,)
    others: NDArray[np.float64]  # (rows, parameters) log lifts
    alone: NDArray[np.float64]  # (studies, rows) log lifts, summed over parameters
    uniform: Compared


def read(folder: Path) -> list[Task]:
    studies = tasks_of(folder)
    prior = prior_of(studies, strength=1.0, safety=0.0)
    single = [prior_of({name: a}, strength=1.0, safety=0.0) for name, a in studies.items()]
    found = []
    for name, a in studies.items():
        few = rows_of(a)

        def logs(one: SearchPrior) -> NDArray[np.float64]:
            ratios = ratios_for(one, a.space)  # noqa: B023  (called at once)
            return np.stack([np.log(ratios[row.name][few.cells[row.name]]) for row in prior.rows], axis=1)  # noqa: B023

        alone = np.stack([logs(one).sum(axis=1) for one in single])
        even = compared(few.signed, np.ones(len(few)), TRIALS)
        found.append(Task(few.signed, logs(prior.without(name)), alone, even))
    return found


def judged(tasks: list[Task], weights: list[NDArray[np.float64]]) -> str:
    found = [compared(task.signed, one, TRIALS) for task, one in zip(tasks, weights, strict=True)]
    slower = sum(one.trials > task.uniform.trials for one, task in zip(found, tasks, strict=True))
    safe = sum(one.best <= task.uniform.best for one, task in zip(found, tasks, strict=True))
    return f"{np.median([one.trials for one in found]):g} trials, slower in {slower}, no worse (best of 50) in {safe}"


def mixed(weights: NDArray[np.float64], safety: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (1.0 - safety) * weights / weights.mean() + safety
    return found


def by_parameters(tasks: list[Task]) -> None:
    for strengths in product((0.0, 0.7), repeat=tasks[0].others.shape[1]):
        print("strengths", *strengths, judged(tasks, [mixed(np.exp(t.others @ strengths), 0.3) for t in tasks]))


def by_mixture(tasks: list[Task], strength: float, beta: float) -> None:
    """Multiplicative steps towards the weights that lose least, without the task itself."""
    drawn = [np.exp(strength * task.alone) for task in tasks]
    drawn = [one / one.mean(axis=1, keepdims=True) for one in drawn]
    tops = [task.signed <= np.quantile(task.signed, BEST, method="higher") for task in tasks]
    gains = np.stack([one[:, top].mean(axis=1) for one, top in zip(drawn, tops, strict=True)], axis=1)
    np.fill_diagonal(gains, 0.0)  # nobody is judged by itself
    weights = []
    for place, own in enumerate(drawn):
        kept = np.arange(len(tasks)) != place
        known = gains[np.ix_(kept, kept)]
        parts = np.full(len(known), 1.0 / len(known))
        for _ in range(STEPS):
            parts *= known @ np.exp(-beta * (parts @ known - 1.0))
            parts /= parts.sum()
        weights.append(parts @ own[kept])
    print(f"mixture, strength {strength}, beta {beta}:", judged(tasks, weights), flush=True)


def main() -> None:
    tasks = read(Path(sys.argv[1]))
    by_parameters(tasks)
    for strength, beta in product((0.35, 0.5, 0.7), (3.0, 6.0, 10.0, 16.0)):
        by_mixture(tasks, strength, beta)


if __name__ == "__main__":
    main()
