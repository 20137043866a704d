"""An ordinary study: CPU seconds of one answer, held against Optuna's evaluator in the same run.

    python experiments/estimator/ordinary.py [--sizes 300x8,1000x10,…] [--repeats 3] [--curve]

One answer is a fit, shares with intervals, and p-values; then one more question of the same fit. The
least of the repeats is taken, imports and the reading of the table are not counted. ``--curve`` prints
the cost from 40 rows to 20,000, ten parameters.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # CPU seconds of one core: set before NumPy is loaded

import numpy as np  # noqa: E402

import pedanova as pa  # noqa: E402
from pedanova.data.regions import as_region  # noqa: E402
from pedanova.measures.chance.kinship import kinship_of  # noqa: E402
from pedanova.measures.chance.pvalues import p_values  # noqa: E402
from pedanova.measures.chance.ranked_rows import ranked_rows  # noqa: E402
from pedanova.measures.surrogate.learner import Lesson, learn  # noqa: E402
from pedanova.measures.surrogate.shares import drawn_shares  # noqa: E402

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


def fitted(observed: Any, rows: int) -> Lesson:
    """Everything that the first answer takes."""
    ranked = ranked_rows(observed, np.arange(rows))
    lesson = learn(ranked)
    asked(lesson, 0.1)
    p_values(ranked, kinship_of(ranked), np.arange(rows) < -(-rows // 10))
    return lesson


def asked(lesson: Lesson, target: float) -> None:
    if lesson.drawn is not None:
        found = drawn_shares(lesson.drawn, as_region(target, "target"), as_region(1.0, "region"), "minimize")
        if found is not None:
            found.share(uneven=lesson.drawn.uneven)
            found.interval()


def optuna_study(columns: dict[str, Any], loss: Any) -> Any:
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = {
        name: CategoricalDistribution(["a", "b", "c"]) if name == "kind" else FloatDistribution(0, 1)
        for name in columns
    }
    study = optuna.create_study()
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={
                    name: column[i].item() if name != "kind" else str(column[i]) for name, column in columns.items()
                },
                distributions=kinds,
                value=float(loss[i]),
            )
            for i in range(len(loss))
        ]
    )
    return study


def by_optuna(study: Any) -> None:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())


def least(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the quickest of some runs, after one that warms up."""
    work()
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def line(rows: int, parameters: int, repeats: int) -> str:
    columns, loss, space = table(rows, parameters)
    observed = pa.analyze(columns, loss, space=space).observations
    lesson = fitted(observed, rows)
    first = least(lambda: fitted(observed, rows), repeats)
    more = least(lambda: asked(lesson, 0.05), repeats)
    study = optuna_study(columns, loss)
    peer = least(lambda: by_optuna(study), repeats)
    return f"{f'{rows} × {parameters}':>12}{first:>12.3f}{more:>12.4f}{peer:>12.3f}{first / peer:>12.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--curve", action="store_true")
    options = parser.parse_args()
    sizes = [f"{rows}x10" for rows in CURVE] if options.curve else options.sizes
    print(f"{'CPU seconds':>12}{'answer':>12}{'one more':>12}{'Optuna':>12}{'ratio':>12}")
    for size in sizes:
        rows, parameters = map(int, size.split("x"))
        print(line(rows, parameters, options.repeats), flush=True)


if __name__ == "__main__":
    main()
