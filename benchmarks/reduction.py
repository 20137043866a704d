"""Does a reduced space help? Judged on complete tables, where every configuration's value is known.

    python benchmarks/reduction.py DATA_DIR [--seeds 30] [--rows 200,100,500] [--tables …] [--jobs 1] [-o DIR]

Trials are sampled uniformly or by Optuna's TPE; `Analysis.reduce`, the rules of the paper
(``paper``; ``authors`` with their densities), and the naive box around the best 10 % of the trials each
give a smaller space, and 200 further trials are run in the full and in all smaller ones: random ones,
100 times over, and then, for ``--tpe-rows`` trials, by TPE.

Enrichment is that of the table's true best 1 %; a run survives if a configuration of the true best
0.1 % is left; regret is the best value found, 0 for the table's best and 1 for its median; a run
improves if further random trials find a better value than the trials before.

Raw scores go to ``DIR/reduction.csv`` and ``DIR/further-tpe.csv`` as they come; a run that is begun
again goes on from there. ``--report`` alone prints the tables and draws the figure from these files.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # each process has one core: set before NumPy is loaded

sys.path.append(str(Path(__file__).parent.parent / "experiments" / "paper"))

import numpy as np  # noqa: E402
from contestants import TABLES, Reals, Table, best, read_table, sample  # noqa: E402
from domains import paper_domains  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import pedanova as pa  # noqa: E402

SIZES = (200, 100, 500)
BY_TABLE = 200  # trials for which every table is shown
FURTHER, REPEATS = 200, 100
HEADER = ["table", "sampler", "rows", "seed", "kind", "volume", "enrichment", "kept", "survives", "wins", "ties",
          "beats_naive", "regret", "improves", "seconds", "box"]  # fmt: skip
TPE_HEADER = [*HEADER[:5], "regret"]
Box = list[NDArray[np.int64]]  # the codes left of every parameter


@dataclass(frozen=True, eq=False)
class Truth:
    """A table as a block with one axis a parameter."""

    table: Table
    values: Reals
    tops: dict[float, NDArray[np.int8]]  # the codes of the best parts, ties included
    least: float
    median: float

    def kept(self, box: Box, part: float) -> float:
        """The part of the best configurations that lie in a box."""
        best = self.tops[part]
        inside = np.ones(len(best), dtype=bool)
        for axis, (left, size) in enumerate(zip(box, self.table.sizes, strict=True)):
            if len(left) < size:
                inside &= np.isin(np.arange(size), left)[best[:, axis]]
        return float(inside.mean())

    def volume(self, box: Box) -> float:
        return float(np.prod([len(left) / size for left, size in zip(box, self.table.sizes, strict=True)]))

    def at_random(self, box: Box, shape: tuple[int, int], rng: np.random.Generator) -> Reals:
        """Values of configurations drawn uniformly from a box."""
        found: Reals = self.values[tuple(left[rng.integers(0, len(left), shape)] for left in box)]
        return found

    def regret(self, value: float) -> float:
        return (value - self.least) / (self.median - self.least)


@lru_cache(maxsize=1)
def read_truth(folder: Path, name: str) -> Truth:
    table = read_table(folder, name)
    values = table.objective
    if table.codes is not None:
        strides = np.cumprod([1, *table.sizes[::-1]])[-2::-1]
        values = np.empty(len(table.objective))
        values[table.codes.astype(np.int64) @ strides] = table.objective
    tops = {}
    for part in (0.1, 0.01, 0.001):
        places = np.flatnonzero(values <= best(table.objective, part))
        tops[part] = np.stack(np.unravel_index(places, table.sizes), axis=1).astype(np.int8)
    middle = float(np.median(values))
    return Truth(table, values.reshape(table.sizes), tops, float(values.min()), middle)


# --- one run ---------------------------------------------------------------------------------------


def whole(table: Table) -> Box:
    return [np.arange(size) for size in table.sizes]


PAPER = {"paper": "counts", "authors": "paper"}  # kind → whose densities


def analysis_of(table: Table, rows: NDArray[np.int64]) -> pa.Analysis:
    return pa.analyze(table.columns(rows), table.objective[rows], space=table.space(), repeats="all")


def reduced_box(table: Table, a: pa.Analysis) -> Box:
    space = a.reduce(folds=0).space
    domains = (space[name] for name in table.names)
    return codes_of(table, [one.values if isinstance(one, pa.Ordinal) else one.choices for one in domains])  # type: ignore[union-attr]


def paper_box(table: Table, a: pa.Analysis, estimator: str) -> Box:
    left = paper_domains(a, estimator=estimator)
    return codes_of(table, [left[name] for name in table.names])


def codes_of(table: Table, left: Sequence[Sequence[object]]) -> Box:
    """The codes of the values that are left of every parameter."""
    return [
        np.array([code for code, choice in enumerate(choices) if choice in values])
        for choices, values in zip(table.choices, left, strict=True)
    ]


def naive_box(table: Table, rows: NDArray[np.int64]) -> Box:
    """From the lowest to the highest value, or the categories, of the best 10 % of the trials."""
    values = table.objective[rows]
    top = table.at(rows)[values <= best(values, 0.1)]
    return [
        np.arange(top[:, j].min(), top[:, j].max() + 1) if "grid" in table.fields[name] else np.unique(top[:, j])
        for j, name in enumerate(table.names)
    ]


def by_chance(truth: Truth, box: Box, rng: np.random.Generator) -> Reals:
    """(repeats,) The best of further random trials."""
    found: Reals = truth.at_random(box, (REPEATS, FURTHER), rng).min(axis=1)
    return found


def trials_of(truth: Truth, sampler: str, size: int, seed: int, keep: Path) -> NDArray[np.int64]:
    """Rows of the table; those of TPE are kept in a file, for fewer trials are the first of more."""
    if sampler != "tpe":
        return sample(truth.table, sampler, size, seed)
    path = keep / f"{truth.table.name}-{seed}.npy"
    rows: NDArray[np.int64] = np.load(path) if path.exists() else np.empty(0, dtype=np.int64)
    if len(rows) < size:
        rows = sample(truth.table, "tpe", size, seed)
        np.save(path, rows)
    return rows[:size]


def by_tpe(truth: Truth, box: Box, seed: int) -> float:
    """The best of further trials by TPE."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    table = truth.table
    for _ in range(FURTHER):
        trial = study.ask()
        codes = [
            int(left[trial.suggest_int(name, 0, len(left) - 1)])
            if "grid" in table.fields[name]
            else int(trial.suggest_categorical(name, left.tolist()))
            for name, left in zip(table.names, box, strict=True)
        ]
        study.tell(trial, float(truth.values[tuple(codes)]))
    return float(study.best_value)


