"""The accuracy league: who comes nearest to the truth of a complete table from a sample of it?

    python benchmarks/accuracy.py DATA_DIR [--seeds 30] [--rows 50,100,…] [--tables …] [--jobs 2] [-o DIR]

DATA_DIR holds complete benchmark tables, ``NAME.parquet`` with a ``NAME.json`` of the space. The
truth is the plain histogram of the whole table: the best 10 % in all rows, and the best 1 % in the
best 10 %. Every method sees the same sample, drawn uniformly or by Optuna's TPE on the table.

Scores, mean over seeds: L1 error of the ratios, error of the summed share, Kendall's τ of the
ranking, how often the first parameter is the right one, how often the 95 % interval of a share
holds the truth, and how often a column of pure noise is called significant. Answers from fewer
than five target rows are shown too, but apart: there pedanova's counts refuse to answer.

The raw scores go to ``DIR/accuracy.csv`` as they come; a run that is begun again goes on from there.
``--report`` alone prints the table and draws the figure from that file.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # each process has one core

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import pedanova as pa
from pedanova.errors import QueryError

TABLES = (
    "hpobench_car", "hpobench_phoneme", "hpolib_naval_propulsion", "hpolib_slice_localization",
    "nasbench201_cifar10", "jahs_thesis_cifar10_lattice",
)  # fmt: skip
QUESTIONS = ((0.1, 1.0), (0.01, 0.1))
SIZES = (50, 100, 200, 500, 1000, 3000)
SLOW = ("optuna",)  # answered for fewer rows only where noted
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """A complete table: codes are made on demand, the objective is to be minimised."""

    name: str
    names: tuple[str, ...]
    choices: tuple[tuple[object, ...], ...]
    fields: dict[str, dict[str, object]]
    objective: Reals
    codes: NDArray[np.int8] | None  # None: rows in product order

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(choices) for choices in self.choices)

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """(rows, parameters) The code of every value."""
        if self.codes is not None:
            return self.codes[rows].astype(np.int64)
        return np.stack(np.unravel_index(rows, self.sizes), axis=1)

    def space(self) -> dict[str, pa.space.Parameter]:
        """Lattices are ordinals, as pedanova's documentation says."""
        return {
            name: pa.Ordinal(choices) if "grid" in self.fields[name] else pa.Categorical(choices)
            for name, choices in zip(self.names, self.choices, strict=True)
        }

    def columns(self, rows: NDArray[np.int64]) -> dict[str, object]:
        codes = self.at(rows)
        return {name: [self.choices[j][c] for c in codes[:, j]] for j, name in enumerate(self.names)}


@lru_cache(maxsize=1)
def read_table(folder: Path, name: str) -> Table:
    facts = json.loads((folder / f"{name}.json").read_text())
    fields = facts["space"]
    choices = tuple(tuple(f.get("grid") or f["choices"]) for f in fields.values())
    goal = facts["objectives"][facts["main_objective"]]
    sign = -1.0 if goal["direction"] == "maximize" else 1.0
    table = pq.read_table(folder / f"{name}.parquet")
    if name.endswith("_lattice"):
        return Table(
            name, tuple(fields), choices, fields, sign * table[0].to_numpy().astype(np.float64), None
        )
    seeds = np.stack([table[column].to_numpy() for column in goal["columns"]])
    codes = np.stack(
        [
            np.array([{v: i for i, v in enumerate(values)}[v] for v in table[key].to_pylist()], dtype=np.int8)
            for key, values in zip(fields, choices, strict=True)
        ],
        axis=1,
    )
    return Table(name, tuple(fields), choices, fields, sign * np.nanmean(seeds, axis=0), codes)


def best(objective: Reals, part: float) -> float:
    """The objective that ends the best part of the rows."""
    rank = math.ceil(round(part * len(objective), 9))
    return float(np.partition(objective, rank - 1)[rank - 1])


