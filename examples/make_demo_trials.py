"""Make the table of trials that ships with pedanova: a real random search, rerun by anyone.

A small neural network (scikit-learn's ``MLPClassifier``) is trained 1,000 times on scikit-learn's
bundled handwritten digits with hyperparameters drawn at random. Each trial records its error on
held-out digits and its training time. ``lucky_number`` is given to nothing: it is useless on
purpose, so that a reader can see what "does not matter" looks like.

    python examples/make_demo_trials.py --trials 1000 --output trials.csv

Needs scikit-learn. About ten minutes on two cores; errors repeat exactly for one scikit-learn
version on one kind of machine, times do not.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

Trial = dict[str, object]


def draw_trial(random: np.random.Generator) -> Trial:
    """One configuration, every hyperparameter independent of the others."""

    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(random.uniform(math.log(low), math.log(high))))

    return {
        "learning_rate": float(f"{log_uniform(1e-5, 1.0):.6g}"),
        "alpha": float(f"{log_uniform(1e-6, 10.0):.6g}"),
        "units": round(log_uniform(4, 128)),
        "layers": int(random.integers(1, 4)),
        "epochs": int(random.integers(2, 31)),
        "batch_size": int(random.choice([16, 32, 64, 128, 256])),
        "activation": str(random.choice(["relu", "tanh", "logistic", "identity"])),
        "solver": str(random.choice(["adam", "sgd"])),
        "shuffle": bool(random.integers(0, 2)),
        "lucky_number": float(f"{random.uniform(0.0, 1.0):.6f}"),
    }


def run_trial(trial: Trial) -> Trial:
    """Train on 60 % of the digits; the error is the share of the other 40 % that is misread."""
    images, digits = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        images / 16.0, digits, test_size=0.4, random_state=0, stratify=digits
    )
    model = MLPClassifier(
        hidden_layer_sizes=(trial["units"],) * trial["layers"],  # type: ignore[operator]
        activation=trial["activation"],
        solver=trial["solver"],
        alpha=trial["alpha"],
        batch_size=trial["batch_size"],
        learning_rate_init=trial["learning_rate"],
        max_iter=trial["epochs"],
        shuffle=trial["shuffle"],
        n_iter_no_change=1_000,
        random_state=0,
    )
    start = time.perf_counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Every trial stops at its number of epochs: that is the experiment, not a fault of it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            model.fit(train_x, train_y)
            error = round(1.0 - float(model.score(test_x, test_y)), 6)
        except ValueError:  # scikit-learn's word for weights that ran away to infinity
            error = math.inf
    seconds = time.perf_counter() - start
    return {**trial, "error": error, "train_seconds": round(seconds, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=2023)
    parser.add_argument("--output", type=Path, default=Path("trials.csv"))
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    trials = [draw_trial(random) for _ in range(options.trials)]
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(run_trial, trials, chunksize=10))
    with options.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    finite = sorted(row["error"] for row in rows if math.isfinite(row["error"]))  # type: ignore[arg-type]
    print(f"{len(rows)} trials, best error {finite[0]:.4f}, median {finite[len(finite) // 2]:.4f}")


if __name__ == "__main__":
    main()
