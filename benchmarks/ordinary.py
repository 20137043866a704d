"""An ordinary study: CPU seconds of what users ask first, held against Optuna's evaluator in the same run.

    python benchmarks/ordinary.py [--sizes 300x8,1000x10,…] [--repeats 3] [--curve] [--answers]
    python benchmarks/ordinary.py --command      # pedanova analyze study.db, 200 trials × 12, from start to last line
    python benchmarks/ordinary.py --questions    # what each further question costs
    python benchmarks/ordinary.py --many 1000x300,100000x1000    # report, reduce and compare of many columns

``answer`` is `analyze` and the first `importance()`, with intervals and p-values; ``one more`` a further question.
``ratio`` is to Optuna's evaluator as it is, ``quickest`` to it with ``evaluate_on_local=False``, which compares with a
uniform draw. ``page`` and ``reduce`` begin with a new analysis each (``--answers`` leaves them out). The least of
the repeats is taken; imports are not counted (but of the command), threads of all cores are. ``--curve`` prints the
cost from 40 rows to 20,000, ten parameters.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from shared import Lines, options_of, optuna_parts, take_turns, words

# isort: split
import numpy as np
from samples import Sample, study_of

import pedanova as pa

SIZES = ("100x8", "300x10", "1000x10", "5000x20", "300x100")
CURVE = (40, 100, 300, 1000, 3000, 10_000, 20_000)


def table(rows: int, parameters: int) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """Ranges and one category; three parameters and the category decide, with a little noise."""
    rng = np.random.default_rng([rows, parameters])
    columns: dict[str, Any] = {f"x{j}": rng.random(rows) for j in range(parameters - 1)}
    columns["kind"] = rng.choice(["a", "b", "c"], rows)
    space: dict[str, Any] = {name: pa.Float(0, 1) for name in columns if name != "kind"}
    space["kind"] = pa.Categorical(["a", "b", "c"])
    x = [columns[f"x{j}"] for j in range(3)]
    loss = 4 * (x[0] - 0.3) ** 2 + 2 * np.abs(x[1] - 0.6) * (x[2] + 0.5) + 0.5 * (columns["kind"] == "a")
    return columns, loss + 0.1 * rng.normal(size=rows), space


def least(work: Callable[[pa.Analysis], object], make: Callable[[], pa.Analysis], repeats: int) -> float:
    """CPU seconds of the quickest of some runs, each with an analysis of its own, after one that warms up."""
    spent = []
    for _ in range(repeats + 1):
        a = make()
        start = time.process_time()
        work(a)
        spent.append(time.process_time() - start)
    return min(spent[1:])


def cells_of(rows: int, parameters: int, repeats: int, *, answers: bool) -> list[str]:
    columns, loss, space = table(rows, parameters)

    def new() -> pa.Analysis:
        return pa.analyze(columns, loss, space=space, direction="min")

    def with_an_answer() -> pa.Analysis:
        a = new()
        a.importance()
        return a

    more = least(lambda a: a.importance(0.05), with_an_answer, repeats)
    first, peer, quickest = answer_and_peers(rows, parameters, repeats)
    cells = [f"{first:.3f}", f"{more:.4f}", f"{peer:.3f}", f"{first / peer:.1f}", f"{first / quickest:.1f}"]
    if not answers:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            cells.append(f"{least(lambda a: a.report(page), new, max(1, repeats - 1)):.2f}")
        cells.append(f"{least(lambda a: a.reduce(), with_an_answer, max(1, repeats - 1)):.2f}")
    return cells


def answer_and_peers(rows: int, parameters: int, repeats: int) -> tuple[float, float, float]:
    """CPU seconds of `analyze` and `importance`, of Optuna's evaluator, and of its quickest configuration, in turns."""
    columns, loss, space = table(rows, parameters)
    study = study_of(Sample(space, columns, loss), "ranges")
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: pa.analyze(columns, loss, space=space, direction="min").importance(),
        "Optuna": lambda: optuna_parts(study),
        "quickest": lambda: optuna_parts(study, evaluate_on_local=False),
    }
    spent = take_turns(works, repeats, time.process_time)
    ours, peer, quickest = (min(spent[name]) for name in works)
    return ours, peer, quickest


