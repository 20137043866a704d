"""Folders of Ultralytics' runs: settings of args.yaml, the best epoch of results.csv."""

from __future__ import annotations

from pathlib import Path

import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.logs import cells, read_untouched, write
from pedanova.errors import DataError
from pedanova.sources import read_records

BOX = ("metrics/precision(B)", "metrics/recall(B)", "metrics/mAP50(B)", "metrics/mAP50-95(B)")
NAMES = ("epoch", "time", "train/box_loss", *BOX, "val/box_loss", "lr/pg0")


def table(best: float, names: tuple[str, ...] = NAMES, *, padded: bool = False) -> str:
    """Three epochs, the second the best; older versions pad every field to 23 letters."""
    rows = [[1 + epoch, 9.5 * epoch] + [best + gain] * (len(names) - 2) for epoch, gain in enumerate((-0.2, 0, -0.1))]
    fields = [names, *rows]
    return "".join(",".join(f"{one!s:>23}" if padded else str(one) for one in row) + "\n" for row in fields)


def run(folder: Path, number: int, *, padded: bool = False, names: tuple[str, ...] = NAMES) -> Path:
    place = folder / ("train" if number == 0 else f"train{number + 1}")
    write(
        place / "args.yaml",
        f"task: detect\nmode: train\nmodel: yolo11n.pt\nepochs: 3\nbatch: {8 * (1 + number % 3)}\n"
        f"lr0: {0.001 * (1 + number)}\nseed: 0\ndevice: '{number % 2}'\nname: {place.name}\nfreeze: null\n"
        f"save_dir: runs/detect/{place.name}\n",
    )
    write(place / "results.csv", table(0.3 + number / 100, names, padded=padded))
    return place


@pytest.mark.parametrize("padded", [False, True])
def test_runs(tmp_path: Path, padded: bool) -> None:
    for number in range(30):
        run(tmp_path / "runs" / "detect", number, padded=padded)
    records = read_untouched(tmp_path / "runs")
    assert records.metadata.params == ("batch", "lr0")
    assert records.metadata.objectives == ("fitness",)
    assert records.metadata.directions == ("maximize",)
    best = [0.3 + number / 100 for number in range(30)]
    assert cells(records, "fitness") == pytest.approx(best)
    assert cells(records, "metrics/mAP50(B)") == pytest.approx(best)
    assert cells(records, "best_epoch") == [2] * 30
    assert records.curves is not None
    assert records.curves.read("fitness").values[:3] == pytest.approx([0.1, 0.3, 0.2])
    assert len(pa.analyze(tmp_path / "runs")) == 30


def test_masks_and_classes(tmp_path: Path) -> None:
    """Fitness adds up over boxes and masks, and is the mean of both accuracies of a classifier."""
    masks = (*NAMES, "metrics/mAP50-95(M)")
    tops = ("epoch", "time", "train/loss", "metrics/accuracy_top1", "metrics/accuracy_top5", "val/loss")
    for number in range(3):
        run(tmp_path / "segment", number, names=masks)
        run(tmp_path / "classify", number, names=tops)
    assert cells(read_records(tmp_path / "segment"), "fitness") == pytest.approx([0.6, 0.62, 0.64])
    assert cells(read_records(tmp_path / "classify"), "fitness") == pytest.approx([0.3, 0.31, 0.32])
    message = refuse(DataError, "2 folders of Ultralytics runs", "study=", of=lambda: read_records(tmp_path))
    assert "classify" in message
    assert read_records(tmp_path, study="classify").rows == 3


def test_each_run_in_a_project_of_its_own(tmp_path: Path) -> None:
    for number in range(4):
        run(tmp_path / f"lr_{number}", 0, names=NAMES)
        write(tmp_path / f"lr_{number}" / "train" / "args.yaml", f"model: yolo11n.pt\nlr0: {0.01 * number}\n")
    assert cells(read_records(tmp_path), "lr0") == [0.01 * number for number in range(4)]


def test_a_run_that_has_no_results_has_not_ended(tmp_path: Path) -> None:
    places = [run(tmp_path, number) for number in range(4)]
    (places[2] / "results.csv").unlink()
    (places[2] / "weights").mkdir()
    assert cells(read_records(tmp_path), "state") == ["COMPLETE", "COMPLETE", "RUNNING", "COMPLETE"]


def test_yolov5(tmp_path: Path) -> None:
    for number in range(3):
        place = tmp_path / "train" / f"exp{number}"
        write(place / "opt.yaml", f"weights: yolov5s.pt\nimgsz: {320 + 32 * number}\nevolve: null\n")
        write(place / "hyp.yaml", f"lr0: {0.01 * number}\nmomentum: 0.9\n")
        names = ("epoch", "x/lr0", "train/box_loss", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "val/box_loss")
        write(place / "results.csv", table(0.5 + number / 10, names, padded=True))
    records = read_records(tmp_path)
    assert records.metadata.params == ("imgsz", "lr0")
    assert cells(records, "fitness") == pytest.approx([0.5, 0.6, 0.7])


def test_a_single_run_names_the_folder_of_all(tmp_path: Path) -> None:
    for number in range(3):
        place = run(tmp_path, number)
    message = refuse(DataError, "a single Ultralytics run", of=lambda: read_records(place))
    assert read_records(message.rpartition(", ")[2]).rows == 3
