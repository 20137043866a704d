"""What the scripts share: the study of the paper, others' tools, a look that survives grey print, and the page."""

from __future__ import annotations

import argparse
import html
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import matplotlib as mpl
import numpy as np
from population import PRINTED, objective
from samples import Sample, study_of

import pedanova as pa

mpl.use("Agg")
from matplotlib import pyplot as plt

warnings.filterwarnings("ignore", message=".*sklearn.utils.parallel.*")  # between scikit-learn and joblib
POINTS = 1001  # of each parameter's grid, n_d in the paper
NAMES = ["x1", "x2", "x3", "x4"]
SPACE = {name: pa.Int(0, POINTS - 1) for name in NAMES}
# Okabe and Ito's colours, apart in grey too when taken in this order; lines differ in their dashes, bands in hatching.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx")
GREYS = ("#2b5c8a", "#e8b04b", "#8fc1a9", "#f2e6ee")
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110, "savefig.dpi": 130,
         "legend.frameon": False, "hatch.linewidth": 0.6, "hatch.color": "#333333"}  # fmt: skip
plt.rcParams.update(STYLE)


def options_of(description: str, *, data: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    if data:
        parser.add_argument("data", type=Path, help="the lattice, or the folder it lies in")
    parser.add_argument("--out", type=Path, default=Path("build/paper"), help="where figures and numbers go")
    parser.add_argument("--runs", type=int, default=10, help="seeds (default 10, as in the paper)")
    parser.add_argument(
        "--largest", type=int, default=8, help="no table has more than 10 to this power rows (default 8)"
    )
    parser.add_argument("--docs", action="store_true", help="also write the tables of docs/paper.md")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    return options


# --- the study ---------------------------------------------------------------------------------------


def values_of(points: np.ndarray) -> np.ndarray:
    """From places on the grid to [-5, 5]."""
    return points / (POINTS - 1) * 10.0 - 5.0


def sample(rows: int, seed: int, shift: int = PRINTED) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Uniform points of the grid, as the paper draws them, and f."""
    points = np.random.default_rng(seed).integers(0, POINTS, (rows, 4), dtype=np.uint16)
    columns = {name: np.ascontiguousarray(points[:, d]) for d, name in enumerate(NAMES)}
    return columns, objective(values_of(points), shift)


def analysis(rows: int, seed: int, shift: int = PRINTED) -> pa.Analysis:
    columns, loss = sample(rows, seed, shift)
    return pa.analyze(columns, loss, direction="minimize", space=SPACE)


def optuna_study(columns: Mapping[str, Any], loss: np.ndarray, space: Mapping[str, Any] = SPACE) -> Any:
    """The same rows as a study of Optuna; a lattice is given as codes."""
    return study_of(Sample(dict(space), dict(columns), loss), "codes")


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Of the processor, all threads added, which others on the machine hardly change; and by the clock."""
    clock, start = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - start, time.perf_counter() - clock


def mean_and_error(runs: Sequence[Sequence[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Over runs: the mean, and its standard error."""
    table = np.array(runs, dtype=np.float64)
    return table.mean(axis=0), table.std(axis=0, ddof=min(1, len(table) - 1)) / np.sqrt(len(table))


# --- figures -----------------------------------------------------------------------------------------


def draw_bands(ax: Any, sizes: Sequence[int], ratios: np.ndarray, names: Sequence[str]) -> None:
    """Cumulative ratios (sizes, names) in percent over the number of rows."""
    edges = np.concatenate([np.zeros((len(sizes), 1)), np.cumsum(100 * ratios, axis=1)], axis=1)
    for d, name in enumerate(names):
        ax.fill_between(
            sizes, edges[:, d], edges[:, d + 1], facecolor=GREYS[d % 4], hatch=HATCHES[d % 4], edgecolor="#333333",
            linewidth=0.6, label=name,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(sizes[0], sizes[-1])
    ax.set_ylim(0, 100)


def draw_truth(ax: Any, ratios: np.ndarray) -> None:
    """The exact cumulative ratios as lines across a panel of bands."""
    for i, edge in enumerate(np.cumsum(100 * ratios)[:-1]):
        line = ax.axhline(edge, color="black", linewidth=1.6, linestyle=(0, (4, 2)))
        line.set_label("exact, whole population" if i == 0 else "_")


def save(figure: Any, out: Path, name: str) -> str:
    figure.savefig(out / f"{name}.png")
    plt.close(figure)
    return name


# --- the page ----------------------------------------------------------------------------------------


class Page:
    """One script's part of the page: text, tables and figures, and the numbers as JSON beside it."""

    def __init__(self, out: Path, name: str, title: str) -> None:
        self.out, self.name = out, name
        self.parts = [f"<h2 id='{name}'>{html.escape(title)}</h2>"]
        self.numbers: dict[str, Any] = {}

    def text(self, words: str) -> None:
        self.parts.append(f"<p>{words}</p>")

    def figure(self, figure: Any, name: str, caption: str) -> None:
        save(figure, self.out, name)
        image = f"<img src='{name}.png' alt='{html.escape(caption, quote=True)}'>"
        self.parts.append(f"<figure>{image}<figcaption>{caption}</figcaption></figure>")

    def table(
        self, header: Sequence[str], lines: Sequence[Sequence[object]], caption: str = "", *, docs: str = ""
    ) -> None:
        """A table of the page; `docs` names its place in docs/paper.md, where `all.py --docs` puts it."""
        if docs:
            rows = [header, ["---"] * len(header), *lines]
            text = "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
            (self.out / f"{docs}.md").write_text(text, encoding="utf-8")
        head = "".join(f"<th>{cell}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
        self.parts.append(f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>")
        print("\n".join([caption, " | ".join(header), *(" | ".join(map(str, line)) for line in lines)]), flush=True)

    def close(self) -> None:
        (self.out / f"{self.name}.html").write_text("\n".join(self.parts), encoding="utf-8")
        if self.numbers:
            (self.out / f"{self.name}.json").write_text(json.dumps(self.numbers, indent=1), encoding="utf-8")


def percents(ratios: Sequence[float], digits: int = 1) -> list[str]:
    return [f"{100 * ratio:.{digits}f}" for ratio in ratios]
