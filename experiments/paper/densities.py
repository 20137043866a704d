"""Densities and ratios of the 4-D function, globally and locally, from 10,000 rows.

    python experiments/paper/densities.py [--out DIR]

The figure of the paper comes from the released code's function, not from the printed one: both are drawn, with the
exact densities of the population as lines, and every ratio with its interval.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from population import PRINTED, RELEASED, ratios, target_density
from study import COLOURS, DASHES, NAMES, POINTS, Page, analysis, options_of, plt, values_of

ROWS = 10_000
FIGURE = {(0.1, 1.0): [78.3, 20.7, 0.6, 0.4], (0.01, 0.1): [6.7, 44.4, 46.4, 2.5]}  # as printed
SHIFTS = {PRINTED: "the printed function", RELEASED: "the released code's function"}


def draw(ax: Any, d: int, found: Any, question: tuple[float, float], shift: int) -> None:
    density = found.target * POINTS / 10
    ax.plot(values_of(np.array(found.cells)), density, color=COLOURS[0], linewidth=1.2, label="target, 10,000 rows")
    if question[1] < 1:
        region = found.region * POINTS / 10
        ax.plot(
            values_of(np.array(found.cells)), region, color=COLOURS[1], linestyle=DASHES[1], label="region, 10,000 rows"
        )
    for part, style in zip(question, ("-", ":"), strict=True):
        x, exact = target_density(d, part, shift)
        both = np.concatenate([-x[::-1], x]), np.concatenate([exact[::-1], exact]) / 10
        word = "target" if part == question[0] else "region"
        ax.plot(*both, color="black", linewidth=0.9, linestyle=style, label=f"{word}, exact")


def main() -> None:
    options = options_of(__doc__ or "")
    page = Page(options.out, "densities", "Densities, global and local (4-D function)")
    for shift, words in SHIFTS.items():
        a = analysis(ROWS, 0, shift)
        figure, axes = plt.subplots(2, 4, figsize=(12, 5), layout="constrained", sharex=True, sharey="row")
        lines = []
        for row, (question, printed) in zip(axes, FIGURE.items(), strict=True):
            densities = a.densities(None, *question, estimator="counts")
            found = a.importance(*question, estimator="counts")
            theirs = a.importance(*question, estimator="paper").ratios
            exact = ratios(*question, shift)
            total = sum(max(0.0, one.share) for one in found.rows)
            for d, (ax, name) in enumerate(zip(row, NAMES, strict=True)):
                draw(ax, d, densities[name], question, shift)
                one = found[name]
                ends = [100 * max(0.0, end) / total for end in (one.low, one.high)]
                ax.set_title(f"{name}: {100 * one.ratio:.1f} % (exact {100 * exact[d]:.1f} %)", fontsize=9)
                cells = [f"{100 * theirs[name]:.1f}", f"{100 * one.ratio:.1f}", f"{ends[0]:.1f} … {ends[1]:.1f}"]
                words_of = f"{name}, {question[0]:g} in {question[1]:g}"
                lines.append([words_of, printed[d], *cells, f"{100 * exact[d]:.2f}"])
            row[0].set_ylabel(f"density, {question[0]:g} in {question[1]:g}")
        handles, labels = axes[1][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        page.figure(
            figure, f"densities-{shift}", f"Densities of {words}: the best 10 % of all, and the best 1 % in them."
        )
        head = ["ratio (%)", "printed figure", "authors' densities", "counts", "95 % interval", "exact"]
        caption = f"{words.capitalize()}, {ROWS:,} rows; intervals of the share, in parts of the sum"
        page.table(head, lines, caption, docs=f"densities-{shift}")
    page.close()


if __name__ == "__main__":
    main()
