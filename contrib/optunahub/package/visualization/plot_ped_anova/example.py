"""What the package draws; `load_module` instead of `load_local_module` once it is in the registry."""

from __future__ import annotations

from pathlib import Path

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -5, 5)
    y = trial.suggest_float("y", -5, 5)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return x**2 + 0.1 * y**2 + (kind == "b")


if __name__ == "__main__":
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=200)
    root = str(Path(__file__).parents[2])
    plots = optunahub.load_local_module("visualization/plot_ped_anova", registry_root=root)
    plots.plot_importances(study).show()
    plots.plot_good_values(study, "x").show()