def divergences(codes: Callable[[NDArray[np.int64]], NDArray[np.int64]], objective: Reals, sizes: tuple[int, ...],
                question: tuple[float, float]) -> Reals:  # fmt: skip
    """PED of every parameter by plain counts."""
    target, region = (np.flatnonzero(objective <= best(objective, part)) for part in question)
    found = np.zeros(len(sizes))
    inner, outer = codes(target), codes(region)
    for j, size in enumerate(sizes):
        wanted = np.bincount(inner[:, j], minlength=size) / len(target)
        known = np.bincount(outer[:, j], minlength=size) / len(region)
        held = known > 0
        found[j] = np.sum(wanted[held] ** 2 / known[held]) - 1.0
    return found


def truth(folder: Path, table: Table, keep: Path) -> Reals:
    """(questions, parameters) PED of the whole table."""
    path = keep / f"{table.name}.truth.json"
    if path.exists():
        return np.array(json.loads(path.read_text()))
    found = [divergences(table.at, table.objective, table.sizes, question) for question in QUESTIONS]
    path.write_text(json.dumps([row.tolist() for row in found]))
    return np.array(found)


def ratios(values: Reals) -> Reals:
    floored = np.maximum(values, 0.0)
    return floored / floored.sum() if floored.sum() > 0 else np.full(len(values), 1.0 / len(values))


# --- samples ---------------------------------------------------------------------------------------


def sample(table: Table, sampler: str, rows: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng([seed, rows])
    if sampler == "uniform":
        return rng.choice(len(table.objective), rows, replace=False)
    return by_tpe(table, rows, seed)


def by_tpe(table: Table, rows: int, seed: int) -> NDArray[np.int64]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    strides = np.cumprod([1, *table.sizes[::-1]])[-2::-1]
    place = None if table.codes is None else np.argsort(table.codes @ strides, kind="stable")
    taken = []
    for _ in range(rows):
        trial = study.ask()
        codes = [
            trial.suggest_int(name, 0, size - 1) if "grid" in table.fields[name]
            else trial.suggest_categorical(name, list(range(size)))
            for name, size in zip(table.names, table.sizes, strict=True)
        ]  # fmt: skip
        row = int(np.dot(codes, strides))
        row = row if place is None else int(place[row])
        taken.append(row)
        study.tell(trial, float(table.objective[row]))
    return np.array(taken)


# --- methods ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    ratios: Reals
    shares: Reals | None = None
    low: Reals | None = None
    high: Reals | None = None


@lru_cache(maxsize=1)
def analysis(name: str, rows: bytes) -> pa.Analysis:
    """The sample counted once for all of pedanova's methods."""
    table, chosen = current[name], np.frombuffer(rows, dtype=np.int64)
    return pa.analyze(table.columns(chosen), table.objective[chosen], space=table.space())


current: dict[str, Table] = {}


def by_pedanova(
    table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]], estimator: str
) -> Iterator[Answer]:
    current[table.name] = table
    a = analysis(table.name, rows.tobytes())
    for question in questions:
        try:
            found = a.importance(*question, estimator=estimator, force=True)
        except QueryError:  # the model was refused
            return
        in_order = [found[name] for name in table.names]
        yield Answer(
            np.array([row.ratio for row in in_order]),
            *(np.array([getattr(row, key) for row in in_order]) for key in ("share", "low", "high")),
        )


def by_histogram(
    table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]]
) -> Iterator[Answer]:
    codes = table.at(rows)
    for target, region in questions:
        found = divergences(lambda at: codes[at], table.objective[rows], table.sizes, (target, region))
        yield Answer(ratios(found), found * target / (region - target))


def study_of(table: Table, rows: NDArray[np.int64]) -> object:
    """The sample as an Optuna user would have it: ranges for lattices."""
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = {}
    for name, f in table.fields.items():
        if "grid" not in f:
            kinds[name] = CategoricalDistribution(f["choices"])
        else:
            kind = IntDistribution if f["type"] == "int" else FloatDistribution
            kinds[name] = kind(f["low"], f["high"], log=bool(f["log"]))
    codes = table.at(rows)
    study = optuna.create_study()
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={name: table.choices[j][code[j]] for j, name in enumerate(table.names)},
                distributions=kinds,
                value=float(table.objective[row]),
            )
            for row, code in zip(rows, codes, strict=True)
        ]
    )
    return study


