"""Is the advice right? Gains against the truth, next trials against random ones, and the sentence that says stop.

    python benchmarks/advice.py gains --data DATA_DIR --out gains.jsonl --seeds 10 --jobs 2
    python benchmarks/advice.py bounds --data DATA_DIR --out bounds.jsonl --seeds 2 --jobs 2
    python benchmarks/advice.py boxes --data DATA_DIR --out boxes.jsonl --seeds 2 --jobs 2
    python benchmarks/advice.py fails --out fails.jsonl --seeds 20 --jobs 2
    python benchmarks/advice.py next --data DATA_DIR --out next.jsonl --seeds 20 --jobs 2
    python benchmarks/advice.py win --data DATA_DIR --out win.jsonl --seeds 20 --jobs 2
    python benchmarks/advice.py stop --data DATA_DIR --out stop.jsonl --seeds 20 --jobs 2
    python benchmarks/advice.py front --out front.jsonl --seeds 10 --jobs 2
    python benchmarks/advice.py tell --out gains.jsonl

With one file for `bounds`, `boxes`, `fails` and `stop`, `tell` prints a table of promises: said and true, by sampler.

Cases that are in the file already are not run again, so a run may be stopped and taken up. Without --data only
functions are used. HyperSHAP is asked where it is installed.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from shared import append_records, by_tpe, options_of, read_records, words

# isort: split
import numpy as np
from front import FRONTS, WAYS, front_case, level_case, tell_front, tell_levels
from promises import END, LOOKS, PROMISES, tell_promises
from samples import drawn_evenly, kept_truth, suggested
from tables import TABLES, TableWorld, read_table
from worlds import WORLDS

import pedanova as pa
from pedanova.measures.advice.advise import known_objective, model_at_hand, points_of
from pedanova.measures.advice.configurations import Rules
from pedanova.measures.questions.failures import success_of
from pedanova.space.exports import to_configspace

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
    goal = completed(problem.space, settings[int(np.argmin(objective))])
    changed = [completed(problem.space, {**start, n: goal.get(n)}) for n in problem.space]
    ablated = base - problem.true(changed)
    theirs = by_hypershap(problem, settings, objective, start, goal)
    if theirs and "refused" not in records[-1]:
        records.append({**about, "who": "ablation", **compared(problem, ablated, by_us(analysis, start, changed))})
    for who, values in theirs.items():
        records.append({**about, "who": who, **compared(problem, ablated if "ablation" in who else gain, values)})
    return records


def compared(problem: Problem, gain: Any, ours: Any, low: Any = None, high: Any = None) -> Record:
    scale = problem.scale
    record: Record = {"error": float(np.abs(ours - gain).sum() / (np.abs(gain).sum() + 0.1 * scale))}
    if low is not None:
        slack = 1e-3 * scale
        record["inside"] = ((low - slack <= gain) & (gain <= high + slack)).tolist()
        record["above"] = (gain > high + slack).tolist()
        record["large"] = (gain > 0.1 * scale).tolist()
        record["width"] = float((high - low).mean() / scale)
    return record


SHAP_SAMPLES = 1000  # configurations in which HyperSHAP looks for the best


def by_hypershap(problem: Problem, settings: Any, objective: Any, start: Any, goal: Any) -> dict[str, Any]:
    """What its surrogate says that single parameters win, by both games; nothing where it is not installed."""
    try:
        from ConfigSpace import Configuration
        from hypershap import ExplanationTask
        from hypershap.games.ablation import AblationGame
        from hypershap.games.tunability import TunabilityGame
        from hypershap.task import AblationExplanationTask, TunabilityExplanationTask
        from hypershap.utils import Aggregation, RandomConfigSpaceSearcher
    except ImportError:
        return {}
    if any(parameter.when for parameter in problem.space.values()):
        return {}  # its games know no conditions
    space = to_configspace(pa.Space(problem.space))
    names = list(space.keys())
    first, best, *rows = (Configuration(space, values=plain_of(one)) for one in (start, goal, *settings))
    model = ExplanationTask.from_data(space, list(zip(rows, -objective, strict=True))).get_single_surrogate_model()
    tuning = TunabilityExplanationTask(space, model, first)
    searcher = RandomConfigSpaceSearcher(tuning, mode=Aggregation.MAX, n_samples=SHAP_SAMPLES)
    games = {
        "HyperSHAP tunability": TunabilityGame(tuning, searcher),
        "HyperSHAP ablation": AblationGame(AblationExplanationTask(space, model, first, best)),
    }
    alone = np.eye(len(names), dtype=bool)
    place = [names.index(name) for name in problem.space]
    none = np.zeros(len(names), dtype=bool)
    return {
        who: np.array([game.evaluate_single_coalition(alone[j]) - game.evaluate_single_coalition(none) for j in place])
        for who, game in games.items()
    }


def plain_of(setting: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in setting.items()}


def by_us(analysis: pa.Analysis, start: Any, changed: Sequence[Any]) -> np.ndarray:
    """What single changes win, by the medians of the model behind gains."""
    model, _ = model_at_hand(analysis.data)
    known = known_objective(model, 0, "gains")
    rules = Rules(model.space, model.few.cells)
    cells = np.concatenate([rules.given(plain_of(one)) for one in (start, *changed)])
    values = known.middle(cells)
    return values[0] - values[1:]


# --- bounds ------------------------------------------------------------------------------------------

FRESH = 10  # proposals whose results are compared with their intervals
STEPS, KEPT, MOVES = (0.1, 0.03, 0.01, 0.003, 0.001), 40, 20  # of the search for the truth


def trials_by(problem: Problem, sampler: str, rows: int, seed: int) -> tuple[list[dict[str, Any]], np.ndarray]:
    rng = np.random.default_rng([seed, rows, 31])
    if sampler != "tpe":
        drawn = problem.draw(rows, rng)
        return drawn, problem.run(drawn, rng)
    settings: list[dict[str, Any]] = []

    def evaluate(trial: Any) -> float:
        settings.append(suggested(trial, problem.space))
        return float(problem.run(settings[-1:], rng)[0])

    return settings, np.array([trial.value for trial in by_tpe(evaluate, rows, seed).trials])


def lowest_of(problem: Problem, fixed: Mapping[str, Any], start: Mapping[str, Any]) -> float:
    """The best true objective with some parameters fixed: looked up, or found by a random search with small steps."""
    known = problem.lowest(fixed)
    if known is not None:
        return known
    rng = np.random.default_rng(1)
    some = [completed(problem.space, {**one, **fixed}) for one in [dict(start), *problem.draw(4000, rng)]]
    for step in STEPS:
        best = [some[i] for i in np.argsort(problem.true(some))[:KEPT]]
        some = best + [moved(problem, one, fixed, step, rng) for one in best for _ in range(MOVES)]
    return float(problem.true(some).min())


def moved(problem: Problem, setting: Mapping[str, Any], fixed: Any, step: float, rng: Any) -> dict[str, Any]:
    """The setting with some parameters changed: ranges by a step, others at random."""
    changed = dict(setting)
    for name, parameter in problem.space.items():
        if name in fixed or setting.get(name) is None or rng.random() < 0.5:
            continue
        if isinstance(parameter, pa.Float) and not parameter.log:
            value = setting[name] + step * (parameter.high - parameter.low) * rng.normal()
            changed[name] = min(max(value, parameter.low), parameter.high)
        elif isinstance(parameter, pa.Float):
            value = setting[name] * np.exp(step * np.log(parameter.high / parameter.low) * rng.normal())
            changed[name] = min(max(value, parameter.low), parameter.high)
        elif rng.random() < 0.2:
            changed[name] = problem.draw(1, rng)[0].get(name) or setting[name]
    return completed(problem.space, changed)


def bounds_case(name: str, folder: str | None, seed: int, rows: int, sampler: str) -> list[Record]:
    """Whether the truth lies in the intervals of gains and proposals, and how often proposals are better."""
    problem = problem_named(name, folder)
    settings, objective = trials_by(problem, sampler, rows, seed)
    analysis = problem.analyze(settings, objective, number=np.arange(rows))
    rng, scale = np.random.default_rng([seed, 32]), problem.scale
    start = completed(problem.space, settings[int(np.argmin(objective))])
    record: Record = {"problem": name, "seed": seed, "rows": rows, "sampler": sampler, "scale": scale}
    try:
        gains = analysis.gains()
    except pa.errors.QueryError as error:
        record["refused"] = str(error)
    else:
        base, low = float(problem.true([start])[0]), lowest_of(problem, {}, start)
        lines = {n: problem.true(problem.line(n, start)) for n in problem.space if start.get(n) is not None}
        pairs = [(gains.total, base - low), *((gains[n], max(0.0, base - line.min())) for n, line in lines.items())]
        slack = 2e-3 * scale
        record["best"] = float(problem.true([completed(problem.space, gains.best)])[0]) <= base + slack
        record["inside"] = [one.low - slack <= true <= one.high + slack for one, true in pairs]
        if gains.safe:
            record["safe"] = (
                lowest_of(problem, {n: start[n] for n in gains.safe}, start) - low <= gains.safe_loss + slack
            )
    trials = [one for one in analysis.next_trials(FRESH, "win", seed=seed) if one.low is not None]
    results = problem.run([completed(problem.space, one.values) for one in trials], rng) if trials else []
    record["held"] = [one.low <= result <= one.high for one, result in zip(trials, results, strict=True)]
    better = [result < objective.min() for result in results]
    record["chances"] = [(one.better, bool(wins)) for one, wins in zip(trials, better, strict=True)]
    return [record]


# --- boxes -----------------------------------------------------------------------------------------

EVERY = 20_000  # configurations that stand for the whole space


def box_case(name: str, folder: str | None, seed: int, sampler: str) -> list[Record]:
    """The part of the best 1 % of the space that `reduce` keeps: said and true."""
    problem = problem_named(name, folder)
    settings, objective = trials_by(problem, sampler, SIZES[-1], seed)
    small = problem.analyze(settings, objective, number=np.arange(len(objective))).reduce()
    every = problem.draw(EVERY, np.random.default_rng(33))
    true = problem.true(every)
    best = true <= np.partition(true, EVERY // 100 - 1)[EVERY // 100 - 1]
    inside = np.array([is_inside(small.space, one) for one in every])
    said, volume = (1.0, 1.0) if small.evidence is None else (small.evidence.kept.part, small.evidence.volume)
    record = {"said": said, "true": float(inside[best].mean()), "volume": float(inside.mean()), "said volume": volume}
    return [{"problem": name, "seed": seed, "sampler": sampler, **record}]


def is_inside(space: Mapping[str, Any], setting: Mapping[str, Any]) -> bool:
    for name, value in setting.items():
        if value is None or value != value:
            continue
        parameter = space.get(name)
        if parameter is None:
            return False
        if isinstance(parameter, pa.Categorical | pa.Ordinal):
            if value not in values_of(parameter, 0):
                return False
        elif not parameter.low <= value <= parameter.high:
            return False
    return True


# --- failures --------------------------------------------------------------------------------------

CLIFF = {
    "lr": pa.Float(1e-5, 1, log=True), "wd": pa.Float(0, 1), "kind": pa.Categorical(["a", "b"]), "idle": pa.Float(0, 1)
}  # fmt: skip


def cliff(settings: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """A loss that improves with the learning rate, until runs diverge: about a third of the trials fail."""
    logs, wd = np.log10([one["lr"] for one in settings]), np.array([one["wd"] for one in settings])
    edge = -1.6 + 0.5 * np.array([one["kind"] == "b" for one in settings]) - 0.3 * wd
    return np.where(logs > edge, np.nan, 1.0 - 0.3 * logs + 0.2 * wd)


def fails_case(name: str, folder: str | None, seed: int) -> list[Record]:  # noqa: ARG001
    """Failures of proposals, chances of success over the space, and failures in the smaller space: said and true."""
    problem = Problem(name, CLIFF)
    settings = problem.draw(80, np.random.default_rng([seed, 9]))
    analysis = problem.analyze(settings, cliff(settings))
    proposed = [one.values for way in ("win", "know") for one in analysis.next_trials(FRESH, way, seed=seed)]
    model, success = model_at_hand(analysis.data)[0], success_of(analysis.data)
    points = points_of(model, seed)
    fails = np.isnan(cliff(Rules(model.space, model.few.cells).values(points)))  # type: ignore[arg-type]
    chances = np.ones(len(points)) if success is None else success.chance(points)
    small, every = analysis.reduce(), problem.draw(EVERY // 4, np.random.default_rng(33))
    inside = np.array([is_inside(small.space, one) for one in every])
    record = {
        "failed": np.isnan(cliff(proposed)).reshape(2, FRESH).sum(axis=1).tolist(),
        "succeeds": np.stack([chances, ~fails], axis=1).tolist(),
        "said": 0.0 if small.evidence is None else small.evidence.fails,
        "true": float(np.isnan(cliff(every))[inside].mean()),
    }
    return [{"problem": name, "seed": seed, "sampler": "uniform", **record}]


# --- next trials -----------------------------------------------------------------------------------

FIRST, BATCH, MARKS = 40, 10, (60, 80, 105, 120)
NEXT_FUNCTIONS = (*FUNCTIONS[:5], "cell of operations")


def shares_truth(problem: Problem, folder: str | None) -> np.ndarray:
    """The true share of every parameter for the best tenth."""
    table = TableWorld(Path(folder or "."), problem.name, beside_noise=False)
    world = problem.world if isinstance(problem, FunctionProblem) else table
    place = Path(folder or gettempdir()) / "truths"
    place.mkdir(exist_ok=True)
    return kept_truth(world, place)[0]


def marked(marks: list[str | None]) -> dict[str, Any]:
    """The column that says which trials were proposed."""
    return {"pedanova_next": np.array(marks, dtype=object)} if any(marks) else {}


def proposed(problem: Problem, settings: Any, objective: Any, marks: Any, many: int, way: str, seed: int) -> list[Any]:
    trials = problem.analyze(settings, objective, **marked(marks)).next_trials(many, way, seed=seed)
    return [completed(problem.space, trial.values) for trial in trials]


def judged(problem: Problem, settings: Any, objective: Any, marks: list[str | None], truth: Any) -> Record:
    number = np.arange(len(objective))
    result = problem.analyze(settings, objective, number=number, **marked(marks)).importance(force=True)
    rows = [result[name] for name in problem.space]
    ratios, exact = np.array([row.ratio for row in rows]), np.maximum(truth, 0.0) / np.maximum(truth, 0.0).sum()
    inside = [(row.low or 0.0) - 1e-4 <= one <= (row.high or 0.0) + 1e-4 for row, one in zip(rows, truth, strict=True)]
    return {"l1": float(np.abs(ratios - exact).sum()), "cover": float(np.mean(inside)), "by": result.estimator}


def next_case(name: str, folder: str | None, seed: int, way: str) -> list[Record]:
    """From the same first trials, by chance or as proposed, judged at some sizes."""
    problem = problem_named(name, folder)
    truth = shares_truth(problem, folder)
    rng = np.random.default_rng([seed, 7])
    settings = problem.draw(FIRST, rng)
    objective = problem.run(settings, rng)
    marks: list[str | None] = [None] * FIRST
    rng = np.random.default_rng([seed, 8, len(way)])
    records = []
    while len(objective) < MARKS[-1]:
        many = min(BATCH, next(mark for mark in MARKS if mark > len(objective)) - len(objective))
        at_random = way == "random"
        fresh = problem.draw(many, rng) if at_random else proposed(problem, settings, objective, marks, many, way, seed)
        settings += fresh
        marks += [None if at_random else way] * many
        objective = np.concatenate([objective, problem.run(fresh, rng)])
        if len(objective) in MARKS:
            record = judged(problem, settings, objective, marks, truth)
            records.append({"problem": name, "seed": seed, "way": way, "rows": len(objective), **record})
    return records


def win_case(name: str, folder: str | None, seed: int) -> list[Record]:
    """The best value after as many trials more: ours against TPE, from the same first trials."""
    import optuna

    problem = problem_named(name, folder)
    rng = np.random.default_rng([seed, 7])
    first = problem.draw(FIRST, rng)
    start = problem.run(first, rng)
    settings, objective, marks = list(first), start, [None] * FIRST
    while len(objective) < 2 * FIRST:
        fresh = proposed(problem, settings, objective, marks, BATCH, "win", seed)
        settings, marks = settings + fresh, marks + ["win"] * BATCH
        objective = np.concatenate([objective, problem.run(fresh, rng)])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=0))
    for setting in first:
        plain = completed(problem.space, setting)
        study.enqueue_trial({key: by_place(problem.space[key], value) for key, value in plain.items()})
    theirs: list[Any] = []

    def evaluate(trial: Any) -> float:
        theirs.append(suggested(trial, problem.space))
        return float(problem.run(theirs[-1:], rng)[0])

    study.optimize(evaluate, n_trials=2 * FIRST)
    ours, tpe = (float(problem.true(some).min()) for some in (settings, theirs))
    return [{"problem": name, "seed": seed, "win": ours, "tpe": tpe, "scale": problem.scale}]


def by_place(parameter: Any, value: Any) -> Any:
    """An ordinal is suggested to Optuna by its place."""
    value = value.item() if isinstance(value, np.generic) else value
    return list(parameter.values).index(value) if isinstance(parameter, pa.Ordinal) else value


# --- the stop sentence -----------------------------------------------------------------------------


def stop_case(name: str, folder: str | None, seed: int, sampler: str) -> list[Record]:
    """A study that is read while it grows: each limit of the next 20 trials, and when the ranking is settled."""
    problem = problem_named(name, folder)
    settings, objective = trials_by(problem, sampler, END, seed)
    looks: list[list[Any]] = []
    for rows in LOOKS:
        advice = problem.analyze(settings[:rows], objective[:rows], number=np.arange(rows)).needed(force=True).stop
        best = float(objective[:rows].min())
        won = best - float(objective[: rows + advice.trials].min())
        looks.append([rows, advice.better, won, advice.value_settled, advice.ranking_settled, advice.first])
    last = problem.analyze(settings, objective, number=np.arange(END)).importance(force=True)
    bests = np.minimum.accumulate(objective)
    large = np.flatnonzero(bests[:-1] - bests[1:] > advice.negligible)
    record = {"looks": looks, "last": next(iter(last)), "improved": int(large[-1]) + 2 if len(large) else 1}
    return [{"problem": name, "seed": seed, "sampler": sampler, **record}]


# --- running and telling ---------------------------------------------------------------------------


def cases_of(options: Any) -> Iterable[tuple[Any, ...]]:
    tables = [name for name in TABLES if options.data and (Path(options.data) / f"{name}.json").exists()]
    functions = NEXT_FUNCTIONS if options.part in ("next", "win") else FUNCTIONS
    others = {"front": [*FRONTS], "fails": ["cliff"]}
    names = options.problems or others.get(options.part, [*functions, *tables])
    for seed in range(options.first, options.first + options.seeds):
        for name in names:
            if options.part == "gains":
                ways = product(SIZES, ("centre", "random"), (False, True))
                yield from ((gains_case, name, options.data, seed, *way) for way in ways)
            elif options.part == "bounds":
                ways = product(SIZES, ("uniform", "tpe"))
                yield from ((bounds_case, name, options.data, seed, *way) for way in ways)
            elif options.part == "fails":
                yield fails_case, name, None, seed
            elif options.part == "boxes":
                yield from ((box_case, name, options.data, seed, sampler) for sampler in ("uniform", "tpe"))
            elif options.part == "next":
                yield from ((next_case, name, options.data, seed, way) for way in ("random", "know"))
            elif options.part == "front":
                yield from ((front_case, name, None, seed, way) for way in WAYS)
                yield level_case, name, None, seed
            elif options.part == "win":
                yield win_case, name, options.data, seed
            else:
                yield from ((stop_case, name, options.data, seed, sampler) for sampler in ("uniform", "tpe"))


def work(*case: Any) -> list[Record]:
    function, *arguments = case
    return [{"key": key_of(case), **record} for record in function(*arguments)]


def key_of(case: tuple[Any, ...]) -> str:
    name, _, *others = case[1:]
    return json.dumps([case[0].__name__, name, *others])


def run_all(options: Any) -> None:
    done = {record["key"] for record in read_records(options.out)}
    append_records(options.out, options.jobs, work, [case for case in cases_of(options) if key_of(case) not in done])


def tell(options: Any) -> None:
    records = read_records(options.out)
    kinds = {"gains_case": tell_gains, "next_case": tell_next, "win_case": tell_win}
    kinds |= {"front_case": tell_front, "level_case": tell_levels}
    tell_promises([one for one in records if json.loads(one["key"])[0] in PROMISES])
    for kind, tell_them in kinds.items():
        some = [record for record in records if json.loads(record["key"])[0] == kind]
        if some:
            tell_them(some)


def tell_next(records: Sequence[Record]) -> None:
    names = sorted({record["problem"] for record in records})
    mean: dict[tuple[str, str, int], float] = {}
    for name, way, rows in product(names, ("random", "know"), MARKS):
        some = [one for one in records if (one["problem"], one["way"], one["rows"]) == (name, way, rows)]
        mean[name, way, rows] = float(np.mean([one["l1"] for one in some])) if some else np.nan
    print("problem | " + " | ".join(f"{way} {rows}" for way in ("random", "know") for rows in MARKS))
    for name in names:
        cells = [f"{mean[name, way, rows]:.3f}" for way in ("random", "know") for rows in MARKS]
        print(" | ".join([name, *cells]))
    for rows in MARKS:
        better = [mean[name, "know", rows] < mean[name, "random", rows] for name in names]
        print(f"better at {rows}: {sum(better)} of {len(names)}")
    as_good = [mean[name, "know", 80] <= mean[name, "random", 105] for name in names]
    print(f"80 as good as 105 at random: {sum(as_good)} of {len(names)}")
    for way in ("random", "know"):
        print(f"coverage {way}: {np.mean([one['cover'] for one in records if one['way'] == way]):.3f}")


def tell_win(records: Sequence[Record]) -> None:
    for name in [*sorted({record["problem"] for record in records}), "all"]:
        some = [one for one in records if name in (one["problem"], "all")]
        as_good = [one["win"] <= one["tpe"] + 1e-9 * one["scale"] for one in some]
        print(f"{name}: not worse than TPE in {np.mean(as_good):.2f} of {len(some)} pairs")


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
    parser.add_argument("part", choices=("gains", "bounds", "boxes", "fails", "next", "win", "stop", "front", "tell"))
    parser.add_argument("--data", help="the folder of complete tables")
    parser.add_argument("--out", type=Path, default=Path("advice.jsonl"))
    parser.add_argument("--problems", type=words)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.part == "tell":
        tell(options)
    else:
        run_all(options)


if __name__ == "__main__":
    main()
