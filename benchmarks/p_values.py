"""How often p-values call noise significant, and how often what decides: on generated studies.

    python benchmarks/p_values.py [--samples 300] [--rows 50,100,200] [--designs "noise,TPE"] [--target 0.1]

A table is called noise-free where Holm's correction over its parameters marks none that does nothing.
`alarms` is the part of the tables with such a mark (at most 7 % are wanted), `raw` the part of the
single tests of noise with p ≤ 0.05, `power` the part of the tables in which what decides is marked.
Targets: a part of all rows, `0.01in0.1`, or `0.1to0.3` for a band. After a sampler that adapts (`TPE`)
scores are permuted among neighbouring trials where the evidence says so, once with the numbers of the
trials and once without. The last column is CPU milliseconds a table.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from shared import options_of

# isort: split
import numpy as np
from designs import DESIGNS, Study

import pedanova as pa
from pedanova.counting.few_rows import few_rows
from pedanova.measures.chance.dependence import dependence_of
from pedanova.measures.chance.permutation_test import PermutationTest
from pedanova.measures.chance.ranked_rows import RankedRows, ranked_rows
from pedanova.measures.distributions import LEVEL, holm
from pedanova.measures.surrogate.sampler import configurations_of, sampler_of


@dataclass(frozen=True, slots=True)
class Rates:
    """Over many tables of one design."""

    alarms: float
    raw: float
    power: float
    milliseconds: float

    def printed(self) -> str:
        return f"{self.alarms:7.1%} {self.raw:7.1%} {self.power:7.1%} {self.milliseconds:7.1f}"


def as_rows(study: Study, *, numbered: bool) -> RankedRows:
    observed = pa.analyze(study.columns, study.loss, space=study.space).data.observations
    rows = np.arange(len(study.loss))
    few = few_rows(observed, rows)
    trials = rows.astype(np.float64) if study.ordered and numbered else None
    return ranked_rows(observed.space, replace(few, trials=trials))


def masks(rows: int, target: str) -> tuple[Any, Any]:
    """Target and region: `0.1`, `0.01in0.1`, `0.1to0.3`."""
    places = np.arange(rows)
    if "in" in target:
        inner, outer = (float(part) for part in target.split("in"))
        return places < round(inner * rows), places < round(outer * rows)
    if "to" in target:
        first, last = (float(part) for part in target.split("to"))
        return (places >= round(first * rows)) & (places < round(last * rows)), None
    return places < -(-rows * float(target) // 1), None


def simulate(name: str, rows: int, samples: int, target: str = "0.1", *, numbered: bool = True) -> Rates:
    alarms, raw, power, spent = [], [], [], 0.0
    for seed in range(samples):
        study = DESIGNS[name](np.random.default_rng([seed, rows, 15]), rows)
        ranked = as_rows(study, numbered=numbered)
        inside, region = masks(rows, target)
        began = time.process_time()
        dependence = dependence_of(ranked)
        blocks = study.ordered and sampler_of(configurations_of(ranked), dependence).adaptive
        found = PermutationTest(ranked, dependence).p_values(inside, region, blocks=blocks)
        spent += time.process_time() - began
        adjusted = dict(zip(found, holm(list(found.values())), strict=True))
        alarms.append(any(adjusted[noise] <= LEVEL for noise in study.noise))
        raw += [found[noise] <= LEVEL for noise in study.noise]
        power.append(all(adjusted[one] <= LEVEL for one in study.decides) if study.decides else np.nan)
    return Rates(float(np.mean(alarms)), float(np.mean(raw)), float(np.mean(power)), 1000.0 * spent / samples)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--rows", default="50,100,200")
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--target", default="0.1")
    given = parser.parse_args()
    print(f"{'design':26} {'rows':>6} {'alarms':>7} {'raw':>7} {'power':>7} {'ms':>7}   target {given.target}")
    for name in given.designs.split(","):
        for rows in map(int, given.rows.split(",")):
            ways = {name: True, f"{name}, no numbers": False} if name == "TPE" else {name: True}
            for shown, numbered in ways.items():
                rates = simulate(name, rows, given.samples, given.target, numbered=numbered)
                print(f"{shown:26} {rows:6} {rates.printed()}", flush=True)


if __name__ == "__main__":
    main()
