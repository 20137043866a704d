"""Does a reduced space help? Judged on complete tables, where every configuration's value is known.

    python benchmarks/reduction.py DATA_DIR [--seeds 30] [--rows 200,100,500] [--tables …] [--jobs 1] [-o DIR]

Trials are sampled uniformly or by Optuna's TPE; `Analysis.reduce` and the naive box around the best 10 % of the
trials each give a smaller space, and 200 further trials are run in the full and in both smaller ones: random ones,
100 times over, and then, for ``--tpe-rows`` trials, by TPE.

Enrichment is that of the table's true best 1 %; a run survives if a configuration of the true best
0.1 % is left; regret is the best value found, 0 for the table's best and 1 for its median; a run
improves if further random trials find a better value than the trials before.

Raw scores go to ``DIR/reduction.jsonl`` and ``DIR/further-tpe.jsonl`` as they come; a run that is begun
again goes on from there. ``--report`` alone prints the tables from these files.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared import Lines, append_records, by_tpe, ints, options_of, read_records, words

# isort: split
import numpy as np
from numpy.typing import NDArray
from samples import Reals, best
from tables import TABLES, Table, read_table, sample

import pedanova as pa

SIZES = (200, 100, 500)
BY_TABLE = 200  # trials for which every table is shown
FURTHER, REPEATS = 200, 100
RUN = ("table", "sampler", "rows", "seed")
Box = list[NDArray[np.int64]]  # the codes left of every parameter
Record = dict[str, Any]


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
    space = a.reduce().space
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


def score(folder: Path, keep: Path, name: str, sampler: str, size: int, seed: int) -> list[Record]:
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
    records = []
    for kind, box in boxes.items():
        volume, own = truth.volume(box), bests[kind]
        scores = {
            "volume": volume,
            "enrichment": truth.kept(box, 0.01) / volume,
            "survives": int(truth.kept(box, 0.001) > 0),
            "wins": np.mean(own < bests["full"]),
            "ties": np.mean(own == bests["full"]),
            "beats_naive": np.mean(own < bests["naive"]) + 0.5 * np.mean(own == bests["naive"]),
            "improves": np.mean(own < before),
            "seconds": seconds,
            "box": [left.tolist() for left in box],
        }
        records.append(dict(zip(RUN, (name, sampler, size, seed), strict=True)) | {"kind": kind} | scores)
    return records


def go_on(folder: Path, keep: Path, run: tuple[Any, ...], boxes: dict[str, Any]) -> list[Record]:
    """Further trials by TPE in every space of one run; in the full one they are what it samples by itself.

    The seed is that of the next run, whose trials this one has not seen.
    """
    truth, seed = read_truth(folder, run[0]), run[3] + 1
    values = {
        kind: best_by_tpe(truth, [np.array(left) for left in box], seed)
        for kind, box in boxes.items()
        if kind != "full"
    }
    values["full"] = float(truth.table.objective[trials_of(truth, "tpe", FURTHER, seed, keep)].min())
    about = dict(zip(RUN, run, strict=True))
    return [{**about, "kind": kind, "regret": truth.regret(value)} for kind, value in values.items()]


def run_of(record: Record) -> tuple[Any, ...]:
    return tuple(record[key] for key in RUN)


# --- all runs --------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    keep = options.output / "tpe"
    keep.mkdir(exist_ok=True)
    scored, further = (options.output / f"{name}.jsonl" for name in ("reduction", "further-tpe"))
    done = {run_of(record) for record in read_records(scored)}
    work = [
        (options.folder, keep, name, sampler, size, seed)
        for size in options.rows
        for sampler in options.samplers
        for name in options.tables
        for seed in range(options.seeds)
        if (name, sampler, size, seed) not in done
    ]
    append_records(scored, options.jobs, score, work)
    done = {run_of(record) for record in read_records(further)}
    boxes: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in read_records(scored):
        if run_of(record) not in done and record["rows"] in options.tpe_rows and record["table"] in options.tables:
            boxes.setdefault(run_of(record), {})[record["kind"]] = record["box"]
    # Five seeds of every table, then the next five: whoever breaks off has seen all tables.
    order = sorted(boxes, key=lambda run: (SIZES.index(run[2]), run[3] // 5, run[0], run[1]))
    append_records(further, options.jobs, go_on, [(options.folder, keep, run, boxes[run]) for run in order])


# --- what came of it -------------------------------------------------------------------------------


def report(options: argparse.Namespace) -> None:
    lines, tpe = (read_records(options.output / f"{name}.jsonl") for name in ("reduction", "further-tpe"))
    printed = Lines(
        "trials, table", "runs", "volume", "enrichment", "survives", "better than full (ties)", "better than naive",
        "by TPE: than full (ties)", "by TPE: than naive", "naive: volume, enrichment, survives, better than full",
        "better than before: reduced, naive, full", first=44,
    )  # fmt: skip
    for size in sorted(options.rows):
        for sampler in options.samplers:
            mine, further = (
                [ln for ln in each if ln["sampler"] == sampler and ln["rows"] == size] for each in (lines, tpe)
            )
            for name in ["all", *(options.tables if size == BY_TABLE else ())]:
                own, after = ([ln for ln in each if name in ("all", ln["table"])] for each in (mine, further))
                if own:
                    printed.row(f"{size} {sampler}, {name}", *cells_of(own, after))


def cells_of(lines: list[Record], tpe: list[Record]) -> list[str]:
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


def in_short(lines: list[Record]) -> str:
    """Volume, enrichment, survives, better than full."""
    middle = f"{np.median(numbers(lines, 'volume')):.2g}, {np.median(numbers(lines, 'enrichment')):.1f}"
    return f"{middle}, {np.mean(numbers(lines, 'survives')):.0%}, {np.mean(numbers(lines, 'wins')):.0%}"


def against(tpe: list[Record]) -> list[str]:
    """How often further trials by TPE end better in the reduced space: than in the full one, than in the naive one."""
    if not tpe:
        return ["", ""]
    regret = {kind: {run_of(ln): ln["regret"] for ln in tpe if ln["kind"] == kind}
              for kind in ("reduced", "full", "naive")}  # fmt: skip
    runs = list(regret["reduced"])
    own, full, naive = (np.array([regret[kind][run] for run in runs]) for kind in ("reduced", "full", "naive"))
    return [
        f"{np.mean(own < full):.0%} ({np.mean(own == full):.0%})",
        f"{np.mean(own < naive) + 0.5 * np.mean(own == naive):.0%}",
    ]


def numbers(lines: list[Record], key: str) -> Reals:
    return np.array([ln[key] for ln in lines])


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rows", type=ints, default=list(SIZES))
    parser.add_argument("--tpe-rows", type=ints, default=list(SIZES), help="trials that TPE goes on from")
    parser.add_argument("--tables", type=words, default=list(TABLES))
    parser.add_argument("--samplers", type=words, default=["uniform", "tpe"])
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
