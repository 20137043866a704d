"""The speed that matters, as ratios measured in one run, kept from commit to commit.

    python benchmarks/history.py                # measures, appends to benchmarks/history.jsonl, warns at a loss of 10 %
    python benchmarks/history.py --show         # draws benchmarks/history.png of what was kept

Every number is CPU time over that of something plain in the same run, so that machines can be compared a little: one
read of the same arrays, NumPy's own work on them, or another library's read of the same file. Lower is better. "On all
cores" is wall time over that of a read by as many threads. A number is held against the best of the last 5 runs on the
same kind of machine.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # for those who import this file from elsewhere
from shared import Work, medians, options_of, read_records, take_turns

# isort: split
import numpy as np

import pedanova as pa
from pedanova.base.kernel import library as kernel
from pedanova.base.threads import as_threads, chunks, spread
from pedanova.counting.pairs import tally_sets

KEPT = Path(__file__).with_name("history.jsonl")
LOSS = 0.10
LAST = 5


def ratio(work: Work, limit: Work, repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    took = medians(take_turns({"ours": work, "limit": limit}, repeats, clock))
    return took["ours"] / took["limit"]


def measure(rows: int, repeats: int) -> dict[str, float]:
    random = np.random.default_rng(0)
    data = {f"x{i}": random.uniform(-5, 5, rows) for i in range(8)}
    objective = sum(5.0**-i * data[f"x{i}"] ** 2 for i in range(4))
    space = {name: pa.Float(-5, 5) for name in data}
    few = {name: column[:300] for name, column in data.items()}

    def read() -> float:
        return sum(float(column.max()) for column in [*data.values(), objective])

    def histograms() -> list[Any]:
        return [np.histogram(column, 100, (-5, 5)) for column in data.values()]

    cores = as_threads(None)
    pieces = [column[rows] for column in [*data.values(), objective] for rows in chunks(len(column), pieces=cores)]
    groups = {name: (np.arange(1003) // 126).astype(np.uint8) for name in data}
    halves = (objective > np.median(objective)).astype(np.uint8)
    counted = pa.analyze(data, objective, space=space, scan=pa.Scan(threads=1))
    small = pa.analyze(few, objective[:300], space=space, scan=pa.Scan(threads=1))
    fit = np.linalg.cholesky
    matrix = np.eye(600) + 0.5
    return {
        "analyze / one read": ratio(
            lambda: pa.analyze(data, objective, space=space, scan=pa.Scan(threads=1)), read, repeats
        ),
        "analyze / np.histogram": ratio(
            lambda: pa.analyze(data, objective, space=space, scan=pa.Scan(threads=1)), histograms, repeats
        ),
        "analyze on all cores / one read on all cores": ratio(
            lambda: pa.analyze(data, objective, space=space),
            lambda: spread(np.add.reduce, pieces, threads=cores),
            repeats,
            time.perf_counter,
        ),
        "all pairs / np.histogram": ratio(
            lambda: tally_sets(counted.data.observations, halves, groups), histograms, repeats
        ),
        "importance with intervals / np.histogram": ratio(lambda: counted.importance(), histograms, repeats),
        "300 trials with a model / 100 Cholesky of 600": ratio(
            lambda: pa.analyze(few, objective[:300], space=space, scan=pa.Scan(threads=1)).importance(),
            lambda: [fit(matrix) for _ in range(100)],
            repeats,
        ),
        "densities of all / np.histogram": ratio(lambda: small.densities(), histograms, repeats),
        **ordinary_ratios(repeats),
    }


def ordinary_ratios(repeats: int) -> dict[str, float]:
    """The first answer of a study against Optuna's evaluator, and the command against a start with NumPy alone."""
    import ordinary

    result = {}
    for rows, parameters in ((100, 8), (300, 10), (1000, 10)):
        ours, peer, _ = ordinary.answer_and_peers(rows, parameters, repeats)
        result[f"answer of {rows} × {parameters} / Optuna's PED-ANOVA"] = ours / peer
        further = ordinary.least(lambda a: a.importance(0.05), partial(ordinary.answered, rows, parameters), repeats)
        result[f"another target of {rows} × {parameters} / Optuna's PED-ANOVA"] = further / peer
    many = ordinary.answered(1000, 300)
    with tempfile.TemporaryDirectory() as folder:
        for name, work in {"reduce": many.reduce, "report": partial(many.report, Path(folder) / "page.html")}.items():
            start = time.process_time()
            work()
            result[f"{name} of 1,000 × 300 / answer of 1,000 × 10"] = (time.process_time() - start) / ours
    command, start = ordinary.command_and_start(repeats)
    return {**result, "pedanova analyze of 200 × 12 / import numpy": command / start}