def score(folder: Path, keep: Path, name: str, sampler: str, size: int, seed: int) -> list[list[object]]:
    truth = read_truth(folder, name)
    table = truth.table
    rows = trials_of(truth, sampler, size, seed, keep)
    start = time.perf_counter()
    a = analysis_of(table, rows)
    boxes = {"reduced": reduced_box(table, a)}
    seconds = time.perf_counter() - start
    boxes |= {kind: paper_box(table, a, estimator) for kind, estimator in PAPER.items()}
    boxes |= {"naive": naive_box(table, rows), "full": whole(table)}
    rng = np.random.default_rng([seed, size, 11])
    found = {kind: by_chance(truth, box, rng) for kind, box in boxes.items()}
    known = table.objective[rows].min()
    lines: list[list[object]] = []
    for kind, box in boxes.items():
        volume, own = truth.volume(box), found[kind]
        kept = {part: truth.kept(box, part) for part in truth.tops}
        lines.append(
            [name, sampler, size, seed, kind, volume, kept[0.01] / volume, kept[0.1], int(kept[0.001] > 0),
             np.mean(own < found["full"]), np.mean(own == found["full"]),
             np.mean(own < found["naive"]) + 0.5 * np.mean(own == found["naive"]),
             np.mean([truth.regret(value) for value in own]), np.mean(own < known),
             seconds if kind == "reduced" else "", box_to_text(box)]
        )  # fmt: skip
    return lines


def go_on(folder: Path, keep: Path, key: list[str], boxes: dict[str, str]) -> list[list[object]]:
    """Further trials by TPE in every space of one run; in the full one they are what it samples by itself.

    The seed is that of the next run, whose trials this one has not seen.
    """
    name, seed = key[0], int(key[3]) + 1
    truth = read_truth(folder, name)
    found = {kind: by_tpe(truth, box_of_text(text), seed) for kind, text in boxes.items() if kind != "full"}
    found["full"] = float(truth.table.objective[trials_of(truth, "tpe", FURTHER, seed, keep)].min())
    return [[*key, kind, truth.regret(value)] for kind, value in found.items()]


