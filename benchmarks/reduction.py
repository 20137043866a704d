"""Does a reduced space help? Judged on complete tables, where every configuration's value is known.

    python benchmarks/reduction.py DATA_DIR [--seeds 30] [--rows 200,100,500] [--tables …] [--jobs 1] [-o DIR]
    python benchmarks/reduction.py --ranges [--seeds 5] [--rows 200] [--first-seed 10]

Trials are sampled uniformly or by Optuna's TPE; `Analysis.reduce` and the naive box around the best 10 % of the
trials each give a smaller space, and 200 further trials are run in the full and in both smaller ones: random ones,
100 times over, and then, for ``--tpe-rows`` trials, by TPE.

Enrichment is that of the table's true best 1 %; a run survives if a configuration of the true best
0.1 % is left; regret is the best value found, 0 for the table's best and 1 for its median; a run
improves if further random trials find a better value than the trials before.

Raw scores go to ``DIR/reduction.csv`` and ``DIR/further-tpe.csv`` as they come; a run that is begun
again goes on from there. ``--report`` alone prints the tables and draws the figure from these files.

The tables are lattices, on which a box of few configurations is soon seen whole. With ``--ranges`` every parameter of
four functions is a range, and two more that do nothing are tried beside them, after trials by TPE.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared import Lines as Printed
from shared import append_lines, by_tpe, ints, options_of, read_lines, words

# isort: split
import numpy as np
from numpy.typing import NDArray
from samples import Reals, best
from tables import TABLES, Table, read_table, sample

import pedanova as pa
from pedanova.results import ReducedSpace

SIZES = (200, 100, 500)
BY_TABLE = 200  # trials for which every table is shown
FURTHER, REPEATS = 200, 100
DULL, RANGE_SEEDS = 2, 5  # parameters that do nothing beside those of a function; seeds by default
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
        values: Reals = self.values[tuple(left[rng.integers(0, len(left), shape)] for left in box)]
        return values

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


def analysis_of(table: Table, rows: NDArray[np.int64]) -> pa.Analysis:
    return pa.analyze(table.columns(rows), table.objective[rows], space=table.space(), repeats="all")


def reduced_box(table: Table, a: pa.Analysis) -> Box:
    space = a.reduce(folds=0).space
    domains = (space[name] for name in table.names)
    return codes_of(table, [one.values if isinstance(one, pa.Ordinal) else one.choices for one in domains])  # type: ignore[union-attr]


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
    return truth.at_random(box, (REPEATS, FURTHER), rng).min(axis=1)  # type: ignore[no-any-return]


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


def best_by_tpe(truth: Truth, box: Box, seed: int) -> float:
    """The best of further trials by TPE."""
    table = truth.table

    def suggest(trial: Any) -> float:
        codes = [
            int(left[trial.suggest_int(name, 0, len(left) - 1)])
            if "grid" in table.fields[name]
            else int(trial.suggest_categorical(name, left.tolist()))
            for name, left in zip(table.names, box, strict=True)
        ]
        return float(truth.values[tuple(codes)])

    return float(by_tpe(suggest, FURTHER, seed).best_value)


def score(folder: Path, keep: Path, name: str, sampler: str, size: int, seed: int) -> list[list[object]]:
    truth = read_truth(folder, name)
    table = truth.table
    rows = trials_of(truth, sampler, size, seed, keep)
    start = time.perf_counter()
    a = analysis_of(table, rows)
    boxes = {"reduced": reduced_box(table, a)}
    seconds = time.perf_counter() - start
    boxes |= {"naive": naive_box(table, rows), "full": whole(table)}
    rng = np.random.default_rng([seed, size, 11])
    bests = {kind: by_chance(truth, box, rng) for kind, box in boxes.items()}
    before = table.objective[rows].min()
    lines: list[list[object]] = []
    for kind, box in boxes.items():
        volume, own = truth.volume(box), bests[kind]
        kept = {part: truth.kept(box, part) for part in truth.tops}
        lines.append(
            [name, sampler, size, seed, kind, volume, kept[0.01] / volume, kept[0.1], int(kept[0.001] > 0),
             np.mean(own < bests["full"]), np.mean(own == bests["full"]),
             np.mean(own < bests["naive"]) + 0.5 * np.mean(own == bests["naive"]),
             np.mean([truth.regret(value) for value in own]), np.mean(own < before),
             seconds if kind == "reduced" else "", box_to_text(box)]
        )  # fmt: skip
    return lines


def go_on(folder: Path, keep: Path, key: list[str], boxes: dict[str, str]) -> list[list[object]]:
    """Further trials by TPE in every space of one run; in the full one they are what it samples by itself.

    The seed is that of the next run, whose trials this one has not seen.
    """
    name, seed = key[0], int(key[3]) + 1
    truth = read_truth(folder, name)
    values = {kind: best_by_tpe(truth, box_of_text(text), seed) for kind, text in boxes.items() if kind != "full"}
    values["full"] = float(truth.table.objective[trials_of(truth, "tpe", FURTHER, seed, keep)].min())
    return [[*key, kind, truth.regret(value)] for kind, value in values.items()]


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
    append_lines(options.output / "reduction.csv", options.jobs, score, work)
    done = {tuple(line[:4]) for line in read_lines(options.output / "further-tpe.csv", TPE_HEADER)}
    boxes: dict[tuple[str, ...], dict[str, str]] = {}
    for line in read_lines(options.output / "reduction.csv", HEADER):
        if tuple(line[:4]) not in done and int(line[2]) in options.tpe_rows and line[0] in options.tables:
            boxes.setdefault(tuple(line[:4]), {})[line[4]] = line[-1]
    # Five seeds of every table, then the next five: whoever breaks off has seen all tables.
    order = sorted(boxes, key=lambda run: (SIZES.index(int(run[2])), int(run[3]) // 5, run[0], run[1]))
    further = [(options.folder, keep, list(run), boxes[run]) for run in order]
    append_lines(options.output / "further-tpe.csv", options.jobs, go_on, further)


# --- what came of it -------------------------------------------------------------------------------

Lines = list[dict[str, str]]


def report(options: argparse.Namespace) -> None:
    lines, tpe = (
        [dict(zip(header, line, strict=True)) for line in read_lines(options.output / name, header)]
        for name, header in (("reduction.csv", HEADER), ("further-tpe.csv", TPE_HEADER))
    )
    printed = Printed(
        "trials, table", "runs", "volume", "enrichment", "survives", "better than full (ties)", "better than naive",
        "by TPE: than full (ties)", "by TPE: than naive", "naive: volume, enrichment, survives, better than full",
        "better than before: reduced, naive, full", first=44,
    )  # fmt: skip
    for size in sorted(options.rows):
        for sampler in options.samplers:
            mine, further = (
                [ln for ln in each if ln["sampler"] == sampler and int(ln["rows"]) == size] for each in (lines, tpe)
            )
            for name in ["all", *(options.tables if size == BY_TABLE else ())]:
                own, after = ([ln for ln in each if name in ("all", ln["table"])] for each in (mine, further))
                if own:
                    printed.row(f"{size} {sampler}, {name}", *cells_of(own, after))
    draw(lines, options.output / "reduction.png")


def cells_of(lines: Lines, tpe: Lines) -> list[str]:
    """One line of the table."""
    of = {kind: [ln for ln in lines if ln["kind"] == kind] for kind in ("reduced", "naive", "full")}
    own = of["reduced"]
    return [
        f"{len(own)}",
        f"{np.median(numbers(own, 'volume')):.2g}",
        f"{np.median(numbers(own, 'enrichment')):.1f}",
        f"{np.mean(numbers(own, 'survives')):.0%}",
        f"{np.mean(numbers(own, 'wins')):.0%} ({np.mean(numbers(own, 'ties')):.0%})",
        f"{np.mean(numbers(own, 'beats_naive')):.0%}",
        *against(tpe),
        in_short(of["naive"]),
        ", ".join(f"{np.mean(numbers(each, 'improves')):.0%}" for each in of.values()),
    ]


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
    for kind, colour in (("reduced", "#0072b2"), ("naive", "#d55e00")):
        for sampler, style in (("uniform", "o-"), ("tpe", "s--")):
            own = [ln for ln in lines if (ln["kind"], ln["sampler"]) == (kind, sampler)]
            sizes = sorted({int(ln["rows"]) for ln in own})
            points = [middle(numbers([ln for ln in own if int(ln["rows"]) == size], key)) for size in sizes]
            word = "random" if sampler == "uniform" else "TPE"
            ax.plot(sizes, points, style, ms=4, color=colour, label=f"{kind}, from {word} trials")
    ax.set_xscale("log")
    ax.set_xticks(sorted(SIZES), [str(size) for size in sorted(SIZES)], fontsize=7)
    ax.set_xticks([], minor=True)


# --- ranges ----------------------------------------------------------------------------------------


def ackley(units: Reals) -> Reals:
    x = 4.0 * (units - 0.5) - 0.37
    waves = np.exp(np.cos(2.0 * np.pi * x).mean(axis=-1))
    return 20.0 + math.e - waves - 20.0 * np.exp(-0.2 * np.sqrt((x**2).mean(axis=-1)))  # type: ignore[no-any-return]


def rosenbrock(units: Reals) -> Reals:
    x = 3.0 * units - 1.5
    return (100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2).sum(axis=-1)  # type: ignore[no-any-return]


def bowl(units: Reals) -> Reals:
    gaps = units - np.array([0.3, 0.8, 0.55, 0.1, 0.6])
    return (gaps**2 * np.array([4.0, 2.0, 1.0, 0.5, 0.1])).sum(axis=-1)  # type: ignore[no-any-return]


def at_a_bound(units: Reals) -> Reals:
    a, b, c, d, e = np.moveaxis(units, -1, 0)
    return 5.0 * (a - 0.4) ** 2 + 2.0 * (b - 0.7) ** 2 + c * d + 0.3 * e  # type: ignore[no-any-return]


FUNCTIONS: tuple[tuple[Callable[[Reals], Reals], int], ...] = (
    (ackley, 4), (rosenbrock, 4), (bowl, 5), (at_a_bound, 5),
)  # fmt: skip


def trials_by_tpe(function: Callable[[Reals], Reals], size: int, rows: int, seed: int) -> tuple[Reals, Reals]:
    names = [f"x{i}" for i in range(size + DULL)]

    def suggest(trial: Any) -> float:
        return float(function(np.array([trial.suggest_float(name, 0.0, 1.0) for name in names])[:size]))

    trials = by_tpe(suggest, rows, seed).trials
    return np.array([[trial.params[name] for name in names] for trial in trials]), np.array([t.value for t in trials])


def reduced(tried: Reals, values: Reals) -> tuple[Reals, ReducedSpace]:
    names = [f"x{i}" for i in range(tried.shape[1])]
    columns = {name: tried[:, i] for i, name in enumerate(names)}
    small = pa.analyze(columns, values, space=dict.fromkeys(names, pa.Float(0.0, 1.0))).reduce()
    bounds = [(small.space[name].low, small.space[name].high) for name in names]  # type: ignore[union-attr]
    return np.array(bounds), small


def naive(tried: Reals, values: Reals) -> Reals:
    top = tried[values <= np.sort(values)[math.ceil(0.1 * len(values)) - 1]]
    return np.stack([top.min(axis=0), top.max(axis=0)], axis=1)


def score_ranges(function: Callable[[Reals], Reals], size: int, rows: int, seed: int) -> list[float]:
    tried, values = trials_by_tpe(function, size, rows, seed)
    box, small = reduced(tried, values)
    rng = np.random.default_rng(seed)
    own, other = (
        function(
            (low + (high - low) * rng.random((REPEATS, FURTHER, size + DULL)))[..., :size]
        ).min(axis=1)
        for low, high in (bounds.T for bounds in (box, naive(tried, values)))
    )  # fmt: skip
    before, evidence = values.min(), small.evidence
    kept = [evidence.kept.part, evidence.best.part] if evidence else [1.0, 1.0]
    return [float(np.mean(own < other)), float(np.mean(own < before)), float(np.mean(other < before)), *kept]


def ranges(options: argparse.Namespace) -> None:
    seeds = range(options.first_seed, options.first_seed + min(options.seeds, RANGE_SEEDS))
    printed = Printed("function", "better than naive", "improves", "naive improves", "target kept", "its best fifth")
    every = []
    for function, size in FUNCTIONS:
        every.append([score_ranges(function, size, options.rows[0], seed) for seed in seeds])
        printed.row(function.__name__, *(f"{part:.0%}" for part in np.mean(every[-1], axis=0)))
    printed.row("all", *(f"{part:.0%}" for part in np.mean(every, axis=(0, 1))))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("--first-seed", type=int, default=10, help="of the ranges; 0 to 5 chose the rules")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rows", type=ints, default=list(SIZES))
    parser.add_argument("--tpe-rows", type=ints, default=list(SIZES), help="trials that TPE goes on from")
    parser.add_argument("--tables", type=words, default=list(TABLES))
    parser.add_argument("--samplers", type=words, default=["uniform", "tpe"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="print what is there, run nothing")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/reduction"))
    options = parser.parse_args()
    if options.ranges:
        ranges(options)
        return
    options.output.mkdir(parents=True, exist_ok=True)
    if not options.report:
        run(options)
    report(options)


if __name__ == "__main__":
    main()
