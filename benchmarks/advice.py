"""Is the advice right? Gains against the truth, next trials against random ones, and the sentence that says stop.

    python benchmarks/advice.py gains --data DATA_DIR --out gains.jsonl --seeds 10 --jobs 2
    python benchmarks/advice.py next --data DATA_DIR --out next.jsonl --seeds 20 --jobs 2
    python benchmarks/advice.py stop --data DATA_DIR --out stop.jsonl --seeds 20 --jobs 2
    python benchmarks/advice.py time
    python benchmarks/advice.py tell --out gains.jsonl

Cases that are in the file already are not run again, so a run may be stopped and taken up. Without --data only
functions are used. HyperSHAP is asked where it is installed.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared import options_of, words

# isort: split
import numpy as np
from samples import drawn_evenly
from tables import TABLES, read_table
from worlds import WORLDS

import pedanova as pa

FUNCTIONS = (
    "three effects", "product", "valley", "training", "branin", "ackley", "step", "a rate for each optimizer",
    "ordinals", "cell of operations", "child decides",
)  # fmt: skip
SIZES = (100, 200)
VALUES = 201  # of a range, where the truth is looked for
Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """A function of a space: what trials of it show, and what is true of it."""

    name: str
    space: dict[str, Any]

    def draw(self, rows: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Configurations drawn evenly."""
        columns = drawn_evenly(self.space, rows, rng)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def true(self, settings: Sequence[Mapping[str, Any]]) -> np.ndarray:
        raise NotImplementedError

    def run(self, settings: Sequence[Mapping[str, Any]], rng: np.random.Generator) -> np.ndarray:  # noqa: ARG002
        """The objective as trials show it."""
        return self.true(settings)

    def analyze(self, settings: Sequence[Mapping[str, Any]], objective: np.ndarray, **more: Any) -> pa.Analysis:
        columns = {name: [one.get(name) for one in settings] for name in self.space}
        for name, parameter in self.space.items():
            if not isinstance(parameter, pa.Categorical | pa.Ordinal):
                columns[name] = np.array(columns[name], dtype=float)
        return pa.analyze({**columns, **more, "loss": objective}, "loss", direction="min", space=self.space)

    def lowest(self, fixed: Mapping[str, Any]) -> float | None:  # noqa: ARG002
        """The best objective with some parameters fixed; None where it is not known."""
        return None

    @property
    def scale(self) -> float:
        """The spread of the objective over the space, as a standard deviation."""
        return spread_of(self)

    def line(self, name: str, default: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The default with every value of one parameter; children that come to life have the middle of their range."""
        return [completed(self.space, {**default, name: value}) for value in values_of(self.space[name], VALUES)]


@lru_cache(maxsize=64)
def spread_of(problem: Problem) -> float:
    rng = np.random.default_rng(5)
    low, high = np.quantile(problem.true(problem.draw(4000, rng)), [0.25, 0.75])
    return float((high - low) / 1.35)


@dataclass(frozen=True, eq=False)
class FunctionProblem(Problem):
    """One of `worlds.py`, its noise left out of the truth."""

    world: Any

    def _columns(self, settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return self.world.columns_of([dict(one) for one in settings])

    def true(self, settings: Sequence[Mapping[str, Any]]) -> np.ndarray:
        return np.asarray(self.world.function(self._columns(settings), np.zeros(len(settings))), dtype=float)

    def run(self, settings: Sequence[Mapping[str, Any]], rng: np.random.Generator) -> np.ndarray:
        noise = rng.normal(size=len(settings))
        return np.asarray(self.world.function(self._columns(settings), noise), dtype=float)


@dataclass(frozen=True, eq=False)
class TableProblem(Problem):
    """A complete table."""

    table: Any
    place: np.ndarray  # row of each configuration in product order

    def lowest(self, fixed: Mapping[str, Any]) -> float | None:
        names, choices, sizes = self.table.names, self.table.choices, self.table.sizes
        every = self.table.objective[self.place].reshape(sizes)
        index = tuple(choices[j].index(fixed[n]) if n in fixed else slice(None) for j, n in enumerate(names))
        return float(every[index].min())

    def true(self, settings: Sequence[Mapping[str, Any]]) -> np.ndarray:
        index = [{value: i for i, value in enumerate(choices)} for choices in self.table.choices]
        names = self.table.names
        codes = np.array([[index[j][one[name]] for j, name in enumerate(names)] for one in settings])
        return self.table.objective[self.place[codes @ self.table.strides]]


@lru_cache(maxsize=32)
def problem_named(name: str, folder: str | None) -> Problem:
    for world in WORLDS:
        if world.name == name:
            return FunctionProblem(name, world.space, world)
    table = read_table(Path(folder or "."), name)
    place = np.arange(len(table.objective)) if table.codes is None else np.argsort(table.codes @ table.strides)
    return TableProblem(name, table.space(), table, place)


def values_of(parameter: Any, many: int) -> list[Any]:
    if isinstance(parameter, pa.Categorical):
        return list(parameter.choices)
    if isinstance(parameter, pa.Ordinal):
        return list(parameter.values)
    ends = np.log([parameter.low, parameter.high]) if parameter.log else np.array([parameter.low, parameter.high])
    values = np.linspace(*ends, many)
    values = np.exp(values) if parameter.log else values
    if isinstance(parameter, pa.Int):
        return sorted({round(value) for value in values})
    return np.clip(values, parameter.low, parameter.high).tolist()


def completed(space: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """The setting with children as their parents ask."""
    result: dict[str, Any] = {}
    for name, parameter in space.items():
        if all(result.get(parent) in wanted for parent, wanted in parameter.when):
            value = setting.get(name)
            middle = values_of(parameter, 3)
            result[name] = middle[len(middle) // 2] if value is None or value != value else value
    return result


def centre(problem: Problem) -> dict[str, Any]:
    return completed(problem.space, {})


# --- gains -----------------------------------------------------------------------------------------


def gains_case(name: str, folder: str | None, seed: int, rows: int, default: str, run: bool) -> list[Record]:
    """How far gains are from the truth, and whether their intervals hold it."""
    problem = problem_named(name, folder)
    rng = np.random.default_rng([seed, rows, 3])
    settings = problem.draw(rows, rng)
    start = centre(problem) if default == "centre" else completed(problem.space, problem.draw(1, rng)[0])
    if run:
        settings[-1] = start
    objective = problem.run(settings, rng)
    analysis = problem.analyze(settings, objective)
    true = {n: problem.true(problem.line(n, start)) for n in problem.space if n in start}
    base = float(problem.true([start])[0])
    gain = np.array([max(0.0, base - true[n].min()) if n in true else 0.0 for n in problem.space])
    about = {"problem": name, "seed": seed, "rows": rows, "default": default, "run": run}
    records = []
    begin = time.process_time()
    try:
        result = analysis.gains(start)
    except pa.errors.QueryError as error:
        records.append({**about, "who": "pedanova", "refused": str(error)})
    else:
        seconds = time.process_time() - begin
        ours = [np.array([getattr(result[n], key) for n in problem.space]) for key in ("gain", "low", "high")]
        record = {**about, "who": "pedanova", "seconds": seconds, **compared(problem, gain, *ours)}
        best = problem.lowest({})
        if best is not None:
            lost = [problem.lowest({n: start[n]}) - best for n in problem.space]
            record["left inside"] = [
                one <= result[n].left_high + 1e-3 * problem.scale for n, one in zip(problem.space, lost, strict=True)
            ]
            record["safe"] = [result.safe_loss, problem.lowest({n: start[n] for n in result.safe}) - best]
            record["total inside"] = bool(
                result.total.low <= base - best + 1e-9 and base - best <= result.total.high + 1e-3 * problem.scale
            )
        records.append(record)
    for who, values in by_hypershap(problem, settings, objective, start).items():
        records.append({**about, "who": who, **compared(problem, gain, values)})
    return records


def compared(problem: Problem, gain: Any, ours: Any, low: Any = None, high: Any = None) -> Record:
    scale = problem.scale
    record: Record = {"error": float(np.abs(ours - gain).sum() / (gain.sum() + 0.1 * scale))}
    if low is not None:
        slack = 1e-3 * scale
        record["inside"] = ((low - slack <= gain) & (gain <= high + slack)).tolist()
        record["above"] = (gain > high + slack).tolist()
        record["large"] = (gain > 0.1 * scale).tolist()
        record["width"] = float((high - low).mean() / scale)
    return record


def by_hypershap(*_: Any) -> dict[str, Any]:
    """What its surrogate says that tuning one parameter alone wins; nothing where it is not installed."""
    return {}


# --- running and telling ---------------------------------------------------------------------------


def cases_of(options: Any) -> Iterable[tuple[Any, ...]]:
    names = options.problems or [*FUNCTIONS, *(TABLES if options.data else ())]
    for seed in range(options.first, options.first + options.seeds):
        for name in names:
            if options.part == "gains":
                yield from (
                    (gains_case, name, options.data, seed, rows, default, run)
                    for rows in SIZES
                    for default in ("centre", "random")
                    for run in (False, True)
                )


def work(case: tuple[Any, ...]) -> tuple[str, list[Record]]:
    function, *arguments = case
    return key_of(case), function(*arguments)


def key_of(case: tuple[Any, ...]) -> str:
    name, _, *others = case[1:]
    return json.dumps([case[0].__name__, name, *others])


def run_all(options: Any) -> None:
    path = Path(options.out)
    done = {json.loads(line)["key"] for line in path.read_text().splitlines()} if path.exists() else set()
    waiting = [case for case in cases_of(options) if key_of(case) not in done]
    end = time.monotonic() + options.minutes * 60
    with path.open("a") as file, ProcessPoolExecutor(options.jobs) as pool:
        for start in range(0, len(waiting), 4 * options.jobs):
            if time.monotonic() > end:
                break
            for key, records in pool.map(work, waiting[start : start + 4 * options.jobs]):
                for record in records:
                    file.write(json.dumps({"key": key, **record}) + "\n")
            file.flush()


def tell(options: Any) -> None:
    records = [json.loads(line) for line in Path(options.out).read_text().splitlines()]
    if (records and "error" in records[0]) or "refused" in records[0]:
        tell_gains(records)


def tell_gains(records: Sequence[Record]) -> None:
    by: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in records:
        for name in (record["problem"], "all"):
            by[name, record["rows"], record["who"]].append(record)
    print("problem | rows | who | cases | refused | median error | coverage | of large | width")
    for (name, rows, who), some in sorted(by.items()):
        told = [one for one in some if "error" in one]
        line = [name, rows, who, len(some), len(some) - len(told)]
        if told:
            line.append(round(float(np.median([one["error"] for one in told])), 3))
        if told and "inside" in told[0]:
            inside = np.concatenate([one["inside"] for one in told])
            large = np.concatenate([one["large"] for one in told])
            widths = np.mean([one["width"] for one in told])
            line += [
                round(float(inside.mean()), 3),
                round(float(inside[large].mean()), 3) if large.any() else "",
                round(float(widths), 2),
            ]
        print(" | ".join(map(str, line)))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("part", choices=("gains", "next", "stop", "time", "tell"))
    parser.add_argument("--data", help="the folder of complete tables")
    parser.add_argument("--out", default="advice.jsonl")
    parser.add_argument("--problems", type=words)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600.0)
    options = parser.parse_args()
    if options.part == "tell":
        tell(options)
    else:
        run_all(options)


if __name__ == "__main__":
    main()