def command_and_start(repeats: int, trials: int = 200, parameters: int = 12) -> tuple[float, float]:
    """CPU seconds of ``pedanova analyze study.db`` as a process of its own, and of one that imports NumPy alone."""
    columns, loss, space = table(trials, parameters)
    with tempfile.TemporaryDirectory() as folder:
        import optuna

        study = study_of(Sample(space, columns, loss), "ranges")

        stored = optuna.create_study(storage=f"sqlite:///{folder}/study.db", direction="minimize")
        stored.add_trials(study.trials)
        # Installed packages have bytecode, so that of a checkout is made, too.
        around = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        words = (["-m", "pedanova", "analyze", f"{folder}/study.db"], ["-c", "import numpy"])

        def run(arguments: list[str]) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *arguments], env=around, stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        spent = [[run(one) for one in words] for _ in range(repeats + 1)][1:]
    command, start = (sorted(column)[len(column) // 2] for column in zip(*spent, strict=True))
    return command, start


QUESTIONS: dict[str, Callable[[pa.Analysis], object]] = {
    "importance(0.05)": lambda a: a.importance(0.05),
    "importance(0.1, 0.5)": lambda a: a.importance(0.1, 0.5),
    "densities()": lambda a: a.densities(),
    "pairs(x0, x1)": lambda a: a.pairs(["x0", "x1"]),
    "effects()": lambda a: a.effects(),
    "interactions()": lambda a: a.interactions(),
    "gains()": lambda a: a.gains(),
    "needed()": lambda a: a.needed(),
    "next_trials()": lambda a: a.next_trials(),
    "reduce()": lambda a: a.reduce(),
    "profile()": lambda a: a.profile(),
    "brief()": lambda a: a.brief(),
}


def answered(rows: int, parameters: int) -> pa.Analysis:
    """An analysis that has answered its first question."""
    columns, loss, space = table(rows, parameters)
    a = pa.analyze(columns, loss, space=space, direction="min")
    a.importance()
    return a


def print_questions(sizes: list[str], repeats: int) -> None:
    """Milliseconds of each question to an analysis that has answered `importance`."""
    shapes = [tuple(map(int, size.split("x"))) for size in sizes]
    lines = Lines("CPU milliseconds", *sizes, first=22)
    for name, question in QUESTIONS.items():
        spent = [least(question, partial(answered, *shape), repeats) for shape in shapes]
        lines.row(name, *(f"{1e3 * seconds:.0f}" for seconds in spent))


def print_many(sizes: list[str]) -> None:
    """CPU seconds of one run each, and the most memory so far, of tables of single-precision columns."""
    import sklearn.ensemble  # noqa: F401

    lines = Lines("CPU seconds", "analyze", "importance", "reduce", "compare", "report", "peak, MB", first=16)
    for size in sizes:
        rows, parameters = map(int, size.split("x"))
        rng = np.random.default_rng(0)
        columns = {f"x{j}": rng.random(rows, dtype=np.float32) for j in range(parameters)}
        x = [columns[f"x{j}"] for j in range(5)]
        loss = 4 * (x[0] - 0.3) ** 2 + 2 * np.abs(x[1] - 0.6) * (x[2] + 0.5) + x[3] * x[4] + 0.1 * rng.normal(size=rows)
        seconds = [time.process_time()]
        a = pa.analyze(columns, loss, space=dict.fromkeys(columns, pa.Float(0, 1)), direction="min")
        seconds.append(time.process_time())
        with tempfile.TemporaryDirectory() as folder:
            for work in (a.importance, a.reduce, a.compare, partial(a.report, Path(folder) / "page.html")):
                work()
                seconds.append(time.process_time())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
        lines.row(f"{rows:,} × {parameters:,}", *(f"{second:.1f}" for second in np.diff(seconds)), peak)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--sizes", type=words, default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--answers", action="store_true", help="leave page and reduction out")
    parser.add_argument("--command", action="store_true", help="the command of 200 trials × 12 alone")
    parser.add_argument("--questions", action="store_true", help="each further question alone")
    parser.add_argument("--many", type=words, help="report, reduce and compare of these sizes alone")
    options = parser.parse_args()
    if options.command:
        command, start = command_and_start(options.repeats)
        print(f"pedanova analyze, 200 trials × 12: {command:.2f} CPU seconds, {command / start:.1f} × import numpy")
        return
    if options.questions:
        print_questions(["100x8", "300x10", "1000x10"], options.repeats)
        return
    if options.many:
        print_many(options.many)
        return
    sizes = [f"{rows}x10" for rows in CURVE] if options.curve else options.sizes
    titles = ["answer", "one more", "Optuna", "ratio", "quickest"] + ([] if options.answers else ["page", "reduce"])
    lines = Lines("CPU seconds", *titles, first=12)
    for size in sizes:
        rows, parameters = map(int, size.split("x"))
        lines.row(f"{rows} × {parameters}", *cells_of(rows, parameters, options.repeats, answers=options.answers))


if __name__ == "__main__":
    main()
