"""The paper's experiment on JAHS-Bench-201: every configuration of its lattice, exactly.

    python experiments/paper/jahs.py DATA [--out DIR] [--runs 10]

DATA holds the validation accuracy (200 epochs, full resolution) of all 41,343,750 configurations in the order of
`itertools.product` over the space below, the learning rate slowest: a .json list as `collect_jahs.py` of
github.com/nabenabe0928/local-anova writes it from the surrogates of `pip install jahs-bench`, or a .parquet or .npy
file with one column (also thousandths as whole numbers). Of a folder the first such file is taken.

Written to --out: the six columns of the paper's table with f-ANOVA and clipped f-ANOVA *exactly*, beside forests of
10⁴ points, and the figures: densities, cumulative accuracies, sample efficiency, and what ranks alone hide. If the
folder of DATA holds exact ratios that were published, they are compared with ours.
"""

from __future__ import annotations

import json
import math
import resource
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from printed import COLUMNS, PRINTED
from study import COLOURS, DASHES, MARKERS, Page, mean_and_error, options_of, optuna_study, plt

# isort: split
from shared import optuna_parts

import pedanova as pa

CHOICES: dict[str, list[Any]] = {
    "LearningRate": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0],
    "WeightDecay": [1e-05, 3e-05, 1e-04, 3e-04, 1e-03, 3e-03, 1e-02],
    "N": [1, 3, 5],
    "W": [4, 8, 16],
    "Activation": ["ReLU", "Hardswish", "Mish"],
    "TrivialAugment": [True, False],
    **{f"Op{i}": [0, 1, 2, 3, 4] for i in range(1, 7)},
}
ORDERED = ("LearningRate", "WeightDecay", "N", "W")
SIZES = [len(choices) for choices in CHOICES.values()]
ROWS = math.prod(SIZES)
SPACE = {
    name: (pa.Ordinal if name in ORDERED else pa.Categorical)(list(range(len(choices))))
    for name, choices in CHOICES.items()
}
POINTS = [100, 316, 1_000, 3_162, 10_000, 31_623, 100_000]
FOREST = 10_000  # points, as in the paper
PUBLISHED = Path("published") / "jahs_thesis_full_lattice_exact.json"
PUBLISHED_QUESTIONS = {
    "global_0.1": (0.1, 1.0),
    "global_0.01": (0.01, 1.0),
    "global_0.001": (0.001, 1.0),
    "0.01_in_0.1": (0.01, 0.1),
}


# --- the lattice -------------------------------------------------------------------------------------


def read_accuracy(place: Path) -> np.ndarray:
    path = place
    if place.is_dir():
        found = [f for end in ("parquet", "npy", "json") for f in sorted(place.glob(f"*jahs*lattice*.{end}"))]
        path = next((f for f in found if f.suffix != ".json" or f.stat().st_size > ROWS), place)
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        values = pq.read_table(path).column(0).combine_chunks().to_numpy()
    elif path.suffix == ".npy":
        values = np.load(path)
    else:
        values = np.array(json.loads(path.read_text()), dtype=np.float32)
    if len(values) != ROWS:
        raise SystemExit(f"{path} holds {len(values):,} accuracies; the lattice has {ROWS:,}")
    return values if values.dtype.kind == "f" else (values / np.float32(1000)).astype(np.float32)


def lattice() -> dict[str, np.ndarray]:
    """Codes of one byte, by parameter."""
    columns = {}
    for i, name in enumerate(CHOICES):
        inner, outer = math.prod(SIZES[i + 1 :]), math.prod(SIZES[:i])
        columns[name] = np.tile(np.repeat(np.arange(SIZES[i], dtype=np.uint8), inner), outer)
    return columns


def analyze(columns: dict[str, np.ndarray], accuracy: np.ndarray) -> pa.Analysis:
    return pa.analyze(columns, accuracy, direction="maximize", space=SPACE, repeats="all")