def by_optuna(
    table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]]
) -> Iterator[Answer]:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    study = study_of(table, rows)
    for target, region in questions:
        evaluator = PedAnovaImportanceEvaluator(target_quantile=target, region_quantile=region)
        found = get_param_importances(study, evaluator=evaluator)
        yield Answer(ratios(np.array([found.get(name, 0.0) for name in table.names])))


def by_forest(
    table: Table, rows: NDArray[np.int64], questions: list[tuple[float, float]]
) -> Iterator[Answer]:
    """Random-forest f-ANOVA of the objective itself: it knows no target, so every question gets the same."""
    a = pa.analyze(table.columns(rows), table.objective[rows], space=table.space())
    found = a.forest(pairs=False, trees=32)
    for _ in questions:
        yield Answer(np.array([found[name].ratio for name in table.names]))


METHODS: dict[str, Callable[..., Iterator[Answer]]] = {
    "auto": lambda *given: by_pedanova(*given, "auto"),
    "counts": lambda *given: by_pedanova(*given, "counts"),
    "surrogate": lambda *given: by_pedanova(*given, "surrogate"),
    "optuna": by_optuna,
    "optuna, shuffled": lambda table, rows, questions: by_optuna(
        shuffled(table, rows), np.arange(len(rows)), questions
    ),
    "histogram": by_histogram,
    "forest": by_forest,
}


def shuffled(table: Table, rows: NDArray[np.int64]) -> Table:
    """The sample with the objectives of its best 10 % in random order: nothing is left to learn about
    the best 1 % among them, and whoever still comes near the truth does so by another way."""
    rng = np.random.default_rng(int(rows.sum()))
    objective = table.objective[rows].copy()
    top = np.flatnonzero(objective <= best(objective, 0.1))
    objective[top] = objective[rng.permutation(top)]
    return Table(
        table.name, table.names, table.choices, table.fields, objective, table.at(rows).astype(np.int8)
    )


NOISE = {
    "noise float": lambda rng, n: (rng.random(n), pa.Float(0, 1)),
    "noise int": lambda rng, n: (rng.integers(1, 51, n), pa.Int(1, 50)),
    "noise 3-way": lambda rng, n: (rng.choice(list("abc"), n), pa.Categorical(list("abc"))),
    "noise 20-way": lambda rng, n: (
        rng.choice([f"c{i}" for i in range(20)], n), pa.Categorical([f"c{i}" for i in range(20)])
    ),
}  # fmt: skip


def false_alarms(
    table: Table, rows: NDArray[np.int64], seed: int
) -> Iterator[tuple[str, str, tuple[float, float], bool]]:
    """Which columns of noise are called significant at level 0.05, one at a time."""
    rng = np.random.default_rng([seed, 7])
    columns, space = table.columns(rows), table.space()
    for kind, make in NOISE.items():
        columns[kind], space[kind] = make(rng, len(rows))
    a = pa.analyze(columns, table.objective[rows], space=space)
    for estimator in ("auto", "counts"):
        for question in QUESTIONS:
            found = a.importance(*question, estimator=estimator, force=True)
            for kind in NOISE:
                yield estimator, kind, question, (found[kind].p_value or 0.0) <= 0.05


# --- one sample ------------------------------------------------------------------------------------

HEADER = ["table", "sampler", "rows", "seed", "method", "question", "target_rows", "l1", "share_error", "tau",
          "first", "covered", "seconds", "alarm"]  # fmt: skip


def score(folder: Path, keep: Path, name: str, sampler: str, size: int, seed: int) -> list[list[object]]:
    warnings.filterwarnings("ignore", module="optuna")
    table = read_table(folder, name)
    exact = truth(folder, table, keep)
    rows = sample(table, sampler, size, seed)
    lines: list[list[object]] = []
    for method, answer in METHODS.items():
        if skipped(method, sampler, size):
            continue
        start = time.perf_counter()
        for question, found, true in zip(
            QUESTIONS, answer(table, rows, list(QUESTIONS)), exact, strict=False
        ):
            spent = time.perf_counter() - start
            place = [name, sampler, size, seed, method, f"{question[0]} in {question[1]}"]
            lines.append(
                [*place, target_rows(table, rows, question), *scores(found, true, question), spent, ""]
            )
            start = time.perf_counter()
    if seed < 10:
        for estimator, kind, question, alarm in false_alarms(table, rows, seed):
            place = [name, sampler, size, seed, estimator, f"{question[0]} in {question[1]}"]
            lines.append([*place, target_rows(table, rows, question), *[""] * 6, f"{kind}:{int(alarm)}"])
    return lines


