"""PED-ANOVA as its authors published it: the estimator that ``estimator="paper"`` selects.

This module is written to be read beside the paper: S. Watanabe, A. Bansal, F. Hutter, *PED-ANOVA: Efficiently
Quantifying Hyperparameter Importance in Arbitrary Subspaces*, IJCAI 2023, arXiv 2304.10255. Numbers in brackets are its
equations.

===========================================  ======================================
paper                                        here
===========================================  ======================================
γ-sets D^γ′ and D^γ (3)                      `gamma_sets`
kernel density (14), on a grid (15)          `density`, `kernel_density`
Pearson divergence, Theorem 1                `pearson_divergence`, `local_variance`
HPI, the importance of a parameter (16)      `hpi`
Algorithm 1                                  `algorithm_1`
domain cut where p(x | D^γ) ≥ u(x)           `domain_cut`
===========================================  ======================================

The paper leaves some choices open. Here they are made as in the authors' code (local-anova with parzen-estimator
0.5.8), so the numbers are the same:

- The width of a kernel follows Scott's rule, with the number of *distinct* values in place of the number of rows. The
  width is at least 1 % and at most 50 % of the grid. Target and region have different widths.
- The prior is one more row. For numbers it is a kernel in the middle, as wide as the grid; for categories the row is
  spread evenly over all of them.
- If the region is all rows, the target is compared with a uniform draw, not with the density of the rows.
- Nothing is subtracted for chance. There are no intervals and no p-values.

Only counts are needed, so all this works with added, streamed and loaded tables. docs/paper.md says why the default
estimator differs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pedanova.base.notes import Note
from pedanova.counting.contrasts import Contrast, Counts, check_nested, from_tallies
from pedanova.counting.tally import Tallies
from pedanova.data.regions import Region
from pedanova.errors import Arg, QueryError
from pedanova.measures.bins import Basis
from pedanova.measures.densities import Densities
from pedanova.measures.importance import Importance, importance_row
from pedanova.measures.question import Question
from pedanova.space.grid import Reals, grid_of
from pedanova.space.values import Label

SCOTT = 1.059  # the factor of Scott's rule
NORMAL_RANGE = 1.34  # the interquartile range of a normal distribution, in standard deviations
NARROWEST, WIDEST = 0.01, 0.5  # limits of a kernel's width, as parts of the grid
LOW = 0.1  # an importance is low if it is below this part of an even part
UNSURE = "the paper's estimator gives no intervals and no p-values, so it cannot show which effects are due to chance; "


# --- Algorithm 1 -------------------------------------------------------------------------------------


def gamma_sets(tallies: Tallies, target: object, region: object = 1.0) -> list[Contrast]:
    """Count the rows of D^γ′ and of D^γ in every cell of each parameter (3); lines 1 and 2 of Algorithm 1.

    D^γ has the best ⌈γN⌉ of N rows, computed in exact decimals. Rows that are tied with the last one belong to it, too.
    """
    wanted, base = Region.parse(target, "target"), Region.parse(region, "region")
    tally = next(iter(tallies.values()))
    by_level = tally.by_level
    inner, outer = tally.levels.find(wanted, by_level), tally.levels.find(base, by_level)
    check_nested(wanted, base, inner, outer, by_level)
    return from_tallies(tallies, inner, outer)


def algorithm_1(contrasts: Sequence[Contrast], *, uniform: bool) -> dict[str, float]:
    """The HPI of every parameter, from the counts of both γ-sets (Algorithm 1).

    If `uniform` is True, the target is compared with a uniform draw, as the authors do for γ = 1.

    Examples
    --------
    >>> import pedanova as pa
    >>> from pedanova import paper
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> found = paper.algorithm_1(paper.gamma_sets(a.data.tallies, 0.1), uniform=True)
    >>> list(found)[:2], round(found["learning_rate"], 2)
    (['learning_rate', 'units'], 0.45)
    """
    return hpi({one.name: divergence(one, uniform=uniform) for one in contrasts})


def hpi(divergences: Mapping[str, float]) -> dict[str, float]:
    """Each divergence divided by the sum of all (16): (γ′/γ)² is the same for all parameters and cancels."""
    total, ordered = math.fsum(divergences.values()), sorted(divergences.items(), key=lambda pair: -pair[1])
    return {name: value / total if total > 0 else 0.0 for name, value in ordered}


def divergence(contrast: Contrast, *, uniform: bool) -> float:
    """The Pearson divergence of one parameter between both γ-sets; lines 3 and 4 of Algorithm 1."""
    return pearson_divergence(
        density(contrast, contrast.target), uniform_density(contrast) if uniform else density(contrast, contrast.region)
    )


def pearson_divergence(p: Reals, q: Reals) -> float:
    """Σ q · (p/q - 1)² over the cells of a grid (Theorem 1, and 15)."""
    return float(q @ (p / q - 1.0) ** 2)


def local_variance(divergence: float, part: float) -> float:
    """The local marginal variance of "is the row in D^γ′?" (Theorem 1); `part` is γ′/γ."""
    return part**2 * divergence


# --- densities ---------------------------------------------------------------------------------------


def uniform_density(contrast: Contrast) -> Reals:
    """(cells,) The uniform density u on the grid."""
    return np.full(contrast.grid.cells, 1.0 / contrast.grid.cells)


def density(contrast: Contrast, counts: Counts) -> Reals:
    """(cells,) The density of one parameter in a γ-set with these counts."""
    check_known(contrast)
    inside = counts[: contrast.grid.cells]
    return kernel_density(inside) if contrast.grid.blocks[0].ordered else category_density(inside)


def check_known(contrast: Contrast) -> None:
    """Raise an error for conditions and missing values, which the paper's estimator does not define."""
    grid, rows = contrast.grid, int(contrast.region.sum())
    absent = int(contrast.region[grid.cells :].sum())
    if len(grid.blocks) == 1 and not absent and not contrast.child:
        return
    why = "is conditional" if len(grid.blocks) > 1 or contrast.child else "is missing or outside the space"
    many = f" in {absent:,} of {rows:,} rows" if absent else ""
    words = f"{contrast.name} {why}{many}, and the paper's estimator knows neither conditions nor missing values; pass "
    raise QueryError(words, Arg("estimator", "counts"), " or ", Arg("exclude", contrast.name))


