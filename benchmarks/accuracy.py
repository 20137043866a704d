"""The accuracy league: who comes nearest to the truth of a complete table from a sample of it?

    python benchmarks/accuracy.py DATA_DIR [--seeds 30] [--rows 50,100,…] [--tables …] [--methods …] [--jobs 2] [-o DIR]

DATA_DIR holds complete benchmark tables, ``NAME.parquet`` with a ``NAME.json`` of the space. The
truth is the plain histogram of the whole table: the best 10 % in all rows, and the best 1 % in the
best 10 %. Every method sees the same sample, drawn uniformly or by Optuna's TPE on the table.

Scores, mean over seeds: L1 error of the ratios, error of the summed share, Kendall's τ of the
ranking, how often the first parameter is the right one, how often the 95 % interval of a share
holds the truth (of all shares, and of those above 2 %), and how often a column of pure noise is called
significant. Optuna is given lattices as ranges, as codes and as categories, with both of its baselines,
and in each cell the one that errs least in the mean is its score. Answers from fewer
than five target rows are shown too, but apart: there pedanova's counts refuse to answer.

The raw scores go to ``DIR/accuracy.csv`` as they come; a run that is begun again goes on from there.
``--report`` alone prints the table and draws the figure from that file. ``--methods auto`` scores pedanova's default
alone, on the same samples, and tries no columns of noise.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path

from shared import append_lines, ints, options_of, read_lines, words

# isort: split
import numpy as np
from contestants import (
    METHODS,
    QUESTIONS,
    TABLES,
    Answer,
    Reals,
    Table,
    best,
    false_alarms,
    ratios,
    read_table,
    sample,
    truth,
)
from numpy.typing import NDArray

SIZES = (50, 100, 200, 500, 1000, 3000)
SHOWN = ("auto", "counts", "optuna", "histogram", "forest")
ALARM_SEEDS = 5  # seeds of which columns of noise are tried as well: that takes most of the time

# --- one sample ------------------------------------------------------------------------------------

HEADER = ["table", "sampler", "rows", "seed", "method", "question", "target_rows", "l1", "share_error", "tau",
          "first", "covered", "covered_large", "seconds", "alarm"]  # fmt: skip
LARGE = 0.02  # a share that a reader would notice
FOREST_SEEDS = 5  # a forest takes long, and is here for comparison only


def score(
    folder: Path, keep: Path, methods: tuple[str, ...], name: str, sampler: str, size: int, seed: int
) -> list[list[object]]:
    warnings.filterwarnings("ignore", module="optuna")
    table = read_table(folder, name)
    exact = truth(table, keep)
    rows = sample(table, sampler, size, seed)
    lines: list[list[object]] = []
    for method in methods or tuple(METHODS):
        answer = METHODS[method]
        if method == "forest" and seed >= FOREST_SEEDS:
            continue
        start = time.perf_counter()
        for question, found, true in zip(QUESTIONS, answer(table, rows, list(QUESTIONS)), exact, strict=False):
            spent = time.perf_counter() - start
            place = [name, sampler, size, seed, method, f"{question[0]} in {question[1]}"]
            lines.append([*place, target_rows(table, rows, question), *scores(found, true, question), spent, ""])
            start = time.perf_counter()
    if seed < ALARM_SEEDS and not methods:
        for estimator, kind, question, alarm in false_alarms(table, rows, seed):
            place = [name, sampler, size, seed, estimator, f"{question[0]} in {question[1]}"]
            lines.append([*place, target_rows(table, rows, question), *[""] * 7, f"{kind}:{int(alarm)}"])
    return lines


def target_rows(table: Table, rows: NDArray[np.int64], question: tuple[float, float]) -> int:
    objective = table.objective[rows]
    return int(np.sum(objective <= best(objective, question[0])))


def scores(found: Answer, true: Reals, question: tuple[float, float]) -> list[object]:
    right = ratios(true)
    shares = true * question[0] / (question[1] - question[0])
    error = "" if found.shares is None else float(np.maximum(found.shares, 0.0).sum() - shares.sum())
    covered: object = ""
    large: object = ""
    if found.low is not None and found.high is not None:
        held = (found.low <= shares) & (shares <= found.high)
        covered = float(np.mean(held))
        large = float(np.mean(held[shares > LARGE])) if np.any(shares > LARGE) else ""
    return [
        float(np.abs(found.ratios - right).sum()), error, kendall(found.ratios, right),
        int(np.argmax(found.ratios) == np.argmax(right)), covered, large,
    ]  # fmt: skip


def kendall(one: Reals, two: Reals) -> float:
    """τ over all pairs; a tie counts half."""
    signs = [np.sign(one[i] - one[j]) * np.sign(two[i] - two[j]) for i in range(len(one)) for j in range(i)]
    return float(np.mean(signs))


# --- the run ---------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    path = options.output / "accuracy.csv"
    done = {tuple(line[:4]) for line in read_lines(path, HEADER)}
    for name in options.tables:  # truths first: the processes share them
        truth(read_table(options.folder, name), options.output)
    work = [
        (name, sampler, size, seed)
        for seed in range(options.seeds)
        for name in options.tables
        for size in options.rows
        for sampler in options.samplers
        if (name, sampler, str(size), str(seed)) not in done and (sampler == "uniform" or seed < options.tpe_seeds)
    ]
    shared = options.folder, options.output, tuple(options.methods)
    append_lines(path, options.jobs, score, [(*shared, *job) for job in sorted(work, key=lambda job: job[3])])


def report(options: argparse.Namespace) -> None:
    kept = read_lines(options.output / "accuracy.csv", HEADER)
    lines = at_its_best([dict(zip(HEADER, line, strict=True)) for line in kept])
    for sampler in options.samplers:
        for target, region in QUESTIONS:
            question = f"{target} in {region}"
            mine = [ln for ln in lines if ln["sampler"] == sampler and ln["question"] == question]
            how = "uniformly" if sampler == "uniform" else "by TPE"
            print(f"\n## {question}, sampled {how}: mean L1 error of the ratios\n")
            print_scores(mine, "l1")
            print_means(mine)
            print_others(mine)
    print_alarms([ln for ln in lines if ln["alarm"]])
    draw(lines, options.output / "accuracy.png")


def at_its_best(lines: list[dict[str, str]]) -> list[dict[str, str]]:
    """Optuna in the form and by the baseline that errs least in the mean of each cell, under its plain name."""
    errors: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for ln in lines:
        if ln["method"].startswith("optuna") and ln["l1"]:
            errors[cell_of(ln)][ln["method"]].append(float(ln["l1"]))
    best_form = {cell: min(found, key=lambda method: np.mean(found[method])) for cell, found in errors.items()}
    kept = [ln for ln in lines if not ln["method"].startswith("optuna")]
    mine = [ln for ln in lines if ln["method"] == best_form.get(cell_of(ln))]
    return kept + [{**ln, "method": "optuna"} for ln in mine]


def cell_of(line: dict[str, str]) -> tuple[str, ...]:
    return tuple(line[key] for key in ("table", "sampler", "rows", "question"))


def print_scores(lines: list[dict[str, str]], key: str) -> None:
    groups: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    few: dict[tuple[str, int], list[int]] = defaultdict(list)
    for ln in lines:
        if ln[key] != "":
            groups[ln["table"], int(ln["rows"])][ln["method"]].append(float(ln[key]))
            few[ln["table"], int(ln["rows"])].append(int(ln["target_rows"]))
    methods = [method for method in SHOWN if any(method in found for found in groups.values())]
    print(f"{'table':<28}{'rows':>6}{'seeds':>6}" + "".join(f"{m:>18}" for m in methods))
    for (name, size), found in sorted(groups.items()):
        if "auto" not in found:  # ties left no target inside the region
            continue
        rivals = [np.mean(found[m]) for m in ("optuna", "histogram") if m in found]
        mark = " " if not rivals or np.mean(found["auto"]) < min(rivals) else "!"
        mark = "·" if np.mean(few[name, size]) < 5 else mark
        cells = "".join(f"{np.mean(found[m]):>18.3f}" if m in found else f"{'':>18}" for m in methods)
        print(f"{name:<28}{size:>6}{len(found['auto']):>6}{cells} {mark}")


def print_means(lines: list[dict[str, str]]) -> None:
    """Over the tables, each with the same say."""
    for size in sorted({int(ln["rows"]) for ln in lines}):
        by_method = []
        for method in SHOWN:
            cells: dict[str, list[float]] = defaultdict(list)
            for ln in lines:
                if ln["method"] == method and int(ln["rows"]) == size and ln["l1"]:
                    cells[ln["table"]].append(float(ln["l1"]))
            by_method.append(f"{np.mean([np.mean(v) for v in cells.values()]):>18.3f}" if cells else f"{'':>18}")
        print(f"{'mean of the tables':<28}{size:>6}{'':>6}" + "".join(by_method))


def print_others(lines: list[dict[str, str]]) -> None:
    print(
        f"\n{'rows':>6} {'method':<18}{'share error':>12}{'tau':>8}{'first':>8}{'covered':>9}{'> 2 %':>9}{'seconds':>9}"
    )
    for size in sorted({int(ln["rows"]) for ln in lines}):
        for method in SHOWN:
            own = [ln for ln in lines if ln["method"] == method and int(ln["rows"]) == size and ln["l1"]]
            if own:
                cells = [
                    mean_of(own, key) for key in ("share_error", "tau", "first", "covered", "covered_large", "seconds")
                ]
                widths = (12, 8, 8, 9, 9, 9)
                print(f"{size:>6} {method:<18}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True)))


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
        import matplotlib as mpl
    except ImportError:
        print("\n(no figure: matplotlib is not installed)")
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names = [name for name in TABLES if any(ln["table"] == name for ln in lines)]
    figure, axes = plt.subplots(2, len(names), figsize=(3.1 * len(names), 5.6), sharex=True, squeeze=False)
    shown = {"auto": "#0072b2", "counts": "#56b4e9", "optuna": "#d55e00", "histogram": "#888888", "forest": "#009e73"}
    for column, name in enumerate(names):
        for row, (target, region) in enumerate(QUESTIONS):
            ax = axes[row][column]
            for method, colour in shown.items():
                points = curve(lines, name, f"{target} in {region}", method)
                width = 2.4 if method == "auto" else 1.2
                ax.plot(
                    [p[0] for p in points], [p[1] for p in points], "o-", ms=3, lw=width, color=colour, label=method
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
        if (ln["table"], ln["question"], ln["method"], ln["sampler"]) == (name, question, method, "uniform") and ln[
            "l1"
        ]:
            found[int(ln["rows"])].append(float(ln["l1"]))
    return [(size, float(np.mean(values))) for size, values in sorted(found.items())]


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--tpe-seeds", type=int, default=10)
    parser.add_argument("--rows", type=ints, default=list(SIZES))
    parser.add_argument("--tables", type=words, default=list(TABLES))
    parser.add_argument("--methods", type=words, default=[], help="of all; such as auto,counts")
    parser.add_argument("--samplers", type=words, default=["uniform", "tpe"])
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
