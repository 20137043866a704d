"""Tables as people keep them, each with its twin in clean form, and the doors through which they come."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pedanova import Reading

Table = dict[str, list[Any]]
ROWS = 120
RNG = np.random.default_rng(12)
CLEAN: Table = {
    "lr": np.exp(RNG.uniform(np.log(1e-4), 0.0, ROWS)).round(6).tolist(),
    "units": RNG.integers(1000, 9000, ROWS).tolist(),
    "opt": RNG.choice(["adam", "sgd", "none"], ROWS).tolist(),
    "loss": RNG.normal(2.0, 0.5, ROWS).round(4).tolist(),
}
SETTINGS = ("lr", "units", "opt")
WORDS = ("alpha", "beta", "gamma", "delta")


@dataclass(frozen=True)
class Messy:
    """A table, what it should have been, and how both are asked about."""

    table: Table
    clean: Table
    objective: str = "loss"
    options: dict[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)  # of columns, as the clean table has them
    csv: dict[str, Any] = field(default_factory=dict)  # how the file is written
    warns: str = ""  # what a warning names, where the analysis may differ


def put(column: str, write: Callable[[Any], Any], *, clean: Callable[[Any], Any] | None = None, **more: Any) -> Messy:
    """One column written in another way."""
    twin = CLEAN if clean is None else CLEAN | {column: [clean(value) for value in CLEAN[column]]}
    return Messy(CLEAN | {column: [write(value) for value in CLEAN[column]]}, twin, **more)


def gaps(column: str, word: Any, gap: Any = None) -> Messy:
    """Every sixth value is a word that means none."""
    messy = [word if row % 6 == 0 else value for row, value in enumerate(CLEAN[column])]
    twin = [gap if row % 6 == 0 else value for row, value in enumerate(CLEAN[column])]
    return Messy(CLEAN | {column: messy}, CLEAN | {column: twin})


def extra(name: str, values: list[Any], **more: Any) -> Messy:
    """A column that is no setting."""
    return Messy(CLEAN | {name: values}, CLEAN, **more)


def special(column: str, word: Any, twin: Any, values: list[Any]) -> Messy:
    messy = [str(word) if row % 5 == 0 else str(value) for row, value in enumerate(values)]
    clean = [twin if row % 5 == 0 else value for row, value in enumerate(values)]
    others = {name: known for name, known in CLEAN.items() if name != column}
    return Messy({column: messy} | others, {column: clean} | others)


def renamed(names: Mapping[str, str], **more: Any) -> Messy:
    table = {names.get(name, name): values for name, values in CLEAN.items()}
    back = {new: old for old, new in names.items()}
    return Messy(table, CLEAN, names=back, **more)


def uniform(low: float, high: float, seed: int = 5) -> list[float]:
    return np.random.default_rng(seed).uniform(low, high, ROWS).round(5).tolist()


def comma(value: Any) -> str:
    return str(value).replace(".", ",")


LAYERS = np.random.default_rng(3).integers(1, 60, ROWS).tolist()
DECAY = np.exp(np.random.default_rng(4).uniform(np.log(1e-6), 0, ROWS)).round(8).tolist()
NESTED = [dict(zip(SETTINGS, row, strict=True)) for row in zip(*list(CLEAN.values())[:3], strict=True)]
OPENED = {f"params.{name}": name for name in SETTINGS}
STATES = ["COMPLETE"] * ROWS
HALF = ["COMPLETE" if row % 4 else "FAIL" for row in range(ROWS)]
KEPT = {name: [value for row, value in enumerate(values) if row % 4] for name, values in CLEAN.items()}
OPTUNA = {"number": list(range(ROWS)), "value": CLEAN["loss"], "state": HALF}
OPTUNA |= {f"params_{name}": CLEAN[name] for name in SETTINGS}
RAY = {"loss": CLEAN["loss"], "trial_id": [f"t{i}" for i in range(ROWS)], "training_iteration": [9] * ROWS}
RAY |= {f"config/{name}": CLEAN[name] for name in SETTINGS}
RAY |= {"error_type": [None if row % 4 else "OOM" for row in range(ROWS)]}

ORDER = np.random.default_rng(6).permutation(ROWS).tolist()
CRASHES = {"status": ["ok" if row % 4 else "crash" for row in range(ROWS)]}
TWICE = {name: [*values, *values] for name, values in CLEAN.items()}
SOME_TWICE = {name: [*values, *values[:13]] for name, values in CLEAN.items()}
SEEDS = {f"loss_seed{seed}": (np.array(CLEAN["loss"]) + 0.01 * seed).tolist() for seed in range(3)}
SETTINGS_ALONE = {name: CLEAN[name] for name in SETTINGS}
MARKED = {f"hyperparameters.{name}": CLEAN[name] for name in SETTINGS} | {"kl": CLEAN["loss"], "loss": CLEAN["loss"]}

TABLES: dict[str, Messy] = {
    "numbers as text": put("lr", str),
    "whole numbers as text": put("units", str),
    "every column as text": Messy({name: [str(v) for v in values] for name, values in CLEAN.items()}, CLEAN),
    "padded numbers": put("lr", lambda v: f" {v} "),
    "capital exponents": put("lr", lambda v: f"{v:E}", clean=lambda v: float(f"{v:E}")),
    "plus signs": put("lr", lambda v: f"+{v}"),
    "leading zeros": put("units", lambda v: f"{v:08d}"),
    "hexadecimal": put("units", hex),
    "whole numbers as reals": put("units", float),
    "whole numbers as text of reals": put("units", lambda v: f"{v}.0"),
    "decimal commas": put("lr", comma),
    "decimal commas in the objective": put("loss", comma),
    "decimal commas everywhere": Messy(
        CLEAN | {name: [comma(v) for v in CLEAN[name]] for name in ("lr", "loss")}, CLEAN, csv={"delimiter": ";"}
    ),
    "thousands": put("units", lambda v: f"{v:,}", warns="units"),
    "thousands and decimals": put("units", lambda v: f"{v + 0.5:,}", clean=lambda v: v + 0.5),
    "spaced thousands": put("units", lambda v: f"{v:,}".replace(",", " ")),
    "hard spaces": put("units", lambda v: f"{v:,}".replace(",", "\u00a0")),
    "Swiss thousands": put("units", lambda v: f"{v:,}".replace(",", "'")),
    "percent": put("lr", lambda v: f"{v}%", clean=lambda v: v / 100),
    "percent with a space": put("lr", lambda v: f"{v} %", clean=lambda v: v / 100),
    "percent with commas": put("lr", lambda v: f"{comma(v)}%", clean=lambda v: v / 100),
    "percent in the objective": put("loss", lambda v: f"{v}%", clean=lambda v: v / 100),
    "thousands as k": put("units", lambda v: f"{v}k", clean=lambda v: v * 1000),
    "millions as M": put("units", lambda v: f"{v}M", clean=lambda v: v * 1_000_000),
    "milliseconds": put("units", lambda v: f"{v}ms"),
    "megabytes behind a space": put("units", lambda v: f"{v} MB"),
    "a unit in the objective": put("loss", lambda v: f"{v}s"),
    "a typesetter's minus": put("lr", lambda v: f"\u2212{v}", clean=lambda v: -v),
    "decimals": put("lr", lambda v: Decimal(str(v))),
    "NumPy scalars": put("lr", np.float64),
    "single precision": put("lr", np.float32, clean=np.float32),
    "gaps: empty": gaps("lr", ""),
    "gaps: NA": gaps("lr", "NA"),
    "gaps: None": gaps("lr", "None"),
    "gaps: nan": gaps("units", "nan"),
    "gaps: null": gaps("units", "null"),
    "gaps: a dash": gaps("units", "-"),
    "gaps: N/A": gaps("lr", "N/A"),
    "gaps: NaN": gaps("lr", float("nan")),
    "gaps: in the objective": gaps("loss", "nan"),
    "gaps: empty text": gaps("opt", ""),
    "gaps: blank text": gaps("opt", "  "),
    "category None": put("opt", lambda v: "None" if v == "none" else v, clean=lambda v: "None" if v == "none" else v),
    "category null": put("opt", lambda v: "null" if v == "none" else v, clean=lambda v: "null" if v == "none" else v),
    "category NA": put("opt", lambda v: "NA" if v == "none" else v, clean=lambda v: "NA" if v == "none" else v),
    "category nan": put("opt", lambda v: "nan" if v == "none" else v, clean=lambda v: "nan" if v == "none" else v),
    "booleans as text": Messy({"flag": ["True", "False"] * 60} | CLEAN, {"flag": [True, False] * 60} | CLEAN),
    "booleans as small text": Messy({"flag": ["true", "false"] * 60} | CLEAN, {"flag": [True, False] * 60} | CLEAN),
    "0 beside a log range": special("decay", 0, 0.0, DECAY),
    "0.0 beside a log range": special("decay", "0.0", 0.0, DECAY),
    "-1 beside a range": special("layers", -1, -1, LAYERS),
    "auto beside a range": special("part", "auto", "auto", uniform(0, 1)),
    "a result": extra("train_loss", uniform(1, 3)),
    "a result with a slash": extra("val/accuracy", uniform(0, 1)),
    "several results": Messy(
        CLEAN | {"f1": uniform(0, 1), "fit_time": uniform(1, 9), "_runtime": uniform(1, 9)}, CLEAN
    ),
    "a result as text": extra("train_loss", [f"{v}" for v in uniform(1, 3)]),
    "an id": extra("id", list(range(ROWS))),
    "a pandas index": extra("Unnamed: 0", list(range(ROWS))),
    "names of runs": extra("run", [f"brave-sunset-{i}" for i in range(ROWS)]),
    "hashes": extra("sha", [f"{i * 7919:040x}f" for i in range(1, ROWS + 1)]),
    "time stamps": extra("when", [f"2024-03-{i % 28 + 1:02d} 10:{i % 60:02d}:00" for i in range(ROWS)]),
    "dates with dots": extra("when", [f"{i % 28 + 1:02d}.03.2024" for i in range(ROWS)]),
    "dates with slashes": extra("when", [f"{i % 12 + 1}/{i % 28 + 1}/2024" for i in range(ROWS)]),
    "unix times": extra("when", [1_700_000_000 + 60 * i for i in range(ROWS)]),
    "durations": extra("took", [f"{i % 24}:{i % 60:02d}:00" for i in range(ROWS)]),
    "long texts": extra("comment", [f"{' '.join(WORDS * 5)} number {i}" for i in range(ROWS)]),
    "lists": extra("history", [f"[{i}, {i + 1}]" for i in range(ROWS)]),
    "nothing at all": extra("empty", [None] * ROWS),
    "states": extra("state", STATES),
    "states that are told": Messy(CLEAN | {"state": HALF}, KEPT, options={"reading": Reading(state="state")}),
    "a dict of settings": Messy({"params": NESTED, "loss": CLEAN["loss"]}, CLEAN, names=OPENED),
    "a dict as JSON": Messy({"params": list(map(json.dumps, NESTED)), "loss": CLEAN["loss"]}, CLEAN, names=OPENED),
    "a dict as Python": Messy({"params": list(map(str, NESTED)), "loss": CLEAN["loss"]}, CLEAN, names=OPENED),
    "Optuna's trials": Messy(OPTUNA, KEPT | {"value": KEPT["loss"]}, "value", {}, {f"params_{n}": n for n in SETTINGS}),
    "Ray's results": Messy(RAY, KEPT, names={f"config/{n}": n for n in SETTINGS}),
    "an accuracy": renamed({"loss": "Accuracy"}, objective="Accuracy"),
    "odd names": renamed({"lr": "learning rate (log)", "units": "#units", "opt": "opt:imizer"}),
    "names of other scripts": renamed({"lr": "学習率", "opt": "é\u0301"}),
    "crashes with a score": Messy(
        CLEAN | CRASHES | {"loss": [v if row % 4 else 0 for row, v in enumerate(CLEAN["loss"])]}, KEPT
    ),
    "crashes as words in the objective": Messy(
        CLEAN | {"loss": [str(v) if row % 4 else "OOM" for row, v in enumerate(CLEAN["loss"])]}, KEPT
    ),
    "a message in the objective": Messy(
        CLEAN | {"loss": [str(v) if row % 4 else f"CUDA error: rank {row}" for row, v in enumerate(CLEAN["loss"])]},
        KEPT,
    ),
    "a slip of the pen": Messy(
        CLEAN | {"loss": [str(v) if row else "1.93 HERE" for row, v in enumerate(CLEAN["loss"])]},
        {name: values[1:] for name, values in CLEAN.items()},
        warns="1.93 HERE",
    ),
    "every line twice": Messy(TWICE, CLEAN),
    "some lines twice": Messy(SOME_TWICE, CLEAN),
    "numbers of the trials in another order": extra("iteration", [place + 1 for place in ORDER]),
    "an index saved twice": Messy({"Unnamed: 0": list(range(ROWS)), "Unnamed: 0.1": ORDER, **CLEAN}, CLEAN),
    "a duration in hours": extra("Duration", [f"{v:.1f}h" for v in uniform(1, 9)]),
    "durations in several units": extra("took", [f"{v:.1f}{'mh'[row % 2]}" for row, v in enumerate(uniform(1, 9))]),
    "memory in several units": extra("mem", [f"{v:.1f} {'MG'[row % 2]}B" for row, v in enumerate(uniform(1, 9))]),
    "minutes of training": extra("training_time_minutes", uniform(1, 90)),
    "a speed": extra("tokens_per_second", uniform(1e3, 1e4)),
    "the best epoch": extra("best_epoch", np.random.default_rng(2).integers(1, 200, ROWS).tolist()),
    "whether it went well": extra("success", (np.arange(ROWS) % 3 > 0).tolist()),
    "whether memory was exceeded": extra("oom_error", (np.arange(ROWS) % 3 // 2).tolist()),
    "the deviation of the objective": extra("loss_std", uniform(0, 0.1)),
    "the objective of other data": extra("loss_hidden", uniform(1, 3)),
    "a plural": extra("rmses", uniform(1, 3)),
    "a reward of the last trials": extra("avg_reward_last_100", uniform(1, 3)),
    "parameters of a model": extra("num_params", np.random.default_rng(2).integers(1e5, 1e7, ROWS).tolist()),
    "the peak of memory": extra("peak_vram_mb", uniform(100, 900)),
    "a host": extra("hostname", [f"node{row % 3}" for row in range(ROWS)]),
    "a remark": extra("description", [f"try {row % 7}" for row in range(ROWS)]),
    "a random state": extra("random_state", [row % 5 for row in range(ROWS)]),
    "a latency": extra("latency_us", uniform(10, 90)),
    "settings that are marked": Messy(MARKED, CLEAN, names={f"hyperparameters.{name}": name for name in SETTINGS}),
    "a result of several seeds": Messy(
        SETTINGS_ALONE | SEEDS, CLEAN | {"loss": np.mean(list(SEEDS.values()), axis=0).tolist()}
    ),
    "infinite objectives": put(
        "loss", lambda v: "inf" if v > 2.5 else str(v), clean=lambda v: np.inf if v > 2.5 else v
    ),
    "semicolons": Messy(CLEAN, CLEAN, csv={"delimiter": ";"}),
    "tabs": Messy(CLEAN, CLEAN, csv={"delimiter": "\t"}),
    "bars": Messy(CLEAN, CLEAN, csv={"delimiter": "|"}),
    "everything quoted": Messy(CLEAN, CLEAN, csv={"quoting": csv.QUOTE_ALL}),
    "a byte order mark": Messy(CLEAN, CLEAN, csv={"encoding": "utf-8-sig"}),
    "Windows lines": Messy(CLEAN, CLEAN, csv={"lineterminator": "\r\n"}),
    "packed": Messy(CLEAN, CLEAN, csv={"packed": True}),
}


def through_dict(messy: Messy, _: Path) -> object:
    return messy.table


def through_pandas(messy: Messy, _: Path) -> object:
    return pd.DataFrame({name: pd.Series(values, dtype=_object(values)) for name, values in messy.table.items()})


def _object(values: list[Any]) -> Any:
    return object if len({type(value) for value in values}) > 1 else None


def through_polars(messy: Messy, _: Path) -> object:
    return pl.DataFrame({name: _alike(values) for name, values in messy.table.items()}, strict=False)


def _alike(values: list[Any]) -> list[Any]:
    """Polars has one type a column: numbers beside text are text."""
    mixed = any(isinstance(value, str) for value in values) and not all(isinstance(v, str | None) for v in values)
    return [None if v is None else str(v) for v in values] if mixed else values


def through_csv(messy: Messy, folder: Path) -> object:
    how = dict(messy.csv)
    packed, encoding = how.pop("packed", False), how.pop("encoding", "utf-8")
    path = folder / ("t.csv.gz" if packed else "t.csv")
    with (folder / "plain").open("w", encoding=encoding, newline="") as out:
        writer = csv.writer(out, **({"lineterminator": "\n"} | how))
        writer.writerow(messy.table)
        writer.writerows(zip(*messy.table.values(), strict=True))
    content = (folder / "plain").read_bytes()
    path.write_bytes(gzip.compress(content) if packed else content)
    return str(path)


def through_lines(messy: Messy, folder: Path) -> object:
    rows = (dict(zip(messy.table, row, strict=True)) for row in zip(*messy.table.values(), strict=True))
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row, default=float) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def through_sheet(messy: Messy, folder: Path) -> object:
    """A spreadsheet has numbers, text, truth and gaps; whatever else is written as text."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.append(list(messy.table))
    for row in zip(*messy.table.values(), strict=True):
        book.active.append([_cell(value) for value in row])
    book.save(folder / "t.xlsx")
    return str(folder / "t.xlsx")


def _cell(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value if isinstance(value, str | int | float | None) else str(value)


DOORS = {
    "dict": through_dict, "pandas": through_pandas, "Polars": through_polars, "CSV": through_csv,
    "JSON lines": through_lines, "Excel": through_sheet,
}  # fmt: skip
