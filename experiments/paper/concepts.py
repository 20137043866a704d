"""The six drawings by which the paper explains itself, from the package's own numbers.

python experiments/paper/concepts.py [--out DIR]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from study import COLOURS, DASHES, Page, options_of, plt

import pedanova as pa

SQUARE = {"x1": pa.Float(-5, 5), "x2": pa.Float(-5, 5)}
SIDE = 1001


def grid(low: float, high: float, points: int) -> np.ndarray:
    """Midpoints: one to each of the package's cells."""
    return low + (np.arange(points) + 0.5) * (high - low) / points


def plane(function: Any) -> tuple[np.ndarray, np.ndarray, pa.Analysis]:
    axis = grid(-5, 5, SIDE)
    one, two = np.meshgrid(axis, axis, indexing="ij")
    values = function(one, two)
    data = {"x1": one.ravel(), "x2": two.ravel()}
    return axis, values, pa.analyze(data, values.ravel(), direction="minimize", space=SQUARE)


def case_two(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    square = one**2 + two**2
    return np.where(square >= 3, square, one**2 + two**2 / 100)


def local_space(page: Page) -> None:
    """1: far away both count alike; near the optimum x1 alone."""
    axis, values, a = plane(case_two)
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.0), layout="constrained")
    shades = axes[0].contourf(axis, axis, values.T, levels=12, cmap="Greys_r")
    figure.colorbar(shades, ax=axes[0], label="f")
    near = np.abs(axis) < 2
    inner = np.where(values <= 3, values, np.nan)[np.ix_(near, near)]
    shades = axes[1].contourf(axis[near], axis[near], inner.T, levels=12, cmap="Greys_r")
    figure.colorbar(shades, ax=axes[1], label="f")
    disc = pa.at_most(2.9999999)
    told = {
        "all rows:\ndisc against all": a.importance(disc, estimator="counts", smoothing="none"),
        "inside the disc:\nbest 1 % of all": a.importance(0.01, disc, estimator="counts", smoothing="none"),
    }
    for i, name in enumerate(SQUARE):
        rows = [found[name] for found in told.values()]
        bars = [100 * row.share for row in rows]
        ends = np.array([[row.share - row.low, row.high - row.share] for row in rows]).T
        reach = 100 * np.maximum(0.0, ends)
        axes[2].bar(
            np.arange(2) + 0.35 * i,
            bars,
            0.32,
            color=COLOURS[i],
            hatch=["", "///"][i],
            label=name,
            yerr=reach,
            capsize=3,
        )
    axes[2].set_xticks(np.arange(2) + 0.17, list(told))
    axes[2].set_ylabel("share (%)")
    axes[2].legend()
    for ax, title in zip(axes, ("everywhere", "where x1² + x2² ≤ 3", "what decides"), strict=True):
        ax.set_title(title, fontsize=9)
    page.figure(figure, "concept-1-local", "1. A parameter can matter everywhere and not near the optimum (case II).")
    case_in_numbers(page, a, list(told.values()))


def case_in_numbers(page: Page, a: pa.Analysis, found: list[Any]) -> None:
    wide, near = a.effects(smoothing="none"), a.effects(pa.at_most(2.9999999), smoothing="none")
    lines = [
        ["v1, v2 of f-ANOVA, global", "56.6656, 56.5280", pair(wide, "variance")],
        ["v1, v2 of f-ANOVA in the disc", "0.558756, 0.058806", pair(near, "variance")],
        ["PED of the disc against all", "2.119883 (printed: 2.11)", pair(found[0], "divergence")],
        ["PED of the best 1 % in the disc", "7.201546, 0.008763 (printed: 8.97, 0.181)", pair(found[1], "divergence")],
    ]
    caption = "Case II: the local PED as printed is impossible, since (1 − m)/m = 8.42 bounds it"
    page.table(["quantity", "exact", f"here, on {SIDE}² points"], lines, caption)


def pair(found: Any, key: str) -> str:
    return ", ".join(f"{getattr(found[name], key):.6g}" for name in SQUARE)


