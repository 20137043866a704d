"""What the benchmarks share: one thread for BLAS, turns, processes of their own, Optuna's studies, and printing.

Whoever imports this before NumPy has one thread for BLAS.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

Work = Callable[[], object]

# --- options and printing --------------------------------------------------------------------------


def options_of(text: str | None) -> argparse.ArgumentParser:
    """A parser whose help is the docstring of the benchmark."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def ints(text: str) -> list[int]:
    """Whole numbers, separated by commas; 1e6 is one."""
    return [int(float(number)) for number in text.split(",") if number]


def words(text: str) -> list[str]:
    return text.split(",")


def describe() -> str:
    """What was measured, and where."""
    import pedanova as pa
    from pedanova.base.kernel import library as kernel

    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"pedanova {pa.__version__}, counting: {kernel.describe()}, {os.cpu_count()} cores, load {load}\n"


class Lines:
    """A table in Markdown, printed line by line as numbers come."""

    def __init__(self, *titles: str, first: int = 28) -> None:
        self.widths = [first, *(max(8, len(title)) for title in titles[1:])]
        self.row(*titles)
        print("|" + "|".join("-" * (width + 2) for width in self.widths) + "|")

    def row(self, *cells: object) -> None:
        """Numbers with three digits, texts as they are."""
        texts = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells]
        first, *others = zip(texts, self.widths, strict=True)
        shown = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
        print(f"| {' | '.join(shown)} |", flush=True)


# --- time and memory -------------------------------------------------------------------------------


def take_turns(
    contestants: Mapping[str, Work], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each, turn by turn, so that a slow minute hits all; the first turn warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, work in contestants.items():
            start = clock()
            work()
            if turn:
                seconds[name].append(clock() - start)
    return seconds


def medians(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(times) for name, times in seconds.items()}


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median of the ratios within a turn."""
    return statistics.median(one / two for one, two in zip(above, below, strict=True))


@contextmanager
def without_kernel() -> Iterator[None]:
    """NumPy alone."""
    from pedanova.base.kernel import library as kernel

    available = kernel.available
    kernel.available = lambda: False  # type: ignore[assignment]
    try:
        yield
    finally:
        kernel.available = available


IN_A_PROCESS = """
import json, re, time
{setup}
start = time.process_time(), time.perf_counter()
{work}
used = time.process_time() - start[0], time.perf_counter() - start[1]
with open("/proc/self/status") as status:  # not ru_maxrss, which a child inherits from its parent
    peak = re.search("VmHWM:[^0-9]+([0-9]+)", status.read())[1]
print(json.dumps([*used, int(peak) / 1024]))
"""


def in_a_process(work: str, setup: str = "") -> tuple[float, float, float]:
    """CPU seconds, wall seconds, and the peak of memory in MB, of code in a process of its own."""
    script = IN_A_PROCESS.format(setup=setup, work=work)
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu, wall, peak = json.loads(done.stdout.splitlines()[-1])
    return cpu, wall, peak


def processes(contestants: Mapping[str, tuple[str, str]], repeats: int) -> dict[str, tuple[float, float, float]]:
    """Medians of `in_a_process` of each (setup, work), taking turns."""
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, (setup, work) in contestants.items():
            runs[name].append(in_a_process(work, setup))
    return {name: tuple(map(statistics.median, zip(*found, strict=True))) for name, found in runs.items()}  # type: ignore[misc]


# --- Optuna ----------------------------------------------------------------------------------------


def optuna_study(
    columns: Mapping[str, Sequence[Any]], distributions: Mapping[str, Any], values: Iterable[float]
) -> Any:
    """Complete trials in memory; columns are lists of Python's own values, None where a trial lacks the parameter."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study()
    for row, value in zip(zip(*columns.values(), strict=True), values, strict=True):
        params = {name: one for name, one in zip(columns, row, strict=True) if one is not None}
        kinds = {name: distributions[name] for name in params}
        study.add_trial(optuna.trial.create_trial(params=params, distributions=kinds, value=value))
    return study


def by_tpe(suggest: Callable[[Any], float], trials: int, seed: int) -> Any:
    """A study of Optuna's TPE, whose trials `suggest` evaluates."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(suggest, n_trials=trials)
    return study


def optuna_parts(study: Any, evaluator: str = "PedAnova", **how: Any) -> dict[str, float]:
    """What one of Optuna's evaluators answers."""
    from optuna import importance

    kind = getattr(importance, f"{evaluator}ImportanceEvaluator")
    return dict(importance.get_param_importances(study, evaluator=kind(**how)))


# --- long runs -------------------------------------------------------------------------------------


def read_records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append_records(
    path: Path, jobs: int, task: Callable[..., list[dict[str, Any]]], work: Sequence[Sequence[Any]]
) -> None:
    """The records of every task put at the end of a file of JSON lines as they come."""
    with ProcessPoolExecutor(jobs) as pool, path.open("a") as file:
        waiting = [pool.submit(task, *job) for job in work]
        for i, future in enumerate(as_completed(waiting), 1):
            file.writelines(json.dumps(record, default=float) + "\n" for record in future.result())
            file.flush()
            print(f"\r{path.name}: {i} of {len(waiting)}", end="", file=sys.stderr)
