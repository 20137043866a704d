"""Lightning, Hydra, Ax and PyTorch's TensorBoard write logs themselves; the readers must agree with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.logs import cells, read_untouched
from helpers.tools import need
from pedanova.space.parameters import Categorical, Float, Int

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # the tools' own warnings
RATES = [0.01, 0.02, 0.05, 0.1]


def module_of(lightning: Any, torch: Any) -> Any:
    class Small(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self, lr: float, width: int, act: Any = torch.nn.ReLU) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.net = torch.nn.Sequential(torch.nn.Linear(1, width), act(), torch.nn.Linear(width, 1))

        def training_step(self, batch: Any, _: int) -> Any:
            loss = ((self.net(batch) - batch) ** 2).mean()
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch: Any, _: int) -> None:
            self.log("val_loss", ((self.net(batch) - batch) ** 2).mean())

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)

    return Small


@pytest.mark.parametrize("logger", ["CSVLogger", "TensorBoardLogger"])
def test_lightning(tmp_path: Path, logger: str) -> None:
    torch, lightning = need("torch"), need("lightning.pytorch")
    loggers = need("lightning.pytorch.loggers")
    small = module_of(lightning, torch)
    data = torch.utils.data.DataLoader(torch.linspace(0, 1, 16).reshape(-1, 1), batch_size=8)
    known = {}
    for rate in RATES:
        trainer = lightning.Trainer(
            max_epochs=2, logger=getattr(loggers, logger)(str(tmp_path)), enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, accelerator="cpu", log_every_n_steps=1,
        )  # fmt: skip
        trainer.fit(small(rate, 4), data, data)
        known[rate] = float(trainer.callback_metrics["val_loss"])
    records = read_untouched(tmp_path)
    assert records.metadata.source == "Lightning runs 'lightning_logs'"
    assert records.metadata.params == ("lr",)
    assert records.metadata.metrics == ("train_loss", "val_loss")
    found = dict(zip(cells(records, "lr"), cells(records, "val_loss"), strict=True))
    assert found == pytest.approx(known, rel=1e-5)
    assert cells(records, "epoch") == [1] * 4
    assert cells(records, "act") == ["torch.nn.modules.activation.ReLU"] * 4


def test_hydra(tmp_path: Path) -> None:
    need("hydra")
    program = tmp_path / "train.py"
    program.write_text(
        "import json, hydra\nfrom pathlib import Path\nfrom hydra.core.hydra_config import HydraConfig\n"
        "@hydra.main(version_base=None, config_path=None, config_name='base')\n"
        "def main(cfg):\n"
        "    out = Path(HydraConfig.get().runtime.output_dir)\n"
        "    (out / 'metrics.json').write_text(json.dumps({'loss': cfg.lr + cfg.net.depth}))\n"
        "from hydra.core.config_store import ConfigStore\n"
        "ConfigStore.instance().store(name='base', node={'lr': 0.1, 'net': {'depth': 1}, 'seed': 0})\n"
        "main()\n"
    )
    command = [sys.executable, "train.py", "--multirun", "lr=0.001,1e-2,0.1", "net.depth=1,2", "+tag=a"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    records = read_untouched(tmp_path / "multirun")
    assert records.metadata.params == ("lr", "net.depth")
    assert records.metadata.objectives == ("loss",)
    rows = zip(cells(records, "lr"), cells(records, "net.depth"), cells(records, "loss"), strict=True)
    assert all(loss == lr + depth for lr, depth, loss in rows)
    assert records.rows == 6


def test_ax(tmp_path: Path) -> None:
    client_of = need("ax.api.client").Client
    configs = need("ax.api.configs")
    client = client_of(random_seed=1)
    client.configure_experiment(
        name="mlp",
        parameters=[
            configs.RangeParameterConfig(name="lr", parameter_type="float", bounds=(1e-4, 1.0), scaling="log"),
            configs.RangeParameterConfig(name="depth", parameter_type="int", bounds=(1, 8)),
            configs.ChoiceParameterConfig(name="opt", parameter_type="str", values=["a", "b"], is_ordered=False),
        ],
    )
    client.configure_optimization(objective="-loss", outcome_constraints=["size <= 6"])
    client.configure_generation_strategy(method="random_search")
    known = {}
    for _ in range(6):
        for index, params in client.get_next_trials(max_trials=1).items():
            if index == 3:
                client.mark_trial_failed(trial_index=index)
                continue
            known[index] = (params["lr"], params["depth"], params["lr"] + params["depth"])
            client.complete_trial(trial_index=index, raw_data={"loss": known[index][2], "size": params["depth"]})
    client.save_to_json_file(filepath=str(tmp_path / "snapshot.json"))
    records = read_untouched(tmp_path / "snapshot.json")
    assert dict(records.metadata.space or {}) == {
        "lr": Float(1e-4, 1.0, log=True), "depth": Int(1, 8), "opt": Categorical(("a", "b")),
    }  # fmt: skip
    assert (records.metadata.objectives, records.metadata.directions) == (("loss",), ("minimize",))
    columns = [cells(records, name) for name in ("trial", "lr", "depth", "loss", "feasible")]
    rows = {trial: rest for trial, *rest in zip(*columns, strict=True)}
    for index, (lr, depth, loss) in known.items():
        assert rows[index] == [lr, depth, pytest.approx(loss), depth <= 6]
    assert cells(records, "state")[3] == "FAIL"


def test_an_older_client_of_ax(tmp_path: Path) -> None:
    service = need("ax.service.ax_client")
    client = service.AxClient(random_seed=1, verbose_logging=False)
    client.create_experiment(
        name="old",
        parameters=[{"name": "x", "type": "range", "bounds": [0.0, 1.0]}, {"name": "s", "type": "fixed", "value": 1}],
        objectives={"y": need("ax.service.utils.instantiation").ObjectiveProperties(minimize=False)},
    )
    for _ in range(4):
        params, index = client.get_next_trial()
        client.complete_trial(index, raw_data={"y": (params["x"], 0.0)})
    client.save_to_json_file(str(tmp_path / "client.json"))
    records = read_untouched(tmp_path / "client.json")
    assert dict(records.metadata.space or {}) == {"x": Float(0.0, 1.0)}
    assert (records.metadata.objectives, records.metadata.directions) == (("y",), ("maximize",))
    assert cells(records, "x") == pytest.approx(cells(records, "y"))
    assert json.loads((tmp_path / "client.json").read_text())["experiment"]["name"] == "old"


def test_hparams_of_pytorch(tmp_path: Path) -> None:
    writer_of = need("torch.utils.tensorboard").SummaryWriter
    for number, rate in enumerate(RATES):
        with writer_of(str(tmp_path / f"run{number}")) as writer:
            for step in range(3):
                writer.add_scalar("loss/train", rate / (step + 1), step)
            writer.add_hparams({"lr": rate, "opt": "sgd", "flag": number > 1}, {"hparam/acc": 1 - rate})
    records = read_untouched(tmp_path)
    assert records.metadata.params == ("flag", "lr")
    assert records.metadata.objectives == ("hparam/acc",)
    assert cells(records, "lr") == RATES
    assert cells(records, "hparam/acc") == pytest.approx([1 - rate for rate in RATES])
    assert cells(records, "loss/train") == pytest.approx([rate / 3 for rate in RATES])
    assert cells(records, "run") == [f"run{number}" for number in range(4)]
