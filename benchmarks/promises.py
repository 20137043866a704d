"""What advice says, and what is true: one row for each promise, one column for each sampler."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Record = dict[str, Any]
LOOKS, END = (*range(50, 301, 25),), 320  # trials at which a growing study is read, and all of its trials
IN_TIME = 100  # trials after the last improvement above the limit, within which the limit is said
CHANCES = ((0.0, 0.03), (0.03, 0.3), (0.3, 1.01))
SUCCESS = ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01))


def part(values: Iterable[Any]) -> str:
    each = list(values)
    return f"{np.mean(each):.3f} of {len(each)}" if each else "–"


def bounds_rows(some: Sequence[Record]) -> dict[str, str]:
    told = [one for one in some if "inside" in one]
    return {
        "`gains().best` is not worse than the best trial (.95)": part(one["best"] for one in told),
        "total gain in its interval (.92)": part(one["inside"][0] for one in told),
        "gains of parameters in their intervals (.92)": part(ok for one in told for ok in one["inside"][1:]),
        "proposals in their intervals (.92)": part(ok for one in some for ok in one["held"]),
        "safe sets whose loss exceeds the bound (.05)": part(not one["safe"] for one in told if "safe" in one),
        **binned("chances to be better", (pair for one in some for pair in one["chances"]), CHANCES),
    }


def binned(what: str, said_and_true: Iterable[Any], bins: Sequence[tuple[float, float]]) -> dict[str, str]:
    pairs, rows = np.array([*said_and_true], dtype=float).reshape(-1, 2), {}
    for low, high in bins:
        here = pairs[(pairs[:, 0] >= low) & (pairs[:, 0] < high)]
        said = f"said {here[:, 0].mean():.3f}, true {here[:, 1].mean():.3f} of {len(here)}" if len(here) else "–"
        rows[f"{what}, {low:.2f} to {min(high, 1.0):.2f} (within .1)"] = said
    return rows


def fails_rows(some: Sequence[Record]) -> dict[str, str]:
    failed = [number for one in some for number in one["failed"]]
    said, true = (np.array([one[key] for one in some]) for key in ("said", "true"))
    return {
        "sets of ten proposals of which more than two fail (0)": part(number > 2 for number in failed),
        **binned("chances to succeed", (pair for one in some for pair in one["succeeds"]), SUCCESS),
        "reduce: part of the smaller space that fails": f"said {said.mean():.3f}, true {true.mean():.3f}",
    }


def stop_rows(some: Sequence[Record]) -> dict[str, str]:
    looks = [look for one in some for look in one["looks"] if look[1] is not None]
    said = [any(look[3] for look in one["looks"]) for one in some]
    settled = [look[-1] == one["last"] for one in some for look in one["looks"] if look[4]]
    first = [next((look for look in one["looks"] if look[3]), None) for one in some]
    return {
        "limits of 20 further trials that are exceeded (.05)": part(won > limit for _, limit, won, *_ in looks),
        "studies in which a negligible limit is said": part(said),
        "… within 100 trials after the last larger improvement": part(said_in_time(one) for one in some if judged(one)),
        "studies in which that limit is exceeded when it is first said (.10)": part(
            look[2] > look[1] for look in first if look
        ),
        "settled rankings whose first parameter stays": part(settled),
    }


def judged(study: Record) -> bool:
    """Whether the study goes on for long enough after its last improvement that is not negligible."""
    return bool(study["improved"] + IN_TIME <= LOOKS[-1])


def said_in_time(study: Record) -> bool:
    return any(
        study["improved"] <= rows <= study["improved"] + IN_TIME for rows, *_, stops, _, _ in study["looks"] if stops
    )


def box_rows(some: Sequence[Record]) -> dict[str, str]:
    said, true, volume = (np.array([one[key] for one in some]) for key in ("said", "true", "volume"))
    richer = true / volume
    return {
        "reduce: part of the best 1 % that is kept, said": part(said),
        "reduce: part of the best 1 % that is kept, true": part(true),
        "reduce: studies in which they agree within .25 (.90)": part(np.abs(said - true) <= 0.25),
        "reduce: how much richer in the best 1 % (7)": f"{richer.mean():.1f} (median {np.median(richer):.1f})",
    }


PROMISES: dict[str, Callable[[Sequence[Record]], dict[str, str]]] = {
    "bounds_case": bounds_rows,
    "box_case": box_rows,
    "fails_case": fails_rows,
    "stop_case": stop_rows,
}


def tell_promises(records: Sequence[Record]) -> None:
    """Print a Markdown table of all promises that the records can judge."""
    samplers = sorted({one["sampler"] for one in records}, reverse=True)
    if not records:
        return
    print(" | ".join(["", "promise (wanted)", *samplers, ""]).strip())
    print(" | ".join(["", "---", *("---" for _ in samplers), ""]).strip())
    for kind, rows_of in PROMISES.items():
        mine = [one for one in records if json.loads(one["key"])[0] == kind]
        told = {one: rows_of([r for r in mine if r["sampler"] == one]) for one in samplers if mine}
        for name in next(iter(told.values()), {}):
            print(" | ".join(["", name, *(told[one][name] for one in samplers), ""]).strip())
