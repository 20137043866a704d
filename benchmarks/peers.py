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
from importlib.util import find_spec

import numpy as np
from shared import Lines, options_of, optuna_study, tunability

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


def make(case: str, rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    table: dict[str, np.ndarray] = {name: random.random(rows) for name in NAMES[:3]}
    table["d"] = random.choice(LEVELS, rows)
    return table, CASES[case](table, random)


def ask_pedanova(table: Table, objective: np.ndarray, **question: object) -> Parts:
    space = {name: pa.Float(0, 1) for name in NAMES[:3]} | {"d": pa.Categorical(LEVELS)}
    found = pa.analyze(dict(table), objective, space=space).importance(**question)
    return {name: row.ratio if row.significant else 0.0 for name, row in found.items()}


def ask_inside(table: Table, objective: np.ndarray) -> Parts:
    """Among the better half: what makes the last step?"""
    return ask_pedanova(table, objective, target=0.1, region=0.5)


def ask_forest(table: Table, objective: np.ndarray) -> Parts:
    space = {name: pa.Float(0, 1) for name in NAMES[:3]} | {"d": pa.Categorical(LEVELS)}
    a = pa.analyze(dict(table), objective, space=space)
    return dict(pa.forest_effects(a.data.observed(), threads=None).ratios)


def study_of(table: Table, objective: np.ndarray) -> object:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    kinds = {name: FloatDistribution(0, 1) for name in NAMES[:3]} | {"d": CategoricalDistribution(LEVELS)}
    return optuna_study({name: column.tolist() for name, column in table.items()}, kinds, objective.tolist())


def ask_optuna(evaluator: str) -> Callable[[Table, np.ndarray], Parts]:
    def ask(table: Table, objective: np.ndarray) -> Parts:
        import optuna

        kind = getattr(optuna.importance, evaluator)
        how = {} if evaluator.startswith("Ped") else {"seed": 0}
        return dict(optuna.importance.get_param_importances(study_of(table, objective), evaluator=kind(**how)))

    return ask


def ask_hypershap(table: Table, objective: np.ndarray) -> Parts:
    from ConfigSpace import Categorical, Float

    parameters = [*(Float(name, (0.0, 1.0)) for name in NAMES[:3]), Categorical("d", LEVELS)]
    return tunability(parameters, {name: column.tolist() for name, column in table.items()}, objective.tolist())


PEERS: dict[str, tuple[str, Callable[[Table, np.ndarray], Parts]]] = {
    "pedanova (what is noise: 0)": ("pedanova", ask_pedanova),
    "pedanova, best 10 % in the better half": ("pedanova", ask_inside),
    "pedanova, forest f-ANOVA": ("sklearn", ask_forest),
    "Optuna PED-ANOVA": ("optuna", ask_optuna("PedAnovaImportanceEvaluator")),
    "Optuna f-ANOVA": ("optuna", ask_optuna("FanovaImportanceEvaluator")),
    "Optuna MDI": ("optuna", ask_optuna("MeanDecreaseImpurityImportanceEvaluator")),
    "HyperSHAP tunability": ("hypershap", ask_hypershap),
}


def score(
    ask: Callable[[Table, np.ndarray], Parts], case: str, rows: int, seeds: int
) -> tuple[list[Parts], float, str]:
    """What was answered seed by seed, the seconds of the processor, and why it was not."""
    answers, spent = [], []
    for seed in range(seeds):
        table, objective = make(case, rows, seed)
        begin = time.process_time()
        try:
            answers.append(ask(table, objective))
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