def gamma_sets(page: Page) -> None:
    """2: the best part of a function as a set, and its density with two estimates."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained")
    axis, values, a = plane(lambda one, two: one**2 + two**2)
    limit, _ = a.data.reach(0.1)
    axes[0].contourf(axis, axis, (values <= limit).T, levels=[0.5, 1], colors=["#bbbbbb"], hatches=["///"])
    axes[0].contour(axis, axis, values.T, levels=6, colors="#555555", linewidths=0.7)
    axes[0].set_aspect("equal")
    axes[0].set_title("the best 10 % of x1² + x2²", fontsize=9)
    x = np.random.default_rng(0).uniform(0, 2 * math.pi, 2_000)
    sine = pa.analyze({"x": x}, np.sin(x), direction="minimize", space={"x": pa.Float(0, 2 * math.pi)}, params=["x"])
    cells = 1001 / (2 * math.pi)
    ours, theirs = (sine.densities("x", 0.2, estimator=estimator) for estimator in ("counts", "paper"))
    drawn = {"ours, 2,000 rows": ours.target, "the authors', 2,000 rows": theirs.target}
    for i, (label, density) in enumerate(drawn.items()):
        axes[1].plot(ours.cells, density * cells, color=COLOURS[i], linestyle=DASHES[i], label=label)
    low, high = 1.5 * math.pi - 0.2 * math.pi, 1.5 * math.pi + 0.2 * math.pi
    axes[1].step(
        [0, low, high, 2 * math.pi], [0, 0, 1 / (high - low), 0], color="black", linewidth=1, where="pre", label="true"
    )
    axes[1].set_title("the best 20 % of sin x", fontsize=9)
    axes[1].set_ylabel("density")
    axes[1].legend()
    page.figure(figure, "concept-2-sets", "2. γ-sets. A kernel rounds off the jumps: ours narrows with the rows.")


def marginals(page: Page) -> None:
    """3: what f-ANOVA sees, and what PED sees."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 2.9), layout="constrained")
    _, _, a = plane(lambda one, two: one**2 + two**2 / 10)
    effects = a.effects(smoothing="none")
    for i, name in enumerate(SQUARE):
        m = a.effects(smoothing="none").marginal(name)
        label = f"{name}: variance {effects[name].variance:.3g}"
        axes[0].plot(m.cells, m.mean, color=COLOURS[i], linestyle=DASHES[i], label=label)
    axes[0].set_title("marginal means of x1² + x2²/10: f-ANOVA", fontsize=9)
    _, _, b = plane(lambda one, two: one**2 + two**2 / 100)
    found = b.importance(0.1, estimator="counts", draws=0, smoothing="none")
    for i, name in enumerate(SQUARE):
        d = b.densities(name, 0.1, estimator="counts", smoothing="none")
        label = f"{name}: PED {found[name].divergence:.3g}"
        axes[1].plot(d.cells, d.target * 100.1, color=COLOURS[i], linestyle=DASHES[i], label=label)
    axes[1].axhline(0.1, color="black", linewidth=0.8)
    axes[1].set_title("densities of the best 10 % of x1² + x2²/100: PED", fontsize=9)
    for ax in axes:
        ax.set_xlabel("x")
        ax.legend()
    page.figure(figure, "concept-3-marginals", "3. Variance of marginal means beside distance of densities.")


def ratio_from_one(page: Page) -> None:
    """4: PED is the mean square of p/u - 1."""
    _, _, a = plane(lambda one, two: one**2 + two**2 / 10)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 2.7), layout="constrained", sharey=True)
    for i, (ax, name) in enumerate(zip(axes, SQUARE, strict=True)):
        d = a.densities(name, 0.1, estimator="counts", smoothing="none")
        lift = d.target / d.uniform
        ax.plot(d.cells, lift, color=COLOURS[i])
        ax.axhline(1, color="black", linewidth=0.8)
        ax.fill_between(d.cells, 1, lift, color=COLOURS[i], alpha=0.35, hatch=["", "///"][i], linewidth=0)
        ax.set_title(f"{name}: mean of (p/u − 1)² = {np.mean((lift - 1) ** 2):.3f}", fontsize=9)
    axes[0].set_ylabel("p / u")
    page.figure(figure, "concept-4-divergence", "4. PED: how far the density ratio is from 1, squared, on the mean.")


