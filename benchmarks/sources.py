"""Reading trials, in turn: pedanova's reader against pandas on text files, and against Optuna's loader on a storage.

    python benchmarks/sources.py [--trials 100000] [--rows 1e6] [--repeats 3]

Every reading is a process of its own, so that its memory can be told. Medians are shown, imports included.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import numpy as np
from shared import Lines, in_a_process, options_of, processes

PARAMS = 8
OPTUNA = "import optuna\nstudy = optuna.load_study(study_name='bench', storage={url!r})\n"
READERS = {
    "optuna": OPTUNA + "study.get_trials()",
    "optuna, deepcopy=False": OPTUNA + "study.get_trials(deepcopy=False)",
    "pedanova": "from pedanova.sources import read_records\nread_records({url!r})",
    "pedanova, to the answer": "import pedanova as pa\npa.analyze({url!r}).importance(estimator='counts', draws=0)",
    "nothing (imports alone)": "import optuna",
}


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


WRITE = {"semicolons": "csv({0!r}, sep=';', decimal=',', index=False)", "CSV": "csv({0!r}, index=False)"}
WRITE["JSON lines"] = "json({0!r}, orient='records', lines=True)"
READ = {"semicolons": "csv({0!r}, sep=';', decimal=',')", "CSV": "csv({0!r})", "JSON lines": "json({0!r}, lines=True)"}
COLUMNS = {"semicolons": 4, "JSON lines": 4, "CSV": 30}  # semicolons with decimal commas
RANKED = "import pedanova as pa\npa.analyze({0!r}, 'y').importance()"
MADE = """import numpy, pandas
random = numpy.random.default_rng(0)
frame = pandas.DataFrame({{f"x{{i}}": random.random({rows}) for i in range({columns})}})
frame["y"] = (frame["x0"] - 0.5) ** 2 + 0.1 * random.random({rows})
"""


def texts(folder: Path, rows: int, repeats: int) -> None:
    """CPU seconds from a text file to the ranking, and of pandas, which only reads the file."""
    lines = Lines("file", "pandas, CPU s", "pedanova, to the answer", "times")
    for kind, columns in COLUMNS.items():
        path = str(folder / ("table.jsonl" if kind == "JSON lines" else "table.csv"))
        in_a_process(MADE.format(rows=rows, columns=columns) + f"frame.to_{WRITE[kind].format(path)}")
        plain, own = f"import pandas\npandas.read_{READ[kind].format(path)}", RANKED.format(path)
        took = processes({"pandas": ("", plain), "pedanova": ("", own)}, repeats)
        (before, *_), (after, *_) = took.values()
        lines.row(f"{kind}, {rows:,} x {columns}", f"{before:.2f}", f"{after:.2f}", f"{after / before:.1f}")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts(Path(folder), int(options.rows), options.repeats)
    print()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        url = fill_sqlite(path, options.trials)
        print(f"{options.trials:,} trials x {PARAMS} parameters, SQLite, {path.stat().st_size / 1e6:.0f} MB\n")
        took = processes({name: ("", work.format(url=url)) for name, work in READERS.items()}, options.repeats)
    _, slowest, largest = took["optuna"]
    lines = Lines("reader", "seconds", "MB", "Optuna takes, time", "memory")
    for name, (_, wall, peak) in took.items():
        lines.row(name, f"{wall:.2f}", f"{peak:.0f}", f"{slowest / wall:.1f}", f"{largest / peak:.1f}")


if __name__ == "__main__":
    main()
