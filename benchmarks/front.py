"""Two objectives whose true fronts are known: the hypervolume that proposed trials gain, and that random trials gain.

`advice.py front` runs the cases. The hypervolume is that of the true objectives without noise, as a part of what the
true front has; its corner is the 90 % quantile of each objective over the space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from samples import drawn_evenly

import pedanova as pa

FIRST, BATCH, MARKS = 40, 10, (40, 60, 80)
WAYS = ("random", "next")
Record = dict[str, Any]
Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class TwoObjectives:
    """A function with two objectives (lower is better), and many points of its front."""

    space: Mapping[str, Any]
    function: Callable[[Columns], tuple[Any, Any]]
    ideal: Callable[[], tuple[Any, Any]]
    noise: float = 0.0  # deviation of the first objective of a trial

    def losses(self, columns: Columns) -> np.ndarray:
        return np.stack(self.function(columns), axis=1)

    @cached_property
    def corner(self) -> np.ndarray:
        return np.quantile(self.losses(drawn_evenly(self.space, 4000, np.random.default_rng(5))), 0.9, axis=0)

    @cached_property
    def whole(self) -> float:
        return hypervolume(np.stack(self.ideal(), axis=1), self.corner)

    def part(self, columns: Columns) -> float:
        return hypervolume(self.losses(columns), self.corner) / self.whole


def hypervolume(losses: np.ndarray, corner: np.ndarray) -> float:
    """The area between the losses and the corner."""
    inside = losses[(losses < corner).all(axis=1)]
    inside = inside[np.lexsort(inside.T[::-1])]
    lowest = np.minimum.accumulate(np.r_[corner[1], inside[:, 1]])
    return float(((corner[0] - inside[:, 0]) * -np.diff(lowest)).sum())


def zdt1(c: Columns) -> tuple[Any, Any]:
    first, g = c["a"], 1.0 + 9.0 * np.mean([c[name] for name in "bcdef"], axis=0)
    return first, g * (1.0 - np.sqrt(first / g))


def dtlz2(c: Columns) -> tuple[Any, Any]:
    g = np.sum([(c[name] - 0.5) ** 2 for name in "bcdef"], axis=0)
    return (1.0 + g) * np.cos(c["a"] * np.pi / 2), (1.0 + g) * np.sin(c["a"] * np.pi / 2)


BEST_RATE = {"sgd": -1.0, "adam": -3.0, "lion": -4.0}
LOST = {"sgd": 0.1, "adam": 0.0, "lion": 0.03}
SLOWER, WORSE = {"relu": 1.0, "gelu": 1.4, "tanh": 1.2}, {"relu": 0.05, "gelu": 0.0, "tanh": 0.15}


def network(c: Columns) -> tuple[Any, Any]:
    """An error and a latency; categories change both."""
    optimizer, activation = (np.array([table[one] for one in c[key]]) for key, table in CHOICES)
    off = np.log10(c["rate"]) - np.array([BEST_RATE[one] for one in c["optimizer"]])
    size = np.log2(np.asarray(c["width"], dtype=float)) * np.asarray(c["layers"], dtype=float) ** 0.3
    error = 0.1 * np.minimum(off**2, 9.0) + optimizer + activation + 4.0 / size
    latency = np.asarray(c["width"]) * np.asarray(c["layers"]) * np.array([SLOWER[one] for one in c["activation"]])
    return error, latency / 1000.0


CHOICES = (("optimizer", LOST), ("activation", WORSE))


def best_networks() -> tuple[Any, Any]:
    every = list(product(range(16, 513), range(1, 9), SLOWER))
    names = ("width", "layers", "activation")
    columns = {name: [one[j] for one in every] for j, name in enumerate(names)}
    return network({**columns, "optimizer": ["adam"] * len(every), "rate": np.full(len(every), 1e-3)})


SIX = {name: pa.Float(0.0, 1.0) for name in "abcdef"}
NETWORK = {
    "rate": pa.Float(1e-5, 1, log=True), "width": pa.Int(16, 512, log=True), "layers": pa.Int(1, 8),
    "optimizer": pa.Categorical(list(LOST)), "activation": pa.Categorical(list(WORSE)),
}  # fmt: skip
ALONG = np.linspace(0.0, 1.0, 2001)
FRONTS = {
    "ZDT1": TwoObjectives(SIX, zdt1, lambda: (ALONG, 1.0 - np.sqrt(ALONG))),
    "DTLZ2": TwoObjectives(SIX, dtlz2, lambda: (np.cos(ALONG * np.pi / 2), np.sin(ALONG * np.pi / 2))),
    "network": TwoObjectives(NETWORK, network, best_networks, noise=0.02),
}


def analyzed(problem: TwoObjectives, columns: Columns, shown: np.ndarray) -> pa.Analysis:
    """The analysis of all trials; the first objective is maximised, so that both directions are tried."""
    table = {**columns, "score": -shown[:, 0], "cost": shown[:, 1]}
    return pa.analyze(table, ["score", "cost"], direction=["max", "min"], space=problem.space)


def front_case(name: str, folder: str | None, seed: int, way: str) -> list[Record]:  # noqa: ARG001
    """From the same 40 random trials, 40 further trials in batches: at random, or as proposed."""
    problem = FRONTS[name]
    rng = np.random.default_rng([seed, 31])
    columns = drawn_evenly(problem.space, FIRST, rng)
    noise = problem.noise * rng.normal(size=(MARKS[-1], 1)) * [1.0, 0.0]
    later = np.random.default_rng([seed, 32])
    records, chances = [], []
    while True:
        losses = problem.losses(columns)
        if len(losses) in MARKS:
            record = {"problem": name, "seed": seed, "way": way, "rows": len(losses), "part": problem.part(columns)}
            records.append({**record, "chances": chances})
        if len(losses) == MARKS[-1]:
            return records
        shown = losses + noise[: len(losses)]
        if way == "random":
            fresh = drawn_evenly(problem.space, BATCH, later)
        else:
            trials = analyzed(problem, columns, shown).next_trials(BATCH, "win", seed=seed)
            fresh = {key: np.array([one.values[key] for one in trials]) for key in problem.space}
            got = problem.losses(fresh) + noise[len(losses) : len(losses) + BATCH]
            new = [not (shown <= one).all(axis=1).any() for one in got]
            chances += [[float(one.better), bool(b)] for one, b in zip(trials, new, strict=True)]
        columns = {key: np.concatenate([columns[key], fresh[key]]) for key in problem.space}


LEVELS, LEVEL_ROWS = (0.25, 0.5, 0.75), 120


def level_case(name: str, folder: str | None, seed: int) -> list[Record]:  # noqa: ARG001
    """The gain of the first objective at some levels of the second, from random trials, against the truth."""
    problem = FRONTS[name]
    rng = np.random.default_rng([seed, 33])
    columns = drawn_evenly(problem.space, LEVEL_ROWS, rng)
    losses, (first, second) = problem.losses(columns), problem.ideal()
    shown = losses + problem.noise * rng.normal(size=(LEVEL_ROWS, 1)) * [1.0, 0.0]
    a, records = analyzed(problem, columns, shown), []
    for level in LEVELS:
        end = float(np.quantile(losses[:, 1], level))
        record = {"problem": name, "seed": seed, "level": level}
        try:
            gains = a.gains(limit={"cost": end})
        except pa.errors.QueryError as error:
            records.append({**record, "refused": str(error)})
            continue
        start, best = (
            problem.losses({key: np.array([one[key]]) for key in one})[0] for one in (gains.default, gains.best)
        )
        gain = start[0] - first[second <= end].min()
        total = gains.total
        record["inside"] = bool(
            total.low <= gain + 1e-3 * problem.corner[0] and gain <= total.high + 1e-3 * problem.corner[0]
        )
        record["meets"], record["tuned"] = bool(best[1] <= end), gains.best != gains.default
        records.append(
            {**record, "gain": gain, "total": [total.gain, total.low, total.high], "got": start[0] - best[0]}
        )
    return records


def tell_levels(records: Sequence[Record]) -> None:
    print(
        "problem | cases | refused | interval holds the gain | best meets the limit | part of the gain that it reaches"
    )
    for name in FRONTS:
        every = [one for one in records if one["problem"] == name]
        some = [one for one in every if "refused" not in one]
        if some:
            tuned = [one for one in some if one["tuned"]]
            means = [np.mean([one["inside"] for one in some]), np.mean([one["meets"] for one in tuned])]
            reached = sum(one["got"] for one in some) / sum(one["gain"] for one in some)
            print(" | ".join(map(str, [name, len(every), len(every) - len(some), *np.round([*means, reached], 3)])))


def tell_front(records: Sequence[Record]) -> None:
    print("problem | way | " + " | ".join(f"hypervolume at {rows}" for rows in MARKS) + " | seeds")
    parts = {(one["problem"], one["way"], one["rows"], one["seed"]): one["part"] for one in records}
    seeds = sorted({one["seed"] for one in records})
    names = [name for name in FRONTS if any(one["problem"] == name for one in records)]
    for name, way in product(names, WAYS):
        means = [np.mean([parts[name, way, rows, seed] for seed in seeds]) for rows in MARKS]
        print(" | ".join([name, way, *(f"{mean:.3f}" for mean in means), str(len(seeds))]))
    for rows in MARKS[1:]:
        more = [parts[name, "next", rows, seed] > parts[name, "random", rows, seed] for name in names for seed in seeds]
        print(f"at {rows}: more hypervolume than random trials in {sum(more)} of {len(more)} pairs")
    chances = [pair for one in records if one["rows"] == MARKS[-1] for pair in one["chances"]]
    said, true = np.array(chances, dtype=float).reshape(-1, 2).T
    for low, high in ((0.0, 0.5), (0.5, 0.9), (0.9, 1.01)):
        here = (said >= low) & (said < high)
        if here.any():
            means = f"said {said[here].mean():.2f}, true {true[here].mean():.2f}"
            print(f"chances from {low} to {min(high, 1.0)}: {means}, {here.sum()} trials")
