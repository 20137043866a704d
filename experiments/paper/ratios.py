"""Cumulative ratios of the 4-D function against the number of rows: do they settle, and on what?

    python experiments/paper/ratios.py [--out DIR] [--runs 10]

The paper shows PED beside Optuna's f-ANOVA. Here the authors' densities, the package's counts and its default
(a model up to 5,000 rows) stand beside the exact values of the whole population; f-ANOVA is that of the package's
forest, and Optuna's as far as its runtime allows: 300 rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from population import PRINTED, RELEASED, fanova_ratios, ratios
from study import (
    NAMES,
    Page,
    analysis,
    draw_bands,
    draw_truth,
    mean_and_error,
    options_of,
    optuna_study,
    percents,
    plt,
    sample,
)

# isort: split
from shared import optuna_parts

import pedanova as pa

SIZES = [100, 316, 1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000]
LOCAL = [1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000]
MODELLED = 3_162  # rows up to which the default asks a model: few seeds are enough
FOREST, OPTUNA = 10_000, 316  # rows that a forest, and Optuna's, is asked about
LAST = {"PED, default": "best 10 %", "f-ANOVA, Optuna": "f-ANOVA", "0.01 in 0.1: default": "0.01 in 0.1"}
Ask = Callable[[int, int], dict[str, float]]


def by_estimator(estimator: str, target: float, region: float) -> Ask:
    def ask(rows: int, seed: int) -> dict[str, float]:
        return analysis(rows, seed).importance(target, region, estimator=estimator, draws=0, force=True).ratios

    return ask


def by_forest(rows: int, seed: int) -> dict[str, float]:
    a = analysis(rows, seed)
    return pa.forest_effects(a.data.observed(), seed=seed, threads=None).ratios


def by_optuna(rows: int, seed: int) -> dict[str, float]:
    return optuna_parts(optuna_study(*sample(rows, seed)), "Fanova", seed=seed)


def runs_of(ask: Ask, sizes: list[int], runs: int, few: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(sizes, 4) Means over seeds and their standard errors; up to `few` rows a third of the seeds."""
    means, errors = [], []
    for rows in sizes:
        seeds = min(runs, max(3, runs // 3)) if rows <= few else runs
        told = [ask(rows, seed) for seed in range(seeds)]
        mean, error = mean_and_error([[one[name] for name in NAMES] for one in told])
        means.append(mean)
        errors.append(error)
    return np.array(means), np.array(errors)


def main() -> None:
    options = options_of(__doc__ or "")
    page = Page(options.out, "ratios", "Ratios against the number of rows (4-D function)")
    many, few = options.runs, max(1, options.runs // 3)
    most = 10**options.largest
    panels = [
        ("PED, the authors' densities", by_estimator("paper", 0.1, 1.0), SIZES, many, 0, ratios(0.1)),
        ("PED, counts", by_estimator("counts", 0.1, 1.0), SIZES, many, 0, ratios(0.1)),
        ("PED, default", by_estimator("auto", 0.1, 1.0), SIZES, many, MODELLED, ratios(0.1)),
        ("f-ANOVA, our forest", by_forest, [n for n in SIZES if n <= FOREST], few, 0, fanova_ratios()),
        ("f-ANOVA, Optuna", by_optuna, [n for n in SIZES if n <= OPTUNA], few, 0, fanova_ratios()),
        ("0.01 in 0.1: the authors' densities", by_estimator("paper", 0.01, 0.1), LOCAL, many, 0, ratios(0.01, 0.1)),
        ("0.01 in 0.1: counts", by_estimator("counts", 0.01, 0.1), LOCAL, many, 0, ratios(0.01, 0.1)),
        ("0.01 in 0.1: default", by_estimator("auto", 0.01, 0.1), LOCAL, many, MODELLED, ratios(0.01, 0.1)),
    ]
    figure, axes = plt.subplots(2, 5, figsize=(13.5, 5.4), layout="constrained", sharey=True)
    axes[1][3].set_visible(False)
    axes[1][4].set_visible(False)
    lines, in_docs = [], []
    for ax, (title, ask, sizes, runs, fewer, exact) in zip([*axes[0], *axes[1][:3]], panels, strict=False):
        sizes = [rows for rows in sizes if rows <= most]
        means, errors = runs_of(ask, sizes, runs, fewer)
        draw_bands(ax, sizes, means, NAMES)
        draw_truth(ax, exact)
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("rows")
        cells = percents(means[-1], 2)
        if errors.any():  # more than one seed
            cells = [f"{cell} ± {196 * error:.2f}" for cell, error in zip(cells, errors[-1], strict=True)]
        lines.append([title, f"{sizes[-1]:,}", *cells, ", ".join(percents(exact, 2))])
        in_docs.append([title, f"{sizes[-1]:,}", *cells])
        if title in LAST:
            in_docs.append([f"*exact, {LAST[title]}*", "", *percents(exact, 2)])
        page.numbers[title] = {"rows": sizes, "means": means.tolist(), "errors": errors.tolist()}
    for ax in axes[:, 0]:
        ax.set_ylabel("cumulative ratio (%)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=5)
    page.figure(figure, "ratios", "Cumulative ratios, means over seeds; dashed: the exact values of the population.")
    head = ["measure", "rows", *(f"{name} (%), 95 % of the mean" for name in NAMES), "exact (%)"]
    page.table(["ratio (%), ± 95 % interval of the mean", "rows", *NAMES], in_docs, docs="ratios")
    page.table(head, lines, "Where each ends. Printed: x2 has about 20 % by PED and about 3 % by f-ANOVA")
    exact_table(page)
    page.close()


def exact_table(page: Page) -> None:
    both = [("printed", PRINTED), ("released code", RELEASED)]
    lines = [
        [f"{name}, {words}", *percents(ratios(*question, shift), 3)]
        for name, shift in both
        for words, question in (("0.1 in 1", (0.1, 1.0)), ("0.01 in 0.1", (0.01, 0.1)))
    ]
    lines += [[f"{name}, f-ANOVA", *percents(fanova_ratios(shift), 3)] for name, shift in both]
    page.table(["function", *NAMES], lines, "Exact ratios (%) of the two functions that share one name in the paper")


if __name__ == "__main__":
    main()