def box_to_text(box: Box) -> str:
    return "/".join(".".join(map(str, left)) for left in box)


def box_of_text(text: str) -> Box:
    return [np.array([int(code) for code in left.split(".")]) for left in text.split("/")]


# --- all runs --------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    keep = options.output / "tpe"
    keep.mkdir(exist_ok=True)
    done = {tuple(line[:4]) for line in read_lines(options.output / "reduction.csv", HEADER)}
    work = [
        (options.folder, keep, name, sampler, size, seed)
        for size in options.rows
        for sampler in options.samplers
        for name in options.tables
        for seed in range(options.seeds)
        if (name, sampler, str(size), str(seed)) not in done
    ]
    write(options, "reduction.csv", score, work)
    done = {tuple(line[:4]) for line in read_lines(options.output / "further-tpe.csv", TPE_HEADER)}
    boxes: dict[tuple[str, ...], dict[str, str]] = {}
    for line in read_lines(options.output / "reduction.csv", HEADER):
        if tuple(line[:4]) not in done and int(line[2]) in options.tpe_rows and line[0] in options.tables:
            boxes.setdefault(tuple(line[:4]), {})[line[4]] = line[-1]
    # Five seeds of every table, then the next five: whoever breaks off has seen all tables.
    order = sorted(boxes, key=lambda run: (SIZES.index(int(run[2])), int(run[3]) // 5, run[0], run[1]))
    write(options, "further-tpe.csv", go_on, [(options.folder, keep, list(run), boxes[run]) for run in order])


def write(options: argparse.Namespace, name: str, task: Callable[..., list[list[object]]], work: list[Any]) -> None:
    """Every task's lines put at the end of a file as they come."""
    with ProcessPoolExecutor(options.jobs) as pool, (options.output / name).open("a", newline="") as file:
        writer = csv.writer(file)
        waiting = [pool.submit(task, *job) for job in work]
        for i, future in enumerate(as_completed(waiting), 1):
            writer.writerows(future.result())
            file.flush()
            print(f"\r{name}: {i} of {len(waiting)} runs", end="", file=sys.stderr)


def read_lines(path: Path, header: list[str]) -> list[list[str]]:
    """Without the header, which is written where there is no file."""
    if not path.exists():
        path.write_text(",".join(header) + "\n")
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


# --- what came of it -------------------------------------------------------------------------------

Lines = list[dict[str, str]]


def report(options: argparse.Namespace) -> None:
    lines, tpe = (
        [dict(zip(header, line, strict=True)) for line in read_lines(options.output / name, header)]
        for name, header in (("reduction.csv", HEADER), ("further-tpe.csv", TPE_HEADER))
    )
    print(
        "\n| trials | table | runs | volume | enrichment | survives | better than full (ties) | better than naive "
        "| by TPE: better than full (ties) | by TPE: better than naive "
        "| naive: volume, enrichment, survives, better than full | the paper's rule: the same | with its authors' "
        "densities | better than before: reduced, paper, authors, naive, full |"
        "\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for size in sorted(options.rows):
        for sampler in options.samplers:
            mine, further = (
                [ln for ln in each if ln["sampler"] == sampler and int(ln["rows"]) == size] for each in (lines, tpe)
            )
            for name in ["all", *(options.tables if size == BY_TABLE else ())]:
                own, after = ([ln for ln in each if name in ("all", ln["table"])] for each in (mine, further))
                if own:
                    print(f"| {size} {sampler} | {name} | {told(own, after)} |")
    draw(lines, options.output / "reduction.png")


def told(lines: Lines, tpe: Lines) -> str:
    """One line of the table."""
    of = {kind: [ln for ln in lines if ln["kind"] == kind] for kind in ("reduced", *PAPER, "naive", "full")}
    own = of["reduced"]
    cells = [
        f"{len(own)}",
        f"{np.median(numbers(own, 'volume')):.2g}",
        f"{np.median(numbers(own, 'enrichment')):.1f}",
        f"{np.mean(numbers(own, 'survives')):.0%}",
        f"{np.mean(numbers(own, 'wins')):.0%} ({np.mean(numbers(own, 'ties')):.0%})",
        f"{np.mean(numbers(own, 'beats_naive')):.0%}",
        *against(tpe),
        *(in_short(of[kind]) for kind in ("naive", "paper", "authors")),
        ", ".join(f"{np.mean(numbers(each, 'improves')):.0%}" for each in of.values()),
    ]
    return " | ".join(cells)


def in_short(lines: Lines) -> str:
    """Volume, enrichment, survives, better than full."""
    middle = f"{np.median(numbers(lines, 'volume')):.2g}, {np.median(numbers(lines, 'enrichment')):.1f}"
    return f"{middle}, {np.mean(numbers(lines, 'survives')):.0%}, {np.mean(numbers(lines, 'wins')):.0%}"


def against(tpe: Lines) -> list[str]:
    """How often further trials by TPE end better in the reduced space: than in the full one, than in the naive one."""
    if not tpe:
        return ["", ""]
    regret = {kind: {tuple(ln[key] for key in HEADER[:4]): float(ln["regret"]) for ln in tpe if ln["kind"] == kind}
              for kind in ("reduced", "full", "naive")}  # fmt: skip
    runs = list(regret["reduced"])
    own, full, naive = (np.array([regret[kind][run] for run in runs]) for kind in ("reduced", "full", "naive"))
    return [
        f"{np.mean(own < full):.0%} ({np.mean(own == full):.0%})",
        f"{np.mean(own < naive) + 0.5 * np.mean(own == naive):.0%}",
    ]


def numbers(lines: Lines, key: str) -> Reals:
    return np.array([float(ln[key]) for ln in lines])


PANELS = (
    ("enrichment", "enrichment of the true best 1 %", np.median, 3.0),
    ("survives", "a configuration of the best 0.1 % survives", np.mean, 0.9),
    ("wins", "200 random trials: better than in the full space", np.mean, 0.75),
)


def draw(lines: Lines, path: Path) -> None:
    """What the smaller spaces are worth over the trials they came from, a column for every table."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("\n(no figure: matplotlib is not installed)")
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names = [name for name in TABLES if any(ln["table"] == name for ln in lines)]
    size = (2.0 * len(names) + 0.6, 6.6)
    figure, axes = plt.subplots(3, len(names), figsize=size, sharex=True, sharey="row", squeeze=False)
    for column, name in zip(axes.T, names, strict=True):
        column[0].set_title(name.replace("_", " ").replace("jahs thesis cifar10", "JAHS"), fontsize=8)
        for ax, (key, _, middle, limit) in zip(column, PANELS, strict=True):
            draw_panel(ax, [ln for ln in lines if ln["table"] == name], key, middle)
            ax.axhline(limit, lw=0.8, color="#888888")
    for ax, (key, title, _, _) in zip(axes[:, 0], PANELS, strict=True):
        ax.set_ylabel(title.replace(": ", ":\n").replace("of the", "\nof the"), fontsize=8)
        ax.set_yscale("log" if key == "enrichment" else "linear")
        if key != "enrichment":
            ax.set_ylim(0, 1.03)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=3, fontsize=8, frameon=False)
    figure.supxlabel("trials that chose the space", fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    figure.savefig(path, dpi=90)
    print(f"\nfigure: {path}")


def draw_panel(ax: Any, lines: Lines, key: str, middle: Callable[[Reals], Any]) -> None:
    for kind, colour in (("reduced", "#0072b2"), ("paper", "#009e73"), ("naive", "#d55e00")):
        for sampler, style in (("uniform", "o-"), ("tpe", "s--")):
            own = [ln for ln in lines if (ln["kind"], ln["sampler"]) == (kind, sampler)]
            sizes = sorted({int(ln["rows"]) for ln in own})
            points = [middle(numbers([ln for ln in own if int(ln["rows"]) == size], key)) for size in sizes]
            word = "random" if sampler == "uniform" else "TPE"
            ax.plot(sizes, points, style, ms=4, color=colour, label=f"{kind}, from {word} trials")
    ax.set_xscale("log")
    ax.set_xticks(sorted(SIZES), [str(size) for size in sorted(SIZES)], fontsize=7)
    ax.set_xticks([], minor=True)


def whole_numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rows", type=whole_numbers, default=list(SIZES))
    parser.add_argument("--tpe-rows", type=whole_numbers, default=list(SIZES), help="trials that TPE goes on from")
    parser.add_argument("--tables", type=lambda text: text.split(","), default=list(TABLES))
    parser.add_argument("--samplers", type=lambda text: text.split(","), default=["uniform", "tpe"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="print what is there, run nothing")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/reduction"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if not options.report:
        run(options)
    report(options)


if __name__ == "__main__":
    main()