def drawn(columns: dict[str, np.ndarray], accuracy: np.ndarray, rows: int, seed: int) -> tuple[dict[str, Any], Any]:
    some = np.random.default_rng([seed, rows]).integers(0, ROWS, rows)
    return {name: column[some] for name, column in columns.items()}, accuracy[some]


def check_published(page: Page, columns: dict[str, np.ndarray], accuracy: np.ndarray, path: Path) -> None:
    """Published ratios in percent take ⌊γN⌋ rows, the first ones among equals; ours take ⌈γN⌉ rows and all ties."""
    cuts = {part: Fraction(int(Fraction(str(part)) * ROWS), ROWS) for part in (0.001, 0.01, 0.1, 1.0)}
    first_wins = accuracy.astype(np.float64) + 1e-4 * np.arange(ROWS, 0, -1) / ROWS
    levels = list(cuts.values())[:-1]
    a = pa.analyze(columns, first_wins, direction="maximize", space=SPACE, repeats="all", levels=levels)
    worst = 0.0
    for name, (target, region) in PUBLISHED_QUESTIONS.items():
        ours = a.importance(cuts[target], cuts[region], estimator="counts", draws=0)
        exact = json.loads(path.read_text())[name]
        worst = max(worst, *(abs(ours[key].raw_ratio - value / 100) for key, value in exact.items()))
    page.text(f"Largest difference of a ratio from the published one, by the published rule: {worst:.1e}.")
    print(page.parts[-1], flush=True)


# --- the table ---------------------------------------------------------------------------------------


def exact_columns(a: pa.Analysis) -> list[dict[str, float]]:
    """The six columns, of all rows."""
    asks: list[Callable[[], dict[str, float]]] = [
        lambda: a.effects().ratios,
        lambda: plug_in(a, 0.1, 1.0),
        lambda: a.effects(clip=0.1).ratios,
        lambda: plug_in(a, 0.01, 1.0),
        lambda: a.effects(clip=0.01).ratios,
        lambda: plug_in(a, 0.01, 0.1),
    ]
    return [ask() for ask in asks]


def plug_in(a: pa.Analysis, target: float, region: float) -> dict[str, float]:
    return {row.name: row.raw_ratio for row in a.importance(target, region, estimator="counts", draws=0).rows}


def forest_columns(columns: dict[str, np.ndarray], accuracy: np.ndarray, runs: int) -> dict[int, tuple[Any, Any]]:
    """Columns 0, 2 and 4 by forests of 10⁴ points: means over runs and standard errors."""
    found = {}
    for place, clip in ((0, None), (2, 0.1), (4, 0.01)):
        ratios = []
        for seed in range(runs):
            a = analyze(*drawn(columns, accuracy, FOREST, seed))
            told = pa.forest_effects(a.data.observed(), clip=clip, seed=seed, threads=None).ratios
            ratios.append([told[name] for name in CHOICES])
        found[place] = mean_and_error(ratios)
    return found


def write_table(page: Page, exact: list[dict[str, float]], forests: dict[int, tuple[Any, Any]], dataset: str) -> None:
    lines = []
    for i, name in enumerate(CHOICES):
        cells = []
        for column in range(6):
            printed = PRINTED[dataset][name][column]
            cell = f"{100 * exact[column][name]:.2f} <small>({printed:.2f})</small>"
            if column in forests:
                mean, error = forests[column]
                cell += f"<br><small>forest {100 * mean[i]:.2f} ± {196 * error[i]:.2f}</small>"
            cells.append(cell)
        lines.append([name, *cells])
    caption = (
        "Ratios (%) of all configurations, exactly; in brackets as printed; below, forests of 10⁴ points with 95 % of "
        "the mean. All rows are there, so the exact numbers have no interval"
    )
    page.table(["", *COLUMNS], lines, caption)


# --- figures -----------------------------------------------------------------------------------------


