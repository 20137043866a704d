"""Runtime against the number of rows: PED beside f-ANOVA, theirs and ours.

    python experiments/paper/runtime.py [--out DIR] [--runs 10] [--largest 8]

Seconds are those of the processor, all threads added; the table has those of the clock too. Whoever needs more than
one is run thrice, more than ten once. f-ANOVA by Optuna stops at 316 rows
(its line goes on dotted, as in the paper, by its own slope). A GPU is left out: none is needed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
from population import PRINTED, weights
from study import (
    COLOURS,
    DASHES,
    MARKERS,
    NAMES,
    POINTS,
    SPACE,
    Page,
    options_of,
    optuna_study,
    plt,
    seconds_of,
    values_of,
)

# isort: split
from shared import optuna_parts

import pedanova as pa

Columns = dict[str, np.ndarray]
Runs = dict[int, list[tuple[float, float]]]  # by rows
MOST = {
    "PED, counts": 10**9,
    "PED, default": 10**9,
    "PED, with intervals and p": 10**9,
    "PED, the paper's estimator": 10**7,
    "PED, Optuna": 10**5,
    "f-ANOVA, our forest": 10**5,
    "f-ANOVA, Optuna": 316,
}  # rows up to which each is asked
PIECE = 10**6  # rows drawn at a time


def quick_sample(rows: int) -> tuple[Columns, np.ndarray]:
    """The study of `study.sample` in little memory: f by a table of each term over the grid."""
    values = values_of(np.arange(POINTS))
    terms = [np.where(np.abs(values) < 1, *pair) * values**2 for pair in weights(PRINTED)]
    random = np.random.default_rng(0)
    columns = {name: np.empty(rows, dtype=np.uint16) for name in NAMES}
    loss = np.zeros(rows)
    for start in range(0, rows, PIECE):
        part = slice(start, min(rows, start + PIECE))
        for column, term in zip(columns.values(), terms, strict=True):
            column[part] = random.integers(0, POINTS, part.stop - part.start, dtype=np.uint16)
            loss[part] += term[column[part]]
    return columns, loss


def contestants(columns: Columns, loss: np.ndarray) -> dict[str, Callable[[], object]]:
    def ours(**options: object) -> Callable[[], object]:
        return lambda: pa.analyze(columns, loss, direction="minimize", space=SPACE).importance(0.1, **options)  # type: ignore[arg-type]

    def forest() -> object:
        a = pa.analyze(columns, loss, direction="minimize", space=SPACE)
        return pa.forest_effects(a.data.observed(), threads=None)

    rows = len(loss)
    found: dict[str, Callable[[], object]] = {
        "PED, counts": ours(estimator="counts", draws=0),
        "PED, default": ours(draws=0),
        "PED, with intervals and p": ours(),
        "PED, the paper's estimator": ours(estimator="paper"),
        "f-ANOVA, our forest": forest,
    }
    if rows <= MOST["PED, Optuna"]:
        study = optuna_study(columns, loss)  # held in memory, as it would be
        found["PED, Optuna"] = lambda: optuna_parts(study)
        found["f-ANOVA, Optuna"] = lambda: optuna_parts(study, "Fanova", seed=0)
    return {name: work for name, work in found.items() if rows <= MOST[name]}


def timed(work: Callable[[], object], runs: int) -> list[tuple[float, float]]:
    """(processor, clock) of every run."""
    seconds = [seconds_of(work)]
    wanted = 1 if seconds[0][0] > 10 else min(runs, 3) if seconds[0][0] > 1 else runs
    return [*seconds, *(seconds_of(work) for _ in range(wanted - 1))]


def main() -> None:
    options = options_of(__doc__ or "")
    page = Page(options.out, "runtime", "Runtime against the number of rows")
    sizes = [100, 316, *(10**k for k in range(3, options.largest + 1))]
    took: dict[str, Runs] = {name: {} for name in MOST}
    for work in contestants(*quick_sample(sizes[0])).values():
        work()  # so that no import is timed
    for rows in sizes:
        columns, loss = quick_sample(rows)
        for name, work in contestants(columns, loss).items():
            took[name][rows] = timed(work, options.runs)
    write(page, took, sizes)


def write(page: Page, took: dict[str, Runs], sizes: list[int]) -> None:
    """The figure and the table."""
    figure, ax = plt.subplots(figsize=(7.4, 4.4), layout="constrained")
    for i, (name, by_rows) in enumerate(took.items()):
        middle = [mean_of(s) for s in by_rows.values()]
        error = [np.std([one[0] for one in s]) / np.sqrt(len(s)) for s in by_rows.values()]
        style = {"color": COLOURS[i], "linestyle": DASHES[i], "marker": MARKERS[i], "ms": 4}
        ax.errorbar(list(by_rows), middle, yerr=error, capsize=2, linewidth=1.2, label=name, **style)
    slope(ax, took["f-ANOVA, Optuna"])
    for seconds, word in ((60, "a minute"), (604_800, "a week")):
        ax.axhline(seconds, color="#888888", linewidth=0.7)
        ax.text(sizes[-1], seconds * 1.15, word, ha="right", fontsize=8)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rows")
    ax.set_ylabel("seconds")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    caption = "Processor time on this machine, means and standard errors; dotted: Optuna's f-ANOVA by its own slope."
    page.figure(figure, "runtime", caption)
    lines = [[name, *(both_of(s[n]) if n in s else "–" for n in sizes)] for name, s in took.items()]
    printed = (
        "Printed: f-ANOVA over a minute at 10³ rows, over a week at 10⁵ (by its slope); PED within a minute at 10⁸"
    )
    page.table(["seconds (by the clock)", *(f"{n:,}" for n in sizes)], lines, printed, docs="runtime")
    page.numbers = {name: {str(n): s for n, s in by_rows.items()} for name, by_rows in took.items()}
    page.close()


def mean_of(seconds: list[tuple[float, float]], which: int = 0) -> float:
    return statistics.mean(one[which] for one in seconds)


def both_of(seconds: list[tuple[float, float]]) -> str:
    return f"{mean_of(seconds):.2g} ({mean_of(seconds, 1):.2g})"


def slope(ax: object, seconds: Runs) -> None:
    """On to 10⁵ rows by the last two points."""
    (one, two), (first, last) = list(seconds)[-2:], [mean_of(s) for s in list(seconds.values())[-2:]]
    power = np.log(last / first) / np.log(two / one)
    ahead = np.array([two, 10**5])
    ax.plot(ahead, last * (ahead / two) ** power, color="black", linestyle=":", linewidth=1)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