def clipped(page: Page) -> None:
    """5: min(x², 1) on wider and wider spaces."""
    lengths = np.geomspace(1, 20, 25)
    wide, near = [], []
    for length in lengths:
        x = grid(-length, length, 20_020)
        a = pa.analyze({"x": x}, x**2, direction="minimize", space={"x": pa.Float(-length, length)}, params=["x"])
        clip = pa.at_most(1.0)
        wide.append(a.effects(clip=clip, smoothing="none").total_variance)
        near.append(a.effects(pa.at_most(1.0), smoothing="none").total_variance)
    figure, ax = plt.subplots(figsize=(5.0, 2.9), layout="constrained")
    exact = 4 / (3 * lengths) * (2 / 5 - 1 / (3 * lengths))
    ax.plot(lengths, exact, color="black", linewidth=0.8, label="exact: 4/(3L)·(2/5 − 1/(3L))")
    ax.plot(lengths, wide, "o", ms=4, color=COLOURS[0], label="global, effects(clip=at_most(1))")
    ax.plot(lengths, near, "s", ms=4, color=COLOURS[1], label="local, effects(at_most(1))")
    ax.axvline(5 / 3, color="#888888", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ax.set_xlabel("L: the space is [−L, L]")
    ax.set_ylabel("variance of min(x², 1)")
    ax.set_ylim(0, 0.25)
    ax.legend(fontsize=8)
    page.figure(figure, "concept-5-clipped", "5. A clipped variance depends on the space around; a local one does not. "
                "It is largest at L = 5/3, so that it first rises.")  # fmt: skip


def blind_to_scale(page: Page) -> None:
    """6: two laws of a score that PED cannot tell apart, and `effects` can."""
    x = np.random.default_rng(1).random((20_000, 2))
    rank = (x[:, 0] > 0.2) + x[:, 1]  # x1 leads into the best fifth; inside it and outside, x2 is all that counts
    order = np.argsort(np.argsort(rank)) / len(rank)
    scores = {"slow at the top": 1 - order**4, "slow at the bottom": (1 - order) ** 4}
    figure, axes = plt.subplots(1, 3, figsize=(9.4, 2.8), layout="constrained")
    for i, (label, score) in enumerate(scores.items()):
        a = pa.analyze({"x1": x[:, 0], "x2": x[:, 1]}, score, direction="maximize")
        axes[0].plot(np.sort(score), np.linspace(0, 1, len(score)), color=COLOURS[i], linestyle=DASHES[i], label=label)
        told = a.importance(0.1, draws=0).ratios
        moved = a.effects().ratios
        for ax, ratios in ((axes[1], told), (axes[2], moved)):
            ax.bar(np.arange(2) + 0.35 * i, [100 * ratios[n] for n in ("x1", "x2")], 0.32, color=COLOURS[i],
                   hatch=["", "///"][i])  # fmt: skip
    axes[0].set_xlabel("score")
    axes[0].set_ylabel("rows below")
    axes[0].legend(fontsize=8)
    for ax, title in ((axes[1], "PED: the same"), (axes[2], "effects(): not")):
        ax.set_xticks([0.17, 1.17], ["x1", "x2"])
        ax.set_title(title, fontsize=9)
        ax.set_ylabel("ratio (%)")
    page.figure(figure, "concept-6-scale", "6. PED sees ranks alone, effects() how much there is to gain.")


def main() -> None:
    options = options_of(__doc__ or "")
    page = Page(options.out, "concepts", "Six concepts")
    for draw in (local_space, gamma_sets, marginals, ratio_from_one, clipped, blind_to_scale):
        draw(page)
    page.close()


if __name__ == "__main__":
    main()