def draw_densities(page: Page, a: pa.Analysis) -> None:
    figure, axes = plt.subplots(3, 4, figsize=(11, 6.6), layout="constrained", sharey=True)
    told = {part: a.densities(None, part, estimator="counts") for part in (0.1, 0.01)}
    for ax, (name, choices) in zip(axes.flat, CHOICES.items(), strict=True):
        places = np.arange(len(choices))
        for i, (part, densities) in enumerate(told.items()):
            d = densities[name]
            style = {"color": COLOURS[i], "hatch": ["", "///"][i], "label": f"best {100 * part:g} %"}
            ax.bar(places + 0.38 * (i - 0.5), d.target / d.uniform, 0.36, **style)
        ax.axhline(1, color="black", linewidth=0.8)
        ax.set_xticks(places, [str(choice) for choice in choices], rotation=45 if len(choices) > 5 else 0, fontsize=7)
        ax.set_title(name, fontsize=9)
    for ax in axes[:, 0]:
        ax.set_ylabel("density / uniform")
    axes[0][0].legend(fontsize=8)
    page.figure(figure, "jahs-densities", "How much likelier each value is among the best than in a uniform draw.")


def draw_accuracies(page: Page, accuracy: np.ndarray) -> None:
    parts = np.concatenate([np.linspace(0, 0.9, 181), np.linspace(0.9, 1, 501)])
    values = np.quantile(accuracy[::7], parts)  # every seventh row: the curve is the same to the eye
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained")
    for ax, low in zip(axes, (0.0, 0.9), strict=True):
        shown = parts >= low
        ax.plot(values[shown], parts[shown], color="black")
        for i, part in enumerate((0.1, 0.01)):
            limit = float(np.interp(1 - part, parts, values))
            ax.axvline(limit, color=COLOURS[i], linestyle=DASHES[i + 1], label=f"best {100 * part:g} %: {limit:.2f}")
        ax.set_xlabel("validation accuracy (%)")
    axes[0].set_xlim(0, 100)
    axes[0].set_ylabel("rows below")
    axes[1].legend(fontsize=8)
    page.figure(figure, "jahs-accuracies", "Cumulative distribution of the accuracy: whole, and magnified at the top.")


def by_optuna(columns: Any, accuracy: np.ndarray, _: int) -> dict[str, float]:
    return optuna_parts(optuna_study(columns, -accuracy, SPACE))


def by_authors(columns: Any, accuracy: np.ndarray, _: int) -> dict[str, float]:
    return analyze(columns, accuracy).importance(0.1, estimator="paper").ratios


def by_forest(columns: Any, accuracy: np.ndarray, seed: int) -> dict[str, float]:
    a = analyze(columns, accuracy)
    return pa.forest_effects(a.data.observed(), seed=seed, threads=None).ratios


def half_difference(ratios: dict[str, float], truth: dict[str, float]) -> float:
    """The part of all importance that is given to the wrong parameters."""
    return sum(abs(ratios[name] - truth[name]) for name in CHOICES) / 2


