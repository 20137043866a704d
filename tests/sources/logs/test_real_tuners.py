"""Syne Tune and DVC themselves run some trials; the readers must agree with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.logs import cells, read_untouched
from helpers.tools import need
from pedanova.space.parameters import Float, Int

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tools' own warnings
BIN = str(Path(sys.executable).parent)


def test_syne_tune(tmp_path: Path) -> None:
    need("syne_tune")
    (tmp_path / "train.py").write_text(
        "import argparse\nfrom syne_tune import Reporter\np = argparse.ArgumentParser()\n"
        "p.add_argument('--lr', type=float)\np.add_argument('--width', type=int)\n"
        "a, _ = p.parse_known_args()\nr = Reporter()\n"
        "for e in range(2): r(epoch=e + 1, loss=a.lr + a.width + 1 / (e + 1))\n"
    )
    (tmp_path / "tune.py").write_text(
        "from syne_tune import StoppingCriterion, Tuner\nfrom syne_tune.backend import LocalBackend\n"
        "from syne_tune.config_space import loguniform, randint\n"
        "from syne_tune.optimizer.baselines import RandomSearch\n"
        "space = {'lr': loguniform(1e-4, 1.0), 'width': randint(1, 8)}\n"
        "Tuner(LocalBackend('train.py'), RandomSearch(space, metrics=['loss'], do_minimize=True, random_seed=1),\n"
        "      StoppingCriterion(max_num_trials_finished=4), n_workers=1, sleep_time=0.2).run()\n"
    )
    environment = os.environ | {"HOME": str(tmp_path), "PATH": f"{BIN}:{os.environ['PATH']}"}
    command = [sys.executable, "tune.py"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment, timeout=300)
    records = read_untouched(tmp_path / "syne-tune")
    assert dict(records.metadata.space or {}) == {"lr": Float(1e-4, 1.0, log=True), "width": Int(1, 8)}
    assert (records.metadata.objectives, records.metadata.directions) == (("loss",), ("minimize",))
    rows = zip(cells(records, "lr"), cells(records, "width"), cells(records, "loss"), strict=True)
    assert all(loss == pytest.approx(lr + width + 0.5) for lr, width, loss in rows)
    assert records.rows >= 4
    assert records.curves is not None
    assert list(records.curves.read("loss").budgets) == [1, 2]


def test_dvc(tmp_path: Path) -> None:
    need("dvc")
    (tmp_path / "train.py").write_text(
        "import json\nlr = float(open('params.yaml').read().split(':')[1])\n"
        "json.dump({'loss': lr * 2}, open('metrics.json', 'w'))\n"
    )
    (tmp_path / "params.yaml").write_text("lr: 0.1\n")
    (tmp_path / "dvc.yaml").write_text(
        f"stages:\n  train:\n    cmd: {sys.executable} train.py\n    deps: [train.py]\n    params: [lr]\n"
        "    metrics: [metrics.json: {cache: false}]\n"
    )
    dvc = [sys.executable, "-m", "dvc"]
    who = ["git", "-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    commands = [["git", "init", "-q"], [*dvc, "init", "-q"], [*who, "add", "-A"], [*who, "commit", "-qm", "begin"]]
    commands += [[*dvc, "exp", "run", "-q", "-S", f"lr={rate}"] for rate in (0.01, 0.02, 0.05)]
    identity = {f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = os.environ | identity | {"DVC_NO_ANALYTICS": "1"}
    for command in commands:
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment, timeout=300)
    show = [*dvc, "exp", "show", "--json"]
    shown = subprocess.run(show, cwd=tmp_path, check=True, capture_output=True, env=environment, text=True)
    place = tmp_path / "shown" / "exp.json"
    place.parent.mkdir()
    place.write_text(shown.stdout)
    assert json.loads(shown.stdout)
    records = read_untouched(place)
    found = dict(zip(cells(records, "lr"), cells(records, "loss"), strict=True))
    assert {rate: found[rate] for rate in (0.01, 0.02, 0.05)} == {0.01: 0.02, 0.02: 0.04, 0.05: 0.1}
    assert records.metadata.objectives == ("loss",)
