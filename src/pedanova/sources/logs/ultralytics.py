"""Ultralytics (YOLO): folders of runs with args.yaml (YOLOv5: hyp.yaml and opt.yaml) and results.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pedanova.errors import PedanovaError
from pedanova.sources.logs.trials import RunFolders, Trial, last_values, read_steps
from pedanova.sources.reader import has, read_yaml

FITNESS = "fitness"
SETTINGS = (("args.yaml",), ("opt.yaml", "hyp.yaml"))
STRICT = ("metrics/mAP50-95", "metrics/mAP_0.5:0.95")  # for boxes, masks and keypoints
TOP = ("metrics/accuracy_top1", "metrics/accuracy_top5")
HOW = {  # options for storing and displaying a run, which do not affect training
    "name", "project", "save_dir", "exist_ok", "resume", "device", "workers", "verbose", "plots", "cache", "mode",
    "save_period", "show", "profile", "evolve", "entity", "upload_dataset", "bbox_interval", "artifact_alias", "seed",
}  # fmt: skip
NO_RESULTS = ("epoch", "time")


def _is_run(folder: Path) -> bool:
    known = any(has(folder, *files) for files in SETTINGS)
    return known and ((folder / "results.csv").is_file() or (folder / "weights").is_dir())


def fitness_of(row: Mapping[str, float]) -> float | None:
    """The fitness of an epoch: the sum of mAP50-95 values; for classifiers, the mean of top-1 and top-5 accuracy."""
    strict = [value for name, value in row.items() if name.startswith(STRICT)]
    top = [row[name] for name in TOP if name in row]
    return sum(strict) if strict else sum(top) / len(top) if top else None


def _rows(place: Path) -> list[dict[str, float]]:
    rows = read_steps(place / "results.csv") if (place / "results.csv").is_file() else []
    return [row if (value := fitness_of(row)) is None else row | {FITNESS: value} for row in rows]


def _curve(place: Path, metric: str) -> Iterator[tuple[float, float]]:
    yield from ((row["epoch"], row[metric]) for row in _rows(place) if metric in row and "epoch" in row)


def _run(place: Path) -> Trial | None:
    """A trial with the results of the best epoch, whose weights are in best.pt; unfinished if there are no results."""
    settings: dict[str, object] = {}
    for file in next(files for files in SETTINGS if has(place, *files)):
        plain = read_yaml(place / file, objects=True)
        settings |= plain if isinstance(plain, dict) else {}
    if not settings:
        return None
    rows: list[dict[str, float]] = []
    with suppress(PedanovaError):
        rows = _rows(place)
    best = max((row for row in rows if FITNESS in row), key=lambda row: row[FITNESS], default=last_values(rows))
    results = {name: value for name, value in best.items() if name not in NO_RESULTS and not name.startswith("lr/")}
    other = {"run": place.name, "seed": settings.get("seed"), "best_epoch": best.get("epoch"), "epochs_run": len(rows)}
    varied = {name: value for name, value in settings.items() if name not in HOW}
    return Trial(varied, results, "COMPLETE" if results else "RUNNING", other)


RUNS = RunFolders("Ultralytics run", _is_run, _run, settings="args.yaml",
    remedy="train with ultralytics, which writes this file", results="results.csv", curve=_curve, objective=FITNESS,
    direction="maximize")  # fmt: skip