def category_density(counts: Counts) -> Reals:
    """(cells,) Of categories: the frequencies, with one more row that is spread evenly."""
    return np.asarray((counts + 1.0 / len(counts)) / (counts.sum() + 1.0))


def kernel_density(counts: Counts) -> Reals:
    """(cells,) Of numbers: a Gaussian kernel on every row and on the prior (14), integrated over the cells (15).

    Every kernel is cut off half a step beyond both ends of the grid, and then has the mass 1 again.
    """
    cells, width = len(counts), kernel_width(counts)
    # All rows have the same width, so what a cell gets from a row depends on their distance only.
    distance = np.arange(1 - cells, cells, dtype=np.float64)
    kernel = below(distance + 0.5, width) - below(distance - 0.5, width)
    places = np.arange(cells, dtype=np.float64)
    rows = np.convolve(counts / mass_on_grid(places, width, cells), kernel)[cells - 1 : 2 * cells - 1]
    middle = np.array([(cells - 1) / 2.0])
    prior = below(places + 0.5 - middle, cells) - below(places - 0.5 - middle, cells)
    return np.asarray((rows + prior / mass_on_grid(middle, cells, cells)) / (counts.sum() + 1.0))


def kernel_width(counts: Counts) -> float:
    """The width of the kernels in cells: Scott's rule, where n is the number of distinct values and the prior."""
    cells, places = len(counts), np.flatnonzero(counts)
    values = np.append(places, (cells - 1) / 2.0)
    weights = np.append(counts[places], 1)
    rows = int(weights.sum())
    mean = values @ weights / rows
    deviation = math.sqrt((values - mean) ** 2 @ weights / max(1, rows - 1))
    low, high = values[np.searchsorted(np.cumsum(weights), [rows // 4, rows * 3 // 4])]
    width = SCOTT * min((high - low) / NORMAL_RANGE, deviation) * len(values) ** -0.2
    return float(np.clip(width, NARROWEST * cells, WIDEST * cells))


def mass_on_grid(places: Reals, width: float, cells: int) -> Reals:
    """The part of the kernel on each place that lies on the grid."""
    return below(cells - 0.5 - places, width) - below(-0.5 - places, width)


def below(distance: Reals, width: float) -> Reals:
    """The part of a Gaussian with standard deviation `width` that lies below each distance from its middle."""
    from scipy.special import ndtr

    return np.asarray(ndtr(distance / width))


# --- a smaller space ---------------------------------------------------------------------------------


def domain_cut(
    densities: Mapping[str, Densities], globally: Mapping[str, float], locally: Mapping[str, float]
) -> dict[str, list[Label]]:
    """The values that the paper's two rules leave for each parameter; docs/reduction.md compares them with `reduce`.

    A category stays if p(x | D^γ) ≥ u(x). Of numbers, the range between the first and the last such value stays. A
    parameter whose HPI is low globally and locally keeps only its most frequent value in D^γ. The paper gives no
    number for "low"; here it is a tenth of an even part.

    Examples
    --------
    >>> import pedanova as pa
    >>> from pedanova.paper import domain_cut
    >>> a = pa.analyze(pa.demo_trials(), "error")
    >>> both = [a.importance(*gammas, estimator="paper").ratios for gammas in ((0.1, 1.0), (0.01, 0.1))]
    >>> domain_cut(a.densities(estimator="paper"), *both)["solver"]
    ['adam']
    """
    left: dict[str, list[Label]] = {}
    for name, one in densities.items():
        dense = np.flatnonzero(one.target >= (1.0 - 1e-9) * one.uniform)
        if max(globally[name], locally[name]) < LOW / len(densities):
            dense = np.array([np.argmax(one.target)])
        elif grid_of(one.parameter).blocks[0].ordered:
            dense = np.arange(dense[0], dense[-1] + 1)
        left[name] = [one.cells[cell] for cell in dense.tolist()]
    return left


# --- answers -----------------------------------------------------------------------------------------


def check_question(question: Question) -> None:
    """Raise an error for an option that the paper's estimator does not have."""
    if question.smoothing != "auto":
        words = " has its own kernels; leave out "
        raise QueryError(Arg("estimator", "paper"), words, Arg("smoothing", question.smoothing))


def importances_by_paper(contrasts: Sequence[Contrast], *, uniform: bool) -> tuple[list[Importance], list[Note]]:
    """The importance of each parameter, still without ratios, and what a reader must know about these numbers."""
    rows = [importance_by_paper(one, divergence(one, uniform=uniform)) for one in contrasts]
    notes = [Note("answer", UNSURE, Arg("estimator", "auto"), " gives both")]
    if constant := [one.name for one in contrasts if not one.varies and one.grid.cells > 1]:
        words = f"{', '.join(constant)} had only one value in these rows; the number shows only where rows were drawn"
        notes.append(Note("doubt", words))
    return rows, notes


def importance_by_paper(contrast: Contrast, divergence: float) -> Importance:
    inside, rows = int(contrast.target.sum()), int(contrast.region.sum())
    part, ordered = inside / rows, contrast.grid.blocks[0].ordered
    width = kernel_width(contrast.target[: contrast.grid.cells]) if ordered else 0.0
    row = importance_row(contrast.name, (inside, rows), part / (1.0 - part) * divergence, divergence, width=width)
    return replace(row, variance=local_variance(divergence, part), varied=contrast.grid.cells > 1)


def densities_by_paper(contrast: Contrast, words: tuple[str, str]) -> Densities:
    """The densities of one parameter in both γ-sets, and the uniform one."""
    grid = contrast.grid
    target, region = (density(contrast, counts) for counts in (contrast.target, contrast.region))
    inside, rows = contrast.target[: grid.cells], contrast.region[: grid.cells]
    width = kernel_width(inside) if grid.blocks[0].ordered else 0.0
    basis = Basis(inside, rows, (float(inside.sum()), float(rows.sum())), (width,))
    parts = target, region, uniform_density(contrast)
    return Densities(contrast.name, *parts, grid.edges, width, 0.0, 0.0, grid.parameter, basis, words)
