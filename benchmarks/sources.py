"""Reading trials: Optuna's own loader against pedanova's reader, on the same storage, in turn.

    python benchmarks/sources.py [--trials 100000] [--repeats 3]

Every reading is a process of its own, so that its memory can be told. Ratios are medians.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PARAMS = 8
READERS = {
    "optuna": "import optuna\nstudy = optuna.load_study(study_name='bench', storage={url!r})\n"
    "trials = study.get_trials()\ncount = len(trials)",
    "optuna, deepcopy=False": "import optuna\nstudy = optuna.load_study(study_name='bench', storage={url!r})\n"
    "trials = study.get_trials(deepcopy=False)\ncount = len(trials)",
    "pedanova": "from pedanova.sources import read_records\ncount = read_records({url!r}).rows",
    "pedanova, to the answer": "import pedanova as pa\na = pa.analyze({url!r})\n"
    "a.importance(estimator='counts', draws=0)\ncount = a.rows",
    "nothing (imports alone)": "import optuna\ncount = 0",
}
AROUND = """
import json, resource, time
begin = time.perf_counter()
{body}
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([count, seconds, peak]))
"""


def fill_sqlite(path: Path, trials: int) -> str:
    """Tables made by Optuna, rows of its shape put into them at once."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    url = f"sqlite:///{path}"
    optuna.create_study(storage=url, study_name="bench")
    rng = np.random.default_rng(0)
    space = {f"x{i}": optuna.distributions.FloatDistribution(1e-5, 1.0, log=bool(i % 2)) for i in range(PARAMS - 2)}
    space["n"] = optuna.distributions.IntDistribution(1, 64)
    space["c"] = optuna.distributions.CategoricalDistribution(["a", "b", "c"])
    texts = {name: optuna.distributions.distribution_to_json(one) for name, one in space.items()}
    values = {name: rng.uniform(1e-5, 1.0, trials) for name in space}
    values["n"], values["c"] = rng.integers(1, 65, trials), rng.integers(0, 3, trials)
    when = "2026-01-01 00:00:00.000000"
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "INSERT INTO trials (trial_id, number, study_id, state, datetime_start, datetime_complete) "
            "VALUES (?, ?, ?, 'COMPLETE', ?, ?)",
            ((i + 1, i, 1, when, when) for i in range(trials)),
        )
        connection.executemany(
            "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)",
            ((i + 1, name, float(values[name][i]), texts[name]) for i in range(trials) for name in space),
        )
        connection.executemany(
            "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')",
            ((i + 1, float(values["x0"][i] + 0.1 * values["x1"][i])) for i in range(trials)),
        )
    return url


def measure(reader: str, url: str) -> tuple[int, float, float]:
    code = AROUND.format(body=READERS[reader].format(url=url))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    count, seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return count, seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        url = fill_sqlite(path, options.trials)
        print(f"{options.trials:,} trials x {PARAMS} parameters, SQLite, {path.stat().st_size / 1e6:.0f} MB")
        found: dict[str, list[tuple[int, float, float]]] = {name: [] for name in READERS}
        for _ in range(options.repeats):
            for reader in READERS:
                found[reader].append(measure(reader, url))
    seconds = {name: statistics.median(run[1] for run in runs) for name, runs in found.items()}
    peaks = {name: statistics.median(run[2] for run in runs) for name, runs in found.items()}
    for name in READERS:
        slower, larger = seconds["optuna"] / seconds[name], peaks["optuna"] / peaks[name]
        print(
            f"{name:26} {found[name][0][0]:>8,} trials {seconds[name]:8.2f} s {peaks[name]:8.0f} MB"
            f"   Optuna takes {slower:5.1f} x the time, {larger:4.1f} x the memory"
        )


if __name__ == "__main__":
    main()