def sample_efficiency(page: Page, columns: Any, accuracy: np.ndarray, exact: Any, runs: int) -> None:
    """How far the ratios of fewer points are from those of all: half the summed difference, over runs."""

    def ped(**options: Any) -> Callable[[Any, Any, int], dict[str, float]]:
        return lambda x, y, _: analyze(x, y).importance(0.1, draws=0, force=True, **options).ratios

    asks = {
        "PED, default": (ped(), exact[1], 10**5, max(3, runs // 3)),
        "PED, counts": (ped(estimator="counts"), exact[1], 10**5, runs),
        "PED, the authors' densities": (by_authors, exact[1], 10**5, runs),
        "PED, Optuna": (by_optuna, exact[1], 10**4, runs),
        "f-ANOVA, forest": (by_forest, exact[0], 10**4, max(3, runs // 2)),
    }
    figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    lines = []
    for i, (label, (ask, truth, most, many)) in enumerate(asks.items()):
        sizes, means, errors = [n for n in POINTS if n <= most], [], []
        for rows in sizes:
            told = [ask(*drawn(columns, accuracy, rows, seed), seed) for seed in range(many)]
            mean, error = mean_and_error([[half_difference(ratios, truth)] for ratios in told])
            means.append(100 * mean[0])
            errors.append(100 * error[0])
        style = {"color": COLOURS[i], "linestyle": DASHES[i], "marker": MARKERS[i]}
        ax.errorbar(sizes, means, yerr=errors, capsize=2, ms=4, linewidth=1.2, label=label, **style)
        lines.append([label, *(f"{m:.1f} ± {e:.1f}" for m, e in zip(means, errors, strict=True))])
        lines[-1] += ["–"] * (1 + len(POINTS) - len(lines[-1]))
        page.numbers[label] = {"points": sizes, "off": means, "error": errors}
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("points")
    ax.set_ylabel("off by (% of all importance)")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    page.figure(figure, "jahs-efficiency", "Sample efficiency: how much importance is given to the wrong parameter.")
    page.table(
        ["off by (%), ± standard error", *(f"{n:,}" for n in POINTS)], lines, "Each against its own exact values"
    )


def hidden_by_ranks(page: Page, a: pa.Analysis) -> None:
    """The same table seen by PED and with the scale: how many points of accuracy a parameter moves."""
    told, inner = a.importance(0.01, 0.1, estimator="counts", draws=0), a.effects(0.1)
    whole = a.effects()
    lines = []
    for row in told.rows:
        reach = []
        for effects in (whole, inner):
            m = effects.marginal(row.name)
            best, spread = int(np.nanargmax(m.mean)), float(np.nanmax(m.mean) - np.nanmin(m.mean))
            reach.append(f"{spread:.2f} (best: {CHOICES[row.name][best]})")
        shares = [
            f"{100 * row.raw_ratio:.1f}",
            f"{100 * inner[row.name].ratio:.1f}",
            f"{100 * whole[row.name].ratio:.1f}",
        ]
        lines.append([row.name, *shares, *reach])
    head = [
        "",
        "PED 0.01 in 0.1 (%)",
        "effects in 0.1 (%)",
        "effects, all (%)",
        "moves the mean, all",
        "moves the mean, in 0.1",
    ]
    caption = (
        "What ranks hide: PED says which parameter leads from the best 10 % to the best 1 %; effects() and marginal() "
        "say how many points of accuracy that is worth (standard deviation in the best 10 %: "
        f"{math.sqrt(inner.total_variance):.2f})"
    )
    page.table(head, lines, caption)


def main() -> None:
    options = options_of(__doc__ or "", data=True)
    dataset = next((name for name in PRINTED if name in options.data.stem.lower()), "cifar10")
    page = Page(options.out, "jahs", f"JAHS-Bench-201, {dataset}")
    accuracy, columns = read_accuracy(options.data), lattice()
    start = time.perf_counter()
    a = analyze(columns, accuracy)
    exact = exact_columns(a)
    seconds, peak = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    held = sum(column.nbytes for column in columns.values()) / 2**30
    page.text(
        f"{len(a):,} configurations counted and all six columns answered in {seconds:.1f} s; peak memory of the whole "
        f"process {peak:.2f} GB (of it {held:.2f} GB columns)."
    )
    print(page.parts[-1], flush=True)
    page.numbers["exact"] = dict(zip(COLUMNS, exact, strict=True))
    published = (options.data if options.data.is_dir() else options.data.parent) / PUBLISHED
    if published.exists():
        check_published(page, columns, accuracy, published)
    draw_densities(page, a)
    draw_accuracies(page, accuracy)
    hidden_by_ranks(page, a)
    write_table(page, exact, forest_columns(columns, accuracy, options.runs), dataset)
    sample_efficiency(page, columns, accuracy, exact, options.runs)
    page.close()


if __name__ == "__main__":
    main()
