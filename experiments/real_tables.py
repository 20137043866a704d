"""What pedanova says of real tables with conditional parameters and several objectives.

    python experiments/real_tables.py DATA_DIR

DATA_DIR holds ``NAME.parquet`` tables, each with a ``NAME.json`` of its space and objectives.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pedanova as pa


def parameter_of(fields: dict[str, object]) -> pa.space.Parameter:
    when = {c["parent"]: c["values"] for c in fields.get("active_if", [])}  # type: ignore[union-attr]
    if "grid" in fields:
        return pa.Ordinal(fields["grid"], when=when)  # type: ignore[arg-type]
    if fields["type"] == "categorical":
        return pa.Categorical(fields["choices"], when=when)  # type: ignore[arg-type]
    if fields["type"] == "int":
        return pa.Int(fields["low"], fields["high"], log=bool(fields["log"]), when=when)  # type: ignore[arg-type]
    return pa.Float(fields["low"], fields["high"], log=bool(fields["log"]), when=when)  # type: ignore[arg-type]


def show(a: pa.Analysis, **question: object) -> None:
    found = a.importance(**question)  # type: ignore[arg-type]
    print(f"\n{found.target} in {found.region}: {found.rows[0].n_target:,} of {found.rows[0].n_region:,} rows")
    for row in found.rows[:8]:
        parts = f"value {row.value:7.3f}  activity {row.activity:7.3f}" if row.activity else ""
        print(f"  {row.name:<26}{row.ratio:7.1%}  share {max(0, row.share):6.1%}  PED {row.divergence:8.3f}  {parts}")
    for note in found.notes:
        print(f"  - {note}")


def analyze(folder: Path, name: str, **options: object) -> pa.Analysis:
    facts = json.loads((folder / f"{name}.json").read_text())
    space = {key: parameter_of(fields) for key, fields in facts["space"].items()}
    objective = options.pop("objective", facts["main_objective"])
    names = [objective] if isinstance(objective, str) else objective
    directions = [facts["objectives"][key]["direction"] for key in names]  # type: ignore[union-attr]
    a = pa.analyze(folder / f"{name}.parquet", objective, direction=directions, space=space, **options)
    print(f"\n== {name}: {len(a):,} rows, {len(a.space)} parameters, {a.objective} {directions}")
    for note in a.notes:
        print(f"  - {note}")
    return a


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    xgboost = analyze(folder, "yahpo_rbv2_xgboost_16")
    show(xgboost)
    show(xgboost, target=0.01, region=0.1)
    show(xgboost, region={"booster": {"dart"}})
    rpart = analyze(folder, "yahpo_rbv2_rpart_41138")
    show(rpart)
    show(rpart, target=0.01, region=0.1)
    lander = analyze(folder, "arlbench_box2d_lunar_lander_dqn", repeats="mean")
    show(lander)
    nmt = analyze(folder, "nmt_so-en", objective=["dev_bleu", "dev_gpu_time"])
    show(nmt)
    print(f"\n{nmt.compare(by='objective')}")


if __name__ == "__main__":
    main()
