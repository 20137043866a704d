"""An ordinary study: CPU seconds of what users ask first, held against Optuna's evaluator in the same run.

    python benchmarks/ordinary.py [--sizes 300x8,1000x10,…] [--repeats 3] [--curve] [--answers]

``answer`` is the first `importance()` of an analysis, with intervals and p-values; ``one more`` a further question;
``page`` and ``reduce`` begin with a new analysis each (``--answers`` leaves them out). The least of the repeats is
taken; imports and the reading of the table are not counted, threads of all cores are. ``--curve`` prints the
cost from 40 rows to 20,000, ten parameters.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared import Lines, options_of, optuna_study, words

# isort: split
import numpy as np

import pedanova as pa

SIZES = ("300x8", "1000x10", "5000x20", "300x100")
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


def peer_study(columns: dict[str, Any], loss: Any) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    kinds = dict.fromkeys(columns, FloatDistribution(0, 1)) | {"kind": CategoricalDistribution(["a", "b", "c"])}
    return optuna_study({name: column.tolist() for name, column in columns.items()}, kinds, loss.tolist())


def by_optuna(study: Any) -> None:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())


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

    study = peer_study(columns, loss)
    first = least(lambda a: a.importance(), new, repeats)
    more = least(lambda a: a.importance(0.05), with_an_answer, repeats)
    peer = least(lambda _: by_optuna(study), new, repeats)
    cells = [f"{first:.3f}", f"{more:.4f}", f"{peer:.3f}", f"{first / peer:.1f}"]
    if not answers:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            cells.append(f"{least(lambda a: a.report(page), new, max(1, repeats - 1)):.2f}")
        cells.append(f"{least(lambda a: a.reduce(), with_an_answer, max(1, repeats - 1)):.2f}")
    return cells


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--sizes", type=words, default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--answers", action="store_true", help="leave page and reduction out")
    options = parser.parse_args()
    sizes = [f"{rows}x10" for rows in CURVE] if options.curve else options.sizes
    titles = ["answer", "one more", "Optuna", "ratio"] + ([] if options.answers else ["page", "reduce"])
    lines = Lines("CPU seconds", *titles, first=12)
    for size in sizes:
        rows, parameters = map(int, size.split("x"))
        lines.row(f"{rows} × {parameters}", *cells_of(rows, parameters, options.repeats, answers=options.answers))


if __name__ == "__main__":
    main()