def skipped(method: str, sampler: str, size: int) -> bool:
    return (method == "optuna, shuffled" and sampler != "uniform") or (
        method == "surrogate" and sampler == "uniform" and size > 3000
    )


def target_rows(table: Table, rows: NDArray[np.int64], question: tuple[float, float]) -> int:
    objective = table.objective[rows]
    return int(np.sum(objective <= best(objective, question[0])))


def scores(found: Answer, true: Reals, question: tuple[float, float]) -> list[object]:
    right = ratios(true)
    shares = true * question[0] / (question[1] - question[0])
    error = "" if found.shares is None else float(np.maximum(found.shares, 0.0).sum() - shares.sum())
    covered: object = ""
    if found.low is not None and found.high is not None:
        covered = float(np.mean((found.low <= shares) & (shares <= found.high)))
    return [
        float(np.abs(found.ratios - right).sum()), error, kendall(found.ratios, right),
        int(np.argmax(found.ratios) == np.argmax(right)), covered,
    ]  # fmt: skip


def kendall(one: Reals, two: Reals) -> float:
    """τ over all pairs; a tie counts half."""
    signs = [np.sign(one[i] - one[j]) * np.sign(two[i] - two[j]) for i in range(len(one)) for j in range(i)]
    return float(np.mean(signs))


# --- the run ---------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    path = options.output / "accuracy.csv"
    done = {tuple(line[:4]) for line in read_lines(path)} if path.exists() else set()
    if not path.exists():
        path.write_text(",".join(HEADER) + "\n")
    for name in options.tables:  # truths first: the processes share them
        truth(options.folder, read_table(options.folder, name), options.output)
    work = [
        (name, sampler, size, seed)
        for seed in range(options.seeds)
        for name in options.tables
        for size in options.rows
        for sampler in options.samplers
        if (name, sampler, str(size), str(seed)) not in done
        and (sampler == "uniform" or seed < options.tpe_seeds)
    ]
    with ProcessPoolExecutor(options.jobs) as pool, path.open("a", newline="") as file:
        writer = csv.writer(file)
        waiting = [
            pool.submit(score, options.folder, options.output, *job)
            for job in sorted(work, key=lambda j: j[3])
        ]
        for i, future in enumerate(as_completed(waiting), 1):
            writer.writerows(future.result())
            file.flush()
            print(f"\r{i} of {len(waiting)} samples", end="", file=sys.stderr)


def read_lines(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def report(options: argparse.Namespace) -> None:
    lines = [dict(zip(HEADER, line, strict=True)) for line in read_lines(options.output / "accuracy.csv")]
    for sampler in options.samplers:
        for target, region in QUESTIONS:
            question = f"{target} in {region}"
            mine = [ln for ln in lines if ln["sampler"] == sampler and ln["question"] == question]
            print(
                f"\n## {question}, sampled {'uniformly' if sampler == 'uniform' else 'by TPE'}: mean L1 error of the ratios\n"
            )
            print_scores(mine, "l1")
            print_others(mine)
    print_alarms([ln for ln in lines if ln["alarm"]])
    draw(lines, options.output / "accuracy.png")


def print_scores(lines: list[dict[str, str]], key: str) -> None:
    groups: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    few: dict[tuple[str, int], list[int]] = defaultdict(list)
    for ln in lines:
        if ln[key] != "":
            groups[ln["table"], int(ln["rows"])][ln["method"]].append(float(ln[key]))
            few[ln["table"], int(ln["rows"])].append(int(ln["target_rows"]))
    methods = [method for method in METHODS if any(method in found for found in groups.values())]
    print(f"{'table':<28}{'rows':>6}{'seeds':>6}" + "".join(f"{m:>18}" for m in methods))
    for (name, size), found in sorted(groups.items()):
        rivals = [np.mean(found[m]) for m in ("optuna", "histogram") if m in found]
        mark = " " if not rivals or np.mean(found["auto"]) < min(rivals) else "!"
        mark = "·" if np.mean(few[name, size]) < 5 else mark
        cells = "".join(f"{np.mean(found[m]):>18.3f}" if m in found else f"{'':>18}" for m in methods)
        print(f"{name:<28}{size:>6}{len(found['auto']):>6}{cells} {mark}")


def print_others(lines: list[dict[str, str]]) -> None:
    print(
        f"\n{'rows':>6} {'method':<18}{'share error':>12}{'tau':>8}{'first':>8}{'covered':>9}{'seconds':>9}"
    )
    for size in sorted({int(ln["rows"]) for ln in lines}):
        for method in METHODS:
            own = [ln for ln in lines if ln["method"] == method and int(ln["rows"]) == size and ln["l1"]]
            if own:
                cells = [mean_of(own, key) for key in ("share_error", "tau", "first", "covered", "seconds")]
                widths = (12, 8, 8, 9, 9)
                print(
                    f"{size:>6} {method:<18}"
                    + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))
                )