def measure_files(rows: int, repeats: int) -> dict[str, float]:
    """Files in parts and at once, on one thread, against what reads them."""
    import polars as pl
    from pyarrow import Table, compute, parquet, set_cpu_count

    random = np.random.default_rng(0)
    data = {f"x{i}": random.random(rows, dtype=np.float32) for i in range(9)}
    data["loss"] = sum(5.0**-i * (data[f"x{i}"] - 0.5) ** 2 for i in range(4))
    space = {f"x{i}": pa.Float(0, 1) for i in range(4)}
    names = [*space, "loss"]
    set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        files = f"{folder}/trials.parquet", f"{folder}/trials.csv"
        parquet.write_table(Table.from_pydict({name: data[name] for name in names}), files[0], row_group_size=250_000)
        pl.DataFrame(data).write_csv(files[1])

        def sums() -> None:
            with parquet.ParquetFile(files[0]) as source:
                for batch in source.iter_batches(1 << 20, columns=names, use_threads=False):
                    for column in batch.columns:
                        compute.sum(column)

        def in_parts() -> pa.Analysis:
            return pa.analyze(files[0], "loss", space=space, scan=pa.Scan(stream=True, threads=1))

        return {
            "Parquet in parts / pyarrow sums the columns": ratio(in_parts, sums, repeats),
            "CSV / Polars reads it": ratio(
                lambda: pa.analyze(files[1], "loss", params=list(space), scan=pa.Scan(threads=1)),
                lambda: pl.read_csv(files[1]),
                repeats,
            ),
        }


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {kernel.describe()}, NumPy {np.__version__}"


def commit() -> str:
    asked = ["git", "-C", str(KEPT.parent), "describe", "--always", "--dirty", "--abbrev=10"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def losses(now: dict[str, Any], before: list[dict[str, Any]]) -> list[str]:
    """Ratios that rose by more than a tenth over the best of the last runs on such a machine."""
    alike = [one["ratios"] for one in before if one["machine"] == now["machine"] and one["rows"] == now["rows"]][-LAST:]
    found = []
    for name, value in now["ratios"].items():
        known = [one[name] for one in alike if name in one]
        if known and value > (1 + LOSS) * min(known):
            found.append(f"{name}: {value:.2f}, {value / min(known) - 1:.0%} above the best of the last {len(known)}")
    return found


def draw(kept: list[dict[str, Any]], place: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for one in kept for name in one["ratios"]))
    figure, axes = plt.subplots(len(names), 1, figsize=(8, 1.7 * len(names)), sharex=True, layout="constrained")
    for axis, name in zip(np.atleast_1d(axes), names, strict=True):
        for kind in dict.fromkeys(one["machine"] for one in kept):
            points = [
                (i, one["ratios"][name])
                for i, one in enumerate(kept)
                if one["machine"] == kind and name in one["ratios"]
            ]
            axis.plot(*zip(*points, strict=True), "o-", label=kind)
        axis.set_title(f"{name} (lower is better)", fontsize=9, loc="left")
        axis.set_ylim(bottom=0)
    np.atleast_1d(axes)[-1].set_xticks(range(len(kept)), [one["commit"] for one in kept], rotation=30, fontsize=7)
    np.atleast_1d(axes)[0].legend(fontsize=7)
    figure.savefig(place, dpi=110)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="draw what was kept, and measure nothing")
    options = parser.parse_args()
    kept = read_records(KEPT)
    if options.show:
        place = KEPT.with_suffix(".png")
        draw(kept, place)
        print(place)
        return
    measured = measure(options.rows, options.repeats) | measure_files(options.rows, options.repeats)
    now = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": machine(),
        "rows": options.rows,
        "ratios": {name: round(value, 4) for name, value in measured.items()},
    }
    for name, value in now["ratios"].items():
        print(f"{value:>9.2f}  {name}")
    with KEPT.open("a") as file:
        file.write(json.dumps(now) + "\n")
    for line in losses(now, kept):
        print(f"warning: {line}", file=sys.stderr)


if __name__ == "__main__":
    main()
