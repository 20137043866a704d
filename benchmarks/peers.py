"""What others answer on tables whose truth is known by construction, beside pedanova.

    python benchmarks/peers.py [--rows 200] [--seeds 5] [--cases cliff …]

Each gets the same uniform trials with the settings it has by default, and says how important it takes each
parameter for, as parts of one. Who is not installed is left out. Time is that of the processor, as a multiple of
pedanova's answer with intervals and p-values.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec

import numpy as np
from samples import Sample, study_of, tunability_of
from shared import Lines, options_of, optuna_parts

import pedanova as pa

Table = Mapping[str, np.ndarray]
Parts = dict[str, float]
NAMES = ("a", "b", "c", "d")
LEVELS = ["p", "q", "r", "s"]


def noise(table: Table, random: np.random.Generator) -> np.ndarray:
    """Nothing matters."""
    return random.random(len(table["a"]))


def cliff(table: Table, random: np.random.Generator) -> np.ndarray:
    """`a` above 0.7 ruins everything; below it `b` alone decides."""
    return 100.0 * (table["a"] > 0.7) + (table["b"] - 0.5) ** 2 + 0.001 * random.random(len(table["a"]))


def twins(table: Table, random: np.random.Generator) -> np.ndarray:
    """A range and a category with the same four effects: by symmetry a half each."""
    effect = np.array([0.0, 1.0, 2.0, 3.0])
    codes = np.array([LEVELS.index(name) for name in table["d"]])
    return effect[(4 * table["a"]).astype(int)] + effect[codes] + 0.01 * random.random(len(codes))


def diverged(table: Table, random: np.random.Generator) -> np.ndarray:
    """Beyond 0.5 of `a` every run ends without a finite value; `b` matters a little before."""
    return np.where(table["a"] > 0.5, np.inf, 0.1 * table["b"] + 0.01 * random.random(len(table["a"])))


CASES = {function.__name__: function for function in (noise, cliff, twins, diverged)}
SPACE = {name: pa.Float(0, 1) for name in NAMES[:3]} | {"d": pa.Categorical(LEVELS)}


def make(case: str, rows: int, seed: int) -> Sample:
    random = np.random.default_rng(seed)
    table: dict[str, np.ndarray] = {name: random.random(rows) for name in NAMES[:3]}
    table["d"] = random.choice(LEVELS, rows)
    return Sample(SPACE, table, CASES[case](table, random))


def analyzed(sample: Sample) -> pa.Analysis:
    return pa.analyze(sample.columns, sample.objective, space=SPACE)


def ask_pedanova(sample: Sample, **question: object) -> Parts:
    found = analyzed(sample).importance(**question)
    return {name: row.ratio if row.significant else 0.0 for name, row in found.items()}


def ask_forest(sample: Sample) -> Parts:
    return dict(pa.forest_effects(analyzed(sample).data.observed(), threads=None).ratios)


def ask_optuna(sample: Sample, evaluator: str) -> Parts:
    how = {} if evaluator == "PedAnova" else {"seed": 0}
    return optuna_parts(study_of(sample, "ranges"), evaluator, **how)


PEERS: dict[str, tuple[str, Callable[[Sample], Parts]]] = {
    "pedanova (what is noise: 0)": ("pedanova", ask_pedanova),
    "pedanova, best 10 % in the better half": ("pedanova", partial(ask_pedanova, target=0.1, region=0.5)),
    "pedanova, forest f-ANOVA": ("sklearn", ask_forest),
    "Optuna PED-ANOVA": ("optuna", partial(ask_optuna, evaluator="PedAnova")),
    "Optuna f-ANOVA": ("optuna", partial(ask_optuna, evaluator="Fanova")),
    "Optuna MDI": ("optuna", partial(ask_optuna, evaluator="MeanDecreaseImpurity")),
    "HyperSHAP tunability": ("hypershap", tunability_of),
}


def score(ask: Callable[[Sample], Parts], case: str, rows: int, seeds: int) -> tuple[list[Parts], float, str]:
    """What was answered seed by seed, the seconds of the processor, and why it was not."""
    answers, spent = [], []
    for seed in range(seeds):
        sample = make(case, rows, seed)
        begin = time.process_time()
        try:
            answers.append(ask(sample))
        except Exception as error:  # a refusal is an answer too
            return [], 0.0, f"{type(error).__name__}: {str(error).splitlines()[0][:70]}"
        spent.append(time.process_time() - begin)
    return answers, statistics.median(spent), ""


def cells_of(answers: list[Parts], spent: float, unit: float) -> list[str]:
    middle = [statistics.median(one.get(name, 0.0) for one in answers) for name in NAMES]
    most = statistics.median(max(one.values(), default=0.0) for one in answers)
    return [*(f"{value:.2f}" for value in (*middle, most)), f"{spent / unit:.1f}"]


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cases", nargs="*", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for case in options.cases:
        print(
            f"\n{case}: {(CASES[case].__doc__ or '').strip()} Medians of {options.seeds} tables of {options.rows} rows."
        )
        lines = Lines("who", *NAMES, "largest", "CPU time", first=40)
        unit = 0.0
        for peer, (module, ask) in PEERS.items():
            if find_spec(module) is None:
                continue
            answers, spent, why = score(ask, case, options.rows, options.seeds)
            unit = unit or spent
            lines.row(peer, *(cells_of(answers, spent, unit) if answers else [why, *[""] * 5]))


if __name__ == "__main__":
    main()