def mean_of(lines: list[dict[str, str]], key: str) -> str:
    values = [abs(float(ln[key])) if key == "share_error" else float(ln[key]) for ln in lines if ln[key]]
    return f"{np.mean(values):.3f}" if values else ""


def print_alarms(lines: list[dict[str, str]]) -> None:
    groups: dict[tuple[str, str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for ln in lines:
        kind, alarm = ln["alarm"].split(":")
        groups[ln["sampler"], ln["method"], ln["question"]][kind].append(int(alarm))
    print("\n## Columns of pure noise called significant at level 0.05\n")
    for place, kinds in sorted(groups.items()):
        shown = "  ".join(f"{kind} {np.mean(found):.1%} of {len(found)}" for kind, found in kinds.items())
        print(f"{place[0]:<8} {place[1]:<8} {place[2]:<12} {shown}")


def draw(lines: list[dict[str, str]], path: Path) -> None:
    """L1 error over the rows, a panel for every table and question."""
    try:
        import matplotlib
    except ImportError:
        print("\n(no figure: matplotlib is not installed)")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = [name for name in TABLES if any(ln["table"] == name for ln in lines)]
    figure, axes = plt.subplots(2, len(names), figsize=(3.1 * len(names), 5.6), sharex=True, squeeze=False)
    shown = {
        "auto": "#0072b2",
        "counts": "#56b4e9",
        "optuna": "#d55e00",
        "histogram": "#888888",
        "forest": "#009e73",
    }
    for column, name in enumerate(names):
        for row, (target, region) in enumerate(QUESTIONS):
            ax = axes[row][column]
            for method, colour in shown.items():
                points = curve(lines, name, f"{target} in {region}", method)
                width = 2.4 if method == "auto" else 1.2
                ax.plot(
                    [p[0] for p in points],
                    [p[1] for p in points],
                    "o-",
                    ms=3,
                    lw=width,
                    color=colour,
                    label=method,
                )
            ax.set_xscale("log")
            ax.set_ylim(0, None)
            ax.set_title(f"{name}\n{target} in {region}", fontsize=8)
    axes[0][0].set_ylabel("L1 error of the ratios")
    axes[0][-1].legend(fontsize=7)
    figure.supxlabel("rows sampled uniformly", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    print(f"\nfigure: {path}")


def curve(lines: list[dict[str, str]], name: str, question: str, method: str) -> list[tuple[int, float]]:
    found: dict[int, list[float]] = defaultdict(list)
    for ln in lines:
        if (ln["table"], ln["question"], ln["method"], ln["sampler"]) == (
            name,
            question,
            method,
            "uniform",
        ) and ln["l1"]:
            found[int(ln["rows"])].append(float(ln["l1"]))
    return [(size, float(np.mean(values))) for size, values in sorted(found.items())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--tpe-seeds", type=int, default=10)
    parser.add_argument("--rows", type=lambda text: [int(n) for n in text.split(",")], default=list(SIZES))
    parser.add_argument("--tables", type=lambda text: text.split(","), default=list(TABLES))
    parser.add_argument("--samplers", type=lambda text: text.split(","), default=["uniform", "tpe"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--report", action="store_true", help="print what is there, run nothing")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/accuracy"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if not options.report:
        run(options)
    report(options)


if __name__ == "__main__":
    main()
